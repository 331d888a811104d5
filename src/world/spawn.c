/* spawn.c -- starting more processes (MPI 4.1 section 11.8): a launcher starts them, then they connect to a port of the root.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/base.h"
#include "base/lock.h"
#include "boot/boot.h"
#include "boot/name.h"
#include "boot/port.h"
#include "node/node.h"
#include "plan/plan.h"
#include "world/join.h"
#include "world/order.h"

static struct gw_comm *parent;
/* Connections to launchers that this process has started: such a launcher ends its job when the connection closes without a message. */
struct launcher {
    int fd;
    uint64_t uid;   /* of the world that it started */
    bool is_parted; /* this process has no connection to that world any more, and has told the launcher */
};
static struct {
    struct launcher *at;
    int n;
    struct gw_lock lock;
} launchers;

/* ---- the request ---------------------------------------------------------------------------------------------------- */
struct text {
    char *at;
    size_t n, cap;
};

static void put_word(struct text *t, const char *word)
{
    assert(t->n <= t->cap);
    size_t n = strlen(word) + 1;
    if (t->n + n > t->cap) t->at = gw_xrealloc(t->at, t->cap = 2 * t->cap + n);
    memcpy(t->at + t->n, word, n);
    t->n += n;
}

static void put_pair(struct text *t, const char *name, const char *value)
{
    put_word(t, name);
    put_word(t, value);
}

/* Lines NAME=VALUE. */
static void put_env(struct text *t, const char *lines)
{
    for (const char *p = lines; *p; p += strcspn(p, "\n"), p += *p == '\n') {
        int n = (int)strcspn(p, "\n");
        char *line = gw_xasprintf("%.*s", n, p);
        if (memchr(p, '=', (size_t)n)) put_pair(t, "env", line);
        free(line);
    }
}

/* The info keys that name hosts: that of the standard, and those of MPICH and Open MPI. */
static const struct {
    const char *key, *word;
} place_keys[] = {{"host", "host"},
                  {"hosts", "host"},
                  {"add-host", "host"},
                  {"add_host", "host"},
                  {"hostfile", "hostfile"},
                  {"add-hostfile", "hostfile"},
                  {"add_hostfile", "hostfile"}};

static bool asks_for_hosts(const struct order *o)
{
    for (size_t i = 0; i < GW_ARRAY_LEN(place_keys); i++)
        if (world_order_key(o, place_keys[i].key)) return true;
    return false;
}

static void put_program(struct text *t, const struct order *o)
{
    static const char *const said[] = {"wdir", "path", "soft", "file"};
    char n[16], asked[16], here[4096];
    const char *patience = world_order_key(o, "timeout"); /* seconds until MPI_Init of the children; without it there is no limit */
    const char *handler = world_order_key(o, "mpi_initial_errhandler"), *env = world_order_key(o, "env");
    snprintf(n, sizeof n, "%d", o->n);
    snprintf(asked, sizeof asked, "%d", o->program->n);
    put_pair(t, "program", o->program->command);
    put_pair(t, "n", n);
    put_pair(t, "asked", asked);
    if (getcwd(here, sizeof here)) put_pair(t, "here", here);
    for (size_t i = 0; i < GW_ARRAY_LEN(said); i++)
        if (world_order_key(o, said[i])) put_pair(t, said[i], world_order_key(o, said[i]));
    for (size_t i = 0; i < GW_ARRAY_LEN(place_keys); i++)
        if (world_order_key(o, place_keys[i].key)) put_pair(t, place_keys[i].word, world_order_key(o, place_keys[i].key));
    if (patience) put_pair(t, "timeout", patience);
    if (handler) put_pair(t, "errhandler", handler);
    if (env) put_env(t, env);
    for (char **a = o->program->argv; a && *a; a++) put_pair(t, "arg", *a);
}

/* ---- the root ------------------------------------------------------------------------------------------------------- */
/* Why processes were not started: the program at fault, and the number for which there is room (-1: that was not the reason). */
struct fault {
    int app, room;
};

