/* join.c -- two worlds meet: first their roots over a socket, then all processes.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "world/join.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/base.h"
#include "base/retry.h"
#include "base/time.h"
#include "boot/alive.h"
#include "boot/boot.h"
#include "boot/port.h"
#include "boot/segment.h"
#include "node/node.h"
#include "plan/plan.h"

/* ---- sockets, with progress --------------------------------------------------------------------------------------- */
/* Where poll() fails for the moment: what else the kernel says of a descriptor. */
static bool seems_ready(int fd, short what)
{
    struct sockaddr_storage at;
    socklen_t bytes = sizeof at;
    char byte;
    if (fd < 0) return false;
    if (what == POLLOUT) return getpeername(fd, (struct sockaddr *)&at, &bytes) == 0;
    return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || (errno != EAGAIN && errno != EINTR); /* a gate: its owner looks */
}

static int wait_about(struct node_wait *w, const int fds[2], short what, uint64_t until_ns)
{
    enum { EAGERLY = 200 };
    struct gw_retry retry = {0};
    for (int i = 0;; i++) {
        struct pollfd p[2] = {{fds[0], what, 0}, {fds[1], what, 0}};
        int happened = req_progress();
        if (happened) i = 0, node_wait_reset(w);
        if (i > EAGERLY) node_wait_outside(w, "for another job");
        int n = poll(p, 2, i < EAGERLY ? 0 : 1);
        if (n > 0) return p[0].revents ? 0 : 1;
        if (n < 0 && errno != EINTR && !gw_retry_may(&retry, errno))
            gw_die("what another process says cannot be waited for (poll: %s)%s", strerror(errno), gw_error_advice(errno));
        if (n == 0) retry = (struct gw_retry){0};
        if (n < 0) {
            usleep(1000);
            if (seems_ready(fds[1], what)) return 1;
            if (seems_ready(fds[0], what)) return 0;
        }
        if (until_ns && gw_now_ns() >= until_ns) return -1;
    }
}

static int wait_for(const int fds[2], short what, uint64_t until_ns)
{
    struct node_wait w;
    node_wait_begin(&w);
    int which = wait_about(&w, fds, what, until_ns);
    node_wait_end(&w);
    return which;
}

int world_socket_wait(const int fds[2]) { return wait_for(fds, POLLIN, 0); }

int world_socket_wait_until(const int fds[2], uint64_t until_ns) { return wait_for(fds, POLLIN, until_ns); }

int world_socket_wait_out_until(int fd, uint64_t until_ns)
{
    assert(fd >= 0);
    return wait_for((int[2]){fd, -1}, POLLOUT, until_ns);
}

int world_deadline_from(struct gw_info *info, int64_t otherwise, double *seconds_out, uint64_t *until_ns_out)
{
    const char *text = gw_info_find(info, "timeout");
    char *end = NULL;
    double seconds = text ? strtod(text, &end) : (double)otherwise;
    if (text && (end == text || end[strspn(end, " ")] || !(seconds >= 0 && seconds <= 1e9)))
        return gw_fail(GW_EINFO_VALUE, "the info key timeout is \"%.64s\", which is not a number of seconds (0: never)", text);
    *seconds_out = seconds;
    *until_ns_out = seconds > 0 ? gw_now_ns() + (uint64_t)(seconds * 1e9) : 0;
    return GW_OK;
}

static int is_gone(void) { return gw_fail(GW_EOTHER, "the other side of the connection is gone (%s)", strerror(errno)); }

int world_socket_send(int fd, const void *data, size_t bytes)
{
    for (const char *p = data; bytes > 0;) {
        int64_t n = boot_port_write(fd, p, bytes);
        if (n < 0) return is_gone();
        if (n == 0) wait_for((int[2]){fd, -1}, POLLOUT, 0);
        p += n;
        bytes -= (size_t)n;
    }
    return GW_OK;
}

int world_socket_receive(int fd, void *data, size_t bytes)
{
    for (char *p = data; bytes > 0;) {
        int64_t n = boot_port_read(fd, p, bytes);
        if (n < 0) return is_gone();
        if (n == 0) wait_for((int[2]){fd, -1}, POLLIN, 0);
        p += n;
        bytes -= (size_t)n;
    }
    return GW_OK;
}

