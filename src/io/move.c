/* move.c -- one rank's data between memory and the runs of the file: pread and pwrite, data sieving, locks of byte ranges.
 *
 * Small runs of a read go by sieving: one read of all that lies between, from which the pieces are taken.  Writes are sieved only
 * where the user asks for it, since it writes back what others may have changed: then every write of the file locks its bytes.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "io/io_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    VECTOR = 256,        /* pieces of memory of one call */
    SMALL_PIECES = 1024, /* bytes of a piece of memory below which packing them first is cheaper */
    STAGE_MAX = 4 << 20,
    BATCH = 256,        /* runs of one sieve */
    DIRECT_UNIT = 4096, /* of places, lengths and addresses past the page cache: no disk has larger blocks */
    GAP_MAX = 16 << 10, /* bytes that are read in less time than another call takes */
};

struct mover {
    struct gw_file *f;
    bool write;
    struct type_cursor mem;
    struct io_walk walk;
    struct io_run pending; /* bytes 0: none */
    char *stage;
    int64_t stage_bytes;
    int64_t moved;
};

/* ---- system calls --------------------------------------------------------------------------------------------------------- */
/* Where hint direct_io asks for it and the kernel is likely to take it: past the page cache. */
static int fd_of(const struct gw_file *f, const struct iovec *iov, int n, int64_t at)
{
    uintptr_t all = (uintptr_t)at;
    if (likely(f->direct_fd < 0)) return f->fd;
    for (int i = 0; i < n; i++) all |= (uintptr_t)iov[i].iov_base | iov[i].iov_len;
    return all % DIRECT_UNIT ? f->fd : f->direct_fd;
}

/* One piece on the fast path: with a vector, which the kernel fetches first, a small access takes a tenth longer. */
static ssize_t once(int fd, bool write, const struct iovec *iov, int n, int64_t at)
{
    if (n == 1) return write ? pwrite(fd, iov->iov_base, iov->iov_len, at) : pread(fd, iov->iov_base, iov->iov_len, at);
    return write ? pwritev(fd, iov, n, at) : preadv(fd, iov, n, at);
}

static int io_once(struct gw_file *f, bool write, struct iovec *iov, int n, int64_t at, int64_t *moved_out)
{
    ssize_t k;
    int failed, fd = fd_of(f, iov, n, at);
    do {
        k = once(fd, write, iov, n, at);
        failed = k < 0 ? errno : 0; /* counting may change it */
        io_count_call(f, write, at, k);
        if (failed == EINVAL && fd != f->fd) { /* the device wants larger pieces */
            fd = f->fd;
            failed = EINTR;
        }
    } while (failed == EINTR);
    if (failed) return io_fail(failed, write ? "writing" : "reading", f->name);
    *moved_out = k;
    return GW_OK;
}

/* All of it or an error, or for a read the end of the file.  iov is changed. */
static int move_vector(struct gw_file *f, bool write, struct iovec *iov, int n, int64_t at, int64_t *moved_out)
{
    int64_t k = 0, all = 0;
    int rc = GW_OK;
    while (n > 0) {
        rc = io_once(f, write, iov, n, at + all, &k);
        if (rc == GW_OK && k == 0 && write) rc = gw_fail(GW_EIO, "writing %s: the file takes no more", f->name);
        if (rc != GW_OK || k == 0) break;
        all += k;
        for (; n > 0 && k >= (int64_t)iov->iov_len; n--, iov++) k -= (int64_t)iov->iov_len;
        if (n > 0) *iov = (struct iovec){(char *)iov->iov_base + k, iov->iov_len - (size_t)k};
    }
    *moved_out = all;
    return rc;
}

static int move_bytes(struct gw_file *f, bool write, void *buf, int64_t bytes, int64_t at, int64_t *moved_out)
{
    assert(bytes >= 0 && at >= 0);
    struct iovec iov = {buf, (size_t)bytes};
    *moved_out = 0;
    return bytes ? move_vector(f, write, &iov, 1, at, moved_out) : GW_OK;
}

/* ---- locks ---------------------------------------------------------------------------------------------------------------- */
/* Locks of the open file, not of the process: those of the process would vanish when any descriptor of the file is closed. */
static int range(struct gw_file *f, short type, int64_t at, int64_t bytes)
{
    struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = bytes};
    int rc;
    do rc = fcntl(f->fd, F_OFD_SETLKW, &l);
    while (rc != 0 && errno == EINTR);
    return rc == 0 ? GW_OK : io_fail(errno, "locking", f->name);
}

