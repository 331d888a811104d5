/* proto_tag.c -- matching of messages of other nodes by the network (GODWIT_MATCH_MODE=hardware, hybrid); doc/adr/0015.
 *
 * Only the user's messages (stream 0) over the network are sent by tag, and of each source and context either all or none.  Senders always
 * send by tag; each receiving lane decides whether the wire or match/ does the matching:
 *
 *   NET  receives that may match messages from other nodes are posted to the wire; unexpected messages stay in the wire
 *   OWN  the wire passes every message to us (tag_catch), and match/ matches it, as without tags
 *
 *   OFF -> NET [proto_tags_set_up]; NET -> OWN [take_over], never back
 *
 * INVARIANT T1  in NET, of receives that could match one message, those posted to the wire are older than those posted in match/.
 * INVARIANT T2  in OWN, no receive is posted to the wire.
 * A receive from any source may match a message from shared memory, too.  It is posted to the wire all the same; the lane takes over when
 * another message arrives meanwhile through shared memory, or when a receive would have to be posted behind it in match/.  So T1 holds, and
 * jobs in which this never happens stay in NET.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "proto/proto_private.h"
#include "base/count.h"
#include "base/settings.h"
#include "base/time.h"

#include <stdio.h>
#include <stdlib.h>

/* An RTS that is sent by tag: its contents and the sender's number, for which a tag has no room. */
struct tag_ask {
    struct proto_rts rts;
    int32_t world, unused;
};
_Static_assert(sizeof(struct tag_ask) == 40 && offsetof(struct tag_ask, world) == 32, "wire format");

/* A receive that is posted to the wire. */
struct proto_tag_recv {
    struct wire_take take;
    struct gw_list link; /* in proto_tags.posted, in order of posting */
    struct proto_recv *r;
    struct proto_lane *pl;
    struct wire_ep *from;     /* NULL: any */
    bool is_any, is_unwanted; /* from any source; cancelled by the program */
    bool is_back;             /* the wire has returned it while the lane takes over */
    char *bounce;             /* receives the message in place of a buffer that is not contiguous, or is long; NULL: none */
    /* The first bytes of the program's buffer, which a tag_ask overwrites; or the buffer itself where the program's is smaller. */
    char first[sizeof(struct tag_ask)];
};

/* Receives that the wire holds for sure; it may take more until it refuses one, unless a setting forbids that. */
static int entries_of(const struct proto_lane *pl)
{
    return gw_set.match_entries >= 0 ? (int)gw_set.match_entries : pl->tags.limits.match_entries;
}

void proto_tags_set_up(struct proto_lane *pl, struct lane_wire *w, const struct wire_caps *caps)
{
    struct proto_tags *t = &pl->tags;
    if (!caps->matches || t->state != TAGS_OFF) return;
    gw_list_init(&t->posted);
    proto_pool_init(&t->pool, sizeof(struct proto_tag_recv));
    t->limits = *caps;
    t->net = w;
    t->state = TAGS_NET;
    /* Who has told how many entries there are means all that the network keeps; else the network says itself when it has no more. */
    t->untold = gw_set.match_entries >= 0 ? calloc((size_t)node_numbers_max(), sizeof *t->untold)
                                          : NULL; /* what is not used costs no memory */
    GW_EXPLAIN(GW_LOG_PROTO,
               "messages from other nodes are matched by the network: context ids to %d, tags to %d, %d receives at once",
               t->limits.ctx_max, t->limits.tag_max, entries_of(pl));
}

void proto_tags_finish(struct proto_lane *pl)
{
    if (pl->tags.state != TAGS_OFF) proto_pool_finish(&pl->tags.pool);
    free(pl->tags.untold);
    pl->tags.untold = NULL;
}

/* ---- sending ------------------------------------------------------------------------------------------------------------------ */
static struct wire_tag tag_of(const struct proto_lane *pl, const struct proto_hdr *h, bool asks)
{
    return (struct wire_tag){tag_ctx(pl, h->ctx), h->src, h->tag, asks};
}

/* A message was sent by tag.  Its receiver cannot see it before a receive is posted, but it takes a match entry all the same; so the receiver
 * is told, behind it on the same way, of every sixteenth of its entries. */
