/* make.c -- makes a type of a constructor's shape: bounds, sizes, element counts, references.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "type/type_private.h"
#include "base/base.h"

#include <stdlib.h>

typedef __int128 wide;

/* Lowest and highest value over the places of a pattern. */
struct range {
    wide low, high;
    bool is_set;
};

static void range_add(struct range *r, wide low, wide high)
{
    if (!r->is_set || low < r->low) r->low = low;
    if (!r->is_set || high > r->high) r->high = high;
    r->is_set = true;
}

static bool fits(wide v) { return v >= INT64_MIN / 2 && v <= INT64_MAX / 2; }

/* Limits a value that does not fit 64 bits, so that later sums cannot overflow 128 bits; it still does not fit. */
static wide clamp(wide v)
{
    wide most = (wide)1 << 64;
    return v > most ? most : v < -most ? -most : v;
}

/* Bounds and sums of a shape, in 128 bits; the caller checks that they fit.  marks: the bounds of resized types; whole: those of
 * other types, with the padding at their ends; data: those of the data bytes. */
struct measure {
    struct range marks, whole, data;
    wide size, elems;
    int64_t align;
    uint8_t basic;
    bool mixed;
};

/* Adds `count` copies of a type at distances of `step`: each bound is that of the first or the last copy.  Types without elements
 * have no bounds, unless they were resized.  The old type's padding is included.  By the definition (section 5.1: bounds of the
 * basic elements, rounded up once) a type of unaligned copies could end before its last copy does. */
static void measure_copies(struct measure *m, const struct gw_type *t, wide disp, int64_t count, int64_t step)
{
    bool marked = t->tree && t->tree->is_marked;
    assert(count > 0 && t->size >= 0);
    for (int k = 0; k < (count > 1 ? 2 : 1); k++) {
        wide at = disp + (k ? clamp((wide)(count - 1) * step) : 0);
        if (marked) range_add(&m->marks, at + t->lb, at + t->lb + t->extent);
        if (t->size > 0) range_add(&m->whole, at + t->lb, at + t->lb + t->extent);
        if (t->size > 0) range_add(&m->data, at + t->true_lb, at + t->true_lb + t->true_extent);
    }
}

static void measure_shape(struct measure *m, const struct type_args *a)
{
    *m = (struct measure){.align = 1};
    for (int64_t i = 0; i < a->n_segs && a->outer > 0; i++) {
        const struct type_seg *s = &a->segs[i];
        if (s->count == 0) continue;
        wide last = clamp((wide)(a->outer - 1) * a->stride);
        measure_copies(m, s->type, s->disp, s->count, s->type->extent);
        if (a->outer > 1) measure_copies(m, s->type, s->disp + last, s->count, s->type->extent);
        m->size = clamp(m->size + clamp((wide)s->type->size * s->count) * a->outer);
        m->elems = clamp(m->elems + clamp((wide)s->type->n_elems * s->count) * a->outer);
        m->align = gw_max64(m->align, tree_align(s->type));
        if (s->type->size > 0) {
            m->mixed = m->mixed || s->type->basic == GW_ELEM_NONE || (m->basic && m->basic != s->type->basic);
            m->basic = s->type->basic;
        }
    }
}

static int measure_apply(struct gw_type *t, const struct measure *m, const struct type_args *a)
{
    wide lb = m->whole.low, ub = m->whole.high;
    assert(m->align > 0 && (m->align & (m->align - 1)) == 0 && m->size >= 0);
    if (m->marks.is_set) {
        lb = m->marks.low, ub = m->marks.high;
    } else { /* round the extent up to the strictest alignment (section 5.1.6) */
        wide over = (ub - lb) % m->align;
        if (over) ub += m->align - over;
    }
    if (!fits(m->size) || !fits(lb) || !fits(ub) || !fits(m->data.low) || !fits(m->data.high) || !fits(ub - lb))
        return gw_fail(GW_ECOUNT, "the datatype would span more than 2^62 bytes");
    t->size = (int64_t)m->size;
    t->n_elems = (int64_t)m->elems;
    t->lb = a->resized ? a->lb : (int64_t)lb;
    t->extent = a->resized ? a->extent : (int64_t)(ub - lb);
    t->true_lb = (int64_t)m->data.low;
    t->true_extent = (int64_t)(m->data.high - m->data.low);
    t->basic = m->mixed ? GW_ELEM_NONE : m->basic;
    t->tree->is_marked = a->resized || m->marks.is_set;
    t->tree->align = m->align;
    return GW_OK;
}

