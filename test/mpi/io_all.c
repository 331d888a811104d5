/* io_all.c -- collective access: by aggregators and without, blocking, split and behind requests; data checked by plain reads.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "io_check.h"

enum { ROWS = 60, COLS = 47, CELLS = ROWS * COLS, ROOM = 1 << 17 };
static int cells[CELLS], back[2 * CELLS], file[CELLS + 100];
static unsigned char bytes[ROOM], got[ROOM];

static MPI_Info hints(const char *buffering, const char *nodes, const char *buffer)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", buffering);
    MPI_Info_set(info, "romio_cb_read", buffering);
    if (nodes) MPI_Info_set(info, "cb_nodes", nodes);
    if (buffer) MPI_Info_set(info, "cb_buffer_size", buffer);
    return info;
}

/* A matrix dealt out in blocks: the part of this rank, and how many cells it has. */
static MPI_Datatype matrix(int how, int arg, int *n_out)
{
    int sizes[2] = {ROWS, COLS}, distribs[2] = {how, how}, args[2] = {arg, arg}, grid[2] = {0, 0}, n;
    MPI_Datatype t;
    MPI_Dims_create(size, 2, grid);
    MPI_Type_create_darray(size, rank, 2, sizes, distribs, args, grid, MPI_ORDER_C, MPI_INT, &t);
    MPI_Type_commit(&t);
    MPI_Type_size(t, &n);
    *n_out = n / 4;
    return t;
}

/* Written in one distribution, read in another. */
static void two_matrices(MPI_Info info, int split, int pieces)
{
    const char *name = in_folder("matrix");
    MPI_File f;
    MPI_Status status;
    MPI_Request request;
    MPI_Datatype memory;
    int n, m, count;
    MPI_Datatype blocks = matrix(MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_DFLT_DARG, &n), cyclic = matrix(MPI_DISTRIBUTE_CYCLIC, 3, &m);
    MPI_Type_create_resized(MPI_INT, 0, pieces ? 8 : 4, &memory);
    MPI_Type_commit(&memory);
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &f));
    OK(MPI_File_set_view(f, 12, MPI_INT, cyclic, "native", MPI_INFO_NULL));
    for (int i = 0, k = 0; i < CELLS; i++) /* the cells that this rank has, by asking where they lie */
        if (k < m) {
            MPI_Offset at;
            OK(MPI_File_get_byte_offset(f, k, &at));
            if (at == 12 + 4L * i) back[(pieces ? 2 : 1) * k++] = 1000000 + i;
        }
    if (split) {
        OK(MPI_File_write_all_begin(f, back, m, memory));
        FAILS(MPI_File_write_at_all(f, 0, back, 0, MPI_INT, &status), MPI_ERR_IO);
        FAILS(MPI_File_iwrite_at_all(f, 0, back, 0, MPI_INT, &request), MPI_ERR_IO);
        FAILS(MPI_File_read_all_end(f, back, &status), MPI_ERR_IO);
        OK(MPI_File_write_all_end(f, back, &status));
        FAILS(MPI_File_write_all_end(f, back, &status), MPI_ERR_IO);
        OK(MPI_File_write_at_all_begin(f, 0, back, m, memory));
        OK(MPI_File_write_at_all_end(f, back, &status));
    } else {
        OK(MPI_File_write_all(f, back, m, memory, &status));
        MPI_Offset at;
        OK(MPI_File_get_position(f, &at));
        CHECK_EQ(at, m);
    }
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK_EQ(count, m);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(plain_read(name, file, sizeof file), 12 + 4L * CELLS);
    int wrong = 0;
    for (int i = 0; i < CELLS; i++) wrong += file[3 + i] != 1000000 + i;
    CHECK_EQ(wrong, 0);
    OK(MPI_File_set_view(f, 12, MPI_INT, blocks, "native", MPI_INFO_NULL));
    memset(cells, 0xff, sizeof cells);
    if (split) {
        OK(MPI_File_read_at_all_begin(f, 0, cells, n, MPI_INT));
        OK(MPI_File_read_at_all_end(f, cells, &status));
    } else {
        OK(MPI_File_read_at_all(f, 0, cells, n, MPI_INT, &status));
    }
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK_EQ(count, n);
    wrong = 0;
    for (int k = 0; k < n; k++) {
        MPI_Offset at;
        OK(MPI_File_get_byte_offset(f, k, &at));
        wrong += cells[k] != 1000000 + (int)(at - 12) / 4;
    }
    CHECK_EQ(wrong, 0);
    OK(MPI_File_close(&f));
    MPI_Type_free(&blocks), MPI_Type_free(&cyclic), MPI_Type_free(&memory);
    file_remove(name);
}

