/* options.c -- the command line of mpiexec.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doctor/doctor.h"
#include "engine/engine.h"
#include "launch/gdb.h"
#include "base/settings.h"
#include "boot/boot.h"
#include "boot/order.h"
#include "boot/segment.h"
#include "launch/options_private.h"

void launch_options_free(struct launch_options *o)
{
    for (int i = 0; i < o->n_apps; i++) {
        words_free(&o->apps[i].env);
        free(o->apps[i].argv);
    }
    free(o->apps);
    words_free(&o->env);
    words_free(&o->mca_unknown);
    words_free(&o->taken);
    words_free(&o->noted);
    words_free(&o->held);
    hosts_free(&o->hosts);
}

/* "NAME VALUE", for messages that come when all options are known. */
static const char *said_as(struct launch_options *o, const char *name, const char *text)
{
    char *both = gw_xasprintf("%s %s", name, text);
    const char *held = launch_options_hold(o, both);
    free(both);
    return held;
}

/* ---- one option with its words v[0..] --------------------------------------------------------------------------------------- */
static int set_number(const char *name, const char *text, long low, int *out)
{
    assert(low >= 0);
    long v = launch_parse_number(name, text, low, MAX_RANKS);
    if (v < 0) return EXIT_USAGE;
    *out = (int)v;
    return -1;
}

/* Ranks of a program.  0 is for one of several, and is judged when all are known. */
static int set_ranks(struct launch_app *a, const char *name, const char *text)
{
    a->n_given = true;
    a->n_said = name;
    if (text[0] && strspn(text, "0") == strlen(text)) {
        a->n = 0;
        return -1;
    }
    return set_number(name, text, 1, &a->n);
}

static int set_engine(struct launch_options *o, const char *text)
{
    static const char *const engines[] = {"srun", "flux", "prterun", "mpirun", "hydra", "own", "none"};
    static const struct {
        const char *also, *is;
    } same[] = {{"slurm", "srun"},     {"prrte", "prterun"}, {"prte", "prterun"},
                {"openmpi", "mpirun"}, {"ompi", "mpirun"},   {"mpich", "hydra"}};
    for (size_t i = 0; i < GW_ARRAY_LEN(same); i++)
        if (strcasecmp(text, same[i].also) == 0)
            return launch_usage_error("--engine is srun, flux, prterun, mpirun, hydra, own or none, not '%s'; did you mean %s?",
                                      text, same[i].is);
    int c = launch_parse_choice("--engine", text, engines, GW_ARRAY_LEN(engines));
    if (c >= 0) o->engine = engines[c];
    return c < 0 ? EXIT_USAGE : -1;
}

static int set_pmix(struct launch_options *o, const char *name, const char *text)
{
    static const char *const pmixes[] = {"auto", "on", "off"};
    int c = launch_parse_choice(name, text, pmixes, 3);
    o->pmix = (enum pmix_mode)c;
    return c < 0 ? EXIT_USAGE : -1;
}

static int set_errhandler(struct launch_app *a, const char *name, const char *text)
{
    static const char *const errhandlers[] = {"mpi_errors_are_fatal", "mpi_errors_abort", "mpi_errors_return"};
    if (launch_parse_choice(name, text, errhandlers, 3) < 0) return EXIT_USAGE;
    launch_add_pair(&a->env, "GODWIT_INITIAL_ERRHANDLER", text);
    return -1;
}

static int set_coll_order(struct launch_app *a, const char *name, const char *text)
{
    static const char *const orders[] = {"strict", "apart"};
    if (launch_parse_choice(name, text, orders, 2) < 0) return EXIT_USAGE;
    launch_add_pair(&a->env, "GODWIT_COLL_ORDER", text);
    return -1;
}

static int set_env(struct words *w, const char *name, char **v)
{
    if (strchr(v[0], '='))
        return launch_usage_error("%s %s: name and value are two words here; in one word it is -x %s", name, v[0], v[0]);
    launch_add_pair(w, v[0], v[1]);
    return -1;
}

/* "NAME=VALUE" */
static bool is_pair(const char *text)
{
    size_t n = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");
    return n && text[n] == '=' && !(*text >= '0' && *text <= '9');
}

