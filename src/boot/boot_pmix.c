/* boot_pmix.c -- the PMIx client.  libpmix is opened by dlopen, whichever version is there; its structs and values are
 * stable since PMIx 2, its inline helpers are not used because they call functions that old libraries lack.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot/boot_private.h"
#include "base/os.h"
#include "base/time.h"

#include <dlfcn.h>
#include <errno.h>
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct {
    void *library;
    pmix_proc_t self;
    __typeof__(&PMIx_Init) init;
    __typeof__(&PMIx_Finalize) finalize;
    __typeof__(&PMIx_Get) get;
    __typeof__(&PMIx_Get_nb) get_nb;
    __typeof__(&PMIx_Put) put;
    __typeof__(&PMIx_Commit) commit;
    __typeof__(&PMIx_Fence_nb) fence_nb;
    __typeof__(&PMIx_Abort) abort;
    __typeof__(&PMIx_Error_string) error_string;
    __typeof__(&PMIx_Register_event_handler) on_event;
} pmix;

static bool pmix_offered(void) { return getenv("PMIX_NAMESPACE") != NULL && getenv("PMIX_RANK") != NULL; }

static int library_open(void)
{
    static const struct {
        const char *name;
        void *slot;
    } functions[] = {
        {"PMIx_Init", &pmix.init},
        {"PMIx_Finalize", &pmix.finalize},
        {"PMIx_Get", &pmix.get},
        {"PMIx_Get_nb", &pmix.get_nb},
        {"PMIx_Put", &pmix.put},
        {"PMIx_Commit", &pmix.commit},
        {"PMIx_Fence_nb", &pmix.fence_nb},
        {"PMIx_Abort", &pmix.abort},
        {"PMIx_Error_string", &pmix.error_string},
        {"PMIx_Register_event_handler", &pmix.on_event},
    };
    if (gw_is_raised())
        return gw_fail(
            GW_EUNSUPPORTED,
            "this program has raised rights (set-user-ID, set-group-ID or file capabilities), and libpmix obeys variables "
            "that name libraries and files: start it without them, or by Godwit's mpiexec");
    pmix.library = dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL);
    char why[256];
    snprintf(why, sizeof why, "%s", pmix.library ? "" : dlerror());
    const char *prefix = secure_getenv("PMIX_INSTALL_PREFIX"); /* where the launcher has its own libpmix */
    if (!pmix.library && prefix) {
        char path[512];
        snprintf(path, sizeof path, "%s/lib/libpmix.so.2", prefix);
        pmix.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    if (!pmix.library) return gw_fail(GW_EUNSUPPORTED, "libpmix cannot be opened: %s", why);
    for (size_t i = 0; i < GW_ARRAY_LEN(functions); i++) {
        void *address = dlsym(pmix.library, functions[i].name);
        if (!address) return gw_fail(GW_EUNSUPPORTED, "libpmix has no %s", functions[i].name);
        memcpy(functions[i].slot, &address, sizeof address);
    }
    return GW_OK;
}

static pmix_info_t info_flag(const char *key)
{
    pmix_info_t info;
    memset(&info, 0, sizeof info);
    snprintf(info.key, sizeof info.key, "%s", key);
    info.value.type = PMIX_BOOL;
    info.value.data.flag = true;
    return info;
}

static void value_free(pmix_value_t *v)
{
    if (v->type == PMIX_STRING) free(v->data.string);
    free(v);
}

/* A fact about the job (rank = PMIX_RANK_WILDCARD) or a process; NULL if the server did not say at start. */
static pmix_value_t *fact(pmix_rank_t rank, const char *key)
{
    pmix_proc_t who = pmix.self;
    pmix_info_t local_only = info_flag(PMIX_OPTIONAL);
    pmix_value_t *v = NULL;
    who.rank = rank;
    return pmix.get(&who, key, &local_only, 1, &v) == PMIX_SUCCESS ? v : NULL;
}

