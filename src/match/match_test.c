/* match_test.c -- the match room beside a naive model (two plain lists), over many seeds; and its cost with long queues.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "match/match_private.h"
#include "base/time.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../../test/unit.h"

enum { MAX_ITEMS = 4000 };

static struct item {
    struct match_msg m GW_ALIGNED(MATCH_UNIT);
    struct match_recv r;
    bool is_posted, is_queued; /* what the model thinks */
    uint64_t when;
} nowhere_and_items[MAX_ITEMS + 1], *const items = nowhere_and_items + 1; /* messages lie behind their base, not at it */
static int n_items;
static uint64_t clock_now, rng;

static uint32_t rnd(uint32_t n)
{
    rng ^= rng << 13;
    rng ^= rng >> 7;
    rng ^= rng << 17;
    return (uint32_t)(rng >> 33) % n;
}

static bool fits(uint32_t rctx, int rsrc, int rtag, uint32_t ctx, int src, int tag)
{
    return rctx == ctx && (rsrc == GW_ANY_SOURCE || rsrc == src) && (rtag == GW_ANY_TAG || rtag == tag);
}

static struct item *model_msg(uint32_t ctx, int src, int tag)
{
    struct item *best = NULL;
    for (struct item *i = items; i < items + n_items; i++)
        if (i->is_queued && fits(ctx, src, tag, i->m.ctx, i->m.src, i->m.tag) && (!best || i->when < best->when)) best = i;
    return best;
}

static struct item *model_recv(uint32_t ctx, int src, int tag)
{
    struct item *best = NULL;
    for (struct item *i = items; i < items + n_items; i++)
        if (i->is_posted && fits(i->r.ctx, i->r.src, i->r.tag, ctx, src, tag) && (!best || i->when < best->when)) best = i;
    return best;
}

static struct item *item_new(void)
{
    struct item *i = &items[n_items++];
    memset(i, 0, sizeof *i);
    i->when = clock_now++;
    return i;
}

static void step_post(struct match_queue *q, uint32_t ctx, int src, int tag)
{
    struct item *want = model_msg(ctx, src, tag), *i = item_new();
    i->r.ctx = ctx;
    i->r.src = src;
    i->r.tag = tag;
    struct match_msg *got = match_post(q, &i->r);
    CHECK(got == (want ? &want->m : NULL));
    if (want)
        want->is_queued = false;
    else
        i->is_posted = true;
}

static void step_arrive(struct match_queue *q, uint32_t ctx, int src, int tag)
{
    struct item *want = model_recv(ctx, src, tag);
    struct match_recv *seen = match_look(q, ctx, src, tag), *got = match_arrive(q, ctx, src, tag);
    CHECK(seen == got);
    CHECK(got == (want ? &want->r : NULL));
    if (want) {
        want->is_posted = false;
        return;
    }
    struct item *i = item_new();
    i->m.ctx = ctx;
    i->m.src = src;
    i->m.tag = tag;
    i->is_queued = true;
    match_add(q, &i->m);
}

static void step_remove(struct match_queue *q)
{
    struct item *i = &items[rnd((uint32_t)n_items)];
    if (i->is_posted) match_remove_recv(q, &i->r);
    if (i->is_queued) match_remove_msg(q, &i->m);
    i->is_posted = i->is_queued = false;
}

static void check_counts(struct match_queue *q)
{
    int64_t posted = 0, queued = 0;
    for (int i = 0; i < n_items; i++) {
        posted += items[i].is_posted;
        queued += items[i].is_queued;
    }
    CHECK_EQ(match_posted_count(q), posted);
    CHECK_EQ(match_unexpected_count(q), queued);
    for (uint32_t ctx = 0; ctx <= 12; ctx += 4) {
        int64_t posted_in = 0;
        for (int i = 0; i < n_items; i++) posted_in += items[i].is_posted && items[i].r.ctx == ctx;
        CHECK_EQ(match_posted_in(q, ctx), posted_in);
    }
    int64_t walked = 0;
    for (struct match_msg *m = match_first_msg(q, UINT32_MAX); m; m = match_next_msg(q, m, UINT32_MAX)) walked++;
    CHECK_EQ(walked, queued);
}

