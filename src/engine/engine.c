/* engine.c -- finds the engine that starts a job on several hosts, runs it, and passes signals on to it.
 *
 * mpiexec stays while the engine runs: it passes signals on, enforces the time limit, and the engine ends with it.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine/engine.h"
#include "agent/reach.h"
#include "base/base.h"
#include "base/os.h"
#include "base/plain.h"
#include "base/settings.h"
#include "base/time.h"
#include "job/child.h"
#include "job/hosts.h"
#include "job/job.h"
#include "job/say.h"
#include "job/words.h"
#include "spawned/elsewhere.h"
#include "spawned/spawned.h"

extern char **environ;
enum { EXIT_LOST_HOST = 125 };

/* ---- is one needed? ------------------------------------------------------------------------------------------------------------- */
static int number_of(const char *name)
{
    const char *text = getenv(name);
    return text && isdigit((unsigned char)*text) ? atoi(text) : 0;
}

/* "4(x2),8" -> 16 */
static int slurm_cpus(void)
{
    const char *p = getenv("SLURM_JOB_CPUS_PER_NODE");
    int64_t sum = 0;
    while (p && isdigit((unsigned char)*p)) {
        char *end;
        long n = strtol(p, &end, 10), times = 1;
        if (strncmp(end, "(x", 2) == 0) times = strtol(end + 2, &end, 10);
        if (*end == ')') end++;
        sum += n > 0 && n < 100000 && times > 0 && times < 100000 ? n * times : 0;
        p = *end == ',' ? end + 1 : NULL;
    }
    return (int)gw_min64(sum, INT_MAX);
}

static int slurm_nodes(void)
{
    int n = number_of("SLURM_JOB_NUM_NODES");
    return n ? n : number_of("SLURM_NNODES");
}

static bool in_slurm(void)
{
    const char *list = getenv("SLURM_JOB_NODELIST");
    if (!getenv("SLURM_JOB_ID")) return false;
    return slurm_nodes() > 1 || (list && *list && !strpbrk(list, "[,") && !hosts_is_local(list));
}

static void hosts_of_batch_system(struct hosts *h, char *why_out, size_t cap)
{
    static const char *const files[] = {"PBS_NODEFILE", "LSB_DJOB_HOSTFILE"};
    for (size_t i = 0; i < GW_ARRAY_LEN(files) && !h->n; i++) {
        const char *path = secure_getenv(files[i]);
        if (path && !hosts_read(h, path, false) && h->n) snprintf(why_out, cap, " (%s)", files[i]);
    }
}

bool engine_is_needed(struct launch_options *o, char *why_out, size_t cap)
{
    assert(cap > 0);
    why_out[0] = 0;
    if (o->engine && strcmp(o->engine, "none") == 0) return false;
    if (o->hosts.n) {
        const char *foreign = hosts_foreign(&o->hosts);
        if (foreign) snprintf(why_out, cap, "%s is another machine", foreign);
        return foreign != NULL;
    }
    if (in_slurm()) {
        snprintf(why_out, cap, "this is an allocation of Slurm");
        return true;
    }
    if (getenv("FLUX_URI")) {
        snprintf(why_out, cap, "this is an instance of Flux");
        return true;
    }
    char from[64] = "";
    hosts_of_batch_system(&o->hosts, from, sizeof from);
    if (o->nodes_most && o->hosts.n >= o->nodes_least) hosts_first(&o->hosts, o->nodes_most);
    const char *foreign = hosts_foreign(&o->hosts);
    if (foreign) snprintf(why_out, cap, "%s is another machine%s", foreign, from);
    return foreign || o->hosts.bad;
}

