/* citizen.c -- the library is a quiet guest: no signal handler, no environment variable, no file, no descriptor, no thread
 * is there after MPI_Init that was not there before, but for the memory that the ranks share where no mpiexec of ours keeps it (one
 * descriptor, not inherited, by which other jobs find us); malloc is still libc's.
 *
 * users.md row 19
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;
static int bad;
#define EXPECT(cond, ...)                                                                                                          \
    do {                                                                                                                           \
        if (!(cond)) {                                                                                                             \
            fprintf(stderr, "citizen: " __VA_ARGS__);                                                                              \
            fputc('\n', stderr);                                                                                                   \
            bad = 1;                                                                                                               \
        }                                                                                                                          \
    } while (0)

static int entries(const char *dir)
{
    int n = 0;
    DIR *d = opendir(dir);
    while (d && readdir(d)) n++;
    if (d) closedir(d);
    return n;
}

/* Is this descriptor the memory that ranks share, kept from programs that we start? */
static int is_shared_memory(const char *name)
{
    char path[64], to[64] = "";
    int fd = atoi(name);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return readlink(path, to, sizeof to - 1) > 0 && !strncmp(to, "/memfd:godwit", 13) && (fcntl(fd, F_GETFD) & FD_CLOEXEC);
}

static int descriptors(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    for (struct dirent *e; d && (e = readdir(d));) n += !is_shared_memory(e->d_name);
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
    int fds = descriptors(), tasks = entries("/proc/self/task"), rank, ranks;
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
    EXPECT(descriptors() <= fds, "descriptors: %d before, %d after", fds, descriptors());
    Dl_info info;
    EXPECT(dladdr((void *)(size_t)malloc, &info) && !strstr(info.dli_fname, "libmpi"), "malloc comes from %s", info.dli_fname);
    EXPECT(!dlsym(RTLD_DEFAULT, "fi_getinfo"), "libfabric was loaded");
    MPI_Finalize();
    return bad;
}