static void sent(struct proto_lane *pl, struct gw_peer *p)
{
    enum { PARTS = 16 };
    if (!pl->tags.untold) return;
    uint16_t *n = &pl->tags.untold[p - pl->lane->peers];
    if (++*n < gw_min64(gw_max64(entries_of(pl) / PARTS, 1), PROTO_TAGGED_MOST)) return;
    struct proto_ctl c = {(uint64_t)p->ep->as, *n};
    if (peer_short(p, PROTO_TAGGED, &c, NULL, 0) == GW_OK)
        *n = 0;
    else if (*n == PROTO_TAGGED_MOST)
        --*n; /* no room for it: with the next one, then */
}

int proto_tag_send(struct proto_lane *pl, struct gw_peer *p, enum proto_kind kind, const struct proto_hdr *h, const void *payload,
                   size_t len)
{
    struct wire_tag tag = tag_of(pl, h, kind == PROTO_RTS);
    if (unlikely(h->tag > pl->tags.limits.tag_max)) return p->ep->ops->tag.check(p->ep->wire, &tag);
    if (kind == PROTO_EAGER) {
        int rc = p->ep->ops->tag.send(p->ep, &tag, payload, len);
        if (rc == GW_OK) sent(pl, p);
        return rc;
    }
    struct tag_ask ask = {.world = h->world};
    assert(kind == PROTO_RTS && len == sizeof ask.rts);
    memcpy(&ask.rts, payload, sizeof ask.rts);
    int rc = p->ep->ops->tag.send(p->ep, &tag, &ask, sizeof ask);
    if (rc == GW_OK) sent(pl, p);
    return rc;
}

/* ---- a message came to a receive ---------------------------------------------------------------------------------------------- */
static void tag_recv_free(struct proto_lane *pl, struct proto_tag_recv *t)
{
    gw_list_del(&t->link);
    pl->tags.n_posted--;
    pl->tags.n_any -= t->is_any;
    free(t->bounce);
    proto_pool_give(&pl->tags.pool, t);
}

static void cancelled(struct proto_lane *pl, struct proto_tag_recv *t)
{
    struct proto_recv *r = t->r;
    if (!t->is_unwanted) { /* take_over() has cancelled it */
        pl->tags.n_back++;
        return;
    }
    tag_recv_free(pl, t);
    proto_recv_cancelled(r);
}

static void take_over_soon(struct proto_lane *pl, const char *why);
/* False: that is no question of a rank's. */
static bool ask_read(const struct proto_lane *pl, const void *payload, size_t len, struct tag_ask *ask_out)
{
    if (len != sizeof *ask_out) return proto_msg_reject(PROTO_RTS, "length", (int64_t)len);
    memcpy(ask_out, payload, sizeof *ask_out);
    if (!proto_msg_check_rts(&ask_out->rts)) return false;
    return peer_may_say(pl->lane, ask_out->world, true) || proto_msg_reject(PROTO_RTS, "sender", ask_out->world);
}

/* The receive has met what is none: it waits on, behind those that were posted meanwhile. */
static GW_COLD void waits_again(struct proto_lane *pl, struct proto_tag_recv *t)
{
    struct match_recv *m = &t->r->m;
    if (t->is_unwanted) {
        cancelled(pl, t);
        return;
    }
    t->take.tag = (struct wire_tag){tag_ctx(pl, m->ctx), m->src, m->tag, 0};
    if (!pl->tags.must_take_over) {
        gw_list_del(&t->link);
        gw_list_push(&pl->tags.posted, &t->link);
        if (pl->tags.net->ops->tag.recv(pl->tags.net->wire, t->from, &t->take) == GW_POSTED) return;
        take_over_soon(pl, "the network takes no more receives");
    }
    t->is_back = true;
    pl->tags.n_back++;
}

static void asked(struct proto_lane *pl, struct proto_tag_recv *t)
{
    struct proto_recv *r = t->r;
    struct wire_tag tag = t->take.tag;
    struct tag_ask ask;
    bool is_right = ask_read(pl, t->take.buf, t->take.len, &ask);
    if (t->take.buf == r->data.run)
        memcpy(r->data.run, t->first, sizeof t->first); /* behind a shorter message it stays as it was */
    if (!is_right) {
        waits_again(pl, t);
        return;
    }
    tag_recv_free(pl, t);
    r->state = RECV_POSTED;
    proto_rndv_start(pl, r, tag.src, tag.tag, &ask.rts, ask.world, false);
}

