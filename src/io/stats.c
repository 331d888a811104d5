/* stats.c -- statistics and times of the accesses to a file, and the report when it is closed.
 *
 * A system call is one preadv or pwritev, also one that was interrupted, so that the numbers are those that strace shows.  A gap lies
 * between a rank's system call and the end of its call before, in either direction.  Phases of time follow each other: io_clock() ends
 * one and begins the next.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "io/io_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/count.h"
#include "base/plain.h"
#include "base/settings.h"
#include "base/time.h"
#include "coll/coll.h"

static const char line[] = "+--------------------------------------------------------+\n";

/* ---- counting --------------------------------------------------------------------------------------------------------------- */
static int64_t stripe_of(const struct gw_file *f) { return f->hints.stripe > 0 ? f->hints.stripe : f->block; }

void io_count_call(struct gw_file *f, bool write, int64_t at, int64_t moved)
{
    int64_t end = at + gw_max64(moved, 0), before = atomic_load_explicit(&f->end_of[write], memory_order_relaxed);
    atomic_store_explicit(&f->end_of[write], end,
                          memory_order_relaxed); /* relaxed: with several threads it is random whose call was the last */
    io_count_add(f, write, IO_SYSTEM_CALLS, 1);
    gw_counted(&gw_count.file_calls, 1);
    if (moved > 0) gw_counted(write ? &gw_count.file_written : &gw_count.file_read, (uint64_t)moved);
    if (unlikely(f->trace != NULL)) io_trace_call(f, write, moved);
    if (moved > 0) io_count_add(f, write, IO_BYTES, moved);
    if (moved > 0 && moved == stripe_of(f)) io_count_add(f, write, IO_STRIPE_SIZED, 1);
    if (before < 0 || before == at) return;
    io_count_add(f, write, IO_GAPS, 1);
    io_count_add(f, write, IO_GAP_BYTES, at > before ? at - before : before - at);
}

void io_count_active(struct gw_file *f, bool write, int64_t active)
{
    int all = f->n_aggregators, bucket = active <= 1 ? 0 : active >= all ? 3 : active <= all / 2 ? 1 : 2;
    io_count_add(f, write, IO_ACTIVE + bucket, 1);
}

/* ---- timing ----------------------------------------------------------------------------------------------------------------- */
int io_clock_slow(struct gw_file *f, int phase)
{
    struct io_clock *c = &f->clock;
    uint64_t now = gw_now_ns();
    int before = c->phase;
    assert(phase >= 0 && phase < IO_PHASES);
    c->spent[c->dir][before] += now - c->since;
    c->since = now;
    c->phase = phase;
    return before;
}

void io_clock_start(struct gw_file *f, uint64_t opened_ns)
{
    if (!f->hints.timers) return;
    f->clock.dir = !(f->amode & GW_MODE_RDONLY);
    f->clock.phase = IO_T_OPEN;
    f->clock.since = opened_ns;
    io_clock_slow(f, IO_T_COMPUTE);
}

void io_clock_enter(struct gw_file *f, bool write, int phase)
{
    if (likely(f->clock.since == 0)) return;
    f->clock.dir = write;
    io_clock(f, phase);
}

/* ---- advice ----------------------------------------------------------------------------------------------------------------- */
enum { MANY = 64, SOME = 16, SMALL = 64 << 10, LARGE = 256 << 20 };

static bool many_small_alone(const int64_t *c, int64_t mean)
{
    return c[IO_CALLS_ALONE] >= MANY && mean < SMALL && c[IO_CALLS_ALONE] > c[IO_CALLS_ALL];
}

const char *io_advice(const struct io_totals *t, bool write, int aggregators, int64_t stripes, int *rule)
{
    const int64_t *c = t->counts[write];
    int64_t calls = c[IO_SYSTEM_CALLS], mean = calls ? c[IO_BYTES] / calls : 0, together = 0;
    for (int i = IO_ACTIVE; i < IO_ACTIVE_END; i++) together += c[i];
    while (*rule < 6) {
        switch ((*rule)++) {
        case 0:
            if (many_small_alone(c, mean) && t->callers[write] > 1)
                return write ? "many small independent writes: collective calls (MPI_File_write_all) let aggregators join them"
                             : "many small independent reads: collective calls (MPI_File_read_all) let aggregators join them";
            break;
        case 1:
            if (many_small_alone(c, mean) && t->callers[write] == 1)
                return "one rank makes many small calls: larger calls, or data of several calls in one datatype, take less time";
            break;
        case 2:
            if (c[IO_CALLS_ALL] > 0 && together == 0 && calls >= MANY && mean < SMALL)
                return write ? "collective writes of small pieces went without aggregators: hint romio_cb_write=enable"
                             : "collective reads of small pieces went without aggregators: hint romio_cb_read=enable";
            break;
        case 3:
            if (write && c[IO_REWRITES] > 0)
                return "data were read to write them back (sieving), under locks: collective calls or hint romio_ds_write=disable "
                       "avoid it";
            break;
        case 4:
            if (stripes == 1 && c[IO_BYTES] >= LARGE && aggregators > 1)
                return "a large file with one stripe: hint striping_factor, or lfs setstripe on its folder";
            break;
        default:
            if (calls < SOME || c[IO_GAPS] * 2 <= calls || mean >= SMALL || many_small_alone(c, mean)) break;
            if (c[IO_CALLS_ALONE] > c[IO_CALLS_ALL])
                return write ? "most small independent writes leave gaps: a view of the whole pattern (MPI_File_set_view) and "
                               "MPI_File_write_all make few large ones of them"
                             : "most small independent reads leave gaps: a view of the whole pattern (MPI_File_set_view) and "
                               "MPI_File_read_all make few large ones of them";
            if (calls >= MANY)
                return "most small system calls leave gaps: hints cb_nodes and cb_buffer_size, or a view without holes, make them "
                       "fewer";
        }
    }
    return NULL;
}

