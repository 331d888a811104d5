/* fuzz_match.c -- posts, arrivals, probes and cancels in any order, beside two plain lists.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/base.h"
#include "match/match.h"

#include "fuzz.h"

enum { MAX_ITEMS = 512 };

/* Where the same item is in the model. */
static struct item {
    struct match_msg m GW_ALIGNED(MATCH_UNIT);
    struct match_recv r;
    enum { OUT, POSTED, QUEUED } is;
} nowhere_and_items[MAX_ITEMS + 1], *const items = nowhere_and_items + 1; /* messages lie behind their base, not at it */
static int n_items; /* in the order of posting or arrival: both lists are this one */

static bool fits(uint32_t rctx, int rsrc, int rtag, uint32_t ctx, int src, int tag)
{
    return rctx == ctx && (rsrc == GW_ANY_SOURCE || rsrc == src) && (rtag == GW_ANY_TAG || rtag == tag);
}

static struct item *first_message(uint32_t ctx, int src, int tag)
{
    for (struct item *i = items; i < items + n_items; i++)
        if (i->is == QUEUED && fits(ctx, src, tag, i->m.ctx, i->m.src, i->m.tag)) return i;
    return NULL;
}

static struct item *first_receive(uint32_t ctx, int src, int tag)
{
    for (struct item *i = items; i < items + n_items; i++)
        if (i->is == POSTED && fits(i->r.ctx, i->r.src, i->r.tag, ctx, src, tag)) return i;
    return NULL;
}

static void post(struct match_queue *q, uint32_t ctx, int src, int tag)
{
    struct item *want = first_message(ctx, src, tag), *i = &items[n_items++];
    *i = (struct item){.r = {.ctx = ctx, .src = src, .tag = tag}};
    struct match_msg *got = match_post(q, &i->r);
    FUZZ_CHECK(got == (want ? &want->m : NULL));
    i->is = want ? OUT : POSTED;
    if (want) want->is = OUT;
}

static void arrive(struct match_queue *q, uint32_t ctx, int src, int tag)
{
    struct item *want = first_receive(ctx, src, tag);
    struct match_recv *got = match_arrive(q, ctx, src, tag);
    FUZZ_CHECK(got == (want ? &want->r : NULL));
    if (want) {
        want->is = OUT;
        return;
    }
    struct item *i = &items[n_items++];
    *i = (struct item){.m = {.ctx = ctx, .src = src, .tag = tag}, .is = QUEUED};
    match_add(q, &i->m);
}

static void cancel(struct match_queue *q, struct item *i)
{
    if (i->is == POSTED) match_remove_recv(q, &i->r);
    if (i->is == QUEUED) match_remove_msg(q, &i->m);
    i->is = OUT;
}

static void probe(struct match_queue *q, uint32_t ctx, int src, int tag, bool take)
{
    struct item *want = first_message(ctx, src, tag);
    FUZZ_CHECK(match_probe(q, ctx, src, tag, take) == (want ? &want->m : NULL));
    if (want && take) want->is = OUT;
}

/* What is left, in order; and everything is taken out again. */
static void check_rest(struct match_queue *q)
{
    int64_t posted = 0, queued = 0;
    struct match_msg *m = match_first_msg(q, UINT32_MAX);
    for (struct item *i = items; i < items + n_items; i++) {
        posted += i->is == POSTED;
        queued += i->is == QUEUED;
        if (i->is != QUEUED) continue;
        FUZZ_CHECK(m == &i->m);
        m = match_next_msg(q, m, UINT32_MAX);
    }
    FUZZ_CHECK(!m);
    FUZZ_CHECK(match_posted_count(q) == posted && match_unexpected_count(q) == queued);
    FUZZ_CHECK(match_has_messages(q) == (queued > 0));
    for (struct item *i = items; i < items + n_items; i++)
        if (i->is == POSTED) match_remove_recv(q, &i->r);
    FUZZ_CHECK(match_posted_count(q) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = in_open(data, size);
    struct match_queue *q = match_new();
    FUZZ_CHECK(q);
    match_msgs_behind(q, nowhere_and_items);
    n_items = 0;
    while (in_more(&in) && n_items < MAX_ITEMS) {
        unsigned what = in_byte(&in), numbers = in_byte(&in);
        uint32_t ctx = numbers >> 6 & 1 ? 7 : 0xfffffff0u;
        int src = numbers & 7, tag = (numbers >> 3 & 7) * 1000003;
        bool any_src = what >> 3 & 1, any_tag = what >> 4 & 1;
        switch (what & 7) {
        case 0:
        case 1:
        case 2: post(q, ctx, any_src ? GW_ANY_SOURCE : src, any_tag ? GW_ANY_TAG : tag); break;
        case 3:
        case 4:
        case 5: arrive(q, ctx, src, tag); break;
        case 6: probe(q, ctx, any_src ? GW_ANY_SOURCE : src, any_tag ? GW_ANY_TAG : tag, what >> 5 & 1); break;
        default:
            if (n_items) cancel(q, &items[in_below(&in, n_items)]);
        }
    }
    check_rest(q);
    match_free(q);
    return 0;
}
