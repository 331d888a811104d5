/* net_private.h -- shared by the files of net/: offers of providers, and the places of network cards, GPUs and ranks.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_NET_NET_PRIVATE_H
#define GW_NET_NET_PRIVATE_H

#include "net/fabric.h"
#include "net/network.h"

/* ---- offer_read.c ---- */
void offer_of_info(const struct fi_info *i, struct net_offer *o);
/* Sets the interface of each of the n offers, which are those of the first n entries of the list.  is_far false (a job of one host): any
 * interface is taken if none is fit for other hosts. */
void offer_match_ifaces(struct net_offer *offers, const struct fi_info *list, int n, const struct iface_list *f, bool is_far);

/* ---- choose.c ---- */
/* The chosen provider's offers on different NICs, sorted by name, at least the chosen one.  Returns how many. */
int fabric_infos_nics(const struct fabric_infos *m, int offers_out[NIC_MOST]);

/* ---- nic_here.c: NUMA nodes and PCI distances of this host.  root: prefix of /sys, "" except in tests ---- */
void nic_locate(const char *root, const struct net_offer *o, struct nic_device *d);
void nic_distances(const char *root, struct nic_node *node);
void nic_gpus(const char *root, struct nic_node *node);
/* The NUMA node on whose CPUs a process may run; NIC_SEVERAL; or NIC_UNKNOWN. */
int nic_numa_of_process(const char *root, pid_t pid);
/* Fills in the places of all ranks of this node; waits briefly for ranks that have not started. */
void nic_places(const struct nic_node *node, struct nic_place *places_out);

#endif
