/* contents.c -- envelope and contents; the parameterised Fortran types; counting elements.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "type/type_private.h"
#include "base/base.h"
#include "base/lock.h"

#include <stdlib.h>

int type_get_envelope(struct gw_type *t, int64_t *n_ints_out, int64_t *n_aints_out, int64_t *n_counts_out, int64_t *n_types_out,
                      int *combiner_out)
{
    struct type_tree *tree = t->tree;
    *n_ints_out = tree ? tree->n_ints : 0;
    *n_aints_out = tree ? tree->n_aints : 0;
    *n_counts_out = tree ? tree->n_counts : 0;
    *n_types_out = tree ? tree->n_types : 0;
    *combiner_out = tree ? tree->combiner : GW_COMBINER_NAMED;
    return GW_OK;
}

static int room_check(const char *what, int64_t max, int64_t need)
{
    if (max >= need) return GW_OK;
    return gw_fail(GW_EARG, "%s is %lld; MPI_Type_get_envelope says %lld", what, (long long)max, (long long)need);
}

int type_get_contents(struct gw_type *t, int64_t max_ints, int64_t max_aints, int64_t max_counts, int64_t max_types, int *ints,
                      int64_t *aints, int64_t *counts, struct gw_type **types_out)
{
    struct type_tree *tree = t->tree;
    if (!tree) return gw_fail(GW_ETYPE, "%s is a named type: it has no contents", type_name(t));
    int rc = room_check("max_integers", max_ints, tree->n_ints);
    if (rc == GW_OK) rc = room_check("max_addresses", max_aints, tree->n_aints);
    if (rc == GW_OK) rc = room_check("max_large_counts", max_counts, tree->n_counts);
    if (rc == GW_OK) rc = room_check("max_datatypes", max_types, tree->n_types);
    for (int64_t i = 0; rc == GW_OK && i < tree->n_types; i++) {
        rc = type_handle_add(tree->types[i]);
        types_out[i] = tree->types[i];
    }
    if (rc != GW_OK) return rc;
    if (tree->n_ints) memcpy(ints, tree->ints, sizeof *ints * (size_t)tree->n_ints);
    if (tree->n_aints) memcpy(aints, tree->aints, sizeof *aints * (size_t)tree->n_aints);
    if (tree->n_counts) memcpy(counts, tree->counts, sizeof *counts * (size_t)tree->n_counts);
    return GW_OK;
}

/* ---- MPI_Type_create_f90_*: one type for each combination of arguments; users do not free them ------------------------------ */
struct f90_entry {
    struct f90_entry *next;
    int combiner, p, r;
    struct gw_type *type;
};
static struct f90_state {
    struct f90_entry *list;
    struct gw_lock lock; /* guards the list */
} f90;

GW_ONCE void type_f90_free(void)
{
    while (f90.list) {
        struct f90_entry *e = f90.list;
        f90.list = e->next;
        e->type->obj.predefined = false;
        type_release(e->type);
        free(e);
    }
}

static int f90_make(int combiner, int p, int r, int typeclass, int size, struct gw_type **type_out)
{
    struct gw_type *base;
    int ints[2] = {combiner == GW_COMBINER_F90_INTEGER ? r : p, r}, rc = type_match_size(typeclass, size, &base);
    struct type_seg seg = {1, 0, base};
    struct type_args a = {.combiner = combiner,
                          .ints = ints,
                          .n_ints = combiner == GW_COMBINER_F90_INTEGER ? 1 : 2,
                          .outer = 1,
                          .n_segs = 1,
                          .segs = &seg};
    if (rc != GW_OK) return rc;
    struct f90_entry *e = malloc(sizeof *e);
    if (!e) return gw_fail(GW_ENOMEM, "no memory for a datatype");
    rc = type_make(&a, &e->type);
    if (rc != GW_OK) {
        free(e);
        return rc;
    }
    type_set_committed(e->type);
    e->type->obj.predefined = true;
    e->type->elem = base->elem; /* reductions treat it as the named type */
    e->type->group = base->group;
    e->combiner = combiner, e->p = p, e->r = r;
    e->next = f90.list;
    f90.list = e;
    *type_out = e->type;
    return GW_OK;
}

static int f90_get(int combiner, int p, int r, int typeclass, int size, struct gw_type **type_out)
{
    int rc = GW_OK;
    gw_lock(&f90.lock);
    struct f90_entry *e = f90.list;
    while (e && (e->combiner != combiner || e->p != p || e->r != r)) e = e->next;
    if (e)
        *type_out = e->type;
    else
        rc = f90_make(combiner, p, r, typeclass, size, type_out);
    gw_unlock(&f90.lock);
    return rc;
}

/* Bytes of the smallest real kind of gfortran with p digits and exponent range r; 0: none. */
static int real_size(int p, int r)
{
    if (p == GW_UNDEFINED) p = 0;
    if (r == GW_UNDEFINED) r = 0;
    if (p <= 6 && r <= 37) return 4;
    if (p <= 15 && r <= 307) return 8;
    if (p <= 33 && r <= 4931) return 16;
    return 0;
}

