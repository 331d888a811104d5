/* exact_kernels.h -- the loops of exact.h for float and double; a .c file defines EXACT_TABLE and includes this once, as kernels.h.
 *
 * A power of two is made from its bits, in two factors where one would leave the range.  A number y below 2^53 becomes an integer by
 * additions: MAGIC + y has the integer nearest to a small y in its last bits, so y is cut into two small ones; there are vectors for all
 * of this.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/base.h"
#include "op/exact_private.h"

#define MAGIC 0x1.8p52

static inline double from_bits(uint64_t bits)
{
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}
static inline uint64_t bits_of(double d)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return bits;
}
static inline double two_to(int k) { return from_bits((uint64_t)(1023 + k) << 52); } /* k from -1022 to 1023 */
static inline double times_two_to(double x, int k, bool is_near) /* |k| up to 2000, or to 1000 where it is near */
{
    int half = k >> 1;
    return is_near ? x * two_to(k) : x * two_to(half) * two_to(k - half);
}
static inline int64_t nearest_integer(double y) /* |y| below 2^53 */
{
    double high = y * 0x1p-27 + MAGIC, low = y - (high - MAGIC) * 0x1p27;
    return (int64_t)(((bits_of(high) - bits_of(MAGIC)) << 27) + bits_of(low + MAGIC) - bits_of(MAGIC));
}
static inline double nearest_double(int64_t v)
{
    double high = (int32_t)(v >> 32), low = from_bits(bits_of(0x1p52) | ((uint64_t)v & UINT32_MAX)) - 0x1p52;
    return high * 0x1p32 + low;
}
static inline int grid_of(int16_t exponent)
{
    return exponent > 0 ? exponent : 1;
} /* numbers below the normal ones have that of 1 */

static void exponents_F64(const void *from, int16_t *exponents, int64_t n)
{
    const t_U64 *x = from;
    for (int64_t i = 0; i < n; i++) exponents[i] = (int16_t)(x[i] >> 52 & 0x7ff);
}
static void exponents_F32(const void *from, int16_t *exponents, int64_t n)
{
    const t_U32 *x = from;
    for (int64_t i = 0; i < n; i++) exponents[i] = (int16_t)(x[i] >> 23 & 0xff);
}
/* The loops of a block, whose powers of two are near or not. */
#define BOTH(loop)                                                                                                                 \
    for (int64_t at = 0, end; at < n; at = end) {                                                                                  \
        end = gw_min64(at + EXACT_BLOCK, n);                                                                                       \
        if (likely(are_near(exponents + at, end - at)))                                                                            \
            for (int64_t i = at; i < end; i++) loop(true);                                                                         \
        else                                                                                                                       \
            for (int64_t i = at; i < end; i++) loop(false);                                                                        \
    }
static bool are_near(const int16_t *exponents, int64_t n)
{
    int16_t far = 0;
    for (int64_t i = 0; i < n; i++) far |= (exponents[i] < 100) | (exponents[i] > 1950); /* of a double: 1023 is 0 */
    return !far;
}

#define WORD_F64(is_near) words[i] = nearest_integer(times_two_to(x[i], EXACT_BITS_F64 + 1023 - grid_of(exponents[i]), is_near))
static void words_F64(const void *from, const int16_t *exponents, int64_t *words, int64_t n)
{
    const t_F64 *x = from;
    BOTH(WORD_F64)
}
static void words_F32(const void *from, const int16_t *exponents, int64_t *words, int64_t n)
{
    const t_F32 *x = from;
    for (int64_t i = 0; i < n; i++)
        words[i] = nearest_integer(times_two_to((double)x[i], EXACT_BITS_F32 + 127 - grid_of(exponents[i]), true));
}
#define ROUND_F64(is_near) out[i] = times_two_to(nearest_double(words[i]), grid_of(exponents[i]) - 1023 - EXACT_BITS_F64, is_near)
static void round_F64(const int64_t *words, const int16_t *exponents, void *to, int64_t n)
{
    t_F64 *out = to;
    BOTH(ROUND_F64)
}
static void round_F32(const int64_t *words, const int16_t *exponents, void *to, int64_t n)
{
    t_F32 *out = to;
    for (int64_t i = 0; i < n; i++)
        out[i] = (float)times_two_to(nearest_double(words[i]), grid_of(exponents[i]) - 127 - EXACT_BITS_F32, true);
}

