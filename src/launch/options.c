/* options.c -- the command line of mpiexec.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/gdb.h"

extern char **environ;

static const char help[] =
    "usage: mpiexec [options] PROGRAM [arguments] [: [options] PROGRAM [arguments]]...\n"
    "       mpiexec doctor [PROGRAM]      looks at what on this machine helps or hinders MPI jobs\n"
    "       mpiexec --stack [-v] [JOB]    prints where the ranks of a running job are: their merged stacks, by gdb or eu-stack\n"
    "\n"
    "Starts PROGRAM as the ranks of one MPI job on this machine.\n"
    "\n"
    "Of each program:\n"
    "  -n, -np N            ranks (default: one per core)\n"
    "  -env NAME VALUE      set an environment variable\n"
    "  -x NAME[=VALUE]      the same; without =VALUE as it is here\n"
    "  -wdir DIR            start in DIR\n"
    "  -initial-errhandler H  mpi_errors_are_fatal (default), mpi_errors_abort or mpi_errors_return\n"
    "  -memory-alloc-kinds K  kinds of memory that the program asks for, such as system,mpi; other kinds than these are not there\n"
    "Of the job:\n"
    "  -genv NAME VALUE     set an environment variable for all programs\n"
    "  --bind-to WHAT       core, numa or none (default: an equal share of the cores; nothing where ranks outnumber cores)\n"
    "  --map-by WHAT        core: neighbours side by side (default); numa: spread over the NUMA nodes\n"
    "  -r, --reserve-cores N  keep the ranks off N cores, for their progress threads (GODWIT_PROGRESS_THREAD=1)\n"
    "  -l                   begin each line of output with its rank\n"
    "  -stdin RANK          who reads standard input: a rank (default 0), all or none\n"
    "  --timeout SECONDS    end the job after that time, with exit status 124; says where the ranks were\n"
    "  --pmix on|off|auto   offer PMIx to the ranks (default auto: to programs of other MPI libraries)\n"
    "  --gdb[=RANKS]        start all ranks, or those of a list such as 0,2-3, under gdb: one on this terminal, several in windows\n"
    "                       of xterm (where DISPLAY is set) or tmux\n"
    "  --profile[=FILE]     when the program ends, say where its time went; FILE gets the same as a page (godwit-profile.*.html)\n"
    "  --vnodes K           let the ranks act as if they were on K nodes, or with a list such as 3,1,2, on nodes of so many ranks\n"
    "  -v                   say where ranks run\n"
    "  -host, -f            hosts, or a file of them: NAME[:RANKS],...; for others than this machine mpiexec hands over to an engine\n"
    "  -ppn N               ranks a host\n"
    "  --engine NAME        which: srun, flux, prterun, mpirun (Open MPI's) or hydra; none: all ranks on this machine\n"
    "  --version, --help\n"
    "\n"
    "The exit status is that of the first rank that failed, 128 + the signal where one killed it.\n"
    "SIGQUIT (Ctrl-\\) makes mpiexec say where the ranks are and why they do not go on; the job continues.\n"
    "It says so by itself, once, when the job seems to hang for GODWIT_HANG_WARN seconds (60; 0: never).\n"
    "More ranks than cores, root and containers need no permission.\n";

enum option {
    O_N, O_ENV, O_GENV, O_X, O_WDIR, O_BIND, O_MAP, O_LABEL, O_STDIN, O_TIMEOUT, O_PMIX, O_VERBOSE, O_VERSION, O_HELP,
    O_GDB, O_PROFILE, O_STACK, O_OVERSUBSCRIBE, O_NOTHING, O_PPN, O_HOSTS, O_HOSTFILE, O_ERRHANDLER, O_KINDS, O_ENGINE, O_RESERVE, O_VNODES
};
static const struct { const char *name; enum option is; int words; } table[] = {
    {"-n", O_N, 1}, {"-np", O_N, 1}, {"--np", O_N, 1}, {"--n", O_N, 1}, {"-c", O_N, 1},
    {"-env", O_ENV, 2}, {"--env", O_ENV, 2}, {"-genv", O_GENV, 2}, {"--genv", O_GENV, 2}, {"-x", O_X, 1},
    {"-wdir", O_WDIR, 1}, {"--wdir", O_WDIR, 1}, {"-wd", O_WDIR, 1}, {"--wd", O_WDIR, 1},
    {"--bind-to", O_BIND, 1}, {"-bind-to", O_BIND, 1}, {"--map-by", O_MAP, 1}, {"-map-by", O_MAP, 1},
    {"-r", O_RESERVE, 1}, {"--reserve-cores", O_RESERVE, 1},
    {"-l", O_LABEL, 0}, {"--label", O_LABEL, 0}, {"-prepend-rank", O_LABEL, 0}, {"--tag-output", O_LABEL, 0},
    {"-stdin", O_STDIN, 1}, {"--stdin", O_STDIN, 1}, {"-s", O_STDIN, 1},
    {"--timeout", O_TIMEOUT, 1}, {"-timeout", O_TIMEOUT, 1}, {"--pmix", O_PMIX, 1},
    {"--vnodes", O_VNODES, 1}, {"-vnodes", O_VNODES, 1},
    {"-v", O_VERBOSE, 0}, {"--verbose", O_VERBOSE, 0}, {"--report-bindings", O_VERBOSE, 0},
    {"--version", O_VERSION, 0}, {"-version", O_VERSION, 0}, {"-V", O_VERSION, 0},
    {"--help", O_HELP, 0}, {"-help", O_HELP, 0}, {"-h", O_HELP, 0},
    {"--gdb", O_GDB, 0}, {"-gdb", O_GDB, 0}, {"--profile", O_PROFILE, 0}, {"-profile", O_PROFILE, 0}, {"--stack", O_STACK, 0}, {"-stack", O_STACK, 0},
    {"--oversubscribe", O_OVERSUBSCRIBE, 0}, {"--allow-run-as-root", O_NOTHING, 0}, {"--mca", O_NOTHING, 2},
    {"--use-hwthread-cpus", O_NOTHING, 0}, {"-envall", O_NOTHING, 0}, {"-genvall", O_NOTHING, 0}, {"-launcher", O_NOTHING, 1},
    {"-ppn", O_PPN, 1}, {"-perhost", O_PPN, 1}, {"--npernode", O_PPN, 1}, {"-npernode", O_PPN, 1},
    {"-hosts", O_HOSTS, 1}, {"--hosts", O_HOSTS, 1}, {"--host", O_HOSTS, 1}, {"-host", O_HOSTS, 1}, {"-H", O_HOSTS, 1},
    {"-f", O_HOSTFILE, 1}, {"--hostfile", O_HOSTFILE, 1}, {"-hostfile", O_HOSTFILE, 1}, {"-machinefile", O_HOSTFILE, 1},
    {"--machinefile", O_HOSTFILE, 1},
    {"--engine", O_ENGINE, 1}, {"-engine", O_ENGINE, 1},
    {"-initial-errhandler", O_ERRHANDLER, 1}, {"--initial-errhandler", O_ERRHANDLER, 1},
    {"-memory-alloc-kinds", O_KINDS, 1}, {"--memory-alloc-kinds", O_KINDS, 1},
};
enum { N_TABLE = sizeof table / sizeof table[0] };

void words_add(struct words *w, const char *text)
{
    w->at = realloc(w->at, sizeof *w->at * (size_t)(w->n + 2));
    char *copy = strdup(text);
    if (!w->at || !copy) gw_die("mpiexec: no memory");
    w->at[w->n++] = copy;
    w->at[w->n] = NULL;
}

void words_free(struct words *w)
{
    for (int i = 0; i < w->n; i++) free(w->at[i]);
    free(w->at);
    *w = (struct words){0};
}

void options_free(struct launch_options *o)
{
    for (int i = 0; i < o->n_apps; i++) {
        words_free(&o->apps[i].env);
        free(o->apps[i].argv);
    }
    free(o->apps);
    words_free(&o->env);
    hosts_free(&o->hosts);
}

static void add_pair(struct words *w, const char *name, const char *value)
{
    char *pair;
    if (asprintf(&pair, "%s=%s", name, value) < 0) gw_die("mpiexec: no memory");
    words_add(w, pair);
    free(pair);
}

static int bad(const char *fmt, ...) GW_PRINTF(1, 2);
static int bad(const char *fmt, ...)
{
    va_list ap;
    fputs("mpiexec: ", stderr);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputs("\n", stderr);
    return EXIT_USAGE;
}

/* A whole number in [low, high]; -1 after explaining. */
static long number(const char *option, const char *text, long low, long high)
{
    char *end;
    errno = 0;
    long v = strtol(text, &end, 10);
    if (!errno && end != text && !*end && v >= low && v <= high) return v;
    bad("%s wants a number from %ld to %ld, not '%s'", option, low, high, text);
    return -1;
}