/* Reads the answer of the launcher. */
static int answer_read(int ctl, struct fault *fault_out)
{
    struct boot_spawn_answer a;
    enum { TEXT = 1024 };
    char text[TEXT + 1] = "";
    int rc = world_socket_receive(ctl, &a, sizeof a);
    if (rc == GW_OK)
        rc = a.text_bytes < 0 || a.text_bytes > TEXT ? GW_EINTERN : world_socket_receive(ctl, text, (size_t)a.text_bytes);
    if (rc != GW_OK) return gw_fail(GW_ESPAWN, "the launcher is gone");
    *fault_out = (struct fault){a.app, a.room};
    text[strcspn(text, "\n")] = 0;
    return a.app < 0 ? GW_OK : gw_fail(a.bad_value ? GW_EINFO_VALUE : GW_ESPAWN, "%s", text);
}

/* Waits until the first rank of the new world connects, or the launcher reports a failure. */
static int children_meet(int ctl, struct boot_gate *gate, struct gw_comm *c, struct bridge *b, struct fault *fault_out)
{
    for (;;) {
        if (world_socket_wait((int[2]){gate->fd, ctl}) == 1) return answer_read(ctl, fault_out);
        int fd = boot_gate_accept(gate);
        if (fd < 0 && gate->is_stuck)
            return gw_fail(GW_ESPAWN, "the new processes cannot connect to this one (accept4: %s)%s", strerror(errno),
                           gw_error_advice(errno));
        if (fd < 0) continue;
        int rc = world_join_meet(fd, true, c, b);
        if (rc != GW_OK) *fault_out = (struct fault){0, -1};
        return rc;
    }
}

static void launcher_keep(int ctl, const struct bridge *b)
{
    struct boot_home home;
    int rank_there;
    node_name_of(group_world(b->comm->group, b->rank), &home, &rank_there);
    gw_lock(&launchers.lock);
    launchers.at = gw_xrealloc(launchers.at, sizeof *launchers.at * (size_t)(launchers.n + 1));
    launchers.at[launchers.n++] = (struct launcher){ctl, home.uid, false};
    gw_unlock(&launchers.lock);
}

/* Tells launchers of worlds with which this process is no longer connected.  Their ranks may tell them too late, if this process ends right
 * after it has disconnected. */
void world_spawn_look(void)
{
    gw_lock(&launchers.lock);
    for (int i = 0; i < launchers.n; i++) {
        struct launcher *l = &launchers.at[i];
        bool is_parted = !node_other_is_held(l->uid);
        char word = is_parted ? BOOT_SPAWN_BYE : BOOT_SPAWN_JOINED;
        if (is_parted != l->is_parted && boot_port_write(l->fd, &word, 1) == 1) l->is_parted = is_parted;
    }
    gw_unlock(&launchers.lock);
}

/* Forgets launchers that have ended. */
static void launchers_drop(void)
{
    char byte;
    int n = 0;
    gw_lock(&launchers.lock);
    for (int i = 0; i < launchers.n; i++) {
        if (boot_port_read(launchers.at[i].fd, &byte, 1) == 0)
            launchers.at[n++] = launchers.at[i];
        else
            close(launchers.at[i].fd);
    }
    launchers.n = n;
    gw_unlock(&launchers.lock);
}

/* Adds the port to which the children connect, with an address for those on other hosts.  Without a network the launcher refuses to start
 * children there. */
static void put_parent(struct text *t, const struct boot_port *port, struct boot_gate *gate, int n_programs,
                       const struct order *orders)
{
    char text[BOOT_PORT_TEXT + 1 + BOOT_ADDRESS_TEXT];
    struct sockaddr_storage at;
    bool may_be_far = gw_boot.how == BOOT_PMIX || gw_boot.how == BOOT_PMI1 || gw_boot.how == BOOT_PMI2;
    for (int i = 0; i < n_programs; i++) may_be_far = may_be_far || asks_for_hosts(&orders[i]);
    boot_port_text(port, text);
    if (may_be_far && peer_address(&at) == GW_OK && boot_gate_open_far(gate, &at) == 0) {
        strcat(text, "@");
        boot_address_text(&at, text + strlen(text));
    }
    put_pair(t, "parent", text);
}

