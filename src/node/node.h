/* node.h -- the shared segment of the ranks of one node: who is where, doorbells, waiting, a shared heap.
 *
 * Offsets, never pointers, are stored in the segment (it is mapped anywhere).  Layout after boot's head:
 *     node_door[nlocal + 1] | job words | one area per local rank (for wire_shm) | heap
 * Ranks of other jobs on this machine (spawned, or connected) have a segment of their own: see struct node_other.
 * Memory grows with nlocal, not with its square, and only what is touched costs anything.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_NODE_NODE_H
#define GW_NODE_NODE_H

#include "base/base.h"
#include "base/list.h"
#include "base/time.h"
#include "boot/boot.h"
#include "boot/where.h"
#include "boot/world.h"

/* One line per local rank.  Written by its owner except `seq`.  One more counts in `sleeping` those of the whole node. */
struct node_door {
    _Atomic uint32_t seq;      /* futex word; whoever wakes the owner bumps it */
    _Atomic uint32_t sleeping; /* number of the owner's threads that sleep or are about to */
    _Atomic uint32_t choked;   /* owner holds too many unexpected bytes: send it no data unasked (proto) */
    _Atomic uint32_t fences;   /* when it goes to sleep, ringers must fence by themselves */
    _Atomic uint64_t bell;     /* it sleeps on descriptors: the name of its socket (bell.c); 0: on the word alone */
} GW_ALIGNED(GW_CACHELINE);

struct node {
    int nlocal, me;        /* local ranks; mine */
    bool oversubscribed;   /* more local ranks than cores that they may use */
    _Atomic uint32_t spin; /* how often to look before the core is given away; less while others are seen to share it */
    uint32_t yields;       /* how often a wait for all ranks gives the core away before anything else */
    _Atomic bool fence;    /* ringers must fence between publishing and reading `sleeping` (else sleepers use membarrier) */
    char *base;            /* of the mapping; offsets count from here */
    uint64_t bytes;
    struct node_door *doors; /* [nlocal] */
    _Atomic uint32_t
        armed; /* threads of this process that sleep or will do so after one more look: wires that are not rung get ready */
};
GW_EXTERN struct node gw_node;

/* After boot_init, with the same values on every rank of the node.  Of the area of each rank, seldom_bytes are not counted where the
 * machine is asked whether it has enough memory. */
int node_init(uint64_t area_bytes, uint64_t seldom_bytes, uint64_t heap_bytes);
void node_finalize(void);
static inline void *node_ptr(uint64_t off) { return off ? gw_node.base + off : NULL; }
static inline uint64_t node_off(const void *p) { return p ? (uint64_t)((const char *)p - gw_node.base) : 0; }
void *node_area(int local_rank); /* area_bytes, zeroed, page aligned */

/* Shared heap: any rank allocates, tells others the offset, any rank may free.  64-byte aligned; contents undefined. */
uint64_t node_heap_alloc(uint64_t bytes); /* 0: full */
void node_heap_free(uint64_t off);
/* A block that n ranks use: each says once that it will not any more, and the last one frees. */
void node_heap_leave(uint64_t off, int n);
/* After learning of a block from the rank that allocated it.  Earlier uses of that memory here come before, by way of that other
 * process and the heap's lock; taking the lock here too shows it to who sees only this process (ThreadSanitizer). */
void node_heap_join(void);

/* ---- other worlds: jobs that this one spawned, was spawned by, or connected with -------------------------------------
 * Their segments have the same layout.  This process knows their ranks by numbers of its own, above those of its world; other
 * processes have other numbers for them, so what is told to others is the home and the rank there.  A world that nobody holds stays
 * known, until node_other_sweep().  Callers of these functions hold no lane's lock; who looks at a struct holds a reference.
 * A world with faked nodes has a segment for each of them, and here a struct for each that has been met. */
