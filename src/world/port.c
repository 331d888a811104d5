/* port.c -- ports, connect and accept, join, disconnect (MPI 4.1 sections 11.8 to 11.10).
 *
 * A port is a socket on which its opener listens.  Its name consists of the name of the socket and the secret that a connection must show
 * (doc/adr/0011, 0019).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/base.h"
#include "base/lock.h"
#include "base/settings.h"
#include "base/time.h"
#include "boot/alive.h"
#include "boot/boot.h"
#include "boot/port.h"
#include "node/node.h"
#include "plan/plan.h"
#include "world/join.h"

static const char prefix[] = "godwit:";
_Static_assert(sizeof prefix + BOOT_PORT_TEXT + BOOT_ADDRESS_TEXT <= GW_MAX_PORT_NAME, "a port's name fits");
struct port {
    struct gw_list link;
    struct boot_port port;
    struct boot_gate gate;
};
/* What this process has opened. */
static struct {
    struct gw_lock lock;
    struct gw_list list;
} ports = {.list = {&ports.list, &ports.list}};

/* Reports a port name without its secret, which must not get into logs. */
static int bad_port(const char *name, const char *why)
{
    size_t shown =
        strncmp(name, prefix, sizeof prefix - 1) == 0 ? sizeof prefix - 1 + strcspn(name + sizeof prefix - 1, ":") : strlen(name);
    return gw_fail(GW_EPORT, "port_name is \"%.*s%s\": %s", (int)gw_min64((int64_t)shown, 64), name, name[shown] ? ":..." : "",
                   why);
}

/* Reads "godwit:NAME:SECRET", with "@192.0.2.2:4000" behind it if other hosts may connect.  far_out (may be NULL): ss_family 0 if they may
 * not. */
static int port_parse(const char *text, struct boot_port *port_out, struct sockaddr_storage *far_out)
{
    if (strncmp(text, prefix, sizeof prefix - 1) != 0) return bad_port(text, "it is none that MPI_Open_port gave");
    if (!boot_place_parse(text + sizeof prefix - 1, port_out, far_out)) return bad_port(text, "it is damaged");
    return GW_OK;
}

/* May processes of other hosts connect?  By the setting port_reach; its default is yes for jobs of an engine or on several hosts. */
bool world_port_is_for_hosts(void)
{
    if (gw_set.port_reach != GW_SET_PORT_REACH_AUTO) return gw_set.port_reach == GW_SET_PORT_REACH_HOSTS;
    return !boot_is_on_one_host() || gw_boot.how == BOOT_PMIX || gw_boot.how == BOOT_PMI1 || gw_boot.how == BOOT_PMI2;
}

/* Opens the port for other hosts; far: the address to append to the name.  Without a network the port serves this host only, which is an
 * error if port_reach asks for hosts, or the job is on several. */
static int open_for_hosts(struct port *p, char far[1 + BOOT_ADDRESS_TEXT])
{
    struct sockaddr_storage at;
    far[0] = 0;
    if (!world_port_is_for_hosts()) return GW_OK;
    int rc = peer_may_invite();
    if (rc == GW_OK) rc = peer_address(&at);
    if (rc == GW_OK && boot_gate_open_far(&p->gate, &at) != 0)
        rc = gw_fail(GW_EPORT, "no port for other hosts can be opened: %s", strerror(errno));
    /* A job on several hosts connects with none where it cannot by the network, whoever comes. */
    if (rc != GW_OK) return gw_set.port_reach == GW_SET_PORT_REACH_HOSTS || !boot_is_on_one_host() ? rc : GW_OK;
    far[0] = '@';
    boot_address_text(&at, far + 1);
    return GW_OK;
}

int world_open_port(char *port_name_out)
{
    struct port *p = malloc(sizeof *p);
    if (!p) return gw_fail(GW_ENOMEM, "no memory for a port");
    char text[BOOT_PORT_TEXT], far[1 + BOOT_ADDRESS_TEXT];
    int rc = boot_port_make(&p->port);
    bool is_open = rc == GW_OK && boot_gate_open(&p->gate, &p->port) == 0;
    if (rc == GW_OK && !is_open) rc = gw_fail(GW_EPORT, "no port can be opened: %s", strerror(errno));
    if (is_open) rc = open_for_hosts(p, far);
    if (rc != GW_OK) {
        if (is_open) boot_gate_close(&p->gate);
        free(p);
        return GW_EPORT;
    }
    gw_lock(&ports.lock);
    gw_list_push(&ports.list, &p->link);
    gw_unlock(&ports.lock);
    boot_port_text(&p->port, text);
    snprintf(port_name_out, GW_MAX_PORT_NAME, "%s%s%s", prefix, text, far);
    return GW_OK;
}

