/* type_test.c -- random nested datatypes against naive typemaps, by the definitions of MPI 4.1 chapter 5.
 *
 * Every tree is built twice: with the constructors, and as a list of (displacement, basic element) in the order of the
 * typemap with lower and upper bound.  unit_type_type [SEED [TREES]] runs from another seed; a failure names the seed
 * of its tree.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "type/type.h"
#include "base/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../test/unit.h"

/* ---- chance ------------------------------------------------------------------------------------------------------ */
static uint64_t chance_state;

static void chance_seed(uint64_t seed) { chance_state = seed * 0x9e3779b97f4a7c15ull + 0x1234567887654321ull; }

static uint64_t chance_next(void)
{
    chance_state ^= chance_state << 13;
    chance_state ^= chance_state >> 7;
    chance_state ^= chance_state << 17;
    return chance_state >> 11;
}

static int64_t chance(int64_t low, int64_t high) { return low + (int64_t)(chance_next() % (uint64_t)(high - low + 1)); }

/* ---- the reference: a typemap as a plain list -------------------------------------------------------------------- */
enum { MAX_ENTRIES = 400, MAX_SPAN = 1 << 15, MAX_DESC = 600, MAX_ARGS = 4, MAX_DIMS = 3, MAX_COUNT = 3 };

struct entry {
    int64_t disp;
    uint8_t size, align, kind;
};
struct ref {
    struct gw_type *type;
    struct ref *child; /* what it was made of, if that handle still lives */
    int n;
    bool is_marked, is_over; /* explicit bounds (from resized types and arrays) inside; too large to look at */
    int64_t mark_lb, mark_ub;
    bool is_padded; /* of old types, whose bounds lie in these, padding included */
    int64_t whole_lb, whole_ub;
    struct entry e[MAX_ENTRIES];
    char desc[MAX_DESC];
};
struct bounds {
    int64_t lb, ub, true_lb, true_ub;
};

/* What a tree is, for the message of a failure; cut where it grows long. */
static void desc_add(char *desc, const char *format, ...)
{
    va_list args;
    size_t end = strlen(desc);
    va_start(args, format);
    vsnprintf(desc + end, MAX_DESC - end, format, args);
    va_end(args);
}

static struct ref *ref_new(const char *format, ...)
{
    struct ref *r = malloc(sizeof *r);
    va_list args;
    if (!r) abort();
    r->type = NULL;
    r->child = NULL;
    r->n = 0;
    r->is_marked = r->is_over = false;
    r->mark_lb = r->mark_ub = 0;
    r->is_padded = false;
    va_start(args, format);
    vsnprintf(r->desc, sizeof r->desc, format, args);
    va_end(args);
    return r;
}

static void ref_free(struct ref *r)
{
    if (!r->type->obj.predefined) CHECK_EQ(type_free(&r->type), GW_OK);
    if (r->child) ref_free(r->child);
    free(r);
}

static struct bounds ref_bounds(const struct ref *r)
{
    struct bounds b = {0};
    int64_t align = 1;
    for (int i = 0; i < r->n; i++) {
        const struct entry *e = &r->e[i];
        if (i == 0 || e->disp < b.true_lb) b.true_lb = e->disp;
        if (i == 0 || e->disp + e->size > b.true_ub) b.true_ub = e->disp + e->size;
        align = gw_max64(align, e->align);
    }
    int64_t lb = r->is_padded ? r->whole_lb : b.true_lb, ub = r->is_padded ? r->whole_ub : b.true_ub;
    b.lb = r->is_marked ? r->mark_lb : lb;
    b.ub = r->is_marked ? r->mark_ub : lb + (ub - lb + align - 1) / align * align;
    return b;
}

/* One more copy of `old` at displacement `disp`. */
static void ref_place(struct ref *r, const struct ref *old, int64_t disp)
{
    if (r->n + old->n > MAX_ENTRIES) {
        r->is_over = true;
        return;
    }
    for (int i = 0; i < old->n; i++) {
        struct entry *e = &r->e[r->n++];
        *e = old->e[i];
        e->disp += disp;
        if (e->disp > MAX_SPAN || e->disp < -MAX_SPAN) r->is_over = true;
    }
    struct bounds b = ref_bounds(old);
    if (old->n > 0) {
        if (!r->is_padded || disp + b.lb < r->whole_lb) r->whole_lb = disp + b.lb;
        if (!r->is_padded || disp + b.ub > r->whole_ub) r->whole_ub = disp + b.ub;
        r->is_padded = true;
    }
    if (!old->is_marked) return;
    int64_t lb = disp + old->mark_lb, ub = disp + old->mark_ub;
    if (!r->is_marked || lb < r->mark_lb) r->mark_lb = lb;
    if (!r->is_marked || ub > r->mark_ub) r->mark_ub = ub;
    r->is_marked = true;
}

