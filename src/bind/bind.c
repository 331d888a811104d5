/* bind.c -- binds ranks to cores, and their memory to NUMA nodes.
 *
 * By default every rank gets an equal share of the cores, so that the threads of a program have several; if there are more ranks than cores
 * (or than a CPU quota allows), no rank is bound.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bind/bind.h"
#include "base/base.h"
#include "base/file.h"
#include "base/os.h"
#include "base/plain.h"
#include "bind/place.h"
#include "job/hosts.h"
#include "job/job.h"
#include "job/say.h"

int bind_cores(const struct launch_options *o)
{
    struct cores c = bind_cores_find(o ? o->place.cpu_set : NULL, 0);
    int n = c.n, quota = gw_cores_allowed();
    bind_cores_free(&c);
    return n < 1 ? 1 : quota < n ? quota : n;
}

int bind_units(const struct launch_options *o, enum unit unit)
{
    struct cores c = bind_cores_find(o->place.cpu_set, PLACE_UNIT(unit));
    int n = bind_cores_units(&c, unit);
    bind_cores_free(&c);
    return n;
}

static cpu_set_t *set_new(void)
{
    cpu_set_t *set = CPU_ALLOC(PLACE_CPUS);
    if (!set) gw_die("mpiexec: no memory");
    CPU_ZERO_S(PLACE_SET_BYTES, set);
    return set;
}

static cpu_set_t *set_of(const struct cores *c, const struct core_list *l)
{
    cpu_set_t *set = set_new();
    for (int i = 0; i < l->n; i++) CPU_OR_S(PLACE_SET_BYTES, set, set, c->at[l->at[i]].cpus);
    return set;
}

static cpu_set_t *set_of_all(const struct cores *c)
{
    cpu_set_t *set = set_new();
    for (int i = 0; i < c->n; i++) CPU_OR_S(PLACE_SET_BYTES, set, set, c->at[i].cpus);
    return set;
}

static int set_min_missing(const cpu_set_t *wanted, const cpu_set_t *have)
{
    for (int cpu = 0; cpu < PLACE_CPUS; cpu++)
        if (CPU_ISSET_S((size_t)cpu, PLACE_SET_BYTES, wanted) && !CPU_ISSET_S((size_t)cpu, PLACE_SET_BYTES, have)) return cpu;
    return -1;
}

/* ---- user:LIST ------------------------------------------------------------------------------------------------------------ */
/* The CPUs of part number `which` of the list, whose parts are separated by commas and used again from the beginning. */
static cpu_set_t *user_set(const char *list, int which)
{
    assert(which >= 0);
    int parts = 1;
    for (const char *p = list; *p; p++) parts += *p == ',';
    for (which %= parts; which > 0; which--) list += strcspn(list, ",") + 1;
    char *text = gw_xasprintf("%.*s", (int)strcspn(list, ","), list);
    for (char *p = text; *p; p++)
        if (*p == '+') *p = ',';
    cpu_set_t *set = set_new();
    gw_cpus_read(text, set, PLACE_SET_BYTES);
    free(text);
    return set;
}

static int user_check(const struct launch_options *o)
{
    struct cores c = bind_cores_find(o->place.cpu_set, 0);
    cpu_set_t *all = set_of_all(&c);
    int parts = 1, cpu = -1;
    for (const char *p = o->place.user; *p; p++) parts += *p == ',';
    for (int i = 0; i < parts && cpu < 0; i++) {
        cpu_set_t *set = user_set(o->place.user, i);
        cpu = set_min_missing(set, all);
        CPU_FREE(set);
    }
    CPU_FREE(all);
    bind_cores_free(&c);
    if (cpu < 0) return -1;
    say_line("%s: CPU %d is not among those that may be used here", o->said.user ? o->said.user : o->place.user, cpu);
    return EXIT_USAGE;
}

/* ---- rank files ----------------------------------------------------------------------------------------------------------- */
struct rank_line {
    int rank;
    char host[256], slot[512];
};

