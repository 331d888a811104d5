/* document.c -- the report as JSON: schema/profile.json says what stands where.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "profile.h"
#include "base/json.h"

#include <math.h>

static void rows(struct gw_json *j, const struct prof_report *r)
{
    static const char *const kinds[] = {[ROW_TOTAL] = "total", [ROW_GROUP] = "group", [ROW_FUNCTION] = "function"};
    gw_json_array(j, "rows");
    for (int i = 0; i < r->n_rows; i++) {
        const struct prof_row *row = &r->rows[i];
        gw_json_row(j, NULL);
        gw_json_text(j, "kind", kinds[row->kind]);
        gw_json_text(j, "name", row->name);
        gw_json_real(j, "percent", row->percent);
        gw_json_real(j, "seconds", row->line.mean);
        gw_json_real(j, "slowest_seconds", row->line.most);
        gw_json_int(j, "slowest_rank", row->line.most_rank);
        gw_json_real(j, "imbalance_seconds", row->imbalance);
        gw_json_real(j, "imbalance_percent", row->imbalance_percent);
        gw_json_real(j, "calls", row->line.calls);
        gw_json_real(j, "bytes", row->line.bytes);
        gw_json_close(j);
    }
    gw_json_close(j);
}

static void ranks(struct gw_json *j, const struct prof_report *r)
{
    gw_json_array(j, "ranks_seconds");
    for (int i = 0; i < r->ranks; i++) {
        gw_json_row(j, NULL);
        gw_json_int(j, "rank", i);
        gw_json_real(j, "user", r->user[i]);
        gw_json_real(j, "mpi", r->mpi[i]);
        gw_json_real(j, "sync", r->sync[i]);
        gw_json_real(j, "syscall", r->syscall[i]);
        gw_json_close(j);
    }
    gw_json_close(j);
}

static void sites(struct gw_json *j, const struct prof_report *r)
{
    gw_json_array(j, "sites");
    for (int i = 0; i < r->n_sites; i++) {
        gw_json_row(j, NULL);
        gw_json_real(j, "seconds", r->sites[i].seconds / r->ranks);
        gw_json_text(j, "function", prof_names[r->sites[i].fn]);
        gw_json_text(j, "place", r->site_names[i]);
        gw_json_close(j);
    }
    gw_json_close(j);
}

static void sizes(struct gw_json *j, const double *bins)
{
    gw_json_array(j, "sizes");
    for (int i = 0; i < PROF_BINS; i++) {
        if (!bins[i]) continue;
        gw_json_row(j, NULL);
        gw_json_real(j, "min_bytes", i ? ldexp(1, i - 1) : 0);
        gw_json_real(j, "max_bytes", i ? ldexp(1, i) - 1 : 0);
        gw_json_real(j, "count", bins[i]);
        gw_json_close(j);
    }
    gw_json_close(j);
}

/* Who to whom; what: the name of the number. */
static void pairs(struct gw_json *j, const struct prof_report *r, const double *matrix, const char *name, const char *what)
{
    gw_json_array(j, name);
    for (int i = 0; i < r->ranks; i++)
        for (int k = 0; k < r->ranks; k++) {
            double n = matrix[(size_t)i * (size_t)r->ranks + (size_t)k];
            if (!n) continue;
            gw_json_row(j, NULL);
            gw_json_int(j, "from", i);
            gw_json_int(j, "to", k);
            gw_json_real(j, what, n);
            gw_json_close(j);
        }
    gw_json_close(j);
}

static void traffic(struct gw_json *j, const struct prof_report *r)
{
    gw_json_object(j, "messages");
    sizes(j, r->bins);
    pairs(j, r, r->sent, "pairs", "bytes");
    gw_json_close(j);
    if (!r->moved) {
        gw_json_text(j, "shmem", NULL);
        return;
    }
    gw_json_object(j, "shmem");
    sizes(j, r->accessed_bins);
    pairs(j, r, r->moved, "pairs", "bytes");
    pairs(j, r, r->accesses, "accesses", "count");
    gw_json_close(j);
}

