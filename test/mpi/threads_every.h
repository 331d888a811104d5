/* threads_every.h -- what the scenes of threads_every.c share: the thread, its random numbers, checks that count.
 *
 * A scene is a few related calls with data that is checked.  Thread t of every rank goes through the same scenes in the same order
 * (a random one that depends on seed and t), so that collective calls of one thread meet; what other threads do meanwhile is left
 * to chance.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TEST_THREADS_EVERY_H
#define GW_TEST_THREADS_EVERY_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

#include "p2p_check.h"

#include "calls.h"

enum { MAX_THREADS = 16, MAX_RANKS = 64, SPACE = 1 << 17 };

struct th {
    pthread_t id;
    int t;
    MPI_Comm own, self; /* of thread t on all ranks; of this rank alone */
    MPI_Comm c;         /* of the scene's messages: `own`, or `shared` with tags that only this thread uses */
    int tag;            /* the first of ten; of nothing but its own use are tag + 15 and + 16 */
    int right, left;
    unsigned long long same; /* random numbers that all ranks' threads t see alike */
    unsigned char *a, *b;    /* SPACE bytes each */
    _Atomic unsigned char seen[CALLS];
    const char *scene;
    int turns; /* of windows of its own: their kinds take turns */
};
struct scene {
    const char *name;
    void (*fn)(struct th *);
    int only_first; /* what it uses is one for the process: thread 0 alone */
};

static MPI_Comm shared;
static _Atomic int wrongs;
static _Thread_local _Atomic unsigned char *call_seen; /* NULL: not among threads */
static _Thread_local unsigned call_random;

static void call_note(enum call_id id)
{
    if (call_seen) atomic_store_explicit(&call_seen[id], 1, memory_order_relaxed);
}
/* The form that this thread has not called yet, else either. */
static int call_is_large(enum call_id plain)
{
    call_random = call_random * 1664525u + 1013904223u;
    int has_plain = call_seen && atomic_load_explicit(&call_seen[plain], memory_order_relaxed);
    int has_large = call_seen && atomic_load_explicit(&call_seen[plain + 1], memory_order_relaxed);
    return has_plain != has_large ? has_plain : (int)(call_random >> 16 & 1);
}

static void wrong(struct th *th, int line, const char *what, long long a, long long b)
{
    if (atomic_fetch_add_explicit(&wrongs, 1, memory_order_relaxed) < 20)
        fprintf(stderr, "rank %d thread %d, %s: line %d: %s: %lld, not %lld\n", rank, th->t, th->scene, line, what, a, b);
}
#define EQ(a, b)                                                                                                                   \
    do {                                                                                                                           \
        long long eq_a = (long long)(a), eq_b = (long long)(b);                                                                    \
        if (eq_a != eq_b) wrong(th, __LINE__, #a, eq_a, eq_b);                                                                     \
    } while (0)
#define SO(cond)    EQ(!!(cond), 1)
#define NOERR(call) EQ(call, MPI_SUCCESS)

static unsigned below(struct th *th, unsigned n)
{
    th->same ^= th->same << 13;
    th->same ^= th->same >> 7;
    th->same ^= th->same << 17;
    return (unsigned)(th->same >> 33) % n;
}
/* Lengths of every protocol. */
static int some_bytes(struct th *th)
{
    static const int upto[] = {1, 40, 200, 5000, 30000, SPACE - 3};
    return (int)below(th, (unsigned)upto[below(th, 6)] + 1);
}
/* Own communicator or the shared one. */
static void choose_comm(struct th *th)
{
    int is_shared = (int)below(th, 2);
    th->c = is_shared ? shared : th->own;
    th->tag = is_shared ? 20 * th->t : 1000;
}
/* The three forms of one collective; `check` after each. */
#define FORMS(check, name, iname, init, ...)                                                                                       \
    do {                                                                                                                           \
        MPI_Request q_;                                                                                                            \
        memset(th->b, 0xee, SPACE);                                                                                                \
        name(__VA_ARGS__);                                                                                                         \
        check;                                                                                                                     \
        memset(th->b, 0xee, SPACE);                                                                                                \
        iname(__VA_ARGS__, &q_);                                                                                                   \
        MPI_Wait(&q_, MPI_STATUS_IGNORE);                                                                                          \
        check;                                                                                                                     \
        init(__VA_ARGS__, MPI_INFO_NULL, &q_);                                                                                     \
        for (int round_ = 0; round_ < 2; round_++) {                                                                               \
            memset(th->b, 0xee, SPACE);                                                                                            \
            MPI_Start(&q_);                                                                                                        \
            MPI_Wait(&q_, MPI_STATUS_IGNORE);                                                                                      \
            check;                                                                                                                 \
        }                                                                                                                          \
        MPI_Request_free(&q_);                                                                                                     \
    } while (0)
static int per_rank_ints(struct th *th)
{
    int most = SPACE / 5 / size / size;
    return 1 + (int)below(th, (unsigned)(most < 300 ? most : 300));
}
static int sum_of_ranks(void) { return size * (size - 1) / 2; }

#endif
