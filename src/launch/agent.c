/* agent.c -- mpiexec in its other role: `mpiexec --agent` starts the ranks of its host, for the mpiexec that has ordered them (doc/adr/0038).
 *
 * All that one host has, an agent has: keeper, binding, reports.  What differs is here: it reads what to do from its standard input, its ranks'
 * output goes up in frames, and so does what ranks of other hosts must hear.  When that stream closes, for whatever reason, the ranks end.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "agent/link.h"
#include "agent/order.h"
#include "base/base.h"
#include "base/settings.h"
#include "engine/engine.h"
#include "launch/launch.h"

extern char **environ;
enum { QUEUE_MOST = 256 << 10, EXIT_HOME_IS_GONE = 128 + SIGHUP };
static struct {
    struct link link; /* to the mpiexec that has ordered the ranks */
    pid_t pid;        /* this process; its children say nothing over the link */
    char *data;       /* of the order */
    struct agent_order order;
    char *mapping;
    int epoll, input; /* write end of the ranks' standard input; -1: it has ended, or none reads it */
    char *piece;      /* of it, that they have not taken yet */
    size_t len, done;
    bool is_met_said, is_watched, is_alone; /* is_alone: nobody listens any more */
    struct hosts home;
} agent = {.link = {.in = -1, .out = -1}, .epoll = -1, .input = -1};

static void send(enum link_kind kind, int a, int b, int c, const void *data, size_t len)
{
    link_send(&agent.link, &(struct link_frame){kind, (uint32_t)a, (uint32_t)b, (uint32_t)c, data, len});
}

static void say_up(const char *line)
{
    if (getpid() == agent.pid) send(LINK_SAY, 0, 0, 0, line, strlen(line));
}

/* ---- the order -------------------------------------------------------------------------------------------------------------- */
/* Standard input and output become the link; ranks get neither. */
static bool link_open(void)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    agent.link = (struct link){.in = fcntl(0, F_DUPFD_CLOEXEC, 3), .out = fcntl(1, F_DUPFD_CLOEXEC, 3)};
    if (nothing < 0 || agent.link.in < 0 || agent.link.out < 0) return false;
    dup2(nothing, 0);
    dup2(nothing, 1);
    close(nothing);
    return true;
}

static bool order_read(struct job *j)
{
    struct link_frame f;
    while (!link_next(&agent.link, &f))
        if (agent.link.is_broken || link_read(&agent.link) == LINK_CLOSED) return false;
    if (f.kind != LINK_ORDER) return false;
    agent.data = gw_xmalloc(f.len + 1);
    memcpy(agent.data, f.data, f.len);
    agent.order.o = &j->o;
    return agent_order_unpack(&agent.order, agent.data, f.len);
}

/* Variables of the job replace all of this host that are not its own. */
static void environment_take(const struct words *env)
{
    struct words gone = {0};
    for (char **e = environ; *e; e++)
        if (!agent_env_is_own(*e)) words_add(&gone, *e);
    for (int i = 0; i < gone.n; i++) {
        gone.at[i][strcspn(gone.at[i], "=")] = 0;
        unsetenv(gone.at[i]);
    }
    words_free(&gone);
    for (int i = 0; i < env->n; i++) putenv(env->at[i]);
}

static void input_open(const struct job *j)
{
    int p[2];
    if (j->o.stdin_rank == STDIN_NONE || pipe2(p, O_CLOEXEC) < 0) return;
    dup2(p[0], 0);
    close(p[0]);
    agent.input = fcntl(p[1], F_DUPFD_CLOEXEC, 3);
    close(p[1]);
    fcntl(agent.input, F_SETFL, O_NONBLOCK);
}

static bool folder_enter(const struct job *j)
{
    if (chdir(agent.order.folder) == 0) return true;
    say_line("host %s has no folder %s (%s); -wdir DIR names another one to start in", j->host, agent.order.folder,
             strerror(errno));
    return false;
}

