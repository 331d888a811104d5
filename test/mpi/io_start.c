/* io_start.c -- non-blocking collective access: the call that starts it does not wait for other ranks, and much of it may be under way.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "io_check.h"

enum { CELL = 24, CELLS = 40, MINE = CELL * CELLS, MANY = 12 };
static unsigned char out[MANY][MINE], in[MANY][MINE], whole[8 * MINE];

/* A file of which every rank sees each size-th cell, from its own on. */
static MPI_File table_open(const char *name, const char *buffering, const char *rep)
{
    MPI_File f;
    MPI_Info info;
    MPI_Datatype cell, mine;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", buffering);
    MPI_Info_set(info, "romio_cb_read", buffering);
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &f));
    MPI_Type_contiguous(CELL / 4, MPI_INT, &cell);
    MPI_Type_create_resized(cell, 0, CELL * size, &mine);
    MPI_Type_commit(&mine);
    OK(MPI_File_set_view(f, CELL * rank, MPI_INT, mine, rep, MPI_INFO_NULL));
    MPI_Type_free(&cell), MPI_Type_free(&mine);
    MPI_Info_free(&info);
    return f;
}

static int start(MPI_File f, int how, int i, MPI_Request *r)
{
    int n = MINE / 4;
    MPI_Offset at = (MPI_Offset)i * n;
    if (how < 2) OK(MPI_File_seek(f, at, MPI_SEEK_SET));
    switch (how) {
    case 0: return MPI_File_iwrite_all(f, out[i], n, MPI_INT, r);
    case 1: return MPI_File_iread_all(f, in[i], n, MPI_INT, r);
    case 2: return MPI_File_iwrite_at_all(f, at, out[i], n, MPI_INT, r);
    default: return MPI_File_iread_at_all(f, at, in[i], n, MPI_INT, r);
    }
}

static void fill(unsigned seed)
{
    for (int i = 0; i < MANY; i++) pattern_fill(out[i], MINE, seed + (unsigned)(100 * rank + i));
    memset(in, 0, sizeof in);
}

