/* ofi_send.c -- sending: small messages are injected, others copied to one of a bounded number of send buffers.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_ofi/ofi_private.h"
#include "base/copy.h"
#include "base/count.h"
#include "base/os.h"

#include <stdlib.h>

enum {
    INJECT_MOST = 256,  /* bytes; longer packets are not built on the stack */
    INJECTS_MOST = 512, /* injected messages under way at most, so that a process that only sends polls now and then */
};

static size_t slot_bytes(const struct wire *w)
{
    return gw_align_up(sizeof(struct ofi_send) + w->pack_max + OFI_ALIGN, GW_CACHELINE);
}

/* A rank of another job from which this process has disconnected. */
static bool is_parted(const struct ofi_ep *ep) { return ep && ep->is_foreign && (ep->is_forgotten || !node_far_is_held(ep->rank)); }

/* A send has failed.  In MPI_Finalize, and after MPI_Comm_disconnect, the peer may have ended: then it is no error. */
static GW_COLD void send_failed(struct wire *w, const struct ofi_ep *ep, int err)
{
    if (w->is_leaving || is_parted(ep)) return;
    if (ep && ep->is_foreign)
        gw_fail(
            GW_EOTHER,
            "a message over the network to another job, with which this one is connected, failed (provider %s): %s; has that job ended?",
            ofi_provider_name(w), fabric_lib.strerror(err));
    else if (ep)
        ofi_fail(ep, "a message", err);
    else
        gw_fail(GW_EOTHER, "a small message over the network failed (provider %s): %s", ofi_provider_name(w),
                fabric_lib.strerror(err));
    gw_die("%s", gw_fail_text());
}

void ofi_inject_done(struct wire *w, struct ofi_op *op, const struct fi_cq_tagged_entry *e, int err)
{
    (void)op, (void)e;
    w->under_way--;
    w->n_injects--;
    assert(w->n_injects >= 0 && w->under_way >= w->n_injects);
    if (unlikely(err)) send_failed(w, NULL, err);
}

void ofi_send_done(struct wire *w, struct ofi_op *op, const struct fi_cq_tagged_entry *e, int err)
{
    struct ofi_send *s = container_of(op, struct ofi_send, op);
    (void)e;
    w->under_way--;
    if (unlikely(err)) send_failed(w, s->ep, err);
    if (unlikely(s->ep && s->ep->doubted_ns) && !err) ofi_reach_end(s->ep);
    assert(w->under_way >= 0);
    s->next = w->free_sends;
    w->free_sends = s;
}

struct ofi_send *ofi_send_take(struct wire *w)
{
    struct ofi_send *s = w->free_sends;
    if (likely(s)) {
        w->free_sends = s->next;
        return s;
    }
    assert(w->n_sends >= 0 && w->n_sends <= gw_set.ofi_send_buffers);
    if (w->n_sends == gw_set.ofi_send_buffers) {
        gw_counted(&gw_count.net_buffers_waited, 1);
        return NULL;
    }
    s = (struct ofi_send *)(w->send_slab + (size_t)w->n_sends++ * slot_bytes(w));
    memset(s, 0, sizeof *s);
    s->op.fn = ofi_send_done;
    return s;
}

void ofi_send_back(struct wire *w, struct ofi_send *s)
{
    s->next = w->free_sends;
    w->free_sends = s;
}

static void head_fill(struct ofi_head *h, uint8_t kind, const void *hdr, size_t len)
{
    memset(h, 0, offsetof(struct ofi_head, hdr));
    h->len = (uint32_t)len;
    h->kind = kind;
    memcpy(h->hdr, hdr, WIRE_HDR_BYTES);
}

/* Clears the padding behind the payload. */
static void pad_clear(char *payload, size_t len) { memset(payload + len, 0, ofi_total(len) - sizeof(struct ofi_head) - len); }

static inline int refused(const struct ofi_ep *ep, ssize_t rc)
{
    if (likely(rc == -FI_EAGAIN)) return GW_AGAIN;
    return ep->w->is_leaving || is_parted(ep) ? GW_OK : ofi_fail(ep, "a message", (int)-rc);
}

