/* ofi_take_test.c -- receives that the provider matches, on an invented one with few entries: at the wire, and with the rooms above
 * it, which warn, move, or end the job (doc/adr/0015).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "../../test/ofi_fake.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/count.h"
#include "base/settings.h"
#include "boot/boot.h"
#include "data.h"
#include "proto/proto.h"
#include "wire_shm/shm.h"

static struct {
    struct wire_tag tag[TAGGED];
    int value[TAGGED], n, n_full;
} caught;
static void caught_one(void *ctx, int lane, uint8_t kind, const void *hdr, const void *payload, size_t len)
{
    (void)ctx, (void)lane;
    if (kind == WIRE_FULL) {
        caught.n_full++;
        return;
    }
    CHECK(kind == WIRE_CAUGHT && len == sizeof(int));
    memcpy(&caught.tag[caught.n], hdr, sizeof *caught.tag);
    memcpy(&caught.value[caught.n++], payload, sizeof(int));
}

struct took {
    struct wire_take take;
    struct {
        int n, err;
    } c;
    int value[4];
};
static void took_done(struct gw_done *d, int err)
{
    struct took *t = container_of(d, struct took, take.done);
    t->c.n++;
    t->c.err = err;
}
static int want(struct wire *w, struct wire_ep *from, struct took *t, int src, int tag)
{
    *t = (struct took){.take = {.done.fn = took_done, .buf = t->value, .cap = sizeof(int), .tag = {5, src, tag, 0}}};
    t->value[0] = t->value[1] = -1;
    return ofi_ops.tag.recv(w, from, &t->take);
}
static void tag_send(struct wire *w, struct wire_ep *ep, int src, int tag, const int *v, size_t ints)
{
    struct wire_tag t = {5, src, tag, tag & 1};
    while (ofi_ops.tag.send(ep, &t, v, ints * sizeof *v) == GW_AGAIN) ofi_ops.progress(w);
}
static bool got(const struct took *t, int src, int tag, int value)
{
    return t->c.n == 1 && t->c.err == GW_OK && !t->take.is_cancelled && t->take.tag.src == src && t->take.tag.tag == tag &&
        t->take.tag.asks == (tag & 1) && t->take.len == sizeof value && t->value[0] == value && t->value[1] == -1;
}
static struct wire *open_tagged(const struct ways *how, struct wire_ep **ep)
{
    memset(&caught, 0, sizeof caught);
    return fake_open(how, caught_one, NULL, ep);
}
static void rounds(struct wire *w)
{
    for (int i = 0; i < 10; i++) ofi_ops.progress(w);
}

/* By name and by wildcard, before and after the message; the order of both; too long; cancelled. */
static void test_matching(const struct ways *how, int32_t ctx_max)
{
    struct wire_ep *ep;
    struct wire_caps caps;
    struct wire *w = open_tagged(how, &ep);
    struct took a, b, c, d;
    int v[4] = {10, 11, 12, 13};
    ofi_ops.caps(w, &caps);
    CHECK(caps.matches && caps.ctx_max == ctx_max && caps.tag_max == INT32_MAX && caps.match_entries == how->entries);
    CHECK_EQ(want(w, NULL, &a, GW_ANY_SOURCE, GW_ANY_TAG), GW_POSTED);
    CHECK_EQ(want(w, ep, &b, 3, 7), GW_POSTED);
    tag_send(w, ep, 3, 7, &v[0], 1);
    tag_send(w, ep, 3, 7, &v[1], 1);
    tag_send(w, ep, 3, 8, &v[2], 1);
    tag_send(w, ep, 3, 8, &v[3], 1);
    tag_send(w, ep, 3, 9, v, 3); /* longer than its receive */
    rounds(w);
    CHECK(got(&a, 3, 7, 10) && got(&b, 3, 7, 11));
    CHECK_EQ(want(w, ep, &c, 3, 9), GW_POSTED);
    CHECK_EQ(want(w, NULL, &a, GW_ANY_SOURCE, 8), GW_POSTED);
    CHECK_EQ(want(w, ep, &b, 3, GW_ANY_TAG), GW_POSTED);
    CHECK_EQ(want(w, ep, &d, 3, 8), GW_POSTED);
    rounds(w);
    CHECK(got(&a, 3, 8, 12) && got(&b, 3, 8, 13));
    CHECK(c.c.n == 1 && c.c.err == GW_ETRUNCATE && c.take.len == sizeof(int[3]) && c.value[0] == 10 && c.value[1] == -1);
    CHECK_EQ(d.c.n, 0);
    ofi_ops.tag.cancel(w, &d.take);
    rounds(w);
    CHECK(d.c.n == 1 && d.c.err == GW_OK && d.take.is_cancelled && d.value[0] == -1);
    struct wire_tag beyond = {ctx_max, 0, 0, 0};
    CHECK_EQ(ofi_ops.tag.check(w, &beyond), GW_OK);
    close_wire(w);
}