/* Bytes of the file that no other open file touches meanwhile. */
static int range_lock(struct gw_file *f, bool write, int64_t at, int64_t bytes)
{
    assert(bytes >= 0);
    gw_lock(&f->range);
    int rc = range(f, write ? F_WRLCK : F_RDLCK, at, bytes);
    if (rc != GW_OK) gw_unlock(&f->range);
    return rc;
}

static void range_unlock(struct gw_file *f, int64_t at, int64_t bytes)
{
    range(f, F_UNLCK, at, bytes);
    gw_unlock(&f->range);
}

/* ---- one run -------------------------------------------------------------------------------------------------------------- */
static int stage_need(struct mover *m, int64_t bytes)
{
    assert(bytes > 0);
    if (bytes <= m->stage_bytes) return GW_OK;
    free(m->stage);
    m->stage = malloc((size_t)bytes);
    m->stage_bytes = m->stage ? bytes : 0;
    return m->stage ? GW_OK : gw_fail(GW_ENOMEM, "no memory for a buffer of %lld bytes", (long long)bytes);
}

/* Many small pieces of memory: by way of the stage. */
static int run_staged(struct mover *m, int64_t at, int64_t bytes, int64_t *moved_out)
{
    int rc = stage_need(m, bytes);
    if (rc != GW_OK) return rc;
    if (m->write) {
        type_cursor_pack(&m->mem, m->stage, bytes);
        return move_bytes(m->f, true, m->stage, bytes, at, moved_out);
    }
    rc = move_bytes(m->f, false, m->stage, bytes, at, moved_out);
    type_cursor_unpack(&m->mem, m->stage, *moved_out);
    return rc;
}

/* GW_POSTED: the file has ended. */
static int run_move(struct mover *m, struct io_run run)
{
    struct iovec iov[VECTOR];
    while (run.bytes > 0) {
        int64_t bytes, k = 0, begin = m->mem.pos;
        int n = type_cursor_iov(&m->mem, iov, VECTOR, run.bytes, &bytes), rc;
        if (n > 8 && bytes / n < SMALL_PIECES) {
            type_cursor_seek(&m->mem, begin);
            bytes = gw_min64(run.bytes, STAGE_MAX);
            rc = run_staged(m, run.at, bytes, &k);
        } else {
            rc = move_vector(m->f, m->write, iov, n, run.at, &k);
        }
        m->moved += k;
        if (rc != GW_OK) return rc;
        if (k < bytes) return GW_POSTED;
        run.at += bytes;
        run.bytes -= bytes;
    }
    return GW_OK;
}

/* ---- sieving -------------------------------------------------------------------------------------------------------------- */
static bool next(struct mover *m, struct io_run *run_out)
{
    if (m->pending.bytes) {
        *run_out = m->pending;
        m->pending.bytes = 0;
        return true;
    }
    return io_walk_next(&m->walk, run_out);
}

/* The next runs that go by one sieve, or one run. */
static int batch(struct mover *m, struct io_run *runs)
{
    const struct io_hints *h = &m->f->hints;
    int choice = m->write ? h->sieve_write : h->sieve_read, n = 0;
    int64_t buffer = m->write ? h->write_buffer : h->read_buffer;
    int64_t gap_max = choice == IO_ENABLE ? buffer : GAP_MAX;
    if (!next(m, &runs[n++])) return 0;
    if (choice == IO_DISABLE || (m->write && choice != IO_ENABLE)) return n;
    while (n < BATCH && next(m, &m->pending)) {
        const struct io_run *last = &runs[n - 1], *r = &m->pending;
        int64_t gap = r->at - (last->at + last->bytes);
        if (gap < 0 || gap > gap_max || r->at + r->bytes - runs[0].at > buffer) break;
        runs[n++] = *r;
        m->pending.bytes = 0;
    }
    return n;
}

static int sieve_read(struct mover *m, const struct io_run *runs, int n)
{
    assert(n > 0 && n <= BATCH);
    int64_t from = runs[0].at, bytes = runs[n - 1].at + runs[n - 1].bytes - from, got = 0;
    int rc = stage_need(m, bytes);
    if (rc == GW_OK) rc = move_bytes(m->f, false, m->stage, bytes, from, &got);
    if (rc != GW_OK) return rc;
    for (int i = 0; i < n; i++) {
        int64_t at = runs[i].at - from, part = gw_max64(gw_min64(got - at, runs[i].bytes), 0);
        m->moved += type_cursor_unpack(&m->mem, m->stage + at, part);
        if (part < runs[i].bytes) return GW_POSTED;
    }
    return GW_OK;
}

