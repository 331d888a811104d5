/* hw_cache.c -- which cpus share a cache, where the kernel does not tell: by the processor's own description (CPUID) and the number by which
 * it tells its cpus apart (the APIC id).
 *
 * A cache is shared by all cpus whose APIC ids agree but for the lowest bits, as many as the number of ids in the description takes.
 * The description is that of the core that this runs on; of a machine with cores of two kinds it may be another one than `cpu`'s.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/node_private.h"

enum { EAX, EBX, ECX, EDX, MOST = 16 /* caches that are looked at */, TYPE_DATA = 1, TYPE_UNIFIED = 3 };

/* The leaf that describes caches: Intel's, or AMD's, whose processors know the same under a number of their own. */
static uint32_t leaf_of(const struct hw_machine *m)
{
    uint32_t r[4];
    if (!m->cpuid(0, 0, r)) return 0;
    bool is_amd = (r[EBX] == 0x68747541 && r[EDX] == 0x69746e65 && r[ECX] == 0x444d4163) || /* "AuthenticAMD" */
        (r[EBX] == 0x6f677948 && r[EDX] == 0x6e65476e && r[ECX] == 0x656e6975);             /* "HygonGenuine" */
    if (!is_amd) return r[EAX] >= 4 ? 4 : 0;
    uint32_t has_extensions = 1u << 22;
    return m->cpuid(0x80000001, 0, r) && r[ECX] & has_extensions ? 0x8000001d : 0;
}

/* By how many bits the APIC ids of those that share the cache differ; -1: it has none of that level. */
static int bits_of(const struct hw_machine *m, int level)
{
    uint32_t r[4], leaf = leaf_of(m);
    for (uint32_t i = 0; leaf && i < MOST && m->cpuid(leaf, i, r); i++) {
        uint32_t type = r[EAX] & 31, sharers = (r[EAX] >> 14 & 0xfff) + 1;
        if (type == 0) break;
        if ((type != TYPE_DATA && type != TYPE_UNIFIED) || (int)(r[EAX] >> 5 & 7) != level) continue;
        return sharers < 2 ? 0 : 32 - __builtin_clz(sharers - 1);
    }
    return -1;
}

/* The next cpu of the file and its APIC id; false: there is none. */
static bool next_cpu(FILE *f, long *cpu_out, unsigned long *id_out)
{
    char line[4096];
    *cpu_out = -1;
    while (fgets(line, sizeof line, f)) {
        const char *value = strchr(line, ':');
        if (!value) continue;
        if (strncmp(line, "processor", 9) == 0) *cpu_out = strtol(value + 1, NULL, 10);
        if (strncmp(line, "apicid", 6) != 0 || *cpu_out < 0 || *cpu_out >= HW_MAX_CPUS) continue;
        *id_out = strtoul(value + 1, NULL, 10);
        return true;
    }
    return false;
}

bool node_hw_cache_of(const struct hw_machine *m, int cpu, int level, struct hw_cpus *set_out)
{
    int bits = bits_of(m, level);
    FILE *f = bits < 0 ? NULL : fopen(m->cpuinfo, "re");
    long one;
    unsigned long id, mine = 0;
    bool found = false;
    memset(set_out, 0, sizeof *set_out);
    if (!f) return false;
    while (!found && next_cpu(f, &one, &id)) found = one == cpu, mine = id;
    rewind(f);
    while (found && next_cpu(f, &one, &id))
        if (id >> bits == mine >> bits) hw_cpu_add(set_out, one);
    fclose(f);
    return found;
}
