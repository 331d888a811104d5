/* serve.c -- the target's side of one-sided operations by messages, from origins that reach neither its memory nor its words
 * (ask.c).
 *
 *   arrived --> admitted: what the request needs (`busy`, a lock) was free and is taken --> done, answered
 *           `-> pending: tried again in every round of progress, until --> granted --> done, answered
 *
 * Requests are handled one after the other, by whichever thread makes progress.  Nothing here blocks: the rank that holds `busy`
 * or a lock may itself wait for an answer from this rank.  While a request is pending, this rank is counted in `waiters`, so that
 * a rank that changes the words wakes it (lock.c).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "base/list.h"
#include "coll/coll.h"
#include "rma/rma_private.h"

enum { REQUEST_MAX = sizeof(struct ask_head) + ASK_RUNS * sizeof(struct ask_run) + 2 * ASK_PIECE };
_Static_assert(ASK_SWAP_MAX <= ASK_PIECE, "two values fit");

struct rma_server {
    struct p2p_listener listener;
    struct gw_done heard;
    struct rma_win *w;
    struct req_hook hook; /* tries pending requests again, by `poll` */
    struct gw_done poll;
    struct gw_list pending, granted; /* under the lane's lock; the first of `granted` may be being done */
    struct req_work finish;          /* does the granted requests, without the lane's lock */
    bool finishes;                   /* `finish` is queued */
    _Atomic uint64_t n_served;       /* accesses that have come */
    _Atomic uint64_t *heard_of;      /* [comm->size] how many requests without an answer have come from each origin */
    _Atomic uint8_t *held;           /* [comm->size] the locks that each origin holds here: bits 1 << enum lock_kind */
    struct gw_list longs;            /* under the lane's lock: long puts under way */
    char request[REQUEST_MAX] GW_ALIGNED(16);
};
struct kept { /* a copy of a pending or granted request */
    struct gw_list link;
    uint64_t number; /* among its origin's requests without an answer; 0: it is none */
    char request[] GW_ALIGNED(16);
};
struct answer {
    struct gw_done sent;
    struct ask_reply how GW_ALIGNED(16); /* the message begins here, or at `data` if only data are sent */
    char data[];
};
struct long_put { /* a put whose data are received straight into the window */
    struct gw_list link;
    struct gw_done arrived;
    struct gw_req *req; /* the receive; NULL: complete */
    int64_t bytes;
    struct req_work work;
    struct rma_win *w;
    int origin;
    uint64_t number; /* as of struct kept */
};

static const struct ask_run *runs_of(const struct ask_head *h) { return (const struct ask_run *)(h + 1); }
static const char *data_of(const struct ask_head *h) { return (const char *)(runs_of(h) + h->n_runs); }

/* ---- answers ---- */
static void answer_sent(struct gw_done *done, int err)
{
    (void)err; /* the origin's receive fails as well */
    free(container_of(done, struct answer, sent));
}

static struct answer *answer_new(int64_t room)
{
    struct answer *a = gw_xmalloc(sizeof *a + (size_t)room);
    a->sent.fn = answer_sent;
    a->how = (struct ask_reply){GW_OK, 0};
    return a;
}

static void answer_send(struct rma_win *w, const struct ask_head *h, struct answer *a, int64_t bytes)
{
    struct gw_req *r = NULL;
    bool is_data = h->flags & ASK_DEFERRED;
    int rc = p2p_stream_isend(GW_STREAM_P2P, is_data ? a->data : (void *)&a->how, bytes + (is_data ? 0 : (int64_t)sizeof a->how),
                              gw_type_byte, h->origin, TAG_REPLY + h->number, w->comm, &r);
    p2p_stream_then(w->comm, rc, r, &a->sent);
}

static void say(struct rma_win *w, const struct ask_head *h, int rc)
{
    struct answer *a = answer_new(0);
    a->how.rc = rc;
    answer_send(w, h, a, 0);
}

/* ---- memory ---- */
static void runs_read(const struct ask_head *h, char *out)
{
    const struct ask_run *runs = runs_of(h);
    for (int i = 0; i < h->n_runs; out += runs[i++].bytes) memcpy(out, (void *)(uintptr_t)runs[i].at, runs[i].bytes);
}

