/* host.h -- between the driver and each rank's copy of program and library: what a copy calls where it would ask the kernel.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TEST_SIM_HOST_H
#define GW_TEST_SIM_HOST_H

#include "wire_sim/sim.h"

struct sim_host {
    struct sim_net *net;
    uint64_t (*now)(void);    /* each look takes a little time */
    void (*pause)(bool idle); /* a scheduling point */
    void (*sleep)(uint64_t ns);
    int (*futex_wait)(_Atomic uint32_t *word, uint32_t expected, int64_t timeout_ns);
    void (*futex_wake)(void);
    void (*leave)(int status) __attribute__((noreturn)); /* this rank has ended */
};
typedef void sim_rank_begin_fn(const struct sim_host *host, int rank, const char *boot);
typedef int sim_main_fn(int argc, char **argv);

#endif
