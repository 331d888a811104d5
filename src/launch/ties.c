/* ties.c -- jobs that are connected fail together (MPI 4.1 section 11.10.4); those that never met, or have disconnected, do not.
 *
 * Each rank's slot lists the worlds that it is connected with.  The mpiexec of a job that fails sends a signal to theirs, which holds
 * the number of its world and the exit status; they end their jobs and send it on.  So it reaches all that are connected in any way,
 * also jobs that were started apart.  A failure of independent jobs only shows in the exit status of the mpiexec that all began with.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "launch/launch.h"

/* What the signal carries: the number without its last byte, and the exit status there. */
static const uint64_t number = ~UINT64_C(0xff);

int ties_signal(void)
{
    return SIGRTMIN + 7;
}

void ties_open(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, ties_signal());
    sigprocmask(SIG_BLOCK, &set, NULL);
}

/* The mpiexec of the world at this home, 0: it has none; -1: the world is gone. */
static pid_t launcher_of(uint64_t uid, int pid, int fd)
{
    char path[64];
    struct boot_head h = {0};
    snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return -1;
    bool is_it = pread(file, &h, sizeof h, 0) == sizeof h && h.magic == BOOT_MAGIC && h.version == GODWIT_SHM_VERSION &&
                 h.uid == uid;
    close(file);
    return is_it ? h.launcher_pid : -1;
}

/* Whoever has left MPI is connected with nobody. */
static bool counts(const struct boot_rank *slot)
{
    uint32_t phase = atomic_load_explicit(&slot->phase, memory_order_acquire);
    return phase == BOOT_RUNNING || phase == BOOT_INIT || phase == BOOT_ABORTED;
}

bool ties_has(const struct job *j, uint64_t uid)
{
    for (int i = 0; i < j->n; i++) {
        const struct boot_rank *slot = job_slot(j, i);
        if (!counts(slot)) continue;
        if ((int32_t)atomic_load_explicit(&slot->ties_more, memory_order_relaxed) > 0) return true; /* it may well be */
        for (int k = 0; k < BOOT_TIES; k++)
            if (((atomic_load_explicit(&slot->ties[k].uid, memory_order_acquire) ^ uid) & number) == 0) return true;
    }
    return false;
}

static void tell(const struct job *j, const struct boot_tie *t, int status)
{
    uint64_t uid = atomic_load_explicit(&t->uid, memory_order_acquire);
    int pid = atomic_load_explicit(&t->pid, memory_order_relaxed),
        fd = atomic_load_explicit(&t->fd, memory_order_relaxed);
    pid_t launcher = uid ? launcher_of(uid, pid, fd) : -1;
    union sigval v = {.sival_ptr = (void *)(uintptr_t)((j->head->uid & number) | (uint64_t)(status & 0xff))};
    if (launcher > 0) sigqueue(launcher, ties_signal(), v);
    if (launcher != 0 || pid <= 0) return;
    say("process %d, with which this job is connected, ends now; it has no mpiexec",
        pid); /* else it would wait for ever */
    kill(pid, SIGTERM);
}

void ties_tell(const struct job *j, int status)
{
    if (j->name[0] && !j->met) return; /* those who asked for it get an answer */
    for (int i = 0; i < j->n; i++) {
        const struct boot_rank *slot = job_slot(j, i);
        for (int k = 0; k < BOOT_TIES && counts(slot); k++) tell(j, &slot->ties[k], status);
    }
}

bool ties_heard(const struct job *j, uint64_t word, int *status_out)
{
    if (!ties_has(j, word & number)) return false;
    *status_out = (int)(word & ~number);
    return true;
}