static int64_t ref_extent(const struct ref *r)
{
    struct bounds b = ref_bounds(r);
    return b.ub - b.lb;
}

static int64_t ref_size(const struct ref *r)
{
    int64_t size = 0;
    for (int i = 0; i < r->n; i++) size += r->e[i].size;
    return size;
}

/* ---- trees at random --------------------------------------------------------------------------------------------- */
static const struct basic {
    uint32_t id;
    int n;
    struct entry e[2];
    const char *name;
} basics[] = {
    {GW_H_CHAR, 1, {{0, 1, 1, GW_ELEM_CHAR}}, "char"},
    {GW_H_BYTE, 1, {{0, 1, 1, GW_ELEM_BYTE}}, "byte"},
    {GW_H_SHORT, 1, {{0, 2, 2, GW_ELEM_I16}}, "short"},
    {GW_H_INT, 1, {{0, 4, 4, GW_ELEM_I32}}, "int"},
    {GW_H_FLOAT, 1, {{0, 4, 4, GW_ELEM_F32}}, "float"},
    {GW_H_DOUBLE, 1, {{0, 8, 8, GW_ELEM_F64}}, "double"},
    {GW_H_INT64_T, 1, {{0, 8, 8, GW_ELEM_I64}}, "int64"},
    {GW_H_C_DOUBLE_COMPLEX, 1, {{0, 16, 8, GW_ELEM_C64}}, "complex"},
    {GW_H_LONG_DOUBLE, 1, {{0, sizeof(long double), _Alignof(long double), GW_ELEM_F80}}, "long double"},
    {GW_H_SHORT_INT, 2, {{0, 2, 2, GW_ELEM_SHORT_INT}, {4, 4, 4, GW_ELEM_SHORT_INT}}, "short_int"},
    {GW_H_DOUBLE_INT, 2, {{0, 8, 8, GW_ELEM_DOUBLE_INT}, {8, 4, 4, GW_ELEM_DOUBLE_INT}}, "double_int"},
    {GW_H_2INT, 2, {{0, 4, 4, GW_ELEM_2INT}, {4, 4, 4, GW_ELEM_2INT}}, "2int"},
};

static struct gw_type *predefined(uint32_t id) { return (struct gw_type *)gw_obj_lookup(id, GW_KIND_TYPE); }

static struct ref *tree_make(int depth);

static struct ref *make_basic(void)
{
    const struct basic *b = &basics[chance(0, GW_ARRAY_LEN(basics) - 1)];
    struct ref *r = ref_new("%s", b->name);
    r->type = predefined(b->id);
    r->n = b->n;
    memcpy(r->e, b->e, sizeof b->e);
    return r;
}

/* The same numbers as int and as 64-bit arrays. */
struct numbers {
    int64_t n64[MAX_ARGS];
    int n32[MAX_ARGS];
};

static void numbers_pick(struct numbers *a, int64_t n, int64_t low, int64_t high)
{
    for (int64_t i = 0; i < n; i++) a->n32[i] = (int)(a->n64[i] = chance(low, high));
}

static struct gw_counts numbers_as(const struct numbers *a, bool is_wide)
{
    return (struct gw_counts){is_wide ? (const void *)a->n64 : a->n32, is_wide};
}

static struct ref *make_regular(struct ref *old)
{
    int64_t count = chance(0, 4), len = chance(0, 3), step = chance(-4, 6), ex = ref_extent(old), unit = ex;
    struct ref *r;
    int rc;
    switch (chance(0, 2)) {
    case 0:
        r = ref_new("contiguous(%d, %s)", (int)count, old->desc);
        rc = type_contiguous(count, old->type, &r->type);
        len = step = 1;
        break;
    case 1:
        r = ref_new("vector(%d, %d, %d, %s)", (int)count, (int)len, (int)step, old->desc);
        rc = type_vector(count, len, step, old->type, &r->type);
        break;
    default:
        step = chance(0, 3) ? step * len * ex : chance(-40, 40);
        unit = 1;
        r = ref_new("hvector(%d, %d, %d, %s)", (int)count, (int)len, (int)step, old->desc);
        rc = type_hvector(count, len, step, old->type, &r->type);
    }
    CHECK_EQ(rc, GW_OK);
    if (chance(0, 1)) type_mark_large(r->type);
    for (int64_t i = 0; i < count && !r->is_over; i++)
        for (int64_t j = 0; j < len; j++) ref_place(r, old, i * step * unit + j * ex);
    return r;
}

