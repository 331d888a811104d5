/* session_late.c -- MPI_Session_init needs no other process (MPI 4.1 section 11.3.1): the others wait, outside MPI, until one has
 * begun its session, and begin theirs then.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "session_check.h"

#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* The name of a socket that has no file, and of this job only. */
static socklen_t name_of(const char *what, struct sockaddr_un *at)
{
    memset(at, 0, sizeof *at);
    at->sun_family = AF_UNIX;
    int n = snprintf(at->sun_path + 1, sizeof at->sun_path - 1, "session_late-%d-%s", (int)getppid(), what);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

/* False: another process was first. */
static int take(const char *what)
{
    struct sockaddr_un at;
    socklen_t len = name_of(what, &at);
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(s >= 0);
    int taken = bind(s, (struct sockaddr *)&at, len) == 0 && listen(s, 64) == 0;
    if (!taken) close(s);
    return taken;
}

static void wait_for(const char *what)
{
    struct sockaddr_un at;
    socklen_t len = name_of(what, &at);
    for (int is_there = 0; !is_there; usleep(10000)) {
        int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        is_there = connect(s, (struct sockaddr *)&at, len) == 0;
        close(s);
    }
}

int main(void)
{
    int is_first = take("first");
    if (!is_first) wait_for("begun");
    MPI_Session s = session_open(NULL);
    if (is_first) CHECK(take("begun"));
    MPI_Comm c = session_comm(s, "mpi://WORLD", "late");
    MPI_Comm_rank(c, &rank);
    MPI_Comm_size(c, &size);
    comm_works(c, 3);
    int sum = 0;
    MPI_Allreduce(&is_first, &sum, 1, MPI_INT, MPI_SUM, c);
    CHECK_EQ(sum, 1);
    MPI_Comm_free(&c);
    session_close(&s);
    return session_test_end();
}