/* ---- the report of counts --------------------------------------------------------------------------------------------------- */
/* before, after: the text on both sides of the verb. */
static void show_row(const char *before, const char *verb, const char *after, int64_t n)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s%s", before, verb, after);
    fprintf(stderr, "|   %-23s = %" PRId64 "\n", name, n);
}

static void show_counts(const struct gw_file *f, const struct io_totals *t, bool write)
{
    const int64_t *c = t->counts[write];
    const char *verb = write ? "write" : "read", *piece;
    char name[64];
    int64_t calls = c[IO_SYSTEM_CALLS], bytes = c[IO_BYTES], gaps = c[IO_GAPS];
    int all = f->n_aggregators, rule = 0;
    if (calls + c[IO_CALLS_ALONE] + c[IO_CALLS_ALL] == 0) return;
    fputs(line, stderr);
    gw_print(stderr, "| MPIIO %s access patterns for %s\n", verb, f->name);
    show_row("independent ", verb, "s", c[IO_CALLS_ALONE]);
    show_row("collective ", verb, "s", c[IO_CALLS_ALL]);
    show_row("independent ", write ? "writer" : "reader", "s", t->callers[write]);
    show_row("aggregators", "", "", all);
    show_row("stripe count", "", "", gw_max64(f->hints.stripes, 1));
    show_row("stripe size", "", "", stripe_of(f));
    show_row("system ", verb, "s", calls);
    show_row("stripe sized ", verb, "s", c[IO_STRIPE_SIZED]);
    fprintf(stderr, "|   %-23s = %" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 " (1, <= %d, > %d, %d)\n", "aggregators active",
            c[IO_ACTIVE], c[IO_ACTIVE + 1], c[IO_ACTIVE + 2], c[IO_ACTIVE + 3], all / 2, all / 2, all);
    snprintf(name, sizeof name, "total bytes for %ss", verb);
    fprintf(stderr, "|   %-23s = %" PRId64 " = %" PRId64 " MiB = %" PRId64 " GiB\n", name, bytes, bytes >> 20, bytes >> 30);
    show_row("ave system ", verb, " size", calls ? bytes / calls : 0);
    if (write) {
        show_row("read-modify-write count", "", "", c[IO_REWRITES]);
        show_row("read-modify-write bytes", "", "", c[IO_REWRITE_BYTES]);
    }
    show_row("number of ", verb, " gaps", gaps);
    show_row("ave ", verb, " gap size", gaps ? c[IO_GAP_BYTES] / gaps : 0);
    while ((piece = io_advice(t, write, all, f->hints.stripes, &rule))) fprintf(stderr, "| advice: %s\n", piece);
    fputs(line, stderr);
}

static int report_counts(struct gw_file *f)
{
    struct io_totals mine, all;
    for (int d = 0; d < 2; d++) {
        for (int i = 0; i < IO_COUNTS; i++) mine.counts[d][i] = atomic_load_explicit(&f->counts[d][i], memory_order_relaxed);
        mine.callers[d] = mine.counts[d][IO_CALLS_ALONE] > 0;
    }
    int rc = coll_reduce(&mine, &all, sizeof mine / sizeof(int64_t), gw_type_int64, gw_op_sum, 0, f->comm, NULL);
    if (rc != GW_OK || f->comm->rank != 0) return rc;
    show_counts(f, &all, true);
    show_counts(f, &all, false);
    return GW_OK;
}

/* ---- the report of times ---------------------------------------------------------------------------------------------------- */
struct spread {
    double min, max, mean;
};
/* The spread over all ranks of the sum of phases [from, to]. */
static struct spread spread_of(const uint64_t *spent, int ranks, bool write, int from, int to)
{
    struct spread s = {.min = 1e300};
    for (int i = 0; i < ranks; i++) {
        double t = 0;
        for (int k = from; k <= to; k++) t += (double)spent[(2 * i + write) * IO_PHASES + k];
        s.min = t < s.min ? t : s.min;
        s.max = t > s.max ? t : s.max;
        s.mean += t / ranks;
    }
    return s;
}