static struct ref *make_indexed(struct ref *old)
{
    static const char *const names[] = {"indexed", "hindexed", "indexed_block", "hindexed_block"};
    int kind = (int)chance(0, 3);
    bool is_wide = chance(0, 1), in_bytes = kind & 1, is_block = kind >= 2;
    int64_t count = chance(0, MAX_ARGS), len = chance(0, 3), unit = in_bytes ? 1 : ref_extent(old);
    struct numbers lens, displs;
    numbers_pick(&lens, MAX_ARGS, 0, 3);
    numbers_pick(&displs, MAX_ARGS, in_bytes ? -50 : -8, in_bytes ? 90 : 12);
    if (!chance(0, 2)) /* regular after all: loops and merged blocks */
        for (int i = 0; i < MAX_ARGS; i++) {
            lens.n32[i] = (int)(lens.n64[i] = lens.n64[0]);
            displs.n32[i] = (int)(displs.n64[i] = displs.n64[0] + i * lens.n64[0] * (in_bytes ? ref_extent(old) : 1));
        }
    struct gw_counts l = numbers_as(&lens, is_wide), d = numbers_as(&displs, is_wide || in_bytes);
    struct ref *r = ref_new("%s(%d:", names[kind], (int)count);
    for (int i = 0; i < count; i++) desc_add(r->desc, " %d@%d", is_block ? (int)len : lens.n32[i], displs.n32[i]);
    desc_add(r->desc, ", %s)", old->desc);
    switch (kind) {
    case 0: CHECK_EQ(type_indexed(count, l, d, old->type, &r->type), GW_OK); break;
    case 1: CHECK_EQ(type_hindexed(count, l, d, old->type, &r->type), GW_OK); break;
    case 2: CHECK_EQ(type_indexed_block(count, len, d, old->type, &r->type), GW_OK); break;
    default: CHECK_EQ(type_hindexed_block(count, len, d, old->type, &r->type), GW_OK);
    }
    if (is_wide) type_mark_large(r->type);
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < (is_block ? len : lens.n64[i]); j++) ref_place(r, old, displs.n64[i] * unit + j * ref_extent(old));
    return r;
}

static struct ref *make_struct(struct ref *first, int depth)
{
    int64_t count = chance(0, MAX_ARGS), at = 0;
    bool is_wide = chance(0, 1), is_tight = chance(0, 1);
    struct ref *parts[MAX_ARGS] = {first};
    struct gw_type *types[MAX_ARGS];
    struct numbers lens, displs;
    char desc[MAX_DESC] = "";
    numbers_pick(&lens, MAX_ARGS, 0, 3);
    numbers_pick(&displs, MAX_ARGS, -50, 100);
    for (int64_t i = 0; i < count; i++) {
        if (i) parts[i] = tree_make((int)chance(0, depth - 1));
        types[i] = parts[i]->type;
        if (is_tight) displs.n64[i] = at;
        at += lens.n64[i] * ref_extent(parts[i]);
        desc_add(desc, "%d@%d %s; ", lens.n32[i], (int)displs.n64[i], parts[i]->desc);
    }
    struct ref *r = ref_new("struct{%s}", desc);
    int rc = type_struct(count, numbers_as(&lens, is_wide), numbers_as(&displs, true), types, &r->type);
    CHECK_EQ(rc, GW_OK);
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < lens.n64[i]; j++) ref_place(r, parts[i], displs.n64[i] + j * ref_extent(parts[i]));
    for (int64_t i = 1; i < count; i++) ref_free(parts[i]);
    return r;
}

/* Elements of an array in the order of memory: is the one at `index` ours? */
struct grid {
    int ndims, order;
    int64_t sizes[MAX_DIMS];
    bool (*owns)(const struct grid *g, int dim, int64_t index);
    const void *args;
};

static void grid_place(struct ref *r, const struct grid *g, const struct ref *old)
{
    int64_t all = 1, ex = ref_extent(old);
    for (int i = 0; i < g->ndims; i++) all *= g->sizes[i];
    for (int64_t linear = 0; linear < all; linear++) {
        int64_t rest = linear;
        bool owned = true;
        for (int k = 0; k < g->ndims; k++) {
            int dim = g->order == GW_ORDER_C ? g->ndims - 1 - k : k;
            owned = owned && g->owns(g, dim, rest % g->sizes[dim]);
            rest /= g->sizes[dim];
        }
        if (owned) ref_place(r, old, linear * ex);
    }
    r->is_marked = true;
    r->mark_lb = 0;
    r->mark_ub = all * ex;
}

struct sub {
    struct numbers sizes, subsizes, starts;
};

static bool sub_owns(const struct grid *g, int dim, int64_t index)
{
    const struct sub *s = g->args;
    return index >= s->starts.n64[dim] && index < s->starts.n64[dim] + s->subsizes.n64[dim];
}

