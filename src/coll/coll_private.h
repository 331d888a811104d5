/* coll_private.h -- shared by the algorithm files: constructors of references and steps, blocks of vector collectives, the list of algorithms.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_COLL_COLL_PRIVATE_H
#define GW_COLL_COLL_PRIVATE_H

#include <strings.h>

#include "coll/coll.h"
#include "base/base.h"
#include "base/processor.h"
#include "plan/plan.h"

static inline struct plan_ref ref_typed(enum plan_buf buf, int64_t off, int64_t count, struct gw_type *t)
{
    assert(t && count >= 0);
    return (struct plan_ref){.buf = (uint8_t)buf, .off = off, .count = count, .type = t, .len = -1};
}
static inline struct plan_ref ref_raw(enum plan_buf buf, int64_t off, int64_t len)
{
    assert(len >= 0);
    return (struct plan_ref){.buf = (uint8_t)buf, .off = off, .len = len};
}
/* Bytes [pos, pos + len) of the packed stream of a typed reference. */
static inline struct plan_ref ref_part(struct plan_ref r, int64_t pos, int64_t len)
{
    assert(r.type && pos >= 0 && len >= 0);
    r.pos = pos;
    r.len = len;
    return r;
}
static inline struct plan_ref ref_shm(const struct plan_args *a, int rank, int64_t off, int64_t len)
{
    assert(rank >= 0 && off >= 0);
    return (struct plan_ref){.buf = PLAN_SHM, .slot = (uint8_t)(a->n % PLAN_SLOTS), .rank = rank, .off = off, .len = len};
}
static inline struct plan_ref ref_slot(int rank, int64_t slot, int64_t off, int64_t len) /* in a wide collective */
{
    return (struct plan_ref){.buf = PLAN_SHM, .slot = (uint8_t)(slot % PLAN_SLOTS), .rank = rank, .off = off, .len = len};
}

/* What a member puts into its slot of a narrow collective with PLAN_SMALL: few bytes travel in the line of the flag. */
static inline struct plan_ref ref_narrow(const struct plan_args *a, int rank, int64_t len)
{
    struct plan_ref r = ref_shm(a, rank, 0, len);
    if (len <= PLAN_SMALL_BYTES) r.slot = (uint8_t)(PLAN_SLOTS + a->n % PLAN_SMALLS);
    return r;
}

/* In the line that `from` hands to `to`. */
static inline struct plan_ref ref_pair(const struct plan_args *a, int from, int to, int64_t off, int64_t len)
{
    uint8_t slot = (uint8_t)(PLAN_SLOTS + PLAN_SMALLS + a->n % PLAN_SLOTS);
    return (struct plan_ref){.buf = PLAN_SHM, .slot = slot, .rank = to, .off = from * GW_CACHELINE + 8 + off, .len = len};
}
/* A block whose length is known to its sender and receiver only, in [off, off + room) of a member's slot: does it fit there? */
static inline bool sized_fits(int64_t len, int64_t room) { return len + plan_size_gap(len) <= room; }
static inline struct plan_ref ref_sized(const struct plan_args *a, int rank, int64_t off, int64_t len)
{
    return ref_shm(a, rank, off + plan_size_gap(len), len);
}
/* Bytes of a member's slot for each member that sends to it. */
static inline int64_t coll_pair_share(const struct plan_args *a) { return PLAN_SLOT_BYTES / a->size & ~(int64_t)63; }

/* The bytes of a typed reference as a raw one: in place if its type is dense, else packed at offset `at` of the temporary buffer. */
static inline struct plan_ref ref_run_of(struct plan_ref r, int64_t at)
{
    int64_t bytes = r.count * r.type->size;
    return r.type->is_dense ? ref_raw(r.buf, r.off + r.type->true_lb, bytes) : ref_raw(PLAN_TMP, at, bytes);
}
static inline struct plan_ref ref_cut(struct plan_ref run, int64_t pos, int64_t len) /* bytes [pos, pos + len) of a raw reference */
{
    assert(!run.type && pos >= 0 && pos <= run.len && len >= 0);
    run.off += pos;
    run.len = gw_min64(len, run.len - pos);
    return run;
}
static inline int64_t packed_bytes(int64_t count, const struct gw_type *t) { return t->is_dense ? 0 : count * t->size; }

