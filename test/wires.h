/* wires.h -- the test that every wire passes: what wire/wire.h promises of any of them, over one lane and an endpoint to oneself.
 *
 * The unit test of a wire (src/wire_NAME/NAME_conform_test.c) makes the rooms below ready, describes its wire by a struct wires_rig, and
 * calls wires_conform().  What a wire's caps and operations do not have is not asked of it; how a wire does things is its own test's
 * affair.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TEST_WIRES_H
#define GW_TEST_WIRES_H

#include <poll.h>
#include <stdlib.h>
#include <sys/uio.h>

#include "base/base.h"
#include "base/time.h"
#include "boot/boot.h"
#include "wire/wire_ring.h"

#include "unit.h"

struct wires_rig {
    const struct wire_ops *ops;
    int lane;
    void (*begin)(void); /* before each open; NULL: nothing is to be done */
    void (*end)(void);   /* after each close; NULL */
    /* The process behind the endpoint dies, as far as this wire can see.  NULL: it cannot, and the launcher ends the job. */
    void (*kill)(struct wire *w, struct wire_ep *ep);
    size_t direct_most; /* what the test's provider carries from memory to memory at most; 0: all */
};

enum { WIRES_MOST = 256 << 10, WIRES_MESSAGES = 2000, WIRES_ANSWER = 77, WIRES_KINDS = 7 };
static struct {
    const struct wires_rig *rig;
    struct wire *w;
    struct wire_ep *ep;
    struct wire_caps caps;
    uint32_t sent, came, bad, answers;
    bool wants_answer; /* the receiver sends one, once */
} wires;
static int wires_n_atomics; /* times that a wire had atomic operations */

/* Progress until it is so, for half a minute at most. */
#define WIRES_UNTIL(cond)                                                                                                          \
    do {                                                                                                                           \
        for (uint64_t since = gw_now_ns(); !(cond) && gw_now_ns() - since < 30000000000u;) wires.rig->ops->progress(wires.w);      \
        CHECK(cond);                                                                                                               \
    } while (0)

static uint8_t wires_byte(uint32_t seq, size_t i) { return (uint8_t)(seq * 37 + i * 11 + (i >> 8)); }

static void wires_arrived(void *ctx, int lane, uint8_t kind, const void *hdr, const void *payload, size_t len)
{
    uint32_t h[WIRE_HDR_BYTES / 4];
    memcpy(h, hdr, sizeof h);
    CHECK(ctx == &wires && lane == wires.rig->lane);
    if (kind == WIRES_ANSWER) {
        wires.answers++;
        return;
    }
    bool is_good = h[0] == wires.came && h[1] == len && h[2] == ~h[0] && kind == 1 + h[0] % WIRES_KINDS;
    for (size_t i = 0; i < len && is_good; i++) is_good = ((const uint8_t *)payload)[i] == wires_byte(h[0], i);
    wires.bad += !is_good;
    wires.came++;
    if (wires.wants_answer) wires.wants_answer = wires.rig->ops->send_short(wires.ep, WIRES_ANSWER, h, NULL, 0) != GW_OK;
}

static void wires_open(const struct wires_rig *rig)
{
    memset(&wires, 0, sizeof wires);
    wires.rig = rig;
    if (rig->begin) rig->begin();
    CHECK_EQ(rig->ops->open(rig->lane, wires_arrived, &wires, &wires.w), GW_OK);
    int rc;
    while ((rc = rig->ops->connect(wires.w, gw_boot.rank, &wires.ep)) == GW_AGAIN) rig->ops->progress(wires.w);
    CHECK_EQ(rc, GW_OK);
    rig->ops->caps(wires.w, &wires.caps);
}

static void wires_close(void)
{
    CHECK_EQ(wires.bad, 0);
    wires.rig->ops->close(wires.w);
    if (wires.rig->end) wires.rig->end();
}

