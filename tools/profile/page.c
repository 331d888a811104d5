/* page.c -- the report as one HTML page that needs nothing else: table, ranks, sizes of messages, bytes from rank to rank.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "profile.h"

#include <math.h>
#include <string.h>

enum { WIDE = 720, MAP_CELLS = 64 };

static void text(FILE *f, const char *s)
{
    for (; *s; s++) switch (*s) {
        case '<': fputs("&lt;", f); break;
        case '>': fputs("&gt;", f); break;
        case '&': fputs("&amp;", f); break;
        default: fputc(*s, f);
        }
}

/* 1234567 as "1.2 MB". */
static const char *bytes_text(double b, char *to, size_t cap)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    int k = 0;
    while (b >= 999.5 && k < 5) b /= 1000, k++;
    snprintf(to, cap, k ? "%.1f %s" : "%.0f %s", b, units[k]);
    return to;
}

static void head(const struct prof_report *r, FILE *f)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Profile of ", f);
    text(f, r->program);
    fputs("</title>\n<style>body{font:15px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 "
          "1rem;color:#1b2a33}"
          "h2{margin:2.2rem 0 .6rem}table{border-collapse:collapse}td,th{padding:.15rem .7rem;text-align:right}"
          "th{border-bottom:2px solid #456}td:last-child,th:last-child{text-align:left}tr.total{font-weight:bold}"
          "tr.group td{border-top:1px solid #9ab;font-weight:bold}tr.function td:last-child{padding-left:2rem}"
          ".user{fill:#4c8f6b}.mpi{fill:#d98a3d}.sync{fill:#b0483f}.syscall{fill:#8a6fb0}.bar{fill:#43749c}svg "
          "text{font-size:12px;fill:#1b2a33}"
          "p.key b{padding:0 .5rem}#orders{display:flex;flex-wrap:wrap;gap:1.5rem}figure{margin:0}"
          "figcaption{max-width:16rem;font-size:13px}</style></head>\n<body><h1>Profile of ",
          f);
    text(f, r->program);
    fprintf(f, "</h1>\n<p>%d ranks, %.6f s from %s to %s. Times are seconds, mean of the ranks.</p>\n", r->ranks, r->total,
            r->has_mpi ? "MPI_Init" : "shmem_init", r->has_mpi ? "MPI_Finalize" : "shmem_finalize");
}

static void table(const struct prof_report *r, FILE *f)
{
    static const char *const classes[] = {"total", "group", "function"};
    char b[32];
    fputs("<h2>Time by call</h2>\n<table id=\"calls\"><tr><th>Time%</th><th>Time</th><th>Imb. Time</th><th>Imb. "
          "Time%</th>"
          "<th>Calls</th><th>Bytes</th><th>slowest rank</th><th>Group / Function</th></tr>\n",
          f);
    for (int i = 0; i < r->n_rows; i++) {
        const struct prof_row *row = &r->rows[i];
        fprintf(f,
                "<tr "
                "class=\"%s\"><td>%.1f</td><td>%.6f</td><td>%.6f</td><td>%.1f</td><td>%.0f</td><td>%s</td><td>%d</td><td>",
                classes[row->kind], row->percent, row->line.mean, row->imbalance, row->imbalance_percent, row->line.calls,
                row->line.bytes ? bytes_text(row->line.bytes, b, sizeof b) : "", row->line.most_rank);
        text(f, row->name);
        fputs("</td></tr>\n", f);
    }
    fputs("</table>\n", f);
}

static void places(const struct prof_report *r, FILE *f)
{
    if (!r->n_sites) return;
    fprintf(f, "<h2>Where %s is called</h2>\n", r->who);
    fputs("<table id=\"sites\"><tr><th>Time%</th><th>Time</th><th>Call</th><th>Place</th></tr>\n", f);
    for (int i = 0; i < r->n_sites; i++) {
        double seconds = r->sites[i].seconds / r->ranks;
        fprintf(f, "<tr><td>%.1f</td><td>%.6f</td><td>%s</td><td>", r->total > 0 ? 100 * seconds / r->total : 0, seconds,
                prof_names[r->sites[i].fn]);
        text(f, r->site_names[i]);
        fputs("</td></tr>\n", f);
    }
    fputs("</table>\n", f);
}

struct bar { /* of one rank, which gets its parts from the left */
    int rank;
    double at, y, high, most; /* most: seconds of the longest bar */
};

