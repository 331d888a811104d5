/* join.c -- two worlds meet: their roots over a socket, then everybody.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "world/join.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "node/node.h"
#include "plan/plan.h"

/* ---- sockets, with progress --------------------------------------------------------------------------------------- */
static int wait_for(const int fds[2], short what)
{
    enum { EAGERLY = 200 };
    for (int i = 0;; i++) {
        struct pollfd p[2] = {{fds[0], what, 0}, {fds[1], what, 0}};
        int happened = req_progress();
        if (happened) i = 0;
        if (poll(p, 2, i < EAGERLY ? 0 : 1) <= 0) continue;
        return p[0].revents ? 0 : 1;
    }
}

int socket_wait(const int fds[2])
{
    return wait_for(fds, POLLIN);
}

static int is_gone(void)
{
    return gw_fail(GW_EOTHER, "the other side of the connection is gone (%s)", strerror(errno));
}

int socket_send(int fd, const void *data, size_t bytes)
{
    for (const char *p = data; bytes > 0;) {
        int64_t n = boot_port_write(fd, p, bytes);
        if (n < 0) return is_gone();
        if (n == 0) wait_for((int[2]){fd, -1}, POLLOUT);
        p += n;
        bytes -= (size_t)n;
    }
    return GW_OK;
}

int socket_receive(int fd, void *data, size_t bytes)
{
    for (char *p = data; bytes > 0;) {
        int64_t n = boot_port_read(fd, p, bytes);
        if (n < 0) return is_gone();
        if (n == 0) wait_for((int[2]){fd, -1}, POLLIN);
        p += n;
        bytes -= (size_t)n;
    }
    return GW_OK;
}

/* ---- the roots ------------------------------------------------------------------------------------------------------ */
#define JOIN_MAGIC UINT64_C(0x314e494f4a5747) /* "GWJOIN1" */
struct hello {
    uint64_t magic;
    uint32_t version;
    int32_t rank, tag; /* tag: of the one who listens */
    struct boot_home home;
};
enum { TAG_BITS = 30 };

/* An intracommunicator of the one who connected and the one who listened. */
static int bridge_comm(const int32_t numbers[2], struct gw_comm *c, struct gw_comm **comm_out)
{
    struct gw_group *two;
    int rc = group_from_map(2, numbers, &two);
    if (rc != GW_OK) return rc;
    rc = comm_create_object(two, GW_CTX_ID_JOIN, c, comm_out);
    group_release(two);
    return rc;
}

static int hello_swap(int fd, bool listens, struct hello *theirs, int *tag_out)
{
    struct hello mine = {JOIN_MAGIC, GODWIT_SHM_VERSION, gw_boot.rank, (int32_t)(boot_random() >> (64 - TAG_BITS)),
                         boot_own_home()};
    int rc = socket_send(fd, &mine, sizeof mine);
    if (rc == GW_OK) rc = socket_receive(fd, theirs, sizeof *theirs);
    if (rc != GW_OK) return rc;
    if (theirs->magic != JOIN_MAGIC || theirs->version != GODWIT_SHM_VERSION)
        return gw_fail(GW_EOTHER, "the other side does not use this version of Godwit");
    *tag_out = listens ? mine.tag : theirs->tag;
    return GW_OK;
}

int join_no_nodes(void)
{
    return gw_fail(GW_EUNSUPPORTED,
                   "this job has ranks on %d nodes; a job reaches other jobs through the memory of one machine: run both on one "
                   "host, or start all processes as one job",
                   gw_boot.nnodes);
}

/* Each says whether it can go on; both go on, or neither. */
static int both_ok(int fd, int rc)
{
    int32_t mine = rc, theirs = 0;
    int told = socket_send(fd, &mine, sizeof mine);
    if (told == GW_OK) told = socket_receive(fd, &theirs, sizeof theirs);
    if (rc != GW_OK || told != GW_OK) return rc != GW_OK ? rc : told;
    return theirs == GW_OK ? GW_OK : gw_fail(GW_EOTHER, "the other side could not join this job");
}

int join_meet(int fd, bool listens, struct gw_comm *c, struct bridge *bridge_out)
{
    struct hello theirs;
    struct node_other *o = NULL;
    int tag = 0, rc = hello_swap(fd, listens, &theirs, &tag);
    if (rc == GW_OK) {
        bool is_own = theirs.home.uid == boot_own_home().uid;
        if (!is_own && !boot_is_on_one_host()) rc = join_no_nodes();
        if (!is_own && rc == GW_OK) rc = peer_meet(&theirs.home, &o);
        int other = o ? node_other_number(o, theirs.rank) : theirs.rank < gw_boot.size ? theirs.rank : -1;
        if (rc == GW_OK && other < 0)
            rc = gw_fail(GW_EOTHER, "the other side is no rank of its job");
        if (rc == GW_OK && is_own && theirs.rank == gw_boot.rank)
            rc = gw_fail(GW_ECOMM, "a process cannot connect with itself");
        int32_t numbers[2] = {gw_boot.rank, other};
        if (listens) numbers[0] = other, numbers[1] = gw_boot.rank;
        bridge_out->comm = NULL;
        if (rc == GW_OK) rc = bridge_comm(numbers, c, &bridge_out->comm);
        rc = both_ok(fd, rc);
        if (rc != GW_OK && bridge_out->comm) comm_release(bridge_out->comm);
    }
    if (o) node_other_drop(o);
    close(fd);
    bridge_out->rank = listens ? 0 : 1;
    bridge_out->tag = tag;
    return rc;
}

/* ---- everybody ------------------------------------------------------------------------------------------------------ */
int join_check(struct gw_comm *c)
{
    if (!c->remote) return GW_OK;
    return gw_fail(GW_ECOMM, "comm is an intercommunicator; an intracommunicator is wanted");
}

int join_comm(struct gw_comm *c, int root, int rc, struct bridge *bridge, struct gw_comm **comm_out)
{
    int told = rc, sent = coll_bcast(&told, 1, gw_type_int, root, c, NULL);
    bool is_root = c->rank == root;
    if (rc == GW_OK && sent == GW_OK && told != GW_OK)
        rc = told == GW_EUNSUPPORTED && !boot_is_on_one_host() ? join_no_nodes()
                                                                : gw_fail(told, "the root (rank %d) could not do it", root);
    if (rc == GW_OK) rc = sent;
    if (rc == GW_OK)
        rc = world_intercomm_create(c, root, is_root ? bridge->comm : c, is_root ? bridge->rank : 0,
                                    is_root ? bridge->tag : 0, comm_out);
    if (is_root && told == GW_OK) comm_release(bridge->comm);
    return rc;
}
