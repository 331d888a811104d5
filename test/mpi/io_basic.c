/* io_basic.c -- files of one's own and shared ones: modes, sizes, pointers, errors, error handlers, info.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "io_check.h"

enum { PART = 5000 };
static unsigned char data[16 * PART], back[16 * PART];

/* Every rank writes its part at an offset and reads its neighbour's. */
static void shared_file(void)
{
    const char *name = in_folder("shared");
    MPI_File f;
    MPI_Status status;
    MPI_Offset size_now;
    MPI_Group group, world;
    int amode, same;
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    pattern_fill(data, PART, (unsigned)rank);
    OK(MPI_File_write_at(f, (MPI_Offset)rank * PART, data, PART, MPI_BYTE, &status));
    CHECK_EQ(count_of(&status), PART);
    OK(MPI_File_sync(f));
    MPI_Barrier(MPI_COMM_WORLD);
    int next = (rank + 1) % size;
    OK(MPI_File_read_at(f, (MPI_Offset)next * PART, back, PART, MPI_BYTE, &status));
    CHECK_EQ(count_of(&status), PART);
    CHECK_EQ(pattern_wrong(back, PART, (unsigned)next), -1);
    OK(MPI_File_get_size(f, &size_now));
    CHECK_EQ(size_now, (MPI_Offset)size * PART);
    OK(MPI_File_get_amode(f, &amode));
    CHECK_EQ(amode, MPI_MODE_CREATE | MPI_MODE_RDWR);
    OK(MPI_File_get_group(f, &group));
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(group, world, &same);
    CHECK_EQ(same, MPI_IDENT);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    OK(MPI_File_close(&f));
    CHECK(f == MPI_FILE_NULL);
    CHECK_EQ(plain_read(name, back, sizeof back), size * PART);
    for (int i = 0; i < size; i++) CHECK_EQ(pattern_wrong(back + i * PART, PART, (unsigned)i), -1);
    file_remove(name);
}

/* Read up to and beyond the end of the file: the status says what was there. */
static void end_of_file(void)
{
    const char *name = in_folder("end");
    MPI_File f;
    MPI_Status status;
    MPI_Offset at;
    pattern_fill(data, 1001, 7);
    plain_write(name, data, 1001);
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &f));
    memset(back, 0x55, 2000);
    OK(MPI_File_read(f, back, 600, MPI_BYTE, &status));
    CHECK_EQ(count_of(&status), 600);
    OK(MPI_File_read(f, back + 600, 600, MPI_BYTE, &status));
    CHECK_EQ(count_of(&status), 401);
    CHECK_EQ(pattern_wrong(back, 1001, 7), -1);
    CHECK_EQ(back[1001], 0x55);
    OK(MPI_File_get_position(f, &at));
    CHECK_EQ(at, 1200); /* by what was asked for */
    OK(MPI_File_read(f, back, 600, MPI_BYTE, &status));
    CHECK_EQ(count_of(&status), 0);
    OK(MPI_File_seek(f, -11, MPI_SEEK_END));
    OK(MPI_File_read(f, back, 11, MPI_BYTE, &status));
    CHECK_EQ(count_of(&status), 11);
    CHECK_EQ(memcmp(back, data + 990, 11), 0);
    OK(MPI_File_seek(f, 10, MPI_SEEK_SET));
    OK(MPI_File_seek(f, -3, MPI_SEEK_CUR));
    OK(MPI_File_get_position(f, &at));
    CHECK_EQ(at, 7);
    OK(MPI_File_read_at(f, 7, back, 0, MPI_BYTE, &status));
    CHECK_EQ(count_of(&status), 0);
    FAILS(MPI_File_seek(f, -8, MPI_SEEK_CUR), MPI_ERR_ARG);
    FAILS(MPI_File_seek(f, 0, 77), MPI_ERR_ARG);
    FAILS(MPI_File_read_at(f, -1, back, 1, MPI_BYTE, &status), MPI_ERR_ARG);
    FAILS(MPI_File_write(f, data, 1, MPI_BYTE, &status), MPI_ERR_READ_ONLY);
    CHECK_EQ(count_of(&status), 0);
    FAILS(MPI_File_set_size(f, 10), MPI_ERR_READ_ONLY);
    OK(MPI_File_close(&f));
    file_remove(name);
}

