/* ofi_ondemand_test.c -- a rank that has not opened the network is asked to, by messages that get lost or come from strangers.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_ofi/ofi_ondemand.h"
#include "wire_ofi/ofi_private.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "../../test/unit.h"

static _Atomic int opened[4];

static struct ofi_ondemand_client last; /* who asked; read when it is answered */

static int open_lane(int lane, const struct ofi_ondemand_client *asker, char value_out[ONDEMAND_VALUE])
{
    if (asker) last = *asker;
    if (lane == 3) return gw_fail(GW_EUNSUPPORTED, "the card is on fire");
    opened[lane]++;
    snprintf(value_out, ONDEMAND_VALUE, "address of lane %d", lane);
    return GW_OK;
}

static _Atomic int n_come;
static void have_come(void) { n_come++; }

static int answer_get(struct ofi_ondemand_call *c, char *value)
{
    int rc = GW_AGAIN;
    for (int i = 0; i < 100 && rc == GW_AGAIN; i++) rc = ofi_ondemand_answer(c, value);
    return rc;
}

static void test_asked(const char *at)
{
    struct ofi_ondemand_call c;
    char value[ONDEMAND_VALUE];
    for (int lane = 1; lane < 3; lane++) {
        CHECK_EQ(ofi_ondemand_call(&c, 5, at, lane), GW_OK);
        CHECK_EQ(answer_get(&c, value), GW_OK);
        CHECK_STR(value, lane == 1 ? "address of lane 1" : "address of lane 2");
        CHECK(opened[lane] >= 1); /* who is not answered soon asks again */
        ofi_ondemand_cancel(&c);
    }
    CHECK_EQ(ofi_ondemand_call(&c, 5, at, 3), GW_OK);
    CHECK_EQ(answer_get(&c, value), GW_EUNSUPPORTED);
    CHECK_STR(gw_fail_text(), "rank 5: the card is on fire");
    ofi_ondemand_cancel(&c);
}

static int stranger(const struct sockaddr_storage *address)
{
    int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    CHECK(connect(s, (const struct sockaddr *)address, sizeof(struct sockaddr_in)) == 0);
    return s;
}

static struct ofi_ondemand_request question(uint64_t key, uint64_t nonce, int lane)
{
    struct ofi_ondemand_request q = {.key = key, .nonce = nonce, .lane = lane};
    memcpy(q.magic, "gwknock3", sizeof q.magic);
    return q;
}

