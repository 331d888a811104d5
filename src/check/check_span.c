/* check_span.c -- memory that a call may touch: does it overlap other memory, did its contents change?
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check/check_private.h"
#include "base/os.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

struct check_span check_span(const void *buf, int64_t count, struct gw_type *t, bool is_written)
{
    struct check_span s = {.buf = buf, .count = count, .type = t, .is_written = is_written};
    int64_t lo, hi;
    if (buf == GW_IN_PLACE || !type_bounds(t, count, &lo, &hi) || lo == hi) return s;
    s.lo = (uintptr_t)buf + (uintptr_t)lo;
    s.hi = (uintptr_t)buf + (uintptr_t)hi;
    return s;
}

void check_span_drop(struct check_span *s)
{
    free(s->sums);
    if (s->owns_type) type_release(s->type);
}

void check_span_forget(struct check_span *s)
{
    free(s->sums);
    s->sums = NULL;
}

/* ---- exact overlap: the runs of both, in the order of their addresses ---- */
enum { RUNS_MAX = 1 << 20 }; /* of more than so many, overlap is not looked for */
struct run {
    uintptr_t lo, hi;
};
struct runs {
    struct run *v;
    size_t n, room;
    bool sorted;
};

static bool runs_of(const struct check_span *s, struct runs *out)
{
    struct type_cursor c;
    struct iovec iov[64];
    int64_t bytes;
    *out = (struct runs){.sorted = true};
    type_cursor_init(&c, gw_data_host(s->buf, s->count, s->type));
    for (int n; (n = type_cursor_iov(&c, iov, 64, INT64_MAX, &bytes)) > 0;) {
        for (int i = 0; i < n; i++) {
            uintptr_t lo = (uintptr_t)iov[i].iov_base, hi = lo + iov[i].iov_len;
            if (out->n > 0 && out->v[out->n - 1].hi == lo) {
                out->v[out->n - 1].hi = hi;
                continue;
            }
            if (out->n == RUNS_MAX) return false;
            if (out->n == out->room) out->v = gw_xrealloc(out->v, (out->room = 2 * out->room + 64) * sizeof *out->v);
            out->sorted = out->sorted && (out->n == 0 || out->v[out->n - 1].lo <= lo);
            out->v[out->n++] = (struct run){lo, hi};
        }
    }
    return true;
}

static int by_address(const void *a, const void *b)
{
    const struct run *x = a, *y = b;
    return x->lo < y->lo ? -1 : x->lo > y->lo;
}

static bool runs_overlap(struct runs *a, struct runs *b, uintptr_t *at_out)
{
    if (!a->sorted) qsort(a->v, a->n, sizeof *a->v, by_address);
    if (!b->sorted) qsort(b->v, b->n, sizeof *b->v, by_address);
    for (size_t i = 0, k = 0; i < a->n && k < b->n;) {
        if (a->v[i].hi <= b->v[k].lo) {
            i++;
        } else if (b->v[k].hi <= a->v[i].lo) {
            k++;
        } else {
            *at_out = a->v[i].lo > b->v[k].lo ? a->v[i].lo : b->v[k].lo;
            return true;
        }
    }
    return false;
}

bool check_span_overlap(const struct check_span *a, const struct check_span *b, uintptr_t *at_out)
{
    struct runs x = {0}, y = {0};
    if (a->hi <= b->lo || b->hi <= a->lo) return false;
    *at_out = a->lo > b->lo ? a->lo : b->lo;
    if (type_is_run(a->type, a->count) && type_is_run(b->type, b->count)) return true;
    bool found = runs_of(a, &x) && runs_of(b, &y) && runs_overlap(&x, &y, at_out);
    free(x.v);
    free(y.v);
    return found;
}

/* ---- contents ---- */
uint64_t check_sum_bytes(uint64_t h, const void *at, size_t n)
{
    const char *p = at;
    for (uint64_t w; n > 0; n -= n < 8 ? n : 8, p += 8) {
        w = 0;
        memcpy(&w, p, n < 8 ? n : 8);
        h = check_sum_word(h, w);
    }
    return h;
}

/* Memory that cannot be read, or not any more, is left alone.  The kernel takes in this call's set of signals, and then finds that it does not
 * know what to do with it: the cheapest call that says whether memory is there to read, and one that no container refuses. */
static bool can_read(uintptr_t at)
{
    enum { DO_NOTHING = -1, SET = 8 };
    return syscall(SYS_rt_sigprocmask, DO_NOTHING, (void *)(at & ~(uintptr_t)(SET - 1)), NULL, (size_t)SET) == 0 || errno != EFAULT;
}

/* Pages that this thread has found readable, while it holds them for so: a call of the system for each of 100,000 buffers is more than the
 * rest of what is done about them. */
enum { PAGES = 256 };
static _Thread_local struct {
    bool is_held;
    uintptr_t at[PAGES];
} pages;

void check_pages_hold(bool afresh)
{
    if (afresh) memset(pages.at, 0, sizeof pages.at);
    pages.is_held = true;
}

void check_pages_let_go(void) { pages.is_held = false; }

