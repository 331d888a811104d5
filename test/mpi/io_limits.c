/* io_limits.c -- large files and counts, representations of users, full devices, limits, signals.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "io_check.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>

enum { ROOM = 1 << 16 };
static unsigned char data[ROOM], back[ROOM];
static const MPI_Offset FAR = (MPI_Offset)5 << 30;

/* Beyond 4 GiB, in a file that is nearly all hole. */
static void far_away(void)
{
    const char *name = in_folder("far");
    MPI_File f;
    MPI_Status status;
    MPI_Offset at;
    MPI_Count extent;
    MPI_Datatype mine, filetype;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", "enable");
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &f));
    MPI_Info_free(&info);
    pattern_fill(data, 1000, (unsigned)rank);
    OK(MPI_File_write_at_c(f, FAR + 1000 * rank, data, 1000, MPI_BYTE, &status));
    CHECK_EQ(count_of(&status), 1000);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_get_size(f, &at));
    CHECK_EQ(at, FAR + 1000 * size);
    int next = (rank + 1) % size;
    OK(MPI_File_seek(f, -1000 * (size - next), MPI_SEEK_END));
    OK(MPI_File_read_c(f, back, 1000, MPI_BYTE, &status));
    CHECK_EQ(pattern_wrong(back, 1000, (unsigned)next), -1);
    /* A view that begins there, by rows of all ranks; offsets in etypes of eight bytes. */
    MPI_Type_contiguous(16, MPI_BYTE, &filetype);
    MPI_Type_create_resized_c(filetype, 0, 16 * size, &mine);
    MPI_Type_commit(&mine);
    OK(MPI_File_set_view(f, FAR + 16 * rank, MPI_DOUBLE, mine, "native", MPI_INFO_NULL));
    OK(MPI_File_get_byte_offset(f, 200000001, &at));
    CHECK_EQ(at, FAR + 16 * rank + 100000000L * 16 * size + 8);
    OK(MPI_File_get_type_extent_c(f, mine, &extent));
    CHECK_EQ(extent, 16 * size);
    OK(MPI_File_write_at_all_c(f, 2, data, 10, MPI_DOUBLE, &status));
    CHECK_EQ(count_of(&status), 80);
    OK(MPI_File_read_at_all_c(f, 2, back, 10, MPI_DOUBLE, &status));
    CHECK_EQ(memcmp(back, data, 80), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    int fd = open(name, O_RDONLY);
    for (int i = 0; i < 5; i++) {
        CHECK(pread(fd, back, 16, FAR + 16 * rank + (i + 1) * 16 * size) == 16);
        CHECK_EQ(memcmp(back, data + 16 * i, 16), 0);
    }
    close(fd);
    FAILS(MPI_File_get_byte_offset(f, (MPI_Offset)1 << 62, &at), MPI_ERR_ARG);
    FAILS(MPI_File_write_at(f, (MPI_Offset)1 << 60, data, 1, MPI_DOUBLE, &status), MPI_ERR_ARG);
    OK(MPI_File_set_size(f, FAR + FAR));
    OK(MPI_File_get_size(f, &at));
    CHECK_EQ(at, FAR + FAR);
    OK(MPI_File_close(&f));
    MPI_Type_free(&filetype), MPI_Type_free(&mine);
    file_remove(name);
}

/* More items than an int can count; the file has ten. */
static void many(void)
{
    const char *name = in_folder("many");
    MPI_File f;
    MPI_Status status;
    MPI_Datatype still;
    MPI_Count n;
    plain_write(name, "0123456789", 10);
    MPI_Type_create_resized(MPI_BYTE, 0, 0, &still);
    MPI_Type_commit(&still);
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &f));
    OK(MPI_File_read_at_c(f, 0, back, (MPI_Count)3 << 30, still, &status));
    MPI_Get_count_c(&status, MPI_BYTE, &n);
    CHECK_EQ(n, 10);
    CHECK_EQ(back[0], '9');
    OK(MPI_File_close(&f));
    MPI_Type_free(&still);
    file_remove(name);
}

