/* spawn.c -- the segment that the ranks share, and the ranks themselves.
 *
 * Each rank is a process group of its own, so that a signal also reaches the processes that it starts.  The kernel kills it when mpiexec
 * ends.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"
#include "base/settings.h"
#include "base/time.h"
#include "boot/alive.h"
#include "boot/order.h"
#include "boot/port.h"
#include "boot/segment.h"
#include "boot/world.h"
#include "doctor/doctor.h"
#include "launch/gdb.h"
#include "verdict/crash.h"

extern char **environ;

/* Slots of the ranks, then the faked node of each rank.  Reordering changes the nodes of the ranks, not the ranks. */
static uint64_t segment_bytes(const struct job *j)
{
    return boot_shm_offset(j->n) + gw_align_up((size_t)j->n * sizeof(int32_t), gw_page_bytes());
}

static int map_make(struct job *j)
{
    struct boot_head *h = j->head;
    int32_t *rank_of = gw_xmalloc(sizeof *rank_of * (size_t)j->n), *node = (int32_t *)((char *)h + boot_shm_offset(j->n));
    h->map_offset = boot_shm_offset(j->n);
    boot_map_nodes(h->vnodes, node, j->n);
    int rc = j->o.order ? boot_order_apply(j->o.order - 1, j->o.order_file, node, j->n, rank_of) : GW_OK;
    free(rank_of);
    if (rc != GW_OK) say_line("%s", gw_fail_text());
    return rc == GW_OK ? 0 : EXIT_CANNOT_RUN;
}

/* About how much the ranks add to the segment with default settings. */
static uint64_t node_bytes_about(int n) { return ((uint64_t)8 << 20) + ((uint64_t)n << 21); }

static int segment_make(struct job *j)
{
    assert(j->memfd < 0);
    uint64_t bytes = segment_bytes(j);
    j->failed = AFTER_MEMORY;
    j->room = j->n / 2;
    j->memfd = boot_file_make("godwit", bytes + node_bytes_about(j->n));
    int rc = j->memfd < 0 ? -1 : boot_file_size(j->memfd, bytes);
    if (rc == 0) rc = boot_file_seal(j->memfd, true); /* it may grow: the first rank gives it its final size */
    if (rc < 0) {
        say_line("cannot make the shared memory of the job: %s", gw_file_why(errno));
        return EXIT_CANNOT_RUN;
    }
    j->head = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, j->memfd, 0);
    if (j->head == MAP_FAILED) {
        say_line("cannot map the shared memory of the job (%llu bytes): %s", (unsigned long long)bytes, strerror(errno));
        return EXIT_CANNOT_RUN;
    }
    struct boot_head *h = j->head;
    j->failed = 0;
    j->room = -1;
    h->magic = BOOT_MAGIC;
    h->version = GODWIT_SHM_VERSION;
    h->nlocal = h->size = j->n;
    h->bytes = bytes;
    h->ranks_offset = BOOT_RANKS_OFFSET;
    h->shm_offset = bytes;
    h->launcher_pid = (int32_t)getpid();
    h->cores = j->bind.n_cores > j->used ? j->bind.n_cores - j->used : 1;
    h->uid = j->uid ? j->uid : boot_random();
    h->home_pid = h->launcher_pid;
    h->home_fd = j->memfd;
    const char *vnodes =
        j->o.vnodes ? j->o.vnodes : getenv("GODWIT_VNODES"); /* a spawned job gets them from the mpiexec of its parent */
    const char *wires =
        getenv("GODWIT_WIRES"); /* ranks of one node use the network, too: the board of faked nodes lets them exchange addresses */
    if (!vnodes && wires && !gw_set_lists(wires, "shm")) vnodes = "1";
    snprintf(h->vnodes, sizeof h->vnodes, "%s", vnodes ? vnodes : "");
    snprintf(h->jobid, sizeof h->jobid, "%d", (int)getpid());
    snprintf(h->host, sizeof h->host, "%s", j->host);
    h->parent = j->parent;
    spawned_control_open(j);
    return h->vnodes[0] ? map_make(j) : 0;
}

