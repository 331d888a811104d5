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
    launch_usage_error("%s is core, numa, %shwthread, socket, l2cache, l3cache, machine%s or slot, not '%s'%s%s%s", option,
                       may_be_none ? "none, " : "", strstr(option, "map-by") ? ", ppr:N:UNIT, pe-list=CPUS, rankfile, seq" : "",
                       word, near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
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

/* What stands in `said` has become the list with commas, + and -, which are the words of --bind-to user. */
int launch_set_user(struct launch_options *o, const char *said, const char *list)
{
    bool is_ours = strstr(said, "user:") != NULL;
    for (const char *p = list; *p || p == list;) {
        size_t n = strcspn(p, ",");
        if (!is_cpu_list(p, n, '+'))
            return launch_usage_error("%s: wants CPUs rank by rank%s", said,
                                      is_ours ? " with commas, + and - between those of one rank, such as user:0+2,1,4-7"
                                              : ", each below 8192");
        p += n;
        if (*p == ',' && !*++p) return launch_usage_error("%s ends with a comma", said);
    }
    o->place.bind = BIND_USER;
    o->place.user = launch_options_hold(o, list);
    o->said.user = launch_options_hold(o, said);
    return -1;
}

int launch_set_cpu_set(struct launch_options *o, const char *name, const char *text)
{
    if (!is_cpu_list(text, strlen(text), ','))
        return launch_usage_error("%s wants a list of CPUs such as 0-3,8, not '%s'", name, text);
    char *said = gw_xasprintf("%s %s", name, text);
    o->place.cpu_set = launch_options_hold(o, text);
    o->said.cpu_set = launch_options_hold(o, said);
    free(said);
    return -1;
}

int launch_set_numa(struct launch_options *o, const char *name, const char *text)
{
    if (!is_cpu_list(text, strlen(text), ','))
        return launch_usage_error("%s wants a list of NUMA nodes such as 0,2-3, not '%s'", name, text);
    o->place.numa = launch_options_hold(o, text);
    return -1;
}

int launch_set_rankfile(struct launch_options *o, const char *name, const char *file)
{
    o->place.rankfile = file;
    o->said.rankfile = launch_options_hold(o, name);
    return -1;
}

void launch_no_oversubscribe(struct launch_options *o, const char *said, bool is_wanted)
{
    o->no_oversubscribe = is_wanted;
    o->said.no_oversubscribe = launch_options_hold(o, said);
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
        char *said = gw_xasprintf("%s %s", name, text);
        int rc = launch_set_user(o, said, text + 5);
        free(said);
        return rc;
    }
    if (text[0] == ':') return bind_more(o, name, text + 1); /* PRRTE's words behind the default */
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

/* Takes over `ours`, what the text of the option is in our words. */
static int set_ours(struct launch_options *o, const char *name, const char *text, char *ours)
{
    char *said = gw_xasprintf("%s %s", name, text);
    int rc = launch_set_user(o, said, ours);
    o->only_here = name;
    free(said);
    free(ours);
    return rc;
}

/* Each rank's own cores, as many as --depth (-d) says. */
static int bind_depth(struct launch_options *o)
{
    o->place.bind = BIND_CORE;
    o->place.bind_count = 0;
    return -1;
}

void launch_depth_settle(struct launch_options *o)
{
    struct place_wanted *p = &o->place;
    if (!p->depth) return;
    if (p->bind == BIND_SHARE) p->bind = BIND_CORE;
    if ((p->bind == BIND_CORE || p->bind == BIND_HWTHREAD) && !p->bind_count) p->bind_count = p->depth;
    if (p->bind != BIND_NONE) return;
    char *text = gw_xasprintf("%s (ranks are not bound, so each may run on all cores)", o->said.depth);
    words_add(&o->noted, text);
    free(text);
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
    return set_ours(o, name, text, ours);
}

/* "0,1:2-3": CPUs with commas and ranges, the ranks with colons between them; ours has + and commas. */
static int set_cpus(struct launch_options *o, const char *name, const char *text)
{
    char *ours = gw_xasprintf("%s", text);
    for (char *c = ours; *c; c++) *c = *c == ',' ? '+' : *c == ':' ? ',' : *c;
    return set_ours(o, name, text, ours);
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
    if (strncmp(text, "map_cpu:", 8) == 0 || strncmp(text, "mask_cpu:", 9) == 0) {
        o->only_here = "--cpu-bind";
        return launch_set_slurm_cpus(o, text);
    }
    if (strncmp(text, "list:", 5) == 0) return set_cpus(o, "--cpu-bind", text + 5);
    if (strcasecmp(text, "depth") == 0) return bind_depth(o);
    for (size_t i = 0; i < GW_ARRAY_LEN(same); i++)
        if (strcasecmp(text, same[i].slurm) == 0) return launch_set_bind(o, "--cpu-bind", same[i].ours);
    return launch_usage_error(
        "--cpu-bind is cores, sockets, ldoms, numa, threads, none, depth, map_cpu:LIST, mask_cpu:LIST or list:CPUS:CPUS..., not '%s'",
        text);
}

int launch_set_cc(struct launch_options *o, const char *name, const char *text)
{
    if (strcmp(text, "cpu") == 0) return launch_set_bind(o, name, "core");
    if (strcmp(text, "numa_node") == 0) return launch_set_bind(o, name, "numa");
    if (strcmp(text, "none") == 0) return launch_set_bind(o, name, "none");
    if (strcmp(text, "depth") == 0) return bind_depth(o);
    /* CPUs are dealt one to each rank, or a list to each with colons between them. */
    if (*text >= '0' && *text <= '9') return strchr(text, ':') ? set_cpus(o, name, text) : set_singles(o, name, text);
    return launch_usage_error("%s is cpu, depth, numa_node, none or CPUs rank by rank, such as 0,1 or 0,1:2,3, not '%s'", name,
                              text);
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
    if (rc < 0 && strcmp(inside, "cyclic") == 0) rc = launch_set_map(o, name, "socket");
    o->place.by_node = cyclic;
    return rc;
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
            o->place.depth = (int)v;
            o->said.depth = name;
            if (v > 1) o->only_here = name;
            known = true;
        } else if (is_word(p, n, "oversubscribe")) {
            o->oversubscribe = known = true;
        } else if (is_word(p, n, "nooversubscribe")) {
            char *said = gw_xasprintf("%s ...:%.*s", name, (int)n, p);
            launch_no_oversubscribe(o, said, known = true);
            free(said);
        } else if (is_word(p, n, "nolocal")) {
            return launch_usage_error("%s ...:%.*s: name the other hosts: -host n1,n2", name, (int)n, p);
        }
        for (size_t i = 0; i < GW_ARRAY_LEN(passed); i++) known |= is_word(p, n, passed[i]);
        if (!known)
            return launch_usage_error("%s: behind the colon may stand PE=N, OVERSUBSCRIBE or NOOVERSUBSCRIBE, not '%.*s'", name,
                                      (int)n, p);
        p += n + (p[n] != 0);
    }
    return -1;
}

