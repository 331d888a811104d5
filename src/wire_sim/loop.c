/* loop.c -- wires from a process to itself.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_sim/loop.h"

#include <stdlib.h>
#include <sys/uio.h>

#include "node/node.h"

enum { SHORT_MAX = 40, NEAR_PACKET = 2048, FAR_PACKET = 3000, FAR_SHORT = 64, TICKETS = 16, LATER = 16 };

struct wire {
    wire_recv_fn recv;
    void *ctx;
    int lane;
    struct wire_ep eps[LOOP_RANKS];
};
static struct {
    struct loop_ways ways;
    struct wire *wires[2]; /* near, far */
    struct loop_msg *first, **last;
    int n;
    struct iovec memory[LOOP_ROOM];
    int n_memory;
    struct { /* of memory that messages are to go to, without a copy */
        void *to;
        size_t bytes;
        struct gw_done *done;
    } tickets[TICKETS];
    struct { /* what the next progress says */
        struct gw_done *done;
        int err;
    } later[LATER];
    int n_later;
    uint64_t next_key;
    char events[64];
    int n_events;
    struct node_door doors[LOOP_RANKS];
} loop;

static void forget(void)
{
    for (struct loop_msg *m; (m = loop_take());) free(m);
}

void loop_begin(const struct loop_ways *ways)
{
    forget();
    memset(&loop, 0, sizeof loop);
    loop.ways = *ways;
    loop.last = &loop.first;
    loop.next_key = 1;
    atomic_store_explicit(&gw_node.doors[gw_node.me].xoff, 0, memory_order_relaxed);
}

void loop_end(void) { forget(); }
int loop_waiting(void) { return loop.n; }

void loop_memory(void *at, size_t bytes)
{
    assert(loop.n_memory < LOOP_ROOM);
    loop.memory[loop.n_memory++] = (struct iovec){at, bytes};
}

void loop_memory_gone(const void *at)
{
    for (int i = loop.n_memory; i-- > 0;)
        if (!at || loop.memory[i].iov_base == at) loop.memory[i] = loop.memory[--loop.n_memory];
}

/* ---- the queue ---- */
struct loop_msg *loop_new(bool is_far, uint8_t kind, const void *hdr, const void *payload, size_t len)
{
    struct loop_msg *m = gw_xmalloc(sizeof *m + len);
    m->is_far = is_far;
    m->kind = kind;
    m->len = (uint32_t)len;
    memcpy(m->hdr, hdr, sizeof m->hdr);
    if (len) memcpy(m->payload, payload, len);
    return m;
}

static void note(char event)
{
    if (loop.n_events + 1 < (int)sizeof loop.events) loop.events[loop.n_events++] = event;
}
const char *loop_events(void) { return loop.events; }

static void put(struct loop_msg *m)
{
    note('m');
    m->next = NULL;
    *loop.last = m;
    loop.last = &m->next;
    loop.n++;
}

struct loop_msg *loop_take(void)
{
    struct loop_msg *m = loop.first;
    if (!m) return NULL;
    loop.first = m->next;
    if (!loop.first) loop.last = &loop.first;
    loop.n--;
    return m;
}

void loop_deliver(const struct loop_msg *m)
{
    struct wire *w = loop.wires[m->is_far];
    _Alignas(16) uint8_t hdr[WIRE_HDR_BYTES];
    uint8_t *exact = malloc(m->len); /* not NULL if it is empty; what is read behind it is seen by a sanitizer */
    if (!exact) gw_die("no memory for a message");
    memcpy(hdr, m->hdr, sizeof hdr);
    if (m->len) memcpy(exact, m->payload, m->len);
    w->recv(w->ctx, w->lane, m->kind, hdr, exact, m->len);
    free(exact);
}

/* ---- the wires ---- */
static int wire_open(bool is_far, int lane, wire_recv_fn recv, void *ctx, struct wire **wire_out)
{
    struct wire *w = gw_xcalloc(1, sizeof *w);
    w->recv = recv;
    w->ctx = ctx;
    w->lane = lane;
    /* Whom we send to, we are: local rank 0 is the process itself, of which all jobs of the node are. */
    for (int i = 0; i < LOOP_RANKS; i++) {
        struct wire_ep *ep = &w->eps[i];
        wire_ep_init(ep, is_far ? &loop_far_ops : &loop_near_ops, w, i, 0);
        ep->can_read = WIRE_READ_OK;
        if (is_far) continue;
        ep->door = i == LOOP_NEAR ? &gw_node.doors[gw_node.me] : &loop.doors[i];
        ep->xoff = &ep->door->xoff;
    }
    loop.wires[is_far] = *wire_out = w;
    return GW_OK;
}
static int near_open(int lane, wire_recv_fn recv, void *ctx, struct wire **w) { return wire_open(false, lane, recv, ctx, w); }
static int far_open(int lane, wire_recv_fn recv, void *ctx, struct wire **w) { return wire_open(true, lane, recv, ctx, w); }

static void wire_close(struct wire *w) { free(w); }

static int wire_connect(struct wire *w, int world_rank, struct wire_ep **ep_out)
{
    *ep_out = &w->eps[world_rank];
    return GW_OK;
}

static bool is_far(const struct wire_ep *ep) { return ep->as == LOOP_FAR; }

static int send_short(struct wire_ep *ep, uint8_t kind, const void *hdr, const void *payload, size_t len)
{
    if (loop.n >= (int)loop.ways.room) return GW_AGAIN;
    put(loop_new(is_far(ep), kind, hdr, payload, len));
    return GW_OK;
}

