/* order_test.c -- the golden tables of the rank orders, and their files with all that can be wrong in them.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "boot/boot_private.h"
#include "boot/order.h"

#include "../../test/unit.h"

enum { MOST = 64 };

/* "0&4,1&5": the ranks of each node, ascending, where processes fill nodes of `per_node` one by one. */
static void expect(int method, int size, int per_node, const int32_t *list, const char *expected)
{
    int32_t node[MOST], rank[MOST], node_of[MOST];
    char text[512] = "";
    for (int p = 0; p < size; p++) node[p] = p / per_node;
    boot_order_place(method, node, size, list, rank);
    for (int p = 0; p < size; p++) node_of[rank[p]] = node[p];
    for (int k = 0; k <= node[size - 1]; k++)
        for (int r = 0, n = 0; r < size; r++)
            if (node_of[r] == k) snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d", n++ ? "&" : k ? "," : "", r);
    CHECK_STR(text, expected);
}

static void test_tables(void)
{
    expect(BOOT_ORDER_ROUND, 8, 2, NULL, "0&4,1&5,2&6,3&7");
    expect(BOOT_ORDER_SMP, 8, 2, NULL, "0&1,2&3,4&5,6&7");
    expect(BOOT_ORDER_FOLD, 8, 2, NULL, "0&7,1&6,2&5,3&4");
    expect(BOOT_ORDER_ROUND, 8, 4, NULL, "0&2&4&6,1&3&5&7");
    expect(BOOT_ORDER_FOLD, 8, 4, NULL, "0&3&4&7,1&2&5&6");
    expect(BOOT_ORDER_FOLD, 24, 8, NULL, "0&5&6&11&12&17&18&23,1&4&7&10&13&16&19&22,2&3&8&9&14&15&20&21");
    expect(BOOT_ORDER_ROUND, 20, 8, NULL, "0&3&6&9&12&14&16&18,1&4&7&10&13&15&17&19,2&5&8&11");
    expect(BOOT_ORDER_FOLD, 5, 4, NULL, "0&2&3&4,1");
    expect(BOOT_ORDER_FILE, 8, 4, (int32_t[]){0, 1, 4, 5, 2, 3, 6, 7}, "0&1&4&5,2&3&6&7");
    expect(BOOT_ORDER_ROUND, 1, 1, NULL, "0");
    expect(BOOT_ORDER_ROUND, 3, 8, NULL, "0&1&2");
}

/* Where the launcher deals its processes out one by one, method 1 is not what it did. */
static void test_uneven(void)
{
    static const int32_t node[6] = {0, 1, 0, 1, 2, 0};
    int32_t rank[6];
    boot_order_place(BOOT_ORDER_SMP, node, 6, NULL, rank);
    static const int32_t smp[6] = {0, 3, 1, 4, 5, 2};
    for (int p = 0; p < 6; p++) CHECK_EQ(rank[p], smp[p]);
    boot_order_place(BOOT_ORDER_FOLD, node, 6, NULL, rank);
    static const int32_t fold[6] = {0, 1, 4, 3, 2, 5};
    for (int p = 0; p < 6; p++) CHECK_EQ(rank[p], fold[p]);
    boot_order_place(BOOT_ORDER_FILE, node, 6, (int32_t[]){5, 4, 3, 2, 1, 0}, rank);
    static const int32_t file[6] = {5, 2, 4, 1, 0, 3};
    for (int p = 0; p < 6; p++) CHECK_EQ(rank[p], file[p]);
    /* the nodes of the new ranks */
    int32_t nodes[6];
    memcpy(nodes, node, sizeof nodes);
    CHECK_EQ(boot_order_apply(BOOT_ORDER_ROUND, NULL, nodes, 6, rank), GW_OK);
    static const int32_t by_rank[6] = {0, 1, 2, 0, 1, 0};
    for (int r = 0; r < 6; r++) CHECK_EQ(nodes[r], by_rank[r]);
}

/* ---- files ---- */
static void good(const char *text, int size, const char *expected)
{
    int32_t list[MOST];
    char got[256] = "";
    gw_fail_clear();
    CHECK_EQ(boot_order_parse("f", text, size, list), GW_OK);
    for (int i = 0; i < size; i++) snprintf(got + strlen(got), sizeof got - strlen(got), "%s%d", i ? " " : "", list[i]);
    CHECK_STR(gw_fail_text()[0] ? gw_fail_text() : got, expected);
}

static void bad(const char *text, int size, const char *words)
{
    int32_t list[MOST];
    gw_fail_clear();
    CHECK_EQ(boot_order_parse("dir/f", text, size, list), GW_EARG);
    if (!strstr(gw_fail_text(), words)) {
        unit_failures++;
        fprintf(stderr, "\"%s\": said \"%s\", without \"%s\"\n", text, gw_fail_text(), words);
    }
}

