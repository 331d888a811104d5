/* ofi_admit_test.c -- the filter of a listener: its program run by an interpreter of what it uses, on heads of packets of both kinds,
 * and by the kernel, on connections of the loopback.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_ofi/ofi_admit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../test/unit.h"
#include "wire_ofi/ofi_fds.h"

static const uint8_t *ip_of(const char *text)
{
    static uint8_t ip[4][ADMIT_IP];
    static int next;
    struct sockaddr_in four = {.sin_family = AF_INET};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    uint8_t *out = ip[next++ % 4];
    if (inet_pton(AF_INET, text, &four.sin_addr) == 1) {
        CHECK(ofi_admit_address_of((struct sockaddr *)&four, out));
    } else {
        CHECK_EQ(inet_pton(AF_INET6, text, &six.sin6_addr), 1);
        CHECK(ofi_admit_address_of((struct sockaddr *)&six, out));
    }
    return out;
}

/* ---- the interpreter --------------------------------------------------------------------------------------------------------- */
enum { HEAD = 40 };

static uint32_t load(const uint8_t *head, uint32_t k, int n)
{
    uint32_t at = k - (uint32_t)SKF_NET_OFF, v = 0;
    CHECK(at + (uint32_t)n <= HEAD);
    for (int i = 0; i < n && at < HEAD; i++) v = v << 8 | head[at + (uint32_t)i];
    return v;
}

static uint32_t run(const struct sock_filter *code, int n, const uint8_t *head)
{
    uint32_t a = 0, m[BPF_MEMWORDS] = {0};
    for (int pc = 0; pc >= 0 && pc < n; pc++) {
        const struct sock_filter *i = &code[pc];
        switch (i->code) {
        case BPF_LD | BPF_W | BPF_ABS: a = load(head, i->k, 4); break;
        case BPF_LD | BPF_B | BPF_ABS: a = load(head, i->k, 1); break;
        case BPF_LD | BPF_MEM: a = m[i->k % BPF_MEMWORDS]; break;
        case BPF_ST: m[i->k % BPF_MEMWORDS] = a; break;
        case BPF_ALU | BPF_AND | BPF_K: a &= i->k; break;
        case BPF_ALU | BPF_RSH | BPF_K: a >>= i->k; break;
        case BPF_JMP | BPF_JA: pc += (int)i->k; break;
        case BPF_JMP | BPF_JEQ | BPF_K: pc += a == i->k ? i->jt : i->jf; break;
        case BPF_RET | BPF_K: return i->k;
        default: CHECK(!"an instruction that the filter does not have"); return 7;
        }
    }
    CHECK(!"it ends by a return");
    return 7;
}

/* A packet from there, to ff... : the whole of it, or nothing. */
static bool passes(const struct ofi_admit *a, const uint8_t ip[ADMIT_IP])
{
    struct sock_filter code[ADMIT_PROGRAM];
    uint8_t head[HEAD];
    int n = ofi_admit_program(a, code);
    CHECK(n <= ADMIT_PROGRAM && n <= BPF_MAXINSNS);
    memset(head, 0xff, sizeof head);
    head[0] = ofi_admit_is_ipv4(ip) ? 0x45 : 0x60;
    if (ofi_admit_is_ipv4(ip))
        memcpy(head + 12, ip + 12, 4);
    else
        memcpy(head + 8, ip, ADMIT_IP);
    uint32_t got = run(code, n, head);
    CHECK(got == 0 || got == UINT32_MAX);
    return got != 0;
}

