/* kvs.h -- keys and values that all ranks exchange through the launcher.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BOOT_KVS_H
#define GW_BOOT_KVS_H

#include <stdbool.h>
#include <stddef.h>

/* Key-value exchange, all ranks; values of at most 1 KiB of text.  Works for PMIx and PMI; a no-op group of one for
 * singletons; under our own mpiexec only where the job has several nodes (GODWIT_VNODES), else it is not needed and put/get answer
 * GW_EUNSUPPORTED. */
int boot_put(const char *key, const char *value);
int boot_fence(void); /* all ranks; what was put before by anybody can be got after */
/* The same while the caller goes on: `over`, in another thread, says that it may be over, and once it is it has to be ended.  Meanwhile
 * the launcher is asked and told nothing else: PMI has one connection, and would take the answer for another's.  GW_ENOMEM: there may be no other thread. */
int boot_fence_begin(void (*over)(void));
bool boot_fence_is_going(void); /* begun and not ended */
bool boot_fence_is_over(void);
int boot_fence_end(void);
/* What was put can be got by others from now on.  All ranks call it: without waiting for each other where boot_is_direct(), else they
 * fence.  boot_commit() is the former alone. */
int boot_share(void);
int boot_commit(void);
/* boot_get() asks the node of that rank, which answers once the rank has committed the key: no fence is needed before.  It may block
 * for that long; the other rank need not call anything more.  GODWIT_ASYNC_MODEX=false: never. */
bool boot_is_direct(void);
int boot_get(int rank, const char *key, char *value_out, size_t cap);
/* Must the ranks of a job of several nodes meet before the first message, or after the last one?  Each wire between nodes says when it
 * is opened; as long as none has, both.  The settings async_init and async_finalize may ask for more. */
enum { BOOT_BEFORE_FIRST = 1, BOOT_AFTER_LAST = 2 };
void boot_needs(unsigned when);
bool boot_must_meet(unsigned when); /* one of them */
/* Are all ranks connected at start, instead of on the first message?  By the settings add_procs_cutoff, dynamic_conn and startup_connect. */
bool boot_connects_all(void);

#endif
