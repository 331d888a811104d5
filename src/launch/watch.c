/* watch.c -- waits until all ranks have ended; when one fails, reports it and ends the others.
 *
 *   RUNNING --a rank fails, Ctrl-C, SIGTERM, time is up--> ENDING (SIGTERM or the signal itself) --1 s--> SIGKILL
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/time.h"
#include "boot/call.h"
#include "boot/segment.h"
#include "launch/launch.h"
#include "verdict/crash.h"
#include "verdict/stack.h"

enum { GRACE_MS = 1000 };
static uint64_t kill_at;   /* when ranks that do not end are killed, in ns; 0: never */
static bool has_deathless; /* a rank that has not ended, and cannot be made to */

static void kill_ranks(const struct job *j, int sig)
{
    for (int i = 0; i < j->n; i++) child_group_kill(j->ranks[i].pid, sig);
}

/* After SIGKILL: a rank that the kernel does not let this process signal.  It may be a program with another user's rights (sudo). */
static void deathless_look(const struct job *j)
{
    for (int i = 0; i < j->n && !has_deathless; i++) {
        if (j->ranks[i].pid <= 0 || kill(j->ranks[i].pid, 0) == 0 || errno == ESRCH) continue;
        say_line("rank %d (host %s, pid %d) cannot be ended (kill: %s); mpiexec ends without it%s", job_rank(j, i), j->host,
                 (int)j->ranks[i].pid, strerror(errno),
                 errno == EPERM ? ". Has it the rights of another user (sudo, set-user-ID)?" : "");
        has_deathless = true;
    }
}

void launch_kill_all(const struct job *j, int sig)
{
    kill_ranks(j, sig);
    spawned_signal_all(j, sig == SIGSTOP ? SIGTSTP : sig);
}

/* Ends the ranks after a failure; jobs that are not connected with this one go on. */
static void end_job(struct job *j, int sig, int status)
{
    assert(sig > 0 && status >= 0);
    if (j->ending) return;
    j->ending = true;
    j->exit_status = status;
    if (j->part.size) launch_agent_failed(status);
    connected_notify(j, status);
    kill_ranks(j, sig);
    kill_ranks(j, SIGCONT); /* a stopped process cannot die of a signal that it handles */
    kill_at = gw_now_ns() + (uint64_t)GRACE_MS * 1000000;
}

/* Ends the ranks and all jobs that they have spawned, after a signal or --timeout. */
static void end_all(struct job *j, int sig, int status)
{
    assert(sig > 0 && status > 0);
    if (j->ending_all) return;
    j->ending_all = true;
    if (!j->ending) j->exit_status = status;
    if (!j->ending && j->part.size) launch_agent_failed(status); /* a signal to the agent alone ends the whole job */
    j->ending = true;
    launch_kill_all(j, sig);
    launch_kill_all(j, SIGCONT);
    kill_at = gw_now_ns() + (uint64_t)GRACE_MS * 1000000;
}

void launch_end(struct job *j, int sig, int status, bool all)
{
    if (all)
        end_all(j, sig, status);
    else
        end_job(j, sig, status);
}

/* ---- deaths -------------------------------------------------------------------------------------------------------------------- */
static const char *call_of(const struct boot_rank *slot)
{
    return boot_call_name(atomic_load_explicit(&slot->call, memory_order_relaxed));
}

static bool others_in_mpi(const struct job *j, int but)
{
    if (j->part.is_met_by_others) return true;
    for (int i = 0; i < j->n; i++) {
        uint32_t phase = atomic_load_explicit(&job_slot(j, i)->phase, memory_order_relaxed);
        if (i != but && j->ranks[i].pid > 0 && (phase == BOOT_INIT || phase == BOOT_RUNNING)) return true;
    }
    return false;
}

/* Of a program that has OpenSHMEM alone. */
static bool is_in_shmem(const struct boot_rank *slot)
{
    return atomic_load_explicit(&slot->in_shmem, memory_order_relaxed) &&
        !atomic_load_explicit(&slot->in_world, memory_order_relaxed);
}

/* By which ranks of this host begin. */
static const char *first_call(const struct job *j)
{
    for (int i = 0; i < j->n; i++)
        if (is_in_shmem(job_slot(j, i))) return "shmem_init";
    return "MPI_Init";
}

