/* view.c -- the view of a file: maps positions in the stream of a view's data bytes to runs of the file.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "io/io_private.h"

/* A cursor over memory walks the file: byte b of the file is address FILE_AT + b. */
static const uintptr_t FILE_AT = (uintptr_t)1 << 62;
static const int64_t FILE_END = (int64_t)1 << 61;

int io_view_plain(struct io_view *v)
{
    *v = (struct io_view){.rep = io_rep_find("native")};
    v->etype = v->filetype = v->file_etype = v->file_filetype = gw_type_byte; /* predefined types need no references */
    return GW_OK;
}

void io_view_release(struct io_view *v)
{
    struct gw_type *types[] = {v->etype, v->filetype, v->file_etype, v->file_filetype};
    for (size_t i = 0; i < GW_ARRAY_LEN(types); i++)
        if (types[i]) type_release(types[i]);
    *v = (struct io_view){0};
}

/* ---- the walk --------------------------------------------------------------------------------------------------------- */
static int too_far(void) { return gw_fail(GW_EARG, "the place in the file is beyond byte 2^61"); }

int io_walk_begin(struct io_walk *w, const struct io_view *v, int64_t pos, int64_t bytes)
{
    assert(bytes >= 0);
    struct gw_type *t = v->file_filetype;
    int64_t tile, at;
    w->left = bytes;
    w->n = w->next = 0;
    w->ahead.bytes = w->rest.bytes = 0;
    w->cursor.data.type = t;
    if (bytes == 0) return GW_OK;
    if (t->size <= 0) return gw_fail(GW_ETYPE, "the view's filetype %s has no data: nothing can be read or written", type_name(t));
    if (pos < 0 || bytes > FILE_END || pos > FILE_END) return too_far();
    int64_t first = pos / t->size, skip = pos % t->size, count = (skip + bytes + t->size - 1) / t->size;
    bool far = __builtin_mul_overflow(first + count, t->extent, &tile) || tile > FILE_END - v->disp || tile < 0;
    if (far || t->true_lb + t->true_extent > FILE_END) return too_far();
    at = v->disp + first * t->extent;
    w->at = v->disp + t->true_lb + pos; /* used if the type is dense */
    type_cursor_init(&w->cursor, gw_data_host((void *)(FILE_AT + (uintptr_t)at), count, t));
    type_cursor_seek(&w->cursor, skip);
    return GW_OK;
}

static bool next_run(struct io_walk *w, struct io_run *run_out)
{
    assert(w->next <= w->n);
    int64_t bytes;
    if (w->next == w->n) {
        if (w->left == 0) return false;
        w->n = type_cursor_iov(&w->cursor, w->runs, (int)GW_ARRAY_LEN(w->runs), w->left, &bytes);
        w->next = 0;
        w->left -= bytes;
    }
    const struct iovec *r = &w->runs[w->next++];
    *run_out = (struct io_run){(int64_t)((uintptr_t)r->iov_base - FILE_AT), (int64_t)r->iov_len};
    return true;
}

bool io_walk_next(struct io_walk *w, struct io_run *run_out)
{
    if (w->cursor.data.type->is_dense) {
        *run_out = (struct io_run){w->at, w->left};
        w->left = 0;
        return run_out->bytes > 0;
    }
    struct io_run more;
    if (w->ahead.bytes)
        *run_out = w->ahead;
    else if (!next_run(w, run_out))
        return false;
    w->ahead.bytes = 0;
    while (next_run(w, &more)) { /* joins runs that the cursor has cut at the end of its array */
        if (more.at != run_out->at + run_out->bytes) {
            w->ahead = more;
            break;
        }
        run_out->bytes += more.bytes;
    }
    return true;
}

bool io_walk_below(struct io_walk *w, int64_t end, struct io_run *run_out)
{
    struct io_run r = w->rest;
    w->rest.bytes = 0;
    if (!r.bytes && !io_walk_next(w, &r)) return false;
    int64_t k = gw_max64(gw_min64(end - r.at, r.bytes), 0);
    *run_out = (struct io_run){r.at, k};
    w->rest = (struct io_run){r.at + k, r.bytes - k};
    return k > 0;
}

int io_offset_byte(const struct io_view *v, int64_t pos, int64_t *byte_out)
{
    struct io_walk w;
    struct io_run run;
    int rc = io_walk_begin(&w, v, pos, 1);
    if (rc == GW_OK && io_walk_next(&w, &run)) *byte_out = run.at;
    return rc;
}

/* The tile among first..last in which data first reach this byte of the file or go beyond it.  Tile i begins at i * extent; its data
 * begin true_lb behind that, which may be many extents. */
