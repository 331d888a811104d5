/* report.c -- gathers what all ranks counted, and writes the text on standard error of rank 0.
 *
 * Columns: Time: mean of the ranks; Imb. Time: the slowest rank's above that; Imb. Time%: that as a part of what the slowest
 * needed, where 100 % means that one rank does everything.  USER is what is neither MPI nor waiting (MPI_SYNC).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "profile.h"
#include "base/file.h"
#include "base/plain.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CALLS, SECONDS, BYTES, MEETS, MEET_SECONDS, PER_FN };
static FILE *out_to; /* the text of the report: standard error, or the file of GODWIT_PROFILE_REPORT */
static double *all;  /* [ranks][prof_fns * PER_FN + PROF_SYSCALLS + 1] on rank 0; the last is the rank's whole time */

static size_t width(void) { return (size_t)prof_fns * PER_FN + PROF_SYSCALLS + 1; }
static double of(int rank, int fn, int what) { return all[(size_t)rank * width() + (size_t)fn * PER_FN + what]; }
static double syscall_of(int rank, int k) { return all[(size_t)rank * width() + (size_t)prof_fns * PER_FN + (size_t)k]; }
static double total_of(int rank) { return all[(size_t)rank * width() + width() - 1]; }

static void *xcalloc(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    if (!p) {
        fprintf(stderr, "godwit profile: no memory for the report\n");
        PMPI_Abort(tools_world, 1);
    }
    return p;
}

/* ---- gathering ------------------------------------------------------------------------------------------------------------------- */
/* [ranks][ranks] on rank 0, from a row of each. */
static double *gather_row(const _Atomic uint64_t *of)
{
    size_t n = (size_t)prof_own.ranks;
    double *mine = xcalloc(n, sizeof *mine), *rows = prof_own.rank == 0 ? xcalloc(n * n, sizeof *rows) : NULL;
    for (size_t i = 0; i < n; i++) mine[i] = (double)of[i];
    PMPI_Gather(mine, (int)n, MPI_DOUBLE, rows, (int)n, MPI_DOUBLE, 0, tools_world);
    free(mine);
    return rows;
}

/* The same by who the bytes came from: what i fetched, k has sent. */
static double *gather_bytes(const _Atomic uint64_t *sent, const _Atomic uint64_t *fetched)
{
    size_t n = (size_t)prof_own.ranks;
    double *out = gather_row(sent), *got = gather_row(fetched);
    for (size_t i = 0; out && i < n; i++)
        for (size_t k = 0; k < n; k++) out[k * n + i] += got[i * n + k];
    free(got);
    return out;
}

static void gather_bins(const _Atomic uint64_t *of, double *sum_out)
{
    double mine[PROF_BINS];
    for (int i = 0; i < PROF_BINS; i++) mine[i] = (double)of[i];
    PMPI_Reduce(mine, sum_out, PROF_BINS, MPI_DOUBLE, MPI_SUM, 0, tools_world);
}

static void gather(struct prof_report *r)
{
    double *mine = xcalloc(width(), sizeof *mine), per_s = prof_own.ticks_per_s;
    int root = prof_own.rank == 0, n = prof_own.ranks;
    for (int i = 0; i < prof_fns; i++) {
        double *m = mine + (size_t)i * PER_FN;
        m[CALLS] = (double)prof_sums[i].calls, m[SECONDS] = (double)prof_sums[i].ticks / per_s;
        m[BYTES] = (double)prof_sums[i].bytes;
        m[MEETS] = (double)prof_sums[i].meets, m[MEET_SECONDS] = (double)prof_sums[i].meet_ticks / per_s;
    }
    for (int i = 0; i < PROF_SYSCALLS; i++) mine[(size_t)prof_fns * PER_FN + (size_t)i] = (double)prof_syscalls[i] / per_s;
    mine[width() - 1] = (double)prof_own.ticks / per_s;
    all = root ? xcalloc(width() * (size_t)n, sizeof *all) : NULL;
    PMPI_Gather(mine, (int)width(), MPI_DOUBLE, all, (int)width(), MPI_DOUBLE, 0, tools_world);
    free(mine);
    gather_bins(prof_own.bins, r->bins);
    r->sent = gather_bytes(prof_own.sent, prof_own.got);
    if (!prof_own.has_shmem) return;
    gather_bins(prof_own.accessed_bins, r->accessed_bins);
    r->moved = gather_bytes(prof_own.put, prof_own.fetched);
    r->accesses = gather_row(prof_own.accesses);
}

