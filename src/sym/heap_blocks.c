/* heap_blocks.c -- which parts of the symmetric heap are in use: first fit by address, with records outside of the heap.
 *
 * Blocks and gaps lie one behind the other, without a hole, in a list; the gaps are also in a treap by offset, each node with the
 * largest gap below it, so that the first gap that is large enough is found in logarithmic time.  Priorities are a hash of the
 * offset: the shape of the tree, and all that comes of it, is the same on all PEs.  Used blocks are found by a hash table of
 * offsets.
 *
 * INVARIANT B1  Pieces begin and end at multiples of UNIT, cover the heap, and no two gaps are neighbours.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "sym/sym_private.h"

#include <stdlib.h>

enum { UNIT = 64, SLOTS_FIRST = 64 };

struct piece {
    uint64_t at, bytes;            /* in the heap; multiples of UNIT, but for the last one's end */
    uint64_t asked;                /* used: what the program has asked for */
    struct piece *before, *behind; /* by address */
    struct piece *left, *right;    /* gap: in the treap; used: left: the next of its slot */
    uint64_t largest;              /* gap: of this one and those below */
    bool is_used;
};

struct sym_blocks {
    uint64_t bytes, used, n;
    struct piece *gaps; /* the root */
    struct piece **slots;
    uint64_t n_slots;    /* a power of two */
    struct piece *first; /* at 0; it stays the same record */
};

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 31) * UINT64_C(0x9e3779b97f4a7c15);
    return x ^ x >> 29;
}

/* ---- gaps ---- */
static uint64_t largest(const struct piece *p) { return p ? p->largest : 0; }

static void renew(struct piece *p)
{
    uint64_t most = p->bytes;
    if (largest(p->left) > most) most = largest(p->left);
    if (largest(p->right) > most) most = largest(p->right);
    p->largest = most;
}

/* Gaps below `at` go left, the others right. */
static void gaps_split(struct piece *p, uint64_t at, struct piece **left_out, struct piece **right_out)
{
    if (!p) {
        *left_out = *right_out = NULL;
        return;
    }
    if (p->at < at) {
        gaps_split(p->right, at, &p->right, right_out);
        *left_out = p;
    } else {
        gaps_split(p->left, at, left_out, &p->left);
        *right_out = p;
    }
    renew(p);
}

static struct piece *gaps_merge(struct piece *a, struct piece *b)
{
    if (!a || !b) return a ? a : b;
    if (mix(a->at) > mix(b->at)) {
        a->right = gaps_merge(a->right, b);
        renew(a);
        return a;
    }
    b->left = gaps_merge(a, b->left);
    renew(b);
    return b;
}

static void gaps_add(struct sym_blocks *b, struct piece *p)
{
    struct piece *left, *right;
    p->left = p->right = NULL;
    p->is_used = false;
    renew(p);
    gaps_split(b->gaps, p->at, &left, &right);
    b->gaps = gaps_merge(gaps_merge(left, p), right);
}

static void gaps_remove(struct sym_blocks *b, struct piece *p)
{
    struct piece *left, *here, *right;
    gaps_split(b->gaps, p->at, &left, &right);
    gaps_split(right, p->at + 1, &here, &right);
    assert(here == p && !p->left && !p->right);
    (void)here;
    b->gaps = gaps_merge(left, right);
}

/* Bytes at the begin of a gap that a block of this alignment leaves free. */
static uint64_t skipped(uint64_t at, uint64_t align) { return (at + align - 1) / align * align - at; }

/* The first gap in which `bytes` fit.  One that is large enough, but not for the alignment, sends the search on. */
static struct piece *gaps_find(struct piece *p, uint64_t bytes, uint64_t align)
{
    if (!p || p->largest < bytes) return NULL;
    struct piece *found = gaps_find(p->left, bytes, align);
    if (found) return found;
    if (p->bytes >= bytes && p->bytes - bytes >= skipped(p->at, align)) return p;
    return gaps_find(p->right, bytes, align);
}

