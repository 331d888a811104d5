/* start_test.c -- what the start costs: messages and bytes of a rank in a pretended PMIx world of 100,000 ranks, memory of the node map
 * of a million, and when all ranks must meet.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot/boot_private.h"
#include "base/settings.h"
#include "boot/kvs.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../test/unit.h"

/* ---- a PMIx server that counts ---- */
enum { PER_NODE = 50, ADDRESS_BYTES = 36 };
static struct {
    int puts, commits, fences, collections, gets;
    uint64_t bytes_in; /* that came to this node for this rank's sake */
    bool has_all;      /* a fence or a collection brought everything */
} cost;

static int fake_put(const char *key, const char *value)
{
    (void)key, (void)value;
    cost.puts++;
    return GW_OK;
}

static int fake_commit(void)
{
    cost.commits++;
    return GW_OK;
}

static void all_arrives(void)
{
    cost.has_all = true;
    cost.bytes_in += (uint64_t)gw_boot.size * ADDRESS_BYTES;
}

static int fake_fence(void)
{
    cost.fences++;
    all_arrives();
    return GW_OK;
}

static void fake_collect(void)
{
    cost.collections++;
    all_arrives();
}

static int fake_get(int rank, const char *key, char *value_out, size_t cap)
{
    (void)key;
    bool is_far = rank / PER_NODE != gw_boot.rank / PER_NODE;
    cost.gets++;
    if (is_far && !cost.has_all) cost.bytes_in += ADDRESS_BYTES;
    snprintf(value_out, cap, "%0*d", ADDRESS_BYTES, rank);
    return GW_OK;
}

static void fake_leave(void) {}

static int fake_hosts(int32_t *host_out)
{
    for (int r = 0; r < gw_boot.size; r++) host_out[r] = 1000000000 - r / PER_NODE;
    return GW_OK;
}

static const struct boot_backend fake = {
    .put = fake_put,
    .commit = fake_commit,
    .fence = fake_fence,
    .get = fake_get,
    .leave = fake_leave,
    .hosts = fake_hosts,
    .collect = fake_collect,
};

static void world(int size, int rank, int nlocal)
{
    int *locals = gw_xmalloc((size_t)nlocal * sizeof *locals);
    int first = rank / PER_NODE * PER_NODE;
    for (int i = 0; i < nlocal; i++) locals[i] = nlocal == 1 ? rank : first + i;
    free((void *)(uintptr_t)gw_boot.local_to_world);
    gw_boot.how = BOOT_PMIX;
    gw_boot.rank = rank;
    gw_boot.size = size;
    boot_set_locals(locals, nlocal);
    gw_boot.nnodes = (size + PER_NODE - 1) / PER_NODE;
    memset(&cost, 0, sizeof cost);
    boot_backend_use(&fake);
}

static void start(bool async)
{
    gw_set.async_modex = async;
    CHECK_EQ(boot_put("gw.net", "an address of thirty-six bytes, say.."), GW_OK);
    CHECK_EQ(boot_share(), GW_OK);
}

static void first_message(int to)
{
    char value[64], expected[64];
    CHECK_EQ(boot_get(to, "gw.net", value, sizeof value), GW_OK);
    snprintf(expected, sizeof expected, "%0*d", ADDRESS_BYTES, to);
    CHECK_STR(value, expected);
}

/* A rank at the edge of its node, so that one neighbour is near and one far. */
static void ring(int size, bool async)
{
    world(size, PER_NODE, PER_NODE);
    start(async);
    first_message(PER_NODE - 1);
    CHECK(cost.puts == 1 && cost.gets == 1 && cost.collections == 0);
    CHECK_EQ(cost.fences, !async);
    CHECK_EQ(cost.commits, async);
    CHECK_EQ(cost.bytes_in, async ? ADDRESS_BYTES : (uint64_t)size * ADDRESS_BYTES);
}

