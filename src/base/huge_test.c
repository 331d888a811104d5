/* huge_test.c -- the library's own memory: with GODWIT_HUGE_PAGES=all it lies where huge pages fit and they are asked for; else they are offered
 * where the system grants them, and nothing is touched.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/os.h"
#include "base/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit_mapped.h"

enum { POPULATE = 23, COLLAPSE = 25, PIECES = 4 };

/* What the file under test asks the kernel for; it gets nothing.  Piece `fails` cannot be moved, because of `why`. */
static struct {
    uintptr_t advised, advised_end, populated, populated_end;
    int n_collapsed, fails, why;
    uintptr_t collapsed[PIECES + 1];
} asked;

int madvise(void *at, size_t bytes, int advice)
{
    uintptr_t from = (uintptr_t)at;
    if (advice == MADV_HUGEPAGE) {
        asked.advised = from;
        asked.advised_end = from + bytes;
    } else if (advice == POPULATE) {
        asked.populated = from;
        asked.populated_end = from + bytes;
    } else if (advice == COLLAPSE) {
        int n = asked.n_collapsed++;
        CHECK(bytes == GW_HUGE_BYTES && n <= PIECES);
        asked.collapsed[n] = from;
        errno = asked.why;
        return n == asked.fails ? -1 : 0;
    }
    return 0;
}

/* However busy the machine is. */
int get_nprocs(void) { return 1 << 20; }

static bool is_mapped(const char *page)
{
    unsigned char in;
    return mincore((void *)(uintptr_t)page, 1, &in) == 0;
}

