/* nic_counters.c -- see nic_counters.h.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "net/nic_counters.h"

#include <limits.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/os.h"
#include "base/settings.h"

static const char *const timeouts[] = {"rh:spt_timeouts", "local_ack_timeout_err", "tcp:TCPTimeouts"};
static const struct {
    const char *what, *above, *below;
} ratios[] = {
    {"PCIe posted blocked cycles per packet", "parbs_tarb_pi_posted_blocked_cnt", "parbs_tarb_pi_posted_pkts"},
    {"PCIe non-posted blocked cycles per packet", "parbs_tarb_pi_non_posted_blocked_cnt", "parbs_tarb_pi_non_posted_pkts"},
    {"TCP segments sent again per segment", "tcp:RetransSegs", "tcp:OutSegs"},
};
static const char usual[] =
    "lpe_net_match_priority_0\nlpe_rndzv_puts_0\nhni_rx_paused_0\nhni_rx_paused_1\nhni_tx_paused_0\nhni_tx_paused_1\n"
    "atu_cache_evictions\nrh:nacks\nrh:nack_sequence_error\n"
    "packet_seq_err\nout_of_sequence\nrnr_nak_retry_err\nport_xmit_wait\n"
    "rx_errors\ntx_errors\nrx_dropped\ntx_dropped\ncollisions\n";

/* ---- names -------------------------------------------------------------------------------------- */
static int name_add(struct nic_counter_names *names, const char *name, size_t n)
{
    if (n >= COUNTER_NAME)
        return gw_fail(GW_EARG, "%s: \"%.*s...\" is longer than a counter's name", gw_setting_said("GODWIT_NIC_COUNTER_FILE"), 40,
                       name);
    for (int i = 0; i < names->n; i++)
        if (strlen(names->at[i]) == n && strncmp(names->at[i], name, n) == 0) return GW_OK;
    if (names->n == COUNTERS_MOST)
        return gw_fail(GW_EARG, "%s names too many counters: at most %d, with those of timeouts and ratios",
                       gw_setting_said("GODWIT_NIC_COUNTER_FILE"), COUNTERS_MOST);
    assert(names->n >= 0 && names->n < COUNTERS_MOST);
    memcpy(names->at[names->n], name, n);
    names->at[names->n++][n] = 0;
    return GW_OK;
}

int nic_counters_parse(const char *text, struct nic_counter_names *out)
{
    int rc = GW_OK;
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < GW_ARRAY_LEN(timeouts); i++) name_add(out, timeouts[i], strlen(timeouts[i]));
    for (size_t i = 0; i < GW_ARRAY_LEN(ratios); i++) {
        name_add(out, ratios[i].above, strlen(ratios[i].above));
        name_add(out, ratios[i].below, strlen(ratios[i].below));
    }
    for (const char *line = text; *line && rc == GW_OK;) {
        size_t length = strcspn(line, "\n"), from = strspn(line, " \t"), n = from < length ? strcspn(line + from, " \t\r\n#") : 0;
        if (n) rc = name_add(out, line + from, n);
        line += length + (line[length] == '\n');
    }
    return rc;
}

void nic_counters_default(struct nic_counter_names *out)
{
    int rc = nic_counters_parse(usual, out);
    assert(rc == GW_OK);
    (void)rc;
}

int nic_counters_level(int64_t wanted, int n_nics, bool is_hardware)
{
    if (n_nics == 0) return 0;
    return wanted >= 0 ? (int)wanted : is_hardware ? COUNTERS_LINE : 0;
}

bool nic_counter_is_timeout(const char *name)
{
    for (size_t i = 0; i < GW_ARRAY_LEN(timeouts); i++)
        if (strcmp(name, timeouts[i]) == 0) return true;
    return false;
}

/* ---- values ------------------------------------------------------------------------------------- */
static bool number_read(int64_t *out, const char *fmt, ...) GW_PRINTF(2, 3);
static bool number_read(int64_t *out, const char *fmt, ...)
{
    char path[512], text[128], *end;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(path, sizeof path, fmt, ap);
    va_end(ap);
    if (!gw_line_read(text, sizeof text, "%s", path)) return false;
    *out = strtoll(text, &end, 10); /* Slingshot's counters have a time stamp behind an @ */
    return end > text && *out >= 0;
}

/* Reads the number below a name in two lines "Tcp: A B C" and "Tcp: 1 2 3". */
static bool column_read(int64_t *out, const char *root, const char *file, const char *name)
{
    char path[256], heads[8192], numbers[8192], *h, *v;
    snprintf(path, sizeof path, "%s/proc/net/%s", root, file);
    FILE *f = fopen(path, "re");
    bool found = false;
    if (!f) return false;
    while (!found && fgets(heads, sizeof heads, f) && fgets(numbers, sizeof numbers, f)) {
        char *save_h, *save_v;
        if (strncmp(heads, "Tcp", 3) != 0) continue;
        h = strtok_r(heads, " \n", &save_h);
        v = strtok_r(numbers, " \n", &save_v);
        while (h && v && strcmp(h, name) != 0) h = strtok_r(NULL, " \n", &save_h), v = strtok_r(NULL, " \n", &save_v);
        if (!h || !v) continue;
        *out = strtoll(v, NULL, 10);
        found = true;
    }
    fclose(f);
    return found;
}

