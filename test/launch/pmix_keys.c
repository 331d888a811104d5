/* pmix_keys.c -- a client of libpmix alone prints what the server says: by rank 0, a line each, `-` where there is nothing.
 * pmix_keys [events]: then an event of rank 1 reaches all.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pmix_proc_t me;

static void show(const char *of, const char *name, pmix_status_t rc, const pmix_value_t *v)
{
    printf("%s %s ", of, name);
    if (rc != PMIX_SUCCESS || !v) {
        puts("-");
        return;
    }
    switch (v->type) {
    case PMIX_STRING: {
        const char *text = v->data.string ? v->data.string : "";
        size_t n = strlen(text);
        bool is_whole = n > 12 && strcmp(text + n - 12, "</topology>\n") == 0;
        if (strncmp(text, "<?xml", 5) == 0)
            puts(is_whole ? "a topology" : "half a topology");
        else
            printf("'%s'\n", text);
        break;
    }
    case PMIX_UINT64: printf("%llu\n", (unsigned long long)v->data.uint64); break;
    case PMIX_UINT32: printf("%u\n", v->data.uint32); break;
    case PMIX_UINT16: printf("%u\n", v->data.uint16); break;
    case PMIX_PROC_RANK: printf("%u\n", v->data.rank); break;
    case PMIX_SIZE: printf("%zu\n", v->data.size); break;
    case PMIX_BOOL: printf("%d\n", v->data.flag); break;
    case PMIX_DATA_ARRAY: printf("%zu of type %d\n", v->data.darray->size, v->data.darray->type); break;
    default: printf("a value of type %d\n", v->type);
    }
}

struct key {
    const char *name, *key;
};
#define K(key)                                                                                                                     \
    {                                                                                                                              \
#key, key                                                                                                                  \
    }

/* level: PMIX_NODE_INFO or PMIX_APP_INFO with the number that selects, or NULL. */
static void ask(const char *of, pmix_rank_t rank, const struct key *keys, size_t n, const char *level, const char *number,
                uint32_t which)
{
    pmix_proc_t who = me;
    bool yes = true;
    who.rank = rank;
    for (size_t i = 0; i < n; i++) {
        pmix_info_t how[2];
        pmix_value_t *v = NULL;
        PMIX_INFO_LOAD(&how[0], level ? level : PMIX_OPTIONAL, &yes, PMIX_BOOL);
        if (level) PMIX_INFO_LOAD(&how[1], number, &which, PMIX_UINT32);
        pmix_status_t rc = PMIx_Get(&who, keys[i].key, how, level ? 2 : 1, &v);
        show(of, keys[i].name, rc, v);
    }
}

static void query(const struct key *k)
{
    pmix_query_t q;
    pmix_info_t *result = NULL;
    size_t n = 0;
    PMIX_QUERY_CONSTRUCT(&q);
    q.keys = calloc(2, sizeof *q.keys);
    q.keys[0] = strdup(k->key);
    pmix_status_t rc = PMIx_Query_info(&q, 1, &result, &n);
    show("query", k->name, n ? rc : PMIX_ERR_NOT_FOUND, n ? &result[0].value : NULL);
    PMIX_QUERY_DESTRUCT(&q);
}

static volatile int heard, registered;

static void on_event(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[], size_t n, pmix_info_t results[],
                     size_t n_results, pmix_event_notification_cbfunc_fn_t done, void *data)
{
    (void)id, (void)code, (void)info, (void)n, (void)results, (void)n_results;
    heard = 1 + (int)source->rank;
    if (done) done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static void on_registered(pmix_status_t rc, size_t id, void *data)
{
    (void)id, (void)data;
    registered = rc == PMIX_SUCCESS ? 1 : 2;
}

static void events(void)
{
    pmix_status_t code = PMIX_EXTERNAL_ERR_BASE - 5;
    PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, on_registered, NULL);
    while (!registered) usleep(1000);
    PMIx_Fence(NULL, 0, NULL, 0);
    if (me.rank == 1) PMIx_Notify_event(code, &me, PMIX_RANGE_LOCAL, NULL, 0, NULL, NULL);
    for (int i = 0; i < 20000 && !heard; i++) usleep(1000);
    printf("event registered %d, of rank %d\n", registered, heard - 1);
    fflush(stdout);
    PMIx_Fence(NULL, 0, NULL, 0);
}

