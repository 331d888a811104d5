/* data.h -- user data as an argument, in tests.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TEST_DATA_H
#define GW_TEST_DATA_H

#include "type/type.h"

/* A const struct gw_data * that is good until the end of the block. */
#define AS_DATA(buf, count, type) (&((struct gw_data[]){gw_data_host(buf, count, type)})[0])

#endif
