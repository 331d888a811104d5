/* match.c -- the two tables behind match.h: posted receives, unexpected messages.
 *
 * Chains are rings of their members: a bucket holds the first, whose `prev` is the last, so that appending and removing touch
 * no more than two neighbours and a bucket is one pointer.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "match/match_private.h"

#include <stdlib.h>

static inline uint32_t match_hash(uint32_t ctx, int32_t src, int32_t tag)
{
    uint64_t h =
        ((uint64_t)ctx << 32 | (uint32_t)src) * 0x9e3779b97f4a7c15u + (uint64_t)(uint32_t)tag * 0xc2b2ae3d27d4eb4fu;
    return (uint32_t)(h >> (64 - MATCH_BUCKET_BITS));
}

static inline enum form form_of(int32_t src, int32_t tag)
{
    return (enum form)((src == GW_ANY_SOURCE) << 1 | (tag == GW_ANY_TAG));
}

/* The count of posted wildcards that a message of this context has to think of; a few contexts share one. */
static inline uint32_t *wild_of(struct match_queue *q, uint32_t ctx)
{
    return &q->wild_in[(ctx * 0x9e3779b1u) >> 26];
}

static inline uint32_t msg_hash(const struct match_msg *m, enum form f)
{
    return match_hash(m->ctx, f & FORM_ANY_SOURCE ? GW_ANY_SOURCE : m->src, f & FORM_ANY_TAG ? GW_ANY_TAG : m->tag);
}

struct match_queue *match_new(void)
{
    struct match_queue *q = calloc(1, sizeof *q);
    if (!q) return NULL;
    q->indexed[FORM_EXACT] = true;
    gw_list_init(&q->order);
    return q;
}

void match_free(struct match_queue *q)
{
    free(q);
}

/* ---- posted receives ------------------------------------------------------------------------------------ */

static inline void recv_append(struct match_recv **bucket, struct match_recv *r)
{
    struct match_recv *first = *bucket;
    if (likely(!first)) {
        r->next = r->prev = r;
        *bucket = r;
        return;
    }
    r->next = first;
    r->prev = first->prev;
    first->prev->next = r;
    first->prev = r;
}

static inline void recv_remove(struct match_queue *q, struct match_recv **bucket, struct match_recv *r)
{
    if (likely(r->next == r)) {
        *bucket = NULL;
    } else {
        if (*bucket == r) *bucket = r->next;
        r->next->prev = r->prev;
        r->prev->next = r->next;
    }
    q->n_posted--;
}

/* The first posted receive with exactly these numbers, wildcards included. */
static inline struct match_recv *recv_find(struct match_recv **bucket, uint32_t ctx, int32_t src, int32_t tag)
{
    struct match_recv *first = *bucket, *r = first;
    if (!r) return NULL;
    do {
        if (likely(r->tag == tag) && likely(r->src == src) && likely(r->ctx == ctx)) return r;
        r = r->next;
    } while (r != first);
    return NULL;
}

/* A receive leaves the posted ones. */
static inline void wild_forget(struct match_queue *q, const struct match_recv *r)
{
    if (form_of(r->src, r->tag) == FORM_EXACT) return;
    q->n_wild--;
    --*wild_of(q, r->ctx);
}

/* The oldest of what the four forms find. */
static struct match_recv *find_wild(struct match_queue *q, uint32_t ctx, int32_t src, int32_t tag, struct match_recv ***bucket_out)
{
    struct match_recv *best = NULL;
    for (int f = FORM_EXACT; f < FORMS; f++) {
        int32_t s = f & FORM_ANY_SOURCE ? GW_ANY_SOURCE : src, t = f & FORM_ANY_TAG ? GW_ANY_TAG : tag;
        struct match_recv **bucket = &q->posted[match_hash(ctx, s, t)], *r = recv_find(bucket, ctx, s, t);
        if (r && (!best || r->seq < best->seq)) {
            best = r;
            *bucket_out = bucket;
        }
    }
    return best;
}

/* As match_arrive, while wildcards are posted. */
static struct match_recv *arrive_wild(struct match_queue *q, uint32_t ctx, int32_t src, int32_t tag)
{
    struct match_recv **best_bucket, *best = find_wild(q, ctx, src, tag, &best_bucket);
    if (!best) return NULL;
    wild_forget(q, best);
    recv_remove(q, best_bucket, best);
    return best;
}

struct match_recv *match_arrive(struct match_queue *q, uint32_t ctx, int src, int tag)
{
    if (unlikely(q->n_wild) && *wild_of(q, ctx)) return arrive_wild(q, ctx, src, tag);
    if (unlikely(!q->n_posted)) return NULL;
    struct match_recv **bucket = &q->posted[match_hash(ctx, src, tag)], *r = recv_find(bucket, ctx, src, tag);
    if (likely(r)) recv_remove(q, bucket, r);
    return r;
}

struct match_recv *match_look(struct match_queue *q, uint32_t ctx, int src, int tag)
{
    struct match_recv **bucket;
    return q->n_posted ? find_wild(q, ctx, src, tag, &bucket) : NULL;
}

