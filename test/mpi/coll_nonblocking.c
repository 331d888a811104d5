/* coll_nonblocking.c -- non-blocking collectives: each kind alone; thirty under way at once on three communicators, among blocking
 * ones and messages, completed in any order; what is freed right after the start; barriers that synchronise; errors.
 *
 * With the argument "threads" four threads do so at once.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <sched.h>

#include "coll_jobs.h"

/* All members of a communicator draw the same from `shared`; `own` is each rank's. */
struct player {
    struct coll_comm k[COMMS];
    unsigned long long shared, own;
    int rounds;
};
static unsigned draw(unsigned long long *seed, unsigned n)
{
    *seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(*seed >> 33) % n;
}

/* ---- each alone ------------------------------------------------------------------------------------------------------------ */
static void wait_somehow(MPI_Request *q, int how)
{
    MPI_Status s;
    int flag = 0, i = -1;
    if (how == 0) CHECK_EQ(MPI_Wait(q, &s), MPI_SUCCESS);
    if (how == 1)
        for (; !flag; sched_yield()) CHECK_EQ(MPI_Test(q, &flag, &s), MPI_SUCCESS);
    if (how == 2) {
        for (; !flag; sched_yield()) CHECK_EQ(MPI_Request_get_status(*q, &flag, &s), MPI_SUCCESS);
        CHECK(*q != MPI_REQUEST_NULL);
        CHECK_EQ(MPI_Waitany(1, q, &i, MPI_STATUS_IGNORE), MPI_SUCCESS);
        CHECK_EQ(i, 0);
    }
    CHECK(*q == MPI_REQUEST_NULL);
}

static void each(struct coll_comm *k)
{
    static const int sizes[] = {0, 1, 6, 500, 9000};
    int turn = 0;
    for (int n = 0; n < 5; n++)
        for (int kind = 0; kind < KINDS; kind++)
            for (int in_place = 0; in_place < 2; in_place++, turn++) {
                struct coll_comm *on = &k[turn % COMMS];
                struct job j = job_new(kind, on, turn % LAYOUTS, turn % OP_KINDS, sizes[n], turn % on->size, in_place);
                job_fill(&j, n);
                job_call(&j, turn % 2 ? NONBLOCKING : NONBLOCKING_C);
                job_free_objects(&j);
                wait_somehow(&j.req, turn % 3);
                job_check(&j, n);
                job_free(&j);
            }
}

/* ---- many at once ---------------------------------------------------------------------------------------------------------- */
enum { MANY = 30, MESSAGES = 6, LONG = 12000 };
struct mail {
    int *in, *out, from, to, n;
};

static struct job draw_job(struct player *p, int round)
{
    static const int sizes[] = {1, 2, 40, 700, 5000};
    struct coll_comm *k = &p->k[draw(&p->shared, COMMS)];
    int kind = (int)draw(&p->shared, KINDS), layout = (int)draw(&p->shared, LAYOUTS), op = (int)draw(&p->shared, OP_KINDS);
    int n = sizes[draw(&p->shared, 5)], in_place = (int)draw(&p->shared, 2),
        root = (int)(draw(&p->shared, 1000) % (unsigned)k->size);
    struct job j = job_new(kind, k, layout, op, n, root, in_place);
    job_fill(&j, round);
    return j;
}

static struct mail mail_post(struct player *p, int tag, MPI_Request q[2])
{
    struct coll_comm *k = &p->k[0];
    struct mail m = {.n = 1 + (int)draw(&p->shared, LONG), .to = (k->rank + tag + 1) % k->size};
    m.from = (k->rank + 2 * k->size - (tag + 1) % k->size) % k->size;
    m.in = malloc(sizeof(int) * (size_t)m.n), m.out = malloc(sizeof(int) * (size_t)m.n);
    for (int i = 0; i < m.n; i++) m.out[i] = value_of(k->rank, tag, i);
    MPI_Irecv(m.in, m.n, MPI_INT, m.from, tag, k->c, &q[0]);
    MPI_Isend(m.out, m.n, MPI_INT, m.to, tag, k->c, &q[1]);
    return m;
}
static void mail_check(struct mail *m, int tag)
{
    int bad = 0;
    for (int i = 0; i < m->n; i++) bad += m->in[i] != value_of(m->from, tag, i);
    CHECK_EQ(bad, 0);
    free(m->in), free(m->out);
}

