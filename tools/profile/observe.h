/* observe.h -- what the profile's numbers mean (observe.c).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef OBSERVE_H
#define OBSERVE_H

#include "profile.h"

#include "../order/pattern.h"

#include "../../src/boot/boot.h"

/* An order of ranks and what it costs. */
struct order {
    const char *name;
    int method;          /* of MPICH_RANK_REORDER_METHOD; -1: what is now */
    const int32_t *list; /* BOOT_ORDER_FILE: a rank for each process */
    struct traffic_cost cost;
    struct load_cost load;
};

/* What there is to look at. */
struct look {
    const struct prof_report *r;
    struct machine m;
    struct traffic traffic;
    struct pattern pattern;
    bool is_grid, custom_wins;
    struct grid best; /* the cells of the custom order */
    struct order now, custom, rows[5];
    int n_rows;
    double mean_user;
    int32_t *node, *now_list, *custom_list; /* [ranks]: for order_set(); as it is; three orders one behind the other */
};

#endif
