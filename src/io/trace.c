/* trace.c -- the accesses of a rank over time: MPIIO_STATS=2 writes a file of comma-separated values for each rank.
 *
 * A row is an interval in which something was done; times count from the first open.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "io/io_private.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/settings.h"
#include "base/time.h"
#include "boot/boot.h"

struct io_interval {
    int64_t number; /* of the interval */
    int64_t n[2], bytes[2];
};
/* Of a file. */
struct io_trace {
    struct gw_lock lock;
    int64_t count, room;
    struct io_interval *rows;
};

static _Atomic uint64_t first_ns; /* when this process opened the first traced file */
static _Atomic bool has_file;     /* the output file exists: rows are appended to those of files that were closed before */

void io_trace_begin(struct gw_file *f)
{
    uint64_t none = 0;
    if (f->hints.stats != 2) return;
    atomic_compare_exchange_strong(&first_ns, &none, gw_now_ns());
    f->trace = gw_xcalloc(1, sizeof *f->trace);
}

void io_trace_call(struct gw_file *f, bool write, int64_t moved)
{
    struct io_trace *t = f->trace;
    int64_t now = (int64_t)(gw_now_ns() - atomic_load(&first_ns)) / (gw_set.mpiio_stats_interval_msec * INT64_C(1000000));
    gw_lock(&t->lock);
    if (t->count == 0 || t->rows[t->count - 1].number < now) {
        if (t->count == t->room) t->rows = gw_xrealloc(t->rows, (size_t)(t->room = t->room * 2 + 16) * sizeof *t->rows);
        t->rows[t->count++] = (struct io_interval){.number = now};
    }
    struct io_interval *r = &t->rows[t->count - 1]; /* a thread that is late adds to the newest interval */
    r->n[write]++;
    r->bytes[write] += gw_max64(moved, 0);
    gw_unlock(&t->lock);
}

/* Writes the name in quotes, with quotes in it doubled. */
static void put_name(FILE *out, const char *name)
{
    fputc('"', out);
    for (; *name; name++) {
        if (*name == '"') fputc('"', out);
        fputc(*name, out);
    }
    fputc('"', out);
}

static void put_rows(const struct gw_file *f, FILE *out, bool is_first)
{
    if (is_first) fputs("file,start_ms,writes,bytes_written,reads,bytes_read\n", out);
    for (int64_t i = 0; i < f->trace->count; i++) {
        const struct io_interval *r = &f->trace->rows[i];
        put_name(out, f->name);
        fprintf(out, ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 "\n", r->number * gw_set.mpiio_stats_interval_msec,
                r->n[1], r->bytes[1], r->n[0], r->bytes[0]);
    }
}

void io_trace_end(struct gw_file *f)
{
    if (!f->trace) return;
    bool is_first = !atomic_exchange(&has_file, true);
    char *path = gw_xasprintf("%s.%d.csv", gw_set.mpiio_stats_file, gw_boot.rank);
    struct gw_new_file file = {0};
    int rc = is_first ? gw_file_create(path, &file) : gw_file_append(path, &file);
    if (file.to) put_rows(f, file.to, is_first);
    if (file.to) rc = gw_file_finish(&file);
    if (rc) gw_warn("the statistics of %s cannot be written to %s: %s", f->name, path, gw_file_why(rc));
    free(path);
}

void io_trace_free(struct gw_file *f)
{
    if (!f->trace) return;
    free(f->trace->rows);
    free(f->trace);
    f->trace = NULL;
}