/* The lock is held. */
static struct port *port_find(const struct boot_port *port)
{
    for (struct gw_list *l = ports.list.next; l != &ports.list; l = l->next) {
        struct port *p = container_of(l, struct port, link);
        if (p->port.name == port->name && boot_secret_equal(&p->port.secret, &port->secret)) return p;
    }
    return NULL;
}

int world_close_port(const char *port_name)
{
    struct boot_port port;
    int rc = port_parse(port_name, &port, NULL);
    if (rc != GW_OK) return rc;
    gw_lock(&ports.lock);
    struct port *p = port_find(&port);
    if (p) gw_list_del(&p->link);
    gw_unlock(&ports.lock);
    if (!p) return bad_port(port_name, "this process has not opened it, or has closed it");
    boot_gate_close(&p->gate);
    free(p);
    return GW_OK;
}

/* Accepts the next connection whose process is still there. */
static int accept_root(const char *port_name, struct gw_info *info, struct gw_comm *c, struct bridge *b)
{
    struct boot_port port;
    char why[96];
    double seconds;
    uint64_t until_ns;
    int rc = port_parse(port_name, &port, NULL);
    if (rc == GW_OK) rc = world_deadline_from(info, 0, &seconds, &until_ns);
    if (rc != GW_OK) return rc;
    gw_lock(&ports.lock);
    struct port *p = port_find(&port);
    gw_unlock(&ports.lock);
    if (!p) return bad_port(port_name, "this process has not opened it, or has closed it");
    for (;;) {
        int fd = boot_gate_accept(&p->gate);
        if (fd >= 0) {
            rc = world_join_meet(fd, true, c, b);
            if (rc == GW_OK) return rc;
        } else if (p->gate.is_stuck) {
            return gw_fail(GW_EPORT, "no connection can be accepted (accept4: %s)%s", strerror(errno), gw_error_advice(errno));
        } else if (world_socket_wait_until((int[2]){p->gate.fd, -1}, until_ns) < 0) {
            snprintf(why, sizeof why, "nobody has connected there for %g s (info key timeout)", seconds);
            return bad_port(port_name, why);
        }
    }
}

static int nobody_accepts(const char *port_name, struct gw_info *info, double seconds)
{
    char why[256];
    snprintf(why, sizeof why,
             "nobody has accepted there for %g s (%s); its owner must call MPI_Comm_accept, or this call wait longer: %s", seconds,
             gw_info_find(info, "timeout") ? "info key timeout" : "GODWIT_CONNECT_TIMEOUT",
             "info key timeout=SECONDS, or GODWIT_CONNECT_TIMEOUT, 0: for ever");
    return bad_port(port_name, why);
}

/* Waits until the owner of the port accepts, who sends first.  Closing a port closes the connections that wait at it. */
static int accepted_wait(int fd, const char *port_name, struct gw_info *info, double seconds, uint64_t until_ns)
{
    char byte;
    if (world_socket_wait_until((int[2]){fd, -1}, until_ns) < 0) return nobody_accepts(port_name, info, seconds);
    if (recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 1) return GW_OK;
    return bad_port(port_name,
                    "it was closed before anybody accepted there, or its process has ended; ask its owner for a port that is open");
}

/* Connects over the network and shows the secret. */
static int connect_far(const char *port_name, const struct boot_port *port, const struct sockaddr_storage *at, uint64_t until_ns,
                       int *fd_out)
{
    char where[BOOT_ADDRESS_TEXT], why[256];
    int fd = boot_far_connect(at), err = fd < 0 ? errno : 0;
    socklen_t bytes = sizeof err;
    if (fd >= 0 && world_socket_wait_out_until(fd, until_ns) < 0) err = ETIMEDOUT;
    if (fd >= 0 && !err) getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &bytes);
    if (!err && world_socket_send(fd, &port->secret, sizeof port->secret) == GW_OK) {
        *fd_out = fd;
        return GW_OK;
    }
    if (fd >= 0) close(fd);
    boot_address_text(at, where);
    snprintf(why, sizeof why,
             "no process of this host has it open, and at %s: %s; was it closed, has its process ended, or is there a firewall?",
             where, err ? strerror(err) : "the connection broke");
    return bad_port(port_name, why);
}

