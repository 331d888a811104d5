/* match_state.c -- do the invariants of match.h hold?  Walks all of a queue: for tests, and for a debugger's call.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "match/match_private.h"

static const struct match_msg *at(const struct match_queue *q, uint32_t number)
{
    return (const struct match_msg *)(const void *)(q->base + (size_t)number * MATCH_UNIT);
}

/* M3: of equal numbers, and so in each chain, the one posted first is met first. */
static const char *posted_broken(const struct match_queue *q)
{
    int64_t n = 0, wild = 0;
    for (uint32_t b = 0; b < MATCH_BUCKETS; b++) {
        const struct match_recv *first = q->posted[b], *r = first;
        if (!r) continue;
        do {
            if (r->next->prev != r || ++n > q->n_posted) return "the chains of posted receives";
            if (r->next != first && r->next->seq <= r->seq) return "M3: of several receives the one posted first comes first";
            wild += r->src == GW_ANY_SOURCE || r->tag == GW_ANY_TAG;
            r = r->next;
        } while (r != first);
    }
    for (size_t i = 0; i < GW_ARRAY_LEN(q->wild_in); i++) wild -= q->wild_in[i];
    if (n != q->n_posted) return "the number of posted receives";
    return wild != 0 ? "the numbers of wildcards by context" : NULL;
}

/* All messages in arrival order; M1. */
static const char *messages_broken(struct match_queue *q)
{
    int64_t n = 0;
    uint32_t before = 0;
    for (uint32_t i = q->oldest; i; before = i, i = at(q, i)->later) {
        const struct match_msg *m = at(q, i);
        if (m->earlier != before || ++n > q->n_msgs) return "the list of messages";
        if (match_look(q, m->ctx, m->src, m->tag)) return "M1: no unexpected message matches a posted receive";
    }
    return n != q->n_msgs || q->newest != before ? "the number of messages" : NULL;
}

static bool is_later(const struct match_queue *q, uint32_t a, uint32_t b)
{
    while (a && a != b) a = at(q, a)->later;
    return a == b;
}
static bool is_alike(const struct match_msg *a, const struct match_msg *b, enum form f)
{
    return a->ctx == b->ctx && (f & FORM_ANY_SOURCE || a->src == b->src) && (f & FORM_ANY_TAG || a->tag == b->tag);
}

/* One row, from its first message: how many there are, and the first one of the next row. */
static const char *row_broken(const struct match_queue *q, uint32_t first, enum form f, int64_t *n, uint32_t *next_out)
{
    uint32_t i = first, last = at(q, first)->prev[f];
    for (;; i = at(q, i)->next[f]) {
        if (!i || ++*n > q->n_msgs) return "a row of messages";
        if (!is_alike(at(q, first), at(q, i), f)) return "a row of messages of equal numbers";
        if (i == last) break;
        if (at(q, at(q, i)->next[f])->prev[f] != i) return "the links of a row of messages";
        if (!is_later(q, i, at(q, i)->next[f])) return "M2: messages of one source leave in arrival order";
    }
    *next_out = at(q, last)->next[f];
    return NULL;
}

static const char *table_broken(const struct match_queue *q, enum form f)
{
    int64_t n = 0;
    uint32_t rows = 0;
    for (uint32_t b = 0; b < 1u << q->bits[f]; b++)
        for (uint32_t row = q->msgs[f][b]; row; rows++) {
            const char *what = row_broken(q, row, f, &n, &row);
            if (what) return what;
        }
    return n != q->n_msgs || rows != q->rows[f] ? "a table has all messages" : NULL;
}

const char *match_broken(struct match_queue *q)
{
    const char *what = posted_broken(q);
    if (!what) what = messages_broken(q);
    for (int f = FORM_EXACT; f < FORMS && !what; f++)
        if (q->indexed[f]) what = table_broken(q, (enum form)f);
    return what;
}
