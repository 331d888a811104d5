/* io_hints.c -- hints that say which ranks open a file, how many aggregators it has, and that its data go past the page cache.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "io_check.h"

#include <dirent.h>
#include <sys/mman.h>
#include <sys/vfs.h>

enum { PAGE = 4096, N = 16 * PAGE, TMPFS = 0x01021994 };
static char *data, *back; /* at page boundaries */

static MPI_File open_with(const char *name, const char *key, const char *value, const char *key2, const char *value2)
{
    MPI_File f;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    if (key2) MPI_Info_set(info, key2, value2);
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &f));
    MPI_Info_free(&info);
    return f;
}

/* What MPI_File_get_info says; "": nothing. */
static const char *told(MPI_File f, const char *key)
{
    static char value[100];
    int len = sizeof value, flag = 0;
    MPI_Info used;
    OK(MPI_File_get_info(f, &used));
    OK(MPI_Info_get_string(used, key, &len, value, &flag));
    MPI_Info_free(&used);
    if (!flag) value[0] = 0;
    return value;
}

/* Descriptors of this process for the file; those with all of `flags`. */
static int descriptors(const char *name, int flags)
{
    int n = 0;
    struct dirent *e;
    DIR *d = opendir("/proc/self/fd");
    CHECK(d != NULL);
    while (d && (e = readdir(d))) {
        char link[300], to[300];
        snprintf(link, sizeof link, "/proc/self/fd/%.20s", e->d_name);
        ssize_t k = readlink(link, to, sizeof to - 1);
        to[k > 0 ? k : 0] = 0;
        if (strcmp(to, name) == 0 && (fcntl(atoi(e->d_name), F_GETFL) & flags) == flags) n++;
    }
    if (d) closedir(d);
    return n;
}

/* Automatic, twice as many, and as cb_nodes says whatever the multiplier is. */
static void multiplier(void)
{
    const char *name = in_folder("multiplier");
    MPI_File f = open_with(name, "romio_cb_write", "automatic", NULL, NULL);
    int usual = atoi(told(f, "cb_nodes")), doubled;
    CHECK(strcmp(told(f, "cray_cb_nodes_multiplier"), "1") == 0);
    OK(MPI_File_close(&f));
    f = open_with(name, "cray_cb_nodes_multiplier", " 2 ", NULL, NULL);
    doubled = atoi(told(f, "cb_nodes"));
    CHECK_EQ(doubled, 2 * usual < size ? 2 * usual : size);
    CHECK(strcmp(told(f, "cray_cb_nodes_multiplier"), "2") == 0);
    OK(MPI_File_close(&f));
    f = open_with(name, "cray_cb_nodes_multiplier", "2", "cb_nodes", "1");
    CHECK(strcmp(told(f, "cb_nodes"), "1") == 0);
    OK(MPI_File_close(&f));
    file_remove(name);
}

