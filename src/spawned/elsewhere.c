/* elsewhere.c -- children of MPI_Comm_spawn on other hosts than that of the spawning root: chooses hosts and the number of ranks on each.
 *
 * The info keys host and hostfile say it; where they do not, and the job of that root has several hosts, children take the free
 * slots: of this host, then of the others in their order, and who finds none stays here.  An engine starts them (engine.h), and
 * they find their parents by a variable (BOOT_PARENT).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "boot/alive.h"
#include "boot/port.h"
#include "job/hosts.h"
#include "job/job.h"
#include "job/say.h"
#include "job/words.h"
#include "spawned/elsewhere.h"

/* The hosts that were asked for each program; empty: none were. */
static struct {
    struct hosts *at;
    int n;
} said;

/* ---- what the info keys say ---- */
static struct hosts *hosts_of(int app)
{
    assert(app >= 0);
    if (app >= said.n) {
        said.at = gw_xrealloc(said.at, sizeof *said.at * (size_t)(app + 1));
        memset(said.at + said.n, 0, sizeof *said.at * (size_t)(app + 1 - said.n));
        said.n = app + 1;
    }
    return &said.at[app];
}

static void fail(struct job *j, int app, bool bad_value)
{
    if (j->failed) return;
    j->failed = 1;
    j->failed_app = app;
    j->bad_value = bad_value;
}

void elsewhere_list(struct job *j, int app, const char *list)
{
    struct hosts *h = hosts_of(app);
    hosts_add(h, list);
    if (!h->bad) return;
    say_line("the info key host: \"%s\" %s", h->bad, h->bad_why);
    fail(j, app, false);
}

void elsewhere_file(struct job *j, int app, const char *path)
{
    struct hosts *h = hosts_of(app);
    const char *why = hosts_read(h, path, true);
    if (why) say_line("the info key hostfile is %.200s, which cannot be read: %s", path, why);
    if (!why && h->bad) say_line("%.200s (info key hostfile): \"%s\" %s", path, h->bad, h->bad_why);
    if (!why && !h->bad && !h->n) say_line("%.200s (info key hostfile) names no host", path);
    if (why || h->bad || !h->n) fail(j, app, true);
}

/* Adds `count` ranks on a host.  Ranks fill hosts in blocks, program after program.  False: the host has been left for another one. */
static bool place(struct job *j, const char *name, int count)
{
    assert(count > 0);
    struct hosts *h = &j->o.hosts;
    const char *to = hosts_is_local(name) ? j->host : name;
    bool is_last = h->n && strcmp(h->at[h->n - 1].name, to) == 0;
    char *entry = gw_xasprintf("%s:%d", to, count);
    int before = h->n;
    hosts_add(h, entry);
    free(entry);
    return h->n > before || is_last;
}

static bool place_said(struct job *j)
{
    for (int i = 0; i < j->o.n_apps; i++) {
        struct hosts here = {0}, *h = i < said.n && said.at[i].n ? &said.at[i] : &here;
        if (h == &here) hosts_add(&here, j->host);
        int *counts = gw_xcalloc((size_t)h->n, sizeof *counts);
        hosts_place(h, j->o.apps[i].n, 0, counts);
        bool fits = true;
        for (int k = 0; k < h->n && fits; k++) {
            fits = !counts[k] || place(j, h->at[k].name, counts[k]);
            if (fits) continue;
            say_line("programs cannot take turns on host %s: list the programs of one host one after the other", h->at[k].name);
            fail(j, i, false);
        }
        free(counts);
        hosts_free(&here);
        if (!fits) return false;
    }
    return true;
}

/* ---- where nothing is said ---- */
/* The i-th number of a list of Slurm, such as "2(x3),4". */
static int nth(const char *list, int i)
{
    assert(i >= 0);
    for (const char *p = list; p && isdigit((unsigned char)*p);) {
        char *end;
        long n = strtol(p, &end, 10), times = 1;
        if (strncmp(end, "(x", 2) == 0) times = strtol(end + 2, &end, 10);
        if (*end == ')') end++;
        if (i < times) return n > 0 && n <= MAX_RANKS ? (int)n : 0;
        i -= (int)gw_min64(times, INT_MAX);
        p = *end == ',' ? end + 1 : NULL;
    }
    return 0;
}

