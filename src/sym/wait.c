/* wait.c -- waits for and tests of own memory, which others change (OpenSHMEM 1.6 section 9.11).
 *
 * A plain store wakes nobody, so a wait that has become long sleeps for a millisecond at most.  The elements that a call looks at first turn
 * round, so that none is left out for ever.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "node/node.h"
#include "req/req.h"
#include "sym/sym_private.h"

/* ---- elements ---- */
static bool is_signed(enum gw_elem elem) { return elem >= GW_ELEM_I8 && elem <= GW_ELEM_I64; }
static size_t size_of(enum gw_elem elem)
{
    assert(elem >= GW_ELEM_I16 && elem <= GW_ELEM_U64 && elem != GW_ELEM_U8);
    return (size_t)1 << (elem - (is_signed(elem) ? GW_ELEM_I8 : GW_ELEM_U8));
}

/* An element as 64 bits, with its sign. */
static uint64_t element(enum gw_elem elem, const void *at)
{
    switch (elem) {
    case GW_ELEM_I16: return (uint64_t)(int64_t)__atomic_load_n((const int16_t *)at, __ATOMIC_ACQUIRE);
    case GW_ELEM_I32: return (uint64_t)(int64_t)__atomic_load_n((const int32_t *)at, __ATOMIC_ACQUIRE);
    case GW_ELEM_U16: return __atomic_load_n((const uint16_t *)at, __ATOMIC_ACQUIRE);
    case GW_ELEM_U32: return __atomic_load_n((const uint32_t *)at, __ATOMIC_ACQUIRE);
    default: return __atomic_load_n((const uint64_t *)at, __ATOMIC_ACQUIRE);
    }
}

static void check(const char *call, const struct sym_wait *w)
{
    sym_begun(call);
    if (w->cmp > SYM_CMP_LE) sym_refuse(call, "cmp is %d; it must be one of SHMEM_CMP_EQ to SHMEM_CMP_LE", (int)w->cmp);
}

/* ---- one look ---- */
static bool element_holds(const struct sym_wait *w, size_t i)
{
    size_t bytes = size_of(w->elem);
    uint64_t now = element(w->elem, (const char *)w->vars + i * bytes),
             value = element(w->elem, (const char *)w->values + (w->is_vector ? i * bytes : 0));
    return is_signed(w->elem) ? sym_holds_signed((int)w->cmp, (int64_t)now, (int64_t)value)
                              : sym_holds_unsigned((int)w->cmp, now, value);
}
static bool is_left_out(const struct sym_wait *w, size_t i) { return w->status && w->status[i]; }

/* The element to begin with.  Multiples of the golden section: they come everywhere also where a program looks at k arrays in turn,
 * each of which gets every k-th of them. */
static size_t first_of(size_t n)
{
    static _Atomic uint64_t turn;
    uint64_t at = atomic_fetch_add_explicit(&turn, UINT64_C(0x9e3779b97f4a7c15), memory_order_relaxed);
    return (size_t)((at >> 32) * (uint64_t)(uint32_t)n >> 32);
}

/* ALL: 1 or 0.  ANY: the index, SIZE_MAX where none holds.  SOME: how many. */
static size_t look(const struct sym_wait *w)
{
    size_t found = 0, first = w->how == SYM_ANY && w->n > 1 ? first_of(w->n) : 0;
    for (size_t at = 0; at < w->n; at++) {
        size_t i = first + at < w->n ? first + at : first + at - w->n;
        if (is_left_out(w, i)) continue;
        bool holds = element_holds(w, i);
        if (w->how == SYM_ALL && !holds) return 0;
        if (w->how == SYM_ANY && holds) return i;
        if (w->how == SYM_SOME && holds) w->indices[found++] = i;
    }
    return w->how == SYM_ALL ? 1 : w->how == SYM_ANY ? SIZE_MAX : found;
}

static bool is_empty(const struct sym_wait *w)
{
    for (size_t i = 0; i < w->n; i++)
        if (!is_left_out(w, i)) return false;
    return true;
}

