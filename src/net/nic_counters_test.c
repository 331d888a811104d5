/* nic_counters_test.c -- counters of cards that are files below a folder, their sums and what is printed.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "net/nic_counters.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../test/unit.h"

static char root[64];

static void put(const char *path_below, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s%s", root, path_below);
    for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')); p++) {
        *p = 0;
        mkdir(path, 0700);
        *p = '/';
    }
    FILE *f = fopen(path, "w");
    CHECK(f != NULL);
    if (!f) return;
    fputs(text, f);
    fclose(f);
}

static void values_are_read(void)
{
    put("/sys/class/cxi/cxi0/device/telemetry/hni_rx_paused_0", "123@1700000000.5\n");
    put("/run/cxi/cxi0/spt_timeouts", "7\n");
    put("/sys/class/infiniband/mlx5_0/ports/1/hw_counters/local_ack_timeout_err", "4\n");
    put("/sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_wait", "99\n");
    put("/sys/class/net/eth0/statistics/rx_errors", "0\n");
    put("/proc/net/snmp", "Ip: A B\nIp: 1 2\nTcp: RtoMin OutSegs RetransSegs\nTcp: 200 1000 -1\nUdp: OutSegs\nUdp: 3\n");
    put("/proc/net/netstat", "TcpExt: SyncookiesSent TCPTimeouts\nTcpExt: 0 12\nIpExt: X\nIpExt: 1\n");
    CHECK_EQ(nic_counter_read(root, "cxi0", "hni_rx_paused_0", true), 123);
    CHECK_EQ(nic_counter_read(root, "cxi0", "rh:spt_timeouts", false), 7);
    CHECK_EQ(nic_counter_read(root, "cxi1", "rh:spt_timeouts", false), -1);
    CHECK_EQ(nic_counter_read(root, "mlx5_0", "local_ack_timeout_err", true), 4);
    CHECK_EQ(nic_counter_read(root, "mlx5_0-xrc", "port_xmit_wait", true), 99);
    CHECK_EQ(nic_counter_read(root, "eth0", "rx_errors", true), 0);
    CHECK_EQ(nic_counter_read(root, "eth0", "rx_dropped", true), -1);
    CHECK_EQ(nic_counter_read(root, "eth0", "tcp:OutSegs", true), 1000);
    CHECK_EQ(nic_counter_read(root, "eth0", "tcp:TCPTimeouts", true), 12);
    CHECK_EQ(nic_counter_read(root, "eth1", "tcp:TCPTimeouts", false), -1); /* once a node */
    CHECK_EQ(nic_counter_read(root, "eth0", "tcp:X", true), -1);
    CHECK_EQ(nic_counter_read(root, "../cxi/cxi0", "x", true), -1);
}

static int index_of(const struct nic_counter_names *names, const char *name)
{
    for (int i = 0; i < names->n; i++)
        if (strcmp(names->at[i], name) == 0) return i;
    return -1;
}

static void names_are_parsed(void)
{
    struct nic_counter_names names, all;
    char long_text[COUNTERS_MOST * 8] = "", word[8];
    CHECK_EQ(nic_counters_parse("# mine\n  atu_cache_evictions  # why\n\nrh:nacks\r\nrh:nacks\nlast", &names), GW_OK);
    CHECK(index_of(&names, "atu_cache_evictions") >= 0 && index_of(&names, "rh:nacks") >= 0);
    CHECK_EQ(index_of(&names, "last"), names.n - 1);
    CHECK_EQ(index_of(&names, "rh:nacks"), names.n - 2);
    CHECK(index_of(&names, "rh:spt_timeouts") >= 0); /* always there */
    nic_counters_default(&all);
    CHECK(all.n > 20 && index_of(&all, "hni_tx_paused_0") >= 0);
    for (int i = 0; i < COUNTERS_MOST; i++) snprintf(word, sizeof word, "c%d\n", i), strcat(long_text, word);
    CHECK_EQ(nic_counters_parse(long_text, &names), GW_EARG);
    CHECK(strstr(gw_fail_text(), "too many counters"));
    memset(long_text, 'x', 100);
    long_text[100] = 0;
    CHECK_EQ(nic_counters_parse(long_text, &names), GW_EARG);
}

