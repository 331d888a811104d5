/* home.c -- a job on several hosts that no other process manager starts: an agent on each of them, and what they tell (doc/adr/0038).
 *
 *   start (ssh HOST mpiexec --agent) -> greeting -> order -> frames, until each agent has said that nothing of the job is left on its host
 *
 * Output, exit status, time limit and standard input are handled here, as for a job on one host; an agent that goes without a word ends the job.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/link.h"
#include "agent/order.h"
#include "agent/reach.h"
#include "base/base.h"
#include "base/os.h"
#include "base/settings.h"
#include "base/time.h"
#include "engine/engine.h"
#include "launch/launch.h"

extern char **environ;
enum { EXIT_LOST_HOST = 125, NOISE_MOST = 64 << 10, PIECE = 32 << 10, LAST_WORDS_MS = 2000, END_MS = 10000 };
struct far {
    const char *name;
    bool is_local;
    int host;  /* its place in the order */
    pid_t pid; /* of ssh, or of the agent here; 0: it has ended */
    int status;
    struct link link;
    size_t noise;            /* bytes before the greeting */
    bool is_greeted, is_met; /* a rank of it has called MPI_Init */
    bool is_fenced, wants;   /* its ranks are in a barrier; it takes standard input */
    bool is_done, is_over;   /* nothing of the job is left there; and ssh has ended, or is waited for no more */
    bool gets_input;
    int absent, absent_status; /* 1 + a rank that has ended without MPI_Init */
    uint64_t closed_ns;        /* when its stream has ended; 0: it has not */
};
static struct {
    struct job *j;
    struct far *at;
    int n, left; /* agents; those that are not over */
    int epoll, signal_fd;
    struct agent_order order;
    const char *launcher; /* GODWIT_LAUNCH_AGENT */
    char *keys;           /* of the barrier that is under way, as they came */
    size_t n_keys;
    int n_fenced;
    bool input_over, input_polled, is_met_told;
    uint64_t kill_ns; /* when what has not ended is ended here; 0: never */
} home;

static void send(struct far *f, enum link_kind kind, int a, int b, int c, const void *data, size_t len)
{
    if (f->is_greeted && !f->is_done)
        link_send(&f->link, &(struct link_frame){kind, (uint32_t)a, (uint32_t)b, (uint32_t)c, data, len});
}

static void send_all(enum link_kind kind, int a, int b, int c, const void *data, size_t len)
{
    for (int i = 0; i < home.n; i++) send(&home.at[i], kind, a, b, c, data, len);
}

/* ---- the end ------------------------------------------------------------------------------------------------------------------- */
static void end_soon(void)
{
    if (!home.kill_ns) home.kill_ns = gw_now_ns() + (uint64_t)END_MS * 1000000;
    for (int i = 0; i < home.n; i++)
        if (!home.at[i].is_greeted && home.at[i].pid) child_kill(home.at[i].pid, SIGTERM);
}

/* The job ends, with this status: ranks on all hosts are told. */
static void end_job(int status, bool all)
{
    struct job *j = home.j;
    if (j->ending) return;
    j->ending = true;
    j->exit_status = status;
    send_all(LINK_END, SIGTERM, status, all, NULL, 0);
    end_soon();
}

static const char *program_name(void)
{
    static char path[PATH_MAX];
    return path[0] || gw_own_program(path) ? path : "mpiexec";
}

/* Its command has ended, or its stream: why, in words for the user. */
static void explain(const struct far *f)
{
    const char *by = agent_reach_name(home.launcher), *name = f->name;
    char how[64];
    int code = WIFEXITED(f->status) ? WEXITSTATUS(f->status) : -1;
    if (f->pid)
        snprintf(how, sizeof how, "its output has ended");
    else if (code >= 0)
        snprintf(how, sizeof how, "ended with status %d", code);
    else
        snprintf(how, sizeof how, "was killed by signal %d", WTERMSIG(f->status));
    if (f->is_greeted)
        say_line("the agent on host %s is gone (%s %s); the job ends now", name, f->is_local ? "it" : by, how);
    else if (code == 127 || code == 126)
        say_line("host %s cannot run %s: install Godwit there, too, of the same version and under the same prefix", name,
                 program_name());
    else if (code == 255)
        say_line("host %s cannot be reached (%s %s; what it said stands above). Does `%s %s true` work, without a password? "
                 "GODWIT_LAUNCH_AGENT names another command than ssh, --engine another launcher",
                 name, by, how, *home.launcher ? home.launcher : "ssh", name);
    else
        say_line("host %s: no agent has answered (%s %s). Is the Godwit there, %s, of version %s, too?", name, by, how,
                 program_name(), GODWIT_VERSION);
}

