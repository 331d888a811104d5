/* hw_test.c -- resources that a set of cpus lies in, on machines written down as files.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "node/node_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../test/unit.h"

static char root[64];

static void put(const char *text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(const char *text, const char *fmt, ...)
{
    char path[256];
    int at = snprintf(path, sizeof path, "%s/", root);
    va_list args;
    va_start(args, fmt);
    vsnprintf(path + at, sizeof path - (size_t)at, fmt, args);
    va_end(args);
    for (char *p = path + at; (p = strchr(p, '/')); p++) {
        *p = 0;
        mkdir(path, 0700);
        *p = '/';
    }
    FILE *f = fopen(path, "w");
    CHECK(f != NULL);
    if (!f) return;
    fprintf(f, "%s\n", text);
    fclose(f);
}

/* Two packages of two NUMA nodes (numbers 0, 2, 3, 5) of two L3 caches of two cores of two threads: cpu c and c + 16 share a
 * core; package 0 has cpus 0-7 and 16-23.  Packages by their name of before 5.3 on cpu 0. */
static void machine_write(void)
{
    static const int numa[4] = {0, 2, 3, 5};
    char text[64];
    put("0,2-3,5", "node/online");
    for (int n = 0; n < 4; n++) {
        snprintf(text, sizeof text, "%d-%d,%d-%d", 4 * n, 4 * n + 3, 4 * n + 16, 4 * n + 19);
        put(text, "node/node%d/cpulist", numa[n]);
    }
    for (int c = 0; c < 32; c++) {
        int core = c % 16;
        snprintf(text, sizeof text, "%d-%d,%d-%d", core / 8 * 8, core / 8 * 8 + 7, core / 8 * 8 + 16, core / 8 * 8 + 23);
        put(text, "cpu/cpu%d/topology/%s", c, c ? "package_cpus_list" : "core_siblings_list");
        snprintf(text, sizeof text, "%d,%d", core, core + 16);
        put(text, "cpu/cpu%d/topology/core_cpus_list", c);
        put("1", "cpu/cpu%d/cache/index0/level", c);
        put(text, "cpu/cpu%d/cache/index0/shared_cpu_list", c);
        put("3", "cpu/cpu%d/cache/index1/level", c); /* no L2 */
        snprintf(text, sizeof text, "%d-%d,%d-%d", core / 2 * 2, core / 2 * 2 + 1, core / 2 * 2 + 16, core / 2 * 2 + 17);
        put(text, "cpu/cpu%d/cache/index1/shared_cpu_list", c);
    }
}

static bool no_cpuid(uint32_t leaf, uint32_t sub, uint32_t out[4])
{
    (void)leaf, (void)sub, (void)out;
    return false;
}
static const struct hw_machine machine = {root, "/nonexistent", no_cpuid};

static void expect(const int *cpus, int n, int package, int numa, int l3, int core, int pu)
{
    struct hw_cpus mask = {0};
    int32_t got[NODE_HW_KINDS];
    for (int i = 0; i < n; i++) mask.bits[cpus[i] / 64] |= 1ull << cpus[i] % 64;
    node_hw_instances(&machine, &mask, got);
    CHECK_EQ(got[NODE_HW_MACHINE], 0);
    CHECK_EQ(got[NODE_HW_PACKAGE], package);
    CHECK_EQ(got[NODE_HW_NUMA], numa);
    CHECK_EQ(got[NODE_HW_L3], l3);
    CHECK_EQ(got[NODE_HW_L2], NODE_HW_UNKNOWN);
    CHECK_EQ(got[NODE_HW_L1], core);
    CHECK_EQ(got[NODE_HW_CORE], core);
    CHECK_EQ(got[NODE_HW_PU], pu);
}

/* ---- a virtual machine without caches under /sys: 12 cpus, of which the processor tells ------------------------------------ */
static char cpuinfo[96];
/* Cpu c is thread c % 2 of core c / 2 % 3 of package c / 6: ids as on a package with room for four cores. */
static unsigned id_of(int c) { return (unsigned)(c / 6 * 8 + c / 2 % 3 * 2 + c % 2); }

static void cpuinfo_write(bool with_ids)
{
    snprintf(cpuinfo, sizeof cpuinfo, "%s/cpuinfo", root);
    FILE *f = fopen(cpuinfo, "w");
    CHECK(f != NULL);
    for (int c = 0; f && c < 12; c++) {
        fprintf(f, "processor\t: %d\nmodel name\t: a: b\n", c);
        if (with_ids) fprintf(f, "apicid\t\t: %u\ninitial apicid\t: 99\n", id_of(c));
        fprintf(f, "\n");
    }
    if (f) fclose(f);
}

/* An answer's EAX: a cache of this type and level, shared by this many ids. */
static uint32_t cache(uint32_t type, uint32_t level, uint32_t sharers) { return type | level << 5 | (sharers - 1) << 14; }

static bool intel(uint32_t leaf, uint32_t sub, uint32_t out[4])
{
    static const uint32_t name[4] = {0x1f, 0x756e6547, 0x6c65746e, 0x49656e69};
    const uint32_t caches[] = {cache(1, 1, 2), cache(2, 1, 2), cache(3, 2, 2), cache(3, 3, 8), 0};
    memset(out, 0, 16);
    if (leaf == 0) memcpy(out, name, 16);
    if (leaf == 4 && sub < GW_ARRAY_LEN(caches)) out[0] = caches[sub];
    return leaf == 0 || leaf == 4;
}