/* ---- the roots ------------------------------------------------------------------------------------------------------ */
#define JOIN_MAGIC UINT64_C(0x334e494f4a5747) /* "GWJOIN3" */
struct hello {
    uint64_t magic, host; /* host: boot_host_id() */
    uint32_t version;
    int32_t rank, size, tag; /* size: of its world; tag: of the listening side */
    struct boot_home home;
    int32_t is_spread, has_others; /* members of its communicator are on several hosts; are of other worlds */
    int32_t by_engine, none;       /* by_engine: the job was not started by our mpiexec */
    char job[BOOT_TIED_NAME];      /* a description for messages */
};
_Static_assert(sizeof(struct hello) == 64 + BOOT_TIED_NAME, "it travels between hosts");
enum { TAG_BITS = 30 };

/* An intracommunicator of the connecting and the listening process. */
static int bridge_comm(const int32_t numbers[2], struct gw_comm *c, struct gw_comm **comm_out)
{
    struct gw_group *two;
    assert(numbers[0] != numbers[1]);
    int rc = group_from_map(2, numbers, &two);
    if (rc != GW_OK) return rc;
    rc = comm_create_object(two, GW_CTX_ID_JOIN, c, comm_out);
    group_release(two);
    return rc;
}

static int hello_swap(int fd, bool listens, const struct gw_comm *c, struct hello *mine, struct hello *theirs, int *tag_out)
{
    *mine = (struct hello){.magic = JOIN_MAGIC,
                           .version = GODWIT_SHM_VERSION,
                           .rank = gw_boot.rank,
                           .size = gw_boot.size,
                           .tag = (int32_t)(boot_random() >> (64 - TAG_BITS)),
                           .home = boot_own_home(),
                           .host = boot_host_id(),
                           .is_spread = world_far_is_spread(c),
                           .by_engine = gw_boot.how == BOOT_PMIX || gw_boot.how == BOOT_PMI1 || gw_boot.how == BOOT_PMI2};
    boot_connected_name(mine->job);
    for (int i = 0; i < c->group->size; i++) mine->has_others |= group_world(c->group, i) >= gw_boot.size;
    int rc = world_socket_send(fd, mine, sizeof *mine);
    if (rc == GW_OK) rc = world_socket_receive(fd, theirs, sizeof *theirs);
    if (rc != GW_OK) return rc;
    if (theirs->magic != JOIN_MAGIC || theirs->version != GODWIT_SHM_VERSION)
        return gw_fail(GW_EOTHER, "the other side does not use this version of Godwit");
    if (theirs->tag < 0)
        return gw_fail(GW_EOTHER, "the other side says a tag of %d", theirs->tag); /* negative tags have other meanings */
    *tag_out = listens ? mine->tag : theirs->tag;
    return GW_OK;
}

/* Both sides tell each other whether they can go on; both go on, or neither. */
static int both_ok(int fd, int rc)
{
    int32_t mine = rc, theirs = 0;
    int told = world_socket_send(fd, &mine, sizeof mine);
    if (told == GW_OK) told = world_socket_receive(fd, &theirs, sizeof theirs);
    if (rc != GW_OK || told != GW_OK) return rc != GW_OK ? rc : told;
    return theirs == GW_OK ? GW_OK : gw_fail(GW_EOTHER, "the other side could not join this job");
}

/* The roots meet over the network: they exchange addresses, then the numbers by which they know each other. */
static int meet_far(int fd, const struct hello *theirs, struct node_other **o, int *other_out)
{
    char mine[PEER_AT] = "", at[PEER_AT];
    int32_t as = -1;
    int rc = both_ok(fd, peer_invite(mine));
    if (rc == GW_OK) rc = world_socket_send(fd, mine, sizeof mine);
    if (rc == GW_OK) rc = world_socket_receive(fd, at, sizeof at);
    if (rc != GW_OK) return rc;
    at[sizeof at - 1] = 0;
    rc = peer_meet_far(theirs->home.uid, theirs->size, o);
    int32_t number = rc == GW_OK ? node_far_put(*o, theirs->rank, at) : -1;
    if (rc == GW_OK && number < 0) rc = number;
    int told = world_socket_send(fd, &number, sizeof number);
    if (told == GW_OK) told = world_socket_receive(fd, &as, sizeof as);
    if (rc == GW_OK) rc = told;
    if (rc == GW_OK && as < 0) rc = gw_fail(GW_EOTHER, "the other side could not join this job");
    if (rc != GW_OK) return rc;
    node_far_set_as(number, as);
    *other_out = number;
    return GW_OK;
}

