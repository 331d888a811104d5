/* engine_words.c -- translates the options of mpiexec into those of the engines.
 *
 * They differ in more than names.  srun knows one program a job and tells all ranks the same standard input; Open MPI's mpirun
 * hands on only those variables that it is told; where ranks go if there are more than slots, each does in its own way.  So ranks
 * are counted for each host here, and what an engine lacks is said by a shell that becomes the program.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "base/base.h"
#include "job/hosts.h"
#include "job/job.h"
#include "job/words.h"

static void put(struct words *w, const char *first, ...) __attribute__((sentinel));
static void put(struct words *w, const char *first, ...)
{
    va_list ap;
    va_start(ap, first);
    for (const char *p = first; p; p = va_arg(ap, const char *)) words_add(w, p);
    va_end(ap);
}

static void putf(struct words *w, const char *fmt, ...) GW_PRINTF(2, 3);
static void putf(struct words *w, const char *fmt, ...)
{
    char text[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    words_add(w, text);
}

static void put_program(struct words *w, const struct launch_app *a)
{
    for (char **p = a->argv; *p; p++) words_add(w, *p);
}

static void append(char **text, const char *more)
{
    char *joined = gw_xasprintf("%s%s", *text ? *text : "", more);
    free(*text);
    *text = joined;
}

/* The hosts that get ranks, as "n1:2,n2:2"; the caller frees it. */
static char *host_list(const struct launch_options *o, const int *counts, bool with_counts)
{
    char *list = NULL, count[16];
    for (int i = 0; i < o->hosts.n; i++) {
        if (!counts[i]) continue;
        append(&list, list ? "," : "");
        append(&list, o->hosts.at[i].name);
        snprintf(count, sizeof count, ":%d", counts[i]);
        if (with_counts) append(&list, count);
    }
    return list ? list : gw_xasprintf("%s", "");
}

static const char *bind_word(enum bind_to b, const char *core, const char *numa, const char *none)
{
    switch (b) {
    case BIND_CORE:
    case BIND_HWTHREAD:
    case BIND_L2: return core;
    case BIND_NUMA:
    case BIND_L3:
    case BIND_PACKAGE: return numa;
    case BIND_NONE:
    case BIND_MACHINE: return none;
    default: return NULL;
    }
}

static bool is_spread(const struct launch_options *o) { return o->place.map >= UNIT_L3 && o->place.map <= UNIT_PACKAGE; }

/* ---- a shell that becomes the program: where an engine has no words for several programs ---------------------------------- */
static void append_quoted(char **text, const char *word)
{
    append(text, "'");
    for (; *word; word++) append(text, *word == '\'' ? "'\\''" : (char[]){*word, 0});
    append(text, "'");
}

static void append_program(char **text, const struct launch_app *a)
{
    if (a->wdir) {
        append(text, "cd ");
        append_quoted(text, a->wdir);
        append(text, " && ");
    }
    append(text, "exec env");
    for (int i = 0; i < a->env.n; i++) {
        append(text, " ");
        append_quoted(text, a->env.at[i]);
    }
    for (char **p = a->argv; *p; p++) {
        append(text, " ");
        append_quoted(text, *p);
    }
}

/* A shell that selects the program by the rank, which the engine puts into the variable `rank`. */
static void put_shell(struct words *w, const struct launch_options *o, const char *rank)
{
    char *text = NULL, test[64];
    for (int i = 0, end = 0; i < o->n_apps; i++) {
        end += o->apps[i].n;
        snprintf(test, sizeof test, "%s[ $%s -lt %d ]; then ", i ? "elif " : "if ", rank, end);
        if (i == o->n_apps - 1) snprintf(test, sizeof test, "else ");
        append(&text, test);
        append_program(&text, &o->apps[i]);
        append(&text, i == o->n_apps - 1 ? "; fi" : "; ");
    }
    put(w, "sh", "-c", text, NULL);
    free(text);
}

static void add_all(struct words *w, const struct words *more)
{
    for (int i = 0; i < more->n; i++) words_add(w, more->at[i]);
}

/* ---- Slurm ---------------------------------------------------------------------------------------------------------------------- */
static bool counts_are_even(const struct launch_options *o, const int *counts, int *nodes_out)
{
    assert(counts && o->hosts.n > 0);
    int per = 0;
    bool even = true;
    *nodes_out = 0;
    for (int i = 0; i < o->hosts.n; i++) {
        if (!counts[i]) continue;
        even &= !per || counts[i] == per;
        per = counts[i];
        ++*nodes_out;
    }
    return even;
}

