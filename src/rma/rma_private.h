/* rma_private.h -- shared by the files of rma/.
 *
 * near: the target's memory is mapped in this process; here: the target is on this machine, so that its words (struct rma_words)
 * are mapped.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_RMA_RMA_PRIVATE_H
#define GW_RMA_RMA_PRIVATE_H

#include "base/base.h"
#include "base/lock.h"
#include "base/os.h"
#include "coll/coll.h"
#include "node/node.h"
#include "p2p/p2p.h"
#include "rma/rma_fast.h"
#include "share/share.h"

/* What this process knows of a rank's part of the window. */
struct rma_target {
    bool is_near;         /* mapped in this process, at `base` */
    bool has_cma;         /* not near: the kernel can copy (CMA) */
    _Atomic bool refuses; /* CMA worked before but fails now: the target has forbidden access to its memory (reach.c) */
    uint64_t base;        /* address in this process if near, else in the target; 0 in dynamic windows */
    int64_t size;
    int64_t disp_unit;
    struct rma_mapping mapping;  /* our mapping of its memory from MPI_Alloc_mem */
    struct node_door *door;      /* NULL: the target is on another machine */
    _Atomic uint32_t left_alone; /* how many more accesses do not use its mailbox, after it did not answer (mail.c) */
    _Atomic uint32_t timing[2];  /* duration of long accesses with the target's help and without it; 0: unknown (stream.c) */
    _Atomic uint32_t turn;       /* counts long accesses, to choose when to time them */
    uint64_t
        key; /* of its part, from wire_ops.copy.expose(); 0: the wire does not reach it.  Of this rank: the key given to others */
    _Atomic uint32_t n_atomics; /* operations of this rank by the network there that are under way (atomic.c) */
    struct deferred *batch;     /* requests that wait to be sent to it; NULL: none (deferred.c) */
    _Atomic uint64_t sent,
        known; /* requests without an answer: how many were sent, and how many of them the target has confirmed (deferred.c) */
    _Atomic uint64_t
        loose; /* `sent` with the last of them that others may overtake: its data are a message of their own, or it waits */
    _Atomic uint64_t after; /* what is sent from now on is to be done after so many (counter.c) */
};

/* ---- words that all ranks of the machine map (lock.c; struct rma_words) ---- */
struct rma_region {
    uint64_t base, bytes;
};
/* Is the rank on this machine? */
static inline bool is_here(const struct rma_win *w, int rank) { return w->targets[rank].door != NULL; }
void rma_busy_enter(struct rma_win *w, int target); /* not inline: the simulator stands between (test/sim/rank.c) */
void rma_busy_exit(struct rma_win *w, int target);
/* Window locks of any target; on another machine they can fail.  Giving a lock back first completes the operations under it. */
int rma_lock_take(struct rma_win *w, int target, bool exclusive);
int rma_lock_give(struct rma_win *w, int target, bool exclusive);
int rma_lock_take_all(struct rma_win *w);
int rma_lock_give_all(struct rma_win *w);
/* One lock of a target on this machine; LOCK_KIND_ALL: of all targets on this machine. */
enum lock_kind { LOCK_KIND_SHARED, LOCK_KIND_EXCLUSIVE, LOCK_KIND_ALL };
bool rma_lock_here_try(struct rma_win *w, int target, enum lock_kind kind, int by); /* by: the rank that is to have it */
void rma_lock_here_take(struct rma_win *w, int target, enum lock_kind kind);
void rma_lock_here_give(struct rma_win *w, int target, enum lock_kind kind);
/* at = operand OP at, for packed elements of the predefined type t; pair types are packed without their padding. */
void rma_combine_packed(struct gw_op *op, struct gw_type *t, const char *operand, char *at, int64_t bytes);
/* Has rank `rank`, which is on this machine, attached all bytes of [lo, hi)?  Its `busy` is held. */
bool rma_region_has_held(struct rma_win *w, int rank, uint64_t lo, uint64_t hi);

/* ---- where the ranks are (here.c) ---- */
bool rma_is_one_machine(struct gw_comm *c);
int rma_here_open(struct rma_win *w); /* collective: `here`, `leaders`, and the targets' doors */
void rma_here_close(struct rma_win *w);

