/* profile.c -- counts calls, time and bytes.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "profile.h"
#include "../next/next.h"
#include "../next/next_shmem.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct prof_own prof_own;
_Atomic bool prof_on;
static bool meets = true;
static uint64_t begin_ns;
static int keyval = MPI_KEYVAL_INVALID, win_keyval = MPI_KEYVAL_INVALID;

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint64_t prof_weight(void)
{
    if (!prof_is_on()) return 0;
    return prof_samples ? prof_sample_weight() : 1;
}

void prof_left(struct prof_call *c)
{
    if (!prof_is_on()) return;
    uint64_t now = prof_ticks(), passed = now - c->at;
    prof_add(&prof_sums[c->fn].ticks, passed);
    prof_add(&prof_sums[c->fn].calls, 1);
    prof_span(c, now, false);
    /* Two threads at once may lose one: it is for the steps alone. */
    atomic_store_explicit(&prof_own.mpi, atomic_load_explicit(&prof_own.mpi, memory_order_relaxed) + passed, memory_order_relaxed);
}

/* Of all ranks, so that each has called it as often as the others. */
static bool is_of_all(MPI_Comm comm)
{
    int n = 0;
    return comm == MPI_COMM_WORLD || (PMPI_Comm_size(comm, &n) == MPI_SUCCESS && n == prof_own.ranks);
}

void prof_waited(struct prof_call *c, bool of_all)
{
    uint64_t now = prof_ticks();
    if (prof_samples)
        prof_leave(c); /* it is in its group by its number */
    else
        atomic_store_explicit(&prof_thread->now, c->was, memory_order_relaxed);
    if (!prof_is_on()) return;
    if (of_all) prof_step_end(prof_samples ? now : c->at, now);
    if (prof_samples) return;
    prof_add(&prof_sums[c->fn].meet_ticks, now - c->at);
    prof_add(&prof_sums[c->fn].meets, 1);
    prof_span(c, now, true);
}

void prof_met(struct prof_call *c, MPI_Comm comm) { prof_waited(c, prof_is_on() && is_of_all(comm)); }

bool prof_meet_begin(struct prof_call *c, int fn, const void *from)
{
    bool waits = meets && !prof_samples;
    if (waits) prof_enter(c, fn, from); /* the waiting is no computing */
    c->fn = fn;
    c->at = prof_ticks();
    return waits;
}

void prof_meet_end(struct prof_call *c, bool waited, bool of_all)
{
    if (waited) atomic_store_explicit(&prof_thread->now, c->was, memory_order_relaxed);
    uint64_t now = waited ? prof_ticks() : c->at;
    if (of_all) prof_step_end(c->at, now);
    if (!waited) return;
    prof_add(&prof_sums[c->fn].meet_ticks, now - c->at);
    prof_add(&prof_sums[c->fn].meets, 1);
    prof_span(c, now, true);
}

void prof_meet(int fn, MPI_Comm comm, const void *from)
{
    int inter = 1;
    struct prof_call c;
    /* Members of an intercommunicator cannot meet by a barrier of their own group alone; MPI reports a bad communicator itself. */
    if (!prof_is_on() || comm == MPI_COMM_NULL) return;
    if (comm != MPI_COMM_WORLD && (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter)) return;
    bool waits = prof_meet_begin(&c, fn, from);
    if (waits) PMPI_Barrier(comm);
    prof_meet_end(&c, waits, is_of_all(comm));
}

/* ---- bytes ------------------------------------------------------------------------------------------------------------------------ */
static uint64_t bytes_of(MPI_Count count, MPI_Datatype type)
{
    MPI_Count size = 0;
    if (count <= 0 || type == MPI_DATATYPE_NULL || PMPI_Type_size_c(type, &size) != MPI_SUCCESS || size < 0) return 0;
    return (uint64_t)count * (uint64_t)size;
}

