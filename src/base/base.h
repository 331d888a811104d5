/* base.h -- what every room stands on: result codes, settings, log, lists, atomics, time, OS calls.
 *
 * Nothing here knows MPI.  All functions are safe to call from any thread unless they say otherwise.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BASE_BASE_H
#define GW_BASE_BASE_H

#include <assert.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/file.h"
#include "base/consts_gen.h"   /* GW_<X> = value of MPI_<X> in the standard ABI (generated) */
#include "base/settings_gen.h" /* struct gw_settings and gw_set (generated from every cvars.def) */

/* ---- compiler ---------------------------------------------------------------------------------- */
#define likely(x)       __builtin_expect(!!(x), 1)
#define unlikely(x)     __builtin_expect(!!(x), 0)
#define GW_CACHELINE    64
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
int gw_error_class(int code);        /* the MPI error class; GW_OK -> 0; GW_ECALLBACK -> the thread's last code of that kind */

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

/* ---- settings ----------------------------------------------------------------------------------
 * `gw_set` (settings_gen.h) is filled once from the environment: GODWIT_<NAME>, then the aliases.
 * A site's file (/etc/godwit.conf and /etc/cray-mpich.conf, or the one that GODWIT_SITE names) sets variables first: lines NAME=VALUE,
 * where the environment does not have it, and NAME:force=VALUE.  GODWIT_SITE= (empty) means none.  getenv() stands nowhere else but here, in boot (the launchers'
 * own variables, and one setting that is needed before main()) and where libfabric is opened (one of its own). */
bool gw_set_bool(const char *text, bool *out);         /* false: it is neither a word of truth nor one of falsehood */
bool gw_set_lists(const char *list, const char *word); /* a setting of type list has this word */
void gw_settings_load(
    void); /* idempotent; warns about unknown GODWIT_* names with the nearest spelling, and about MPICH_* without effect */
const char *gw_foreign_why(const char *name); /* why a variable of HPE's MPI is of no effect here; NULL: it is not known to be so */
struct gw_setting_info {                      /* one row, for godwit-info, man pages and MPI_T */
    const char *name, *room, *env, *type, *default_text, *range, *aliases, *help;
};
void gw_settings_free(void); /* drops the text copies; the next load reads the environment again */
int gw_settings_count(void);
void gw_settings_get(int i, struct gw_setting_info *info_out, char *value_out, size_t cap, const char **origin_out);
/* Parses as from the environment and takes it; false: it is not of the setting's type or range, and nothing changes. */
bool gw_settings_set(int i, const char *text);
const void *gw_settings_field(int i); /* bool, int64_t, int (a word's number) or const char *, by its type */
const char *gw_nearest(const char *word, const char *const *words, int n); /* NULL if nothing is near */

/* ---- memory that this process had at most, in bytes ----
 * MALLOC: of malloc, by everything in the process; the peaks of its heaps and of large blocks are added, which need not have been at one
 * time.  MAPPED and SHARED: what the rooms note, mappings of shared memory, and shared memory that this rank has made. */
enum gw_memory { GW_MEMORY_MALLOC, GW_MEMORY_MAPPED, GW_MEMORY_SHARED, GW_MEMORIES };
void gw_memory_note(enum gw_memory what, int64_t delta); /* not of MALLOC; any thread */
int64_t gw_memory_most(enum gw_memory what);

/* ---- hash ---- */
#define GW_HASH_SEED UINT64_C(0xcbf29ce484222325)
static inline uint64_t gw_hash(uint64_t h, const void *bytes,
                               size_t n) /* FNV-1a: h is the seed, or the hash of what comes before */
{
    for (const unsigned char *p = bytes; n > 0; n--) h = (h ^ *p++) * UINT64_C(0x100000001b3);
    return h;
}
static inline uint64_t gw_hash_text(const char *text) { return gw_hash(GW_HASH_SEED, text, strlen(text)); }

/* ---- time -------------------------------------------------------------------------------------- */
double gw_wtime(void);                /* seconds, monotonic */
uint64_t gw_now_ns(void);             /* CLOCK_MONOTONIC */
static inline uint64_t gw_ticks(void) /* cheap, monotonic enough for spin budgets; unit: see gw_ticks_per_us */
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return gw_now_ns();
#endif
}
uint64_t gw_ticks_per_us(void); /* measured once, 20 us */
static inline void gw_cpu_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* sched_yield(), without a visit to another library where that is easy. */
static inline void gw_yield(void)
{
#if defined(__x86_64__)
    long rc = SYS_sched_yield;
    __asm__ volatile("syscall" : "+a"(rc) : : "rcx", "r11", "memory");
#else
    sched_yield();
#endif
}

/* ---- copying ------------------------------------------------------------------------------------ */
void gw_copy_plain(void *dst, const void *src, size_t n);
/* memcpy for data that comes from, or goes to, another core. */
static inline void gw_copy(void *dst, const void *src, size_t n)
{
    enum { PLAIN_FROM = 1024, PLAIN_TO = 1 << 20 };
    if (n < PLAIN_FROM || n > PLAIN_TO)
        memcpy(dst, src, n);
    else
        gw_copy_plain(dst, src, n);
}

