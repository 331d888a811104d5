/* limits.c -- what this process may use: cores and memory, by the machine and by its control groups (v1 and v2).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/base.h"
#include "base/hash.h"
#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool file_read(const char *path, char *text_out, size_t cap)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    size_t n = 0;
    ssize_t r;
    while (n + 1 < cap && (r = read(fd, text_out + n, cap - 1 - n)) > 0) n += (size_t)r;
    close(fd);
    text_out[n] = 0;
    return n > 0;
}

/* The path of our group for a v1 controller, or for v2 when `controller` is "".  Lines: "4:cpu,cpuacct:/path", "0::/path". */
static bool cgroup_path(const char *groups, const char *controller, char *path_out, size_t cap)
{
    size_t want = strlen(controller);
    for (const char *line = groups; line && *line;) {
        const char *end = strchrnul(line, '\n');
        const char *list = memchr(line, ':', (size_t)(end - line));
        const char *path = list ? memchr(list + 1, ':', (size_t)(end - list - 1)) : NULL;
        if (path) {
            bool found = want == 0 && path == list + 1;
            for (const char *c = list + 1; want && c < path;) {
                const char *stop = memchr(c, ',', (size_t)(path - c));
                size_t len = (size_t)((stop ? stop : path) - c);
                if (len == want && memcmp(c, controller, want) == 0) found = true;
                c += len + 1;
            }
            if (found) {
                snprintf(path_out, cap, "%.*s", (int)(end - path - 1), path + 1);
                return true;
            }
        }
        line = *end ? end + 1 : end;
    }
    return false;
}

/* Calls `fn` for the group and each group above it: a limit anywhere on the way holds.  Inside a container the path
 * may name groups that are not mounted here; those are skipped and the mount's root remains. */
static void cgroup_walk(const char *mount, char *path, void (*fn)(const char *dir, void *arg), void *arg)
{
    char dir[512];
    for (;;) {
        size_t n = strlen(path);
        while (n && path[n - 1] == '/') path[--n] = 0;
        if (snprintf(dir, sizeof dir, "%s%s", mount, path) < (int)sizeof dir) fn(dir, arg);
        if (n == 0) return;
        *strrchr(path, '/') = 0;
    }
}

static bool group_file(const char *dir, const char *name, char *text_out, size_t cap)
{
    char path[640];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return file_read(path, text_out, cap);
}

/* A number in a group's file; -1 when absent or "max". */
static int64_t group_number(const char *dir, const char *name)
{
    char text[64], *end;
    if (!group_file(dir, name, text, sizeof text)) return -1;
    long long v = strtoll(text, &end, 10);
    return end == text ? -1 : v;
}

/* ---- cores ---- */
static void cores_least(int64_t quota, int64_t period, int *cores)
{
    if (quota <= 0 || period <= 0) return;
    int64_t n = (quota + period - 1) / period;
    if (n < *cores) *cores = (int)n;
}

static void cores_v2(const char *dir, void *arg)
{
    char text[64];
    long long quota, period;
    if (group_file(dir, "cpu.max", text, sizeof text) && sscanf(text, "%lld %lld", &quota, &period) == 2)
        cores_least(quota, period, arg);
}

static void cores_v1(const char *dir, void *arg)
{
    cores_least(group_number(dir, "cpu.cfs_quota_us"), group_number(dir, "cpu.cfs_period_us"), arg);
}

void gw_cpus_read(const char *text, void *set_out, size_t set_bytes)
{
    cpu_set_t *set = set_out;
    CPU_ZERO_S(set_bytes, set);
    for (const char *p = text; *p >= '0' && *p <= '9';) {
        char *end;
        long a = strtol(p, &end, 10), b = a;
        if (*end == '-') b = strtol(end + 1, &end, 10);
        for (long c = a; c <= b && (size_t)c < set_bytes * 8; c++) CPU_SET_S((size_t)c, set_bytes, set);
        p = *end == ',' ? end + 1 : end;
    }
}

