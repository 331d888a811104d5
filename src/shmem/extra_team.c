/* extra_team.c -- teams as Cray's library had them before OpenSHMEM 1.5 (shmemx.h): those of today, and two more kinds of splits.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "shmem/shmemx_face.h"

SHMEMX int shmemx_team_my_pe(shmem_team_t team) { return godwit_sym_team_pe("shmemx_team_my_pe", (sym_team_id)team); }
SHMEMX int shmemx_team_n_pes(shmem_team_t team) { return godwit_sym_team_pes("shmemx_team_n_pes", (sym_team_id)team); }
SHMEMX int shmemx_team_translate_pe(shmem_team_t src_team, int src_pe, shmem_team_t dest_team)
{
    return godwit_sym_team_translate("shmemx_team_translate_pe", (sym_team_id)src_team, src_pe, (sym_team_id)dest_team);
}
SHMEMX int shmemx_team_get_config(shmem_team_t team, long config_mask, shmem_team_config_t *config)
{
    return godwit_sym_team_config("shmemx_team_get_config", (sym_team_id)team, config_mask, (struct sym_team_config *)config);
}
SHMEMX void shmemx_team_destroy(shmem_team_t team) { godwit_sym_team_destroy("shmemx_team_destroy", (sym_team_id)team); }

/* ---- contexts ---- */
SHMEMX int shmemx_team_create_ctx(shmem_team_t team, long options, shmem_ctx_t *ctx)
{
    return godwit_sym_ctx_create("shmemx_team_create_ctx", (sym_team_id)team, options, (sym_ctx_id *)ctx);
}
SHMEMX int shmemx_team_ctx_create(shmem_team_t team, long options, shmem_ctx_t *ctx)
{
    return godwit_sym_ctx_create("shmemx_team_ctx_create", (sym_team_id)team, options, (sym_ctx_id *)ctx);
}
SHMEMX int shmemx_ctx_get_team(shmem_ctx_t ctx, shmem_team_t *team)
{
    return godwit_sym_ctx_team("shmemx_ctx_get_team", (sym_ctx_id)ctx, (sym_team_id *)team);
}

/* ---- splits ---- */
SHMEMX int shmemx_team_split_strided(shmem_team_t parent_team, int start, int stride, int size, const shmem_team_config_t *config,
                                     long config_mask, shmem_team_t *new_team)
{
    struct sym_split split = {(const struct sym_team_config *)config, config_mask, (sym_team_id *)new_team};
    return godwit_sym_team_split("shmemx_team_split_strided", (sym_team_id)parent_team, start, stride, size, split);
}
SHMEMX void shmemx_team_split_strided_short(shmem_team_t parent_team, int start, int stride, int size, shmem_team_t *new_team)
{
    shmemx_team_split_strided(parent_team, start, stride, size, NULL, 0, new_team);
}
SHMEMX int shmemx_team_split_2d(shmem_team_t parent_team, int xrange, const shmem_team_config_t *xaxis_config, long xaxis_mask,
                                shmem_team_t *xaxis_team, const shmem_team_config_t *yaxis_config, long yaxis_mask,
                                shmem_team_t *yaxis_team)
{
    struct sym_split x = {(const struct sym_team_config *)xaxis_config, xaxis_mask, (sym_team_id *)xaxis_team};
    struct sym_split y = {(const struct sym_team_config *)yaxis_config, yaxis_mask, (sym_team_id *)yaxis_team};
    return godwit_sym_team_split_2d("shmemx_team_split_2d", (sym_team_id)parent_team, xrange, x, y);
}
SHMEMX void shmemx_team_split_color(shmem_team_t parent_team, int color, int key, shmem_team_t *new_team)
{
    godwit_sym_team_split_color("shmemx_team_split_color", (sym_team_id)parent_team, color, key, (sym_team_id *)new_team);
}

/* The team along each axis of a grid; PEs beyond its end are in none. */
static void grid_split(const char *call, shmem_team_t parent, const int range[3], shmem_team_t *const teams[3])
{
    static const char *const names[] = {"xrange", "yrange", "zrange"};
    int pe = godwit_sym_team_pe(call, (sym_team_id)parent), n = godwit_sym_team_pes(call, (sym_team_id)parent);
    int64_t all = 1;
    for (int i = 0; i < 3; i++) {
        if (range[i] < 1 || (n > 0 && all * range[i] > n))
            godwit_sym_wrong(call, names[i], range[i], "1 or more, and the grid no larger than the parent team");
        all *= range[i];
    }
    for (int i = 0, below = 1; i < 3; below *= range[i++]) {
        int color = pe >= all ? SHMEM_COLOR_UNDEFINED : pe / (below * range[i]) * below + pe % below; /* the same along the axis */
        godwit_sym_team_split_color(call, (sym_team_id)parent, color, pe, (sym_team_id *)teams[i]);
    }
}
SHMEMX void shmemx_team_split_2d_short(shmem_team_t parent_team, int xrange, int yrange, shmem_team_t *xaxis_team,
                                       shmem_team_t *yaxis_team)
{
    shmem_team_t none;
    grid_split("shmemx_team_split_2d", parent_team, (int[]){xrange, yrange, 1}, (shmem_team_t *[]){xaxis_team, yaxis_team, &none});
    godwit_sym_team_destroy("shmemx_team_split_2d", (sym_team_id)none);
}
SHMEMX void shmemx_team_split_3d(shmem_team_t parent_team, int xrange, int yrange, int zrange, shmem_team_t *xaxis_team,
                                 shmem_team_t *yaxis_team, shmem_team_t *zaxis_team)
{
    grid_split("shmemx_team_split_3d", parent_team, (int[]){xrange, yrange, zrange},
               (shmem_team_t *[]){xaxis_team, yaxis_team, zaxis_team});
}

/* ---- collectives ----  A pSync is not needed. */
SHMEMX int shmemx_team_sync(shmem_team_t team) { return godwit_sym_sync("shmemx_team_sync", (sym_team_id)team); }
SHMEMX void shmemx_team_barrier(shmem_team_t team, ...) { face_barrier_set("shmemx_team_barrier", (sym_team_id)team); }
SHMEMX void shmemx_team_alltoallv(void *target, size_t *t_offsets, size_t *t_sizes, const void *source, size_t *s_offsets,
                                  size_t *s_sizes, shmem_team_t team, long *pSync)
{
    (void)pSync;
    face_alltoallv("shmemx_team_alltoallv", (sym_team_id)team, target, t_offsets, t_sizes, source, s_offsets, s_sizes);
}
SHMEMX void shmemx_team_alltoallv_packed(void *target, size_t target_len, size_t *t_size, const void *source, size_t *s_offsets,
                                         size_t *s_sizes, shmem_team_t team, long *pSync)
{
    (void)pSync;
    face_alltoallv_packed("shmemx_team_alltoallv_packed", (sym_team_id)team, target, target_len, t_size, source, s_offsets,
                          s_sizes);
}
