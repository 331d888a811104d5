/* proto_far.c -- messages to other nodes: thresholds, coalescing, and R1 by writing into the receive buffer.
 *
 * The receiver of R1 exposes its buffer and sends its address and key with CTS; the sender writes chunks there, a few at a time, and then
 * sends PUT.  If the network cannot write remote memory, the receiver posts the buffer and sends a ticket (wire.h) instead, and the sender
 * sends one zero-copy message.  If a side is not contiguous, pieces go through the wire's buffers as on a node.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "proto/proto_private.h"
#include "base/lock.h"
#include "base/count.h"
#include "base/settings.h"
#include "base/time.h"

#include <sys/uio.h>

enum { EAGER_CARD = 64 << 10, EAGER_SOFT = 128 << 10 };
enum { CHUNKS_AHEAD = 4, HEADER_COUNTED = 40 /* of the documents: it counts towards the limit of E1 */ };

int64_t proto_far_short_default(int size)
{
    static const struct {
        int ranks, bytes;
    } steps[] = {{512, 8152}, {1024, 2008}, {16384, 472}, {262144, 216}};
    for (size_t i = 0; i < GW_ARRAY_LEN(steps); i++)
        if (size <= steps[i].ranks) return steps[i].bytes;
    return 100;
}

int64_t proto_far_eager(bool is_soft)
{
    /* Two copies are shorter than the two messages more of a question: over TCP 64 KiB took 31 us so and 41 with it, 130,000 bytes 35 and
     * 47 (two hosts on veth, Skylake-X, November 2026). */
    int64_t eager = gw_set.net_eager_max >= 0 ? gw_set.net_eager_max : is_soft ? EAGER_SOFT : EAGER_CARD;
    return eager - HEADER_COUNTED;
}

void proto_far_set_up(struct proto_lane *pl, struct lane_wire *w)
{
    struct wire_caps caps;
    struct proto_limits *f = &pl->limits[w->index];
    w->ops->caps(w->wire, &caps);
    int64_t packet = (int64_t)caps.pack_max - PROTO_SYNC_PREFIX;
    f->pack_max = caps.pack_max;
    f->can_get = caps.get;
    f->by_key = caps.keys;
    f->fast_mode = PROTO_STANDARD; /* small ones in a row go as one: proto_far_coalesces() */
    proto_tags_set_up(pl, w, &caps);
    f->inline_max =
        gw_min64((int64_t)caps.short_max, gw_set.net_short_max >= 0 ? gw_set.net_short_max : proto_far_short_default(gw_boot.size));
    bool is_plain = gw_set.proto == GW_SET_PROTO_AUTO && !gw_checking && pl->tags.state == TAGS_OFF;
    f->fast_max = is_plain ? f->inline_max : -1;
    f->eager_max = gw_set.proto == GW_SET_PROTO_E1 ? packet : gw_min64(proto_far_eager(caps.soft), packet);
    /* Over the TCP of a node's kernel 1 MiB took longer read or written than sent, and written twice as long (November 2026). */
    bool is_forced = gw_set.proto == GW_SET_PROTO_R0 || gw_set.proto == GW_SET_PROTO_R1;
    bool may = gw_set.net_rendezvous == GW_SET_NET_RENDEZVOUS_AUTO ? !caps.soft || is_forced
                                                                   : gw_set.net_rendezvous == GW_SET_NET_RENDEZVOUS_ENABLED;
    f->may_get = may && caps.get && caps.keys;
    f->may_put = may && caps.put && caps.keys;
    f->is_direct =
        caps.direct && !f->may_put && gw_set.net_rendezvous == GW_SET_NET_RENDEZVOUS_AUTO && gw_set.proto != GW_SET_PROTO_E1;
    GW_EXPLAIN(GW_LOG_PROTO, "to other nodes inline to %lld bytes, eager to %lld%s%s", (long long)f->inline_max,
               (long long)f->eager_max,
               f->may_get         ? ", then read by the receiver"
                   : f->is_direct ? ", then from memory to memory"
                                  : ", then in pieces",
               f->may_put ? "; larger ones are written in chunks" : "");
}

enum proto_path proto_far_select(struct proto_lane *pl, const struct gw_peer *p, int64_t len, bool is_run, int64_t prefix,
                                 bool is_xoff)
{
    const struct proto_limits *f = limits_of(pl, p);
    int forced = gw_set.proto;
    bool may_be_eager = forced != GW_SET_PROTO_R0 && forced != GW_SET_PROTO_R1 && !is_xoff;
    if (may_be_eager && len <= f->eager_max && prefix && pl->tags.state != TAGS_OFF)
        return PROTO_R1; /* a tag has no room for a cookie */
    if (may_be_eager && forced != GW_SET_PROTO_E1 && len + prefix <= f->inline_max) return PROTO_E0;
    if (may_be_eager && len <= f->eager_max) return PROTO_E1;
    return proto_far_select_rndv(pl, p, len, is_run);
}

