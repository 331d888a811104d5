/* exact_test.c -- op/exact.h: the sum of any ranks' operands, in any order, against one in 128 bits.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "op/exact_private.h"

#include <float.h>
#include <math.h>

#include "../../test/unit.h"

enum { N = 2 * EXACT_BLOCK + 37, RANKS = 9 }; /* more than one block */
static uint64_t state = 88172645463325252u;
static uint64_t random_bits(void)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}

static struct op_exact how_of(int elem, int ranks)
{
    struct op_exact e = {0};
    CHECK(op_exact_of(gw_op_sum, type_of_basic(elem), ranks, &e));
    return e;
}

/* Operands of n numbers of `bytes` each, added by ranks order[0], order[1], ..: by exact.h, as ranks would. */
static void sum(struct op_exact e, const void *const *operands, const int *order, int ranks, void *out, int n)
{
    int16_t exponents[N], most[N] = {0};
    int64_t words[2 * N], all[2 * N] = {0};
    for (int r = 0; r < ranks; r++) {
        op_exact_step(e, OP_EXACT_EXPONENTS, operands[order[r]], exponents, NULL, n);
        for (int i = 0; i < n; i++) most[i] = exponents[i] > most[i] ? exponents[i] : most[i];
    }
    for (int r = 0; r < ranks; r++) {
        op_exact_step(e, OP_EXACT_WORDS, operands[order[r]], most, words, n);
        for (int i = 0; i < n * e.words; i++) all[i] += words[i];
    }
    op_exact_step(e, OP_EXACT_ROUND, all, most, out, n);
}

static const int upward[RANKS] = {0, 1, 2, 3, 4, 5, 6, 7, 8}, mixed[RANKS] = {4, 8, 0, 7, 3, 1, 6, 2, 5};
static double doubles[RANKS][N];
static const void *of_doubles[RANKS];

static void doubles_make(int span) /* exponents that differ by up to so much */
{
    for (int r = 0; r < RANKS; r++) {
        of_doubles[r] = doubles[r];
        for (int i = 0; i < N; i++) {
            double v = ldexp((double)(random_bits() >> 11), (int)(random_bits() % (unsigned)span) - 60);
            doubles[r][i] = random_bits() & 1 ? v : -v;
        }
    }
}

/* One operand is itself, whatever it is. */
static void test_alone(void)
{
    const double cases[N] = {0.0,          1.0,           -1.0, DBL_MAX,          -DBL_MAX, DBL_MIN,
                             DBL_TRUE_MIN, -DBL_TRUE_MIN, 0.1,  3 * DBL_TRUE_MIN, 1e-300,   1e300};
    const float floats[N] = {0.0f, 1.0f, -1.0f, FLT_MAX, -FLT_MAX, FLT_MIN, FLT_TRUE_MIN, -FLT_TRUE_MIN, 0.1f, 1e-30f, 1e30f};
    double out[N];
    float short_out[N];
    for (int ranks = 1; ranks <= EXACT_RANKS + 1; ranks += EXACT_RANKS) {
        sum(how_of(GW_ELEM_F64, ranks), (const void *const[]){cases}, upward, 1, out, N);
        CHECK(memcmp(out, cases, sizeof cases) == 0);
        sum(how_of(GW_ELEM_F32, ranks), (const void *const[]){floats}, upward, 1, short_out, N);
        CHECK(memcmp(short_out, floats, sizeof floats) == 0);
    }
    doubles_make(100);
    sum(how_of(GW_ELEM_F64, 1), of_doubles, upward, 1, out, N);
    CHECK(memcmp(out, doubles[0], sizeof out) == 0);
}

