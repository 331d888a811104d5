/* os.h -- system calls, and properties of this process and machine.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BASE_OS_H
#define GW_BASE_OS_H

#include <limits.h>
#include <stdatomic.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/base.h"

/* The first line of a file of the kernel's, as in /proc and /sys, with its end; false: there is none. */
bool gw_line_read(char *text_out, size_t cap, const char *fmt, ...) GW_PRINTF(3, 4);
/* ---- huge pages: those of 2 MiB are used, and of the system's pool also others ---- */
enum { GW_HUGE_SHIFT = 21, GW_HUGE_BYTES = 1 << GW_HUGE_SHIFT };
bool gw_huge_is_offered(void) GW_COLD;     /* this machine has them, and they are not off (transparent_hugepage/enabled: never) */
int gw_huge_move(uintptr_t piece) GW_COLD; /* moves memory onto one (MADV_COLLAPSE, Linux 6.1): 0, or the kernel's errno */
bool gw_cores_are_crowded(void) GW_COLD;   /* more tasks want to run than four a core of this machine */
/* The library's own memory on them.  Without a setting it may lie there where the system grants it: the kernel gives a page at the first
 * touch, and nothing is touched for that.  With GODWIT_HUGE_PAGES=all or =pool it is asked for, and resident. */
bool gw_huge_is_wanted(void); /* it is asked for */
/* GODWIT_HUGE_PAGES=auto, the kernel gives such pages to shared memory (fd: its file; -1: it has none), and so many bytes are little of
 * what this process may still have. */
bool gw_huge_is_granted(int fd, uint64_t bytes) GW_COLD;
void gw_huge_offer(const char *what, void *at, uint64_t bytes) GW_COLD;   /* where it is granted: this memory may lie there */
void gw_huge_explain(const char *what, void *at, uint64_t bytes) GW_COLD; /* GODWIT_EXPLAIN=boot: how much of it does now */
/* Makes all of the memory resident, on huge pages as far as the system gives them and they fit into it; GODWIT_EXPLAIN=boot tells how far.
 * Not asked for: does nothing. */
void gw_huge_use(const char *what, void *at, uint64_t bytes) GW_COLD;
/* The same whether it is asked for or not, of memory that begins and ends with huge pages; bytes of it that lie on them then. */
/* must: on nothing else, whatever else runs here, and it is the kernel's answers for these bytes that count; otherwise is_crowded: too many tasks
 * want to run here to move the rest. */
uint64_t gw_huge_make(void *at, uint64_t bytes, bool must, bool *is_crowded_out) GW_COLD;
/* As aligned_alloc(), to be freed by the other; if large enough, offered as above, where the kernel gives such pages to a process's own memory;
 * if asked for, on pages of the pool, or used as above.  free: of NULL, too. */
void *gw_huge_alloc(const char *what, size_t align, size_t bytes) GW_COLD;
void gw_huge_free(void *p) GW_COLD;

/* ---- the system's pool of huge pages (hugetlbfs), where GODWIT_HUGE_PAGES=pool asks for it ----
 * What memory of `bytes` bytes has to be a multiple of, and aligned to, to lie there: 2 MiB, or more if that is no more than an eighth; at
 * most 1 GiB.  The same on all ranks, whatever each of them can see of the system. */
uint64_t gw_pool_step(uint64_t bytes);
/* A descriptor of shared memory, zero, that cannot be resized: all of its pages are there, the largest of the pool's that fit.  bytes: a
 * multiple of its gw_pool_step().  -1: they are not to be had, and GODWIT_EXPLAIN=boot has told why.  `what` is in the file's
 * name. */
int gw_pool_file(const char *what, uint64_t bytes) GW_COLD;
/* The largest size of pages of the pool's, and of 2 MiB, that is not above `wanted`; 0: there is none above the system's ordinary pages. */
uint64_t gw_pool_page(uint64_t wanted) GW_COLD;
/* The same with pages of this size, of which `bytes` is a multiple.  -1: why not is in `why`. */
enum { GW_POOL_WHY = 256 };
int gw_pool_file_of(const char *what, uint64_t bytes, uint64_t page, char why[GW_POOL_WHY]) GW_COLD;
/* What keeps `bytes` bytes from such pages, as the kernel tells of its pool now, and what would help. */
void gw_pool_why(uint64_t page, uint64_t bytes, char out[GW_POOL_WHY]) GW_COLD;
const char *gw_pages_text(uint64_t page, char out[24]) GW_COLD;         /* "2 MiB" */
void gw_pool_explain(const char *what, int fd, uint64_t bytes) GW_COLD; /* once it is in use: which pages they are */
void *gw_pool_map(int fd, void *at, uint64_t bytes) GW_COLD;            /* the whole of it; at NULL: anywhere; NULL: see errno */
bool gw_pool_has(uintptr_t at)
    GW_COLD; /* this process's memory lies there on pages of 2 MiB or more; false where the kernel (6.11) cannot tell */

/* Does a thread of the process wait for what comes by a pipe with one of these n inodes, in read, poll, select or epoll, or never
 * wait for it (O_NONBLOCK on its standard input)?  True also where the kernel tells nothing about the process; false: it is gone. */
bool gw_waits_to_read(pid_t pid, const uint64_t *pipes, int n) GW_COLD;

