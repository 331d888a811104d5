/* sym_private.h -- shared by the files of sym/.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_SYM_SYM_PRIVATE_H
#define GW_SYM_SYM_PRIVATE_H

#include "boot/boot.h"
#include "boot/call.h"
#include "boot/segment.h"
#include "coll/coll.h"
#include "comm/comm.h"
#include "op/op.h"
#include "rma/rma.h"
#include "share/share.h"
#include "sym/sym.h"
#include "sym/sym_near.h"

/* ---- memory of the regions (memory.c, data.c) ----
 * LOCK     sym_memory_open() and _close() are collective over `world`, whose rank is the PE; the rest reads what they wrote. */
enum sym_region_kind { SYM_HEAP, SYM_DATA, SYM_BROUGHT, SYM_REGIONS };
struct sym_memory {
    struct gw_comm *world;
    const int32_t *local; /* [PEs] place of a PE on this node, -1: on another; NULL: as godwit_sym_near says */
    int32_t me, n_local;
    struct sym_region region[SYM_REGIONS]; /* as in godwit_sym_near; bytes 0 where it cannot be shared: then base and */
    uint64_t data_bytes, brought_bytes;    /* these say where it lies all the same, for accesses by the window */
    bool checks;                           /* GODWIT_CHECK, which is alike on all PEs */
    struct rma_win *win[SYM_REGIONS];      /* over this PE's part; NULL where all PEs have its region mapped */
};
extern struct sym_memory sym_memory;
/* Maps the regions of all PEs of the node; sym_memory.region[] and what tells who is near are there.  heap_bytes: that the program may
 * allocate, the same on all PEs.  GW_OK, or this PE's error: it calls sym_memory_meet() all the same. */
int sym_memory_open(struct gw_comm *world, uint64_t heap_bytes);
/* rc: what this PE has come to.  All PEs are there from here on, and godwit_sym_near is filled; or an error, the same on all PEs, and
 * there is no memory. */
int sym_memory_meet(int rc);
/* No PE accesses a region any more.  The program's static data keep their values. */
void sym_memory_close(void);
/* ---- how much (size.c) ----
 * The limits of memory are read by one PE of each control group of a node: each notes its group, and meets the others before it asks. */
int64_t sym_size_note(void); /* its number, positive; 0: not known */
/* Does this PE read them?  *is_one_out: all PEs of the node are in one control group. */
bool sym_size_reads(bool *is_one_out);
/* What SHMEM_SYMMETRIC_SIZE and the others say, or a part of what this PE knows of the machine's memory; 0: it cannot be read. */
uint64_t sym_memory_heap_wanted(bool reads);
#define SYM_SIZE_CURE "; set SHMEM_SYMMETRIC_SIZE lower"
/* GW_OK: there is so much memory for the heap of each of this node's PEs, of which n_group share the limit of this PE's control group. */
int sym_size_check(uint64_t bytes, int n_group);
/* A window over the parts of a region that lie at `base`, to which every PE has access until the end.  Collective. */
int sym_window_open(char *base, uint64_t bytes, struct rma_win **win_out);
/* The region in which all `bytes` bytes at addr lie; -1: none. */
int sym_region_of(const void *addr, uint64_t bytes);
/* A PE's copy, on this node; NULL: the PE is on another node, or the memory is not symmetric. */
char *sym_place(const void *addr, uint64_t bytes, int pe);
static inline bool sym_is_near(int pe)
{
    uint32_t local = (uint32_t)pe - godwit_sym_near.first;
    return local < godwit_sym_near.n || (sym_memory.local && sym_memory.local[pe] >= 0);
}

/* The program has ThreadSanitizer, whether this library has or not: its mmap() knows no MAP_FIXED_NOREPLACE, and a thread of its
 * own writes static data of the program at any time. */
