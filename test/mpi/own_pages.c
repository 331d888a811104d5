/* own_pages.c -- which pages the library's own memory lies on once everybody has talked to everybody: each rank prints the KiB of the node's
 * segment that are mapped by huge pages here and that are resident here, and the KiB of its own memory on huge pages (own_pages.sh).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

#include <string.h>

enum { N = 1000 };

static void talk(void)
{
    static int out[N], in[N];
    for (int i = 1; i < size; i++) {
        int to = (rank + i) % size, from = (rank - i + size) % size;
        for (int k = 0; k < N; k++) out[k] = rank * 7 + to + k;
        MPI_Sendrecv(out, N, MPI_INT, to, 5, in, N, MPI_INT, from, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int k = 0; k < N; k++)
            if (in[k] != from * 7 + rank + k) CHECK_EQ(in[k], from * 7 + rank + k);
    }
    MPI_Allreduce(MPI_IN_PLACE, out, N, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    char line[512];
    long huge = 0, resident = 0, own = 0, n;
    int is_segment = 0;
    MPI_Init(&argc, &argv);
    test_begin();
    talk();
    MPI_Barrier(MPI_COMM_WORLD);
    FILE *f = fopen("/proc/self/smaps", "r");
    while (f && fgets(line, sizeof line, f)) {
        if (strstr(line, "-") && (strstr(line, " rw-s ") || strstr(line, " rw-p ") || strstr(line, " r--") || strstr(line, " ---")))
            is_segment = strstr(line, " rw-s ") && (strstr(line, "/memfd:godwit") || strstr(line, "/dev/shm/"));
        if (is_segment && (sscanf(line, "ShmemPmdMapped: %ld", &n) == 1 || sscanf(line, "FilePmdMapped: %ld", &n) == 1)) huge += n;
        if (is_segment && sscanf(line, "Rss: %ld", &n) == 1) resident += n;
        if (sscanf(line, "AnonHugePages: %ld", &n) == 1) own += n;
    }
    if (f) fclose(f);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("rank %d: KiB on huge pages: segment %ld of %ld that are resident, own %ld\n", rank, huge, resident, own);
    return test_end();
}
