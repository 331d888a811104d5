/* alive.h -- whether the others are still there.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BOOT_ALIVE_H
#define GW_BOOT_ALIVE_H

#include <stdatomic.h>

#include "base/base.h"

/* ---- are the others still there? (boot_alive.c) ----
 * Launchers see processes end; most do not see a host that loses power or its cable, and the ranks elsewhere wait for it.  So a host is
 * asked again and again for a connection to a port where nobody listens: a refusal is an answer.  Who never answered (a firewall may
 * be silent) is never called silent.  One thread at a time. */
struct sockaddr;
struct boot_ask {
    uint64_t at[16]; /* struct sockaddr */
    unsigned len;
    int fd;    /* of a question under way, -1: there is none */
    bool ever; /* it has answered once */
    uint64_t asked_ns, heard_ns, stepped_ns;
};
void boot_ask_begin(struct boot_ask *a, const struct sockaddr *at, unsigned len); /* its port does not matter */
/* Asks, `pause` seconds after the last time, and looks for answers, without waiting: to be called often.  The seconds for which the host
 * has been silent; time in which this was not called is none of them. */
double boot_ask_step(struct boot_ask *a, double pause);
void boot_ask_end(struct boot_ask *a);
/* For waits that have become long, in which it looks once a second: ends this process where its launcher is gone, or where another rank
 * of the node has aborted the job and the launcher does nothing. */
void boot_look(void);

/* ---- jobs on other hosts that fail together with this one (boot_tied.c) ---- */
enum { BOOT_TIED_NAME = 144 };
void boot_tied_name(char out[BOOT_TIED_NAME]); /* this job, in words for others */
/* From now on the end of `fd`, a socket to the process that `name` names, of the world uid, is the end of this job.  Takes the socket. */
void boot_tied_add(int fd, uint64_t uid, const char name[BOOT_TIED_NAME]);
bool boot_tied_at(int i, uint64_t *uid_out); /* the worlds that are tied so, from 0; false: there are no more */
void boot_tied_part(uint64_t uid);           /* no more with that one, which is told; 0: with all */
/* In all waits, and in progress: ends this job where another has ended. */
extern _Atomic int boot_tied_n;
void boot_tied_look(void);
static inline void boot_tied_step(void)
{
    if (unlikely(atomic_load_explicit(&boot_tied_n, memory_order_relaxed))) boot_tied_look();
}

#endif
