/* observe.c -- what the numbers mean and what could be done: the communication grid and orders of ranks, with files of those that win;
 * which collective takes the time and which setting concerns it; which ranks compute longer than others.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/file.h"
#include "base/plain.h"
#include "boot/order.h"
#include "observe.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double LEAST_GAIN = .02; /* of all bytes, or of the fullest node's load: less is not worth a file */

/* Words in lines of at most WIDE characters. */
static void say(FILE *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void say(FILE *f, const char *fmt, ...)
{
    enum { WIDE = 96, INDENT = 4 };
    char text[2048];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    size_t column = 0;
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
        size_t n = strlen(word);
        if (column && column + 1 + n > WIDE) fputc('\n', f), column = 0;
        column += (size_t)fprintf(f, column ? " %s" : "    %s", word);
    }
    fputs("\n\n", f);
}

/* ---- orders ------------------------------------------------------------------------------------------------------------------------ */
static int order_set(struct order *o, const struct look *l, const char *name, int method, const int32_t *list)
{
    o->name = name;
    o->method = method;
    o->list = list;
    if (traffic_nodes(method, l->m.ranks, l->m.node_of_process, list, l->node) < 0 ||
        traffic_weigh(&l->traffic, l->node, l->m.nodes, &o->cost) < 0)
        return -1;
    o->load = load_weigh(l->r->user, l->node, &l->m);
    return 0;
}

static double share(const struct order *o) { return o->cost.bytes > 0 ? o->cost.near_bytes / o->cost.bytes : 0; }

static int nearer(const void *a, const void *b)
{
    const struct order *x = a, *y = b;
    return x->cost.near_bytes != y->cost.near_bytes ? (x->cost.near_bytes < y->cost.near_bytes ? 1 : -1) : 0;
}

static void table_of_bytes(FILE *f, const char *before, const struct order *o, int n, int ranks)
{
    fprintf(f, "%s%-10s  %12s  %12s  %s\n", before, "Rank Order", "On-Node", "On-Node", "MPICH_RANK_REORDER_METHOD");
    fprintf(f, "%s%-10s  %12s  %12s\n%s%-10s  %12s  %12s\n%s%-10s  %12s  %12s\n%s\n", before, "", "Bytes/PE", "Bytes/PE%", before,
            "", "", "of Total", before, "", "", "Bytes/PE", *before == '#' ? "#" : "");
    for (int i = 0; i < n; i++) {
        fprintf(f, "%s%-10s  %12.3e  %11.2f%%  ", before, o[i].name, o[i].cost.near_bytes / ranks, 100 * share(&o[i]));
        fprintf(f, o[i].method < 0 ? "-\n" : "%d\n", o[i].method);
    }
    fputs(*before == '#' ? "#\n" : "\n", f);
}

static double node_imbalance(const struct order *o)
{
    return o->load.most > 0 ? 100 * (o->load.most - o->load.mean) / o->load.most : 0;
}

static void table_of_load(FILE *f, const char *before, const struct order *now, const struct order *custom, bool bytes)
{
    const struct order *const rows[] = {now, custom};
    fprintf(f, "%s%-10s  %11s  %12s  %12s  %12s%s\n", before, "Rank Order", "Node", "Reduction in", "Maximum", "Average",
            bytes ? "       On-Node" : "");
    fprintf(f, "%s%-10s  %11s  %12s  %12s  %12s%s\n%s\n", before, "", "Metric Imb.", "Max Value", "Value", "Value",
            bytes ? "     Bytes/PE%" : "", *before == '#' ? "#" : "");
    for (int i = 0; i < 2; i++) {
        const struct order *o = rows[i];
        fprintf(f, "%s%-10s  %10.2f%%  ", before, i ? "Custom" : "Current", node_imbalance(o));
        if (i)
            fprintf(f, "%11.3f%%", 100 * (now->load.most - o->load.most) / now->load.most);
        else
            fprintf(f, "%12s", "");
        fprintf(f, "  %12.3e  %12.3e", o->load.most, o->load.mean);
        fprintf(f, bytes ? "  %11.2f%%\n" : "\n", 100 * share(o));
    }
    fputs(*before == '#' ? "#\n" : "\n", f);
}