/* Sets an option of one program; -2: the option is of another kind. */
static int set_of_program(enum option is, const char *name, char **v, struct launch_options *o, struct launch_app *a)
{
    switch (is) {
    case O_N: return set_ranks(a, name, v[0]);
    case O_C: return set_number(name, v[0], 0, &a->c) < 0 ? (a->c_given = true, -1) : EXIT_USAGE;
    case O_SOFT: a->soft = v[0]; return -1;
    case O_ENV: return set_env(&a->env, name, v);
    case O_X: return launch_set_x(a, name, v[0]);
    case O_ENVALL: a->inherits = (struct env_wanted){ENV_ALL, NULL}; return -1;
    case O_ENVNONE: a->inherits = (struct env_wanted){ENV_NONE, NULL}; return -1;
    case O_ENVLIST: a->inherits = (struct env_wanted){ENV_LIST, v[0]}; return -1;
    case O_EXPORT: return launch_set_export(a, o, v[0]);
    case O_WDIR: a->wdir = v[0]; return -1;
    case O_ERROR: return strcmp(name, "-e") == 0 && is_pair(v[0]) ? launch_set_x(a, name, v[0]) : -2;
    case O_PATH: a->path = v[0]; return -1;
    case O_ARCH: return launch_set_arch(v[0]);
    case O_FILE: a->file = v[0]; return -1;
    case O_ERRHANDLER: return set_errhandler(a, name, v[0]);
    case O_COLL_ORDER: return set_coll_order(a, name, v[0]);
    case O_KINDS: launch_add_pair(&a->env, "GODWIT_MEMORY_ALLOC_KINDS", v[0]); return -1;
    default: return -2;
    }
}

static int set_ppr(struct launch_options *o, const char *name, const char *text)
{
    o->place.ppr_said = said_as(o, name, text);
    return set_number(name, text, 1, &o->place.ppr);
}

static int set_of_place(enum option is, const char *name, char **v, struct launch_options *o)
{
    switch (is) {
    case O_BIND: return launch_set_bind(o, name, v[0]);
    case O_CPU_BIND: return launch_set_cpu_bind(o, v[0]);
    case O_CC: return launch_set_cc(o, name, v[0]);
    case O_DISTRIBUTION: return launch_set_distribution(o, name, v[0]);
    case O_MEM_BIND: return launch_set_mem_bind(o, v[0]);
    case O_SS: return launch_set_membind(o, "bind");
    case O_PER_NUMA: o->place.map = UNIT_NUMA; return set_ppr(o, name, v[0]);
    case O_MAP: return launch_set_map(o, name, v[0]);
    case O_RANK_BY: return launch_set_rank_by(o, v[0]);
    case O_PPR: return launch_set_ppr(o, name, v[0]);
    case O_NPERSOCKET: o->place.map = UNIT_PACKAGE; return set_ppr(o, name, v[0]);
    case O_CPUS_PER_RANK: o->said.depth = said_as(o, name, v[0]); return set_number(name, v[0], 1, &o->place.depth);
    case O_CPU_SET: return launch_set_cpu_set(o, name, v[0]);
    case O_RANKFILE: return launch_set_rankfile(o, name, v[0]);
    case O_NUMA_LIST: o->said.numa = said_as(o, name, v[0]); return launch_set_numa(o, name, v[0]);
    case O_NUMA_COUNT: o->said.numa = said_as(o, name, v[0]); return set_number(name, v[0], 1, &o->place.numa_most);
    case O_DISPLAY: return launch_set_display(o, name, v[0]);
    case O_MEMBIND: return launch_set_membind(o, v[0]);
    case O_BIND_CORE: return launch_set_bind(o, name, "core");
    case O_BIND_SOCKET: return launch_set_bind(o, name, "socket");
    case O_BIND_NONE: return launch_set_bind(o, name, "none");
    case O_BY_CORE: return launch_set_map(o, name, "core");
    case O_BY_NODE: return launch_set_map(o, name, "node");
    case O_BY_SOCKET: return launch_set_map(o, name, "socket");
    case O_RESERVE: o->said.reserve = name; return set_number(name, v[0], 0, &o->place.reserve);
    case O_OVERSUBSCRIBE: o->oversubscribe = true; return -1;
    case O_NO_OVERSUBSCRIBE: launch_no_oversubscribe(o, name, true); return -1;
    case O_DISPLAY_MAP: o->show_map = true; return -1;
    case O_DO_NOT_LAUNCH: o->no_launch = true; return -1;
    default: return -2;
    }
}

