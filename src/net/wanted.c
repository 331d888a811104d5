/* wanted.c -- decides, by this host's devices and the user's settings, whether libfabric is wanted.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>
#include <unistd.h>

#include "net/network.h"
#include "base/settings.h"

bool network_is_deferred;

bool network_counts_barriers(void) { return gw_set.coll && strcasestr(gw_set.coll, "barrier=atomics"); }

const char *network_chosen_by(void)
{
    static const char *const cards[] = {"/sys/class/infiniband", "/sys/class/cxi", "/sys/class/cxi_user"};
    const struct {
        const char *value, *name;
    } choices[] = {{gw_set.ofi_provider, "GODWIT_OFI_PROVIDER"},
                   {gw_set.ofi_provider_exclude, "GODWIT_OFI_PROVIDER_EXCLUDE"},
                   {gw_set.nic_count, "GODWIT_NIC_COUNT"},
                   {gw_set.nic_policy == GW_SET_NIC_POLICY_USER ? gw_set.nic_mapping : NULL, "GODWIT_NIC_MAPPING"},
                   {gw_set.ofi_tclass, "GODWIT_OFI_TCLASS"}};
    for (size_t i = 0; i < GW_ARRAY_LEN(cards); i++)
        if (access(cards[i], F_OK) == 0) return cards[i];
    for (size_t i = 0; i < GW_ARRAY_LEN(choices); i++)
        if (choices[i].value && *choices[i].value) return gw_setting_said(choices[i].name);
    return gw_set.match_mode != GW_SET_MATCH_MODE_SOFTWARE ? gw_setting_said("GODWIT_MATCH_MODE") : NULL;
}

const char *network_wants_libfabric(void)
{
    const char *by = network_chosen_by();
    bool is_read = gw_set.net_rendezvous == GW_SET_NET_RENDEZVOUS_ENABLED; /* peers access the program's memory */
    if (by || is_read) return by ? by : gw_setting_said("GODWIT_NET_RENDEZVOUS");
    if (gw_set.rma_network_atomics) return gw_setting_said("GODWIT_RMA_NETWORK_ATOMICS");
    if (network_counts_barriers()) return "GODWIT_COLL=barrier=atomics";
    if (gw_set.nic_verbose > 0) return gw_setting_said("GODWIT_NIC_VERBOSE");
    return gw_set.nic_counter_report > 0 ? gw_setting_said("GODWIT_NIC_COUNTER_REPORT") : NULL;
}
