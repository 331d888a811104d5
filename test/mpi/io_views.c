/* io_views.c -- views with all kinds of datatypes, checked against plain bytes and a model that walks the type maps by hand.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "io_check.h"

enum { ROOM = 1 << 17 };
static unsigned char image[ROOM], mine[ROOM], memory[ROOM], got[ROOM];

/* A type as this test knows it: the bytes of one instance by their places, in order. */
struct shape {
    MPI_Datatype type;
    long n, extent;
    long at[4096];
};

static void shape_end(struct shape *s)
{
    MPI_Aint lb, extent;
    int bytes;
    MPI_Type_commit(&s->type);
    MPI_Type_get_extent(s->type, &lb, &extent);
    MPI_Type_size(s->type, &bytes);
    CHECK_EQ(bytes, s->n);
    s->extent = extent;
}
static void shape_add(struct shape *s, long at, long n)
{
    for (long i = 0; i < n; i++) s->at[s->n++] = at + i;
}

/* Number k of the shapes; -1: there are no more. */
static int shape_make(struct shape *s, int k, int ranks, int me)
{
    s->n = 0;
    switch (k) {
    case 0: /* every rank its bytes of a row */
        MPI_Type_vector(5, 4, 4 * ranks, MPI_INT, &s->type);
        for (int i = 0; i < 5; i++) shape_add(s, 16L * ranks * i, 16);
        break;
    case 1: { /* tiles that interleave between ranks */
        MPI_Datatype v;
        MPI_Type_contiguous(3, MPI_DOUBLE, &v);
        MPI_Type_create_resized(v, 0, 24L * ranks, &s->type);
        MPI_Type_free(&v);
        shape_add(s, 0, 24);
        break;
    }
    case 2: { /* blocks of different sizes, a hole at the begin and at the end */
        int lens[4] = {1, 3, 2, 6}, at[4] = {2, 5, 20, 31};
        MPI_Datatype v;
        MPI_Type_indexed(4, lens, at, MPI_SHORT, &v);
        MPI_Type_create_resized(v, 0, 100, &s->type);
        MPI_Type_free(&v);
        for (int i = 0; i < 4; i++) shape_add(s, 2L * at[i], 2L * lens[i]);
        break;
    }
    case 3: { /* a part of an array */
        int sizes[3] = {4, 5, 6}, sub[3] = {2, 3, 4}, from[3] = {1, 1, 2};
        MPI_Type_create_subarray(3, sizes, sub, from, MPI_ORDER_C, MPI_INT, &s->type);
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 3; j++) shape_add(s, 4L * ((1 + i) * 30 + (1 + j) * 6 + 2), 16);
        break;
    }
    case 4: { /* one block of rows cyclically */
        int sizes[2] = {3 * ranks, 7}, how[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};
        int arg[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG}, grid[2] = {ranks, 1};
        MPI_Type_create_darray(ranks, me, 2, sizes, how, arg, grid, MPI_ORDER_C, MPI_INT, &s->type);
        for (int i = 0; i < 3; i++) shape_add(s, 28L * (i * ranks + me), 28);
        break;
    }
    case 5: { /* many small pieces */
        MPI_Datatype v;
        MPI_Type_vector(300, 1, 3, MPI_INT, &v);
        MPI_Type_create_resized(v, 0, 3600, &s->type);
        MPI_Type_free(&v);
        for (int i = 0; i < 300; i++) shape_add(s, 12L * i, 4);
        break;
    }
    case 6: /* plain */
        MPI_Type_contiguous(40, MPI_INT, &s->type);
        shape_add(s, 0, 160);
        break;
    default: return -1;
    }
    shape_end(s);
    return 0;
}

/* The byte of the file that the view's stream has at i. */
static long place(const struct shape *s, long disp, long i) { return disp + i / s->n * s->extent + s->at[i % s->n]; }