static int set_of_output(enum option is, const char *name, char **v, struct launch_options *o)
{
    switch (is) {
    case O_LABEL: o->output.label = true; return -1;
    case O_PATTERN: return launch_set_pattern(o, name, &o->output.prefix, v[0]);
    case O_TIMESTAMP: o->output.timestamp = true; return -1;
    case O_MERGE: o->output.merged = true; return -1;
    case O_OUTFILE: return launch_set_pattern(o, name, &o->output.file[0], v[0]);
    case O_ERRFILE: return launch_set_pattern(o, name, &o->output.file[1], v[0]);
    case O_OUTPUT_FILENAME: return launch_set_output_filename(o, name, v[0]);
    case O_OUTPUT: return launch_set_output(o, name, 0, v[0]);
    case O_ERROR: return launch_set_output(o, name, 1, v[0]);
    case O_STDIN: return launch_set_stdin(o, name, v[0]);
    case O_EXITCODES: o->exit_codes = true; return -1;
    case O_VERBOSE: o->verbose = true; return -1;
    case O_QUIET: o->quiet = true; return -1;
    default: return -2;
    }
}

static int print_and_end(enum option is)
{
    if (is == O_HELP)
        launch_option_help(stdout);
    else
        printf("mpiexec (Godwit) %s\n", GODWIT_VERSION);
    if (fflush(stdout) == 0) return 0;
    launch_usage_error("cannot write standard output: %s", strerror(errno));
    return 1;
}

static int set_pmix_parameter(struct launch_options *o, const char *name, char **v)
{
    if (!*v[0] || strchr(v[0], '=')) return launch_usage_error("%s wants a name and a value as two words, not '%s'", name, v[0]);
    char *variable = gw_xasprintf("PMIX_MCA_%s", v[0]);
    launch_add_pair(&o->env, variable, v[1]);
    free(variable);
    return -1;
}

static int set(const struct option_row *row, const char *name, char **v, struct launch_options *o, struct launch_app *a)
{
    if (row->where == HERE) o->only_here = name;
    if (row->section == SECTION_PROGRAM && row->is != O_ARCH) a->said = name;
    int rc = set_of_program(row->is, name, v, o, a);
    if (rc == -2) rc = set_of_place(row->is, name, v, o);
    if (rc == -2) rc = set_of_output(row->is, name, v, o);
    if (rc != -2) return rc;
    switch (row->is) {
    case O_GENV: return set_env(&o->env, name, v);
    case O_GENVALL: o->inherits = (struct env_wanted){ENV_ALL, NULL}; return -1;
    case O_GENVNONE: o->inherits = (struct env_wanted){ENV_NONE, NULL}; return -1;
    case O_GENVLIST: o->inherits = (struct env_wanted){ENV_LIST, v[0]}; return -1;
    case O_MCA: return launch_set_mca(o, name, v);
    case O_PMIXMCA: return set_pmix_parameter(o, name, v);
    case O_CPU_TIME: return launch_set_cpu_time(o, name, v[0]);
    case O_RUNTIME: return launch_set_runtime(o, name, v[0]);
    case O_IFACE: launch_add_pair(&o->env, "GODWIT_NET_IFACE", v[0]); return -1;
    case O_USIZE: return launch_set_usize(o, v[0]);
    case O_TIMEOUT: return launch_set_timeout(o, name, v[0]);
    case O_STACKS: o->stacks = true; return -1;
    case O_CRASH_STACKS: o->crash_stacks = true; return -1;
    case O_NO_CLEANUP: o->no_cleanup = true; return -1;
    case O_PMIX: return set_pmix(o, name, v[0]);
    case O_GDB: o->gdb = v[0] ? v[0] : ""; return -1;
    case O_PROFILE: return launch_set_profile(o, v[0]);
    case O_RECORD: return launch_set_record(o, false, v[0]);
    case O_REPLAY: return launch_set_record(o, true, v[0]);
    case O_REORDER: o->reorder = v[0] ? v[0] : ""; return -1;
    case O_REPORT_PID: o->report_pid = v[0]; return -1;
    case O_VERSION:
    case O_HELP: return print_and_end(row->is);
    case O_STACK:
        return launch_usage_error("%s looks at a job that runs already, and is the first word: mpiexec --stack [-v] [JOB]", name);
    case O_VNODES: launch_add_pair(&o->env, "GODWIT_VNODES", v[0]); return -1;
    case O_DEFAULT_HOSTFILE: o->default_hostfile = v[0]; return -1;
    case O_PPN: o->ppn_said = said_as(o, name, v[0]); return set_number(name, v[0], 1, &o->ppn);
    case O_PERNODE:
        o->ppn = 1;
        o->ppn_said = name;
        return -1;
    case O_ENGINE: return set_engine(o, v[0]);
    case O_NODES: return launch_set_nodes(o, name, v[0]);
    case O_TAKEN:
    case O_NOTED: return launch_without_effect(o, row, name, v[0]);
    case O_REFUSED: return launch_usage_error("%s: %s", name, row->help);
    case O_CONFIGFILE:
        return launch_usage_error(
            "%s stands at the end of the command line, and not in a file: nothing follows the file's name, and "
            "-n and the programs stand in its lines",
            name);
    case O_HOSTFILE: return launch_set_hostfile(o, name, v[0]);
    default: return launch_set_hosts(o, name, v[0]);
    }
}

