/* nic_test.c -- which rank gets which NIC: the documents' tables, recorded machines, wrong words.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "net/nic.h"

#include <stdio.h>
#include <unistd.h>

#include "../../test/nic_recorded.h"
#include "../../test/unit.h"

enum { MOST = 256 };
static struct nic_node node;
static struct nic_place places[MOST];
static int nic_of[MOST];
static char notes[256];

static void plain(int nics, int ranks)
{
    memset(&node, 0, sizeof node);
    node.n_nics = nics;
    node.n_ranks = ranks;
    node.ranks = places;
    for (int i = 0; i < nics; i++)
        snprintf(node.nics[i].name, sizeof node.nics[i].name, "cxi%d", i), node.nics[i].numa = NIC_UNKNOWN;
    for (int r = 0; r < ranks; r++) places[r] = (struct nic_place){NIC_UNKNOWN, NIC_UNKNOWN};
}

/* test/run.py starts tests in the source's folder; who starts them by hand is most often in that of the build. */
static void recorded(const char *name, int ranks)
{
    char path[512];
    const char *slash = strrchr(__FILE__, '/');
    snprintf(path, sizeof path, "test/data/%s.xml", name);
    if (access(path, R_OK) != 0 && slash)
        snprintf(path, sizeof path, "%.*s/../../test/data/%s.xml", (int)(slash - __FILE__), __FILE__, name);
    CHECK(recorded_read(&node, path));
    node.n_ranks = ranks;
    node.ranks = places;
    for (int r = 0; r < ranks; r++) places[r] = (struct nic_place){NIC_UNKNOWN, NIC_UNKNOWN};
}

/* "0-5,6-11 ..." by NIC: the ranks of each. */
static const char *table(enum nic_policy policy, const char *mapping)
{
    static char text[2048];
    memset(nic_of, -1, sizeof nic_of);
    if (nic_assign(&node, policy, mapping, nic_of, notes, sizeof notes) != GW_OK) return gw_fail_text();
    *text = 0;
    for (int i = 0; i < node.n_nics; i++) {
        strcat(text, i ? " /" : "");
        for (int r = 0; r < node.n_ranks; r++)
            if (nic_of[r] == i) snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d", i || *text ? " " : "", r);
    }
    return text;
}

static void golden_tables(void)
{
    plain(4, 22);
    CHECK_STR(table(NIC_BLOCK, NULL), "0 1 2 3 4 5 / 6 7 8 9 10 11 / 12 13 14 15 16 17 / 18 19 20 21");
    CHECK_STR(table(NIC_ROUND_ROBIN, NULL), "0 4 8 12 16 20 / 1 5 9 13 17 21 / 2 6 10 14 18 / 3 7 11 15 19");
    CHECK_STR(table(NIC_NUMA, NULL), "0 4 8 12 16 20 / 1 5 9 13 17 21 / 2 6 10 14 18 / 3 7 11 15 19"); /* all equally far */
    plain(1, 3);
    for (int p = NIC_BLOCK; p < NIC_USER; p++) CHECK_STR(table((enum nic_policy)p, NULL), "0 1 2");
    plain(4, 2);
    CHECK_STR(table(NIC_BLOCK, NULL), "0 / 1 / /");
    /* with 1, 2 and 4 NICs, each gets as many as the others, or one more or less */
    for (int nics = 1; nics <= 4; nics *= 2)
        for (int ranks = 1; ranks <= 128; ranks++)
            for (int policy = NIC_ROUND_ROBIN; policy <= NIC_NUMA; policy++) {
                int load[4] = {0}, least = MOST, most = 0;
                plain(nics, ranks);
                CHECK_EQ(nic_assign(&node, (enum nic_policy)policy, NULL, nic_of, notes, sizeof notes), GW_OK);
                for (int r = 0; r < ranks; r++) load[nic_of[r]]++;
                for (int i = 0; i < nics; i++) least = load[i] < least ? load[i] : least, most = load[i] > most ? load[i] : most;
                CHECK(most - least <= 1);
            }
}

