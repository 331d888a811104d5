/* request.c -- validates the requests of other ranks before they are served (serve.c).
 *
 * A request has addresses of this process, so a forged one could read and write all that this process can.  A message is validated
 * as a whole before any request in it is served: all its parts lie within it, its origin is the sender, every run of bytes lies in
 * this rank's part of the window, and its kind and flags are a combination that an origin sends.  In dynamic windows the runs are
 * compared with the attached memory only when the request is served (serve.c), as that memory changes.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "rma/rma_private.h"

static const char *const what_names[] = {
    [ASK_READ] = "a get from a window",           [ASK_WRITE] = "a put into a window",
    [ASK_UPDATE] = "an accumulate into a window", [ASK_SWAP] = "a compare-and-swap in a window",
    [ASK_FLUSH] = "a flush of a window",          [ASK_LOCK] = "a lock of a window",
    [ASK_UNLOCK] = "an unlock of a window"};
_Static_assert(GW_ARRAY_LEN(what_names) == ASK_UNLOCK + 1, "a name each");

bool rma_request_refuse(const struct ask_head *h, const char *field, int64_t value)
{
    gw_refused(h->what < GW_ARRAY_LEN(what_names) ? what_names[h->what] : "a request of a window", field, value);
    return false;
}

int64_t rma_request_data(const struct ask_head *h)
{
    if (h->what == ASK_SWAP) return 2 * h->bytes;
    bool has_data = (h->what == ASK_WRITE && !(h->flags & ASK_LONG)) || (h->what == ASK_UPDATE && h->op != GW_H_NO_OP);
    return has_data ? h->bytes : 0;
}

static bool moves(const struct ask_head *h) { return h->what <= ASK_SWAP; }

static bool flags_are_right(const struct rma_win *w, const struct ask_head *h)
{
    static const uint8_t allowed[] = {[ASK_READ] = ASK_LONG | ASK_DEFERRED | ASK_GATHER,
                                      [ASK_WRITE] = ASK_LONG | ASK_DEFERRED | ASK_AFTER,
                                      [ASK_UPDATE] = ASK_OLD | ASK_DEFERRED | ASK_AFTER,
                                      [ASK_SWAP] = ASK_AFTER,
                                      [ASK_FLUSH] = 0,
                                      [ASK_LOCK] = ASK_TRY,
                                      [ASK_UNLOCK] = 0};
    _Static_assert(sizeof allowed == ASK_UNLOCK + 1, "one each");
    assert(h->what < sizeof allowed);
    bool is_deferred = h->flags & ASK_DEFERRED, is_long = h->flags & ASK_LONG, is_gathered = h->flags & ASK_GATHER;
    if (h->flags & ~(allowed[h->what] | ASK_MORE)) return false;
    if (h->flags & ASK_AFTER && !w->has_instructions) return false;
    if (is_deferred && (w->flavor == GW_WIN_FLAVOR_DYNAMIC || h->flags & ASK_OLD)) return false;
    if (is_long) return is_deferred && !is_gathered && h->n_runs == 1;
    return !is_gathered || is_deferred;
}

static bool op_is_right(const struct ask_head *h)
{
    struct gw_obj *o = gw_obj_lookup(h->op, GW_KIND_OP);
    struct gw_op *op = o ? container_of(o, struct gw_op, obj) : NULL;
    if (!op || !op->obj.predefined) return rma_request_refuse(h, "operation", h->op);
    if (h->op == GW_H_NO_OP) return true;
    struct gw_type *t = type_of_basic(h->basic);
    bool is_defined = t && t->size > 0 && (h->op == GW_H_REPLACE || op_can(op, t));
    if (!is_defined) return rma_request_refuse(h, "type", h->basic);
    return h->bytes % t->size == 0 || rma_request_refuse(h, "bytes", h->bytes);
}

static bool is_in_window(const struct rma_win *w, const struct ask_run *run)
{
    uint64_t base = (uint64_t)(uintptr_t)w->base, size = (uint64_t)w->size;
    if (w->flavor == GW_WIN_FLAVOR_DYNAMIC) return run->bytes <= UINT64_MAX - run->at;
    return run->at >= base && run->at - base <= size && run->bytes <= size - (run->at - base);
}

static bool runs_are_right(const struct rma_win *w, const struct ask_head *h)
{
    const struct ask_run *runs = (const struct ask_run *)(h + 1);
    uint64_t sum = 0;
    for (int i = 0; i < h->n_runs; i++) {
        if (!is_in_window(w, &runs[i])) return rma_request_refuse(h, "address", (int64_t)runs[i].at);
        if (runs[i].bytes > (uint64_t)h->bytes - sum) return rma_request_refuse(h, "bytes of a run", (int64_t)runs[i].bytes);
        sum += runs[i].bytes;
    }
    return sum == (uint64_t)h->bytes || rma_request_refuse(h, "bytes", h->bytes);
}

/* Validates a request that moves data.  The caller has checked that its runs lie within the message. */
static bool move_is_right(const struct rma_win *w, const struct ask_head *h)
{
    int64_t most = h->what == ASK_SWAP ? ASK_SWAP_MAX : h->flags & ASK_LONG ? INT64_MAX : ASK_PIECE;
    if (h->bytes < 0 || h->bytes > most) return rma_request_refuse(h, "bytes", h->bytes);
    if (h->what == ASK_UPDATE && !op_is_right(h)) return false;
    return runs_are_right(w, h);
}

/* Validates one request.  left: bytes of the message from the request on. */
static bool one_is_right(const struct rma_win *w, const struct ask_head *h, int64_t left, int source)
{
    if (left < (int64_t)sizeof *h) {
        gw_refused("a request of a window", "length", left);
        return false;
    }
    if (h->what > ASK_UNLOCK) return rma_request_refuse(h, "kind", h->what);
    if (h->origin != source) return rma_request_refuse(h, "origin", h->origin);
    if (h->number < 0 || h->number >= ASK_NUMBERS) return rma_request_refuse(h, "number", h->number);
    if (h->n_runs < 0 || h->n_runs > (moves(h) ? ASK_RUNS : 0)) return rma_request_refuse(h, "runs", h->n_runs);
    if (!flags_are_right(w, h)) return rma_request_refuse(h, "flags", h->flags);
    if (h->kind > LOCK_KIND_ALL) return rma_request_refuse(h, "kind of lock", h->kind);
    left -= (int64_t)ask_bytes(h, 0);
    if (left < 0) return rma_request_refuse(h, "runs", h->n_runs);
    if (moves(h) && !move_is_right(w, h)) return false;
    return !moves(h) || rma_request_data(h) <= left || rma_request_refuse(h, "length", left);
}

bool rma_requests_are_right(const struct rma_win *w, const char *message, int64_t bytes, int source)
{
    const struct ask_head *h, *first_get = NULL;
    int64_t at = 0, gets = 0;
    do {
        h = (const struct ask_head *)(message + at);
        if (!one_is_right(w, h, bytes - at, source)) return false;
        if (h->flags & ASK_GATHER) {
            if (!first_get) first_get = h;
            gets += h->bytes;
            if (h->number != first_get->number) return rma_request_refuse(h, "number", h->number);
            if (gets > ASK_BATCH) return rma_request_refuse(h, "bytes together", gets);
        }
        at += (int64_t)gw_align_up(ask_bytes(h, rma_request_data(h)), 16);
    } while (h->flags & ASK_MORE);
    return true;
}