/* Asks a launcher to start as many processes of each program as are ordered now. */
static int spawn_these(int n_programs, const struct order *orders, struct gw_comm *c, struct bridge *b, struct fault *fault_out)
{
    assert(n_programs > 0);
    struct text t = {0};
    char text[BOOT_PORT_TEXT];
    struct boot_port port;
    struct boot_gate gate;
    bool is_alone;
    int ctl = -1, rc;
    *fault_out = (struct fault){0, -1};
    if (boot_port_make(&port) != GW_OK) return GW_ESPAWN;
    if (boot_gate_open(&gate, &port) != 0) return gw_fail(GW_ESPAWN, "no socket for the new processes: %s", strerror(errno));
    put_parent(&t, &port, &gate, n_programs, orders);
    snprintf(text, sizeof text, "%016llx", (unsigned long long)boot_own_home().uid);
    put_pair(&t, "world", text);
    for (int i = 0; i < n_programs; i++) put_program(&t, &orders[i]);
    put_word(&t, "");
    rc = boot_spawner(&ctl, &is_alone);
    if (rc == GW_OK) rc = world_socket_send(ctl, t.at, t.n);
    if (rc == GW_OK) rc = answer_read(ctl, fault_out);
    if (rc == GW_OK) rc = children_meet(ctl, &gate, c, b, fault_out);
    if (rc == GW_OK) rc = world_socket_send(ctl, is_alone ? "J" : "JB", is_alone ? 1 : 2);
    if (ctl >= 0 && is_alone && rc == GW_OK)
        launcher_keep(ctl, b);
    else if (ctl >= 0)
        close(ctl);
    boot_gate_close(&gate);
    free(t.at);
    return rc;
}

/* Starts the largest numbers for which there is room. */
static int spawn_root(int n_programs, struct order *orders, struct gw_comm *c, struct bridge *b, int *app_out)
{
    struct fault fault = {0, -1};
    int rc = GW_OK;
    launchers_drop();
    for (int total; (total = world_orders_total(n_programs, orders)) > 0;) {
        rc = spawn_these(n_programs, orders, c, b, &fault);
        if (rc != GW_ESPAWN || fault.room < 0 || fault.room >= total || !world_orders_shrink(n_programs, orders, fault.room)) break;
        rc = GW_OK;
    }
    *app_out = fault.app;
    return rc;
}

static _Thread_local int codes_written; /* of the last call in this thread */
int world_spawn_codes(void) { return codes_written; }

/* ---- everybody ------------------------------------------------------------------------------------------------------ */
/* Shares the result: codes[] get an error class for all processes of the program at fault, and for those that there was no room for.  The
 * root sends a range of processes [from, to) for each program. */
static int codes_share(struct gw_comm *c, int root, int rc, int app, int n_programs, const struct order *orders, int *codes,
                       bool *nobody_out)
{
    int said[3] = {0, n_programs, rc == GW_OK}; /* processes; programs; whether any was started */
    int *failed = NULL;
    if (c->rank == root) {
        failed = gw_xcalloc((size_t)n_programs + 1, 2 * sizeof *failed);
        for (int i = 0; i < n_programs; i++) {
            int all = (int)gw_min64(gw_max64(orders[i].program->n, 0), INT_MAX - said[0]);
            failed[2 * i] = said[0] + (rc == GW_OK ? orders[i].n : i == app ? 0 : all);
            failed[2 * i + 1] = said[0] += all;
        }
        said[2] = rc == GW_OK && world_orders_total(n_programs, orders) == 0 ? 0 : 1;
    }
    int told = coll_bcast(said, 3, gw_type_int, root, c, NULL);
    if (told == GW_OK && (said[0] < 0 || said[1] < 0))
        told = gw_fail(GW_EOTHER, "the root started %d programs of %d processes", said[1], said[0]);
    if (told != GW_OK) said[0] = said[1] = 0;
    if (!failed) failed = gw_xcalloc((size_t)said[1] + 1, 2 * sizeof *failed);
    if (told == GW_OK) told = coll_bcast(failed, 2 * said[1], gw_type_int, root, c, NULL);
    for (int i = 0; codes && told == GW_OK && i < said[0]; i++) codes[i] = GW_SUCCESS;
    for (int p = 0; codes && told == GW_OK && p < said[1]; p++)
        for (int i = failed[2 * p] > 0 ? failed[2 * p] : 0; i < failed[2 * p + 1] && i < said[0]; i++) codes[i] = GW_ERR_SPAWN;
    free(failed);
    codes_written = told == GW_OK ? said[0] : 0;
    *nobody_out = !said[2];
    return told;
}

