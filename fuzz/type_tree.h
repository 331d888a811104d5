/* type_tree.h -- datatypes made of the fuzzer's bytes, each with the list of its basic elements as the standard defines it.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_FUZZ_TYPE_TREE_H
#define GW_FUZZ_TYPE_TREE_H

#include "type/type.h"

#include "fuzz.h"

enum { TREE_MAX_TYPES = 24, TREE_MAX_ELEMS = 700 };

/* A type map (MPI 4.1 section 5.1): scalars in order, and the bounds. */
struct tree_type {
    struct gw_type *type;
    int n;
    struct {
        int64_t at;
        int size;
    } elem[TREE_MAX_ELEMS]; /* pairs count as two */
    bool marked;            /* MPI_Type_create_resized somewhere inside */
    int64_t lb, extent, align;
};
struct tree {
    int n;
    struct tree_type *at[TREE_MAX_TYPES];
};

/* Builds types on types until the bytes end or the tree is full; the last is the largest.  Every constructor's answer is checked:
 * size, bounds and number of elements. */
void tree_grow(struct tree *t, struct input *in, int steps);
void tree_free(struct tree *t);

int64_t tree_size(const struct tree_type *m);
/* The lowest byte and the one behind the highest of `count` instances; false: there are none. */
bool tree_bounds(const struct tree_type *m, int64_t count, int64_t *low_out, int64_t *high_out);
bool tree_overlaps(const struct tree_type *m, int64_t count); /* a byte belongs to two elements */

#endif
