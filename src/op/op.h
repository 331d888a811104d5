/* op.h -- reduction operations (MPI 4.1 section 6.9): kernels for the predefined ones, user functions.
 *
 * op_reduce() computes inout[i] = in[i] OP inout[i] (the standard's order: `in` is the left operand).
 * Predefined operations are allowed on datatypes whose basic elements are of one kind that the standard allows for the operation; as
 * extensions also on derived types of one such kind, and on MPI_CHAR as an integer.
 *
 * No locks.  Functions return GW_OK or a negative code, after gw_fail().
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_OP_OP_H
#define GW_OP_OP_H

#include "type/type.h"

struct gw_op {
    struct gw_obj obj;
    bool commutes;
    uint8_t code;            /* GW_H_SUM .. for predefined; private */
    struct gw_callback user; /* fn NULL for predefined; wide: MPI_User_function_c */
};

int op_init(void);
/* Sets the representation of Fortran's .TRUE. and .FALSE. in LOGICALs of so many bytes (1, 2, 4, 8, 16).  Any value that is not false counts as
 * true; results are one of the two.  Default: 1 and 0.  May be called before op_init(). */
void op_logicals(int bytes, const void *true_value, const void *false_value);
void op_finalize(void);
int op_create(void (*fn)(void), int commute, bool wide, struct gw_op **op_out); /* GW_EARG if fn is NULL */
int op_free(struct gw_op **op);                                                 /* predefined: GW_EOP */
int op_commutative(struct gw_op *op, int *commute_out);
static inline struct gw_op *op_hold(struct gw_op *op)
{
    gw_obj_ref(&op->obj);
    return op;
}
void op_release(struct gw_op *op);
const char *op_name(struct gw_op *op);

/* GW_OK, or GW_EOP with a text that names operation, type and what is allowed.  Called once per collective. */
int op_check(struct gw_op *op, struct gw_type *t);
/* Can a predefined operation be computed on these elements, allowed by the standard or not?  For validating requests of other processes. */
bool op_can(const struct gw_op *op, const struct gw_type *t);
/* inout[i] = in[i] OP inout[i]; the buffers do not overlap.  `t` passed op_check. */
void op_reduce(struct gw_op *op, const void *in, void *inout, int64_t count, struct gw_type *t);
/* out[i] = a[i] OP b[i], for predefined operations on dense types; out may be a or b.  False: nothing was done, use op_reduce(). */
bool op_reduce3(struct gw_op *op, const void *a, const void *b, void *out, int64_t count, struct gw_type *t);
int op_reduce_local(const void *in, void *inout, int64_t count, struct gw_type *t, struct gw_op *op);

/* Calls a user's function with the handle of the type.  The facade sets this at its init. */
struct op_upcalls {
    void (*call_user)(const struct gw_callback *cb, void *in, void *inout, int64_t count, struct gw_type *t);
};
extern struct op_upcalls op_upcalls;

extern struct gw_op *gw_op_sum, *gw_op_max, *gw_op_min; /* for internal use */

#endif