/* ---- the command line --------------------------------------------------------------------------------------------------------- */
static int unknown(const char *name)
{
    char near[64];
    const char *aprun = launch_option_of_aprun(name, strcspn(name, "="));
    if (aprun) return launch_usage_error("unknown option %s; of aprun, a link to mpiexec, it is %s", name, aprun);
    if (name[1] && strspn(name + 1, "0123456789") == strlen(name + 1))
        return launch_usage_error("unknown option %s (was -n %s meant?)", name, name + 1);
    if (doctor_meant(name + strspn(name, "-")))
        return launch_usage_error("unknown option %s (did you mean the command `mpiexec doctor`?)", name);
    if (launch_option_nearest(name, near, sizeof near))
        return launch_usage_error("unknown option %s (did you mean %s?); `mpiexec --help` lists them", name, near);
    return launch_usage_error("unknown option %s; `mpiexec --help` lists them", name);
}

/* The words of a file, which live as long as the options; the caller frees the list. */
static char **file_words(struct launch_options *o, const char *name, const char *path, int *n_out)
{
    struct words w = {0};
    const char *why = launch_options_file_read(path, &w);
    if (!why && !w.n) why = "there is nothing in it";
    if (why) launch_usage_error("%s %s: %s", name, path, why);
    char **list = why ? NULL : gw_xcalloc((size_t)w.n + 1, sizeof *list);
    for (int i = 0; list && i < w.n; i++) list[i] = (char *)launch_options_hold(o, w.at[i]);
    *n_out = w.n;
    words_free(&w);
    return list;
}

/* Reads options from argv[*at] on and moves *at to the first word that is no option. */
static int parse_options(char **argv, int *at, int end, struct launch_options *o, struct launch_app *a)
{
    assert(*at <= end);
    while (*at < end && argv[*at][0] == '-' && argv[*at][1]) {
        char *word = argv[*at], *value, name[64];
        if (strcmp(word, "--") == 0) {
            ++*at;
            break;
        }
        const struct option_row *row = launch_option_row_of(word, &value);
        if (!row) return unknown(word);
        int words = launch_option_words(row);
        snprintf(name, sizeof name, "%.*s", value ? (int)(value - word) - (value[-1] == '=') : (int)strlen(word), word);
        const char *instead = launch_option_not_aprun(name);
        if (instead) return launch_usage_error("%s is Slurm's (srun), and no option of aprun: %s", name, instead);
        if (value ? words != 1 && words != OPTIONAL : *at + words >= end && words > 0)
            return launch_usage_error("%s wants %d word%s behind it", name, words > 0 ? words : 0, words == 1 ? "" : "s");
        int rc = set(row, launch_options_hold(o, name), value || words <= 0 ? &value : argv + *at + 1, o, a);
        if (rc >= 0) return rc;
        *at += value || words < 0 ? 1 : 1 + words;
        a->last = launch_options_hold(o, name);
        a->taken = value || words <= 0 ? NULL : argv[*at - 1];
    }
    return -1;
}

static int parse_file(struct launch_options *o, struct launch_app *a)
{
    const char *path = a->file;
    int n, at = 0;
    char **words = file_words(o, "-file", path, &n);
    if (!words) return EXIT_USAGE;
    a->file = NULL;
    int rc = parse_options(words, &at, n, o, a);
    if (rc < 0 && a->file) rc = launch_usage_error("-file %s: a file of options cannot name another", path);
    if (rc < 0 && at < n) rc = launch_usage_error("-file %s: it may hold options alone, not '%s'", path, words[at]);
    a->file = path;
    free(words);
    return rc;
}

