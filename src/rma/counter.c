/* counter.c -- operations that a counter counts: what an MPI request, or a context of OpenSHMEM, waits for.
 *
 * `n` has what is under way at this end: messages, copies by the wire, answers.  What is complete at the targets they say when they are asked
 * (a flush, which is under way, too).  A counter need not know which changes are its own: it remembers whose memory it changed, and asks those
 * whether they have done all that was sent so far.
 *
 * A fence sends nothing.  Requests are done in the order in which they come, but for those whose data are a message of their own; what is sent
 * after the fence says behind how many requests it belongs, and the target keeps it until then (serve.c).  Copies by the wire have no order to
 * requests, so where there is a wire a fence is a flush.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "rma/rma_private.h"

enum { WORDS = GW_ARRAY_LEN(((struct rma_counter *)0)->touched), BITS = 64 * WORDS };

void rma_counter_end(struct rma_counter *c, int err)
{
    int none = GW_OK;
    struct rma_started *request = c->request;
    if (err < 0) atomic_compare_exchange_strong_explicit(&c->err, &none, err, memory_order_relaxed, memory_order_relaxed);
    uint32_t n =
        atomic_fetch_sub_explicit(&c->n, 1, memory_order_release); /* [C1]; without a request, *c may be gone from here on */
    assert(n > 0);
    if (n == 1 && request) rma_started_over(request);
}

void rma_counter_touch(struct rma_counter *c, int target)
{
    /* [C2] pairs with touched_take(): who takes the bit asks for all that was sent before it was set */
    atomic_fetch_or_explicit(&c->touched[target % BITS / 64], UINT64_C(1) << target % 64, memory_order_release);
}

void rma_counter_join(struct rma_counter *c, const struct rma_counter *done)
{
    for (int i = 0; i < WORDS; i++) {
        uint64_t bits = atomic_load_explicit(&done->touched[i], memory_order_relaxed);
        if (bits) atomic_fetch_or_explicit(&c->touched[i], bits, memory_order_release); /* [C2] */
    }
}

static bool is_over(void *arg)
{
    return atomic_load_explicit(&((struct rma_counter *)arg)->n, memory_order_acquire) == 0;
} /* [C1] */

int rma_counter_wait(struct rma_win *w, struct rma_counter *c)
{
    if (!w->deferred) return GW_OK;
    int rc = rma_go(w);
    if (!is_over(c)) req_block_until(w->comm->lane, is_over, c);
    int err = atomic_exchange_explicit(&c->err, GW_OK, memory_order_relaxed);
    if (rc != GW_OK || err == GW_OK) return rc;
    return gw_fail(err, "an earlier put, get or update did not reach its target");
}

/* ---- complete at the targets ---- */
static bool has(const uint64_t touched[WORDS], int target) { return touched[target % BITS / 64] >> target % 64 & 1; }

int rma_counter_flush_target(struct rma_win *w, struct rma_counter *c, int target)
{
    if (!w->deferred) return GW_OK;
    int rc = rma_deferred_ask_flush(w, target, c), waited = rma_counter_wait(w, c);
    return rc == GW_OK ? waited : rc;
}

int rma_counter_flush(struct rma_win *w, struct rma_counter *c)
{
    uint64_t touched[WORDS], any = 0;
    int rc = GW_OK;
    if (!w->deferred) return GW_OK;
    rma_counter_begin(c); /* another thread that finds no bits waits for those of this one */
    for (int i = 0; i < WORDS; i++)
        any |= touched[i] = atomic_exchange_explicit(&c->touched[i], 0, memory_order_acq_rel); /* [C2] */
    for (int i = 0; any && i < w->comm->size && rc == GW_OK; i++)
        if (has(touched, i)) rc = rma_deferred_ask_flush(w, i, c);
    rma_counter_end(c, GW_OK);
    int waited = rma_counter_wait(w, c);
    return rc == GW_OK ? waited : rc;
}

int rma_counter_fence(struct rma_win *w, struct rma_counter *c, int target, bool *is_confirmed_out)
{
    *is_confirmed_out = true;
    if (!w->deferred) return GW_OK;
    if (w->net) return target < 0 ? rma_counter_flush(w, c) : rma_counter_flush_target(w, c, target);
    uint64_t touched[WORDS], any = 0;
    for (int i = 0; i < WORDS; i++) any |= touched[i] = atomic_load_explicit(&c->touched[i], memory_order_acquire);
    for (int i = 0; any && i < w->comm->size; i++)
        if ((target < 0 || i == target) && has(touched, i) && !rma_deferred_fence(w, i)) *is_confirmed_out = false;
    return GW_OK;
}
