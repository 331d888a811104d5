/* cases.c -- makes the arguments of algorithms, as coll.c does in the library.
 *
 * It includes the private header of coll for the table of algorithms, because the simulator is no room of the library.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "cases.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/settings.h"
#include "coll/coll_private.h"

/* The collectives that have algorithms; forms with lengths per rank use the same ones. */
static const char *const kind_names[COLL_KINDS] = {
    [COLL_BARRIER] = "barrier", [COLL_BCAST] = "bcast",         [COLL_GATHER] = "gather",
    [COLL_SCATTER] = "scatter", [COLL_ALLGATHER] = "allgather", [COLL_ALLTOALL] = "alltoall",
    [COLL_REDUCE] = "reduce",   [COLL_ALLREDUCE] = "allreduce", [COLL_REDUCE_SCATTER] = "reduce_scatter",
    [COLL_SCAN] = "scan",       [COLL_EXSCAN] = "exscan"};
#define NOTHING(kind, name)
#define OURS(kind, name) {#name, &coll_alg_##name},
static const struct {
    const char *name;
    const struct plan_algorithm *alg;
} all[] = {ALGORITHMS(OURS, NOTHING)};
#undef OURS
static struct gw_op *op_any;
enum { MOST_MESSAGES = 200 * 1000 * 1000 };

int cases_init(void)
{
    setenv("GODWIT_PROCESSOR", "none", 0); /* that of this machine says nothing of the described ones */
    gw_settings_load();
    int err = type_init();
    if (!err) err = op_init();
    if (!err) err = coll_select_init();
    if (!err) err = op_create((void (*)(void))cases_init, 1, false, &op_any);
    return err;
}

void cases_end(void)
{
    op_free(&op_any);
    op_finalize();
    type_finalize();
    gw_obj_finalize();
    gw_settings_free();
}

/* What kinds have by another name: forms with lengths per rank, equal blocks, and OpenSHMEM's calls (sym/coll.c): of collect the part behind
 * the exchange of lengths, which is an fcollect of 8 bytes. */
static const struct form {
    const char *name;
    int kind;
    bool per_rank;
} forms[] = {{"gatherv", COLL_GATHER, true},
             {"scatterv", COLL_SCATTER, true},
             {"allgatherv", COLL_ALLGATHER, true},
             {"alltoallv", COLL_ALLTOALL, true},
             {"reduce_scatter_block", COLL_REDUCE_SCATTER, false},
             {"shmem_barrier_all", COLL_BARRIER, false},
             {"shmem_sync_all", COLL_BARRIER, false},
             {"shmem_broadcast", COLL_BCAST, false},
             {"shmem_fcollect", COLL_ALLGATHER, false},
             {"shmem_collect", COLL_ALLGATHER, true},
             {"shmem_alltoall", COLL_ALLTOALL, false},
             {"shmem_reduce", COLL_ALLREDUCE, false},
             {"shmem_inscan", COLL_SCAN, false},
             {"shmem_exscan", COLL_EXSCAN, false}};

/* The kind of a collective's name, and whether it is a form with lengths per rank; -1: there is none. */
static int kind_of(const char *coll, bool *per_rank_out)
{
    const char *name = *coll == 'i' ? coll + 1 : coll;
    *per_rank_out = false;
    for (int k = 0; k < COLL_KINDS; k++)
        if (kind_names[k] && !strcmp(name, kind_names[k])) return k;
    for (size_t i = 0; i < GW_ARRAY_LEN(forms); i++) {
        if (strcmp(name, forms[i].name) != 0) continue;
        *per_rank_out = forms[i].per_rank;
        return forms[i].kind;
    }
    return -1;
}

bool cases_knows(const char *coll, char *error_out, int error_cap)
{
    const char *words[COLL_KINDS + GW_ARRAY_LEN(forms)];
    int n = 0;
    bool per_rank;
    if (kind_of(coll, &per_rank) >= 0) return true;
    for (size_t i = 0; i < GW_ARRAY_LEN(forms); i++) words[n++] = forms[i].name; /* first: alltoallw is nearest to alltoallv */
    for (int k = 0; k < COLL_KINDS; k++)
        if (kind_names[k]) words[n++] = kind_names[k];
    const char *near = gw_nearest(coll, words, n);
    if (strchr(coll, ','))
        snprintf(error_out, (size_t)error_cap, "--coll %s: one collective at a time", coll);
    else if (near)
        snprintf(error_out, (size_t)error_cap, "--coll %s: there is no such collective here; did you mean %s?", coll, near);
    else
        snprintf(error_out, (size_t)error_cap, "--coll %s: there is no such collective here; sim --list shows all", coll);
    return false;
}

