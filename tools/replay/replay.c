/* replay.c -- begin and end of recording and replaying; the requests that they must know.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "replay.h"
#include "base/file.h"
#include "base/plain.h"
#include "base/progress.h"
#include "../next/next.h"
#include "../next/next_shmem.h"
#include "../next/world.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct replay replay;
static pthread_mutex_t guard = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static const char *folder;
static bool is_begun, is_over, in_mpi;

void replay_threads_lock(void) { pthread_mutex_lock(&guard); }
void replay_threads_unlock(void) { pthread_mutex_unlock(&guard); }

void replay_said_no(void)
{
    replay_lock();
    replay.noes++;
    replay_unlock();
}

static void mode_set(enum replay_mode mode)
{
    atomic_store_explicit(&replay.mode, mode, memory_order_relaxed);
    atomic_store_explicit(&replay.is_quick, mode == REPLAY_RECORDING && !replay.has_threads, memory_order_relaxed);
}

static void unmet_post(void);
void replay_departs(const char *fmt, ...)
{
    char text[400];
    va_list more;
    replay_lock();
    enum replay_mode was = atomic_load_explicit(&replay.mode, memory_order_relaxed);
    mode_set(REPLAY_OFF);
    if (was == REPLAY_REPLAYING) unmet_post();
    replay_unlock();
    if (was == REPLAY_OFF) return;
    va_start(more, fmt);
    vsnprintf(text, sizeof text, fmt, more);
    va_end(more);
    gw_print(stderr, "godwit %s: rank %d: %s. The rank goes on without the record.\n",
             was == REPLAY_RECORDING ? "record" : "replay", replay.rank, text);
}

/* ---- requests ------------------------------------------------------------------------------------------------------------------ */
enum { BUCKETS = 1024 };
struct replay_light replay_lights[REPLAY_LIGHTS] = {{(MPI_Request)(intptr_t)-1, 0}};
int replay_n_lights;
_Atomic int replay_n_requests;
_Atomic int replay_n_freed;
static struct replay_request *requests[BUCKETS], *unused, *freed; /* unused: kept for the next */
static MPI_Comm nobody = MPI_COMM_NULL;

/* With replay_lock(). */
static void add(_Atomic int *n, int more)
{
    atomic_store_explicit(n, atomic_load_explicit(n, memory_order_relaxed) + more, memory_order_relaxed);
}

static struct replay_request **bucket(MPI_Request q)
{
    return &requests[((uint64_t)(uintptr_t)q * 0x9e3779b97f4a7c15u >> 40) % BUCKETS];
}

struct replay_request *replay_request_add(MPI_Request request)
{
    replay_lock();
    struct replay_request *r = unused;
    if (r) {
        unused = r->next;
    } else if (!(r = malloc(sizeof *r))) {
        replay_unlock();
        replay_departs("there is no memory for a receive that is under way");
        return NULL;
    }
    *r = (struct replay_request){.next = *bucket(request), .request = request, .hidden = MPI_REQUEST_NULL};
    *bucket(request) = r;
    add(&replay_n_requests, 1);
    replay_unlock();
    return r;
}

struct replay_request *replay_request_light(MPI_Request q, uint64_t receive)
{
    struct replay_request *r = replay_request_add(q);
    if (r) r->number = receive >> 1, r->is_any = receive & 1;
    return r;
}

static struct replay_request *light_found(struct replay_light *l)
{
    struct replay_request *r = replay_request_light(l->request, l->receive);
    l->request = NULL;
    replay_n_lights--;
    return r;
}

struct replay_request *replay_request_find(MPI_Request request)
{
    struct replay_light *l = replay_n_lights ? replay_light_at(request) : NULL;
    if (l && l->request == request) return light_found(l);
    replay_lock();
    struct replay_request *r = *bucket(request);
    while (r && r->request != request) r = r->next;
    replay_unlock();
    return r;
}

/* ---- communicators that receives which are posted later need, and that the program has freed ---- */
static struct held {
    struct held *next;
    MPI_Comm comm;
} * held;