static int fact_int(pmix_rank_t rank, const char *key, int fallback)
{
    pmix_value_t *v = fact(rank, key);
    if (!v) return fallback;
    int n = fallback;
    switch (v->type) {
    case PMIX_UINT16: n = v->data.uint16; break;
    case PMIX_INT: n = v->data.integer; break;
    case PMIX_INT32: n = v->data.int32; break;
    case PMIX_UINT:
    case PMIX_UINT32: n = (int)v->data.uint32; break;
    case PMIX_UINT64:
    case PMIX_SIZE: n = (int)v->data.uint64; break;
    case PMIX_PROC_RANK: n = (int)v->data.rank; break;
    default: break;
    }
    value_free(v);
    return n;
}

/* "0,1,2" or with ranges, "0-3,7". */
static int *locals_parse(const char *text, int size, int *n_out)
{
    int *ranks = gw_xmalloc((size_t)size * sizeof *ranks), n = 0;
    for (const char *p = text; *p;) {
        char *end;
        long from = strtol(p, &end, 10), to = from;
        if (end == p) break;
        if (*end == '-') to = strtol(end + 1, &end, 10);
        for (long r = from; r <= to && r >= 0 && r < size && n < size; r++) ranks[n++] = (int)r;
        p = end + strcspn(end, "0123456789");
    }
    *n_out = n;
    return ranks;
}

static int int_order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static int find_locals(void)
{
    pmix_value_t *v = fact(PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS);
    int n = 0, *ranks = NULL;
    if (v && v->type == PMIX_STRING && v->data.string) ranks = locals_parse(v->data.string, gw_boot.size, &n);
    if (v) value_free(v);
    bool me = false;
    for (int i = 0; i < n; i++) me = me || ranks[i] == gw_boot.rank;
    if (!me) {
        free(ranks);
        if (gw_boot.size > 1) return gw_fail(GW_EUNSUPPORTED, "the PMIx server does not say which ranks share this node");
        ranks = gw_xcalloc(1, sizeof *ranks);
        n = 1;
    }
    qsort(ranks, (size_t)n, sizeof *ranks, int_order);
    boot_set_locals(ranks, n);
    return GW_OK;
}

/* PMIx_Init puts settings of its own into the environment, where our children and the user would meet them: those are
 * taken out again. */
static bool is_pmix_setting(const char *entry) { return strncmp(entry, "PMIX_MCA_", 9) == 0; }

static bool is_among(const char *entry, char *const *list, int n)
{
    for (int i = 0; i < n; i++)
        if (list[i] == entry) return true;
    return false;
}

static pmix_status_t quiet_init(void)
{
    char *before[64], name[128];
    int n = 0;
    for (char **e = environ; e && *e; e++)
        if (is_pmix_setting(*e) && n < (int)GW_ARRAY_LEN(before)) before[n++] = *e;
    /* libpmix allocates a timer for each event that it could cache, 512 by default: 256 KiB.  We use one event. */
    setenv("PMIX_MCA_pmix_max_events", "16", 0);
    bool is_lent = gw_home_lend();
    pmix_status_t s = pmix.init(&pmix.self, NULL, 0);
    if (is_lent) unsetenv("HOME");
    for (char **e = environ; e && *e && n < (int)GW_ARRAY_LEN(before);) {
        const char *entry = *e++;
        if (!is_pmix_setting(entry) || is_among(entry, before, n)) continue;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(entry, "="), entry);
        unsetenv(name);
        e = environ; /* unsetenv() has moved the entries */
    }
    return s;
}

/* ---- its server may die ---- */
static _Atomic bool is_cut;

