/* kernels_base.c -- the kernels with the base instructions of the architecture.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#define KERNEL_TABLE op_kernels_base
#include "op/kernels.h"
#define EXACT_TABLE exact_base
#include "op/exact_kernels.h"
