/* type_tree.c -- see type_tree.h.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "type_tree.h"

#include <complex.h>

/* ---- predefined ------------------------------------------------------------------------------------------------------- */
#define ONE(T) {sizeof(T)}, {0}, sizeof(T), _Alignof(T)
#define BOTH(A, B)                                                                                                                 \
    struct {                                                                                                                       \
        A a;                                                                                                                       \
        B b;                                                                                                                       \
    }
#define PAIR(A, B) {sizeof(A), sizeof(B)}, {0, offsetof(BOTH(A, B), b)}, sizeof(BOTH(A, B)), _Alignof(BOTH(A, B))
static const struct named {
    uint32_t id;
    int size[2];
    int at[2];
    int extent, align;
} names[] = {
    {GW_H_CHAR, ONE(char)},
    {GW_H_SHORT, ONE(short)},
    {GW_H_INT, ONE(int)},
    {GW_H_DOUBLE, ONE(double)},
    {GW_H_BYTE, ONE(char)},
    {GW_H_LONG, ONE(long)},
    {GW_H_UINT16_T, ONE(uint16_t)},
    {GW_H_FLOAT, ONE(float)},
    {GW_H_C_FLOAT_COMPLEX, ONE(float complex)},
    {GW_H_C_DOUBLE_COMPLEX, ONE(double complex)},
    {GW_H_C_BOOL, ONE(bool)},
    {GW_H_UNSIGNED_LONG, ONE(unsigned long)},
    {GW_H_SHORT_INT, PAIR(short, int)},
    {GW_H_DOUBLE_INT, PAIR(double, int)},
    {GW_H_FLOAT_INT, PAIR(float, int)},
    {GW_H_LONG_INT, PAIR(long, int)},
    {GW_H_2INT, PAIR(int, int)},
    {GW_H_INT64_T, ONE(int64_t)},
    {GW_H_UNSIGNED_CHAR, ONE(unsigned char)},
};

static void named_model(struct tree_type *m, const struct named *p)
{
    m->type = type_hold((struct gw_type *)gw_obj_lookup(p->id, GW_KIND_TYPE));
    m->extent = p->extent;
    m->align = p->align;
    for (int i = 0; i < 2 && p->size[i]; i++) m->elem[m->n].at = p->at[i], m->elem[m->n++].size = p->size[i];
}

/* ---- the model of a constructor --------------------------------------------------------------------------------------- */
/* low, high: of what is marked; whole: of old types with data, padding included. */
struct build {
    struct tree_type *m;
    int64_t low, high, whole_low, whole_high;
    bool any_mark, any_whole, full;
};

/* A copy of `old` moved by `disp`. */
static void copy(struct build *b, const struct tree_type *old, int64_t disp)
{
    struct tree_type *m = b->m;
    if (m->align < old->align) m->align = old->align;
    if (old->marked) {
        int64_t low = disp + old->lb, high = low + old->extent;
        if (!b->any_mark || low < b->low) b->low = low;
        if (!b->any_mark || high > b->high) b->high = high;
        b->any_mark = true;
    }
    if (tree_size(old) > 0) {
        int64_t low = disp + old->lb, high = low + old->extent;
        if (!b->any_whole || low < b->whole_low) b->whole_low = low;
        if (!b->any_whole || high > b->whole_high) b->whole_high = high;
        b->any_whole = true;
    }
    b->full = b->full || m->n + old->n > TREE_MAX_ELEMS;
    for (int i = 0; i < old->n && !b->full; i++) {
        m->elem[m->n].at = disp + old->elem[i].at;
        m->elem[m->n++].size = old->elem[i].size;
    }
}

static void copies(struct build *b, const struct tree_type *old, int64_t n, int64_t disp)
{
    for (int64_t i = 0; i < n && !b->full; i++) copy(b, old, disp + i * old->extent);
}

