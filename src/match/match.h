/* match.h -- pairs arrived messages with posted receives.
 *
 * Pure bookkeeping: no I/O, no calls out, no allocation after init but of larger tables for many messages.  One queue pair per lane, keyed
 * by (context, source, tag); the caller holds the lane's lock.
 *
 * INVARIANT M1  no message in `unexpected` matches any receive in `posted`.
 * INVARIANT M2  for one (source, context), messages leave in arrival order among those that a receive matches.
 * INVARIANT M3  of several posted receives that match a message, the one posted first gets it.
 * Cost is O(1) for exact receives whatever the queue length; wildcards cost at most four look-ups.
 *
 * Posted receives hang in one table, hashed by the three numbers as they were posted: a wildcard is a number like any other,
 * so a message is looked up under its own numbers and, only while its context has wildcards posted, under the three forms with a
 * wildcard.  That table has a fixed number of buckets (MATCH_BUCKETS): chains get longer only beyond that many different keys.
 *
 * Messages hang in up to four tables, one for each of those forms; the three with a wildcard are filled from the first time that a
 * receive or probe asks for that form, so programs without wildcards never pay for them.  A million messages may wait, so their links
 * have 32 bits (all lie in one range of addresses, match_msgs_behind()), those of equal numbers stand in one row, of which only the
 * first is met on the way to another row, and a table doubles with the rows in it.  Where there is no memory for that, it stays as it is.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_MATCH_MATCH_H
#define GW_MATCH_MATCH_H

#include "obj/obj.h"

/* Embedded in a posted receive. */
struct match_recv {
    struct match_recv *next, *prev; /* bucket chain */
    uint64_t seq;                   /* order of posting */
    uint32_t ctx;
    int32_t src, tag; /* may be GW_ANY_SOURCE, GW_ANY_TAG; the caller fills these three */
};
/* Embedded in an unexpected message, at a multiple of MATCH_UNIT from the address that match_msgs_behind() was told. */
enum { MATCH_UNIT = 16 };
struct match_msg {
    uint32_t next[4], prev[4]; /* by (src,tag), by src, by tag, by context: each in arrival order; see match.c */
    uint32_t later, earlier;   /* all messages, in arrival order; 0: none */
    uint32_t ctx;
    int32_t src, tag; /* the caller fills these three */
};

struct match_queue;
/* The begin of a queue: unexpected messages held, receives posted. */
static inline bool match_has_messages(const struct match_queue *q) { return *(const int64_t *)q != 0; }
/* No message held, no receive posted: whatever is received next has no rival. */
static inline bool match_is_empty(const struct match_queue *q) { return (((const int64_t *)q)[0] | ((const int64_t *)q)[1]) == 0; }
struct match_queue *match_new(void); /* NULL: out of memory */
void match_msgs_behind(struct match_queue *q,
                       const void *base); /* while it holds none: those that come lie at most 2^32 units behind it, not at it */
void match_free(struct match_queue *q);

/* A receive is offered: the first matching unexpected message (now removed), or NULL: the receive is posted. */
struct match_msg *match_post(struct match_queue *q, struct match_recv *r);
/* A message is offered: the receive that gets it (now removed), or NULL: add it with match_add. */
struct match_recv *match_arrive(struct match_queue *q, uint32_t ctx, int src, int tag);
struct match_recv *match_look(struct match_queue *q, uint32_t ctx, int src, int tag); /* what match_arrive would answer; it stays */
void match_add(struct match_queue *q, struct match_msg *m);                           /* after match_arrive answered NULL */
/* Probe: the first matching unexpected message; `take` removes it (mprobe). */
struct match_msg *match_probe(struct match_queue *q, uint32_t ctx, int src, int tag, bool take);
void match_remove_msg(struct match_queue *q, struct match_msg *m);   /* a cancelled send */
void match_remove_recv(struct match_queue *q, struct match_recv *r); /* a cancelled receive; it is posted */
int64_t match_posted_count(const struct match_queue *q);
int64_t match_unexpected_count(const struct match_queue *q);
int64_t match_posted_in(const struct match_queue *q, uint32_t ctx); /* of this context: walks the table, for tools */
/* For finalize and for reports: the first unexpected message of a context (any if ctx is 0xffffffff), NULL at the end. */
struct match_msg *match_first_msg(struct match_queue *q, uint32_t ctx);
struct match_msg *match_next_msg(struct match_queue *q, struct match_msg *m, uint32_t ctx); /* the next one in arrival order */

#endif