/* srun knows blocks of different sizes only as an arbitrary distribution, with the name of a host for each task. */
static void srun_places(const struct engine *e, const struct launch_options *o, const int *counts, struct words *w)
{
    int nodes = 0;
    if (o->hosts.n) {
        char *list = gw_xasprintf("--nodelist=");
        bool even = counts_are_even(o, counts, &nodes);
        for (int i = 0, n = 0; i < o->hosts.n; i++)
            for (int k = 0; k < (even ? counts[i] > 0 : counts[i]); k++) {
                append(&list, n++ ? "," : "");
                append(&list, o->hosts.at[i].name);
            }
        putf(w, "--nodes=%d", nodes);
        if (even) putf(w, "--ntasks-per-node=%d", o->n_ranks / nodes);
        put(w, even ? "--distribution=block" : "--distribution=arbitrary", list, NULL);
        free(list);
        return;
    }
    if (o->nodes)
        putf(w, "--nodes=%s", o->nodes);
    else if (o->n_ranks && e->nodes)
        putf(w, "--nodes=%d", o->n_ranks < e->nodes ? o->n_ranks : e->nodes);
    if (o->ppn) putf(w, "--ntasks-per-node=%d", o->ppn);
}

static void srun_words(const struct engine *e, const struct launch_options *o, const int *counts, struct words *w,
                       struct words *env)
{
    const char *bind = bind_word(o->place.bind, "cores", "ldoms", "none");
    put(w, e->has_pmix ? "--mpi=pmix" : "--mpi=pmi2", "--kill-on-bad-exit=1", "--quit-on-interrupt", "--export=ALL", NULL);
    if (o->n_ranks) putf(w, "--ntasks=%d", o->n_ranks);
    srun_places(e, o, counts, w);
    if (o->oversubscribe || (e->cpus && o->n_ranks > e->cpus)) put(w, "--overcommit", NULL);
    if (e->in_step) put(w, "--overlap", NULL);
    if (bind) putf(w, "--cpu-bind=%s", bind);
    if (o->place.reserve) putf(w, "--core-spec=%d", o->place.reserve);
    if (o->output.label) put(w, "--label", NULL);
    if (o->stdin_rank == STDIN_ALL)
        put(w, "--input=all", NULL);
    else if (o->stdin_rank != STDIN_NONE)
        putf(w, "--input=%d", o->stdin_rank);
    add_all(env, &o->env);
    if (o->n_apps == 1) {
        if (o->apps[0].wdir) put(w, "--chdir", o->apps[0].wdir, NULL);
        add_all(env, &o->apps[0].env);
        put_program(w, &o->apps[0]);
    } else {
        put_shell(w, o, "SLURM_PROCID");
    }
}

/* ---- Flux ----------------------------------------------------------------------------------------------------------------------- */
static void flux_words(const struct launch_options *o, const int *counts, struct words *w, struct words *env)
{
    put(w, "run", NULL);
    if (o->n_ranks && o->ppn && !o->hosts.n) {
        putf(w, "--nodes=%d", (o->n_ranks + o->ppn - 1) / o->ppn);
    } else if (o->nodes_most && !o->hosts.n) {
        putf(w, "--nodes=%d", o->n_ranks && o->n_ranks < o->nodes_most ? o->n_ranks : o->nodes_most);
    } else if (o->hosts.n) {
        char *list = host_list(o, counts, false), *where = gw_xasprintf("--requires=hosts:%s", list);
        int nodes = 0;
        counts_are_even(o, counts, &nodes);
        putf(w, "--nodes=%d", nodes);
        words_add(w, where);
        free(where);
        free(list);
    }
    if (o->n_ranks) putf(w, "--ntasks=%d", o->n_ranks);
    if (o->place.bind == BIND_NONE) put(w, "-o", "cpu-affinity=off", NULL);
    if (o->place.bind == BIND_CORE) put(w, "-o", "cpu-affinity=per-task", NULL);
    if (o->output.label) put(w, "--label-io", NULL);
    if (o->stdin_rank >= 0) putf(w, "--input=%d", o->stdin_rank);
    add_all(env, &o->env);
    if (o->n_apps == 1) {
        if (o->apps[0].wdir) {
            char *cwd = gw_xasprintf("--cwd=%s", o->apps[0].wdir);
            words_add(w, cwd);
            free(cwd);
        }
        add_all(env, &o->apps[0].env);
        put_program(w, &o->apps[0]);
    } else {
        put_shell(w, o, "FLUX_TASK_RANK");
    }
}

/* ---- PRRTE and Open MPI ---------------------------------------------------------------------------------------------------------- */
/* On one machine ranks inherit our environment; there they get what they are told.  What belongs to this process, this terminal, or
 * to another launcher is not theirs. */
