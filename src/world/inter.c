/* inter.c -- intercommunicators (MPI 4.1 section 7.6): create, merge, and what create from groups means for them.
 *
 * The leaders of the two groups talk over a bridge: at creation the user's peer communicator, afterwards the intercommunicator
 * itself between its ranks 0.  Everything else is done inside the groups.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "world/world_private.h"

#include <stdlib.h>

#include "base/base.h"
#include "plan/plan.h"

/* ---- the bridge ---------------------------------------------------------------------------------------------------------- */
/* The leaders exchange messages: n items are sent, m received. */
static int items_swap(const struct bridge *b, struct gw_type *t, const void *out, int n, void *in, int m)
{
    assert(n >= 0 && m >= 0);
    struct gw_req *r, *s;
    int got = p2p_stream_irecv(GW_STREAM_WORLD, in, m, t, b->rank, b->tag, b->comm, &r);
    if (got < 0) return got;
    bool waits = b->is_far && !b->is_first; /* see world_far_greet() */
    if (waits && got == GW_POSTED) got = p2p_stream_wait(r);
    int sent = p2p_stream_isend(GW_STREAM_WORLD, out, n, t, b->rank, b->tag, b->comm, &s);
    if (sent == GW_POSTED) sent = p2p_stream_wait(s);
    if (got == GW_POSTED) got = p2p_stream_wait(r);
    return sent < 0 ? sent : got;
}

int world_bridge_combine(const struct bridge *b, int64_t *values, int nvalues, struct gw_op *op)
{
    enum { MAX = 8 };
    assert(nvalues > 0 && nvalues <= MAX);
    int64_t theirs[MAX] = {0};
    int rc = items_swap(b, gw_type_int64, values, nvalues, theirs, nvalues);
    if (rc == GW_OK) op_reduce(op, theirs, values, nvalues, gw_type_int64);
    return rc;
}

static int leaders_swap(const struct bridge *b, const int32_t *mine, int n, int32_t **theirs_out, int *n_out)
{
    *n_out = -1;
    int rc = items_swap(b, gw_type_int, &n, 1, n_out, 1);
    if (rc != GW_OK) return rc;
    if (*n_out < 0) return gw_fail(GW_EOTHER, "the leader of the remote group says that it has %d words", *n_out);
    int32_t *theirs = calloc((size_t)*n_out + 1, sizeof *theirs); /* zeroed, because fewer may come */
    if (!theirs) return gw_fail(GW_ENOMEM, "no memory for %d words of the remote group", *n_out);
    rc = items_swap(b, gw_type_int, mine, n, theirs, *n_out);
    if (rc != GW_OK)
        free(theirs);
    else
        *theirs_out = theirs;
    return rc;
}

int world_bridge_swap(struct gw_comm *local, int leader, const struct bridge *b, const int32_t *mine, int n, int32_t **theirs_out,
                      int *n_out)
{
    int32_t *theirs = NULL;
    int m = 0, rc = local->rank == leader ? leaders_swap(b, mine, n, &theirs, &m) : GW_OK;
    /* A leader that has failed tells its group. */
    int answer = rc == GW_OK ? m : rc, told = coll_bcast(&answer, 1, gw_type_int, leader, local, NULL);
    if (rc != GW_OK) return rc;
    if (told == GW_OK && answer < 0)
        told = gw_fail(answer, "the leader (rank %d) could not talk to that of the remote group", leader);
    if (told == GW_OK && !theirs) {
        m = answer;
        theirs = malloc(sizeof *theirs * ((size_t)m + 1));
        if (!theirs) told = gw_fail(GW_ENOMEM, "no memory for %d words of the remote group", m);
    }
    if (told == GW_OK) told = coll_bcast(theirs, m, gw_type_int, leader, local, NULL);
    if (told != GW_OK) {
        free(theirs);
        return told;
    }
    *theirs_out = theirs;
    *n_out = m;
    return GW_OK;
}

