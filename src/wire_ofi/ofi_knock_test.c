/* ofi_knock_test.c -- a rank that has not opened the network is asked to, by messages that get lost or come from strangers.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_ofi/ofi_knock.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "../../test/unit.h"

static _Atomic int opened[4];

static int open_lane(int lane, char value_out[KNOCK_VALUE])
{
    if (lane == 3) return gw_fail(GW_EUNSUPPORTED, "the card is on fire");
    opened[lane]++;
    snprintf(value_out, KNOCK_VALUE, "address of lane %d", lane);
    return GW_OK;
}

static _Atomic int n_come;
static void have_come(void) { n_come++; }

static int answer_get(struct knock_call *c, char *value)
{
    int rc = GW_AGAIN;
    for (int i = 0; i < 100 && rc == GW_AGAIN; i++) rc = knock_answer(c, value);
    return rc;
}

static void test_asked(const char *at)
{
    struct knock_call c;
    char value[KNOCK_VALUE];
    for (int lane = 1; lane < 3; lane++) {
        CHECK_EQ(knock_call(&c, 5, at, lane), GW_OK);
        CHECK_EQ(answer_get(&c, value), GW_OK);
        CHECK_STR(value, lane == 1 ? "address of lane 1" : "address of lane 2");
        CHECK(opened[lane] >= 1); /* who is not answered soon asks again */
        knock_hang_up(&c);
    }
    CHECK_EQ(knock_call(&c, 5, at, 3), GW_OK);
    CHECK_EQ(answer_get(&c, value), GW_EUNSUPPORTED);
    CHECK_STR(gw_fail_text(), "rank 5: the card is on fire");
    knock_hang_up(&c);
}

static int stranger(const struct sockaddr_storage *address)
{
    int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    CHECK(connect(s, (const struct sockaddr *)address, sizeof(struct sockaddr_in)) == 0);
    return s;
}

static struct knock_question question(uint64_t key, uint64_t nonce, int lane)
{
    struct knock_question q = {.key = key, .nonce = nonce, .lane = lane};
    memcpy(q.magic, "gwknock2", sizeof q.magic);
    return q;
}

/* The bytes of the answer, or -1: none comes.  The thread has seen what was sent before once it answers a question of ours. */
static ssize_t reply_get(int s, struct knock_reply *r)
{
    struct pollfd p = {.fd = s, .events = POLLIN};
    return poll(&p, 1, 300) == 1 ? recv(s, r, sizeof *r, MSG_DONTWAIT) : -1;
}

/* What does not know the key, or is not a question, is not answered and harms nobody. */
static void test_strangers(const char *at, const struct sockaddr_storage *address)
{
    struct knock_call c;
    struct sockaddr_storage to;
    struct knock_reply r;
    char value[KNOCK_VALUE], noise[2048];
    uint64_t key, random = 88172645463325252;
    int s = stranger(address), before = opened[1];
    CHECK(knock_name_read(at, &to, &key));
    struct knock_question right = question(key, 77, 1), q;
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
    q = right;
    q.zero = 1;
    CHECK_EQ(send(s, &q, sizeof q, 0), (ssize_t)sizeof q);
    for (int i = 0; i < 2000; i++) {
        for (size_t k = 0; k < sizeof noise; k++)
            noise[k] = (char)((random = random * 6364136223846793005 + 1442695040888963407) >> 56);
        size_t n = i % 4 ? (size_t)(random >> 32) % sizeof noise : sizeof q;
        (void)!send(s, noise, n, 0);
    }
    CHECK_EQ(reply_get(s, &r), -1);
    CHECK_EQ(opened[1], before);
    CHECK_EQ(knock_call(&c, 5, at, 1), GW_OK);
    CHECK_EQ(answer_get(&c, value), GW_OK);
    CHECK_STR(value, "address of lane 1");
    CHECK_EQ(opened[1], before + 1);
    knock_hang_up(&c);
    close(s);
}