/* ---- environment ---------------------------------------------------------------------------------------------------------- */
static size_t name_length(const char *pair) { return strcspn(pair, "=") + 1; }

/* Does the variable lead to the PMI or PMIx server of a launcher around this mpiexec?  Ranks must not find that one. */
static bool is_foreign(const struct job *j, const char *pair)
{
    static const char *const pmi[] = {"PMI_FD=", "PMI_PORT=", "PMI_ID=", BOOT_HOST_SLOTS "="};
    if (j->part.size && strncmp(pair, BOOT_HOST_SLOTS "=", sizeof BOOT_HOST_SLOTS) == 0)
        return false; /* of all hosts, and for the ranks */
    for (size_t i = 0; i < GW_ARRAY_LEN(pmi); i++)
        if (strncmp(pair, pmi[i], strlen(pmi[i])) == 0) return true;
    return j->pmix && strncmp(pair, "PMIX_", 5) == 0 && strncmp(pair, "PMIX_MCA_", 9) != 0;
}

/* Does the program get this variable of mpiexec's environment?  -envall, -envnone, -envlist of the program decide, or those for all. */
static bool goes_along(const struct job *j, const struct launch_app *a, const char *pair)
{
    const struct env_wanted *w = a->inherits.from != ENV_UNSAID ? &a->inherits : &j->o.inherits;
    size_t len = name_length(pair) - 1;
    if (is_foreign(j, pair) || w->from == ENV_NONE) return false;
    if (w->from != ENV_LIST) return true;
    for (const char *p = w->names; *p;) {
        size_t n = strcspn(p, ",");
        if (n == len && strncmp(p, pair, n) == 0) return true;
        p += n + (p[n] == ',');
    }
    return false;
}

/* environ as the program gets it, with the variables of `more[n_more]`, of which later ones win.  The caller frees the list; its strings
 * belong to environ and `more`. */
static char **env_join(const struct job *j, const struct launch_app *a, const struct words *const *more, int n_more)
{
    assert(n_more > 0);
    struct {
        char **at;
        int n;
    } out = {NULL, 0};
    int total = 0;
    for (char **e = environ; *e; e++) total++;
    for (int i = 0; i < n_more; i++) total += more[i]->n;
    out.at = malloc(sizeof *out.at * (size_t)(total + 1));
    if (!out.at) gw_die("mpiexec: no memory");
    for (char **e = environ; *e; e++)
        if (goes_along(j, a, *e)) out.at[out.n++] = *e;
    for (int i = 0; i < n_more; i++) {
        for (int k = 0; k < more[i]->n; k++) {
            char *pair = more[i]->at[k];
            int at = 0;
            while (at < out.n && strncmp(out.at[at], pair, name_length(pair)) != 0) at++;
            out.at[at] = pair;
            if (at == out.n) out.n++;
        }
    }
    out.at[out.n] = NULL;
    return out.at;
}

static void words_set(struct words *w, const char *name, const char *fmt, ...) GW_PRINTF(3, 4);
static void words_set(struct words *w, const char *name, const char *fmt, ...)
{
    char pair[160];
    va_list ap;
    int n = snprintf(pair, sizeof pair, "%s=", name);
    va_start(ap, fmt);
    vsnprintf(pair + n, sizeof pair - (size_t)n, fmt, ap);
    va_end(ap);
    words_add(w, pair);
}

/* Variables of other launchers that programs read.  None leads to a server, so no library takes mpiexec for its own launcher; those that
 * lead to our servers follow (pmix_env).  OMPI_UNIVERSE_SIZE is not set: Open MPI's mpirun would refuse to start below this one. */
