/* select.c -- chooses the algorithm of a collective: the one that GODWIT_COLL forces, else by the rows of tune/coll.tbl, and of
 * tune/nodes.tbl if its members are on several nodes.  Rows of tune/processors.tbl come before those, where all members are on one node.
 *
 * A choice may depend only on what is equal on all members: kind, ranks, bytes, operation, settings; on a node the processor.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "coll/coll_private.h"
#include "base/count.h"
#include "base/event.h"
#include "base/settings.h"
#include "mem/mem.h"

#define ROW(kind, name) {COLL_##kind, &coll_alg_##name},
static const struct {
    uint8_t kind;
    const struct plan_algorithm *alg;
} algorithms[] = {ALGORITHMS(ROW, ROW)};
#undef ROW
enum {
    N_ALGORITHMS = sizeof algorithms / sizeof algorithms[0],
    PROCESSOR_ROWS = 8,
    MAX_ROWS = 16 + PROCESSOR_ROWS + COLL_TUNED_ROWS
};

struct choice {
    const struct plan_algorithm *alg;
    const struct coll_rule *rule;
    int number;
};
struct tables {
    struct choice rows[COLL_KINDS][MAX_ROWS];      /* rows of processors.tbl and coll.tbl by collective, ended by alg NULL */
    struct choice node_rows[COLL_KINDS][MAX_ROWS]; /* of nodes.tbl */
};
/* Written by coll_select_init(), except `uses`, `explained..` and the rows of GODWIT_TUNE. */
static struct select_state {
    bool has_compared;                                  /* coll_tuned_take() has: once, for MPI and OpenSHMEM */
    uint32_t leaves_on;                                 /* settings allow leaves: bit by collective */
    uint32_t plain_only;                                /* GODWIT_COLL_OPT_OFF: bit by collective */
    const struct plan_algorithm *forced[COLL_KINDS];    /* by GODWIT_COLL; NULL: none */
    const struct plan_algorithm *explained[COLL_KINDS]; /* what GODWIT_EXPLAIN=coll has printed last */
    const struct plan_algorithm *explained_agreed;      /* the same of what members have agreed on */
    struct tables general, builtin, with_tuned;  /* builtin: rows for the processor come first; with_tuned: those of GODWIT_TUNE */
    struct coll_tuned tuned;                     /* those rows */
    struct gw_processor processor;               /* of this machine, or of GODWIT_PROCESSOR; vendor "": none */
    char processor_text[GW_PROCESSOR_TEXT + 32]; /* what is said of its rows */
    _Atomic(const struct tables *) used;         /* builtin or with_tuned [release in tuned_use, acquire in tables_of] */
    int once_numbers[COLL_KINDS];                /* the numbers of once_algs */
    _Atomic uint64_t uses[N_ALGORITHMS];         /* calls, by the algorithm's number */
} select_state = {.used = &select_state.builtin};

/* is_untuned: the communicator's. */
static inline const struct tables *tables_of(bool is_untuned)
{
    return unlikely(is_untuned) ? &select_state.general : atomic_load_explicit(&select_state.used, memory_order_acquire);
}

/* A row for some processors, which members on several nodes may not all have; those of a file have been compared.  It was measured beside
 * leaves, and says nothing where there are none. */
static inline bool is_of_node(const struct coll_rule *r) { return r->processor.vendor[0] && !r->is_tuned; }

static inline const char *table_of(const struct coll_rule *r)
{
    if (is_of_node(r)) return select_state.processor_text;
    return r->is_tuned ? "GODWIT_TUNE" : r->min_nodes > 1 ? "tune/nodes.tbl" : "tune/coll.tbl";
}

/* The leaves that can be done at once (plan_once_..). */
static const struct plan_algorithm *const once_algs[COLL_KINDS] = {
    [COLL_BARRIER] = &coll_alg_barrier_leaf,     [COLL_BCAST] = &coll_alg_bcast_leaf,
    [COLL_GATHER] = &coll_alg_gather_leaf,       [COLL_GATHERV] = &coll_alg_gather_leaf,
    [COLL_SCATTER] = &coll_alg_scatter_lines,    [COLL_REDUCE] = &coll_alg_reduce_leaf,
    [COLL_ALLREDUCE] = &coll_alg_allreduce_leaf, [COLL_REDUCE_SCATTER] = &coll_alg_reduce_scatter_lines,
    [COLL_ALLGATHER] = &coll_alg_allgather_leaf, [COLL_ALLTOALL] = &coll_alg_alltoall_lines,
};
/* Those in the lines of pairs. */
static inline bool is_in_lines(enum coll_kind kind)
{
    return kind == COLL_SCATTER || kind == COLL_ALLTOALL || kind == COLL_REDUCE_SCATTER;
}
const struct plan_algorithm *coll_once_algorithm(enum coll_kind kind) { return once_algs[kind]; }

