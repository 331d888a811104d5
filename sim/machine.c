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
#include "base/settings.h"

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

struct reader {
    struct machine *m;
    int line;
    char *error;
    int cap;
};

static bool wrong(struct reader *r, const char *what, const char *word)
{
    snprintf(r->error, (size_t)r->cap, "line %d: %s '%s'", r->line, what, word);
    return false;
}

static bool is_count(const char *name) { return !strcmp(name, "n") || !strcmp(name, "after") || !strcmp(name, "eager"); }

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

static bool read_level(struct reader *r, char **save)
{
    struct machine *m = r->m;
    char *name = strtok_r(NULL, " \t", save), *pair;
    if (!name || strchr(name, '=')) return wrong(r, "a name is wanted after", "level");
    if (m->n_levels == MACHINE_LEVELS) return wrong(r, "too many levels:", name);
    if (m->n_levels && !m->levels[m->n_levels - 1].ranks) return wrong(r, "behind the level that joins all:", name);
    struct machine_level *l = &m->levels[m->n_levels++];
    *l = (struct machine_level){.eager = 1e18};
    snprintf(l->name, sizeof l->name, "%s", name);
    while ((pair = strtok_r(NULL, " \t", save))) {
        if (!strncmp(pair, "ranks=", 6) ? !ranks_of(r, pair, &l->ranks)
                                        : !set(r, level_keys, GW_ARRAY_LEN(level_keys), l, "level", pair))
            return false;
    }
    int64_t inner = m->n_levels > 1 ? l[-1].ranks : 1;
    if (l->ranks && l->ranks % inner) return wrong(r, "its groups are not whole groups of the level before:", name);
    return true;
}

static bool read_line(struct reader *r, char *line)
{
    static const char *const words[] = {"machine", "node", "level", "nic", "match", "incast", "core"};
    char *save, *word, *pair;
    line[strcspn(line, "#")] = 0;
    word = strtok_r(line, " \t", &save);
    if (!word) return true;
    if (!strcmp(word, "level")) return read_level(r, &save);
    if (!strcmp(word, "machine")) {
        char *name = strtok_r(NULL, " \t", &save);
        if (!name) return wrong(r, "a name is wanted after", word);
        snprintf(r->m->name, sizeof r->m->name, "%s", name);
        return true;
    }
    const char *near = gw_nearest(word, words, GW_ARRAY_LEN(words));
    if (!near || strcmp(near, word) != 0) return wrong(r, "unknown word", word);
    while ((pair = strtok_r(NULL, " \t", &save))) {
        if (!strcmp(word, "node") && !strncmp(pair, "ranks=", 6)) {
            if (!ranks_of(r, pair, &r->m->node_ranks)) return false;
        } else if (!set(r, keys, GW_ARRAY_LEN(keys), r->m, word, pair)) {
            return false;
        }
    }
    return true;
}

bool machine_parse(const char *text, struct machine *m_out, char *error_out, int error_cap)
{
    struct machine m = {.node_ranks = 1, .nics = 1, .incast_after = 1e18};
    struct reader r = {&m, 0, error_out, error_cap};
    while (*text) {
        char line[512];
        size_t n = strcspn(text, "\n");
        r.line++;
        if (n >= sizeof line) return wrong(&r, "a line is too long in", m.name);
        memcpy(line, text, n);
        line[n] = 0;
        if (!read_line(&r, line)) return false;
        text += n + (text[n] == '\n');
    }
    if (!m.n_levels || m.levels[m.n_levels - 1].ranks) return wrong(&r, "no level joins all ranks (one without ranks=) of", m.name);
    for (int i = 0; i < m.n_levels - 1; i++)
        if (m.levels[i].ranks % m.node_ranks && m.node_ranks % m.levels[i].ranks)
            return wrong(&r, "its groups are neither of whole nodes nor parts of one:", m.levels[i].name);
    if (m.nics < 1) return wrong(&r, "a node has at least one nic, but n=0 for", m.name);
    *m_out = m;
    return true;
}

bool machine_read(const char *path, struct machine *m_out, char *error_out, int error_cap)
{
    char text[16384], why[256];
    FILE *f = fopen(path, "r");
    if (!f) {
        snprintf(error_out, (size_t)error_cap, "%s: %s", path, strerror(errno));
        return false;
    }
    size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = 0;
    bool ok = n < sizeof text - 1 ? machine_parse(text, m_out, why, sizeof why)
                                  : (snprintf(why, sizeof why, "longer than %zu bytes", sizeof text - 2), false);
    if (!ok) snprintf(error_out, (size_t)error_cap, "%s: %s", path, why);
    return ok;
}
