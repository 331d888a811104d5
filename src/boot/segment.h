/* segment.h -- boot's part of the node's shared segment: a header, and one slot per rank.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BOOT_SEGMENT_H
#define GW_BOOT_SEGMENT_H

#include <stdatomic.h>

#include "base/base.h"
#include "base/os.h"
#include "boot/boot.h"
#include "boot/where.h"

/* Our mpiexec sets GODWIT_BOOT="fd=N,local=K" and, if they are not 0, ",app=A,universe=U": the inherited descriptor N is the segment; this
 * process is local rank K of application A.  One process attaches per local rank, once.  ",pmi=I": its PMI socket is this one, by
 * boot_socket_name(inode); who has another one was started by a launcher below.
 * ",job=J,pid=P,at=NAME:SECRET,env=MARK": the world's number (boot_head.uid, 16 digits), mpiexec, a port of it that hands out the segment, and
 * boot_env_mark().  A process to which the descriptor did not come down (a wrapper has closed it) opens the same segment by /proc/P/fd/N, or
 * gets it from the port: so all ranks come by one way, whatever each has inherited.  The slot holds the same text, for a rank whose
 * environment was cleared.
 *
 * The segment is a memfd that mpiexec creates before it forks; with other launchers local rank 0 creates it.  Slot i belongs to local rank i.
 * The launcher reads the slots to report what a rank was doing when it died, and why a job hangs. */
#define BOOT_MAGIC         0x31544957444f47ull /* "GODWIT1" */
#define GODWIT_SHM_VERSION 25u                 /* raise with every change of what lies in the segment */
static inline int boot_socket_name(uint64_t inode) { return (int)(inode & 0x7fffffff); }
/* Eight digits for each variable that launchers set anew for what they start, 0 where it is not set: mpiexec notes them for its ranks.  A
 * process that has another value was started by a launcher between (boot_env_other()). */
enum { BOOT_ENV_MARK = 5 * 8 + 1 };
void boot_env_mark(char *const *env, char out[BOOT_ENV_MARK]);
bool boot_env_other(char *const *env, const char *mark); /* mark: at least BOOT_ENV_MARK - 1 characters, or none is known */
enum boot_phase { BOOT_NEW, BOOT_INIT, BOOT_RUNNING, BOOT_FINALIZED, BOOT_ABORTED };

/* Another world with which this rank is connected (MPI 4.1 section 11.10.4): its communicators or groups have members there.  Our mpiexec
 * reads this, because connected jobs fail together. */
enum { BOOT_CONNECTIONS = 32 };
struct boot_connection {
    _Atomic uint64_t uid; /* written last; 0: unused entry */
    _Atomic int32_t pid, fd;
}; /* pid, fd: of its home, see struct boot_home */

/* A thread of the rank has got a fatal signal, and waits until mpiexec has examined the process (boot_crash.c, verdict/crash.c). */
enum boot_crash_state { BOOT_NO_CRASH, BOOT_CRASH_NOTED, BOOT_CRASHED, BOOT_CRASH_SEEN };
struct boot_crash {
    _Atomic uint32_t state; /* futex word.  Set to CRASHED by the rank, after the fields below; to SEEN by mpiexec */
    int32_t signal, code;   /* code: si_code; above 0: sent by the kernel because of a fault */
    uint64_t address;       /* of the fault */
};

/* Is node's part of the segment a file of its own, on pages of the system's pool (boot_pool.c)?  From NONE on it is not: rank 0
 * could not make it, or a rank refused it, as its setting is another one, as it cannot map it, or as it was not to wait longer. */
enum boot_pool_state {
    BOOT_POOL_UNDECIDED,
    BOOT_POOL_OFFERED,
    BOOT_POOL_TAKEN,
    BOOT_POOL_NONE,
    BOOT_POOL_DIFFERS,
    BOOT_POOL_BLOCKED,
    BOOT_POOL_LATE
};
enum { BOOT_POOL_RANK_SHIFT = 8 };

