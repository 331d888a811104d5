/* spawn_errors.c -- what cannot be spawned is a code, everywhere, and the job goes on; info keys; several programs at once.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nodes_check.h"
#include "spawn_check.h"

static MPI_Comm world; /* a copy that returns errors */

static MPI_Info info_of(const char *key, const char *value)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    MPI_Info_set(info, "a key that means nothing", "x");
    return info;
}

/* The class of the error on every rank. */
static void must_fail(const char *command, int n, const char *key, const char *value, int class)
{
    MPI_Comm inter = MPI_COMM_NULL;
    MPI_Info info = info_of(key, value);
    int codes[4] = {-1, -1, -1, -1}, *where = n > 4 ? MPI_ERRCODES_IGNORE : codes, got;
    MPI_Error_class(MPI_Comm_spawn(command, MPI_ARGV_NULL, n, info, size - 1, world, &inter, where), &got);
    CHECK_EQ(got, class);
    CHECK(inter == MPI_COMM_NULL);
    for (int i = 0; i < n && n <= 4 && class == MPI_ERR_SPAWN; i++) CHECK_EQ(codes[i], MPI_ERR_SPAWN);
    MPI_Info_free(&info);
    CHECK_EQ(MPI_Barrier(world), MPI_SUCCESS);
}

static void several_fail(char *self)
{
    char *commands[3] = {self, "/no/such/program", self};
    int n[3] = {1, 2, 1}, codes[4] = {-1, -1, -1, -1}, got;
    MPI_Info infos[3] = {MPI_INFO_NULL, MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm inter = MPI_COMM_NULL;
    MPI_Error_class(MPI_Comm_spawn_multiple(3, commands, MPI_ARGVS_NULL, n, infos, 0, world, &inter, codes), &got);
    CHECK_EQ(got, MPI_ERR_SPAWN);
    CHECK_EQ(codes[0], MPI_SUCCESS);
    CHECK_EQ(codes[1], MPI_ERR_SPAWN);
    CHECK_EQ(codes[2], MPI_ERR_SPAWN);
    CHECK_EQ(codes[3], MPI_SUCCESS);
}

/* Three programs, each with keys of its own. */
static void several(char *self)
{
    const char *name = strrchr(self, '/');
    char folder[4096];
    snprintf(folder, sizeof folder, "%.*s", (int)(name ? name - self : 1), name ? self : ".");
    char *commands[3] = {self, name ? (char *)name + 1 : self, self};
    char *first[] = {"keys", "0", NULL}, *second[] = {"keys", "1", NULL}, *third[] = {"keys", "2", "", "last", NULL};
    char **argvs[3] = {first, second, third};
    int n[3] = {1, 2, 1}, codes[4] = {-1, -1, -1, -1}, sum = 0, mine = 0;
    MPI_Info infos[3] = {info_of("wdir", "/"), info_of("path", folder), info_of("env", "GWTEST_A=one two\nGWTEST_B=3")};
    MPI_Info_set(infos[2], "mpi_initial_errhandler", "mpi_errors_return");
    MPI_Comm inter;
    CHECK_EQ(MPI_Comm_spawn_multiple(3, commands, argvs, n, infos, 0, world, &inter, codes), MPI_SUCCESS);
    for (int i = 0; i < 4; i++) CHECK_EQ(codes[i], MPI_SUCCESS);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, inter);
    CHECK_EQ(sum, 0); /* the children's failures */
    inter_collectives(inter, 1);
    MPI_Comm_disconnect(&inter);
    for (int i = 0; i < 3; i++) MPI_Info_free(&infos[i]);
}