/* Hosts and free slots of the allocation: without those of the step in which this mpiexec runs. */
static void slots_of_slurm(struct hosts *h)
{
    const char *list = getenv("SLURM_JOB_NODELIST"), *step = getenv("SLURM_STEP_NODELIST");
    struct hosts used = {0};
    if (!getenv("SLURM_STEP_ID") || !list || !step) return;
    hosts_expand(h, list);
    hosts_expand(&used, step);
    for (int i = 0; i < h->n; i++) {
        h->at[i].slots = nth(getenv("SLURM_JOB_CPUS_PER_NODE"), i);
        for (int k = 0; k < used.n; k++)
            if (strcmp(used.at[k].name, h->at[i].name) == 0) h->at[i].slots -= nth(getenv("SLURM_STEP_TASKS_PER_NODE"), k);
    }
    hosts_free(&used);
}

/* Free slots such as "n1:3,n2:0", as the mpiexec that started the job through an engine has published them. */
static void slots_of_mpiexec(struct hosts *h)
{
    const char *list = getenv(BOOT_HOST_SLOTS);
    if (list && *list) hosts_add(h, list); /* hosts without a number, or with 0, have no free slots */
}

void elsewhere_publish(const struct hosts *h, const int *counts)
{
    char *text = gw_xasprintf("%s", "");
    for (int i = 0; i < h->n; i++) {
        int free_slots = h->at[i].slots > counts[i] ? h->at[i].slots - counts[i] : !h->at[i].slots && !counts[i];
        char *more = gw_xasprintf("%s%s%s:%d", text, i ? "," : "", h->at[i].name, free_slots);
        free(text);
        text = more;
    }
    setenv(BOOT_HOST_SLOTS, text, 1);
    free(text);
}

static bool place_free(struct job *j)
{
    struct hosts h = {0};
    int here = -1, left = j->o.n_ranks;
    slots_of_slurm(&h);
    if (!h.n) slots_of_mpiexec(&h);
    for (int i = 0; i < h.n && here < 0; i++)
        if (hosts_is_local(h.at[i].name)) here = i;
    int *counts = gw_xcalloc((size_t)h.n + 1, sizeof *counts);
    for (int k = here < 0 ? h.n : -1; k < h.n && left > 0; k++) { /* this host first */
        int i = k < 0 ? here : k, room = i == here && k >= 0 ? 0 : h.at[i].slots;
        if (room <= 0) continue;
        counts[i] = (int)gw_min64(room, left);
        left -= counts[i];
    }
    bool any = here >= 0 && j->o.n_ranks - left > counts[here];
    if (any) counts[here] += left;
    if (any && counts[here]) place(j, h.at[here].name, counts[here]);
    for (int i = 0; i < h.n && any; i++)
        if (i != here && counts[i]) place(j, h.at[i].name, counts[i]);
    free(counts);
    hosts_free(&h);
    return any;
}

/* ---- who starts them ---- */
/* The engine that has started the spawning root. */
static const char *engine_around(void)
{
    if (getenv("SLURM_STEP_ID")) return "srun";
    if (getenv("OMPI_MCA_orte_hnp_uri")) return "mpirun";
    return getenv("PMI_FD") || getenv("PMI_PORT") ? "hydra" : NULL;
}

static bool is_in_allocation(struct job *j)
{
    const char *list = getenv("SLURM_JOB_NODELIST");
    struct hosts h = {0};
    bool are_all = true;
    if (list) hosts_expand(&h, list);
    for (int i = 0; list && i < j->o.hosts.n && are_all; i++) {
        const char *name = j->o.hosts.at[i].name;
        bool is_in = false;
        for (int k = 0; k < h.n; k++) is_in = is_in || strcmp(h.at[k].name, name) == 0;
        if (!is_in) say_line("host %s is not in this allocation of Slurm (%.200s), where srun starts processes", name, list);
        are_all = is_in;
    }
    hosts_free(&h);
    return are_all;
}

/* Are all hosts known?  Hydra would wait for ever for one that is not. */
static bool are_known(struct job *j)
{
    const char *why, *name = hosts_unknown(&j->o.hosts, &why);
    if (name) say_line("host %s is not known on host %s: %s", name, j->host, why);
    return !name;
}

