/* boot.c -- chooses the launcher's protocol (PMIx, PMI-1, PMI-2, our mpiexec) and passes calls on to its backend.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot/boot_private.h"
#include "base/count.h"
#include "base/hash.h"
#include "base/os.h"
#include "base/plain.h"
#include "base/settings.h"
#include "boot/kvs.h"
#include "boot/order.h"
#include "boot/port.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

struct boot_info gw_boot = {.shm_fd = -1, .size = 1, .nlocal = 1, .nnodes = 1};

/* Written by the thread that starts or ends MPI, or with the lock of lane 0 held (keys). */
static struct {
    const struct boot_backend *way; /* to the launcher; NULL for a singleton, and after the end */
    bool has_left;                  /* boot_leave() was called */
    int n_far;          /* gets of keys from ranks of other nodes; a wire keeps what it got, so each is for another rank or lane */
    bool is_collecting; /* all keys are fetched in the background */
    unsigned needs;     /* when all ranks must meet: BOOT_BEFORE_FIRST, BOOT_AFTER_LAST */
    bool has_needs;     /* boot_needs() was called */
    int abort_status;   /* exit status for give_up() */
} state = {.needs = BOOT_BEFORE_FIRST | BOOT_AFTER_LAST};
struct gw_lock boot_asking;
static const struct boot_backend *const ways[] = {[BOOT_GODWIT] = &boot_backend_godwit,
                                                  [BOOT_PMI1] = &boot_backend_pmi1,
                                                  [BOOT_PMI2] = &boot_backend_pmi2,
                                                  [BOOT_PMIX] = &boot_backend_pmix};
static const char *const way_names[] = {
    [BOOT_SINGLETON] = "alone", [BOOT_GODWIT] = "mpiexec", [BOOT_PMIX] = "PMIx", [BOOT_PMI1] = "PMI-1", [BOOT_PMI2] = "PMI-2"};

int boot_host_nlocal = 1;

void boot_set_locals(int *ranks, int n)
{
    assert(ranks && n > 0);
    boot_host_nlocal = n;
    gw_boot.local_to_world = ranks;
    gw_boot.nlocal = n;
    for (int i = 0; i < n; i++)
        if (ranks[i] == gw_boot.rank) gw_boot.local_rank = i;
}

static void join_alone(void)
{
    int *self = gw_xcalloc(1, sizeof *self);
    gw_boot.how = BOOT_SINGLETON;
    gw_boot.rank = gw_boot.appnum = 0;
    gw_boot.universe_size = boot_universe(1, gw_cores_allowed());
    gw_boot.size = 1;
    gw_boot.shm_fd = -1;
    boot_set_locals(self, 1);
    snprintf(gw_boot.jobid, sizeof gw_boot.jobid, "alone-%d", (int)getpid());
}

/* Before a message that all ranks have: one rank of each node prints it at once; the others wait, because the launcher ends the job when
 * the first process ends. */
static void let_one_speak(void)
{
    if (boot_env_speaks()) return;
    sleep(1);
    gw_exit_now(1);
}

/* Several processes were started and this one does not find the others: to end is better than to run as N jobs of one rank.  is_ours: mpiexec
 * has started them, and the others may have found it, so that this one speaks for itself. */
static void refuse(bool is_ours, const char *offered, const char *reasons) __attribute__((noreturn));
static void refuse(bool is_ours, const char *offered, const char *reasons)
{
    if (!is_ours) let_one_speak();
    if (!boot_env_speaks()) sleep(1); /* where all are the same, the first one's end ends the job */
    const char *why = reasons[0] ? reasons
        : boot_pmi_is_closed()
        ? "the descriptor of PMI_FD was closed on the way here, as Python's subprocess does without close_fds=False"
        : "neither PMIx nor PMI is offered";
    gw_die("this process seems to be one of several (%s), but there is no way to the others (%s). %sStart it with Godwit's "
           "mpiexec or a launcher that offers PMIx or PMI (for Slurm: srun --mpi=pmix), or set GODWIT_SINGLETON=1 to run it alone.",
           offered, why, reasons[0] ? "A rank runs one MPI program, once: was another one here before? " : "");
}

static void tell_launcher(int code, int status, const char *text);
/* Hydra waits for the others where all processes of a host have ended without a word. */
static void tell_of_death(void) { tell_launcher(1, 1, ""); }

