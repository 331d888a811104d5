/* rankplan.c -- `rankplan`: which cells of a grid, or which method, keep how much traffic on the nodes; before a job runs, or from the
 * traffic that a profile has seen.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "pattern.h"

#include "base/file.h"
#include "base/plain.h"
#include "boot/boot.h"
#include "boot/order.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- metrics: smaller is better; a new one is a row ---- */
static double worst_links(const struct traffic_cost *c) { return c->most_links; }
static double worst_bytes(const struct traffic_cost *c) { return c->most_bytes; }
static double far_links(const struct traffic_cost *c) { return c->links - c->near_links; }
static double far_bytes(const struct traffic_cost *c) { return c->bytes - c->near_bytes; }
static const struct metric {
    const char *name, *what;
    double (*of)(const struct traffic_cost *c);
} metrics[] = {
    {"links", "neighbours on other nodes, of the node that has most", worst_links},
    {"bytes", "bytes to and from other nodes, of the node that has most", worst_bytes},
    {"all-links", "neighbours on different nodes, all together", far_links},
    {"all-bytes", "bytes between nodes, all together", far_bytes},
};

static const char usage[] =
    "usage: rankplan -g N1,N2,... -N RANKS_PER_NODE [-C] [-c n1,n2,...]... [-w W1,W2,...] [-p D1,D2,...] [-m METRIC] [-a]\n"
    "       rankplan -b RANKS -N RANKS_PER_NODE [-m METRIC]\n"
    "       rankplan -t FILE -N RANKS_PER_NODE [-m METRIC] [-f ORDER]...\n"
    "  Compares orders of ranks by what of the traffic stays on nodes; the best comes first.\n"
    "  -g  a grid whose ranks talk to their neighbours; -C: numbered with the first coordinate fastest\n"
    "  -c  only these cells; without it, all that fill a node and divide the grid\n"
    "  -w  weights: bytes to a neighbour in each dimension (1); -p dimensions that wrap around\n"
    "  -b  rank i talks to rank i + RANKS/2: the bisection\n"
    "  -t  the traffic that mpiexec --profile has written (GODWIT_PROFILE_TRAFFIC=FILE)\n"
    "  -f  a file of ranks, beside the methods of MPICH_RANK_REORDER_METHOD\n"
    "  -a  all that there are, not the best ten\n"
    "  -m  links, bytes: of the node that has most with other nodes; all-links, all-bytes: together\n"
    "  Example: rankplan -g 16,2,8 -N 32; see rankplan(1).\n";

enum { PLANS = 4096, FILES = 64 };
struct plan {
    char name[96];
    struct traffic_cost cost;
    double value;
};
struct ask {
    struct grid grid;
    int per_node, bisection, n_cells, n_files, nodes;
    int cells[FILES][GRID_DIMS];
    double weight[GRID_DIMS];
    bool wraps[GRID_DIMS], all;
    int n_weights;
    const char *traffic_file, *files[FILES];
    const struct metric *metric;
    struct traffic traffic;
    int32_t *process_node, *node, *list;
    struct plan plans[PLANS];
    int n_plans;
};

