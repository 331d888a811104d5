/* rma_private.h -- shared by the files of rma/.
 *
 * near: the target's memory is mapped in this process; here: the target is on this machine, so that its words (struct rma_words) are mapped.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_RMA_RMA_PRIVATE_H
#define GW_RMA_RMA_PRIVATE_H

#include "base/base.h"
#include "base/lock.h"
#include "node/node.h"
#include "p2p/p2p.h"
#include "rma/rma_fast.h"

/* A rank's part of the window, as this process knows it. */
struct rma_target {
    bool is_near;         /* mapped in this process, at `base` */
    bool has_cma;         /* not near: the kernel can copy (CMA) */
    _Atomic bool refuses; /* CMA has failed since: the target has forbidden access to its memory (reach.c) */
    uint64_t base;        /* address in this process if near, else in the target; 0 in dynamic windows */
    int64_t size;
    int64_t disp_unit;
    struct rma_mapping mapping;  /* our mapping of its memory from MPI_Alloc_mem */
    struct node_door *door;      /* NULL: the target is on another machine */
    _Atomic uint32_t left_alone; /* accesses left that do not use its mailbox, since it has not answered (mail.c) */
    _Atomic uint32_t timing[2];  /* duration of long accesses with the target's help and without it; 0: unknown (stream.c) */
    _Atomic uint32_t turn;       /* number of long accesses, for that */
    uint64_t key; /* wire_ops.expose() of its part; 0: the wire does not reach it.  Of this rank: the key that others got */
    struct deferred *batch; /* requests that wait to be sent to it; NULL: none (deferred.c) */
    _Atomic uint64_t sent,
        known; /* changes sent without an answer each; of them, those that the target has confirmed (deferred.c) */
};

/* ---- words that all ranks of the machine map (lock.c; struct rma_words) ---- */
struct rma_region {
    uint64_t base, bytes;
};
/* Is the rank on this machine? */
static inline bool is_here(const struct rma_win *w, int rank) { return w->targets[rank].door != NULL; }
void rma_busy_enter(struct rma_win *w, int target); /* not inline: the simulator stands between (test/sim/rank.c) */
void rma_busy_exit(struct rma_win *w, int target);
/* Locks of targets here and elsewhere; elsewhere they can fail.  A lock is given back after the operations under it are complete. */
int rma_lock_take(struct rma_win *w, int target, bool exclusive);
int rma_lock_give(struct rma_win *w, int target, bool exclusive);
int rma_lock_take_all(struct rma_win *w);
int rma_lock_give_all(struct rma_win *w);
/* One lock of a target that is here; LOCK_KIND_ALL: of all targets here. */
enum lock_kind { LOCK_KIND_SHARED, LOCK_KIND_EXCLUSIVE, LOCK_KIND_ALL };
bool rma_lock_here_try(struct rma_win *w, int target, enum lock_kind kind);
void rma_lock_here_take(struct rma_win *w, int target, enum lock_kind kind);
void rma_lock_here_give(struct rma_win *w, int target, enum lock_kind kind);
/* at = operand OP at, of packed elements of the predefined type t; pair types are packed without their holes. */
void rma_combine_packed(struct gw_op *op, struct gw_type *t, const char *operand, char *at, int64_t bytes);
/* Has rank `rank`, which is here, attached all bytes of [lo, hi)?  Its `busy` is held. */
bool rma_region_has_held(struct rma_win *w, int rank, uint64_t lo, uint64_t hi);

/* ---- where the ranks are (here.c) ---- */
bool rma_is_one_machine(struct gw_comm *c);
int rma_here_open(struct rma_win *w); /* collective: `here`, `leaders`, and the targets' doors */
void rma_here_close(struct rma_win *w);