static GW_COLD void once_forget(struct gw_comm *c)
{
    memset(c->once, 0, sizeof c->once);
    c->knows_once = false;
}

uint32_t coll_synced;
#define COLL_SYNCED (~(1u << COLL_BARRIER)) /* a barrier before a barrier says nothing */

const struct plan_algorithm *coll_algorithm_find(int kind, const char *name, size_t len)
{
    for (int i = 0; i < N_ALGORITHMS; i++)
        if (algorithms[i].kind == kind && strncmp(algorithms[i].alg->name, name, len) == 0 && !algorithms[i].alg->name[len])
            return algorithms[i].alg;
    return NULL;
}

static int number_of(int kind, const struct plan_algorithm *alg)
{
    for (int i = 0; i < N_ALGORITHMS; i++)
        if (algorithms[i].kind == kind && algorithms[i].alg == alg) return i;
    gw_die("collective %s has an algorithm without a number", coll_kind_names[kind]);
}

int coll_algorithms(void) { return N_ALGORITHMS; }

void coll_algorithm_name(int i, char *name_out, size_t cap)
{
    snprintf(name_out, cap, "%s %s", coll_kind_names[algorithms[i].kind], algorithms[i].alg->name);
}

uint64_t coll_algorithm_uses(int i) { return atomic_load_explicit(&select_state.uses[i], memory_order_relaxed); }

static int bad_algorithm(int kind, const char *name, int len)
{
    char known[256];
    size_t at = 0;
    for (int i = 0; i < N_ALGORITHMS; i++)
        if (algorithms[i].kind == kind && at < sizeof known)
            at += (size_t)snprintf(known + at, sizeof known - at, " %s", algorithms[i].alg->name);
    return gw_fail(GW_EARG, "GODWIT_COLL: %s has no algorithm '%.*s'; there are:%s", coll_kind_names[kind], len, name, known);
}

/* "bcast=binomial,allreduce=ring" */
static int parse_forced(const char *text)
{
    while (text && *text) {
        size_t pair = strcspn(text, ","), name = strcspn(text, "=,");
        int kind = coll_kind_named(text, name);
        if (kind == COLL_KINDS || name == pair) {
            char word[32];
            snprintf(word, sizeof word, "%.*s", (int)name, text);
            const char *near = gw_nearest(word, coll_kind_names, COLL_KINDS);
            return gw_fail(GW_EARG, "GODWIT_COLL: '%.*s' is not COLLECTIVE=ALGORITHM%s%s%s", (int)pair, text,
                           near ? " (did you mean " : "", near ? near : "", near ? "=..?)" : "");
        }
        select_state.forced[kind] = coll_algorithm_find(kind, text + name + 1, pair - name - 1);
        if (!select_state.forced[kind]) return bad_algorithm(kind, text + name + 1, (int)(pair - name - 1));
        text += pair + (text[pair] == ',');
    }
    return GW_OK;
}

/* Reads "bcast,allreduce", all or none, as a bit per collective.  Warns of unknown names, unless setting is NULL, and ignores them. */
static uint32_t kinds_of(const char *setting, const char *text)
{
    uint32_t kinds = 0;
    while (text && *text) {
        static const char *const all[] = {"1", "all", "on", "true", "yes"}, *const none[] = {"0", "none", "off", "false", "no"};
        size_t n = strcspn(text, ",");
        bool is_all = false, is_none = false;
        for (size_t i = 0; i < GW_ARRAY_LEN(all); i++)
            is_all |= coll_is_word(text, n, all[i]), is_none |= coll_is_word(text, n, none[i]);
        if (is_all) {
            kinds = ~0u;
        } else if (!is_none) {
            int k = coll_kind_named(text, n);
            if (k < COLL_KINDS)
                kinds |= 1u << k;
            else if (setting && gw_comm_world.rank == 0)
                gw_warn("%s: '%.*s' is no collective; there are barrier, bcast, .. or all", gw_setting_said(setting), (int)n, text);
        }
        text += n + (text[n] == ',');
    }
    return kinds;
}

void coll_kinds_text(const char *setting, const char *text, char *out, size_t cap)
{
    const uint32_t all = ((1u << COLL_KINDS) - 1) & (strcmp(setting, "coll_sync") == 0 ? COLL_SYNCED : ~0u);
    uint32_t kinds = kinds_of(NULL, text) & all;
    size_t at = 0;
    snprintf(out, cap, "%s", kinds == all ? "on" : kinds ? "" : "off");
    for (int k = 0; k < COLL_KINDS && kinds != all; k++)
        if (kinds >> k & 1 && at < cap) at += (size_t)snprintf(out + at, cap - at, "%s%s", at ? "," : "", coll_kind_names[k]);
}