static int sieve_write(struct mover *m, const struct io_run *runs, int n)
{
    assert(n > 0 && n <= BATCH);
    int64_t from = runs[0].at, bytes = runs[n - 1].at + runs[n - 1].bytes - from, k = 0;
    int rc = stage_need(m, bytes);
    if (rc == GW_OK) rc = move_bytes(m->f, false, m->stage, bytes, from, &k);
    if (rc != GW_OK) return rc;
    io_count_add(m->f, true, IO_REWRITES, 1);
    io_count_add(m->f, true, IO_REWRITE_BYTES, k);
    memset(m->stage + k, 0, (size_t)(bytes - k)); /* beyond the end, where a hole reads as zeros */
    for (int i = 0; i < n; i++) type_cursor_pack(&m->mem, m->stage + (runs[i].at - from), runs[i].bytes);
    rc = move_bytes(m->f, true, m->stage, bytes, from, &k);
    for (int i = 0; i < n; i++) m->moved += gw_max64(gw_min64(k - (runs[i].at - from), runs[i].bytes), 0);
    return rc;
}

/* Where pieces may be written back that others write, and where only locks make ranks on other machines see them. */
static bool must_lock(const struct gw_file *f, bool write) { return f->lock_all || (write && f->hints.sieve_write == IO_ENABLE); }

static int batch_move(struct mover *m, const struct io_run *runs, int n)
{
    int64_t bytes = runs[n - 1].at + runs[n - 1].bytes - runs[0].at;
    bool lock = must_lock(m->f, m->write) && !m->f->atomic; /* in atomic mode the whole access is locked */
    int rc = lock ? range_lock(m->f, m->write, runs[0].at, bytes) : GW_OK;
    if (rc != GW_OK) return rc;
    rc = n == 1 ? run_move(m, runs[0]) : m->write ? sieve_write(m, runs, n) : sieve_read(m, runs, n);
    if (lock) range_unlock(m->f, runs[0].at, bytes);
    return rc;
}

int io_move_run(struct gw_file *f, bool write, void *buf, int64_t at, int64_t bytes, int64_t *moved_out)
{
    bool lock = must_lock(f, write);
    *moved_out = 0;
    int rc = io_need_open(f);
    if (rc == GW_OK && lock) rc = range_lock(f, write, at, bytes);
    if (rc != GW_OK) return rc;
    rc = move_bytes(f, write, buf, bytes, at, moved_out);
    if (lock) range_unlock(f, at, bytes);
    return rc;
}

/* ---- an access ------------------------------------------------------------------------------------------------------------ */
static int move_all(struct mover *m)
{
    struct io_run runs[BATCH];
    int rc = GW_OK, n;
    while (rc == GW_OK && (n = batch(m, runs)) > 0) rc = batch_move(m, runs, n);
    return rc == GW_POSTED ? GW_OK : rc;
}

int io_move(struct gw_file *f, bool write, int64_t pos, const void *buf, int64_t count, struct gw_type *t, int64_t *moved_out)
{
    struct mover m; /* not all set to 0: the walk has 2 KiB of runs, and a small access has no time for them */
    int64_t bytes = count * t->size, first = 0, last = 0;
    *moved_out = 0;
    m.f = f;
    m.write = write;
    m.pending.bytes = 0;
    m.stage = NULL;
    m.stage_bytes = m.moved = 0;
    type_cursor_init(&m.mem, gw_data_host(buf, count, t));
    int rc = io_walk_begin(&m.walk, &f->view, pos, bytes);
    if (rc != GW_OK || bytes == 0) return rc;
    rc = io_need_open(f);
    if (rc != GW_OK) return rc;
    if (f->atomic) {
        rc = io_offset_byte(&f->view, pos, &first);
        if (rc == GW_OK) rc = io_offset_byte(&f->view, pos + bytes - 1, &last);
        if (rc == GW_OK) rc = range_lock(f, write, first, last + 1 - first);
        if (rc != GW_OK) return rc;
    }
    rc = move_all(&m);
    if (f->atomic) range_unlock(f, first, last + 1 - first);
    free(m.stage);
    *moved_out = m.moved;
    return rc;
}