/* One rank at a time: reads through the view, then writes, at places that cut tiles; memory dense or in pieces. */
static void one_view(MPI_File f, const char *name, struct shape *s, long disp, int start, int count, int pieces)
{
    MPI_Datatype memory_type;
    MPI_Status status;
    MPI_Offset byte;
    if (pieces)
        MPI_Type_create_resized(MPI_INT, 0, 12, &memory_type);
    else
        MPI_Type_dup(MPI_INT, &memory_type);
    MPI_Type_commit(&memory_type);
    long step = pieces ? 12 : 4;
    memset(memory, 0xee, sizeof memory);
    OK(MPI_File_read_at(f, start, memory, count, memory_type, &status));
    CHECK_EQ(count_of(&status), 4L * count);
    long wrong = 0;
    for (long i = 0; i < 4L * count; i++) wrong += memory[i / 4 * step + i % 4] != image[place(s, disp, 4L * start + i)];
    CHECK_EQ(wrong, 0);
    if (pieces) CHECK(memory[4] == 0xee && memory[11] == 0xee);
    OK(MPI_File_get_byte_offset(f, start, &byte));
    CHECK_EQ(byte, place(s, disp, 4L * start));
    pattern_fill(memory, sizeof memory, 1000u + (unsigned)count);
    OK(MPI_File_seek(f, start, MPI_SEEK_SET));
    OK(MPI_File_write(f, memory, count, memory_type, &status));
    CHECK_EQ(count_of(&status), 4L * count);
    memcpy(mine, image, sizeof mine);
    for (long i = 0; i < 4L * count; i++) mine[place(s, disp, 4L * start + i)] = memory[i / 4 * step + i % 4];
    CHECK_EQ(plain_read(name, got, ROOM), ROOM);
    CHECK_EQ(memcmp(got, mine, ROOM), 0);
    memcpy(image, mine, sizeof image);
    OK(MPI_File_get_position(f, &byte));
    CHECK_EQ(byte, start + count);
    MPI_Type_free(&memory_type);
}

static void own_views(const char *sieve_read, const char *sieve_write, const char *buffer)
{
    static struct shape s;
    char name[300];
    MPI_File f;
    MPI_Info info;
    snprintf(name, sizeof name, "%s.%d", in_folder("own"), rank);
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_ds_read", sieve_read);
    MPI_Info_set(info, "romio_ds_write", sieve_write);
    MPI_Info_set(info, "ind_rd_buffer_size", buffer);
    MPI_Info_set(info, "ind_wr_buffer_size", buffer);
    pattern_fill(image, ROOM, 5u + (unsigned)rank);
    int fd = open(name, O_CREAT | O_WRONLY, 0666);
    CHECK(write(fd, image, ROOM) == ROOM);
    close(fd);
    OK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info, &f));
    for (int k = 0; shape_make(&s, k, size, rank) == 0; k++) {
        MPI_Datatype etype, filetype;
        MPI_Offset disp;
        char rep[MPI_MAX_DATAREP_STRING];
        OK(MPI_File_set_view(f, 8, MPI_INT, s.type, "native", MPI_INFO_NULL));
        OK(MPI_File_get_view(f, &disp, &etype, &filetype, rep));
        CHECK(disp == 8 && etype == MPI_INT && strcmp(rep, "native") == 0);
        CHECK(filetype != MPI_INT);
        MPI_Type_free(&filetype);
        one_view(f, name, &s, 8, 0, (int)s.n / 4, 0);
        one_view(f, name, &s, 8, 3, 1, 0);
        one_view(f, name, &s, 8, 5, 61, 1);
        one_view(f, name, &s, 8, 0, 300, 1);
        one_view(f, name, &s, 8, 17, 200, 0);
        MPI_Type_free(&s.type);
    }
    OK(MPI_File_close(&f));
    MPI_Info_free(&info);
}

/* All ranks write one file through views that fit into each other. */
static void shared_views(int k)
{
    static struct shape s;
    const char *name = in_folder("shared");
    MPI_File f;
    const long tiles = 4;
    CHECK_EQ(shape_make(&s, k, size, rank), 0);
    long offset = k == 0 ? 16L * rank : k == 1 ? 24L * rank : 0; /* shape 4 knows the rank itself */
    plain_write(name, "", 0);
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    OK(MPI_File_set_view(f, 64 + offset, MPI_INT, s.type, "native", MPI_INFO_NULL));
    pattern_fill(memory, s.n * tiles, 60u + (unsigned)rank);
    if (k == 0) { /* the last row of a vector has no hole behind it: one tile */
        OK(MPI_File_write(f, memory, (int)s.n / 4, MPI_INT, MPI_STATUS_IGNORE));
    } else {
        for (int i = 0; i < tiles; i++) OK(MPI_File_write(f, memory + i * s.n, (int)s.n / 4, MPI_INT, MPI_STATUS_IGNORE));
    }
    OK(MPI_File_close(&f));
    long bytes = plain_read(name, got, ROOM), wrong = 0, n = k == 0 ? s.n : s.n * tiles;
    CHECK_EQ(bytes, 64 + n * size);
    for (int r = 0; r < size; r++) {
        static struct shape other;
        shape_make(&other, k, size, r);
        for (long i = 0; i < n; i++)
            wrong += got[place(&other, 64 + (k == 0 ? 16L * r : k == 1 ? 24L * r : 0), i)] != pattern_at(60u + (unsigned)r, i);
        MPI_Type_free(&other.type);
    }
    CHECK_EQ(wrong, 0);
    MPI_Type_free(&s.type);
    file_remove(name);
}

