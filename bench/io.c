/* io.c -- times collective file access of the MPI library it is compiled with; bench/compare builds it with each library.
 *
 *     io MIB FILE      prints lines "name MIB microseconds" (rank 0): the best of the batches
 *
 * A 3-D array of doubles of MIB megabytes is dealt out in blocks to all ranks and written to, and read from, one file.  In memory a
 * block has a layer of ghost cells around it.  planes: the slowest two dimensions are cut (long pieces of the file); rows: the
 * fastest two (pieces of half a row); steps: the same with 8 arrays of an eighth of the size in turn.  iwrite_, iread_: by
 * MPI_File_iwrite_all and MPI_File_iread_all, each waited for at once.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks, batches;
static double *block; /* with ghost cells */
static MPI_Datatype memory, filetype;
static long cells;

static void fail(const char *what)
{
    fprintf(stderr, "rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* cut: how many blocks along each dimension. */
static void deal(const int *sizes, const int *cut)
{
    int mine[3], start[3], wide[3], one[3] = {1, 1, 1},
                                    where[3] = {rank / (cut[1] * cut[2]), rank / cut[2] % cut[1], rank % cut[2]};
    cells = 1;
    for (int d = 0; d < 3; d++) {
        start[d] = (int)((long)sizes[d] * where[d] / cut[d]);
        mine[d] = (int)((long)sizes[d] * (where[d] + 1) / cut[d]) - start[d];
        wide[d] = mine[d] + 2;
        cells *= wide[d];
    }
    MPI_Type_create_subarray(3, sizes, mine, start, MPI_ORDER_C, MPI_DOUBLE, &filetype);
    MPI_Type_create_subarray(3, wide, mine, one, MPI_ORDER_C, MPI_DOUBLE, &memory);
    MPI_Type_commit(&filetype), MPI_Type_commit(&memory);
    block = malloc((size_t)cells * sizeof *block);
    if (!block) fail("no memory");
}

static int access_all(MPI_File f, int write, int starts)
{
    MPI_Request r;
    if (!starts)
        return write ? MPI_File_write_all(f, block, 1, memory, MPI_STATUS_IGNORE)
                     : MPI_File_read_all(f, block, 1, memory, MPI_STATUS_IGNORE);
    int rc = write ? MPI_File_iwrite_all(f, block, 1, memory, &r) : MPI_File_iread_all(f, block, 1, memory, &r);
    return rc == MPI_SUCCESS ? MPI_Wait(&r, MPI_STATUS_IGNORE) : rc;
}

static double once(MPI_File f, int write, int steps, int starts)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double t = MPI_Wtime(), longest;
    int rc = MPI_SUCCESS;
    MPI_File_seek(f, 0, MPI_SEEK_SET);
    for (int i = 0; i < steps && rc == MPI_SUCCESS; i++) rc = access_all(f, write, starts);
    if (rc != MPI_SUCCESS) fail("an access failed");
    t = MPI_Wtime() - t;
    MPI_Allreduce(&t, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return longest;
}

static void time_it(const char *name, int mib, const char *file, const int *sizes, const int *cut, int steps, int starts)
{
    const char *i_ = starts ? "i" : "";
    double best[2] = {1e9, 1e9};
    MPI_File f;
    deal(sizes, cut);
    for (long i = 0; i < cells; i++) block[i] = rank * 1e9 + (double)i;
    if (MPI_File_open(MPI_COMM_WORLD, file, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f)) fail("cannot open the file");
    MPI_File_set_view(f, 0, MPI_DOUBLE, filetype, "native", MPI_INFO_NULL);
    for (int i = 0; i < batches; i++)
        for (int write = 1; write >= 0; write--) {
            double t = once(f, write, steps, starts);
            if (t < best[write]) best[write] = t;
        }
    for (long i = 0; i < cells; i++) /* what was read is what was written, ghost cells are untouched */
        if (block[i] != rank * 1e9 + (double)i) fail("wrong data");
    MPI_File_close(&f);
    if (rank == 0) printf("%swrite_%s %d %.0f\n%sread_%s %d %.0f\n", i_, name, mib, best[1] * 1e6, i_, name, mib, best[0] * 1e6);
    if (rank == 0) MPI_File_delete(file, MPI_INFO_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Type_free(&memory), MPI_Type_free(&filetype);
    free(block);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 3 || atoi(argv[1]) < 8) fail("usage: io MIB FILE");
    int mib = atoi(argv[1]), two[2] = {0, 0};
    batches = mib >= 512 ? 2 : 7;
    MPI_Dims_create(ranks, 2, two);
    int sizes[3] = {mib * 2, 256, 256}, eighth[3] = {mib / 4, 256, 256}, planes[3] = {two[0], two[1], 1},
        rows[3] = {1, two[0], two[1]};
    time_it("planes", mib, argv[2], sizes, planes, 1, 0);
    time_it("rows", mib, argv[2], sizes, rows, 1, 0);
    time_it("steps", mib, argv[2], eighth, rows, 8, 0);
    time_it("planes", mib, argv[2], sizes, planes, 1, 1);
    time_it("rows", mib, argv[2], sizes, rows, 1, 1);
    MPI_Finalize();
    return 0;
}