/* ---- used blocks ---- */
static struct piece **slot_of(const struct sym_blocks *b, uint64_t at) { return &b->slots[mix(at) & (b->n_slots - 1)]; }

static struct piece *used_find(const struct sym_blocks *b, uint64_t at)
{
    struct piece *p = *slot_of(b, at);
    while (p && p->at != at) p = p->left;
    return p;
}

static void used_put(const struct sym_blocks *b, struct piece *p)
{
    struct piece **slot = slot_of(b, p->at);
    p->left = *slot;
    *slot = p;
}

/* Without memory for more slots, chains become longer. */
static void slots_grow(struct sym_blocks *b)
{
    if (b->n < b->n_slots) return;
    struct piece **more = calloc(2 * b->n_slots, sizeof *more);
    if (!more) return;
    free(b->slots);
    b->slots = more;
    b->n_slots *= 2;
    for (struct piece *p = b->first; p; p = p->behind)
        if (p->is_used) used_put(b, p);
}

/* ---- pieces ---- */
static void drop(struct piece *p) /* never the first */
{
    p->before->behind = p->behind;
    if (p->behind) p->behind->before = p->before;
    free(p);
}

struct sym_blocks *sym_blocks_new(uint64_t bytes)
{
    struct sym_blocks *b = calloc(1, sizeof *b);
    if (!b) return NULL;
    b->bytes = bytes;
    b->n_slots = SLOTS_FIRST;
    b->slots = calloc(b->n_slots, sizeof *b->slots);
    b->first = calloc(1, sizeof *b->first);
    if (b->slots && b->first) {
        b->first->bytes = bytes;
        gaps_add(b, b->first);
        return b;
    }
    sym_blocks_end(b);
    return NULL;
}

void sym_blocks_end(struct sym_blocks *b)
{
    if (!b) return;
    for (struct piece *p = b->first, *next; p; p = next) {
        next = p->behind;
        free(p);
    }
    free(b->slots);
    free(b);
}

/* Records that one PE cannot have and others can would end the symmetry: gw_xcalloc() ends the job then. */
static struct piece *split(struct piece *p, uint64_t first)
{
    struct piece *n = gw_xcalloc(1, sizeof *n);
    *n = (struct piece){.at = p->at + first, .bytes = p->bytes - first, .before = p, .behind = p->behind};
    if (n->behind) n->behind->before = n;
    p->behind = n;
    p->bytes = first;
    return n;
}

/* Makes a piece that is in no table a gap, one with those beside it. */
static void to_gap(struct sym_blocks *b, struct piece *p)
{
    struct piece *next = p->behind, *before = p->before;
    if (next && !next->is_used) {
        gaps_remove(b, next);
        p->bytes += next->bytes;
        drop(next);
    }
    if (before && !before->is_used) {
        gaps_remove(b, before);
        before->bytes += p->bytes;
        drop(p);
        p = before;
    }
    gaps_add(b, p);
}

static uint64_t units(uint64_t bytes) { return (bytes + UNIT - 1) / UNIT * UNIT; }

/* What a used piece has more than it needs for `bytes`. */
static void trim(struct sym_blocks *b, struct piece *p, uint64_t bytes)
{
    p->asked = bytes;
    if (units(bytes) < p->bytes) to_gap(b, split(p, units(bytes)));
}

int64_t sym_blocks_take(struct sym_blocks *b, uint64_t bytes, uint64_t align)
{
    if (bytes == 0 || bytes > b->bytes || align > b->bytes) return -1;
    align = align > UNIT ? align : UNIT;
    struct piece *p = gaps_find(b->gaps, bytes, align);
    if (!p) return -1;
    gaps_remove(b, p);
    uint64_t skip = skipped(p->at, align);
    if (skip) {
        struct piece *gap = p;
        p = split(gap, skip);
        p->is_used = true;
        to_gap(b, gap);
    }
    p->is_used = true;
    trim(b, p, bytes);
    used_put(b, p);
    b->n++;
    b->used += p->bytes;
    slots_grow(b);
    return (int64_t)p->at;
}