static void runs_write(const struct ask_head *h, const char *in)
{
    const struct ask_run *runs = runs_of(h);
    for (int i = 0; i < h->n_runs; in += runs[i++].bytes) memcpy((void *)(uintptr_t)runs[i].at, in, runs[i].bytes);
}

/* ---- admission: what a request needs before it can be done ---- */
static bool needs_busy(const struct rma_win *w, const struct ask_head *h)
{
    if (w->has_instructions) return false;
    bool is_move = h->what == ASK_READ || h->what == ASK_WRITE;
    return h->what == ASK_UPDATE || h->what == ASK_SWAP || (is_move && w->flavor == GW_WIN_FLAVOR_DYNAMIC);
}

/* Refuses a lock that the origin holds already: no correct origin asks twice. */
static bool lock_try(struct rma_win *w, const struct ask_head *h)
{
    _Atomic uint8_t *held = &w->server->held[h->origin];
    uint8_t bit = (uint8_t)(1 << h->kind);
    if (atomic_load(held) & bit || !rma_lock_here_try(w, w->comm->rank, h->kind, (int)h->origin)) return false;
    atomic_fetch_or(held, bit);
    return true;
}

static bool is_one_of(const struct gw_list *kept, int origin, uint64_t n)
{
    bool is_one = false;
    for (struct gw_list *l = kept->next; l != kept && !is_one; l = l->next) {
        const struct kept *k = container_of(l, struct kept, link);
        is_one = k->number && k->number <= n && ((const struct ask_head *)k->request)->origin == origin;
    }
    return is_one;
}

/* Are the first n requests without an answer that came from the origin done?  The lane's lock is held. */
static bool has_done(const struct rma_server *s, int origin, uint64_t n)
{
    bool has = atomic_load_explicit(&s->heard_of[origin], memory_order_acquire) >= n && !is_one_of(&s->pending, origin, n) &&
        !is_one_of(&s->granted, origin, n);
    for (struct gw_list *l = s->longs.next; l != &s->longs && has; l = l->next) {
        const struct long_put *p = container_of(l, struct long_put, link);
        has = p->origin != origin || p->number > n;
    }
    return has;
}

static bool admit(struct rma_win *w, const struct ask_head *h)
{
    if (h->what == ASK_FLUSH || h->what == ASK_UNLOCK) return has_done(w->server, h->origin, (uint64_t)h->bytes);
    if (h->flags & ASK_AFTER) {
        uint64_t heard_of = atomic_load_explicit(&w->server->heard_of[h->origin], memory_order_relaxed);
        if (!has_done(w->server, h->origin, heard_of - ((uint32_t)heard_of - h->after))) return false;
    }
    if (h->what == ASK_LOCK) return lock_try(w, h);
    return !needs_busy(w, h) || rma_busy_try(w, w->comm->rank);
}

static int check_attached(struct rma_win *w, const struct ask_head *h, uint64_t *where_out)
{
    const struct ask_run *runs = runs_of(h);
    assert(h->n_runs >= 0 && h->n_runs <= ASK_RUNS);
    for (int i = 0; i < h->n_runs && w->flavor == GW_WIN_FLAVOR_DYNAMIC; i++) {
        *where_out = runs[i].at;
        if (!rma_region_has_held(w, w->comm->rank, runs[i].at, runs[i].at + runs[i].bytes)) return GW_ERMA_RANGE;
    }
    return GW_OK;
}

/* ---- doing it ---- */
static void look(struct gw_done *done, int err);
/* A request without an answer has been done.  What waits for that, as flushes do, is tried at once, as this rank may be about to sleep. */
static void over(struct rma_win *w, struct gw_list *link)
{
    struct gw_lane *lane = w->comm->lane;
    gw_lock(&lane->lock);
    if (link) gw_list_del(link);
    look(&w->server->poll, GW_OK);
    gw_unlock(&lane->lock);
}