static bool env_goes_along(const char *pair)
{
    static const char *const no[] = {
        "_=",   "PWD=",     "OLDPWD=",    "SHLVL=",     "HOSTNAME=", "TMPDIR=", "SSH_",     "DISPLAY=", "XDG_",  "DBUS_",
        "TERM", "OMPI_",    "PMIX_",      "PRTE_",      "PMI_",      "HYDRA_",  "HYDI_",    "SLURM",    "FLUX_", "PBS_",
        "LSB_", "MPIEXEC_", "BASH_FUNC_", "LS_COLORS=", "HOME=",     "USER=",   "LOGNAME=", "SHELL=",   "MAIL="};
    for (size_t i = 0; i < GW_ARRAY_LEN(no); i++)
        if (strncmp(pair, no[i], strlen(no[i])) == 0) return false;
    for (const char *p = pair; *p != '='; p++)
        if (!isalnum((unsigned char)*p) && *p != '_') return false;
    return true;
}

static bool is_set_by(const struct words *w, const char *pair)
{
    size_t n = strcspn(pair, "=") + 1;
    for (int i = 0; i < w->n; i++)
        if (strncmp(w->at[i], pair, n) == 0) return true;
    return false;
}

static void put_env(struct words *w, const struct launch_options *o, const struct launch_app *a, char **env)
{
    char name[256];
    for (; env && *env; env++) {
        size_t n = strcspn(*env, "=");
        if (!(*env)[n] || n >= sizeof name || !env_goes_along(*env) || is_set_by(&o->env, *env) || is_set_by(&a->env, *env))
            continue;
        snprintf(name, sizeof name, "%.*s", (int)n, *env);
        put(w, "-x", name, NULL);
    }
    for (int i = 0; i < o->env.n; i++)
        if (!is_set_by(&a->env, o->env.at[i])) put(w, "-x", o->env.at[i], NULL);
    for (int i = 0; i < a->env.n; i++) put(w, "-x", a->env.at[i], NULL);
}

/* Open MPI's mpirun begins with its own host, wherever that is in the list.  True: that would be the wrong order. */
static bool begins_wrong(const struct launch_options *o, const int *counts)
{
    int before = 0;
    for (int i = 0; i < o->hosts.n; i++) {
        if (counts[i] && hosts_is_local(o->hosts.at[i].name)) return before > 0;
        before += counts[i];
    }
    return false;
}

/* Adds a list with the host of each of the ranks [from, to). */
static void put_hosts_of(struct words *w, const struct launch_options *o, const int *counts, int from, int to)
{
    assert(from >= 0 && from <= to);
    char *list = NULL;
    for (int i = 0, end = 0, rank = 0; i < o->hosts.n; i++)
        for (end += counts[i]; rank < end; rank++) {
            if (rank < from || rank >= to) continue;
            append(&list, list ? "," : "");
            append(&list, o->hosts.at[i].name);
        }
    put(w, "--host", list ? list : "", NULL);
    free(list);
}

/* Adds the programs; if counts is not NULL, each with its own list of hosts. */
static void openmpi_apps(const struct launch_options *o, const int *counts, char **env, struct words *w)
{
    for (int i = 0, first = 0; i < o->n_apps; first += o->apps[i++].n) {
        const struct launch_app *a = &o->apps[i];
        if (i) put(w, ":", NULL);
        if (counts) put_hosts_of(w, o, counts, first, first + a->n);
        put(w, "-n", NULL);
        putf(w, "%d", a->n);
        put_env(w, o, a, env);
        if (a->wdir) put(w, "--wdir", a->wdir, NULL);
        put_program(w, a);
    }
}

/* counts: NULL where the hosts are said program by program.  Ranks that share what they are bound to are refused unless this is said. */
static void openmpi_common(const struct engine *e, const struct launch_options *o, const int *counts, struct words *w)
{
    char *list = counts ? host_list(o, counts, true) : NULL;
    const char *bind = bind_word(o->place.bind, "core:overload-allowed", "numa:overload-allowed", "none");
    if (e->is_root) put(w, "--allow-run-as-root", NULL);
    if (list) put(w, "--host", list, NULL);
    if (bind) put(w, "--bind-to", bind, NULL);
    if (o->stdin_rank != 0 && o->stdin_rank != STDIN_NONE) {
        put(w, "--stdin", NULL);
        if (o->stdin_rank == STDIN_ALL)
            put(w, "all", NULL);
        else
            putf(w, "%d", o->stdin_rank);
    }
    free(list);
}

/* Slots are as many as the ranks of a host, so filling them slot by slot is what was counted.  4.1.4 starts 32 and more processes
 * on one host by threads that may wait for ever for programs that end at once; the limit makes it do without. */
