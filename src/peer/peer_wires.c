/* peer_wires.c -- the table of wires, and the choice of the network.  Only here peer/ names particular wires.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "peer/peer_private.h"

#include "base/settings.h"
#include "boot/boot.h"
#include "net/network.h"
#include "wire_ofi/ofi.h"
#include "wire_shm/shm.h"
#include "wire_tcp/tcp.h"

const struct wire_ops *peer_wires[PEER_WIRES] = {&shm_ops, &ofi_ops};

/* Networks by their words in GODWIT_WIRES.  The first is used that is listed and has no reason against it. */
static const struct net_row {
    const char *word;
    const struct wire_ops *ops;
    const char *(*against)(void); /* the reason not to use it on this host with these settings, or NULL; may be NULL */
} nets[] = {
    {"tcp", &tcp_ops, network_wants_libfabric},
    {"ofi", &ofi_ops, NULL},
};

bool peer_may_net(void)
{
    bool may = false;
    for (size_t i = 0; i < GW_ARRAY_LEN(nets); i++) may = may || gw_set_lists(gw_set.wires, nets[i].word);
    return peer_wires[1] && may;
}

/* Keeps a wire that a test has set. */
void peer_choose_net(bool is_wanted)
{
    const struct net_row *chosen = NULL;
    const char *why = NULL;
    bool is_ours = false;
    for (size_t i = 0; i < GW_ARRAY_LEN(nets); i++) {
        bool is_better = !chosen || (chosen->against && (why = chosen->against()) != NULL);
        is_ours = is_ours || peer_wires[1] == nets[i].ops;
        if (is_better && gw_set_lists(gw_set.wires, nets[i].word)) chosen = &nets[i];
    }
    if (!is_ours || !chosen) return;
    peer_wires[1] = chosen->ops;
    if (is_wanted)
        GW_EXPLAIN(GW_LOG_WIRE, "between nodes: %s of GODWIT_WIRES=%s%s%s", chosen->word, gw_set.wires, why ? ", because of " : "",
                   why ? why : "");
}

const char *peer_protection(void)
{
    return gw_set.net_tls ? "GODWIT_NET_TLS" : gw_set.net_auth == GW_SET_NET_AUTH_MUNGE ? "GODWIT_NET_AUTH=munge" : NULL;
}

int peer_check_protection(void)
{
    const char *protection = peer_protection();
    if (!protection || peer_wires[1] != &ofi_ops) return GW_OK;
    const char *why = network_wants_libfabric();
    return gw_fail(GW_EUNSUPPORTED,
                   "%s protects connections of Godwit's own TCP sockets, and this job goes by libfabric (%s): leave the one or the "
                   "other, or set GODWIT_WIRES=shm,tcp",
                   protection, why ? why : "GODWIT_WIRES has no tcp");
}

void peer_tell_unused(struct gw_lane *lane)
{
    const struct lane_wire *net = peer_next_net(lane, NULL);
    struct wire_caps caps = {.soft = true, .get = true}; /* of a network that is opened with the first message: no card's is */
    if (gw_boot.rank != 0 || gw_boot.size == 1 || gw_boot.parent.name) return; /* who started a spawned job has told it */
    if (net && !network_is_deferred) net->ops->caps(net->wire, &caps);
    bool is_ofi = net && net->ops == &ofi_ops, may_match = gw_set.match_mode != GW_SET_MATCH_MODE_SOFTWARE && !gw_checking;
    bool may_read =
        gw_set.net_rendezvous == GW_SET_NET_RENDEZVOUS_AUTO ? !caps.soft : gw_set.net_rendezvous == GW_SET_NET_RENDEZVOUS_ENABLED;
    network_unused_tell((net ? 0 : NETWORK_IS_THERE) | (gw_boot.nnodes == gw_boot.size ? NETWORK_IS_SPARED : 0) |
                        (is_ofi ? 0 : NETWORK_IS_LIBFABRIC) | (is_ofi && may_match ? 0 : NETWORK_MATCHES) |
                        (net && caps.get && may_read ? 0 : NETWORK_READS_MEMORY));
}
