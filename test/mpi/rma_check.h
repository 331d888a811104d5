/* rma_check.h -- what the tests of one-sided communication share: windows of every kind over the same layout.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TEST_RMA_CHECK_H
#define GW_TEST_RMA_CHECK_H

#include "nodes_check.h"

#ifndef WINDOW_COMM /* whose rank and size are `rank` and `size` */
#define WINDOW_COMM MPI_COMM_WORLD
#endif
enum { KINDS = 6, ALLOCATED = 5, SHIFT = 4992 };
static const char *const kind_names[KINDS] = {
    "create", "allocate", "allocate_shared", "alloc_shared_noncontig", "dynamic", "create over MPI_Alloc_mem"};

struct window {
    int kind;
    MPI_Win win;
    char *base;   /* my part */
    MPI_Aint *at; /* [size] what displacement 0 of each rank is: 0, or its address in a dynamic window */
    void *own;
};

/* unit: the displacement unit (a dynamic window's is 1).  Between nodes there is no shared memory: MPI_Win_allocate's is tested. */
static inline void window_make_with(struct window *w, int kind, MPI_Aint bytes, int unit, MPI_Info info)
{
    if ((kind == 2 || kind == 3) && !is_one_node(WINDOW_COMM)) kind = 1;
    *w = (struct window){.kind = kind, .at = calloc((size_t)size, sizeof(MPI_Aint))};
    if (kind == 3) MPI_Info_set(info, "alloc_shared_noncontig", "true");
    if (kind == 0 || kind == 4) w->own = malloc((size_t)bytes + 1);
    if (kind == ALLOCATED) MPI_Alloc_mem(bytes + SHIFT, MPI_INFO_NULL, &w->own);
    if (kind == 0 || kind == ALLOCATED) {
        w->base = kind == 0 ? w->own : (char *)w->own + SHIFT; /* a part of it */
        MPI_Win_create(w->base, bytes, unit, info, WINDOW_COMM, &w->win);
    } else if (kind == 1) {
        MPI_Win_allocate(bytes, unit, info, WINDOW_COMM, &w->base, &w->win);
    } else if (kind == 4) {
        MPI_Aint mine;
        w->base = w->own;
        MPI_Win_create_dynamic(info, WINDOW_COMM, &w->win);
        MPI_Win_attach(w->win, w->base, bytes);
        MPI_Get_address(w->base, &mine);
        MPI_Allgather(&mine, 1, MPI_AINT, w->at, 1, MPI_AINT, WINDOW_COMM);
    } else {
        MPI_Win_allocate_shared(bytes, unit, info, WINDOW_COMM, &w->base, &w->win);
    }
}
static inline void window_make(struct window *w, int kind, MPI_Aint bytes)
{
    MPI_Info info;
    MPI_Info_create(&info);
    window_make_with(w, kind, bytes, 1, info);
    MPI_Info_free(&info);
}

static inline void window_free(struct window *w)
{
    if (w->kind == 4) {
        MPI_Barrier(WINDOW_COMM);
        MPI_Win_detach(w->win, w->base);
    }
    MPI_Win_free(&w->win);
    CHECK(w->win == MPI_WIN_NULL);
    if (w->kind == ALLOCATED)
        MPI_Free_mem(w->own);
    else
        free(w->own);
    free(w->at);
}

#endif
