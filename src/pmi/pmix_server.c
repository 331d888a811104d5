/* pmix_server.c -- PMIx for ranks of other MPI libraries (Open MPI), and whatever --pmix on is said for.
 *
 * Ranks of our own library never need it (their segment says all), so libpmix is opened by dlopen, and only where there may be others.  Everything
 * happens on one node: libpmix itself completes fences and finds what a neighbour has put; we only say who is there, and pass
 * on an abort.  The server's sockets and the ranks' session folders lie in a folder of our own, which the keeper removes.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <pmix.h>
#include <pmix_server.h>
#include <stdio.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/os.h"
#include "job/job.h"
#include "job/keeper.h"
#include "job/say.h"
#include "job/words.h"
#include "pmi/foreign.h"
#include "pmi/pmix.h"
#include "pmi/pmix_facts.h"
#include "pmi/pmix_guard.h"

extern char **environ;

static struct {
    __typeof__(&PMIx_server_init) init;
    __typeof__(&PMIx_server_finalize) finalize;
    __typeof__(&PMIx_server_register_nspace) register_nspace;
    __typeof__(&PMIx_server_register_client) register_client;
    __typeof__(&PMIx_server_setup_fork) setup_fork;
    __typeof__(&PMIx_generate_regex) generate_regex;
    __typeof__(&PMIx_Error_string) error_string;
    __typeof__(&PMIx_Parse_cpuset_string) parse_cpuset; /* these three: NULL where libpmix has none of them */
    __typeof__(&PMIx_server_generate_locality_string) locality;
    __typeof__(&PMIx_Cpuset_destruct) cpuset_destruct;
} pmix;

static struct {
    struct job *job;         /* for the calls that libpmix makes from a thread of its own; NULL: there is no server */
    pmix_proc_t self;        /* the job's name, and the rank that stands for the server */
    char folder[200];        /* of its sockets and of the ranks' sessions */
    _Atomic uint32_t n_done; /* calls into libpmix that its thread has answered: futex word, wait_for() */
    _Atomic int status;      /* the last error among these answers */
} server;

static int library_open(bool is_wanted)
{
    static const struct {
        const char *name;
        void *slot;
    } functions[] =
        {
            {"PMIx_server_init", &pmix.init},
            {"PMIx_server_finalize", &pmix.finalize},
            {"PMIx_server_register_nspace", &pmix.register_nspace},
            {"PMIx_server_register_client", &pmix.register_client},
            {"PMIx_server_setup_fork", &pmix.setup_fork},
            {"PMIx_generate_regex", &pmix.generate_regex},
            {"PMIx_Error_string", &pmix.error_string},
        },
      optional[] = {
          {"PMIx_Parse_cpuset_string", &pmix.parse_cpuset},
          {"PMIx_server_generate_locality_string", &pmix.locality},
          {"PMIx_Cpuset_destruct", &pmix.cpuset_destruct},
      };
    if (gw_is_raised()) { /* it obeys variables that name libraries and files */
        if (is_wanted) say_line("libpmix is needed, but is not opened in a program with raised rights (set-user-ID and the like)");
        return EXIT_CANNOT_RUN;
    }
    void *library = dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!library && !is_wanted) return EXIT_CANNOT_RUN;
    if (!library) {
        say_line("libpmix is needed, but cannot be opened (%s); on Debian: apt install libpmix2", dlerror());
        return EXIT_CANNOT_RUN;
    }
    for (size_t i = 0; i < GW_ARRAY_LEN(functions); i++) {
        void *address = dlsym(library, functions[i].name);
        if (!address) {
            say_line("libpmix has no %s: it is too old", functions[i].name);
            return EXIT_CANNOT_RUN;
        }
        memcpy(functions[i].slot, &address, sizeof address);
    }
    for (size_t i = 0; i < GW_ARRAY_LEN(optional); i++) {
        void *address = dlsym(library, optional[i].name);
        memcpy(optional[i].slot, &address, sizeof address);
    }
    return 0;
}

/* ---- what libpmix asks of us: in its thread ---------------------------------------------------------------------------------- */
static bool is_of_job(const pmix_proc_t *proc)
{
    assert(server.job);
    return proc->rank < (pmix_rank_t)server.job->n && strcmp(proc->nspace, server.self.nspace) == 0;
}

static void note_phase(const pmix_proc_t *proc, enum boot_phase phase)
{
    if (is_of_job(proc)) foreign_phase(server.job, (int)proc->rank, phase);
}