/* ---- operations with a request (started.c) ---- */
struct rma_started {
    struct gw_req req;
    _Atomic uint32_t parts; /* parts under way, and 1 for the call until it returns */
    char *packed;           /* a packed copy of the data, owned; NULL: none */
    int64_t bytes;          /* of `packed` */
    void *buf;              /* where `packed` is unpacked to at the end; used if type is not NULL */
    int64_t count;
    struct gw_type *type; /* held */
    struct gw_done say;   /* writes the error text */
    uint64_t refused_at;  /* for GW_ERMA_RANGE: the address, and the target */
    int refused_by;
};
struct rma_started *rma_started_new(struct rma_win *w); /* NULL: no memory (gw_fail set) */
/* keep: takes ownership of `packed`, freed at the end; unpack: it is unpacked before.  Only within the call. */
void rma_started_keep(struct rma_started *s, char *packed, int64_t bytes);
void rma_started_unpack(struct rma_started *s, void *buf, int64_t count, struct gw_type *t);
static inline void rma_started_part(struct rma_started *s)
{
    if (s) atomic_fetch_add_explicit(&s->parts, 1, memory_order_relaxed);
}
void rma_started_over(struct rma_started *s, int err);                       /* a part is complete; lane's lock held */
int rma_started_end(struct rma_started *s, int rc, struct gw_req **req_out); /* ends the call; rc: its result, returned */

/* Contiguous bytes at this end.  They must stay until `started` is complete or, if that is NULL, until rma_deferred_settle(). */
struct rma_packed {
    char *at;
    struct rma_started *started;
};
static inline struct rma_packed rma_packed_at(struct rma_packed p, int64_t offset)
{
    return (struct rma_packed){p.at ? p.at + offset : NULL, p.started};
}

/* ---- reaching memory (reach.c) ---- */
int rma_reach_open(struct rma_win *w);  /* collective: which ranks reach which; starts serving messages if some do not */
int rma_reach_close(struct rma_win *w); /* collective; afterwards no rank accesses the window */
/* Moves `bytes` between `packed`, here, and the memory of (count, t) at address `at` of a target that is not near. */
enum reach_how { REACH_GET, REACH_PUT, REACH_HELD }; /* REACH_HELD: or'ed; the caller has the target's `busy` */
int rma_reach_move(struct rma_win *w, int target, unsigned how, uint64_t at, int64_t count, struct gw_type *t, int64_t bytes,
                   struct rma_packed packed);

/* ---- messages (ask.c, deferred.c: the origin; serve.c: the target) ---- */
enum {
    ASK_RUNS = 512,
    ASK_PIECE = 32768,
    ASK_BATCH = 16384,     /* of short requests that travel together, and of the data that they get */
    ASK_NUMBERS = 1 << 17, /* tags are below 2^19 (ofi_tag_2) */
    ASK_SWAP_MAX = 32
};
enum ask_what { ASK_READ, ASK_WRITE, ASK_UPDATE, ASK_SWAP, ASK_FLUSH, ASK_LOCK, ASK_UNLOCK };
enum ask_flag {
    ASK_LONG = 1,     /* with LATE: READ, WRITE of one run; the data are a message of their own */
    ASK_OLD = 2,      /* UPDATE: the old value is wanted */
    ASK_TRY = 4,      /* LOCK: the answer is GW_AGAIN rather than late */
    ASK_DEFERRED = 8, /* READ: the answer is the data alone; WRITE, UPDATE: there is none, the target counts */
    ASK_MORE = 16,    /* another request follows in the same message, from the next multiple of 16 */
    ASK_GATHER = 32,  /* with LATE: READs of one message that get one answer, under the number that they all have */
};
struct ask_run {
    uint64_t at, bytes;
};
struct ask_head { /* then runs, then data: of WRITE, of UPDATE, of SWAP the old and the new value */
    uint8_t what, flags, kind /* enum lock_kind */, basic /* UPDATE: enum gw_elem */;
    uint32_t op;
    int32_t origin, number /* of the answer */, n_runs, unused;
    int64_t bytes; /* of all runs; FLUSH, UNLOCK: not before so many of the origin's changes are counted */
};
struct ask_reply { /* then data of READ, the old value of UPDATE and SWAP */
    int64_t rc;
    uint64_t at; /* rc < 0: where */
};
_Static_assert(sizeof(struct ask_head) == 32 && offsetof(struct ask_head, bytes) == 24 && sizeof(struct ask_run) == 16,
               "wire format");