int64_t nic_counter_read(const char *root, const char *nic, const char *name, bool is_first)
{
    int64_t v;
    char device[64];
    if (strncmp(name, "tcp:", 4) == 0)
        return is_first && (column_read(&v, root, "snmp", name + 4) || column_read(&v, root, "netstat", name + 4)) ? v : -1;
    if (strchr(nic, '/') || strchr(name, '/')) return -1;
    if (strncmp(name, "rh:", 3) == 0) return number_read(&v, "%s/run/cxi/%s/%s", root, nic, name + 3) ? v : -1;
    if (number_read(&v, "%s/sys/class/cxi/%s/device/telemetry/%s", root, nic, name)) return v;
    snprintf(device, sizeof device, "%.*s", (int)strcspn(nic, "-"),
             nic); /* libfabric's domains of mlx5_0 have names like mlx5_0-xrc */
    if (number_read(&v, "%s/sys/class/infiniband/%s/ports/1/hw_counters/%s", root, device, name)) return v;
    if (number_read(&v, "%s/sys/class/infiniband/%s/ports/1/counters/%s", root, device, name)) return v;
    return number_read(&v, "%s/sys/class/net/%s/statistics/%s", root, nic, name) ? v : -1;
}

/* ---- sums --------------------------------------------------------------------------------------- */
void nic_counter_sums_clear(struct nic_counter_sums *s)
{
    for (int i = 0; i < 2 * COUNTERS_MOST; i++) s->sum[i] = 0, s->most[i] = INT64_MIN;
}

void nic_counter_sums_add(struct nic_counter_sums *s, int counter, int64_t value)
{
    s->sum[2 * counter] += 1;
    s->sum[2 * counter + 1] += value;
    s->most[2 * counter] = gw_max64(s->most[2 * counter], value);
    s->most[2 * counter + 1] = gw_max64(s->most[2 * counter + 1], -value);
}

int64_t nic_counter_timeouts(const struct nic_counter_names *names, const struct nic_counter_sums *s)
{
    int64_t n = 0;
    for (int i = 0; i < names->n; i++)
        if (nic_counter_is_timeout(names->at[i])) n += s->sum[2 * i + 1];
    return n;
}

/* ---- texts -------------------------------------------------------------------------------------- */
void nic_counters_line(int64_t n, char *out, size_t cap)
{
    *out = 0;
    if (n > 0) gw_text_add(out, cap, "MPICH Slingshot Network Summary: %lld network timeouts\n", (long long)n);
}

static int index_of(const struct nic_counter_names *names, const char *name)
{
    for (int i = 0; i < names->n; i++)
        if (strcmp(names->at[i], name) == 0) return i;
    return -1;
}

static void ratios_add(const struct nic_counter_names *names, const struct nic_counter_sums *s, char *out, size_t cap)
{
    bool has_head = false;
    for (size_t i = 0; i < GW_ARRAY_LEN(ratios); i++) {
        int a = index_of(names, ratios[i].above), b = index_of(names, ratios[i].below);
        if (a < 0 || b < 0 || s->sum[2 * a + 1] <= 0 || s->sum[2 * b + 1] <= 0) continue;
        if (!has_head) gw_text_add(out, cap, "Computed Ratios:\n");
        has_head = true;
        gw_text_add(out, cap, "%-44s %.6g\n", ratios[i].what, (double)s->sum[2 * a + 1] / (double)s->sum[2 * b + 1]);
    }
}

void nic_counters_table(const struct nic_counter_names *names, const struct nic_counter_sums *s, double seconds, char *out,
                        size_t cap)
{
    double per = seconds > 0 ? 1 / seconds : 0;
    bool has_head = false;
    *out = 0;
    for (int i = 0; i < names->n; i++) {
        double n = (double)s->sum[2 * i], most = (double)s->most[2 * i], least = -(double)s->most[2 * i + 1];
        if (n < 1 || most <= 0) continue;
        if (!has_head)
            gw_text_add(out, cap, "MPICH Slingshot CXI Counter Summary:\n%-36s %8s %14s %10s %14s %10s %14s %10s\n", "Counter",
                        "Samples", "Min", "(/s)", "Mean", "(/s)", "Max", "(/s)");
        has_head = true;
        double mean = (double)s->sum[2 * i + 1] / n;
        gw_text_add(out, cap, "%-36s %8.0f %14.0f %10.1f %14.0f %10.1f %14.0f %10.1f\n", names->at[i], n, least, least * per, mean,
                    mean * per, most, most * per);
    }
    ratios_add(names, s, out, cap);
}

void nic_counters_card(const char *host, const char *nic, const struct nic_counter_names *names, const int64_t *values,
                       double seconds, char *out, size_t cap)
{
    *out = 0;
    gw_text_add(out, cap, "%s %s:\n", host, nic);
    for (int i = 0; i < names->n; i++)
        if (values[i] > 0)
            gw_text_add(out, cap, "%s %s   %-36s %14.0f %10.1f/s\n", host, nic, names->at[i], (double)values[i],
                        seconds > 0 ? (double)values[i] / seconds : 0.0);
}
