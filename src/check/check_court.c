/* check_court.c -- the collective calls of a communicator come together at its rank 0, which compares them.
 *
 * Every member sends the record of each of its calls on a stream of its own (GW_STREAM_CHECK), in the order of the calls, and goes
 * on if the call is non-blocking; else it waits for the verdict.  Rank 0 has one receive for any of them posted, and takes in what
 * comes whenever it makes progress, in whatever call it is; when it has the next record of every member, it judges.
 * Of an intercommunicator both groups come together, at rank 0 of the one whose rank 0 is lower in MPI_COMM_WORLD: the first group.
 * If there are processes of other jobs in it, of which we do not know whether they check, each group meets for itself.
 * The court of a communicator opens with rank 0's first collective call on it, and closes after MPI_Comm_free or at the end.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check/check_call.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/time.h"
#include "boot/boot.h"
#include "boot/where.h"
#include "plan/plan.h"

enum { TAG_CALL, TAG_VERDICT };
enum { COURT_NAME_TEXT = GW_MAX_OBJECT_NAME + 128 };

/* A call that is not judged yet. */
struct entry {
    struct entry *next;
    _Atomic int32_t *verdict_out; /* of rank 0's own, or NULL */
    struct check_call call;       /* and its signatures */
};
struct line {
    struct entry *first, *last;
}; /* of one member */

/* Rank 0's receive of records: from its own group, and from the other one. */
struct ear {
    struct court *court;
    struct gw_comm *comm; /* held */
    struct gw_req *recv;
    struct gw_done arrived; /* of it */
    struct req_work work;
    struct check_call *buffer;
    int from;      /* of what lies there: rank in comm, */
    int64_t bytes; /* and length; -1: it failed */
};

struct court {
    struct court *next;
    struct gw_comm *comm; /* held; the one that is called */
    int n, n_first;       /* members, and those of the first group: as many, unless two groups meet */
    struct line *lines;   /* [n] */
    int n_ready;          /* members whose line is not empty */
    bool has_spoken;      /* about the calls that are first in line */
    bool is_over;         /* MPI_Comm_free */
    struct ear ears[2];   /* the second: of the other group */
};
static struct {
    struct court *first;
    struct gw_lock lock; /* over all that courts have; before a lane's; nothing waits with it held */
} courts;

static struct gw_comm *own_group(struct gw_comm *c) { return c->remote ? c->local : c; }

/* Of our own job, or jobs started with it. */
static bool is_ours(const struct gw_group *g)
{
    for (int i = 0; i < g->size; i++)
        if (group_world(g, i) >= gw_boot.size) return false;
    return true;
}

bool check_court_has_both(const struct gw_comm *c) { return c->remote && is_ours(c->group) && is_ours(c->remote); }
/* Our group is not the one where both meet. */
static bool is_second(const struct gw_comm *c)
{
    return check_court_has_both(c) && group_world(c->remote, 0) < group_world(c->group, 0);
}

int check_court_sigs_max(const struct gw_comm *c) { return 2 * (c->size > c->targets ? c->size : c->targets) + 1; }
static int64_t record_max(const struct gw_comm *c)
{
    return (int64_t)sizeof(struct check_call) + check_court_sigs_max(c) * (int64_t)sizeof(struct check_sig);
}

/* ---- messages ---------------------------------------------------------------------------------------------------------------- */
struct parcel {
    struct gw_done done;
    struct parcel *next, **at;
    struct gw_req *req;
    char bytes[] GW_ALIGNED(8);
};
static struct {
    struct parcel *first;
    int64_t n;
    struct gw_lock lock; /* after a lane's */
} parcels;               /* on their way */

static void parcel_add(struct parcel *p, struct gw_req *r)
{
    gw_lock(&parcels.lock);
    p->req = r;
    p->next = parcels.first;
    p->at = &parcels.first;
    if (p->next) p->next->at = &p->next;
    parcels.first = p;
    parcels.n++;
    gw_unlock(&parcels.lock);
}