static void openmpi_words(const struct engine *e, const struct launch_options *o, const int *counts, char **env, struct words *w)
{
    bool is_seq = !is_spread(o) && begins_wrong(o, counts);
    openmpi_common(e, o, is_seq ? NULL : counts, w);
    put(w, "--oversubscribe", "--map-by",
        is_spread(o) ? "numa"
            : is_seq ? "seq"
                     : "slot",
        "--mca", "odls_base_cutoff", "100000", NULL);
    if (o->output.label) put(w, "--tag-output", NULL);
    openmpi_apps(o, is_seq ? counts : NULL, env, w);
}

static void prte_words(const struct engine *e, const struct launch_options *o, const int *counts, char **env, struct words *w)
{
    openmpi_common(e, o, counts, w);
    /* As many slots as ranks: with OVERSUBSCRIBE 3.0 would begin with the first host again for each program. */
    put(w, "--map-by", is_spread(o) ? "numa" : "slot", NULL);
    if (is_spread(o) && !bind_word(o->place.bind, "", "", ""))
        put(w, "--bind-to", "numa:overload-allowed", NULL); /* the engine binds so by default */
    if (o->output.label) put(w, "--output", "tag", NULL);
    openmpi_apps(o, NULL, env, w);
}

/* ---- Hydra ---------------------------------------------------------------------------------------------------------------------- */
static void put_pair(struct words *w, const char *option, const char *pair)
{
    char *name = gw_xasprintf("%.*s", (int)strcspn(pair, "="), pair);
    put(w, option, name, strchr(pair, '=') ? strchr(pair, '=') + 1 : "", NULL);
    free(name);
}

static void hydra_words(const struct launch_options *o, const int *counts, struct words *w)
{
    char *list = host_list(o, counts, true);
    const char *bind = bind_word(o->place.bind, "core", "numa", "none");
    put(w, "-hosts", list, NULL);
    free(list);
    if (bind) put(w, "-bind-to", bind, NULL);
    if (is_spread(o)) put(w, "-map-by", "numa", NULL);
    if (o->output.label) put(w, "-prepend-rank", NULL);
    for (int i = 0; i < o->env.n; i++) put_pair(w, "-genv", o->env.at[i]);
    for (int i = 0; i < o->n_apps; i++) {
        const struct launch_app *a = &o->apps[i];
        if (i) put(w, ":", NULL);
        put(w, "-n", NULL);
        putf(w, "%d", a->n);
        for (int k = 0; k < a->env.n; k++) put_pair(w, "-env", a->env.at[k]);
        if (a->wdir) put(w, "-wdir", a->wdir, NULL);
        put_program(w, a);
    }
}

/* Adds LD_PRELOAD with our library before `also`.  A pair of that name is replaced: Open MPI's mpirun takes each variable once. */
static void put_preload(struct words *w, const struct launch_options *o, const char *also)
{
    char *pair = job_preload(o, also);
    int at = 0;
    while (at < w->n && strncmp(w->at[at], pair, strcspn(pair, "=") + 1) != 0) at++;
    if (at == w->n) {
        words_add(w, pair);
        free(pair);
        return;
    }
    free(w->at[at]);
    w->at[at] = pair;
}

void engine_words_wrapper(struct launch_options *o)
{
    if (!o->preload) return;
    char *pair = gw_xasprintf("GODWIT_WRAPPER=%s", o->preload);
    words_add(&o->env, pair);
    free(pair);
    put_preload(&o->env, o, words_value(&o->env, "LD_PRELOAD", getenv("LD_PRELOAD")));
    for (int i = 0; i < o->n_apps; i++) {
        const char *own = words_value(&o->apps[i].env, "LD_PRELOAD", NULL);
        if (own) put_preload(&o->apps[i].env, o, own);
    }
}

void engine_words(const struct engine *e, const struct launch_options *o, const int *counts, char **env, struct words *argv_out,
                  struct words *env_out)
{
    assert(o->n_apps > 0 && argv_out->n == 0 && env_out->n == 0);
    switch (e->kind) {
    case ENGINE_SRUN: srun_words(e, o, counts, argv_out, env_out); break;
    case ENGINE_FLUX: flux_words(o, counts, argv_out, env_out); break;
    case ENGINE_PRTE: prte_words(e, o, counts, env, argv_out); break;
    case ENGINE_OPENMPI: openmpi_words(e, o, counts, env, argv_out); break;
    case ENGINE_HYDRA: hydra_words(o, counts, argv_out); break;
    case ENGINE_OWN:
    case ENGINE_NONE: break;
    }
}