static void join_any(void)
{
    enum { WORDS_US = 200000 };
    static const enum boot_how order[] = {BOOT_GODWIT, BOOT_PMI1, BOOT_PMI2, BOOT_PMIX};
    static const char *const offers[] = {[BOOT_GODWIT] = "GODWIT_BOOT is set",
                                         [BOOT_PMI1] = "PMI_FD is set",
                                         [BOOT_PMI2] = "PMI_FD is set",
                                         [BOOT_PMIX] = "PMIX_NAMESPACE is set"};
    char reasons[1024] = "";
    const char *offered = NULL;
    int rc = GW_OK;
    for (size_t i = 0; i < GW_ARRAY_LEN(order); i++) {
        const struct boot_backend *w = ways[order[i]];
        if (!w->offered()) continue;
        gw_fail_clear();
        /* When one process fails, Hydra ends the job and loses what is still in its pipes; other launchers may do so, too. */
        if (order[i] != BOOT_GODWIT) gw_words_take(WORDS_US);
        gw_boot.how = order[i];
        rc = w->join();
        if (rc == GW_OK) {
            state.way = w;
            gw_die_tells(tell_of_death);
            return;
        }
        offered = offered ? offered : offers[order[i]];
        size_t n = strlen(reasons);
        snprintf(reasons + n, sizeof reasons - n, "%s%s: %s", n ? "; " : "", way_names[order[i]], gw_fail_text());
        if (rc == GW_EOTHER) break;
    }
    const char *several = boot_env_several();
    if (several || offered) refuse(rc == GW_EOTHER, several ? several : offered, reasons);
    boot_cleared_warn();
    join_alone();
}

/* ---- nodes ---- */
const char *boot_vnodes(void)
{
    return gw_boot.how == BOOT_GODWIT || !gw_set.vnodes ? "" : gw_set.vnodes; /* mpiexec has made the faked nodes */
}

/* Reduces the local ranks to those of this rank's faked node.  The number of nodes is known later, from the node leaders
 * (boot_segment.c). */
static void nodes_begin(void)
{
    int first, count;
    if (boot_vnodes_check(boot_vnodes()) != GW_OK) gw_die("GODWIT_VNODES: %s", gw_fail_text());
    boot_vnodes_block(boot_vnodes(), gw_boot.nlocal, gw_boot.local_rank, &first, &count);
    int *ranks = (int *)(uintptr_t)gw_boot.local_to_world;
    memmove(ranks, ranks + first, (size_t)count * sizeof *ranks);
    gw_boot.local_rank -= first;
    gw_boot.nlocal = count;
    gw_boot.node = 0;
}

/* ---- rank order ---- */
int32_t *boot_processes;

static int process_of(int rank)
{
    const int32_t *p = boot_map_processes();
    return p ? p[rank] : rank;
}

/* Fails if ranks of other hosts have read a different file of orders. */
static int check_same_order(const int32_t *list)
{
    char mine[32], other[32];
    if (boot_fences_once()) return GW_OK; /* the only fence is needed for the addresses */
    snprintf(mine, sizeof mine, "%016llx", (unsigned long long)gw_hash(GW_HASH_SEED, list, (size_t)gw_boot.size * sizeof *list));
    int rc = gw_boot.rank == 0 ? boot_put("gw.order", mine) : GW_OK;
    bool is_direct = boot_backend_is_direct();
    if (rc == GW_OK && !is_direct) rc = boot_fence();
    if (rc == GW_OK && is_direct && gw_boot.rank == 0) rc = boot_commit();
    if (rc == GW_OK) rc = boot_get(0, "gw.order", other, sizeof other);
    if (rc == GW_OK && strcmp(mine, other) != 0)
        rc = gw_fail(GW_EARG,
                     "%s: on %s it says something else than where rank 0 of the launcher is: all nodes must see the same file",
                     gw_set.rank_order_file, gw_boot.host);
    return rc;
}

/* After reordering: sets the rank of this process and the ranks of its node. */
static void order_take(const int32_t *node, const int32_t *rank_of)
{
    int rank = rank_of[gw_boot.rank], n = 0;
    int *locals = gw_xmalloc((size_t)gw_boot.size * sizeof *locals), on_host = boot_host_nlocal;
    for (int r = 0; r < gw_boot.size; r++)
        if (node[r] == node[rank]) locals[n++] = r;
    boot_processes = gw_xmalloc((size_t)gw_boot.size * sizeof *boot_processes);
    for (int p = 0; p < gw_boot.size; p++) boot_processes[rank_of[p]] = p;
    GW_EXPLAIN(GW_LOG_BOOT, "process %d of the launcher has rank %d by rank order %d", gw_boot.rank, rank, (int)gw_set.rank_order);
    free((void *)(uintptr_t)gw_boot.local_to_world);
    gw_boot.rank = rank;
    boot_set_locals(locals, n);
    boot_host_nlocal = on_host;
}

