/* setup.c [ORDER] -- begin and end of OpenSHMEM: nested, again after the end, and beside MPI in either order (OpenSHMEM 1.6 sections 9.1, 9.2,
 * annex D).  ORDER: alone (default), mpi (first), shmem (first), session (MPI by a session), inside (MPI begins and ends within).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

#include <mpi.h>
#include <string.h>

static int is_begun(void)
{
    int initialized = -1;
    shmem_query_initialized(&initialized);
    return initialized;
}

static long word = 41; /* static data are symmetric */

/* Everybody puts its number to the next one, by OpenSHMEM. */
static void turn(long mark)
{
    long *got = shmem_malloc(sizeof *got);
    int next = (me + 1) % pes, last = (me + pes - 1) % pes;
    CHECK(got != NULL);
    *got = -1;
    shmem_barrier_all();
    shmem_long_p(got, mark + me, next);
    shmem_long_put(&word, &(long){mark - me}, 1, next);
    shmem_barrier_all();
    CHECK(*got == mark + last);
    CHECK(word == mark - last);
    CHECK(shmem_long_g(got, next) == mark + me);
    shmem_free(got);
}

static void mpi_turn(void)
{
    int rank, size, got = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (pes > 0) CHECK(rank == me && size == pes);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 3, &got, 1, MPI_INT, (rank + size - 1) % size, 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(got == (rank + size - 1) % size);
}

/* Three initialisations in one another, and once more after the last end; what was allocated is gone then, static data are not. */
static void nested(void)
{
    int provided = -1, again = -1;
    CHECK(!is_begun());
    CHECK(shmem_init_thread(SHMEM_THREAD_FUNNELED, &provided) == 0);
    CHECK(provided >= SHMEM_THREAD_FUNNELED);
    me = shmem_my_pe(), pes = shmem_n_pes();
    CHECK(me >= 0 && me < pes);
    shmem_init();
    CHECK(shmem_init_thread(SHMEM_THREAD_SINGLE, &again) == 0);
    CHECK(again == provided); /* what there is cannot change any more */
    turn(1000);
    shmem_finalize();
    turn(2000);
    shmem_finalize();
    CHECK(is_begun());
    turn(3000);
    long before = word;
    shmem_finalize();
    CHECK(!is_begun());
    CHECK(word == before);
    shmem_init();
    CHECK(shmem_my_pe() == me && shmem_n_pes() == pes);
    CHECK(word == before);
    turn(4000);
    shmem_finalize();
}

static void beside(const char *order, int argc, char **argv)
{
    MPI_Session session;
    if (strcmp(order, "mpi") == 0) MPI_Init(&argc, &argv);
    if (strcmp(order, "session") == 0) MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    begin();
    if (strcmp(order, "shmem") == 0 || strcmp(order, "inside") == 0) MPI_Init(&argc, &argv);
    turn(100);
    if (strcmp(order, "session") != 0) mpi_turn();
    turn(200);
    if (strcmp(order, "inside") == 0) MPI_Finalize();
    turn(300);
    shmem_finalize();
    if (strcmp(order, "session") == 0) MPI_Session_finalize(&session);
    if (strcmp(order, "mpi") == 0 || strcmp(order, "shmem") == 0) mpi_turn(), MPI_Finalize();
}

int main(int argc, char **argv)
{
    CHECK(word == 41);
    if (argc < 2)
        nested();
    else
        beside(argv[1], argc, argv);
    return 0;
}