/* ---- files of ranks ---------------------------------------------------------------------------------------------------------------- */
static void file_head(FILE *f, const struct look *l, const char *metric, const char *name)
{
    gw_print(f,
             "# A rank order, made by mpiexec --profile from a run in the order that was current then.\n#\n"
             "# Metric:       %s\n# Program:      %s\n# Profile:      %s\n# Number PEs:   %d\n# Max PEs/Node: %d\n#\n"
             "# To use it: copy it to MPICH_RANK_ORDER in the folder where the program starts, and set\n"
             "# MPICH_RANK_REORDER_METHOD=3; or name it: MPICH_RANK_REORDER_FILE=%s.  mpiexec --reorder=auto finds it by itself.\n"
             "# Compare the times of runs without a profile.  Remove the file before the number of ranks changes.\n#\n",
             metric, l->r->path, l->r->page ? l->r->page : "no page", l->m.ranks, l->m.per_node, name);
}

static void file_list(FILE *f, const struct look *l, const int32_t *list)
{
    for (int p = 0; p < l->m.ranks; p++)
        fprintf(f, "%s%d", p == 0 ? "" : l->m.node_of_process[p] != l->m.node_of_process[p - 1] ? "\n" : ",", list[p]);
    fputc('\n', f);
}

static void file_grid(FILE *f, const struct look *l)
{
    const struct grid *g = &l->best;
    fprintf(f, "# grid_order -R %s -c ", (const char *[]){"-Z", "-P", "-H"}[g->walk]);
    for (int d = 0; d < g->n_dims; d++) fprintf(f, "%s%d", d ? "," : "", g->cell[d]);
    for (int d = 0; d < g->n_dims; d++) fprintf(f, "%s%d", d ? "," : " -g ", g->dim[d]);
    fputs("\n#\n", f);
}

enum file_kind { OF_BYTES, OF_LOAD, OF_BOTH };

/* A file of ranks in this folder; what became of it is said. */
static void write_order(FILE *f, const struct look *l, enum file_kind kind, const char *suffix, const struct order *o)
{
    static const char *const metrics[] = {"Sent Msg Total Bytes", "USER Time", "USER Time hybrid"};
    char name[64], *text = NULL;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);
    snprintf(name, sizeof name, "MPICH_RANK_ORDER.%s", suffix);
    int err = to ? 0 : ENOMEM;
    if (to) {
        file_head(to, l, metrics[kind], name);
        fprintf(to, "# Gain: ");
        if (kind == OF_BYTES)
            fprintf(to, "%.2f %% of the bytes stay on nodes, %.2f %% when the profile was made\n#\n", 100 * share(o),
                    100 * share(&l->now));
        else
            fprintf(to, "the node that computes longest does %.3e s, %.3e s when the profile was made\n#\n", o->load.most,
                    l->now.load.most);
        if (kind == OF_BYTES)
            table_of_bytes(to, "# ", l->rows, l->n_rows, l->m.ranks);
        else
            table_of_load(to, "# ", &l->now, o, kind == OF_BOTH);
        if (kind == OF_BYTES && l->is_grid) file_grid(to, l);
        file_list(to, l, o->list);
        err = fclose(to) != 0 ? ENOMEM : gw_file_store(name, text);
    }
    free(text);
    if (err)
        say(f, "The file %s with this order cannot be written: %s.", name, gw_file_why(err));
    else
        say(f, "The file %s has the custom order, and says how it is used.", name);
}

/* ---- what is said of traffic ------------------------------------------------------------------------------------------------------- */
static const char *mpi_share(const struct look *l, char *to, size_t cap)
{
    double mpi = 0;
    for (int i = 0; i < l->m.ranks; i++) mpi += (l->r->mpi[i] + l->r->sync[i]) / l->m.ranks;
    snprintf(to, cap, "%.0f%%", l->r->total > 0 ? 100 * mpi / l->r->total : 0);
    return to;
}

