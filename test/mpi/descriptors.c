/* descriptors.c -- what a rank starts inherits no descriptor that the library has opened, nor the two that a launcher gives to a rank: the
 * segment that GODWIT_BOOT names, PMI's socket.  By fork and exec, by system(), before messages and after, in spawned jobs as well (arg spawn).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

#include "p2p_check.h"

enum { MOST = 1024 };
static char before[MOST]; /* open when this rank began, and not the segment */

/* Those that are open, and what they refer to; not which part of the library opened them. */
static void look(void (*each)(int fd, const char *to))
{
    DIR *d = opendir("/proc/self/fd");
    CHECK(d != NULL);
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[300], to[256] = "";
        int fd = atoi(e->d_name);
        if (e->d_name[0] == '.' || fd == dirfd(d) || fd < 3 || fd >= MOST) continue;
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(path, to, sizeof to - 1);
        if (n > 0) each(fd, to);
    }
    if (d) closedir(d);
}

static void note(int fd, const char *to)
{
    int segment = -1;
    const char *boot = getenv("GODWIT_BOOT"), *pmi = getenv("PMI_FD");
    int launcher = pmi ? atoi(pmi) : -1;
    (void)to;
    if (boot) sscanf(boot, "fd=%d", &segment);
    if (fd != segment && fd != launcher) before[fd] = 1;
}

static int found;
static void complain(int fd, const char *to)
{
    if (before[fd]) return;
    fprintf(stderr, "rank %d: what it starts has descriptor %d: %s\n", rank, fd, to);
    found++;
}

/* In what a rank has started: the descriptors that it may have, and then its rank. */
static int child(int argc, char **argv)
{
    rank = atoi(argv[2]);
    for (int i = 3; i < argc; i++) before[atoi(argv[i])] = 1;
    look(complain);
    return found || failures;
}

static void start(const char *self)
{
    char words[MOST][8], number[16], *argv[MOST + 4] = {(char *)self, "child", number}, line[8192];
    int n = 3, status = -1;
    snprintf(number, sizeof number, "%d", rank);
    snprintf(line, sizeof line, "%s child %d", self, rank);
    for (int i = 0; i < MOST; i++) {
        if (!before[i]) continue;
        snprintf(words[i], sizeof words[i], "%d", i);
        snprintf(line + strlen(line), sizeof line - strlen(line), " %d", i);
        argv[n++] = words[i];
    }
    pid_t pid = fork();
    if (pid == 0) {
        execv(self, argv);
        _exit(127);
    }
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
    CHECK_EQ(system(line), 0);
}

static void talk(void)
{
    int in = -1, flag;
    for (int by = 1; by < size; by++) {
        MPI_Sendrecv(&rank, 1, MPI_INT, (rank + by) % size, 0, &in, 1, MPI_INT, (rank + size - by) % size, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        CHECK_EQ(in, (rank + size - by) % size);
    }
    for (double t = MPI_Wtime(); MPI_Wtime() - t < 2.5;) MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    char self[4096] = "";
    if (argc > 2 && strcmp(argv[1], "child") == 0) return child(argc, argv);
    look(note);
    CHECK(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    MPI_Init(&argc, &argv);
    test_begin();
    int is_late = argc > 1 && strcmp(argv[1], "late") == 0; /* MPI_Init has connected, and libfabric's connections take a moment */
    if (!is_late) start(self);
    talk();
    start(self);
    if (is_late) return test_end();
    if (argc > 1 && strcmp(argv[1], "spawn") == 0) {
        MPI_Comm children;
        char *words[] = {"spawned", NULL};
        CHECK_EQ(MPI_Comm_spawn(self, words, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE), MPI_SUCCESS);
        start(self);
        MPI_Comm_disconnect(&children);
    } else if (argc > 1) {
        MPI_Comm parent;
        MPI_Comm_get_parent(&parent);
        start(self);
        MPI_Comm_disconnect(&parent);
    }
    return test_end();
}
