/* check_recv.c -- buffers of pending receives must not be written by the program.
 *
 *   posted    the sums are those of the buffer before the call; a message that meets the receive compares them before it writes: whatever
 *             changed was changed by the program
 *   arriving  a message writes into it; no sums
 *   there     the request is complete, which the program does not know yet: sums are taken as the call ends in which that happened, and
 *             compared when it completes the operation (check_use.c)
 *
 * Buffers that lie over others in use are not looked at: that was told already.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check/check_private.h"
#include "base/os.h"

#include <stdlib.h>

/* Requests in the state `arriving`, by number; with check_lock. */
static struct {
    uint32_t *v;
    size_t room;
    _Atomic size_t n;
} arriving;

void check_recv_sum(struct check_span *s)
{
    enum { LONGEST = 64 << 20 }; /* of longer ones reading them twice would take too long */
    bool is_short = s->hi - s->lo <= LONGEST;
    if (is_short && !gw_memory_fault((const void *)s->lo, (int64_t)(s->hi - s->lo), true))
        check_span_sum_now(s); /* else the receive will say so */
}

static void arriving_add(uint32_t id)
{
    size_t n = atomic_load_explicit(&arriving.n, memory_order_relaxed);
    assert(n <= arriving.room);
    if (n == arriving.room) arriving.v = gw_xrealloc(arriving.v, (arriving.room = 2 * arriving.room + 64) * sizeof *arriving.v);
    arriving.v[n] = id;
    atomic_store_explicit(&arriving.n, n + 1, memory_order_relaxed);
}

void check_recv_posted(struct check_item *i, struct gw_req *r)
{
    const struct gw_req *running = p2p_running(r);
    assert(i->n_spans == 1 && i->spans[0].is_written);
    i->is_receive = true;
    i->running = running ? running->obj.id : 0;
    if (running && proto_is_posted(running)) return;
    check_span_forget(&i->spans[0]);
    arriving_add(i->id);
}

static void say_written(const struct check_item *i, int64_t from, int64_t to, bool gone)
{
    char site[CHECK_SITE_TEXT], about[CHECK_ABOUT_TEXT];
    const struct check_span *s = &i->spans[0];
    check_site_text(i->started, site);
    check_about_text(i, about);
    if (gone)
        check_say(
            "buffer given back too early: the receive buffer of %s%s (%lld x %s at %p) was not in the program's memory any more, or protected, when "
            "a message for it came",
            site, about, (long long)s->count, type_name(s->type), s->buf);
    else
        check_say(
            "receive buffer written: bytes %lld to %lld of the buffer of %s%s (%lld x %s at %p) were changed before a message for it "
            "came; until the operation is completed by a wait or test the buffer belongs to MPI",
            (long long)from, (long long)to - 1, site, about, (long long)s->count, type_name(s->type), s->buf);
}

/* The lane's lock is held, and the message has not written anything. */
static void met(const struct proto_meeting *m)
{
    int64_t from, to;
    bool gone;
    gw_lock(&check_lock);
    struct check_span s = check_span(m->buf, m->count, m->type, true);
    struct check_item *i = m->req->obj.id && s.lo != s.hi ? check_use_running(m->req->obj.id, &s) : NULL;
    if (i && i->is_receive && i->is_active) {
        if (check_span_changed(&i->spans[0], &from, &to, &gone)) say_written(i, from, to, gone);
        check_span_forget(&i->spans[0]);
        arriving_add(i->id);
    }
    gw_unlock(&check_lock);
}

static void not_posted(const struct proto_unready *u)
{
    char comm[CHECK_COMM_TEXT];
    check_say(
        "ready send without a receive: rank %d sent %lld x %s with tag %d on %s by MPI_Rsend, MPI_Irsend or a request of MPI_Rsend_init, "
        "and no receive for that was posted here when it came; the receive must be started first",
        u->src, (long long)u->count, u->type, u->tag, check_comm_name(u->ctx, comm));
}

void check_recv_begin(void)
{
    proto_upcalls.meeting = met;
    proto_upcalls.unready = not_posted;
}

void check_recv_arrivals(void)
{
    if (atomic_load_explicit(&arriving.n, memory_order_relaxed) == 0) return;
    gw_lock(&check_lock);
    size_t kept = 0, n = atomic_load_explicit(&arriving.n, memory_order_relaxed);
    for (size_t k = 0; k < n; k++) {
        struct check_item *i = check_item_find(arriving.v[k]);
        const struct gw_req *r = (const struct gw_req *)gw_obj_lookup(arriving.v[k], GW_KIND_REQ);
        if (!i || !r || !i->is_active) continue;
        if (!req_is_done(r))
            arriving.v[kept++] = arriving.v[k];
        else if (i->spans[0].lo != i->spans[0].hi)
            check_recv_sum(&i->spans[0]);
    }
    atomic_store_explicit(&arriving.n, kept, memory_order_relaxed);
    gw_unlock(&check_lock);
}

void check_recv_end(void)
{
    free(arriving.v);
    arriving.v = NULL;
    arriving.room = 0;
    atomic_store_explicit(&arriving.n, 0, memory_order_relaxed);
}
