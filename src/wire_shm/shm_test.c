/* shm_test.c -- rings among forked ranks: every message once, whole and in order, whatever the sizes and however full.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_shm/shm_private.h"
#include "boot/boot.h"

#include <sys/prctl.h>

#include "../../test/ranks.h"

enum { MAX_RANKS = 24, KIND_DATA = 3, KIND_LAST = 4 };

struct header {
    uint32_t from, seq, len, salt;
};
_Static_assert(sizeof(struct header) == WIRE_HDR_BYTES, "fills the header");

static struct {
    uint32_t next[MAX_RANKS]; /* sequence number expected from each */
    int lasts;                /* ranks that have sent all */
    uint64_t bytes;
} seen;

static uint64_t state;
static uint32_t rnd(uint32_t n)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (uint32_t)((state >> 11) % n);
}

static unsigned char pattern(const struct header *h, uint32_t i) { return (unsigned char)(h->salt + i * 7 + (i >> 8)); }

static void arrived(void *ctx, int lane, uint8_t kind, const void *hdr, const void *payload, size_t len)
{
    struct header h;
    memcpy(&h, hdr, sizeof h);
    CHECK(ctx == &seen && lane == 0);
    CHECK(h.from < MAX_RANKS);
    if (h.from >= MAX_RANKS) return;
    CHECK_EQ(h.seq, seen.next[h.from]++);
    CHECK_EQ(h.len, len);
    for (uint32_t i = 0; i < len; i++)
        if (((const unsigned char *)payload)[i] != pattern(&h, i)) {
            CHECK_EQ(((const unsigned char *)payload)[i], pattern(&h, i));
            break;
        }
    seen.bytes += len;
    if (kind == KIND_LAST)
        seen.lasts++;
    else
        CHECK_EQ(kind, KIND_DATA);
}

static struct wire *open_wire(void)
{
    struct wire *w = NULL;
    CHECK_EQ(type_init(), GW_OK);
    CHECK_EQ(node_init(shm_ops.world.area_bytes(gw_boot.nlocal), 1, true, 65536), GW_OK);
    CHECK_EQ(shm_ops.open(0, arrived, &seen, &w), GW_OK);
    state = 99 + (uint64_t)gw_boot.rank * 1000003;
    return w;
}

static void close_wire(struct wire *w)
{
    shm_ops.close(w);
    node_finalize();
    type_finalize();
    gw_obj_finalize();
}

static struct wire_ep *connect_to(struct wire *w, int rank)
{
    struct wire_ep *ep = NULL;
    int rc;
    while ((rc = shm_ops.connect(w, rank, &ep)) == GW_AGAIN) shm_ops.progress(w);
    CHECK_EQ(rc, GW_OK);
    CHECK(ep != NULL);
    return ep;
}

/* Sends one message, contiguous or packed from a layout with holes; progress while the ring is full. */
static void send(struct wire *w, struct wire_ep *ep, uint8_t kind, uint32_t seq, uint32_t len, bool packed)
{
    static unsigned char buf[2 * (128 << 10)];
    static struct gw_type *pairs; /* two bytes of four */
    struct header h = {(uint32_t)gw_boot.rank, seq, len, rnd(256)};
    int rc;
    if (!packed) {
        for (uint32_t i = 0; i < len; i++) buf[i] = pattern(&h, i);
        while ((rc = shm_ops.send_short(ep, kind, &h, buf, len)) == GW_AGAIN) shm_ops.progress(w);
    } else {
        if (!pairs) {
            struct gw_type *two;
            CHECK_EQ(type_contiguous(2, gw_type_byte, &two), GW_OK);
            CHECK_EQ(type_resized(two, 0, 4, &pairs), GW_OK);
            type_release(two);
        }
        for (uint32_t i = 0; i < len; i++) buf[i / 2 * 4 + i % 2] = pattern(&h, i);
        struct type_cursor c;
        type_cursor_init(&c, gw_data_host(buf, (len + 1) / 2, pairs));
        while ((rc = shm_ops.send_pack(ep, kind, &h, &c, len)) == GW_AGAIN) {
            CHECK_EQ(c.pos, 0);
            shm_ops.progress(w);
        }
        CHECK_EQ(c.pos, len);
    }
    CHECK_EQ(rc, GW_OK);
    if (kind == KIND_LAST && pairs) {
        type_release(pairs);
        pairs = NULL;
    }
}

static int messages; /* of each rank to random others, itself too */