/* Asks some ranks one by one, then joins the collection, once. */
static void all_to_all(int size, bool async, int switch_at)
{
    world(size, 0, PER_NODE);
    gw_set.modex_switch = switch_at;
    start(async);
    for (int r = PER_NODE; r < size; r++) first_message(r);
    int far = size - PER_NODE;
    bool switches = async && switch_at > 0 && far >= switch_at;
    CHECK_EQ(cost.gets, far);
    CHECK_EQ(cost.fences, !async);
    CHECK_EQ(cost.collections, switches);
    uint64_t all = (uint64_t)size * ADDRESS_BYTES;
    CHECK_EQ(cost.bytes_in,
             !async         ? all
                 : switches ? all + (uint64_t)(switch_at - 1) * ADDRESS_BYTES
                            : (uint64_t)far * ADDRESS_BYTES);
}

/* Ranks of the own node, of which the launcher's process here knows all, are asked one by one however many there are. */
static void neighbours_then_far(void)
{
    enum { SWITCH = PER_NODE / 5 };
    world(1000, 0, PER_NODE);
    gw_set.modex_switch = SWITCH;
    start(true);
    for (int r = 1; r < PER_NODE; r++) first_message(r);
    CHECK_EQ(cost.collections, 0);
    for (int r = PER_NODE; r < PER_NODE + SWITCH; r++) {
        CHECK_EQ(cost.collections, 0);
        first_message(r);
    }
    CHECK_EQ(cost.collections, 1);
}

static void test_costs(void)
{
    neighbours_then_far();
    for (int async = 0; async < 2; async++) {
        ring(64, async);
        ring(100000, async);
        all_to_all(64, async, 64);
    }
    all_to_all(100000, false, 64);
    all_to_all(100000, true, 64);
    all_to_all(100000, true, 0);
    all_to_all(64, true, 1);
}

/* ---- all at once, or on the first message ---- */
static void test_cutoff(void)
{
    world(100, 0, PER_NODE);
    static const struct {
        int cutoff;
        bool all;
    } rows[] = {{0, false}, {99, false}, {100, false}, {101, true}};
    for (size_t i = 0; i < GW_ARRAY_LEN(rows); i++) {
        gw_set.add_procs_cutoff = rows[i].cutoff;
        CHECK_EQ(boot_connects_all(), rows[i].all);
    }
    gw_set.add_procs_cutoff = 0;
    gw_set.dynamic_conn = GW_SET_DYNAMIC_CONN_DISABLED;
    CHECK(boot_connects_all());
    gw_set.dynamic_conn = GW_SET_DYNAMIC_CONN_ENABLED;
    gw_set.startup_connect = true;
    CHECK(boot_connects_all());
    gw_boot.nnodes = 1;
    CHECK(!boot_connects_all());
    gw_set.startup_connect = false;
}

/* ---- who must meet ---- */
static void test_meetings(void)
{
    world(100, 0, PER_NODE);
    CHECK(boot_must_meet(BOOT_BEFORE_FIRST) && boot_must_meet(BOOT_AFTER_LAST)); /* nobody has said that it is not needed */
    boot_needs(0);
    gw_set.async_init = true;
    for (int is_child = 0; is_child < 2; is_child++) { /* children are met as a whole */
        gw_boot.parent.name = (uint64_t)is_child;
        CHECK_EQ(boot_must_meet(BOOT_BEFORE_FIRST), is_child);
    }
    gw_boot.parent.name = 0;
    for (unsigned said = 0; said < 4; said++) {
        if (said) boot_needs(said == 3 ? 0 : said); /* what one has said is not taken back by another */
        bool first = said == 1 || said >= 2, last = said >= 2;
        for (int i = 0; i < 8; i++) {
            gw_set.async_init = i & 1;
            gw_set.async_finalize = (i & 2) != 0;
            gw_boot.nnodes = i & 4 ? 2 : 1;
            CHECK_EQ(boot_must_meet(BOOT_BEFORE_FIRST), gw_boot.nnodes == 1 || !gw_set.async_init || first);
            CHECK_EQ(boot_must_meet(BOOT_AFTER_LAST), gw_boot.nnodes == 1 || !gw_set.async_finalize || last);
        }
    }
}

