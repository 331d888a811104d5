/* iface.c -- see iface.h: refuses and ranks interfaces; iface_read.c reads them.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "net/iface.h"
#include "base/settings.h"

#include <arpa/inet.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- addresses ---------------------------------------------------------------------------------- */
static int address_bits(int family) { return family == AF_INET ? 32 : 128; }

static bool is_in_network(const struct iface_address *a, const struct iface_address *net)
{
    if (a->family != net->family) return false;
    for (int bit = 0; bit < net->prefix; bit++) {
        int mask = 0x80 >> bit % 8;
        if ((a->bytes[bit / 8] & mask) != (net->bytes[bit / 8] & mask)) return false;
    }
    return true;
}

/* "10.0.0.0/8", "fd00::2" */
static bool network_parse(const char *word, size_t n, struct iface_address *out)
{
    char text[64];
    if (n >= sizeof text) return false;
    memcpy(text, word, n);
    text[n] = 0;
    char *slash = strchr(text, '/'), *end = NULL;
    if (slash) *slash = 0;
    *out = (struct iface_address){.family = strchr(text, ':') ? AF_INET6 : AF_INET};
    if (inet_pton(out->family, text, out->bytes) != 1) return false;
    out->prefix = address_bits(out->family);
    if (!slash) return true;
    long prefix = strtol(slash + 1, &end, 10);
    if (end == slash + 1 || *end || prefix < 0 || prefix > out->prefix) return false;
    out->prefix = (int)prefix;
    return true;
}

bool iface_is_link_local(const struct iface_address *a)
{
    return a->family == AF_INET ? a->bytes[0] == 169 && a->bytes[1] == 254 : a->bytes[0] == 0xfe && (a->bytes[1] & 0xc0) == 0x80;
}

int iface_of_address(const struct iface *all, int n, const struct sockaddr *address)
{
    struct iface_address a = {.family = address->sa_family};
    if (a.family != AF_INET && a.family != AF_INET6) return -1;
    a.prefix = address_bits(a.family);
    if (a.family == AF_INET)
        memcpy(a.bytes, &((const struct sockaddr_in *)(const void *)address)->sin_addr, 4);
    else
        memcpy(a.bytes, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, 16);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < all[i].n_addresses; k++)
            if (is_in_network(&all[i].addresses[k], &a)) return i;
    return -1;
}

const struct iface_address *iface_best_address(const struct iface *i)
{
    const struct iface_address *best = NULL;
    for (int k = 0; k < i->n_addresses; k++) {
        const struct iface_address *a = &i->addresses[k];
        if (!best || iface_is_link_local(best) > iface_is_link_local(a) ||
            (iface_is_link_local(best) == iface_is_link_local(a) && best->family == AF_INET6 && a->family == AF_INET))
            best = a;
    }
    return best;
}

/* ---- the user's list ---------------------------------------------------------------------------- */
static bool word_names(const char *word, size_t n, const struct iface *i)
{
    struct iface_address net;
    if (strlen(i->name) == n && strncmp(i->name, word, n) == 0) return true;
    if (!network_parse(word, n, &net)) return false;
    for (int k = 0; k < i->n_addresses; k++)
        if (is_in_network(&i->addresses[k], &net)) return true;
    return false;
}

/* The position (from 1) of the word that names the interface; 0: none; -1: a word with ^ names it.  *any_out: there are words
 * without ^. */
static int listed_at(const char *list, const struct iface *i, bool *any_out)
{
    int at = 0, found = 0;
    *any_out = false;
    for (const char *p = list ? list : ""; *p;) {
        p += strspn(p, ", ");
        bool is_not = *p == '^';
        p += is_not;
        size_t n = strcspn(p, ", ");
        if (n) {
            at++;
            *any_out |= !is_not;
            if (word_names(p, n, i)) {
                if (is_not) return -1;
                if (!found) found = at;
            }
        }
        p += n;
    }
    return found;
}

/* ---- refusing and ranking ----------------------------------------------------------------------- */
enum { IP6GRE = 823 }; /* ARPHRD_IP6GRE, which the C library does not know */
static const char *tunnel_kind(const struct iface *i)
{
    static const char *const kinds[] = {"vxlan", "geneve", "gre",    "gretap", "ip6gre",    "ip6gretap",
                                        "ipip",  "sit",    "ip6tnl", "erspan", "wireguard", "vti"};
    for (size_t k = 0; k < GW_ARRAY_LEN(kinds); k++)
        if (strcmp(i->kind, kinds[k]) == 0) return kinds[k];
    switch (i->type) {
    case ARPHRD_NONE:
    case ARPHRD_PPP:
    case ARPHRD_TUNNEL:
    case ARPHRD_TUNNEL6:
    case ARPHRD_SIT:
    case ARPHRD_IPGRE:
    case IP6GRE: return *i->kind ? i->kind : "a type of them";
    }
    return NULL;
}

