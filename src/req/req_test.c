/* req_test.c -- wait and test in every form on random arrays of requests, completed by a progress hook, against a model.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "req/req_private.h"
#include "base/event.h"
#include "base/lock.h"

#include <stdio.h>

#include "../../test/ranks.h"
#include "wire_shm/shm.h"

enum { MAX = 12, ROUNDS = 20000, UNTOUCHED = 4711 };
enum what { NOTHING, INACTIVE, SENT, PROCNULL, PENDING, PERSISTENT, WHATS };

static uint64_t state = 0x9e3779b97f4a7c15u;
static int rnd(int n)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (int)((state >> 11) % (uint64_t)n);
}

/* ---- requests that complete in some later round of progress --------------------------------------------------------------- */
struct slot {
    enum what what;
    struct gw_req *req;
    int at, err, source, tag;
    int64_t bytes;
    bool retired, done, empty;
};
static struct slot slots[MAX];
static struct gw_req *reqs[MAX];
static int n, now, finals, notified, context;
static uint32_t free_before;

static bool is_active(const struct slot *s) { return s->what >= SENT && !s->retired; }

static void poll(struct gw_done *d, int err)
{
    (void)d, (void)err;
    now++;
    for (int i = 0; i < n; i++) {
        struct slot *s = &slots[i];
        if (s->what < PENDING || s->done || now < s->at) continue;
        s->done = true;
        gw_status_fill(&s->req->status, s->source, s->tag, s->bytes, false);
        s->req->err = s->err;
        req_complete(s->req);
        req_hook_count(&gw_lanes[0], 1);
    }
}
static struct gw_done poll_done = {.fn = poll};
static struct req_hook hook = {.poll = &poll_done};

static void final(struct gw_done *d, int err) { (void)d, (void)err, finals++; }
static void notify(struct gw_done *d, int err) { (void)d, (void)err, notified++; }
static struct gw_done final_done = {.fn = final}, notify_done = {.fn = notify};
static int want_finals, want_notified;

static uint32_t count_free(void)
{
    uint32_t k = 0;
    for (struct gw_list *l = gw_lanes[0].free_reqs; l; l = l->next) k++;
    return k;
}

static void fill_slot(struct slot *s)
{
    *s = (struct slot){
        .what = (enum what)rnd(WHATS), .at = now + rnd(6), .source = rnd(9), .tag = rnd(99), .bytes = (int64_t)rnd(99) << 28};
    if (rnd(8) == 0) s->err = rnd(2) ? GW_ETRUNCATE : GW_EOTHER;
    switch (s->what) {
    case NOTHING: break;
    case SENT:
        s->req = &gw_req_sent, s->source = GW_ANY_SOURCE, s->tag = GW_ANY_TAG, s->bytes = 0, s->err = 0, s->done = true;
        break;
    case PROCNULL:
        s->req = &gw_req_procnull, s->source = GW_PROC_NULL, s->tag = GW_ANY_TAG, s->bytes = 0, s->err = 0, s->done = true;
        break;
    default:
        s->req = req_new(&gw_lanes[0], REQ_RECV);
        CHECK(s->req && s->req->flags == REQ_ACTIVE && !req_is_done(s->req));
        s->req->errctx = &context;
        if (s->what != PENDING) s->req->flags |= REQ_PERSISTENT;
        if (s->what == INACTIVE) s->req->flags &= (uint16_t)~REQ_ACTIVE, atomic_store(&s->req->done, 1);
        if (s->what == PENDING && rnd(5) == 0) s->req->flags |= REQ_FINALIZE, s->req->final = &final_done, want_finals++;
        if (s->what >= PENDING && rnd(5) == 0) s->req->notify = &notify_done, want_notified++;
    }
}

static void setup(void)
{
    n = rnd(MAX + 1);
    bool dull = rnd(6) == 0; /* nothing active at all */
    free_before = count_free();
    for (int i = 0; i < n; i++) {
        fill_slot(&slots[i]);
        if (dull && slots[i].what >= PENDING) slots[i].done = true, req_complete(slots[i].req), req_wait(&slots[i].req, NULL);
        if (dull && slots[i].what != INACTIVE && slots[i].what != PERSISTENT) slots[i].what = NOTHING, slots[i].req = NULL;
        if (dull && slots[i].what == PERSISTENT) slots[i].what = INACTIVE;
        reqs[i] = slots[i].req;
    }
}