static void names_of_others(const struct job *j, int rank, int local, int n_local, struct words *own)
{
    assert(local >= 0 && local < n_local);
    const struct {
        const char *name;
        int value;
    } same[] = {
        {"OMPI_COMM_WORLD_RANK", job_rank(j, rank)},
        {"OMPI_COMM_WORLD_SIZE", job_size(j)},
        {"OMPI_COMM_WORLD_LOCAL_RANK", local},
        {"OMPI_COMM_WORLD_LOCAL_SIZE", n_local},
        {"OMPI_COMM_WORLD_NODE_RANK", local},
        {"PMI_RANK", job_rank(j, rank)},
        {"PMI_SIZE", job_size(j)},
        {"PMI_LOCAL_RANK", local},
        {"PMI_LOCAL_SIZE", n_local},
        {"PMIX_RANK", job_rank(j, rank)},
        {"MPI_LOCALRANKID", local},
        {"MPI_LOCALNRANKS", n_local},
    };
    for (size_t i = 0; i < GW_ARRAY_LEN(same); i++) words_set(own, same[i].name, "%d", same[i].value);
}

/* GODWIT_BOOT (boot/segment.h), with room for the mark of the environment, which is known when that is complete. */
#define MARK_BEGINS ",env="
static void boot_add(const struct job *j, int rank, const struct launch_app *a, const char *more, struct words *own)
{
    char port[BOOT_PORT_TEXT + 4] = "";
    const struct boot_port at = {j->head->control.name, j->control.lesser};
    if (at.name && j->control.has_lesser) {
        snprintf(port, sizeof port, ",at=");
        boot_port_text(&at, port + 4);
    }
    char *text = gw_xasprintf("GODWIT_BOOT=fd=%d,local=%d" MARK_BEGINS
                              "%0*d,job=%016llx,pid=%d%s%s,crash=%d,universe=%d,maxprocs=%d%s%s%s%s",
                              j->memfd, rank, BOOT_ENV_MARK - 1, 0, (unsigned long long)j->head->uid, (int)j->head->launcher_pid,
                              port, more, !j->o.crash_stacks && !j->o.gdb, job_universe(j), a->asked, a->soft ? ",soft=" : "",
                              a->soft ? a->soft : "", a->file ? ",file=" : "", a->file ? a->file : "");
    words_add(own, text);
    free(text);
}

