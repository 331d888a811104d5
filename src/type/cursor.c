/* cursor.c -- packs and unpacks: moves bytes between a layout and its packed stream, from any position and of any length.
 *
 * A cursor is only a position in the stream.  Each call descends in the loop program to it, in as many steps as the program is
 * deep (with a binary search where parts differ in size), and then runs the loops.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "type/type_private.h"
#include "base/base.h"
#include "base/copy.h"

enum direction { PACK, UNPACK };

static inline void move_strided(enum direction d, char *mem, int64_t mem_step, char *stream, int64_t step, int64_t n, int64_t bytes)
{
    if (d == PACK)
        type_move_strided(stream, step, mem, mem_step, n, bytes);
    else
        type_move_strided(mem, mem_step, stream, step, n, bytes);
}

/* ---- the walk ------------------------------------------------------------------------------------------------------- */
/* The entry in which stream position `pos` lies: from[i] <= pos < from[i+1]. */
static int64_t find_entry(const int64_t *from, int64_t n, int64_t pos)
{
    int64_t lo = 0, hi = n - 1;
    while (lo < hi) {
        int64_t mid = lo + (hi - lo + 1) / 2;
        if (from[mid] <= pos)
            lo = mid;
        else
            hi = mid - 1;
    }
    assert(from[lo] <= pos && pos < from[lo + 1]);
    return lo;
}

static void walk(enum direction d, const struct type_prog *p, char *mem, char *stream, int64_t skip, int64_t len);

/* Does a node consist of records of a few blocks each (records.c)? */
static bool is_record(const struct type_prog *c)
{
    return c->count <= TYPE_RECORD_BLOCKS && (c->kind == PROG_RUNS || (c->kind == PROG_VECTOR && c->child->kind == PROG_BLOCK));
}

/* Rows of a matrix: runs the inner loop for each row without a walk.  If rows are near each other and their blocks far apart
 * (columns of a matrix), unpacking goes in the order of memory, not of the stream, as stores near each other are faster. */
enum { TILE_BYTES = 512 };
static void move_rows(enum direction d, const struct type_prog *p, char *mem, char *stream, int64_t n)
{
    const struct type_prog *row = p->child, *block = row->child;
    int64_t bytes = block->bytes, apart = p->stride < 0 ? -p->stride : p->stride;
    int64_t far = row->stride < 0 ? -row->stride : row->stride;
    int64_t tile = d == UNPACK && apart < far ? TILE_BYTES / gw_max64(apart, 1) : 0;
    mem = mem_at(mem, row->disp + block->disp);
    if (tile < 8) tile = 1;
    for (int64_t k = 0, m; k < n; k += m, mem = mem_at(mem, m * p->stride), stream += m * row->bytes) {
        m = gw_min64(n - k, tile);
        if (m == 1)
            move_strided(d, mem, row->stride, stream, bytes, row->count, bytes);
        else
            for (int64_t i = 0; i < row->count; i++)
                move_strided(d, mem_at(mem, i * row->stride), p->stride, stream + i * bytes, row->bytes, m, bytes);
    }
}

static void walk_vector(enum direction d, const struct type_prog *p, char *mem, char *stream, int64_t skip, int64_t len)
{
    const struct type_prog *c = p->child;
    int64_t each = c->bytes;
    if (skip > 0) {
        int64_t i = skip / each;
        mem = mem_at(mem, i * p->stride);
        skip -= i * each;
    }
    if (skip > 0) { /* begins within a child */
        int64_t part = gw_min64(each - skip, len);
        walk(d, c, mem, stream, skip, part);
        stream += part;
        len -= part;
        mem = mem_at(mem, p->stride);
    }
    int64_t whole = len == p->bytes ? p->count : len / each;
    if (c->kind == PROG_BLOCK) {
        move_strided(d, mem_at(mem, c->disp), p->stride, stream, each, whole, each);
    } else if (whole >= 2 && is_record(c)) {
        type_move_records(d == PACK, c, mem, p->stride, stream, whole);
    } else if (c->kind == PROG_VECTOR && c->child->kind == PROG_BLOCK) {
        move_rows(d, p, mem, stream, whole);
    } else {
        for (int64_t k = 0; k < whole; k++) walk(d, c, mem_at(mem, k * p->stride), stream + k * each, 0, each);
    }
    if (len > whole * each) walk(d, c, mem_at(mem, whole * p->stride), stream + whole * each, 0, len - whole * each);
}

