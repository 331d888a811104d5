/* peer_wires.c -- which wires there are, and which network is used.  The only place where peer/ names a wire.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "peer/peer_private.h"

#include "base/settings.h"
#include "net/network.h"
#include "wire_ofi/ofi.h"
#include "wire_shm/shm.h"
#include "wire_tcp/tcp.h"

const struct wire_ops *peer_wires[PEER_WIRES] = {&shm_ops, &ofi_ops};

/* The wires between nodes, by their words in GODWIT_WIRES: the first one that is listed, and that nothing speaks against. */
static const struct net_row {
    const char *word;
    const struct wire_ops *ops;
    const char *(*against)(void); /* why not, on this host and with these settings; NULL: nothing */
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

/* A test's wire stays. */
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
