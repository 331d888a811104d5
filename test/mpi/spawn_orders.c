/* spawn_orders.c -- arguments that count at the root only, which are wrong, and what children find; handles freed in all orders.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "spawn_check.h"

static char *self;

/* Over ranks of two worlds, whose nodes nobody compares. */
static void vectors(MPI_Comm all, int n, int me)
{
    int counts[64], begins[64], mine[8], every[64 * 8];
    CHECK(n <= 64);
    for (int i = 0, at = 0; i < n; at += counts[i++]) counts[i] = i % 3, begins[i] = at;
    for (int i = 0; i < 8; i++) mine[i] = 100 * me + i;
    MPI_Gatherv(mine, counts[me], MPI_INT, every, counts, begins, MPI_INT, n - 1, all);
    for (int r = 0; r < n && me == n - 1; r++)
        for (int i = 0; i < counts[r]; i++) CHECK_EQ(every[begins[r] + i], 100 * r + i);
    MPI_Scatterv(every, counts, begins, MPI_INT, mine, counts[me], MPI_INT, n - 1, all);
    for (int i = 0; i < counts[me]; i++) CHECK_EQ(mine[i], 100 * me + i);
}

/* Frees the parents' communicator, the merged one and a duplicate: `order` 0 to 5, how[i] says free or disconnect. */
static void leave(MPI_Comm inter, int high, int order, int how)
{
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    MPI_Comm comms[3] = {inter, MPI_COMM_NULL, MPI_COMM_NULL};
    int n, me, sum = -1;
    MPI_Intercomm_merge(inter, high, &comms[1]);
    MPI_Comm_dup(inter, &comms[2]);
    MPI_Comm_size(comms[1], &n);
    MPI_Comm_rank(comms[1], &me);
    vectors(comms[1], n, me);
    for (int i = 0; i < 3; i++) {
        int which = orders[order][i];
        MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comms[1] == MPI_COMM_NULL ? MPI_COMM_SELF : comms[1]);
        CHECK_EQ(sum, comms[1] == MPI_COMM_NULL ? me : n * (n - 1) / 2);
        CHECK_EQ(how & (1 << i) ? MPI_Comm_disconnect(&comms[which]) : MPI_Comm_free(&comms[which]), MPI_SUCCESS);
        CHECK(comms[which] == MPI_COMM_NULL);
    }
}

static void child(int argc, char **argv, MPI_Comm parent)
{
    int *universe = NULL, *app = NULL, flag = 0;
    MPI_Comm again;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &flag);
    CHECK(flag && *universe >= size);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &app, &flag);
    CHECK(flag && *app == 0);
    int none = argc == 1; /* MPI_ARGV_NULL */
    if (none) {
        inter_collectives(parent, 0);
        MPI_Comm_disconnect(&parent);
    } else {
        leave(parent, 1, atoi(argv[1]), atoi(argv[2]));
    }
    MPI_Comm_get_parent(&again);
    CHECK(again == MPI_COMM_NULL);
}

static int class_of(int rc)
{
    int class;
    MPI_Error_class(rc, &class);
    return class;
}

/* Only the root's command, argv, maxprocs and info count. */
static void root_only(void)
{
    MPI_Comm inter;
    for (int root = 0; root < size; root++) {
        int is_root = rank == root;
        CHECK_EQ(MPI_Comm_spawn(is_root ? self : NULL, is_root ? MPI_ARGV_NULL : (char **)-1L, is_root ? 2 : -7, MPI_INFO_NULL,
                                root, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE),
                 MPI_SUCCESS);
        inter_collectives(inter, 1);
        MPI_Comm_disconnect(&inter);
        char *commands[2] = {self, self};
        int n[2] = {1, 1}, codes[2] = {-1, -1};
        MPI_Info infos[2] = {MPI_INFO_NULL, MPI_INFO_NULL};
        CHECK_EQ(MPI_Comm_spawn_multiple(is_root ? 1 : -3, is_root ? commands : NULL, MPI_ARGVS_NULL, is_root ? n : NULL,
                                         is_root ? infos : NULL, root, MPI_COMM_WORLD, &inter, codes),
                 MPI_SUCCESS);
        CHECK_EQ(codes[0], MPI_SUCCESS);
        CHECK_EQ(codes[1], -1); /* there was one process */
        inter_collectives(inter, 1);
        MPI_Comm_disconnect(&inter);
    }
}

