/* match_private.h -- the queue itself: for match.c, and for the library that debuggers load (tools/msgq).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_MATCH_MATCH_PRIVATE_H
#define GW_MATCH_MATCH_PRIVATE_H

#include "match/match.h"

#define MATCH_BUCKET_BITS 14
#define MATCH_BUCKETS     (1u << MATCH_BUCKET_BITS)

/* The forms under which a message can be asked for; also the index of its links. */
enum form { FORM_EXACT, FORM_ANY_TAG, FORM_ANY_SOURCE, FORM_ANY, FORMS };

struct match_queue {
    int64_t n_msgs, n_posted; /* first: see match_is_empty() */
    int64_t n_wild;           /* n_wild: of the posted ones, those with a wildcard */
    uint64_t next_seq;
    bool indexed[FORMS];  /* messages are in this form's table */
    struct gw_list order; /* of messages */
    uint32_t wild_in[64]; /* n_wild by context, see wild_of(): other contexts do not pay for wildcards */
    struct match_recv *posted[MATCH_BUCKETS];
    struct match_msg *msgs[FORMS][MATCH_BUCKETS];
};

#endif
