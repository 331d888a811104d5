/* engine_test.c -- times that LogGPS gives by hand for 2 to 8 ranks, contention, and that some ranks may stand for all.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "base/settings.h"
#include "cases.h"
#include "queue.h"

#include "../test/unit.h"

static struct machine machine(const char *text)
{
    struct machine m;
    char error[256];
    if (!machine_parse(text, &m, error, sizeof error)) {
        fprintf(stderr, "%s\n", error);
        exit(1);
    }
    return m;
}

/* Microseconds; -1 where there is no answer. */
static struct engine_result result;
static double price(const struct machine *m, const char *coll, const char *alg, int ranks, int64_t bytes, bool whole)
{
    struct sim_call call = {.coll = coll, .ranks = ranks, .bytes = bytes, .whole = whole};
    char error[256] = "";
    bool fits = false;
    if (cases_find(coll, alg, &call.variant, error, sizeof error) && cases_price(m, &call, &fits, &result, error, sizeof error) &&
        fits)
        return result.us;
    fprintf(stderr, "%s\n", error);
    return -1;
}

#define CHECK_US(is, should)                                                                                                       \
    do {                                                                                                                           \
        double unit_is = (is), unit_should = (should);                                                                             \
        if (unit_is < unit_should - 1e-5 || unit_is > unit_should + 1e-5) {                                                        \
            unit_failures++;                                                                                                       \
            fprintf(stderr, "%s:%d: %s is %.6f us, not %.6f\n", __FILE__, __LINE__, #is, unit_is, unit_should);                    \
        }                                                                                                                          \
    } while (0)

static const char plain[] = "machine plain\nlevel network o=1 O=2 L=5 g=3 G=4 eager=1000\n";

static void by_hand(void)
{
    struct machine m = machine(plain);
    const double o = 1, L = 5, g = 3, O = 0.002, G = 0.004; /* the last two a byte, in microseconds */
    CHECK_US(price(&m, "barrier", "dissemination", 1, 0, false), 0);
    CHECK_US(price(&m, "barrier", "dissemination", 2, 0, false), 2 * o + L);
    CHECK_US(price(&m, "barrier", "dissemination", 8, 0, false), 3 * (2 * o + L));
    CHECK_US(price(&m, "barrier", "dissemination", 5, 0, false), 3 * (2 * o + L));
    CHECK_US(price(&m, "bcast", "binomial", 2, 500, false), 2 * (o + 500 * O) + L + 500 * G);
    CHECK_US(price(&m, "bcast", "binomial", 8, 500, false), 3 * (2 * (o + 500 * O) + L + 500 * G));
    /* A root that sends to four: the fourth message leaves when three gaps are over. */
    CHECK_US(price(&m, "scatter", "linear", 5, 8, false), o + 8 * O + 3 * g + L + 8 * G + o + 8 * O);
    CHECK_US(price(&m, "scatter", "linear", 5, 1000, false), o + 1000 * O + 3 * 1000 * G + L + 1000 * G + o + 1000 * O);
    /* A root that hears from four at once: they come in a gap apart. */
    CHECK_US(price(&m, "gather", "linear:once", 5, 8, false), o + 8 * O + L + 3 * g + 8 * G + o + 8 * O);
    CHECK_EQ(result.most_posted, 4);
    CHECK_EQ(result.messages, 4);
    CHECK_EQ(result.bytes, 32);
}

/* Announced (2 o + L), asked for (L), flown (L + nG), taken over (o). */
static void fetched(void)
{
    struct machine m = machine(plain);
    double there = 2 * 1 + 5 + 5 + (5 + 2000 * 0.004) + 1;
    CHECK_US(price(&m, "bcast", "binomial", 2, 2000, false), there + 5 + 1); /* and the sender hears of it */
    CHECK_US(price(&m, "bcast", "binomial", 2, 1000, false), 2 * (1 + 2.0) + 5 + 4);
    m.levels[0].R = 1;
    CHECK_US(price(&m, "bcast", "binomial", 2, 2000, false), there + 2 + 5 + 1);
}

/* Three receives posted, one core: found behind one entry on average, then behind half of one, then at once. */
static void queues(void)
{
    struct machine m = machine("level network o=1 L=5\nmatch search=0.5 entry=0.2\n");
    CHECK_US(price(&m, "gather", "linear:once", 4, 8, false), 1 + 5 + 3 * (1 + 0.5) + 0.2 + 0.1);
    /* Eight wait for eight a round; the ninth is not asked for yet: it looks at what is left of the eight, and is looked for. */
    m = machine("level network o=1 L=5\nmatch extra=2\nincast after=1 cost=7\n");
    CHECK_US(price(&m, "gather", "linear", 12, 8, false), 1 + 5 + 11 * 1 + 4 * 2 + 3 * 7);
    CHECK_EQ(result.most_unexpected, 4);
    CHECK_EQ(result.most_posted, 7);
}

/* Each rank of a node of four sends so many bytes to its like on the other node. */
static int64_t carried;
static int across(const struct plan_args *a, int round, struct plan_step *steps)
{
    if (round > 0) return 0;
    steps[0] = (struct plan_step){.kind = a->rank < 4 ? PLAN_SEND : PLAN_RECV, .peer = (a->rank + 4) % 8, .a = {.len = carried}};
    return 1;
}
static struct engine_result sent_across(const struct machine *m, int64_t bytes)
{
    struct plan_algorithm alg = {.name = "across", .emit = across, .kind = PLAN_P2P};
    struct engine_job job = {.machine = m, .alg = &alg, .args = {.size = 8}};
    struct engine_result r;
    char error[256];
    carried = bytes;
    CHECK(engine_run(&job, &r, error, sizeof error));
    return r;
}

/* They share its adapters, which take one message at a time. */
static void adapters(void)
{
    struct machine m = machine("node ranks=4\nlevel node ranks=4 o=1\nlevel network o=1 L=5\nnic g=2 G=10\n");
    for (m.nics = 1; m.nics <= 4; m.nics *= 2)
        CHECK_US(sent_across(&m, 100).us, 1 + (4 / m.nics - 1) * 2 + 5 + 1 + 1); /* a gap for each before; 100 bytes flow for 1 */
    m.nics = 1;
    /* A flat gather of eight: the other node's four leave its adapter two apart; those of the same node do not pass one. */
    CHECK_US(price(&m, "gather", "linear:once", 8, 0, true), 1 + 5 + 3 * 2 + 1);
    CHECK_US(price(&m, "gather", "linear:once", 4, 0, true), 1 + 3);
}

/* Two engines: the smallest takes up to 191 bytes at once; of the other a node has K, each busy 10 ns a byte after a start of 2. */
static void engines(void)
{
    struct machine m = machine("node ranks=4\nlevel node ranks=4 o=1\nlevel network o=1 L=5\n"
                               "engine idc upto=191\nengine dma o=0.5 L=2 G=10 n=2\n");
    struct engine_result r = sent_across(&m, 191);
    CHECK_US(r.us, 1 + 5 + 1);
    CHECK(r.engine_messages[0] == 4 && r.engine_messages[1] == 0);
    r = sent_across(&m, 192); /* two go at 1.5, the others 192 * 10 ns later */
    CHECK_US(r.us, 1.5 + 1.92 + 2 + 5 + 1);
    CHECK(r.engine_messages[0] == 0 && r.engine_messages[1] == 4);
    CHECK_EQ(r.engine_busy[1], 2);
    m.engines[1].n = 4;
    r = sent_across(&m, 192);
    CHECK_US(r.us, 1.5 + 2 + 5 + 1);
    CHECK_EQ(r.engine_busy[1], 4);
    m.engines[1].n = 0; /* one for each rank */
    r = sent_across(&m, 192);
    CHECK_US(r.us, 1.5 + 2 + 5 + 1);
    CHECK_EQ(r.engine_busy[1], 0);
    /* What is fetched: the announcement takes the first engine, the bytes the second, for the core that asks. */
    m = machine("level network o=1 O=2 L=5 g=3 G=4 eager=1000\nengine fma upto=1000\nengine bte o=0.5 L=2 n=4\n");
    CHECK_US(price(&m, "bcast", "binomial", 2, 2000, false), 2 * 1 + 5 + 0.5 + 5 + 2 + (5 + 2000 * 0.004) + 1 + 5 + 1);
    CHECK(result.engine_messages[0] == 1 && result.engine_messages[1] == 1);
}

/* What fits a mailbox goes by the first engine, however low its bound; how much that is goes by the ranks of the job, unless it is set.  The bound
 * itself belongs to the second. */
static void mailboxes(void)
{
    static const struct {
        int ranks, bytes;
    } fit[] = {{2, 8152}, {512, 8152}, {513, 2008}, {1024, 2008}, {1025, 472}, {16384, 472}};
    struct machine m = machine("level network o=1 L=5\nengine fma upto=127 mailbox=1\nengine bte o=0.5 L=2 n=4\n");
    for (size_t i = 0; i < GW_ARRAY_LEN(fit); i++)
        for (int more = 0; more < 2; more++) {
            price(&m, "bcast", "binomial", fit[i].ranks, fit[i].bytes + more, false);
            CHECK_EQ(result.engine_messages[more], fit[i].ranks - 1);
            CHECK_EQ(result.engine_messages[!more], 0);
        }
    CHECK_US(price(&m, "bcast", "binomial", 2, 8152, false), 1 + 5 + 1);
    CHECK_US(price(&m, "bcast", "binomial", 2, 8153, false), 1.5 + 2 + 5 + 1);
    m.engines[0].upto = 1023;
    gw_set.net_short_max = 100;
    price(&m, "bcast", "binomial", 2, 1023, false);
    CHECK_EQ(result.engine_messages[0], 1);
    price(&m, "bcast", "binomial", 2, 1024, false);
    CHECK_EQ(result.engine_messages[1], 1);
    gw_set.net_short_max = -1;
    /* The data of a rendezvous lie in no mailbox. */
    m = machine("level network o=1 L=5 eager=1000\nengine fma upto=127 mailbox=1\nengine bte L=2 n=4\n");
    price(&m, "bcast", "binomial", 2, 2000, false);
    CHECK(result.engine_messages[0] == 1 && result.engine_messages[1] == 1);
    m.engines[0].upto = 2000;
    price(&m, "bcast", "binomial", 2, 2000, false);
    CHECK(result.engine_messages[0] == 2 && result.engine_messages[1] == 0);
}

/* Each rank takes the adapter of the next module: each end has a link more, and the slower one of link and adapter decides how a message
 * flows. */
static void other_adapters(void)
{
    struct machine m = machine("node ranks=4\nlevel node ranks=4 o=1\nlevel network o=1 L=5\nnic n=4 G=10 other=1 L=0.25 link=5\n");
    CHECK_US(sent_across(&m, 100).us, 1 + 0.25 + 5 + 0.25 + 1 + 1);
    m.nic_link = 20;
    CHECK_US(sent_across(&m, 100).us, 1 + 0.25 + 5 + 0.25 + 2 + 1);
    m.nic_other = 0;
    CHECK_US(sent_across(&m, 100).us, 1 + 5 + 1 + 1);
    /* As in frontier.machine the link is faster than the card, so that it costs its latency alone, on each way of a long message. */
    m = machine(
        "node ranks=4\nlevel node ranks=4 o=1\nlevel network o=1 L=0.7 G=0.043 eager=16384\nnic n=4 g=0.02 G=0.043 L=0.02 link=0.02\n");
    for (int64_t bytes = 8; bytes <= 1 << 20; bytes <<= 17) {
        m.nic_other = 0;
        double own = sent_across(&m, bytes).us;
        m.nic_other = 1;
        CHECK_US(sent_across(&m, bytes).us,
                 own + 2 * 0.02 * (bytes == 8 ? 1 : 4)); /* it announces itself, is asked for, comes, and ends */
    }
}

/* Eight nodes of two: up a tree of radix 2 by three levels and down again. */
static void in_network(void)
{
    struct machine m =
        machine("node ranks=2\nlevel node ranks=2 o=1 L=2\nlevel network o=1 L=10\ncore publish=0.5 flag=3 look=0.25\n"
                "offload radix=2 hop=0.5 reduce=0.25 most=64\n");
    const double in_node = (0.5 + 3 + 2 * 0.25) + (0.5 + 3 + 0.25);
    CHECK_US(price(&m, "barrier", "levels:network", 4, 0, false), in_node + 1 + 10 + 0.25 + 1);
    CHECK_EQ(result.messages, 2);
    CHECK_US(price(&m, "barrier", "levels:network", 16, 0, false), in_node + 1 + 10 + 2 * 2 * 0.5 + 3 * 0.25 + 1);
    CHECK_EQ(result.messages, 8);
    CHECK_EQ(result.ranks, 2);
    CHECK_US(price(&m, "barrier", "levels:network", 16, 0, true), in_node + 1 + 10 + 2 * 2 * 0.5 + 3 * 0.25 + 1);
    CHECK_EQ(result.messages, 8);
    m.atomics_o = 0.5, m.atomics_L = 0.125;
    /* Cards that count: a command, the way, the operation, and the line that the core has not; no core takes in a message. */
    CHECK_US(price(&m, "barrier", "atomics", 16, 0, false), in_node + 3 * (0.5 + 10 + 0.125 + 3));
    CHECK_US(price(&m, "barrier", "atomics", 16, 0, true), in_node + 3 * (0.5 + 10 + 0.125 + 3));
    m.atomics_o = 0;
    CHECK_US(price(&m, "barrier", "atomics", 16, 0, false), -1); /* no card counts */
    m.offload_radix = 8;
    CHECK_US(price(&m, "barrier", "levels:network", 16, 0, false), in_node + 1 + 10 + 0.25 + 1);
    CHECK_US(price(&m, "barrier", "levels", 16, 0, false), in_node + 3 * (1 + 10 + 1)); /* dissemination over eight nodes */
    /* By hosts: a tree of radix 4 over eight nodes, whose root sends to a second one before its last message; doubling three times. */
    static const char *const colls[] = {"bcast", "allreduce"};
    const double by_hosts[] = {1 + 2 * (1 + 10 + 1), 3 * (1 + 10 + 1)};
    for (int i = 0; i < 2; i++) {
        double us = price(&m, colls[i], "levels", 15, 8, false);
        CHECK_US(us - price(&m, colls[i], "levels:network", 15, 8, false), by_hosts[i] - (1 + 10 + 0.25 + 1));
        CHECK(price(&m, colls[i], "levels:network", 16, 64, false) > 0);
        struct sim_call call = {.coll = colls[i], .ranks = 16, .bytes = 72};
        char error[256];
        bool fits = true;
        CHECK(cases_find(colls[i], "levels:network", &call.variant, error, sizeof error));
        CHECK(cases_price(&m, &call, &fits, &result, error, sizeof error) && !fits);
    }
}

/* Nodes 0 and 1 are neighbours in a group; from 1 to 2 it is three hops: to node 0's switch, over, and to node 2's. */
static void hops(void)
{
    struct machine m = machine("level network o=1 L=5\nfabric groups=3 switches=2 nodes=1 hop=0.5\n");
    CHECK_US(price(&m, "barrier", "dissemination", 2, 0, false), 1 + 5 + 0.5 + 1);
    CHECK_US(price(&m, "bcast", "chain", 3, 8, false), (1 + 5 + 0.5 + 1) + (1 + 5 + 3 * 0.5 + 1));
    CHECK_US(price(&m, "bcast", "chain", 4, 8, false), (1 + 5 + 0.5 + 1) + (1 + 5 + 3 * 0.5 + 1) + (1 + 5 + 0.5 + 1));
    CHECK_EQ(result.ranks, 4);
    CHECK_US(price(&m, "barrier", "dissemination", 7, 0, false), -1); /* six nodes */
}

/* The ranks of one node stand for all: the same time as with all of them, to the picosecond. */
static void one_node_for_all(void)
{
    static const struct {
        const char *coll, *alg;
        int64_t bytes;
    } cases[] = {
        {"barrier", "dissemination", 0},     {"allgather", "ring", 64},        {"allgather", "bruck", 64},
        {"allgather", "direct", 3000},       {"allgatherv", "ring", 64},       {"alltoall", "pairwise", 8},
        {"alltoall", "pairwise", 5000},      {"alltoall", "pairwise:once", 8}, {"allreduce", "ring", 8 * 336},
        {"reduce_scatter", "pairwise", 512},
    };
    struct machine m = machine("node ranks=4\nlevel core ranks=2 o=0.1 L=0.1\nlevel node ranks=4 o=0.3 L=0.2 O=0.1\n"
                               "level network o=0.5 L=2 g=0.3 G=0.2 eager=4096\nnic n=2 g=0.2 G=0.1\nmatch search=0.01 entry=0.01\n"
                               "core copy=0.1 copy_byte=0.1 reduce=0.1 reduce_byte=0.2 step=0.01\n");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int ranks = 8; ranks <= 48; ranks += 20) {
            double few = price(&m, cases[i].coll, cases[i].alg, ranks, cases[i].bytes, false);
            struct engine_result r = result;
            double all = price(&m, cases[i].coll, cases[i].alg, ranks, cases[i].bytes, true);
            CHECK_EQ(r.ranks, 4);
            CHECK_EQ(result.ranks, ranks);
            CHECK_EQ(r.messages, result.messages);
            CHECK_EQ(r.bytes, result.bytes);
            CHECK_US(few, all);
        }
    price(&m, "bcast", "binomial", 16, 8, false); /* a root is like no other */
    CHECK_EQ(result.ranks, 16);
    price(&m, "allreduce", "doubling", 16, 8, false);
    CHECK_EQ(result.ranks, 16);
    price(&m, "barrier", "dissemination", 18, 0, false); /* half a node */
    CHECK_EQ(result.ranks, 18);
}