/* Posts a send buffer.  bytes: of the packet, without the key. */
static int buffer_post(struct ofi_ep *ep, struct ofi_send *s, size_t bytes)
{
    struct wire *w = ep->w;
    s->ep = ep;
    s->key = ep->key;
    ssize_t rc =
        fi_send(w->ep, &s->key, OFI_KEY_BYTES + bytes, w->send_mr ? fi_mr_desc(w->send_mr) : NULL, ep->addr, &s->op.context);
    if (unlikely(rc)) {
        ofi_send_back(w, s);
        return refused(ep, rc);
    }
    w->under_way++;
    return GW_OK;
}

static int send_post(struct ofi_ep *ep, struct ofi_send *s, uint8_t kind, const void *hdr, size_t len)
{
    head_fill(&s->head, kind, hdr, len);
    pad_clear(s->payload, len);
    int rc = buffer_post(ep, s, ofi_total(len));
    gw_counted(&gw_count.net_copied_out, rc == GW_OK ? len : 0);
    return rc;
}

/* Sends a small packet from the stack.  With a completion, unlike fi_inject(), so that drained() knows when all has left. */
static int inject(struct ofi_ep *ep, uint8_t kind, const void *hdr, const void *payload, size_t len)
{
    struct {
        uint64_t key;
        struct ofi_head head;
        char payload[INJECT_MOST];
    } m;
    struct wire *w = ep->w;
    if (unlikely(w->n_injects == INJECTS_MOST)) return GW_AGAIN;
    size_t total = OFI_KEY_BYTES + ofi_total(len);
    assert(total <= w->inject_max && len <= INJECT_MOST);
    m.key = ep->key;
    head_fill(&m.head, kind, hdr, len);
    if (len) {
        memset((char *)&m + total - OFI_ALIGN, 0, OFI_ALIGN); /* what pad_clear() does, without a call */
        memcpy(m.payload, payload, len);
    }
    struct iovec iov = {&m, total};
    struct fi_msg msg = {.msg_iov = &iov, .iov_count = 1, .addr = ep->addr, .context = &w->inject_op.context};
    ssize_t rc = fi_sendmsg(w->ep, &msg, FI_INJECT | FI_COMPLETION);
    if (unlikely(rc)) return refused(ep, rc);
    w->under_way++;
    w->n_injects++;
    return GW_OK;
}

int ofi_send_short(struct wire_ep *base, uint8_t kind, const void *hdr, const void *payload, size_t len)
{
    struct ofi_ep *ep = (struct ofi_ep *)base;
    struct wire *w = ep->w;
    assert(len <= w->pack_max);
    /* Injected messages share one record, so that a failure does not name the peer; for peers of other jobs it has to. */
    if (likely(OFI_KEY_BYTES + ofi_total(len) <= w->inject_max) && likely(!ep->is_foreign))
        return inject(ep, kind, hdr, payload, len);
    struct ofi_send *s = ofi_send_take(w);
    if (unlikely(!s)) return GW_AGAIN;
    if (len) gw_copy(s->payload, payload, len);
    return send_post(ep, s, kind, hdr, len);
}

int ofi_send_pack(struct wire_ep *base, uint8_t kind, const void *hdr, struct type_cursor *c, size_t len)
{
    struct ofi_ep *ep = (struct ofi_ep *)base;
    assert(len <= ep->w->pack_max);
    struct ofi_send *s = ofi_send_take(ep->w);
    if (unlikely(!s)) return GW_AGAIN;
    struct type_cursor before = *c;
    int64_t packed = type_cursor_pack(c, s->payload, (int64_t)len);
    assert(packed == (int64_t)len);
    (void)packed;
    int rc = send_post(ep, s, kind, hdr, len);
    if (unlikely(rc == GW_AGAIN)) *c = before;
    return rc;
}

