/* check_races.c -- programs whose accesses race, for test/system/check_races.sh, which reads what GODWIT_CHECK says about them.
 *
 *     mpi_check_races WORD[,WORD...] [LEVEL]   one after the other; words that end in _ok are right
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { GETS = 40000, LONG = 100000 };
static int longs[LONG], from[LONG];
static MPI_Win win;

/* ---- many at once ---- */
static void many_gets(int overlap)
{
    long *many = calloc(2 * GETS, sizeof *many), *base;
    int there = (rank + 1) % size;
    MPI_Win_allocate(GETS * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_set_name(win, "halo");
    for (long i = 0; i < GETS; i++) base[i] = 7 * i + rank;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < GETS; i++) MPI_Get(many + 2 * i, 1, MPI_LONG, there, i, 1, MPI_LONG, win);
    if (overlap) MPI_Get(many + 2 * (GETS - 3), 1, MPI_LONG, there, GETS - 3, 1, MPI_LONG, win);
    MPI_Win_flush_all(win);
    for (long i = 0; i < GETS; i++) CHECK(many[2 * i] == 7 * i + there);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    free(many);
}
static void many(void) { many_gets(1); } /* one finding of every rank */
static void many_ok(void) { many_gets(0); }

/* ---- receive buffers ---- */
/* Rank 0 sends n items to the others, which receive them; early: they write into the buffer meanwhile. */
enum when { NEVER, BEFORE, AFTER };
static void receive(int n, enum when when, int persistent, int item)
{
    MPI_Request q;
    if (rank == 0) {
        for (int i = 0; i < n; i++) from[i] = i + 5;
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 1; i < size; i++) MPI_Send(from, n, MPI_INT, i, 3, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        return;
    }
    if (persistent) MPI_Recv_init(longs, LONG, MPI_INT, 0, 3, MPI_COMM_WORLD, &q), MPI_Start(&q);
    if (!persistent) MPI_Irecv(longs, LONG, MPI_INT, 0, 3, MPI_COMM_WORLD, &q);
    if (when == BEFORE) longs[item]++;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD); /* it is there */
    if (when == AFTER) longs[item]++;
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    CHECK(longs[0] == 5 + (when == AFTER && item == 0) && longs[n - 1] == n + 4);
    if (persistent) MPI_Request_free(&q);
    longs[item]++;
}
static void written(void) /* fourteen findings of every rank but 0 */
{
    for (int n = 10; n <= LONG; n *= 100)
        for (int persistent = 0; persistent < 2; persistent++) {
            receive(n, BEFORE, persistent, 3);
            receive(n, AFTER, persistent, 0);
        }
    receive(10, BEFORE, 0, 500); /* behind the message */
    receive(10, AFTER, 0, 500);
}
static void written_ok(void)
{
    MPI_Request q[2];
    MPI_Datatype column;
    for (int n = 1; n <= LONG; n *= 10) receive(n, NEVER, n & 1, 0);
    MPI_Type_vector(10, 1, 2, MPI_INT, &column);
    MPI_Type_commit(&column);
    for (int i = 0; i < 20; i++) longs[i] = -1, from[i] = i;
    MPI_Irecv(longs, 1, column, rank, 4, MPI_COMM_WORLD, &q[0]); /* what lies between is not received */
    for (int i = 1; i < 20; i += 2) longs[i] = 7;
    MPI_Irecv(longs + 100, 10, MPI_INT, rank, 5, MPI_COMM_WORLD, &q[1]);
    longs[110]++;
    MPI_Send(from, 10, MPI_INT, rank, 4, MPI_COMM_WORLD);
    for (int i = 1; i < 20; i += 2) longs[i] = 8;
    MPI_Cancel(&q[1]);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 20; i++) CHECK(longs[i] == (i & 1 ? 8 : i / 2));
    MPI_Type_free(&column);
}

