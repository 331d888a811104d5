/* citizen.c -- the library is a quiet guest: no signal handler, no environment variable, no file, no descriptor, no thread
 * is there after MPI_Init that was not there before; malloc is still libc's.
 *
 * users.md row 19
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;
static int bad;
#define EXPECT(cond, ...) \
    do { \
        if (!(cond)) { \
            fprintf(stderr, "citizen: " __VA_ARGS__); \
            fputc('\n', stderr); \
            bad = 1; \
        } \
    } while (0)

static int entries(const char *dir)
{
    int n = 0;
    DIR *d = opendir(dir);
    while (d && readdir(d)) n++;
    if (d) closedir(d);
    return n;
}

static unsigned long env_sum(void)
{
    unsigned long sum = 0;
    for (char **e = environ; *e; e++)
        for (char *c = *e; *c; c++) sum = sum * 31 + (unsigned char)*c;
    return sum;
}

int main(int argc, char **argv)
{
    struct sigaction before[65], after;
    memset(before, 0, sizeof before);
    for (int s = 1; s < 65; s++) sigaction(s, NULL, &before[s]);
    unsigned long env = env_sum();
    int fds = entries("/proc/self/fd"), tasks = entries("/proc/self/task"), rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int token = rank, sum = 0;
    MPI_Allreduce(&token, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(sum == ranks * (ranks - 1) / 2, "the sum of ranks is %d", sum);
    for (int s = 1; s < 65; s++) {
        memset(&after, 0, sizeof after);
        sigaction(s, NULL, &after);
        EXPECT(after.sa_handler == before[s].sa_handler, "the handler of signal %d was changed", s);
    }
    EXPECT(env_sum() == env, "the environment was changed");
    EXPECT(entries("/proc/self/task") == tasks, "a thread was started");
    /* A launcher's own descriptors may be closed, but none added. */
    EXPECT(entries("/proc/self/fd") <= fds, "descriptors: %d before, %d after", fds, entries("/proc/self/fd"));
    Dl_info info;
    EXPECT(dladdr((void *)(size_t)malloc, &info) && !strstr(info.dli_fname, "libmpi"), "malloc comes from %s", info.dli_fname);
    EXPECT(!dlsym(RTLD_DEFAULT, "fi_getinfo"), "libfabric was loaded");
    MPI_Finalize();
    return bad;
}