/* More bytes, more ranks, a slower machine: no less time. */
static void monotonic(void)
{
    static const struct {
        const char *coll, *alg;
    } cases[] = {
        {"bcast", "binomial"},    {"bcast", "chain"},     {"gather", "linear"},  {"gather", "flat"},
        {"scatter", "linear"},    {"reduce", "binomial"}, {"allgather", "ring"}, {"allgather", "bruck"},
        {"alltoall", "pairwise"}, {"allreduce", "ring"},  {"scan", "doubling"},
    };
    const char *text = "node ranks=4\nlevel node ranks=4 o=0.3 L=0.2 O=0.1\nlevel network o=0.5 L=%d g=0.3 G=0.2\nnic g=0.2 G=0.1\n"
                       "match entry=0.01\ncore copy_byte=0.1 reduce_byte=0.1\n";
    char s[512];
    snprintf(s, sizeof s, text, 2);
    struct machine m = machine(s);
    snprintf(s, sizeof s, text, 4);
    struct machine further = machine(s);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int ranks = 4; ranks <= 64; ranks *= 4) {
            double last = 0;
            for (int64_t bytes = 8; bytes <= 1 << 16; bytes *= 8) {
                double us = price(&m, cases[i].coll, cases[i].alg, ranks, bytes, false);
                CHECK(us >= last && us > 0);
                CHECK(price(&m, cases[i].coll, cases[i].alg, ranks * 4, bytes, false) > us);
                CHECK(ranks == 4 ? price(&further, cases[i].coll, cases[i].alg, ranks, bytes, false) >= us
                                 : price(&further, cases[i].coll, cases[i].alg, ranks, bytes, false) > us);
                last = us;
            }
        }
}