/* The ranks in MPI_COMM_WORLD of a group's members; frees the group. */
static int *world_list(MPI_Group group)
{
    int n = 0;
    MPI_Group world;
    PMPI_Group_size(group, &n);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    int *list = malloc(2 * sizeof *list * (size_t)(n > 0 ? n : 1));
    if (list) {
        for (int i = 0; i < n; i++) list[n + i] = i;
        PMPI_Group_translate_ranks(group, n, list + n, world, list);
    }
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    return list;
}

/* The same of those whom ranks of this communicator mean, kept with it. */
static const int *world_ranks(MPI_Comm comm)
{
    int found = 0, inter = 0;
    int *list = NULL;
    MPI_Group group;
    if (PMPI_Comm_get_attr(comm, keyval, &list, &found) == MPI_SUCCESS && found) return list;
    PMPI_Comm_test_inter(comm, &inter);
    if ((inter ? PMPI_Comm_remote_group(comm, &group) : PMPI_Comm_group(comm, &group)) != MPI_SUCCESS) return NULL;
    list = world_list(group);
    if (list) PMPI_Comm_set_attr(comm, keyval, list);
    return list;
}

/* Of a window. */
static int target_rank(int target, MPI_Win win)
{
    int found = 0;
    int *list = NULL;
    MPI_Group group;
    if (target < 0) return -1;
    if (PMPI_Win_get_attr(win, win_keyval, &list, &found) == MPI_SUCCESS && found) return list[target];
    if (PMPI_Win_get_group(win, &group) != MPI_SUCCESS) return -1;
    list = world_list(group);
    if (!list) return -1;
    int rank = list[target];
    if (PMPI_Win_set_attr(win, win_keyval, list) != MPI_SUCCESS) free(list);
    return rank;
}

static int free_list(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)extra;
    free(value);
    return MPI_SUCCESS;
}

static int free_win_list(MPI_Win win, int key, void *value, void *extra)
{
    (void)win, (void)key, (void)extra;
    free(value);
    return MPI_SUCCESS;
}

static int world_rank(int dest, MPI_Comm comm)
{
    if (dest < 0 || comm == MPI_COMM_WORLD) return dest;
    const int *list = world_ranks(comm);
    return list ? list[dest] : -1;
}

static void count_message(int fn, int to, uint64_t bytes, uint64_t times)
{
    prof_add(&prof_sums[fn].bytes, bytes * times);
    prof_add(&prof_own.bins[prof_bin(bytes)], times);
    if (to >= 0 && to < prof_own.ranks) prof_add(&prof_own.sent[to], bytes * times);
}

void prof_moved(struct prof_call *c, MPI_Count count, MPI_Datatype type)
{
    uint64_t times = prof_weight();
    if (!times) return;
    c->bytes = bytes_of(count, type);
    prof_add(&prof_sums[c->fn].bytes, c->bytes * times);
}

void prof_sent(struct prof_call *c, MPI_Count count, MPI_Datatype type, int dest, MPI_Comm comm)
{
    uint64_t times = dest == MPI_PROC_NULL ? 0 : prof_weight();
    if (!times) return;
    c->to = world_rank(dest, comm), c->bytes = bytes_of(count, type);
    count_message(c->fn, c->to, c->bytes, times);
}

void prof_reached(struct prof_call *c, MPI_Count count, MPI_Datatype type, int target, MPI_Win win, int fetched)
{
    uint64_t times = prof_weight();
    if (!times) return;
    c->to = target_rank(target, win), c->bytes = bytes_of(count, type);
    uint64_t bytes = c->bytes * times;
    prof_add(&prof_sums[c->fn].bytes, bytes);
    if (c->to >= 0 && c->to < prof_own.ranks) prof_add(&(fetched ? prof_own.got : prof_own.sent)[c->to], bytes);
}

/* ---- persistent sends ---------------------------------------------------------------------------------------------------------------- */
static struct prepared {
    struct prepared *next;
    MPI_Request request;
    int fn, to;
    uint64_t bytes;
} * prepared;
static pthread_mutex_t prepared_lock = PTHREAD_MUTEX_INITIALIZER;

