/* construct.c -- the datatype constructors of MPI 4.1 section 5.1: make shapes of their arguments.
 *
 * Each type keeps the arguments as MPI_Type_get_contents returns them: ints for plain calls (and aints for byte displacements),
 * counts for large-count calls (wide).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "type/type_private.h"
#include "base/base.h"

#include <stdlib.h>

/* Types of large-count constructors are marked afterwards: see type_mark_large(). */
#define MAX_FEW 3

static int count_check(const char *what, int64_t v)
{
    if (v >= 0) return GW_OK;
    return gw_fail(GW_ECOUNT, "%s is %lld; it must not be negative", what, (long long)v);
}

/* Constructors with a few numbers, one old type and a regular shape. */
struct few {
    int combiner;
    int64_t ints[MAX_FEW];
    int n_ints;
    int64_t aints[2];
    int n_aints;
};

static int make_few(const struct few *f, int64_t outer, int64_t stride, int64_t blocklen, struct gw_type *old,
                    struct gw_type **type_out)
{
    int ints[MAX_FEW];
    assert(f->n_ints <= MAX_FEW && f->n_aints <= 2);
    for (int i = 0; i < f->n_ints; i++) ints[i] = (int)f->ints[i];
    struct type_seg seg = {blocklen, 0, old};
    struct type_args a = {.combiner = f->combiner,
                          .n_ints = f->n_ints,
                          .ints = ints,
                          .n_aints = f->n_aints,
                          .aints = f->aints,
                          .n_types = 1,
                          .types = &old,
                          .outer = outer,
                          .stride = stride,
                          .n_segs = 1,
                          .segs = &seg};
    int rc = type_make(&a, type_out);
    for (int i = 0; rc == GW_OK && i < f->n_ints; i++) (*type_out)->tree->few[i] = f->ints[i];
    return rc;
}

void type_mark_large(struct gw_type *t)
{
    struct type_tree *tree = t->tree;
    if (!tree || tree->n_counts) return;
    int64_t keep_ints = tree->combiner == GW_COMBINER_SUBARRAY ? 2 : 0, n = tree->n_ints + tree->n_aints - keep_ints;
    if (n <= 0) return;
    int64_t *counts = malloc(sizeof *counts * (size_t)n);
    if (!counts) return;
    /* ndims and order of a subarray stay ints. */
    int64_t k = 0, last = keep_ints ? tree->n_ints - 1 : tree->n_ints;
    bool is_few = !keep_ints && tree->n_ints <= MAX_FEW;
    for (int64_t i = keep_ints ? 1 : 0; i < last; i++) counts[k++] = is_few && tree->few[i] ? tree->few[i] : tree->ints[i];
    for (int64_t i = 0; i < tree->n_aints; i++) counts[k++] = tree->aints[i];
    assert(k == n);
    if (keep_ints) tree->ints[1] = tree->ints[tree->n_ints - 1];
    tree->n_ints = keep_ints;
    tree->n_aints = 0;
    tree->counts = counts;
    tree->n_counts = k;
}

int type_contiguous(int64_t count, struct gw_type *old, struct gw_type **type_out)
{
    int rc = count_check("count", count);
    struct few f = {GW_COMBINER_CONTIGUOUS, {count}, 1, {0}, 0};
    return rc != GW_OK ? rc : make_few(&f, 1, 0, count, old, type_out);
}

static bool scaled(int64_t n, int64_t unit, int64_t *bytes_out) { return !__builtin_mul_overflow(n, unit, bytes_out); }

int type_vector(int64_t count, int64_t blocklen, int64_t stride, struct gw_type *old, struct gw_type **type_out)
{
    int64_t bytes;
    int rc = count_check("count", count);
    if (rc == GW_OK) rc = count_check("blocklength", blocklen);
    if (rc != GW_OK) return rc;
    if (!scaled(stride, old->extent, &bytes))
        return gw_fail(GW_EARG, "stride %lld times the extent %lld is too large", (long long)stride, (long long)old->extent);
    struct few f = {GW_COMBINER_VECTOR, {count, blocklen, stride}, 3, {0}, 0};
    return make_few(&f, count, bytes, blocklen, old, type_out);
}