/* The list of steps of a round, to which an algorithm adds at most PLAN_STEPS. */
struct plan_steps {
    struct plan_step *at;
    int n;
};
static inline struct plan_step *step_add(struct plan_steps *s, enum plan_kind kind)
{
    assert(s->n < PLAN_STEPS);
    s->at[s->n] = (struct plan_step){.kind = (uint8_t)kind};
    return &s->at[s->n++];
}
static inline void step_send(struct plan_steps *s, int peer, struct plan_ref a)
{
    assert(peer >= 0);
    struct plan_step *p = step_add(s, PLAN_SEND);
    p->peer = peer, p->a = a;
}
static inline void step_recv(struct plan_steps *s, int peer, struct plan_ref a)
{
    assert(peer >= 0);
    struct plan_step *p = step_add(s, PLAN_RECV);
    p->peer = peer, p->a = a;
}
static inline void step_give(struct plan_steps *s, struct plan_ref a, struct plan_ref b)
{
    struct plan_step *p = step_add(s, PLAN_GIVE);
    p->a = a, p->b = b;
}
static inline void step_take(struct plan_steps *s, int peer, struct plan_ref a, struct plan_ref b)
{
    struct plan_step *p = step_add(s, PLAN_TAKE);
    p->peer = peer, p->a = a, p->b = b;
}
/* For a block that is too long for `place` (ref_sized, ref_shm): the sender gives its length there; the receiver then receives it as a message. */
static inline void step_give_length(struct plan_steps *s, struct plan_ref place)
{
    step_give(s, (struct plan_ref){.buf = PLAN_IN}, place);
}
static inline void step_recv_long(struct plan_steps *s, int peer, struct plan_ref a, struct plan_ref place)
{
    step_recv(s, peer, a);
    place.len = 0;
    s->at[s->n - 1].b = place;
}
static inline void step_copy(struct plan_steps *s, struct plan_ref a, struct plan_ref b)
{
    struct plan_step *p = step_add(s, PLAN_COPY);
    p->a = a, p->b = b;
}
static inline void step_label(struct plan_steps *s, struct plan_ref a, struct plan_ref b)
{
    struct plan_step *p = step_add(s, PLAN_LABEL);
    p->a = a, p->b = b;
}
static inline void step_unlabel(struct plan_steps *s, int peer, struct plan_ref a, struct plan_ref b)
{
    struct plan_step *p = step_add(s, PLAN_UNLABEL);
    p->peer = peer, p->a = a, p->b = b;
}
static inline void step_reduce(struct plan_steps *s, struct plan_ref a, struct plan_ref b) /* b = a OP b */
{
    struct plan_step *p = step_add(s, PLAN_REDUCE);
    p->a = a, p->b = b;
}
static inline void step_publish(struct plan_steps *s, int phase) { step_add(s, PLAN_PUBLISH)->phase = phase; }
static inline void step_wait(struct plan_steps *s, int peer, int phase)
{
    assert(peer >= -1 && phase >= 0);
    struct plan_step *p = step_add(s, PLAN_WAIT);
    p->peer = peer, p->phase = phase;
}
static inline void step_pair_signal(struct plan_steps *s, int peer, int64_t bytes)
{
    struct plan_step *p = step_add(s, PLAN_PAIR_SIGNAL);
    p->peer = peer, p->stride = bytes;
}
static inline void step_pair_wait(struct plan_steps *s, int peer, int64_t bytes)
{
    struct plan_step *p = step_add(s, PLAN_PAIR_WAIT);
    p->peer = peer, p->stride = bytes;
}
/* A block in the line for another member; at most LINES_GIVEN in a round, which leaves two steps. */
enum { LINES_GIVEN = (PLAN_STEPS - 2) / 2 };
static inline int line_rounds(const struct plan_args *a) { return (a->size - 1 + LINES_GIVEN - 1) / LINES_GIVEN; }
static inline void step_give_line(struct plan_steps *s, const struct plan_args *a, int to, struct plan_ref block)
{
    step_copy(s, block, ref_pair(a, a->rank, to, 0, plan_ref_bytes(&block)));
    step_pair_signal(s, to, 0);
}
enum { EVERYBODY = -1 };
static inline int log2_up(int p)
{
    int k = 0;
    assert(p > 0 && p <= 1 << 30);
    while (1 << k < p) k++;
    return k;
}
/* A step without effect, for a round in which this rank has nothing to do. */
static inline void step_nothing(struct plan_steps *s) { step_copy(s, ref_raw(PLAN_OUT, 0, 0), ref_raw(PLAN_OUT, 0, 0)); }

