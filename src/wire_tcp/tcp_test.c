/* tcp_test.c -- the wire between nodes by TCP: messages in order and whole though the socket is full, also where two processes call each
 * other at once; long ones from memory to memory; strangers, who get no further than the door; members who contradict themselves; a door
 * that is closed before it answers; a peer that has ended.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/count.h"
#include "base/settings.h"
#include "base/time.h"
#include "boot/port.h"
#include "node/node.h"
#include "unit_mapped.h"
#include "wire_tcp/tcp_private.h"

enum { LANE = 3 };

/* ---- the wire's other side ------------------------------------------------------------------------------------------------------ */
static struct {
    unsigned next;
    int bad;
} seen;
static unsigned char pattern(unsigned seq, size_t i) { return (unsigned char)(seq * 37 + i * 11 + (i >> 8)); }

static void arrived(void *ctx, int lane, uint8_t kind, const void *hdr, const void *payload, size_t len)
{
    unsigned head[4];
    memcpy(head, hdr, sizeof head);
    bool is_good = ctx == &seen && lane == LANE && kind == 1 + head[0] % 7 && head[0] == seen.next;
    is_good = is_good && head[1] == len && (uintptr_t)payload % TCP_ALIGN == 0;
    for (size_t i = 0; i < len && is_good; i++) is_good = ((const unsigned char *)payload)[i] == pattern(head[0], i);
    seen.bad += !is_good;
    seen.next++;
}

static struct wire *open_wire(void)
{
    struct wire *w = NULL;
    memset(&seen, 0, sizeof seen);
    CHECK_EQ(tcp_ops.open(LANE, arrived, &seen, &w), GW_OK);
    return w;
}

/* Progress until it is so, for half a minute at most. */
#define UNTIL(w, cond)                                                                                                             \
    do {                                                                                                                           \
        for (uint64_t since = gw_now_ns(); !(cond) && gw_now_ns() - since < 30000000000u;) tcp_ops.progress(w);                    \
        CHECK(cond);                                                                                                               \
    } while (0)

static size_t length_of(unsigned i) { return i % 3 ? i % 97 : i * 7919u % (i % 50 == 0 ? (unsigned)TCP_PACK_MAX + 1 : 5000); }

/* Message i, by one of the ways. */
static int message_send(struct wire_ep *ep, unsigned i)
{
    static unsigned char data[TCP_PACK_MAX];
    size_t len = length_of(i);
    unsigned head[4] = {i, (unsigned)len, 0, 0};
    struct wire_part part = {head, data, len};
    struct type_cursor c;
    uint8_t kind = (uint8_t)(1 + i % 7);
    for (size_t k = 0; k < len; k++) data[k] = pattern(i, k);
    if (i % 5 == 1 && len) {
        type_cursor_init(&c, gw_data_host(data, (int64_t)len, gw_type_byte));
        return tcp_ops.send_pack(ep, kind, head, &c, len);
    }
    return i % 5 == 2 ? tcp_ops.send_many(ep, kind, &part, 1) : tcp_ops.send_short(ep, kind, head, data, len);
}

/* ---- addresses ------------------------------------------------------------------------------------------------------------------ */
static void test_places(void)
{
    static const char good[] = "@tcp:192.0.2.2:40000#0123456789abcdef00000000000000ff8000000000000001";
    static const char six[] = "@tcp:[2001:db8::2]:4000#0123456789abcdef00000000000000ff8000000000000001";
    char text[TCP_PLACE], bad[TCP_PLACE];
    struct tcp_place p;
    CHECK(tcp_place_read(good, &p));
    CHECK(p.secret.word[0] == 0x0123456789abcdef && p.secret.word[1] == 255 && p.reply == 0x8000000000000001);
    tcp_place_text(&p, text);
    CHECK_STR(text, good);
    CHECK(tcp_place_read(six, &p));
    tcp_place_text(&p, text);
    CHECK_STR(text, six);
    for (size_t i = 0; i < strlen(good); i++) { /* cut off, or one character that is none */
        snprintf(bad, sizeof bad, "%.*s", (int)i, good);
        CHECK(!tcp_place_read(bad, &p));
        snprintf(bad, sizeof bad, "%s", good);
        bad[i] = '?';
        CHECK(!tcp_place_read(bad, &p));
    }
    CHECK(!tcp_place_read("", &p) && !tcp_place_read("@192.0.2.2:40000#0123456789abcdef", &p));
}