/* The program in the folders of -path.  Relative folders count from the folder that the ranks start in. */
static const char *find_in_path(struct launch_options *o, const struct launch_app *a, const char *program)
{
    for (const char *p = a->path; *p; p += strcspn(p, ":"), p += *p == ':') {
        int n = (int)strcspn(p, ":");
        char *file = gw_xasprintf("%.*s/%s", n, p, program), *seen = program_find(file, a->wdir);
        bool there = n > 0 && seen && program_may_run(seen);
        const char *held = there ? launch_options_hold(o, file) : NULL;
        free(seen);
        free(file);
        if (held) return held;
    }
    return program;
}

static bool is_ours(const struct stat *st) { return st->st_uid == geteuid() || st->st_uid == 0; }

/* A regular file of this user's or root's, and so is its folder, or others cannot write there.  In /tmp anybody may have put it. */
static bool is_trusted(const char *path)
{
    struct stat link, file, at;
    char *folder = gw_xasprintf("%.*s", (int)(strrchr(path, '/') - path), path);
    bool is = lstat(path, &link) == 0 && stat(path, &file) == 0 && stat(folder, &at) == 0 && S_ISREG(file.st_mode) &&
        is_ours(&link) && is_ours(&file) && (is_ours(&at) || !(at.st_mode & (S_IWGRP | S_IWOTH)));
    free(folder);
    return is;
}

/* A program that no folder of PATH has, but the one that the ranks start in: people leave out the ./ that shells want. */
static const char *find_here(struct launch_options *o, const struct launch_app *a, const char *program)
{
    char *file = program_find(program, a->wdir), *here = gw_xasprintf("./%s", program), *seen = program_find(here, a->wdir);
    bool is_here = !file && access(seen, X_OK) == 0 && is_trusted(seen);
    const char *found = is_here ? launch_options_hold(o, here) : program;
    free(file);
    free(here);
    free(seen);
    return found;
}

/* -c is the number of ranks, Open MPI's word, but beside -n Slurm's: cores for each of them. */
static void settle_c(struct launch_options *o, struct launch_app *a)
{
    if (a->c_given && !a->n_given) {
        a->n = a->c;
        a->n_given = true;
        a->n_said = "-c";
    } else if (a->c_given && a->c > 0) {
        o->place.depth = a->c;
        o->said.depth = "-c";
        o->only_here = "-c (cores for each rank)";
    }
}

/* The last word may be a program, which an option before it has taken for its value. */
static int no_program(const struct launch_options *o, const struct launch_app *a)
{
    char *path = a->taken ? program_find(a->taken, NULL) : NULL;
    bool is_program = path && program_may_run(path);
    free(path);
    if (is_program)
        return launch_usage_error("no program to start: %s has taken %s for its value (`mpiexec --help` tells what it wants)",
                                  a->last, a->taken);
    if (a != o->apps) return launch_usage_error("no program to start behind the last ':', which another program must follow");
    return launch_usage_error("no program to start; such as: mpiexec -n 4 ./a.out");
}

/* Reads the options and the command of one program, argv[i..end). */
static int parse_app(char **argv, int i, int end, struct launch_options *o, struct launch_app *a)
{
    assert(i <= end);
    int rc = parse_options(argv, &i, end, o, a);
    if (rc < 0 && a->file) rc = parse_file(o, a);
    if (rc >= 0) return rc;
    settle_c(o, a);
    if (i >= end) return no_program(o, a);
    a->argv = calloc((size_t)(end - i + 1), sizeof *a->argv);
    if (!a->argv) gw_die("mpiexec: no memory");
    memcpy(a->argv, argv + i, sizeof *a->argv * (size_t)(end - i));
    if (a->path && !strchr(a->argv[0], '/')) a->argv[0] = (char *)find_in_path(o, a, a->argv[0]);
    if (!strchr(a->argv[0], '/')) a->argv[0] = (char *)find_here(o, a, a->argv[0]);
    return -1;
}

/* Scripts compute numbers of ranks, and -n 0 is what they find for a program that has nothing to do.  The others keep their numbers
 * (MPI_APPNUM). */
static int drop_empty(struct launch_options *o)
{
    int kept = 0;
    for (int i = 0; i < o->n_apps; i++) kept += !o->apps[i].n_given || o->apps[i].n > 0;
    if (!kept)
        return launch_usage_error("%s wants a number from 1 to %d, not '0'%s", o->apps[0].n_said, MAX_RANKS,
                                  o->n_apps > 1 ? " everywhere" : "");
    kept = 0;
    for (int i = 0; i < o->n_apps; i++) {
        struct launch_app *a = &o->apps[i];
        if (a->n_given && a->n == 0) {
            words_free(&a->env);
            free(a->argv);
            continue;
        }
        a->dropped = i - kept;
        if (kept < i) o->apps[kept] = *a;
        kept++;
    }
    o->n_apps = kept;
    return -1;
}