/* ---- operations with a request (started.c) ---- */
struct rma_started {
    struct gw_req req;
    struct rma_counter parts; /* 1 more until the call returns */
    char *packed;             /* a packed copy of the data, owned; NULL: none */
    int64_t bytes;            /* of `packed` */
    void *buf;                /* where `packed` is unpacked to at the end; used if type is not NULL */
    int64_t count;
    struct gw_type *type; /* held */
    struct gw_done say;   /* writes the error text when the request is retired */
    uint64_t refused_at;  /* for GW_ERMA_RANGE: the address, and the target */
    int refused_by;
};
struct rma_started *rma_started_new(struct rma_win *w); /* NULL: no memory (gw_fail set) */
/* keep: takes ownership of `packed`, which is freed when the request completes; unpack: it is unpacked to `buf` before that.  Both
 * only before rma_started_end(). */
void rma_started_keep(struct rma_started *s, char *packed, int64_t bytes);
void rma_started_unpack(struct rma_started *s, void *buf, int64_t count, struct gw_type *t);
void rma_started_over(struct rma_started *s);                                /* all parts are; lane's lock held */
int rma_started_end(struct rma_started *s, int rc, struct gw_req **req_out); /* ends the call; rc: its result, returned */

/* ---- counters (counter.c) ---- */
static inline void rma_counter_begin(struct rma_counter *c)
{
    if (c) atomic_fetch_add_explicit(&c->n, 1, memory_order_relaxed);
}
void rma_counter_end(struct rma_counter *c, int err);      /* the lane's lock is held, if c is a request's */
void rma_counter_touch(struct rma_counter *c, int target); /* after the change was sent */

/* Contiguous bytes of this process.  They must stay valid until `counter` has counted down or, if that is NULL, until
 * rma_deferred_settle(). */
struct rma_packed {
    char *at;
    struct rma_counter *counter;
};
static inline struct rma_packed rma_packed_at(struct rma_packed p, int64_t offset)
{
    return (struct rma_packed){p.at ? p.at + offset : NULL, p.counter};
}

/* ---- reaching memory (reach.c) ---- */
void rma_service_look(struct rma_win *w); /* holds the service, if the window needs it and does not yet */
int rma_reach_open(struct rma_win *w);    /* collective: which ranks reach which; starts serving messages if some do not */
int rma_reach_close(struct rma_win *w);   /* collective; afterwards no rank accesses the window */
/* Moves `bytes` between `packed`, in this process, and (count, t) at address `at` of a target that is not near. */
enum reach_how { REACH_GET, REACH_PUT, REACH_HELD }; /* REACH_HELD: or'ed; the caller has the target's `busy` */
int rma_reach_move(struct rma_win *w, int target, unsigned how, uint64_t at, int64_t count, struct gw_type *t, int64_t bytes,
                   struct rma_packed packed);

/* ---- messages (ask.c, deferred.c: the origin; serve.c: the target) ---- */
enum {
    ASK_RUNS = 512,
    ASK_PIECE = 32768,
    ASK_BATCH = 16384,     /* bytes: of a batch of short requests, and of the data of its gets */
    ASK_NUMBERS = 1 << 17, /* tags are below 2^19 (ofi_tag_2) */
    ASK_SWAP_MAX = 32
};
enum ask_what { ASK_READ, ASK_WRITE, ASK_UPDATE, ASK_SWAP, ASK_FLUSH, ASK_LOCK, ASK_UNLOCK };
enum ask_flag {
    ASK_LONG = 1,     /* with DEFERRED: READ, WRITE of one run; the data are a message of their own */
    ASK_OLD = 2,      /* UPDATE: the old value is wanted */
    ASK_TRY = 4,      /* LOCK: answer GW_AGAIN at once instead of waiting for the lock */
    ASK_DEFERRED = 8, /* READ: the answer is the data only; WRITE, UPDATE: no answer, the target counts the request */
    ASK_MORE = 16,    /* another request follows in the same message, from the next multiple of 16 */
    ASK_GATHER = 32,  /* with DEFERRED: all such READs of a message have the same number, and get one answer */
    ASK_AFTER = 64,   /* WRITE, UPDATE, SWAP: not before `after` of the origin's requests (modulo 2^32) are done */
};
struct ask_run {
    uint64_t at, bytes;
};
struct ask_head { /* followed by runs and data: of WRITE, UPDATE; of SWAP the value to compare with and the new one */
    uint8_t what, flags, kind /* enum lock_kind */, basic /* UPDATE: enum gw_elem */;
    uint32_t op;
    int32_t origin, number /* of the answer */, n_runs;
    uint32_t after;
    int64_t bytes; /* of all runs; FLUSH, UNLOCK: how many of the origin's requests must be done before the answer */
};
struct ask_reply { /* followed by the data of READ, or the old value of UPDATE and SWAP */
    int64_t rc;
    uint64_t at; /* rc < 0: the address that is not attached */
};
_Static_assert(sizeof(struct ask_head) == 32 && offsetof(struct ask_head, bytes) == 24 && sizeof(struct ask_run) == 16,
               "wire format");
