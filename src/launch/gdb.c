/* gdb.c -- mpiexec --gdb: ranks that start under gdb.
 *
 * One such rank has the terminal of mpiexec: its process group is the terminal's foreground while it lives.  Several have a window
 * each, of xterm or tmux.  A window's own process ("mpiexec --gdb-window") gives its terminal up and only keeps it open; the rank,
 * a child of mpiexec as all ranks are, takes it as the controlling terminal of a session of its own.  So the window's program needs
 * nothing of what a rank inherits, and a rank under gdb ends with mpiexec as others do.
 *
 *   mpiexec: listens, opens windows --> window: lets go of its terminal, says which it was --> mpiexec: starts the rank there
 *   mpiexec closes the connection, or dies --> window: ends
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/gdb.h"
#include "base/base.h"
#include "base/os.h"
#include "base/time.h"
#include "boot/port.h"

/* What the process of a window reports. */
struct window {
    int rank;
    char tty[64], term[64];
};

static struct {
    int n, size;            /* ranks under gdb; all ranks */
    bool *has;              /* [ranks]; NULL: none */
    struct window *windows; /* [n]; NULL: one rank, on the terminal of mpiexec */
    int *connections;       /* [n]; -1: not connected yet */
    int listener, n_windows;
} gdb = {.listener = -1};

int launch_gdb_ranks(const char *list, int n_ranks, bool *has_out)
{
    assert(n_ranks >= 0);
    memset(has_out, 0, sizeof *has_out * (size_t)n_ranks);
    if (!*list || strcmp(list, "all") == 0) {
        for (int i = 0; i < n_ranks; i++) has_out[i] = true;
        return n_ranks;
    }
    for (const char *p = list;;) {
        char *end;
        if (*p < '0' || *p > '9') return GDB_NO_LIST;
        long a = strtol(p, &end, 10), b = a;
        if (*end == '-') {
            p = end + 1;
            if (*p < '0' || *p > '9') return GDB_NO_LIST;
            b = strtol(p, &end, 10);
        }
        if (b < a || (*end && *end != ',')) return GDB_NO_LIST;
        if (b >= n_ranks) return GDB_NO_RANK;
        for (long i = a; i <= b; i++) has_out[i] = true;
        if (!*end) break;
        p = end + 1;
    }
    int n = 0;
    for (int i = 0; i < n_ranks; i++) n += has_out[i];
    return n;
}

bool launch_gdb_has(int rank) { return gdb.has && gdb.has[rank]; }

/* ---- windows -------------------------------------------------------------------------------------------------------------- */
static const struct window *window_of(int rank)
{
    for (int i = 0; gdb.windows && i < gdb.n_windows; i++)
        if (gdb.windows[i].rank == rank) return &gdb.windows[i];
    return NULL;
}

