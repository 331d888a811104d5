/* crash.c -- ranks that crash on purpose, for test/launch/crash.sh: crash HOW [RANK], and `recover`, whose handler must not be disturbed.
 *
 * before: handlers and what is ignored from before MPI_Init stay; chain, chained: a handler that ends the program, or calls the one before it;
 * child: one without MPI crashes; late: after MPI_Finalize; early, constructor: rank 0 before MPI_Init, before main(); deep: the stack is full; other PID: it gives itself out for that process;
 * sends, receives: rank 0 sends 1 MiB to the last rank, and the last page is no memory at the one or at the other.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static sigjmp_buf back;
static volatile int zero, caught;
static int *volatile nowhere = (int *)16;

static void handler(int sig)
{
    (void)sig;
    caught++;
    siglongjmp(back, 1);
}

__attribute__((noinline)) static void fall(const char *how)
{
    if (strcmp(how, "segv") == 0) *nowhere = 1;
    if (strcmp(how, "abort") == 0) abort();
    if (strcmp(how, "fpe") == 0) zero = 12345 / zero;
    if (strcmp(how, "ill") == 0) raise(SIGILL);
    zero++; /* so that the call is none at the end */
}

static void *thread(void *how)
{
    fall(how);
    return NULL;
}

/* Recovers from faults, and from a timer's ticks meanwhile. */
static int recover(void)
{
    struct sigaction a = {.sa_handler = handler};
    sigaction(SIGSEGV, &a, NULL);
    sigaction(SIGFPE, &a, NULL);
    for (int i = 0; i < 50; i++)
        if (sigsetjmp(back, 1) == 0) fall(i % 2 ? "segv" : "fpe");
    return caught != 50;
}

static struct sigaction previous;

static void leave(int sig)
{
    (void)sig;
    _exit(7);
}

static void pass_on(int sig, siginfo_t *si, void *context) { previous.sa_sigaction(sig, si, context); }

static void chain(const char *how)
{
    struct sigaction a = {.sa_handler = leave};
    if (strcmp(how, "chained") == 0) a = (struct sigaction){.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &a, &previous);
    fall("segv");
}

/* Signals of crashes do what they did: the program's handler, or nothing. */
static int is_kept(void)
{
    struct sigaction now;
    if (sigaction(SIGFPE, NULL, &now) != 0 || now.sa_handler != handler || sigaction(SIGILL, NULL, &now) != 0 ||
        now.sa_handler != SIG_IGN)
        return 0;
    if (sigsetjmp(back, 1) == 0) fall("fpe");
    raise(SIGILL);
    return caught == 1;
}

static int child_dies(void)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        fall("segv");
        _exit(0);
    }
    return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

__attribute__((noinline)) static int deep(volatile char *from)
{
    volatile char block[4096];
    block[0] = from[0];
    return deep(block) + block[0];
}

/* Wherever this process's number stands in the head of the job's segment. */
static void pretend(int pid)
{
    enum { HEAD = 1 << 20 };
    char line[512];
    unsigned long from, to;
    FILE *f = fopen("/proc/self/maps", "r");
    while (f && fgets(line, sizeof line, f)) {
        if (!strstr(line, "memfd:godwit") || sscanf(line, "%lx-%lx rw", &from, &to) != 2) continue;
        int *at = (int *)from, *end = (int *)(to - from > HEAD ? from + HEAD : to);
        for (; at < end; at++)
            if (*at == getpid()) *at = pid;
    }
    if (f) fclose(f);
}

static void message(int rank, int last, int is_bad)
{
    enum { BYTES = 1 << 20, PAGE = 4096 };
    char *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) abort();
    if (is_bad) mprotect(p + BYTES - PAGE, PAGE, PROT_NONE);
    if (rank == 0) MPI_Send(p, BYTES, MPI_BYTE, last, 1, MPI_COMM_WORLD);
    if (rank == last) MPI_Recv(p, BYTES, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

__attribute__((noinline)) static void before_init(void)
{
    const char *rank = getenv("GODWIT_RANK");
    if (rank && strcmp(rank, "0") == 0) fall("segv");
}
__attribute__((constructor)) static void before_main(void)
{
    if (getenv("GW_CRASH_CONSTRUCTOR")) before_init();
}

/* Called as gdb: what signals it begins with. */
static int look(void)
{
    char text[4096];
    FILE *from = fopen("/proc/self/status", "r"), *to = fopen(getenv("GW_CRASH_STATUS"), "w");
    while (from && to && fgets(text, sizeof text, from)) fputs(text, to);
    return !from || !to || fclose(to) != 0;
}

int main(int argc, char **argv)
{
    if (strcmp(argv[0], "gdb") == 0) return look();
    int rank, size, failed = 0;
    if (argc > 1 && strcmp(argv[1], "early") == 0) before_init();
    if (argc > 1 && strcmp(argv[1], "before") == 0) {
        signal(SIGFPE, handler);
        signal(SIGILL, SIG_IGN);
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *how = argc > 1 ? argv[1] : "recover";
    int who = argc > 2 ? atoi(argv[2]) : size - 1;
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(how, "recover") == 0) {
        failed = recover();
        MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (rank == 0) printf("recovered %d\n", !failed);
    } else if (strcmp(how, "before") == 0 || strcmp(how, "child") == 0) {
        failed = how[0] == 'b' ? !is_kept() : !child_dies();
        MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (rank == 0) printf("kept %d\n", !failed);
    } else if (strcmp(how, "late") == 0) {
        MPI_Finalize();
        if (rank == who) fall("segv");
        return 0;
    } else if (strcmp(how, "sends") == 0 || strcmp(how, "receives") == 0) {
        message(rank, size - 1, rank == (how[0] == 's' ? 0 : size - 1));
    } else if (rank == who && strncmp(how, "chain", 5) == 0) {
        chain(how);
    } else if (rank == who && strcmp(how, "deep") == 0) {
        failed = deep((char[]){1});
    } else if (strcmp(how, "other") == 0) {
        pretend(who);
        fall("segv");
    } else if (rank == who || who < 0) {
        pthread_t t;
        if (strncmp(how, "thread-", 7) == 0 && pthread_create(&t, NULL, thread, (void *)(how + 7)) == 0)
            pthread_join(t, NULL);
        else
            fall(how);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return failed;
}
