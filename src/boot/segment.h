/* segment.h -- the memory that the processes of a node share, as far as it is boot's: a head, and a slot for each rank.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BOOT_SEGMENT_H
#define GW_BOOT_SEGMENT_H

#include <stdatomic.h>

#include "base/base.h"
#include "boot/boot.h"
#include "boot/where.h"

/* Our mpiexec sets GODWIT_BOOT="fd=N,local=K" and, where they are not 0, ",app=A,universe=U": the descriptor N, inherited,
 * is the segment; this process is local rank K of application A.  One process joins per local rank, once.
 *
 * The head of the segment that mpiexec makes before it forks (a memfd inherited as an open descriptor) and that
 * otherwise rank 0 of the node makes.  The launcher reads `rank[]` after a death to say what the rank was doing.
 * Ranks per node are counted in `nlocal`; slot i belongs to local rank i. */
#define BOOT_MAGIC         0x31544957444f47ull /* "GODWIT1" */
#define GODWIT_SHM_VERSION 15u                 /* raise with every change of what lies in the segment */
enum boot_phase { BOOT_NEW, BOOT_INIT, BOOT_RUNNING, BOOT_FINALIZED, BOOT_ABORTED };

/* Another world with which a rank is connected (MPI 4.1 section 11.10.4): while its communicators or groups have members there.
 * Our mpiexec reads it: connected jobs fail together, others do not. */
enum { BOOT_TIES = 32 };
struct boot_tie {
    _Atomic uint64_t uid;
    _Atomic int32_t pid, fd;
}; /* where its home is; uid 0: none, and the last to be written */

/* A thread of a rank has got a signal by which programs crash, and waits with it until mpiexec has looked at the process (boot_crash.c,
 * verdict/crash.c). */
enum boot_crash_state { BOOT_NO_CRASH, BOOT_CRASH_NOTED, BOOT_CRASHED, BOOT_CRASH_SEEN };
struct boot_crash {
    _Atomic uint32_t state; /* futex word; CRASHED, and the fields below hold: by the rank.  SEEN: by mpiexec */
    int32_t signal, code;   /* code: si_code, above 0 where the kernel found a fault */
    uint64_t address;       /* that was at fault, if code says so */
};

enum { BOOT_CALL_NAME = 40 }; /* room for the name of an MPI call; arrays, as the loader would have to fill in pointers */

struct boot_rank { /* of one local rank, written by that rank only; its own cache lines */
    _Atomic int32_t pid;
    _Atomic uint32_t phase; /* enum boot_phase */
    _Atomic(uint32_t) call; /* index of the MPI call last entered (GW_FN_*), 0 = none; see boot_call_names */
    _Atomic int32_t abort_code;
    char what[112];            /* last words: text of a fatal error, for the launcher; 0-terminated */
    _Atomic uint32_t n_colls;  /* entered so far, the newest is colls[(n_colls - 1) % BOOT_COLLS] */
    uint32_t is_threaded;      /* several threads may be in MPI at once: a wait does not mean that the rank rests */
    uint32_t is_checking;      /* GODWIT_CHECK */
    int32_t app;               /* number of its application in the command, from 0: written by our mpiexec before the rank starts */
    _Atomic uint32_t in_world; /* it has called MPI_Init: sessions alone do not meet those who spawned us */
    _Atomic uint32_t ties_more; /* worlds for which ties[] had no room */
    struct boot_crash crash;
    struct boot_tie ties[BOOT_TIES];
    struct boot_coll colls[BOOT_COLLS];
    struct boot_where where;
} GW_ALIGNED(128);
struct boot_head {
    uint64_t magic;
    uint32_t version;                 /* of this layout and of everything behind it: GODWIT_SHM_VERSION, must be equal */
    int32_t nlocal, size, first_rank; /* ranks on this node, in the job, world rank of local rank 0 */
    uint64_t bytes;                   /* of the whole file */
    uint64_t ranks_offset;            /* struct boot_rank[nlocal] */
    uint64_t shm_offset;              /* from here on the file belongs to node/ (zeroed) */
    int32_t launcher_pid;
    int32_t cores; /* cores that the ranks of this node share */
    char jobid[32];
    char host[64];
    uint64_t nonce;              /* so that nobody maps another file by mistake; 0 under our mpiexec */
    struct boot_port control;    /* of mpiexec, where ranks ask for more processes */
    struct boot_port parent;     /* where those who spawned us wait for us */
    _Atomic uint32_t attached;   /* ranks that mapped it (futex word); not used under our mpiexec */
    uint64_t uid;                /* of this world: random, no two have the same */
    int32_t home_pid, home_fd;   /* who holds the file open as long as the world lives: other worlds open it there; fd -1: nobody */
    _Atomic uint64_t area_bytes; /* of each rank, in the part of node/ */
    char vnodes[64];             /* of mpiexec's segment: how its ranks are split into faked nodes; "": they are not */
    int32_t node, nnodes;    /* where it is the segment of one node of several; the node of each rank of the job: int32_t[size] */
    uint64_t map_offset;     /* and behind it, where ranks were reordered, the process of each rank; 0 (mpiexec's): none */
    _Atomic uint32_t met[2]; /* ranks of the node that have come to the end of MPI_Init, and to MPI_Finalize */
} GW_ALIGNED(64);
/* Faked nodes (GODWIT_VNODES, `mpiexec --vnodes`): the ranks of a host act as if they were on several.  Each faked node has a segment
 * of its own, as under PMIx; mpiexec's holds the slots of all ranks, and behind them the board through which they exchange keys. */