/* The place of `text` in a list of words; -1 after explaining. */
static int choice(const char *option, const char *text, const char *const *words, int n)
{
    for (int i = 0; i < n; i++)
        if (strcasecmp(words[i], text) == 0) return i;
    char known[128] = "";
    for (int i = 0; i < n; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i == 0 ? "" : i == n - 1 ? " or " : ", ", words[i]);
    const char *near = gw_nearest(text, words, n);
    bad("%s is %s, not '%s'%s%s%s", option, known, text, near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    return -1;
}

static int set_x(struct launch_app *a, const char *text)
{
    const char *value = strchr(text, '=');
    if (value) {
        words_add(&a->env, text);
        return -1;
    }
    for (char **e = environ; *e; e++)
        if (strncmp(*e, text, strlen(text)) == 0 && (*e)[strlen(text)] == '=') return -1; /* inherited anyway */
    return bad("-x %s: there is no such environment variable here; -x %s=VALUE sets it", text, text);
}

static int set_stdin(struct launch_options *o, const char *text)
{
    if (strcmp(text, "all") == 0) {
        o->stdin_rank = STDIN_ALL;
    } else if (strcmp(text, "none") == 0) {
        o->stdin_rank = STDIN_NONE;
    } else if (isdigit((unsigned char)*text)) {
        long v = number("-stdin", text, 0, MAX_RANKS);
        if (v < 0) return EXIT_USAGE;
        o->stdin_rank = (int)v;
    } else {
        return bad("-stdin is a rank, all or none, not '%s'", text);
    }
    return -1;
}

/* The profiling library lies where we were installed, or beside us in a build folder. */
static int set_profile(struct launch_options *o, const char *file)
{
    char here[PATH_MAX], lib[PATH_MAX + 64], list[2 * PATH_MAX];
    const char *also = getenv("LD_PRELOAD");
    ssize_t n = readlink("/proc/self/exe", here, sizeof here - 1);
    here[n > 0 ? n : 0] = 0;
    char *slash = strrchr(here, '/');
    if (slash) *slash = 0;
    snprintf(lib, sizeof lib, "%s/../%s/libgodwit_profile.so", here, GODWIT_LIBDIR);
    if (access(lib, R_OK) != 0) snprintf(lib, sizeof lib, "%s/tools/profile/libgodwit_profile.so", here);
    if (access(lib, R_OK) != 0) return bad("--profile: there is no %s/../%s/libgodwit_profile.so; install Godwit again", here, GODWIT_LIBDIR);
    snprintf(list, sizeof list, "%s%s%s", lib, also && *also ? ":" : "", also && *also ? also : "");
    add_pair(&o->env, "LD_PRELOAD", list);
    add_pair(&o->env, "GODWIT_PROFILE", file && *file ? file : "1");
    return -1;
}

static int set_timeout(struct launch_options *o, const char *text)
{
    char *end;
    o->timeout = strtod(text, &end);
    if (o->timeout > 1e9) o->timeout = 1e9; /* that is never, and fits in ns */
    return end != text && !*end && o->timeout > 0 ? -1 : bad("--timeout wants seconds above 0, not '%s'", text);
}

/* What stands behind a colon or comma is a modifier of Open MPI's; its ppr:N:WHAT is WHAT here. */
static int set_map(struct launch_options *o, const char *text)
{
    static const char *const words[] = {"core", "slot", "hwthread", "node", "numa", "socket", "package", "l3cache"};
    char word[32];
    if (strncmp(text, "ppr:", 4) == 0) text += 4 + strspn(text + 4, "0123456789:");
    snprintf(word, sizeof word, "%.*s", (int)strcspn(text, ":,"), text);
    int c = choice("--map-by", word, words, 8);
    if (c < 0) return EXIT_USAGE;
    o->map = c >= 4 ? MAP_NUMA : MAP_CORE;
    return -1;
}

/* core, numa or none; the others are words that other launchers have for them. */
static int set_bind(struct launch_options *o, const char *name, const char *text)
{
    static const char *const words[] = {"core", "numa", "none", "hwthread", "socket", "package", "l3cache", "board"};
    static const enum bind_to means[] = {BIND_CORE, BIND_NUMA, BIND_NONE, BIND_CORE, BIND_NUMA, BIND_NUMA, BIND_NUMA, BIND_NONE};
    for (size_t i = 3; i < GW_ARRAY_LEN(words); i++)
        if (strcmp(words[i], text) == 0) {
            o->bind = means[i];
            return -1;
        }
    int c = choice(name, text, words, 3);
    if (c < 0) return EXIT_USAGE;
    o->bind = means[c];
    return -1;
}

static int set_hosts(struct launch_options *o, enum option is, const char *name, const char *text)
{
    const char *why = NULL;
    if (is == O_HOSTS)
        hosts_add(&o->hosts, text);
    else
        why = hosts_read(&o->hosts, text);
    if (!why && o->hosts.bad) return bad("%s: \"%s\" is no name of a host", name, o->hosts.bad);
    return why ? bad("%s %s: %s", name, text, why) : -1;
}

static int set_engine(struct launch_options *o, const char *text)
{
    static const char *const engines[] = {"srun", "flux", "prterun", "mpirun", "hydra", "none"};
    int c = choice("--engine", text, engines, 6);
    if (c >= 0) o->engine = engines[c];
    return c < 0 ? EXIT_USAGE : -1;
}

/* One option with its words v[0..]. */
static int set(enum option is, const char *name, char **v, struct launch_options *o, struct launch_app *a)
{
    static const char *const pmixes[] = {"auto", "on", "off"};
    static const char *const errhandlers[] = {"mpi_errors_are_fatal", "mpi_errors_abort", "mpi_errors_return"};
    long n;
    int c;
    switch (is) {
    case O_N:
        n = number(name, v[0], 1, MAX_RANKS);
        a->n = (int)n;
        a->n_given = true;
        return n < 0 ? EXIT_USAGE : -1;
    case O_ENV:
    case O_GENV:
        if (strchr(v[0], '=')) return bad("%s %s: name and value are two words here; in one word it is -x %s", name, v[0], v[0]);
        add_pair(is == O_ENV ? &a->env : &o->env, v[0], v[1]);
        return -1;
    case O_X: return set_x(a, v[0]);
    case O_WDIR: a->wdir = v[0]; return -1;
    case O_BIND: return set_bind(o, name, v[0]);
    case O_MAP: return set_map(o, v[0]);
    case O_LABEL: o->label = true; return -1;
    case O_STDIN: return set_stdin(o, v[0]);
    case O_TIMEOUT: return set_timeout(o, v[0]);
    case O_RESERVE:
        n = number(name, v[0], 0, MAX_RANKS);
        o->reserve = (int)n;
        return n < 0 ? EXIT_USAGE : -1;
    case O_PMIX:
        c = choice(name, v[0], pmixes, 3);
        o->pmix = (enum pmix_mode)c;
        return c < 0 ? EXIT_USAGE : -1;
    case O_ERRHANDLER:
        if (choice(name, v[0], errhandlers, 3) < 0) return EXIT_USAGE;
        add_pair(&a->env, "GODWIT_INITIAL_ERRHANDLER", v[0]);
        return -1;
    case O_KINDS: add_pair(&a->env, "GODWIT_MEMORY_ALLOC_KINDS", v[0]); return -1;
    case O_VERBOSE: o->verbose = true; return -1;
    case O_OVERSUBSCRIBE: o->oversubscribe = true; return -1;
    case O_VERSION: printf("mpiexec (Godwit) %s\n", GODWIT_VERSION); return 0;
    case O_HELP: fputs(help, stdout); return 0;
    case O_GDB: o->gdb = v[0] ? v[0] : ""; return -1;
    case O_PROFILE: return set_profile(o, v[0]);
    case O_STACK: return bad("%s looks at a job that runs already, and is the first word: mpiexec --stack [-v] [JOB]", name);
    case O_VNODES: add_pair(&o->env, "GODWIT_VNODES", v[0]); return -1;
    case O_NOTHING: return -1;
    case O_PPN:
        n = number(name, v[0], 1, MAX_RANKS);
        o->ppn = (int)n;
        return n < 0 ? EXIT_USAGE : -1;
    case O_ENGINE: return set_engine(o, v[0]);
    default: return set_hosts(o, is, name, v[0]);
    }
}

static int unknown(const char *name)
{
    const char *names[N_TABLE], *near;
    for (int i = 0; i < N_TABLE; i++) names[i] = table[i].name;
    near = gw_nearest(name, names, N_TABLE);
    return bad("unknown option %s%s%s%s; `mpiexec --help` lists them", name, near ? " (did you mean " : "", near ? near : "",
               near ? "?)" : "");
}

/* One program's part, argv[i..end). */
static int parse_app(char **argv, int i, int end, struct launch_options *o, struct launch_app *a)
{
    *a = (struct launch_app){0};
    while (i < end && argv[i][0] == '-' && argv[i][1]) {
        char *name = argv[i], *value = NULL, key[64];
        int k = 0;
        if (strcmp(name, "--") == 0) {
            i++;
            break;
        }
        /* --name=value */
        size_t eq = strncmp(name, "--", 2) == 0 ? strcspn(name, "=") : strlen(name);
        if (name[eq] && eq < sizeof key) {
            value = name + eq + 1;
            snprintf(key, sizeof key, "%.*s", (int)eq, name);
            name = key;
        }
        while (k < N_TABLE && strcmp(table[k].name, name) != 0) k++;
        if (k == N_TABLE) return unknown(argv[i]);
        if (value ? table[k].words != 1 && table[k].is != O_GDB && table[k].is != O_PROFILE : i + table[k].words >= end)
            return bad("%s wants %d word%s behind it", name, table[k].words, table[k].words == 1 ? "" : "s");
        int rc = set(table[k].is, table[k].name, value || !table[k].words ? &value : argv + i + 1, o, a);
        if (rc >= 0) return rc;
        i += value ? 1 : 1 + table[k].words;
    }
    if (i >= end) return bad("no program to start; such as: mpiexec -n 4 ./a.out");
    a->argv = calloc((size_t)(end - i + 1), sizeof *a->argv);
    if (!a->argv) gw_die("mpiexec: no memory");
    memcpy(a->argv, argv + i, sizeof *a->argv * (size_t)(end - i));
    return -1;
}

static int check_gdb(const struct launch_options *o)
{
    bool *has = gw_xcalloc((size_t)o->n_ranks, sizeof *has);
    int n = o->gdb ? gdb_ranks(o->gdb, o->n_ranks, has) : 0;
    free(has);
    if (n == GDB_NO_LIST) return bad("--gdb wants ranks, such as --gdb=0 or --gdb=0,2-3, not '%s'", o->gdb);
    if (n == GDB_NO_RANK) return bad("--gdb=%s: there are only %d ranks", o->gdb, o->n_ranks);
    return -1;
}

/* The value that all ranks get of a variable with one of two names; of several values, the last.  NULL: none. */
static const char *rank_variable(const struct launch_options *o, const char *name, const char *alias)
{
    const char *names[] = {name, alias};
    for (int k = 0; k < 2; k++) {
        const char *text = getenv(names[k]);
        size_t n = strlen(names[k]);
        for (int i = 0; i < o->env.n; i++)
            if (strncmp(o->env.at[i], names[k], n) == 0 && o->env.at[i][n] == '=') text = o->env.at[i] + n + 1;
        if (text && *text) return text;
    }
    return NULL;
}

static int check_vnodes(struct launch_options *o)
{
    const char *text = rank_variable(o, "GODWIT_VNODES", "GODWIT_VNODES");
    if (!text) return -1;
    o->vnodes = text;
    if (boot_vnodes_check(text) != GW_OK) return bad("--vnodes (GODWIT_VNODES): %s", gw_fail_text());
    if (strlen(text) >= sizeof((struct boot_head *)0)->vnodes) return bad("--vnodes %s: the list is too long", text);
    return -1;
}

/* A bad file is refused before anything starts. */
static int check_order(struct launch_options *o)
{
    const char *method = rank_variable(o, "GODWIT_RANK_ORDER", "MPICH_RANK_REORDER_METHOD");
    const char *file = rank_variable(o, "GODWIT_RANK_ORDER_FILE", "MPICH_RANK_REORDER_FILE");
    if (!method || strcasecmp(method, "auto") == 0) return -1;
    long v = number("MPICH_RANK_REORDER_METHOD (GODWIT_RANK_ORDER)", method, BOOT_ORDER_ROUND, BOOT_ORDER_FILE);
    if (v < 0) return EXIT_USAGE;
    o->order = (int)v + 1;
    o->order_file = file ? file : "MPICH_RANK_ORDER";
    if (v != BOOT_ORDER_FILE) return -1;
    int32_t *list = gw_xmalloc(sizeof *list * (size_t)o->n_ranks);
    int rc = boot_order_read(o->order_file, o->n_ranks, list);
    free(list);
    return rc == GW_OK ? -1 : bad("%s", gw_fail_text());
}

int options_parse(int argc, char **argv, struct launch_options *o)
{
    *o = (struct launch_options){0};
    for (int i = 1; i <= argc;) {
        int end = i;
        while (end < argc && strcmp(argv[end], ":") != 0) end++;
        o->apps = realloc(o->apps, sizeof *o->apps * (size_t)(o->n_apps + 1));
        if (!o->apps) gw_die("mpiexec: no memory");
        struct launch_app *a = &o->apps[o->n_apps++];
        int rc = parse_app(argv, i, end, o, a);
        if (rc >= 0) return rc;
        if (!a->n) a->n = bind_cores() > o->reserve ? bind_cores() - o->reserve : 1;
        o->n_ranks += a->n;
        i = end + 1;
        if (end == argc) break;
    }
    if (o->n_ranks > MAX_RANKS) return bad("%d ranks; at most %d", o->n_ranks, MAX_RANKS);
    if (o->stdin_rank >= o->n_ranks) return bad("-stdin %d: there are only %d ranks", o->stdin_rank, o->n_ranks);
    int rc = check_vnodes(o);
    if (rc < 0) rc = check_order(o);
    return rc >= 0 ? rc : check_gdb(o);
}
