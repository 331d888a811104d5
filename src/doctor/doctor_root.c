/* doctor_root.c -- reads the files of checks, all below the root of a machine, which may be the folder of a test.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "doctor/doctor.h"
#include "job/words.h"

static int root_open(const struct machine *m, const char *fmt, va_list ap)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s", m->root), k = vsnprintf(path + n, sizeof path - (size_t)n, fmt, ap);
    if (k < 0 || (size_t)(n + k) >= sizeof path) return -1;
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

static bool read_all(int fd, char *text_out, size_t cap)
{
    assert(cap > 1);
    size_t n = 0;
    ssize_t r;
    if (fd < 0) return false;
    while (n + 1 < cap && (r = read(fd, text_out + n, cap - 1 - n)) > 0) n += (size_t)r;
    close(fd);
    while (n && text_out[n - 1] == '\n') n--;
    text_out[n] = 0;
    return n > 0;
}

bool doctor_root_read(const struct machine *m, char *text_out, size_t cap, const char *fmt, ...)
{
    assert(cap > 1);
    va_list ap;
    va_start(ap, fmt);
    bool ok = read_all(root_open(m, fmt, ap), text_out, cap);
    va_end(ap);
    if (!ok) text_out[0] = 0;
    return ok;
}

bool doctor_root_there(const struct machine *m, const char *fmt, ...)
{
    va_list ap;
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s", m->root);
    va_start(ap, fmt);
    vsnprintf(path + n, sizeof path - (size_t)n, fmt, ap);
    va_end(ap);
    return access(path, F_OK) == 0;
}

int64_t doctor_root_number(const struct machine *m, const char *fmt, ...)
{
    char text[64], *end;
    va_list ap;
    va_start(ap, fmt);
    bool ok = read_all(root_open(m, fmt, ap), text, sizeof text);
    va_end(ap);
    long long v = ok ? strtoll(text, &end, 10) : -1;
    return ok && end != text ? v : -1;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

void doctor_root_list(const struct machine *m, const char *folder, struct words *names_out)
{
    char path[PATH_MAX];
    *names_out = (struct words){0};
    snprintf(path, sizeof path, "%s%s", m->root, folder);
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.') words_add(names_out, e->d_name);
    if (d) closedir(d);
    if (names_out->n) qsort(names_out->at, (size_t)names_out->n, sizeof *names_out->at, by_name);
}

int doctor_list_count(const char *list)
{
    int n = 0;
    for (const char *p = list; *p >= '0' && *p <= '9';) {
        char *end;
        long a = strtol(p, &end, 10), b = a;
        if (*end == '-') b = strtol(end + 1, &end, 10);
        if (b >= a) n += (int)(b - a + 1);
        p = *end == ',' ? end + 1 : end;
    }
    return n;
}

/* The path of the control group from a line such as "4:cpu,cpuacct:/path" (v1) or "0::/path" (v2). */
static bool group_of(const char *line, const char *controller, char *path_out, size_t cap)
{
    assert(cap > 1);
    const char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;
    if (!path) return false;
    bool found = !*controller && path == list + 1;
    for (const char *c = list + 1; *controller && c < path; c += strcspn(c, ",:") + 1)
        found |= strcspn(c, ",:") == strlen(controller) && strncmp(c, controller, strlen(controller)) == 0;
    if (found) snprintf(path_out, cap, "%s", path + 1);
    return found;
}

void doctor_cgroup_each(const struct machine *m, const char *controller,
                        void (*fn)(const struct machine *m, const char *folder, void *arg), void *arg)
{
    assert(fn);
    char groups[8192], group[PATH_MAX], folder[2 * PATH_MAX], *next;
    bool found = false;
    if (!doctor_root_read(m, groups, sizeof groups, "/proc/self/cgroup")) return;
    for (char *line = groups; line && !found; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        found = group_of(line, controller, group, sizeof group);
    }
    /* Where v1 and v2 are mounted together, v2 lies in a folder of its own. */
    bool both = !*controller && doctor_root_there(m, "/sys/fs/cgroup/unified");
    while (found) {
        size_t n = strlen(group);
        while (n && group[n - 1] == '/') group[--n] = 0;
        snprintf(folder, sizeof folder, "/sys/fs/cgroup%s%s%s", *controller ? "/" : both ? "/unified" : "", controller, group);
        if (doctor_root_there(m, "%s", folder)) fn(m, folder, arg);
        if (n == 0) return;
        *strrchr(group, '/') = 0;
    }
}

const char *doctor_bytes_text(uint64_t bytes, char out[32])
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double v = (double)bytes;
    int u = 0;
    for (; v >= 1024 && u < 6; u++) v /= 1024;
    snprintf(out, 32, u == 0 || v >= 100 ? "%.0f %s" : "%.1f %s", v, units[u]);
    return out;
}