int type_hvector(int64_t count, int64_t blocklen, int64_t stride_bytes, struct gw_type *old, struct gw_type **type_out)
{
    int rc = count_check("count", count);
    if (rc == GW_OK) rc = count_check("blocklength", blocklen);
    struct few f = {GW_COMBINER_HVECTOR, {count, blocklen}, 2, {stride_bytes}, 1};
    return rc != GW_OK ? rc : make_few(&f, count, stride_bytes, blocklen, old, type_out);
}

/* ---- lists of blocks --------------------------------------------------------------------------------------------------- */
/* The arguments that the indexed constructors and struct have in common. */
struct blocks {
    int combiner;
    int64_t count;
    struct gw_counts lens;
    int64_t len; /* block forms: the length of all blocks */
    struct gw_counts displs;
    int64_t unit;        /* of displacements, in bytes; 0: the old type's extent */
    struct gw_type *old; /* not of a struct, which has types[] */
    struct gw_type **types;
};

/* These do not read the arrays, which may be NULL if there are no entries. */
static bool has_one_length(const struct blocks *b)
{
    return b->combiner == GW_COMBINER_INDEXED_BLOCK || b->combiner == GW_COMBINER_HINDEXED_BLOCK;
}
static bool has_types(const struct blocks *b) { return b->combiner == GW_COMBINER_STRUCT; }

static int blocks_segs(const struct blocks *b, struct type_seg *segs)
{
    for (int64_t i = 0; i < b->count; i++) {
        struct type_seg *s = &segs[i];
        int64_t d = gw_counts_at(b->displs, i);
        s->type = has_types(b) ? b->types[i] : b->old;
        s->count = has_one_length(b) ? b->len : gw_counts_at(b->lens, i);
        if (s->count < 0)
            return gw_fail(GW_ECOUNT, "array_of_blocklengths[%lld] is %lld; it must not be negative", (long long)i,
                           (long long)s->count);
        if (!scaled(d, b->unit ? b->unit : s->type->extent, &s->disp))
            return gw_fail(GW_EARG, "array_of_displacements[%lld] is %lld: too large", (long long)i, (long long)d);
    }
    return GW_OK;
}

/* Writes the arguments for MPI_Type_get_contents: lengths and element displacements are ints, byte displacements aints; in the
 * large-count forms all are counts. */
static int64_t blocks_contents(const struct blocks *b, int *ints, int64_t *longs, struct type_args *a)
{
    int64_t ni = 0, nl = 0;
    bool large = has_one_length(b) ? b->displs.wide && b->unit == 0 : b->lens.wide; /* hindexed_block: see type_mark_large() */
    if (large)
        longs[nl++] = b->count;
    else
        ints[ni++] = (int)b->count;
    if (has_one_length(b)) {
        if (large)
            longs[nl++] = b->len;
        else
            ints[ni++] = (int)b->len;
    }
    for (int64_t i = 0; !has_one_length(b) && i < b->count; i++) {
        if (large)
            longs[nl++] = gw_counts_at(b->lens, i);
        else
            ints[ni++] = (int)gw_counts_at(b->lens, i);
    }
    for (int64_t i = 0; i < b->count; i++) {
        if (large || b->unit)
            longs[nl++] = gw_counts_at(b->displs, i);
        else
            ints[ni++] = (int)gw_counts_at(b->displs, i);
    }
    assert(ni <= 2 * b->count + 2 && nl <= 2 * b->count + 2); /* the room that make_blocks() has */
    a->n_ints = ni;
    a->ints = ints;
    if (large)
        a->n_counts = nl, a->counts = longs;
    else
        a->n_aints = nl, a->aints = longs;
    return nl;
}

