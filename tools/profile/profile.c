/* profile.c -- counts calls, time and bytes.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "profile.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct prof_own prof_own;
static _Atomic bool is_on;
static bool meets = true;
static uint64_t begin_ticks, begin_ns;
static int keyval = MPI_KEYVAL_INVALID;

static inline uint64_t ticks(void)
{
#if defined __x86_64__
    return __builtin_ia32_rdtsc();
#elif defined __aarch64__
    uint64_t t;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
    return t;
#else
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
#endif
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static inline void add(_Atomic uint64_t *to, uint64_t n) { atomic_fetch_add_explicit(to, n, memory_order_relaxed); }
static inline bool on(void) { return atomic_load_explicit(&is_on, memory_order_relaxed); }

void prof_enter(struct prof_call *c, int fn)
{
    c->fn = fn;
    c->at = ticks();
}

void prof_leave(struct prof_call *c)
{
    if (!on()) return;
    add(&prof_sums[c->fn].ticks, ticks() - c->at);
    add(&prof_sums[c->fn].calls, 1);
}

void prof_met(struct prof_call *c)
{
    if (!on()) return;
    add(&prof_sums[c->fn].meet_ticks, ticks() - c->at);
    add(&prof_sums[c->fn].meets, 1);
}

void prof_meet(int fn, MPI_Comm comm)
{
    int inter = 1;
    /* Members of an intercommunicator cannot meet by a barrier of their own group alone; MPI reports a bad communicator itself. */
    if (!meets || !on() || comm == MPI_COMM_NULL) return;
    if (comm != MPI_COMM_WORLD && (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter)) return;
    uint64_t at = ticks();
    PMPI_Barrier(comm);
    add(&prof_sums[fn].meet_ticks, ticks() - at);
    add(&prof_sums[fn].meets, 1);
}

/* ---- bytes ------------------------------------------------------------------------------------------------------------------------ */
static uint64_t bytes_of(MPI_Count count, MPI_Datatype type)
{
    MPI_Count size = 0;
    if (count <= 0 || type == MPI_DATATYPE_NULL || PMPI_Type_size_c(type, &size) != MPI_SUCCESS || size < 0) return 0;
    return (uint64_t)count * (uint64_t)size;
}

/* The ranks in MPI_COMM_WORLD of those whom ranks of this communicator mean, kept with it. */
static const int *world_ranks(MPI_Comm comm)
{
    int found = 0, inter = 0, n = 0;
    int *list = NULL;
    MPI_Group group, world;
    if (PMPI_Comm_get_attr(comm, keyval, &list, &found) == MPI_SUCCESS && found) return list;
    PMPI_Comm_test_inter(comm, &inter);
    if ((inter ? PMPI_Comm_remote_group(comm, &group) : PMPI_Comm_group(comm, &group)) != MPI_SUCCESS) return NULL;
    PMPI_Group_size(group, &n);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    list = malloc(2 * sizeof *list * (size_t)(n > 0 ? n : 1));
    if (list) {
        for (int i = 0; i < n; i++) list[n + i] = i;
        PMPI_Group_translate_ranks(group, n, list + n, world, list);
        PMPI_Comm_set_attr(comm, keyval, list);
    }
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    return list;
}

static int free_list(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)extra;
    free(value);
    return MPI_SUCCESS;
}

static int world_rank(int dest, MPI_Comm comm)
{
    if (dest < 0 || comm == MPI_COMM_WORLD) return dest;
    const int *list = world_ranks(comm);
    return list ? list[dest] : -1;
}

static void count_message(int to, uint64_t bytes)
{
    int bin = bytes ? 64 - __builtin_clzll(bytes) : 0;
    add(&prof_own.bins[bin < PROF_BINS ? bin : PROF_BINS - 1], 1);
    if (to >= 0 && to < prof_own.ranks) add(&prof_own.sent[to], bytes);
}

void prof_moved(struct prof_call *c, MPI_Count count, MPI_Datatype type)
{
    if (on()) add(&prof_sums[c->fn].bytes, bytes_of(count, type));
}