/* Which node each rank is on: the lowest rank of a node stands for it. */
static void gather_nodes(struct prof_report *r)
{
    int lowest = prof_own.rank, first = lowest, *all_first = prof_own.rank == 0 ? xcalloc((size_t)r->ranks, sizeof(int)) : NULL;
    MPI_Comm node;
    if (PMPI_Comm_split_type(tools_world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node) == MPI_SUCCESS) {
        PMPI_Allreduce(&lowest, &first, 1, MPI_INT, MPI_MIN, node);
        PMPI_Comm_free(&node);
    }
    PMPI_Gather(&first, 1, MPI_INT, all_first, 1, MPI_INT, 0, tools_world);
    r->node = all_first;
    for (int i = 0; all_first && i < r->ranks; i++) all_first[i] = all_first[i] == i ? r->nodes++ : all_first[all_first[i]];
}

/* The sites of all ranks: those in the same place of the same module are one. */
static void gather_sites(struct prof_report *r)
{
    struct prof_site mine[PROF_SITES] = {0}, *every = NULL;
    prof_sample_sites(mine, PROF_SITES);
    if (prof_own.rank == 0) every = xcalloc((size_t)r->ranks * PROF_SITES, sizeof *every);
    PMPI_Gather(mine, sizeof mine, MPI_BYTE, every, sizeof mine, MPI_BYTE, 0, tools_world);
    if (!every) return;
    r->sites = xcalloc((size_t)r->ranks * PROF_SITES, sizeof *r->sites);
    for (int i = 0; i < r->ranks * PROF_SITES; i++) {
        struct prof_site *s = &every[i];
        int k = 0;
        if (s->seconds <= 0) continue;
        s->module[PROF_PATH - 1] = 0;
        while (k < r->n_sites &&
               (r->sites[k].fn != s->fn || r->sites[k].offset != s->offset || strcmp(r->sites[k].module, s->module) != 0))
            k++;
        if (k == r->n_sites)
            r->sites[r->n_sites++] = *s;
        else
            r->sites[k].seconds += s->seconds;
    }
    free(every);
    qsort(r->sites, (size_t)r->n_sites, sizeof *r->sites, prof_site_order);
    if (r->n_sites > PROF_SITES) r->n_sites = PROF_SITES;
    r->site_names = xcalloc(PROF_SITES, sizeof *r->site_names);
    prof_site_names(r->sites, r->n_sites, r->path, r->site_names);
}

/* ---- the table ------------------------------------------------------------------------------------------------------------------- */
static void row_close(struct prof_report *r, struct prof_row *row)
{
    struct prof_line *l = &row->line;
    row->imbalance = l->most - l->mean;
    row->imbalance_percent = l->most > 0 && r->ranks > 1 ? 100 * row->imbalance / l->most * r->ranks / (r->ranks - 1) : 0;
    row->percent = r->total > 0 ? 100 * l->mean / r->total : 0;
}

static struct prof_row row_of(struct prof_report *r, enum prof_row_kind kind, const char *name, const double *seconds)
{
    struct prof_row row = {.kind = kind};
    snprintf(row.name, sizeof row.name, "%s", name);
    for (int i = 0; i < r->ranks; i++) {
        row.line.mean += seconds[i] / r->ranks;
        if (i == 0 || seconds[i] > row.line.most) row.line.most = seconds[i], row.line.most_rank = i;
    }
    row_close(r, &row);
    return row;
}

static int slower(const void *a, const void *b)
{
    double x = ((const struct prof_row *)a)->line.mean, y = ((const struct prof_row *)b)->line.mean;
    return x < y ? 1 : x > y ? -1 : 0;
}

static bool is_shmem(int fn) { return prof_groups[fn] == PROF_SHMEM; }