/* Where the ranks and the part of node/ begin in a segment for `nlocal` ranks; the launcher uses the same. */
#define BOOT_RANKS_OFFSET ((sizeof(struct boot_head) + 127) & ~(uint64_t)127)
static inline uint64_t boot_shm_offset(int nlocal)
{
    return (BOOT_RANKS_OFFSET + (uint64_t)nlocal * sizeof(struct boot_rank) + 4095) & ~(uint64_t)4095;
}

/* Maps the node's segment: `bytes` as computed by boot_segment_bytes for this nlocal by every rank alike.
 * Under our mpiexec it maps the inherited file; otherwise local rank 0 makes a memfd and the others open it through
 * /proc/PID/fd/N (checked by a nonce), all agreed through put/fence/get.  The memory is zero and reserved (a real check,
 * never SIGBUS): if the machine cannot give it, but for seldom_bytes, one sentence says sizes and limits.  Closes every descriptor. */
struct boot_head *boot_map_segment(uint64_t node_bytes, uint64_t seldom_bytes);
extern struct boot_rank
    *boot_slot; /* this rank's; never NULL: a private one before the segment is mapped and after boot_finalize */
struct boot_rank *boot_my_rank_slot(void);      /* the same */
struct boot_rank *boot_slot_of(int local_rank); /* of another rank of this node, while the segment is mapped */
/* Notes that this rank enters a collective, in the words above; `call` is the one entered last. */
static inline void boot_coll_note(uint32_t ctx, uint64_t number, uint64_t says, uint64_t bytes_and_mark)
{
    struct boot_rank *s = boot_slot;
    uint32_t n = atomic_load_explicit(&s->n_colls, memory_order_relaxed),
             call = atomic_load_explicit(&s->call, memory_order_relaxed);
    if (unlikely(s->is_threaded)) {
        n = atomic_fetch_add_explicit(&s->n_colls, 1, memory_order_relaxed);
        call = 0; /* perhaps another thread's */
    } else {
        atomic_store_explicit(&s->n_colls, n + 1, memory_order_relaxed);
    }
    struct boot_coll *c = &s->colls[n % BOOT_COLLS];
    /* Empty while it is written: who reads it looks at word[0] before and after. */
    atomic_store_explicit(&c->word[0], 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&c->word[1], says, memory_order_relaxed);
    atomic_store_explicit(&c->word[2], bytes_and_mark, memory_order_relaxed);
    atomic_store_explicit(&c->word[0], boot_coll_pack(ctx, number, call), memory_order_release);
}
/* An entry as it was written; false: it is being written, or empty. */
static inline bool boot_coll_read(const struct boot_coll *c, uint64_t word_out[3])
{
    word_out[0] = atomic_load_explicit(&c->word[0], memory_order_acquire);
    word_out[1] = atomic_load_explicit(&c->word[1], memory_order_relaxed);
    word_out[2] = atomic_load_explicit(&c->word[2], memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    return word_out[0] && atomic_load_explicit(&c->word[0], memory_order_relaxed) == word_out[0];
}
/* For a context id that another communicator will get, whose collectives others would take these for. */
static inline void boot_coll_forget(uint32_t ctx)
{
    for (int i = 0; i < BOOT_COLLS; i++) {
        struct boot_coll *c = &boot_slot->colls[i];
        if (atomic_load_explicit(&c->word[0], memory_order_relaxed) >> 34 != ctx) continue;
        atomic_store_explicit(&c->word[0], 0, memory_order_relaxed);
    }
}

#endif