static const char *others_fate(const struct job *j)
{
    return j->alive <= 0 && job_size(j) == j->n ? ""
        : j->o.no_cleanup                       ? "; the other ranks go on (-disable-auto-cleanup)"
                                                : "; the other ranks end now";
}

/* A rank has failed: ends the job, unless -disable-auto-cleanup was given. */
static void end_with(struct job *j, int status)
{
    if (!j->o.no_cleanup)
        end_job(j, SIGTERM, status);
    else if (!j->exit_status)
        j->exit_status = status;
}

/* Which limit may have sent this signal. */
static void limit_text(const struct job *j, int rank, int sig, char *out, size_t cap)
{
    double used;
    int64_t allowed = child_cpu_limit(j->ranks[rank].was, sig, &used);
    *out = 0;
    if (allowed && sig == SIGXCPU)
        snprintf(out, cap, " (limit: %s %lld, seconds of CPU time of a process)",
                 j->o.cpu_time == allowed ? "--cpu-time-limit" : "ulimit -t", (long long)allowed);
    else if (allowed)
        snprintf(out, cap, " (the limit of CPU time? it has used %.1f s, and ulimit -t is %lld)", used, (long long)allowed);
    else if (sig == SIGKILL)
        snprintf(out, cap, " (out of memory? see dmesg)");
    else if (sig == SIGXFSZ)
        snprintf(out, cap, " (limit: ulimit -f)");
}

static void report_signal(const struct job *j, int rank, int sig)
{
    assert(sig > 0 && sig <= SIGRTMAX);
    const struct boot_rank *slot = job_slot(j, rank);
    uint32_t phase = atomic_load_explicit(&slot->phase, memory_order_relaxed);
    const char *call = call_of(slot);
    char limit[128];
    limit_text(j, rank, sig, limit, sizeof limit);
    say_line("rank %d (host %s, pid %d) was killed by signal %d (%s)%s%s%s%s", job_rank(j, rank), j->host, (int)j->ranks[rank].was,
             sig, strsignal(sig),
             !call                                             ? ""
                 : phase != BOOT_RUNNING && phase != BOOT_INIT ? "; it had left "
                 : strncmp(call, "shmem", 5) == 0              ? "; its last OpenSHMEM call that could wait was "
                                                               : "; its last MPI call was ",
             call ? call : "", limit, others_fate(j));
}

/* Reports how a rank has ended, and ends the job if it has failed. */
static void rank_gone(struct job *j, int rank)
{
    assert(rank >= 0 && rank < j->n && j->ranks[rank].pid == 0);
    int status = j->ranks[rank].status, pid = (int)j->ranks[rank].was;
    const struct boot_rank *slot = job_slot(j, rank);
    uint32_t phase = atomic_load_explicit(&slot->phase, memory_order_relaxed);
    bool is_shmem = is_in_shmem(slot);
    int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    if (j->ending || crash_is_under_way(j, rank)) return; /* mpiexec ended it, or that crash did */
    if (phase == BOOT_ABORTED) {                          /* also before abort(), with GODWIT_ABORT_ON_ERROR */
        int abort_code = atomic_load_explicit(&slot->abort_code, memory_order_relaxed);
        if (abort_code || !is_shmem) /* shmem_global_exit(0) is an end like another */
            say_line("rank %d (host %s, pid %d) ended the job with code %d%s%s", job_rank(j, rank), j->host, pid, abort_code,
                     slot->what[0] ? ": " : "", slot->what);
        if (j->ranks[rank].is_ended || !code) code = abort_code & 0xff; /* 0: of a script around the rank, which went on */
        end_job(j, SIGTERM, !code && abort_code ? 1 : code);            /* an exit status has 8 bits: code 256 is not success */
    } else if (WIFSIGNALED(status)) {
        report_signal(j, rank, WTERMSIG(status));
        if (crash_is_one(WTERMSIG(status))) crash_say(j, rank);
        end_with(j, code);
    } else if (phase == BOOT_INIT || phase == BOOT_RUNNING) {
        const char *call = call_of(slot); /* MPI_Finalize: it was called, and has failed */
        say_line("rank %d (host %s, pid %d) ended with status %d without %s %s%s", job_rank(j, rank), j->host, pid, code,
                 call && strcmp(call, "MPI_Finalize") == 0 ? "completing" : "calling", is_shmem ? "shmem_finalize" : "MPI_Finalize",
                 others_fate(j));
        end_with(j, code ? code : 1);
    } else if (phase == BOOT_NEW && others_in_mpi(j, rank) && !j->o.no_cleanup) {
        say_line("rank %d (host %s, pid %d) ended with status %d without calling %s, which the others wait for; they end now",
                 job_rank(j, rank), j->host, pid, code, first_call(j));
        end_job(j, SIGTERM, code ? code : 1);
    } else if (code && !j->exit_status) {
        j->exit_status = code; /* the first that failed; the others do not depend on it */
    }
}

