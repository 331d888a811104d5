/* network.h -- reports on this machine's networks for tools, the report of NIC counters at the end of a job, and what the network wires share.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_NET_NETWORK_H
#define GW_NET_NETWORK_H

#include <stdio.h>
#include <sys/socket.h>

#include "base/base.h"

struct net_offer; /* offer.h */
typedef void (*network_more_fn)(FILE *to, const struct net_offer *chosen);
/* Prints the network that a job on several nodes would use, and why: the wire; for libfabric also interfaces, providers, NICs, and what `more`
 * prints about the chosen offer.  GW_OK, or an error, after printing why no network is usable. */
int network_print(FILE *to, network_more_fn more);
/* The same in one line: "TCP on eth0, 192.0.2.2", "libfabric 1.17, net on eth0, 192.0.2.2".  GW_OK, or an error: the line says what is wrong. */
int network_line(char *out, size_t cap);

/* ---- counters of the cards that a job uses (GODWIT_NIC_COUNTER_REPORT), once a job ---- */
enum { NETWORK_NUMBERS = 128 };
void network_report_begin(void); /* reads the counters; after the wires were opened */
/* Reads them again; on all ranks, at the end.  True, on all ranks alike: the caller reduces sum[NETWORK_NUMBERS] by SUM and
 * most[NETWORK_NUMBERS] by MAX over the ranks, in place, and calls network_report_print(). */
bool network_report_take(int64_t **sum_out, int64_t **most_out);
void network_report_print(void);

/* ---- shared by the network wires; libfabric need not be open ---- */
/* Why libfabric should carry the messages: a NIC that only it can use, or a setting that only it obeys.  NULL: TCP sockets are as good.  For
 * this host and process. */
const char *network_wants_libfabric(void);
bool network_counts_barriers(void);  /* GODWIT_COLL wants barriers by the network's atomic operations (plan/counters.c) */
const char *network_chosen_by(void); /* the NIC, or the setting that selects among libfabric's offers; NULL: neither */
/* What a network may do; a setting may need one of them. */
enum network_trait {
    NETWORK_IS_THERE = 1,  /* ranks are on several nodes */
    NETWORK_IS_SPARED = 2, /* some are on one node */
    NETWORK_IS_LIBFABRIC = 4,
    NETWORK_MATCHES = 8,
    NETWORK_READS_MEMORY = 16,
    NETWORK_TRAITS = 32
};
/* Warns of settings that somebody has set to something else than their default, and of variables that libfabric would read, that need what
 * this job's network lacks (a set of traits): a line for each reason.  By one rank. */
void network_unused_tell(unsigned lacking) GW_COLD;
/* The same of variables for other providers of libfabric than the one that is taken ("tcp;ofi_rxm"). */
void network_unused_by_provider(const char *provider) GW_COLD;
extern bool network_is_deferred; /* libfabric is opened on demand, by the first message: nothing of it is known after MPI_Init */
/* The address of this host for ranks of other hosts (is_far), or of other faked nodes on this host: that of the best usable interface (of faked
 * nodes only where GODWIT_NET_IFACE chooses one), or the loopback; port 0.  False: none is usable. */
bool network_address(bool is_far, struct sockaddr_storage *out);
const char *network_iface(void); /* interface of the address that network_address() found last */
/* The rank has not answered for so many seconds: warns, naming interface and address, and after GODWIT_NET_TIMEOUT ends the job. */
void network_complain(int rank, const struct sockaddr *peer, uint64_t seconds) GW_COLD;
/* The same with the peer's address as text, of any family. */
void network_complain_of(int rank, const char *name, const struct sockaddr *peer, socklen_t bytes, uint64_t seconds) GW_COLD;
bool network_is_last(uint64_t seconds); /* has GODWIT_NET_TIMEOUT passed after so many seconds? */
/* That rank uses another network wire than this process: ends the job, because an error in a collective would leave other ranks waiting. */
_Noreturn void network_differs(int rank, const char *wire) GW_COLD;
/* Publishes where this rank is reached, and reads where another one is, which ends the job if the settings of collectives are not the same
 * there (card.c).  As boot_put() and boot_get(), whose values are at most 1 KiB; `where` has no '|'.  After the node's segment is mapped. */
int network_card_put(const char *key, const char *where);
int network_card_get(int rank, const char *key, char *where_out, size_t cap);
/* Failure detection for the hosts of other nodes, if no launcher watches them (alive.c). */
struct network_alive;
/* Publishes an address of this host in the key-value store, before boot_share(); no effect if hosts are not to be watched. */
int network_alive_publish(const struct sockaddr *at);
struct network_alive *network_alive_begin(void);               /* NULL: this rank watches no host */
void network_alive_met(struct network_alive *alive, int rank); /* a rank that has connected: its host is watched from now on */
void network_alive_look(struct network_alive *alive);          /* to be called often while idle; may end the job */
void network_alive_end(struct network_alive *alive);

#endif