/* The block that this rank sends to, or receives from, member i, for the regular, v and w forms. */
static inline struct plan_ref block_of(enum plan_buf buf, int i, int64_t count, struct gw_type *t, struct gw_counts counts,
                                       struct gw_counts displs, struct gw_type **types)
{
    struct gw_type *type = types ? types[i] : t;
    if (unlikely(!type)) return ref_raw(buf, 0, 0); /* MPI_DATATYPE_NULL, which may go with a count of 0 */
    int64_t n = counts.v ? gw_counts_at(counts, i) : count;
    int64_t d = displs.v ? gw_counts_at(displs, i) : (int64_t)i * count;
    return ref_typed(buf, types ? d : d * type->extent, n, type);
}
static inline struct plan_ref send_block(const struct plan_args *a, int i)
{
    return block_of(PLAN_IN, i, a->scount, a->st, a->scounts, a->sdispls, a->sts);
}
static inline struct plan_ref recv_block(const struct plan_args *a, int i)
{
    return block_of(PLAN_OUT, i, a->rcount, a->rt, a->rcounts, a->rdispls, a->rts);
}
/* Reductions: this rank's operand, and the result. */
static inline struct plan_ref operand_mine(const struct plan_args *a)
{
    return ref_typed(a->in_place ? PLAN_OUT : PLAN_IN, 0, a->rcount, a->rt);
}
static inline struct plan_ref operand_out(const struct plan_args *a) { return ref_typed(PLAN_OUT, 0, a->rcount, a->rt); }
/* Part i of the operand of a reduce_scatter: the parts lie one behind the other, rcounts (or rcount) elements each. */
static inline struct plan_ref operand_part(const struct plan_args *a, int i)
{
    int64_t first = 0, n = a->rcount;
    assert(i >= 0);
    if (a->rcounts.v) {
        n = gw_counts_at(a->rcounts, i);
        for (int k = 0; k < i; k++) first += gw_counts_at(a->rcounts, k);
    } else {
        first = i * a->rcount;
    }
    return ref_typed(a->in_place ? PLAN_OUT : PLAN_IN, first * a->rt->extent, n, a->rt);
}
static inline bool op_commutes(const struct plan_args *a) { return a->op->commutes; }
/* Leaves compute on the bytes in the shared slots as they are. */
static inline bool op_dense(const struct plan_args *a) { return a->rt->is_dense && a->rt->true_lb == 0; }

/* Reductions: bytes of a temporary for rcount elements of rt, and where they begin. */
void coll_temporaries(struct plan_args *a);

/* All algorithms: collective, and the C name without coll_alg_.  X: its first entry; ALSO: it serves a further collective.  Tools number them in
 * this order. */