/* The orders that there are anyway, and the custom one if there is one; best first. */
static int compare_orders(struct look *l)
{
    int32_t *list = l->custom_list;
    int rc = l->is_grid ? order_for_grid(&l->traffic, &l->m, &l->best, list) : order_for_graph(&l->traffic, &l->m, list);
    if (rc == 0) rc = order_set(&l->custom, l, "Custom", BOOT_ORDER_FILE, list);
    if (rc == 0) rc = order_set(&l->rows[1], l, "SMP", BOOT_ORDER_SMP, NULL);
    if (rc == 0) rc = order_set(&l->rows[2], l, "Fold", BOOT_ORDER_FOLD, NULL);
    if (rc == 0) rc = order_set(&l->rows[3], l, "RoundRobin", BOOT_ORDER_ROUND, NULL);
    l->rows[0] = l->custom;
    if (rc < 0) return rc;
    l->n_rows = 4;
    double best = 0;
    for (int i = 1; i < 4; i++) best = best > l->rows[i].cost.near_bytes ? best : l->rows[i].cost.near_bytes;
    if (best < l->now.cost.near_bytes) best = l->now.cost.near_bytes;
    l->custom_wins = l->custom.cost.near_bytes - best > LEAST_GAIN * l->custom.cost.bytes;
    if (l->now.cost.near_bytes != l->rows[1].cost.near_bytes) {
        l->rows[l->n_rows] = l->now;
        l->rows[l->n_rows++].name = "Current";
    }
    if (!l->custom_wins) l->rows[0] = l->rows[--l->n_rows];
    qsort(l->rows, (size_t)l->n_rows, sizeof *l->rows, nearer);
    return 0;
}

static void say_traffic(FILE *f, struct look *l)
{
    char grid[64] = "", percent[16];
    const struct grid *g = &l->pattern.grid;
    for (int d = 0; d < g->n_dims; d++)
        snprintf(grid + strlen(grid), sizeof grid - strlen(grid), "%s%d", d ? " X " : "", g->dim[d]);
    mpi_share(l, percent, sizeof percent);
    fprintf(f, "  %s Grid Detection:\n\n", l->r->who);
    if (l->is_grid)
        say(f, "There is point-to-point communication in a %s grid pattern: %.1f %% of the bytes go to neighbours in it.", grid,
            100 * l->pattern.share);
    else
        say(f, "The communication between ranks has the pattern of no grid.");
    if (l->m.nodes == 1) {
        say(f,
            "All ranks are on one node, where their order changes nothing of this. For nodes of fewer ranks, GODWIT_PROFILE_TRAFFIC=FILE "
            "keeps the traffic, and rankplan -t FILE compares orders.");
        return;
    }
    if (compare_orders(l) < 0) {
        say(f, "There is no memory to look for a better order of ranks.");
        return;
    }
    if (l->custom_wins)
        say(f, "%s takes %s of the time. An order of ranks that keeps more of this traffic on nodes may make that less:", l->r->who,
            percent);
    else
        say(f, "No other order of ranks keeps notably more of it on nodes than the best of these:");
    table_of_bytes(f, "    ", l->rows, l->n_rows, l->m.ranks);
    if (l->custom_wins) write_order(f, l, OF_BYTES, l->is_grid ? "Grid" : "Graph", &l->custom);
}

/* For the page: the orders that were compared, with the node of each rank. */
static void note_orders(struct look *l, struct prof_report *r)
{
    for (int i = 0; i < l->n_rows; i++) {
        struct prof_order *o = &r->orders[r->n_orders];
        int method = l->rows[i].method < 0 ? BOOT_ORDER_FILE : l->rows[i].method;
        if (traffic_nodes(method, l->m.ranks, l->m.node_of_process, l->rows[i].list, l->node) < 0) return;
        o->node = malloc(sizeof *o->node * (size_t)r->ranks);
        if (!o->node) return;
        snprintf(o->name, sizeof o->name, "%s", l->rows[i].name);
        o->method = l->rows[i].method;
        o->share = share(&l->rows[i]);
        memcpy(o->node, l->node, sizeof *o->node * (size_t)r->ranks);
        r->n_orders++;
    }
    if (!l->is_grid) return;
    r->n_dims = l->pattern.grid.n_dims;
    memcpy(r->dim, l->pattern.grid.dim, sizeof r->dim);
}