/* Another order, zeros of more ranks, two words instead of one, any alignment: the same bits.  And they are right. */
static void test_orders(void)
{
    static const double zeros[N];
    double out[N], again[N];
    for (int span = 1; span < 300; span += 13) {
        doubles_make(span);
        struct op_exact e = how_of(GW_ELEM_F64, RANKS), wide = how_of(GW_ELEM_F64, EXACT_RANKS + 1);
        CHECK_EQ(e.words, 1);
        CHECK_EQ(wide.words, 2);
        sum(e, of_doubles, upward, RANKS, out, N);
        sum(e, of_doubles, mixed, RANKS, again, N);
        CHECK(memcmp(out, again, sizeof out) == 0);
        sum(wide, of_doubles, mixed, RANKS, again, N);
        CHECK(memcmp(out, again, sizeof out) == 0);
        const void *more[RANKS] = {doubles[0], zeros, doubles[1], zeros, zeros, doubles[2], zeros, zeros, zeros};
        sum(e, of_doubles, upward, 3, out, N);
        sum(e, more, mixed, RANKS, again, N);
        CHECK(memcmp(out, again, sizeof out) == 0);
        for (int i = 0; i < N; i++) {
            long double real = 0, most = 0;
            for (int r = 0; r < 3; r++) real += doubles[r][i], most = fmaxl(most, fabsl(doubles[r][i]));
            CHECK(fabsl((long double)out[i] - real) <= 2.5L * most * DBL_EPSILON);
        }
    }
}

/* Where everything is a multiple of the grid the sum is the true one, rounded once: integers up to 2^53. */
static void test_integers(void)
{
    double out[N];
    for (int r = 0; r < RANKS; r++)
        for (int i = 0; i < N; i++) doubles[r][i] = (double)((int64_t)random_bits() >> 11), of_doubles[r] = doubles[r];
    sum(how_of(GW_ELEM_F64, RANKS), of_doubles, mixed, RANKS, out, N);
    for (int i = 0; i < N; i++) {
        __int128 real = 0;
        for (int r = 0; r < RANKS; r++) real += (__int128)doubles[r][i];
        CHECK(out[i] == (double)real);
    }
}

static void test_floats(void)
{
    static float values[RANKS][N];
    const void *of_floats[RANKS];
    float out[N], again[N];
    for (int r = 0; r < RANKS; r++)
        for (int i = 0; i < N; i++) {
            of_floats[r] = values[r];
            values[r][i] = ldexpf((float)((int32_t)random_bits() >> 8), (int)(random_bits() % 12));
        }
    sum(how_of(GW_ELEM_F32, RANKS), of_floats, upward, RANKS, out, N);
    sum(how_of(GW_ELEM_F32, RANKS), of_floats, mixed, RANKS, again, N);
    CHECK(memcmp(out, again, sizeof out) == 0);
    for (int i = 0; i < N; i++) { /* 24 bits, of numbers that differ by 12: all on the grid */
        double real = 0;
        for (int r = 0; r < RANKS; r++) real += (double)values[r][i];
        CHECK(out[i] == (float)real);
    }
}

#if defined(__x86_64__)
static void test_long_doubles(void)
{
    static long double values[RANKS][N];
    const void *of_values[RANKS];
    long double out[N], again[N];
    memset(out, 0, sizeof out), memset(again, 0, sizeof again);
    for (int r = 0; r < RANKS; r++)
        for (int i = 0; i < N; i++) of_values[r] = values[r], values[r][i] = (long double)(int64_t)random_bits();
    struct op_exact e = how_of(GW_ELEM_F80, RANKS);
    sum(e, of_values, upward, 1, out, N);
    for (int i = 0; i < N; i++) CHECK(out[i] == values[0][i]);
    sum(e, of_values, upward, RANKS, out, N);
    sum(e, of_values, mixed, RANKS, again, N);
    for (int i = 0; i < N; i++) {
        __int128 real = 0, coarse = 0;
        for (int r = 0; r < RANKS; r++) real += (__int128)values[r][i], coarse += values[r][i] > 0 ? 1 : 0;
        CHECK(out[i] == (long double)real);
        CHECK(out[i] == again[i]);
    }
    const long double cases[4] = {LDBL_MAX, LDBL_TRUE_MIN, -LDBL_MIN, 1.0L + LDBL_EPSILON};
    sum(e, (const void *const[]){cases}, upward, 1, out, 4);
    for (int i = 0; i < 4; i++) CHECK(out[i] == cases[i]);
    const long double near[4] = {0x1p63L, 0x1p63L, 0x1p63L, 0x1p63L}, small[4] = {0.5L, 0.5000001L, 1.5L, 0x1p-40L};
    const long double want[4] = {0x1p63L, 0x1p63L + 1, 0x1p63L + 2, 0x1p63L}; /* ties to even */
    sum(e, (const void *const[]){near, small}, upward, 2, out, 4);
    for (int i = 0; i < 4; i++) CHECK(out[i] == want[i]);
}
#endif

