/* plan_private.h -- shared by the files of plan/: a communicator's leaf region, executions, and comparison of calls.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_PLAN_PLAN_PRIVATE_H
#define GW_PLAN_PLAN_PRIVATE_H

#include "plan/plan.h"
#include "base/base.h"
#include "boot/segment.h"
#include "boot/where.h"
#include "node/node.h"

/* In the node segment: a cache line per member, written by that member only. */
struct leaf_flag {
    _Atomic uint64_t value; /* collective << 20 | phase */
    char small[PLAN_SMALLS][PLAN_SMALL_BYTES];
    _Atomic uint16_t sig[PLAN_SIGS]; /* sigs of the last collectives, by their number modulo PLAN_SIGS */
} GW_ALIGNED(GW_CACHELINE);
_Static_assert(sizeof(struct leaf_flag) == GW_CACHELINE, "few bytes come with the flag");
_Static_assert(PLAN_SIGS > PLAN_SMALLS && PLAN_SIGS > PLAN_SLOTS, "a member that waits still finds the sigs of its collective");

/* A line from one member to another, see PLAN_PAIR_SIGNAL. */
struct leaf_pair {
    _Atomic uint64_t n; /* number of the collective, bits of its sig, and bytes for this member: pair_number() */
    char data[PLAN_PAIR_BYTES];
} GW_ALIGNED(GW_CACHELINE);
_Static_assert(sizeof(struct leaf_pair) == GW_CACHELINE, "a few bytes come with the number");

/* In lines behind those, for algorithms that pull. */
#define LEAF_UNREADABLE UINT64_MAX /* the memory cannot be read, and there was no room for a copy */
enum { LEAF_GAVE_UPS = 4 };
struct leaf_exposed {
    uint64_t address;          /* of the memory that EXPOSE offers */
    uint64_t copy;             /* offset of a copy in the node's heap, if the owner is not dumpable; LEAF_UNREADABLE; else 0 */
    _Atomic uint32_t can_pull; /* can this member read all others?  0: not known, 1: no, 2: yes */
    /* The last calls that this member gave up, by their number modulo LEAF_GAVE_UPS: 1 + number << 8 | leaf_error(); 0: none */
    _Atomic uint64_t gave_up[LEAF_GAVE_UPS];
} GW_ALIGNED(GW_CACHELINE);

/* If ranks share cores, in the line behind the flags: the first member that has seen all flags raised, or has reduced all operands, saves the
 * others the work. */
struct leaf_common {
    _Atomic uint64_t reached; /* all flags have reached this */
    _Atomic uint64_t reduced; /* collective whose result is the next word */
    _Atomic uint64_t result;
} GW_ALIGNED(GW_CACHELINE);

/* Sent by member 0 of a region: the offset of the region (0: no room), and the number of the first collective that uses it. */
struct leaf_offer {
    uint64_t region, number;
};

/* c->coll: what a communicator keeps for collectives. */
struct comm_coll {
    bool asked, ready; /* a region was requested; it can be used */
    bool nodes_asked;
    int8_t pull;                  /* can all members read each other?  0: not known, 1: no, 2: yes */
    struct plan_nodes *nodes;     /* members on several nodes; NULL: on one.  The region is of the members on this node */
    int size, me;                 /* members of the region; index of this rank among them */
    uint64_t region;              /* offset in the segment */
    struct leaf_offer offer;      /* as sent by member 0; the buffer of `awaited` */
    struct gw_req *awaited;       /* receive of the offer; NULL: none is pending */
    uint64_t missed;              /* 1 + number of the last collective that ended before the offer arrived */
    struct leaf_flag *flags;      /* [size] */
    struct leaf_exposed *exposed; /* [size] */
    struct leaf_common *common;   /* NULL: no ranks share cores */
    struct leaf_pair *pairs;      /* [PLAN_SLOTS][size: to][size: from]; NULL: too many members */
    char *buffers;                /* [size][PLAN_SLOTS][PLAN_SLOT_BYTES] */
    int *local;                   /* [size] local rank of each member, for doorbells */
    uint64_t raised;              /* what this member's flag is; its line may lie in another core's cache */
    uint64_t safe;                /* all flags have reached at least this value */
    uint64_t left[PLAN_SLOTS];    /* what all flags reach when all have left the last leaf collective that used each slot */
    uint64_t compared;            /* number of the last leaf collective in which all sigs were compared with ours */
    char *tmp;                    /* temporary memory, kept for the next collective */
    int64_t tmp_bytes;
    struct plan_counters *counters; /* of a member that speaks for its node (counters.c); NULL: none */
    bool counters_asked, has_counters;
    uint64_t copied; /* the copy that is exposed now (leaf_exposed.copy); freed when no member reads it any more */
};
struct comm_coll *plan_coll(struct gw_comm *c); /* NULL: out of memory */