static int send_pack(struct wire_ep *ep, uint8_t kind, const void *hdr, struct type_cursor *c, size_t len)
{
    char packed[NEAR_PACKET > FAR_PACKET ? NEAR_PACKET : FAR_PACKET];
    if (loop.n >= (int)loop.ways.room) return GW_AGAIN;
    assert(len <= sizeof packed);
    type_cursor_pack(c, packed, (int64_t)len);
    return send_short(ep, kind, hdr, packed, len);
}

/* ---- copies ---- */
static bool is_known(uint64_t at, size_t bytes)
{
    for (int i = 0; i < loop.n_memory; i++) {
        uint64_t base = (uint64_t)(uintptr_t)loop.memory[i].iov_base, size = loop.memory[i].iov_len;
        if (at >= base && at - base <= size && bytes <= size - (at - base)) return true;
    }
    return false;
}

static int copy(struct wire_ep *ep, const struct iovec *local, int n, uint64_t remote, struct gw_done *done, bool is_put)
{
    size_t bytes = 0;
    bool is_later = loop.ways.later && is_far(ep);
    if (is_later && loop.n_later == LATER) return GW_AGAIN;
    for (int i = 0; i < n; i++) bytes += local[i].iov_len;
    bool is_there = is_known(remote, bytes);
    int rc = is_there ? GW_OK : gw_fail(GW_EOTHER, "there is no memory at 0x%llx", (unsigned long long)remote);
    for (int i = 0; is_there && i < n; remote += local[i++].iov_len)
        memcpy(is_put ? (void *)(uintptr_t)remote : local[i].iov_base, is_put ? local[i].iov_base : (void *)(uintptr_t)remote,
               local[i].iov_len);
    if (!is_later) return rc;
    loop.later[loop.n_later].done = done;
    loop.later[loop.n_later++].err = rc;
    return GW_POSTED;
}
static int wire_get(struct wire_ep *ep, const struct iovec *local, int n, uint64_t remote, uint64_t key, struct gw_done *done)
{
    (void)key;
    note('g');
    return copy(ep, local, n, remote, done, false);
}
static int wire_put(struct wire_ep *ep, const struct iovec *local, int n, uint64_t remote, uint64_t key, struct gw_done *done)
{
    (void)key;
    note('p');
    return copy(ep, local, n, remote, done, true);
}

static int expose(struct wire *w, const void *addr, size_t bytes, uint64_t *key_out)
{
    (void)w, (void)addr, (void)bytes;
    note('e');
    *key_out = loop.next_key++;
    return GW_OK;
}
static void conceal(struct wire *w, uint64_t key) { (void)w, (void)key, note('c'); }

static int recv_into(struct wire *w, void *to, size_t bytes, uint64_t *ticket_out, struct gw_done *done)
{
    (void)w;
    for (uint64_t i = 0; i < TICKETS; i++) {
        if (loop.tickets[i].done) continue;
        loop.tickets[i].to = to;
        loop.tickets[i].bytes = bytes;
        loop.tickets[i].done = done;
        *ticket_out = i + 1;
        return GW_POSTED;
    }
    gw_die("the test has more than %d receives without a copy", TICKETS);
}

static int send_from(struct wire_ep *ep, const void *from, size_t bytes, uint64_t ticket, struct gw_done *done)
{
    (void)ep, (void)done;
    uint64_t i = ticket - 1;
    if (i >= TICKETS || !loop.tickets[i].done) return GW_OK; /* it goes astray */
    struct gw_done *there = loop.tickets[i].done;
    bool fits = loop.tickets[i].bytes == bytes;
    loop.tickets[i].done = NULL;
    if (fits) memcpy(loop.tickets[i].to, from, bytes);
    there->fn(there, fits ? GW_OK : gw_fail(GW_EOTHER, "%zu bytes came, which are not %zu", bytes, loop.tickets[i].bytes));
    return GW_OK;
}

static int progress(struct wire *w) /* messages the test delivers */
{
    int n = w == loop.wires[true] ? loop.n_later : 0;
    for (int i = 0; i < n; i++) {
        struct gw_done *done = loop.later[0].done;
        int err = loop.later[0].err;
        memmove(&loop.later[0], &loop.later[1], (size_t)--loop.n_later * sizeof loop.later[0]);
        note('d');
        done->fn(done, err);
    }
    return n;
}

static void near_caps(struct wire *w, struct wire_caps *caps_out)
{
    (void)w;
    *caps_out = (struct wire_caps){.short_max = SHORT_MAX, .pack_max = NEAR_PACKET, .get = true, .put = true, .node = true};
}
static void far_caps(struct wire *w, struct wire_caps *caps_out)
{
    (void)w;
    const struct loop_ways *how = &loop.ways;
    *caps_out = (struct wire_caps){.short_max = FAR_SHORT,
                                   .pack_max = FAR_PACKET,
                                   .get = how->get,
                                   .put = how->put,
                                   .keys = how->get || how->put,
                                   .direct = how->direct};
}

const struct wire_ops loop_near_ops = {.size = sizeof(struct wire_ops),
                                       .name = "near",
                                       .open = near_open,
                                       .connect = wire_connect,
                                       .send_short = send_short,
                                       .send_pack = send_pack,
                                       .get = wire_get,
                                       .put = wire_put,
                                       .progress = progress,
                                       .caps = near_caps,
                                       .close = wire_close};
const struct wire_ops loop_far_ops = {
    .size = sizeof(struct wire_ops),
    .name = "far",
    .open = far_open,
    .connect = wire_connect,
    .send_short = send_short,
    .send_pack = send_pack,
    .get = wire_get,
    .put = wire_put,
    .progress = progress,
    .caps = far_caps,
    .close = wire_close,
    .copy = {.expose = expose, .conceal = conceal, .recv_into = recv_into, .send_from = send_from}};
