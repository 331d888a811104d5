/* split.c -- dividing a communicator by colour, or by what hardware its processes are bound to.
 *
 * Every process gets a row of numbers from each member of c (of both groups of an intercommunicator), and computes the members of its part
 * from them.  So there is one exchange for all kinds of split, and members may differ in the kind: a process that gives MPI_UNDEFINED need
 * not know by what the others split.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "world/world_private.h"

#include <stdlib.h>

#include "base/base.h"
#include "boot/boot.h"
#include "node/node.h"
#include "plan/plan.h"

/* Rows of `words` numbers each, by rank; theirs NULL: no remote group. */
struct rows {
    int words;
    int32_t *ours, *theirs;
};

static const int32_t *row_of(const struct rows *rows, bool theirs, int i)
{
    assert(i >= 0 && rows->words > 0);
    return (theirs ? rows->theirs : rows->ours) + (size_t)i * (size_t)rows->words;
}

static void rows_free(struct rows *rows)
{
    free(rows->ours);
    free(rows->theirs);
}

static int rows_exchange(struct gw_comm *c, const int32_t *mine, struct rows *rows)
{
    rows->ours = malloc(sizeof *mine * (size_t)rows->words * (size_t)c->size);
    if (!rows->ours) return gw_fail(GW_ENOMEM, "no memory to split a communicator of %d", c->size);
    plan_call_begin(c, PLAN_MAKING, GW_ANY_SOURCE);
    int rc = coll_allgather(mine, rows->words, gw_type_int, rows->ours, rows->words, gw_type_int, c->remote ? c->local : c, NULL);
    plan_call_end(c);
    if (rc != GW_OK || !c->remote) return rc;
    struct bridge b = bridge_whole(c);
    int n = 0;
    rc = world_bridge_swap(c->local, 0, &b, rows->ours, rows->words * c->size, &rows->theirs, &n);
    if (rc == GW_OK && n != rows->words * c->remote->size)
        rc = gw_fail(GW_EOTHER, "the other group's leader told %d words of its %d members", n, c->remote->size);
    return rc;
}

/* ---- parts ------------------------------------------------------------------------------------------------------------- */
/* Is the process of this row in the part of the one with row `mine`? */
typedef bool with_me(const int32_t *mine, const int32_t *row, int what);

struct split_entry {
    int32_t key, rank;
};

static int split_order(const void *a, const void *b)
{
    const struct split_entry *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->rank - y->rank;
}

/* The group of those members of one side that are in the part of this process, ordered by (key, old rank).  Word 1 of a row is the key. */
static int side_pick(const struct rows *rows, bool theirs, struct gw_group *of, const int32_t *mine, with_me *with, int what,
                     struct gw_group **group_out)
{
    int n = 0;
    struct split_entry *part = malloc(sizeof *part * (size_t)of->size);
    int32_t *map = malloc(sizeof *map * (size_t)of->size);
    int rc = part && map ? GW_OK : gw_fail(GW_ENOMEM, "no memory to split a group of %d", of->size);
    for (int i = 0; rc == GW_OK && i < of->size; i++) {
        const int32_t *row = row_of(rows, theirs, i);
        if (with(mine, row, what)) part[n++] = (struct split_entry){row[1], i};
    }
    if (rc == GW_OK) {
        qsort(part, (size_t)n, sizeof *part, split_order);
        for (int i = 0; i < n; i++) map[i] = group_world(of, part[i].rank);
        rc = group_from_map(n, map, group_out);
    }
    free(map);
    free(part);
    return rc;
}

/* Makes the communicators of all parts.  *comm_out is NULL if this process is in no part, or its part has no member of the remote group. */
static int parts_make(struct gw_comm *c, const struct rows *rows, const int32_t *mine, with_me *with, int what,
                      struct gw_comm **comm_out)
{
    struct gw_group *local = NULL, *remote = NULL;
    struct gw_comm *new = NULL;
    uint32_t id;
    /* All parts get the same id, because no process is in two of them. */
    int rc = world_id_agree_whole(c, c->remote ? 2 : 1, &id);
    if (rc == GW_OK && with(mine, mine, what)) {
        rc = side_pick(rows, false, c->group, mine, with, what, &local);
        assert(rc != GW_OK || local->size > 0); /* this process is in its part */
        if (rc == GW_OK && c->remote) rc = side_pick(rows, true, c->remote, mine, with, what, &remote);
        if (rc == GW_OK) rc = world_sides_join(c, local, remote, id, &new);
    }
    if (local) group_release(local);
    if (remote) group_release(remote);
    if (rc == GW_OK) *comm_out = new;
    return rc;
}

/* ---- by colour ----------------------------------------------------------------------------------------------------------- */
static bool same_color(const int32_t *mine, const int32_t *row, int unused)
{
    (void)unused;
    return mine[0] != GW_UNDEFINED && mine[0] == row[0];
}

int world_comm_split(struct gw_comm *c, int color, int key, struct gw_comm **comm_out)
{
    if (color < 0 && color != GW_UNDEFINED)
        return gw_fail(GW_EARG, "color is %d; it must not be negative (or MPI_UNDEFINED to take no part)", color);
    int32_t row[2] = {color, key};
    struct rows rows = {.words = 2};
    int rc = rows_exchange(c, row, &rows);
    if (rc == GW_OK) rc = parts_make(c, &rows, row, same_color, 0, comm_out);
    rows_free(&rows);
    return rc;
}

