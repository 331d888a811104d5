/* trace.c -- the calls of each rank one by one, in the trace event format that Perfetto and Chrome's tracing open
 * (schema/trace.json).
 *
 * The ranks' clocks are told apart by the meeting at the end of MPI_Init, which is time 0 on each: they differ by how long ranks
 * take to leave a barrier, and by what their processors' clocks drift.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "profile.h"
#include "base/file.h"
#include "base/json.h"
#include "base/plain.h"

#include <errno.h>
#include <stdlib.h>

struct prof_span *prof_spans;
static _Atomic uint64_t n_spans; /* those for which there was no room, too */
static uint64_t room;

void prof_trace_begin(void)
{
    if (prof_samples || !prof_file_named("GODWIT_PROFILE_TRACE", "")) return;
    room = PROF_SPANS / (uint64_t)prof_own.ranks;
    if (room < PROF_SPANS_LEAST) room = PROF_SPANS_LEAST;
    if (room > PROF_SPANS_MOST) room = PROF_SPANS_MOST;
    prof_spans = malloc(room * sizeof *prof_spans);
    if (!prof_spans) fprintf(stderr, "godwit profile: rank %d has no memory for a trace of its calls\n", prof_own.rank);
}

void prof_span_add(const struct prof_call *c, uint64_t end, bool is_wait)
{
    uint64_t at = atomic_fetch_add_explicit(&n_spans, 1, memory_order_relaxed);
    if (at >= room) return;
    prof_spans[at] = (struct prof_span){c->at, end, c->bytes, c->to, (uint16_t)c->fn, (uint8_t)prof_thread_number(), is_wait};
}

/* ---- on rank 0 ---- */
struct counts {
    uint64_t kept, left_out;
};

static void name_rank(struct gw_json *j, int rank)
{
    char name[32];
    snprintf(name, sizeof name, "rank %d", rank);
    for (int k = 0; k < 2; k++) {
        gw_json_row(j, NULL);
        gw_json_text(j, "name", k ? "process_sort_index" : "process_name");
        gw_json_text(j, "ph", "M");
        gw_json_int(j, "pid", rank);
        gw_json_int(j, "tid", 0);
        gw_json_object(j, "args");
        if (k)
            gw_json_int(j, "sort_index", rank);
        else
            gw_json_text(j, "name", name);
        gw_json_close(j);
        gw_json_close(j);
    }
}

/* Its times are ns from the beginning by now. */
static void span_write(struct gw_json *j, int rank, const struct prof_span *s)
{
    static const char *const groups[2][2] = {{"MPI", "MPI_SYNC"}, {"SHMEM", "SHMEM_SYNC"}};
    char name[96];
    if (s->fn >= prof_fns) return;
    snprintf(name, sizeof name, "%s%s", prof_names[s->fn], s->is_wait ? "(sync)" : "");
    gw_json_row(j, NULL);
    gw_json_text(j, "name", name);
    gw_json_text(j, "cat", groups[prof_groups[s->fn] == PROF_SHMEM][s->is_wait]);
    gw_json_text(j, "ph", "X");
    gw_json_thousandths(j, "ts", s->begin);
    gw_json_thousandths(j, "dur", s->end - s->begin);
    gw_json_int(j, "pid", rank);
    gw_json_int(j, "tid", s->thread);
    if (!s->is_wait && (s->bytes || s->to >= 0)) {
        gw_json_object(j, "args");
        gw_json_int(j, "bytes", (int64_t)s->bytes);
        if (s->to >= 0) gw_json_int(j, "to", s->to);
        gw_json_close(j);
    }
    gw_json_close(j);
}

static void head(struct gw_json *j, FILE *to)
{
    gw_json_begin(j, to);
    gw_json_text(j, "displayTimeUnit", "ns");
    gw_json_array(j, "traceEvents");
}

static int tail(struct gw_json *j, const char *program, struct counts all)
{
    gw_json_close(j);
    gw_json_object(j, "otherData");
    gw_json_text(j, "schema", "godwit-trace-1");
    gw_json_text(j, "godwit", GODWIT_VERSION);
    gw_json_text(j, "program", program);
    gw_json_int(j, "ranks", prof_own.ranks);
    gw_json_int(j, "calls", (int64_t)all.kept);
    gw_json_int(j, "left_out", (int64_t)all.left_out);
    gw_json_close(j);
    return gw_json_end(j) ? 0 : EIO;
}

/* ---- of all ranks ---- */
enum { TAG = 1 };

static struct counts mine(void)
{
    uint64_t n = atomic_load_explicit(&n_spans, memory_order_relaxed), kept = n < room ? n : room;
    return (struct counts){kept, n - kept};
}

static void send_mine(void)
{
    struct counts own = mine();
    PMPI_Send(&own, sizeof own, MPI_BYTE, 0, TAG, tools_world);
    PMPI_Send(prof_spans, (int)(own.kept * sizeof *prof_spans), MPI_BYTE, 0, TAG, tools_world);
}

/* One rank after the other, so that rank 0 has room for the calls of one at a time.  0, or an error. */
static int write_all(FILE *to, const char *program)
{
    struct counts all = mine(), one;
    struct prof_span *spans = malloc(PROF_SPANS_MOST * sizeof *spans);
    struct gw_json j;
    int err = spans ? 0 : ENOMEM;
    head(&j, to);
    for (int rank = 0; rank < prof_own.ranks; rank++) {
        const struct prof_span *from = rank ? spans : prof_spans;
        one = mine();
        if (rank) {
            PMPI_Recv(&one, sizeof one, MPI_BYTE, rank, TAG, tools_world, MPI_STATUS_IGNORE);
            PMPI_Recv(spans, spans ? PROF_SPANS_MOST * (int)sizeof *spans : 0, MPI_BYTE, rank, TAG, tools_world, MPI_STATUS_IGNORE);
            all.kept += one.kept, all.left_out += one.left_out;
        }
        name_rank(&j, rank);
        for (uint64_t i = 0; i < one.kept && from; i++) span_write(&j, rank, &from[i]);
    }
    free(spans);
    int bad = tail(&j, program, all);
    return err ? err : bad;
}

/* From ticks to ns. */
static void make_times(void)
{
    double ns = 1e9 / prof_own.ticks_per_s;
    for (uint64_t i = 0, n = mine().kept; i < n; i++) {
        struct prof_span *s = &prof_spans[i];
        s->begin = (uint64_t)((double)(s->begin - prof_own.begin) * ns);
        s->end = (uint64_t)((double)(s->end - prof_own.begin) * ns);
    }
}

const char *prof_trace_write(const char *program)
{
    const char *name = prof_own.rank == 0 && !prof_samples ? prof_file_named("GODWIT_PROFILE_TRACE", ".trace.json") : NULL;
    struct gw_new_file f;
    int err = name ? gw_file_create(name, &f) : 0, wants = name && !err;
    PMPI_Bcast(&wants, 1, MPI_INT, 0, tools_world);
    if (wants) {
        make_times();
        if (prof_own.rank == 0) {
            int bad = write_all(f.to, program);
            err = gw_file_finish(&f);
            if (!err) err = bad;
        } else {
            send_mine();
        }
    }
    if (err)
        gw_print(stderr, "godwit profile: cannot write %s: %s; name another file with mpiexec --profile=trace,FILE\n", name,
                 gw_file_why(err));
    free(prof_spans);
    prof_spans = NULL;
    return err ? NULL : name;
}
