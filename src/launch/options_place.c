/* options_place.c -- where ranks run, in the words of Hydra, Open MPI, PRRTE and Slurm.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "launch/options_private.h"
#include "base/settings.h"

/* Words for parts of a machine.  The first ones are offered; board and machine are the whole of it, as one host is here. */
static const struct unit_word {
    const char *word;
    enum bind_to bind;
    enum unit unit;
} unit_words[] = {
    {"core", BIND_CORE, UNIT_CORE},          {"numa", BIND_NUMA, UNIT_NUMA},         {"none", BIND_NONE, UNIT_CORE},
    {"hwthread", BIND_HWTHREAD, UNIT_CORE},  {"socket", BIND_PACKAGE, UNIT_PACKAGE}, {"package", BIND_PACKAGE, UNIT_PACKAGE},
    {"l3cache", BIND_L3, UNIT_L3},           {"l2cache", BIND_L2, UNIT_L2},          {"l1cache", BIND_CORE, UNIT_CORE},
    {"machine", BIND_MACHINE, UNIT_MACHINE}, {"board", BIND_MACHINE, UNIT_MACHINE},  {"node", BIND_MACHINE, UNIT_MACHINE},
    {"slot", BIND_CORE, UNIT_CORE},
};
enum { N_UNIT_WORDS = GW_ARRAY_LEN(unit_words), N_OFFERED = 3 };

static const struct unit_word *unit_find(const char *word, size_t n)
{
    for (int i = 0; i < N_UNIT_WORDS; i++)
        if (strlen(unit_words[i].word) == n && strncasecmp(unit_words[i].word, word, n) == 0) return &unit_words[i];
    return NULL;
}