/* ---- messages ------------------------------------------------------------------------------------------------------------------- */
static void test_messages(void)
{
    enum { MESSAGES = 3000 };
    int again = 0, before = unit_descriptors();
    struct wire *w = open_wire();
    struct wire_ep *ep = NULL;
    struct wire_caps caps;
    tcp_ops.caps(w, &caps);
    CHECK(caps.pack_max == TCP_PACK_MAX && caps.direct && !caps.get && !caps.put && !caps.matches);
    CHECK_EQ(tcp_ops.connect(w, 0, &ep), GW_OK);
    CHECK(ep->tail == ep->limit && !ep->lines && ep->can_read == WIRE_READ_NO);
    for (unsigned i = 0; i < MESSAGES; i++) {
        int rc;
        while ((rc = message_send(ep, i)) == GW_AGAIN) {
            again++;
            tcp_ops.progress(w);
        }
        CHECK_EQ(rc, GW_OK);
        const struct tcp_ep *e = (struct tcp_ep *)ep;
        CHECK(e->end - e->at <= TCP_QUEUE_MOST && e->cap <= 2 * TCP_QUEUE_MOST);
        CHECK(tcp_ops.world.drained(w) == !w->n_waiting);
    }
    UNTIL(w, seen.next == MESSAGES && tcp_ops.world.drained(w));
    CHECK_EQ(seen.bad, 0);
    CHECK(again > 0); /* the queue has an end */
    CHECK_EQ(tcp_ops.sleep.arm(w), GW_OK);
    struct pollfd p = {.fd = tcp_ops.sleep.wait_fd(w), .events = POLLIN};
    while (tcp_ops.progress(w)) {}
    for (int i = 0; i < 20; i++) tcp_ops.progress(w);
    CHECK_EQ(poll(&p, 1, 0), 0);
    CHECK_EQ(message_send(ep, MESSAGES), GW_OK);
    CHECK_EQ(poll(&p, 1, 10000), 1);
    UNTIL(w, seen.next == MESSAGES + 1);
    tcp_ops.close(w);
    CHECK_EQ(unit_descriptors(), before);
}

struct ending {
    struct gw_done done;
    int n, err;
};
static void ended(struct gw_done *d, int err)
{
    struct ending *e = container_of(d, struct ending, done);
    e->n++;
    e->err = err;
}

