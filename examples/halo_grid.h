/* halo_grid.h -- the grid of the halo examples: cells with a border of DEPTH columns, what they hold, and which of them travel.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef HALO_GRID_H
#define HALO_GRID_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NEIGHBOURS = 8, DEPTH = 2 };
/* The directions; opposite() turns one round. */
static const int dx[] = {-1, -1, -1, 0, 0, 1, 1, 1}, dy[] = {-1, 0, 1, -1, 1, -1, 0, 1};

struct grid {
    int fields, x, y, z; /* own cells, the same on every rank */
    int rank_x, rank_y;  /* where this rank lies in the grid of ranks */
    int ranks_x, ranks_y;
    double *cells; /* [fields][x + 2 DEPTH][y + 2 DEPTH][z] */
};

/* The columns that go to, or come from, the neighbour in one direction. */
struct box {
    int x0, x1, y0, y1;
};

static double *column(const struct grid *g, int field, int x, int y) /* x, y from -DEPTH on */
{
    size_t nx = g->x + 2 * DEPTH, ny = g->y + 2 * DEPTH;
    return g->cells + (((size_t)field * nx + x + DEPTH) * ny + y + DEPTH) * g->z;
}

/* What the model would compute: a number that tells field, place in the whole grid and step apart. */
static double value(const struct grid *g, int field, int x, int y, int z, int step)
{
    int wide = g->ranks_x * g->x, high = g->ranks_y * g->y;
    int gx = (g->rank_x * g->x + x + wide) % wide, gy = (g->rank_y * g->y + y + high) % high;
    return step * 1e-3 + field + 100.0 * (z + (double)g->z * (gx + (double)wide * gy));
}

static void fill(struct grid *g, int step)
{
    for (int f = 0; f < g->fields; f++)
        for (int x = 0; x < g->x; x++)
            for (int y = 0; y < g->y; y++) {
                double *c = column(g, f, x, y);
                for (int z = 0; z < g->z; z++) c[z] = value(g, f, x, y, z, step);
            }
}

static long wrong_cells(const struct grid *g, int step)
{
    long wrong = 0;
    for (int f = 0; f < g->fields; f++)
        for (int x = -DEPTH; x < g->x + DEPTH; x++)
            for (int y = -DEPTH; y < g->y + DEPTH; y++) {
                const double *c = column(g, f, x, y);
                for (int z = 0; z < g->z; z++) wrong += c[z] != value(g, f, x, y, z, step);
            }
    return wrong;
}

/* ---- packing --------------------------------------------------------------------------------------------------------------------- */
static void pack(const struct grid *g, const struct box *b, double *to)
{
    size_t line = (size_t)(b->y1 - b->y0) * g->z; /* columns that are neighbours in y lie side by side */
    for (int f = 0; f < g->fields; f++)
        for (int x = b->x0; x < b->x1; x++, to += line) memcpy(to, column(g, f, x, b->y0), line * sizeof *to);
}

static void unpack(const struct grid *g, const struct box *b, const double *from)
{
    size_t line = (size_t)(b->y1 - b->y0) * g->z;
    for (int f = 0; f < g->fields; f++)
        for (int x = b->x0; x < b->x1; x++, from += line) memcpy(column(g, f, x, b->y0), from, line * sizeof *from);
}

static int opposite(int direction) { return NEIGHBOURS - 1 - direction; }

/* The range of one axis that goes out in a direction (-1, 0, 1), or comes in from it. */
static void range(int n, int d, int is_in, int *first, int *end)
{
    *first = d < 0 ? 0 : d > 0 ? n - DEPTH : 0;
    *end = d < 0 ? DEPTH : n;
    if (is_in && d) *first += d * DEPTH, *end += d * DEPTH;
}

/* The rank of the neighbour in direction d, its outermost columns there, and where mine of it lie. */
static int neighbour(const struct grid *g, int d, struct box *out, struct box *in)
{
    int px = (g->rank_x + dx[d] + g->ranks_x) % g->ranks_x, py = (g->rank_y + dy[d] + g->ranks_y) % g->ranks_y;
    range(g->x, dx[d], 0, &out->x0, &out->x1);
    range(g->y, dy[d], 0, &out->y0, &out->y1);
    range(g->x, dx[d], 1, &in->x0, &in->x1);
    range(g->y, dy[d], 1, &in->y0, &in->y1);
    return px * g->ranks_y + py;
}

/* ---- the command line, and what is printed ---- */
/* "[-g X Y Z] [-s steps] [-f fields] [way ..]"; *names_out: where the names of ways begin.  What is wrong with it; NULL: nothing. */
static const char *options_read(int argc, char **argv, struct grid *g, int *steps, int *names_out)
{
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (!strcmp(argv[i], "-g") && i + 3 < argc)
            g->x = atoi(argv[i + 1]), g->y = atoi(argv[i + 2]), g->z = atoi(argv[i + 3]), i += 3;
        else if (!strcmp(argv[i], "-s") && i + 1 < argc)
            *steps = atoi(argv[++i]);
        else if (!strcmp(argv[i], "-f") && i + 1 < argc)
            g->fields = atoi(argv[++i]);
        else
            return "unknown option";
    }
    *names_out = i;
    return g->x < DEPTH || g->y < DEPTH || g->z < 1 || g->fields < 1 || *steps < 1 ? "a number is too small" : NULL;
}

static int is_named(const char *way, int n, char **names)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(names[i], way)) return 1;
    return 0;
}

static void print_head(const struct grid *g, const char *who)
{
    printf("%d %s as %d x %d, %d fields of %d x %d x %d cells each\n%-8s %10s %10s\n", g->ranks_x * g->ranks_y, who, g->ranks_x,
           g->ranks_y, g->fields, g->x, g->y, g->z, "way", "best us", "mean us");
}

static void print_way(const char *way, double best, double mean, long wrong)
{
    printf("%-8s %10.1f %10.1f   ", way, best, mean);
    wrong ? printf("%ld cells wrong\n", wrong) : printf("all halos right\n");
    fflush(stdout);
}

#endif