/* Few entries: receives are refused; of messages that nobody waits for we are told when there is no room, and once everything is caught
 * all of them come, in order. */
static void test_entries(const struct ways *how)
{
    struct wire_ep *ep;
    struct wire *w = open_tagged(how, &ep);
    static struct took t[TAGGED];
    for (int i = 0; i < how->entries; i++) CHECK_EQ(want(w, ep, &t[i], 1, 1000 + i), GW_POSTED);
    CHECK_EQ(want(w, ep, &t[how->entries], 1, 1), GW_AGAIN);
    for (int i = 0; i < how->entries; i++) ofi_ops.tag.cancel(w, &t[i].take);
    rounds(w);
    for (int i = 0; i < how->entries; i++) CHECK(t[i].c.n == 1 && t[i].take.is_cancelled);
    for (int i = 0; i < how->entries; i++) tag_send(w, ep, 1, i, &i, 1);
    rounds(w);
    CHECK_EQ(caught.n_full, 0);
    for (int i = how->entries; i < 4 * how->entries; i++) tag_send(w, ep, 1, i, &i, 1);
    rounds(w);
    CHECK(caught.n_full == 1 && caught.n == 0);
    CHECK_EQ(ofi_ops.tag.catch(w), GW_OK);
    for (int i = 0; i < 100; i++) rounds(w);
    CHECK_EQ(caught.n, 4 * how->entries);
    for (int i = 0; i < caught.n; i++)
        CHECK(caught.value[i] == i && caught.tag[i].ctx == 5 && caught.tag[i].src == 1 && caught.tag[i].tag == i &&
              caught.tag[i].asks == (i & 1));
    close_wire(w);
}

/* ---- with the rooms above: one rank that sends to itself over the network, under the names of several sources ---- */
enum {
    ENTRIES_FEW = 24,
    NEAR = 18,
    CTX_NUMBER = 5,                                               /* in tags */
    CTX = CTX_NUMBER * WIRE_LANES_AUTO * (PROTO_STREAM_MASK + 1), /* of lane 0 */
    INTS = 60,
    MANY = 100,
    LONG_ROOM = 300000,
    SOURCES = 3,
    TAGS = 3
};
static const char *const move_words = "matches messages from other nodes itself from now on: ";
static struct gw_lane *const lane = &gw_lanes[0];

static void rooms_up(int mode)
{
    CHECK_EQ(boot_init(), GW_OK);
    fake_set_up(&(struct ways){.caps = FI_MSG | FI_TAGGED | FI_MULTI_RECV,
                               .inject = 64,
                               .entries = ENTRIES_FEW,
                               .is_card = true,
                               .tag_format = UINT64_MAX});
    gw_set.match_mode = mode;
    gw_log_mask = GW_LOG_PROTO;
    CHECK_EQ(type_init(), GW_OK);
    peer_lanes_choose();
    CHECK_EQ(node_init(shm_ops.world.area_bytes(1), gw_nlanes, true, 1 << 20), GW_OK);
    req_init();
    CHECK_EQ(proto_init(), GW_OK);
    CHECK_EQ(proto_connect(), GW_OK);
}
static void rooms_down(void)
{
    CHECK_EQ(proto_posted(), 0);
    peer_finalize();
    req_finalize();
    proto_finalize();
    type_finalize();
    node_finalize();
    boot_finalize();
    CHECK_EQ(net.n_objects, 0);
}