static void delivered(struct proto_lane *pl, struct proto_tag_recv *t)
{
    struct proto_recv *r = t->r;
    int64_t len = (int64_t)t->take.len;
    if (t->take.buf != r->data.run) {
        int64_t there = gw_min64(len, (int64_t)t->take.cap);
        if (len > there) { /* it is longer than the buffer in any case: what does not matter is not there */
            gw_status_fill(&r->req.status, t->take.tag.src, t->take.tag.tag, len, false);
            r->len = len;
            proto_recv_finish(r);
        } else {
            proto_eager_deliver(r, t->take.tag.src, t->take.tag.tag, t->take.buf, len);
        }
    } else {
        gw_status_fill(&r->req.status, t->take.tag.src, t->take.tag.tag, len, false);
        r->len = len;
        proto_recv_finish(r);
    }
    tag_recv_free(pl, t);
}

static void take_done(struct gw_done *done, int err)
{
    struct proto_tag_recv *t = container_of(done, struct proto_tag_recv, take.done);
    struct proto_lane *pl = t->pl;
    (void)err; /* a message that is too long shows by its length */
    gw_counted(&gw_count.net_matched, !t->take.is_cancelled);
    pl->tags.n_matched += !t->take.is_cancelled;
    if (t->take.is_cancelled)
        cancelled(pl, t);
    else if (t->take.tag.asks)
        asked(pl, t);
    else
        delivered(pl, t);
}

/* ---- taking over -------------------------------------------------------------------------------------------------------------- */
/* Not from within the wire's progress.  Receives come back from the wire, in whatever order; they are posted again in theirs. */
static void take_over(struct proto_lane *pl, const char *why)
{
    struct proto_tags *tags = &pl->tags;
    assert(tags->state == TAGS_NET && !pl->tags.net->is_busy);
    GW_EXPLAIN(GW_LOG_PROTO, "lane %d matches messages from other nodes itself from now on: %s", pl->lane->index, why);
    gw_counted(&gw_count.match_moves, 1);
    tags->must_take_over = true; /* what arrives meanwhile need not ask for it again */
    /* The youngest first: a message that comes in between must not find a younger receive where an older one was. */
    for (struct gw_list *l = tags->posted.prev; l != &tags->posted; l = l->prev) {
        struct proto_tag_recv *t = container_of(l, struct proto_tag_recv, link);
        if (!t->is_back) pl->tags.net->ops->tag.cancel(pl->tags.net->wire, &t->take);
    }
    while (tags->n_back < tags->n_posted) peer_net_look(pl->tags.net);
    tags->must_take_over = false;
    tags->state = TAGS_OWN;
    while (!gw_list_empty(&tags->posted)) {
        struct proto_tag_recv *t = container_of(tags->posted.next, struct proto_tag_recv, link);
        struct proto_recv *r = t->r;
        tag_recv_free(pl, t);
        proto_recv_offer(pl, r);
    }
    if (pl->tags.net->ops->tag.catch(pl->tags.net->wire) != GW_OK) gw_die("%s", gw_fail_text());
}

int proto_tags_poll(struct proto_lane *pl)
{
    if (likely(!pl->tags.must_take_over) || pl->tags.net->is_busy) return 0;
    take_over(pl, pl->tags.why);
    return 1;
}

static void take_over_soon(struct proto_lane *pl, const char *why)
{
    if (pl->tags.state != TAGS_NET || pl->tags.must_take_over) return;
    pl->tags.must_take_over = true;
    pl->tags.why = why;
    proto_lane_hook(pl);
}

/* Messages that the network holds because no receive was posted for them, as far as their senders have told. */
static int unexpected_of(const struct proto_lane *pl)
{
    return (int)gw_min64(gw_max64(pl->tags.n_told - pl->tags.n_matched, 0), INT32_MAX / 2);
}

static int used_of(const struct proto_lane *pl) { return pl->tags.n_posted + unexpected_of(pl); }

static GW_COLD __attribute__((noreturn)) void exhausted(const struct proto_lane *pl)
{
    gw_die("LE resources not recovered during flow control: %d of the network's match entries hold receives of this "
           "rank and %d hold messages that came before their receives, and there are no more for "
           "messages or receives; GODWIT_MATCH_MODE (FI_CXI_RX_MATCH_MODE)=[hybrid OR software] is required",
           pl->tags.n_posted, unexpected_of(pl));
}

