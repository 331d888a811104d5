/* info_tuning.c -- godwit-info: the rows of the tuning file that are in force, as the library reads them.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "info.h"
#include "base/plain.h"
#include "base/processor.h"
#include "coll/coll_private.h"

#include <limits.h>
#include <stdlib.h>

/* Lines that are left out. */
struct wrong {
    struct {
        int line;
        const char *why; /* static */
    } * at;
    int n;
};

static void wrong_add(void *arg, const char *path, int line, const char *why)
{
    struct wrong *w = arg;
    (void)path;
    w->at = gw_xrealloc(w->at, (size_t)(w->n + 1) * sizeof *w->at);
    w->at[w->n].line = line;
    w->at[w->n++].why = why;
}

static const struct coll_rule *rule(const struct coll_tuned *t, int i)
{
    return i < t->n ? &t->rules[i] : &t->node_rules[i - t->n];
}

static const char *span_text(int low, int high, char *to, size_t cap)
{
    if (high == INT_MAX)
        snprintf(to, cap, "%d..", low);
    else
        snprintf(to, cap, "%d..%d", low, high);
    return to;
}

static const char *size_text(int64_t bytes, int64_t none, char *to, size_t cap)
{
    if (bytes == none)
        snprintf(to, cap, "-");
    else
        snprintf(to, cap, "%lld", (long long)bytes);
    return to;
}

/* As a line of the file has it. */
static void rule_print(const struct coll_rule *r, bool has_nodes)
{
    char text[GW_PROCESSOR_TEXT], ranks[32], nodes[32], most[32], chunk[32];
    if (r->processor.vendor[0]) gw_print(stdout, "%s | ", gw_processor_text(&r->processor, true, text, sizeof text));
    printf("%s | %s | ", coll_kind_names[r->kind], span_text(r->min_ranks, r->max_ranks, ranks, sizeof ranks));
    if (has_nodes) printf("%s | ", span_text(r->min_nodes, r->max_nodes, nodes, sizeof nodes));
    printf("%s | %s | %s   (line %d)\n", size_text(r->max_bytes, INT64_MAX, most, sizeof most), r->name,
           size_text(r->piece_bytes, 0, chunk, sizeof chunk), r->line);
}

static void tuned_free(struct coll_tuned *t, struct wrong *w)
{
    free(t->rules);
    free(t->node_rules);
    free(w->at);
}

int info_tuning_print(void)
{
    struct coll_tuned t = {0};
    struct wrong w = {0};
    char text[2048];
    if (!gw_tuned_text(text, sizeof text)) return puts("no tuning file (GODWIT_TUNE; godwit-tune makes one)") < 0;
    gw_print(stdout, "%s\n", text);
    coll_tuned_rows(gw_set.tune, &t, wrong_add, &w);
    for (int i = 0; i < t.n + t.n_node; i++) rule_print(rule(&t, i), i >= t.n);
    for (int i = 0; i < w.n; i++) printf("line %d is left out: %s\n", w.at[i].line, w.at[i].why);
    tuned_free(&t, &w);
    return w.n > 0;
}

/* Bounds that are none are null. */
static void bound_json(struct gw_json *j, const char *name, int64_t n, int64_t none)
{
    if (n == none)
        gw_json_text(j, name, NULL);
    else
        gw_json_int(j, name, n);
}

static void rule_json(struct gw_json *j, const struct coll_rule *r, bool has_nodes)
{
    char text[GW_PROCESSOR_TEXT];
    gw_json_row(j, NULL);
    gw_json_int(j, "line", r->line);
    gw_json_text(j, "processor", r->processor.vendor[0] ? gw_processor_text(&r->processor, true, text, sizeof text) : NULL);
    gw_json_text(j, "collective", coll_kind_names[r->kind]);
    gw_json_int(j, "min_ranks", r->min_ranks);
    bound_json(j, "max_ranks", r->max_ranks, INT_MAX);
    gw_json_int(j, "min_nodes", has_nodes ? r->min_nodes : 1);
    bound_json(j, "max_nodes", has_nodes ? r->max_nodes : 1, INT_MAX);
    bound_json(j, "max_bytes", r->max_bytes, INT64_MAX);
    gw_json_text(j, "algorithm", r->name);
    bound_json(j, "chunk_bytes", r->piece_bytes, 0);
    gw_json_close(j);
}

void info_tuning_json(struct gw_json *j, const char *name)
{
    struct coll_tuned t = {0};
    struct wrong w = {0};
    char text[2048];
    bool is = gw_tuned_text(text, sizeof text);
    gw_json_object(j, name);
    gw_json_text(j, "file", is ? gw_set.tune : NULL);
    gw_json_text(j, "text", is ? text : NULL);
    if (is) coll_tuned_rows(gw_set.tune, &t, wrong_add, &w);
    gw_json_array(j, "rows");
    for (int i = 0; i < t.n + t.n_node; i++) rule_json(j, rule(&t, i), i >= t.n);
    gw_json_close(j);
    gw_json_array(j, "wrong");
    for (int i = 0; i < w.n; i++) {
        gw_json_row(j, NULL);
        gw_json_int(j, "line", w.at[i].line);
        gw_json_text(j, "why", w.at[i].why);
        gw_json_close(j);
    }
    gw_json_close(j);
    gw_json_close(j);
    tuned_free(&t, &w);
}
