/* ask.c -- the origin's side of one-sided operations by messages.  They are for targets whose memory and words this process cannot
 * reach: on another node, or where the kernel refuses to copy.
 *
 *   origin                                          target (serve.c)
 *   head, runs, data of a put or an accumulate ---> does it, from whichever call of MPI makes progress
 *                                              <--- return code, data of a get or the old value
 *
 * The layout at the target is sent as a list of runs (address and length), which the origin computes from the datatype.  The
 * target does accumulates under its own `busy`, so they are atomic to those of ranks that map its words.  Requests without an
 * answer are in deferred.c.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <sys/uio.h>

#include "rma/rma_private.h"

enum { SMALL = 1024 };

/* A request whose answer is waited for.  The room for the answer is valid until ask_end(). */
struct asking {
    struct gw_req *got;
    char *answer; /* points to `few`, or to allocated memory, owned */
    int64_t answer_bytes;
    int target, rc;
    char few[SMALL] GW_ALIGNED(16);
};

int rma_ask_number(struct rma_win *w)
{
    /* Several threads may wait for answers at once: each answer has a tag of its own. */
    return (int)(atomic_fetch_add_explicit(&w->reply_tag, 1, memory_order_relaxed) % ASK_NUMBERS);
}

void rma_ask_fill(char *message, const struct ask_head *h, const struct ask_run *runs, const void *data, int64_t bytes)
{
    memcpy(message, h, sizeof *h);
    if (h->n_runs) memcpy(message + sizeof *h, runs, (size_t)h->n_runs * sizeof *runs);
    if (bytes) memcpy(message + ask_bytes(h, 0), data, (size_t)bytes);
}

/* Posts the receive of the answer and sends the request.  answer_bytes: of the data behind struct ask_reply. */
static int ask_begin(struct rma_win *w, int target, struct ask_head h, const struct ask_run *runs, const void *data, int64_t bytes,
                     int64_t answer_bytes, struct asking *a)
{
    a->got = NULL;
    a->target = target;
    a->answer_bytes = (int64_t)sizeof(struct ask_reply) + answer_bytes;
    a->answer = a->answer_bytes <= SMALL ? a->few : malloc((size_t)a->answer_bytes);
    a->rc = a->answer ? GW_OK : gw_fail(GW_ENOMEM, "no memory for an answer of %lld bytes", (long long)answer_bytes);
    if (a->rc != GW_OK) return a->rc;
    h.origin = w->comm->rank;
    h.number = rma_ask_number(w);
    int rc =
        p2p_stream_irecv(GW_STREAM_P2P, a->answer, a->answer_bytes, gw_type_byte, target, TAG_REPLY + h.number, w->comm, &a->got);
    a->rc = rc < 0 ? rc : rma_deferred_say(w, target, &h, runs, data, bytes);
    if (a->rc != GW_OK && rc >= 0) p2p_stream_drop(a->got); /* the request was not sent: no answer comes */
    return a->rc;
}

/* Validates an answer: its length must be `wanted`, or that of a bare struct ask_reply with an error, and its code one of those
 * that a target sends. */
int rma_ask_answer_check(const char *answer, int64_t bytes, int64_t wanted, struct ask_reply *how_out)
{
    const char *what = "the answer of a window's target";
    if (bytes >= (int64_t)sizeof *how_out) memcpy(how_out, answer, sizeof *how_out);
    bool is_known =
        bytes >= (int64_t)sizeof *how_out && (how_out->rc == GW_OK || how_out->rc == GW_AGAIN || how_out->rc == GW_ERMA_RANGE);
    if (is_known && bytes == (how_out->rc == GW_OK ? wanted : (int64_t)sizeof *how_out)) return GW_OK;
    if (is_known || bytes < (int64_t)sizeof *how_out)
        gw_refused(what, "length", bytes);
    else
        gw_refused(what, "error", how_out->rc);
    *how_out = (struct ask_reply){GW_OK, 0};
    return gw_fail(GW_EOTHER, "a rank of the window did not answer what was asked (%lld bytes)", (long long)bytes);
}

/* Waits for the answer and frees its room.  Called after every ask_begin(), also a failed one. */
static int ask_end(struct asking *a, void *answer)
{
    struct ask_reply how = {GW_OK, 0};
    int64_t bytes = 0;
    assert(a->rc != GW_OK || (a->answer && a->got));
    int rc = a->rc == GW_OK ? p2p_stream_wait_bytes(a->got, &bytes) : a->rc;
    if (rc == GW_OK) rc = rma_ask_answer_check(a->answer, bytes, a->answer_bytes, &how);
    if (rc == GW_OK && how.rc == GW_OK && answer) memcpy(answer, a->answer + sizeof how, (size_t)a->answer_bytes - sizeof how);
    if (a->answer != a->few) free(a->answer);
    if (rc != GW_OK || how.rc >= 0) return rc != GW_OK ? rc : (int)how.rc;
    return gw_fail((int)how.rc, "the memory at 0x%llx is none that rank %d attached to the window", (unsigned long long)how.at,
                   a->target);
}