static void levels(void)
{
    CHECK_EQ(nic_counters_level(-1, 2, true), COUNTERS_LINE); /* as HPE's library has it */
    CHECK_EQ(nic_counters_level(-1, 2, false), 0);
    CHECK_EQ(nic_counters_level(-1, 0, true), 0);
    CHECK_EQ(nic_counters_level(0, 2, true), 0);
    CHECK_EQ(nic_counters_level(5, 1, false), COUNTERS_CARDS_ALWAYS);
}

static void sums_and_texts(void)
{
    struct nic_counter_names names;
    struct nic_counter_sums s, other;
    char text[4096];
    nic_counters_parse("hni_rx_paused_0\nrx_errors", &names);
    nic_counter_sums_clear(&s);
    nic_counter_sums_clear(&other);
    int paused = index_of(&names, "hni_rx_paused_0"), spt = index_of(&names, "rh:spt_timeouts"),
        tcp = index_of(&names, "tcp:TCPTimeouts"), errors = index_of(&names, "rx_errors");
    CHECK_EQ(nic_counter_timeouts(&names, &s), 0);
    nic_counters_line(nic_counter_timeouts(&names, &s), text, sizeof text);
    CHECK_STR(text, "");
    nic_counter_sums_add(&s, paused, 10);
    nic_counter_sums_add(&s, paused, 40);
    nic_counter_sums_add(&s, spt, 1);
    nic_counter_sums_add(&s, errors, 0); /* 0 everywhere: not shown */
    nic_counter_sums_add(&other, paused, 4);
    nic_counter_sums_add(&other, tcp, 2);
    for (int i = 0; i < 2 * COUNTERS_MOST; i++)
        s.sum[i] += other.sum[i], s.most[i] = gw_max64(s.most[i], other.most[i]); /* as a reduction does */
    CHECK_EQ(nic_counter_timeouts(&names, &s), 3);
    nic_counters_line(nic_counter_timeouts(&names, &s), text, sizeof text);
    CHECK_STR(text, "MPICH Slingshot Network Summary: 3 network timeouts\n");
    nic_counter_sums_clear(&other);
    nic_counter_sums_add(&other, index_of(&names, "local_ack_timeout_err"), 4); /* of cards of InfiniBand */
    CHECK_EQ(nic_counter_timeouts(&names, &other), 4);
    nic_counter_sums_add(&s, index_of(&names, "tcp:RetransSegs"), 5);
    nic_counter_sums_add(&s, index_of(&names, "tcp:OutSegs"), 1000);
    nic_counters_table(&names, &s, 2, text, sizeof text);
    CHECK_STR(text,
              "MPICH Slingshot CXI Counter Summary:\n"
              "Counter                               Samples            Min       (/s)           Mean       (/s) "
              "           Max       (/s)\n"
              "rh:spt_timeouts                             1              1        0.5              1        0.5 "
              "             1        0.5\n"
              "tcp:TCPTimeouts                             1              2        1.0              2        1.0 "
              "             2        1.0\n"
              "tcp:RetransSegs                             1              5        2.5              5        2.5 "
              "             5        2.5\n"
              "tcp:OutSegs                                 1           1000      500.0           1000      500.0 "
              "          1000      500.0\n"
              "hni_rx_paused_0                             3              4        2.0             18        9.0 "
              "            40       20.0\n"
              "Computed Ratios:\n"
              "TCP segments sent again per segment          0.005\n");
    int64_t values[COUNTERS_MOST];
    for (int i = 0; i < COUNTERS_MOST; i++) values[i] = -1;
    values[paused] = 40;
    values[errors] = 0;
    nic_counters_card("n1", "cxi0", &names, values, 4, text, sizeof text);
    CHECK_STR(text, "n1 cxi0:\nn1 cxi0   hni_rx_paused_0                                  40       10.0/s\n");
}

int main(void)
{
    char command[128];
    snprintf(root, sizeof root, "/tmp/gw-counters-XXXXXX");
    CHECK(mkdtemp(root) != NULL);
    values_are_read();
    names_are_parsed();
    levels();
    sums_and_texts();
    snprintf(command, sizeof command, "rm -r '%s'", root);
    CHECK_EQ(system(command), 0);
    return unit_end();
}