static void parcel_sent(struct gw_done *done, int err)
{
    (void)err;
    struct parcel *p = container_of(done, struct parcel, done);
    gw_lock(&parcels.lock);
    assert(*p->at == p && parcels.n > 0);
    *p->at = p->next;
    if (p->next) p->next->at = p->at;
    parcels.n--;
    gw_unlock(&parcels.lock);
    free(p);
}

/* A copy goes; nobody waits for it. */
int check_court_post(struct gw_comm *c, int to, int tag, const void *bytes, size_t n)
{
    struct gw_req *r;
    struct parcel *p = gw_xmalloc(sizeof *p + n);
    p->done.fn = parcel_sent;
    memcpy(p->bytes, bytes, n);
    int rc = p2p_stream_isend(GW_STREAM_CHECK, p->bytes, (int64_t)n, gw_type_byte, to, tag, c, &r);
    if (rc == GW_POSTED) {
        gw_lock(&c->lane->lock);
        rc = p2p_stream_chain(r, &p->done);
        if (rc == GW_POSTED) parcel_add(p, r);
        gw_unlock(&c->lane->lock);
    }
    if (rc != GW_POSTED) free(p);
    return rc < 0 ? rc : GW_OK;
}

/* ---- rank 0 -------------------------------------------------------------------------------------------------------------------- */
/* To be freed: .v. */
static struct judge_calls firsts_of(const struct court *k)
{
    const struct check_call **v = gw_xmalloc((size_t)k->n * sizeof *v);
    for (int i = 0; i < k->n; i++) v[i] = k->lines[i].first ? &k->lines[i].first->call : NULL;
    return (struct judge_calls){v, k->n, k->n_first};
}

static const char *court_name(const struct court *k, char *out)
{
    size_t n = (size_t)snprintf(out, COURT_NAME_TEXT, "%s", k->comm->name[0] ? k->comm->name : "a communicator without a name");
    size_t room = COURT_NAME_TEXT - n;
    if (k->n_first < k->n)
        snprintf(out + n, room, " (between two groups, of which the first is that of rank %d in MPI_COMM_WORLD)",
                 group_world(k->comm->group, 0));
    else if (k->comm->remote)
        snprintf(out + n, room, " (ranks of one of its groups)");
    return out;
}

static void say(struct court *k, struct judge_calls calls, const char *what, const char *detail)
{
    char text[3072], name[COURT_NAME_TEXT];
    check_judge_text(calls, text, sizeof text);
    check_say("collectives differ on %s: %s; %s%s", court_name(k, name), text, what, detail);
}

/* GW_OK, or what the calls that wait shall answer.  Told is what is at least so bad. */
static int look(struct court *k, int least)
{
    struct judge_calls calls = firsts_of(k);
    struct judgement j = check_judge(calls);
    char detail[160] = "";
    if (j.severity >= least && !k->has_spoken) {
        if (j.from >= 0)
            snprintf(detail, sizeof detail, " (rank %d sends %lld bytes to rank %d, which receives %lld)", j.from,
                     (long long)j.sent, j.to, (long long)j.received);
        say(k, calls, j.what, detail);
        k->has_spoken = true;
    }
    free((void *)(uintptr_t)calls.v);
    return j.severity == JUDGE_WRONG ? j.error : GW_OK;
}

static void pronounce(struct court *k, struct entry *e, int32_t verdict)
{
    assert(!e->verdict_out || e->call.member == 0);
    if (e->verdict_out)
        atomic_store_explicit(e->verdict_out, verdict, memory_order_release); /* [V1] */
    else if (e->call.waits && e->call.member < k->n_first)
        check_court_post(own_group(k->comm), e->call.member, TAG_VERDICT, &verdict, sizeof verdict);
    else if (e->call.waits)
        check_court_post(k->comm, e->call.member - k->n_first, TAG_VERDICT, &verdict, sizeof verdict);
}

static bool frees(const struct check_call *call)
{
    const char *name = check_call_name(call->fn);
    return strcmp(name, "MPI_Comm_free") == 0 || strcmp(name, "MPI_Comm_disconnect") == 0;
}