/* Computes the new order.  Under our mpiexec there is nothing to do: it has reordered the ranks. */
static void order_begin(void)
{
    if (!state.way || state.way == &boot_backend_godwit || gw_set.rank_order < 0) return;
    size_t bytes = (size_t)gw_boot.size * sizeof(int32_t);
    int32_t *node = gw_xmalloc(bytes), *rank_of = gw_xmalloc(bytes);
    int rc = state.way->hosts(node);
    if (rc == GW_OK) {
        boot_map_nodes(boot_vnodes(), node, gw_boot.size);
        rc = boot_order_apply((int)gw_set.rank_order, gw_set.rank_order_file, node, gw_boot.size, rank_of);
    }
    if (rc == GW_OK && gw_set.rank_order == BOOT_ORDER_FILE) rc = check_same_order(rank_of);
    if (rc != GW_OK) {
        let_one_speak();
        gw_die("%s", gw_fail_text());
    }
    order_take(node, rank_of);
    free(node);
    free(rank_of);
}

/* The ranks of a node as "0-3,8". */
static void print_ranks(int node)
{
    const char *comma = "";
    for (int r = 0, to; r < gw_boot.size; r = to + 1) {
        to = r;
        if (boot_node_of(r) != node) continue;
        while (to + 1 < gw_boot.size && boot_node_of(to + 1) == node) to++;
        fprintf(stderr, to > r ? "%s%d-%d" : "%s%d", comma, r, to);
        comma = ",";
    }
}

void boot_order_show(void)
{
    static const char *const methods[] = {"round robin", "node by node", "folded", "by the file"};
    char host[80];
    int method = (int)gw_set.rank_order;
    if (!gw_set.rank_order_display) return;
    bool asks = gw_boot.nnodes > 1 && !boot_fences_once(); /* the one fence is for the addresses */
    if (asks && (boot_put("gw.host", gw_boot.host) != GW_OK || (boot_backend_is_direct() ? boot_commit() : boot_fence()) != GW_OK))
        gw_die("%s", gw_fail_text());
    if (gw_boot.rank != 0) return;
    char **names = gw_xcalloc((size_t)gw_boot.nnodes, sizeof *names);
    gw_print(stderr, "godwit: rank order: %s%s%s; %d rank%s on %d node%s\n", method < 0 ? "the launcher's" : methods[method],
             method == BOOT_ORDER_FILE ? " " : "", method == BOOT_ORDER_FILE ? gw_set.rank_order_file : "", gw_boot.size,
             gw_boot.size == 1 ? "" : "s", gw_boot.nnodes, gw_boot.nnodes == 1 ? "" : "s");
    for (int r = 0, node = 0; r < gw_boot.size && node < gw_boot.nnodes; r++) {
        if (boot_node_of(r) != node) continue; /* nodes are numbered in the order of their lowest ranks */
        snprintf(host, sizeof host, "%s", asks || gw_boot.nnodes == 1 || r == gw_boot.rank ? gw_boot.host : "?");
        if (asks && boot_get(r, "gw.host", host, sizeof host) != GW_OK) gw_die("%s", gw_fail_text());
        names[node] = gw_xasprintf("%s", host);
        gw_print(stderr, "godwit:   node %d (%s): ", node++, host);
        print_ranks(node - 1);
        fputs("\n", stderr);
    }
    for (int r = 0; r < gw_boot.size; r++) {
        int node = boot_node_of(r);
        gw_print(stderr, "[PE_0]: rank %d is on node %d, %s\n", r, node, names[node] ? names[node] : "?");
    }
    for (int i = 0; i < gw_boot.nnodes; i++) free(names[i]);
    free(names);
}

/* A job that our mpiexec has spawned through an engine learns its parent from a variable. */
static void parent_begin(void)
{
    const char *text = getenv(BOOT_PARENT);
    if (!text) return;
    gw_boot.parent_is_far = boot_place_parse(text, &gw_boot.parent, NULL);
    if (!gw_boot.parent_is_far) gw_die(BOOT_PARENT " is damaged: those who spawned this job cannot be met");
}

