/* node.h -- the shared segment of the ranks of one node: doorbells, waiting, a shared heap, copy jobs, segments of other worlds.
 *
 * The segment stores offsets, never pointers: it is mapped at different addresses.  Layout after boot's header:
 *     node_door[nlocal + 1] | job words | areas, for each lane one per local rank (for wire_shm); those of lane 0 last | heap
 * What every job uses, the areas of lane 0 and the begin of the heap, lies together, so that it fills large pages.
 * Ranks of other jobs on this machine (spawned or connected) are in other segments: see struct node_other.
 * Its size is proportional to nlocal, not to the square of it, and only touched pages take memory.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_NODE_NODE_H
#define GW_NODE_NODE_H

#include "base/base.h"
#include "base/count.h"
#include "base/list.h"
#include "base/time.h"
#include "boot/boot.h"
#include "boot/where.h"
#include "boot/world.h"

/* Doorbell, one cache line per local rank.  Written by its owner, except `seq`.  One more entry counts in `sleeping` those of the whole
 * node. */
struct node_door {
    _Atomic uint32_t seq;      /* futex word; incremented by the ringer that wakes the owner */
    _Atomic uint32_t sleeping; /* not 0: the owner's threads sleep, or are about to; and NODE_FENCED for good, if ringers fence */
    _Atomic uint32_t xoff;     /* flow control: the owner holds too many unexpected bytes, send RTS instead of data (proto) */
    _Atomic uint64_t bell;     /* the owner sleeps in epoll: the name of its wake-up socket (bell.c); 0: on the futex */
} GW_ALIGNED(GW_CACHELINE);
/* In `sleeping`: the owner or a ringer does without membarrier, so ringers fence between publishing and reading that word. */
#define NODE_FENCED (1u << 31)
static inline bool node_seems_asleep(struct node_door *d) /* without a fence: a guess */
{
    return atomic_load_explicit(&d->sleeping, memory_order_relaxed) & ~NODE_FENCED;
}

struct node {
    int nlocal, me;        /* number of local ranks; this process's local rank */
    bool oversubscribed;   /* more local ranks than cores that they may use */
    _Atomic uint32_t spin; /* polls before a wait yields; lowered while other processes are seen to share the core */
    uint32_t yields;       /* yields at the start of a wait for all ranks */
    _Atomic bool fence;    /* who looks for sleepers by other words than one door's must fence before */
    char *base;            /* of the mapping: offset 0 */
    uint64_t bytes;
    struct node_door *doors; /* [nlocal] */
    /* threads of this process that sleep, or will after one more poll: wires without doorbell must arm themselves */
    _Atomic uint32_t armed;
};
GW_EXTERN struct node gw_node;

/* After boot_init(), with the same values on every rank of the node, but for is_spread: this process will use all lanes, not only lane 0.
 * area_bytes: of a rank on a lane.  The areas of lanes that are seldom used are not counted in the check for available memory, unless
 * GODWIT_HUGE_PAGES=all or =pool: then each rank makes its own areas resident, and local rank 0 the rest. */
int node_init(uint64_t area_bytes, int lanes, bool is_spread, uint64_t heap_bytes);
void node_finalize(void);
static inline void *node_ptr(uint64_t off) { return off ? gw_node.base + off : NULL; }
static inline uint64_t node_off(const void *p) { return p ? (uint64_t)((const char *)p - gw_node.base) : 0; }
uint64_t node_area_bytes(uint64_t wanted); /* what node_init() makes of area_bytes: whole pages */
void *node_area(int local_rank, int lane); /* area_bytes, zeroed, page aligned */

/* Shared heap: any rank may allocate, pass the offset to other ranks, and free.  64-byte aligned; contents undefined. */
uint64_t node_heap_alloc(uint64_t bytes); /* 0: full */
void node_heap_free(uint64_t off);
/* Releases a block that n ranks share: each of them calls this once, the last call frees it. */
void node_heap_leave(uint64_t off, int n);
/* To be called after a block's offset was received from another rank.  Earlier uses of the memory by this process are ordered before through
 * that rank and the heap's lock; taking the lock here, too, makes the order visible to ThreadSanitizer. */
void node_heap_join(void);

/* ---- other worlds: jobs that this one has spawned, was spawned by, or is connected with -------------------------------
 * Their segments have the same layout.  This process gives their ranks numbers above those of its own world; numbers differ between
 * processes, so messages name a process by (home, rank).  A world without references stays known until node_other_sweep().  A world with
 * faked nodes has one struct per faked node that has been met.
 * LOCK  No lane's lock is held by the caller.  A struct is valid as long as the caller has a reference. */
