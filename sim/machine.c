/* machine.c -- reads the description of a machine.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "machine.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"

enum { MACHINE_TEXT = 16384, MACHINE_LIKES = 3 };
struct key {
    const char *word, *name;
    size_t at;
};
#define KEY(word, name, field)                                                                                                     \
    {                                                                                                                              \
        word, name, offsetof(struct machine, field)                                                                                \
    }
static const struct key keys[] = {
    KEY("nic", "n", nics),
    KEY("nic", "g", nic_g),
    KEY("nic", "G", nic_G),
    KEY("nic", "other", nic_other),
    KEY("nic", "L", nic_L),
    KEY("nic", "link", nic_link),
    KEY("nic", "queue", nic_queue),
    KEY("gpu", "ranks", gpu.ranks),
    KEY("gpu", "links", gpu.links),
    KEY("gpu", "link", gpu.link),
    KEY("gpu", "engine", gpu.engine),
    KEY("gpu", "same", gpu.same),
    KEY("gpu", "host", gpu.host),
    KEY("gpu", "pcie", gpu.pcie),
    KEY("offload", "radix", offload_radix),
    KEY("offload", "hop", offload_hop),
    KEY("offload", "reduce", offload_reduce),
    KEY("offload", "most", offload_most),
    KEY("atomics", "o", atomics_o),
    KEY("atomics", "L", atomics_L),
    KEY("fabric", "groups", fabric.groups),
    KEY("fabric", "switches", fabric.switches),
    KEY("fabric", "nodes", fabric.nodes),
    KEY("fabric", "hop", fabric.hop),
    KEY("fabric", "G", fabric.G),
    KEY("fabric", "buffer", fabric.buffer),
    KEY("fabric", "packet", fabric.packet),
    KEY("fabric", "window", fabric.window),
    KEY("fabric", "detour", fabric.detour),
    KEY("match", "search", match_search),
    KEY("match", "entry", match_entry),
    KEY("match", "extra", match_extra),
    KEY("incast", "after", incast_after),
    KEY("incast", "cost", incast_cost),
    KEY("core", "copy", copy),
    KEY("core", "copy_byte", copy_byte),
    KEY("core", "reduce", reduce),
    KEY("core", "reduce_byte", reduce_byte),
    KEY("core", "publish", publish),
    KEY("core", "flag", flag),
    KEY("core", "look", look),
    KEY("core", "pull", pull),
    KEY("core", "pull_byte", pull_byte),
    KEY("core", "step", step),
};
#undef KEY
#define KEY(name, field)                                                                                                           \
    {                                                                                                                              \
        "level", name, offsetof(struct machine_level, field)                                                                       \
    }
static const struct key level_keys[] = {
    KEY("o", o), KEY("O", O), KEY("R", R), KEY("L", L), KEY("g", g), KEY("G", G), KEY("eager", eager),
};
#undef KEY
#define KEY(name, field)                                                                                                           \
    {                                                                                                                              \
        "engine", name, offsetof(struct machine_engine, field)                                                                     \
    }
static const struct key engine_keys[] = {
    KEY("upto", upto), KEY("o", o), KEY("L", L), KEY("g", g), KEY("G", G), KEY("n", n), KEY("mailbox", mailbox),
};
#undef KEY
#define KEY(name, field)                                                                                                           \
    {                                                                                                                              \
        "class", name, offsetof(struct machine_class, field)                                                                       \
    }
static const struct key class_keys[] = {
    KEY("min", min),
    KEY("max", max),
    KEY("priority", priority),
    KEY("drop", drop),
};
#undef KEY

struct reader {
    struct machine *m;
    const char *folder; /* of the file; NULL: there is none */
    int line, depth;    /* depth: of `like` */
    char *error;
    int cap;
};

static bool wrong(struct reader *r, const char *what, const char *word)
{
    snprintf(r->error, (size_t)r->cap, "line %d: %s '%s'", r->line, what, word);
    return false;
}

static bool is_count(const char *name)
{
    static const char *const counts[] = {"n",        "after",  "eager",  "upto",   "most",  "radix", "groups", "nodes",
                                         "switches", "packet", "buffer", "window", "other", "drop",  "links",  "ranks"};
    for (size_t i = 0; i < GW_ARRAY_LEN(counts); i++)
        if (!strcmp(name, counts[i])) return true;
    return false;
}

/* key=value into the structure at `base`. */
static bool set(struct reader *r, const struct key *table, size_t n, void *base, const char *word, char *pair)
{
    char *value = strchr(pair, '='), *end;
    if (!value) return wrong(r, "key=value is wanted, not", pair);
    *value++ = 0;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(table[i].word, word) != 0 || strcmp(table[i].name, pair) != 0) continue;
        double v = strtod(value, &end);
        if (end == value || *end || !isfinite(v) || v < 0) return wrong(r, "a number of at least 0 is wanted, not", value);
        if (is_count(pair) && v != floor(v)) return wrong(r, "a whole number is wanted, not", value);
        memcpy((char *)base + table[i].at, &v, sizeof v);
        return true;
    }
    return wrong(r, "no such key here:", pair);
}

