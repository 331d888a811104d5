/* network_report.c -- the report on the cards' counters over a job: which rank reads them, and what is printed.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "base/file.h"
#include "base/settings.h"
#include "base/time.h"
#include "boot/boot.h"
#include "net/net_private.h"
#include "net/nic_counters.h"

static struct report {
    bool is_on;
    int level;
    double begin;
    struct nic_counter_names names;
    struct nic_counter_sums sums;
    int n_nics;
    int64_t (*values)[COUNTERS_MOST]; /* by card of this node, on the rank that reads them: at start; at the end the differences */
} report;
_Static_assert(NETWORK_NUMBERS == 2 * COUNTERS_MOST, "network.h");

static const char *root_of(void) { return gw_set.nic_counter_root ? gw_set.nic_counter_root : ""; }

static void names_choose(void)
{
    const char *path = gw_set.nic_counter_file;
    nic_counters_default(&report.names);
    if (!path || !*path) return;
    char *text = NULL;
    const char *why = gw_file_read(path, 64 << 10, false, &text);
    if (why)
        gw_warn("%s=%s cannot be read (%s): the usual counters are reported", gw_setting_said("GODWIT_NIC_COUNTER_FILE"), path,
                why);
    else if (*text && nic_counters_parse(text, &report.names) != GW_OK) {
        gw_warn("%s: the usual counters are reported", gw_fail_text());
        nic_counters_default(&report.names);
    }
    free(text);
}

/* One rank of a node reads the counters of all its cards. */
static void values_read(int64_t values[COUNTERS_MOST], int nic)
{
    for (int i = 0; i < report.names.n; i++)
        values[i] = nic_counter_read(root_of(), fabric_nics.nics[nic].name, report.names.at[i], nic == 0);
}

void network_report_begin(void)
{
    if (network_is_deferred) return; /* the network is not open, and no report is wanted (wire_ofi/ofi.c) */
    report.level = nic_counters_level(gw_set.nic_counter_report, fabric_nics.n_nics, fabric_is_hardware);
    report.is_on = report.level > 0;
    if (!report.is_on) return;
    names_choose();
    report.begin = gw_wtime();
    report.n_nics = gw_boot.local_rank == 0 ? fabric_nics.n_nics : 0;
    report.values = report.n_nics ? gw_xcalloc((size_t)report.n_nics, sizeof *report.values) : NULL;
    for (int k = 0; k < report.n_nics; k++) values_read(report.values[k], k);
}

bool network_report_take(int64_t **sum_out, int64_t **most_out)
{
    int64_t now[COUNTERS_MOST];
    if (!report.is_on) return false;
    nic_counter_sums_clear(&report.sums);
    for (int k = 0; k < report.n_nics; k++) {
        values_read(now, k);
        for (int i = 0; i < report.names.n; i++) {
            int64_t before = report.values[k][i];
            report.values[k][i] = before < 0 || now[i] < before ? -1 : now[i] - before;
            if (report.values[k][i] >= 0) nic_counter_sums_add(&report.sums, i, report.values[k][i]);
        }
    }
    *sum_out = report.sums.sum;
    *most_out = report.sums.most;
    return true;
}

static bool has_timeouts(const int64_t *values)
{
    for (int i = 0; i < report.names.n; i++)
        if (values[i] > 0 && nic_counter_is_timeout(report.names.at[i])) return true;
    return false;
}

static void cards_print(double seconds, bool any)
{
    char text[16384], path[512];
    const char *prefix = gw_set.nic_counter_report_file;
    struct gw_new_file file = {.to = stdout};
    bool is_file = prefix && *prefix;
    int rc = 0;
    for (int k = 0; k < report.n_nics; k++) {
        if (report.level == COUNTERS_CARDS_WITH && !has_timeouts(report.values[k])) continue;
        if (report.level == COUNTERS_CARDS_IF_ANY && !any) continue;
        if (is_file && file.to == stdout) {
            snprintf(path, sizeof path, "%s.%s", prefix, gw_boot.host);
            if ((rc = gw_file_create(path, &file)) != 0) break;
        }
        nic_counters_card(gw_boot.host, fabric_nics.nics[k].name, &report.names, report.values[k], seconds, text, sizeof text);
        fputs(text, file.to);
    }
    if (!rc && file.to != stdout) rc = gw_file_finish(&file);
    if (rc) gw_warn("%s: %s cannot be written (%s)", gw_setting_said("GODWIT_NIC_COUNTER_REPORT_FILE"), path, gw_file_why(rc));
}

void network_report_print(void)
{
    char text[16384];
    double seconds = gw_wtime() - report.begin;
    int64_t n = nic_counter_timeouts(&report.names, &report.sums);
    if (gw_boot.rank == 0) {
        nic_counters_line(n, text, sizeof text);
        fputs(text, stdout);
        if (report.level >= COUNTERS_TABLE) {
            nic_counters_table(&report.names, &report.sums, seconds, text, sizeof text);
            fputs(text, stdout);
        }
    }
    if (report.level >= COUNTERS_CARDS_WITH) cards_print(seconds, n > 0);
    fflush(stdout);
    free(report.values);
    report.values = NULL;
    report.is_on = false;
}
