/* sym.h -- symmetric memory and what PEs do with it (OpenSHMEM 1.6): what the entry points of libgodwit_shmem call.
 *
 * A PE is a rank of MPI_COMM_WORLD.  The rooms below stand once in a process, in the MPI library; this room begins an instance of life/ as
 * MPI does, so the two may be initialised in any order.  The entry points (src/shmem, generated) are another shared library: what they call
 * is visible, under names that no program has.
 *
 *     entry point --memory of this node--> load, store, atomic instruction (sym_near.h)
 *                 --else--> this room --on this node--> the same, at addresses that the inlined test does not know
 *                                     --on another--> a window of rma/ over the region: RDMA, or messages that the service serves
 *
 * ATOMICS  are the processor's of the target's node, whoever asks: by an instruction from that node, by a message from others, whose
 *          receiver executes the instruction.  So all domains of section 9.7 are one, and wait and test see them.
 * ERRORS   `call` is the name of the entry point.  What the caller did wrong (PE, address, team, context) ends the job with a block that says
 *          call, argument, value, and what to do; where OpenSHMEM has a return value for a failure, that is returned.
 * LOCK     No lock is held by the caller.  Any thread where the level is GW_THREAD_MULTIPLE; one collective at a time on a team.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_SYM_SYM_H
#define GW_SYM_SYM_H

#include "base/base.h"
#include "type/type.h"

/* Handles as programs have them: the predefined ones are small numbers, so that they are constants of the linker; others are addresses. */
typedef uintptr_t sym_ctx_id, sym_team_id;
enum { SYM_MAJOR = 1, SYM_MINOR = 6 }; /* version of the specification */
enum { SYM_CTX_INVALID, SYM_CTX_DEFAULT };
enum { SYM_TEAM_INVALID, SYM_TEAM_WORLD, SYM_TEAM_SHARED };

/* ---- begin and end (sections 9.1, 9.2; begin.c) ---- */
/* level: a GW_THREAD_*.  *provided_out (may be NULL): what there is.  0, or not 0 if the heap cannot be had. */
GW_EXPORT int godwit_sym_begin(const char *call, int level, int *provided_out);
GW_EXPORT void godwit_sym_begin_must(const char *call); /* the lowest level; ends the job where there is no heap */
GW_EXPORT void godwit_sym_begin_once(const char *call); /* start_pes: the end follows when the process exits */
GW_EXPORT void godwit_sym_end(const char *call);
GW_EXPORT int godwit_sym_is_begun(void);
GW_EXPORT int godwit_sym_level(const char *call);
GW_EXPORT void godwit_sym_exit(int status) __attribute__((noreturn)); /* shmem_global_exit */
GW_EXPORT int godwit_sym_pe(const char *call);
GW_EXPORT int godwit_sym_pes(const char *call);
/* For tools: what follows, in MPI or here, is done for this call of the program, which reports name; NULL: that is over. */
GW_EXPORT void godwit_sym_within(const char *call);
/* An argument that is none of what is expected: ends the job. */
GW_EXPORT void godwit_sym_wrong(const char *call, const char *argument, long value, const char *expected)
    __attribute__((noreturn, cold));
/* GODWIT_CHECK, before an access to a PE's copy of memory at addr: ends the job unless it lies in a block, or in static data (check.c), or where
 * another PE has written the same bytes and nothing orders the two (race.c). */
enum sym_access_kind {
    SYM_READS,
    SYM_FETCHES, /* and changes, by an atomic */
    SYM_CHANGES, /* the same without a result; or not all of the bytes */
    SYM_WRITES,  /* all of the bytes */
};
struct sym_access {
    enum sym_access_kind kind;
    const void *addr;
    size_t bytes;
    int pe;
    const void *source; /* of what is written */
    bool is_signaled;   /* a signal of the same call tells when it is there */
};
GW_EXPORT void godwit_sym_check_access(const char *call, sym_ctx_id ctx, const struct sym_access *a) __attribute__((cold));
/* For what needs an initialised library and has no other argument to be wrong. */
GW_EXPORT int godwit_sym_pe_is_accessible(const char *call, int pe);
GW_EXPORT int godwit_sym_is_accessible(const char *call, const void *addr, int pe);
GW_EXPORT void *godwit_sym_ptr(const char *call, const void *addr, sym_team_id team, int pe);

/* ---- the symmetric heap (section 9.3; heap.c) ----  Collective over all PEs, with the same arguments. */
GW_EXPORT void *godwit_sym_malloc(const char *call, size_t bytes, size_t align, long hints); /* align 0: the usual one */
GW_EXPORT void *godwit_sym_calloc(const char *call, size_t count, size_t bytes);
GW_EXPORT void *godwit_sym_realloc(const char *call, void *ptr, size_t bytes);
GW_EXPORT void godwit_sym_free(const char *call, void *ptr);

/* Memory of the program's own, as many bytes on each PE, is symmetric until the end, too (bring.c).  Collective over all PEs; once.  NULL: there
 * is none. */
