/* ofi_knock_test.c -- a rank that has not opened the network is asked to, by messages that get lost or come from strangers.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_ofi/ofi_knock.h"

#include <arpa/inet.h>
#include <netinet/in.h>
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
        CHECK_EQ(opened[lane], 1);
        knock_hang_up(&c);
    }
    CHECK_EQ(knock_call(&c, 5, at, 3), GW_OK);
    CHECK_EQ(answer_get(&c, value), GW_EUNSUPPORTED);
    CHECK_STR(gw_fail_text(), "rank 5: the card is on fire");
    knock_hang_up(&c);
}

/* Noise, and a question of another job, are not answered and harm nobody. */
static void test_strangers(const char *at, const struct sockaddr_storage *address)
{
    struct knock_call c;
    char value[KNOCK_VALUE];
    int s = socket(AF_INET, SOCK_DGRAM, 0);
    int before = opened[1];
    CHECK(connect(s, (const struct sockaddr *)address, sizeof(struct sockaddr_in)) == 0);
    for (size_t n = 0; n < 64; n++) CHECK_EQ(send(s, "gwknock\0gwknock\0gwknock\0gwknock\0gwknock\0gwknock\0gwknock\0gwknock\0", n, 0), (ssize_t)n);
    CHECK_EQ(recv(s, value, sizeof value, MSG_DONTWAIT), -1);
    close(s);
    CHECK_EQ(opened[1], before);
    CHECK_EQ(knock_call(&c, 5, at, 1), GW_OK);
    CHECK_EQ(answer_get(&c, value), GW_OK);
    CHECK_STR(value, "address of lane 1");
    knock_hang_up(&c);
}

static void test_names(void)
{
    struct knock_call c;
    CHECK(knock_is_name("@192.0.2.1:7") && !knock_is_name("tcp;ofi_rxm 1 0 0200"));
    static const char *const bad[] = {"@", "@192.0.2.1", "@192.0.2:7", "@192.0.2.1:70000", "@[::::]:7", "@::1:7"};
    for (size_t i = 0; i < GW_ARRAY_LEN(bad); i++) CHECK_EQ(knock_call(&c, 2, bad[i], 0), GW_EOTHER);
    CHECK_EQ(knock_call(&c, 2, "@[::1]:9", 0), GW_OK);
    CHECK_STR(c.at, "[::1]:9");
    knock_hang_up(&c);
}

/* The answer to the first question is lost: nobody listens yet at that port. */
static void test_asked_again(void)
{
    char at[KNOCK_AT], value[KNOCK_VALUE];
    struct sockaddr_storage address;
    struct knock_call c;
    CHECK(knock_begin(false, 7, open_lane, at, &address));
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
    CHECK(!knock_is_on());
    CHECK(knock_begin(false, 42, open_lane, at, &address));
    CHECK(knock_is_on() && knock_is_name(at));
    knock_rest(true);
    test_asked(at);
    test_strangers(at, &address);
    usleep(600000);
    CHECK_EQ(opened[0], 0); /* the program has sent its last */
    knock_end();
    knock_rest(false);
    CHECK(knock_begin(false, 42, open_lane, at, &address));
    for (int i = 0; i < 100 && !opened[0]; i++) usleep(50000);
    CHECK_EQ(opened[0], 1); /* unasked, once */
    knock_end();
    knock_end();
    return unit_end();
}
