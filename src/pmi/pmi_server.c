/* pmi_server.c -- PMI-1 and the connections of PMI-2 (pmi_two.c) for ranks of other MPI libraries (MPICH and its derivatives): lines of key=value over a socket that
 * each rank inherits (PMI_FD), as Flux's RFC 13 describes them.
 *
 * A client sends one request at a time and reads the answer before the next one, so an answer always fits into the socket; a client
 * that does otherwise loses its connection, and mpiexec never waits for one.  A connection belongs to a rank, not to a process:
 * the programs that a rank's script runs one after the other may each begin with init.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/base.h"
#include "job/job.h"
#include "job/say.h"
#include "pmi/foreign.h"
#include "pmi/pmi.h"
#include "pmi/pmi_private.h"

struct client {
    int fd;  /* -1: closed */
    int far; /* the rank's end, if it can be connected again (pmi_pair.c); -1: it cannot */
    bool in_barrier;
    bool is_two;       /* it has asked for PMI-2 */
    bool in_spawn;     /* between mcmd=spawn and endcmd */
    int spawns, spawn; /* programs of the request, and how many have come: each is a block of lines, all have one answer */
    size_t have;       /* bytes of the line so far */
    char *line;        /* PMI_LINE_MOST; NULL before the first byte came */
};
static struct {
    struct client *clients;
    int n, n_in_barrier;
    void *keys;    /* tree of struct pair */
    char name[32]; /* of the key space */
    /* Of an agent: */
    bool has_others;    /* ranks on other hosts take part in barriers */
    bool is_complete;   /* all ranks of this host are in one, of which the others do not know yet */
    struct words fresh; /* keys and values since the last one */
} pmi;
struct pair {
    char *key, *value;
};

/* ---- keys ------------------------------------------------------------------------------------------------------------------- */
static int by_key(const void *a, const void *b) { return strcmp(((const struct pair *)a)->key, ((const struct pair *)b)->key); }

const char *pmi_space(void) { return pmi.name; }

const char *pmi_key_get(const char *key)
{
    struct pair wanted = {.key = (char *)(uintptr_t)key};
    struct pair **found = tfind(&wanted, &pmi.keys, by_key);
    if (!found && strcmp(key, "PMI_hwloc_xmlfile") == 0) return pmi_topology_path();
    return found ? (*found)->value : NULL;
}

/* Sets a key.  It may exist: the next program of a script puts the same keys. */
static void key_set(const char *key, const char *value)
{
    struct pair *p = gw_xcalloc(1, sizeof *p);
    *p = (struct pair){gw_xasprintf("%s", key), gw_xasprintf("%s", value)};
    struct pair **kept = tsearch(p, &pmi.keys, by_key);
    if (!kept) gw_die("mpiexec: no memory");
    if (*kept == p) return;
    free((*kept)->value);
    (*kept)->value = p->value;
    free(p->key);
    free(p);
}

void pmi_key_put(const char *key, const char *value)
{
    if (pmi.has_others && key[0] != PMI_OF_NODE) words_add(&pmi.fresh, key), words_add(&pmi.fresh, value);
    key_set(key, value);
}

static void pair_free(void *pair)
{
    struct pair *p = pair;
    free(p->key);
    free(p->value);
    free(p);
}

/* ---- lines ------------------------------------------------------------------------------------------------------------------ */
static void client_close(struct client *c)
{
    assert(pmi.n_in_barrier >= c->in_barrier);
    if (c->fd >= 0) close(c->fd);
    if (c->far >= 0) close(c->far);
    pmi.n_in_barrier -= c->in_barrier;
    free(c->line);
    *c = (struct client){.fd = -1, .far = -1};
}

static int watch(const struct job *j, int fd, int rank)
{
    struct epoll_event e = {.events = EPOLLIN, .data.u32 = (uint32_t)rank};
    return epoll_ctl(j->pmi, EPOLL_CTL_ADD, fd, &e);
}

/* The program has shut the connection down behind its finalize; another may follow.  False: it cannot be made again. */
static bool client_reopen(const struct job *j, int rank)
{
    struct client *c = &pmi.clients[rank];
    bool is_over = atomic_load_explicit(&job_slot(j, rank)->phase, memory_order_relaxed) == BOOT_FINALIZED;
    if (!is_over || c->far < 0 || !j->ranks[rank].pid) return false;
    int near = pmi_pair_connect(c->far);
    if (near >= 0 && watch(j, near, rank) < 0) {
        close(near);
        near = -1;
    }
    if (near < 0) return false;
    close(c->fd);
    c->fd = near;
    c->have = 0;
    c->is_two = false;
    return true;
}

void pmi_send(int rank, const char *text, size_t n)
{
    if (send(pmi.clients[rank].fd, text, n, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)n) client_close(&pmi.clients[rank]);
}