/* The caller goes on while a thread waits for the others; an error of the launcher's arrives with its words. */
static _Atomic int n_over;
static _Atomic bool others_have_come;
static bool fence_fails;

static void over(void) { n_over++; }

static int slow_fence(void)
{
    while (!others_have_come) usleep(1000);
    cost.fences++;
    return fence_fails ? gw_fail(GW_EOTHER, "the launcher is gone") : GW_OK;
}

static void test_fence_beside(void)
{
    struct boot_backend slow = fake;
    slow.fence = slow_fence;
    world(100, 0, PER_NODE);
    boot_backend_use(&slow);
    for (int i = 0; i < 2; i++) {
        fence_fails = i == 1;
        n_over = 0;
        others_have_come = false;
        CHECK_EQ(boot_fence_begin(over), GW_OK);
        CHECK(boot_fence_is_going() && !boot_fence_is_over());
        others_have_come = true;
        while (!n_over) usleep(1000);
        CHECK(boot_fence_is_over());
        CHECK_EQ(boot_fence_end(), i == 0 ? GW_OK : GW_EOTHER);
        CHECK(!boot_fence_is_going());
        CHECK_EQ(cost.fences, i + 1);
        if (i == 1) CHECK_STR(gw_fail_text(), "the launcher is gone");
    }
    boot_backend_use(&fake);
}

/* Where only the first fence is sure, addresses are known by that, and nobody asks for what has not come with it. */
static bool once(void) { return true; }

static void test_fences_once(void)
{
    struct boot_backend poor = fake;
    world(100, 0, PER_NODE);
    gw_set.async_modex = true;
    CHECK(boot_is_direct() && !boot_fences_once());
    poor.fences_once = once;
    boot_backend_use(&poor);
    CHECK(!boot_is_direct() && boot_fences_once());
    CHECK_EQ(boot_share(), GW_OK);
    CHECK_EQ(cost.fences, 1);
    boot_backend_use(&fake);
    CHECK_EQ(boot_share(), GW_OK);
    CHECK_EQ(cost.fences, 1);
}

/* ---- the node map of a million ranks: in the segment, 4 bytes a rank ---- */
static void test_million(void)
{
    enum { SIZE = 1000000, RANK = 999960, NODE_BYTES = 4096 };
    world(SIZE, RANK, 1); /* alone on its host as far as the segment is concerned: nobody else is there to map it */
    gw_boot.nnodes = 0;
    struct boot_head *h = boot_map_segment(NODE_BYTES, 0);
    CHECK_EQ(gw_boot.nnodes, SIZE / PER_NODE);
    CHECK_EQ(gw_boot.node, RANK / PER_NODE);
    int wrong = 0;
    for (int r = 0; r < SIZE; r++) wrong += boot_node_of(r) != r / PER_NODE;
    CHECK_EQ(wrong, 0);
    uint64_t map = h->bytes - h->shm_offset - NODE_BYTES;
    CHECK(map >= 4 * (uint64_t)SIZE && map <= 16 * (uint64_t)SIZE);
    CHECK(cost.puts == 0 && cost.gets == 0 && cost.fences == 0); /* it cost no message */
    boot_finalize();
}

/* Unless told otherwise nobody is connected, or asked for an address, before the first message, and nobody waits. */
static void test_defaults(void)
{
    world(100, 0, PER_NODE);
    CHECK(gw_set.async_modex && gw_set.async_init && gw_set.async_finalize && !boot_connects_all());
    CHECK_EQ(gw_set.add_procs_cutoff, 0);
    CHECK_EQ(gw_set.modex_switch, 64);
}

int main(void)
{
    gw_settings_load();
    test_defaults();
    test_costs();
    test_cutoff();
    test_meetings();
    test_fence_beside();
    test_fences_once();
    test_million();
    gw_settings_free();
    return unit_end();
}