bool sym_blocks_give(struct sym_blocks *b, uint64_t offset)
{
    struct piece **slot = slot_of(b, offset);
    while (*slot && (*slot)->at != offset) slot = &(*slot)->left;
    struct piece *p = *slot;
    if (!p) return false;
    *slot = p->left;
    p->is_used = false;
    b->n--;
    b->used -= p->bytes;
    to_gap(b, p);
    return true;
}

bool sym_blocks_resize(struct sym_blocks *b, uint64_t offset, uint64_t bytes)
{
    struct piece *p = used_find(b, offset), *next = p ? p->behind : NULL;
    if (!p || bytes == 0 || bytes > b->bytes) return false;
    const uint64_t before = p->bytes;
    if (bytes > p->bytes) {
        if (!next || next->is_used || bytes > p->bytes + next->bytes) return false;
        gaps_remove(b, next);
        p->bytes += next->bytes;
        drop(next);
    }
    trim(b, p, bytes);
    b->used += p->bytes - before;
    return true;
}

int64_t sym_blocks_size(const struct sym_blocks *b, uint64_t offset)
{
    const struct piece *p = used_find(b, offset);
    return p ? (int64_t)p->asked : -1;
}

int64_t sym_blocks_around(const struct sym_blocks *b, uint64_t offset)
{
    const struct piece *p = b->first;
    while (p && offset >= p->at + p->bytes) p = p->behind;
    return p && p->is_used && offset < p->at + p->asked ? (int64_t)p->at : -1;
}

int64_t sym_blocks_before(const struct sym_blocks *b, uint64_t offset)
{
    int64_t before = -1;
    for (const struct piece *p = b->first; p && p->at < offset; p = p->behind)
        if (p->is_used && p->at + p->asked <= offset) before = (int64_t)p->at;
    return before;
}

struct sym_blocks_use sym_blocks_use(const struct sym_blocks *b)
{
    return (struct sym_blocks_use){b->bytes, b->used, b->n, largest(b->gaps)};
}

/* ---- INVARIANT B1 ---- */
static const char *gaps_broken(const struct piece *p, uint64_t from, uint64_t end, uint64_t *n)
{
    if (!p) return NULL;
    ++*n;
    if (p->at < from || p->at >= end || p->is_used) return "the tree of gaps is in order";
    uint64_t most = p->bytes > largest(p->left) ? p->bytes : largest(p->left);
    if (p->largest != (most > largest(p->right) ? most : largest(p->right))) return "a gap knows the largest one below";
    const char *left = gaps_broken(p->left, from, p->at, n);
    return left ? left : gaps_broken(p->right, p->at + 1, end, n);
}

const char *sym_blocks_broken(const struct sym_blocks *b)
{
    uint64_t at = 0, used = 0, n = 0, gaps = 0, in_tree = 0;
    for (const struct piece *p = b->first, *before = NULL; p; before = p, p = p->behind) {
        if (p->at != at || p->before != before || !p->bytes || p->at % UNIT) return "pieces cover the heap";
        if (!p->is_used && before && !before->is_used) return "gaps are no neighbours";
        if (p->is_used && (used_find(b, p->at) != p || p->asked > p->bytes || units(p->asked) < p->bytes))
            return "a used block is found";
        n += p->is_used;
        gaps += !p->is_used;
        used += p->is_used ? p->bytes : 0;
        at += p->bytes;
    }
    if (at != b->bytes || n != b->n || used != b->used) return "pieces cover the heap";
    const char *broken = gaps_broken(b->gaps, 0, UINT64_MAX, &in_tree);
    return broken ? broken : in_tree != gaps ? "all gaps are in the tree" : NULL;
}