static void over(struct far *f)
{
    if (f->is_over) return;
    f->is_over = true;
    home.left--;
    if (f->link.in >= 0) epoll_ctl(home.epoll, EPOLL_CTL_DEL, f->link.in, NULL);
    link_close(&f->link);
}

/* Its stream has ended: an agent that is not done is lost.  What has started it may need a moment more. */
static void look_closed(struct far *f)
{
    if (f->is_over || !f->closed_ns) return;
    bool is_late = gw_now_ns() - f->closed_ns > (uint64_t)LAST_WORDS_MS * 1000000;
    if (f->pid && !is_late) return;
    if (!f->is_done && !home.j->ending) {
        explain(f);
        end_job(f->is_greeted ? EXIT_LOST_HOST : EXIT_CANNOT_RUN, true);
    }
    if (f->pid) child_kill(f->pid, SIGKILL);
    over(f);
}

static void closed(struct far *f)
{
    if (f->closed_ns) return;
    f->closed_ns = gw_now_ns();
    if (f->link.in >= 0) epoll_ctl(home.epoll, EPOLL_CTL_DEL, f->link.in, NULL);
    link_close(&f->link); /* its input, too: an agent that is still there ends its ranks */
    look_closed(f);
}

/* ---- frames ------------------------------------------------------------------------------------------------------------------- */
/* A rank that has ended without MPI_Init, where ranks of other hosts have called it and wait. */
static void look_absent(void)
{
    bool is_met = false;
    for (int i = 0; i < home.n; i++) is_met |= home.at[i].is_met;
    for (int i = 0; i < home.n && is_met && !home.j->ending && !home.j->o.no_cleanup; i++) {
        const struct far *f = &home.at[i];
        if (!f->absent) continue;
        say_line("rank %d (host %s) ended with status %d without calling MPI_Init, which the others wait for; they end now",
                 f->absent - 1, f->name, f->absent_status);
        end_job(f->absent_status ? f->absent_status : 1, false);
    }
}

static void on_met(struct far *f)
{
    f->is_met = true;
    if (!home.is_met_told) send_all(LINK_MET, 0, 0, 0, NULL, 0);
    home.is_met_told = true;
    look_absent();
}

static void on_fence(struct far *f, const struct link_frame *frame)
{
    home.n_fenced += !f->is_fenced;
    f->is_fenced = true;
    home.keys = gw_xrealloc(home.keys, home.n_keys + frame->len + 1);
    memcpy(home.keys + home.n_keys, frame->data, frame->len);
    home.n_keys += frame->len;
    if (home.n_fenced < home.n) return;
    for (int i = 0; i < home.n; i++) home.at[i].is_fenced = false;
    send_all(LINK_FENCE, 0, 0, 0, home.keys, home.n_keys);
    home.n_fenced = 0;
    home.n_keys = 0;
}

static void on_output(struct far *f, const struct link_frame *frame)
{
    int rank = (int)frame->a, first = agent_order_first(&home.order, f->host), end = agent_order_first(&home.order, f->host + 1);
    if (rank < first || rank >= end) { /* of another host */
        f->link.is_broken = true;
        return;
    }
    struct stream *s = frame->b ? &home.j->ranks[rank].err : &home.j->ranks[rank].out;
    launch_forward_take(home.j, s, frame->data, frame->len);
}

static void on_done(struct far *f, const struct link_frame *frame)
{
    struct job *j = home.j;
    f->is_done = true;
    if (!j->exit_status) j->exit_status = (int)frame->a & 255;
    f->absent = (int)frame->b;
    f->absent_status = (int)frame->c & 255;
    look_absent();
}

static void on_frame(struct far *f, const struct link_frame *frame)
{
    switch (frame->kind) {
    case LINK_OUTPUT: on_output(f, frame); break;
    case LINK_SAY: say_line("%.*s", (int)frame->len, frame->data); break;
    case LINK_MET: on_met(f); break;
    case LINK_FENCE: on_fence(f, frame); break;
    case LINK_WANTS: f->wants = true; break;
    case LINK_FAILED: end_job((int)frame->a & 255, false); break;
    case LINK_DONE: on_done(f, frame); break;
    default: f->link.is_broken = true;
    }
}

