/* check_late.c -- operations on windows that are looked at late: when they are completed, or when another call may use the same memory.
 *
 * Most of them are made in loops, and there is nothing wrong with them.  So a call leaves here only where its buffer lies, the sums of its
 * contents, and the place in the program; the steps of a loop are one entry, whatever its stride.  Whether something may be wrong with
 * any of them is seen at a glance where their buffers came in the order of addresses, else by sorting them once.  Where something may be,
 * all become items as if they were made one behind the other, and what is wrong is found and said as ever (check_use.c).
 *
 * INVARIANT L1: all buffers lie in [lo, hi); unless is_scattered no two of them share bytes.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check/check_private.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { SUMS_MAX = 1 << 22, COUNTS = 256, COUNTED = 1 << 10 };
struct entry {
    const void *from;
    uintptr_t lo;   /* of the first call; the others follow at this distance: */
    int64_t stride; /* one call: 0 */
    struct gw_type *type;
    int64_t count; /* of the type, in so many bytes: */
    uint32_t bytes, n_calls;
    uint32_t first_sum; /* those of a call lie together */
    uint32_t owner;
    int32_t target;
    uint16_t fn;
    bool is_written, has_sums;
};
static struct log {
    struct entry *v;
    uint64_t *sums;
    size_t n, room, n_sums, sums_room, n_calls;
    uintptr_t lo, hi, can_read_from, can_read_to;
    bool is_scattered, has_written;
    bool has_owners, has_targets; /* more than one */
    uint16_t n_of[COUNTS];        /* calls by owner and target, not many more than COUNTED; where two meet, those of both */
} late;                           /* with check_lock */

static uint16_t *count_of(uint32_t owner, int target)
{
    return &late.n_of[(owner * 0x9e3779b97f4a7c15u ^ (uint32_t)target * 0x9e3779b97f4a7c15u) >> 56];
}

int check_late_count(uint32_t owner, int target) { return late.n ? *count_of(owner, target) : 0; }

bool check_late_may_meet(uintptr_t lo, uintptr_t hi) { return late.n && lo < late.hi && hi > late.lo; }

/* Room for a hundred thousand, once it is wanted: pages that the kernel must clear one by one cost more than what is written into them. */
static void *more_room(void *v, size_t *room, size_t each)
{
    *room = 4 * *room + 256;
    return gw_xrealloc(v, *room * each);
}

static void begin_again(void)
{
    late.n = late.n_sums = late.n_calls = 0;
    late.is_scattered = late.has_written = late.has_owners = late.has_targets = false;
    late.can_read_from = late.can_read_to = 0;
    memset(late.n_of, 0, sizeof late.n_of);
}

/* Then they become items before there is one more. */
static bool is_full(void) { return late.n >= CHECK_LATE_ENTRIES || late.n_calls >= CHECK_LATE_CALLS || late.n_sums > SUMS_MAX; }

/* ---- a call ---- */
/* The next step of the loop that made e? */
static bool follows(const struct entry *e, const struct check_span *s, const struct check_about *about, bool has_sums)
{
    const struct check_site *now = &check_me.now;
    return e->from == now->from && e->fn == now->fn && e->bytes == s->hi - s->lo && e->type == s->type &&
        e->owner == about->owner && e->target == about->rank && e->is_written == s->is_written && e->has_sums == has_sums &&
        (e->n_calls == 1 || e->lo + (uintptr_t)e->stride * e->n_calls == s->lo);
}

static void widen(const struct check_span *s)
{
    if (likely(late.n && s->lo >= late.hi)) {
        late.hi = s->hi;
    } else if (late.n == 0) {
        late.lo = s->lo;
        late.hi = s->hi;
    } else if (s->hi <= late.lo) {
        late.lo = s->lo;
    } else {
        late.is_scattered = true;
        if (s->lo < late.lo) late.lo = s->lo;
        if (s->hi > late.hi) late.hi = s->hi;
    }
    late.has_written = late.has_written || s->is_written;
}

