/* match.c -- the two tables behind match.h: posted receives, unexpected messages.
 *
 * Receives: chains are rings of their members: a bucket holds the first, whose `prev` is the last, so that appending and removing touch
 * no more than two neighbours and a bucket is one pointer.
 *
 * Messages: those of equal numbers, as far as the form looks at them, are a row.  A bucket names the first message of its first row:
 *
 *   bucket --> a1 --next--> a2 --next--> a3 --next--> b1 --next--> (0)        rows a and b
 *              a1.prev = a3, a2.prev = a1, a3.prev = a2; b1.prev = b1
 *
 * so the first of a row names its last, and the last the next row.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "match/match_private.h"

#include <stdlib.h>

static inline uint64_t match_hash_long(uint32_t ctx, int32_t src, int32_t tag)
{
    return ((uint64_t)ctx << 32 | (uint32_t)src) * 0x9e3779b97f4a7c15u + (uint64_t)(uint32_t)tag * 0xc2b2ae3d27d4eb4fu;
}

struct match_queue *match_new(void)
{
    struct match_queue *q = calloc(1, sizeof *q);
    if (!q) return NULL;
    q->indexed[FORM_EXACT] = true;
    for (int f = FORM_EXACT; f < FORMS; f++) {
        q->bits[f] = MATCH_ROW_BITS_MIN;
        q->msgs[f] = q->few[f];
    }
    return q;
}

static void table_free(struct match_queue *q, enum form f)
{
    if (q->msgs[f] != q->few[f]) free(q->msgs[f]);
    q->msgs[f] = q->few[f];
    q->bits[f] = MATCH_ROW_BITS_MIN;
}

void match_free(struct match_queue *q)
{
    for (int f = FORM_EXACT; q && f < FORMS; f++) table_free(q, (enum form)f);
    free(q);
}

/* ---- posted receives ------------------------------------------------------------------------------------ */

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
static inline struct match_recv *proto_recv_find(struct match_recv **bucket, uint32_t ctx, int32_t src, int32_t tag)
{
    struct match_recv *first = *bucket, *r = first;
    if (!r) return NULL;
    do {
        if (likely(r->tag == tag) && likely(r->src == src) && likely(r->ctx == ctx)) return r;
        r = r->next;
    } while (r != first);
    return NULL;
}

/* Removes a posted receive. */
static inline void wild_forget(struct match_queue *q, const struct match_recv *r)
{
    if (match_form_of(r->src, r->tag) == FORM_EXACT) return;
    q->n_wild--;
    --*match_wild_of(q, r->ctx);
}

