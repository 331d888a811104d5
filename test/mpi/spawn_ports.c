/* spawn_ports.c -- jobs that connect: at ports, by published names, over a socket; the halves of one job, and two spawned jobs.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <sys/socket.h>
#include <unistd.h>

#include "spawn_check.h"

static char service[64];

static void name_errors(const char *port)
{
    char found[MPI_MAX_PORT_NAME];
    int class;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Publish_name(service, MPI_INFO_NULL, port), &class);
    CHECK_EQ(class, MPI_ERR_SERVICE); /* a second time */
    MPI_Error_class(MPI_Unpublish_name(service, MPI_INFO_NULL, "godwit:0"), &class);
    CHECK_EQ(class, MPI_ERR_SERVICE);
    MPI_Error_class(MPI_Lookup_name("nobody has this name", MPI_INFO_NULL, found), &class);
    CHECK_EQ(class, MPI_ERR_NAME);
    MPI_Error_class(MPI_Close_port("no port"), &class);
    CHECK_EQ(class, MPI_ERR_PORT);
}

/* Serves `n` clients, one after the other. */
static void serve(MPI_Comm comm, int n)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;
    int me;
    MPI_Comm_rank(comm, &me);
    if (me == 0) {
        CHECK_EQ(MPI_Open_port(MPI_INFO_NULL, port), MPI_SUCCESS);
        CHECK_EQ(MPI_Publish_name(service, MPI_INFO_NULL, port), MPI_SUCCESS);
        name_errors(port);
    }
    for (int i = 0; i < n; i++) {
        CHECK_EQ(MPI_Comm_accept(port, MPI_INFO_NULL, 0, comm, &inter), MPI_SUCCESS);
        inter_everything(inter, 1);
        MPI_Comm_disconnect(&inter);
    }
    if (me == 0) {
        CHECK_EQ(MPI_Unpublish_name(service, MPI_INFO_NULL, port), MPI_SUCCESS);
        CHECK_EQ(MPI_Close_port(port), MPI_SUCCESS);
    }
}

static void use(MPI_Comm comm)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;
    int me, n;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    if (me == n - 1) {
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        while (MPI_Lookup_name(service, MPI_INFO_NULL, port) != MPI_SUCCESS) usleep(1000);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    }
    CHECK_EQ(MPI_Comm_connect(port, MPI_INFO_NULL, n - 1, comm, &inter), MPI_SUCCESS);
    inter_everything(inter, 0);
    MPI_Comm_disconnect(&inter);
}

/* Ports that nobody listens at are errors everywhere. */
static void wrong_ports(void)
{
    static const char *const ports[] = {"", "nonsense", "godwit:0123456789abcdef", "godwit:xyz"};
    MPI_Comm inter, comm;
    int class;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < 4; i++) {
        MPI_Error_class(MPI_Comm_connect(ports[i], MPI_INFO_NULL, size - 1, comm, &inter), &class);
        CHECK_EQ(class, MPI_ERR_PORT);
        MPI_Error_class(MPI_Comm_accept(ports[i], MPI_INFO_NULL, 0, comm, &inter), &class);
        CHECK_EQ(class, MPI_ERR_PORT);
    }
    MPI_Comm_free(&comm);
}

/* A socket between the first two ranks, by way of the parent of a spawned pair, or by fork: here a named socket. */
static void join(void)
{
    char path[64];
    int s, fd, parent_pid = (int)getpid();
    MPI_Comm inter;
    if (size < 2) return;
    MPI_Bcast(&parent_pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
    struct {
        sa_family_t family;
        char path[32];
    } a = {AF_UNIX, ""};
    snprintf(path, sizeof path, "gwtest-%d", parent_pid);
    memcpy(a.path + 1, path, strlen(path) + 1);
    if (rank == 0) {
        s = socket(AF_UNIX, SOCK_STREAM, 0);
        CHECK_EQ(bind(s, (struct sockaddr *)&a, sizeof a), 0);
        CHECK_EQ(listen(s, 1), 0);
        MPI_Barrier(MPI_COMM_WORLD);
        fd = accept(s, NULL, NULL);
        close(s);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        fd = socket(AF_UNIX, SOCK_STREAM, 0);
        if (rank == 1) CHECK_EQ(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    }
    if (rank < 2) {
        CHECK_EQ(MPI_Comm_join(fd, &inter), MPI_SUCCESS);
        inter_everything(inter, rank == 0);
        MPI_Comm_disconnect(&inter);
    }
    close(fd);
}

int main(int argc, char **argv)
{
    MPI_Comm parent, half, inter;
    MPI_Init(&argc, &argv);
    test_begin();
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) { /* server and client, each a spawned job */
        snprintf(service, sizeof service, "%s", argv[2]);
        if (strcmp(argv[1], "serve") == 0)
            serve(MPI_COMM_WORLD, 2);
        else
            use(MPI_COMM_WORLD);
        MPI_Comm_disconnect(&parent);
        return test_end();
    }
    int pid = (int)getpid();
    MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(service, sizeof service, "spawn_ports %d", pid);
    wrong_ports();
    join();
    if (size > 1) { /* two halves of one job */
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
        if (rank % 2)
            use(half);
        else
            serve(half, 1);
        MPI_Comm_free(&half);
    }
    strcat(service, "b");
    char *commands[2] = {argv[0], argv[0]}, *first[] = {"serve", service, NULL}, *second[] = {"use", service, NULL};
    int n[2] = {2, 3};
    MPI_Comm many[3];
    for (int i = 0; i < 3; i++) {
        int codes[5] = {-1, -1, -1, -1, -1};
        CHECK_EQ(MPI_Comm_spawn(commands[0], i == 0 ? first : second, n[i % 2], MPI_INFO_NULL, 0, MPI_COMM_WORLD, &many[i], codes),
                 MPI_SUCCESS);
        for (int k = 0; k < n[i % 2]; k++) CHECK_EQ(codes[k], MPI_SUCCESS);
    }
    for (int i = 0; i < 3; i++) MPI_Comm_disconnect(&many[i]);
    (void)inter;
    return test_end();
}
