/* os.h -- calls of the system, and what it says of this process and machine.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BASE_OS_H
#define GW_BASE_OS_H

#include <stdatomic.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/base.h"

/* The first line of a file of the kernel's, as in /proc and /sys, with its end; false: there is none. */
bool gw_line_read(char *text_out, size_t cap, const char *fmt, ...) GW_PRINTF(3, 4);
/* Where this program lies, without a slash behind it; the caller's.  "": the kernel does not say. */
char *gw_own_folder(void);

/* ---- memory that this process had at most, in bytes ----
 * MALLOC: of malloc, by everything in the process; the peaks of its heaps and of large blocks are added, which need not have been at one
 * time.  MAPPED and SHARED: what the rooms note, mappings of shared memory, and shared memory that this rank has made. */
enum gw_memory { GW_MEMORY_MALLOC, GW_MEMORY_MAPPED, GW_MEMORY_SHARED, GW_MEMORIES };
void gw_memory_note(enum gw_memory what, int64_t delta); /* not of MALLOC; any thread */
int64_t gw_memory_most(enum gw_memory what);

/* Shared futex.  0: woken, the word differs, or a signal came (look again); -ETIMEDOUT.  timeout < 0: forever. */
int gw_futex_wait(_Atomic uint32_t *word, uint32_t expected, int64_t timeout_ns);
void gw_futex_wake(_Atomic uint32_t *word, int n);
/* CMA: bytes moved (may be short) or -errno.  Both sides may be vectors of at most 1024 pieces. */
ssize_t gw_cma_read(pid_t pid, const struct iovec *local, int nlocal, const struct iovec *remote, int nremote);
ssize_t gw_cma_write(pid_t pid, const struct iovec *local, int nlocal, const struct iovec *remote, int nremote);
/* userfaultfd: a descriptor that tells of memory of this process that goes; negative: the kernel does not grant that (gw_fail()). */
int gw_uffd_open(void);
int gw_uffd_may(void); /* GW_OK: it would */
/* The first byte of this process's memory [at, at + bytes) that cannot be read, or written, found by one byte of each page, which keeps
 * its value; NULL: there is none, or the kernel does not say.  For what has failed: it costs two calls for 256 pages. */
const void *gw_memory_fault(const void *at, int64_t bytes, bool is_write) GW_COLD;
/* libpmix 4 looks for settings in the user's home folder and crashes where it finds none: HOME is not set and the user is in no passwd,
 * as in containers.  True: HOME is "/" now, and the caller takes it out again. */
bool gw_home_lend(void);
/* Before a process ends in another way than by exit(), or has its launcher end the job: writes out what the program printed with stdio,
 * and waits, once, until what it said last has arrived. */
void gw_last_words(void);
void gw_words_take(int us); /* that long; at first no time at all */
/* Prints nothing; after the last words, ends the process without its exit handlers. */
void gw_exit_now(int status) __attribute__((noreturn, cold));
int gw_cores_allowed(void); /* cpuset and cgroup quota, at least 1 */
int gw_cores_of(pid_t pid); /* the same by the cpuset of another process (our parent) and our own quota */
void gw_cpus_read(const char *text, void *set_out, size_t set_bytes); /* "0-3,8": a cpu_set_t of that size */
int gw_cores_mask(pid_t pid); /* by the cpuset alone: one system call, where the others read ten files */
/* Bytes that can still be taken: the least of the machine's available memory and the control groups' limits. */
int64_t gw_memory_available(const char **limit_out); /* limit_out: words for the limit that binds */

#endif
