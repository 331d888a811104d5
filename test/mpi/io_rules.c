/* io_rules.c -- smaller rules of the chapter: views that overlap, pieces of etypes, order, visibility, external32 type by type.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "io_check.h"

#include <float.h>
#include <stdbool.h>
#include <stdint.h>
#include <wchar.h>

static MPI_File open_own(MPI_Comm comm, const char *name, int more)
{
    MPI_File f;
    OK(MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE | more, MPI_INFO_NULL, &f));
    return f;
}

/* A file that is only read may be seen twice; one that may be written may not. */
static void overlapping(const char *buffering)
{
    const char *name = in_folder("overlapping");
    static const int at[2][2] = {{0, 1}, {2, 2}}, want[2][10] = {{0, 1, 1, 2, 3, 4, 4, 5, 6, 7}, {2, 3, 2, 3, 4, 5, 4, 5, 6, 7}};
    int lens[2] = {2, 2}, down[2] = {2, 0}, back[10], numbers[24], n;
    MPI_File f;
    MPI_Info info;
    MPI_Status status;
    MPI_Datatype t;
    for (int i = 0; i < 24; i++) numbers[i] = i;
    plain_write(name, numbers, sizeof numbers);
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_read", buffering);
    for (int k = 0; k < 2; k++) {
        MPI_Type_indexed(2, lens, at[k], MPI_INT, &t);
        MPI_Type_commit(&t);
        OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, info, &f));
        OK(MPI_File_set_view(f, 4 * rank, MPI_INT, t, "native", MPI_INFO_NULL));
        for (int all = 0; all < 2; all++) {
            memset(back, 0xff, sizeof back);
            OK((all ? MPI_File_read_at_all : MPI_File_read_at)(f, 0, back, 10, MPI_INT, &status));
            OK(MPI_Get_count(&status, MPI_INT, &n));
            CHECK_EQ(n, 10);
            for (int i = 0; i < 10; i++) CHECK_EQ(back[i], rank + want[k][i]);
        }
        OK(MPI_File_close(&f));
        OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, info, &f));
        FAILS(MPI_File_set_view(f, 0, MPI_INT, t, "native", MPI_INFO_NULL), MPI_ERR_ARG);
        OK(MPI_File_close(&f));
        MPI_Type_free(&t);
    }
    MPI_Type_indexed(2, lens, down, MPI_INT, &t);
    MPI_Type_commit(&t);
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE, info, &f));
    FAILS(MPI_File_set_view(f, 0, MPI_INT, t, "native", MPI_INFO_NULL), MPI_ERR_ARG); /* never downwards */
    OK(MPI_File_close(&f));
    MPI_Type_free(&t);
    MPI_Info_free(&info);
}

/* The file ends within an etype. */
static void cut_etype(void)
{
    MPI_File f = open_own(MPI_COMM_WORLD, in_folder("cut"), 0);
    MPI_Status status;
    MPI_Offset at;
    int back[5] = {-1, -1, -1, -1, -1}, n;
    OK(MPI_File_set_size(f, 10));
    OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_read_at(f, 0, back, 5, MPI_INT, &status));
    CHECK_EQ(count_of(&status), 10);
    OK(MPI_Get_count(&status, MPI_INT, &n));
    CHECK_EQ(n, MPI_UNDEFINED);
    CHECK(back[0] == 0 && back[1] == 0 && back[3] == -1);
    OK(MPI_File_seek(f, 0, MPI_SEEK_END)); /* the first etype that begins behind the last byte */
    OK(MPI_File_get_position(f, &at));
    CHECK_EQ(at, 3);
    OK(MPI_File_read_all(f, back, 5, MPI_INT, &status));
    CHECK_EQ(count_of(&status), 0);
    OK(MPI_File_set_size(f, 0)); /* moves no pointer: it stands behind what the last call asked for */
    OK(MPI_File_get_position(f, &at));
    CHECK_EQ(at, 8);
    OK(MPI_File_close(&f));
}