_Static_assert(sizeof(struct ask_reply) == 16 && offsetof(struct ask_reply, at) == 8, "wire format");
_Static_assert(sizeof(struct ask_head) % 16 == 0 && sizeof(struct ask_reply) % 16 == 0, "data behind them are aligned");
/* Of a message, with so many bytes behind the runs. */
static inline size_t ask_bytes(const struct ask_head *h, int64_t bytes)
{
    return sizeof *h + (size_t)h->n_runs * sizeof(struct ask_run) + (size_t)bytes;
}
void rma_ask_fill(char *message, const struct ask_head *h, const struct ask_run *runs, const void *data, int64_t bytes);
/* `wanted`: bytes of an answer that has all. */
int rma_ask_answer_check(const char *answer, int64_t bytes, int64_t wanted, struct ask_reply *how_out);
int rma_ask_number(struct rma_win *w); /* a number for the tag of an answer, or of data */
int rma_ask_move(struct rma_win *w, int target, bool is_put, uint64_t at, int64_t count, struct gw_type *t, int64_t bytes,
                 struct rma_packed packed);
/* Accumulates a packed operand to (count, t) at `at`; old.at (may be NULL) gets the old value, packed. */
int rma_ask_update(struct rma_win *w, int target, struct gw_op *op, uint64_t at, int64_t count, struct gw_type *t,
                   const char *packed, struct rma_packed old);
int rma_ask_swap(struct rma_win *w, int target, uint64_t at, const void *new, const void *compare, void *old, int64_t bytes);
int rma_ask_lock(struct rma_win *w, int target, enum lock_kind kind);
int rma_ask_unlock(struct rma_win *w, int target, enum lock_kind kind); /* after all that was done there */
int rma_ask_all_take(struct rma_win *w);                                /* on all nodes */
int rma_ask_all_give(struct rma_win *w);
int rma_serve_open(
    struct rma_win *w); /* collective: this rank serves requests; until rma_serve_close(), after the last request of any rank */
int rma_serve_close(struct rma_win *w);

/* Validates a message of requests before they are served (request.c).  False: invalid, and counted. */
bool rma_requests_are_right(const struct rma_win *w, const char *message, int64_t bytes, int source);
bool rma_request_refuse(const struct ask_head *h, const char *field, int64_t value) GW_COLD; /* false */
int64_t rma_request_data(const struct ask_head *h);                                          /* bytes behind its runs */

/* ---- operations that go on after their call (deferred.c) ----
 * Not for dynamic windows, except rma_deferred_ask().  Data that is not passed as struct rma_packed is copied.  Requests reach the target in the
 * order of the calls; rma_deferred_say() sends one at once, with those before it, also of dynamic windows. */
int rma_deferred_change(struct rma_win *w, int target, struct ask_head h, const struct ask_run *runs, const void *data,
                        int64_t bytes);
int rma_deferred_put_long(struct rma_win *w, int target, struct ask_run run, struct rma_packed from);
int rma_deferred_get(struct rma_win *w, int target, const struct ask_run *runs, int n, int64_t bytes, struct rma_packed into);
struct rma_given { /* copied in the call */
    const void *at;
    int64_t bytes;
};
/* A request with an answer, for an operation with an MPI request.  bytes: of data in the answer; into.at NULL: none is wanted. */
int rma_deferred_ask(struct rma_win *w, int target, struct ask_head h, const struct ask_run *runs, struct rma_given data,
                     struct rma_packed into, int64_t bytes);
int rma_deferred_by_wire(struct rma_win *w, int target, bool is_put, uint64_t at, int64_t bytes, struct rma_packed packed);
int rma_deferred_say(struct rma_win *w, int target, const struct ask_head *h, const struct ask_run *runs, const void *data,
                     int64_t bytes);
/* True: no operation is under way that accesses the target's memory without its taking part.  Changes may still wait to be sent. */
bool rma_deferred_may_unlock(struct rma_win *w, int target);
int rma_deferred_settle(
    struct rma_win *w); /* waits until all is complete at this end; returns the first error since the last call */
int rma_deferred_flush(struct rma_win *w, int target); /* the same, complete also at the target */
int rma_deferred_flush_all(struct rma_win *w);
int rma_deferred_flush_local(struct rma_win *w); /* the buffers of all operations may be used again */
int rma_deferred_open(struct rma_win *w);
void rma_deferred_close(struct rma_win *w); /* after a flush */

