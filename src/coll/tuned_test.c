/* tuned_test.c -- the file of GODWIT_TUNE: its rows come before those that are built in, wrong lines are left out.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "coll/coll_private.h"
#include "base/settings.h"

#include "../../test/unit.h"

static char path[] = "/tmp/tuned_test.XXXXXX";

static struct coll_tuned read_text(const char *text)
{
    static struct coll_tuned t;
    FILE *f = fopen(path, "w");
    CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
    coll_tuned_read(path, &t);
    return t;
}

static void test_rows(void)
{
    struct coll_tuned t = read_text("# comment\n"
                                    "bcast | 4..4 | 16K | binomial | -   # and why\n"
                                    "\n"
                                    "MPI_Allreduce|2..|-|ring|1M\n"
                                    "allreduce | 8..16 | 2..2 | 512 | levels | -\n"
                                    "GODWIT_EAGER_MAX=16K");
    CHECK_EQ(t.n, 2);
    CHECK_EQ(t.n_node, 1);
    CHECK(t.rules[0].kind == COLL_BCAST && t.rules[0].min_ranks == 4 && t.rules[0].max_ranks == 4 && t.rules[0].max_bytes == 16384);
    CHECK(strcmp(t.rules[0].name, "binomial") == 0 && t.rules[0].piece_bytes == 0 && t.rules[0].is_tuned);
    CHECK(t.rules[1].kind == COLL_ALLREDUCE && t.rules[1].min_ranks == 2 && t.rules[1].max_ranks == INT_MAX);
    CHECK(t.rules[1].max_bytes == INT64_MAX && t.rules[1].piece_bytes == 1 << 20);
    CHECK(t.node_rules[0].min_nodes == 2 && t.node_rules[0].max_nodes == 2 && t.node_rules[0].max_bytes == 512);
}

static void test_wrong_lines(void)
{
    static const char *const wrong[] = {
        "bcast | 4..4 | 16K | binomial",
        "bcast | 4..4 | 1..1 | 16K | binomial | - | -",
        "broadcast | 4..4 | 16K | binomial | -",
        "bcast | 4 | 16K | binomial | -",
        "bcast | 0..4 | 16K | binomial | -",
        "bcast | 5..4 | 16K | binomial | -",
        "bcast | 1..99999999999 | 16K | binomial | -",
        "bcast | 4..4 | -5 | binomial | -",
        "bcast | 4..4 | 99999999999G | binomial | -",
        "bcast | 4..4 | 16X | binomial | -",
        "bcast | 4..4 | 16K | ring | -",
        "bcast | 4..4 | 16K | | -",
        "bcast | 4..4 | 16K | binomial | 2G",
        "bcast | 4..4 | 2..2 | 16K | leaf | -",
        "intel/x | bcast | 4..4 | 16K | binomial | -",
        "any+avx9 | bcast | 4..4 | 16K | binomial | -",
        "intel/6/207 | 4..4 | 16K | binomial | -",
        "bcast | intel/6/207 | 4..4 | 16K | binomial | -",
    };
    for (size_t i = 0; i < GW_ARRAY_LEN(wrong); i++) {
        struct coll_tuned t = read_text(wrong[i]);
        CHECK_EQ(t.n + t.n_node, 0);
    }
}

static void test_most(void)
{
    char text[4096] = "";
    for (int i = 0; i < COLL_TUNED_ROWS + 3; i++) strcat(text, "bcast | 4..4 | 16K | binomial | -\n");
    CHECK_EQ(read_text(text).n, COLL_TUNED_ROWS);
}

static const char *chosen(enum coll_kind kind, int64_t bytes, int ranks, const char **why_out)
{
    int64_t block = kind == COLL_REDUCE_SCATTER ? bytes / ranks : bytes;
    struct plan_args a = {
        .size = ranks, .n = 1, .scount = block, .rcount = block, .st = gw_type_byte, .rt = gw_type_byte, .op = gw_op_max};
    return coll_decide_node(kind, bytes, &a, why_out)->name;
}

/* What the file says goes before what is built in, for its ranks and sizes alone. */
static void test_choice(void)
{
    const char *why;
    read_text("bcast | 4..4 | 1K | binomial | -\nallreduce | 4..4 | - | doubling | -\n");
    setenv("GODWIT_TUNE", path, 1);
    gw_settings_free();
    gw_settings_load();
    CHECK_EQ(coll_select_init(), GW_OK);
    CHECK(strcmp(chosen(COLL_BCAST, 1024, 4, &why), "leaf") == 0);
    CHECK_EQ(coll_select_tuned(), GW_OK);
    CHECK(strcmp(chosen(COLL_BCAST, 1024, 4, &why), "binomial") == 0 && strcmp(why, "GODWIT_TUNE") == 0);
    CHECK(strcmp(chosen(COLL_BCAST, 1025, 4, &why), "leaf") == 0 && strcmp(why, "tune/coll.tbl") == 0);
    CHECK(strcmp(chosen(COLL_BCAST, 1024, 3, &why), "leaf") == 0);
    CHECK(strcmp(chosen(COLL_ALLREDUCE, 1 << 20, 4, &why), "doubling") == 0);
    setenv("GODWIT_TUNE", "", 1);
    gw_settings_free();
    gw_settings_load();
    CHECK_EQ(coll_select_init(), GW_OK);
    CHECK(strcmp(chosen(COLL_BCAST, 1024, 4, &why), "leaf") == 0);
}

