/* sim.c -- the wire's operations on a net in this process's memory.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_sim/sim.h"

#include <stdlib.h>
#include <sys/uio.h>

#include "node/node.h"

struct wire {
    int lane;
    wire_recv_fn recv;
    void *ctx;
    struct wire_ep *eps; /* [ranks] */
};

static struct sim_net *net;
static int me;

void sim_attach(struct sim_net *to, int rank)
{
    net = to;
    me = rank;
}

static int sim_open(int lane, wire_recv_fn recv, void *ctx, struct wire **wire_out)
{
    assert(net && lane >= 0 && lane < GW_MAX_LANES);
    struct wire *w = gw_xcalloc(1, sizeof *w);
    w->eps = gw_xcalloc((size_t)net->n, sizeof *w->eps);
    w->lane = lane;
    w->recv = recv;
    w->ctx = ctx;
    for (int i = 0; i < net->n; i++) {
        struct wire_ep *ep = &w->eps[i];
        wire_ep_init(ep, &sim_ops, w, me, i);
        ep->door = &gw_node.doors[i];
        ep->xoff = &ep->door->xoff;
        ep->can_read = net->copies_ok[me * net->n + i] ? WIRE_READ_OK : WIRE_READ_NO;
    }
    *wire_out = w;
    return GW_OK;
}

static void sim_close(struct wire *w)
{
    free(w->eps);
    free(w);
}

static int sim_connect(struct wire *w, int world_rank, struct wire_ep **ep_out)
{
    if (sim_chance(net, net->ways.again)) {
        net->refused++;
        net->credit_at[me] = net->now;
        return GW_AGAIN;
    }
    *ep_out = &w->eps[world_rank];
    return GW_OK;
}

/* ---- messages ---------------------------------------------------------------------------------------------------------- */
static int post(const struct wire_ep *ep, struct sim_msg *m, uint8_t kind, const void *hdr)
{
    m->kind = kind;
    memcpy(m->hdr, hdr, WIRE_HDR_BYTES);
    int rc = sim_net_post(net, ep->place, m) ? GW_OK : GW_AGAIN;
    net->pause(false);
    return rc;
}

static int sim_send_short(struct wire_ep *ep, uint8_t kind, const void *hdr, const void *payload, size_t len)
{
    assert(len <= net->ways.pack_max);
    struct sim_msg *m = sim_net_room(net, me, ep->place, ep->wire->lane, len);
    if (!m) return GW_AGAIN;
    if (len) memcpy(m->payload, payload, len);
    return post(ep, m, kind, hdr);
}

static int sim_send_pack(struct wire_ep *ep, uint8_t kind, const void *hdr, struct type_cursor *c, size_t len)
{
    assert(len <= net->ways.pack_max);
    struct sim_msg *m = sim_net_room(net, me, ep->place, ep->wire->lane, len);
    if (!m) return GW_AGAIN;
    int64_t packed = type_cursor_pack(c, m->payload, (int64_t)len);
    assert(packed == (int64_t)len);
    (void)packed;
    return post(ep, m, kind, hdr);
}

/* ---- one-sided copies: another rank's memory is our own process's ------------------------------------------------------------ */
struct copy {
    struct gw_done *done;
    uint64_t remote;
    int n;
    bool is_put;
    struct iovec iov[];
};

static void copy_now(const struct iovec *local, int n, uint64_t remote, bool is_put)
{
    char *there = (char *)(uintptr_t)remote;
    for (int i = 0; i < n; there += local[i++].iov_len)
        memcpy(is_put ? there : local[i].iov_base, is_put ? local[i].iov_base : there, local[i].iov_len);
}

static int copy_later(const struct wire_ep *ep, const struct copy *c, const struct iovec *local)
{
    size_t bytes = (size_t)c->n * sizeof *local;
    struct sim_msg *m = sim_net_room(net, net->n, me, ep->wire->lane, sizeof *c + bytes);
    memcpy(m->payload, c, sizeof *c);
    memcpy(m->payload + sizeof *c, local, bytes);
    m->kind = 0;
    sim_net_post(net, me, m);
    net->pause(false);
    return GW_POSTED;
}

static int one_sided(const struct wire_ep *ep, const struct iovec *local, int n, uint64_t remote, struct gw_done *done, bool is_put)
{
    struct copy c = {done, remote, n, is_put};
    if (done && sim_chance(net, net->ways.again)) {
        net->credit_at[me] = net->now;
        return GW_AGAIN;
    }
    if (done && net->ways.copies == SIM_COPY_LATER) return copy_later(ep, &c, local);
    copy_now(local, n, remote, is_put);
    net->activity++;
    net->pause(false);
    return GW_OK;
}

static int sim_get(struct wire_ep *ep, const struct iovec *local, int nlocal, uint64_t remote_addr, uint64_t key,
                   struct gw_done *done)
{
    (void)key;
    return one_sided(ep, local, nlocal, remote_addr, done, false);
}

static int sim_put(struct wire_ep *ep, const struct iovec *local, int nlocal, uint64_t remote_addr, uint64_t key,
                   struct gw_done *done)
{
    if (!net->ways.puts) return gw_fail(GW_EOTHER, "the simulated wire does not write into rank %d's memory", ep->place);
    (void)key;
    return one_sided(ep, local, nlocal, remote_addr, done, true);
}

/* ---- progress ---------------------------------------------------------------------------------------------------------- */
static void arrive(struct wire *w, const struct sim_msg *m)
{
    if (m->from < net->n) {
        w->recv(w->ctx, w->lane, m->kind, m->hdr, m->payload, m->len);
        return;
    }
    const struct copy *c = (const struct copy *)m->payload;
    copy_now(c->iov, c->n, c->remote, c->is_put);
    c->done->fn(c->done, GW_OK);
}

static int sim_progress(struct wire *w)
{
    uint32_t n = 0, most = 1 + sim_below(net, net->ways.batch);
    bool is_credited = net->credit_at[me] <= net->now; /* that what was refused may be tried again is news, too */
    if (is_credited) net->credit_at[me] = SIM_NEVER;
    for (struct sim_msg *m; n < most && (m = sim_net_take(net, me, w->lane)); n++) {
        arrive(w, m);
        free(m);
    }
    net->pause(n == 0 && !is_credited);
    return (int)n + is_credited;
}

static void sim_caps(struct wire *w, struct wire_caps *caps_out)
{
    (void)w;
    *caps_out = (struct wire_caps){.short_max = net->ways.short_max,
                                   .pack_max = net->ways.pack_max,
                                   .node = true,
                                   .get = net->ways.copies != SIM_COPY_NONE,
                                   .put = net->ways.copies != SIM_COPY_NONE};
}

const struct wire_ops sim_ops = {
    .size = sizeof(struct wire_ops),
    .name = "sim",
    .open = sim_open,
    .connect = sim_connect,
    .send_short = sim_send_short,
    .send_pack = sim_send_pack,
    .get = sim_get,
    .put = sim_put,
    .progress = sim_progress,
    .caps = sim_caps,
    .close = sim_close,
};
