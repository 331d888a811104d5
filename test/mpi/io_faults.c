/* io_faults.c -- system calls that are interrupted, do part of their work or fail; files and folders that vanish or may not be
 * written; file systems that say they are Lustre or NFS.
 *
 * The program has its own pwrite, pwritev, pread, preadv and so on, which the library finds before those of the C library.
 *     io_faults             all of that
 *     io_faults full DIR    DIR is on a file system of 1 MiB
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "io_check.h"
#include "nodes_check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>

enum { N = 60000, LUSTRE = 0x0bd00bd0, NFS = 0x6969 };
static unsigned char data[N], back[N], whole[8 * N];

/* ---- our own system calls ---- */
#define OURS __attribute__((visibility("default")))
static int is_short, is_interrupted, fail_at, fail_with, calls, pretended, locked, locks, layouts, open_flags, was_interrupted,
    was_short;
static struct layout {
    uint32_t magic, pattern;
    uint64_t object[2];
    uint32_t stripe;
    uint16_t stripes, start;
} layout;

static ssize_t moved(long number, int fd, const struct iovec *iov, int n, off_t at)
{
    struct iovec part;
    calls++;
    if (fail_at && calls >= fail_at) {
        errno = fail_with;
        return -1;
    }
    if (is_interrupted && calls % 3 == 0) {
        was_interrupted++;
        errno = EINTR;
        return -1;
    }
    if (is_short && n > 0 && iov[0].iov_len > 1) {
        was_short++;
        part = (struct iovec){iov[0].iov_base, (iov[0].iov_len + 1) / 2};
        return syscall(number, fd, &part, 1, at, 0);
    }
    return syscall(number, fd, iov, n, at, 0);
}
OURS ssize_t pwritev64(int fd, const struct iovec *iov, int n, off_t at);
ssize_t pwritev64(int fd, const struct iovec *iov, int n, off_t at) { return moved(SYS_pwritev, fd, iov, n, at); }
OURS ssize_t preadv64(int fd, const struct iovec *iov, int n, off_t at);
ssize_t preadv64(int fd, const struct iovec *iov, int n, off_t at) { return moved(SYS_preadv, fd, iov, n, at); }
OURS ssize_t pwrite64(int fd, const void *data, size_t bytes, off_t at)
{
    struct iovec iov = {(void *)(uintptr_t)data, bytes};
    return moved(SYS_pwritev, fd, &iov, 1, at);
}
OURS ssize_t pread64(int fd, void *data, size_t bytes, off_t at)
{
    struct iovec iov = {data, bytes};
    return moved(SYS_preadv, fd, &iov, 1, at);
}

OURS int fstatfs64(int fd, struct statfs64 *s)
{
    int rc = (int)syscall(SYS_fstatfs, fd, s);
    if (pretended) s->f_type = pretended;
    return rc;
}
OURS int statfs64(const char *name, struct statfs64 *s)
{
    int rc = (int)syscall(SYS_statfs, name, s);
    if (pretended) s->f_type = pretended;
    return rc;
}
OURS int open64(const char *name, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    if (folder[0] && strncmp(name, folder, strlen(folder)) == 0) open_flags = flags;
    return (int)syscall(SYS_openat, AT_FDCWD, name, flags, mode);
}
OURS int ioctl(int fd, unsigned long what, ...)
{
    va_list args;
    va_start(args, what);
    void *arg = va_arg(args, void *);
    va_end(args);
    if (pretended == LUSTRE && what == _IOW('f', 154, long)) {
        layouts++;
        memcpy(&layout, arg, sizeof layout);
        return 0;
    }
    if (pretended == LUSTRE && what == _IOW('f', 155, long)) {
        memcpy(arg, &layout, sizeof layout);
        return 0;
    }
    return (int)syscall(SYS_ioctl, fd, what, arg);
}
OURS int fcntl64(int fd, int what, ...)
{
    va_list args;
    va_start(args, what);
    void *arg = va_arg(args, void *);
    va_end(args);
    if (what == F_OFD_SETLKW) {
        locks++;
        locked += ((struct flock *)arg)->l_type == F_UNLCK ? -1 : 1;
    }
    return (int)syscall(SYS_fcntl, fd, what, arg);
}