/* What fn says in a process of its own; how that ended. */
static const char *said(void (*fn)(int arg), int arg, int *status_out)
{
    static char text[8192];
    int out[2];
    size_t n = 0;
    CHECK_EQ(pipe(out), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(out[1], 2);
        alarm(300);
        unit_failures = 0;
        fn(arg);
        exit(unit_failures ? 2 : 0);
    }
    close(out[1]);
    for (ssize_t r; (r = read(out[0], text + n, sizeof text - 1 - n)) > 0;) n += (size_t)r;
    text[n] = 0;
    close(out[0]);
    CHECK_EQ(waitpid(child, status_out, 0), child);
    return text;
}
static bool ended_with(int status, int code) { return WIFEXITED(status) && WEXITSTATUS(status) == code; }
static int times(const char *text, const char *words)
{
    int n = 0;
    for (; (text = strstr(text, words)); text++) n++;
    return n;
}

struct item { /* a message, or a receive */
    int src, tag, ints, data[INTS];
    struct gw_req *q;
};
static void item_send(struct item *m, int src, int tag, int value, int ints, enum proto_mode mode)
{
    struct proto_addr a = {.lane = lane, .peer = peer_get(lane, 0), .ctx = CTX, .my_rank = src, .tag = tag};
    m->src = src, m->tag = tag, m->ints = ints;
    for (int i = 0; i < ints; i++) m->data[i] = value + 1000 * i;
    CHECK(proto_send(&a, AS_DATA(m->data, ints, gw_type_int), mode, &m->q) >= 0);
}
static void item_recv(struct item *r, int src, int tag)
{
    struct proto_addr a = {.lane = lane, .ctx = CTX, .rank = src, .tag = tag};
    if (src != GW_ANY_SOURCE) a.peer = peer_get(lane, 0);
    r->src = src, r->tag = tag;
    memset(r->data, -1, sizeof r->data);
    CHECK_EQ(proto_recv(&a, AS_DATA(r->data, INTS, gw_type_int), &r->q), GW_POSTED);
}
static bool can_take(const struct item *r, const struct item *m)
{
    return (r->src == GW_ANY_SOURCE || r->src == m->src) && (r->tag == GW_ANY_TAG || r->tag == m->tag);
}
static void look(int rounds)
{
    for (int i = 0; i < rounds; i++) req_progress();
}

/* Messages and receives by chance, at first more of the one or of the other (or both alike); then what is missing. */
static struct item out[2 * MANY], in[2 * MANY];
static int n_out, n_in;
static void out_one(int src, int tag)
{
    item_send(&out[n_out], src, tag, n_out, 1 + (int)(net.random >> 40) % INTS, chance(4) ? PROTO_SYNC : PROTO_STANDARD);
    n_out++;
}
static void in_one(int src, int tag) { item_recv(&in[n_in++], src, tag); }
static void turns(int seed)
{
    net.random = (uint64_t)seed * 7919;
    while (n_out < MANY || n_in < MANY) {
        int lead = n_out - n_in, src = (int)(net.random >> 33) % SOURCES, tag = (int)(net.random >> 43) % TAGS;
        bool is_late = n_out + n_in > MANY, sends = chance(2);
        if (!is_late && seed % 3 == 1) sends = chance(8);
        if (!is_late && seed % 3 == 2) sends = !chance(8);
        if (seed % 3 == 0 && (lead > 6 || lead < -6)) sends = lead < 0;
        if (sends && n_out < MANY) out_one(src, tag);
        if (!sends && n_in < MANY) in_one(chance(3) ? GW_ANY_SOURCE : src, chance(3) ? GW_ANY_TAG : tag);
        if (chance(3)) look(1);
    }
    look(200);
    for (int i = 0; i < MANY; i++)
        if (!req_is_done(in[i].q)) {
            if (n_out == 2 * MANY) gw_die("receives starve");
            out_one(in[i].src == GW_ANY_SOURCE ? 0 : in[i].src, in[i].tag == GW_ANY_TAG ? 0 : in[i].tag);
            look(50);
            if (!req_is_done(in[i].q)) i = -1; /* an older one has taken it */
        }
    while (n_in < n_out) in_one(GW_ANY_SOURCE, GW_ANY_TAG);
}

