/* ofi_atomic.c -- atomic operations that the provider does in a peer's exposed memory.
 *
 * Operand, value to compare with and old values stand in a send buffer of the lane while the operation is under way: that is registered
 * where the provider wants it, and bounds how many are.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_ofi/ofi_private.h"

enum { MOST_BYTES = 256 };

struct atomic { /* at the payload of a send buffer */
    struct gw_done *done;
    void *old; /* the caller's; NULL: not wanted */
    size_t bytes;
    char operand[MOST_BYTES] GW_ALIGNED(16), compare[MOST_BYTES], result[MOST_BYTES];
};

static const struct {
    enum fi_datatype type;
    uint8_t bytes; /* 0: not done */
} types[GW_ELEM_COUNT] = {
    [GW_ELEM_I32] = {FI_INT32, 4},  [GW_ELEM_U32] = {FI_UINT32, 4}, [GW_ELEM_I64] = {FI_INT64, 8},
    [GW_ELEM_U64] = {FI_UINT64, 8}, [GW_ELEM_F32] = {FI_FLOAT, 4},  [GW_ELEM_F64] = {FI_DOUBLE, 8},
};
static const enum fi_op ops[WIRE_ATOMIC_OPS] = {
    [WIRE_ATOMIC_SUM] = FI_SUM,
    [WIRE_ATOMIC_MIN] = FI_MIN,
    [WIRE_ATOMIC_MAX] = FI_MAX,
    [WIRE_ATOMIC_BAND] = FI_BAND,
    [WIRE_ATOMIC_BOR] = FI_BOR,
    [WIRE_ATOMIC_BXOR] = FI_BXOR,
    [WIRE_ATOMIC_WRITE] = FI_ATOMIC_WRITE,
    [WIRE_ATOMIC_READ] = FI_ATOMIC_READ,
    [WIRE_ATOMIC_CSWAP] = FI_CSWAP,
};

/* Aligned: send buffers are, but their payload need not be. */
static struct atomic *atomic_of(struct ofi_send *s) { return (struct atomic *)gw_align_up((uintptr_t)s->payload, 16); }

uint32_t ofi_atomic_most(struct wire *w, enum gw_elem elem, enum wire_atomic_op op)
{
    size_t n = 0, all = SIZE_MAX;
    assert(op < WIRE_ATOMIC_OPS);
    bool may =
        types[elem].bytes && w->is_open && w->has_rma && w->info->caps & FI_ATOMIC && w->pack_max >= sizeof(struct atomic) + 16;
    if (!may) return 0;
    bool is_swap = op == WIRE_ATOMIC_CSWAP, is_read = op == WIRE_ATOMIC_READ; /* these have the old values in any case */
    enum fi_datatype type = types[elem].type;
    if ((is_swap ? fi_compare_atomicvalid : fi_fetch_atomicvalid)(w->ep, type, ops[op], &all)) return 0;
    if (!is_swap && !is_read) {
        if (fi_atomicvalid(w->ep, type, ops[op], &n)) return 0;
        if (n < all) all = n;
    }
    size_t room = MOST_BYTES / types[elem].bytes;
    return (uint32_t)(all < room ? all : room);
}

void ofi_atomic_done(struct wire *w, struct ofi_op *op, const struct fi_cq_tagged_entry *e, int err)
{
    struct ofi_send *s = container_of(op, struct ofi_send, op);
    struct atomic *a = atomic_of(s);
    struct gw_done *done = a->done;
    (void)e;
    w->under_way--;
    assert(w->under_way >= 0);
    if (!err && a->old) memcpy(a->old, a->result, a->bytes);
    if (unlikely(s->ep->doubted_ns) && !err) ofi_reach_end(s->ep);
    int rc = err ? ofi_fail(s->ep, "an atomic operation", err) : GW_OK;
    s->op.fn = ofi_send_done;
    ofi_send_back(w, s);
    done->fn(done, rc);
}

static ssize_t post(struct ofi_ep *ep, struct ofi_send *s, const struct wire_atomic *what)
{
    struct wire *w = ep->w;
    struct atomic *a = atomic_of(s);
    void *desc = w->send_mr ? fi_mr_desc(w->send_mr) : NULL;
    struct fi_ioc in = {a->operand, what->n}, compare = {a->compare, what->n}, out = {a->result, what->n};
    struct fi_rma_ioc there = {ofi_provider_addr(w, what->key, what->at), what->n, ofi_provider_key(ep, what->key)};
    struct fi_msg_atomic m = {.msg_iov = &in,
                              .desc = &desc,
                              .iov_count = 1,
                              .addr = ep->addr,
                              .rma_iov = &there,
                              .rma_iov_count = 1,
                              .datatype = types[what->elem].type,
                              .op = ops[what->op],
                              .context = &s->op.context};
    if (what->op == WIRE_ATOMIC_CSWAP) return fi_compare_atomicmsg(w->ep, &m, &compare, &desc, 1, &out, &desc, 1, FI_COMPLETION);
    if (what->old) return fi_fetch_atomicmsg(w->ep, &m, &out, &desc, 1, FI_COMPLETION);
    return fi_atomicmsg(w->ep, &m, FI_COMPLETION | FI_DELIVERY_COMPLETE); /* as of a put (ofi_rma.c) */
}

int ofi_atomic(struct wire_ep *base, const struct wire_atomic *what, struct gw_done *done)
{
    struct ofi_ep *ep = (struct ofi_ep *)base;
    struct wire *w = ep->w;
    assert(what->key && what->n > 0 && types[what->elem].bytes && what->at % types[what->elem].bytes == 0);
    assert(what->old || (what->op != WIRE_ATOMIC_READ && what->op != WIRE_ATOMIC_CSWAP));
    struct ofi_send *s = ofi_send_take(w);
    if (!s) return GW_AGAIN;
    struct atomic *a = atomic_of(s);
    size_t bytes = what->n * (size_t)types[what->elem].bytes;
    assert(bytes <= MOST_BYTES);
    a->done = done;
    a->old = what->old;
    a->bytes = bytes;
    if (what->op != WIRE_ATOMIC_READ) memcpy(a->operand, what->operand, bytes);
    if (what->op == WIRE_ATOMIC_CSWAP) memcpy(a->compare, what->compare, bytes);
    s->ep = ep;
    s->op.fn = ofi_atomic_done;
    ssize_t rc = post(ep, s, what);
    if (rc == 0) return w->under_way++, GW_POSTED;
    s->op.fn = ofi_send_done;
    ofi_send_back(w, s);
    return rc == -FI_EAGAIN ? GW_AGAIN : ofi_fail(ep, "an atomic operation", (int)-rc);
}