void prof_sent(struct prof_call *c, MPI_Count count, MPI_Datatype type, int dest, MPI_Comm comm)
{
    if (!on() || dest == MPI_PROC_NULL) return;
    uint64_t bytes = bytes_of(count, type);
    add(&prof_sums[c->fn].bytes, bytes);
    count_message(world_rank(dest, comm), bytes);
}

/* ---- persistent sends ---------------------------------------------------------------------------------------------------------------- */
static struct prepared {
    struct prepared *next;
    MPI_Request request;
    int fn, to;
    uint64_t bytes;
} * prepared;
static pthread_mutex_t prepared_lock = PTHREAD_MUTEX_INITIALIZER;

void prof_prepared(struct prof_call *c, int rc, const MPI_Request *request, MPI_Count count, MPI_Datatype type, int dest,
                   MPI_Comm comm)
{
    struct prepared *p = rc == MPI_SUCCESS && dest != MPI_PROC_NULL ? malloc(sizeof *p) : NULL;
    if (!p) return;
    *p = (struct prepared){NULL, *request, c->fn, world_rank(dest, comm), bytes_of(count, type)};
    pthread_mutex_lock(&prepared_lock);
    p->next = prepared;
    prepared = p;
    pthread_mutex_unlock(&prepared_lock);
}

void prof_started(int n, const MPI_Request *requests)
{
    if (!on() || !prepared) return;
    pthread_mutex_lock(&prepared_lock);
    for (int i = 0; i < n; i++)
        for (struct prepared *p = prepared; p; p = p->next)
            if (p->request == requests[i]) {
                add(&prof_sums[p->fn].bytes, p->bytes);
                count_message(p->to, p->bytes);
                break;
            }
    pthread_mutex_unlock(&prepared_lock);
}

void prof_forget(MPI_Request request)
{
    pthread_mutex_lock(&prepared_lock);
    for (struct prepared **at = &prepared; *at; at = &(*at)->next)
        if ((*at)->request == request) {
            struct prepared *p = *at;
            *at = p->next;
            free(p);
            break;
        }
    pthread_mutex_unlock(&prepared_lock);
}

/* ---- begin and end --------------------------------------------------------------------------------------------------------------------- */
static int start(int rc)
{
    const char *sync = getenv("GODWIT_PROFILE_SYNC");
    if (rc != MPI_SUCCESS) return rc;
    meets = !sync || !(strcmp(sync, "0") == 0 || strcmp(sync, "off") == 0 || strcmp(sync, "false") == 0);
    PMPI_Comm_rank(MPI_COMM_WORLD, &prof_own.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &prof_own.ranks);
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_list, &keyval, NULL);
    prof_own.sent = calloc((size_t)prof_own.ranks, sizeof *prof_own.sent);
    if (!prof_own.sent) {
        fprintf(stderr, "godwit profile: no memory to count the messages to %d ranks: no profile\n", prof_own.ranks);
        return rc;
    }
    PMPI_Barrier(MPI_COMM_WORLD);
    begin_ns = now_ns();
    begin_ticks = ticks();
    is_on = true;
    return rc;
}

static void stop(void)
{
    is_on = false;
    prof_own.ticks = ticks() - begin_ticks;
    uint64_t ns = now_ns() - begin_ns;
    prof_own.ticks_per_s = ns ? (double)prof_own.ticks / (double)ns * 1e9 : 1e9;
    prof_report();
    PMPI_Comm_free_keyval(&keyval);
    while (prepared) prof_forget(prepared->request);
    free((void *)prof_own.sent);
    prof_own.sent = NULL;
}

int MPI_Init(int *argc, char ***argv) { return start(PMPI_Init(argc, argv)); }
int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    return start(PMPI_Init_thread(argc, argv, required, provided));
}
int MPI_Finalize(void)
{
    if (prof_own.sent) stop();
    return PMPI_Finalize();
}
int MPI_Pcontrol(const int level, ...)
{
    if (prof_own.sent) is_on = level > 0;
    return MPI_SUCCESS;
}
