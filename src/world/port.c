/* port.c -- ports, connect and accept, join, disconnect (MPI 4.1 sections 11.8 to 11.10).
 *
 * A port is a socket that its opener listens on; its name is the socket's and the secret that lets in.  See doc/adr/0011, 0019.
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

#include "node/node.h"
#include "plan/plan.h"
#include "world/join.h"

static const char prefix[] = "godwit:";
_Static_assert(sizeof prefix + BOOT_PORT_TEXT <= GW_MAX_PORT_NAME, "a port's name fits");
struct port {
    struct gw_list link;
    struct boot_port port;
    struct boot_gate gate;
};
static struct gw_list ports = {&ports, &ports};
static struct gw_lock ports_lock;

static int bad_port(const char *name, const char *why)
{
    return gw_fail(GW_EPORT, "port_name is \"%.64s\": %s", name, why);
}

static int port_parse(const char *text, struct boot_port *port_out)
{
    if (strncmp(text, prefix, sizeof prefix - 1) != 0) return bad_port(text, "it is none that MPI_Open_port gave");
    return boot_port_parse(text + sizeof prefix - 1, port_out) ? GW_OK : bad_port(text, "it is damaged");
}

int world_open_port(char *port_name_out)
{
    struct port *p = malloc(sizeof *p);
    if (!p) return gw_fail(GW_ENOMEM, "no memory for a port");
    char text[BOOT_PORT_TEXT];
    int rc = boot_port_make(&p->port);
    if (rc == GW_OK && boot_gate_open(&p->gate, &p->port) != 0) rc = gw_fail(GW_EPORT, "no port can be opened: %s", strerror(errno));
    if (rc != GW_OK) {
        free(p);
        return GW_EPORT;
    }
    gw_lock(&ports_lock);
    gw_list_push(&ports, &p->link);
    gw_unlock(&ports_lock);
    boot_port_text(&p->port, text);
    snprintf(port_name_out, GW_MAX_PORT_NAME, "%s%s", prefix, text);
    return GW_OK;
}

/* The lock is held. */
static struct port *port_find(const struct boot_port *port)
{
    for (struct gw_list *l = ports.next; l != &ports; l = l->next) {
        struct port *p = container_of(l, struct port, link);
        if (p->port.name == port->name && boot_secret_equal(&p->port.secret, &port->secret)) return p;
    }
    return NULL;
}

int world_close_port(const char *port_name)
{
    struct boot_port port;
    int rc = port_parse(port_name, &port);
    if (rc != GW_OK) return rc;
    gw_lock(&ports_lock);
    struct port *p = port_find(&port);
    if (p) gw_list_del(&p->link);
    gw_unlock(&ports_lock);
    if (!p) return bad_port(port_name, "this process has not opened it, or has closed it");
    boot_gate_close(&p->gate);
    free(p);
    return GW_OK;
}

/* The next who connects; those who are gone again by then do not count. */
static int accept_root(const char *port_name, struct gw_comm *c, struct bridge *b)
{
    struct boot_port port;
    int rc = port_parse(port_name, &port);
    if (rc != GW_OK) return rc;
    gw_lock(&ports_lock);
    struct port *p = port_find(&port);
    gw_unlock(&ports_lock);
    if (!p) return bad_port(port_name, "this process has not opened it, or has closed it");
    if (!boot_is_on_one_host()) return join_no_nodes(); /* nobody would ever come */
    for (;;) {
        int fd = boot_gate_accept(&p->gate);
        if (fd >= 0) {
            rc = join_meet(fd, true, c, b);
            if (rc == GW_OK) return rc;
        } else if (errno == EAGAIN) {
            socket_wait((int[2]){p->gate.fd, -1});
        } else {
            return gw_fail(GW_EPORT, "no connection can be accepted: %s", strerror(errno));
        }
    }
}

static int connect_root(const char *port_name, struct gw_comm *c, struct bridge *b)
{
    struct boot_port port;
    int fd, rc = port_parse(port_name, &port);
    if (rc == GW_OK && !boot_is_on_one_host()) rc = join_no_nodes();
    if (rc != GW_OK) return rc;
    while ((fd = boot_port_connect(&port, 0)) < 0 && errno == EAGAIN) {
        req_progress();
        usleep(200); /* too many wait there */
    }
    if (fd < 0 && errno == ECONNREFUSED) return bad_port(port_name, "nobody on this host has it open, and a port reaches no other");
    if (fd < 0 && errno == EACCES) return bad_port(port_name, "it is closed, and a process of another user has taken its place");
    if (fd < 0) return gw_fail(GW_EPORT, "port_name is \"%.64s\": %s", port_name, strerror(errno));
    return join_meet(fd, false, c, b);
}