#define ALGORITHMS(X, ALSO)                                                                                                        \
    X(BARRIER, barrier_leaf)                                                                                                       \
    X(BARRIER, barrier_dissemination)                                                                                              \
    X(BARRIER, barrier_levels)                                                                                                     \
    X(BARRIER, barrier_atomics)                                                                                                    \
    X(BCAST, bcast_leaf)                                                                                                           \
    X(BCAST, bcast_leaf_wide)                                                                                                      \
    X(BCAST, bcast_pull)                                                                                                           \
    X(BCAST, bcast_direct)                                                                                                         \
    X(BCAST, bcast_binomial)                                                                                                       \
    X(BCAST, bcast_chain)                                                                                                          \
    X(BCAST, bcast_levels)                                                                                                         \
    X(GATHER, gather_leaf)                                                                                                         \
    X(GATHER, gather_linear)                                                                                                       \
    X(GATHER, gather_tree)                                                                                                         \
    X(GATHER, gather_levels)                                                                                                       \
    X(GATHER, gather_permitted)                                                                                                    \
    X(SCATTER, scatter_leaf)                                                                                                       \
    X(SCATTER, scatter_lines)                                                                                                      \
    X(SCATTER, scatter_linear)                                                                                                     \
    X(SCATTER, scatter_tree)                                                                                                       \
    X(SCATTER, scatter_levels)                                                                                                     \
    ALSO(GATHERV, gather_leaf)                                                                                                     \
    ALSO(GATHERV, gather_linear)                                                                                                   \
    ALSO(GATHERV, gather_permitted)                                                                                                \
    X(GATHERV, gather_ruled)                                                                                                       \
    ALSO(GATHERV, gather_tree)                                                                                                     \
    ALSO(SCATTERV, scatter_leaf)                                                                                                   \
    ALSO(SCATTERV, scatter_linear)                                                                                                 \
    X(SCATTERV, scatter_ruled)                                                                                                     \
    ALSO(SCATTERV, scatter_tree)                                                                                                   \
    X(ALLGATHER, allgather_leaf)                                                                                                   \
    X(ALLGATHER, allgather_leaf_wide)                                                                                              \
    X(ALLGATHER, allgather_pull)                                                                                                   \
    X(ALLGATHER, allgather_bruck)                                                                                                  \
    X(ALLGATHER, allgather_direct)                                                                                                 \
    X(ALLGATHER, allgather_ring)                                                                                                   \
    X(ALLGATHER, allgather_levels)                                                                                                 \
    X(ALLTOALL, alltoall_leaf)                                                                                                     \
    X(ALLTOALL, alltoall_lines)                                                                                                    \
    X(ALLTOALL, alltoall_pull)                                                                                                     \
    X(ALLTOALL, alltoall_pairwise)                                                                                                 \
    X(ALLTOALL, alltoall_in_place)                                                                                                 \
    X(ALLTOALL, alltoall_columns)                                                                                                  \
    X(ALLTOALL, alltoall_levels)                                                                                                   \
    X(ALLTOALL, alltoall_bruck)                                                                                                    \
    ALSO(ALLTOALLV, alltoall_leaf)                                                                                                 \
    ALSO(ALLTOALLV, alltoall_pairwise)                                                                                             \
    ALSO(ALLTOALLV, alltoall_in_place)                                                                                             \
    X(ALLTOALLV, alltoall_padded_bruck)                                                                                            \
    X(ALLTOALLV, alltoall_padded_columns)                                                                                          \
    X(ALLTOALLV, alltoall_ruled)                                                                                                   \
    X(REDUCE, reduce_leaf)                                                                                                         \
    X(REDUCE, reduce_leaf_wide)                                                                                                    \
    X(REDUCE, reduce_binomial)                                                                                                     \
    X(REDUCE, reduce_levels)                                                                                                       \
    X(REDUCE, reduce_exact)                                                                                                        \
    X(ALLREDUCE, allreduce_leaf)                                                                                                   \
    X(ALLREDUCE, allreduce_leaf_two)                                                                                               \
    X(ALLREDUCE, allreduce_leaf_wide)                                                                                              \
    X(ALLREDUCE, allreduce_doubling)                                                                                               \
    X(ALLREDUCE, allreduce_ring)                                                                                                   \
    X(ALLREDUCE, allreduce_direct)                                                                                                 \
    X(ALLREDUCE, allreduce_levels)                                                                                                 \
    X(ALLREDUCE, allreduce_levels_parts)                                                                                           \
    X(ALLREDUCE, allreduce_exact)                                                                                                  \
    X(REDUCE_SCATTER, reduce_scatter_leaf)                                                                                         \
    X(REDUCE_SCATTER, reduce_scatter_lines)                                                                                        \
    X(REDUCE_SCATTER, reduce_scatter_leaf_wide)                                                                                    \
    X(REDUCE_SCATTER, reduce_scatter_pull)                                                                                         \
    X(REDUCE_SCATTER, reduce_scatter_pairwise)                                                                                     \
    X(REDUCE_SCATTER, reduce_scatter_ordered)                                                                                      \
    X(REDUCE_SCATTER, reduce_scatter_halving)                                                                                      \
    X(REDUCE_SCATTER, reduce_scatter_levels)                                                                                       \
    X(REDUCE_SCATTER, reduce_scatter_exact)                                                                                        \
    X(SCAN, scan_leaf)                                                                                                             \
    X(SCAN, scan_doubling)                                                                                                         \
    X(SCAN, scan_levels)                                                                                                           \
    X(EXSCAN, exscan_leaf)                                                                                                         \
    X(EXSCAN, exscan_doubling)                                                                                                     \
    X(EXSCAN, exscan_levels)