/* A group of functions: its rows, the slowest first, and above them the sum. */
struct part {
    const char *name;
    bool is_shmem;
    int calls_at, seconds_at;
    const char *suffix;
};
static void part_rows(struct prof_report *r, const struct part *p)
{
    struct prof_row *head = &r->rows[r->n_rows++], *first = head + 1;
    double *one = xcalloc((size_t)r->ranks, sizeof *one), *sum = xcalloc((size_t)r->ranks, sizeof *sum), all_calls = 0,
           all_bytes = 0;
    for (int f = 0; f < prof_fns; f++) {
        double calls = 0, bytes = 0;
        if (is_shmem(f) != p->is_shmem) continue;
        for (int i = 0; i < r->ranks; i++) {
            calls += of(i, f, p->calls_at), bytes += of(i, f, BYTES);
            one[i] = of(i, f, p->seconds_at), sum[i] += one[i];
        }
        if (calls == 0) continue;
        char text[64];
        snprintf(text, sizeof text, "%s%s", prof_names[f], p->suffix);
        struct prof_row row = row_of(r, ROW_FUNCTION, text, one);
        row.line.calls = calls;
        row.line.bytes = p->calls_at == CALLS ? bytes : 0;
        all_calls += calls, all_bytes += row.line.bytes;
        r->rows[r->n_rows++] = row;
    }
    *head = row_of(r, ROW_GROUP, p->name, sum);
    head->line.calls = all_calls, head->line.bytes = all_bytes;
    qsort(first, (size_t)(&r->rows[r->n_rows] - first), sizeof *first, slower);
    free(one);
    free(sum);
}

/* Whose calls are in the report. */
static void find_who(struct prof_report *r)
{
    for (int f = 0; f < prof_fns && !r->has_mpi; f++)
        for (int i = 0; i < r->ranks && !is_shmem(f); i++) r->has_mpi |= of(i, f, CALLS) + of(i, f, MEETS) > 0;
    r->has_mpi |= !prof_own.has_shmem;
    r->who = !prof_own.has_shmem ? "MPI" : r->has_mpi ? "MPI and OpenSHMEM" : "OpenSHMEM";
}

/* What the looks found of system calls outside of MPI. */
static void syscall_rows(struct prof_report *r)
{
    struct prof_row *first = &r->rows[r->n_rows + 1];
    double *one = xcalloc((size_t)r->ranks, sizeof *one);
    r->rows[r->n_rows++] = row_of(r, ROW_GROUP, "SYSCALL", r->syscall);
    for (int k = 0; k < PROF_SYSCALLS; k++) {
        for (int i = 0; i < r->ranks; i++) one[i] = syscall_of(i, k);
        struct prof_row row = row_of(r, ROW_FUNCTION, prof_syscall_names[k], one);
        if (row.line.most > 0) r->rows[r->n_rows++] = row;
    }
    qsort(first, (size_t)(&r->rows[r->n_rows] - first), sizeof *first, slower);
    free(one);
}

static void make_rows(struct prof_report *r)
{
    static const struct part parts[] = {{"MPI", false, CALLS, SECONDS, ""},
                                        {"MPI_SYNC", false, MEETS, MEET_SECONDS, "(sync)"},
                                        {"SHMEM", true, CALLS, SECONDS, ""},
                                        {"SHMEM_SYNC", true, MEETS, MEET_SECONDS, "(sync)"}};
    double *whole = xcalloc((size_t)r->ranks, sizeof *whole);
    r->rows = xcalloc((size_t)prof_fns * 2 + PROF_SYSCALLS + 10, sizeof *r->rows);
    r->user = xcalloc((size_t)r->ranks, sizeof(double)), r->mpi = xcalloc((size_t)r->ranks, sizeof(double));
    r->sync = xcalloc((size_t)r->ranks, sizeof(double)), r->syscall = xcalloc((size_t)r->ranks, sizeof(double));
    for (int i = 0; i < r->ranks; i++) {
        whole[i] = total_of(i);
        r->total += whole[i] / r->ranks;
        for (int f = 0; f < prof_fns; f++) r->mpi[i] += of(i, f, SECONDS), r->sync[i] += of(i, f, MEET_SECONDS);
        for (int k = 0; k < PROF_SYSCALLS; k++) r->syscall[i] += syscall_of(i, k);
        r->user[i] = whole[i] - r->mpi[i] - r->sync[i] - r->syscall[i];
    }
    r->rows[r->n_rows++] = row_of(r, ROW_TOTAL, "Total", whole);
    r->rows[r->n_rows++] = row_of(r, ROW_GROUP, "USER", r->user);
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        if (parts[k].is_shmem ? prof_own.has_shmem : r->has_mpi) part_rows(r, &parts[k]);
    syscall_rows(r);
    for (int i = 1; i < r->n_rows; i++)
        if (r->rows[i].kind == ROW_GROUP) r->rows[0].line.calls += r->rows[i].line.calls;
    free(whole);
}