/* Requests: their statuses, many at once, the file pointer at each start. */
static void requests(void)
{
    const char *name = in_folder("requests");
    MPI_File f;
    MPI_Request r[8];
    MPI_Status statuses[8];
    OK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    pattern_fill(data, 800, (unsigned)rank);
    /* Here all ranks write one file; each its own bytes. */
    for (int i = 0; i < 8; i++) OK(MPI_File_iwrite_at(f, rank * 800 + i * 100, data + i * 100, 100, MPI_BYTE, &r[i]));
    OK(MPI_Waitall(8, r, statuses));
    for (int i = 0; i < 8; i++) CHECK_EQ(count_of(&statuses[i]), 100);
    OK(MPI_File_seek(f, rank * 800, MPI_SEEK_SET));
    for (int i = 0; i < 8; i++) OK(MPI_File_iread(f, back + i * 100, 100, MPI_BYTE, &r[i]));
    OK(MPI_Waitall(8, r, statuses));
    for (int i = 0; i < 8; i++) CHECK_EQ(count_of(&statuses[i]), 100);
    CHECK_EQ(pattern_wrong(back, 800, (unsigned)rank), -1);
    OK(MPI_File_seek(f, rank * 800, MPI_SEEK_SET));
    OK(MPI_File_iwrite(f, data + 100, 100, MPI_BYTE, &r[0]));
    OK(MPI_Wait(&r[0], &statuses[0]));
    CHECK_EQ(count_of(&statuses[0]), 100);
    OK(MPI_File_iread_at(f, rank * 800, back, 100, MPI_BYTE, &r[0]));
    OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
    CHECK_EQ(memcmp(back, data + 100, 100), 0);
    OK(MPI_File_close(&f));
    file_remove(name);
}

static void sizes(void)
{
    const char *name = in_folder("sizes");
    MPI_File f;
    MPI_Offset now;
    struct stat st;
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_UNIQUE_OPEN | MPI_MODE_DELETE_ON_CLOSE,
                     MPI_INFO_NULL, &f));
    OK(MPI_File_set_size(f, 12345));
    OK(MPI_File_get_size(f, &now));
    CHECK_EQ(now, 12345);
    OK(MPI_File_preallocate(f, 100)); /* never smaller */
    OK(MPI_File_get_size(f, &now));
    CHECK_EQ(now, 12345);
    OK(MPI_File_preallocate(f, 40000));
    OK(MPI_File_get_size(f, &now));
    CHECK_EQ(now, 40000);
    CHECK(stat(name, &st) == 0 && st.st_blocks * 512 >= 40000);
    FAILS(MPI_File_set_size(f, -1), MPI_ERR_ARG);
    if (size > 1) FAILS(MPI_File_set_size(f, 10 + rank), MPI_ERR_NOT_SAME);
    FAILS(MPI_File_read(f, back, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
    OK(MPI_File_close(&f));
    CHECK(access(name, F_OK) != 0);
}

static void append(void)
{
    const char *name = in_folder("append");
    MPI_File f;
    MPI_Offset at;
    plain_write(name, "0123456789", 10);
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_WRONLY | MPI_MODE_APPEND, MPI_INFO_NULL, &f));
    OK(MPI_File_get_position(f, &at));
    CHECK_EQ(at, 10);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1) OK(MPI_File_write(f, "abc", 3, MPI_CHAR, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&f));
    CHECK_EQ(plain_read(name, back, 100), 13);
    CHECK_EQ(memcmp(back, "0123456789abc", 13), 0);
    file_remove(name);
}

