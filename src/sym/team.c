/* team.c -- teams: communicators whose members are numbered as the program says (OpenSHMEM 1.6 section 9.4), and the teams of active sets.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "sym/sym_private.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/os.h"
#include "boot/boot.h"
#include "world/world.h"

#define SYM_TEAM_MAGIC 0x6d6165742d796d73u

static struct sym_team world_team, shared_team;
static struct {
    pthread_mutex_t lock;
    struct sym_team *first; /* all but the two predefined ones */
} teams = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct sym_team *sym_team_named(const char *call, const char *argument, sym_team_id id)
{
    sym_begun(call);
    if (id == SYM_TEAM_WORLD) return &world_team;
    if (id == SYM_TEAM_SHARED) return &shared_team;
    if (id == SYM_TEAM_INVALID) return NULL;
    if (!sym_handle_is(id, SYM_TEAM_MAGIC))
        sym_refuse(call, "%s is 0x%llx, which is no team, or one that was destroyed; it must be predefined or come from a split",
                   argument, (unsigned long long)id);
    return (struct sym_team *)id;
}

sym_team_id sym_team_id_of(const struct sym_team *t)
{
    return t == &world_team ? SYM_TEAM_WORLD : t == &shared_team ? SYM_TEAM_SHARED : (sym_team_id)t;
}

struct gw_comm *sym_team_comm(const char *call, struct sym_team *t)
{
    if (likely(t->comm != NULL)) return t->comm;
    sym_must(call,
             world_comm_create_from_group(t->group, t->is_set ? "godwit://shmem/set" : "godwit://shmem/shared", NULL,
                                          &gw_errors_return, &t->comm));
    comm_set_name(t->comm, t->is_set ? "an active set" : "SHMEM_TEAM_SHARED");
    return t->comm;
}

/* ---- the predefined ones ---- */
int sym_teams_open(struct gw_comm *world)
{
    world_team = (struct sym_team){.magic = SYM_TEAM_MAGIC, .comm = world};
    shared_team = (struct sym_team){.magic = SYM_TEAM_MAGIC};
    comm_set_name(world, "SHMEM_TEAM_WORLD"); /* for reports of what hangs */
    int rc = comm_group(world, &world_team.group);
    return rc == GW_OK ? group_from_map(gw_boot.nlocal, gw_boot.local_to_world, &shared_team.group) : rc;
}

/* ---- life of the others ---- */
static struct sym_team *team_new(struct gw_group *group, struct gw_comm *comm)
{
    struct sym_team *t = gw_xcalloc(1, sizeof *t);
    *t = (struct sym_team){.magic = SYM_TEAM_MAGIC, .group = group, .comm = comm};
    pthread_mutex_lock(&teams.lock);
    t->next = teams.first;
    teams.first = t;
    pthread_mutex_unlock(&teams.lock);
    return t;
}

static void team_empty(struct sym_team *t)
{
    sym_ctxs_end(t);
    if (t->group) group_release(t->group);
    t->group = NULL;
    sym_handle_end(t);
}

static void team_end(const char *call, struct sym_team *t)
{
    pthread_mutex_lock(&teams.lock);
    struct sym_team **at = &teams.first;
    while (*at != t) at = &(*at)->next;
    *at = t->next;
    pthread_mutex_unlock(&teams.lock);
    struct gw_comm *comm = t->comm;
    team_empty(t);
    free(t);
    if (comm) sym_must(call, world_comm_end(&comm));
}

/* Communicators are ended by one PE alone here: all PEs have met, and nothing is under way. */
void sym_teams_close(void)
{
    while (teams.first) team_end("shmem_finalize", teams.first);
    struct gw_comm *shared = shared_team.comm;
    team_empty(&shared_team);
    team_empty(&world_team);
    if (shared) sym_must("shmem_finalize", world_comm_end(&shared));
    world_team.comm = NULL;
}

/* ---- questions ---- */
int godwit_sym_team_pe(const char *call, sym_team_id team)
{
    struct sym_team *t = sym_team_of(call, team);
    return t ? t->group->rank : -1;
}

