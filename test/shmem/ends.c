/* ends.c [ORDER] -- the heap between its barriers, levels of threads, an end with something under way, and MPI that is over or comes later
 * (OpenSHMEM 1.6 sections 9.1 to 9.3, annex D).  ORDER: alone (default), before (MPI begins and ends first), after, around (MPI's level counts),
 * old (start_pes, then shmem_init), whole (SHMEM_SYMMETRIC_SIZE is 1 MiB, and is the program's).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

#include <mpi.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

static int next, last;
static long word, slots[64], late[2000];

static void number(void)
{
    me = shmem_my_pe(), pes = shmem_n_pes();
    next = (me + 1) % pes, last = (me + pes - 1) % pes;
}

/* A new block may be written to at once, and one that ends until all have come. */
static void barriers(void)
{
    for (int round = 0; round < 20; round++) {
        if (me == round % pes) usleep(500);
        long *p = round % 4 == 0 ? shmem_malloc(800)
            : round % 4 == 1     ? shmem_calloc(100, 8)
            : round % 4 == 2     ? shmem_align(256, 800)
                             : shmem_malloc_with_hints(800, SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE | 1L << 40);
        CHECK(p && (uintptr_t)p % 64 == 0);
        shmem_long_p(&p[round], 1000 * me + round, next);
        shmem_barrier_all();
        CHECK(p[round] == 1000 * last + round);
        if (me == round % pes) usleep(500);
        long mine = -1;
        shmem_long_put_nbi(&p[99], &mine, 1, next); /* completed by the barrier of the call below */
        if (round & 1) {
            p = shmem_realloc(p, 1600);
            CHECK(p && p[round] == 1000 * last + round && p[99] == -1);
        }
        shmem_free(p);
        long *q = shmem_calloc(100, 8); /* nothing late arrives there */
        for (int i = 0; i < 100; i++) CHECK(q[i] == 0);
        shmem_barrier_all();
        for (int i = 0; i < 100; i++) CHECK(q[i] == 0);
        shmem_free(q);
    }
}

/* A block grows where it is if there is room behind it, else it moves; what it had is there, on all PEs at the same place. */
static void resized(void)
{
    char *p = shmem_align(4096, 100), *q = NULL, *first = p;
    size_t had = 100;
    static const size_t sizes[] = {100, 1, 64, 65, 4096, 100000, 3, 1000000, 17};
    memset(p, me + 1, had);
    for (int i = 0; i < 9; i++) {
        if (i == 4) q = shmem_malloc(1);
        p = shmem_realloc(p, sizes[i]);
        CHECK(p != NULL && (uintptr_t)p % _Alignof(max_align_t) == 0);
        for (size_t k = 0; k < (had < sizes[i] ? had : sizes[i]); k++) CHECK(p[k] == (char)(me + 1));
        had = sizes[i];
        memset(p, me + 1, had);
        ptrdiff_t at = p - first, theirs = 0;
        slots[0] = at;
        shmem_barrier_all();
        theirs = shmem_long_g(&slots[0], next);
        CHECK(theirs == at);
        shmem_barrier_all();
    }
    shmem_free(q);
    CHECK(shmem_realloc(p, SIZE_MAX / 2) == NULL && p[0] == (char)(me + 1));
    CHECK(shmem_realloc(p, 0) == NULL);
    CHECK(shmem_align(SIZE_MAX / 2 + 1, 8) == NULL); /* no such multiple but 0 */
}

static void *look(void *arg)
{
    int is_begun = -1;
    shmem_query_initialized(&is_begun);
    *(int *)arg = is_begun;
    return NULL;
}
static int seen_by_thread(void)
{
    pthread_t thread;
    int is_begun = -1;
    CHECK(pthread_create(&thread, NULL, look, &is_begun) == 0);
    pthread_join(thread, NULL);
    return is_begun;
}

static void levels(void)
{
    static const int all[] = {SHMEM_THREAD_SINGLE, SHMEM_THREAD_FUNNELED, SHMEM_THREAD_SERIALIZED, SHMEM_THREAD_MULTIPLE};
    char name[SHMEM_MAX_NAME_LEN + 1];
    int major = 0, minor = 0;
    for (int i = 0; i < 4; i++) {
        int provided = -1, level = -2, again = -3;
        CHECK(seen_by_thread() == 0);
        CHECK(shmem_init_thread(all[i], &provided) == 0 && provided >= all[i]);
        number();
        CHECK(seen_by_thread() == 1);
        shmem_query_thread(&level);
        CHECK(level == provided);
        CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &again) == 0 && again == provided); /* it is not raised */
        shmem_init();
        /* an end that is not the last is a barrier, which completes the default context */
        word = 0;
        shmem_barrier_all();
        long mine = 10 + me;
        shmem_long_put_nbi(&word, &mine, 1, next);
        shmem_finalize();
        CHECK(word == 10 + last);
        shmem_finalize();
        shmem_pcontrol(0), shmem_pcontrol(1, &word, 2.5);
        CHECK(seen_by_thread() == 1);
        memset(name, 'x', sizeof name);
        shmem_info_get_name(name);
        shmem_info_get_version(&major, &minor);
        CHECK(memchr(name, 0, SHMEM_MAX_NAME_LEN) && strcmp(name, SHMEM_VENDOR_STRING) == 0 && major == 1 && minor == 6);
        shmem_finalize();
    }
}