/* Each rank starts when the one before it (or behind it) has started and says so. */
static void chain(MPI_File f, int how, int i, int step)
{
    MPI_Request r;
    MPI_Status status;
    int token = 0, from = rank - step, to = rank + step;
    if (from < 0 || from >= size) from = MPI_PROC_NULL;
    if (to < 0 || to >= size) to = MPI_PROC_NULL;
    MPI_Recv(&token, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    OK(start(f, how, i, &r));
    MPI_Ssend(&token, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
    OK(MPI_Wait(&r, &status));
    CHECK_EQ(count_of(&status), MINE);
}

static void chains(const char *buffering)
{
    const char *name = in_folder("chain");
    MPI_File f = table_open(name, buffering, "native");
    fill(7);
    chain(f, 0, 0, 1);
    chain(f, 2, 1, -1);
    OK(MPI_File_sync(f));
    MPI_Barrier(MPI_COMM_WORLD);
    chain(f, 1, 1, -1);
    chain(f, 3, 0, 1);
    CHECK_EQ(memcmp(in, out, 2L * MINE), 0);
    OK(MPI_File_close(&f));
    file_remove(name);
}

/* In which order the requests are completed. */
static void finish(MPI_Request *r, MPI_Status *statuses, int n, int order)
{
    int k, done = 0, which[2 * MANY];
    MPI_Status some[2 * MANY];
    if (order == 0) {
        OK(MPI_Waitall(n, r, statuses));
    } else if (order == 1) {
        for (int i = n - 1; i >= 0; i--) OK(MPI_Wait(&r[i], &statuses[i]));
    } else if (order == 2) {
        for (; done < n; done++) {
            MPI_Status s;
            OK(MPI_Waitany(n, r, &k, &s));
            CHECK(k >= 0 && k < n);
            statuses[k] = s;
        }
    } else {
        while (done < n) {
            OK(MPI_Testsome(n, r, &k, which, some));
            for (int i = 0; i < k; i++) statuses[which[i]] = some[i];
            done += k;
        }
    }
    for (int i = 0; i < n; i++) CHECK(r[i] == MPI_REQUEST_NULL);
}

static void whole_check(const char *name, unsigned seed)
{
    for (int i = 0; i < MANY; i++) {
        int fd = open(name, O_RDONLY), wrong = 0;
        CHECK(pread(fd, whole, (size_t)(size * MINE), (off_t)i * size * MINE) == size * MINE);
        close(fd);
        for (int b = 0; b < size * MINE; b++) {
            int who = b / CELL % size, k = b / (CELL * size) * CELL + b % CELL;
            wrong += whole[b] != pattern_at(seed + (unsigned)(100 * who + i), k);
        }
        CHECK_EQ(wrong, 0);
    }
}

/* Two files at once, which the ranks take in different orders; messages and collective calls of others between. */
static void many(const char *buffering, int order)
{
    char names[2][256];
    MPI_File f[2];
    MPI_Request r[2 * MANY];
    MPI_Status statuses[2 * MANY];
    int n, sum = 0, flag;
    for (int k = 0; k < 2; k++) {
        snprintf(names[k], sizeof names[k], "%s", in_folder(k ? "many1" : "many0"));
        f[k] = table_open(names[k], buffering, "native");
    }
    fill(70);
    for (int i = 0; i < MANY; i++)
        for (int k = 0; k < 2; k++) {
            int file = (k + rank) % 2;
            OK(start(f[file], i % 2 ? 0 : 2, i, &r[2 * i + file]));
        }
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(sum, size * (size - 1) / 2);
    finish(r, statuses, 2 * MANY, order);
    for (int i = 0; i < 2 * MANY; i++) {
        OK(MPI_Get_count(&statuses[i], MPI_INT, &n));
        CHECK_EQ(n, MINE / 4);
        OK(MPI_Get_elements(&statuses[i], MPI_BYTE, &n));
        CHECK_EQ(n, MINE);
        OK(MPI_Test_cancelled(&statuses[i], &flag));
        CHECK_EQ(flag, 0);
    }
    for (int k = 0; k < 2; k++) OK(MPI_File_sync(f[k]));
    MPI_Barrier(MPI_COMM_WORLD);
    whole_check(names[0], 70);
    whole_check(names[1], 70);
    for (int i = 0; i < MANY; i++) OK(start(f[i % 2], i % 3 ? 1 : 3, i, &r[i]));
    OK(MPI_File_write_at_all(f[0], (MPI_Offset)MANY * MINE, out[0], 10, MPI_INT, &statuses[0])); /* a blocking one meanwhile */
    finish(r, statuses, MANY, order);
    CHECK_EQ(memcmp(in, out, sizeof in), 0);
    for (int k = 0; k < 2; k++) {
        OK(MPI_File_close(&f[k]));
        file_remove(names[k]);
    }
}

/* Ends of files, empty parts, conversion, and calls that fail, at once or when they are waited for. */
static void odd(const char *buffering)
{
    const char *name = in_folder("odd");
    MPI_File f = table_open(name, buffering, "external32");
    MPI_Request r;
    MPI_Status status;
    int n = rank == size - 1 ? 0 : 10, count, rc;
    int numbers[20], back[20];
    for (int i = 0; i < 20; i++) numbers[i] = 1000 * rank + i, back[i] = -1;
    OK(MPI_File_iwrite_all(f, numbers, n, MPI_INT, &r));
    OK(MPI_Wait(&r, &status));
    OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_EQ(count, n);
    OK(MPI_File_sync(f));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_iread_at_all(f, 2, back, 18, MPI_INT, &r));
    OK(MPI_Wait(&r, &status));
    OK(MPI_Get_count(&status, MPI_INT, &count));
    /* Six numbers are a cell.  The file ends within the second one of the last rank but one. */
    int want = size == 1 ? 0 : rank == size - 1 ? 4 : rank == size - 2 ? 8 : 10, given = n == 0 ? 0 : 8;
    CHECK_EQ(count, want);
    for (int i = 0; i < 18; i++) CHECK_EQ(back[i], i >= want ? -1 : i < given ? numbers[2 + i] : 0);
    OK(MPI_File_close(&f));
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &f));
    rc = MPI_File_iwrite_at_all(f, 0, numbers, 1, MPI_INT, &r);
    if (rc == MPI_SUCCESS) rc = MPI_Wait(&r, &status);
    FAILS(rc, MPI_ERR_READ_ONLY);
    OK(MPI_File_close(&f));
    file_remove(name);
}

