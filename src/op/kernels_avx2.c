/* kernels_avx2.c -- the kernels with AVX2; op_init() looks at the processor before it uses them.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC target("avx2")
#endif
#define KERNEL_TABLE op_kernels_avx2
#include "op/kernels.h"
#define EXACT_TABLE exact_avx2
#include "op/exact_kernels.h"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
