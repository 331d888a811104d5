/* kernels.h -- the loops of the predefined operations, one a line; a .c file defines KERNEL_TABLE and includes this once.
 *
 * Two files do: with the architecture's base instructions and with AVX2.  The loops are plain, the compiler makes vectors.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "op/kernel.h"

#include <limits.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-loop-distribute-patterns") /* a loop that stores vectors is no memcpy from the stack */
#endif

// clang-format off
/* Signed sums and products wrap: computed unsigned, so that overflow is defined. */
#define SIGNED(elem, utype, X)                                                 \
    X(SUM, elem, t_##elem, (t_##elem)((utype)x + (utype)y))                    \
    X(PROD, elem, t_##elem, (t_##elem)((utype)x * (utype)y))
#define ORDERED(elem, X)                                                       \
    X(MIN, elem, t_##elem, x < y ? x : y) X(MAX, elem, t_##elem, x > y ? x : y)
#define ARITH(elem, X) X(SUM, elem, t_##elem, x + y) X(PROD, elem, t_##elem, x * y)
#define BITS(elem, type, X)                                                    \
    X(BAND, elem, type, (type)(x & y)) X(BOR, elem, type, (type)(x | y)) X(BXOR, elem, type, (type)(x ^ y))
#define TRUTH(elem, type, X)                                                   \
    X(LAND, elem, type, x && y) X(LOR, elem, type, x || y) X(LXOR, elem, type, !x != !y)

#define ALL_SIGNED(X)                                                                                                     \
    SIGNED(I8, uint8_t, X) SIGNED(I16, uint32_t, X) SIGNED(I32, uint32_t, X) SIGNED(I64, uint64_t, X)                      \
    SIGNED(I128, unsigned __int128, X)
#define ALL_ARITH(X)                                                                                                      \
    ARITH(U8, X) SIGNED(U16, uint32_t, X) ARITH(U32, X) ARITH(U64, X) ARITH(F32, X) ARITH(F64, X) ARITH(F80, X) ARITH(F128, X)        \
    ARITH(C32, X) ARITH(C64, X) ARITH(C80, X)
#define ALL_ORDERED(X)                                                                                                    \
    ORDERED(I8, X) ORDERED(I16, X) ORDERED(I32, X) ORDERED(I64, X) ORDERED(I128, X) ORDERED(U8, X) ORDERED(U16, X)         \
    ORDERED(U32, X) ORDERED(U64, X) ORDERED(F32, X) ORDERED(F64, X) ORDERED(F80, X) ORDERED(F128, X)
#define ALL_BITS(X)                                                                                                       \
    BITS(I8, t_U8, X) BITS(I16, t_U16, X) BITS(I32, t_U32, X) BITS(I64, t_U64, X) BITS(I128, t_U128, X) BITS(U8, t_U8, X)  \
    BITS(U16, t_U16, X) BITS(U32, t_U32, X) BITS(U64, t_U64, X) BITS(BYTE, t_U8, X)
#define ALL_TRUTH(X)                                                                                                      \
    TRUTH(I8, t_U8, X) TRUTH(I16, t_U16, X) TRUTH(I32, t_U32, X) TRUTH(I64, t_U64, X) TRUTH(U8, t_U8, X)                   \
    TRUTH(U16, t_U16, X) TRUTH(U32, t_U32, X) TRUTH(U64, t_U64, X) TRUTH(BOOL, t_U8, X) TRUTH(L8, t_U8, X)                 \
    TRUTH(L16, t_U16, X) TRUTH(L32, t_U32, X) TRUTH(L64, t_U64, X) TRUTH(L128, t_U128, X)
#define PAIR_SUM(elem, X)                                                                              \
    X(SUM, elem, t_##elem, ((t_##elem){x.re + y.re, x.im + y.im}))                                     \
    X(PROD, elem, t_##elem, ((t_##elem){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re}))
#if defined(__FLT16_MAX__)
#define ALL_HALF(X) ARITH(F16, X) ORDERED(F16, X) PAIR_SUM(C16, X)
#else
#define ALL_HALF(X)
#endif

ALL_SIGNED(KERNEL) ALL_ARITH(KERNEL) ALL_ORDERED(KERNEL) ALL_BITS(KERNEL) ALL_TRUTH(KERNEL) PAIR_SUM(C128, KERNEL) ALL_HALF(KERNEL)

/* MINLOC, MAXLOC: of equal values the lower index wins.  The structs have the layout of the C pair types. */
#define PAIRS(X)                                                                                            \
    X(FLOAT_INT, float, int, 4, 8) X(DOUBLE_INT, double, int, 8, 16) X(LONG_INT, long, int, 8, 16)           \
    X(2INT, int, int, 4, 8) X(SHORT_INT, short, int, 4, 8) X(LONG_DOUBLE_INT, long double, int, 16, 32)      \
    X(2REAL, float, float, 4, 8) X(2DOUBLE, double, double, 8, 16) X(2INTEGER, int, int, 4, 8) \
    X(2LONG, int64_t, int64_t, 8, 16) X(2QUAD, t_F128, t_F128, 16, 32)
// clang-format on

#define LOCATION(op, elem, vtype, itype, at, extent, better)                                                                       \
    static void k_##op##_##elem(const void *va, const void *vb, void *vout, int64_t n)                                             \
    {                                                                                                                              \
        const char *a = va, *b = vb;                                                                                               \
        char *out = vout;                                                                                                          \
        for (int64_t i = 0; i < n; i++, a += extent, b += extent, out += extent) {                                                 \
            vtype x, y;                                                                                                            \
            itype p, q;                                                                                                            \
            memcpy(&x, a, sizeof x), memcpy(&y, b, sizeof y);                                                                      \
            memcpy(&p, a + at, sizeof p), memcpy(&q, b + at, sizeof q);                                                            \
            bool take_a = x better y || (x == y && p < q);                                                                         \
            vtype v = take_a ? x : y;                                                                                              \
            itype k = take_a ? p : q;                                                                                              \
            memcpy(out, &v, sizeof v), memcpy(out + at, &k, sizeof k);                                                             \
        }                                                                                                                          \
    }
#define BOTH_LOCATIONS(elem, vtype, itype, at, extent)                                                                             \
    LOCATION(MINLOC, elem, vtype, itype, at, extent, <)                                                                            \
    LOCATION(MAXLOC, elem, vtype, itype, at, extent, >)
    PAIRS(BOTH_LOCATIONS)

#define ENTRY(op, elem, type, expr) [OP_##op][GW_ELEM_##elem] = k_##op##_##elem,
/* A char is one of the two small integers. */
#define CHAR_ENTRY(op) [OP_##op][GW_ELEM_CHAR] = CHAR_MIN < 0 ? k_##op##_I8 : k_##op##_U8,
#define ALL_CHAR(X)    X(SUM) X(PROD) X(MIN) X(MAX) X(BAND) X(BOR) X(BXOR) X(LAND) X(LOR) X(LXOR)
#define PAIR_ENTRIES(elem, vtype, itype, at, extent)                                                                               \
    [OP_MINLOC][GW_ELEM_##elem] = k_MINLOC_##elem, [OP_MAXLOC][GW_ELEM_##elem] = k_MAXLOC_##elem,
        const op_table KERNEL_TABLE = {ALL_SIGNED(ENTRY) ALL_ARITH(ENTRY) ALL_ORDERED(ENTRY) ALL_BITS(ENTRY) ALL_TRUTH(ENTRY)
                                           PAIR_SUM(C128, ENTRY) ALL_HALF(ENTRY) ALL_CHAR(CHAR_ENTRY) PAIRS(PAIR_ENTRIES)};
