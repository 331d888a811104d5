/* queue.c -- a radix heap.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "queue.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static int bucket_of(const struct event_queue *q, int64_t time)
{
    uint64_t differs = (uint64_t)(time ^ q->last);
    return differs ? 64 - __builtin_clzll(differs) : 0;
}

static void append(struct event_bucket *b, struct event e)
{
    if (b->n == b->room) {
        b->room = b->room ? 2 * b->room : 64;
        b->at = realloc(b->at, (size_t)b->room * sizeof *b->at);
        if (!b->at) abort();
    }
    b->at[b->n++] = e;
}

void queue_put(struct event_queue *q, struct event e)
{
    assert(e.time >= q->last);
    append(&q->buckets[bucket_of(q, e.time)], e);
    q->n++;
}

/* Bucket 0 is used up: the lowest other one is dealt out anew from its earliest event on. */
static void refill(struct event_queue *q)
{
    int k = 1;
    q->buckets[0].n = q->taken = 0;
    while (!q->buckets[k].n) k++;
    struct event_bucket *b = &q->buckets[k];
    int64_t first = b->at[0].time, n = b->n;
    for (int64_t i = 1; i < n; i++)
        if (b->at[i].time < first) first = b->at[i].time;
    q->last = first;
    b->n = 0;
    for (int64_t i = 0; i < n; i++) {
        int to = bucket_of(q, b->at[i].time);
        assert(to < k);
        append(&q->buckets[to], b->at[i]);
    }
}

bool queue_take(struct event_queue *q, struct event *out)
{
    if (!q->n) return false;
    if (q->taken == q->buckets[0].n) refill(q);
    *out = q->buckets[0].at[q->taken++];
    q->n--;
    return true;
}

void queue_free(struct event_queue *q)
{
    for (int i = 0; i < 65; i++) free(q->buckets[i].at);
    memset(q, 0, sizeof *q);
}