/* ---- what must hold of one slot -------------------------------------------------------------------------------------------- */
static void check_status(const struct slot *s, const struct gw_status *st)
{
    CHECK_EQ(st->source, s->source);
    CHECK_EQ(st->tag, s->tag);
    CHECK_EQ(gw_status_bytes(st), s->bytes);
}
static void check_empty(const struct gw_status *st)
{
    CHECK(st->source == GW_ANY_SOURCE && st->tag == GW_ANY_TAG && gw_status_bytes(st) == 0 && !st->cancelled &&
          st->error == GW_SUCCESS);
}

static void retired(int i)
{
    struct slot *s = &slots[i];
    CHECK(is_active(s) && s->done);
    s->retired = true;
    if (s->what == PERSISTENT) {
        CHECK(reqs[i] == s->req && req_is_inactive(reqs[i]));
    } else {
        CHECK(reqs[i] == NULL);
        s->req = NULL;
    }
}

static void untouched(void)
{
    for (int i = 0; i < n; i++)
        if (is_active(&slots[i]) || slots[i].what == INACTIVE) CHECK(reqs[i] == slots[i].req);
}

static int active(void)
{
    int k = 0;
    for (int i = 0; i < n; i++) k += is_active(&slots[i]);
    return k;
}

/* Statuses of a form that returned rc: errors only where it says so. */
static void check_errors(int rc, int k, const int *index, const struct gw_status *st)
{
    bool failed = false;
    for (int j = 0; j < k; j++) failed = failed || slots[index[j]].err < 0;
    CHECK_EQ(rc, failed ? GW_EINSTATUS : GW_OK);
    if (failed) CHECK(req_error_context_take() == &context);
    for (int j = 0; st && j < k; j++) {
        int err = slots[index[j]].err;
        CHECK_EQ(st[j].error, failed && err ? gw_error_class(err) : failed || slots[index[j]].empty ? GW_SUCCESS : UNTOUCHED);
    }
}

/* ---- the forms ------------------------------------------------------------------------------------------------------------- */
static void statuses_init(struct gw_status *st)
{
    for (int i = 0; i < MAX; i++) st[i] = (struct gw_status){.error = UNTOUCHED, .source = -77, .tag = -77};
}

/* As callers do whose statuses have another layout. */
static int waitall_in_halves(struct gw_status *st)
{
    struct gw_req *had[MAX];
    memcpy(had, reqs, sizeof had);
    if (!req_waitall_begin(n, reqs)) {
        CHECK_EQ(memcmp(had, reqs, sizeof had), 0);
        return req_waitall(n, reqs, st);
    }
    for (int i = 0; st && i < n; i++) {
        if (req_is_inactive(reqs[i])) {
            gw_status_empty(&st[i]);
            continue;
        }
        const struct gw_status *s = &reqs[i]->status;
        gw_status_fill(&st[i], s->source, s->tag, gw_status_bytes(s), s->cancelled);
    }
    req_waitall_end(n, reqs);
    return GW_OK;
}

static int waitall(struct gw_status *st) { return rnd(2) ? waitall_in_halves(st) : req_waitall(n, reqs, st); }

static void do_all(bool wait, struct gw_status *st)
{
    int flag = 1, rc = wait ? waitall(st) : req_testall(n, reqs, &flag, st), index[MAX], k = 0;
    bool done = true;
    for (int i = 0; i < n; i++) done = done && (!is_active(&slots[i]) || slots[i].done);
    CHECK_EQ(flag, done);
    if (!flag) {
        untouched();
        CHECK_EQ(rc, GW_OK);
        return;
    }
    for (int i = 0; i < n; i++) {
        index[k++] = i;
        if (!is_active(&slots[i])) {
            slots[i].err = 0;
            slots[i].empty = true;
            if (st) check_empty(&st[i]);
            continue;
        }
        retired(i);
        if (st) check_status(&slots[i], &st[i]);
    }
    check_errors(rc, k, index, st);
}

