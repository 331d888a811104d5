/* place.c -- which cores each rank gets: a pure function of the cores and of what was asked for.
 *
 * Processes are mapped first: one after the other along the cores, round units of a kind, or so many to each unit.  Each thereby has
 * its first core and its share; binding widens that to units, or narrows it to cores.  Then the processes are numbered.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "bind/place.h"
#include "base/base.h"
#include "job/job.h"

static void list_add(struct core_list *l, int core)
{
    l->at = gw_xrealloc(l->at, sizeof *l->at * (size_t)(l->n + 1));
    l->at[l->n++] = core;
}

/* Cores of one unit, in their order. */
static struct core_list cores_of(const struct cores *c, enum unit unit, int number)
{
    struct core_list l = {0};
    for (int i = 0; i < c->n; i++)
        if (c->at[i].unit[unit] == number) list_add(&l, i);
    return l;
}

/* Groups of `width` cores: the first group of each unit, then the second of each, ...  A unit's rest that is no whole group is left. */
static struct core_list round_units(const struct cores *c, enum unit unit, int width)
{
    struct core_list order = {0};
    int units = bind_cores_units(c, unit);
    for (int turn = 0, before = -1; order.n != before; turn++) {
        before = order.n;
        for (int u = 0; u < units; u++) {
            struct core_list in = cores_of(c, unit, u);
            if ((turn + 1) * width <= in.n)
                for (int k = 0; k < width; k++) list_add(&order, in.at[turn * width + k]);
            free(in.at);
        }
    }
    return order;
}

static void take(struct core_list *to, const struct core_list *from, int first, int n)
{
    for (int i = first; i < first + n && i < from->n; i++) list_add(to, from->at[i]);
}

/* ---- mapping -------------------------------------------------------------------------------------------------------------- */
/* Along the cores, or round units: `width` cores each, or equal shares where it is 0. */
static bool map_all(const struct cores *c, const struct place_wanted *w, int width, int n, struct core_list *out)
{
    assert(n > 0 && width >= 0);
    bool spread = w->map != UNIT_CORE && w->map != UNIT_MACHINE;
    int share = width ? width : c->n / n;
    struct core_list order = round_units(c, spread ? w->map : UNIT_MACHINE, width && spread ? width : 1);
    bool fits = (int64_t)n * (width ? width : 1) <= order.n;
    for (int i = 0; fits && i < n; i++) {
        if (width || !spread) {
            take(&out[i], &order, i * share, share);
            continue;
        }
        for (int k = i; k < order.n && out[i].n < share; k += n) /* of the unit of its first core alone */
            if (c->at[order.at[k]].unit[w->map] == c->at[order.at[i]].unit[w->map]) list_add(&out[i], order.at[k]);
    }
    free(order.at);
    return fits;
}

/* w->ppr processes to each unit. */
static bool map_ppr(const struct cores *c, const struct place_wanted *w, int width, int n, struct core_list *out)
{
    assert(n > 0 && w->ppr > 0 && width >= 0);
    int units = bind_cores_units(c, w->map);
    if ((int64_t)units * w->ppr < n) return false;
    for (int i = 0; i < n; i++) {
        struct core_list in = cores_of(c, w->map, i / w->ppr);
        int share = width ? width : in.n / w->ppr, k = i % w->ppr;
        bool fits = share > 0 && (k + 1) * share <= in.n;
        if (fits) take(&out[i], &in, k * share, share);
        free(in.at);
        if (!fits) return false;
    }
    return true;
}

/* ---- binding -------------------------------------------------------------------------------------------------------------- */
static enum unit unit_of(enum bind_to bind)
{
    switch (bind) {
    case BIND_NUMA: return UNIT_NUMA;
    case BIND_L2: return UNIT_L2;
    case BIND_L3: return UNIT_L3;
    case BIND_PACKAGE: return UNIT_PACKAGE;
    case BIND_MACHINE: return UNIT_MACHINE;
    default: return UNIT_CORE;
    }
}

/* All cores of `count` units beginning with the one of its first core, or of the group of so many that this one is in. */
static void widen(const struct cores *c, enum unit unit, int count, struct core_list *l)
{
    assert(l->n > 0 && count > 0);
    int from = c->at[l->at[0]].unit[unit] / count * count;
    l->n = 0;
    for (int i = 0; i < c->n; i++)
        if (c->at[i].unit[unit] >= from && c->at[i].unit[unit] < from + count) list_add(l, i);
}

/* ---- numbering ------------------------------------------------------------------------------------------------------------ */
/* The processes as ranks: unit after unit, or round the units. */
static void number_ranks(const struct cores *c, const struct place_wanted *w, int n, struct core_list *places)
{
    bool fill = w->rank_by == UNIT_CORE;
    enum unit unit = fill ? w->map : w->rank_by;
    struct core_list *old = gw_xmalloc(sizeof *old * (size_t)n);
    bool *done = gw_xcalloc((size_t)n, sizeof *done);
    int units = bind_cores_units(c, unit);
    assert(units > 0 || n == 0);
    memcpy(old, places, sizeof *old * (size_t)n);
    for (int rank = 0, u = 0; rank < n; u = (u + 1) % units) {
        for (int i = 0; i < n; i++) {
            if (done[i] || c->at[old[i].at[0]].unit[unit] != u) continue;
            done[i] = true;
            places[rank++] = old[i];
            if (!fill) break;
        }
    }
    free(done);
    free(old);
}

unsigned bind_place_units(const struct place_wanted *w)
{
    return PLACE_UNIT(w->map) | PLACE_UNIT(w->rank_by) | PLACE_UNIT(unit_of(w->bind));
}

enum place_result bind_place_make(const struct cores *c, const struct place_wanted *w, int n_ranks, struct core_list *out)
{
    assert(n_ranks > 0);
    bool exact = w->bind == BIND_CORE || w->bind == BIND_HWTHREAD;
    int count = w->bind_count > 0 ? w->bind_count : 1;
    memset(out, 0, sizeof *out * (size_t)n_ranks);
    int width = exact ? count : 0;
    bool by_unit =
        w->ppr && (w->map != UNIT_MACHINE || n_ranks <= w->ppr); /* of several nodes, all of them faked: one after the other */
    bool fits = by_unit ? map_ppr(c, w, width, n_ranks, out) : map_all(c, w, width, n_ranks, out);
    for (int i = 0; i < n_ranks && !fits; i++) {
        free(out[i].at);
        out[i] = (struct core_list){0};
    }
    if (!fits) return PLACE_NO_ROOM;
    if (w->rank_by_given) number_ranks(c, w, n_ranks, out);
    for (int i = 0; i < n_ranks && !exact && w->bind != BIND_SHARE; i++) widen(c, unit_of(w->bind), count, &out[i]);
    return PLACE_OK;
}
