/* pmix_facts.c -- what mpiexec's PMIx server says of the job, its node, its applications and its ranks.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "pmi/pmix_facts.h"
#include "base/base.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- lists ------------------------------------------------------------------------------------------------------------------ */
static pmix_value_t *fact(struct facts *f, const char *key, pmix_data_type_t type)
{
    assert(strlen(key) <= PMIX_MAX_KEYLEN);
    if (f->n == f->cap) {
        f->cap = f->cap ? 2 * f->cap : 16;
        f->at = gw_xrealloc(f->at, f->cap * sizeof *f->at);
    }
    pmix_info_t *i = &f->at[f->n++];
    memset(i, 0, sizeof *i);
    snprintf(i->key, sizeof i->key, "%s", key);
    i->value.type = type;
    return &i->value;
}

void pmix_fact_text(struct facts *f, const char *key, const char *text)
{
    fact(f, key, PMIX_STRING)->data.string = gw_xasprintf("%s", text);
}

static void fact_u32(struct facts *f, const char *key, int n) { fact(f, key, PMIX_UINT32)->data.uint32 = (uint32_t)n; }
static void fact_u16(struct facts *f, const char *key, int n) { fact(f, key, PMIX_UINT16)->data.uint16 = (uint16_t)n; }
void pmix_fact_rank(struct facts *f, const char *key, int n) { fact(f, key, PMIX_PROC_RANK)->data.rank = (pmix_rank_t)n; }
static void fact_u64(struct facts *f, const char *key, uint64_t n) { fact(f, key, PMIX_UINT64)->data.uint64 = n; }
void pmix_fact_flag(struct facts *f, const char *key, bool on) { fact(f, key, PMIX_BOOL)->data.flag = on; }

static void fact_array(struct facts *f, const char *key, struct facts *inner) /* takes over the memory of `inner` */
{
    pmix_data_array_t *a = gw_xcalloc(1, sizeof *a);
    a->type = PMIX_INFO;
    a->size = inner->n;
    a->array = inner->at;
    fact(f, key, PMIX_DATA_ARRAY)->data.darray = a;
}

static void processes_free(pmix_proc_info_t *at, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(at[i].hostname);
        free(at[i].executable_name);
    }
    free(at);
}

void pmix_facts_free(pmix_info_t *at, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (at[i].value.type == PMIX_STRING) free(at[i].value.data.string);
        if (at[i].value.type == PMIX_DATA_ARRAY) {
            pmix_data_array_t *a = at[i].value.data.darray;
            if (a->type == PMIX_PROC_INFO)
                processes_free(a->array, a->size);
            else
                pmix_facts_free(a->array, a->size);
            free(at[i].value.data.darray);
        }
    }
    free(at);
}

/* ---- of the job -------------------------------------------------------------------------------------------------------------- */
/* The ranks as "0,1,2".  Not "0-2": libpmix takes a range in a map of ranks for one peer, and believes that more than PMIX_LOCAL_PEERS. */
static char *peers_text(int n)
{
    char *peers = gw_xmalloc((size_t)n * 7 + 1);
    size_t len = 0;
    for (int i = 0; i < n; i++) len += (size_t)sprintf(peers + len, "%s%d", i ? "," : "", i);
    return peers;
}

/* The CPUs of a set as "0,2-3"; the caller's. */
static char *cpus_text(const cpu_set_t *set, size_t bytes)
{
    int most = (int)bytes * 8;
    char *text = gw_xmalloc((size_t)most * 8 + 1);
    size_t len = 0;
    text[0] = 0;
    for (int from = 0, to; from < most; from = to + 1) {
        to = from;
        if (!CPU_ISSET_S((size_t)from, bytes, set)) continue;
        while (to + 1 < most && CPU_ISSET_S((size_t)to + 1, bytes, set)) to++;
        len += (size_t)sprintf(text + len, to > from ? "%s%d-%d" : "%s%d", len ? "," : "", from, to);
    }
    return text;
}

/* Where a rank is bound.  Others look at what they may use, and find no more than that they share this node. */
static void place_facts(struct facts *f, const struct job *j, const struct pmix_names *names, int rank)
{
    if (!j->bind.set) return;
    char *cpus = cpus_text(j->bind.set[rank], j->bind.bytes), *locality = names->locality(cpus);
    pmix_fact_text(f, PMIX_CPUSET, cpus);
    if (locality) pmix_fact_text(f, PMIX_LOCALITY_STRING, locality);
    free(locality);
    free(cpus);
}