int gw_cores_mask(pid_t pid)
{
    for (int n = 1024; n <= 1 << 20; n *= 4) {
        cpu_set_t *set = CPU_ALLOC(n);
        if (!set) break;
        size_t size = CPU_ALLOC_SIZE(n);
        int rc = sched_getaffinity(pid, size, set), count = rc == 0 ? CPU_COUNT_S(size, set) : 0;
        int err = errno;
        CPU_FREE(set);
        if (rc == 0) return count;
        if (err != EINVAL) break; /* EINVAL: the kernel has more cores than the set has room for */
    }
    return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

int gw_cores_allowed(void) { return gw_cores_of(0); }

int gw_cores_of(pid_t pid)
{
    char groups[4096], path[PATH_MAX];
    int cores = gw_cores_mask(pid);
    if (file_read("/proc/self/cgroup", groups, sizeof groups)) {
        if (cgroup_path(groups, "", path, sizeof path)) cgroup_walk("/sys/fs/cgroup", path, cores_v2, &cores);
        if (cgroup_path(groups, "cpu", path, sizeof path)) cgroup_walk("/sys/fs/cgroup/cpu", path, cores_v1, &cores);
    }
    return cores < 1 ? 1 : cores;
}

/* ---- memory ---- */
struct memory_least {
    int64_t bytes;
    const char *limit;
};

/* What the group may still take: its limit less what is used, not counting cache that the kernel can drop. */
static void memory_group(struct memory_least *least, int64_t limit, int64_t used, const char *stat, const char *key)
{
    if (limit < 0 || used < 0) return;
    const char *cache = strstr(stat, key);
    if (cache) used -= atoll(cache + strlen(key));
    int64_t left = limit - used < 0 ? 0 : limit - used;
    if (left < least->bytes) *least = (struct memory_least){left, "the memory limit of the control group"};
}

static void memory_v2(const char *dir, void *arg)
{
    char stat[4096] = "";
    int64_t limit = group_number(dir, "memory.max");
    if (limit < 0) return;
    group_file(dir, "memory.stat", stat, sizeof stat);
    memory_group(arg, limit, group_number(dir, "memory.current"), stat, "\ninactive_file ");
}

static void memory_v1(const char *dir, void *arg)
{
    char stat[4096] = "";
    int64_t limit = group_number(dir, "memory.limit_in_bytes");
    if (limit < 0 || limit > INT64_MAX / 2) return;
    group_file(dir, "memory.stat", stat, sizeof stat);
    memory_group(arg, limit, group_number(dir, "memory.usage_in_bytes"), stat, "\ntotal_inactive_file ");
}

static void whole_group(struct gw_memory_whole *w, const char *dir, const char *name)
{
    struct stat st;
    int64_t limit = group_number(dir, name);
    if (limit < 0 || limit >= w->group || limit > INT64_MAX / 2) return;
    w->group = limit;
    w->group_id =
        stat(dir, &st) == 0 ? (uint64_t)st.st_ino : 1; /* whatever part of the tree a container sees, the number is the kernel's */
}
static void whole_v2(const char *dir, void *arg) { whole_group(arg, dir, "memory.max"); }
static void whole_v1(const char *dir, void *arg) { whole_group(arg, dir, "memory.limit_in_bytes"); }

struct gw_memory_whole gw_memory_whole(void)
{
    char text[4096], path[PATH_MAX];
    struct gw_memory_whole whole = {INT64_MAX, INT64_MAX, 0};
    if (file_read("/proc/meminfo", text, sizeof text)) {
        const char *total = strstr(text, "MemTotal:"), *swap = strstr(text, "\nSwapTotal:");
        if (total) whole.machine = (atoll(total + 9) + (swap ? atoll(swap + 11) : 0)) * 1024;
    }
    if (file_read("/proc/self/cgroup", text, sizeof text)) {
        if (cgroup_path(text, "", path, sizeof path)) cgroup_walk("/sys/fs/cgroup", path, whole_v2, &whole);
        if (cgroup_path(text, "memory", path, sizeof path)) cgroup_walk("/sys/fs/cgroup/memory", path, whole_v1, &whole);
    }
    return whole;
}

uint64_t gw_memory_group_key(void)
{
    char text[4096];
    struct stat st; /* containers of their own call their groups alike */
    if (!file_read("/proc/self/cgroup", text, sizeof text) || stat("/proc/self/ns/cgroup", &st) != 0) return 0;
    uint64_t inode = (uint64_t)st.st_ino;
    return gw_hash(gw_hash(GW_HASH_SEED, text, strlen(text)), &inode, sizeof inode);
}

int64_t gw_memory_available(const char **limit_out)
{
    char text[4096], path[PATH_MAX];
    struct memory_least least = {INT64_MAX, "no limit that is known"};
    if (file_read("/proc/meminfo", text, sizeof text)) {
        const char *line = strstr(text, "\nMemAvailable:");
        if (line) least = (struct memory_least){atoll(line + 14) * 1024, "the memory that the machine has free"};
    }
    if (file_read("/proc/self/cgroup", text, sizeof text)) {
        if (cgroup_path(text, "", path, sizeof path)) cgroup_walk("/sys/fs/cgroup", path, memory_v2, &least);
        if (cgroup_path(text, "memory", path, sizeof path)) cgroup_walk("/sys/fs/cgroup/memory", path, memory_v1, &least);
    }
    *limit_out = least.limit;
    return least.bytes;
}
