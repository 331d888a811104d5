/* io_check.h -- what the tests of files share: a folder of their own, and plain POSIX reads and writes to check with.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TEST_IO_CHECK_H
#define GW_TEST_IO_CHECK_H

#include "p2p_check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[200], path[256];

#define OK(call) CHECK_EQ((call), MPI_SUCCESS)

static inline int class_of(int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}
#define FAILS(call, class) CHECK_EQ(class_of(call), class)

/* The path of a file in the folder, until the next call. */
static inline const char *in_folder(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* By rank 0, when nobody uses it any more; then it is gone for all. */
static inline void file_remove(const char *name)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) OK(MPI_File_delete(name, MPI_INFO_NULL));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A folder that rank 0 makes; everybody knows its name. */
static inline void folder_make(void)
{
    const char *tmp = getenv("TMPDIR");
    if (rank == 0) {
        snprintf(folder, sizeof folder, "%.150s/godwit_io_XXXXXX", tmp ? tmp : "/tmp");
        if (!mkdtemp(folder)) MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
}
static inline void folder_remove(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) CHECK(rmdir(folder) == 0); /* the tests delete their files */
}

static inline void files_begin(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    test_begin();
    folder_make();
}
static inline int files_end(void)
{
    folder_remove();
    return test_end();
}

/* Rank 0 writes a file by plain means. */
static inline void plain_write(const char *name, const void *data, long n)
{
    if (rank == 0) {
        int fd = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0666);
        CHECK(fd >= 0 && write(fd, data, (size_t)n) == n);
        close(fd);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}
/* How many bytes the file has; as many as fit come to `out`. */
static inline long plain_read(const char *name, void *out, long room)
{
    struct stat st = {0};
    int fd = open(name, O_RDONLY);
    CHECK(fd >= 0 && fstat(fd, &st) == 0);
    long want = st.st_size < room ? (long)st.st_size : room;
    CHECK(pread(fd, out, (size_t)want, 0) == want);
    close(fd);
    return (long)st.st_size;
}

#endif
