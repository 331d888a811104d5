/* shmemx_face.h -- what the functions of shmemx.h have in common.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_SHMEM_SHMEMX_FACE_H
#define GW_SHMEM_SHMEMX_FACE_H

#include "shmem/shmem_face.h"

#pragma GCC visibility push(default)
#include <shmemx.h>
#pragma GCC visibility pop
/* Macros by the number of arguments, which stand in the way of definitions. */
#undef shmemx_team_split_strided
#undef shmemx_team_split_2d

/* Before each function of extra*.c, from where shmemx.h has its prototypes (gen/shmem_x.py). */
#define SHMEMX __attribute__((visibility("default")))

#endif