static void rank_facts(struct facts *all, const struct job *j, const struct pmix_names *names, int rank, int app, int first)
{
    struct facts f = {0};
    pmix_fact_rank(&f, PMIX_RANK, rank);
    fact_u32(&f, PMIX_APPNUM, app);
    pmix_fact_rank(&f, PMIX_APPLDR, first);
    pmix_fact_rank(&f, PMIX_APP_RANK, rank - first);
    pmix_fact_rank(&f, PMIX_GLOBAL_RANK, rank);
    fact_u16(&f, PMIX_LOCAL_RANK, rank);
    fact_u16(&f, PMIX_NODE_RANK, rank);
    fact_u32(&f, PMIX_NODEID, 0);
    fact_u32(&f, PMIX_REINCARNATION, 0);
    pmix_fact_text(&f, PMIX_HOSTNAME, j->host);
    char *own = gw_xasprintf("%s/%d", names->folder, rank);
    pmix_fact_text(&f, PMIX_PROCDIR, own);
    place_facts(&f, j, names, rank);
    free(own);
    fact_array(all, PMIX_PROC_INFO_ARRAY, &f);
}

static void node_facts(struct facts *all, const struct job *j, const char *peers)
{
    struct facts f = {0};
    pmix_fact_text(&f, PMIX_HOSTNAME, j->host);
    fact_u32(&f, PMIX_NODEID, 0);
    pmix_fact_text(&f, PMIX_HOSTNAME_ALIASES, j->host);
    fact_u32(&f, PMIX_NODE_SIZE, j->n);
    fact_u32(&f, PMIX_LOCAL_SIZE, j->n);
    pmix_fact_text(&f, PMIX_LOCAL_PEERS, peers);
    pmix_fact_rank(&f, PMIX_LOCALLDR, 0);
    fact_u64(&f, PMIX_AVAIL_PHYS_MEMORY, (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE));
    fact_array(all, PMIX_NODE_INFO_ARRAY, &f);
}

static void app_facts(struct facts *all, const struct launch_app *a, int app, int first)
{
    struct facts f = {0};
    char here[4096], *line = gw_xasprintf("%s", a->argv[0]);
    for (char **word = a->argv + 1; *word; word++) {
        char *longer = gw_xasprintf("%s %s", line, *word);
        free(line);
        line = longer;
    }
    fact_u32(&f, PMIX_APPNUM, app);
    fact_u32(&f, PMIX_APP_SIZE, a->n);
    pmix_fact_rank(&f, PMIX_APPLDR, first);
    pmix_fact_text(&f, PMIX_APP_ARGV, line);
    if (a->wdir || getcwd(here, sizeof here)) pmix_fact_text(&f, PMIX_WDIR, a->wdir ? a->wdir : here);
    fact_array(all, PMIX_APP_INFO_ARRAY, &f);
    free(line);
}

/* How ranks are mapped, numbered and bound, in the words of those who read these keys. */
static void policy_facts(struct facts *f, const struct job *j)
{
    static const char *const by[] = {[UNIT_CORE] = "BYCORE", [UNIT_L2] = "BYL2CACHE",      [UNIT_L3] = "BYL3CACHE",
                                     [UNIT_NUMA] = "BYNUMA", [UNIT_PACKAGE] = "BYPACKAGE", [UNIT_MACHINE] = "BYNODE"};
    static const char *const to[] = {
        [BIND_SHARE] = "CORE",        [BIND_CORE] = "CORE",    [BIND_NUMA] = "NUMA",  [BIND_NONE] = "NONE",
        [BIND_HWTHREAD] = "HWTHREAD", [BIND_L2] = "L2CACHE",   [BIND_L3] = "L3CACHE", [BIND_PACKAGE] = "PACKAGE",
        [BIND_MACHINE] = "NONE",      [BIND_USER] = "HWTHREAD"};
    const struct place_wanted *p = &j->o.place;
    pmix_fact_text(f, PMIX_MAPBY, by[p->map]);
    pmix_fact_text(f, PMIX_RANKBY, p->rank_by_given && p->rank_by != UNIT_CORE ? by[p->rank_by] + 2 : "SLOT");
    pmix_fact_text(f, PMIX_BINDTO, j->bind.set ? to[p->bind] : "NONE");
}