static bool is_over(const struct sym_wait *w, size_t seen) { return w->how == SYM_ANY ? seen != SIZE_MAX : seen != 0; }

/* ---- the calls ---- */
size_t godwit_sym_test(const char *call, const struct sym_wait *w)
{
    check(call, w);
    size_t seen = look(w);
    sym_call_enter(BOOT_CALL_shmem_test);
    sym_race_acquire();
    if (!is_over(w, seen)) req_look(); /* a program that tests in a loop waits */
    return seen;
}

/* The first that does not hold; the first of all, where another has changed meanwhile. */
static size_t first_open(const struct sym_wait *w)
{
    for (size_t i = 0; i < w->n; i++)
        if (!is_left_out(w, i) && !element_holds(w, i)) return i;
    return 0;
}

const char *sym_place_text(const void *at, char out[SYM_PLACE_TEXT])
{
    int r = sym_region_of(at, 1);
    snprintf(out, SYM_PLACE_TEXT, "%s + 0x%llx",
             r == SYM_HEAP          ? "heap"
                 : r == SYM_DATA    ? "static data"
                 : r == SYM_BROUGHT ? "brought memory"
                                    : "address",
             (unsigned long long)((uintptr_t)at - (r < 0 ? 0 : (uintptr_t)sym_memory.region[r].base)));
    return out;
}

/* Says what is waited for, for the verdict on a job that hangs. */
static void tell(const char *call, const void *at, const struct sym_wait *w)
{
    static const char *const signs[] = {"==", "!=", ">", ">=", "<", "<="};
    static const char *const hows[] = {[SYM_ALL] = "all of ", [SYM_ANY] = "one of ", [SYM_SOME] = "some of "};
    char place[SYM_PLACE_TEXT];
    size_t i = first_open(w), bytes = size_of(w->elem);
    char number[32] = "it";
    if (w->n > 1) snprintf(number, sizeof number, "number %zu", i);
    struct boot_where *where = node_report_begin();
    snprintf(where->as, sizeof where->as, "%s", call);
    snprintf(where->note, sizeof where->note, "until %s%zu word%s at %s %s %s %lld; %s is %lld", w->n > 1 ? hows[w->how] : "", w->n,
             w->n == 1 ? "" : "s", sym_place_text(at, place), w->n == 1 ? "is" : "are", signs[w->cmp],
             (long long)element(w->elem, (const char *)w->values + (w->is_vector ? i * bytes : 0)), number,
             (long long)element(w->elem, (const char *)at + i * bytes));
    node_report_end(where);
}

size_t godwit_sym_wait(const char *call, const struct sym_wait *w)
{
    check(call, w);
    size_t seen = look(w);
    sym_call_enter(BOOT_CALL_shmem_wait_until);
    if (is_empty(w)) return w->how == SYM_ALL ? 0 : seen;
    if (!is_over(w, seen)) {
        struct node_wait wait;
        node_wait_begin(&wait);
        while (!is_over(w, seen = look(w)))
            if (node_wait_step_blind(&wait, req_progress() > 0)) tell(call, w->vars, w);
        node_wait_end(&wait);
    }
    sym_race_acquire();
    if (w->n == 1) sym_race_waited(w->vars);
    return w->how == SYM_ALL ? 0 : seen;
}

/* Returns the value that has been compared, not a later one. */
uint64_t godwit_sym_signal_wait(const char *call, uint64_t *at, enum sym_cmp cmp, uint64_t value)
{
    uint64_t seen = 0;
    struct sym_wait w = {.vars = &seen, .elem = GW_ELEM_U64, .cmp = cmp, .n = 1, .values = &value, .how = SYM_ALL};
    check(call, &w);
    sym_call_enter(BOOT_CALL_shmem_signal_wait_until);
    struct node_wait wait;
    node_wait_begin(&wait);
    while (seen = __atomic_load_n(at, __ATOMIC_ACQUIRE), !sym_holds_unsigned((int)cmp, seen, value))
        if (node_wait_step_blind(&wait, req_progress() > 0)) tell(call, at, &w);
    node_wait_end(&wait);
    sym_race_acquire();
    sym_race_waited(at);
    return seen;
}
