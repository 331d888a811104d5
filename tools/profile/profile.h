/* profile.h -- the profiling library of `mpiexec --profile`: it is loaded before the program, stands between it and any MPI library
 * with the standard ABI, and between it and Godwit's OpenSHMEM, and reports when the program calls MPI_Finalize, or shmem_finalize,
 * whichever is the last.
 *
 * profile.c counts, symmetric.c counts OpenSHMEM's calls, sample.c samples, report.c gathers and writes the text, page.c writes the page,
 * document.c the same as JSON, trace.c keeps and writes calls one by one;
 * the wrappers are generated (gen/profile.py).  Times are in ticks of the processor's clock until the report.
 *
 * Two collectors.  Tracing looks at the clock when a call begins and when it ends; a thread of the library's own looks PROF_HERTZ_TRACED
 * times a second for system calls outside of MPI, and for the places that MPI is called from.  Sampling (`--profile=sample`) only notes in the
 * calls where the thread is; a thread of the library's own looks there PROF_HERTZ times a second and gives the time since its last look
 * to what it finds.  Where looks would take more than 1.5 % of the time it looks less often.  Of messages beyond the first PROF_EXACT of a thread one in PROF_EVERY is looked at, at random distances, and counts
 * for as many.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef PROFILE_H
#define PROFILE_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "../next/world.h"
#include "../order/grid.h"

enum prof_group { PROF_P2P, PROF_COLL, PROF_RMA, PROF_IO, PROF_OTHER, PROF_SHMEM, PROF_GROUPS };
enum { PROF_BINS = 40 }; /* sizes of messages: 0, 1, 2-3, 4-7, .. bytes */

/* Of one function.  Threads add to it at once, so its fields are atomic. */
struct prof_sum {
    _Atomic uint64_t calls, ticks, bytes;
    _Atomic uint64_t meets, meet_ticks; /* waits for the others before it */
};
extern const int prof_fns;
extern const char *const prof_names[];
extern const unsigned char prof_groups[];
extern struct prof_sum prof_sums[];

/* Of this rank: MPI's messages between two ranks, and OpenSHMEM's accesses of one to the memory of another. */
struct prof_own {
    _Atomic uint64_t bins[PROF_BINS], accessed_bins[PROF_BINS];
    _Atomic uint64_t *sent;                     /* [ranks] bytes, by rank in MPI_COMM_WORLD */
    _Atomic uint64_t *got;                      /* [ranks] bytes that this rank has fetched (MPI_Get) */
    _Atomic uint64_t *put, *fetched, *accesses; /* [ranks] OpenSHMEM: bytes to it, bytes from it; how many */
    int rank, ranks;
    bool has_shmem;
    uint64_t begin;       /* ticks at the end of MPI_Init, where the ranks met, */
    uint64_t ticks;       /* and from there to the begin of MPI_Finalize */
    _Atomic uint64_t mpi; /* ticks in MPI and OpenSHMEM of all calls but meetings */
    uint64_t samples;
    double look_s; /* of the processor, that looking took */
    double ticks_per_s;
};
extern struct prof_own prof_own;

/* ---- looking ---- */
enum {
    PROF_HERTZ = 1000,
    PROF_HERTZ_TRACED = 200,
    PROF_THREADS = 64,
    PROF_EXACT = 256,
    PROF_EVERY = 16,
    PROF_SITES = 32,
    PROF_PATH = 96
};
/* Of one thread.  INVARIANT: `now` is written by that thread alone, and is 0 while it is not in an MPI call; else the address it was
 * called from above its number + 1. */
struct prof_thread {
    _Atomic uint64_t now;
    uint64_t random;
    uint32_t messages, to_go; /* messages so far, up to PROF_EXACT; messages until one is looked at */
    _Atomic uint32_t taken;
    int tid; /* of the kernel */
};
enum { PROF_FN_BITS = 16 };
extern int prof_samples; /* set before the first call is counted, never changed after */
extern _Thread_local struct prof_thread *prof_thread;
struct prof_thread *prof_thread_begin(void); /* never NULL; threads beyond PROF_THREADS are not looked at */
int prof_thread_number(void);                /* of this thread, from 0 on; those beyond PROF_THREADS have that number */
void prof_sample_start(void);                /* paused */
void prof_sample_stop(void);                 /* no sample is taken any more */
void prof_sample_pause(int paused);
/* Ticks of the thread that called MPI_Init, outside of MPI, in system calls: [0] that it ran in the kernel, whichever the call (the
 * kernel tells that in steps of 10 ms); else that it was blocked in the call of that name, the last: in another one. */
