/* ofi_recv.c -- receive buffers, and progress: reads the completion queue and passes each entry to the operation it belongs to.
 *
 * Anybody who can reach the provider's port can send to it (ofi_key.c), so packets are validated before they are used, and no
 * error that a stranger can cause ends the job.  A failure of an operation of this process does.
 *
 * States of a buffer that takes many packets:
 *
 *   IDLE -> POSTED [recv_post]             the provider fills the buffer
 *   POSTED -> IDLE [recv_over]             the provider has released the buffer, and all bytes have arrived
 *   POSTED -> HELD [recv_over]             the provider has released the buffer, but some packets in it are not complete yet
 *   HELD -> IDLE [recv_over]               these are complete, too
 *   POSTED, HELD -> TORN [recv_failed]     a packet failed half way: it is not known which part of the buffer may still be written
 *
 * INVARIANT R1  memory is posted again only when nobody can write to it any more: never where a buffer is torn, or held.
 * INVARIANT R2  n_taking buffers are POSTED, n_idle are IDLE; must_post: fewer than n_recvs are posted, and one is idle.
 *
 * Torn buffers stay until the lane closes, and each is replaced by a new one.  Strangers may fill all buffers with packets that
 * they never complete; if such a packet is the last that fits a buffer, the provider does not report the buffer as full.  So if
 * nothing arrives for a while, one more buffer is posted (look()).  That also helps against a limit of provider net (libfabric
 * 1.17): it stops each connection that finds no buffer, and resumes only one of them for each buffer that is posted.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_ofi/ofi_private.h"

#include <stdlib.h>

#include "base/count.h"
#include "base/os.h"
#include "base/time.h"
#include "boot/alive.h"
#include "net/offer.h"

enum {
    MULTI_BUFS = 4,
    MULTI_BYTES = 512 << 10, /* size of a buffer that takes many packets */
    SINGLE_BUFS = 64,
    READS_A_ROUND = 16, /* so that a round of progress ends even if messages arrive faster than they are read */
    PACKET_LEAST = OFI_KEY_BYTES + sizeof(struct ofi_head),
};

/* ---- buffers ----------------------------------------------------------------------------------------------------------------- */
static void become(struct wire *w, struct ofi_recv *r, enum ofi_recv_state state)
{
    w->n_taking += (state == OFI_RECV_POSTED) - (r->state == OFI_RECV_POSTED);
    w->n_idle += (state == OFI_RECV_IDLE) - (r->state == OFI_RECV_IDLE);
    r->state = state;
    assert(w->n_taking >= 0 && w->n_idle >= 0 && w->n_taking + w->n_idle <= w->n_recvs + w->n_more); /* R2 */
    w->must_post = w->n_idle && w->n_taking < w->n_recvs;
}

/* Posts a buffer.  GW_OK: it is posted, or the provider has no room now, it stays IDLE, and progress tries again. */
static int recv_post(struct wire *w, struct ofi_recv *r)
{
    struct iovec iov = {r->buf, w->recv_bytes};
    struct fid_mr *mr = r->mr ? r->mr : w->recv_mr;
    void *desc = mr ? fi_mr_desc(mr) : NULL;
    struct fi_msg m = {.msg_iov = &iov, .desc = &desc, .iov_count = 1, .addr = FI_ADDR_UNSPEC, .context = &r->op.context};
    assert(r->state == OFI_RECV_IDLE);
    r->got = r->end = r->last_end = 0;
    ssize_t rc = fi_recvmsg(w->ep, &m, w->is_multi ? FI_MULTI_RECV : 0);
    if (rc == 0) {
        become(w, r, OFI_RECV_POSTED);
        w->n_posts++;
    }
    if (rc == 0 || rc == -FI_EAGAIN) return GW_OK;
    return gw_fail(GW_EOTHER, "a receive buffer for the network was refused by provider %s: %s", ofi_provider_name(w),
                   fabric_lib.strerror((int)-rc));
}

static struct ofi_recv *recv_at(const struct wire *w, int i)
{
    assert(i >= 0 && i < w->n_recvs + w->n_more);
    return i < w->n_recvs ? &w->recvs[i] : w->more[i - w->n_recvs];
}