enum { NODE_OTHER_RANKS = 1 << 16 }; /* of all of them together */
extern int node_others_most;         /* as many; less in a test that begins anew thousands of times: tables have a place for each */
struct node_other {
    struct gw_list link;
    struct boot_home home;
    char *base; /* of its segment; NULL: it is far, and there is none here */
    uint64_t bytes;
    int node, size; /* of its world; all its ranks */
    int first, n;   /* the rank ranks[i] of its world is our number first + i */
    int32_t *ranks; /* [n], ascending; NULL: far, where rank r is number first + r */
    char **at;      /* [n], far: where that rank is asked for its address; NULL: not met */
    int32_t *as;    /* [n], far: our number as that rank knows it; -1: not told */
    int64_t refs;
    struct node_door *doors;
    char *areas;
    uint64_t area_bytes;
    void *wire[GW_MAX_LANES]; /* per lane: of wire_shm */
};
/* A reference to the world that lives there, which may be new; GW_OK or an error. */
int node_other_join(const struct boot_home *home, struct node_other **other_out);
void node_other_drop(struct node_other *other);
bool node_other_is_held(uint64_t uid);                           /* any node of that world */
int node_other_number(const struct node_other *other, int rank); /* of a rank of its world; -1: it is not there */
struct node_other *node_other_find(int number);                  /* whose rank it is; NULL: none's */
void node_others_hold(int n, const int32_t *numbers);            /* a reference for each of them that is of another world */
void node_others_release(int n, const int32_t *numbers);
/* Forgets the worlds that nobody holds; `forget` (may be NULL) is told first. */
void node_other_sweep(void (*forget)(struct node_other *));
void node_others_close(void (*forget)(struct node_other *));              /* the same for all of them; before node_finalize() */
void node_name_of(int number, struct boot_home *home_out, int *rank_out); /* as others know a process */
/* ---- far: ranks of other worlds on other hosts, which are reached by the network.  One struct stands for all of a world that are met
 * so; its home has the uid alone.  Which of its ranks are near (on this host, by memory) and which far is the same for both sides. */
int node_far_join(uint64_t uid, int size, struct node_other **other_out); /* with a reference; size: of that world */
int node_far_put(struct node_other *other, int rank, const char *at);     /* its number, or an error; the first address counts */
bool node_is_far(int number);
bool node_is_near(int number);       /* of another world, met by memory */
const char *node_far_at(int number); /* NULL: it is not far, or not met */
bool node_far_is_held(int number);   /* somebody's group or communicator has members there */
int32_t node_far_as(int number);
void node_far_set_as(int number, int32_t as);
int node_far_first(uint64_t uid);             /* the number of rank 0 of that world; -1: it is not met so */
int node_near_number(uint64_t uid, int rank); /* of a rank that is met by memory; -1: it is not */
/* By its number, of a process on this machine: its doorbell (NULL: it is elsewhere, as which faked nodes count), and where its node's
 * offsets count from. */
struct node_door *node_door_of(int number);
char *node_base_of(int number);
int node_numbers_max(void); /* all numbers lie below */

/* Memory of this rank that the kernel is about to read, or write, for another one (bytes >= 0, all of it mapped): what is so shown
 * again and again is moved onto huge pages, unless GODWIT_HUGE_PAGES says off.  Any thread, with locks or without.  True: it was, so
 * that copying it costs little. */
bool node_read_by_others(const void *at, int64_t bytes);

/* ---- doorbells ----------------------------------------------------------------------------------------
 * Whoever makes something visible that `local_rank` may wait for calls node_ring() after the release store. */
void node_ring_look(struct node_door *d); /* perhaps: a fence where one is needed, and a look */
/* Between publishing and looking whether somebody sleeps, also at a count of one's own that a sleeper raises before it waits. */
static inline void node_fence_for_sleepers(void)
{
    if (unlikely(atomic_load_explicit(&gw_node.fence, memory_order_relaxed)))
        atomic_thread_fence(memory_order_seq_cst);
    else
        atomic_signal_fence(memory_order_seq_cst);
}
static inline void node_ring_door(struct node_door *d)
{
    atomic_signal_fence(memory_order_seq_cst);
    /* One test for both: with the fence, node_ring_look() looks again behind it. */
    if (unlikely(atomic_load_explicit(&d->sleeping, memory_order_relaxed) |
                 atomic_load_explicit(&gw_node.fence, memory_order_relaxed)))
        node_ring_look(d);
}
void node_ring_many(const int *local_ranks, int n); /* all of them but this one */
static inline void node_ring(int local_rank) { node_ring_door(&gw_node.doors[local_rank]); }

static inline uint32_t node_spin(void) { return atomic_load_explicit(&gw_node.spin, memory_order_relaxed); }