static void judge_all(struct court *k)
{
    while (k->n_ready == k->n && !k->is_over) {
        int32_t verdict = look(k, JUDGE_TYPES);
        k->has_spoken = false;
        k->is_over = verdict == GW_OK && frees(&k->lines[0].first->call);
        for (int i = 0; i < k->n; i++) {
            struct entry *e = k->lines[i].first;
            assert(e && e->call.member == i); /* as many lines are ready as there are */
            k->lines[i].first = e->next;
            k->n_ready -= e->next == NULL;
            pronounce(k, e, verdict);
            free(e);
        }
    }
}

static void take_in(struct court *k, const struct check_call *call, _Atomic int32_t *verdict_out)
{
    struct entry *e = gw_xmalloc(sizeof *e + call_bytes(call));
    assert(call->member >= 0 && call->member < k->n);
    struct line *l = &k->lines[call->member];
    e->next = NULL;
    e->verdict_out = verdict_out;
    memcpy(&e->call, call, call_bytes(call));
    k->n_ready += l->first == NULL;
    if (l->first)
        l->last->next = e;
    else
        l->first = e;
    l->last = e;
    judge_all(k);
}

static void ear_note(struct ear *ear)
{
    ear->from = ear->recv->status.source;
    ear->bytes = ear->recv->err < 0 ? -1 : gw_status_bytes(&ear->recv->status);
}

static void hear(struct ear *ear)
{
    struct court *k = ear->court;
    bool is_second = ear == &k->ears[1];
    int member = is_second ? k->n_first + ear->from : ear->from, end = is_second ? k->n : k->n_first;
    if (ear->from >= 0 && member < end && check_call_is_right(ear->buffer, ear->bytes, member, check_court_sigs_max(k->comm)))
        take_in(k, ear->buffer, NULL);
}

/* Posts the receive again and takes in what is there already.  The court is locked. */
static void listen(struct ear *ear)
{
    struct court *k = ear->court;
    assert(!ear->recv); /* there is one at a time */
    while (!k->is_over) {
        int rc = p2p_stream_irecv(GW_STREAM_CHECK, ear->buffer, record_max(k->comm), gw_type_byte, GW_ANY_SOURCE, TAG_CALL,
                                  ear->comm, &ear->recv);
        if (rc != GW_POSTED) gw_die("GODWIT_CHECK could not listen to the other ranks: %s", gw_fail_text());
        gw_lock(&ear->comm->lane->lock);
        if (req_is_done(ear->recv)) ear_note(ear);
        rc = p2p_stream_chain(ear->recv, &ear->arrived);
        gw_unlock(&ear->comm->lane->lock);
        if (rc == GW_POSTED) return;
        hear(ear);
    }
    ear->recv = NULL;
}

/* Inside progress, the lane's lock held. */
static void arrived(struct gw_done *done, int err)
{
    struct ear *ear = container_of(done, struct ear, arrived);
    (void)err;
    if (!ear->recv) return; /* cancelled */
    ear_note(ear);
    ear->recv = NULL;
    req_work_add(ear->comm->lane, &ear->work);
}

static void ear_close(struct ear *ear)
{
    if (!ear->comm) return;
    struct gw_req *r = ear->recv;
    gw_lock(&ear->comm->lane->lock);
    ear->recv = NULL;
    if (r) proto_cancel(r); /* goes back to the pool by itself */
    gw_unlock(&ear->comm->lane->lock);
    comm_release(ear->comm);
    free(ear->buffer);
}

static void court_close(struct court *k)
{
    for (int e = 0; e < 2; e++) ear_close(&k->ears[e]);
    for (int i = 0; i < k->n; i++)
        for (struct entry *e = k->lines[i].first, *next; e; e = next) {
            next = e->next;
            free(e);
        }
    comm_release(k->comm);
    free(k->lines);
    free(k);
}