static inline void recv_post(struct match_queue *q, struct match_recv *r)
{
    r->seq = q->next_seq++;
    q->n_posted++;
    if (unlikely(form_of(r->src, r->tag) != FORM_EXACT)) {
        q->n_wild++;
        ++*wild_of(q, r->ctx);
    }
    recv_append(&q->posted[match_hash(r->ctx, r->src, r->tag)], r);
}

static __attribute__((noinline)) struct match_msg *post_or_take(struct match_queue *q, struct match_recv *r)
{
    struct match_msg *m = match_probe(q, r->ctx, r->src, r->tag, true);
    if (!m) recv_post(q, r);
    return m;
}

struct match_msg *match_post(struct match_queue *q, struct match_recv *r)
{
    if (q->n_msgs) return post_or_take(q, r);
    recv_post(q, r);
    return NULL;
}

void match_remove_recv(struct match_queue *q, struct match_recv *r)
{
    assert(q->n_posted > 0);
    wild_forget(q, r);
    recv_remove(q, &q->posted[match_hash(r->ctx, r->src, r->tag)], r);
}

/* ---- unexpected messages -------------------------------------------------------------------------------- */

static inline void msg_append(struct match_queue *q, struct match_msg *m, enum form f)
{
    struct match_msg **bucket = &q->msgs[f][msg_hash(m, f)], *first = *bucket;
    if (!first) {
        m->next[f] = m->prev[f] = m;
        *bucket = m;
        return;
    }
    m->next[f] = first;
    m->prev[f] = first->prev[f];
    first->prev[f]->next[f] = m;
    first->prev[f] = m;
}

static inline void msg_unlink(struct match_queue *q, struct match_msg *m, enum form f)
{
    struct match_msg **bucket = &q->msgs[f][msg_hash(m, f)];
    if (m->next[f] == m) {
        *bucket = NULL;
        return;
    }
    if (*bucket == m) *bucket = m->next[f];
    m->next[f]->prev[f] = m->prev[f];
    m->prev[f]->next[f] = m->next[f];
}

void match_add(struct match_queue *q, struct match_msg *m)
{
    msg_append(q, m, FORM_EXACT);
    for (int f = FORM_ANY_TAG; f < FORMS; f++)
        if (unlikely(q->indexed[f])) msg_append(q, m, (enum form)f);
    gw_list_push(&q->order, &m->order);
    q->n_msgs++;
}

void match_remove_msg(struct match_queue *q, struct match_msg *m)
{
    assert(q->n_msgs > 0);
    msg_unlink(q, m, FORM_EXACT);
    for (int f = FORM_ANY_TAG; f < FORMS; f++)
        if (unlikely(q->indexed[f])) msg_unlink(q, m, (enum form)f);
    gw_list_del(&m->order);
    q->n_msgs--;
}

/* Someone asks for this form for the first time: index what is there; match_add does so from now on. */
static GW_COLD void form_index(struct match_queue *q, enum form f)
{
    q->indexed[f] = true;
    for (struct gw_list *l = q->order.next; l != &q->order; l = l->next)
        msg_append(q, container_of(l, struct match_msg, order), f);
}

struct match_msg *match_probe(struct match_queue *q, uint32_t ctx, int src, int tag, bool take)
{
    if (!q->n_msgs) return NULL;
    enum form f = form_of(src, tag);
    if (unlikely(!q->indexed[f])) form_index(q, f);
    struct match_msg *first = q->msgs[f][match_hash(ctx, src, tag)], *m = first;
    if (!m) return NULL;
    while (!(m->ctx == ctx && (f & FORM_ANY_SOURCE || m->src == src) && (f & FORM_ANY_TAG || m->tag == tag))) {
        m = m->next[f];
        if (m == first) return NULL;
    }
    if (take) match_remove_msg(q, m);
    return m;
}

static struct match_msg *msg_from(struct match_queue *q, struct gw_list *l, uint32_t ctx)
{
    for (; l != &q->order; l = l->next) {
        struct match_msg *m = container_of(l, struct match_msg, order);
        if (ctx == UINT32_MAX || m->ctx == ctx) return m;
    }
    return NULL;
}

struct match_msg *match_first_msg(struct match_queue *q, uint32_t ctx)
{
    return msg_from(q, q->order.next, ctx);
}

struct match_msg *match_next_msg(struct match_queue *q, struct match_msg *m, uint32_t ctx)
{
    return msg_from(q, m->order.next, ctx);
}

int64_t match_posted_count(const struct match_queue *q)
{
    return q->n_posted;
}

int64_t match_unexpected_count(const struct match_queue *q)
{
    return q->n_msgs;
}

int64_t match_posted_in(const struct match_queue *q, uint32_t ctx)
{
    int64_t seen = 0, n = 0;
    for (uint32_t b = 0; b < MATCH_BUCKETS && seen < q->n_posted; b++) {
        const struct match_recv *r = q->posted[b];
        if (!r) continue;
        do {
            seen++;
            n += r->ctx == ctx;
            r = r->next;
        } while (r != q->posted[b]);
    }
    return n;
}
