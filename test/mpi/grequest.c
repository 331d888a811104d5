/* grequest.c -- generalized requests: which of the three functions runs when, what they answer and where it arrives, requests of
 * all kinds in one array, completion by another thread (not with the argument "alone").
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

#include <pthread.h>
#include <sched.h>

static int handled, handled_code;
static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    handled++;
    handled_code = *code;
}

/* The program's operation behind a request. */
struct operation {
    int queries, frees, cancels, last_complete; /* calls, and what cancel was told */
    int query_answer, free_answer, cancel_answer;
    int tag, items, cancelled;
    int order;                      /* 1: query ran after free, which it must not */
    MPI_Request complete_on_cancel; /* completed by the cancel function, or MPI_REQUEST_NULL */
};

static int query(void *extra, MPI_Status *status)
{
    struct operation *o = extra;
    o->queries++;
    if (o->frees) o->order = 1;
    MPI_Status_set_elements(status, MPI_INT, o->items);
    MPI_Status_set_cancelled(status, o->cancelled);
    MPI_Status_set_source(status, 77);
    MPI_Status_set_tag(status, o->tag);
    return o->query_answer;
}
static int release(void *extra)
{
    struct operation *o = extra;
    o->frees++;
    return o->free_answer;
}
static int cancel(void *extra, int complete)
{
    struct operation *o = extra;
    o->cancels++;
    o->last_complete = complete;
    if (!complete && o->complete_on_cancel != MPI_REQUEST_NULL) {
        o->cancelled = 1;
        MPI_Grequest_complete(o->complete_on_cancel);
    }
    return o->cancel_answer;
}

static struct operation fresh(int tag, int items)
{
    return (struct operation){.tag = tag, .items = items, .complete_on_cancel = MPI_REQUEST_NULL};
}
static MPI_Request start(struct operation *o)
{
    MPI_Request q = MPI_REQUEST_NULL;
    CHECK_EQ(MPI_Grequest_start(query, release, cancel, o, &q), MPI_SUCCESS);
    CHECK(q != MPI_REQUEST_NULL);
    return q;
}
#define CALLS(o, q, f, c)                                                                                                          \
    do {                                                                                                                           \
        CHECK((o).queries == (q) && (o).frees == (f) && (o).cancels == (c) && !(o).order);                                         \
        if ((o).queries != (q) || (o).frees != (f) || (o).cancels != (c))                                                          \
            fprintf(stderr, "calls: %d queries, %d frees, %d cancels\n", (o).queries, (o).frees, (o).cancels);                     \
    } while (0)

static void status_is(const MPI_Status *s, const struct operation *o)
{
    int n, flag;
    MPI_Get_elements(s, MPI_INT, &n);
    MPI_Test_cancelled(s, &flag);
    CHECK_EQ(s->MPI_SOURCE, 77);
    CHECK_EQ(s->MPI_TAG, o->tag);
    CHECK_EQ(n, o->items);
    CHECK_EQ(flag, o->cancelled);
}