static void flags_in_a_node(void)
{
    struct machine m = machine("node ranks=8\nlevel all o=1\ncore publish=0.5 flag=2 look=0.25\n");
    CHECK_US(price(&m, "barrier", "leaf", 4, 0, false), 0.5 + 2 + 4 * 0.25);
    CHECK_EQ(result.messages, 0);
    CHECK(price(&m, "allreduce", "leaf", 8, 8, false) > 0);
    CHECK(price(&m, "alltoall", "leaf", 8, 8, false) > 0);
    CHECK(price(&m, "bcast", "leaf_wide", 5, 1 << 20, false) > 0);
}

/* Stages: two nodes of two meet. */
static void stages(void)
{
    struct machine m =
        machine("node ranks=2\nlevel node ranks=2 o=1 L=2\nlevel network o=1 L=10\ncore publish=0.5 flag=3 look=0.25\n");
    const double inside = 1 + 2 + 1, across = 1 + 10 + 1;
    CHECK_US(price(&m, "barrier", "levels:messages", 4, 0, false), inside + across + inside);
    CHECK_EQ(result.messages, 2 + 2 + 2);
    CHECK_US(price(&m, "barrier", "levels:messages", 3, 0, false), inside + across); /* one is alone on its node, and early */
    CHECK_US(price(&m, "bcast", "levels:messages", 4, 8, false), across + inside);
    /* A flag is raised, seen, and both are looked at; then the nodes meet; then one flag is raised, seen, looked at. */
    CHECK_US(price(&m, "barrier", "levels", 4, 0, false), (0.5 + 3 + 2 * 0.25) + across + (0.5 + 3 + 0.25));
    CHECK_EQ(result.messages, 2);
    CHECK(price(&m, "bcast", "levels:1024", 16, 1 << 16, false) > price(&m, "bcast", "levels:1024", 16, 1 << 10, false));
    price(&m, "barrier", "levels", 48, 0, true);
    struct engine_result whole = result;
    CHECK_US(price(&m, "barrier", "levels", 48, 0, false), whole.us);
    CHECK_EQ(result.ranks, 2);
    CHECK_EQ(result.messages, whole.messages);
    for (int ranks = 3; ranks <= 33; ranks += 5) /* every stage of every shape comes to its end */
        for (int64_t bytes = 8; bytes <= 1 << 20; bytes *= 32) {
            CHECK(price(&m, "bcast", "levels:4096", ranks, bytes, false) > 0);
            CHECK(price(&m, "reduce", "levels", ranks, bytes, false) > 0);
            CHECK(price(&m, "allreduce", "levels", ranks, bytes, false) > 0);
        }
}

