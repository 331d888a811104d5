/* profile.h -- the profiling library of `mpiexec --profile`: it is loaded before the program, stands between it and any MPI library
 * with the standard ABI, and reports when the program calls MPI_Finalize.
 *
 * profile.c counts, report.c gathers and writes the text, page.c writes the page; the wrappers are generated (gen/profile.py).
 * Times are in ticks of the processor's clock until the report.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef PROFILE_H
#define PROFILE_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

enum prof_group { PROF_P2P, PROF_COLL, PROF_RMA, PROF_IO, PROF_OTHER, PROF_GROUPS };
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

/* Of this rank, of messages between two ranks. */
struct prof_own {
    _Atomic uint64_t bins[PROF_BINS];
    _Atomic uint64_t *sent; /* [ranks] bytes, by rank in MPI_COMM_WORLD */
    _Atomic uint64_t *got;  /* [ranks] bytes that this rank has fetched (MPI_Get) */
    int rank, ranks;
    uint64_t ticks; /* from the end of MPI_Init to the begin of MPI_Finalize */
    double ticks_per_s;
};
extern struct prof_own prof_own;

struct prof_call {
    int fn;
    uint64_t at;
};
void prof_enter(struct prof_call *c, int fn);
void prof_leave(struct prof_call *c);
void prof_met(struct prof_call *c);    /* the call was a wait for the others, and nothing else */
void prof_meet(int fn, MPI_Comm comm); /* waits until all members are here */
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
    double *user, *mpi, *sync;                      /* [ranks] seconds */
    double bins[PROF_BINS];                         /* messages of all ranks */
    double *sent;                                   /* [ranks][ranks] bytes, from, to */
    double total;                                   /* mean seconds of a rank */
    double io_bytes[2], io_seconds[2], io_calls[2]; /* read, written: of all ranks; the slowest rank's time */
    double overhead_ns;                             /* of one call, measured */
};
void prof_report(void);                                  /* collective over MPI_COMM_WORLD */
void prof_observe(const struct prof_report *r, FILE *f); /* observe.c; on rank 0, may write files of rank orders */
int prof_page(const struct prof_report *r, FILE *f);     /* 0, or -1: the file could not be written */

#endif