static socklen_t address_of(const char *name, struct sockaddr_un *a)
{
    *a = (struct sockaddr_un){.sun_family = AF_UNIX};
    /* Abstract (the first byte is 0): there is no file, and the name ends with the socket. */
    int n = snprintf(a->sun_path + 1, sizeof a->sun_path - 1, "%s", name);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

int launch_gdb_window_main(int argc, char **argv)
{
    struct window w = {.rank = argc > 2 ? atoi(argv[2]) : -1};
    struct sockaddr_un a;
    char byte;
    const char *term = getenv("TERM");
    int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (argc != 3 || ttyname_r(0, w.tty, sizeof w.tty) || s < 0 || connect(s, (void *)&a, address_of(argv[1], &a)) < 0 ||
        !boot_peer_is_ours(s)) {
        say_line("--gdb-window is for mpiexec --gdb alone");
        return EXIT_USAGE;
    }
    snprintf(w.term, sizeof w.term, "%s", term ? term : "dumb");
    for (int sig = 1; sig < 32; sig++) signal(sig, SIG_IGN); /* giving up the terminal sends SIGHUP */
    ioctl(0, TIOCNOTTY);
    if (send(s, &w, sizeof w, 0) == sizeof w)
        while (read(s, &byte, 1) < 0 && errno == EINTR) {}
    return 0;
}

enum opener { OPENER_NONE, OPENER_XTERM, OPENER_TMUX };

static bool here(const char *program)
{
    char *path = program_find(program, NULL);
    free(path);
    return path != NULL;
}

static enum opener opener_find(void)
{
    const char *display = getenv("DISPLAY"), *tmux = getenv("TMUX");
    if (display && *display && here("xterm")) return OPENER_XTERM;
    return tmux && *tmux && here("tmux") ? OPENER_TMUX : OPENER_NONE;
}

/* Starts the program that opens a rank's window.  Returns its pid (tmux ends at once), or -1 with errno. */
static pid_t window_open(enum opener with, const char *name, int rank)
{
    char self[PATH_MAX], number[16], title[32];
    pid_t pid = gw_own_program(self) ? fork() : -1;
    if (pid) return pid;
    snprintf(number, sizeof number, "%d", rank);
    snprintf(title, sizeof title, "rank %d", rank);
    char *xterm[] = {"xterm", "-T", title, "-e", self, "--gdb-window", (char *)name, number, NULL};
    char *tmux[] = {"tmux", "new-window", "-d", "-n", title, self, "--gdb-window", (char *)name, number, NULL};
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    child_size_signal_reset();
    execvp(with == OPENER_XTERM ? "xterm" : "tmux", with == OPENER_XTERM ? xterm : tmux);
    _exit(EXIT_NOT_FOUND);
}

/* Waits for the next window of our user to connect.  Returns 0 or an errno: none came in time, or its program has failed. */
static int window_accept(pid_t program)
{
    enum { WAIT_S = 15, LOOK_MS = 100 };
    for (uint64_t until = gw_now_ns() + (uint64_t)WAIT_S * 1000000000; gw_now_ns() < until;) {
        struct pollfd f = {.fd = gdb.listener, .events = POLLIN};
        struct window w;
        int status;
        if (poll(&f, 1, LOOK_MS) != 1) {
            if (waitpid(program, &status, WNOHANG) == program && status != 0) return ECHILD;
            continue;
        }
        int s = accept4(gdb.listener, NULL, NULL, SOCK_CLOEXEC);
        if (s < 0) continue;
        f.fd = s;
        if (boot_peer_is_ours(s) && poll(&f, 1, 1000) == 1 && recv(s, &w, sizeof w, MSG_DONTWAIT) == sizeof w && w.rank >= 0 &&
            w.rank < gdb.size && launch_gdb_has(w.rank) && !window_of(w.rank)) {
            w.tty[sizeof w.tty - 1] = w.term[sizeof w.term - 1] = 0;
            gdb.connections[gdb.n_windows] = s;
            gdb.windows[gdb.n_windows++] = w;
            return 0;
        }
        close(s);
    }
    return ETIMEDOUT;
}

static int windows_open(const struct job *j, enum opener with)
{
    struct sockaddr_un a;
    char name[64];
    uint64_t random = 0;
    if (getrandom(&random, sizeof random, 0) != sizeof random) return errno;
    snprintf(name, sizeof name, "godwit-gdb-%d-%016llx", (int)getpid(), (unsigned long long)random);
    gdb.listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (gdb.listener < 0 || bind(gdb.listener, (void *)&a, address_of(name, &a)) < 0 || listen(gdb.listener, 4096) < 0)
        return errno;
    gdb.windows = gw_xcalloc((size_t)gdb.n, sizeof *gdb.windows);
    gdb.connections = gw_xcalloc((size_t)gdb.n, sizeof *gdb.connections);
    int rc = 0;
    for (int rank = 0; rank < j->n && !rc; rank++) { /* one after the other, so that windows are in the order of the ranks */
        if (!launch_gdb_has(rank)) continue;
        pid_t program = window_open(with, name, rank);
        rc = program < 0 ? errno : window_accept(program);
    }
    return rc;
}

int launch_gdb_start(struct job *j)
{
    assert(!gdb.has);
    if (!j->o.gdb) return 0;
    gdb.has = gw_xcalloc((size_t)j->n, sizeof *gdb.has);
    gdb.size = j->n;
    gdb.n = launch_gdb_ranks(j->o.gdb, j->n, gdb.has);
    if (!here("gdb")) {
        say_line("--gdb needs gdb, which is not in PATH; on Debian: apt install gdb");
        return EXIT_NOT_FOUND;
    }
    for (int rank = 0; gdb.n == 1 && rank < j->n; rank++)
        if (gdb.has[rank]) j->o.stdin_rank = rank; /* gdb reads its commands there */
    if (gdb.n == 1) return 0;
    enum opener with = opener_find();
    if (with == OPENER_NONE) {
        say_line(
            "--gdb of %d ranks needs a window for each: start mpiexec in tmux, or where DISPLAY is set and xterm installed; or "
            "choose "
            "one rank: --gdb=0",
            gdb.n);
        return EXIT_USAGE;
    }
    j->o.stdin_rank = STDIN_NONE;
    int rc = windows_open(j, with);
    if (rc)
        say_line("--gdb: %s opens no window (%s)", with == OPENER_XTERM ? "xterm" : "tmux",
                 rc == ECHILD ? "it failed" : strerror(rc));
    return rc ? EXIT_CANNOT_RUN : 0;
}

/* ---- ranks ------------------------------------------------------------------------------------------------------------------ */
void launch_gdb_env(int rank, struct words *own)
{
    const struct window *w = window_of(rank);
    if (!w) return;
    char *pair = gw_xasprintf("TERM=%s", w->term);
    words_add(own, pair);
    free(pair);
}

bool launch_gdb_has_window(int rank) { return window_of(rank) != NULL; }

/* Gives the terminal to a process group.  SIGTTOU is blocked, which would stop a process that does this from the background. */
static void foreground(pid_t group)
{
    sigset_t ttou, before;
    sigemptyset(&ttou);
    sigaddset(&ttou, SIGTTOU);
    sigprocmask(SIG_BLOCK, &ttou, &before);
    tcsetpgrp(0, group);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

int launch_gdb_terminal(int rank)
{
    const struct window *w = window_of(rank);
    if (!w) {
        if (isatty(0) && tcgetpgrp(0) == getpgid(getppid())) foreground(getpid());
        return 0;
    }
    int fd = open(w->tty, O_RDWR);
    if (fd < 0) return errno;
    ioctl(fd, TIOCSCTTY, 0); /* if it fails, gdb works without Ctrl-C */
    for (int i = 0; i < 3; i++) dup2(fd, i);
    if (fd > 2) close(fd);
    return 0;
}

char **launch_gdb_argv(char **argv)
{
    assert(argv[0]);
    int n = 0;
    while (argv[n]) n++;
    char **with = gw_xcalloc((size_t)n + 4, sizeof *with);
    with[0] = "gdb";
    with[1] = "-q";
    with[2] = "--args";
    memcpy(with + 3, argv, sizeof *with * (size_t)n);
    return with;
}

void launch_gdb_end(void)
{
    if (!gdb.has) return;
    if (gdb.n == 1 && isatty(0)) {
        signal(SIGTTOU, SIG_IGN);
        tcsetpgrp(0, getpgrp());
    }
    for (int i = 0; i < gdb.n_windows; i++) close(gdb.connections[i]);
    if (gdb.listener >= 0) close(gdb.listener);
    free(gdb.windows);
    free(gdb.connections);
    free(gdb.has);
}