/* Reads "rank 3=host slot=0-1"; false: the line is invalid. */
static bool rank_line(char *line, struct rank_line *out)
{
    int end = 0;
    return sscanf(line, " rank %d = %255[^ \t=] slot = %511[^ \t] %n", &out->rank, out->host, out->slot, &end) == 3 && end > 0 &&
        !line[end] && out->rank >= 0 && out->rank < MAX_RANKS;
}

/* Calls `see` for each line.  Returns 0, or an exit status after the reason was printed. */
static int rankfile_read(const struct launch_options *o, bool (*see)(void *to, const struct rank_line *l), void *to)
{
    enum { MOST = 16 << 20 };
    const char *path = o->place.rankfile, *as = o->said.rankfile;
    char *text = NULL;
    const char *why = gw_file_read(path, MOST, true, &text);
    struct gw_lines lines = {text, 0};
    if (why) say_line("%s %s: %s", as, path, why);
    for (char *line; !why && (line = gw_line_next(&lines));) {
        struct rank_line l;
        if (!rank_line(line, &l)) {
            say_line("%s %s, line %d: %s", as, path, lines.number, why = "a line is rank R=HOST slot=CORES");
        } else if (l.host[0] != '+' && !hosts_is_local(l.host)) {
            say_line("%s %s, line %d: %s is another machine; only places on this one can be named", as, path, lines.number, l.host);
            why = "another machine";
        } else if (!see(to, &l)) {
            say_line("%s %s, line %d: rank %d comes twice, or slot=%s names cores that are not here", as, path, lines.number,
                     l.rank, l.slot);
            why = "not here";
        }
    }
    free(text);
    return why ? EXIT_USAGE : 0;
}

/* The CPUs of "0-1,4" (cores by number), "1:0-1" (of a socket) or "1:*" (a whole socket); NULL: some do not exist. */
static cpu_set_t *slot_set(const struct cores *c, const char *slot)
{
    size_t head = strcspn(slot, ":");
    int socket = slot[head] ? atoi(slot) : -1, found = 0;
    const char *list = slot[head] ? slot + head + 1 : slot;
    if ((slot[head] && (head == 0 || strspn(slot, "0123456789") != head)) ||
        (!isdigit((unsigned char)*list) && strcmp(list, "*") != 0))
        return NULL;
    cpu_set_t *wanted = set_new(), *out = set_new();
    if (*list != '*') gw_cpus_read(list, wanted, PLACE_SET_BYTES);
    for (int i = 0, number = 0; i < c->n; i++) {
        if (socket >= 0 && c->at[i].unit[UNIT_PACKAGE] != socket) continue;
        if (*list == '*' || (number < PLACE_CPUS && CPU_ISSET_S((size_t)number, PLACE_SET_BYTES, wanted))) {
            CPU_OR_S(PLACE_SET_BYTES, out, out, c->at[i].cpus);
            found++;
        }
        number++;
    }
    bool all = found > 0 && (*list == '*' || found == CPU_COUNT_S(PLACE_SET_BYTES, wanted));
    CPU_FREE(wanted);
    if (all) return out;
    CPU_FREE(out);
    return NULL;
}

struct rank_sets {
    const struct cores *c;
    cpu_set_t **at;
    int n;
};

static bool take_line(void *to, const struct rank_line *l)
{
    struct rank_sets *s = to;
    while (s->n <= l->rank) {
        s->at = gw_xrealloc(s->at, sizeof *s->at * (size_t)(s->n + 1));
        s->at[s->n++] = NULL;
    }
    if (s->at[l->rank]) return false;
    s->at[l->rank] = slot_set(s->c, l->slot);
    return s->at[l->rank] != NULL;
}

/* Reads the sets of all ranks from the file.  Returns 0 or an exit status. */
static int rankfile_sets(const struct launch_options *o, const struct cores *c, struct rank_sets *out)
{
    *out = (struct rank_sets){.c = c};
    int rc = rankfile_read(o, take_line, out), missing = 0;
    while (missing < out->n && out->at[missing]) missing++;
    if (!rc && (missing < out->n || !out->n)) {
        say_line("%s %s: there is no line for rank %d", o->said.rankfile, o->place.rankfile, missing);
        rc = EXIT_USAGE;
    }
    return rc;
}