/* The last leaf collective that this member has published in. */
static inline uint64_t leaf_last(const struct comm_coll *k) { return k->raised >> 20; }
/* counters.c: a round of an algorithm by_counters: true: it is over.  Called again until then; the caller makes progress. */
bool plan_counters_round(struct plan_exec *x);
bool plan_counters_sleepless(
    const struct plan_exec *x); /* nothing would wake this member: a card raises counters without a word to the processor */
void plan_counters_close(struct gw_comm *c);
/* Raises this member's flag to `value` if it is below `least`. */
void plan_raise(struct comm_coll *k, uint64_t least, uint64_t value);

/* This member gives up a call, as calls differ: tells the members on this node, which may wait for it, */
void plan_give_up(struct gw_comm *c, uint64_t number, int err) GW_COLD;
/* The same where an error leaves this member without right data, but it goes on: it takes part in the stage that follows. */
void plan_doubt(struct plan_exec *x) GW_COLD;
/* and those on other nodes, by a message that nobody receives: who waits for long looks for it.  Not with the lane's lock. */
void plan_give_up_far(struct gw_comm *c, uint64_t number, int err) GW_COLD;
enum { LEAF_GAVE_UP = 0x40000000 };
static inline int leaf_gave_up_tag(uint64_t number, int error) { return LEAF_GAVE_UP | (int)(number & 0x3fffff) << 8 | error; }
/* An error as a positive number of 8 bits, and back. */
static inline int leaf_error(int err)
{
    assert(err > GW_EFIRST_ && err - GW_EFIRST_ < 256);
    return err - GW_EFIRST_;
}
static inline int leaf_error_of(int error) { return error + GW_EFIRST_; }

/* ---- executions (exec.c) ----
 * The tag of a message has the number of its collective on the communicator, counted in the order of the calls; messages of one collective
 * between two members are matched by their order.  Persistent collectives keep a number for long, so they are counted separately.  The low bits
 * are the kind, and some of root, operation and form (blocking or not), so that messages of mismatched calls do not match our receives. */
enum { PLAN_TAG_SAYS = 0xff, PLAN_TAG_SHIFT = 8, PLAN_TAG_NUMBERS = 0x3fffff, PLAN_TAG_PERSISTENT = 0x40000000 };
static inline int plan_tag(const struct plan_args *a)
{
    uint64_t differs = a->says >> BOOT_SAYS_OP ^ a->says >> BOOT_SAYS_FLAGS ^ (a->remote ? 0 : a->says);
    return (int)((a->number & PLAN_TAG_NUMBERS) << PLAN_TAG_SHIFT | (a->says >> BOOT_SAYS_KIND & 15) << 4 | (differs & 15));
}
/* The number of the collective that a message belongs to, if that is an earlier one than `next`: numbers in tags wrap around, and up to half of
 * their range counts as earlier.  Otherwise `next`. */
static inline uint64_t plan_tag_former(int tag, uint64_t next)
{
    uint64_t before = (next - ((uint64_t)tag >> PLAN_TAG_SHIFT)) & PLAN_TAG_NUMBERS;
    return before <= PLAN_TAG_NUMBERS / 2 && before <= next ? next - before : next;
}
void plan_exec_reset(struct plan_exec *x); /* back to before the first round; alg, args, comm and memory stay */
bool plan_exec_advance(struct plan_exec *x, int *done_out);
bool plan_exec_stage(struct plan_exec *x); /* begins the current stage of x->walk; true: it uses leaves */
char *plan_tmp_alloc(int64_t bytes);       /* for free(); NULL: out of memory (gw_fail set) */
void plan_start_init(void);                /* start.c */
/* report.c: hang reports of a collective under way; entry not 0: it waits until all flags have reached that.  True: it cannot complete, since
 * the members' calls differ: x->err and the error text say how. */