/* Parts of any size, some empty, through a view with holes; the last call asks for more than there is. */
static void ordered_parts(void)
{
    MPI_File f = open_own(MPI_COMM_WORLD, in_folder("parts"), 0);
    MPI_Status status;
    MPI_Offset at;
    MPI_Datatype holes;
    short out[50], in[400];
    int mine = (rank * 5 + 3) % 4 * (rank % 2 ? 1 : 3), total, before = 0, n;
    MPI_Allreduce(&mine, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Exscan(&mine, &before, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) before = 0;
    MPI_Type_vector(3, 2, 4, MPI_SHORT, &holes);
    MPI_Type_commit(&holes);
    OK(MPI_File_set_view(f, 6, MPI_SHORT, holes, "native", MPI_INFO_NULL));
    for (int i = 0; i < 50; i++) out[i] = (short)(rank * 100 + i);
    for (int k = 0; k < 3; k++) {
        OK(MPI_File_write_ordered(f, out, mine, MPI_SHORT, &status));
        CHECK_EQ(count_of(&status), 2 * mine);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_get_position_shared(f, &at));
    CHECK_EQ(at, 3 * total);
    OK(MPI_File_read_at(f, 0, in, 3 * total, MPI_SHORT, &status));
    CHECK_EQ(count_of(&status), 6 * total);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < mine; i++) CHECK_EQ(in[k * total + before + i], out[i]);
    OK(MPI_File_seek_shared(f, 0, MPI_SEEK_END));
    OK(MPI_File_seek_shared(f, -total, MPI_SEEK_CUR));
    OK(MPI_File_read_ordered_begin(f, in, 40, MPI_SHORT));
    OK(MPI_File_read_ordered_end(f, in, &status));
    n = total - 40 * rank;
    CHECK_EQ(count_of(&status), 2 * (n < 0 ? 0 : n > 40 ? 40 : n));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_get_position_shared(f, &at));
    CHECK_EQ(at, 2 * total + 40 * size);
    OK(MPI_File_get_position(f, &at)); /* the other pointer has not moved */
    CHECK_EQ(at, 0);
    OK(MPI_File_close(&f));
    MPI_Type_free(&holes);
}

/* Atomic mode: pieces of all ranks over each other are one rank's; what was written is there without a sync. */
static void atomic_all(void)
{
    enum { N = 6000 };
    static unsigned char out[N], in[N];
    MPI_File f = open_own(MPI_COMM_WORLD, in_folder("atomic"), 0);
    MPI_Status status;
    MPI_Request r;
    MPI_Datatype holes;
    MPI_Type_vector(N / 5, 5, 10, MPI_BYTE, &holes);
    MPI_Type_commit(&holes);
    OK(MPI_File_set_atomicity(f, 7)); /* any number but 0 */
    OK(MPI_File_set_view(f, 0, MPI_BYTE, holes, "native", MPI_INFO_NULL));
    for (int round = 0; round < 4; round++) {
        memset(out, 1 + rank + 10 * round, N);
        if (round % 2) {
            OK(MPI_File_iwrite_at_all(f, 0, out, N, MPI_BYTE, &r));
            OK(MPI_Wait(&r, &status));
        } else {
            OK(MPI_File_write_at_all(f, 0, out, N, MPI_BYTE, &status));
        }
        OK(MPI_File_read_at(f, 0, in, N, MPI_BYTE, &status));
        CHECK(memcmp(in, in + 1, N - 1) == 0);
        MPI_Barrier(MPI_COMM_WORLD);
        OK(MPI_File_read_at_all(f, 0, in, N, MPI_BYTE, &status));
        out[0] = in[0];
        MPI_Bcast(out, 1, MPI_BYTE, 0, MPI_COMM_WORLD);
        CHECK(in[0] == out[0] && in[0] > 10 * round && in[0] <= 10 * round + size);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    for (int k = 0; k < 10; k++) {
        int written = 7 * k, got = -1;
        if (rank == k % size) OK(MPI_File_write_at(f, k, &written, 1, MPI_INT, &status));
        MPI_Barrier(MPI_COMM_WORLD);
        OK(MPI_File_read_at(f, k, &got, 1, MPI_INT, &status));
        CHECK_EQ(got, 7 * k);
    }
    if (size > 1) FAILS(MPI_File_set_atomicity(f, rank), MPI_ERR_NOT_SAME);
    OK(MPI_File_close(&f));
    MPI_Type_free(&holes);
}

/* One file opened twice: sync, barrier, sync; the shared pointers are apart. */
static void opened_twice(void)
{
    const char *name = in_folder("twice");
    MPI_File f = open_own(MPI_COMM_WORLD, name, 0), g;
    MPI_Offset at;
    int v = rank + 5, all[16];
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &g));
    OK(MPI_File_write_at(f, 4 * rank, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_sync(f));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_sync(g));
    OK(MPI_File_read_all(g, all, size, MPI_INT, MPI_STATUS_IGNORE));
    for (int i = 0; i < size; i++) CHECK_EQ(all[i], i + 5);
    OK(MPI_File_seek_shared(f, 3, MPI_SEEK_SET));
    OK(MPI_File_get_position_shared(g, &at));
    CHECK_EQ(at, 0);
    OK(MPI_File_close(&g));
    OK(MPI_File_close(&f));
}

