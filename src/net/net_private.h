/* net_private.h -- what the files that look at this machine's networks share.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_NET_NET_PRIVATE_H
#define GW_NET_NET_PRIVATE_H

#include "net/fabric.h"
#include "net/network.h"

/* ---- offer_read.c ---- */
void offer_of_info(const struct fi_info *i, struct net_offer *o);
/* For the first n of the list, whose offers these are.  A job of one machine takes any interface where none is fit. */
void offer_match_ifaces(struct net_offer *offers, const struct fi_info *list, int n, const struct iface_list *f, bool is_far);

/* ---- choose.c ---- */
/* The offers of the chosen provider that are NICs of their own, by name; the chosen one at least.  The number. */
int fabric_infos_nics(const struct fabric_infos *m, int offers_out[NIC_MOST]);

/* ---- nic_here.c: where things are on this machine ---- */
/* `root` stands before /sys, "" but for tests. */
void nic_locate(const char *root, const struct net_offer *o, struct nic_device *d);
void nic_distances(const char *root, struct nic_node *node);
void nic_gpus(const char *root, struct nic_node *node);
/* The NUMA node that a process may run on: NIC_SEVERAL, or NIC_UNKNOWN where it is not to be found. */
int nic_numa_of_process(const char *root, pid_t pid);
/* Of all ranks of this node; waits a moment for those that are not there yet. */
void nic_places(const struct nic_node *node, struct nic_place *places_out);

#endif