int godwit_sym_team_pes(const char *call, sym_team_id team)
{
    struct sym_team *t = sym_team_of(call, team);
    return t ? t->group->size : -1;
}

int godwit_sym_team_config(const char *call, sym_team_id team, long mask, struct sym_team_config *config_out)
{
    struct sym_team *t = sym_team_of(call, team);
    if (!t) return 1;
    if (mask & SYM_TEAM_NUM_CONTEXTS) config_out->num_contexts = t->config.num_contexts;
    return 0;
}

int godwit_sym_team_translate(const char *call, sym_team_id from, int pe, sym_team_id to)
{
    struct sym_team *a = sym_team_named(call, "src_team", from), *b = sym_team_named(call, "dest_team", to);
    int out = GW_UNDEFINED;
    if (!a || !b || pe < 0 || pe >= a->group->size) return -1;
    sym_must(call, group_translate_ranks(a->group, 1, &pe, b->group, &out));
    return out == GW_UNDEFINED ? -1 : out;
}

/* ---- splits ---- */
/* The team of these members of the parent, in this order; all PEs of the parent call, and give the same members or sets that have none in common. */
static void split_off(const char *call, struct sym_team *parent, const int *members, int n, const struct sym_split *how)
{
    struct gw_group *group;
    struct gw_comm *comm = NULL;
    sym_race_acquire();
    sym_must(call, group_incl(parent->group, n, members, &group));
    sym_must(call, world_comm_create(sym_team_comm(call, parent), group, &comm));
    if (!comm) {
        group_release(group);
        return;
    }
    comm_set_name(comm, "a team");
    struct sym_team *t = team_new(group, comm);
    if (how->config && how->mask & SYM_TEAM_NUM_CONTEXTS) t->config = *how->config;
    *how->team_out = (sym_team_id)t;
}

/* Do start, stride and size name `size` different members of n? */
static bool triplet_is_right(int start, int stride, int size, int n)
{
    int64_t last = start + (int64_t)stride * (size - 1);
    return size >= 1 && start >= 0 && start < n && last >= 0 && last < n && (stride != 0 || size == 1);
}

int godwit_sym_team_split(const char *call, sym_team_id parent, int start, int stride, int size, struct sym_split split)
{
    struct sym_team *p = sym_team_named(call, "parent_team", parent);
    *split.team_out = SYM_TEAM_INVALID;
    sym_call_enter(BOOT_CALL_shmem_team_split_strided);
    if (p) SYM_CHECK_ALIKE(call, sym_team_comm(call, p), call, {"start", start}, {"stride", stride}, {"size", size});
    if (!p || !triplet_is_right(start, stride, size, p->group->size)) return 1;
    int *members = gw_xmalloc(sizeof *members * (size_t)size);
    for (int i = 0; i < size; i++) members[i] = start + i * stride;
    split_off(call, p, members, size, &split);
    free(members);
    return 0;
}

int godwit_sym_team_split_2d(const char *call, sym_team_id parent, int xrange, struct sym_split x, struct sym_split y)
{
    struct sym_team *p = sym_team_named(call, "parent_team", parent);
    *x.team_out = *y.team_out = SYM_TEAM_INVALID;
    sym_call_enter(BOOT_CALL_shmem_team_split_2d);
    if (p) SYM_CHECK_ALIKE(call, sym_team_comm(call, p), call, {"xrange", xrange});
    if (!p || xrange < 1) return 1;
    int size = p->group->size, me = p->group->rank, n = 0;
    if (xrange > size) xrange = size;
    int *members = gw_xmalloc(sizeof *members * (size_t)size);
    for (int pe = me - me % xrange; pe < size && n < xrange; pe++) members[n++] = pe;
    split_off(call, p, members, n, &x);
    n = 0;
    for (int pe = me % xrange; pe < size; pe += xrange) members[n++] = pe;
    split_off(call, p, members, n, &y);
    free(members);
    return 0;
}