static int make_blocks(const struct blocks *b, struct gw_type **type_out)
{
    int rc = count_check("count", b->count);
    if (rc == GW_OK && has_one_length(b)) rc = count_check("blocklength", b->len);
    if (rc != GW_OK) return rc;
    size_t n = (size_t)b->count;
    struct type_seg *segs = malloc(sizeof *segs * (n + 1));
    int *ints = malloc(sizeof *ints * (2 * n + 2));
    int64_t *longs = malloc(sizeof *longs * (2 * n + 2));
    if (!segs || !ints || !longs) {
        rc = gw_fail(GW_ENOMEM, "no memory for a datatype of %lld blocks", (long long)b->count);
    } else if ((rc = blocks_segs(b, segs)) == GW_OK) {
        struct gw_type *old = b->old;
        struct type_args a = {.combiner = b->combiner, .outer = 1, .n_segs = b->count, .segs = segs};
        a.n_types = has_types(b) ? b->count : 1;
        a.types = has_types(b) ? b->types : &old;
        blocks_contents(b, ints, longs, &a);
        rc = type_make(&a, type_out);
        if (rc == GW_OK && has_one_length(b)) (*type_out)->tree->few[0] = b->count, (*type_out)->tree->few[1] = b->len;
    }
    free(longs);
    free(ints);
    free(segs);
    return rc;
}

int type_indexed(int64_t count, struct gw_counts blocklens, struct gw_counts displs, struct gw_type *old, struct gw_type **type_out)
{
    struct blocks b = {.combiner = GW_COMBINER_INDEXED, .count = count, .lens = blocklens, .displs = displs, .old = old};
    return make_blocks(&b, type_out);
}

int type_hindexed(int64_t count, struct gw_counts blocklens, struct gw_counts displs_bytes, struct gw_type *old,
                  struct gw_type **type_out)
{
    struct blocks b = {
        .combiner = GW_COMBINER_HINDEXED, .count = count, .lens = blocklens, .displs = displs_bytes, .unit = 1, .old = old};
    return make_blocks(&b, type_out);
}

int type_indexed_block(int64_t count, int64_t blocklen, struct gw_counts displs, struct gw_type *old, struct gw_type **type_out)
{
    struct blocks b = {.combiner = GW_COMBINER_INDEXED_BLOCK, .count = count, .len = blocklen, .displs = displs, .old = old};
    return make_blocks(&b, type_out);
}

int type_hindexed_block(int64_t count, int64_t blocklen, struct gw_counts displs_bytes, struct gw_type *old,
                        struct gw_type **type_out)
{
    struct blocks b = {
        .combiner = GW_COMBINER_HINDEXED_BLOCK, .count = count, .len = blocklen, .displs = displs_bytes, .unit = 1, .old = old};
    return make_blocks(&b, type_out);
}

int type_struct(int64_t count, struct gw_counts blocklens, struct gw_counts displs_bytes, struct gw_type **types,
                struct gw_type **type_out)
{
    struct blocks b = {
        .combiner = GW_COMBINER_STRUCT, .count = count, .lens = blocklens, .displs = displs_bytes, .unit = 1, .types = types};
    return make_blocks(&b, type_out);
}

/* ---- resized, dup -------------------------------------------------------------------------------------------------------- */
int type_resized(struct gw_type *old, int64_t lb, int64_t extent, struct gw_type **type_out)
{
    int64_t aints[2] = {lb, extent};
    struct type_seg seg = {1, 0, old};
    struct type_args a = {.combiner = GW_COMBINER_RESIZED,
                          .n_aints = 2,
                          .aints = aints,
                          .n_types = 1,
                          .types = &old,
                          .outer = 1,
                          .n_segs = 1,
                          .segs = &seg,
                          .resized = true,
                          .lb = lb,
                          .extent = extent};
    return type_make(&a, type_out);
}

int type_dup(struct gw_type *old, struct gw_type **type_out)
{
    struct few f = {GW_COMBINER_DUP, {0}, 0, {0}, 0};
    struct gw_type *t;
    int rc = make_few(&f, 1, 0, 1, old, &t);
    if (rc != GW_OK) return rc;
    /* A duplicate has exactly the same bounds: no rounding, no markers. */
    t->lb = old->lb;
    t->extent = old->extent;
    t->is_dense = t->is_single && t->extent == t->size;
    if (old->committed) type_set_committed(t);
    rc = gw_attr_copy_all(&old->attrs, &old->obj, &t->attrs);
    if (rc != GW_OK) {
        gw_attr_delete_all(&t->attrs, &t->obj);
        type_release(t);
        return rc;
    }
    *type_out = t;
    return GW_OK;
}