static void child(int argc, char **argv, MPI_Comm parent)
{
    char here[4096] = "";
    int *app = NULL, flag = 0, sum, which = atoi(argv[2]);
    CHECK_EQ(size, 4);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &app, &flag);
    CHECK(flag && *app == which && which == (rank + 1) / 2);
    if (which == 0) CHECK(getcwd(here, sizeof here) && strcmp(here, "/") == 0);
    if (which == 2) {
        MPI_Errhandler eh;
        CHECK(getenv("GWTEST_A") && strcmp(getenv("GWTEST_A"), "one two") == 0);
        CHECK(getenv("GWTEST_B") && strcmp(getenv("GWTEST_B"), "3") == 0);
        CHECK(argc == 5 && argv[3][0] == 0 && strcmp(argv[4], "last") == 0);
        MPI_Comm_get_errhandler(MPI_COMM_WORLD, &eh);
        CHECK(eh == MPI_ERRORS_RETURN);
        MPI_Errhandler_free(&eh);
    } else {
        CHECK(!getenv("GWTEST_A"));
        CHECK_EQ(argc, 3);
    }
    MPI_Allreduce(&failures, &sum, 1, MPI_INT, MPI_SUM, parent);
    inter_collectives(parent, 0);
    MPI_Comm_disconnect(&parent);
}

/* A connected socket of the first rank and the last, which are on different hosts; -1 on the others. */
static int socket_make(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    struct {
        char host[64];
        int port;
    } at = {"", 0};
    socklen_t len = sizeof a;
    int listener = -1, fd = -1;
    if (rank == 0) {
        gethostname(at.host, sizeof at.host - 1);
        listener = socket(AF_INET, SOCK_STREAM, 0);
        CHECK(bind(listener, (struct sockaddr *)&a, sizeof a) == 0 && listen(listener, 1) == 0 &&
              getsockname(listener, (struct sockaddr *)&a, &len) == 0);
        at.port = ntohs(a.sin_port);
    }
    MPI_Bcast(&at, sizeof at, MPI_BYTE, 0, world);
    if (rank == 0) {
        fd = accept(listener, NULL, NULL);
        close(listener);
    } else if (rank == size - 1) {
        struct addrinfo wish = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found = NULL;
        char port[16];
        snprintf(port, sizeof port, "%d", at.port);
        CHECK_EQ(getaddrinfo(at.host, port, &wish, &found), 0);
        fd = socket(AF_INET, SOCK_STREAM, 0);
        CHECK_EQ(connect(fd, found->ai_addr, found->ai_addrlen), 0);
        freeaddrinfo(found);
    }
    return fd;
}

/* By a socket between two hosts. */
static void join(void)
{
    MPI_Comm inter = MPI_COMM_NULL;
    int fd = socket_make();
    if (fd >= 0) {
        CHECK_EQ(MPI_Comm_join(fd, &inter), MPI_SUCCESS);
        inter_everything(inter, rank == 0);
        MPI_Comm_disconnect(&inter);
        close(fd);
    }
    CHECK_EQ(MPI_Barrier(world), MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    if (spawn_child(argc, argv, child)) return test_end();
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    if (!is_one_host(world)) join();
    must_fail("/no/such/program", 3, "soft", "1", MPI_ERR_SPAWN);
    must_fail("no-such-program-in-any-path", 1, "path", "/usr:/", MPI_ERR_SPAWN);
    must_fail("/", 1, "a", "b", MPI_ERR_SPAWN);
    must_fail("/etc/passwd", 2, "a", "b", MPI_ERR_SPAWN);
    must_fail(argv[0], 1, "wdir", "/no/such/folder", MPI_ERR_SPAWN);
    must_fail(argv[0], 1, "host", "another.machine.example", MPI_ERR_SPAWN);
    must_fail(argv[0], 1, "host", "-oProxyCommand=sh", MPI_ERR_SPAWN);
    must_fail(argv[0], 1, "host", "localhost,\x1b[2J", MPI_ERR_SPAWN);
    must_fail("true", 2, "a", "b", MPI_ERR_SPAWN); /* it ends and has not called MPI_Init */
    must_fail("false", 2, "a", "b", MPI_ERR_SPAWN);
    must_fail(argv[0], 0, "a", "b", MPI_ERR_ARG);
    must_fail(argv[0], -1, "a", "b", MPI_ERR_ARG);
    must_fail(argv[0], 1000000, "a", "b", MPI_ERR_SPAWN);
    several_fail(argv[0]);
    several(argv[0]);
    MPI_Comm_free(&world);
    return test_end();
}