/* A stage by what a former one left: the root says how much each of the others is to send it, and has it add up. */
struct said {
    int64_t bytes, sum;
};
static int tell(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_step *s = &steps[0];
    *s = (struct plan_step){
        .kind = a->rank == round + 1 ? PLAN_RECV : PLAN_SEND, .peer = a->rank ? 0 : round + 1, .a = {.buf = PLAN_OUT, .len = 8}};
    if (a->rank && a->rank != round + 1) /* busy meanwhile */
        *s = (struct plan_step){.kind = PLAN_COPY, .a = {.buf = PLAN_IN, .len = 1}, .b = {.buf = PLAN_IN, .len = 1}};
    return round + 1 < a->size;
}
static int answer(const struct plan_args *a, int round, struct plan_step *steps)
{
    if (round >= (a->rank ? 1 : 2 * (a->size - 1))) return 0;
    if (round % 2) /* sum += bytes */
        steps[0] =
            (struct plan_step){.kind = PLAN_REDUCE, .a = {.buf = PLAN_OUT, .len = 8}, .b = {.buf = PLAN_OUT, .off = 8, .len = 8}};
    else
        steps[0] = (struct plan_step){
            .kind = a->rank ? PLAN_SEND : PLAN_RECV, .peer = a->rank ? 0 : round / 2 + 1, .a = {.len = a->scount}};
    return 1;
}
static const struct plan_algorithm alg_tell = {.name = "tell", .emit = tell, .kind = PLAN_P2P},
                                   alg_answer = {.name = "answer", .emit = answer, .kind = PLAN_P2P};