static void rank_sets_free(struct rank_sets *s)
{
    for (int i = 0; i < s->n; i++)
        if (s->at[i]) CPU_FREE(s->at[i]);
    free(s->at);
}

/* "0,2-3" of a set; the caller frees it. */
static char *set_text(const cpu_set_t *set)
{
    char *text = gw_xasprintf("%s", "");
    for (int cpu = 0; cpu < PLACE_CPUS; cpu++) {
        if (!CPU_ISSET_S((size_t)cpu, PLACE_SET_BYTES, set)) continue;
        int first = cpu;
        while (cpu + 1 < PLACE_CPUS && CPU_ISSET_S((size_t)cpu + 1, PLACE_SET_BYTES, set)) cpu++;
        char *longer = gw_xasprintf("%s%s%d", text, *text ? "," : "", first), *whole = gw_xasprintf("%s-%d", longer, cpu);
        free(text);
        text = cpu > first ? whole : longer;
        free(cpu > first ? longer : whole);
    }
    return text;
}

/* The NUMA nodes of the cores. */
static cpu_set_t *numa_set(const struct cores *c)
{
    cpu_set_t *set = set_new();
    for (int i = 0; i < c->n; i++) CPU_SET_S((size_t)c->at[i].numa, PLACE_SET_BYTES, set);
    return set;
}

int bind_numa(struct launch_options *o)
{
    if (!o->place.numa && !o->place.numa_most) return -1;
    struct cores all = bind_cores_find(NULL, PLACE_UNIT(UNIT_NUMA)), c = bind_cores_find(o->place.cpu_set, PLACE_UNIT(UNIT_NUMA));
    cpu_set_t *there = numa_set(&all), *mine = numa_set(&c), *wanted = numa_set(&all), *used = set_new();
    char *nodes = set_text(there);
    int rc = EXIT_USAGE;
    if (o->place.numa) CPU_ZERO_S(PLACE_SET_BYTES, wanted);
    if (o->place.numa) gw_cpus_read(o->place.numa, wanted, PLACE_SET_BYTES);
    int missing = set_min_missing(wanted, there), most = o->place.numa_most;
    CPU_AND_S(PLACE_SET_BYTES, wanted, wanted, mine); /* --cpu-set limits them, too */
    int have = CPU_COUNT_S(PLACE_SET_BYTES, wanted);
    for (int node = 0, n = 0; most && node < PLACE_CPUS; node++)
        if (CPU_ISSET_S((size_t)node, PLACE_SET_BYTES, wanted) && ++n > most) CPU_CLR_S((size_t)node, PLACE_SET_BYTES, wanted);
    for (int i = 0; i < c.n; i++)
        if (CPU_ISSET_S((size_t)c.at[i].numa, PLACE_SET_BYTES, wanted)) CPU_OR_S(PLACE_SET_BYTES, used, used, c.at[i].cpus);
    if (missing >= 0) {
        say_line("%s: NUMA node %d has no core that may be used here; there are: %s", o->said.numa, missing, nodes);
    } else if (most > have || !have) {
        say_line("%s: the cores that may be used here are of %d NUMA node%s (%s)", o->said.numa, have, have == 1 ? "" : "s", nodes);
    } else {
        rc = -1;
        if (CPU_COUNT_S(PLACE_SET_BYTES, wanted) < CPU_COUNT_S(PLACE_SET_BYTES, mine)) { /* else it is no limit */
            char *cpus = set_text(used);
            words_add(&o->held, cpus);
            o->place.cpu_set = o->held.at[o->held.n - 1];
            free(cpus);
        }
    }
    free(nodes);
    CPU_FREE(there);
    CPU_FREE(mine);
    CPU_FREE(wanted);
    CPU_FREE(used);
    bind_cores_free(&all);
    bind_cores_free(&c);
    return rc;
}

