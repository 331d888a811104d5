/* access.c -- data access calls: checks, positions, conversion.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "io/io_private.h"
#include "base/event.h"
#include "base/time.h"

#include <stdlib.h>

enum { CONVERT_BYTES = 4 << 20 };

/* ---- conversion ----------------------------------------------------------------------------------------------------------- */
/* Converts the first `got` bytes of an item that the end of the file cuts.  The rest of the item stays as it is in memory. */
static int read_part(const struct io_rep *rep, char *stage, int64_t got, int64_t each, char *item, struct gw_type *t)
{
    assert(got > 0 && got < each);
    char *whole = malloc((size_t)each);
    if (!whole) return gw_fail(GW_ENOMEM, "no memory to convert an item of %lld bytes", (long long)each);
    int rc = io_rep_write(rep, item, 1, t, whole, each);
    if (rc == GW_OK) {
        memcpy(whole, stage, (size_t)got);
        rc = io_rep_read(rep, whole, each, item, 1, t);
    }
    free(whole);
    return rc;
}

/* Converts the first k bytes of the stage into items of buf. */
static int unstage(const struct io_rep *rep, char *stage, int64_t k, int64_t each, char *buf, struct gw_type *t)
{
    assert(each > 0 && k >= 0);
    int64_t items = k / each, rest = k % each;
    int rc = items > 0 ? io_rep_read(rep, stage, items * each, buf, items, t) : GW_OK;
    if (rc == GW_OK && rest > 0) rc = read_part(rep, stage + items * each, rest, each, buf + items * t->extent, t);
    return rc;
}

/* The number of bytes in memory that k bytes of the file are. */
static int64_t in_memory(int64_t k, int64_t each, const struct gw_type *t)
{
    assert(each > 0);
    return k / each * t->size + k % each * t->size / each;
}

/* The items between memory and the stage, which holds what the file has of them: `each` bytes of each. */
static int convert_some(struct gw_file *f, const struct io_data *d, char *stage, int64_t each, int64_t *moved_out)
{
    int64_t k = 0, bytes = d->data.count * each;
    int rc = d->write ? io_rep_write(f->view.rep, d->data.buf, d->data.count, d->data.type, stage, bytes) : GW_OK;
    if (rc == GW_OK) rc = io_move(f, d->write, d->pos, stage, bytes, gw_type_byte, &k);
    if (!d->write) {
        int failed = unstage(f->view.rep, stage, k, each, d->data.buf, d->data.type);
        if (rc == GW_OK) rc = failed;
    }
    *moved_out = k;
    return rc;
}

/* Converts and moves in pieces of whole items; *moved_out: bytes of memory. */
static int convert(struct gw_file *f, bool write, int64_t pos, const void *buf, int64_t count, struct gw_type *t,
                   int64_t *moved_out)
{
    int64_t each, done = 0, k = 0;
    int rc = io_rep_bytes(f->view.rep, t, &each);
    if (rc != GW_OK || each == 0) return rc;
    int64_t piece = gw_min64(gw_max64(CONVERT_BYTES / each, 1), count);
    char *stage = malloc((size_t)(piece * each));
    if (!stage) return gw_fail(GW_ENOMEM, "no memory to convert %lld bytes", (long long)(piece * each));
    while (rc == GW_OK && done < count) {
        int64_t n = gw_min64(piece, count - done);
        char *at = (char *)(uintptr_t)((uintptr_t)buf + (uintptr_t)(done * t->extent));
        struct io_data some = {write, pos + done * each, gw_data_host(at, n, t)};
        rc = convert_some(f, &some, stage, each, &k);
        *moved_out += in_memory(k, each, t);
        done += n;
        if (k < n * each) break;
    }
    free(stage);
    return rc;
}

int io_stage(struct gw_file *f, const struct io_data *d, char **stage_out, int64_t *each_out)
{
    int64_t each = 0, bytes = 0;
    char *stage = NULL;
    int rc = io_rep_bytes(f->view.rep, d->data.type, &each);
    if (rc == GW_OK && __builtin_mul_overflow(d->data.count, each, &bytes))
        rc = gw_fail(GW_ECOUNT, "the data are more than 2^63 bytes");
    if (rc == GW_OK && bytes > 0 && !(stage = malloc((size_t)bytes)))
        rc = gw_fail(GW_ENOMEM, "no memory to convert %lld bytes", (long long)bytes);
    if (rc == GW_OK && d->write && bytes > 0)
        rc = io_rep_write(f->view.rep, d->data.buf, d->data.count, d->data.type, stage, bytes);
    *stage_out = stage;
    *each_out = each;
    return rc;
}