bool plan_report(struct plan_exec *x, uint64_t entry) GW_COLD;
bool plan_report_one(struct gw_comm *c,
                     int member) GW_COLD; /* the last collective, which waits for this member before its rounds */
/* The same for a non-blocking one: its pending messages.  Lane's lock held, between node_report_begin() and p2p_report_end(). */
void plan_report_parts(struct boot_where *where, const struct plan_exec *x, uint32_t call, struct gw_req **parts, int n);

/* plan_state.c: the invariant that does not hold, in words; NULL: all do.  Of an execution, between two calls of plan_exec_advance(); of a
 * region, between two collectives of this member. */
const char *plan_exec_broken(const struct plan_exec *x);
const char *plan_region_broken(const struct comm_coll *k);
static inline void plan_exec_assert_state(const struct plan_exec *x)
{
    if (GW_ASSERT_STATES) gw_assert_state(plan_exec_broken(x));
}
static inline void plan_region_assert_state(const struct comm_coll *k)
{
    if (GW_ASSERT_STATES) gw_assert_state(plan_region_broken(k));
}

/* What a call says of its operation (BOOT_SAYS_OP). */
static inline uint64_t plan_says_op(const struct gw_op *op)
{
    enum { USER = 0xfffe }; /* for user operators, plus whether they commute */
    return (op->obj.predefined ? op->obj.id & 0xffff : (uint64_t)USER + op->commutes) << BOOT_SAYS_OP;
}
/* Takes a call into the communicator's running hash. */
static inline void plan_said_add(struct gw_comm *c, uint64_t says, uint64_t bytes)
{
    const uint64_t odd = 0x9e3779b97f4a7c15;
    c->said = ((c->said ^ (says >> BOOT_SAYS_FLAGS & BOOT_SAYS_OWN ? 0 : bytes)) * odd + says) * odd;
}
static inline uint16_t plan_sig(const struct gw_comm *c) { return (uint16_t)(c->said >> 48); }
/* Numbers a call of the user and records it. */
static inline uint64_t plan_said_note(struct gw_comm *c, uint64_t says, uint64_t bytes)
{
    uint64_t number = comm_coll_count(c, 1);
    boot_coll_note(c->ctx >> GW_STREAM_BITS, number, says, bytes | c->mark);
    return number;
}

/* compare.c: do the members' calls differ?
 * The sig of a member differs from ours: true if the calls differ, now or earlier; x->err and the error text say how. */
bool plan_sig_differs(struct plan_exec *x, int member) GW_COLD;
/* The calls are the same, but a member passed `came` bytes (-1: unknown) in place of `want`: sets x->err. */
void plan_size_differs(struct plan_exec *x, int member, int64_t want, int64_t came) GW_COLD;
/* A collective with a request that is counted by itself (plan_enter_apart()): nobody notes it, so it is compared with none. */
#define PLAN_APART (UINT64_C(1) << 63)
struct plan_said {
    struct gw_comm *comm;
    uint64_t number, says;
    int64_t bytes;
};
static inline struct plan_said plan_said_by(const struct plan_exec *x)
{
    return (struct plan_said){x->comm, x->args->number, x->args->says, x->args->bytes};
}
/* Compares the calls of the members on this node in the last collective: GW_OK, or an error, after gw_fail(). */
int plan_compare_newest(struct gw_comm *c) GW_COLD;
/* The same; for pending messages also, whether members have sent messages of another call.  Lane's lock held. */
int plan_compare_parts(const struct plan_said *s, struct gw_req **parts, int n) GW_COLD;
/* Compares those before this one, of which a member may have gone on although it was another call. */
int plan_compare_before(struct gw_comm *c, uint64_t number) GW_COLD;
/* The error for a message of a wrong length. */
int plan_length_differs(const struct plan_said *s, int from, int64_t want, int64_t came) GW_COLD;

/* ---- what members read of each other in a region (exec.c, once.c) ----
 * Acquire: pairs with [F1]; what the member wrote before it raised its flag is visible. */