/* Pieces of all lengths, dealt out without a rule; holes that nobody writes; ranks with nothing; overlapping reads. */
static int owner(int block, unsigned seed) { return pattern_at(seed, block) % (size + 1); } /* size: nobody */
static int length(int block, unsigned seed) { return 1 + pattern_at(seed + 1, block) % 90; }

static void irregular(MPI_Info info, unsigned seed)
{
    enum { BLOCKS = 500 };
    static int lens[BLOCKS], at[BLOCKS];
    const char *name = in_folder("irregular");
    MPI_File f;
    MPI_Status status;
    MPI_Datatype mine;
    int n = 0, sum = 0, place = 0, wrong = 0;
    memset(got, 0, sizeof got);
    for (int b = 0; b < BLOCKS; b++) {
        int o = owner(b, seed);
        if (o == 1 && size > 2) o = size; /* rank 1 has nothing */
        if (o == rank) {
            lens[n] = length(b, seed), at[n++] = place;
            pattern_fill(bytes + sum, length(b, seed), seed + (unsigned)b);
            sum += length(b, seed);
        }
        place += length(b, seed);
    }
    pattern_fill(got, place, 77); /* what nobody writes stays */
    plain_write(name, got, place);
    MPI_Type_indexed(n, lens, at, MPI_BYTE, &mine);
    MPI_Type_commit(&mine);
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, info, &f));
    OK(MPI_File_set_view(f, 0, MPI_BYTE, n ? mine : MPI_BYTE, "native", MPI_INFO_NULL));
    OK(MPI_File_write_all(f, bytes, sum, MPI_BYTE, &status));
    CHECK_EQ(count_of(&status), sum);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(plain_read(name, got, ROOM), place);
    for (int b = 0, i = 0; b < BLOCKS; b++) {
        int o = owner(b, seed), nobody = o == size || (o == 1 && size > 2);
        for (int k = 0; k < length(b, seed); k++, i++)
            wrong += got[i] != (nobody ? pattern_at(77, i) : pattern_at(seed + (unsigned)b, k));
    }
    CHECK_EQ(wrong, 0);
    memset(bytes, 0, sizeof bytes);
    OK(MPI_File_seek(f, 0, MPI_SEEK_SET));
    OK(MPI_File_read_all(f, bytes, sum, MPI_BYTE, &status));
    CHECK_EQ(count_of(&status), sum);
    for (int b = 0, i = 0, k; b < BLOCKS; b++)
        if (owner(b, seed) == rank && !(rank == 1 && size > 2))
            for (k = 0; k < length(b, seed); k++) wrong += bytes[i++] != pattern_at(seed + (unsigned)b, k);
    CHECK_EQ(wrong, 0);
    /* All read all, and more than there is. */
    OK(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    memset(bytes, 0, sizeof bytes);
    OK(MPI_File_read_at_all(f, rank, bytes, place, MPI_BYTE, &status));
    CHECK_EQ(count_of(&status), place - rank);
    CHECK_EQ(memcmp(bytes, got + rank, (size_t)(place - rank)), 0);
    CHECK_EQ(bytes[place - rank], 0);
    OK(MPI_File_close(&f));
    MPI_Type_free(&mine);
    file_remove(name);
}

