/* check_race_lock.c -- logs of what this rank accesses under locks of one window (check_race.h).
 *
 * Of each target a list in the order of the calls.  What lies before first_open is complete, and what lies before first_bringing and brings
 * something is complete at the origin.  Neighbours that one loop accesses are one entry, whose time is that of the last of them.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <unistd.h>

#include "check/check_race.h"
#include "base/os.h"
#include "base/time.h"

/* A word or less may be a flag, which the target sees by loads and puts back before the put is complete (MPI 4.1, section 12.7: polling). */
enum { PEEK_MIN = 9, PEEK_MAX = 1 << 16, LEAST = 256 };
struct list {
    struct race_access *v;
    size_t n, room, first_open, first_bringing;
    bool is_exclusive;
};
struct race_locks {
    int size;
    size_t most; /* of one list */
    uint64_t clock;
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
    return check_sum_bytes(RACE_SEED, text, n + (size_t)(k > 0 ? k : 0)) | 1;
}

struct race_locks *check_race_locks_new(const struct rma_win *w)
{
    size_t size = (size_t)w->comm->size;
    struct race_locks *l = gw_xcalloc(1, sizeof *l + size * sizeof l->of[0]);
    l->size = w->comm->size;
    l->most = LOCKED_MAX / size > LEAST ? LOCKED_MAX / size : LEAST;
    l->clock = clock_here();
    return l;
}

void check_race_locks_drop(struct race_locks *l)
{
    for (int i = 0; l && i < l->size; i++) free(l->of[i].v);
    free(l);
}

void check_race_locks_take(struct race_locks *l, int target, bool is_exclusive)
{
    for (int i = 0; i < l->size; i++)
        if (target == i || target == CHECK_EVERYONE) l->of[i].is_exclusive = is_exclusive;
}

/* One call more of a loop along the target's memory. */
static bool is_next(const struct race_access *last, const struct race_access *a, int64_t unit)
{
    return last->kind == a->kind && last->op == a->op && last->fn == a->fn && last->place == a->place &&
        last->brings == a->brings && !last->has_after && !a->has_after && last->until_ns == 0 &&
        last->disp * unit + last->hi == a->disp * unit + a->lo && strcmp(last->module, a->module) == 0;
}

void check_race_locks_add(struct race_locks *l, const struct rma_win *w, int target, const struct race_access *a, bool is_over)
{
    struct list *of = &l->of[target];
    struct race_access made = *a, *last = of->n ? &of->v[of->n - 1] : NULL;
    int64_t bytes = a->hi - a->lo;
    made.has_before = 0;
    made.has_after = a->has_after && a->kind == RACE_PUT && bytes >= PEEK_MIN && bytes <= PEEK_MAX && a->lo == 0 && !w->deferred;
    made.clock = l->clock;
    made.is_exclusive = of->is_exclusive;
    made.until_ns = is_over ? made.since_ns : 0;
    if (last && of->n > of->first_open && !is_over && is_next(last, &made, rma_disp_unit(w, target))) {
        last->hi += bytes;
        last->since_ns = made.since_ns;
        return;
    }
    if (of->n == l->most) {
        if (atomic_exchange(&has_said, 1) == 0)
            check_remark(
                "of the accesses under locks to one part of a window, %zu of each rank are looked at; further ones are not judged",
                l->most);
        return;
    }
    if (of->n == of->room) of->v = gw_xrealloc(of->v, (of->room = 2 * of->room + 16) * sizeof *of->v);
    of->v[of->n++] = made;
}

void check_race_locks_end(struct race_locks *l, int target, bool is_local)
{
    struct list *of = &l->of[target];
    uint64_t now = gw_now_ns();
    size_t first = is_local ? of->first_bringing : of->first_open;
    for (size_t i = first; i < of->n; i++)
        if (of->v[i].until_ns == 0 && (of->v[i].brings || !is_local)) of->v[i].until_ns = now;
    of->first_bringing = of->n;
    if (!is_local) of->first_open = of->n;
}

/* Without check_lock: others may add meanwhile. */
void check_race_locks_look(struct race_locks *l, struct rma_win *w, int target)
{
    struct list *of = &l->of[target];
    gw_lock(&check_lock);
    for (size_t i = of->first_open; i < of->n; i++) {
        struct race_access a = of->v[i];
        uint64_t sum;
        if (!a.has_after || a.until_ns) continue;
        gw_unlock(&check_lock);
        bool is_known = check_race_peek(w, target, a.disp, a.hi, gw_type_byte, &sum);
        gw_lock(&check_lock);
        if (is_known && sum != a.after && of->v[i].until_ns == 0)
            of->v[i].is_changed = 1; /* else another thread has completed it */
    }
    gw_unlock(&check_lock);
}

size_t check_race_locks_count(const struct race_locks *l, int target) { return l->of[target].n; }

void check_race_locks_copy(const struct race_locks *l, int target, struct race_access *out)
{
    if (l->of[target].n) memcpy(out, l->of[target].v, l->of[target].n * sizeof *out);
}
