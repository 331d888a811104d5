/* order.c -- the arguments of MPI_Comm_spawn: info keys, sets of numbers.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "world/order.h"
#include "base/base.h"
#include "base/file.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/utsname.h>

/* ---- soft ----------------------------------------------------------------------------------------------------------------------- */
/* Reads an integer in the range of int, with blanks around it. */
static bool number(const char **p, int64_t *out)
{
    char *end;
    errno = 0;
    long long v = strtoll(*p, &end, 10);
    if (end == *p || errno || v < INT_MIN || v > INT_MAX) return false;
    while (isspace((unsigned char)*end)) end++;
    *p = end;
    *out = v;
    return true;
}

/* Reads a, a:b or a:b:c, which is a to b in steps of c. */
static bool triplet(const char **p, int64_t t[3])
{
    if (!number(p, &t[0])) return false;
    t[1] = t[0], t[2] = 1;
    for (int i = 1; i < 3 && **p == ':'; i++) {
        ++*p;
        if (!number(p, &t[i])) return false;
    }
    return t[2] != 0 && (t[1] == t[0] || (t[1] > t[0]) == (t[2] > 0));
}

/* The largest number of a triplet from 0 to `most`; -1: there is none. */
static int64_t largest(const int64_t t[3], int64_t most)
{
    assert(t[2] != 0);
    int64_t low = t[0], step = t[2], last = (t[1] - t[0]) / step; /* of the steps */
    if (step < 0) low += last * step, step = -step;
    if (low > most) return -1;
    int64_t v = low + gw_min64(last, (most - low) / step) * step;
    return v < 0 ? -1 : v;
}

int world_order_soft(const char *soft, int most, int *n_out)
{
    int64_t best = -1, t[3];
    *n_out = most;
    for (const char *p = soft; p; p++) {
        if (!triplet(&p, t) || (*p && *p != ','))
            return gw_fail(GW_EINFO_VALUE,
                           "the info key soft is \"%.64s\", which is not a list of numbers a, a:b or a:b:c with commas", soft);
        best = gw_max64(best, largest(t, most));
        *n_out = (int)best;
        if (!*p) break;
    }
    return GW_OK;
}

/* ---- the file ------------------------------------------------------------------------------------------------------------------- */
static int line_take(struct gw_info *info, char *line, const char *name)
{
    char *key = gw_trimmed(line), *eq = strchr(key, '=');
    if (!*key || *key == '#') return GW_OK;
    if (!eq || eq == key)
        return gw_fail(GW_EINFO_VALUE, "the line \"%.40s\" of %.100s (info key file) is not key = value", key, name);
    *eq = 0;
    key = gw_trimmed(key);
    char *value = gw_trimmed(eq + 1);
    const char *before = strcmp(key, "env") == 0 ? gw_info_find(info, key) : NULL;
    char *both = before ? gw_xasprintf("%s\n%s", before, value) : NULL;
    int rc = gw_info_set(info, key, both ? both : value);
    free(both);
    return rc;
}

static int file_read(const char *name, struct gw_info **info_out)
{
    enum { MOST = 1 << 20 };
    char *text = NULL;
    const char *why = gw_file_read(name, MOST, true, &text);
    if (why) return gw_fail(GW_EINFO_VALUE, "the info key file is %.100s, which cannot be read: %s", name, why);
    int rc = gw_info_create(info_out);
    for (char *line = text, *next; rc == GW_OK && line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        rc = line_take(*info_out, line, name);
    }
    free(text);
    return rc;
}

const char *world_order_key(const struct order *o, const char *key)
{
    const char *value = gw_info_find(o->program->info, key);
    return value ? value : gw_info_find(o->file, key);
}

/* ---- all of them ---------------------------------------------------------------------------------------------------------------- */
static int order_begin(const struct world_program *w, struct order *o)
{
    const char *file = gw_info_find(w->info, "file");
    struct utsname machine = {0};
    if (!w->command || !w->command[0]) return gw_fail(GW_EARG, "command is %s", w->command ? "empty" : "NULL");
    if (w->n < 1) return gw_fail(GW_EARG, "maxprocs is %d for %.64s; it must be at least 1", w->n, w->command);
    int rc = file ? file_read(file, &o->file) : GW_OK;
    if (rc != GW_OK) return rc;
    const char *arch = world_order_key(o, "arch");
    if (arch && uname(&machine) == 0 && strcasecmp(arch, machine.machine) != 0)
        return gw_fail(GW_ESPAWN, "%.64s was asked for on the architecture %.40s, and this machine is %s", w->command, arch,
                       machine.machine);
    rc = world_order_soft(world_order_key(o, "soft"), w->n, &o->n);
    if (rc == GW_OK && o->n < 0)
        rc = gw_fail(GW_ESPAWN, "the info key soft (%.64s) allows no number of processes up to %d", world_order_key(o, "soft"),
                     w->n);
    return rc;
}

int world_orders_begin(int n, const struct world_program *programs, struct order *orders, int *fault_out)
{
    int rc = GW_OK;
    for (int i = 0; i < n; i++) orders[i] = (struct order){.program = &programs[i]};
    for (int i = 0; i < n && rc == GW_OK; i++) {
        *fault_out = i;
        rc = order_begin(&programs[i], &orders[i]);
    }
    return rc;
}

void world_orders_end(int n, struct order *orders)
{
    for (int i = 0; i < n; i++)
        if (orders[i].file) gw_info_free(&orders[i].file);
}

int world_orders_total(int n, const struct order *orders)
{
    int64_t total = 0;
    for (int i = 0; i < n; i++) total += orders[i].n;
    return (int)gw_min64(total, INT_MAX);
}

bool world_orders_shrink(int n, struct order *orders, int room)
{
    for (int i = n - 1; i >= 0 && world_orders_total(n, orders) > room; i--) {
        const char *soft = world_order_key(&orders[i], "soft");
        int over = world_orders_total(n, orders) - room, fewer;
        if (!soft) continue;
        /* If the set has no number that small, the smallest larger one is taken. */
        for (int most = (int)gw_max64(orders[i].n - over, 0); most < orders[i].n; most++) {
            if (world_order_soft(soft, most, &fewer) != GW_OK || fewer < 0) continue;
            orders[i].n = fewer;
            break;
        }
    }
    return world_orders_total(n, orders) <= room;
}