_Static_assert(sizeof(struct ask_reply) == 16 && offsetof(struct ask_reply, at) == 8, "wire format");
_Static_assert(sizeof(struct ask_head) % 16 == 0 && sizeof(struct ask_reply) % 16 == 0, "data behind them are aligned");
/* The length of a request with `bytes` bytes of data behind its runs. */
static inline size_t ask_bytes(const struct ask_head *h, int64_t bytes)
{
    return sizeof *h + (size_t)h->n_runs * sizeof(struct ask_run) + (size_t)bytes;
}
void rma_ask_fill(char *message, const struct ask_head *h, const struct ask_run *runs, const void *data, int64_t bytes);
/* Validates an answer.  wanted: the length of one without an error, in bytes. */
int rma_ask_answer_check(const char *answer, int64_t bytes, int64_t wanted, struct ask_reply *how_out);
int rma_ask_number(struct rma_win *w); /* a number for the tag of an answer, or of data */
int rma_ask_move(struct rma_win *w, int target, bool is_put, uint64_t at, int64_t count, struct gw_type *t, int64_t bytes,
                 struct rma_packed packed);
/* Accumulates a packed operand to (count, t) at `at`; old.at (may be NULL) gets the old value, packed. */
int rma_ask_update(struct rma_win *w, int target, struct gw_op *op, uint64_t at, int64_t count, struct gw_type *t,
                   const char *packed, struct rma_packed old);
int rma_ask_swap(struct rma_win *w, int target, uint64_t at, const void *new, const void *compare, struct rma_packed old,
                 int64_t bytes);
int rma_ask_lock(struct rma_win *w, int target, enum lock_kind kind);
int rma_ask_unlock(struct rma_win *w, int target, enum lock_kind kind); /* after all operations on that target */
int rma_ask_all_take(struct rma_win *w);                                /* on all nodes */
int rma_ask_all_give(struct rma_win *w);
/* collective: this rank serves requests; until rma_serve_close(), after the last request of any rank */
int rma_serve_open(struct rma_win *w);
int rma_serve_close(struct rma_win *w);

/* Validates a message of requests before they are served (request.c).  False: invalid, and counted. */
bool rma_requests_are_right(const struct rma_win *w, const char *message, int64_t bytes, int source);
bool rma_request_refuse(const struct ask_head *h, const char *field, int64_t value) GW_COLD; /* false */
int64_t rma_request_data(const struct ask_head *h);                                          /* bytes behind its runs */

/* ---- operations that go on after their call (deferred.c) ----
 * Not for dynamic windows, except rma_deferred_ask().  Data that is not passed as struct rma_packed is copied.  Requests reach the
 * target in the order of the calls; rma_deferred_say() sends one at once, with those before it, also of dynamic windows. */
int rma_deferred_change(struct rma_win *w, int target, struct ask_head h, const struct ask_run *runs, const void *data,
                        int64_t bytes);
int rma_deferred_put_long(struct rma_win *w, int target, struct ask_run run, struct rma_packed from);
int rma_deferred_get(struct rma_win *w, int target, const struct ask_run *runs, int n, int64_t bytes, struct rma_packed into);
struct rma_given { /* data that the call copies */
    const void *at;
    int64_t bytes;
};
/* Sends a request with an answer, for an operation with an MPI request.  bytes: of data in the answer; into.at
 * NULL: they are not wanted. */