static void put_arrived(struct gw_done *done, int err)
{
    struct long_put *p = container_of(done, struct long_put, arrived);
    int64_t bytes = p->req ? gw_status_bytes(&p->req->status) : 0;
    if (err < 0 && err != GW_ETRUNCATE) gw_die("a put of another rank did not arrive in a window (error %d)", err);
    if (err < 0 || bytes != p->bytes) gw_refused("the data of a put into a window", "length", err < 0 ? bytes + 1 : bytes);
    p->req = NULL;
    req_work_add(p->w->comm->lane, &p->work);
}

static void put_is_over(struct gw_done *done, int err)
{
    struct long_put *p = container_of(done, struct long_put, work.run);
    (void)err;
    assert(!p->req);
    over(p->w, &p->link);
    free(p);
}

/* A get or put of one run, whose data are a message of their own, without a copy. */
static void move_long(struct rma_win *w, const struct ask_head *h, uint64_t number)
{
    const struct ask_run *run = runs_of(h);
    void *here = (void *)(uintptr_t)run->at;
    struct gw_req *r = NULL;
    if (h->what == ASK_READ) {
        struct answer *a = answer_new(0); /* only for its `sent`, which frees it */
        int rc = p2p_stream_isend(GW_STREAM_P2P, here, h->bytes, gw_type_byte, h->origin, TAG_REPLY + h->number, w->comm, &r);
        p2p_stream_then(w->comm, rc, r, &a->sent);
        return;
    }
    struct long_put *p = gw_xmalloc(sizeof *p);
    *p = (struct long_put){.arrived.fn = put_arrived,
                           .work = {.run.fn = put_is_over, .by_service = true},
                           .w = w,
                           .origin = h->origin,
                           .number = number,
                           .bytes = h->bytes};
    gw_lock(&w->comm->lane->lock);
    gw_list_push(&w->server->longs, &p->link);
    gw_unlock(&w->comm->lane->lock);
    int rc = p2p_stream_irecv(GW_STREAM_P2P, here, h->bytes, gw_type_byte, h->origin, TAG_DATA + h->number, w->comm, &p->req);
    p2p_stream_then(w->comm, rc, p->req, &p->arrived);
}

/* ---- atomic instructions ---- */
static uint64_t combined(uint32_t op, uint64_t old, uint64_t value)
{
    switch (op) {
    case GW_H_SUM: return old + value;
    case GW_H_BAND: return old & value;
    case GW_H_BOR: return old | value;
    case GW_H_BXOR: return old ^ value;
    case GW_H_REPLACE: return value;
    default: return old;
    }
}

/* Of the element at `at`: *old becomes combined(*old, value), or with ASK_SWAP `value` where it is `compare`. */
#define INSTRUCTION(T)                                                                                                             \
    static void instruction_##T(const struct ask_head *h, T *at, const char *data, char *old_out)                                  \
    {                                                                                                                              \
        T operand[2] = {0, 0}, old = __atomic_load_n(at, __ATOMIC_SEQ_CST), new;                                                   \
        bool is_swap = h->what == ASK_SWAP;                                                                                        \
        if (is_swap || h->op != GW_H_NO_OP) memcpy(operand, data, is_swap ? sizeof operand : sizeof operand[0]);                   \
        do new = is_swap ? (old == operand[0] ? operand[1] : old) : (T)combined(h->op, old, operand[0]);                           \
        while (!__atomic_compare_exchange_n(at, &old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));                            \
        memcpy(old_out, &old, sizeof old);                                                                                         \
    }
INSTRUCTION(uint32_t)
INSTRUCTION(uint64_t)

/* False: not of one such element. */
static bool do_instruction(const struct rma_win *w, const struct ask_head *h, char *old)
{
    const struct ask_run *run = runs_of(h);
    bool is_one = h->n_runs == 1 && (run->bytes == 4 || run->bytes == 8) && run->at % run->bytes == 0;
    if (!w->has_instructions || !is_one || (h->what != ASK_UPDATE && h->what != ASK_SWAP)) return false;
    if (run->bytes == 8)
        instruction_uint64_t(h, (uint64_t *)(uintptr_t)run->at, data_of(h), old);
    else
        instruction_uint32_t(h, (uint32_t *)(uintptr_t)run->at, data_of(h), old);
    return true;
}

/* Does a request on the memory of its runs.  `old` gets the previous value, and is also room for the new one.  Returns how many
 * bytes of `old` belong into the answer. */