static void test_small(void)
{
    static const char *const others[] = {"10.0.0.2",        "10.0.1.1",      "11.0.0.1", "192.0.2.3",   "0.0.0.0",
                                         "255.255.255.255", "127.0.0.1",     "::1",      "2001:db8::2", "2001:db8::1:0:0:1",
                                         "2001:db9::1",     "2001:db8:1::1", "::",       "::10.0.0.1"};
    static const char *const ours[] = {"10.0.0.1", "2001:db8::1", "192.0.2.2", "fe80::1:2:3:4"};
    static struct ofi_admit a;
    uint8_t head[HEAD] = {0};
    struct sock_filter code[ADMIT_PROGRAM];
    for (size_t i = 0; i < GW_ARRAY_LEN(ours); i++) CHECK(!passes(&a, ip_of(ours[i])));
    for (size_t i = 0; i < GW_ARRAY_LEN(ours); i++) {
        CHECK(ofi_admit_add(&a, ip_of(ours[i])));
        CHECK(!ofi_admit_add(&a, ip_of(ours[i])));
        CHECK_EQ(a.n, i + 1);
        for (size_t k = 0; k < GW_ARRAY_LEN(ours); k++) CHECK_EQ(passes(&a, ip_of(ours[k])), k <= i);
        for (size_t k = 0; k < GW_ARRAY_LEN(others); k++) CHECK(!passes(&a, ip_of(others[k])));
    }
    for (int version = 0; version < 16; version++) { /* what is neither */
        head[0] = (uint8_t)(version << 4);
        memcpy(head + 12, ip_of("10.0.0.1") + 12, 4);
        CHECK_EQ(run(code, ofi_admit_program(&a, code), head) != 0, version == 4);
    }
}

/* The program, instruction by instruction. */
static void test_bytes(void)
{
    static const struct sock_filter want[] = {
        {0x30, 0, 0, 0xfff00000}, {0x74, 0, 0, 4},          {0x15, 3, 0, 4},          {0x15, 0, 1, 6},
        {0x05, 0, 0, 6},          {0x06, 0, 0, 0},          {0x20, 0, 0, 0xfff0000c}, {0x54, 0, 0, 0xffffffff},
        {0x15, 0, 1, 0xc0000202}, {0x06, 0, 0, 0xffffffff}, {0x06, 0, 0, 0},          {0x20, 0, 0, 0xfff00008},
        {0x54, 0, 0, 0xffffffff}, {0x02, 0, 0, 0},          {0x20, 0, 0, 0xfff0000c}, {0x54, 0, 0, 0xffffffff},
        {0x02, 0, 0, 1},          {0x20, 0, 0, 0xfff00010}, {0x54, 0, 0, 0xffffffff}, {0x02, 0, 0, 2},
        {0x20, 0, 0, 0xfff00014}, {0x54, 0, 0, 0xffffffff}, {0x02, 0, 0, 3},          {0x60, 0, 0, 0},
        {0x15, 0, 7, 0x20010db8}, {0x60, 0, 0, 1},          {0x15, 0, 5, 0},          {0x60, 0, 0, 2},
        {0x15, 0, 3, 0},          {0x60, 0, 0, 3},          {0x15, 0, 1, 7},          {0x06, 0, 0, 0xffffffff},
        {0x06, 0, 0, 0}};
    static struct ofi_admit a;
    struct sock_filter code[ADMIT_PROGRAM];
    ofi_admit_add(&a, ip_of("192.0.2.2"));
    ofi_admit_add(&a, ip_of("2001:db8::7"));
    CHECK_EQ(ofi_admit_program(&a, code), GW_ARRAY_LEN(want));
    CHECK(memcmp(code, want, sizeof want) == 0);
}