static void recv_more(struct wire *w)
{
    struct ofi_recv *r = gw_xcalloc(1, sizeof *r);
    r->op.fn = ofi_recv_done;
    r->buf = aligned_alloc(4096, w->recv_bytes);
    if (!r->buf) gw_die("no memory for %zu bytes of receive buffers of the network", w->recv_bytes);
    if (ofi_needs(w, FI_MR_LOCAL) && ofi_register(w, r->buf, w->recv_bytes, FI_RECV, 0, &r->mr) != GW_OK)
        gw_die("%s", gw_fail_text());
    w->more = gw_xrealloc(w->more, (size_t)(w->n_more + 1) * sizeof *w->more);
    w->more[w->n_more++] = r;
    w->n_idle++;
    w->must_post = w->n_taking < w->n_recvs;
    if (recv_post(w, r) != GW_OK) gw_die("%s", gw_fail_text());
}

/* Posts idle buffers again.  Seldom needed, so it searches all buffers. */
static GW_COLD int recvs_again(struct wire *w)
{
    int n = 0;
    for (int i = 0; i < w->n_recvs + w->n_more && w->must_post; i++) {
        struct ofi_recv *r = recv_at(w, i);
        if (r->state != OFI_RECV_IDLE) continue;
        if (recv_post(w, r) != GW_OK) gw_die("%s", gw_fail_text());
        n += r->state == OFI_RECV_POSTED;
    }
    return n;
}

static struct ofi_recv *recv_idle(const struct wire *w)
{
    for (int i = 0; i < w->n_recvs + w->n_more; i++)
        if (recv_at(w, i)->state == OFI_RECV_IDLE) return recv_at(w, i);
    return NULL;
}

/* Called while nothing arrives.  After a while posts one more buffer: sooner if packets are incomplete, or if the last additional
 * buffer helped.  The time doubles with each one as long as nothing arrives. */
static GW_COLD void look(struct wire *w)
{
    static const uint64_t soon_ns = 10000000, late_ns = 1000000000;
    uint64_t now = gw_now_ns(), got = w->n_posts;
    int untouched = 0, n_open = 0;
    for (int i = 0; i < w->n_recvs + w->n_more; i++) {
        const struct ofi_recv *r = recv_at(w, i);
        got += r->got;
        untouched += r->state == OFI_RECV_POSTED && !r->end;
        n_open += r->state == OFI_RECV_HELD || (r->state == OFI_RECV_POSTED && r->got != r->end);
    }
    bool has_come = got != w->quiet_got;
    if (has_come || w->quiet_posted) w->has_helped = has_come && w->quiet_posted;
    w->quiet_posted = false;
    if (has_come) {
        w->quiet_got = got;
        w->quiet_ns = now;
        return;
    }
    int extra = w->has_helped || untouched < w->n_recvs ? 0 : untouched - w->n_recvs;
    uint64_t patience_ns = w->has_helped || n_open ? soon_ns : late_ns;
    if (extra > 30 || now - w->quiet_ns < patience_ns << extra) return;
    struct ofi_recv *r = recv_idle(w);
    w->quiet_posted = true;
    w->quiet_ns = now;
    if (!r)
        recv_more(w);
    else if (recv_post(w, r) != GW_OK)
        gw_die("%s", gw_fail_text());
    w->quiet_got++; /* as recv_post() has counted in n_posts */
}

/* The provider has released the buffer, now or earlier.  Provider net (1.17) releases it with the last packet that fits, although
 * packets of other senders are still being written into it.  So the buffer is used again only when all bytes up to its end have
 * arrived.  If a provider does not place packets end to end, its release is trusted. */
static void recv_over(struct wire *w, struct ofi_recv *r)
{
    if (r->state == OFI_RECV_TORN) return;
    bool is_whole = r->got == r->end || w->has_gaps;
    become(w, r, is_whole ? OFI_RECV_IDLE : OFI_RECV_HELD);
    if (is_whole && !w->is_closing && w->n_taking < w->n_recvs && recv_post(w, r) != GW_OK) gw_die("%s", gw_fail_text());
}

/* A packet was too long, or its sender went away before the end. */
static GW_COLD void recv_failed(struct wire *w, struct ofi_recv *r, int err)
{
    bool is_end = w->is_closing || err == FI_ECANCELED;
    if (!is_end) ofi_drop(w, 0, fabric_lib.strerror(err));
    if (r->state == OFI_RECV_TORN) return;
    become(w, r, w->is_multi && !is_end ? OFI_RECV_TORN : OFI_RECV_IDLE);
    if (is_end) return;
    recvs_again(w);
    if (w->n_taking < w->n_recvs && !w->n_idle) recv_more(w);
}

