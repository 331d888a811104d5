/* reach.c -- see reach.h.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "agent/reach.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/base.h"
#include "base/plain.h"
#include "job/child.h"

/* What stands behind the words of the user, before the program.  %h: the host, %t: seconds of patience.  ssh is the last to notice that a host
 * is gone: mpiexec asks by itself (engine_alive_start()), where it has a way to the host that is not ssh's. */
static const struct {
    const char *name, *before;
    bool is_shell; /* a shell reads the rest: it is quoted */
} known[] = {
    {"ssh", "-x -T -o ServerAliveCountMax=2 -o ConnectTimeout=%t -o ServerAliveInterval=%t %h", true},
    {"srun", "-Q -N 1 -n 1 --mpi=none -w %h", false},
    {"lsrun", "-m %h", false},
    {"blaunch", "%h", false},
};

const char *agent_reach_name(const char *agent)
{
    static char name[64];
    size_t n = strcspn(agent, " "), from = n;
    while (from > 0 && agent[from - 1] != '/') from--;
    snprintf(name, sizeof name, "%.*s", (int)(n - from), agent + from);
    return name[0] ? name : "ssh";
}

static void add_split(struct words *w, const char *list)
{
    for (const char *p = list; *p;) {
        size_t n = strcspn(p, " ");
        char *word = gw_xasprintf("%.*s", (int)n, p);
        if (n) words_add(w, word);
        free(word);
        p += n + (p[n] == ' ');
    }
}

static void add_before(struct words *w, const char *pattern, const char *host, int patience)
{
    struct words raw = {0};
    add_split(&raw, pattern);
    for (int i = 0; i < raw.n; i++) {
        const char *percent = strchr(raw.at[i], '%');
        if (!patience && percent && percent[1] != 'h') { /* with the -o before it */
            free(w->at[--w->n]);
            w->at[w->n] = NULL;
            continue;
        }
        char value[16];
        snprintf(value, sizeof value, "%d", patience);
        char *word = gw_xasprintf("%.*s%s", percent ? (int)(percent - raw.at[i]) : (int)strlen(raw.at[i]), raw.at[i],
                                  !percent                ? ""
                                      : percent[1] == 'h' ? host
                                                          : value);
        words_add(w, word);
        free(word);
    }
    words_free(&raw);
}

void agent_reach_words(const char *agent, const char *host, const char *program, int patience, struct words *argv_out)
{
    assert(argv_out->n == 0 && patience >= 0);
    const char *name = agent_reach_name(agent), *before = "%h";
    bool is_shell = true;
    for (size_t i = 0; i < GW_ARRAY_LEN(known); i++)
        if (strcmp(name, known[i].name) == 0) before = known[i].before, is_shell = known[i].is_shell;
    add_split(argv_out, *agent ? agent : "ssh");
    add_before(argv_out, before, host, patience);
    char *quoted = is_shell ? gw_shell_quoted(program) : gw_xasprintf("%s", program);
    words_add(argv_out, quoted);
    words_add(argv_out, "--agent");
    free(quoted);
}

bool agent_reach_is_here(const char *agent)
{
    char path[PATH_MAX], command[512];
    snprintf(command, sizeof command, "%.*s", *agent ? (int)strcspn(agent, " ") : 3, *agent ? agent : "ssh");
    if (strchr(command, '/')) return access(command, X_OK) == 0;
    for (const char *p = secure_getenv("PATH"); p && *p; p += strcspn(p, ":"), p += *p == ':')
        if (snprintf(path, sizeof path, "%.*s/%s", (int)strcspn(p, ":"), p, command) < PATH_MAX && access(path, X_OK) == 0)
            return true;
    return false;
}

/* What a terminal sends to all of its foreground job is passed on by mpiexec alone: ssh keeps what is ignored. */
static void become(const struct words *argv, bool is_local, int in, int out, int report)
{
    static const int of_terminal[] = {SIGINT, SIGQUIT, SIGTSTP};
    child_signals_reset();
    if (is_local) setpgid(0, 0);
    for (size_t i = 0; i < GW_ARRAY_LEN(of_terminal) && !is_local; i++) signal(of_terminal[i], SIG_IGN);
    if (!is_local) prctl(PR_SET_PDEATHSIG, SIGTERM); /* an agent ends in order when its input does */
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    execvp(argv->at[0], argv->at);
    if (write(report, &errno, sizeof errno) < 0) {}
    _exit(127);
}

pid_t agent_reach_start(const struct words *argv, bool is_local, struct link *l)
{
    int in[2], out[2], report[2], why = 0;
    if (pipe2(in, O_CLOEXEC) < 0) return -1;
    if (pipe2(out, O_CLOEXEC) < 0) {
        close(in[0]);
        close(in[1]);
        return -1;
    }
    if (pipe2(report, O_CLOEXEC) < 0) report[0] = report[1] = -1;
    pid_t pid = fork();
    if (pid == 0) become(argv, is_local, in[0], out[1], report[1]);
    if (pid < 0) why = errno;
    close(in[0]);
    close(out[1]);
    if (report[1] >= 0) close(report[1]);
    if (pid > 0 && report[0] >= 0 && read(report[0], &why, sizeof why) == sizeof why) child_reap(pid), pid = -1;
    if (report[0] >= 0) close(report[0]);
    *l = (struct link){.in = out[0], .out = in[1]};
    if (pid < 0) {
        link_close(l);
        errno = why;
        return -1;
    }
    fcntl(l->in, F_SETFL, O_NONBLOCK);
    fcntl(l->out, F_SETFL, O_NONBLOCK);
    return pid;
}
