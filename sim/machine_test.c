/* machine_test.c -- descriptions of machines: what is read, what is refused; names of algorithms; pictures.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <unistd.h>

#include "base/settings.h"
#include "cases.h"
#include "cray.h"
#include "svg.h"

#include "../test/unit.h"

static void refused(const char *text, const char *why)
{
    struct machine m;
    char error[256] = "";
    CHECK(!machine_parse(text, &m, error, sizeof error));
    if (!strstr(error, why)) {
        unit_failures++;
        fprintf(stderr, "'%s': '%s' does not say '%s'\n", text, error, why);
    }
}

static void descriptions(void)
{
    struct machine m;
    char error[256];
    CHECK(machine_parse("# a machine\nmachine two # of them\n\nnode ranks=8\nlevel core ranks=4 o=0.5\nlevel node ranks=8 o=1\n"
                        "level network L=1.5 G=0.25 eager=4096\nnic n=2 G=0.1\nmatch entry=0.005",
                        &m, error, sizeof error));
    CHECK_STR(m.name, "two");
    CHECK_EQ(m.node_ranks, 8);
    CHECK_EQ(m.n_levels, 3);
    CHECK(m.levels[2].L == 1.5 && m.levels[2].G == 0.25 && m.levels[2].eager == 4096 && m.nics == 2 && m.match_entry == 0.005);
    CHECK_STR(machine_between(&m, 0, 3)->name, "core");
    CHECK_STR(machine_between(&m, 3, 4)->name, "node");
    CHECK_STR(machine_between(&m, 7, 8)->name, "network");
    CHECK_STR(machine_between(&m, 15, 8)->name, "node");
    refused("level network o=1 0=2\n", "line 1: no such key here: '0'");
    refused("\nlevel network o=fast\n", "line 2: a number of at least 0 is wanted, not 'fast'");
    refused("level network o=-1\n", "not '-1'");
    refused("nic n=1.5\nlevel network o=1\n", "a whole number is wanted");
    refused("nic n=0\nlevel network o=1\n", "at least one nic");
    refused("latency 5\n", "unknown word 'latency'");
    refused("level node ranks=4 o=1\n", "no level joins all ranks");
    refused("level a o=1\nlevel b o=1\n", "behind the level that joins all: 'b'");
    refused("level a ranks=4\nlevel b ranks=6\nlevel c\n", "not whole groups");
    refused("node ranks=6\nlevel a ranks=4\nlevel b\n", "neither of whole nodes nor parts of one");
    refused("level o=1\n", "a name is wanted");
    refused("level a\nengine fast upto=64\n", "engines stand in order of upto=, the last without, but not 'fast'");
    refused("level a\nengine dma\nengine idc upto=64\n", "but not 'dma'");
    refused("level a\nengine dma upto=1.5\n", "a whole number is wanted");
    refused("level a\noffload radix=1\n", "a radix of at least 2");
    refused("level a\nfabric groups=4 nodes=2\n", "a fabric has groups=");
    refused("level a\nclass quick min=0.5 max=0.2\n", "min is at most max");
    refused("level a\nclass quick max=0\n", "min is at most max");
    refused("like xe6\n", "in a row): 'xe6'");
}

/* A file like another one: that one's levels, engines and classes are changed in the keys that are named. */
static void likes(void)
{
    struct machine m;
    char folder[] = "/tmp/godwit-machines-XXXXXX", path[2][64], error[256];
    CHECK(mkdtemp(folder) != NULL);
    static const char *const texts[] = {
        "machine one\nnode ranks=2\nlevel node ranks=2 o=1\nlevel network o=2 L=3\nengine all L=1 g=2\n"
        "class quick max=0.5 priority=2\nmatch search=0.5\n",
        "like one\nmachine two\nnode ranks=4\nlevel node ranks=4 o=7\nlevel network o=5\nengine all L=9\nclass quick priority=3\n"};
    for (int i = 0; i < 2; i++) {
        snprintf(path[i], sizeof path[i], "%s/%s.machine", folder, i ? "two" : "one");
        FILE *f = fopen(path[i], "w");
        CHECK(f && fputs(texts[i], f) >= 0 && fclose(f) == 0);
    }
    CHECK(machine_read(path[1], &m, error, sizeof error));
    CHECK_STR(m.name, "two");
    CHECK(m.node_ranks == 4 && m.n_levels == 2 && m.levels[0].ranks == 4 && m.levels[0].o == 7 && m.match_search == 0.5);
    CHECK(m.levels[1].o == 5 && m.levels[1].L == 3 && m.levels[1].eager == 1e18);
    CHECK(m.n_engines == 1 && m.engines[0].L == 9 && m.engines[0].g == 2);
    CHECK(m.n_classes == 1 && m.classes[0].max == 0.5 && m.classes[0].priority == 3);
    FILE *wrong = fopen(path[0], "w");
    CHECK(wrong && fputs("machine one\nlevel x q=1\n", wrong) >= 0 && fclose(wrong) == 0);
    CHECK(!machine_read(path[1], &m, error, sizeof error) && strstr(error, "line 1: like one: line 2: no such key here: 'q'"));
    FILE *itself = fopen(path[0], "w");
    CHECK(itself && fputs("like two\n", itself) >= 0 && fclose(itself) == 0);
    CHECK(!machine_read(path[1], &m, error, sizeof error) && strstr(error, "no more than three"));
    unlink(path[0]);
    CHECK(!machine_read(path[1], &m, error, sizeof error) && strstr(error, "one.machine: No such file"));
    unlink(path[1]);
    rmdir(folder);
}