static void do_any(bool wait, struct gw_status *st)
{
    int index = -5, flag = 1, before = active();
    int rc = wait ? req_waitany(n, reqs, &index, st) : req_testany(n, reqs, &index, &flag, st);
    if (!before) {
        CHECK(flag == 1 && index == GW_UNDEFINED && rc == GW_OK);
        if (st) check_empty(st);
    } else if (!flag) {
        CHECK(index == GW_UNDEFINED && rc == GW_OK);
        for (int i = 0; i < n; i++) CHECK(!is_active(&slots[i]) || !slots[i].done);
        untouched();
    } else {
        CHECK(index >= 0 && index < n);
        if (index < 0 || index >= n) return;
        retired(index);
        if (st) check_status(&slots[index], st);
        CHECK_EQ(rc, slots[index].err);
        if (st) CHECK_EQ(st->error, UNTOUCHED);
    }
}

static void do_some(bool wait, struct gw_status *st)
{
    int index[MAX], count = -5, before = active();
    int rc = wait ? req_waitsome(n, reqs, &count, index, st) : req_testsome(n, reqs, &count, index, st);
    if (!before) {
        CHECK(count == GW_UNDEFINED && rc == GW_OK);
        return;
    }
    CHECK(count >= wait && count <= n);
    for (int k = 0; k < count && k < MAX; k++) {
        CHECK(k == 0 || index[k] > index[k - 1]);
        retired(index[k]);
        if (st) check_status(&slots[index[k]], &st[k]);
    }
    for (int i = 0; i < n; i++) CHECK(!is_active(&slots[i]) || !slots[i].done); /* all that were done */
    untouched();
    check_errors(rc, count, index, st);
}

static void do_one(bool wait, struct gw_status *st)
{
    if (n == 0) return;
    int i = rnd(n), flag = 1, rc = wait ? req_wait(&reqs[i], st) : req_test(&reqs[i], &flag, st);
    if (!is_active(&slots[i])) {
        CHECK(flag && rc == GW_OK);
        if (st) check_empty(st);
        return;
    }
    CHECK_EQ(flag, slots[i].done);
    CHECK_EQ(rc, flag ? slots[i].err : GW_OK);
    if (flag) retired(i);
    if (flag && st) check_status(&slots[i], st);
    untouched();
}

static void do_look(struct gw_status *st)
{
    int flag = -1, index = -5, i, count = -5, list[MAX], before = active();
    CHECK_EQ(req_get_status_all(n, reqs, &flag, st), GW_OK);
    bool done = true;
    for (i = 0; i < n; i++) done = done && (!is_active(&slots[i]) || slots[i].done);
    CHECK_EQ(flag, done);
    for (i = 0; flag && st && i < n; i++) is_active(&slots[i]) ? check_status(&slots[i], &st[i]) : check_empty(&st[i]);
    CHECK_EQ(req_get_status_any(n, reqs, &index, &flag, st), GW_OK);
    CHECK(before ? flag == (index != GW_UNDEFINED) : flag == 1 && index == GW_UNDEFINED);
    if (index >= 0 && index < n) CHECK(is_active(&slots[index]) && slots[index].done);
    if (index >= 0 && index < n && st) check_status(&slots[index], st);
    CHECK_EQ(req_get_status_some(n, reqs, &count, list, st), GW_OK);
    if (!before) CHECK_EQ(count, GW_UNDEFINED);
    int k = 0;
    for (i = 0; before && i < n; i++)
        if (is_active(&slots[i]) && slots[i].done) {
            CHECK(k < count && list[k] == i);
            if (st && k < count) check_status(&slots[i], &st[k]);
            k++;
        }
    if (before) CHECK_EQ(count, k);
    if (n > 0) {
        i = rnd(n);
        CHECK_EQ(req_get_status(reqs[i], &flag, st), GW_OK);
        CHECK_EQ(flag, !is_active(&slots[i]) || slots[i].done);
        if (flag && st) is_active(&slots[i]) ? check_status(&slots[i], st) : check_empty(st);
    }
    untouched();
}