/* A device that is full: every rank hears of it, at the latest when it waits, and the file's handler is called. */
static int calls;
static MPI_File called_for;
static void on_error(MPI_File *f, int *code, ...)
{
    (void)code;
    calls++;
    called_for = *f;
}
static void full(void)
{
    MPI_File f;
    MPI_Info info;
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Status status;
    MPI_Datatype pieces, mine;
    MPI_Errhandler handler;
    if (access("/dev/full", W_OK) != 0) return;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", "enable");
    MPI_File_create_errhandler(on_error, &handler);
    OK(MPI_File_open(MPI_COMM_WORLD, "/dev/full", MPI_MODE_WRONLY, info, &f));
    MPI_Type_contiguous(8, MPI_BYTE, &pieces);
    MPI_Type_create_resized(pieces, 0, 8 * size, &mine);
    MPI_Type_commit(&mine);
    OK(MPI_File_set_view(f, 8 * rank, MPI_BYTE, mine, "native", MPI_INFO_NULL));
    OK(MPI_File_set_errhandler(f, handler));
    int rc = MPI_File_iwrite_at_all(f, 0, out, 400, MPI_BYTE, &r);
    if (rc == MPI_SUCCESS) {
        rc = MPI_Wait(&r, &status);
        CHECK_EQ(count_of(&status), 0);
    }
    FAILS(rc, MPI_ERR_NO_SPACE);
    CHECK(calls == 1 && called_for == f && r == MPI_REQUEST_NULL);
    /* One rank's mistake is its own error; the others go on. */
    rc = MPI_File_iwrite_at_all(f, rank == size - 1 ? -1 : 0, out, 0, MPI_BYTE, &r);
    if (rc == MPI_SUCCESS) rc = MPI_Wait(&r, &status);
    CHECK_EQ(class_of(rc), rank == size - 1 ? MPI_ERR_ARG : MPI_SUCCESS);
    MPI_Type_free(&pieces), MPI_Type_free(&mine);
    MPI_Errhandler_free(&handler);
    MPI_Info_free(&info);
    OK(MPI_File_close(&f));
}

/* What the program gives up as soon as the call is back; parts of memory with holes; calls of other kinds that come meanwhile. */
static void given_up(void)
{
    const char *name = in_folder("given");
    MPI_File f = table_open(name, "enable", "native");
    MPI_Request r[3];
    MPI_Status status;
    MPI_Datatype pairs;
    MPI_Offset bytes;
    fill(300);
    memset(in, 0x77, sizeof in);
    MPI_Type_vector(MINE / 16, 1, 2, MPI_INT, &pairs); /* every second number */
    MPI_Type_commit(&pairs);
    OK(MPI_File_iwrite_at_all(f, 0, out[0], 1, pairs, &r[0]));
    OK(MPI_File_iwrite_at_all(f, MINE / 16, out[1], 1, pairs, &r[1]));
    MPI_Type_free(&pairs);
    OK(MPI_File_set_atomicity(f, 0)); /* collective: comes after those that were started */
    OK(MPI_File_set_info(f, MPI_INFO_NULL));
    OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    OK(MPI_File_iread_at_all(f, 0, in[0], MINE / 8, MPI_INT, &r[0]));
    OK(MPI_File_iread_at_all(f, MINE / 16, in[1], 1000000, MPI_BYTE, &r[1])); /* more than there is */
    OK(MPI_File_get_size(f, &bytes));
    OK(MPI_Wait(&r[1], &status));
    CHECK(count_of(&status) >= MINE / 4 && count_of(&status) <= MINE / 4 + CELL);
    OK(MPI_Wait(&r[0], &status));
    CHECK_EQ(count_of(&status), MINE / 2);
    for (int i = 0; i < MINE / 16; i++) {
        CHECK_EQ(memcmp(in[0] + 4 * i, out[0] + 8 * i, 4), 0);
        CHECK_EQ(memcmp(in[1] + 4 * i, out[1] + 8 * i, 4), 0);
    }
    CHECK_EQ(memcmp(in[0] + MINE / 4, in[1], MINE / 4), 0);
    OK(MPI_File_close(&f));
    file_remove(name);
}

int main(int argc, char **argv)
{
    files_begin(&argc, &argv);
    static const char *const ways[] = {"automatic", "enable", "disable"};
    for (int i = 0; i < 3; i++) {
        chains(ways[i]);
        many(ways[i], i);
        odd(ways[i]);
    }
    many("enable", 3);
    full();
    given_up();
    return files_end();
}
