/* collective.c -- collective access: finds what each rank accesses, and chooses the method.
 *
 *     alone:        every rank for itself, where nothing interleaves or the pieces are long
 *     windows:      aggregators, with windows of the file in memory of the node (window.c)
 *     messages:     aggregators, to which pieces and data are sent (two_phase.c)
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "io/io_private.h"

#include <stdlib.h>

#include "coll/coll.h"

enum {
    SPARSE = 64,           /* if less than 1/SPARSE of the range is accessed, ranks access independently */
    SPARSE_WINDOW = 8,     /* windows are read as a whole: if less than 1/SPARSE_WINDOW is accessed, pieces are sent instead */
    LONG_WRITE = 64 << 10, /* bytes of pieces that are written by a system call each */
    LONG_READ = 16 << 10,
};

static bool tiles_in_order(const struct gw_type *t) { return t->true_extent <= t->extent; }

static int64_t mixed(int64_t place)
{
    uint64_t x = (uint64_t)place + 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (int64_t)(x ^ x >> 31);
}

int io_extent_of(struct gw_file *f, int64_t pos, int64_t bytes, struct io_extent *e)
{
    assert(bytes >= 0);
    const struct gw_type *t = f->view.file_filetype;
    struct io_walk w;
    struct io_run run;
    uint64_t cover = 0;
    *e = (struct io_extent){.from = INT64_MAX, .bytes = bytes, .in_order = tiles_in_order(t)};
    int rc = io_walk_begin(&w, &f->view, pos, bytes);
    if (rc != GW_OK || bytes == 0) return rc;
    while (io_walk_next(&w, &run)) {
        if (e->runs++ == 0) e->from = run.at;
        e->to = run.at + run.bytes;
        cover += (uint64_t)mixed(run.at) - (uint64_t)mixed(e->to);
    }
    e->cover = (int64_t)cover;
    /* An access within one tile is in order, whatever the layout of the tiles. */
    if (pos / t->size == (pos + bytes - 1) / t->size) e->in_order = 1;
    if (f->view.overlaps) e->in_order = 0;
    return GW_OK;
}

/* Combines the extents of all ranks; true: they interleave. */
static bool extent_sum(const struct io_extent *all, int n, struct io_extent *whole)
{
    assert(n > 0);
    bool interleaved = false;
    *whole = (struct io_extent){.from = INT64_MAX, .in_order = 1, .room = all[0].room, .window = all[0].window};
    for (int i = 0; i < n; i++) {
        if (all[i].bytes == 0) continue;
        interleaved |= all[i].from < whole->to;
        whole->from = gw_min64(whole->from, all[i].from);
        whole->to = gw_max64(whole->to, all[i].to);
        whole->bytes += all[i].bytes;
        whole->runs += all[i].runs;
        whole->cover = (int64_t)((uint64_t)whole->cover + (uint64_t)all[i].cover);
        whole->in_order &= all[i].in_order;
    }
    whole->cover = whole->bytes > 0 && (uint64_t)whole->cover == (uint64_t)mixed(whole->from) - (uint64_t)mixed(whole->to);
    return interleaved;
}

/* Chooses the method; all ranks choose the same, because they have the same values. */
static enum io_way way_of(const struct gw_file *f, bool write, const struct io_extent *whole, bool interleaved)
{
    int choice = write ? f->hints.buffer_write : f->hints.buffer_read;
    int64_t span = whole->to - whole->from;
    if (choice == IO_DISABLE || f->atomic || whole->bytes == 0 || !whole->in_order) return IO_ALONE;
    if (choice == IO_AUTO) {
        if (!interleaved || f->comm->size == 1 || span / SPARSE > whole->bytes) return IO_ALONE;
        if (f->comm->one_node && whole->bytes / whole->runs >= (write ? LONG_WRITE : LONG_READ)) return IO_ALONE;
    }
    return whole->room && span / SPARSE_WINDOW <= whole->bytes ? IO_WINDOWS : IO_MESSAGES;
}

enum io_way io_extents_judge(const struct gw_file *f, bool write, const struct io_extent *all, struct io_extent *whole)
{
    bool interleaved = extent_sum(all, f->comm->size, whole);
    return way_of(f, write, whole, interleaved);
}

static int move_by(enum io_way way, struct gw_file *f, const struct io_data *d, const struct io_extent *whole, int64_t *moved_out)
{
    io_clock(f, way == IO_ALONE ? IO_T_FILE : IO_T_EXCHANGE);
    if (way == IO_WINDOWS) return io_by_windows(f, d, whole, moved_out);
    if (way == IO_MESSAGES) return io_by_messages(f, d, whole, moved_out);
    return io_move(f, d->write, d->pos, d->data.buf, d->data.count, d->data.type, moved_out);
}

int io_all_move(struct gw_file *f, const struct io_data *d, int64_t *moved_out)
{
    struct io_extent mine, whole, *all = gw_xcalloc((size_t)f->comm->size, sizeof *all);
    enum { WORDS = sizeof mine / sizeof(int64_t) };
    *moved_out = 0;
    if (f->hints.timers && f->hints.time_waits && f->comm->size > 1) { /* measures how long this rank waits for the others */
        io_clock(f, IO_T_WAIT);
        coll_barrier(f->comm, NULL);
    }
    io_clock(f, IO_T_COLL);
    int rc = io_agree(f, io_extent_of(f, d->pos, d->data.bytes, &mine));
    if (rc != GW_OK) {
        free(all);
        return rc;
    }
    io_windows_offer(f, &mine);
    rc = coll_allgather(&mine, WORDS, gw_type_int64, all, WORDS, gw_type_int64, f->comm, NULL);
    if (rc == GW_OK) {
        enum io_way way = io_extents_judge(f, d->write, all, &whole);
        rc = move_by(way, f, d, &whole, moved_out);
        io_clock(f, IO_T_COLL);
        rc = io_agree(f, rc);
        if (rc != GW_OK && way != IO_ALONE) *moved_out = 0; /* it is not known whose bytes were written, so none are reported */
    }
    io_windows_leave(f, &all[0]);
    free(all);
    return rc;
}