static inline bool sym_has_tsan(void)
{
    extern char __tsan_init[] __attribute__((weak));
    return __tsan_init != NULL;
}
/* All PEs, which are on one node: they can meet by words of its segment. */
static inline bool sym_is_node(const struct gw_comm *c) { return c->one_node && c->size == gw_boot.size; }
/* Collective: the least of all PEs, in place, for the start: between nodes by messages between few, where the allreduce
 * among the PEs of a node would have each map pages of every other (64 PEs: 63 page faults of each, a tenth of their start). */
enum { SYM_TAG_LEAST = -64 };
static inline int sym_least(struct gw_comm *c, int64_t *values, int n)
{
    if (sym_is_node(c)) {
        for (int i = 0; i < n; i++) values[i] = ~values[i]; /* the largest of these is the least of those */
        coll_node_most(values, n);
        for (int i = 0; i < n; i++) values[i] = ~values[i];
        return GW_OK;
    }
    return coll_group_allreduce(c, NULL, c->size, c->rank, SYM_TAG_LEAST, values, n, gw_op_min);
}
/* For memory.c and data.c.  Collective: the first error of any member, the same on all. */
static inline int sym_agree(struct gw_comm *c, int rc) { return coll_worst(c, rc, "PE"); }
/* A file that the members of `here`, the PEs of a node, map whole, as share_map() does; nothing of it is touched. */
struct sym_file {
    struct share_file file;
    int fd;
    bool is_made; /* this PE has made it */
    char *whole;  /* NULL: it is not mapped.  The memory is file.head behind it */
};
struct sym_file_want {
    const struct share_words *words;
    uint64_t bytes, page;
    struct sym_file *file; /* to be ended by sym_file_end(), whatever rc is */
    int rc; /* before, of the first PE of the node: not GW_OK: it is not to be made.  Then: it is mapped, or why not */
};
/* Collective over `here`, at most two at a time; an error of the exchange itself. */
int sym_files_make(struct gw_comm *here, struct sym_file_want *want, int n);
/* No access behind the `bytes` of each part, `stride` from one to the next; on a node of many PEs, before and behind the own part alone. */
int sym_file_guard(const struct sym_file *f, const struct share_words *w, const struct gw_comm *here, uint64_t bytes,
                   uint64_t stride);
void sym_file_hide(struct sym_file *f); /* closes the descriptor, once all have opened it */
void sym_file_end(struct sym_file *f);
/* Static data.  What cannot be shared, for whatever reason, stays private on all PEs of the node. */
void sym_data_want(struct gw_comm *here, struct sym_file_want *want); /* where they are, and the file for them */
void sym_data_map(struct gw_comm *here, int rc);                      /* into that file, if it was made: rc */
/* What is to be the same on all PEs, for a reduction by minimum over all, and what came of it: fills sym_memory's SYM_DATA.  *all_have_out:
 * each PE maps those of its node; where not, this is collective over `here`. */
enum { SYM_DATA_SAID = 6 };
void sym_data_say(int64_t said_out[SYM_DATA_SAID]);
int sym_data_agreed(struct gw_comm *here, const int64_t least[SYM_DATA_SAID], bool *all_have_out);
void sym_data_close(void);

/* ---- who allocates what in the heap (heap_blocks.c) ----
 * First fit by address, deterministic: the same calls give the same offsets on all PEs.  Its records lie outside of the heap, in memory of this
 * process, so what a program writes beyond a block does no harm to them. */
int sym_heap_open(uint64_t bytes); /* heap.c: nothing is allocated */
void sym_heap_close(void);
struct sym_blocks;
struct sym_blocks *sym_blocks_new(uint64_t bytes); /* NULL: no memory */
void sym_blocks_end(struct sym_blocks *b);
int64_t sym_blocks_take(struct sym_blocks *b, uint64_t bytes, uint64_t align); /* the offset; -1: no room.  align: a power of two */
bool sym_blocks_give(struct sym_blocks *b, uint64_t offset);                   /* false: no block begins there */
/* Grows or shrinks a block where it is; false: there is no room behind it, or no block begins there. */
bool sym_blocks_resize(struct sym_blocks *b, uint64_t offset, uint64_t bytes);
int64_t sym_blocks_size(const struct sym_blocks *b, uint64_t offset); /* bytes asked for; -1: no block begins there */
int64_t sym_blocks_around(const struct sym_blocks *b,
                          uint64_t offset); /* where the block begins of which this is a byte; -1: of none */