int boot_init(void)
{
    enum { TRIES = 3 };
    struct utsname u;
    gw_streams_keep();
    gw_settings_load();
    int tries = 0;
    while (uname(&u) != 0 && ++tries < TRIES) {} /* ranks of one host must agree on its name */
    if (tries < TRIES) snprintf(gw_boot.host, sizeof gw_boot.host, "%.63s", u.nodename);
    if (boot_env_int("GODWIT_SINGLETON", 0) > 0)
        join_alone();
    else
        join_any();
    if (gw_boot.how == BOOT_PMIX || gw_boot.how == BOOT_PMI1 || gw_boot.how == BOOT_PMI2) parent_begin();
    if (gw_boot.size > 1) order_begin();
    if (!boot_processes) nodes_begin();
    gw_boot.nnodes = gw_boot.nlocal == gw_boot.size ? 1 : 0;
    assert(gw_boot.rank >= 0 && gw_boot.rank < gw_boot.size);
    assert(gw_boot.local_rank >= 0 && gw_boot.local_rank < gw_boot.nlocal && gw_boot.nlocal <= gw_boot.size);
    gw_log_identity(gw_boot.rank, gw_boot.size);
    GW_EXPLAIN(GW_LOG_BOOT, "rank %d of %d, local rank %d of %d on %s, job %s, by way of %s", gw_boot.rank, gw_boot.size,
               gw_boot.local_rank, gw_boot.nlocal, gw_boot.host, gw_boot.jobid, way_names[gw_boot.how]);
    return GW_OK;
}

/* ---- keys ---- */

const struct boot_backend *boot_backend_used(void) { return state.way; }
bool boot_backend_is_direct(void)
{
    return state.way && state.way->commit && (state.way != &boot_backend_godwit || boot_board_head());
}
bool boot_fences_once(void) { return state.way && state.way->fences_once && state.way->fences_once(); }
bool boot_is_direct(void) { return boot_backend_is_direct() && gw_set.async_modex && !boot_fences_once(); }
void boot_backend_use(const struct boot_backend *w)
{
    state.way = w;
    state.n_far = 0;
    state.is_collecting = false;
}

int boot_put(const char *key, const char *value)
{
    if (!state.way) return gw_fail(GW_EUNSUPPORTED, "a process alone has nobody to tell \"%s\"", key);
    gw_counted(&gw_count.key_puts, 1);
    gw_counted(&gw_count.key_put_bytes, strlen(value));
    return state.way->put(key, value);
}

int boot_commit(void) { return state.way && state.way->commit ? state.way->commit() : GW_OK; }

int boot_fence(void)
{
    if (!state.way) return GW_OK;
    gw_counted(&gw_count.key_fences, 1);
    return state.way->fence();
}

int boot_share(void) { return boot_is_direct() ? boot_commit() : boot_fence(); }

static void switch_to_collection(int rank)
{
    assert(state.way && rank >= 0);
    state.n_far += gw_boot.local_to_world && boot_local_rank(rank) < 0;
    if (state.is_collecting || !state.way->collect || gw_set.modex_switch == 0 || state.n_far < gw_set.modex_switch) return;
    state.is_collecting = true;
    GW_EXPLAIN(GW_LOG_BOOT,
               "%d ranks of other nodes were asked for their addresses: ready to collect all of them in the background",
               state.n_far);
    state.way->collect();
}

int boot_get(int rank, const char *key, char *value_out, size_t cap)
{
    assert(cap > 1 && rank >= 0 && rank < gw_boot.size);
    if (!state.way)
        return gw_fail(GW_EUNSUPPORTED,
                       "there is no launcher to ask for \"%s\" of rank %d: MPI is finalized, or this process is alone", key, rank);
    bool has_one_line = gw_boot.how == BOOT_PMI1 || gw_boot.how == BOOT_PMI2;
    int rc = GW_AGAIN;
    gw_lock(&boot_asking);
    if (!has_one_line || !boot_fence_is_going()) { /* else the thread that waits for the fence would read the answer */
        gw_counted(&gw_count.key_gets, 1);
        if (boot_is_direct()) switch_to_collection(rank);
        rc = state.way->get(process_of(rank), key, value_out, cap);
    }
    gw_unlock(&boot_asking);
    if (rc == GW_OK) gw_counted(&gw_count.key_got_bytes, strlen(value_out));
    return rc;
}

int boot_hosts(int32_t *host_out)
{
    assert(state.way && host_out);
    return state.way->hosts(host_out);
}