static void order_send(struct far *f)
{
    size_t len;
    home.order.host = f->host;
    char *data = agent_order_pack(&home.order, &len);
    f->is_greeted = true;
    f->wants = f->gets_input;
    send(f, LINK_ORDER, 0, 0, 0, data, len);
    free(data);
    if (home.is_met_told) send(f, LINK_MET, 0, 0, 0, NULL, 0);
}

/* Lines before the greeting are of the shell there.  False: it is an agent of another version. */
static bool greet(struct far *f)
{
    char line[256], version[64];
    int protocol;
    while (!f->is_greeted && link_line(&f->link, line, sizeof line)) {
        f->noise += strlen(line);
        if (strncmp(line, LINK_GREETING " ", sizeof LINK_GREETING) != 0) continue;
        bool is_whole = sscanf(line + sizeof LINK_GREETING, "%d %63s", &protocol, version) == 2;
        if (!is_whole || protocol != LINK_PROTOCOL || strcmp(version, GODWIT_VERSION) != 0) {
            say_line("host %s has Godwit %s in %s, this host has %s: install the same version on all hosts", f->name,
                     is_whole ? version : "of an unknown version", program_name(), GODWIT_VERSION);
            end_job(EXIT_CANNOT_RUN, true);
            return false;
        }
        if (home.j->ending) return false;
        order_send(f);
    }
    if (!f->is_greeted && f->noise > NOISE_MOST) f->link.is_broken = true;
    return true;
}

static void hear(struct far *f)
{
    struct link_frame frame;
    bool is_open = link_read(&f->link) == LINK_OPEN;
    if (!f->is_greeted && !greet(f)) is_open = false;
    while (f->is_greeted && link_next(&f->link, &frame)) on_frame(f, &frame);
    if (f->link.is_broken && !f->is_done && !home.j->ending) {
        say_line("what host %s sends is of no agent of Godwit; the job ends now", f->name);
        end_job(EXIT_LOST_HOST, true);
    }
    if (!is_open || f->link.is_broken || f->is_done) closed(f);
}

/* ---- standard input ----------------------------------------------------------------------------------------------------------- */
static bool input_is_wanted(void)
{
    bool any = false;
    for (int i = 0; i < home.n; i++) {
        const struct far *f = &home.at[i];
        if (!f->gets_input || f->is_done) continue;
        if (!f->wants) return false;
        any = true;
    }
    return any && !home.input_over && !(isatty(0) && tcgetpgrp(0) != getpgrp());
}

/* Not at all where it is not wanted: epoll would tell of its end again and again. */
static void input_listen(bool on)
{
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = NULL};
    if (home.input_polled == on) return;
    /* It refuses a regular file, which is always ready: then what the agents say leads here. */
    if (epoll_ctl(home.epoll, on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, 0, &e) == 0) home.input_polled = on;
}

/* One piece at a time; the next when all who get it have taken the last. */
static void input_step(void)
{
    char piece[PIECE];
    struct pollfd p = {0, POLLIN, 0};
    bool is_wanted = input_is_wanted();
    if (is_wanted && poll(&p, 1, 0) != 0) {
        ssize_t n = read(0, piece, sizeof piece);
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
        home.input_over = n <= 0;
        for (int i = 0; i < home.n; i++) {
            struct far *f = &home.at[i];
            if (!f->gets_input) continue;
            send(f, LINK_INPUT, 0, 0, 0, piece, n > 0 ? (size_t)n : 0);
            f->wants = false;
        }
        is_wanted = false;
    }
    input_listen(is_wanted);
}

/* ---- signals and time ----------------------------------------------------------------------------------------------------------- */
static void reap(void)
{
    int status;
    for (pid_t pid; (pid = child_ended(-1, &status)) > 0; child_reap(pid))
        for (int i = 0; i < home.n; i++) {
            struct far *f = &home.at[i];
            if (f->pid != pid) continue;
            f->pid = 0;
            f->status = status;
            look_closed(f);
        }
}

