/* file.c -- a file that the PEs of a node map (share/), made together.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "sym/sym_private.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/os.h"
#include "coll/coll.h"
#include "op/op.h"

struct offer { /* what its first PE tells the others */
    struct share_offer share;
    int32_t rc;
};

/* While others fetch what this PE shows, and the other way round, it serves its messages. */
static int show(struct share_show *s, const struct share_words *w)
{
    int rc;
    while ((rc = share_show_step(s, w)) == GW_AGAIN) req_progress();
    return rc;
}

static int fetch(const struct share_offer *o, const struct share_words *w, int *fd_out)
{
    struct share_fetch s;
    int rc;
    share_fetch_begin(&s, o);
    while ((rc = share_fetch_step(&s, w, o, fd_out)) == GW_AGAIN) req_progress();
    return rc;
}

int sym_file_make(struct gw_comm *here, const struct share_words *w, uint64_t bytes, uint64_t page, struct sym_file *f)
{
    struct offer o = {.share.file = share_new()};
    struct share_show shown = {0};
    *f = (struct sym_file){.fd = -1};
    o.share.file.page = page;
    if (here->rank == 0) {
        o.rc = share_make(w, bytes, &o.share.file);
        if (o.rc == GW_OK) share_show_begin(&shown, here->size - 1, &o.share);
    }
    int rc = coll_bcast(&o, sizeof o, gw_type_byte, 0, here, NULL);
    if (rc == GW_OK && o.rc == GW_OK) rc = here->rank == 0 ? show(&shown, w) : fetch(&o.share, w, &f->fd);
    share_show_end(&shown);
    if (rc == GW_OK && o.rc != GW_OK)
        rc = here->rank == 0 ? o.rc : gw_fail(o.rc, "a PE of this node cannot make the memory of %s", w->one);
    if (here->rank == 0) f->fd = o.share.file.fd;
    f->file = o.share.file;
    f->is_made = here->rank == 0;
    if (rc == GW_OK) rc = share_map(w, &f->file, f->fd, page, &f->whole);
    if (rc != GW_OK) return rc;
    gw_memory_note(GW_MEMORY_MAPPED, (int64_t)f->file.bytes);
    if (f->is_made) gw_memory_note(GW_MEMORY_SHARED, (int64_t)f->file.bytes);
    return GW_OK;
}

void sym_file_hide(struct sym_file *f)
{
    if (f->fd >= 0) close(f->fd);
    f->fd = -1;
}

void sym_file_end(struct sym_file *f)
{
    sym_file_hide(f);
    if (!f->whole) return;
    munmap(f->whole, f->file.bytes);
    gw_memory_note(GW_MEMORY_MAPPED, -(int64_t)f->file.bytes);
    if (f->is_made) gw_memory_note(GW_MEMORY_SHARED, -(int64_t)f->file.bytes);
    f->whole = NULL;
}

/* Each takes the kernel a call and two entries of the process's map: with 64 PEs on a node, a seventh of their start. */
enum { GUARDS_MOST = 16 };

int sym_file_guard(const struct sym_file *f, const struct share_words *w, const struct gw_comm *here, uint64_t bytes,
                   uint64_t stride)
{
    const bool all = here->size <= GUARDS_MOST;
    const int first = all || here->rank == 0 ? 0 : here->rank - 1, last = all ? here->size - 1 : here->rank;
    for (int i = first; i <= last; i++)
        if (mprotect(f->whole + f->file.head + (uint64_t)i * stride + bytes, stride - bytes, PROT_NONE) != 0)
            return gw_fail(GW_ENOMEM, "the parts of %s cannot be kept apart (mprotect): %s", w->one, strerror(errno));
    return GW_OK;
}
