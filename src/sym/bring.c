/* bring.c -- memory of the program's own as one more symmetric region, reached by a window alone (Sandia's shmemx_heap_create).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/os.h"
#include "op/op.h"
#include "sym/sym_private.h"

static void check(const char *call, const char *base, size_t bytes)
{
    int64_t least[2] = {(int64_t)bytes, -(int64_t)bytes};
    sym_must(call, coll_allreduce(GW_IN_PLACE, least, 2, gw_type_int64, gw_op_min, sym_memory.world, NULL));
    if (least[0] != -least[1])
        sym_refuse(call,
                   "the memory of shmemx_heap_create has %zu bytes here, and %lld to %lld on others; it must have the same size",
                   bytes, (long long)least[0], (long long)-least[1]);
    if (bytes > 0 && (gw_memory_fault(base, 1, true) || gw_memory_fault(base + bytes - 1, 1, true)))
        sym_refuse(call,
                   "the %zu bytes of shmemx_heap_create at %p are not memory that this processor can access; memory of GPUs is "
                   "not supported, so allocate it on the host",
                   bytes, (const void *)base);
}

void godwit_sym_bring(const char *call, void *base, size_t bytes)
{
    sym_begun(call);
    if (sym_memory.win[SYM_BROUGHT]) sym_refuse(call, "there is memory of shmemx_heap_create already; one is all there can be");
    check(call, base, bytes);
    if (bytes > 0) {
        sym_must(call, sym_window_open(base, bytes, &sym_memory.win[SYM_BROUGHT]));
        sym_memory.region[SYM_BROUGHT].base = base;
        sym_memory.brought_bytes = bytes;
        atomic_store_explicit(&godwit_sym_near.is_far, true, memory_order_relaxed);
    }
    godwit_sym_barrier_all(call);
}
