/* choose.c -- from times to rows and to guidelines; pure functions.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tune.h"

#include <stdarg.h>
#include <string.h>

const char *const tune_kind_names[TUNE_KINDS] = {"barrier",  "bcast",  "gather",    "scatter",        "allgather",
                                                 "alltoall", "reduce", "allreduce", "reduce_scatter", "scan"};
const struct tune_sizes tune_sizes = {{8, 64, 512, 4096, 16384, 65536, 262144, 1048576}, 8};
const struct tune_sizes tune_sizes_quick = {{8, 1024, 16384, 262144}, 4};
/* Another algorithm is taken if it needs less than this part of the time; a guideline is broken beyond that factor, and so many us. */
static const double GAIN = 0.9, TOLERANCE = 1.35, SLACK_US = 1;

int tune_kind_named(const char *name)
{
    int k = 0;
    while (k < TUNE_KINDS && strcmp(tune_kind_names[k], name) != 0) k++;
    return k;
}

static int algorithm_of(struct tune_results *r, int kind, const char *name)
{
    int a = 0;
    while (a < TUNE_ALGORITHMS && r->names[kind][a][0] && strcmp(r->names[kind][a], name) != 0) a++;
    if (a < TUNE_ALGORITHMS && !r->names[kind][a][0]) snprintf(r->names[kind][a], TUNE_NAME, "%s", name);
    return a;
}

bool tune_take_line(struct tune_results *r, const char *line, bool forced)
{
    char kind_name[TUNE_NAME], name[TUNE_NAME];
    int even, size = 0;
    long bytes;
    double us;
    if (sscanf(line, "shape %d %d %d", &r->ranks, &r->nodes, &even) == 3) {
        r->is_even = even;
        return true;
    }
    if (sscanf(line, "known %31s %31s", kind_name, name) == 2 && tune_kind_named(kind_name) < TUNE_KINDS)
        return algorithm_of(r, tune_kind_named(kind_name), name) < TUNE_ALGORITHMS;
    if (sscanf(line, "time %31s %ld %31s %lf", kind_name, &bytes, name, &us) != 4 || us <= 0) return false;
    int kind = tune_kind_named(kind_name), a = kind < TUNE_KINDS && name[0] != '?' ? algorithm_of(r, kind, name) : TUNE_ALGORITHMS;
    while (size < r->sizes->n && r->sizes->at[size] != bytes) size++;
    if (a == TUNE_ALGORITHMS || size == r->sizes->n) return false;
    struct tune_point *p = &r->points[kind][size];
    if (p->us[a] == 0 || us < p->us[a]) p->us[a] = us;
    tune_times_add(&p->times[a], us);
    if (!forced) p->chosen = a;
    return true;
}

void tune_times_add(struct tune_times *t, double us)
{
    int at = t->n < TUNE_TURNS ? t->n++ : TUNE_TURNS - 1;
    if (at == TUNE_TURNS - 1 && t->us[at] > 0 && t->us[at] < us) return;
    for (; at > 0 && t->us[at - 1] > us; at--) t->us[at] = t->us[at - 1];
    t->us[at] = us;
}
double tune_spread(const struct tune_times *t) { return t->n > 1 ? (t->us[t->n / 2] - t->us[0]) / t->us[0] : -1; }

static bool is_measured(const struct tune_results *r, int kind, int size)
{
    const struct tune_point *p = &r->points[kind][size];
    return p->chosen >= 0 && p->us[p->chosen] > 0;
}

int tune_sizes_of(const struct tune_results *r, int kind) { return kind == TUNE_BARRIER ? 1 : r->sizes->n; }

double tune_seen(const struct tune_results *r, int kind, int size)
{
    if (kind == TUNE_BARRIER) size = 0;
    return size >= 0 && size < r->sizes->n && is_measured(r, kind, size) ? r->points[kind][size].us[r->points[kind][size].chosen]
                                                                         : 0;
}

int tune_best(const struct tune_results *r, int kind, int size)
{
    const struct tune_point *p = &r->points[kind][size];
    int best = p->chosen;
    for (int a = 0; a < TUNE_ALGORITHMS; a++)
        if (p->us[a] > 0 && p->us[a] < p->us[best]) best = a;
    double spread = tune_spread(&p->times[best]), other = tune_spread(&p->times[p->chosen]);
    double won = 1 - p->us[best] / p->us[p->chosen];
    bool is_sure = spread >= 0 && other >= 0 && won > spread && won > other;
    return is_sure && p->us[best] < GAIN * p->us[p->chosen] ? best : p->chosen;
}

unsigned tune_rows_hash(const struct tune_results *r)
{
    unsigned hash = 1;
    for (int k = 0; k < TUNE_KINDS; k++)
        for (int i = 0; i < tune_sizes_of(r, k); i++)
            hash = hash * 31 + (unsigned)(is_measured(r, k, i) ? tune_best(r, k, i) + 1 : 0);
    return hash;
}

/* 16384 as "16K". */
static void write_size(FILE *f, long n)
{
    if (n % 1024 == 0 && n)
        fprintf(f, "%ldK", n / 1024);
    else
        fprintf(f, "%ld", n);
}

/* Half way, by factors, from this size to the next. */
static long border(const struct tune_sizes *s, int i)
{
    long n = s->at[i];
    while (n * n < s->at[i] * s->at[i + 1]) n *= 2;
    return n;
}

/* Behind a row: by how much it wins at its best size of these, and how far the times of its algorithm lie apart at most where it wins.  Sizes
 * at which it is built in say nothing of that; they do where all are. */
