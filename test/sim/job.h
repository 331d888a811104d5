/* job.h -- one job: its ranks as threads of which one runs at a time, the next one chosen by the seed, on a clock of its own.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TEST_SIM_JOB_H
#define GW_TEST_SIM_JOB_H

#include "host.h"

enum { SIM_MAX_RANKS = 16 };
struct sim_copy {
    sim_rank_begin_fn *begin;
    sim_main_fn *main;
}; /* a rank's own copy of program and library */

struct sim_run {
    int n;
    uint64_t seed;
    int argc;
    char **argv;
    struct sim_ways ways;
    uint32_t switches; /* chance in 256 that a scheduling point lets another rank run although this one could go on */
    uint32_t weights;  /* some ranks run more often than others: 2^(0 .. weights - 1) times */
    int dies;          /* this rank stops for ever .. */
    uint64_t dies_at;  /* .. at its so many-th scheduling point; -1: none does */
    bool log;          /* print all that happens */
    const struct sim_copy *copies;
};
enum sim_end { SIM_ENDED, SIM_FAILED, SIM_DEADLOCK, SIM_LATE_WAKE };
struct sim_result {
    enum sim_end end;
    uint64_t trace, points, switched, now, sent, taken, refused, bugs, late_wakes;
};
/* Prints what went wrong to stderr. */
struct sim_result sim_run(const struct sim_run *run);

#endif