enum proto_path proto_far_select_rndv(struct proto_lane *pl, const struct gw_peer *p, int64_t len, bool is_run)
{
    const struct proto_limits *f = limits_of(pl, p);
    int forced = gw_set.proto;
    if (forced == GW_SET_PROTO_R1 || !is_run || !f->may_get) return PROTO_R1;
    return forced == GW_SET_PROTO_R0 || len <= gw_set.net_get_max || !f->may_put ? PROTO_R0 : PROTO_R1;
}

/* On a node a sender reads the receiver's xoff flag in shared memory.  From other nodes xoff arrives as a message (PROTO_FLOW), which a
 * program that only sends would never receive without this. */
void proto_far_poll(struct proto_lane *pl, const struct gw_peer *p)
{
    enum { EVERY = 16 };
    struct proto_limits *f = limits_of(pl, p);
    if (++f->n_sent < EVERY) return;
    f->n_sent = 0;
    bool is_row = f->burst.rounds == p->by->rounds;
    peer_net_look(p->by);
    if (is_row) f->burst.rounds = p->by->rounds;
}

/* Over TCP each message costs a system call, which on one machine also does the receiver's half: 6 us, of which 32 in one take 0.3 each
 * (two hosts on veth, Skylake-X, November 2026).  What waits is a send like any other that is not complete: its MPI_Wait sends it, and so
 * does whatever looks for progress.  The first few go at once, for a program that sends some messages and computes. */
bool proto_far_coalesces(struct proto_lane *pl, const struct gw_peer *p, int64_t len, enum proto_mode mode)
{
    enum { AT_ONCE = 4, ROW_US = 20 };
    struct proto_limits *f = limits_of(pl, p);
    uint64_t now = gw_ticks();
    if (p != f->burst.to || p->by->rounds != f->burst.rounds || now - f->burst.at > ROW_US * gw_ticks_per_us()) {
        if (f->burst.queued && pl->n_outs) proto_out_poll(pl);
        f->burst.to = p;
        f->burst.rounds = p->by->rounds;
        f->burst.n = f->burst.queued = 0;
    }
    f->burst.at = now;
    if (mode != PROTO_LATER || !proto_far_may_coalesce(len) || gw_set.net_together == 1) return false;
    if (++f->burst.n <= AT_ONCE || !p->ep->ops->send_many || pl->tags.state != TAGS_OFF || gw_checking) return false;
    f->burst.queued++;
    return true;
}

/* ---- the receiver of R1 ------------------------------------------------------------------------------------------------------ */
static void direct_explain(struct gw_done *done, int err)
{
    const struct proto_recv *r = container_of(done, struct proto_recv, done);
    gw_fail(err, "the message of %lld bytes from rank %d, tag %d did not arrive as it was announced", (long long)r->len,
            r->req.status.source, r->req.status.tag);
}

static void direct_arrived(struct gw_done *done, int err)
{
    struct proto_recv *r = container_of(done, struct proto_recv, done);
    proto_cookie_revoke(&lane_of(&gw_lanes[r->req.lane])->recv_cookies, r->name);
    r->got = r->want;
    if (unlikely(err)) {
        GW_EXPLAIN(GW_LOG_PROTO, "a long message from rank %d is lost: %s", r->world, gw_fail_text());
        proto_recv_fail(r, err, direct_explain);
        return;
    }
    proto_recv_finish(r);
}

void proto_far_offer(struct proto_lane *pl, struct proto_recv *r, struct proto_cts *cts)
{
    struct gw_peer *p = peer_get(pl->lane, r->world);
    bool is_run = r->key != 0;
    r->key = 0;                    /* the sender's is of no more use */
    if (!peer_is_ready(p)) return; /* the answer will say so */
    const struct proto_limits *f = limits_of(pl, p);
    if (f->is_direct && is_run && gw_data_is_run(&r->data)) {
        r->done.fn = direct_arrived;
        r->wire_busy = true;
        p->ep->ops->copy.recv_into(p->ep->wire, r->data.run, (size_t)r->want, &cts->key, &r->done);
        return;
    }
    if (!f->may_put || !gw_data_is_run(&r->data) || gw_set.proto == GW_SET_PROTO_E1) return;
    if (p->ep->ops->copy.expose(p->ep->wire, r->data.run, (size_t)r->want, &r->key) != GW_OK) r->key = 0;
    cts->addr = (uintptr_t)r->data.run;
    cts->key = r->key;
}

