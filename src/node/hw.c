/* hw.c -- which of the machine's resources this process is bound to: affinity masks against what the kernel tells under /sys.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "node/node_private.h"
#include "base/lock.h"
#include "base/os.h"
#include "base/processor.h"

enum { CACHES = 10 }; /* indices of a cpu's caches that are looked at */

const char *const node_hw_names[NODE_HW_KINDS] = {
    [NODE_HW_MACHINE] = "hwloc://Machine", [NODE_HW_PACKAGE] = "hwloc://Package", [NODE_HW_NUMA] = "hwloc://NUMANode",
    [NODE_HW_L3] = "hwloc://L3Cache",      [NODE_HW_L2] = "hwloc://L2Cache",      [NODE_HW_L1] = "hwloc://L1Cache",
    [NODE_HW_CORE] = "hwloc://Core",       [NODE_HW_PU] = "hwloc://PU",
};

int node_hw_find(const char *name)
{
    for (int k = 0; k < NODE_HW_KINDS; k++)
        if (strcmp(name, node_hw_names[k]) == 0 || strcmp(name, node_hw_names[k] + strlen("hwloc://")) == 0) return k;
    return -1;
}

static bool cpu_in(const struct hw_cpus *set, int cpu) { return set->bits[cpu / 64] >> cpu % 64 & 1; }
static int cpu_first(const struct hw_cpus *set) /* -1: none */
{
    for (int i = 0; i < HW_MAX_CPUS / 64; i++)
        if (set->bits[i]) return i * 64 + __builtin_ctzll(set->bits[i]);
    return -1;
}
static bool is_within(const struct hw_cpus *a, const struct hw_cpus *b)
{
    for (int i = 0; i < HW_MAX_CPUS / 64; i++)
        if (a->bits[i] & ~b->bits[i]) return false;
    return true;
}

/* "0-3,8" */
static bool list_read(struct hw_cpus *set, const char *path)
{
    char text[8192];
    memset(set, 0, sizeof *set);
    if (!gw_line_read(text, sizeof text, "%s", path)) return false;
    for (char *p = text, *end; *p >= '0' && *p <= '9'; p = *end == ',' ? end + 1 : end) {
        long a = strtol(p, &end, 10), b = a;
        if (*end == '-') b = strtol(end + 1, &end, 10);
        for (long c = a; c <= b && c < HW_MAX_CPUS; c++) hw_cpu_add(set, c);
    }
    return true;
}

/* The cpus that share a resource of this kind with `cpu`, and the number of that resource, unique among those of its kind. */
static bool numa_of(const char *sys, int cpu, struct hw_cpus *set, int *number_out)
{
    struct hw_cpus online;
    char path[256];
    snprintf(path, sizeof path, "%s/node/online", sys);
    if (!list_read(&online, path)) return false;
    for (int n = 0; n < HW_MAX_CPUS; n++) {
        if (!cpu_in(&online, n)) continue;
        snprintf(path, sizeof path, "%s/node/node%d/cpulist", sys, n);
        *number_out = n;
        if (list_read(set, path) && cpu_in(set, cpu)) return true;
    }
    return false;
}

static bool cache_of(const struct hw_machine *m, int cpu, int level, struct hw_cpus *set)
{
    char path[256], text[64];
    for (int i = 0; i < CACHES; i++) {
        snprintf(path, sizeof path, "%s/cpu/cpu%d/cache/index%d/level", m->sys, cpu, i);
        if (!gw_line_read(text, sizeof text, "%s", path)) return i == 0 && node_hw_cache_of(m, cpu, level, set);
        if (strtol(text, NULL, 10) != level) continue;
        snprintf(path, sizeof path, "%s/cpu/cpu%d/cache/index%d/shared_cpu_list", m->sys, cpu, i);
        return list_read(set, path);
    }
    return false;
}

/* Kernels before 5.3 know these lists by other names. */
static bool topology_of(const char *sys, int cpu, const char *name, const char *old_name, struct hw_cpus *set)
{
    char path[256];
    snprintf(path, sizeof path, "%s/cpu/cpu%d/topology/%s", sys, cpu, name);
    if (list_read(set, path)) return true;
    snprintf(path, sizeof path, "%s/cpu/cpu%d/topology/%s", sys, cpu, old_name);
    return list_read(set, path);
}

static bool resource_of(const struct hw_machine *m, enum node_hw kind, int cpu, struct hw_cpus *set, int *number_out)
{
    bool known;
    switch (kind) {
    case NODE_HW_NUMA: return numa_of(m->sys, cpu, set, number_out);
    case NODE_HW_PACKAGE: known = topology_of(m->sys, cpu, "package_cpus_list", "core_siblings_list", set); break;
    case NODE_HW_CORE: known = topology_of(m->sys, cpu, "core_cpus_list", "thread_siblings_list", set); break;
    case NODE_HW_L3: known = cache_of(m, cpu, 3, set); break;
    case NODE_HW_L2: known = cache_of(m, cpu, 2, set); break;
    case NODE_HW_L1: known = cache_of(m, cpu, 1, set); break;
    default:
        memset(set, 0, sizeof *set);
        hw_cpu_add(set, cpu);
        known = true;
    }
    if (known) *number_out = cpu_first(set);
    return known && cpu_in(set, cpu);
}

void node_hw_instances(const struct hw_machine *m, const struct hw_cpus *mask, int32_t instance_out[NODE_HW_KINDS])
{
    int cpu = cpu_first(mask);
    for (int k = 0; k < NODE_HW_KINDS; k++) {
        struct hw_cpus set;
        int number = 0;
        if (k == NODE_HW_MACHINE)
            instance_out[k] = 0;
        else if (cpu < 0 || !resource_of(m, (enum node_hw)k, cpu, &set, &number))
            instance_out[k] = NODE_HW_UNKNOWN;
        else
            instance_out[k] = is_within(mask, &set) ? number : NODE_HW_SEVERAL;
    }
}

/* The cpus of all threads of the program, which may have bound each of them to one. */
static void process_cpus(struct hw_cpus *all)
{
    memset(all, 0, sizeof *all);
    DIR *d = opendir("/proc/self/task");
    for (struct dirent *e; d && (e = readdir(d));) {
        struct hw_cpus one = {0};
        pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);
        if (tid <= 0 || gw_thread_is_own(tid) || sched_getaffinity(tid, sizeof one, (cpu_set_t *)(void *)&one) < 0) continue;
        for (int i = 0; i < HW_MAX_CPUS / 64; i++) all->bits[i] |= one.bits[i];
    }
    if (d) closedir(d);
}

void node_hw_of_process(int32_t instance_out[NODE_HW_KINDS])
{
    struct hw_cpus mask;
    process_cpus(&mask);
    const struct hw_machine here = {"/sys/devices/system", "/proc/cpuinfo", gw_cpuid};
    node_hw_instances(&here, &mask, instance_out);
}
