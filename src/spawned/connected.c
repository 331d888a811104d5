/* connected.c -- jobs that are connected fail together (MPI 4.1 section 11.10.4); those that never met, or have disconnected, do not.
 *
 * Each rank's slot lists the worlds that it is connected with.  The mpiexec of a job that fails sends a signal to theirs, which holds
 * the number of its world and the exit status; they end their jobs and send it on.  So it reaches all that are connected in any way,
 * also jobs that were started apart.  A failure of independent jobs only shows in the exit status of the mpiexec that all began with.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/os.h"
#include "boot/segment.h"
#include "boot/world.h"
#include "job/job.h"
#include "job/say.h"
#include "spawned/connected.h"
#include "verdict/stack.h"

/* The word of the signal: the uid of the failed world without its last byte, which holds the exit status. */
static const uint64_t number = ~UINT64_C(0xff);

int connected_signal(void) { return SIGRTMIN + 7; }

void connected_open(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, connected_signal());
    sigprocmask(SIG_BLOCK, &set, NULL);
}

/* The pid of the mpiexec that the segment at this home names; 0: that job has none; -1: the job is gone. */
static pid_t launcher_of(const struct boot_home *home)
{
    struct boot_head h;
    uint64_t bytes;
    int file = boot_other_look(home, &h, &bytes);
    if (file < 0) return -1;
    close(file);
    return h.launcher_pid;
}

/* Is the rank in MPI?  After MPI_Finalize it is connected with no job. */
static bool counts(const struct boot_rank *slot)
{
    uint32_t phase = atomic_load_explicit(&slot->phase, memory_order_acquire);
    return phase == BOOT_RUNNING || phase == BOOT_INIT || phase == BOOT_ABORTED;
}

bool connected_has(const struct job *j, uint64_t uid)
{
    for (int i = 0; i < j->n; i++) {
        const struct boot_rank *slot = job_slot(j, i);
        if (!counts(slot)) continue;
        if ((int32_t)atomic_load_explicit(&slot->connections_more, memory_order_relaxed) > 0)
            return true; /* more connections than the slot has room for: that world may be among them */
        for (int k = 0; k < BOOT_CONNECTIONS; k++)
            if (((atomic_load_explicit(&slot->connections[k].uid, memory_order_acquire) ^ uid) & number) == 0) return true;
    }
    return false;
}

/* Checks of a pid that another process has written: the mpiexec of a world holds its segment; a process without mpiexec is its home. */
static bool is_mpiexec_of(pid_t pid, const struct boot_home *home)
{
    struct boot_head h;
    uint64_t bytes;
    int fd = pid == home->pid ? boot_other_look(home, &h, &bytes) : -1;
    if (fd >= 0 && h.launcher_pid != pid) {
        close(fd);
        fd = -1;
    }
    if (fd < 0) fd = verdict_jobs_segment_open(pid, &h);
    if (fd >= 0) close(fd);
    return fd >= 0 && h.uid == home->uid;
}

static bool is_home(pid_t pid, const struct boot_home *home)
{
    struct boot_head h;
    uint64_t bytes;
    int fd = pid == home->pid ? boot_other_look(home, &h, &bytes) : -1;
    if (fd >= 0) close(fd);
    return fd >= 0 && h.home_pid == pid && h.launcher_pid == 0;
}

/* Is it a process of our user?  Without /proc the kernel says so by letting us signal it: root any, of which is_it() is asked. */
static bool is_of_us(pid_t pid)
{
    char path[32];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    return gw_has_proc() ? stat(path, &st) == 0 && st.st_uid == geteuid() : kill(pid, 0) == 0;
}

/* Signals a process whose pid another process has written.  It must belong to our user and pass is_it(); a pidfd ensures that no other
 * process with the same pid gets the signal. */
static bool signal_if(pid_t pid, int sig, uint64_t word, const struct boot_home *home,
                      bool (*is_it)(pid_t, const struct boot_home *))
{
    siginfo_t info = {.si_signo = sig, .si_code = SI_QUEUE};
    int sent = -1, handle = (int)syscall(SYS_pidfd_open, pid, 0);
    if (handle < 0 && errno != ENOSYS && errno != EPERM) return false;
    if (is_of_us(pid) && is_it(pid, home)) {
        info.si_pid = getpid();
        info.si_uid = getuid();
        info.si_value.sival_ptr = (void *)(uintptr_t)word;
        if (handle >= 0) sent = (int)syscall(SYS_pidfd_send_signal, handle, sig, &info, 0);
        if (handle < 0 || (sent != 0 && errno == ENOSYS)) sent = sigqueue(pid, sig, info.si_value); /* an old kernel, a sandbox */
    }
    if (handle >= 0) close(handle);
    return sent == 0;
}

static void tell(const struct job *j, const struct boot_connection *t, int status)
{
    /* Acquire: see boot_connection(). */
    struct boot_home home = {.uid = atomic_load_explicit(&t->uid, memory_order_acquire)};
    home.pid = atomic_load_explicit(&t->pid, memory_order_relaxed);
    home.fd = atomic_load_explicit(&t->fd, memory_order_relaxed);
    pid_t launcher = home.uid ? launcher_of(&home) : -1;
    if (launcher > 0)
        signal_if(launcher, connected_signal(), (j->head->uid & number) | (uint64_t)(status & 0xff), &home, is_mpiexec_of);
    if (launcher == 0 && signal_if(home.pid, SIGTERM, 0, &home, is_home)) /* a process without mpiexec would wait for ever */
        say_line("process %d, with which this job is connected, ends now; it has no mpiexec", home.pid);
}

void connected_notify(const struct job *j, int status)
{
    if (j->name[0] && !j->met) return; /* the parents get an answer instead */
    for (int i = 0; i < j->n; i++) {
        const struct boot_rank *slot = job_slot(j, i);
        for (int k = 0; k < BOOT_CONNECTIONS && counts(slot); k++) tell(j, &slot->connections[k], status);
    }
}

bool connected_signalled(const struct job *j, uint64_t word, int *status_out)
{
    if (!connected_has(j, word & number)) return false;
    *status_out = (int)(word & ~number);
    return true;
}