int launch_agent_begin(struct job *j)
{
    for (int s = 1; s < NSIG; s++)
        if (s != SIGKILL && s != SIGSTOP) signal(s, SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
    if (isatty(0)) {
        say_line("--agent is for mpiexec itself, which starts ranks on other hosts by it");
        return EXIT_USAGE;
    }
    agent.pid = getpid();
    if (!link_open()) return EXIT_CANNOT_RUN;
    dprintf(agent.link.out, "%s %d %s\n", LINK_GREETING, LINK_PROTOCOL, GODWIT_VERSION);
    if (!order_read(j)) return EXIT_CANNOT_RUN; /* who has greeted is gone */
    fcntl(agent.link.in, F_SETFL, O_NONBLOCK);
    fcntl(agent.link.out, F_SETFL, O_NONBLOCK);
    say_to(say_up);
    environment_take(&agent.order.env);
    agent_order_cut(&agent.order, &j->o);
    agent.mapping = agent_order_mapping(&agent.order);
    j->part = (struct job_part){
        .first = agent_order_first(&agent.order, agent.order.host), .size = agent.order.size, .mapping = agent.mapping};
    j->uid = agent.order.uid;
    j->o.usize = agent.order.universe;
    j->o.pmix = PMIX_OFF;
    if (gethostname(j->host, sizeof j->host - 1) < 0) j->host[0] = 0;
    gw_settings_load();
    input_open(j);
    if (folder_enter(j)) return -1;
    launch_agent_end(j, EXIT_CANNOT_RUN);
    return EXIT_CANNOT_RUN;
}

/* ---- while the ranks run ----------------------------------------------------------------------------------------------------- */
/* The host of mpiexec: as the connection has it, else its name. */
static void home_watch(void)
{
    const char *ssh = getenv("SSH_CONNECTION");
    char *name =
        ssh ? gw_xasprintf("%.*s", (int)strcspn(ssh, " "), ssh) : gw_xasprintf("%s", agent.order.home ? agent.order.home : "");
    hosts_add(&agent.home, name);
    free(name);
    agent.is_watched = agent.home.n && engine_alive_start(&agent.home, gw_set.host_timeout, false);
}

static bool home_is_lost(void)
{
    bool never;
    return agent.is_watched && engine_alive_silent(&never);
}

static bool watch_add(int fd, uint32_t events)
{
    struct epoll_event e = {.events = events, .data.fd = fd};
    return fd < 0 || epoll_ctl(agent.epoll, EPOLL_CTL_ADD, fd, &e) == 0;
}

int launch_agent_open(void)
{
    agent.epoll = epoll_create1(EPOLL_CLOEXEC);
    if (agent.epoll < 0 || !watch_add(agent.link.in, EPOLLIN) || !watch_add(agent.input, 0)) return -1;
    home_watch();
    return agent.epoll;
}

static void home_is_gone(struct job *j)
{
    if (agent.is_alone) return;
    agent.is_alone = true;
    if (agent.link.in >= 0) epoll_ctl(agent.epoll, EPOLL_CTL_DEL, agent.link.in, NULL);
    link_close(&agent.link);
    launch_end(j, SIGTERM, EXIT_HOME_IS_GONE, true);
}

static void input_listen(uint32_t events)
{
    struct epoll_event e = {.events = events, .data.fd = agent.input};
    if (agent.input >= 0) epoll_ctl(agent.epoll, EPOLL_CTL_MOD, agent.input, &e);
}

static void input_write(void)
{
    while (agent.input >= 0 && agent.done < agent.len) {
        ssize_t n = write(agent.input, agent.piece + agent.done, agent.len - agent.done);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) {
            input_listen(EPOLLOUT);
            return;
        }
        agent.done = n < 0 ? agent.len : agent.done + (size_t)n;
    }
    input_listen(0);
    send(LINK_WANTS, 0, 0, 0, NULL, 0);
}

static void input_take(const char *data, size_t len)
{
    if (agent.input < 0) return;
    if (!len) {
        epoll_ctl(agent.epoll, EPOLL_CTL_DEL, agent.input, NULL);
        close(agent.input);
        agent.input = -1;
        return;
    }
    agent.piece = gw_xrealloc(agent.piece, len);
    memcpy(agent.piece, data, len);
    agent.len = len;
    agent.done = 0;
    input_write();
}

