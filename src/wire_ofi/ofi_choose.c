/* ofi_choose.c -- which provider of libfabric, and which of its addresses.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_ofi/ofi_private.h"

#include <netinet/in.h>

struct fi_info *ofi_hints(uint64_t caps)
{
    struct fi_info *h = ofi_lib.dupinfo(NULL);
    if (!h) return NULL;
    h->ep_attr->type = FI_EP_RDM;
    h->caps = caps;
    h->mode = FI_CONTEXT | FI_CONTEXT2;
    h->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_VIRT_ADDR | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
    h->domain_attr->threading = FI_THREAD_DOMAIN; /* a lane, a lock, a domain */
    h->domain_attr->control_progress = h->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    h->tx_attr->msg_order = h->rx_attr->msg_order = FI_ORDER_SAS;
    return h;
}

/* Reaches nothing but this node. */
static bool is_near(const struct fi_info *i)
{
    if (i->addr_format == FI_ADDR_STR) return true; /* names of shared memory */
    const struct sockaddr_in *a = i->src_addr;
    const struct sockaddr_in6 *b = i->src_addr;
    if (!a) return false;
    if (i->addr_format == FI_SOCKADDR_IN) return ntohl(a->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    if (i->addr_format == FI_SOCKADDR_IN6)
        return IN6_IS_ADDR_LOOPBACK(&b->sin6_addr) || IN6_IS_ADDR_LINKLOCAL(&b->sin6_addr);
    return false;
}

/* Lower is better; between equals the library's own order decides. */
static int rank_of(const struct fi_info *i)
{
    bool is_layered = strchr(i->fabric_attr->prov_name, ';');
    bool is_slow = i->domain_attr->data_progress == FI_PROGRESS_AUTO; /* it would not do without a thread of its own */
    return (i->caps & FI_RMA ? 0 : 16) + (is_slow ? 8 : 0) + (is_layered ? 4 : 0) + (is_near(i) ? 2 : 0) +
           (i->addr_format == FI_SOCKADDR_IN6);
}

static bool is_wanted(const struct fi_info *i, const char *wanted)
{
    return !wanted || !wanted[0] || strcmp(i->fabric_attr->prov_name, wanted) == 0;
}

struct fi_info *ofi_choose(struct fi_info *list, const char *wanted, bool far)
{
    struct fi_info *best = NULL;
    char names[256] = "";
    size_t used = 0;
    for (struct fi_info *i = list; i; i = i->next) {
        const char *name = i->fabric_attr->prov_name;
        if (!strstr(names, name) && used + strlen(name) + 3 < sizeof names) {
            if (used) names[used++] = ',', names[used++] = ' ';
            memcpy(names + used, name, strlen(name) + 1);
            used += strlen(name);
        }
        if (!is_wanted(i, wanted) || (far && is_near(i))) continue;
        if (!best || rank_of(i) < rank_of(best)) best = i;
    }
    if (best) return best;
    gw_fail(GW_EUNSUPPORTED,
            "libfabric has no provider that reaches the other nodes%s%s%s: it offers %s (fi_info lists them)",
            wanted && wanted[0] ? " and is called \"" : "", wanted ? wanted : "",
            wanted && wanted[0] ? "\" as GODWIT_OFI_PROVIDER says" : "", names[0] ? names : "none");
    return NULL;
}
