/* io_summary.c -- `cray_mpiio_summary`: what the files of MPIIO_STATS=2 say together, file by file.
 *
 * A rank's file has a row for each interval in which it did something: file, start, and by direction calls and bytes (src/io/trace.c).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/plain.h"

static const char usage[] = "usage: cray_mpiio_summary [PREFIX | FILE.csv]...\n"
                            "  Adds up what the ranks of a job that ran with MPICH_MPIIO_STATS=2 have written to PREFIX.RANK.csv,\n"
                            "  by file that they accessed.  PREFIX is cray_mpiio_stats unless MPICH_MPIIO_STATS_FILE was set.\n";
static const char head[] = "file,start_ms,writes,bytes_written,reads,bytes_read\n";

enum { READS, WRITES, WAYS };
struct did {
    int64_t calls, bytes;
};
struct interval {
    int64_t start_ms, bytes[WAYS]; /* of all ranks */
};
struct accessed {
    char *name;
    int last_rank; /* number of the rank's file that counted last */
    int ranks;
    struct did did[WAYS];
    int64_t count, room;
    struct interval *at; /* by time */
};
static struct accessed *files;
static int n_files;

/* ---- adding up ---- */
static struct accessed *file_of(const char *name)
{
    for (int i = 0; i < n_files; i++)
        if (strcmp(files[i].name, name) == 0) return &files[i];
    files = gw_xrealloc(files, (size_t)(n_files + 1) * sizeof *files);
    files[n_files] = (struct accessed){.name = gw_xasprintf("%s", name), .last_rank = -1};
    return &files[n_files++];
}

static struct interval *interval_of(struct accessed *f, int64_t start_ms)
{
    int64_t low = 0, high = f->count;
    while (low < high) {
        int64_t mid = (low + high) / 2;
        if (f->at[mid].start_ms < start_ms)
            low = mid + 1;
        else
            high = mid;
    }
    if (low < f->count && f->at[low].start_ms == start_ms) return &f->at[low];
    if (f->count == f->room) f->at = gw_xrealloc(f->at, (size_t)(f->room = f->room * 2 + 64) * sizeof *f->at);
    memmove(&f->at[low + 1], &f->at[low], (size_t)(f->count++ - low) * sizeof *f->at);
    f->at[low] = (struct interval){.start_ms = start_ms};
    return &f->at[low];
}

/* The name stands in quotes, in which quotes are doubled; it is cut out of the line in place.  NULL: there is none. */
static char *name_end(char *line)
{
    char *to = line, *c = line;
    if (*c++ != '"') return NULL;
    for (; *c && (*c != '"' || c[1] == '"'); c++) {
        if (*c == '"') c++;
        *to++ = *c;
    }
    if (*c != '"') return NULL;
    *to = 0;
    return c + 1;
}

static bool row_add(char *line, int rank)
{
    int64_t start;
    struct did w, r;
    char *rest = name_end(line), more;
    if (!rest ||
        sscanf(rest, ",%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%" SCNd64 "%c", &start, &w.calls, &w.bytes, &r.calls,
               &r.bytes, &more) != 6 ||
        more != '\n')
        return false;
    struct accessed *f = file_of(line);
    struct interval *i = interval_of(f, start);
    f->ranks += f->last_rank != rank;
    f->last_rank = rank;
    f->did[WRITES].calls += w.calls;
    f->did[WRITES].bytes += w.bytes;
    f->did[READS].calls += r.calls;
    f->did[READS].bytes += r.bytes;
    i->bytes[WRITES] += w.bytes;
    i->bytes[READS] += r.bytes;
    return true;
}

static bool read_rank(const char *path, int rank)
{
    FILE *in = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    int number = 1;
    bool fine = in != NULL;
    if (!in) gw_print(stderr, "cray_mpiio_summary: cannot open %s: %s\n", path, strerror(errno));
    if (fine && (getline(&line, &room, in) < 0 || strcmp(line, head) != 0)) {
        gw_print(stderr, "cray_mpiio_summary: %s does not begin with the line that MPICH_MPIIO_STATS=2 writes\n", path);
        fine = false;
    }
    while (fine && getline(&line, &room, in) >= 0) {
        number++;
        fine = row_add(line, rank);
        if (!fine) gw_print(stderr, "cray_mpiio_summary: %s:%d is no row of a name and five numbers\n", path, number);
    }
    free(line);
    if (in) fclose(in);
    return fine;
}

/* ---- telling ---- */
static void tell_way(const struct accessed *f, int way)
{
    const char *verb = way == WRITES ? "write" : "read";
    const struct did *d = &f->did[way];
    const struct interval *most = &f->at[0];
    if (d->calls == 0) return;
    for (int64_t i = 1; i < f->count; i++)
        if (f->at[i].bytes[way] > most->bytes[way]) most = &f->at[i];
    printf("|   system %-16s = %" PRId64 "\n", way == WRITES ? "writes" : "reads", d->calls);
    printf("|   total bytes for %-7s = %" PRId64 " = %" PRId64 " MiB = %" PRId64 " GiB\n", way == WRITES ? "writes" : "reads",
           d->bytes, d->bytes >> 20, d->bytes >> 30);
    printf("|   ave system %s size%*s = %" PRId64 "\n", verb, way == WRITES ? 2 : 3, "", d->bytes / d->calls);
    printf("|   most in one interval    = %" PRId64 " bytes, from %" PRId64 " ms on\n", most->bytes[way], most->start_ms);
}

static void tell(const struct accessed *f)
{
    gw_print(stdout, "+--------------------------------------------------------+\n| MPIIO access over time for %s\n", f->name);
    printf("|   ranks                   = %d\n", f->ranks);
    printf("|   from, to                = %" PRId64 ", %" PRId64 " ms\n", f->at[0].start_ms, f->at[f->count - 1].start_ms);
    tell_way(f, WRITES);
    tell_way(f, READS);
}

int main(int argc, char **argv)
{
    glob_t found = {0};
    const char *usual[] = {"cray_mpiio_stats"}, **names = argc > 1 ? (const char **)argv + 1 : usual;
    int n = argc > 1 ? argc - 1 : 1;
    if (argc > 1 && argv[1][0] == '-') {
        if (strcmp(argv[1], "--version") == 0) return puts("cray_mpiio_summary (Godwit) " GODWIT_VERSION) < 0;
        bool asked = strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0;
        fputs(usage, asked ? stdout : stderr);
        return asked ? 0 : 2;
    }
    for (int i = 0; i < n; i++) {
        size_t len = strlen(names[i]);
        bool is_file = len > 4 && strcmp(names[i] + len - 4, ".csv") == 0;
        char *pattern = gw_xasprintf("%s%s", names[i], is_file ? "" : ".*.csv");
        int rc = glob(pattern, i > 0 ? GLOB_APPEND : 0, NULL, &found);
        if (rc != 0) gw_print(stderr, "cray_mpiio_summary: there is no file %s; run the job with MPICH_MPIIO_STATS=2\n", pattern);
        free(pattern);
        if (rc != 0) return 1;
    }
    for (size_t i = 0; i < found.gl_pathc; i++)
        if (!read_rank(found.gl_pathv[i], (int)i)) return 1;
    for (int i = 0; i < n_files; i++) tell(&files[i]);
    if (n_files) puts("+--------------------------------------------------------+");
    for (int i = 0; i < n_files; i++) {
        free(files[i].name);
        free(files[i].at);
    }
    free(files);
    globfree(&found);
    if (fflush(stdout) == 0) return 0;
    fprintf(stderr, "cray_mpiio_summary: standard output: %s\n", strerror(errno));
    return 1;
}