static int64_t tile_at(const struct io_view *v, int64_t file_bytes, int64_t first, int64_t last)
{
    assert(first <= last);
    const struct gw_type *t = v->file_filetype;
    if (t->extent <= 0) return first;
    int64_t beyond = file_bytes - v->disp - t->true_lb - t->true_extent;
    int64_t tile = beyond < 0 ? -(-beyond / t->extent) : (beyond + t->extent - 1) / t->extent;
    return gw_max64(gw_min64(tile, last), first);
}

int64_t io_view_before(const struct io_view *v, int64_t pos, int64_t bytes, int64_t file_bytes)
{
    int64_t size = v->file_filetype->size, before = 0;
    struct io_walk w;
    struct io_run run;
    if (bytes <= 0 || size <= 0) return 0;
    if (v->file_filetype->is_dense) return gw_max64(gw_min64(file_bytes - v->disp - v->file_filetype->true_lb - pos, bytes), 0);
    int64_t tile = tile_at(v, file_bytes, pos / size, (pos + bytes - 1) / size);
    if (io_walk_begin(&w, v, tile * size, size) != GW_OK) return 0;
    while (io_walk_next(&w, &run) && run.at < file_bytes) before += gw_min64(file_bytes - run.at, run.bytes);
    return gw_max64(gw_min64(tile * size + before - pos, bytes), 0);
}

/* ---- set_view --------------------------------------------------------------------------------------------------------- */
/* Displacements of a view's types must not be negative and not decrease, and if the file may be written, nothing may overlap
 * (section 14.3). */
static int displacements_check(const struct gw_file *f, const char *what, struct gw_type *t, bool *overlaps)
{
    struct io_view v = {.file_filetype = t};
    struct io_walk w;
    struct io_run run;
    bool may_overlap = f->amode & GW_MODE_RDONLY;
    int64_t end = 0, begin = 0;
    if (t->size == 0) return GW_OK;
    if (t->true_lb < 0)
        return gw_fail(GW_EARG, "%s has a displacement of %lld; in a file none may be negative", what, (long long)t->true_lb);
    if (t->extent < 0)
        return gw_fail(GW_EARG, "%s has an extent of %lld; in a file it must not be negative", what, (long long)t->extent);
    int rc = io_walk_begin(&w, &v, 0, t->size);
    if (rc != GW_OK) return rc;
    while (io_walk_next(&w, &run)) {
        if (run.at < (may_overlap ? begin : end))
            return gw_fail(GW_EARG, "%s goes back from byte %lld to byte %lld; in a file displacements must not decrease%s", what,
                           (long long)(may_overlap ? begin : end), (long long)run.at, may_overlap ? "" : " or overlap");
        *overlaps |= run.at < end;
        begin = run.at;
        end = gw_max64(end, run.at + run.bytes);
    }
    return GW_OK;
}

/* Checks the displacement of the user, and finds the one of MPI_DISPLACEMENT_CURRENT. */
static int disp_check(struct gw_file *f, int64_t *disp)
{
    if (f->amode & GW_MODE_SEQUENTIAL) {
        if (*disp != GW_DISPLACEMENT_CURRENT)
            return gw_fail(GW_EARG, "disp is %lld; of a file opened with MPI_MODE_SEQUENTIAL it must be MPI_DISPLACEMENT_CURRENT",
                           (long long)*disp);
        int64_t at = 0;
        int rc = io_shared_get(f, &at);
        return rc == GW_OK ? io_offset_byte(&f->view, at * f->view.file_etype->size, disp) : rc;
    }
    if (*disp == GW_DISPLACEMENT_CURRENT)
        return gw_fail(GW_EARG, "disp is MPI_DISPLACEMENT_CURRENT, which is for files opened with MPI_MODE_SEQUENTIAL");
    return *disp >= 0 ? GW_OK : gw_fail(GW_EARG, "disp is %lld; it must not be negative", (long long)*disp);
}

static int view_make(struct gw_file *f, struct io_view *v, const char *rep)
{
    v->rep = io_rep_find(rep);
    if (!v->rep)
        return gw_fail(GW_EDATAREP,
                       "datarep is \"%.64s\"; native, internal, external32 and those of MPI_Register_datarep are known", rep);
    if (v->etype->size <= 0) return gw_fail(GW_ETYPE, "etype is %s, which has no data", type_name(v->etype));
    if (v->filetype->size % v->etype->size)
        return gw_fail(GW_ETYPE, "filetype has %lld bytes, which is no whole number of etypes of %lld",
                       (long long)v->filetype->size, (long long)v->etype->size);
    int rc = disp_check(f, &v->disp);
    if (rc == GW_OK) rc = io_rep_type(v->rep, v->etype, &v->file_etype);
    if (rc == GW_OK) rc = io_rep_type(v->rep, v->filetype, &v->file_filetype);
    if (rc == GW_OK) rc = displacements_check(f, "etype", v->file_etype, &v->overlaps);
    if (rc == GW_OK) rc = displacements_check(f, "filetype", v->file_filetype, &v->overlaps);
    return rc;
}