static int64_t said_bytes(const struct plan_args *a) { return a->size; }
static int64_t summed;
static bool saying(const struct plan_args *a, int i, bool leaves, char *tmp, struct plan_stage *s)
{
    struct said *said = (struct said *)tmp;
    (void)leaves;
    if (i == 0 && a->rank == 0) said->bytes = 123;
    if (i == 1) said->sum = 1000; /* as it begins: not again when others have had their turn */
    if (i == 2 && a->rank == 0) summed = said->sum;
    s->out = (struct plan_place){PLAN_TMP, 0};
    s->alg = i ? &alg_answer : &alg_tell;
    s->args.scount = said->bytes;
    return i < 2;
}
static void words(void)
{
    struct machine m = machine(plain);
    int32_t first[] = {0, 1, 2, 3, 4};
    struct plan_nodes nodes = {.n = 4, .ordered = true, .fewest = 1, .most = 1, .first = first};
    struct plan_algorithm alg = {.name = "saying", .tmp_bytes = said_bytes, .kind = PLAN_P2P, .stages = saying};
    struct engine_job job = {.machine = &m, .alg = &alg, .args = {.size = 4, .nodes = &nodes}};
    struct engine_result r;
    char error[256] = "";
    CHECK(engine_run(&job, &r, error, sizeof error));
    CHECK_STR(error, "");
    CHECK_EQ(r.bytes, 3 * 8 + 3 * 123);
    CHECK_EQ(summed, 1000 + 3 * 123);
    m.copy = 100; /* and where they come in before they are asked for */
    CHECK(engine_run(&job, &r, error, sizeof error));
    CHECK(r.most_unexpected > 0);
    CHECK_EQ(r.bytes, 3 * 8 + 3 * 123);
    m.levels[0].eager = 0; /* and where they are fetched */
    CHECK(engine_run(&job, &r, error, sizeof error));
    CHECK_EQ(r.bytes, 3 * 8 + 3 * 123);
}