static void sum_io(struct prof_report *r)
{
    for (int i = 0; i < r->ranks; i++) {
        double seconds[2] = {0, 0};
        for (int f = 0; f < prof_fns; f++) {
            if (prof_groups[f] != PROF_IO) continue;
            int writes = strstr(prof_names[f], "write") != NULL;
            r->io_bytes[writes] += of(i, f, BYTES), r->io_calls[writes] += of(i, f, CALLS), seconds[writes] += of(i, f, SECONDS);
        }
        for (int k = 0; k < 2; k++)
            if (seconds[k] > r->io_seconds[k]) r->io_seconds[k] = seconds[k];
    }
}

/* ---- the text -------------------------------------------------------------------------------------------------------------------- */
static void print_row(const struct prof_row *row)
{
    const char *indent = row->kind == ROW_TOTAL ? "" : row->kind == ROW_GROUP ? "| " : "|| ";
    fprintf(out_to, "%2s%6.1f%% | %12.6f | %12.6f | %9.1f%% | %12.0f | %s%s\n", "", row->percent, row->line.mean, row->imbalance,
            row->imbalance_percent, row->line.calls, indent, row->name);
}

static void print_ranks(const struct prof_report *r)
{
    int busy = 0, idle = 0;
    for (int i = 1; i < r->ranks; i++) {
        if (r->user[i] > r->user[busy]) busy = i;
        if (r->user[i] < r->user[idle]) idle = i;
    }
    if (r->ranks > 1)
        fprintf(out_to, "\nLoad: rank %d computes longest, %.6f s, rank %d shortest, %.6f s\n", busy, r->user[busy], idle,
                r->user[idle]);
}

static void print_traffic(const struct prof_report *r, const char *what, const double *bins, const double *matrix)
{
    double messages = 0, bytes = 0, most = 0;
    int from = 0, to = 0;
    for (int i = 0; i < PROF_BINS; i++) messages += bins[i];
    for (int i = 0; i < r->ranks; i++)
        for (int k = 0; k < r->ranks; k++) {
            double b = matrix[(size_t)i * r->ranks + k];
            bytes += b;
            if (b > most) most = b, from = i, to = k;
        }
    if (!messages) return;
    fprintf(out_to, "\n%s: %.0f, %.0f bytes; most between two ranks: %.0f bytes from rank %d to rank %d\n", what, messages, bytes,
            most, from, to);
    for (int i = 0; i < PROF_BINS; i++)
        if (bins[i])
            fprintf(out_to, "  %12.0f of %.0f to %.0f bytes\n", bins[i], i ? (double)(1ull << (i - 1)) : 0,
                    i ? (double)(1ull << i) - 1 : 0);
}