/* As a sum in any order gives them. */
static void test_specials(void)
{
    const double a[6] = {INFINITY, INFINITY, 1, NAN, -INFINITY, DBL_MAX},
                 b[6] = {1, -INFINITY, -INFINITY, INFINITY, -INFINITY, DBL_MAX};
    double out[6];
    for (int ranks = 2; ranks <= EXACT_RANKS + 2; ranks += EXACT_RANKS) {
        sum(how_of(GW_ELEM_F64, ranks), (const void *const[]){a, b}, upward, 2, out, 6);
        CHECK(out[0] == INFINITY && isnan(out[1]) && out[2] == -INFINITY && isnan(out[3]) && out[4] == -INFINITY &&
              out[5] == INFINITY);
    }
    const float c[2] = {INFINITY, NAN}, d[2] = {-1, 1};
    float short_out[2];
    sum(how_of(GW_ELEM_F32, 2), (const void *const[]){c, d}, upward, 2, short_out, 2);
    CHECK(short_out[0] == INFINITY && isnan(short_out[1]));
#if defined(__x86_64__)
    const long double e[2] = {-INFINITY, NAN}, f[2] = {-1, 1};
    long double long_out[2];
    sum(how_of(GW_ELEM_F80, 2), (const void *const[]){e, f}, upward, 2, long_out, 2);
    CHECK(long_out[0] == -INFINITY && isnan(long_out[1]));
#endif
    doubles_make(9);
    doubles[1][EXACT_BLOCK + 1] = -INFINITY;
    double far[N];
    sum(how_of(GW_ELEM_F64, 2), of_doubles, upward, 2, far, N);
    for (int i = 0; i < N; i++) CHECK(i == EXACT_BLOCK + 1 ? far[i] == -INFINITY : isfinite(far[i]));
}

