/* grid.h -- orders of the ranks of a communication grid: cells of neighbours one behind the other, so that a node gets whole cells.
 *
 * Pure: numbers in, numbers out, the C library alone.  A rank has coordinates in the grid; positions are places in the order, which
 * nodes take one after the other (MPICH_RANK_REORDER_METHOD=3).
 *
 * A grid whose dimensions the cells do not divide has regions: the part of whole cells comes first, so that its cells stay on nodes
 * of their own; behind it those of what is left over in one dimension, then in two, and so on.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GRID_H
#define GRID_H

#include <stdbool.h>
#include <stdint.h>

enum { GRID_DIMS = 8, GRID_MOST = 1 << 26 }; /* ranks at most */

/* How cells follow each other: rows in the same direction, rows to and fro, a Hilbert curve. */
enum grid_walk { GRID_ROWS, GRID_SNAKE, GRID_HILBERT };

struct grid {
    int n_dims;
    int dim[GRID_DIMS];  /* ranks in each dimension, >= 1 */
    int cell[GRID_DIMS]; /* 1 .. dim */
    int by[GRID_DIMS];   /* dimensions from the slowest to the fastest, of cells and within a cell */
    bool column_major;   /* the first coordinate varies fastest with the rank's number; else the last */
    enum grid_walk walk;
};

struct grid_region {
    bool rest[GRID_DIMS]; /* which dimensions have but what is left over */
    int number;           /* 0: all cells are whole */
    int64_t first, n;     /* positions */
};

int64_t grid_size(const struct grid *g);
int64_t grid_rank(const struct grid *g, const int *at);        /* of coordinates */
void grid_at(const struct grid *g, int64_t rank, int *at_out); /* its coordinates */

/* The ranks by position; regions_out may be NULL, else it has 1 << n_dims places.  How many regions have ranks; -1: no memory. */
int grid_list(const struct grid *g, int32_t *rank_out, struct grid_region *regions_out);

#endif