/* What is under way when the last end comes arrives, by all contexts, also of teams that nobody has ended; static data keep it. */
static void under_way(void)
{
    static long from[2000];
    shmem_team_t team;
    shmem_ctx_t ctx[3];
    shmem_init();
    number();
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, pes - 1, -1, pes, NULL, 0, &team) == 0);
    CHECK(shmem_ctx_create(0, &ctx[0]) == 0 && shmem_ctx_create(SHMEM_CTX_SERIALIZED, &ctx[1]) == 0);
    CHECK(shmem_team_create_ctx(team, SHMEM_CTX_NOSTORE, &ctx[2]) == 0);
    for (int i = 0; i < 2000; i++) from[i] = 10000 * me + i, late[i] = -1;
    CHECK(shmem_malloc(100) != NULL); /* never freed */
    if (me == 0) usleep(2000);
    for (int i = 0; i < 3; i++) shmem_ctx_long_put_nbi(ctx[i], late + 500 * i, from + 500 * i, 500, i == 2 ? pes - 1 - next : next);
    shmem_long_put_nbi(late + 1500, from + 1500, 500, next);
    shmem_finalize();
    for (int i = 0; i < 2000; i++)
        if (late[i] != 10000 * last + i) fprintf(stderr, "PE %d: %d has not arrived\n", me, i), exit(3);
}

/* A wait stops its own thread alone; what another thread has put is covered by a quiet behind it. */
static void *put_for(void *arg)
{
    static long mine[500];
    usleep(1000);
    for (int i = 0; i < 500; i++) mine[i] = 3000 * me + i;
    shmem_long_put_nbi(late, mine, 500, next);
    shmem_long_p((long *)arg, 9, me);
    return NULL;
}
static void by_thread(void)
{
    int provided = -1;
    pthread_t thread;
    CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0 && provided == SHMEM_THREAD_MULTIPLE);
    number();
    for (int i = 0; i < 500; i++) late[i] = -1;
    word = 0;
    shmem_barrier_all();
    CHECK(pthread_create(&thread, NULL, put_for, &word) == 0);
    shmem_long_wait_until(&word, SHMEM_CMP_EQ, 9);
    shmem_quiet();
    CHECK(shmem_long_g(&late[0], next) == 3000 * me && shmem_long_g(&late[499], next) == 3000 * me + 499);
    pthread_join(thread, NULL);
    shmem_finalize();
}

/* Begins and ends of some threads at once, nothing else before and between: there is one beginning and one end. */
static void *begin_and_end(void *arg)
{
    int provided = -1;
    (void)arg;
    CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0 && provided == SHMEM_THREAD_MULTIPLE);
    CHECK(shmem_my_pe() >= 0 && shmem_n_pes() > shmem_my_pe());
    return NULL;
}
static void at_once(void)
{
    pthread_t threads[4];
    CHECK(seen_by_thread() == 0);
    for (int i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, begin_and_end, NULL) == 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    number();
    for (int i = 0; i < 4; i++) {
        CHECK(seen_by_thread() == 1);
        shmem_finalize();
    }
    CHECK(seen_by_thread() == 0);
}

/* It compiles without a value: shmem_global_exit does not return. */
static int never(int is_wrong)
{
    if (is_wrong)
        shmem_global_exit(9);
    else
        return 1;
}

static void turn(long mark)
{
    shmem_barrier_all();
    shmem_long_p(&word, mark + me, next);
    shmem_barrier_all();
    CHECK(word == mark + last);
}

static void beside(const char *order, int argc, char **argv)
{
    int provided = -1, level = -1, is_begun = -1, sum = 0, one = 1;
    if (strcmp(order, "before") == 0) {
        MPI_Init(&argc, &argv), MPI_Finalize();
        shmem_init();
        number();
        turn(10);
        shmem_finalize();
    } else if (strcmp(order, "after") == 0) {
        shmem_init();
        number();
        turn(20);
        shmem_finalize();
        MPI_Init(&argc, &argv);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        shmem_init(); /* and once more within */
        turn(30);
        shmem_finalize();
        shmem_query_initialized(&is_begun);
        if (sum != pes || is_begun) exit(4);
        MPI_Finalize();
    } else if (strcmp(order, "around") == 0) { /* who comes first decides, the other says what there is */
        MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
        CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level) == 0);
        number();
        CHECK(level == SHMEM_THREAD_MULTIPLE || (level == SHMEM_THREAD_SERIALIZED && provided == MPI_THREAD_SERIALIZED));
        turn(40);
        MPI_Finalize();
        turn(50);
        shmem_finalize();
    }
}

int main(int argc, char **argv)
{
    const char *order = argc > 1 ? argv[1] : "alone";
    if (strcmp(order, "alone") == 0) {
        levels();
        under_way();
        by_thread();
        at_once();
        CHECK(never(0) == 1);
        shmem_init();
        number();
        barriers();
        resized();
        turn(60);
        shmem_finalize();
    } else if (strcmp(order, "old") == 0) {
        start_pes(1000);
        start_pes(-1);
        shmem_init();
        number();
        turn(70);
        shmem_finalize();
        turn(80);
    } else if (strcmp(order, "whole") == 0) {
        begin();
        char *p = shmem_malloc(1 << 20);
        CHECK(p != NULL);
        p[0] = p[(1 << 20) - 1] = 1;
        CHECK(shmem_malloc((4 << 20) + 1) == NULL);
        shmem_free(p);
        shmem_finalize();
    } else {
        beside(order, argc, argv);
    }
    return 0;
}
