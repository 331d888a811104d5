/* order.h -- which process of the launcher gets which rank.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BOOT_ORDER_H
#define GW_BOOT_ORDER_H

#include <stdint.h>

/* ---- rank order (boot_order.c): which process of the launcher gets which rank ----
 * The settings rank_order (MPICH_RANK_REORDER_METHOD), rank_order_file and rank_order_display.  All but boot sees only the new ranks.
 * Under our mpiexec a process keeps its number and the faked nodes are dealt out instead. */
enum boot_order { BOOT_ORDER_ROUND, BOOT_ORDER_SMP, BOOT_ORDER_FOLD, BOOT_ORDER_FILE };
/* node: of each process, numbered from 0.  rank_out: of each process.  list: where the method is the file, what it says. */
void boot_order_place(int method, const int32_t *node, int size, const int32_t *list, int32_t *rank_out);
int boot_order_parse(const char *path, const char *text, int size, int32_t *list_out); /* path: for what is said; GW_OK, GW_EARG */
int boot_order_read(const char *path, int size, int32_t *list_out);
/* node: of each process, becomes that of each rank; path: NULL or "" is MPICH_RANK_ORDER in this folder. */
int boot_order_apply(int method, const char *path, int32_t *node, int size, int32_t *rank_out);
/* Turns the hosts of all processes into (faked) nodes, numbered in the order of their lowest ranks; how many. */
int boot_map_nodes(const char *vnodes, int32_t *node, int size);

#endif