int io_unstage(struct gw_file *f, const struct io_data *d, char *stage, int64_t each, int64_t k, int64_t *moved_out)
{
    *moved_out = each > 0 ? in_memory(k, each, d->data.type) : 0;
    return !d->write && k > 0 ? unstage(f->view.rep, stage, k, each, d->data.buf, d->data.type) : GW_OK;
}

/* The same as a collective access, in one piece. */
static int convert_all(struct gw_file *f, const struct io_data *d, int64_t *moved_out)
{
    int64_t each, k = 0;
    char *stage;
    int rc = io_agree(f, io_stage(f, d, &stage, &each));
    struct io_data raw = {d->write, d->pos, gw_data_plain(stage, d->data.count * each, gw_type_byte)};
    if (rc == GW_OK) rc = io_all_move(f, &raw, &k);
    int failed = io_unstage(f, d, stage, each, rc == GW_OK || d->write ? k : 0, moved_out);
    free(stage);
    return rc == GW_OK ? failed : rc;
}

/* ---- calls ---------------------------------------------------------------------------------------------------------------- */
static int access_check(const struct gw_file *f, int how, int64_t count, struct gw_type *t)
{
    int64_t bytes;
    int rc = how & (IO_AT | IO_OWN) ? io_not_sequential(f) : GW_OK;
    if (rc != GW_OK) return rc;
    if (how & IO_WRITE && f->amode & GW_MODE_RDONLY) return gw_fail(GW_EREADONLY, "%s was opened with MPI_MODE_RDONLY", f->name);
    if (!(how & IO_WRITE) && f->amode & GW_MODE_WRONLY)
        return gw_fail(GW_EACCESSMODE, "%s was opened with MPI_MODE_WRONLY", f->name);
    if (__builtin_mul_overflow(count, t->size, &bytes)) return gw_fail(GW_ECOUNT, "the data are more than 2^63 bytes");
    if (bytes % f->view.etype->size)
        return gw_fail(GW_ETYPE, "%lld items of %s are %lld bytes, which is no whole number of the view's etypes of %lld",
                       (long long)count, type_name(t), (long long)bytes, (long long)f->view.etype->size);
    return GW_OK;
}

/* Sets *offset to the position of the access, in etypes; a file pointer moves by the size of the access. */
static int place(struct gw_file *f, int how, int64_t *offset, int64_t etypes)
{
    assert(etypes >= 0);
    if (how & IO_SHARED) return io_shared_take(f, etypes, offset);
    if (how & IO_OWN) *offset = atomic_fetch_add(&f->position, etypes);
    return GW_OK;
}

static int offset_check(const struct gw_file *f, int64_t offset, int64_t *pos_out)
{
    if (offset < 0) return gw_fail(GW_EARG, "offset is %lld; it must not be negative", (long long)offset);
    if (__builtin_mul_overflow(offset, f->view.file_etype->size, pos_out))
        return gw_fail(GW_EARG, "offset is %lld, which is beyond 2^63 bytes", (long long)offset);
    return GW_OK;
}

static int transfer(struct gw_file *f, bool write, int64_t offset, const void *buf, int64_t count, struct gw_type *t,
                    int64_t *moved_out)
{
    int64_t pos = 0;
    int rc = offset_check(f, offset, &pos);
    if (rc != GW_OK) return rc;
    if (f->view.rep->kind == IO_REP_PLAIN) return io_move(f, write, pos, buf, count, t, moved_out);
    return convert(f, write, pos, buf, count, t, moved_out);
}

/* An independent access. */
static int alone(struct gw_file *f, int how, int64_t offset, const void *buf, int64_t count, struct gw_type *t, int64_t *moved_out)
{
    int rc = access_check(f, how, count, t);
    if (rc != GW_OK) return rc;
    rc = place(f, how, &offset, count * t->size / f->view.etype->size);
    return rc != GW_OK ? rc : transfer(f, how & IO_WRITE, offset, buf, count, t, moved_out);
}

/* A collective access.  Every step that may fail ends with an agreement, so that no rank waits for one that has returned. */
static int all(struct gw_file *f, int how, int64_t offset, const void *buf, int64_t count, struct gw_type *t, int64_t *moved_out)
{
    int64_t pos = 0;
    bool write = how & IO_WRITE;
    int rc = access_check(f, how, count, t);
    if (rc == GW_OK) rc = offset_check(f, how & IO_AT ? offset : 0, &pos);
    rc = io_enter(f, how, rc);
    if (rc != GW_OK) return rc;
    int64_t etypes = count * t->size / f->view.etype->size;
    if (how & IO_SHARED) {
        io_clock(f, IO_T_COLL);
        rc = io_shared_order(f, etypes, &offset);
        io_clock(f, IO_T_FILE);
        return rc == GW_OK ? io_agree(f, transfer(f, write, offset, buf, count, t, moved_out)) : rc;
    }
    rc = place(f, how, &offset, etypes);
    rc = io_agree(f, rc == GW_OK ? offset_check(f, offset, &pos) : rc);
    if (rc != GW_OK) return rc;
    struct io_data d = {write, pos, gw_data_host(buf, count, t)};
    return f->view.rep->kind == IO_REP_PLAIN ? io_all_move(f, &d, moved_out) : convert_all(f, &d, moved_out);
}

