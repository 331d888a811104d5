/* address.c -- the address of this host for other hosts, and messages about peers that do not answer.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "net/iface.h"
#include "net/network.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>

#include "base/settings.h"
#include "boot/boot.h"
#include "boot/port.h"

static char iface_found[IFACE_NAME];

/* The wish for an interface that there is none of, which ends jobs between hosts, leaves faked nodes where they would be without it. */
static void none_chosen_tell(void)
{
    static atomic_flag is_told = ATOMIC_FLAG_INIT;
    if (gw_boot.rank > 0 || atomic_flag_test_and_set(&is_told)) return;
    gw_warn(
        "%s=%s is of no effect: no interface of %s that is up and has an address is meant by that, and faked nodes go by the loopback",
        gw_setting_said("GODWIT_NET_IFACE"), gw_set.net_iface, gw_boot.host);
}

/* The address of the best interface, chosen as for providers over TCP. */
bool network_address(bool is_far, struct sockaddr_storage *out)
{
    struct sockaddr_in *four = (void *)out;
    struct sockaddr_in6 *six = (void *)out;
    struct iface_list f;
    *out = (struct sockaddr_storage){.ss_family = AF_INET};
    four->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    snprintf(iface_found, sizeof iface_found, "lo");
    bool is_chosen = gw_set.net_iface && *gw_set.net_iface;
    if (!is_far && !is_chosen) return true;
    iface_list_read(&f);
    const struct iface_address *a = f.n_usable > 0 ? iface_best_address(&f.all[f.verdicts[0].iface]) : NULL;
    bool is_fit = a && !iface_is_link_local(a);
    if (is_fit && a->family == AF_INET6) {
        out->ss_family = AF_INET6;
        memcpy(&six->sin6_addr, a->bytes, sizeof six->sin6_addr);
    } else if (is_fit) {
        memcpy(&four->sin_addr, a->bytes, sizeof four->sin_addr);
    }
    if (is_fit) snprintf(iface_found, sizeof iface_found, "%s", f.all[f.verdicts[0].iface].name);
    iface_list_free(&f);
    if (!is_fit && !is_far) none_chosen_tell();
    return is_fit || !is_far;
}

const char *network_iface(void) { return iface_found; }

bool network_is_last(uint64_t seconds) { return gw_set.net_timeout > 0 && seconds >= (uint64_t)gw_set.net_timeout; }

void network_complain_of(int rank, const char *name, const struct sockaddr *peer, socklen_t bytes, uint64_t seconds)
{
    char way[128], text[512];
    int rc = iface_towards(peer, bytes, way, sizeof way);
    snprintf(text, sizeof text,
             "rank %d (host %s) gets no answer from rank %d at %s, %s%s, for %llu s: is that network between the two? "
             "GODWIT_NET_IFACE names the one to use, a firewall may be in the way",
             gw_boot.rank, gw_boot.host, rank, name, rc ? "to which there is no way" : "by way of ", rc ? "" : way,
             (unsigned long long)seconds);
    if (network_is_last(seconds)) gw_die("%s", text);
    gw_warn("%s", text);
}

void network_differs(int rank, const char *wire)
{
    gw_die(
        "rank %d does not use the network in the same way as this one (rank %d), which goes by %s (GODWIT_WIRES=%s): set GODWIT_WIRES "
        "alike for all ranks",
        rank, gw_boot.rank, wire, gw_set.wires);
}

void network_complain(int rank, const struct sockaddr *peer, uint64_t seconds)
{
    struct sockaddr_storage at = {0};
    char name[BOOT_ADDRESS_TEXT];
    socklen_t bytes = peer->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    memcpy(&at, peer, bytes);
    boot_address_text(&at, name);
    network_complain_of(rank, name, peer, bytes, seconds);
}
