/* spawn_deadline.c -- MPI_Comm_connect to a port at which nobody accepts, or which is closed meanwhile: MPI_ERR_PORT on all ranks that
 * connect, after the time that the info key `timeout` or GODWIT_CONNECT_TIMEOUT says; the error names the port and not its secret.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <unistd.h>

#include "spawn_check.h"

enum { NAME_BYTES = 7 + 16 }; /* "godwit:" and the port's number; the secret stands behind it */

static MPI_Info timeout_of(const char *seconds)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "timeout", seconds);
    return info;
}

/* The error of all ranks of comm is of this class; its text names the port, says `part`, and keeps the secret. */
static void fails(int code, int wanted, const char *port, const char *part)
{
    char text[MPI_MAX_ERROR_STRING] = "", name[NAME_BYTES + 1];
    int class, n;
    MPI_Error_class(code, &class);
    CHECK_EQ(class, wanted);
    MPI_Error_string(code, text, &n);
    snprintf(name, sizeof name, "%s", port);
    CHECK(strstr(text, part) != NULL);
    CHECK(wanted != MPI_ERR_PORT || strstr(text, name) != NULL);
    CHECK(strstr(text, port + NAME_BYTES + 1) == NULL);
    if (!strstr(text, part)) fprintf(stderr, "%s\n", text);
}

/* Rank 0 of the world has opened the port; the others, or rank 0 itself where it is alone, connect. */
static void nobody(const char *port, MPI_Comm others)
{
    MPI_Info info = timeout_of("0.2"), wrong = timeout_of("soon");
    MPI_Comm inter;
    int root, n;
    MPI_Comm_size(others, &n);
    root = n - 1;
    fails(MPI_Comm_connect(port, info, root, others, &inter), MPI_ERR_PORT, port, "timeout");
    fails(MPI_Comm_connect(port, wrong, root, others, &inter), MPI_ERR_INFO_VALUE, port, "soon");
    if (getenv("GODWIT_CONNECT_TIMEOUT"))
        fails(MPI_Comm_connect(port, MPI_INFO_NULL, root, others, &inter), MPI_ERR_PORT, port, "GODWIT_CONNECT_TIMEOUT");
    MPI_Info_free(&info);
    MPI_Info_free(&wrong);
}

/* The accepting side, after all those attempts: they do not count, and the next process that connects is served. */
static void serve(const char *port)
{
    MPI_Info info = timeout_of("0.1");
    MPI_Comm inter;
    fails(MPI_Comm_accept(port, info, 0, MPI_COMM_SELF, &inter), MPI_ERR_PORT, port, "timeout");
    MPI_Info_free(&info);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter), MPI_SUCCESS);
    inter_everything(inter, 1);
    MPI_Comm_disconnect(&inter);
}

static void connect_late(const char *port, MPI_Comm others)
{
    MPI_Comm inter;
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(MPI_Comm_connect(port, MPI_INFO_NULL, 0, others, &inter), MPI_SUCCESS);
    inter_everything(inter, 0);
    MPI_Comm_disconnect(&inter);
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm others, inter;
    MPI_Init(&argc, &argv);
    test_begin();
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (rank == 0) CHECK_EQ(MPI_Open_port(MPI_INFO_NULL, port), MPI_SUCCESS);
    MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0 || size == 1, 0, &others);
    MPI_Comm_set_errhandler(others, MPI_ERRORS_RETURN);
    if (rank > 0 || size == 1) nobody(port, others);
    MPI_Barrier(MPI_COMM_WORLD);
    if (size > 1) {
        if (rank == 0)
            serve(port);
        else
            connect_late(port, others);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank > 0) fails(MPI_Comm_connect(port, MPI_INFO_NULL, 0, others, &inter), MPI_ERR_PORT, port, "closed");
    }
    if (rank == 0) {
        usleep(200000); /* most likely the others wait there by now; if not, they find it closed */
        CHECK_EQ(MPI_Close_port(port), MPI_SUCCESS);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank > 0) fails(MPI_Comm_connect(port, MPI_INFO_NULL, 0, others, &inter), MPI_ERR_PORT, port, "closed");
    MPI_Comm_free(&others);
    return test_end();
}