/* One random life of a queue.  `wild`: in how many of 8 receives a wildcard may stand. */
static void run_seed(uint64_t seed, int steps, uint32_t wild, uint32_t sources, uint32_t tags)
{
    struct match_queue *q = match_new();
    match_msgs_behind(q, nowhere_and_items);
    rng = seed * 0x9e3779b97f4a7c15u + 1;
    n_items = 0;
    for (int s = 0; s < steps && unit_failures < 5; s++) {
        uint32_t ctx = rnd(3) << 2;
        int src = (int)rnd(sources), tag = (int)rnd(tags);
        uint32_t what = rnd(16);
        bool is_wild = rnd(8) < wild;
        if (what < 7) {
            step_post(q, ctx, is_wild && rnd(2) ? GW_ANY_SOURCE : src, is_wild && rnd(2) ? GW_ANY_TAG : tag);
        } else if (what < 14) {
            step_arrive(q, ctx, src, tag);
        } else if (what == 14 && n_items) {
            step_remove(q);
        } else {
            int psrc = is_wild ? GW_ANY_SOURCE : src, ptag = rnd(2) ? tag : is_wild ? GW_ANY_TAG : tag;
            struct item *want = model_msg(ctx, psrc, ptag);
            bool take = rnd(2);
            CHECK(match_probe(q, ctx, psrc, ptag, take) == (want ? &want->m : NULL));
            if (want && take) want->is_queued = false;
        }
        if (s % 64 == 0) CHECK_STR(match_broken(q) ? match_broken(q) : "", "");
    }
    CHECK_STR(match_broken(q) ? match_broken(q) : "", "");
    check_counts(q);
    for (struct item *i = items; i < items + n_items; i++)
        if (i->is_posted) match_remove_recv(q, &i->r);
    CHECK_EQ(match_posted_count(q), 0);
    match_free(q);
}

/* Ticks a message for n receives posted and then answered in reverse order, best of some rounds. */
static double reverse_cost(int n)
{
    struct match_queue *q = match_new();
    struct match_recv *r = calloc((size_t)n, sizeof *r);
    double best = 1e30;
    for (int round = 0; round < 7; round++) {
        for (int i = 0; i < n; i++) {
            r[i].ctx = 4;
            r[i].src = 1;
            r[i].tag = i;
            CHECK(match_post(q, &r[i]) == NULL);
        }
        uint64_t t0 = gw_ticks();
        for (int i = n - 1; i >= 0; i--) CHECK(match_arrive(q, 4, 1, i) == &r[i]);
        double t = (double)(gw_ticks() - t0) / n;
        if (t < best) best = t;
    }
    free(r);
    match_free(q);
    return best;
}

/* Ticks a message for n that came unexpected and are taken: in order, in reverse by tag, or from any source by tag while each tag has
 * several; best of some rounds. */
enum how { IN_ORDER, REVERSE, ANY_SOURCE_REVERSE, HOWS };
static double unexpected_cost(int n, enum how how)
{
    enum { EACH = 4 };
    struct match_queue *q = match_new();
    struct match_msg *block = NULL;
    double best = 1e30;
    if (posix_memalign((void **)&block, GW_CACHELINE, ((size_t)n + 1) * GW_CACHELINE) != 0) return -1;
    match_msgs_behind(q, block);
    for (int round = 0; round < 3; round++) {
        uint64_t t0 = gw_ticks();
        for (int i = 0; i < n; i++) {
            struct match_msg *m = (struct match_msg *)((char *)block + (size_t)(i + 1) * GW_CACHELINE);
            *m = (struct match_msg){.ctx = 4, .src = i % EACH, .tag = how == IN_ORDER ? 0 : i / EACH};
            match_add(q, m);
        }
        for (int i = 0; i < n; i++) {
            int k = how == IN_ORDER ? i : how == REVERSE ? n - 1 - i : (n / EACH - 1 - i / EACH) * EACH + i % EACH;
            struct match_msg *m =
                match_probe(q, 4, how == ANY_SOURCE_REVERSE ? GW_ANY_SOURCE : k % EACH, how == IN_ORDER ? 0 : k / EACH, true);
            CHECK((char *)m == (char *)block + (size_t)(k + 1) * GW_CACHELINE);
        }
        double t = (double)(gw_ticks() - t0) / n;
        if (t < best) best = t;
    }
    CHECK_EQ(match_unexpected_count(q), 0);
    free(block);
    match_free(q);
    return best;
}

/* Two sources whose rows share a bucket do not search in each other's messages, however many those are: every pair is tried. */
static void many_of_one_source(void)
{
    enum { MANY = 20000, SOURCES = 2000 };
    struct match_queue *q = match_new();
    struct match_msg *block = NULL;
    if (posix_memalign((void **)&block, GW_CACHELINE, (MANY + SOURCES + 1) * GW_CACHELINE) != 0) return;
    match_msgs_behind(q, block);
    for (int i = 0; i < MANY + SOURCES; i++) {
        struct match_msg *m = (struct match_msg *)((char *)block + (size_t)(i + 1) * GW_CACHELINE);
        *m = (struct match_msg){.ctx = 4, .src = i < MANY ? 0 : i - MANY + 1, .tag = i};
        match_add(q, m);
    }
    for (int s = 1; s <= SOURCES; s++) {
        struct match_msg *m = match_probe(q, 4, s, GW_ANY_TAG, true);
        CHECK(m && m->src == s && m->tag == MANY + s - 1);
    }
    for (int i = 0; i < MANY; i++) {
        struct match_msg *m = match_probe(q, 4, GW_ANY_SOURCE, GW_ANY_TAG, true);
        CHECK(m && m->tag == i);
    }
    CHECK(!match_first_msg(q, UINT32_MAX));
    free(block);
    match_free(q);
}