static void cleanup(void)
{
    for (int i = 0; i < n; i++) {
        if (is_active(&slots[i])) CHECK_EQ(req_wait(&reqs[i], NULL), slots[i].err);
        if (reqs[i]) { /* persistent: MPI_Request_free */
            reqs[i]->flags = 0;
            req_recycle(reqs[i]);
        }
    }
    CHECK_EQ(finals, want_finals);
    CHECK_EQ(notified, want_notified);
    CHECK(count_free() >= free_before);
}

static void forms(void)
{
    static struct gw_status st[MAX];
    for (int round = 0; round < ROUNDS && !unit_failures; round++) {
        setup();
        int calls = 1 + rnd(6);
        for (int c = 0; c < calls && !unit_failures; c++) {
            struct gw_status *s = rnd(3) ? st : NULL;
            bool wait = rnd(2);
            statuses_init(st);
            switch (rnd(5)) {
            case 0: do_all(wait, s); break;
            case 1: do_any(wait, s); break;
            case 2: do_some(wait, s); break;
            case 3: do_one(wait, s); break;
            default: do_look(s); break;
            }
        }
        if (!unit_failures) cleanup();
        if (unit_failures) fprintf(stderr, "in round %d\n", round);
    }
}

/* A handle dies with its request, though the memory is used again; a freed one is recycled when it completes. */
static void life(void)
{
    struct gw_req *r = req_new(&gw_lanes[0], REQ_SEND);
    uint32_t id = r->obj.id;
    CHECK(gw_obj_lookup(id, GW_KIND_REQ) == &r->obj);
    req_complete(r);
    struct gw_req *was = r;
    CHECK_EQ(req_wait(&r, NULL), GW_OK);
    CHECK(gw_obj_lookup(id, GW_KIND_REQ) == NULL);
    r = req_new(&gw_lanes[0], REQ_RECV);
    CHECK(r == was && r->obj.id != id && r->kind == REQ_RECV && r->err == GW_OK && r->notify == NULL);
    r->flags |= REQ_FREED;
    uint32_t k = count_free();
    req_complete(r);
    CHECK_EQ(count_free(), k + 1);
    enum { MANY = 1000 };
    static struct gw_req *many[MANY];
    for (int i = 0; i < MANY; i++) many[i] = req_new(&gw_lanes[0], REQ_SEND);
    for (int i = 0; i < MANY; i++) CHECK(gw_obj_lookup(many[i]->obj.id, GW_KIND_REQ) == &many[i]->obj);
    for (int i = 0; i < MANY; i++) req_complete(many[i]);
    CHECK_EQ(req_waitall(MANY, many, NULL), GW_OK);
    for (int i = 0; i < MANY; i++) CHECK(many[i] == NULL);
}

/* Calls for one of several take the lowest that is done, as other libraries do. */
static void lowest(int way)
{
    for (int done = 1; done < 8; done++) {
        struct gw_req *r[3];
        int index = -1, flag = 0, want = done & 1 ? 0 : done & 2 ? 1 : 2;
        for (int i = 0; i < 3; i++) {
            r[i] = req_new(&gw_lanes[0], REQ_SEND);
            if (done >> i & 1) req_complete(r[i]);
        }
        switch (way) {
        case 0: CHECK(req_testany(3, r, &index, &flag, NULL) == GW_OK && flag); break;
        case 1: CHECK(req_get_status_any(3, r, &index, &flag, NULL) == GW_OK && flag); break;
        default: CHECK_EQ(req_waitany(3, r, &index, NULL), GW_OK); break;
        }
        CHECK_EQ(index, want);
        for (int i = 0; i < 3; i++)
            if (!(done >> i & 1)) req_complete(r[i]);
        CHECK_EQ(req_waitall(3, r, NULL), GW_OK);
    }
}