static bool is_needed(MPI_Comm comm)
{
    for (int i = 0; i < BUCKETS; i++)
        for (const struct replay_request *r = requests[i]; r; r = r->next)
            if (r->has_args && r->comm == comm) return true;
    return false;
}

/* One receive less needs its communicator. */
static void comm_unheld(const struct replay_request *r)
{
    for (struct held **at = &held; *at; at = &(*at)->next) {
        struct held *h = *at;
        if (h->comm != r->comm || is_needed(h->comm)) continue;
        *at = h->next;
        PMPI_Comm_free(&h->comm);
        free(h);
        return;
    }
}

int MPI_Comm_free(MPI_Comm *comm)
{
    replay_lock();
    struct held *h = replay_is(REPLAY_REPLAYING) && is_needed(*comm) ? malloc(sizeof *h) : NULL;
    if (h) {
        *h = (struct held){held, *comm};
        held = h;
    }
    replay_unlock();
    if (!h) return NEXT(Comm_free)(comm);
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

/* With replay_lock(). */
static void request_unlink(const struct replay_request *r)
{
    struct replay_request **at = bucket(r->request);
    while (*at && *at != r) at = &(*at)->next;
    if (!*at) return;
    *at = r->next;
    add(&replay_n_requests, -1);
}

void replay_request_drop(struct replay_request *r)
{
    replay_lock();
    request_unlink(r);
    if (r->has_args) PMPI_Type_free(&r->type);
    if (r->has_args) comm_unheld(r);
    r->next = unused;
    unused = r;
    replay_unlock();
}

void replay_request_keep(struct replay_request *r, void *buf, MPI_Count count, MPI_Datatype type, int source, int tag,
                         MPI_Comm comm)
{
    r->buf = buf, r->count = count, r->source = source, r->tag = tag, r->comm = comm;
    if (PMPI_Type_contiguous(1, type, &r->type) != MPI_SUCCESS || PMPI_Type_commit(&r->type) != MPI_SUCCESS)
        PMPI_Abort(MPI_COMM_WORLD, 1); /* of a type that the library has just taken */
    r->has_args = true;
}

MPI_Comm replay_nobody(void)
{
    replay_lock();
    if (nobody == MPI_COMM_NULL) PMPI_Comm_dup(MPI_COMM_SELF, &nobody);
    replay_unlock();
    return nobody;
}

int replay_request_strand(struct replay_request *r)
{
    r->is_unmet = true;
    return PMPI_Irecv_c(r->buf, r->count, r->type, 0, 0, replay_nobody(), &r->hidden);
}

static struct apart {
    struct apart *next;
    MPI_Request request;
    char data[];
} * sent_apart;

int replay_send_apart(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    MPI_Count cap = 0, n = 0;
    int rc = PMPI_Pack_size_c(count, type, comm, &cap);
    if (rc != MPI_SUCCESS) return rc;
    struct apart *a = malloc(sizeof *a + (size_t)cap);
    if (!a) abort(); /* the others wait for the message */
    rc = PMPI_Pack_c(buf, count, type, a->data, cap, &n, comm);
    if (rc == MPI_SUCCESS) rc = PMPI_Isend_c(a->data, n, MPI_PACKED, dest, tag, comm, &a->request);
    if (rc != MPI_SUCCESS) {
        free(a);
        return rc;
    }
    replay_lock();
    a->next = sent_apart;
    sent_apart = a;
    replay_unlock();
    return MPI_SUCCESS;
}

/* The stranded one that was made first. */
static struct replay_request *unmet_first(void)
{
    struct replay_request *first = NULL;
    for (int i = 0; i < BUCKETS; i++)
        for (struct replay_request *r = requests[i]; r; r = r->next)
            if (r->is_unmet && !r->is_cancelled && (!first || r->number < first->number)) first = r;
    return first;
}

/* The rank goes its own way: stranded receives are posted in the order in which it made them. */
static void unmet_post(void)
{
    struct replay_request *r;
    while ((r = unmet_first())) {
        r->is_unmet = false;
        PMPI_Cancel(&r->hidden);
        PMPI_Wait(&r->hidden, MPI_STATUS_IGNORE);
        PMPI_Irecv_c(r->buf, r->count, r->type, r->source, r->tag, r->comm, &r->hidden);
    }
}

void replay_request_took(struct replay_request *r, const MPI_Status *s)
{
    int was_cancelled = 0;
    if (!r->number || !replay_is(REPLAY_RECORDING)) return;
    if (r->is_cancelled) PMPI_Test_cancelled(s, &was_cancelled);
    replay_lock();
    if (was_cancelled)
        replay_took(r->number, REPLAY_CANCELLED, 0);
    else if (r->is_any && s->MPI_SOURCE >= 0)
        replay_took(r->number, s->MPI_SOURCE, s->MPI_TAG);
    else if (r->is_cancelled)
        replay_took(r->number, REPLAY_KEPT, 0);
    replay_unlock();
}

void replay_freed_look(bool is_last)
{
    replay_lock();
    for (struct replay_request **at = &freed, *r = *at; r; r = *at) {
        MPI_Status s;
        int flag = 0;
        s.MPI_SOURCE = MPI_ANY_SOURCE;
        PMPI_Test(&r->request, &flag, &s);
        if (flag) replay_request_took(r, &s);
        if (!flag && !is_last) {
            at = &r->next;
            continue;
        }
        if (r->request != MPI_REQUEST_NULL) PMPI_Request_free(&r->request);
        *at = r->next;
        free(r);
        add(&replay_n_freed, -1);
    }
    replay_unlock();
}

void replay_request_freed(struct replay_request *r)
{
    replay_lock();
    request_unlink(r);
    r->next = freed;
    freed = r;
    add(&replay_n_freed, 1);
    replay_unlock();
}

/* What is left at the end: stranded receives, and what stands for them. */
static void requests_free(void)
{
    for (int i = 0; i < BUCKETS; i++)
        while (requests[i]) {
            struct replay_request *r = requests[i];
            if (r->is_unmet && r->hidden != MPI_REQUEST_NULL) {
                PMPI_Cancel(&r->hidden);
                PMPI_Wait(&r->hidden, MPI_STATUS_IGNORE);
            }
            replay_request_drop(r);
        }
    while (sent_apart) {
        struct apart *a = sent_apart;
        sent_apart = a->next;
        PMPI_Wait(&a->request, MPI_STATUS_IGNORE); /* as MPI_Finalize would */
        free(a);
    }
    if (nobody != MPI_COMM_NULL) PMPI_Comm_free(&nobody);
}

/* ---- begin and end ------------------------------------------------------------------------------------------------------------- */
static const char *file_of_rank(char *to, size_t cap)
{
    snprintf(to, cap, "%s/rank.%d", folder, replay.rank);
    return to;
}

static void record_begin(void)
{
    char path[PATH_MAX];
    int err = replay_file_create(file_of_rank(path, sizeof path));
    if (err)
        gw_print(stderr, "godwit record: rank %d: cannot write %s/rank.%d: %s; nothing is recorded\n", replay.rank, folder,
                 replay.rank, gw_file_why(err));
    else
        mode_set(REPLAY_RECORDING);
}

static struct gw_progress progress;
void replay_how_far(uint64_t number)
{
    enum { EACH = 64 }; /* receives for a look at the clock */
    if (replay.rank != 0 || number % EACH != 0) return;
    if (replay_is_whole())
        gw_progress_at(&progress, "godwit replay: rank 0 is at receive %llu of %llu", (unsigned long long)number,
                       (unsigned long long)replay_recorded_receives());
    else
        gw_progress_at(&progress, "godwit replay: rank 0 is at receive %llu", (unsigned long long)number);
}

/* Records that were not closed, with what of them nobody can check: said by rank 0 for all, at most a few by name. */
static void say_unsummed(void)
{
    enum { NAMED = 4 };
    uint64_t mine[2], *all = replay.rank == 0 ? calloc((size_t)replay.ranks, sizeof mine) : NULL;
    int n = 0;
    replay_unsummed(mine);
    PMPI_Gather(mine, 2, MPI_UINT64_T, all, 2, MPI_UINT64_T, 0, tools_world);
    for (int i = 0; all && i < replay.ranks; i++) {
        unsigned long long from = all[2 * i], to = all[2 * i + 1];
        if (from == to || ++n > NAMED) continue;
        gw_print(
            stderr,
            "godwit replay: %s/rank.%d was not closed, as its process was killed: its bytes from %llu to %llu have no checksum; "
            "they are repeated as they stand\n",
            folder, i, from, to);
    }
    if (n > NAMED) gw_print(stderr, "godwit replay: so it is with the ends of %d more records of %s\n", n - NAMED, folder);
    free(all);
}

/* A rank without a record ends the job: a replay in which some ranks run freely would repeat nothing. */
static void replay_begin(void)
{
    char path[PATH_MAX];
    const char *why = replay_file_open(file_of_rank(path, sizeof path));
    if (why) {
        gw_print(stderr, "godwit replay: rank %d: cannot use %s: %s\n", replay.rank, path, why);
        PMPI_Abort(tools_world, 1);
    }
    say_unsummed();
    gw_progress_begin(&progress, secure_getenv("GODWIT_QUIET") != NULL);
    mode_set(REPLAY_REPLAYING);
}

/* Types and constants of another library's programs are not ours.  mpiexec knows the program's file; here are those that scripts start. */
static void refuse_others(void)
{
    static const char *const theirs[] = {"libmpich.so", "libmpi.so", "libopen-rte", "libmpi_mpifh"};
    Dl_info of;
    void *init = dlsym(RTLD_DEFAULT, "PMPI_Init");
    const char *name = init && dladdr(init, &of) && of.dli_fname ? strrchr(of.dli_fname, '/') : NULL;
    for (size_t i = 0; name && i < sizeof theirs / sizeof *theirs; i++)
        if (strncmp(name + 1, theirs[i], strlen(theirs[i])) == 0) {
            gw_print(
                stderr,
                "godwit %s: it is for programs of the standard ABI, and this one runs on %s: compile it with mpicc of Godwit, or "
                "leave the option out\n",
                secure_getenv("GODWIT_RECORD") ? "record" : "replay", name + 1);
            _exit(1);
        }
}

bool replay_is_wanted(void) { return secure_getenv("GODWIT_RECORD") || secure_getenv("GODWIT_REPLAY"); }

bool replay_in_mpi(void) { return in_mpi; }

void replay_begin_as(int rank, int ranks, bool has_threads)
{
    const char *record = secure_getenv("GODWIT_RECORD"), *again = secure_getenv("GODWIT_REPLAY");
    if (is_begun && has_threads) { /* the second of the two says so */
        replay.has_threads = true;
        mode_set(atomic_load_explicit(&replay.mode, memory_order_relaxed));
    }
    if (is_begun || !(folder = record ? record : again)) return;
    is_begun = true;
    replay.rank = rank;
    replay.ranks = ranks;
    if (replay.rank == 0) tools_next_say(record ? "record" : "replay");
    replay.has_threads = has_threads;
    replay.may_cancel = again || replay_is_called("MPI_Cancel");
    if (replay.has_threads && replay.rank == 0)
        gw_print(
            stderr,
            "godwit %s: the program asks for %s_THREAD_MULTIPLE; calls of several threads at once have no order that is kept\n",
            record ? "record" : "replay", in_mpi ? "MPI" : "SHMEM");
    if (record)
        record_begin();
    else
        replay_begin();
}

static int begin(int rc, int provided)
{
    const char *record = secure_getenv("GODWIT_RECORD");
    MPI_Comm parent = MPI_COMM_NULL;
    int rank, ranks;
    if (rc != MPI_SUCCESS || !replay_is_wanted()) return rc;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    PMPI_Comm_get_parent(&parent);
    in_mpi = true;
    if (parent == MPI_COMM_NULL) { /* the files of spawned ranks would have the names of ours */
        replay_begin_as(rank, ranks, provided == MPI_THREAD_MULTIPLE);
    } else {
        is_begun = true;
        if (rank == 0) gw_print(stderr, "godwit %s: spawned ranks run without a record\n", record ? "record" : "replay");
    }
    return rc;
}

static void say_sums(bool was_recording, uint64_t n_bytes, bool is_repeated)
{
    uint64_t mine[4] = {replay.n_takes, replay.n_calls, n_bytes, is_repeated}, sum[4] = {0};
    PMPI_Reduce(mine, sum, 4, MPI_UINT64_T, MPI_SUM, 0, tools_world);
    if (replay.rank != 0) return;
    if (was_recording)
        gw_print(stderr, "godwit record: %llu receives of any message, %llu tests, probes and waits: %llu bytes in %s\n",
                 (unsigned long long)sum[0], (unsigned long long)sum[1], (unsigned long long)sum[2], folder);
    else if (sum[3] == (uint64_t)replay.ranks)
        gw_print(stderr, "godwit replay: %llu receives of any message, %llu tests, probes and waits were repeated from %s\n",
                 (unsigned long long)sum[0], (unsigned long long)sum[1], folder);
    else
        gw_print(stderr, "godwit replay: %llu of %d ranks repeated %s to its end\n", (unsigned long long)sum[3], replay.ranks,
                 folder);
}

void replay_end(void)
{
    if (!folder || is_over) return;
    is_over = true;
    gw_progress_end(&progress);
    replay_freed_look(true);
    bool was_recording = replay_is(REPLAY_RECORDING), was_replaying = replay_is(REPLAY_REPLAYING);
    uint64_t n_bytes = 0;
    if (was_recording) n_bytes = replay_file_close(true);
    if (was_replaying && replay_is_whole() && replay.receives != replay_recorded_receives())
        replay_departs("the recorded run made %llu receives, this one %llu", (unsigned long long)replay_recorded_receives(),
                       (unsigned long long)replay.receives);
    else if (was_replaying && replay_has_calls())
        replay_departs("the recorded run had more tests, probes and waits than this one, which had %llu",
                       (unsigned long long)replay.n_calls);
    was_replaying = replay_is(REPLAY_REPLAYING);
    mode_set(REPLAY_OFF);
    requests_free();
    while (unused) {
        struct replay_request *next = unused->next;
        free(unused);
        unused = next;
    }
    say_sums(was_recording || secure_getenv("GODWIT_RECORD"), n_bytes, was_replaying);
    tools_world_end();
}

int MPI_Init(int *argc, char ***argv)
{
    if (replay_is_wanted()) refuse_others();
    return begin(NEXT(Init)(argc, argv), MPI_THREAD_SINGLE);
}
int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    if (replay_is_wanted()) refuse_others();
    int rc = NEXT(Init_thread)(argc, argv, required, provided);
    return begin(rc, rc == MPI_SUCCESS ? *provided : 0);
}
/* A program of sessions alone has no numbers that all its ranks know. */
int MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session)
{
    static bool is_said;
    if (replay_is_wanted()) refuse_others();
    int rc = NEXT(Session_init)(info, errhandler, session);
    const char *rank = getenv("GODWIT_RANK");
    if (rc == MPI_SUCCESS && replay_is_wanted() && !is_begun && !is_said && (!rank || strcmp(rank, "0") == 0)) {
        is_said = true;
        gw_print(stderr, "godwit %s: the program has begun with a session: nothing is %s unless it calls MPI_Init\n",
                 secure_getenv("GODWIT_RECORD") ? "record" : "replay", secure_getenv("GODWIT_RECORD") ? "recorded" : "repeated");
    }
    return rc;
}

int MPI_Finalize(void)
{
    if (folder && in_mpi && !tools_in_shmem()) replay_end();
    if (folder && in_mpi && tools_in_shmem()) { /* what is MPI's of it ends here */
        replay_freed_look(true);
        requests_free();
    }
    in_mpi = false;
    return NEXT(Finalize)();
}

/* Where MPI was never initialized here, by whose doing. */
__attribute__((destructor)) static void unmet(void)
{
    if (replay_is_wanted() && !is_begun) tools_unmet_say(getenv("GODWIT_RECORD") ? "record" : "replay");
}
