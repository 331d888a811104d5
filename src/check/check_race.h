/* check_race.h -- private to check: accesses to windows that race.
 *
 * Every origin keeps a log of its accesses in an epoch of MPI_Win_fence or MPI_Win_start, and hands it to the targets as the epoch is closed.
 * The target adds what it did with that memory itself by calls of MPI (messages received into it, buffers of its own operations) and looks for
 * accesses that share bytes and that the standard (MPI 4.1, section 12.7) does not allow in one epoch.  Loads and stores of the program are
 * not seen; a store is told from what it leaves: bytes that one put wrote, or one get read, and nobody else updated, must be the same when
 * the epoch ends.  Before a put or get they must be the same as when the epoch began; but what comes before it may be in order, so this is
 * looked at only where the target has made no other call in the epoch, by which it could have said that it had stored.
 * Only what is certain is told: all accesses of one epoch to one target are concurrent, whenever they were made.
 *
 * Accesses under locks may be ordered by whatever else the program does.  Of two of them one comes before the other only if a call that
 * completes it (flush, unlock) has returned before the other one is called; so they are concurrent for certain if each was called before the
 * completing call of the other began.  Every origin notes the time at which the call of an access returned and the one at which the completing
 * call began, and hands its log out before the window is freed.  Clocks of different machines are not compared.  Under exclusive locks there
 * is nobody else, unless the program said that it sees to that itself (MPI_MODE_NOCHECK).  What a put has written must be the same when it is
 * completed; else somebody wrote there meanwhile.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_CHECK_CHECK_RACE_H
#define GW_CHECK_CHECK_RACE_H

#include "check/check_private.h"

/* One run of bytes.  Travels from the origin to the target. */
struct race_access {
    int64_t disp, lo, hi;        /* [disp * the target's unit + lo, .. + hi) of its part */
    uint64_t before, after;      /* sums of the bytes before and after the operation; PUT, GET */
    uint64_t since_ns, until_ns; /* under locks: it was not complete between these; until_ns 0: to the end of the epoch */
    uint64_t clock;              /* that of since_ns and until_ns; 0: only the origin's own accesses compare with them */
    int32_t origin, kind;
    uint32_t op; /* UPDATE: id of the operation */
    int32_t fn;
    uint8_t has_before, has_after;
    uint8_t is_exclusive; /* nobody else held a lock of the target */
    uint8_t is_changed;   /* a put's bytes were others before it was complete */
    uint8_t brings;       /* data to the origin, where they are once it is complete there */
    uint8_t is_hit;       /* the target's: it shares bytes with one that it must not meet */
    uint64_t place;
    char module[CHECK_MODULE_TEXT];
};

/* Records as they came from `origin` for a part of that displacement unit: lo and hi become offsets in the part.  What no rank sends, or has no
 * place there, gets a kind that is none (RACE_KINDS), and nothing else of it counts; the former is counted (messages_refused). */
void check_race_place(struct race_access *v, size_t n, int origin, int64_t unit);
/* So many bytes are whole records, and not more than a rank keeps; else it has been counted. */
bool check_race_bytes_are_right(int64_t bytes);

/* ---- check_race_judge.c: pure.  v[n] are the accesses to one part in one epoch; lo and hi are offsets in it. ---- */
typedef void race_tell_fn(const struct race_access *a, const struct race_access *b, int64_t from, int64_t to, void *arg);
/* Tells of each access at most once, with the first one before it that it races with; marks those that race with any.  False: there were so
 * many that not all are marked. */
bool check_race_judge(struct race_access *v, size_t n, race_tell_fn *tell, void *arg);

/* Which kinds there are: where none is an enemy of another one nobody needs to look at the accesses.  Numbers, so that the largest of all
 * ranks' can be taken; op and other: the largest id of an operation, and the smallest, negative. */