/* Keys and their values by turns, each with its end. */
static void fence_take(const char *data, size_t len)
{
    const char *end = data + len;
    for (const char *key = data; key < end && !end[-1];) {
        const char *value = key + strlen(key) + 1;
        if (value >= end) break;
        pmi_fence_ends(key, value);
        key = value + strlen(value) + 1;
    }
    pmi_fence_ends(NULL, NULL);
}

static void fence_send(struct words *w)
{
    size_t len = 0;
    for (int i = 0; i < w->n; i++) len += strlen(w->at[i]) + 1;
    char *data = gw_xmalloc(len + 1), *p = data;
    for (int i = 0; i < w->n; i++) p = stpcpy(p, w->at[i]) + 1;
    send(LINK_FENCE, 0, 0, 0, data, len);
    free(data);
}

void launch_agent_look(struct job *j)
{
    struct words keys;
    for (int i = 0; i < j->n && !agent.is_met_said; i++)
        if (atomic_load_explicit(&job_slot(j, i)->phase, memory_order_relaxed) != BOOT_NEW) {
            agent.is_met_said = true;
            send(LINK_MET, 0, 0, 0, NULL, 0);
        }
    if (!pmi_fence_begins(&keys)) return;
    fence_send(&keys);
    words_free(&keys);
}

static void on_frame(struct job *j, const struct link_frame *f)
{
    switch (f->kind) {
    case LINK_INPUT: input_take(f->data, f->len); break;
    case LINK_SIGNAL: launch_signal(j, (int)f->a); break;
    case LINK_END: launch_end(j, (int)f->a, (int)f->b, f->c != 0); break;
    case LINK_MET: j->part.is_met_by_others = true; break;
    case LINK_FENCE: fence_take(f->data, f->len); break;
    default: agent.link.is_broken = true;
    }
}

void launch_agent_serve(struct job *j)
{
    struct link_frame f;
    if (agent.input >= 0 && agent.done < agent.len) input_write();
    struct pollfd p = {agent.link.in, POLLIN, 0};
    if (agent.is_alone) return;
    bool is_open = poll(&p, 1, 0) <= 0 || link_read(&agent.link) == LINK_OPEN;
    while (!agent.is_alone && link_next(&agent.link, &f)) on_frame(j, &f);
    if (!is_open || agent.link.is_broken) home_is_gone(j);
}

int launch_agent_due(struct job *j)
{
    enum { RETRY_MS = 10, LOOK_MS = 500 };
    launch_agent_serve(j); /* frames that have come with the order */
    if (agent.is_alone) return -1;
    bool is_empty = link_flush(&agent.link);
    if (agent.link.is_broken || home_is_lost()) home_is_gone(j);
    return !is_empty ? RETRY_MS : agent.is_watched ? LOOK_MS : -1;
}

/* Waits where too much is on its way: then the ranks wait for their output, too. */
void launch_agent_output(const struct job *j, const struct stream *s, const char *data, size_t len)
{
    int local = s->rank;
    if (agent.is_alone) return;
    send(LINK_OUTPUT, job_rank(j, local), s == &j->ranks[local].err, 0, data, len);
    while (agent.link.queued > QUEUE_MOST && !link_flush(&agent.link) && !home_is_lost()) {
        struct pollfd p = {agent.link.out, POLLOUT, 0};
        poll(&p, 1, 200);
    }
}

void launch_agent_failed(int status)
{
    if (!agent.is_alone) send(LINK_FAILED, status, 0, 0, NULL, 0);
}

void launch_agent_end(struct job *j, int rc)
{
    int absent = 0, status = 0;
    for (int i = 0; j->ranks && j->head && i < j->n && !absent; i++) {
        if (atomic_load_explicit(&job_slot(j, i)->phase, memory_order_relaxed) != BOOT_NEW) continue;
        absent = job_rank(j, i) + 1;
        status = j->ranks[i].status >> 8 & 255;
    }
    send(LINK_DONE, rc, absent, status, NULL, 0);
    while (agent.link.out >= 0 && !link_flush(&agent.link) && !home_is_lost()) {
        struct pollfd p = {agent.link.out, POLLOUT, 0};
        poll(&p, 1, 200);
    }
    link_close(&agent.link);
    hosts_free(&agent.home);
    agent_order_words_free(&j->o);
    agent_order_free(&agent.order);
    free(agent.mapping);
    free(agent.piece);
}
