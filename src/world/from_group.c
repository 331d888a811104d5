/* from_group.c -- communicators of groups, without a parent (MPI 4.1 sections 7.4.2 and 7.6.2): those of the Sessions Model.
 *
 * Only the members of the group call these functions.  They agree on a context id by messages on the library's own world communicator.  The
 * tag of the messages is a hash of the string and the members, so communicators that are made at the same time do not mix.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "world/world_private.h"
#include "base/base.h"
#include "base/hash.h"

#include <stdlib.h>

/* A negative tag, different from TAG_WHOLE. */
static int tag_of(const struct gw_group *g, const char *stringtag, const char *purpose)
{
    uint64_t h = gw_hash(gw_hash(GW_HASH_SEED, purpose, strlen(purpose) + 1), stringtag, strlen(stringtag));
    for (int i = 0; i < g->size; i++) {
        int32_t w = group_world(g, i);
        h = gw_hash(h, &w, sizeof w);
    }
    return -1024 - (int)((h ^ h >> 32) & 0x3fffffff);
}

static int arguments_check(const struct gw_group *g, const char *name, const char *stringtag, const struct gw_errhandler *eh)
{
    if (eh->applies_to != GW_KIND_NONE && eh->applies_to != GW_KIND_COMM)
        return gw_fail(GW_EERRHANDLER, "this error handler was not made by MPI_Comm_create_errhandler");
    if (strlen(stringtag) >= GW_MAX_STRINGTAG_LEN)
        return gw_fail(GW_EARG, "stringtag has %zu characters; %d is the most", strlen(stringtag), GW_MAX_STRINGTAG_LEN - 1);
    if (g->size > 0 && g->rank == GW_UNDEFINED) return gw_fail(GW_EGROUP, "the calling process is not a member of %s", name);
    return GW_OK;
}

static int party_of_group(const struct gw_group *g, int tag, struct party *out)
{
    *out = (struct party){.c = &gw_comm_world, .n = g->size, .me = g->rank, .tag = tag};
    out->ranks = malloc(sizeof *out->ranks * (size_t)g->size);
    if (!out->ranks) return gw_fail(GW_ENOMEM, "no memory for %d ranks", g->size);
    for (int i = 0; i < g->size; i++) out->ranks[i] = group_world(g, i);
    return GW_OK;
}

/* more: of the party; none: n_more 0. */
static int intra_make(struct gw_group *g, int tag, struct gw_errhandler *eh, struct party more, struct gw_comm **comm_out)
{
    struct party p;
    uint32_t id;
    int rc = party_of_group(g, tag, &p);
    if (rc != GW_OK) return rc;
    p.more = more.more;
    p.n_more = more.n_more;
    p.is_node = more.is_node;
    rc = world_id_agree(&p, 1, &id);
    free(p.ranks);
    if (rc == GW_OK) rc = comm_create_object(g, id, &gw_comm_world, comm_out);
    if (rc != GW_OK) return rc;
    comm_join(*comm_out, g->family);
    return comm_set_errhandler(*comm_out, eh);
}

int world_comm_create_from_group(struct gw_group *g, const char *stringtag, struct gw_info *info, struct gw_errhandler *eh,
                                 struct gw_comm **comm_out)
{
    struct gw_comm *c = NULL;
    int rc = arguments_check(g, "group", stringtag, eh);
    if (rc != GW_OK) return rc;
    if (g->size > 0) rc = intra_make(g, tag_of(g, stringtag, "comm"), eh, (struct party){0}, &c);
    if (rc == GW_OK && c) rc = comm_set_info(c, info);
    if (rc == GW_OK) *comm_out = c;
    return rc;
}

int world_comm_meet(struct gw_group *g, const char *stringtag, int64_t *values, int n, struct gw_comm **comm_out)
{
    return intra_make(g, tag_of(g, stringtag, "comm"), &gw_errors_return,
                      (struct party){.more = values, .n_more = n, .is_node = g->size == gw_boot.size && gw_comm_world.one_node},
                      comm_out);
}

int world_intercomm_create_from_groups(struct gw_group *local, int local_leader, struct gw_group *remote, int remote_leader,
                                       const char *stringtag, struct gw_info *info, struct gw_errhandler *eh,
                                       struct gw_comm **comm_out)
{
    struct gw_comm *mine, *c;
    int rc = arguments_check(local, "local_group", stringtag, eh), other = GW_UNDEFINED;
    if (rc != GW_OK) return rc;
    if (local->size == 0) {
        *comm_out = NULL;
        return GW_OK;
    }
    if (local_leader < 0 || local_leader >= local->size)
        return gw_fail(GW_ERANK, "local_leader is %d; local_group has %d members", local_leader, local->size);
    if (local->rank == local_leader) {
        if (remote_leader < 0 || remote_leader >= remote->size)
            return gw_fail(GW_ERANK, "remote_leader is %d; remote_group has %d members", remote_leader, remote->size);
        other = group_world(remote, remote_leader);
    }
    rc = intra_make(local, tag_of(local, stringtag, "intercomm"), eh, (struct party){0}, &mine);
    if (rc != GW_OK) return rc;
    /* The tag of the leaders comes from the string alone, because neither group knows the order of the members in the other one. */
    rc = world_intercomm_create(mine, local_leader, &gw_comm_world, other, tag_of(&gw_group_empty, stringtag, "leaders"), &c);
    comm_release(mine);
    if (rc == GW_OK) rc = comm_set_info(c, info);
    if (rc == GW_OK) *comm_out = c;
    return rc;
}