/* Is what the fullest node would have less worth a file: of its load, and of the time that the program takes? */
static bool is_less(const struct look *l, const struct order *o)
{
    double less = l->now.load.most - o->load.most;
    return less > LEAST_GAIN * l->now.load.most && less > LEAST_GAIN * l->r->total;
}

/* And is it steady, from step to step?  What noise adds to some ranks once is evened out by many an order, and back the next time. */
static bool is_steady(const struct look *l, const struct order *o)
{
    const struct prof_report *r = l->r;
    return r->step_user && traffic_nodes(BOOT_ORDER_FILE, l->m.ranks, l->m.node_of_process, o->list, l->node) == 0 &&
        load_gain_is_steady(r->step_user, r->n_step_parts, r->node, l->node, &l->m);
}

static void say_load(FILE *f, struct look *l)
{
    struct order even, both;
    int32_t *even_list = l->custom_list + l->m.ranks, *both_list = even_list + l->m.ranks;
    if (l->m.nodes == 1 || l->now.load.most <= 0) return;
    if (order_for_load(l->r->user, &l->m, even_list) < 0 || order_set(&even, l, "Custom", BOOT_ORDER_FILE, even_list) < 0) return;
    if (is_less(l, &even)) {
        fputs("  Metric-Based Rank Order:\n\n", f);
        if (!is_steady(l, &even)) {
            say(f,
                "Some nodes compute longer than others, the fullest %.3e s, the mean %.3e s, but not by more than steps differ, or there are "
                "fewer than %d steps to tell: an order for that might be one for noise, and none is written.",
                l->now.load.most, l->now.load.mean, LOAD_PARTS_LEAST);
            return;
        }
        say(f,
            "Some nodes compute longer than others. Where memory, caches or the network are what the ranks of a node share, an order "
            "that mixes ranks with much and with little to do may help:");
        table_of_load(f, "    ", &l->now, &even, false);
        write_order(f, l, OF_LOAD, "USER_Time", &even);
    }
    if (!l->traffic.n) return;
    for (int p = 0; p < l->m.ranks; p++) both_list[p] = l->custom_wins ? l->custom_list[p] : l->now_list[p];
    if (order_for_both(&l->traffic, l->r->user, &l->m, both_list) < 0 ||
        order_set(&both, l, "Custom", BOOT_ORDER_FILE, both_list) < 0)
        return;
    double less = 1 - both.load.most / l->now.load.most;
    if (!is_less(l, &both) || !is_steady(l, &both) || less + share(&both) - share(&l->now) < LEAST_GAIN) return;
    fprintf(f, "  %s Hybrid Rank Order:\n\n", l->r->who);
    say(f, "An order for both, the time that nodes compute and the bytes that stay on them, which may be fewer than now:");
    table_of_load(f, "    ", &l->now, &both, true);
    write_order(f, l, OF_BOTH, "USER_Time_hybrid", &both);
}