/* No more and no less than was wanted, in whole pages, with the place that was wanted on a multiple. */
static void places(void)
{
    static const size_t sizes[] = {1, 5000, GW_HUGE_BYTES - 1, GW_HUGE_BYTES, GW_HUGE_BYTES + 1, 3 * GW_HUGE_BYTES + 70000};
    static const size_t skews[] = {0, 4096, 3 * 4096, GW_HUGE_BYTES - 4096, GW_HUGE_BYTES, 5 * (size_t)GW_HUGE_BYTES + 8192};
    size_t page = gw_page_bytes();
    for (size_t k = 0; k < GW_ARRAY_LEN(sizes) * GW_ARRAY_LEN(skews); k++) {
        size_t bytes = sizes[k % GW_ARRAY_LEN(sizes)], skew = skews[k / GW_ARRAY_LEN(sizes)], whole = gw_align_up(bytes, page);
        for (size_t align = page; align <= 16 * (size_t)GW_HUGE_BYTES; align *= 4) {
            long before = unit_mapped_pages();
            char *p = gw_place(bytes, align, skew);
            CHECK(p && ((uintptr_t)p + skew) % align == 0);
            for (size_t at = 0; at < whole; at += page) CHECK(is_mapped(p + at));
            CHECK(mmap(p, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == p);
            p[0] = p[bytes - 1] = 1;
            munmap(p, whole);
            CHECK_EQ(unit_mapped_pages(), before);
        }
    }
}

static void use(void *p, size_t bytes, int fails, int why)
{
    memset(&asked, 0, sizeof asked);
    asked.fails = fails;
    asked.why = why;
    gw_huge_use("the test", p, bytes);
}

/* Those that fit: of PIECES + 1 that are begun, as the memory begins and ends within one. */
static void uses(void)
{
    enum { BYTES = PIECES * GW_HUGE_BYTES };
    char *p = gw_place(BYTES + GW_HUGE_BYTES, GW_HUGE_BYTES, 0);
    uintptr_t first = (uintptr_t)p + GW_HUGE_BYTES;
    int wanted = gw_huge_is_offered() ? PIECES - 1 : 0;
    use(p + 100, BYTES, -1, 0);
    CHECK(asked.advised == first && asked.advised_end == (uintptr_t)p + BYTES);
    CHECK(asked.populated == first && asked.populated_end == asked.advised_end);
    CHECK_EQ(asked.n_collapsed, wanted);
    for (int i = 0; i < wanted; i++) CHECK(asked.collapsed[i] == first + (uintptr_t)i * GW_HUGE_BYTES);
    use(p + 100, BYTES, 0, EAGAIN); /* in use just now: the others are moved */
    CHECK_EQ(asked.n_collapsed, wanted);
    static const int lasting[] = {EINVAL, ENOSYS, ENOMEM};
    for (size_t i = 0; i < GW_ARRAY_LEN(lasting); i++) {
        use(p + 100, BYTES, 0, lasting[i]);
        CHECK_EQ(asked.n_collapsed, wanted ? 1 : 0);
    }
    use(p + 100, GW_HUGE_BYTES, -1, 0); /* none fits */
    CHECK(asked.advised == 0 && asked.populated == 0 && asked.n_collapsed == 0);
    munmap(p, BYTES + GW_HUGE_BYTES);
}

/* Where they are granted without being asked for they are advised, and nothing is touched. */
static void allocs(void)
{
    static const size_t sizes[] = {64, GW_HUGE_BYTES - 64, GW_HUGE_BYTES, GW_HUGE_BYTES + 64};
    const char *limit;
    bool is_auto = gw_set.huge_pages == GW_SET_HUGE_PAGES_AUTO && gw_huge_is_offered() && gw_memory_available(&limit) > 8LL << 30;
    for (size_t i = 0; i < GW_ARRAY_LEN(sizes); i++) {
        bool is_large = sizes[i] >= GW_HUGE_BYTES, is_huge = gw_set.huge_pages == GW_SET_HUGE_PAGES_ALL && is_large;
        memset(&asked, 0, sizeof asked);
        char *p = gw_huge_alloc("the test", 64, sizes[i]);
        CHECK(p && (uintptr_t)p % (is_huge ? GW_HUGE_BYTES : 64) == 0);
        CHECK(asked.populated == (is_huge ? (uintptr_t)p : 0));
        CHECK(!is_huge || asked.populated_end - asked.populated == gw_align_up(sizes[i], GW_HUGE_BYTES));
        if (is_auto && is_large)
            CHECK(asked.advised == (uintptr_t)p && asked.advised_end - asked.advised == gw_align_up(sizes[i], GW_HUGE_BYTES));
        CHECK((is_large && gw_set.huge_pages != GW_SET_HUGE_PAGES_OFF) || asked.advised == 0);
        CHECK(is_huge || asked.n_collapsed == 0);
        p[0] = p[sizes[i] - 1] = 1;
        gw_huge_free(p);
    }
    gw_huge_free(NULL);
}

/* Of shared memory, by what the kernel says of it; never more than a part of what is left, and never against the setting. */
static void granted(void)
{
    char text[128] = "";
    bool is_auto = gw_set.huge_pages == GW_SET_HUGE_PAGES_AUTO,
         may = gw_line_read(text, sizeof text, "/sys/kernel/mm/transparent_hugepage/shmem_enabled") && strstr(text, "[") &&
        !strstr(text, "[never]") && !strstr(text, "[deny]");
    int fd = memfd_create("test", MFD_ALLOW_SEALING), pipes[2];
    CHECK(fd >= 0 && pipe(pipes) == 0);
    CHECK_EQ(gw_huge_is_granted(fd, 1), is_auto && may);
    CHECK(!gw_huge_is_granted(fd, INT64_MAX));
    CHECK(!gw_huge_is_granted(pipes[0], 1)); /* no memory of tmpfs */
    close(fd), close(pipes[0]), close(pipes[1]);
    enum { BYTES = 3 * GW_HUGE_BYTES };
    char *p = gw_place(BYTES, GW_HUGE_BYTES, 4096);
    memset(&asked, 0, sizeof asked);
    gw_huge_offer("the test", p, BYTES);
    CHECK(asked.advised == (uintptr_t)p + 4096 && asked.advised_end == (uintptr_t)p + BYTES);
    CHECK(asked.populated == 0 && asked.n_collapsed == 0);
    munmap(p, BYTES);
}

/* Nothing of the library's own is asked for: what is granted comes by itself. */
static void not_asked_for(void)
{
    char *p = aligned_alloc(GW_HUGE_BYTES, 2 * GW_HUGE_BYTES);
    CHECK(!gw_huge_is_wanted());
    use(p, 2 * GW_HUGE_BYTES, -1, 0);
    CHECK(asked.advised == 0 && asked.populated == 0 && asked.n_collapsed == 0);
    allocs();
    free(p);
}

int main(void)
{
    gw_set.huge_pages = GW_SET_HUGE_PAGES_ALL;
    CHECK(gw_huge_is_wanted());
    places();
    uses();
    allocs();
    granted();
    gw_set.huge_pages = GW_SET_HUGE_PAGES_AUTO;
    not_asked_for();
    granted();
    gw_set.huge_pages = GW_SET_HUGE_PAGES_OFF;
    not_asked_for();
    granted();
    return unit_end();
}
