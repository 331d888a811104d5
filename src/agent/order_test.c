/* order_test.c -- an order arrives as it was given; one that is cut short or changed is refused or harmless; which programs and ranks are
 * whose; the mapping of PMI.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "agent/order.h"
#include "base/base.h"
#include "unit.h"

static char *a_argv[] = {"./a", "x y", "", NULL}, *b_argv[] = {"./b", NULL}, *c_argv[] = {"./c", NULL};
static struct launch_app apps[] = {
    {.n = 2, .asked = 2, .argv = a_argv, .wdir = "/w", .soft = "1:3"},
    {.n = 1, .asked = 1, .argv = b_argv, .inherits = {ENV_LIST, "A,B"}, .dropped = 1},
    {.n = 4, .asked = 4, .argv = c_argv, .dropped = 1},
};
static struct launch_options o = {
    .apps = apps, .n_apps = 3, .n_ranks = 7, .stdin_rank = 3, .quiet = true, .preload = "/lib/x.so", .cpu_time = 1L << 40};

static struct agent_order order_make(void)
{
    struct agent_order a = {
        .o = &o, .host = 1, .size = 7, .universe = 9, .uid = 0x123456789abcdefull, .folder = "/here", .home = "n0"};
    const char *const hosts[] = {"n1:2", "n2:2", "n3:3"};
    for (size_t i = 0; i < GW_ARRAY_LEN(hosts); i++) words_add(&a.hosts, hosts[i]);
    words_add(&a.env, "A=1\nB=2");
    words_add(&a.env, "EMPTY=");
    if (!o.env.n) words_add(&o.env, "ALL=yes");
    return a;
}

static void options_drop(struct launch_options *got)
{
    agent_order_words_free(got);
    for (int i = 0; i < got->n_apps; i++) {
        free(got->apps[i].argv);
        words_free(&got->apps[i].env);
    }
    free(got->apps);
    words_free(&got->env);
}

static void there(void)
{
    struct launch_options got = {.n_apps = 0};
    struct agent_order a = order_make(), b = {.o = &got};
    size_t len;
    char *data = agent_order_pack(&a, &len);
    CHECK(agent_order_unpack(&b, data, len));
    CHECK(b.host == 1 && b.size == 7 && b.universe == 9 && b.uid == a.uid && got.n_apps == 3 && got.n_ranks == 7);
    CHECK_STR(b.folder, "/here");
    CHECK_STR(b.hosts.at[2], "n3:3");
    CHECK_STR(b.env.at[0], "A=1\nB=2");
    CHECK_STR(b.env.at[1], "EMPTY=");
    CHECK_STR(got.apps[0].argv[1], "x y");
    CHECK_STR(got.apps[0].argv[2], "");
    CHECK(!got.apps[0].argv[3] && !got.apps[1].wdir && !got.apps[1].soft);
    CHECK_STR(got.apps[0].wdir, "/w");
    CHECK_STR(got.apps[1].inherits.names, "A,B");
    CHECK(got.apps[1].inherits.from == ENV_LIST && got.quiet && !got.verbose && got.cpu_time == 1L << 40 && got.stdin_rank == 3);
    CHECK_STR(got.preload, "/lib/x.so");
    CHECK_STR(got.env.at[0], "ALL=yes");
    /* host n2 has ranks 2 and 3: that of ./b, and the first of ./c; rank 3 reads standard input */
    agent_order_cut(&b, &got);
    CHECK(got.n_apps == 2 && got.n_ranks == 2 && got.apps[0].n == 1 && got.apps[1].n == 1 && got.stdin_rank == 1);
    CHECK_STR(got.apps[0].argv[0], "./b");
    CHECK(got.apps[0].dropped == 2 && got.apps[1].dropped == 2); /* their numbers in the job are 0 + 2 and 1 + 2 */
    options_drop(&got);
    agent_order_free(&b);
    agent_order_free(&a);
    free(data);
}

/* Every prefix, and every byte changed: no crash, and no order of other ranks than those of its hosts. */
static void spoilt(void)
{
    struct agent_order a = order_make();
    size_t len;
    char *data = agent_order_pack(&a, &len);
    for (size_t i = 0; i < 2 * len; i++) {
        struct launch_options got = {.n_apps = 0};
        struct agent_order b = {.o = &got};
        size_t n = i < len ? i : len;
        char *copy = gw_xmalloc(n + 1); /* of just that size, for sanitizers */
        memcpy(copy, data, n);
        if (i >= len) copy[i - len] = (char)(copy[i - len] ^ 0x41);
        bool is_good = agent_order_unpack(&b, copy, n);
        CHECK(i >= len || !is_good);
        CHECK(!is_good || (b.host >= 0 && b.host < b.hosts.n && agent_order_first(&b, b.hosts.n) == b.size && got.n_apps > 0));
        options_drop(&got);
        agent_order_free(&b);
        free(copy);
    }
    agent_order_free(&a);
    free(data);
}

static void mapping(void)
{
    struct agent_order a = order_make();
    char *text = agent_order_mapping(&a);
    CHECK_STR(text, "(vector,(0,2,2),(2,1,3))");
    CHECK(agent_order_first(&a, 0) == 0 && agent_order_first(&a, 1) == 2 && agent_order_first(&a, 2) == 4);
    free(text);
    agent_order_free(&a);
    CHECK(agent_env_is_own("HOME=/x") && agent_env_is_own("SSH_CLIENT=1") && agent_env_is_own("PMIX_RANK=0") &&
          agent_env_is_own("PMI_FD=3"));
    CHECK(!agent_env_is_own("HOMES=/x") && !agent_env_is_own("GODWIT_WIRES=shm") && !agent_env_is_own("PMIX_MCA_x=1") &&
          !agent_env_is_own("OMPI_MCA_x=1"));
}

int main(void)
{
    there();
    spoilt();
    mapping();
    words_free(&o.env);
    return unit_end();
}