/* The environment of a rank: a list that the caller frees; new strings are in `own`.  pmi: its connection to our PMI server, or -1. */
static char **rank_env(struct job *j, int rank, const struct launch_app *a, int pmi, struct words *own)
{
    assert(rank >= 0 && rank < j->n && a >= j->o.apps);
    int app = (int)(a - j->o.apps) + a->dropped;
    char more[64] = "";
    struct stat st;
    int n = app ? snprintf(more, sizeof more, ",app=%d", app) : 0;
    if (pmi >= 0 && fstat(pmi, &st) == 0) n += snprintf(more + n, sizeof more - (size_t)n, ",pmi=%d", boot_socket_name(st.st_ino));
    bool has_set = j->o.wrapper || a->env.n; /* j->o.env also has what mpiexec sets by itself */
    if (has_set) snprintf(more + n, sizeof more - (size_t)n, ",sets=%s", j->o.wrapper ? j->o.wrapper->option : "variables");
    if (j->name[0]) words_set(own, "GODWIT_SINGLETON", "0"); /* the spawning process may be a singleton with this variable set */
    int boot = own->n;
    if (!j->part.size) boot_add(j, rank, a, more, own); /* an agent's ranks meet by PMI */
    words_set(own, "GODWIT_RANK", "%d", job_rank(j, rank));
    if (j->o.quiet) words_set(own, "GODWIT_QUIET", "1"); /* for what is loaded before a program (tools/replay) */
    words_set(own, "GODWIT_SIZE", "%d", job_size(j));
    const int32_t *node = j->head->map_offset ? (const int32_t *)((const char *)j->head + j->head->map_offset) : NULL;
    int before = node ? 0 : rank, count = node ? 0 : j->n;
    for (int r = 0; node && r < j->n; r++) {
        bool same = node[r] == node[rank];
        count += same;
        before += same && r < rank;
    }
    words_set(own, "GODWIT_LOCAL_RANK", "%d", before);
    words_set(own, "GODWIT_LOCAL_SIZE", "%d", count);
    names_of_others(j, rank, before, count, own);
    if (pmi >= 0) words_set(own, "PMI_FD", "%d", pmi);
    /* MPICH from 4.2 on does not choose by itself where it finds the marks of two servers. */
    bool is_said = getenv("MPIR_CVAR_PMI_VERSION") || words_value(&j->o.env, "MPIR_CVAR_PMI_VERSION", NULL) ||
        words_value(&a->env, "MPIR_CVAR_PMI_VERSION", NULL);
    if (pmi >= 0 && j->pmix && !is_said) words_set(own, "MPIR_CVAR_PMI_VERSION", "1");
    if (j->bind.reserved) words_set(own, "GODWIT_PROGRESS_CPUS", "%s", j->bind.reserved);
    pmix_env(j, rank, own);
    launch_gdb_env(rank, own);
    if (j->o.preload) {
        const char *here = getenv("LD_PRELOAD"), *also = here && goes_along(j, a, "LD_PRELOAD=") ? here : NULL;
        char *pair = job_preload(&j->o, words_value(&a->env, "LD_PRELOAD", words_value(&j->o.env, "LD_PRELOAD", also)));
        words_add(own, pair);
        free(pair);
        pair = gw_xasprintf("GODWIT_WRAPPER=%s", j->o.preload);
        words_add(own, pair);
        free(pair);
    }
    char **env = env_join(j, a, (const struct words *const[]){&j->o.env, &a->env, own}, 3), mark[BOOT_ENV_MARK];
    if (j->part.size) return env;
    boot_env_mark(env, mark);
    memcpy(strstr(own->at[boot], MARK_BEGINS) + strlen(MARK_BEGINS), mark, sizeof mark - 1);
    struct boot_rank *slot = job_slot(j, rank);
    const char *text = strchr(own->at[boot], '=') + 1;
    snprintf(slot->told, sizeof slot->told, "%s", text);
    if (strlen(text) >= sizeof slot->told) *strrchr(slot->told, ',') = 0; /* the last word has no room */
    return env;
}

/* ---- one rank ------------------------------------------------------------------------------------------------------------------ */
/* Pipes of a rank: input, output, errors.  -1: the rank inherits that of mpiexec. */
struct ends {
    int child[3], parent[3];
    int pmi;     /* the rank's end; -1: no PMI is offered */
    int gate[2]; /* a pipe on which the child waits until it is traced; -1: it is not traced */
};

static bool piped_in(const struct job *j, int rank)
{
    if (launch_gdb_has(rank)) return false;
    return j->o.stdin_rank == STDIN_ALL || (rank == j->o.stdin_rank && isatty(0));
}

/* A single rank without marks inherits the output of mpiexec. */
static bool piped_out(const struct job *j, int rank) { return launch_output_is_piped(j) && !launch_gdb_has(rank); }

