/* base.h -- used by every file: compiler attributes, result codes, errors, log, completion callbacks, memory.  Other subjects of base have
 * their own headers: list, lock, time, hash, copy, arena, settings, count, event, os, file.
 *
 * Nothing here depends on MPI.  All functions may be called from any thread, unless the comment says otherwise.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BASE_BASE_H
#define GW_BASE_BASE_H

#include <assert.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

/* ---- compiler ---------------------------------------------------------------------------------- */
#define likely(x)       __builtin_expect(!!(x), 1)
#define unlikely(x)     __builtin_expect(!!(x), 0)
#define GW_CACHELINE    64
#define GW_MAX_LANES    64 /* of a process; as the setting `lanes` has it */
#define GW_ALIGNED(n)   __attribute__((aligned(n)))
#define GW_PRINTF(f, a) __attribute__((format(printf, f, a)))
#ifdef __clang__
#define GW_COMPILER __VERSION__ /* with its name */
#else
#define GW_COMPILER "gcc " __VERSION__
#endif
#define GW_COLD     __attribute__((cold, noinline))
#define GW_NOINLINE __attribute__((noinline))
/* Placement in the text segment, so that a program touches few pages of the library: functions that programs call most often; functions that
 * run once, at start or at the end. */
#define GW_HOT    __attribute__((section(".text.hot")))
#define GW_ONCE   __attribute__((noinline, section(".text.startup")))
#define GW_EXPORT __attribute__((visibility("default"))) /* only facade/ uses it */
/* Declares a variable of the library.  -fvisibility=hidden covers definitions only: without this attribute the compiler accesses variables
 * that it sees declared through the GOT. */
#define GW_EXTERN extern __attribute__((visibility("hidden")))
/* Inlined at any level of optimisation: the fast paths of entry points. */
#define GW_INLINE                       static inline __attribute__((always_inline))
#define GW_ARRAY_LEN(a)                 (sizeof(a) / sizeof((a)[0]))
#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

/* 1: invariants of whole states are asserted, in builds without optimisation and with AddressSanitizer.  0: no code is generated. */
#if defined __has_feature
#if __has_feature(address_sanitizer)
#define GW_ASSERT_STATES 1
#endif
#endif
#if !defined GW_ASSERT_STATES && (defined __SANITIZE_ADDRESS__ || !defined __OPTIMIZE__)
#define GW_ASSERT_STATES 1
#endif
#ifndef GW_ASSERT_STATES
#define GW_ASSERT_STATES 0
#endif

static inline size_t gw_align_up(size_t n, size_t a) { return (n + a - 1) & ~(a - 1); }
static inline int64_t gw_min64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t gw_max64(int64_t a, int64_t b) { return a > b ? a : b; }

/* Accesses between BEGIN and END are ordered with other threads of this process through another process, which ThreadSanitizer cannot see:
 * it ignores them. */
#if defined __has_feature
#if __has_feature(thread_sanitizer)
#define GW_TSAN 1
#endif
#endif
#if defined __SANITIZE_THREAD__ && !defined GW_TSAN
#define GW_TSAN 1
#endif
#ifdef GW_TSAN
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
#define GW_ORDER_ELSEWHERE_BEGIN (AnnotateIgnoreReadsBegin(__FILE__, __LINE__), AnnotateIgnoreWritesBegin(__FILE__, __LINE__))
#define GW_ORDER_ELSEWHERE_END   (AnnotateIgnoreWritesEnd(__FILE__, __LINE__), AnnotateIgnoreReadsEnd(__FILE__, __LINE__))
#else
#define GW_ORDER_ELSEWHERE_BEGIN ((void)0)
#define GW_ORDER_ELSEWHERE_END   ((void)0)
#endif

/* ---- result codes ------------------------------------------------------------------------------
 * 0: success; positive: a state; negative: an error from errors.def.  Calls that start an operation return GW_OK (complete, nothing to
 * wait for), GW_POSTED (will complete later) or GW_AGAIN (nothing was done: make progress and retry). */
enum { GW_OK = 0, GW_POSTED = 1, GW_AGAIN = 2 };
enum gw_error {
    GW_EFIRST_ = -4096,
#define X(name, mpi_class, text) name,
#include "base/errors.def"
#undef X
    GW_ELAST_,
};