/* ---- long accesses that the target helps with (stream.c): pieces through memory that both map ---- */
struct stream_end {
    struct rma_stream *stream; /* NULL: none */
    char *at;                  /* where the bytes are, or go, in this process */
    int64_t bytes;
    uint32_t n; /* pieces done here */
    bool gives; /* this end copies into the stream */
};
bool rma_stream_step(struct stream_end *e); /* copies a piece; false: there is none to take, or no room */
bool rma_stream_is_over(const struct stream_end *e);
/* As rma_reach_move(), for contiguous bytes at the target, which helps while it is in MPI.  is_held: the caller holds its `busy`. */
int rma_stream_move(struct rma_win *w, int target, bool is_held, bool is_put, uint64_t at, int64_t bytes, struct rma_packed packed);

/* ---- small accesses that the target serves (mail.c) ---- */
enum { MAIL_BYTES = 2048, MAIL_SHORT = 16 };
enum mail_what { MAIL_READ, MAIL_WRITE, MAIL_UPDATE, MAIL_SWAP, MAIL_GIVE, MAIL_TAKE };
struct rma_mail { /* behind the words, one per target */
    /* Written by origins, under the target's `busy`; the target looks at this line all the time. */
    _Atomic uint64_t asked, withdrawn; /* numbers of requests */
    _Atomic uint32_t wake;
    uint32_t what, bytes;
    uint32_t op, type;  /* UPDATE: ids of predefined ones, of a dense type */
    uint32_t wants_old; /* UPDATE */
    uint64_t at;
    char operand[MAIL_SHORT]; /* data of at most so many bytes; GIVE, TAKE: where the stream is, in the node's heap */
    /* Written by the target. */
    _Atomic uint64_t taken GW_ALIGNED(GW_CACHELINE);
    _Atomic uint64_t answered GW_ALIGNED(GW_CACHELINE); /* the line that the origin looks at */
    uint32_t is_declined, pieces;                       /* GIVE, TAKE: so many are done */
    char old[MAIL_SHORT];                               /* what was there, or was read, of at most so many bytes */
    char data[MAIL_BYTES] GW_ALIGNED(GW_CACHELINE);     /* longer ones, of both; SWAP: the new value */
} GW_ALIGNED(GW_CACHELINE);
_Static_assert(offsetof(struct rma_mail, answered) == 2 * GW_CACHELINE, "the line that the origin looks at is no other's");
_Static_assert(offsetof(struct rma_mail, taken) == GW_CACHELINE, "a short request is one line");
static inline char *mail_operand(struct rma_mail *m, int64_t bytes) { return bytes <= MAIL_SHORT ? m->operand : m->data; }
static inline char *mail_old(struct rma_mail *m, int64_t bytes) { return bytes <= MAIL_SHORT ? m->old : m->data; }
uint64_t rma_mail_room(const struct rma_win *w);
int rma_mail_open(struct rma_win *w);
void rma_mail_close(struct rma_win *w);  /* no rank uses the mailboxes any more */
void rma_mail_relax(struct rma_mail *m); /* between two polls of it (lock.c: for the simulator) */
/* Does the target poll its mailbox, as far as is known?  bytes: of the whole access, which uses the mailbox for at most MAIL_BYTES, or a stream.
 * Each false counts, by its bytes, towards the next try. */
bool rma_mail_may_ask(struct rma_win *w, int target, int64_t bytes);
/* With `busy` held.  begin: the mailbox with data in it; the caller fills in other members.  ask: true, the target has done it; false, nothing
 * was done. */
struct rma_mail *rma_mail_begin(struct rma_win *w, int target, const void *data, int64_t bytes);
bool rma_mail_ask(struct rma_win *w, int target, struct rma_mail *m, enum mail_what what, uint64_t at, int64_t bytes,
                  struct stream_end *mine); /* of GIVE and TAKE */
/* Moves contiguous bytes of any length when there is no other way: the target does it in its next MPI call.  is_held: the caller holds `busy`;
 * ranks that wait for `busy` serve their mailboxes, so this cannot deadlock. */
