/* ofi_key_test.c -- what strangers send to a lane, on an invented provider: it is dropped and counted, nothing ends, and what the job's
 * ranks send comes all the same, in order and whole.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "../../test/ofi_fake.h"
#include "base/base.h"
#include "base/count.h"
#include "base/settings.h"
#include "base/time.h"
#include "boot/boot.h"

#include <stdio.h>

static struct {
    unsigned next;
    int bad;
} seen;
static unsigned char byte_of(unsigned seq, size_t i) { return (unsigned char)(seq * 29 + i * 7); }
static size_t len_of(unsigned seq) { return seq * 53 % 400; }

static void arrived(void *ctx, int lane, uint8_t kind, const void *hdr, const void *payload, size_t len)
{
    unsigned head[4];
    memcpy(head, hdr, sizeof head);
    (void)ctx;
    bool is_good = lane == 3 && kind == 5 && head[0] == seen.next && len == len_of(head[0]) && (uintptr_t)payload % OFI_ALIGN == 0;
    for (size_t i = 0; i < len && is_good; i++) is_good = ((const unsigned char *)payload)[i] == byte_of(head[0], i);
    seen.bad += !is_good;
    seen.next++;
}

static struct wire *open_wire(const struct ways *how, struct wire_ep **ep)
{
    memset(&seen, 0, sizeof seen);
    return fake_open(how, arrived, NULL, ep);
}

/* The next `n` messages of the job. */
static void send_some(struct wire *w, struct wire_ep *ep, unsigned *seq, int n)
{
    unsigned char data[400];
    for (; n > 0; n--, ++*seq) {
        unsigned head[4] = {*seq};
        for (size_t i = 0; i < len_of(*seq); i++) data[i] = byte_of(*seq, i);
        while (ofi_ops.send_short(ep, 5, head, data, len_of(*seq)) != GW_OK) ofi_ops.progress(w);
    }
}
static void rounds(struct wire *w, int n)
{
    while (n-- > 0) ofi_ops.progress(w);
}

static uint64_t dropped_since;
static int dropped(void)
{
    int n = (int)(gw_count.net_dropped - dropped_since);
    dropped_since = gw_count.net_dropped;
    return n;
}

/* ---- packets ------------------------------------------------------------------------------------------------------------------ */
struct forged {
    uint64_t key;
    struct ofi_head head;
    char payload[16];
};
enum { FORGED = 8 };
/* Each is dropped; those with the right key, too, where they contradict themselves or say what only the wire says. */
static int strangers_send(const struct wire *w)
{
    static char large[256 << 10];
    struct forged f = {w->key, {.len = 16, .kind = 5, .hdr = {0xff, 0xff}}, "0123456789abcde"};
    const struct {
        uint64_t key;
        uint32_t len;
        uint8_t kind;
        size_t bytes;
    } all[FORGED] = {
        {w->key ^ 1, 16, 5, sizeof f},       {0, 16, 5, sizeof f},
        {w->key, 17, 5, sizeof f},           {w->key, UINT32_MAX, 5, sizeof f},
        {w->key, 16, WIRE_CAUGHT, sizeof f}, {w->key, 16, WIRE_FULL, sizeof f},
        {w->key, 16, 5, sizeof f.key + 20},  {w->key + 1, 3, 5, sizeof f - 5},
    };
    int n = 0;
    for (int i = 0; i < FORGED; i++, n++) {
        f.key = all[i].key;
        f.head.len = all[i].len;
        f.head.kind = all[i].kind;
        fake_arrives(&f, all[i].bytes, false);
    }
    memcpy(large, &w->key, sizeof w->key);
    for (size_t len = 0; len < sizeof f.key + sizeof f.head; len += 7, n++) fake_arrives(large, len, false);
    fake_arrives(large, w->packet_max + 8, false);
    return n + 1;
}

static void test_packets(const struct ways *how)
{
    struct wire_ep *ep;
    struct wire *w = open_wire(how, &ep);
    unsigned seq = 0;
    int n = 0;
    dropped();
    for (int i = 0; i < 30; i++) {
        send_some(w, ep, &seq, 20);
        n += strangers_send(w);
        send_some(w, ep, &seq, 20);
        rounds(w, 3);
    }
    for (int i = 0; i < 100000 && (seen.next < seq || !ofi_ops.world.drained(w)); i++) ofi_ops.progress(w);
    rounds(w, 100);
    CHECK_EQ(seen.next, seq);
    CHECK_EQ(seen.bad, 0);
    CHECK_EQ(dropped(), n);
    close_wire(w);
}