bool tree_bounds(const struct tree_type *m, int64_t count, int64_t *low_out, int64_t *high_out)
{
    bool any = false;
    for (int64_t c = 0; c < count; c++)
        for (int i = 0; i < m->n; i++) {
            int64_t low = c * m->extent + m->elem[i].at, high = low + m->elem[i].size;
            if (!any || low < *low_out) *low_out = low;
            if (!any || high > *high_out) *high_out = high;
            any = true;
        }
    return any;
}

static void bounds(struct build *b)
{
    struct tree_type *m = b->m;
    m->marked = b->any_mark;
    if (b->any_mark) {
        m->lb = b->low;
        m->extent = b->high - b->low;
    } else {
        m->lb = b->any_whole ? b->whole_low : 0;
        m->extent = b->any_whole ? (b->whole_high - b->whole_low + m->align - 1) / m->align * m->align : 0;
    }
}

int64_t tree_size(const struct tree_type *m)
{
    int64_t n = 0;
    for (int i = 0; i < m->n; i++) n += m->elem[i].size;
    return n;
}

bool tree_overlaps(const struct tree_type *m, int64_t count)
{
    int64_t low, high;
    if (!tree_bounds(m, count, &low, &high)) return false;
    bool *used = calloc((size_t)(high - low), 1), twice = false;
    if (!used) abort();
    for (int64_t c = 0; c < count; c++)
        for (int i = 0; i < m->n; i++)
            for (int k = 0; k < m->elem[i].size; k++) {
                bool *u = &used[c * m->extent + m->elem[i].at + k - low];
                twice = twice || *u;
                *u = true;
            }
    free(used);
    return twice;
}

/* ---- constructors ----------------------------------------------------------------------------------------------------- */
enum { MAX_BLOCKS = 6, MAX_DIMS = 3, MAX_SPAN = 8192 };

static int regular(struct build *b, struct input *in, const struct tree_type *old, struct gw_type **out)
{
    int64_t count = in_below(in, 7), len = in_below(in, 5), stride = in_below(in, 25) - 8;
    unsigned what = in_byte(in) % 3;
    if (what == 0) {
        copies(b, old, count, 0);
        return type_contiguous(count, old->type, out);
    }
    int64_t bytes = what == 1 ? stride * old->extent : stride * (in_byte(in) & 1 ? 1 : 8);
    for (int64_t i = 0; i < count; i++) copies(b, old, len, i * bytes);
    return what == 1 ? type_vector(count, len, stride, old->type, out) : type_hvector(count, len, bytes, old->type, out);
}

static int blocks(struct build *b, struct input *in, const struct tree *t, const struct tree_type *old, struct gw_type **out)
{
    int64_t lens[MAX_BLOCKS], at[MAX_BLOCKS];
    int lens_int[MAX_BLOCKS], at_int[MAX_BLOCKS];
    struct gw_type *types[MAX_BLOCKS];
    unsigned what = in_byte(in), kind = what % 5, wide = what >> 4 & 1, step = what >> 5 & 7;
    int count = in_below(in, MAX_BLOCKS + 1);
    int64_t len = in_below(in, 4);
    for (int i = 0; i < count; i++) {
        const struct tree_type *of = kind == 4 ? t->at[in_below(in, t->n)] : old;
        bool one_length = kind == 1 || kind == 3, in_bytes = kind >= 2;
        lens[i] = one_length ? len : in_below(in, 4);
        at[i] = in_bytes ? in_below(in, 200) - 40 : in_below(in, 30) - 6;
        if (step) at[i] = i * (in_bytes ? 8 : 1) * (int64_t)step; /* even distances, too */
        lens_int[i] = (int)lens[i];
        at_int[i] = (int)at[i];
        types[i] = of->type;
        copies(b, of, lens[i], in_bytes ? at[i] : at[i] * old->extent);
    }
    struct gw_counts l = wide ? (struct gw_counts){lens, true} : (struct gw_counts){lens_int, false};
    struct gw_counts d = wide ? (struct gw_counts){at, true} : (struct gw_counts){at_int, false};
    switch (kind) {
    case 0: return type_indexed(count, l, d, old->type, out);
    case 1: return type_indexed_block(count, len, d, old->type, out);
    case 2: return type_hindexed(count, l, (struct gw_counts){at, true}, old->type, out);
    case 3: return type_hindexed_block(count, len, (struct gw_counts){at, true}, old->type, out);
    default: return type_struct(count, l, (struct gw_counts){at, true}, types, out);
    }
}

