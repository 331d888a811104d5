/* far.c -- PEs whose memory is not mapped here: a window of rma/ over each region, and a counter of each context for each.
 *
 * A put is on its way when its call returns, whatever this PE does next; what is not blocking goes along with what follows, or with the next
 * round of progress.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot/boot.h"
#include "op/op.h"
#include "sym/sym_private.h"

#include <stdlib.h>

/* An access of a region's window. */
struct access {
    struct rma_there there;
    struct sym_order *order;
    int region;
};

/* A fence put what the context did to another region before this, which goes by another window. */
static void access_turn(const struct sym_far *f, const struct access *a)
{
    for (int r = 0; r < SYM_REGIONS; r++) {
        if (r == a->region || likely(!atomic_load_explicit(&a->order->is_fenced[r], memory_order_relaxed))) continue;
        atomic_store_explicit(&a->order->is_fenced[r], false, memory_order_relaxed);
        sym_must(f->call, rma_counter_flush(sym_memory.win[r], &a->order->counter[r]));
    }
}

static void access_count(const struct access *a, bool is_put)
{
    atomic_fetch_add_explicit(&a->order->begun[is_put], 1, memory_order_relaxed);
}

static struct access access_find(const struct sym_far *f)
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
    int64_t disp = (int64_t)((uintptr_t)f->addr - (uintptr_t)sym_memory.region[r].base);
    struct access a = {{sym_memory.win[r], f->pe, disp, (int64_t)f->bytes, gw_type_byte}, sym_ctx_order(f->call, f->ctx), r};
    access_turn(f, &a);
    return a;
}

/* ---- put and get ---- */
static int moved(const struct access *a, bool is_put, void *here, struct rma_counter *c)
{
    access_count(a, is_put);
    return is_put ? rma_counted_put(here, &a->there, c) : rma_counted_get(here, &a->there, c);
}

/* After what the program calls blocking: complete at this end.  It has a counter of its own, so it waits for nothing else. */
static void access_end(const struct sym_far *f, const struct access *a, int rc, struct rma_counter *own)
{
    struct rma_win *w = a->there.w;
    bool is_copied = atomic_load_explicit(&own->n, memory_order_acquire) == 0; /* it is in a batch at most */
    if (rc == GW_OK && is_copied && atomic_load_explicit(&a->order->is_batched, memory_order_relaxed))
        rma_go_soon(w);
    else if (rc == GW_OK)
        rc = rma_counter_wait(w, own);
    rma_counter_join(&a->order->counter[a->region], own);
    sym_must(f->call, rc);
}

static void moved_now(const struct sym_far *f, const struct access *a, bool is_put, void *here)
{
    struct rma_counter own = {0};
    int rc = moved(a, is_put, here, &own);
    access_end(f, a, rc, &own);
}

static void far_move(const struct sym_far *f, bool is_put, void *here, bool nbi)
{
    struct access a = access_find(f);
    if (!nbi) {
        moved_now(f, &a, is_put, here);
        return;
    }
    sym_must(f->call, moved(&a, is_put, here, &a.order->counter[a.region]));
    rma_go_soon(a.there.w);
}

void sym_far_put(const struct sym_far *f, const void *source, bool nbi) { far_move(f, true, (void *)(uintptr_t)source, nbi); }
void sym_far_get(const struct sym_far *f, void *dest, bool nbi) { far_move(f, false, dest, nbi); }

/* One access of a vector there, of a packed copy here. */
void sym_far_strided(const struct sym_far *f, const struct sym_strided *s, bool is_put)
{
    struct access a = access_find(f);
    struct gw_type *t = NULL;
    int64_t block = (int64_t)(s->block * s->bytes), stride = (is_put ? s->dest_stride : s->source_stride) * (int64_t)s->bytes;
    char *packed = malloc(s->n * (size_t)block);
    int rc = packed ? type_hvector((int64_t)s->n, block, stride, gw_type_byte, &t)
                    : gw_fail(GW_ENOMEM, "no memory for %zu blocks of %lld bytes", s->n, (long long)block);
    if (rc == GW_OK) rc = type_commit(&t);
    sym_must(f->call, rc);
    a.there.disp += stride < 0 ? -stride * (int64_t)(s->n - 1) : 0; /* f begins at the lowest block, the vector at the first */
    a.there.count = 1;
    a.there.type = t;
    struct sym_strided here = *s;
    if (is_put)
        here.dest = packed, here.dest_stride = (ptrdiff_t)s->block;
    else
        here.source = packed, here.source_stride = (ptrdiff_t)s->block;
    if (is_put) sym_copy_blocks(&here);
    moved_now(f, &a, is_put, packed);
    if (!is_put) sym_copy_blocks(&here);
    type_release(t);
    free(packed);
}

