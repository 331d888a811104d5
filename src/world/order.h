/* order.h -- private to world/: what MPI_Comm_spawn is asked for, with the reserved info keys (MPI 4.1 section 11.8.4).
 *
 * `soft` is a set of numbers of processes, of which the largest that there is room for is started.  `arch` must be this machine's, as
 * `uname -m` says it.  `file` names a file with a line `key = value` for each further key (# begins a comment); keys of the info object
 * itself come first, and `env` may stand there several times.  `host`, `wdir`, `path` and our own keys go to the launcher as they are.
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

/* The largest number from 0 to `most` of the set `soft`: -1 where there is none.  soft NULL: only all of `most` will do, which is to be
 * the whole number then.  GW_EINFO_VALUE: it is no set. */
int world_order_soft(const char *soft, int most, int *n_out);
/* orders[n] for the programs; *fault_out: the one at which an error is.  Ends with world_orders_end, also after an error. */
int world_orders_begin(int n, const struct world_program *programs, struct order *orders, int *fault_out);
void world_orders_end(int n, struct order *orders);
const char *world_order_key(const struct order *o, const char *key); /* NULL: it is not given */
/* Fewer: at most `room` in all, the last programs first.  false: their sets do not allow it. */
bool world_orders_shrink(int n, struct order *orders, int room);
int world_orders_total(int n, const struct order *orders);

#endif