static void files(struct gw_json *j, const struct prof_report *r)
{
    static const char *const words[] = {"read", "written"};
    gw_json_object(j, "files");
    for (int k = 0; k < 2; k++) {
        gw_json_row(j, words[k]);
        gw_json_real(j, "bytes", r->io_bytes[k]);
        gw_json_real(j, "calls", r->io_calls[k]);
        gw_json_real(j, "slowest_seconds", r->io_seconds[k]);
        gw_json_close(j);
    }
    gw_json_close(j);
}

static void slow_step(struct gw_json *j, const struct prof_report *r, int k)
{
    double most = 0;
    gw_json_object(j, NULL);
    gw_json_int(j, "number", r->slow_at[k] + 1);
    for (int i = 0; i < r->ranks; i++) {
        const float *part = r->slow[(size_t)i * PROF_SLOWEST + (size_t)k].part;
        most = fmax(most, (double)(part[PROF_USER] + part[PROF_MPI] + part[PROF_SYNC]));
    }
    gw_json_real(j, "seconds", most);
    gw_json_array(j, "ranks");
    for (int i = 0; i < r->ranks; i++) {
        const float *part = r->slow[(size_t)i * PROF_SLOWEST + (size_t)k].part;
        gw_json_row(j, NULL);
        gw_json_int(j, "rank", i);
        gw_json_real(j, "user", (double)part[PROF_USER]);
        gw_json_real(j, "mpi", (double)part[PROF_MPI]);
        gw_json_real(j, "sync", (double)part[PROF_SYNC]);
        gw_json_close(j);
    }
    gw_json_close(j);
    gw_json_close(j);
}

static void steps(struct gw_json *j, const struct prof_report *r)
{
    if (!r->slow) {
        gw_json_text(j, "steps", NULL);
        return;
    }
    gw_json_object(j, "steps");
    gw_json_int(j, "count", r->n_steps);
    gw_json_int(j, "collectives_each", r->step_ends);
    gw_json_real(j, "mean_seconds", r->step_mean);
    gw_json_array(j, "slowest");
    for (int k = 0; k < PROF_SLOWEST && r->slow_at[k] >= 0; k++) slow_step(j, r, k);
    gw_json_close(j);
    gw_json_close(j);
}

static void orders(struct gw_json *j, const struct prof_report *r)
{
    gw_json_array(j, "orders");
    for (int i = 0; i < r->n_orders; i++) {
        gw_json_row(j, NULL);
        gw_json_text(j, "name", r->orders[i].name);
        if (r->orders[i].method >= 0)
            gw_json_int(j, "method", r->orders[i].method);
        else
            gw_json_text(j, "method", NULL);
        gw_json_real(j, "on_node_share", r->orders[i].share);
        gw_json_close(j);
    }
    gw_json_close(j);
    gw_json_array(j, "grid");
    for (int d = 0; d < r->n_dims; d++) gw_json_int(j, NULL, r->dim[d]);
    gw_json_close(j);
}

static void cost(struct gw_json *j, const struct prof_report *r)
{
    gw_json_object(j, "cost");
    gw_json_real(j, "nanoseconds_per_call", r->overhead_ns);
    gw_json_int(j, "looks", (int64_t)prof_own.samples);
    gw_json_real(j, "look_seconds", prof_own.look_s);
    gw_json_close(j);
}

int prof_document(const struct prof_report *r, FILE *f)
{
    struct gw_json j;
    gw_json_begin(&j, f);
    gw_json_text(&j, "schema", "godwit-profile-1");
    gw_json_text(&j, "godwit", GODWIT_VERSION);
    gw_json_text(&j, "program", prof_program_name(r));
    gw_json_int(&j, "ranks", r->ranks);
    gw_json_int(&j, "nodes", r->nodes);
    gw_json_array(&j, "node_of_rank");
    for (int i = 0; i < r->ranks; i++) gw_json_int(&j, NULL, r->node[i]);
    gw_json_close(&j);
    gw_json_text(&j, "how", prof_samples ? "sample" : "trace");
    gw_json_real(&j, "seconds", r->total);
    rows(&j, r);
    ranks(&j, r);
    sites(&j, r);
    traffic(&j, r);
    files(&j, r);
    steps(&j, r);
    orders(&j, r);
    gw_json_text(&j, "observations", r->observations);
    cost(&j, r);
    return gw_json_end(&j) ? 0 : -1;
}