static void life(void)
{
    MPI_Status s;
    int flag;
    struct operation o = fresh(5, 3);
    MPI_Request q = start(&o), copy = q;
    MPI_Test(&q, &flag, &s);
    CHECK(!flag);
    MPI_Request_get_status(q, &flag, &s);
    CHECK(!flag);
    CALLS(o, 0, 0, 0);
    CHECK_EQ(MPI_Grequest_complete(q), MPI_SUCCESS);
    CHECK(q == copy);
    CALLS(o, 0, 0, 0);
    for (int i = 1; i <= 2; i++) {
        CHECK_EQ(MPI_Request_get_status(q, &flag, &s), MPI_SUCCESS);
        CHECK(flag);
        status_is(&s, &o);
        CALLS(o, i, 0, 0);
    }
    CHECK_EQ(MPI_Wait(&q, &s), MPI_SUCCESS);
    CHECK(q == MPI_REQUEST_NULL);
    status_is(&s, &o);
    CALLS(o, 3, 1, 0);

    o = fresh(6, 0); /* ignored statuses: the function is asked all the same */
    q = start(&o);
    MPI_Grequest_complete(q);
    MPI_Test(&q, &flag, MPI_STATUS_IGNORE);
    CHECK(flag && q == MPI_REQUEST_NULL);
    CALLS(o, 1, 1, 0);

    o = fresh(7, 0); /* freed, then completed: free runs in the completion */
    q = copy = start(&o);
    CHECK_EQ(MPI_Request_free(&q), MPI_SUCCESS);
    CHECK(q == MPI_REQUEST_NULL);
    CALLS(o, 0, 0, 0);
    CHECK_EQ(MPI_Grequest_complete(copy), MPI_SUCCESS);
    CALLS(o, 0, 1, 0);

    o = fresh(8, 0); /* completed, then freed: free runs there */
    q = start(&o);
    MPI_Grequest_complete(q);
    CHECK_EQ(MPI_Request_free(&q), MPI_SUCCESS);
    CHECK(q == MPI_REQUEST_NULL);
    CALLS(o, 0, 1, 0);
}

static void cancelling(void)
{
    MPI_Status s;
    struct operation o = fresh(1, 2);
    MPI_Request q = start(&o);
    CHECK_EQ(MPI_Cancel(&q), MPI_SUCCESS);
    CALLS(o, 0, 0, 1);
    CHECK_EQ(o.last_complete, 0);
    MPI_Grequest_complete(q);
    CHECK_EQ(MPI_Cancel(&q), MPI_SUCCESS);
    CHECK_EQ(o.last_complete, 1);
    MPI_Wait(&q, &s);
    status_is(&s, &o);
    CALLS(o, 1, 1, 2);

    o = fresh(2, 0); /* the cancel function completes it: as the standard intends */
    q = o.complete_on_cancel = start(&o);
    CHECK_EQ(MPI_Cancel(&q), MPI_SUCCESS);
    MPI_Wait(&q, &s);
    CHECK_EQ(o.cancelled, 1);
    status_is(&s, &o);
    CALLS(o, 1, 1, 1);
}