enum { PROF_SYSCALLS = 24 };
extern uint64_t prof_syscalls[PROF_SYSCALLS];
extern const char *const prof_syscall_names[PROF_SYSCALLS];
uint32_t prof_sample_weight(void); /* of the message that is sent now: 0, or for how many it stands */
/* Where in the program time in MPI was spent: the sites of this rank that took most, longest first; how many. */
struct prof_site {
    char module[PROF_PATH]; /* "": the program */
    uint64_t offset;        /* of the call, in it */
    int fn;
    double seconds;
};
int prof_sample_sites(struct prof_site *out, int cap);
int prof_site_order(const void *a, const void *b); /* for qsort(): the longest first */
/* "solve (stencil.c:88)", as addr2line names it, else module and offset. */
void prof_site_names(const struct prof_site *sites, int n, const char *program, char (*out)[160]);

struct prof_call {
    int fn, to;       /* to: the rank in MPI_COMM_WORLD that the call names; -1: none */
    uint64_t at, was; /* was: what the thread did before, as a user's callback may call MPI */
    uint64_t bytes;   /* that it moves, where that is counted */
};
static inline uint64_t prof_ticks(void)
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
static inline void prof_add(_Atomic uint64_t *to, uint64_t n) { atomic_fetch_add_explicit(to, n, memory_order_relaxed); }
static inline int prof_bin(uint64_t bytes)
{
    int bin = bytes ? 64 - __builtin_clzll(bytes) : 0;
    return bin < PROF_BINS ? bin : PROF_BINS - 1;
}
extern _Atomic bool prof_on;
static inline bool prof_is_on(void) { return atomic_load_explicit(&prof_on, memory_order_relaxed); }
static inline void prof_enter(struct prof_call *c, int fn, const void *from)
{
    c->fn = fn, c->to = -1, c->bytes = 0;
    struct prof_thread *t = prof_thread ? prof_thread : prof_thread_begin();
    c->was = atomic_load_explicit(&t->now, memory_order_relaxed);
    atomic_store_explicit(&t->now, (uint64_t)(uintptr_t)from << PROF_FN_BITS | (uint64_t)(fn + 1), memory_order_relaxed);
    if (!prof_samples) c->at = prof_ticks();
}
void prof_left(struct prof_call *c);
static inline void prof_leave(struct prof_call *c)
{
    atomic_store_explicit(&prof_thread->now, c->was, memory_order_relaxed);
    if (!prof_samples) {
        prof_left(c);
        return;
    }
    if (!prof_is_on()) return;
    /* A count that two threads raise at once may lose one. */
    _Atomic uint64_t *calls = &prof_sums[c->fn].calls;
    atomic_store_explicit(calls, atomic_load_explicit(calls, memory_order_relaxed) + 1, memory_order_relaxed);
}
uint64_t prof_weight(void); /* how many calls this one stands for, of which bytes are counted; 0: nothing is counted */
void prof_waited(struct prof_call *c, bool of_all); /* the call was a wait for others, and nothing else; of_all: all ranks met */
void prof_met(struct prof_call *c, MPI_Comm comm);  /* the same, for the members */
void prof_meet(int fn, MPI_Comm comm, const void *from); /* waits until all members are here */
/* A wait of another kind, which is to be made if the first says so. */
bool prof_meet_begin(struct prof_call *c, int fn, const void *from);
void prof_meet_end(struct prof_call *c, bool waited, bool of_all);
void prof_sent(struct prof_call *c, MPI_Count count, MPI_Datatype type, int dest, MPI_Comm comm);
void prof_moved(struct prof_call *c, MPI_Count count, MPI_Datatype type);
/* One-sided calls; `fetched`: the bytes come from the target. */
void prof_reached(struct prof_call *c, MPI_Count count, MPI_Datatype type, int target, MPI_Win win, int fetched);
/* Neighbourhood collectives: what goes to each neighbour that this rank sends to. */
struct prof_parts {
    MPI_Count count;    /* to each, where counts is NULL */
    const void *counts; /* of int, or of MPI_Count where wide */
    MPI_Datatype type;  /* of all, where types is NULL */
    const MPI_Datatype *types;
    int wide;
};
/* request: NULL, or of a persistent one. */
void prof_spread(struct prof_call *c, int rc, const struct prof_parts *parts, MPI_Comm comm, const MPI_Request *request);
/* Persistent sends: their bytes count at each start. */
void prof_prepared(struct prof_call *c, int rc, const MPI_Request *request, MPI_Count count, MPI_Datatype type, int dest,
                   MPI_Comm comm);
void prof_started(int n, const MPI_Request *requests);
void prof_forget(MPI_Request request);

/* ---- calls one by one: trace.c ----  Where GODWIT_PROFILE_TRACE names a file, and times are taken.  The first PROF_SPANS of the job, an equal
 * part of them for each rank; of the others it is counted how many there are. */