/* Completes all of q, in an order of its own. */
static void complete(struct player *p, int n, MPI_Request *q)
{
    int order[MANY + 2 * MESSAGES], done[MANY + 2 * MESSAGES], got, left = n;
    MPI_Request shuffled[MANY + 2 * MESSAGES];
    for (int i = 0; i < n; i++) order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int k = (int)draw(&p->own, (unsigned)i + 1), t = order[i];
        order[i] = order[k], order[k] = t;
    }
    for (int i = 0; i < n; i++) shuffled[i] = q[order[i]];
    for (int i = 0; i < n / 3; i++, left--) {
        CHECK_EQ(MPI_Waitany(n, shuffled, &got, MPI_STATUS_IGNORE), MPI_SUCCESS);
        CHECK(got >= 0 && got < n);
    }
    for (int i = 0; i < n / 5; i++)
        if (shuffled[i] != MPI_REQUEST_NULL) left--, MPI_Wait(&shuffled[i], MPI_STATUS_IGNORE);
    for (; left > n / 4; sched_yield()) {
        CHECK_EQ(MPI_Testsome(n, shuffled, &got, done, MPI_STATUSES_IGNORE), MPI_SUCCESS);
        left -= got;
    }
    CHECK_EQ(MPI_Waitall(n, shuffled, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    for (int i = 0; i < n; i++) CHECK(shuffled[i] == MPI_REQUEST_NULL);
}

static void many(struct player *p)
{
    for (int round = 0; round < p->rounds; round++) {
        struct job j[MANY];
        struct mail m[MESSAGES];
        MPI_Request q[MANY + 2 * MESSAGES];
        int mails = 0;
        for (int i = 0; i < MANY; i++) {
            j[i] = draw_job(p, i);
            job_call(&j[i], draw(&p->shared, 2) ? NONBLOCKING : NONBLOCKING_C);
            job_free_objects(&j[i]);
            q[i] = j[i].req;
            if (i % 5 == 4) m[mails] = mail_post(p, mails, &q[MANY + 2 * mails]), mails++;
            if (i % 4 == 3) { /* a blocking one on some of the same communicators */
                struct job now = draw_job(p, 100 + i);
                job_call(&now, BLOCKING);
                job_check(&now, 100 + i);
                job_free_objects(&now);
                job_free(&now);
            }
        }
        complete(p, MANY + 2 * mails, q);
        for (int i = 0; i < MANY; i++) job_check(&j[i], i), job_free(&j[i]);
        for (int i = 0; i < mails; i++) mail_check(&m[i], i);
    }
}

/* The communicator, too, is freed while the operations are under way. */
static void frees(struct coll_comm *k)
{
    for (int kind = 0; kind < KINDS; kind++) {
        struct coll_comm own = k[kind % COMMS];
        MPI_Comm_dup(k[kind % COMMS].c, &own.c);
        struct job a = job_new(kind, &own, GAPPED, OP_GAPPED, 300, 0, 0), b = job_new(kind, &own, PAIRS, OP_MAPS, 20000, 0, 0);
        job_fill(&a, 1), job_fill(&b, 2);
        job_call(&a, NONBLOCKING), job_call(&b, NONBLOCKING);
        job_free_objects(&a), job_free_objects(&b);
        MPI_Comm_free(&own.c);
        MPI_Wait(&b.req, MPI_STATUS_IGNORE);
        MPI_Wait(&a.req, MPI_STATUS_IGNORE);
        job_check(&a, 1), job_check(&b, 2);
        job_free(&a), job_free(&b);
    }
}

/* A rank that comes late: the others' barriers are not over before it comes, however often they ask. */
static void barriers(struct coll_comm *k)
{
    for (int late = 0; late < k->size; late++) {
        MPI_Request q;
        int flag = 0, word = 1;
        if (k->rank == late) {
            for (int i = 1; i < k->size; i++) MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 5, k->c, MPI_STATUS_IGNORE);
            MPI_Ibarrier(k->c, &q);
        } else {
            MPI_Ibarrier(k->c, &q);
            for (int i = 0; i < 200; i++) {
                MPI_Test(&q, &flag, MPI_STATUS_IGNORE);
                CHECK(!flag);
            }
            MPI_Send(&word, 1, MPI_INT, late, 5, k->c);
        }
        MPI_Wait(&q, MPI_STATUS_IGNORE);
    }
}

/* ---- errors ---------------------------------------------------------------------------------------------------------------- */
static int class_of(int rc)
{
    int class = -1;
    MPI_Error_class(rc, &class);
    return class;
}

