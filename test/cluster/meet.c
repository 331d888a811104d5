/* meet.c -- jobs on hosts of a cluster meet (meet.sh).  FILE lies on a file system that all hosts share.
 *
 *   serve FILE N       opens a port, writes it to FILE, serves N other jobs, one after the other, closes it
 *   use FILE           connects there
 *   closed FILE        the same, and it fails with MPI_ERR_PORT on all ranks
 *   late FILE          opens a port, writes it to FILE, accepts nobody; ends when FILE is gone
 *   patient FILE       connects there with the info key timeout: MPI_ERR_PORT
 *   join FILE 0|1      one rank each: 1 listens at a TCP socket, and both join by it
 *   spawn N            starts N processes, children of all ranks
 *   publish NAME FILE, lookup NAME  as serve and use of one job, by a published name
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../mpi/spawn_check.h"

static void line_write(const char *path, const char *text)
{
    char other[512];
    snprintf(other, sizeof other, "%s.new", path);
    FILE *f = fopen(other, "w");
    CHECK(f && fprintf(f, "%s\n", text) > 0 && fclose(f) == 0 && rename(other, path) == 0);
}

static void line_read(const char *path, char *text, int room)
{
    FILE *f;
    while (!(f = fopen(path, "r"))) usleep(10000);
    CHECK(fgets(text, room, f) != NULL);
    text[strcspn(text, "\n")] = 0;
    fclose(f);
}

static void serve(const char *path, const char *name, int n)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;
    if (rank == 0) {
        CHECK_EQ(MPI_Open_port(MPI_INFO_NULL, port), MPI_SUCCESS);
        if (name) CHECK_EQ(MPI_Publish_name(name, MPI_INFO_NULL, port), MPI_SUCCESS);
        line_write(path, port);
    }
    for (int i = 0; i < n; i++) {
        CHECK_EQ(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter), MPI_SUCCESS);
        inter_everything(inter, 1);
        MPI_Comm_disconnect(&inter);
    }
    while (rank == 0 && n == 0 && access(path, F_OK) == 0) usleep(20000);
    if (rank == 0 && name) CHECK_EQ(MPI_Unpublish_name(name, MPI_INFO_NULL, port), MPI_SUCCESS);
    if (rank == 0) CHECK_EQ(MPI_Close_port(port), MPI_SUCCESS);
}

static void use(const char *path, const char *name)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;
    if (rank == size - 1 && name) {
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        while (MPI_Lookup_name(name, MPI_INFO_NULL, port) != MPI_SUCCESS) usleep(10000);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    } else if (rank == size - 1) {
        line_read(path, port, sizeof port);
    }
    CHECK_EQ(MPI_Comm_connect(port, MPI_INFO_NULL, size - 1, MPI_COMM_WORLD, &inter), MPI_SUCCESS);
    inter_everything(inter, 0);
    MPI_Comm_disconnect(&inter);
}

static void refused(const char *path, const char *timeout)
{
    char port[MPI_MAX_PORT_NAME] = "";
    int class;
    MPI_Comm inter, comm;
    MPI_Info info;
    MPI_Info_create(&info);
    if (timeout) MPI_Info_set(info, "timeout", timeout);
    if (rank == 0) line_read(path, port, sizeof port);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Comm_connect(port, info, 0, comm, &inter), &class);
    CHECK_EQ(class, MPI_ERR_PORT);
    MPI_Info_free(&info);
    MPI_Comm_free(&comm);
}

static void join(const char *path, int listens)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t bytes = sizeof at;
    char host[128], text[256];
    int s = socket(AF_INET, SOCK_STREAM, 0), fd = s, port, number = 17;
    MPI_Comm inter;
    if (listens) {
        CHECK(bind(s, (struct sockaddr *)&at, sizeof at) == 0 && listen(s, 1) == 0 &&
              getsockname(s, (struct sockaddr *)&at, &bytes) == 0);
        gethostname(host, sizeof host);
        snprintf(text, sizeof text, "%s %d", host, ntohs(at.sin_port));
        line_write(path, text);
        fd = accept(s, NULL, NULL);
    } else {
        line_read(path, text, sizeof text);
        CHECK_EQ(sscanf(text, "%127s %d", host, &port), 2);
        struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found;
        CHECK_EQ(getaddrinfo(host, NULL, &hints, &found), 0);
        at = *(struct sockaddr_in *)found->ai_addr;
        at.sin_port = htons((unsigned short)port);
        freeaddrinfo(found);
        CHECK_EQ(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    }
    CHECK_EQ(MPI_Comm_join(fd, &inter), MPI_SUCCESS);
    inter_everything(inter, listens);
    MPI_Comm_disconnect(&inter);
    CHECK_EQ(send(fd, &number, sizeof number, 0), sizeof number); /* the socket is as it was: nothing is left in it */
    number = 0;
    CHECK_EQ(recv(fd, &number, sizeof number, MSG_WAITALL), sizeof number);
    CHECK_EQ(number, 17);
    close(fd);
    if (listens) close(s);
}

static void child(int argc, char **argv, MPI_Comm parent)
{
    (void)argc, (void)argv;
    inter_everything(parent, 1);
    MPI_Comm_disconnect(&parent);
}

static void spawn(char *self, int n)
{
    MPI_Comm inter;
    int codes[64];
    CHECK_EQ(MPI_Comm_spawn(self, MPI_ARGV_NULL, n, MPI_INFO_NULL, size - 1, MPI_COMM_WORLD, &inter, codes), MPI_SUCCESS);
    for (int i = 0; i < n; i++) CHECK_EQ(codes[i], MPI_SUCCESS);
    inter_everything(inter, 0);
    MPI_Comm_disconnect(&inter);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    if (spawn_child(argc, argv, child)) return test_end();
    const char *what = argc > 2 ? argv[1] : "";
    if (strcmp(what, "serve") == 0) serve(argv[2], NULL, atoi(argv[3]));
    if (strcmp(what, "use") == 0) use(argv[2], NULL);
    if (strcmp(what, "closed") == 0) refused(argv[2], NULL);
    if (strcmp(what, "late") == 0) serve(argv[2], NULL, 0);
    if (strcmp(what, "patient") == 0) refused(argv[2], "0.3");
    if (strcmp(what, "join") == 0) join(argv[2], atoi(argv[3]));
    if (strcmp(what, "spawn") == 0) spawn(argv[0], atoi(argv[2]));
    if (strcmp(what, "publish") == 0) serve(argv[3], argv[2], 1);
    if (strcmp(what, "lookup") == 0) use(NULL, argv[2]);
    return test_end();
}