/* ---- by hardware --------------------------------------------------------------------------------------------------------- */
/* Makes a number of this world differ, most probably, from those of other worlds. */
static int in_world(int number) { return (int)((boot_own_home().uid + (uint64_t)(int64_t)number) & INT32_MAX); }

/* A row of MPI_Comm_split_type: kind of split, key, node (its lowest world rank), resources of every kind.  The kind of split is a kind of
 * resource, or: */
enum { WANTS_NOTHING = -1, WANTS_NEXT_LEVEL = -2, WANTS_PSET = -3 }; /* PSET: "node" is the number of the set */
enum { WANT, KEY, NODE, RESOURCE, HW_WORDS = RESOURCE + NODE_HW_KINDS };

static bool same_resource(const int32_t *mine, const int32_t *row, int kind)
{
    if (mine[WANT] == WANTS_NOTHING || mine[WANT] != row[WANT] || mine[NODE] != row[NODE]) return false;
    if (mine[WANT] == WANTS_PSET) return true;
    if (mine[WANT] >= 0) kind = mine[WANT];
    return kind >= 0 && mine[RESOURCE + kind] >= 0 && mine[RESOURCE + kind] == row[RESOURCE + kind];
}

/* Do members have different resources of this kind? */
static bool kind_divides(const struct gw_comm *c, const struct rows *rows, int kind)
{
    const int32_t *first = row_of(rows, false, 0);
    bool somebody = false, all_one = true;
    for (int side = 0; side < 1 + (c->remote != NULL); side++) {
        int n = side ? c->remote->size : c->size;
        for (int i = 0; i < n; i++) {
            const int32_t *row = row_of(rows, side, i);
            somebody = somebody || (row[WANT] == WANTS_NEXT_LEVEL && row[RESOURCE + kind] >= 0);
            all_one = all_one && row[WANT] == WANTS_NEXT_LEVEL && row[NODE] == first[NODE] &&
                row[RESOURCE + kind] == first[RESOURCE + kind];
        }
    }
    return somebody && !all_one;
}

/* Sets the kind of a guided split; none if the info object names no known resource. */
static void guide(const char *resource, const char *pset, int32_t *row)
{
    if (resource && strcmp(resource, "mpi_shared_memory") == 0) {
        row[WANT] = NODE_HW_MACHINE;
    } else if (resource) {
        int kind = node_hw_find(resource);
        row[WANT] = kind >= 0 ? kind : WANTS_NOTHING;
    } else if (pset && (strcmp(pset, "mpi://WORLD") == 0 || strcmp(pset, "mpi://SELF") == 0)) {
        row[WANT] = WANTS_PSET;
        row[NODE] = in_world(strcmp(pset, "mpi://SELF") == 0 ? gw_boot.rank : -1);
    }
}

int world_comm_split_type(struct gw_comm *c, int split_type, int key, struct gw_info *info, struct gw_comm **comm_out)
{
    int32_t row[HW_WORDS] = {[WANT] = WANTS_NOTHING, [KEY] = key, [NODE] = in_world(gw_boot.local_to_world[0])};
    const char *resource = gw_info_find(info, "mpi_hw_resource_type");
    switch (split_type) {
    case GW_UNDEFINED: break;
    case GW_COMM_TYPE_SHARED: row[WANT] = NODE_HW_MACHINE; break;
    case GW_COMM_TYPE_HW_GUIDED: guide(resource, NULL, row); break;
    case GW_COMM_TYPE_RESOURCE_GUIDED: guide(resource, gw_info_find(info, "mpi_pset_name"), row); break;
    case GW_COMM_TYPE_HW_UNGUIDED: row[WANT] = WANTS_NEXT_LEVEL; break;
    default:
        return gw_fail(GW_EARG,
                       "split_type is %d; it must be one of the MPI_COMM_TYPE_ constants, or MPI_UNDEFINED to take no part",
                       split_type);
    }
    if (row[WANT] > NODE_HW_MACHINE || row[WANT] == WANTS_NEXT_LEVEL) node_hw_of_process(row + RESOURCE);
    struct rows rows = {.words = HW_WORDS};
    int rc = rows_exchange(c, row, &rows), level = -1;
    for (int k = 0; rc == GW_OK && k < NODE_HW_KINDS && level < 0; k++)
        if (kind_divides(c, &rows, k)) level = k;
    if (rc == GW_OK) rc = parts_make(c, &rows, row, same_resource, level, comm_out);
    if (rc == GW_OK && *comm_out) rc = comm_set_info(*comm_out, info);
    assert(rc != GW_OK || !*comm_out || row[WANT] != WANTS_NEXT_LEVEL || level >= 0);
    if (rc == GW_OK && *comm_out && info && row[WANT] == WANTS_NEXT_LEVEL)
        rc = gw_info_set(info, "mpi_hw_resource_type", node_hw_names[level]);
    rows_free(&rows);
    return rc;
}