/* The array's places, slowest dimension first in C order. */
static void array_model(struct build *b, const struct tree_type *old, int n, const int *size, bool (*owns)(const void *, int, int),
                        const void *arg, int order)
{
    int all = 1, index[MAX_DIMS];
    for (int i = 0; i < n; i++) all *= size[i];
    for (int place = 0; place < all; place++) {
        bool mine = true;
        for (int k = 0, rest = place; k < n; k++) { /* the fastest first */
            int i = order == GW_ORDER_C ? n - 1 - k : k;
            index[i] = rest % size[i];
            rest /= size[i];
        }
        for (int i = 0; i < n; i++) mine = mine && owns(arg, i, index[i]);
        if (mine && !b->full) copy(b, old, place * old->extent);
    }
    b->any_mark = true;
    b->low = 0;
    b->high = all * old->extent;
}

struct subarray {
    int size[MAX_DIMS], sub[MAX_DIMS], start[MAX_DIMS];
};
static bool subarray_owns(const void *arg, int i, int index)
{
    const struct subarray *s = arg;
    return index >= s->start[i] && index < s->start[i] + s->sub[i];
}
static int subarray(struct build *b, struct input *in, const struct tree_type *old, struct gw_type **out)
{
    struct subarray s;
    int n = 1 + in_below(in, MAX_DIMS), order = in_byte(in) & 1 ? GW_ORDER_C : GW_ORDER_FORTRAN;
    for (int i = 0; i < n; i++) {
        s.size[i] = 1 + in_below(in, 5);
        s.sub[i] = 1 + in_below(in, s.size[i]);
        s.start[i] = in_below(in, s.size[i] - s.sub[i] + 1);
    }
    array_model(b, old, n, s.size, subarray_owns, &s, order);
    return type_subarray(n, (struct gw_counts){s.size, false}, (struct gw_counts){s.sub, false}, (struct gw_counts){s.start, false},
                         order, old->type, out);
}

struct darray {
    int size[MAX_DIMS], dist[MAX_DIMS], darg[MAX_DIMS], procs[MAX_DIMS], coord[MAX_DIMS];
};
static bool darray_owns(const void *arg, int i, int index)
{
    const struct darray *d = arg;
    int block = d->darg[i];
    if (d->dist[i] == GW_DISTRIBUTE_NONE) return true;
    if (block == GW_DISTRIBUTE_DFLT_DARG)
        block = d->dist[i] == GW_DISTRIBUTE_BLOCK ? (d->size[i] + d->procs[i] - 1) / d->procs[i] : 1;
    return index / block % d->procs[i] == d->coord[i];
}
static int darray(struct build *b, struct input *in, const struct tree_type *old, struct gw_type **out)
{
    static const int kinds[] = {GW_DISTRIBUTE_BLOCK, GW_DISTRIBUTE_CYCLIC, GW_DISTRIBUTE_NONE};
    struct darray d;
    int n = 1 + in_below(in, MAX_DIMS), order = in_byte(in) & 1 ? GW_ORDER_C : GW_ORDER_FORTRAN, procs = 1;
    for (int i = 0; i < n; i++) {
        d.size[i] = 1 + in_below(in, 7);
        d.dist[i] = kinds[in_below(in, 3)];
        d.procs[i] = d.dist[i] == GW_DISTRIBUTE_NONE ? 1 : 1 + in_below(in, 4);
        d.darg[i] = in_below(in, 5);
        if (d.darg[i] == 0) d.darg[i] = GW_DISTRIBUTE_DFLT_DARG;
        if (d.dist[i] == GW_DISTRIBUTE_BLOCK && d.darg[i] * d.procs[i] < d.size[i]) d.darg[i] = GW_DISTRIBUTE_DFLT_DARG;
        procs *= d.procs[i];
    }
    int rank = in_below(in, procs);
    for (int i = n - 1, rest = rank; i >= 0; i--) { /* the last dimension counts fastest, whatever the order */
        d.coord[i] = rest % d.procs[i];
        rest /= d.procs[i];
    }
    array_model(b, old, n, d.size, darray_owns, &d, order);
    return type_darray(procs, rank, n, (struct gw_counts){d.size, false}, d.dist, d.darg, d.procs, order, old->type, out);
}

