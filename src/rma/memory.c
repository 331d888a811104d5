/* memory.c -- memory of a window that all its ranks on one machine map.  Small windows of one job lie in the node's shared heap;
 * larger ones, and those whose ranks are of several jobs, have a file of their own (share/).
 *
 * The first rank makes the file and tells the others.  Every rank then has the kernel allocate the pages of its own part (fallocate), so
 * that they are in memory near this rank, and touching them later cannot fail.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "rma/rma_private.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/os.h"
#include "coll/coll.h"

/* APART: the window begins in the middle of 4 KiB.  malloc() lets large buffers begin just behind the start of a page.  If source
 * and destination of a copy have nearly the same offset in their pages, the CPU takes loads for loads of bytes just stored, and
 * the copy is slow (4K aliasing; 64 KiB: 1.9 us against 1.3). */
enum { HEAP_MAX = 32768, APART = 2048 };

static const struct share_words words = {"godwit-window", "the window", "the windows of all ranks", ""};

struct offer {     /* what the first rank broadcasts to the others */
    uint64_t heap; /* offset in the node's heap; 0: not there, but in the file */
    struct share_offer share;
    int32_t rc;
};

/* A memfd of its own, which has the nonce. */
static int plain_file(uint64_t bytes, struct share_file *o)
{
    uint64_t page = o->page ? o->page : gw_page_bytes();
    int rc = share_room(&words, gw_align_up(bytes, page) + page);
    return rc == GW_OK ? share_make(&words, bytes, o) : rc;
}

int rma_memory_file_make(uint64_t bytes, uint64_t pages, struct share_file *o)
{
    char why[GW_POOL_WHY];
    *o = share_new();
    bool is_pooled = pages && rma_pages_file(bytes, pages, o, why);
    bool is_smaller =
        o->page < pages && (is_pooled || !o->page || rma_pages_must()); /* of transparent ones rma_pages_make() says it */
    int rc = is_pooled || (is_smaller && rma_pages_must()) ? GW_OK : plain_file(bytes, o);
    if (rc == GW_OK && is_smaller) rc = rma_pages_smaller(o->page, why);
    if (rc == GW_OK || o->fd < 0) return rc;
    close(o->fd);
    o->fd = -1;
    return rc;
}

int rma_memory_file_open(const struct share_file *o, uint64_t bytes, int *fd_out) { return share_open(&words, o, bytes, fd_out); }

int rma_memory_file_map(struct rma_mapping *m, const struct share_file *f, int fd, uint64_t from, uint64_t own)
{
    char *base;
    int rc = f->page ? GW_OK : share_reserve(&words, f, fd, from, own);
    if (rc == GW_OK) rc = share_map(&words, f, fd, (uint64_t)m->align, &base);
    if (rc != GW_OK) return rc;
    m->base = base;
    m->bytes = f->bytes;
    rma_memory_noted(m, 1);
    rc = f->page && !f->inode ? rma_pages_make(m, f, from, own) : GW_OK;
    if (rc == GW_OK) return rc;
    rma_memory_unmap(m);
    m->base = NULL;
    return rc;
}

void rma_memory_noted(const struct rma_mapping *m, int sign)
{
    gw_memory_note(GW_MEMORY_MAPPED, sign * (int64_t)m->bytes);
    if (m->is_made) gw_memory_note(GW_MEMORY_SHARED, sign * (int64_t)m->bytes);
}

/* While others fetch what this rank shows, and the other way round, this rank serves its messages. */
static int show(struct share_show *s)
{
    int rc;
    while ((rc = share_show_step(s, &words)) == GW_AGAIN) req_progress();
    return rc;
}

static int fetch(const struct share_offer *o, int *fd_out)
{
    struct share_fetch s;
    int rc;
    share_fetch_begin(&s, o);
    while ((rc = share_fetch_step(&s, &words, o, fd_out)) == GW_AGAIN) req_progress();
    return rc;
}

static int make_here(struct gw_comm *c, struct rma_mapping *m, uint64_t total, uint64_t from, uint64_t own, char **base_out)
{
    struct offer o = {.share.file.fd = -1};
    struct share_show shown = {0};
    const uint64_t apart = m->align <= APART && !m->is_paged ? APART : 0;
    if (c->rank == 0) {
        bool in_heap = c->one_node && total <= HEAP_MAX && m->align <= GW_CACHELINE && !m->is_paged; /* a heap belongs to one job */
        o.heap = in_heap ? node_heap_alloc(total) : 0;
        if (o.heap)
            memset(node_ptr(o.heap), 0, total);
        else
            o.rc = rma_memory_file_make(total + apart, m->is_paged ? rma_pages_wanted() : 0, &o.share.file);
        if (!o.heap && o.rc == GW_OK) share_show_begin(&shown, c->size - 1, &o.share);
    }
    int fd = -1, rc = coll_bcast(&o, sizeof o, gw_type_byte, 0, c, NULL);
    const bool is_shown = shown.is_open;
    if (rc == GW_OK) rc = show(&shown);
    share_show_end(&shown);
    if (rc != GW_OK && !is_shown) return rc;
    m->heap = o.heap;
    if (o.heap) {
        node_heap_join();
        *base_out = node_ptr(o.heap);
        return GW_OK;
    }
    if (o.rc != GW_OK) return rma_agree(c, c->rank == 0 ? o.rc : GW_OK);
    m->is_made = c->rank == 0;
    if (c->rank == 0)
        fd = o.share.file.fd;
    else
        rc = fetch(&o.share, &fd);
    if (rc == GW_OK) rc = rma_memory_file_map(m, &o.share.file, fd, from + apart, own);
    rc = rma_agree(c, rc); /* all ranks have opened it: it can be closed */
    if (fd >= 0) close(fd);
    if (rc == GW_OK) *base_out = (char *)m->base + o.share.file.head + apart;
    return rc;
}

int rma_memory_make(struct rma_win *w, struct rma_mapping *m, uint64_t total, uint64_t from, uint64_t own, char **base_out)
{
    int rc = make_here(w->here, m, total, from, own, base_out);
    return w->n_leaders ? rma_agree(w->comm, rc) : rc; /* ranks on other machines may have failed */
}

void rma_memory_unmap(const struct rma_mapping *m)
{
    if (!m->base) return;
    assert(m->bytes > 0);
    munmap(m->base, m->bytes);
    rma_memory_noted(m, -1);
}

/* Unmaps or frees the memory.  No rank may access it any more. */
void rma_memory_drop(struct rma_win *w, struct rma_mapping *m)
{
    rma_memory_unmap(m);
    if (m->heap) node_heap_leave(m->heap, w->here->size);
    *m = (struct rma_mapping){0};
}