struct color { /* of a member of the parent */
    int color, key, pe;
};
static int color_order(const void *a, const void *b)
{
    const struct color *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : x->pe - y->pe;
}

void godwit_sym_team_split_color(const char *call, sym_team_id parent, int color, int key, sym_team_id *team_out)
{
    struct sym_team *p = sym_team_named(call, "parent_team", parent);
    *team_out = SYM_TEAM_INVALID;
    if (!p) return;
    struct gw_comm *c = sym_team_comm(call, p);
    sym_call_enter(BOOT_CALL_shmemx_team_split_color);
    SYM_CHECK_ALIKE(call, c, call);
    struct color mine = {color, key, c->rank}, *all = gw_xmalloc(sizeof *all * (size_t)c->size);
    int *members = gw_xmalloc(sizeof *members * (size_t)c->size), n = 0;
    const int64_t bytes = (int64_t)sizeof mine;
    sym_must(call, coll_allgather(&mine, bytes, gw_type_byte, all, bytes, gw_type_byte, c, NULL));
    qsort(all, (size_t)c->size, sizeof *all, color_order);
    for (int i = 0; color >= 0 && i < c->size; i++)
        if (all[i].color == color) members[n++] = all[i].pe;
    split_off(call, p, members, n, &(struct sym_split){.team_out = team_out});
    free(members);
    free(all);
}

void godwit_sym_team_destroy(const char *call, sym_team_id team)
{
    struct sym_team *t = sym_team_of(call, team);
    if (!t) return;
    if (t == &world_team || t == &shared_team)
        sym_refuse(call, "team is %s, which is predefined; it must be one that a split has made",
                   t == &world_team ? "SHMEM_TEAM_WORLD" : "SHMEM_TEAM_SHARED");
    team_end(call, t);
}

/* ---- active sets ---- */
static bool set_is(const struct sym_team *t, struct sym_set s)
{
    return t->is_set && t->set.start == s.start && t->set.log_stride == s.log_stride && t->set.size == s.size;
}

static struct sym_team *set_find(struct sym_set s)
{
    pthread_mutex_lock(&teams.lock);
    struct sym_team *t = teams.first;
    while (t && !set_is(t, s)) t = t->next;
    pthread_mutex_unlock(&teams.lock);
    return t;
}

static struct sym_team *set_make(struct sym_set s)
{
    struct gw_group *group;
    int32_t *pes = gw_xmalloc(sizeof *pes * (size_t)s.size);
    for (int i = 0; i < s.size; i++) pes[i] = s.start + (i << s.log_stride);
    int rc = group_from_map(s.size, pes, &group);
    free(pes);
    if (rc != GW_OK) return NULL;
    struct sym_team *t = team_new(group, NULL);
    t->is_set = true;
    t->set = s;
    return t;
}

sym_team_id godwit_sym_set(const char *call, struct sym_set s)
{
    sym_begun(call);
    if (s.size == 1) s.log_stride = 0; /* it leads nowhere */
    if (s.start == 0 && s.size == gw_boot.size && s.log_stride == 0) return SYM_TEAM_WORLD;
    int64_t stride = s.log_stride >= 0 && s.log_stride < 31 ? INT64_C(1) << s.log_stride : -1;
    if (stride < 0 || s.start < 0 || s.size < 1 || s.start + stride * (s.size - 1) >= gw_boot.size)
        sym_refuse(call, "PE_start %d, logPE_stride %d, PE_size %d are not all among the PEs 0 to %d", s.start, s.log_stride,
                   s.size, gw_boot.size - 1);
    int64_t from = gw_boot.rank - (int64_t)s.start;
    if (from < 0 || from % stride != 0 || from / stride >= s.size)
        sym_refuse(call, "this PE (%d) does not belong to the active set (PE_start %d, logPE_stride %d, PE_size %d)", gw_boot.rank,
                   s.start, s.log_stride, s.size);
    struct sym_team *t = set_find(s);
    if (!t) t = set_make(s);
    if (!t) sym_refuse(call, "%s", gw_fail_text());
    return (sym_team_id)t;
}