/* ---- arrays: built of simpler types, with the user's arguments kept for MPI_Type_get_contents ------------------------------ */
/* The state while dimensions are added, the fastest first. */
struct array_build {
    struct gw_type *so_far;
    int64_t span; /* bytes of the full array in the dimensions done */
};

static int array_replace(struct array_build *b, int rc, struct gw_type *next)
{
    if (rc != GW_OK) return rc;
    type_release(b->so_far);
    b->so_far = next;
    return GW_OK;
}

/* Sets lb 0 and the extent of the full array, and makes the outer type, which has the combiner and the arguments. */
static int array_finish(struct array_build *b, struct type_args *a, struct gw_type **type_out)
{
    struct type_seg seg = {1, 0, b->so_far};
    a->outer = 1;
    a->n_segs = 1;
    a->segs = &seg;
    a->resized = true;
    a->lb = 0;
    a->extent = b->span;
    return type_make(a, type_out);
}

static int subarray_check(int ndims, struct gw_counts sizes, struct gw_counts subsizes, struct gw_counts starts, int order)
{
    if (ndims < 1) return gw_fail(GW_EARG, "ndims is %d; it must be at least 1", ndims);
    if (order != GW_ORDER_C && order != GW_ORDER_FORTRAN)
        return gw_fail(GW_EARG, "order is %d; it must be MPI_ORDER_C or MPI_ORDER_FORTRAN", order);
    for (int i = 0; i < ndims; i++) {
        int64_t n = gw_counts_at(sizes, i), s = gw_counts_at(subsizes, i), at = gw_counts_at(starts, i);
        if (n < 1) return gw_fail(GW_EARG, "array_of_sizes[%d] is %lld; it must be at least 1", i, (long long)n);
        if (s < 1 || s > n)
            return gw_fail(GW_EARG, "array_of_subsizes[%d] is %lld; it must be between 1 and %lld", i, (long long)s, (long long)n);
        if (at < 0 || at > n - s)
            return gw_fail(GW_EARG, "array_of_starts[%d] is %lld; it must be between 0 and %lld", i, (long long)at,
                           (long long)(n - s));
    }
    return GW_OK;
}

/* Shifts the type by `disp` bytes. */
static int array_shift(struct array_build *b, int64_t disp)
{
    struct gw_type *next;
    if (disp == 0) return GW_OK;
    int64_t one = 1;
    int rc = type_hindexed(1, (struct gw_counts){&one, true}, (struct gw_counts){&disp, true}, b->so_far, &next);
    return array_replace(b, rc, next);
}

int type_subarray(int ndims, struct gw_counts sizes, struct gw_counts subsizes, struct gw_counts starts, int order,
                  struct gw_type *old, struct gw_type **type_out)
{
    int rc = subarray_check(ndims, sizes, subsizes, starts, order);
    if (rc != GW_OK) return rc;
    struct array_build b = {type_hold(old), old->extent};
    int64_t shift = 0;
    for (int k = 0; rc == GW_OK && k < ndims; k++) {
        int i = order == GW_ORDER_C ? ndims - 1 - k : k;
        struct gw_type *next = NULL;
        int64_t span;
        if (!scaled(b.span, gw_counts_at(sizes, i), &span)) {
            rc = gw_fail(GW_EARG, "the array is too large");
            break;
        }
        shift += gw_counts_at(starts, i) * b.span; /* less than span */
        rc = type_hvector(gw_counts_at(subsizes, i), 1, b.span, b.so_far, &next);
        rc = array_replace(&b, rc, next);
        b.span = span;
    }
    if (rc == GW_OK) rc = array_shift(&b, shift);
    int64_t n = 3 * (int64_t)ndims;
    int *ints = malloc(sizeof *ints * (size_t)(n + 2));
    int64_t *counts = malloc(sizeof *counts * (size_t)n);
    if (rc == GW_OK && (!ints || !counts)) rc = gw_fail(GW_ENOMEM, "no memory for a subarray type");
    if (rc == GW_OK) {
        struct type_args a = {.combiner = GW_COMBINER_SUBARRAY, .n_types = 1, .types = &old, .ints = ints, .counts = counts};
        struct gw_counts lists[3] = {sizes, subsizes, starts};
        ints[0] = ndims;
        for (int l = 0; l < 3; l++)
            for (int i = 0; i < ndims; i++) {
                counts[l * ndims + i] = gw_counts_at(lists[l], i);
                if (!sizes.wide) ints[1 + l * ndims + i] = (int)counts[l * ndims + i];
            }
        a.n_counts = sizes.wide ? n : 0;
        a.n_ints = sizes.wide ? 2 : n + 2;
        ints[a.n_ints - 1] = order;
        rc = array_finish(&b, &a, type_out);
    }
    free(counts);
    free(ints);
    type_release(b.so_far);
    return rc;
}