static void nearest_by_numa(void)
{
    recorded("nics_4", 16);
    CHECK_EQ(node.n_nics, 4);
    CHECK_EQ(node.n_gpus, 8);
    CHECK_STR(node.nics[1].name, "cxi1");
    CHECK_EQ(node.nics[1].numa, 1);
    CHECK_EQ(node.distance[0][3], 12);
    for (int r = 0; r < 16; r++) places[r].numa = r / 4; /* NIC 2 is on node 0, 1 on 1, 3 on 2, 0 on 3 */
    CHECK_STR(table(NIC_NUMA, NULL), "12 13 14 15 / 4 5 6 7 / 0 1 2 3 / 8 9 10 11");
    CHECK_STR(notes, "");
    recorded("nics_2", 8);
    for (int r = 0; r < 8; r++) places[r].numa = r % 4; /* the other node of the socket is nearer than the other socket */
    CHECK_STR(table(NIC_NUMA, NULL), "0 1 4 5 / 2 3 6 7");
    recorded("nics_lopsided", 8);
    for (int r = 0; r < 8; r++) places[r].numa = r >= 6; /* three NICs are equally near: by turns */
    CHECK_STR(table(NIC_NUMA, NULL), "0 3 / 1 4 / 2 5 / 6 7");
    recorded("nics_1", 4);
    for (int r = 0; r < 4; r++) places[r].numa = 0;
    CHECK_STR(table(NIC_NUMA, NULL), "0 1 2 3");
}

static void unbound_ranks_fall_back(void)
{
    recorded("nics_4", 5);
    for (int r = 0; r < 5; r++) places[r].numa = r == 2 || r == 3 ? NIC_SEVERAL : 1;
    CHECK_STR(table(NIC_NUMA, NULL), "2 / 0 1 3 4 / /"); /* 2 and 3 by turns */
    CHECK(strstr(notes, "Unable to use a NIC_POLICY of 'NUMA'. Rank 2 is not confined to a single NUMA node") == notes);
    places[0].gpu = 5; /* GPU: the others by their cores */
    table(NIC_GPU, NULL);
    CHECK_EQ(nic_of[0], 2);
    CHECK_EQ(nic_of[1], 1);
    CHECK(strstr(notes, "rank 1 of the node has no GPU"));
}

static void nearest_by_gpu(void)
{
    recorded("nics_4", 8);
    for (int r = 0; r < 8; r++) places[r] = (struct nic_place){0, r}; /* whatever the cores are */
    CHECK_STR(table(NIC_GPU, NULL), "0 1 / 2 3 / 4 5 / 6 7");
    CHECK_STR(notes, "");
    recorded("nics_lopsided", 4);
    CHECK_EQ(node.n_gpus, 2);
    for (int r = 0; r < 4; r++) places[r] = (struct nic_place){1, r % 2};
    CHECK_STR(table(NIC_GPU, NULL), "0 2 / 1 3 / /"); /* behind the same bridge, though three NICs are on the NUMA node */
    recorded("nics_2", 4);
    for (int r = 0; r < 4; r++) places[r] = (struct nic_place){NIC_SEVERAL, r % 2};
    CHECK_STR(table(NIC_GPU, NULL), "0 2 / 1 3"); /* no bridge in common: by NUMA distance */
}

static void the_users_map(void)
{
    plain(4, 8);
    CHECK_STR(table(NIC_USER, "0:0-3; 1:4,6 ;2: 5 , 7"), "0 1 2 3 / 4 6 / 5 7 /");
    CHECK_STR(table(NIC_USER, "3:0-100"), " / / / 0 1 2 3 4 5 6 7"); /* ranks that there are not are ignored */
    CHECK_STR(table(NIC_USER, "1:0-7;1:3"), " / 0 1 2 3 4 5 6 7 / /");
    CHECK(strstr(table(NIC_USER, "0:0-6"), "gives rank 7 of the node no NIC"));
    CHECK(strstr(table(NIC_USER, "0:0-7;1:3"), "maps rank 3 of the node to NIC 0 and to NIC 1"));
    CHECK(strstr(table(NIC_USER, "4:0-7"), "names NIC 4, this node has 4, from 0 to 3"));
    CHECK(strstr(table(NIC_USER, NULL), "needs GODWIT_NIC_MAPPING"));
    CHECK(strstr(table(NIC_USER, "  "), "needs GODWIT_NIC_MAPPING"));
    static const char *const wrong[] = {"0",         "0:",   "0:x", "0:0-",    "0:3-1",        "0:0,",
                                        "0:0-7 1:3", "-1:0", ":0",  "0:0-7;x", "0:99999999999"};
    for (size_t i = 0; i < GW_ARRAY_LEN(wrong); i++)
        CHECK(strstr(table(NIC_USER, wrong[i]), "GODWIT_NIC_MAPPING is not \"NIC:ranks; NIC:ranks\""));
}

