/* pool_test.c -- memory on pages of the system's pool: all of it, or none and nothing left over, whatever the kernel refuses; never a page
 * that is not there.  The pool of this machine may be empty: the kernel's part is played here, with ordinary pages.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/os.h"
#include "base/settings.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "unit_mapped.h"

enum { SIZE_SHIFT = 26, HUGETLB = 4, MOST = 64 };
static const uint64_t MIB = 1 << 20, GIB = 1 << 30;

/* What the file under test asks for.  The first `refused` files cannot be made, or not mapped, or get no pages, because of `why`. */
enum { NOTHING, MAKING, MAPPING, FILLING };
static struct {
    int fails, refused, why, n;
    uint64_t page[MOST], filled;
} asked;

static bool is_refused(int what, int n)
{
    errno = asked.why;
    return asked.fails == what && n <= asked.refused;
}

int memfd_create(const char *name, unsigned flags)
{
    CHECK(flags & HUGETLB && flags & MFD_ALLOW_SEALING && flags & MFD_CLOEXEC && asked.n < MOST);
    asked.page[asked.n++] = (uint64_t)1 << (flags >> SIZE_SHIFT);
    return is_refused(MAKING, asked.n) ? -1 : (int)syscall(SYS_memfd_create, name, MFD_ALLOW_SEALING | MFD_CLOEXEC);
}
void *mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t from)
{
    bool is_file = flags & MAP_SHARED && fd >= 0;
    if (is_file && is_refused(MAPPING, asked.n)) return MAP_FAILED;
    return (void *)syscall(SYS_mmap, at, bytes, prot, flags, fd, from);
}
int fallocate(int fd, int mode, off_t from, off_t bytes)
{
    struct stat st;
    CHECK(mode == 0 && from == 0 && fstat(fd, &st) == 0 && st.st_size == bytes);
    if (is_refused(FILLING, asked.n)) return -1;
    asked.filled = (uint64_t)bytes;
    return 0;
}

static int entries(const char *folder)
{
    int n = 0;
    DIR *d = opendir(folder);
    while (d && readdir(d)) n++;
    if (d) closedir(d);
    return n;
}

static int file(uint64_t bytes, int fails, int refused, int why)
{
    memset(&asked, 0, sizeof asked);
    asked.fails = fails;
    asked.refused = refused;
    asked.why = why;
    return gw_pool_file("the test", bytes);
}

/* At most an eighth, or 2 MiB; the same whatever this machine has. */
static void steps(void)
{
    static const struct {
        uint64_t mib, step;
    } rows[] = {{0, 2}, {1, 2}, {15, 2}, {16, 2}, {31, 2}, {32, 4}, {33, 4}, {300, 32}, {8191, 512}, {8192, 1024}, {65536, 1024}};
    for (size_t i = 0; i < GW_ARRAY_LEN(rows); i++) CHECK_EQ(gw_pool_step(rows[i].mib * MIB), rows[i].step * MIB);
    CHECK_EQ(gw_pool_step(32 * MIB - 1), 2 * MIB);
}

/* All sizes that the system has and that fit are tried, the largest first, until one can be had. */
static void tries(void)
{
    static const struct {
        int fails, why;
    } faults[] = {{MAKING, ENODEV}, {MAKING, EPERM}, {MAPPING, ENOMEM}, {FILLING, ENOSPC}, {FILLING, ENOMEM}};
    const uint64_t bytes = 9 * GIB;
    int fd = file(bytes, MAKING, MOST, ENODEV), sizes = asked.n, open_before = entries("/proc/self/fd");
    CHECK_EQ(fd, -1);
    for (int i = 0; i < sizes; i++) {
        char folder[96];
        CHECK(asked.page[i] <= GIB && (i == 0 || asked.page[i] < asked.page[i - 1]));
        snprintf(folder, sizeof folder, "/sys/kernel/mm/hugepages/hugepages-%lukB", (unsigned long)(asked.page[i] >> 10));
        CHECK(access(folder, F_OK) == 0);
    }
    CHECK(sizes == 0 || access("/sys/kernel/mm/hugepages", F_OK) == 0);
    for (size_t f = 0; f < GW_ARRAY_LEN(faults); f++) {
        for (int refused = 0; refused <= sizes; refused++) {
            long before = unit_mapped_pages();
            fd = file(bytes, faults[f].fails, refused, faults[f].why);
            CHECK(unit_mapped_pages() == before);
            CHECK((fd >= 0) == (refused < sizes));
            CHECK_EQ(asked.n, refused < sizes ? refused + 1 : sizes);
            CHECK_EQ(asked.filled, refused < sizes ? bytes : 0);
            if (fd >= 0) close(fd);
            CHECK_EQ(entries("/proc/self/fd"), open_before);
        }
    }
}

