/* meet.c -- jobs on hosts of a cluster meet (meet.sh).  FILE lies on a file system that all hosts share.
 *
 *   serve FILE N       opens a port, writes it to FILE, serves N other jobs, one after the other, closes it
 *   use FILE           connects there
 *   closed FILE        the same, and it fails with MPI_ERR_PORT on all ranks
 *   late FILE          opens a port, writes it to FILE, accepts nobody; ends when FILE is gone
 *   patient FILE       connects there with the info key timeout: MPI_ERR_PORT
 *   join FILE 0|1      one rank each: 1 listens at a TCP socket, and both join by it
 *   spawn N            starts N processes, children of all ranks
 *   place N KEY VALUE [N KEY VALUE]  starts N processes of each program with that info key ("-": none), of all hosts; says where they run
 *   noplace KEY VALUE CLASS          the same is refused: "spawn", "value"
 *   stay KEY VALUE     two children that are placed so; they and their parents say "met" and wait for ever
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
    char host[64] = "";
    gethostname(host, sizeof host - 1);
    if (strcmp(argv[argc - 1], "stay") == 0) {
        MPI_Barrier(parent);
        MPI_Recv(host, 1, MPI_INT, 0, 4711, parent, MPI_STATUS_IGNORE);
    }
    if (strcmp(argv[argc - 1], "where") == 0) MPI_Gather(host, sizeof host, MPI_CHAR, NULL, 0, MPI_CHAR, 0, parent);
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

static MPI_Info info_of(const char *key, const char *value)
{
    MPI_Info info = MPI_INFO_NULL;
    if (strcmp(key, "-") == 0) return info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    return info;
}

/* The children's hosts in their order, "n2 n2 n3". */
static void place(char *self, int programs, char **words)
{
    enum { MOST = 4 };
    char *commands[MOST], *child_words[] = {"where", NULL}, **argvs[MOST], *hosts;
    int counts[MOST], total = 0, codes[64];
    MPI_Info infos[MOST];
    MPI_Comm inter;
    CHECK(programs <= MOST);
    for (int i = 0; i < programs; i++) {
        commands[i] = self;
        argvs[i] = child_words;
        total += counts[i] = atoi(words[3 * i]);
        infos[i] = info_of(words[3 * i + 1], words[3 * i + 2]);
    }
    CHECK(total <= 64);
    CHECK_EQ(MPI_Comm_spawn_multiple(programs, commands, argvs, counts, infos, 0, MPI_COMM_WORLD, &inter, codes), MPI_SUCCESS);
    for (int i = 0; i < total; i++) CHECK_EQ(codes[i], MPI_SUCCESS);
    hosts = calloc((size_t)total, 64);
    MPI_Gather(NULL, 0, MPI_CHAR, hosts, 64, MPI_CHAR, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
    for (int i = 0; rank == 0 && i < total; i++) printf("%s%s", hosts + 64 * (size_t)i, i == total - 1 ? "\n" : " ");
    fflush(stdout);
    free(hosts);
    inter_everything(inter, 0);
    MPI_Comm_disconnect(&inter);
    for (int i = 0; i < programs; i++)
        if (infos[i] != MPI_INFO_NULL) MPI_Info_free(&infos[i]);
}

static void noplace(char *self, char **words)
{
    MPI_Info info = info_of(words[0], words[1]);
    MPI_Comm comm, inter;
    char text[MPI_MAX_ERROR_STRING];
    int code, class, len;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    code = MPI_Comm_spawn(self, MPI_ARGV_NULL, 1, info, 0, comm, &inter, MPI_ERRCODES_IGNORE);
    MPI_Error_class(code, &class);
    CHECK_EQ(class, strcmp(words[2], "value") == 0 ? MPI_ERR_INFO_VALUE : MPI_ERR_SPAWN);
    MPI_Error_string(code, text, &len);
    if (rank == 0) puts(text);
    MPI_Comm_free(&comm);
    MPI_Info_free(&info);
}

static void stay(char *self, const char *key, const char *value)
{
    char *child_words[] = {"stay", NULL};
    MPI_Info info = info_of(key, value);
    MPI_Comm inter;
    int number;
    CHECK_EQ(MPI_Comm_spawn(self, child_words, 2, info, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE), MPI_SUCCESS);
    MPI_Barrier(inter);
    if (rank == 0) puts("met");
    fflush(stdout);
    MPI_Recv(&number, 1, MPI_INT, 0, 4711, inter, MPI_STATUS_IGNORE);
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
    if (strcmp(what, "place") == 0) place(argv[0], (argc - 2) / 3, argv + 2);
    if (strcmp(what, "noplace") == 0) noplace(argv[0], argv + 2);
    if (strcmp(what, "stay") == 0) stay(argv[0], argv[2], argv[3]);
    if (strcmp(what, "publish") == 0) serve(argv[3], argv[2], 1);
    if (strcmp(what, "lookup") == 0) use(NULL, argv[2]);
    return test_end();
}
