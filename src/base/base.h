/* base.h -- what every file stands on: the compiler, result codes, errors, the log, completion records, memory.  The other subjects of base
 * have headers of their own: list, lock, time, hash, copy, arena, settings, count, event, os, file.
 *
 * Nothing here knows MPI.  All functions are safe to call from any thread unless they say otherwise.
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
#define GW_MAX_LANES    16 /* of a process; as the setting `lanes` has it */
#define GW_ALIGNED(n)   __attribute__((aligned(n)))
#define GW_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define GW_COLD         __attribute__((cold, noinline))
#define GW_NOINLINE     __attribute__((noinline))
/* Linkers put these two kinds side by side, so that a program which uses little has few pages of the library: what programs call most,
 * and what is done once, at the start or at the end. */
#define GW_HOT    __attribute__((section(".text.hot")))
#define GW_ONCE   __attribute__((noinline, section(".text.startup")))
#define GW_EXPORT __attribute__((visibility("default"))) /* only facade/ uses it */
/* Declares a variable of the library.  -fvisibility=hidden is about definitions: without this word the compiler asks the GOT where a
 * variable lies that it sees declared only. */
#define GW_EXTERN extern __attribute__((visibility("hidden")))
/* What an entry point is to have in its own body, at any level of optimisation. */
#define GW_INLINE                       static inline __attribute__((always_inline))
#define GW_ARRAY_LEN(a)                 (sizeof(a) / sizeof((a)[0]))
#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

/* Builds without optimisation and those under AddressSanitizer assert whole states: 1.  Others have no instruction of that. */
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

/* What lies between is ordered with the accesses of this process's other threads by way of another process: ThreadSanitizer, which
 * sees only this one, does not look at it. */
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
 * 0 done; positive: a state; negative: an error from errors.def.  Post calls answer GW_OK (done, nothing
 * to wait for), GW_POSTED (will complete later) or GW_AGAIN (nothing happened: make progress, retry). */
enum { GW_OK = 0, GW_POSTED = 1, GW_AGAIN = 2 };
enum gw_error {
    GW_EFIRST_ = -4096,
#define X(name, mpi_class, text) name,
#include "base/errors.def"
#undef X
    GW_ELAST_,
};

/* Records why (printf text, kept per thread, at most 1 KiB) and returns `code`.  The function that decides
 * an error calls it once; those above only pass the code on. */
int gw_fail(int code, const char *fmt, ...) GW_PRINTF(2, 3) GW_COLD;
/* The same for an error that a function of the user's answered: returns GW_ECALLBACK, whose class is then this MPI code. */
int gw_fail_callback(int mpi_code, const char *fmt, ...) GW_PRINTF(2, 3) GW_COLD;
const char *gw_fail_text(void); /* the calling thread's last text; "" if none */
void gw_fail_clear(void);
const char *gw_error_text(int code); /* the errors.def sentence */
int gw_fail_callback_code(void);     /* the calling thread's last code of gw_fail_callback(); 0: none */

/* Prints "godwit: rank R (host, pid): ..." to stderr and ends the process with status 1 (for failures
 * before error handlers exist, and for broken invariants that a user can meet). */
void gw_die(const char *fmt, ...) GW_PRINTF(1, 2) __attribute__((noreturn, cold));

/* ---- log ---------------------------------------------------------------------------------------
 * Warnings always print (once per call site where the caller passes a static flag); the rest when
 * GODWIT_EXPLAIN lists the category. */
enum gw_log_cat { GW_LOG_WIRE = 1, GW_LOG_PROTO = 2, GW_LOG_COLL = 4, GW_LOG_BOOT = 8, GW_LOG_TOPO = 16 };
extern unsigned gw_log_mask; /* set from GODWIT_EXPLAIN by gw_settings_load() */
#define GW_EXPLAIN(cat, ...)                                                                                                       \
    do {                                                                                                                           \
        if (unlikely(gw_log_mask & (cat))) gw_explain(cat, __VA_ARGS__);                                                           \
    } while (0)
void gw_explain(unsigned cat, const char *fmt, ...) GW_PRINTF(2, 3) GW_COLD; /* "godwit[rank] wire: ..." on stderr */
void gw_warn(const char *fmt, ...) GW_PRINTF(1, 2) GW_COLD;
/* Something that came from another process is not as it must be, and is dropped: counted (messages_refused); the first is told.  `what` it
 * is, and which field has which value. */
void gw_refused(const char *what, const char *field, int64_t value) GW_COLD;
void gw_note(const char *fmt, ...) GW_PRINTF(1, 2) GW_COLD; /* "godwit: ..." on stderr: what was asked for */

/* ---- states ----
 * ROOM_broken() looks at a whole state and answers with the invariant that does not hold, in words, or NULL.  Where a state has changed,
 * ROOM_assert_state() has it looked at, under GW_ASSERT_STATES only: as `./check` runs all tests under AddressSanitizer. */
static inline void gw_assert_state(const char *broken)
{
    if (likely(!broken)) return;
    gw_warn("a fault of this library: it does not hold that %s", broken);
    __builtin_trap();
}
void gw_log_identity(int rank, int size); /* who prints; boot calls it once */

/* ---- completion record: one of the three kinds of pointer that look up ---------------------------- */
struct gw_done {
    void (*fn)(struct gw_done *done, int err);
};

/* ---- memory, text ------------------------------------------------------------------------------- */
void *gw_xmalloc(size_t n); /* never NULL: dies with a sentence */
void *gw_xcalloc(size_t n, size_t size);
void *gw_xrealloc(void *p, size_t n);
char *gw_xasprintf(const char *fmt, ...) GW_PRINTF(1, 2);
/* Behind the text in out[cap], as far as there is room. */
void gw_text_add(char *out, size_t cap, const char *fmt, ...) GW_PRINTF(3, 4);

int gw_edits(const char *a, const char *b); /* letters put in, left out, changed or swapped; ignores case */

#endif