GW_EXPORT void godwit_sym_bring(const char *call, void *base, size_t bytes);

/* ---- teams and contexts (sections 9.4, 9.5; team.c, ctx.c) ---- */
struct sym_team_config {
    int num_contexts;
};
enum { SYM_TEAM_NUM_CONTEXTS = 1 };
enum { SYM_CTX_SERIALIZED = 1, SYM_CTX_PRIVATE = 2, SYM_CTX_NOSTORE = 4 };
GW_EXPORT int godwit_sym_team_pe(const char *call, sym_team_id team);
GW_EXPORT int godwit_sym_team_pes(const char *call, sym_team_id team);
GW_EXPORT int godwit_sym_team_config(const char *call, sym_team_id team, long mask, struct sym_team_config *config_out);
GW_EXPORT int godwit_sym_team_translate(const char *call, sym_team_id from, int pe, sym_team_id to);
struct sym_split { /* one of the two teams of a 2-D split, or the one of a strided split */
    const struct sym_team_config *config;
    long mask;
    sym_team_id *team_out;
};
GW_EXPORT int godwit_sym_team_split(const char *call, sym_team_id parent, int start, int stride, int size, struct sym_split split);
GW_EXPORT int godwit_sym_team_split_2d(const char *call, sym_team_id parent, int xrange, struct sym_split x, struct sym_split y);
/* Those of the same color, 0 or more, in the order of their keys; another color: a PE of no team. */
GW_EXPORT void godwit_sym_team_split_color(const char *call, sym_team_id parent, int color, int key, sym_team_id *team_out);
GW_EXPORT void godwit_sym_team_destroy(const char *call, sym_team_id team);
GW_EXPORT int godwit_sym_ctx_create(const char *call, sym_team_id team, long options, sym_ctx_id *ctx_out);
GW_EXPORT void godwit_sym_ctx_destroy(const char *call, sym_ctx_id ctx);
GW_EXPORT int godwit_sym_ctx_team(const char *call, sym_ctx_id ctx, sym_team_id *team_out);
enum { SYM_SESSION_TOTAL_OPS = 1, SYM_SESSION_BATCH = 1 }; /* a bit of the mask of the configuration; of the options */
struct sym_session_config {
    size_t total_ops;
};
GW_EXPORT void godwit_sym_session_start(const char *call, sym_ctx_id ctx, long options, const struct sym_session_config *config,
                                        long mask);
GW_EXPORT void godwit_sym_session_stop(const char *call, sym_ctx_id ctx);

/* What of a context has gone to PEs of other nodes, and how much of it is known to be complete; what this PE has done for such PEs. */
struct sym_counts {
    uint64_t puts, puts_done, gets, gets_done, served;
};
GW_EXPORT struct sym_counts godwit_sym_counts(const char *call, sym_ctx_id ctx);

/* ---- remote memory access (section 9.6; move.c) ----  `pe` is a number in the context's team.  nbi: complete with a quiet only. */
GW_EXPORT void godwit_sym_put(const char *call, sym_ctx_id ctx, void *dest, const void *source, size_t bytes, int pe, bool nbi);
GW_EXPORT void godwit_sym_get(const char *call, sym_ctx_id ctx, void *dest, const void *source, size_t bytes, int pe, bool nbi);
/* Blocks of `block` elements of `bytes` bytes each, `n` of them; strides in elements from the begin of a block to the begin of the next. */
struct sym_strided {
    void *dest;
    const void *source;
    ptrdiff_t dest_stride, source_stride;
    size_t block, n, bytes;
};
GW_EXPORT void godwit_sym_put_strided(const char *call, sym_ctx_id ctx, const struct sym_strided *s, int pe);
GW_EXPORT void godwit_sym_get_strided(const char *call, sym_ctx_id ctx, const struct sym_strided *s, int pe);

/* ---- atomics and signals (sections 9.7, 9.8; atomic.c) ----  Elements of 4 or 8 bytes, aligned; of less, the low bytes of the words. */
enum sym_amo { SYM_AMO_FETCH, SYM_AMO_SET, SYM_AMO_ADD, SYM_AMO_AND, SYM_AMO_OR, SYM_AMO_XOR, SYM_AMO_SWAP, SYM_AMO_CSWAP };
struct sym_atomic {
    enum sym_amo op;
    int bytes;
    void *at;
    uint64_t value, compare;
};
GW_EXPORT uint64_t godwit_sym_atomic(const char *call, sym_ctx_id ctx, const struct sym_atomic *a, int pe); /* the old value */
GW_EXPORT void godwit_sym_update(const char *call, sym_ctx_id ctx, const struct sym_atomic *a, int pe);     /* done with a quiet */
GW_EXPORT void godwit_sym_atomic_nbi(const char *call, sym_ctx_id ctx, const struct sym_atomic *a, void *fetch_out, int pe);
struct sym_signal {
    uint64_t *at;
    uint64_t value;
    bool is_add; /* else it is set */
};
GW_EXPORT void godwit_sym_put_signal(const char *call, sym_ctx_id ctx, void *dest, const void *source, size_t bytes,
                                     const struct sym_signal *signal, int pe, bool nbi);