/* Not in the table: there is one for each. */
extern const struct plan_algorithm coll_alg_neighbor_allgather, coll_alg_neighbor_alltoall, coll_alg_neighbor_allgather_leaf,
    coll_alg_neighbor_alltoall_leaf;
#define DECLARE(kind, name) extern const struct plan_algorithm coll_alg_##name;
#define NOTHING(kind, name)
ALGORITHMS(DECLARE, NOTHING)
#undef DECLARE
#undef NOTHING

/* ---- choice (select.c) ----------------------------------------------------------------------------------------------------- */
enum coll_kind {
    COLL_BARRIER,
    COLL_BCAST,
    COLL_GATHER,
    COLL_SCATTER,
    COLL_ALLGATHER,
    COLL_ALLTOALL,
    COLL_ALLTOALLV,
    COLL_GATHERV,
    COLL_SCATTERV,
    COLL_REDUCE,
    COLL_ALLREDUCE,
    COLL_REDUCE_SCATTER,
    COLL_SCAN,
    COLL_EXSCAN,
    COLL_KINDS,
    COLL_NEIGHBOR_ALLGATHER = COLL_KINDS,
    COLL_NEIGHBOR_ALLTOALL,
    COLL_CALLS /* of which nothing is to be chosen */
};
/* A row of tune/coll.tbl, tune/nodes.tbl or tune/processors.tbl, or of a file. */
struct coll_rule {
    uint8_t kind;
    int min_ranks, max_ranks; /* of the communicator */
    int min_nodes, max_nodes;
    int64_t max_bytes; /* as the collective counts them: see select.c */
    const char *name;
    int64_t piece_bytes;           /* 0: the algorithm's own, or it has none */
    bool is_tuned;                 /* of GODWIT_TUNE's file */
    struct gw_processor processor; /* a pattern: the row is for what it names; vendor "": for all */
    int line;                      /* where it stands in that file; 0: in none */
};
/* Rows of a file (tuned.c), which go before those that are built in; COLL_TUNED_ROWS of a collective at most. */
enum { COLL_TUNED_ROWS = 16 };
struct coll_tuned {
    struct coll_rule *rules, *node_rules;
    int n, n_node;
};
/* Told of each line that is wrong. */
typedef void coll_tuned_wrong_fn(void *arg, const char *path, int line, const char *why);
/* Replaces what is there; path NULL or "": nothing is read.  Lines that are wrong are left out, and so are those of other processors than
 * this one's. */
void coll_tuned_rows(const char *path, struct coll_tuned *t, coll_tuned_wrong_fn *wrong, void *arg);
void coll_tuned_read(const char *path, struct coll_tuned *t); /* the same; rank 0 warns of those that are wrong */
int64_t coll_tuned_hash(const struct coll_tuned *t,
                        bool with_processors);    /* the same only for the same rows, or those for all processors */
void coll_tuned_generalize(struct coll_tuned *t); /* drops the rows for this processor */
int coll_select_tuned(void);                      /* what coll_tuned_take() does, for a process that is alone */
/* One line, whose text it changes: comments are cut.  NULL, or what is wrong; kind COLL_KINDS: it is no row.  name points into the line, and
 * may be no algorithm of the collective. */
