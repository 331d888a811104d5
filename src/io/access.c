/* access.c -- data access calls: what may be done, where, and with which conversion.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "io/io_private.h"

#include <stdlib.h>

enum { CONVERT_BYTES = 4 << 20 };

/* ---- conversion ----------------------------------------------------------------------------------------------------------- */
/* The end of the file cut an item: its first bytes.  The others keep what is in memory. */
static int read_part(const struct io_rep *rep, char *stage, int64_t got, int64_t each, char *item, struct gw_type *t)
{
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

/* n items between memory and the stage, which holds what the file has of them. */
static int convert_some(struct gw_file *f, bool write, int64_t pos, char *buf, int64_t n, struct gw_type *t,
                        int64_t each, char *stage, int64_t *moved_out)
{
    int64_t k = 0;
    int rc = write ? io_rep_write(f->view.rep, buf, n, t, stage, n * each) : GW_OK;
    if (rc == GW_OK) rc = io_move(f, write, pos, stage, n * each, gw_type_byte, &k);
    int64_t items = k / each, rest = k % each;
    if (!write && items > 0) {
        int failed = io_rep_read(f->view.rep, stage, items * each, buf, items, t);
        rc = rc == GW_OK ? failed : rc;
    }
    if (!write && rest > 0 && rc == GW_OK)
        rc = read_part(f->view.rep, stage + items * each, rest, each, buf + items * t->extent, t);
    *moved_out = k;
    return rc;
}

/* In pieces of whole items; *moved_out counts bytes as they are in memory. */
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
        rc = convert_some(f, write, pos + done * each, at, n, t, each, stage, &k);
        *moved_out += k / each * t->size + k % each * t->size / each;
        done += n;
        if (k < n * each) break;
    }
    free(stage);
    return rc;
}

/* ---- calls ---------------------------------------------------------------------------------------------------------------- */
static int access_check(const struct gw_file *f, int how, int64_t count, struct gw_type *t)
{
    int64_t bytes;
    if (how & (IO_AT | IO_OWN) && f->amode & GW_MODE_SEQUENTIAL)
        return gw_fail(GW_EUNSUPPORTED, "%s was opened with MPI_MODE_SEQUENTIAL: only the shared file pointer is used",
                       f->name);
    if (how & IO_WRITE && f->amode & GW_MODE_RDONLY)
        return gw_fail(GW_EREADONLY, "%s was opened with MPI_MODE_RDONLY", f->name);
    if (!(how & IO_WRITE) && f->amode & GW_MODE_WRONLY)
        return gw_fail(GW_EACCESSMODE, "%s was opened with MPI_MODE_WRONLY", f->name);
    if (__builtin_mul_overflow(count, t->size, &bytes)) return gw_fail(GW_ECOUNT, "the data are more than 2^63 bytes");
    if (bytes % f->view.etype->size)
        return gw_fail(GW_ETYPE,
                       "%lld items of %s are %lld bytes, which is no whole number of the view's etypes of %lld",
                       (long long)count, type_name(t), (long long)bytes, (long long)f->view.etype->size);
    return GW_OK;
}

/* The place of the access, in etypes; a file pointer moves on by what is asked for. */
static int64_t place(struct gw_file *f, int how, int64_t offset, int64_t etypes)
{
    return how & IO_OWN ? atomic_fetch_add(&f->position, etypes) : offset;
}

static int transfer(struct gw_file *f, bool write, int64_t offset, const void *buf, int64_t count, struct gw_type *t,
                    int64_t *moved_out)
{
    int64_t pos;
    if (offset < 0) return gw_fail(GW_EARG, "offset is %lld; it must not be negative", (long long)offset);
    if (__builtin_mul_overflow(offset, f->view.file_etype->size, &pos))
        return gw_fail(GW_EARG, "offset is %lld, which is beyond 2^63 bytes", (long long)offset);
    if (f->view.rep->kind == IO_REP_PLAIN) return io_move(f, write, pos, buf, count, t, moved_out);
    return convert(f, write, pos, buf, count, t, moved_out);
}

/* A request that is complete. */
static int request_make(struct gw_file *f, const struct gw_status *status, struct gw_req **req_out)
{
    struct gw_lane *lane = f->comm->lane;
    gw_lock(&lane->lock);
    struct gw_req *r = req_new(lane, REQ_GENERAL);
    if (r) {
        r->status = *status;
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
    struct gw_status result;
    int rc = access_check(f, how, count, t);
    if (rc == GW_OK) {
        offset = place(f, how, offset, count * t->size / f->view.etype->size);
        rc = transfer(f, how & IO_WRITE, offset, buf, count, t, &moved);
    }
    memset(&result, 0, sizeof result);
    gw_status_fill(&result, GW_ANY_SOURCE, GW_ANY_TAG, moved, false);
    if (status) gw_status_fill(status, GW_ANY_SOURCE, GW_ANY_TAG, moved, false); /* also of what failed */
    return rc == GW_OK && req_out ? request_make(f, &result, req_out) : rc;
}
