/* spawn.c -- starting more processes (MPI 4.1 section 11.8): a launcher starts them, then they connect as at any port.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "node/node.h"
#include "plan/plan.h"
#include "world/join.h"

static struct gw_comm *parent;
/* Connections to launchers that live for this process alone: they end when it dies without a word. */
struct launcher {
    int fd;
    uint64_t uid; /* of the world that it started */
};
static struct {
    struct launcher *at;
    int n;
} launchers;

/* ---- the request ---------------------------------------------------------------------------------------------------- */
struct text {
    char *at;
    size_t n, cap;
};

static void put_word(struct text *t, const char *word)
{
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

static int put_program(struct text *t, const struct world_program *w)
{
    char n[16], here[4096];
    const char *wdir = gw_info_find(w->info, "wdir"), *path = gw_info_find(w->info, "path"),
               *host = gw_info_find(w->info, "host");
    const char *patience = gw_info_find(w->info, "timeout"); /* seconds until MPI_Init; without it children take their time */
    const char *handler = gw_info_find(w->info, "mpi_initial_errhandler"), *env = gw_info_find(w->info, "env");
    snprintf(n, sizeof n, "%d", w->n);
    put_pair(t, "program", w->command);
    put_pair(t, "n", n);
    if (getcwd(here, sizeof here)) put_pair(t, "here", here);
    if (wdir) put_pair(t, "wdir", wdir);
    if (path) put_pair(t, "path", path);
    if (host) put_pair(t, "host", host);
    if (patience) put_pair(t, "timeout", patience);
    if (handler) put_pair(t, "errhandler", handler);
    if (env) put_env(t, env);
    for (char **a = w->argv; a && *a; a++) put_pair(t, "arg", *a);
    return GW_OK;
}

/* "soft" lets fewer processes do; all of them always can be had. */
static int programs_check(int n_programs, const struct world_program *w)
{
    for (int i = 0; i < n_programs; i++) {
        if (!w[i].command || !w[i].command[0])
            return gw_fail(GW_EARG, "command is %s", w[i].command ? "empty" : "NULL");
        if (w[i].n < 1)
            return gw_fail(GW_EARG, "maxprocs is %d for %.64s; it must be at least 1", w[i].n, w[i].command);
    }
    return GW_OK;
}

/* ---- the root ------------------------------------------------------------------------------------------------------- */
/* What the launcher says; app_out: whose fault it is. */
static int answer_read(int ctl, int *app_out)
{
    struct boot_spawn_answer a;
    enum { TEXT = 1024 };
    char text[TEXT + 1] = "";
    int rc = socket_receive(ctl, &a, sizeof a);
    if (rc == GW_OK)
        rc = a.text_bytes < 0 || a.text_bytes > TEXT ? GW_EINTERN : socket_receive(ctl, text, (size_t)a.text_bytes);
    if (rc != GW_OK) return gw_fail(GW_ESPAWN, "the launcher is gone");
    *app_out = a.app;
    text[strcspn(text, "\n")] = 0;
    return a.app < 0 ? GW_OK : gw_fail(GW_ESPAWN, "%s", text);
}

/* The new world's first rank calls, or the launcher says why not. */
static int children_meet(int ctl, int listener, struct gw_comm *c, struct bridge *b, int *app_out)
{
    for (;;) {
        if (socket_wait((int[2]){listener, ctl}) == 1) return answer_read(ctl, app_out);
        int fd = boot_port_accept(listener);
        if (fd < 0) continue;
        int rc = join_meet(fd, true, c, b);
        if (rc != GW_OK) *app_out = 0;
        return rc;
    }
}

static void launcher_keep(int ctl, const struct bridge *b)
{
    struct boot_home home;
    int rank_there;
    node_name_of(group_world(b->comm->group, b->rank), &home, &rank_there);
    launchers.at = gw_xrealloc(launchers.at, sizeof *launchers.at * (size_t)(launchers.n + 1));
    launchers.at[launchers.n++] = (struct launcher){ctl, home.uid};
}

/* Those that have ended. */
static void launchers_drop(void)
{
    char byte;
    int n = 0;
    for (int i = 0; i < launchers.n; i++) {
        if (boot_port_read(launchers.at[i].fd, &byte, 1) == 0)
            launchers.at[n++] = launchers.at[i];
        else
            close(launchers.at[i].fd);
    }
    launchers.n = n;
}

static int spawn_root(int n_programs, const struct world_program *w, struct gw_comm *c, struct bridge *b, int *app_out)
{
    struct text t = {0};
    char port[20];
    uint64_t name = boot_random();
    bool is_alone;
    int ctl = -1, listener, rc = programs_check(n_programs, w);
    *app_out = 0;
    if (rc != GW_OK) return rc;
    launchers_drop();
    listener = boot_port_listen(name, 1);
    if (listener < 0) return gw_fail(GW_ESPAWN, "no socket for the new processes: %s", strerror(errno));
    snprintf(port, sizeof port, "%016llx", (unsigned long long)name);
    put_pair(&t, "parent", port);
    snprintf(port, sizeof port, "%016llx", (unsigned long long)boot_own_home().uid);
    put_pair(&t, "world", port);
    for (int i = 0; i < n_programs; i++) put_program(&t, &w[i]);
    put_word(&t, "");
    rc = boot_spawner(&ctl, &is_alone);
    if (rc == GW_OK) rc = socket_send(ctl, t.at, t.n);
    if (rc == GW_OK) rc = answer_read(ctl, app_out);
    if (rc == GW_OK) rc = children_meet(ctl, listener, c, b, app_out);
    if (rc == GW_OK) rc = socket_send(ctl, is_alone ? "J" : "JB", is_alone ? 1 : 2);
    if (ctl >= 0 && is_alone && rc == GW_OK)
        launcher_keep(ctl, b);
    else if (ctl >= 0)
        close(ctl);
    close(listener);
    free(t.at);
    return rc;
}

/* ---- everybody ------------------------------------------------------------------------------------------------------ */
/* The classes of the root's codes: all processes of the program at fault, or all. */
static int codes_share(struct gw_comm *c, int root, int rc, int app, int n_programs, const struct world_program *w,
                       int *codes)
{
    int said[3] = {0, 0, 0}; /* processes, the first at fault, the first behind it */
    for (int i = 0; c->rank == root && i < n_programs; i++) {
        if (rc != GW_OK && i == app) said[1] = said[0], said[2] = said[0] + w[i].n;
        said[0] += w[i].n;
    }
    int told = coll_bcast(said, 3, gw_type_int, root, c, NULL);
    for (int i = 0; codes && told == GW_OK && i < said[0]; i++)
        codes[i] = i >= said[1] && i < said[2] ? GW_ERR_SPAWN : GW_SUCCESS;
    return told;
}

int world_comm_spawn(int n_programs, const struct world_program *programs, int root, struct gw_comm *c,
                     struct gw_comm **comm_out, int *codes)
{
    struct bridge b = {0};
    int app = -1;
    plan_enter(c, root);
    int rc = join_check(c);
    if (rc != GW_OK) return rc;
    world_sweep();
    if (c->rank == root) rc = spawn_root(n_programs, programs, c, &b, &app);
    int told = codes_share(c, root, rc, app, n_programs, programs, codes);
    if (rc == GW_OK && told != GW_OK) rc = told;
    return join_comm(c, root, rc, &b, comm_out);
}

int world_comm_get_parent(struct gw_comm **comm_out)
{
    *comm_out = parent;
    return GW_OK;
}

int world_meet_parent(void)
{
    struct bridge b = {0};
    struct gw_comm *c = &gw_comm_world;
    int rc = GW_OK;
    if (!gw_boot.parent) return rc;
    if (c->rank == 0) {
        int fd = boot_port_connect(gw_boot.parent);
        rc = fd < 0 ? gw_fail(GW_EOTHER, "those who spawned this job are gone: %s", strerror(errno))
                    : join_meet(fd, false, c, &b);
    }
    rc = join_comm(c, 0, rc, &b, &parent);
    return rc == GW_OK ? comm_set_name(parent, "MPI_COMM_PARENT") : rc;
}

void spawn_freed(const struct gw_comm *c)
{
    if (c == parent) parent = NULL;
}

void spawn_finalize(void)
{
    if (parent) comm_release(parent);
    parent = NULL;
    for (int i = 0; i < launchers.n; i++) {
        char bye = BOOT_SPAWN_BYE;
        int fd = launchers.at[i].fd;
        /* Nobody but us would end a job that is still connected and hangs: mpiexec does that elsewhere. */
        while (node_other_is_held(launchers.at[i].uid) && boot_port_read(fd, &(char){0}, 1) == 0)
            socket_wait((int[2]){fd, -1});
        boot_port_write(fd, &bye, 1);
        close(fd);
    }
    free(launchers.at);
    launchers.at = NULL;
    launchers.n = 0;
}
