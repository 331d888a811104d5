/* tune.h -- `godwit-tune`: measures which algorithms and thresholds serve a job's shape best, and writes them as a file for GODWIT_TUNE;
 * `--check` looks whether what a job would choose keeps to guidelines, and writes rows where another algorithm is quicker.
 *
 *   tune.c: command line, jobs, the file --> mpiexec .. godwit-tune --measure --> measure.c (all ranks) --> lines on standard output
 *   shape.c: the options of mpiexec among them
 *   choose.c: pure functions over what was measured: the best algorithms, their rows, guidelines
 *
 * A job measures one algorithm of each collective (GODWIT_COLL), several jobs one after the other all of them, in turns, so that a slow
 * moment of the machine hits all alike; the smallest time of a point counts.  The turns end when the rows of the last two are the same.
 * The spread of a point is how far its times of several turns lie apart: an algorithm that wins by less is not taken.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUNE_H
#define TUNE_H

#include <stdbool.h>
#include <stdio.h>

enum tune_kind {
    TUNE_BARRIER,
    TUNE_BCAST,
    TUNE_GATHER,
    TUNE_SCATTER,
    TUNE_ALLGATHER,
    TUNE_ALLTOALL,
    TUNE_REDUCE,
    TUNE_ALLREDUCE,
    TUNE_REDUCE_SCATTER,
    TUNE_SCAN,
    TUNE_KINDS
};
extern const char *const tune_kind_names[TUNE_KINDS];
int tune_kind_named(const char *name); /* TUNE_KINDS: none */
/* Bytes: of the operand, of a block (gather, scatter, allgather, alltoall), of all parts (reduce_scatter), as in tune/coll.tbl. */
enum { TUNE_SIZES = 16, TUNE_ALGORITHMS = 12, TUNE_NAME = 32 };
struct tune_sizes {
    long at[TUNE_SIZES];
    int n;
};
extern const struct tune_sizes tune_sizes, tune_sizes_quick;

/* ---- measure.c: `godwit-tune --measure KINDS quick|full` and `--pingpong SIZES` under mpiexec ---- */
int tune_measure_main(const char *kinds, bool is_quick);
int tune_pingpong_main(const char *sizes);

/* ---- shape.c ---- */
bool tune_shape_is_good(char *const *words, int n); /* false, after a message: mpiexec would not take them, or start one rank */

/* ---- choose.c ---- */
enum { TUNE_TURNS = 6 };
struct tune_times {
    double us[TUNE_TURNS]; /* the smallest ones, smallest first */
    int n;
};
void tune_times_add(struct tune_times *t, double us);
/* How far they lie apart: the middle one above the smallest, as a part of that; -1: there are no two. */
double tune_spread(const struct tune_times *t);
struct tune_point {
    double us[TUNE_ALGORITHMS]; /* smallest time; 0: not measured */
    struct tune_times times[TUNE_ALGORITHMS];
    int chosen; /* by the library without being told; -1: not known */
};
struct tune_results {
    char processor[128]; /* "intel/6/207 | ", which rows begin with; "": nothing */
    int ranks, nodes;
    bool is_even;                                       /* of nodes: no rank is alone on one */
    char names[TUNE_KINDS][TUNE_ALGORITHMS][TUNE_NAME]; /* "": no more */
    const struct tune_sizes *sizes;
    struct tune_point points[TUNE_KINDS][TUNE_SIZES];
};
/* A line of a job that measures; `forced`: GODWIT_COLL was set.  False: it is none. */
bool tune_take_line(struct tune_results *r, const char *line, bool forced);
/* The time that a program sees, us; 0: not measured. */
double tune_seen(const struct tune_results *r, int kind, int size);
/* The algorithm for a point: the one that is chosen, unless another is a good deal quicker, and by more than both times spread. */
int tune_best(const struct tune_results *r, int kind, int size);
int tune_sizes_of(const struct tune_results *r, int kind); /* how many sizes it is measured with */
/* Writes the rows of a collective to f, if another than the chosen algorithm is better somewhere, or `all`; how many. */
int tune_write_rows(const struct tune_results *r, int kind, bool all, FILE *f);
/* What would be written of all collectives: the same for the same rows. */
unsigned tune_rows_hash(const struct tune_results *r);
/* Guidelines: calls told(about, kind, text) for each that does not hold; returns a bit for each collective that is too slow. */
unsigned tune_guidelines(const struct tune_results *r, void (*told)(void *about, int kind, const char *text), void *about);

#endif
