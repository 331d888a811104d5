/* threads_every.c -- every call of the library from many threads at once: data right, and no call left out.
 *
 *     threads_every [threads [rounds [seed]]]
 *
 * Each thread goes through all scenes (threads_*.h) in an order of its own, `rounds` times.  At the end rank 0 names the entry points
 * that no thread of any rank has called; only those of `cannot` may be among them.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "threads_every.h"
#include "threads_p2p.h"
#include "threads_types.h"
#include "threads_coll.h"
#include "threads_comms.h"
#include "threads_objects.h"
#include "threads_files_windows.h"
#include "threads_sessions.h"

#define LARGE      0
#define FORM(name) name
#define COUNT      int
#define DISPL      int
#define WIDE       MPI_Aint
#include "threads_counts.h"
#undef LARGE
#undef FORM
#undef COUNT
#undef DISPL
#undef WIDE
#define LARGE      1
#define FORM(name) name##_c
#define COUNT      MPI_Count
#define DISPL      MPI_Aint
#define WIDE       MPI_Count
#include "threads_counts.h"

static const struct scene scenes[] = {
    {"modes", scene_modes, 0},
    {"receives", scene_receives, 0},
    {"persistent", scene_persistent, 0},
    {"partitioned", scene_partitioned, 0},
    {"sendrecv", scene_sendrecv, 0},
    {"completions", scene_completions, 0},
    {"cancel", scene_cancel, 0},
    {"buffer of the process", scene_buffer, 1},
    {"generalized requests", scene_user_requests, 0},
    {"status", scene_status, 0},
    {"types", scene_types, 0},
    {"names of types", scene_type_names, 0},
    {"attributes of types", scene_type_attributes, 0},
    {"types by arrays", scene_type_arrays, 0},
    {"types by large arrays", scene_type_arrays_c, 0},
    {"operations", scene_ops, 0},
    {"data", scene_data, 0},
    {"broadcast", scene_bcast, 0},
    {"reductions", scene_reductions, 0},
    {"outstanding", scene_outstanding, 0},
    {"vectors", scene_vectors, 0},
    {"large vectors", scene_vectors_c, 0},
    {"alltoallw", scene_alltoallw, 0},
    {"large alltoallw", scene_alltoallw_c, 0},
    {"neighbours", scene_neighbors, 0},
    {"neighbour vectors", scene_neighbor_vectors, 0},
    {"large neighbour vectors", scene_neighbor_vectors_c, 0},
    {"grid", scene_cart, 0},
    {"graph", scene_graph, 0},
    {"groups", scene_groups, 0},
    {"communicators", scene_comms, 0},
    {"properties of communicators", scene_comm_properties, 0},
    {"intercommunicator", scene_intercomm, 0},
    {"attributes of communicators", scene_comm_attributes, 0},
    {"info", scene_info, 0},
    {"error codes", scene_error_codes, 0},
    {"error handlers", scene_handlers, 0},
    {"environment", scene_environment, 0},
    {"once", scene_once, 1},
    {"window of all", scene_common_window, 0},
    {"fences", scene_fences, 0},
    {"locks", scene_locks, 0},
    {"post and start", scene_post_start, 0},
    {"properties of windows", scene_win_properties, 0},
    {"file of all", scene_common_file, 0},
    {"properties of files", scene_file_properties, 0},
    {"file pointers", scene_file_pointers, 0},
    {"collective access", scene_file_collective, 0},
    {"shared file pointer", scene_file_shared, 0},
    {"representation", scene_file_representation, 0},
    {"session", scene_session, 0},
};
enum { SCENES = sizeof scenes / sizeof scenes[0] };

static const struct {
    const char *name, *why;
    int ranks; /* can be called from so many on */
} cannot[] = {
    {"MPI_Init", "once, before there are threads", 0},
    {"MPI_Init_thread", "once, before there are threads", 0},
    {"MPI_Finalize", "once, by the thread that initialized", 0},
    {"MPI_Abort", "ends the job", 0},
    {"MPI_Intercomm_create", "needs two groups", 2},
    {"MPI_Intercomm_merge", "needs two groups", 2},
    {"MPI_Intercomm_create_from_groups", "needs two groups", 2},
    {"MPI_Comm_remote_size", "needs two groups", 2},
    {"MPI_Comm_remote_group", "needs two groups", 2},
};

static int nthreads = 4, nrounds = 3;
static struct th threads[MAX_THREADS];
static pthread_barrier_t start;

static void *work(void *arg)
{
    struct th *th = arg;
    int order[SCENES];
    call_seen = th->seen;
    call_random = (unsigned)(th->t * 77 + rank);
    pthread_barrier_wait(&start);
    for (int round = 0; round < nrounds; round++) {
        for (int i = 0; i < SCENES; i++) {
            int j = (int)below(th, (unsigned)i + 1);
            order[i] = order[j];
            order[j] = i;
        }
        for (int i = 0; i < SCENES; i++) {
            const struct scene *s = &scenes[order[i]];
            if (s->only_first && th->t != 0) continue;
            th->scene = s->name;
            s->fn(th);
        }
    }
    call_seen = NULL;
    return NULL;
}