void rma_mail_insist(struct rma_win *w, int target, bool is_held, bool is_put, uint64_t at, int64_t bytes, char *packed);
/* begin and ask for contiguous bytes, at most MAIL_BYTES; `busy` is not held. */
bool rma_mail_move(struct rma_win *w, int target, bool is_put, uint64_t at, int64_t bytes, void *packed);

/* ---- memory that every rank of the window on this machine maps (memory.c) ----
 * Collective over the window: `total` bytes of zeros from a multiple of m->align, if that is not 0 and the same on all ranks here;
 * this rank's part, which it touches first, is [from, from + own). */
int rma_memory_make(struct rma_win *w, struct rma_mapping *m, uint64_t total, uint64_t from, uint64_t own, char **base_out);
void rma_memory_unmap(const struct rma_mapping *m);           /* what is mapped, if anything is */
void rma_memory_noted(const struct rma_mapping *m, int sign); /* counts it as mapped (1), or no more (-1) */
void rma_memory_drop(struct rma_win *w, struct rma_mapping *m);
/* Files in memory: the first page holds a number that the others look for, the rest is for use. */
enum { MEMORY_PAGE = 4096 };
struct memory_file {
    uint64_t nonce;
    int32_t pid, fd;
};
int rma_memory_file_make(uint64_t bytes, struct memory_file *o);                    /* with that page */
int rma_memory_file_open(const struct memory_file *o, uint64_t bytes, int *fd_out); /* that cannot shrink below `bytes` */
/* All of its `bytes`, so that what follows the first page begins at a multiple of m->align; the kernel sets [from, from + own) of
 * that aside. */
int rma_memory_file_map(struct rma_mapping *m, int fd, uint64_t bytes, uint64_t from, uint64_t own);

/* ---- memory of MPI_Alloc_mem (alloc.c) ---- */
struct rma_alloc_offer {
    struct memory_file file; /* fd -1: it is not in a file */
    uint64_t offset;
};
void rma_alloc_offer(const void *base, int64_t size, struct rma_alloc_offer *o);
char *rma_alloc_map(const struct rma_alloc_offer *o, int64_t size, struct rma_mapping *m); /* NULL: it cannot be mapped here */

/* ---- epochs (epoch.c) ---- */
enum access { NONE, FENCE, START, LOCK, ALL };
struct rma_epoch {
    enum access access;
    _Atomic bool accessed; /* since the last fence */
    uint8_t *held;         /* [size] LOCK: enum held; START: 1 where it is a target */
    int n_held;
    bool all_unchecked; /* ALL: nothing is held */
    bool is_posted;
    int n_origins;
    struct gw_req **origins; /* posted: receives of the origins' TAG_COMPLETE */
};
/* rma_state.c: the invariant that does not hold, in words; NULL: all do.  Between two calls of a program without threads. */
const char *rma_epoch_broken(const struct rma_win *w);
static inline void rma_epoch_assert_state(const struct rma_win *w)
{
    if (GW_ASSERT_STATES && !gw_threads) gw_assert_state(rma_epoch_broken(w));
}
int rma_epoch_open(struct rma_win *w);
void rma_epoch_close(struct rma_win *w);
int rma_epoch_none(struct rma_win *w);                                     /* GW_OK: none is open but perhaps a fence's */
int rma_epoch_allows(struct rma_win *w, int target, bool must_be_passive); /* GW_OK: this rank may access the target now */
bool rma_fast_is_wanted(void);                                             /* rma_fast.h (lock.c: for the simulator) */

void rma_hints_default(struct rma_win *w);
bool rma_hint_is_true(struct rma_win *w, const char *key);
/* Collective: the first error of any rank, the same on all.  rc: this rank's. */
int rma_agree(struct gw_comm *c, int rc);

enum rma_tag {
    TAG_POST = 1,
    TAG_COMPLETE,
    TAG_REQUEST,
    TAG_REPLY,                         /* + number */
    TAG_DATA = TAG_REPLY + ASK_NUMBERS /* of a long put, + number */
};
_Static_assert(TAG_DATA + ASK_NUMBERS <= 1 << 19, "a tag of ofi_tag_2");

#endif
