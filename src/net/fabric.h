/* fabric.h -- libfabric, opened by dlopen: what it offers on this machine, and which of that a job uses.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_NET_FABRIC_H
#define GW_NET_FABRIC_H

#include "base/base.h" /* first: its container_of */

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include "net/iface.h"
#include "net/nic.h"
#include "net/offer.h"

/* ---- libfabric's real symbols (fabric.c); everything else is inline in its headers ---- */
#define OFI_API FI_VERSION(1, 14)
struct ofi_lib {
    int (*getinfo)(uint32_t version, const char *node, const char *service, uint64_t flags, const struct fi_info *hints,
                   struct fi_info **info);
    void (*freeinfo)(struct fi_info *info);
    struct fi_info *(*dupinfo)(const struct fi_info *info);
    int (*fabric)(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context);
    const char *(*strerror)(int errnum);
    uint32_t (*version)(void);
};
extern struct ofi_lib ofi_lib; /* a test fills in its own before the first lane is opened */
/* In MPI_Init, where nobody else should be reading the environment: psm, which libfabric may be linked with, is to install no handlers. */
void ofi_lib_prepare(void);
/* May the environment be changed for a moment, so that caches of registrations in libfabric hear what ours do? */
int ofi_lib_open(bool may_set_environment);

/* ---- libfabric's answers (choose.c) and their order, as long as it is open ---- */
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

/* ---- choice (choose.c) ---- */
struct fi_info *ofi_hints(uint64_t caps); /* what we are able to work with; for freeinfo() */
extern bool ofi_meets_others;             /* jobs of other hosts: set before the network is opened */
bool ofi_is_far(void); /* other nodes are other machines: those of our mpiexec, and of GODWIT_VNODES on one host, are faked ones */
/* The one to use, for freeinfo(); libfabric is open. */
int ofi_choose(struct fi_info **chosen_out);
extern struct nic_node ofi_node; /* the NICs of this node that ranks use, after the choice */
extern bool ofi_node_is_hardware;

#endif