/* SEEK_END and reads up to the end, where it cuts a tile. */
static void tail(void)
{
    const char *name = in_folder("tail");
    MPI_Datatype v;
    MPI_File f;
    MPI_Offset at;
    MPI_Status status;
    pattern_fill(image, 230, 3);
    plain_write(name, image, 230);
    MPI_Type_vector(2, 10, 30, MPI_BYTE,
                    &v); /* 0..9, 30..39 of 40; from 20 on: 20-29 50-59 | 60-69 90-99 | 100.. 130.. | ... | 220-229 */
    MPI_Type_commit(&v);
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &f));
    OK(MPI_File_set_view(f, 20, MPI_BYTE, v, "native", MPI_INFO_NULL));
    OK(MPI_File_seek(f, 0, MPI_SEEK_END));
    OK(MPI_File_get_position(f, &at));
    CHECK_EQ(at, 110);
    OK(MPI_File_read_at(f, 95, got, 100, MPI_BYTE, &status));
    CHECK_EQ(count_of(&status), 15);
    CHECK_EQ(memcmp(got + 5, image + 220, 10), 0);
    CHECK_EQ(memcmp(got, image + 20 + 40 * 4 + 30 + 5, 5), 0);
    OK(MPI_File_close(&f));
    MPI_Type_free(&v);
    file_remove(name);
}

static void big_endian(unsigned char *out, unsigned long v, int bytes)
{
    for (int i = 0; i < bytes; i++) out[i] = (unsigned char)(v >> 8 * (bytes - 1 - i));
}

/* external32: big-endian, longs of four bytes; the view's extents follow. */
static void external(void)
{
    const char *name = in_folder("external");
    MPI_File f;
    MPI_Datatype v, s, etype, filetype;
    MPI_Aint extent;
    MPI_Offset disp, byte;
    MPI_Status status;
    long values[20], back[20];
    int n;
    char rep[MPI_MAX_DATAREP_STRING];
    plain_write(name, "", 0);
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    MPI_Type_vector(2, 1, size, MPI_LONG, &v);
    MPI_Type_create_resized(v, 0, 4L * 2 * size, &s); /* bytes as they are in the file */
    MPI_Type_commit(&s);
    OK(MPI_File_set_view(f, 4 * rank, MPI_LONG, s, "external32", MPI_INFO_NULL));
    OK(MPI_File_get_view(f, &disp, &etype, &filetype, rep));
    CHECK(strcmp(rep, "external32") == 0 && disp == 4 * rank && etype == MPI_LONG);
    MPI_Type_free(&filetype);
    OK(MPI_File_get_type_extent(f, MPI_LONG, &extent));
    CHECK_EQ(extent, 4);
    OK(MPI_File_get_type_extent(f, v, &extent));
    CHECK_EQ(extent, 4 * (size + 1));
    OK(MPI_File_get_type_extent(f, MPI_LONG_DOUBLE, &extent));
    CHECK_EQ(extent, 16);
    for (int i = 0; i < 20; i++) values[i] = (i % 2 ? -1 : 1) * (1000L * i + rank);
    OK(MPI_File_write_at(f, 0, values, 20, MPI_LONG, &status));
    MPI_Get_count(&status, MPI_LONG, &n);
    CHECK_EQ(n, 20);
    OK(MPI_File_get_byte_offset(f, 3, &byte));
    CHECK_EQ(byte, 4 * rank + 12 * size);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(plain_read(name, got, ROOM), 80 * size);
    for (int i = 0; i < 20; i++)
        for (int r = 0; r < size; r++) {
            big_endian(mine, (unsigned long)((i % 2 ? -1 : 1) * (1000L * i + r)), 4);
            CHECK_EQ(memcmp(got + 4 * (i * size + r), mine, 4), 0);
        }
    memset(back, 0, sizeof back);
    OK(MPI_File_read_at(f, 15, back, 20, MPI_LONG, &status)); /* five are left */
    MPI_Get_count(&status, MPI_LONG, &n);
    CHECK_EQ(n, 5);
    for (int i = 0; i < 20; i++) CHECK_EQ(back[i], i < 5 ? values[15 + i] : 0);
    values[0] = 1L << 40; /* four bytes cannot hold it */
    FAILS(MPI_File_write_at(f, 0, values, 1, MPI_LONG, &status), MPI_ERR_CONVERSION);
    CHECK_EQ(count_of(&status), 0);
    OK(MPI_File_close(&f));
    MPI_Type_free(&v);
    MPI_Type_free(&s);
    file_remove(name);
}

