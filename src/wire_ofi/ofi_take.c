/* ofi_take.c -- receives that the provider matches (tagged messages), and buffers that catch all others once we match ourselves.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_ofi/ofi_private.h"

#include <stdlib.h>

#include "base/lock.h"
#include "base/os.h"
#include "net/offer.h"

enum { CATCHES = 16 };
_Static_assert(sizeof(struct ofi_take) <= sizeof((struct wire_take *)0)->at_wire, "a receive of the provider's fits");

/* Opens a buffer that is appended to every receive and never read.  Providers net and tcp;ofi_rxm (1.17) lose the message after
 * one that is too long for its receive; with the additional room no message is. */
static int sink_open(struct wire *w)
{
    w->sink = aligned_alloc(GW_CACHELINE, gw_align_up(w->pack_max, GW_CACHELINE));
    if (!w->sink) return gw_fail(GW_ENOMEM, "no memory for %zu bytes of receive buffers of the network", w->pack_max);
    return ofi_needs(w, FI_MR_LOCAL) ? ofi_register(w, w->sink, w->pack_max, FI_RECV, 0, &w->sink_mr) : GW_OK;
}

int ofi_tagged_open(struct wire *w)
{
    bool has_data = !offer_loses_data(w->info->ep_attr->protocol);
    const struct ofi_tag_means means = {w->info->ep_attr->mem_tag_format, has_data ? w->info->domain_attr->cq_data_size : 0,
                                        w->info->caps & FI_DIRECTED_RECV};
    bool is_wanted = gw_set.match_mode != GW_SET_MATCH_MODE_SOFTWARE && !gw_checking;
    if (!is_wanted || !(w->info->caps & FI_TAGGED) || offer_stops_at_unexpected(w->info->ep_attr->protocol)) return GW_OK;
    int rc = ofi_tag_layout_make((enum ofi_tag_mode)gw_set.ofi_tag_mode, &means, &w->layout);
    if (rc != GW_OK) return rc;
    w->is_tagged = true;
    return w->info->rx_attr->iov_limit > 1 ? sink_open(w) : GW_OK;
}

static void tag_read(const struct wire *w, const struct fi_cq_tagged_entry *e, struct wire_tag *tag_out)
{
    const struct ofi_tag_layout *l = &w->layout;
    tag_out->ctx = (int32_t)ofi_tag_cid(l, e->tag);
    tag_out->src = (int32_t)ofi_tag_src(l, e->tag, e->data);
    tag_out->tag = ofi_tag_tag(l, e->tag);
    tag_out->asks = ofi_tag_sync_of(l, e->tag) == OFI_TAG_SYNC;
}

/* A tagged message has no key, so it is accepted if its tag names a source that exists. */
static bool is_credible(const struct wire *w, const struct wire_tag *came)
{
    return came->src >= 0 && (uint32_t)came->src <= w->layout.src_max;
}

/* ---- the program's receives -------------------------------------------------------------------------------------------------- */
/* Posts a receive again that got an invalid message.  False: the provider has no room for it. */
static bool take_again(struct wire *w, struct wire_take *t, size_t bytes, const char *why)
{
    ofi_drop(w, bytes, why);
    return ofi_tag_recv(w, (struct wire_ep *)(uintptr_t)((struct ofi_take *)t->at_wire)->from, t) == GW_POSTED;
}

void ofi_take_done(struct wire *w, struct ofi_op *op, const struct fi_cq_tagged_entry *e, int err)
{
    struct ofi_take *o = container_of(op, struct ofi_take, op);
    struct wire_take *t = container_of((uint64_t *)o, struct wire_take, at_wire[0]);
    bool is_lost = false; /* the message was invalid, and the receive could not be posted again: it fails as truncated */
    if (o->reg) ofi_regs_give(w, o->reg);
    if (w->is_closing) return;
    t->is_cancelled = err == FI_ECANCELED;
    if (unlikely(err) && !t->is_cancelled && err != FI_ETRUNC) {
        if (take_again(w, t, 0, fabric_lib.strerror(err))) return;
        is_lost = true;
    }
    if (!t->is_cancelled) {
        struct wire_tag came;
        tag_read(w, e, &came);
        /* Not all providers report the source of a message that is too long; if the receive named one, it is known. */
        if (err && t->tag.src >= 0) came.src = t->tag.src;
        if (err && t->tag.tag != GW_ANY_TAG) came.tag = t->tag.tag;
        came.ctx = t->tag.ctx;
        if (unlikely(!is_credible(w, &came)) && !is_lost) {
            if (!err && take_again(w, t, e->len, "its source is none")) return;
            is_lost = true;
        }
        if (unlikely(is_lost))
            came = (struct wire_tag){came.ctx, t->tag.src < 0 ? 0 : t->tag.src, t->tag.tag < 0 ? 0 : t->tag.tag, 0};
        t->tag = came;
        t->len = !is_lost && (!err || e->len > t->cap) ? e->len : t->cap + 1;
    }
    t->done.fn(&t->done, !t->is_cancelled && t->len > t->cap ? GW_ETRUNCATE : GW_OK);
}