static void test_files(void)
{
    good("0,1,2,3", 4, "0 1 2 3");
    good("3,2\n1,0\n", 4, "3 2 1 0");
    good("3,2,\n1,0,\n", 4, "3 2 1 0");
    good("# made by grid_order\n# -R -g 2,2\n0,2 # first node\n\n\n1,3\n#end", 4, "0 2 1 3");
    good("0-3", 4, "0 1 2 3");
    good("3-0", 4, "3 2 1 0");
    good("2-3,1-0", 4, "2 3 1 0");
    good(" 0 , 2 - 3 ,\t1\r\n\r\n", 4, "0 2 3 1");
    good("0", 1, "0");
    good("0-0", 1, "0");
    good("007,6-4,0-3", 8, "7 6 5 4 0 1 2 3");
    bad("", 2, "dir/f: rank 0 is missing: the file has 0 of the 2 ranks");
    bad("# nothing\n", 2, "rank 0 is missing");
    bad("0,1\n3\n", 4, "dir/f: rank 2 is missing: the file has 3 of the 4 ranks of this job");
    bad("0,1\n2,4\n", 4, "dir/f:2: there is no rank 4 in a job of 4 ranks (0 to 3)");
    bad("0-15", 4, "dir/f:1: there is no rank 4 in a job of 4 ranks");
    bad("0,1,\n#\n1,2,3", 4, "dir/f:3: rank 1 is here again: it was in line 1 already");
    bad("0,0", 1, "dir/f:1: rank 0 is here again: it was in line 1");
    bad("\n\n0,x", 2, "dir/f:3: 'x' where a rank should be");
    bad("0,,1", 2, "dir/f:1: ',' where a rank should be");
    bad(",0,1", 2, "dir/f:1: ',' where a rank should be");
    bad("0 1", 2, "dir/f:1: '1' where a comma should be");
    bad("0;1", 2, "dir/f:1: ';' where a comma should be");
    bad("-1", 2, "dir/f:1: '-' where a rank should be");
    bad("0-\n1", 2, "dir/f:1: the line ends where a rank should be");
    bad("0-#", 2, "dir/f:1: the line ends");
    bad("0-1-2", 3, "dir/f:1: '-' where a comma should be");
    bad("99999999999999999999", 2, "dir/f:1: 99999999999999999999 is no rank");
    bad("4000000000", 2, "there is no rank 4000000000");
    bad("\x7f"
        "ELF",
        2, "dir/f:1: a byte 0x7f");
}

static void test_reading(void)
{
    char name[] = "/tmp/godwit-order-XXXXXX";
    int32_t list[3], node[3] = {0, 0, 1}, rank[3];
    int fd = mkstemp(name);
    CHECK(fd >= 0);
    CHECK_EQ(write(fd, "2,0\n1\n", 6), 6);
    CHECK_EQ(boot_order_read(name, 3, false, list), GW_OK);
    CHECK(list[0] == 2 && list[1] == 0 && list[2] == 1);
    CHECK_EQ(boot_order_apply(BOOT_ORDER_FILE, name, node, 3, rank), GW_OK);
    CHECK(rank[0] == 2 && rank[1] == 0 && rank[2] == 1);
    CHECK(node[0] == 0 && node[1] == 1 && node[2] == 0);
    CHECK_EQ(write(fd, "\0", 1), 1);
    CHECK_EQ(boot_order_read(name, 3, false, list), GW_EARG);
    CHECK(strstr(gw_fail_text(), "bytes of 0"));
    close(fd);
    unlink(name);
    CHECK_EQ(boot_order_read(name, 3, false, list), GW_EARG);
    CHECK(strstr(gw_fail_text(), "No such file") && strstr(gw_fail_text(), name) &&
          strstr(gw_fail_text(), "MPICH_RANK_REORDER_FILE"));
    CHECK_EQ(boot_order_read("/", 3, true, list), GW_EARG);
}

/* Which file is read where none is named. */
static void test_usual_name(void)
{
    char folder[] = "/tmp/godwit-order-XXXXXX", before[4096];
    CHECK(getcwd(before, sizeof before) && mkdtemp(folder) && chdir(folder) == 0);
    for (int i = 0; i < 3; i++) {
        const char *path = (const char *[]){NULL, "", "other"}[i];
        int32_t node[3] = {0, 0, 1}, rank[3];
        CHECK_EQ(boot_order_apply(BOOT_ORDER_FILE, path, node, 3, rank), GW_EARG);
        FILE *f = fopen(i < 2 ? "MPICH_RANK_ORDER" : path, "w");
        CHECK(f && fputs(i < 2 ? "1,2,0\n" : "2,1,0\n", f) > 0);
        fclose(f);
        CHECK_EQ(boot_order_apply(BOOT_ORDER_FILE, path, node, 3, rank), GW_OK);
        CHECK(rank[0] == (i < 2 ? 1 : 2) && rank[1] == (i < 2 ? 2 : 1) && rank[2] == 0);
        unlink(i < 2 ? "MPICH_RANK_ORDER" : path);
    }
    CHECK(chdir(before) == 0);
    CHECK_EQ(rmdir(folder), 0);
}

int main(void)
{
    test_tables();
    test_uneven();
    test_files();
    test_reading();
    test_usual_name();
    return unit_end();
}