/* Finds a rule's algorithm among earlier rows: rules with the same algorithm have the same name, at the same address. */
static bool choice_again(const struct coll_rule *r, const struct choice *row, int n, struct choice *out)
{
    for (int i = n - 1; i >= 0; i--)
        if (row[i].rule->name == r->name) {
            *out = (struct choice){row[i].alg, r, row[i].number};
            return true;
        }
    return false;
}

static int read_table(const struct coll_rule *rules, int count, struct choice table[COLL_KINDS][MAX_ROWS], int n[COLL_KINDS])
{
    for (int i = 0; i < count; i++) {
        const struct coll_rule *r = &rules[i];
        struct choice *row = table[r->kind], *here = &row[n[r->kind]];
        if (r->processor.vendor[0] && !gw_processor_fits(&r->processor, &select_state.processor)) continue;
        assert(n[r->kind] < MAX_ROWS - 1);
        if (choice_again(r, row, n[r->kind]++, here)) continue;
        const struct plan_algorithm *alg = coll_algorithm_find(r->kind, r->name, strlen(r->name));
        if (!alg) return bad_algorithm(r->kind, r->name, (int)strlen(r->name));
        *here = (struct choice){alg, r, number_of(r->kind, alg)};
    }
    return GW_OK;
}

/* The built-in tables, behind the rows for this processor, if wanted, and those of a file.  t NULL: no file. */
static int read_tables(const struct coll_tuned *t, bool by_processor, struct tables *out)
{
    int n[COLL_KINDS] = {0}, n_apart[COLL_KINDS] = {0}, rc = GW_OK;
    memset(out, 0, sizeof *out);
    if (t) rc = read_table(t->rules, t->n, out->rows, n);
    if (t && rc == GW_OK) rc = read_table(t->node_rules, t->n_node, out->node_rows, n_apart);
    if (rc == GW_OK && by_processor) rc = read_table(coll_processor_rules, coll_processor_rule_count, out->rows, n);
    if (rc == GW_OK) rc = read_table(coll_rules, coll_rule_count, out->rows, n);
    if (rc == GW_OK) rc = read_table(coll_node_rules, coll_node_rule_count, out->node_rows, n_apart);
    return rc;
}

/* Other threads may be in collectives of sessions meanwhile, which use the built-in tables. */
static int tuned_use(struct gw_comm *all)
{
    int rc = read_tables(&select_state.tuned, true, &select_state.with_tuned);
    if (rc == GW_OK) atomic_store_explicit(&select_state.used, &select_state.with_tuned, memory_order_release);
    once_forget(all); /* it has asked for rows before, and so may the other one of those that are there so early */
    once_forget(&gw_comm_world);
    return rc;
}

int coll_select_tuned(void)
{
    coll_tuned_read(gw_set.tune, &select_state.tuned);
    return tuned_use(&gw_comm_world);
}

/* Takes the rows of GODWIT_TUNE if they are equal on all ranks; else ranks could choose different algorithms for one collective. */
GW_ONCE int coll_tuned_take(struct gw_comm *all)
{
    if (!gw_set.tune || !*gw_set.tune || select_state.has_compared) return GW_OK;
    select_state.has_compared = true;
    coll_tuned_read(gw_set.tune, &select_state.tuned);
    int64_t hash = coll_tuned_hash(&select_state.tuned, true), general = coll_tuned_hash(&select_state.tuned, false);
    int64_t most[4] = {hash, ~hash, general, ~general};
    int rc = coll_allreduce(GW_IN_PLACE, most, 4, gw_type_int64, gw_op_max, all, NULL);
    if (rc != GW_OK) return rc;
    if (most[0] == ~most[1]) return tuned_use(all);
    if (most[2] == ~most[3]) {
        coll_tuned_generalize(&select_state.tuned);
        if (gw_comm_world.rank == 0)
            gw_warn("GODWIT_TUNE=%s: rows for a processor are left out, as the ranks have several kinds of them", gw_set.tune);
        return tuned_use(all);
    }
    if (gw_comm_world.rank == 0)
        gw_warn("GODWIT_TUNE=%s does not say the same to all ranks: what is built in decides; name a file that all hosts see",
                gw_set.tune);
    return GW_OK;
}

static void processor_take(void)
{
    char text[GW_PROCESSOR_TEXT];
    gw_processor_of(gw_set.processor, &select_state.processor); /* base/ has refused what is none */
    snprintf(select_state.processor_text, sizeof select_state.processor_text, "tune/processors.tbl, %s",
             gw_processor_text(&select_state.processor, false, text, sizeof text));
}