static int connect_near(const char *port_name, const struct boot_port *port, struct gw_info *info, double seconds,
                        uint64_t until_ns, bool *not_here_out, int *fd_out)
{
    int fd;
    while ((fd = boot_port_connect(port, 0)) < 0 && errno == EAGAIN) {
        if (until_ns && gw_now_ns() >= until_ns) return nobody_accepts(port_name, info, seconds);
        req_progress();
        usleep(200); /* the queue of the listener is full */
    }
    *fd_out = fd;
    *not_here_out = fd < 0 && errno == ECONNREFUSED;
    if (fd >= 0 || *not_here_out) return GW_OK;
    int why = errno;
    char text[512];
    snprintf(text, sizeof text, "%s%s", why == EACCES ? "it is closed, and " : "", boot_port_why(why));
    return bad_port(port_name, text);
}

static int connect_root(const char *port_name, struct gw_info *info, struct gw_comm *c, struct bridge *b)
{
    struct boot_port port;
    struct sockaddr_storage at;
    double seconds;
    uint64_t until_ns;
    bool is_not_here = false;
    int fd = -1, rc = port_parse(port_name, &port, &at);
    if (rc == GW_OK) rc = world_deadline_from(info, gw_set.connect_timeout, &seconds, &until_ns);
    if (rc == GW_OK) rc = connect_near(port_name, &port, info, seconds, until_ns, &is_not_here, &fd);
    if (rc != GW_OK) return rc;
    if (is_not_here && !at.ss_family)
        return bad_port(port_name,
                        "nobody on this host has it open: was it closed, or has its process ended? Other hosts reach it only where "
                        "the job that opens it is started with GODWIT_PORT_REACH=hosts");
    if (is_not_here) rc = connect_far(port_name, &port, &at, until_ns, &fd);
    if (rc != GW_OK) return rc;
    assert(fd >= 0);
    rc = accepted_wait(fd, port_name, info, seconds, until_ns);
    if (rc == GW_OK) return world_join_meet(fd, false, c, b);
    close(fd);
    return rc;
}

int world_comm_accept(const char *port_name, struct gw_info *info, int root, struct gw_comm *c, struct gw_comm **comm_out)
{
    struct bridge b = {0};
    int rc = world_join_check(c);
    if (rc != GW_OK) return rc;
    plan_call_begin(c, PLAN_MAKING, root);
    world_sweep();
    if (c->rank == root) rc = accept_root(port_name, info, c, &b);
    rc = world_join_comm(c, root, rc, &b, comm_out);
    plan_call_end(c);
    return rc;
}

int world_comm_connect(const char *port_name, struct gw_info *info, int root, struct gw_comm *c, struct gw_comm **comm_out)
{
    struct bridge b = {0};
    int rc = world_join_check(c);
    if (rc != GW_OK) return rc;
    plan_call_begin(c, PLAN_MAKING, root);
    world_sweep();
    if (c->rank == root) rc = connect_root(port_name, info, c, &b);
    rc = world_join_comm(c, root, rc, &b, comm_out);
    plan_call_end(c);
    return rc;
}

/* ---- join: the user's socket carries a port of each, at which the smaller number listens, and whether the other could go there.  Where it
 * could not, the two are on different hosts, or of different users there, and go on by the user's socket itself. ---- */
static int fd_move(int fd, bool out, void *data, size_t bytes)
{
    for (char *p = data; bytes > 0;) {
        if (!out) world_socket_wait((int[2]){fd, -1});
        ssize_t n = out ? send(fd, p, bytes, MSG_NOSIGNAL) : recv(fd, p, bytes, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) continue;
        if (n <= 0) return gw_fail(GW_EOTHER, "fd %d: the socket %s", fd, n < 0 ? strerror(errno) : "was closed at the other side");
        p += n;
        bytes -= (size_t)n;
    }
    return GW_OK;
}

static int socket_copy(int fd, int *rc_out)
{
    int s = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (s < 0) *rc_out = gw_fail(GW_EOTHER, "fd %d: %s", fd, strerror(errno));
    return s;
}

static int join_root(int fd, struct bridge *b)
{
    enum { PATIENCE_MS = 20000 };
    struct boot_port mine, theirs = {0};
    struct boot_gate gate;
    int s = -1, rc = boot_port_make(&mine);
    if (rc != GW_OK) return rc;
    if (boot_gate_open(&gate, &mine) != 0) return gw_fail(GW_EOTHER, "no socket: %s", strerror(errno));
    rc = fd_move(fd, true, &mine, sizeof mine);
    if (rc == GW_OK) rc = fd_move(fd, false, &theirs, sizeof theirs);
    bool listens = mine.name < theirs.name;
    if (rc == GW_OK && !listens) {
        s = boot_port_connect(&theirs, PATIENCE_MS);
        int32_t told = s < 0 ? errno : 0;
        rc = fd_move(fd, true, &told, sizeof told);
        b->is_users = s < 0;
        if (s < 0 && rc == GW_OK) s = socket_copy(fd, &rc);
    } else if (rc == GW_OK) {
        int32_t told;
        rc = fd_move(fd, false, &told, sizeof told);
        b->is_users = rc == GW_OK && told;
        if (b->is_users) s = socket_copy(fd, &rc);
        while (rc == GW_OK && s < 0 && (s = boot_gate_accept(&gate)) < 0) {
            if (gate.is_stuck)
                rc = gw_fail(GW_EOTHER, "the connection of the other process cannot be accepted (accept4: %s)%s", strerror(errno),
                             gw_error_advice(errno));
            else
                world_socket_wait((int[2]){gate.fd, -1});
        }
    }
    if (rc != GW_OK && s >= 0) close(s);
    boot_gate_close(&gate);
    return rc == GW_OK ? world_join_meet(s, listens, &gw_comm_self, b) : rc;
}