/* Several at once, with messages between. */
static void test_direct(void)
{
    enum { N = 4, BYTES = (3 << 20) + 5 };
    static const size_t bytes[N] = {BYTES, 1, 4096, TCP_PART_MOST + 7};
    struct ending out[N] = {{.n = 0}}, in[N] = {{.n = 0}};
    char *from[N], *to[N];
    uint64_t tickets[N];
    struct wire *w = open_wire();
    struct wire_ep *ep = NULL;
    CHECK_EQ(tcp_ops.connect(w, 0, &ep), GW_OK);
    for (int i = 0; i < N; i++) {
        from[i] = malloc(bytes[i]);
        to[i] = calloc(1, bytes[i] + 1);
        for (size_t k = 0; k < bytes[i]; k++) from[i][k] = (char)pattern((unsigned)i, k);
        out[i].done.fn = in[i].done.fn = ended;
        CHECK_EQ(tcp_ops.copy.recv_into(w, to[i], bytes[i], &tickets[i], &in[i].done), GW_POSTED);
        for (int k = 0; k < i; k++) CHECK(tickets[k] != tickets[i]);
    }
    for (unsigned i = 0; i < N; i++) {
        CHECK_EQ(message_send(ep, i), GW_OK);
        CHECK_EQ(tcp_ops.copy.send_from(ep, from[i], bytes[i], tickets[i], &out[i].done), GW_POSTED);
        CHECK_EQ(out[i].n, 0); /* from progress */
    }
    CHECK(!tcp_ops.world.drained(w));
    UNTIL(w, in[0].n && in[1].n && in[2].n && in[3].n && seen.next == N && tcp_ops.world.drained(w));
    UNTIL(w, out[0].n && out[1].n && out[2].n && out[3].n);
    for (int i = 0; i < N; i++) {
        CHECK(in[i].n == 1 && out[i].n == 1 && in[i].err == GW_OK && out[i].err == GW_OK);
        CHECK(memcmp(from[i], to[i], bytes[i]) == 0 && to[i][bytes[i]] == 0);
    }
    CHECK_EQ(seen.bad, 0);
    /* A ticket is good for once. */
    uint64_t dropped = gw_count.net_dropped;
    CHECK_EQ(tcp_ops.copy.send_from(ep, from[2], bytes[2], tickets[2], &out[2].done), GW_POSTED);
    UNTIL(w, gw_count.net_dropped == dropped + 1);
    CHECK(in[2].n == 1);
    for (int i = 0; i < N; i++) {
        free(from[i]);
        free(to[i]);
    }
    tcp_ops.close(w);
}