/* In order behind the messages that it tells of, and what they have been matched with is counted: no more than those are unexpected. */
void proto_tags_told(struct proto_lane *pl, const struct proto_ctl *c)
{
    pl->tags.n_told += (int64_t)c->value;
    int most = entries_of(pl), used = used_of(pl);
    if (pl->tags.state != TAGS_NET || gw_set.match_entries < 0 || unexpected_of(pl) == 0) return;
    if (gw_set.match_mode == GW_SET_MATCH_MODE_HYBRID && used >= most - most / 4)
        take_over_soon(pl, "match entries of the network run out");
    else if (gw_set.match_mode == GW_SET_MATCH_MODE_HARDWARE && used > most)
        exhausted(pl);
}

void proto_tags_full(struct proto_lane *pl)
{
    if (gw_set.match_mode == GW_SET_MATCH_MODE_HARDWARE) exhausted(pl);
    take_over_soon(pl, "the network has no match entry left");
}

/* A message came by another way than the wire's matching, and no receive in match/ wants it. */
void proto_tags_other_arrived(struct proto_lane *pl, const struct proto_hdr *h)
{
    if (!(h->ctx & PROTO_STREAM_MASK)) take_over_soon(pl, "a receive from any source is satisfied from shared memory");
}

/* A message for this receive or probe may come over the network. */
static bool may_be_far(const struct proto_lane *pl, const struct proto_addr *a)
{
    if (a->peer) return peer_route(pl->lane, (int)(a->peer - pl->lane->peers)) == pl->tags.net;
    return !a->is_near || peer_route(pl->lane, gw_boot.rank) == pl->tags.net; /* GODWIT_WIRES=ofi: even what we send to ourselves */
}

void proto_tags_look_inside(struct proto_lane *pl, const struct proto_addr *a)
{
    if (pl->tags.state == TAGS_NET && may_be_far(pl, a) && !(a->ctx & PROTO_STREAM_MASK) && !pl->tags.net->is_busy)
        take_over(pl, "it probes for messages");
}

void proto_tags_cancel_arrived(struct proto_lane *pl) { take_over_soon(pl, "the sender cancels a message"); }

/* ---- posting ------------------------------------------------------------------------------------------------------------------ */
static const uint64_t patience_ns = 1000000000; /* for entries to come free */

static void entries_wait(struct proto_lane *pl, int most)
{
    /* Not by what came before its receive: this receive may be the one that frees such an entry. */
    for (uint64_t since = gw_now_ns(); pl->tags.n_posted >= most; peer_net_look(pl->tags.net))
        if (gw_now_ns() - since > patience_ns) exhausted(pl);
}

static int by_name(const void *a, const void *b) { return memcmp(a, b, sizeof(struct wire_tag)); }

/* Says it while there is still time to change something, and whose messages most of the receives are for. */
static GW_COLD void entries_warn(const struct proto_lane *pl, int most)
{
    int n = 0, same = 0, best = 0, best_at = 0;
    struct wire_tag *names = gw_xmalloc((size_t)pl->tags.n_posted * sizeof *names);
    for (struct gw_list *l = pl->tags.posted.next; l != &pl->tags.posted; l = l->next)
        names[n++] = container_of(l, struct proto_tag_recv, link)->take.tag;
    qsort(names, (size_t)n, sizeof *names, by_name);
    for (int i = 0; i < n; i++) {
        same = i && by_name(&names[i - 1], &names[i]) == 0 ? same + 1 : 1;
        if (same <= best) continue;
        best = same;
        best_at = i;
    }
    char source[32] = "any source", tag[32] = "any tag";
    if (names[best_at].src != GW_ANY_SOURCE) snprintf(source, sizeof source, "rank %d", names[best_at].src);
    if (names[best_at].tag != GW_ANY_TAG) snprintf(tag, sizeof tag, "tag %d", names[best_at].tag);
    gw_warn(
        "%d of %d match entries of the network are in use, %d of them for messages from %s with %s, and %d by messages that came before "
        "their receives; the job ends when none is left, unless %s is hybrid or software",
        used_of(pl), most, best, source, tag, unexpected_of(pl), gw_setting_said("GODWIT_MATCH_MODE"));
    free(names);
}

