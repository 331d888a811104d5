/* spawn_parted.c HOW WHO SIGN -- one of two jobs fails, connected with the other (HOW is "tied") or after they have disconnected ("parted"); WHO:
 * "parent", "child", "sibling" (a second child, which has met the first one only), "grandchild".  Whoever goes on says so.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is(const char *a, const char *b) { return strcmp(a, b) == 0; }
static int rank;
static char **words;

static MPI_Comm start(const char *what, int n)
{
    char *argv[] = {words[1], words[2], words[3], (char *)what, NULL};
    MPI_Comm inter;
    MPI_Comm_spawn(words[0], argv, n, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    return inter;
}

static int slow_delete(MPI_Comm c, int key, void *value, void *extra)
{
    (void)c, (void)key, (void)value, (void)extra;
    usleep(300000);
    return MPI_SUCCESS;
}

/* Who goes on takes its time to let go; the others have failed by then. */
static void let_go_slowly(MPI_Comm inter)
{
    int key;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, slow_delete, &key, NULL);
    MPI_Comm_set_attr(inter, key, NULL);
    MPI_Comm_free_keyval(&key);
}

static void part(MPI_Comm *inter, int fails)
{
    MPI_Comm all;
    if (!fails) let_go_slowly(*inter);
    MPI_Intercomm_merge(*inter, 0, &all);
    MPI_Barrier(all);
    MPI_Comm_disconnect(&all);
    if (is(words[1], "parted")) MPI_Comm_disconnect(inter);
}

static void fail(void)
{
    if (rank == 0) raise(SIGTERM);
    for (;;) pause();
}

/* SIGN is a file that appears a while after the other has failed. */
static void go_on(const char *who)
{
    if (is(words[1], "parted")) {
        while (access(words[3], F_OK) != 0) usleep(2000);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) printf("%s goes on\n", who);
    } else if (rank == 0) { /* for ever, unless somebody ends it */
        MPI_Recv(&rank, 1, MPI_INT, 0, 4711, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm parent, first, second = MPI_COMM_NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&parent);
    words = argv;
    const char *what = argc > 4 ? argv[4] : "parent";
    if (parent == MPI_COMM_NULL) {
        first = start("child", 2);
        if (is(argv[2], "sibling")) {
            char port[MPI_MAX_PORT_NAME];
            second = start("sibling", 1);
            MPI_Bcast(port, sizeof port, MPI_CHAR, 0, first); /* of the first child, for the second */
            MPI_Bcast(port, sizeof port, MPI_CHAR, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, second);
            MPI_Comm_disconnect(&first);
            MPI_Comm_disconnect(&second);
        } else {
            part(&first, is(what, words[2]));
        }
    } else if (is(argv[2], "sibling")) {
        char port[MPI_MAX_PORT_NAME] = "";
        int first_one = is(what, "child");
        if (first_one && rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
        if (first_one)
            MPI_Bcast(port, sizeof port, MPI_CHAR, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, parent);
        else
            MPI_Bcast(port, sizeof port, MPI_CHAR, 0, parent);
        MPI_Comm_disconnect(&parent);
        if (first_one)
            MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &second);
        else
            MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &second);
        MPI_Barrier(second);
        if (!first_one) fail(); /* the first child is connected with it, the parents are not */
        for (;;) pause();
    } else {
        if (is(argv[2], "grandchild") && is(what, "child")) first = start("grandchild", 1);
        if (is(argv[2], "grandchild") && is(what, "child")) part(&first, is(what, words[2]));
        part(&parent, is(what, words[2]));
    }
    if (is(what, argv[2])) fail();
    if (is(argv[2], "sibling")) {
        while (access(argv[3], F_OK) != 0) usleep(2000);
        if (rank == 0) printf("parent goes on\n");
    } else {
        go_on(what);
    }
    MPI_Finalize();
    return 0;
}
