/* boot.h -- bootstrap: rank, size and process map from the launcher (our own mpiexec, PMIx, PMI-1, PMI-2), or a singleton.
 *
 * boot_init() tries, in this order: our mpiexec (GODWIT_BOOT and its memfd, inherited or fetched: boot_enter.c), the PMI-1 wire protocol
 * (PMI_RANK, PMI_SIZE and the open socket PMI_FD), PMI-2 on the same socket, PMIx (PMIX_NAMESPACE; libpmix by dlopen), then a singleton.
 * Methods with an open descriptor come first, because environment variables are inherited through nested launchers and descriptors are not; a
 * rank of our mpiexec that cannot come by its way takes no other one.  If the environment says that a launcher has started several processes
 * but no method works, the process ends with a message.  GODWIT_SINGLETON=1 makes the process a singleton in any case.  Uses no DNS, no
 * network interface and no libfabric.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BOOT_BOOT_H
#define GW_BOOT_BOOT_H

#include "base/base.h"

/* Access token of a socket: 128 random bits, never part of the name of a socket or of a command line (boot_gate.c). */
struct boot_secret {
    uint64_t word[2];
};
struct boot_port {
    uint64_t name;
    struct boot_secret secret;
}; /* address of a listener, and the token that it requires; name 0: none */

enum boot_how { BOOT_SINGLETON, BOOT_GODWIT, BOOT_PMIX, BOOT_PMI1, BOOT_PMI2 };
struct boot_info {
    enum boot_how how;
    int rank, size;            /* in the job */
    int local_rank, nlocal;    /* on this node */
    const int *local_to_world; /* [nlocal], ascending */
    int node, nnodes; /* this node's number and the number of nodes, in the order of their lowest ranks; nnodes is 0 if there are
                                * several and the segment, which has their number, is not mapped yet */
    int appnum, universe_size; /* universe_size 0: unknown */
    bool bound; /* the process is bound to fewer cores than the node's ranks share; valid once the segment is mapped */
    char jobid[64], host[64];
    int shm_fd;              /* the inherited memfd (BOOT_GODWIT), else -1 */
    struct boot_port parent; /* of the job that spawned this one; name 0: not spawned */
    bool meets;              /* this start waits for the other ranks of the node in any case; set before the segment is mapped */
    bool parent_is_far;      /* started by a process manager: the parent may be on another host (boot_parent_connect) */
};
extern struct boot_info gw_boot;
/* Default of MPI_UNIVERSE_SIZE on one machine: one rank per core; if all cores have one, as many again, because programs spawn the
 * difference, and oversubscription works. */
static inline int boot_universe(int ranks, int cores) { return ranks < cores ? cores : ranks + cores; }
int boot_local_rank(int world_rank); /* -1: it runs on another node */
int boot_node_of(int world_rank);    /* number of its node; once the segment is mapped */
/* GODWIT_VNODES: validates the value; the faked node (block of local ranks) of the k-th of n ranks of a host. */
int boot_vnodes_check(const char *text); /* GW_OK, or an error */
int boot_vnodes_block(const char *text, int n, int k, int *first_out, int *count_out);
int boot_apps(void);             /* number of applications (MPMD) that our mpiexec started; 0: not known */
int boot_app_of(int world_rank); /* if boot_apps() is known */

int boot_init(void); /* once; GW_OK, or it prints the reason and ends the process */
/* Suspends and resumes the use of MPI in this process. */
void boot_rest(void);
void boot_return(void);
/* boot_rest(), and tells the launcher that this process may exit from now on; it may still resume, but without access to the launcher. */
void boot_leave(void);
void boot_finalize(void); /* boot_leave(), unless that was called, and unmaps the segment */
/* Before boot_init(), from the launcher's environment variables: ranks of the job; 1: no launcher; 0: not known. */
int boot_env_size(void);
/* Likewise, and after it: what our mpiexec was told of this program, "maxprocs" (-n), "soft" and "file"; false: nothing. */
bool boot_env_said(const char *key, char *value_out, size_t cap);

void boot_abort(int code, const char *text) __attribute__((noreturn)); /* notifies the launcher and ends this process */

/* Crash reports: SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT are reported to mpiexec, if it wants them and if they had no handler when the
 * library was loaded.  The thread waits until mpiexec has examined the process; then the signal takes its default action.  Until
 * boot_crash_end().  These two change no handler: see boot_crash.c. */
void boot_crash_begin(void);
void boot_crash_end(void);

#endif