static struct ref *make_subarray(struct ref *old)
{
    struct sub s;
    struct grid g = {.ndims = (int)chance(1, MAX_DIMS), .owns = sub_owns, .args = &s};
    g.order = chance(0, 1) ? GW_ORDER_C : GW_ORDER_FORTRAN;
    bool is_wide = chance(0, 1);
    numbers_pick(&s.sizes, g.ndims, 1, 4);
    for (int i = 0; i < g.ndims; i++) {
        g.sizes[i] = s.sizes.n64[i];
        s.subsizes.n32[i] = (int)(s.subsizes.n64[i] = chance(1, g.sizes[i]));
        s.starts.n32[i] = (int)(s.starts.n64[i] = chance(0, g.sizes[i] - s.subsizes.n64[i]));
    }
    struct ref *r = ref_new("subarray(");
    for (int i = 0; i < g.ndims; i++) desc_add(r->desc, "%d/%d+%d ", s.subsizes.n32[i], s.sizes.n32[i], s.starts.n32[i]);
    desc_add(r->desc, "order %d, %s)", g.order, old->desc);
    int rc = type_subarray(g.ndims, numbers_as(&s.sizes, is_wide), numbers_as(&s.subsizes, is_wide), numbers_as(&s.starts, is_wide),
                           g.order, old->type, &r->type);
    CHECK_EQ(rc, GW_OK);
    if (is_wide) type_mark_large(r->type);
    grid_place(r, &g, old);
    return r;
}

struct dist {
    int kind[MAX_DIMS], arg[MAX_DIMS], procs[MAX_DIMS], coord[MAX_DIMS];
};

static bool dist_owns(const struct grid *g, int dim, int64_t index)
{
    const struct dist *d = g->args;
    int64_t block = d->arg[dim];
    if (d->kind[dim] == GW_DISTRIBUTE_NONE) return true;
    if (block == GW_DISTRIBUTE_DFLT_DARG)
        block = d->kind[dim] == GW_DISTRIBUTE_CYCLIC ? 1 : (g->sizes[dim] + d->procs[dim] - 1) / d->procs[dim];
    return index / block % d->procs[dim] == d->coord[dim];
}

static struct ref *make_darray(struct ref *old)
{
    static const int kinds[] = {GW_DISTRIBUTE_NONE, GW_DISTRIBUTE_BLOCK, GW_DISTRIBUTE_CYCLIC};
    struct dist d;
    struct numbers sizes;
    struct grid g = {.ndims = (int)chance(1, MAX_DIMS), .owns = dist_owns, .args = &d};
    g.order = chance(0, 1) ? GW_ORDER_C : GW_ORDER_FORTRAN;
    int size = 1, rank = 0;
    bool is_wide = chance(0, 1);
    numbers_pick(&sizes, g.ndims, 1, 6);
    char desc[MAX_DESC] = "";
    for (int i = 0; i < g.ndims; i++) {
        g.sizes[i] = sizes.n64[i];
        d.kind[i] = kinds[chance(0, 2)];
        d.procs[i] = d.kind[i] == GW_DISTRIBUTE_NONE ? 1 : (int)chance(1, 3);
        d.coord[i] = (int)chance(0, d.procs[i] - 1);
        d.arg[i] = (int)chance(d.kind[i] == GW_DISTRIBUTE_BLOCK ? (g.sizes[i] + d.procs[i] - 1) / d.procs[i] : 1, 7);
        if (d.kind[i] == GW_DISTRIBUTE_NONE) d.arg[i] = (int)chance(-1, 1); /* ignored */
        if (chance(0, 1)) d.arg[i] = GW_DISTRIBUTE_DFLT_DARG;
        size *= d.procs[i];
        rank = rank * d.procs[i] + d.coord[i];
        desc_add(desc, "%d kind %d arg %d %d/%d; ", sizes.n32[i], d.kind[i], d.arg[i], d.coord[i], d.procs[i]);
    }
    struct ref *r = ref_new("darray(%s order %d, %s)", desc, g.order, old->desc);
    int rc = type_darray(size, rank, g.ndims, numbers_as(&sizes, is_wide), d.kind, d.arg, d.procs, g.order, old->type, &r->type);
    CHECK_EQ(rc, GW_OK);
    if (is_wide) type_mark_large(r->type);
    grid_place(r, &g, old);
    return r;
}

static struct ref *make_wrapped(struct ref *old)
{
    struct ref *r;
    if (!chance(0, 2)) {
        r = ref_new("dup(%s)", old->desc);
        CHECK_EQ(type_dup(old->type, &r->type), GW_OK);
        ref_place(r, old, 0);
        return r;
    }
    int64_t lb = chance(-30, 30), extent = chance(-20, 80);
    if (chance(0, 1)) lb = ref_bounds(old).lb, extent = ref_extent(old) + chance(0, 16);
    r = ref_new("resized(%d, %d, %s)", (int)lb, (int)extent, old->desc);
    CHECK_EQ(type_resized(old->type, lb, extent, &r->type), GW_OK);
    if (chance(0, 1)) type_mark_large(r->type);
    ref_place(r, old, 0);
    r->is_marked = true;
    r->mark_lb = lb;
    r->mark_ub = lb + extent;
    return r;
}

