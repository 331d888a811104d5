/* rma_model.h -- the sequential model of memory that accumulates change: elements, operations on them, and the question whether what
 * several origins did to one element and what they fetched can be explained by some order of all of it.
 *
 * An element is up to 8 bytes, here in the low bytes of a word.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TEST_RMA_MODEL_H
#define GW_TEST_RMA_MODEL_H

#include <stdint.h>

#include "p2p_check.h"

enum elem { E_INT8, E_UINT16, E_INT32, E_UINT64, E_FLOAT, E_DOUBLE, E_2INT, ELEMS };
enum act {
    A_SUM,
    A_PROD,
    A_MIN,
    A_MAX,
    A_BAND,
    A_BOR,
    A_BXOR,
    A_LAND,
    A_LOR,
    A_LXOR,
    A_REPLACE,
    A_MINLOC,
    A_MAXLOC,
    A_NO_OP,
    A_CAS,
    ACTS
};

static inline MPI_Datatype elem_type(enum elem e)
{
    const MPI_Datatype types[ELEMS] = {MPI_INT8_T, MPI_UINT16_T, MPI_INT32_T, MPI_UINT64_T, MPI_FLOAT, MPI_DOUBLE, MPI_2INT};
    return types[e];
}
static inline int elem_bytes(enum elem e)
{
    static const int bytes[ELEMS] = {1, 2, 4, 8, 4, 8, 8};
    return bytes[e];
}
static inline MPI_Op act_op(enum act a)
{
    const MPI_Op ops[] = {MPI_SUM,  MPI_PROD, MPI_MIN,  MPI_MAX,     MPI_BAND,   MPI_BOR,    MPI_BXOR,
                          MPI_LAND, MPI_LOR,  MPI_LXOR, MPI_REPLACE, MPI_MINLOC, MPI_MAXLOC, MPI_NO_OP};
    return ops[a];
}
/* One that the element has. */
static inline enum act act_drawn(enum elem e)
{
    static const enum act reals[] = {A_SUM, A_PROD, A_MIN, A_MAX, A_REPLACE}, pairs[] = {A_MINLOC, A_MAXLOC, A_REPLACE};
    if (e == E_2INT) return pairs[random_below(3)];
    if (e == E_FLOAT || e == E_DOUBLE) return reals[random_below(5)];
    return random_below(A_REPLACE + 1);
}

static inline uint64_t elem_load(enum elem e, const void *p)
{
    uint64_t v = 0;
    memcpy(&v, p, (size_t)elem_bytes(e));
    return v;
}
static inline void elem_store(enum elem e, void *p, uint64_t v) { memcpy(p, &v, (size_t)elem_bytes(e)); }
static inline int64_t as_integer(enum elem e, uint64_t v)
{
    return e == E_INT8 ? (int8_t)v : e == E_INT32 ? (int32_t)v : (int64_t)v;
}
static inline double as_real(enum elem e, uint64_t v)
{
    float f;
    double d;
    memcpy(&f, &v, sizeof f);
    memcpy(&d, &v, sizeof d);
    return e == E_FLOAT ? (double)f : d;
}
/* The element of a whole number. */
static inline uint64_t elem_of(enum elem e, int64_t n)
{
    float f = (float)n;
    double d = (double)n;
    int pair[2] = {(int)n / 4, (int)n % 4};
    uint64_t v = 0;
    if (e == E_FLOAT) memcpy(&v, &f, sizeof f);
    if (e == E_DOUBLE) memcpy(&v, &d, sizeof d);
    if (e == E_2INT) memcpy(&v, pair, sizeof pair);
    if (e < E_FLOAT) v = elem_bytes(e) == 8 ? (uint64_t)n : (uint64_t)n & ((1ull << 8 * elem_bytes(e)) - 1);
    return v;
}
/* An operand that overflows nothing in a few dozen operations, and with which reals stay exact. */
static inline uint64_t operand_drawn(enum elem e, enum act a)
{
    int is_signed = e != E_UINT16 && e != E_UINT64;
    int64_t n = random_below(6);
    if (a == A_SUM) n = 1 + (int64_t)random_below(3);
    if (a == A_PROD) n = is_signed ? 1 - 2 * (int64_t)random_below(2) : 1 + (int64_t)random_below(2);
    if (a == A_REPLACE || a == A_MAX || a == A_MIN || a == A_BXOR) n = random_below(100);
    if (a == A_BAND) n = 127 - (1 << random_below(7));
    if (a == A_BOR) n = 1 << random_below(7);
    return elem_of(e, n);
}