static int check_gdb(const struct launch_options *o)
{
    bool *has = gw_xcalloc((size_t)o->n_ranks, sizeof *has);
    int n = o->gdb ? launch_gdb_ranks(o->gdb, o->n_ranks, has) : 0;
    free(has);
    if (n == GDB_NO_LIST) return launch_usage_error("--gdb wants ranks, such as --gdb=0 or --gdb=0,2-3, not '%s'", o->gdb);
    if (n == GDB_NO_RANK) return launch_usage_error("--gdb=%s: there are only %d ranks", o->gdb, o->n_ranks);
    return -1;
}

static int check_vnodes(struct launch_options *o)
{
    const char *text = words_value(&o->env, "GODWIT_VNODES", getenv("GODWIT_VNODES"));
    if (!text || !*text) return -1;
    o->vnodes = text;
    if (boot_vnodes_check(text) != GW_OK) return launch_usage_error("--vnodes (GODWIT_VNODES): %s", gw_fail_text());
    if (strlen(text) >= sizeof((struct boot_head *)0)->vnodes) return launch_usage_error("--vnodes %s: the list is too long", text);
    return -1;
}

/* ---- the order of ranks ---- */
#define ORDER      "GODWIT_RANK_ORDER"
#define ORDER_FILE "GODWIT_RANK_ORDER_FILE"

/* What options give the ranks as one of the names of this setting; NULL: nothing.  With one program -env is as good as -genv. */
static const char *order_variable(const struct launch_options *o, const char *setting)
{
    const char *name, *text;
    for (int k = 0; (name = gw_setting_name(setting, k)); k++) {
        text = words_value(&o->env, name, NULL);
        if (o->n_apps == 1) text = words_value(&o->apps[0].env, name, text);
        if (text && *text) return text;
    }
    return NULL;
}

/* The name of the setting that one of several programs is to have for itself; NULL: there is none. */
static const char *order_apart(const struct launch_options *o, const char *setting)
{
    const char *name;
    for (int k = 0; o->n_apps > 1 && (name = gw_setting_name(setting, k)); k++)
        for (int i = 0; i < o->n_apps; i++)
            if (words_value(&o->apps[i].env, name, NULL)) return name;
    return NULL;
}

static int order_number(const char *text)
{
    long v = launch_parse_number("MPICH_RANK_REORDER_METHOD (GODWIT_RANK_ORDER)", text, BOOT_ORDER_ROUND, BOOT_ORDER_FILE);
    return v < 0 ? -2 : (int)v;
}

/* The method, as the options say, or else the environment and the site's files; -1: the order stays; -2: it is wrong, which was said. */
static int order_method(const struct launch_options *o)
{
    const char *given = order_variable(o, ORDER), *name, *text;
    if (given) return strcasecmp(given, "auto") == 0 ? -1 : order_number(given);
    for (int k = 0; (name = gw_setting_name(ORDER, k)); k++) {
        text = getenv(name);
        if (text && *text && strcasecmp(text, "auto") != 0 && order_number(text) < 0) return -2;
    }
    return (int)gw_set.rank_order;
}

/* Do all ranks run on this host?  The hosts of a batch system are read once more when the job starts. */
static bool runs_here(const struct launch_options *o)
{
    char why[320];
    struct launch_options here = *o;
    bool is_needed = engine_is_needed(&here, why, sizeof why);
    if (!o->hosts.n) hosts_free(&here.hosts); /* what was read from the batch system */
    return !is_needed;
}

/* Reads the file of an order, so that an invalid one is reported before anything starts. */
static int check_order(struct launch_options *o)
{
    const char *apart = order_apart(o, ORDER), *file = order_variable(o, ORDER_FILE);
    if (!apart) apart = order_apart(o, ORDER_FILE);
    if (apart) return launch_usage_error("-env %s: all programs of a job have one order of ranks; -genv sets it for all", apart);
    gw_settings_load();
    int v = order_method(o);
    if (v == -1 && o->place.by_node && (o->vnodes || !runs_here(o))) {
        v = BOOT_ORDER_ROUND;
        launch_add_pair(&o->env, ORDER, "0"); /* ranks that an engine starts order themselves */
    }
    if (v < 0) return v == -1 ? -1 : EXIT_USAGE;
    o->order = v + 1;
    o->order_file = file ? file : gw_set.rank_order_file;
    if (v != BOOT_ORDER_FILE) return -1;
    int32_t *list = gw_xmalloc(sizeof *list * (size_t)o->n_ranks);
    int rc = boot_order_read(o->order_file, o->n_ranks, false, list);
    free(list);
    return rc == GW_OK ? -1 : launch_usage_error("%s", gw_fail_text());
}