static void bad_opens(void)
{
    char name[256];
    MPI_File f = MPI_FILE_NULL;
    snprintf(name, sizeof name, "%s", in_folder("nothing"));
    FAILS(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &f), MPI_ERR_NO_SUCH_FILE);
    CHECK(f == MPI_FILE_NULL);
    FAILS(MPI_File_open(MPI_COMM_WORLD, name, 0, MPI_INFO_NULL, &f), MPI_ERR_AMODE);
    FAILS(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY | MPI_MODE_RDWR, MPI_INFO_NULL, &f), MPI_ERR_AMODE);
    FAILS(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY | MPI_MODE_CREATE, MPI_INFO_NULL, &f), MPI_ERR_AMODE);
    FAILS(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY | MPI_MODE_EXCL, MPI_INFO_NULL, &f), MPI_ERR_AMODE);
    FAILS(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL, &f), MPI_ERR_AMODE);
    if (MPI_MODE_NOCHECK > MPI_MODE_UNIQUE_OPEN) /* in some ABIs it has the value of a mode */
        FAILS(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_NOCHECK, MPI_INFO_NULL, &f), MPI_ERR_AMODE);
    if (size > 1)
        FAILS(MPI_File_open(MPI_COMM_WORLD, name, rank ? MPI_MODE_RDWR | MPI_MODE_CREATE : MPI_MODE_WRONLY | MPI_MODE_CREATE,
                            MPI_INFO_NULL, &f),
              MPI_ERR_NOT_SAME);
    CHECK(access(name, F_OK) != 0);
    MPI_Barrier(MPI_COMM_WORLD);
    plain_write(name, "x", 1);
    if (size > 1) { /* a file for each rank, which exists or does not; and one file by two names */
        char own[280];
        snprintf(own, sizeof own, "%s%s", name, rank ? "_own" : "");
        FAILS(MPI_File_open(MPI_COMM_WORLD, own, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &f), MPI_ERR_NOT_SAME);
        plain_write(in_folder("nothing_own"), "y", 1);
        FAILS(MPI_File_open(MPI_COMM_WORLD, own, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &f), MPI_ERR_NOT_SAME);
        CHECK(f == MPI_FILE_NULL);
        snprintf(own, sizeof own, "%s%s", rank ? "/" : "", name);
        OK(MPI_File_open(MPI_COMM_WORLD, own, MPI_MODE_RDWR, MPI_INFO_NULL, &f));
        OK(MPI_File_close(&f));
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) OK(MPI_File_delete(in_folder("nothing_own"), MPI_INFO_NULL));
    }
    FAILS(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL, MPI_INFO_NULL, &f),
          MPI_ERR_FILE_EXISTS);
    FAILS(MPI_File_open(MPI_COMM_WORLD, folder, MPI_MODE_RDONLY, MPI_INFO_NULL, &f), MPI_ERR_BAD_FILE);
    FAILS(MPI_File_open(MPI_COMM_WORLD, folder, MPI_MODE_RDWR, MPI_INFO_NULL, &f), MPI_ERR_BAD_FILE);
    strcat(name, "/below");
    FAILS(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &f), MPI_ERR_BAD_FILE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) OK(MPI_File_delete(in_folder("nothing"), MPI_INFO_NULL));
    FAILS(MPI_File_delete(in_folder("never"), MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
    if (geteuid() != 0) { /* everything is allowed to root */
        snprintf(name, sizeof name, "%s", in_folder("locked"));
        if (rank == 0) CHECK(mkdir(name, 0500) == 0);
        MPI_Barrier(MPI_COMM_WORLD);
        strcat(name, "/file");
        FAILS(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &f), MPI_ERR_ACCESS);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) CHECK(rmdir(in_folder("locked")) == 0);
    }
}

static int handler_calls, handler_code;
static MPI_File handler_file;
static void on_error(MPI_File *f, int *code, ...)
{
    handler_calls++;
    handler_code = *code;
    handler_file = *f;
}

