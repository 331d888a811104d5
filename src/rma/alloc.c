/* alloc.c -- MPI_Alloc_mem: memory that other ranks of the machine can map when it is made a window (MPI_Win_create).
 *
 * Each piece is a memfd of its own, which other ranks open like that of MPI_Win_allocate (memory.c).  If the rank is alone on its
 * machine and large pages are not asked for (pages.c), or it has MAX_PIECES already (each costs a descriptor), the memory is
 * ordinary memory, and a window over it is like any other.
 *
 * Programs that allocate and free the same sizes for every access (as Global Arrays does) would pay for new pages each time: 4 MiB
 * are 1024 page faults.  So the pieces freed last are kept, up to KEPT_BYTES, and are used again for requests of at least half
 * their size.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rma/rma_private.h"
#include "base/os.h"
#include "boot/boot.h"

enum { MAX_PIECES = 256, MAX_KEPT = 16, KEPT_BYTES = 32 << 20 };
struct piece {
    struct share_file file;
    struct rma_mapping mapping; /* the user's memory begins at file.head of it */
    uint64_t pages;             /* what rma_pages_wanted() said */
};
static struct alloc_state {
    struct gw_lock lock; /* guards the members below */
    int n_pieces, n_kept;
    uint64_t kept_bytes;             /* the sum over kept[] */
    struct piece kept[MAX_KEPT];     /* freed by the user; the oldest first */
    struct piece pieces[MAX_PIECES]; /* in use */
} alloc_state;

static uint64_t first_byte(const struct piece *p) { return (uint64_t)(uintptr_t)p->mapping.base + p->file.head; }

static bool piece_make(uint64_t bytes, int64_t align, uint64_t pages, struct piece *p)
{
    *p = (struct piece){.mapping = {.align = align, .is_made = true}, .pages = pages};
    if (rma_memory_file_make(bytes, pages, &p->file) != GW_OK) return false;
    if (rma_memory_file_map(&p->mapping, &p->file, p->file.fd, 0, p->file.page ? p->file.bytes - p->file.head : 0) == GW_OK)
        return true;
    close(p->file.fd);
    return false;
}

static void piece_drop(const struct piece *p)
{
    close(p->file.fd);
    rma_memory_unmap(&p->mapping);
}

static struct piece kept_take(int i)
{
    struct piece p = alloc_state.kept[i];
    alloc_state.kept_bytes -= p.mapping.bytes;
    alloc_state.n_kept--;
    memmove(&alloc_state.kept[i], &alloc_state.kept[i + 1], (size_t)(alloc_state.n_kept - i) * sizeof alloc_state.kept[0]);
    return p;
}

static void kept_drop_oldest(void)
{
    struct piece old = kept_take(0);
    piece_drop(&old);
}

static void piece_keep(const struct piece *p)
{
    if (p->mapping.bytes > KEPT_BYTES) {
        piece_drop(p);
        return;
    }
    while (alloc_state.n_kept == MAX_KEPT || alloc_state.kept_bytes + p->mapping.bytes > KEPT_BYTES) kept_drop_oldest();
    alloc_state.kept[alloc_state.n_kept++] = *p;
    alloc_state.kept_bytes += p->mapping.bytes;
}

static bool kept_fits(const struct piece *p, uint64_t bytes, int64_t align, uint64_t pages)
{
    uint64_t all = gw_align_up(bytes, p->file.page ? p->file.page : gw_page_bytes()) + p->file.head;
    return p->pages == pages && p->mapping.bytes >= all && p->mapping.bytes <= 2 * all && first_byte(p) % (uint64_t)align == 0;
}

/* Takes the smallest kept piece that is large enough and not too large, else makes a new one; if memory is
 * short, kept ones are freed. */
static bool piece_get(uint64_t bytes, int64_t align, uint64_t pages, struct piece *p)
{
    int best = -1;
    for (int i = 0; i < alloc_state.n_kept; i++)
        if (kept_fits(&alloc_state.kept[i], bytes, align, pages) &&
            (best < 0 || alloc_state.kept[i].mapping.bytes < alloc_state.kept[best].mapping.bytes))
            best = i;
    if (best >= 0) {
        *p = kept_take(best);
        return true;
    }
    if (piece_make(bytes, align, pages, p)) return true;
    if (alloc_state.n_kept == 0) return false;
    while (alloc_state.n_kept > 0) kept_drop_oldest();
    return piece_make(bytes, align, pages, p);
}

