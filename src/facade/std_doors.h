/* std_doors.h -- where calls of users' functions find the door that these came through.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_FACADE_STD_DOORS_H
#define GW_FACADE_STD_DOORS_H

#include "facade/doors.h"
#include "facade/std_codec.h"

/* Written while a door is loaded.  Who calls it, or has an object that was made through it, has that from a thread that ran after: readers
 * need no order.  [DOOR_STD] stays NULL. */
extern const struct door_calls *std_doors[DOOR_COUNT];
GW_EXTERN struct door_known std_door_known;

/* NULL: the function is one of the standard ABI. */
static inline const struct door_calls *std_door_of(const struct gw_callback *cb)
{
    assert(cb->abi < DOOR_COUNT);
    return std_doors[cb->abi];
}

#endif
