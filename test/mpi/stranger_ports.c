/* stranger_ports.c -- for test/system/strangers.sh: ports and names that another user meddles with.
 *
 *   serve SERVICE FILE     opens a port, publishes it, writes it to FILE, accepts one client, ends
 *   name SERVICE FILE      the same without a client: ends when FILE is gone
 *   lookup SERVICE         prints the port, or "none"
 *   use PORT               connects there
 *   late FILE GO           opens a port, writes it to FILE, closes it; when GO is there, connecting must fail with MPI_ERR_PORT
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <unistd.h>

#include "spawn_check.h"

static void write_line(const char *path, const char *text)
{
    char other[512];
    snprintf(other, sizeof other, "%s.new", path);
    FILE *f = fopen(other, "w");
    CHECK(f && fprintf(f, "%s\n", text) > 0 && fclose(f) == 0 && rename(other, path) == 0);
}

static void serve(const char *service, const char *path, int with_client)
{
    char port[MPI_MAX_PORT_NAME];
    int number = 0;
    MPI_Comm inter;
    CHECK_EQ(MPI_Open_port(MPI_INFO_NULL, port), MPI_SUCCESS);
    CHECK_EQ(MPI_Publish_name(service, MPI_INFO_NULL, port), MPI_SUCCESS);
    write_line(path, port);
    while (!with_client && access(path, F_OK) == 0) usleep(20000);
    if (with_client) {
        CHECK_EQ(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter), MPI_SUCCESS);
        CHECK_EQ(MPI_Recv(&number, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE), MPI_SUCCESS);
        CHECK_EQ(number, 4711);
        CHECK_EQ(MPI_Comm_disconnect(&inter), MPI_SUCCESS);
    }
    CHECK_EQ(MPI_Unpublish_name(service, MPI_INFO_NULL, port), MPI_SUCCESS);
    CHECK_EQ(MPI_Close_port(port), MPI_SUCCESS);
}

static void use(const char *port)
{
    int number = 4711;
    MPI_Comm inter;
    CHECK_EQ(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter), MPI_SUCCESS);
    CHECK_EQ(MPI_Send(&number, 1, MPI_INT, 0, 1, inter), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_disconnect(&inter), MPI_SUCCESS);
}

static void late(const char *path, const char *go)
{
    char port[MPI_MAX_PORT_NAME];
    int class;
    MPI_Comm inter;
    CHECK_EQ(MPI_Open_port(MPI_INFO_NULL, port), MPI_SUCCESS);
    CHECK_EQ(MPI_Close_port(port), MPI_SUCCESS);
    write_line(path, port);
    while (access(go, F_OK) != 0) usleep(20000);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter), &class);
    CHECK_EQ(class, MPI_ERR_PORT);
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Init(&argc, &argv);
    test_begin();
    const char *what = argc > 2 ? argv[1] : "";
    if (strcmp(what, "serve") == 0) serve(argv[2], argv[3], 1);
    if (strcmp(what, "name") == 0) serve(argv[2], argv[3], 0);
    if (strcmp(what, "use") == 0) use(argv[2]);
    if (strcmp(what, "late") == 0) late(argv[2], argv[3]);
    if (strcmp(what, "lookup") == 0) {
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        puts(MPI_Lookup_name(argv[2], MPI_INFO_NULL, port) == MPI_SUCCESS ? port : "none");
    }
    return test_end();
}
