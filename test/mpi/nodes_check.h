/* nodes_check.h -- which ranks share a node, for tests that also run on several.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TEST_NODES_CHECK_H
#define GW_TEST_NODES_CHECK_H

#include <unistd.h>

#include "p2p_check.h"

/* Of each rank of WORLD the lowest one on its node, as host names and GODWIT_VNODES=NUMBER say. */
static inline void nodes_find(int *lowest)
{
    enum { NAME = 80 };
    char mine[NAME] = "", *all = calloc((size_t)size, NAME);
    const char *vnodes = getenv("GODWIT_VNODES");
    int nodes = vnodes ? atoi(vnodes) : 1, block = 0;
    if (nodes > size) nodes = size;
    for (int end = 0; nodes > 1; block++)
        if (rank < (end += size / nodes + (block < size % nodes))) break;
    gethostname(mine, NAME - 16);
    snprintf(mine + strlen(mine), 16, " %d", block);
    MPI_Allgather(mine, NAME, MPI_CHAR, all, NAME, MPI_CHAR, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        for (lowest[i] = 0; strcmp(all + (size_t)lowest[i] * NAME, all + (size_t)i * NAME) != 0;) lowest[i]++;
    free(all);
}
/* Whether that rank of c is on this rank's node; collective over c. */
static inline int is_neighbour(MPI_Comm c, int other)
{
    MPI_Comm node;
    MPI_Group all, ours;
    int there;
    MPI_Comm_split_type(c, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_group(c, &all);
    MPI_Comm_group(node, &ours);
    MPI_Group_translate_ranks(all, 1, &other, ours, &there);
    MPI_Group_free(&all);
    MPI_Group_free(&ours);
    MPI_Comm_free(&node);
    return there != MPI_UNDEFINED;
}
static inline int is_one_node(MPI_Comm c)
{
    MPI_Comm node;
    int n, here;
    MPI_Comm_split_type(c, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(c, &n);
    MPI_Comm_size(node, &here);
    MPI_Comm_free(&node);
    return here == n;
}
/* By host names: faked nodes are on one host. */
static inline int is_one_host(MPI_Comm c)
{
    char name[64] = "", first[64];
    int same, all;
    gethostname(name, sizeof name - 1);
    memcpy(first, name, sizeof name);
    MPI_Bcast(first, sizeof first, MPI_CHAR, 0, c);
    same = strcmp(first, name) == 0;
    MPI_Allreduce(&same, &all, 1, MPI_INT, MPI_MIN, c);
    return all;
}

#endif