/* ---- a representation of our own: every int as five bytes, the last of which is a check; other types as they are */
static int calls, state = 4711;
static int file_extent(MPI_Datatype t, MPI_Aint *extent, void *extra)
{
    MPI_Aint lb;
    calls++;
    if (extra != &state) return MPI_ERR_OTHER;
    MPI_Type_get_extent(t, &lb, extent);
    if (t == MPI_INT) *extent = 5;
    return MPI_SUCCESS;
}
static int is_int(MPI_Datatype t, int *ints_out)
{
    int n;
    MPI_Type_size(t, &n);
    *ints_out = n / 4;
    return n % 4 == 0;
}
static int to_file(void *user, MPI_Datatype t, int count, void *file, MPI_Offset position, void *extra)
{
    unsigned char *out = file;
    int each, at = 0, packed[4];
    MPI_Aint lb, extent;
    if (extra != &state || position != 0 || !is_int(t, &each) || each > 4) return MPI_ERR_OTHER;
    MPI_Type_get_extent(t, &lb, &extent);
    for (int i = 0; i < count; i++) {
        at = 0;
        MPI_Pack((char *)user + i * extent, 1, t, packed, sizeof packed, &at, MPI_COMM_SELF);
        for (int k = 0; k < each; k++, out += 5) {
            if (packed[k] == -1) return MPI_ERR_OTHER; /* this one cannot be converted */
            memcpy(out, &packed[k], 4);
            out[4] = (unsigned char)(out[0] ^ out[1] ^ out[2] ^ out[3]);
        }
    }
    return MPI_SUCCESS;
}
static int from_file_c(void *user, MPI_Datatype t, MPI_Count count, void *file, MPI_Offset position, void *extra)
{
    unsigned char *in = file;
    int each, at, packed[4];
    MPI_Aint lb, extent;
    if (extra != &state || position != 0 || !is_int(t, &each) || each > 4) return MPI_ERR_OTHER;
    MPI_Type_get_extent(t, &lb, &extent);
    for (MPI_Count i = 0; i < count; i++) {
        for (int k = 0; k < each; k++, in += 5) {
            if (in[4] != (in[0] ^ in[1] ^ in[2] ^ in[3])) return MPI_ERR_OTHER;
            memcpy(&packed[k], in, 4);
        }
        at = 0;
        MPI_Unpack(packed, sizeof packed, &at, (char *)user + i * extent, 1, t, MPI_COMM_SELF);
    }
    return MPI_SUCCESS;
}
static int from_file(void *user, MPI_Datatype t, int count, void *file, MPI_Offset position, void *extra)
{
    return from_file_c(user, t, count, file, position, extra);
}
static int to_file_c(void *user, MPI_Datatype t, MPI_Count count, void *file, MPI_Offset position, void *extra)
{
    return to_file(user, t, (int)count, file, position, extra);
}

static void own_representation(const char *rep)
{
    const char *name = in_folder("rep");
    MPI_File f;
    MPI_Status status;
    MPI_Aint extent;
    MPI_Datatype mine, pair;
    int values[40], again[40], n;
    char got[MPI_MAX_DATAREP_STRING];
    MPI_Offset disp;
    MPI_Datatype etype, filetype;
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    MPI_Type_vector(1, 2, 1, MPI_INT, &pair);
    MPI_Type_create_resized(pair, 0, 10 * size, &mine); /* two ints are ten bytes of the file */
    MPI_Type_commit(&mine);
    MPI_Type_free(&pair);
    OK(MPI_File_set_view(f, 10 * rank, MPI_INT, mine, rep, MPI_INFO_NULL));
    CHECK(calls > 0);
    OK(MPI_File_get_view(f, &disp, &etype, &filetype, got));
    CHECK(strcmp(got, rep) == 0);
    MPI_Type_free(&filetype);
    OK(MPI_File_get_type_extent(f, MPI_INT, &extent));
    CHECK_EQ(extent, 5);
    for (int i = 0; i < 40; i++) values[i] = 1000 * rank + i;
    MPI_Type_create_resized(MPI_INT, 0, 8, &pair); /* every second of the memory */
    MPI_Type_commit(&pair);
    OK(MPI_File_write_at(f, 0, values, 20, pair, &status));
    MPI_Get_count(&status, MPI_INT, &n);
    CHECK_EQ(n, 20);
    OK(MPI_File_write_at_all(f, 20, values, 20, MPI_INT, &status));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(plain_read(name, back, ROOM), 200 * size);
    for (int i = 0; i < 40 * size; i++) { /* int i of the file: row, rank, place in the pair */
        int row = i / (2 * size), who = i / 2 % size, k = 2 * row + i % 2, v;
        memcpy(&v, back + 5 * i, 4);
        CHECK_EQ(v, 1000 * who + (k < 20 ? 2 * k : k - 20));
        CHECK_EQ(back[5 * i + 4], back[5 * i] ^ back[5 * i + 1] ^ back[5 * i + 2] ^ back[5 * i + 3]);
    }
    memset(again, 0xff, sizeof again);
    OK(MPI_File_read_at(f, 30, again, 20, MPI_INT, &status));
    MPI_Get_count(&status, MPI_INT, &n);
    CHECK_EQ(n, 10);
    for (int i = 0; i < 20; i++) CHECK_EQ(again[i], i < 10 ? values[10 + i] : -1);
    OK(MPI_File_read_at_all(f, 0, again, 20, MPI_INT, &status));
    for (int i = 0; i < 20; i++) CHECK_EQ(again[i], values[2 * i]);
    values[3] = -1;
    FAILS(MPI_File_write_at(f, 0, values, 4, MPI_INT, &status), MPI_ERR_CONVERSION);
    CHECK_EQ(count_of(&status), 0);
    OK(MPI_File_close(&f));
    MPI_Type_free(&mine), MPI_Type_free(&pair);
    file_remove(name);
}

