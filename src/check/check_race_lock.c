/* check_race_lock.c -- logs of what this rank accesses under locks of one window (check_race.h).
 *
 * Of each target a list in the order of the calls, and what ended those before it: a call that completes all, or those that bring something.
 * Neighbours that one loop accesses are one entry, whose time is that of the last of them.  What the accesses of one place in the program
 * have in common stands once.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <unistd.h>

#include "check/check_race.h"
#include "base/os.h"
#include "base/time.h"

/* A word or less may be a flag, which the target sees by loads and puts back before the put is complete (MPI 4.1, section 12.7: polling). */
enum { PEEK_MIN = 9, PEEK_MAX = 1 << 16, LEAST = 256, BUCKETS = 64, NONE = -1, NEAR_US = 4, SHIFT = 16 };
struct entry {
    int64_t at; /* in the target's part */
    uint64_t since_ns;
    uint32_t bytes, place;
};
struct end { /* of the first n entries */
    size_t n;
    uint64_t ns;
    bool is_local; /* of those that bring something */
};
struct left { /* by a put: what must be there as it is completed */
    size_t entry;
    uint64_t sum;
    bool is_changed;
};
struct list {
    struct entry *v;
    struct end *ends;
    struct left *left;
    size_t n, room, n_ends, ends_room, n_left, left_room;
    size_t first_open, first_bringing, first_left;
    bool is_exclusive;
};
struct place {
    const void *from;
    struct race_access is;
    int32_t next; /* in its bucket, or NONE */
    bool is_over; /* complete as soon as it is made */
};
struct race_locks {
    int size;
    size_t most; /* of one list */
    uint64_t clock;
    uint64_t seen_ns, seen_ticks, near_ticks, tick_shifted; /* a tick in ns, shifted by SHIFT */
    struct place *places;
    uint32_t n_places, places_room, last_place;
    int32_t first[BUCKETS]; /* place, or NONE */
    struct list of[];
};
static _Atomic int has_said;

/* CLOCK_MONOTONIC is the same for all processes of a running kernel and of a time namespace.  0: not known. */
static uint64_t clock_here(void)
{
    char text[256];
    if (!gw_line_read(text, 128, "/proc/sys/kernel/random/boot_id")) return 0;
    size_t n = strlen(text);
    ssize_t k = readlink("/proc/self/ns/time", text + n, 100); /* older kernels have none */
    return check_sum_bytes(CHECK_SEED, text, n + (size_t)(k > 0 ? k : 0)) | 1;
}

struct race_locks *check_race_locks_new(const struct rma_win *w)
{
    size_t size = (size_t)w->comm->size;
    struct race_locks *l = gw_xcalloc(1, sizeof *l + size * sizeof l->of[0]);
    l->size = w->comm->size;
    l->most = LOCKED_MAX / size > LEAST ? LOCKED_MAX / size : LEAST;
    l->clock = clock_here();
    for (int i = 0; i < BUCKETS; i++) l->first[i] = NONE;
    l->near_ticks = NEAR_US * gw_ticks_per_us();
    l->tick_shifted = (1000u << SHIFT) / gw_ticks_per_us();
    return l;
}

void check_race_locks_drop(struct race_locks *l)
{
    for (int i = 0; l && i < l->size; i++) {
        free(l->of[i].v);
        free(l->of[i].ends);
        free(l->of[i].left);
    }
    if (l) free(l->places);
    free(l);
}

void check_race_locks_take(struct race_locks *l, int target, bool is_exclusive)
{
    assert(target == CHECK_EVERYONE || (target >= 0 && target < l->size));
    for (int i = 0; i < l->size; i++)
        if (target == i || target == CHECK_EVERYONE) l->of[i].is_exclusive = is_exclusive;
}

/* The time now, or a little later (what began later than it did races with less, never more): within a few us of one that was asked for
 * it is told from the time stamp counter, which costs a third. */
static uint64_t now_ns(struct race_locks *l)
{
    enum { MARGIN_NS = 20, MARGIN_PART = 64 };
    uint64_t since = gw_ticks() - l->seen_ticks;
    if (likely(since < l->near_ticks)) {
        uint64_t ns = since * l->tick_shifted >> SHIFT;
        return l->seen_ns + ns + ns / MARGIN_PART + MARGIN_NS;
    }
    l->seen_ticks = gw_ticks();
    return l->seen_ns = gw_now_ns();
}

/* ---- an access ---- */
static bool is_of(const struct place *p, const struct race_step *s, bool is_over, bool is_exclusive)
{
    return p->from == s->from && p->is.kind == s->kind && p->is.fn == s->fn && p->is.op == s->op && p->is.brings == s->brings &&
        p->is_over == is_over && p->is.is_exclusive == is_exclusive;
}

