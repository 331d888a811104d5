/* grid_order.c -- `grid_order`: writes a rank order for programs whose ranks exchange data with their neighbours in a grid.  Its command line is
 * that of the tool of the same name which comes with HPE's performance tools; doc/grid_order.1 says what was decided where its manual
 * is silent.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "grid.h"
#include "base/plain.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] = "usage: grid_order -C|-R [-P|-Z|-H] -g N1,N2,... [-c n1,n2,...] [-o d1,d2,...] [-m max]\n"
                            "                  [-N ranks_per_node] [-n ranks_per_line] [-q] [-s starting_rank] [-T] [i1,i2,...]\n"
                            "  Writes an order of ranks for the file MPICH_RANK_ORDER (MPICH_RANK_REORDER_METHOD=3).\n"
                            "  -C, -R  ranks are numbered with the first coordinate fastest (as Fortran), with the last (as C)\n"
                            "  -g      the grid: ranks in each dimension\n"
                            "  -c      cells of neighbours that lie one behind the other; without it, rows of the last dimension\n"
                            "  -Z, -P, -H  cells follow each other in rows, in rows to and fro, along a Hilbert curve\n"
                            "  -o      dimensions from the slowest to the fastest, from 1 on\n"
                            "  -m, -s  the largest rank that is listed; the number of the first\n"
                            "  -N, -n  ranks a node, ranks a line\n"
                            "  -q      no comments; -T, or coordinates: a table of rank, coordinates, place and node\n"
                            "  Example: grid_order -R -c 2,2,8 -g 16,2,8 >MPICH_RANK_ORDER; see grid_order(1).\n";

struct order {
    struct grid grid;
    int n_cells, single, most, start, per_node, per_line; /* single: the one number that -c had for three dimensions, or 0 */
    int given[GRID_DIMS];                                 /* -c as it was written */
    bool quiet, table, has_order, has_most, has_line;
    int32_t *list;
    int64_t size;
};

