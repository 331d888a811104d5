/* stream.c -- long accesses to memory that is not mapped here, with the target's help: one side copies pieces into a block of the
 * node's heap, and the other side copies them out at the same time.
 *
 * The kernel (CMA) takes three times as long as a plain copy, so two cores with a common cache that copy at the same time take
 * half as long as the kernel.  As it is not known which cores share a cache, both ways are timed now and then, for several parts
 * in a row, because the first parts still find the caches as the other way left them.
 * There are many pieces, so that a side that is delayed for a few microseconds seldom makes the other one wait (a get of 4 MiB
 * took half as long again with 4 pieces as with 16).
 * The mailbox (mail.c) asks for one part at a time.  This bounds how long other ranks' accumulates and the target's own progress
 * wait.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "rma/rma_private.h"
#include "base/copy.h"
#include "base/settings.h"
#include "base/time.h"

enum { PIECES = 16, PIECE = 16384, PART = 512 << 10 };
enum { TIMING_HELPED, TIMING_ALONE }; /* the ways, in rma_target.timing */
enum { TIMED_FROM = 32768, TURNS = 512, TRIES = 4, SLOWER_BY = 8 };

struct rma_stream {
    _Atomic uint32_t filled;                           /* pieces copied in; written by the giving side */
    _Atomic uint32_t emptied GW_ALIGNED(GW_CACHELINE); /* pieces copied out; written by the taking side */
    char piece[PIECES][PIECE] GW_ALIGNED(GW_CACHELINE);
};

bool rma_stream_is_over(const struct stream_end *e) { return (int64_t)e->n * PIECE >= e->bytes; }

bool rma_stream_step(struct stream_end *e)
{
    struct rma_stream *s = e->stream;
    uint32_t others = atomic_load_explicit(e->gives ? &s->emptied : &s->filled, memory_order_acquire); /* [S1] */
    if (rma_stream_is_over(e) || (e->gives ? e->n - others == PIECES : e->n == others)) return false;
    int64_t from = (int64_t)e->n * PIECE;
    char *piece = s->piece[e->n % PIECES], *here = e->at + from;
    size_t n = (size_t)gw_min64(PIECE, e->bytes - from);
    e->gives ? gw_copy_out(piece, here, n) : gw_copy(here, piece, n);
    /* [S1] pairs with the acquire above: a filled piece is complete, and an emptied piece is no longer read */
    atomic_store_explicit(e->gives ? &s->filled : &s->emptied, ++e->n, memory_order_release);
    return true;
}

/* ---- which way ---- */
static uint32_t timing_of(struct rma_target *t, int way) { return atomic_load_explicit(&t->timing[way], memory_order_relaxed); }

/* Updates the average in ticks per KiB.  A slow part raises it only slowly, as one of the two may have lost its core. */
static void timing_note(struct rma_target *t, int way, int64_t bytes, uint64_t ticks)
{
    if (bytes < TIMED_FROM) return;
    int64_t now = (int64_t)(ticks * 1024 / (uint64_t)bytes + 1), old = timing_of(t, way);
    if (old && now > old) now = old + (gw_min64(now, 2 * old) - old) / SLOWER_BY + 1;
    atomic_store_explicit(&t->timing[way], (uint32_t)now, memory_order_relaxed); /* not exact with several threads */
}

static bool may_help(const struct rma_win *w, int target)
{
    if (!w->here->one_node || !is_here(w, target) || gw_set.rma_help == GW_SET_RMA_HELP_OFF) return false;
    return gw_set.rma_help == GW_SET_RMA_HELP_ON || !gw_node.oversubscribed; /* else the target has no core of its own */
}

static bool wants_help(struct rma_target *t, int64_t bytes)
{
    if (gw_set.rma_help == GW_SET_RMA_HELP_ON) return true;
    if (bytes < TIMED_FROM) return true; /* one system call takes longer */
    uint32_t turn = atomic_load_explicit(&t->turn, memory_order_relaxed);
    atomic_store_explicit(&t->turn, turn + 1, memory_order_relaxed);
    turn %= TURNS;
    return turn < 2 * TRIES ? turn >= TRIES : timing_of(t, TIMING_HELPED) <= timing_of(t, TIMING_ALONE);
}

/* ---- the origin ---- */
/* Asks the target to help with one part.  `busy` is held.  Returns the bytes moved; 0: it does not help. */
static int64_t move_helped(struct rma_win *w, int target, bool is_put, uint64_t at, int64_t bytes, char *packed)
{
    int64_t moved = 0;
    uint64_t block = node_heap_alloc(sizeof(struct rma_stream));
    if (!block) return 0;
    struct stream_end mine = {node_ptr(block), packed, bytes, 0, is_put};
    atomic_store_explicit(&mine.stream->filled, 0, memory_order_relaxed);
    atomic_store_explicit(&mine.stream->emptied, 0, memory_order_relaxed);
    struct rma_mail *m = rma_mail_begin(w, target, &block, sizeof block);
    if (rma_mail_ask(w, target, m, is_put ? MAIL_TAKE : MAIL_GIVE, at, bytes, &mine)) {
        while (!is_put && mine.n < m->pieces) rma_stream_step(&mine);
        moved = gw_min64((int64_t)m->pieces * PIECE, bytes);
        gw_counted(&gw_count.rma_helped, (uint64_t)moved);
    }
    node_heap_free(block);
    return moved;
}

/* 0: the target does not help now. */
static int64_t move_part(struct rma_win *w, int target, bool is_held, bool is_put, uint64_t at, int64_t bytes, char *packed)
{
    struct rma_target *t = &w->targets[target];
    if (!wants_help(t, bytes) || !rma_mail_may_ask(w, target, bytes)) return 0;
    uint64_t since = gw_ticks();
    if (!is_held && !rma_busy_try(w, target)) return 0;
    int64_t moved = move_helped(w, target, is_put, at, bytes, packed);
    if (!is_held) rma_busy_exit(w, target);
    if (moved == bytes) timing_note(t, TIMING_HELPED, bytes, gw_ticks() - since);
    return moved;
}

int rma_stream_move(struct rma_win *w, int target, bool is_held, bool is_put, uint64_t at, int64_t bytes, struct rma_packed packed)
{
    unsigned how = (is_put ? REACH_PUT : 0) | (is_held ? REACH_HELD : 0);
    if (!may_help(w, target)) return rma_reach_move(w, target, how, at, bytes, gw_type_byte, bytes, packed);
    int rc = GW_OK;
    for (int64_t moved; bytes > 0 && rc == GW_OK; bytes -= moved, at += (uint64_t)moved, packed = rma_packed_at(packed, moved)) {
        int64_t part = gw_min64(bytes, PART);
        moved = move_part(w, target, is_held, is_put, at, part, packed.at);
        if (moved > 0) continue;
        uint64_t since = gw_ticks();
        moved = part;
        rc = rma_reach_move(w, target, how, at, part, gw_type_byte, part, packed);
        timing_note(&w->targets[target], TIMING_ALONE, part, gw_ticks() - since);
    }
    return rc;
}