static void on_sub_gone(struct job *j, const struct sub_end *e)
{
    if (!e->code) return;
    if (!j->exit_status) j->exit_status = e->code;
    if (!e->by_signal || j->ending || !connected_has(j, e->uid))
        return; /* else it has notified this mpiexec if the jobs are connected */
    say_line("the mpiexec of spawned job %s is gone; the other ranks end now", e->name);
    end_job(j, SIGTERM, e->code);
}

/* A child has ended: removes its pid from all records (see the rule in child.h). */
static void on_ended(struct job *j, pid_t pid, int status)
{
    assert(pid > 0);
    struct sub_end e;
    if (spawned_sub_ended(j, pid, status, &e)) {
        on_sub_gone(j, &e);
        return;
    }
    if (pid == j->keeper) {
        keeper_gone(j);
        return;
    }
    for (int i = 0; i < j->n; i++) {
        if (j->ranks[i].pid != pid) continue;
        /* After a failure the processes that it has started end with it. */
        if (!WIFEXITED(status) || WEXITSTATUS(status) || j->ending) child_group_kill(pid, SIGKILL);
        j->ranks[i].pid = 0;
        j->ranks[i].status = status;
        keeper_note(i, 0);
        j->alive--;
        assert(j->alive >= 0);
        rank_gone(j, i);
        return;
    }
}

/* The call of the kernel by which mpiexec hears of ranks and signals that has failed last, and how often since it did not. */
static struct {
    int n;
    const char *call;
    int why;
} deaf = {.call = ""};

static void deaf_note(const char *call)
{
    if (strcmp(call, deaf.call) != 0) deaf.n = 0;
    deaf.n++;
    deaf.call = call;
    deaf.why = errno;
}

static void deaf_not(const char *call)
{
    if (deaf.n > 0 && strcmp(call, deaf.call) == 0) deaf.n = 0;
}

/* Without them mpiexec would wait for ever: the job ends now.  keeper and orphans' end kill what this cannot.  The exit status. */
static int deaf_end(struct job *j)
{
    say_line("cannot hear of the ranks any more (%s: %s); the job ends now", deaf.call, strerror(deaf.why));
    j->ending = j->ending_all = true;
    j->exit_status = EXIT_CANNOT_RUN;
    connected_notify(j, j->exit_status);
    launch_kill_all(j, SIGKILL);
    return j->exit_status;
}

static void reap(struct job *j)
{
    int status;
    pid_t pid;
    while ((pid = child_ended(-1, &status)) > 0 || pid == CHILD_STOPPED) {
        if (pid == CHILD_STOPPED) {
            crash_look(j);
            continue;
        }
        on_ended(j, pid, status);
        child_reap(pid);
    }
    bool has_children = j->alive > 0 || j->n_subs > 0;
    if (pid < 0 && (errno != ECHILD || has_children)) /* while one is recorded, "there is none" is wrong */
        deaf_note("waitid");
    else
        deaf_not("waitid");
}

/* A job that this one is connected with has failed. */
static void on_tie(struct job *j, uint64_t word)
{
    int status;
    if (j->ending || !connected_signalled(j, word, &status)) return;
    if (j->alive > 0) say_line("a job that this one is connected with failed; the ranks end now");
    end_job(j, SIGTERM, status ? status : 1);
}

/* Ranks that have ended without MPI_Init: the others may have called it since, and wait for them. */
static void check_absent(struct job *j)
{
    for (int i = 0; i < j->n && !j->ending; i++)
        if (j->ranks[i].pid == 0 && atomic_load_explicit(&job_slot(j, i)->phase, memory_order_relaxed) == BOOT_NEW &&
            !j->o.no_cleanup)
            rank_gone(j, i);
}