/* ---- which are here? ------------------------------------------------------------------------------------------------------------ */
/* Copies the first number with a dot that follows `after` in the text. */
static void version_behind(const char *text, const char *after, const char *name, char *version_out, size_t cap)
{
    assert(cap > 0);
    const char *p = strstr(text, after);
    for (p = p ? p + strlen(after) : text; *p; p++) {
        size_t n = strspn(p, "0123456789");
        if (n && p[n] == '.') break;
        p += n ? n - 1 : 0;
    }
    snprintf(version_out, cap, "%s%s%.*s", name, *p ? " " : "", (int)strcspn(p, " \t\r\n,;)"), p);
}

enum engine_kind engine_of_version(const char *text, char *version_out, size_t cap)
{
    static const struct {
        const char *has, *after, *name;
        enum engine_kind is;
    } known[] = {
        {"PRRTE", "PRRTE", "PRRTE", ENGINE_PRTE},
        {"prterun", "prterun", "PRRTE", ENGINE_PRTE},
        {"OpenRTE", "OpenRTE)", "Open MPI", ENGINE_OPENMPI},
        {"Open MPI", "Open MPI", "Open MPI", ENGINE_OPENMPI},
        {"HYDRA", "Version:", "Hydra", ENGINE_HYDRA},
        {"slurm", "slurm", "Slurm", ENGINE_SRUN},
        {"flux-core", "flux-core:", "Flux", ENGINE_FLUX},
    };
    for (size_t i = 0; i < GW_ARRAY_LEN(known); i++) {
        if (!strstr(text, known[i].has)) continue;
        version_behind(text, known[i].after, known[i].name, version_out, cap);
        /* Since Open MPI 5 mpirun is that of PRRTE and has its options. */
        const char *major = known[i].is == ENGINE_OPENMPI ? strpbrk(version_out, "0123456789") : NULL;
        return major && atoi(major) >= 5 ? ENGINE_PRTE : known[i].is;
    }
    return ENGINE_NONE;
}

static bool is_ourselves(const char *path)
{
    char there[PATH_MAX], self[PATH_MAX];
    return realpath(path, there) && gw_own_program(self) && strcmp(there, self) == 0;
}

/* Finds the first program of that name in PATH that is such an engine; our own mpirun may come before it. */
static bool look_for(const char *name, enum engine_kind wanted, struct engine *e)
{
    char text[4096];
    for (const char *p = secure_getenv("PATH"); p && *p; p += strcspn(p, ":"), p += *p == ':') {
        int n = snprintf(e->path, sizeof e->path, "%.*s/%s", (int)strcspn(p, ":"), p, name);
        if (n >= (int)sizeof e->path || access(e->path, X_OK) < 0 || is_ourselves(e->path)) continue;
        const char *option = wanted == ENGINE_FLUX ? "version" : "--version";
        child_output(e->path, (const char *const[]){name, option, NULL}, text, sizeof text);
        e->kind = engine_of_version(text, e->version, sizeof e->version);
        if (e->kind == wanted || (wanted == ENGINE_OPENMPI && e->kind == ENGINE_PRTE)) return true;
    }
    e->kind = ENGINE_NONE;
    return false;
}

static const struct {
    const char *option, *name;
    enum engine_kind is;
} candidates[] = {
    {"prterun", "prterun", ENGINE_PRTE},      {"mpirun", "mpirun.openmpi", ENGINE_OPENMPI}, {"mpirun", "mpirun", ENGINE_OPENMPI},
    {"hydra", "mpiexec.hydra", ENGINE_HYDRA}, {"hydra", "mpiexec.mpich", ENGINE_HYDRA},     {"hydra", "mpiexec", ENGINE_HYDRA},
};

static bool find_srun(struct engine *e)
{
    char text[4096];
    if (!look_for("srun", ENGINE_SRUN, e)) return false;
    child_output(e->path, (const char *const[]){"srun", "--mpi=list", NULL}, text, sizeof text);
    e->has_pmix = strstr(text, "pmix") != NULL;
    e->in_step = getenv("SLURM_STEP_ID") != NULL;
    e->nodes = slurm_nodes();
    e->cpus = slurm_cpus();
    return true;
}