/* ---- intrusive doubly linked list ---------------------------------------------------------------- */
struct gw_list {
    struct gw_list *next, *prev;
};
static inline void gw_list_init(struct gw_list *l) { l->next = l->prev = l; }
static inline bool gw_list_empty(const struct gw_list *l) { return l->next == l; }
static inline void gw_list_push(struct gw_list *l, struct gw_list *e) /* at the tail */
{
    e->prev = l->prev;
    e->next = l;
    l->prev->next = e;
    l->prev = e;
}
static inline void gw_list_del(struct gw_list *e)
{
    e->prev->next = e->next;
    e->next->prev = e->prev;
}

/* ---- completion record: one of the three kinds of pointer that look up ---------------------------- */
struct gw_done {
    void (*fn)(struct gw_done *done, int err);
};

/* ---- locks: none or spin, chosen once ------------------------------------------------------------- */
struct gw_lock {
    _Atomic uint32_t word;  /* 0 free, 1 held, 2 held with sleepers (futex) */
    _Atomic uint32_t takes; /* how often gw_lock() took it; counted only with gw_threads */
};
GW_EXTERN bool gw_threads;  /* true when MPI_THREAD_MULTIPLE: locks are real */
GW_EXTERN bool gw_checking; /* GODWIT_CHECK is on: calls go by way of room check */
GW_EXTERN bool gw_careful;  /* either of the two: what is inlined into entry points is not for us */
void gw_lock_slow(struct gw_lock *l);
void gw_unlock_slow(struct gw_lock *l);
static inline bool gw_lock_try(struct gw_lock *l)
{
    uint32_t free = 0;
    return !gw_threads || atomic_compare_exchange_strong_explicit(&l->word, &free, 1, memory_order_acquire, memory_order_relaxed);
}
/* Might gw_lock_try() succeed?  Takes the lock's line from nobody. */
static inline bool gw_lock_look(const struct gw_lock *l)
{
    return !gw_threads || atomic_load_explicit(&l->word, memory_order_relaxed) == 0;
}
static inline void gw_lock(struct gw_lock *l)
{
    if (likely(!gw_threads)) return;
    if (!gw_lock_try(l)) gw_lock_slow(l);
    atomic_store_explicit(&l->takes, atomic_load_explicit(&l->takes, memory_order_relaxed) + 1, memory_order_relaxed);
}
static inline void gw_unlock(struct gw_lock *l)
{
    if (unlikely(gw_threads) && unlikely(atomic_exchange_explicit(&l->word, 0, memory_order_release) == 2)) gw_unlock_slow(l);
}

/* ---- threads of the library's own: no signals come to them, and they are not the program's ---- */
int gw_thread_start(pthread_t *out, void *(*run)(void *), void *arg); /* GW_OK or GW_ENOMEM */
bool gw_thread_is_own(pid_t tid);

/* ---- what a tool may ask for: counters, levels, events ---------------------------------------------
 * Only base/count.c and tool/ read them.  Counts may lose one where threads that hold no common lock count the same thing. */
struct gw_counters {
#define X(name, class, text) _Atomic uint64_t name;
#include "base/counters.def"
#undef X
};
GW_EXTERN struct gw_counters gw_count;
struct gw_counter_row {
    const char *name, *text;
    int class; /* GW_T_PVAR_CLASS_* */
    _Atomic uint64_t *counter;
};
extern const struct gw_counter_row gw_counter_rows[];
extern const int gw_counter_row_count;
/* What is atomic only because other threads look at it, or change it, at any time: gcc makes one instruction of these, and two or three of
 * the same with relaxed order. */
#ifdef GW_TSAN
static inline void gw_counted(_Atomic uint64_t *c, uint64_t n)
{
    atomic_store_explicit(c, atomic_load_explicit(c, memory_order_relaxed) + n, memory_order_relaxed);
}
static inline uint32_t gw_look(const _Atomic uint32_t *word) { return atomic_load_explicit(word, memory_order_relaxed); }
#else
static inline void gw_counted(_Atomic uint64_t *c, uint64_t n) { *(uint64_t *)c += n; }
static inline uint32_t gw_look(const _Atomic uint32_t *word) { return *(const uint32_t *)word; } /* not to wait for a change */
#endif
enum { GW_LEVEL_UNEXPECTED_MESSAGES, GW_LEVEL_UNEXPECTED_BYTES, GW_LEVELS, GW_LEVEL_MARKS = 16 };
struct gw_level {
    _Atomic int64_t now;
    _Atomic uint32_t used;                /* bit per mark */
    _Atomic int64_t mark[GW_LEVEL_MARKS]; /* highest value since somebody began to watch */
};
GW_EXTERN struct gw_level gw_levels[GW_LEVELS];
void gw_level_marks(struct gw_level *l, int64_t now);
static inline void gw_level_add(int level, int64_t delta)
{
    struct gw_level *l = &gw_levels[level];
    /* What a stranger says of a message's length may be added, and is taken off again. */
    int64_t now = (int64_t)((uint64_t)atomic_fetch_add_explicit(&l->now, delta, memory_order_relaxed) + (uint64_t)delta);
    if (unlikely(atomic_load_explicit(&l->used, memory_order_relaxed)) && delta > 0) gw_level_marks(l, now);
}
int gw_level_watch(struct gw_level *l); /* the number of a mark that is the caller's; -1: all are taken */
void gw_level_unwatch(struct gw_level *l, int mark);
void gw_level_reset(struct gw_level *l, int mark);

