/* network.h -- what is told of this machine's networks: for tools, and the report of the cards' counters at the end of a job.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_WIRE_OFI_NETWORK_H
#define GW_WIRE_OFI_NETWORK_H

#include <stdio.h>

#include "base/base.h"

/* Opens libfabric and prints interfaces, providers, cards, tags: what a job on several nodes would take, and why.  GW_OK, or why
 * nothing is usable has been printed. */
int network_print(FILE *to);
/* The same in a line: "libfabric 1.17, net on eth0, 192.0.2.2"; GW_OK, or it says what is wrong. */
int network_line(char *out, size_t cap);

/* ---- counters of the cards that a job uses (GODWIT_NIC_COUNTER_REPORT), once a job ---- */
enum { NETWORK_NUMBERS = 128 };
void network_report_begin(void); /* the wires are open */
/* At the end, on all ranks: true where there is something to report, and so on all.  Then sum[NETWORK_NUMBERS] are to be added up over
 * the ranks, of most[NETWORK_NUMBERS] the largest to be taken, in place, before network_report_print(). */
bool network_report_take(int64_t **sum_out, int64_t **most_out);
void network_report_print(void);

#endif
