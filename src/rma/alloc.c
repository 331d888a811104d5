/* alloc.c -- MPI_Alloc_mem: memory that a window made over it (MPI_Win_create) lets the other ranks of the machine map.
 *
 * Each piece is a file in memory of its own, which the others open as they open that of MPI_Win_allocate (memory.c).  Alone, and
 * for more pieces than a process should have descriptors for, it is ordinary memory: windows over that are reached as windows over
 * any.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rma/rma_private.h"

enum { MAX_PIECES = 256 };
static struct piece {
    struct memory_file file;
    struct rma_mapping mapping; /* what the user has begins after its first page */
} pieces[MAX_PIECES];
static int n_pieces;
static struct gw_lock pieces_lock;

static uint64_t first_byte(const struct piece *p)
{
    return (uint64_t)(uintptr_t)p->mapping.base + MEMORY_PAGE;
}

static bool piece_make(uint64_t bytes, int64_t align, struct piece *p)
{
    uint64_t all = gw_align_up(bytes, MEMORY_PAGE) + MEMORY_PAGE;
    *p = (struct piece){.mapping.align = align};
    if (memory_file_make(all, &p->file) != GW_OK) return false;
    if (memory_file_map(&p->mapping, p->file.fd, all, 0, 0) == GW_OK) return true;
    close(p->file.fd);
    return false;
}

static struct piece *piece_of(uint64_t lo, uint64_t hi)
{
    for (int i = 0; i < n_pieces; i++)
        if (lo >= first_byte(&pieces[i]) && hi <= first_byte(&pieces[i]) + pieces[i].mapping.bytes - MEMORY_PAGE)
            return &pieces[i];
    return NULL;
}

int rma_alloc_mem(int64_t size, struct gw_info *info, void **base_out)
{
    void *p = NULL;
    size_t bytes = size > 0 ? (size_t)size : 1;
    int64_t align = gw_info_alignment(info);
    gw_lock(&pieces_lock);
    if (gw_boot.nlocal > 1 && n_pieces < MAX_PIECES && piece_make(bytes, align, &pieces[n_pieces]))
        p = (void *)(uintptr_t)first_byte(&pieces[n_pieces++]);
    gw_unlock(&pieces_lock);
    if (!p && posix_memalign(&p, (size_t)align, bytes) != 0)
        return gw_fail(GW_ENOMEM, "no memory for %lld bytes", (long long)size);
    *base_out = p;
    return GW_OK;
}

int rma_free_mem(void *base)
{
    gw_lock(&pieces_lock);
    struct piece *p = piece_of((uint64_t)(uintptr_t)base, (uint64_t)(uintptr_t)base + 1), old = {.file.fd = -1};
    if (p) {
        old = *p;
        *p = pieces[--n_pieces];
    }
    gw_unlock(&pieces_lock);
    if (old.file.fd < 0) {
        free(base);
        return GW_OK;
    }
    close(old.file.fd);
    munmap(old.mapping.base, old.mapping.bytes);
    return GW_OK;
}

void alloc_offer(const void *base, int64_t size, struct alloc_offer *o)
{
    uint64_t at = (uint64_t)(uintptr_t)base;
    *o = (struct alloc_offer){.file.fd = -1};
    gw_lock(&pieces_lock);
    struct piece *p = size > 0 ? piece_of(at, at + (uint64_t)size) : NULL;
    if (p) *o = (struct alloc_offer){p->file, at - (uint64_t)(uintptr_t)p->mapping.base};
    gw_unlock(&pieces_lock);
}

char *alloc_map(const struct alloc_offer *o, int64_t size, struct rma_mapping *m)
{
    int fd;
    if (o->file.fd < 0 || memory_file_open(&o->file, &fd) != GW_OK) return NULL;
    uint64_t from = o->offset / MEMORY_PAGE * MEMORY_PAGE, bytes = o->offset - from + (uint64_t)size;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)from);
    close(fd);
    if (p == MAP_FAILED) return NULL;
    m->base = p;
    m->bytes = bytes;
    return (char *)p + (o->offset - from);
}