/* One with the key, and a good message before the bad one: that is the job's. */
static void test_parts(void)
{
    struct wire_ep *ep;
    struct wire *w = open_wire(&(struct ways){.caps = FI_MSG | FI_MULTI_RECV, .inject = 64}, &ep);
    struct {
        uint64_t key;
        struct ofi_head head[2];
        char more[16];
    } p = {w->key, {{.len = 0, .kind = 5}, {.len = 0, .kind = 5, .hdr = {1}}}, ""};
    /* Their lengths are 0 and 53. */
    p.head[1].len = 53;
    dropped();
    fake_arrives(&p, sizeof p, false);
    fake_arrives(&p, sizeof p.key + sizeof *p.head, false);
    rounds(w, 2);
    CHECK_EQ(seen.next, 2);
    CHECK_EQ(seen.bad, 1); /* the second of sequence number 0 */
    CHECK_EQ(dropped(), 1);
    close_wire(w);
}

/* Too long for any buffer: the rest of the buffer comes back with an error, and the memory is not used again, since something else may
 * still be on its way into it. */
static void test_too_long(const struct ways *how)
{
    static char large[(512 << 10) + 8];
    struct wire_ep *ep;
    struct wire *w = open_wire(how, &ep);
    unsigned seq = 0;
    dropped();
    for (int i = 0; i < 20; i++) {
        send_some(w, ep, &seq, 30);
        fake_arrives(large, sizeof large, false);
        rounds(w, 3);
    }
    for (int i = 0; i < 1000 && seen.next < seq; i++) ofi_ops.progress(w);
    CHECK(seen.next == seq && !seen.bad);
    CHECK_EQ(dropped(), 20);
    bool is_multi = how->caps & FI_MULTI_RECV;
    int torn = 0;
    for (int i = 0; i < w->n_recvs + w->n_more; i++)
        torn += (i < w->n_recvs ? &w->recvs[i] : w->more[i - w->n_recvs])->state == OFI_RECV_TORN;
    CHECK_EQ(torn, is_multi ? 20 : 0);
    CHECK_EQ(w->n_more, is_multi ? 20 : 0);
    CHECK(w->n_taking == w->n_recvs && !w->must_post);
    close_wire(w);
}

/* ---- packets that never end --------------------------------------------------------------------------------------------------- */
static char large[96 << 10];

/* Until all of the job's messages are there; 20 s at most. */
static void all_arrive(struct wire *w, unsigned seq)
{
    uint64_t since = gw_now_ns();
    while (seen.next < seq && gw_now_ns() - since < 20000000000) ofi_ops.progress(w);
    CHECK(seen.next == seq && !seen.bad);
}

/* The packets end after all: the buffers serve again. */
static void stalled_end(struct wire *w, struct wire_ep *ep, unsigned *seq)
{
    dropped();
    for (int i = 0; i < net.n_stalled; i++) net.cq[net.tail++ % ENTRIES] = net.stalled[i];
    rounds(w, 10);
    CHECK_EQ(dropped(), net.n_stalled);
    int all = w->n_recvs + w->n_more;
    CHECK(w->n_taking >= w->n_recvs && w->n_taking + w->n_idle == all);
    for (int i = 0; i < 50; i++) {
        send_some(w, ep, seq, 10);
        fake_arrives(large, sizeof large, false);
        rounds(w, 3);
    }
    all_arrive(w, *seq);
    CHECK_EQ(w->n_recvs + w->n_more, all);
}

/* Each of the buffers waits for one: others take their place after a moment. */
static void test_stalled(void)
{
    struct wire_ep *ep;
    struct wire *w = open_wire(&(struct ways){.caps = FI_MSG | FI_MULTI_RECV, .inject = 64}, &ep);
    unsigned seq = 0;
    dropped();
    for (int i = 0; i < 10; i++) {
        fake_arrives(large, 100, true);
        for (int k = 0; k < 6; k++) { /* so that the buffer is full */
            send_some(w, ep, &seq, 10);
            fake_arrives(large, sizeof large, false);
        }
        rounds(w, 2);
    }
    all_arrive(w, seq);
    rounds(w, 10);
    CHECK_EQ(dropped(), 60);
    CHECK(w->n_more > 0 && w->n_more <= 10 && net.n_stalled == 10);
    stalled_end(w, ep, &seq);
    close_wire(w);
}