static void wrong(void)
{
    MPI_Comm world, inter = MPI_COMM_NULL, halves = MPI_COMM_NULL, half;
    char *commands[1] = {self};
    int n = 1;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_EQ(class_of(MPI_Comm_spawn(self, MPI_ARGV_NULL, 1, info, size, world, &inter, MPI_ERRCODES_IGNORE)), MPI_ERR_ROOT);
    CHECK_EQ(class_of(MPI_Comm_spawn(self, MPI_ARGV_NULL, 1, info, -1, world, &inter, MPI_ERRCODES_IGNORE)), MPI_ERR_ROOT);
    CHECK_EQ(class_of(MPI_Comm_spawn(self, MPI_ARGV_NULL, 1, info, 0, MPI_COMM_NULL, &inter, MPI_ERRCODES_IGNORE)), MPI_ERR_COMM);
    CHECK_EQ(
        class_of(MPI_Comm_spawn_multiple(0, commands, MPI_ARGVS_NULL, &n, &info, 0, MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE)),
        MPI_ERR_ARG);
    if (size > 1) { /* over an intercommunicator */
        MPI_Comm_split(world, rank % 2, 0, &half);
        MPI_Intercomm_create(half, 0, world, !(rank % 2), 1, &halves);
        MPI_Comm_set_errhandler(halves, MPI_ERRORS_RETURN);
        CHECK_EQ(class_of(MPI_Comm_spawn(self, MPI_ARGV_NULL, 1, info, 0, halves, &inter, MPI_ERRCODES_IGNORE)), MPI_ERR_COMM);
        MPI_Comm_free(&halves);
        MPI_Comm_free(&half);
    }
    CHECK(inter == MPI_COMM_NULL);
    MPI_Comm_free(&world);
}

static void ports(void)
{
    char names[8][MPI_MAX_PORT_NAME], text[64], found[MPI_MAX_PORT_NAME] = "before";
    MPI_Comm inter = MPI_COMM_NULL;
    for (int i = 0; i < 8; i++) {
        CHECK_EQ(MPI_Open_port(MPI_INFO_NULL, names[i]), MPI_SUCCESS);
        for (int k = 0; k < i; k++) CHECK(strcmp(names[i], names[k]) != 0);
    }
    snprintf(text, sizeof text, "spawn_orders %.40s", names[0]);
    for (int i = 0; i < 3; i++) { /* as often as one likes, and for another port */
        CHECK_EQ(class_of(MPI_Unpublish_name(text, MPI_INFO_NULL, names[i])), MPI_ERR_SERVICE);
        CHECK_EQ(MPI_Publish_name(text, MPI_INFO_NULL, names[i]), MPI_SUCCESS);
        CHECK_EQ(class_of(MPI_Publish_name(text, MPI_INFO_NULL, names[i + 1])), MPI_ERR_SERVICE);
        CHECK_EQ(MPI_Lookup_name(text, MPI_INFO_NULL, found), MPI_SUCCESS);
        CHECK(strcmp(found, names[i]) == 0);
        CHECK_EQ(class_of(MPI_Unpublish_name(text, MPI_INFO_NULL, names[i + 1])), MPI_ERR_SERVICE);
        CHECK_EQ(MPI_Unpublish_name(text, MPI_INFO_NULL, names[i]), MPI_SUCCESS);
        CHECK_EQ(class_of(MPI_Lookup_name(text, MPI_INFO_NULL, found)), MPI_ERR_NAME);
    }
    for (int i = 7; i >= 0; i--) CHECK_EQ(MPI_Close_port(names[i]), MPI_SUCCESS);
    CHECK_EQ(class_of(MPI_Close_port(names[3])), MPI_ERR_PORT);
    CHECK_EQ(class_of(MPI_Comm_connect(names[3], MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter)), MPI_ERR_PORT);
    CHECK_EQ(class_of(MPI_Comm_accept(names[3], MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter)), MPI_ERR_PORT);
    CHECK(inter == MPI_COMM_NULL);
}

int main(int argc, char **argv)
{
    MPI_Comm inter;
    MPI_Init(&argc, &argv);
    test_begin();
    if (spawn_child(argc, argv, child)) return test_end();
    self = argv[0];
    wrong();
    ports();
    root_only();
    for (int order = 0; order < 6; order++) {
        for (int how = 0; how<8; how += size> 2 ? 3 : 1) {
            char a[16], b[16], *words[] = {a, b, NULL};
            snprintf(a, sizeof a, "%d", order);
            snprintf(b, sizeof b, "%d", how);
            CHECK_EQ(
                MPI_Comm_spawn(self, words, 1 + how % 2, MPI_INFO_NULL, order % size, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE),
                MPI_SUCCESS);
            leave(inter, 0, order, how);
        }
    }
    return test_end();
}
