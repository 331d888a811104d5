/* mirror.c -- a window of memory that the CPU may not touch (mem/mem.h): others access a copy of it in host memory, the mirror.
 *
 * The window is of MPI's separate model: the mirror is the public copy, the program's memory the private one, and the calls that
 * synchronize the window let the two meet.  Nobody tells which side has changed, so there is a third copy of what both were when
 * they met last.  A byte of the mirror that differs from it was changed by another rank and goes to the program's memory; else one of the
 * program's memory that differs goes to the mirror.  Bytes that nobody has changed are not written, so others may access the mirror
 * meanwhile.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "rma/rma_private.h"

enum { PIECE = 16384 };

int rma_mirror_open(struct rma_win *w, void **base)
{
    struct gw_data d = gw_data_of(*base, w->size, gw_type_byte);
    if (w->size == 0 || gw_data_is_cpu(&d)) return GW_OK;
    size_t bytes = gw_align_up((uint64_t)w->size, GW_CACHELINE);
    char *mem = aligned_alloc(GW_CACHELINE, 2 * bytes);
    if (!mem)
        return gw_fail(GW_ENOMEM, "no host memory for two copies of a window of %lld bytes, which the CPU may not touch",
                       (long long)w->size);
    struct rma_mirror *m = &w->mirror;
    *m = (struct rma_mirror){*base, mem, mem + bytes, w->size};
    w->model = GW_WIN_SEPARATE;
    *base = m->seen;
    int rc = mem_copy(m->seen, m->user, (size_t)m->bytes);
    return rc < 0 ? rc : mem_copy(m->met, m->seen, (size_t)m->bytes);
}

void rma_mirror_close(struct rma_win *w)
{
    free(w->mirror.seen);
    w->mirror.seen = NULL;
}

/* The n bytes at `at`, of which `mine` is what the program's memory has. */
static int meet(struct rma_mirror *m, int64_t at, const char *mine, int64_t n)
{
    char *seen = m->seen + at, *met = m->met + at;
    for (int64_t i = 0, from; i < n;) {
        for (from = i; i < n && seen[i] != met[i]; i++) met[i] = seen[i];
        int rc = i > from ? mem_copy(m->user + at + from, met + from, (size_t)(i - from)) : GW_OK;
        if (rc < 0) return rc;
        for (; i < n && seen[i] == met[i]; i++)
            if (mine[i] != met[i]) seen[i] = met[i] = mine[i];
    }
    return GW_OK;
}

int rma_mirror_meet(struct rma_win *w)
{
    struct rma_mirror *m = &w->mirror;
    char mine[PIECE];
    int rc = GW_OK;
    for (int64_t at = 0, n; m->seen && rc >= 0 && at < m->bytes; at += n) {
        n = gw_min64(m->bytes - at, PIECE);
        rc = mem_copy(mine, m->user + at, (size_t)n);
        if (rc >= 0) rc = meet(m, at, mine, n);
    }
    return rc;
}