static int refuse(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static int refuse(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fputs("rankplan: ", stderr);
    gw_vprint(stderr, fmt, ap);
    fputs("; rankplan without arguments tells what there is\n", stderr);
    va_end(ap);
    return -1;
}

/* ---- the command line ---- */
static int numbers(int letter, const char *text, double least, double *out)
{
    const char *at = text;
    for (int n = 0; n < GRID_DIMS; n++) {
        char *end;
        out[n] = strtod(at, &end);
        if (end == at || !(out[n] >= least) || out[n] > 1e15)
            return refuse("-%c %s: '%s' is no number from %g on", letter, text, at, least);
        if (!*end) return n + 1;
        if (*end != ',') return refuse("-%c %s: '%c' where a comma should be", letter, text, *end);
        at = end + 1;
    }
    return refuse("-%c %s: more than %d dimensions", letter, text, GRID_DIMS);
}

static int whole_numbers(int letter, const char *text, int *out)
{
    double v[GRID_DIMS];
    int n = numbers(letter, text, 1, v);
    for (int i = 0; i < n; i++) {
        if (v[i] > GRID_MOST || v[i] != floor(v[i])) return refuse("-%c %s: whole numbers up to %d", letter, text, GRID_MOST);
        out[i] = (int)v[i];
    }
    return n;
}

static int take_wraps(struct ask *a, const char *text)
{
    int list[GRID_DIMS], n = whole_numbers('p', text, list);
    for (int i = 0; i < n; i++) {
        if (list[i] > GRID_DIMS) return refuse("-p %s: dimensions are numbered from 1 on", text);
        a->wraps[list[i] - 1] = true;
    }
    return n;
}

static int take_cells(struct ask *a, const char *text)
{
    if (a->n_cells == FILES) return refuse("more than %d times -c", FILES);
    int n = whole_numbers('c', text, a->cells[a->n_cells]);
    if (n > 0 && n < GRID_DIMS) a->cells[a->n_cells][n] = 0;
    a->n_cells += n > 0;
    return n;
}

static int take_metric(struct ask *a, const char *text)
{
    for (size_t i = 0; i < GW_ARRAY_LEN(metrics); i++)
        if (strcmp(metrics[i].name, text) == 0) return a->metric = &metrics[i], 0;
    return refuse("-m %s is no metric: links, bytes, all-links, all-bytes", text);
}

static int options(struct ask *a, int argc, char **argv)
{
    int rc = 0, letter, one[GRID_DIMS] = {0};
    opterr = 0;
    while (rc >= 0 && (letter = getopt(argc, argv, "g:N:Cc:w:p:b:t:f:m:a")) != -1) switch (letter) {
        case 'g': rc = a->grid.n_dims = whole_numbers('g', optarg, a->grid.dim); break;
        case 'N': rc = whole_numbers('N', optarg, one), a->per_node = one[0]; break;
        case 'C': a->grid.column_major = true; break;
        case 'c': rc = take_cells(a, optarg); break;
        case 'w': rc = a->n_weights = numbers('w', optarg, 0, a->weight); break;
        case 'p': rc = take_wraps(a, optarg); break;
        case 'b': rc = whole_numbers('b', optarg, one), a->bisection = one[0]; break;
        case 't': a->traffic_file = optarg; break;
        case 'f': rc = a->n_files < FILES ? 0 : refuse("more than %d files", FILES), a->files[a->n_files++ % FILES] = optarg; break;
        case 'm': rc = take_metric(a, optarg); break;
        case 'a': a->all = true; break;
        default: /* in the place of a letter the second dash of a word */
            if (optopt == '-') return refuse("%s is no option", argv[optind]);
            return refuse("-%c is no option, or lacks what belongs to it", optopt);
        }
    if (rc < 0) return -1;
    if (optind < argc) return refuse("%s: what is it?", argv[optind]);
    if (!a->per_node) return refuse("-N must say how many ranks a node has");
    if ((a->grid.n_dims > 0) + (a->bisection > 0) + (a->traffic_file != NULL) != 1)
        return refuse("one of -g, -b and -t must be there");
    return 0;
}

/* ---- what is compared ---- */
static int add_plan(struct ask *a, int method, const int32_t *list, const char *name)
{
    struct plan *p = &a->plans[a->n_plans];
    if (a->n_plans == PLANS) return refuse("more than %d orders", PLANS);
    snprintf(p->name, sizeof p->name, "%s", name);
    if (traffic_nodes(method, a->traffic.ranks, a->process_node, list, a->node) < 0 ||
        traffic_weigh(&a->traffic, a->node, a->nodes, &p->cost) < 0)
        return refuse("no memory");
    p->value = a->metric->of(&p->cost);
    a->n_plans++;
    return 0;
}

static int add_cell(struct ask *a, const int *cell)
{
    char name[96] = "";
    for (int d = 0; d < a->grid.n_dims; d++) {
        if (cell[d] > a->grid.dim[d] || cell[d] < 1)
            return refuse("-c: a cell of the grid has %d numbers, each within the grid", a->grid.n_dims);
        a->grid.cell[d] = cell[d];
        snprintf(name + strlen(name), sizeof name - strlen(name), "%s%d", d ? "x" : "", cell[d]);
    }
    if (grid_list(&a->grid, a->list, NULL) < 0) return refuse("no memory");
    return add_plan(a, BOOT_ORDER_FILE, a->list, name);
}

/* All cells of `left` ranks, dimension by dimension. */
static int add_cells(struct ask *a, int d, int left, int *cell)
{
    if (d == a->grid.n_dims) return left == 1 ? add_cell(a, cell) : 0;
    int rc = 0;
    for (int n = 1; rc == 0 && n <= left; n++) {
        if (left % n || a->grid.dim[d] % n) continue;
        cell[d] = n;
        rc = add_cells(a, d + 1, left / n, cell);
    }
    return rc;
}

static int add_file(struct ask *a, const char *path)
{
    if (boot_order_read(path, a->traffic.ranks, true, a->list) != GW_OK) return refuse("%s", gw_fail_text());
    return add_plan(a, BOOT_ORDER_FILE, a->list, path);
}

/* ---- traffic ---- */
/* Lines of "from to bytes", and in front of them a number of ranks. */
static int read_traffic(struct ask *a)
{
    char *text = NULL, *at, *end;
    const char *why = gw_file_read(a->traffic_file, (size_t)1 << 30, true, &text);
    if (why) return refuse("%s: it cannot be read (%s)", a->traffic_file, why);
    int line = 1, rc = 0;
    for (at = text; rc == 0 && *at; line++) {
        size_t n = strcspn(at, "\n");
        char *next = at + n + (at[n] == '\n');
        long from = 0, to = 0;
        double bytes = 0;
        at[n] = 0;
        if (*at && *at != '#' && !a->traffic.ranks) {
            from = strtol(at, &end, 10);
            if (end == at || *end || from < 1 || from > 1 << 20)
                rc = refuse("%s:%d: the number of ranks should be here", a->traffic_file, line);
            a->traffic.ranks = (int)from;
        } else if (*at && *at != '#') {
            from = strtol(at, &end, 10), to = strtol(end, &end, 10), bytes = strtod(end, &end);
            if (*end || from < 0 || to < 0 || from >= a->traffic.ranks || to >= a->traffic.ranks || !(bytes >= 0))
                rc = refuse("%s:%d: two ranks of %d and bytes should be here", a->traffic_file, line, a->traffic.ranks);
            else if (from != to && bytes > 0)
                rc = traffic_add(&a->traffic, (int)from, (int)to, bytes);
        }
        at = next;
    }
    free(text);
    if (rc == 0 && !a->traffic.ranks) rc = refuse("%s: there is nothing in it", a->traffic_file);
    return rc;
}

static int make_traffic(struct ask *a)
{
    int rc;
    for (int d = 0; d < GRID_DIMS; d++) a->grid.by[d] = d;
    if (a->traffic_file) {
        rc = read_traffic(a);
    } else if (a->bisection) {
        if (a->bisection % 2 || a->bisection > 1 << 20) return refuse("-b %d: an even number of ranks", a->bisection);
        rc = traffic_of_bisection(&a->traffic, a->bisection, 1);
        a->grid = (struct grid){.n_dims = 2, .dim = {2, a->bisection / 2}, .by = {0, 1}};
    } else {
        if (grid_size(&a->grid) > 1 << 20) return refuse("-g: at most %d ranks", 1 << 20);
        if (a->n_weights && a->n_weights != a->grid.n_dims)
            return refuse("-w has %d numbers, -g has %d", a->n_weights, a->grid.n_dims);
        for (int d = a->n_weights; d < a->grid.n_dims; d++) a->weight[d] = 1;
        rc = traffic_of_grid(&a->traffic, &a->grid, a->weight, a->wraps);
    }
    int n = a->traffic.ranks;
    if (rc < 0) return -1;
    a->process_node = malloc(sizeof(int32_t) * (size_t)n), a->node = malloc(sizeof(int32_t) * (size_t)n);
    a->list = malloc(sizeof(int32_t) * (size_t)n);
    if (!a->process_node || !a->node || !a->list) return refuse("no memory");
    for (int p = 0; p < n; p++) a->process_node[p] = p / a->per_node;
    a->nodes = (n + a->per_node - 1) / a->per_node;
    return 0;
}

/* What a profile would say of it, and the order that it would write. */
static int add_found(struct ask *a)
{
    struct machine m = {.ranks = a->traffic.ranks, .nodes = a->nodes, .per_node = a->per_node, .node_of_process = a->process_node};
    struct pattern p;
    int is_grid = pattern_find(&a->traffic, &p);
    if (m.per_node > m.ranks) m.per_node = m.ranks;
    char dims[96] = "", cell[96] = "", name[96];
    if (is_grid < 0) return refuse("no memory");
    for (int d = 0; is_grid && d < p.grid.n_dims; d++)
        snprintf(dims + strlen(dims), sizeof dims - strlen(dims), "%s%d%s", d ? " X " : "", p.grid.dim[d],
                 p.wraps[d] ? " (ring)" : "");
    if (is_grid)
        printf("The traffic has a %s grid pattern: %.1f %% of the bytes go to neighbours in it\n", dims, 100 * p.share);
    else
        printf("The traffic has the pattern of no grid\n");
    if ((is_grid ? order_for_grid(&a->traffic, &m, &p.grid, a->list) : order_for_graph(&a->traffic, &m, a->list)) < 0)
        return refuse("no memory");
    for (int d = 0; is_grid && d < p.grid.n_dims; d++)
        snprintf(cell + strlen(cell), sizeof cell - strlen(cell), "%s%d", d ? "," : "", p.grid.cell[d]);
    for (int d = 0; is_grid && d < p.grid.n_dims; d++)
        snprintf(cell + strlen(cell), sizeof cell - strlen(cell), "%s%d", d ? "," : " -g ", p.grid.dim[d]);
    if (is_grid)
        snprintf(name, sizeof name, "grid_order -R %s -c %.70s", (const char *[]){"-Z", "-P", "-H"}[p.grid.walk], cell);
    else
        snprintf(name, sizeof name, "by the traffic");
    return add_plan(a, BOOT_ORDER_FILE, a->list, name);
}

static int compare(struct ask *a)
{
    int cell[GRID_DIMS], rc = add_plan(a, BOOT_ORDER_SMP, NULL, "SMP (1)");
    if (rc == 0) rc = add_plan(a, BOOT_ORDER_FOLD, NULL, "Fold (2)");
    if (rc == 0) rc = add_plan(a, BOOT_ORDER_ROUND, NULL, "RoundRobin (0)");
    if (rc == 0 && a->traffic_file) rc = add_found(a);
    for (int i = 0; rc == 0 && i < a->n_files; i++) rc = add_file(a, a->files[i]);
    for (int i = 0; rc == 0 && i < a->n_cells; i++) rc = add_cell(a, a->cells[i]);
    if (rc == 0 && a->bisection) rc = add_cell(a, (int[GRID_DIMS]){2, 1});
    if (rc == 0 && a->grid.n_dims && !a->bisection && !a->n_cells) rc = add_cells(a, 0, a->per_node, cell);
    return rc;
}

static int better(const void *a, const void *b)
{
    const struct plan *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void print_plans(struct ask *a)
{
    enum { BEST = 10 };
    qsort(a->plans, (size_t)a->n_plans, sizeof *a->plans, better);
    printf("%d ranks, %d a node; %s: %s\n", a->traffic.ranks, a->per_node, a->metric->name, a->metric->what);
    printf("%12s  %22s  %22s  %s\n", a->metric->name, "links on nodes", "bytes on nodes", "order");
    for (int i = 0; i < a->n_plans && (a->all || a->n_cells || i < BEST); i++) {
        const struct plan *p = &a->plans[i];
        const struct traffic_cost *c = &p->cost;
        printf("%12.10g  %6.0f of %6.0f %5.1f%%  %9.3g %9.3g %5.1f%%  %s\n", p->value, c->near_links, c->links,
               c->links > 0 ? 100 * c->near_links / c->links : 0, c->near_bytes, c->bytes,
               c->bytes > 0 ? 100 * c->near_bytes / c->bytes : 0, p->name);
    }
}

int main(int argc, char **argv)
{
    static struct ask a;
    a.metric = &metrics[0];
    if (argc == 1) {
        fputs(usage, stderr);
        return 2;
    }
    if (strcmp(argv[1], "--help") == 0 || (strcmp(argv[1], "-h") == 0 && argc == 2) || strcmp(argv[1], "--version") == 0) {
        fputs(strcmp(argv[1], "--version") != 0 ? usage : "rankplan (Godwit) " GODWIT_VERSION "\n", stdout);
        return 0;
    }
    int rc = options(&a, argc, argv) < 0 || make_traffic(&a) < 0 || compare(&a) < 0 ? 2 : 0;
    if (rc == 0) print_plans(&a);
    traffic_free(&a.traffic);
    free(a.process_node), free(a.node), free(a.list);
    if (rc == 0 && fflush(stdout) != 0) {
        fprintf(stderr, "rankplan: standard output: %s\n", strerror(errno));
        rc = 1;
    }
    return rc;
}
