/* pool.c -- pages of the system's pool (hugetlbfs), where GODWIT_HUGE_PAGES=pool asks for them.
 *
 * A page of the pool that is used and not there is SIGBUS.  So memory of the pool is a file whose pages are reserved, which fails where too
 * few are free, and then allocated, which fails where a cgroup forbids it: both are known before the first access, as a reason.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "base/settings.h"

#ifndef MFD_HUGETLB
#define MFD_HUGETLB 4U
#endif
enum {
    SIZE_SHIFT = 26, /* MFD_HUGE_SHIFT */
    MOST_SIZES = 16,
    NAME = 128,
    SHARE = 8 /* what whole pages add is at most an eighth */
};
static const uint64_t LARGEST = 1 << 30;

static const char folder[] = "/sys/kernel/mm/hugepages";

uint64_t gw_pool_step(uint64_t bytes)
{
    uint64_t step = GW_HUGE_BYTES;
    while (step < LARGEST && step * 2 <= bytes / SHARE) step *= 2;
    return step;
}

/* A number of the kernel's on the pages of this size; -1: not told. */
static long told(uint64_t page, const char *what)
{
    char text[64];
    return gw_line_read(text, sizeof text, "%s/hugepages-%lukB/%s", folder, (unsigned long)(page >> 10), what) ? atol(text) : -1;
}

static int descending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

/* The sizes of pages that this system's pool can have and that are not larger than `step`, the largest first; their number. */
static int sizes(uint64_t step, uint64_t out[MOST_SIZES])
{
    int n = 0;
    unsigned long kib;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && n < MOST_SIZES && (e = readdir(d)) != NULL;)
        if (sscanf(e->d_name, "hugepages-%lukB", &kib) == 1 && kib && !(kib & (kib - 1)) && (uint64_t)kib << 10 <= step)
            out[n++] = (uint64_t)kib << 10;
    if (d) closedir(d);
    qsort(out, (size_t)n, sizeof *out, descending);
    return n;
}

const char *gw_pages_text(uint64_t bytes, char out[24])
{
    static const char *const units[] = {"KiB", "MiB", "GiB"};
    size_t unit = 0;
    for (bytes >>= 10; bytes >= 1024 && unit + 1 < GW_ARRAY_LEN(units); bytes >>= 10) unit++;
    snprintf(out, 24, "%llu %s", (unsigned long long)bytes, units[unit]);
    return out;
}

/* What the kernel tells of the pages of one size. */
struct pool {
    long all, more, left, need; /* reserved; how many it may make besides; not taken; wanted */
};
static struct pool pool_of(uint64_t page, uint64_t bytes)
{
    long kept = told(page, "resv_hugepages");
    return (struct pool){told(page, "nr_hugepages"), told(page, "nr_overcommit_hugepages"),
                         told(page, "free_hugepages") - (kept > 0 ? kept : 0), (long)((bytes + page - 1) / page)};
}

/* The sizes that there are: "2 MiB and 1 GiB". */
static void no_such_size(char out[GW_POOL_WHY])
{
    uint64_t size[MOST_SIZES];
    char text[24];
    int n = sizes(UINT64_MAX, size);
    size_t at = (size_t)snprintf(out, GW_POOL_WHY, "%s",
                                 n ? "this machine has none of that size, but of " : "this machine has no pool of large pages");
    for (int i = n - 1; i >= 0 && at < GW_POOL_WHY; i--)
        at += (size_t)snprintf(out + at, GW_POOL_WHY - at, "%s%s", gw_pages_text(size[i], text), i > 1 ? ", " : i ? " and " : "");
}

static void too_few(uint64_t page, const struct pool *p, char out[GW_POOL_WHY])
{
    char file[sizeof folder + 64];
    snprintf(file, sizeof file, "%s/hugepages-%lukB/nr_hugepages", folder, (unsigned long)(page >> 10));
    if (p->all == 0 && p->more <= 0)
        snprintf(out, GW_POOL_WHY, "none is reserved on this machine, and %ld %s needed: root writes how many into %s", p->need,
                 p->need == 1 ? "is" : "are", file);
    else
        snprintf(out, GW_POOL_WHY, "%ld %s needed, and %ld of %ld are free: root writes how many there are into %s", p->need,
                 p->need == 1 ? "is" : "are", p->left, p->all, file);
}

void gw_pool_why(uint64_t page, uint64_t bytes, char out[GW_POOL_WHY])
{
    struct pool p = pool_of(page, bytes);
    if (p.all < 0)
        no_such_size(out);
    else
        too_few(page, &p, out);
}