static void no_faults(void) { is_short = is_interrupted = fail_at = fail_with = calls = 0; }
/* ---- calls that are cut and interrupted change nothing ---- */
static void cut(const char *rep, const char *buffering)
{
    const char *name = in_folder("cut");
    MPI_File f;
    MPI_Info info;
    MPI_Status status;
    MPI_Datatype mine, memory;
    int n = 3000, count;
    double in[3000 * 2], out[3000 * 2];
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", buffering);
    MPI_Info_set(info, "romio_cb_read", buffering);
    MPI_Type_vector(n / 10, 10, 10 * size, MPI_DOUBLE, &mine);
    MPI_Type_create_resized(MPI_DOUBLE, 0, 16, &memory); /* every second */
    MPI_Type_commit(&mine), MPI_Type_commit(&memory);
    for (int i = 0; i < 2 * n; i++) in[i] = 1e6 * rank + i, out[i] = -1;
    is_short = is_interrupted = 1;
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &f));
    OK(MPI_File_set_view(f, 80 * rank, MPI_DOUBLE, mine, rep, MPI_INFO_NULL));
    OK(MPI_File_write_at_all(f, 0, in, n / 2, memory, &status));
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    CHECK_EQ(count, n / 2);
    OK(MPI_File_write_at(f, n / 2, in + n, n / 2, memory, &status));
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    CHECK_EQ(count, n / 2);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_read_at_all(f, n / 2, out + n, n / 2, memory, &status));
    OK(MPI_File_read_at(f, 0, out, n / 2, memory, &status));
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    CHECK_EQ(count, n / 2);
    for (int i = 0; i < 2 * n; i++)
        if (out[i] != (i % 2 ? -1 : in[i])) {
            CHECK_EQ(i, -1);
            break;
        }
    OK(MPI_File_close(&f));
    no_faults();
    if (strcmp(rep, "native") == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_EQ(plain_read(name, whole, sizeof whole), 8L * n * size);
        for (int i = 0; i < n; i++) { /* of rank 1 or 0 */
            double v;
            int who = size > 1;
            memcpy(&v, whole + 8 * (i / 10 * 10 * size + 10 * who + i % 10), 8);
            if (v != 1e6 * who + 2 * i) {
                CHECK_EQ(i, -1);
                break;
            }
        }
    }
    file_remove(name);
    MPI_Type_free(&mine), MPI_Type_free(&memory), MPI_Info_free(&info);
}

