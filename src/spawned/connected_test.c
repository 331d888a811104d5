/* connected_test.c -- a signal goes to the mpiexec of a connected job, and to no other process whose number somebody wrote there; nor does
 * `mpiexec --stack` of root look at one.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "boot/segment.h"
#include "boot/world.h"
#include "job/job.h"
#include "spawned/connected.h"
#include "verdict/stack.h"

#include "../../test/unit.h"

enum { UID = 0x1100, OURS = 0x2200, STATUS = 7 };

/* A segment as mpiexec makes it. */
static int segment(int launcher, int home)
{
    struct boot_head h = {.magic = BOOT_MAGIC, .version = GODWIT_SHM_VERSION, .nlocal = 1, .size = 1, .uid = UID};
    h.ranks_offset = BOOT_RANKS_OFFSET;
    h.shm_offset = h.bytes = boot_shm_offset(1);
    h.launcher_pid = launcher;
    h.home_pid = home;
    int fd = memfd_create("godwit", MFD_ALLOW_SEALING);
    CHECK(fd >= 0 && ftruncate(fd, (off_t)h.bytes) == 0 && pwrite(fd, &h, sizeof h, 0) == (ssize_t)sizeof h);
    CHECK_EQ(boot_file_seal(fd, false), 0);
    return fd;
}

/* Our job, whose one rank is connected with a world at that home. */
static void fails(int home_pid, int home_fd)
{
    struct job j = {.n = 1};
    j.head = gw_xcalloc(1, boot_shm_offset(1));
    j.head->ranks_offset = BOOT_RANKS_OFFSET;
    j.head->uid = OURS;
    struct boot_rank *slot = job_slot(&j, 0);
    slot->phase = BOOT_RUNNING;
    slot->connections[0].pid = home_pid;
    slot->connections[0].fd = home_fd;
    slot->connections[0].uid = UID;
    connected_notify(&j, STATUS);
    free(j.head);
}

static pid_t victim(void)
{
    pid_t pid = fork();
    if (pid == 0)
        for (;;) pause();
    return pid;
}

static void lives(pid_t pid)
{
    int status;
    usleep(100000);
    CHECK_EQ(waitpid(pid, &status, WNOHANG), 0);
    kill(pid, SIGKILL);
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(WTERMSIG(status), SIGKILL);
}

/* Segments that name a process which is nothing of what they say. */
static void test_forged(void)
{
    pid_t pid = victim();
    int fd = segment(pid, getpid());
    fails(getpid(), fd); /* "your mpiexec is process PID" */
    lives(pid);
    close(fd);
    fd = segment(0, 1); /* "there is no mpiexec, the process at home is PID", which holds the file, too */
    pid = victim();
    fails(pid, fd);
    lives(pid);
    close(fd);
}

/* The one who is meant hears of it. */
static void heard(bool has_mpiexec)
{
    int ready[2], fd = -1, status = -1;
    CHECK_EQ(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        siginfo_t info;
        sigset_t set;
        connected_open();
        sigemptyset(&set);
        sigaddset(&set, connected_signal());
        fd = segment(has_mpiexec ? getpid() : 0, getpid());
        if (write(ready[1], &fd, sizeof fd) < 0) {}
        while (sigtimedwait(&set, &info, &(struct timespec){20, 0}) != connected_signal()) {}
        _exit((uint64_t)(uintptr_t)info.si_value.sival_ptr == (OURS | STATUS) ? 0 : 1);
    }
    CHECK_EQ(read(ready[0], &fd, sizeof fd), (ssize_t)sizeof fd);
    fails(pid, fd);
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    if (has_mpiexec)
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    else
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    close(ready[0]);
    close(ready[1]);
}

/* Until the process has the environment of a rank: it has become another program then. */
static bool has_become_rank(pid_t pid)
{
    static const char want[] = "GODWIT_RANK=0";
    for (int tries = 0; tries < 5000; tries++) {
        char path[64], text[sizeof want] = "";
        snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
        FILE *f = fopen(path, "re");
        bool is = f && fread(text, 1, sizeof want, f) == sizeof want && strcmp(text, want) == 0;
        if (f) fclose(f);
        if (is) return true;
        usleep(10000);
    }
    return false;
}

/* A job of another user: is process `rank_pid`, of user `rank_uid`, taken for its rank because a slot says so? */
static int ranks_seen(uid_t rank_uid)
{
    static char *const sleeps[] = {"sleep", "60", NULL}, *const env[] = {"GODWIT_RANK=0", NULL};
    struct running_jobs jobs;
    int ready[2], n = -1;
    char byte;
    pid_t rank = fork();
    if (rank == 0) {
        if (setresgid(rank_uid, rank_uid, rank_uid) || setresuid(rank_uid, rank_uid, rank_uid)) _exit(1);
        execve("/bin/sleep", sleeps, env);
        _exit(1);
    }
    CHECK_EQ(pipe(ready), 0);
    pid_t launcher = fork();
    if (launcher == 0) {
        if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534)) _exit(1);
        struct boot_rank slot = {.pid = rank};
        int fd = segment(getpid(), getpid());
        if (pwrite(fd, &slot, sizeof slot, (off_t)BOOT_RANKS_OFFSET) < 0 || write(ready[1], "r", 1) < 0) _exit(1);
        for (;;) pause();
    }
    CHECK_EQ(read(ready[0], &byte, 1), 1);
    CHECK(has_become_rank(rank));
    verdict_jobs_find(true, &jobs);
    for (int i = 0; i < jobs.n; i++)
        if (jobs.at[i].launcher == launcher) n = jobs.at[i].n;
    verdict_jobs_free(&jobs);
    kill(rank, SIGKILL);
    kill(launcher, SIGKILL);
    CHECK(waitpid(rank, NULL, 0) == rank && waitpid(launcher, NULL, 0) == launcher);
    close(ready[0]);
    close(ready[1]);
    return n;
}

int main(void)
{
    alarm(300);
    if (geteuid() == 0) {
        CHECK_EQ(ranks_seen(65534), 1);
        CHECK_EQ(ranks_seen(0), 0); /* gdb would be let loose on a process of root */
    }
    test_forged();
    heard(true);
    heard(false);
    return unit_end();
}