/* Bytes that this process has of malloc, and of addresses.  Sanitizers have a malloc of their own, which does not fail. */
#if !defined __has_feature
#define __has_feature(x) 0
#endif
#if defined __SANITIZE_ADDRESS__ || __has_feature(address_sanitizer) || defined GW_TSAN
enum { SANITIZER = 1 };
#else
enum { SANITIZER = 0 };
#endif
static size_t allocated(void)
{
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}
static size_t addresses(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    CHECK(f && fscanf(f, "%lu", &pages) == 1);
    if (f) fclose(f);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* n messages of numbers of their own come and are taken, the last one first and by all forms in turn. */
static void come_and_go(struct match_queue *q, struct match_msg *block, int n, int bits)
{
    for (int i = 0; i < n; i++) {
        struct match_msg *m = (struct match_msg *)((char *)block + (size_t)(i + 1) * GW_CACHELINE);
        *m = (struct match_msg){.ctx = (uint32_t)i, .src = i, .tag = i};
        match_add(q, m);
    }
    for (int f = FORM_EXACT; f < FORMS; f++) CHECK_EQ(q->bits[f], bits);
    CHECK_STR(match_broken(q) ? match_broken(q) : "", "");
    for (int i = n; i-- > 0;) {
        struct match_msg *m = match_probe(q, (uint32_t)i, i & 1 ? i : GW_ANY_SOURCE, i & 2 ? i : GW_ANY_TAG, true);
        CHECK((char *)m == (char *)block + (size_t)(i + 1) * GW_CACHELINE);
    }
    CHECK_EQ(match_unexpected_count(q), 0);
}

/* Tables grow with what is in them, and what many messages took goes back; without memory they stay, and all is found. */
static void tables(void)
{
    enum { MANY = 70000, FEW = 3000, KIB = 1024 };
    struct match_msg *block = NULL;
    if (posix_memalign((void **)&block, GW_CACHELINE, ((size_t)MANY + 1) * GW_CACHELINE) != 0) return;
    size_t before = allocated();
    struct match_queue *q = match_new();
    match_msgs_behind(q, block);
    size_t first = allocated() - before;
    CHECK(first < 160 * KIB);
    for (int f = FORM_ANY_TAG; f < FORMS; f++) { /* all forms are asked for */
        struct match_msg *m = (struct match_msg *)((char *)block + GW_CACHELINE);
        *m = (struct match_msg){0};
        match_add(q, m);
        CHECK(match_probe(q, 0, f & FORM_ANY_SOURCE ? GW_ANY_SOURCE : 0, f & FORM_ANY_TAG ? GW_ANY_TAG : 0, true) == m);
    }
    for (int round = 0; round < 2; round++) {
        come_and_go(q, block, FEW, 12);
        come_and_go(q, block, MANY, 17);
        CHECK(allocated() - before <= first + 4 * KIB);
    }
    if (!SANITIZER) {
        struct rlimit was, now;
        malloc_trim(0);
        CHECK_EQ(getrlimit(RLIMIT_AS, &was), 0);
        now = was;
        now.rlim_cur = addresses();
        CHECK_EQ(setrlimit(RLIMIT_AS, &now), 0);
        come_and_go(q, block, MANY, MATCH_ROW_BITS_MIN);
        CHECK_EQ(setrlimit(RLIMIT_AS, &was), 0);
        come_and_go(q, block, MANY, 17);
    }
    match_free(q);
    CHECK(allocated() - before < 4 * KIB); /* malloc keeps small blocks back */
    free(block);
}

int main(void)
{
    _Static_assert(sizeof(struct match_msg) == 52, "what proto's header of 64 bytes has room for");
    tables(); /* first: a heap that has had much would have room when no address is to be had */
    for (uint64_t seed = 1; seed <= 150 && unit_failures < 5; seed++) {
        run_seed(seed, 400, (uint32_t)(seed % 9), 3, 3);
        run_seed(seed + 1000, 400, (uint32_t)(seed % 9), 20, 40);
    }
    run_seed(77, 5000, 1, 2, 2);
    /* A linear list would need some thousand times as much; caches and a noisy machine are allowed for. */
    double few = reverse_cost(64), many = reverse_cost(8192);
    CHECK(many < 20 * few + 2000);
    for (enum how how = IN_ORDER; how < HOWS; how++) {
        few = unexpected_cost(64, how), many = unexpected_cost(100000, how);
        CHECK(many < 20 * few + 4000);
    }
    many_of_one_source();
    return unit_end();
}
