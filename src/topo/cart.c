/* cart.c -- Cartesian topologies.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "topo/topo_private.h"

#include <stdlib.h>

#include "coll/coll.h"
#include "world/world.h"

/* ---- grids as numbers ---- */
static int grid_rank(int ndims, const int *dims, const int *coords)
{
    int rank = 0;
    for (int i = 0; i < ndims; i++) rank = rank * dims[i] + coords[i];
    return rank;
}

static void grid_coords(int ndims, const int *dims, int rank, int *coords)
{
    for (int i = ndims - 1; i >= 0; i--) {
        coords[i] = rank % dims[i];
        rank /= dims[i];
    }
}

/* The rank `by` steps along dimension `direction` from coords, or GW_PROC_NULL beyond the border. */
static int grid_step(const struct gw_topo *t, const int *coords, int direction, int64_t by)
{
    int stride = 1, size = t->cart.dims[direction], here = coords[direction];
    for (int i = direction + 1; i < t->cart.ndims; i++) stride *= t->cart.dims[i];
    int64_t there = here + by;
    if (t->cart.periods[direction])
        there = (there % size + size) % size;
    else if (there < 0 || there >= size)
        return GW_PROC_NULL;
    return grid_rank(t->cart.ndims, t->cart.dims, coords) + ((int)there - here) * stride;
}

/* The number of processes of the grid; an error if c has fewer. */
static int grid_size(const struct gw_comm *c, int ndims, const int *dims, int *n_out)
{
    int64_t n = 1;
    int rc = topo_intra(c);
    if (rc != GW_OK) return rc;
    if (ndims < 0) return gw_fail(GW_EDIMS, "ndims is %d; it must not be negative", ndims);
    for (int i = 0; i < ndims; i++) {
        if (dims[i] < 1) return gw_fail(GW_EDIMS, "dims[%d] is %d; every dimension needs at least 1 process", i, dims[i]);
        if (n <= c->size) n *= dims[i];
    }
    if (n > c->size)
        return gw_fail(GW_EDIMS, "the grid has %lld processes or more, the communicator only %d; choose smaller dims", (long long)n,
                       c->size);
    *n_out = (int)n;
    return GW_OK;
}

/* ---- making ---- */
static struct gw_topo *cart_new(int ndims, const int *dims, const int *periods, int rank, int size)
{
    int *ints;
    struct gw_topo *t = topo_new(GW_CART, 21 * (int64_t)ndims, &ints);
    if (!t) return NULL;
    t->cart.ndims = ndims;
    t->cart.dims = topo_take(&ints, ndims, dims);
    t->cart.periods = topo_take(&ints, ndims, NULL);
    for (int i = 0; i < ndims; i++) t->cart.periods[i] = periods[i] != 0;
    t->cart.coords = topo_take(&ints, ndims, NULL);
    grid_coords(ndims, dims, rank, t->cart.coords);
    t->nin = t->nout = 2 * ndims;
    t->in = t->out = topo_take(&ints, 2 * ndims, NULL);
    for (int i = 0; i < 2 * ndims; i++) t->in[i] = grid_step(t, t->cart.coords, i / 2, i % 2 ? 1 : -1);
    return topo_finish(t, rank, size, &ints);
}

/* Attaches the grid to the new communicator, if this process is in it. */
static int cart_finish(struct gw_comm *new, int ndims, const int *dims, const int *periods, struct gw_comm **comm_out)
{
    if (new && !(new->topo = cart_new(ndims, dims, periods, new->rank, new->size))) {
        comm_release(new);
        return GW_ENOMEM;
    }
    *comm_out = new;
    return GW_OK;
}

/* All edges of a grid, each from the lower coordinate up. */
static int grid_edges(int ndims, const int *dims, const int *periods, int n, struct topo_edges *e)
{
    size_t most = (size_t)ndims * (size_t)n;
    e->from = malloc(2 * sizeof(int) * (most + 1));
    if (!e->from) return gw_fail(GW_ENOMEM, "no memory for the edges of %d processes", n);
    e->to = e->from + most;
    for (int v = 0; v < n; v++) {
        for (int d = 0, stride = n; d < ndims; d++) {
            stride /= dims[d];
            int at = v / stride % dims[d], next = at + 1 < dims[d] ? at + 1 : 0;
            if (next == 0 && !periods[d]) continue;
            e->from[e->n] = v;
            e->to[e->n++] = v + (next - at) * stride;
        }
    }
    return GW_OK;
}

static int cart_reorder(struct gw_comm *c, int ndims, const int *dims, const int *periods, int n, struct topo_reorder *r)
{
    int rc = topo_reorder_begin(c, r);
    if (rc != GW_OK || !r->useful) return rc;
    struct topo_edges e = {0};
    if (c->rank == 0) rc = grid_edges(ndims, dims, periods, n, &e);
    if (rc == GW_OK) rc = topo_reorder_end(c, r, n, &e, &(struct map_grid){ndims, dims});
    free(e.from);
    return rc;
}