/* Agents of our own: where they are asked for, and for hosts that no batch system has named, if ssh or what stands for it is here. */
static bool find_own(const struct launch_options *o, bool is_spawned, struct engine *e)
{
    bool is_batch = in_slurm() || getenv("FLUX_URI") || getenv("PBS_NODEFILE") || getenv("LSB_DJOB_HOSTFILE") || is_spawned;
    const char *agent = gw_set.launch_agent ? gw_set.launch_agent : "";
    bool is_wanted = o->engine ? strcmp(o->engine, "own") == 0 : !is_batch;
    if (!is_wanted || !o->hosts.n || !agent_reach_is_here(agent)) return false;
    *e = (struct engine){.kind = ENGINE_OWN};
    snprintf(e->path, sizeof e->path, "%s", agent_reach_name(agent));
    return true;
}

/* Finds the engine.  Returns 0, or an exit status after the reason was printed. */
static int find(const struct launch_options *o, const char *why, bool is_spawned, struct engine *e)
{
    const char *want = o->engine;
    bool slurm = want ? strcmp(want, "srun") == 0 : in_slurm(),
         flux = want ? strcmp(want, "flux") == 0 : !slurm && getenv("FLUX_URI");
    *e = (struct engine){.is_root = geteuid() == 0};
    if (slurm && find_srun(e)) return 0;
    if (flux && look_for("flux", ENGINE_FLUX, e)) return 0;
    /* By what to reach hosts, for agents of our own. */
    bool is_said =
        !is_spawned && gw_set.launch_agent && *gw_set.launch_agent && (!want || strcmp(want, "own") == 0) && !slurm && !flux;
    for (size_t i = 0; i < GW_ARRAY_LEN(candidates) && o->hosts.n && !((slurm || flux) && want) && !is_said; i++)
        if ((!want || strcmp(want, candidates[i].option) == 0) && look_for(candidates[i].name, candidates[i].is, e)) return 0;
    if (slurm || flux)
        say_line("%s, but `%s` is not in PATH here%s", why, slurm ? "srun" : "flux",
                 slurm ? "; install Slurm's commands (Debian: slurm-client)" : "; install flux-core");
    else if (is_said && o->hosts.n)
        say_line("%s, and GODWIT_LAUNCH_AGENT=%s cannot be run here: it is to be a command that is called as ssh is", why,
                 gw_set.launch_agent);
    else if (want && !o->hosts.n)
        say_line("--engine %s wants a list of hosts: -host n1,n2 or -hostfile FILE", want);
    else
        say_line(
            "%s, and no engine is here that starts ranks there%s%s: install ssh (Debian: openssh-client), or on all hosts PRRTE "
            "(prterun), Open MPI (Debian: openmpi-bin) or MPICH's Hydra (Debian: mpich), or start this inside an allocation of Slurm",
            why, want ? " by the name of " : "", want ? want : "");
    return EXIT_NOT_FOUND;
}

/* ---- running it ----------------------------------------------------------------------------------------------------------------- */
static void say_words(const char *path, const struct words *w)
{
    gw_print(stderr, "mpiexec: %s", path);
    for (int i = 0; i < w->n; i++) {
        char *word = gw_shell_quoted(w->at[i]);
        gw_print(stderr, " %s", word);
        free(word);
    }
    fputs("\n", stderr);
}

static void become(const struct engine *e, const struct launch_options *o, const struct words *argv, const struct words *env,
                   const sigset_t *signals)
{
    char **words = gw_xcalloc((size_t)argv->n + 2, sizeof *words);
    words[0] = (char *)e->path;
    memcpy(words + 1, argv->at, sizeof *words * (size_t)argv->n);
    for (int i = 0; i < env->n; i++) putenv(env->at[i]);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    sigprocmask(SIG_UNBLOCK, signals, NULL);
    child_size_signal_reset();
    int nothing = o->stdin_rank == STDIN_NONE ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;
    if (nothing >= 0) dup2(nothing, STDIN_FILENO);
    execv(e->path, words);
    say_line("cannot start %s: %s", e->path, strerror(errno));
    _exit(EXIT_CANNOT_RUN);
}

