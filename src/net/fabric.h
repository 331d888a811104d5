/* fabric.h -- libfabric, opened by dlopen: the fi_info entries of this machine, and the choice of the one that a job uses.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_NET_FABRIC_H
#define GW_NET_FABRIC_H

#include "base/base.h" /* first: its container_of */

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include "net/iface.h"
#include "net/nic.h"
#include "net/offer.h"

/* ---- libfabric's exported functions (fabric.c); all others are inline in its headers ---- */
#define FABRIC_API FI_VERSION(1, 14)
struct fabric_lib {
    int (*getinfo)(uint32_t version, const char *node, const char *service, uint64_t flags, const struct fi_info *hints,
                   struct fi_info **info);
    void (*freeinfo)(struct fi_info *info);
    struct fi_info *(*dupinfo)(const struct fi_info *info);
    int (*fabric)(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context);
    const char *(*strerror)(int errnum);
    uint32_t (*version)(void);
};
extern struct fabric_lib fabric_lib; /* tests set their own functions before the first lane is opened */
/* In MPI_Init, while no other thread reads the environment: keeps psm, which libfabric may be linked with, from installing signal handlers. */
void fabric_lib_prepare(void);
/* may_set_environment: no other thread reads the environment, so variables for libfabric's registration caches may be set for a moment. */
int fabric_lib_open(bool may_set_environment);

/* ---- the ranked list of fi_info entries (choose.c); valid while it is open ---- */
struct fabric_infos {
    struct fi_info *list; /* all entries, for freeinfo() */
    int n, n_usable;
    struct net_offer *offers;       /* [n] */
    struct offer_verdict *verdicts; /* [n] */
    struct iface_list ifaces;
    struct offer_wish wish;
    char from[64]; /* text of wish.include_from */
    struct fabric_need {
        char by[96];
    } needs[4];     /* texts of wish.needs */
    int first;      /* the offer that would be chosen if settings needed nothing; -1: none */
    char told[512]; /* what settings asked for and the choice did not follow, or followed by passing others over */
};
int fabric_infos_open(struct fabric_infos *m, bool is_far);
void fabric_infos_close(struct fabric_infos *m);

/* ---- choice (choose.c) ---- */
struct fi_info *fabric_hints(uint64_t caps); /* hints for fi_getinfo(); the caller frees them by freeinfo() */
extern bool fabric_has_other_jobs; /* processes of other hosts will connect (spawn, connect); set before the network is opened */
bool fabric_is_far(void); /* the job's nodes are different hosts, rather than faked nodes of one host (mpiexec, GODWIT_VNODES) */
/* The entry to use, which the caller frees by freeinfo(); libfabric must be open.  GW_OK or an error. */
int fabric_choose(struct fi_info **chosen_out);
extern struct nic_node fabric_nics; /* the NICs of this node and their assignment to ranks; after fabric_choose() */
extern bool fabric_is_hardware;

#endif