static void *copy_of(const void *from, int64_t n, size_t each, bool *failed)
{
    if (n == 0) return NULL;
    void *p = malloc((size_t)n * each);
    if (!p)
        *failed = true;
    else
        memcpy(p, from, (size_t)n * each);
    return p;
}

static bool tree_fill(struct type_tree *tree, const struct type_args *a)
{
    bool failed = false;
    tree->combiner = a->combiner;
    tree->outer = a->outer;
    tree->stride = a->stride;
    tree->ints = copy_of(a->ints, a->n_ints, sizeof *a->ints, &failed);
    tree->aints = copy_of(a->aints, a->n_aints, sizeof *a->aints, &failed);
    tree->counts = copy_of(a->counts, a->n_counts, sizeof *a->counts, &failed);
    tree->types = copy_of(a->types, a->n_types, sizeof *a->types, &failed);
    tree->segs = copy_of(a->segs, a->n_segs, sizeof *a->segs, &failed);
    if (failed) return false;
    tree->n_ints = a->n_ints;
    tree->n_aints = a->n_aints;
    tree->n_counts = a->n_counts;
    tree->n_types = a->n_types;
    tree->n_segs = a->n_segs;
    for (int64_t i = 0; i < a->n_types; i++) type_hold(a->types[i]);
    for (int64_t i = 0; i < a->n_segs; i++) type_hold(a->segs[i].type);
    return true;
}

static void tree_free(struct type_tree *tree)
{
    if (!tree) return;
    for (int64_t i = 0; i < tree->n_types; i++) type_release(tree->types[i]);
    for (int64_t i = 0; i < tree->n_segs; i++) type_release(tree->segs[i].type);
    for (int i = 0; i < tree->n_memory; i++) free(tree->memory[i]);
    free(tree->ints);
    free(tree->aints);
    free(tree->counts);
    free(tree->types);
    free(tree->segs);
    free(tree);
}

void type_destroy(struct gw_type *t)
{
    assert(t->tree && !t->obj.predefined); /* predefined types have no tree, and are not freed one by one */
    gw_obj_unregister(&t->obj);
    tree_free(t->tree);
    free(t->name);
    free(t);
}

int type_make(const struct type_args *a, struct gw_type **type_out)
{
    struct measure m;
    assert(a->n_segs >= 0 && a->n_types >= 0 && a->outer >= 0);
    for (int64_t i = 0; i < a->n_segs; i++)
        if (a->segs[i].type->size < 0) return gw_fail(GW_ETYPE, "%s does not exist on this machine", type_name(a->segs[i].type));
    struct gw_type *t = calloc(1, sizeof *t);
    if (t) t->tree = calloc(1, sizeof *t->tree);
    if (!t || !t->tree || !tree_fill(t->tree, a)) {
        if (t) tree_free(t->tree);
        free(t);
        return gw_fail(GW_ENOMEM, "no memory for a datatype");
    }
    measure_shape(&m, a);
    int rc = measure_apply(t, &m, a);
    if (rc == GW_OK) rc = type_prog_build(t);
    if (rc == GW_OK) rc = gw_obj_register(&t->obj, GW_KIND_TYPE);
    if (rc != GW_OK) {
        tree_free(t->tree);
        free(t);
        return rc;
    }
    *type_out = t;
    return GW_OK;
}
