/* exact_private.h -- the loops of exact.h for float and double, as a table: for the base instructions, and for AVX2.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_OP_EXACT_PRIVATE_H
#define GW_OP_EXACT_PRIVATE_H

#include "op/exact.h"
#include "op/kernel.h"

/* Bits of the grid below the largest operand's exponent; a double's sum over EXACT_RANKS ranks fits one word. */
enum { EXACT_BITS_F32 = 39, EXACT_BITS_F64 = 52, EXACT_BITS_F80 = 63, EXACT_RANKS = 1024, EXACT_BLOCK = 256 };

struct exact_table { /* each of float and double */
    void (*exponents[2])(const void *from, int16_t *exponents, int64_t n);
    void (*words[2])(const void *from, const int16_t *exponents, int64_t *words, int64_t n);
    void (*round[2])(const int64_t *words, const int16_t *exponents, void *to, int64_t n);
    /* All three over numbers [first, first + n) of each operand, EXACT_BLOCK at most.  False: what is at `to` is void, as a number is
     * infinite, none, or so large or small that the steps must do it. */
    bool (*sum[2])(const void *const *operands, int ranks, int64_t first, void *to, int64_t n);
};
extern const struct exact_table exact_base;
#if defined(__x86_64__)
extern const struct exact_table exact_avx2;
#endif
extern const struct exact_table *op_exact_table; /* the one for this processor: op_init() */

#endif