const struct gw_processor *coll_select_processor(int *rows_out)
{
    *rows_out = 0;
    for (int i = 0; i < coll_processor_rule_count; i++)
        *rows_out += gw_processor_fits(&coll_processor_rules[i].processor, &select_state.processor);
    return &select_state.processor;
}

GW_ONCE int coll_select_init(void)
{
    processor_take();
    int rc = read_tables(NULL, false, &select_state.general);
    if (rc == GW_OK) rc = read_tables(NULL, true, &select_state.builtin);
    atomic_store_explicit(&select_state.used, &select_state.builtin, memory_order_relaxed);
    select_state.has_compared = false;
    if (rc != GW_OK) return rc;
    select_state.plain_only = kinds_of("GODWIT_COLL_OPT_OFF", gw_set.coll_opt_off);
    coll_synced = kinds_of("GODWIT_COLL_SYNC", gw_set.coll_sync) & COLL_SYNCED;
    /* If ranks are to use only the network, there are no leaves. */
    select_state.leaves_on =
        !gw_set.wires || gw_set_lists(gw_set.wires, "shm") ? kinds_of("GODWIT_COLL_LEAF", gw_set.coll_leaf) : 0;
    for (int k = 0; k < COLL_KINDS; k++) {
        select_state.forced[k] = NULL;
        if (once_algs[k]) select_state.once_numbers[k] = number_of(k, once_algs[k]);
    }
    return parse_forced(gw_set.coll);
}

static inline bool has_leaves(enum coll_kind kind, struct gw_comm *c)
{
    return select_state.leaves_on >> kind & 1 && (likely(c->has_leaves) || plan_leaf_ready(c));
}
static inline bool usable(enum coll_kind kind, const struct plan_algorithm *alg, const struct plan_args *a, struct gw_comm *c,
                          bool messages)
{
    if (alg->fits && !alg->fits(a)) return false;
    if (alg->kind == PLAN_P2P) return !alg->stages;
    if (messages || !has_leaves(kind, c)) return false;
    return alg->kind != PLAN_PULLING || plan_pull_ready(c);
}

/* The bytes to tell of a call: what its choice went by, or where members may have other counts, what this one has: its block of a
 * gatherv or scatterv, all that it sends in an alltoallv. */
static GW_NOINLINE int64_t bytes_told(enum coll_kind kind, int64_t bytes, const struct plan_args *a)
{
    if (kind == COLL_GATHERV || kind == COLL_SCATTERV) return a->bytes;
    if (kind != COLL_ALLTOALLV) return bytes;
    int64_t sent = 0;
    for (int i = 0, n = a->remote ? a->remote : a->size; i < n; i++) {
        struct plan_ref block = send_block(a, i);
        sent += plan_ref_bytes(&block);
    }
    return sent;
}

/* What is said of those that decide later. */
static const char *name_told(const struct plan_algorithm *alg)
{
    if (alg == &coll_alg_gather_ruled) return "tree or permission";
    if (alg == &coll_alg_scatter_ruled) return "tree or one after the other";
    return alg == &coll_alg_alltoall_ruled ? "as the ranks agree" : alg->name;
}

static void explain(enum coll_kind kind, const struct plan_algorithm *alg, int64_t bytes, const struct plan_args *a,
                    struct gw_comm *c, const char *why)
{
    if (select_state.explained[kind] == alg) return;
    select_state.explained[kind] = alg;
    gw_explain(GW_LOG_COLL, "%s of %lld bytes on %d ranks of %s: %s (%s)", coll_kind_names[kind],
               (long long)bytes_told(kind, bytes, a), c->size, c->name[0] ? c->name : "a communicator without a name",
               name_told(alg), why);
}

/* Algorithms by messages combine in an order that follows from ranks and sizes; leaves exist only where ranks share a node. */
_Static_assert(COLL_REDUCE < COLL_ALLREDUCE && COLL_EXSCAN == COLL_KINDS - 1, "reductions come last");
static inline bool order_is_fixed(enum coll_kind kind, const struct gw_comm *c)
{
    return unlikely((c->hints & COMM_REPRODUCIBLE) || gw_set.reproducible != GW_SET_REPRODUCIBLE_OFF) && kind >= COLL_REDUCE;
}
static inline void count_chosen(struct gw_comm *c, int number)
{
    gw_counted(&select_state.uses[number], 1);
    c->chosen = (uint16_t)(number + 1);
}
static inline void raise_chosen(const struct gw_comm *c, int number, int64_t told)
{
    gw_event_raise(GW_EVENT_COLLECTIVE, true, c->ctx >> GW_STREAM_BITS, number, told, c->size);
}
static inline void note(enum coll_kind kind, struct gw_comm *c, int number, int64_t bytes, const struct plan_args *a)
{
    count_chosen(c, number);
    if (gw_event_wanted(GW_EVENT_COLLECTIVE)) raise_chosen(c, number, bytes_told(kind, bytes, a));
}

