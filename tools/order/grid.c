/* grid.c -- cells of a grid, one behind the other.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "grid.h"

#include <stdlib.h>
#include <string.h>

int64_t grid_size(const struct grid *g)
{
    int64_t n = 1;
    for (int d = 0; d < g->n_dims; d++) n *= g->dim[d];
    return n;
}

int64_t grid_rank(const struct grid *g, const int *at)
{
    int64_t rank = 0;
    for (int i = 0; i < g->n_dims; i++) {
        int d = g->column_major ? g->n_dims - 1 - i : i;
        rank = rank * g->dim[d] + at[d];
    }
    return rank;
}

void grid_at(const struct grid *g, int64_t rank, int *at_out)
{
    for (int i = 0; i < g->n_dims; i++) {
        int d = g->column_major ? i : g->n_dims - 1 - i;
        at_out[d] = (int)(rank % g->dim[d]);
        rank /= g->dim[d];
    }
}

/* A box within the grid, cut into equal cells. */
struct box {
    int base[GRID_DIMS], cells[GRID_DIMS], cell[GRID_DIMS];
};

static int64_t box_cells(const struct grid *g, const struct box *b)
{
    int64_t n = 1;
    for (int d = 0; d < g->n_dims; d++) n *= b->cells[d];
    return n;
}

/* The coordinates of cell `t`, in rows; `snake`: a row whose number is odd goes backwards, so each cell touches the one before it. */
static void row_cell(const struct grid *g, const struct box *b, int64_t t, bool snake, int *at_out)
{
    for (int i = g->n_dims - 1; i >= 0; i--) {
        int d = g->by[i], digit = (int)(t % b->cells[d]);
        t /= b->cells[d];
        at_out[d] = snake && t % 2 ? b->cells[d] - 1 - digit : digit;
    }
}

/* ---- Hilbert's curve in any number of dimensions -----------------------------------------------------------------------------------
 * A cube of 2^bits a side is walked as a Gray code of its halves, each half turned and mirrored so that it begins where the one before
 * it ended.  From the largest halves down: where a coordinate's bit is set, the finer bits of the first coordinate are mirrored, else
 * they change places with that coordinate's (that undoes the turn); what is left is the Gray code. */
static uint64_t hilbert_index(int n, const int *at, int bits)
{
    uint32_t x[GRID_DIMS], parity = 0;
    uint64_t index = 0;
    for (int i = 0; i < n; i++) x[i] = (uint32_t)at[i];
    for (uint32_t half = 1u << (bits - 1); half > 1; half >>= 1)
        for (int i = 0; i < n; i++) {
            uint32_t finer = half - 1, both = (x[0] ^ x[i]) & finer;
            if (x[i] & half)
                x[0] ^= finer;
            else
                x[0] ^= both, x[i] ^= both;
        }
    for (int i = 1; i < n; i++) x[i] ^= x[i - 1];
    for (uint32_t half = 1u << (bits - 1); half > 1; half >>= 1)
        if (x[n - 1] & half) parity ^= half - 1;
    for (int bit = bits - 1; bit >= 0; bit--)
        for (int i = 0; i < n; i++) index = index << 1 | ((x[i] ^ parity) >> bit & 1);
    return index;
}

struct placed {
    uint64_t index;
    int64_t cell;
};

static int earlier(const void *a, const void *b)
{
    uint64_t x = ((const struct placed *)a)->index, y = ((const struct placed *)b)->index;
    return x < y ? -1 : x > y;
}

/* The cells along the curve through the smallest cube that holds them; what of the cube is not there is passed over. */
static struct placed *hilbert_cells(const struct grid *g, const struct box *b, int64_t n)
{
    struct placed *p = malloc(sizeof *p * (size_t)n);
    int at[GRID_DIMS], turned[GRID_DIMS], bits = 1;
    for (int d = 0; d < g->n_dims; d++)
        while (b->cells[d] > 1 << bits) bits++;
    for (int64_t t = 0; p && t < n; t++) {
        row_cell(g, b, t, false, at);
        int used = 0; /* dimensions of one cell only would make the cube larger, and the curve coarser */
        for (int i = 0; i < g->n_dims; i++)
            if (b->cells[g->by[i]] > 1) turned[used++] = at[g->by[i]];
        p[t] = (struct placed){used ? hilbert_index(used, turned, bits) : 0, t};
    }
    if (p) qsort(p, (size_t)n, sizeof *p, earlier);
    return p;
}

/* ---- the list ---------------------------------------------------------------------------------------------------------------------- */
/* The ranks of a cell, in rows; how many. */
static int64_t list_cell(const struct grid *g, const struct box *b, const int *cell_at, int32_t *rank_out)
{
    struct box inside = {{0}, {0}, {0}};
    int at[GRID_DIMS];
    memcpy(inside.cells, b->cell, sizeof inside.cells);
    int64_t n = box_cells(g, &inside);
    for (int64_t t = 0; t < n; t++) {
        row_cell(g, &inside, t, false, at);
        for (int d = 0; d < g->n_dims; d++) at[d] += b->base[d] + cell_at[d] * b->cell[d];
        rank_out[t] = (int32_t)grid_rank(g, at);
    }
    return n;
}

static int64_t list_box(const struct grid *g, const struct box *b, int32_t *rank_out)
{
    int64_t n = box_cells(g, b), done = 0;
    struct placed *p = g->walk == GRID_HILBERT && n ? hilbert_cells(g, b, n) : NULL;
    int at[GRID_DIMS];
    if (g->walk == GRID_HILBERT && n && !p) return -1;
    for (int64_t t = 0; t < n; t++) {
        row_cell(g, b, p ? p[t].cell : t, g->walk == GRID_SNAKE, at);
        done += list_cell(g, b, at, rank_out + done);
    }
    free(p);
    return done;
}

/* Regions by the number of dimensions of which only a rest is there; of equals the one whose rest is in an earlier dimension first. */
static int region_key(int n_dims, int number, bool *rest_out)
{
    int seen = 0;
    for (int k = 0; k <= n_dims; k++)
        for (int mask = (1 << n_dims) - 1; mask >= 0; mask--) {
            if (__builtin_popcount((unsigned)mask) != k || seen++ != number) continue;
            for (int d = 0; d < n_dims; d++) rest_out[d] = mask >> (n_dims - 1 - d) & 1;
            return 0;
        }
    return -1;
}

int grid_list(const struct grid *g, int32_t *rank_out, struct grid_region *regions_out)
{
    int regions = 0;
    int64_t at = 0;
    for (int number = 0; number < 1 << g->n_dims; number++) {
        struct grid_region r = {{0}, number, at, 0};
        struct box b;
        region_key(g->n_dims, number, r.rest);
        for (int d = 0; d < g->n_dims; d++) {
            int whole = g->dim[d] / g->cell[d] * g->cell[d], rest = g->dim[d] - whole;
            b.base[d] = r.rest[d] ? whole : 0;
            b.cells[d] = r.rest[d] ? rest > 0 : g->dim[d] / g->cell[d];
            b.cell[d] = r.rest[d] ? rest : g->cell[d];
        }
        r.n = list_box(g, &b, rank_out + at);
        if (r.n < 0) return -1;
        at += r.n;
        if (r.n && regions_out) regions_out[regions] = r;
        regions += r.n > 0;
    }
    return regions;
}