/* ---- op_exact_sum(): what the steps give, bit by bit, whatever the operands are and in whichever order ------------------------------ */
/* Of one kind for a whole block of numbers, so that both ways through each block are taken, or of any kind. */
enum hard { PLAIN, NEAR, CANCELLING, TINY, HUGE_ONES, ZEROS, TIES, SPECIAL, ANY_BITS, KINDS };
static double hard_value(enum hard kind, int r, int i)
{
    static const double special[] = {INFINITY, -INFINITY, NAN, 1, -0.0, DBL_MAX, -DBL_MAX, DBL_TRUE_MIN};
    uint64_t bits = random_bits();
    double sign = bits >> 63 ? -1 : 1, fraction = 1 + (double)(bits & 0xfffff) * 0x1p-20, v;
    switch (kind) {
    case PLAIN: return sign * ldexp((double)(bits >> 11), (int)(bits % 200) - 100);
    case NEAR: return sign * ldexp((double)(bits >> 11), (int)(bits % 3));
    case CANCELLING:
        return r % 2 ? -ldexp(1 + i * 0x1p-30, 40 + i % 60) : ldexp(1 + i * 0x1p-30, 40 + i % 60) + (r == 2 ? 1e-3 : 0);
    case TINY: return sign * fraction * ldexp(1, -1074 + (int)(bits >> 20 & 255));
    case HUGE_ONES: return sign * fraction * ldexp(1, 990 + (int)(bits >> 20) % 34);
    case ZEROS: return bits & 1 ? 0.0 : -0.0;
    case TIES: return sign * (r ? ldexp((double)(bits & 7), -1) : 0x1p52 + (double)(bits & 3));
    case SPECIAL: return bits & 0x300 ? sign * fraction : special[bits & 7];
    default: return memcpy(&v, &bits, sizeof v), v;
    }
}
/* Into `to`, as the type has it, at an odd address. */
static void hard_put(int elem, char *to, int i, double v)
{
    if (elem == GW_ELEM_F64) memcpy(to + i * 8, &v, 8);
    if (elem == GW_ELEM_F32) memcpy(to + i * 4, &(float){fabs(v) > 1e38 && fabs(v) < INFINITY ? 1e38f : (float)v}, 4);
    if (elem == GW_ELEM_F80) memcpy(to + i * 16, &(long double){v}, 10);
}
static bool none_at(int elem, const char *at)
{
    double d;
    float f;
    if (elem == GW_ELEM_F64) return memcpy(&d, at, 8), isnan(d);
    if (elem == GW_ELEM_F32) return memcpy(&f, at, 4), isnan(f);
    return false;
}
static void hard_case(int elem, enum hard kind, int ranks, int n)
{
    static char operands[RANKS][N * 16 + 1], out[N * 16], again[N * 16];
    const void *of[RANKS], *turned[RANKS], *more[2 * RANKS];
    static const double zeros[2 * N + 1];
    int bytes = elem == GW_ELEM_F32 ? 4 : elem == GW_ELEM_F64 ? 8 : 16;
    memset(operands, 0, sizeof operands), memset(out, 0, sizeof out), memset(again, 0, sizeof again);
    for (int r = 0; r < ranks; r++) {
        enum hard now = kind == KINDS ? (enum hard)(random_bits() % KINDS) : kind;
        of[r] = turned[ranks - 1 - r] = operands[r] + 1;
        more[2 * r] = operands[r] + 1, more[2 * r + 1] = (const char *)zeros + 1;
        for (int i = 0; i < n; i++) hard_put(elem, operands[r] + 1, i, hard_value(now, r, i));
    }
    sum(how_of(elem, ranks), of, upward, ranks, out, n);
    const void *const *ways[] = {of, turned, more};
    for (int w = 0; w < 3; w++) {
        memset(again, 0, sizeof again);
        op_exact_sum(how_of(elem, ranks), ways[w], w == 2 ? 2 * ranks : ranks, again, n);
        for (int i = 0; i < n; i++) {
            bool is_none = none_at(elem, out + i * bytes); /* whose sign and payload are not compared */
            CHECK(is_none ? none_at(elem, again + i * bytes)
                          : memcmp(out + i * bytes, again + i * bytes, bytes == 16 ? 10 : (size_t)bytes) == 0);
        }
    }
}
static void test_sum(void)
{
    static const int lengths[] = {1, 3, 8, EXACT_BLOCK, N};
    static const uint8_t elems[] = {
        GW_ELEM_F64,
        GW_ELEM_F32,
#if defined(__x86_64__)
        GW_ELEM_F80
#endif
    };
    for (size_t e = 0; e < sizeof elems; e++)
        for (enum hard kind = PLAIN; kind <= KINDS; kind++)
            for (int ranks = 1; ranks <= RANKS; ranks += ranks < 4 ? 1 : 5)
                for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) hard_case(elems[e], kind, ranks, lengths[l]);
}
/* As many operands as may be: the sums of the two parts of a number stay exact. */
static void test_most(void)
{
    static double values[OP_EXACT_AT_ONCE][8];
    const void *of[OP_EXACT_AT_ONCE];
    double out[8];
    for (int r = 0; r < OP_EXACT_AT_ONCE; r++)
        for (int i = 0; i < 8; i++) of[r] = values[r], values[r][i] = 0x1p53 - 1 - (i % 4) * (r % 2);
    op_exact_sum(how_of(GW_ELEM_F64, OP_EXACT_AT_ONCE), of, OP_EXACT_AT_ONCE, out, 8);
    for (int i = 0; i < 8; i++) {
        __int128 real = 0;
        for (int r = 0; r < OP_EXACT_AT_ONCE; r++) real += (__int128)values[r][i];
        CHECK(out[i] == (double)real);
    }
}

