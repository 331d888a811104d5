#!/bin/sh
# PMIx 4.2.2 (Debian 12: libpmix2 4.2.2-1+deb12u1): pmix_server.h says that PMIx_generate_ppn() takes ranges of ranks, with the example
# "1-4;2-5;8,10,11,12;6,7,9".  But if a server registers three ranks on its node with the process map of "0-2", all three clients read
# PMIX_LOCAL_SIZE 1 and PMIX_LOCAL_PEERS "0-2", and PMIx_Resolve_peers() gives them one process.  With the map of "0,1,2" they read 3 and "0,1,2",
# and get three processes.
#
# Behaviour: PMIx_generate_ppn() turns "0-2" into "raw:0-2", and the range counts as one peer.  The map is believed more than what the server says
# beside it: PMIX_LOCAL_SIZE 3 and PMIX_LOCAL_PEERS "0,1,2" are registered here with both maps (seen too: before the map, or in a
# PMIX_NODE_INFO_ARRAY, they help no more).  PMIX_NODE_SIZE, PMIX_LOCAL_RANK and PMIX_NODE_RANK are read as they were registered.  So a server has
# to write out the ranks.
# Output of this script: for each of the two maps, the map and what the ranks 0, 1 and 2 read:
#   map of 0-2: raw:0-2
#   rank 0: local size 1, local peers 0-2, 1 resolved; node size 3, local rank 0, node rank 0
#   (the same of the ranks 1 and 2)
#   map of 0,1,2: raw:0,1,2
#   rank 0: local size 3, local peers 0,1,2, 3 resolved; node size 3, local rank 0, node rank 0
#   (the same of the ranks 1 and 2)
# Exit status: 0 if it is still so, 1 if the behaviour has changed, 2 if the trial itself fails, 77 where the packages cannot be had.
# SPDX-FileCopyrightText: 2026 The authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
version=4.2.2-1+deb12u1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 2' HUP INT TERM
cd "$folder"
apt-get download "libpmix2=$version" "libpmix-dev=$version" libmunge2=0.5.15-2+deb12u1 libhwloc15=2.9.0-1 \
    libevent-core-2.1-7=2.1.12-stable-8+deb12u1 libevent-pthreads-2.1-7=2.1.12-stable-8+deb12u1 >/dev/null 2>&1 ||
    { echo "skipped: no packages of PMIx $version"; exit 77; }
for p in ./*.deb; do dpkg -x "$p" .; done
lib=$(dirname "$(find "$folder" -name 'libmunge.so.2')")
cat >try.c <<'C'
#include <pmix.h>
#include <pmix_server.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#define RANKS 3
#define MUST(x) must(#x, x)

static void must(const char *what, pmix_status_t s)
{
    if (s == PMIX_SUCCESS || s == PMIX_OPERATION_SUCCEEDED) return;
    fprintf(stderr, "%s: %s\n", what, PMIx_Error_string(s));
    exit(2);
}

/* ---- a client ---- */
static pmix_value_t *get(const pmix_proc_t *of, const char *key, pmix_data_type_t type)
{
    pmix_value_t *v = NULL;
    must(key, PMIx_Get(of, key, NULL, 0, &v));
    if (v->type != type) must(key, PMIX_ERR_TYPE_MISMATCH);
    return v;
}

static int client(void)
{
    pmix_proc_t me, all, *peers = NULL;
    size_t n = 0;
    MUST(PMIx_Init(&me, NULL, 0));
    PMIX_LOAD_PROCID(&all, me.nspace, PMIX_RANK_WILDCARD);
    MUST(PMIx_Resolve_peers(NULL, me.nspace, &peers, &n));
    printf("rank %u: local size %u, local peers %s, %zu resolved; node size %u, local rank %u, node rank %u\n", me.rank,
           get(&all, PMIX_LOCAL_SIZE, PMIX_UINT32)->data.uint32, get(&all, PMIX_LOCAL_PEERS, PMIX_STRING)->data.string, n,
           get(&all, PMIX_NODE_SIZE, PMIX_UINT32)->data.uint32, get(&me, PMIX_LOCAL_RANK, PMIX_UINT16)->data.uint16,
           get(&me, PMIX_NODE_RANK, PMIX_UINT16)->data.uint16);
    MUST(PMIx_Finalize(NULL, 0));
    return 0;
}

/* ---- the server ---- */
static atomic_int answered;
static pmix_status_t answer;

static void on_answer(pmix_status_t s, void *data)
{
    (void)data;
    answer = s;
    atomic_store(&answered, 1);
}

static void finish(const char *what, pmix_status_t s) /* of a call that answers later */
{
    must(what, s);
    if (s == PMIX_OPERATION_SUCCEEDED) return;
    while (!atomic_exchange(&answered, 0)) usleep(1000);
    must(what, answer);
}

