/* boot_deal.c -- the methods of MPICH_RANK_REORDER_METHOD: which process gets which rank.  Needs nothing of the library, so that the
 * profile, which is loaded into programs of any MPI library, compares orders by the same rules.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot/boot_deal.h"

#include "boot/boot.h"
#include "boot/order.h"

/* The processes node by node. */
struct slots {
    int32_t *process; /* [size] */
    int32_t *first;   /* [nodes + 2] of a node's, in `process` */
};

static struct slots slots_of(const int32_t *node, int size, int nodes, int32_t *scratch)
{
    assert(size > 0 && nodes > 0);
    struct slots s = {scratch, scratch + size};
    memset(s.first, 0, sizeof *s.first * ((size_t)nodes + 2));
    for (int p = 0; p < size; p++) s.first[node[p] + 2]++;
    for (int k = 2; k <= nodes; k++) s.first[k] += s.first[k - 1];
    for (int p = 0; p < size; p++) s.process[s.first[node[p] + 1]++] = p; /* afterwards first[k] is where node k begins */
    return s;
}

/* Goes over the nodes again and again and takes one process of each that has one left; `fold`: every second time backwards. */
static void deal(const struct slots *s, int size, int nodes, bool fold, int32_t *rank_out)
{
    assert(nodes > 0);
    int rank = 0;
    for (int pass = 0; rank < size; pass++)
        for (int i = 0; i < nodes; i++) {
            int k = fold && pass % 2 ? nodes - 1 - i : i;
            if (s->first[k] + pass < s->first[k + 1]) rank_out[s->process[s->first[k] + pass]] = rank++;
        }
}

void boot_order_deal(int method, const int32_t *node, int size, const int32_t *list, int32_t *rank_out, int32_t *scratch)
{
    int nodes = 0;
    for (int p = 0; p < size; p++)
        if (node[p] >= nodes) nodes = node[p] + 1;
    struct slots s = slots_of(node, size, nodes, scratch);
    if (method == BOOT_ORDER_ROUND || method == BOOT_ORDER_FOLD)
        deal(&s, size, nodes, method == BOOT_ORDER_FOLD, rank_out);
    else
        for (int i = 0; i < size; i++) rank_out[s.process[i]] = method == BOOT_ORDER_FILE ? list[i] : i;
}
