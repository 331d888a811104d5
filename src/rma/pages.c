/* pages.c -- which pages memory of MPI_Alloc_mem and MPI_Win_allocate lies on, where GODWIT_ALLOC_MEM_PG_SZ asks for large ones.
 *
 * Those of the system's pool are taken first: the user has named a size, as who reserves them does, and the kernel gives them for certain or
 * not at all.  Then transparent ones, of 2 MiB.  What the machine has not, or has no more of, is a smaller page and a sentence.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rma/rma_private.h"
#include "base/settings.h"
#include "boot/segment.h"

static const char what[] = "memory of MPI_Alloc_mem and MPI_Win_allocate";

uint64_t rma_pages_wanted(void)
{
    uint64_t wanted = (uint64_t)gw_set.alloc_mem_pg_sz;
    if (gw_set.alloc_mem_huge_pages && wanted < GW_HUGE_BYTES) wanted = GW_HUGE_BYTES;
    return wanted > gw_page_bytes() ? wanted : 0;
}

bool rma_pages_must(void) { return gw_set.alloc_mem_policy == GW_SET_ALLOC_MEM_POLICY_MANDATORY; }

int rma_pages_smaller(uint64_t got, const char *why)
{
    char asked[24], is[24];
    gw_pages_text(rma_pages_wanted(), asked);
    if (rma_pages_must())
        return gw_fail(GW_ENOMEM, "there are no pages of %s (%s, %s=mandatory): %s", asked,
                       gw_setting_said("GODWIT_ALLOC_MEM_PG_SZ"), gw_setting_said("GODWIT_ALLOC_MEM_POLICY"), why);
    bool is_more;
    if (!boot_pages_tell(got > 0, &is_more)) return GW_OK;
    if (is_more)
        gw_warn("more %s cannot lie there: %s; it lies on ordinary pages", what, why);
    else
        gw_warn("%s cannot lie on pages of %s (%s): %s; it lies on %s%s%s", what, asked, gw_setting_said("GODWIT_ALLOC_MEM_PG_SZ"),
                why, got ? "pages of " : "ordinary pages", got ? gw_pages_text(got, is) : "", got ? ", where they can be had" : "");
    return GW_OK;
}

bool rma_pages_file(uint64_t bytes, uint64_t pages, struct share_file *o, char why[GW_POOL_WHY])
{
    char later[GW_POOL_WHY];
    struct stat st;
    gw_pool_why(pages, bytes, why);
    for (uint64_t page = gw_pool_page(pages); page && (page == pages || !rma_pages_must()); page = gw_pool_page(page - 1)) {
        uint64_t all = gw_align_up(bytes, page);
        int fd = gw_pool_file_of(what, all, page, page == pages ? why : later);
        if (fd < 0) continue;
        if (fstat(fd, &st) == 0) {
            gw_pool_explain(what, fd, all);
            o->fd = fd;
            o->bytes = all;
            o->page = page;
            o->inode = st.st_ino;
            o->device = st.st_dev;
            return true;
        }
        close(fd);
    }
    bool may = rma_pages_must() ? pages == GW_HUGE_BYTES : pages >= GW_HUGE_BYTES;
    if (may && gw_huge_is_offered()) o->page = GW_HUGE_BYTES;
    return false;
}

/* [first, first + bytes) of huge pages; `all`: of the piece that it is a part of.  Says whether they are there, and where larger ones were asked
 * for, that it is these: which pages memory lies on is said when it is known. */
static int made(uintptr_t first, uint64_t bytes, uint64_t all)
{
    bool is_crowded;
    char pool[GW_POOL_WHY], why[GW_POOL_WHY + 128];
    uint64_t is = gw_huge_make((void *)first, bytes, rma_pages_must(), &is_crowded);
    GW_EXPLAIN(GW_LOG_BOOT, "%s of %.1f MiB: %.1f MiB of it on transparent huge pages", what, (double)bytes / (1 << 20),
               (double)is / (1 << 20));
    if (is == bytes && rma_pages_wanted() <= GW_HUGE_BYTES) return GW_OK;
    gw_pool_why(rma_pages_wanted(), all, pool);
    if (is == bytes) return rma_pages_smaller(GW_HUGE_BYTES, pool);
    snprintf(why, sizeof why, "%s; %s", pool,
             is_crowded
                 ? "too many tasks want to run here to move it onto transparent ones (_POLICY=mandatory does it all the same)"
                 : "the kernel gives no transparent ones for all of it");
    return rma_pages_smaller(0, why);
}

int rma_pages_make(const struct rma_mapping *m, const struct share_file *f, uint64_t from, uint64_t own)
{
    uintptr_t at = (uintptr_t)m->base + f->head + from, first = gw_align_up(at, GW_HUGE_BYTES),
              end = gw_align_up(at + own, GW_HUGE_BYTES);
    assert(f->page == GW_HUGE_BYTES && !f->inode && end <= (uintptr_t)m->base + m->bytes);
    return own && end > first ? made(first, end - first, f->bytes - f->head) : GW_OK;
}

int rma_pages_alone(uint64_t bytes, uint64_t align, void **out)
{
    uint64_t wanted = rma_pages_wanted();
    bool may = wanted >= GW_HUGE_BYTES && gw_huge_is_offered();
    if (rma_pages_must() && !(may && wanted == GW_HUGE_BYTES)) return GW_ENOMEM; /* the caller has said why */
    uint64_t all = may ? gw_align_up(bytes, GW_HUGE_BYTES) : bytes;
    const char *limit;
    int64_t left =
        may ? gw_memory_available(&limit) : -1; /* it will be resident at once: past a limit the kernel would end the rank */
    if (may && left >= 0 && (uint64_t)left < all)
        return gw_fail(GW_ENOMEM, "%.1f MiB are wanted, but %s leaves %.1f MiB", (double)all / (1 << 20), limit,
                       (double)left / (1 << 20));
    if (posix_memalign(out, may && align < GW_HUGE_BYTES ? GW_HUGE_BYTES : align, all) != 0)
        return gw_fail(GW_ENOMEM, "no memory for %llu bytes", (unsigned long long)bytes);
    int rc = may ? made((uintptr_t)*out, all, all) : rma_pages_smaller(0, "this system gives no transparent ones");
    if (rc != GW_OK) free(*out);
    return rc;
}