/* Where it is the last one that fits its buffer, nothing says that the buffer is full. */
static void test_hidden(void)
{
    struct wire_ep *ep;
    struct wire *w = open_wire(&(struct ways){.caps = FI_MSG | FI_MULTI_RECV, .inject = 64}, &ep);
    unsigned seq = 0;
    for (int i = 0; i < w->n_recvs; i++)
        for (int k = 0; k < 4; k++) fake_arrives(large, sizeof large, k == 3);
    rounds(w, 20);
    CHECK(net.buf_head == net.buf_tail && w->n_taking == w->n_recvs && net.n_stalled == w->n_recvs);
    send_some(w, ep, &seq, 100);
    all_arrive(w, seq);
    CHECK(w->n_more >= 1 && w->n_more <= 3);
    stalled_end(w, ep, &seq);
    close_wire(w);
}

/* One who waits for long, with nobody who sends: after twice the time one more, so that a year costs 25. */
static void test_quiet(void)
{
    struct wire_ep *ep;
    struct wire *w = open_wire(&(struct ways){.caps = FI_MSG | FI_MULTI_RECV, .inject = 64}, &ep);
    for (int i = 0; i < 10; i++) { /* 2^10 s */
        rounds(w, 64);
        CHECK_EQ(w->n_more, i);
        w->quiet_ns -= 1000000000ull << i;
        rounds(w, 16);
        CHECK_EQ(w->n_more, i + 1);
    }
    rounds(w, 64);
    unsigned seq = 0; /* something comes, and it is quiet again: what is there is enough */
    send_some(w, ep, &seq, 5);
    all_arrive(w, seq);
    for (int i = 0; i < 9; i++) {
        rounds(w, 64);
        w->quiet_ns -= 1000000000ull << i;
        rounds(w, 16);
    }
    CHECK_EQ(w->n_more, 10);
    close_wire(w);
}

/* ---- errors ---------------------------------------------------------------------------------------------------------------------- */
static void fail(void *context, int err)
{
    net.failed[net.n_failed].context = context;
    net.failed[net.n_failed++].err = err;
}
static void test_errors(const struct ways *how)
{
    struct wire_ep *ep;
    struct wire *w = open_wire(how, &ep);
    unsigned seq = 0;
    char internal[256] =
        "a record of the provider's own, which is none of our operations; it is as long as one of those and longer still";
    dropped();
    for (int i = 0; i < 10; i++) {
        send_some(w, ep, &seq, 10);
        fail(NULL, FI_ECONNRESET);
        fail(internal, FI_EOTHER);
        if (w->is_multi) { /* the sender went away half way */
            fail(&w->recvs[i % w->n_recvs].op, FI_ECONNRESET);
        } else {
            fail(net.bufs[net.buf_head++ % BUFFERS].context, FI_ECONNRESET);
        }
        complete(NULL, FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA, NULL, 8);
        rounds(w, 5);
    }
    rounds(w, 20);
    CHECK(seen.next == seq && !seen.bad);
    CHECK_EQ(dropped(), 40);
    CHECK(w->n_taking == w->n_recvs);
    close_wire(w);
}