static void on_signal(int sig)
{
    struct job *j = home.j;
    switch (sig) {
    case SIGCHLD: reap(); break;
    case SIGTSTP:
        send_all(LINK_SIGNAL, sig, 0, 0, NULL, 0);
        kill(getpid(), SIGSTOP);
        break;
    case SIGCONT:
    case SIGUSR1:
    case SIGUSR2:
    case SIGQUIT: send_all(LINK_SIGNAL, sig, 0, 0, NULL, 0); break;
    default:
        launch_output_hurry();
        if (!j->ending) j->exit_status = 128 + sig;
        j->ending = true;
        send_all(LINK_SIGNAL, sig, 0, 0, NULL, 0);
        end_soon();
    }
}

static void host_look(void)
{
    bool never;
    const char *unreached = engine_alive_unreached(), *silent = engine_alive_silent(&never);
    if (unreached) say_line("warning: this host has no way to host %s, and will not notice if that fails", unreached);
    if (!silent || home.j->ending) return;
    say_line("host %s has not answered for %d s (GODWIT_HOST_TIMEOUT); the job ends now", silent, (int)gw_set.host_timeout);
    end_job(EXIT_LOST_HOST, true);
    for (int i = 0; i < home.n; i++)
        if (strcmp(home.at[i].name, silent) == 0 && home.at[i].pid) child_kill(home.at[i].pid, SIGTERM);
}

/* Agents that have not ended in time are waited for no more: their streams close, and they end their ranks by themselves. */
static void give_up(void)
{
    for (int i = 0; i < home.n; i++) {
        struct far *f = &home.at[i];
        if (f->is_over) continue;
        if (f->is_greeted && !f->is_done) say_line("the agent on host %s does not end; it is left to itself", f->name);
        if (f->pid) child_kill(f->pid, SIGKILL);
        over(f);
    }
}

static int timers(uint64_t deadline, bool is_watched)
{
    enum { LOOK_MS = 200, RETRY_MS = 10 };
    uint64_t now = gw_now_ns();
    int wait = launch_forward_flush_stale(home.j);
    if (is_watched) host_look();
    if (deadline && now >= deadline && !home.j->ending) {
        say_line("the job ran longer than --timeout %g s; it ends now:", home.j->o.timeout);
        send_all(LINK_SIGNAL, SIGQUIT, 0, 0, NULL, 0);
        end_job(EXIT_TIMEOUT, true);
    }
    if (home.kill_ns && now >= home.kill_ns) give_up();
    bool looks = is_watched || deadline || home.kill_ns;
    for (int i = 0; i < home.n; i++) {
        look_closed(&home.at[i]);
        looks |= home.at[i].closed_ns && !home.at[i].is_over;
        if (!home.at[i].is_over && home.at[i].link.queued && !link_flush(&home.at[i].link) && (wait < 0 || wait > RETRY_MS))
            wait = RETRY_MS;
    }
    input_step();
    if (looks && (wait < 0 || wait > LOOK_MS)) wait = LOOK_MS;
    return wait;
}

static void on_event(const struct epoll_event *e)
{
    struct signalfd_siginfo info;
    if (e->data.ptr == &home.signal_fd) {
        while (read(home.signal_fd, &info, sizeof info) == sizeof info) on_signal((int)info.ssi_signo);
    } else if (e->data.ptr) {
        struct far *f = e->data.ptr;
        if (!f->closed_ns && !f->is_over) hear(f);
    }
}

/* ---- the beginning -------------------------------------------------------------------------------------------------------------- */
static bool watch_add(int fd, void *what)
{
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = what};
    return epoll_ctl(home.epoll, EPOLL_CTL_ADD, fd, &e) == 0;
}

static void order_fill(struct job *j, const int *counts)
{
    static char here[256], folder[PATH_MAX];
    if (gethostname(here, sizeof here - 1) < 0) here[0] = 0;
    home.order = (struct agent_order){.o = &j->o, .size = j->n, .universe = job_universe(j), .uid = j->uid, .home = here};
    home.order.folder = getcwd(folder, sizeof folder) ? folder : "/";
    for (int i = 0; i < j->o.hosts.n; i++) {
        if (!counts[i]) continue;
        char *entry = gw_xasprintf("%s:%d", j->o.hosts.at[i].name, counts[i]);
        words_add(&home.order.hosts, entry);
        free(entry);
    }
    for (char **e = environ; *e; e++)
        if (!agent_env_is_own(*e)) words_add(&home.order.env, *e);
}