/* srun returns the largest of all exit codes, also of those tasks that it ended itself.  The first that failed is in what it says:
 * "srun: error: n2: task 1: Killed", "...: Exited with exit code 3". */
static struct {
    int fd, status;
} heard;

int engine_status_of_line(const char *line)
{
    static const struct {
        const char *says;
        int sig;
    } signals[] = {
        {"Killed", SIGKILL},
        {"Terminated", SIGTERM},
        {"Segmentation fault", SIGSEGV},
        {"Aborted", SIGABRT},
        {"Bus error", SIGBUS},
        {"Floating point exception", SIGFPE},
        {"Illegal instruction", SIGILL},
        {"Interrupt", SIGINT},
        {"Hangup", SIGHUP},
    };
    const char *p = strncmp(line, "srun: error: ", 13) == 0 ? strstr(line + 13, ": task") : NULL;
    p = p ? strstr(p + 2, ": ") : NULL;
    if (!p) return 0;
    if (strncmp(p + 2, "Exited with exit code ", 22) == 0) return atoi(p + 24) & 255;
    for (size_t i = 0; i < GW_ARRAY_LEN(signals); i++)
        if (strncmp(p + 2, signals[i].says, strlen(signals[i].says)) == 0) return 128 + signals[i].sig;
    return 0;
}

static void *hear(void *none)
{
    FILE *f = fdopen(heard.fd, "r");
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    while (f && (n = getline(&line, &room, f)) >= 0) {
        if (!heard.status) heard.status = engine_status_of_line(line);
        for (ssize_t done = 0, now = 1; done < n && now > 0; done += now)
            now = write(STDERR_FILENO, line + done, (size_t)(n - done));
    }
    free(line);
    if (f) fclose(f);
    return none;
}

/* Does the engine start its daemons by ssh from this host?  Others, and these within an allocation, have ways of their own. */
static bool goes_from_here(const struct engine *e)
{
    return (e->kind == ENGINE_OWN || e->kind == ENGINE_HYDRA || e->kind == ENGINE_OPENMPI || e->kind == ENGINE_PRTE) &&
        !getenv("SLURM_JOB_ID") && !getenv("FLUX_URI");
}

/* The program by which it reaches other hosts, if it is another one than ssh, which may know hosts by names of its own; NULL: ssh. */
static const char *agent_of(const struct engine *e)
{
    static const struct {
        bool is_hydra;
        const char *variable;
    } said[] = {
        {true, "HYDRA_LAUNCHER_EXEC"},
        {true, "HYDRA_BOOTSTRAP_EXEC"},
        {true, "HYDRA_LAUNCHER"},
        {true, "HYDRA_BOOTSTRAP"},
        {false, "OMPI_MCA_plm_rsh_agent"},
        {false, "OMPI_MCA_orte_rsh_agent"},
        {false, "PRTE_MCA_plm_ssh_agent"},
        {false, "PRTE_MCA_plm_rsh_agent"},
        {false, "OMPI_MCA_plm"},
        {false, "PRTE_MCA_plm"},
        {true, "PBS_NODEFILE"},
        {false, "PBS_NODEFILE"},
        {true, "LSB_DJOB_HOSTFILE"},
        {false, "LSB_DJOB_HOSTFILE"},
    };
    if (e->kind == ENGINE_OWN) return strcmp(e->path, "ssh") == 0 || strcmp(e->path, "rsh") == 0 ? NULL : "GODWIT_LAUNCH_AGENT";
    for (size_t i = 0; i < GW_ARRAY_LEN(said); i++) {
        const char *value = said[i].is_hydra == (e->kind == ENGINE_HYDRA) ? getenv(said[i].variable) : NULL;
        if (!value || !*value) continue;
        const char *end = value + strcspn(value, " :"), *word = end; /* "/usr/bin/ssh -q : rsh" */
        while (word > value && word[-1] != '/') word--;
        if (end - word != 3 || (strncmp(word, "ssh", 3) != 0 && strncmp(word, "rsh", 3) != 0)) return said[i].variable;
    }
    return NULL;
}

