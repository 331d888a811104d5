/* far.c -- PEs whose memory is not mapped here: a window of rma/ over each region.
 *
 * A put is on its way when its call returns, whatever this PE does next; what is not blocking goes along with what follows, or with the next
 * round of progress.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot/boot.h"
#include "op/op.h"
#include "sym/sym_private.h"

/* The window, and the displacement there. */
static struct rma_win *far_window(const struct sym_far *f, int64_t *disp_out)
{
    int r = sym_region_of(f->addr, f->bytes);
    if (r < 0)
        sym_refuse(f->call,
                   "the %llu bytes at %p are not all symmetric: neither allocated by shmem_malloc nor static data of the program "
                   "(heap %p to %p, static data %p to %p)",
                   (unsigned long long)f->bytes, f->addr, (void *)sym_memory.region[SYM_HEAP].base,
                   (void *)(sym_memory.region[SYM_HEAP].base + sym_memory.region[SYM_HEAP].bytes),
                   (void *)sym_memory.region[SYM_DATA].base, (void *)(sym_memory.region[SYM_DATA].base + sym_memory.data_bytes));
    if (!sym_memory.win[r]) sym_refuse(f->call, "the memory of PE %d is not reached from PE %d", f->pe, gw_boot.rank);
    *disp_out = (int64_t)((uintptr_t)f->addr - (uintptr_t)sym_memory.region[r].base);
    return sym_memory.win[r];
}

/* nbi: it goes along with what follows; else it is complete here. */
static void far_end(const struct sym_far *f, struct rma_win *w, bool nbi)
{
    if (nbi)
        rma_go_soon(w);
    else
        sym_must(f->call, rma_settle(w));
}

void sym_far_put(const struct sym_far *f, const void *source, bool nbi)
{
    int64_t disp, n = (int64_t)f->bytes;
    struct rma_win *w = far_window(f, &disp);
    sym_must(f->call, rma_put(source, n, gw_type_byte, f->pe, disp, n, gw_type_byte, w));
    far_end(f, w, nbi);
}

void sym_far_get(const struct sym_far *f, void *dest, bool nbi)
{
    int64_t disp, n = (int64_t)f->bytes;
    struct rma_win *w = far_window(f, &disp);
    sym_must(f->call, rma_get(dest, n, gw_type_byte, f->pe, disp, n, gw_type_byte, w));
    far_end(f, w, nbi);
}

/* ---- atomics ---- */
static struct gw_op *op_of(enum sym_amo amo)
{
    static const uint32_t ids[] = {
        [SYM_AMO_FETCH] = GW_H_NO_OP, [SYM_AMO_SET] = GW_H_REPLACE, [SYM_AMO_ADD] = GW_H_SUM,     [SYM_AMO_AND] = GW_H_BAND,
        [SYM_AMO_OR] = GW_H_BOR,      [SYM_AMO_XOR] = GW_H_BXOR,    [SYM_AMO_SWAP] = GW_H_REPLACE};
    return container_of(gw_obj_lookup(ids[amo], GW_KIND_OP), struct gw_op, obj);
}

static int far_update(const struct sym_far *f, const struct sym_atomic *a, const void *value, void *old)
{
    int64_t disp;
    struct rma_win *w = far_window(f, &disp);
    struct gw_type *t = type_of_basic(a->bytes == 8 ? GW_ELEM_U64 : GW_ELEM_U32);
    struct gw_op *op = op_of(a->op);
    if (old) return rma_fetch_and_op(value, old, t, f->pe, disp, op, w);
    int rc = rma_accumulate(value, 1, t, f->pe, disp, 1, t, op, w);
    return rc == GW_OK ? rma_settle(w) : rc;
}

static int far_swap(const struct sym_far *f, const struct sym_atomic *a, const void *value, const void *compare, void *old)
{
    int64_t disp;
    struct rma_win *w = far_window(f, &disp);
    return rma_compare_and_swap(value, compare, old, type_of_basic(a->bytes == 8 ? GW_ELEM_U64 : GW_ELEM_U32), f->pe, disp, w);
}

uint64_t sym_far_atomic(const struct sym_far *f, const struct sym_atomic *a, bool wants_old)
{
    uint64_t old = 0;
    uint32_t value4 = (uint32_t)a->value, compare4 = (uint32_t)a->compare, old4 = 0;
    bool is_long = a->bytes == 8;
    const void *value = is_long ? (const void *)&a->value : &value4;
    void *into = is_long ? (void *)&old : &old4;
    sym_must(f->call,
             a->op == SYM_AMO_CSWAP ? far_swap(f, a, value, is_long ? (const void *)&a->compare : &compare4, into)
                                    : far_update(f, a, value, wants_old ? into : NULL));
    return is_long ? old : old4;
}

/* ---- completion ---- */
void sym_far_quiet(const char *call)
{
    for (int r = 0; r < SYM_REGIONS; r++)
        if (sym_memory.win[r]) sym_must(call, rma_win_flush_all(sym_memory.win[r]));
}

void sym_far_quiet_pe(const char *call, int pe)
{
    for (int r = 0; r < SYM_REGIONS; r++)
        if (sym_memory.win[r]) sym_must(call, rma_win_flush(pe, sym_memory.win[r]));
}