int bind_check(struct launch_options *o)
{
    bool is_user = o->place.bind == BIND_USER;
    if (!o->place.cpu_set && !o->place.rankfile && !is_user) return -1; /* nothing is named */
    struct cores c = bind_cores_find(o->place.cpu_set, PLACE_UNIT(UNIT_PACKAGE));
    struct rank_sets s = {0};
    int rc = -1;
    if (!c.n) {
        say_line("%s: none of these CPUs may be used here", o->said.cpu_set ? o->said.cpu_set : "--cpu-set");
        rc = EXIT_USAGE;
    } else if (o->place.rankfile) {
        rc = rankfile_sets(o, &c, &s);
        o->place.rankfile_ranks = s.n;
        if (!rc) rc = -1;
    } else if (is_user) {
        rc = user_check(o);
    }
    rank_sets_free(&s);
    bind_cores_free(&c);
    return rc;
}

/* ---- the map -------------------------------------------------------------------------------------------------------------- */
/* Is the note that ranks are not bound wanted?  By default only on a terminal, so that a job prints the same on every machine. */
static bool note_wanted(const struct launch_options *o)
{
    if (o->quiet) return false;
    return o->place.bind != BIND_SHARE || o->place.ppr || (!o->oversubscribe && !o->verbose && isatty(STDERR_FILENO));
}

static void note(const struct launch_options *o, const struct bind_map *m)
{
    int each = o->place.bind_count;
    if (!note_wanted(o)) return;
    if (each > 1)
        say_line("%d ranks with %d cores each do not fit on %d cores: nobody is bound", o->n_ranks, each, m->n_cores);
    else
        say_line("%d ranks share %d cores: nobody is bound", o->n_ranks, m->n_cores);
}

/* Sets that the user has given rank by rank; false: none. */
static bool named_sets(const struct launch_options *o, const struct cores *c, struct bind_map *m)
{
    if (o->place.rankfile) {
        struct rank_sets s;
        if (rankfile_sets(o, c, &s) || s.n < o->n_ranks)
            gw_die("mpiexec: %s %s has %d ranks, and %d are to start", o->said.rankfile, o->place.rankfile, s.n, o->n_ranks);
        for (int r = 0; r < o->n_ranks; r++) {
            m->set[r] = s.at[r];
            s.at[r] = NULL;
        }
        rank_sets_free(&s);
        return true;
    }
    for (int r = 0; o->place.bind == BIND_USER && r < o->n_ranks; r++) m->set[r] = user_set(o->place.user, r);
    return o->place.bind == BIND_USER;
}

static void places(const struct launch_options *o, const struct cores *c, struct bind_map *m)
{
    struct core_list *lists = gw_xmalloc(sizeof *lists * (size_t)o->n_ranks);
    int each = (o->place.bind == BIND_CORE || o->place.bind == BIND_HWTHREAD) && o->place.bind_count ? o->place.bind_count : 1;
    bool free_to_run = o->place.reserve || o->place.cpu_set;
    bool fits = o->place.bind != BIND_NONE && (int64_t)o->n_ranks * each <= m->n_cores &&
        bind_place_make(c, &o->place, o->n_ranks, lists) == PLACE_OK;
    if (!fits && o->place.bind != BIND_NONE) note(o, m);
    for (int r = 0; r < o->n_ranks && (fits || free_to_run); r++) m->set[r] = fits ? set_of(c, &lists[r]) : set_of_all(c);
    for (int r = 0; r < o->n_ranks && fits; r++) free(lists[r].at);
    free(lists);
}

