/* facts.c -- what a process knows right after its start, before any message: which rank each process is and where, and what they put
 * for each other.  Prints one line a rank: "rank R of S, node N of M, local L of K on HOST by HOW".
 *
 *   facts [barrier]     barrier: the others read only after boot_fence()
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "boot/boot.h"
#include "boot/kvs.h"
#include "boot/segment.h"

static void check(bool ok, const char *what, int about)
{
    if (ok) return;
    printf("rank %d: %s (%d)\n", gw_boot.rank, what, about);
    fflush(stdout);
    boot_abort(3, "facts: wrong");
}

static void exchange(bool fence)
{
    char mine[300], theirs[1024], fill[200];
    memset(fill, 'x', sizeof fill - 1);
    fill[sizeof fill - 1] = 0;
    snprintf(mine, sizeof mine, "%d@%s,%d %s", gw_boot.rank, gw_boot.host, gw_boot.node, fill);
    check(boot_put("facts", mine) == GW_OK, "boot_put", 0);
    check(boot_commit() == GW_OK, "boot_commit", 0);
    if (fence || !boot_is_direct()) check(boot_fence() == GW_OK, "boot_fence", 0);
    for (int i = 1; i <= gw_boot.size; i++) {
        int rank = (gw_boot.rank + i) % gw_boot.size, who = -1, node = -1;
        char host[64] = "";
        check(boot_get(rank, "facts", theirs, sizeof theirs) == GW_OK, "boot_get", rank);
        check(sscanf(theirs, "%d@%63[^,],%d ", &who, host, &node) == 3 && who == rank, "another's value", rank);
        check(strlen(theirs) > 200 && strcmp(strchr(theirs, ' ') + 1, fill) == 0, "a value that was cut", rank);
        check(node == boot_node_of(rank), "its node has another number there than here", rank);
        bool same = strcmp(host, gw_boot.host) == 0, faked = getenv("GODWIT_VNODES") != NULL;
        check(node == gw_boot.node ? same : faked || !same, "host and node do not go together", rank);
        check((boot_local_rank(rank) >= 0) == (node == gw_boot.node), "local or not", rank);
    }
}

static void nodes(void)
{
    int seen = 0, local = 0; /* numbered in the order of their lowest ranks */
    for (int r = 0; r < gw_boot.size; r++) {
        int node = boot_node_of(r);
        check(node >= 0 && node <= seen && node < gw_boot.nnodes, "number of a node", r);
        seen += node == seen;
        if (node != gw_boot.node) continue;
        check(local < gw_boot.nlocal && gw_boot.local_to_world[local] == r, "the ranks of this node", r);
        local++;
    }
    check(seen == gw_boot.nnodes, "nodes", seen);
    check(local == gw_boot.nlocal && gw_boot.local_to_world[gw_boot.local_rank] == gw_boot.rank, "place on the node", local);
}

int main(int argc, char **argv)
{
    static const char *const hows[] = {"singleton", "godwit", "pmix", "pmi1", "pmi2", "5", "6", "7"};
    if (boot_init() != GW_OK) return 1;
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    check(strncmp(host, gw_boot.host, sizeof gw_boot.host - 1) == 0, "name of the host", 0);
    boot_map_segment(1 << 16, 0);
    nodes();
    if (gw_boot.how != BOOT_SINGLETON && (gw_boot.how != BOOT_GODWIT || gw_boot.nnodes > 1))
        exchange(argc > 1 && strcmp(argv[1], "barrier") == 0);
    printf("rank %d of %d, node %d of %d, local %d of %d on %s by %s\n", gw_boot.rank, gw_boot.size, gw_boot.node, gw_boot.nnodes,
           gw_boot.local_rank, gw_boot.nlocal, gw_boot.host, hows[gw_boot.how]);
    fflush(stdout);
    boot_fence();
    boot_leave();
    boot_finalize();
    return 0;
}
