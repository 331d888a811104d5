/* spawn_basic.c -- jobs that spawn jobs: all sizes, from a part of the job, again and again, children that spawn.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "counters_check.h"
#include "spawn_check.h"

static char *self;

static MPI_Comm start(const char *what, int n, int root, MPI_Comm comm)
{
    char *argv[] = {(char *)what, "two words", NULL};
    MPI_Comm inter = MPI_COMM_NULL;
    int codes[16];
    for (int i = 0; i < n; i++) codes[i] = -1;
    CHECK_EQ(MPI_Comm_spawn(self, argv, n, MPI_INFO_NULL, root, comm, &inter, codes), MPI_SUCCESS);
    for (int i = 0; i < n; i++) CHECK_EQ(codes[i], MPI_SUCCESS);
    int there;
    MPI_Comm_remote_size(inter, &there);
    CHECK_EQ(there, n);
    return inter;
}

/* What went wrong in the children is said to the parents. */
static void end(MPI_Comm *inter, int is_child)
{
    int theirs = 0;
    MPI_Allreduce(&failures, &theirs, 1, MPI_INT, MPI_SUM, *inter);
    if (!is_child) CHECK_EQ(theirs, 0);
    MPI_Comm_disconnect(inter);
    CHECK(*inter == MPI_COMM_NULL);
}

/* Both sides meet as a whole: once they have, nobody is asked where one of the others is, nor is a
 * connection made, whoever talks to whom. */
static void met_as_a_whole(MPI_Comm inter, int is_parent)
{
    counters_begin();
    MPI_T_pvar_handle gets = counter("key_gets", MPI_T_PVAR_CLASS_COUNTER),
                      fences = counter("key_fences", MPI_T_PVAR_CLASS_COUNTER),
                      connections = counter("connections", MPI_T_PVAR_CLASS_COUNTER);
    inter_messages(inter, is_parent);
    CHECK_EQ(counted(gets), 0);
    CHECK_EQ(counted(fences), 0);
    CHECK_EQ(counted(connections), 0); /* the way to each was there */
    counters_end();
}

static void child(int argc, char **argv, MPI_Comm parent)
{
    MPI_Comm again, inter;
    char name[MPI_MAX_OBJECT_NAME];
    int n, *value, flag;
    CHECK_EQ(argc, 3);
    CHECK(strcmp(argv[2], "two words") == 0);
    MPI_Comm_get_parent(&again);
    CHECK(again == parent);
    MPI_Comm_get_name(parent, name, &n);
    CHECK(n > 0);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &flag);
    CHECK(flag && *value == 0);
    if (strcmp(argv[1], "all") == 0) inter_everything(parent, 0);
    if (strcmp(argv[1], "quick") == 0) inter_collectives(parent, 0);
    if (strcmp(argv[1], "whole") == 0) met_as_a_whole(parent, 0);
    if (strcmp(argv[1], "grand") == 0) { /* children of children; all three generations meet */
        inter = start("quick", 2, size - 1, MPI_COMM_WORLD);
        inter_collectives(inter, 1);
        inter_collectives(parent, 0);
        end(&inter, 0);
    }
    end(&parent, 1);
    MPI_Comm_get_parent(&again);
    CHECK(again == MPI_COMM_NULL);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {1, 2, 5, 8};
    MPI_Comm inter, part;
    MPI_Init(&argc, &argv);
    test_begin();
    self = argv[0];
    if (spawn_child(argc, argv, child)) return test_end();
    const char *what = argc > 1 ? argv[1] : "sizes";
    if (strcmp(what, "sizes") == 0) {
        for (int i = 0; i < 4; i++) {
            inter = start("all", sizes[i], i % size, MPI_COMM_WORLD);
            inter_everything(inter, 1);
            end(&inter, 0);
        }
    } else if (strcmp(what, "loop") == 0) {
        for (int i = 0; i < 20; i++) {
            inter = start("quick", 1 + i % 2, 0, MPI_COMM_WORLD);
            inter_collectives(inter, 1);
            end(&inter, 0);
        }
    } else if (strcmp(what, "part") == 0) { /* two parts at once, and one process alone */
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &part);
        inter = start("all", 2, 0, part);
        inter_everything(inter, 1);
        end(&inter, 0);
        MPI_Comm_free(&part);
        inter = start("all", 1, 0, MPI_COMM_SELF);
        inter_everything(inter, 1);
        end(&inter, 0);
    } else if (strcmp(what, "whole") == 0) {
        inter = start("whole", 4, 0, MPI_COMM_WORLD);
        met_as_a_whole(inter, 1);
        end(&inter, 0);
    } else if (strcmp(what, "grand") == 0) {
        inter = start("grand", 2, 0, MPI_COMM_WORLD);
        inter_collectives(inter, 1);
        end(&inter, 0);
    } else { /* several at once, all merged into one */
        MPI_Comm many[3], all = MPI_COMM_NULL;
        for (int i = 0; i < 3; i++) many[i] = start("quick", 1 + i, 0, MPI_COMM_WORLD);
        for (int i = 2; i >= 0; i--) inter_collectives(many[i], 1);
        for (int i = 0; i < 3; i++) end(&many[i], 0);
        CHECK(all == MPI_COMM_NULL);
    }
    return test_end();
}
