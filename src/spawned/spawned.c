/* spawned.c -- jobs that ranks ask for (MPI_Comm_spawn): each has an mpiexec of its own, which ours starts and watches.
 *
 *   rank --request--> mpiexec: spawned_control_accept, fork --> mpiexec --spawned: spawned_begin ... spawned_started --answer--> rank
 *
 * A rank connects to the port in the segment's head (boot_head.control) and shows its secret; the connection is handed on to the new
 * mpiexec, which reads the request and answers.  A process without an mpiexec starts one itself, in the same way (boot_port.c); that one
 * ends the job when its connection closes without a good-bye.  What goes wrong before the new job has been met is an answer, not a
 * failure; afterwards jobs fail together as long as they are connected (connected.c).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/os.h"
#include "base/time.h"
#include "boot/boot.h"
#include "boot/name.h"
#include "boot/port.h"
#include "boot/segment.h"
#include "job/child.h"
#include "job/job.h"
#include "job/say.h"
#include "job/words.h"
#include "spawned/elsewhere.h"
#include "spawned/spawned.h"
#include "spawned/connected.h"

extern char **environ;

/* ---- ours: asked for a job ------------------------------------------------------------------------------------------ */
void spawned_control_open(struct job *j)
{
    struct boot_port port;
    if (boot_port_make(&port) != GW_OK || boot_gate_open(&j->control, &port) != 0) return;
    j->head->control = port;
    j->control.has_lesser = boot_secret_make(&j->control.lesser) == GW_OK;
}

static const struct launch_app *app_of(const struct job *j, int fd)
{
    struct ucred who = {0};
    socklen_t len = sizeof who;
    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len);
    for (int i = 0; i < j->n; i++)
        if (j->ranks[i].pid == who.pid) return &j->o.apps[j->ranks[i].app];
    return NULL;
}

static void env_put(const struct words *w)
{
    for (int i = 0; i < w->n; i++) putenv(w->at[i]);
}

/* Runs in the child: becomes the mpiexec of the new job.  It gets a process group of its own, because this mpiexec passes signals on. */
static void become(struct job *j, int fd, const struct sub *s, pid_t launcher)
{
    assert(fd >= 0 && launcher > 0);
    char facts[192], self[PATH_MAX] = "";
    const struct launch_app *a = app_of(j, fd);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != launcher) _exit(EXIT_CANNOT_RUN);
    child_signals_reset();
    env_put(&j->o.env);
    if (a) env_put(&a->env);
    if (j->o.preload) putenv(job_preload(&j->o, getenv("LD_PRELOAD")));
    fcntl(fd, F_SETFD, 0);
    fcntl(fd, F_SETFL, 0);
    snprintf(facts, sizeof facts, "fd=%d,uid=%016llx,used=%d,label=%d,job=%.64s", fd, (unsigned long long)s->uid,
             j->alive + j->used, j->o.output.label, s->name);
    if (!gw_own_program(self)) _exit(EXIT_CANNOT_RUN);
    char *argv[] = {"mpiexec", "--spawned", facts, NULL};
    execv(self, argv);
    _exit(EXIT_CANNOT_RUN);
}

void spawned_control_accept(struct job *j)
{
    int fd;
    while ((fd = boot_gate_accept(&j->control)) >= 0) {
        if (j->control.was_lesser) { /* a rank to which the descriptor did not come down */
            boot_fd_send(fd, j->memfd);
            close(fd);
            continue;
        }
        struct sub s = {.uid = boot_random()};
        snprintf(s.name, sizeof s.name, "%.48s%s%d", j->name, j->name[0] ? "." : "", ++j->spawned);
        if (!j->ending) {
            pid_t self = getpid();
            s.pid = fork();
            if (s.pid == 0) become(j, fd, &s, self);
        }
        close(fd); /* if nothing was started, closing is the answer */
        if (s.pid <= 0) continue;
        j->subs = gw_xrealloc(j->subs, sizeof *j->subs * (size_t)(j->n_subs + 1));
        j->subs[j->n_subs++] = s;
    }
    if (j->control.is_stuck) { /* who waits for an answer hears of the end */
        say_line("what ranks ask of mpiexec cannot be accepted (accept4: %s)%s: they can start no other programs", strerror(errno),
                 gw_error_advice(errno));
        boot_gate_close(&j->control);
    }
}

void spawned_signal_all(const struct job *j, int sig)
{
    for (int i = 0; i < j->n_subs; i++) kill(j->subs[i].pid, sig);
}