/* The leaf for such a sum, all of whose reductions are PLAN_SHM_REDUCE of all members; NULL: none. */
static const struct plan_algorithm *exact_leaf(enum coll_kind kind, int64_t bytes, struct plan_args *a, struct gw_comm *c)
{
    if (a->size > OP_EXACT_AT_ONCE) return NULL;
    for (const struct choice *row = tables_of(c->is_untuned)->rows[kind]; row->alg; row++) {
        int form = row->alg->kind & PLAN_KIND;
        if (form != PLAN_NARROW && form != PLAN_WIDE) continue;
        if (bytes > row->rule->max_bytes || c->size < row->rule->min_ranks || c->size > row->rule->max_ranks) continue;
        if (!usable(kind, row->alg, a, c, false)) continue;
        if (!a->params.piece_bytes) a->params.piece_bytes = row->rule->piece_bytes;
        bool is_exact = op_exact_of(a->op, a->rt, a->size, &a->exact);
        assert(is_exact && a->exact.words > 0);
        (void)is_exact;
        return row->alg;
    }
    return NULL;
}
/* The algorithm for sums whose result must not depend on the order; NULL: not such a sum.  Scans by messages need none, as their
 * order depends on the rank only. */
static GW_NOINLINE const struct plan_algorithm *exact(enum coll_kind kind, int64_t bytes, struct plan_args *a, struct gw_comm *c,
                                                      bool messages)
{
    static const struct plan_algorithm *const algs[COLL_KINDS] = {
        [COLL_REDUCE] = &coll_alg_reduce_exact,
        [COLL_ALLREDUCE] = &coll_alg_allreduce_exact,
        [COLL_REDUCE_SCATTER] = &coll_alg_reduce_scatter_exact,
    };
    bool is_wanted = c->hints & COMM_REPRODUCIBLE_ANY || gw_set.reproducible == GW_SET_REPRODUCIBLE_ANY;
    const struct plan_algorithm *alg = is_wanted ? algs[kind] : NULL, *leaf;
    if (!alg || !alg->fits(a)) return NULL;
    if (!messages && (leaf = exact_leaf(kind, bytes, a, c))) alg = leaf;
    if (unlikely(gw_log_mask & GW_LOG_COLL)) explain(kind, alg, bytes, a, c, "reproducible=any");
    note(kind, c, number_of(kind, alg), bytes, a);
    return alg;
}

static GW_NOINLINE const struct plan_algorithm *by_messages(enum coll_kind kind, int64_t bytes, const struct choice *row,
                                                            struct plan_args *a, struct gw_comm *c)
{
    const struct plan_algorithm *alg = coll_instead(row->alg, bytes, a);
    coll_parameter(kind, alg, false, a);
    if (unlikely(gw_log_mask & GW_LOG_COLL))
        explain(kind, alg, bytes, a, c, alg == row->alg ? table_of(row->rule) : "by a setting");
    note(kind, c, alg == row->alg ? row->number : number_of(kind, alg), bytes, a);
    return alg;
}

static inline const struct plan_algorithm *choose(enum coll_kind kind, int64_t bytes, struct plan_args *a, struct gw_comm *c,
                                                  bool messages)
{
    a->params.piece_bytes = gw_set.coll_chunk;
    if (order_is_fixed(kind, c)) {
        a->is_untuned = c->is_untuned;
        const struct plan_algorithm *alg = exact(kind, bytes, a, c, messages);
        if (alg) return alg;
        messages = true;
    }
    if (unlikely(select_state.forced[kind]) && usable(kind, select_state.forced[kind], a, c, messages)) {
        coll_parameter(kind, select_state.forced[kind], false, a);
        if (unlikely(gw_log_mask & GW_LOG_COLL)) explain(kind, select_state.forced[kind], bytes, a, c, "GODWIT_COLL");
        note(kind, c, number_of(kind, select_state.forced[kind]), bytes, a);
        return select_state.forced[kind];
    }
    for (const struct choice *row = tables_of(c->is_untuned)->rows[kind]; row->alg; row++) {
        if (bytes > row->rule->max_bytes || c->size < row->rule->min_ranks || c->size > row->rule->max_ranks) continue;
        if (!usable(kind, row->alg, a, c, messages)) continue;
        if (!a->params.piece_bytes) a->params.piece_bytes = row->rule->piece_bytes;
        if (row->alg->kind == PLAN_P2P) {
            if (is_of_node(row->rule) && (messages || !has_leaves(kind, c))) continue;
            return by_messages(kind, bytes, row, a, c);
        }
        if (unlikely(gw_log_mask & GW_LOG_COLL)) explain(kind, row->alg, bytes, a, c, table_of(row->rule));
        note(kind, c, row->number, bytes, a);
        return row->alg;
    }
    gw_die("tune/coll.tbl has no row for %s of %lld bytes on %d ranks", coll_kind_names[kind], (long long)bytes, c->size);
}

