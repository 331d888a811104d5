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

/* Cray's alltoallv of a team or an active set; no pSync is needed. */
static inline void face_alltoallv(const char *call, sym_team_id team, void *target, size_t *t_offsets, size_t *t_sizes,
                                  const void *source, size_t *s_offsets, size_t *s_sizes)
{
    struct sym_alltoallv v = {.dest = target,
                              .source = source,
                              .source_at = s_offsets,
                              .source_bytes = s_sizes,
                              .dest_at = t_offsets,
                              .dest_bytes_out = t_sizes};
    godwit_sym_alltoallv(call, team, &v);
}
/* One PE's bytes behind those of the PE before, where others leave the order open. */
static inline void face_alltoallv_packed(const char *call, sym_team_id team, void *target, size_t target_len, size_t *t_size,
                                         const void *source, size_t *s_offsets, size_t *s_sizes)
{
    struct sym_alltoallv v = {.dest = target,
                              .source = source,
                              .source_at = s_offsets,
                              .source_bytes = s_sizes,
                              .dest_len = target_len,
                              .dest_bytes_out = t_size};
    godwit_sym_alltoallv(call, team, &v);
}

#endif
