/* cores.c -- the cores that mpiexec may use, from its cpuset and /sys.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bind/place.h"
#include "base/base.h"
#include "base/os.h"
#include "job/job.h"

static cpu_set_t *set_new(void)
{
    cpu_set_t *set = CPU_ALLOC(PLACE_CPUS);
    if (!set) gw_die("mpiexec: no memory");
    CPU_ZERO_S(PLACE_SET_BYTES, set);
    return set;
}

/* Sets the NUMA node of every CPU (0 if the kernel does not report it); reads each node once, because a big machine has many CPUs. */
static void numa_nodes(short *of_out)
{
    char text[4096];
    cpu_set_t *cpus = set_new(), *online = set_new();
    if (gw_line_read(text, sizeof text, "/sys/devices/system/node/online")) gw_cpus_read(text, online, PLACE_SET_BYTES);
    for (int node = 0; node < PLACE_CPUS; node++) {
        if (!CPU_ISSET_S((size_t)node, PLACE_SET_BYTES, online)) continue;
        if (!gw_line_read(text, sizeof text, "/sys/devices/system/node/node%d/cpulist", node)) continue;
        gw_cpus_read(text, cpus, PLACE_SET_BYTES);
        for (int cpu = 0; cpu < PLACE_CPUS; cpu++)
            if (CPU_ISSET_S((size_t)cpu, PLACE_SET_BYTES, cpus)) of_out[cpu] = (short)node;
    }
    CPU_FREE(online);
    CPU_FREE(cpus);
}

/* The first CPU that shares the cache of that level; the CPU itself if the kernel does not report caches. */
static int cache_of(int cpu, int level)
{
    assert(cpu >= 0 && cpu < PLACE_CPUS && level > 0);
    char text[4096];
    for (int i = 0; i < 16; i++) {
        if (!gw_line_read(text, sizeof text, "/sys/devices/system/cpu/cpu%d/cache/index%d/level", cpu, i)) break;
        if (atoi(text) != level) continue;
        if (!gw_line_read(text, sizeof text, "/sys/devices/system/cpu/cpu%d/cache/index%d/type", cpu, i) || text[0] == 'I')
            continue;
        if (gw_line_read(text, sizeof text, "/sys/devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list", cpu, i))
            return atoi(text);
    }
    return cpu;
}

static int package_of(int cpu)
{
    char text[64];
    return gw_line_read(text, sizeof text, "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu) ? atoi(text) : 0;
}

/* Numbers the units of each kind from 0 in the order of the cores: the numbers of the kernel have gaps, and caches have numbers of CPUs. */
static void number_units(struct cores *c)
{
    int *seen = gw_xcalloc((size_t)c->n + 1, sizeof *seen);
    for (int u = 0; u < PLACE_UNITS; u++) {
        int n = 0;
        for (int i = 0; i < c->n; i++) {
            int k = 0;
            while (k < n && seen[k] != c->at[i].unit[u]) k++;
            if (k == n) seen[n++] = c->at[i].unit[u];
            c->at[i].unit[u] = k;
        }
    }
    free(seen);
}

/* What was not asked for is unit 0. */
static struct core core_of(int cpu, int number, const short *numa, unsigned units)
{
    struct core c = {.unit = {[UNIT_CORE] = number}};
    if (units & PLACE_UNIT(UNIT_L2)) c.unit[UNIT_L2] = cache_of(cpu, 2);
    if (units & PLACE_UNIT(UNIT_L3)) c.unit[UNIT_L3] = cache_of(cpu, 3);
    if (units & PLACE_UNIT(UNIT_PACKAGE)) c.unit[UNIT_PACKAGE] = package_of(cpu);
    c.numa = c.unit[UNIT_NUMA] = numa[cpu];
    return c;
}

/* Where the kernel does not say which may be used: those that there are. */
static void all_cores(cpu_set_t *set)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    CPU_ZERO_S(PLACE_SET_BYTES, set);
    for (long cpu = 0; cpu < PLACE_CPUS && cpu < (n > 0 ? n : 1); cpu++) CPU_SET_S((size_t)cpu, PLACE_SET_BYTES, set);
}

