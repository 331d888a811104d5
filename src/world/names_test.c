/* names_test.c -- descriptions of groups and proposals of context ids as another job may send them: what is not right is an error, and
 * nothing is read that did not come.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "../../test/one_rank.h"

#include <stdio.h>

#include "base/base.h"
#include "boot/boot.h"
#include "node/node.h"
#include "world/world_private.h"

#include "unit.h"

enum { HOME = 7, AT = PEER_AT / 4 };

/* In memory of its own, so that a sanitizer sees what is read behind it. */
static int group_from(const int32_t *words, int n, struct gw_group **group_out)
{
    int32_t *exact = malloc((size_t)n * sizeof *exact + !n);
    *group_out = NULL;
    if (n) memcpy(exact, words, (size_t)n * sizeof *exact);
    int rc = world_names_group(exact, n, group_out);
    CHECK(rc != GW_OK || world_names_are_whole(exact, n));
    free(exact);
    return rc;
}

static void wrong(int line, const int32_t *words, int n)
{
    struct gw_group *g;
    int rc = group_from(words, n, &g);
    if (rc == GW_EOTHER && !g) return;
    unit_failures++;
    fprintf(stderr, "line %d: %d words were believed (%d)\n", line, n, rc);
}

/* The words of this process's own group, with two homes where that is wanted: the second is unused. */
static int ours(int32_t *w, int homes)
{
    int32_t *one;
    int n, at = 0;
    must(world_names_of(gw_comm_world.group, NULL, &one, &n));
    CHECK(n == 1 + HOME + 3 && one[0] == 1 && one[1 + HOME] == 1 && one[2 + HOME] == 0 && one[3 + HOME] == 0);
    w[at++] = homes;
    for (int i = 0; i < homes; i++, at += HOME) memcpy(w + at, one + 1, HOME * sizeof *w);
    w[at++] = 1;
    w[at++] = 0;
    if (homes > 1) w[at++] = 0;
    w[at++] = 0;
    free(one);
    return at;
}

static void groups(void)
{
    int32_t w[128];
    struct gw_group *g;
    for (int homes = 1; homes <= 2; homes++) {
        int n = ours(w, homes), members = 1 + homes * HOME, rank = n - 1;
        CHECK_EQ(group_from(w, n, &g), GW_OK);
        CHECK(g->size == 1 && group_world(g, 0) == 0);
        group_release(g);
        for (int less = 0; less < n; less++) wrong(__LINE__, w, less);
        wrong(__LINE__, w, n + 1);
        const int32_t odd[] = {-1, -2, 3, 1 << 28, 1 << 30, INT32_MAX, INT32_MIN};
        for (size_t i = 0; i < GW_ARRAY_LEN(odd); i++) {
            w[0] = odd[i];
            wrong(__LINE__, w, n);
            w[0] = homes;
            w[members] = odd[i];
            wrong(__LINE__, w, n);
            w[members] = 1;
            w[rank] = odd[i];
            wrong(__LINE__, w, n);
            w[rank] = 0;
            if (homes == 1) continue;
            w[rank - 1] = odd[i];
            wrong(__LINE__, w, n);
            w[rank - 1] = 0;
        }
    }
    int n = ours(w, 1);
    w[1 + HOME] = 2; /* the same twice */
    w[n++] = 0;
    wrong(__LINE__, w, n);
    const int32_t nobody[] = {0, 0, 0}, of_no_home[] = {0, 1, 0, 0};
    CHECK_EQ(group_from(nobody, 3, &g), GW_OK);
    CHECK(g == &gw_group_empty);
    wrong(__LINE__, of_no_home, 4);
}

/* Members `a` and `b` of another job of `size` ranks, on another host; with their addresses, or NULL. */
static int far_words(int32_t *w, int size, int a, int b, const char *at)
{
    const uint64_t uid = 4711;
    int n = 0;
    memset(w, 0, 64 * sizeof *w);
    w[n++] = 1;
    memcpy(w + n, &uid, sizeof uid);
    w[n + 2] = w[n + 3] = -1;
    w[n + 6] = size;
    n += HOME;
    w[n++] = 2;
    w[n++] = at != NULL;
    w[n++] = a;
    w[n++] = b;
    for (int i = 0; at && i < 2; i++, n += AT) snprintf((char *)(w + n), PEER_AT, "%s", at);
    return n;
}