/* ---- signals and time -------------------------------------------------------------------------------------------------------- */
static void on_signal(struct job *j, int sig)
{
    switch (sig) {
    case SIGCHLD:
        crash_look_waiting(j);
        reap(j);
        break;
    case SIGTSTP:
        launch_kill_all(j, SIGSTOP);
        kill(getpid(), SIGSTOP);
        break;
    case SIGCONT:
        launch_kill_all(j, SIGCONT);
        where_resumed();
        break;
    case SIGUSR1:
    case SIGUSR2:
        for (int i = 0; i < j->n; i++) child_kill(j->ranks[i].pid, sig);
        spawned_signal_all(j, sig);
        break;
    case SIGQUIT:
        where_say(j);
        spawned_signal_all(j, sig);
        break;
    default:
        launch_output_hurry();
        if (j->ending_all) {
            launch_kill_all(j, SIGKILL);
        } else {
            end_all(j, sig, 128 + sig);
        }
    }
}

void launch_signal(struct job *j, int sig)
{
    if (sig == SIGTSTP)
        launch_kill_all(j, SIGSTOP); /* the agent itself goes on */
    else if (sig > 0 && sig < NSIG && sig != SIGCHLD)
        on_signal(j, sig);
}

int launch_signals_open(void)
{
    static const int caught[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGUSR1, SIGUSR2};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof caught / sizeof caught[0]; i++) sigaddset(&set, caught[i]);
    sigaddset(&set, connected_signal());
    struct sigaction hup;
    if (sigaction(SIGHUP, NULL, &hup) == 0 && hup.sa_handler == SIG_IGN) sigdelset(&set, SIGHUP); /* nohup */
    if (sigprocmask(SIG_BLOCK, &set, NULL) != 0) return -1;
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int sooner(int a, int64_t b)
{
    if (b < 0) b = 0;
    return a < 0 || b < a ? (int)b : a;
}

/* The stacks of all ranks, on standard error, as mpiexec --stack would print them. */
static void stacks_say(void)
{
    char word[32];
    snprintf(word, sizeof word, "--stack=%d", (int)getpid());
    pid_t pid = fork();
    if (pid == 0) {
        child_signals_reset();
        dup2(STDERR_FILENO, STDOUT_FILENO);
        int rc = stack_main(1, (char *[]){word, NULL});
        fflush(NULL);
        _exit(rc);
    }
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR) {}
}

/* What -print-all-exitcodes asks for. */
static void codes_say(const struct job *j)
{
    char *text = gw_xasprintf("%s", "");
    for (int i = 0; i < j->n; i++) {
        int status = j->ranks[i].status;
        char *joined =
            gw_xasprintf("%s%s%d", text, i ? "," : "", WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
        free(text);
        text = joined;
    }
    fprintf(stderr, "mpiexec: exit codes: [%s] %s\n", j->host, text);
    free(text);
}

/* Does what is due; returns the ms until something else is due, -1: nothing. */
static int timers(struct job *j, uint64_t deadline)
{
    assert(j->alive >= 0);
    uint64_t now = gw_now_ns();
    bool gives_up = false, differs = false;
    int wait = launch_forward_flush_stale(j), look = where_watch(j, &differs);
    int told = spawned_watch(j, &gives_up);
    int typed = launch_forward_input_due(j);
    if (typed >= 0) wait = sooner(wait, typed);
    if (look >= 0) wait = sooner(wait, look);
    if (told >= 0) wait = sooner(wait, told);
    int foreign = foreign_look(j);
    if (foreign >= 0) wait = sooner(wait, foreign);
    int asked = j->part.size ? launch_agent_due(j) : -1;
    if (asked >= 0) wait = sooner(wait, asked);
    if (gives_up || differs) end_all(j, SIGTERM, 1);
    int ways;
    if (foreign_differs(j, &ways)) end_all(j, SIGTERM, EXIT_CANNOT_RUN);
    if (ways >= 0) wait = sooner(wait, ways);
    if (deadline && now >= deadline && !j->ending_all) {
        say_line("the job ran longer than --timeout %g s; it ends now:", j->o.timeout);
        where_say(j);
        if (j->o.stacks) stacks_say();
        spawned_signal_all(j, SIGQUIT);
        end_all(j, SIGTERM, EXIT_TIMEOUT);
    }
    if (kill_at && now >= kill_at) {
        kill_at = 0;
        kill_ranks(j, SIGKILL);
        if (j->ending_all) spawned_signal_all(j, SIGKILL);
        deathless_look(j);
    }
    if (has_deathless) wait = 0;
    if (deadline && !j->ending_all) wait = sooner(wait, (int64_t)(deadline - now) / 1000000 + 1);
    if (kill_at) wait = sooner(wait, (int64_t)(kill_at - now) / 1000000 + 1);
    if (j->alive < j->n && !j->ending) {
        check_absent(j);
        wait = sooner(wait, 500);
    }
    return wait;
}

static void on_event(struct job *j, const struct epoll_event *e, const int *signal_fd)
{
    struct signalfd_siginfo info;
    if (e->data.ptr == signal_fd) {
        ssize_t n;
        while ((n = read(*signal_fd, &info, sizeof info)) == sizeof info) {
            deaf_not("read");
            if ((int)info.ssi_signo == connected_signal())
                on_tie(j, info.ssi_ptr);
            else
                on_signal(j, (int)info.ssi_signo);
        }
        if (n < 0 && errno != EAGAIN && errno != EINTR) deaf_note("read");
    } else if (e->data.ptr == &j->control) {
        spawned_control_accept(j);
    } else if (e->data.ptr == &j->pmi) {
        pmi_serve(j);
        if (j->part.size) launch_agent_look(j);
    } else if (e->data.ptr == &j->part) {
        launch_agent_serve(j);
    } else if (e->data.ptr == &j->parent_fd) {
        /* closed, it is reported as long as a child that has not started its program yet has it open, too */
        if (j->parent_fd >= 0 && !spawned_hear(j)) end_job(j, SIGTERM, 1);
    } else if (!e->data.ptr) {
        launch_forward_input(j);
    } else {
        launch_forward_output(j, e->data.ptr);
    }
}

/* fd < 0: there is none to watch. */
static bool watch_add(int epoll, int fd, void *what)
{
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = what};
    return fd < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) == 0;
}