int main(int argc, char **argv)
{
    if (argc < 2) return client();
    static pmix_server_module_t no_functions;
    static pmix_nspace_t space = "space";
    static char host[] = "here";
    pmix_info_t own[3], fact[6 + RANKS], of_rank[RANKS][4];
    pmix_data_array_t list[RANKS];
    uint32_t ranks = RANKS;
    char *nodes, *map;
    PMIX_INFO_LOAD(&own[0], PMIX_SERVER_TMPDIR, getenv("TMPDIR"), PMIX_STRING);
    PMIX_INFO_LOAD(&own[1], PMIX_SYSTEM_TMPDIR, getenv("TMPDIR"), PMIX_STRING);
    PMIX_INFO_LOAD(&own[2], PMIX_HOSTNAME, host, PMIX_STRING);
    MUST(PMIx_server_init(&no_functions, own, 3));
    MUST(PMIx_generate_regex(host, &nodes));
    MUST(PMIx_generate_ppn(argv[1], &map));
    printf("map of %s: %s\n", argv[1], map);
    fflush(stdout);

    PMIX_INFO_LOAD(&fact[0], PMIX_JOB_SIZE, &ranks, PMIX_UINT32);
    PMIX_INFO_LOAD(&fact[1], PMIX_NODE_MAP, nodes, PMIX_REGEX);
    PMIX_INFO_LOAD(&fact[2], PMIX_PROC_MAP, map, PMIX_REGEX);
    PMIX_INFO_LOAD(&fact[3], PMIX_LOCAL_SIZE, &ranks, PMIX_UINT32);
    PMIX_INFO_LOAD(&fact[4], PMIX_LOCAL_PEERS, "0,1,2", PMIX_STRING);
    PMIX_INFO_LOAD(&fact[5], PMIX_NODE_SIZE, &ranks, PMIX_UINT32);
    for (pmix_rank_t r = 0; r < RANKS; r++) {
        uint16_t nth = (uint16_t)r;
        PMIX_INFO_LOAD(&of_rank[r][0], PMIX_RANK, &r, PMIX_PROC_RANK);
        PMIX_INFO_LOAD(&of_rank[r][1], PMIX_LOCAL_RANK, &nth, PMIX_UINT16);
        PMIX_INFO_LOAD(&of_rank[r][2], PMIX_NODE_RANK, &nth, PMIX_UINT16);
        PMIX_INFO_LOAD(&of_rank[r][3], PMIX_HOSTNAME, host, PMIX_STRING);
        list[r] = (pmix_data_array_t){.type = PMIX_INFO, .size = 4, .array = of_rank[r]};
        PMIX_INFO_LOAD(&fact[6 + r], PMIX_PROC_INFO_ARRAY, &list[r], PMIX_DATA_ARRAY);
    }
    finish("register_nspace", PMIx_server_register_nspace(space, RANKS, fact, 6 + RANKS, on_answer, NULL));

    int failed = 0;
    for (pmix_rank_t r = 0; r < RANKS; r++) { /* one after the other, so that their lines are in order */
        pmix_proc_t who;
        char **env = NULL;
        int status = 0;
        PMIX_LOAD_PROCID(&who, space, r);
        finish("register_client", PMIx_server_register_client(&who, geteuid(), getegid(), NULL, on_answer, NULL));
        MUST(PMIx_server_setup_fork(&who, &env));
        pid_t pid = fork();
        if (pid == 0) {
            for (char **e = env; *e; e++) putenv(*e);
            execl("/proc/self/exe", argv[0], (char *)NULL);
            _exit(127);
        }
        if (pid < 0 || waitpid(pid, &status, 0) != pid || status) failed = 1;
    }
    MUST(PMIx_server_finalize());
    return failed ? 2 : 0;
}
C
cc -w -o try try.c -I"$lib/pmix2/include" -L"$lib" -Wl,-rpath-link,"$lib" -l:libpmix.so.2 || exit 2
mkdir tmp
for map in 0-2 0,1,2; do # without our caller's settings, and without plugins that are installed
    env -i PATH="$PATH" HOME="$folder" TMPDIR="$folder/tmp" LD_LIBRARY_PATH="$lib" PMIX_PKGLIBDIR="$lib/pmix2/lib/pmix" \
        HWLOC_PLUGINS_PATH="$folder/tmp" timeout -k 5 20 ./try "$map" >>out || { cat out; echo "the trial with the map of $map failed"; exit 2; }
done
cat out
{
    echo "map of 0-2: raw:0-2"
    for r in 0 1 2; do echo "rank $r: local size 1, local peers 0-2, 1 resolved; node size 3, local rank $r, node rank $r"; done
    echo "map of 0,1,2: raw:0,1,2"
    for r in 0 1 2; do echo "rank $r: local size 3, local peers 0,1,2, 3 resolved; node size 3, local rank $r, node rank $r"; done
} >expected
cmp -s out expected