static void traffic(int rank)
{
    struct wire *w = open_wire();
    struct wire_caps caps;
    uint32_t seq[MAX_RANKS] = {0};
    struct wire_ep *eps[MAX_RANKS] = {NULL};
    shm_ops.caps(w, &caps);
    CHECK(caps.short_max == WIRE_LINE_BYTES && caps.pack_max >= 4096);
    for (int i = 0; i < messages; i++) {
        int to = (int)rnd((uint32_t)gw_boot.size);
        if (!eps[to]) eps[to] = connect_to(w, to);
        uint32_t kind = rnd(10),
                 len = kind < 7 ? rnd(WIRE_LINE_BYTES + 1)
            : kind < 9          ? rnd(3000)
                                : rnd((uint32_t)caps.pack_max + 1);
        if (rnd(500) == 0) len = (uint32_t)caps.pack_max;
        send(w, eps[to], KIND_DATA, seq[to]++, len, rnd(3) == 0);
        if (rank == 0 && rnd(400) == 0) usleep(5000); /* the rings towards us fill up */
        if (rnd(4) == 0) shm_ops.progress(w);
    }
    for (int to = 0; to < gw_boot.size; to++) {
        if (!eps[to]) eps[to] = connect_to(w, to);
        send(w, eps[to], KIND_DATA, seq[to]++, 41, false);
    }
    for (int to = 0; to < gw_boot.size; to++) send(w, eps[to], KIND_LAST, seq[to]++, 0, false);
    while (seen.lasts < gw_boot.size) shm_ops.progress(w);
    CHECK_EQ(shm_ops.progress(w), 0);
    close_wire(w);
}

/* The ring says GW_AGAIN at the right moment: not before all lines are used, and always then. */
static void full(int rank)
{
    (void)rank;
    struct wire *w = open_wire();
    struct wire_ep *ep = connect_to(w, 0);
    struct wire_caps caps;
    shm_ops.caps(w, &caps);
    while (shm_ops.progress(w)) continue; /* the announcement */
    CHECK(shm_ep_of(ep)->exclusive);
    static unsigned char payload[128 << 10];
    for (int lap = 0; lap < 5; lap++) {
        struct header h = {0, seen.next[0], 0, 0};
        uint32_t n = 0;
        for (; shm_ops.send_short(ep, KIND_DATA, &h, NULL, 0) == GW_OK; n++) h.seq++;
        CHECK_EQ(n, w->shape.nlines);
        while (shm_ops.progress(w)) continue;
        CHECK_EQ(seen.next[0], h.seq);
        shm_ops.progress(w); /* idle: publishes */
        h.len = (uint32_t)caps.pack_max;
        for (uint32_t i = 0; i < h.len; i++) payload[i] = pattern(&h, i);
        for (n = 0; shm_ops.send_short(ep, KIND_DATA, &h, payload, h.len) == GW_OK; n++) h.seq++;
        CHECK_EQ(n, w->shape.data_size / caps.pack_max);
        while (shm_ops.progress(w)) continue;
        shm_ops.progress(w);
        h.len = 65; /* two lines of bytes: pieces do not run over the end */
        for (n = 0; shm_ops.send_short(ep, KIND_DATA, &h, payload, h.len) == GW_OK; n++) h.seq++;
        CHECK_EQ(n, w->shape.nlines);
        while (shm_ops.progress(w)) continue;
        CHECK_EQ(seen.next[0], h.seq);
        shm_ops.progress(w);
    }
    close_wire(w);
}

/* An owner that is xoff gets the lines that its sender has, and then only what is sent by a call. */
static void held_back(int rank)
{
    (void)rank;
    struct wire *w = open_wire();
    struct wire_ep *ep = connect_to(w, 0);
    while (shm_ops.progress(w)) continue;
    struct header h = {0, seen.next[0], 0, 0};
    atomic_store(&ep->door->xoff, 1);
    uint32_t n = 0;
    for (; wire_ring_line(ep); n++, h.seq++) CHECK_EQ(shm_ops.send_short(ep, KIND_DATA, &h, NULL, 0), GW_OK);
    CHECK(n > 0 && n <= w->shape.nlines);
    for (int i = 0; i < 1000; i++, h.seq++) {
        CHECK(!wire_ring_line(ep));
        while (shm_ops.progress(w)) continue;
        shm_ops.progress(w); /* idle: publishes */
        CHECK_EQ(shm_ops.send_short(ep, KIND_DATA, &h, NULL, 0), GW_OK);
    }
    atomic_store(&ep->door->xoff, 0);
    CHECK_EQ(shm_ops.send_short(ep, KIND_DATA, &h, NULL, 0), GW_OK);
    h.seq++;
    CHECK(wire_ring_line(ep));
    while (shm_ops.progress(w)) continue;
    CHECK_EQ(seen.next[0], h.seq);
    close_wire(w);
}