/* A host that no way leads to because its name means nothing: Hydra would wait for it for ever.  0, or the exit status after an explanation;
 * where a program of the user's own starts processes there, which may know more than this host, it is a warning. */
static int check_known(const struct engine *e, const struct launch_options *o)
{
    const char *why, *agent = agent_of(e), *name = NULL;
    char here[256] = "";
    if (gw_set.host_timeout > 0 && goes_from_here(e)) name = hosts_unknown(&o->hosts, &why);
    if (!name) return 0;
    if (gethostname(here, sizeof here - 1) < 0) here[0] = 0;
    if (agent)
        say_line("warning: host %s is not known on host %s: %s; what %s names may know it", name, here, why, agent);
    else
        say_line("host %s is not known on host %s: %s; nor does ssh (~/.ssh/config) know it by that name. Nothing was started "
                 "(GODWIT_HOST_TIMEOUT=0: names are not looked up)",
                 name, here, why);
    return agent ? 0 : EXIT_USAGE;
}

/* Says which host is gone.  True: the job must end. */
static bool host_is_lost(void)
{
    bool never = false;
    const char *unreached = engine_alive_unreached(), *silent = engine_alive_silent(&never);
    int patience = (int)gw_set.host_timeout;
    if (unreached) say_line("warning: this host has no way to host %s, and will not notice if that fails", unreached);
    if (silent && never)
        say_line(
            "host %s was never reachable from here: for %d s there has been no way to it (GODWIT_HOST_TIMEOUT); the job ends now. "
            "Check its name and the network; if the engine has another way to it, such as ssh through a proxy, set "
            "GODWIT_HOST_TIMEOUT=0",
            silent, patience);
    else if (silent)
        say_line("host %s has not answered for %d s (GODWIT_HOST_TIMEOUT); the job ends now", silent, patience);
    return silent;
}

/* Until it has ended: passes on what was sent to us alone (what a terminal sends has reached both of us); at the time limit it is
 * told to end, and ended.  Then the exit status is ours. */