static void answer(int rank, const char *fmt, ...) GW_PRINTF(2, 3);
static void answer(int rank, const char *fmt, ...)
{
    assert(rank >= 0 && rank < pmi.n);
    char line[PMI_LINE_MOST];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    if (n < PMI_LINE_MOST)
        pmi_send(rank, line, (size_t)n);
    else
        client_close(&pmi.clients[rank]);
}

/* Copies the value of "key=" in a line, up to the next space, or to the end if is_last.  False: there is none, or it is too long. */
static bool value_of(const char *line, const char *key, bool is_last, char *out, size_t cap)
{
    assert(cap > 0);
    size_t n = strlen(key);
    for (const char *p = line; p; p = strchr(p, ' ')) {
        p += strspn(p, " ");
        if (strncmp(p, key, n) != 0 || p[n] != '=') continue;
        size_t len = is_last ? strlen(p + n + 1) : strcspn(p + n + 1, " ");
        if (len >= cap) return false;
        memcpy(out, p + n + 1, len);
        out[len] = 0;
        return true;
    }
    return false;
}

static int number_of(const char *line, const char *key, int fallback)
{
    char text[16];
    return value_of(line, key, false, text, sizeof text) ? atoi(text) : fallback;
}

static bool is_of_our_space(const char *line)
{
    char name[PMI_NAME_MOST];
    return value_of(line, "kvsname", false, name, sizeof name) && strcmp(name, pmi.name) == 0;
}

/* ---- requests --------------------------------------------------------------------------------------------------------------- */
static void on_init(struct job *j, int rank, const char *line)
{
    foreign_came(j, rank, FOREIGN_PMI);
    pmi.clients[rank].is_two = number_of(line, "pmi_version", 1) == 2;
    answer(rank, "cmd=response_to_init rc=0 pmi_version=%d pmi_subversion=%d\n", pmi.clients[rank].is_two ? 2 : 1,
           pmi.clients[rank].is_two ? 0 : 1);
}

static void on_maxes(struct job *j, int rank, const char *line)
{
    (void)j, (void)line;
    answer(rank, "cmd=maxes rc=0 kvsname_max=%d keylen_max=%d vallen_max=%d\n", PMI_NAME_MOST, PMI_KEY_MOST, PMI_VALUE_MOST);
}

static void on_appnum(struct job *j, int rank, const char *line)
{
    (void)line;
    int app = j->ranks[rank].app;
    answer(rank, "cmd=appnum rc=0 appnum=%d\n", app + j->o.apps[app].dropped);
}

static void on_universe(struct job *j, int rank, const char *line)
{
    (void)line;
    answer(rank, "cmd=universe_size rc=0 size=%d\n", job_universe(j));
}

static void on_name(struct job *j, int rank, const char *line)
{
    (void)j, (void)line;
    answer(rank, "cmd=my_kvsname rc=0 kvsname=%s\n", pmi.name);
}

static void on_put(struct job *j, int rank, const char *line)
{
    char key[PMI_KEY_MOST], value[PMI_VALUE_MOST];
    (void)j;
    bool ok = is_of_our_space(line) && value_of(line, "key", false, key, sizeof key) &&
        value_of(line, "value", true, value, sizeof value);
    if (ok) pmi_key_put(key, value);
    answer(rank, "cmd=put_result rc=%d msg=%s\n", ok ? 0 : -1, ok ? "success" : "wrong_kvsname_key_or_value");
}

static void on_get(struct job *j, int rank, const char *line)
{
    char key[PMI_KEY_MOST];
    (void)j;
    const char *value = is_of_our_space(line) && value_of(line, "key", false, key, sizeof key) ? pmi_key_get(key) : NULL;
    if (value)
        answer(rank, "cmd=get_result rc=0 msg=success value=%s\n", value);
    else
        answer(rank, "cmd=get_result rc=-1 msg=no_such_key value=unknown\n");
}

static void barrier_out(void)
{
    for (int i = 0; i < pmi.n; i++) pmi.clients[i].in_barrier = false;
    pmi.n_in_barrier = 0;
    for (int i = 0; i < pmi.n; i++) {
        if (pmi.clients[i].is_two)
            pmi_two_fenced(i);
        else
            answer(i, "cmd=barrier_out rc=0\n");
    }
}

void pmi_barrier(struct job *j, int rank)
{
    assert(pmi.n_in_barrier >= 0 && pmi.n_in_barrier <= pmi.n);
    pmi.n_in_barrier += !pmi.clients[rank].in_barrier;
    pmi.clients[rank].in_barrier = true;
    if (pmi.n_in_barrier < j->n) return;
    if (pmi.has_others)
        pmi.is_complete = true;
    else
        barrier_out();
}

