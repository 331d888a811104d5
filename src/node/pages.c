/* pages.c -- memory that other ranks read again and again is moved onto huge pages.
 *
 * To read another process's memory the kernel takes hold of each of its pages: 0.24 us for one of 4 KiB, which is more than the
 * copy takes, and no more for one of 2 MiB (Zen 3 in a virtual machine, November 2026).  Where programs do not get huge pages unless
 * they ask for them, as by default on many systems, nearly all memory is on small ones.  Moving 2 MiB (MADV_COLLAPSE, Linux 6.1)
 * takes 0.75 ms once: it is done when as much time has gone into taking hold, so that at worst twice the time is spent that was
 * needed.
 *
 * The call first has a worker of the kernel run on each core and waits for that (lru_add_drain_all), its caller's mappings locked and not to
 * be killed meanwhile.  Where 30 processes wanted each of two cores it took 64 to 80 s (Linux 6.18, November 2026): so not while many do.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>

#include "node/node.h"
#include "base/count.h"
#include "base/os.h"
#include "base/settings.h"

enum {
    KNOWN = 4096,            /* pieces that are counted at a time: 8 GiB of consecutive memory */
    MOVE_AFTER = 16 << 10,   /* KiB that others read of a piece before it is moved; each 4 KiB cost 0.24 us */
    AGAIN_AFTER = 256 << 10, /* KiB until it is moved again: the memory may be another by then; if not, a call takes microseconds */
    AT_ONCE = 4,             /* pieces that are moved in one call, because other ranks wait; the next ones at the next call */
    TOO_LONG_US = 100000,    /* the kernel had to make room first */
};
/* Number of the piece << 28 | TRIED | HUGE | KiB since then.  Threads that count at once may count too little, which only delays. */
enum { NOT_ASKED, MAY, MAY_NOT };
static struct {
    _Atomic uint64_t known[KNOWN];
    _Atomic int answer; /* may pages be moved? */
} pages;
enum { TRIED = 1 << 27, HUGE = 1 << 26, KIB = HUGE - 1 }; /* it was tried to move the piece; it is on a huge page */

/* May pages be moved? */
static GW_COLD int ask(void)
{
    int now = gw_set.huge_pages != GW_SET_HUGE_PAGES_OFF && gw_huge_is_offered() ? MAY : MAY_NOT;
    atomic_store_explicit(&pages.answer, now, memory_order_relaxed);
    return now;
}

/* Moves a piece onto a huge page.  The pool's are on one already.  Fails if its 2 MiB are in several mappings, or a page is
 * pinned at the moment: it may succeed later. */
static GW_COLD bool move(uintptr_t piece)
{
    uint64_t since = gw_now_ns();
    int rc = gw_huge_move(piece);
    if (rc == EINVAL && gw_pool_has(piece)) return true;
    uint64_t us = (gw_now_ns() - since) / 1000;
    if (rc == 0) gw_counted(&gw_count.pages_moved, 1);
    if (rc == ENOMEM || rc == EBUSY || us >= TOO_LONG_US) {
        atomic_store_explicit(&pages.answer, MAY_NOT, memory_order_relaxed);
        GW_EXPLAIN(GW_LOG_WIRE, "no more memory is moved onto huge pages: the last 2 MiB took %llu us%s%s", (unsigned long long)us,
                   rc ? ": " : "", rc ? strerror(rc) : "");
    }
    return rc == 0;
}

/* Counts bytes of a piece, and moves it once enough were read and fewer than AT_ONCE were moved in this call.  True: it is on a huge page. */
static inline bool piece_read(uintptr_t piece, int64_t bytes, int *moved)
{
    uint64_t number = piece >> GW_HUGE_SHIFT, now;
    _Atomic uint64_t *k = &pages.known[number % KNOWN];
    now = atomic_load_explicit(k, memory_order_relaxed);
    if (now >> 28 != number) now = number << 28;
    now += (uint64_t)(bytes >> 10);
    bool is_due = (now & KIB) >= (now & TRIED ? AGAIN_AFTER : MOVE_AFTER);
    if (unlikely(is_due)) {
        int may = atomic_load_explicit(&pages.answer, memory_order_relaxed);
        if (may == NOT_ASKED) may = ask();
        if (may == MAY && (*moved)++ >= AT_ONCE) return now & HUGE;
        if (may == MAY && gw_cores_are_crowded())
            now &= ~(uint64_t)KIB; /* counts from 0 until the next try */
        else
            now = number << 28 | TRIED | (may == MAY && move(piece) ? HUGE : 0);
    }
    atomic_store_explicit(k, now, memory_order_relaxed);
    return now & HUGE;
}

bool node_read_by_others(const void *at, int64_t bytes)
{
    uintptr_t from = (uintptr_t)at, end = from + (uint64_t)bytes, last;
    bool is_huge = true;
    int moved = 0;
    if (gw_set.huge_pages == GW_SET_HUGE_PAGES_OFF) return false;
    for (; from < end; from = last) {
        uintptr_t piece = from & ~(uintptr_t)(GW_HUGE_BYTES - 1);
        last = piece + GW_HUGE_BYTES < end ? piece + GW_HUGE_BYTES : end;
        if (!piece_read(piece, (int64_t)(last - from), &moved)) is_huge = false;
    }
    return is_huge;
}