static inline int pair_is_before(uint64_t a, uint64_t b, enum act act)
{
    int32_t va = (int32_t)a, vb = (int32_t)b, ia = (int32_t)(a >> 32), ib = (int32_t)(b >> 32);
    return va == vb ? ia < ib : act == A_MINLOC ? va < vb : va > vb;
}
/* What is there after it. */
static inline uint64_t act_apply(enum elem e, enum act a, uint64_t old, uint64_t operand, uint64_t compare)
{
    if (a == A_NO_OP) return old;
    if (a == A_REPLACE) return operand;
    if (a == A_CAS) return old == compare ? operand : old;
    if (e == E_2INT) return pair_is_before(operand, old, a) ? operand : old;
    if (e == E_FLOAT || e == E_DOUBLE) {
        double x = as_real(e, old), y = as_real(e, operand);
        double r = a == A_SUM ? x + y : a == A_PROD ? x * y : (a == A_MIN) == (x < y) ? x : y;
        return elem_of(e, (int64_t)r);
    }
    int64_t x = as_integer(e, old), y = as_integer(e, operand), r = 0;
    switch (a) {
    case A_SUM: r = x + y; break;
    case A_PROD: r = (int64_t)((uint64_t)x * (uint64_t)y); break;
    case A_MIN: r = x < y ? x : y; break;
    case A_MAX: r = x > y ? x : y; break;
    case A_BAND: r = x & y; break;
    case A_BOR: r = x | y; break;
    case A_BXOR: r = x ^ y; break;
    case A_LAND: r = x && y; break;
    case A_LOR: r = x || y; break;
    default: r = !x != !y;
    }
    return elem_of(e, r);
}

/* ---- one element's history --------------------------------------------------------------------------------------------------- */
enum { EVENTS_MAX = 24, UNSEEN_MAX = 5 };
struct event {
    int origin;
    int era;   /* all of an earlier era came before, whoever did it */
    int stage; /* what one origin did in an earlier stage came before (flushed); within a stage only if accumulates are ordered */
    enum act act;
    uint64_t operand, compare, result;
    int has_result, step, k; /* step, k: where the result will be */
};
struct history {
    enum elem elem;
    int n, is_ordered;
    struct event e[EVENTS_MAX];
};

static inline int event_is_ready(const struct history *h, uint32_t done, int i)
{
    for (int j = 0; j < h->n; j++) {
        if (done >> j & 1) continue;
        if (h->e[j].era < h->e[i].era) return 0;
        if (h->e[j].origin != h->e[i].origin || j >= i) continue;
        if (h->is_ordered || h->e[j].stage < h->e[i].stage) return 0;
    }
    return 1;
}

enum { SEEN = 1 << 14 };
static struct {
    uint64_t value;
    uint32_t done, call;
} history_seen[SEEN];
static uint32_t history_call;

/* Has this place been tried before in this call?  A table that forgets costs time only. */
static inline int history_was_here(uint32_t done, uint64_t value)
{
    size_t at = (done * 2654435761u ^ value * 0x9e3779b97f4a7c15u >> 20) % SEEN;
    if (history_seen[at].call == history_call && history_seen[at].done == done && history_seen[at].value == value) return 1;
    history_seen[at].call = history_call, history_seen[at].done = done, history_seen[at].value = value;
    return 0;
}

static inline int history_goes_on(const struct history *h, uint32_t done, uint64_t value, uint64_t end)
{
    if (done == (h->n == 32 ? ~0u : (1u << h->n) - 1)) return value == end;
    if (history_was_here(done, value)) return 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < h->n; i++) {
            const struct event *e = &h->e[i];
            if (done >> i & 1 || (e->has_result && e->result != value) || !event_is_ready(h, done, i)) continue;
            uint64_t next = act_apply(h->elem, e->act, value, e->operand, e->compare);
            /* One that fetched what is there and leaves it there may as well come now. */
            if (pass == 0 && e->has_result && next == value) return history_goes_on(h, done | 1u << i, value, end);
            if (pass == 1 && history_goes_on(h, done | 1u << i, next, end)) return 1;
        }
    return 0;
}
/* Can an order of all events lead from one value to the other, each fetching what it fetched? */
static inline int history_is_possible(const struct history *h, uint64_t begin, uint64_t end)
{
    history_call++;
    return history_goes_on(h, 0, begin, end);
}

#endif
