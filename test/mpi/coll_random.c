/* coll_random.c -- seeded random collectives of every kind, in every form, layout and operation, on three communicators: several
 * under way, prepared ones started again and again, completed in an order of each rank's own; every byte is checked.
 *
 * Every rank draws the same plan from the seed.  args: rounds, seed.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "coll_jobs.h"

enum { PENDING = 5, PREPARED = 4 };

static struct coll_comm comms[COMMS];
static struct job prepared[PREPARED]; /* .k == NULL: none */
static struct {
    struct job *job, own; /* own: of calls that are not prepared */
    int round;
} pending[PENDING];
static int n_pending, round_now;
static unsigned long long own_state; /* what the ranks need not agree on */

static int own_below(int n)
{
    own_state = own_state * 6364136223846793005ull + 1442695040888963407ull;
    return (int)((own_state >> 33) % (unsigned)n);
}

static struct job job_drawn(void)
{
    static const int counts[] = {0, 1, 2, 6, 8, 64, 500, 3000};
    struct coll_comm *k = &comms[random_below(COMMS)];
    enum kind kind = random_below(KINDS);
    enum layout_kind layout = random_below(LAYOUTS);
    enum op_kind op = random_below(OP_KINDS);
    int n = counts[random_below(8)], in_place = random_below(4) == 0;
    /* Halves may be of different sizes: a root that both have. */
    return job_new(kind, k, layout, op, n, (int)random_below((unsigned)(size / 2 + 1)) % k->size, in_place);
}

/* Ends the i-th of those under way. */
static void finish(int i)
{
    struct job *j = pending[i].job;
    int flag = 0, tries = own_below(3);
    while (!flag && tries--) CHECK_EQ(MPI_Test(&j->req, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
    if (!flag) CHECK_EQ(MPI_Wait(&j->req, MPI_STATUS_IGNORE), MPI_SUCCESS);
    job_check(j, pending[i].round);
    if (j == &pending[i].own) {
        CHECK(j->req == MPI_REQUEST_NULL);
        job_free(j);
    }
    n_pending--;
    int is_own = pending[n_pending].job == &pending[n_pending].own;
    pending[i] = pending[n_pending];
    if (is_own) pending[i].job = &pending[i].own;
}

static void finish_all(void)
{
    MPI_Request q[PENDING];
    if (own_below(2)) /* all in one call, which leaves the prepared ones inactive */
        for (int i = 0; i < n_pending; i++) q[i] = pending[i].job->req;
    else
        while (n_pending) finish(own_below(n_pending));
    if (!n_pending) return;
    CHECK_EQ(MPI_Waitall(n_pending, q, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    for (int i = 0; i < n_pending; i++) pending[i].job->req = q[i];
    while (n_pending) finish(own_below(n_pending));
}

static void prepared_free(struct job *j)
{
    CHECK_EQ(MPI_Request_free(&j->req), MPI_SUCCESS);
    job_free(j);
    j->k = NULL;
}

static void prepared_start(struct job *j)
{
    for (int i = 0; i < n_pending; i++)
        if (pending[i].job == j) return; /* on all ranks or on none: they end all together */
    job_fill(j, round_now);
    CHECK_EQ(own_below(2) ? MPI_Start(&j->req) : MPI_Startall(1, &j->req), MPI_SUCCESS);
    pending[n_pending].job = j;
    pending[n_pending++].round = round_now;
}

static void one(void)
{
    enum form form = random_below(5);
    struct job *p = &prepared[random_below(PREPARED)];
    if (form >= PERSISTENT && p->k) return prepared_start(p);
    struct job *j = form >= PERSISTENT ? p : &pending[n_pending].own;
    *j = job_drawn();
    job_fill(j, round_now);
    job_call(j, form);
    job_free_objects(j);
    if (form >= PERSISTENT) return prepared_start(j);
    if (form == BLOCKING) {
        job_check(j, round_now);
        return job_free(j);
    }
    pending[n_pending].job = j;
    pending[n_pending++].round = round_now;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 200;
    if (argc > 2) random_seed(argv[2]);
    MPI_Init(&argc, &argv);
    test_begin();
    own_state = random_state + (unsigned)rank;
    comms_open(comms);
    for (; round_now < rounds; round_now++) {
        one();
        int is_late = random_below(4) == 0;
        if (is_late || n_pending == PENDING) finish_all();
        struct job *p = &prepared[random_below(PREPARED)];
        if (n_pending == 0 && p->k && random_below(4) == 0) prepared_free(p);
    }
    finish_all();
    for (int i = 0; i < PREPARED; i++)
        if (prepared[i].k) prepared_free(&prepared[i]);
    comms_close(comms);
    return test_end();
}