static void pointers(void)
{
    const char *name = in_folder("shared");
    MPI_File f;
    is_short = is_interrupted = 1;
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    pattern_fill(data, 5000, (unsigned)rank);
    OK(MPI_File_write_ordered(f, data, 5000, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
    OK(MPI_File_read_ordered(f, back, 5000, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_EQ(pattern_wrong(back, 5000, (unsigned)rank), -1);
    OK(MPI_File_close(&f));
    no_faults();
    file_remove(name);
}

/* ---- errors ---- */
static const struct {
    int number, class;
} kinds[] = {{ENOSPC, MPI_ERR_NO_SPACE},     {EDQUOT, MPI_ERR_QUOTA},  {EIO, MPI_ERR_IO},
             {EROFS, MPI_ERR_READ_ONLY},     {EACCES, MPI_ERR_ACCESS}, {EFBIG, MPI_ERR_IO},
             {ESTALE, MPI_ERR_NO_SUCH_FILE}, {ENOMEM, MPI_ERR_NO_MEM}};

/* The third system call of a write fails, the two before do their part: so much is reported, so much is there. */
static void failing(MPI_File f, const char *name, int number, int class)
{
    MPI_Status status;
    memset(whole, 0, N);
    OK(MPI_File_set_size(f, 0));
    is_short = 1, calls = 0, fail_at = 3, fail_with = number;
    FAILS(MPI_File_write_at(f, 20000 * rank, data, 16000, MPI_BYTE, &status), class);
    CHECK_EQ(count_of(&status), 12000);
    no_faults();
    MPI_Barrier(MPI_COMM_WORLD);
    plain_read(name, whole, sizeof whole);
    CHECK_EQ(memcmp(whole + 20000 * rank, data, 12000), 0);
    fail_at = 1, fail_with = number;
    FAILS(MPI_File_read_at(f, 0, back, 100, MPI_BYTE, &status), class);
    CHECK_EQ(count_of(&status), 0);
    no_faults();
    /* Of one rank that has to write for all: all are told. */
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) fail_at = 1, fail_with = number;
    FAILS(MPI_File_write_at_all(f, 1000 * rank, data, 1000, MPI_BYTE, &status), class);
    CHECK_EQ(count_of(&status), 0);
    FAILS(MPI_File_read_at_all(f, 1000 * rank, back, 1000, MPI_BYTE, &status), class);
    no_faults();
    /* The file is as usable as before. */
    OK(MPI_File_write_at_all(f, 1000 * rank, data, 1000, MPI_BYTE, &status));
    CHECK_EQ(count_of(&status), 1000);
}

/* The form that does not block tells all ranks, too, also where each one writes for itself.  Ranks 0 to last move data. */
static void failing_started(MPI_File f, int last, int number, int class)
{
    MPI_Status status;
    MPI_Request q;
    if (size == 1) return; /* the call itself fails then */
    OK(MPI_File_write_at_all(f, 1000 * rank, data, 1000, MPI_BYTE, &status));
    for (int who = 0; who <= last; who++)
        for (int write = 0; write < 2; write++) {
            if (rank == who) fail_at = 1, fail_with = number;
            if (write)
                OK(MPI_File_iwrite_at_all(f, 1000 * rank, data, 1000, MPI_BYTE, &q));
            else
                OK(MPI_File_iread_at_all(f, 1000 * rank, back, 1000, MPI_BYTE, &q));
            FAILS(MPI_Wait(&q, &status), class);
            no_faults();
            MPI_Barrier(MPI_COMM_WORLD);
        }
    OK(MPI_File_iwrite_at_all(f, 1000 * rank, data, 1000, MPI_BYTE, &q));
    OK(MPI_Wait(&q, &status));
    CHECK_EQ(count_of(&status), 1000);
}

/* A file that is made with these hints, key and value in turn; they are returned. */
static MPI_Info open_with(const char *name, const char *const *hints, MPI_File *f)
{
    MPI_Info info;
    MPI_Info_create(&info);
    for (; *hints; hints += 2) MPI_Info_set(info, hints[0], hints[1]);
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, f));
    return info;
}

static void errors(void)
{
    const char *name = in_folder("errors");
    MPI_File f;
    MPI_Info info;
    info = open_with(name, (const char *[]){"romio_cb_write", "enable", "romio_cb_read", "enable", "cb_nodes", "1", NULL}, &f);
    pattern_fill(data, N, 9);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) failing(f, name, kinds[i].number, kinds[i].class);
    failing_started(f, 0, EIO, MPI_ERR_IO);
    OK(MPI_File_close(&f));
    MPI_Info_free(&info);
    info = open_with(name, (const char *[]){"romio_cb_write", "disable", "romio_cb_read", "disable", NULL}, &f);
    failing_started(f, size - 1, ENOSPC, MPI_ERR_NO_SPACE);
    OK(MPI_File_close(&f));
    MPI_Info_free(&info);
    file_remove(name);
}