/* ---- all steps at once ----------------------------------------------------------------------------------------------------------
 * (x + S) - S is x rounded to the units of S's last bit, ties to even; S is 1.5 times a power of two, so that neither sign of x changes
 * that unit.  `unit` is the grid.  What words_F64() makes of a double, a multiple of 2^27 units and the nearest multiple of one unit to the
 * rest, are here two doubles; sums of OP_EXACT_AT_ONCE of each are exact, having 35 bits, so that adding both at the end is the only
 * rounding. */
static inline double rounded(double x, double s) { return (x + s) - s; }
static inline double power_of(double x) { return from_bits(bits_of(x) & (uint64_t)0x7ff << 52); }
static inline int64_t is_no_finite(double x) { return (bits_of(x) & (uint64_t)0x7ff << 52) == (uint64_t)0x7ff << 52; }
#define LEAST 0x1p-900 /* smaller ones have units for which a processor may put 0 (flush to zero) */

static bool sum_F64(const void *const *operands, int ranks, int64_t first, void *to, int64_t n)
{
    double most[EXACT_BLOCK], high[EXACT_BLOCK], low[EXACT_BLOCK];
    int64_t bad = 0;
    t_F64 *out = to;
    for (int64_t i = 0; i < n; i++) most[i] = high[i] = low[i] = 0;
    for (int r = 0; r < ranks; r++) {
        const t_F64 *x = (const t_F64 *)operands[r] + first;
        for (int64_t i = 0; i < n; i++) {
            double v = __builtin_fabs(x[i]);
            most[i] = v > most[i] ? v : most[i];
        }
    }
    for (int64_t i = 0; i < n; i++) {
        bad |= (most[i] < LEAST) & (most[i] > 0);
        most[i] = 1.5 * power_of(most[i]); /* beyond 2^995 the coarse S overflows, and the result is no number */
    }
    for (int r = 0; r < ranks; r++) {
        const t_F64 *x = (const t_F64 *)operands[r] + first;
        for (int64_t i = 0; i < n; i++) {
            double coarse = rounded(x[i], most[i] * 0x1p27);
            high[i] += coarse;
            low[i] += rounded(x[i] - coarse, most[i]);
        }
    }
    for (int64_t i = 0; i < n; i++) {
        double v = high[i] + low[i];
        out[i] = v;
        bad |= is_no_finite(v);
    }
    return !bad;
}
/* A float has 24 bits, and its sums 49 at most: one double does. */
static bool sum_F32(const void *const *operands, int ranks, int64_t first, void *to, int64_t n)
{
    float most[EXACT_BLOCK];
    double unit[EXACT_BLOCK], sum[EXACT_BLOCK];
    int64_t bad = 0;
    t_F32 *out = to;
    for (int64_t i = 0; i < n; i++) most[i] = 0x1p-126f;
    for (int r = 0; r < ranks; r++) {
        const t_F32 *x = (const t_F32 *)operands[r] + first;
        for (int64_t i = 0; i < n; i++) {
            float v = __builtin_fabsf(x[i]);
            most[i] = v > most[i] ? v : most[i];
        }
    }
    for (int64_t i = 0; i < n; i++)
        unit[i] = 1.5 * power_of((double)most[i]) * (0x1p52 / (INT64_C(1) << EXACT_BITS_F32)), sum[i] = 0;
    for (int r = 0; r < ranks; r++) {
        const t_F32 *x = (const t_F32 *)operands[r] + first;
        for (int64_t i = 0; i < n; i++) sum[i] += rounded((double)x[i], unit[i]);
    }
    for (int64_t i = 0; i < n; i++) {
        out[i] = (float)sum[i];
        bad |= is_no_finite(sum[i]);
    }
    return !bad;
}

const struct exact_table EXACT_TABLE = {
    {exponents_F32, exponents_F64},
    {words_F32, words_F64},
    {round_F32, round_F64},
    {sum_F32, sum_F64},
};
