/* tied.c FILE SIGN ROLE HOW FATE -- two jobs that are connected, or were, and one of them fails (tied.sh).
 *
 *   ROLE  serve: opens a port and writes it to FILE; use: connects there; both say "met" then
 *   HOW   tied: they stay connected; parted: they disconnect, and say "parted"
 *   FATE  abort: the last rank calls MPI_Abort; stay: waits for a message that nobody sends; poll: the same, by MPI_Iprobe;
 *         go: once the file SIGN is there all ranks meet, and rank 0 says "goes on"; end: MPI_Finalize at once
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

static int is(const char *a, const char *b) { return strcmp(a, b) == 0; }

static void say(const char *what)
{
    if (rank == 0) puts(what);
    fflush(stdout);
}

static void port_write(const char *path, const char *port)
{
    char other[512];
    snprintf(other, sizeof other, "%s.new", path);
    FILE *f = fopen(other, "w");
    if (!f || fputs(port, f) < 0 || fclose(f) != 0 || rename(other, path) != 0) MPI_Abort(MPI_COMM_WORLD, 70);
}

static void port_read(const char *path, char *port)
{
    FILE *f;
    while (!(f = fopen(path, "r"))) usleep(10000);
    if (!fgets(port, MPI_MAX_PORT_NAME, f)) MPI_Abort(MPI_COMM_WORLD, 71);
    fclose(f);
}

static MPI_Comm meet(const char *path, int serves)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;
    if (serves && rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        port_write(path, port);
    } else if (rank == 0) {
        port_read(path, port);
    }
    if (serves)
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    else
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    return inter;
}

static void meets_fate(const char *fate, const char *sign, MPI_Comm inter)
{
    MPI_Comm from = inter == MPI_COMM_NULL ? MPI_COMM_SELF : inter;
    int number, flag;
    if (is(fate, "abort")) {
        while (rank == size - 1 && access(sign, F_OK) != 0) usleep(10000);
        if (rank == size - 1) MPI_Abort(MPI_COMM_WORLD, 9);
    }
    if (is(fate, "poll"))
        for (;;) MPI_Iprobe(0, 4711, from, &flag, MPI_STATUS_IGNORE);
    if (is(fate, "stay") || is(fate, "abort")) MPI_Recv(&number, 1, MPI_INT, 0, 4711, from, MPI_STATUS_IGNORE);
    if (is(fate, "go")) {
        while (access(sign, F_OK) != 0) MPI_Iprobe(MPI_ANY_SOURCE, 4711, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE), usleep(1000);
        MPI_Barrier(MPI_COMM_WORLD);
        say("goes on");
    }
}

int main(int argc, char **argv)
{
    MPI_Comm inter;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 6) return 2;
    inter = meet(argv[1], is(argv[3], "serve"));
    MPI_Barrier(inter);
    say("met");
    if (is(argv[4], "parted")) {
        MPI_Comm_disconnect(&inter);
        say("parted");
    }
    meets_fate(argv[5], argv[2], inter);
    MPI_Finalize();
    return 0;
}