static void names(void)
{
    struct sim_variant v;
    char error[256];
    CHECK(cases_find("igatherv", "flat", &v, error, sizeof error) && v.at_once && !strcmp(v.alg->name, "linear"));
    CHECK(cases_find("bcast", "chain:65536", &v, error, sizeof error) && v.param == 65536 && !v.at_once);
    CHECK(cases_find("bcast", "binomial:4", &v, error, sizeof error) && v.param == 4);
    CHECK(!cases_find("allgather", "ring:4", &v, error, sizeof error) && strstr(error, "without a parameter"));
    static const struct {
        const char *coll, *says;
    } unknown[] = {{"nosuch", "--list"},
                   {"alltoallw", "did you mean alltoallv?"},
                   {"neighbor_alltoall", "--list"},
                   {"barrier,allreduce", "one collective at a time"},
                   {"allredcue", "did you mean allreduce?"},
                   {"", "--list"}};
    struct machine flat;
    CHECK(machine_parse("node ranks=8\nlevel network o=1\n", &flat, error, sizeof error));
    for (size_t i = 0; i < GW_ARRAY_LEN(unknown); i++) {
        CHECK(!cases_tuned(&flat, unknown[i].coll, 64, 8, &v));
        CHECK(!cases_find(unknown[i].coll, "linear", &v, error, sizeof error) && strstr(error, unknown[i].says));
    }
    CHECK(cases_find("ireduce_scatter_block", "halving", &v, error, sizeof error));
    CHECK(cases_tuned(&flat, "reduce_scatter_block", 64, 8, &v));
    CHECK(cases_find("scatterv", "ruled:apart", &v, error, sizeof error) && v.apart);
    CHECK(!cases_find("scatter", "linear:apart", &v, error, sizeof error) && strstr(error, "lengths per rank"));
    CHECK(!cases_find("gatherw", "linear", &v, error, sizeof error));
    CHECK(!cases_find("bcastv", "binomial", &v, error, sizeof error));
    CHECK(!cases_find("bcast", "chain:fast", &v, error, sizeof error) && strstr(error, "fast"));
    CHECK(cases_find("barrier", "levels:network", &v, error, sizeof error) && v.network);
    CHECK(!cases_find("barrier", "dissemination:network", &v, error, sizeof error) && strstr(error, "the network reduces in"));
    CHECK(!cases_find("reduce", "levels:network", &v, error, sizeof error));
    CHECK(!cases_find("bcast", "ring", &v, error, sizeof error) && strstr(error, "--list"));
    struct machine m;
    CHECK(machine_parse("node ranks=8\nlevel network o=1\n", &m, error, sizeof error));
    CHECK(cases_tuned(&m, "allgather", 64, 8, &v) && !v.alg->kind);
    CHECK(cases_tuned(&m, "barrier", 64, 0, &v) && v.alg->stages); /* a row of nodes.tbl */
    CHECK(!strcmp(v.text, "levels"));
    m.atomics_o = 0.1;
    CHECK(cases_tuned(&m, "barrier", 64, 0, &v) && !strcmp(v.text, "atomics"));
    CHECK(cases_tuned(&m, "ibarrier", 64, 0, &v) && !strcmp(v.text, "levels"));
    m.atomics_o = 0;
    CHECK(cases_tuned(&m, "gatherv", 64, 8, &v) && !strcmp(v.text, "ruled"));
    CHECK(cases_tuned(&m, "igatherv", 1000, 8, &v) && !strcmp(v.text, "permitted:100"));
    CHECK(cases_tuned(&m, "alltoallv", 64, 8, &v) && !strcmp(v.text, "ruled"));
    struct engine_result r;
    bool fits;
    struct sim_call call = {.coll = "gatherv", .ranks = 2, .bytes = 5LL << 30};
    CHECK(cases_find("gatherv", "linear", &call.variant, error, sizeof error) &&
          cases_price(&m, &call, &fits, &r, error, sizeof error) && fits);
    CHECK_EQ(r.bytes, 5LL << 30); /* a length that no int holds */
    m.node_ranks = 1;
    CHECK(cases_tuned(&m, "barrier", 64, 0, &v) && !v.alg->stages);
}

