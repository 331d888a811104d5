/* exact.c -- see exact.h: what is special (infinities, NaN), two words a number, long double.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "op/exact_private.h"

#include "base/base.h"

/* A word of operands that are infinite or no number counts those of each kind, 2^20 ranks at most. */
enum { INFINITE = 0, MINUS_INFINITE = 21, NO_NUMBER = 42, COUNT_BITS = 21 };
enum { F80_BYTES = 16 };

static int index_of(uint8_t real) { return real == GW_ELEM_F64; }
static int16_t special_exponent(uint8_t real) { return real == GW_ELEM_F32 ? 0xff : real == GW_ELEM_F64 ? 0x7ff : 0x7fff; }
static int64_t bytes_of(uint8_t real) { return real == GW_ELEM_F32 ? 4 : real == GW_ELEM_F64 ? 8 : F80_BYTES; }

bool op_exact_of(const struct gw_op *op, const struct gw_type *t, int ranks, struct op_exact *exact_out)
{
    static const uint8_t reals[GW_ELEM_COUNT] = {
        [GW_ELEM_F32] = GW_ELEM_F32, [GW_ELEM_F64] = GW_ELEM_F64, [GW_ELEM_F80] = GW_ELEM_F80,
        [GW_ELEM_C32] = GW_ELEM_F32, [GW_ELEM_C64] = GW_ELEM_F64, [GW_ELEM_C80] = GW_ELEM_F80,
    };
    uint8_t real = reals[t->basic];
    if (op->code != OP_SUM || !real) return false;
#if !defined(__x86_64__)
    if (real == GW_ELEM_F80) return false; /* there it is another format */
#endif
    bool is_long = real == GW_ELEM_F80 || (real == GW_ELEM_F64 && ranks > EXACT_RANKS);
    *exact_out = (struct op_exact){real, real == t->basic ? 1 : 2, is_long ? 2 : 1};
    return true;
}

/* ---- long double: 64 bits of number, the first of which is written, and 15 of exponent ---------------------------------------- */
struct f80 {
    uint64_t bits;
    uint16_t sign_exponent;
};
static struct f80 f80_at(const void *from, int64_t i)
{
    struct f80 v;
    memcpy(&v.bits, (const char *)from + i * F80_BYTES, 8);
    memcpy(&v.sign_exponent, (const char *)from + i * F80_BYTES + 8, 2);
    return v;
}
static int f80_grid(int exponent) { return exponent > 0 ? exponent : 1; }

/* bits / 2^shift, to the nearest, ties to even. */
static uint64_t shifted(uint64_t bits, int shift)
{
    if (shift == 0) return bits;
    if (shift > 64) return 0;
    uint64_t whole = shift == 64 ? 0 : bits >> shift, rest = shift == 64 ? bits : bits & ((UINT64_C(1) << shift) - 1);
    uint64_t half = UINT64_C(1) << (shift - 1);
    return whole + (rest > half || (rest == half && whole & 1));
}
static __int128 f80_word(struct f80 v, int16_t exponent)
{
    int own = f80_grid(v.sign_exponent & 0x7fff);
    __int128 word = shifted(v.bits, f80_grid(exponent) - own);
    return v.sign_exponent & 0x8000 ? -word : word;
}
static void f80_store(void *to, int64_t i, __int128 word, int16_t exponent)
{
    long double v = __builtin_ldexpl((long double)word, f80_grid(exponent) - 16383 - EXACT_BITS_F80);
    memcpy((char *)to + i * F80_BYTES, &v, sizeof v);
}

/* ---- two words a number: the higher one counts 2^32 ----------------------------------------------------------------------------- */
static void words_pair(__int128 v, int64_t *out)
{
    out[0] = (int64_t)(v >> 32);
    out[1] = (int64_t)(v & UINT32_MAX);
}
static __int128 pair_value(const int64_t *words) { return (__int128)words[0] * (INT64_C(1) << 32) + words[1]; }

static void words_double(const void *from, const int16_t *exponents, int64_t *words, int64_t n)
{
    int64_t some[EXACT_BLOCK];
    for (int64_t at = 0, now; at < n; at += now) {
        now = gw_min64(n - at, EXACT_BLOCK);
        op_exact_table->words[1]((const char *)from + at * 8, exponents + at, some, now);
        for (int64_t i = 0; i < now; i++) words_pair(some[i], words + 2 * (at + i));
    }
}
static void round_double(const int64_t *words, const int16_t *exponents, void *to, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        int exponent = exponents[i] > 0 ? exponents[i] : 1;
        double v = __builtin_ldexp((double)pair_value(words + 2 * i), exponent - 1023 - EXACT_BITS_F64);
        memcpy((char *)to + i * 8, &v, sizeof v);
    }
}

