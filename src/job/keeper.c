/* keeper.c -- a small process that outlives mpiexec by a moment: when mpiexec is gone, however it went, it kills the process
 * groups of the ranks and removes the PMIx server's folder.
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

/* Shared with mpiexec: who lives. */
static struct notes {
    int n;
    char folder[256];
    struct {
        _Atomic int32_t pid;
        uint64_t start; /* see child_start_time() */
    } rank[];
} * notes;

static struct job *kept;

void keeper_note(int rank, pid_t pid)
{
    if (pid) notes->rank[rank].start = child_start_time(pid);
    /* [K1] pairs with the acquire in keep(): who is seen there has its start beside it. */
    atomic_store_explicit(&notes->rank[rank].pid, (int32_t)pid, memory_order_release);
}

void keeper_folder(const char *path) { snprintf(notes->folder, sizeof notes->folder, "%s", path); }

static void keep(int pipe_fd)
{
    char byte;
    /* A signal to the terminal's or the shell's job must not take the keeper. */
    setpgid(0, 0);
    for (int s = 1; s < 32; s++) signal(s, SIG_IGN);
    prctl(PR_SET_NAME, "mpiexec-keeper");
    close_range(pipe_fd + 1, ~0u, 0);
    for (int fd = 0; fd < pipe_fd; fd++) close(fd); /* holds nobody's pipe open */
    while (read(pipe_fd, &byte, 1) < 0 && errno == EINTR) {}
    for (int i = 0; i < notes->n; i++) {
        int pid = atomic_load_explicit(&notes->rank[i].pid, memory_order_acquire); /* [K1] */
        if (pid > 0)
            child_stranger_group_kill(pid, notes->rank[i].start, SIGKILL); /* they die with mpiexec, and are reaped by others */
    }
    if (notes->folder[0]) {
        char *argv[] = {"rm", "-rf", "--", notes->folder, NULL};
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
    notes =
        mmap(NULL, sizeof *notes + sizeof notes->rank[0] * (size_t)j->n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (notes == MAP_FAILED) return errno;
    notes->n = j->n;
    kept = j;
    return fork_keeper(j);
}

void keeper_gone(struct job *j)
{
    enum { TIMES = 10 }; /* somebody kills keepers on purpose: the ranks still die with us */
    static int n;
    close(j->keeper_pipe);
    j->keeper = 0;
    if (n++ < TIMES) fork_keeper(j);
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
    if (kept) keeper_stop(kept); /* it kills the ranks' process groups */
    child_orphans_end(true);
}