/* Each message came once and whole, under its own name; and in order: of two receives that could take the first of two messages,
 * the older one did. */
static void turns_check(void)
{
    static int taken[2 * MANY];
    for (int i = 0; i < n_in; i++) {
        struct gw_status s;
        CHECK_EQ(req_wait(&in[i].q, &s), GW_OK);
        int value = in[i].data[0];
        CHECK(value >= 0 && value < n_out && !taken[value]++);
        const struct item *m = &out[value];
        CHECK(s.source == m->src && s.tag == m->tag && can_take(&in[i], m));
        CHECK_EQ(gw_status_bytes(&s), m->ints * (int)sizeof(int));
        for (int k = 0; k < INTS; k++) CHECK_EQ(in[i].data[k], k < m->ints ? value + 1000 * k : -1);
    }
    for (int i = 0; i < n_out; i++) CHECK(req_wait(&out[i].q, NULL) == GW_OK && taken[i] == 1);
    for (int i = 0; i < n_in; i++)
        for (int k = i + 1; k < n_in; k++) CHECK(in[i].data[0] < in[k].data[0] || !can_take(&in[i], &out[in[k].data[0]]));
}
static void exchange(int seed)
{
    rooms_up(GW_SET_MATCH_MODE_HYBRID);
    turns(seed);
    turns_check();
    rooms_down();
}
static void test_hybrid_moves(void)
{
    enum { SEEDS = 90 };
    int posted = 0, unexpected = 0, stayed = 0;
    for (int seed = 0; seed < SEEDS; seed++) {
        int status;
        const char *text = said(exchange, seed, &status);
        CHECK(ended_with(status, 0));
        if (!ended_with(status, 0)) fprintf(stderr, "seed %d: %s\n", seed, text);
        int moves = times(text, move_words);
        CHECK(moves <= 1 && !strstr(text, "warning"));
        stayed += moves == 0;
        posted += times(text, "match entries of the network run out");
        unexpected += times(text, "the network has no match entry left");
    }
    CHECK(posted >= SEEDS / 4 && unexpected >= SEEDS / 4 && stayed >= SEEDS / 4);
}