static void pictures(void)
{
    static const double x[] = {1, 10, 100}, y[] = {5, 50, 700};
    struct svg_curve curves[] = {{"a<b & c", 3, x, y}, {"none", 0, x, y}};
    struct svg_chart chart = {"figure", "ranks", "microseconds", 2, curves};
    char path[] = "/tmp/godwit-svg-XXXXXX", text[16384];
    int fd = mkstemp(path);
    CHECK(fd >= 0 && svg_write(path, &chart));
    ssize_t n = read(fd, text, sizeof text - 1);
    text[n > 0 ? n : 0] = 0;
    CHECK(strstr(text, "a&lt;b &amp; c") && strstr(text, "</svg>\n"));
    CHECK(strstr(text, "74.0,") && !strstr(text, "nan") && !strstr(text, "inf"));
    int points = 0;
    for (const char *at = text; (at = strstr(at, "<circle")); at++) points++;
    CHECK_EQ(points, 3);
    close(fd);
    unlink(path);
    CHECK(!svg_write("/nowhere/at/all.svg", &chart));
}

/* ---- the documents' variables --------------------------------------------------------------------------------------------------- */
static bool applied(const char *name, const char *value, struct machine *m, struct cray *c, const char *why)
{
    char error[256] = "";
    if (name) setenv(name, value, 1);
    bool ok = cray_read(c, error, sizeof error) && cray_apply(c, m, error, sizeof error);
    CHECK(!name || !ok || !getenv(name)); /* the library must not see it: it would say that it has no effect */
    if (name) unsetenv(name);
    if (why) CHECK(!ok && strstr(error, why));
    return ok;
}
static const char with_cards[] =
    "node ranks=4\nlevel network o=1\nnic g=0.1 queue=0.5\nengine fma upto=1023 mailbox=1\nengine bte n=4\noffload radix=8 hop=1 reduce=1 most=8\n";
static void variables(void)
{
    static const struct {
        const char *value;
        double upto;
    } thresholds[] = {
        {"1000", 1023}, {"1024", 1023}, {"1025", 1151}, {"1", 127}, {"64K", 65535}, {"1M", 65535}, {"9223372036854775807", 65535}};
    struct machine m, plain;
    struct cray c;
    char error[256];
    for (size_t i = 0; i < GW_ARRAY_LEN(thresholds); i++) {
        CHECK(machine_parse(with_cards, &m, error, sizeof error));
        CHECK(applied("MPICH_GNI_RDMA_THRESHOLD", thresholds[i].value, &m, &c, NULL) && m.engines[0].upto == thresholds[i].upto);
    }
    CHECK(machine_parse(with_cards, &m, error, sizeof error) && machine_parse("level network o=1\n", &plain, error, sizeof error));
    CHECK(applied(NULL, NULL, &m, &c, NULL) && m.engines[0].upto == 1023 && m.nic_g == 0.1 && !c.dmapp_coll);
    CHECK(applied("MPICH_GNI_VC_MSG_PROTOCOL", "MSGQ", &m, &c, NULL) && m.nic_g == 0.5);
    CHECK(applied("MPICH_USE_DMAPP_COLL", "1", &m, &c, NULL) && c.dmapp_coll);
    applied("MPICH_GNI_RDMA_THRESHOLD", "many", &m, &c, "is no size");
    applied("MPICH_GNI_MBOXES_PER_BLOCK", "0", &m, &c, "is no size");
    applied("MPICH_GNI_MBOXES_PER_BLOCK", "99999999999", &m, &c, "MPICH_GNI_MBOXES_PER_BLOCK=99999999999: 16777216 at most");
    applied("MPICH_GNI_VC_MSG_PROTOCOL", "few", &m, &c, "neither MBOX nor MSGQ");
    applied("MPICH_USE_DMAPP_COLL", "perhaps", &m, &c, "neither 0 nor 1");
    applied("MPICH_GNI_RDMA_THRESHOLD", "2048", &plain, &c, "no engine fma");
    applied("MPICH_GNI_VC_MSG_PROTOCOL", "MSGQ", &plain, &c, "no queues of nodes");
    applied("MPICH_USE_DMAPP_COLL", "1", &plain, &c, "reduces nothing");
}