void elsewhere_choose(struct job *j, const char *parent, bool is_reached)
{
    const char *foreign = NULL;
    if (gethostname(j->host, sizeof j->host - 1) < 0) j->host[0] = 0;
    bool is_said = false;
    for (int i = 0; i < said.n && !foreign; i++) {
        is_said = is_said || said.at[i].n;
        foreign = hosts_foreign(&said.at[i]);
    }
    if (j->failed || (!foreign && (is_said || !j->is_alone))) return;
    if (foreign ? !place_said(j) : !place_free(j)) return;
    if (!foreign) foreign = hosts_foreign(&j->o.hosts);
    j->o.engine = j->is_alone ? engine_around() : NULL;
    j->may_stay = !is_said;
    j->o.oversubscribe = true;
    if (j->o.engine && strcmp(j->o.engine, "srun") == 0)
        j->o.place.bind = BIND_SHARE; /* gives srun no option of binding, which some clusters refuse */
    if (!is_reached) {
        say_line("%s was asked for on host %s, and the network by which it would reach those who spawn it could not be opened",
                 j->o.apps[0].argv[0], foreign);
        fail(j, 0, false);
    } else if (j->o.engine && strcmp(j->o.engine, "srun") == 0 ? !is_in_allocation(j) : !are_known(j)) {
        fail(j, 0, false);
    }
    snprintf(j->elsewhere, sizeof j->elsewhere, "%.200s is another machine", foreign);
    setenv(BOOT_PARENT, parent, 1);
    if (j->failed && j->may_stay) elsewhere_stay(j);
}

void elsewhere_stay(struct job *j)
{
    j->failed = 0;
    j->elsewhere[0] = 0;
    j->o.engine = NULL;
    hosts_free(&j->o.hosts);
    unsetenv(BOOT_PARENT);
}

void elsewhere_free(void)
{
    for (int i = 0; i < said.n; i++) hosts_free(&said.at[i]);
    free(said.at);
    said.at = NULL;
    said.n = 0;
}

/* ---- the environment of a rank is not its children's ---- */
/* Is it a variable of the engine that has started this process?  The next engine must not see it; it keeps settings of the user, and how
 * to reach other hosts. */
static bool is_of_start(const char *pair)
{
    static const char *const stay[] = {"PMIX_MCA_",   "OMPI_ALLOW_", "PRTE_ALLOW_",  "PRTE_MCA_",
                                       "SLURM_CONF=", "SLURM_JOB",   "SLURM_CLUSTER"};
    static const char *const go[] = {"PMI_",
                                     "PMIX_",
                                     "HYDI_",
                                     "MPIR_CVAR_CH3_INTERFACE_HOSTNAME=",
                                     "MPI_LOCAL",
                                     "SLURM_",
                                     "GODWIT_BOOT=",
                                     "GODWIT_RANK=",
                                     "GODWIT_SIZE=",
                                     "GODWIT_LOCAL_",
                                     "GODWIT_SINGLETON=",
                                     "OMPI_MCA_ess",
                                     "OMPI_MCA_orte_",
                                     "OMPI_MCA_initial_wdir=",
                                     "OMPI_MCA_pmix="};
    for (size_t i = 0; i < GW_ARRAY_LEN(stay); i++)
        if (strncmp(pair, stay[i], strlen(stay[i])) == 0) return false;
    for (size_t i = 0; i < GW_ARRAY_LEN(go); i++)
        if (strncmp(pair, go[i], strlen(go[i])) == 0) return true;
    return strncmp(pair, "OMPI_", 5) == 0 && strncmp(pair, "OMPI_MCA_", 9) != 0;
}

void elsewhere_environment(void)
{
    extern char **environ;
    struct words names = {0};
    for (char **e = environ; *e; e++)
        if (is_of_start(*e) && strchr(*e, '=')) words_add(&names, *e);
    for (int i = 0; i < names.n; i++) {
        names.at[i][strcspn(names.at[i], "=")] = 0;
        unsetenv(names.at[i]);
    }
    unsetenv(BOOT_HOST_SLOTS);
    words_free(&names);
}