/* ---- atomics ---- */
static struct gw_op *op_of(enum sym_amo amo)
{
    static const uint32_t ids[] = {
        [SYM_AMO_FETCH] = GW_H_NO_OP, [SYM_AMO_SET] = GW_H_REPLACE, [SYM_AMO_ADD] = GW_H_SUM,     [SYM_AMO_AND] = GW_H_BAND,
        [SYM_AMO_OR] = GW_H_BOR,      [SYM_AMO_XOR] = GW_H_BXOR,    [SYM_AMO_SWAP] = GW_H_REPLACE};
    return container_of(gw_obj_lookup(ids[amo], GW_KIND_OP), struct gw_op, obj);
}

/* value, compare: of `bytes` bytes, as the words are. */
struct amo_words {
    uint32_t value4, compare4;
    const void *value, *compare;
};
static void amo_words_of(const struct sym_atomic *a, struct amo_words *w)
{
    *w = (struct amo_words){(uint32_t)a->value, (uint32_t)a->compare, &a->value, &a->compare};
    if (a->bytes == 4) w->value = &w->value4, w->compare = &w->compare4;
}

/* old: NULL where it is not wanted; there when c has counted down. */
static int amo_start(const struct sym_far *f, struct access *acc, const struct sym_atomic *a, void *old, struct rma_counter *c)
{
    struct amo_words w;
    amo_words_of(a, &w);
    *acc = access_find(f);
    acc->there.count = 1;
    acc->there.type = type_of_basic(a->bytes == 8 ? GW_ELEM_U64 : GW_ELEM_U32);
    if (!c) c = &acc->order->counter[acc->region];
    access_count(acc, a->op != SYM_AMO_FETCH);
    return a->op == SYM_AMO_CSWAP ? rma_counted_swap(w.value, w.compare, old, &acc->there, c)
                                  : rma_counted_update(w.value, old, &acc->there, op_of(a->op), c);
}

uint64_t sym_far_atomic(const struct sym_far *f, const struct sym_atomic *a, bool wants_old)
{
    struct access acc;
    struct rma_counter own = {0};
    uint64_t old = 0;
    uint32_t old4 = 0;
    int rc = amo_start(f, &acc, a, !wants_old ? NULL : a->bytes == 8 ? (void *)&old : &old4, &own);
    access_end(f, &acc, rc, &own);
    return a->bytes == 8 ? old : old4;
}

void sym_far_fetch(const struct sym_far *f, const struct sym_atomic *a, void *fetch_out)
{
    struct access acc;
    sym_must(f->call, amo_start(f, &acc, a, fetch_out, NULL));
    rma_go_soon(acc.there.w);
}

/* ---- order and completion ---- */
void sym_far_go(const char *call)
{
    for (int r = 0; r < SYM_REGIONS; r++)
        if (sym_memory.win[r]) sym_must(call, rma_go(sym_memory.win[r]));
}

void sym_far_fence(const char *call, struct sym_order *o, int pe)
{
    for (int r = 0; r < SYM_REGIONS; r++) {
        bool is_confirmed = true;
        if (sym_memory.win[r]) sym_must(call, rma_counter_fence(sym_memory.win[r], &o->counter[r], pe, &is_confirmed));
        if (!is_confirmed) atomic_store_explicit(&o->is_fenced[r], true, memory_order_relaxed);
    }
}

void sym_far_quiet(const char *call, struct sym_order *o)
{
    uint64_t begun[2];
    for (int i = 0; i < 2; i++) begun[i] = atomic_load_explicit(&o->begun[i], memory_order_relaxed);
    for (int r = 0; r < SYM_REGIONS; r++) {
        if (!sym_memory.win[r]) continue;
        sym_must(call, rma_counter_flush(sym_memory.win[r], &o->counter[r]));
        atomic_store_explicit(&o->is_fenced[r], false, memory_order_relaxed);
    }
    for (int i = 0; i < 2; i++) atomic_store_explicit(&o->done[i], begun[i], memory_order_relaxed);
}

void sym_far_quiet_pe(const char *call, struct sym_order *o, int pe)
{
    for (int r = 0; r < SYM_REGIONS; r++)
        if (sym_memory.win[r]) sym_must(call, rma_counter_flush_target(sym_memory.win[r], &o->counter[r], pe));
}