/* All data has arrived: ends the exposure of the buffer. */
void proto_far_close(struct proto_lane *pl, struct proto_recv *r)
{
    const struct wire_ep *ep = peer_get(pl->lane, r->world)->ep;
    if (r->key) ep->ops->copy.conceal(ep->wire, r->key);
    r->key = 0;
}

void proto_put_arrived(struct proto_lane *pl, bool is_far, const struct proto_ctl *c)
{
    struct proto_recv *r = proto_recv_of_cookie(pl, is_far, PROTO_PUT, c->to);
    if (!r) return;
    if (r->state != RECV_TAKING || !r->key) {
        proto_msg_reject(PROTO_PUT, "state", r->state);
        return;
    }
    proto_cookie_revoke(&pl->recv_cookies, r->name);
    r->got = r->want;
    proto_far_close(pl, r);
    proto_recv_finish(r);
}

/* ---- the sender -------------------------------------------------------------------------------------------------------------- */
struct proto_put {
    struct gw_done done;
    struct proto_op *op;
    struct proto_lane *pl;
};
_Static_assert(sizeof(struct proto_put) <= FAR_PUT_BYTES, "fits a block of its pool");

static void put_over(struct proto_lane *pl, struct proto_op *op)
{
    if (op->addr) proto_ctl_send(pl, op->peer, PROTO_PUT, (struct proto_ctl){op->to, 0}, NULL, 0);
    proto_op_finish(pl, op, GW_OK);
}

/* A write has failed: its key is invalid, or the peer has ended.  All data is then sent in pieces, since the receiver counts only those; if
 * the receiver has sent a ticket, it accepts no pieces, and the send fails. */
static GW_COLD void put_failed(struct proto_lane *pl, struct proto_op *op)
{
    if (!op->addr) {
        proto_op_finish(pl, op, op->put_err);
        return;
    }
    GW_EXPLAIN(GW_LOG_PROTO, "a message of %lld bytes goes in pieces: the receiver's memory cannot be written",
               (long long)op->data.bytes);
    op->pos = op->total;
    op->state = OP_PIECES;
}

/* The operation itself is advanced by proto_put_step(): work_poll() may be walking over it now. */
static void put_done(struct gw_done *done, int err)
{
    struct proto_put *put = container_of(done, struct proto_put, done);
    put->op->n_puts--;
    if (unlikely(err)) put->op->put_err = err;
    proto_pool_give(&put->pl->puts, put);
}

/* The CTS of a peer whose wire is not like ours may ask for what our wire cannot do. */
bool proto_put_may_start(const struct proto_lane *pl, const struct proto_op *op, const struct proto_cts *cts)
{
    const struct proto_limits *f = &pl->limits[op->peer->by->index];
    return cts->addr ? f->may_put && cts->addr <= UINT64_MAX - (uint64_t)cts->to : f->is_direct;
}

void proto_put_start(struct proto_op *op, const struct proto_cts *cts)
{
    op->addr = cts->addr;
    op->put_key = cts->key;
    op->total = op->pos;
    op->n_puts = op->put_err = 0;
    op->state = OP_PUTTING;
}

static void chunk_counted(int before)
{
    gw_counted(&gw_count.net_chunks, 1);
    gw_counted(&gw_count.net_chunks_ahead, before > 0);
}

int proto_put_step(struct proto_lane *pl, struct proto_op *op)
{
    int n = 0;
    while (op->pos < op->end && op->n_puts < CHUNKS_AHEAD && !op->put_err) {
        struct proto_put *put = proto_pool_take(&pl->puts);
        int64_t left = op->end - op->pos, len = op->addr ? gw_min64(left, gw_set.net_chunk) : left;
        struct iovec iov = {op->data.run + op->pos, (size_t)len};
        *put = (struct proto_put){{put_done}, op, pl};
        int rc = op->addr ? op->peer->ep->ops->put(op->peer->ep, &iov, 1, op->addr + (uint64_t)op->pos, op->put_key, &put->done)
                          : op->peer->ep->ops->copy.send_from(op->peer->ep, iov.iov_base, iov.iov_len, op->put_key, &put->done);
        if (rc != GW_POSTED) proto_pool_give(&pl->puts, put);
        if (rc == GW_AGAIN) return n;
        if (unlikely(rc < 0)) {
            op->put_err = rc;
            break;
        }
        if (op->addr) chunk_counted(op->n_puts);
        op->n_puts += rc == GW_POSTED;
        op->pos += len;
        n++;
    }
    if (op->n_puts || (op->pos < op->end && !op->put_err)) return n;
    if (unlikely(op->put_err))
        put_failed(pl, op);
    else
        put_over(pl, op);
    return n + 1;
}
