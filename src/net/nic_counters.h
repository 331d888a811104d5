/* nic_counters.h -- hardware counters of network cards (timeouts, retries, stalls), and the report on them.
 *
 * A counter is a file of one number below a folder of its card:
 *     Slingshot   /sys/class/cxi/NIC/device/telemetry/NAME, and for rh:NAME (the retry handler's) /run/cxi/NIC/NAME
 *     InfiniBand  /sys/class/infiniband/NIC/ports/1/{hw_counters,counters}/NAME
 *     Ethernet    /sys/class/net/NIC/statistics/NAME
 *     tcp:NAME    a column of /proc/net/snmp or netstat: of all connections of the node, so counted once a node
 * Counters belong to the card, not to the job: traffic of other jobs on the node is included.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_NET_NIC_COUNTERS_H
#define GW_NET_NIC_COUNTERS_H

#include "base/base.h"

enum { COUNTERS_MOST = 64, COUNTER_NAME = 64 };
struct nic_counter_names {
    int n;
    char at[COUNTERS_MOST][COUNTER_NAME];
};

/* Levels of the report, each of which includes the lower ones. */
enum { COUNTERS_LINE = 1, COUNTERS_TABLE, COUNTERS_CARDS_WITH, COUNTERS_CARDS_IF_ANY, COUNTERS_CARDS_ALWAYS };
/* The level of a job on these cards; `wanted` -1: a line where the fabric is of hardware, whose counters say something of the job. */
int nic_counters_level(int64_t wanted, int n_nics, bool is_hardware);

void nic_counters_default(struct nic_counter_names *out); /* the default list of the report */
/* Parses one name per line; # begins a comment.  Adds the counters of timeouts and those needed for ratios.  GW_EARG: too many, or too long. */
int nic_counters_parse(const char *text, struct nic_counter_names *out);
bool nic_counter_is_timeout(const char *name);
/* The value of a counter; -1: the card does not have it.  `root`: prefix of all paths, "" except in tests.  `is_first`: the first card of the
 * node, which also reports the counters that exist once per node. */
int64_t nic_counter_read(const char *root, const char *nic, const char *name, bool is_first);

/* Statistics over cards.  Of counter i: sum[2 i] number of samples, sum[2 i + 1] their sum; most[2 i] the maximum, most[2 i + 1] minus the
 * minimum (INT64_MIN: no sample).  So ranks are combined by SUM and MAX. */
struct nic_counter_sums {
    int64_t sum[2 * COUNTERS_MOST], most[2 * COUNTERS_MOST];
};
void nic_counter_sums_clear(struct nic_counter_sums *s);
void nic_counter_sums_add(struct nic_counter_sums *s, int counter, int64_t value);
int64_t nic_counter_timeouts(const struct nic_counter_names *names, const struct nic_counter_sums *s);

/* "MPICH Slingshot Network Summary: 3 network timeouts\n"; "" where there were none. */
void nic_counters_line(int64_t timeouts, char *out, size_t cap);
/* The table of level 2: counters that are not 0 on all cards, then ratios. */
void nic_counters_table(const struct nic_counter_names *names, const struct nic_counter_sums *s, double seconds, char *out,
                        size_t cap);
/* The lines of one card (levels 3 to 5); value -1: it has no such counter. */
void nic_counters_card(const char *host, const char *nic, const struct nic_counter_names *names, const int64_t *values,
                       double seconds, char *out, size_t cap);

#endif