/* The oldest posted receive that matches, of the four forms of a key. */
static struct match_recv *find_wild(struct match_queue *q, uint32_t ctx, int32_t src, int32_t tag, struct match_recv ***bucket_out)
{
    struct match_recv *best = NULL;
    for (int f = FORM_EXACT; f < FORMS; f++) {
        int32_t s = f & FORM_ANY_SOURCE ? GW_ANY_SOURCE : src, t = f & FORM_ANY_TAG ? GW_ANY_TAG : tag;
        struct match_recv **bucket = &q->posted[match_hash(ctx, s, t)], *r = proto_recv_find(bucket, ctx, s, t);
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
    if (unlikely(q->n_wild) && *match_wild_of(q, ctx)) return arrive_wild(q, ctx, src, tag);
    if (unlikely(!q->n_posted)) return NULL;
    struct match_recv **bucket = &q->posted[match_hash(ctx, src, tag)], *r = proto_recv_find(bucket, ctx, src, tag);
    if (likely(r)) recv_remove(q, bucket, r);
    match_assert_state(q);
    return r;
}

struct match_recv *match_look(struct match_queue *q, uint32_t ctx, int src, int tag)
{
    struct match_recv **bucket;
    return q->n_posted ? find_wild(q, ctx, src, tag, &bucket) : NULL;
}

static __attribute__((noinline)) struct match_msg *post_or_take(struct match_queue *q, struct match_recv *r)
{
    struct match_msg *m = match_probe(q, r->ctx, r->src, r->tag, true);
    if (!m) match_post_inline(q, r, r->ctx, r->src, r->tag);
    match_assert_state(q);
    return m;
}

struct match_msg *match_post(struct match_queue *q, struct match_recv *r)
{
    if (q->n_msgs) return post_or_take(q, r);
    match_post_inline(q, r, r->ctx, r->src, r->tag);
    return NULL;
}

void match_remove_recv(struct match_queue *q, struct match_recv *r)
{
    assert(q->n_posted > 0);
    wild_forget(q, r);
    recv_remove(q, &q->posted[match_hash(r->ctx, r->src, r->tag)], r);
    match_assert_state(q);
}

/* ---- unexpected messages -------------------------------------------------------------------------------- */
/* The key of a receive or probe, with wildcards. */
struct row {
    uint32_t ctx;
    int32_t src, tag;
};

void match_msgs_behind(struct match_queue *q, const void *base)
{
    assert(q->n_msgs == 0);
    q->base = (char *)(uintptr_t)base;
}

static inline struct match_msg *msg_at(const struct match_queue *q, uint32_t number)
{
    return (struct match_msg *)(void *)(q->base + (size_t)number * MATCH_UNIT);
}

static inline uint32_t number_of(const struct match_queue *q, const struct match_msg *m)
{
    size_t offset = (size_t)((const char *)m - q->base);
    assert(offset > 0 && offset % MATCH_UNIT == 0 && offset / MATCH_UNIT <= UINT32_MAX);
    return (uint32_t)(offset / MATCH_UNIT);
}

static inline struct row row_of(const struct match_msg *m, enum form f)
{
    return (struct row){m->ctx, f & FORM_ANY_SOURCE ? GW_ANY_SOURCE : m->src, f & FORM_ANY_TAG ? GW_ANY_TAG : m->tag};
}

static inline uint32_t *bucket_of(struct match_queue *q, struct row r, enum form f)
{
    return &q->msgs[f][match_hash_long(r.ctx, r.src, r.tag) >> (64 - q->bits[f])];
}

static inline bool is_of(const struct match_msg *m, struct row r, enum form f)
{
    return m->ctx == r.ctx && (f & FORM_ANY_SOURCE || m->src == r.src) && (f & FORM_ANY_TAG || m->tag == r.tag);
}

/* The link to the first message of this row, or the link that ends its bucket. */
static inline uint32_t *row_find(struct match_queue *q, struct row r, enum form f)
{
    uint32_t *link = bucket_of(q, r, f);
    while (*link) {
        struct match_msg *first = msg_at(q, *link);
        if (likely(is_of(first, r, f))) break;
        link = &msg_at(q, first->prev[f])->next[f];
    }
    return link;
}

/* Doubles the buckets.  Without memory for them rows share the present ones, and the next row tries again. */
static GW_COLD void table_grow(struct match_queue *q, enum form f)
{
    uint32_t *old = q->msgs[f], n = 1u << q->bits[f], *table = calloc(2 * (size_t)n, sizeof *table);
    if (!table) return;
    q->msgs[f] = table;
    if (++q->bits[f] > MATCH_ROW_BITS_KEPT) q->has_large = true;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t row = old[i]; row;) {
            struct match_msg *first = msg_at(q, row);
            uint32_t *last = &msg_at(q, first->prev[f])->next[f], *bucket = bucket_of(q, row_of(first, f), f), next = *last;
            *last = *bucket;
            *bucket = row;
            row = next;
        }
    }
    if (old != q->few[f])
        free(old);
    else
        memset(old, 0, sizeof q->few[f]); /* empty when it is used again */
}

static inline void msg_append(struct match_queue *q, struct match_msg *m, enum form f)
{
    uint32_t number = number_of(q, m), *link = row_find(q, row_of(m, f), f);
    if (!*link) {
        m->next[f] = 0;
        m->prev[f] = number;
        *link = number;
        if (unlikely(++q->rows[f] > 1u << q->bits[f]) && q->bits[f] < MATCH_ROW_BITS_MAX) table_grow(q, f);
        return;
    }
    struct match_msg *first = msg_at(q, *link), *last = msg_at(q, first->prev[f]);
    m->next[f] = last->next[f];
    m->prev[f] = first->prev[f];
    last->next[f] = number;
    first->prev[f] = number;
}

