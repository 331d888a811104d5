/* match_fast.h -- the fast path, inlined into callers: the queue, and posting a receive for which there is no unexpected message.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_MATCH_MATCH_FAST_H
#define GW_MATCH_MATCH_FAST_H

#include "match/match.h"
#include "base/base.h"

#define MATCH_BUCKET_BITS 14
#define MATCH_BUCKETS     (1u << MATCH_BUCKET_BITS)
/* Sizes of a message table, as log2 of its buckets: 4 KiB to 1 MiB; tables above 256 KiB are freed when no message is left. */
enum { MATCH_ROW_BITS_MIN = 10, MATCH_ROW_BITS_KEPT = 16, MATCH_ROW_BITS_MAX = 18 };

/* Forms of a key by which a message can be looked up; also the index of its links. */
enum form { FORM_EXACT, FORM_ANY_TAG, FORM_ANY_SOURCE, FORM_ANY, FORMS };

struct match_queue {
    int64_t n_msgs, n_posted; /* must be first: see match_is_empty() */
    int64_t n_wild;           /* posted receives with a wildcard */
    uint64_t next_seq;
    char *base;              /* message number n lies at base + n * MATCH_UNIT */
    uint32_t *msgs[FORMS];   /* the message tables: in `few`, or allocated */
    uint32_t oldest, newest; /* messages, by number */
    bool has_large;          /* a table has more than 2^MATCH_ROW_BITS_KEPT buckets */
    bool indexed[FORMS];     /* this form's table is in use */
    uint8_t bits[FORMS];     /* log2 of its buckets */
    uint32_t rows[FORMS];    /* rows in it */
    uint32_t wild_in[64];    /* n_wild by hash of the context, see match_wild_of(): other contexts do not pay for wildcards */
    struct match_recv *posted[MATCH_BUCKETS];
    uint32_t few[FORMS][1u << MATCH_ROW_BITS_MIN];
};

/* Hash of the table of posted receives.  Weaker than that of messages, at half the instructions: there are fewer receives. */
static inline uint32_t match_hash(uint32_t ctx, int32_t src, int32_t tag)
{
    return (ctx * 0x9e3779b1u + (uint32_t)src * 0x85ebca77u + (uint32_t)tag * 0xc2b2ae3du) >> (32 - MATCH_BUCKET_BITS);
}

static inline enum form match_form_of(int32_t src, int32_t tag)
{
    return (enum form)((src == GW_ANY_SOURCE) << 1 | (tag == GW_ANY_TAG));
}

/* The number of posted wildcard receives that messages of this context must be compared with; contexts of equal hash share one. */
static inline uint32_t *match_wild_of(struct match_queue *q, uint32_t ctx) { return &q->wild_in[(ctx * 0x9e3779b1u) >> 26]; }

static inline void match_append(struct match_recv **bucket, struct match_recv *r)
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

/* The number of a receive in the order of posting, for one that may not come to match_post_inline(): its message is there, or the network
 * matches it. */
static inline void match_number(struct match_queue *q, struct match_recv *r) { r->seq = q->next_seq++; }

/* Posts a receive that no unexpected message matches. */
static inline void match_post_inline(struct match_queue *q, struct match_recv *r, uint32_t ctx, int src, int tag)
{
    struct match_recv **bucket = &q->posted[match_hash(ctx, src, tag)];
    r->ctx = ctx;
    r->src = src;
    r->tag = tag;
    r->seq = q->next_seq;
    q->next_seq++;
    q->n_posted++;
    if (unlikely(match_form_of(src, tag) != FORM_EXACT)) {
        q->n_wild++;
        ++*match_wild_of(q, ctx);
    }
    match_append(bucket, r);
}

#endif
