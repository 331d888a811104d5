/* mail.c -- small accesses that a target serves while it waits: one mailbox per target, in the memory that all ranks map.
 *
 *   origin                                     target
 *   asked = n -------------------------------> taken = n, unless withdrawn: does it
 *   looks, for long: withdrawn = n             answered = n: done, or declined
 *          taken == n? waits for the answer
 *          else nothing will happen
 *
 * This is for targets whose memory is not mapped here: four cache lines that move between cores cost a fraction of a system call
 * (CMA). The origin holds the target's `busy` while it uses the mailbox, so accesses by mail are atomic to all other accumulates;
 * a put or get that finds `busy` taken goes another way.  Origin and target each store (`withdrawn`, `taken`), fence, and then
 * load what the other stores: at least one of them sees the other's store, so an origin that finds its request not taken can
 * safely access the memory by itself.  After a target did not answer, the next accesses do not use its mailbox (left_alone).  An
 * origin serves its own mailbox while it waits for an answer, as two ranks may ask each other.  Each cache line has one writer,
 * and a request needs no atomic read-modify-write.
 *
 * GIVE and TAKE ask the target to help with a long access (stream.c).  Between `taken` and `answered` the target copies all
 * pieces, or stops when the origin has made no progress for long; then the origin copies the rest by itself.  A target that itself
 * waits for an answer declines, so that there are no chains of ranks that wait for each other.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <sched.h>
#include <stdlib.h>

#include "rma/rma_private.h"
#include "base/settings.h"

enum {
    LEFT_ALONE = 64,
    LOOKS_AWAKE = 1000,
    STAY_FOR = 64,
    STAY_LOOKS = 32,
    HELP_LOOKS = 1000,
    ALONE_BYTES = 16384,
    PATIENCE = 10000
};

struct rma_mailer {
    struct req_hook hook;
    struct gw_done poll;
    struct rma_win *w;
};

static struct rma_mail *mail_of(struct rma_win *w, int rank)
{
    struct rma_mail *all = (struct rma_mail *)&w->shared->of[w->here->size];
    return &all[w->near[rank].words - w->shared->of];
}

/* ---- the target ---- */
static void update_here(struct rma_mail *m, void *here)
{
    assert(m->bytes <= MAIL_BYTES);
    char was[MAIL_BYTES], *operand = mail_operand(m, m->bytes);
    if (m->wants_old) rma_copy_few(was, here, m->bytes);
    if (m->op == GW_H_REPLACE) {
        rma_copy_few(here, operand, m->bytes);
    } else if (m->op != GW_H_NO_OP) {
        struct gw_type *t = container_of(gw_obj_lookup(m->type, GW_KIND_TYPE), struct gw_type, obj);
        op_reduce(container_of(gw_obj_lookup(m->op, GW_KIND_OP), struct gw_op, obj), operand, here, m->bytes / t->size, t);
    }
    if (m->wants_old) rma_copy_few(mail_old(m, m->bytes), was, m->bytes);
}

static void swap_here(struct rma_mail *m, void *here)
{
    assert(m->bytes <= MAIL_SHORT);
    rma_copy_few(m->old, here, m->bytes);
    if (memcmp(m->old, m->operand, m->bytes) == 0) rma_copy_few(here, m->data, m->bytes);
}

static void do_it(struct rma_mail *m)
{
    void *here = (void *)(uintptr_t)m->at;
    switch (m->what) {
    case MAIL_READ: rma_copy_few(mail_old(m, m->bytes), here, m->bytes); break;
    case MAIL_WRITE: rma_copy_few(here, mail_operand(m, m->bytes), m->bytes); break;
    case MAIL_UPDATE: update_here(m, here); break;
    default: swap_here(m, here);
    }
}

static inline bool is_asked(struct rma_mail *mine)
{
    return atomic_load_explicit(&mine->asked, memory_order_acquire) != atomic_load_explicit(&mine->taken, memory_order_relaxed);
}

/* Copies pieces of a long access; returns how many.  Stops early if the origin makes no progress: it may have lost its core. */
static GW_NOINLINE uint32_t help(struct rma_mail *m)
{
    uint64_t block;
    memcpy(&block, m->operand, sizeof block);
    struct stream_end mine = {node_ptr(block), (char *)(uintptr_t)m->at, m->bytes, 0, m->what == MAIL_GIVE};
    for (int looks = 0; !rma_stream_is_over(&mine) && looks < HELP_LOOKS; looks++) {
        if (rma_stream_step(&mine))
            looks = 0;
        else
            rma_mail_relax(m);
    }
    return mine.n;
}