int ofi_send_many(struct wire_ep *base, uint8_t kind, const struct wire_part *parts, int n)
{
    struct ofi_ep *ep = (struct ofi_ep *)base;
    struct ofi_send *s = ofi_send_take(ep->w);
    if (unlikely(!s)) return GW_AGAIN;
    char *begin = (char *)s + offsetof(struct ofi_send, head), *at = begin;
    size_t copied = 0;
    for (int i = 0; i < n; i++) {
        size_t len = parts[i].len;
        struct ofi_head *h = (struct ofi_head *)at;
        head_fill(h, kind, parts[i].hdr, len);
        at += sizeof *h;
        if (len) gw_copy(at, parts[i].payload, len);
        copied += len;
        pad_clear(at, len);
        at += ofi_total(len) - sizeof *h;
        assert((size_t)(at - begin) <= ofi_total(ep->w->pack_max));
    }
    int rc = buffer_post(ep, s, (size_t)(at - begin));
    gw_counted(&gw_count.net_copied_out, rc == GW_OK ? copied : 0);
    return rc;
}

/* Sends without a header, as the tag has its contents, so that the payload arrives in the receive's buffer. */
int ofi_tag_send(struct wire_ep *base, const struct wire_tag *tag, const void *payload, size_t len)
{
    struct ofi_ep *ep = (struct ofi_ep *)base;
    struct wire *w = ep->w;
    assert(w->is_tagged && len <= w->pack_max);
    if (unlikely(w->n_injects == INJECTS_MOST)) return GW_AGAIN;
    bool is_small = len <= w->inject_max;
    struct ofi_send *s = is_small ? NULL : ofi_send_take(w);
    if (unlikely(!is_small && !s)) return GW_AGAIN;
    struct iovec iov = {is_small ? (void *)(uintptr_t)payload : s->payload, len};
    void *desc = w->send_mr ? fi_mr_desc(w->send_mr) : NULL;
    struct fi_msg_tagged m = {
        .msg_iov = &iov,
        .desc = &desc,
        .iov_count = 1,
        .addr = ep->addr,
        .tag = ofi_tag_bits(&w->layout, (uint32_t)tag->ctx, (uint32_t)tag->src, tag->tag, tag->asks ? OFI_TAG_SYNC : OFI_TAG_PLAIN),
        .context = is_small ? &w->inject_op.context : &s->op.context,
        .data = (uint64_t)tag->src,
    };
    uint64_t flags = FI_COMPLETION | (is_small ? FI_INJECT : 0);
    if (w->layout.mode == OFI_TAG_FULL) flags |= FI_REMOTE_CQ_DATA;
    if (s) {
        if (len) gw_copy(s->payload, payload, len);
        s->ep = ep;
    }
    ssize_t rc = fi_tsendmsg(w->ep, &m, flags);
    if (unlikely(rc)) {
        if (s) ofi_send_back(w, s);
        return refused(ep, rc);
    }
    w->under_way++;
    w->n_injects += is_small;
    gw_counted(&gw_count.net_copied_out, s ? len : 0);
    return GW_OK;
}

int ofi_sends_open(struct wire *w)
{
    size_t bytes = slot_bytes(w) * (size_t)gw_set.ofi_send_buffers;
    /* If the provider needs a context per operation (FI_CONTEXT), injecting saves nothing over a send buffer. */
    bool can_share = !(w->info->mode & (FI_CONTEXT | FI_CONTEXT2));
    w->inject_max = can_share ? (size_t)gw_min64((int64_t)w->info->tx_attr->inject_size, INJECT_MOST) : 0;
    w->inject_op.fn = ofi_inject_done;
    w->send_slab = gw_huge_alloc("send buffers of the network", GW_CACHELINE,
                                 bytes); /* pages are allocated when used, unless GODWIT_HUGE_PAGES=all or =pool */
    if (!w->send_slab) return gw_fail(GW_ENOMEM, "no memory for %d send buffers of the network", (int)gw_set.ofi_send_buffers);
    uint64_t access = FI_SEND | (w->info->caps & FI_ATOMIC ? FI_READ | FI_WRITE : 0); /* ofi_atomic.c */
    return ofi_needs(w, FI_MR_LOCAL) ? ofi_register(w, w->send_slab, bytes, access, 0, &w->send_mr) : GW_OK;
}

bool ofi_drained(struct wire *w) { return !w->under_way; }

void ofi_leave(struct wire *w, bool is_leaving)
{
    w->is_leaving = is_leaving;
    ofi_ondemand_rest(is_leaving);
}