static void far(void)
{
    static const char at[] = "@192.0.2.2:4000#0123456789abcdef";
    int32_t w[128];
    struct gw_group *g, *again;
    CHECK_EQ(group_from(w, far_words(w, 5, 3, 1, at), &g), GW_OK);
    CHECK(g->size == 2 && group_world(g, 0) == gw_boot.size + 3 && group_world(g, 1) == gw_boot.size + 1);
    int32_t first = -7;
    world_names_firsts(w, &first);
    CHECK(world_names_homes(w) == 1 && first == gw_boot.size && world_names_home_of(w, 1) == 0);
    CHECK_EQ(group_from(w, far_words(w, 5, 1, 3, NULL), &again), GW_OK); /* they are known */
    CHECK_EQ(group_world(again, 0), gw_boot.size + 1);
    group_release(again);
    wrong(__LINE__, w, far_words(w, 5, 1, 2, NULL)); /* one is not */
    wrong(__LINE__, w, far_words(w, 5, 1, 1, at));
    wrong(__LINE__, w, far_words(w, 5, 1, 5, at));
    wrong(__LINE__, w, far_words(w, 5, -1, 1, at));
    wrong(__LINE__, w, far_words(w, 6, 1, 3, at)); /* it had 5 ranks */
    wrong(__LINE__, w, far_words(w, 5, 1, 4, "nonsense"));
    wrong(__LINE__, w, far_words(w, INT32_MAX, 1, 4, at));
    for (int n = far_words(w, 5, 3, 1, at), less = 0; less < n; less++) wrong(__LINE__, w, less);
    group_release(g);
}

static void put(int tag, const void *v, int n)
{
    struct gw_req *r;
    int rc = p2p_stream_isend(GW_STREAM_WORLD, v, n, gw_type_int, 0, tag, &gw_comm_world, &r);
    CHECK_EQ(rc == GW_POSTED ? p2p_stream_wait(r) : rc, GW_OK);
}

/* The other side of a bridge on one host says that it has no members: this rank is its own other side, and says so first. */
static void nobody_near(void)
{
    enum { TAG = 7 };
    const int32_t nobody[] = {0, 0, 0};
    const int n = 3;
    struct bridge b = {.comm = &gw_comm_world, .rank = 0, .tag = TAG};
    struct gw_comm *c = NULL;
    put(TAG, &n, 1);
    put(TAG, nobody, n);
    CHECK_EQ(world_inter_create_over(&gw_comm_world, 0, &b, &c), GW_EOTHER);
    CHECK(c == NULL);
}

/* Any words: an error, or a group of processes that there are. */
static void any_words(void)
{
    enum { ROUNDS = 200000, MOST = 24 };
    int32_t w[MOST], right[MOST];
    uint64_t x = 88172645463325252u;
    int n_right[3] = {0, ours(right, 1), ours(right, 2)}, n_ok = 0;
    for (int i = 0; i < ROUNDS; i++) {
        struct gw_group *g;
        int homes = 1 + i % 2, n = n_right[ours(w, homes) == n_right[homes] ? homes : 0], changes = 1 + i % 3;
        for (int k = 0; k < changes; k++) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            int at = (int)(x % (uint64_t)n);
            if (at >= 1 && at < 1 + homes * HOME) continue; /* a home that is not ours would be looked for */
            w[at] = x >> 60 ? (int32_t)(x >> 32 & 7) - 2 : (int32_t)(x >> 32);
        }
        n = n + (int)(x >> 20 & 3) - 1;
        if (group_from(w, n > MOST ? MOST : n, &g) != GW_OK) continue;
        for (int k = 0; k < g->size; k++) CHECK(group_world(g, k) == 0);
        if (g->size) group_release(g);
        n_ok++;
    }
    CHECK(n_ok > 0);
}

/* What a group agreed on is no id, or leaves no room: that agreement ends with an error, and the next one is as before. */
static void proposals(void)
{
    const int64_t odd[] = {-1, INT64_MIN, GW_CTX_ID_JOIN, GW_CTX_ID_JOIN - 1, INT64_MAX, INT64_MAX - 1, (int64_t)1 << 40};
    struct ids w;
    int64_t v[IDS_VALUES], first;
    world_ids_begin(&w, 2, false);
    world_ids_propose(&w, v);
    first = v[0];
    world_ids_end(&w);
    for (size_t i = 0; i < GW_ARRAY_LEN(odd); i++) {
        world_ids_begin(&w, 2, false);
        world_ids_propose(&w, v);
        int64_t said[IDS_VALUES] = {odd[i], 1, v[2]};
        CHECK(world_ids_take(&w, said, v));
        CHECK(world_ids_check(&w) != GW_OK);
        world_ids_end(&w);
    }
    world_ids_begin(&w, 2, false);
    world_ids_propose(&w, v);
    CHECK(v[0] > first && v[0] <= first + 4 * (int64_t)(GW_ARRAY_LEN(odd) + 1));
    CHECK(!world_ids_take(&w, (int64_t[IDS_VALUES]){v[0], 0, v[2]}, v));
    CHECK_EQ(world_ids_check(&w), GW_OK);
    world_ids_end(&w);
}

int main(void)
{
    rooms_up();
    groups();
    far();
    nobody_near();
    any_words();
    proposals();
    return unit_end();
}