/* The next message, of this length, by one of the ways: GW_OK, GW_AGAIN or an error. */
static int wires_send(size_t len, int way)
{
    static uint8_t data[2 * WIRES_MOST];
    const struct wire_ops *ops = wires.rig->ops;
    uint32_t seq = wires.sent, h[WIRE_HDR_BYTES / 4] = {seq, (uint32_t)len, ~seq, 0};
    uint8_t kind = (uint8_t)(1 + seq % WIRES_KINDS);
    struct wire_part part = {h, data, len};
    int rc;
    for (size_t i = 0; i < len; i++) data[i] = wires_byte(seq, i);
    if (way == 1) {
        struct type_cursor c;
        type_cursor_init(&c, gw_data_host(data, (int64_t)len, gw_type_byte));
        rc = ops->send_pack(wires.ep, kind, h, &c, len);
        CHECK_EQ(c.pos, rc == GW_OK ? (int64_t)len : 0); /* refused: the cursor has not moved */
    } else if (way == 2 && ops->send_many && len + WIRE_PART_BYTES <= wires.caps.pack_max) {
        rc = ops->send_many(wires.ep, kind, &part, 1);
    } else {
        rc = ops->send_short(wires.ep, kind, h, data, len);
    }
    memset(data, 0xee, len); /* it is the caller's again */
    wires.sent += rc == GW_OK;
    return rc;
}

static void wires_send_all(size_t len, int way)
{
    int rc = GW_AGAIN;
    for (uint64_t since = gw_now_ns(); rc == GW_AGAIN && gw_now_ns() - since < 30000000000u;)
        if ((rc = wires_send(len, way)) == GW_AGAIN) wires.rig->ops->progress(wires.w);
    CHECK_EQ(rc, GW_OK);
}

/* ---- what is promised ---------------------------------------------------------------------------------------------------------- */
static void wires_endpoint(void)
{
    const struct wire_ep *ep = wires.ep;
    struct wire_ep *again = NULL;
    CHECK(wires.rig->ops->size == sizeof(struct wire_ops) && wires.rig->ops->name);
    while (wires.rig->ops->connect(wires.w, gw_boot.rank, &again) == GW_AGAIN) wires.rig->ops->progress(wires.w);
    CHECK(again == ep);
    CHECK(ep->ops == wires.rig->ops && ep->wire == wires.w && ep->as == gw_boot.rank);
    CHECK(ep->pack_max == wires.caps.pack_max && ep->short_max == wires.caps.short_max && ep->short_max <= ep->pack_max);
    CHECK(wires.caps.pack_max >= 1024 && wires.caps.pack_max <= WIRES_MOST && ep->node == wires.caps.node);
    CHECK(ep->xoff && atomic_load(ep->xoff) == 0);
    CHECK(wires.rig->ops->rings || (!ep->lines && ep->tail == ep->limit)); /* without rings no line is ever free */
    CHECK(!ep->lines || ep->door);
}

/* Every message once, whole and in order, of all lengths and by all ways. */
static void wires_order(void)
{
    for (uint32_t i = 0; i < WIRES_MESSAGES; i++) {
        size_t len = i % 3 ? i % 97 : i * 7919u % (i % 50 == 0 ? wires.caps.pack_max + 1 : 1000);
        wires_send_all(i == 500 ? wires.caps.pack_max : len, (int)(i % 4));
    }
    WIRES_UNTIL(wires.came == wires.sent);
    CHECK_EQ(wires.sent, WIRES_MESSAGES);
}

/* Without progress of the receiver there is an end to what is taken, GW_AGAIN says so, and nothing of it is lost. */
static void wires_credit(void)
{
    enum { MOST = 100000 };
    for (int round = 0; round < 3; round++) {
        size_t len = round == 1 ? 0 : wires.caps.pack_max / (round ? 2 : 1);
        int n = 0, rc = GW_OK;
        while (n < MOST && (rc = wires_send(len, 0)) == GW_OK) n++;
        if (len) CHECK_EQ(rc, GW_AGAIN);
        WIRES_UNTIL(wires.came == wires.sent);
        wires_send_all(len, 0); /* there is room again */
        WIRES_UNTIL(wires.came == wires.sent);
    }
}