static int no_split(const struct gw_file *f)
{
    return f->split < 0 ? GW_OK : gw_fail(GW_EIO, "%s has a split collective that was begun and not ended", f->name);
}

/* A collective access that starts and does not wait for other ranks. */
static int started(struct gw_file *f, int how, int64_t offset, const void *buf, int64_t count, struct gw_type *t,
                   struct gw_req **req_out)
{
    struct io_data d = {how & IO_WRITE, 0, gw_data_host(buf, count, t)};
    int rc = no_split(f); /* the same result on every rank */
    if (rc != GW_OK) return rc;
    rc = access_check(f, how, count, t);
    if (rc == GW_OK) rc = offset_check(f, how & IO_AT ? offset : 0, &d.pos);
    if (rc == GW_OK) rc = place(f, how, &offset, count * t->size / f->view.etype->size);
    if (rc == GW_OK) rc = offset_check(f, offset, &d.pos);
    return io_start(f, how, rc, &d, req_out);
}

/* apart: a collective call that is performed as independent accesses. */
static int access_any(struct gw_file *f, int how, bool apart, int64_t offset, const void *buf, int64_t count, struct gw_type *t,
                      int64_t *moved_out)
{
    bool together = how & IO_ALL, write = how & IO_WRITE;
    int rc = together ? no_split(f) : GW_OK;
    if (rc != GW_OK) return rc;
    io_count_add(f, write, together ? IO_CALLS_ALL : IO_CALLS_ALONE, 1);
    io_clock_enter(f, write, together ? IO_T_OTHER : IO_T_FILE);
    bool tell = gw_event_wanted(GW_EVENT_FILE);
    uint64_t since = tell ? gw_now_ns() : 0;
    rc = together && !apart ? all(f, how, offset, buf, count, t, moved_out) : alone(f, how, offset, buf, count, t, moved_out);
    io_clock(f, IO_T_COMPUTE);
    if (tell) gw_event_raise(GW_EVENT_FILE, true, f->obj.id, write + 2 * together, *moved_out, (int64_t)(gw_now_ns() - since));
    return rc;
}

/* Makes a completed request. */
static int request_make(struct gw_file *f, int64_t moved, struct gw_req **req_out)
{
    assert(moved >= 0);
    struct gw_lane *lane = f->comm->lane;
    gw_lock(&lane->lock);
    struct gw_req *r = req_new(lane, REQ_GENERAL);
    if (r) {
        gw_status_fill(&r->status, GW_ANY_SOURCE, GW_ANY_TAG, moved, false);
        r->err = GW_OK;
        req_complete(r);
        *req_out = r;
    }
    gw_unlock(&lane->lock);
    return r ? GW_OK : GW_ENOMEM;
}

int io_access(struct gw_file *f, int how, int64_t offset, const void *buf, int64_t count, struct gw_type *t,
              struct gw_status *status, struct gw_req **req_out)
{
    int64_t moved = 0;
    bool starts = how & IO_ALL && req_out;
    if (starts && f->comm->size > 1) return started(f, how, offset, buf, count, t, req_out);
    int rc = access_any(f, how, starts, offset, buf, count, t, &moved);
    if (status) gw_status_fill(status, GW_ANY_SOURCE, GW_ANY_TAG, moved, false); /* the status is set also after a failure */
    return rc == GW_OK && req_out ? request_make(f, moved, req_out) : rc;
}

int io_begin(struct gw_file *f, int how, int64_t offset, const void *buf, int64_t count, struct gw_type *t)
{
    int64_t moved = 0;
    int rc = access_any(f, how | IO_BEGUN, false, offset, buf, count, t, &moved);
    if (rc != GW_OK) return rc;
    f->split = how;
    f->split_moved = moved;
    return GW_OK;
}

int io_end(struct gw_file *f, int how, struct gw_status *status)
{
    if (f->split < 0) return gw_fail(GW_EIO, "no split collective has begun on %s", f->name);
    if (f->split != how)
        return gw_fail(GW_EIO, "another split collective has begun on %s than the one that this call ends", f->name);
    f->split = -1;
    if (status) gw_status_fill(status, GW_ANY_SOURCE, GW_ANY_TAG, f->split_moved, false);
    return GW_OK;
}