/* Finds the number of the other root. */
static int root_meet(int fd, const struct hello *mine, const struct hello *theirs, struct node_other **o, int *other_out)
{
    *other_out = -1;
    if (theirs->home.uid == mine->home.uid) {
        if (theirs->rank == gw_boot.rank) return gw_fail(GW_ECOMM, "a process cannot connect with itself");
        *other_out = theirs->rank < gw_boot.size ? theirs->rank : -1;
    } else if (theirs->host == mine->host && theirs->home.fd >= 0 && mine->home.fd >= 0) {
        int rc = peer_meet(&theirs->home, o);
        if (rc != GW_OK) return rc;
        *other_out = node_other_number(*o, theirs->rank);
    } else {
        int rc = meet_far(fd, theirs, o, other_out);
        if (rc != GW_OK) return rc;
    }
    return *other_out >= 0 ? GW_OK : gw_fail(GW_EOTHER, "the other side is no rank of its job");
}

/* Must the socket stay open as a tie?  It must if no mpiexec can tell one job that the other has failed. */
static bool must_tie(const struct hello *mine, const struct hello *theirs, bool is_far)
{
    return mine->home.uid != theirs->home.uid && (is_far || (mine->by_engine && theirs->by_engine));
}

int world_join_meet(int fd, bool listens, struct gw_comm *c, struct bridge *bridge_out)
{
    bool is_tied = false;
    struct hello mine, theirs;
    struct node_other *o = NULL;
    int tag = 0, other = -1, rc = hello_swap(fd, listens, c, &mine, &theirs, &tag);
    if (rc == GW_OK) {
        bool are_ours = mine.home.uid == theirs.home.uid && !mine.has_others && !theirs.has_others;
        bridge_out->is_far = !are_ours && (mine.host != theirs.host || mine.is_spread || theirs.is_spread);
        rc = root_meet(fd, &mine, &theirs, &o, &other);
        int32_t numbers[2] = {gw_boot.rank, other};
        if (listens) numbers[0] = other, numbers[1] = gw_boot.rank;
        bridge_out->comm = NULL;
        if (rc == GW_OK) rc = bridge_comm(numbers, c, &bridge_out->comm);
        rc = both_ok(fd, rc);
        if (rc != GW_OK && bridge_out->comm) comm_release(bridge_out->comm);
        is_tied = rc == GW_OK && !bridge_out->is_users && must_tie(&mine, &theirs, bridge_out->is_far);
        if (is_tied) boot_connected_add(fd, theirs.home.uid, theirs.job);
    }
    if (o) node_other_drop(o);
    if (!is_tied) close(fd);
    bridge_out->rank = listens ? 0 : 1;
    bridge_out->is_first = !listens;
    bridge_out->tag = tag;
    return rc;
}

/* ---- everybody ------------------------------------------------------------------------------------------------------ */
int world_join_check(struct gw_comm *c)
{
    if (!c->remote) return GW_OK;
    return gw_fail(GW_ECOMM, "comm is an intercommunicator; an intracommunicator is wanted");
}

/* Returns the error of the root with its text. */
static int root_says(struct gw_comm *c, int root, int told)
{
    char text[512];
    snprintf(text, sizeof text, "%s", c->rank == root ? gw_fail_text() : "");
    int rc = coll_bcast(text, sizeof text, gw_type_byte, root, c, NULL);
    if (rc != GW_OK || c->rank == root) return rc;
    text[sizeof text - 1] = 0;
    return gw_fail(told, "rank %d, the root, says: %s", root, text);
}

int world_join_comm(struct gw_comm *c, int root, int rc, struct bridge *bridge, struct gw_comm **comm_out)
{
    int said[3] = {rc, bridge->is_far, bridge->is_first}, sent = coll_bcast(said, 3, gw_type_int, root, c, NULL), told = said[0];
    bool is_root = c->rank == root;
    assert(!is_root || rc != GW_OK || bridge->comm);
    struct bridge b = {.comm = is_root ? bridge->comm : c,
                       .rank = is_root ? bridge->rank : 0,
                       .tag = bridge->tag,
                       .is_far = said[1],
                       .is_first = said[2]};
    if (sent == GW_OK && told != GW_OK) {
        sent = root_says(c, root, told);
        return is_root ? rc : sent;
    }
    if (rc == GW_OK) rc = sent;
    if (rc == GW_OK) rc = world_inter_create_over(c, root, &b, comm_out);
    if (is_root && told == GW_OK) comm_release(bridge->comm);
    world_connected_look();
    return rc;
}
