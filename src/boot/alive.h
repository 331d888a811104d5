/* alive.h -- failure detection: are other hosts, the launcher and connected jobs still there?
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BOOT_ALIVE_H
#define GW_BOOT_ALIVE_H

#include <stdatomic.h>

#include "base/base.h"

/* ---- probes of a host (boot_alive.c) ----
 * Launchers detect the end of a process; most do not detect a host that loses power or its link, and ranks on other hosts would wait for
 * ever.  So a host is probed periodically by a TCP connection to a closed port: a refusal is an answer.  A host that has never answered
 * (a firewall may drop probes) is never reported, unless from_start.  One thread at a time. */
struct sockaddr;
struct boot_ask {
    uint64_t at[16]; /* struct sockaddr */
    unsigned len;
    int fd;          /* socket of a pending probe; -1: none */
    bool ever;       /* the host has answered before */
    bool from_start; /* set by the caller: a host to which there is no way counts as silent, even if it has never answered */
    uint64_t asked_ns, stepped_ns;
    uint64_t unheard_ns; /* when the first probe since the last answer was sent; 0: none was */
    uint64_t failed_ns;  /* when the last of them that brought no answer was sent; 0: none has failed */
    uint64_t no_way_ns;  /* since when each probe learns from our kernel or a router that there is none; 0: the last did not */
};
void boot_ask_begin(struct boot_ask *a, const struct sockaddr *at, unsigned len); /* the port in `at` is ignored */
/* Sends a probe every `pause` seconds and polls for its answer; never blocks, to be called often.  Returns for how many seconds the host has
 * not answered: between the first and the last of the probes since its last answer that failed, not counting gaps between calls.  So an
 * interruption is never taken for longer than it was. */
double boot_ask_step(struct boot_ask *a, double pause);
void boot_ask_end(struct boot_ask *a);
/* Is a host that has been silent for so long (boot_ask_step()) gone?  Ranks are more patient than mpiexec, which acts earlier where it watches,
 * and twice as patient with one that has never answered: it may be one that cannot be reached from here at all. */
bool boot_host_is_lost(const struct boot_ask *a, double silent);
/* Ends this job: a host has not answered for `silent` seconds. */
void boot_host_is_gone(const char *host, double silent) GW_COLD;
/* The hosts of a job that mpiexec has started through an engine, with their free slots: "n1:3,n2:0". */
#define BOOT_HOST_SLOTS "GODWIT_FREE_SLOTS"
/* Names of hosts as Slurm writes them, "n[1-3,07],m4", or with commas alone: each is given to `take`, which answers whether to go on. */
void boot_hosts_expand(const char *list, bool (*take)(void *to, const char *name, size_t n), void *to);
/* To be called in long waits; works once a second.  Ends this process if its launcher is gone, or if another rank of the node has aborted
 * the job and the launcher does not react. */
void boot_look(void);

/* ---- connected jobs on other hosts (boot_connected.c): they fail together, as MPI 4.1 section 11.10.4 has it ---- */
enum { BOOT_TIED_NAME = 144 };
void boot_connected_name(char out[BOOT_TIED_NAME]); /* description of this job, for messages of the other one */
/* Connects this job with the world `uid`: when `fd`, a socket to a process of it, is closed without notice, this job ends.  Takes ownership of
 * fd.  name: the other's boot_connected_name(). */
void boot_connected_add(int fd, uint64_t uid, const char name[BOOT_TIED_NAME]);
bool boot_connected_at(int i, uint64_t *uid_out); /* iterates over the worlds connected so, i from 0; false: no more */
void boot_connected_part(uint64_t uid);           /* disconnects from that world, which is notified; 0: from all */
/* To be called in all waits and in progress: ends this job if a connected one has failed. */
extern _Atomic int boot_connected_n;
void boot_connected_look(void);
static inline void boot_connected_step(void)
{
    if (unlikely(atomic_load_explicit(&boot_connected_n, memory_order_relaxed))) boot_connected_look();
}

#endif
