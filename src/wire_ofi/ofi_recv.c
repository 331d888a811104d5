/* ofi_recv.c -- what arrives, and progress: the completion queue is emptied, each entry goes to the operation that it is of.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_ofi/ofi_private.h"

#include <stdlib.h>

enum {
    MULTI_BUFS = 4,
    MULTI_BYTES = 512 << 10, /* where a buffer takes one message after the other */
    SINGLE_BUFS = 64,
    READS_A_ROUND = 16, /* so that progress comes to an end where messages come faster than they are read */
};

static int recv_post(struct wire *w, struct ofi_recv *r)
{
    bool is_multi = w->info->caps & FI_MULTI_RECV;
    struct iovec iov = {r->buf, w->recv_bytes};
    void *desc = w->recv_mr ? fi_mr_desc(w->recv_mr) : NULL;
    struct fi_msg m = {
        .msg_iov = &iov, .desc = &desc, .iov_count = 1, .addr = FI_ADDR_UNSPEC, .context = &r->op.context};
    ssize_t rc = fi_recvmsg(w->ep, &m, is_multi ? FI_MULTI_RECV : 0);
    if (r->is_posted != (rc == 0)) w->n_unposted += rc == 0 ? -1 : 1;
    r->is_posted = rc == 0;
    if (rc == 0 || rc == -FI_EAGAIN) return GW_OK; /* progress tries again */
    return gw_fail(GW_EOTHER, "a receive buffer for the network was refused by provider %s: %s", ofi_provider_name(w),
                   ofi_lib.strerror((int)-rc));
}

static void unpost(struct wire *w, struct ofi_recv *r)
{
    r->is_posted = r->is_released = false;
    r->got = r->end = r->last_end = 0;
    w->n_unposted++;
}

static void messages_arrived(struct wire *w, const char *at, size_t bytes)
{
    struct ofi_head h;
    for (size_t total; bytes > 0; at += total, bytes -= total) {
        if (unlikely(bytes < sizeof h))
            gw_die("a message of %zu bytes came over the network: not from a rank of this job", bytes);
        memcpy(&h, at, sizeof h);
        total = ofi_total(h.len);
        if (unlikely(total > bytes))
            gw_die("a message of %zu bytes came over the network that says it has %u: not from a rank of this job", bytes,
                   (unsigned)h.len);
        w->recv(w->ctx, w->lane, h.kind, h.hdr, at + sizeof h, h.len);
    }
}

/* A buffer for many messages comes back with the last one that fits.  Provider net says so although messages of other senders are still
 * on their way into it (1.17): so it is used again when no byte up to its end is missing.  Where messages do not lie end to end, the
 * provider is taken at its word. */
static bool is_whole(struct wire *w, struct ofi_recv *r, const struct fi_cq_tagged_entry *e)
{
    size_t at = e->len ? (size_t)((char *)e->buf - r->buf) : r->end;
    if (at > r->last_end && at - r->last_end < sizeof(struct ofi_head)) w->has_gaps = true;
    r->last_end = at + e->len;
    r->got += e->len;
    if (r->last_end > r->end) r->end = r->last_end;
    if (e->flags & FI_MULTI_RECV) r->is_released = true;
    return r->is_released && (r->got == r->end || w->has_gaps);
}

static void recv_done(struct wire *w, struct ofi_op *op, const struct fi_cq_tagged_entry *e, int err)
{
    struct ofi_recv *r = container_of(op, struct ofi_recv, op);
    if (unlikely(err)) {
        unpost(w, r);
        if (w->is_closing || err == FI_ECANCELED) return;
        gw_die("receiving from the network by provider %s failed: %s", ofi_provider_name(w), ofi_lib.strerror(err));
    }
    bool is_multi = w->info->caps & FI_MULTI_RECV;
    messages_arrived(w, is_multi ? e->buf : r->buf, e->len);
    if (is_multi && !is_whole(w, r, e)) return;
    unpost(w, r);
    if (!w->is_closing && recv_post(w, r) != GW_OK) gw_die("%s", gw_fail_text());
}