int world_comm_join(int fd, struct gw_comm **comm_out)
{
    struct bridge b = {0};
    int type;
    socklen_t len = sizeof type;
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) != 0 || type != SOCK_STREAM)
        return gw_fail(GW_EARG, "fd is %d, which is not a connected stream socket", fd);
    world_sweep();
    return world_join_comm(&gw_comm_self, 0, join_root(fd, &b), &b, comm_out);
}

/* ---- connected jobs ---- */
void world_connected_look(void)
{
    uint64_t uid;
    for (int i = 0; boot_connected_at(i, &uid);)
        if (node_other_is_held(uid))
            i++;
        else
            boot_connected_part(uid);
    world_spawn_look();
}

/* ---- disconnect ------------------------------------------------------------------------------------------------------ */
void world_sweep(void)
{
    if (p2p_is_quiet()) peer_sweep();
}

/* The members of c that are of our own world, as ascending ranks in it; the caller frees *ranks_out.  None if all are of our world. */
static int own_members(const struct gw_comm *c, int **ranks_out, int *n_out, int *me_out)
{
    const struct gw_group *groups[2] = {c->group, c->remote};
    int total = c->group->size + (c->remote ? c->remote->size : 0), n = 0;
    bool *is_member = calloc((size_t)gw_boot.size, sizeof *is_member);
    int *ranks = malloc(sizeof *ranks * (size_t)gw_boot.size);
    *ranks_out = ranks;
    *n_out = *me_out = 0;
    if (!is_member || !ranks) {
        free(is_member);
        return gw_fail(GW_ENOMEM, "no memory for a list of %d ranks", gw_boot.size);
    }
    for (int k = 0; k < 2; k++)
        for (int i = 0; groups[k] && i < groups[k]->size; i++)
            if (group_world(groups[k], i) < gw_boot.size) is_member[group_world(groups[k], i)] = true, total--;
    for (int i = 0; i < gw_boot.size && total > 0; i++) {
        if (i == gw_boot.rank) *me_out = n;
        if (is_member[i]) ranks[n++] = i;
    }
    free(is_member);
    *n_out = n;
    return GW_OK;
}

int world_comm_disconnect(struct gw_comm **c)
{
    enum { TAG_PART = INT_MIN }; /* and the number of the communicator */
    if ((*c)->obj.predefined) return gw_fail(GW_ECOMM, "%s cannot be disconnected", (*c)->name);
    int *ranks, n, me, tag = TAG_PART + (int)((*c)->ctx >> GW_STREAM_BITS);
    int64_t nothing = 0;
    plan_call_begin(*c, PLAN_MAKING, GW_ANY_SOURCE);
    int rc = p2p_buffer_flush(*c);
    if (rc == GW_OK) rc = coll_barrier(*c, NULL); /* no process leaves while others still send to it */
    plan_call_end(*c);
    if (rc != GW_OK) return rc;
    rc = own_members(*c, &ranks, &n, &me);
    if (rc == GW_OK) rc = world_comm_free(c);
    world_connected_look();
    /* When the first process returns, all processes of its job have disconnected: if it fails afterwards, the other jobs do not. */
    if (rc == GW_OK && n > 1) rc = coll_group_allreduce(&gw_comm_world, ranks, n, me, tag, &nothing, 1, gw_op_max);
    free(ranks);
    if (rc == GW_OK) world_sweep();
    return rc;
}

GW_ONCE void world_finalize(void)
{
    for (struct gw_list *l = ports.list.next, *next; l != &ports.list; l = next) {
        struct port *p = container_of(l, struct port, link);
        next = l->next;
        gw_list_del(&p->link);
        boot_gate_close(&p->gate);
        free(p);
    }
    boot_connected_part(0);
    world_published_finalize();
    world_spawn_finalize();
}