/* What arrives may be answered from within progress. */
static void wires_answer(void)
{
    wires.wants_answer = true;
    wires_send_all(8, 0);
    for (int i = 0; i < 1000 && wires.wants_answer; i++) {
        wires_send_all(8, 0);
        WIRES_UNTIL(wires.came == wires.sent);
    }
    WIRES_UNTIL(wires.answers == 1 && wires.came == wires.sent);
}

/* The inlined push and look, against the table's operations: what one end does the other one sees. */
static void wires_ring(void)
{
    const struct wire_ops *ops = wires.rig->ops;
    struct wire_rings *rings = ops->rings ? ops->rings(wires.w) : NULL;
    struct wire_rx *rx;
    if (!rings) return;
    WIRES_UNTIL(wires.ep->tail != wires.ep->limit && !wire_ring_look(rings, &rx) && ops->progress(wires.w) == 0);
    for (uint32_t i = 0; i < 3 * rings->nlines; i++) {
        uint32_t h[WIRE_HDR_BYTES / 4] = {wires.sent, 8, ~wires.sent, 0};
        uint8_t payload[8], kind = (uint8_t)(1 + wires.sent % WIRES_KINDS);
        for (size_t k = 0; k < sizeof payload; k++) payload[k] = wires_byte(wires.sent, k);
        struct wire_line *l = wire_ring_line(wires.ep);
        if (l) { /* pushed here, else by the table, which sees how far the owner has read */
            memcpy(l->hdr, h, sizeof h);
            wire_ring_copy(l->data, payload, sizeof payload);
            wire_ring_commit(wires.ep, l, wire_ring_claim(wires.ep), kind, sizeof payload);
            wires.sent++;
        } else {
            CHECK_EQ(wires_send(8, 0), GW_OK);
        }
        if (i % 3 == 0) { /* taken by the table's progress, or here */
            WIRES_UNTIL(wires.came == wires.sent);
            continue;
        }
        const struct wire_line *got = wire_ring_look(rings, &rx);
        CHECK(got && (uint8_t)got->len_kind == kind && got->len_kind >> 8 == 8 && memcmp(got->data, payload, 8) == 0);
        if (!got) return;
        wires.came++;
        wire_ring_taken(rings, rx);
        CHECK(!wire_ring_look(rings, &rx));
    }
}

struct wires_end {
    struct gw_done done;
    int n, err;
};
static void wires_ended(struct gw_done *d, int err)
{
    struct wires_end *e = container_of(d, struct wires_end, done);
    e->n++;
    e->err = err;
}

static void wires_copy(bool is_put, char *local, size_t bytes, char *remote, uint64_t key)
{
    const struct wire_ops *ops = wires.rig->ops;
    struct wires_end end = {.done.fn = wires_ended};
    struct iovec iov[2] = {{local, bytes / 3}, {local + bytes / 3, bytes - bytes / 3}};
    int rc;
    while ((rc = (is_put ? ops->put : ops->get)(wires.ep, iov, 2, (uint64_t)(uintptr_t)remote, key, &end.done)) == GW_AGAIN)
        ops->progress(wires.w);
    CHECK(rc == GW_OK || (rc == GW_POSTED && !wires.caps.at_once));
    if (rc == GW_POSTED) WIRES_UNTIL(end.n > 0);
    for (int i = 0; i < 10; i++) ops->progress(wires.w);
    CHECK(end.n == (rc == GW_POSTED) && end.err == GW_OK); /* once, or not at all */
}

/* Memory is read and written where that is allowed, and only what was meant. */
static void wires_copies(void)
{
    enum { BYTES = 100000 };
    const struct wire_ops *ops = wires.rig->ops;
    bool may = wires.caps.keys || wire_may_still_read(wires.ep);
    if (!wires.caps.get || !may) return;
    char *there = malloc(BYTES), *here = malloc(BYTES);
    uint64_t key = 0;
    for (int i = 0; i < BYTES; i++) there[i] = (char)wires_byte(1, (size_t)i);
    memset(here, 0, BYTES);
    if (wires.caps.keys) CHECK(ops->copy.expose(wires.w, there, BYTES, &key) == GW_OK && key);
    wires_copy(false, here, BYTES, there, key);
    CHECK(memcmp(here, there, BYTES) == 0);
    for (int i = 0; i < BYTES; i++) here[i] = (char)wires_byte(2, (size_t)i);
    if (wires.caps.put) {
        wires_copy(true, here + 10, 5000, there + 7, key);
        CHECK(memcmp(there + 7, here + 10, 5000) == 0 && there[6] == (char)wires_byte(1, 6));
        CHECK_EQ(there[5007], (char)wires_byte(1, 5007));
    }
    if (key) ops->copy.conceal(wires.w, key);
    free(there);
    free(here);
}