static int64_t do_runs(const struct rma_win *w, const struct ask_head *h, char *old)
{
    const char *data = data_of(h);
    if (do_instruction(w, h, old)) return h->what == ASK_UPDATE && !(h->flags & ASK_OLD) ? 0 : h->bytes;
    bool has_new = h->what == ASK_UPDATE && h->op != GW_H_NO_OP;
    if (h->what == ASK_WRITE)
        runs_write(h, data);
    else
        runs_read(h, old);
    if (h->what == ASK_SWAP && memcmp(old, data, (size_t)h->bytes) == 0) runs_write(h, data + h->bytes);
    if (has_new) {
        char *new = old + gw_align_up((uint64_t)h->bytes, 16);
        struct gw_op *op = container_of(gw_obj_lookup(h->op, GW_KIND_OP), struct gw_op, obj);
        memcpy(new, old, (size_t)h->bytes);
        rma_combine_packed(op, type_of_basic(h->basic), data, new, h->bytes);
        runs_write(h, new);
    }
    return h->what == ASK_WRITE || (h->what == ASK_UPDATE && !(h->flags & ASK_OLD)) ? 0 : h->bytes;
}

static void move_few(struct rma_win *w, const struct ask_head *h)
{
    struct answer *a = answer_new(2 * (int64_t)gw_align_up((uint64_t)h->bytes, 16));
    int64_t bytes = 0;
    GW_ORDER_ELSEWHERE_BEGIN; /* the programs order these accesses by epochs */
    a->how.rc = check_attached(w, h, &a->how.at);
    if (a->how.rc == GW_OK) bytes = do_runs(w, h, a->data);
    GW_ORDER_ELSEWHERE_END;
    if (needs_busy(w, h)) rma_busy_exit(w, w->comm->rank);
    if (!(h->flags & ASK_DEFERRED) || h->what == ASK_READ) {
        answer_send(w, h, a, bytes);
        return;
    }
    free(a);
    over(w, NULL);
}

/* Does an admitted request, and answers it if its kind has an answer.  Without the lane's lock. */
static void perform(struct rma_win *w, const struct ask_head *h, uint64_t number)
{
    if (h->what == ASK_LOCK || h->what == ASK_FLUSH) {
        say(w, h, GW_OK);
    } else if (h->what == ASK_UNLOCK) {
        uint8_t bit = (uint8_t)(1 << h->kind);
        if (!(atomic_fetch_and(&w->server->held[h->origin], (uint8_t)~bit) & bit)) {
            rma_request_refuse(h, "kind of lock", h->kind);
            return;
        }
        rma_lock_here_give(w, w->comm->rank, h->kind);
        say(w, h, GW_OK);
    } else if (h->flags & ASK_LONG) {
        move_long(w, h, number);
    } else {
        move_few(w, h);
    }
}

uint64_t rma_served(struct rma_win *w) { return w->server ? atomic_load_explicit(&w->server->n_served, memory_order_relaxed) : 0; }

/* ---- pending requests ---- */
/* Keeps a copy of a request that cannot be done yet.  The lane's lock is held. */
static void keep(struct rma_server *s, const struct ask_head *h, uint64_t number)
{
    size_t bytes = ask_bytes(h, rma_request_data(h));
    struct kept *k = gw_xmalloc(sizeof *k + bytes);
    memcpy(k->request, h, bytes);
    k->number = number;
    atomic_fetch_add_explicit(&s->w->shared->waiters, 1, memory_order_seq_cst); /* before it is tried again, as in lock.c */
    gw_list_push(&s->pending, &k->link);
}

/* Does a pending request need `busy`?  Then a new one that needs it, too, must wait behind: accumulates of one
 * origin are done in order. */
static bool is_busy_wanted(struct rma_server *s)
{
    bool is_wanted = false;
    for (struct gw_list *l = s->pending.next; l != &s->pending && !is_wanted; l = l->next)
        is_wanted = needs_busy(s->w, (struct ask_head *)container_of(l, struct kept, link)->request);
    return is_wanted;
}

/* Is an access in the list, before `end`, that a fence has put behind others, and that this later one of the same origin may be behind?  It
 * may have an answer, so that the numbers of what is done do not tell; and what both waited for may be done while it is not. */