/* Pages are asked for once, until all are complete: the operation has just used them. */
static bool can_read(uintptr_t lo, uintptr_t hi)
{
    enum { PAGE = 4096 };
    if (likely(lo >= late.can_read_from && hi <= late.can_read_to)) return true;
    uintptr_t from = lo & ~(uintptr_t)(PAGE - 1), to = (hi + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
    check_pages_hold(false);
    bool can = check_can_read((const void *)from, to - from);
    check_pages_let_go();
    if (can) late.can_read_from = from, late.can_read_to = to;
    return can;
}

static bool sums_take(const struct check_span *s)
{
    int64_t bytes = (int64_t)(s->hi - s->lo), piece, n = check_span_pieces(bytes, &piece);
    if (!can_read(s->lo, s->hi)) return false;
    if (late.n_sums + CHECK_PIECES > late.sums_room) late.sums = more_room(late.sums, &late.sums_room, sizeof *late.sums);
    check_sum_pieces((const void *)s->lo, bytes, piece, late.sums + late.n_sums);
    late.n_sums += (size_t)n;
    return true;
}

static struct entry *entry_new(const struct check_span *s, const struct check_about *about)
{
    const struct entry *last = late.n ? &late.v[late.n - 1] : NULL;
    late.has_owners = late.has_owners || (last && last->owner != about->owner);
    late.has_targets = late.has_targets || (last && last->target != about->rank);
    if (late.n == late.room) late.v = more_room(late.v, &late.room, sizeof *late.v);
    struct entry *e = &late.v[late.n++];
    *e = (struct entry){.from = check_me.now.from,
                        .lo = s->lo,
                        .type = s->type,
                        .count = s->count,
                        .bytes = (uint32_t)(s->hi - s->lo),
                        .n_calls = 1,
                        .owner = about->owner,
                        .target = about->rank,
                        .fn = (uint16_t)check_me.now.fn,
                        .is_written = s->is_written};
    return e;
}

bool check_late_add(const struct check_span *s, const struct check_about *about, bool is_there)
{
    if (is_full()) check_late_now();
    size_t first_sum = late.n_sums;
    bool has_sums = is_there && sums_take(s);
    struct entry *last = late.n ? &late.v[late.n - 1] : NULL;
    uint16_t *count = count_of(about->owner, about->rank);
    late.n_calls++;
    if (*count < COUNTED) ++*count;
    widen(s);
    if (last && follows(last, s, about, has_sums)) {
        if (last->n_calls++ == 1) last->stride = (int64_t)(s->lo - last->lo);
        return has_sums;
    }
    last = entry_new(s, about);
    last->has_sums = has_sums;
    last->first_sum = (uint32_t)first_sum;
    return has_sums;
}

bool check_late_next(const struct check_late_step *s, bool is_there)
{
    const struct check_site *now = &s->me->now;
    struct entry *last = late.n ? &late.v[late.n - 1] : NULL;
    bool is_like_last = last && last->from == now->from && last->fn == now->fn && last->type == s->type &&
        last->count == s->count && last->owner == s->owner && last->target == s->target && last->has_sums == is_there &&
        last->is_written == s->is_written;
    if (!is_like_last || late.n == late.room || is_full()) return false;
    struct check_span span = {.lo = (uintptr_t)s->buf, .hi = (uintptr_t)s->buf + last->bytes, .is_written = s->is_written};
    size_t first_sum = late.n_sums;
    if (is_there && !sums_take(&span)) return false;
    widen(&span);
    if (late.n_calls++ < COUNTED) ++*count_of(s->owner, s->target);
    if (last->n_calls == 1) last->stride = (int64_t)(span.lo - last->lo);
    if (last->lo + (uintptr_t)last->stride * last->n_calls == span.lo) {
        last->n_calls++;
        return true;
    }
    late.v[late.n] = *last;
    last = &late.v[late.n++];
    last->lo = span.lo;
    last->n_calls = 1;
    last->first_sum = (uint32_t)first_sum;
    return true;
}

/* ---- may anything be wrong? ---- */
static bool must_not_meet(void)
{
    if (!late.is_scattered || !late.has_written) return false;
    struct check_range *v = gw_xmalloc(late.n_calls * sizeof *v), *end = v;
    for (const struct entry *e = late.v; e < late.v + late.n; e++)
        for (uint32_t i = 0; i < e->n_calls; i++) {
            uint64_t lo = e->lo + (uint64_t)e->stride * i - late.lo;
            *end++ = (struct check_range){lo, (lo + e->bytes) << 1 | e->is_written};
        }
    check_sort(v, late.n_calls);
    uint64_t reach = 0, written = 0; /* the ends of all so far, and of those that are written */
    bool do_meet = false;
    for (const struct check_range *r = v; r < end && !do_meet; r++) {
        uint64_t hi = r->with >> 1;
        do_meet = r->lo < (r->with & 1 ? reach : written);
        if (hi > reach) reach = hi;
        if (r->with & 1 && hi > written) written = hi;
    }
    free(v);
    return do_meet;
}

/* Pages between the first and the last buffer are asked for at once, if there are not many more than calls. */
static bool all_can_be_read(void)
{
    enum { PAGE = 4096 };
    return (late.hi - late.lo) / PAGE <= late.n_calls + 16 && check_can_read((const void *)late.lo, late.hi - late.lo);
}

static bool have_changed(void)
{
    if (late.n_sums == 0) return false;
    bool is_readable = all_can_be_read(), changed = false;
    uint64_t now[CHECK_PIECES];
    check_pages_hold(true);
    for (const struct entry *e = late.v; e < late.v + late.n && !changed; e++) {
        int64_t piece = 0, n = check_span_pieces(e->bytes, &piece);
        const uint64_t *was = late.sums + e->first_sum;
        uintptr_t at = e->lo;
        for (uint32_t i = 0; i < e->n_calls && e->has_sums && !changed; i++, at += (uintptr_t)e->stride, was += n) {
            changed = !is_readable && !check_can_read((const void *)at, e->bytes);
            if (changed) break;
            check_sum_pieces((const void *)at, e->bytes, piece, now);
            changed = memcmp(now, was, (size_t)n * sizeof *was) != 0;
        }
    }
    check_pages_let_go();
    return changed;
}

void check_late_settle(uint32_t owner, int target)
{
    if (late.n == 0) return;
    const struct entry *e = &late.v[0];
    bool is_all = !late.has_owners && (target == CHECK_EVERYONE || (!late.has_targets && e->target == target));
    if (!late.has_owners && e->owner != owner) return;
    if (!late.has_owners && !late.has_targets && target != CHECK_EVERYONE && e->target != target) return;
    if (!is_all || must_not_meet() || have_changed())
        check_late_now();
    else
        begin_again();
}

/* ---- they become items ---- */
void check_late_now(void)
{
    struct log was = late;
    late = (struct log){0};
    for (const struct entry *e = was.v; e < was.v + was.n; e++) {
        int64_t piece, n = check_span_pieces(e->bytes, &piece);
        for (uint32_t i = 0; i < e->n_calls; i++) {
            const void *at = (const void *)(e->lo + (uintptr_t)e->stride * i);
            struct check_span s = check_span(at, e->bytes / e->type->size, e->type, e->is_written);
            struct check_about about = {NULL, e->target, GW_UNDEFINED, e->owner};
            const uint64_t *sums = was.sums + e->first_sum + (size_t)n * i;
            check_use_again(&s, e->has_sums ? sums : NULL, (struct check_site){e->fn, e->from}, about);
        }
    }
    late = was; /* for its room */
    begin_again();
}

void check_late_end(void)
{
    free(late.v);
    free(late.sums);
    late = (struct log){0};
}