bool pmi_fence_begins(struct words *keys_out)
{
    if (!pmi.is_complete) return false;
    pmi.is_complete = false;
    *keys_out = pmi.fresh;
    pmi.fresh = (struct words){0};
    return true;
}

void pmi_fence_ends(const char *key, const char *value)
{
    if (key)
        key_set(key, value);
    else
        barrier_out();
}

static void on_barrier(struct job *j, int rank, const char *line)
{
    (void)line;
    pmi_barrier(j, rank);
}

static void on_finalize(struct job *j, int rank, const char *line)
{
    (void)line;
    foreign_phase(j, rank, BOOT_FINALIZED);
    answer(rank, "cmd=finalize_ack rc=0\n");
}

/* Notes the abort in the slot, as our library does; watch.c reads it when the rank has ended.  There is no answer: the client waits to be
 * ended. */
void pmi_aborted(struct job *j, int rank, int code, const char *text)
{
    struct boot_rank *slot = job_slot(j, rank);
    snprintf(slot->what, sizeof slot->what, "%s", text);
    atomic_store_explicit(&slot->abort_code, code, memory_order_relaxed);
    foreign_phase(j, rank, BOOT_ABORTED);
    job_end_rank(j, rank);
}

static void on_abort(struct job *j, int rank, const char *line)
{
    char text[sizeof job_slot(j, rank)->what] = "";
    value_of(line, "message", true, text, sizeof text);
    pmi_aborted(j, rank, number_of(line, "exitcode", 1), text);
}

void pmi_refuse_spawn(int rank)
{
    say_line(
        "rank %d asks for more processes (MPI_Comm_spawn); mpiexec starts them for programs of Godwit only: compile it with Godwit's mpicc",
        rank);
}

/* MPI_Comm_spawn: refused, so that the call returns an error. */
static void on_spawn_line(int rank, const char *line)
{
    assert(pmi.clients[rank].in_spawn);
    struct client *c = &pmi.clients[rank];
    if (strncmp(line, "totspawns=", 10) == 0) c->spawns = atoi(line + 10);
    if (strcmp(line, "endcmd") != 0) return;
    c->in_spawn = false;
    if (++c->spawn < c->spawns) return;
    c->spawn = 0;
    pmi_refuse_spawn(rank);
    answer(rank, "cmd=spawn_result rc=-1 msg=not_supported\n");
}

static const struct {
    const char *cmd;
    void (*handle)(struct job *j, int rank, const char *line);
    const char *refusal;
} commands[] = {
    {"init", on_init, NULL},
    {"get_maxes", on_maxes, NULL},
    {"get_appnum", on_appnum, NULL},
    {"get_universe_size", on_universe, NULL},
    {"get_my_kvsname", on_name, NULL},
    {"put", on_put, NULL},
    {"get", on_get, NULL},
    {"barrier_in", on_barrier, NULL},
    {"finalize", on_finalize, NULL},
    {"abort", on_abort, NULL},
    {"publish_name", NULL, "publish_result"},
    {"unpublish_name", NULL, "unpublish_result"},
    {"lookup_name", NULL, "lookup_result"},
    {"getbyidx", NULL, "getbyidx_results"},
    {"create_kvs", NULL, "newkvs"},
    {"destroy_kvs", NULL, "kvs_destroyed"},
};

static void on_line(struct job *j, int rank, const char *line)
{
    struct client *c = &pmi.clients[rank];
    char cmd[32] = "";
    if (strcmp(line, "mcmd=spawn") == 0) {
        c->in_spawn = true;
    } else if (c->in_spawn) {
        on_spawn_line(rank, line);
    } else {
        size_t i = 0;
        value_of(line, "cmd", false, cmd, sizeof cmd);
        while (i < GW_ARRAY_LEN(commands) && strcmp(commands[i].cmd, cmd) != 0) i++;
        if (i == GW_ARRAY_LEN(commands)) {
            say_line("rank %d sends what is no request of PMI-1 (\"%.80s\"); its connection is closed", job_rank(j, rank), line);
            client_close(c);
        } else if (commands[i].handle) {
            commands[i].handle(j, rank, line);
        } else {
            answer(rank, "cmd=%s rc=-1 msg=not_supported\n", commands[i].refusal);
        }
    }
}

