/* unused.c -- tells which settings that somebody has set, and variables of the libraries below, are of no effect on the network that this
 * job uses.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/settings.h"
#include "net/network.h"

/* What a setting needs beside the network: another setting. */
enum {
    MAPS_CARDS = NETWORK_TRAITS, /* nic_policy=user */
    ASKS_FOR_CLASS = NETWORK_TRAITS << 1,
    REPORTS = NETWORK_TRAITS << 2,
    REPORTS_TO_FILES = NETWORK_TRAITS << 3
};
enum { NET = NETWORK_IS_THERE, LIBFABRIC = NETWORK_IS_THERE | NETWORK_IS_LIBFABRIC };

/* Settings that are not obeyed everywhere, and what they need. */
static const struct {
    const char *setting;
    unsigned needs;
} rows[] = {
    {"ofi_provider", LIBFABRIC},
    {"ofi_provider_exclude", LIBFABRIC},
    {"ofi_tclass", LIBFABRIC},
    {"ofi_tclass_errors", LIBFABRIC | ASKS_FOR_CLASS},
    {"ofi_send_buffers", LIBFABRIC},
    {"progress_event_cnt", LIBFABRIC},
    {"match_mode", LIBFABRIC},
    {"net_open", LIBFABRIC},
    {"net_filter", LIBFABRIC},
    {"net_iface", NET},
    {"nic_policy", LIBFABRIC},
    {"nic_mapping", LIBFABRIC | MAPS_CARDS},
    {"nic_count", LIBFABRIC},
    {"nic_verbose", LIBFABRIC},
    {"nic_skip_symmetry_test", LIBFABRIC},
    {"nic_counter_report", LIBFABRIC},
    {"nic_counter_file", LIBFABRIC | REPORTS},
    {"nic_counter_report_file", LIBFABRIC | REPORTS_TO_FILES},
    {"reg_cache", LIBFABRIC | NETWORK_READS_MEMORY},
    {"reg_cache_entries", LIBFABRIC | NETWORK_READS_MEMORY},
    {"reg_cache_bytes", LIBFABRIC | NETWORK_READS_MEMORY},
    {"reg_cache_monitor", LIBFABRIC | NETWORK_READS_MEMORY},
    {"rma_network_atomics", LIBFABRIC},
    {"rma_max_pending", NET},
    {"ofi_tag_mode", NET | NETWORK_MATCHES},
    {"match_entries", NET | NETWORK_MATCHES},
    {"net_get_max", NET | NETWORK_READS_MEMORY},
    {"net_chunk", NET | NETWORK_READS_MEMORY},
    {"net_short_max", NET},
    {"net_eager_max", NET},
    {"net_rendezvous", NET},
    {"dynamic_conn", NET},
    {"startup_connect", NET},
    {"add_procs_cutoff", NET},
    {"eager_max", NETWORK_IS_SPARED},
};

/* Of what is lacking the first row is told. */
static const struct {
    unsigned trait;
    const char *why;
} whys[] = {
    {NETWORK_IS_THERE, "all ranks are on one node, where messages go by shared memory"},
    {NETWORK_IS_SPARED, "no two ranks are on one node, and between nodes GODWIT_NET_EAGER_MAX counts"},
    {MAPS_CARDS, "MPICH_OFI_NIC_POLICY=user alone asks for it"},
    {ASKS_FOR_CLASS, "MPICH_OFI_DEFAULT_TCLASS asks for no traffic class"},
    {REPORTS, "MPICH_OFI_CXI_COUNTER_REPORT asks for no report"},
    {REPORTS_TO_FILES, "MPICH_OFI_CXI_COUNTER_REPORT=3, 4 or 5 alone writes files"},
    {NETWORK_IS_LIBFABRIC, "between nodes messages go by TCP sockets of Godwit's own; GODWIT_WIRES=shm,ofi takes libfabric"},
    {NETWORK_MATCHES, "Godwit matches messages itself; FI_CXI_RX_MATCH_MODE=hardware lets the network do it"},
    {NETWORK_READS_MEMORY, "no card reads memory here, long messages are sent; MPICH_GNI_LMT_PATH=enabled lets libfabric read it"},
};

/* Variables that a provider of libfabric reads, or the library of its cards. */
static const struct {
    const char *begin, *provider;
} readers[] = {{"FI_CXI_", "cxi"},         {"CXI_", "cxi"},    {"FI_OFI_RXM_", "ofi_rxm"}, {"FI_OFI_RXD_", "ofi_rxd"},
               {"FI_VERBS_", "verbs"},     {"FI_TCP_", "tcp"}, {"FI_NET_", "net"},         {"FI_UDP_", "udp"},
               {"FI_SOCKETS_", "sockets"}, {"FI_SHM_", "shm"}, {"FI_PSM3_", "psm3"},       {"FI_PSM2_", "psm2"},
               {"FI_EFA_", "efa"},         {"FI_OPX_", "opx"}, {"FI_USNIC_", "usnic"},     {"FI_GNI_", "gni"}};