/* At three quarters of the entries: hardware warns once, hybrid moves before any is missing. */
static void post_to(int n)
{
    while (n_in < n) in_one(n_in % 2 ? GW_ANY_SOURCE : 1, n_in < NEAR / 2 ? 7 : 100 + n_in);
}
static void near(int mode)
{
    rooms_up(mode);
    post_to(NEAR);
    fputs("near\n", stderr);
    post_to(ENTRIES_FEW);
    CHECK_EQ(gw_count.match_moves, mode == GW_SET_MATCH_MODE_HYBRID);
    for (int i = 0; i < n_in; i++) item_send(&out[i], 1, in[i].tag, i, 1, PROTO_STANDARD);
    n_out = n_in;
    turns_check();
    rooms_down();
}
static void too_many_posted(int mode)
{
    rooms_up(mode);
    post_to(ENTRIES_FEW + 1);
}
static void too_many_unexpected(int mode)
{
    rooms_up(mode);
    while (n_out < ENTRIES_FEW) item_send(&out[n_out], 1, 7, n_out, 1, PROTO_STANDARD), n_out++;
    look(100);
    fputs("all entries\n", stderr);
    item_send(&out[n_out], 1, 7, n_out, 1, PROTO_STANDARD), n_out++;
    look(100);
    CHECK_EQ(gw_count.match_moves, 1); /* in hardware mode we are not here */
    while (n_in < n_out) in_one(1, 7);
    turns_check();
    rooms_down();
}
/* Long messages on their way take entries, too, and give them back without a receive of the program's being matched. */
static void entries_lent(int mode)
{
    enum { LONG = 6 };
    rooms_up(mode);
    ways.is_card = false; /* then they are on their way when the receive comes */
    post_to(ENTRIES_FEW);
    for (; n_out < LONG; n_out++) item_send(&out[n_out], 1, in[n_out].tag, n_out, 1, PROTO_SYNC);
    peer_net_look(peer_next_net(lane, NULL));
    CHECK(proto_posted() == ENTRIES_FEW - LONG && net.n_posted == ENTRIES_FEW);
    in_one(1, 100 + n_in);
    for (; n_out < n_in; n_out++) item_send(&out[n_out], 1, in[n_out].tag, n_out, 1, PROTO_STANDARD);
    turns_check();
    rooms_down();
}
static void test_entries_end(void)
{
    static const char words[] = "LE resources not recovered during flow control",
                      advice[] = "FI_CXI_RX_MATCH_MODE)=[hybrid OR software] is required",
                      warning[] = "18 of 24 match entries of the network are in use, 5 of them for messages from rank 1 with tag 7";
    int status;
    const char *text = said(near, GW_SET_MATCH_MODE_HARDWARE, &status);
    CHECK(ended_with(status, 0) && times(text, "warning") == 1 && !strstr(text, move_words));
    CHECK(strstr(text, warning) > strstr(text, "near"));
    text = said(near, GW_SET_MATCH_MODE_HYBRID, &status);
    CHECK(ended_with(status, 0) && !strstr(text, "warning") && times(text, move_words) == 1);
    CHECK(strstr(text, move_words) > strstr(text, "near"));
    text = said(too_many_posted, GW_SET_MATCH_MODE_HARDWARE, &status);
    CHECK(ended_with(status, 1) && times(text, words) == 1 && times(text, advice) == 1 && times(text, warning) == 1);
    text = said(entries_lent, GW_SET_MATCH_MODE_HARDWARE, &status);
    CHECK(ended_with(status, 0) && times(text, "warning") == 1);
    if (!ended_with(status, 0)) fprintf(stderr, "%s", text);
    text = said(too_many_unexpected, GW_SET_MATCH_MODE_HARDWARE, &status);
    CHECK(ended_with(status, 1) && times(text, words) == 1 && times(text, advice) == 1);
    CHECK(strstr(text, words) > strstr(text, "all entries"));
    text = said(too_many_unexpected, GW_SET_MATCH_MODE_HYBRID, &status);
    CHECK(ended_with(status, 0) && !strstr(text, "warning") && times(text, move_words) == 1);
    CHECK(strstr(text, move_words) > strstr(text, "all entries"));
}