const char *coll_tuned_line(char *line, struct coll_rule *r_out, bool *has_nodes_out);
extern const char *const coll_kind_names[];
static inline bool coll_is_word(const char *text, size_t len, const char *word)
{
    return strlen(word) == len && strncasecmp(text, word, len) == 0;
}
int coll_kind_named(const char *name, size_t len); /* with MPI_ before it or without; COLL_KINDS: none */
const struct plan_algorithm *coll_algorithm_find(int kind, const char *name, size_t len); /* NULL: none */
extern const struct coll_rule coll_rules[];
extern const int coll_rule_count;
extern const struct coll_rule coll_node_rules[]; /* for members on several nodes */
extern const int coll_node_rule_count;
extern const struct coll_rule coll_processor_rules[]; /* for members on one node, all of which have the same processor */
extern const int coll_processor_rule_count;
extern const struct plan_algorithm *const coll_inter_algorithms[];   /* by enum coll_kind; NULL: not defined for two groups */
bool coll_counters_ready(struct gw_comm *c, bool is_forced) GW_COLD; /* counters.c: collective the first time; a->has_counters */
int coll_select_init(void);
/* This machine's processor, or the one of GODWIT_PROCESSOR, and how many rows of tune/processors.tbl name it; for tools. */
const struct gw_processor *coll_select_processor(int *rows_out);
extern uint32_t coll_synced; /* GODWIT_COLL_SYNC: bit by collective */
/* The algorithm for `bytes`, all of which must be equal on all members; sets a->params. */
const struct plan_algorithm *coll_select(enum coll_kind kind, int64_t bytes, struct plan_args *a, struct gw_comm *c);
/* Does a blocking call with fewer bytes than c->once[kind] says, in types with is_plain, take a leaf that can be done at once (plan_once_..)?
 * Then it is noted as chosen.  It is that algorithm. */
bool coll_takes_once(enum coll_kind kind, int64_t bytes, struct gw_comm *c);
const struct plan_algorithm *coll_once_algorithm(enum coll_kind kind);
/* The same where members are on several nodes; has called plan_nodes().  Never one of leaves, but perhaps one of stages. */
const struct plan_algorithm *coll_select_apart(enum coll_kind kind, int64_t bytes, struct plan_args *a, struct gw_comm *c,
                                               bool starts);
/* What that decides by: a->nodes as they are (NULL: not known), settings, rules of the documents, tables.  For the simulator, too. */
const struct plan_algorithm *coll_decide_apart(enum coll_kind kind, int64_t bytes, struct plan_args *a, bool starts,
                                               const char **why_out);
/* What coll_select() decides by for members of one node that may read each other's memory; for tools. */
const struct plan_algorithm *coll_decide_node(enum coll_kind kind, int64_t bytes, struct plan_args *a, const char **why_out);
bool coll_leaves_on(enum coll_kind kind); /* by the settings */
/* What settings say of an algorithm that a table chose (rules.c): the one in its place; its parameter in a->params.  across:
 * between nodes. */
/* Bytes of a block, on average, up to which gatherv, or scatterv, on so many ranks goes by a tree. */
int64_t coll_vector_short(bool gather, int ranks);
const struct plan_algorithm *coll_instead(const struct plan_algorithm *alg, int64_t bytes, const struct plan_args *a);
void coll_parameter(enum coll_kind kind, const struct plan_algorithm *alg, bool across, struct plan_args *a);
void coll_count(enum coll_kind kind, const struct plan_algorithm *alg); /* a choice that was made later */
/* What the tables say of an alltoallv whose members have agreed on the bytes that padding sends for each message that it saves. */
const struct plan_algorithm *coll_pick_agreed(int64_t bytes, struct plan_args *a);
void coll_note_agreed(const struct plan_algorithm *alg, int ranks, int64_t longest, int64_t messages); /* counts it */
const struct plan_algorithm *coll_select_inter(enum coll_kind kind, int64_t bytes, const struct plan_args *a,
                                               struct gw_comm *c); /* NULL: none (gw_fail set) */
/* The algorithm of a stage on some of the members: from the table, like for a communicator of its own. */
const struct plan_algorithm *coll_pick(enum coll_kind kind, int64_t bytes, bool leaves, bool across, struct plan_args *a);
const struct plan_algorithm *coll_select_messages(enum coll_kind kind, int64_t bytes, struct plan_args *a, struct gw_comm *c);

#endif
