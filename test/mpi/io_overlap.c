/* io_overlap.c -- with GODWIT_PROGRESS_THREAD=1, collective accesses that were started end while the program makes no MPI call.
 *
 * The file is looked at with pread(2), and buffers before they may be (how else to see it without a call).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <time.h>

#include "io_check.h"

enum { CELL = 100, CELLS = 800, MINE = CELL * CELLS, SECONDS = 120 };
static unsigned char out[MINE], in[MINE], want[8 * MINE], have[8 * MINE];

struct look {
    int fd;
    const volatile unsigned char *buffer; /* NULL: at the file */
};

static int is_there(const struct look *l)
{
    if (!l->buffer)
        return pread(l->fd, have, (size_t)(size * MINE), 0) == size * MINE && !memcmp(have, want, (size_t)(size * MINE));
    for (int i = 0; i < MINE; i++)
        if (l->buffer[i] != out[i]) return 0;
    return 1;
}

/* Computes, without a call of MPI, until it is there or much time has passed. */
static int comes(const struct look *l)
{
    struct timespec start, now;
    double sum = 0;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        for (int i = 1; i < 100000; i++) sum += 1.0 / i;
        if (is_there(l)) return sum > 0;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec - start.tv_sec < SECONDS);
    return 0;
}

/* Every size-th cell of the file is this rank's. */
static MPI_File cells_open(const char *name, const char *buffer)
{
    MPI_File f;
    MPI_Info info;
    MPI_Datatype cell, mine;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", "enable");
    MPI_Info_set(info, "romio_cb_read", "enable");
    MPI_Info_set(info, "cb_buffer_size", buffer);
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &f));
    MPI_Type_contiguous(CELL, MPI_BYTE, &cell);
    MPI_Type_create_resized(cell, 0, CELL * size, &mine);
    MPI_Type_commit(&mine);
    OK(MPI_File_set_view(f, CELL * rank, MPI_BYTE, mine, "native", MPI_INFO_NULL));
    MPI_Type_free(&cell), MPI_Type_free(&mine);
    MPI_Info_free(&info);
    return f;
}

static void fill(unsigned seed)
{
    pattern_fill(out, MINE, seed + (unsigned)rank);
    for (int b = 0; b < size * MINE; b++)
        want[b] = pattern_at(seed + (unsigned)(b / CELL % size), b / (CELL * size) * CELL + b % CELL);
    memset(in, out[MINE - 1] + 1, sizeof in);
}

static void there_and_back(const char *buffer, unsigned seed)
{
    const char *name = in_folder("cells");
    MPI_File f = cells_open(name, buffer);
    MPI_Request r;
    MPI_Status status;
    struct look file = {open(name, O_RDONLY), NULL}, buffer_in = {-1, in};
    fill(seed);
    OK(MPI_File_iwrite_at_all(f, 0, out, MINE, MPI_BYTE, &r));
    CHECK(comes(&file));
    OK(MPI_Wait(&r, &status));
    CHECK_EQ(count_of(&status), MINE);
    OK(MPI_File_iread_at_all(f, 0, in, MINE, MPI_BYTE, &r));
    CHECK(comes(&buffer_in));
    OK(MPI_Wait(&r, &status));
    CHECK_EQ(count_of(&status), MINE);
    close(file.fd);
    OK(MPI_File_close(&f));
    file_remove(name);
}

int main(int argc, char **argv)
{
    files_begin(&argc, &argv);
    there_and_back("16777216", 5);
    there_and_back("20000", 50);
    return files_end();
}