int64_t sym_blocks_before(const struct sym_blocks *b,
                          uint64_t offset); /* where the last block begins that ends there or before; -1: none does */
const char *sym_blocks_broken(const struct sym_blocks *b); /* the invariant that does not hold, in words; NULL: all do */
struct sym_blocks_use {
    uint64_t bytes, used, n, largest_free;
};
struct sym_blocks_use sym_blocks_use(const struct sym_blocks *b);

/* ---- what the caller did wrong (begin.c) ----  Ends the job: "CALL: what (printf format)", and the arguments. */
void sym_refuse(const char *call, const char *fmt, ...) GW_PRINTF(2, 3) __attribute__((noreturn, cold));
/* Where a symmetric word lies, in words: "heap + 0x10". */
enum { SYM_PLACE_TEXT = 40 };
const char *sym_place_text(const void *at, char out[SYM_PLACE_TEXT]); /* wait.c */
void sym_must(const char *call, int rc); /* an operation on another node failed: there is nothing that the program could do */
/* This PE has called that (BOOT_CALL_*): for reports, by others too. */
static inline void sym_call_enter(uint32_t number) { atomic_store_explicit(&boot_slot->call, number, memory_order_relaxed); }
void sym_begun(const char *call); /* refuses where there is no instance */

/* ---- GODWIT_CHECK (check.c) ---- */
/* A call of all members of a team: its kind, and what must be the same on all of them; told with its name. */
enum { SYM_ALIKE_ARGS = 3 };
struct sym_alike {
    const char *kind;
    struct sym_alike_arg {
        const char *name; /* NULL: it is not told */
        int64_t value;
    } arg[SYM_ALIKE_ARGS];
};
void sym_check_alike(const char *call, struct gw_comm *c, const struct sym_alike *a) GW_COLD; /* ends the job where they differ */
#define SYM_CHECK_ALIKE(call, comm, kind, ...)                                                                                     \
    do {                                                                                                                           \
        if (unlikely(sym_memory.checks)) sym_check_alike(call, comm, &(struct sym_alike){kind, {__VA_ARGS__}});                    \
    } while (0)
/* Blocks that were freed and are not used again yet, the oldest first.  LOCK heap.c's. */
bool sym_check_freed_add(uint64_t offset, uint64_t bytes, uint64_t *oldest_out); /* true: the oldest one is out, for use */
bool sym_check_freed_take(uint64_t *offset_out);                                 /* the oldest one; false: there is none */
bool sym_check_is_freed(uint64_t offset, uint64_t *begin_out, uint64_t *bytes_out);
void sym_check_freed_forget(void);
/* What lies at an offset of the heap (heap.c).  *begin_out, *bytes_out: of the block, or where there is none of the one before it; 0 bytes:
 * nor is there one before it. */
enum sym_block_state { SYM_BLOCK_NONE, SYM_BLOCK_USED, SYM_BLOCK_FREED };
enum sym_block_state sym_heap_look(uint64_t offset, uint64_t *begin_out, uint64_t *bytes_out);

/* ---- two PEs that write one word (race.c), where GODWIT_CHECK is on and all PEs are on this node ---- */
int sym_race_open(struct gw_comm *here); /* collective over all PEs */
void sym_race_close(void);
/* Before it is made; pe: of the world. */
void sym_race_access(const char *call, sym_ctx_id ctx, const struct sym_access *a, int pe);
void sym_race_fence(sym_ctx_id ctx);    /* what the context did comes before what this PE does from now on */
void sym_race_waited(const void *word); /* this PE has waited for that word of its own */
void sym_race_acquire(void);            /* this PE may know what others have done until now */
void sym_race_meet(void);               /* a synchronisation of all PEs is over */
void sym_race_pointer(void);            /* other PEs' memory may be accessed without a call */