static void keys_explain(void)
{
    if (!gw_count.key_puts && !gw_count.key_gets && !gw_count.key_fences) return;
    GW_EXPLAIN(
        GW_LOG_BOOT,
        "told the launcher %llu values of %llu bytes, asked for %llu of %llu bytes (%d of ranks on other nodes), %llu fences%s",
        (unsigned long long)gw_count.key_puts, (unsigned long long)gw_count.key_put_bytes, (unsigned long long)gw_count.key_gets,
        (unsigned long long)gw_count.key_got_bytes, state.n_far, (unsigned long long)gw_count.key_fences,
        state.is_collecting ? ", one collection in the background" : "");
}

/* ---- the end ---- */
void boot_rest(void) { atomic_store_explicit(&boot_my_rank_slot()->phase, BOOT_FINALIZED, memory_order_release); }

void boot_leave(void)
{
    boot_rest();
    if (!state.way || state.has_left) return;
    state.has_left = true;
    keys_explain();
    state.way->leave();
    if (state.way != &boot_backend_godwit) state.way = NULL; /* the board of mpiexec is closed with the segment */
}

void boot_return(void) { atomic_store_explicit(&boot_my_rank_slot()->phase, BOOT_RUNNING, memory_order_release); }

void boot_finalize(void)
{
    boot_leave();
    boot_segment_close();
    state.way = NULL;
    free(boot_processes);
    boot_processes = NULL;
    free((void *)gw_boot.local_to_world);
    gw_boot.local_to_world = NULL;
}

/* ---- must all ranks meet? ---- */
void boot_needs(unsigned when)
{
    assert((when & ~(unsigned)(BOOT_BEFORE_FIRST | BOOT_AFTER_LAST)) == 0);
    state.needs = state.has_needs ? state.needs | when : when;
    state.has_needs = true;
}

bool boot_must_meet(unsigned when)
{
    assert(when == BOOT_BEFORE_FIRST || when == BOOT_AFTER_LAST);
    bool is_async = when == BOOT_BEFORE_FIRST ? gw_set.async_init : gw_set.async_finalize;
    if (when == BOOT_BEFORE_FIRST && gw_boot.parent.name) return true; /* the parents wait until all ranks have come */
    return gw_boot.nnodes == 1 || !is_async || (state.needs & when) != 0;
}

bool boot_connects_all(void)
{
    bool all = gw_set.startup_connect || gw_set.dynamic_conn == GW_SET_DYNAMIC_CONN_DISABLED;
    return gw_boot.nnodes > 1 && (all || gw_boot.size < gw_set.add_procs_cutoff);
}

static void give_up(int sig)
{
    (void)sig;
    _exit(state.abort_status);
}

/* A launcher that has lost a host may never answer the abort. */
static void end_soon(int status)
{
    assert(status >= 0 && status < 256);
    enum { PATIENCE_S = 3 };
    sigset_t alarm_only;
    state.abort_status = status;
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    signal(SIGALRM, give_up);
    sigprocmask(SIG_UNBLOCK, &alarm_only, NULL);
    alarm(PATIENCE_S);
}

/* That the job is to end, before this process does with that status. */
static void tell_launcher(int code, int status, const char *text)
{
    end_soon(status);
    gw_last_words(); /* the launcher may kill this process as soon as it knows */
    if (state.way) state.way->abort(code, text);
}

void boot_abort(int code, const char *text)
{
    struct boot_rank *slot = boot_my_rank_slot();
    snprintf(slot->what, sizeof slot->what, "%s", text ? text : "");
    atomic_store_explicit(&slot->abort_code, code, memory_order_relaxed);
    /* Release: the launcher, which reads ABORTED after our end, also reads code and text. */
    atomic_store_explicit(&slot->phase, BOOT_ABORTED, memory_order_release);
    int status = code != 0 && (code & 0xff) == 0 ? 1 : code & 0xff; /* an exit status has 8 bits: 256 must not become 0 */
    tell_launcher(code, status, text ? text : "");
    if (gw_set.abort_on_error) {
        signal(SIGABRT, SIG_DFL);
        abort();
    }
    gw_exit_now(status);
}

int boot_local_rank(int world_rank)
{
    assert(gw_boot.nlocal > 0 && gw_boot.local_to_world);
    int lo = 0, hi = gw_boot.nlocal - 1; /* local_to_world is ascending */
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (gw_boot.local_to_world[mid] < world_rank)
            lo = mid + 1;
        else
            hi = mid;
    }
    return gw_boot.local_to_world[lo] == world_rank ? lo : -1;
}