/* ---- what is said of time ---------------------------------------------------------------------------------------------------------- */
/* The first row whose name begins that of a function is for it.  What sets something between nodes alone is said of jobs on several. */
static const struct advice {
    const char *begin, *one_node, *nodes, *text;
} advices[] = {
    {"MPI_Alltoallv", "", "MPICH_ALLTOALLV_THROTTLE says how many sends and receives a rank has under way; ",
     "MPI_Ialltoallv lets the program compute meanwhile."},
    {"MPI_Alltoall", "",
     "Blocks of up to MPICH_ALLTOALL_SHORT_MSG bytes are stored and forwarded, MPICH_ALLTOALL_SYNC_FREQ says how many others are "
     "under way; ",
     "MPI_Ialltoall lets the program compute meanwhile."},
    {"MPI_Allgather", "", "MPICH_ALLGATHER_VSHORT_MSG is the size of a block up to which it gathers and then tells all; ",
     "MPI_Iallgather lets the program compute meanwhile."},
    {"MPI_Allreduce", "",
     "MPICH_ALLREDUCE_BLK_SIZE cuts long ones, MPICH_ALLREDUCE_MAX_SMP_SIZE says which are reduced inside the nodes first; ",
     "several short ones can be one with more elements, or MPI_Iallreduce."},
    {"MPI_Bcast", "", "MPICH_BCAST_INTERNODE_RADIX and MPICH_BCAST_INTRANODE_RADIX shape its tree; ",
     "MPI_Ibcast lets the program compute meanwhile."},
    {"MPI_Gatherv", "", "Blocks of up to MPICH_GATHERV_SHORT_MSG bytes on average go up a tree; ",
     "MPI_Igatherv lets the program compute meanwhile."},
    {"MPI_Igatherv", "The root waits for the others: more to compute before the wait hides it.",
     "MPICH_IGATHERV_SYNC_FREQ says how many ranks have leave to send at a time.", ""},
    {"MPI_Scatterv", "", "Blocks of up to MPICH_SCATTERV_SHORT_MSG bytes on average go down a tree; ",
     "MPI_Iscatterv lets the program compute meanwhile."},
    {"MPI_Reduce_scatter", "",
     "MPICH_REDUCE_SCATTER_COMMUTATIVE_LONG_MSG_SIZE says from which length on parts are exchanged pair by pair; ",
     "MPI_Ireduce_scatter lets the program compute meanwhile."},
    {"MPI_Reduce", "", "MPICH_REDUCE_NO_SMP decides whether nodes are reduced first; ",
     "MPI_Ireduce lets the program compute meanwhile."},
    {"MPI_Barrier", "", "",
     "A barrier that only keeps ranks in step can be left out; what is long here is mostly waiting for the slowest rank."},
    {"MPI_Wait",
     "Receives that are posted before their messages come save a copy; messages of up to GODWIT_EAGER_MAX bytes do not wait for them. ",
     "Receives that are posted before their messages come save a copy; messages of up to GODWIT_NET_EAGER_MAX bytes to other nodes "
     "(MPICH_GNI_MAX_EAGER_MSG_SIZE), and of up to GODWIT_EAGER_MAX on a node, do not wait for them. ",
     "MPICH_ASYNC_PROGRESS moves the others while the program computes."},
    {"MPI_Recv", "The rank waits for the sender: MPI_Irecv long before.",
     "The rank waits for the sender: MPI_Irecv long before, and another order of ranks where the sender is on another node.", ""},
    {"MPI_Send", "Long messages wait for their receive: MPI_Isend, or a larger GODWIT_EAGER_MAX.",
     "Long messages wait for their receive: MPI_Isend, or a larger GODWIT_NET_EAGER_MAX (to other nodes; "
     "MPICH_GNI_MAX_EAGER_MSG_SIZE) or GODWIT_EAGER_MAX (on a node).",
     ""},
    {"MPI_Win_", "", "",
     "Fences are for all ranks; MPI_Win_post and MPI_Win_start, or MPI_Win_lock_all with flushes, concern those that communicate."},
    {"MPI_File_", "", "", "MPICH_MPIIO_STATS=1 tells how the file was accessed and what would help."},
    {"shmem_put_signal", "", "", ""},
    {"shmem_put_nbi", "", "", ""},
    {"shmem_put", "On one node it is a copy by the PE that calls.",
     "shmem_put_nbi, and a shmem_quiet before the source changes, let the program go on while the network sends.", ""},
    {"shmem_pe_quiet", "", "", ""},
    {"shmem_prod_", "", "", ""},
    {"shmem_p", "", "", "Elements that lie side by side at one PE are one shmem_put."},
    {"shmem_get_nbi", "", "", ""},
    {"shmem_get", "On one node it is a copy by the PE that calls.",
     "It waits for the data: shmem_get_nbi, and a shmem_quiet before they are used, let the program compute meanwhile.", ""},
    {"shmem_g", "", "", "Elements that lie side by side at one PE are one shmem_get."},
    {"shmem_ip", "", "", "Elements that lie side by side on both sides are one shmem_put, blocks of them shmem_ibput."},
    {"shmem_ig", "", "", "Elements that lie side by side on both sides are one shmem_get, blocks of them shmem_ibget."},
    {"shmem_atomic_", "", "One that returns the old value waits for it: where it is not used, those that return nothing do not; ",
     "PEs that change one word take turns: a word for each of them, or for each node, is quicker."},
    {"shmem_quiet", "", "",
     "It waits for all PEs that were written to: shmem_pe_quiet is for some, shmem_fence for the order alone."},
    {"shmem_test", "", "", "A program that tests in a loop can wait: shmem_wait_until_any, or _some."},
    {"shmem_wait_until", "", "", "The PE waits for another one's store: more to compute before the wait hides it."},
    {"shmem_signal_wait_until", "", "", "The PE waits for another one's signal: more to compute before the wait hides it."},
    {"shmem_set_lock", "", "", "PEs take turns at a lock: a lock for each part of the data, or atomics, let more of them go on."},
    {"shmem_barrier_all", "", "",
     "A barrier is for all PEs; shmem_put_signal and shmem_signal_wait_until concern two, shmem_sync_all does not wait for puts."},
    {"shmem_sync_all", "", "",
     "It is for all PEs; shmem_put_signal and shmem_signal_wait_until concern two, a team's shmem_team_sync its PEs."},
};

