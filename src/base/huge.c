/* huge.c -- memory of the library's own on huge pages: offered to the kernel where it grants them, or made so where GODWIT_HUGE_PAGES=all
 * or =pool asks for it.
 *
 * The kernel gives a huge page at the first touch where the memory was advised (MADV_HUGEPAGE) and the system lets it: for a process's own
 * by /sys/kernel/mm/transparent_hugepage/enabled, for shared memory by shmem_enabled there, which is "never" on many.  With =all what was
 * not given so is moved (MADV_COLLAPSE, Linux 6.1), and all is touched.  Pages of the system's pool are taken with =pool only: who reserved
 * them did so for a program that may not start without them.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/os.h"
#include "base/settings.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

#define THP "/sys/kernel/mm/transparent_hugepage/"
/* OF_NODE, OF_RANK: what a page is larger than what is used of it costs memory, so this many times as much has to be left.  Of a node's
 * memory each of its ranks asks once, of a rank's all do. */
enum { TASKS_A_CORE = 4, OF_NODE = 16, OF_RANK = 1024 };

bool gw_cores_are_crowded(void)
{
    long running = 0; /* the fourth word of a line */
    FILE *f = fopen("/proc/loadavg", "re");
    bool is_known = f && fscanf(f, "%*s %*s %*s %ld", &running) == 1;
    if (f) fclose(f);
    return is_known && running > (long)TASKS_A_CORE * get_nprocs();
}

/* Bytes of [at, at + bytes) that lie on huge pages, as the kernel says of the mappings that they are of. */
static uint64_t huge_bytes(uintptr_t at, uint64_t bytes)
{
    char line[512];
    uint64_t kib = 0;
    unsigned long from, to, n;
    bool is_within = false;
    FILE *f = fopen("/proc/self/smaps", "re");
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%lx-%lx %*4s", &from, &to) == 2)
            is_within = from < at + bytes && to > at;
        else if (is_within &&
                 (sscanf(line, "AnonHugePages: %lu", &n) == 1 || sscanf(line, "ShmemPmdMapped: %lu", &n) == 1 ||
                  sscanf(line, "FilePmdMapped: %lu", &n) == 1))
            kib += n;
    }
    if (f) fclose(f);
    return kib << 10 < bytes ? kib << 10 : bytes;
}

size_t gw_page_bytes(void)
{
    static _Atomic size_t known;
    size_t bytes = atomic_load_explicit(&known, memory_order_relaxed);
    if (unlikely(!bytes)) atomic_store_explicit(&known, bytes = (size_t)sysconf(_SC_PAGESIZE), memory_order_relaxed);
    return bytes;
}

bool gw_huge_is_offered(void)
{
    char text[128];
    return gw_line_read(text, sizeof text, THP "hpage_pmd_size") && atoi(text) == GW_HUGE_BYTES &&
        !(gw_line_read(text, sizeof text, THP "enabled") && strstr(text, "[never]"));
}

int gw_huge_move(uintptr_t piece)
{
    assert(piece % GW_HUGE_BYTES == 0);
    return madvise((void *)piece, GW_HUGE_BYTES, MADV_COLLAPSE) < 0 ? errno : 0;
}

static bool memfds_may(void)
{
    char text[128];
    return gw_line_read(text, sizeof text, THP "shmem_enabled") && strchr(text, '[') && !strstr(text, "[never]") &&
        !strstr(text, "[deny]");
}

static bool is_little(uint64_t bytes, uint64_t times)
{
    const char *limit;
    int64_t left = gw_memory_available(&limit);
    return left > 0 && bytes <= (uint64_t)left / times;
}

