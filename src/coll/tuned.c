/* tuned.c -- reads the file that GODWIT_TUNE names, which godwit-tune writes.  Its rows (tuned_line.c) are as in tune/coll.tbl (5
 * columns) and tune/nodes.tbl (6 columns):
 *
 *     # comment
 *     bcast | 4..4 | 16K | leaf | -
 *     allreduce | 8..8 | 2..2 | 1K | levels | -
 *     intel/6/207 | bcast | 4..4 | 64K | leaf_wide | -    (of that processor alone)
 *     GODWIT_EAGER_MAX=16K        (read by base/, with the settings)
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "coll/coll_private.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/settings.h"

#include <stdlib.h>

/* Reads a row; NULL, or what is wrong with it.  kind COLL_KINDS: the line has none. */
static const char *row_of(char *line, struct coll_rule *r, bool *has_nodes_out)
{
    const char *why = coll_tuned_line(line, r, has_nodes_out);
    if (why || r->kind == COLL_KINDS) return why;
    const struct plan_algorithm *alg = coll_algorithm_find(r->kind, r->name, strlen(r->name));
    if (!alg) return "its collective has no such algorithm";
    if (*has_nodes_out && alg->kind != PLAN_P2P) return "an algorithm of shared memory cannot serve several nodes";
    r->name = alg->name; /* static, unlike the line's text */
    return NULL;
}

/* Adds a row, unless its collective has too many. */
static const char *keep(struct coll_tuned *t, const struct coll_rule *r, bool has_nodes)
{
    struct coll_rule **rules = has_nodes ? &t->node_rules : &t->rules;
    int *n = has_nodes ? &t->n_node : &t->n, same = 0;
    for (int i = 0; i < *n; i++) same += (*rules)[i].kind == r->kind;
    _Static_assert(COLL_TUNED_ROWS == 16, "the text says so");
    if (same == COLL_TUNED_ROWS) return "its collective has 16 rows already";
    *rules = gw_xrealloc(*rules, (size_t)(*n + 1) * sizeof **rules);
    (*rules)[(*n)++] = *r;
    return NULL;
}

void coll_tuned_rows(const char *path, struct coll_tuned *t, coll_tuned_wrong_fn *wrong, void *arg)
{
    enum { MOST = 1 << 20 };
    char *text = NULL;
    free(t->rules), free(t->node_rules);
    *t = (struct coll_tuned){NULL, NULL, 0, 0};
    struct gw_processor here;
    gw_processor_of(gw_set.processor, &here);
    if (!path || !*path || gw_file_read(path, MOST, false, &text)) return; /* base/ has reported why it cannot be read */
    struct gw_lines lines = {text, 0};
    for (char *line; (line = gw_line_next(&lines));) {
        struct coll_rule r;
        bool has_nodes;
        const char *why = row_of(line, &r, &has_nodes);
        if (!why && (r.kind == COLL_KINDS || (r.processor.vendor[0] && !gw_processor_fits(&r.processor, &here)))) continue;
        r.line = lines.number;
        if (!why) why = keep(t, &r, has_nodes);
        if (why) wrong(arg, path, lines.number, why);
    }
    free(text);
}

static void warn_of(void *arg, const char *path, int line, const char *why)
{
    (void)arg;
    if (gw_comm_world.rank == 0) gw_warn("GODWIT_TUNE=%s, line %d: %s; the line is left out", path, line, why);
}
void coll_tuned_read(const char *path, struct coll_tuned *t) { coll_tuned_rows(path, t, warn_of, NULL); }

int64_t coll_tuned_hash(const struct coll_tuned *t, bool with_processors)
{
    uint64_t hash = GW_HASH_SEED;
    for (int i = 0; i < t->n + t->n_node; i++) {
        const struct coll_rule *r = i < t->n ? &t->rules[i] : &t->node_rules[i - t->n];
        if (r->processor.vendor[0] && !with_processors) continue;
        int64_t is[] = {i < t->n, r->kind, r->min_ranks, r->max_ranks, r->min_nodes, r->max_nodes, r->max_bytes, r->piece_bytes};
        hash = gw_hash(gw_hash(hash, is, sizeof is), r->name, strlen(r->name));
    }
    return (int64_t)hash;
}

static int without_processors(struct coll_rule *rules, int n)
{
    int kept = 0;
    for (int i = 0; i < n; i++)
        if (!rules[i].processor.vendor[0]) rules[kept++] = rules[i];
    return kept;
}
void coll_tuned_generalize(struct coll_tuned *t)
{
    t->n = without_processors(t->rules, t->n);
    t->n_node = without_processors(t->node_rules, t->n_node);
}