/* Raised on paths that are slow anyway, and only where somebody listens.  v: see the table in tool/event.c. */
enum gw_event_kind {
    GW_EVENT_UNEXPECTED,
    GW_EVENT_RENDEZVOUS,
    GW_EVENT_COLLECTIVE,
    GW_EVENT_SLEPT,
    GW_EVENT_EPOCH,
    GW_EVENT_FILE,
    GW_EVENTS
};
struct gw_event {
    enum gw_event_kind kind;
    bool is_free; /* no lock is held: the listener may do what it likes */
    uint64_t time_ns;
    int64_t v[4];
};
GW_EXTERN _Atomic uint32_t gw_event_mask; /* bit per kind that somebody listens to */
struct gw_upcalls {
    void (*event)(const struct gw_event *e); /* set by tool before the mask is */
};
extern struct gw_upcalls gw_upcalls;
static inline bool gw_event_wanted(enum gw_event_kind kind)
{
    return unlikely(atomic_load_explicit(&gw_event_mask, memory_order_acquire) & 1u << kind);
}
void gw_event_raise(enum gw_event_kind kind, bool is_free, int64_t a, int64_t b, int64_t c, int64_t d) GW_COLD;

/* ---- memory and OS ------------------------------------------------------------------------------- */
void *gw_xmalloc(size_t n); /* never NULL: dies with a sentence */
void *gw_xcalloc(size_t n, size_t size);
void *gw_xrealloc(void *p, size_t n);
char *gw_xasprintf(const char *fmt, ...) GW_PRINTF(1, 2);
/* Behind the text in out[cap], as far as there is room. */
void gw_text_add(char *out, size_t cap, const char *fmt, ...) GW_PRINTF(3, 4);

/* Free blocks of our own allocators: in a build with AddressSanitizer whoever uses them is reported; else these do nothing. */
#if defined __has_feature
#if __has_feature(address_sanitizer)
#define GW_ASAN 1
#endif
#endif
#if defined GW_ASAN || defined __SANITIZE_ADDRESS__
void __asan_poison_memory_region(const volatile void *at, size_t bytes);
void __asan_unpoison_memory_region(const volatile void *at, size_t bytes);
static inline void gw_poison(const void *at, size_t bytes) { __asan_poison_memory_region(at, bytes); }
static inline void gw_unpoison(const void *at, size_t bytes) { __asan_unpoison_memory_region(at, bytes); }
#else
static inline void gw_poison(const void *at, size_t bytes) { (void)at, (void)bytes; }
static inline void gw_unpoison(const void *at, size_t bytes) { (void)at, (void)bytes; }
#endif

/* An arena: blocks of any size up to GW_ARENA_MOST whose memory goes back to the system when they are given back (arena.c).  One range of
 * addresses, reserved at first use and touched as far as it is needed; a block costs its bytes rounded up to GW_ARENA_UNIT (above
 * GW_ARENA_EVEN somewhat more, in addresses).  Blocks lie at most 2^32 units behind `base` and never at it, so that 32 bits that are not 0
 * name one.  No lock.  Zeroed is empty. */
enum { GW_ARENA_UNIT = 16, GW_ARENA_EVEN = 4224, GW_ARENA_MOST = 2 << 20 };
enum { ARENA_SPANS = 33, ARENA_CLASSES = GW_ARENA_EVEN / GW_ARENA_UNIT + 16 };
struct gw_arena {
    char *base;               /* NULL: not reserved yet */
    size_t reserved, usable;  /* bytes from `base` on: of addresses, and of those that may be touched */
    struct arena_slab *slabs; /* by number, from 1 on */
    uint32_t n_slabs, cap_slabs, n_warm, warm;
    int64_t bytes;                   /* in blocks that are out */
    uint32_t partial[ARENA_CLASSES]; /* a slab with a free block */
    uint32_t cold[ARENA_SPANS];      /* spans of so many slabs without memory */
};
void *gw_arena_take(struct gw_arena *a, size_t bytes);             /* never NULL: dies when memory is out */
void gw_arena_give(struct gw_arena *a, void *block, size_t bytes); /* as it was taken */
void gw_arena_finish(struct gw_arena *a);                          /* all blocks are gone; it is empty again */

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
int gw_edits(const char *a, const char *b);          /* letters put in, left out, changed or swapped; ignores case */

#endif
