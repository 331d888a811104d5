/* measure.c -- what the ranks of a measuring job do: time each collective at each size, and say which algorithm served it.
 *
 *   "shape RANKS NODES EVEN", "known KIND ALGORITHM", "time KIND BYTES ALGORITHM MICROSECONDS", "pingpong BYTES MICROSECONDS"
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tune.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;
static char *sbuf, *rbuf;
static int *counts;

/* ---- which algorithm ------------------------------------------------------------------------------------------------------------- */
enum { COUNTERS = 256 };
static struct {
    MPI_T_pvar_handle handle;
    int kind;
    char name[TUNE_NAME];
    unsigned long long was;
} counters[COUNTERS];
static int n_counters;
static MPI_T_pvar_session session;

/* "coll_reduce_scatter_leaf" is reduce_scatter's "leaf", not reduce's "scatter_leaf". */
static int kind_of_counter(const char *name, const char **algorithm_out)
{
    int found = TUNE_KINDS;
    size_t longest = 0;
    if (strncmp(name, "coll_", 5) != 0) return found;
    for (int k = 0; k < TUNE_KINDS; k++) {
        size_t n = strlen(tune_kind_names[k]);
        if (strncmp(name + 5, tune_kind_names[k], n) != 0 || name[5 + n] != '_' || n <= longest) continue;
        found = k, longest = n;
        *algorithm_out = name + 5 + n + 1;
    }
    return found;
}

static void counters_open(void)
{
    int level, n = 0;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_get_num(&n);
    for (int i = 0; i < n && n_counters < COUNTERS; i++) {
        char name[128], text[8];
        int name_len = sizeof name, text_len = sizeof text, verbosity, class, bind, readonly, continuous, atomic, count;
        const char *algorithm = NULL;
        MPI_Datatype type;
        MPI_T_enum words;
        MPI_T_pvar_get_info(i, name, &name_len, &verbosity, &class, &type, &words, text, &text_len, &bind, &readonly, &continuous,
                            &atomic);
        int kind = kind_of_counter(name, &algorithm);
        if (kind == TUNE_KINDS || MPI_T_pvar_handle_alloc(session, i, NULL, &counters[n_counters].handle, &count) != MPI_SUCCESS)
            continue;
        if (!continuous) MPI_T_pvar_start(session, counters[n_counters].handle);
        counters[n_counters].kind = kind;
        snprintf(counters[n_counters].name, TUNE_NAME, "%s", algorithm);
        if (rank == 0) printf("known %s %s\n", tune_kind_names[kind], algorithm);
        n_counters++;
    }
}

/* The algorithm of that collective which was used most since the last call; "?": none. */
static const char *used(int kind)
{
    unsigned long long most = 0;
    const char *name = "?";
    for (int i = 0; i < n_counters; i++) {
        unsigned long long now = 0;
        MPI_T_pvar_read(session, counters[i].handle, &now);
        if (counters[i].kind == kind && now - counters[i].was > most) most = now - counters[i].was, name = counters[i].name;
        counters[i].was = now;
    }
    return name;
}

/* ---- collectives: the root goes round, so that no rank runs ahead ---------------------------------------------------------------- */
static void call(int kind, int i, int bytes)
{
    MPI_Comm w = MPI_COMM_WORLD;
    int root = i % ranks, words = bytes / 8;
    switch (kind) {
    case TUNE_BARRIER: MPI_Barrier(w); break;
    case TUNE_BCAST: MPI_Bcast(sbuf, bytes, MPI_BYTE, root, w); break;
    case TUNE_GATHER: MPI_Gather(sbuf, bytes, MPI_BYTE, rbuf, bytes, MPI_BYTE, root, w); break;
    case TUNE_SCATTER: MPI_Scatter(sbuf, bytes, MPI_BYTE, rbuf, bytes, MPI_BYTE, root, w); break;
    case TUNE_ALLGATHER: MPI_Allgather(sbuf, bytes, MPI_BYTE, rbuf, bytes, MPI_BYTE, w); break;
    case TUNE_ALLTOALL: MPI_Alltoall(sbuf, bytes, MPI_BYTE, rbuf, bytes, MPI_BYTE, w); break;
    case TUNE_REDUCE: MPI_Reduce(sbuf, rbuf, words, MPI_DOUBLE, MPI_SUM, root, w); break;
    case TUNE_ALLREDUCE: MPI_Allreduce(sbuf, rbuf, words, MPI_DOUBLE, MPI_SUM, w); break;
    case TUNE_REDUCE_SCATTER: MPI_Reduce_scatter(sbuf, rbuf, counts, MPI_DOUBLE, MPI_SUM, w); break;
    case TUNE_SCAN: MPI_Scan(sbuf, rbuf, words, MPI_DOUBLE, MPI_SUM, w); break;
    }
}

