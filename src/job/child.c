/* child.c -- child processes of mpiexec: waiting, signalling, reaping.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "job/child.h"
#include "base/base.h"
#include "base/time.h"

extern char **environ;

pid_t child_ended(pid_t pid, int *status_out)
{
    siginfo_t si = {0};
    int rc, tries = 0;
    do rc = waitid(pid > 0 ? P_PID : P_ALL, pid > 0 ? (id_t)pid : 0, &si, WEXITED | WNOHANG | WNOWAIT);
    while (rc < 0 && errno == EINTR && tries++ < 1000);
    if (rc < 0) return -1;
    if (si.si_pid == 0) return 0;
    if (si.si_code != CLD_EXITED && si.si_code != CLD_KILLED && si.si_code != CLD_DUMPED) return CHILD_STOPPED;
    *status_out = si.si_code == CLD_EXITED ? (si.si_status & 0xff) << 8 : si.si_status | (si.si_code == CLD_DUMPED ? 0x80 : 0);
    return si.si_pid;
}

void child_reap(pid_t pid)
{
    assert(pid > 1);
    siginfo_t si;
    while (waitid(P_PID, (id_t)pid, &si, WEXITED) < 0 && errno == EINTR) {
    } /* the call that child_ended() makes: both work, or none */
}

int64_t child_cpu_limit(pid_t pid, int sig, double *used_out)
{
    static const double about = 0.5; /* the kernel counts by its ticks, and here by the clock */
    struct rlimit limit;
    clockid_t clock;
    struct timespec used = {0};
    assert(pid > 1);
    if ((sig != SIGXCPU && sig != SIGKILL) || prlimit(pid, RLIMIT_CPU, NULL, &limit) < 0) return 0;
    if (clock_getcpuclockid(pid, &clock) == 0) clock_gettime(clock, &used);
    rlim_t allowed = sig == SIGXCPU ? limit.rlim_cur : limit.rlim_max;
    if (sig == SIGXCPU && allowed != RLIM_INFINITY && allowed > 1)
        allowed--; /* with the signal comes a second more, for its handler */
    *used_out = (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
    return allowed != RLIM_INFINITY && *used_out >= about * (double)allowed ? (int64_t)allowed : 0;
}

bool child_wait(pid_t pid, uint64_t until_ns)
{
    int status;
    while (child_ended(pid, &status) == 0) {
        if (gw_now_ns() > until_ns) return false;
        usleep(500);
    }
    return true;
}

void child_kill(pid_t pid, int sig)
{
    assert(pid >= 0 && sig > 0);
    if (pid > 0) kill(pid, sig);
}

static void (*size_signal)(int) = SIG_DFL; /* what SIGXFSZ did when mpiexec started */
void child_size_signal_ignore(void) { size_signal = signal(SIGXFSZ, SIG_IGN); }
void child_size_signal_reset(void) { signal(SIGXFSZ, size_signal); }

void child_signals_reset(void)
{
    child_size_signal_reset();
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
}

void child_group_kill(pid_t pid, int sig)
{
    assert(pid >= 0 && pid != 1 && sig > 0);            /* kill(-1) would signal every process of the user */
    if (pid > 0 && kill(-pid, sig) < 0) kill(pid, sig); /* it is not in a group of its own */
}

/* The text of /proc/PID/stat behind the name, which may contain any characters; NULL: the process is gone, or /proc is not readable. */
static const char *process_stat(pid_t pid, char *text, size_t cap)
{
    assert(cap > 1);
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, cap - 1);
    if (fd >= 0) close(fd);
    if (n <= 0) return NULL;
    text[n] = 0;
    const char *p = strrchr(text, ')');
    return p ? p + 1 : NULL;
}

uint64_t child_start_time(pid_t pid)
{
    char text[1024];
    unsigned long long start = 0;
    const char *p = process_stat(pid, text, sizeof text); /* the 22nd field is the 20th here */
    if (!p || sscanf(p, " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu", &start) != 1) return 0;
    return start;
}

pid_t child_parent_of(pid_t pid)
{
    char text[1024];
    int parent = 0;
    const char *p = process_stat(pid, text, sizeof text);
    return p && sscanf(p, " %*c %d", &parent) == 1 ? parent : 0;
}

bool child_runs(pid_t pid)
{
    char text[1024];
    const char *p = process_stat(pid, text, sizeof text);
    return p && p[1] && !strchr("ZX", p[1]);
}

void child_name(pid_t pid, char name_out[16])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    FILE *f = fopen(path, "re");
    if (!f || fscanf(f, "%15[^\n]", name_out) != 1) strcpy(name_out, "?");
    if (f) fclose(f);
}

bool child_is_ours(pid_t pid)
{
    enum { DEEP = 256 };
    pid_t me = getpid();
    for (int i = 0; i < DEEP && pid > 1 && pid != me; i++)
        if ((pid = child_parent_of(pid)) == me) return true;
    return false;
}

void child_stranger_group_kill(pid_t pid, uint64_t start, int sig)
{
    uint64_t now = start ? child_start_time(pid) : 0;
    if (now && now != start)
        return; /* a later process has this pid.  While a group has members, its number is not given to a process. */
    child_group_kill(pid, sig);
}

void child_output(const char *path, const char *const *argv, char *text_out, size_t cap)
{
    assert(cap > 1);
    int pipes[2];
    size_t n = 0;
    pid_t pid = -1;
    posix_spawn_file_actions_t files;
    text_out[0] = 0;
    if (pipe2(pipes, O_CLOEXEC) < 0) return;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, pipes[1], 1);
    posix_spawn_file_actions_adddup2(&files, pipes[1], 2);
    int rc = posix_spawnp(&pid, path, &files, NULL, (char *const *)(uintptr_t)argv, environ);
    posix_spawn_file_actions_destroy(&files);
    close(pipes[1]);
    while (rc == 0 && n + 1 < cap) {
        struct pollfd p = {.fd = pipes[0], .events = POLLIN};
        ssize_t got = poll(&p, 1, 5000) > 0 ? read(pipes[0], text_out + n, cap - 1 - n) : 0;
        if (got <= 0) break;
        n += (size_t)got;
    }
    text_out[n] = 0;
    close(pipes[0]);
    if (rc != 0) return;
    child_kill(pid, SIGKILL); /* its output has been read */
    child_reap(pid);
}