/* Records the text of an error (printf format, per thread, at most 1 KiB) and returns `code`.  The function that detects an error calls it
 * once; its callers only pass the code on. */
int gw_fail(int code, const char *fmt, ...) GW_PRINTF(2, 3) GW_COLD;
/* The same for an MPI error code that a user's callback returned: returns GW_ECALLBACK, with this code as its MPI error code. */
int gw_fail_callback(int mpi_code, const char *fmt, ...) GW_PRINTF(2, 3) GW_COLD;
const char *gw_fail_text(void); /* text of the calling thread's last gw_fail(); "": none */
void gw_fail_clear(void);
const char *gw_error_text(int code); /* the general text of the code, from errors.def */
int gw_fail_callback_code(void);     /* the calling thread's last code of gw_fail_callback(); 0: none */

/* Prints "godwit: rank R (host, pid): ..." to stderr and ends the process with status 1.  For failures before error handlers exist, and for
 * broken invariants that a user can cause. */
void gw_die(const char *fmt, ...) GW_PRINTF(1, 2) __attribute__((noreturn, cold));
/* What gw_die() calls once between its words and the end: it tells the launcher, which may not end the job because this process ends, and which
 * may kill it then, so that it calls gw_last_words() before.  In any thread, maybe with locks held. */
void gw_die_tells(void (*launcher)(void));

/* ---- log ---------------------------------------------------------------------------------------
 * Warnings are always printed; explanations if GODWIT_EXPLAIN lists the category. */
enum gw_log_cat { GW_LOG_WIRE = 1, GW_LOG_PROTO = 2, GW_LOG_COLL = 4, GW_LOG_BOOT = 8, GW_LOG_TOPO = 16, GW_LOG_WAIT = 32 };
extern unsigned gw_log_mask; /* set from GODWIT_EXPLAIN by gw_settings_load() */
#define GW_EXPLAIN(cat, ...)                                                                                                       \
    do {                                                                                                                           \
        if (unlikely(gw_log_mask & (cat))) gw_explain(cat, __VA_ARGS__);                                                           \
    } while (0)
void gw_explain(unsigned cat, const char *fmt, ...) GW_PRINTF(2, 3) GW_COLD; /* "godwit[rank] wire: ..." on stderr */
void gw_warn(const char *fmt, ...) GW_PRINTF(1, 2) GW_COLD;
/* Data from another process failed validation and is dropped: counts it (messages_refused) and warns the first time.  `what`: kind of the
 * data; `field` has the invalid `value`. */
void gw_refused(const char *what, const char *field, int64_t value) GW_COLD;
void gw_note(const char *fmt, ...) GW_PRINTF(1, 2) GW_COLD; /* "godwit: ..." on stderr: output that the user has asked for */

/* ---- invariants ----
 * ROOM_broken() checks a whole state and returns the invariant that does not hold, in words, or NULL.  ROOM_assert_state() does so after each
 * change of state, if GW_ASSERT_STATES (`./check` runs all tests with AddressSanitizer). */
static inline void gw_assert_state(const char *broken)
{
    if (likely(!broken)) return;
    gw_warn("a fault of this library: it does not hold that %s", broken);
    __builtin_trap();
}
void gw_log_identity(int rank, int size); /* the rank in log lines; boot calls it once */

/* ---- completion callback: one of the three ways by which a lower room calls a higher one -----------
 * Embedded in the record of the caller, which fn() finds by container_of().  `err`: GW_OK or a negative code. */
struct gw_done {
    void (*fn)(struct gw_done *done, int err);
};

/* ---- memory, text ------------------------------------------------------------------------------- */
void *gw_xmalloc(size_t n); /* these never return NULL: out of memory ends the process with a message */
void *gw_xcalloc(size_t n, size_t size);
void *gw_xrealloc(void *p, size_t n);
char *gw_xasprintf(const char *fmt, ...) GW_PRINTF(1, 2);
void gw_text_add(char *out, size_t cap, const char *fmt, ...) GW_PRINTF(3, 4); /* appends to the text in out[cap]; truncates */

static inline double gw_mib(uint64_t bytes) { return (double)bytes / (1 << 20); } /* for texts */
int gw_edits(const char *a, const char *b); /* edit distance (insert, delete, replace, swap of neighbours); ignores case */

#endif
