/* net_late.c -- the first message to another node is sent while the rank there does not call MPI: MPI_Isend returns all the same, and the
 * program's signal handlers outlive the opening of the network.  With "silent": nothing is sent.
 *
 * users.md row 19
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <signal.h>
#include <unistd.h>

#include "p2p_check.h"

static void on_signal(int s) { (void)s; }

static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGABRT, SIGINT, SIGTERM, SIGUSR1};
enum { SIGNALS = sizeof signals / sizeof signals[0], N = 1000 };

/* Without MPI: until the file is there, at most a minute. */
static int file_appears(const char *path)
{
    for (int i = 0; i < 6000; i++) {
        if (access(path, F_OK) == 0) return 1;
        usleep(10000);
    }
    return 0;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (argc > 1 && strcmp(argv[1], "silent") == 0) return MPI_Finalize();
    test_begin();
    int last = size - 1, in[N], out[N];
    char path[64];
    snprintf(path, sizeof path, "/tmp/gwtest-late-%d", (int)getppid()); /* of mpiexec */
    struct sigaction mine = {.sa_handler = on_signal}, now;
    for (int i = 0; i < SIGNALS; i++) CHECK_EQ(sigaction(signals[i], &mine, NULL), 0);
    for (int i = 0; i < N; i++) out[i] = 7 * i + rank;
    if (rank == 0 && last > 0) {
        MPI_Request q[2];
        MPI_Isend(out, N, MPI_INT, last, 1, MPI_COMM_WORLD, &q[0]);
        MPI_Irecv(in, N, MPI_INT, last, 2, MPI_COMM_WORLD, &q[1]);
        FILE *f = fopen(path, "w"); /* only now does the other one go on */
        CHECK(f != NULL);
        if (f) fclose(f);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        for (int i = 0; i < N; i++) CHECK_EQ(in[i], 7 * i + last);
        unlink(path);
    } else if (rank == last && last > 0) {
        CHECK(file_appears(path));
        MPI_Recv(in, N, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++) CHECK_EQ(in[i], 7 * i);
        MPI_Send(out, N, MPI_INT, 0, 2, MPI_COMM_WORLD);
    }
    usleep(900000); /* ranks that sent nothing have the network opened behind their backs */
    for (int i = 0; i < SIGNALS; i++) {
        CHECK_EQ(sigaction(signals[i], NULL, &now), 0);
        CHECK(now.sa_handler == on_signal);
    }
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(sum, size * (size - 1) / 2);
    return test_end();
}
