/* nic.h -- assignment of a node's network cards (NICs) to ranks: a pure function of node, policy and rank.
 *
 * Each rank uses exactly one NIC for life.
 *
 *   BLOCK        the first ceil(ranks / NICs) ranks the first NIC, the next as many the second, ...
 *   ROUND-ROBIN  rank r NIC r modulo NICs
 *   NUMA         the NIC nearest to the rank's NUMA node; of several the one that has the fewest ranks so far
 *   GPU          the NIC nearest to the rank's GPU, by PCI bridges in common, then by NUMA distance
 *   USER         as nic_mapping says: "0:0,2,4-7; 1:1,3"
 *
 * A policy that does not apply to a rank (not bound to a single NUMA node, no GPU) warns once and falls back; it never ends a job.  Invalid
 * settings do.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_NET_NIC_H
#define GW_NET_NIC_H

#include "base/base.h"

enum nic_policy { NIC_BLOCK, NIC_ROUND_ROBIN, NIC_NUMA, NIC_GPU, NIC_USER, NIC_POLICIES }; /* the order of the setting nic_policy */
extern const char *const nic_policy_names[NIC_POLICIES];

enum { NIC_MOST = 64, NIC_NUMA_MOST = 64, NIC_PATH = 192, NIC_TEXT = 64, NIC_FAR = 255 };
enum { NIC_UNKNOWN = -1, NIC_SEVERAL = -2 }; /* in place of a NUMA node: unknown; a rank that may run on several */

struct nic_device { /* a NIC, or a GPU */
    char name[NIC_TEXT], address[96];
    int numa;            /* number of its NUMA node or NIC_UNKNOWN */
    char path[NIC_PATH]; /* of its PCI device, bridge by bridge: "pci0000:40/0000:40:03.1/0000:41:00.0"; "": unknown */
};
struct nic_place {
    int numa, gpu;
}; /* of a rank: the NUMA node that it is bound to; index of its GPU, NIC_UNKNOWN: none */
struct nic_node {
    int n_nics, n_gpus, n_ranks;
    struct nic_device nics[NIC_MOST], gpus[NIC_MOST];
    const struct nic_place *ranks;                  /* [n_ranks] by local rank */
    uint8_t distance[NIC_NUMA_MOST][NIC_NUMA_MOST]; /* between NUMA nodes; 0: unknown */
};

/* Fills nic_out[n_ranks].  `mapping`: for NIC_USER.  note_out (cap bytes): why the policy was not followed; "": it was. */
int nic_assign(const struct nic_node *node, enum nic_policy policy, const char *mapping, int *nic_out, char *note_out, size_t cap);

/* Setting nic_count: "": all; "2": the first two; "2:1,3": these.  Reduces list[n] to the selected ones, *n_out of them, in the user's order. */
int nic_select(const char *text, int n, int *list_out, int *n_out);

/* GW_OK, or an error that names both hosts: this one has another number of NICs than that of rank other_pe. */
int nic_check_symmetry(const char *host, int n, int other_pe, int other_n);

/* nic_verbose: a line per NIC of the node (1), and one per rank (2).  `pe` is the rank in the job. */
void nic_text(const char *host, int pe, const struct nic_device *nic, int index, int n, char *out, size_t cap);
void nic_rank_text(const char *host, int pe, const struct nic_device *nic, int index, char *out, size_t cap);
/* "NIC 0 (cxi0): 6 ranks, ..." */
/* Which ranks each card serves; ranks: of the job, by local rank, ascending. */
void nic_ranks_text(const char *host, int pe, const struct nic_node *node, const int *nic_of, const int *ranks, char *out,
                    size_t cap);
void nic_load_text(const struct nic_node *node, const int *nic_of, char *out, size_t cap);

#endif
