/* io_shared.c -- the shared file pointer: records of all ranks that do not overlap, in any order or in the order of ranks.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "io_check.h"

enum { RECORD = 96, EACH = 25, ROOM = 1 << 17 };
static unsigned char record[RECORD], all[ROOM];
static int seen[16][EACH];

static void record_make(int who, int number)
{
    pattern_fill(record, RECORD, 1000u * (unsigned)who + (unsigned)number);
    record[0] = (unsigned char)who, record[1] = (unsigned char)number;
}
/* Is this somebody's whole record?  Each counts once. */
static void record_count(const unsigned char *r)
{
    int who = r[0], number = r[1];
    CHECK(who < size && number < EACH);
    if (who >= size || number >= EACH) return;
    record_make(who, number);
    CHECK_EQ(memcmp(r, record, RECORD), 0);
    seen[who][number]++;
}

static void any_order(int requests)
{
    const char *name = in_folder("any");
    MPI_File f;
    MPI_Offset at;
    MPI_Status status;
    MPI_Request r;
    int mine = 0, total = 0, sums[16][EACH];
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    for (int i = 0; i < EACH; i++) {
        record_make(rank, i);
        if (requests) {
            OK(MPI_File_iwrite_shared(f, record, RECORD, MPI_BYTE, &r));
            OK(MPI_Wait(&r, &status));
        } else {
            OK(MPI_File_write_shared(f, record, RECORD, MPI_BYTE, &status));
        }
        CHECK_EQ(count_of(&status), RECORD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_get_position_shared(f, &at));
    CHECK_EQ(at, size * EACH * RECORD);
    CHECK_EQ(plain_read(name, all, ROOM), size * EACH * RECORD);
    memset(seen, 0, sizeof seen);
    for (int i = 0; i < size * EACH; i++) record_count(all + i * RECORD);
    for (int i = 0; i < size * EACH; i++) CHECK_EQ(seen[i / EACH][i % EACH], 1);
    /* All read until there is no more: together each record once. */
    OK(MPI_File_seek_shared(f, -size * EACH * RECORD, MPI_SEEK_END));
    memset(seen, 0, sizeof seen);
    for (;;) {
        if (requests) {
            OK(MPI_File_iread_shared(f, all, RECORD, MPI_BYTE, &r));
            OK(MPI_Wait(&r, &status));
        } else {
            OK(MPI_File_read_shared(f, all, RECORD, MPI_BYTE, &status));
        }
        if (count_of(&status) == 0) break;
        CHECK_EQ(count_of(&status), RECORD);
        record_count(all);
        mine++;
    }
    MPI_Allreduce(&mine, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(total, size * EACH);
    MPI_Allreduce(seen, sums, 16 * EACH, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < size * EACH; i++) CHECK_EQ(sums[i / EACH][i % EACH], 1);
    OK(MPI_File_close(&f));
    file_remove(name);
}

/* Rank i writes i + 1 numbers, in several rounds. */
static void ordered(int split)
{
    const char *name = in_folder("ordered");
    MPI_File f;
    MPI_Status status;
    MPI_Offset at;
    int numbers[16], back[16], file[4096], n, per_round = size * (size + 1) / 2;
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    OK(MPI_File_set_view(f, 8, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i <= rank; i++) numbers[i] = 10000 * round + 100 * rank + i;
        if (split) {
            OK(MPI_File_write_ordered_begin(f, numbers, rank + 1, MPI_INT));
            OK(MPI_File_write_ordered_end(f, numbers, &status));
        } else {
            OK(MPI_File_write_ordered(f, numbers, rank + 1, MPI_INT, &status));
        }
        CHECK_EQ(count_of(&status), 4 * (rank + 1));
    }
    OK(MPI_File_get_position_shared(f, &at));
    CHECK_EQ(at, 5 * per_round);
    CHECK_EQ(plain_read(name, file, sizeof file), 8 + 4 * 5 * per_round);
    for (int round = 0, k = 2; round < 5; round++)
        for (int r = 0; r < size; r++)
            for (int i = 0; i <= r; i++) CHECK_EQ(file[k++], 10000 * round + 100 * r + i);
    OK(MPI_File_seek_shared(f, per_round, MPI_SEEK_SET));
    OK(MPI_File_seek_shared(f, per_round, MPI_SEEK_CUR));
    for (int round = 2; round < 5; round++) {
        if (split) {
            OK(MPI_File_read_ordered_begin(f, back, rank + 1, MPI_INT));
            OK(MPI_File_read_ordered_end(f, back, &status));
        } else {
            OK(MPI_File_read_ordered(f, back, rank + 1, MPI_INT, &status));
        }
        MPI_Get_count(&status, MPI_INT, &n);
        CHECK_EQ(n, rank + 1);
        for (int i = 0; i <= rank; i++) CHECK_EQ(back[i], 10000 * round + 100 * rank + i);
    }
    FAILS(MPI_File_seek_shared(f, -1, MPI_SEEK_SET), MPI_ERR_ARG);
    if (size > 1) FAILS(MPI_File_seek_shared(f, rank, MPI_SEEK_SET), MPI_ERR_NOT_SAME);
    OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_get_position_shared(f, &at)); /* a new view begins at its begin */
    CHECK_EQ(at, 0);
    OK(MPI_File_close(&f));
    file_remove(name);
}

/* MPI_MODE_SEQUENTIAL: the shared pointer is the only one; a view begins where it is. */
static void sequential(void)
{
    const char *name = in_folder("sequential");
    MPI_File f;
    MPI_Offset at;
    MPI_Status status;
    int a[2] = {rank, -rank}, file[64];
    plain_write(name, "head", 4);
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL | MPI_MODE_APPEND, MPI_INFO_NULL, &f));
    FAILS(MPI_File_write_at(f, 0, a, 1, MPI_INT, &status), MPI_ERR_UNSUPPORTED_OPERATION);
    FAILS(MPI_File_write(f, a, 1, MPI_INT, &status), MPI_ERR_UNSUPPORTED_OPERATION);
    FAILS(MPI_File_write_all(f, a, 1, MPI_INT, &status), MPI_ERR_UNSUPPORTED_OPERATION);
    FAILS(MPI_File_seek(f, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
    FAILS(MPI_File_get_position(f, &at), MPI_ERR_UNSUPPORTED_OPERATION);
    FAILS(MPI_File_seek_shared(f, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION); /* "Random Access vs. Sequential Files" */
    FAILS(MPI_File_get_position_shared(f, &at), MPI_ERR_UNSUPPORTED_OPERATION);
    FAILS(MPI_File_set_size(f, 0), MPI_ERR_UNSUPPORTED_OPERATION);
    FAILS(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_ARG);
    OK(MPI_File_set_view(f, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_write_ordered(f, a, 2, MPI_INT, &status));
    OK(MPI_File_set_view(f, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_write_ordered(f, a, 1, MPI_INT, &status));
    OK(MPI_File_close(&f));
    CHECK_EQ(plain_read(name, file, sizeof file), 4 + 12 * size);
    CHECK_EQ(memcmp(file, "head", 4), 0);
    for (int i = 0; i < size; i++) {
        CHECK(file[1 + 2 * i] == i && file[2 + 2 * i] == -i);
        CHECK_EQ(file[1 + 2 * size + i], i);
    }
    file_remove(name);
}

/* One rank moves the pointer before it comes, late, to a collective call, which says "from where it is". */
static void late(int amode)
{
    const char *name = in_folder("late");
    MPI_File f;
    MPI_Offset at;
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | amode, MPI_INFO_NULL, &f));
    for (int i = 0; i < 5; i++) {
        if (rank == (i % 2 ? 0 : size - 1)) {
            usleep(2000);
            record_make(0, i);
            OK(MPI_File_write_shared(f, record, RECORD, MPI_BYTE, MPI_STATUS_IGNORE));
        }
        if (amode & MPI_MODE_SEQUENTIAL) {
            OK(MPI_File_set_view(f, MPI_DISPLACEMENT_CURRENT, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
        } else {
            OK(MPI_File_seek_shared(f, 0, MPI_SEEK_CUR));
            OK(MPI_File_get_position_shared(f, &at));
            CHECK_EQ(at, (i + 1) * RECORD);
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
    OK(MPI_File_close(&f));
    CHECK_EQ(plain_read(name, all, ROOM), 5 * RECORD);
    memset(seen, 0, sizeof seen);
    for (int i = 0; i < 5; i++) record_count(all + i * RECORD);
    for (int i = 0; i < 5; i++) CHECK_EQ(seen[0][i], 1);
    file_remove(name);
}

int main(int argc, char **argv)
{
    files_begin(&argc, &argv);
    any_order(0);
    any_order(1);
    ordered(0);
    ordered(1);
    sequential();
    late(MPI_MODE_RDWR);
    late(MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
    return files_end();
}