/* ---- what the user asked to be told (told.c) ---- */
void sym_explain(void); /* SHMEM_DEBUG: explanations from here on */
void sym_tell(void);    /* SHMEM_VERSION, SHMEM_INFO: PE 0, once a process, on stdout */

/* ---- teams and contexts (team.c, ctx.c) ---- */
struct sym_team {
    uint64_t magic; /* SYM_TEAM_MAGIC while it lives */
    struct gw_group *group;
    struct gw_comm *comm; /* for collectives; NULL: not made yet (SHARED, active sets) */
    struct sym_team_config config;
    struct sym_ctx *ctxs;
    struct sym_team *next; /* of all that programs made */
    bool is_set;           /* of an active set; `set` says of which */
    struct sym_set set;
};
/* What a context has under way at PEs of other nodes, by region. */
struct sym_order {
    struct rma_counter counter[SYM_REGIONS];
    _Atomic bool is_fenced[SYM_REGIONS]; /* changes that a fence has put before what follows, also in other regions */
    _Atomic uint64_t begun[2], done[2];  /* gets, puts: how many, and how many of them when they were last all complete */
    _Atomic bool is_batched;             /* in a session with SYM_SESSION_BATCH: short changes need not leave at once */
};
struct sym_ctx {
    uint64_t magic;
    struct sym_team *team;
    long options;
    struct sym_order order;
    struct sym_ctx *next;
};
/* Handles begin with a magic number of their kind (handle.c).  False: whatever the number is, it is no such handle, or one that has ended. */
bool sym_handle_is(uintptr_t id, uint64_t magic);
void sym_handle_end(void *object); /* before it is freed */
/* NULL: SYM_TEAM_INVALID; refuses what is no team.  argument: what the call names it. */
struct sym_team *sym_team_named(const char *call, const char *argument, sym_team_id id);
static inline struct sym_team *sym_team_of(const char *call, sym_team_id id) { return sym_team_named(call, "team", id); }
struct gw_comm *sym_team_comm(const char *call, struct sym_team *t); /* made by the first collective of SHARED and of a set */
sym_team_id sym_team_id_of(const struct sym_team *t);
int sym_teams_open(struct gw_comm *world); /* WORLD and SHARED; the world's communicator stays the caller's */
void sym_teams_close(void);                /* all that are left, with their contexts */
void sym_ctxs_end(struct sym_team *t);
/* The PE of the world that is number `pe` of the context's team; refuses others. */
int sym_ctx_pe(const char *call, sym_ctx_id ctx, int pe);
struct sym_order *sym_ctx_order(const char *call, sym_ctx_id ctx); /* NULL: SYM_CTX_INVALID */

/* ---- other nodes (far.c) ----  Errors end the job. */
struct sym_far {
    const char *call;
    sym_ctx_id ctx;
    int pe;
    const void *addr; /* symmetric, as this PE knows it */
    uint64_t bytes;
};
void sym_far_put(const struct sym_far *f, const void *source, bool nbi);
void sym_far_get(const struct sym_far *f, void *dest, bool nbi);
/* f: all bytes from the lowest to the highest that are accessed. */
void sym_far_strided(const struct sym_far *f, const struct sym_strided *s, bool is_put);
void sym_copy_blocks(const struct sym_strided *s); /* move.c; both ends are in this process */
uint64_t sym_far_atomic(const struct sym_far *f, const struct sym_atomic *a, bool wants_old);
void sym_far_fetch(const struct sym_far *f, const struct sym_atomic *a, void *fetch_out); /* there after a quiet */
/* What follows at the PE (-1: at all) comes after what the context has done there. */
void sym_far_fence(const char *call, struct sym_order *o, int pe);
void sym_far_go(const char *call); /* what is batched leaves */
void sym_far_quiet(const char *call, struct sym_order *o);
void sym_far_quiet_pe(const char *call, struct sym_order *o, int pe);

#endif