/* The whole file is filled before anybody gets it, and stays so long. */
static void is_sealed(void)
{
    int fd = file(16 * MIB, NOTHING, 0, 0);
    if (fd < 0) {
        CHECK_EQ(asked.n, 0); /* a system without such pages */
        return;
    }
    CHECK_EQ(asked.page[0], 2 * MIB);
    CHECK_EQ(asked.filled, 16 * MIB);
    CHECK(ftruncate(fd, (off_t)(14 * MIB)) != 0 && ftruncate(fd, (off_t)(18 * MIB)) != 0);
    char *one = gw_pool_map(fd, NULL, 16 * MIB), *room = gw_place(16 * MIB, GW_HUGE_BYTES, 0),
         *other = gw_pool_map(fd, room, 16 * MIB);
    CHECK(one && other == room && one != other);
    one[0] = 5, other[16 * MIB - 1] = 6;
    CHECK(other[0] == 5 && one[16 * MIB - 1] == 6 && one[1] == 0);
    munmap(one, 16 * MIB);
    munmap(other, 16 * MIB);
    close(fd);
}

/* A limit of file sizes is an answer, not a signal. */
static void limited(void)
{
    struct rlimit was, low;
    CHECK(getrlimit(RLIMIT_FSIZE, &was) == 0);
    low = was;
    low.rlim_cur = 8 << 20;
    CHECK(setrlimit(RLIMIT_FSIZE, &low) == 0);
    CHECK_EQ(file(16 * MIB, NOTHING, 0, 0), -1);
    CHECK_EQ(asked.filled, 0);
    setrlimit(RLIMIT_FSIZE, &was);
}

/* Of the pool where that has room, else as without: each is given back as it came, and what was of the pool is gone. */
static void allocs(void)
{
    enum { N = 3 * GW_MAX_LANES + 2, BYTES = GW_HUGE_BYTES + 6400 };
    for (int round = 0; round < 4; round++) {
        char *p[N];
        bool is_pooled[N];
        int n = 0;
        for (int i = 0; i < N; i++) {
            memset(&asked, 0, sizeof asked);
            asked.fails = round % 2 ? FILLING : NOTHING;
            asked.refused = MOST;
            asked.why = ENOSPC;
            p[i] = gw_huge_alloc("the test", 64, BYTES);
            is_pooled[i] = asked.filled > 0;
            n += is_pooled[i];
            CHECK(p[i] && (is_pooled[i] ? asked.filled == 2 * GW_HUGE_BYTES : (uintptr_t)p[i] % GW_HUGE_BYTES == 0));
            p[i][0] = p[i][BYTES - 1] = (char)i;
        }
        CHECK(n == 0 || (round % 2 == 0 && n == 3 * GW_MAX_LANES)); /* 0: this system has no such pages */
        for (int i = 0; i < N; i++) {
            unsigned char in;
            CHECK(p[i][0] == (char)i && p[i][BYTES - 1] == (char)i);
            gw_huge_free(p[i]);
            if (is_pooled[i]) CHECK(mincore((void *)((uintptr_t)p[i] & ~(uintptr_t)4095), 1, &in) != 0 && errno == ENOMEM);
        }
    }
    memset(&asked, 0, sizeof asked);
    gw_huge_free(gw_huge_alloc("the test", 64, GW_HUGE_BYTES - 64)); /* too small */
    CHECK_EQ(asked.n, 0);
}

/* Which of this process's memory lies in the pool. */
static void has(void)
{
    static char plain;
    char *p =
        mmap(NULL, GW_HUGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | 21 << SIZE_SHIFT, -1, 0);
    CHECK(!gw_pool_has((uintptr_t)&plain) && !gw_pool_has(4096));
    if (p == MAP_FAILED) {
        printf("the pool of this machine has no page of 2 MiB: what lies there was not looked for\n");
        return;
    }
    bool may_tell = gw_pool_has((uintptr_t)p);
    struct utsname kernel;
    int major = 0, minor = 0;
    CHECK(uname(&kernel) == 0 && sscanf(kernel.release, "%d.%d", &major, &minor) == 2);
    CHECK_EQ(may_tell, major > 6 || (major == 6 && minor >= 11));
    CHECK(gw_pool_has((uintptr_t)p + 12345) == may_tell);
    munmap(p, GW_HUGE_BYTES);
    CHECK(!gw_pool_has((uintptr_t)p));
}

int main(void)
{
    gw_set.huge_pages = GW_SET_HUGE_PAGES_POOL;
    CHECK(gw_huge_is_wanted());
    steps();
    tries();
    is_sealed();
    limited();
    allocs();
    memset(&asked, 0, sizeof asked);
    has();
    return unit_end();
}