static void write_spread(const struct tune_results *r, int kind, int first, int last, FILE *f)
{
    double gain = 0, spread = -1;
    bool wins = false;
    for (int i = first; i <= last; i++) wins |= tune_best(r, kind, i) != r->points[kind][i].chosen;
    for (int i = first; i <= last; i++) {
        const struct tune_point *p = &r->points[kind][i];
        int a = tune_best(r, kind, i);
        if (wins && a == p->chosen) continue;
        double won = 1 - p->us[a] / p->us[p->chosen], here = tune_spread(&p->times[a]);
        if (won > gain) gain = won;
        if (here > spread) spread = here;
    }
    fputs("  # ", f);
    gain > 0 ? fprintf(f, "%.0f %% quicker", 100 * gain) : fputs("as built in", f);
    spread >= 0 ? fprintf(f, ", spread %.0f %%\n", 100 * spread) : fputs(", measured once\n", f);
}

int tune_write_rows(const struct tune_results *r, int kind, bool all, FILE *f)
{
    int last = -1, n = 0;
    bool is_other = all;
    for (int i = 0; i < r->sizes->n && is_measured(r, kind, i); i++) {
        last = i;
        is_other |= tune_best(r, kind, i) != r->points[kind][i].chosen;
    }
    for (int i = 0, first = 0; is_other && i <= last; i++) {
        int a = tune_best(r, kind, i);
        if (i < last && tune_best(r, kind, i + 1) == a) continue;
        fprintf(f, "%s%s | %d..%d | ", r->processor, tune_kind_names[kind], r->ranks, r->ranks);
        if (r->nodes > 1) fprintf(f, "%d..%d | ", r->nodes, r->nodes);
        if (i == last)
            fputs("-", f);
        else
            write_size(f, border(r->sizes, i));
        fprintf(f, " | %s | -", r->names[kind][a]);
        write_spread(r, kind, first, i, f);
        first = i + 1;
        n++;
    }
    return n;
}

/* ---- guidelines: a collective is no slower than others that do the same, and more bytes do not cost less ------------------------- */
/* The smallest size of so many bytes at least, and four times as many at most; -1: there is none. */
static int size_near(const struct tune_results *r, double bytes)
{
    for (int i = 0; i < r->sizes->n; i++)
        if ((double)r->sizes->at[i] >= bytes && (double)r->sizes->at[i] <= 4 * bytes) return i;
    return -1;
}

struct guide {
    const struct tune_results *r;
    void (*told)(void *about, int kind, const char *text);
    void *about;
    unsigned slow;
};

static void must(struct guide *g, int kind, int size, double others, const char *fmt, ...)
{
    double t = tune_seen(g->r, kind, size);
    char what[128], text[256];
    va_list more;
    if (t <= 0 || others <= 0 || t <= TOLERANCE * others + SLACK_US) return;
    va_start(more, fmt);
    vsnprintf(what, sizeof what, fmt, more);
    va_end(more);
    const struct tune_point *p = &g->r->points[kind][kind == TUNE_BARRIER ? 0 : size];
    snprintf(text, sizeof text, "%s of %ld bytes (%s) takes %.1f us, %s %.1f us", tune_kind_names[kind],
             kind == TUNE_BARRIER ? 0 : g->r->sizes->at[size], g->r->names[kind][p->chosen], t, what, others);
    g->told(g->about, kind, text);
    g->slow |= 1u << kind;
}

/* The sum, if both are known. */
static double both(double a, double b) { return a > 0 && b > 0 ? a + b : 0; }

unsigned tune_guidelines(const struct tune_results *r, void (*told)(void *about, int kind, const char *text), void *about)
{
    struct guide g = {r, told, about, 0};
    must(&g, TUNE_BARRIER, 0, tune_seen(r, TUNE_ALLREDUCE, 0), "allreduce of 8 bytes");
    for (int i = 0; i < r->sizes->n; i++) {
        double bytes = (double)r->sizes->at[i];
        int part = size_near(r, bytes / r->ranks), whole = size_near(r, bytes * r->ranks);
        must(&g, TUNE_ALLREDUCE, i, both(tune_seen(r, TUNE_REDUCE, i), tune_seen(r, TUNE_BCAST, i)), "reduce and bcast");
        must(&g, TUNE_REDUCE, i, tune_seen(r, TUNE_ALLREDUCE, i), "allreduce");
        must(&g, TUNE_GATHER, i, tune_seen(r, TUNE_ALLGATHER, i), "allgather");
        must(&g, TUNE_SCATTER, i, tune_seen(r, TUNE_BCAST, whole), "bcast of all blocks");
        must(&g, TUNE_BCAST, i, both(tune_seen(r, TUNE_SCATTER, part), tune_seen(r, TUNE_ALLGATHER, part)),
             "scatter and allgather of parts");
        must(&g, TUNE_ALLGATHER, i, both(tune_seen(r, TUNE_GATHER, i), tune_seen(r, TUNE_BCAST, whole)), "gather and bcast");
        must(&g, TUNE_ALLGATHER, i, tune_seen(r, TUNE_ALLTOALL, i), "alltoall");
        must(&g, TUNE_REDUCE_SCATTER, i, both(tune_seen(r, TUNE_REDUCE, i), tune_seen(r, TUNE_SCATTER, part)),
             "reduce and scatter of parts");
        must(&g, TUNE_REDUCE_SCATTER, i, tune_seen(r, TUNE_ALLREDUCE, i), "allreduce");
        for (int k = 0; k < TUNE_KINDS && i + 1 < r->sizes->n; k++)
            if (k != TUNE_BARRIER) must(&g, k, i, tune_seen(r, k, i + 1), "%ld bytes", r->sizes->at[i + 1]);
    }
    return g.slow;
}