/* Starting processes and the interface of tools have no scenes. */
static int is_elsewhere(int i)
{
    return call_list[i].chapter == 15 || (call_list[i].chapter == 11 && strncmp(call_list[i].name, "MPI_Session_", 12) != 0);
}

/* The number of entry points that should have been called and were not. */
static int left_out(void)
{
    static unsigned char seen[CALLS];
    int missing = 0, called = 0;
    for (int t = 0; t < nthreads; t++)
        for (int i = 0; i < CALLS; i++) seen[i] |= threads[t].seen[i];
    MPI_Allreduce(MPI_IN_PLACE, seen, CALLS, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
    for (int i = 0; i < CALLS; i++) {
        int may = 0;
        for (size_t k = 0; k < sizeof cannot / sizeof cannot[0]; k++)
            may |= strcmp(cannot[k].name, call_list[i].name) == 0 && (cannot[k].ranks == 0 || size < cannot[k].ranks);
        called += seen[i];
        if (seen[i] || may || is_elsewhere(i)) continue;
        missing++;
        if (rank == 0) fprintf(stderr, "no thread has called %s (chapter %d)\n", call_list[i].name, call_list[i].chapter);
    }
    if (rank == 0) printf("%d of %d entry points called\n", called, (int)CALLS);
    return missing;
}

static void common_begin(void)
{
    MPI_Errhandler h;
    int lens[3] = {1, 1, 1}, displs[3] = {0, 3, 6};
    void *base;
    MPI_Comm_dup(MPI_COMM_WORLD, &shared);
    MPI_Comm_create_errhandler(on_error, &h);
    MPI_Comm_set_errhandler(shared, h);
    MPI_Errhandler_free(&h);
    MPI_Comm_group(MPI_COMM_WORLD, &common_group);
    MPI_Type_indexed(3, lens, displs, MPI_INT, &common_type);
    MPI_Type_commit(&common_type);
    MPI_Type_create_keyval(type_copied, type_deleted, &type_keyval_common, NULL);
    MPI_Comm_create_keyval(comm_copied, comm_deleted, &comm_keyval_common, NULL);
    MPI_Win_create_keyval(win_copied, win_deleted, &win_keyval_common, NULL);
    MPI_Info_create(&common_info);
    MPI_Info_set(common_info, "all", "threads");
    MPI_Win_allocate(16 + (MPI_Aint)size * MAX_THREADS * COMMON_BLOCK, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &common_win);
    memset(base, 0, 16);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, common_win);
    if (rank == 0) {
        const char *tmp = getenv("TMPDIR");
        snprintf(folder, sizeof folder, "%.150s/godwit_threads_XXXXXX", tmp ? tmp : "/tmp");
        if (!mkdtemp(folder)) MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    char path[256];
    snprintf(path, sizeof path, "%s/common", folder);
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &common_file);
}
static void common_end(void)
{
    MPI_Win_unlock_all(common_win);
    long long mine[2] = {counted, draws}, all[2] = {0, 0};
    MPI_Allreduce(mine, all, 2, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(all[0], all[1] * (all[1] - 1) / 2); /* every value of the counter was drawn once */
    MPI_Win_free(&common_win);
    MPI_File_close(&common_file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) CHECK_EQ(rmdir(folder), 0);
    MPI_Info_free(&common_info);
    MPI_Type_free_keyval(&type_keyval_common);
    MPI_Comm_free_keyval(&comm_keyval_common);
    MPI_Win_free_keyval(&win_keyval_common);
    MPI_Type_free(&common_type);
    MPI_Group_free(&common_group);
    MPI_Comm_free(&shared);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    test_begin();
    CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
    nthreads = argc > 1 ? atoi(argv[1]) : 4;
    nrounds = argc > 2 ? atoi(argv[2]) : 3;
    unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
    if (nthreads > MAX_THREADS || size > MAX_RANKS) MPI_Abort(MPI_COMM_WORLD, 2);
    common_begin();
    pthread_barrier_init(&start, NULL, (unsigned)nthreads);
    for (int t = 0; t < nthreads; t++) {
        struct th *th = &threads[t];
        th->t = th->turns = t, th->right = (rank + 1) % size, th->left = (rank + size - 1) % size;
        th->same = 88172645463325252ull + 1000003ull * seed + 7919ull * (unsigned)t;
        th->a = malloc(SPACE), th->b = malloc(SPACE);
        MPI_Comm_dup(MPI_COMM_WORLD, &th->own);
        MPI_Comm_dup(MPI_COMM_SELF, &th->self);
    }
    for (int t = 0; t < nthreads; t++) pthread_create(&threads[t].id, NULL, work, &threads[t]);
    for (int t = 0; t < nthreads; t++) {
        pthread_join(threads[t].id, NULL);
        MPI_Comm_free(&threads[t].own);
        MPI_Comm_free(&threads[t].self);
        free(threads[t].a);
        free(threads[t].b);
    }
    pthread_barrier_destroy(&start);
    failures += wrongs;
    failures += left_out();
    common_end();
    return test_end();
}