static bool refuse(struct iface_verdict *v, const char *fmt, ...) GW_PRINTF(2, 3);
static bool refuse(struct iface_verdict *v, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(v->why, sizeof v->why, fmt, ap);
    va_end(ap);
    return v->is_refused = true;
}

static bool refuse_by_fact(const struct iface *i, struct iface_verdict *v)
{
    if (!i->is_up) return refuse(v, "%s is down", i->name);
    if (!i->has_carrier) return refuse(v, "%s has no carrier: the cable is out, or its other end down", i->name);
    if (i->is_member) return refuse(v, "%s is part of a bridge or bond", i->name);
    if (!i->n_addresses) return refuse(v, "%s has no address", i->name);
    return false;
}

static bool refuse_by_guess(const struct iface *i, struct iface_verdict *v)
{
    const char *tunnel = tunnel_kind(i);
    if (i->is_loopback) return refuse(v, "%s reaches only this machine", i->name);
    if (strcmp(i->kind, "bridge") == 0) return refuse(v, "%s is a bridge of this machine", i->name);
    if (tunnel) return refuse(v, "%s is a tunnel (%s)", i->name, tunnel);
    if (i->is_p2p) return refuse(v, "%s is a point-to-point link", i->name);
    return false;
}

/* < 0: `a` is better.  Compares criteria in order; in each the lower number is better, and the first difference decides. */
static int compare(const struct iface *a, int listed_a, const struct iface *b, int listed_b)
{
    assert(a->n_addresses > 0 && b->n_addresses > 0); /* refuse_by_fact() */
    const int64_t rows[][2] = {
        {listed_a, listed_b},
        {iface_is_link_local(iface_best_address(a)), iface_is_link_local(iface_best_address(b))},
        {strcmp(a->kind, "tun") == 0, strcmp(b->kind, "tun") == 0}, /* frames pass through a user process */
        {!a->is_hardware, !b->is_hardware},
        {-a->mbit_per_s, -b->mbit_per_s},
        {iface_best_address(a)->family == AF_INET6, iface_best_address(b)->family == AF_INET6},
        {a->index, b->index},
    };
    for (size_t i = 0; i < GW_ARRAY_LEN(rows); i++)
        if (rows[i][0] != rows[i][1]) return rows[i][0] < rows[i][1] ? -1 : 1;
    return 0;
}

int iface_rank(const struct iface *all, int n, const char *list, struct iface_verdict *verdicts_out)
{
    int usable = 0, refused = n;
    bool any;
    for (int i = n - 1; i >= 0; i--) {
        struct iface_verdict v = {.iface = i};
        int at = listed_at(list, &all[i], &any);
        bool is_out = at < 0 ? refuse(&v, "%s is excluded by %s=%s", all[i].name, gw_setting_said("GODWIT_NET_IFACE"), list)
            : any && !at     ? refuse(&v, "%s is not in %s=%s", all[i].name, gw_setting_said("GODWIT_NET_IFACE"), list)
                             : refuse_by_fact(&all[i], &v) || (!at && refuse_by_guess(&all[i], &v));
        if (is_out) verdicts_out[--refused] = v;
    }
    for (int i = 0, r = refused; i < n; i++) {
        if (r < n && verdicts_out[r].iface == i) {
            r++;
            continue;
        }
        assert(usable < refused); /* no refused one is overwritten */
        int at = usable++;
        for (; at > 0; at--) {
            const struct iface *other = &all[verdicts_out[at - 1].iface];
            if (compare(&all[i], listed_at(list, &all[i], &any), other, listed_at(list, other, &any)) >= 0) break;
            verdicts_out[at] = verdicts_out[at - 1];
        }
        verdicts_out[at] = (struct iface_verdict){.iface = i};
    }
    assert(usable == refused && usable <= n);
    return usable;
}

void iface_text(const struct iface *i, char *out, size_t cap)
{
    char address[INET6_ADDRSTRLEN] = "no address";
    const struct iface_address *a = iface_best_address(i);
    if (a) inet_ntop(a->family, a->bytes, address, sizeof address);
    int at = snprintf(out, cap, "%s %s (", i->name, address);
    if (at < 0 || (size_t)at >= cap) return;
    if (i->mbit_per_s > 0)
        snprintf(out + at, cap - (size_t)at, "%lld Mbit/s, mtu %d)", (long long)i->mbit_per_s, i->mtu);
    else
        snprintf(out + at, cap - (size_t)at, "mtu %d)", i->mtu);
}