/* ---- order and completion (section 9.12; order.c) ----  Where sym_near_quiet() and sym_near_fence() say false. */
GW_EXPORT void godwit_sym_fence(const char *call, sym_ctx_id ctx);
GW_EXPORT void godwit_sym_quiet(const char *call, sym_ctx_id ctx);
GW_EXPORT void godwit_sym_pe_quiet(const char *call, sym_ctx_id ctx, const int *pes, size_t n);

/* ---- waiting for own memory (section 9.11; wait.c) ---- */
enum sym_cmp { SYM_CMP_EQ, SYM_CMP_NE, SYM_CMP_GT, SYM_CMP_GE, SYM_CMP_LT, SYM_CMP_LE };
enum sym_how { SYM_ALL, SYM_ANY, SYM_SOME };
struct sym_wait {
    const void *vars;  /* [n], of kind `elem` */
    enum gw_elem elem; /* I16 to I64, U16 to U64 */
    enum sym_cmp cmp;
    size_t n;
    const int *status;  /* [n], not 0: left out; may be NULL */
    const void *values; /* of the same kind: one, or [n] with is_vector */
    bool is_vector;
    enum sym_how how;
    size_t *indices; /* SOME: [n] */
};
/* ALL: 0 of a wait; of a test whether all hold.  ANY: the index, SIZE_MAX where there is none.  SOME: how many indices. */
GW_EXPORT size_t godwit_sym_wait(const char *call, const struct sym_wait *w);
GW_EXPORT size_t godwit_sym_test(const char *call, const struct sym_wait *w);
GW_EXPORT uint64_t godwit_sym_signal_wait(const char *call, uint64_t *at, enum sym_cmp cmp, uint64_t value);

/* ---- collectives (section 9.10; coll.c) ----  0, or not 0 for an invalid team. */
GW_EXPORT void godwit_sym_barrier_all(const char *call);
GW_EXPORT void godwit_sym_sync_all(const char *call);
GW_EXPORT int godwit_sym_sync(const char *call, sym_team_id team);
GW_EXPORT int godwit_sym_bcast(const char *call, sym_team_id team, void *dest, const void *source, size_t bytes, int root);
GW_EXPORT int godwit_sym_collect(const char *call, sym_team_id team, void *dest, const void *source, size_t bytes); /* may differ */
GW_EXPORT int godwit_sym_fcollect(const char *call, sym_team_id team, void *dest, const void *source, size_t bytes); /* are equal */
GW_EXPORT int godwit_sym_alltoall(const char *call, sym_team_id team, void *dest, const void *source, size_t bytes); /* a PE */
GW_EXPORT int godwit_sym_alltoalls(const char *call, sym_team_id team, const struct sym_strided *s); /* block 1, n elements a PE */
/* Bytes of any number to each PE (of Cray's library). */
struct sym_alltoallv {
    void *dest;
    const void *source;
    const size_t *source_at, *source_bytes; /* [PEs] where those for each PE begin, and how many they are */
    const size_t *dest_at;                  /* [PEs] where those of each PE go; NULL: one PE's behind the other's */
    size_t dest_len;                        /* without dest_at: for so many there is room */
    size_t *dest_bytes_out;                 /* [PEs] how many came of each PE; without dest_at: of all */
};
GW_EXPORT int godwit_sym_alltoallv(const char *call, sym_team_id team, const struct sym_alltoallv *v);
enum sym_op { SYM_OP_AND, SYM_OP_OR, SYM_OP_XOR, SYM_OP_MAX, SYM_OP_MIN, SYM_OP_SUM, SYM_OP_PROD };
struct sym_reduce {
    enum sym_op op;
    enum gw_elem elem;
    void *dest;
    const void *source; /* dest: in place */
    size_t n;
};
GW_EXPORT int godwit_sym_reduce(const char *call, sym_team_id team, const struct sym_reduce *r);
GW_EXPORT int godwit_sym_scan(const char *call, sym_team_id team, const struct sym_reduce *r, bool is_inclusive); /* sums */
/* Active sets, which are deprecated: the team of these PEs, made when they first call.  The program's pSync and pWrk are not used. */
struct sym_set {
    int start, log_stride, size;
};
GW_EXPORT sym_team_id godwit_sym_set(const char *call, struct sym_set set);

/* ---- locks (section 9.13; lock.c) ---- */
GW_EXPORT void godwit_sym_lock_set(const char *call, long *lock);
GW_EXPORT void godwit_sym_lock_clear(const char *call, long *lock);
GW_EXPORT int godwit_sym_lock_test(const char *call, long *lock); /* 0: it is this PE's now */

#endif