static double batch(int kind, int n, int bytes)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double t = MPI_Wtime();
    for (int i = 0; i < n; i++) call(kind, i, bytes);
    t = MPI_Wtime() - t;
    MPI_Allreduce(MPI_IN_PLACE, &t, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return t / n;
}

static void time_point(int kind, long bytes)
{
    enum { BATCHES = 5, MOST = 2000 };
    static const double batch_s = 2e-3;
    double best = 1e30;
    for (int i = 0; i < ranks; i++) counts[i] = (int)(bytes / 8 / ranks) + (i < bytes / 8 % ranks);
    batch(kind, 2 * ranks, (int)bytes); /* connections, caches */
    double once = batch(kind, 2 * ranks, (int)bytes);
    int n = once > 0 && batch_s / once < MOST ? (int)(batch_s / once) : MOST;
    n = n / ranks * ranks + ranks; /* each root as often */
    used(kind);
    for (int b = 0; b < BATCHES; b++) {
        double t = batch(kind, n, (int)bytes);
        if (t < best) best = t;
    }
    const char *name = used(kind);
    if (rank == 0) printf("time %s %ld %s %.4f\n", tune_kind_names[kind], bytes, name, best * 1e6);
}

static void say_shape(void)
{
    MPI_Comm node;
    int here, local, leads, nodes, least;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &here);
    MPI_Comm_rank(node, &local);
    leads = local == 0;
    MPI_Allreduce(&leads, &nodes, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&here, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Comm_free(&node);
    if (rank == 0) printf("shape %d %d %d\n", ranks, nodes, least > 1);
}

static bool begin(size_t bytes)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    sbuf = calloc((size_t)ranks, bytes), rbuf = calloc((size_t)ranks, bytes), counts = calloc((size_t)ranks, sizeof *counts);
    return sbuf && rbuf && counts;
}

static int end(void)
{
    free(sbuf), free(rbuf), free(counts);
    MPI_Finalize();
    return 0;
}

int tune_measure_main(const char *kinds, bool is_quick)
{
    const struct tune_sizes *sizes = is_quick ? &tune_sizes_quick : &tune_sizes;
    enum { MOST_TOGETHER = 32 << 20 };
    if (!begin((size_t)sizes->at[sizes->n - 1])) MPI_Abort(MPI_COMM_WORLD, 1);
    say_shape();
    counters_open();
    for (int k = 0; k < TUNE_KINDS; k++) {
        const char *at = strstr(kinds, tune_kind_names[k]);
        size_t n = strlen(tune_kind_names[k]);
        while (at && ((at != kinds && at[-1] != ',') || (at[n] && at[n] != ','))) at = strstr(at + 1, tune_kind_names[k]);
        for (int i = 0; at && i < sizes->n; i++) {
            if (k == TUNE_BARRIER ? i > 0 : sizes->at[i] > MOST_TOGETHER / ranks) break;
            time_point(k, sizes->at[i]);
        }
    }
    if (rank == 0) fflush(stdout);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return end();
}

/* ---- messages between the first rank and the last -------------------------------------------------------------------------------- */
int tune_pingpong_main(const char *sizes)
{
    enum { BATCHES = 7, TRIPS = 60, MOST = 1 << 20 };
    if (!begin(MOST)) MPI_Abort(MPI_COMM_WORLD, 1);
    for (const char *at = sizes; *at; at += strcspn(at, ","), at += *at == ',') {
        int bytes = atoi(at), other = ranks - 1;
        double best = 1e30;
        if (bytes < 1 || bytes > MOST) continue;
        for (int b = 0; b < BATCHES; b++) {
            MPI_Barrier(MPI_COMM_WORLD);
            double t = MPI_Wtime();
            for (int i = 0; i < TRIPS && ranks > 1; i++) {
                if (rank == 0)
                    MPI_Send(sbuf, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD),
                        MPI_Recv(rbuf, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                if (rank == other)
                    MPI_Recv(rbuf, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                        MPI_Send(sbuf, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
            }
            t = (MPI_Wtime() - t) / TRIPS / 2;
            if (b > 0 && t < best) best = t;
        }
        if (rank == 0) printf("pingpong %d %.4f\n", bytes, best * 1e6);
    }
    return end();
}