void bind_make(const struct launch_options *o, struct bind_map *m_out)
{
    *m_out = (struct bind_map){.bytes = PLACE_SET_BYTES, .memory = o->place.membind};
    if (o->place.bind == BIND_NONE && !o->place.reserve && !o->place.cpu_set && !o->place.rankfile) {
        m_out->n_cores = gw_cores_allowed();
        return;
    }
    struct cores c =
        bind_cores_find(o->place.cpu_set, bind_place_units(&o->place) | (o->place.rankfile ? PLACE_UNIT(UNIT_PACKAGE) : 0));
    if (o->place.reserve >= c.n)
        gw_die("mpiexec: %s %d reserves all of the %d cores here: none is left for the ranks", o->said.reserve, o->place.reserve,
               c.n);
    if (o->place.reserve) m_out->reserved = bind_cores_reserve(&c, o->place.reserve);
    if (o->place.bind == BIND_HWTHREAD) bind_cores_split(&c);
    int quota = gw_cores_allowed();
    m_out->n_cores = quota < c.n && o->place.bind != BIND_HWTHREAD ? quota : c.n;
    m_out->set = gw_xcalloc((size_t)o->n_ranks, sizeof *m_out->set);
    if (!named_sets(o, &c, m_out)) places(o, &c, m_out);
    if (!m_out->set[0]) { /* nobody is bound */
        free(m_out->set);
        m_out->set = NULL;
    }
    bind_cores_free(&c);
}

void bind_free(struct bind_map *m, int n_ranks)
{
    for (int r = 0; m->set && r < n_ranks; r++) CPU_FREE(m->set[r]);
    free(m->set);
    free(m->reserved);
}

void bind_print(const struct bind_map *m, int n_ranks)
{
    for (int r = 0; r < n_ranks; r++) {
        fprintf(stderr, "mpiexec: rank %d runs on", r);
        if (!m->set) fprintf(stderr, " any of %d cores", m->n_cores);
        for (int cpu = 0; m->set && cpu < PLACE_CPUS; cpu++)
            if (CPU_ISSET_S((size_t)cpu, m->bytes, (cpu_set_t *)m->set[r])) fprintf(stderr, " %d", cpu);
        fputs("\n", stderr);
    }
    if (m->reserved) gw_print(stderr, "mpiexec: no rank runs on %s\n", m->reserved);
}

void bind_show(const struct launch_options *o, const struct bind_map *m, const char *host)
{
    gw_print(stdout, "%d rank%s on %s:\n", o->n_ranks, o->n_ranks == 1 ? "" : "s", host);
    for (int r = 0, app = 0, end = o->apps[0].n; r < o->n_ranks; r++) {
        while (r >= end) end += o->apps[++app].n;
        gw_print(stdout, "  rank %d of program %d (%s):", r, app, o->apps[app].argv[0]);
        if (!m->set) printf(" any of %d cores", m->n_cores);
        for (int cpu = 0, n = 0; m->set && cpu < PLACE_CPUS; cpu++)
            if (CPU_ISSET_S((size_t)cpu, m->bytes, (cpu_set_t *)m->set[r])) printf("%s%d", n++ ? "," : " CPUs ", cpu);
        putchar('\n');
    }
    fflush(stdout);
}

/* ---- memory --------------------------------------------------------------------------------------------------------------- */
int bind_memory(const struct bind_map *m, int rank)
{
    assert(rank >= 0);
    enum { BIND = 2, INTERLEAVE = 3, NODES = 1024, BITS = 8 * sizeof(unsigned long) };
    unsigned long mask[NODES / BITS + 1] = {0};
    if (!m->memory) return 0;
    struct cores c = bind_cores_find(NULL, PLACE_UNIT(UNIT_NUMA));
    bool whole = strstr(m->memory, ":machine") || !m->set;
    for (int i = 0; i < c.n; i++)
        for (int cpu = 0; cpu < PLACE_CPUS; cpu++) {
            if (!CPU_ISSET_S((size_t)cpu, PLACE_SET_BYTES, c.at[i].cpus)) continue;
            if (c.at[i].numa < NODES && (whole || CPU_ISSET_S((size_t)cpu, m->bytes, (cpu_set_t *)m->set[rank])))
                mask[c.at[i].numa / (int)BITS] |= 1ul << (c.at[i].numa % (int)BITS);
        }
    bind_cores_free(&c);
    return syscall(SYS_set_mempolicy, m->memory[0] == 'b' ? BIND : INTERLEAVE, mask, (unsigned long)NODES + 1) < 0 ? errno : 0;
}