bool spawned_sub_ended(struct job *j, pid_t pid, int status, struct sub_end *end_out)
{
    assert(pid > 0 && j->n_subs >= 0);
    for (int i = 0; i < j->n_subs; i++) {
        if (j->subs[i].pid != pid) continue;
        struct sub s = j->subs[i];
        j->subs[i] = j->subs[--j->n_subs];
        end_out->code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        end_out->by_signal = WIFSIGNALED(status);
        end_out->uid = s.uid;
        memcpy(end_out->name, s.name, sizeof s.name);
        return true;
    }
    return false;
}

/* ---- the new one's --------------------------------------------------------------------------------------------------- */
/* Memory that the options of this job point to; freed at the end. */
static struct {
    void **at;
    int n;
} held;

static void *hold(void *p)
{
    held.at = gw_xrealloc(held.at, sizeof *held.at * (size_t)(held.n + 1));
    return held.at[held.n++] = p;
}

void spawned_free(void)
{
    for (int i = 0; i < held.n; i++) free(held.at[i]);
    elsewhere_free();
    free(held.at);
    held.at = NULL;
    held.n = 0;
}

static int fact(const char *facts, const char *name, int otherwise)
{
    const char *at = strstr(facts, name);
    return at ? atoi(at + strlen(name)) : otherwise;
}

/* The words of the request; the caller frees them.  NULL: it did not come in time. */
static char *request_read(int fd, size_t *n_out)
{
    enum { MOST = 64 << 20 };
    size_t n = 0, cap = 4096;
    char *t = gw_xmalloc(cap);
    struct timeval patience = {20, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    while (n < 2 || t[n - 1] || t[n - 2]) { /* ends with an empty word */
        if (n == cap) t = gw_xrealloc(t, cap *= 2);
        ssize_t r = cap < MOST ? read(fd, t + n, cap - n) : -1;
        if (r < 0 && errno == EINTR) continue;
        if (r <= 0) {
            free(t);
            return NULL;
        }
        n += (size_t)r;
    }
    *n_out = n;
    return t;
}

static char *in_folder(const char *folder, const char *name)
{
    return name[0] == '/' || !folder ? gw_xasprintf("%s", name) : gw_xasprintf("%s/%s", folder, name);
}

/* The file of a program in one of the folders of a list "a:b"; the caller frees it.  NULL: it is in none. */
static char *in_path(const char *list, const char *here, const char *program)
{
    for (const char *p = list; *p; p += strcspn(p, ":"), p += *p == ':') {
        char *folder = gw_xasprintf("%.*s", (int)strcspn(p, ":"), p), *place = in_folder(here, folder);
        char *file = gw_xasprintf("%s/%s", place, program);
        free(folder);
        free(place);
        if (access(file, X_OK) == 0) return file;
        free(file);
    }
    return NULL;
}

struct wanted {
    struct words argv;
    const char *here, *path;
};

static void app_take(struct job *j, struct launch_app *a, struct wanted *w, const char *name, const char *value)
{
    static const char *const handlers[] = {"mpi_errors_are_fatal", "mpi_errors_abort", "mpi_errors_return"};
    char *pair;
    int app = (int)(a - j->o.apps);
    if (strcmp(name, "n") == 0)
        a->n = atoi(value);
    else if (strcmp(name, "asked") == 0)
        a->asked = atoi(value);
    else if (strcmp(name, "soft") == 0)
        a->soft = value;
    else if (strcmp(name, "file") == 0)
        a->file = value;
    else if (strcmp(name, "here") == 0)
        w->here = value;
    else if (strcmp(name, "wdir") == 0)
        a->wdir = value;
    else if (strcmp(name, "path") == 0)
        w->path = value;
    else if (strcmp(name, "arg") == 0)
        words_add(&w->argv, value);
    else if (strcmp(name, "env") == 0)
        words_add(&a->env, value);
    else if (strcmp(name, "timeout") == 0)
        j->patience = atof(value);
    else if (strcmp(name, "host") == 0)
        elsewhere_list(j, app, value);
    else if (strcmp(name, "hostfile") == 0) {
        char *file = in_folder(w->here, value);
        elsewhere_file(j, app, file);
        free(file);
    } else if (strcmp(name, "errhandler") == 0) {
        for (size_t i = 0; i < GW_ARRAY_LEN(handlers); i++) {
            if (strcasecmp(handlers[i], value) != 0) continue;
            pair = gw_xasprintf("GODWIT_INITIAL_ERRHANDLER=%s", value);
            words_add(&a->env, pair);
            free(pair);
        }
    }
}

static void app_end(struct job *j, struct launch_app *a, struct wanted *w)
{
    assert(w->argv.n > 0 && a->argv == NULL);
    char *found = w->path && !strchr(w->argv.at[0], '/') ? in_path(w->path, w->here, w->argv.at[0]) : NULL;
    if (found) {
        free(w->argv.at[0]);
        w->argv.at[0] = found;
    }
    a->wdir = a->wdir ? hold(in_folder(w->here, a->wdir)) : w->here;
    for (int i = 0; i < w->argv.n; i++) hold(w->argv.at[i]);
    a->argv = w->argv.at;
    j->o.n_ranks = (int)gw_min64((int64_t)j->o.n_ranks + a->n, INT_MAX);
    *w = (struct wanted){0};
}

/* Reads the request: pairs of a name and a value, of which "program" begins the next program. */
static void request_parse(struct job *j, const char *t, size_t n, const char **parent_out, struct sockaddr_storage *far_out)
{
    struct wanted w = {0};
    struct launch_options *o = &j->o;
    const char *end = t + n;
    for (const char *p = t; p < end && *p;) {
        const char *name = p, *value = p + strlen(p) + 1;
        if (value >= end) break;
        p = value + strlen(value) + 1;
        if (strcmp(name, "parent") == 0) {
            *parent_out = value;
            if (boot_place_parse(value, &j->parent, far_out)) continue;
            say_line("the asking rank gave no port to meet at");
            j->failed = 1;
        } else if (strcmp(name, "world") == 0) {
            j->parent_uid = strtoull(value, NULL, 16);
        } else if (strcmp(name, "program") == 0) {
            if (o->n_apps) app_end(j, &o->apps[o->n_apps - 1], &w);
            o->apps = gw_xrealloc(o->apps, sizeof *o->apps * (size_t)(o->n_apps + 1));
            o->apps[o->n_apps++] = (struct launch_app){.n = 1, .n_given = true};
            words_add(&w.argv, value);
        } else if (o->n_apps) {
            app_take(j, &o->apps[o->n_apps - 1], &w, name, value);
        }
    }
    if (o->n_apps) app_end(j, &o->apps[o->n_apps - 1], &w);
}

/* A job that has not met its parents yet. */
static struct {
    char *why;         /* this mpiexec ended the job, for that reason; NULL: the job ended */
    uint64_t since_ns; /* when waiting began; 0: not yet */
    bool is_said;      /* that it takes long */
} meeting;
/* A blocking socket. */
static bool sent(int fd, const void *data, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t n = send(fd, (const char *)data + done, bytes - done, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR) return false;
        if (n > 0) done += (size_t)n;
    }
    return true;
}

