/* io_kill.c -- a rank dies in the middle of collective writes: what was complete before is in the file.  For test/system/io_kill.sh:
 *
 *     io_kill FOLDER die CALLS     writes rounds; the last rank kills itself inside its system call number CALLS
 *     io_kill FOLDER check         one rank: every round that somebody noted as complete is in the file
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "io_check.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/uio.h>

enum { ROUND = 300000, PIECE = 100, ROUNDS = 200 };
static unsigned char data[ROUND], got[ROUND];
static int calls_left, notes = -1;

/* Half of the data, then the end. */
__attribute__((visibility("default"))) ssize_t pwritev64(int fd, const struct iovec *iov, int n, off_t at);
ssize_t pwritev64(int fd, const struct iovec *iov, int n, off_t at)
{
    if (calls_left && --calls_left == 0) {
        struct iovec part = {iov[0].iov_base, iov[0].iov_len / 2};
        syscall(SYS_pwritev, fd, &part, 1, at, 0);
        raise(SIGKILL);
    }
    return syscall(SYS_pwritev, fd, iov, n, at, 0);
}
__attribute__((visibility("default"))) ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t at)
{
    struct iovec iov = {(void *)(uintptr_t)bytes, count};
    return fd == notes ? syscall(SYS_pwrite64, fd, bytes, count, at) : pwritev64(fd, &iov, 1, at);
}

static int die(void)
{
    MPI_File f;
    MPI_Info info;
    MPI_Datatype mine;
    int each = ROUND / PIECE / size * PIECE;
    char note[300];
    snprintf(note, sizeof note, "%s/note.%d", folder, rank);
    notes = open(note, O_CREAT | O_WRONLY, 0666);
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", "enable");
    MPI_Info_set(info, "cb_buffer_size", "32768");
    MPI_Info_set(info, "cb_nodes", "64");
    OK(MPI_File_open(MPI_COMM_WORLD, in_folder("file"), MPI_MODE_CREATE | MPI_MODE_RDWR, info, &f));
    MPI_Type_vector(each / PIECE, PIECE, PIECE * size, MPI_BYTE, &mine);
    MPI_Type_commit(&mine);
    for (int r = 0; r < ROUNDS; r++) {
        OK(MPI_File_set_view(f, (MPI_Offset)r * ROUND + PIECE * rank, MPI_BYTE, mine, "native", MPI_INFO_NULL));
        for (int i = 0; i < each; i++) data[i] = pattern_at((unsigned)r, (long)i / PIECE * PIECE * size + PIECE * rank + i % PIECE);
        OK(MPI_File_write_all(f, data, each, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK(pwrite(notes, &r, sizeof r, 0) == sizeof r); /* round r is complete, says this rank */
    }
    MPI_Abort(MPI_COMM_WORLD, 3); /* nobody died */
    return 3;
}

static int check(int ranks)
{
    int last = -1, fd = open(in_folder("file"), O_RDONLY), bytes = ROUND / PIECE / ranks * PIECE * ranks;
    for (int i = 0; i < ranks; i++) {
        char note[300];
        int r = -1;
        snprintf(note, sizeof note, "%s/note.%d", folder, i);
        int nfd = open(note, O_RDONLY);
        CHECK(nfd >= 0);
        if (pread(nfd, &r, sizeof r, 0) != sizeof r) r = -1;
        close(nfd);
        last = r > last ? r : last;
    }
    for (int r = 0; r <= last; r++) {
        CHECK_EQ(pread(fd, got, (size_t)bytes, (off_t)r * ROUND), bytes);
        CHECK_EQ(pattern_wrong(got, bytes, (unsigned)r), -1);
    }
    close(fd);
    printf("%d rounds\n", last + 1);
    return 0;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    if (argc < 4) return test_end(); /* run by the script only */
    snprintf(folder, sizeof folder, "%s", argv[1]);
    if (strcmp(argv[2], "check") == 0) {
        check(atoi(argv[3]));
        return test_end();
    }
    if (rank == size - 1) calls_left = atoi(argv[3]);
    return die();
}