static void part(FILE *f, struct bar *b, const char *class, const char *what, double seconds)
{
    double wide = b->most > 0 && seconds > 0 ? seconds / b->most * WIDE : 0;
    fprintf(f,
            "<rect class=\"%s\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"><title>rank %d: %s %.6f "
            "s</title></rect>\n",
            class, b->at, b->y, wide, b->high, b->rank, what, seconds);
    b->at += wide;
}

static const char *in_calls(const struct prof_report *r) { return r->moved ? "in calls" : "in MPI"; }

static void ranks(const struct prof_report *r, FILE *f)
{
    double most = 0, high = r->ranks <= 64 ? 14 : 896.0 / r->ranks;
    for (int i = 0; i < r->ranks; i++) most = fmax(most, r->user[i] + r->mpi[i] + r->sync[i] + r->syscall[i]);
    fprintf(f,
            "<h2>Time by rank</h2>\n<p class=\"key\">From the left: <b style=\"color:#4c8f6b\">computing (USER)</b>"
            "<b style=\"color:#d98a3d\">in %s</b><b style=\"color:#b0483f\">%s "
            "(%s)</b><b style=\"color:#8a6fb0\">system calls of the program (SYSCALL)</b></p>\n"
            "<svg id=\"ranks\" width=\"%d\" height=\"%.0f\">\n",
            r->who, r->moved ? "waiting for others" : "waiting for others before a collective",
            !r->moved        ? "MPI_SYNC"
                : r->has_mpi ? "MPI_SYNC, SHMEM_SYNC"
                             : "SHMEM_SYNC",
            WIDE + 60, high * r->ranks + 4);
    for (int i = 0; i < r->ranks; i++) {
        struct bar b = {i, 50, high * i, high * .9, most};
        if (r->ranks <= 64) fprintf(f, "<text x=\"44\" y=\"%.1f\" text-anchor=\"end\">%d</text>\n", b.y + 11, i);
        part(f, &b, "user", "computing", r->user[i]);
        part(f, &b, "mpi", in_calls(r), r->mpi[i]);
        part(f, &b, "sync", "waiting", r->sync[i]);
        part(f, &b, "syscall", "in system calls", r->syscall[i]);
    }
    fputs("</svg>\n", f);
}

/* How many of which size; what: "messages". */
static void sizes(const double *bins, const char *title, const char *id, const char *what, FILE *f)
{
    double most = 0;
    int first = PROF_BINS, last = -1;
    for (int i = 0; i < PROF_BINS; i++)
        if (bins[i]) first = i < first ? i : first, last = i, most = fmax(most, bins[i]);
    if (last < 0) return;
    fprintf(f, "<h2>%s</h2>\n<svg id=\"%s\" width=\"%d\" height=\"%d\">\n", title, id, WIDE + 60, (last - first + 1) * 18 + 4);
    for (int i = first; i <= last; i++) {
        char a[32];
        double y = (i - first) * 18;
        fprintf(f, "<text x=\"84\" y=\"%.0f\" text-anchor=\"end\">%s%s</text>\n", y + 12, i ? "from " : "",
                bytes_text(i ? ldexp(1, i - 1) : 0, a, sizeof a));
        fprintf(f,
                "<rect class=\"bar\" x=\"90\" y=\"%.0f\" width=\"%.2f\" height=\"14\"><title>%.0f "
                "%s</title></rect>\n",
                y, bins[i] / most * (WIDE - 120), bins[i], what);
        if (bins[i]) fprintf(f, "<text x=\"%.2f\" y=\"%.0f\">%.0f</text>\n", 96 + bins[i] / most * (WIDE - 120), y + 12, bins[i]);
    }
    fputs("</svg>\n", f);
}