static void error_handlers(void)
{
    const char *name = in_folder("handlers");
    MPI_File f, other;
    MPI_Errhandler mine, got;
    OK(MPI_File_get_errhandler(MPI_FILE_NULL, &got));
    CHECK(got == MPI_ERRORS_RETURN);
    OK(MPI_File_create_errhandler(on_error, &mine));
    OK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    OK(MPI_File_get_errhandler(f, &got));
    CHECK(got == MPI_ERRORS_RETURN);
    OK(MPI_File_set_errhandler(f, mine));
    FAILS(MPI_File_seek(f, -1, MPI_SEEK_SET), MPI_ERR_ARG);
    CHECK_EQ(handler_calls, 1);
    CHECK_EQ(class_of(handler_code), MPI_ERR_ARG);
    CHECK(handler_file == f);
    OK(MPI_File_call_errhandler(f, MPI_ERR_IO));
    CHECK_EQ(handler_calls, 2);
    CHECK_EQ(handler_code, MPI_ERR_IO);
    FAILS(MPI_File_open(MPI_COMM_SELF, folder, MPI_MODE_RDONLY, MPI_INFO_NULL, &other), MPI_ERR_BAD_FILE);
    CHECK_EQ(handler_calls, 2); /* not the file's affair */
    OK(MPI_File_set_errhandler(MPI_FILE_NULL, mine));
    FAILS(MPI_File_open(MPI_COMM_SELF, folder, MPI_MODE_RDONLY, MPI_INFO_NULL, &other), MPI_ERR_BAD_FILE);
    CHECK_EQ(handler_calls, 3);
    CHECK(handler_file == MPI_FILE_NULL);
    OK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR, MPI_INFO_NULL, &other));
    OK(MPI_File_get_errhandler(other, &got)); /* as MPI_FILE_NULL's */
    CHECK(got == mine);
    OK(MPI_Errhandler_free(&got));
    OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    OK(MPI_Errhandler_free(&mine));
    OK(MPI_File_close(&other));
    FAILS(MPI_File_close(&other), MPI_ERR_FILE);
    OK(MPI_File_close(&f));
    file_remove(name);
}

static void has(MPI_Info info, const char *key, const char *want)
{
    char value[100] = "";
    int len = sizeof value, flag = 0;
    OK(MPI_Info_get_string(info, key, &len, value, &flag));
    CHECK(flag && strcmp(value, want) == 0);
}

static void hints(void)
{
    const char *name = in_folder("hints");
    MPI_File f;
    MPI_Info info, used;
    struct stat st;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_ds_read", "enable");
    MPI_Info_set(info, "ind_rd_buffer_size", "70000");
    MPI_Info_set(info, "ind_wr_buffer_size", "many"); /* no number: as if it were not there */
    MPI_Info_set(info, "file_perm", "600");
    MPI_Info_set(info, "no_such_hint", "1");
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info, &f));
    CHECK(stat(name, &st) == 0);
    CHECK_EQ(st.st_mode & 0777, 0600);
    OK(MPI_File_get_info(f, &used));
    has(used, "romio_ds_read", "enable");
    has(used, "romio_ds_write", "automatic");
    has(used, "ind_rd_buffer_size", "70000");
    has(used, "ind_wr_buffer_size", "524288");
    MPI_Info_free(&used);
    MPI_Info_set(info, "romio_ds_read", "disable");
    OK(MPI_File_set_info(f, info));
    OK(MPI_File_get_info(f, &used));
    has(used, "romio_ds_read", "disable");
    MPI_Info_free(&used);
    MPI_Info_free(&info);
    OK(MPI_File_close(&f));
}

int main(int argc, char **argv)
{
    files_begin(&argc, &argv);
    shared_file();
    end_of_file();
    requests();
    sizes();
    append();
    bad_opens();
    error_handlers();
    hints();
    return files_end();
}