static void freed(void) /* one finding of every rank */
{
    MPI_Request q;
    MPI_Irecv(longs, 3, MPI_INT, rank, 4, MPI_COMM_WORLD, &q);
    MPI_Request_free(&q);
    from[2] = 9;
    MPI_Send(from, 3, MPI_INT, rank, 4, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(longs[2] == 9);
}
static void freed_ok(void)
{
    MPI_Request q;
    MPI_Isend(from, 3, MPI_INT, rank, 4, MPI_COMM_WORLD, &q); /* a send may be */
    MPI_Request_free(&q);
    MPI_Recv(longs, 3, MPI_INT, rank, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(longs, 3, MPI_INT, rank, 4, MPI_COMM_WORLD, &q); /* a receive that was cancelled, too */
    MPI_Cancel(&q);
    MPI_Request_free(&q);
    MPI_Recv_init(longs, 3, MPI_INT, rank, 4, MPI_COMM_WORLD, &q); /* and a request that is not active */
    MPI_Request_free(&q);
}

/* ---- memory that cannot be read ---- */
enum { BIG = 1 << 20, PIECE = 4096 };
static char *pages(void)
{
    char *p = mmap(NULL, BIG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) abort();
    return p;
}
static void protected(void) /* three findings of every rank: what is sent and received is taken away before the wait */
{
    MPI_Request q[3];
    char *p = pages(), *from_p = pages();
    MPI_Irecv(p + 8, 100, MPI_CHAR, rank, 4, MPI_COMM_WORLD, &q[0]);
    MPI_Isend(from_p + PIECE - 50, 100, MPI_CHAR, rank, 4, MPI_COMM_WORLD, &q[1]); /* in two pages */
    MPI_Isend(from_p, 8, MPI_CHAR, rank, 5, MPI_COMM_WORLD, &q[2]);
    MPI_Probe(rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* and so the one before it is there, */
    MPI_Barrier(MPI_COMM_WORLD);                           /* which the check has seen */
    mprotect(p, PIECE, PROT_NONE);
    mprotect(from_p + PIECE, PIECE, PROT_NONE);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    munmap(from_p, PIECE);
    MPI_Wait(&q[2], MPI_STATUS_IGNORE);
    MPI_Recv(longs, 8, MPI_CHAR, rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    munmap(p, BIG);
    munmap(from_p + PIECE, BIG - PIECE);
}
static void protected_ok(void) /* pages of a window that nobody accesses, and a file of what cannot be read */
{
    MPI_Win w;
    MPI_File f;
    MPI_Request q;
    char name[64], *p = pages(), *hole = p + BIG / 2;
    int word = 5, rc, class = 0;
    mprotect(hole, PIECE, PROT_NONE);
    MPI_Win_create(p, BIG, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
    for (int i = 0; i < 3; i++) {
        MPI_Win_fence(0, w);
        MPI_Put(&word, 4, MPI_BYTE, 0, 8 * rank, 4, MPI_BYTE, w);
    }
    MPI_Win_fence(0, w);
    mprotect(p, PIECE, PROT_NONE); /* and now what they did access */
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w);
    MPI_Win_free(&w);
    snprintf(name, sizeof name, "/tmp/check_races.%d.file", (int)getpid());
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f);
    rc = MPI_File_iwrite(f, hole, 100, MPI_CHAR, &q);
    if (rc == MPI_SUCCESS) rc = MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Error_class(rc, &class);
    CHECK(class != MPI_SUCCESS);
    MPI_File_close(&f);
    munmap(p, BIG);
}

/* ---- ready sends: rank 0 to the others ---- */
static void ready_sends(int late)
{
    for (int way = 0; way < 3; way++) {
        MPI_Request q[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        if (rank && !late) MPI_Irecv(longs, 10, MPI_INT, way ? 0 : MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &q[0]);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 1; i < size && rank == 0; i++) {
            if (way == 0) MPI_Rsend(from, 10, MPI_INT, i, 6, MPI_COMM_WORLD);
            if (way == 1) MPI_Irsend(from, 10, MPI_INT, i, 6, MPI_COMM_WORLD, &q[1]);
            if (way == 2) MPI_Rsend_init(from, 10, MPI_INT, i, 6, MPI_COMM_WORLD, &q[1]), MPI_Start(&q[1]);
            if (way) MPI_Wait(&q[1], MPI_STATUS_IGNORE);
            if (way == 2) MPI_Request_free(&q[1]);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank && late) MPI_Recv(longs, 10, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    }
}
static void ready(void) { ready_sends(1); } /* three findings of every rank but 0 */
static void ready_ok(void)
{
    ready_sends(0);
    if (rank == 0) MPI_Send(from, 10, MPI_INT, size - 1, 7, MPI_COMM_WORLD); /* after them another kind is not a ready one */
    if (rank == size - 1) MPI_Recv(longs, 10, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* ---- threads ---- */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *say_hello(void *locked)
{
    for (int i = 0; i < 50; i++) {
        int n = i, got = -1;
        if (locked) pthread_mutex_lock(&mutex);
        MPI_Sendrecv(&n, 1, MPI_INT, rank, 8, &got, 1, MPI_INT, rank, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (locked) pthread_mutex_unlock(&mutex);
        CHECK(got == n);
    }
    return NULL;
}
static void *wait_here(void *unused)
{
    int got;
    (void)unused;
    MPI_Recv(&got, 1, MPI_INT, rank, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}
static void other_thread(void) /* of SINGLE and FUNNELED, one after the other: one finding of every rank */
{
    pthread_t t;
    say_hello(NULL);
    pthread_create(&t, NULL, say_hello, NULL);
    pthread_join(t, NULL);
}
static void at_once(void) /* of SERIALIZED: a thread waits in a receive while others call; one finding or more of every rank */
{
    pthread_t t;
    int flag = 0, n = 3;
    pthread_create(&t, NULL, wait_here, NULL);
    for (double begin = MPI_Wtime(); MPI_Wtime() < begin + 0.3;) MPI_Iprobe(rank, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Send(&n, 1, MPI_INT, rank, 9, MPI_COMM_WORLD);
    pthread_join(t, NULL);
}
static void in_turn_ok(void)
{
    pthread_t t;
    pthread_create(&t, NULL, say_hello, &mutex);
    say_hello(&mutex);
    pthread_join(t, NULL);
}

/* ---- windows: rank 0 is the target; one finding of it, unless something else is said ---- */
enum { WORDS = 1000 };
static int *window, ints[WORDS], more[WORDS];
static void window_open(void)
{
    MPI_Win_allocate(WORDS * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
    MPI_Win_set_name(win, "halo");
    for (int i = 0; i < WORDS; i++) window[i] = i, ints[i] = 1000 * (rank + 1) + i;
    MPI_Barrier(MPI_COMM_WORLD);
}
static int by_fence; /* else by MPI_Win_post and the like */
static void epoch_begin(void)
{
    MPI_Group all;
    if (by_fence) {
        MPI_Win_fence(0, win);
        return;
    }
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Win_post(all, 0, win);
    MPI_Win_start(all, 0, win);
    MPI_Group_free(&all);
}
static void epoch_end(void)
{
    int flag = 0;
    if (by_fence) {
        MPI_Win_fence(0, win);
        return;
    }
    MPI_Win_complete(win);
    if (rank & 1) MPI_Win_wait(win);
    while (!(rank & 1) && !flag) MPI_Win_test(win, &flag);
}
static void put(int at, int n) { MPI_Put(ints, n, MPI_INT, 0, at, n, MPI_INT, win); }
static void get(int at, int n) { MPI_Get(more, n, MPI_INT, 0, at, n, MPI_INT, win); }
static void add(int at, MPI_Op op) { MPI_Accumulate(ints, 1, MPI_INT, 0, at, 1, MPI_INT, op, win); }

enum race {
    PUT_PUT,
    PUT_PUT_OWN,
    PUT_GET,
    PUT_ADD,
    GET_ADD,
    ADD_MAX,
    PUT_COLUMN,
    STORED,
    STORED_BEFORE,
    STORED_GET,
    STORED_BEFORE_GET,
    RECEIVED,
    SENT,
    GOT_INTO,
    RACES
};
/* Rank 0 stores, and rank 1 goes on after that, though rank 0 has called nothing: a file says so. */
static int file_number;
static void store_before(enum race what)
{
    char name[64];
    snprintf(name, sizeof name, "/tmp/check_races.%d.%d", file_number, (int)what);
    if (rank == 0) {
        window[7]++;
        fclose(fopen(name, "w"));
    }
    while (rank == 1 && access(name, F_OK) != 0) usleep(1000);
    if (rank == 1) unlink(name);
}
/* Ranks 0 and 1 do something at the same bytes of rank 0's part. */
static void race(enum race what)
{
    MPI_Request q;
    MPI_Datatype column;
    if (what == STORED_BEFORE || what == STORED_BEFORE_GET) store_before(what);
    if (rank == 1) {
        if (what == PUT_PUT || what == PUT_GET || what == PUT_ADD || what == PUT_COLUMN || what == STORED || what == STORED_BEFORE)
            put(5, 5);
        if (what == PUT_PUT_OWN) put(5, 5), put(9, 2);
        if (what == GET_ADD || what == STORED_GET || what == STORED_BEFORE_GET) get(7, 2);
        if (what == ADD_MAX) add(7, MPI_SUM);
        if (what == RECEIVED || what == SENT || what == GOT_INTO) put(5, 5);
    }
    if (rank == 0 && (what == RECEIVED || what == SENT)) {
        MPI_Irecv(what == RECEIVED ? window + 9 : more, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, &q);
        MPI_Send(what == SENT ? window + 8 : more + 4, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
    }
    if (what == GOT_INTO) MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        if (what == PUT_PUT) put(9, 3);
        if (what == PUT_GET) get(7, 1);
        if (what == PUT_ADD || what == GET_ADD) add(7, MPI_SUM);
        if (what == ADD_MAX) add(7, MPI_MAX);
        if (what == GOT_INTO) MPI_Get(window + 6, 1, MPI_INT, 0, 500, 1, MPI_INT, win);
        MPI_Type_vector(4, 1, 4, MPI_INT, &column);
        MPI_Type_commit(&column);
        if (what == PUT_COLUMN) MPI_Put(ints, 4, MPI_INT, 0, 0, 1, column, win); /* 0, 4, 8, 12 */
        MPI_Type_free(&column);
    }
    if (what == STORED || what == STORED_GET) MPI_Barrier(MPI_COMM_WORLD);
    if (what == STORED || what == STORED_GET) window[8] += rank == 0;
}
static void races_of(int fence)
{
    window_open();
    by_fence = fence;
    file_number = 2 * (int)getpid() + fence;
    MPI_Bcast(&file_number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int k = 0; k < RACES; k++) {
        epoch_begin();
        race((enum race)k);
        epoch_end();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (fence) MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_free(&win);
}
static void races(void) { races_of(1); }        /* fourteen findings of rank 0 */
static void races_posted(void) { races_of(0); } /* the same */

static void right_epoch(void)
{
    MPI_Datatype column;
    MPI_Request q;
    static int old, nobody; /* until the epoch ends */
    int there = (rank + 1) % size;
    MPI_Type_vector(4, 1, 2, MPI_INT, &column);
    MPI_Type_commit(&column);
    put(10 * rank, 10);                                                            /* beside each other */
    MPI_Put(ints, 4, MPI_INT, 0, 300 + 8 * (rank / 2) + rank % 2, 1, column, win); /* between each other */
    get(800, 10);                                                                  /* all read the same, */
    if (rank == 0) more[500] = window[803];                                        /* as does the program */
    add(700, MPI_SUM), add(701, MPI_MAX);
    MPI_Get_accumulate(&nobody, 0, MPI_INT, &old, 1, MPI_INT, 0, 701, 1, MPI_INT, MPI_NO_OP, win);
    MPI_Fetch_and_op(ints, more + 100, MPI_INT, 0, 702, MPI_SUM, win);
    MPI_Compare_and_swap(ints + 1, ints + 2, more + 101, MPI_INT, 0, 703, win);
    MPI_Accumulate(ints, 1, MPI_INT, 0, 720 + rank, 1, MPI_INT, MPI_SUM, win); /* one origin's are in order */
    MPI_Accumulate(ints, 1, MPI_INT, 0, 720 + rank, 1, MPI_INT, MPI_REPLACE, win);
    window[900 + rank]++; /* what nobody else accesses is the program's */
    MPI_Irecv(window + 950, 5, MPI_INT, (rank + size - 1) % size, 4, MPI_COMM_WORLD, &q);
    MPI_Send(ints + 500, 5, MPI_INT, there, 4, MPI_COMM_WORLD);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Type_free(&column);
}
static void races_ok(void)
{
    for (by_fence = 0; by_fence < 2; by_fence++) {
        window_open();
        for (int round = 0; round < 3; round++) {
            epoch_begin();
            right_epoch();
            epoch_end();
            MPI_Barrier(MPI_COMM_WORLD);
            for (int i = 0; rank == 0 && i < 10 * size; i++) CHECK(window[i] == 1000 * (i / 10 + 1) + i % 10);
            if (by_fence) MPI_Win_fence(0, win); /* the loads are over */
            for (int i = 0; i < WORDS; i++) window[i] = i + round;
            MPI_Barrier(MPI_COMM_WORLD);
        }
        if (by_fence) MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
        /* Under exclusive locks everything is in order; so it is where messages say which rank is next. */
        for (int i = 0; i < 3; i++) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
            put(5, 5), get(50, 10);
            MPI_Win_flush(0, win);
            get(5, 5);
            MPI_Win_unlock(0, win);
            CHECK(more[0] == ints[0]);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock_all(0, win);
        for (int i = 0; i < size; i++) {
            if (i == rank) put(5, 5), MPI_Win_flush(0, win);
            MPI_Barrier(MPI_COMM_WORLD);
        }
        get(5, 5);
        MPI_Win_unlock_all(win);
        CHECK(more[0] == 1000 * size);
        MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED, win);
        MPI_Win_free(&win);
    }
}
static void stored_ok(void) /* stores of the target before it sends the origin a message, after which that puts */
{
    window_open();
    by_fence = 1;
    epoch_begin();
    window[7] += 3;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) put(5, 5);
    epoch_end();
    CHECK(rank != 0 || window[7] == 2002);
    MPI_Win_free(&win);
}
static void shared_ok(void) /* one host: neighbours' memory, by loads and stores between fences */
{
    MPI_Comm node;
    int *all, *theirs, unit, mine, n;
    MPI_Aint bytes;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &mine);
    MPI_Comm_size(node, &n);
    MPI_Win_allocate_shared(40, sizeof(int), MPI_INFO_NULL, node, &all, &win);
    MPI_Win_shared_query(win, (mine + 1) % n, &bytes, &unit, &theirs);
    for (int k = 0; k < 3; k++) {
        MPI_Win_fence(0, win);
        theirs[k] = 10 * mine + k;
        MPI_Win_fence(0, win);
        CHECK(all[k] == 10 * ((mine + n - 1) % n) + k);
    }
    MPI_Win_lock_all(0, win);
    theirs[5] = mine;
    MPI_Win_sync(win);
    MPI_Barrier(node);
    MPI_Win_sync(win);
    CHECK(all[5] == (mine + n - 1) % n);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
}

/* Two windows over the same memory of rank 0. */
static void windows_over(int right)
{
    MPI_Win w;
    window_open();
    MPI_Win_create(window, WORDS * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &w);
    MPI_Win_set_name(w, "other");
    MPI_Win_fence(0, win);
    MPI_Win_fence(0, w);
    if (rank == 0) put(5, 5);
    if (right) MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) MPI_Put(ints, 5, MPI_INT, 0, right ? 5 : 8, 5, MPI_INT, w);
    if (!right) MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w);
    MPI_Win_free(&w);
    MPI_Win_free(&win);
}
static void over(void) { windows_over(0); } /* one finding of rank 0 */
static void over_ok(void) { windows_over(1); }

static void not_closed(void) /* one finding of rank 1 */
{
    window_open();
    MPI_Win_fence(0, win);
    if (rank == 1) put(5, 5);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
}
static void lock_inside(void) /* one finding of every rank */
{
    window_open();
    MPI_Win_fence(0, win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    put(5, 5);
    MPI_Win_unlock(0, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

/* ---- under locks: rank 0 is the target, and prints one finding for each window ---- */
enum locked {
    OWN_PUT_GET,
    OWN_PUT_PUT,
    OWN_LOCAL,
    OWN_GET_ADD,
    OWN_BOTH_LOCKS,
    ALL_PUT_PUT,
    ALL_PUT_GET,
    ALL_ADD_PUT,
    ALL_ADD_MAX,
    SHARED_GET_ADD,
    SHARED_PUT_COLUMN,
    NOCHECK_PUT_PUT,
    RPUT_PUT,
    LOCK_STORED,
    LOCK_RECEIVED,
    LOCKED_CASES
};
static void own_locked(enum locked what)
{
    if (rank != 1) return;
    MPI_Win_lock(what == OWN_PUT_PUT || what == OWN_BOTH_LOCKS ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0, 0, win);
    if (what == OWN_GET_ADD)
        get(9, 2), add(9, MPI_SUM);
    else
        put(5, 5);
    if (what == OWN_LOCAL) MPI_Win_flush_local(0, win);
    if (what == OWN_PUT_GET || what == OWN_LOCAL || what == OWN_BOTH_LOCKS) get(9, 2);
    if (what == OWN_PUT_PUT) put(9, 2);
    MPI_Win_unlock(0, win);
}
/* Two ranks at once: between the barriers neither has completed what it did. */
static void two_locked(enum locked what)
{
    MPI_Datatype column;
    MPI_Request q = MPI_REQUEST_NULL;
    int is_nocheck = what == NOCHECK_PUT_PUT, is_all = what < SHARED_GET_ADD;
    MPI_Type_vector(4, 1, 4, MPI_INT, &column);
    MPI_Type_commit(&column);
    if (is_all) MPI_Win_lock_all(0, win);
    if (!is_all && rank < 2)
        MPI_Win_lock(is_nocheck && rank ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0, is_nocheck ? MPI_MODE_NOCHECK : 0, win);
    if (rank == 1) {
        if (what == ALL_PUT_PUT || what == ALL_PUT_GET || what == ALL_ADD_PUT || what == SHARED_PUT_COLUMN || is_nocheck) put(5, 5);
        if (what == ALL_ADD_MAX) add(7, MPI_SUM);
        if (what == SHARED_GET_ADD) get(7, 2);
        if (what == RPUT_PUT) MPI_Rput(ints, 5, MPI_INT, 0, 5, 5, MPI_INT, win, &q), MPI_Wait(&q, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        if (what == ALL_PUT_PUT || is_nocheck || what == RPUT_PUT) put(9, 3);
        if (what == ALL_PUT_GET) get(7, 1);
        if (what == ALL_ADD_PUT || what == SHARED_GET_ADD) add(7, MPI_SUM);
        if (what == ALL_ADD_MAX) add(7, MPI_MAX);
        if (what == SHARED_PUT_COLUMN) MPI_Put(ints, 4, MPI_INT, 0, 0, 1, column, win); /* 0, 4, 8, 12 */
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (is_all) MPI_Win_unlock_all(win);
    if (!is_all && rank < 2) MPI_Win_unlock(0, win);
    MPI_Type_free(&column);
}
static void written_locked(enum locked what)
{
    if (rank == 1) MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), put(5, 5);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && what == LOCK_STORED) window[8]++;
    if (rank == 0 && what == LOCK_RECEIVED)
        MPI_Sendrecv(ints + 50, 1, MPI_INT, 0, 4, window + 8, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) MPI_Win_unlock(0, win);
}
static void locks(void) /* fifteen findings of rank 0; between hosts thirteen */
{
    for (int k = 0; k < LOCKED_CASES; k++) {
        window_open();
        if (k < ALL_PUT_PUT)
            own_locked((enum locked)k);
        else if (k < LOCK_STORED)
            two_locked((enum locked)k);
        else
            written_locked((enum locked)k);
        MPI_Win_free(&win);
    }
}

/* Right ones. */
static void own_locked_ok(void)
{
    MPI_Request q;
    int old[4];
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Put(ints, 10, MPI_INT, 0, 100 + 10 * rank, 10, MPI_INT, win);
    MPI_Win_flush(0, win);
    MPI_Get(more, 10, MPI_INT, 0, 100 + 10 * rank, 10, MPI_INT, win); /* after a flush, */
    MPI_Win_flush_local(0, win);
    CHECK(more[0] == ints[0] && more[9] == ints[9]);
    MPI_Put(ints + 20, 10, MPI_INT, 0, 100 + 10 * rank, 10, MPI_INT, win); /* what a get read, once that is there, */
    MPI_Win_flush_all(win);
    MPI_Rget(more, 10, MPI_INT, 0, 100 + 10 * rank, 10, MPI_INT, win, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    CHECK(more[0] == ints[20] && more[9] == ints[29]);
    MPI_Put(ints, 10, MPI_INT, 0, 100 + 10 * rank, 10, MPI_INT, win);
    MPI_Win_unlock(0, win);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Put(ints, 10, MPI_INT, 0, 100 + 10 * rank, 10, MPI_INT, win); /* in another epoch, */
    MPI_Put(ints, 10, MPI_INT, 0, 200 + 10 * rank, 10, MPI_INT, win); /* elsewhere, */
    for (int i = 0; i < 4; i++)                                       /* and accumulates, whose order is kept */
        MPI_Fetch_and_op(ints + i, old + i, MPI_INT, 0, 300 + rank, i & 1 ? MPI_REPLACE : MPI_SUM, win);
    MPI_Win_unlock(0, win);
    CHECK(old[2] == ints[1]);
}
/* One after the other, as exclusive locks, barriers or locks of the program's own see to it. */
static void turns_ok(void)
{
    int one = 1, zero = 0, was, n;
    for (int i = 0; i < 40; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Get(&n, 1, MPI_INT, 0, 400, 1, MPI_INT, win);
        MPI_Win_flush(0, win);
        n++;
        MPI_Put(&n, 1, MPI_INT, 0, 400, 1, MPI_INT, win);
        MPI_Put(ints, 20, MPI_INT, 0, 401, 20, MPI_INT, win);
        MPI_Win_unlock(0, win);
        if (rank == 0) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
            window[405]++; /* the target's own, under its lock */
            MPI_Win_unlock(0, win);
        }
    }
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    for (int i = 0; i < 20; i++) { /* 430: a lock of the program's own, 431 on: what it is for */
        do {
            MPI_Compare_and_swap(&one, &zero, &was, MPI_INT, 0, 430, win);
            MPI_Win_flush(0, win);
        } while (was);
        MPI_Get(&n, 1, MPI_INT, 0, 431, 1, MPI_INT, win);
        MPI_Win_flush_local(0, win);
        n++;
        MPI_Put(&n, 1, MPI_INT, 0, 431, 1, MPI_INT, win);
        MPI_Put(ints, 20, MPI_INT, 0, 432, 20, MPI_INT, win);
        MPI_Win_flush(0, win);
        MPI_Accumulate(&zero, 1, MPI_INT, 0, 430, 1, MPI_INT, MPI_REPLACE, win);
        MPI_Win_flush(0, win);
    }
    for (int i = 0; i < size; i++) {
        if (i == rank) put(460, 30), MPI_Win_flush(0, win);
        MPI_Barrier(MPI_COMM_WORLD);
        get(460, 30);
        MPI_Win_flush_all(win);
        CHECK(more[0] == 1000 * (i + 1) && more[29] == 1000 * (i + 1) + 29);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(rank != 0 || (window[400] == 40 * size && window[431] == 20 * size));
}
/* At once, which they may. */
static void together_ok(void)
{
    MPI_Datatype column;
    int old, nobody = 0, count = 0;
    MPI_Type_vector(10, 1, size, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 50; i++) {
        if (i % 5 == 0) MPI_Put(ints, 10, MPI_INT, 0, 500 + rank, 1, column, win); /* between each other */
        MPI_Get(more, 10, MPI_INT, 0, 600, 10, MPI_INT, win);                      /* all read the same */
        MPI_Accumulate(ints + 1, 1, MPI_INT, 0, 700, 1, MPI_INT, MPI_SUM, win);
        MPI_Get_accumulate(&nobody, 0, MPI_INT, &old, 1, MPI_INT, 0, 700, 1, MPI_INT, MPI_NO_OP, win);
        MPI_Fetch_and_op(ints + 1, more + 500, MPI_INT, 0, 701, MPI_SUM, win);
        MPI_Compare_and_swap(ints + 1, ints + 2, more + 501, MPI_INT, 0, 701, win);
        MPI_Win_flush_local_all(win);
        if (i % 5 == 4) MPI_Win_flush_all(win);
        if (rank == 0) count += window[700] != 0; /* loads may look on */
    }
    /* A word that the target waits for, and puts back. */
    if (rank == 1) MPI_Put(ints + 7, 1, MPI_INT, 0, 710, 1, MPI_INT, win), MPI_Win_flush(0, win);
    while (rank == 0 && ((volatile int *)window)[710] != 2007) MPI_Win_sync(win);
    if (rank == 0) window[710] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    MPI_Type_free(&column);
    CHECK(rank != 0 || count <= 50);
}
static void attached_ok(void)
{
    MPI_Win w;
    MPI_Aint at;
    static long there[64];
    long got[64], mine[64];
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &w);
    MPI_Win_attach(w, there, sizeof there);
    MPI_Get_address(there, &at);
    MPI_Bcast(&at, 1, MPI_AINT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 64; i++) mine[i] = rank;
    for (int i = 0; i < 5; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w);
        MPI_Put(mine, 64, MPI_LONG, 0, at, 64, MPI_LONG, w);
        MPI_Win_flush(0, w);
        MPI_Get(got, 64, MPI_LONG, 0, at, 64, MPI_LONG, w);
        MPI_Win_unlock(0, w);
        CHECK(got[0] == rank && got[63] == rank);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_detach(w, there);
    MPI_Win_free(&w);
}
static void locks_ok(void)
{
    for (int made = 0; made < 2; made++) {
        int *own = calloc(WORDS, sizeof *own);
        window_open();
        if (made) { /* memory that not all map */
            MPI_Win_free(&win);
            MPI_Win_create(window = own, WORDS * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        }
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
        memset(window, 0, WORDS * sizeof(int));
        MPI_Win_unlock(rank, win);
        MPI_Barrier(MPI_COMM_WORLD);
        own_locked_ok();
        turns_ok();
        together_ok();
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_free(&win);
        free(own);
    }
    attached_ok();
}
static void locks_full(void) /* one remark, and no finding: two ranks */
{
    enum { MOST = (1 << 18) / 2 };
    static int got[100];
    int *base;
    MPI_Win_allocate(2 * (MOST + 8) * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_lock_all(0, win);
    for (int i = 0; rank == 1 && i < MOST; i++) {
        MPI_Get(got + i % 100, 1, MPI_INT, 0, 2 * i, 1, MPI_INT, win);
        if (i % 100 == 99) MPI_Win_flush(0, win);
    }
    for (int i = 0; rank == 1 && i < 2; i++) MPI_Put(ints, 1, MPI_INT, 0, 2 * MOST, 1, MPI_INT, win);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"many", many},
    {"many_ok", many_ok},
    {"written", written},
    {"written_ok", written_ok},
    {"freed", freed},
    {"freed_ok", freed_ok},
    {"races", races},
    {"races_posted", races_posted},
    {"races_ok", races_ok},
    {"shared_ok", shared_ok},
    {"stored_ok", stored_ok},
    {"not_closed", not_closed},
    {"over", over},
    {"over_ok", over_ok},
    {"lock_inside", lock_inside},
    {"locks", locks},
    {"locks_ok", locks_ok},
    {"locks_full", locks_full},
    {"protected", protected},
    {"protected_ok", protected_ok},
    {"ready", ready},
    {"ready_ok", ready_ok},
    {"other_thread", other_thread},
    {"at_once", at_once},
    {"in_turn_ok", in_turn_ok},
};

int main(int argc, char **argv)
{
    int level = argc > 2 ? atoi(argv[2]) : 0;
    static const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
    MPI_Init_thread(&argc, &argv, levels[level], &level);
    test_begin();
    CHECK(argc > 1);
    for (const char *word = argv[1], *end; argc > 1 && *word; word = *end ? end + 1 : end) {
        int found = 0;
        end = word + strcspn(word, ",");
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            if (strlen(cases[i].name) == (size_t)(end - word) && strncmp(word, cases[i].name, (size_t)(end - word)) == 0)
                cases[i].run(), found = 1;
        CHECK(found);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return test_end();
}
