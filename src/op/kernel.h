/* kernel.h -- the loop of a predefined operation, and the types of its elements.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_OP_KERNEL_H
#define GW_OP_KERNEL_H

#include <complex.h>

#include "op/op_private.h"

/* The user's buffers may lie anywhere and hold anything. */
#define LOOSE(name, type) typedef type name __attribute__((aligned(1), may_alias))
LOOSE(t_I8, int8_t);
LOOSE(t_I16, int16_t);
LOOSE(t_I32, int32_t);
LOOSE(t_I64, int64_t);
LOOSE(t_U8, uint8_t);
LOOSE(t_U16, uint16_t);
LOOSE(t_U32, uint32_t);
LOOSE(t_U64, uint64_t);
LOOSE(t_I128, __int128);
LOOSE(t_F32, float);
LOOSE(t_F64, double);
LOOSE(t_F80, long double);
LOOSE(t_F128, op_quad);
LOOSE(t_C32, float _Complex);
LOOSE(t_C64, double _Complex);
LOOSE(t_C80, long double _Complex);
LOOSE(t_U128, unsigned __int128);
#if defined(__FLT16_MAX__)
LOOSE(t_F16, _Float16);
#endif
/* Pairs of quad or half floats: C has no portable complex of them. */
#define PAIR_OF(name, part)                                                                                                        \
    typedef struct {                                                                                                               \
        part re, im;                                                                                                               \
    } name
PAIR_OF(t_C128, t_F128);
#if defined(__FLT16_MAX__)
PAIR_OF(t_C16, t_F16);
#endif

/* Two cache lines are read before any of the results is stored: buffers that begin at like places of their pages, as large ones of
 * malloc and windows do, would else make the processor hold loads back until it knows that an earlier store was to another page
 * (it compares the lower 12 bits of addresses first), for half the speed within the caches.
 * Types for which there are no vectors go one by one. */
#define KERNEL(op, elem, type, expr)                                                                                               \
    static void k_##op##_##elem(const void *va, const void *vb, void *vout, int64_t n)                                             \
    {                                                                                                                              \
        enum { AT_ONCE = sizeof(type) <= 8 ? 128 / sizeof(type) : 1 };                                                             \
        const type *a = va, *b = vb;                                                                                               \
        type *out = vout;                                                                                                          \
        int64_t i = 0;                                                                                                             \
        for (; AT_ONCE > 1 && i + AT_ONCE <= n; i += AT_ONCE) {                                                                    \
            type some[AT_ONCE];                                                                                                    \
            for (int k = 0; k < AT_ONCE; k++) {                                                                                    \
                type x = a[i + k], y = b[i + k];                                                                                   \
                some[k] = expr;                                                                                                    \
            }                                                                                                                      \
            for (int k = 0; k < AT_ONCE; k++) out[i + k] = some[k];                                                                \
        }                                                                                                                          \
        for (; i < n; i++) {                                                                                                       \
            type x = a[i], y = b[i];                                                                                               \
            out[i] = expr;                                                                                                         \
        }                                                                                                                          \
    }

#endif