static const struct advice *advice_for(const char *function)
{
    static const struct advice none = {"", "", "", ""};
    for (size_t i = 0; i < sizeof advices / sizeof *advices; i++)
        if (strncmp(function, advices[i].begin, strlen(advices[i].begin)) == 0) return &advices[i];
    return &none;
}

/* Not a system call of the program's own. */
static bool is_call(const struct prof_row *row)
{
    return row->kind == ROW_FUNCTION && (strncmp(row->name, "MPI_", 4) == 0 || strncmp(row->name, "shmem_", 6) == 0);
}

/* Where ranks were in MPI for less than this, and made fewer calls, on average, the start of the first calls is most of it: connections, pages
 * that are touched first, ranks that begin at different times.  What takes the time of a longer run cannot be told from that. */
static const double LEAST_SECONDS = .05, LEAST_CALLS = 1000;

static bool is_too_little(FILE *f, const struct prof_report *r)
{
    double seconds = 0, calls = 0;
    for (int i = 0; i < r->ranks; i++) seconds += (r->mpi[i] + r->sync[i]) / r->ranks;
    for (int i = 0; i < r->n_rows; i++)
        if (is_call(&r->rows[i]) && !strstr(r->rows[i].name, "(sync)")) calls += r->rows[i].line.calls / r->ranks;
    if (seconds >= LEAST_SECONDS || calls >= LEAST_CALLS) return false;
    say(f,
        "That is %.6f s and %.1f calls a rank, too little to tell what would help: no advice on calls below %.2f s and %.0f calls.",
        seconds, calls, LEAST_SECONDS, LEAST_CALLS);
    return true;
}

/* For what another PE does, not for all others. */
static bool waits_for_one(const char *function) { return strstr(function, "wait_until") || strstr(function, "set_lock"); }

static void say_time(FILE *f, const struct look *l)
{
    const struct prof_report *r = l->r;
    const struct prof_row *most = NULL, *sync = NULL;
    char percent[16];
    for (int i = 0; i < r->n_rows; i++) {
        const struct prof_row *row = &r->rows[i];
        if (!is_call(row)) continue;
        bool waits = strstr(row->name, "(sync)") != NULL;
        const struct prof_row **best = waits ? &sync : &most;
        if (!*best || row->line.mean > (*best)->line.mean) *best = row;
    }
    fprintf(f, "  %s utilization:\n\n", r->who);
    say(f, "%s takes %s of the time.", r->who, mpi_share(l, percent, sizeof percent));
    if (is_too_little(f, r)) return;
    if (most && most->percent >= 5) {
        const struct advice *a = advice_for(most->name);
        say(f, "Most of it goes into %s: %.1f %% of the time in %.0f calls. %s%s", most->name, most->percent, most->line.calls,
            l->m.nodes > 1 ? a->nodes : a->one_node, a->text);
    }
    if (sync && sync->percent >= 5 && waits_for_one(sync->name)) {
        say(f, "PEs wait in %.*s for %.1f %% of the time. %s", (int)strcspn(sync->name, "("), sync->name, sync->percent,
            advice_for(sync->name)->text);
    } else if (sync && sync->percent >= 5) {
        int busy = 0;
        for (int i = 1; i < r->ranks; i++)
            if (r->user[i] > r->user[busy]) busy = i;
        say(f,
            "Load imbalance: before %.*s ranks wait for each other for %.1f %% of the time; rank %d computes longest, %.3f s, the mean is "
            "%.3f s. %s",
            (int)strcspn(sync->name, "("), sync->name, sync->percent, busy, r->user[busy], l->mean_user,
            l->m.nodes > 1 ? "If no rank can be given less to do, try a custom rank order, by which nodes have as much to do."
                           : "Give that rank less to do.");
    }
}

