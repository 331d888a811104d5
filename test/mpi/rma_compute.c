/* rma_compute.c -- one-sided is one-sided: the last rank locks, puts, gets, counts and flushes at all others, which meanwhile compute and make no
 * call of MPI.  They go on computing until the last rank has done all of it, which it says in memory that is not MPI's; so where nobody serves
 * them this never ends.  The thread that does it is there while a window needs it, and at no other time.
 *
 *   rma_compute [off|thread]: off: with GODWIT_RMA_THREAD=off no thread starts; thread: only what is done, not who does it
 * users.md row 15
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "rma_check.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 30, LONG = 300000, BYTES = 64 + LONG, COUNTED = 0, PUT = 8, BLOCK = 64 };

/* Seen by all ranks, which are on one host. */
static struct said {
    atomic_int computing, is_over;
} * said;

static void said_make(void)
{
    char path[64];
    int fd, pid = getpid();
    MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "/tmp/godwit-rma-compute-%d", pid);
    if (rank == 0) close(open(path, O_CREAT | O_EXCL | O_RDWR, 0600));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK((fd = open(path, O_RDWR)) >= 0);
    CHECK_EQ(rank == 0 ? ftruncate(fd, 4096) : 0, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    said = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(said != MAP_FAILED);
    close(fd);
    if (rank == 0) unlink(path);
}

static int threads(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/task");
    for (struct dirent *e; d && (e = readdir(d));) n += e->d_name[0] != '.';
    if (d) closedir(d);
    return n;
}

static void compute(void)
{
    volatile double x = 1;
    atomic_fetch_add(&said->computing, 1);
    while (!atomic_load(&said->is_over)) x = x * 1.0000001;
    CHECK(x >= 1);
}

static void access_all(struct window *w, int kind)
{
    static unsigned char out[LONG], in[LONG];
    long one = 1, old, v;
    while (atomic_load(&said->computing) < size - 1) usleep(100);
    for (int i = 0; i < ROUNDS; i++)
        for (int t = 0; t < size - 1; t++) {
            v = 1000L * t + i;
            MPI_Win_lock(i % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, t, 0, w->win);
            MPI_Put(&v, 1, MPI_LONG, t, w->at[t] + PUT, 1, MPI_LONG, w->win);
            MPI_Win_unlock(t, w->win);
            MPI_Win_lock(MPI_LOCK_SHARED, t, 0, w->win);
            MPI_Get(&old, 1, MPI_LONG, t, w->at[t] + PUT, 1, MPI_LONG, w->win);
            MPI_Win_unlock(t, w->win);
            CHECK_EQ(old, v);
        }
    MPI_Win_lock_all(0, w->win);
    for (int i = 0; i < ROUNDS; i++)
        for (int t = 0; t < size - 1; t++) {
            MPI_Fetch_and_op(&one, &old, MPI_LONG, t, w->at[t] + COUNTED, MPI_SUM, w->win);
            MPI_Win_flush(t, w->win);
            CHECK_EQ(old, 2 * i);
            MPI_Accumulate(&one, 1, MPI_LONG, t, w->at[t] + COUNTED, 1, MPI_LONG, MPI_SUM, w->win);
        }
    for (int t = 0; t < size - 1; t++) {
        pattern_fill(out, LONG, (unsigned)(kind + t));
        MPI_Put(out, LONG, MPI_BYTE, t, w->at[t] + BLOCK, LONG, MPI_BYTE, w->win);
        MPI_Win_flush(t, w->win);
        MPI_Get(in, LONG, MPI_BYTE, t, w->at[t] + BLOCK, LONG, MPI_BYTE, w->win);
        MPI_Win_flush(t, w->win);
        CHECK_EQ(pattern_wrong(in, LONG, (unsigned)(kind + t)), -1);
    }
    MPI_Win_unlock_all(w->win);
    atomic_store(&said->is_over, 1);
}

static void served(int kind)
{
    struct window w;
    int level = -1, other = -1;
    MPI_Query_thread(&level);
    window_make(&w, kind, BYTES);
    memset(w.base, 0, BYTES);
    MPI_Query_thread(&other);
    CHECK_EQ(other, level); /* a thread of the library is none of the program's business */
    if (rank == 0) atomic_store(&said->computing, 0), atomic_store(&said->is_over, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank < size - 1) {
        pid_t child = fork(); /* of a process with such a thread */
        if (child == 0) _exit(7);
        int status = 0;
        CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
        compute();
        const long *mine = (const long *)(const void *)w.base;
        MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w.win);
        CHECK(mine[0] == 2 * ROUNDS && mine[1] == 1000L * rank + ROUNDS - 1);
        CHECK_EQ(pattern_wrong((unsigned char *)w.base + BLOCK, LONG, (unsigned)(kind + rank)), -1);
        MPI_Win_unlock(rank, w.win);
    } else {
        access_all(&w, kind);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    window_free(&w);
}

/* ---- what a tool hears of the thread: nothing --------------------------------------------------------------------------------- */
static pthread_t main_thread;
static atomic_int strays;

static void on_slept(MPI_T_event_instance e, MPI_T_event_registration r, MPI_T_cb_safety safety, void *user)
{
    (void)e, (void)r, (void)safety, (void)user;
    if (!pthread_equal(pthread_self(), main_thread)) atomic_fetch_add(&strays, 1);
}

static void tool_listens(void)
{
    int level, i;
    MPI_T_event_registration r;
    main_thread = pthread_self();
    CHECK_EQ(MPI_T_init_thread(MPI_THREAD_SINGLE, &level), MPI_SUCCESS);
    CHECK_EQ(MPI_T_event_get_index("slept", &i), MPI_SUCCESS);
    CHECK_EQ(MPI_T_event_handle_alloc(i, NULL, MPI_INFO_NULL, &r), MPI_SUCCESS);
    CHECK_EQ(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_INFO_NULL, NULL, on_slept), MPI_SUCCESS);
}

/* The thread is there while a window needs it. */
static void thread_comes_and_goes(int is_off, int before)
{
    MPI_Win win, other;
    MPI_Comm here;
    MPI_Info info;
    long *base;
    int more = is_off ? 0 : 1;
    CHECK_EQ(threads(), before);
    MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_SELF, &base, &win);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Win_allocate(8, 1, MPI_INFO_NULL, here, &base, &other);
    CHECK_EQ(threads(), before); /* what does not leave the node needs none */
    MPI_Win_free(&other);
    MPI_Win_free(&win);
    MPI_Comm_free(&here);
    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "true");
    MPI_Win_allocate(8, 1, info, MPI_COMM_WORLD, &base, &win);
    CHECK_EQ(threads(), before); /* nobody will access it behind its owner's back */
    MPI_Info_set(info, "no_locks", "false");
    MPI_Win_set_info(win, info);
    CHECK_EQ(threads(), before + more);
    MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &other);
    MPI_Win_free(&win);
    CHECK_EQ(threads(), before + more);
    MPI_Win_free(&other);
    CHECK_EQ(threads(), before);
    MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    int is_off = argc > 1 && strcmp(argv[1], "off") == 0, is_threaded = argc > 1 && strcmp(argv[1], "thread") == 0;
    int sum;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* the network is open */
    CHECK_EQ(sum, size * (size - 1) / 2);
    said_make();
    tool_listens();
    if (!is_threaded) thread_comes_and_goes(is_off, threads());
    for (int kind = 0; kind < KINDS && !is_off && size > 1; kind++) served(kind);
    CHECK_EQ(atomic_load(&strays), 0);
    CHECK_EQ(MPI_T_finalize(), MPI_SUCCESS);
    return test_end();
}