/* Many ranks share a cell. */
struct map {
    const double *of; /* [ranks][ranks] */
    const char *title, *rows, *columns, *id, *unit;
};
static void map(const struct prof_report *r, const struct map *m, FILE *f)
{
    int per = (r->ranks + MAP_CELLS - 1) / MAP_CELLS, n = (r->ranks + per - 1) / per;
    static double cell[MAP_CELLS][MAP_CELLS];
    memset(cell, 0, sizeof cell);
    double most = 0, side = fmin(40, 640.0 / n);
    for (int i = 0; i < r->ranks; i++)
        for (int k = 0; k < r->ranks; k++) {
            double *c = &cell[i / per][k / per];
            *c += m->of[(size_t)i * r->ranks + k];
            most = fmax(most, *c);
        }
    if (most == 0) return;
    fprintf(f,
            "<h2>%s</h2>\n<p>Rows: %s. Columns: %s. The darkest cell: %.0f "
            "%s%s.</p>\n"
            "<svg id=\"%s\" width=\"%.0f\" height=\"%.0f\">\n",
            m->title, m->rows, m->columns, most, m->unit, per > 1 ? "; several ranks share a cell" : "", m->id, side * n + 40,
            side * n + 24);
    for (int i = 0; i < n; i++) {
        if (n <= 32) {
            fprintf(f, "<text x=\"30\" y=\"%.1f\" text-anchor=\"end\">%d</text>", 18 + side * (i + .6), i * per);
            fprintf(f, "<text x=\"%.1f\" y=\"12\" text-anchor=\"middle\">%d</text>\n", 36 + side * (i + .5), i * per);
        }
        for (int k = 0; k < n; k++) {
            double shade = cell[i][k] / most;
            fprintf(f,
                    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" style=\"fill:hsl(207 55%% "
                    "%.0f%%)\"><title>%d to %d: %.0f %s</title></rect>\n",
                    36 + side * k, 18 + side * i, side * .95, side * .95, 97 - 72 * sqrt(shade), i * per, k * per, cell[i][k],
                    m->unit);
        }
    }
    fputs("</svg>\n", f);
}

static void maps(const struct prof_report *r, FILE *f)
{
    const struct map all[] = {
        {r->sent, "Bytes sent from rank to rank", "senders", "receivers", "matrix", "bytes"},
        {r->moved, "Bytes put and fetched, from PE to PE", "where they come from", "where they go to", "moved", "bytes"},
        {r->accesses, "Puts, gets, atomics and signals, by PE", "who calls", "whose memory it is", "accesses", "calls"}};
    for (int i = 0; i < (r->moved ? 3 : 1); i++) map(r, &all[i], f);
}

/* ---- orders of ranks, side by side --------------------------------------------------------------------------------------------- */
/* A grid of two dimensions as it is; of others, and without one, ranks row by row. */
static int columns(const struct prof_report *r)
{
    if (r->n_dims >= 2) return r->dim[r->n_dims - 1];
    int side = (int)ceil(sqrt((double)r->ranks));
    return r->n_dims == 1 ? (r->ranks < 32 ? r->ranks : 32) : side;
}

static void order_map(const struct prof_report *r, const struct prof_order *o, double side, FILE *f)
{
    int wide = columns(r), high = (r->ranks + wide - 1) / wide;
    fprintf(f, "<figure><svg width=\"%.0f\" height=\"%.0f\">\n", side * wide + 2, side * high + 2);
    for (int i = 0; i < r->ranks; i++) { /* neighbouring numbers of nodes get hues far apart */
        int hue = (int)((unsigned)o->node[i] * 137u % 360u), column = i % wide, row = i / wide;
        fprintf(
            f,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" style=\"fill:hsl(%d 50%% %d%%)\"><title>rank %d: node %d</title></rect>\n",
            1 + side * column, 1 + side * row, side * .94, side * .94, hue, 45 + o->node[i] % 3 * 12, i, o->node[i]);
    }
    fprintf(f, "</svg><figcaption><b>%s</b>: %.2f %% of the bytes stay on nodes", o->name, 100 * o->share);
    if (o->method >= 0) fprintf(f, "; method %d", o->method);
    fputs("</figcaption></figure>\n", f);
}

static void orders(const struct prof_report *r, FILE *f)
{
    if (!r->n_orders) return;
    int wide = columns(r), high = (r->ranks + wide - 1) / wide;
    double side = fmax(2, fmin(16, fmin(400.0 / wide, 400.0 / high)));
    fputs("<h2>Orders of ranks</h2>\n<p>", f);
    if (r->n_dims) {
        fputs("Ranks communicate in a grid of ", f);
        for (int d = 0; d < r->n_dims; d++) fprintf(f, "%s%d", d ? " &times; " : "", r->dim[d]);
        fputs(". A cell is a rank, at its place in the grid, ", f);
    } else {
        fputs("Ranks communicate in the pattern of no grid. A cell is a rank, by its number, ", f);
    }
    fputs("a colour a node: what touches another colour goes over the network.</p>\n<div id=\"orders\">\n", f);
    for (int i = 0; i < r->n_orders; i++) order_map(r, &r->orders[i], side, f);
    fputs("</div>\n", f);
}