/* Only the aggregator has the file open until another rank goes for itself. */
static void collective_only(void)
{
    const char *name = in_folder("collective");
    MPI_Offset bytes = 0;
    MPI_File f = open_with(name, "romio_no_indep_rw", "true", "cb_nodes", "1");
    CHECK(strcmp(told(f, "romio_no_indep_rw"), "true") == 0 && strcmp(told(f, "romio_cb_write"), "enable") == 0);
    CHECK_EQ(descriptors(name, 0), rank == 0);
    OK(MPI_File_write_at_all(f, (MPI_Offset)rank * N, data, N, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_sync(f));
    OK(MPI_File_read_at_all(f, (MPI_Offset)rank * N, back, N, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(memcmp(back, data, N) == 0);
    CHECK_EQ(descriptors(name, 0), rank == 0);
    if (rank == size - 1) OK(MPI_File_write_at(f, (MPI_Offset)size * N, data, 100, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_EQ(descriptors(name, 0), rank == 0 || rank == size - 1);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_get_size(f, &bytes));
    CHECK_EQ(bytes, (MPI_Offset)size * N + 100);
    OK(MPI_File_close(&f));
    CHECK_EQ(descriptors(name, 0), 0);
    file_remove(name);
}

/* Pages of the file that the page cache has. */
static int pages_cached(const char *name, int pages)
{
    unsigned char in_memory[N / PAGE];
    int fd = open(name, O_RDONLY), n = 0;
    void *map = mmap(NULL, (size_t)pages * PAGE, PROT_READ, MAP_SHARED, fd, 0);
    CHECK(fd >= 0 && map != MAP_FAILED && mincore(map, (size_t)pages * PAGE, in_memory) == 0);
    for (int i = 0; i < pages; i++) n += in_memory[i] & 1;
    munmap(map, (size_t)pages * PAGE);
    close(fd);
    return n;
}

/* Whole pages go past the page cache, others through it, and both see each other's data. */
static void direct(void)
{
    char name[300];
    struct statfs s;
    snprintf(name, sizeof name, "%s.%d", in_folder("direct"), rank);
    CHECK(statfs(folder, &s) == 0);
    for (int on = 0; on < 2; on++) {
        MPI_File f;
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, "direct_io", on ? "true" : "false");
        OK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info, &f));
        MPI_Info_free(&info);
        int is_direct = strcmp(told(f, "direct_io"), "true") == 0;
        CHECK(on || !is_direct);
        CHECK_EQ(descriptors(name, O_DIRECT), is_direct);
        OK(MPI_File_write_at(f, 0, data, N, MPI_BYTE, MPI_STATUS_IGNORE));
        if (s.f_type != TMPFS) CHECK_EQ(pages_cached(name, N / PAGE), is_direct ? 0 : N / PAGE);
        OK(MPI_File_write_at(f, N, data, 100, MPI_BYTE, MPI_STATUS_IGNORE)); /* no whole page */
        OK(MPI_File_read_at(f, 0, back, N + PAGE, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK(memcmp(back, data, N) == 0 && memcmp(back + N, data, 100) == 0);
        OK(MPI_File_write_at(f, 50, data, 100, MPI_BYTE, MPI_STATUS_IGNORE));
        OK(MPI_File_read_at(f, 0, back, PAGE, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK(memcmp(back, data, 50) == 0 && memcmp(back + 50, data, 100) == 0);
        OK(MPI_File_close(&f));
    }
}

/* The same by all ranks together. */
static void direct_together(void)
{
    const char *name = in_folder("together");
    MPI_File f = open_with(name, "direct_io", "true", "romio_cb_write", "enable");
    struct statfs s;
    int is_direct = strcmp(told(f, "direct_io"), "true") == 0;
    CHECK(statfs(folder, &s) == 0);
    OK(MPI_File_write_at_all(f, (MPI_Offset)rank * N, data, N, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    if (s.f_type != TMPFS && is_direct) CHECK_EQ(pages_cached(name, N / PAGE), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_read_at_all(f, (MPI_Offset)rank * N, back, N, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(memcmp(back, data, N) == 0);
    OK(MPI_File_close(&f));
    file_remove(name);
}

/* What changes nothing is taken, and is not told as a hint in use. */
static void without_effect(void)
{
    const char *name = in_folder("idle");
    MPI_File f = open_with(name, "cray_cb_write_lock_mode", "2", "overstriping_factor", "4");
    CHECK(*told(f, "cray_cb_write_lock_mode") == 0 && *told(f, "overstriping_factor") == 0);
    OK(MPI_File_close(&f));
    file_remove(name);
}

int main(int argc, char **argv)
{
    files_begin(&argc, &argv);
    data = aligned_alloc(PAGE, N);
    back = aligned_alloc(PAGE, N + PAGE);
    for (int i = 0; i < N; i++) data[i] = (char)(i * 7 + i / PAGE + rank);
    multiplier();
    collective_only();
    direct();
    direct_together();
    without_effect();
    free(data);
    free(back);
    return files_end();
}