bool gw_huge_is_granted(int fd, uint64_t bytes)
{
    struct statfs fs;
    if (gw_set.huge_pages != GW_SET_HUGE_PAGES_AUTO) return false;
    int seals = fd < 0 ? 0 : fcntl(fd, F_GET_SEALS); /* files with a name cannot be sealed */
    bool is_memfd = seals >= 0 && !(seals & F_SEAL_SEAL),
         is_on_tmpfs = !is_memfd && fstatfs(fd, &fs) == 0 && fs.f_type == TMPFS_MAGIC;
    bool may = is_memfd ? memfds_may() : is_on_tmpfs; /* the mount of a tmpfs has an option, which is not told of a file */
    if (may && is_little(bytes, OF_NODE)) return true;
    GW_EXPLAIN(GW_LOG_BOOT, "the node's segment lies on ordinary pages: %s",
               may ? "huge ones could take too much of the memory that is left"
                   : "this system gives no others to shared memory (transparent_hugepage/shmem_enabled)");
    return false;
}

void gw_huge_offer(const char *what, void *at, uint64_t bytes)
{
    uintptr_t first = gw_align_up((uintptr_t)at, GW_HUGE_BYTES), end = gw_align_up((uintptr_t)at + bytes, gw_page_bytes());
    bool is_taken = end > first && madvise((void *)first, end - first, MADV_HUGEPAGE) == 0;
    GW_EXPLAIN(GW_LOG_BOOT, "%s of %.1f MiB %s", what, (double)bytes / (1 << 20),
               is_taken ? "may lie on huge pages, which the system gives where it is used"
                        : "lies on ordinary pages: the kernel has no others");
}

bool gw_huge_is_wanted(void) { return gw_set.huge_pages == GW_SET_HUGE_PAGES_ALL || gw_set.huge_pages == GW_SET_HUGE_PAGES_POOL; }