int rma_deferred_ask(struct rma_win *w, int target, struct ask_head h, const struct ask_run *runs, struct rma_given data,
                     struct rma_packed into, int64_t bytes);
int rma_deferred_by_wire(struct rma_win *w, int target, bool is_put, uint64_t at, int64_t bytes, struct rma_packed packed);
int rma_deferred_atomic(struct rma_win *w, int target, const struct wire_atomic *a, struct rma_counter *counter);
int rma_deferred_say(struct rma_win *w, int target, const struct ask_head *h, const struct ask_run *runs, const void *data,
                     int64_t bytes);
/* True: no operation under way reads or writes the target's memory by the wire, and no gets are pending.  Puts and accumulates may
 * still wait to be sent. */
bool rma_deferred_may_unlock(struct rma_win *w, int target);
/* waits until all is complete at this end; returns the first error since the last call */
int rma_deferred_settle(struct rma_win *w);
int rma_deferred_flush(struct rma_win *w, int target); /* the same, complete also at the target */
/* Asks the target to answer, which `counter` (may be NULL) counts, when it has done all requests that were sent to it, unless it has confirmed
 * them already. */
int rma_deferred_ask_flush(struct rma_win *w, int target, struct rma_counter *counter);
/* Requests from now on are done after those before.  True: the target has confirmed all of them. */
bool rma_deferred_fence(struct rma_win *w, int target);
int rma_deferred_flush_all(struct rma_win *w);
int rma_deferred_flush_local(struct rma_win *w); /* the buffers of all operations may be used again */
int rma_deferred_open(struct rma_win *w);
void rma_deferred_close(struct rma_win *w); /* after a flush */

/* ---- operations that the network does at the target (atomic.c) ----
 * A numeric type of 4 or 8 bytes is the network's in a window if it does all usual operations on it: which it is depends on the type, the
 * operation and the alignment alone, so that all accesses to an item go one way. */
int rma_atomics_open(struct rma_win *w); /* collective, with the keys of all parts: w->atomics, NULL where the network does none */
void rma_atomics_close(struct rma_win *w); /* after a flush */
struct rma_atomics {
    uint32_t most[GW_ELEM_COUNT][WIRE_ATOMIC_OPS]; /* elements of one operation; 0: the ranks do it */
    struct wire_ep *self;                          /* of the network, to this rank itself */
};
enum { RMA_CSWAP = 0 }; /* in place of the id of an operation */
/* Before any accumulate in a window with atomics: is this one the network's?  What this rank has started at the target the other way is
 * complete when it returns. */
int rma_atomic_turn(struct rma_win *w, int target, uint32_t op, uint64_t at, int64_t count, struct gw_type *t,
                    bool *is_by_wire_out);
/* As rma_ask_update() and rma_ask_swap(), but complete with a flush. */
int rma_atomic_update(struct rma_win *w, int target, struct gw_op *op, uint64_t at, int64_t count, struct gw_type *t,
                      const char *packed, struct rma_packed old);
int rma_atomic_swap(struct rma_win *w, int target, uint64_t at, const void *new, const void *compare, void *old, struct gw_type *t);

/* ---- long accesses that the target helps with (stream.c): pieces through memory that both map ---- */
struct stream_end {
    struct rma_stream *stream; /* NULL: none */
    char *at;                  /* the source or destination in this process */
    int64_t bytes;
    uint32_t n; /* how many pieces this end has copied */
    bool gives; /* this end copies into the stream, the other out of it */
};
bool rma_stream_step(struct stream_end *e); /* copies a piece; false: there is none to take, or no room */
bool rma_stream_is_over(const struct stream_end *e);
/* As rma_reach_move(), for contiguous bytes at the target, which helps while it is in MPI.  is_held: the caller holds
 * its `busy`. */
int rma_stream_move(struct rma_win *w, int target, bool is_held, bool is_put, uint64_t at, int64_t bytes, struct rma_packed packed);