static inline void msg_unlink(struct match_queue *q, struct match_msg *m, enum form f)
{
    uint32_t number = number_of(q, m), *link = row_find(q, row_of(m, f), f);
    struct match_msg *first = msg_at(q, *link);
    assert(*link);
    if (likely(first == m)) {
        if (m->prev[f] == number)
            q->rows[f]--;
        else
            msg_at(q, m->next[f])->prev[f] = m->prev[f];
        *link = m->next[f];
        return;
    }
    struct match_msg *after = first->prev[f] == number ? first : msg_at(q, m->next[f]);
    msg_at(q, m->prev[f])->next[f] = m->next[f];
    after->prev[f] = m->prev[f];
}

void match_add(struct match_queue *q, struct match_msg *m)
{
    uint32_t number = number_of(q, m);
    msg_append(q, m, FORM_EXACT);
    for (int f = FORM_ANY_TAG; f < FORMS; f++)
        if (unlikely(q->indexed[f])) msg_append(q, m, (enum form)f);
    m->later = 0;
    m->earlier = q->newest;
    *(q->newest ? &msg_at(q, q->newest)->later : &q->oldest) = number;
    q->newest = number;
    q->n_msgs++;
    match_assert_state(q);
}

/* No message is left: large tables are freed, and the first small ones used again. */
static GW_COLD void tables_shrink(struct match_queue *q)
{
    for (int f = FORM_EXACT; f < FORMS; f++)
        if (q->bits[f] > MATCH_ROW_BITS_KEPT) table_free(q, (enum form)f);
    q->has_large = false;
}

void match_remove_msg(struct match_queue *q, struct match_msg *m)
{
    assert(q->n_msgs > 0);
    msg_unlink(q, m, FORM_EXACT);
    for (int f = FORM_ANY_TAG; f < FORMS; f++)
        if (unlikely(q->indexed[f])) msg_unlink(q, m, (enum form)f);
    *(m->earlier ? &msg_at(q, m->earlier)->later : &q->oldest) = m->later;
    *(m->later ? &msg_at(q, m->later)->earlier : &q->newest) = m->earlier;
    if (--q->n_msgs == 0 && unlikely(q->has_large)) tables_shrink(q);
    match_assert_state(q);
}

/* The first look-up by this form: indexes the present messages; match_add() does so from now on. */
static GW_COLD void form_index(struct match_queue *q, enum form f)
{
    q->indexed[f] = true;
    for (uint32_t n = q->oldest; n; n = msg_at(q, n)->later) msg_append(q, msg_at(q, n), f);
}

struct match_msg *match_probe(struct match_queue *q, uint32_t ctx, int src, int tag, bool take)
{
    if (!q->n_msgs) return NULL;
    enum form f = match_form_of(src, tag);
    if (unlikely(!q->indexed[f])) form_index(q, f);
    uint32_t number = *row_find(q, (struct row){ctx, src, tag}, f);
    if (!number) return NULL;
    struct match_msg *m = msg_at(q, number);
    if (take) match_remove_msg(q, m);
    return m;
}

static struct match_msg *msg_from(struct match_queue *q, uint32_t number, uint32_t ctx)
{
    for (; number; number = msg_at(q, number)->later)
        if (ctx == UINT32_MAX || msg_at(q, number)->ctx == ctx) return msg_at(q, number);
    return NULL;
}

struct match_msg *match_first_msg(struct match_queue *q, uint32_t ctx) { return msg_from(q, q->oldest, ctx); }

struct match_msg *match_next_msg(struct match_queue *q, struct match_msg *m, uint32_t ctx) { return msg_from(q, m->later, ctx); }

int64_t match_posted_count(const struct match_queue *q) { return q->n_posted; }

int64_t match_unexpected_count(const struct match_queue *q) { return q->n_msgs; }

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