static inline uint64_t leaf_flag_of(const struct comm_coll *k, int rank)
{
    return atomic_load_explicit(&k->flags[rank].value, memory_order_acquire);
}
/* The signature of a member's call of collective n; equal to ours if it makes the same call.  Valid once the member's flag has reached this
 * collective. */
static inline uint16_t leaf_sig_of(const struct comm_coll *k, int rank, uint64_t n)
{
    return atomic_load_explicit(&k->flags[rank].sig[n % PLAN_SIGS], memory_order_relaxed);
}
/* Have the flags of all members but `me` reached `value`?  Goes on from the member at which the last scan stopped (*scan, 0 at first).  When true,
 * k->safe is the lowest of these flags. */
static inline bool leaf_flags_scan(struct comm_coll *k, int me, int size, uint64_t value, int *scan, uint64_t *lowest)
{
    if (*scan == 0) *lowest = UINT64_MAX;
    for (; *scan < size; ++*scan) {
        if (*scan == me) continue;
        uint64_t flag = leaf_flag_of(k, *scan);
        if (flag < value) return false;
        if (flag < *lowest) *lowest = flag;
    }
    *scan = 0;
    k->safe = *lowest;
    return true;
}
/* Prefetches the next flags while this member waits for an earlier one.  A cache line takes 0.04 us from a core that shares the
 * cache, and 0.2 us from another one (Zen 4, 2026-11); several at once take hardly longer. */
static inline void leaf_flags_ahead(const struct comm_coll *k, int scan, int size)
{
    enum { AHEAD = 8 };
    for (int i = scan + 1; i < size && i < scan + AHEAD; i++) __builtin_prefetch(&k->flags[i]);
}
/* The first member but `me`, from 0 on, whose call of collective n differs from one with this sig; `size`: none.  The own line, which others look
 * at, is left alone. */
static inline int leaf_sigs_differ(const struct comm_coll *k, int me, int size, uint64_t n, uint16_t sig)
{
    const struct leaf_flag *f = k->flags, *end = f + size, *mine = f + me;
    const unsigned at = n % PLAN_SIGS;
    while (f < end && likely(f == mine || atomic_load_explicit(&f->sig[at], memory_order_relaxed) == sig)) f++;
    return (int)(f - k->flags);
}
static inline void leaf_publish(struct comm_coll *k, int me, int size, uint64_t n, int phase, uint16_t sig)
{
    struct leaf_flag *mine = &k->flags[me];
    atomic_store_explicit(&mine->sig[n % PLAN_SIGS], sig, memory_order_relaxed);
    k->raised = n << 20 | (uint64_t)phase;
    /* [F1] pairs with the acquire in leaf_flag_of(). */
    atomic_store_explicit(&mine->value, k->raised, memory_order_release);
    node_ring_many(k->local, size);
}

/* A pair's number has the collective, and bits of the signature and of the size.  The size has bits of its own because the
 * signature is a running hash over all calls: once calls have differed, it differs for ever. */
enum { LINE_SIZE_BITS = 12, LINE_SIG_BITS = 12, LINE_N = LINE_SIZE_BITS + LINE_SIG_BITS };
static inline uint64_t leaf_pair_number(uint64_t n, uint16_t sig, int64_t bytes)
{
    uint64_t size = plan_size_sig(bytes) >> (16 - LINE_SIZE_BITS);
    return n << LINE_N | (uint64_t)(sig >> (16 - LINE_SIG_BITS)) << LINE_SIZE_BITS | size;
}

static inline struct leaf_pair *leaf_pair(const struct comm_coll *k, uint64_t n, int to, int from)
{
    return &k->pairs[((int)(n % PLAN_SLOTS) * k->size + to) * k->size + from];
}
static inline char *leaf_slot(const struct comm_coll *k, int rank, int slot)
{
    if (slot >= PLAN_SLOTS + PLAN_SMALLS) return (char *)leaf_pair(k, (uint64_t)slot - PLAN_SLOTS - PLAN_SMALLS, rank, 0);
    if (slot >= PLAN_SLOTS) return k->flags[rank].small[slot - PLAN_SLOTS];
    return k->buffers + ((int64_t)rank * PLAN_SLOTS + slot) * PLAN_SLOT_BYTES;
}

#endif