/* A tree of this depth; less deep where it would grow too large. */
static struct ref *tree_make(int depth)
{
    if (depth == 0) return make_basic();
    struct ref *old = tree_make(depth - 1), *r;
    switch (chance(0, 6)) {
    case 0:
    case 1: r = make_regular(old); break;
    case 2: r = make_indexed(old); break;
    case 3: r = make_struct(old, depth); break;
    case 4: r = make_subarray(old); break;
    case 5: r = make_darray(old); break;
    default: r = make_wrapped(old);
    }
    struct bounds b = ref_bounds(r);
    bool is_large = r->is_over || llabs(b.ub - b.lb) > MAX_SPAN || llabs(b.lb) > MAX_SPAN;
    if (is_large) {
        ref_free(r);
        return old;
    }
    if (chance(0, 1))
        r->child = old;
    else
        ref_free(old); /* it lives on in what was made of it */
    return r;
}

/* ---- what the room says of a type -------------------------------------------------------------------------------- */
static bool is_one_run(const struct ref *r)
{
    for (int i = 1; i < r->n; i++)
        if (r->e[i].disp != r->e[i - 1].disp + r->e[i - 1].size) return false;
    return r->n > 0;
}

static void check_inquiries(const struct ref *r)
{
    struct bounds b = ref_bounds(r);
    int64_t size, lb, extent, true_lb, true_extent;
    int kind = r->n ? r->e[0].kind : GW_ELEM_NONE;
    CHECK_EQ(type_size(r->type, &size), GW_OK);
    CHECK_EQ(type_get_extent(r->type, &lb, &extent), GW_OK);
    CHECK_EQ(type_get_true_extent(r->type, &true_lb, &true_extent), GW_OK);
    CHECK_EQ(size, ref_size(r));
    CHECK_EQ(lb, b.lb);
    CHECK_EQ(extent, b.ub - b.lb);
    CHECK_EQ(true_lb, b.true_lb);
    CHECK_EQ(true_extent, b.true_ub - b.true_lb);
    CHECK_EQ(r->type->n_elems, r->n);
    for (int i = 1; i < r->n; i++)
        if (r->e[i].kind != kind) kind = GW_ELEM_NONE;
    CHECK_EQ(r->type->basic, kind);
    CHECK_EQ(r->type->is_single, is_one_run(r));
    CHECK_EQ(r->type->is_dense, is_one_run(r) && extent == size);
}

static void check_counts(const struct ref *r)
{
    struct gw_status s = {0};
    int64_t size = ref_size(r), bytes = 0, elems = 0, got;
    int copies = r->n ? 2 : 0;
    for (int c = 0; c < copies; c++)
        for (int i = 0; i < r->n; i++, elems++) {
            for (int cut = 0; cut < r->e[i].size; cut++) {
                gw_status_fill(&s, 0, 0, bytes + cut, false);
                CHECK_EQ(type_get_elements(&s, r->type, &got), GW_OK);
                CHECK_EQ(got, cut ? GW_UNDEFINED : elems);
                if (cut > 1) cut = r->e[i].size - 1;
            }
            gw_status_fill(&s, 0, 0, -1, false);
            CHECK_EQ(type_status_set_elements(&s, r->type, elems), GW_OK);
            CHECK_EQ(gw_status_bytes(&s), bytes);
            bytes += r->e[i].size;
        }
    for (int i = 0; i < 4; i++) {
        bytes = i < 2 ? i * size : chance(0, 3 * size + 1);
        gw_status_fill(&s, 0, 0, bytes, false);
        CHECK_EQ(type_get_count(&s, r->type, &got), GW_OK);
        CHECK_EQ(got, size == 0 ? (bytes ? GW_UNDEFINED : 0) : bytes % size ? GW_UNDEFINED : bytes / size);
    }
}

/* ---- moving bytes ------------------------------------------------------------------------------------------------ */
/* Memory of `count` instances, exactly as large as they reach, and where in it every byte of the stream lies. */
struct layout {
    const struct ref *ref;
    int64_t count, total, span;
    int32_t *at;
    char *mem, *buf; /* buf: what the user would pass */
    bool overlaps;
};

static void noise(char *p, int64_t n)
{
    for (int64_t i = 0; i < n; i++) p[i] = (char)chance_next();
}

