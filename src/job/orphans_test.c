/* orphans_test.c -- what children have left behind is ended and reaped, however deep and in whatever session; who handles SIGTERM gets time
 * for it, who does not is killed.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "job/child.h"
#include "unit.h"

static int heard[2]; /* what orphans say */

static void on_term(int sig)
{
    (void)sig;
    if (write(heard[1], "t", 1) != 1) _exit(2);
    _exit(0);
}

/* A daemon as books have it: a child's child in a session of its own, and below it one more. */
static void daemon_make(bool polite)
{
    pid_t pid = fork();
    if (pid == 0) {
        setsid();
        if (fork() == 0) {
            signal(SIGTERM, polite ? on_term : SIG_IGN);
            if (fork() == 0 && write(heard[1], "i", 1) != 1) _exit(2); /* it inherits that */
            if (write(heard[1], "p", 1) != 1) _exit(2);
            for (;;) pause();
        }
        _exit(0);
    }
    CHECK(waitpid(pid, NULL, 0) == pid);
}

enum { N = 5 };

/* How many of them had time to say that they were told to end. */
static int ends(bool polite, bool at_once)
{
    char said[64];
    int status, begun = 0, n;
    CHECK(pipe(heard) == 0);
    for (int i = 0; i < N; i++) daemon_make(polite);
    while (begun < 3 * N) begun += (int)read(heard[0], said, (size_t)(3 * N - begun)); /* a p of both, an i of one */
    char name[16] = "";
    pid_t one = child_orphan(name);
    CHECK(one > 0 && child_parent_of(one) == getpid());
    CHECK(strncmp(program_invocation_short_name, name, 15) == 0);
    child_orphans_end(at_once);
    CHECK_EQ(child_orphan(name), 0);
    CHECK_EQ(child_ended(-1, &status), -1);
    close(heard[1]);
    n = (int)read(heard[0], said, sizeof said);
    close(heard[0]);
    return n;
}

int main(void)
{
    int status, n = 0;
    char name[16] = "";
    child_orphans_adopt();
    CHECK_EQ(child_orphan(name), 0);
    child_orphans_end(false); /* there are none */
    CHECK_EQ(child_ended(-1, &status), -1);
    for (int tries = 0; tries < 3 && n != 2 * N; tries++) n = ends(true, false); /* one may not get to run for a second */
    CHECK_EQ(n, 2 * N);
    CHECK_EQ(ends(true, true), 0);
    CHECK_EQ(ends(false, false), 0);
    CHECK_EQ(ends(false, true), 0);
    return unit_end();
}
