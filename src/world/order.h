/* order.h -- private to world: the arguments of MPI_Comm_spawn, with the reserved info keys (MPI 4.1 section 11.8.4).
 *
 * `soft` is a set of numbers of processes: the largest for which there is room is started.  `arch` must be the output of `uname -m` on this
 * machine.  `file` names a file with a line `key = value` for each further key (# begins a comment); keys of the info object take
 * precedence, and `env` may be given several times.  `host`, `wdir`, `path` and our own keys are passed to the launcher.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_WORLD_ORDER_H
#define GW_WORLD_ORDER_H

#include "world/world.h"

struct order {
    const struct world_program *program;
    struct gw_info *file; /* keys of the file; NULL: there is none */
    int n;                /* processes that are wanted now, at most program->n */
};

/* The largest number from 0 to `most` in the set `soft`; -1: there is none.  soft NULL: the set is {most}.  GW_EINFO_VALUE: the text is no
 * set. */
int world_order_soft(const char *soft, int most, int *n_out);
/* Fills orders[n] for the programs; *fault_out: the program that has an error.  The caller calls world_orders_end(), also after an error. */
int world_orders_begin(int n, const struct world_program *programs, struct order *orders, int *fault_out);
void world_orders_end(int n, struct order *orders);
const char *world_order_key(const struct order *o, const char *key); /* NULL: it is not given */
/* Reduces the orders to at most `room` processes, the last programs first.  False: their sets do not allow it. */
bool world_orders_shrink(int n, struct order *orders, int room);
int world_orders_total(int n, const struct order *orders);

#endif
