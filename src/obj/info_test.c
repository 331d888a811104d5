/* info_test.c -- info objects by the words of MPI 4.1 chapter 10.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "obj/obj.h"

#include <stdlib.h>
#include <sys/utsname.h>

#include "../../test/unit.h"

static char key_max[GW_MAX_INFO_KEY], key_long[GW_MAX_INFO_KEY + 1];
static char value_max[GW_MAX_INFO_VAL], value_long[GW_MAX_INFO_VAL + 1];

static void expect_order(struct gw_info *info, int n, const char *const *keys)
{
    int nkeys = -1;
    char key[GW_MAX_INFO_KEY];
    CHECK_EQ(gw_info_get_nkeys(info, &nkeys), GW_OK);
    CHECK_EQ(nkeys, n);
    for (int i = 0; i < nkeys && i < n; i++) {
        CHECK_EQ(gw_info_get_nthkey(info, i, key), GW_OK);
        CHECK_STR(key, keys[i]);
    }
    CHECK_EQ(gw_info_get_nthkey(info, n, key), GW_EARG);
    CHECK_EQ(gw_info_get_nthkey(info, -1, key), GW_EARG);
}

static void test_set_and_order(void)
{
    struct gw_info *info, *copy;
    CHECK_EQ(gw_info_create(&info), GW_OK);
    expect_order(info, 0, NULL);
    for (int i = 0; i < 9; i++) {
        char key[2] = {(char)('a' + i), 0};
        CHECK_EQ(gw_info_set(info, key, "1"), GW_OK);
    }
    CHECK_EQ(gw_info_set(info, "c", "again"), GW_OK); /* keeps its place */
    CHECK_EQ(gw_info_delete(info, "a"), GW_OK);
    CHECK_EQ(gw_info_delete(info, "e"), GW_OK);
    CHECK_EQ(gw_info_delete(info, "i"), GW_OK);
    CHECK_EQ(gw_info_delete(info, "i"), GW_EINFO_NOKEY);
    static const char *const keys[] = {"b", "c", "d", "f", "g", "h"};
    expect_order(info, 6, keys);
    CHECK_STR(gw_info_find(info, "c"), "again");
    CHECK(gw_info_find(info, "C") == NULL); /* keys are case sensitive */
    CHECK(gw_info_find(NULL, "c") == NULL);
    CHECK_EQ(gw_info_dup(info, &copy), GW_OK);
    CHECK_EQ(gw_info_set(info, "z", "new"), GW_OK);
    expect_order(copy, 6, keys);
    CHECK_EQ(gw_info_free(&info), GW_OK);
    CHECK(info == NULL);
    CHECK_STR(gw_info_find(copy, "c"), "again");
    CHECK_EQ(gw_info_free(&copy), GW_OK);
}

static void test_get_string(void)
{
    struct gw_info *info;
    char value[16];
    int flag, len;
    CHECK_EQ(gw_info_create(&info), GW_OK);
    CHECK_EQ(gw_info_set(info, "k", "12345"), GW_OK);

    memset(value, '#', sizeof value);
    len = 16, flag = -1;
    CHECK_EQ(gw_info_get_string(info, "k", &len, value, &flag), GW_OK);
    CHECK(flag == 1 && len == 6);
    CHECK_STR(value, "12345");
    CHECK_EQ(value[6], '#');

    memset(value, '#', sizeof value);
    len = 4; /* cut, with its end */
    CHECK_EQ(gw_info_get_string(info, "k", &len, value, &flag), GW_OK);
    CHECK_EQ(len, 6);
    CHECK_STR(value, "123");
    CHECK_EQ(value[4], '#');

    memset(value, '#', sizeof value);
    len = 0; /* asks for the length alone */
    CHECK_EQ(gw_info_get_string(info, "k", &len, value, &flag), GW_OK);
    CHECK(len == 6 && flag == 1 && value[0] == '#');
    len = 0;
    CHECK_EQ(gw_info_get_string(info, "k", &len, NULL, &flag), GW_OK);
    len = 1;
    CHECK_EQ(gw_info_get_string(info, "k", &len, value, &flag), GW_OK);
    CHECK_STR(value, "");

    len = 7; /* absent: nothing is touched but the flag */
    memset(value, '#', sizeof value);
    CHECK_EQ(gw_info_get_string(info, "other", &len, value, &flag), GW_OK);
    CHECK(flag == 0 && len == 7 && value[0] == '#');
    len = -1;
    CHECK_EQ(gw_info_get_string(info, "k", &len, value, &flag), GW_EARG);

    memset(value, '#', sizeof value);
    CHECK_EQ(gw_info_get(info, "k", 4, value, &flag), GW_OK); /* the old call: 4 characters and the end */
    CHECK_STR(value, "1234");
    CHECK_EQ(value[5], '#');
    CHECK_EQ(gw_info_get(info, "k", -1, value, &flag), GW_EARG);
    len = -5;
    CHECK_EQ(gw_info_get_valuelen(info, "k", &len, &flag), GW_OK);
    CHECK(flag == 1 && len == 5);
    len = -5;
    CHECK_EQ(gw_info_get_valuelen(info, "other", &len, &flag), GW_OK);
    CHECK(flag == 0 && len == -5);
    CHECK_EQ(gw_info_free(&info), GW_OK);
}