/* There is an entry for one more.  False: the lane has taken over. */
static bool entries_allow(struct proto_lane *pl)
{
    struct proto_tags *tags = &pl->tags;
    int most = entries_of(pl);
    bool is_near = used_of(pl) >= most - most / 4;
    if (likely(!is_near)) return true;
    if (gw_set.match_mode == GW_SET_MATCH_MODE_HYBRID) {
        take_over(pl, "match entries of the network run out");
        return false;
    }
    if (!tags->has_warned && tags->n_posted > 0) entries_warn(pl, most);
    tags->has_warned = true;
    if (gw_set.match_entries >= 0) entries_wait(pl, most);
    return true;
}

static struct proto_tag_recv *tag_recv_new(struct proto_lane *pl, struct proto_recv *r, const struct proto_addr *a)
{
    struct proto_tag_recv *t = proto_pool_take(&pl->tags.pool);
    memset(t, 0, offsetof(struct proto_tag_recv, first));
    t->take.done.fn = take_done;
    t->take.tag = (struct wire_tag){tag_ctx(pl, a->ctx), a->rank, a->tag, 0};
    t->r = r;
    t->pl = pl;
    t->is_any = a->rank == GW_ANY_SOURCE;
    size_t cap = (size_t)gw_min64(r->data.bytes, (int64_t)pl->limits[pl->tags.net->index].pack_max);
    if (cap < sizeof t->first) {
        t->take.buf = t->first;
        t->take.cap = sizeof t->first;
    } else {
        /* A tag_ask is most likely what comes to a long one, and programs that measure post one buffer to several receives. */
        bool is_direct = gw_data_is_run(&r->data) && r->data.bytes <= pl->limits[pl->tags.net->index].eager_max;
        if (!is_direct) t->bounce = gw_xmalloc(cap);
        if (is_direct) memcpy(t->first, r->data.run, sizeof t->first);
        t->take.buf = is_direct ? r->data.run : t->bounce;
        t->take.cap = cap;
    }
    gw_list_push(&pl->tags.posted, &t->link);
    pl->tags.n_posted++;
    pl->tags.n_any += t->is_any;
    return t;
}

/* Is a receive from any source posted to the wire that this one, posted in match/, would have to stand behind? */
static bool has_any_before(const struct proto_lane *pl, uint32_t ctx)
{
    if (likely(!pl->tags.n_any)) return false;
    for (const struct gw_list *l = pl->tags.posted.next; l != &pl->tags.posted; l = l->next) {
        const struct proto_tag_recv *t = container_of(l, struct proto_tag_recv, link);
        if (t->is_any && t->take.tag.ctx == tag_ctx(pl, ctx)) return true;
    }
    return false;
}

static int to_wire(struct proto_lane *pl, struct proto_recv *r, const struct proto_addr *a)
{
    if (a->tag > pl->tags.limits.tag_max) {
        struct wire_tag tag = {0, 0, a->tag, 0};
        return pl->tags.net->ops->tag.check(pl->tags.net->wire, &tag);
    }
    if (a->peer && !peer_is_ready(a->peer)) {
        int rc = peer_connect(pl->lane, a->peer);
        assert(rc != GW_AGAIN); /* only rings in memory have to wait for their other end */
        if (rc < 0) return rc;
    }
    struct proto_tag_recv *t = tag_recv_new(pl, r, a);
    int rc;
    r->state = RECV_AT_WIRE;
    r->at_wire = t;
    /* Entries come free when a receive finds its message, and when a long message that was on its way is there. */
    t->from = a->peer ? a->peer->ep : NULL;
    for (uint64_t since = gw_now_ns(); (rc = pl->tags.net->ops->tag.recv(pl->tags.net->wire, t->from, &t->take)) == GW_AGAIN;) {
        if (gw_set.match_mode == GW_SET_MATCH_MODE_HYBRID) break;
        if (gw_now_ns() - since > patience_ns) exhausted(pl);
        peer_net_look(pl->tags.net);
    }
    if (rc == GW_POSTED) return rc;
    tag_recv_free(pl, t);
    r->state = RECV_POSTED;
    if (rc == GW_AGAIN) take_over(pl, "the network takes no more receives");
    return rc;
}

