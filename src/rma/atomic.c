/* atomic.c -- accumulates, fetch-and-ops and compare-and-swaps that the network does in the target's memory (GODWIT_RMA_NETWORK_ATOMICS).
 *
 * What a network does is atomic towards itself, not towards processors.  So a window has such operations only if each rank has a node of
 * its own, and then those of a rank on its own part are the network's, too.  A type is the network's in a window if the networks of all
 * ranks do every usual operation on it: SUM, MIN, MAX, BAND, BOR, BXOR (the last three on integers), REPLACE, NO_OP, and
 * compare-and-swap of integers.  Other operations (PROD, the logical ones) are done by ranks as always; MPI has no atomicity between
 * those and others but MPI_NO_OP (12.3.4, accumulate_ops), and a load of an aligned item is atomic.
 *
 * An access with an item that lies at no multiple of its size is done by ranks, whole.
 *
 * Order: operations of one rank on one item are done in the order of the calls.  Networks promise no order, so that an operation is started
 * when those before it at the same target are complete.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "rma/rma_private.h"

#include <stdlib.h>
#include <sys/uio.h>

#include "coll/coll.h"
#include "wire/wire.h"

enum { ELEMENTS = 6, RUNS = 64 };
static const uint8_t elements[ELEMENTS] = {GW_ELEM_I32, GW_ELEM_U32, GW_ELEM_I64, GW_ELEM_U64, GW_ELEM_F32, GW_ELEM_F64};
static bool is_integer(int elem) { return elem != GW_ELEM_F32 && elem != GW_ELEM_F64; }

/* WIRE_ATOMIC_OPS: none. */
static enum wire_atomic_op op_of(uint32_t op)
{
    switch (op) {
    case GW_H_SUM: return WIRE_ATOMIC_SUM;
    case GW_H_MIN: return WIRE_ATOMIC_MIN;
    case GW_H_MAX: return WIRE_ATOMIC_MAX;
    case GW_H_BAND: return WIRE_ATOMIC_BAND;
    case GW_H_BOR: return WIRE_ATOMIC_BOR;
    case GW_H_BXOR: return WIRE_ATOMIC_BXOR;
    case GW_H_REPLACE: return WIRE_ATOMIC_WRITE;
    case GW_H_NO_OP: return WIRE_ATOMIC_READ;
    default: return WIRE_ATOMIC_OPS;
    }
}

/* Asks the wire for all operations on a type; false, and all 0: it lacks one. */
static bool element_open(const struct lane_wire *net, int elem, uint32_t most[WIRE_ATOMIC_OPS])
{
    bool has_all = true;
    for (int op = 0; op < WIRE_ATOMIC_OPS; op++) {
        bool is_wanted = is_integer(elem) ||
            (op != WIRE_ATOMIC_BAND && op != WIRE_ATOMIC_BOR && op != WIRE_ATOMIC_BXOR && op != WIRE_ATOMIC_CSWAP);
        most[op] = is_wanted ? net->ops->copy.atomic_most(net->wire, (enum gw_elem)elem, (enum wire_atomic_op)op) : 0;
        has_all = has_all && (most[op] > 0 || !is_wanted);
    }
    if (!has_all) memset(most, 0, WIRE_ATOMIC_OPS * sizeof *most);
    return has_all;
}

/* The network's endpoint to this rank itself: it has none in its table of peers, as it reaches itself by memory. */
static int self_connect(struct rma_win *w)
{
    struct gw_lane *lane = w->comm->lane;
    int number = group_world(w->comm->group, w->comm->rank), rc;
    do {
        gw_lock(&lane->lock);
        rc = w->net->ops->connect(w->net->wire, number, &w->atomics->self);
        gw_unlock(&lane->lock);
        if (rc == GW_AGAIN) req_progress();
    } while (rc == GW_AGAIN);
    return rc;
}

/* mine[i]: can this rank have elements[i] done?  Zeros before. */
static void elements_open(struct rma_win *w, int mine[ELEMENTS])
{
    struct gw_lane *lane = w->comm->lane;
    if (!w->net || !w->net->ops->copy.atomic || w->here->size > 1) return;
    for (int i = 0; i < w->comm->size; i++)
        if (w->targets[i].size > 0 && !w->targets[i].key) return;
    gw_lock(&lane->lock);
    for (int i = 0; i < ELEMENTS; i++) mine[i] = element_open(w->net, elements[i], w->atomics->most[elements[i]]);
    gw_unlock(&lane->lock);
}