/* The program's own codes come back as they are, through the error handler of MPI_COMM_SELF. */
static void codes(void)
{
    int class, query_code, free_code, cancel_code, flag, rc;
    MPI_Status s;
    MPI_Request q, copy;
    MPI_Errhandler eh;
    struct operation o;
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &query_code);
    MPI_Add_error_code(class, &free_code);
    MPI_Add_error_code(MPI_ERR_OTHER, &cancel_code);
    MPI_Comm_create_errhandler(handler, &eh);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, eh);
    for (int bad = 0; bad < 4; bad++) { /* free's answer is the last and wins */
        for (int how = 0; how < 2; how++) {
            o = fresh(1, 1);
            o.query_answer = bad & 1 ? query_code : MPI_SUCCESS;
            o.free_answer = bad & 2 ? free_code : MPI_SUCCESS;
            int want = bad & 2 ? free_code : bad & 1 ? query_code : MPI_SUCCESS;
            q = start(&o);
            MPI_Grequest_complete(q);
            handled = 0;
            CHECK_EQ(MPI_Request_get_status(q, &flag, &s), o.query_answer);
            CHECK_EQ(handled, bad & 1);
            handled = 0;
            rc = how ? MPI_Wait(&q, &s) : MPI_Test(&q, &flag, &s);
            CHECK_EQ(rc, want);
            CHECK_EQ(handled, want != MPI_SUCCESS);
            if (want) CHECK_EQ(handled_code, want);
            CHECK(q == MPI_REQUEST_NULL);
            CALLS(o, 2, 1, 0);
        }
    }
    o = fresh(1, 1);
    o.cancel_answer = cancel_code;
    o.free_answer = MPI_ERR_NO_MEM; /* a predefined class is a code too */
    q = start(&o);
    handled = 0;
    CHECK_EQ(MPI_Cancel(&q), cancel_code);
    CHECK(handled == 1 && handled_code == cancel_code);
    MPI_Grequest_complete(q);
    CHECK_EQ(MPI_Request_free(&q), MPI_ERR_NO_MEM);
    CHECK(handled == 2 && q == MPI_REQUEST_NULL);
    o = fresh(1, 1);
    o.free_answer = free_code;
    q = copy = start(&o);
    CHECK_EQ(MPI_Request_free(&q), MPI_SUCCESS);
    CHECK_EQ(MPI_Grequest_complete(copy), free_code);
    CHECK_EQ(handled, 3);

    /* Among others: in the statuses. */
    struct operation p = fresh(2, 2), r = fresh(3, 3);
    MPI_Request v[3];
    MPI_Status all[3];
    o = fresh(1, 1);
    p.free_answer = free_code;
    r.query_answer = query_code;
    v[0] = start(&o), v[1] = start(&p), v[2] = start(&r);
    for (int i = 0; i < 3; i++) MPI_Grequest_complete(v[i]);
    CHECK_EQ(MPI_Request_get_status_all(3, v, &flag, all), MPI_ERR_IN_STATUS);
    CHECK(flag && all[0].MPI_ERROR == MPI_SUCCESS && all[1].MPI_ERROR == MPI_SUCCESS && all[2].MPI_ERROR == query_code);
    CHECK_EQ(MPI_Waitall(3, v, all), MPI_ERR_IN_STATUS);
    CHECK(all[0].MPI_ERROR == MPI_SUCCESS && all[1].MPI_ERROR == free_code && all[2].MPI_ERROR == query_code);
    status_is(&all[0], &o);
    status_is(&all[1], &p);
    status_is(&all[2], &r);
    CALLS(o, 2, 1, 0);
    CALLS(p, 2, 1, 0);
    CALLS(r, 2, 1, 0);

    /* What is no generalized request, and one that is complete. */
    int v4 = 4;
    MPI_Request plain;
    MPI_Recv_init(&v4, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &plain);
    CHECK_EQ(MPI_Grequest_complete(plain), MPI_ERR_REQUEST);
    MPI_Request_free(&plain);
    o = fresh(1, 1);
    q = start(&o);
    MPI_Grequest_complete(q);
    CHECK_EQ(MPI_Grequest_complete(q), MPI_ERR_REQUEST);
    CHECK_EQ(MPI_Start(&q), MPI_ERR_REQUEST);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    CHECK_EQ(MPI_Grequest_start(NULL, release, cancel, &o, &q), MPI_ERR_ARG);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&eh);
    MPI_Remove_error_code(query_code);
    MPI_Remove_error_code(free_code);
    MPI_Remove_error_code(cancel_code);
    MPI_Remove_error_class(class);
}

/* Seven slots: null, generalized, receive, send, inactive persistent, active persistent, generalized. */
enum { SLOTS = 7 };
struct mixed {
    struct operation a, b;
    int in, in2, out, out2;
    MPI_Request q[SLOTS];
};