/* "pe-list=0,2-3", with ":ORDERED" behind it one CPU for each rank. */
static int map_list(struct launch_options *o, const char *name, const char *text)
{
    static const char ordered[] = ":ordered";
    const char *list = strchr(text, '=') + 1, *more = list + strcspn(list, ":");
    char *cpus = gw_xasprintf("%.*s", (int)(more - list), list), *said = gw_xasprintf("%s pe-list=", name);
    bool is_ordered = strncasecmp(more, ordered, sizeof ordered - 1) == 0 && strchr(":", more[sizeof ordered - 1]);
    int rc = is_ordered ? set_singles(o, said, cpus) : launch_set_cpu_set(o, said, cpus);
    o->only_here = name;
    if (rc < 0 && *more) rc = map_more(o, name, more + 1);
    free(said);
    free(cpus);
    return rc;
}

/* "rankfile:file=NAME", "seq" and "seq:file=NAME", a host file of which ranks take the hosts in their order. */
static int map_file(struct launch_options *o, const char *name, const char *text, bool is_seq)
{
    const char *more = strchr(text, ':');
    const char *file = more && strncasecmp(more, ":file=", 6) == 0 ? launch_options_hold(o, more + 6) : NULL;
    if (!file && more) return map_more(o, name, more + 1);
    if (!file && !is_seq) return launch_usage_error("%s rankfile wants a file: rankfile:FILE=NAME, or --rankfile NAME", name);
    o->only_here = is_seq ? "--map-by seq" : name;
    if (file && is_seq) return launch_set_hostfile(o, name, file);
    char *said = gw_xasprintf("%s rankfile", name);
    if (file) launch_set_rankfile(o, said, file);
    free(said);
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
    if (n == 0 && text[n] == ':') return map_more(o, name, text + 1); /* the default, with words of PRRTE's behind it */
    if (strncasecmp(text, "pe-list=", 8) == 0) return map_list(o, name, text);
    if (is_word(text, n, "rankfile") || is_word(text, n, "seq")) return map_file(o, name, text, is_word(text, n, "seq"));
    const struct unit_word *u = unit_find(text, n);
    if (is_word(text, n, "oversubscribe") || is_word(text, n, "nooversubscribe") || strncasecmp(text, "pe=", 3) == 0)
        return launch_usage_error("%s: '%s' stands behind a colon; did you mean %s :%s?", name, text, name, text);
    if (!u || u->bind == BIND_NONE) return no_unit(name, false, text, n);
    o->place.map = u->unit;
    o->place.by_node = u->unit == UNIT_MACHINE;
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
    o->place.by_node = u->unit == UNIT_MACHINE;
    if (!o->place.by_node) o->place.rank_by = u->unit; /* on one host going round the hosts is one rank after the other */
    return -1;
}

int launch_set_mem_bind(struct launch_options *o, const char *text)
{
    for (;;) { /* "quiet,local" */
        size_t n = strcspn(text, ",");
        if (is_word(text, n, "local"))
            launch_set_membind(o, "bind");
        else if (is_word(text, n, "none") || is_word(text, n, "no"))
            launch_set_membind(o, "none");
        else if (is_word(text, n, "v") || is_word(text, n, "verbose"))
            o->verbose = true;
        else if (!is_word(text, n, "q") && !is_word(text, n, "quiet") && !is_word(text, n, "sort") && !is_word(text, n, "nosort") &&
                 !is_word(text, n, "p") && !is_word(text, n, "prefer"))
            return launch_usage_error("--mem-bind is local or none here (-membind has more), not '%.*s'", (int)n, text);
        if (!text[n]) return -1;
        text += n + 1;
    }
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