int ofi_recvs_open(struct wire *w)
{
    bool is_multi = w->info->caps & FI_MULTI_RECV;
    size_t largest = gw_align_up(ofi_total(w->pack_max), GW_CACHELINE);
    w->n_recvs = is_multi ? MULTI_BUFS : SINGLE_BUFS;
    w->recv_bytes = is_multi ? MULTI_BYTES : largest;
    w->n_unposted = w->n_recvs;
    w->recvs = gw_xcalloc((size_t)w->n_recvs, sizeof *w->recvs);
    size_t bytes = (size_t)w->n_recvs * w->recv_bytes;
    w->recv_slab = aligned_alloc(4096, bytes);
    if (!w->recv_slab) return gw_fail(GW_ENOMEM, "no memory for %zu bytes of receive buffers of the network", bytes);
    int rc = ofi_needs(w, FI_MR_LOCAL) ? ofi_register(w, w->recv_slab, bytes, FI_RECV, 0, &w->recv_mr) : GW_OK;
    for (int i = 0; i < w->n_recvs && rc == GW_OK; i++) {
        w->recvs[i].op.fn = recv_done;
        w->recvs[i].buf = w->recv_slab + (size_t)i * w->recv_bytes;
        rc = recv_post(w, &w->recvs[i]);
    }
    return rc;
}

/* Only after a refusal, which is seldom: looks through all. */
static int recvs_again(struct wire *w)
{
    int n = 0;
    for (int i = 0; i < w->n_recvs; i++)
        if (unlikely(!w->recvs[i].is_posted)) {
            if (recv_post(w, &w->recvs[i]) != GW_OK) gw_die("%s", gw_fail_text());
            n += w->recvs[i].is_posted;
        }
    return n;
}

/* One failed operation leaves the queue. */
static GW_COLD int error_read(struct wire *w)
{
    struct fi_cq_err_entry e = {0};
    ssize_t rc = fi_cq_readerr(w->cq, &e, 0);
    if (rc == -FI_EAGAIN) return 0;
    if (rc < 0)
        gw_die("the completion queue of provider %s cannot be read: %s", ofi_provider_name(w),
               ofi_lib.strerror((int)-rc));
    struct ofi_op *op = e.op_context;
    struct fi_cq_tagged_entry at = {op, e.flags, e.len + e.olen, e.buf, e.data, e.tag};
    if (op)
        op->fn(w, op, &at, e.err ? e.err : FI_EOTHER);
    else if (w->is_tagged && e.err == FI_ENOSPC)
        w->recv(w->ctx, w->lane, WIRE_FULL, NULL, NULL, 0);
    return 1;
}

int ofi_progress(struct wire *w)
{
    if (unlikely(w->stream_bytes) && ofi_direct_rests(w)) return 1;
    int n = 0;
    if (unlikely(!w->is_open) && !ofi_was_opened(w)) return 0;
    ssize_t got = gw_set.progress_event_cnt;
    for (int reads = 0; got == gw_set.progress_event_cnt && reads < READS_A_ROUND; reads++) {
        got = fi_cq_read(w->cq, w->events, (size_t)gw_set.progress_event_cnt);
        if (got == -FI_EAGAIN) break;
        if (unlikely(got == -FI_EAVAIL)) {
            n += error_read(w);
            got = gw_set.progress_event_cnt; /* there may be more behind it */
            continue;
        }
        if (unlikely(got < 0))
            gw_die("the completion queue of provider %s cannot be read: %s", ofi_provider_name(w),
                   ofi_lib.strerror((int)-got));
        for (ssize_t i = 0; i < got; i++) {
            struct ofi_op *op = w->events[i].op_context;
            op->fn(w, op, &w->events[i], 0);
        }
        n += (int)got;
    }
    if (unlikely(w->n_unposted) && !w->is_closing) n += recvs_again(w);
    if (unlikely(w->n_catches_unposted) && !w->is_closing) n += ofi_catches_again(w);
    if (unlikely(!gw_list_empty(&w->waiting))) n += ofi_rma_waiting(w);
    if (unlikely(w->n_direct)) n += ofi_direct_progress(w, n == 0);
    if (unlikely(atomic_load_explicit(&w->regs.n_gone, memory_order_relaxed))) ofi_regs_sweep(w);
    enum { IDLE_LOOKS = 4096 };
    if (unlikely(w->alive != NULL) && n == 0 && ++w->idle % IDLE_LOOKS == 0) ofi_alive_look(w);
    if (unlikely(w->n_doubted) && n == 0 && gw_ticks() >= w->look_at) ofi_reach_look(w);
    return n;
}