struct boot_rank { /* of one local rank, written by that rank only; its own cache lines */
    _Atomic int32_t pid;
    _Atomic uint32_t phase; /* enum boot_phase */
    _Atomic(uint32_t) call; /* index of the MPI call last entered (GW_FN_*), 0 = none; see boot_call_name() */
    _Atomic int32_t abort_code;
    char what[112];            /* text of a fatal error, for the launcher; 0-terminated */
    _Atomic uint32_t n_colls;  /* collectives entered so far; the newest is colls[(n_colls - 1) % BOOT_COLLS] */
    uint32_t is_threaded;      /* several threads may be in MPI at once: a wait of one does not block the rank */
    uint32_t is_checking;      /* GODWIT_CHECK */
    int32_t app;               /* number of its application (MPMD), from 0; written by our mpiexec before the rank starts */
    int32_t started;           /* the process that mpiexec has started as this rank, which writes it before exec; 0: unknown */
    char told[320];            /* what its GODWIT_BOOT says, without what has no room at its end; by our mpiexec (boot_cleared.c) */
    _Atomic uint32_t in_shmem; /* it has initialised OpenSHMEM */
    _Atomic uint64_t memory_group;     /* the limits that it is under (gw_memory_group_key()), if it has initialised OpenSHMEM */
    _Atomic uint32_t in_world;         /* it has called MPI_Init: a process with sessions only does not connect to its parent */
    _Atomic uint32_t connections_more; /* connected worlds that did not fit into connections[] */
    _Atomic int32_t pool_pid,
        pool_fd; /* this slot's rank holds node's part of this segment open, if the pool has it (boot_pool.c) */
    /* Settings that all ranks must have alike, those that this rank has not at their defaults: their hash, 0 for none; and as text, none
     * where it is longer.  Written before the rank publishes where it is reached, so before it meets the others of its node. */
    uint64_t alike_hash;
    char alike[256];
    char processor
        [128]; /* whose rows of tables it takes (base/processor.h), the same on all ranks of a node; "": none.  Written with those */
    struct boot_crash crash;
    struct boot_connection connections[BOOT_CONNECTIONS];
    struct boot_coll colls[BOOT_COLLS];
    struct boot_where where;
} GW_ALIGNED(128);
/* An allreduce of all ranks of the node (coll_node_most()), again and again.  Everything is 0 where nobody has come yet. */
enum { BOOT_MEETING_VALUES = 12 };
struct boot_meeting {
    _Atomic uint32_t round, arrived;               /* rounds that are over; who has come to this one */
    _Atomic uint64_t most[2][BOOT_MEETING_VALUES]; /* of this round, and of the last one, which some may still read */
} GW_ALIGNED(64);
struct boot_head {
    uint64_t magic;
    uint32_t version;                 /* of the layout of the whole segment: must equal GODWIT_SHM_VERSION */
    int32_t nlocal, size, first_rank; /* ranks on this node; in the job; world rank of local rank 0 */
    uint64_t bytes;                   /* of the whole file */
    uint64_t ranks_offset;            /* struct boot_rank[nlocal] */
    uint64_t shm_offset;              /* start of node/'s part (zeroed) */
    int32_t launcher_pid;
    int32_t cores; /* number of cores that the ranks of this node share */
    char jobid[32];
    char host[64];
    uint64_t nonce;              /* identifies the file to ranks that open it by its path; 0 with our mpiexec */
    struct boot_port control;    /* mpiexec's port for requests to spawn processes */
    struct boot_port parent;     /* port of the job that spawned this one */
    _Atomic uint32_t attached;   /* number of ranks that have mapped it (futex word); unused with our mpiexec */
    uint64_t uid;                /* unique id of this world: random */
    int32_t home_pid, home_fd;   /* a process that holds the file open as long as the world lives, for other worlds; fd -1: none */
    _Atomic uint64_t area_bytes; /* size of an area of a rank, in node/'s part: it has one for each of so many */
    _Atomic uint32_t lanes;
    char vnodes[64];      /* mpiexec's segment: how its ranks are split into faked nodes; "": they are not */
    int32_t node, nnodes; /* this node, and number of nodes */
    uint64_t map_offset;  /* node of each rank, int32_t[size]; if ranks were reordered, followed by the process of each; 0: none */
    _Atomic uint32_t pool_state;      /* futex word, enum boot_pool_state | local rank of who refused << BOOT_POOL_RANK_SHIFT */
    _Atomic uint32_t pool_votes;      /* ranks of the node that agreed */
    uint64_t pool_bytes;              /* of that file, */
    uint64_t pool_inode, pool_device; /* and which one it is: the number of a process that held it may be another one's */
    _Atomic uint32_t pool_told;       /* a rank has said why not */
    _Atomic uint32_t
        pages_told; /* a rank of the node has said that memory of the program's lies on ordinary pages (1), smaller ones (2) */
    _Atomic uint32_t met[2]; /* number of ranks of the node that have reached the end of MPI_Init; MPI_Finalize */
    struct boot_meeting meeting;
} GW_ALIGNED(64);
/* Faked nodes (GODWIT_VNODES, `mpiexec --vnodes`): the ranks of a host behave as if they were on several nodes.  Each faked node has its own
 * segment, as with PMIx; mpiexec's holds the slots of all ranks and, behind them, a key-value store (the board). */