/* Groups with the ranks turned round, whose communicators are freed while the files are open. */
static void halves(void)
{
    char name[300];
    MPI_Comm c;
    MPI_Group a, b;
    int n, same, all[16], k = 0;
    snprintf(name, sizeof name, "%s%d", in_folder("half"), rank % 2);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &c);
    MPI_File f = open_own(c, name, MPI_MODE_EXCL);
    MPI_Comm_group(c, &a);
    OK(MPI_File_get_group(f, &b));
    MPI_Group_compare(a, b, &same);
    CHECK_EQ(same, MPI_IDENT);
    MPI_Group_free(&a), MPI_Group_free(&b);
    MPI_Comm_size(c, &n);
    MPI_Comm_free(&c);
    OK(MPI_File_write_ordered(f, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_sync(f));
    OK(MPI_File_read_at_all(f, 0, all, 4 * n, MPI_BYTE, MPI_STATUS_IGNORE));
    for (int i = size - 1; i >= 0; i--)
        if (i % 2 == rank % 2) CHECK_EQ(all[k++], i);
    OK(MPI_File_close(&f));
}

/* ---- external32: every type there and back, and its bytes in the file ---- */
static void type_by_type(MPI_File f, const char *name, MPI_Datatype t, const void *values, int n, size_t each, const char *want)
{
    unsigned char back[64], raw[64];
    char text[130];
    MPI_Status status;
    MPI_Aint extent;
    int k;
    memset(back, 0, sizeof back);
    OK(MPI_File_set_size(f, 0));
    OK(MPI_File_set_view(f, 0, t, t, "external32", MPI_INFO_NULL));
    OK(MPI_File_write_at(f, 0, values, n, t, &status));
    OK(MPI_File_read_at(f, 0, back, n, t, &status));
    OK(MPI_Get_count(&status, t, &k));
    CHECK_EQ(k, n);
    CHECK_EQ(memcmp(back, values, (size_t)n * each), 0);
    long bytes = plain_read(name, raw, sizeof raw);
    OK(MPI_File_get_type_extent(f, t, &extent));
    CHECK_EQ(bytes, n * extent);
    for (int i = 0; i < bytes; i++) snprintf(text + 2 * i, 3, "%02x", raw[i]);
    if (strcmp(text, want) != 0) fprintf(stderr, "%s, not %s\n", text, want);
    CHECK(strcmp(text, want) == 0);
}