int io_set_view(struct gw_file *f, int64_t disp, struct gw_type *etype, struct gw_type *filetype, const char *rep,
                struct gw_info *info)
{
    struct io_view v = {.disp = disp, .etype = type_hold(etype), .filetype = type_hold(filetype)};
    /* disp may be the position of the shared file pointer once all ranks are in this call. */
    int rc = f->amode & GW_MODE_SEQUENTIAL ? io_enter(f, IO_SET_VIEW, GW_OK) : GW_OK;
    if (rc == GW_OK) rc = view_make(f, &v, rep);
    rc = io_enter_same(f, IO_SET_VIEW, rc, etype->extent, "the extent of etype");
    if (rc == GW_OK && f->comm->rank == 0) io_shared_set(f, 0); /* all ranks are in this call */
    if (rc == GW_OK) rc = io_hints_change(f, info);
    if (rc != GW_OK) {
        io_view_release(&v);
        return rc;
    }
    io_view_release(&f->view);
    f->view = v;
    atomic_store(&f->position, 0);
    return GW_OK;
}

int io_get_view(struct gw_file *f, int64_t *disp_out, struct gw_type **etype_out, struct gw_type **filetype_out, char *rep_out)
{
    const struct io_view *v = &f->view;
    int rc = type_handle_add(v->etype);
    if (rc == GW_OK) rc = type_handle_add(v->filetype);
    if (rc != GW_OK) return rc;
    *disp_out = v->disp;
    *etype_out = v->etype;
    *filetype_out = v->filetype;
    strcpy(rep_out, v->rep->name);
    return GW_OK;
}

int io_get_type_extent(struct gw_file *f, struct gw_type *t, int64_t *extent_out)
{
    struct gw_type *there;
    int rc = io_rep_type(f->view.rep, t, &there);
    if (rc != GW_OK) return rc;
    *extent_out = there->extent;
    type_release(there);
    return GW_OK;
}

/* ---- file pointers ---------------------------------------------------------------------------------------------------- */
int io_not_sequential(const struct gw_file *f)
{
    if (!(f->amode & GW_MODE_SEQUENTIAL)) return GW_OK;
    return gw_fail(GW_EUNSUPPORTED, "%s was opened with MPI_MODE_SEQUENTIAL: it is read and written where its shared pointer is",
                   f->name);
}

int io_get_byte_offset(struct gw_file *f, int64_t offset, int64_t *disp_out)
{
    int64_t pos;
    int rc = io_not_sequential(f);
    if (rc != GW_OK) return rc;
    if (offset < 0) return gw_fail(GW_EARG, "offset is %lld; it must not be negative", (long long)offset);
    if (__builtin_mul_overflow(offset, f->view.file_etype->size, &pos)) return too_far();
    return io_offset_byte(&f->view, pos, disp_out);
}

int io_seek_place(struct gw_file *f, int64_t offset, int whence, int64_t now, int64_t *to_out)
{
    int64_t from = 0, size, to, etype = f->view.file_etype->size;
    if (whence == GW_SEEK_CUR) {
        from = now;
    } else if (whence == GW_SEEK_END) {
        int rc = io_get_size(f, &size);
        if (rc != GW_OK) return rc;
        from = (io_view_before(&f->view, 0, INT64_MAX, size) + etype - 1) / etype;
    } else if (whence != GW_SEEK_SET) {
        return gw_fail(GW_EARG, "whence is %d; it must be MPI_SEEK_SET, MPI_SEEK_CUR or MPI_SEEK_END", whence);
    }
    if (__builtin_add_overflow(from, offset, &to) || to < 0)
        return gw_fail(GW_EARG, "offset %lld from %lld lies before the begin of the view", (long long)offset, (long long)from);
    *to_out = to;
    return GW_OK;
}

int io_seek(struct gw_file *f, int64_t offset, int whence)
{
    int64_t to;
    int rc = io_not_sequential(f);
    if (rc == GW_OK) rc = io_seek_place(f, offset, whence, atomic_load(&f->position), &to);
    if (rc == GW_OK) atomic_store(&f->position, to);
    return rc;
}

int io_get_position(struct gw_file *f, int64_t *offset_out)
{
    int rc = io_not_sequential(f);
    if (rc == GW_OK) *offset_out = atomic_load(&f->position);
    return rc;
}