static bool has_before(const struct gw_list *kept, const struct gw_list *end, const struct ask_head *h)
{
    bool has = false;
    for (const struct gw_list *l = kept->next; l != end && !has && h->what <= ASK_SWAP; l = l->next) {
        const struct ask_head *k = (const struct ask_head *)container_of(l, struct kept, link)->request;
        bool is_earlier = !(h->flags & ASK_AFTER) || (int32_t)(h->after - k->after) >= 0;
        has = k->origin == h->origin && k->flags & ASK_AFTER && is_earlier;
    }
    return has;
}

/* Admits pending requests; called in every round of progress, with the lane's lock held. */
static void look(struct gw_done *done, int err)
{
    struct rma_server *s = container_of(done, struct rma_server, poll);
    struct rma_win *w = s->w;
    (void)err;
    if (likely(gw_list_empty(&s->pending))) return;
    bool is_taken = false; /* a request before this one waits for `busy`: this one must not overtake it */
    for (struct gw_list *l = s->pending.next, *next; l != &s->pending; l = next) {
        const struct ask_head *h = (struct ask_head *)container_of(l, struct kept, link)->request;
        bool needs = needs_busy(w, h);
        next = l->next;
        if ((needs && is_taken) || has_before(&s->pending, l, h) || !admit(w, h)) {
            is_taken = is_taken || needs;
            continue;
        }
        atomic_fetch_sub_explicit(&w->shared->waiters, 1, memory_order_seq_cst);
        gw_list_del(l);
        gw_list_push(&s->granted, l);
    }
    if (gw_list_empty(&s->granted)) return;
    req_hook_count(w->comm->lane, 1);
    if (!s->finishes) req_work_add(w->comm->lane, &s->finish);
    s->finishes = true;
}

static void finish_run(struct gw_done *done, int err)
{
    struct rma_server *s = container_of(done, struct rma_server, finish.run);
    struct gw_lane *lane = s->w->comm->lane;
    (void)err;
    for (;;) {
        gw_lock(&lane->lock);
        struct kept *k = gw_list_empty(&s->granted) ? NULL : container_of(s->granted.next, struct kept, link);
        s->finishes = k != NULL;
        gw_unlock(&lane->lock);
        if (!k) return;
        perform(s->w, (struct ask_head *)k->request, k->number);
        over(s->w, &k->link); /* until then it is not done */
        free(k);
    }
}

/* ---- requests, one after the other ---- */
static void take(struct rma_server *s, const struct ask_head *h)
{
    struct gw_lane *lane = s->w->comm->lane;
    bool is_counted = h->flags & ASK_DEFERRED && h->what != ASK_READ;
    gw_lock(&lane->lock);
    uint64_t number = is_counted ? atomic_fetch_add_explicit(&s->heard_of[h->origin], 1, memory_order_release) + 1 : 0;
    bool is_behind = has_before(&s->pending, &s->pending, h) || has_before(&s->granted, &s->granted, h);
    bool is_admitted = !is_behind && !(needs_busy(s->w, h) && is_busy_wanted(s)) && admit(s->w, h),
         may_wait = !(h->flags & ASK_TRY);
    if (!is_admitted && may_wait) keep(s, h, number);
    gw_unlock(&lane->lock);
    if (is_admitted)
        perform(s->w, h, number);
    else if (!may_wait)
        say(s->w, h, GW_AGAIN);
}

/* The one answer to all small gets of a message. */
struct gathered {
    struct answer *answer;
    int64_t bytes;
    struct ask_head head; /* of any of these gets: origin and number are the same in all */
};
static void gather(struct gathered *g, const struct ask_head *h)
{
    if (!g->answer) g->answer = answer_new(ASK_BATCH);
    g->head = *h;
    GW_ORDER_ELSEWHERE_BEGIN; /* as in move_few() */
    runs_read(h, g->answer->data + g->bytes);
    GW_ORDER_ELSEWHERE_END;
    g->bytes += h->bytes;
}