static void close_those_over(void)
{
    for (struct court **at = &courts.first; *at;) {
        struct court *k = *at;
        if (!k->is_over) {
            at = &k->next;
            continue;
        }
        *at = k->next;
        court_close(k);
    }
}

static void work(struct gw_done *done, int err)
{
    (void)err;
    struct ear *ear = container_of(container_of(done, struct req_work, run), struct ear, work);
    struct court *k = ear->court;
    gw_lock(&courts.lock);
    hear(ear);
    listen(ear);
    if (k->is_over) close_those_over();
    gw_unlock(&courts.lock);
}

static void ear_open(struct court *k, struct ear *ear, struct gw_comm *c)
{
    ear->court = k;
    ear->comm = comm_hold(c);
    ear->buffer = gw_xmalloc((size_t)record_max(k->comm));
    ear->arrived.fn = arrived;
    ear->work.run.fn = work;
    listen(ear);
}

static struct court *court_of(struct gw_comm *c)
{
    struct court *k = courts.first;
    while (k && k->comm != c) k = k->next;
    if (k) return k;
    k = gw_xcalloc(1, sizeof *k);
    k->comm = comm_hold(c);
    k->n_first = c->size;
    k->n = c->size + (check_court_has_both(c) ? c->remote->size : 0);
    k->lines = gw_xcalloc((size_t)k->n, sizeof *k->lines);
    k->next = courts.first;
    courts.first = k;
    if (c->size > 1) ear_open(k, &k->ears[0], own_group(c));
    if (k->n > k->n_first) ear_open(k, &k->ears[1], c);
    return k;
}

/* ---- waiting -------------------------------------------------------------------------------------------------------------------- */
enum { NO_VERDICT = 1 }; /* errors are negative */
#define LATE_NS 2000000000ull
struct wait {
    struct gw_done about;
    struct gw_comm *comm;
    _Atomic int32_t verdict;
    uint64_t late_ns; /* when it takes long; 0: that was noticed */
};

/* It takes long: those who are here may differ already, and perhaps wait for each other. */
static void look_early(struct wait *w)
{
    w->late_ns = 0;
    gw_lock(&courts.lock);
    look(court_of(w->comm), JUDGE_WRONG);
    gw_unlock(&courts.lock);
}

static bool is_judged(void *arg)
{
    struct wait *w = arg;
    if (w->late_ns && gw_now_ns() > w->late_ns) look_early(w);
    return atomic_load_explicit(&w->verdict, memory_order_acquire) != NO_VERDICT; /* pairs with [V1] */
}

/* For mpiexec: whom we wait for. */
static void wait_tell(struct gw_done *done, int err)
{
    (void)err;
    struct wait *w = container_of(done, struct wait, about);
    struct gw_comm *c = w->comm;
    gw_lock(&courts.lock);
    struct court *k = court_of(c);
    struct boot_where *where = node_report_begin();
    where->has_coll = 1;
    where->coll = (struct boot_pending){.about = BOOT_MEMBER, .peer = GW_ANY_SOURCE, .tag = GW_ANY_TAG};
    p2p_report_comm(&where->coll, c->ctx >> GW_STREAM_BITS, c);
    where->coll_number = c->colls - 1;
    where->coll_hidden = where->coll_number - comm_coll_shown(c, where->coll_number);
    where->coll_call = where->call;
    for (int i = 0; i < k->n; i++) {
        if (k->lines[i].first) continue;
        bool is_here = i < k->n_first;
        int peer = is_here ? i : i - k->n_first;
        if (where->n_pending < BOOT_PENDING)
            where->pending[where->n_pending] = (struct boot_pending){.about = BOOT_MEMBER,
                                                                     .world = group_world(is_here ? c->group : c->remote, peer),
                                                                     .peer = peer,
                                                                     .tag = GW_ANY_TAG,
                                                                     .ctx = c->ctx >> GW_STREAM_BITS};
        where->n_pending++;
    }
    gw_unlock(&courts.lock);
    p2p_report_end(where, c->lane);
}