static bool name_is(const char *full, int kind, const char *name)
{
    size_t n = strlen(kind_names[kind]);
    return !strncmp(full, kind_names[kind], n) && full[n] == '_' && !strcmp(full + n + 1, name);
}

void cases_list(void)
{
    for (int k = 0; k < COLL_KINDS; k++) {
        if (!kind_names[k]) continue;
        printf("%s:", kind_names[k]);
        for (size_t i = 0; i < GW_ARRAY_LEN(all); i++)
            if (name_is(all[i].name, k, all[i].alg->name)) printf(" %s%s", all[i].alg->name, all[i].alg->kind ? "*" : "");
        printf("\n");
    }
    printf("(also");
    for (size_t i = 0; i < GW_ARRAY_LEN(forms); i++) printf("%s %s", i ? "," : "", forms[i].name);
    printf(", and all with an i before: non-blocking)\n");
    printf("(* in memory that the ranks of a node share)\n");
}

static bool unknown(const char *coll, const char *what, const char *word, char *error_out, int error_cap)
{
    snprintf(error_out, (size_t)error_cap, "%s: %s '%s' (sim --list shows all)", coll, what, word);
    return false;
}

static const struct plan_algorithm *named(int kind, const char *name)
{
    for (size_t i = 0; i < GW_ARRAY_LEN(all); i++)
        if (name_is(all[i].name, kind, name)) return all[i].alg;
    return !strcmp(name, "tree") ? named(kind, "binomial") : NULL;
}

/* Does its algorithm `levels` have a single stage across nodes, which the network can perform? */
static bool in_one_stage(int kind) { return kind == COLL_BARRIER || kind == COLL_BCAST || kind == COLL_ALLREDUCE; }

bool cases_find(const char *coll, const char *text, struct sim_variant *out, char *error_out, int error_cap)
{
    struct sim_variant v = {.at_once = false};
    bool per_rank;
    char words[48], *save, *name, *word;
    int kind = kind_of(coll, &per_rank);
    if (kind < 0) return cases_knows(coll, error_out, error_cap);
    snprintf(v.text, sizeof v.text, "%s", text);
    snprintf(words, sizeof words, "%s", !strcmp(text, "flat") ? "linear:once" : text);
    name = strtok_r(words, ":", &save);
    while ((word = strtok_r(NULL, ":", &save))) {
        char *end;
        if (!strcmp(word, "once")) {
            v.at_once = true;
        } else if (!strcmp(word, "messages")) {
            v.messages = true;
        } else if (!strcmp(word, "network")) {
            v.network = true;
        } else if (!strcmp(word, "apart")) {
            v.apart = true;
        } else {
            v.param = strtoll(word, &end, 10);
            if (*end || v.param < 1)
                return unknown(coll, "not `once`, `messages`, `network`, `apart` or a number:", word, error_out, error_cap);
        }
    }
    v.alg = name ? named(kind, name) : NULL;
    if (!v.alg) return unknown(coll, "no algorithm", text, error_out, error_cap);
    if (v.param && !v.alg->takes) return unknown(coll, "an algorithm without a parameter:", text, error_out, error_cap);
    if (v.apart && !per_rank) return unknown(coll, "only blocks with lengths per rank may lie apart:", text, error_out, error_cap);
    if (v.network && (v.param || strcmp(v.alg->name, "levels") != 0 || !in_one_stage(kind)))
        return unknown(coll, "the network reduces in `levels` of barrier, bcast and allreduce, not in", text, error_out, error_cap);
    *out = v;
    return true;
}

/* A collective by its name: kind; with lengths per rank; non-blocking. */
struct asked {
    int kind;
    bool per_rank, starts;
};
static struct asked asked_for(const char *coll)
{
    struct asked q = {.starts = *coll == 'i'};
    q.kind = kind_of(coll, &q.per_rank);
    return q;
}

/* The lengths of a form with lengths per rank: blocks of equal length, one behind the other, or with gaps as long as they. */
static void lengths_make(struct asked q, struct plan_args *a, int64_t bytes, bool apart)
{
    int64_t *counts = malloc(2 * (size_t)a->size * sizeof *counts), *begins = counts + a->size;
    if (!counts) abort();
    for (int i = 0; i < a->size; i++) counts[i] = bytes, begins[i] = i * bytes * (apart ? 2 : 1);
    struct gw_counts lengths = {counts, true}, places = {begins, true};
    a->is_vector = q.kind == COLL_GATHER || q.kind == COLL_SCATTER;
    if (q.kind != COLL_SCATTER) a->rcounts = lengths, a->rdispls = places;
    if (q.kind == COLL_SCATTER || q.kind == COLL_ALLTOALL) a->scounts = lengths, a->sdispls = places;
}
static void lengths_free(const struct plan_args *a) { free((void *)(uintptr_t)(a->rcounts.v ? a->rcounts.v : a->scounts.v)); }