/* What is watched beside the ranks' output and our input.  False, and noted: the kernel refuses it. */
static bool watch_open(struct job *j, int epoll, int *signal_fd)
{
    bool is_open = epoll >= 0;
    if (!is_open) deaf_note("epoll");
    *signal_fd = launch_signals_open();
    if (is_open && *signal_fd < 0) deaf_note("signals"), is_open = false;
    if (is_open &&
        !(watch_add(epoll, *signal_fd, signal_fd) && watch_add(epoll, j->control.fd, &j->control) &&
          watch_add(epoll, j->pmi, &j->pmi) && watch_add(epoll, j->parent_fd, &j->parent_fd)))
        deaf_note("epoll_ctl"), is_open = false;
    int agent = is_open && j->part.size ? launch_agent_open() : 0;
    if (agent < 0 || (agent > 0 && !watch_add(epoll, agent, &j->part))) deaf_note("epoll_ctl"), is_open = false;
    return is_open;
}

int launch_watch(struct job *j)
{
    assert(j->alive >= 0 && j->alive <= j->n);
    enum { EVENTS = 64, DEAF_MOST = 20, DEAF_MS = 50 };
    struct epoll_event events[EVENTS];
    int epoll = launch_forward_start(j), signal_fd;
    uint64_t deadline = j->o.timeout > 0 ? gw_now_ns() + (uint64_t)(j->o.timeout * 1e9) : 0;
    if (!watch_open(j, epoll, &signal_fd)) return deaf_end(j);
    on_signal(j, SIGCHLD); /* ranks that ended or crashed before signals were caught */
    while ((j->alive > 0 || j->n_subs > 0) && !has_deathless) {
        int wait = timers(j, deadline), n = epoll_wait(epoll, events, EVENTS, deaf.n > 0 ? sooner(wait, DEAF_MS) : wait);
        if (n < 0 && errno != EINTR) {
            deaf_note("epoll_wait");
            usleep(1000 * DEAF_MS);
        } else if (n >= 0) {
            deaf_not("epoll_wait");
        }
        for (int i = 0; i < n; i++) on_event(j, &events[i], &signal_fd);
        if (deaf.n > 0 && n >= 0) reap(j); /* what was not heard of is asked for again */
        if (deaf.n > DEAF_MOST) return deaf_end(j);
    }
    launch_forward_end(j);
    if (j->o.exit_codes) codes_say(j);
    if (!j->exit_status && launch_output_failed()) j->exit_status = 1;
    return j->exit_status;
}
