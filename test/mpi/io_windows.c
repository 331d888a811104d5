/* io_windows.c -- collective access in pieces of every length, with holes that no rank writes, over many windows of the aggregators.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "io_check.h"

enum { BYTES = 1500000, PIECES = 4000, OLD = 77 };
static unsigned char mine[BYTES], back[BYTES], whole[BYTES + 1000];
static int owner[PIECES], at[PIECES], len[PIECES], pieces;

/* The file dealt out in pieces of 1 to `longest` bytes; with holes a third belongs to nobody (-1). */
static void deal(int longest, int has_holes)
{
    int b = 0;
    random_state = 88172645463325252ull + (unsigned)longest; /* the same on all ranks */
    for (pieces = 0; pieces < PIECES && b < BYTES; pieces++) {
        int n = 1 + (int)random_below((unsigned)longest);
        owner[pieces] = has_holes && random_below(3) == 0 ? -1 : (int)random_below((unsigned)size);
        at[pieces] = b;
        len[pieces] = b + n > BYTES ? BYTES - b : n;
        b += n;
    }
}

static MPI_Datatype my_view(int *bytes_out)
{
    static int lens[PIECES], places[PIECES];
    MPI_Datatype t;
    int n = 0;
    *bytes_out = 0;
    for (int i = 0; i < pieces; i++)
        if (owner[i] == rank) {
            lens[n] = len[i], places[n++] = at[i];
            *bytes_out += len[i];
        }
    MPI_Type_indexed(n, lens, places, MPI_BYTE, &t);
    MPI_Type_commit(&t);
    return t;
}

static MPI_Info hints(const char *nodes, const char *buffer, const char *sieve)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", "enable");
    MPI_Info_set(info, "romio_cb_read", "enable");
    MPI_Info_set(info, "romio_ds_write", sieve);
    MPI_Info_set(info, "cb_nodes", nodes);
    MPI_Info_set(info, "cb_buffer_size", buffer);
    return info;
}

static void check_file(const char *name, long last)
{
    long n = plain_read(name, whole, sizeof whole), wrong = -1;
    CHECK_EQ(n, last > BYTES ? last : BYTES);
    for (int i = 0; i < pieces && wrong < 0; i++)
        for (int b = at[i]; b < at[i] + len[i] && wrong < 0; b++)
            if (whole[b] != (owner[i] < 0 ? OLD : pattern_at((unsigned)owner[i] + 1, b))) wrong = b;
    CHECK_EQ(wrong, -1);
    for (long b = BYTES; b < n; b++) CHECK_EQ(whole[b], OLD);
}

/* Behind a request or not: the same. */
static int is_started;
static void access_at(MPI_File f, int is_write, unsigned char *buf, int bytes, MPI_Status *status)
{
    MPI_Request r;
    if (!is_started) {
        OK(is_write ? MPI_File_write_at_all(f, 0, buf, bytes, MPI_BYTE, status)
                    : MPI_File_read_at_all(f, 0, buf, bytes, MPI_BYTE, status));
        return;
    }
    OK(is_write ? MPI_File_iwrite_at_all(f, 0, buf, bytes, MPI_BYTE, &r) : MPI_File_iread_at_all(f, 0, buf, bytes, MPI_BYTE, &r));
    OK(MPI_Wait(&r, status));
}

/* Cut off within somebody's bytes: everybody reads what there is. */
static void read_cut(MPI_File f, int bytes)
{
    MPI_Status status;
    int end = BYTES * 5 / 8, have = 0, wrong = 0;
    OK(MPI_File_set_size(f, end));
    for (int i = 0; i < pieces; i++)
        if (owner[i] == rank && at[i] < end) have += at[i] + len[i] > end ? end - at[i] : len[i];
    memset(back, 3, BYTES);
    access_at(f, 0, back, bytes, &status);
    CHECK_EQ(count_of(&status), have);
    for (int i = 0; i < bytes; i++) wrong += back[i] != (i < have ? mine[i] : 3);
    CHECK_EQ(wrong, 0);
}

