/* network.h -- what is told of this machine's networks: for tools, and the report of the cards' counters at the end of a job.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_NET_NETWORK_H
#define GW_NET_NETWORK_H

#include <stdio.h>
#include <sys/socket.h>

#include "base/base.h"

struct ofi_offer; /* offer.h */
typedef void (*network_more_fn)(FILE *to, const struct ofi_offer *chosen);
/* Prints what a job on several nodes would take, and why: the wire, then, by libfabric, interfaces, providers, cards, and what `more` says of
 * the chosen way.  GW_OK, or why that wire is not usable has been printed. */
int network_print(FILE *to, network_more_fn more);
/* The wire in a line: "TCP on eth0, 192.0.2.2", "libfabric 1.17, net on eth0, 192.0.2.2"; GW_OK, or it says what is wrong. */
int network_line(char *out, size_t cap);

/* ---- counters of the cards that a job uses (GODWIT_NIC_COUNTER_REPORT), once a job ---- */
enum { NETWORK_NUMBERS = 128 };
void network_report_begin(void); /* the wires are open */
/* At the end, on all ranks: true where there is something to report, and so on all.  Then sum[NETWORK_NUMBERS] are to be added up over
 * the ranks, of most[NETWORK_NUMBERS] the largest to be taken, in place, before network_report_print(). */
bool network_report_take(int64_t **sum_out, int64_t **most_out);
void network_report_print(void);

/* ---- what both wires between nodes ask, without libfabric being open ---- */
/* Why libfabric is to carry the messages, in words: a card that only it can use, or a setting that only it obeys; NULL: plain TCP is as good.
 * Of this host and process. */
const char *network_wants_libfabric(void);
const char *network_chosen_by(void); /* the card, or the setting that chooses among what libfabric has; NULL: neither */
extern bool network_is_late;         /* libfabric is opened with the first message: nothing of it is known after MPI_Init */
/* An address of this host by which the ranks of other hosts (is_far), or of other nodes of this one, come: that of the best usable
 * interface, or the loopback; port 0.  False: none is fit. */
bool network_address(bool is_far, struct sockaddr_storage *out);
const char *network_iface(void); /* of the last one that it found */
/* A rank does not answer there: a warning, which names the way, or after GODWIT_NET_TIMEOUT the end. */
void network_complain(int rank, const struct sockaddr *peer, uint64_t seconds) GW_COLD;
/* The same with the peer's address in words, of any family. */
void network_complain_of(int rank, const char *name, const struct sockaddr *peer, socklen_t bytes, uint64_t seconds) GW_COLD;
bool network_is_last(uint64_t seconds); /* after so many seconds without an answer the job ends */
/* That rank of this job uses the network in another way than by this wire: the end, for it may be in a collective, and one that gets an error
 * there leaves the others waiting. */
_Noreturn void network_differs(int rank, const char *wire) GW_COLD;
/* Are the hosts of the other nodes still there, where nobody else watches them (alive.c)? */
struct network_alive;
/* Tells the launcher where this host is, by an address of it, before keys are shared; where nobody is to watch it, nothing. */
int network_alive_tell(const struct sockaddr *at);
struct network_alive *network_alive_begin(void);      /* NULL: nobody is watched by this rank */
void network_alive_look(struct network_alive *alive); /* to be called often where nothing happens; may end the job */
void network_alive_end(struct network_alive *alive);

#endif