static int32_t *bucket_of(struct race_locks *l, const struct race_step *s, bool is_exclusive)
{
    uint64_t h = (uintptr_t)s->from + (uint64_t)s->kind + ((uint64_t)s->op << 24) + ((uint64_t)is_exclusive << 16);
    return &l->first[h * 0x9e3779b97f4a7c15u >> 58];
}
_Static_assert(BUCKETS == 1 << (64 - 58), "an index for each");

static int32_t place_find(struct race_locks *l, const struct race_step *s, bool is_over, bool is_exclusive)
{
    int32_t i = *bucket_of(l, s, is_exclusive);
    while (i != NONE && !is_of(&l->places[i], s, is_over, is_exclusive)) i = l->places[i].next;
    return i;
}

void check_race_locks_place(struct race_locks *l, int target, const struct race_access *a, const struct race_step *s, bool is_over)
{
    bool is_exclusive = l->of[target].is_exclusive;
    int32_t *first = bucket_of(l, s, is_exclusive);
    assert(place_find(l, s, is_over, is_exclusive) == NONE); /* told once */
    if (l->n_places == l->places_room) {
        l->places_room = 2 * l->places_room + 8;
        l->places = gw_xrealloc(l->places, l->places_room * sizeof *l->places);
    }
    struct place *p = &l->places[l->n_places];
    *p = (struct place){s->from, *a, *first, is_over};
    p->is.op = s->op;
    p->is.brings = s->brings;
    p->is.has_before = p->is.has_after = p->is.is_changed = 0;
    p->is.clock = l->clock;
    p->is.is_exclusive = is_exclusive;
    *first = (int32_t)l->n_places++;
}

static void leaves(struct list *of, const struct race_step *s)
{
    assert(of->n > 0 && (of->n_left == 0 || of->left[of->n_left - 1].entry < of->n - 1)); /* in order of their entries */
    if (of->n_left == of->left_room) of->left = gw_xrealloc(of->left, (of->left_room = 2 * of->left_room + 16) * sizeof *of->left);
    of->left[of->n_left++] = (struct left){of->n - 1, check_sum_bytes(CHECK_SEED, s->after, (size_t)(s->hi - s->lo)), false};
}

static void say_full(const struct race_locks *l)
{
    if (atomic_exchange(&has_said, 1) == 0)
        check_remark(
            "of the accesses under locks to one part of a window, %zu of each rank are looked at; further ones are not judged",
            l->most);
}

/* The last entry, if an access of so many bytes goes on where it ends. */
static struct entry *goes_on(const struct list *of, const struct entry *e, int64_t bytes, bool brings)
{
    if (of->n <= (brings ? of->first_bringing : of->first_open)) return NULL;
    struct entry *last = &of->v[of->n - 1];
    bool is_left = of->n_left && of->left[of->n_left - 1].entry == of->n - 1;
    bool does = last->place == e->place && last->at + last->bytes == e->at && last->bytes + bytes <= UINT32_MAX && !is_left;
    return does ? last : NULL;
}

/* An access of so many bytes, which goes on with the last entry, or is a new one (e, but for its size), or several. */
static void enter(const struct race_locks *l, struct list *of, struct entry e, int64_t bytes, struct entry *last)
{
    assert(of->n <= l->most && e.place < l->n_places);
    if (last) {
        last->bytes += (uint32_t)bytes;
        last->since_ns = e.since_ns;
        return;
    }
    for (; bytes > 0; bytes -= e.bytes, e.at += e.bytes) {
        e.bytes = (uint32_t)gw_min64(bytes, UINT32_MAX);
        if (of->n == l->most) {
            say_full(l);
            return;
        }
        if (of->n == of->room) of->v = gw_xrealloc(of->v, (of->room = 4 * of->room + 64) * sizeof *of->v);
        of->v[of->n++] = e;
    }
}

bool check_race_locks_next(struct race_locks *l, const struct rma_win *w, const struct check_me *me, int target, int64_t disp,
                           int64_t bytes)
{
    struct list *of = &l->of[target];
    const struct place *p = &l->places[l->last_place];
    bool is_that = l->n_places && p->from == me->now.from && p->is.fn == me->now.fn && !p->is_over &&
        p->is.is_exclusive == of->is_exclusive && p->is.kind == RACE_GET;
    if (!is_that) return false;
    struct entry e = {disp * rma_disp_unit(w, target), now_ns(l), 0, l->last_place};
    enter(l, of, e, bytes, goes_on(of, &e, bytes, p->is.brings));
    return true;
}

