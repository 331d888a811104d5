/* spawn_odd.c -- children that come to MPI_Init by a detour, late, only in part, or not at all: met, or an error; never a hang.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session_check.h"
#include "spawn_check.h"

static MPI_Comm world; /* a copy that returns errors */
static char *self;

/* The class of the spawn of n children; those that were met are left again. */
static int spawned(const char *command, char **argv, int n, const char *timeout)
{
    MPI_Comm inter = MPI_COMM_NULL;
    MPI_Info info;
    int codes[8], class, there;
    MPI_Info_create(&info);
    if (timeout) MPI_Info_set(info, "timeout", timeout);
    for (int i = 0; i < n; i++) codes[i] = -1;
    MPI_Error_class(MPI_Comm_spawn(command, argv, n, info, size - 1, world, &inter, codes), &class);
    for (int i = 0; i < n; i++) CHECK_EQ(codes[i], class);
    CHECK((inter == MPI_COMM_NULL) == (class != MPI_SUCCESS));
    if (inter != MPI_COMM_NULL) {
        MPI_Comm_remote_size(inter, &there);
        CHECK_EQ(there, n);
        inter_collectives(inter, 1);
        MPI_Comm_disconnect(&inter);
    }
    MPI_Info_free(&info);
    CHECK_EQ(MPI_Barrier(world), MPI_SUCCESS);
    return class;
}

static int spawned_self(const char *what, int n, const char *timeout)
{
    char *argv[] = {(char *)what, NULL};
    return spawned(self, argv, n, timeout);
}

/* By a script, which the root's neighbour writes. */
static int spawned_script(const char *text, int n)
{
    char path[64], *argv[] = {self, NULL};
    int pid = (int)getpid();
    MPI_Bcast(&pid, 1, MPI_INT, 0, world);
    snprintf(path, sizeof path, "/tmp/gwtest-spawn-%d", pid);
    if (rank == 0) {
        FILE *f = fopen(path, "w");
        fputs(text, f);
        fclose(f);
        chmod(path, 0700);
    }
    MPI_Barrier(world);
    int class = spawned(path, argv, n, NULL);
    if (rank == 0) unlink(path);
    return class;
}

static void use_session(int seconds)
{
    MPI_Session s = session_open(NULL);
    MPI_Comm c = session_comm(s, "mpi://WORLD", "odd");
    MPI_Barrier(c);
    sleep((unsigned)seconds);
    MPI_Comm_free(&c);
    session_close(&s);
}

static void child_before_init(const char *what)
{
    int me = atoi(getenv("GODWIT_RANK"));
    if (strcmp(what, "sessions") == 0) use_session(0), exit(failures != 0);
    if (strcmp(what, "sessions that stay") == 0) use_session(60), exit(failures != 0);
    if (strcmp(what, "stays") == 0) sleep(60), exit(0);
    if (strcmp(what, "in part") == 0 && me == 1) exit(0);
    if (strcmp(what, "in part, badly") == 0 && me == 1) exit(3);
    if (strcmp(what, "crash") == 0) raise(SIGKILL);
    if (strcmp(what, "late") == 0) usleep(100000);
    if (strcmp(what, "session first") == 0) use_session(0);
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    if (argc > 1) child_before_init(argv[1]);
    MPI_Init(&argc, &argv);
    test_begin();
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        inter_collectives(parent, 0);
        MPI_Comm_disconnect(&parent);
        return test_end();
    }
    self = argv[0];
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    CHECK_EQ(spawned_self("late", 2, NULL), MPI_SUCCESS);
    CHECK_EQ(spawned_self("late", 1, "30"), MPI_SUCCESS);
    CHECK_EQ(spawned_self("session first", 2, NULL), MPI_SUCCESS);
    CHECK_EQ(spawned_self("sessions", 2, NULL), MPI_ERR_SPAWN);
    CHECK_EQ(spawned_self("sessions that stay", 2, "0.2"), MPI_ERR_SPAWN);
    CHECK_EQ(spawned_self("stays", 1, "0.1"), MPI_ERR_SPAWN);
    CHECK_EQ(spawned_self("in part", 2, NULL), MPI_ERR_SPAWN);
    CHECK_EQ(spawned_self("in part, badly", 3, NULL), MPI_ERR_SPAWN);
    CHECK_EQ(spawned_self("crash", 1, NULL), MPI_ERR_SPAWN);
    CHECK_EQ(spawned_script("#!/bin/sh\nexec \"$@\"\n", 2), MPI_SUCCESS);
    CHECK_EQ(spawned_script("#!/bin/sh\n\"$@\"\n", 2), MPI_SUCCESS);
    CHECK_EQ(spawned_script("\"$@\"\n", 1), MPI_SUCCESS); /* sh knows what to do */
    CHECK_EQ(spawned_script("#!/bin/sh\nexit 1\n", 2), MPI_ERR_SPAWN);
    CHECK_EQ(spawned_script("#!/no/such/shell\n", 1), MPI_ERR_SPAWN);
    MPI_Comm_free(&world);
    return test_end();
}