static int refuse(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static int refuse(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fputs("grid_order: ", stderr);
    gw_vprint(stderr, fmt, ap);
    fputs("; grid_order without arguments tells what there is\n", stderr);
    va_end(ap);
    return -1;
}

/* ---- the command line -------------------------------------------------------------------------------------------------------------- */
/* Numbers with commas; how many, or -1. */
static int numbers(const char *option, const char *text, int least, int *out)
{
    const char *at = text;
    for (int n = 0; n < GRID_DIMS; n++) {
        char *end;
        errno = 0;
        long v = strtol(at, &end, 10);
        if (end == at || errno || v < least || v > GRID_MOST || *at == '+' || *at == ' ')
            return refuse("%s %s: '%s' is no number from %d to %d", option, text, at, least, GRID_MOST);
        out[n] = (int)v;
        if (!*end) return n + 1;
        if (*end != ',') return refuse("%s %s: '%c' where a comma should be", option, text, *end);
        at = end + 1;
    }
    return refuse("%s %s: more than %d dimensions", option, text, GRID_DIMS);
}

static int one_number(int letter, const char *text, int least, int *out)
{
    int list[GRID_DIMS];
    char option[] = {'-', (char)letter, 0};
    int n = numbers(option, text, least, list);
    if (n > 1) return refuse("%s %s: one number is enough", option, text);
    *out = list[0];
    return n < 0 ? -1 : 0;
}

static int take_order(struct order *o, const char *text)
{
    int n = numbers("-o", text, 1, o->grid.by);
    unsigned seen = 0;
    for (int i = 0; i < n; i++) {
        if (o->grid.by[i] > n || seen >> o->grid.by[i] & 1) return refuse("-o %s: each dimension from 1 to %d once", text, n);
        seen |= 1u << o->grid.by[i];
        o->grid.by[i]--;
    }
    o->has_order = n > 0;
    return n < 0 ? -1 : n;
}

static int options(struct order *o, int argc, char **argv, int *n_order_out)
{
    int rc = 0, letter, majors = 0;
    opterr = 0;
    while (rc >= 0 && (letter = getopt(argc, argv, "CRPZHg:c:o:m:N:n:qs:T")) != -1) switch (letter) {
        case 'C': majors |= 1, o->grid.column_major = true; break;
        case 'R': majors |= 2, o->grid.column_major = false; break;
        case 'P': o->grid.walk = GRID_SNAKE; break;
        case 'Z': o->grid.walk = GRID_ROWS; break;
        case 'H': o->grid.walk = GRID_HILBERT; break;
        case 'g': rc = o->grid.n_dims = numbers("-g", optarg, 1, o->grid.dim); break;
        case 'c': rc = o->n_cells = numbers("-c", optarg, 1, o->given); break;
        case 'o': rc = *n_order_out = take_order(o, optarg); break;
        case 'm': rc = one_number('m', optarg, 0, &o->most), o->has_most = true; break;
        case 'N': rc = one_number('N', optarg, 1, &o->per_node); break;
        case 'n': rc = one_number('n', optarg, 1, &o->per_line), o->has_line = true; break;
        case 's': rc = one_number('s', optarg, 0, &o->start); break;
        case 'q': o->quiet = true; break;
        case 'T': o->table = true; break;
        default: /* in the place of a letter the second dash of a word */
            if (optopt == '-') return refuse("%s is no option", argv[optind]);
            return refuse("-%c is no option, or lacks what belongs to it", optopt);
        }
    if (rc < 0) return -1;
    if (majors != 1 && majors != 2) return refuse("one of -C and -R must say how ranks are numbered");
    return 0;
}

/* -c with fewer numbers than there are dimensions has 1 for the others.  One large number for three dimensions is what manuals of two
 * sites have as an example (-R -c 32 -g 4,4,4): its output is all of the first and of the last dimension, then the next of the second. */
static int settle_cells(struct order *o)
{
    struct grid *g = &o->grid;
    if (o->n_cells > g->n_dims) return refuse("-c has %d dimensions, -g has %d", o->n_cells, g->n_dims);
    for (int d = 0; d < g->n_dims; d++) {
        int c = d < o->n_cells ? o->given[d] : o->n_cells || g->walk == GRID_HILBERT || d < g->n_dims - 1 ? 1 : g->dim[d];
        g->cell[d] = c < g->dim[d] ? c : g->dim[d];
    }
    if (o->n_cells == 1 && g->n_dims == 3 && o->given[0] >= g->dim[0] && g->dim[1] > 1) {
        o->single = o->given[0];
        g->cell[2] = g->dim[2];
    }
    return 0;
}

static int settle(struct order *o, int n_order)
{
    struct grid *g = &o->grid;
    if (g->n_dims <= 0) return refuse("-g must give the grid");
    if (o->has_order && n_order != g->n_dims) return refuse("-o has %d dimensions, -g has %d", n_order, g->n_dims);
    for (int d = 0; !o->has_order && d < g->n_dims; d++) g->by[d] = d;
    double size = 1, bits = 1, wide = 0;
    for (int d = 0; d < g->n_dims; d++) size *= g->dim[d];
    if (size + o->start > GRID_MOST) return refuse("the grid has %.0f ranks: at most %d", size, GRID_MOST);
    if (settle_cells(o) < 0) return -1;
    for (int d = 0; d < g->n_dims; d++) {
        int cells = (g->dim[d] + g->cell[d] - 1) / g->cell[d];
        wide += cells > 1;
        while (cells > 1 << (int)bits) bits++;
    }
    if (g->walk == GRID_HILBERT && bits * wide > 63) return refuse("-H: this grid is too long and narrow for a curve; use -P");
    int cell = 1;
    for (int d = 0; d < g->n_dims; d++) cell *= g->cell[d];
    if (!o->per_line) o->per_line = o->per_node;
    if (!o->per_line) o->per_line = o->single ? o->single : g->walk == GRID_HILBERT && !o->n_cells ? g->dim[g->n_dims - 1] : cell;
    o->size = grid_size(g);
    if (!o->has_most) o->most = GRID_MOST;
    return 0;
}

/* ---- output ------------------------------------------------------------------------------------------------------------------------ */
static void print_list(const char *before, const int *list, int n)
{
    for (int i = 0; i < n; i++) printf("%s%d", i ? "," : before, list[i]);
}

static void print_command(const struct order *o)
{
    const struct grid *g = &o->grid;
    int by[GRID_DIMS];
    for (int i = 0; i < g->n_dims; i++) by[i] = g->by[i] + 1;
    printf("# grid_order %s %s", g->column_major ? "-C" : "-R", (const char *[]){"-Z", "-P", "-H"}[g->walk]);
    if (o->n_cells) print_list(" -c ", o->given, o->n_cells);
    print_list(" -g ", g->dim, g->n_dims);
    if (o->has_order) print_list(" -o ", by, g->n_dims);
    if (o->has_most) printf(" -m %d", o->most);
    if (o->per_node) printf(" -N %d", o->per_node);
    if (o->has_line) printf(" -n %d", o->per_line);
    if (o->start) printf(" -s %d", o->start);
    putchar('\n');
}

static void print_regions(const struct order *o, const struct grid_region *r, int n)
{
    for (int k = 0; k < n; k++) {
        printf("# Region %d: ", o->single ? 3 : r[k].number);
        for (int d = 0; d < o->grid.n_dims; d++) printf("%s%d", d ? "," : "", o->single ? d == 2 : r[k].rest[d]);
        printf(" (%lld..%lld)\n", (long long)(r[k].first + o->start), (long long)(r[k].first + r[k].n - 1 + o->start));
    }
}

/* How many pairs of neighbours (of a grid without wrap-around) share a node of `per_node` positions. */
static void print_neighbours(const struct order *o, const int32_t *place)
{
    const struct grid *g = &o->grid;
    int64_t all = 0, near = 0;
    int at[GRID_DIMS];
    for (int64_t r = 0; r < o->size; r++) {
        if (place[r] < 0) continue;
        grid_at(g, r, at);
        for (int d = 0; d < g->n_dims; d++) {
            if (++at[d] < g->dim[d]) {
                int32_t other = place[grid_rank(g, at)];
                all += other >= 0;
                near += other >= 0 && other / o->per_node == place[r] / o->per_node;
            }
            at[d]--;
        }
    }
    printf("# Ranks a node: %d.  Neighbours on the same node: %lld of %lld (%.1f %%)\n", o->per_node, (long long)near,
           (long long)all, all ? 100. * (double)near / (double)all : 0);
}

static void print_ranks(const struct order *o)
{
    int column = 0;
    for (int64_t i = 0; i < o->size; i++) {
        if (o->list[i] + o->start > o->most) continue;
        printf("%s%d", column ? "," : "", o->list[i] + o->start);
        if (++column == o->per_line) putchar('\n'), column = 0;
    }
    if (column) putchar('\n');
}

static void print_row(const struct order *o, const int32_t *place, int64_t rank, const int *at)
{
    printf("%lld ", (long long)rank + o->start);
    print_list(" ", at, o->grid.n_dims);
    if (place[rank] < 0)
        printf("  -");
    else
        printf("  %d", place[rank]);
    if (o->per_node && place[rank] >= 0) printf("  %d", place[rank] / o->per_node);
    putchar('\n');
}

static int take_coordinates(const struct order *o, const char *word, int *at_out)
{
    int n = numbers("coordinates", word, 0, at_out);
    if (n < 0) return -1;
    if (n != o->grid.n_dims) return refuse("coordinates %s: the grid has %d dimensions", word, o->grid.n_dims);
    for (int d = 0; d < n; d++)
        if (at_out[d] >= o->grid.dim[d]) return refuse("coordinates %s: dimension %d has 0 to %d", word, d + 1, o->grid.dim[d] - 1);
    return 0;
}

static int print_table(const struct order *o, const int32_t *place, char **words, int n_words)
{
    int at[GRID_DIMS];
    for (int k = 0; k < n_words; k++)
        if (take_coordinates(o, words[k], at) < 0) return -1;
    if (!o->quiet) printf("# rank  coordinates  place%s\n", o->per_node ? "  node" : "");
    for (int k = 0; k < n_words; k++) {
        take_coordinates(o, words[k], at);
        print_row(o, place, grid_rank(&o->grid, at), at);
    }
    for (int64_t r = 0; !n_words && r < o->size; r++) {
        grid_at(&o->grid, r, at);
        print_row(o, place, r, at);
    }
    return 0;
}

/* Where each rank of the grid stands, as it is counted by nodes; -1: it is left out. */
static void find_places(const struct order *o, int32_t *place_out)
{
    int32_t place = 0;
    for (int64_t i = 0; i < o->size; i++) place_out[o->list[i]] = o->list[i] + o->start > o->most ? -1 : place++;
}

static int print_all(struct order *o, char **words, int n_words)
{
    struct grid_region regions[1 << GRID_DIMS];
    int32_t *place = malloc(sizeof *place * (size_t)o->size);
    o->list = malloc(sizeof *o->list * (size_t)o->size);
    int n = place && o->list ? grid_list(&o->grid, o->list, regions) : -1, rc = 0;
    if (n < 0) {
        rc = refuse("no memory for %lld ranks", (long long)o->size);
    } else {
        find_places(o, place);
        if (o->table || n_words) {
            rc = print_table(o, place, words, n_words);
        } else {
            if (!o->quiet) print_command(o), print_regions(o, regions, n);
            if (!o->quiet && o->per_node) print_neighbours(o, place);
            print_ranks(o);
        }
    }
    if (rc == 0 && o->start && !o->quiet)
        fprintf(stderr,
                "grid_order: ranks 0 to %d are not in this list, and a job needs all: put a line for them before it or behind it\n",
                o->start - 1);
    free(place);
    free(o->list);
    return rc;
}

int main(int argc, char **argv)
{
    static struct order o;
    int n_order = 0;
    if (argc == 1) {
        fputs(usage, stderr);
        return 2;
    }
    if (strcmp(argv[1], "--help") == 0 || (strcmp(argv[1], "-h") == 0 && argc == 2) || strcmp(argv[1], "--version") == 0) {
        fputs(strcmp(argv[1], "--version") != 0 ? usage : "grid_order (Godwit) " GODWIT_VERSION "\n", stdout);
        return 0;
    }
    if (options(&o, argc, argv, &n_order) < 0 || settle(&o, n_order) < 0) return 2;
    if (print_all(&o, argv + optind, argc - optind) < 0) return 2;
    if (fflush(stdout) != 0) {
        fprintf(stderr, "grid_order: standard output: %s\n", strerror(errno));
        return 1;
    }
    return 0;
}