int topo_cart_create(struct gw_comm *c, int ndims, const int *dims, const int *periods, int reorder, struct gw_comm **comm_out)
{
    int n;
    struct topo_reorder r = {0};
    struct gw_comm *new = NULL;
    int rc = grid_size(c, ndims, dims, &n);
    if (rc != GW_OK) return rc;
    coll_call_begin(c);
    if (reorder && n > 1) rc = cart_reorder(c, ndims, dims, periods, n, &r);
    if (rc == GW_OK) rc = topo_make_comm(c, n, r.order, &new);
    coll_call_end(c);
    topo_reorder_free(&r);
    return rc == GW_OK ? cart_finish(new, ndims, dims, periods, comm_out) : rc;
}

int topo_cart_map(struct gw_comm *c, int ndims, const int *dims, const int *periods, int *rank_out)
{
    (void)periods;
    int n, rc = grid_size(c, ndims, dims, &n);
    if (rc == GW_OK) *rank_out = c->rank < n ? c->rank : GW_UNDEFINED;
    return rc;
}

int topo_cart_sub(struct gw_comm *c, const int *remain, struct gw_comm **comm_out)
{
    int rc = topo_want(c, GW_CART);
    if (rc != GW_OK) return rc;
    const struct gw_topo *t = c->topo;
    int ndims = t->cart.ndims, kept = 0, color = 0, key = 0;
    if (ndims > 0 && !remain) return gw_fail(GW_EARG, "remain_dims is NULL; the topology has %d dimensions", ndims);
    int *dims = malloc(sizeof *dims * 2 * (size_t)(ndims + 1)), *periods = dims + ndims + 1;
    if (!dims) return gw_fail(GW_ENOMEM, "no memory for %d dimensions", ndims);
    for (int i = 0; i < ndims; i++) {
        if (remain[i]) {
            dims[kept] = t->cart.dims[i];
            periods[kept++] = t->cart.periods[i];
            key = key * t->cart.dims[i] + t->cart.coords[i];
        } else {
            color = color * t->cart.dims[i] + t->cart.coords[i];
        }
    }
    struct gw_comm *new = NULL;
    rc = world_comm_split(c, color, key, &new);
    if (rc == GW_OK) rc = cart_finish(new, kept, dims, periods, comm_out);
    free(dims);
    return rc;
}

/* ---- looking up ---- */
int topo_cartdim_get(struct gw_comm *c, int *ndims_out)
{
    int rc = topo_want(c, GW_CART);
    if (rc == GW_OK) *ndims_out = c->topo->cart.ndims;
    return rc;
}

static int check_maxdims(const struct gw_topo *t, int maxdims)
{
    if (maxdims >= t->cart.ndims) return GW_OK;
    return gw_fail(GW_EARG, "maxdims is %d, but the topology has %d dimensions (see MPI_Cartdim_get)", maxdims, t->cart.ndims);
}

int topo_cart_get(struct gw_comm *c, int maxdims, int *dims_out, int *periods_out, int *coords_out)
{
    int rc = topo_want(c, GW_CART);
    if (rc == GW_OK) rc = check_maxdims(c->topo, maxdims);
    if (rc != GW_OK) return rc;
    const struct gw_topo *t = c->topo;
    for (int i = 0; i < t->cart.ndims; i++) {
        dims_out[i] = t->cart.dims[i];
        periods_out[i] = t->cart.periods[i];
        coords_out[i] = t->cart.coords[i];
    }
    return GW_OK;
}

int topo_cart_rank(struct gw_comm *c, const int *coords, int *rank_out)
{
    int rc = topo_want(c, GW_CART);
    if (rc != GW_OK) return rc;
    const struct gw_topo *t = c->topo;
    if (t->cart.ndims > 0 && !coords) return gw_fail(GW_EARG, "coords is NULL; the topology has %d dimensions", t->cart.ndims);
    int rank = 0;
    for (int i = 0; i < t->cart.ndims; i++) {
        int size = t->cart.dims[i], at = coords[i];
        if (t->cart.periods[i])
            at = (at % size + size) % size;
        else if (at < 0 || at >= size)
            return gw_fail(GW_EARG, "coords[%d] is %d, but this dimension is not periodic and goes from 0 to %d", i, at, size - 1);
        rank = rank * size + at;
    }
    *rank_out = rank;
    return GW_OK;
}

int topo_cart_coords(struct gw_comm *c, int rank, int maxdims, int *coords_out)
{
    int rc = topo_want(c, GW_CART);
    if (rc != GW_OK) return rc;
    if (rank < 0 || rank >= c->size) return gw_fail(GW_ERANK, "rank is %d; the communicator has ranks 0 to %d", rank, c->size - 1);
    rc = check_maxdims(c->topo, maxdims);
    if (rc == GW_OK) grid_coords(c->topo->cart.ndims, c->topo->cart.dims, rank, coords_out);
    return rc;
}

int topo_cart_shift(struct gw_comm *c, int direction, int disp, int *source_out, int *dest_out)
{
    int rc = topo_want(c, GW_CART);
    if (rc != GW_OK) return rc;
    const struct gw_topo *t = c->topo;
    if (direction < 0 || direction >= t->cart.ndims)
        return gw_fail(GW_EDIMS, "direction is %d; the topology has %d dimensions, counted from 0", direction, t->cart.ndims);
    *source_out = grid_step(t, t->cart.coords, direction, -(int64_t)disp);
    *dest_out = grid_step(t, t->cart.coords, direction, disp);
    return GW_OK;
}