static struct piece *piece_of(uint64_t lo, uint64_t hi)
{
    for (int i = 0; i < alloc_state.n_pieces; i++)
        if (lo >= first_byte(&alloc_state.pieces[i]) &&
            hi <= first_byte(&alloc_state.pieces[i]) + alloc_state.pieces[i].mapping.bytes - alloc_state.pieces[i].file.head)
            return &alloc_state.pieces[i];
    return NULL;
}

int rma_alloc_mem(int64_t size, struct gw_info *info, void **base_out)
{
    void *p = NULL;
    size_t bytes = size > 0 ? (size_t)size : 1;
    int64_t align = gw_info_alignment(info);
    uint64_t pages = rma_pages_wanted();
    bool is_mappable = size > 0 && (gw_boot.nlocal > 1 || pages);
    gw_lock(&alloc_state.lock);
    if (is_mappable && pages && alloc_state.n_pieces == MAX_PIECES)
        gw_fail(GW_ENOMEM, "this rank has %d pieces on large pages, which is the most; allocate fewer and larger ones", MAX_PIECES);
    if (is_mappable && alloc_state.n_pieces < MAX_PIECES &&
        piece_get(bytes, align, pages, &alloc_state.pieces[alloc_state.n_pieces]))
        p = (void *)(uintptr_t)first_byte(&alloc_state.pieces[alloc_state.n_pieces++]);
    gw_unlock(&alloc_state.lock);
    if (!p && pages && size > 0) return rma_pages_alone(bytes, (uint64_t)align, base_out);
    if (!p && posix_memalign(&p, (size_t)align, bytes) != 0) return gw_fail(GW_ENOMEM, "no memory for %lld bytes", (long long)size);
    *base_out = p;
    return GW_OK;
}

int rma_free_mem(void *base)
{
    gw_lock(&alloc_state.lock);
    struct piece *p = piece_of((uint64_t)(uintptr_t)base, (uint64_t)(uintptr_t)base + 1);
    if (p) {
        piece_keep(p);
        *p = alloc_state.pieces[--alloc_state.n_pieces];
    }
    gw_unlock(&alloc_state.lock);
    if (!p) free(base);
    return GW_OK;
}

void rma_alloc_offer(const void *base, int64_t size, struct rma_alloc_offer *o)
{
    uint64_t at = (uint64_t)(uintptr_t)base;
    *o = (struct rma_alloc_offer){.file.fd = -1};
    gw_lock(&alloc_state.lock);
    struct piece *p = size > 0 ? piece_of(at, at + (uint64_t)size) : NULL;
    if (p) *o = (struct rma_alloc_offer){p->file, at - (uint64_t)(uintptr_t)p->mapping.base};
    gw_unlock(&alloc_state.lock);
}

char *rma_alloc_map(const struct rma_alloc_offer *o, int64_t size, struct rma_mapping *m)
{
    int fd;
    if (o->file.fd < 0 || size < 0 || o->offset > UINT64_MAX - (uint64_t)size || o->file.page & (o->file.page - 1)) return NULL;
    if (rma_memory_file_open(&o->file, o->offset + (uint64_t)size, &fd) != GW_OK) return NULL;
    uint64_t page = o->file.page ? o->file.page : gw_page_bytes(), from = o->offset / page * page,
             bytes = gw_align_up(o->offset - from + (uint64_t)size, o->file.page ? page : 1);
    void *place = o->file.page ? gw_place(bytes, page, 0) : NULL,
         *p = mmap(place, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (place ? MAP_FIXED : 0), fd, (off_t)from);
    close(fd);
    if (p == MAP_FAILED && place) munmap(place, bytes);
    if (p == MAP_FAILED) return NULL;
    m->base = p;
    m->bytes = bytes;
    rma_memory_noted(m, 1);
    return (char *)p + (o->offset - from);
}