/* ---- waiting (design section 6): spin, yield, arm, sleep ------------------------------------------------
 *     struct node_wait w; node_wait_begin(&w);
 *     while (!ready()) node_wait_step(&w, did_something());
 *     node_wait_end(&w);
 * A step with progress restarts the spin.  Before it sleeps, one step only arms the doorbell and returns, so that
 * the caller looks once more; the next idle step sleeps.  The spin budget comes from `gw_set.wait` and from how many ranks
 * share the cores.  Steps never block longer than 50 ms. */
struct node_wait {
    uint32_t phase, count, seen, told, vain;
    uint64_t until, since_ns, told_ns, again_ns;
};
void node_wait_begin(struct node_wait *w);
void node_wait_begin_silent(struct node_wait *w); /* of a thread of our own: this rank does not wait */
bool node_wait_step_slow(struct node_wait *w);
void node_wait_reset(struct node_wait *w);
/* True: this wait has become long, and this rank's slot says so; the caller may now say there what it waits for (node_tell).  Again now and
 * then while it lasts. */
static inline bool node_wait_step(struct node_wait *w, bool progressed)
{
    if (likely(w->phase == 0) && likely(w->count > 0)) {
        w->count = progressed ? w->count : w->count - 1;
        gw_cpu_relax();
        return false;
    }
    if (!progressed) return node_wait_step_slow(w);
    node_wait_reset(w);
    return false;
}
/* From now on whoever sleeps here is woken also when this descriptor becomes readable; until node_finalize().  Wires whose peers cannot
 * ring arm it in the look that follows an arming step (gw_node.armed, wire.h). */
int node_wait_on(int fd);
void node_wait_end_slow(struct node_wait *w);
static inline void node_wait_end(struct node_wait *w)
{
    if (unlikely(w->phase) || unlikely(w->told)) node_wait_end_slow(w);
}
/* What a long wait is for: the record to be filled in, with nothing listed yet; node_told() ends that.  A lock is held between them. */
struct boot_where *node_tell(void);
void node_told(struct boot_where *where);
/* After a test or a probe in vain: true now and then where there are many of them, when the slot says that this rank polls; then the
 * caller may say for what. */
bool node_polled_much(void) GW_COLD;
static inline bool node_polled(void)
{
    enum { EVERY = 64 };
    extern _Atomic uint32_t node_polls;
    uint32_t n = atomic_load_explicit(&node_polls, memory_order_relaxed) + 1; /* threads may lose some */
    atomic_store_explicit(&node_polls, n, memory_order_relaxed);
    return unlikely(n % EVERY == 0) && node_polled_much();
}

/* ---- copy jobs: one large copy worked on by both of its ranks -------------------------------------------
 * A job word pair lives in the segment; both sides claim pieces with node_job_claim until it is used up. */
uint64_t node_job_alloc(void); /* offset, reset; 0: none free (go without help) */
void node_job_free(uint64_t off);
bool node_job_is_of(uint64_t off, int local_rank); /* what another process says: that rank allocated it, perhaps */
bool node_job_claim(uint64_t job, int64_t total, int64_t piece, int64_t *start_out, int64_t *len_out);
void node_job_add(uint64_t job, int64_t bytes);  /* bytes are in place (release) */
bool node_job_done(uint64_t job, int64_t total); /* acquire */

/* ---- hardware that this process is bound to (hw.c) ---------------------------------------------------------
 * Kinds of resources, from large to small, named as MPI_Get_hw_resource_info does.  Looked up at each call. */
enum node_hw { NODE_HW_MACHINE, NODE_HW_PACKAGE, NODE_HW_NUMA, NODE_HW_L3, NODE_HW_L2, NODE_HW_CORE, NODE_HW_PU, NODE_HW_KINDS };
enum { NODE_HW_SEVERAL = -1, NODE_HW_UNKNOWN = -2 };
extern const char *const node_hw_names[NODE_HW_KINDS]; /* "hwloc://NUMANode" */
int node_hw_find(const char *name);                    /* with or without "hwloc://"; -1: no such kind */
/* Per kind the number (in the node) of the one resource that holds all cpus on which threads of this process may run, or
 * SEVERAL, or UNKNOWN: the kernel knows no such resource. */
void node_hw_of_process(int32_t instance_out[NODE_HW_KINDS]);

#endif