static void cut(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[], size_t n_info, pmix_info_t *results,
                size_t n_results, pmix_event_notification_cbfunc_fn_t done, void *data)
{
    (void)id, (void)status, (void)source, (void)info, (void)n_info, (void)results, (void)n_results;
    atomic_store_explicit(&is_cut, true, memory_order_relaxed);
    if (done) done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static void registered(pmix_status_t status, size_t id, void *data) { (void)status, (void)id, (void)data; }

static void watch_server(void)
{
    static pmix_status_t codes[] = {PMIX_ERR_LOST_CONNECTION, -101 /* the same, until PMIx 3 */};
    pmix.on_event(codes, GW_ARRAY_LEN(codes), NULL, 0, cut, registered, NULL);
}

static bool pmix_is_lost(void) { return atomic_load_explicit(&is_cut, memory_order_relaxed); }

static int pmix_join(void)
{
    int rc = library_open();
    if (rc) {
        if (pmix.library) dlclose(pmix.library);
        return rc;
    }
    pmix_status_t s = quiet_init();
    if (s != PMIX_SUCCESS) return gw_fail(GW_EUNSUPPORTED, "PMIx_Init: %s", pmix.error_string(s));
    gw_boot.rank = (int)pmix.self.rank;
    gw_boot.size = fact_int(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, 0);
    if (gw_boot.size <= gw_boot.rank) {
        pmix.finalize(NULL, 0);
        return gw_fail(GW_EUNSUPPORTED, "the PMIx server does not say how many we are");
    }
    gw_boot.appnum = fact_int(pmix.self.rank, PMIX_APPNUM, 0);
    gw_boot.universe_size = fact_int(PMIX_RANK_WILDCARD, PMIX_UNIV_SIZE, 0);
    snprintf(gw_boot.jobid, sizeof gw_boot.jobid, "%.63s", pmix.self.nspace);
    rc = find_locals();
    if (rc)
        pmix.finalize(NULL, 0);
    else
        watch_server();
    return rc;
}

static int pmix_put(const char *key, const char *value)
{
    pmix_value_t v;
    memset(&v, 0, sizeof v);
    v.type = PMIX_STRING;
    v.data.string = (char *)value;
    pmix_status_t s = pmix.put(PMIX_GLOBAL, key, &v);
    return s == PMIX_SUCCESS ? GW_OK : gw_fail(GW_EOTHER, "PMIx_Put of \"%s\": %s", key, pmix.error_string(s));
}

/* ---- calls that wait for others: begun without waiting, so that hosts are watched meanwhile (boot_wait_step()) ---- */
struct reply {
    _Atomic uint32_t is_there; /* futex word */
    pmix_status_t status;
    char *text; /* of a value that is one; malloc'ed */
};

static void reply_give(struct reply *r, pmix_status_t s)
{
    r->status = s;
    atomic_store_explicit(&r->is_there, 1, memory_order_release); /* pairs with reply_await() */
    gw_futex_wake(&r->is_there, 1);
}

static pmix_status_t reply_await(struct reply *r, pmix_status_t begun)
{
    uint64_t since = gw_now_ns();
    if (begun != PMIX_SUCCESS) return begun == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : begun;
    while (!atomic_load_explicit(&r->is_there, memory_order_acquire))
        if (gw_futex_wait(&r->is_there, 0, (int64_t)BOOT_WAIT_MS * 1000000) == -ETIMEDOUT) boot_wait_step(since);
    return r->status;
}

static void fenced(pmix_status_t s, void *data) { reply_give(data, s); }

static int pmix_fence(void)
{
    pmix_info_t collect = info_flag(PMIX_COLLECT_DATA);
    pmix_status_t s = pmix.commit();
    struct reply r = {.is_there = 0};
    if (s == PMIX_SUCCESS) s = reply_await(&r, pmix.fence_nb(NULL, 0, &collect, 1, fenced, &r));
    return s == PMIX_SUCCESS ? GW_OK : gw_fail(GW_EOTHER, "PMIx_Fence: %s", pmix.error_string(s));
}

static int pmix_commit(void)
{
    pmix_status_t s = pmix.commit();
    return s == PMIX_SUCCESS ? GW_OK : gw_fail(GW_EOTHER, "PMIx_Commit: %s", pmix.error_string(s));
}

/* Slurm's server answers ERROR as long as the rank has committed nothing. */
static bool is_too_early(pmix_status_t s) { return s == PMIX_ERR_NOT_FOUND || s == PMIX_ERR_TIMEOUT || s == PMIX_ERROR; }

/* The value is libpmix's. */
static void got(pmix_status_t s, pmix_value_t *v, void *data)
{
    struct reply *r = data;
    if (s == PMIX_SUCCESS && v && v->type == PMIX_STRING && v->data.string) r->text = gw_xasprintf("%s", v->data.string);
    reply_give(r, s);
}

static pmix_status_t get_text(const pmix_proc_t *who, const char *key, const pmix_info_t *how, size_t n, char **text_out)
{
    struct reply r = {.is_there = 0};
    pmix_status_t s = reply_await(&r, pmix.get_nb(who, key, how, n, got, &r));
    if (s == PMIX_SUCCESS) *text_out = r.text;
    return s;
}

/* A rank may commit several times.  The server of its node answers after the first commit, so later values need another request. */
static pmix_status_t get_patiently(const pmix_proc_t *who, const char *key, char **text_out)
{
    enum { PATIENCE_MS = 120000, LONGEST_MS = 50 };
    pmix_info_t again = info_flag(PMIX_GET_REFRESH_CACHE);
    uint64_t since = gw_now_ns();
    pmix_status_t s = get_text(who, key, NULL, 0, text_out);
    for (int waited = 0, ms = 1; is_too_early(s) && waited < PATIENCE_MS; waited += ms) {
        boot_wait_step(since);
        usleep((useconds_t)ms * 1000);
        if (ms < LONGEST_MS) ms *= 2;
        s = get_text(who, key, &again, 1, text_out);
    }
    return s;
}

static int pmix_get(int rank, const char *key, char *value_out, size_t cap)
{
    pmix_proc_t who = pmix.self;
    char *text = NULL;
    who.rank = (pmix_rank_t)rank;
    pmix_status_t s = get_patiently(&who, key, &text);
    if (s != PMIX_SUCCESS) return gw_fail(GW_EOTHER, "PMIx_Get of \"%s\" of rank %d: %s", key, rank, pmix.error_string(s));
    bool fits = text && strlen(text) < cap;
    if (fits) strcpy(value_out, text);
    free(text);
    return fits ? GW_OK : gw_fail(GW_EOTHER, "the value of \"%s\" of rank %d is not a text of %zu bytes", key, rank, cap);
}

/* ---- who is where: what servers tell differs, and asking for what they do not tell may block for ever (PMIx_Resolve_peers under
 * Open MPI 4.1), so only what they told at the start is read ---- */
/* Slurm offers the mapping of nodes in the format of PMI-1. */
static bool hosts_by_mapping(int32_t *host_out)
{
    pmix_value_t *v = fact(PMIX_RANK_WILDCARD, PMIX_ANL_MAP);
    bool is_there = v && v->type == PMIX_STRING && v->data.string && boot_mapping_read(v->data.string, gw_boot.size, host_out);
    if (v) value_free(v);
    return is_there;
}

static pmix_value_t *peers_of_node(const char *name)
{
    pmix_proc_t who = pmix.self;
    pmix_value_t *v = NULL;
    pmix_info_t of[3] = {info_flag(PMIX_NODE_INFO), info_flag(PMIX_OPTIONAL)};
    memset(&of[2], 0, sizeof of[2]);
    snprintf(of[2].key, sizeof of[2].key, "%s", PMIX_HOSTNAME);
    of[2].value.type = PMIX_STRING;
    of[2].value.data.string = (char *)(uintptr_t)name;
    who.rank = PMIX_RANK_WILDCARD;
    return pmix.get(&who, PMIX_LOCAL_PEERS, of, 3, &v) == PMIX_SUCCESS ? v : NULL;
}

/* Asks the server once for each node. */
static bool hosts_by_node(int32_t *host_out)
{
    pmix_value_t *nodes = fact(PMIX_RANK_WILDCARD, PMIX_NODE_LIST);
    bool is_text = nodes && nodes->type == PMIX_STRING && nodes->data.string, go_on = is_text;
    int found = 0, host = 0;
    char *save = NULL;
    for (int r = 0; r < gw_boot.size; r++) host_out[r] = -1;
    for (char *name = is_text ? strtok_r(nodes->data.string, ",", &save) : NULL; name && go_on;
         name = strtok_r(NULL, ",", &save), host++) {
        pmix_value_t *peers = peers_of_node(name);
        go_on = peers && peers->type == PMIX_STRING && peers->data.string;
        int n = 0, *ranks = go_on ? locals_parse(peers->data.string, gw_boot.size, &n) : NULL;
        for (int i = 0; i < n; i++) {
            found += host_out[ranks[i]] < 0;
            host_out[ranks[i]] = host;
        }
        free(ranks);
        if (peers) value_free(peers);
    }
    if (nodes) value_free(nodes);
    return found == gw_boot.size;
}

static int hosts_by_rank(int32_t *host_out)
{
    struct boot_names names = boot_names_begin(gw_boot.size);
    int r = 0;
    for (; r < gw_boot.size; r++) {
        pmix_value_t *v = fact((pmix_rank_t)r, PMIX_HOSTNAME);
        bool is_there = v && v->type == PMIX_STRING && v->data.string;
        if (is_there) host_out[r] = boot_names_number(&names, v->data.string);
        if (v) value_free(v);
        if (!is_there) break;
    }
    free(names.table);
    if (r == gw_boot.size) return GW_OK;
    return gw_fail(GW_EUNSUPPORTED, "the PMIx server says neither which ranks each node has nor on which host rank %d is", r);
}

/* PRRTE names no nodes, but the host of each rank. */
static char *host_list_by_rank(void)
{
    enum { MOST = 256 };
    struct boot_names names = boot_names_begin(gw_boot.size);
    char *list = NULL;
    for (int r = 0, n = 0; r < gw_boot.size && n < MOST; r++) {
        pmix_value_t *v = fact((pmix_rank_t)r, PMIX_HOSTNAME);
        bool is_there = v && v->type == PMIX_STRING && v->data.string;
        if (is_there && boot_names_number(&names, v->data.string) == n) {
            char *longer = gw_xasprintf("%s%s%s", list ? list : "", n ? "," : "", v->data.string);
            free(list);
            list = longer;
            n++;
        }
        if (v) value_free(v);
        if (!is_there) break;
    }
    free(names.table);
    return list;
}

static char *pmix_host_list(void)
{
    pmix_value_t *nodes = fact(PMIX_RANK_WILDCARD, PMIX_NODE_LIST);
    bool is_there = nodes && nodes->type == PMIX_STRING && nodes->data.string;
    char *list = is_there ? gw_xasprintf("%s", nodes->data.string) : host_list_by_rank();
    if (nodes) value_free(nodes);
    return list;
}

static int pmix_hosts(int32_t *host_out)
{
    return hosts_by_mapping(host_out) || hosts_by_node(host_out) ? GW_OK : hosts_by_rank(host_out);
}

/* No call waits for the collection: until it is complete, ranks are asked one by one. */
static void collected(pmix_status_t status, void *data) { (void)status, (void)data; }

static void pmix_collect(void)
{
    static pmix_info_t collect;
    collect = info_flag(PMIX_COLLECT_DATA);
    pmix.fence_nb(NULL, 0, &collect, 1, collected, NULL);
}

/* The library is not unloaded: its thread may still be ending. */
static void pmix_leave(void) { pmix.finalize(NULL, 0); }

static void pmix_abort(int code, const char *text) { pmix.abort(code, text, NULL, 0); }

/* Slurm's server (22.05 to 24.11 at least) takes numbers of nodes in the step for those in the allocation.  Where they differ, what is
 * asked of a rank of another node goes to a third one; and of two nodes that send to each other for the first time at once, each may
 * leave it to the other to connect, so that what they send later never goes: the first fence ends, and no other one does. */
static bool pmix_fences_once(void) { return boot_slurm_is_part(); }

const struct boot_backend boot_backend_pmix = {
    pmix_offered, pmix_join,  pmix_put,     pmix_commit,  pmix_fence,       pmix_get,       pmix_leave,
    pmix_abort,   pmix_hosts, pmix_collect, pmix_is_lost, pmix_fences_once, pmix_host_list,
};
