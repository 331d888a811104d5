/* node_private.h -- between the files of node/.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_NODE_NODE_PRIVATE_H
#define GW_NODE_NODE_PRIVATE_H

#include "node/node.h"

void heap_open(void *mem, uint64_t bytes); /* zeroed memory, mapped by every rank of the node */
void wait_open(void);                      /* reads the settings and gw_node.oversubscribed; sets gw_node.fence */
void wait_close(void);

#endif