/* The arguments of a call.  Elements are bytes; in reductions words of 8 bytes, if the length is a multiple of that. */
static struct plan_args arguments(struct asked q, int ranks, int64_t bytes, bool apart)
{
    assert(ranks > 0 && bytes >= 0);
    bool words = q.kind >= COLL_REDUCE && bytes % 8 == 0;
    struct plan_args a = {.size = ranks, .n = 1, .op = op_any};
    a.st = a.rt = words ? gw_type_int64 : gw_type_byte;
    a.scount = a.rcount = words ? bytes / 8 : bytes;
    coll_temporaries(&a);
    if (q.per_rank) lengths_make(q, &a, bytes, apart);
    return a;
}

/* Consecutive nodes with node_ranks ranks each; the caller frees .first. */
static struct plan_nodes nodes_of(const struct machine *m, int ranks)
{
    assert(m->node_ranks > 0 && ranks > 0);
    int64_t per_node = m->node_ranks;
    struct plan_nodes n = {.n = (int)((ranks + per_node - 1) / per_node), .ordered = true, .most = (int)gw_min64(per_node, ranks)};
    n.first = malloc((size_t)(n.n + 1) * sizeof *n.first);
    if (!n.first) abort();
    for (int i = 0; i <= n.n; i++) n.first[i] = (int32_t)gw_min64(i * per_node, ranks);
    n.fewest = n.first[n.n] - n.first[n.n - 1];
    return n;
}

static bool fits(const struct plan_algorithm *alg, const struct plan_args *a)
{
    if (alg->kind && a->nodes->n > 1) return false;
    if (alg->stages && (a->nodes->n < 2 || (alg->fits && a->nodes->most < 2 && alg != &coll_alg_barrier_atomics)))
        return false; /* those over nodes ask for them */
    return !alg->fits || alg->fits(a);
}

bool cases_price(const struct machine *m, const struct sim_call *call, bool *fits_out, struct engine_result *out, char *error_out,
                 int error_cap)
{
    bool ok = true;
    const struct sim_variant *v = &call->variant;
    struct plan_args a = arguments(asked_for(call->coll), call->ranks, call->bytes, v->apart);
    plan_param_set(&a.params, v->alg, v->param);
    struct plan_nodes nodes = nodes_of(m, call->ranks);
    a.nodes = &nodes;
    a.has_counters = m->atomics_o > 0;
    *fits_out = fits(v->alg, &a) && (!v->network || (m->offload_radix > 0 && (double)call->bytes <= m->offload_most));
    if (*fits_out) {
        struct engine_job job = {m, v->alg, a, v->at_once, v->messages, v->network, call->whole, MOST_MESSAGES, call->progress};
        ok = engine_run(&job, out, error_out, error_cap);
    }
    free(nodes.first);
    lengths_free(&a);
    return ok;
}

static bool use_cards;
void cases_use_cards(bool use) { use_cards = use; }

bool cases_tuned(const struct machine *m, const char *coll, int ranks, int64_t bytes, struct sim_variant *out)
{
    struct asked q = asked_for(coll);
    if (q.kind < 0) return false;
    struct plan_args a = arguments(q, ranks, bytes, false);
    struct plan_nodes nodes = nodes_of(m, ranks);
    int64_t counted = q.per_rank && q.kind != COLL_ALLGATHER ? 0 : q.kind == COLL_REDUCE_SCATTER ? bytes * ranks : bytes;
    int kind = q.kind;
    const char *why;
    char text[48], error[128];
    if (a.is_vector) kind = q.kind == COLL_GATHER ? COLL_GATHERV : COLL_SCATTERV;
    if (q.per_rank && q.kind == COLL_ALLTOALL) kind = COLL_ALLTOALLV;
    a.nodes = &nodes;
    a.has_counters = m->atomics_o > 0 && kind == COLL_BARRIER && !q.starts && nodes.n > 1;
    const struct plan_algorithm *alg = coll_decide_apart((enum coll_kind)kind, counted, &a, q.starts, &why);
    int64_t param = plan_param(&a.params, alg);
    snprintf(text, sizeof text, param ? "%s:%lld" : "%s", alg->name, (long long)param);
    bool may = use_cards && (kind == COLL_BARRIER || kind == COLL_ALLREDUCE) && (double)bytes <= m->offload_most;
    if (may && alg->stages && (strcmp(alg->name, "levels") == 0 || kind == COLL_BARRIER))
        snprintf(text, sizeof text, "levels:network");
    free(nodes.first);
    lengths_free(&a);
    return cases_find(coll, text, out, error, sizeof error);
}