/* ---- strangers ------------------------------------------------------------------------------------------------------------------ */
static int caller(void)
{
    const struct sockaddr_storage *at = &tcp_door_place()->at;
    int s = socket(at->ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(at->ss_family == AF_INET && s >= 0);
    CHECK_EQ(ntohl(((const struct sockaddr_in *)(const void *)at)->sin_addr.s_addr), INADDR_LOOPBACK);
    CHECK_EQ(connect(s, (const struct sockaddr *)at, sizeof(struct sockaddr_in)), 0);
    return s;
}

static bool is_closed(int s)
{
    char byte;
    ssize_t n = recv(s, &byte, 1, MSG_DONTWAIT | MSG_PEEK);
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

static struct tcp_hello hello_of(int lane, int as)
{
    static uint32_t nonce;
    return (struct tcp_hello){.secret = tcp_door_place()->secret,
                              .rest = {.magic = TCP_MAGIC, .lane = lane, .as = as, .nonce = ++nonce}};
}

static void says(int s, const void *bytes, size_t n) { CHECK_EQ(send(s, bytes, n, MSG_NOSIGNAL), (ssize_t)n); }

static void test_strangers(void)
{
    enum { SILENT = 60 };
    int silent[SILENT], before = unit_descriptors(), n_open = 0;
    struct wire *w = open_wire();
    struct wire_ep *ep = NULL;
    uint64_t dropped = gw_count.net_dropped;
    CHECK_EQ(tcp_ops.connect(w, 0, &ep), GW_OK);
    CHECK_EQ(message_send(ep, 0), GW_OK);
    UNTIL(w, seen.next == 1 && tcp_ops.world.drained(w));
    for (int i = 0; i < SILENT; i++) silent[i] = caller();
    UNTIL(w, gw_count.net_dropped == dropped + SILENT - BOOT_GATE_HALF);
    CHECK_EQ(message_send(ep, 1), GW_OK);
    UNTIL(w, seen.next == 2 && tcp_ops.world.drained(w));
    struct tcp_hello good = hello_of(LANE, 0); /* who has the key comes through all the same */
    int member = caller();
    struct pollfd p = {.fd = member, .events = POLLIN};
    says(member, &good, sizeof good);
    UNTIL(w, poll(&p, 1, 0) == 1 && !is_closed(member));
    close(member);
    for (int i = 0; i < SILENT; i++) n_open += !is_closed(silent[i]);
    CHECK(n_open <= BOOT_GATE_HALF);
    for (int i = SILENT - 1; i >= 0; i--) UNTIL(w, is_closed(silent[i])); /* after three seconds */
    CHECK_EQ(gw_count.net_dropped, dropped + SILENT);
    for (int i = 0; i < SILENT; i++) close(silent[i]);
    /* A wrong key, each bit of it; one that is not whole. */
    for (int bit = 0; bit < 128; bit += 9) {
        struct tcp_hello h = hello_of(LANE, 0);
        h.secret.word[bit / 64] ^= 1ull << bit % 64;
        int s = caller();
        says(s, &h, sizeof h);
        UNTIL(w, is_closed(s));
        close(s);
    }
    CHECK_EQ(gw_count.net_dropped, dropped + SILENT + 15);
    CHECK_EQ(seen.next, 2);
    CHECK_EQ(message_send(ep, 2), GW_OK);
    UNTIL(w, seen.next == 3);
    CHECK_EQ(seen.bad, 0);
    tcp_ops.close(w);
    CHECK_EQ(unit_descriptors(), before);
}

/* More ranks call at once than the door has places for those who have not said the rest: all are let in. */
static void test_crowd(void)
{
    enum { CROWD = 60 };
    int s[CROWD], n_in = 0;
    struct wire *w = open_wire();
    uint64_t dropped = gw_count.net_dropped;
    for (int i = 0; i < CROWD; i++) {
        struct tcp_hello good = hello_of(LANE, 0);
        s[i] = caller();
        says(s[i], &good, sizeof good);
    }
    for (int i = 0; i < CROWD; i++) {
        struct pollfd p = {.fd = s[i], .events = POLLIN};
        UNTIL(w, poll(&p, 1, 0) == 1);
        n_in += !is_closed(s[i]);
    }
    CHECK_EQ(n_in, CROWD);
    CHECK_EQ(gw_count.net_dropped, dropped);
    for (int i = 0; i < CROWD; i++) close(s[i]);
    tcp_ops.close(w);
}

/* A rank calls on a lane that is not open here yet: it is let in when that opens. */
static void test_early(void)
{
    struct wire *w = open_wire(), *later = NULL;
    struct tcp_hello early = hello_of(LANE + 1, 0), good = hello_of(LANE, 0);
    int first = caller(), second = caller();
    struct pollfd p[2] = {{.fd = first, .events = POLLIN}, {.fd = second, .events = POLLIN}};
    says(first, &early, sizeof early);
    says(second, &good, sizeof good);
    struct pollfd quiet = {.fd = w->fd, .events = POLLIN};
    UNTIL(w,
          poll(&p[1], 1, 0) == 1 &&
              poll(&quiet, 1, 0) == 0); /* so the first has been read, too, and the door has nothing to tell */
    CHECK_EQ(poll(&p[0], 1, 0), 0);
    CHECK_EQ(tcp_ops.open(LANE + 1, arrived, &seen, &later), GW_OK);
    struct pollfd told = {.fd = later->fd, .events = POLLIN};
    CHECK_EQ(poll(&told, 1, 0), 1); /* at once: who waits for that rank may hear nothing else */
    UNTIL(later, poll(&p[0], 1, 0) == 1);
    CHECK(!is_closed(first) && !is_closed(second));
    close(first);
    close(second);
    tcp_ops.close(later);
    tcp_ops.close(w);
}

/* With the key, and then what no rank says. */
static void test_members(void)
{
    struct wire *w = open_wire();
    uint64_t dropped = gw_count.net_dropped, n = 0;
    struct tcp_welcome answer = {0};
    struct tcp_hello good = hello_of(LANE, 0);
    struct tcp_hello odd[] = {good, good, good, good, good};
    odd[0].rest.magic++;
    odd[1].rest.lane = GW_MAX_LANES;
    odd[2].rest.lane = -1;
    odd[3].rest.as = -1;
    odd[4].rest.nonce = 0;
    for (size_t i = 0; i < GW_ARRAY_LEN(odd); i++) {
        int s = caller();
        says(s, &odd[i], sizeof odd[i]);
        UNTIL(w, is_closed(s));
        close(s);
        CHECK_EQ(gw_count.net_dropped, dropped + ++n);
    }
    uint64_t ticket = 0;
    char room[64];
    struct ending never = {.done.fn = ended};
    CHECK_EQ(tcp_ops.copy.recv_into(w, room, sizeof room, &ticket, &never.done), GW_POSTED);
    const struct {
        struct tcp_head h;
        uint64_t named[2];
    } bad[] = {
        {{.len = TCP_PACK_MAX + 1, .kind = 1}, {0}},
        {{.len = UINT32_MAX, .kind = 1}, {0}},
        {{.len = 0, .kind = WIRE_CAUGHT}, {0}},
        {{.len = 8, .kind = TCP_PART}, {0}},
        {{.len = 8, .kind = TCP_PART}, {ticket + 1}},
        {{.len = 8, .kind = TCP_PART}, {ticket + (1ull << 32)}},
        {{.len = sizeof room + 1, .kind = TCP_PART}, {ticket}},
        {{.len = 0, .kind = TCP_PART}, {ticket}},
        {{.len = 8, .kind = TCP_PART}, {ticket, 1}},
    };
    for (size_t i = 0; i < GW_ARRAY_LEN(bad); i++) {
        struct tcp_head h = bad[i].h;
        int s = caller();
        memcpy(h.hdr, bad[i].named, sizeof h.hdr);
        good = hello_of(LANE, 0);
        says(s, &good, sizeof good);
        says(s, &h, sizeof h);
        struct pollfd p = {.fd = s, .events = POLLIN};
        UNTIL(w, poll(&p, 1, 0) == 1);
        CHECK_EQ(recv(s, &answer, sizeof answer, MSG_WAITALL), (ssize_t)sizeof answer);
        CHECK(answer.reply == tcp_door_place()->reply && answer.magic == TCP_MAGIC);
        UNTIL(w, is_closed(s));
        close(s);
        CHECK_EQ(gw_count.net_dropped, dropped + ++n);
    }
    CHECK_EQ(never.n, 0);
    int again = caller(); /* of an endpoint that has been here */
    says(again, &good, sizeof good);
    UNTIL(w, is_closed(again));
    close(again);
    CHECK_EQ(gw_count.net_dropped, dropped + ++n);
    good = hello_of(LANE, 0);
    /* One byte after the other, over the end of a head, a message, and a part. */
    unsigned first[4] = {0, 3, 0, 0};
    uint64_t named[2] = {ticket, 0};
    struct tcp_head h = {.len = 3, .kind = 1}, part = {.len = sizeof room - 3, .kind = TCP_PART},
                    last = {.len = 3, .kind = TCP_PART};
    char all[512], *at = all;
    memcpy(h.hdr, first, sizeof h.hdr);
    memcpy(part.hdr, named, sizeof named);
    memcpy(last.hdr, named, sizeof named);
    memset(all, 0, sizeof all);
    memcpy(at, &good, sizeof good);
    memcpy(at += sizeof good, &h, sizeof h);
    for (int i = 0; i < 3; i++) at[sizeof h + (size_t)i] = (char)pattern(0, (size_t)i);
    memcpy(at += tcp_total(3), &part, sizeof part);
    memset(at + sizeof part, 'a', part.len);
    memcpy(at += tcp_total(part.len), &last, sizeof last);
    memset(at + sizeof last, 'b', last.len);
    at += tcp_total(last.len);
    int s = caller();
    for (const char *c = all; c < at; c++) {
        says(s, c, 1);
        for (int i = 0; i < 3; i++) tcp_ops.progress(w);
    }
    UNTIL(w, never.n == 1 && seen.next == 1);
    CHECK(never.err == GW_OK && seen.bad == 0 && room[0] == 'a' && room[60] == 'a' && room[61] == 'b' && room[63] == 'b');
    /* It ends in the middle of what was announced: that is an error of the transfer, and of nothing else. */
    CHECK_EQ(tcp_ops.copy.recv_into(w, room, sizeof room, &ticket, &never.done), GW_POSTED);
    named[0] = ticket;
    memcpy(part.hdr, named, sizeof named);
    says(s, &part, sizeof part);
    says(s, all, 5);
    for (int i = 0; i < 100; i++) tcp_ops.progress(w);
    CHECK_EQ(never.n, 1);
    close(s);
    UNTIL(w, never.n == 2);
    CHECK(never.err < 0);
    CHECK_EQ(gw_count.net_dropped, dropped + n);
    tcp_ops.close(w);
}

/* ---- other processes ------------------------------------------------------------------------------------------------------------- */
static struct node_other *meet(uint64_t uid, const char *at)
{
    struct node_other *o = NULL;
    CHECK_EQ(node_far_join(uid, 1, &o), GW_OK);
    CHECK(o && node_far_put(o, 0, at) >= gw_boot.size);
    node_far_set_as(node_far_first(uid), 0);
    return o;
}

/* Both call at the same time and go on for long. */
static void crossing(int in, int out, bool is_child)
{
    enum { MESSAGES = 1500 };
    struct wire *w = open_wire();
    struct wire_ep *ep = NULL;
    char at[TCP_PLACE] = "";
    CHECK_EQ(write(out, tcp_door_text(), TCP_PLACE), TCP_PLACE);
    CHECK_EQ(read(in, at, sizeof at), TCP_PLACE);
    struct node_other *o = meet(77, at);
    CHECK_EQ(tcp_ops.connect(w, node_far_first(77), &ep), GW_OK);
    for (unsigned i = 0; i < MESSAGES; i++) {
        int rc;
        while ((rc = message_send(ep, i)) == GW_AGAIN) tcp_ops.progress(w);
        CHECK_EQ(rc, GW_OK);
    }
    UNTIL(w, seen.next == MESSAGES && tcp_ops.world.drained(w));
    CHECK_EQ(seen.bad, 0);
    if (is_child) { /* it leaves, and the other sees that */
        CHECK_EQ(write(out, at, 1), 1);
        tcp_ops.close(w);
        node_other_drop(o);
        return;
    }
    CHECK_EQ(read(in, at, 1), 1);
    UNTIL(w, ((struct tcp_ep *)ep)->state == TCP_BROKEN);
    CHECK(message_send(ep, 0) < 0);
    CHECK(strstr(gw_fail_text(), "has that job ended?") != NULL);
    struct ending lost = {.done.fn = ended};
    CHECK_EQ(tcp_ops.copy.send_from(ep, at, 1, 1, &lost.done), GW_POSTED);
    UNTIL(w, lost.n == 1 && lost.err < 0);
    tcp_ops.world.leave(w, true);
    CHECK_EQ(message_send(ep, 0), GW_OK); /* nobody minds now */
    tcp_ops.world.forget(w, node_far_first(77));
    tcp_ops.close(w);
    node_other_drop(o);
}

static void test_crossing(void)
{
    int there[2], back[2], status = -1;
    CHECK(pipe(there) == 0 && pipe(back) == 0);
    pid_t child = fork();
    if (child == 0) {
        unit_failures = 0;
        alarm(300);
        crossing(there[0], back[1], true);
        _exit(unit_failures != 0);
    }
    crossing(back[0], there[1], false);
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    for (int i = 0; i < 2; i++) {
        close(there[i]);
        close(back[i]);
    }
}

/* Message 7 as it comes on a connection. */
static bool has_come(int s)
{
    struct tcp_head head = {0};
    char payload[TCP_ALIGN * 16];
    size_t rest = tcp_total(length_of(7)) - sizeof head;
    if (recv(s, &head, sizeof head, MSG_WAITALL) != (ssize_t)sizeof head || head.len != length_of(7) || head.kind != 1)
        return false;
    return rest <= sizeof payload && recv(s, payload, rest, MSG_WAITALL) == (ssize_t)rest && (uint8_t)payload[1] == pattern(7, 1);
}

/* A door of our own: it closes connections before it answers, then answers wrongly, and at last as it should.  The message is there without
 * anybody's progress. */
static void test_again(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof at;
    struct tcp_place p = {.secret.word = {1, 2}, .reply = 3};
    char text[TCP_PLACE];
    struct tcp_hello h;
    struct tcp_welcome answer = {.reply = 4, .magic = TCP_MAGIC};
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(listener, (struct sockaddr *)&at, bytes) == 0 && listen(listener, 8) == 0);
    CHECK_EQ(getsockname(listener, (struct sockaddr *)&at, &bytes), 0);
    memcpy(&p.at, &at, sizeof at);
    tcp_place_text(&p, text);
    struct wire *w = open_wire();
    struct wire_ep *ep = NULL;
    struct node_other *o = meet(78, text);
    uint64_t dropped = gw_count.net_dropped;
    CHECK_EQ(tcp_ops.connect(w, node_far_first(78), &ep), GW_OK);
    struct pollfd poller = {.fd = listener, .events = POLLIN};
    for (int i = 0; i < 5; i++) {
        UNTIL(w, poll(&poller, 1, 0) == 1);
        int s = accept(listener, NULL, NULL);
        struct pollfd came = {.fd = s, .events = POLLIN};
        UNTIL(w, poll(&came, 1, 0) == 1);
        CHECK_EQ(recv(s, &h, sizeof h, MSG_WAITALL), (ssize_t)sizeof h);
        CHECK(h.secret.word[0] == 1 && h.secret.word[1] == 2 && h.rest.lane == LANE && h.rest.nonce);
        if (i == 0) CHECK_EQ(message_send(ep, 7), GW_OK);
        if (i == 0) CHECK(has_come(s));
        if (i > 1) UNTIL(w, poll(&came, 1, 0) == 1);
        if (i > 1) CHECK(has_come(s));
        if (i == 3) says(s, &answer, sizeof answer);
        if (i == 4) {
            answer.reply = 3;
            says(s, &answer, sizeof answer);
            UNTIL(w, tcp_ops.world.drained(w));
            CHECK(message_send(ep, 7) == GW_OK && has_come(s) && poll(&came, 1, 0) == 0); /* nothing came twice */
        }
        if (i < 4) CHECK(!tcp_ops.world.drained(w));
        if (i == 3) UNTIL(w, gw_count.net_dropped == dropped + 1);
        close(s);
    }
    close(listener);
    tcp_ops.close(w);
    node_other_drop(o);
}

/* The tables of a wire grow with the job in addresses alone: of peers that are not talked to nothing is in memory. */
static void test_million(void)
{
    enum { RANKS = 1000000 };
    int was = node_others_most; /* those of other jobs, which are in no need of a launcher */
    node_others_most = RANKS;
    struct wire *w = open_wire();
    struct wire_ep *ep = NULL;
    CHECK_EQ(tcp_ops.connect(w, 0, &ep), GW_OK);
    CHECK(unit_resident_pages(w->eps, RANKS * sizeof *w->eps) <= 2);
    CHECK(unit_resident_pages(w->nonces, RANKS * sizeof *w->nonces) <= 2);
    CHECK(w->all == (struct tcp_ep *)ep && !w->all->next);
    tcp_ops.close(w);
    node_others_most = was;
}

int main(void)
{
    mallopt(M_MMAP_THRESHOLD, 128 << 10); /* large tables are new memory each time */
    setenv("GODWIT_SINGLETON", "1", 1);
    CHECK_EQ(boot_init(), GW_OK);
    CHECK_EQ(type_init(), GW_OK);
    test_places();
    test_messages();
    test_direct();
    test_strangers();
    test_crowd();
    test_early();
    test_members();
    test_crossing();
    test_again();
    test_million();
    type_finalize();
    boot_finalize();
    gw_settings_free();
    return unit_end();
}