static int64_t wires_combined(enum wire_atomic_op op, int64_t old, int64_t x, int64_t compare)
{
    switch (op) {
    case WIRE_ATOMIC_SUM: return old + x;
    case WIRE_ATOMIC_MIN: return x < old ? x : old;
    case WIRE_ATOMIC_MAX: return x > old ? x : old;
    case WIRE_ATOMIC_BAND: return old & x;
    case WIRE_ATOMIC_BOR: return old | x;
    case WIRE_ATOMIC_BXOR: return old ^ x;
    case WIRE_ATOMIC_WRITE: return x;
    case WIRE_ATOMIC_CSWAP: return old == compare ? x : old;
    default: return old;
    }
}
/* Each operation, with the old values and without, on as many numbers as it takes and on one: only what was meant is changed. */
static void wires_atomic_one(enum wire_atomic_op op, uint32_t n, bool wants_old, int64_t *there, uint64_t key)
{
    enum { MOST = 64 };
    int64_t operand[MOST], compare[MOST], old[MOST], before[MOST];
    for (int i = 0; i < MOST; i++) {
        there[i] = before[i] = (int64_t)wires_byte((uint32_t)op, (size_t)i) * 1000003 - 77 * i;
        operand[i] = (int64_t)wires_byte(n, (size_t)i) * 999999937 - 3;
        old[i] = -1;
    }
    for (uint32_t i = 0; i < n; i++) compare[i] = before[i + 1] + i % 2; /* every other one is what stands there */
    struct wires_end end = {.done.fn = wires_ended};
    struct wire_atomic a = {.op = op,
                            .elem = GW_ELEM_I64,
                            .n = n,
                            .at = (uintptr_t)(there + 1),
                            .key = key,
                            .operand = op == WIRE_ATOMIC_READ ? NULL : operand,
                            .compare = op == WIRE_ATOMIC_CSWAP ? compare : NULL,
                            .old = wants_old ? old : NULL};
    int rc;
    while ((rc = wires.rig->ops->copy.atomic(wires.ep, &a, &end.done)) == GW_AGAIN) wires.rig->ops->progress(wires.w);
    CHECK_EQ(rc, GW_POSTED);
    int64_t given[MOST];
    memcpy(given, operand, sizeof given);
    memset(operand, 0x55, sizeof operand); /* it was copied */
    WIRES_UNTIL(end.n > 0);
    CHECK(end.n == 1 && end.err == GW_OK && there[0] == before[0] && there[n + 1] == before[n + 1]);
    for (uint32_t i = 0; i < n; i++) {
        CHECK_EQ(there[i + 1], wires_combined(op, before[i + 1], given[i], compare[i]));
        CHECK_EQ(old[i], wants_old ? before[i + 1] : -1);
    }
}
static void wires_atomics(void)
{
    const struct wire_ops *ops = wires.rig->ops;
    int64_t *there = calloc(64, sizeof *there);
    uint64_t key = 0;
    bool has = ops->copy.atomic && ops->copy.atomic_most(wires.w, GW_ELEM_I64, WIRE_ATOMIC_SUM);
    if (has) CHECK(ops->copy.expose(wires.w, there, 64 * sizeof *there, &key) == GW_OK && key);
    for (int op = 0; has && op < WIRE_ATOMIC_OPS; op++) {
        uint32_t most = ops->copy.atomic_most(wires.w, GW_ELEM_I64, (enum wire_atomic_op)op);
        CHECK(most > 0 && most <= 62);
        for (int old = op == WIRE_ATOMIC_READ || op == WIRE_ATOMIC_CSWAP; old < 2; old++) {
            wires_atomic_one((enum wire_atomic_op)op, 1, old, there, key);
            wires_atomic_one((enum wire_atomic_op)op, most, old, there, key);
        }
    }
    wires_n_atomics += has;
    if (key) ops->copy.conceal(wires.w, key);
    free(there);
}