static int ask(struct rma_win *w, int target, struct ask_head h, const struct ask_run *runs, const void *data, int64_t bytes,
               void *answer, int64_t answer_bytes)
{
    struct asking a;
    ask_begin(w, target, h, runs, data, bytes, answer_bytes, &a);
    return ask_end(&a, answer);
}

/* Sends a request and waits for its answer, or, where a counter counts it, lets that wait. */
static int asked(struct rma_win *w, int target, struct ask_head h, const struct ask_run *runs, struct rma_given data,
                 struct rma_packed into, int64_t bytes)
{
    return into.counter ? rma_deferred_ask(w, target, h, runs, data, into, bytes)
                        : ask(w, target, h, runs, data.at, data.bytes, into.at, bytes);
}

/* ---- put and get ---- */
/* The next runs of the cursor, of at most `most` bytes in all, a multiple of `element`; returns their bytes. */
static int64_t next_runs(struct type_cursor *c, int64_t most, int64_t element, struct ask_run *runs, int *n_out)
{
    struct iovec iov[ASK_RUNS];
    int64_t got;
    int n = type_cursor_iov(c, iov, ASK_RUNS, most - most % element, &got);
    for (int i = 0; i < n; i++) runs[i] = (struct ask_run){(uint64_t)(uintptr_t)iov[i].iov_base, iov[i].iov_len};
    int64_t excess = got % element; /* the last run ends within an element */
    if (excess) type_cursor_seek(c, c->pos - excess);
    got -= excess;
    while (excess > 0) {
        int64_t cut = gw_min64(excess, (int64_t)runs[n - 1].bytes);
        runs[n - 1].bytes -= (uint64_t)cut;
        excess -= cut;
        if (runs[n - 1].bytes == 0) n--;
    }
    assert(excess == 0 && n <= ASK_RUNS);
    *n_out = n;
    return got;
}

int rma_ask_move(struct rma_win *w, int target, bool is_put, uint64_t at, int64_t count, struct gw_type *t, int64_t bytes,
                 struct rma_packed packed)
{
    struct type_cursor c;
    struct ask_run runs[ASK_RUNS];
    int rc = GW_OK, n;
    bool may_be_deferred = w->flavor != GW_WIN_FLAVOR_DYNAMIC; /* there the target looks first whether the memory is attached */
    type_cursor_init(&c, gw_data_host((void *)(uintptr_t)at, count, t)); /* addresses there: they are computed, never followed */
    if (may_be_deferred && (!is_put || bytes > ASK_PIECE) && type_is_run(t, count)) {
        struct ask_run run = {at + (uint64_t)t->true_lb, (uint64_t)bytes};
        return is_put ? rma_deferred_put_long(w, target, run, packed) : rma_deferred_get(w, target, &run, 1, bytes, packed);
    }
    for (int64_t done = 0, got; done < bytes && rc == GW_OK; done += got, packed = rma_packed_at(packed, got)) {
        got = next_runs(&c, gw_min64(ASK_PIECE, bytes - done), 1, runs, &n);
        struct ask_head h = {.what = is_put ? ASK_WRITE : ASK_READ, .n_runs = n, .bytes = got};
        struct rma_given data = {packed.at, is_put ? got : 0};
        struct rma_packed into = {is_put ? NULL : packed.at, packed.counter};
        if (!may_be_deferred)
            rc = asked(w, target, h, runs, data, into, got - data.bytes);
        else
            rc = is_put ? rma_deferred_change(w, target, h, runs, packed.at, got)
                        : rma_deferred_get(w, target, runs, n, got, packed);
    }
    return rc;
}

/* ---- accumulates ---- */
int rma_ask_update(struct rma_win *w, int target, struct gw_op *op, uint64_t at, int64_t count, struct gw_type *t,
                   const char *packed, struct rma_packed old)
{
    struct type_cursor c;
    struct ask_run runs[ASK_RUNS];
    bool has_operand = op->obj.id != GW_H_NO_OP;
    /* On this machine the next accumulate might go by mail and overtake this one. */
    bool may_be_deferred = !old.at && !is_here(w, target) && w->flavor != GW_WIN_FLAVOR_DYNAMIC;
    int64_t total = count * t->size, element = has_operand ? type_of_basic(t->basic)->size : 1;
    int rc = GW_OK, n;
    type_cursor_init(&c, gw_data_host((void *)(uintptr_t)at, count, t));
    for (int64_t done = 0, got; done < total && rc == GW_OK; done += got) {
        got = next_runs(&c, gw_min64(ASK_PIECE, total - done), element, runs, &n);
        struct ask_head h = {
            .what = ASK_UPDATE, .flags = old.at ? ASK_OLD : 0, .n_runs = n, .bytes = got, .op = op->obj.id, .basic = t->basic};
        if (may_be_deferred)
            rc = rma_deferred_change(w, target, h, runs, packed + done, got);
        else
            rc = asked(w, target, h, runs, (struct rma_given){has_operand ? packed + done : NULL, has_operand ? got : 0},
                       rma_packed_at(old, done), old.at ? got : 0);
    }
    return rc;
}