static struct layout layout_make(const struct ref *r, int64_t count)
{
    struct bounds b = ref_bounds(r);
    int64_t ex = b.ub - b.lb, lo = 0, hi = 0;
    struct layout l = {.ref = r, .count = count, .total = count * ref_size(r)};
    if (l.total) {
        lo = b.true_lb + gw_min64(0, (count - 1) * ex);
        hi = b.true_ub + gw_max64(0, (count - 1) * ex);
    }
    int64_t got_lo, got_hi, k = 0;
    CHECK(type_bounds(r->type, count, &got_lo, &got_hi));
    CHECK_EQ(got_lo, lo);
    CHECK_EQ(got_hi, hi);
    l.span = hi - lo;
    l.mem = malloc((size_t)l.span + 1);
    l.at = malloc(sizeof *l.at * (size_t)(l.total + 1));
    char *seen = calloc(1, (size_t)l.span + 1);
    if (!l.mem || !l.at || !seen) abort();
    l.buf = l.mem - lo;
    noise(l.mem, l.span);
    for (int64_t c = 0; c < count; c++)
        for (int i = 0; i < r->n; i++)
            for (int byte = 0; byte < r->e[i].size; byte++, k++) {
                l.at[k] = (int32_t)(c * ex + r->e[i].disp + byte - lo);
                l.overlaps = l.overlaps || seen[l.at[k]]++;
            }
    free(seen);
    return l;
}

static void layout_free(struct layout *l)
{
    free(l->mem);
    free(l->at);
}

static bool same(const char *a, const char *b, int64_t n) { return n == 0 || memcmp(a, b, (size_t)n) == 0; }

/* Through a cursor in pieces, sometimes from another place. */
static void check_pieces(const struct layout *l, const char *want, bool unpack)
{
    struct type_cursor c;
    char *piece = malloc((size_t)l->total + 1);
    type_cursor_init(&c, gw_data_host(l->buf, l->count, l->ref->type));
    CHECK_EQ(c.data.bytes, l->total);
    int64_t longest = chance(1, 2) == 1 ? 40 : l->total + 1;
    while (c.pos < l->total) {
        int64_t n = chance(1, longest), from = c.pos, moved = gw_min64(n, l->total - from);
        if (unpack) {
            CHECK_EQ(type_cursor_unpack(&c, want + from, moved), moved);
        } else {
            memset(piece, 0, (size_t)l->total + 1);
            CHECK_EQ(type_cursor_pack(&c, piece, n), moved);
            CHECK(same(piece, want + from, moved) && piece[moved] == 0);
        }
        CHECK_EQ(c.pos, from + moved);
        if (unit_failures) break;
        if (!unpack && !chance(0, 7)) {
            type_cursor_seek(&c, chance(0, l->total));
            if (chance(0, 1)) break;
        }
    }
    free(piece);
}

static void check_iov(const struct layout *l, const char *want)
{
    struct type_cursor c;
    struct iovec iov[8];
    type_cursor_init(&c, gw_data_host(l->buf, l->count, l->ref->type));
    int64_t most = chance(1, l->total + 1), got;
    int rounds = 0;
    if (chance(0, 1)) type_cursor_seek(&c, chance(0, l->total));
    while (c.pos < l->total && !unit_failures && rounds++ < 200) {
        int64_t from = c.pos, sum = 0;
        int max = (int)chance(1, 8), n = type_cursor_iov(&c, iov, max, most, &got);
        CHECK(n >= 1 && n <= max && got >= 1 && got <= most);
        for (int i = 0; i < n; i++) {
            CHECK(sum + (int64_t)iov[i].iov_len <= got);
            CHECK(iov[i].iov_len > 0 && same(iov[i].iov_base, want + from + sum, (int64_t)iov[i].iov_len));
            sum += (int64_t)iov[i].iov_len;
        }
        CHECK_EQ(sum, got);
        CHECK_EQ(c.pos, from + got);
        CHECK(n == max || got == gw_min64(most, l->total - from)); /* no fewer than asked for */
    }
}

static void check_moves(const struct ref *r)
{
    struct layout l = layout_make(r, chance(0, MAX_COUNT));
    char *want = malloc((size_t)l.total + 1), *got = malloc((size_t)l.total + 1), *after = malloc((size_t)l.span + 1);
    int64_t position = 0, size;
    for (int64_t k = 0; k < l.total; k++) want[k] = l.mem[l.at[k]];
    type_pack(l.buf, l.count, r->type, got);
    CHECK(same(got, want, l.total));
    memset(got, 0, (size_t)l.total + 1);
    CHECK_EQ(type_mpi_pack_size(l.count, r->type, &size), GW_OK);
    CHECK_EQ(size, l.total);
    CHECK_EQ(type_mpi_pack(l.buf, l.count, r->type, got, l.total, &position), GW_OK);
    CHECK(position == l.total && same(got, want, l.total));
    check_pieces(&l, want, false);
    check_iov(&l, want);
    for (int way = 0; way < 3 && !l.overlaps; way++) { /* what is in no element stays */
        noise(l.mem, l.span);
        noise(want, l.total);
        memcpy(after, l.mem, (size_t)l.span);
        for (int64_t k = 0; k < l.total; k++) after[l.at[k]] = want[k];
        position = 0;
        if (way == 0)
            type_unpack(l.buf, l.count, r->type, want);
        else if (way == 1)
            check_pieces(&l, want, true);
        else
            CHECK_EQ(type_mpi_unpack(want, l.total, &position, l.buf, l.count, r->type), GW_OK);
        CHECK(same(l.mem, after, l.span));
    }
    free(after);
    free(got);
    free(want);
    layout_free(&l);
}