/* ---- files and folders ---- */
static void vanished(void)
{
    const char *name = in_folder("vanished");
    char inside[300];
    MPI_File f;
    MPI_Status status;
    FAILS(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &f), MPI_ERR_NO_SUCH_FILE);
    FAILS(MPI_File_delete(name, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
    snprintf(inside, sizeof inside, "%s/none/file", folder);
    FAILS(MPI_File_open(MPI_COMM_WORLD, inside, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f), MPI_ERR_NO_SUCH_FILE);
    /* Deleted by somebody while it is open: its bytes are there till it is closed. */
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    file_remove(name);
    pattern_fill(data, 1000, (unsigned)rank);
    OK(MPI_File_write_at_all(f, 1000 * rank, data, 1000, MPI_BYTE, &status));
    OK(MPI_File_read_at_all(f, 1000 * rank, back, 1000, MPI_BYTE, &status));
    CHECK_EQ(pattern_wrong(back, 1000, (unsigned)rank), -1);
    OK(MPI_File_sync(f));
    OK(MPI_File_close(&f));
    /* To be deleted at close, but gone: the close says so, the next one ends it. */
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f));
    file_remove(name);
    FAILS(MPI_File_close(&f), MPI_ERR_NO_SUCH_FILE);
    CHECK(f != MPI_FILE_NULL);
    OK(MPI_File_close(&f));
    CHECK(f == MPI_FILE_NULL);
}

static void forbidden(void)
{
    char name[300];
    MPI_File f;
    int was_root = geteuid() == 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) CHECK(chmod(folder, 0555) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (was_root) CHECK(seteuid(65534) == 0); /* root may write anywhere */
    snprintf(name, sizeof name, "%s/forbidden", folder);
    FAILS(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &f), MPI_ERR_ACCESS);
    if (was_root) CHECK(seteuid(0) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) CHECK(chmod(folder, 0755) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- kinds of file systems ---- */
static int hint(MPI_File f, const char *key)
{
    MPI_Info info;
    char text[100] = "";
    int room = sizeof text, found;
    OK(MPI_File_get_info(f, &info));
    MPI_Info_get_string(info, key, &room, text, &found);
    MPI_Info_free(&info);
    return found ? atoi(text) : -1;
}

static void lustre(void)
{
    const char *name = in_folder("lustre");
    MPI_File f;
    MPI_Info info;
    info = open_with(name, (const char *[]){"striping_factor", "3", "striping_unit", "131072", "start_iodevice", "5", NULL}, &f);
    /* Elsewhere wishes for stripes do nothing. */
    CHECK_EQ(layouts, 0);
    OK(MPI_File_close(&f));
    file_remove(name);
    pretended = LUSTRE;
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &f));
    CHECK_EQ(layouts, rank == 0);
    if (rank == 0) {
        CHECK_EQ(layout.magic, 0x0bd10bd0);
        CHECK_EQ(layout.pattern, 1);
        CHECK_EQ(layout.stripe, 131072);
        CHECK_EQ(layout.stripes, 3);
        CHECK_EQ(layout.start, 5);
        CHECK((open_flags & (O_NOCTTY | FASYNC)) == (O_NOCTTY | FASYNC));
    }
    CHECK_EQ(hint(f, "striping_factor"), 3);
    CHECK_EQ(hint(f, "striping_unit"), 131072);
    CHECK_EQ(hint(f, "cb_nodes"), size < 3 ? size : 3);
    /* Windows in shared memory are stripes: 4 of them, of which the first and the last in part. */
    MPI_Info_set(info, "romio_cb_write", "enable");
    OK(MPI_File_set_info(f, info));
    calls = 0;
    int each = 3 * 131072 / size, sum;
    unsigned char *many = calloc(1, (size_t)each);
    memset(many, 1 + rank, (size_t)each);
    OK(MPI_File_write_at_all(f, 65536 + (long)each * rank, many, each, MPI_BYTE, MPI_STATUS_IGNORE));
    free(many);
    MPI_Allreduce(&calls, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    const char *shared = getenv("GODWIT_CB_SHARED"); /* by messages each of the aggregators has one piece */
    int by_messages = (shared && !strcmp(shared, "0")) || !is_one_node(MPI_COMM_WORLD);
    CHECK_EQ(sum, !by_messages ? 4 : size < 3 ? size : 3);
    OK(MPI_File_close(&f));
    /* A file that is there keeps its layout, which rank 0 asks for. */
    layouts = 0;
    MPI_Info_set(info, "striping_factor", "7");
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &f));
    CHECK_EQ(layouts, 0);
    CHECK_EQ(hint(f, "striping_factor"), 3);
    OK(MPI_File_close(&f));
    pretended = 0;
    file_remove(name);
    MPI_Info_free(&info);
}