int rma_atomics_open(struct rma_win *w)
{
    assert(!w->atomics);
    w->atomics = calloc(1, sizeof *w->atomics);
    int mine[ELEMENTS] = {0}, all[ELEMENTS] = {0};
    bool has_any = false;
    int rc = rma_agree(w->comm, w->atomics ? GW_OK : gw_fail(GW_ENOMEM, "no memory for a window"));
    if (rc == GW_OK) {
        elements_open(w, mine);
        rc = coll_allreduce(mine, all, ELEMENTS, gw_type_int, gw_op_min, w->comm, NULL);
    }
    for (int i = 0; rc == GW_OK && i < ELEMENTS; i++) {
        if (!all[i]) memset(w->atomics->most[elements[i]], 0, sizeof w->atomics->most[0]);
        has_any = has_any || all[i];
    }
    if (rc == GW_OK && has_any) rc = rma_agree(w->comm, self_connect(w));
    if (rc == GW_OK && has_any)
        w->near[w->comm->rank].size = 0; /* no inlined accumulates: the network does those of this rank on itself */
    else
        rma_atomics_close(w);
    return rc;
}

void rma_atomics_close(struct rma_win *w)
{
    free(w->atomics);
    w->atomics = NULL;
}

/* Do all items of (count, t) at `at` lie at multiples of `bytes`? */
static bool is_aligned(uint64_t at, int64_t count, struct gw_type *t, int64_t bytes)
{
    struct type_cursor c;
    struct iovec runs[RUNS];
    int64_t got;
    bool is = true;
    type_cursor_init(&c, gw_data_host((void *)(uintptr_t)at, count, t)); /* addresses there: they are computed, never followed */
    for (int n; is && (n = type_cursor_iov(&c, runs, RUNS, INT64_MAX, &got)) > 0;)
        for (int i = 0; i < n; i++) is = is && ((uintptr_t)runs[i].iov_base | runs[i].iov_len) % (uint64_t)bytes == 0;
    return is;
}

static bool is_by_wire(const struct rma_win *w, uint32_t op, uint64_t at, int64_t count, struct gw_type *t)
{
    enum wire_atomic_op how = op == RMA_CSWAP ? WIRE_ATOMIC_CSWAP : op_of(op);
    if (how == WIRE_ATOMIC_OPS || t->basic == GW_ELEM_NONE || !w->atomics->most[t->basic][how]) return false;
    return is_aligned(at, count, t, type_of_basic(t->basic)->size);
}

static bool has_none(void *arg) { return atomic_load_explicit(&((struct rma_target *)arg)->n_atomics, memory_order_acquire) == 0; }

int rma_atomic_turn(struct rma_win *w, int target, uint32_t op, uint64_t at, int64_t count, struct gw_type *type,
                    bool *is_by_wire_out)
{
    struct rma_target *t = &w->targets[target];
    bool has_sent = atomic_load_explicit(&t->sent, memory_order_relaxed) != atomic_load_explicit(&t->known, memory_order_relaxed);
    *is_by_wire_out = is_by_wire(w, op, at, count, type);
    if (!has_none(t)) req_block_until(w->comm->lane, has_none, t);
    return *is_by_wire_out && has_sent ? rma_deferred_flush(w, target) : GW_OK;
}

int rma_atomic_update(struct rma_win *w, int target, struct gw_op *op, uint64_t at, int64_t count, struct gw_type *t,
                      const char *packed, struct rma_packed old)
{
    struct type_cursor c;
    struct iovec runs[RUNS];
    struct wire_atomic a = {.op = op_of(op->obj.id), .elem = (enum gw_elem)t->basic, .key = w->targets[target].key};
    int64_t size = type_of_basic(t->basic)->size, total = count * t->size, most = w->atomics->most[a.elem][a.op] * size, got;
    int rc = GW_OK;
    type_cursor_init(&c, gw_data_host((void *)(uintptr_t)at, count, t)); /* addresses there: they are computed, never followed */
    for (int64_t done = 0; done < total && rc == GW_OK;) {
        int n = type_cursor_iov(&c, runs, RUNS, total - done, &got);
        for (int i = 0; i < n && rc == GW_OK; i++)
            for (int64_t from = 0, bytes; from < (int64_t)runs[i].iov_len && rc == GW_OK; from += bytes, done += bytes) {
                bytes = gw_min64(most, (int64_t)runs[i].iov_len - from);
                a.n = (uint32_t)(bytes / size);
                a.at = (uint64_t)(uintptr_t)runs[i].iov_base + (uint64_t)from;
                a.operand = packed ? packed + done : NULL;
                a.old = old.at ? old.at + done : NULL;
                rc = rma_deferred_atomic(w, target, &a, old.counter);
            }
    }
    return rc;
}

int rma_atomic_swap(struct rma_win *w, int target, uint64_t at, const void *new, const void *compare, void *old, struct gw_type *t)
{
    struct wire_atomic a = {.op = WIRE_ATOMIC_CSWAP,
                            .elem = (enum gw_elem)t->basic,
                            .n = 1,
                            .at = at,
                            .key = w->targets[target].key,
                            .operand = new,
                            .compare = compare,
                            .old = old};
    return rma_deferred_atomic(w, target, &a, NULL);
}