static void round_trip(int longest, int has_holes, const char *nodes, const char *buffer, const char *sieve)
{
    const char *name = in_folder("pieces");
    MPI_Info info = hints(nodes, buffer, sieve);
    MPI_Status status;
    MPI_File f;
    int bytes, n = 0;
    deal(longest, has_holes);
    long first = pieces == PIECES ? at[pieces - 1] + len[pieces - 1] : BYTES; /* not dealt out from here on */
    memset(whole, OLD, sizeof whole);
    plain_write(name, whole, sizeof whole);
    MPI_Datatype view = my_view(&bytes);
    for (int i = 0; i < pieces; i++)
        for (int b = at[i]; owner[i] == rank && b < at[i] + len[i]; b++) mine[n++] = pattern_at((unsigned)rank + 1, b);
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, info, &f));
    OK(MPI_File_set_view(f, 0, MPI_BYTE, view, "native", MPI_INFO_NULL));
    access_at(f, 1, mine, bytes, &status);
    CHECK_EQ(count_of(&status), bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    if (first == BYTES) check_file(name, sizeof whole);
    memset(back, 0, BYTES);
    access_at(f, 0, back, bytes, &status);
    CHECK_EQ(count_of(&status), bytes);
    CHECK_EQ(memcmp(back, mine, (size_t)bytes), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    read_cut(f, bytes);
    OK(MPI_File_close(&f));
    MPI_Type_free(&view);
    MPI_Info_free(&info);
    file_remove(name);
}

/* Bytes that several ranks give alike, and some that none gives. */
static void twice(void)
{
    const char *name = in_folder("twice");
    MPI_Info info = hints("2", "65536", "automatic");
    MPI_File f;
    memset(whole, OLD, 1000);
    plain_write(name, whole, 1000);
    memset(mine, 5, 1000);
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, info, &f));
    /* rank 0: [0, 100), all others [50, 100) */
    OK(MPI_File_write_at_all(f, rank == 0 ? 0 : 50, mine, rank == 0 ? 100 : 50, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_write_at_all(f, rank == size - 1 ? 150 : 300, mine, rank == size - 1 ? 50 : 0, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(plain_read(name, whole, 1000), 1000);
    for (int i = 0; i < 1000; i++) CHECK_EQ(whole[i], i < 100 || (i >= 150 && i < 200) ? 5 : OLD);
    OK(MPI_File_close(&f));
    MPI_Info_free(&info);
    file_remove(name);
}

/* As many bytes are given as the span has, but 50 twice: what nobody gave stays. */
static void as_many(void)
{
    const char *name = in_folder("as_many");
    MPI_Info info = hints("1", "65536", "automatic");
    MPI_Datatype view;
    MPI_File f;
    int lens[2] = {100, 50}, two[2] = {0, 200}, one[1] = {50};
    memset(whole, OLD, 1000);
    plain_write(name, whole, 1000);
    memset(mine, 5, 1000);
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, info, &f));
    if (rank == 0)
        MPI_Type_indexed(2, lens, two, MPI_BYTE, &view); /* [0, 100) and [200, 250) */
    else
        MPI_Type_indexed(1, lens, one, MPI_BYTE, &view); /* [50, 150): with rank 0's 250 bytes in a span of 250 */
    MPI_Type_commit(&view);
    OK(MPI_File_set_view(f, 0, MPI_BYTE, view, "native", MPI_INFO_NULL));
    OK(MPI_File_write_at_all(f, 0, mine, rank == 0 ? 150 : rank == 1 ? 100 : 0, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&f));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(plain_read(name, whole, 1000), 1000);
    for (int i = 0; i < 1000; i++) CHECK_EQ(whole[i], i < (size > 1 ? 150 : 100) || (i >= 200 && i < 250) ? 5 : OLD);
    MPI_Info_free(&info);
    MPI_Type_free(&view);
    file_remove(name);
}

int main(int argc, char **argv)
{
    files_begin(&argc, &argv);
    for (is_started = 0; is_started < 2; is_started++) {
        round_trip(1000, 0, "2", "65536", "automatic");
        round_trip(1000, 1, "3", "16384", "automatic");
        round_trip(30000, 1, "1", "100000", "automatic");
        round_trip(30000, 0, "100", "5000", "automatic");
        round_trip(4000, 1, "2", "300000", "enable");
    }
    twice();
    as_many();
    return files_end();
}