/* ---- leaves that can be done at once --------------------------------------------------------------------------------------------- */
/* 1 + up to how many bytes the first row for this communicator chooses that leaf, whatever else the arguments are; 0: it does not. */
static uint16_t once_up_to(enum coll_kind kind, const struct gw_comm *c)
{
    int64_t most = is_in_lines(kind) ? PLAN_PAIR_BYTES * (kind == COLL_REDUCE_SCATTER ? c->size : 1) : PLAN_SLOT_BYTES;
    const struct choice *row = tables_of(c->is_untuned)->rows[kind];
    if (!once_algs[kind] || select_state.forced[kind] || !(select_state.leaves_on >> kind & 1) || coll_synced >> kind & 1) return 0;
    while (row->alg && (c->size < row->rule->min_ranks || c->size > row->rule->max_ranks)) row++;
    if (row->alg != once_algs[kind] || (is_in_lines(kind) && c->size > PLAN_PAIR_MEMBERS)) return 0;
    return (uint16_t)(1 + gw_min64(row->rule->max_bytes, most));
}
static GW_COLD void once_learn(struct gw_comm *c)
{
    _Static_assert(COLL_KINDS <= GW_ARRAY_LEN(c->once) && PLAN_SLOT_BYTES < UINT16_MAX, "an entry for each");
    bool is_wanted = plan_once_may(c) && !(gw_log_mask & GW_LOG_COLL) && !mem_has_drivers;
    for (int k = 0; k < COLL_KINDS; k++) c->once[k] = is_wanted ? once_up_to((enum coll_kind)k, c) : 0;
    c->knows_once = true;
}
bool coll_takes_once(enum coll_kind kind, int64_t bytes, struct gw_comm *c)
{
    assert(bytes < c->once[kind]);
    if (unlikely(plan_is_within(c)) || order_is_fixed(kind, c)) return false;
    count_chosen(c, select_state.once_numbers[kind]);
    if (gw_event_wanted(GW_EVENT_COLLECTIVE)) raise_chosen(c, select_state.once_numbers[kind], bytes);
    return true;
}

const struct plan_algorithm *coll_select(enum coll_kind kind, int64_t bytes, struct plan_args *a, struct gw_comm *c)
{
    const struct plan_algorithm *alg = choose(kind, bytes, a, c, false);
    if (unlikely(!c->knows_once) && alg->kind) once_learn(c);
    return alg;
}

const struct plan_algorithm *coll_select_messages(enum coll_kind kind, int64_t bytes, struct plan_args *a, struct gw_comm *c)
{
    return choose(kind, bytes, a, c, true);
}

/* Are there several nodes, one of them with several members?  False also if the nodes are unknown. */
static bool has_levels(const struct plan_nodes *n) { return n && n->n > 1 && n->most > 1; }

/* May an algorithm run with members on several nodes?  Those by messages and those with stages may. */
static bool usable_apart(const struct plan_algorithm *alg, const struct plan_args *a)
{
    if (alg->kind != PLAN_P2P) return false;
    return !alg->fits || alg->fits(a);
}

bool coll_leaves_on(enum coll_kind kind) { return select_state.leaves_on >> kind & 1; }

/* Up to how many bytes a setting wants hierarchical algorithms, whatever the table has; negative: not set. */
static int64_t levels_up_to(enum coll_kind kind)
{
    switch (kind) {
    case COLL_ALLTOALL: return gw_set.alltoall_short_msg;
    case COLL_ALLGATHER: return gw_set.allgather_vshort_msg;
    case COLL_ALLREDUCE: return gw_set.allreduce_max_smp_size > 0 ? gw_set.allreduce_max_smp_size : -1;
    default: return -1;
    }
}
static bool no_levels(enum coll_kind kind)
{
    return select_state.plain_only & 1u << kind || (kind == COLL_REDUCE && gw_set.reduce_no_smp) ||
        (kind == COLL_ALLREDUCE && gw_set.allreduce_no_smp);
}