enum { WRONG = 12 };
/* Addresses that nobody comes from, and numbers of them that are none. */
static struct ofi_ondemand_request wrong_from(const struct ofi_ondemand_request *right, int i)
{
    static const uint8_t ips[][ADMIT_IP] = {
        {0},                                              /* :: */
        {[15] = 1},                                       /* ::1 */
        {0xff, 2, [15] = 1},                              /* ff02::1 */
        {[10] = 0xff, [11] = 0xff},                       /* 0.0.0.0 */
        {[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1}, /* 127.0.0.1 */
        {[10] = 0xff, [11] = 0xff, [12] = 224, [15] = 1}, /* 224.0.0.1 */
        {[10] = 0xff, [11] = 0xff, 255, 255, 255, 255},   /* 255.255.255.255 */
        {0x20, 1, 0x0d, 0xb8, [15] = 1},                  /* 2001:db8::1, which is right */
    };
    struct ofi_ondemand_request q = *right;
    q.n_from = 1;
    memcpy(q.from[0], ips[i < 7 ? i : 7], ADMIT_IP);
    if (i == 7) q.n_from = 0; /* it is there, and is not to be */
    if (i == 8) q.n_from = -1;
    if (i == 9) q.n_from = ONDEMAND_FROM + 1;
    if (i == 10) q.n_from = 2; /* there is none */
    if (i == 11) q.from[ONDEMAND_FROM - 1][15] = 1;
    return q;
}

/* The bytes of the answer, or -1: none comes.  The thread has seen what was sent before once it answers a question of ours. */
static ssize_t reply_get(int s, struct ofi_ondemand_reply *r, int ms)
{
    struct pollfd p = {.fd = s, .events = POLLIN};
    return poll(&p, 1, ms) == 1 ? recv(s, r, sizeof *r, MSG_DONTWAIT) : -1;
}

/* What does not know the key, or is not a question, is not answered and harms nobody. */
static void test_strangers(const char *at, const struct sockaddr_storage *address)
{
    struct ofi_ondemand_call c;
    struct sockaddr_storage to;
    struct ofi_ondemand_reply r;
    char value[ONDEMAND_VALUE], noise[2048];
    uint64_t key, random = 88172645463325252;
    int s = stranger(address), before = opened[1], before_2 = opened[2];
    CHECK(ofi_ondemand_name_read(at, &to, &key));
    struct ofi_ondemand_request right = question(key, 77, 1), q;
    for (int bit = 0; bit < 64; bit++) { /* wrong by one bit */
        q = question(key ^ (uint64_t)1 << bit, 77, 1);
        CHECK_EQ(send(s, &q, sizeof q, 0), (ssize_t)sizeof q);
    }
    for (size_t n = 0; n < sizeof right; n++) CHECK_EQ(send(s, &right, n, 0), (ssize_t)n); /* cut off */
    memcpy(noise, &right, sizeof right);
    for (size_t n = sizeof right + 1; n < 200; n++) CHECK_EQ(send(s, noise, n, 0), (ssize_t)n); /* too long */
    q = right;
    q.magic[7] = 0;
    CHECK_EQ(send(s, &q, sizeof q, 0), (ssize_t)sizeof q);
    for (int i = 0; i < WRONG; i++) {
        q = wrong_from(&right, i);
        CHECK_EQ(send(s, &q, sizeof q, 0), (ssize_t)sizeof q);
    }
    for (int i = 0; i < 2000; i++) {
        for (size_t k = 0; k < sizeof noise; k++)
            noise[k] = (char)((random = random * 6364136223846793005 + 1442695040888963407) >> 56);
        size_t n = i % 4 ? (size_t)(random >> 32) % sizeof noise : sizeof q;
        (void)!send(s, noise, n, 0);
    }
    CHECK_EQ(ofi_ondemand_call(&c, 5, at, 2), GW_OK);
    CHECK_EQ(answer_get(&c, value), GW_OK);
    CHECK_STR(value, "address of lane 2");
    ofi_ondemand_cancel(&c);
    CHECK_EQ(reply_get(s, &r, 0), -1);
    CHECK(opened[1] == before && opened[2] > before_2); /* more than once where the answer is late and the question is sent again */
    close(s);
}

/* What is sent, byte by byte, numbers in this host's order; and that the asked rank learns where the asker comes from. */
static void test_bytes(const char *at, const struct sockaddr_storage *address)
{
    static const uint8_t from[][ADMIT_IP] = {{[10] = 0xff, [11] = 0xff, [12] = 192, [13] = 0, [14] = 2, [15] = 2},
                                             {[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1},
                                             {0x20, 0x01, 0x0d, 0xb8, [15] = 2}};
    static const uint8_t here[ADMIT_IP] = {[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1};
    unsigned char want[160] = "gwknock3", got[256];
    uint64_t key, nonce = 0x1122334455667788;
    int32_t lane = 2, two = 2;
    struct sockaddr_storage to;
    struct ofi_ondemand_request q, again;
    struct pollfd of;
    CHECK(ofi_ondemand_name_read(at, &to, &key));
    memcpy(want + 8, &key, 8);
    memcpy(want + 16, &nonce, 8);
    memcpy(want + 24, &lane, 4);
    memcpy(want + 28, &two, 4);
    memcpy(want + 32, from[0], 16);
    memcpy(want + 48, from[2], 16); /* the loopback is left out */
    ofi_ondemand_request_make(&q, key, nonce, lane, from, 3);
    CHECK_EQ(sizeof q, sizeof want);
    CHECK(memcmp(&q, want, sizeof want) == 0);
    CHECK(ofi_ondemand_request_read(want, sizeof want, key, &again) && memcmp(&again, &q, sizeof q) == 0);
    int s = stranger(address);
    CHECK_EQ(send(s, want, sizeof want, 0), (ssize_t)sizeof want);
    of = (struct pollfd){.fd = s, .events = POLLIN};
    CHECK_EQ(poll(&of, 1, 30000), 1);
    unsigned char reply[24 + 17 + 1] = "gwknock3";
    memcpy(reply + 8, &nonce, 8);
    memcpy(reply + 16, &lane, 4);
    memcpy(reply + 24, "address of lane 2", 18);
    CHECK_EQ(recv(s, got, sizeof got, MSG_DONTWAIT), (ssize_t)sizeof reply);
    CHECK(memcmp(got, reply, sizeof reply) == 0);
    CHECK_EQ(last.n, 3);
    CHECK(memcmp(last.from[0], here, 16) == 0 && memcmp(last.from[1], from[0], 16) == 0 && memcmp(last.from[2], from[2], 16) == 0);
    close(s);
}

/* Of interfaces, what other hosts can see; the first ones. */
static void test_from(void)
{
    static struct iface all[5] = {
        {.name = "lo", .n_addresses = 2, .addresses = {{AF_INET, 8, {127, 0, 0, 1}}, {AF_INET6, 128, {[15] = 1}}}},
        {.name = "eth0",
         .n_addresses = 3,
         .addresses = {{AF_INET, 24, {192, 0, 2, 2}},
                       {AF_INET6, 64, {0xfe, 0x80, [15] = 7}},
                       {AF_INET6, 64, {0x20, 1, 0x0d, 0xb8, [15] = 2}}}},
        {.name = "eth1", .n_addresses = 1, .addresses = {{AF_INET, 8, {10, 1, 2, 3}}}},
        {.name = "docker0", .n_addresses = 1, .addresses = {{AF_INET, 16, {172, 17, 0, 1}}}},
        {.name = "many", .n_addresses = 8}};
    static const struct iface_verdict verdicts[] = {
        {.iface = 2}, {.iface = 1}, {.iface = 0}, {.iface = 4}, {.iface = 3, .is_refused = true}};
    static const uint8_t want[][ADMIT_IP] = {{[10] = 0xff, [11] = 0xff, 10, 1, 2, 3},
                                             {[10] = 0xff, [11] = 0xff, 192, 0, 2, 2},
                                             {0x20, 1, 0x0d, 0xb8, [15] = 2},
                                             {[10] = 0xff, [11] = 0xff, 10, 9, 0, 1}};
    uint8_t out[ONDEMAND_FROM][ADMIT_IP];
    for (int i = 0; i < 8; i++) all[4].addresses[i] = (struct iface_address){AF_INET, 24, {10, 9, 0, (uint8_t)(i + 1)}};
    CHECK_EQ(ofi_ondemand_from_ifaces(all, verdicts, 3, out), 3);
    CHECK(memcmp(out, want, 3 * ADMIT_IP) == 0);
    CHECK_EQ(ofi_ondemand_from_ifaces(all, verdicts, 4, out), ONDEMAND_FROM);
    CHECK(memcmp(out, want, 4 * ADMIT_IP) == 0);
    CHECK(out[7][15] == 5);
    CHECK_EQ(ofi_ondemand_from_ifaces(all, verdicts, 0, out), 0);
}

/* A lane that does not exist is not opened; who knows the key is told.  An answer is as long as its text. */
static void test_lanes(const char *at, const struct sockaddr_storage *address)
{
    static const int lanes[] = {4, 5, 16, 1 << 20, INT32_MAX, -1, INT32_MIN};
    struct sockaddr_storage to;
    struct ofi_ondemand_reply r;
    uint64_t key;
    int s = stranger(address);
    CHECK(ofi_ondemand_name_read(at, &to, &key));
    for (size_t i = 0; i < GW_ARRAY_LEN(lanes); i++) {
        struct ofi_ondemand_request q = question(key, 1000 + i, lanes[i]);
        char words[64];
        CHECK_EQ(send(s, &q, sizeof q, 0), (ssize_t)sizeof q);
        CHECK_EQ(reply_get(s, &r, 30000), (ssize_t)(ONDEMAND_REPLY_HEAD + strlen(r.text) + 1));
        CHECK_EQ(r.nonce, 1000 + i);
        CHECK_EQ(r.rc, GW_EARG);
        snprintf(words, sizeof words, "there is no lane %d here, only 4", lanes[i]);
        CHECK_EQ(strncmp(r.text, words, strlen(words)), 0);
    }
    close(s);
}

/* Only the asked address answers, with the number of the question, and says what can be shown. */
static void test_forged(void)
{
    char at[ONDEMAND_AT], value[ONDEMAND_VALUE] = "";
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}, asker;
    socklen_t bytes = sizeof here;
    struct ofi_ondemand_call c;
    struct ofi_ondemand_request q;
    struct ofi_ondemand_reply r = {.lane = 2, .text = "tcp 1 0 0200"};
    int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), other = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    size_t n = ONDEMAND_REPLY_HEAD + strlen(r.text) + 1;
    CHECK(bind(s, (struct sockaddr *)&here, sizeof here) == 0 && getsockname(s, (struct sockaddr *)&here, &bytes) == 0);
    snprintf(at, sizeof at, "@127.0.0.1:%d#%016llx", ntohs(here.sin_port), 0x0123456789abcdefULL);
    CHECK_EQ(ofi_ondemand_call(&c, 5, at, 2), GW_OK);
    bytes = sizeof asker;
    CHECK_EQ(recvfrom(s, &q, sizeof q, 0, (struct sockaddr *)&asker, &bytes), (ssize_t)sizeof q);
    CHECK(q.key == 0x0123456789abcdefULL && q.lane == 2 && q.nonce != 0);
    struct ofi_ondemand_request want = question(0x0123456789abcdefULL, q.nonce, 2);
    struct iface_list f; /* of this machine, whatever there is */
    iface_list_read(&f);
    want.n_from = ofi_ondemand_from_ifaces(f.all, f.verdicts, f.n_usable > 0 ? f.n_usable : f.n, want.from);
    iface_list_free(&f);
    CHECK(memcmp(&q, &want, sizeof q) == 0);
    memcpy(r.magic, q.magic, sizeof r.magic);
    struct ofi_ondemand_reply wrong[6] = {r, r, r, r, r, r};
    for (int i = 0; i < 6; i++) wrong[i].nonce = q.nonce;
    wrong[0].nonce ^= 1;
    wrong[1].lane = 1;
    wrong[2].rc = GW_AGAIN;
    wrong[3].rc = GW_EFIRST_ - 1;
    wrong[4].text[3] = '\x1b';
    wrong[5].text[3] = 0;
    for (int i = 0; i < 6; i++) CHECK_EQ(sendto(s, &wrong[i], n, 0, (struct sockaddr *)&asker, bytes), (ssize_t)n);
    r.nonce = q.nonce;
    for (size_t k = 0; k < n; k++) CHECK_EQ(sendto(s, &r, k, 0, (struct sockaddr *)&asker, bytes), (ssize_t)k);
    CHECK_EQ(sendto(other, &r, n, 0, (struct sockaddr *)&asker, bytes), (ssize_t)n); /* from another port */
    for (int i = 0; i < 60; i++) CHECK_EQ(ofi_ondemand_answer(&c, value), GW_AGAIN);
    CHECK_STR(value, "");
    CHECK_EQ(sendto(s, &r, n, 0, (struct sockaddr *)&asker, bytes), (ssize_t)n);
    CHECK_EQ(answer_get(&c, value), GW_OK);
    CHECK_STR(value, "tcp 1 0 0200");
    ofi_ondemand_cancel(&c);
    close(s);
    close(other);
}

/* Each time another key, and another number for a question. */
static void test_random(void)
{
    char at[2][ONDEMAND_AT];
    struct sockaddr_storage address;
    struct ofi_ondemand_call c[2];
    uint64_t keys[2];
    for (int i = 0; i < 2; i++) {
        CHECK(ofi_ondemand_begin(false, 4, open_lane, have_come, at[i], &address));
        CHECK(ofi_ondemand_name_read(at[i], &address, &keys[i]));
        CHECK_EQ(ofi_ondemand_call(&c[i], 5, at[i], 1), GW_OK);
        ofi_ondemand_cancel(&c[i]);
        ofi_ondemand_end();
    }
    CHECK(keys[0] != keys[1] && c[0].nonce != c[1].nonce && c[0].nonce != c[0].key);
}

static void test_names(void)
{
    struct ofi_ondemand_call c;
    CHECK(ofi_ondemand_is_name("@192.0.2.1:7#0000000000000001") && !ofi_ondemand_is_name("tcp;ofi_rxm 1 0 0200"));
    static const char *const bad[] = {"@",
                                      "@192.0.2.1",
                                      "@192.0.2:7",
                                      "@192.0.2.1:7",
                                      "@192.0.2.1:7#",
                                      "@192.0.2.1:7#12",
                                      "@[::::]:7#0123456789abcdef",
                                      "@192.0.2.1:70000#0123456789abcdef",
                                      "@192.0.2.1:0#0123456789abcdef",
                                      "@192.0.2.1:-7#0123456789abcdef",
                                      "@192.0.2.1: 7#0123456789abcdef",
                                      "@::1:7#0123456789abcdef",
                                      "@192.0.2.1:7#0123456789abcdef0",
                                      "@192.0.2.1:7#0123456789abcdeF",
                                      "@192.0.2.1:7#0123456789abcdef ",
                                      "@192.0.2.1:07#0123456789abcdef",
                                      "@192.0.2.1:7#0x23456789abcdef",
                                      "@[0::1]:7#0123456789abcdef",
                                      "@192.0.2.1:7#-123456789abcdef"};
    for (size_t i = 0; i < GW_ARRAY_LEN(bad); i++) {
        CHECK_EQ(ofi_ondemand_call(&c, 2, bad[i], 0), GW_EOTHER);
        CHECK(!strstr(gw_fail_text(), "23456789abcde")); /* a key is shown to nobody */
    }
    CHECK_EQ(ofi_ondemand_call(&c, 2, "@[::1]:9#0123456789abcdef", 0), GW_OK);
    CHECK_STR(c.at, "[::1]:9");
    CHECK(c.key == 0x0123456789abcdefULL);
    ofi_ondemand_cancel(&c);
}

/* The answer to the first question is lost: nobody listens yet at that port. */
static void test_asked_again(void)
{
    char at[ONDEMAND_AT], value[ONDEMAND_VALUE];
    struct sockaddr_storage address;
    struct ofi_ondemand_call c;
    CHECK(ofi_ondemand_begin(false, 4, open_lane, have_come, at, &address));
    struct sockaddr_in here = *(struct sockaddr_in *)&address;
    ofi_ondemand_end();
    CHECK_EQ(ofi_ondemand_call(&c, 5, at, 1), GW_OK);
    CHECK_EQ(ofi_ondemand_answer(&c, value), GW_AGAIN);
    int s = socket(AF_INET, SOCK_DGRAM, 0); /* takes the place, and is silent */
    CHECK_EQ(bind(s, (struct sockaddr *)&here, sizeof here), 0);
    for (int i = 0; i < 3; i++) CHECK_EQ(ofi_ondemand_answer(&c, value), GW_AGAIN);
    CHECK(recv(s, value, sizeof value, MSG_DONTWAIT) > 0); /* it has asked again */
    close(s);
    ofi_ondemand_cancel(&c);
}

int main(void)
{
    char at[ONDEMAND_AT];
    struct sockaddr_storage address;
    test_names();
    test_asked_again();
    test_random();
    test_forged();
    test_from();
    CHECK(!ofi_ondemand_is_on());
    CHECK(ofi_ondemand_begin(false, 4, open_lane, have_come, at, &address));
    CHECK(ofi_ondemand_is_on() && ofi_ondemand_is_name(at));
    ofi_ondemand_rest(true);
    test_asked(at);
    test_strangers(at, &address);
    test_lanes(at, &address);
    test_bytes(at, &address);
    usleep(600000);
    CHECK_EQ(opened[0], 0); /* the program has sent its last */
    for (int i = 0; i < 600 && !n_come; i++) usleep(50000);
    CHECK(n_come > 0); /* those who were answered */
    ofi_ondemand_end();
    ofi_ondemand_rest(false);
    CHECK(ofi_ondemand_begin(false, 4, open_lane, have_come, at, &address));
    for (int i = 0; i < 600 && !opened[0]; i++) usleep(50000);
    CHECK_EQ(opened[0], 1); /* unasked, once */
    ofi_ondemand_end();
    ofi_ondemand_end();
    return unit_end();
}
