/* op_private.h -- the table of kernels.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_OP_OP_PRIVATE_H
#define GW_OP_OP_PRIVATE_H

#include "op/op.h"

/* IEEE binary128, which compilers name by processor: on AArch64 it is long double. */
#if defined(__aarch64__)
typedef long double op_quad;
#else
typedef __float128 op_quad;
#endif

enum op_code {
    OP_SUM,
    OP_PROD,
    OP_MIN,
    OP_MAX,
    OP_BAND,
    OP_BOR,
    OP_BXOR,
    OP_LAND,
    OP_LOR,
    OP_LXOR,
    OP_MINLOC,
    OP_MAXLOC,
    OP_REPLACE,
    OP_NO_OP,
    OP_CODES,
    OP_USER = OP_CODES
};

/* out[i] = a[i] OP b[i]; out may be a or b; no alignment is asked for. */
typedef void op_kernel(const void *a, const void *b, void *out, int64_t n);
typedef op_kernel *op_table[OP_REPLACE][GW_ELEM_COUNT];
extern const op_table op_kernels_base; /* for any machine of this architecture */
#if defined(__x86_64__)
extern const op_table op_kernels_avx2;
#endif

#endif