enum { NODE_OTHER_RANKS = 1 << 16 }; /* limit of their ranks, over all worlds */
extern int node_others_most;         /* the limit in use: NODE_OTHER_RANKS, less in tests (tables have an entry for each) */
struct node_other {
    struct gw_list link;
    struct boot_home home;
    char *base; /* of its segment; NULL: it is far (on other hosts) */
    uint64_t bytes;
    int node, size; /* its node; number of ranks of its world */
    int first, n;   /* rank ranks[i] of its world has number first + i here */
    int32_t *ranks; /* [n], ascending; NULL: far, rank r has number first + r */
    char **at;      /* [n], far: where the rank can be asked for its address; NULL: not met */
    int32_t *as;    /* [n], far: this process's number as that rank knows it; -1: unknown */
    int64_t refs;
    struct node_door *doors;
    char *areas;
    uint64_t area_bytes;
    int lanes;
    void *wire[GW_MAX_LANES]; /* per lane: of wire_shm */
};
/* Maps the segment of a world, if it is not mapped yet, and returns a reference; GW_OK or an error. */
int node_other_join(const struct boot_home *home, struct node_other **other_out);
void node_other_drop(struct node_other *other); /* releases a reference */
bool node_other_is_held(uint64_t uid);          /* has any node of that world a reference? */
void *node_other_area(const struct node_other *other, int local_rank, int lane);
int node_other_number(const struct node_other *other, int rank); /* number of a rank of its world; -1: it is not on that node */
struct node_other *node_other_find(int number);                  /* the world of a number; NULL: none */
void node_others_hold(int n, const int32_t *numbers);            /* takes a reference for each number of another world */
void node_others_release(int n, const int32_t *numbers);
/* Unmaps the worlds without a reference, calling `forget` (may be NULL) for each before. */
void node_other_sweep(void (*forget)(struct node_other *));
void node_others_close(void (*forget)(struct node_other *));              /* the same for all worlds; before node_finalize() */
void node_name_of(int number, struct boot_home *home_out, int *rank_out); /* (home, rank): a process as messages name it */
/* ---- far: ranks of other worlds that are on other hosts, reached by a network.  One struct per world stands for all such ranks; its home
 * has only the uid.  Both sides agree on which ranks are near (on this host, by memory) and which are far. */
int node_far_join(uint64_t uid, int size, struct node_other **other_out); /* returns a reference; size: ranks of that world */
int node_far_put(struct node_other *other, int rank, const char *at);     /* sets its address, once; its number, or an error */
bool node_is_far(int number);
bool node_is_near(int number);       /* a rank of another world, reached by memory */
const char *node_far_at(int number); /* NULL: not far, or not met */
bool node_far_is_held(int number);   /* a group or communicator of this process has members there */
int32_t node_far_as(int number);
void node_far_set_as(int number, int32_t as);
int node_far_first(uint64_t uid);             /* number of rank 0 of that far world; -1: not met */
int node_near_number(uint64_t uid, int rank); /* number of a rank of a near world; -1: not met */
/* Of a process on this machine, by its number: its doorbell (NULL: it is on another node; faked nodes count as others), and the base of the
 * offsets of its segment. */
struct node_door *node_door_of(int number);
char *node_base_of(int number);
int node_numbers_max(void); /* all numbers are below */

/* To be called for memory of this rank that another rank is about to read or write by the kernel (CMA); all of it is mapped.  Memory that is
 * used so repeatedly is moved onto huge pages, unless GODWIT_HUGE_PAGES is off.  Any thread, with or without locks.  True: it lies on huge
 * pages, so copying it is cheap. */
bool node_read_by_others(const void *at, int64_t bytes);

/* ---- doorbells ----------------------------------------------------------------------------------------
 * After the release store of something that a rank may wait for, call node_ring() for that rank. */
void node_ring_look(struct node_door *d); /* slow path: fence if needed, test again, wake */
/* To be placed between publishing and reading whether anybody sleeps (in `sleeping`, or in a counter of the caller's that a sleeper raises
 * before it sleeps). */
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
    if (unlikely(gw_look(&d->sleeping))) node_ring_look(d); /* NODE_FENCED: it looks again */
}
void node_ring_many(const int *local_ranks, int n); /* rings all of them except this rank */
static inline void node_ring(int local_rank) { node_ring_door(&gw_node.doors[local_rank]); }

static inline uint32_t node_spin(void) { return atomic_load_explicit(&gw_node.spin, memory_order_relaxed); }

/* ---- waiting (design section 6): spin, yield, arm, sleep ------------------------------------------------
 *     struct node_wait w; node_wait_begin(&w);
 *     while (!ready()) node_wait_step(&w, progressed());
 *     node_wait_end(&w);
 * A step with progress restarts the spin.  Before sleeping, one step only arms the doorbell and returns, so that the caller polls once more;
 * the next idle step sleeps.  The spin budget depends on `gw_set.wait` and on the number of ranks that share the cores.  A step blocks for at
 * most 50 ms. */