/* ---- create ---------------------------------------------------------------------------------------------------------------- */
static int leader_check(struct gw_comm *local, int local_leader, struct gw_comm *peer, int remote_leader)
{
    if (local->remote) return gw_fail(GW_ECOMM, "local_comm is an intercommunicator; it must be an intracommunicator");
    if (local_leader < 0 || local_leader >= local->size)
        return gw_fail(GW_ERANK, "local_leader is %d; local_comm has ranks 0 to %d", local_leader, local->size - 1);
    if (local->rank != local_leader) return GW_OK; /* peer_comm and remote_leader are significant at the leader only */
    if (remote_leader < 0 || remote_leader >= peer->targets)
        return gw_fail(GW_ERANK, "remote_leader is %d; peer_comm has ranks 0 to %d", remote_leader, peer->targets - 1);
    if (!peer->remote && remote_leader == peer->rank)
        return gw_fail(GW_ERANK, "remote_leader is %d, which is this process: it cannot be in both groups", remote_leader);
    return GW_OK;
}

static int disjoint_check(struct gw_group *a, struct gw_group *b)
{
    struct gw_group *both;
    int rc = group_intersection(a, b, &both);
    if (rc != GW_OK) return rc;
    int n = both->size, who = n ? group_world(both, 0) : 0;
    group_release(both);
    if (!n) return GW_OK;
    return gw_fail(GW_ECOMM, "the two groups must not overlap: %d processes are in both, the first is rank %d of MPI_COMM_WORLD", n,
                   who);
}

/* Makes the group of the other side.  Worlds that meet for the first time may fail to do so: then all members return the error. */
static int remote_join(struct gw_comm *local, int leader, const struct bridge *b, const int32_t *mine, const int32_t *theirs, int n,
                       struct gw_group **group_out)
{
    struct party p;
    int rc = world_names_group(theirs, n, group_out);
    if (!world_names_are_whole(theirs, n) || !world_names_differ(mine, theirs)) return rc;
    int64_t failed = rc != GW_OK;
    int agreed = world_party_whole(local, leader, &p);
    if (agreed != GW_OK) return agreed;
    p.bridge = b;
    agreed = world_party_agree(&p, &failed, 1);
    free(p.ranks);
    if (rc != GW_OK || (agreed == GW_OK && !failed)) return rc;
    group_release(*group_out);
    return agreed != GW_OK ? agreed : gw_fail(GW_EOTHER, "another process could not join the other group's job");
}

/* The group at the other end of the bridge; collective over local. */
static int remote_of(struct gw_comm *local, int leader, const struct bridge *b, struct gw_group **group_out)
{
    int32_t *mine, *theirs = NULL;
    struct contact *contacts = NULL;
    int n_mine, n = 0, unmet = b->is_far ? world_far_contacts(local, &contacts) : GW_OK;
    /* A side that cannot be met sends an empty group. */
    int rc = unmet == GW_OK ? world_names_of(local->group, contacts, &mine, &n_mine) : world_names_of_nobody(&mine, &n_mine);
    free(contacts);
    if (rc != GW_OK) return rc;
    rc = world_bridge_swap(local, leader, b, mine, n_mine, &theirs, &n);
    if (rc == GW_OK) rc = remote_join(local, leader, b, mine, theirs, n, group_out);
    if (rc == GW_OK) {
        rc = unmet;
        if (rc == GW_OK && (*group_out)->size == 0)
            rc = gw_fail(GW_EOTHER, "the processes of the other side cannot be reached from here, as their errors say");
        if (rc == GW_OK && b->is_far) rc = world_far_introduce(local, leader, b, mine, theirs, *group_out);
        if (rc != GW_OK) group_release(*group_out);
    }
    free(theirs);
    free(mine);
    return rc;
}

int world_intercomm_create(struct gw_comm *local, int local_leader, struct gw_comm *peer, int remote_leader, int tag,
                           struct gw_comm **comm_out)
{
    int rc = leader_check(local, local_leader, peer, remote_leader);
    if (rc != GW_OK) return rc;
    struct bridge b = {.comm = peer, .rank = remote_leader, .tag = tag};
    plan_call_begin(local, PLAN_MAKING, local_leader);
    rc = world_inter_create_over(local, local_leader, &b, comm_out);
    plan_call_end(local);
    return rc;
}