/* ---- packets ----------------------------------------------------------------------------------------------------------------- */
static GW_COLD void odd_arrived(struct wire *w, const char *at, size_t bytes)
{
    uint64_t key;
    if (bytes < PACKET_LEAST || bytes > w->packet_max) {
        ofi_drop(w, bytes, "its length is none of ours");
        return;
    }
    memcpy(&key, at, sizeof key);
    if (key != w->key) {
        ofi_drop(w, bytes, "it has not the key of this job");
        return;
    }
    /* Behind a packet of an odd length, which was dropped, this packet is not aligned: it is copied. */
    if (!w->bounce && !(w->bounce = aligned_alloc(GW_CACHELINE, gw_align_up(w->packet_max, GW_CACHELINE))))
        gw_die("no memory for a packet");
    memcpy(w->bounce, at, bytes);
    ofi_packet_arrived(w, w->bounce, bytes);
}

static inline __attribute__((always_inline)) void packet_arrived(struct wire *w, const char *at, size_t bytes)
{
    if (unlikely(bytes - PACKET_LEAST > w->packet_span || (uintptr_t)at % OFI_ALIGN ||
                 *(const uint64_t *)(const void *)at != w->key)) {
        odd_arrived(w, at, bytes);
        return;
    }
    at += OFI_KEY_BYTES;
    bytes -= OFI_KEY_BYTES;
    do {
        const struct ofi_head *h = (const void *)at;
        size_t len = h->len, total = ofi_total(len);
        if (unlikely(total > bytes || h->kind >= WIRE_CAUGHT)) break;
        at += total;
        bytes -= total;
        gw_counted(&gw_count.net_copied_in, len);
        w->recv(w->ctx, w->lane, h->kind, h->hdr, h + 1, len);
    } while (unlikely(bytes >= sizeof(struct ofi_head)));
    if (unlikely(bytes)) ofi_drop(w, bytes, "its parts do not fit, or are of no known kind");
}

void ofi_packet_arrived(struct wire *w, const char *at, size_t bytes) { packet_arrived(w, at, bytes); }

void ofi_recv_done(struct wire *w, struct ofi_op *op, const struct fi_cq_tagged_entry *e, int err)
{
    struct ofi_recv *r = container_of(op, struct ofi_recv, op);
    if (unlikely(err)) {
        recv_failed(w, r, err);
        return;
    }
    packet_arrived(w, w->is_multi ? e->buf : r->buf, e->len);
    if (w->is_multi) {
        size_t at = e->len ? (size_t)((char *)e->buf - r->buf) : r->end;
        if (unlikely(at > r->last_end && at - r->last_end < PACKET_LEAST))
            w->has_gaps = !offer_stops_at_unexpected(w->info->ep_attr->protocol);
        r->last_end = at + e->len;
        r->got += e->len;
        if (r->last_end > r->end) r->end = r->last_end;
        if (likely(!(e->flags & FI_MULTI_RECV) && r->state == OFI_RECV_POSTED)) return;
    }
    recv_over(w, r);
}

/* ---- a lane comes and goes --------------------------------------------------------------------------------------------------- */
int ofi_recvs_open(struct wire *w)
{
    w->is_multi = w->info->caps & FI_MULTI_RECV;
    assert(!w->recvs && w->packet_max > PACKET_LEAST);
    w->packet_span = w->packet_max - PACKET_LEAST;
    w->may_starve = w->is_multi && ofi_is_soft(w);
    w->must_post = true;
    w->n_recvs = w->n_idle = w->is_multi ? MULTI_BUFS : SINGLE_BUFS;
    w->recv_bytes = w->is_multi ? MULTI_BYTES : gw_align_up(w->packet_max, GW_CACHELINE);
    w->recvs = gw_xcalloc((size_t)w->n_recvs, sizeof *w->recvs);
    size_t bytes = (size_t)w->n_recvs * w->recv_bytes;
    w->recv_slab = gw_huge_alloc("receive buffers of the network", 4096, bytes);
    if (!w->recv_slab) return gw_fail(GW_ENOMEM, "no memory for %zu bytes of receive buffers of the network", bytes);
    int rc = ofi_needs(w, FI_MR_LOCAL) ? ofi_register(w, w->recv_slab, bytes, FI_RECV, 0, &w->recv_mr) : GW_OK;
    for (int i = 0; i < w->n_recvs && rc == GW_OK; i++) {
        w->recvs[i].op.fn = ofi_recv_done;
        w->recvs[i].buf = w->recv_slab + (size_t)i * w->recv_bytes;
        rc = recv_post(w, &w->recvs[i]);
    }
    return rc;
}

