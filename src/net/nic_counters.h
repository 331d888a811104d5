/* nic_counters.h -- what network cards count: how often packets timed out, were sent again, waited; and the report on it.
 *
 * A counter is a file of one number below a folder of its card:
 *     Slingshot   /sys/class/cxi/NIC/device/telemetry/NAME, and for rh:NAME (the retry handler's) /run/cxi/NIC/NAME
 *     InfiniBand  /sys/class/infiniband/NIC/ports/1/{hw_counters,counters}/NAME
 *     Ethernet    /sys/class/net/NIC/statistics/NAME
 *     tcp:NAME    a column of /proc/net/snmp or netstat: of all connections of the node, so counted once a node
 * Counters are of the card, not of the job: other jobs on the node count with it.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_NET_NIC_COUNTERS_H
#define GW_NET_NIC_COUNTERS_H

#include "base/base.h"

enum { COUNTERS_MOST = 64, COUNTER_NAME = 64 };
struct counter_names {
    int n;
    char at[COUNTERS_MOST][COUNTER_NAME];
};

void counters_usual(struct counter_names *out); /* those of the report where the user names none */
/* A name a line; # begins a remark.  Those that tell of timeouts and those of the ratios are added.  GW_EARG: too many, too long. */
int counters_parse(const char *text, struct counter_names *out);
bool counter_is_timeout(const char *name);
/* Its value, or -1: this card does not have it.  `root` stands before the paths, "" but for tests.  `is_first`: the first card of the
 * node, to which what is counted once a node belongs. */
int64_t counter_read(const char *root, const char *nic, const char *name, bool is_first);

/* Over cards: of counter i sum[2 i] samples and sum[2 i + 1] their sum; most[2 i] the largest and most[2 i + 1] minus the smallest
 * (INT64_MIN where there is no sample).  So cards of different ranks are joined by adding and by taking the larger. */
struct counter_sums {
    int64_t sum[2 * COUNTERS_MOST], most[2 * COUNTERS_MOST];
};
void counter_sums_clear(struct counter_sums *s);
void counter_sums_add(struct counter_sums *s, int counter, int64_t value);
int64_t counter_timeouts(const struct counter_names *names, const struct counter_sums *s);

/* "MPICH Slingshot Network Summary: 3 network timeouts\n"; "" where there were none. */
void counters_line(int64_t timeouts, char *out, size_t cap);
/* The table of level 2: counters that are not 0 on all cards, then ratios. */
void counters_table(const struct counter_names *names, const struct counter_sums *s, double seconds, char *out, size_t cap);
/* The lines of one card (levels 3 to 5); value -1: it has no such counter. */
void counters_card(const char *host, const char *nic, const struct counter_names *names, const int64_t *values, double seconds,
                   char *out, size_t cap);

#endif