void pmix_facts_of_job(struct facts *f, const struct job *j, const struct pmix_names *names)
{
    assert(j->n > 0 && j->o.n_apps > 0);
    static const char *const sizes[] = {PMIX_JOB_SIZE, PMIX_MAX_PROCS, PMIX_LOCAL_SIZE, PMIX_NODE_SIZE};
    char *peers = peers_text(j->n), *map = gw_xasprintf("raw:%s", peers);
    pmix_fact_text(f, PMIX_JOBID, names->job);
    pmix_fact_text(f, PMIX_SERVER_NSPACE, names->server);
    pmix_fact_rank(f, PMIX_SERVER_RANK, 0);
    for (size_t i = 0; i < GW_ARRAY_LEN(sizes); i++) fact_u32(f, sizes[i], j->n);
    fact_u32(f, PMIX_UNIV_SIZE, job_universe(j));
    fact_u32(f, PMIX_JOB_NUM_APPS, j->o.n_apps);
    fact_u32(f, PMIX_APP_SIZE, j->o.apps[0].n);
    fact_u32(f, PMIX_NUM_NODES, 1);
    fact_u32(f, PMIX_NUM_SLOTS, j->n);
    pmix_fact_rank(f, PMIX_NPROC_OFFSET, 0);
    policy_facts(f, j);
    pmix_fact_text(f, PMIX_LOCAL_PEERS, peers);
    pmix_fact_rank(f, PMIX_LOCALLDR, 0);
    pmix_fact_text(f, PMIX_TMPDIR, names->folder);
    pmix_fact_text(f, PMIX_NSDIR, names->folder);
    pmix_fact_flag(f, PMIX_TDIR_RMCLEAN, true);
    pmix_fact_text(f, PMIX_NODE_MAP, names->nodes);
    pmix_fact_text(f, PMIX_PROC_MAP, map);
    node_facts(f, j, peers);
    free(map);
    free(peers);
    for (int app = 0, first = 0; app < j->o.n_apps; first += j->o.apps[app++].n)
        app_facts(f, &j->o.apps[app], app + j->o.apps[app].dropped, first);
    for (int rank = 0, app = 0, first = 0; rank < j->n; rank++) {
        while (rank >= first + j->o.apps[app].n) first += j->o.apps[app++].n;
        rank_facts(f, j, names, rank, app + j->o.apps[app].dropped, first);
    }
}

/* ---- where it is asked ------------------------------------------------------------------------------------------------------- */
static void fact_processes(struct facts *f, const struct job *j, const char *job_name, const char *key)
{
    pmix_data_array_t *a = gw_xcalloc(1, sizeof *a);
    pmix_proc_info_t *p = gw_xcalloc((size_t)j->n, sizeof *p);
    for (int i = 0; i < j->n; i++) {
        snprintf(p[i].proc.nspace, sizeof p[i].proc.nspace, "%s", job_name);
        p[i].proc.rank = (pmix_rank_t)i;
        p[i].hostname = gw_xasprintf("%s", j->host);
        p[i].executable_name = gw_xasprintf("%s", j->o.apps[j->ranks[i].app].argv[0]);
        p[i].pid = j->ranks[i].pid;
        p[i].state = j->ranks[i].pid > 0 ? PMIX_PROC_STATE_RUNNING : PMIX_PROC_STATE_TERMINATED;
    }
    *a = (pmix_data_array_t){.type = PMIX_PROC_INFO, .size = (size_t)j->n, .array = p};
    fact(f, key, PMIX_DATA_ARRAY)->data.darray = a;
}

void pmix_fact_asked(struct facts *f, const struct job *j, const char *job_name, const char *key)
{
    /* mpiexec starts no processes for programs of other libraries, and lets nobody debug by PMIx: no attribute is supported. */
    static const char *const empty[] = {PMIX_QUERY_SPAWN_SUPPORT, PMIX_QUERY_DEBUG_SUPPORT, PMIX_QUERY_PSET_NAMES,
                                        PMIX_QUERY_GROUP_NAMES};
    static const char *const none[] = {PMIX_QUERY_NUM_PSETS, PMIX_QUERY_NUM_GROUPS};
    for (size_t i = 0; i < GW_ARRAY_LEN(empty); i++)
        if (strcmp(key, empty[i]) == 0) pmix_fact_text(f, key, "");
    for (size_t i = 0; i < GW_ARRAY_LEN(none); i++)
        if (strcmp(key, none[i]) == 0) fact(f, key, PMIX_SIZE)->data.size = 0;
    if (strcmp(key, PMIX_QUERY_NAMESPACES) == 0) pmix_fact_text(f, key, job_name);
    if (strcmp(key, PMIX_QUERY_PROC_TABLE) == 0 || strcmp(key, PMIX_QUERY_LOCAL_PROC_TABLE) == 0)
        fact_processes(f, j, job_name, key);
}