static void walk_runs(enum direction d, const struct type_prog *p, char *mem, char *stream, int64_t skip, int64_t len)
{
    int64_t i = p->run ? skip / p->run : find_entry(p->from, p->count, skip);
    int64_t start = p->run ? i * p->run : p->from[i];
    while (len > 0) {
        int64_t off = skip - start, bytes = p->run ? p->run : p->from[i + 1] - start;
        if (off == 0 && p->run && len >= bytes) {
            int64_t n = len / bytes;
            type_move_runs(d == PACK, mem, stream, n, p, i);
            i += n;
            bytes *= n;
        } else if (off == 0 && len >= bytes) { /* all whole children */
            int64_t n = find_entry(p->from, p->count, skip + len - 1) - i;
            if (p->from[i + n + 1] == skip + len) n++;
            type_move_lengths(d == PACK, mem, stream, n, p->from + i, p->at + i);
            i += n;
            bytes = p->from[i] - skip;
        } else {
            bytes = gw_min64(bytes - off, len);
            char *at = mem_at(mem, run_at(p, i) + off);
            d == PACK ? memcpy(stream, at, (size_t)bytes) : memcpy(at, stream, (size_t)bytes);
            i++;
        }
        stream += bytes;
        len -= bytes;
        skip += bytes;
        start = skip;
    }
}

static void walk_list(enum direction d, const struct type_prog *p, char *mem, char *stream, int64_t skip, int64_t len)
{
    for (int64_t i = find_entry(p->from, p->count, skip); len > 0; i++) {
        int64_t off = skip - p->from[i], bytes = gw_min64(p->child[i].bytes - off, len);
        walk(d, &p->child[i], mem, stream, off, bytes);
        stream += bytes;
        len -= bytes;
        skip += bytes;
    }
}

/* Moves bytes [skip, skip + len) of the node's stream. */
static void walk(enum direction d, const struct type_prog *p, char *mem, char *stream, int64_t skip, int64_t len)
{
    mem = mem_at(mem, p->disp);
    switch (p->kind) {
    case PROG_BLOCK:
        if (d == PACK)
            memcpy(stream, mem + skip, (size_t)len);
        else
            memcpy(mem + skip, stream, (size_t)len);
        return;
    case PROG_VECTOR: walk_vector(d, p, mem, stream, skip, len); return;
    case PROG_RUNS: walk_runs(d, p, mem, stream, skip, len); return;
    case PROG_LIST: walk_list(d, p, mem, stream, skip, len); return;
    default: return;
    }
}

/* `count` instances as one node.  It may be made in `room`, which must stay valid as long as the node is used. */
static const struct type_prog *whole_buffer(const struct gw_data *d, struct type_prog room[2])
{
    const struct gw_type *t = d->type;
    int64_t count = d->count;
    assert(count > 0 && t->prog->bytes == t->size);
    if (count == 1) return t->prog;
    struct type_prog *one = &room[0], *all = &room[1];
    *one = *t->prog;
    if (one->kind == PROG_BLOCK && t->extent == one->bytes) {
        one->bytes *= count;
        return one;
    }
    if (one->kind == PROG_VECTOR && t->extent == one->count * one->stride) {
        one->count *= count;
        one->bytes *= count;
        return one;
    }
    *all = (struct type_prog){
        .kind = PROG_VECTOR, .disp = one->disp, .bytes = one->bytes * count, .count = count, .stride = t->extent, .child = one};
    one->disp = 0;
    return all;
}

/* Are these n bytes exactly one instance of a plain vector?  This is the most frequent derived type, and needs no walk. */
static inline bool is_one_vector(const struct type_cursor *c, int64_t n)
{
    const struct type_prog *p = c->data.type->prog;
    return c->data.count == 1 && p->kind == PROG_VECTOR && n == p->bytes && p->child->kind == PROG_BLOCK;
}

static int64_t cursor_move(enum direction d, struct type_cursor *c, void *stream, int64_t max)
{
    int64_t n = gw_min64(max, c->data.bytes - c->pos);
    assert(c->pos >= 0 && c->pos <= c->data.bytes);
    if (n <= 0) return 0;
    if (gw_data_is_run(&c->data)) {
        char *mem = c->data.run + c->pos;
        d == PACK ? gw_copy_out(stream, mem, (size_t)n) : gw_copy(mem, stream, (size_t)n);
    } else if (is_one_vector(c, n)) {
        const struct type_prog *p = c->data.type->prog, *block = p->child;
        move_strided(d, mem_at(c->data.buf, p->disp + block->disp), p->stride, stream, block->bytes, p->count, block->bytes);
    } else {
        struct type_prog room[2];
        walk(d, whole_buffer(&c->data, room), c->data.buf, stream, c->pos, n);
    }
    c->pos += n;
    return n;
}

void type_cursor_seek(struct type_cursor *c, int64_t pos)
{
    assert(pos >= 0 && pos <= c->data.bytes);
    c->pos = pos;
}