static bool amd(uint32_t leaf, uint32_t sub, uint32_t out[4])
{
    static const uint32_t name[4] = {0x10, 0x68747541, 0x444d4163, 0x69746e65};
    const uint32_t caches[] = {cache(1, 1, 1), cache(2, 1, 1), cache(3, 2, 2), cache(3, 3, 3), 0};
    memset(out, 0, 16);
    if (leaf == 0) memcpy(out, name, 16);
    if (leaf == 0x80000001) out[2] = 1u << 22;
    if (leaf == 0x8000001d && sub < GW_ARRAY_LEN(caches)) out[0] = caches[sub];
    return leaf == 0 || leaf == 0x80000001 || leaf == 0x8000001d;
}

static void by_cpuid(bool (*cpuid)(uint32_t, uint32_t, uint32_t[4]), const int *cpus, int n, int l3, int l2, int l1)
{
    char sys[96];
    snprintf(sys, sizeof sys, "%s/none", root);
    const struct hw_machine m = {sys, cpuinfo, cpuid};
    struct hw_cpus mask = {0};
    int32_t got[NODE_HW_KINDS];
    for (int i = 0; i < n; i++) mask.bits[cpus[i] / 64] |= 1ull << cpus[i] % 64;
    node_hw_instances(&m, &mask, got);
    CHECK_EQ(got[NODE_HW_L3], l3);
    CHECK_EQ(got[NODE_HW_L2], l2);
    CHECK_EQ(got[NODE_HW_L1], l1);
}

static void test_cpuid(void)
{
    enum { NO = NODE_HW_SEVERAL, UNKNOWN = NODE_HW_UNKNOWN };
    cpuinfo_write(true);
    by_cpuid(intel, (int[]){0}, 1, 0, 0, 0);
    by_cpuid(intel, (int[]){3}, 1, 0, 2, 2);
    by_cpuid(intel, (int[]){2, 5}, 2, 0, NO, NO);
    by_cpuid(intel, (int[]){11}, 1, 6, 10, 10);
    by_cpuid(intel, (int[]){5, 6}, 2, NO, NO, NO);
    by_cpuid(amd, (int[]){3}, 1, 0, 2, 3);
    by_cpuid(amd, (int[]){4}, 1, 4, 4, 4); /* ids 4 to 7 */
    by_cpuid(amd, (int[]){2, 3}, 2, 0, 2, NO);
    by_cpuid(no_cpuid, (int[]){0}, 1, UNKNOWN, UNKNOWN, UNKNOWN);
    cpuinfo_write(false);
    by_cpuid(intel, (int[]){0}, 1, UNKNOWN, UNKNOWN, UNKNOWN);
}

int main(void)
{
    enum { NO = NODE_HW_SEVERAL };
    strcpy(root, "/tmp/hw_test.XXXXXX");
    CHECK(mkdtemp(root) != NULL);
    machine_write();
    expect((int[]){0}, 1, 0, 0, 0, 0, 0);
    expect((int[]){21}, 1, 0, 2, 4, 5, 21);
    expect((int[]){5, 21}, 2, 0, 2, 4, 5, NO);
    expect((int[]){6, 7}, 2, 0, 2, 6, NO, NO);
    expect((int[]){8, 10}, 2, 8, 3, NO, NO, NO);
    expect((int[]){12, 31}, 2, 8, 5, NO, NO, NO);
    expect((int[]){0, 4}, 2, 0, NO, NO, NO, NO);
    expect((int[]){7, 8}, 2, NO, NO, NO, NO, NO);
    /* Nothing is known of cpu 100 but itself; of no cpu at all, not even that. */
    int32_t got[NODE_HW_KINDS];
    struct hw_cpus mask = {0};
    node_hw_instances(&machine, &mask, got);
    CHECK_EQ(got[NODE_HW_PU], NODE_HW_UNKNOWN);
    mask.bits[1] = 1ull << 36;
    node_hw_instances(&machine, &mask, got);
    CHECK(got[NODE_HW_PU] == 100 && got[NODE_HW_PACKAGE] == NODE_HW_UNKNOWN && got[NODE_HW_NUMA] == NODE_HW_UNKNOWN);
    CHECK(got[NODE_HW_L3] == NODE_HW_UNKNOWN && got[NODE_HW_CORE] == NODE_HW_UNKNOWN);
    test_cpuid();
    /* This process, on the machine that it is on. */
    node_hw_of_process(got);
    CHECK_EQ(got[NODE_HW_MACHINE], 0);
    CHECK(got[NODE_HW_PU] != NODE_HW_UNKNOWN);
    CHECK(node_hw_find("hwloc://NUMANode") == NODE_HW_NUMA && node_hw_find("Core") == NODE_HW_CORE);
    CHECK(node_hw_find("hwloc://") == -1 && node_hw_find("core") == -1 && node_hw_find("") == -1);
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", root);
    CHECK_EQ(system(command), 0);
    return unit_end();
}
