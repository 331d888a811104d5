/* peer_private.h -- shared by the files of peer/: the choice of wires.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_PEER_PEER_PRIVATE_H
#define GW_PEER_PEER_PRIVATE_H

#include "peer/peer.h"

bool peer_may_net(void); /* GODWIT_WIRES allows a network */
/* sets peer_wires[1] by GODWIT_WIRES; is_wanted: it will be opened, so GODWIT_EXPLAIN prints the choice */
void peer_choose_net(bool is_wanted);
const char *peer_protection(void); /* what protects connections between hosts beside the job's key; NULL: nothing was asked for */
int peer_check_protection(void);   /* an error if something was, and the chosen network cannot have it */
/* Says which settings are of no effect on the network of an open lane; on one rank, if the job has a network. */
void peer_tell_unused(struct gw_lane *lane);

#endif
