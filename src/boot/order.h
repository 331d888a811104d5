/* order.h -- rank reordering: which process of the launcher gets which rank.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BOOT_ORDER_H
#define GW_BOOT_ORDER_H

#include <stdbool.h>
#include <stdint.h>

/* ---- rank reordering (boot_order.c) ----
 * Settings rank_order (MPICH_RANK_REORDER_METHOD), rank_order_file and rank_order_display.  Other rooms see only the new ranks.  With our
 * mpiexec a process keeps its number, and faked nodes are assigned accordingly instead. */
enum boot_order { BOOT_ORDER_ROUND, BOOT_ORDER_SMP, BOOT_ORDER_FOLD, BOOT_ORDER_FILE };
/* node[size]: node of each process, from 0.  list[size]: contents of the file (BOOT_ORDER_FILE).  rank_out[size]: new rank of each. */
void boot_order_place(int method, const int32_t *node, int size, const int32_t *list, int32_t *rank_out);
int boot_order_parse(const char *path, const char *text, int size, int32_t *list_out); /* path: for messages; GW_OK, GW_EARG */
int boot_order_read(const char *path, int size, bool may_be_pipe, int32_t *list_out);  /* a job reads it several times: no pipe */
/* node[size]: in: node of each process; out: node of each rank.  path: NULL or "": the file MPICH_RANK_ORDER in the current folder. */
int boot_order_apply(int method, const char *path, int32_t *node, int size, int32_t *rank_out);
/* node[size]: in: host of each process; out: its (faked) node, numbered in the order of lowest ranks.  Returns the number of nodes. */
int boot_map_nodes(const char *vnodes, int32_t *node, int size);

#endif