enum { PROF_SPANS = 1 << 19, PROF_SPANS_LEAST = 512, PROF_SPANS_MOST = 1 << 16 };
struct prof_span {
    uint64_t begin, end; /* ticks, before they are written */
    uint64_t bytes;      /* as of struct prof_call */
    int32_t to;
    uint16_t fn;
    uint8_t thread;
    bool is_wait; /* for others, before a collective */
};
extern struct prof_span *prof_spans; /* NULL: none are kept */
void prof_trace_begin(void);
void prof_span_add(const struct prof_call *c, uint64_t end, bool is_wait);
static inline void prof_span(const struct prof_call *c, uint64_t end, bool is_wait)
{
    if (__builtin_expect(prof_spans != NULL, 0)) prof_span_add(c, end, is_wait);
}
/* Collective over tools_world; program: on rank 0.  The file's name where it was written there, else NULL. */
const char *prof_trace_write(const char *program);

/* ---- begin and end: profile.c, and symmetric.c for OpenSHMEM ----  All but prof_is_over() and prof_in_mpi() are collective. */
void prof_start(void);        /* the first of the two was initialised */
void prof_stop(void);         /* reports, if it was started and has not */
bool prof_is_over(void);      /* it has reported */
bool prof_in_mpi(void);       /* between MPI_Init and MPI_Finalize */
void prof_control(int level); /* MPI_Pcontrol, shmem_pcontrol */
void prof_last_end(void);     /* the last of the two ends */

/* ---- steps: step.c ---- */
enum prof_part { PROF_USER, PROF_MPI, PROF_SYNC, PROF_PARTS };
enum { PROF_SLOWEST = 3, PROF_STEP_PARTS = 16 };
struct prof_step {
    float part[PROF_PARTS]; /* in the order in which they come: computing and communicating, then waiting for the others */
};
struct prof_report;
void prof_steps_begin(void);                     /* the next one begins now */
void prof_step_end(uint64_t meet, uint64_t met); /* ticks: all ranks wait for each other from `meet` to `met` */
void prof_steps_gather(struct prof_report *r);   /* collective over tools_world; r is written on rank 0 */

/* An order of ranks, for the page. */
enum { PROF_ORDERS = 5 };
struct prof_order {
    char name[16];
    int method;   /* of MPICH_RANK_REORDER_METHOD; -1: the one that was current */
    double share; /* of the bytes stay on nodes */
    int *node;    /* [ranks] */
};

/* What rank 0 knows in the end; times in seconds. */
struct prof_line {
    double mean, most; /* over the ranks */
    int most_rank;
    double calls, bytes; /* of all ranks */
};
enum prof_row_kind { ROW_TOTAL, ROW_GROUP, ROW_FUNCTION };
struct prof_row {
    enum prof_row_kind kind;
    char name[64];
    struct prof_line line;
    double imbalance, imbalance_percent, percent;
};
struct prof_report {
    char program[256], path[512]; /* its name alone, and with its folder */
    const char *page;             /* the file of the page */
    char *observations;           /* the text of prof_observe(), or NULL */
    int ranks, n_rows, nodes;
    int *node; /* [ranks] from 0 on, in the order of their lowest ranks */
    struct prof_row *rows;
    double *user, *mpi, *sync, *syscall;            /* [ranks] seconds */
    double bins[PROF_BINS];                         /* messages of all ranks */
    double *sent;                                   /* [ranks][ranks] bytes, from, to: MPI's messages, */
    double *moved, *accesses;                       /* OpenSHMEM's bytes, and who accessed whom how often; NULL: it is not used */
    double accessed_bins[PROF_BINS];                /* sizes of those */
    const char *who;                                /* "MPI", "OpenSHMEM", or both */
    bool has_mpi;                                   /* a call of it was counted, or there is no OpenSHMEM */
    double total;                                   /* mean seconds of a rank */
    double io_bytes[2], io_seconds[2], io_calls[2]; /* read, written: of all ranks; the slowest rank's time */
    double overhead_ns;                             /* of one call, measured */
    struct prof_site *sites;                        /* sampling: of all ranks, seconds summed; the longest first */
    char (*site_names)[160];
    int n_sites;
    struct prof_order orders[PROF_ORDERS]; /* best first, if there are several nodes */
    int n_orders, n_dims, dim[GRID_DIMS];  /* n_dims 0: no grid was found */
    struct prof_step *slow;                /* [ranks][PROF_SLOWEST], or NULL: there are no steps */
    int n_steps, step_ends, slow_at[PROF_SLOWEST];
    double step_mean;
    float *step_user; /* [ranks][n_step_parts] seconds that each computed in parts of as many steps, or NULL */
    int n_step_parts;
};
void prof_report(void); /* collective over tools_world */
void prof_observe(struct prof_report *r,
                  FILE *f); /* notes orders and grid in r;  observe.c; on rank 0, may write files of rank orders */
int prof_page(const struct prof_report *r, FILE *f);     /* 0, or -1: the file could not be written */
int prof_document(const struct prof_report *r, FILE *f); /* the same as JSON: schema/profile.json */
/* What a variable names as the file of this profile; NULL: nothing.  "1": a file of our own, with this ending (".json"). */
const char *prof_file_named(const char *variable, const char *ending);
const char *prof_program_name(const struct prof_report *r); /* as it is, without its folder */

#endif