static int by_bytes(const void *a, const void *b)
{
    double x = (*(const struct prof_row *const *)a)->line.bytes, y = (*(const struct prof_row *const *)b)->line.bytes;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* Which of OpenSHMEM's functions moved them. */
static void print_moved(const struct prof_report *r)
{
    const struct prof_row **rows = xcalloc((size_t)r->n_rows, sizeof *rows);
    size_t n = 0;
    for (int i = 0; i < r->n_rows; i++)
        if (r->rows[i].kind == ROW_FUNCTION && r->rows[i].line.bytes > 0 && strncmp(r->rows[i].name, "shmem_", 6) == 0)
            rows[n++] = &r->rows[i];
    qsort(rows, n, sizeof *rows, by_bytes);
    if (n) fputs("\nBytes by function of OpenSHMEM\n", out_to);
    for (size_t i = 0; i < n; i++)
        fprintf(out_to, "  %14.0f bytes by %.0f calls of %s\n", rows[i]->line.bytes, rows[i]->line.calls, rows[i]->name);
    free(rows);
}

static void print_io(const struct prof_report *r)
{
    static const char *const words[] = {"read", "written"};
    for (int k = 0; k < 2; k++)
        if (r->io_calls[k])
            fprintf(out_to, "%sFiles: %.0f bytes %s by %.0f calls; the slowest rank spent %.6f s in them\n",
                    k && r->io_calls[0] ? "" : "\n", r->io_bytes[k], words[k], r->io_calls[k], r->io_seconds[k]);
}

static void print_sites(const struct prof_report *r)
{
    if (!r->n_sites) return;
    fprintf(out_to, "\nWhere %s is called, up to %d looks a second\n", r->who, prof_samples ? PROF_HERTZ : PROF_HERTZ_TRACED);
    for (int i = 0; i < r->n_sites; i++) {
        double percent = r->total > 0 ? 100 * r->sites[i].seconds / r->ranks / r->total : 0;
        if (percent < 0.05) break;
        fprintf(out_to, "%2s%6.1f%% | %12.6f | %s | %s\n", "", percent, r->sites[i].seconds / r->ranks, prof_names[r->sites[i].fn],
                r->site_names[i]);
    }
}

static void print_cost(const struct prof_report *r)
{
    enum { SHORTEST_MS = 50 }; /* ten looks, when they are seldom */
    double calls = r->rows[0].line.calls / r->ranks;
    if (r->total * 1000 < SHORTEST_MS || !prof_own.samples) {
        fprintf(out_to,
                "\nCost of the profile: %.0f ns a call, %.0f calls a rank; the program ran for %.6f s, which is too short to say "
                "what share of it that and the %.0f looks (%.6f s) are\n",
                r->overhead_ns, calls, r->total, (double)prof_own.samples, prof_own.look_s);
        return;
    }
    double percent = r->total > 0 ? calls * r->overhead_ns * 1e-7 / r->total : 0;
    fprintf(out_to, "\nCost of the profile: %.0f ns a call, %.0f calls a rank: %.2f %% of the time, and ", r->overhead_ns, calls,
            percent);
    if (!prof_samples) fputs("the waits before collectives, and ", out_to);
    fprintf(out_to, "%.2f %% for %.0f looks\n", r->total > 0 ? 100 * prof_own.look_s / r->total : 0, (double)prof_own.samples);
    if (!prof_samples) return;
    fprintf(out_to, "Times are what the looks found; of messages beyond the first %d of a thread one in %d was looked at\n",
            PROF_EXACT, PROF_EVERY);
}

static void print_text(const struct prof_report *r)
{
    fprintf(out_to, "\nProfile of %s, %d ranks, %stimes in seconds, mean of the ranks\n\n", r->program, r->ranks,
            prof_samples ? "by sampling, " : "");
    fprintf(out_to, "  %7s | %12s | %12s | %10s | %12s | %s\n", "Time%", "Time", "Imb. Time", "Imb. Time%", "Calls", "Group");
    fprintf(out_to, "  %7s | %12s | %12s | %10s | %12s | %s\n", "", "", "", "", "", " Function");
    fprintf(out_to, "  %7s | %12s | %12s | %10s | %12s | %s\n", "", "", "", "", "", "  PE=HIDE");
    for (int i = 0; i < r->n_rows; i++) print_row(&r->rows[i]);
    print_sites(r);
    print_ranks(r);
    print_traffic(r, "Messages", r->bins, r->sent);
    if (r->moved) print_traffic(r, "Puts, gets, atomics and signals", r->accessed_bins, r->moved);
    print_moved(r);
    print_io(r);
    print_cost(r);
}

/* ---- the report ------------------------------------------------------------------------------------------------------------------ */
static double measure_call(void)
{
    enum { N = 20000 };
    struct prof_call c;
    struct prof_sum was = prof_sums[0];
    double t = PMPI_Wtime();
    for (int i = 0; i < N; i++) {
        prof_enter(&c, 0, NULL);
        if (!prof_samples) {
            atomic_fetch_add(&prof_sums[0].ticks, 1); /* as prof_leave() does where it counts */
            atomic_fetch_add(&prof_sums[0].calls, 1);
        }
        prof_leave(&c);
    }
    t = (PMPI_Wtime() - t) / N * 1e9;
    prof_sums[0] = was;
    return t;
}

const char *prof_file_named(const char *variable, const char *ending)
{
    enum { FILES = 3 };
    static char own[FILES][64];
    static int next;
    const char *name = secure_getenv(variable);
    if (!name || !*name) return NULL;
    if (strcmp(name, "1") != 0) return name;
    char *to = own[next++ % FILES];
    snprintf(to, sizeof own[0], "godwit-profile.%ld%s", (long)getpid(), ending);
    return to;
}

/* Where other files are asked for there is a page only if its name is. */
static const char *page_name(void)
{
    const char *name = secure_getenv("GODWIT_PROFILE");
    bool is_named = name && *name && strcmp(name, "1") != 0;
    if (is_named) return name;
    if (prof_file_named("GODWIT_PROFILE_JSON", "") || prof_file_named("GODWIT_PROFILE_TRACE", "")) return NULL;
    static char own[64];
    snprintf(own, sizeof own, "godwit-profile.%ld.html", (long)getpid());
    return own;
}

const char *prof_program_name(const struct prof_report *r)
{
    const char *slash = strrchr(r->path, '/');
    return slash ? slash + 1 : r->path;
}

/* what: "The same with pictures"; option: how another file is named. */
static void write_form(const struct prof_report *r, const char *name, int (*write)(const struct prof_report *r, FILE *f),
                       const char *what, const char *option)
{
    struct gw_new_file f;
    if (!name) return;
    int err = gw_file_create(name, &f), bad = err ? 0 : write(r, f.to);
    if (!err) err = gw_file_finish(&f);
    if (!err && bad) err = EIO;
    if (err)
        gw_print(stderr, "godwit profile: cannot write %s: %s; name another file with mpiexec %s\n", name, gw_file_why(err),
                 option);
    else
        gw_print(out_to, "%s: %s\n", what, name);
}

static void name_program(struct prof_report *r)
{
    ssize_t n = readlink("/proc/self/exe", r->path, sizeof r->path - 1);
    r->path[n > 0 ? n : 0] = 0;
    gw_plain(r->program, sizeof r->program, prof_program_name(r), 0);
    r->page = page_name();
}

static void print_steps(const struct prof_report *r)
{
    if (!r->slow || r->slow_at[0] < 0) return;
    int busy = 0;
    for (int i = 1; i < r->ranks; i++)
        if (r->slow[i * PROF_SLOWEST].part[PROF_USER] > r->slow[busy * PROF_SLOWEST].part[PROF_USER]) busy = i;
    const struct prof_step *s = &r->slow[busy * PROF_SLOWEST];
    char what[64] = "to the next collective of all ranks";
    if (r->step_ends > 1) snprintf(what, sizeof what, "of %d collectives of all ranks each", r->step_ends);
    fprintf(
        out_to,
        "\nSteps: %d, %s; a step takes %.6f s on average.  The slowest is number %d: rank %d computes %.6f s and communicates %.6f s\n",
        r->n_steps, what, r->step_mean, r->slow_at[0] + 1, busy, (double)s->part[PROF_USER], (double)s->part[PROF_MPI]);
}

/* To a text, for standard error and the page. */
static void observe(struct prof_report *r)
{
    size_t size = 0;
    FILE *f = open_memstream(&r->observations, &size);
    if (!f) return;
    prof_observe(r, f);
    if (fclose(f) == 0) fputs(r->observations, out_to);
}

/* The text for pat_report, which finds out a damaged file; it comes to standard error where there is to be no file, or none can be made. */
struct text {
    const char *name;
    char *at;
    size_t bytes;
};

static void out_open(struct text *t)
{
    t->name = secure_getenv("GODWIT_PROFILE_REPORT");
    FILE *f = t->name && *t->name ? open_memstream(&t->at, &t->bytes) : NULL;
    out_to = f ? f : stderr;
}

static void out_close(struct text *t)
{
    if (out_to == stderr) return;
    bool is_bad = ferror(out_to);
    int err = fclose(out_to) != 0 || is_bad ? ENOMEM : gw_file_store(t->name, t->at);
    out_to = stderr;
    if (err) {
        gw_print(stderr, "godwit profile: cannot write GODWIT_PROFILE_REPORT=%s: %s; the report follows here\n", t->name,
                 gw_file_why(err));
        if (t->at) fputs(t->at, stderr);
    }
    free(t->at);
}

void prof_report(void)
{
    struct text text = {0};
    struct prof_report r = {.ranks = prof_own.ranks};
    gather(&r);
    gather_nodes(&r);
    if (prof_own.rank == 0) name_program(&r);
    gather_sites(&r);
    prof_steps_gather(&r);
    const char *trace = prof_trace_write(prof_program_name(&r));
    if (prof_own.rank == 0) {
        out_open(&text);
        r.overhead_ns = measure_call();
        find_who(&r);
        make_rows(&r);
        sum_io(&r);
        print_text(&r);
        print_steps(&r);
        observe(&r);
        write_form(&r, r.page, prof_page, "The same with pictures", "--profile=FILE");
        write_form(&r, prof_file_named("GODWIT_PROFILE_JSON", ".json"), prof_document, "The same as JSON", "--profile=json,FILE");
        if (trace) gw_print(out_to, "Calls over time, for ui.perfetto.dev or chrome://tracing: %s\n", trace);
        out_close(&text);
        free(r.rows), free(r.user), free(r.mpi), free(r.sync), free(r.syscall), free(r.sent), free(r.moved), free(r.accesses),
            free(all);
        free(r.node), free(r.observations), free(r.sites), free(r.site_names), free(r.slow), free(r.step_user);
        for (int i = 0; i < r.n_orders; i++) free(r.orders[i].node);
    }
}