struct node_wait {
    uint32_t phase, count, seen, told, vain;
    uint64_t until, since_ns, told_ns, again_ns;
};
/* What the settings wait_spin and wait_yield come to here. */
void node_wait_budget(int64_t *spin_out, int64_t *yield_us_out);
void node_wait_begin(struct node_wait *w);
void node_wait_begin_silent(
    struct node_wait *w); /* for threads of the library: neither reported nor counted as a wait of this rank */
bool node_wait_step_slow(struct node_wait *w);
void node_wait_reset(struct node_wait *w);
/* True: the wait has become long, which this rank's slot says now; the caller should report what it waits for (node_report_begin).  True again from
 * time to time while the wait lasts. */
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
/* The same where what is waited for is a plain store of another process, which rings no bell: sleeps of 20 us to 1 ms. */
bool node_wait_step_blind_slow(struct node_wait *w);
static inline bool node_wait_step_blind(struct node_wait *w, bool progressed)
{
    if (w->phase == 0 && w->count > 0) return node_wait_step(w, progressed);
    if (!progressed) return node_wait_step_blind_slow(w);
    node_wait_reset(w);
    return false;
}
/* A wait for what is no other rank's to give, and that its caller sleeps in itself, has become long, or goes on: this rank's slot says so, in words
 * that follow "in CALL ".  Until node_wait_end(); node_wait_reset() where there was progress. */
void node_wait_outside(struct node_wait *w, const char *for_what);
/* Adds a descriptor whose readability wakes sleepers of this process; until node_finalize().  Wires without doorbell arm theirs in the poll that
 * follows an arming step (gw_node.armed, wire_ops.sleep.arm). */
int node_wait_on(int fd);
bool node_bell_is_used(void); /* there are such descriptors */
void node_wait_end_slow(struct node_wait *w);
static inline void node_wait_end(struct node_wait *w)
{
    if (unlikely(w->phase) || unlikely(w->told)) node_wait_end_slow(w);
}
/* Brackets a report of what a long wait is for: node_report_begin() returns the emptied record in this rank's slot, with a lock held that node_report_end()
 * releases. */
struct boot_where *node_report_begin(void);
void node_report_end(struct boot_where *where);
/* To be called after an unsuccessful test or probe.  True from time to time if there are many: the slot says that this rank polls, and the
 * caller should report for what. */
bool node_polled_much(void) GW_COLD;
static inline bool node_polled(void)
{
    enum { EVERY = 64 };
    extern _Atomic uint32_t node_polls;
    uint32_t n = atomic_load_explicit(&node_polls, memory_order_relaxed) + 1; /* threads may lose some */
    atomic_store_explicit(&node_polls, n, memory_order_relaxed);
    return unlikely(n % EVERY == 0) && node_polled_much();
}

/* ---- copy jobs: cooperative copy of one large message by both of its ranks ------------------------------
 * A job is a pair of counters in the segment; both ranks claim pieces with node_job_claim() until none is left. */
uint64_t node_job_alloc(void); /* offset of a reset job; 0: none free (the receiver copies alone) */
void node_job_free(uint64_t off);
bool node_job_is_of(uint64_t off, int local_rank); /* validation: can `off` be a job that this rank has allocated? */
bool node_job_claim(uint64_t job, int64_t total, int64_t piece, int64_t *start_out, int64_t *len_out);
void node_job_add(uint64_t job, int64_t bytes);  /* bytes are in place (release) */
bool node_job_done(uint64_t job, int64_t total); /* acquire */

/* ---- hardware that this process is bound to (hw.c) ---------------------------------------------------------
 * Kinds of resources, from large to small, as MPI_Get_hw_resource_info names them.  Read from the system at each call. */
enum node_hw {
    NODE_HW_MACHINE,
    NODE_HW_PACKAGE,
    NODE_HW_NUMA,
    NODE_HW_L3,
    NODE_HW_L2,
    NODE_HW_L1,
    NODE_HW_CORE,
    NODE_HW_PU,
    NODE_HW_KINDS
};
enum { NODE_HW_SEVERAL = -1, NODE_HW_UNKNOWN = -2 };
extern const char *const node_hw_names[NODE_HW_KINDS]; /* "hwloc://NUMANode" */
int node_hw_find(const char *name);                    /* with or without "hwloc://"; -1: no such kind */
/* Per kind: the number (in the node) of the resource that has all CPUs on which threads of this process may run; NODE_HW_SEVERAL; or
 * NODE_HW_UNKNOWN: neither the kernel nor, of caches, the processor reports this kind. */
void node_hw_of_process(int32_t instance_out[NODE_HW_KINDS]);

#endif