/* What other settings lack that ask for them. */
static unsigned lacking_by_settings(void)
{
    unsigned lacking = 0;
    if (gw_set.nic_policy != GW_SET_NIC_POLICY_USER) lacking |= MAPS_CARDS;
    if (!gw_set.ofi_tclass || !*gw_set.ofi_tclass) lacking |= ASKS_FOR_CLASS;
    if (gw_set.nic_counter_report <= 0) lacking |= REPORTS;
    return gw_set.nic_counter_report < 3 ? lacking | REPORTS_TO_FILES : lacking;
}

static unsigned needs_of(const char *setting)
{
    for (size_t i = 0; i < GW_ARRAY_LEN(rows); i++)
        if (strcmp(rows[i].setting, setting) == 0) return rows[i].needs;
    return 0;
}

/* Of reports the documents' default is a line where packets timed out, of which no other network has any. */
static bool asks_for_nothing(const char *setting, const char *value, const char *default_text)
{
    bool is_report = strcmp(setting, "nic_counter_report") == 0;
    return strcasecmp(value, default_text) == 0 || (is_report && (strcmp(value, "0") == 0 || strcmp(value, "1") == 0));
}

/* ---- a line: "A=1, B=2 and 3 more are of no effect: WHY" ---------------------------------------------------------------------- */
struct line {
    int n;
    char text[768]; /* of the first NAMED */
};
enum { NAMED = 4 };

static void line_add(struct line *l, const char *name, const char *value)
{
    size_t at = strlen(l->text);
    if (l->n++ < NAMED) snprintf(l->text + at, sizeof l->text - at, "%s%s=%.100s", at ? ", " : "", name, value);
}

static void line_tell(const struct line *l, const char *why)
{
    char more[32] = "";
    if (!l->n) return;
    if (l->n > NAMED) snprintf(more, sizeof more, " and %d more", l->n - NAMED);
    gw_warn("%s%s %s of no effect: %s", l->text, more, l->n > 1 ? "are" : "is", why);
}

/* ---- settings ----------------------------------------------------------------------------------------------------------------- */
/* Those that lack this, and nothing that is told before it.  What a file says for all jobs, or godwit-tune, is nobody's wish for this one. */
static void settings_take(size_t why, unsigned lacking, struct line *l)
{
    struct gw_setting_info info;
    const char *origin;
    char value[256];
    unsigned before = 0;
    for (size_t i = 0; i < why; i++) before |= whys[i].trait;
    for (int i = gw_settings_next_set(0); i < gw_settings_count(); i = gw_settings_next_set(i + 1)) {
        gw_settings_get(i, &info, value, sizeof value, &origin);
        unsigned is_lacking = needs_of(info.name) & lacking;
        if (!(is_lacking & whys[why].trait) || is_lacking & before || asks_for_nothing(info.name, value, info.default_text))
            continue;
        if (!info.source && strcmp(origin, "GODWIT_TUNE") != 0) line_add(l, origin, value);
    }
}

/* Variables that libfabric itself, or what lies below it, would read. */
static void others_take(struct line *l)
{
    char name[64];
    const char *value;
    for (int at = 0; (value = gw_foreign_next_set(&at, name, sizeof name));) line_add(l, name, value);
}

void network_unused_tell(unsigned lacking)
{
    assert(lacking < NETWORK_TRAITS);
    bool is_closed = lacking & (NETWORK_IS_THERE | NETWORK_IS_LIBFABRIC);
    unsigned first = lacking & NETWORK_IS_THERE ? NETWORK_IS_THERE : NETWORK_IS_LIBFABRIC;
    lacking |= lacking_by_settings();
    for (size_t i = 0; i < GW_ARRAY_LEN(whys); i++) {
        struct line l = {0, ""};
        if (lacking & whys[i].trait) settings_take(i, lacking, &l);
        if (is_closed && whys[i].trait == first) others_take(&l);
        line_tell(&l, whys[i].why);
    }
}

void network_unused_by_provider(const char *provider)
{
    char name[64], why[160];
    const char *value;
    for (size_t i = 0; i < GW_ARRAY_LEN(readers); i++) {
        struct line l = {0, ""};
        if (strstr(provider, readers[i].provider)) continue;
        for (int at = 0; (value = gw_foreign_next_set(&at, name, sizeof name));)
            if (strncmp(name, readers[i].begin, strlen(readers[i].begin)) == 0) line_add(&l, name, value);
        snprintf(why, sizeof why, "libfabric's provider %s reads it, and messages go by %s", readers[i].provider, provider);
        line_tell(&l, why);
    }
}