int world_inter_create_over(struct gw_comm *local, int local_leader, const struct bridge *b, struct gw_comm **comm_out)
{
    struct gw_group *remote;
    int rc = remote_of(local, local_leader, b, &remote);
    if (rc != GW_OK) return rc;
    rc = disjoint_check(local->group, remote);
    struct party p;
    if (rc == GW_OK) rc = world_party_whole(local, local_leader, &p);
    if (rc == GW_OK) {
        uint32_t id;
        p.bridge = b;
        rc = world_id_agree(&p, 2, &id);
        if (rc == GW_OK) rc = comm_create_inter(local->group, remote, id, local, comm_out);
        free(p.ranks);
    }
    group_release(remote);
    return rc == GW_OK && b->is_far ? world_far_greet(*comm_out, b->is_first) : rc;
}

/* ---- merge ----------------------------------------------------------------------------------------------------------------- */
/* Does the group of this process come second?  If both give the same value of `high`, the group whose rank 0 is lower in MPI_COMM_WORLD
 * comes first. */
static int merge_order(struct gw_comm *c, int high, bool *second_out)
{
    enum { MIXED = 2 };
    struct bridge b = bridge_whole(c);
    int mine[2] = {high, -high}, all[2], n, rc = coll_allreduce(mine, all, 2, gw_type_int, gw_op_max, c->local, NULL);
    if (rc != GW_OK) return rc;
    int32_t said = all[0] == -all[1] ? all[0] : MIXED, *theirs;
    rc = world_bridge_swap(c->local, 0, &b, &said, 1, &theirs, &n);
    if (rc != GW_OK) return rc;
    int other = n == 1 ? theirs[0] : MIXED;
    free(theirs);
    if (said == MIXED || other == MIXED)
        return gw_fail(GW_EARG, "high must be equal on all members of a group; the %s group has both",
                       said == MIXED ? "local" : "remote");
    *second_out = said != other ? said > other : world_names_order(c->group, c->remote) > 0;
    return GW_OK;
}

int world_intercomm_merge(struct gw_comm *c, int high, struct gw_comm **comm_out)
{
    if (!c->remote) return gw_fail(GW_ECOMM, "intercomm is an intracommunicator: it has no groups to merge");
    bool second = false;
    struct gw_group *both;
    uint32_t id;
    plan_enter(c, PLAN_MAKING, GW_ANY_SOURCE);
    int rc = merge_order(c, high != 0, &second);
    if (rc == GW_OK) rc = world_id_agree_whole(c, 1, &id);
    if (rc == GW_OK) rc = second ? group_union(c->remote, c->group, &both) : group_union(c->group, c->remote, &both);
    if (rc != GW_OK) return rc;
    rc = comm_create_object(both, id, c, comm_out);
    group_release(both); /* the communicator holds it */
    return rc;
}

/* ---- create from groups ------------------------------------------------------------------------------------------------------ */
int world_sides_join(struct gw_comm *c, struct gw_group *local, struct gw_group *remote, uint32_t id, struct gw_comm **comm_out)
{
    assert(local->size >= 0);
    *comm_out = NULL;
    if (local->size == 0 || (c->remote && remote->size == 0)) return GW_OK;
    return c->remote ? comm_create_inter(local, remote, id, c, comm_out) : comm_create_object(local, id, c, comm_out);
}

int world_inter_create(struct gw_comm *c, struct gw_group *group, struct gw_comm **comm_out)
{
    struct bridge b = bridge_whole(c);
    struct gw_group *remote = NULL;
    int32_t *ours = NULL, *theirs = NULL;
    uint32_t id;
    plan_enter(c, PLAN_MAKING, GW_ANY_SOURCE);
    int n = 0, n_ours = 0, rc = world_group_within(group, c);
    if (rc == GW_OK) rc = world_names_of(group, NULL, &ours, &n_ours);
    if (rc == GW_OK) rc = world_bridge_swap(c->local, 0, &b, ours, n_ours, &theirs, &n);
    if (rc == GW_OK) rc = world_names_group(theirs, n, &remote);
    if (rc == GW_OK) rc = world_id_agree_whole(c, 2, &id);
    if (rc == GW_OK && group->rank != GW_UNDEFINED)
        rc = world_sides_join(c, group, remote, id, comm_out);
    else if (rc == GW_OK)
        *comm_out = NULL;
    if (remote) group_release(remote);
    free(theirs);
    free(ours);
    return rc;
}