/* Serves the request in this rank's mailbox.  The lane's lock is held, so that one thread does it. */
static GW_NOINLINE void serve(struct rma_mail *m, bool may_help)
{
    uint64_t n = atomic_load_explicit(&m->asked, memory_order_acquire);
    atomic_store_explicit(&m->taken, n, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst); /* [M1] pairs with withdraw() */
    m->is_declined = atomic_load_explicit(&m->withdrawn, memory_order_relaxed) >= n || (m->what >= MAIL_GIVE && !may_help);
    if (likely(!m->is_declined)) {
        GW_ORDER_ELSEWHERE_BEGIN; /* the origin holds this rank's `busy` */
        if (likely(m->what < MAIL_GIVE))
            do_it(m);
        else
            m->pieces = help(m);
        GW_ORDER_ELSEWHERE_END;
    }
    atomic_store_explicit(&m->answered, n, memory_order_release);
}

/* Polls the mailbox in every round of progress.  As requests often come in a row, it polls on for a while after one, unless other
 * threads want the lane. */
static void look(struct gw_done *done, int err)
{
    struct rma_win *w = container_of(done, struct rma_mailer, poll)->w;
    struct rma_mail *mine = mail_of(w, w->comm->rank);
    (void)err;
    if (unlikely(atomic_load_explicit(&mine->wake, memory_order_relaxed))) { /* counts as progress: this rank polls on */
        atomic_store_explicit(&mine->wake, 0, memory_order_relaxed);
        req_hook_count(w->comm->lane, 1);
    }
    if (likely(!is_asked(mine))) return;
    for (int served = 0, looks = 0; served < STAY_FOR && looks < STAY_LOOKS; looks++) {
        if (is_asked(mine)) {
            serve(mine, true);
            served++;
            looks = 0;
        }
        if (gw_threads) break;
        rma_mail_relax(mine);
    }
    req_hook_count(w->comm->lane, 1);
}

/* ---- the origin ---- */
static void serve_own(struct rma_win *w, struct rma_mail *mine)
{
    if (likely(!is_asked(mine))) return;
    gw_lock(&w->comm->lane->lock);
    if (is_asked(mine)) serve(mine, false);
    gw_unlock(&w->comm->lane->lock);
}

/* Withdraws request n.  True: the target has not taken it, and never will. */
static GW_COLD bool withdraw(struct rma_mail *m, uint64_t n)
{
    atomic_store_explicit(&m->withdrawn, n, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst); /* [M1] */
    rma_mail_relax(m);
    return atomic_load_explicit(&m->taken, memory_order_relaxed) != n;
}

/* Wakes a target that sleeps in an MPI call.  Later accesses may find it awake; this one goes another way. */
static GW_COLD bool wake(struct rma_win *w, int target)
{
    atomic_store_explicit(&w->targets[target].left_alone, LEFT_ALONE, memory_order_relaxed);
    if (gw_node.oversubscribed) return false;
    atomic_store_explicit(&mail_of(w, target)->wake, 1, memory_order_release);
    node_ring_door(w->targets[target].door);
    return false;
}

static bool refuses(const struct rma_win *w, int target)
{
    return atomic_load_explicit(&w->targets[target].refuses, memory_order_relaxed);
}

bool rma_mail_may_ask(struct rma_win *w, int target, int64_t bytes)
{
    if (!w->mailer || !is_here(w, target)) return false;
    if (unlikely(refuses(w, target))) return true;
    if (gw_set.rma_ask == 0) return false;
    _Atomic uint32_t *alone = &w->targets[target].left_alone;
    uint32_t n = atomic_load_explicit(alone, memory_order_relaxed);
    if (likely(n == 0)) return likely(!node_seems_asleep(w->targets[target].door)) || wake(w, target);
    uint32_t weight = 1 + (uint32_t)gw_min64(bytes / ALONE_BYTES, LEFT_ALONE);
    atomic_store_explicit(alone, n > weight ? n - weight : 0, memory_order_relaxed); /* not exact with several threads */
    return false;
}

struct rma_mail *rma_mail_begin(struct rma_win *w, int target, const void *data, int64_t bytes)
{
    struct rma_mail *m = mail_of(w, target);
    assert(!data || bytes <= MAIL_BYTES);
    if (data) rma_copy_few(mail_operand(m, bytes), data, (size_t)bytes);
    return m;
}