void *gw_place(uint64_t bytes, uint64_t align, uint64_t skew)
{
    assert(align && !(align & (align - 1)));
    bytes = gw_align_up(bytes, gw_page_bytes());
    char *p = mmap(NULL, bytes + align, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return NULL;
    size_t before = -((uintptr_t)p + skew) & (align - 1);
    if (before) munmap(p, before);
    munmap(p + before + bytes, align - before);
    return p + before;
}

/* Has pieces moved that are not there yet; bytes that the kernel has said lie there.  One that is in use just now (EAGAIN) is asked for again, so
 * often for all of them, and stays; what else goes wrong does so for all of them: the system does not move such memory, or has no huge page
 * left. */
static uint64_t move_all(uintptr_t from, uintptr_t end, int again)
{
    const struct timespec pause = {0, 500000};
    uint64_t is = 0;
    for (; from < end; from += GW_HUGE_BYTES) {
        int err = gw_huge_move(from);
        for (; err == EAGAIN && again > 0; again--, err = gw_huge_move(from)) nanosleep(&pause, NULL);
        if (err && err != EAGAIN) return is;
        is += err ? 0 : GW_HUGE_BYTES;
    }
    return is;
}

void gw_huge_explain(const char *what, void *at, uint64_t bytes)
{
    GW_EXPLAIN(GW_LOG_BOOT, "%s: %.1f MiB of %.1f in this process lay on huge pages", what,
               (double)huge_bytes((uintptr_t)at, bytes) / (1 << 20), (double)bytes / (1 << 20));
}

uint64_t gw_huge_make(void *at, uint64_t bytes, bool must, bool *is_crowded_out)
{
    enum { MUST_AGAIN = 200 };
    uintptr_t first = (uintptr_t)at, end = first + bytes;
    assert(first % GW_HUGE_BYTES == 0 && bytes % GW_HUGE_BYTES == 0);
    *is_crowded_out = false;
    if (!bytes) return 0;
    madvise(at, bytes, MADV_HUGEPAGE);
    madvise(at, bytes, MADV_POPULATE_WRITE);
    uint64_t is = huge_bytes(first, bytes);
    if (is == bytes || !gw_huge_is_offered()) return is;
    if (must) return move_all(first, end, MUST_AGAIN);
    *is_crowded_out = gw_cores_are_crowded(); /* node/pages.c says why */
    if (*is_crowded_out) return is;
    move_all(first, end, 0);
    return huge_bytes(first, bytes);
}

void gw_huge_use(const char *what, void *at, uint64_t bytes)
{
    if (!gw_huge_is_wanted()) return;
    bool is_crowded = false;
    uintptr_t first = gw_align_up((uintptr_t)at, GW_HUGE_BYTES), end = ((uintptr_t)at + bytes) & ~(uintptr_t)(GW_HUGE_BYTES - 1);
    uint64_t is = end > first ? gw_huge_make((void *)first, end - first, false, &is_crowded) : 0;
    GW_EXPLAIN(GW_LOG_BOOT, "%s of %.1f MiB: %.1f MiB of it on huge pages%s", what, (double)bytes / (1 << 20),
               (double)is / (1 << 20),
               is || end <= first ? ""
                   : is_crowded   ? ", as too many tasks want to run here to move it there"
                                  : ", as this system gives none");
}

/* Memory of gw_huge_alloc() that lies in the pool; more of it lies elsewhere. */
static struct {
    struct gw_lock lock;
    struct {
        void *at;
        uint64_t bytes;
    } is[3 * GW_MAX_LANES];
} pooled;

static void *pool_alloc(const char *what, uint64_t bytes)
{
    void *p = NULL;
    gw_lock(&pooled.lock);
    size_t i = 0;
    while (i < GW_ARRAY_LEN(pooled.is) && pooled.is[i].at) i++;
    int fd = i < GW_ARRAY_LEN(pooled.is) ? gw_pool_file(what, bytes) : -1;
    if (fd >= 0 && (p = gw_pool_map(fd, NULL, bytes)) != NULL) {
        pooled.is[i].at = p;
        pooled.is[i].bytes = bytes;
        gw_pool_explain(what, fd, bytes);
    }
    gw_unlock(&pooled.lock);
    if (fd >= 0) close(fd);
    return p;
}

void *gw_huge_alloc(const char *what, size_t align, size_t bytes)
{
    bool is_wanted = gw_huge_is_wanted(), is_large = bytes >= GW_HUGE_BYTES;
    bool is_huge = is_large &&
        (is_wanted || (gw_set.huge_pages == GW_SET_HUGE_PAGES_AUTO && gw_huge_is_offered() && is_little(bytes, OF_RANK)));
    void *p = NULL;
    if (is_huge && gw_set.huge_pages == GW_SET_HUGE_PAGES_POOL) p = pool_alloc(what, gw_align_up(bytes, gw_pool_step(bytes)));
    if (p) return p;
    p = is_huge ? aligned_alloc(GW_HUGE_BYTES, gw_align_up(bytes, GW_HUGE_BYTES)) : aligned_alloc(align, bytes);
    if (p && is_huge && is_wanted) gw_huge_use(what, p, gw_align_up(bytes, GW_HUGE_BYTES));
    if (p && is_huge && !is_wanted) gw_huge_offer(what, p, gw_align_up(bytes, GW_HUGE_BYTES));
    if (p && is_large && !is_huge)
        GW_EXPLAIN(GW_LOG_BOOT, "%s lie on ordinary pages: %s", what,
                   gw_set.huge_pages == GW_SET_HUGE_PAGES_OFF ? "GODWIT_HUGE_PAGES=off"
                       : gw_huge_is_offered()                 ? "huge ones could take too much of the memory that is left"
                                                              : "this system gives no others (transparent_hugepage/enabled)");
    return p;
}

void gw_huge_free(void *p)
{
    size_t i = 0;
    gw_lock(&pooled.lock);
    while (i < GW_ARRAY_LEN(pooled.is) && (!p || pooled.is[i].at != p)) i++;
    bool is_pooled = i < GW_ARRAY_LEN(pooled.is);
    if (is_pooled) {
        munmap(p, pooled.is[i].bytes);
        pooled.is[i].at = NULL;
    }
    gw_unlock(&pooled.lock);
    if (!is_pooled) free(p);
}