static bool far_start(struct far *f)
{
    struct words argv = {0};
    if (f->is_local) {
        words_add(&argv, program_name());
        words_add(&argv, "--agent");
    } else {
        agent_reach_words(home.launcher, f->name, program_name(), (int)gw_set.host_timeout, &argv);
    }
    f->pid = agent_reach_start(&argv, f->is_local, &f->link);
    if (f->pid < 0) say_line("cannot start %s: %s", argv.at[0], strerror(errno));
    words_free(&argv);
    if (f->pid < 0) return false;
    home.left++;
    if (watch_add(f->link.in, f)) return true;
    say_line("cannot hear of host %s (epoll: %s)", f->name, strerror(errno));
    return false;
}

static int start_all(const struct job *j, const int *counts)
{
    int in = j->o.stdin_rank;
    for (int i = 0; i < j->o.hosts.n; i++) {
        if (!counts[i]) continue;
        struct far *f = &home.at[home.n];
        *f = (struct far){.name = j->o.hosts.at[i].name, .host = home.n, .link = {.in = -1, .out = -1}};
        int first = agent_order_first(&home.order, f->host);
        f->is_local = hosts_is_local(f->name);
        f->gets_input = in == STDIN_ALL || (in >= first && in < first + counts[i]);
        home.n++;
    }
    for (int i = 0; i < home.n; i++)
        if (!far_start(&home.at[i])) return EXIT_CANNOT_RUN;
    return 0;
}

static int ranks_open(struct job *j)
{
    j->head = gw_xcalloc(1, sizeof *j->head);
    snprintf(j->head->jobid, sizeof j->head->jobid, "%d", (int)getpid());
    j->ranks = gw_xcalloc((size_t)j->n, sizeof *j->ranks);
    int rc = launch_output_open(j);
    for (int i = 0; i < j->n; i++) {
        struct stream *of[2] = {&j->ranks[i].out, &j->ranks[i].err};
        j->ranks[i].in_fd = -1;
        for (int k = 0; k < 2; k++) of[k]->fd = -1, of[k]->rank = i, of[k]->is_far = true;
    }
    return rc;
}

static void run(struct job *j)
{
    enum { EVENTS = 64 };
    struct epoll_event events[EVENTS];
    uint64_t deadline = j->o.timeout > 0 ? gw_now_ns() + (uint64_t)(j->o.timeout * 1e9) : 0;
    bool is_watched = engine_alive_start(&j->o.hosts, gw_set.host_timeout, false);
    while (home.left > 0) {
        int wait = timers(deadline, is_watched), n = home.left > 0 ? epoll_wait(home.epoll, events, EVENTS, wait) : 0;
        for (int i = 0; i < n; i++) on_event(&events[i]);
    }
    launch_forward_end(j);
    if (!j->exit_status && launch_output_failed()) j->exit_status = 1;
}

int launch_home(struct job *j)
{
    int *counts = gw_xcalloc((size_t)j->o.hosts.n + 1, sizeof *counts);
    j->n = j->o.n_ranks;
    j->uid = boot_random();
    home.j = j;
    home.launcher = gw_set.launch_agent ? gw_set.launch_agent : "";
    home.at = gw_xcalloc((size_t)j->o.hosts.n, sizeof *home.at);
    if (gethostname(j->host, sizeof j->host - 1) < 0) j->host[0] = 0;
    hosts_place(&j->o.hosts, j->n, j->o.ppn, counts);
    order_fill(j, counts);
    launch_output_pipes(signal(SIGPIPE, SIG_IGN));
    home.epoll = epoll_create1(EPOLL_CLOEXEC);
    home.signal_fd = launch_signals_open();
    int rc = ranks_open(j);
    if (!rc && (home.epoll < 0 || home.signal_fd < 0 || !watch_add(home.signal_fd, &home.signal_fd))) {
        say_line("cannot hear of other hosts: %s", strerror(errno));
        rc = EXIT_CANNOT_RUN;
    }
    if (!rc) rc = start_all(j, counts);
    if (rc) end_job(rc, true);
    run(j);
    free(counts);
    free(home.at);
    free(home.keys);
    agent_order_free(&home.order);
    launch_output_free();
    free(j->ranks);
    free(j->head);
    return j->exit_status;
}
