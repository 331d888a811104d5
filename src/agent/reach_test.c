/* reach_test.c -- the command lines by which other hosts are reached; what cannot be run is told; a command's input and output are the link.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <poll.h>
#include <stdlib.h>

#include "agent/reach.h"
#include "base/base.h"
#include "job/child.h"
#include "unit.h"

static const char *line_of(const char *agent, int patience, const char *program)
{
    static char line[1024];
    struct words w = {0};
    agent_reach_words(agent, "n2", program, patience, &w);
    line[0] = 0;
    for (int i = 0; i < w.n; i++) snprintf(line + strlen(line), sizeof line - strlen(line), "%s%s", i ? "|" : "", w.at[i]);
    words_free(&w);
    return line;
}

static void lines(void)
{
    CHECK_STR(line_of("", 8, "/p/mpiexec"),
              "ssh|-x|-T|-o|ServerAliveCountMax=2|-o|ConnectTimeout=8|-o|ServerAliveInterval=8|n2|/p/mpiexec|--agent");
    CHECK_STR(line_of("", 0, "/p/mpiexec"), "ssh|-x|-T|-o|ServerAliveCountMax=2|n2|/p/mpiexec|--agent");
    CHECK_STR(line_of("/usr/bin/ssh -p  2222", 0, "/p q/mpiexec"),
              "/usr/bin/ssh|-p|2222|-x|-T|-o|ServerAliveCountMax=2|n2|'/p q/mpiexec'|--agent");
    CHECK_STR(line_of("rsh", 8, "/p/mpiexec"), "rsh|n2|/p/mpiexec|--agent");
    CHECK_STR(line_of("srun -A me", 8, "/p q/mpiexec"), "srun|-A|me|-Q|-N|1|-n|1|--mpi=none|-w|n2|/p q/mpiexec|--agent");
    CHECK_STR(line_of("lsrun", 8, "/p/mpiexec"), "lsrun|-m|n2|/p/mpiexec|--agent");
    CHECK_STR(line_of("/opt/enter --quick", 8, "/p/mpiexec"), "/opt/enter|--quick|n2|/p/mpiexec|--agent");
    CHECK_STR(agent_reach_name(""), "ssh");
    CHECK_STR(agent_reach_name("/usr/bin/rsh -x"), "rsh");
    CHECK(agent_reach_is_here("/bin/sh -c") && agent_reach_is_here("sh") && !agent_reach_is_here("/nosuch") &&
          !agent_reach_is_here("no-such-program"));
}

static void link_of(void)
{
    struct words cat = {0}, none = {0};
    struct link l;
    struct link_frame f;
    words_add(&cat, "cat");
    words_add(&none, "/nosuch");
    CHECK(agent_reach_start(&none, false, &l) < 0 && l.in < 0 && l.out < 0);
    pid_t pid = agent_reach_start(&cat, false, &l);
    CHECK(pid > 0);
    link_send(&l, &(struct link_frame){LINK_SAY, 1, 2, 3, "word", 4});
    bool got = false;
    for (int i = 0; i < 1000 && !got; i++) {
        poll(&(struct pollfd){l.in, POLLIN, 0}, 1, 100);
        if (link_read(&l) == LINK_CLOSED) break;
        got = link_next(&l, &f);
    }
    CHECK(got && f.kind == LINK_SAY && f.a == 1 && f.b == 2 && f.c == 3 && f.len == 4);
    link_close(&l); /* its input ends, and so does cat */
    child_reap(pid);
    words_free(&cat);
    words_free(&none);
}

int main(void)
{
    lines();
    link_of();
    return unit_end();
}