static void bad_views(void)
{
    const char *name = in_folder("bad");
    MPI_File f;
    MPI_Datatype back_again, negative, whole;
    int lens[2] = {1, 1}, down[2] = {4, 0}, below[2] = {-1, 2};
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f));
    MPI_Type_indexed(2, lens, down, MPI_INT, &back_again);
    MPI_Type_indexed(2, lens, below, MPI_INT, &negative);
    MPI_Type_contiguous(3, MPI_INT, &whole);
    FAILS(MPI_File_set_view(f, 0, MPI_INT, whole, "native", MPI_INFO_NULL), MPI_ERR_TYPE); /* not committed */
    MPI_Type_commit(&back_again), MPI_Type_commit(&negative), MPI_Type_commit(&whole);
    FAILS(MPI_File_set_view(f, 0, MPI_INT, back_again, "native", MPI_INFO_NULL), MPI_ERR_ARG);
    FAILS(MPI_File_set_view(f, 0, MPI_INT, negative, "native", MPI_INFO_NULL), MPI_ERR_ARG);
    FAILS(MPI_File_set_view(f, 0, MPI_DOUBLE, whole, "native", MPI_INFO_NULL), MPI_ERR_TYPE);
    FAILS(MPI_File_set_view(f, -5, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_ARG);
    FAILS(MPI_File_set_view(f, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_ARG);
    FAILS(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "external64", MPI_INFO_NULL), MPI_ERR_UNSUPPORTED_DATAREP);
    if (size > 1) FAILS(MPI_File_set_view(f, 0, rank ? MPI_INT : MPI_SHORT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_NOT_SAME);
    if (size > 1) /* one rank's mistake is everybody's error */
        CHECK(MPI_File_set_view(f, rank == 1 ? -5 : 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL) != MPI_SUCCESS);
    OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "internal", MPI_INFO_NULL));
    FAILS(MPI_File_write_at(f, 0, image, 6, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_TYPE); /* no whole etypes */
    OK(MPI_File_close(&f));
    MPI_Type_free(&back_again), MPI_Type_free(&negative), MPI_Type_free(&whole);
}

/* Atomic mode: what overlaps is one rank's or the other's, never a mixture, also where it is in pieces. */
static void atomic_mode(void)
{
    const char *name = in_folder("atomic");
    MPI_File f;
    MPI_Datatype v;
    int flag;
    MPI_Type_vector(100, 8, 16, MPI_BYTE, &v);
    MPI_Type_commit(&v);
    plain_write(name, "", 0);
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    OK(MPI_File_get_atomicity(f, &flag));
    CHECK_EQ(flag, 0);
    OK(MPI_File_set_atomicity(f, 1));
    OK(MPI_File_get_atomicity(f, &flag));
    CHECK_EQ(flag, 1);
    OK(MPI_File_set_view(f, 0, MPI_BYTE, v, "native", MPI_INFO_NULL));
    memset(memory, 1 + rank, 800);
    OK(MPI_File_write_at(f, 0, memory, 800, MPI_BYTE, MPI_STATUS_IGNORE));
    for (int round = 0; round < 20; round++) {
        OK(MPI_File_write_at(f, 0, memory, 800, MPI_BYTE, MPI_STATUS_IGNORE));
        OK(MPI_File_read_at(f, 0, got, 800, MPI_BYTE, MPI_STATUS_IGNORE));
        int mixed = 0;
        for (int i = 1; i < 800; i++) mixed += got[i] != got[0];
        CHECK_EQ(mixed, 0);
    }
    OK(MPI_File_close(&f));
    MPI_Type_free(&v);
    file_remove(name);
}

int main(int argc, char **argv)
{
    files_begin(&argc, &argv);
    own_views("automatic", "automatic", "524288");
    own_views("disable", "disable", "524288");
    own_views("enable", "enable", "524288");
    own_views("enable", "enable", "333");
    shared_views(0);
    shared_views(1);
    shared_views(4);
    tail();
    external();
    bad_views();
    atomic_mode();
    return files_end();
}
