/* listens.c -- no socket of a rank takes connections or datagrams from anywhere but this host: every one that listens, and every datagram
 * socket without a peer, is bound to a loopback address.  Ranks send to each other first, by way of the network where nodes are faked.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <unistd.h>

#include "p2p_check.h"

enum { TCP_LISTENS = 10, UDP_OPEN = 7, MOST = 256 };

/* The inodes of the sockets that this process has. */
static int sockets_get(unsigned long inode[MOST])
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    CHECK(d != NULL);
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[300], to[64] = "";
        snprintf(path, sizeof path, "/proc/self/fd/%s", e->d_name);
        ssize_t len = readlink(path, to, sizeof to - 1);
        if (len > 0 && n < MOST && sscanf(to, "socket:[%lu]", &inode[n]) == 1) n++;
    }
    if (d) closedir(d);
    return n;
}

static int is_loopback(const char *hex)
{
    return strcmp(hex, "00000000000000000000000001000000") == 0 || (strlen(hex) == 8 && strcmp(hex + 6, "7F") == 0);
}

/* How many of this rank's are open to other hosts, and how many are not. */
static void table_look(const char *name, const unsigned long *inode, int n, int *open_out, int *closed_out)
{
    char path[64], line[512], at[64], remote[64];
    snprintf(path, sizeof path, "/proc/self/net/%s", name);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
        unsigned port, state;
        unsigned long is;
        if (sscanf(line, " %*d: %63[0-9A-F]:%x %63s %x %*s %*s %*s %*s %*s %lu", at, &port, remote, &state, &is) != 5) continue;
        int mine = 0;
        for (int i = 0; i < n; i++) mine |= inode[i] == is;
        if (!mine || state != (name[0] == 't' ? TCP_LISTENS : UDP_OPEN)) continue;
        if (is_loopback(at))
            ++*closed_out;
        else
            ++*open_out;
        if (!is_loopback(at)) printf("rank %d is open to others: %s %s port %u\n", rank, name, at, port);
    }
    if (f) fclose(f);
}

int main(int argc, char **argv)
{
    static const char *const tables[] = {"tcp", "tcp6", "udp", "udp6"};
    unsigned long inode[MOST];
    int open = 0, closed = 0, in = -1;
    MPI_Init(&argc, &argv);
    test_begin();
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Sendrecv(&rank, 1, MPI_INT, next, 0, &in, 1, MPI_INT, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQ(in, before);
    int n = sockets_get(inode);
    for (int i = 0; i < 4; i++) table_look(tables[i], inode, n, &open, &closed);
    CHECK_EQ(open, 0);
    if (argc > 1 && strcmp(argv[1], "some") == 0) CHECK(closed > 0);
    MPI_Barrier(MPI_COMM_WORLD);
    return test_end();
}
