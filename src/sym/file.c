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

enum { OFFERS = 2, TEXT = 320 };
struct offer { /* what its first PE tells the others of a file */
    struct share_offer share;
    int32_t rc;
    char why[TEXT]; /* it could not be made */
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

static void make(struct sym_file_want *want, struct offer *o)
{
    o->share.file = share_new();
    o->share.file.page = want->page;
    if (want->rc == GW_OK) want->rc = share_make(want->words, want->bytes, &o->share.file);
    o->rc = want->rc;
    if (o->rc != GW_OK) snprintf(o->why, sizeof o->why, "%s", gw_fail_text());
    want->file->fd = o->share.file.fd;
    want->file->is_made = true;
}

static int tell(struct gw_comm *here, struct offer o[OFFERS])
{
    const int64_t bytes = sizeof *o * OFFERS;
    if (sym_is_node(here) && coll_node_tell(o, bytes, here->rank == 0)) return GW_OK;
    return coll_bcast(o, bytes, gw_type_byte, 0, here, NULL);
}

/* `n` files of which this PE has made all. */
static int offer_all(struct gw_comm *here, struct sym_file_want *want, int n)
{
    struct offer o[OFFERS] = {0};
    struct share_show shown[OFFERS] = {0};
    for (int i = 0; i < n; i++) {
        make(&want[i], &o[i]);
        if (want[i].rc == GW_OK) share_show_begin(&shown[i], here->size - 1, &o[i].share);
        want[i].file->file = o[i].share.file;
    }
    int rc = tell(here, o);
    for (int i = 0; i < n; i++) {
        if (rc == GW_OK && want[i].rc == GW_OK) want[i].rc = show(&shown[i], want[i].words);
        share_show_end(&shown[i]);
    }
    return rc;
}

static int fetch_all(struct gw_comm *here, struct sym_file_want *want, int n)
{
    struct offer o[OFFERS];
    int rc = tell(here, o);
    for (int i = 0; rc == GW_OK && i < n; i++) {
        struct sym_file *f = want[i].file;
        f->file = o[i].share.file;
        want[i].rc = o[i].rc == GW_OK ? fetch(&o[i].share, want[i].words, &f->fd) : gw_fail(o[i].rc, "%.*s", TEXT - 1, o[i].why);
    }
    return rc;
}

static int map(struct sym_file_want *want)
{
    struct sym_file *f = want->file;
    int rc = share_map(want->words, &f->file, f->fd, want->page, &f->whole);
    if (rc != GW_OK) return rc;
    gw_memory_note(GW_MEMORY_MAPPED, (int64_t)f->file.bytes);
    if (f->is_made) gw_memory_note(GW_MEMORY_SHARED, (int64_t)f->file.bytes);
    return GW_OK;
}

int sym_files_make(struct gw_comm *here, struct sym_file_want *want, int n)
{
    assert(n <= OFFERS);
    for (int i = 0; i < n; i++) *want[i].file = (struct sym_file){.fd = -1};
    int rc = here->rank == 0 ? offer_all(here, want, n) : fetch_all(here, want, n);
    for (int i = 0; rc == GW_OK && i < n; i++)
        if (want[i].rc == GW_OK) want[i].rc = map(&want[i]);
    return rc;
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