static bool ranks_of(struct reader *r, const char *pair, int64_t *out)
{
    char *end;
    long long v = strtoll(pair + strlen("ranks="), &end, 10);
    if (v < 1 || v > INT32_MAX || *end) return wrong(r, "a number of ranks is wanted, not", pair);
    *out = v;
    return true;
}

/* The name behind a word; NULL: there is none, which is said. */
static const char *name_of(struct reader *r, const char *word, char **save)
{
    char *name = strtok_r(NULL, " \t", save);
    if (name && !strchr(name, '=')) return name;
    wrong(r, "a name is wanted after", word);
    return NULL;
}

/* key=value pairs to the end of the line. */
static bool read_pairs(struct reader *r, const struct key *table, size_t n, void *base, const char *word, char **save)
{
    char *pair;
    while ((pair = strtok_r(NULL, " \t", save)))
        if (!set(r, table, n, base, word, pair)) return false;
    return true;
}

/* The level of this name, which is made if there is none; NULL: it may not stand here. */
static struct machine_level *level_named(struct reader *r, const char *name)
{
    struct machine *m = r->m;
    for (int i = 0; i < m->n_levels; i++)
        if (!strcmp(m->levels[i].name, name)) return &m->levels[i];
    if (m->n_levels == MACHINE_LEVELS) return wrong(r, "too many levels:", name), NULL;
    if (m->n_levels && !m->levels[m->n_levels - 1].ranks) return wrong(r, "behind the level that joins all:", name), NULL;
    struct machine_level *l = &m->levels[m->n_levels++];
    *l = (struct machine_level){.eager = 1e18};
    snprintf(l->name, sizeof l->name, "%s", name);
    return l;
}

static bool read_level(struct reader *r, char **save)
{
    char *pair;
    const char *name = name_of(r, "level", save);
    struct machine_level *l = name ? level_named(r, name) : NULL;
    if (!l) return false;
    while ((pair = strtok_r(NULL, " \t", save))) {
        if (!strncmp(pair, "ranks=", 6) ? !ranks_of(r, pair, &l->ranks)
                                        : !set(r, level_keys, GW_ARRAY_LEN(level_keys), l, "level", pair))
            return false;
    }
    return true;
}

static bool read_engine(struct reader *r, char **save)
{
    struct machine *m = r->m;
    const char *name = name_of(r, "engine", save);
    int i = 0;
    if (!name) return false;
    while (i < m->n_engines && strcmp(m->engines[i].name, name) != 0) i++;
    if (i == MACHINE_ENGINES) return wrong(r, "too many engines:", name);
    struct machine_engine *e = &m->engines[i];
    if (i == m->n_engines) {
        *e = (struct machine_engine){.upto = 1e18};
        snprintf(e->name, sizeof e->name, "%s", name);
        m->n_engines++;
    }
    return read_pairs(r, engine_keys, GW_ARRAY_LEN(engine_keys), e, "engine", save);
}

static bool read_class(struct reader *r, char **save)
{
    struct machine *m = r->m;
    const char *name = name_of(r, "class", save);
    int i = 0;
    if (!name) return false;
    while (i < m->n_classes && strcmp(m->classes[i].name, name) != 0) i++;
    if (i == MACHINE_CLASSES) return wrong(r, "too many classes:", name);
    struct machine_class *c = &m->classes[i];
    if (i == m->n_classes) {
        *c = (struct machine_class){.max = 1};
        snprintf(c->name, sizeof c->name, "%s", name);
        m->n_classes++;
    }
    if (!read_pairs(r, class_keys, GW_ARRAY_LEN(class_keys), c, "class", save)) return false;
    return (c->max > 0 && c->max <= 1 && c->min <= c->max) ||
        wrong(r, "min is at most max, which is more than 0 and at most 1, for", name);
}

static bool read_machine(struct reader *r, char **save)
{
    const char *name = name_of(r, "machine", save);
    if (name) snprintf(r->m->name, sizeof r->m->name, "%s", name);
    return name != NULL;
}

static bool read_text(struct reader *r, const char *text);
static bool load(const char *path, char *text_out, size_t cap, char *error_out, int error_cap);

static bool read_like(struct reader *r, char **save)
{
    char path[512], text[MACHINE_TEXT], why[256];
    const char *name = name_of(r, "like", save);
    if (!name) return false;
    if (!r->folder || r->m->n_levels || r->depth == MACHINE_LIKES)
        return wrong(r, "only the first line of a file may be like (and no more than three files in a row):", name);
    snprintf(path, sizeof path, "%s%s.machine", r->folder, name);
    if (!load(path, text, sizeof text, why, sizeof why)) return wrong(r, "cannot be read:", why);
    struct reader other = {r->m, r->folder, 0, r->depth + 1, why, sizeof why};
    if (read_text(&other, text)) return true;
    snprintf(r->error, (size_t)r->cap, "line %d: like %s: %s", r->line, name, why);
    return false;
}