static void prepare(MPI_Request request, int fn, int to, uint64_t bytes)
{
    struct prepared *p = malloc(sizeof *p);
    if (!p) return;
    *p = (struct prepared){NULL, request, fn, to, bytes};
    pthread_mutex_lock(&prepared_lock);
    p->next = prepared;
    prepared = p;
    pthread_mutex_unlock(&prepared_lock);
}

void prof_prepared(struct prof_call *c, int rc, const MPI_Request *request, MPI_Count count, MPI_Datatype type, int dest,
                   MPI_Comm comm)
{
    if (rc == MPI_SUCCESS && dest != MPI_PROC_NULL) prepare(*request, c->fn, world_rank(dest, comm), bytes_of(count, type));
}

void prof_started(int n, const MPI_Request *requests)
{
    uint64_t times = prepared ? prof_weight() : 0;
    if (!times) return;
    pthread_mutex_lock(&prepared_lock);
    for (int i = 0; i < n; i++)
        for (struct prepared *p = prepared; p; p = p->next)
            if (p->request == requests[i])
                count_message(p->fn, p->to, p->bytes, times); /* a neighbourhood collective has several */
    pthread_mutex_unlock(&prepared_lock);
}

void prof_forget(MPI_Request request)
{
    pthread_mutex_lock(&prepared_lock);
    for (struct prepared **at = &prepared; *at;) {
        struct prepared *p = *at;
        if (p->request != request) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        free(p);
    }
    pthread_mutex_unlock(&prepared_lock);
}

/* ---- neighbourhoods ------------------------------------------------------------------------------------------------------------------ */
/* Whom this rank sends to, in the order of the parts; in *list_out, which the caller frees. */
static int cart_neighbors(MPI_Comm comm, int **list_out)
{
    int dims = 0;
    PMPI_Cartdim_get(comm, &dims);
    *list_out = malloc(sizeof **list_out * (size_t)(2 * dims + 1));
    if (!*list_out) return 0;
    for (int d = 0; d < dims; d++) PMPI_Cart_shift(comm, d, 1, &(*list_out)[2 * d], &(*list_out)[2 * d + 1]);
    return 2 * dims;
}

static int graph_neighbors(MPI_Comm comm, int **list_out)
{
    int rank, n = 0;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Graph_neighbors_count(comm, rank, &n);
    *list_out = malloc(sizeof **list_out * (size_t)(n + 1));
    if (!*list_out) return 0;
    PMPI_Graph_neighbors(comm, rank, n, *list_out);
    return n;
}

static int dist_graph_neighbors(MPI_Comm comm, int **list_out)
{
    int in = 0, out = 0, weighted;
    PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    int *list = malloc(sizeof *list * (size_t)(2 * in + 2 * out + 1));
    *list_out = list;
    if (!list) return 0;
    PMPI_Dist_graph_neighbors(comm, in, list + out, list + out + in, out, list, weighted ? list + out + 2 * in : MPI_UNWEIGHTED);
    return out;
}

static int neighbors(MPI_Comm comm, int **list_out)
{
    int kind = MPI_UNDEFINED;
    *list_out = NULL;
    PMPI_Topo_test(comm, &kind);
    return kind == MPI_CART      ? cart_neighbors(comm, list_out)
        : kind == MPI_GRAPH      ? graph_neighbors(comm, list_out)
        : kind == MPI_DIST_GRAPH ? dist_graph_neighbors(comm, list_out)
                                 : 0;
}

static uint64_t part_bytes(const struct prof_parts *p, int i)
{
    MPI_Count n = p->count;
    if (p->counts) n = p->wide ? ((const MPI_Count *)p->counts)[i] : ((const int *)p->counts)[i];
    return bytes_of(n, p->types ? p->types[i] : p->type);
}