static int ends_open(const struct job *j, int rank, struct ends *e)
{
    for (int i = 0; i < 3; i++) e->child[i] = e->parent[i] = -1;
    e->gate[0] = e->gate[1] = -1;
    e->pmi = j->pmi >= 0 ? pmi_offer(j, rank) : -1;
    if (j->pmi >= 0 && e->pmi < 0) return errno;
    if (j->o.crash_stacks && !launch_gdb_has(rank) && pipe2(e->gate, O_CLOEXEC) < 0) return errno;
    for (int i = 0; i < 3; i++) {
        int p[2];
        if (i == 0 ? !piped_in(j, rank) : !piped_out(j, rank)) continue;
        if (pipe2(p, O_CLOEXEC) < 0) return errno;
        e->child[i] = p[i == 0 ? 0 : 1];
        e->parent[i] = p[i == 0 ? 1 : 0];
        fcntl(e->parent[i], F_SETFL, O_NONBLOCK);
    }
    if (e->child[0] < 0 && rank != j->o.stdin_rank) e->child[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return 0;
}

/* mpiexec raises its limit of descriptors, because each rank takes two or three; the ranks get the limit that mpiexec had. */
static struct rlimit files;
static void files_more(void)
{
    if (getrlimit(RLIMIT_NOFILE, &files) < 0) files = (struct rlimit){0, 0};
    struct rlimit all = {files.rlim_max, files.rlim_max};
    setrlimit(RLIMIT_NOFILE, &all);
}

/* A part of the limit that mpiexec has. */
static void cpu_time_limit(const struct job *j)
{
    struct rlimit now;
    if (!j->o.cpu_time || getrlimit(RLIMIT_CPU, &now) < 0) return;
    if (now.rlim_cur == RLIM_INFINITY || now.rlim_cur > (rlim_t)j->o.cpu_time) now.rlim_cur = (rlim_t)j->o.cpu_time;
    setrlimit(RLIMIT_CPU, &now);
}

/* Runs in the child: becomes the program, or writes to `report` why it cannot. */
static void child(struct job *j, int rank, const struct launch_app *a, const struct ends *e, int report, char **env)
{
    if (launch_gdb_has_window(rank))
        setsid();
    else
        setpgid(0, 0);
    job_slot(j, rank)->started = getpid();
    keeper_note(rank, getpid()); /* noted here, because mpiexec may be killed before its fork() returns */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != j->head->launcher_pid) _exit(EXIT_CANNOT_RUN);
    if (e->gate[0] >= 0 && read(e->gate[0], &(char){0}, 1) < 0) {} /* the kernel does not trace a process during exec */
    child_signals_reset();
    for (int i = 0; i < 3; i++)
        if (e->child[i] >= 0) dup2(e->child[i], i);
    fcntl(j->memfd, F_SETFD, 0);
    if (e->pmi >= 0) fcntl(e->pmi, F_SETFD, 0);
    if (files.rlim_max) setrlimit(RLIMIT_NOFILE, &files);
    cpu_time_limit(j);
    if (j->bind.set) sched_setaffinity(0, j->bind.bytes, j->bind.set[rank]);
    int what = 'd';
    if (launch_gdb_has(rank) && (errno = launch_gdb_terminal(rank)) != 0) {
        what = 't';
    } else if ((errno = bind_memory(&j->bind, rank)) != 0) {
        what = 'm';
    } else if (!a->wdir || chdir(a->wdir) == 0) {
        what = 'x';
        char **argv = launch_gdb_has(rank) ? launch_gdb_argv(a->argv) : a->argv;
        execvpe(argv[0], argv, env);
    }
    int why[3] = {errno, what, (int)(a - j->o.apps)};
    if (write(report, why, sizeof why) < 0) {}
    _exit(why[0] == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN);
}