static bool read_line(struct reader *r, char *line)
{
    static const char *const words[] = {"machine", "node",    "level",  "nic",   "match", "incast", "core",
                                        "engine",  "offload", "fabric", "class", "like",  "gpu",    "atomics"};
    static bool (*const readers[GW_ARRAY_LEN(words)])(struct reader *, char **) = {
        [0] = read_machine, [2] = read_level, [7] = read_engine, [10] = read_class, [11] = read_like};
    char *save, *word, *pair;
    size_t k = 0;
    line[strcspn(line, "#")] = 0;
    word = strtok_r(line, " \t", &save);
    if (!word) return true;
    while (k < GW_ARRAY_LEN(words) && strcmp(words[k], word) != 0) k++;
    if (k == GW_ARRAY_LEN(words)) return wrong(r, "unknown word", word);
    if (readers[k]) return readers[k](r, &save);
    while ((pair = strtok_r(NULL, " \t", &save))) {
        if (!strcmp(word, "node") && !strncmp(pair, "ranks=", 6)) {
            if (!ranks_of(r, pair, &r->m->node_ranks)) return false;
        } else if (!set(r, keys, GW_ARRAY_LEN(keys), r->m, word, pair)) {
            return false;
        }
    }
    return true;
}

static bool read_text(struct reader *r, const char *text)
{
    while (*text) {
        char line[512];
        size_t n = strcspn(text, "\n");
        r->line++;
        if (n >= sizeof line) return wrong(r, "a line is too long in", r->m->name);
        memcpy(line, text, n);
        line[n] = 0;
        if (!read_line(r, line)) return false;
        text += n + (text[n] == '\n');
    }
    return true;
}

/* What no line alone can get wrong. */
static bool is_whole(struct reader *r)
{
    const struct machine *m = r->m;
    const struct machine_fabric *f = &m->fabric;
    if (!m->n_levels || m->levels[m->n_levels - 1].ranks)
        return wrong(r, "no level joins all ranks (one without ranks=) of", m->name);
    for (int i = 0; i < m->n_levels - 1; i++) {
        int64_t ranks = m->levels[i].ranks, inner = i ? m->levels[i - 1].ranks : 1;
        if (!ranks) return wrong(r, "behind the level that joins all:", m->levels[i + 1].name);
        if (ranks % inner) return wrong(r, "its groups are not whole groups of the level before:", m->levels[i].name);
        if (ranks % m->node_ranks && m->node_ranks % ranks)
            return wrong(r, "its groups are neither of whole nodes nor parts of one:", m->levels[i].name);
    }
    if (m->nics < 1) return wrong(r, "a node has at least one nic, but n=0 for", m->name);
    for (int i = 0; i < m->n_engines; i++)
        if (i + 1 < m->n_engines ? m->engines[i].upto >= m->engines[i + 1].upto : m->engines[i].upto < 1e18)
            return wrong(r, "engines stand in order of upto=, the last without, but not", m->engines[i].name);
    if (m->gpu.links && (m->gpu.ranks < 1 || m->node_ranks % (int64_t)m->gpu.ranks))
        return wrong(r, "a node has whole modules of gpu ranks= of", m->name);
    if (m->offload_radix == 1) return wrong(r, "a tree has a radix of at least 2, but radix=1 for", m->name);
    if (f->groups && (f->switches < 1 || f->nodes < 1)) return wrong(r, "a fabric has groups=, switches= and nodes= of", m->name);
    return true;
}

static bool parse(const char *text, const char *folder, struct machine *m_out, char *error_out, int error_cap)
{
    struct machine m = {.node_ranks = 1, .nics = 1, .incast_after = 1e18};
    struct reader r = {&m, folder, 0, 0, error_out, error_cap};
    if (!read_text(&r, text) || !is_whole(&r)) return false;
    *m_out = m;
    return true;
}

bool machine_parse(const char *text, struct machine *m_out, char *error_out, int error_cap)
{
    return parse(text, NULL, m_out, error_out, error_cap);
}

static bool load(const char *path, char *text_out, size_t cap, char *error_out, int error_cap)
{
    FILE *f = fopen(path, "r");
    if (!f) return snprintf(error_out, (size_t)error_cap, "%s: %s", path, strerror(errno)), false;
    size_t n = fread(text_out, 1, cap - 1, f);
    fclose(f);
    text_out[n] = 0;
    if (n < cap - 1) return true;
    return snprintf(error_out, (size_t)error_cap, "%s: longer than %zu bytes", path, cap - 2), false;
}

bool machine_read(const char *path, struct machine *m_out, char *error_out, int error_cap)
{
    char text[MACHINE_TEXT], why[256], folder[512];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path + 1) : 0, path);
    if (!load(path, text, sizeof text, error_out, error_cap)) return false;
    if (parse(text, folder, m_out, why, sizeof why)) return true;
    return snprintf(error_out, (size_t)error_cap, "%s: %s", path, why), false;
}
