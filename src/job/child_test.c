/* child_test.c -- a child that has ended keeps its pid until it is reaped; how it ended is told as waitpid tells it; a group is not killed
 * by the number of a process that has come later.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "job/child.h"
#include "base/base.h"
#include "base/time.h"
#include "unit.h"

static pid_t begin(int code, int sig)
{
    pid_t pid = fork();
    if (pid) return pid;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "a ) b (");
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    if (sig) signal(sig, SIG_DFL); /* sanitizers take some */
    if (sig) kill(getpid(), sig);
    if (code < 0)
        for (;;) pause();
    _exit(code);
}

static int ended(pid_t pid)
{
    int status = -1;
    for (int i = 0; i < 5000 && child_ended(pid, &status) == 0; i++) usleep(1000);
    return status;
}

static void test_ended(void)
{
    static const struct {
        int code, sig;
    } ways[] = {{0, 0}, {7, 0}, {255, 0}, {0, SIGTERM}, {0, SIGSEGV}, {0, SIGKILL}};
    int status = -2;
    CHECK_EQ(child_ended(-1, &status), -1);
    for (size_t i = 0; i < GW_ARRAY_LEN(ways); i++) {
        pid_t pid = begin(ways[i].code, ways[i].sig);
        status = ended(pid);
        CHECK(ways[i].sig ? WIFSIGNALED(status) && WTERMSIG(status) == ways[i].sig
                          : WIFEXITED(status) && WEXITSTATUS(status) == ways[i].code);
        CHECK_EQ(child_ended(-1, &status), pid); /* it is there still */
        CHECK_EQ(kill(pid, 0), 0);
        child_reap(pid);
        CHECK(kill(pid, 0) < 0 && errno == ESRCH);
    }
    CHECK_EQ(child_ended(-1, &status), -1);
}

static void test_later(void)
{
    int status = -1;
    pid_t pid = begin(-1, 0);
    while (getpgid(pid) != pid) usleep(100);
    uint64_t start = child_start_time(pid);
    CHECK(start > 0 && start >= child_start_time(getpid()));
    CHECK_EQ(child_start_time(1 << 30), 0);
    CHECK_EQ(child_parent_of(pid), getpid());
    CHECK_EQ(child_parent_of(1 << 30), 0);
    CHECK(!child_wait(pid, gw_now_ns() + 1000000));
    child_stranger_group_kill(pid, start - 1, SIGKILL); /* as if that number had been another's before */
    child_stranger_group_kill(pid, start + 1, SIGKILL);
    usleep(50000);
    CHECK_EQ(child_ended(pid, &status), 0);
    child_stranger_group_kill(pid, start, SIGKILL);
    CHECK(child_wait(pid, UINT64_MAX) && WIFSIGNALED(ended(pid)));
    child_reap(pid);
    child_kill(0, SIGKILL); /* nobody: above all not our own group */
    child_group_kill(0, SIGKILL);
}

/* Children and theirs, also without the one between; nobody else. */
static void test_ours(void)
{
    int pipes[2];
    pid_t grandchild = 0, none[] = {0, -1, 1, getpid(), getppid(), 1 << 30};
    CHECK_EQ(pipe(pipes), 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t pid = fork();
    if (pid == 0) {
        pid_t child = begin(-1, 0);
        _exit(write(pipes[1], &child, sizeof child) != sizeof child || getppid() == 1 || pause() == 0);
    }
    CHECK_EQ(read(pipes[0], &grandchild, sizeof grandchild), (ssize_t)sizeof grandchild);
    CHECK(child_is_ours(pid) && child_is_ours(grandchild));
    for (size_t i = 0; i < GW_ARRAY_LEN(none); i++) CHECK(!child_is_ours(none[i]));
    pid_t apart = fork(); /* to it, its siblings are none of its own */
    if (apart == 0) _exit(child_is_ours(grandchild) || child_is_ours(getppid()));
    CHECK_EQ(ended(apart), 0);
    child_reap(apart);
    kill(pid, SIGKILL);
    ended(pid);
    child_reap(pid);
    kill(grandchild, SIGKILL);
    child_reap(grandchild);
    CHECK(!child_is_ours(grandchild));
}

int main(void)
{
    test_ours();
    test_ended();
    test_later();
    return unit_end();
}