static int explain_start(const struct job *j, const struct launch_app *a, const int why[3])
{
    assert(why[0] > 0);
    if (why[1] == 'd')
        say_line("cannot start %s in folder %s: %s", a->argv[0], a->wdir, strerror(why[0]));
    else if (why[1] == 'm')
        say_line("-membind: the kernel sets no such policy: %s", strerror(why[0]));
    else if (why[1] == 't')
        say_line("cannot start %s: its window is gone (%s)", a->argv[0], strerror(why[0]));
    else
        say_line("cannot start %s: %s%s", a->argv[0], strerror(why[0]), launch_meant(j, a, why[0]));
    return why[0] == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

/* Starts a rank.  Returns 0, or errno of fork or pipe.  report: where the child writes if it cannot exec. */
static int start(struct job *j, int rank, const struct launch_app *a, int report)
{
    assert(rank >= 0 && rank < j->n && report >= 0);
    struct ends e;
    struct rank *r = &j->ranks[rank];
    int rc = ends_open(j, rank, &e);
    if (rc) return rc;
    struct words own = {0};
    char **env = rank_env(j, rank, a, e.pmi, &own);
    ((struct boot_rank *)((char *)j->head + j->head->ranks_offset))[rank].app = (int)(a - j->o.apps) + a->dropped;
    pid_t pid = fork();
    if (pid == 0) child(j, rank, a, &e, report, env);
    if (pid < 0) rc = errno;
    free(env);
    words_free(&own);
    for (int i = 0; i < 3; i++)
        if (e.child[i] >= 0) close(e.child[i]);
    if (e.pmi >= 0) close(e.pmi);
    if (e.gate[1] >= 0) {
        if (pid > 0) crash_trace(pid);
        if (pid > 0 && write(e.gate[1], "", 1) < 0) {}
        close(e.gate[0]);
        close(e.gate[1]);
    }
    if (rc) return rc;
    if (!launch_gdb_has_window(rank)) setpgid(pid, pid);
    *r = (struct rank){.pid = pid,
                       .was = pid,
                       .app = (int)(a - j->o.apps),
                       .pmi_fd = e.pmi,
                       .in_fd = e.parent[0],
                       .out = {.fd = e.parent[1], .rank = rank, .to = r->out.to, .also = r->out.also},
                       .err = {.fd = e.parent[2], .rank = rank, .to = r->err.to, .also = r->err.also}};
    j->alive++;
    return 0;
}

/* After a failed start: kills and reaps all processes that were started, so that none counts against the user's limit. */
static void put_away(struct job *j)
{
    enum { MOST_MS = 2000 };
    uint64_t until = gw_now_ns() + (uint64_t)MOST_MS * 1000000;
    launch_kill_all(j, SIGKILL);
    for (int i = 0; i < j->n; i++) {
        pid_t pid = j->ranks[i].pid;
        if (pid <= 0 || !child_wait(pid, until)) continue;
        j->ranks[i].pid = 0;
        keeper_note(i, 0);
        child_reap(pid);
    }
}

int launch_spawn_all(struct job *j)
{
    assert(j->n > 0 && j->n <= MAX_RANKS && !j->head);
    int report[2], why[3], rc = segment_make(j);
    if (rc) return rc;
    files_more();
    j->ranks = calloc((size_t)j->n, sizeof *j->ranks);
    if (!j->ranks) gw_die("mpiexec: no memory");
    rc = pipe2(report, O_CLOEXEC) < 0 ? errno : 0;
    if (!rc && (rc = launch_output_open(j)) != 0) return rc;
    if (!rc) rc = keeper_start(j);
    if (rc) say_line("cannot start a process: %s (limit: ulimit -%c)", strerror(rc), rc == EMFILE || rc == ENFILE ? 'n' : 'u');
    if (rc) j->failed = AFTER_PROCESSES;
    if (!rc) rc = foreign_start(j);
    if (rc) return EXIT_CANNOT_RUN;
    const struct launch_app *a = j->o.apps;
    for (int rank = 0, first = 0; rank < j->n && rc == 0; rank++) {
        while (rank >= first + a->n) first += a++->n;
        rc = start(j, rank, a, report[1]);
        if (rc) say_line("cannot start rank %d: %s (limits: ulimit -u, ulimit -n)", job_rank(j, rank), strerror(rc));
    }
    close(report[1]);
    if (rc) {
        j->room = j->alive;
        put_away(j);
        j->failed = AFTER_PROCESSES;
        return EXIT_CANNOT_RUN;
    }
    /* The pipe closes when every rank has become its program.  A message before that is a failure. */
    while (read(report[0], why, sizeof why) == sizeof why) {
        if (rc) continue;
        j->failed_app = why[2];
        rc = explain_start(j, &j->o.apps[why[2]], why);
    }
    close(report[0]);
    if (rc) put_away(j);
    if (rc) j->failed = AFTER_EXEC;
    if (!rc) launch_mpir_fill(j);
    return rc;
}

void launch_spawn_free(struct job *j)
{
    if (j->head && j->head != MAP_FAILED) munmap(j->head, segment_bytes(j));
    if (j->memfd >= 0) close(j->memfd);
    boot_gate_close(&j->control);
    launch_mpir_free();
    free(j->subs);
    free(j->ranks);
}