static void processor_set(const char *name)
{
    setenv("GODWIT_PROCESSOR", name, 1);
    gw_settings_free();
    gw_settings_load();
    CHECK_EQ(coll_select_init(), GW_OK);
}

/* Rows for a processor count on that one alone, those of a file by their place in it. */
static void test_processor(void)
{
    const char *why,
        *text = "amd/26/2 | bcast | 4..4 | 1K | chain | -\n"
                "amd/26 | allreduce | 2.. | 2..2 | - | ring | -\n"
                "intel/6+avx2 | bcast | 4..4 | 1K | binomial | -\n"
                "allreduce | 4..4 | - | doubling | -\n";
    processor_set("amd/26/2+avx2");
    struct coll_tuned t = read_text(text);
    CHECK_EQ(t.n, 2);
    CHECK_EQ(t.n_node, 1);
    CHECK_STR(t.rules[0].name, "chain");
    int64_t all = coll_tuned_hash(&t, true), general = coll_tuned_hash(&t, false);
    processor_set("intel/6/207+avx2");
    t = read_text(text);
    CHECK_EQ(t.n, 2);
    CHECK_EQ(t.n_node, 0);
    CHECK_STR(t.rules[0].name, "binomial");
    /* Ranks of several processors agree on the general rows alone. */
    CHECK(coll_tuned_hash(&t, true) != all && coll_tuned_hash(&t, false) == general && all != general);
    coll_tuned_generalize(&t);
    CHECK(t.n == 1 && coll_tuned_hash(&t, true) == general);
    processor_set("none");
    CHECK_EQ(read_text(text).n, 1);
    setenv("GODWIT_TUNE", path, 1);
    processor_set("amd/26/7"); /* that of no row for bcast */
    CHECK_EQ(coll_select_tuned(), GW_OK);
    CHECK(strcmp(chosen(COLL_BCAST, 1024, 4, &why), "leaf") == 0);
    processor_set("amd/26/2");
    CHECK_EQ(coll_select_tuned(), GW_OK);
    CHECK(strcmp(chosen(COLL_BCAST, 1024, 4, &why), "chain") == 0 && strcmp(why, "GODWIT_TUNE") == 0);
    setenv("GODWIT_TUNE", "", 1);
    setenv("GODWIT_PROCESSOR", "Xeon", 1);
    gw_settings_free();
    gw_settings_load();
    CHECK_EQ(coll_select_init(), GW_OK); /* told, as any wrong word, and this machine's taken */
    int n;
    struct gw_processor here;
    if (gw_processor_here(&here)) CHECK(memcmp(coll_select_processor(&n), &here, sizeof here) == 0);
    processor_set("auto");
}

/* Each built-in row for a processor is one that a job there takes: on one node, and not where members are on several. */
static void test_built_in(void)
{
    int others = 0;
    for (int i = 0; i < coll_processor_rule_count; i++) {
        const struct coll_rule *r = &coll_processor_rules[i];
        const char *why, *general;
        char text[GW_PROCESSOR_TEXT], name[64];
        int64_t bytes = r->max_bytes == INT64_MAX ? 1 << 20 : r->max_bytes;
        processor_set("none");
        snprintf(name, sizeof name, "%s", chosen((enum coll_kind)r->kind, bytes, r->min_ranks, &general));
        CHECK(!strstr(general, "processors.tbl"));
        struct gw_processor p = r->processor;
        if (p.family == GW_PROCESSOR_ANY) p.family = 0;
        if (strcmp(p.vendor, "any") == 0) snprintf(p.vendor, sizeof p.vendor, "unknown");
        processor_set(gw_processor_text(&p, true, text, sizeof text));
        CHECK_STR(chosen((enum coll_kind)r->kind, bytes, r->min_ranks, &why), r->name);
        CHECK(strncmp(why, "tune/processors.tbl, ", 21) == 0);
        others += strcmp(name, r->name) != 0;
        int64_t block = r->kind == COLL_REDUCE_SCATTER ? bytes / r->min_ranks : bytes;
        struct plan_args a = {.size = r->min_ranks, .n = 1, .scount = block, .rcount = block, .op = gw_op_max};
        a.st = a.rt = gw_type_byte;
        coll_decide_apart((enum coll_kind)r->kind, bytes, &a, false, &why);
        CHECK(!strstr(why, "processors.tbl"));
        a.is_untuned = true; /* with members of other jobs */
        CHECK_STR(coll_decide_node((enum coll_kind)r->kind, bytes, &a, &why)->name, name);
        setenv("GODWIT_COLL_LEAF", "off", 1); /* it was measured beside leaves */
        processor_set(text);
        chosen((enum coll_kind)r->kind, bytes, r->min_ranks, &why);
        CHECK(!strstr(why, "processors.tbl"));
        unsetenv("GODWIT_COLL_LEAF");
    }
    CHECK(others > 0); /* the rest keep the general choice of smaller sizes before those */
    processor_set("auto");
}

int main(void)
{
    CHECK(close(mkstemp(path)) == 0);
    gw_settings_load();
    CHECK_EQ(type_init(), GW_OK);
    CHECK_EQ(op_init(), GW_OK);
    test_rows();
    test_wrong_lines();
    test_most();
    test_choice();
    test_processor();
    test_built_in();
    op_finalize();
    type_finalize();
    gw_obj_finalize();
    gw_settings_free();
    unlink(path);
    return unit_end();
}