/* agreed: the members of an alltoallv know what they have (before that, bounds in bytes hold of none), or are not to agree on it. */
static const struct choice *row_apart(const struct choice *row, int64_t bytes, const struct plan_args *a, bool agreed)
{
    int nodes = a->nodes ? a->nodes->n : 1;
    for (; row->alg; row++) {
        const struct coll_rule *r = row->rule;
        bool is_bruck = row->alg == &coll_alg_alltoall_bruck;
        if (is_of_node(r)) continue;
        int64_t wanted = row->alg->stages || is_bruck ? levels_up_to((enum coll_kind)r->kind) : -1;
        if (is_bruck && wanted >= 0) wanted = gw_min64(wanted, r->max_bytes); /* a setting may forbid it, not more */
        if (row->alg == &coll_alg_alltoall_ruled && (agreed || select_state.plain_only >> COLL_ALLTOALLV & 1)) continue;
        if (bytes > (wanted >= 0 ? wanted : r->max_bytes) || a->size < r->min_ranks || a->size > r->max_ranks) continue;
        if (nodes >= r->min_nodes && nodes <= r->max_nodes && usable_apart(row->alg, a)) return row;
    }
    return NULL;
}

static const struct choice *row_for(enum coll_kind kind, int64_t bytes, const struct plan_args *a, bool agreed)
{
    const struct tables *t = tables_of(a->is_untuned);
    const struct choice *row = row_apart(t->node_rows[kind], bytes, a, agreed);
    return row ? row : row_apart(t->rows[kind], bytes, a, agreed);
}

/* Is the root one that may be late, and to which all members would send at once? */
static bool needs_leave(enum coll_kind kind, const struct plan_algorithm *alg, const struct plan_args *a)
{
    return kind == COLL_GATHER && alg == &coll_alg_gather_linear && !(select_state.plain_only & 1u << kind) &&
        a->size >= gw_set.igatherv_min_comm_size;
}
static const struct plan_algorithm *with_leave(struct plan_args *a)
{
    a->params.under_way = (int32_t)gw_set.igatherv_sync_freq;
    return &coll_alg_gather_permitted;
}

/* The documented rules of gatherv: in a large communicator the root decides by the average size; in non-blocking ones, whose root
 * may be late, members need permission to send. */
static const struct plan_algorithm *by_rule(enum coll_kind kind, struct plan_args *a, bool starts)
{
    if (select_state.plain_only & 1u << kind) return NULL;
    if (kind == COLL_SCATTERV) return a->size >= gw_set.scatterv_min_comm_size ? &coll_alg_scatter_ruled : NULL;
    if (kind != COLL_GATHERV) return NULL;
    if (!starts) return a->size >= gw_set.gatherv_min_comm_size ? &coll_alg_gather_ruled : NULL;
    return a->size < gw_set.igatherv_min_comm_size ? NULL : with_leave(a);
}

void coll_count(enum coll_kind kind, const struct plan_algorithm *alg) { gw_counted(&select_state.uses[number_of(kind, alg)], 1); }

const struct plan_algorithm *coll_decide_apart(enum coll_kind kind, int64_t bytes, struct plan_args *a, bool starts,
                                               const char **why_out)
{
    const struct plan_algorithm *alg = select_state.forced[kind];
    *why_out = "GODWIT_COLL";
    if ((!has_levels(a->nodes) && !a->has_counters) || no_levels(kind)) a->nodes = NULL;
    a->params.piece_bytes = gw_set.coll_chunk;
    if (!alg || !usable_apart(alg, a)) {
        alg = by_rule(kind, a, starts);
        *why_out = "by rule";
    }
    if (!alg) {
        /* An alltoallv with a request does not agree on anything: its data are to leave in the call. */
        const struct choice *row = row_for(kind, kind == COLL_ALLTOALLV ? INT64_MAX : bytes, a, starts);
        if (!row)
            gw_die("tune/coll.tbl has no row for %s of %lld bytes on %d ranks", coll_kind_names[kind], (long long)bytes, a->size);
        *why_out = table_of(row->rule);
        if (!a->params.piece_bytes) a->params.piece_bytes = row->rule->piece_bytes;
        alg = coll_instead(row->alg, bytes, a);
        if (alg != row->alg) *why_out = "by a setting";
        if (starts && needs_leave(kind, alg, a)) alg = with_leave(a), *why_out = "by rule";
    }
    coll_parameter(kind, alg, true, a);
    return alg;
}

const struct plan_algorithm *coll_pick_agreed(int64_t bytes, struct plan_args *a)
{
    if (!has_levels(a->nodes)) a->nodes = NULL;
    const struct choice *row = row_for(COLL_ALLTOALLV, bytes, a, true);
    if (!row) gw_die("tune/coll.tbl has no row for alltoallv of %lld bytes a message on %d ranks", (long long)bytes, a->size);
    return row->alg;
}

