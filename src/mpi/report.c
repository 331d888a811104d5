/* report.c -- what a job prints at its end if the user asks for it: memory (GODWIT_MEMORY_REPORT), counters
 * (GODWIT_STATS_DISPLAY).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/mpi_private.h"
#include "base/count.h"
#include "base/file.h"
#include "base/os.h"
#include "base/settings.h"

#include <stdio.h>
#include <stdlib.h>

/* The extremes over all ranks, with the lowest rank of each. */
struct extremes {
    int64_t max, min, sum, max_rank, min_rank;
};
static int over_ranks(const int64_t *mine, int n, struct extremes *out)
{
    struct gw_comm *c = &gw_comm_world;
    assert(n > 0);
    int64_t *v = gw_xcalloc((size_t)n, 5 * sizeof *v), *most = v, *who = v + 2 * n, *sum = v + 4 * n;
    for (int i = 0; i < n; i++) most[i] = sum[i] = mine[i], most[n + i] = -mine[i];
    int rc = coll_allreduce(GW_IN_PLACE, most, 2 * n, gw_type_int64, gw_op_max, c, NULL);
    for (int i = 0; i < 2 * n; i++) who[i] = most[i] == (i < n ? mine[i] : -mine[i - n]) ? c->rank : c->size;
    if (rc == GW_OK) rc = coll_allreduce(GW_IN_PLACE, who, 2 * n, gw_type_int64, gw_op_min, c, NULL);
    if (rc == GW_OK) rc = coll_allreduce(GW_IN_PLACE, sum, n, gw_type_int64, gw_op_sum, c, NULL);
    for (int i = 0; i < n; i++) out[i] = (struct extremes){most[i], -most[n + i], sum[i], who[i], who[n + i]};
    free(v);
    return rc;
}

/* ---- memory ---- */
static const char *const memory_names[GW_MEMORIES] = {
    [GW_MEMORY_MALLOC] = "malloc:", [GW_MEMORY_MAPPED] = "mmap:", [GW_MEMORY_SHARED] = "shmget:"};

/* Rank 0 prints a summary of all ranks. */
static int memory_summary(const int64_t *mine)
{
    struct extremes e[GW_MEMORIES];
    int rc = over_ranks(mine, GW_MEMORIES, e);
    for (int i = 0; rc == GW_OK && gw_comm_world.rank == 0 && i < GW_MEMORIES; i++)
        fprintf(stderr,
                "# MPICH_MEMORY: Max memory allocated by %-9s%lld bytes by rank %lld\n"
                "# MPICH_MEMORY: Min memory allocated by %-9s%lld bytes by rank %lld\n",
                memory_names[i], (long long)e[i].max, (long long)e[i].max_rank, memory_names[i], (long long)e[i].min,
                (long long)e[i].min_rank);
    return rc;
}

/* Every rank writes to a file of its own. */
static void memory_detail(const int64_t *mine)
{
    const char *prefix = gw_set.memory_report_file;
    char *path = gw_xasprintf("%s%d", prefix ? prefix : "", gw_comm_world.rank), *text = NULL;
    size_t n;
    struct gw_new_file f = {0};
    int rc = prefix && *prefix ? gw_file_create(path, &f) : 0;
    FILE *lines = f.to ? f.to : open_memstream(&text, &n);
    for (int i = 0; lines && i < GW_MEMORIES; i++)
        fprintf(lines, "# [%d] Max memory allocated by %-9s%lld bytes\n", gw_comm_world.rank, memory_names[i], (long long)mine[i]);
    if (f.to)
        rc = gw_file_finish(&f);
    else if (lines)
        fclose(lines);
    if (rc) gw_warn("%s: %s cannot be written (%s)", gw_setting_said("GODWIT_MEMORY_REPORT_FILE"), path, gw_file_why(rc));
    if (text) fputs(text, stderr); /* one write, so that lines of several ranks do not mix */
    free(text);
    free(path);
}

static int memory_report(void)
{
    int64_t mine[GW_MEMORIES];
    int rc = GW_OK;
    for (int i = 0; i < GW_MEMORIES; i++)
        mine[i] = gw_memory_most((enum gw_memory)i); /* read before the report itself takes memory */
    if (gw_set.memory_report & 1) rc = memory_summary(mine);
    if (gw_set.memory_report & 2) memory_detail(mine);
    return rc;
}

/* ---- counters ---- */
/* Before the counters, as negative ones: messages by path, then their bytes. */
static void counter_name(int i, char *out, size_t cap)
{
    static const char *const paths[PROTO_PATHS] = {"E0", "E1", "R0", "R1"};
    if (i < 0)
        snprintf(out, cap, "%s %s", paths[(i + 2 * PROTO_PATHS) % PROTO_PATHS], i < -PROTO_PATHS ? "messages" : "bytes");
    else if (i < gw_counter_row_count)
        snprintf(out, cap, "%s", gw_counter_rows[i].name);
    else
        coll_algorithm_name(i - gw_counter_row_count, out, cap);
}

/* Prints advice.  Threads that share a communicator share its lane, and each message takes the lane's lock. */
static void threads_advise(int64_t waited)
{
    fprintf(stderr,
            "# MPICH_STATS: threads found locks of the library held %lld times: give each thread a communicator of its own "
            "(MPI_Comm_dup), and the job a lane for each (GODWIT_LANES, here %d)\n",
            (long long)waited, gw_nlanes);
}

/* Prints the counters of all ranks, with the ranks that have the most and the least. */
static int counters_report(void)
{
    enum { FIRST = 2 * PROTO_PATHS };
    int n = FIRST + gw_counter_row_count + coll_algorithms();
    char name[64];
    struct proto_tally sent;
    proto_sent_to(-1, &sent);
    int64_t *mine = gw_xcalloc((size_t)n, sizeof *mine);
    struct extremes *e = gw_xcalloc((size_t)n, sizeof *e);
    int64_t waited = 0; /* for locks */
    for (int i = 0; i < PROTO_PATHS; i++) mine[i] = (int64_t)sent.messages[i], mine[PROTO_PATHS + i] = (int64_t)sent.bytes[i];
    for (int i = 0; i < n - FIRST; i++)
        mine[FIRST + i] =
            (int64_t)(i < gw_counter_row_count ? atomic_load_explicit(gw_counter_rows[i].counter, memory_order_relaxed)
                                               : coll_algorithm_uses(i - gw_counter_row_count));
    int rc = over_ranks(mine, n, e);
    for (int i = 0; rc == GW_OK && gw_comm_world.rank == 0 && i < n; i++) {
        int row = i - FIRST;
        counter_name(row, name, sizeof name);
        if (e[i].max > 0)
            fprintf(stderr, "# MPICH_STATS: %-28s sum %lld, max %lld by rank %lld, min %lld by rank %lld\n", name,
                    (long long)e[i].sum, (long long)e[i].max, (long long)e[i].max_rank, (long long)e[i].min,
                    (long long)e[i].min_rank);
        if (row >= 0 && row < gw_counter_row_count && gw_counter_rows[row].counter == &gw_count.locks_waited) waited = e[i].sum;
    }
    if (life_highest() == GW_THREAD_MULTIPLE && waited > 0) threads_advise(waited); /* not by a thread of our own */
    free(e);
    free(mine);
    return rc;
}

int mpi_report(void)
{
    int rc = gw_set.memory_report ? memory_report() : GW_OK;
    return rc == GW_OK && gw_set.stats_display ? counters_report() : rc;
}
