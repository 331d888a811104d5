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
#include "base/os.h"

#include <stdlib.h>

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
    uint16_t n_of[COUNTS];        /* calls by owner and target, up to COUNTED; where two meet, those of both */
} late;                           /* with check_lock */

static uint16_t *count_of(uint32_t owner, int target)
{
    return &late.n_of[(owner * 0x9e3779b97f4a7c15u ^ (uint32_t)target * 0x9e3779b97f4a7c15u) >> 56];
}

int check_late_count(uint32_t owner, int target) { return late.n ? *count_of(owner, target) : 0; }

bool check_late_may_meet(uintptr_t lo, uintptr_t hi) { return late.n && lo < late.hi && hi > late.lo; }

/* Four times as much, so that it is seldom moved: pages that the kernel must clear cost more than what is written into them. */
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
/* Of the same place, owner and target, with a buffer of the same kind. */
static bool is_like(const struct entry *e, const struct entry *call)
{
    return e->from == call->from && e->fn == call->fn && e->type == call->type && e->count == call->count &&
        e->owner == call->owner && e->target == call->target && e->is_written == call->is_written && e->has_sums == call->has_sums;
}

static void count_one(uint32_t owner, int target)
{
    uint16_t *count = count_of(owner, target);
    if (*count < COUNTED) ++*count;
}

static void widen(const struct entry *call)
{
    uintptr_t lo = call->lo, hi = lo + call->bytes;
    if (likely(late.n && lo >= late.hi)) {
        late.hi = hi;
    } else if (late.n == 0) {
        late.lo = lo;
        late.hi = hi;
    } else if (hi <= late.lo) {
        late.lo = lo;
    } else {
        late.is_scattered = true;
        if (lo < late.lo) late.lo = lo;
        if (hi > late.hi) late.hi = hi;
    }
    late.has_written = late.has_written || call->is_written;
}

/* Pages are asked for once, until all are complete: the operation has just used them. */
static bool can_read(uintptr_t lo, uintptr_t hi)
{
    if (likely(lo >= late.can_read_from && hi <= late.can_read_to)) return true;
    uintptr_t page = gw_page_bytes(), from = lo & ~(page - 1), to = gw_align_up(hi, page);
    check_pages_hold(false);
    bool can = check_can_read((const void *)from, to - from);
    check_pages_let_go();
    if (can) late.can_read_from = from, late.can_read_to = to;
    return can;
}

static bool sums_take(uintptr_t lo, uintptr_t hi)
{
    int64_t bytes = (int64_t)(hi - lo), piece, n = check_span_pieces(bytes, &piece);
    if (!can_read(lo, hi)) return false;
    if (late.n_sums + CHECK_PIECES > late.sums_room) late.sums = more_room(late.sums, &late.sums_room, sizeof *late.sums);
    assert(n > 0 && n <= CHECK_PIECES && late.n_sums + (size_t)n <= late.sums_room);
    check_sum_pieces((const void *)lo, bytes, piece, late.sums + late.n_sums);
    late.n_sums += (size_t)n;
    return true;
}

/* The next step of the loop that made the last entry, if it is like that one, or an entry of its own. */
static void enter(const struct entry *call, bool is_like_last)
{
    struct entry *last = late.n ? &late.v[late.n - 1] : NULL;
    late.n_calls++;
    count_one(call->owner, call->target);
    widen(call);
    assert(late.lo <= call->lo && call->lo + call->bytes <= late.hi); /* L1 */
    assert(!is_like_last || last);
    if (is_like_last && last->n_calls == 1) last->stride = (int64_t)(call->lo - last->lo);
    if (is_like_last && last->lo + (uintptr_t)last->stride * last->n_calls == call->lo) {
        last->n_calls++;
        return;
    }
    late.has_owners = late.has_owners || (last && last->owner != call->owner);
    late.has_targets = late.has_targets || (last && last->target != call->target);
    if (late.n == late.room) late.v = more_room(late.v, &late.room, sizeof *late.v);
    late.v[late.n++] = *call;
}

bool check_late_add(const struct check_span *s, const struct check_about *about, bool is_there)
{
    assert(s->lo < s->hi && s->hi - s->lo <= CHECK_LATE_MAX);
    if (is_full()) check_late_now();
    struct entry call = {.from = check_me.now.from,
                         .lo = s->lo,
                         .type = s->type,
                         .count = s->count,
                         .bytes = (uint32_t)(s->hi - s->lo),
                         .n_calls = 1,
                         .first_sum = (uint32_t)late.n_sums,
                         .owner = about->owner,
                         .target = about->rank,
                         .fn = (uint16_t)check_me.now.fn,
                         .is_written = s->is_written};
    call.has_sums = is_there && sums_take(s->lo, s->hi);
    enter(&call, late.n && is_like(&late.v[late.n - 1], &call));
    return call.has_sums;
}

bool check_late_next(const struct check_late_step *s, bool is_there)
{
    if (late.n == 0 || is_full()) return false;
    const struct entry *last = &late.v[late.n - 1];
    struct entry call = {.from = s->me->now.from,
                         .lo = (uintptr_t)s->buf,
                         .type = s->type,
                         .count = s->count,
                         .bytes = last->bytes,
                         .n_calls = 1,
                         .first_sum = (uint32_t)late.n_sums,
                         .owner = s->owner,
                         .target = s->target,
                         .fn = (uint16_t)s->me->now.fn,
                         .is_written = true,
                         .has_sums = is_there};
    if (!is_like(last, &call) || (is_there && !sums_take(call.lo, call.lo + call.bytes))) return false;
    enter(&call, true);
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
    assert(end == v + late.n_calls);
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
    return (late.hi - late.lo) / gw_page_bytes() <= late.n_calls + 16 && check_can_read((const void *)late.lo, late.hi - late.lo);
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
    assert(late.n == 0); /* items are looked at by check_use.c alone */
    late = was;          /* for its room */
    begin_again();
}

void check_late_end(void)
{
    free(late.v);
    free(late.sums);
    late = (struct log){0};
}