static void check_copy(const struct ref *a, const struct ref *b)
{
    struct layout from = layout_make(a, chance(0, MAX_COUNT)), to = layout_make(b, chance(0, MAX_COUNT));
    int64_t n = gw_min64(from.total, to.total);
    char *after = malloc((size_t)to.span + 1);
    if (!to.overlaps) {
        memcpy(after, to.mem, (size_t)to.span);
        for (int64_t k = 0; k < n; k++) after[to.at[k]] = from.mem[from.at[k]];
        CHECK_EQ(type_copy(from.buf, from.count, a->type, to.buf, to.count, b->type), n);
        CHECK(same(to.mem, after, to.span));
    }
    free(after);
    layout_free(&from);
    layout_free(&to);
}

/* ---- external32 -------------------------------------------------------------------------------------------------- */
static void check_external(const struct ref *r)
{
    for (int i = 0; i < r->n; i++)
        if (r->e[i].kind == GW_ELEM_F80) return; /* not all bytes of it count */
    struct layout l = layout_make(r, chance(0, MAX_COUNT));
    char *want = malloc((size_t)l.total + 1), *got = malloc((size_t)l.total + 1), *after = malloc((size_t)l.span + 1);
    int64_t k = 0, size, position = 0;
    for (int64_t c = 0; c < l.count; c++)
        for (int i = 0; i < r->n; i++) {
            int each = r->e[i].size, part = r->e[i].kind == GW_ELEM_C64 ? 8 : each;
            for (int byte = 0; byte < each; byte++) want[k + byte] = l.mem[l.at[k + byte / part * part + part - 1 - byte % part]];
            k += each;
        }
    CHECK_EQ(type_mpi_pack_external_size("external32", l.count, r->type, &size), GW_OK);
    CHECK_EQ(size, l.total);
    CHECK_EQ(type_mpi_pack_external("external32", l.buf, l.count, r->type, got, size, &position), GW_OK);
    CHECK_EQ(position, l.total);
    CHECK(same(got, want, l.total));
    if (!l.overlaps) {
        memcpy(after, l.mem, (size_t)l.span);
        for (k = 0; k < l.total; k++) l.mem[l.at[k]] = 0;
        position = 0;
        CHECK_EQ(type_mpi_unpack_external("external32", want, l.total, &position, l.buf, l.count, r->type), GW_OK);
        CHECK_EQ(position, l.total);
        CHECK(same(l.mem, after, l.span));
    }
    free(after);
    free(got);
    free(want);
    layout_free(&l);
}

/* ---- envelope and contents --------------------------------------------------------------------------------------- */
struct contents {
    int64_t n_ints, n_aints, n_counts, n_types;
    int combiner, ints[24];
    int64_t aints[24], counts[24];
    struct gw_type *types[MAX_ARGS];
};

static void contents_get(struct gw_type *t, struct contents *c)
{
    memset(c, 0, sizeof *c);
    CHECK_EQ(type_get_envelope(t, &c->n_ints, &c->n_aints, &c->n_counts, &c->n_types, &c->combiner), GW_OK);
    if (c->combiner == GW_COMBINER_NAMED) return;
    int rc = type_get_contents(t, c->n_ints, c->n_aints, c->n_counts, c->n_types, c->ints, c->aints, c->counts, c->types);
    CHECK_EQ(rc, GW_OK);
}

/* The handles that contents gave are the caller's to free. */
static void contents_free(struct contents *c)
{
    for (int64_t i = 0; i < c->n_types; i++)
        if (!c->types[i]->obj.predefined) CHECK_EQ(type_free(&c->types[i]), GW_OK);
}

static int rebuild_array(const struct contents *c, struct gw_type **type_out)
{
    bool is_wide = c->n_counts > 0;
    const int *i = c->ints;
    if (c->combiner == GW_COMBINER_SUBARRAY) {
        int64_t n = i[0];
        const void *v[3];
        for (int k = 0; k < 3; k++) v[k] = is_wide ? (const void *)&c->counts[k * n] : &i[1 + k * n];
        return type_subarray((int)n, (struct gw_counts){v[0], is_wide}, (struct gw_counts){v[1], is_wide},
                             (struct gw_counts){v[2], is_wide}, i[c->n_ints - 1], c->types[0], type_out);
    }
    int64_t n = i[2];
    const int *lists = is_wide ? i + 3 : i + 3 + n;
    struct gw_counts gsizes = {is_wide ? (const void *)c->counts : i + 3, is_wide};
    return type_darray(i[0], i[1], (int)n, gsizes, lists, lists + n, lists + 2 * n, i[c->n_ints - 1], c->types[0], type_out);
}

