/* peer_private.h -- what the files of peer/ share: the choice of wires.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_PEER_PEER_PRIVATE_H
#define GW_PEER_PEER_PRIVATE_H

#include "peer/peer.h"

bool peer_may_net(void); /* GODWIT_WIRES allows a network */
void peer_choose_net(
    bool is_wanted); /* the first network of peer_wires; is_wanted: it will be opened, so the choice is explained */

#endif