/* The number of faked nodes, if the option gives a plain number; else 1. */
static int nodes_of(const struct launch_options *o)
{
    long v = o->vnodes && strspn(o->vnodes, "0123456789") == strlen(o->vnodes) ? strtol(o->vnodes, NULL, 10) : 1;
    return v > 0 && v <= MAX_RANKS ? (int)v : 1;
}

/* 1 where no option fakes several. */
static int faked_nodes(const struct launch_options *o)
{
    int n = nodes_of(o);
    for (const char *p = o->vnodes; p && *p; p++) n += *p == ',';
    return n;
}

/* The units of --map-by ppr:N:UNIT; of nodes those that are faked. */
static int units_of(const struct launch_options *o)
{
    return o->place.map == UNIT_MACHINE ? faked_nodes(o) : bind_units(o, o->place.map);
}

/* The number of ranks of a program without -n; of several programs one each, as in MPI 4.1, 11.5, whose third example of mpiexec has three
 * programs and three ranks. */
static int default_ranks(const struct launch_options *o)
{
    int64_t n = 0;
    int cores = bind_cores(o);
    if (o->n_apps > 1) return 1;
    if (o->place.rankfile)
        n = o->place.rankfile_ranks;
    else if (o->place.ppr)
        n = (int64_t)o->place.ppr * units_of(o);
    else if (o->hosts.n)
        n = hosts_slots(&o->hosts, o->ppn);
    else if (o->ppn)
        n = (int64_t)o->ppn * nodes_of(o);
    if (n > 0) return (int)gw_min64(n, MAX_RANKS + 1);
    return cores > o->place.reserve ? cores - o->place.reserve : 1;
}

static int count_ranks(struct launch_options *o)
{
    int64_t total = 0;
    for (int i = 0; i < o->n_apps; i++) {
        struct launch_app *a = &o->apps[i];
        if (!a->n_given) a->n = default_ranks(o);
        a->asked = a->n;
        int rc = a->soft ? launch_set_soft(a) : -1;
        if (rc >= 0) return rc;
        total += a->n;
    }
    if (total > MAX_RANKS) return launch_usage_error("%lld ranks; at most %d", (long long)total, MAX_RANKS);
    o->n_ranks = (int)total;
    if (o->stdin_rank >= o->n_ranks)
        return launch_usage_error("%s %d: there are only %d ranks", o->said.stdin_rank, o->stdin_rank, o->n_ranks);
    for (int k = 0; k < 2; k++)
        if (o->output.only[k] > o->n_ranks)
            return launch_usage_error("%s %d: there are only %d ranks", o->said.only[k], o->output.only[k] - 1, o->n_ranks);
    if (o->place.rankfile && o->n_ranks > o->place.rankfile_ranks)
        return launch_usage_error("%s %s has %d ranks, and %d are to start", o->said.rankfile, o->place.rankfile,
                                  o->place.rankfile_ranks, o->n_ranks);
    if (o->place.ppr && o->n_ranks > (int64_t)o->place.ppr * units_of(o))
        return launch_usage_error("%s: %d ranks are more than %d on each unit, of which this machine has %d", o->place.ppr_said,
                                  o->n_ranks, o->place.ppr, units_of(o));
    if (o->no_oversubscribe && o->n_ranks > bind_cores(o))
        return launch_usage_error("%s: %d ranks are more than the %d cores that may be used", o->said.no_oversubscribe, o->n_ranks,
                                  bind_cores(o));
    return -1;
}

/* Reads the programs, separated by `:`, from argv[first..argc). */
static int parse_apps(char **argv, int first, int argc, struct launch_options *o)
{
    for (int i = first; i <= argc;) {
        int end = i;
        while (end < argc && strcmp(argv[end], ":") != 0) end++;
        o->apps = gw_xrealloc(o->apps, sizeof *o->apps * (size_t)(o->n_apps + 1));
        struct launch_app *a = &o->apps[o->n_apps++];
        *a = (struct launch_app){0};
        int rc = parse_app(argv, i, end, o, a);
        if (rc >= 0) return rc;
        i = end + 1;
        if (end == argc) break;
    }
    return -1;
}