/* Reports an unknown unit, with the word that is spelled most like it. */
static int no_unit(const char *option, bool may_be_none, const char *text, size_t n)
{
    const char *words[N_UNIT_WORDS], *near;
    char *word = gw_xasprintf("%.*s", (int)n, text);
    int n_words = 0;
    for (int i = 0; i < N_UNIT_WORDS; i++)
        if (may_be_none || unit_words[i].bind != BIND_NONE) words[n_words++] = unit_words[i].word;
    near = gw_nearest(word, words, n_words);
    launch_usage_error("%s is core, numa, %shwthread, socket, l2cache, l3cache, machine or slot, not '%s'%s%s%s", option,
                       may_be_none ? "none, " : "", word, near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    free(word);
    return EXIT_USAGE;
}

/* ---- lists of CPUs -------------------------------------------------------------------------------------------------------- */
/* Are these numbers and ascending ranges, separated by `between`? */
static bool is_cpu_list(const char *text, size_t n, char between)
{
    enum { MOST = 8192 };
    const char *p = text, *end = text + n;
    while (p < end) {
        char *after;
        long a, b;
        if (!isdigit((unsigned char)*p)) return false;
        a = b = strtol(p, &after, 10);
        p = after;
        if (p < end && *p == '-') {
            if (p + 1 >= end || !isdigit((unsigned char)p[1])) return false;
            b = strtol(p + 1, &after, 10);
            p = after;
        }
        if (a > b || b >= MOST) return false;
        if (p == end) return true;
        if (*p++ != between) return false;
    }
    return false;
}

static int set_user(struct launch_options *o, const char *option, const char *list)
{
    for (const char *p = list; *p || p == list;) {
        size_t n = strcspn(p, ",");
        if (!is_cpu_list(p, n, '+'))
            return launch_usage_error(
                "%s user: wants CPUs rank by rank with commas, + and - between those of one rank, such as user:0+2,1,4-7, not '%s'",
                option, list);
        p += n;
        if (*p == ',' && !*++p) return launch_usage_error("%s user:%s ends with a comma", option, list);
    }
    o->place.bind = BIND_USER;
    o->place.user = launch_options_hold(o, list);
    return -1;
}

int launch_set_cpu_set(struct launch_options *o, const char *name, const char *text)
{
    if (!is_cpu_list(text, strlen(text), ','))
        return launch_usage_error("%s wants a list of CPUs such as 0-3,8, not '%s'", name, text);
    o->place.cpu_set = launch_options_hold(o, text);
    return -1;
}

/* ---- binding ------------------------------------------------------------------------------------------------------------- */
static bool is_word(const char *text, size_t n, const char *word) { return strlen(word) == n && strncasecmp(text, word, n) == 0; }

/* Reads what follows the unit: a number of units, or a qualifier of Open MPI. */
static int bind_more(struct launch_options *o, const char *option, const char *more)
{
    for (const char *p = more; *p;) {
        size_t n = strcspn(p, ":,");
        if (isdigit((unsigned char)*p)) {
            char *count = gw_xasprintf("%.*s", (int)n, p);
            long v = launch_parse_number(option, count, 1, MAX_RANKS);
            free(count);
            if (v < 0) return EXIT_USAGE;
            o->place.bind_count = (int)v;
        } else if (is_word(p, n, "overload-allowed")) {
            o->oversubscribe = true;
        } else if (!is_word(p, n, "if-supported") && !is_word(p, n, "no-overload") && !is_word(p, n, "limit")) {
            return launch_usage_error("%s: behind the colon stands a number, such as core:2, not '%.*s'", option, (int)n, p);
        }
        p += n + (p[n] != 0);
    }
    return -1;
}

int launch_set_bind(struct launch_options *o, const char *name, const char *text)
{
    if (strncasecmp(text, "user:", 5) == 0) {
        o->only_here = name;
        return set_user(o, name, text + 5);
    }
    if (strcasecmp(text, "rr") == 0) text = "core";
    size_t n = strcspn(text, ":");
    const struct unit_word *u = unit_find(text, n);
    if (!u) return no_unit(name, true, text, n);
    o->place.bind = u->bind;
    o->place.bind_count = 0;
    int rc = text[n] ? bind_more(o, name, text + n + 1) : -1;
    if (o->place.bind_count > 1) o->only_here = name;
    return rc;
}

/* Each rank's own cores, as many as --depth (-d) says. */
static int bind_depth(struct launch_options *o)
{
    o->place.bind = BIND_CORE;
    return -1;
}

/* "0-2,5": the same CPUs one by one. */
static int set_singles(struct launch_options *o, const char *name, const char *text)
{
    char *ours = NULL;
    if (!is_cpu_list(text, strlen(text), ','))
        return launch_usage_error("%s wants CPUs rank by rank, such as 0-3,8 or 0,1:2,3, not '%s'", name, text);
    for (char *p = (char *)text; *p; p += *p == ',') {
        long a = strtol(p, &p, 10), b = *p == '-' ? strtol(p + 1, &p, 10) : a;
        for (; a <= b; a++) {
            char *longer = gw_xasprintf("%s%s%ld", ours ? ours : "", ours ? "," : "", a);
            free(ours);
            ours = longer;
        }
    }
    const char *held = launch_options_hold(o, ours);
    free(ours);
    o->only_here = name;
    return set_user(o, name, held);
}

/* "0,1:2-3": CPUs with commas and ranges, the ranks with colons between them; ours has + and commas. */
static int set_cpus(struct launch_options *o, const char *name, const char *text)
{
    char *ours = gw_xasprintf("%s", text);
    for (char *c = ours; *c; c++) *c = *c == ',' ? '+' : *c == ':' ? ',' : *c;
    const char *held = launch_options_hold(o, ours);
    free(ours);
    o->only_here = name;
    return set_user(o, name, held);
}

int launch_set_cpu_bind(struct launch_options *o, const char *text)
{
    static const struct {
        const char *slurm, *ours;
    } same[] = {
        {"cores", "core"},      {"core", "core"},        {"sockets", "socket"}, {"ldoms", "numa"}, {"numa", "numa"},
        {"thread", "hwthread"}, {"threads", "hwthread"}, {"none", "none"},      {"no", "none"},    {"rank", "core"},
    };
    for (;;) { /* "verbose,cores" */
        size_t n = strcspn(text, ",");
        if (is_word(text, n, "verbose") || is_word(text, n, "v"))
            o->verbose = true;
        else if (!is_word(text, n, "quiet") && !is_word(text, n, "q"))
            break;
        if (!text[n]) return -1;
        text += n + 1;
    }
    if (strncmp(text, "map_cpu:", 8) == 0) {
        o->only_here = "--cpu-bind";
        return set_user(o, "--cpu-bind", text + 8);
    }
    if (strncmp(text, "list:", 5) == 0) return set_cpus(o, "--cpu-bind", text + 5);
    if (strcasecmp(text, "depth") == 0) return bind_depth(o);
    for (size_t i = 0; i < GW_ARRAY_LEN(same); i++)
        if (strcasecmp(text, same[i].slurm) == 0) return launch_set_bind(o, "--cpu-bind", same[i].ours);
    return launch_usage_error(
        "--cpu-bind is cores, sockets, ldoms, numa, threads, none, depth, map_cpu:LIST or list:CPUS:CPUS..., not '%s'", text);
}

int launch_set_cc(struct launch_options *o, const char *text)
{
    if (strcmp(text, "cpu") == 0) return launch_set_bind(o, "-cc", "core");
    if (strcmp(text, "numa_node") == 0) return launch_set_bind(o, "-cc", "numa");
    if (strcmp(text, "none") == 0) return launch_set_bind(o, "-cc", "none");
    if (strcmp(text, "depth") == 0) return bind_depth(o);
    /* CPUs are dealt one to each rank, or a list to each with colons between them. */
    if (*text >= '0' && *text <= '9') return strchr(text, ':') ? set_cpus(o, "-cc", text) : set_singles(o, "-cc", text);
    return launch_usage_error("-cc is cpu, depth, numa_node, none or CPUs rank by rank, such as 0,1 or 0,1:2,3, not '%s'", text);
}

/* Slurm's "nodes[:sockets]": blocks of ranks on nodes are the default here, in turns is by node; on one machine the sockets matter.  A number is
 * aprun's -m, memory for a rank. */
int launch_set_distribution(struct launch_options *o, const char *name, const char *text)
{
    if (*text >= '0' && *text <= '9') return -1; /* the system gives ranks the memory that they ask for */
    size_t n = strcspn(text, ":");
    bool block = is_word(text, n, "block") || is_word(text, n, "*"), cyclic = is_word(text, n, "cyclic");
    const char *inside = text[n] ? text + n + 1 : "block";
    if (!block && !cyclic)
        return launch_usage_error(
            "%s: %.*s is not done here: block or cyclic, and :block or :cyclic for sockets; other orders: --map-by, "
            "--rankfile, MPICH_RANK_REORDER_METHOD",
            name, (int)n, text);
    if (strcmp(inside, "block") != 0 && strcmp(inside, "*") != 0 && strcmp(inside, "cyclic") != 0)
        return launch_usage_error("%s: sockets are filled (block) or taken in turns (cyclic), not '%s'", name, inside);
    int rc = cyclic ? launch_set_map(o, name, "node") : -1;
    return rc < 0 && strcmp(inside, "cyclic") == 0 ? launch_set_map(o, name, "socket") : rc;
}

/* ---- mapping ------------------------------------------------------------------------------------------------------------- */
/* "N:UNIT", `n` characters. */
static int ppr(struct launch_options *o, const char *name, const char *text, size_t n)
{
    size_t digits = strspn(text, "0123456789");
    const struct unit_word *u = digits && digits < n && text[digits] == ':' ? unit_find(text + digits + 1, n - digits - 1) : NULL;
    long v = digits && digits < 7 ? strtol(text, NULL, 10) : 0;
    if (!u || v < 1 || v > MAX_RANKS)
        return launch_usage_error("%s wants N:UNIT, such as 2:socket, not '%.*s'", name, (int)n, text);
    char *said = gw_xasprintf("%s %s%.*s", name, strstr(name, "ppr") ? "" : "ppr:", (int)n, text);
    o->place.ppr_said = launch_options_hold(o, said);
    free(said);
    o->place.ppr = (int)v;
    o->place.map = u->unit;
    o->only_here = name;
    return -1;
}

int launch_set_ppr(struct launch_options *o, const char *name, const char *text) { return ppr(o, name, text, strlen(text)); }

/* Reads what follows the unit: PE=N, OVERSUBSCRIBE and so on.  Qualifiers without effect here are ignored. */
static int map_more(struct launch_options *o, const char *name, const char *more)
{
    static const char *const passed[] = {"span", "inherit", "noinherit", "hwtcpus", "corecpus", "ordered", "numa", "core", "slot"};
    for (const char *p = more; *p;) {
        size_t n = strcspn(p, ":,");
        bool known = false;
        if (n > 3 && strncasecmp(p, "pe=", 3) == 0) {
            char *count = gw_xasprintf("%.*s", (int)n - 3, p + 3);
            long v = launch_parse_number("--map-by ...:PE", count, 1, MAX_RANKS);
            free(count);
            if (v < 0) return EXIT_USAGE;
            o->place.bind = BIND_CORE;
            o->place.bind_count = (int)v;
            if (v > 1) o->only_here = name;
            known = true;
        } else if (is_word(p, n, "oversubscribe")) {
            o->oversubscribe = known = true;
        } else if (is_word(p, n, "nooversubscribe")) {
            o->no_oversubscribe = known = true;
        }
        for (size_t i = 0; i < GW_ARRAY_LEN(passed); i++) known |= is_word(p, n, passed[i]);
        if (!known)
            return launch_usage_error("%s: behind the colon may stand PE=N, OVERSUBSCRIBE or NOOVERSUBSCRIBE, not '%.*s'", name,
                                      (int)n, p);
        p += n + (p[n] != 0);
    }
    return -1;
}

int launch_set_map(struct launch_options *o, const char *name, const char *text)
{
    size_t n = strcspn(text, ":,");
    if (is_word(text, n, "ppr")) {
        const char *at = text + n + (text[n] != 0);
        n = strcspn(at, ":");
        if (at[n]) n += 1 + strcspn(at + n + 1, ":,");
        int rc = ppr(o, name, at, n);
        return rc >= 0 || !at[n] ? rc : map_more(o, name, at + n + 1);
    }
    const struct unit_word *u = unit_find(text, n);
    if (!u || u->bind == BIND_NONE) return no_unit(name, false, text, n);
    o->place.map = u->unit;
    o->place.ppr = 0;
    return text[n] ? map_more(o, name, text + n + 1) : -1;
}

int launch_set_rank_by(struct launch_options *o, const char *text)
{
    size_t n = strcspn(text, ":");
    const struct unit_word *u = unit_find(text, n);
    o->place.rank_by_given = true;
    o->place.rank_by = UNIT_CORE;
    if (is_word(text, n, "fill")) return -1;
    if (!u || u->bind == BIND_NONE) return no_unit("--rank-by", false, text, n);
    if (u->unit != UNIT_MACHINE)
        o->place.rank_by = u->unit; /* there is one host: going round the hosts is one rank after the other */
    return -1;
}

int launch_set_mem_bind(struct launch_options *o, const char *text)
{
    if (strcmp(text, "local") == 0) return launch_set_membind(o, "bind");
    if (strcmp(text, "none") == 0 || strcmp(text, "no") == 0) return launch_set_membind(o, "none");
    if (strcmp(text, "v") == 0 || strcmp(text, "verbose") == 0 || strcmp(text, "q") == 0 || strcmp(text, "quiet") == 0) return -1;
    return launch_usage_error("--mem-bind is local or none here (-membind has more), not '%s'", text);
}

int launch_set_membind(struct launch_options *o, const char *text)
{
    static const char *const policies[] = {
        "firsttouch", "none", "bind", "bind:numa", "interleave", "interleave:numa", "bind:machine", "interleave:machine"};
    int c = launch_parse_choice("-membind", text, policies, GW_ARRAY_LEN(policies));
    if (c < 0) return EXIT_USAGE;
    o->place.membind = c < 2 ? NULL : policies[c];
    return -1;
}