int ofi_tag_recv(struct wire *w, struct wire_ep *from, struct wire_take *t)
{
    struct ofi_take *o = (struct ofi_take *)t->at_wire;
    const struct ofi_ep *ep = (const struct ofi_ep *)from;
    uint64_t bits, ignore;
    assert(w->is_tagged);
    memset(o, 0, sizeof *o);
    o->op.fn = ofi_take_done;
    o->from = ep;
    if (ofi_needs(w, FI_MR_LOCAL) && t->cap) {
        int rc = ofi_regs_take(w, t->buf, t->cap, FI_RECV, &o->reg);
        if (rc != GW_OK) return rc;
    }
    ofi_tag_wanted(&w->layout, (uint32_t)t->tag.ctx, t->tag.src, t->tag.tag, &bits, &ignore);
    bool has_sink = w->sink && t->cap < w->pack_max;
    struct iovec iov[2] = {{t->buf, t->cap}, {w->sink, has_sink ? w->pack_max - t->cap : 0}};
    void *desc[2] = {o->reg ? fi_mr_desc(o->reg->mr) : NULL, w->sink_mr ? fi_mr_desc(w->sink_mr) : NULL};
    struct fi_msg_tagged m = {
        .msg_iov = iov,
        .desc = desc,
        .iov_count = has_sink ? 2 : 1,
        .addr = ep && w->layout.mode == OFI_TAG_FULL ? ep->addr : FI_ADDR_UNSPEC,
        .tag = bits,
        .ignore = ignore,
        .context = &o->op.context,
    };
    ssize_t rc = fi_trecvmsg(w->ep, &m, FI_COMPLETION);
    if (rc == 0) return GW_POSTED;
    if (o->reg) ofi_regs_give(w, o->reg);
    if (rc == -FI_EAGAIN) return GW_AGAIN;
    return gw_fail(GW_EOTHER, "a receive was refused by provider %s: %s", ofi_provider_name(w), fabric_lib.strerror((int)-rc));
}

void ofi_tag_cancel(struct wire *w, struct wire_take *t) { fi_cancel(&w->ep->fid, &((struct ofi_take *)t->at_wire)->op.context); }

/* ---- buffers for all other messages ------------------------------------------------------------------------------------------ */
static void catch_post(struct wire *w, struct ofi_catch *c)
{
    uint64_t bits, ignore;
    ofi_tag_everything(&w->layout, &bits, &ignore);
    ssize_t rc = fi_trecv(w->ep, c->buf, w->pack_max, w->catch_mr ? fi_mr_desc(w->catch_mr) : NULL, FI_ADDR_UNSPEC, bits, ignore,
                          &c->op.context);
    if (c->is_posted != (rc == 0)) w->n_catches_unposted += rc == 0 ? -1 : 1;
    c->is_posted = rc == 0;
    assert(w->n_catches_unposted >= 0 && w->n_catches_unposted <= CATCHES);
    if (rc && rc != -FI_EAGAIN)
        gw_die("a receive buffer for the network was refused by provider %s: %s", ofi_provider_name(w),
               fabric_lib.strerror((int)-rc));
}

void ofi_catch_done(struct wire *w, struct ofi_op *op, const struct fi_cq_tagged_entry *e, int err)
{
    struct ofi_catch *c = container_of(op, struct ofi_catch, op);
    c->is_posted = false;
    w->n_catches_unposted++;
    if (w->is_closing || err == FI_ECANCELED) return;
    struct wire_tag came;
    tag_read(w, e, &came);
    if (unlikely(err))
        ofi_drop(w, err == FI_ETRUNC ? e->len : 0, fabric_lib.strerror(err));
    else if (unlikely(e->len > w->pack_max || !is_credible(w, &came)))
        ofi_drop(w, e->len, "its source is none");
    else
        w->recv(w->ctx, w->lane, WIRE_CAUGHT, &came, c->buf, e->len);
    catch_post(w, c);
}

int ofi_catches_again(struct wire *w)
{
    int before = w->n_catches_unposted;
    for (int i = 0; i < CATCHES; i++)
        if (!w->catches[i].is_posted) catch_post(w, &w->catches[i]);
    return before - w->n_catches_unposted;
}

int ofi_tag_catch(struct wire *w)
{
    size_t each = gw_align_up(w->pack_max, GW_CACHELINE), bytes = CATCHES * each;
    assert(w->is_tagged && !w->catches);
    /* Pages are allocated when used, unless GODWIT_HUGE_PAGES=all or =pool. */
    w->catch_slab = gw_huge_alloc("buffers for what the network has matched", GW_CACHELINE, bytes);
    if (!w->catch_slab) return gw_fail(GW_ENOMEM, "no memory for %zu bytes of receive buffers of the network", bytes);
    int rc = ofi_needs(w, FI_MR_LOCAL) ? ofi_register(w, w->catch_slab, bytes, FI_RECV, 0, &w->catch_mr) : GW_OK;
    if (rc != GW_OK) return rc;
    w->catches = gw_xcalloc(CATCHES, sizeof *w->catches);
    w->n_catches_unposted = CATCHES;
    for (int i = 0; i < CATCHES; i++)
        w->catches[i] = (struct ofi_catch){{.fn = ofi_catch_done}, w->catch_slab + (size_t)i * each, false};
    ofi_catches_again(w);
    return GW_OK;
}

int ofi_tag_check(struct wire *w, const struct wire_tag *t)
{
    int rc = ofi_tag_check_cid(&w->layout, (uint32_t)t->ctx);
    if (rc == GW_OK) rc = ofi_tag_check_size(&w->layout, (int64_t)t->src + 1);
    return rc == GW_OK ? ofi_tag_check_tag(&w->layout, t->tag) : rc;
}
