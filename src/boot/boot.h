/* boot.h -- who am I and who are the others: the inherited memfd of our own mpiexec, PMIx, PMI-1, PMI-2, or nobody.
 *
 * boot_init() tries, in this order: our mpiexec (GODWIT_BOOT and its open descriptor), the PMI-1 wire protocol (PMI_RANK,
 * PMI_SIZE and the open socket PMI_FD), PMI-2 on the same socket, PMIx (PMIX_NAMESPACE; libpmix by dlopen), then a singleton.  Open descriptors come
 * first because variables are inherited through a launcher inside a launcher, descriptors are not.  If the environment
 * says that a launcher started several of us but none of these works, it ends the process with one sentence.
 * GODWIT_SINGLETON=1 makes the process a singleton whatever there is.  No DNS, no network interface, no libfabric.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BOOT_BOOT_H
#define GW_BOOT_BOOT_H

#include "base/base.h"

/* Who shows it is let in: 128 random bits, never in the name of a socket nor on a command line (boot_gate.c). */
struct boot_secret {
    uint64_t word[2];
};
struct boot_port {
    uint64_t name;
    struct boot_secret secret;
}; /* a listener, and what it asks for; name 0: none */

enum boot_how { BOOT_SINGLETON, BOOT_GODWIT, BOOT_PMIX, BOOT_PMI1, BOOT_PMI2 };
struct boot_info {
    enum boot_how how;
    int rank, size;            /* in the job */
    int local_rank, nlocal;    /* on this node */
    const int *local_to_world; /* [nlocal], ascending */
    int node, nnodes;          /* this node and how many the job has: numbered in the order of their lowest ranks; nnodes is 0 where
                                * there are several and the segment is not mapped yet, which says how many */
    int appnum, universe_size; /* universe 0: unknown */
    bool bound;                /* we were bound to fewer cores than the ranks of the node share; known once the segment is mapped */
    char jobid[64], host[64];
    int shm_fd;              /* memfd inherited (BOOT_GODWIT), else -1 */
    struct boot_port parent; /* of those who spawned us; none: nobody did */
    bool parent_is_far;      /* an engine started us: they may be on another host (boot_parent_connect) */
};
extern struct boot_info gw_boot;
/* MPI_UNIVERSE_SIZE on one machine, where nobody says it: a rank a core; and where each core has one already, as many again, for they can
 * be started all the same, and programs start as many as are missing to it. */
static inline int boot_universe(int ranks, int cores) { return ranks < cores ? cores : ranks + cores; }
int boot_local_rank(int world_rank); /* its place on this node, or -1: it is elsewhere */
int boot_node_of(int world_rank);    /* the number of its node; once the segment is mapped */
/* What GODWIT_VNODES says: the k-th of the n ranks of a host is in which block, and which of them are (first, count)? */
int boot_vnodes_check(const char *text); /* GW_OK, or an error */
int boot_vnodes_block(const char *text, int n, int k, int *first_out, int *count_out);
int boot_apps(void);             /* applications that our mpiexec started, side by side; 0: not known here */
int boot_app_of(int world_rank); /* where they are known */

int boot_init(void); /* once; GW_OK or it explains and ends the process */
/* This process uses MPI no more, for the time being: boot_return() when it does again. */
void boot_rest(void);
void boot_return(void);
/* Rests, and tells the launcher that this process may end now; it may still return, though not to ask or tell anything. */
void boot_leave(void);
void boot_finalize(void); /* leaves, if that has not been done, and unmaps the segment */
/* Before boot_init(), from what the launcher's variables say: ranks of the job, 1 where there is no launcher, 0: they do not say. */
int boot_env_size(void);

void boot_abort(int code, const char *text) __attribute__((noreturn)); /* tells the launcher, ends this process */

/* Signals by which programs crash are told to mpiexec, where that wants to know of them and they had no handler when the library was
 * loaded: SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT.  The thread waits until mpiexec has looked at it, and dies of the signal as it would
 * have.  Until boot_crash_end().  No handler is changed here: see boot_crash.c. */
void boot_crash_begin(void);
void boot_crash_end(void);

#endif