/* The file ends in the midst of everybody's pieces. */
static void short_file(MPI_Info info)
{
    const char *name = in_folder("short");
    MPI_File f;
    MPI_Status status;
    MPI_Datatype v, mine;
    long total = 10 * size * 8 - 5, want = 0; /* ten rows of 8 bytes a rank, less five bytes */
    pattern_fill(got, total, 9);
    plain_write(name, got, total);
    MPI_Type_contiguous(8, MPI_BYTE, &v);
    MPI_Type_create_resized(v, 0, 8L * size, &mine);
    MPI_Type_commit(&mine);
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, info, &f));
    OK(MPI_File_set_view(f, 8 * rank, MPI_BYTE, mine, "native", MPI_INFO_NULL));
    memset(bytes, 0x11, 400);
    OK(MPI_File_read_all(f, bytes, 200, MPI_BYTE, &status));
    for (int i = 0; i < 200; i++) {
        long at = (i / 8) * 8L * size + 8 * rank + i % 8;
        if (at < total) {
            CHECK_EQ(bytes[i], got[at]);
            want = i + 1;
        } else {
            CHECK_EQ(bytes[i], 0x11);
        }
    }
    CHECK_EQ(count_of(&status), want);
    FAILS(MPI_File_write_all(f, bytes, 1, MPI_BYTE, &status), MPI_ERR_READ_ONLY);
    CHECK(MPI_File_read_at_all(f, rank == size - 1 ? -1 : 0, bytes, 1, MPI_BYTE, &status) != MPI_SUCCESS); /* everybody's error */
    OK(MPI_File_close(&f));
    MPI_Type_free(&v), MPI_Type_free(&mine);
    file_remove(name);
}

static void external(MPI_Info info)
{
    const char *name = in_folder("external");
    MPI_File f;
    MPI_Status status;
    MPI_Datatype mine;
    long values[30], again[40];
    int n;
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &f));
    MPI_Type_create_resized(MPI_LONG, 0, 4 * size, &mine); /* bytes of the file */
    MPI_Type_commit(&mine);
    OK(MPI_File_set_view(f, 4 * rank, MPI_LONG, mine, "external32", MPI_INFO_NULL));
    for (int i = 0; i < 30; i++) values[i] = 100 * i + rank;
    OK(MPI_File_write_all(f, values, 30, MPI_LONG, &status));
    MPI_Get_count(&status, MPI_LONG, &n);
    CHECK_EQ(n, 30);
    memset(again, 0, sizeof again);
    OK(MPI_File_read_at_all(f, 5, again, 40, MPI_LONG, &status));
    MPI_Get_count(&status, MPI_LONG, &n);
    CHECK_EQ(n, 25);
    CHECK_EQ(memcmp(again, values + 5, 25 * sizeof(long)), 0);
    CHECK_EQ(again[25], 0);
    OK(MPI_File_close(&f));
    CHECK_EQ(plain_read(name, got, ROOM), 120 * size);
    for (int i = 0; i < 30 * size; i++) {
        long v = 100 * (i / size) + i % size;
        CHECK(got[4 * i] == 0 && got[4 * i + 1] == 0 && got[4 * i + 2] == v >> 8 && got[4 * i + 3] == (v & 255));
    }
    MPI_Type_free(&mine);
    file_remove(name);
}

/* The call that starts an access does not wait: here the other ranks come when the first has started. */
static void requests(MPI_Info info)
{
    const char *name = in_folder("requests");
    MPI_File f;
    MPI_Request r[2];
    MPI_Status statuses[2];
    int token = 0;
    pattern_fill(bytes, 600, 40u + (unsigned)rank);
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &f));
    if (rank > 0) MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    OK(MPI_File_iwrite_at_all(f, 600 * rank, bytes, 300, MPI_BYTE, &r[0]));
    OK(MPI_File_seek(f, 600 * rank + 300, MPI_SEEK_SET));
    OK(MPI_File_iwrite_all(f, bytes + 300, 300, MPI_BYTE, &r[1]));
    if (rank < size - 1) MPI_Send(&token, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
    OK(MPI_Waitall(2, r, statuses));
    CHECK(count_of(&statuses[0]) == 300 && count_of(&statuses[1]) == 300);
    MPI_Barrier(MPI_COMM_WORLD);
    int next = (rank + 1) % size;
    OK(MPI_File_seek(f, 600 * next + 100, MPI_SEEK_SET));
    OK(MPI_File_iread_all(f, got + 100, 500, MPI_BYTE, &r[0]));
    OK(MPI_File_iread_at_all(f, 600 * next, got, 100, MPI_BYTE, &r[1]));
    OK(MPI_Waitall(2, r, statuses));
    CHECK(count_of(&statuses[0]) == 500 && count_of(&statuses[1]) == 100);
    CHECK_EQ(pattern_wrong(got, 600, 40u + (unsigned)next), -1);
    OK(MPI_File_close(&f));
    file_remove(name);
}