static const char *selected(const char *text, int n)
{
    static char out[256];
    int list[NIC_MOST], k = 0;
    if (nic_select(text, n, list, &k) != GW_OK) return gw_fail_text();
    *out = 0;
    for (int i = 0; i < k; i++) snprintf(out + strlen(out), 8, "%s%d", i ? " " : "", list[i]);
    return out;
}

static void some_of_the_nics(void)
{
    CHECK_STR(selected("", 3), "0 1 2");
    CHECK_STR(selected(NULL, 2), "0 1");
    CHECK_STR(selected("2", 4), "0 1");
    CHECK_STR(selected("2:3,1", 4), "3 1");
    CHECK_STR(selected(" 1 : 2 ", 4), "2");
    CHECK(strstr(selected("5", 4), "GODWIT_NIC_COUNT=5: this node has 4 NICs that can be used"));
    CHECK(strstr(selected("0", 1), "this node has 1 NIC that"));
    CHECK(strstr(selected("2:0", 4), "says 2 NICs and names 1"));
    CHECK(strstr(selected("1:0,1", 4), "says 1 NICs and names 2"));
    CHECK(strstr(selected("2:0,4", 4), "there is no NIC 4, this node has 4, from 0 to 3"));
    CHECK(strstr(selected("2:1,1", 4), "names NIC 1 twice"));
    CHECK(strstr(selected("two", 4), "is neither a number nor"));
    CHECK(strstr(selected("2:", 4), "is neither a number nor"));
    CHECK(strstr(selected("2;0,1", 4), "is neither a number nor"));
    CHECK(strstr(selected("2:0,1,", 4), "is neither a number nor"));
}

static void told(void)
{
    char text[512];
    recorded("nics_4", 3);
    strcpy(node.nics[1].address, "0x4a");
    for (int r = 0; r < 3; r++) places[r].numa = r ? 1 : 3;
    table(NIC_NUMA, NULL);
    nic_text("nid1", 0, &node.nics[1], 1, 4, text, sizeof text);
    CHECK_STR(text, "PE 0: Host nid1 NIC 2 of 4: index=1, domain_name=cxi1, numa_node=1, address=[0x4a]");
    nic_rank_text("nid1", 3, &node.nics[1], 1, text, sizeof text);
    CHECK_STR(text, "PE 3: Host nid1 selected NIC index=1, domain_name=cxi1, numa_node=1, address=[0x4a]");
    static const int ranks[] = {4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26};
    CHECK(node.n_ranks <= (int)GW_ARRAY_LEN(ranks));
    nic_ranks_text("nid1", 4, &node, nic_of, ranks, text, sizeof text);
    CHECK_STR(
        text,
        "PE 4: Host nid1: NIC 0 (cxi0) serves ranks 4; NIC 1 (cxi1) serves ranks 5-6; NIC 2 (cxi2) serves no rank; NIC 3 (cxi3) serves no rank");
    nic_load_text(&node, nic_of, text, sizeof text);
    CHECK_STR(text, "NIC 0 (cxi0): 1 rank, NIC 1 (cxi1): 2 ranks, NIC 2 (cxi2): 0 ranks, NIC 3 (cxi3): 0 ranks");
    CHECK_EQ(nic_check_symmetry("n1", 4, 7, 4), GW_OK);
    CHECK_EQ(nic_check_symmetry("n1", 4, 7, 1), GW_EUNSUPPORTED);
    CHECK(strstr(gw_fail_text(), "n1 has 4 NICs and the host of rank 7 has 1: ") == gw_fail_text() &&
          strstr(gw_fail_text(), "GODWIT_NIC_COUNT=1 "));
}

int main(void)
{
    golden_tables();
    nearest_by_numa();
    unbound_ranks_fall_back();
    nearest_by_gpu();
    the_users_map();
    some_of_the_nics();
    told();
    return unit_end();
}
