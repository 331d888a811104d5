/* fork.c -- fork and system are safe and silent while messages are under way: a child that ends by _exit or exec changes nothing
 * for its parent, nor do its writes to the buffers that it inherited.
 *
 * users.md row 19 (and citizen.c)
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <sys/wait.h>
#include <unistd.h>

#include "p2p_check.h"

/* AddressSanitizer's allocator has locks of its own, which other threads may hold at a fork. */
#if defined __SANITIZE_ADDRESS__
#define LOCKS_ARE_OURS 0
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define LOCKS_ARE_OURS 0
#endif
#endif
#ifndef LOCKS_ARE_OURS
#define LOCKS_ARE_OURS 1
#endif

enum { N = 300000, ROUNDS = 10 };
static unsigned char in[N], out[N];

/* The child sees what the parent is sending, registered with a network or not. */
static void child(int how, int n, unsigned seed)
{
    if (pattern_wrong(in, n, seed) != -1) _exit(3);
    if (how % 3 == 0) {
        execl("/bin/true", "true", (char *)NULL);
        _exit(1);
    }
    memset(in, 0xee, N), memset(out, 0xdd, N);
    if (how % 3 == 1 || !LOCKS_ARE_OURS) _exit(0);
    free(malloc(1 << 20)); /* no lock is left taken */
    exit(0);               /* what the library leaves to be done at exit is not the child's */
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (int k = 0; k < ROUNDS; k++) {
        MPI_Request q[2];
        int n = k % 2 ? N : 100, status = -1, sum = 0;
        pattern_fill(in, n, (unsigned)(k + rank));
        memset(out, 0, N);
        MPI_Irecv(out, n, MPI_BYTE, from, k, MPI_COMM_WORLD, &q[0]);
        MPI_Isend(in, n, MPI_BYTE, to, k, MPI_COMM_WORLD, &q[1]);
        fflush(NULL);
        pid_t pid = fork();
        if (pid == 0) child(k, n, (unsigned)(k + rank));
        CHECK(pid > 0);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        CHECK_EQ(status, 0);
        CHECK_EQ(pattern_wrong(out, n, (unsigned)(k + from)), -1);
        CHECK_EQ(system("true"), 0);
        MPI_Allreduce(&k, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK_EQ(sum, k * size);
    }
    return test_end();
}