/* Nothing is received that is not sent: said, not waited for. */
static int one_sided(const struct plan_args *a, int round, struct plan_step *steps)
{
    if (round > 0) return 0;
    steps[0] = (struct plan_step){.kind = PLAN_RECV, .peer = (a->rank + 1) % a->size, .a = {.len = 8}};
    return 1;
}
static int unequal(const struct plan_args *a, int round, struct plan_step *steps)
{
    if (round > 0) return 0;
    steps[0] = (struct plan_step){.kind = a->rank ? PLAN_RECV : PLAN_SEND, .peer = !a->rank, .a = {.len = 8 + a->rank}};
    return 1;
}
static void mistakes(void)
{
    struct machine m = machine(plain);
    struct plan_algorithm alg = {.name = "wrong", .emit = one_sided, .kind = PLAN_P2P};
    struct engine_job job = {.machine = &m, .alg = &alg, .args = {.size = 2}};
    struct engine_result r;
    char error[256];
    CHECK(!engine_run(&job, &r, error, sizeof error) && strstr(error, "stands still"));
    alg.emit = unequal;
    CHECK(!engine_run(&job, &r, error, sizeof error) && strstr(error, "not as long as"));
}

static void order_of_events(void)
{
    struct event_queue q = {0};
    struct event e;
    uint64_t seed = 1;
    int64_t in = 0, out = 0, last = 0;
    uint32_t last_what = 0;
    for (int i = 0; i < 20000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        int64_t ahead = (seed >> 33) % 5 ? (int64_t)(seed >> 40) % 50 : (int64_t)(seed >> 20);
        if (i % 3 < 2) {
            queue_put(&q, (struct event){last + ahead, (uint32_t)in++, 0});
        } else if (queue_take(&q, &e)) {
            out++;
            CHECK(e.time > last || (e.time == last && (out == 1 || e.what > last_what)));
            last = e.time, last_what = e.what;
        }
    }
    while (queue_take(&q, &e)) {
        out++;
        CHECK(e.time > last || (e.time == last && e.what > last_what));
        last = e.time, last_what = e.what;
    }
    CHECK_EQ(in, out);
    queue_free(&q);
}

int main(void)
{
    CHECK_EQ(cases_init(), GW_OK);
    by_hand();
    fetched();
    queues();
    adapters();
    other_adapters();
    engines();
    mailboxes();
    in_network();
    hops();
    one_node_for_all();
    monotonic();
    flags_in_a_node();
    stages();
    words();
    mistakes();
    order_of_events();
    cases_end();
    return unit_end();
}