int rma_ask_swap(struct rma_win *w, int target, uint64_t at, const void *new, const void *compare, struct rma_packed old,
                 int64_t bytes)
{
    char both[2 * ASK_SWAP_MAX];
    struct ask_run run = {at, (uint64_t)bytes};
    assert(bytes <= ASK_SWAP_MAX);
    memcpy(both, compare, (size_t)bytes);
    memcpy(both + bytes, new, (size_t)bytes);
    return asked(w, target, (struct ask_head){.what = ASK_SWAP, .n_runs = 1, .bytes = bytes}, &run,
                 (struct rma_given){both, 2 * bytes}, old, bytes);
}

/* ---- locks ---- */
int rma_ask_lock(struct rma_win *w, int target, enum lock_kind kind)
{
    return ask(w, target, (struct ask_head){.what = ASK_LOCK, .kind = (uint8_t)kind}, NULL, NULL, 0, NULL, 0);
}

int rma_ask_unlock(struct rma_win *w, int target, enum lock_kind kind)
{
    struct rma_target *t = &w->targets[target];
    uint64_t sent = atomic_load_explicit(&t->sent, memory_order_relaxed);
    struct ask_head h = {.what = ASK_UNLOCK, .kind = (uint8_t)kind, .bytes = (int64_t)sent};
    int settled = rma_deferred_may_unlock(w, target) ? GW_OK : rma_deferred_settle(w),
        rc = ask(w, target, h, NULL, NULL, 0, NULL, 0);
    if (rc == GW_OK) atomic_store_explicit(&t->known, sent, memory_order_relaxed);
    return rc == GW_OK ? settled : rc;
}

/* Takes or gives back LOCK_KIND_ALL at all other nodes at once.  has[i]: this rank holds the lock of node i; updated. */
static int ask_nodes(struct rma_win *w, enum ask_what what, bool *has)
{
    struct asking *a = calloc((size_t)w->n_leaders, sizeof *a);
    int rc = a ? GW_OK : gw_fail(GW_ENOMEM, "no memory to ask %d nodes", w->n_leaders), n = 0;
    struct ask_head h = {.what = (uint8_t)what, .flags = what == ASK_LOCK ? ASK_TRY : 0, .kind = LOCK_KIND_ALL};
    for (; rc == GW_OK && n < w->n_leaders; n++)
        if (has[n] == (what == ASK_UNLOCK)) rc = ask_begin(w, w->leaders[n], h, NULL, NULL, 0, 0, &a[n]);
    for (int i = 0; i < n; i++) {
        if (!a[i].answer) continue;
        int one = ask_end(&a[i], NULL);
        if (one == GW_OK) has[i] = what == ASK_LOCK;
        if (one < 0 && rc == GW_OK) rc = one;
    }
    free(a);
    return rc;
}

static bool *nodes_new(struct rma_win *w, bool value)
{
    bool *has = malloc((size_t)w->n_leaders + 1);
    if (!has) gw_fail(GW_ENOMEM, "no memory to ask %d nodes", w->n_leaders);
    if (has) memset(has, value, (size_t)w->n_leaders + 1);
    return has;
}

static int nodes_give(struct rma_win *w, bool *has)
{
    bool *ours = &has[w->n_leaders];
    if (*ours) rma_lock_here_give(w, w->comm->rank, LOCK_KIND_ALL);
    *ours = false;
    return ask_nodes(w, ASK_UNLOCK, has);
}

int rma_ask_all_give(struct rma_win *w)
{
    bool *has = nodes_new(w, true);
    int rc = has ? nodes_give(w, has) : GW_ENOMEM;
    free(has);
    return rc;
}

/* Waits for the lock of node `at` while it holds no other, then tries all others.  *refused_out: a node that refused, or -1. */
static int nodes_round(struct rma_win *w, int at, bool *has, int *refused_out)
{
    int ours = w->n_leaders, rc = GW_OK;
    assert(at >= 0 && at <= ours);
    if (at == ours)
        rma_lock_here_take(w, w->comm->rank, LOCK_KIND_ALL);
    else
        rc = rma_ask_lock(w, w->leaders[at], LOCK_KIND_ALL);
    if (rc != GW_OK) return rc;
    has[at] = true;
    if (!has[ours]) has[ours] = rma_lock_here_try(w, w->comm->rank, LOCK_KIND_ALL, w->comm->rank);
    if (has[ours]) rc = ask_nodes(w, ASK_LOCK, has);
    *refused_out = ours;
    while (*refused_out >= 0 && has[*refused_out]) --*refused_out;
    return rc;
}

/* Gives back all locks before it waits again, so that two ranks that call lock_all and lock cannot wait for
 * each other (as in lock.c). */
int rma_ask_all_take(struct rma_win *w)
{
    bool *has = nodes_new(w, false);
    int rc = has ? GW_OK : GW_ENOMEM;
    for (int at = w->n_leaders; rc == GW_OK && at >= 0;) {
        rc = nodes_round(w, at, has, &at);
        if (rc == GW_OK && at >= 0) rc = nodes_give(w, has);
    }
    free(has);
    return rc;
}