size_t gw_page_bytes(void); /* of the system's ordinary pages */
/* An address range of `bytes` in which a multiple of `align`, a power of two, lies `skew` bytes behind its
 * begin; reserved for the caller, who maps over it (MAP_FIXED) or unmaps it; NULL: there is none. */
void *gw_place(uint64_t bytes, uint64_t align, uint64_t skew) GW_COLD;

/* This program has rights that who started it may lack (set-user-ID, set-group-ID, file capabilities; AT_SECURE).  Then no variable may
 * choose a library, a file to read or one to write: settings of the environment do not count (base/settings.c), other variables of that
 * kind are asked for by secure_getenv(), which is NULL then, and libraries that obey variables of their own are not opened. */
bool gw_is_raised(void) GW_COLD;
/* Standard streams that are closed (>&-, daemons) become ones that neither read nor write, with the errors of closed ones (EBADF), and that no program
 * inherits: so no descriptor of ours takes their number, for the program's printf() to write into.  Before the first of ours. */
void gw_streams_keep(void) GW_COLD;
/* Is /proc that of this process's pid namespace?  A container may lack it, a sandbox may hide it, and who is in a new pid namespace may see that
 * of the old one, where the numbers of processes are others. */
bool gw_has_proc(void) GW_COLD;
/* The file of this program; without /proc, as it was started, from the current folder.  False: it is not known. */
bool gw_own_program(char path_out[PATH_MAX]) GW_COLD;
/* Where this program lies, without a slash behind it; the caller's.  "": not known. */
char *gw_own_folder(void);

/* ---- peak memory use of this process, in bytes ----
 * MALLOC: by malloc, of the whole process: the sum of the peaks of its heaps and of large blocks, which need not have been at the same time.
 * MAPPED: shared memory that is mapped; SHARED: shared memory that this rank has created.  Rooms report these two by gw_memory_note(). */
enum gw_memory { GW_MEMORY_MALLOC, GW_MEMORY_MAPPED, GW_MEMORY_SHARED, GW_MEMORIES };
void gw_memory_note(enum gw_memory what, int64_t delta); /* MAPPED or SHARED; any thread */
int64_t gw_memory_most(enum gw_memory what);

/* Process-shared futex.  0: woken, the word differs, or a signal: look again; -ETIMEDOUT.  timeout_ns < 0: none. */
int gw_futex_wait(_Atomic uint32_t *word, uint32_t expected, int64_t timeout_ns);
void gw_futex_wake(_Atomic uint32_t *word, int n);
/* Cross-memory attach (process_vm_readv/writev): bytes copied, perhaps fewer than asked for, or -errno.  At most 1024 elements each. */
ssize_t gw_cma_read(pid_t pid, const struct iovec *local, int nlocal, const struct iovec *remote, int nremote);
ssize_t gw_cma_write(pid_t pid, const struct iovec *local, int nlocal, const struct iovec *remote, int nremote);
/* userfaultfd: a descriptor that reports memory of this process that is unmapped, moved or discarded; negative: the kernel denies it, after
 * gw_fail(). */
int gw_uffd_open(void);
int gw_uffd_may(void); /* GW_OK: gw_uffd_open() would succeed */
/* The first byte of [at, at + bytes) that this process cannot read (is_write: write), by probing one byte per page, whose value is kept; NULL:
 * none, or unknown.  For error messages: costs two system calls per 256 pages. */
const void *gw_memory_fault(const void *at, int64_t bytes, bool is_write) GW_COLD;
/* libpmix 4 crashes if the user has no home folder (HOME not set and no passwd entry, as in containers).  True: HOME was set to "/" for it; the
 * caller removes HOME again. */
bool gw_home_lend(void);
/* To be called before the process ends other than by exit(), or has its launcher end the job: flushes stdio and waits, once, for the time set
 * by gw_words_take(), so that output reaches the launcher. */
void gw_last_words(void);
void gw_words_take(int us); /* microseconds; initially 0 */
/* Calls gw_last_words() and ends the process without running exit handlers. */
void gw_exit_now(int status) __attribute__((noreturn, cold));
int gw_cores_allowed(void); /* cores that this process may use: cpuset and cgroup quota; at least 1 */
int gw_cores_of(pid_t pid); /* the same, by the cpuset of another process (the parent) and this process's quota */
void gw_cpus_read(const char *text, void *set_out, size_t set_bytes); /* parses "0-3,8" into a cpu_set_t of set_bytes */
int gw_cores_mask(pid_t pid); /* by the cpuset alone: one system call, where the others read ten files */
/* Bytes that can still be allocated: the least of the machine's available memory and the limits of the control groups. */
int64_t gw_memory_available(const char **limit_out); /* *limit_out: description of the limit that applies */
/* Bytes that can ever be in use, by all that run: of the machine with its swap, and by the least limit of a control group above this process.
 * INT64_MAX: not known, or none. */
struct gw_memory_whole {
    int64_t machine, group;
    uint64_t group_id; /* the same in processes that share that limit; 0: there is none */
};
struct gw_memory_whole gw_memory_whole(void) GW_COLD;
/* The same in processes of a host that are in the same control groups, so that what one reads of limits holds for all; 0: not known. */
uint64_t gw_memory_group_key(void);

#endif
