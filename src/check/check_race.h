/* check_race.h -- private to check: accesses to windows that race.
 *
 * Every origin keeps a log of its accesses in an epoch of MPI_Win_fence or MPI_Win_start, and hands it to the targets as the epoch is closed.
 * The target adds what it did with that memory itself by calls of MPI (messages received into it, buffers of its own operations) and looks for
 * accesses that share bytes and that the standard (MPI 4.1, section 12.7) does not allow in one epoch.  Loads and stores of the program are
 * not seen; a store is told from what it leaves: bytes that one put wrote, or one get read, and nobody else updated, must be the same when
 * the epoch ends.  Before a put or get they must be the same as when the epoch began; but what comes before it may be in order, so this is
 * looked at only where the target has made no other call in the epoch, by which it could have said that it had stored.
 * Only what is certain is told: all accesses of one epoch to one target are concurrent, whenever they were made.  Epochs of locks may be
 * ordered by what other calls do, so nothing is said about them.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_CHECK_CHECK_RACE_H
#define GW_CHECK_CHECK_RACE_H

#include "check/check_private.h"

/* One run of bytes.  Travels from the origin to the target. */
struct race_access {
    int64_t disp, lo, hi;   /* [disp * the target's unit + lo, .. + hi) of its part */
    uint64_t before, after; /* sums of the bytes before and after the operation; PUT, GET */
    int32_t origin, kind;
    uint32_t op; /* UPDATE: id of the operation */
    int16_t has_before, has_after;
    int32_t fn, is_hit; /* is_hit: the target's: it shares bytes with one that it must not meet */
    uint64_t place;
    char module[CHECK_MODULE_TEXT];
};

/* ---- check_race_judge.c: pure.  v[n] are the accesses to one part in one epoch; lo and hi are offsets in it. ---- */
typedef void race_tell_fn(const struct race_access *a, const struct race_access *b, int64_t from, int64_t to, void *arg);
/* Tells of each access at most once, with the first one before it that it races with; marks those that race with any.  False: there were so
 * many that not all are marked. */
bool race_judge(struct race_access *v, size_t n, race_tell_fn *tell, void *arg);

#endif
