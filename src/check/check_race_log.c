/* check_race_log.c -- the log of what this rank accesses in one epoch (check_race.h).
 *
 * Neighbours that one loop accesses are one entry.  Where sums are kept they go on over it, and an entry ends at SUMMED_MAX bytes: a store
 * of the program is told from them, so that this is how exactly its place is known.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "check/check_race.h"

enum { SUMMED_MAX = 512, WORD = 8 };
struct running_sum {
    uint64_t whole, tail; /* of the whole words, and the bytes behind them */
};
struct logged {
    int32_t target;
    struct running_sum before, after;
    struct race_access access;
};
struct race_log {
    struct logged *v;
    size_t n, room;
    int64_t n_calls;
};

struct race_log *check_race_log_new(void) { return gw_xcalloc(1, sizeof(struct race_log)); }

void check_race_log_drop(struct race_log *l)
{
    if (l) free(l->v);
    free(l);
}

void check_race_log_clear(struct race_log *l) { l->n = 0, l->n_calls = 0; }

int64_t check_race_log_calls(const struct race_log *l) { return l->n_calls; }

const struct race_access *check_race_log_first(const struct race_log *l, int *target_out)
{
    if (l->n == 0) return NULL;
    *target_out = l->v[0].target;
    return &l->v[0].access;
}

/* The same number as check_sum_bytes() of all bytes so far, of which there were n. */
static uint64_t sum_on(struct running_sum *s, size_t n, const void *bytes, size_t more)
{
    const char *p = bytes;
    size_t had = n % WORD, fill = had ? (more < WORD - had ? more : WORD - had) : 0, rest = more - fill, words = rest - rest % WORD;
    memcpy((char *)&s->tail + had, p, fill);
    if (had && had + fill == WORD) {
        s->whole = check_sum_bytes(s->whole, &s->tail, WORD);
        s->tail = 0;
    }
    s->whole = check_sum_bytes(s->whole, p + fill, words);
    memcpy(&s->tail, p + fill + words, rest - words);
    return (n + more) % WORD ? check_sum_bytes(s->whole, &s->tail, (n + more) % WORD) : s->whole;
}

static bool is_next(const struct logged *last, int target, const struct race_access *a, int64_t unit)
{
    const struct race_access *b = &last->access;
    bool has_sums = a->has_before || a->has_after;
    return last->target == target && b->kind == a->kind && b->op == a->op && b->fn == a->fn && b->place == a->place &&
        b->has_before == a->has_before && b->has_after == a->has_after && b->brings == a->brings &&
        b->disp * unit + b->hi == a->disp * unit + a->lo && (!has_sums || b->hi - b->lo + a->hi - a->lo <= SUMMED_MAX) &&
        strcmp(b->module, a->module) == 0;
}

void check_race_log_add(struct race_log *l, const struct rma_win *w, int target, const struct race_access *a,
                        const struct race_bytes *is)
{
    struct logged *last = l->n ? &l->v[l->n - 1] : NULL;
    size_t bytes = (size_t)(a->hi - a->lo), had = 0;
    l->n_calls++;
    if (last && is_next(last, target, a, rma_disp_unit(w, target))) {
        had = (size_t)(last->access.hi - last->access.lo);
        last->access.hi += (int64_t)bytes;
    } else {
        if (l->n == ACCESSES_MAX) return;
        if (l->n == l->room) l->v = gw_xrealloc(l->v, (l->room = 2 * l->room + 64) * sizeof *l->v);
        last = &l->v[l->n++];
        *last = (struct logged){target, {RACE_SEED, 0}, {RACE_SEED, 0}, *a};
    }
    if (a->has_before) last->access.before = sum_on(&last->before, had, is->before, bytes);
    if (a->has_after) last->access.after = sum_on(&last->after, had, is->after, bytes);
}

struct race_access *check_race_log_for(const struct race_log *l, int target, int64_t *bytes_out)
{
    struct race_access *out = gw_xmalloc((l->n + 1) * sizeof *out), *end = out;
    for (size_t k = 0; k < l->n; k++)
        if (l->v[k].target == target) *end++ = l->v[k].access;
    *bytes_out = (char *)end - (char *)out;
    return out;
}

struct race_access *check_race_log_all(const struct race_log *l, int size, int64_t *bytes)
{
    size_t at = 0, *next = gw_xcalloc((size_t)size + 1, sizeof *next);
    struct race_access *out = gw_xmalloc((l->n + 1) * sizeof *out);
    for (size_t k = 0; k < l->n; k++) bytes[l->v[k].target] += (int64_t)sizeof *out;
    for (int i = 0; i < size; i++) next[i] = at, at += (size_t)bytes[i] / sizeof *out;
    for (size_t k = 0; k < l->n; k++) out[next[l->v[k].target]++] = l->v[k].access;
    free(next);
    return out;
}