static int scale_of(double most)
{
    int scale = (int)gw_set.mpiio_timers_scale;
    while (gw_set.mpiio_timers_scale == 0 && most / (double)(UINT64_C(1) << scale) > 999999999.0) scale++;
    return scale;
}

static double mib_per_s(int64_t bytes, double ns) { return ns > 0 ? (double)bytes / 1048576.0 / (ns * 1e-9) : 0; }

static void show_times(const struct gw_file *f, const uint64_t *spent, const int64_t *bytes, bool write)
{
    static const struct {
        const char *name;
        int from, to;
    } rows[] = {{"open/close/trunc", IO_T_OPEN, IO_T_OPEN},   {"local compute", IO_T_COMPUTE, IO_T_COMPUTE},
                {"wait for coll", IO_T_WAIT, IO_T_WAIT},      {"collective", IO_T_COLL, IO_T_COLL},
                {"exchange/write", IO_T_EXCHANGE, IO_T_FILE}, {"  data send", IO_T_SEND, IO_T_SEND},
                {"  file write", IO_T_FILE, IO_T_FILE},       {"other", IO_T_OTHER, IO_T_OTHER}};
    static const char *const read_names[] = {"exchange/read", "  data receive", "  file read"};
    const char *verb = write ? "write" : "read";
    int n = f->comm->size, movers = 0;
    int64_t sum = 0;
    for (int i = 0; i < n; i++) {
        movers += bytes[2 * i + write] > 0;
        sum += bytes[2 * i + write];
    }
    struct spread total = spread_of(spent, n, write, 0, IO_PHASES - 1), file = spread_of(spent, n, write, IO_T_FILE, IO_T_FILE);
    if (sum == 0) return;
    int scale = scale_of(total.max);
    double unit = (double)(UINT64_C(1) << scale);
    fputs(line, stderr);
    gw_print(stderr, "| MPIIO %s by phases, all ranks, for %s\n", verb, f->name);
    fprintf(stderr, "|   number of ranks %s        = %10d\n", write ? "writing" : "reading", movers);
    fprintf(stderr, "|   number of ranks not %s    = %10d\n", write ? "writing" : "reading", n - movers);
    fprintf(stderr, "|   time scale: 1 = 2**%-2d clock ticks          min        max        ave      %%\n", scale);
    fprintf(stderr, "|   total                         = %10s %10s %10.0f\n", "", "", total.mean / unit);
    fprintf(stderr, "|   imbalance                     = %10.0f %10.0f %10.0f %6.1f\n", total.min / unit, total.max / unit,
            (total.max - total.mean) / unit, total.max > 0 ? 100 * (total.max - total.mean) / total.max : 0);
    for (size_t i = 0; i < GW_ARRAY_LEN(rows); i++) {
        struct spread s = spread_of(spent, n, write, rows[i].from, rows[i].to);
        fprintf(stderr, "|   %-29s = %10.0f %10.0f %10.0f %6.1f\n", !write && i >= 4 && i <= 6 ? read_names[i - 4] : rows[i].name,
                s.min / unit, s.max / unit, s.mean / unit, total.mean > 0 ? 100 * s.mean / total.mean : 0);
    }
    struct spread send = spread_of(spent, n, write, IO_T_SEND, IO_T_SEND), net = spread_of(spent, n, write, IO_T_WAIT, IO_T_OTHER);
    fprintf(stderr, "|   data send BW (MiB/s)          = %10.3f\n", mib_per_s(sum, send.max));
    fprintf(stderr, "|   raw %-5s BW (MiB/s)          = %10.3f\n", verb, mib_per_s(sum, file.max));
    fprintf(stderr, "|   net %-5s BW (MiB/s)          = %10.3f\n%s", verb, mib_per_s(sum, net.max), line);
}

static int report_times(struct gw_file *f)
{
    io_clock(f, IO_T_OTHER);
    int n = f->comm->size;
    int64_t bytes[2] = {atomic_load(&f->counts[0][IO_BYTES]), atomic_load(&f->counts[1][IO_BYTES])};
    uint64_t *spent = gw_xcalloc((size_t)n, sizeof f->clock.spent);
    int64_t *moved = gw_xcalloc((size_t)n, sizeof bytes);
    int rc = coll_gather(f->clock.spent, 2 * IO_PHASES, gw_type_int64, spent, 2 * IO_PHASES, gw_type_int64, 0, f->comm, NULL);
    if (rc == GW_OK) rc = coll_gather(bytes, 2, gw_type_int64, moved, 2, gw_type_int64, 0, f->comm, NULL);
    if (rc == GW_OK && f->comm->rank == 0) {
        show_times(f, spent, moved, true);
        show_times(f, spent, moved, false);
    }
    free(spent);
    free(moved);
    return rc;
}

void io_report(struct gw_file *f)
{
    io_trace_end(f);
    int rc = f->hints.stats == 1 ? report_counts(f) : GW_OK;
    if (rc == GW_OK && f->hints.timers) rc = report_times(f);
    if (rc != GW_OK) gw_warn("no report of %s: %s", f->name, gw_error_text(rc));
}