static void answer(struct job *j, int app, const char *text)
{
    struct boot_spawn_answer a = {app, j->room, (int32_t)strlen(text), j->bad_value};
    if (!sent(j->parent_fd, &a, sizeof a) || !sent(j->parent_fd, text, strlen(text)))
        shutdown(j->parent_fd, SHUT_RDWR); /* is an answer, too */
}

int spawned_begin(const char *facts, struct job *j)
{
    size_t n;
    const char *name = strstr(facts, "job="), *uid = strstr(facts, "uid=");
    j->parent_fd = fact(facts, "fd=", -1);
    j->uid = uid ? strtoull(uid + 4, NULL, 16) : 0;
    j->used = fact(facts, "used=", 1);
    j->is_alone = fact(facts, "alone=", 0) > 0;
    if (j->is_alone && fork() != 0) return 0; /* so that this process is no child of the program */
    fcntl(j->parent_fd, F_SETFD, FD_CLOEXEC);
    snprintf(j->name, sizeof j->name, "%s", name ? name + 4 : "1");
    say_as(j->name);
    j->o = (struct launch_options){
        .place.bind = BIND_NONE, .pmix = PMIX_OFF, .stdin_rank = STDIN_NONE, .output.label = fact(facts, "label=", 0) > 0};
    char *t = request_read(j->parent_fd, &n); /* the options point to its words until the end */
    if (!t) return EXIT_USAGE;
    say_keep(true);
    const char *parent = "";
    struct sockaddr_storage far = {0};
    request_parse(j, hold(t), n, &parent, &far);
    if (!j->failed && (j->o.n_ranks < 1 || j->o.n_ranks > MAX_RANKS)) {
        say_line("%d processes were asked for; at most %d can be started", j->o.n_ranks, MAX_RANKS);
        j->failed = 1;
        j->room = MAX_RANKS;
    }
    if (!j->failed) elsewhere_choose(j, parent, far.ss_family != 0);
    if (!j->failed) return -1;
    answer(j, j->failed_app, say_kept());
    return 0;
}