static bool page_is_readable(uintptr_t page, uintptr_t at, uintptr_t size)
{
    uintptr_t *known = &pages.at[page / size % PAGES];
    if (pages.is_held && *known == page) return true;
    if (!can_read(at)) return false;
    if (pages.is_held) *known = page;
    return true;
}

struct readable {
    uintptr_t lo, hi;
}; /* pages that can be read */
static bool is_readable(struct readable *m, const void *p, size_t n)
{
    uintptr_t size = gw_page_bytes(), at = (uintptr_t)p, end = at + n, lo = at & ~(size - 1);
    uintptr_t from = lo >= m->lo && lo < m->hi ? m->hi : lo;
    if (end < at) return false;
    for (uintptr_t page = from; page < end; page += size)
        if (!page_is_readable(page, page > at ? page : at, size)) return false;
    if (from == lo || end > m->hi) *m = (struct readable){lo, (end + size - 1) & ~(size - 1)};
    return true;
}

bool check_can_read(const void *at, size_t n) { return is_readable(&(struct readable){0, 0}, at, n); }

/* The sum of the piece that the cursor is at.  False: it is not there. */
static bool sum_piece(struct type_cursor *c, int64_t piece, struct readable *readable, uint64_t *sum_out)
{
    struct iovec iov[16];
    uint64_t h = CHECK_SEED;
    for (int64_t bytes; piece > 0; piece -= bytes) {
        int n = type_cursor_iov(c, iov, 16, piece, &bytes);
        if (n == 0) break;
        for (int i = 0; i < n; i++) {
            if (!is_readable(readable, iov[i].iov_base, iov[i].iov_len)) return false;
            h = check_sum_bytes(h, iov[i].iov_base, iov[i].iov_len);
        }
    }
    *sum_out = h;
    return true;
}

int64_t check_span_pieces_of(int64_t bytes, int64_t *piece_out)
{
    int64_t piece = *piece_out = gw_max64((bytes + CHECK_PIECES - 1) / CHECK_PIECES, CHECK_PIECE_MIN);
    return (bytes + piece - 1) / piece;
}

void check_sum_pieces(const void *at, int64_t bytes, int64_t piece, uint64_t *sums_out)
{
    uint64_t word;
    if (bytes == sizeof word) {
        memcpy(&word, at, sizeof word);
        *sums_out = check_sum_word(CHECK_SEED, word);
        return;
    }
    assert(piece > 0);
    for (const char *p = at; bytes > 0; bytes -= piece, p += piece)
        *sums_out++ = check_sum_bytes(CHECK_SEED, p, (size_t)gw_min64(piece, bytes));
}

void check_span_sum_now(struct check_span *s)
{
    struct type_cursor c;
    struct readable readable = {0, 0};
    if (s->lo == s->hi) return;
    int64_t total = s->count * s->type->size;
    s->n_sums = check_span_pieces(total, &s->piece);
    assert(s->n_sums > 0 && s->n_sums <= CHECK_PIECES);
    if (!s->sums) s->sums = gw_xmalloc((size_t)s->n_sums * sizeof *s->sums);
    if (type_is_run(s->type, s->count) && check_can_read((const void *)s->lo, (size_t)total)) {
        check_sum_pieces((const void *)s->lo, total, s->piece, s->sums);
        return;
    }
    type_cursor_init(&c, gw_data_host(s->buf, s->count, s->type));
    for (int64_t i = 0; i < s->n_sums; i++) {
        if (sum_piece(&c, s->piece, &readable, &s->sums[i])) continue;
        check_span_forget(s); /* who looks at the buffer will say so */
        return;
    }
}

/* Their room doubles. */
void check_span_append_sums(struct check_span *s, const struct check_span *next)
{
    if (!next->sums) return;
    assert(next->piece == s->piece);
    for (int64_t i = 0; i < next->n_sums; i++) {
        if ((s->n_sums & (s->n_sums - 1)) == 0 || !s->each)
            s->sums = gw_xrealloc(s->sums, 2 * (size_t)(s->n_sums + 1) * sizeof *s->sums);
        s->sums[s->n_sums++] = next->sums[i];
    }
}

void check_span_sum(struct check_span *s)
{
    if (!s->is_written) check_span_sum_now(s);
}

bool check_span_changed(const struct check_span *s, int64_t *from_out, int64_t *to_out, bool *gone_out)
{
    struct type_cursor c;
    struct readable readable = {0, 0};
    bool changed = false;
    *gone_out = false;
    if (!s->sums) return false;
    assert(s->n_sums > 0 && s->piece > 0);
    type_cursor_init(&c, gw_data_host(s->buf, s->count, s->type));
    for (int64_t i = 0; i < s->n_sums; i++) {
        uint64_t sum;
        *gone_out = !sum_piece(&c, s->piece, &readable, &sum);
        if (*gone_out) return true;
        if (sum == s->sums[i]) continue;
        if (!changed) *from_out = i * s->piece;
        changed = true;
        *to_out = gw_min64((i + 1) * s->piece, c.data.bytes);
    }
    return changed;
}