static void mixed_start(struct mixed *m)
{
    *m = (struct mixed){.a = fresh(10, 1), .b = fresh(11, 2), .in = -1, .in2 = -1, .out = 5, .out2 = 6};
    m->q[0] = MPI_REQUEST_NULL;
    m->q[1] = start(&m->a);
    MPI_Irecv(&m->in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &m->q[2]);
    MPI_Issend(&m->out2, 1, MPI_INT, 0, 2, MPI_COMM_SELF, &m->q[3]);
    MPI_Send_init(&m->out, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &m->q[4]);
    MPI_Recv_init(&m->in2, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &m->q[5]);
    MPI_Start(&m->q[5]);
    m->q[6] = start(&m->b);
}
static void mixed_end(struct mixed *m)
{
    CHECK(m->q[0] == MPI_REQUEST_NULL && m->q[1] == MPI_REQUEST_NULL && m->q[2] == MPI_REQUEST_NULL && m->q[3] == MPI_REQUEST_NULL);
    CHECK(m->q[4] != MPI_REQUEST_NULL && m->q[5] != MPI_REQUEST_NULL && m->q[6] == MPI_REQUEST_NULL);
    CHECK(m->in == 5 && m->in2 == 5);
    CHECK(m->a.frees == 1 && m->b.frees == 1 && !m->a.order && !m->b.order);
    MPI_Request_free(&m->q[4]);
    MPI_Request_free(&m->q[5]);
}
/* Makes one slot complete. */
static void finish(struct mixed *m, int slot)
{
    int v, flag = 0;
    if (slot == 1 || slot == 6) MPI_Grequest_complete(m->q[slot]);
    if (slot == 2) MPI_Send(&m->out, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
    if (slot == 3) MPI_Recv(&v, 1, MPI_INT, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    if (slot == 5) MPI_Send(&m->out, 1, MPI_INT, 0, 3, MPI_COMM_SELF);
    while (slot != 1 && slot != 6 && !flag) /* a message may take a moment, but not for ever */
        CHECK_EQ(MPI_Request_get_status(m->q[slot], &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
}
static void slot_is(const struct mixed *m, int slot, const MPI_Status *s)
{
    if (slot == 1 || slot == 6) status_is(s, slot == 1 ? &m->a : &m->b);
    if (slot == 2 || slot == 5) CHECK(s->MPI_SOURCE == 0 && s->MPI_TAG == (slot == 2 ? 1 : 3) && count_of(s) == 4);
    if (slot == 0 || slot == 4) CHECK(s->MPI_SOURCE == MPI_ANY_SOURCE && s->MPI_TAG == MPI_ANY_TAG && count_of(s) == 0);
}

static void mixed_all(void)
{
    static const int order[5] = {3, 6, 2, 1, 5};
    struct mixed m;
    MPI_Status s[SLOTS];
    int flag;
    mixed_start(&m);
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(MPI_Request_get_status_all(SLOTS, m.q, &flag, s), MPI_SUCCESS);
        CHECK(!flag);
        MPI_Testall(SLOTS, m.q, &flag, s);
        CHECK(!flag);
        finish(&m, order[i]);
    }
    CHECK_EQ(m.a.queries + m.b.queries, 0); /* not asked before all are complete */
    CHECK_EQ(MPI_Request_get_status_all(SLOTS, m.q, &flag, s), MPI_SUCCESS);
    CHECK(flag && m.q[1] != MPI_REQUEST_NULL && m.q[2] != MPI_REQUEST_NULL);
    for (int i = 0; i < SLOTS; i++) slot_is(&m, i, &s[i]);
    CHECK_EQ(MPI_Request_get_status_all(SLOTS, m.q, &flag, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    CHECK(flag && m.a.queries == 2 && m.a.frees == 0);
    memset(s, 0xee, sizeof s);
    CHECK_EQ(MPI_Waitall(SLOTS, m.q, s), MPI_SUCCESS);
    for (int i = 0; i < SLOTS; i++) slot_is(&m, i, &s[i]);
    MPI_Request_get_status_all(SLOTS, m.q, &flag, s); /* null and inactive ones alone */
    CHECK(flag);
    for (int i = 0; i < SLOTS; i++) CHECK_EQ(s[i].MPI_SOURCE, MPI_ANY_SOURCE);
    mixed_end(&m);
}

static void mixed_any(void)
{
    static const int order[5] = {6, 2, 5, 3, 1};
    struct mixed m;
    MPI_Status s;
    int flag, at;
    mixed_start(&m);
    for (int i = 0; i < 5; i++) {
        MPI_Request_get_status_any(SLOTS, m.q, &at, &flag, &s);
        CHECK(!flag && at == MPI_UNDEFINED);
        MPI_Testany(SLOTS, m.q, &at, &flag, &s);
        CHECK(!flag && at == MPI_UNDEFINED);
        finish(&m, order[i]);
        for (int again = 0; again < 2; again++) {
            CHECK_EQ(MPI_Request_get_status_any(SLOTS, m.q, &at, &flag, &s), MPI_SUCCESS);
            CHECK(flag && at == order[i]);
            slot_is(&m, at, &s);
        }
        CHECK_EQ(i % 2 ? MPI_Waitany(SLOTS, m.q, &at, &s) : MPI_Testany(SLOTS, m.q, &at, &flag, &s), MPI_SUCCESS);
        CHECK(flag && at == order[i]);
        slot_is(&m, at, &s);
    }
    CHECK(m.a.queries == 3 && m.b.queries == 3);
    MPI_Request_get_status_any(SLOTS, m.q, &at, &flag, &s);
    CHECK(flag && at == MPI_UNDEFINED && s.MPI_SOURCE == MPI_ANY_SOURCE && s.MPI_TAG == MPI_ANY_TAG);
    mixed_end(&m);
}

static void mixed_some(void)
{
    static const int waves[3][2] = {{6, 3}, {2, 5}, {1, 1}};
    struct mixed m;
    MPI_Status s[SLOTS];
    int n, at[SLOTS];
    mixed_start(&m);
    for (int i = 0; i < 3; i++) {
        int both = waves[i][0] != waves[i][1], seen = 0;
        MPI_Request_get_status_some(SLOTS, m.q, &n, at, s);
        CHECK_EQ(n, 0);
        finish(&m, waves[i][0]);
        if (both) finish(&m, waves[i][1]);
        CHECK_EQ(MPI_Request_get_status_some(SLOTS, m.q, &n, at, s), MPI_SUCCESS);
        CHECK_EQ(n, 1 + both);
        for (int k = 0; k < n; k++) {
            CHECK(at[k] == waves[i][0] || at[k] == waves[i][1]);
            slot_is(&m, at[k], &s[k]);
        }
        CHECK_EQ(i % 2 ? MPI_Waitsome(SLOTS, m.q, &n, at, s) : MPI_Testsome(SLOTS, m.q, &n, at, s), MPI_SUCCESS);
        CHECK_EQ(n, 1 + both);
        for (int k = 0; k < n; k++) {
            seen |= 1 << at[k];
            slot_is(&m, at[k], &s[k]);
        }
        CHECK_EQ(seen, 1 << waves[i][0] | 1 << waves[i][1]);
    }
    MPI_Request_get_status_some(SLOTS, m.q, &n, at, s);
    CHECK_EQ(n, MPI_UNDEFINED);
    mixed_end(&m);
}

/* Between ranks: a message's arrival completes the program's operation, in a thread of its own. */
struct relay {
    pthread_t thread;
    MPI_Request q;
    int got;
};
static void *relays(void *arg)
{
    struct relay *r = arg;
    MPI_Recv(&r->got, 1, MPI_INT, (rank + size - 1) % size, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Grequest_complete(r->q);
    return NULL;
}
static void threads(void)
{
    for (int i = 0; i < 50; i++) {
        struct operation o = fresh(i, i);
        struct relay r = {.q = start(&o), .got = -1};
        MPI_Status s;
        MPI_Request copy = r.q; /* the thread reads r.q meanwhile */
        pthread_create(&r.thread, NULL, relays, &r);
        int v = 100 * rank + i, freed = i % 5 == 4;
        if (freed) MPI_Request_free(&copy);
        MPI_Send(&v, 1, MPI_INT, (rank + 1) % size, 4, MPI_COMM_WORLD);
        if (!freed) {
            CHECK_EQ(MPI_Wait(&copy, &s), MPI_SUCCESS);
            status_is(&s, &o);
        }
        pthread_join(r.thread, NULL);
        CHECK_EQ(r.got, 100 * ((rank + size - 1) % size) + i);
        CALLS(o, !freed, 1, 0);
    }
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    test_begin();
    life();
    cancelling();
    codes();
    mixed_all();
    mixed_any();
    mixed_some();
    if (argc < 2) threads();
    return test_end();
}
