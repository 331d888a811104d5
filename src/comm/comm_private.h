/* comm_private.h -- shared by the files of comm.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_COMM_COMM_PRIVATE_H
#define GW_COMM_COMM_PRIVATE_H

#include "comm/comm.h"

int comm_my_world_rank(void);
void comm_freed_forget(void); /* freed.c: at the end */
int group_alias(struct gw_group *g, struct gw_group **group_out);

#endif