int world_comm_accept(const char *port_name, struct gw_info *info, int root, struct gw_comm *c,
                      struct gw_comm **comm_out)
{
    struct bridge b = {0};
    (void)info; /* no key means anything here */
    plan_enter(c, root);
    int rc = join_check(c);
    if (rc != GW_OK) return rc;
    world_sweep();
    if (c->rank == root) rc = accept_root(port_name, c, &b);
    return join_comm(c, root, rc, &b, comm_out);
}

int world_comm_connect(const char *port_name, struct gw_info *info, int root, struct gw_comm *c,
                       struct gw_comm **comm_out)
{
    struct bridge b = {0};
    (void)info;
    plan_enter(c, root);
    int rc = join_check(c);
    if (rc != GW_OK) return rc;
    world_sweep();
    if (c->rank == root) rc = connect_root(port_name, c, &b);
    return join_comm(c, root, rc, &b, comm_out);
}

/* ---- join: the user's socket carries a port of each, at which the smaller number listens, and whether the other could go there ---- */
static int fd_move(int fd, bool out, void *data, size_t bytes)
{
    for (char *p = data; bytes > 0;) {
        if (!out) socket_wait((int[2]){fd, -1});
        ssize_t n = out ? send(fd, p, bytes, MSG_NOSIGNAL) : recv(fd, p, bytes, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) continue;
        if (n <= 0)
            return gw_fail(GW_EOTHER, "fd %d: the socket %s", fd,
                           n < 0 ? strerror(errno) : "was closed at the other side");
        p += n;
        bytes -= (size_t)n;
    }
    return GW_OK;
}

static int not_here(int fd, int why)
{
    return gw_fail(GW_EOTHER, "fd %d: the other side is not on this host, or is another user's (%s)", fd, strerror(why));
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
        if (s < 0) rc = not_here(fd, told);
    } else if (rc == GW_OK) {
        int32_t told;
        rc = fd_move(fd, false, &told, sizeof told);
        if (rc == GW_OK && told) rc = not_here(fd, told);
        while (rc == GW_OK && (s = boot_gate_accept(&gate)) < 0) socket_wait((int[2]){gate.fd, -1});
    }
    if (rc != GW_OK && s >= 0) close(s);
    boot_gate_close(&gate);
    return rc == GW_OK ? join_meet(s, listens, &gw_comm_self, b) : rc;
}

int world_comm_join(int fd, struct gw_comm **comm_out)
{
    struct bridge b = {0};
    int type;
    socklen_t len = sizeof type;
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) != 0 || type != SOCK_STREAM)
        return gw_fail(GW_EARG, "fd is %d, which is not a connected stream socket", fd);
    world_sweep();
    return join_comm(&gw_comm_self, 0, join_root(fd, &b), &b, comm_out);
}

/* ---- disconnect ------------------------------------------------------------------------------------------------------ */
void world_sweep(void)
{
    if (p2p_is_quiet()) peer_sweep();
}

/* The members of our own world, where there are others, too, as their ranks in it, ascending: free(*ranks_out). */
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
    plan_enter(*c, 0);
    int rc = p2p_buffer_flush(*c);
    if (rc == GW_OK) rc = coll_barrier(*c, NULL); /* nobody goes while others still send to him */
    if (rc != GW_OK) return rc;
    rc = own_members(*c, &ranks, &n, &me);
    if (rc == GW_OK) rc = world_comm_free(c);
    /* When one of us returns all of our job have let go: if it fails then, the others' jobs do not. */
    if (rc == GW_OK && n > 1) rc = coll_group_allreduce(&gw_comm_world, ranks, n, me, tag, &nothing, 1, gw_op_max);
    free(ranks);
    if (rc == GW_OK) world_sweep();
    return rc;
}

GW_ONCE void world_finalize(void)
{
    for (struct gw_list *l = ports.next, *next; l != &ports; l = next) {
        struct port *p = container_of(l, struct port, link);
        next = l->next;
        gw_list_del(&p->link);
        boot_gate_close(&p->gate);
        free(p);
    }
    published_finalize();
    spawn_finalize();
}