struct race_kinds {
    int64_t has[RACE_KINDS], op, other, is_changed;
};
enum { RACE_KINDS_NUMBERS = sizeof(struct race_kinds) / sizeof(int64_t) };
static inline struct race_kinds check_race_kinds_none(void) { return (struct race_kinds){.op = INT64_MIN, .other = INT64_MIN}; }
void check_race_kinds_add(struct race_kinds *k, const struct race_access *a);
bool check_race_kinds_may_meet(const struct race_kinds *k);

/* ---- check_race_log.c: the log of an epoch; with check_lock ----
 * ACCESSES_MAX entries are kept at most. */
struct race_step { /* an access of one run of bytes, of which fn, disp, lo, hi and so on are as in its record */
    int32_t kind, fn;
    uint32_t op;
    bool brings;
    const void *from; /* the place in this process */
    int64_t disp, lo, hi;
    const void *before, *after; /* the bytes of which the record has sums, which the log computes; or NULL */
};
struct race_log;
struct race_log *check_race_log_new(void);
void check_race_log_drop(struct race_log *l); /* may be NULL */
void check_race_log_clear(struct race_log *l);
/* False: it is not the next step of the loop that made the last entry, and must be added.  unit: the target's. */
bool check_race_log_follow(struct race_log *l, int64_t unit, int target, const struct race_step *s);
void check_race_log_add(struct race_log *l, int target, const struct race_access *a, const struct race_step *s);
int64_t check_race_log_calls(const struct race_log *l); /* accesses, of which several may be one entry */
const struct race_access *check_race_log_first(const struct race_log *l, int *target_out); /* NULL: none */
struct race_kinds check_race_log_kinds(const struct race_log *l);
/* The entries of one target, and those of all by target with what each gets added to bytes[size]; the caller's.  Not is_whole: those only
 * that have sums. */
struct race_access *check_race_log_for(const struct race_log *l, int target, int64_t *bytes_out);
struct race_access *check_race_log_all(const struct race_log *l, int size, bool is_whole, int64_t *bytes);

/* ---- check_race_lock.c: logs of accesses under locks, of one window; with check_lock, but for check_race_locks_look() ----
 * LOCKED_MAX accesses to each rank's part are kept at most, shared among the origins; that the rest is not judged is said once. */
enum { LOCKED_MAX = 1 << 18, ACCESSES_MAX = 1 << 18 }; /* ACCESSES_MAX: of an epoch */
struct race_locks;
struct race_locks *check_race_locks_new(const struct rma_win *w);
void check_race_locks_drop(struct race_locks *l);                                /* may be NULL */
void check_race_locks_take(struct race_locks *l, int target, bool is_exclusive); /* a lock; target: or CHECK_EVERYONE */
/* An access was made just now; is_over: and may be complete by a wait or test of its request.  False: what accesses of this place in the
 * program have in common is not known yet, and must be told by check_race_locks_place(), once. */
bool check_race_locks_add(struct race_locks *l, const struct rma_win *w, int target, const struct race_step *s, bool is_over);
/* The same for one run of bytes of which nothing stays known, by the call that made the last access under locks of the window, if it is that;
 * else, and where more than that is to be done, false. */
bool check_race_locks_next(struct race_locks *l, const struct rma_win *w, const struct check_me *me, int target, int64_t disp,
                           int64_t bytes);
void check_race_locks_place(struct race_locks *l, int target, const struct race_access *a, const struct race_step *s, bool is_over);
/* A call begins that completes accesses, or, is_local, those that bring something. */
void check_race_locks_end(struct race_locks *l, int target, bool is_local);
/* Before that, if it is not local: what puts have left.  Accesses the window. */
void check_race_locks_look(struct race_locks *l, struct rma_win *w, int target);
size_t check_race_locks_count(const struct race_locks *l, int target);
void check_race_locks_copy(const struct race_locks *l, int target, struct race_access *out);
struct race_kinds check_race_locks_kinds(const struct race_locks *l);
/* The sum of what is there, by a get that nobody counts (check_race.c). */
bool check_race_peek(struct rma_win *w, int target, int64_t disp, int64_t count, struct gw_type *t, uint64_t *sum_out);

#endif