/* ---- the slowest steps ----------------------------------------------------------------------------------------------------------- */
static void slow_step(const struct prof_report *r, int k, FILE *f)
{
    static const char *const classes[PROF_PARTS] = {"user", "mpi", "sync"};
    const char *const words[PROF_PARTS] = {"computing", in_calls(r), "waiting"};
    double most = 0, high = r->ranks <= 32 ? 12 : 384.0 / r->ranks;
    for (int i = 0; i < r->ranks; i++) {
        const struct prof_step *s = &r->slow[(size_t)i * PROF_SLOWEST + (size_t)k];
        most = fmax(most, (double)(s->part[0] + s->part[1] + s->part[2]));
    }
    fprintf(f, "<p><b>Step %d</b>: %.6f s, %.1f times the mean</p>\n<svg width=\"%d\" height=\"%.0f\">\n", r->slow_at[k] + 1, most,
            r->step_mean > 0 ? most / r->step_mean : 0, WIDE + 60, high * r->ranks + 4);
    for (int i = 0; i < r->ranks; i++) {
        struct bar b = {i, 50, high * i, high * .9, most};
        if (r->ranks <= 32) fprintf(f, "<text x=\"44\" y=\"%.1f\" text-anchor=\"end\">%d</text>\n", b.y + 10, i);
        for (int p = 0; p < PROF_PARTS; p++)
            part(f, &b, classes[p], words[p], (double)r->slow[(size_t)i * PROF_SLOWEST + (size_t)k].part[p]);
    }
    fputs("</svg>\n", f);
}

static void slow_steps(const struct prof_report *r, FILE *f)
{
    if (!r->slow || r->slow_at[0] < 0) return;
    fprintf(
        f,
        "<h2>The slowest steps</h2>\n<p>A step ends with %s collective of all ranks; there are %d, of %.6f s on average. A line is a rank: what it "
        "did since the last step, from the left, and how long it waited for the others.</p>\n<div id=\"steps\">\n",
        r->step_ends == 1 ? "a" : "some", r->n_steps, r->step_mean);
    for (int k = 0; k < PROF_SLOWEST && r->slow_at[k] >= 0; k++) slow_step(r, k, f);
    fputs("</div>\n", f);
}

static void files(const struct prof_report *r, FILE *f)
{
    static const char *const words[] = {"read", "written"};
    char b[32];
    if (!r->io_calls[0] && !r->io_calls[1]) return;
    fputs("<h2>Files</h2>\n<table id=\"files\"><tr><th>Bytes</th><th>Calls</th><th>Slowest rank, s</th><th></th></tr>\n", f);
    for (int k = 0; k < 2; k++)
        fprintf(f, "<tr><td>%s</td><td>%.0f</td><td>%.6f</td><td>%s</td></tr>\n", bytes_text(r->io_bytes[k], b, sizeof b),
                r->io_calls[k], r->io_seconds[k], words[k]);
    fputs("</table>\n", f);
}

static void observations(const struct prof_report *r, FILE *f)
{
    if (!r->observations) return;
    const char *body = strstr(r->observations, "\n\n");
    fputs("<h2>Observations and suggestions</h2>\n<pre id=\"observations\">", f);
    text(f, body ? body + 2 : r->observations);
    fputs("</pre>\n", f);
}

int prof_page(const struct prof_report *r, FILE *f)
{
    head(r, f);
    table(r, f);
    places(r, f);
    observations(r, f);
    ranks(r, f);
    slow_steps(r, f);
    sizes(r->bins, "Messages by size", "sizes", "messages", f);
    if (r->moved) sizes(r->accessed_bins, "Puts, gets, atomics and signals by size", "accessed-sizes", "calls", f);
    maps(r, f);
    orders(r, f);
    files(r, f);
    fprintf(f, "<p>The profile itself costs %.0f ns a call, and %s.</p>\n</body></html>\n", r->overhead_ns,
            prof_samples ? "a thread of each rank that looks where it is"
                         : "the waits before collectives (GODWIT_PROFILE_SYNC=0 leaves them out)");
    return ferror(f) ? -1 : 0;
}