void coll_note_agreed(const struct plan_algorithm *alg, int ranks, int64_t longest, int64_t messages)
{
    coll_count(COLL_ALLTOALLV, alg);
    if (likely(!(gw_log_mask & GW_LOG_COLL)) || select_state.explained_agreed == alg) return;
    select_state.explained_agreed = alg;
    gw_explain(GW_LOG_COLL, "alltoallv of blocks of up to %lld bytes, up to %lld messages of each of %d ranks: %s (agreed)",
               (long long)longest, (long long)messages, ranks, alg->name);
}

const struct plan_algorithm *coll_decide_node(enum coll_kind kind, int64_t bytes, struct plan_args *a, const char **why_out)
{
    const struct plan_algorithm *alg = select_state.forced[kind];
    *why_out = "GODWIT_COLL";
    bool leaves = select_state.leaves_on >> kind & 1 && !(gw_set.reproducible != GW_SET_REPRODUCIBLE_OFF && kind >= COLL_REDUCE);
    if (alg && (alg->kind == PLAN_P2P ? !alg->stages : leaves) && !(alg->fits && !alg->fits(a))) return alg;
    for (const struct choice *row = tables_of(a->is_untuned)->rows[kind]; row->alg; row++) {
        if (bytes > row->rule->max_bytes || a->size < row->rule->min_ranks || a->size > row->rule->max_ranks) continue;
        if ((row->alg->fits && !row->alg->fits(a)) || ((row->alg->kind != PLAN_P2P || is_of_node(row->rule)) && !leaves)) continue;
        *why_out = table_of(row->rule);
        if (row->alg->kind != PLAN_P2P) return row->alg;
        alg = coll_instead(row->alg, bytes, a);
        if (alg != row->alg) *why_out = "by a setting";
        return alg;
    }
    gw_die("tune/coll.tbl has no row for %s of %lld bytes on %d ranks", coll_kind_names[kind], (long long)bytes, a->size);
}

/* May a barrier be done by counters that the network raises?  By cards where nothing else is asked for, by software if it is forced. */
static bool may_count(struct gw_comm *c)
{
    const struct plan_algorithm *forced = select_state.forced[COLL_BARRIER];
    if (forced ? forced != &coll_alg_barrier_atomics : no_levels(COLL_BARRIER)) return false;
    return coll_counters_ready(c, forced != NULL);
}

const struct plan_algorithm *coll_select_apart(enum coll_kind kind, int64_t bytes, struct plan_args *a, struct gw_comm *c,
                                               bool starts)
{
    const char *why;
    bool is_fixed = order_is_fixed(kind, c);
    a->nodes = is_fixed ? NULL : plan_nodes(c);
    a->is_untuned = c->is_untuned;
    if (kind == COLL_BARRIER && !starts) a->has_counters = may_count(c);
    const struct plan_algorithm *alg = is_fixed ? exact(kind, bytes, a, c, true) : NULL;
    if (alg) return alg;
    alg = coll_decide_apart(kind, bytes, a, starts, &why);
    if (unlikely(gw_log_mask & GW_LOG_COLL)) explain(kind, alg, bytes, a, c, why);
    note(kind, c, number_of(kind, alg), bytes, a);
    return alg;
}

const struct plan_algorithm *coll_pick(enum coll_kind kind, int64_t bytes, bool leaves, bool across, struct plan_args *a)
{
    for (const struct choice *row = tables_of(a->is_untuned)->rows[kind]; row->alg; row++) {
        if (bytes > row->rule->max_bytes || a->size < row->rule->min_ranks || a->size > row->rule->max_ranks) continue;
        if (row->alg->kind == PLAN_PULLING || (row->alg->kind && !(leaves && a->size > 1))) continue;
        if (!leaves && is_of_node(row->rule)) continue;
        if (row->alg->fits && !row->alg->fits(a)) continue;
        const struct plan_algorithm *alg = row->alg->kind == PLAN_P2P ? coll_instead(row->alg, bytes, a) : row->alg;
        a->params = (struct plan_params){.piece_bytes = row->rule->piece_bytes};
        coll_parameter(kind, alg, across, a);
        return alg;
    }
    gw_die("tune/coll.tbl has no row for a stage of %s of %lld bytes on %d ranks", coll_kind_names[kind], (long long)bytes,
           a->size);
}

const struct plan_algorithm *coll_select_inter(enum coll_kind kind, int64_t bytes, const struct plan_args *a, struct gw_comm *c)
{
    const struct plan_algorithm *alg = coll_inter_algorithms[kind];
    if (!alg)
        gw_fail(GW_ECOMM, "%s is an intercommunicator, for which %s is not defined", c->name[0] ? c->name : "comm",
                coll_kind_names[kind]);
    else if (unlikely(gw_log_mask & GW_LOG_COLL))
        explain(kind, alg, bytes, a, c, "two groups");
    return alg;
}