/* The communicator's messages go as without all this. */
static GW_COLD void no_room(struct proto_lane *pl, const struct proto_addr *a)
{
    struct wire_tag tag = {tag_ctx(pl, a->ctx), a->rank == GW_ANY_SOURCE ? 0 : a->rank, 0, 0};
    if (pl->tags.has_told_room || tag.ctx == TAG_NO_CTX) return;
    pl->tags.has_told_room = true;
    if (pl->tags.net->ops->tag.check(pl->tags.net->wire, &tag) == GW_OK) return;
    if (gw_set.match_mode == GW_SET_MATCH_MODE_HARDWARE)
        gw_warn("the network does not match all messages: %s", gw_fail_text());
    else
        GW_EXPLAIN(GW_LOG_PROTO, "the network does not match all messages: %s", gw_fail_text());
}

bool proto_tag_recv(struct proto_lane *pl, struct proto_recv *r, const struct proto_addr *a)
{
    if (!pl->lane->n_nets || a->ctx & PROTO_STREAM_MASK) return false;
    if (pl->tags.state == TAGS_OFF && gw_set.match_mode != GW_SET_MATCH_MODE_SOFTWARE) proto_limits_of_nets(pl);
    if (pl->tags.state != TAGS_NET) return false;
    if (pl->tags.must_take_over) take_over(pl, pl->tags.why);
    if (pl->tags.state != TAGS_NET) return false;
    bool is_any = a->rank == GW_ANY_SOURCE;
    bool is_far = may_be_far(pl, a), has_room = tag_has_room(pl, a->ctx, is_any ? 0 : a->rank);
    if (is_far && !has_room) no_room(pl, a);
    if (!is_far || !has_room) {
        if (has_any_before(pl, a->ctx)) take_over(pl, "a receive from shared memory stands behind one from any source");
        return false;
    }
    if (proto_recv_find(pl, r) || !entries_allow(pl)) return pl->tags.state == TAGS_NET;
    int rc = to_wire(pl, r, a);
    if (rc < 0) {
        r->req.err = rc;
        proto_type_drop(r->data.type);
        req_complete(&r->req);
    }
    return rc != GW_AGAIN;
}

void proto_tag_recv_cancel(struct proto_lane *pl, struct proto_recv *r)
{
    struct proto_tag_recv *t = r->at_wire;
    t->is_unwanted = true;
    pl->tags.n_back -= t->is_back;
    if (t->is_back)
        cancelled(pl, t);
    else
        pl->tags.net->ops->tag.cancel(pl->tags.net->wire, &t->take);
}

int64_t proto_tags_posted_in(const struct proto_lane *pl, uint32_t ctx)
{
    int64_t n = 0;
    if (!pl->tags.n_posted) return 0;
    for (const struct gw_list *l = pl->tags.posted.next; l != &pl->tags.posted; l = l->next)
        n += container_of(l, struct proto_tag_recv, link)->r->m.ctx == ctx;
    return n;
}

/* ---- in OWN: what the wire gives us -------------------------------------------------------------------------------------------- */
static bool caught_is_right(const struct proto_lane *pl, const struct wire_tag *tag, size_t len)
{
    if (pl->tags.state != TAGS_OWN) return proto_msg_reject(0, "kind", PROTO_CAUGHT);
    if (tag->ctx < 0 || tag->ctx > gw_min64(pl->tags.limits.ctx_max, UINT32_MAX / (PROTO_STREAM_MASK + 1) / gw_nlanes - 1))
        return proto_msg_reject(PROTO_EAGER, "context", tag->ctx);
    if (tag->src < 0) return proto_msg_reject(PROTO_EAGER, "source", tag->src);
    if (tag->tag < 0) return proto_msg_reject(PROTO_EAGER, "tag", tag->tag);
    return len <= MSG_DATA_MAX || proto_msg_reject(PROTO_EAGER, "length", (int64_t)len);
}

void proto_tag_caught(struct proto_lane *pl, const struct wire_tag *tag, const void *payload, size_t len)
{
    struct tag_ask ask;
    if (!caught_is_right(pl, tag, len)) return;
    uint32_t id = (uint32_t)tag->ctx * (uint32_t)gw_nlanes + (uint32_t)pl->lane->index;
    struct proto_hdr h = {id * (PROTO_STREAM_MASK + 1), tag->src, tag->tag, PROTO_WORLD_UNKNOWN};
    if (!tag->asks) {
        proto_eager_arrived(pl, &h, payload, len);
        return;
    }
    if (!ask_read(pl, payload, len, &ask)) return;
    h.world = ask.world;
    proto_rts_arrived(pl, &h, &ask.rts);
}
