/* atomic.c -- atomics and signals (OpenSHMEM 1.6 sections 9.7, 9.8): instructions of a processor of the target's node.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/copy.h"
#include "sym/sym_private.h"

static const char *const amo_names[] = {"fetch", "set", "add", "and", "or", "xor", "swap", "compare_swap"};

/* Where the word lies, on this node; NULL: *far_out says where. */
static char *amo_place(const char *call, sym_ctx_id ctx, const struct sym_atomic *a, int pe, struct sym_far *far_out)
{
    *far_out = (struct sym_far){call, ctx, sym_ctx_pe(call, ctx, pe), a->at, (uint64_t)a->bytes};
    if (unlikely((uintptr_t)a->at % (unsigned)a->bytes))
        sym_refuse(call, "the address %p is not a multiple of %d, as an atomic %s of so many bytes needs", a->at, a->bytes,
                   amo_names[a->op]);
    return sym_place(a->at, far_out->bytes, far_out->pe);
}

uint64_t godwit_sym_atomic(const char *call, sym_ctx_id ctx, const struct sym_atomic *a, int pe)
{
    struct sym_far far;
    char *at = amo_place(call, ctx, a, pe, &far);
    return likely(at != NULL) ? sym_near_amo(a, at) : sym_far_atomic(&far, a, true);
}

void godwit_sym_update(const char *call, sym_ctx_id ctx, const struct sym_atomic *a, int pe)
{
    struct sym_far far;
    char *at = amo_place(call, ctx, a, pe, &far);
    if (likely(at != NULL))
        sym_near_amo(a, at);
    else
        sym_far_atomic(&far, a, false);
}

void godwit_sym_atomic_nbi(const char *call, sym_ctx_id ctx, const struct sym_atomic *a, void *fetch_out, int pe)
{
    struct sym_far far;
    char *at = amo_place(call, ctx, a, pe, &far);
    if (unlikely(!at)) {
        sym_far_fetch(&far, a, fetch_out);
        return;
    }
    uint64_t old = sym_near_amo(a, at);
    uint32_t low = (uint32_t)old;
    memcpy(fetch_out, a->bytes == 8 ? (void *)&old : (void *)&low, (size_t)a->bytes);
}

void godwit_sym_put_signal(const char *call, sym_ctx_id ctx, void *dest, const void *source, size_t bytes,
                           const struct sym_signal *signal, int pe, bool nbi)
{
    int world = sym_ctx_pe(call, ctx, pe);
    if (unlikely((uintptr_t)signal->at % sizeof *signal->at))
        sym_refuse(call, "sig_addr is %p, which is not a multiple of %zu as the address of a signal is", (void *)signal->at,
                   sizeof *signal->at);
    struct sym_atomic a = {signal->is_add ? SYM_AMO_ADD : SYM_AMO_SET, 8, signal->at, signal->value, 0};
    char *at = bytes > 0 ? sym_place(dest, bytes, world) : NULL;
    if (at)
        gw_copy_out(at, source, bytes);
    else if (bytes > 0)
        sym_far_put(&(struct sym_far){call, ctx, world, dest, bytes}, source, nbi);
    if (bytes > 0 && !at) sym_far_fence(call, sym_ctx_order(call, ctx), world);
    char *word = sym_place(signal->at, 8, world);
    if (likely(word != NULL))
        sym_near_amo(&a, word);
    else
        sym_far_atomic(&(struct sym_far){call, ctx, world, signal->at, 8}, &a, false);
}

/* ---- order and completion (section 9.12) ----  All that is near is done when its call returns, but for what the processor's store buffer holds. */
/* The context, if it is one, once near stores are done. */
static struct sym_order *order_of(const char *call, sym_ctx_id ctx)
{
    atomic_thread_fence(memory_order_seq_cst);
    sym_race_fence(ctx);
    return sym_ctx_order(call, ctx);
}

void godwit_sym_fence(const char *call, sym_ctx_id ctx)
{
    struct sym_order *o = order_of(call, ctx);
    if (o) sym_far_fence(call, o, -1);
}

void godwit_sym_quiet(const char *call, sym_ctx_id ctx)
{
    struct sym_order *o = order_of(call, ctx);
    if (o) sym_far_quiet(call, o);
}

void godwit_sym_pe_quiet(const char *call, sym_ctx_id ctx, const int *pes, size_t n)
{
    struct sym_order *o = order_of(call, ctx);
    for (size_t i = 0; o && i < n; i++) sym_far_quiet_pe(call, o, sym_ctx_pe(call, ctx, pes[i]));
}