static int resized(struct build *b, struct input *in, const struct tree_type *old, struct gw_type **out)
{
    copy(b, old, 0);
    b->any_mark = true;
    b->low = in_below(in, 40) - 10;
    int64_t extent = in_below(in, 200) - 60;
    b->high = b->low + extent;
    return type_resized(old->type, b->low, extent, out);
}

static int dup(struct build *b, const struct tree_type *old, struct gw_type **out)
{
    *b->m = *old;
    return type_dup(old->type, out);
}

/* ---- the tree --------------------------------------------------------------------------------------------------------- */
static void check(const struct tree_type *m)
{
    int64_t size, lb, extent, true_lb, true_extent, low = 0, high = 0;
    FUZZ_CHECK(type_size(m->type, &size) == GW_OK && size == tree_size(m));
    FUZZ_CHECK(type_get_extent(m->type, &lb, &extent) == GW_OK);
    FUZZ_CHECK(lb == m->lb && extent == m->extent);
    tree_bounds(m, 1, &low, &high);
    FUZZ_CHECK(type_get_true_extent(m->type, &true_lb, &true_extent) == GW_OK);
    FUZZ_CHECK(true_lb == low && true_extent == high - low);
    FUZZ_CHECK(m->type->n_elems == m->n);
}

static bool is_near(int64_t v) { return v >= -MAX_SPAN && v <= MAX_SPAN; }

static void grow(struct tree *t, struct input *in)
{
    struct tree_type *m = calloc(1, sizeof *m), *old = t->at[in_below(in, t->n)];
    if (!m) abort();
    m->align = 1;
    struct build b = {.m = m};
    unsigned what = in_byte(in) % 8;
    int rc = what < 2 ? regular(&b, in, old, &m->type)
        : what < 5    ? blocks(&b, in, t, old, &m->type)
        : what < 6    ? resized(&b, in, old, &m->type)
        : what < 7    ? (in_byte(in) & 1 ? subarray : darray)(&b, in, old, &m->type)
                      : dup(&b, old, &m->type);
    FUZZ_CHECK(rc == GW_OK);
    int64_t low = 0, high = 0;
    if (what < 7 && !b.full) bounds(&b);
    tree_bounds(m, 1, &low, &high);
    if (b.full || !is_near(low) || !is_near(high) || !is_near(m->lb) || !is_near(m->extent)) { /* more than a test wants to hold */
        type_release(m->type);
        free(m);
        return;
    }
    FUZZ_CHECK(type_commit(&m->type) == GW_OK);
    check(m);
    t->at[t->n++] = m;
}

void tree_grow(struct tree *t, struct input *in, int steps)
{
    for (int i = 0; i < 2; i++) {
        struct tree_type *m = calloc(1, sizeof *m);
        if (!m) abort();
        named_model(m, &names[in_below(in, (int)GW_ARRAY_LEN(names))]);
        check(m);
        t->at[t->n++] = m;
    }
    for (int i = 0; i < steps && t->n < TREE_MAX_TYPES && in_more(in); i++) grow(t, in);
}

void tree_free(struct tree *t)
{
    for (int i = t->n - 1; i >= 0; i--) {
        type_release(t->at[i]->type);
        free(t->at[i]);
    }
    t->n = 0;
}
