/* proto_ahead.c -- prefetching messages that senders on other nodes keep (proto_keep.c): otherwise each would cost a round trip when it is
 * received.
 *
 * When one is received, the next ones of the same sender are requested, in order of arrival, as far as there is room.
 *
 *   KEPT --CTS sent--> ASKED --data arrives--> HERE --received--> freed
 *                        |----received, then data arrives-------> freed
 *                        '--proto_leave()--> LEFT --data arrives--> freed, data dropped
 *
 * The sender handles the CTS as that of any rendezvous, and answers with one piece.  Prefetched data may take a quarter of the room for
 * unexpected messages in addition to that room, which headers of kept messages alone may fill.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "proto/proto_private.h"

enum { ON_THE_WAY = 64, LOOK_AT = 256, ROOM_SHARE = 4 };

static struct msg_kept *kept_of(struct proto_msg *m) { return (struct msg_kept *)(void *)m->data; }

static struct proto_msg *msg_of(struct gw_list *link)
{
    char *data = (char *)container_of(link, struct msg_kept, link);
    return (struct proto_msg *)(void *)(data - offsetof(struct proto_msg, data));
}

static int64_t cost_of(const struct msg_kept *k) { return (int64_t)gw_align_up((size_t)k->rts.len, GW_ARENA_UNIT); }

bool proto_ahead_may(const struct proto_lane *pl, const struct proto_hdr *h, const struct proto_rts *rts)
{
    return rts->key == PROTO_RTS_KEPT && !rts->addr && rts->len > 0 && rts->len <= MSG_DATA_MAX && peer_is_far(pl->lane, h->world);
}

void proto_ahead_note(struct proto_lane *pl, struct proto_msg *m, const struct proto_rts *rts)
{
    struct msg_kept *k = kept_of(m);
    *k = (struct msg_kept){.rts = *rts};
    m->ahead = AHEAD_KEPT;
    gw_list_push(&pl->kept_there, &k->link);
}

static void ask(struct proto_lane *pl, struct proto_msg *m)
{
    struct msg_kept *k = kept_of(m);
    struct proto_cts cts = {0, k->rts.len, 0, 0};
    k->name = proto_cookie_give(&pl->ahead_cookies, m) | COOKIE_OF_MSG;
    m->ahead = AHEAD_ASKED;
    pl->n_ahead++;
    pl->ahead_bytes += cost_of(k);
    proto_ctl_send(pl, peer_get(pl->lane, m->world), PROTO_CTS, (struct proto_ctl){k->rts.cookie, k->name}, &cts, sizeof cts);
}

static void ask_next(struct proto_lane *pl, struct gw_list *next, int world)
{
    int left = pl->n_ahead > ON_THE_WAY / 2 ? 0 : LOOK_AT;
    for (; next != &pl->kept_there && left-- > 0 && pl->n_ahead < ON_THE_WAY; next = next->next) {
        struct proto_msg *m = msg_of(next);
        if (m->ahead != AHEAD_KEPT || m->world != world) continue;
        if (pl->ahead_bytes + cost_of(kept_of(m)) > pl->room / ROOM_SHARE) return;
        gw_counted(&gw_count.sends_fetched, 1);
        ask(pl, m);
    }
}

/* It is in no queue any more. */
static void drop(struct proto_lane *pl, struct proto_msg *m)
{
    struct msg_kept *k = kept_of(m);
    gw_list_del(&k->link);
    if (m->ahead != AHEAD_KEPT) pl->ahead_bytes -= cost_of(k);
    if (m->ahead == AHEAD_HERE) gw_arena_give(&pl->arena, k->data, (size_t)k->rts.len);
    proto_msg_drop(pl, m);
}

void proto_ahead_consume(struct proto_lane *pl, struct proto_recv *r, struct proto_msg *m)
{
    struct msg_kept *k = kept_of(m);
    if (m->ahead == AHEAD_KEPT) ask(pl, m);
    ask_next(pl, k->link.next, m->world); /* first: a receive that is over may start others */
    if (m->ahead == AHEAD_ASKED) {
        k->recv = r;
        r->state = RECV_GETTING;
        return;
    }
    proto_eager_deliver(r, m->m.src, m->m.tag, k->data, k->rts.len);
    drop(pl, m);
}

static bool data_is_right(const struct msg_kept *k, int64_t at, size_t len)
{
    if (at != 0) return proto_msg_reject(PROTO_DATA, "offset", at);
    return (int64_t)len == k->rts.len || proto_msg_reject(PROTO_DATA, "length", (int64_t)len);
}

void proto_ahead_data_arrived(struct proto_lane *pl, bool is_far, const struct proto_ctl *c, const void *payload, size_t len)
{
    struct proto_msg *m = is_far ? proto_cookie_find(&pl->ahead_cookies, c->to & ~COOKIE_OF_MSG) : NULL;
    if (!m) {
        proto_msg_reject(PROTO_DATA, "cookie", (int64_t)c->to);
        return;
    }
    struct msg_kept *k = kept_of(m);
    if (!data_is_right(k, (int64_t)c->value, len)) return;
    proto_cookie_revoke(&pl->ahead_cookies, k->name & ~COOKIE_OF_MSG);
    pl->n_ahead--;
    if (m->ahead == AHEAD_ASKED && !k->recv) {
        k->data = gw_arena_take(&pl->arena, len);
        memcpy(k->data, payload, len);
        m->ahead = AHEAD_HERE;
        gw_counted(&gw_count.unexpected_copied, (int64_t)len);
        return;
    }
    struct proto_recv *r = m->ahead == AHEAD_ASKED ? k->recv : NULL;
    int src = m->m.src, tag = m->m.tag;
    drop(pl, m);
    if (r) proto_eager_deliver(r, src, tag, payload, (int64_t)len);
}

void proto_ahead_finish(struct proto_lane *pl)
{
    pl->has_xoff = false; /* nobody is told any more that there is room again */
    while (!gw_list_empty(&pl->kept_there)) drop(pl, msg_of(pl->kept_there.next));
}

bool proto_ahead_leave(struct proto_lane *pl, struct proto_msg *m)
{
    if (m->ahead == AHEAD_NOT) return false;
    if (m->ahead == AHEAD_KEPT) {
        gw_list_del(&kept_of(m)->link);
        return false;
    }
    if (m->ahead == AHEAD_ASKED)
        m->ahead = AHEAD_LEFT;
    else
        drop(pl, m);
    return true;
}
