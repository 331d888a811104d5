/* rma_requests.c -- operations with a request to ranks of other nodes are under way when their call returns: many at once, waited for in
 * any order, freed before they are complete, flushed while their requests are open; and a call that starts one waits for nobody.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "rma_check.h"

enum { MANY = 2000, LONG = 3000, BIG = 50000, ROOM = MANY * 8 + LONG * 8 + BIG };
static struct window w;
static int right;
static char *in;
static MPI_Request reqs[MANY + 3];
static MPI_Datatype every2nd; /* LONG / 2 of LONG longs */

static long value(int of, int i) { return of * 1000003L + i; }

static void fill(void)
{
    long *at = (long *)(void *)w.base;
    for (int i = 0; i < MANY + LONG; i++) at[i] = value(rank, i);
    pattern_fill(w.base + (MANY + LONG) * 8, BIG, (unsigned)rank);
    memset(in, 0xee, ROOM);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Of every length and layout: what gathers, what is a message of its own, what lies in pieces at one end or both. */
static void gets_start(void)
{
    MPI_Aint at = w.at[right];
    char *far = in + (MPI_Aint)MANY * 8;
    for (int i = 0; i < MANY; i++) MPI_Rget(in + i * 8, 1, MPI_LONG, right, at + i * 8, 1, MPI_LONG, w.win, &reqs[i]);
    MPI_Rget(far, 1, every2nd, right, at + MANY * 8, 1, every2nd, w.win, &reqs[MANY]);
    MPI_Rget(far + 8, 1, every2nd, right, at + MANY * 8, LONG / 2, MPI_LONG, w.win, &reqs[MANY + 1]);
    MPI_Rget(in + (MANY + LONG) * 8, BIG, MPI_BYTE, right, at + (MANY + LONG) * 8, BIG, MPI_BYTE, w.win, &reqs[MANY + 2]);
}
static void gets_check(void)
{
    int wrong = 0;
    const long *at = (const long *)(const void *)in;
    for (int i = 0; i < MANY; i++) wrong += at[i] != value(right, i);
    for (int i = 0; i < LONG; i++) wrong += at[MANY + i] != value(right, MANY + (i % 2 ? i / 2 : i));
    CHECK_EQ(wrong, 0);
    CHECK_EQ(pattern_wrong(in + (MANY + LONG) * 8, BIG, (unsigned)right), -1);
}

static void backwards(void)
{
    fill();
    MPI_Win_lock_all(0, w.win);
    gets_start();
    for (int i = MANY + 2; i >= 0; i--) {
        MPI_Wait(&reqs[i], MPI_STATUS_IGNORE);
        CHECK(reqs[i] == MPI_REQUEST_NULL);
        if (i < MANY) CHECK_EQ(((const long *)(const void *)in)[i], value(right, i));
    }
    MPI_Win_unlock_all(w.win);
    gets_check();
}

/* A flush ends the operations; their requests are complete then, and still to be waited for. */
static void flushed(int local)
{
    int is_done;
    fill();
    MPI_Win_lock_all(0, w.win);
    gets_start();
    if (local)
        MPI_Win_flush_local(right, w.win);
    else
        MPI_Win_flush_all(w.win);
    gets_check();
    for (int i = 0; i < MANY + 3; i++) {
        MPI_Test(&reqs[i], &is_done, MPI_STATUS_IGNORE);
        CHECK_EQ(is_done, 1);
    }
    MPI_Win_unlock_all(w.win);
}

static void freed(void)
{
    fill();
    MPI_Win_lock_all(0, w.win);
    gets_start();
    for (int i = 0; i < MANY + 3; i++) MPI_Request_free(&reqs[i]);
    MPI_Win_flush(right, w.win);
    gets_check();
    MPI_Win_unlock_all(w.win);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The type is freed while the request is open. */
static void types(void)
{
    MPI_Datatype mine;
    long *at = (long *)(void *)in;
    int wrong = 0;
    fill();
    MPI_Type_vector(LONG / 2, 1, 2, MPI_LONG, &mine);
    MPI_Type_commit(&mine);
    MPI_Win_lock(MPI_LOCK_SHARED, right, 0, w.win);
    MPI_Rget(at, 1, mine, right, w.at[right], LONG / 2, MPI_LONG, w.win, &reqs[0]);
    MPI_Type_free(&mine);
    MPI_Wait(&reqs[0], MPI_STATUS_IGNORE);
    for (int i = 0; i < LONG / 2; i++) wrong += at[2 * i] != value(right, i);
    CHECK_EQ(wrong, 0);
    MPI_Win_unlock(right, w.win);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Changes: the buffers are free after the wait, all is there after the flush, and what one origin adds up is in its order. */
static void changes(void)
{
    enum { TIMES = 300 };
    long x[TIMES], old[TIMES][2], *wide = malloc(LONG * sizeof *wide);
    int wrong = 0;
    memset(w.base, 0, ROOM);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, w.win);
    for (int i = 0; i < TIMES; i++) {
        x[i] = i + 1;
        MPI_Rget_accumulate(&x[i], 1, MPI_LONG, old[i], 1, MPI_LONG, right, w.at[right], 1, MPI_LONG, MPI_SUM, w.win, &reqs[i]);
    }
    for (int i = TIMES - 1; i >= 0; i--) {
        MPI_Wait(&reqs[i], MPI_STATUS_IGNORE);
        wrong += old[i][0] != (long)i * (i + 1) / 2; /* nobody else adds there */
    }
    CHECK_EQ(wrong, 0);
    for (int i = 0; i < TIMES; i++) {
        MPI_Rput(&x[i], 1, MPI_LONG, right, w.at[right] + 8 + i * 8, 1, MPI_LONG, w.win, &reqs[i]);
        MPI_Wait(&reqs[i], MPI_STATUS_IGNORE);
        x[i] = -1;
        MPI_Raccumulate(&(long){1}, 1, MPI_LONG, right, w.at[right], 1, MPI_LONG, MPI_SUM, w.win, &reqs[i]);
    }
    MPI_Waitall(TIMES, reqs, MPI_STATUSES_IGNORE);
    for (int i = 0; i < LONG; i++) wide[i] = i;
    MPI_Rput(wide, 1, every2nd, right, w.at[right] + MANY * 8, 1, every2nd, w.win, &reqs[0]);
    MPI_Rput(wide, LONG / 2, MPI_LONG, right, w.at[right] + (MANY + LONG) * 8, LONG / 2, MPI_LONG, w.win, &reqs[1]);
    MPI_Waitall(2, reqs, MPI_STATUSES_IGNORE);
    memset(wide, 0x11, LONG * sizeof *wide);
    MPI_Win_unlock_all(w.win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w.win);
    const long *at = (const long *)(const void *)w.base;
    CHECK_EQ(at[0], (long)TIMES * (TIMES + 1) / 2 + TIMES);
    for (int i = 0; i < TIMES; i++) wrong += at[1 + i] != i + 1;
    for (int i = 0; i < LONG; i++) wrong += at[MANY + i] != (i % 2 ? 0 : i);
    for (int i = 0; i < LONG / 2; i++) wrong += at[MANY + LONG + i] != i;
    CHECK_EQ(wrong, 0);
    MPI_Win_unlock(rank, w.win);
    MPI_Barrier(MPI_COMM_WORLD);
    free(wide);
}

static void start_one(int what, long *x, long *old, MPI_Request *q)
{
    MPI_Aint at = w.at[1];
    if (what == 0) MPI_Rget(old, 1, MPI_LONG, 1, at, 1, MPI_LONG, w.win, q);
    if (what == 1) MPI_Rput(x, 1, MPI_LONG, 1, at, 1, MPI_LONG, w.win, q);
    if (what == 2) MPI_Raccumulate(x, 1, MPI_LONG, 1, at, 1, MPI_LONG, MPI_SUM, w.win, q);
    if (what == 3) MPI_Rget_accumulate(x, 1, MPI_LONG, old, 1, MPI_LONG, 1, at, 1, MPI_LONG, MPI_SUM, w.win, q);
}

/* The target calls nothing of MPI until it sees a file, which the origin makes once the call has returned. */
static void waits_for_nobody(void)
{
    static const struct timespec a_moment = {0, 1000000};
    enum { MOMENTS = 5000 };
    char name[200] = "";
    struct stat there;
    long x = 5, old = -1;
    const char *dir = getenv("TMPDIR");
    if (rank == 0) snprintf(name, sizeof name, "%.150s/godwit-rma-requests-%d", dir ? dir : "/tmp", (int)getpid());
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    memset(w.base, 0, 8);
    MPI_Win_lock_all(0, w.win);
    if (rank == 0)
        MPI_Fetch_and_op(&x, &old, MPI_LONG, 1, w.at[1], MPI_NO_OP, w.win), MPI_Win_flush(1, w.win); /* they are connected */
    for (int what = 0; what < 4; what++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            MPI_Request q;
            start_one(what, &x, &old, &q);
            int fd = open(name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
            CHECK(fd >= 0);
            close(fd);
            MPI_Wait(&q, MPI_STATUS_IGNORE);
            MPI_Win_flush(1, w.win);
            CHECK_EQ(old, what < 3 ? 0 : 10);
        } else if (rank == 1) {
            int moments = 0;
            while (stat(name, &there) != 0 && moments < MOMENTS) moments++, nanosleep(&a_moment, NULL);
            CHECK(moments < MOMENTS);
        }
        MPI_Barrier(MPI_COMM_WORLD); /* it has been seen */
        if (rank == 0) unlink(name);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(w.win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) CHECK_EQ(*(const long *)(const void *)w.base, 15);
}

/* Memory that is not attached: the call says so, or the wait of its request, to the window's handler and not to that of a communicator. */
static void refused(void)
{
    long x;
    int class;
    MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN);
    MPI_Win_lock_all(0, w.win);
    int rc = MPI_Rget(&x, 1, MPI_LONG, right, 8, 1, MPI_LONG, w.win, &reqs[0]);
    if (rc == MPI_SUCCESS) rc = MPI_Wait(&reqs[0], MPI_STATUS_IGNORE);
    MPI_Error_class(rc, &class);
    CHECK_EQ(class, MPI_ERR_RMA_RANGE);
    MPI_Win_unlock_all(w.win);
    MPI_Win_set_errhandler(w.win, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    right = (rank + 1) % size;
    in = malloc(ROOM);
    MPI_Type_vector(LONG / 2, 1, 2, MPI_LONG, &every2nd);
    MPI_Type_commit(&every2nd);
    int is_apart = size == 2 && !is_one_node(MPI_COMM_WORLD);
    for (int kind = 0; kind < KINDS; kind++) {
        window_make(&w, kind, ROOM);
        backwards();
        flushed(0);
        if (kind < 4) flushed(1);
        freed();
        types();
        changes();
        if (is_apart) waits_for_nobody();
        if (kind == 4) refused();
        window_free(&w);
    }
    MPI_Type_free(&every2nd);
    free(in);
    return test_end();
}
