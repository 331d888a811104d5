/* network_private.h -- what the files that look at this machine's networks share.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_WIRE_OFI_NETWORK_PRIVATE_H
#define GW_WIRE_OFI_NETWORK_PRIVATE_H

#include "wire_ofi/iface.h"
#include "wire_ofi/network.h"
#include "wire_ofi/nic.h"
#include "wire_ofi/offer.h"
#include "wire_ofi/ofi_private.h"

/* ---- offer_read.c ---- */
struct ofi_ifaces {
    struct iface *all;
    struct iface_verdict *verdicts;
    int n, n_usable;
};
int ofi_ifaces_read(struct ofi_ifaces *f); /* with GODWIT_NET_IFACE's list; the number, or negative and empty */
void ofi_ifaces_free(struct ofi_ifaces *f);
void ofi_offer_of(const struct fi_info *i, struct ofi_offer *o);
/* For the first n of the list, whose offers these are.  A job of one machine takes any interface where none is fit. */
void ofi_offers_see_ifaces(struct ofi_offer *offers, const struct fi_info *list, int n, const struct ofi_ifaces *f, bool is_far);

/* ---- ofi_choose.c: libfabric's answers and their order, as long as it is open ---- */
struct ofi_market {
    struct fi_info *list; /* of all answers, for freeinfo() */
    int n, n_usable;
    struct ofi_offer *offers;     /* [n] */
    struct ofi_verdict *verdicts; /* [n] */
    struct ofi_ifaces ifaces;
    struct ofi_wish wish;
    char from[64]; /* the variable that wish.include_from names */
};
int ofi_market_open(struct ofi_market *m, bool is_far);
void ofi_market_close(struct ofi_market *m);
/* The offers of the chosen provider that are NICs of their own, by name; the chosen one at least.  The number. */
int ofi_market_nics(const struct ofi_market *m, int offers_out[NIC_MOST]);
extern struct nic_node ofi_node; /* the NICs of this node that ranks use, after the choice */
extern bool ofi_node_is_hardware;

/* ---- nic_here.c: where things are on this machine ---- */
/* `root` stands before /sys, "" but for tests. */
void nic_locate(const char *root, const struct ofi_offer *o, struct nic_device *d);
void nic_distances(const char *root, struct nic_node *node);
void nic_gpus(const char *root, struct nic_node *node);
/* The NUMA node that a process may run on: NIC_SEVERAL, or NIC_UNKNOWN where it is not to be found. */
int nic_numa_of_process(const char *root, pid_t pid);
/* Of all ranks of this node; waits a moment for those that are not there yet. */
void nic_places(const struct nic_node *node, struct nic_place *places_out);

#endif