static int f90_float(int combiner, int p, int r, int typeclass, int parts, struct gw_type **type_out)
{
    int size = real_size(p, r);
    if ((p == GW_UNDEFINED && r == GW_UNDEFINED) || !size)
        return gw_fail(GW_EARG, "there is no kind with precision %d and exponent range %d", p, r);
    return f90_get(combiner, p, r, typeclass, size * parts, type_out);
}

int type_f90_real(int p, int r, struct gw_type **type_out)
{
    return f90_float(GW_COMBINER_F90_REAL, p, r, GW_TYPECLASS_REAL, 1, type_out);
}

int type_f90_complex(int p, int r, struct gw_type **type_out)
{
    return f90_float(GW_COMBINER_F90_COMPLEX, p, r, GW_TYPECLASS_COMPLEX, 2, type_out);
}

int type_f90_integer(int r, struct gw_type **type_out)
{
    int size = r <= 2 ? 1 : r <= 4 ? 2 : r <= 9 ? 4 : r <= 18 ? 8 : r <= 38 ? 16 : 0;
    if (!size) return gw_fail(GW_EARG, "there is no integer kind with %d decimal digits", r);
    return f90_get(GW_COMBINER_F90_INTEGER, 0, r, GW_TYPECLASS_INTEGER, size, type_out);
}

/* ---- elements --------------------------------------------------------------------------------------------------------------- */
/* Whole basic elements in the first `bytes` bytes of one instance of t's stream; *rest_out: bytes of a cut element. */
static int64_t elements_in(const struct gw_type *t, int64_t bytes, int64_t *rest_out)
{
    *rest_out = 0;
    assert(bytes >= 0 && t->size >= 0);
    if (bytes >= t->size) return t->n_elems;
    if (!t->tree) {
        const struct elem_info *e = &type_elem_info[t->elem];
        int first = e->part[0] ? type_elem_info[e->part[0]].size : e->size;
        *rest_out = bytes >= first ? bytes - first : bytes;
        return bytes >= first;
    }
    struct type_tree *tree = t->tree;
    int64_t round_bytes = t->size / gw_max64(tree->outer, 1), round_elems = t->n_elems / gw_max64(tree->outer, 1);
    int64_t n = bytes / round_bytes * round_elems;
    bytes %= round_bytes;
    for (int64_t i = 0; i < tree->n_segs; i++) {
        const struct type_seg *s = &tree->segs[i];
        int64_t whole = s->type->size ? gw_min64(bytes / s->type->size, s->count) : s->count;
        n += whole * s->type->n_elems;
        bytes -= whole * s->type->size;
        if (whole < s->count) return n + elements_in(s->type, bytes, rest_out);
    }
    return n;
}

int type_get_count(const struct gw_status *s, struct gw_type *t, int64_t *count_out)
{
    int64_t bytes = gw_status_bytes(s);
    if (t->size > 0)
        *count_out = bytes % t->size ? GW_UNDEFINED : bytes / t->size;
    else
        *count_out = bytes ? GW_UNDEFINED : 0;
    return GW_OK;
}

int type_get_elements(const struct gw_status *s, struct gw_type *t, int64_t *count_out)
{
    int64_t bytes = gw_status_bytes(s), rest = 0;
    if (t->size <= 0) {
        *count_out = bytes ? GW_UNDEFINED : 0;
        return GW_OK;
    }
    int64_t n = bytes / t->size * t->n_elems + elements_in(t, bytes % t->size, &rest);
    *count_out = rest ? GW_UNDEFINED : n;
    return GW_OK;
}

/* Bytes of the first n basic elements of one instance. */
static int64_t bytes_of(const struct gw_type *t, int64_t n)
{
    assert(n >= 0);
    if (n >= t->n_elems) return t->size;
    if (!t->tree) return n && type_elem_info[t->elem].part[0] ? type_elem_info[type_elem_info[t->elem].part[0]].size : 0;
    struct type_tree *tree = t->tree;
    int64_t round_bytes = t->size / gw_max64(tree->outer, 1), round_elems = t->n_elems / gw_max64(tree->outer, 1);
    int64_t bytes = n / round_elems * round_bytes;
    n %= round_elems;
    for (int64_t i = 0; i < tree->n_segs; i++) {
        const struct type_seg *s = &tree->segs[i];
        int64_t whole = s->type->n_elems ? gw_min64(n / s->type->n_elems, s->count) : s->count;
        bytes += whole * s->type->size;
        n -= whole * s->type->n_elems;
        if (whole < s->count) return bytes + bytes_of(s->type, n);
    }
    return bytes;
}

int type_status_set_elements(struct gw_status *s, struct gw_type *t, int64_t count)
{
    if (count < 0) return gw_fail(GW_ECOUNT, "count is %lld; it must not be negative", (long long)count);
    int64_t bytes = 0, n = t->n_elems, rest = n > 0 ? bytes_of(t, count % n) : 0;
    bool too_many = n > 0 && __builtin_mul_overflow(count / n, t->size, &bytes);
    if (too_many || __builtin_add_overflow(bytes, rest, &bytes))
        return gw_fail(GW_ECOUNT, "%lld elements are more than 2^63 bytes", (long long)count);
    gw_status_fill(s, s->source, s->tag, bytes, s->cancelled);
    return GW_OK;
}