static void errors(struct coll_comm *k)
{
    MPI_Comm c = k->c;
    MPI_Request q = MPI_REQUEST_NULL, kept, pair[2];
    MPI_Status s[2];
    int x[2] = {k->rank, 7}, y[2] = {0, 0}, *all = calloc((size_t)k->size, sizeof(int));
    MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK_EQ(class_of(MPI_Ibcast(x, 1, MPI_INT, k->size, c, &q)), MPI_ERR_ROOT);
    CHECK_EQ(class_of(MPI_Iallreduce(x, y, 1, MPI_INT, MPI_MAXLOC, c, &q)), MPI_ERR_OP);
    CHECK_EQ(class_of(MPI_Iallgather(x, -1, MPI_INT, all, 1, MPI_INT, c, &q)), MPI_ERR_COUNT);
    CHECK_EQ(class_of(MPI_Iallreduce(x, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, c, &q)), MPI_ERR_BUFFER);
    CHECK(q == MPI_REQUEST_NULL);
    /* No such thing as freeing or cancelling one that is under way; it goes on. */
    MPI_Iallreduce(x, y, 1, MPI_INT, MPI_MAX, c, &q);
    kept = q;
    CHECK_EQ(class_of(MPI_Request_free(&q)), MPI_ERR_REQUEST);
    CHECK_EQ(class_of(MPI_Cancel(&q)), MPI_ERR_REQUEST);
    /* Nor one that is complete (MPI 4.1, section 6.12, has no exception for that), but then nobody says that it is under way. */
    char text[MPI_MAX_ERROR_STRING];
    for (int done = 0, len; !done;) {
        MPI_Request_get_status(q, &done, MPI_STATUS_IGNORE);
        int code = MPI_Request_free(&q);
        MPI_Error_string(code, text, &len);
        CHECK_EQ(class_of(code), MPI_ERR_REQUEST);
        if (done) CHECK(strstr(text, "is complete") && !strstr(text, "under way"));
    }
    CHECK(q == kept);
    CHECK_EQ(class_of(MPI_Start(&q)), MPI_ERR_REQUEST);
    CHECK_EQ(MPI_Wait(&q, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_EQ(y[0], k->size - 1);
    /* Blocks that are too long: the root hears of it when it waits, and the next operations are right. */
    if (k->size > 1) {
        MPI_Igather(x, k->rank ? 2 : 1, MPI_INT, all, 1, MPI_INT, 0, c, &q);
        int class = class_of(MPI_Wait(&q, MPI_STATUS_IGNORE));
        CHECK(class == MPI_ERR_TRUNCATE || (class == MPI_SUCCESS && k->rank > 0)); /* the others may notice it, too */
        CHECK(q == MPI_REQUEST_NULL);
        MPI_Igather(x, k->rank ? 2 : 1, MPI_INT, all, 1, MPI_INT, 0, c, &pair[0]);
        MPI_Iallreduce(x, y, 1, MPI_INT, MPI_MAX, c, &pair[1]);
        class = class_of(MPI_Waitall(2, pair, s));
        CHECK(class == MPI_ERR_IN_STATUS || (class == MPI_SUCCESS && k->rank > 0));
        if (class == MPI_ERR_IN_STATUS) CHECK_EQ(class_of(s[0].MPI_ERROR), MPI_ERR_TRUNCATE);
        if (class == MPI_ERR_IN_STATUS) CHECK_EQ(s[1].MPI_ERROR, MPI_SUCCESS);
        CHECK_EQ(y[0], k->size - 1);
    }
    free(all);
}

static void *play(void *arg)
{
    many(arg);
    return NULL;
}

static void threads(void)
{
    enum { THREADS = 4 };
    struct player p[THREADS];
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++) {
        p[i] = (struct player){.shared = 77u + (unsigned)i, .own = 5u * (unsigned)rank + (unsigned)i, .rounds = 3};
        comms_open(p[i].k);
    }
    for (int i = 0; i < THREADS; i++) pthread_create(&t[i], NULL, play, &p[i]);
    for (int i = 0; i < THREADS; i++) pthread_join(t[i], NULL);
    for (int i = 0; i < THREADS; i++) comms_close(p[i].k);
}

int main(int argc, char **argv)
{
    int provided, with_threads = argc > 1 && strcmp(argv[1], "threads") == 0;
    struct player p = {.shared = 4242, .rounds = argc > 1 && !with_threads ? atoi(argv[1]) : 4};
    MPI_Init_thread(&argc, &argv, with_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    test_begin();
    if (with_threads) {
        threads();
        return test_end();
    }
    p.own = 1000u + (unsigned)rank;
    comms_open(p.k);
    each(p.k);
    many(&p);
    frees(p.k);
    for (int i = 0; i < COMMS; i++) barriers(&p.k[i]);
    for (int i = 0; i < COMMS; i++) errors(&p.k[i]);
    comms_close(p.k);
    return test_end();
}
