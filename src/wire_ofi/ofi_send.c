/* ofi_send.c -- messages: injected where they are small, else through buffers of ours, of which there is a bounded number.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_ofi/ofi_private.h"

#include <stdlib.h>

enum { INJECT_MOST = 256 }; /* more than this is not built on the stack */

static size_t slot_bytes(const struct wire *w)
{
    return gw_align_up(sizeof(struct ofi_send) + w->pack_max + OFI_ALIGN, GW_CACHELINE);
}

int ofi_sends_open(struct wire *w)
{
    size_t bytes = slot_bytes(w) * (size_t)gw_set.ofi_send_buffers;
    w->inject_max = (size_t)gw_min64((int64_t)w->info->tx_attr->inject_size, INJECT_MOST);
    w->send_slab = aligned_alloc(GW_CACHELINE, bytes); /* touched as far as it is used */
    if (!w->send_slab)
        return gw_fail(GW_ENOMEM, "no memory for %d send buffers of the network", (int)gw_set.ofi_send_buffers);
    return ofi_needs(w, FI_MR_LOCAL) ? ofi_register(w, w->send_slab, bytes, FI_SEND, 0, &w->send_mr) : GW_OK;
}

static void send_done(struct wire *w, struct ofi_op *op, const struct fi_cq_data_entry *e, int err)
{
    struct ofi_send *s = container_of(op, struct ofi_send, op);
    (void)e;
    w->under_way--;
    if (unlikely(err) && !w->is_closing && s->head.kind != OFI_KIND_MARK) {
        ofi_fail(s->ep, "a message", err);
        gw_die("%s", gw_fail_text());
    }
    s->next = w->free_sends;
    w->free_sends = s;
}

static struct ofi_send *send_take(struct wire *w)
{
    struct ofi_send *s = w->free_sends;
    if (likely(s)) {
        w->free_sends = s->next;
        return s;
    }
    if (w->n_sends == gw_set.ofi_send_buffers) return NULL;
    s = (struct ofi_send *)(w->send_slab + (size_t)w->n_sends++ * slot_bytes(w));
    memset(s, 0, sizeof *s);
    s->op.fn = send_done;
    return s;
}

static void send_back(struct wire *w, struct ofi_send *s)
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

/* Bytes that travel and are nobody's. */
static void pad_clear(char *payload, size_t len)
{
    memset(payload + len, 0, ofi_total(len) - sizeof(struct ofi_head) - len);
}

static inline int refused(const struct ofi_ep *ep, ssize_t rc)
{
    return rc == -FI_EAGAIN ? GW_AGAIN : ofi_fail(ep, "a message", (int)-rc);
}

static inline void owe(struct ofi_ep *ep, bool is_owing)
{
    if (ep->owes_mark == is_owing) return;
    ep->owes_mark = is_owing;
    ep->w->n_owing += is_owing ? 1 : -1;
}

static int send_post(struct ofi_ep *ep, struct ofi_send *s, uint8_t kind, const void *hdr, size_t len)
{
    struct wire *w = ep->w;
    head_fill(&s->head, kind, hdr, len);
    pad_clear(s->payload, len);
    s->ep = ep;
    ssize_t rc =
        fi_send(w->ep, &s->head, ofi_total(len), w->send_mr ? fi_mr_desc(w->send_mr) : NULL, ep->addr, &s->op.context);
    if (unlikely(rc)) {
        send_back(w, s);
        return refused(ep, rc);
    }
    w->under_way++;
    owe(ep, false); /* in order: once this one is through, so are those before */
    return GW_OK;
}

static int inject(struct ofi_ep *ep, uint8_t kind, const void *hdr, const void *payload, size_t len)
{
    struct {
        struct ofi_head head;
        char payload[INJECT_MOST];
    } m;
    head_fill(&m.head, kind, hdr, len);
    if (len) memcpy(m.payload, payload, len);
    pad_clear(m.payload, len);
    ssize_t rc = fi_inject(ep->w->ep, &m, ofi_total(len), ep->addr);
    if (unlikely(rc)) return refused(ep, rc);
    owe(ep, true);
    return GW_OK;
}

int ofi_send_short(struct wire_ep *base, uint8_t kind, const void *hdr, const void *payload, size_t len)
{
    struct ofi_ep *ep = (struct ofi_ep *)base;
    struct wire *w = ep->w;
    assert(len <= w->pack_max && kind != OFI_KIND_MARK);
    if (likely(ofi_total(len) <= w->inject_max)) return inject(ep, kind, hdr, payload, len);
    struct ofi_send *s = send_take(w);
    if (unlikely(!s)) return GW_AGAIN;
    gw_copy(s->payload, payload, len);
    return send_post(ep, s, kind, hdr, len);
}

int ofi_send_pack(struct wire_ep *base, uint8_t kind, const void *hdr, struct type_cursor *c, size_t len)
{
    struct ofi_ep *ep = (struct ofi_ep *)base;
    assert(len <= ep->w->pack_max);
    struct ofi_send *s = send_take(ep->w);
    if (unlikely(!s)) return GW_AGAIN;
    struct type_cursor before = *c;
    int64_t packed = type_cursor_pack(c, s->payload, (int64_t)len);
    assert(packed == (int64_t)len);
    (void)packed;
    int rc = send_post(ep, s, kind, hdr, len);
    if (unlikely(rc == GW_AGAIN)) *c = before;
    return rc;
}

static void mark_send(struct ofi_ep *ep)
{
    static const uint8_t hdr[WIRE_HDR_BYTES];
    struct ofi_send *s = send_take(ep->w);
    if (!s) return;
    if (send_post(ep, s, OFI_KIND_MARK, hdr, 0) < 0) owe(ep, false); /* it is gone, and needs nothing */
}

bool ofi_drained(struct wire *w)
{
    for (int i = 0; w->n_owing && i < gw_boot.size; i++)
        if (w->eps[i] && w->eps[i]->owes_mark) mark_send(w->eps[i]);
    return !w->n_owing && !w->under_way;
}