/* More hosts than there is room for: networks, and whoever was let in stays in. */
static void test_many(void)
{
    static struct ofi_admit a;
    uint8_t four[ADMIT_IP], six[ADMIT_IP];
    memcpy(four, ip_of("10.1.0.0"), sizeof four);
    memcpy(six, ip_of("2001:db8:0:7::"), sizeof six);
    for (int i = 0; i < 3000; i++) {
        four[14] = (uint8_t)(i >> 8), four[15] = (uint8_t)i;
        six[8] = (uint8_t)(i >> 8), six[15] = (uint8_t)i;
        ofi_admit_add(&a, four);
        ofi_admit_add(&a, six);
        CHECK(a.n > 0 && a.n <= ADMIT_MOST);
        if (i % 100 == 99) CHECK(passes(&a, four) && passes(&a, six));
        if (i == 127) CHECK(a.level == 0 && !passes(&a, ip_of("10.1.0.128")) && !passes(&a, ip_of("2001:db8:0:7::1:0")));
    }
    CHECK(a.level > 0 && a.level < ADMIT_WIDEST);
    for (int i = 0; i < 3000; i += 7) {
        four[14] = (uint8_t)(i >> 8), four[15] = (uint8_t)i;
        six[8] = (uint8_t)(i >> 8), six[15] = (uint8_t)i;
        CHECK(passes(&a, four) && passes(&a, six));
    }
    CHECK(!passes(&a, ip_of("10.2.0.1")) && !passes(&a, ip_of("9.1.0.0")) && !passes(&a, ip_of("2001:db8:0:8::")));
    /* Everywhere: in the end anybody, as without a filter. */
    for (int i = 0; i < 256 * 256 && a.level < ADMIT_WIDEST; i++) {
        four[12] = (uint8_t)i, four[13] = (uint8_t)(i >> 8);
        six[0] = (uint8_t)(i + 1), six[1] = (uint8_t)(i >> 8);
        ofi_admit_add(&a, four);
        ofi_admit_add(&a, six);
    }
    CHECK_EQ(a.level, ADMIT_WIDEST);
    CHECK_EQ(a.n, 2);
    CHECK(passes(&a, ip_of("198.51.100.1")) && passes(&a, ip_of("3fff::1")) && !ofi_admit_widen(&a));
}

/* ---- the kernel -------------------------------------------------------------------------------------------------------------- */
static int connect_from(const char *from, const struct sockaddr *to, socklen_t bytes, int ms)
{
    struct sockaddr_in four = {.sin_family = AF_INET};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    bool is_four = inet_pton(AF_INET, from, &four.sin_addr) == 1;
    if (!is_four) CHECK_EQ(inet_pton(AF_INET6, from, &six.sin6_addr), 1);
    int s = socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), err = 0;
    socklen_t n = sizeof err;
    CHECK_EQ(bind(s, is_four ? (void *)&four : (void *)&six, is_four ? sizeof four : sizeof six), 0);
    (void)connect(s, to, bytes);
    struct pollfd of = {.fd = s, .events = POLLOUT};
    if (poll(&of, 1, ms) == 1 && getsockopt(s, SOL_SOCKET, SO_ERROR, &err, &n) == 0 && !err) return s;
    close(s);
    return -1;
}

static int listener_open(struct sockaddr_storage *at, socklen_t *bytes)
{
    int s = socket(at->ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s < 0 || bind(s, (struct sockaddr *)at, *bytes) != 0 || getsockname(s, (struct sockaddr *)at, bytes) != 0) return -1;
    CHECK_EQ(ofi_fds_listener((struct sockaddr *)at), s);
    return s;
}

static bool has_filter(int s)
{
    struct sock_filter code[ADMIT_PROGRAM];
    socklen_t n = ADMIT_PROGRAM; /* the number of instructions, also of what comes back */
    CHECK_EQ(getsockopt(s, SOL_SOCKET, SO_GET_FILTER, code, &n), 0);
    return n > 0;
}

