/* check_call.h -- private to check: the record of a collective call, which the members send to rank 0 of the communicator, and what rank 0
 * thinks of them.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_CHECK_CHECK_CALL_H
#define GW_CHECK_CHECK_CALL_H

#include "check/check_private.h"

/* What of the data must agree.  s and r are what a member sends and receives, one number for all or one for each peer. */
enum check_shape {
    SHAPE_NONE,      /* nothing: barriers, calls that make communicators, what is not looked at */
    SHAPE_SAME,      /* s of all: broadcast, reductions; between two groups only the first number of it */
    SHAPE_TO_ROOT,   /* s of member i with r of the root for i */
    SHAPE_FROM_ROOT, /* s of the root for i with r of member i */
    SHAPE_TO_ALL,    /* s of member i with r of every member for i */
    SHAPE_PAIRS,     /* s of member i for k with r of member k for i */
    SHAPE_NEIGHBORS, /* s of member i to `peer` with r of that member from i, those of the same two in their order */
};

struct check_sig {
    uint64_t hash;
    int64_t n, bytes; /* basic elements; bytes -1: does not count on this member */
    int32_t is_any;   /* MPI_PACKED is in it */
    int32_t peer;     /* SHAPE_NEIGHBORS; may be GW_PROC_NULL */
};

/* The fixed part; n_s and then n_r of struct check_sig lie behind it. */
struct check_call {
    int32_t member, fn; /* fn: of the form without _c */
    int32_t waits;      /* for a verdict */
    int32_t root;       /* GW_UNDEFINED: it has none */
    int32_t op;         /* 0: none; CHECK_OP_USER, one more if it commutes; or its id */
    int32_t shape, n_s, n_r;
    int64_t s_count, r_count; /* as called, for the text; -1: not told */
    char s_type[24], r_type[24];
    uint64_t place; /* of the call in the file `module`; 0: unknown */
    char module[32];
};
enum { CHECK_OP_USER = 1 << 20 };
static inline struct check_sig *call_s(const struct check_call *k) { return (struct check_sig *)(uintptr_t)(k + 1); }
static inline struct check_sig *call_r(const struct check_call *k) { return call_s(k) + k->n_s; }
static inline size_t call_bytes(const struct check_call *k)
{
    return sizeof *k + (size_t)(k->n_s + k->n_r) * sizeof(struct check_sig);
}
_Static_assert(sizeof(struct check_call) % sizeof(uint64_t) == 0, "signatures follow aligned");

/* A message of so many bytes from that member is such a record, of at most so many signatures each way; else it has been counted.  What
 * it says of the call may be anything. */
bool check_call_is_right(const struct check_call *k, int64_t bytes, int member, int sigs_max);

/* What rank 0 answers, in so many bytes: GW_OK, or an error of check_judge()'s; else it has been counted, and is GW_EOTHER. */
int check_verdict_of(int32_t verdict, int64_t bytes);

/* ---- check_judge.c: pure functions over the calls of all members, v[i] of member i or NULL: it has not called yet.
 * Of an intercommunicator the first n_first are one group and the rest the other; else, or where only one group meets, n_first == n. */
struct judge_calls {
    const struct check_call *const *v;
    int n, n_first;
};
/* Severity: what would happen if they went on. */
enum { JUDGE_FINE, JUDGE_TYPES, JUDGE_WRONG }; /* TYPES: sizes agree, so that data passes */
struct judgement {
    int severity, error;
    const char *what;
    int from, to;           /* ranks of which blocks of different sizes do not agree; from -1: that is not it */
    int64_t sent, received; /* bytes */
};
struct judgement check_judge(struct judge_calls c);
/* Who called what, those who did the same together. */
void check_judge_text(struct judge_calls c, char *out, size_t cap);

/* ---- check_court.c: the calls of a communicator come together ---- */
/* Every member of c, in the order of its collective calls.  Waits if call->waits; else, and if all agree, GW_OK. */
int check_court_call(struct gw_comm *c, struct check_call *call);
int check_court_post(struct gw_comm *c, int to, int tag, const void *bytes,
                     size_t n);                     /* a copy goes on the stream of checking; nobody waits for it */
bool check_court_has_both(const struct gw_comm *c); /* an intercommunicator of which both groups come together */
int check_court_sigs_max(const struct gw_comm *c);  /* so many a record may have; the same number on all members */
void check_take_in(void);                           /* progress, until there is nothing new three times in a row */
void check_court_end(void);                         /* MPI_Finalize: complains about calls that not all have made */

#endif