/* Views whose data begin far behind where their tiles begin, by a lower bound or by tiles that overlap (an extent of 8 bytes): columns
 * of a table, one tile of them or three. */
static void far_off(MPI_Info info, int tiles, int extent)
{
    enum { LINES = 100, CELL = 40, BASE = 20011 };
    const char *name = in_folder("far");
    int whole = size * CELL * LINES, mine = CELL * LINES, wrong = 0;
    int lens[LINES];
    MPI_Aint at[LINES];
    MPI_File f;
    MPI_Status status;
    MPI_Datatype column, view;
    for (int i = 0; i < LINES; i++) lens[i] = CELL, at[i] = BASE + (MPI_Aint)CELL * (i * size + rank);
    MPI_Type_create_hindexed(LINES, lens, at, MPI_BYTE, &column);
    MPI_Type_create_resized(column, extent < 0 ? at[0] : 0, extent ? abs(extent) : whole, &view);
    MPI_Type_commit(&view);
    pattern_fill(bytes, tiles * mine, 500u + (unsigned)rank);
    memset(got, 0, sizeof got);
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &f));
    OK(MPI_File_set_view(f, 3, MPI_BYTE, view, "native", MPI_INFO_NULL));
    OK(MPI_File_write_at_all(f, 0, bytes, tiles * mine, MPI_BYTE, &status));
    CHECK_EQ(count_of(&status), tiles * mine);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(plain_read(name, got, ROOM), 3 + BASE + tiles * whole);
    for (int i = 0; i < 3 + BASE; i++) wrong += got[i] != 0;
    for (int i = 0; i < tiles * whole; i++) {
        int who = i / CELL % size, k = i / (CELL * size) * CELL + i % CELL;
        wrong += got[3 + BASE + i] != pattern_at(500u + (unsigned)who, k);
    }
    CHECK_EQ(wrong, 0);
    if (!extent) { /* the end of the file is the end of the data */
        MPI_Offset end;
        OK(MPI_File_seek(f, 0, MPI_SEEK_END));
        OK(MPI_File_get_position(f, &end));
        CHECK_EQ(end, tiles * mine);
    }
    memset(bytes, 0, sizeof bytes);
    OK(MPI_File_read_at_all(f, 0, bytes, tiles * mine, MPI_BYTE, &status));
    CHECK_EQ(count_of(&status), tiles * mine);
    for (int i = 0; i < tiles * mine; i++) wrong += bytes[i] != pattern_at(500u + (unsigned)rank, i);
    CHECK_EQ(wrong, 0);
    OK(MPI_File_close(&f));
    MPI_Type_free(&column);
    MPI_Type_free(&view);
    file_remove(name);
}

static void everything(MPI_Info info)
{
    far_off(info, 1, 0);
    far_off(info, 3, 0);
    far_off(info, 1, 8);
    far_off(info, 1, -(size * 4000));
    two_matrices(info, 0, 0);
    two_matrices(info, 1, 1);
    irregular(info, 11);
    irregular(info, 12);
    short_file(info);
    external(info);
    MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
    files_begin(&argc, &argv);
    everything(hints("automatic", NULL, NULL));
    everything(hints("disable", NULL, NULL));
    everything(hints("enable", NULL, NULL));
    everything(hints("enable", "1", "1000"));
    everything(hints("enable", "2", "4096"));
    everything(hints("enable", "100", "5000"));
    requests(MPI_INFO_NULL);
    return files_end();
}