/* ---- infinities and NaN: an operand of some rank is one ------------------------------------------------------------------------ */
static double plain_value(struct op_exact e, const void *from, int64_t i) /* of special ones, the same as that of the number */
{
    float f;
    double d;
    long double l;
    const char *at = (const char *)from + i * bytes_of(e.real);
    if (e.real == GW_ELEM_F32) return (double)*(float *)memcpy(&f, at, sizeof f);
    if (e.real == GW_ELEM_F64) return *(double *)memcpy(&d, at, sizeof d);
    return (double)*(long double *)memcpy(&l, at, sizeof l);
}
static bool is_special(struct op_exact e, const void *from, int64_t i)
{
    int16_t own;
    op_exact_step(e, OP_EXACT_EXPONENTS, (const char *)from + i * bytes_of(e.real), &own, NULL, 1);
    return own == special_exponent(e.real);
}
static void special_word(struct op_exact e, const void *from, int64_t i, int64_t *word)
{
    memset(word, 0, e.words * sizeof *word);
    if (!is_special(e, from, i)) return;
    double v = plain_value(e, from, i);
    *word = INT64_C(1) << (v != v ? NO_NUMBER : v < 0 ? MINUS_INFINITE : INFINITE);
}
static void special_store(struct op_exact e, void *to, int64_t i, int64_t word)
{
    uint64_t mask = (UINT64_C(1) << COUNT_BITS) - 1, counts = (uint64_t)word;
    bool plus = counts >> INFINITE & mask, minus = counts >> MINUS_INFINITE & mask, none = counts >> NO_NUMBER & mask;
    double v = none || (plus && minus) ? __builtin_nan("") : minus ? -__builtin_inf() : __builtin_inf();
    char *at = (char *)to + i * bytes_of(e.real);
    if (e.real == GW_ELEM_F32) memcpy(at, &(float){(float)v}, 4);
    if (e.real == GW_ELEM_F64) memcpy(at, &v, 8);
    if (e.real == GW_ELEM_F80) memcpy(at, &(long double){v}, sizeof(long double));
}
static void specials_of(struct op_exact e, enum op_exact_step step, const void *from, const int16_t *exponents, void *to, int64_t i)
{
    if (exponents[i] != special_exponent(e.real)) return;
    if (step == OP_EXACT_WORDS)
        special_word(e, from, i, (int64_t *)to + i * e.words);
    else
        special_store(e, to, i, ((const int64_t *)from)[i * e.words]);
}
static void specials(struct op_exact e, enum op_exact_step step, const void *from, const int16_t *exponents, void *to, int64_t n)
{
    const int16_t special = special_exponent(e.real);
    for (int64_t at = 0, end; at < n; at = end) {
        int16_t has = 0;
        end = gw_min64(at + EXACT_BLOCK, n);
        for (int64_t i = at; i < end; i++) has |= exponents[i] == special; /* vectors: mostly there is none */
        for (int64_t i = at; has && i < end; i++) specials_of(e, step, from, exponents, to, i);
    }
}

static void exponents_take(struct op_exact e, const void *from, int16_t *exponents, int64_t n)
{
    if (e.real != GW_ELEM_F80)
        op_exact_table->exponents[index_of(e.real)](from, exponents, n);
    else
        for (int64_t i = 0; i < n; i++) exponents[i] = (int16_t)(f80_at(from, i).sign_exponent & 0x7fff);
}
static void words_take(struct op_exact e, const void *from, const int16_t *exponents, int64_t *words, int64_t n)
{
    if (e.real == GW_ELEM_F80)
        for (int64_t i = 0; i < n; i++) words_pair(f80_word(f80_at(from, i), exponents[i]), words + 2 * i);
    else if (e.words == 2)
        words_double(from, exponents, words, n);
    else
        op_exact_table->words[index_of(e.real)](from, exponents, words, n);
}
static void numbers_take(struct op_exact e, const int64_t *words, const int16_t *exponents, void *to, int64_t n)
{
    if (e.real == GW_ELEM_F80)
        for (int64_t i = 0; i < n; i++) f80_store(to, i, pair_value(words + 2 * i), exponents[i]);
    else if (e.words == 2)
        round_double(words, exponents, to, n);
    else
        op_exact_table->round[index_of(e.real)](words, exponents, to, n);
}

static GW_NOINLINE void sum_by_steps(struct op_exact e, const void *const *operands, int ranks, int64_t first, void *to, int64_t n)
{
    int16_t own[EXACT_BLOCK], most[EXACT_BLOCK] = {0};
    int64_t words[2 * EXACT_BLOCK], all[2 * EXACT_BLOCK] = {0};
    assert(n <= EXACT_BLOCK && e.words <= 2);
    for (int r = 0; r < ranks; r++) {
        op_exact_step(e, OP_EXACT_EXPONENTS, (const char *)operands[r] + first * bytes_of(e.real), own, NULL, n);
        for (int64_t i = 0; i < n; i++) most[i] = own[i] > most[i] ? own[i] : most[i];
    }
    for (int r = 0; r < ranks; r++) {
        op_exact_step(e, OP_EXACT_WORDS, (const char *)operands[r] + first * bytes_of(e.real), most, words, n);
        for (int64_t i = 0; i < n * e.words; i++) all[i] += words[i];
    }
    op_exact_step(e, OP_EXACT_ROUND, all, most, to, n);
}

void op_exact_sum(struct op_exact e, const void *const *operands, int ranks, void *to, int64_t n)
{
    assert(ranks > 0 && ranks <= OP_EXACT_AT_ONCE);
    for (int64_t at = 0, now; at < n; at += now) {
        char *out = (char *)to + at * bytes_of(e.real);
        now = gw_min64(n - at, EXACT_BLOCK);
        if (e.real == GW_ELEM_F80 || unlikely(!op_exact_table->sum[index_of(e.real)](operands, ranks, at, out, now)))
            sum_by_steps(e, operands, ranks, at, out, now);
    }
}

void op_exact_step(struct op_exact e, enum op_exact_step step, const void *from, int16_t *exponents, void *to, int64_t n)
{
    switch (step) {
    case OP_EXACT_EXPONENTS: exponents_take(e, from, exponents, n); return;
    case OP_EXACT_WORDS: words_take(e, from, exponents, to, n); break;
    case OP_EXACT_ROUND: numbers_take(e, from, exponents, to, n); break;
    }
    specials(e, step, from, exponents, to, n);
}
