/* tuned.c -- reads the file that GODWIT_TUNE names, which godwit-tune writes.  Its rows are as in tune/coll.tbl (5 columns) and
 * tune/nodes.tbl (6 columns):
 *
 *     # comment
 *     bcast | 4..4 | 16K | leaf | -
 *     allreduce | 8..8 | 2..2 | 1K | levels | -
 *     GODWIT_EAGER_MAX=16K        (read by base/, with the settings)
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "coll/coll_private.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/settings.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>

enum { COLUMNS = 6, MOST_CHUNK = 1 << 30 };

static char *trimmed(char *text)
{
    while (isspace((unsigned char)*text)) text++;
    size_t n = strlen(text);
    while (n > 0 && isspace((unsigned char)text[n - 1])) text[--n] = 0;
    return text;
}

/* "16K"; "-": none. */
static bool size_of(const char *text, int64_t none, int64_t most, int64_t *out)
{
    char *end;
    int shift = 0;
    if (strcmp(text, "-") == 0) return *out = none, true;
    if (!isdigit((unsigned char)*text)) return false;
    unsigned long long v = strtoull(text, &end, 10);
    if (*end == 'K')
        shift = 10, end++;
    else if (*end == 'M')
        shift = 20, end++;
    else if (*end == 'G')
        shift = 30, end++;
    if (*end || v > (unsigned long long)most >> shift) return false;
    *out = (int64_t)(v << shift);
    return true;
}

/* "2..8", or "9..": and more. */
static bool span_of(const char *text, int *low_out, int *high_out)
{
    char *end;
    if (!isdigit((unsigned char)*text)) return false;
    long low = strtol(text, &end, 10), high = INT_MAX;
    if (end[0] != '.' || end[1] != '.') return false;
    if (end[2]) {
        if (!isdigit((unsigned char)end[2])) return false;
        high = strtol(end + 2, &end, 10);
        if (*end) return false;
    }
    if (low < 1 || high < low || high > INT_MAX) return false;
    *low_out = (int)low, *high_out = (int)high;
    return true;
}

/* Reads a row; NULL, or what is wrong with it. */
static const char *row_of(char *line, struct coll_rule *r, bool *has_nodes_out)
{
    char *cell[COLUMNS + 1];
    int n = 0;
    for (char *at = line; at && n <= COLUMNS; n++) {
        cell[n] = at;
        at = strchr(at, '|');
        if (at) *at++ = 0;
        cell[n] = trimmed(cell[n]);
    }
    if (n != 5 && n != 6) return "it has not 5 columns, or 6 with nodes";
    *has_nodes_out = n == 6;
    char **rest = cell + (n == 6 ? 3 : 2);
    *r = (struct coll_rule){.min_nodes = 1, .max_nodes = INT_MAX, .is_tuned = true};
    int kind = coll_kind_named(cell[0], strlen(cell[0]));
    if (kind == COLL_KINDS) return "its first column is no collective";
    r->kind = (uint8_t)kind;
    if (!span_of(cell[1], &r->min_ranks, &r->max_ranks)) return "its second column is not LOW..HIGH ranks";
    if (n == 6 && !span_of(cell[2], &r->min_nodes, &r->max_nodes)) return "its third column is not LOW..HIGH nodes";
    if (!size_of(rest[0], INT64_MAX, INT64_MAX, &r->max_bytes)) return "its bytes are no size such as 512, 16K or -";
    const struct plan_algorithm *alg = coll_algorithm_find(kind, rest[1], strlen(rest[1]));
    if (!alg) return "its collective has no such algorithm";
    if (n == 6 && alg->kind != PLAN_P2P) return "an algorithm of shared memory cannot serve several nodes";
    r->name = alg->name; /* static, unlike the line's text */
    if (!size_of(rest[2], 0, MOST_CHUNK, &r->piece_bytes)) return "its chunk is no size up to 1G, or -";
    return NULL;
}

/* Adds a row, unless its collective has too many. */
static const char *keep(struct coll_tuned *t, const struct coll_rule *r, bool has_nodes)
{
    struct coll_rule **rules = has_nodes ? &t->node_rules : &t->rules;
    int *n = has_nodes ? &t->n_node : &t->n, same = 0;
    for (int i = 0; i < *n; i++) same += (*rules)[i].kind == r->kind;
    if (same == COLL_TUNED_ROWS) return "its collective has 16 rows already";
    *rules = gw_xrealloc(*rules, (size_t)(*n + 1) * sizeof **rules);
    (*rules)[(*n)++] = *r;
    return NULL;
}

void coll_tuned_read(const char *path, struct coll_tuned *t)
{
    enum { MOST = 1 << 20 };
    char *text = NULL;
    free(t->rules), free(t->node_rules);
    *t = (struct coll_tuned){NULL, NULL, 0, 0};
    if (!path || !*path || gw_file_read(path, MOST, false, &text)) return; /* base/ has reported why it cannot be read */
    int number = 1;
    for (char *line = text, *next; line; line = next, number++) {
        struct coll_rule r;
        bool has_nodes;
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        line[strcspn(line, "#")] = 0;
        line = trimmed(line);
        if (!*line || strchr(line, '=')) continue;
        const char *why = row_of(line, &r, &has_nodes);
        if (!why) why = keep(t, &r, has_nodes);
        if (why && gw_comm_world.rank == 0) gw_warn("GODWIT_TUNE=%s, line %d: %s; the line is left out", path, number, why);
    }
    free(text);
}

int64_t coll_tuned_hash(const struct coll_tuned *t)
{
    int64_t radix_from = gw_set.cma_min; /* also affects the choice: rules.c */
    uint64_t hash = gw_hash(GW_HASH_SEED, &radix_from, sizeof radix_from);
    for (int i = 0; i < t->n + t->n_node; i++) {
        const struct coll_rule *r = i < t->n ? &t->rules[i] : &t->node_rules[i - t->n];
        int64_t is[] = {i < t->n, r->kind, r->min_ranks, r->max_ranks, r->min_nodes, r->max_nodes, r->max_bytes, r->piece_bytes};
        hash = gw_hash(gw_hash(hash, is, sizeof is), r->name, strlen(r->name));
    }
    return (int64_t)hash;
}