/* Messages from memory to memory, with others between. */
static void wires_direct(void)
{
    static const size_t bytes[] = {1, 100, 70000, 3000000};
    const struct wire_ops *ops = wires.rig->ops;
    for (size_t i = 0; wires.caps.direct && i < GW_ARRAY_LEN(bytes); i++) {
        if (wires.rig->direct_most && bytes[i] > wires.rig->direct_most) break;
        struct wires_end in = {.done.fn = wires_ended}, out = {.done.fn = wires_ended};
        char *from = malloc(bytes[i]), *to = calloc(1, bytes[i]);
        uint64_t ticket = 0;
        for (size_t k = 0; k < bytes[i]; k++) from[k] = (char)wires_byte((uint32_t)i, k);
        CHECK_EQ(ops->copy.recv_into(wires.w, to, bytes[i], &ticket, &in.done), GW_POSTED);
        wires_send_all(30, 0);
        CHECK_EQ(ops->copy.send_from(wires.ep, from, bytes[i], ticket, &out.done), GW_POSTED);
        wires_send_all(300, 0);
        WIRES_UNTIL(in.n && out.n && wires.came == wires.sent);
        CHECK(in.n == 1 && out.n == 1 && in.err == GW_OK && out.err == GW_OK && memcmp(from, to, bytes[i]) == 0);
        free(from);
        free(to);
    }
}

/* Who sleeps on what the wire says is woken by a message. */
static void wires_wake(void)
{
    const struct wire_ops *ops = wires.rig->ops;
    int fd = ops->sleep.wait_fd ? ops->sleep.wait_fd(wires.w) : -1;
    if (wires.ep->lines) { /* by the doorbell */
        uint32_t seq = atomic_load(&wires.ep->door->seq);
        atomic_fetch_add(&wires.ep->door->sleeping, 1);
        wires_send_all(8, 0);
        atomic_fetch_sub(&wires.ep->door->sleeping, 1);
        CHECK(atomic_load(&wires.ep->door->seq) != seq);
    } else if (fd >= 0) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        WIRES_UNTIL(ops->progress(wires.w) == 0 && (!ops->sleep.arm || ops->sleep.arm(wires.w) == GW_OK) && poll(&p, 1, 20) == 0);
        wires_send_all(8, 0);
        CHECK_EQ(poll(&p, 1, 10000), 1);
    }
    WIRES_UNTIL(wires.came == wires.sent);
    if (ops->world.drained) WIRES_UNTIL(ops->world.drained(wires.w));
}

/* Sooner or later a send to a process that has died says so, in words; nothing arrives twice; and no longer says so while leaving. */
static void wires_death(void)
{
    const struct wire_ops *ops = wires.rig->ops;
    int rc = GW_OK;
    if (!wires.rig->kill) return;
    wires.rig->kill(wires.w, wires.ep);
    for (uint64_t since = gw_now_ns(); rc >= 0 && gw_now_ns() - since < 30000000000u; ops->progress(wires.w)) rc = wires_send(8, 0);
    CHECK(rc < 0 && gw_fail_text()[0] && wires.came <= wires.sent);
    if (!ops->world.leave) return;
    ops->world.leave(wires.w, true);
    CHECK_EQ(wires_send(8, 0), GW_OK);
    ops->world.leave(wires.w, false);
    CHECK(wires_send(8, 0) < 0);
}

static void wires_conform(const struct wires_rig *rig)
{
    for (int times = 0; times < 2; times++) { /* a wire can be opened again */
        wires_open(rig);
        wires_endpoint();
        wires_order();
        wires_credit();
        wires_answer();
        wires_ring();
        wires_copies();
        wires_atomics();
        wires_direct();
        wires_wake();
        wires_death();
        wires_close();
    }
}

#endif