static int stay(const struct engine *e, pid_t pid, const sigset_t *signals, const struct launch_options *o, struct job *spawned,
                bool *is_ours_out)
{
    enum { DEAF_MOST = 20 };
    const double timeout = o->timeout;
    const struct hosts *hosts = &o->hosts;
    double end = timeout > 0 ? gw_wtime() + timeout : 1e300;
    bool is_late = false, is_watched = engine_alive_start(hosts, gw_set.host_timeout, goes_from_here(e)), is_lost = false;
    bool is_unwanted = false;
    int told = 0, n_deaf = 0;
    for (;;) {
        if (spawned && !is_unwanted && !is_lost && !spawned_elsewhere(spawned)) {
            child_kill(pid, SIGTERM);
            is_unwanted = true;
            end = gw_wtime() + 3;
        }
        if (is_watched && !is_lost && !is_late && host_is_lost()) {
            child_kill(pid, SIGTERM);
            is_lost = true;
            end = gw_wtime() + 2;
        }
        double left = end - gw_wtime();
        if (left <= 0) {
            if (!is_late && !is_lost && !is_unwanted)
                say_line("the job has run for %g s, which is its limit; it ends now", timeout);
            child_kill(pid, is_late || is_lost || is_unwanted ? SIGKILL : SIGTERM);
            is_late = !is_lost;
            end = gw_wtime() + 5;
            continue;
        }
        if (left > 0.2 && is_watched) left = 0.2;
        if (left > 0.1 && (spawned || n_deaf)) left = 0.1;
        if (left > 1e6) left = 1e6;
        struct timespec wait = {.tv_sec = (time_t)left, .tv_nsec = (long)((left - (double)(time_t)left) * 1e9)};
        siginfo_t si;
        int status, sig = sigtimedwait(signals, &si, &wait);
        if (sig > 0 && sig != SIGCHLD && si.si_code <= 0) child_kill(pid, sig);
        if (sig == SIGTERM || sig == SIGINT || sig == SIGHUP) told = sig;
        pid_t gone = child_ended(pid, &status);
        n_deaf = gone < 0 ? n_deaf + 1 : 0;
        if (n_deaf > DEAF_MOST) {
            say_line("cannot hear of %s any more (waitid: %s); the job ends now", e->path, strerror(errno));
            child_kill(pid, SIGTERM);
            *is_ours_out = true;
            return EXIT_CANNOT_RUN;
        }
        if (gone != pid) continue;
        child_reap(pid);
        *is_ours_out = is_late || is_lost || told;
        if (is_lost) return EXIT_LOST_HOST;
        if (*is_ours_out) return is_late ? EXIT_TIMEOUT : 128 + told;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
}

static int run(const struct engine *e, const struct launch_options *o, const struct words *argv, const struct words *env,
               struct job *spawned)
{
    static const int passed[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD};
    sigset_t signals;
    sigemptyset(&signals);
    for (size_t i = 0; i < GW_ARRAY_LEN(passed); i++) sigaddset(&signals, passed[i]);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    int pipes[2] = {-1, -1};
    pthread_t ear;
    if (e->kind == ENGINE_SRUN && pipe2(pipes, O_CLOEXEC) < 0) pipes[0] = -1;
    pid_t pid = fork();
    if (pid == 0) {
        if (pipes[0] >= 0) dup2(pipes[1], STDERR_FILENO);
        become(e, o, argv, env, &signals);
    }
    if (pid < 0) {
        say_line("cannot start %s: %s", e->path, strerror(errno));
        if (spawned) spawned_started(spawned, EXIT_CANNOT_RUN);
        return EXIT_CANNOT_RUN;
    }
    if (spawned) spawned_started(spawned, 0);
    bool is_ours = false;
    if (pipes[0] < 0) return stay(e, pid, &signals, o, spawned, &is_ours);
    close(pipes[1]);
    heard.fd = pipes[0];
    if (pthread_create(&ear, NULL, hear, NULL) != 0) gw_die("mpiexec: no thread");
    int rc = stay(e, pid, &signals, o, spawned, &is_ours);
    pthread_join(ear, NULL); /* so that the last lines of srun are printed */
    return rc && !is_ours && heard.status ? heard.status : rc;
}

/* Without -n there are as many ranks as slots. */
static int count_ranks(struct launch_options *o, const struct engine *e)
{
    assert(o->n_apps > 0 && e->nodes >= 0);
    int nodes = o->nodes_most && o->nodes_most < e->nodes ? o->nodes_most : e->nodes;
    if (o->hosts.n && o->hosts.n < o->nodes_least) {
        say_line("--nodes %s: there are only %d hosts", o->nodes, o->hosts.n);
        return EXIT_USAGE;
    }
    if (o->n_apps == 1 && !o->apps[0].n_given) {
        o->apps[0].n = o->n_ranks = o->hosts.n ? hosts_slots(&o->hosts, o->ppn) : o->ppn * nodes;
    } else {
        for (int i = 0; i < o->n_apps; i++)
            if (!o->apps[i].n_given) {
                say_line("say how many ranks each program gets (-n): there are several, on several hosts");
                return EXIT_USAGE;
            }
    }
    if (o->n_ranks > MAX_RANKS) {
        say_line("%d ranks; at most %d", o->n_ranks, MAX_RANKS);
        return EXIT_USAGE;
    }
    if (o->stdin_rank >= o->n_ranks && o->stdin_rank > 0 && o->n_ranks) {
        say_line("%s %d: there are only %d ranks", o->said.stdin_rank ? o->said.stdin_rank : "-stdin", o->stdin_rank, o->n_ranks);
        return EXIT_USAGE;
    }
    return 0;
}

static void announce(const struct engine *e, const struct launch_options *o, const char *why)
{
    char ranks[32] = "the ranks";
    const char *slash = strrchr(e->path, '/');
    if (o->n_ranks) snprintf(ranks, sizeof ranks, "%d rank%s", o->n_ranks, o->n_ranks == 1 ? "" : "s");
    say_line("%s: %s (%s) starts %s", why, slash ? slash + 1 : e->path, e->version, ranks);
    if (o->place.reserve && e->kind != ENGINE_SRUN)
        say_line("%s %d: %s has no such option; ranks may run on all cores", o->said.reserve, o->place.reserve, e->version);
}

static int refused(const struct launch_options *o, const char *why, bool is_own)
{
    if (o->gdb)
        say_line("--gdb starts ranks on one machine only (%s); `mpiexec --stack` on a host shows those that run there", why);
    else if (o->hosts.bad)
        say_line("the batch system names a host or slots: \"%s\" %s", o->hosts.bad, o->hosts.bad_why);
    else if (is_own && o->place.rankfile)
        say_line("%s is for ranks of one machine (%s)", o->said.rankfile ? o->said.rankfile : "--map-by seq", why);
    else if (o->only_here && !is_own)
        say_line("%s is for ranks that mpiexec starts itself, on this machine (%s)", o->only_here, why);
    else
        return 0;
    return EXIT_USAGE;
}

/* Runs the engine that was found. */
static int run_with(const struct engine *e, struct launch_options *o, const char *why, struct job *spawned)
{
    assert(o->n_apps > 0);
    struct words argv = {0}, env = {0};
    int *counts = gw_xcalloc((size_t)o->hosts.n + 1, sizeof *counts);
    hosts_place(&o->hosts, o->n_ranks, o->ppn, counts);
    if (spawned)
        elsewhere_environment();
    else if (e->kind != ENGINE_SRUN)
        elsewhere_publish(&o->hosts, counts);
    engine_words_wrapper(o);
    engine_words(e, o, counts, environ, &argv, &env);
    if (!o->hosts.n && e->kind == ENGINE_SRUN && getenv("SLURM_JOB_NODELIST"))
        hosts_expand(&o->hosts, getenv("SLURM_JOB_NODELIST"));
    if (!spawned) announce(e, o, why);
    if (o->verbose) say_words(e->path, &argv);
    int rc = run(e, o, &argv, &env, spawned);
    free(counts);
    words_free(&argv);
    words_free(&env);
    return rc;
}

int engine_run(struct launch_options *o, const char *why, struct job *spawned)
{
    struct engine e;
    gw_settings_load();
    bool is_own = find_own(o, spawned, &e);
    int rc = refused(o, why, is_own);
    if (rc == 0 && !is_own) rc = find(o, why, spawned, &e);
    if (rc && spawned && spawned->may_stay) return -1;
    if (rc == 0) rc = count_ranks(o, &e);
    if (rc == 0 && !spawned) rc = check_known(&e, o);
    if (rc == 0 && e.kind == ENGINE_HYDRA && (o->stdin_rank > 0 || o->stdin_rank == STDIN_ALL)) {
        say_line("-stdin: %s gives standard input to rank 0 alone; srun and mpirun can do it (--engine)", e.version);
        rc = EXIT_USAGE;
    }
    if (rc && spawned) spawned_started(spawned, rc);
    if (rc) return spawned ? 0 : rc;
    if (e.kind == ENGINE_OWN) return ENGINE_IS_OURS;
    rc = run_with(&e, o, why, spawned);
    if (spawned && !spawned->met) spawned_ended(e.version, rc);
    return spawned ? spawned_end(spawned, rc) : rc;
}