struct cores bind_cores_find(const char *list, unsigned units)
{
    struct cores c = {0};
    cpu_set_t *allowed = set_new(), *done = set_new(), *wanted = set_new();
    short *numa = gw_xcalloc(PLACE_CPUS, sizeof *numa);
    char text[4096];
    if (units & PLACE_UNIT(UNIT_NUMA)) numa_nodes(numa);
    if (sched_getaffinity(0, PLACE_SET_BYTES, allowed) < 0) all_cores(allowed);
    if (list) gw_cpus_read(list, wanted, PLACE_SET_BYTES);
    if (list) CPU_AND_S(PLACE_SET_BYTES, allowed, allowed, wanted);
    for (int cpu = 0; cpu < PLACE_CPUS; cpu++) {
        if (!CPU_ISSET_S((size_t)cpu, PLACE_SET_BYTES, allowed) || CPU_ISSET_S((size_t)cpu, PLACE_SET_BYTES, done)) continue;
        cpu_set_t *siblings = set_new();
        c.at = gw_xrealloc(c.at, sizeof *c.at * (size_t)(c.n + 1));
        if (gw_line_read(text, sizeof text, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu))
            gw_cpus_read(text, siblings, PLACE_SET_BYTES);
        if (!CPU_ISSET_S((size_t)cpu, PLACE_SET_BYTES, siblings)) {
            CPU_ZERO_S(PLACE_SET_BYTES, siblings);
            CPU_SET_S((size_t)cpu, PLACE_SET_BYTES, siblings);
        }
        CPU_OR_S(PLACE_SET_BYTES, done, done, siblings);
        CPU_AND_S(PLACE_SET_BYTES, siblings, siblings, allowed);
        c.at[c.n] = core_of(cpu, c.n, numa, units);
        c.at[c.n].cpus = siblings;
        c.n++;
    }
    number_units(&c);
    free(numa);
    CPU_FREE(wanted);
    CPU_FREE(allowed);
    CPU_FREE(done);
    return c;
}

void bind_cores_free(struct cores *c)
{
    for (int i = 0; i < c->n; i++) CPU_FREE(c->at[i].cpus);
    free(c->at);
    *c = (struct cores){0};
}

void bind_cores_split(struct cores *c)
{
    struct cores out = {0};
    for (int i = 0; i < c->n; i++)
        for (int cpu = 0; cpu < PLACE_CPUS; cpu++) {
            if (!CPU_ISSET_S((size_t)cpu, PLACE_SET_BYTES, c->at[i].cpus)) continue;
            out.at = gw_xrealloc(out.at, sizeof *out.at * (size_t)(out.n + 1));
            out.at[out.n] = c->at[i];
            out.at[out.n].cpus = set_new();
            CPU_SET_S((size_t)cpu, PLACE_SET_BYTES, out.at[out.n].cpus);
            out.n++;
        }
    bind_cores_free(c);
    *c = out;
}

char *bind_cores_reserve(struct cores *c, int n)
{
    assert(n > 0 && n < c->n);
    size_t cap = (size_t)n * 64 + 1, used = 0;
    char *text = gw_xcalloc(1, cap);
    for (int i = 0; i < n; i++) {
        cpu_set_t *cpus = c->at[--c->n].cpus;
        for (int cpu = 0; cpu < PLACE_CPUS && used < cap; cpu++)
            if (CPU_ISSET_S((size_t)cpu, PLACE_SET_BYTES, cpus))
                used += (size_t)snprintf(text + used, cap - used, "%s%d", used ? "," : "", cpu);
        CPU_FREE(cpus);
    }
    number_units(c);
    return text;
}

int bind_cores_units(const struct cores *c, enum unit unit)
{
    int n = 0;
    for (int i = 0; i < c->n; i++)
        if (c->at[i].unit[unit] >= n) n = c->at[i].unit[unit] + 1;
    return n;
}
