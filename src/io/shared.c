/* shared.c -- the shared file pointer: a counter of etypes in the memory that the ranks of a node share.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "io/io_private.h"

#include "coll/coll.h"
#include "node/node.h"

static _Atomic int64_t *pointer(const struct gw_file *f)
{
    return node_ptr(f->shared);
}

int io_shared_make(struct gw_file *f, int64_t at)
{
    uint64_t off = 0;
    if (!f->comm->one_node) return GW_OK; /* io_shared_check() says so where somebody uses it */
    if (f->comm->rank == 0) {
        off = node_heap_alloc(sizeof(int64_t));
        if (off) atomic_store((_Atomic int64_t *)node_ptr(off), at);
    }
    int rc = f->comm->size > 1 ? coll_bcast(&off, 1, gw_type_int64, 0, f->comm, NULL) : GW_OK;
    f->shared = off;
    node_heap_join();
    if (rc == GW_OK && !off)
        rc = gw_fail(GW_ENOMEM, "the shared heap of the node is full (GODWIT_HEAP): no room for a shared file pointer");
    return rc;
}

void io_shared_free(struct gw_file *f)
{
    if (f->shared) node_heap_leave(f->shared, f->comm->size);
    f->shared = 0;
}

int io_shared_check(const struct gw_file *f)
{
    if (f->shared) return GW_OK;
    return gw_fail(GW_EUNSUPPORTED, "%s was opened by ranks of several nodes: it has no shared file pointer", f->name);
}

void io_shared_set(struct gw_file *f, int64_t at)
{
    if (f->shared) atomic_store(pointer(f), at);
}
int64_t io_shared_get(const struct gw_file *f)
{
    return f->shared ? atomic_load(pointer(f)) : 0;
}
int64_t io_shared_take(struct gw_file *f, int64_t etypes)
{
    return atomic_fetch_add(pointer(f), etypes);
}

int io_shared_order(struct gw_file *f, int64_t etypes, int64_t *at_out)
{
    int64_t end = etypes, from = 0;
    struct gw_comm *c = f->comm;
    int rc = c->size > 1 ? coll_scan(&etypes, &end, 1, gw_type_int64, gw_op_sum, c, NULL) : GW_OK;
    if (rc == GW_OK && c->rank == c->size - 1) from = io_shared_take(f, end);
    if (rc == GW_OK && c->size > 1) rc = coll_bcast(&from, 1, gw_type_int64, c->size - 1, c, NULL);
    *at_out = from + end - etypes;
    return rc;
}

int io_seek_shared(struct gw_file *f, int64_t offset, int whence)
{
    int64_t to = 0;
    int rc = io_same(f, io_shared_check(f), offset, "offset");
    if (rc == GW_OK) rc = io_same(f, GW_OK, whence, "whence");
    if (rc != GW_OK) return rc;
    if (f->comm->rank == 0) { /* all have come: nobody moves it meanwhile */
        rc = io_seek_place(f, offset, whence, io_shared_get(f), &to);
        if (rc == GW_OK) io_shared_set(f, to);
    }
    return io_agree(f, rc); /* nobody goes on before it is there */
}

int io_get_position_shared(struct gw_file *f, int64_t *offset_out)
{
    int rc = io_shared_check(f);
    if (rc == GW_OK) *offset_out = io_shared_get(f);
    return rc;
}
