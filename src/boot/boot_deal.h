/* boot_deal.h -- the methods of MPICH_RANK_REORDER_METHOD for tools that have nothing else of the library: boot_deal.c needs libc alone.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BOOT_DEAL_H
#define GW_BOOT_DEAL_H

#include <stdint.h>

/* As boot_order_place() (boot.h), with memory of the caller: 2 * size + 2 numbers; each node has a process. */
void boot_order_deal(int method, const int32_t *node, int size, const int32_t *list, int32_t *rank_out, int32_t *scratch);

#endif