/* ---- small accesses that the target serves (mail.c) ---- */
enum { MAIL_BYTES = 2048, MAIL_SHORT = 16 };
enum mail_what { MAIL_READ, MAIL_WRITE, MAIL_UPDATE, MAIL_SWAP, MAIL_GIVE, MAIL_TAKE };
struct rma_mail { /* one per target, behind struct rma_words */
    /* Written by origins, under the target's `busy`; the target polls this cache line. */
    _Atomic uint64_t asked, withdrawn; /* numbers of the last request, and of the last one withdrawn */
    _Atomic uint32_t wake;
    uint32_t what, bytes;
    uint32_t op, type;  /* UPDATE: ids of the predefined operator and of the predefined, dense type */
    uint32_t wants_old; /* UPDATE */
    uint64_t at;
    char operand[MAIL_SHORT]; /* data of at most MAIL_SHORT bytes; GIVE, TAKE: offset of struct rma_stream in the heap */
    /* Written by the target. */
    _Atomic uint64_t taken GW_ALIGNED(GW_CACHELINE);
    _Atomic uint64_t answered GW_ALIGNED(GW_CACHELINE); /* the line that the origin looks at */
    uint32_t is_declined, pieces;                       /* pieces: GIVE, TAKE: how many the target has copied */
    char old[MAIL_SHORT];                               /* the old value or the data read, if at most MAIL_SHORT bytes */
    char data[MAIL_BYTES] GW_ALIGNED(GW_CACHELINE);     /* longer data in both directions; SWAP: the new value */
} GW_ALIGNED(GW_CACHELINE);
_Static_assert(offsetof(struct rma_mail, answered) == 2 * GW_CACHELINE, "the line that the origin looks at is no other's");
_Static_assert(offsetof(struct rma_mail, taken) == GW_CACHELINE, "a short request is one line");
static inline char *mail_operand(struct rma_mail *m, int64_t bytes) { return bytes <= MAIL_SHORT ? m->operand : m->data; }
static inline char *mail_old(struct rma_mail *m, int64_t bytes) { return bytes <= MAIL_SHORT ? m->old : m->data; }
uint64_t rma_mail_room(const struct rma_win *w);
int rma_mail_open(struct rma_win *w);
void rma_mail_close(struct rma_win *w);  /* when no rank uses the mailboxes any more */
void rma_mail_relax(struct rma_mail *m); /* called between two polls of a mailbox (in lock.c: for the simulator) */
/* Does the target poll its mailbox, as far as is known?  bytes: of the whole access, which uses the mailbox for at most
 * MAIL_BYTES, or a stream. Each false counts, by its bytes, towards the next try. */
bool rma_mail_may_ask(struct rma_win *w, int target, int64_t bytes);
/* With `busy` held.  begin: the mailbox with data in it; the caller fills in other members.  ask: true, the target has done it;
 * false, nothing was done. */
struct rma_mail *rma_mail_begin(struct rma_win *w, int target, const void *data, int64_t bytes);
bool rma_mail_ask(struct rma_win *w, int target, struct rma_mail *m, enum mail_what what, uint64_t at, int64_t bytes,
                  struct stream_end *mine); /* of GIVE and TAKE */
/* Moves contiguous bytes of any length when there is no other way: the target does it in its next MPI call.  is_held: the caller
 * holds `busy`; ranks that wait for `busy` serve their mailboxes, so this cannot deadlock. */
void rma_mail_insist(struct rma_win *w, int target, bool is_held, bool is_put, uint64_t at, int64_t bytes, char *packed);
/* begin and ask for contiguous bytes, at most MAIL_BYTES; `busy` is not held. */
bool rma_mail_move(struct rma_win *w, int target, bool is_put, uint64_t at, int64_t bytes, void *packed);

/* ---- memory that every rank of the window on this machine maps (memory.c) ----
 * Collective over the window: `total` bytes of zeros from a multiple of m->align, if that is not 0 and the same on all ranks here;
 * this rank's part, which it touches first, is [from, from + own). */
int rma_memory_make(struct rma_win *w, struct rma_mapping *m, uint64_t total, uint64_t from, uint64_t own, char **base_out);
void rma_memory_unmap(const struct rma_mapping *m);           /* does nothing if nothing is mapped */
void rma_memory_noted(const struct rma_mapping *m, int sign); /* adds it to (1), or subtracts it from (-1), the counters */
void rma_memory_drop(struct rma_win *w, struct rma_mapping *m);

