/* exact.h -- sums of floating-point numbers whose bits no order, grouping or number of ranks changes.
 *
 * Floating-point additions round, so their order shows.  Additions of integers do not.  Element by element:
 *
 *     1. exponents   of each rank's operand; their maximum over the ranks says how fine the sum's grid is
 *     2. words       the operand in units of that grid, rounded to the nearest (ties to even), as one or two int64
 *     3. round       the sum of the words of all ranks, as the nearest floating-point number
 *
 * Between the steps whoever calls takes the maximum (int16) and the sum (int64) over the ranks, in any order.  The grid is 2^-52 of
 * the largest operand's power of two for double (2^-39 for float, 2^-63 for long double): one operand alone comes out as it went in,
 * and the error of a sum is at most half a unit of the grid for each operand, and the last rounding.  Infinities and NaN come out as
 * a sum in any order gives them.  A sum of zeros is +0.
 *
 * Where one process has the operands of all ranks it takes the three steps at once, op_exact_sum(), for the same bits.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_OP_EXACT_H
#define GW_OP_EXACT_H

#include "op/op.h"

struct op_exact {
    uint8_t real;  /* GW_ELEM_F32, F64 or F80 */
    uint8_t parts; /* real numbers in an element: 1, complex 2 */
    uint8_t words; /* int64 a real number: 1; 2 where the sum over so many ranks does not fit */
};
enum op_exact_step { OP_EXACT_EXPONENTS, OP_EXACT_WORDS, OP_EXACT_ROUND };

/* Is `op` on `t` such a sum?  MPI_SUM on float, double, long double, and complex numbers of these, also in derived types. */
bool op_exact_of(const struct gw_op *op, const struct gw_type *t, int ranks, struct op_exact *exact_out);

/* One step over n real numbers, which lie one behind the other, at any address.
 * EXPONENTS: from numbers, to exponents.  WORDS: from numbers and exponents, to e.words * n words.  ROUND: from words and exponents, to
 * numbers.  No more than 2^20 ranks' words are added. */
void op_exact_step(struct op_exact e, enum op_exact_step step, const void *from, int16_t *exponents, void *to, int64_t n);

/* to = the sum of `ranks` operands, up to OP_EXACT_AT_ONCE, of n real numbers each, none of which `to` overlaps. */
enum { OP_EXACT_AT_ONCE = 256 };
void op_exact_sum(struct op_exact e, const void *const *operands, int ranks, void *to, int64_t n);

#endif