static void representations(void)
{
    OK(MPI_Register_datarep("checked ints", from_file, to_file, file_extent, &state));
    FAILS(MPI_Register_datarep("checked ints", from_file, to_file, file_extent, &state), MPI_ERR_DUP_DATAREP);
    FAILS(MPI_Register_datarep("native", from_file, to_file, file_extent, &state), MPI_ERR_DUP_DATAREP);
    OK(MPI_Register_datarep_c("checked ints, many", from_file_c, to_file_c, file_extent, &state));
    OK(MPI_Register_datarep("as it is", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, file_extent, &state));
    own_representation("checked ints");
    own_representation("checked ints, many");
    /* Without functions the bytes are as they are: right for doubles, impossible for ints of five bytes. */
    const char *name = in_folder("plain");
    MPI_File f;
    double x[2] = {1.5, rank}, y[2];
    int four = 4;
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    OK(MPI_File_set_view(f, 16 * rank, MPI_DOUBLE, MPI_DOUBLE, "as it is", MPI_INFO_NULL));
    OK(MPI_File_write_all(f, x, 2, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at(f, 0, y, 2, MPI_DOUBLE, MPI_STATUS_IGNORE));
    CHECK_EQ(memcmp(x, y, sizeof x), 0);
    OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "as it is", MPI_INFO_NULL));
    FAILS(MPI_File_write_at(f, 0, &four, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_CONVERSION);
    OK(MPI_File_close(&f));
    file_remove(name);
}

/* A device that is full: nothing is reported written. */
static void full(void)
{
    MPI_File f;
    MPI_Status status;
    MPI_Info info;
    MPI_Request r;
    if (access("/dev/full", W_OK) != 0) return;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", "enable");
    OK(MPI_File_open(MPI_COMM_WORLD, "/dev/full", MPI_MODE_WRONLY, info, &f));
    FAILS(MPI_File_write_at(f, 100 * rank, data, 100, MPI_BYTE, &status), MPI_ERR_NO_SPACE);
    CHECK_EQ(count_of(&status), 0);
    FAILS(MPI_File_iwrite(f, data, 100, MPI_BYTE, &r), MPI_ERR_NO_SPACE);
    FAILS(MPI_File_write_at_all(f, 100 * rank, data, 100, MPI_BYTE, &status), MPI_ERR_NO_SPACE);
    CHECK_EQ(count_of(&status), 0);
    FAILS(MPI_File_write_ordered(f, data, 100, MPI_BYTE, &status), MPI_ERR_NO_SPACE);
    CHECK_EQ(count_of(&status), 0);
    OK(MPI_File_close(&f));
    MPI_Info_free(&info);
}

/* A limit on the size of files: the first write is short, the second fails; what went is reported. */
static void limited(void)
{
    const char *name = in_folder("limited");
    char own[300];
    struct rlimit old, low;
    MPI_File f;
    MPI_Status status;
    MPI_Datatype v;
    snprintf(own, sizeof own, "%s.%d", name, rank);
    OK(MPI_File_open(MPI_COMM_SELF, own, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f));
    getrlimit(RLIMIT_FSIZE, &old);
    low = old, low.rlim_cur = 6000;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &low);
    FAILS(MPI_File_write_at(f, 0, data, 10000, MPI_BYTE, &status), MPI_ERR_IO);
    CHECK_EQ(count_of(&status), 6000);
    MPI_Type_vector(100, 100, 200, MPI_BYTE, &v);
    MPI_Type_commit(&v);
    FAILS(MPI_File_write_at(f, 0, data, 1, v, &status), MPI_ERR_IO); /* memory in pieces, the file in one */
    CHECK_EQ(count_of(&status), 6000);
    OK(MPI_File_set_view(f, 50, MPI_BYTE, v, "native", MPI_INFO_NULL));
    FAILS(MPI_File_write_at(f, 0, data, 10000, MPI_BYTE, &status), MPI_ERR_IO); /* the file in pieces: the 31st lies beyond */
    CHECK_EQ(count_of(&status), 3000);
    setrlimit(RLIMIT_FSIZE, &old);
    OK(MPI_File_close(&f));
    MPI_Type_free(&v);
}

/* Signals that interrupt system calls change nothing. */
static volatile int rings;
static void on_alarm(int signo)
{
    (void)signo;
    rings++;
}
static void signals(void)
{
    const char *name = in_folder("signals");
    struct sigaction act = {.sa_handler = on_alarm}, old; /* no SA_RESTART */
    struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    MPI_File f;
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    OK(MPI_File_set_atomicity(f, 1));
    sigaction(SIGALRM, &act, &old);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < 30; i++) {
        memset(data, 1 + rank, 40000);
        OK(MPI_File_write_at(f, 0, data, 40000, MPI_BYTE, MPI_STATUS_IGNORE));
        OK(MPI_File_read_at(f, 0, back, 40000, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK(back[0] == back[39999] && memcmp(back, back + 1, 39999) == 0);
        OK(MPI_File_set_size(f, 40000 + i));
    }
    while (rings < 3) usleep(200);
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &old, NULL);
    OK(MPI_File_close(&f));
    file_remove(name);
}

int main(int argc, char **argv)
{
    files_begin(&argc, &argv);
    far_away();
    many();
    representations();
    full();
    limited();
    signals();
    return files_end();
}
