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

#define HOLDS(T)                                                                                                                   \
    static bool holds_##T(const void *at, enum sym_cmp cmp, const void *value)                                                     \
    {                                                                                                                              \
        T have = __atomic_load_n((const T *)at, __ATOMIC_ACQUIRE), want = *(const T *)value;                                       \
        switch (cmp) {                                                                                                             \
        case SYM_CMP_EQ: return have == want;                                                                                      \
        case SYM_CMP_NE: return have != want;                                                                                      \
        case SYM_CMP_GT: return have > want;                                                                                       \
        case SYM_CMP_GE: return have >= want;                                                                                      \
        case SYM_CMP_LT: return have < want;                                                                                       \
        case SYM_CMP_LE: break;                                                                                                    \
        }                                                                                                                          \
        return have <= want;                                                                                                       \
    }
HOLDS(int16_t)
HOLDS(int32_t)
HOLDS(int64_t)
HOLDS(uint16_t)
HOLDS(uint32_t)
HOLDS(uint64_t)

struct kind {
    size_t bytes;
    bool (*holds)(const void *at, enum sym_cmp cmp, const void *value);
};
static const struct kind kinds[GW_ELEM_COUNT] = {
    [GW_ELEM_I16] = {2, holds_int16_t},  [GW_ELEM_I32] = {4, holds_int32_t},  [GW_ELEM_I64] = {8, holds_int64_t},
    [GW_ELEM_U16] = {2, holds_uint16_t}, [GW_ELEM_U32] = {4, holds_uint32_t}, [GW_ELEM_U64] = {8, holds_uint64_t}};

static const struct kind *kind_of(const char *call, const struct sym_wait *w)
{
    sym_begun(call);
    if (w->cmp > SYM_CMP_LE) sym_refuse(call, "cmp is %d; it must be one of SHMEM_CMP_EQ to SHMEM_CMP_LE", (int)w->cmp);
    assert(kinds[w->elem].holds);
    return &kinds[w->elem];
}

/* ---- one look ---- */
static bool element_holds(const struct kind *k, const struct sym_wait *w, size_t i)
{
    const char *value = w->values;
    return k->holds((const char *)w->vars + i * k->bytes, w->cmp, w->is_vector ? value + i * k->bytes : value);
}
static bool is_left_out(const struct sym_wait *w, size_t i) { return w->status && w->status[i]; }

/* ALL: 1 or 0.  ANY: the index, SIZE_MAX where none holds.  SOME: how many. */
static size_t look(const struct kind *k, const struct sym_wait *w)
{
    static _Atomic size_t turn;
    size_t found = 0, first = w->how == SYM_ANY && w->n > 1 ? atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed) % w->n : 0;
    for (size_t at = 0; at < w->n; at++) {
        size_t i = first + at < w->n ? first + at : first + at - w->n;
        if (is_left_out(w, i)) continue;
        bool holds = element_holds(k, w, i);
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
    const struct kind *k = kind_of(call, w);
    size_t seen = look(k, w);
    if (!is_over(w, seen)) req_look(); /* a program that tests in a loop waits */
    return seen;
}

/* Says what is waited for, for mpiexec --stack and the verdict on a job that hangs. */
static void tell(const char *call, const void *at, const struct sym_wait *w)
{
    static const char *const signs[] = {"==", "!=", ">", ">=", "<", "<="};
    const char *const hows[] = {w->n > 1 ? "all of " : "", w->n > 1 ? "one of " : "", w->n > 1 ? "some of " : ""};
    int r = sym_region_of(at, 1);
    int64_t have[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        const char *from = i ? w->values : at;
        bool is_signed = w->elem >= GW_ELEM_I8 && w->elem <= GW_ELEM_I64;
        size_t bytes = kinds[w->elem].bytes;
        memcpy(&have[i], from, bytes);
        if (is_signed && bytes < 8) have[i] = (int64_t)((uint64_t)have[i] << (64 - 8 * bytes)) >> (64 - 8 * bytes);
    }
    struct boot_where *where = node_report_begin();
    snprintf(where->as, sizeof where->as, "%s", call);
    snprintf(where->note, sizeof where->note, "until %s%zu word%s at %s + 0x%llx %s %s %lld; it is %lld", hows[w->how], w->n,
             w->n == 1 ? "" : "s",
             r == SYM_HEAP       ? "heap"
                 : r == SYM_DATA ? "static data"
                                 : "address",
             (unsigned long long)((uintptr_t)at - (r < 0 ? 0 : (uintptr_t)sym_memory.region[r].base)), w->n == 1 ? "is" : "are",
             signs[w->cmp], (long long)have[1], (long long)have[0]);
    node_report_end(where);
}

size_t godwit_sym_wait(const char *call, const struct sym_wait *w)
{
    const struct kind *k = kind_of(call, w);
    size_t seen = look(k, w);
    if (is_empty(w)) return w->how == SYM_ALL ? 0 : seen;
    if (!is_over(w, seen)) {
        struct node_wait wait;
        node_wait_begin(&wait);
        while (!is_over(w, seen = look(k, w)))
            if (node_wait_step_blind(&wait, req_progress() > 0)) tell(call, w->vars, w);
        node_wait_end(&wait);
    }
    return w->how == SYM_ALL ? 0 : seen;
}

/* Returns the value that has been compared, not a later one. */
uint64_t godwit_sym_signal_wait(const char *call, uint64_t *at, enum sym_cmp cmp, uint64_t value)
{
    uint64_t seen = 0;
    struct sym_wait w = {.vars = &seen, .elem = GW_ELEM_U64, .cmp = cmp, .n = 1, .values = &value, .how = SYM_ALL};
    const struct kind *k = kind_of(call, &w);
    struct node_wait wait;
    node_wait_begin(&wait);
    while (seen = __atomic_load_n(at, __ATOMIC_ACQUIRE), !k->holds(&seen, cmp, &value))
        if (node_wait_step_blind(&wait, req_progress() > 0)) tell(call, at, &w);
    node_wait_end(&wait);
    return seen;
}