/* Positions count modulo 2^32: start both ends of a ring shortly before that. */
static void turn_over(int rank)
{
    (void)rank;
    struct wire *w = open_wire();
    struct shm_ep *ep = shm_ep_of(connect_to(w, 0)), shared = *ep;
    while (shm_ops.progress(w)) continue;
    for (int ring = 0; ring < 2; ring++) {
        struct wire_rx *rx = &w->in.rx[ring];
        uint32_t line = UINT32_MAX - 300 - 1000 * (uint32_t)ring, byte = UINT32_MAX - (300 << 10) + 1;
        uint64_t word = (uint64_t)byte << 32 | line;
        rx->head = rx->published = line;
        rx->bytes_head = rx->bytes_published = byte;
        atomic_store(&w->rx[ring]->read, word);
        atomic_store(&w->rx[ring]->tail, word);
        struct shm_ep *use = ring ? ep : &shared;
        use->base.lines = rx->lines, use->data = (char *)(rx->lines + w->shape.nlines), use->ring = w->rx[ring],
        use->exclusive = ring == 1;
        use->base.tail = line, use->base.limit = ring ? line + w->shape.nlines : line;
        use->data_tail = use->data_read = byte;
        uint32_t seq = seen.next[0];
        for (int i = 0; i < 3000; i++) {
            send(w, &use->base, KIND_DATA, seq++, rnd(4) ? rnd(41) : rnd(5000), false);
            if (rnd(100) == 0) shm_ops.progress(w); /* mostly full */
        }
        while (seen.next[0] != seq) shm_ops.progress(w);
        CHECK(rx->head < 5000); /* it did turn over */
    }
    close_wire(w);
}

/* Direct copies both ways between two ranks, pieces of any size. */
static void direct(int rank)
{
    prctl(PR_SET_DUMPABLE, 1);
    struct wire *w = open_wire();
    uint64_t at = 0;
    static unsigned char mine[300000];
    for (size_t i = 0; i < sizeof mine; i++) mine[i] = (unsigned char)(i * 3 + (size_t)rank);
    /* Tell the addresses through the heap's first block. */
    _Atomic uint64_t *board = node_ptr(gw_node.bytes - 4096);
    atomic_store(&board[rank], (uint64_t)(uintptr_t)mine);
    while (!atomic_load(&board[0]) || !atomic_load(&board[1])) usleep(50);
    at = atomic_load(&board[1 - rank]);
    struct wire_ep *ep = connect_to(w, 1 - rank);
    if (wire_may_read(ep)) {
        unsigned char got[3][1000];
        struct iovec iov[3] = {{got[0], 1}, {got[1], 1000}, {got[2], 77}};
        CHECK_EQ(shm_ops.get(ep, iov, 3, at + 5, 0, NULL), GW_OK);
        uint32_t k = 5;
        for (int p = 0; p < 3; p++)
            for (size_t i = 0; i < iov[p].iov_len; i++, k++) CHECK_EQ(got[p][i], (unsigned char)(k * 3 + (uint32_t)(1 - rank)));
        static struct iovec many[2500]; /* more pieces than one system call takes */
        static unsigned char big[2500 * 2];
        for (int i = 0; i < 2500; i++) many[i] = (struct iovec){big + 2 * i, 1 + (size_t)(i % 2)};
        CHECK_EQ(shm_ops.get(ep, many, 2500, at, 0, NULL), GW_OK);
        k = 0;
        for (int i = 0; i < 2500; i++)
            for (size_t j = 0; j < many[i].iov_len; j++, k++)
                CHECK_EQ(big[2 * i + (int)j], (unsigned char)(k * 3 + (uint32_t)(1 - rank)));
        atomic_fetch_add(&board[2], 1);
        while (atomic_load(&board[2]) < 2) usleep(50);
        unsigned char word[4] = {1, 2, 3, (unsigned char)rank};
        struct iovec out = {word, 4};
        CHECK_EQ(shm_ops.put(ep, &out, 1, at + 200000, 0, NULL), GW_OK);
        atomic_fetch_add(&board[3], 1);
        while (atomic_load(&board[3]) < 2) usleep(50);
        CHECK(mine[200000] == 1 && mine[200001] == 2 && mine[200002] == 3 && mine[200003] == 1 - rank);
        struct iovec bad = {word, 4};
        CHECK_EQ(shm_ops.get(ep, &bad, 1, 16, 0, NULL), GW_EPEERBUFFER); /* nothing is mapped there: an error, no crash */
        CHECK_EQ(shm_ops.put(ep, &bad, 1, 16, 0, NULL), GW_EPEERBUFFER);
        bad.iov_base = (void *)16;
        CHECK_EQ(shm_ops.get(ep, &bad, 1, at, 0, NULL), GW_EBUFFER); /* nor here */
        CHECK_EQ(shm_ops.put(ep, &bad, 1, at, 0, NULL), GW_EBUFFER);
        CHECK(wire_may_read(ep));
    }
    atomic_fetch_add(&board[4], 1);
    while (atomic_load(&board[4]) < 2) usleep(50);
    close_wire(w);
}

static void cma_off(int rank)
{
    struct wire *w = open_wire();
    CHECK(!wire_may_read(connect_to(w, rank)));
    close_wire(w);
}

int main(void)
{
    messages = 20000;
    ranks_run(1, 4, traffic);
    ranks_run(2, 4, traffic);
    messages = 5000;
    ranks_run(4, 4, traffic);
    messages = 800;
    ranks_run(20, 4, traffic); /* more than have rings of their own: the shared one */
    ranks_run(1, 4, full);
    ranks_run(1, 4, held_back);
    ranks_run(1, 4, turn_over);
    ranks_run(2, 4, direct);
    setenv("GODWIT_CMA", "off", 1);
    ranks_run(1, 4, cma_off);
    return unit_end();
}