/* ---- connections ------------------------------------------------------------------------------------------------------------ */
/* Takes the next line, or message of PMI-2, from what has come: a copy, because handling it may close the client.  NULL: it is not whole. */
static char *next_request(struct client *c)
{
    size_t skip = c->is_two ? PMI_TWO_LENGTH : 0, n, used;
    if (c->is_two) {
        int bytes = c->have >= skip ? pmi_two_bytes(c->line) : -1;
        if (bytes < 0 || c->have < skip + (size_t)bytes) return NULL;
        n = (size_t)bytes;
        used = skip + n;
    } else {
        char *end = memchr(c->line, '\n', c->have);
        if (!end) return NULL;
        n = (size_t)(end - c->line);
        used = n + 1;
    }
    char *text = gw_xasprintf("%.*s", (int)n, c->line + skip);
    c->have -= used;
    memmove(c->line, c->line + used, c->have);
    return text;
}

static void client_read(struct job *j, int rank)
{
    struct client *c = &pmi.clients[rank];
    if (!c->line) c->line = gw_xmalloc(PMI_LINE_MOST);
    ssize_t n = recv(c->fd, c->line + c->have, PMI_LINE_MOST - c->have, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) {
        if (!client_reopen(j, rank)) client_close(c);
        return;
    }
    c->have += (size_t)n;
    for (char *text; c->fd >= 0 && (text = next_request(c));) {
        if (!c->is_two) {
            on_line(j, rank, text);
        } else if (!pmi_two_message(j, rank, text)) {
            say_line("rank %d sends what is no request of PMI-2 (\"%.80s\"); its connection is closed", job_rank(j, rank), text);
            client_close(c);
        } else if (atomic_load_explicit(&job_slot(j, rank)->phase, memory_order_relaxed) == BOOT_FINALIZED) {
            c->is_two = false; /* the next program of its script begins with a line */
        }
        free(text);
    }
    if (c->fd < 0) return;
    bool is_long = c->have == PMI_LINE_MOST, is_none = c->is_two && c->have >= PMI_TWO_LENGTH && pmi_two_bytes(c->line) < 0;
    if (!is_long && !is_none) return;
    say_line(is_none ? "rank %d sends a message of PMI-2 whose length is none of 1 to %d; its connection is closed"
                     : "rank %d sends a PMI line of more than %d bytes; its connection is closed",
             job_rank(j, rank), is_none ? PMI_LINE_MOST - PMI_TWO_LENGTH : PMI_LINE_MOST);
    client_close(c);
}

int pmi_start(struct job *j)
{
    char mapping[48];
    j->pmi = epoll_create1(EPOLL_CLOEXEC);
    if (j->pmi < 0) return errno;
    pmi.n = j->n;
    pmi.clients = gw_xcalloc((size_t)j->n, sizeof *pmi.clients);
    for (int i = 0; i < j->n; i++) pmi.clients[i] = (struct client){.fd = -1, .far = -1};
    if (j->part.size)
        snprintf(pmi.name, sizeof pmi.name, "godwit_%016llx", (unsigned long long)j->uid); /* alike on all hosts */
    else
        snprintf(pmi.name, sizeof pmi.name, "godwit_%d", (int)getpid());
    snprintf(mapping, sizeof mapping, "(vector,(0,1,%d))", j->n); /* all ranks are on one node */
    pmi_key_put("PMI_process_mapping", j->part.mapping ? j->part.mapping : mapping);
    static const char said[] = "GODWIT_MEMORY_ALLOC_KINDS"; /* all ranks see one value: that of the first program */
    const char *kinds = words_value(&j->o.apps[0].env, said, words_value(&j->o.env, said, getenv(said)));
    if (kinds) pmi_key_put("PMI_mpi_memory_alloc_kinds", kinds);
    pmi.has_others = j->part.size > j->n; /* what was put here so far, each agent has put */
    return 0;
}

int pmi_offer(const struct job *j, int rank)
{
    int ends[2];
    bool is_again = pmi_pair_make(ends) == 0;
    if (!is_again && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) return -1;
    if (watch(j, ends[0], rank) < 0) {
        int rc = errno;
        close(ends[0]);
        close(ends[1]);
        errno = rc;
        return -1;
    }
    pmi.clients[rank].fd = ends[0];
    pmi.clients[rank].far = is_again ? fcntl(ends[1], F_DUPFD_CLOEXEC, 3) : -1;
    return ends[1];
}

void pmi_serve(struct job *j)
{
    struct epoll_event events[64];
    int n = epoll_wait(j->pmi, events, GW_ARRAY_LEN(events), 0);
    for (int i = 0; i < n; i++)
        if (pmi.clients[events[i].data.u32].fd >= 0) client_read(j, (int)events[i].data.u32);
}

void pmi_stop(struct job *j)
{
    if (j->pmi < 0) return;
    for (int i = 0; i < pmi.n; i++) client_close(&pmi.clients[i]);
    pmi_two_stop();
    pmi_topology_drop();
    tdestroy(pmi.keys, pair_free);
    pmi.keys = NULL;
    words_free(&pmi.fresh);
    free(pmi.clients);
    close(j->pmi);
    j->pmi = -1;
}