int main(int argc, char **argv)
{
    static const struct key job[] = {
        K(PMIX_UNIV_SIZE),    K(PMIX_JOB_SIZE),     K(PMIX_JOB_NUM_APPS), K(PMIX_MAX_PROCS),   K(PMIX_NUM_NODES),
        K(PMIX_NUM_SLOTS),    K(PMIX_LOCAL_SIZE),   K(PMIX_NODE_SIZE),    K(PMIX_LOCAL_PEERS), K(PMIX_LOCALLDR),
        K(PMIX_NPROC_OFFSET), K(PMIX_SERVER_RANK),  K(PMIX_APP_SIZE),     K(PMIX_MAPBY),       K(PMIX_RANKBY),
        K(PMIX_BINDTO),       K(PMIX_TDIR_RMCLEAN), K(PMIX_SPAWNED),      K(PMIX_PARENT_ID),
    };
    static const struct key machine[] = {
        K(PMIX_LOCAL_TOPO),       K(PMIX_HWLOC_XML_V1),     K(PMIX_HWLOC_XML_V2),
        K(PMIX_HWLOC_SHMEM_FILE), K(PMIX_HWLOC_SHMEM_ADDR), K(PMIX_HWLOC_SHMEM_SIZE),
    };
    static const struct key rank[] = {
        K(PMIX_APPNUM),    K(PMIX_APPLDR), K(PMIX_APP_RANK), K(PMIX_GLOBAL_RANK),     K(PMIX_LOCAL_RANK),
        K(PMIX_NODE_RANK), K(PMIX_NODEID), K(PMIX_CPUSET),   K(PMIX_LOCALITY_STRING), K(PMIX_REINCARNATION),
    };
    static const struct key node[] = {
        K(PMIX_NODEID), K(PMIX_NODE_SIZE), K(PMIX_LOCAL_SIZE), K(PMIX_LOCAL_PEERS), K(PMIX_LOCALLDR),
    };
    static const struct key app[] = {K(PMIX_APP_SIZE), K(PMIX_APPLDR), K(PMIX_APP_ARGV), K(PMIX_WDIR)};
    static const struct key queries[] = {
        K(PMIX_QUERY_PROC_TABLE), K(PMIX_QUERY_LOCAL_PROC_TABLE), K(PMIX_QUERY_SPAWN_SUPPORT), K(PMIX_QUERY_DEBUG_SUPPORT),
        K(PMIX_QUERY_NUM_PSETS),  K(PMIX_QUERY_PSET_NAMES),       K(PMIX_QUERY_NUM_GROUPS),    K(PMIX_QUERY_GROUP_NAMES),
    };
#define N(list) (sizeof(list) / sizeof *(list))
    (void)argv;
    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS) return 1;
    if (argc > 1) {
        events();
    } else if (me.rank == 0) {
        ask("job", PMIX_RANK_WILDCARD, job, N(job), NULL, NULL, 0);
        ask("machine", PMIX_RANK_WILDCARD, machine, N(machine), NULL, NULL, 0);
        for (pmix_rank_t r = 0; r < 3; r++) {
            char of[16];
            snprintf(of, sizeof of, "rank%u", r);
            ask(of, r, rank, N(rank), NULL, NULL, 0);
        }
        ask("node0", PMIX_RANK_WILDCARD, node, N(node), PMIX_NODE_INFO, PMIX_NODEID, 0);
        ask("app0", PMIX_RANK_WILDCARD, app, N(app), PMIX_APP_INFO, PMIX_APPNUM, 0);
        ask("app1", PMIX_RANK_WILDCARD, app, N(app), PMIX_APP_INFO, PMIX_APPNUM, 1);
        for (size_t i = 0; i < N(queries); i++) query(&queries[i]);
    }
    PMIx_Fence(NULL, 0, NULL, 0);
    PMIx_Finalize(NULL, 0);
    return 0;
}