static int at_rank_0(struct gw_comm *c, struct check_call *call)
{
    struct wait w = {{wait_tell}, c, NO_VERDICT, gw_now_ns() + LATE_NS};
    gw_lock(&courts.lock);
    struct court *k = court_of(c);
    take_in(k, call, call->waits ? &w.verdict : NULL);
    if (k->is_over) close_those_over();
    gw_unlock(&courts.lock);
    if (!call->waits) return GW_OK;
    if (!is_judged(&w)) req_block_about(c->lane, is_judged, &w, &w.about);
    return atomic_load_explicit(&w.verdict, memory_order_relaxed);
}

/* meet: in which rank 0 is the one that judges. */
static int at_others(struct gw_comm *meet, struct check_call *call)
{
    struct gw_req *r;
    int32_t verdict = GW_OK;
    int64_t bytes = sizeof verdict;
    int rc = GW_OK, sent;
    if (call->waits) rc = p2p_stream_irecv(GW_STREAM_CHECK, &verdict, sizeof verdict, gw_type_byte, 0, TAG_VERDICT, meet, &r);
    if (rc < 0) return rc;
    sent = check_court_post(meet, 0, TAG_CALL, call, call_bytes(call));
    if (rc == GW_POSTED) rc = p2p_stream_wait_bytes(r, &bytes);
    return sent < 0 ? sent : rc < 0 ? rc : check_verdict_of(verdict, bytes);
}

int check_court_call(struct gw_comm *c, struct check_call *call)
{
    bool second = is_second(c);
    assert((int64_t)call_bytes(call) <= record_max(c));
    /* For reports the call has begun; the collective itself will count it again. */
    plan_enter(c, PLAN_ANY_CALL, call->root == GW_UNDEFINED ? GW_ANY_SOURCE : call->root);
    call->member = c->rank + (second ? c->remote->size : 0);
    int rc = call->member == 0 ? at_rank_0(c, call) : at_others(second ? c : own_group(c), call);
    comm_coll_count(c, -1);
    return rc >= 0 ? GW_OK
                   : gw_fail(rc,
                             "the ranks of the communicator do not make the same call; rank 0 of it says on stderr who calls what "
                             "(GODWIT_CHECK)");
}

/* ---- the end --------------------------------------------------------------------------------------------------------------------- */
static void say_unfinished(struct court *k)
{
    if (k->n_ready == 0 || k->is_over) return;
    struct judge_calls calls = firsts_of(k);
    say(k, calls, "at MPI_Finalize not all have made the call", "");
    free((void *)(uintptr_t)calls.v);
}

void check_take_in(void)
{
    for (int quiet = 0; quiet < 3;) quiet = req_progress() ? 0 : quiet + 1;
}

/* All that was sent is taken in; where calls are missing or differ some of it is not, and nobody waits for that. */
static void settle(void)
{
    enum { ROUNDS_WITHOUT_NEWS = 20 };
    int64_t left = -1, was;
    for (int same = 0; left != 0 && same < ROUNDS_WITHOUT_NEWS; same = left == was ? same + 1 : 0) {
        check_take_in();
        was = left;
        gw_lock(&parcels.lock);
        int64_t mine = parcels.n;
        gw_unlock(&parcels.lock);
        if (coll_allreduce(&mine, &left, 1, gw_type_int64, gw_op_sum, &gw_comm_world, NULL) != GW_OK) break;
    }
    for (int i = 0; left != 0 && i < gw_nlanes; i++) {
        gw_lock(&gw_lanes[i].lock);
        gw_lock(&parcels.lock);
        for (struct parcel *p = parcels.first; p; p = p->next)
            if (p->req->lane == i) p->req->flags &= (uint16_t)~REQ_FREED;
        gw_unlock(&parcels.lock);
        gw_unlock(&gw_lanes[i].lock);
    }
}

void check_court_end(void)
{
    settle();
    while (courts.first) {
        struct court *k = courts.first;
        say_unfinished(k);
        courts.first = k->next;
        court_close(k);
    }
}