/* Work runs once a time it is added, in order, without the lock, also what work itself adds; a wait runs it. */
static struct job {
    struct req_work w;
    int ran, again;
    struct gw_req *completes;
} jobs[3];
static int ran_order;
static void job_run(struct gw_done *d, int err)
{
    struct job *j = container_of(d, struct job, w.run);
    struct gw_lane *lane = &gw_lanes[0];
    CHECK_EQ(err, GW_OK);
    CHECK(gw_lock_try(&lane->lock));
    j->ran++;
    ran_order = 10 * ran_order + (int)(j - jobs) + 1;
    if (j->again-- > 0) req_work_add(lane, &j->w);
    if (j->completes && j->again < 0) req_complete(j->completes);
    gw_unlock(&lane->lock);
}
static void works(void)
{
    struct gw_lane *lane = &gw_lanes[0];
    gw_threads = true; /* locks are real */
    gw_lock(&lane->lock);
    struct gw_req *r = req_new(lane, REQ_COLL);
    jobs[1].again = 1;
    jobs[2].completes = r;
    for (int i = 0; i < 2; i++) {
        jobs[i].w.run.fn = job_run;
        req_work_add(lane, &jobs[i].w);
    }
    req_progress_locked(lane);
    CHECK_EQ(ran_order, 0);
    gw_unlock(&lane->lock);
    CHECK(req_progress() >= 3);
    CHECK_EQ(ran_order, 122);
    req_progress();
    CHECK_EQ(ran_order, 122);
    gw_lock(&lane->lock);
    jobs[2].w.run.fn = job_run;
    req_work_add(lane, &jobs[2].w);
    gw_unlock(&lane->lock);
    CHECK_EQ(req_wait(&r, NULL), GW_OK);
    CHECK_EQ(ran_order, 1223);
    gw_threads = false;
}

/* Fast paths are closed while the service runs, and after it if the program has threads by then. */
static void service(void)
{
    CHECK(!gw_threads && !gw_slow_path);
    for (int i = 0; i < 3; i++) {
        req_service_hold();
        req_service_hold();
        req_service_drop();
        CHECK(gw_threads && gw_slow_path);
        gw_program_threads = i == 2;
        req_service_drop();
        CHECK(gw_threads && gw_slow_path == (i == 2));
    }
    gw_threads = gw_program_threads = gw_slow_path = false;
}

/* With GODWIT_CHECK the handle of a request that is over stays wrong for long; else the next request is the one that is in cache. */
static void handles(bool checked)
{
    enum { USES = 60000 };
    struct gw_lane *lane = &gw_lanes[0];
    struct gw_req *r = req_new(lane, REQ_SEND), *other = req_new(lane, REQ_SEND);
    uint32_t gone = r->obj.id, seen = 0, same = 0;
    CHECK(gw_obj_lookup(gone, GW_KIND_REQ) == &r->obj);
    req_recycle(r);
    for (int i = 1; i < USES; i++) {
        struct gw_req *q = req_new(lane, REQ_SEND);
        same += q == r;
        seen += gw_obj_lookup(gone, GW_KIND_REQ) != NULL;
        req_recycle(q);
    }
    CHECK_EQ(seen != 0, !checked);
    CHECK_EQ(same, checked ? (USES - 1) / (CHECKED_REQS - 1) : USES - 1);
    req_recycle(other);
}

static void nothing(void *ctx, int lane, uint8_t kind, const void *hdr, const void *payload, size_t len)
{
    (void)ctx, (void)lane, (void)kind, (void)hdr, (void)payload, (void)len;
}

static void all(int rank)
{
    (void)rank;
    peer_lanes_choose();
    CHECK_EQ(node_init(shm_ops.world.area_bytes(1), gw_nlanes, true, 65536), GW_OK);
    CHECK_EQ(peer_init(&(struct peer_upcalls){.arrived = nothing, .net_arrived = nothing}), GW_OK);
    req_init();
    life();
    for (int way = 0; way < 3; way++) lowest(way);
    works();
    service();
    req_hook_add(&gw_lanes[0], &hook);
    forms();
    req_hook_del(&gw_lanes[0], &hook);
    handles(false);
    req_finalize();
    gw_checking = true;
    req_init();
    handles(true);
    req_finalize();
    gw_checking = false;
    peer_finalize();
    node_finalize();
    gw_obj_finalize();
}

int main(void)
{
    ranks_run(1, 4, all);
    return unit_end();
}