bool spawned_started(struct job *j, int rc)
{
    answer(j, rc ? j->failed_app : -1, rc ? say_kept() : "");
    say_keep(false);
    return rc == 0;
}

bool spawned_hear(struct job *j)
{
    assert(j->parent_fd >= 0);
    char c;
    ssize_t n;
    while ((n = recv(j->parent_fd, &c, 1, MSG_DONTWAIT)) == 1) {
        if (c == BOOT_SPAWN_JOINED) j->met = true;
        j->bye = c == BOOT_SPAWN_BYE; /* after it has disconnected, a job may connect again */
    }
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    close(j->parent_fd);
    j->parent_fd = -1;
    if (!j->head) return j->bye || j->met; /* the job runs on other hosts, where its ranks detect failures (boot_connected.c) */
    return j->bye || (j->met && !connected_has(j, j->parent_uid)); /* a job that has disconnected does not fail with it */
}

/* ---- the parents wait ------------------------------------------------------------------------------------------------ */
/* A rank that uses sessions and has not called MPI_Init, in which jobs meet their parents; -1: none. */
static int session_user(const struct job *j)
{
    for (int i = 0; i < j->n; i++) {
        const struct boot_rank *slot = job_slot(j, i);
        if (atomic_load_explicit(&slot->phase, memory_order_relaxed) != BOOT_NEW &&
            !atomic_load_explicit(&slot->in_world, memory_order_relaxed))
            return i;
    }
    return -1;
}

int spawned_watch(struct job *j, bool *give_up_out)
{
    enum { OFTEN_MS = 500, SECONDS = 10, SECONDS_SESSION = 30 };
    *give_up_out = false;
    if (!j->name[0] || j->met || j->ending) return -1;
    if (!meeting.since_ns) meeting.since_ns = gw_now_ns();
    double waited = (double)(gw_now_ns() - meeting.since_ns) / 1e9;
    int user = session_user(j);
    const char *program = j->o.apps[0].argv[0], *why = user >= 0 ? "; it uses sessions, which do not meet the parents" : "";
    if (!meeting.is_said && waited > SECONDS)
        say_line("%s has not called MPI_Init for %d s, and MPI_Comm_spawn waits for that%s", program, SECONDS, why);
    meeting.is_said = meeting.is_said || waited > SECONDS;
    *give_up_out = waited > (j->patience > 0 ? j->patience : user >= 0 ? SECONDS_SESSION : 1e9);
    if (*give_up_out)
        meeting.why = gw_xasprintf("%.64s did not call MPI_Init within %g s%s", program,
                                   j->patience > 0 ? j->patience : SECONDS_SESSION, why);
    return OFTEN_MS;
}

bool spawned_elsewhere(struct job *j)
{
    if (!meeting.since_ns) meeting.since_ns = gw_now_ns();
    if (j->parent_fd >= 0 && !spawned_hear(j)) return false;
    if (j->met || j->patience <= 0 || (double)(gw_now_ns() - meeting.since_ns) / 1e9 < j->patience) return true;
    if (!meeting.why) meeting.why = gw_xasprintf("%.64s did not call MPI_Init within %g s", j->o.apps[0].argv[0], j->patience);
    return false;
}

void spawned_ended(const char *engine, int status)
{
    if (!meeting.why)
        meeting.why = gw_xasprintf("%.64s ended with status %d before MPI_Init of the new processes was over; what it said is on "
                                   "the standard error of the job",
                                   engine, status);
}

/* Until the parents have closed the connection, as they do after an answer: or they had met the job before that came. */
static void hear_last(struct job *j)
{
    enum { MOST_MS = 20000, OFTEN_MS = 100 };
    uint64_t until = gw_now_ns() + (uint64_t)MOST_MS * 1000000;
    while (j->parent_fd >= 0 && !j->met && gw_now_ns() < until) {
        if (poll(&(struct pollfd){j->parent_fd, POLLIN, 0}, 1, OFTEN_MS) < 0) usleep(1000);
        spawned_hear(j);
    }
}

int spawned_end(struct job *j, int rc)
{
    char text[160];
    bool was_met = j->met;
    if (j->parent_fd >= 0) spawned_hear(j);
    if (was_met) return rc;
    snprintf(text, sizeof text, "%.64s ended (status %d) before its MPI_Init was over", j->o.apps[0].argv[0], rc);
    if (!j->met && j->parent_fd >= 0) {
        answer(j, 0, meeting.why ? meeting.why : text);
        hear_last(j);
    }
    free(meeting.why);
    meeting.why = NULL;
    if (j->met && rc && j->head) connected_notify(j, rc); /* when the ranks ended this was not known */
    return j->met ? rc : 0;
}