/* ---- mirrors (mirror.c) ----  Before the others know where the memory is: *base becomes the mirror's if it needs one. */
int rma_mirror_open(struct rma_win *w, void **base);
void rma_mirror_close(struct rma_win *w);
/* bytes: of memory; pages: what rma_pages_wanted() says, or 0.  The memory is on smaller pages if it must be, unless GODWIT_ALLOC_MEM_POLICY
 * forbids it. */
int rma_memory_file_make(uint64_t bytes, uint64_t pages, struct share_file *o);
int rma_memory_file_open(const struct share_file *o, uint64_t bytes, int *fd_out); /* fails if the file could shrink below that */
/* All of it, so that the memory begins at a multiple of m->align and of its pages; the kernel sets [from, from + own) of that aside. */
int rma_memory_file_map(struct rma_mapping *m, const struct share_file *f, int fd, uint64_t from, uint64_t own);

/* ---- which pages MPI_Alloc_mem and MPI_Win_allocate take (pages.c) ---- */
/* Makes a file of the pool's pages: of `pages` bytes, or the next smaller ones that can be had.  False: there are none; o->page: transparent
 * ones might do; why: of the size that was asked for. */
bool rma_pages_file(uint64_t bytes, uint64_t pages, struct share_file *o, char why[GW_POOL_WHY]);
/* Puts [from, from + own) of such memory, as those pages that begin there, onto transparent ones; says, as rma_pages_smaller(), where they are
 * smaller than what was asked for, or ordinary. */
int rma_pages_make(const struct rma_mapping *m, const struct share_file *f, uint64_t from, uint64_t own);
/* It is on smaller pages than asked for, of `got` bytes, or ordinary ones: an error, or a sentence by one rank of the node. */
int rma_pages_smaller(uint64_t got, const char *why);
bool rma_pages_must(void); /* GODWIT_ALLOC_MEM_POLICY=mandatory: no smaller ones */
/* Memory that is in no file, from malloc(), where they are asked for; the caller has said by gw_fail() why it is in none. */
int rma_pages_alone(uint64_t bytes, uint64_t align, void **out);

/* ---- memory of MPI_Alloc_mem (alloc.c) ---- */
struct rma_alloc_offer {
    struct share_file file; /* fd -1: the memory is not in a file */
    uint64_t offset;
};
void rma_alloc_offer(const void *base, int64_t size, struct rma_alloc_offer *o);
char *rma_alloc_map(const struct rma_alloc_offer *o, int64_t size, struct rma_mapping *m); /* NULL: it cannot be mapped here */

/* ---- epochs (epoch.c) ---- */
enum access { NONE, FENCE, START, LOCK, ALL };
struct rma_epoch {
    enum access access;
    _Atomic bool accessed; /* since the last fence */
    uint8_t *held;         /* [size] LOCK: enum held; START: 1 for members of its group */
    int n_held;
    bool all_unchecked; /* ALL: with MPI_MODE_NOCHECK, no lock was taken */
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
int rma_epoch_none(struct rma_win *w); /* GW_OK: no epoch is open, except perhaps one of a fence */
int rma_epoch_allows(struct rma_win *w, int target, bool must_be_passive); /* GW_OK: this rank may access the target now */
bool rma_fast_is_wanted(void);                                             /* rma_fast.h (lock.c: for the simulator) */

void rma_hints_default(struct rma_win *w);
bool rma_hint_is_true(struct rma_win *w, const char *key);
/* Collective: the first error of any rank, the same on all.  rc: this rank's. */
static inline int rma_agree(struct gw_comm *c, int rc) { return coll_worst(c, rc, "rank of the window"); }

enum rma_tag {
    TAG_POST = 1,
    TAG_COMPLETE,
    TAG_REQUEST,
    TAG_REPLY,                         /* + number */
    TAG_DATA = TAG_REPLY + ASK_NUMBERS /* of a long put, + number */
};
_Static_assert(TAG_DATA + ASK_NUMBERS <= 1 << 19, "a tag of ofi_tag_2");

#endif