/* ---- addresses, and keys of memory ---------------------------------------------------------------------------------------------- */
static void test_places(void)
{
    struct wire_ep *ep;
    struct wire *w = open_wire(&(struct ways){.caps = FI_MSG | FI_MULTI_RECV, .inject = 64}, &ep);
    struct ofi_place p;
    uint64_t key = w->key;
    CHECK(key && ofi_place_read(w->where, &p) && p.key == key && !memcmp(p.name, "here", 5) && !strcmp(p.provider, "fake"));
    close_wire(w);
    w = open_wire(&(struct ways){.caps = FI_MSG | FI_MULTI_RECV, .inject = 64}, &ep);
    CHECK(w->key != key);
    close_wire(w);
    static const char good[] = "net 1 0 0200a1b2 00000000000000ff";
    CHECK(ofi_place_read(good, &p) && p.nics == 1 && p.layout == 0 && p.key == 255);
    CHECK(p.name[0] == 2 && p.name[1] == 0 && p.name[2] == 0xa1 && p.name[3] == 0xb2 && p.name[4] == 0);
    static const char *const bad[] = {"",
                                      "net",
                                      "net 1 0",
                                      "net 1 0 ",
                                      "net 1 0 0200a1b2",
                                      "net 1 0 0200a1b2 ",
                                      "net 1 0 0200a1b 00000000000000ff",
                                      "net 1 0 0200a1bg 00000000000000ff",
                                      "net 1 0 0200a1b2 0000000000000000",
                                      "net 1 0 0200a1b2 00000000000000f",
                                      "net 1 0 0200a1b2 00000000000000ff0",
                                      "net 1 0 0200a1b2 00000000000000ff ",
                                      "net x 0 0200a1b2 00000000000000ff",
                                      "net 1 0  00000000000000ff",
                                      "net 1 0 0200A1B2 00000000000000ff",
                                      "net 1 0 0200a1b2 -0000000000000ff",
                                      "@127.0.0.1:4711"};
    for (size_t i = 0; i < GW_ARRAY_LEN(bad); i++) {
        if (ofi_place_read(bad[i], &p)) fprintf(stderr, "taken: \"%s\"\n", bad[i]);
        CHECK(!ofi_place_read(bad[i], &p));
    }
    char text[ONDEMAND_VALUE] = "net 1 0 "; /* an address that is too long */
    memset(text + strlen(text), 'a', 2 * OFI_NAME_MOST + 2);
    strcat(text, " 00000000000000ff");
    CHECK(!ofi_place_read(text, &p));
}

static void test_region_secrets(size_t key_bytes)
{
    enum { NUMBERS = 65535 };
    static uint64_t all[NUMBERS];
    struct wire_ep *ep;
    struct wire *w = open_wire(&(struct ways){.caps = FI_MSG | FI_RMA | FI_MULTI_RECV, .inject = 64}, &ep);
    w->info->domain_attr->mr_key_size = key_bytes;
    uint64_t sum = 0, most = key_bytes < 8 ? (1ull << 8 * key_bytes) - 1 : UINT64_MAX;
    for (int i = 0; i < NUMBERS; i++) {
        all[i] = ofi_region_secret(w, w->key, i + 1);
        CHECK(all[i] <= most);
        sum += all[i] > most / 2;
        CHECK(all[i] == ofi_region_secret(w, w->key, i + 1));
    }
    CHECK(sum > NUMBERS / 3 && sum < NUMBERS * 2 / 3);
    CHECK(ofi_region_secret(w, w->key ^ 1, 1) != all[0]);
    for (int gap = NUMBERS / 2; gap > 0; gap /= 2) /* sorted, no two are the same */
        for (int i = gap; i < NUMBERS; i++)
            for (int k = i - gap; k >= 0 && all[k] > all[k + gap]; k -= gap) {
                uint64_t t = all[k];
                all[k] = all[k + gap];
                all[k + gap] = t;
            }
    int same = 0;
    for (int i = 1; i < NUMBERS; i++) same += all[i] == all[i - 1];
    CHECK_EQ(same, 0);
    close_wire(w);
}

/* What the provider is told is not the number of the region, and not in the key. */
static void test_exposed(void)
{
    static char there[64];
    struct wire_ep *ep;
    struct wire *w = open_wire(&(struct ways){.caps = FI_MSG | FI_RMA | FI_MULTI_RECV, .inject = 64}, &ep);
    uint64_t key;
    CHECK_EQ(ofi_ops.copy.expose(w, there, sizeof there, &key), GW_OK);
    int n = 0;
    for (int i = 0; i < REGIONS; i++)
        if (net.regions[i].is_used && net.regions[i].access & FI_REMOTE_READ) {
            n++;
            CHECK(net.regions[i].key > 1 << 20 && net.regions[i].key != key && net.regions[i].bytes == sizeof there);
        }
    CHECK_EQ(n, 1);
    ofi_ops.copy.conceal(w, key);
    close_wire(w);
}