int64_t type_cursor_pack(struct type_cursor *c, void *out, int64_t max) { return cursor_move(PACK, c, out, max); }

int64_t type_cursor_unpack(struct type_cursor *c, const void *in, int64_t len)
{
    return cursor_move(UNPACK, c, (void *)(uintptr_t)in, len);
}

/* ---- runs of memory --------------------------------------------------------------------------------------------------- */
struct iov_out {
    struct iovec *iov;
    int n, max;
    int64_t left;
};

static bool iov_add(struct iov_out *o, char *mem, int64_t len)
{
    len = gw_min64(len, o->left);
    if (len <= 0) return false;
    struct iovec *last = o->n ? &o->iov[o->n - 1] : NULL;
    if (last && (char *)last->iov_base + last->iov_len == mem) {
        last->iov_len += (size_t)len;
    } else {
        if (o->n == o->max) return false;
        o->iov[o->n++] = (struct iovec){mem, (size_t)len};
    }
    o->left -= len;
    return o->left > 0;
}

/* Adds the runs of a node from stream position `skip` on.  False: the list is full, or has all the bytes wanted. */
static bool iov_walk(struct iov_out *o, const struct type_prog *p, char *mem, int64_t skip)
{
    mem = mem_at(mem, p->disp);
    switch (p->kind) {
    case PROG_BLOCK: return iov_add(o, mem + skip, p->bytes - skip);
    case PROG_VECTOR:
        for (int64_t each = p->child->bytes, i = skip / each, off = skip % each; i < p->count; i++, off = 0)
            if (!iov_walk(o, p->child, mem_at(mem, i * p->stride), off)) return false;
        return true;
    case PROG_RUNS: {
        int64_t i = p->run ? skip / p->run : find_entry(p->from, p->count, skip);
        int64_t off = skip - (p->run ? i * p->run : p->from[i]);
        for (; i < p->count; i++, off = 0) {
            int64_t bytes = p->run ? p->run : p->from[i + 1] - p->from[i];
            if (!iov_add(o, mem_at(mem, run_at(p, i) + off), bytes - off)) return false;
        }
        return true;
    }
    case PROG_LIST: {
        int64_t i = find_entry(p->from, p->count, skip), off = skip - p->from[i];
        for (; i < p->count; i++, off = 0)
            if (!iov_walk(o, &p->child[i], mem, off)) return false;
        return true;
    }
    default: return true;
    }
}

int type_cursor_iov(struct type_cursor *c, struct iovec *iov, int max_iov, int64_t max_bytes, int64_t *bytes_out)
{
    struct iov_out o = {iov, 0, max_iov, gw_min64(max_bytes, c->data.bytes - c->pos)};
    int64_t want = o.left;
    if (want > 0) {
        struct type_prog room[2];
        iov_walk(&o, whole_buffer(&c->data, room), c->data.buf, c->pos);
    }
    assert(o.n >= 0 && o.n <= max_iov && o.left >= 0);
    *bytes_out = want - o.left;
    c->pos += *bytes_out;
    return o.n;
}

/* ---- whole buffers ------------------------------------------------------------------------------------------------------ */
void type_pack(const void *buf, int64_t count, struct gw_type *t, void *out)
{
    struct type_cursor c;
    type_cursor_init(&c, gw_data_host(buf, count, t));
    type_cursor_pack(&c, out, c.data.bytes);
    assert(c.pos == gw_max64(c.data.bytes, 0));
}

void type_unpack(void *buf, int64_t count, struct gw_type *t, const void *in)
{
    struct type_cursor c;
    type_cursor_init(&c, gw_data_host(buf, count, t));
    type_cursor_unpack(&c, in, c.data.bytes);
    assert(c.pos == gw_max64(c.data.bytes, 0));
}

int64_t type_copy(const void *src, int64_t scount, struct gw_type *st, void *dst, int64_t dcount, struct gw_type *dt)
{
    struct type_cursor from, to;
    type_cursor_init(&from, gw_data_host(src, scount, st));
    type_cursor_init(&to, gw_data_host(dst, dcount, dt));
    int64_t n = gw_min64(from.data.bytes, to.data.bytes);
    if (from.data.run) return type_cursor_unpack(&to, from.data.run, n);
    if (to.data.run) return type_cursor_pack(&from, to.data.run, n);
    char piece[4096];
    for (int64_t done = 0, part; done < n; done += part) {
        part = type_cursor_pack(&from, piece, gw_min64((int64_t)sizeof piece, n - done));
        assert(part > 0);
        type_cursor_unpack(&to, piece, part);
    }
    return n;
}
