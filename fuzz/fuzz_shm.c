/* fuzz_shm.c -- the rings of wire_shm in one process: sends of any size on both kinds of ring, progress in between, counters that
 * turn over.  What arrives is what was sent, in order, once.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/base.h"
#include "boot/boot.h"
#include "wire_shm/shm_private.h"

#include "fuzz.h"

struct header {
    uint32_t ring, seq, len, salt;
};
static uint32_t sent[2], arrived[2]; /* per ring: shared, exclusive */

static uint8_t pattern(const struct header *h, uint32_t i) { return (uint8_t)(h->salt + i * 7 + (i >> 8)); }
static uint8_t kind_of(const struct header *h) { return (uint8_t)((h->salt ^ h->seq) % SHM_KIND_CLAIM); }

static void receive(void *ctx, int lane, uint8_t kind, const void *hdr, const void *payload, size_t len)
{
    struct header h;
    memcpy(&h, hdr, sizeof h);
    FUZZ_CHECK(ctx == arrived && lane == 0 && h.ring < 2 && h.len == len && kind == kind_of(&h));
    FUZZ_CHECK(h.seq == arrived[h.ring]++);
    for (uint32_t i = 0; i < len; i++) FUZZ_CHECK(((const uint8_t *)payload)[i] == pattern(&h, i));
}

static bool try_send(struct wire_ep *ep, const struct header *h, bool packed)
{
    static uint8_t buf[2 << 17];
    static struct gw_type *every_other;
    int rc;
    for (uint32_t i = 0; i < h->len; i++) buf[packed ? 2 * i : i] = pattern(h, i);
    if (packed) {
        struct type_cursor c;
        if (!every_other) FUZZ_CHECK(type_resized(gw_type_byte, 0, 2, &every_other) == GW_OK);
        type_cursor_init(&c, gw_data_host(buf, h->len, every_other));
        rc = shm_ops.send_pack(ep, kind_of(h), h, &c, h->len);
        FUZZ_CHECK(c.pos == (rc == GW_OK ? h->len : 0));
    } else {
        rc = shm_ops.send_short(ep, kind_of(h), h, buf, h->len);
    }
    FUZZ_CHECK(rc == GW_OK || rc == GW_AGAIN);
    return rc == GW_OK;
}

/* Both ends of a ring start at these counts; its lines are as if never used. */
static void start_at(struct wire *w, int ring, struct shm_ep *ep, uint32_t line, uint32_t byte)
{
    struct wire_rx *rx = &w->in.rx[ring];
    uint64_t word = (uint64_t)byte << 32 | line;
    memset(rx->lines, 0, w->shape.nlines * sizeof *rx->lines);
    rx->head = rx->published = line;
    rx->bytes_head = rx->bytes_published = byte;
    atomic_store(&w->rx[ring]->read, word);
    atomic_store(&w->rx[ring]->tail, word);
    ep->base.lines = rx->lines, ep->data = (char *)(rx->lines + w->shape.nlines), ep->ring = w->rx[ring], ep->exclusive = ring == 1;
    ep->base.tail = line, ep->base.limit = ring ? line + w->shape.nlines : line;
    ep->data_tail = ep->data_read = byte;
}

static void drain(struct wire *w)
{
    while (shm_ops.progress(w)) continue;
    shm_ops.progress(w); /* idle: publishes */
    FUZZ_CHECK(arrived[0] == sent[0] && arrived[1] == sent[1]);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    setenv("GODWIT_SINGLETON", "1", 1);
    FUZZ_CHECK(boot_init() == GW_OK && type_init() == GW_OK);
    FUZZ_CHECK(node_init(shm_ops.world.area_bytes(1), 1, true, 65536) == GW_OK);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = in_open(data, size);
    struct wire *w;
    struct wire_ep *own;
    struct shm_ep eps[2];
    struct wire_caps caps;
    memset(node_area(0, 0), 0, shm_ops.world.area_bytes(1));
    memset(sent, 0, sizeof sent), memset(arrived, 0, sizeof arrived);
    FUZZ_CHECK(shm_ops.open(0, receive, arrived, &w) == GW_OK);
    FUZZ_CHECK(shm_ops.connect(w, 0, &own) == GW_OK && shm_ep_of(own)->exclusive);
    shm_ops.caps(w, &caps);
    while (shm_ops.progress(w)) continue; /* the announcement */
    FUZZ_CHECK(w->in.n == 2);
    eps[0] = eps[1] = *shm_ep_of(own);
    for (int ring = 0; ring < 2; ring++) {
        uint32_t before = w->shape.nlines + (uint32_t)in_below(&in, 600); /* no line is new when the count is 0 again */
        uint32_t line = in_byte(&in) & 1 ? -before : before * 77;
        start_at(w, ring, &eps[ring], line, (uint32_t)in_below(&in, 5000) * -(uint32_t)GW_CACHELINE);
    }
    while (in_more(&in)) {
        unsigned what = in_byte(&in);
        struct header h = {.ring = what & 1, .seq = sent[what & 1], .salt = what};
        switch (what >> 1 & 7) {
        case 0:
        case 1:
        case 2: h.len = (uint32_t)in_below(&in, WIRE_LINE_BYTES + 1); break;
        case 3: h.len = (uint32_t)in_below(&in, 3000); break;
        case 4: h.len = (uint32_t)in_below(&in, (int)caps.pack_max + 1); break;
        case 5: h.len = (uint32_t)caps.pack_max - (uint32_t)in_below(&in, 3); break;
        case 6: shm_ops.progress(w); continue;
        default: drain(w); continue;
        }
        for (int times = 1 + (int)(what >> 6) * in_below(&in, h.len > WIRE_LINE_BYTES ? 5 : 60); times > 0; times--, h.seq++) {
            if (!try_send(&eps[h.ring].base, &h, what >> 4 & 1)) {
                drain(w); /* then there must be room */
                FUZZ_CHECK(try_send(&eps[h.ring].base, &h, what >> 5 & 1));
            }
            sent[h.ring]++;
        }
    }
    drain(w);
    shm_ops.close(w);
    return 0;
}
