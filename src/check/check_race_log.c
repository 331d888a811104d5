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
    const void *from;
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

static bool is_next(const struct logged *last, int target, const struct race_step *s, int64_t unit)
{
    const struct race_access *b = &last->access;
    bool has_sums = s->before || s->after;
    return last->target == target && last->from == s->from && b->kind == s->kind && b->op == s->op && b->fn == s->fn &&
        b->has_before == (s->before != NULL) && b->has_after == (s->after != NULL) && b->brings == s->brings &&
        b->disp * unit + b->hi == s->disp * unit + s->lo && (!has_sums || b->hi - b->lo + s->hi - s->lo <= SUMMED_MAX);
}

static void sum_step(struct logged *to, size_t had, const struct race_step *s)
{
    size_t bytes = (size_t)(s->hi - s->lo);
    if (s->before) to->access.before = sum_on(&to->before, had, s->before, bytes);
    if (s->after) to->access.after = sum_on(&to->after, had, s->after, bytes);
}

bool check_race_log_follow(struct race_log *l, int64_t unit, int target, const struct race_step *s)
{
    struct logged *last = l->n ? &l->v[l->n - 1] : NULL;
    if (!last || !is_next(last, target, s, unit)) return false;
    sum_step(last, (size_t)(last->access.hi - last->access.lo), s);
    last->access.hi += s->hi - s->lo;
    l->n_calls++;
    return true;
}

void check_race_log_add(struct race_log *l, int target, const struct race_access *a, const struct race_step *s)
{
    l->n_calls++;
    if (l->n == ACCESSES_MAX) return;
    if (l->n == l->room) l->v = gw_xrealloc(l->v, (l->room = 2 * l->room + 64) * sizeof *l->v);
    struct logged *last = &l->v[l->n++];
    assert((int64_t)l->n <= l->n_calls); /* an entry is of one call or more */
    *last = (struct logged){target, s->from, {CHECK_SEED, 0}, {CHECK_SEED, 0}, *a};
    sum_step(last, 0, s);
}

struct race_access *check_race_log_for(const struct race_log *l, int target, int64_t *bytes_out)
{
    struct race_access *out = gw_xmalloc((l->n + 1) * sizeof *out), *end = out;
    for (size_t k = 0; k < l->n; k++)
        if (l->v[k].target == target) *end++ = l->v[k].access;
    *bytes_out = (char *)end - (char *)out;
    return out;
}

struct race_kinds check_race_log_kinds(const struct race_log *l)
{
    struct race_kinds k = check_race_kinds_none();
    for (size_t i = 0; i < l->n; i++) check_race_kinds_add(&k, &l->v[i].access);
    return k;
}

static bool has_sums(const struct race_access *a) { return a->has_before || a->has_after; }

struct race_access *check_race_log_all(const struct race_log *l, int size, bool is_whole, int64_t *bytes)
{
    size_t n = 0, at = 0, *next = gw_xcalloc((size_t)size + 1, sizeof *next);
    for (size_t k = 0; k < l->n; k++) {
        if (!is_whole && !has_sums(&l->v[k].access)) continue;
        assert(l->v[k].target >= 0 && l->v[k].target < size);
        bytes[l->v[k].target] += (int64_t)sizeof(struct race_access);
        n++;
    }
    struct race_access *out = gw_xmalloc((n + 1) * sizeof *out);
    for (int i = 0; i < size; i++) next[i] = at, at += (size_t)bytes[i] / sizeof *out;
    for (size_t k = 0; k < l->n; k++)
        if (is_whole || has_sums(&l->v[k].access)) out[next[l->v[k].target]++] = l->v[k].access;
    free(next);
    return out;
}
