/* replay.c -- begin and end of recording and replaying; the requests that they must know.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "replay.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct replay replay;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static const char *folder;

void replay_lock(void)
{
    if (replay.has_threads) pthread_mutex_lock(&guard);
}
void replay_unlock(void)
{
    if (replay.has_threads) pthread_mutex_unlock(&guard);
}

void replay_departs(const char *fmt, ...)
{
    char text[400];
    va_list more;
    if (replay.mode == REPLAY_OFF) return;
    bool was_recording = replay.mode == REPLAY_RECORDING;
    replay.mode = REPLAY_OFF;
    va_start(more, fmt);
    vsnprintf(text, sizeof text, fmt, more);
    va_end(more);
    fprintf(stderr, "godwit %s: rank %d: %s. The rank goes on without the record.\n", was_recording ? "record" : "replay",
            replay.rank, text);
}

/* ---- requests ------------------------------------------------------------------------------------------------------------------ */
enum { BUCKETS = 1024 };
int replay_n_requests;
static struct replay_request *requests[BUCKETS], *unused; /* unused: kept for the next */

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
    r->number = 0;
    r->is_prepared = r->is_cancelled = false;
    r->request = request;
    r->hidden = MPI_REQUEST_NULL;
    r->next = *bucket(request);
    *bucket(request) = r;
    replay_n_requests++;
    replay_unlock();
    return r;
}

struct replay_request *replay_request_find(MPI_Request request)
{
    replay_lock();
    struct replay_request *r = *bucket(request);
    while (r && r->request != request) r = r->next;
    replay_unlock();
    return r;
}

void replay_request_drop(struct replay_request *r)
{
    replay_lock();
    for (struct replay_request **at = bucket(r->request); *at; at = &(*at)->next)
        if (*at == r) {
            *at = r->next;
            replay_n_requests--;
            break;
        }
    r->next = unused;
    unused = r;
    replay_unlock();
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
    int err = mkdir(folder, 0777) != 0 && errno != EEXIST ? errno : replay_file_create(file_of_rank(path, sizeof path));
    if (err)
        fprintf(stderr, "godwit record: rank %d: cannot write %s/rank.%d: %s; nothing is recorded\n", replay.rank, folder,
                replay.rank, strerror(err));
    else
        replay.mode = REPLAY_RECORDING;
}

/* A rank without a record ends the job: a replay in which some ranks run freely would repeat nothing. */
static void replay_begin(void)
{
    char path[PATH_MAX];
    const char *why = replay_file_open(file_of_rank(path, sizeof path));
    if (why) {
        fprintf(stderr, "godwit replay: rank %d: cannot use %s: %s\n", replay.rank, path, why);
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    replay.mode = REPLAY_REPLAYING;
}

static int begin(int rc, int provided)
{
    const char *record = getenv("GODWIT_RECORD"), *again = getenv("GODWIT_REPLAY");
    MPI_Comm parent = MPI_COMM_NULL;
    folder = record ? record : again;
    if (rc != MPI_SUCCESS || !folder) return rc;
    PMPI_Comm_rank(MPI_COMM_WORLD, &replay.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &replay.ranks);
    PMPI_Comm_get_parent(&parent);
    replay.has_threads = provided == MPI_THREAD_MULTIPLE;
    if (parent != MPI_COMM_NULL) { /* its files would have the names of ours */
        if (replay.rank == 0) fprintf(stderr, "godwit %s: spawned ranks run without a record\n", record ? "record" : "replay");
        return rc;
    }
    if (replay.has_threads && replay.rank == 0)
        fprintf(
            stderr,
            "godwit %s: the program asks for MPI_THREAD_MULTIPLE; calls of several threads at once have no order that is kept\n",
            record ? "record" : "replay");
    if (record)
        record_begin();
    else
        replay_begin();
    return rc;
}

static void say_sums(bool was_recording, uint64_t n_bytes, bool is_repeated)
{
    uint64_t mine[4] = {replay.n_takes, replay.n_calls, n_bytes, is_repeated}, sum[4] = {0};
    PMPI_Reduce(mine, sum, 4, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (replay.rank != 0) return;
    if (was_recording)
        fprintf(stderr, "godwit record: %llu receives of any message, %llu tests, probes and waits: %llu bytes in %s\n",
                (unsigned long long)sum[0], (unsigned long long)sum[1], (unsigned long long)sum[2], folder);
    else if (sum[3] == (uint64_t)replay.ranks)
        fprintf(stderr, "godwit replay: %llu receives of any message, %llu tests, probes and waits were repeated from %s\n",
                (unsigned long long)sum[0], (unsigned long long)sum[1], folder);
    else
        fprintf(stderr, "godwit replay: %llu of %d ranks repeated %s to its end\n", (unsigned long long)sum[3], replay.ranks,
                folder);
}

static void end(void)
{
    while (unused) {
        struct replay_request *next = unused->next;
        free(unused);
        unused = next;
    }
    bool was_recording = replay.mode == REPLAY_RECORDING, was_replaying = replay.mode == REPLAY_REPLAYING;
    uint64_t n_bytes = 0;
    if (!folder || (!getenv("GODWIT_RECORD") && !getenv("GODWIT_REPLAY"))) return;
    if (was_recording) n_bytes = replay_file_close(true);
    if (was_replaying && replay_is_whole() && replay.receives != replay_recorded_receives())
        replay_departs("the recorded run made %llu receives, this one %llu", (unsigned long long)replay_recorded_receives(),
                       (unsigned long long)replay.receives);
    else if (was_replaying && replay_has_calls())
        replay_departs("the recorded run had more tests, probes and waits than this one, which had %llu",
                       (unsigned long long)replay.n_calls);
    was_replaying = replay.mode == REPLAY_REPLAYING;
    replay.mode = REPLAY_OFF;
    say_sums(was_recording || getenv("GODWIT_RECORD"), n_bytes, was_replaying);
}

int MPI_Init(int *argc, char ***argv) { return begin(PMPI_Init(argc, argv), MPI_THREAD_SINGLE); }
int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int rc = PMPI_Init_thread(argc, argv, required, provided);
    return begin(rc, rc == MPI_SUCCESS ? *provided : 0);
}
int MPI_Finalize(void)
{
    MPI_Comm parent = MPI_COMM_NULL;
    if (folder && PMPI_Comm_get_parent(&parent) == MPI_SUCCESS && parent == MPI_COMM_NULL) end();
    return PMPI_Finalize();
}