void prof_spread(struct prof_call *c, int rc, const struct prof_parts *parts, MPI_Comm comm, const MPI_Request *request)
{
    int *list;
    uint64_t times = request || rc != MPI_SUCCESS ? 1 : prof_weight();
    if (rc != MPI_SUCCESS || !times) return;
    int n = neighbors(comm, &list);
    for (int i = 0; i < n; i++) {
        if (list[i] == MPI_PROC_NULL) continue;
        uint64_t bytes = part_bytes(parts, i);
        int to = world_rank(list[i], comm);
        if (request)
            prepare(*request, c->fn, to, bytes);
        else
            count_message(c->fn, to, bytes, times);
    }
    free(list);
}

/* ---- begin and end --------------------------------------------------------------------------------------------------------------------- */
static bool was_begun, is_over, in_mpi;

bool prof_is_over(void) { return is_over; }
bool prof_in_mpi(void) { return in_mpi; }

void prof_start(void)
{
    const char *sync = secure_getenv("GODWIT_PROFILE_SYNC"), *how = secure_getenv("GODWIT_PROFILE_HOW");
    if (was_begun) return;
    was_begun = true;
    prof_samples = how && strcmp(how, "sample") == 0;
    meets = !sync || !(strcmp(sync, "0") == 0 || strcmp(sync, "off") == 0 || strcmp(sync, "false") == 0);
    PMPI_Comm_rank(tools_world, &prof_own.rank);
    PMPI_Comm_size(tools_world, &prof_own.ranks);
    if (prof_own.rank == 0) tools_next_say("profile");
    size_t n = (size_t)prof_own.ranks;
    prof_own.sent = calloc(n * 5, sizeof *prof_own.sent);
    if (!prof_own.sent) {
        fprintf(stderr, "godwit profile: no memory to count the messages to %d ranks: no profile\n", prof_own.ranks);
        return;
    }
    prof_own.got = prof_own.sent + n, prof_own.put = prof_own.got + n;
    prof_own.fetched = prof_own.put + n, prof_own.accesses = prof_own.fetched + n;
    prof_trace_begin();
    prof_sample_start(); /* what that costs is no part of the program's time, nor is its end */
    PMPI_Barrier(tools_world);
    begin_ns = now_ns();
    prof_own.begin = prof_ticks();
    prof_on = true;
    prof_sample_pause(0);
    prof_steps_begin();
}

void prof_stop(void)
{
    if (!prof_own.sent) return;
    prof_on = false;
    prof_own.ticks = prof_ticks() - prof_own.begin;
    uint64_t ns = now_ns() - begin_ns;
    prof_sample_stop();
    prof_own.ticks_per_s = ns ? (double)prof_own.ticks / (double)ns * 1e9 : 1e9;
    prof_report();
    while (prepared) prof_forget(prepared->request);
    free((void *)prof_own.sent);
    prof_own.sent = NULL;
    is_over = true;
}

static int mpi_started(int rc)
{
    if (rc != MPI_SUCCESS) return rc;
    in_mpi = true;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_list, &keyval, NULL);
    PMPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, free_win_list, &win_keyval, NULL);
    prof_start();
    return rc;
}

int MPI_Init(int *argc, char ***argv) { return mpi_started(NEXT(Init)(argc, argv)); }
int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    return mpi_started(NEXT(Init_thread)(argc, argv, required, provided));
}
int MPI_Finalize(void)
{
    if (in_mpi) {
        in_mpi = false;
        if (!tools_in_shmem()) prof_last_end();
        PMPI_Comm_free_keyval(&keyval);
        PMPI_Win_free_keyval(&win_keyval);
    }
    return NEXT(Finalize)();
}
/* Where MPI was never initialized here, by whose doing. */
__attribute__((destructor)) static void unmet(void)
{
    if (getenv("GODWIT_PROFILE") && !was_begun) tools_unmet_say("profile");
}

void prof_control(int level)
{
    if (!prof_own.sent) return;
    bool was_on = atomic_exchange_explicit(&prof_on, level > 0, memory_order_relaxed);
    if (level > 0 && !was_on) prof_steps_begin(); /* what passed meanwhile is of no step */
    prof_sample_pause(level <= 0);
}

int MPI_Pcontrol(const int level, ...)
{
    prof_control(level);
    return MPI_SUCCESS;
}
