/* unused.c -- tells which settings that somebody has set are of no effect on the network that this job uses.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <strings.h>

#include "base/settings.h"
#include "net/network.h"

/* Settings of networks that not all networks obey, and what one must do that does. */
static const struct {
    const char *setting;
    enum network_trait needs;
} rows[] = {
    {"ofi_provider", NETWORK_IS_LIBFABRIC},
    {"ofi_provider_exclude", NETWORK_IS_LIBFABRIC},
    {"ofi_tclass", NETWORK_IS_LIBFABRIC},
    {"ofi_send_buffers", NETWORK_IS_LIBFABRIC},
    {"progress_event_cnt", NETWORK_IS_LIBFABRIC},
    {"match_mode", NETWORK_IS_LIBFABRIC},
    {"net_open", NETWORK_IS_LIBFABRIC},
    {"net_filter", NETWORK_IS_LIBFABRIC},
    {"nic_policy", NETWORK_IS_LIBFABRIC},
    {"nic_mapping", NETWORK_IS_LIBFABRIC},
    {"nic_count", NETWORK_IS_LIBFABRIC},
    {"reg_cache", NETWORK_IS_LIBFABRIC},
    {"reg_cache_entries", NETWORK_IS_LIBFABRIC},
    {"reg_cache_bytes", NETWORK_IS_LIBFABRIC},
    {"reg_cache_monitor", NETWORK_IS_LIBFABRIC},
    {"rma_network_atomics", NETWORK_IS_LIBFABRIC},
    {"ofi_tag_mode", NETWORK_MATCHES},
    {"match_entries", NETWORK_MATCHES},
    {"net_get_max", NETWORK_READS_MEMORY},
    {"net_chunk", NETWORK_READS_MEMORY},
};

static const char *const whys[] = {
    [NETWORK_IS_LIBFABRIC] = "between nodes messages go by TCP sockets of Godwit's own; GODWIT_WIRES=shm,ofi takes libfabric",
    [NETWORK_MATCHES] = "Godwit matches messages itself; FI_CXI_RX_MATCH_MODE=hardware lets the network do it",
    [NETWORK_READS_MEMORY] = "no card reads memory here, long messages are sent; MPICH_GNI_LMT_PATH=enabled lets libfabric read it",
};

static bool needs(const char *setting, enum network_trait trait)
{
    for (size_t i = 0; i < GW_ARRAY_LEN(rows); i++)
        if (strcmp(rows[i].setting, setting) == 0) return rows[i].needs == trait;
    return false;
}

void network_unused_tell(enum network_trait lacking)
{
    struct gw_setting_info info;
    const char *origin;
    char value[256];
    for (int i = gw_settings_next_set(0); i < gw_settings_count(); i = gw_settings_next_set(i + 1)) {
        gw_settings_get(i, &info, value, sizeof value, &origin);
        if (!needs(info.name, lacking) || strcasecmp(value, info.default_text) == 0) continue;
        gw_warn("%s=%s is of no effect: %s", origin, value, whys[lacking]);
    }
}