/* A connection that is there stays while hosts are added, and loses its filter where it is marked; strangers see nobody. */
static void test_listener(void)
{
    static struct ofi_admit a;
    struct sockaddr_storage at = {.ss_family = AF_INET};
    socklen_t bytes = sizeof(struct sockaddr_in);
    struct pollfd of;
    char word[6] = "";
    ((struct sockaddr_in *)&at)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int s = listener_open(&at, &bytes);
    CHECK(s >= 0);
    CHECK_EQ(ofi_admit_attach(&a, s), 0); /* before it listens */
    CHECK_EQ(listen(s, 16), 0);
    of = (struct pollfd){.fd = s, .events = POLLIN};
    struct sockaddr *to = (struct sockaddr *)&at;
    CHECK_EQ(connect_from("127.0.0.2", to, bytes, 100), -1);
    ofi_admit_add(&a, ip_of("127.0.0.2"));
    CHECK_EQ(ofi_admit_attach(&a, s), 0);
    int one = connect_from("127.0.0.2", to, bytes, 5000), got = accept(s, NULL, NULL);
    CHECK(one >= 0 && got >= 0);
    CHECK_EQ(connect_from("127.0.0.3", to, bytes, 100), -1);
    CHECK_EQ(connect_from("127.0.0.1", to, bytes, 100), -1);
    CHECK_EQ(poll(&of, 1, 0), 0); /* nobody waits there */
    ofi_admit_add(&a, ip_of("127.0.0.3"));
    CHECK_EQ(ofi_admit_attach(&a, s), 0);
    int two = connect_from("127.0.0.3", to, bytes, 5000), got_two = accept(s, NULL, NULL);
    CHECK(two >= 0 && got_two >= 0);
    CHECK(write(one, "right", 5) == 5 && read(got, word, 5) == 5 && strcmp(word, "right") == 0);
    CHECK(has_filter(got) && has_filter(got_two));
    ofi_fds_mark_connections(to, NULL, NULL);
    CHECK(!has_filter(got) && !has_filter(got_two) && has_filter(s));
    CHECK(write(got, "wrong", 5) == 5 && read(one, word, 5) == 5 && strcmp(word, "wrong") == 0);
    CHECK_EQ(connect_from("127.0.0.4", to, bytes, 100), -1);
    for (int i = 0; i < 5; i++) close((int[]){s, one, two, got, got_two}[i]);
    CHECK_EQ(ofi_fds_listener(to), -1);
}

static void test_listener_six(void)
{
    static struct ofi_admit a;
    struct sockaddr_in6 here = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr_storage at = {0};
    socklen_t bytes = sizeof here;
    memcpy(&at, &here, sizeof here);
    int s = listener_open(&at, &bytes);
    if (s < 0) return; /* no IPv6 on this machine */
    struct sockaddr *to = (struct sockaddr *)&at;
    ofi_admit_add(&a, ip_of("::2"));
    CHECK_EQ(ofi_admit_attach(&a, s), 0);
    CHECK_EQ(listen(s, 16), 0);
    CHECK_EQ(connect_from("::1", to, bytes, 100), -1);
    ofi_admit_add(&a, ip_of("::1"));
    CHECK_EQ(ofi_admit_attach(&a, s), 0);
    int one = connect_from("::1", to, bytes, 5000);
    CHECK(one >= 0);
    close(one);
    close(s);
}

/* As many as there can be: the kernel takes them, or a shorter program in their place. */
static void test_listener_full(void)
{
    static struct ofi_admit a;
    struct sockaddr_storage at = {.ss_family = AF_INET};
    socklen_t bytes = sizeof(struct sockaddr_in);
    uint8_t six[ADMIT_IP];
    ((struct sockaddr_in *)&at)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int s = listener_open(&at, &bytes);
    memcpy(six, ip_of("2001:db8::"), sizeof six);
    ofi_admit_add(&a, ip_of("127.0.0.2"));
    for (int i = 1; i < ADMIT_MOST; i++) {
        six[3] = (uint8_t)i;
        CHECK(ofi_admit_add(&a, six));
    }
    CHECK_EQ(a.n, ADMIT_MOST);
    for (int i = 0; i < 20; i++) CHECK_EQ(ofi_admit_attach(&a, s), 0); /* what was there before goes */
    CHECK_EQ(listen(s, 16), 0);
    int one = connect_from("127.0.0.2", (struct sockaddr *)&at, bytes, 5000);
    CHECK(one >= 0 && has_filter(s));
    if (a.level < 5) CHECK_EQ(connect_from("127.1.0.2", (struct sockaddr *)&at, bytes, 100), -1);
    close(one);
    close(s);
    CHECK_EQ(ofi_admit_attach(&a, s), EBADF);
}

int main(void)
{
    static struct ofi_admit none;
    test_small();
    test_bytes();
    test_many();
    int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool takes = ofi_admit_attach(&none, s) == 0;
    close(s);
    if (!takes) {
        printf("the kernel takes no filters here\n");
        return unit_end();
    }
    test_listener();
    test_listener_six();
    test_listener_full();
    return unit_end();
}
