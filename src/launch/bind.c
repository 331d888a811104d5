/* bind.c -- which cores each rank may run on, from our own cpuset and what the kernel tells under /sys.
 *
 * The default gives every rank an equal share of the cores, never one core of many to a threaded program; where ranks outnumber
 * cores (or a CPU quota), nobody is bound.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/launch.h"

enum { MAX_CPUS = 8192 };
#define SET_BYTES CPU_ALLOC_SIZE(MAX_CPUS)

struct core { int first_cpu, numa; cpu_set_t *cpus; };
struct cores { struct core *at; int n, n_numa; };

static bool read_list(cpu_set_t *set, const char *fmt, int number) __attribute__((format(printf, 2, 0)));
static bool read_list(cpu_set_t *set, const char *fmt, int number)
{
    char path[128], text[4096];
    snprintf(path, sizeof path, fmt, number);
    FILE *f = fopen(path, "re");
    if (!f) return false;
    bool ok = fgets(text, sizeof text, f) != NULL;
    fclose(f);
    if (ok) gw_cpus_read(text, set, SET_BYTES);
    return ok;
}

/* The NUMA node of every cpu (0 where the kernel does not say), read once: a big machine has many of both.  Returns how many
 * numbers nodes have; not all need to be there. */
static int numa_nodes(short *of_out)
{
    cpu_set_t *cpus = CPU_ALLOC(MAX_CPUS), *online = CPU_ALLOC(MAX_CPUS);
    int numbers = 1;
    if (!cpus || !online) gw_die("mpiexec: no memory");
    memset(of_out, 0, sizeof *of_out * MAX_CPUS);
    bool known = read_list(online, "/sys/devices/system/node/online", 0);
    for (int node = 0; known && node < MAX_CPUS; node++) {
        if (!CPU_ISSET_S((size_t)node, SET_BYTES, online)) continue;
        if (!read_list(cpus, "/sys/devices/system/node/node%d/cpulist", node)) continue;
        for (int cpu = 0; cpu < MAX_CPUS; cpu++)
            if (CPU_ISSET_S((size_t)cpu, SET_BYTES, cpus)) of_out[cpu] = (short)node;
        numbers = node + 1;
    }
    CPU_FREE(online);
    CPU_FREE(cpus);
    return numbers;
}

/* The cores of our cpuset, with those of their hardware threads that we may use. */
static struct cores find_cores(void)
{
    struct cores c = {0};
    cpu_set_t *allowed = CPU_ALLOC(MAX_CPUS), *done = CPU_ALLOC(MAX_CPUS);
    short numa[MAX_CPUS];
    if (!allowed || !done) gw_die("mpiexec: no memory");
    c.n_numa = numa_nodes(numa);
    CPU_ZERO_S(SET_BYTES, done);
    if (sched_getaffinity(0, SET_BYTES, allowed) < 0) CPU_ZERO_S(SET_BYTES, allowed);
    for (int cpu = 0; cpu < MAX_CPUS; cpu++) {
        if (!CPU_ISSET_S((size_t)cpu, SET_BYTES, allowed) || CPU_ISSET_S((size_t)cpu, SET_BYTES, done)) continue;
        cpu_set_t *siblings = CPU_ALLOC(MAX_CPUS);
        c.at = realloc(c.at, sizeof *c.at * (size_t)(c.n + 1));
        if (!siblings || !c.at) gw_die("mpiexec: no memory");
        if (!read_list(siblings, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu) ||
            !CPU_ISSET_S((size_t)cpu, SET_BYTES, siblings)) {
            CPU_ZERO_S(SET_BYTES, siblings);
            CPU_SET_S((size_t)cpu, SET_BYTES, siblings);
        }
        CPU_OR_S(SET_BYTES, done, done, siblings);
        CPU_AND_S(SET_BYTES, siblings, siblings, allowed);
        c.at[c.n] = (struct core){cpu, numa[cpu], siblings};
        c.n++;
    }
    CPU_FREE(allowed);
    CPU_FREE(done);
    return c;
}

int bind_cores(void)
{
    struct cores c = find_cores();
    int n = c.n, quota = gw_cores_allowed();
    for (int i = 0; i < c.n; i++) CPU_FREE(c.at[i].cpus);
    free(c.at);
    return n < 1 ? 1 : quota < n ? quota : n;
}