static void test_which(void)
{
    struct op_exact e;
    CHECK(op_exact_of(gw_op_sum, type_of_basic(GW_ELEM_C64), 4, &e) && e.real == GW_ELEM_F64 && e.parts == 2 && e.words == 1);
    CHECK(!op_exact_of(gw_op_max, type_of_basic(GW_ELEM_F64), 4, &e));
    CHECK(!op_exact_of(gw_op_sum, type_of_basic(GW_ELEM_I64), 4, &e));
    CHECK(!op_exact_of(gw_op_sum, type_of_basic(GW_ELEM_F128), 4, &e));
}

/* Base instructions and AVX2 agree. */
#if defined(__x86_64__)
static void agree(int which, const void *first, const void *second, size_t bytes)
{
    int16_t exponents[N], others[N];
    int64_t words[N], other_words[N];
    double out[N], other_out[N];
    exact_base.exponents[which](first, exponents, N), exact_avx2.exponents[which](first, others, N);
    CHECK(memcmp(exponents, others, sizeof exponents) == 0);
    exact_base.words[which](second, exponents, words, N), exact_avx2.words[which](second, exponents, other_words, N);
    CHECK(memcmp(words, other_words, sizeof words) == 0);
    exact_base.round[which](words, exponents, out, N), exact_avx2.round[which](words, exponents, other_out, N);
    CHECK(memcmp(out, other_out, bytes * N) == 0);
    static const int counts[] = {1, 3, 7, EXACT_BLOCK - 1, EXACT_BLOCK};
    const void *both[2] = {first, second};
    for (size_t i = 0; i < GW_ARRAY_LEN(counts); i++)
        for (int at = 0; at + counts[i] <= EXACT_BLOCK; at += at ? EXACT_BLOCK : 1) { /* the second time at an odd place */
            memset(out, 0, sizeof out), memset(other_out, 0, sizeof other_out);
            bool is_done = exact_base.sum[which](both, 2, at, out, counts[i]);
            CHECK_EQ(exact_avx2.sum[which](both, 2, at, other_out, counts[i]), is_done);
            CHECK(memcmp(out, other_out, sizeof out) == 0 || !is_done);
        }
}
static void test_tables(void)
{
    static float floats[N];
    if (!__builtin_cpu_supports("avx2")) return;
    doubles_make(80);
    agree(1, doubles[0], doubles[1], sizeof(double));
    for (int i = 0; i < N; i++) floats[i] = (float)doubles[0][i];
    agree(0, floats, floats, sizeof(float));
    for (int i = 0; i < N; i++) doubles[0][i] = ldexp(doubles[0][i], i % 2 ? 950 : -1000); /* one factor would not do */
    agree(1, doubles[0], doubles[0], sizeof(double));
}
#endif

int main(void)
{
    CHECK_EQ(type_init(), GW_OK);
    CHECK_EQ(op_init(), GW_OK);
    test_which();
    test_alone();
    test_orders();
    test_integers();
    test_floats();
#if defined(__x86_64__)
    test_long_doubles();
#endif
    test_specials();
    test_sum();
    test_most();
#if defined(__x86_64__)
    test_tables();
#endif
    op_finalize();
    type_finalize();
    gw_obj_finalize();
    return unit_end();
}