/* A lane that does not exist is not opened; who knows the key is told.  An answer is as long as its text. */
static void test_lanes(const char *at, const struct sockaddr_storage *address)
{
    static const int lanes[] = {4, 5, 16, 1 << 20, INT32_MAX, -1, INT32_MIN};
    struct sockaddr_storage to;
    struct knock_reply r;
    uint64_t key;
    int s = stranger(address);
    CHECK(knock_name_read(at, &to, &key));
    for (size_t i = 0; i < GW_ARRAY_LEN(lanes); i++) {
        struct knock_question q = question(key, 1000 + i, lanes[i]);
        char words[64];
        CHECK_EQ(send(s, &q, sizeof q, 0), (ssize_t)sizeof q);
        CHECK_EQ(reply_get(s, &r), (ssize_t)(KNOCK_REPLY_HEAD + strlen(r.text) + 1));
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
    char at[KNOCK_AT], value[KNOCK_VALUE] = "";
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}, asker;
    socklen_t bytes = sizeof here;
    struct knock_call c;
    struct knock_question q;
    struct knock_reply r = {.lane = 2, .text = "tcp 1 0 0200"};
    int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), other = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    size_t n = KNOCK_REPLY_HEAD + strlen(r.text) + 1;
    CHECK(bind(s, (struct sockaddr *)&here, sizeof here) == 0 && getsockname(s, (struct sockaddr *)&here, &bytes) == 0);
    snprintf(at, sizeof at, "@127.0.0.1:%d#%016llx", ntohs(here.sin_port), 0x0123456789abcdefULL);
    CHECK_EQ(knock_call(&c, 5, at, 2), GW_OK);
    bytes = sizeof asker;
    CHECK_EQ(recvfrom(s, &q, sizeof q, 0, (struct sockaddr *)&asker, &bytes), (ssize_t)sizeof q);
    CHECK(q.key == 0x0123456789abcdefULL && q.lane == 2 && q.nonce != 0);
    memcpy(r.magic, q.magic, sizeof r.magic);
    struct knock_reply wrong[6] = {r, r, r, r, r, r};
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
    for (int i = 0; i < 60; i++) CHECK_EQ(knock_answer(&c, value), GW_AGAIN);
    CHECK_STR(value, "");
    CHECK_EQ(sendto(s, &r, n, 0, (struct sockaddr *)&asker, bytes), (ssize_t)n);
    CHECK_EQ(answer_get(&c, value), GW_OK);
    CHECK_STR(value, "tcp 1 0 0200");
    knock_hang_up(&c);
    close(s);
    close(other);
}

/* Each time another key, and another number for a question. */
static void test_random(void)
{
    char at[2][KNOCK_AT];
    struct sockaddr_storage address;
    struct knock_call c[2];
    uint64_t keys[2];
    for (int i = 0; i < 2; i++) {
        CHECK(knock_begin(false, 4, open_lane, have_come, at[i], &address));
        CHECK(knock_name_read(at[i], &address, &keys[i]));
        CHECK_EQ(knock_call(&c[i], 5, at[i], 1), GW_OK);
        knock_hang_up(&c[i]);
        knock_end();
    }
    CHECK(keys[0] != keys[1] && c[0].nonce != c[1].nonce && c[0].nonce != c[0].key);
}

static void test_names(void)
{
    struct knock_call c;
    CHECK(knock_is_name("@192.0.2.1:7#0000000000000001") && !knock_is_name("tcp;ofi_rxm 1 0 0200"));
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
        CHECK_EQ(knock_call(&c, 2, bad[i], 0), GW_EOTHER);
        CHECK(!strstr(gw_fail_text(), "23456789abcde")); /* a key is shown to nobody */
    }
    CHECK_EQ(knock_call(&c, 2, "@[::1]:9#0123456789abcdef", 0), GW_OK);
    CHECK_STR(c.at, "[::1]:9");
    CHECK(c.key == 0x0123456789abcdefULL);
    knock_hang_up(&c);
}

/* The answer to the first question is lost: nobody listens yet at that port. */
static void test_asked_again(void)
{
    char at[KNOCK_AT], value[KNOCK_VALUE];
    struct sockaddr_storage address;
    struct knock_call c;
    CHECK(knock_begin(false, 4, open_lane, have_come, at, &address));
    struct sockaddr_in here = *(struct sockaddr_in *)&address;
    knock_end();
    CHECK_EQ(knock_call(&c, 5, at, 1), GW_OK);
    CHECK_EQ(knock_answer(&c, value), GW_AGAIN);
    int s = socket(AF_INET, SOCK_DGRAM, 0); /* takes the place, and is silent */
    CHECK_EQ(bind(s, (struct sockaddr *)&here, sizeof here), 0);
    for (int i = 0; i < 3; i++) CHECK_EQ(knock_answer(&c, value), GW_AGAIN);
    CHECK(recv(s, value, sizeof value, MSG_DONTWAIT) > 0); /* it has asked again */
    close(s);
    knock_hang_up(&c);
}

int main(void)
{
    char at[KNOCK_AT];
    struct sockaddr_storage address;
    test_names();
    test_asked_again();
    test_random();
    test_forged();
    CHECK(!knock_is_on());
    CHECK(knock_begin(false, 4, open_lane, have_come, at, &address));
    CHECK(knock_is_on() && knock_is_name(at));
    knock_rest(true);
    test_asked(at);
    test_strangers(at, &address);
    test_lanes(at, &address);
    usleep(600000);
    CHECK_EQ(opened[0], 0); /* the program has sent its last */
    for (int i = 0; i < 100 && !n_come; i++) usleep(50000);
    CHECK(n_come > 0); /* those who were answered */
    knock_end();
    knock_rest(false);
    CHECK(knock_begin(false, 4, open_lane, have_come, at, &address));
    for (int i = 0; i < 100 && !opened[0]; i++) usleep(50000);
    CHECK_EQ(opened[0], 1); /* unasked, once */
    knock_end();
    knock_end();
    return unit_end();
}
