/* keeper.c -- a small process that outlives mpiexec for a moment: when mpiexec has ended, for whatever reason, it kills the process
 * groups of the ranks and removes the folder of the PMIx server.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "job/child.h"
#include "job/job.h"
#include "job/keeper.h"

/* Shared by mpiexec, which writes, and the keeper, which reads it when mpiexec is gone. */
struct notes {
    int n;
    char folder[256];
    struct {
        _Atomic int32_t pid; /* of a living rank; 0: it has ended */
        uint64_t start;      /* see child_start_time() */
    } rank[];
};
static struct {
    struct notes *notes;
    struct job *job; /* NULL before keeper_start() */
    int n_restarts;  /* keepers that were killed and replaced */
} keeper;

void keeper_note(int rank, pid_t pid)
{
    assert(keeper.notes && rank >= 0 && rank < keeper.notes->n);
    if (pid) keeper.notes->rank[rank].start = child_start_time(pid);
    /* [K1] pairs with the acquire in keep(): a pid that is seen there has its start time. */
    atomic_store_explicit(&keeper.notes->rank[rank].pid, (int32_t)pid, memory_order_release);
}

void keeper_folder(const char *path)
{
    assert(keeper.notes && strlen(path) < sizeof keeper.notes->folder);
    snprintf(keeper.notes->folder, sizeof keeper.notes->folder, "%s", path);
}

static void keep(int pipe_fd)
{
    char byte;
    /* Signals to the foreground job of the terminal must not end the keeper. */
    setpgid(0, 0);
    for (int s = 1; s < 32; s++) signal(s, SIG_IGN);
    prctl(PR_SET_NAME, "mpiexec-keeper");
    close_range(pipe_fd + 1, ~0u, 0);
    for (int fd = 0; fd < pipe_fd; fd++) close(fd); /* so that it keeps no pipe open */
    while (read(pipe_fd, &byte, 1) < 0 && errno == EINTR) {}
    for (int i = 0; i < keeper.notes->n; i++) {
        int pid = atomic_load_explicit(&keeper.notes->rank[i].pid, memory_order_acquire); /* [K1] */
        if (pid > 0)
            child_stranger_group_kill(pid, keeper.notes->rank[i].start,
                                      SIGKILL); /* the rank itself has died with mpiexec and may be reaped */
    }
    if (keeper.notes->folder[0]) {
        char *argv[] = {"rm", "-rf", "--", keeper.notes->folder, NULL};
        execvp("rm", argv);
    }
    _exit(0);
}

static int fork_keeper(struct job *j)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) < 0) return errno;
    j->keeper = fork();
    if (j->keeper == 0) {
        close(fds[1]);
        keep(fds[0]);
    }
    close(fds[0]);
    if (j->keeper < 0) {
        int rc = errno;
        close(fds[1]);
        j->keeper = 0;
        return rc;
    }
    j->keeper_pipe = fds[1];
    return 0;
}

int keeper_start(struct job *j)
{
    assert(!keeper.job && j->n > 0);
    keeper.notes = mmap(NULL, sizeof *keeper.notes + sizeof keeper.notes->rank[0] * (size_t)j->n, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (keeper.notes == MAP_FAILED) return errno;
    keeper.notes->n = j->n;
    keeper.job = j;
    return fork_keeper(j);
}

void keeper_gone(struct job *j)
{
    enum { TIMES = 10 }; /* then keepers are killed on purpose; the ranks still die with mpiexec */
    close(j->keeper_pipe);
    j->keeper = 0;
    if (keeper.n_restarts++ < TIMES) fork_keeper(j);
}

void keeper_stop(struct job *j)
{
    if (j->keeper <= 0) return;
    close(j->keeper_pipe);
    child_reap(j->keeper);
    j->keeper = 0;
}

void keeper_end_all(void)
{
    if (keeper.job) keeper_stop(keeper.job); /* it kills the ranks' process groups */
    child_orphans_end(true);
}
