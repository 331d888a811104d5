/* match.h -- the matching engine: pairs arrived messages with posted receives.
 *
 * A pure data structure: no I/O, no upcalls, no allocation after init except larger tables for many messages.  One queue pair (posted,
 * unexpected) per lane, keyed by (context, source, tag).  The caller holds the lane's lock and owns receives and messages; the queue
 * links them by the structs embedded in them.
 *
 * INVARIANT M1  no message in `unexpected` matches any receive in `posted`.
 * INVARIANT M2  for one (source, context), messages leave in arrival order among those that a receive matches.
 * INVARIANT M3  of several posted receives that match a message, the one posted first gets it.
 * Exact receives cost O(1), whatever the queue length; wildcards cost at most four look-ups.
 *
 * Posted receives are in one hash table, keyed by (context, source, tag) as posted, wildcards included.  A message is looked up under its
 * own key and, only while its context has wildcards posted, under the three keys with wildcards.  The table has a fixed number of buckets
 * (MATCH_BUCKETS).
 *
 * Unexpected messages are in up to four hash tables, one per form of a key (exact, any tag, any source, any).  The three wildcard tables
 * are filled when a receive or probe uses that form for the first time.  A million messages may be queued, so links are 32-bit numbers
 * (all messages lie in one range of addresses, match_msgs_behind()), messages with equal keys form one row, of which only the first is
 * visited on the way to another row, and a table doubles with the number of its rows, if memory allows.
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
    int32_t src, tag; /* may be GW_ANY_SOURCE, GW_ANY_TAG.  ctx, src and tag are set by the caller */
};
/* Embedded in an unexpected message, at a multiple of MATCH_UNIT bytes from the base that match_msgs_behind() has set. */
enum { MATCH_UNIT = 16 };
struct match_msg {
    uint32_t next[4], prev[4]; /* by (src,tag), by src, by tag, by context: each in arrival order; see match.c */
    uint32_t later, earlier;   /* all messages, in arrival order; 0: none */
    uint32_t ctx;
    int32_t src, tag; /* ctx, src and tag are set by the caller */
};

struct match_queue;
/* A queue begins with two counts: unexpected messages, posted receives. */
static inline bool match_has_messages(const struct match_queue *q) { return *(const int64_t *)q != 0; }
/* No unexpected message and no posted receive: the next receive competes with no other. */
static inline bool match_is_empty(const struct match_queue *q) { return (((const int64_t *)q)[0] | ((const int64_t *)q)[1]) == 0; }
struct match_queue *match_new(void); /* NULL: out of memory */
void match_msgs_behind(struct match_queue *q,
                       const void *base); /* messages will lie less than 2^32 units above base; only while the queue holds none */
void match_free(struct match_queue *q);

/* Posts a receive, unless an unexpected message matches: returns the first such message, which is removed, else NULL. */
struct match_msg *match_post(struct match_queue *q, struct match_recv *r);
/* A message has arrived: returns the posted receive that matches, which is removed; NULL: there is none, the caller may match_add(). */
struct match_recv *match_arrive(struct match_queue *q, uint32_t ctx, int src, int tag);
struct match_recv *match_look(struct match_queue *q, uint32_t ctx, int src, int tag); /* the same without removing it */
void match_add(struct match_queue *q, struct match_msg *m);                           /* after match_arrive() returned NULL */
/* Probe: the first matching unexpected message; `take`: removes it (mprobe). */
struct match_msg *match_probe(struct match_queue *q, uint32_t ctx, int src, int tag, bool take);
void match_remove_msg(struct match_queue *q, struct match_msg *m);   /* a cancelled send */
void match_remove_recv(struct match_queue *q, struct match_recv *r); /* a cancelled receive; it is posted */
int64_t match_posted_count(const struct match_queue *q);
int64_t match_unexpected_count(const struct match_queue *q);
int64_t match_posted_in(const struct match_queue *q, uint32_t ctx); /* receives of this context; walks the table: for tools */
/* Iterates over the unexpected messages of a context (0xffffffff: of all), in arrival order; NULL at the end.  For finalize and reports. */
struct match_msg *match_first_msg(struct match_queue *q, uint32_t ctx);
struct match_msg *match_next_msg(struct match_queue *q, struct match_msg *m, uint32_t ctx);

#endif