/* For a command line whose last option is -configfile: the options before it hold for all programs of the file.  -2: it is not. */
static int parse_configfile(int argc, char **argv, struct launch_options *o)
{
    char *value = NULL;
    const struct option_row *row = argc > 1 && argv[argc - 1][0] == '-' ? launch_option_row_of(argv[argc - 1], &value) : NULL;
    int last = argc - 1;
    if ((!row || row->is != O_CONFIGFILE) && argc > 2 && argv[argc - 2][0] == '-') {
        last = argc - 2;
        row = launch_option_row_of(argv[last], &value);
        value = argv[argc - 1];
    }
    if (!row || row->is != O_CONFIGFILE || !value) return -2;
    struct launch_app before = {0};
    char name[64];
    int at = 1, n;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(argv[last], "="), argv[last]);
    int rc = parse_options(argv, &at, last, o, &before);
    words_free(&before.env);
    if (rc >= 0) return rc;
    if (at < last) return -2; /* the program's own words */
    if (before.said)
        return launch_usage_error(
            "%s beside %s %s: options of a program stand in the file, a line for each program, those of the job "
            "before it",
            before.said, name, value);
    char **words = file_words(o, name, value, &n);
    if (!words) return EXIT_USAGE;
    rc = parse_apps(words, 0, n, o);
    free(words);
    return rc;
}

static int take_default_hostfile(struct launch_options *o)
{
    if (!o->default_hostfile || o->hosts.n || strcmp(o->default_hostfile, "none") == 0) return -1;
    return launch_set_hostfile(o, "--default-hostfile", o->default_hostfile);
}

/* An interface that is not there: said where the network is used (--vnodes), before ranks start; else in one line, as nothing goes by it. */
static int check_interface(const struct launch_options *o)
{
    char name[DOCTOR_INTERFACE], there[512];
    const char *list = words_value(&o->env, "GODWIT_NET_IFACE", getenv("GODWIT_NET_IFACE"));
    if (!list || !runs_here(o) || !doctor_no_interface(list, name, there, sizeof there)) return -1;
    if (o->vnodes)
        return launch_usage_error("-iface (GODWIT_NET_IFACE=%s): this host has no interface %s; there are: %s", list, name, there);
    if (!o->quiet)
        say_line("warning: GODWIT_NET_IFACE=%s: this host has no interface %s; there are: %s. The ranks on it do without", list,
                 name, there);
    return -1;
}

/* Where ranks are more than so many a host, the first host gets the others, too. */
static void ppn_note(const struct launch_options *o)
{
    int64_t room = (int64_t)o->ppn * (o->hosts.n > 1 ? o->hosts.n : nodes_of(o));
    bool is_list = o->vnodes && strchr(o->vnodes, ','); /* which says itself how many there are on each */
    if (!o->ppn || o->quiet || is_list || o->n_ranks <= room || !runs_here(o)) return;
    say_line(
        "note: %s: the job has %d ranks and one host, so all of them run here (-host n1,n2 names hosts, --vnodes fakes them)%s",
        o->ppn_said, o->n_ranks, strncmp(o->ppn_said, "-N ", 3) == 0 ? "; Slurm's -N, a number of nodes, is --nodes here" : "");
}

int launch_options_parse(int argc, char **argv, struct launch_options *o)
{
    *o = (struct launch_options){0};
    int rc = parse_configfile(argc, argv, o);
    if (rc == -2) {
        launch_options_free(o); /* parse_apps() reads these options again */
        *o = (struct launch_options){0};
        rc = parse_apps(argv, 1, argc, o);
    }
    if (rc < 0) rc = drop_empty(o);
    if (rc < 0) launch_depth_settle(o);
    if (rc < 0) rc = take_default_hostfile(o);
    if (rc < 0) rc = check_vnodes(o);
    if (rc < 0) rc = launch_nodes_settle(o, runs_here(o) ? faked_nodes(o) : 0);
    if (rc < 0) rc = bind_numa(o);
    if (rc < 0) rc = bind_check(o);
    if (rc < 0) rc = count_ranks(o);
    if (rc < 0) rc = launch_reorder_choose(o);
    if (rc < 0) rc = check_order(o);
    if (rc < 0) rc = check_gdb(o);
    if (rc < 0 && !o->no_launch && runs_here(o)) rc = launch_writes_check(o);
    if (rc < 0) launch_mca_note(o);
    if (rc < 0) launch_without_effect_say(o);
    if (rc < 0) rc = check_interface(o);
    if (rc < 0) ppn_note(o);
    return rc;
}
