/* op.h -- reduction operations (MPI 4.1 section 6.9): kernels for the predefined ones, user functions.
 *
 * op_reduce() computes inout[i] = in[i] OP inout[i] (the standard's order: `in` is the left operand).
 * Predefined operations run on any datatype whose basic element kind is one that the standard allows for them,
 * also on derived types made of one such kind, and on MPI_CHAR as the integer that it is in C (extensions that cost nothing).
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
/* Fortran's LOGICAL of so many bytes (1, 2, 4, 8, 16) is true and false by these bytes: what is not false is true, and results are one
 * of the two.  Until then 0 is false and 1 true.  Also before op_init. */
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

/* GW_OK or GW_EOP with a text that names op, type and what would be allowed.  Collectives check once. */
int op_check(struct gw_op *op, struct gw_type *t);
/* A predefined operation can be done on such elements, whatever the standard calls them: what another process asks for. */
bool op_can(const struct gw_op *op, const struct gw_type *t);
/* inout[i] = in[i] OP inout[i]; the buffers do not overlap.  `t` passed op_check. */
void op_reduce(struct gw_op *op, const void *in, void *inout, int64_t count, struct gw_type *t);
/* out[i] = a[i] OP b[i] for predefined ops on dense types (out may be a or b); false: not that simple, nothing done. */
bool op_reduce3(struct gw_op *op, const void *a, const void *b, void *out, int64_t count, struct gw_type *t);
int op_reduce_local(const void *in, void *inout, int64_t count, struct gw_type *t, struct gw_op *op);

/* Set by the door that makes handles, at its init: converts the type to its handle and calls the user's function. */
struct op_upcalls {
    void (*call_user)(const struct gw_callback *cb, void *in, void *inout, int64_t count, struct gw_type *t);
};
extern struct op_upcalls op_upcalls;

extern struct gw_op *gw_op_sum, *gw_op_max, *gw_op_min; /* for internal use */

#endif
