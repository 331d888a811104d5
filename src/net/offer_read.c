/* offer_read.c -- makes struct net_offer of libfabric's struct fi_info and of this machine's interfaces.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>

#include "net/net_private.h"
#include "base/settings.h"

static void address_text(const struct fi_info *i, char *out, size_t cap)
{
    const struct sockaddr_in *a4 = i->src_addr;
    const struct sockaddr_in6 *a6 = i->src_addr;
    const uint8_t *raw = i->src_addr;
    *out = 0;
    if (!i->src_addr) return;
    if (i->addr_format == FI_ADDR_STR) {
        snprintf(out, cap, "%s", (const char *)i->src_addr);
    } else if (i->addr_format == FI_SOCKADDR_IN) {
        inet_ntop(AF_INET, &a4->sin_addr, out, (socklen_t)cap);
    } else if (i->addr_format == FI_SOCKADDR_IN6) {
        inet_ntop(AF_INET6, &a6->sin6_addr, out, (socklen_t)cap);
    } else {
        int at = snprintf(out, cap, "0x");
        for (size_t k = 0; k < i->src_addrlen && (size_t)at + 3 < cap; k++)
            at += snprintf(out + at, cap - (size_t)at, "%02x", raw[k]);
    }
}

static bool is_loopback(const struct fi_info *i)
{
    const struct sockaddr_in *a4 = i->src_addr;
    const struct sockaddr_in6 *a6 = i->src_addr;
    if (!i->src_addr) return false;
    if (i->addr_format == FI_SOCKADDR_IN) return ntohl(a4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    return i->addr_format == FI_SOCKADDR_IN6 && IN6_IS_ADDR_LOOPBACK(&a6->sin6_addr);
}

static bool is_link_local(const struct fi_info *i)
{
    const struct sockaddr_in6 *a6 = i->src_addr;
    return i->src_addr && i->addr_format == FI_SOCKADDR_IN6 && IN6_IS_ADDR_LINKLOCAL(&a6->sin6_addr);
}

static void copy(char *to, size_t cap, const char *from) { snprintf(to, cap, "%s", from ? from : ""); }

/* Takes over the card's attributes, if the provider reports a card. */
static void take_nic(struct net_offer *o, const struct fid_nic *nic)
{
    if (!nic) return;
    if (nic->bus_attr && nic->bus_attr->bus_type == FI_BUS_PCI) {
        o->has_bus = true;
        o->pci_domain = nic->bus_attr->attr.pci.domain_id;
        o->pci_bus = nic->bus_attr->attr.pci.bus_id;
        o->pci_device = nic->bus_attr->attr.pci.device_id;
        o->pci_function = nic->bus_attr->attr.pci.function_id;
    }
    if (!nic->link_attr) return;
    o->bits_per_s = nic->link_attr->speed;
    o->is_link_down = nic->link_attr->state == FI_LINK_DOWN;
}

void offer_of_info(const struct fi_info *i, struct net_offer *o)
{
    memset(o, 0, sizeof *o);
    copy(o->provider, sizeof o->provider, i->fabric_attr->prov_name);
    copy(o->fabric, sizeof o->fabric, i->fabric_attr->name);
    copy(o->domain, sizeof o->domain, i->domain_attr->name);
    address_text(i, o->address, sizeof o->address);
    o->caps = i->caps;
    o->mode = i->mode;
    o->msg_order = i->tx_attr->msg_order & i->rx_attr->msg_order;
    o->mem_tag_format = i->ep_attr->mem_tag_format;
    o->ep_type = (int)i->ep_attr->type;
    o->mr_mode = i->domain_attr->mr_mode;
    o->protocol = i->ep_attr->protocol;
    o->addr_format = i->addr_format;
    o->is_loopback = is_loopback(i);
    o->is_link_local = is_link_local(i);
    o->inject_size = i->tx_attr->inject_size;
    o->max_msg_size = i->ep_attr->max_msg_size;
    o->cq_data_size = i->domain_attr->cq_data_size;
    o->mr_key_size = i->domain_attr->mr_key_size;
    take_nic(o, i->nic);
}

static bool is_by_iface(const struct net_offer *o, const struct fi_info *p)
{
    return !offer_is_hardware(o) && p->src_addr && (p->addr_format == FI_SOCKADDR_IN || p->addr_format == FI_SOCKADDR_IN6);
}

/* Should only the loopback interface be used?  Yes if all ranks are on this host, it has one, and the user has chosen nothing
 * else: then no port is open to the network. */
static bool is_loopback_enough(const struct net_offer *offers, const struct fi_info *list, int n, bool is_far)
{
    const char *const choices[] = {gw_set.net_iface, gw_set.nic_count, gw_set.nic_mapping};
    bool has = false;
    int i = 0;
    for (size_t k = 0; k < GW_ARRAY_LEN(choices); k++)
        if (choices[k] && *choices[k]) return false;
    for (const struct fi_info *p = list; p && i < n; p = p->next, i++)
        has = has || (is_by_iface(&offers[i], p) && offers[i].is_loopback);
    return has && !is_far;
}

/* Sets the members of offers that depend on the interface they use. */
void offer_match_ifaces(struct net_offer *offers, const struct fi_info *list, int n, const struct iface_list *f, bool is_far)
{
    int i = 0;
    bool is_here = is_loopback_enough(offers, list, n, is_far);
    for (const struct fi_info *p = list; p && i < n; p = p->next, i++) {
        struct net_offer *o = &offers[i];
        if (!is_by_iface(o, p)) continue;
        if (is_here && !o->is_loopback)
            copy(o->iface_why, sizeof o->iface_why, "all ranks are on this host: the loopback is enough");
        if (is_here) continue;
        int at = iface_of_address(f->all, f->n, p->src_addr);
        for (int v = 0; at >= 0 && v < f->n; v++) {
            if (f->verdicts[v].iface != at) continue;
            o->iface_order = v;
            if (f->verdicts[v].is_refused && (is_far || f->n_usable > 0))
                copy(o->iface_why, sizeof o->iface_why, f->verdicts[v].why);
            if (!f->verdicts[v].is_refused && f->all[at].is_loopback) o->is_loopback = false; /* the user has listed it */
            if (!o->bits_per_s) o->bits_per_s = (uint64_t)f->all[at].mbit_per_s * 1000000;
        }
    }
}

int iface_list_read(struct iface_list *f)
{
    *f = (struct iface_list){0};
    f->n = iface_read(&f->all);
    if (f->n <= 0) {
        int rc = f->n;
        *f = (struct iface_list){0};
        return rc; /* interfaces unknown: none is refused */
    }
    f->verdicts = calloc((size_t)f->n, sizeof *f->verdicts);
    if (!f->verdicts) {
        iface_list_free(f);
        return -1;
    }
    f->n_usable = iface_rank(f->all, f->n, gw_set.net_iface, f->verdicts);
    return f->n;
}

void iface_list_free(struct iface_list *f)
{
    free(f->all);
    free(f->verdicts);
    *f = (struct iface_list){0};
}
