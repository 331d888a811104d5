/* memory.c -- symmetric memory: variables of the program and blocks of the heap, their values before, meanwhile and behind, a process that is
 * forked; initialised a second time.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 1000 };
static int zeros[N], initialised[N] = {7, 8, 9};
int global = 5;
static char large[64 << 20];
static const int constant = 3;

static void variables(void)
{
    int to = (me + 1) % pes, from = (me + pes - 1) % pes, *there, local = 0;
    zeros[0] = 0;
    CHECK(initialised[2] == 9 && global == 5 && constant == 3);
    shmem_barrier_all();
    shmem_int_p(&zeros[0], me + 1, to);
    shmem_int_put(&initialised[10], &me, 1, to);
    CHECK(shmem_int_g(&initialised[1], to) == 8);
    shmem_barrier_all();
    CHECK(zeros[0] == from + 1 && initialised[10] == from);
    CHECK(shmem_addr_accessible(zeros, to) && shmem_addr_accessible(&global, to) &&
          shmem_addr_accessible(&large[sizeof large - 1], to));
    CHECK(!shmem_addr_accessible(&local, to) && !shmem_addr_accessible(&constant, to));
    CHECK(shmem_ptr(&global, me) == &global && !shmem_ptr(&local, me));
    there = shmem_ptr(&zeros[1], to);
    if (there) *there = me + 100;
    shmem_barrier_all();
    if (shmem_ptr(&zeros[1], from)) CHECK(zeros[1] == from + 100);
    shmem_int_atomic_add(&global, 1, 0);
    shmem_barrier_all();
    CHECK(global == (me ? 5 : 5 + pes));
    shmem_barrier_all();
    global = 5;
}

/* What one of the two writes is not the other's. */
static void forked(void)
{
    int status = -1, ends[2];
    char byte = 0;
    CHECK(pipe(ends) == 0);
    zeros[2] = 1;
    pid_t child = fork();
    if (child == 0) {
        int is_right = read(ends[0], &byte, 1) == 1 && zeros[2] == 1;
        zeros[2] = 3;
        _exit(!is_right);
    }
    zeros[2] = 2;
    CHECK(write(ends[1], "", 1) == 1 && waitpid(child, &status, 0) == child && status == 0 && zeros[2] == 2);
    close(ends[0]);
    close(ends[1]);
}

static void blocks(void)
{
    int to = (me + 1) % pes, from = (me + pes - 1) % pes;
    CHECK(!shmem_malloc(0) && !shmem_calloc(0, 4) && !shmem_realloc(NULL, 0));
    shmem_free(NULL);
    int *a = shmem_malloc(N * sizeof *a), *c = shmem_calloc(N, sizeof *c);
    char *b = shmem_align(4096, 10);
    CHECK(a && c && b && (uintptr_t)b % 4096 == 0 && (uintptr_t)a % 64 == 0 && c[0] == 0 && c[N - 1] == 0);
    for (int i = 0; i < N; i++) a[i] = i;
    shmem_barrier_all(); /* all have looked at c */
    shmem_int_put(c, a, N, to);
    shmem_barrier_all();
    CHECK(c[N - 1] == N - 1);
    a = shmem_realloc(a, 100 * N * sizeof *a);
    CHECK(a && a[N - 1] == N - 1);
    shmem_int_p(&a[100 * N - 1], me, to);
    shmem_barrier_all();
    CHECK(a[100 * N - 1] == from);
    shmem_free(b);
    shmem_free(c);
    shmem_free(a);
    void *again = shmem_malloc_with_hints(8, 0);
    CHECK(again);
    shmem_free(again);
}

int main(void)
{
    initialised[500] = 11;
    for (int i = 0; i < 2; i++) {
        begin();
        CHECK(initialised[500] == 11 + i && large[12345] == 0);
        variables();
        forked();
        blocks();
        initialised[500]++;
        shmem_finalize();
        if (initialised[500] != 12 + i || zeros[2] != 2 || initialised[0] != 7) return 1;
    }
    return 0;
}