bool rma_mail_ask(struct rma_win *w, int target, struct rma_mail *m, enum mail_what what, uint64_t at, int64_t bytes,
                  struct stream_end *end)
{
    struct rma_mail *mine = mail_of(w, w->comm->rank);
    uint64_t n = atomic_load_explicit(&m->asked, memory_order_relaxed) + 1;
    int64_t patience = likely(!refuses(w, target)) ? gw_set.rma_ask : gw_max64(gw_set.rma_ask, PATIENCE);
    bool is_withdrawn = false;
    assert(what >= MAIL_GIVE ? end != NULL : bytes <= MAIL_BYTES);
    m->what = what;
    m->at = at;
    m->bytes = (uint32_t)bytes;
    atomic_store_explicit(&m->asked, n, memory_order_release);
    for (int64_t looks = 0; atomic_load_explicit(&m->answered, memory_order_acquire) != n && !is_withdrawn; looks++) {
        if (end && rma_stream_step(end)) looks = 0;
        rma_mail_relax(m);
        serve_own(w, mine);
        if (unlikely(looks == patience)) is_withdrawn = withdraw(m, n);
        if (unlikely(looks > LOOKS_AWAKE) && looks % LOOKS_AWAKE == 0) sched_yield(); /* perhaps the target needs this core */
    }
    if (likely(!is_withdrawn) && likely(!m->is_declined)) return true;
    atomic_store_explicit(&w->targets[target].left_alone, LEFT_ALONE, memory_order_relaxed);
    return false;
}

bool rma_mail_move(struct rma_win *w, int target, bool is_put, uint64_t at, int64_t bytes, void *packed)
{
    if (!rma_mail_may_ask(w, target, bytes) || !rma_busy_try(w, target)) return false;
    struct rma_mail *m = rma_mail_begin(w, target, is_put ? packed : NULL, bytes);
    bool is_done = rma_mail_ask(w, target, m, is_put ? MAIL_WRITE : MAIL_READ, at, bytes, NULL);
    if (is_done && !is_put) rma_copy_few(packed, mail_old(m, bytes), (size_t)bytes);
    rma_busy_exit(w, target);
    return is_done;
}

static bool insist_once(struct rma_win *w, int target, bool is_held, bool is_put, uint64_t at, int64_t bytes, char *packed)
{
    if (!is_held && !rma_busy_try(w, target)) return false;
    struct rma_mail *m = rma_mail_begin(w, target, is_put ? packed : NULL, bytes);
    bool is_done = rma_mail_ask(w, target, m, is_put ? MAIL_WRITE : MAIL_READ, at, bytes, NULL);
    if (is_done && !is_put) rma_copy_few(packed, mail_old(m, bytes), (size_t)bytes);
    if (!is_held) rma_busy_exit(w, target);
    return is_done;
}

void rma_mail_insist(struct rma_win *w, int target, bool is_held, bool is_put, uint64_t at, int64_t bytes, char *packed)
{
    while (bytes > 0) {
        int64_t part = gw_min64(bytes, MAIL_BYTES);
        while (!insist_once(w, target, is_held, is_put, at, part, packed)) {
            atomic_store_explicit(&mail_of(w, target)->wake, 1, memory_order_release);
            node_ring_door(w->targets[target].door);
            req_progress(); /* the target may wait for this rank */
            sched_yield();
        }
        bytes -= part;
        at += (uint64_t)part;
        packed += part;
    }
}

/* ---- opening and closing of a window ---- */
uint64_t rma_mail_room(const struct rma_win *w)
{
    bool is_mapped = w->flavor == GW_WIN_FLAVOR_ALLOCATE || w->flavor == GW_WIN_FLAVOR_SHARED;
    return is_mapped || w->here->size == 1 ? 0 : (uint64_t)w->here->size * sizeof(struct rma_mail);
}

int rma_mail_open(struct rma_win *w)
{
    if (rma_mail_room(w) == 0) return GW_OK;
    assert(!w->mailer);
    struct rma_mailer *mailer = calloc(1, sizeof *mailer);
    if (!mailer) return gw_fail(GW_ENOMEM, "no memory to serve a window");
    mailer->poll.fn = look;
    mailer->hook.poll = &mailer->poll;
    mailer->w = w;
    gw_lock(&w->comm->lane->lock);
    req_hook_add(w->comm->lane, &mailer->hook);
    gw_unlock(&w->comm->lane->lock);
    w->mailer = mailer;
    return GW_OK;
}

void rma_mail_close(struct rma_win *w)
{
    if (!w->mailer) return;
    gw_lock(&w->comm->lane->lock);
    req_hook_del(w->comm->lane, &w->mailer->hook);
    gw_unlock(&w->comm->lane->lock);
    free(w->mailer);
    w->mailer = NULL;
}