static pmix_status_t on_connected(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t done, void *data)
{
    (void)object, (void)done, (void)data;
    if (is_of_job(proc)) foreign_came(server.job, (int)proc->rank, FOREIGN_PMIX);
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_finalized(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t done, void *data)
{
    (void)object, (void)done, (void)data;
    note_phase(proc, BOOT_FINALIZED);
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_abort(const pmix_proc_t *proc, void *object, int status, const char message[], pmix_proc_t procs[],
                              size_t n_procs, pmix_op_cbfunc_t done, void *data)
{
    assert(server.job);
    (void)object, (void)procs, (void)n_procs, (void)done, (void)data;
    if (proc->rank >= (pmix_rank_t)server.job->n) return PMIX_ERR_BAD_PARAM;
    /* As our library does; watch.c reads it when the rank has ended, which happens as soon as this returns. */
    struct boot_rank *slot = job_slot(server.job, (int)proc->rank);
    snprintf(slot->what, sizeof slot->what, "%s", message && strcmp(message, "N/A") != 0 ? message : "");
    atomic_store_explicit(&slot->abort_code, status, memory_order_relaxed);
    note_phase(proc, BOOT_ABORTED);
    return PMIX_OPERATION_SUCCEEDED;
}

/* All participants are on this node, so their own data are the result. */
static pmix_status_t on_fence(const pmix_proc_t procs[], size_t n_procs, const pmix_info_t info[], size_t n_info, char *data,
                              size_t n_data, pmix_modex_cbfunc_t done, void *cbdata)
{
    (void)procs, (void)n_procs, (void)info, (void)n_info;
    done(PMIX_SUCCESS, data, n_data, cbdata, NULL, NULL);
    return PMIX_SUCCESS;
}

static void answer_free(void *answer)
{
    struct facts *f = answer;
    pmix_facts_free(f->at, f->n);
    free(f);
}

static pmix_status_t on_query(pmix_proc_t *who, pmix_query_t *queries, size_t n, pmix_info_cbfunc_t done, void *cbdata)
{
    assert(server.job && done);
    (void)who;
    struct facts *f = gw_xcalloc(1, sizeof *f);
    size_t asked = 0;
    for (size_t i = 0; i < n; i++)
        for (char **key = queries[i].keys; key && *key; key++, asked++) pmix_fact_asked(f, server.job, server.self.nspace, *key);
    pmix_status_t s = f->n == asked ? PMIX_SUCCESS : f->n ? PMIX_ERR_PARTIAL_SUCCESS : PMIX_ERR_NOT_FOUND;
    done(s, f->at, f->n, cbdata, answer_free, f);
    return PMIX_SUCCESS;
}

/* All who can cause an event or wait for one are on this node, where libpmix hands events on by itself. */
static pmix_status_t on_events(pmix_status_t *codes, size_t n, const pmix_info_t info[], size_t n_info, pmix_op_cbfunc_t done,
                               void *data)
{
    (void)codes, (void)n, (void)info, (void)n_info, (void)done, (void)data;
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_events_over(pmix_status_t *codes, size_t n, pmix_op_cbfunc_t done, void *data)
{
    (void)codes, (void)n, (void)done, (void)data;
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_event(pmix_status_t code, const pmix_proc_t *source, pmix_data_range_t range, pmix_info_t info[],
                              size_t n_info, pmix_op_cbfunc_t done, void *data)
{
    (void)code, (void)source, (void)range, (void)info, (void)n_info, (void)done, (void)data;
    return PMIX_OPERATION_SUCCEEDED;
}

/* libpmix removes by itself what a client has registered to be removed after it, also one that was killed (Open MPI's segments in /dev/shm), but
 * refuses the registration where there is no such function. */
static pmix_status_t on_control(const pmix_proc_t *who, const pmix_proc_t of[], size_t n, const pmix_info_t wanted[],
                                size_t n_wanted, pmix_info_cbfunc_t done, void *data)
{
    (void)who, (void)of, (void)n, (void)wanted, (void)n_wanted, (void)done, (void)data;
    return PMIX_ERR_NOT_SUPPORTED;
}

static pmix_server_module_t module = {
    .client_connected = on_connected,
    .client_finalized = on_finalized,
    .abort = on_abort,
    .fence_nb = on_fence,
    .query = on_query,
    .register_events = on_events,
    .deregister_events = on_events_over,
    .notify_event = on_event,
    .job_control = on_control,
};

/* ---- waiting for what goes on in its thread ------------------------------------------------------------------------------------ */

static void on_registered(pmix_status_t status, void *data)
{
    (void)data;
    if (status != PMIX_SUCCESS) atomic_store_explicit(&server.status, status, memory_order_relaxed);
    atomic_fetch_add_explicit(&server.n_done, 1, memory_order_release);
    gw_futex_wake(&server.n_done, 1);
}

/* Waits until libpmix has answered n calls since the last wait; the status of the last failure. */
static pmix_status_t wait_for(uint32_t n)
{
    uint32_t seen;
    while ((seen = atomic_load_explicit(&server.n_done, memory_order_acquire)) < n) gw_futex_wait(&server.n_done, seen, -1);
    atomic_store_explicit(&server.n_done, 0, memory_order_relaxed);
    return atomic_load_explicit(&server.status, memory_order_relaxed);
}

/* ---- start ---------------------------------------------------------------------------------------------------------------------- */
/* The keeper gets the name before the folder exists, so that it is removed whenever mpiexec is killed. */
static int folder_make(void)
{
    const char *tmp = secure_getenv("TMPDIR");
    unsigned char random[8];
    if (!tmp || tmp[0] != '/' || strlen(tmp) > 60) tmp = "/tmp"; /* the path of a socket has 107 bytes */
    if (getrandom(random, sizeof random, 0) != sizeof random) return errno;
    int n = snprintf(server.folder, sizeof server.folder, "%s/godwit-", tmp);
    for (size_t i = 0; i < sizeof random; i++, n += 2)
        snprintf(server.folder + n, sizeof server.folder - (size_t)n, "%02x", random[i]);
    keeper_folder(server.folder);
    if (mkdir(server.folder, 0700) == 0) return 0;
    keeper_folder("");
    return errno;
}

/* PMIx_server_init puts settings of its own into our environment, where the ranks would meet them: taken out again.  The module
 * "hash" starts in half the time of the one that shares memory between clients. */
static pmix_status_t quiet_init(pmix_info_t *info, size_t n)
{
    static const char mark[] = "PMIX_MCA_";
    struct words before = {0};
    char name[128];
    for (char **e = environ; *e; e++)
        if (strncmp(*e, mark, strlen(mark)) == 0) words_add(&before, *e);
    setenv("PMIX_MCA_gds", "hash", 0);
    bool is_lent = gw_home_lend();
    pmix_status_t s = pmix.init(&module, info, n);
    if (is_lent) unsetenv("HOME");
    for (char **e = environ; *e;) {
        if (strncmp(*e, mark, strlen(mark)) != 0) {
            e++;
            continue;
        }
        snprintf(name, sizeof name, "%.*s", (int)strcspn(*e, "="), *e);
        unsetenv(name); /* unsetenv() has moved the entries */
    }
    for (int i = 0; i < before.n; i++) {
        char *value = strchr(before.at[i], '=');
        *value = 0;
        setenv(before.at[i], value + 1, 1);
    }
    words_free(&before);
    return s;
}

static const char *server_name(void)
{
    static char name[PMIX_MAX_NSLEN + 1];
    snprintf(name, sizeof name, "%.200s-mpiexec", server.self.nspace);
    return name;
}

static char *locality_of(const char *cpus)
{
    pmix_cpuset_t set = {0};
    char *text = NULL, *named = gw_xasprintf("hwloc:%s", cpus);
    if (pmix.parse_cpuset && pmix.locality && pmix.cpuset_destruct && pmix.parse_cpuset(named, &set) == PMIX_SUCCESS) {
        if (pmix.locality(&set, &text) != PMIX_SUCCESS) text = NULL;
        pmix.cpuset_destruct(&set);
    }
    free(named);
    return text;
}

static pmix_status_t server_start(void)
{
    struct facts of_server = {0}, of_job = {0};
    pmix_fact_text(&of_server, PMIX_SERVER_NSPACE, server_name());
    pmix_fact_rank(&of_server, PMIX_SERVER_RANK, 0);
    pmix_fact_text(&of_server, PMIX_SERVER_TMPDIR, server.folder);
    pmix_fact_text(&of_server, PMIX_SYSTEM_TMPDIR, server.folder);
    pmix_fact_flag(&of_server, PMIX_SERVER_SHARE_TOPOLOGY,
                   true); /* libpmix knows the machine: its clients need not look themselves */
    pmix_status_t s = quiet_init(of_server.at, of_server.n);
    pmix_facts_free(of_server.at, of_server.n);
    if (s != PMIX_SUCCESS) return s;
    server.job->pmix = true;
    char *nodes;
    s = pmix.generate_regex(server.job->host, &nodes);
    if (s == PMIX_SUCCESS) {
        pmix_facts_of_job(&of_job, server.job,
                          &(struct pmix_names){server.self.nspace, server_name(), server.folder, nodes, locality_of});
        free(nodes);
    }
    if (s == PMIX_SUCCESS) s = pmix.register_nspace(server.self.nspace, server.job->n, of_job.at, of_job.n, on_registered, NULL);
    if (s == PMIX_SUCCESS) s = wait_for(1);
    if (s == PMIX_OPERATION_SUCCEEDED) s = PMIX_SUCCESS;
    pmix_facts_free(of_job.at, of_job.n);
    uint32_t asked = 0;
    for (int rank = 0; rank < server.job->n && s == PMIX_SUCCESS; rank++) {
        server.self.rank = (pmix_rank_t)rank; /* it is copied */
        s = pmix.register_client(&server.self, geteuid(), getegid(), NULL, on_registered, NULL);
        asked += s == PMIX_SUCCESS;
        if (s == PMIX_OPERATION_SUCCEEDED) s = PMIX_SUCCESS;
    }
    pmix_status_t of_all = wait_for(asked); /* for all at once: each wait costs two switches between threads */
    return s == PMIX_SUCCESS ? of_all : s;
}

/* Signals are blocked while libpmix starts its threads, so that these do not take those that watch.c waits for. */
static pmix_status_t server_start_guarded(int err)
{
    pmix_guard_begin("the PMIx server does not start", err);
    pmix_status_t s = server_start();
    pmix_guard_end();
    return s;
}

/* What libpmix says of its own trouble is for who wants a server: standard error leads nowhere meanwhile. */
static pmix_status_t server_try(void)
{
    int kept = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (kept >= 0 && null >= 0) dup2(null, STDERR_FILENO);
    pmix_status_t s = server_start_guarded(kept);
    if (kept >= 0 && null >= 0) dup2(kept, STDERR_FILENO);
    if (kept >= 0) close(kept);
    if (null >= 0) close(null);
    return s;
}

int pmix_start(struct job *j, bool is_wanted)
{
    const char *cannot = pmix_guard_cannot();
    if (cannot && is_wanted) say_line("the PMIx server does not start: %s", cannot);
    if (cannot) return is_wanted ? EXIT_CANNOT_RUN : 0;
    int rc = library_open(is_wanted);
    if (rc) return is_wanted ? rc : 0;
    server.job = j;
    snprintf(server.self.nspace, sizeof server.self.nspace, "godwit-%d", (int)getpid());
    rc = folder_make();
    if (rc && is_wanted) say_line("cannot make %s for the PMIx server: %s", server.folder, strerror(rc));
    if (rc) return is_wanted ? EXIT_CANNOT_RUN : 0;
    pmix_status_t s = is_wanted ? server_start_guarded(STDERR_FILENO) : server_try();
    if (s == PMIX_SUCCESS) return 0;
    if (is_wanted) say_line("the PMIx server does not start: %s", pmix.error_string(s));
    if (is_wanted) return EXIT_CANNOT_RUN;
    pmix_stop();
    return 0;
}

void pmix_env(const struct job *j, int rank, struct words *own)
{
    if (!j->pmix) return;
    char **env = gw_xcalloc(1, sizeof *env); /* a list that libpmix may change: environ's texts are not malloc's */
    pmix_proc_t who = server.self;
    who.rank = (pmix_rank_t)rank;
    pmix_status_t s = pmix.setup_fork(&who, &env);
    if (s != PMIX_SUCCESS) say_line("PMIx for rank %d: %s", rank, pmix.error_string(s));
    for (char **e = env; *e; e++) {
        words_add(own, *e);
        free(*e);
    }
    free(env);
    /* Open MPI 4 looks for PMIx only under launchers that it knows, and Summit's jsrun needs the least pretence. */
    words_add(own, "JSM_JSRUN_PORT=0");
}

const char *pmix_name(void) { return server.self.nspace; }

void pmix_stop(void)
{
    if (server.job && server.job->pmix) {
        pmix_guard_begin("the PMIx server does not end", STDERR_FILENO);
        pmix.finalize();
        pmix_guard_end();
    }
    if (server.job) server.job->pmix = false;
}