bool check_race_locks_add(struct race_locks *l, const struct rma_win *w, int target, const struct race_step *s, bool is_over)
{
    struct list *of = &l->of[target];
    int32_t found = place_find(l, s, is_over, of->is_exclusive);
    if (found == NONE && of->n == l->most) {
        say_full(l);
        return true;
    }
    if (found == NONE) return false;
    l->last_place = (uint32_t)found;
    int64_t bytes = s->hi - s->lo;
    uint64_t now = is_over ? gw_now_ns() : now_ns(l); /* it is not over later than it is */
    for (size_t i = of->n; is_over && i > 0 && of->v[i - 1].since_ns > now; i--) of->v[i - 1].since_ns = now;
    struct entry e = {s->disp * rma_disp_unit(w, target) + s->lo, now, 0, l->last_place};
    bool leaves_data = s->after && s->kind == RACE_PUT && bytes >= PEEK_MIN && bytes <= PEEK_MAX && s->lo == 0 && !w->deferred;
    size_t n = of->n;
    enter(l, of, e, bytes, is_over || leaves_data ? NULL : goes_on(of, &e, bytes, s->brings));
    if (leaves_data && of->n > n) leaves(of, s);
    return true;
}

/* ---- calls that complete accesses ---- */
void check_race_locks_end(struct race_locks *l, int target, bool is_local)
{
    struct list *of = &l->of[target];
    assert(of->first_open <= of->first_bringing && of->first_bringing <= of->n && of->first_left <= of->n_left);
    if (of->n > (is_local ? of->first_bringing : of->first_open)) {
        if (of->n_ends == of->ends_room)
            of->ends = gw_xrealloc(of->ends, (of->ends_room = 2 * of->ends_room + 16) * sizeof *of->ends);
        of->ends[of->n_ends++] = (struct end){of->n, gw_now_ns(), is_local};
    }
    of->first_bringing = of->n;
    if (is_local) return;
    of->first_open = of->n;
    of->first_left = of->n_left;
}

/* Without check_lock: others may add meanwhile. */
void check_race_locks_look(struct race_locks *l, struct rma_win *w, int target)
{
    struct list *of = &l->of[target];
    gw_lock(&check_lock);
    for (size_t i = of->first_left; i < of->n_left; i++) {
        struct left was = of->left[i];
        assert(was.entry < of->n);
        struct entry e = of->v[was.entry];
        uint64_t sum;
        gw_unlock(&check_lock);
        bool is_known = check_race_peek(w, target, e.at / rma_disp_unit(w, target), e.bytes, gw_type_byte, &sum);
        gw_lock(&check_lock);
        if (is_known && sum != was.sum && i >= of->first_left)
            of->left[i].is_changed = true; /* else another thread has completed it */
    }
    gw_unlock(&check_lock);
}

/* ---- what comes of it ---- */
size_t check_race_locks_count(const struct race_locks *l, int target) { return l->of[target].n; }

/* The first end from *at on that is one of entry i, with or without the local ones; moves *at there. */
static uint64_t end_of(const struct list *of, size_t i, bool has_local, size_t *at)
{
    while (*at < of->n_ends && (of->ends[*at].n <= i || (of->ends[*at].is_local && !has_local))) ++*at;
    return *at < of->n_ends ? of->ends[*at].ns : 0;
}

void check_race_locks_copy(const struct race_locks *l, int target, struct race_access *out)
{
    const struct list *of = &l->of[target];
    size_t all = 0, local = 0, left = 0;
    for (size_t i = 0; i < of->n; i++, out++) {
        const struct entry *e = &of->v[i];
        assert(e->place < l->n_places);
        const struct place *p = &l->places[e->place];
        *out = p->is;
        out->lo = e->at;
        out->hi = e->at + e->bytes;
        out->until_ns = p->is_over ? e->since_ns : p->is.brings ? end_of(of, i, true, &local) : end_of(of, i, false, &all);
        out->since_ns = e->since_ns;
        if (out->until_ns && !p->is_over && out->since_ns >= out->until_ns) out->since_ns = out->until_ns - 1;
        for (; left < of->n_left && of->left[left].entry <= i; left++)
            if (of->left[left].entry == i) out->is_changed = of->left[left].is_changed;
    }
}

struct race_kinds check_race_locks_kinds(const struct race_locks *l)
{
    struct race_kinds k = check_race_kinds_none();
    for (uint32_t i = 0; i < l->n_places; i++) check_race_kinds_add(&k, &l->places[i].is);
    for (int t = 0; t < l->size; t++)
        for (size_t i = 0; i < l->of[t].n_left; i++) k.is_changed |= l->of[t].left[i].is_changed;
    return k;
}