/* By hand: of 8 ranks, 4 a node, each has mailboxes for 7; above 262,144 ranks 100 bytes go inline. */
static void mailboxes(void)
{
    struct machine m;
    char error[256];
    struct cray c = {.rdma_threshold = 0};
    CHECK(machine_parse(with_cards, &m, error, sizeof error));
    struct cray_mailboxes b = cray_mailboxes(&c, &m, 8);
    CHECK(b.bytes == 8192 && b.all == 4 * 7 * 8192 && b.ring == 4 * 2 * 8192 && b.low == 8192 && b.per_block == 7 &&
          b.blocks_of_all == 1);
    static const struct {
        int64_t ranks, bytes, per_block;
    } rows[] = {{512, 8192, 256}, {513, 2048, 512}, {1025, 512, 1024}, {16385, 256, 8192}, {262145, 140, 14979}};
    for (size_t i = 0; i < GW_ARRAY_LEN(rows); i++) {
        b = cray_mailboxes(&c, &m, rows[i].ranks);
        CHECK_EQ(b.bytes, rows[i].bytes);
        CHECK_EQ(b.per_block, rows[i].per_block);
        CHECK_EQ(b.all, 4 * (rows[i].ranks - 1) * b.bytes);
        CHECK(b.low < b.all / 4 && b.blocks_of_all == (rows[i].ranks - 2) / b.per_block + 1);
    }
    CHECK(applied("MPICH_GNI_MBOXES_PER_BLOCK", "98", &m, &c, NULL));
    b = cray_mailboxes(&c, &m, 1000);
    CHECK(b.per_block == 98 && b.blocks_of_all == 11);
    b = cray_mailboxes(&c, &m, 10);
    CHECK(b.per_block == 9 && b.blocks_of_all == 1); /* no more than there are peers */
    gw_set.net_short_max = 100;
    b = cray_mailboxes(&c, &m, 8);
    CHECK(b.bytes == 140 && b.all == 4 * 7 * 140 && b.low == 140);
    gw_set.net_short_max = -1;
}

/* A pair is quicker than others, as four links are there, though one engine copies; inside a GPU is quickest. */
static void gpus(void)
{
    struct machine m;
    char error[256];
    CHECK(machine_read(SIM_MACHINES "/frontier.machine", &m, error, sizeof error));
    double same = machine_gpu_copy(&m, 0, 0), pair = machine_gpu_copy(&m, 0, 1), other = machine_gpu_copy(&m, 0, 2);
    CHECK(same < pair / 5 && pair < other && other == m.gpu.link);
    CHECK(machine_gpu_copy(&m, 6, 7) == pair && machine_gpu_copy(&m, 1, 2) == other);
    CHECK(pair == m.gpu.engine && pair > m.gpu.link / 4); /* more than its engine the links could carry */
    refused("node ranks=3\nlevel a\ngpu ranks=2 links=4\n", "whole modules");
    refused("level a\ngpu links=1.5\n", "a whole number is wanted");
}

/* `table` by the documents' default, software; by cards where they are asked for, and can. */
static void cards(void)
{
    struct machine m;
    struct sim_variant v;
    char error[256];
    CHECK(machine_parse(with_cards, &m, error, sizeof error));
    for (int use = 0; use < 2; use++) {
        cases_use_cards(use);
        CHECK(cases_tuned(&m, "barrier", 64, 0, &v) && v.network == use);
        CHECK(cases_tuned(&m, "allreduce", 64, 8, &v) && v.network == use);
        CHECK(cases_tuned(&m, "allreduce", 64, 16, &v) && !v.network);
        CHECK(cases_tuned(&m, "bcast", 64, 8, &v) && !v.network);
    }
    cases_use_cards(false);
}

int main(void)
{
    CHECK_EQ(cases_init(), GW_OK);
    descriptions();
    likes();
    names();
    pictures();
    variables();
    mailboxes();
    gpus();
    cards();
    cases_end();
    return unit_end();
}
