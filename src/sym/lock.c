/* lock.c -- distributed locks (OpenSHMEM 1.6 section 9.13): a queue of PEs, in which each waits for a word of its own.
 *
 * A lock is a long, zero on all PEs.  Its home is one PE, chosen by the address.  Of the home's copy the low half is the tail of the queue, the
 * last PE in it plus 1.  Of each PE's own copy the high half is its place in the queue: who comes next, plus 1, whether it is there, and whether
 * it still waits.
 *
 *     free --set: swap the tail--> held           (there was none before)
 *                             `--> waits --the one before clears--> held
 *     held --clear: nobody behind: the tail back to 0--> free
 *                `--somebody behind: its WAITS bit--> it holds the lock
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "boot/boot.h"
#include "node/node.h"
#include "req/req.h"
#include "sym/sym_private.h"

_Static_assert(sizeof(long) == 8, "two halves");
#define WAITS 0x80000000u
#define THERE 0x40000000u /* this PE holds the lock, or waits for it */
#define NEXT  0x3fffffffu

static uint32_t *half(long *lock, bool is_high)
{
    bool is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    return (uint32_t *)(void *)lock + (is_high == is_little);
}

static int home_of(const char *call, long *lock)
{
    sym_begun(call);
    int r = sym_region_of(lock, sizeof *lock);
    if (r < 0)
        sym_refuse(call, "lock is %p, which is not symmetric; it must be a static variable or come from shmem_malloc",
                   (void *)lock);
    if ((uintptr_t)lock % sizeof *lock)
        sym_refuse(call, "lock is %p, which is not a multiple of %zu as the address of a long is", (void *)lock, sizeof *lock);
    return (int)(((uintptr_t)lock - (uintptr_t)sym_memory.region[r].base) / sizeof *lock % (uint64_t)gw_boot.size);
}

static uint32_t word(const char *call, enum sym_amo op, uint32_t *at, uint32_t value, uint32_t compare, int pe)
{
    struct sym_atomic a = {op, 4, at, value, compare};
    return (uint32_t)godwit_sym_atomic(call, SYM_CTX_DEFAULT, &a, pe);
}

static uint32_t place_wait(const char *call, long *lock, enum sym_cmp cmp, uint32_t value)
{
    uint32_t *at = half(lock, true);
    struct sym_wait w = {.vars = at, .elem = GW_ELEM_U32, .cmp = cmp, .n = 1, .values = &value, .how = SYM_ALL};
    godwit_sym_wait(call, &w);
    return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

/* ---- who holds it, for the verdict on a job that hangs ---- */
static bool holds(uint32_t place) { return (place & (WAITS | THERE)) == THERE; }

/* PEs of other nodes are asked, so not too many; -1: it is none of those. */
static int holder_find(const char *call, long *lock, bool asks)
{
    enum { ASKED = 256 };
    for (int pe = 0, n = 0; pe < gw_boot.size; pe++) {
        const uint32_t *at = (const uint32_t *)(const void *)sym_place(half(lock, true), sizeof *at, pe);
        if (at ? holds(__atomic_load_n(at, __ATOMIC_ACQUIRE))
               : asks && n++ < ASKED && holds(word(call, SYM_AMO_FETCH, half(lock, true), 0, 0, pe)))
            return pe;
    }
    return -1;
}

static void tell(const char *call, const long *lock, int holder, int before)
{
    char place[SYM_PLACE_TEXT];
    struct boot_where *where = node_report_begin();
    snprintf(where->as, sizeof where->as, "%s", call);
    if (holder >= 0)
        snprintf(where->note, sizeof where->note, "for the lock at %s, which PE %d holds", sym_place_text(lock, place), holder);
    else
        snprintf(where->note, sizeof where->note, "for the lock at %s, behind PE %d", sym_place_text(lock, place), before);
    node_report_end(where);
}

/* Until the PE before this one has cleared it. */
static void turn_wait(const char *call, long *lock, int before)
{
    uint32_t *place = half(lock, true);
    struct node_wait wait;
    int far = -1;
    bool has_asked = sym_memory.world->one_node;
    node_wait_begin(&wait);
    while (__atomic_load_n(place, __ATOMIC_ACQUIRE) & WAITS) {
        if (!node_wait_step_blind(&wait, req_progress() > 0)) continue;
        int near = holder_find(call, lock, false);
        if (near < 0 && !has_asked) { /* once: that is a wait of its own */
            node_wait_end(&wait);
            far = holder_find(call, lock, true);
            has_asked = true;
            node_wait_begin(&wait);
        } else {
            tell(call, lock, near >= 0 ? near : far, before);
        }
    }
    node_wait_end(&wait);
    sym_race_acquire();
}

void godwit_sym_lock_set(const char *call, long *lock)
{
    int home = home_of(call, lock);
    sym_call_enter(BOOT_CALL_shmem_set_lock);
    uint32_t me = (uint32_t)gw_boot.rank + 1, *place = half(lock, true);
    if (__atomic_load_n(place, __ATOMIC_RELAXED) & THERE)
        sym_refuse(call, "lock is %p, which this PE (%d) has set already; shmem_clear_lock must come first", (void *)lock,
                   gw_boot.rank);
    __atomic_store_n(place, WAITS | THERE, __ATOMIC_SEQ_CST);
    uint32_t before = word(call, SYM_AMO_SWAP, half(lock, false), me, 0, home);
    if (before == 0) {
        __atomic_fetch_and(place, ~WAITS, __ATOMIC_SEQ_CST);
        sym_race_acquire();
        return;
    }
    if (before > (uint32_t)gw_boot.size)
        sym_refuse(call,
                   "lock is %p, which has a value that no lock has (%u on PE %d); it must be 0 on all PEs before it is used first",
                   (void *)lock, before, home);
    word(call, SYM_AMO_OR, place, me, 0, (int)before - 1);
    turn_wait(call, lock, (int)before - 1);
}

void godwit_sym_lock_clear(const char *call, long *lock)
{
    int home = home_of(call, lock);
    uint32_t me = (uint32_t)gw_boot.rank + 1, *place = half(lock, true), seen = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    if ((seen & (WAITS | THERE)) != THERE)
        sym_refuse(call,
                   "lock is %p, which this PE (%d) does not hold; it must be that of shmem_set_lock or shmem_test_lock before",
                   (void *)lock, gw_boot.rank);
    if (!sym_near_quiet()) godwit_sym_quiet(call, SYM_CTX_DEFAULT);
    seen = __atomic_exchange_n(place, 0, __ATOMIC_SEQ_CST) & NEXT; /* gone before the tail says so */
    if (seen == 0) {
        if (word(call, SYM_AMO_CSWAP, half(lock, false), 0, me, home) == me) return;
        seen = place_wait(call, lock, SYM_CMP_GT, 0); /* the next one is about to say who it is */
        __atomic_store_n(place, 0, __ATOMIC_SEQ_CST);
    }
    word(call, SYM_AMO_AND, place, ~WAITS, 0, (int)seen - 1);
}

int godwit_sym_lock_test(const char *call, long *lock)
{
    uint32_t me = (uint32_t)gw_boot.rank + 1;
    if (word(call, SYM_AMO_CSWAP, half(lock, false), me, 0, home_of(call, lock)) != 0) return 1;
    __atomic_fetch_or(half(lock, true), THERE, __ATOMIC_SEQ_CST);
    sym_race_acquire();
    return 0;
}