/* Questions by tag (proto_tag.c) that no rank asks: each is counted, and the receive that it met at the wire waits on as it was. */
static void forged_questions(int is_long)
{
    struct {
        uint64_t cookie, addr;
        int64_t len;
        uint64_t key;
        int32_t world, unused;
    } right = {.cookie = 7, .len = 4}, ask;
    enum { CASES = 8, LEN_NEGATIVE = 4 };
    static const size_t lengths[CASES] = {
        0, 1, sizeof right - 1, sizeof right + 1, sizeof right, sizeof right, sizeof right, sizeof right};
    const struct wire_tag tag = {CTX_NUMBER, 1, 7, 1};
    static char room[LONG_ROOM];
    char bytes[sizeof right + 1];
    rooms_up(GW_SET_MATCH_MODE_HYBRID);
    struct gw_peer *p = peer_get(lane, 0);
    CHECK_EQ(peer_connect(lane, p), GW_OK);
    in_one(1, 7);
    if (is_long) { /* takes what comes in memory of its own */
        struct proto_addr a = {.lane = lane, .peer = p, .ctx = CTX, .rank = 1, .tag = 7};
        struct gw_req *cancelled = in[0].q;
        proto_cancel(cancelled);
        look(10);
        CHECK(req_wait(&cancelled, NULL) == GW_OK);
        memset(room, -1, sizeof room);
        CHECK_EQ(proto_recv(&a, AS_DATA(room, sizeof room, gw_type_byte), &in[0].q), GW_POSTED);
    }
    const char *buf = is_long ? room : (const char *)in[0].data;
    size_t n = is_long ? sizeof room : sizeof in[0].data;
    for (int i = 0; i < CASES; i++) {
        uint64_t before = gw_count.messages_refused;
        if (lengths[i] > sizeof right && !is_long)
            continue; /* as any message of that length it lies in the program's buffer already */
        ask = right;
        if (i == LEN_NEGATIVE) ask.len = -1;
        if (i > LEN_NEGATIVE) ask.world = i == LEN_NEGATIVE + 1 ? -1 : i == LEN_NEGATIVE + 2 ? 1 : INT32_MAX;
        memcpy(bytes, &ask, sizeof ask);
        CHECK_EQ(p->ep->ops->tag.send(p->ep, &tag, bytes, lengths[i]), GW_OK);
        look(10);
        CHECK_EQ(gw_count.messages_refused, before + 1);
        CHECK(!req_is_done(in[0].q) && proto_posted() == 1);
        size_t same = 0;
        while (same < n && buf[same] == -1) same++;
        CHECK_EQ(same, n);
    }
    item_send(&out[n_out++], 1, 7, 0, 3, PROTO_STANDARD);
    if (!is_long) {
        turns_check();
    } else {
        CHECK(req_wait(&in[0].q, NULL) == GW_OK && req_wait(&out[0].q, NULL) == GW_OK);
        CHECK(memcmp(room, out[0].data, 3 * sizeof(int)) == 0 && room[3 * sizeof(int)] == -1);
    }
    rooms_down();
}
static void test_forged(void)
{
    for (int is_long = 0; is_long < 2; is_long++) {
        int status;
        const char *text = said(forged_questions, is_long, &status);
        CHECK(ended_with(status, 0) && times(text, "was dropped because no rank of this job sends such a one") == 1);
        if (!ended_with(status, 0)) fprintf(stderr, "%s", text);
    }
}

int main(void)
{
    setenv("GODWIT_WIRES", "ofi", 1);
    gw_settings_load();
    test_hybrid_moves();
    test_entries_end();
    test_forged();
    gw_boot = (struct boot_info){.size = 1, .nlocal = 1, .nnodes = 1};
    gw_set.match_mode = GW_SET_MATCH_MODE_HARDWARE;
    const uint64_t tags = FI_MSG | FI_TAGGED | FI_MULTI_RECV;
    test_matching(
        &(struct ways){.caps = tags | FI_DIRECTED_RECV, .inject = 8, .entries = 32, .tag_format = UINT64_MAX, .cq_data = 8},
        (1 << 30) - 1);
    test_matching(&(struct ways){.caps = tags, .entries = 32, .tag_format = UINT64_MAX >> 2, .cq_data = 8}, 1023);
    test_matching(&(struct ways){.caps = tags, .inject = 64, .entries = 32, .tag_format = UINT64_MAX, .mr_mode = FI_MR_LOCAL},
                  4095);
    test_entries(&(struct ways){.caps = tags, .inject = 64, .entries = 20, .tag_format = UINT64_MAX});
    return unit_end();
}