/* Why the pages could not be had: what the kernel tells of the pool says more than its errno. */
static void reason(uint64_t page, uint64_t bytes, bool is_reserved, int why, char out[GW_POOL_WHY])
{
    struct pool p = pool_of(page, bytes);
    if (why != ENOMEM && why != ENOSPC)
        snprintf(out, GW_POOL_WHY, "%s", strerror(why));
    else if (is_reserved || (p.all > 0 && p.left >= p.need))
        snprintf(out, GW_POOL_WHY, "%ld are needed, %ld are free, and a limit of the cgroup (hugetlb, cpuset) forbids them", p.need,
                 is_reserved ? p.left + p.need : p.left);
    else
        gw_pool_why(page, bytes, out);
}

/* Gives the file its size, and its pages.  0, or errno; is_reserved_out: the pool had enough. */
static int fill(int fd, uint64_t bytes, bool *is_reserved_out)
{
    struct rlimit r;
    if (getrlimit(RLIMIT_FSIZE, &r) == 0 && r.rlim_cur != RLIM_INFINITY && r.rlim_cur < bytes) return EFBIG; /* else a signal */
    if (ftruncate(fd, (off_t)bytes) != 0) return errno;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0); /* reserves all of them, or none */
    if (p == MAP_FAILED) return errno;
    *is_reserved_out = true;
    int rc;
    do rc = fallocate(fd, 0, 0, (off_t)bytes);
    while (rc != 0 && errno == EINTR);
    int why = rc != 0 ? errno : 0;
    munmap(p, bytes);
    return why || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0 ? why : errno;
}

int gw_pool_file_of(const char *what, uint64_t bytes, uint64_t page, char why[GW_POOL_WHY])
{
    char name[NAME];
    bool is_reserved = false;
    assert(bytes && page && bytes % page == 0);
    snprintf(name, sizeof name, "godwit-pool: %s", what);
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB | (unsigned)__builtin_ctzll(page) << SIZE_SHIFT);
    int failed = fd < 0 ? errno : fill(fd, bytes, &is_reserved);
    if (!failed) return fd;
    if (fd >= 0) close(fd);
    reason(page, bytes, is_reserved, failed, why);
    return -1;
}

int gw_pool_file(const char *what, uint64_t bytes)
{
    uint64_t size[MOST_SIZES];
    char why[GW_POOL_WHY], text[24];
    int n = sizes(gw_pool_step(bytes), size);
    assert(bytes && bytes % GW_HUGE_BYTES == 0);
    for (int i = 0; i < n; i++) {
        if (bytes % size[i]) continue;
        int fd = gw_pool_file_of(what, bytes, size[i], why);
        if (fd >= 0) return fd;
        GW_EXPLAIN(GW_LOG_BOOT, "%s does not lie on pages of %s of the system's pool: %s", what, gw_pages_text(size[i], text), why);
    }
    if (!n) GW_EXPLAIN(GW_LOG_BOOT, "%s does not lie on pages of the system's pool: this system has none", what);
    return -1;
}

uint64_t gw_pool_page(uint64_t wanted)
{
    uint64_t size[MOST_SIZES];
    uint64_t most = wanted >= GW_HUGE_BYTES && gw_huge_is_offered() ? GW_HUGE_BYTES : 0;
    if (sizes(wanted, size) > 0 && size[0] > most) most = size[0];
    return most > gw_page_bytes() ? most : 0;
}

void gw_pool_explain(const char *what, int fd, uint64_t bytes)
{
    struct stat st;
    char text[24];
    if (fstat(fd, &st) != 0 || st.st_blksize <= 0) return; /* hugetlbfs: st_blksize is that of its pages */
    GW_EXPLAIN(GW_LOG_BOOT, "%s of %.1f MiB lies on %llu pages of %s of the system's pool", what, (double)bytes / (1 << 20),
               (unsigned long long)bytes / (unsigned long long)st.st_blksize, gw_pages_text((uint64_t)st.st_blksize, text));
}

void *gw_pool_map(int fd, void *at, uint64_t bytes)
{
    void *p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED : 0), fd, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* PROCMAP_QUERY of linux/fs.h (6.11). */
struct procmap_query {
    uint64_t size, query_flags, query_addr;
    uint64_t vma_start, vma_end, vma_flags, vma_page_size, vma_offset, inode;
    uint32_t dev_major, dev_minor, vma_name_size, build_id_size;
    uint64_t vma_name_addr, build_id_addr;
};
_Static_assert(sizeof(struct procmap_query) == 104, "the kernel's");

bool gw_pool_has(uintptr_t at)
{
    struct procmap_query q = {.size = sizeof q, .query_addr = at};
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    bool is_told = fd >= 0 && ioctl(fd, _IOWR('f', 17, struct procmap_query), &q) == 0;
    if (fd >= 0) close(fd);
    return is_told && q.vma_page_size >= GW_HUGE_BYTES;
}