/* ---- darray: each dimension is distributed by blocks, cyclically or not at all over a grid of processes ---------------------- */
struct distribution {
    int64_t size;
    int kind, arg, procs, coord;
};

static int darray_check(int i, const struct distribution *d)
{
    if (d->size < 1) return gw_fail(GW_EARG, "array_of_gsizes[%d] is %lld; it must be at least 1", i, (long long)d->size);
    if (d->kind != GW_DISTRIBUTE_NONE && d->arg != GW_DISTRIBUTE_DFLT_DARG && d->arg < 1)
        return gw_fail(GW_EARG, "array_of_dargs[%d] is %d; it must be positive or MPI_DISTRIBUTE_DFLT_DARG", i, d->arg);
    switch (d->kind) {
    case GW_DISTRIBUTE_NONE:
        if (d->procs != 1) return gw_fail(GW_EARG, "array_of_psizes[%d] is %d; with MPI_DISTRIBUTE_NONE it must be 1", i, d->procs);
        return GW_OK;
    case GW_DISTRIBUTE_BLOCK:
        if (d->arg != GW_DISTRIBUTE_DFLT_DARG && (int64_t)d->arg * d->procs < d->size)
            return gw_fail(GW_EARG, "array_of_dargs[%d] is %d: %d blocks of that size do not cover %lld", i, d->arg, d->procs,
                           (long long)d->size);
        return GW_OK;
    case GW_DISTRIBUTE_CYCLIC: return GW_OK;
    default: return gw_fail(GW_EARG, "array_of_distribs[%d] is %d; that is no distribution", i, d->kind);
    }
}

/* Adds the elements of one dimension that this process owns, `span` bytes apart: blocks of `b` elements at distances of b * procs,
 * the last one cut at the end.  The caller has checked that size * span does not overflow. */
static int darray_dimension(struct array_build *a, const struct distribution *d, int64_t *shift)
{
    int64_t b = d->arg, span = a->span;
    if (d->kind == GW_DISTRIBUTE_NONE)
        b = d->size;
    else if (b == GW_DISTRIBUTE_DFLT_DARG)
        b = d->kind == GW_DISTRIBUTE_BLOCK ? d->size / d->procs + (d->size % d->procs != 0) : 1;
    b = gw_min64(b, d->size);
    int64_t first, round;
    if (!scaled(b, d->coord, &first) || !scaled(b, d->procs, &round)) return gw_fail(GW_EARG, "the array is too large");
    int64_t left = d->size - first, whole = left <= 0 ? 0 : left / round, rest = left <= 0 ? 0 : left % round;
    if (rest >= b) whole++, rest = 0;
    struct gw_type *full, *next;
    int64_t lens[2] = {1, 1}, at[2] = {0, 0};
    int rc = type_hvector(b, 1, span, a->so_far, &next); /* one block */
    if (rc != GW_OK) return rc;
    rc = type_hvector(whole, 1, whole > 1 ? round * span : 0, next, &full);
    type_release(next);
    if (rc != GW_OK) return rc;
    if (rest) { /* the cut block at the end */
        struct gw_type *cut, *parts[2];
        rc = type_hvector(rest, 1, span, a->so_far, &cut);
        if (rc == GW_OK) {
            parts[0] = full, parts[1] = cut;
            at[1] = whole * round * span;
            rc = type_struct(2, (struct gw_counts){lens, true}, (struct gw_counts){at, true}, parts, &next);
            type_release(cut);
        }
        type_release(full);
        full = next;
    }
    if (whole || rest) *shift += first * span;
    return array_replace(a, rc, full);
}