void ofi_recvs_close(struct wire *w)
{
    if (w->recv_mr) fi_close(&w->recv_mr->fid);
    for (int i = 0; i < w->n_more; i++) {
        if (w->more[i]->mr) fi_close(&w->more[i]->mr->fid);
        free(w->more[i]->buf);
        free(w->more[i]);
    }
    free(w->more);
    free(w->recvs);
    gw_huge_free(w->recv_slab);
    free(w->bounce);
}

/* ---- progress ---------------------------------------------------------------------------------------------------------------- */
/* Takes one failed operation from the completion queue. */
static GW_COLD int error_read(struct wire *w)
{
    struct fi_cq_err_entry e = {0};
    ssize_t rc = fi_cq_readerr(w->cq, &e, 0);
    if (rc == -FI_EAGAIN) return 0;
    if (rc < 0)
        gw_die("the completion queue of provider %s cannot be read: %s", ofi_provider_name(w), fabric_lib.strerror((int)-rc));
    struct ofi_op *op = e.op_context;
    struct fi_cq_tagged_entry at = {op, e.flags, e.len + e.olen, e.buf, e.data, e.tag};
    if (op && ofi_is_ours(op))
        op->fn(w, op, &at, e.err ? e.err : FI_EOTHER);
    else if (!op && w->is_tagged && e.err == FI_ENOSPC)
        w->recv(w->ctx, w->lane, WIRE_FULL, NULL, NULL, 0);
    else
        ofi_drop(w, 0, fabric_lib.strerror(e.err));
    return 1;
}

/* A completion without a context.  udp;ofi_rxd forgets that of an injected message, of which this is one; else it is a remote write with
 * immediate data, and this library sends none. */
static GW_COLD void nameless(struct wire *w, const struct fi_cq_tagged_entry *e)
{
    if ((e->flags & FI_SEND) && !(e->flags & (FI_RECV | FI_REMOTE_WRITE)) && w->n_injects > 0)
        ofi_inject_done(w, &w->inject_op, e, 0);
    else
        ofi_drop(w, e->len, "it is none of the operations that are used");
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
            got = gw_set.progress_event_cnt; /* there may be more entries behind it */
            continue;
        }
        if (unlikely(got < 0))
            gw_die("the completion queue of provider %s cannot be read: %s", ofi_provider_name(w), fabric_lib.strerror((int)-got));
        for (ssize_t i = 0; i < got; i++) {
            struct ofi_op *op = w->events[i].op_context;
            if (likely(op))
                op->fn(w, op, &w->events[i], 0);
            else
                nameless(w, &w->events[i]);
        }
        n += (int)got;
    }
    if (unlikely(w->must_post) && !w->is_closing) n += recvs_again(w);
    if (unlikely(w->n_catches_unposted) && !w->is_closing) n += ofi_catches_again(w);
    if (unlikely(!gw_list_empty(&w->waiting))) n += ofi_rma_waiting(w);
    if (unlikely(w->n_direct)) n += ofi_direct_progress(w, n == 0);
    if (unlikely(atomic_load_explicit(&w->regs.n_gone, memory_order_relaxed))) ofi_regs_sweep(w);
    enum { IDLE_LOOKS = 16, IDLE_LOOKS_ALIVE = 4096 };
    if (n == 0 && ++w->idle % IDLE_LOOKS == 0) {
        if (w->may_starve && !w->is_closing) look(w);
        boot_connected_step(); /* also in a program that polls and never sleeps */
        if (unlikely(w->alive != NULL) && w->idle % IDLE_LOOKS_ALIVE == 0) network_alive_look(w->alive);
    }
    if (unlikely(w->look_at) && n == 0 && gw_ticks() >= w->look_at) ofi_reach_look(w);
    return n;
}
