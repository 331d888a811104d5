/* kvs.h -- the key-value store of the launcher (PMIx, PMI), by which ranks exchange addresses ("business cards", modex).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BOOT_KVS_H
#define GW_BOOT_KVS_H

#include <stdbool.h>
#include <stddef.h>

/* Values are text of at most 1 KiB.  Works with PMIx and PMI; for singletons as a group of one; with our own mpiexec only if the job has
 * several nodes (GODWIT_VNODES): otherwise there is no need, and put and get return GW_EUNSUPPORTED.  Functions return GW_OK or an error. */
int boot_put(const char *key, const char *value);
int boot_fence(void); /* collective; values put before are visible to all ranks after */
/* Non-blocking fence.  `over` is called, in another thread, when it may be complete; boot_fence_end() completes it.  No other call of this
 * header is allowed meanwhile: PMI has one connection, without tags for replies.  GW_ENOMEM: no thread could be started. */
int boot_fence_begin(void (*over)(void));
bool boot_fence_is_going(void); /* begun and not ended */
bool boot_fence_is_over(void);
int boot_fence_end(void);
/* Publishes the values that were put.  Collective: it fences, unless boot_is_direct(), when it does not wait for other ranks.
 * boot_commit() publishes without a fence in any case. */
int boot_share(void);
int boot_commit(void);
/* Direct modex: boot_get() asks the node of that rank, which replies once the rank has committed the key, so no fence is needed.  It may
 * block for that long; the other rank need not call anything more.  False with GODWIT_ASYNC_MODEX=false. */
bool boot_is_direct(void);
/* Ranks of other nodes are known by the first fence alone, and a later one may have no end: who has a network meets others by that. */
bool boot_fences_once(void);
/* By any thread.  GW_AGAIN: the launcher answers nothing while boot_fence_is_going(). */
int boot_get(int rank, const char *key, char *value_out, size_t cap);
/* Must the ranks of a job on several nodes synchronise before the first message, or after the last one?  A network wire states its needs
 * when it is opened (boot_needs); before the first has, both are needed.  The settings async_init and async_finalize may add to them. */
enum { BOOT_BEFORE_FIRST = 1, BOOT_AFTER_LAST = 2 };
void boot_needs(unsigned when);
bool boot_must_meet(unsigned when); /* `when`: one of the two */
/* Are all connections made at start, rather than on demand?  By the settings add_procs_cutoff, dynamic_conn and startup_connect. */
bool boot_connects_all(void);

/* The value of a key in the text of a message of PMI-2 (KEY=VALUE;..., a doubled semicolon stands for one), which both ends read.
 * False: there is none, or it does not fit. */
bool boot_pmi2_value(const char *text, const char *key, char *out, size_t cap);

#endif