int type_darray(int size, int rank, int ndims, struct gw_counts gsizes, const int *distribs, const int *dargs, const int *psizes,
                int order, struct gw_type *old, struct gw_type **type_out)
{
    if (ndims < 1) return gw_fail(GW_EARG, "ndims is %d; it must be at least 1", ndims);
    if (order != GW_ORDER_C && order != GW_ORDER_FORTRAN)
        return gw_fail(GW_EARG, "order is %d; it must be MPI_ORDER_C or MPI_ORDER_FORTRAN", order);
    if (rank < 0 || rank >= size) return gw_fail(GW_EARG, "rank is %d; it must be between 0 and %d", rank, size - 1);
    int64_t grid = 1;
    for (int i = 0; i < ndims; i++) {
        if (psizes[i] < 1) return gw_fail(GW_EARG, "array_of_psizes[%d] is %d; it must be at least 1", i, psizes[i]);
        grid = gw_min64(grid * psizes[i], (int64_t)INT32_MAX + 1);
    }
    if (grid != size) return gw_fail(GW_EARG, "the process grid has %lld places, size is %d", (long long)grid, size);
    struct array_build b = {type_hold(old), old->extent};
    int64_t shift = 0, places = size;
    int rc = GW_OK, rest = rank, *coords = malloc(sizeof *coords * (size_t)ndims);
    if (!coords) rc = gw_fail(GW_ENOMEM, "no memory for a darray type");
    for (int i = 0; rc == GW_OK && i < ndims; i++) { /* processes are numbered in C order whatever the array's */
        places /= psizes[i];
        coords[i] = (int)(rest / places);
        rest = (int)(rest % places);
    }
    for (int k = 0; rc == GW_OK && k < ndims; k++) {
        int i = order == GW_ORDER_C ? ndims - 1 - k : k;
        struct distribution d = {gw_counts_at(gsizes, i), distribs[i], dargs[i], psizes[i], coords[i]};
        int64_t span = 0;
        rc = darray_check(i, &d);
        if (rc == GW_OK && !scaled(b.span, d.size, &span)) rc = gw_fail(GW_EARG, "the array is too large");
        if (rc == GW_OK) rc = darray_dimension(&b, &d, &shift);
        b.span = span;
    }
    free(coords);
    if (rc == GW_OK) rc = array_shift(&b, shift);
    int n = 4 + 4 * ndims, k = 0;
    int *ints = malloc(sizeof *ints * (size_t)n);
    int64_t *counts = malloc(sizeof *counts * (size_t)ndims);
    if (rc == GW_OK && (!ints || !counts)) rc = gw_fail(GW_ENOMEM, "no memory for a darray type");
    if (rc == GW_OK) {
        ints[k++] = size, ints[k++] = rank, ints[k++] = ndims;
        for (int i = 0; i < ndims; i++) counts[i] = gw_counts_at(gsizes, i);
        for (int i = 0; i < ndims && !gsizes.wide; i++) ints[k++] = (int)counts[i];
        for (int i = 0; i < ndims; i++) ints[k++] = distribs[i];
        for (int i = 0; i < ndims; i++) ints[k++] = dargs[i];
        for (int i = 0; i < ndims; i++) ints[k++] = psizes[i];
        ints[k++] = order;
        struct type_args a = {.combiner = GW_COMBINER_DARRAY,
                              .n_types = 1,
                              .types = &old,
                              .ints = ints,
                              .n_ints = k,
                              .counts = counts,
                              .n_counts = gsizes.wide ? ndims : 0};
        rc = array_finish(&b, &a, type_out);
    }
    free(counts);
    free(ints);
    type_release(b.so_far);
    return rc;
}