/* Round robin over the NUMA nodes: the first core of each, then the second of each, ... */
static void spread(struct cores *c)
{
    struct core *out = malloc(sizeof *out * (size_t)c->n);
    if (!out) gw_die("mpiexec: no memory");
    int n = 0;
    for (int round = 0; n < c->n; round++)
        for (int node = 0; node < c->n_numa; node++)
            for (int i = 0, k = 0; i < c->n; i++)
                if (c->at[i].numa == node && k++ == round) out[n++] = c->at[i];
    free(c->at);
    c->at = out;
}

/* Cores first, first + step, ... (`n` at most) of the NUMA node of the first; of any node where step is 1. */
static cpu_set_t *join(const struct cores *c, int first, int step, int n)
{
    cpu_set_t *set = CPU_ALLOC(MAX_CPUS);
    if (!set) gw_die("mpiexec: no memory");
    CPU_ZERO_S(SET_BYTES, set);
    for (int i = first; i < c->n && n > 0; i += step, n--)
        if (step == 1 || c->at[i].numa == c->at[first].numa) CPU_OR_S(SET_BYTES, set, set, c->at[i].cpus);
    return set;
}

static cpu_set_t *whole_node(const struct cores *c, int numa)
{
    cpu_set_t *set = CPU_ALLOC(MAX_CPUS);
    if (!set) gw_die("mpiexec: no memory");
    CPU_ZERO_S(SET_BYTES, set);
    for (int i = 0; i < c->n; i++)
        if (c->at[i].numa == numa) CPU_OR_S(SET_BYTES, set, set, c->at[i].cpus);
    return set;
}

static cpu_set_t *set_of(const struct launch_options *o, const struct cores *c, int rank)
{
    bool spread = o->map == MAP_NUMA;
    int share = c->n / o->n_ranks;
    if (o->bind == BIND_NUMA) return whole_node(c, c->at[spread ? rank : rank * share].numa);
    if (o->bind == BIND_CORE) return join(c, rank, 1, 1);
    return spread ? join(c, rank, o->n_ranks, share) : join(c, rank * share, 1, share);
}

/* The last n cores are taken out: for who helps the ranks. */
static void reserve(struct cores *c, int n, struct bind_map *m)
{
    if (n >= c->n) gw_die("mpiexec: -r %d reserves all of the %d cores here: none is left for the ranks", n, c->n);
    size_t cap = (size_t)n * 64 + 1, used = 0;
    m->reserved = calloc(1, cap);
    if (!m->reserved) gw_die("mpiexec: no memory");
    for (int i = 0; i < n; i++) {
        struct core *core = &c->at[--c->n];
        for (int cpu = 0; cpu < MAX_CPUS && used < cap; cpu++)
            if (CPU_ISSET_S((size_t)cpu, SET_BYTES, core->cpus))
                used += (size_t)snprintf(m->reserved + used, cap - used, "%s%d", used ? "," : "", cpu);
        CPU_FREE(core->cpus);
    }
}

/* Who watches is told once; logs stay as they are, so that a job prints the same on any machine. */
static bool note_wanted(const struct launch_options *o) { return !o->oversubscribe && !o->verbose && isatty(STDERR_FILENO); }

void bind_make(const struct launch_options *o, struct bind_map *m_out)
{
    int ranks = o->n_ranks;
    *m_out = (struct bind_map){.bytes = SET_BYTES};
    if (o->bind == BIND_NONE && !o->reserve) {
        m_out->n_cores = gw_cores_allowed();
        return;
    }
    struct cores c = find_cores();
    if (o->reserve) reserve(&c, o->reserve, m_out);
    int quota = gw_cores_allowed();
    m_out->n_cores = quota < c.n ? quota : c.n;
    bool fits = ranks <= m_out->n_cores && o->bind != BIND_NONE;
    if (fits || o->reserve) {
        m_out->set = calloc((size_t)ranks, sizeof *m_out->set);
        if (!m_out->set) gw_die("mpiexec: no memory");
        if (o->map == MAP_NUMA) spread(&c);
        for (int r = 0; r < ranks; r++) m_out->set[r] = fits ? set_of(o, &c, r) : join(&c, 0, 1, c.n);
    } else if (o->bind != BIND_SHARE || note_wanted(o)) {
        say("%d ranks share %d cores: nobody is bound", ranks, m_out->n_cores);
    }
    for (int i = 0; i < c.n; i++) CPU_FREE(c.at[i].cpus);
    free(c.at);
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
        for (int cpu = 0; m->set && cpu < MAX_CPUS; cpu++)
            if (CPU_ISSET_S((size_t)cpu, m->bytes, (cpu_set_t *)m->set[r])) fprintf(stderr, " %d", cpu);
        fputs("\n", stderr);
    }
    if (m->reserved) fprintf(stderr, "mpiexec: no rank runs on %s\n", m->reserved);
}