/* ---- traffic for other tools ------------------------------------------------------------------------------------------------------- */
static void write_traffic(FILE *f, const struct look *l)
{
    const char *name = secure_getenv("GODWIT_PROFILE_TRAFFIC");
    char *text = NULL;
    size_t bytes;
    if (!name || !*name) return;
    FILE *to = open_memstream(&text, &bytes);
    int err = to ? 0 : ENOMEM;
    if (to) {
        gw_print(to,
                 "# Traffic of %s: the number of ranks, then lines of a sender, a receiver, bytes.  rankplan -t reads it.\n%d\n",
                 l->r->path, l->m.ranks);
        for (size_t i = 0; i < l->traffic.n; i++)
            fprintf(to, "%d %d %.0f\n", l->traffic.link[i].from, l->traffic.link[i].to, l->traffic.link[i].bytes);
        err = fclose(to) != 0 ? ENOMEM : gw_file_store(name, text);
    }
    free(text);
    if (err) say(f, "The traffic cannot be written to GODWIT_PROFILE_TRAFFIC=%s: %s.", name, gw_file_why(err));
}

/* ---- all of it --------------------------------------------------------------------------------------------------------------------- */
static int look_make(struct look *l, const struct prof_report *r)
{
    size_t n = (size_t)r->ranks;
    int place = 0;
    l->r = r;
    l->m = (struct machine){.ranks = r->ranks, .nodes = r->nodes, .node_of_process = malloc(sizeof(int32_t) * n)};
    l->node = malloc(sizeof(int32_t) * n), l->now_list = malloc(sizeof(int32_t) * n),
    l->custom_list = malloc(sizeof(int32_t) * n * 3);
    if (!l->m.node_of_process || !l->node || !l->now_list || !l->custom_list) return -1;
    for (int k = 0; k < r->nodes; k++) {
        int first = place;
        for (int i = 0; i < r->ranks; i++)
            if (r->node[i] == k) l->now_list[place] = i, l->m.node_of_process[place++] = k;
        if (place - first > l->m.per_node) l->m.per_node = place - first;
    }
    for (int i = 0; i < r->ranks; i++) {
        l->mean_user += r->user[i] / r->ranks;
        for (int k = 0; k < r->ranks; k++) {
            double b = r->sent[(size_t)i * n + (size_t)k] + (r->moved ? r->moved[(size_t)i * n + (size_t)k] : 0);
            if (b > 0 && i != k && traffic_add(&l->traffic, i, k, b) < 0) return -1;
        }
    }
    l->traffic.ranks = r->ranks;
    int rc = pattern_find(&l->traffic, &l->pattern);
    l->is_grid = rc > 0;
    l->best = l->pattern.grid;
    return rc < 0 ? -1 : order_set(&l->now, l, "Current", BOOT_ORDER_FILE, l->now_list);
}

void prof_observe(struct prof_report *r, FILE *f)
{
    struct look l = {.r = NULL};
    fputs("\nObservations and suggestions\n\n", f);
    if (look_make(&l, r) < 0) {
        say(f, "There is no memory for them.");
    } else {
        l.now.method = -1;
        if (l.traffic.n) say_traffic(f, &l);
        note_orders(&l, r);
        say_load(f, &l);
        say_time(f, &l);
        write_traffic(f, &l);
    }
    traffic_free(&l.traffic);
    free(l.m.node_of_process), free(l.node), free(l.now_list), free(l.custom_list);
}