static void nfs(void)
{
    const char *name = in_folder("nfs");
    MPI_File f;
    for (int on = 0; on < 2; on++) {
        pretended = on ? NFS : 0;
        OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
        locks = locked = 0;
        pattern_fill(data, 1000, (unsigned)rank);
        OK(MPI_File_write_at(f, 1000 * rank, data, 1000, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK_EQ(locks, 2 * on);
        OK(MPI_File_read_at(f, 1000 * rank, back, 1000, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK_EQ(locks, 4 * on);
        CHECK_EQ(locked, 0);
        CHECK_EQ(pattern_wrong(back, 1000, (unsigned)rank), -1);
        OK(MPI_File_close(&f));
        pretended = 0;
        file_remove(name);
    }
}

/* ---- a full disk of 1 MiB, then one that may only be read ---- */
static void full(const char *dir)
{
    enum { ROOM = 2 << 20 };
    char name[300];
    MPI_File f;
    MPI_Status status;
    MPI_Info info;
    unsigned char *big = malloc(ROOM), *got = malloc(ROOM);
    snprintf(name, sizeof name, "%s/file", dir);
    pattern_fill(big, ROOM, 3);
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", "enable");
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &f));
    OK(MPI_File_write_at_all(f, 100000 * rank, big + 100000 * rank, 100000, MPI_BYTE, &status));
    FAILS(MPI_File_preallocate(f, ROOM), MPI_ERR_NO_SPACE);
    if (rank == 0) {
        FAILS(MPI_File_write_at(f, 0, big, ROOM, MPI_BYTE, &status), MPI_ERR_NO_SPACE);
        int n = count_of(&status);
        CHECK(n >= 500000 && n < ROOM);
        CHECK(plain_read(name, got, ROOM) >= n);
        CHECK_EQ(memcmp(got, big, (size_t)n), 0); /* what is reported as written is there */
    }
    MPI_Barrier(MPI_COMM_WORLD);
    FAILS(MPI_File_write_at_all(f, ROOM + 100000 * rank, big, 100000, MPI_BYTE, &status), MPI_ERR_NO_SPACE);
    CHECK_EQ(count_of(&status), 0);
    OK(MPI_File_read_at(f, 100000 * rank, got, 100000, MPI_BYTE, &status)); /* nothing is lost */
    CHECK_EQ(memcmp(got, big + 100000 * rank, 100000), 0);
    OK(MPI_File_set_size(f, 1000)); /* room again */
    OK(MPI_File_write_at_all(f, 100000 * rank, big, 100000, MPI_BYTE, &status));
    CHECK_EQ(count_of(&status), 100000);
    OK(MPI_File_close(&f));
    MPI_Info_free(&info);
    free(big), free(got);
}
static void read_only(const char *dir)
{
    char name[300];
    MPI_File f;
    snprintf(name, sizeof name, "%s/file", dir);
    FAILS(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &f), MPI_ERR_READ_ONLY);
    FAILS(MPI_File_delete(name, MPI_INFO_NULL), MPI_ERR_READ_ONLY);
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &f));
    FAILS(MPI_File_write_at(f, 0, data, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY);
    OK(MPI_File_close(&f));
    snprintf(name, sizeof name, "%s/other", dir);
    FAILS(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f), MPI_ERR_READ_ONLY);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    if (argc > 2) {
        if (strcmp(argv[1], "full") == 0)
            full(argv[2]);
        else
            read_only(argv[2]);
        return test_end();
    }
    folder_make();
    cut("native", "enable");
    cut("native", "disable");
    cut("external32", "enable");
    pointers();
    CHECK(was_short > 0 && was_interrupted > 0);
    errors();
    vanished();
    forbidden();
    lustre();
    nfs();
    folder_remove();
    return test_end();
}