static int spawn(int n_programs, const struct world_program *programs, int root, struct gw_comm *c, struct gw_comm **comm_out,
                 int *codes)
{
    struct bridge b = {0};
    struct order *orders = NULL;
    int app = -1;
    bool nobody = false;
    codes_written = 0;
    int rc = world_join_check(c);
    if (rc != GW_OK) return rc;
    world_sweep();
    if (c->rank == root) {
        orders = gw_xcalloc((size_t)n_programs + 1, sizeof *orders);
        rc = world_orders_begin(n_programs, programs, orders, &app);
        if (rc == GW_OK) rc = spawn_root(n_programs, orders, c, &b, &app);
    }
    int told = codes_share(c, root, rc, app, n_programs, orders, codes, &nobody);
    if (orders) world_orders_end(n_programs, orders);
    free(orders);
    if (rc == GW_OK && told != GW_OK) rc = told;
    *comm_out = NULL;
    return rc == GW_OK && nobody ? GW_OK : world_join_comm(c, root, rc, &b, comm_out);
}

int world_comm_spawn(int n_programs, const struct world_program *programs, int root, struct gw_comm *c, struct gw_comm **comm_out,
                     int *codes)
{
    plan_call_begin(c, PLAN_MAKING, root);
    int rc = spawn(n_programs, programs, root, c, comm_out, codes);
    plan_call_end(c);
    return rc;
}

int world_comm_get_parent(struct gw_comm **comm_out)
{
    *comm_out = parent;
    return GW_OK;
}

GW_ONCE int world_meet_parent(void)
{
    struct bridge b = {0};
    struct gw_comm *c = &gw_comm_world;
    int rc = GW_OK;
    enum { PATIENCE_MS = 20000 };
    if (!gw_boot.parent.name) return rc;
    if (c->rank == 0) {
        int fd = boot_parent_connect(PATIENCE_MS);
        rc = fd < 0 ? gw_fail(GW_EOTHER, "those who spawned this job are gone: %s", strerror(errno))
                    : world_join_meet(fd, false, c, &b);
    }
    rc = world_join_comm(c, 0, rc, &b, &parent);
    return rc == GW_OK ? comm_set_name(parent, "MPI_COMM_PARENT") : rc;
}

void world_spawn_freed(const struct gw_comm *c)
{
    if (c == parent) parent = NULL;
}

GW_ONCE void world_spawn_finalize(void)
{
    if (parent) comm_release(parent);
    parent = NULL;
    for (int i = 0; i < launchers.n; i++) {
        char bye = BOOT_SPAWN_BYE;
        int fd = launchers.at[i].fd;
        /* Waits for connected jobs that this process has started: there is no mpiexec that would end them if they hang. */
        while (node_other_is_held(launchers.at[i].uid) && boot_port_read(fd, &(char){0}, 1) == 0)
            world_socket_wait((int[2]){fd, -1});
        boot_port_write(fd, &bye, 1);
        close(fd);
    }
    free(launchers.at);
    launchers.at = NULL;
    launchers.n = 0;
}