/* Offset of node/'s part in a segment for `nlocal` ranks; the launcher uses the same function. */
#define BOOT_RANKS_OFFSET ((sizeof(struct boot_head) + 127) & ~(uint64_t)127)
static inline uint64_t boot_shm_offset(int nlocal)
{
    return gw_align_up(BOOT_RANKS_OFFSET + (size_t)nlocal * sizeof(struct boot_rank), gw_page_bytes());
}

/* Maps the node's segment, with node_bytes for node/'s part, the same on all ranks.  With our mpiexec it is the inherited file; otherwise
 * local rank 0 creates a memfd, and the other ranks open it by /proc/PID/fd/N (verified by the nonce), which they learn by the key-value
 * store.  The memory is zero and reserved, so no SIGBUS can follow; seldom_bytes of it are not counted in the check for available memory,
 * unless GODWIT_HUGE_PAGES=all makes all of it resident; with =pool, what boot_pool_take() may put elsewhere is not.
 * If there is not enough memory, the process ends with a message.  Closes its descriptors. */
struct boot_head *boot_map_segment(uint64_t node_bytes, uint64_t seldom_bytes);
/* With GODWIT_HUGE_PAGES=pool: puts node's part of the mapped segment onto pages of the system's pool, as far as whole pages go, if there are
 * enough and all ranks of the node can have it so.  Waits for them: with gw_boot.meets until they have come, else for two
 * seconds.  True: it lies there, resident; else, if it does not fit into memory, the process ends with a message.  Every rank
 * calls it before it touches that part, whatever its setting. */
bool boot_pool_take(struct boot_head *h, uint64_t node_bytes);
/* Memory of the program's lies on smaller pages than it asks for: large ones, or ordinary ones.  True for one rank of the node, once for each: it
 * says what is so for all of them.  *is_more_out: some lies on large ones, as was said.  Of large ones nothing is said after ordinary ones. */
bool boot_pages_tell(bool is_large, bool *is_more_out);
/* The segment lies where large pages fit, as the system may grant them and GODWIT_HUGE_PAGES says nothing else. */
bool boot_may_be_huge(void);
/* this rank's slot; never NULL: a private one before the segment is mapped and after boot_finalize() */
extern struct boot_rank *boot_slot;
struct boot_rank *boot_my_rank_slot(void);      /* the same */
struct boot_rank *boot_slot_of(int local_rank); /* of another rank of this node, while the segment is mapped */
/* Records that this rank enters a collective (struct boot_coll), in the MPI call entered last. */
static inline void boot_coll_note(uint32_t ctx, uint64_t number, uint64_t says, uint64_t bytes_and_mark)
{
    struct boot_rank *s = boot_slot;
    uint32_t n = atomic_load_explicit(&s->n_colls, memory_order_relaxed),
             call = atomic_load_explicit(&s->call, memory_order_relaxed);
    if (unlikely(s->is_threaded)) {
        n = atomic_fetch_add_explicit(&s->n_colls, 1, memory_order_relaxed);
        call = 0; /* may be another thread's */
    } else {
        atomic_store_explicit(&s->n_colls, n + 1, memory_order_relaxed);
    }
    struct boot_coll *c = &s->colls[n % BOOT_COLLS];
    /* Marked empty while it is written: boot_coll_read() compares word[0] before and after. */
    atomic_store_explicit(&c->word[0], 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&c->word[1], says, memory_order_relaxed);
    atomic_store_explicit(&c->word[2], bytes_and_mark, memory_order_relaxed);
    atomic_store_explicit(&c->word[0], boot_coll_pack(ctx, number, call), memory_order_release);
}
/* A consistent copy of an entry; false: it is empty, or being written. */
static inline bool boot_coll_read(const struct boot_coll *c, uint64_t word_out[3])
{
    word_out[0] = atomic_load_explicit(&c->word[0], memory_order_acquire);
    word_out[1] = atomic_load_explicit(&c->word[1], memory_order_relaxed);
    word_out[2] = atomic_load_explicit(&c->word[2], memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    return word_out[0] && atomic_load_explicit(&c->word[0], memory_order_relaxed) == word_out[0];
}
/* Removes the entries of a context id that is about to be reused, so that they are not taken for those of the new communicator. */
static inline void boot_coll_forget(uint32_t ctx)
{
    for (int i = 0; i < BOOT_COLLS; i++) {
        struct boot_coll *c = &boot_slot->colls[i];
        if (atomic_load_explicit(&c->word[0], memory_order_relaxed) >> 34 != ctx) continue;
        atomic_store_explicit(&c->word[0], 0, memory_order_relaxed);
    }
}

#endif
