/* order_test.c -- sets of numbers of processes, against listing them; which programs give way where there is no room.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "world/order.h"
#include "base/base.h"

#include "../../test/unit.h"

#include <stdio.h>

static int of(const char *soft, int most)
{
    int n = -77;
    CHECK_EQ(world_order_soft(soft, most, &n), GW_OK);
    return n;
}

static void sets(void)
{
    CHECK_EQ(of(NULL, 7), 7);
    CHECK_EQ(of("3", 7), 3);
    CHECK_EQ(of("7", 7), 7);
    CHECK_EQ(of("8", 7), -1);
    CHECK_EQ(of("0:100", 7), 7);
    CHECK_EQ(of("1,2,4,8,16", 7), 4);
    CHECK_EQ(of("2:10000:2", 7), 6);
    CHECK_EQ(of("2:10:2,7", 7), 7);
    CHECK_EQ(of("2:10:2,7", 6), 6);
    CHECK_EQ(of("10:2:-3", 9), 7);
    CHECK_EQ(of(" 3 : 5 , 1 ", 4), 4);
    CHECK_EQ(of("-5", 7), -1);
    CHECK_EQ(of("-5:-1", 7), -1);
    CHECK_EQ(of("-5:5:4", 7), 3);
    CHECK_EQ(of("2147483647", 2147483647), 2147483647);
    CHECK_EQ(of("-2147483648:2147483647:2147483647", 5), -1);
    CHECK_EQ(of("0", 7), 0);
}

/* Every small triplet of either sign, by walking it. */
static void against_walk(void)
{
    char text[64];
    for (int a = -6; a <= 9; a++)
        for (int b = -6; b <= 9; b++)
            for (int c = -4; c <= 4; c++) {
                int n, want = -1, good = c != 0 && (a == b || (b > a) == (c > 0));
                snprintf(text, sizeof text, "%d:%d:%d", a, b, c);
                for (int v = a; good && (c > 0 ? v <= b : v >= b); v += c)
                    if (v >= 0 && v <= 6 && v > want) want = v;
                CHECK_EQ(world_order_soft(text, 6, &n), good ? GW_OK : GW_EINFO_VALUE);
                if (good) CHECK_EQ(n, want);
            }
}

static void malformed(void)
{
    static const char *const bad[] = {"",    " ",   ",",   "1,",     ",1",    "a",     "1:",  ":1",         "1:2:", "1:2:3:4",
                                      "1;2", "1 2", "5:1", "1:5:-1", "5:1:1", "1:5:0", "1.5", "9999999999", "0x",   "1,,2"};
    int n;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) CHECK_EQ(world_order_soft(bad[i], 9, &n), GW_EINFO_VALUE);
}

static void giving_way(void)
{
    struct gw_info *info[3] = {0};
    struct world_program w[3];
    struct order o[3];
    static const char *const soft[] = {"1:10", NULL, "2:8:2"};
    int fault;
    gw_info_init();
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(gw_info_create(&info[i]), GW_OK);
        if (soft[i]) gw_info_set(info[i], "soft", soft[i]);
        w[i] = (struct world_program){.command = "x", .n = 9, .info = info[i]};
    }
    CHECK_EQ(world_orders_begin(3, w, o, &fault), GW_OK);
    CHECK(o[0].n == 9 && o[1].n == 9 && o[2].n == 8);
    CHECK(world_orders_shrink(3, o, 23) && o[0].n == 9 && o[2].n == 4);
    CHECK(world_orders_shrink(3, o, 21) && o[0].n == 9 && o[1].n == 9 && o[2].n == 2);
    CHECK(world_orders_shrink(3, o, 19) && o[0].n == 8 && o[2].n == 2);
    CHECK(world_orders_shrink(3, o, 12) && o[0].n == 1 && o[1].n == 9 && o[2].n == 2);
    CHECK(!world_orders_shrink(3, o, 11));
    world_orders_end(3, o);
    gw_info_set(info[1], "soft", "10,20");
    CHECK_EQ(world_orders_begin(3, w, o, &fault), GW_ESPAWN);
    CHECK_EQ(fault, 1);
    world_orders_end(3, o);
    for (int i = 0; i < 3; i++) gw_info_free(&info[i]);
    gw_info_finalize();
}

int main(void)
{
    sets();
    against_walk();
    malformed();
    giving_way();
    return unit_end();
}