static int rebuild(const struct contents *c, struct gw_type **type_out)
{
    bool is_wide = c->n_counts > 0;
    int64_t x[3] = {0}, n = 0;
    for (int k = 0; k < 3; k++) x[k] = is_wide ? c->counts[k] : k < c->n_ints ? c->ints[k] : c->aints[k - c->n_ints];
    struct gw_type *old = c->types[0];
    if (c->combiner >= GW_COMBINER_INDEXED && c->combiner <= GW_COMBINER_STRUCT) n = x[0];
    /* Lists behind one number (indexed, struct) or two (blocks). */
    struct gw_counts lens = {is_wide ? (const void *)&c->counts[1] : &c->ints[1], is_wide};
    struct gw_counts displs = {is_wide ? (const void *)&c->counts[1 + n] : &c->ints[1 + n], is_wide};
    struct gw_counts block_displs = {is_wide ? (const void *)&c->counts[2] : &c->ints[2], is_wide};
    struct gw_counts bytes = is_wide ? displs : (struct gw_counts){c->aints, true};
    struct gw_counts block_bytes = is_wide ? block_displs : (struct gw_counts){c->aints, true};
    switch (c->combiner) {
    case GW_COMBINER_DUP: return type_dup(old, type_out);
    case GW_COMBINER_CONTIGUOUS: return type_contiguous(x[0], old, type_out);
    case GW_COMBINER_VECTOR: return type_vector(x[0], x[1], x[2], old, type_out);
    case GW_COMBINER_HVECTOR: return type_hvector(x[0], x[1], x[2], old, type_out);
    case GW_COMBINER_INDEXED: return type_indexed(n, lens, displs, old, type_out);
    case GW_COMBINER_HINDEXED: return type_hindexed(n, lens, bytes, old, type_out);
    case GW_COMBINER_INDEXED_BLOCK: return type_indexed_block(n, x[1], block_displs, old, type_out);
    case GW_COMBINER_HINDEXED_BLOCK: return type_hindexed_block(n, x[1], block_bytes, old, type_out);
    case GW_COMBINER_STRUCT: return type_struct(n, lens, bytes, (struct gw_type **)(uintptr_t)c->types, type_out);
    case GW_COMBINER_RESIZED: return type_resized(old, x[0], x[1], type_out);
    default: return rebuild_array(c, type_out);
    }
}

static void check_contents(struct ref *r)
{
    struct contents c, again;
    struct gw_type *original = r->type, *t;
    contents_get(original, &c);
    if (c.combiner == GW_COMBINER_NAMED) {
        CHECK(original->obj.predefined);
        return;
    }
    int rc = rebuild(&c, &t);
    CHECK_EQ(rc, GW_OK);
    if (rc != GW_OK) return;
    if (c.n_counts) type_mark_large(t);
    contents_get(t, &again);
    CHECK(memcmp(&c, &again, sizeof c) == 0);
    contents_free(&again);
    r->type = t;
    check_inquiries(r);
    check_moves(r);
    r->type = original;
    contents_free(&c);
    CHECK_EQ(type_free(&t), GW_OK);
    contents_get(original, &c); /* handles that were freed come back alive */
    for (int64_t i = 0; i < c.n_types; i++) CHECK(gw_obj_lookup(c.types[i]->obj.id, GW_KIND_TYPE) == &c.types[i]->obj);
    contents_free(&c);
    if (!r->child) return;
    struct gw_obj *child = &r->child->type->obj; /* freeing what contents gave does not free the maker's handle */
    CHECK(child->id && gw_obj_lookup(child->id, GW_KIND_TYPE) == child);
}

static void random_trees(uint64_t seed, int trees)
{
    for (int i = 0; i < trees && !unit_failures; i++) {
        chance_seed(seed + (uint64_t)i);
        struct ref *r = tree_make((int)chance(0, 4)), *other = tree_make((int)chance(0, 2));
        CHECK_EQ(type_commit(&r->type), GW_OK);
        check_inquiries(r);
        if (!unit_failures) check_counts(r);
        if (!unit_failures) check_moves(r);
        if (!unit_failures) check_copy(other, r);
        if (!unit_failures) check_copy(r, other);
        if (!unit_failures) check_external(r);
        if (!unit_failures) check_contents(r);
        if (unit_failures) fprintf(stderr, "seed %llu: %s\n", (unsigned long long)(seed + (uint64_t)i), r->desc);
        ref_free(other);
        ref_free(r);
    }
}

int main(int argc, char **argv)
{
    CHECK_EQ(type_init(), GW_OK);
    random_trees(argc > 1 ? strtoull(argv[1], NULL, 10) : 1, argc > 2 ? atoi(argv[2]) : 10000);
    type_finalize();
    gw_obj_finalize();
    return unit_end();
}
