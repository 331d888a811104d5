/* verdict.h -- deadlock analysis: why a job hangs, from the states of its ranks to a few lines of text for the user.
 *
 * A pure function: input is a copy of the ranks' slots (struct boot_where), output is text.  It reads no clock and looks at no process.
 *
 * A waiting rank is *stuck* if what it waits for can only come from ranks that are stuck or have left.  The stuck ranks are those that remain
 * after removing, repeatedly, ranks that run, and ranks all of whose waits (one of them, in MPI_Waitany) are for removed ranks.  What is not
 * known counts as removable: ranks of other nodes, requests that the program completes itself, data in transfer.  So no hang is reported while
 * some rank computes that could still end it.  A rank that polls (MPI_Test) counts as running; the text says what holds if it only polls.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_VERDICT_VERDICT_H
#define GW_VERDICT_VERDICT_H

#include "base/base.h"
#include "boot/boot.h"
#include "boot/segment.h"
#include "boot/where.h"

struct verdict_rank {
    int world;            /* rank in the job */
    bool is_gone;         /* the process has ended */
    char os;              /* process state as in /proc/PID/stat: R, S, D, T; 0: unknown */
    bool is_threaded;     /* several threads may be in MPI: `where` describes one of them */
    bool uses_cpu;        /* is_threaded: it has used CPU time recently */
    uint32_t phase, call; /* enum boot_phase; the call entered last */
    int n_colls;
    uint64_t colls[BOOT_COLLS][3]; /* as in struct boot_coll, in any order */
    struct boot_where where;
};
struct verdict_job {
    const struct verdict_rank *ranks; /* those that are known, ascending */
    int n, size;                      /* of them; of the job */
    uint64_t now_ns;
    const char *(*call_name)(uint32_t call); /* boot_call_name(); NULL for a number that no call has */
};

/* Are there stuck ranks?  Ranks with an event in their wait less than quiet_ns ago count as running. */
bool verdict_is_hang(const struct verdict_job *j, uint64_t quiet_ns);
/* The message if a stuck rank waits in a collective for a rank that has called another one; the caller frees it.  NULL: no such rank. */
char *verdict_mismatch(const struct verdict_job *j, uint64_t quiet_ns);
/* The state of all ranks and the reason of the hang, in a few lines however many ranks; the caller frees it. */
char *verdict_text(const struct verdict_job *j);

/* Of the ranks that wait for words of their own memory: which, with which value, until when, and who could write them; NULL: none does.  The caller
 * frees it. */
char *verdict_words(const struct verdict_job *j);

/* ---- between verdict.c, verdict_coll.c and verdict_text.c ---- */
struct text {
    char *at;
    size_t len, cap;
};
void verdict_text_add(struct text *t, const char *fmt, ...) GW_PRINTF(2, 3);
/* "rank 3", "ranks 0-61, 63": of index[n] into j->ranks, ascending. */
void verdict_text_ranks(struct text *t, const struct verdict_job *j, const int *index, int n);
void verdict_text_rank(struct text *t, const struct verdict_job *j, int i);
void verdict_text_comm(struct text *t, const struct verdict_job *j, uint32_t ctx); /* its name */
void verdict_text_pending(struct text *t, const struct verdict_job *j,
                          const struct boot_pending *p);                       /* "from 0 tag 5 on MPI_COMM_WORLD" */
void verdict_text_place(struct text *t, const struct verdict_job *j, int i);   /* "in MPI_Recv from 0 tag 5 on MPI_COMM_WORLD" */
void verdict_text_rank_is(struct text *t, const struct verdict_job *j, int i); /* "rank 3 is " and its place */
void verdict_text_places(struct text *t, const struct verdict_job *j);         /* a line for all that are at the same place */

enum verdict_rank_is { RANK_BUSY, RANK_BLOCKED, RANK_POLLING, RANK_STOPPED, RANK_NEW, RANK_LEFT, RANK_GONE };
enum verdict_rank_is verdict_rank_is(const struct verdict_rank *r);
static inline bool rank_waits(const struct verdict_rank *r)
{
    return verdict_rank_is(r) == RANK_BLOCKED || verdict_rank_is(r) == RANK_POLLING;
}
const char *verdict_call_name(const struct verdict_job *j, uint32_t call); /* without "_c"; "" if unknown */
bool verdict_call_is_rooted(const char *name);
static inline uint32_t coll_ctx(const uint64_t word[3]) { return (uint32_t)(word[0] >> 34); }
static inline uint32_t coll_number(const uint64_t word[3]) { return (uint32_t)(word[0] >> 12) & 0x3fffff; }
static inline uint32_t coll_call(const uint64_t word[3]) { return (uint32_t)word[0] & 0xfff; }
static inline int coll_root(const uint64_t word[3]) { return (int)(uint32_t)word[1]; }
static inline int listed(const struct verdict_rank *r)
{
    return r->where.n_pending < BOOT_PENDING ? r->where.n_pending : BOOT_PENDING;
}

#endif