static void request_heard(struct gw_done *done, int err)
{
    struct rma_server *s = container_of(done, struct rma_server, heard);
    const struct ask_head *h = (const struct ask_head *)s->request;
    struct gathered g = {0};
    bool is_last = !rma_requests_are_right(s->w, s->request, s->listener.bytes, s->listener.source);
    (void)err;
    while (!is_last) {
        bool is_access = h->what != ASK_LOCK && h->what != ASK_UNLOCK && h->what != ASK_FLUSH;
        if (is_access) atomic_fetch_add_explicit(&s->n_served, 1, memory_order_relaxed);
        if (h->flags & ASK_GATHER)
            gather(&g, h);
        else
            take(s, h);
        is_last = !(h->flags & ASK_MORE);
        h = (const struct ask_head *)((const char *)h + gw_align_up(ask_bytes(h, rma_request_data(h)), 16));
    }
    if (g.answer) answer_send(s->w, &g.head, g.answer, g.bytes);
}

/* ---- opening and closing of a window ---- */
static void server_free(struct rma_server *s)
{
    if (s) free(s->heard_of), free((void *)s->held);
    free(s);
}

int rma_serve_open(struct rma_win *w)
{
    struct rma_server *s = calloc(1, sizeof *s);
    if (s) s->heard_of = calloc((size_t)w->comm->size, sizeof *s->heard_of);
    if (s) s->held = calloc((size_t)w->comm->size, sizeof *s->held);
    int rc = rma_agree(w->comm, s && s->heard_of && s->held ? GW_OK : gw_fail(GW_ENOMEM, "no memory to serve a window"));
    if (rc != GW_OK) {
        server_free(s);
        return rc;
    }
    assert(!w->server);
    s->w = w;
    s->heard.fn = request_heard;
    s->listener = (struct p2p_listener){
        .comm = w->comm, .tag = TAG_REQUEST, .buf = s->request, .room = REQUEST_MAX, .heard = &s->heard, .by_service = true};
    s->poll.fn = look;
    s->hook.poll = &s->poll;
    s->finish.run.fn = finish_run;
    s->finish.by_service = true;
    gw_list_init(&s->pending);
    gw_list_init(&s->granted);
    gw_list_init(&s->longs);
    gw_lock(&w->comm->lane->lock);
    req_hook_add(w->comm->lane, &s->hook);
    gw_unlock(&w->comm->lane->lock);
    w->server = s;
    p2p_listen(&s->listener);
    return GW_OK;
}

static bool is_quiet(void *arg)
{
    struct rma_server *s = arg;
    gw_lock(&s->w->comm->lane->lock);
    bool is_over = !s->finishes && gw_list_empty(&s->longs);
    gw_unlock(&s->w->comm->lane->lock);
    return is_over;
}

/* Drops what is pending when no rank sends requests any more.  All requests of correct origins are done by now: what is left could
 * never be done, and is counted as invalid. */
static void leftovers_drop(struct rma_server *s)
{
    gw_lock(&s->w->comm->lane->lock);
    while (!gw_list_empty(&s->pending)) {
        struct kept *k = container_of(s->pending.next, struct kept, link);
        rma_request_refuse((struct ask_head *)k->request, "an end that never comes", 0);
        atomic_fetch_sub_explicit(&s->w->shared->waiters, 1, memory_order_seq_cst);
        gw_list_del(&k->link);
        free(k);
    }
    for (struct gw_list *l = s->longs.next, *next; l != &s->longs; l = next) {
        struct long_put *p = container_of(l, struct long_put, link);
        next = l->next;
        if (p->req && !req_is_done(p->req)) p2p_stream_cancel(p->req);
    }
    gw_unlock(&s->w->comm->lane->lock);
    if (!is_quiet(s)) req_block_until(s->w->comm->lane, is_quiet, s);
}

int rma_serve_close(struct rma_win *w)
{
    int rc = p2p_listen_end(&w->server->listener);
    if (rc != GW_OK) return rc;
    leftovers_drop(w->server);
    assert(gw_list_empty(&w->server->pending) && gw_list_empty(&w->server->granted) && gw_list_empty(&w->server->longs));
    gw_lock(&w->comm->lane->lock);
    req_hook_del(w->comm->lane, &w->server->hook);
    gw_unlock(&w->comm->lane->lock);
    server_free(w->server);
    w->server = NULL;
    return GW_OK;
}