static void external(void)
{
    char name[300];
    snprintf(name, sizeof name, "%s.%d", in_folder("external"), rank);
    MPI_File f = open_own(MPI_COMM_SELF, name, 0);
    MPI_Datatype t;
#define SAME(type, ctype, want, ...)                                                                                               \
    do {                                                                                                                           \
        ctype v[2] = {__VA_ARGS__};                                                                                                \
        type_by_type(f, name, type, v, 2, sizeof v[0], want);                                                                      \
    } while (0)
    SAME(MPI_CHAR, char, "61ff", 'a', (char)-1);
    SAME(MPI_SHORT, short, "fffe0102", -2, 258);
    SAME(MPI_INT, int, "8000000000000001", INT32_MIN, 1);
    SAME(MPI_LONG, long, "fffffffd7fffffff", -3, INT32_MAX);
    SAME(MPI_UNSIGNED_LONG, unsigned long, "ffffffff00000005", UINT32_MAX, 5);
    SAME(MPI_LONG_LONG, long long, "80000000000000000000000000000001", INT64_MIN, 1);
    SAME(MPI_FLOAT, float, "800000003fc00000", -0.0f, 1.5f);
    SAME(MPI_DOUBLE, double, "0000000000000001bff8000000000000", 0x1p-1074, -1.5);
    SAME(MPI_WCHAR, wchar_t, "006120ac", 0x61, 0x20ac);
    SAME(MPI_C_BOOL, bool, "0100", true, false);
    SAME(MPI_C_FLOAT_COMPLEX, float _Complex, "3f800000000000004000000000000000", 1, 2);
    SAME(MPI_AINT, MPI_Aint, "ffffffffffffffff0000000000000005", -1, 5);
    SAME(MPI_COUNT, MPI_Count, "ffffffffffffffff0000000000000005", -1, 5);
    SAME(MPI_OFFSET, MPI_Offset, "ffffffffffffffff0000000000000005", -1, 5);
    SAME(MPI_UINT16_T, uint16_t, "fffe0001", 0xfffe, 1);
    SAME(MPI_2INT, int64_t, "00000001000000020000000300000004", 0x200000001, 0x400000003);
    OK(MPI_Type_create_f90_real(15, 300, &t)); /* behaves as a double */
    SAME(t, double, "3ff80000000000000000000000000000", 1.5, 0);
#if LDBL_MANT_DIG == 64 /* of 16 bytes six are padding */
    long double wide[2], numbers[2] = {-1.0L, 0x1p-16445L};
    memset(wide, 0, sizeof wide);
    for (int i = 0; i < 2; i++) memcpy(&wide[i], &numbers[i], 10);
    type_by_type(f, name, MPI_LONG_DOUBLE, wide, 2, sizeof wide[0],
                 "bfff000000000000000000000000000000000000000000000002000000000000");
#endif
    MPI_Fint number = MPI_File_c2f(f);
    CHECK(MPI_File_f2c(number) == f && MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL);
    OK(MPI_File_close(&f));
}

static int no_extent(MPI_Datatype t, MPI_Aint *extent, void *extra)
{
    (void)t, (void)extent, (void)extra;
    return MPI_ERR_OTHER;
}
static void failing_extent(void)
{
    MPI_File f = open_own(MPI_COMM_WORLD, in_folder("failing"), 0);
    MPI_Offset disp;
    MPI_Datatype etype, filetype;
    char rep[MPI_MAX_DATAREP_STRING];
    OK(MPI_Register_datarep("no extent", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, no_extent, NULL));
    FAILS(MPI_File_set_view(f, 8, MPI_INT, MPI_INT, "no extent", MPI_INFO_NULL), MPI_ERR_CONVERSION);
    OK(MPI_File_get_view(f, &disp, &etype, &filetype, rep)); /* the view is what it was */
    CHECK(disp == 0 && etype == MPI_BYTE && filetype == MPI_BYTE && strcmp(rep, "native") == 0);
    OK(MPI_File_close(&f));
}

int main(int argc, char **argv)
{
    files_begin(&argc, &argv);
    overlapping("automatic");
    overlapping("enable");
    cut_etype();
    ordered_parts();
    atomic_all();
    opened_twice();
    halves();
    external();
    failing_extent();
    return files_end();
}