/* ---- messages that the provider matches carry no key: a source that there cannot be, and packets that fail, take no receive away ---- */
static struct {
    int n;
    struct wire_tag tag;
} caught;
static void caught_one(void *ctx, int lane, uint8_t kind, const void *hdr, const void *payload, size_t len)
{
    (void)ctx, (void)lane, (void)payload;
    CHECK(kind == WIRE_CAUGHT && len == 4);
    memcpy(&caught.tag, hdr, sizeof caught.tag);
    caught.n++;
}
static int n_taken;
static void taken(struct gw_done *d, int err)
{
    CHECK(err == GW_OK && container_of(d, struct wire_take, done)->is_cancelled);
    n_taken++;
}
static void tagged_arrives(const struct wire *w, uint64_t source)
{
    struct tagged *t = &net.on_way[net.n_on_way++];
    *t = (struct tagged){.tag = ofi_tag_bits(&w->layout, 5, 0, 7, OFI_TAG_PLAIN), .data = source, .len = 4, .bytes = "abc"};
}
static void test_tagged(void)
{
    const struct ways how = {.caps = FI_MSG | FI_TAGGED | FI_MULTI_RECV | FI_DIRECTED_RECV,
                             .inject = 64,
                             .entries = 16,
                             .tag_format = UINT64_MAX,
                             .cq_data = 8};
    struct wire_ep *ep;
    memset(&caught, 0, sizeof caught);
    gw_set.match_mode = GW_SET_MATCH_MODE_HYBRID;
    struct wire *w = fake_open(&how, caught_one, NULL, &ep);
    char to[16] = "";
    struct wire_take take = {.done.fn = taken, .buf = to, .cap = sizeof to, .tag = {5, GW_ANY_SOURCE, 7, 0}};
    CHECK(w->is_tagged && w->layout.mode == OFI_TAG_FULL);
    dropped();
    CHECK_EQ(ofi_ops.tag.recv(w, NULL, &take), GW_POSTED);
    tagged_arrives(w, 0x80000001);
    rounds(w, 3);
    CHECK(net.n_posted == 1 && dropped() == 1); /* it waits again */
    fail(net.posted[0].context, FI_ECONNRESET);
    tagged_take(net.posted, &net.n_posted, 0);
    rounds(w, 3);
    CHECK(net.n_posted == 1 && dropped() == 1);
    CHECK_EQ(n_taken, 0);
    ofi_ops.tag.cancel(w, &take);
    rounds(w, 3);
    CHECK_EQ(n_taken, 1);
    CHECK_EQ(ofi_ops.tag.catch(w), GW_OK);
    tagged_arrives(w, 0xffffffff);
    tagged_arrives(w, 3);
    rounds(w, 3);
    CHECK(caught.n == 1 && caught.tag.src == 3 && caught.tag.tag == 7 && caught.tag.ctx == 5 && dropped() == 1);
    int posted = net.n_posted;
    fail(net.posted[0].context, FI_ETRUNC);
    tagged_take(net.posted, &net.n_posted, 0);
    rounds(w, 3);
    CHECK(net.n_posted == posted && dropped() == 1 && caught.n == 1);
    close_wire(w);
    gw_set.match_mode = GW_SET_MATCH_MODE_SOFTWARE;
}

int main(void)
{
    gw_settings_load();
    gw_boot = (struct boot_info){.size = 1, .nlocal = 1, .nnodes = 1};
    const struct ways multi = {.caps = FI_MSG | FI_RMA | FI_MULTI_RECV, .inject = 128};
    const struct ways single = {.caps = FI_MSG, .inject = 64};
    const struct ways registered = {.caps = FI_MSG | FI_MULTI_RECV, .inject = 64, .mr_mode = FI_MR_LOCAL, .refuses = 5};
    test_packets(&multi);
    test_packets(&registered);
    test_parts();
    test_too_long(&multi);
    test_too_long(&registered);
    test_too_long(&single);
    test_stalled();
    test_hidden();
    test_quiet();
    test_errors(&multi);
    test_errors(&registered);
    test_errors(&single);
    test_places();
    test_region_secrets(8);
    test_region_secrets(4);
    test_exposed();
    test_tagged();
    return unit_end();
}