static void test_limits(void)
{
    struct gw_info *info;
    int flag, len = 0;
    memset(key_max, 'k', sizeof key_max - 1);
    memset(key_long, 'k', sizeof key_long - 1);
    memset(value_max, 'v', sizeof value_max - 1);
    memset(value_long, 'v', sizeof value_long - 1);
    CHECK_EQ(gw_info_create(&info), GW_OK);
    CHECK_EQ(gw_info_set(info, key_max, value_max), GW_OK);
    CHECK_EQ(gw_info_set(info, key_long, "v"), GW_EINFO_KEY);
    CHECK_EQ(gw_info_set(info, "", "v"), GW_EINFO_KEY);
    CHECK_EQ(gw_info_set(info, NULL, "v"), GW_EINFO_KEY);
    CHECK_EQ(gw_info_set(info, "k", value_long), GW_EINFO_VALUE);
    CHECK_EQ(gw_info_set(info, "k", NULL), GW_EINFO_VALUE);
    CHECK_EQ(gw_info_get_string(info, key_long, &len, NULL, &flag), GW_EINFO_KEY);
    CHECK_EQ(gw_info_delete(info, key_long), GW_EINFO_KEY);
    CHECK_EQ(gw_info_get_string(info, key_max, &len, NULL, &flag), GW_OK);
    CHECK_EQ(len, GW_MAX_INFO_VAL);
    CHECK_EQ(gw_info_free(&info), GW_OK);
}

static void test_env(void)
{
    struct gw_info *env, *made;
    struct utsname u;
    CHECK(gw_obj_lookup(GW_H_INFO_ENV, GW_KIND_INFO) == NULL);
    gw_info_init();
    gw_info_init();
    env = (struct gw_info *)gw_obj_lookup(GW_H_INFO_ENV, GW_KIND_INFO);
    CHECK(env != NULL);
    if (!env) return;
    CHECK_EQ(uname(&u), 0);
    CHECK_STR(gw_info_find(env, "host"), u.nodename);
    CHECK_STR(gw_info_find(env, "arch"), u.machine);
    CHECK(gw_info_find(env, "command") != NULL);
    CHECK(gw_info_find(env, "wdir") && gw_info_find(env, "wdir")[0] == '/');
    gw_info_env_set("maxprocs", "4");
    CHECK_STR(gw_info_find(env, "maxprocs"), "4");
    CHECK_EQ(gw_info_set(env, "maxprocs", "5"), GW_EINFO);
    CHECK_EQ(gw_info_delete(env, "maxprocs"), GW_EINFO);
    CHECK_EQ(gw_info_free(&env), GW_EINFO);
    char *argv[] = {"prog", "-a", "b c", NULL};
    CHECK_EQ(gw_info_create_env(3, argv, &made), GW_OK);
    CHECK_STR(gw_info_find(made, "command"), "prog");
    CHECK_STR(gw_info_find(made, "argv"), "-a b c");
    CHECK_STR(gw_info_find(made, "maxprocs"), "4");
    CHECK_EQ(gw_info_free(&made), GW_OK);
    CHECK_EQ(gw_info_create_env(0, NULL, &made), GW_OK);
    CHECK_STR(gw_info_find(made, "command"), gw_info_find(env, "command"));
    CHECK_EQ(gw_info_free(&made), GW_OK);
    gw_info_finalize();
    CHECK(gw_obj_lookup(GW_H_INFO_ENV, GW_KIND_INFO) == NULL);
    CHECK_EQ(gw_info_create_env(1, argv, &made), GW_OK); /* works outside init and finalize too */
    CHECK_STR(gw_info_find(made, "host"), u.nodename);
    CHECK_EQ(gw_info_free(&made), GW_OK);
}

int main(void)
{
    test_set_and_order();
    test_get_string();
    test_limits();
    test_env();
    struct gw_info *info;
    CHECK_EQ(gw_info_create(&info), GW_OK);
    CHECK_EQ(gw_info_set(info, "k", "v"), GW_OK);
    gw_obj_finalize();
    CHECK(gw_obj_lookup(((struct gw_obj *)info)->id, GW_KIND_INFO) != NULL); /* it lives on */
    CHECK_STR(gw_info_find(info, "k"), "v");
    CHECK_EQ(gw_info_free(&info), GW_OK);
    CHECK_EQ(gw_info_create(&info), GW_OK);
    CHECK_EQ(gw_info_free(&info), GW_OK);
    return unit_end();
}
