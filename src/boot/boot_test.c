/* boot_test.c -- every way in but PMIx (test/mpi has that): each case in processes of its own, since boot happens once.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot/boot_private.h"
#include "base/settings.h"
#include "boot/kvs.h"
#include "boot/order.h"
#include "boot/world.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../test/unit.h"

/* Runs fn in a child; its exit status, and what it said on stderr in `said`. */
static char said[4096];

static int in_child(int (*fn)(void))
{
    int fds[2], status = -1;
    CHECK_EQ(pipe(fds), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(fds[1], 2);
        close(fds[0]);
        close(fds[1]);
        int failures = unit_failures;
        int rc = fn();
        _exit(unit_failures > failures ? 99 : rc);
    }
    close(fds[1]);
    size_t n = 0;
    ssize_t r;
    while ((r = read(fds[0], said + n, sizeof said - 1 - n)) > 0) n += (size_t)r;
    said[n] = 0;
    close(fds[0]);
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define EXPECT_CHILD(fn, status, words)                                                                                            \
    do {                                                                                                                           \
        CHECK_EQ(in_child(fn), status);                                                                                            \
        if (!strstr(said, words)) {                                                                                                \
            unit_failures++;                                                                                                       \
            fprintf(stderr, "%s:%d: %s said \"%s\", without \"%s\"\n", __FILE__, __LINE__, #fn, said, words);                      \
        } else if (!(words)[0] && said[0]) {                                                                                       \
            unit_failures++;                                                                                                       \
            fprintf(stderr, "%s:%d: %s said \"%s\"\n", __FILE__, __LINE__, #fn, said);                                             \
        }                                                                                                                          \
    } while (0)

/* ---- alone ---- */
static int alone(void)
{
    char value[8];
    CHECK_EQ(boot_my_rank_slot()->phase, BOOT_NEW); /* there before anything */
    CHECK_EQ(boot_init(), GW_OK);
    CHECK_EQ(gw_boot.how, BOOT_SINGLETON);
    CHECK(gw_boot.rank == 0 && gw_boot.size == 1 && gw_boot.nlocal == 1 && gw_boot.local_to_world[0] == 0);
    CHECK_EQ(boot_fence(), GW_OK);
    CHECK_EQ(boot_put("a", "b"), GW_EUNSUPPORTED);
    CHECK_EQ(boot_get(0, "a", value, sizeof value), GW_EUNSUPPORTED);
    struct boot_head *h = boot_map_segment(1 << 20, 0);
    CHECK(h->magic == BOOT_MAGIC && h->nlocal == 1 && h->cores >= 1 && h->bytes == h->shm_offset + (1 << 20));
    for (int i = 0; i < 1 << 20; i++) CHECK_EQ(((char *)h)[h->shm_offset + (size_t)i], 0);
    CHECK_EQ(boot_my_rank_slot()->pid, getpid());
    CHECK_EQ(boot_my_rank_slot()->phase, BOOT_INIT);
    boot_finalize();
    CHECK(boot_my_rank_slot() != NULL);
    gw_settings_free();
    return 0;
}

static int refused(void)
{
    setenv("PMI_SIZE", "4", 1);
    boot_init();
    return 0;
}

static int refused_silently(void)
{
    setenv("MPI_LOCALRANKID", "1", 1);
    return refused();
}

static int wanted_alone(void)
{
    setenv("GODWIT_SINGLETON", "1", 1);
    refused();
    return gw_boot.size == 1 ? 0 : 1;
}

static int slurm_script(void) /* sbatch's script itself is one process, whatever it asked for */
{
    setenv("SLURM_NTASKS", "8", 1);
    setenv("SLURM_PROCID", "0", 1);
    return boot_init();
}

static int slurm_step(void)
{
    setenv("SLURM_STEP_ID", "0", 1);
    return slurm_script();
}

/* A step on some of the allocation's nodes. */
static int slurm_part(void)
{
    CHECK(!boot_slurm_is_part());
    setenv("SLURM_JOB_NODELIST", "n[1-3]", 1);
    CHECK(!boot_slurm_is_part());
    setenv("SLURM_STEP_NODELIST", "n[1-3]", 1);
    CHECK(!boot_slurm_is_part());
    setenv("SLURM_STEP_NODELIST", "n[2-3]", 1);
    CHECK(boot_slurm_is_part());
    return unit_end();
}

static int aborting_256(void)
{
    boot_init();
    boot_abort(256, "text");
}

/* Below a launcher that mpiexec started and that hands down what it was given, beside a socket of its own. */
static int size_below(void)
{
    int pair[2];
    char fd[16];
    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    snprintf(fd, sizeof fd, "%d", pair[0]);
    setenv("GODWIT_BOOT", "fd=-1,local=0,pmi=0", 1);
    setenv("PMI_FD", fd, 1);
    setenv("PMI_RANK", "2", 1);
    setenv("PMI_SIZE", "7", 1);
    CHECK_EQ(boot_env_size(), 7);
    return unit_failures != 0;
}

static void test_alone(void)
{
    EXPECT_CHILD(size_below, 0, "");
    EXPECT_CHILD(alone, 0, "");
    EXPECT_CHILD(refused, 1, "PMI_SIZE=4");
    EXPECT_CHILD(refused, 1, "GODWIT_SINGLETON=1");
    EXPECT_CHILD(refused_silently, 1, "");
    EXPECT_CHILD(wanted_alone, 0, "");
    EXPECT_CHILD(slurm_script, 0, "");
    EXPECT_CHILD(slurm_step, 1, "SLURM_NTASKS=8");
    EXPECT_CHILD(slurm_part, 0, "");
    EXPECT_CHILD(aborting_256, 1, "");
}

/* ---- memory that is not there ---- */
static int far_too_much(void)
{
    boot_init();
    boot_map_segment(1ull << 50, 0);
    return 0;
}

/* What is seldom used counts where all is made resident. */
static int far_too_much_seldom(void)
{
    setenv("GODWIT_HUGE_PAGES", "all", 1);
    boot_init();
    boot_map_segment(1ull << 50, 1ull << 50);
    return 0;
}

/* What was to lie in the pool counts where it does not. */
static int far_too_much_pooled(void)
{
    setenv("GODWIT_HUGE_PAGES", "pool", 1);
    boot_init();
    struct boot_head *h = boot_map_segment(1ull << 44, 0);
    fprintf(stderr, "it was mapped. ");
    boot_pool_take(h, 1ull << 44);
    return 0;
}

static int file_limit(void)
{
    struct rlimit r = {1 << 20, 1 << 20};
    setrlimit(RLIMIT_FSIZE, &r);
    char text[64];
    struct boot_head h = {.magic = BOOT_MAGIC, .version = GODWIT_SHM_VERSION, .nlocal = 1, .size = 1, .cores = 1};
    h.ranks_offset = BOOT_RANKS_OFFSET;
    h.shm_offset = boot_shm_offset(1);
    int fd = memfd_create("test", MFD_ALLOW_SEALING);
    CHECK_EQ(ftruncate(fd, (off_t)h.shm_offset), 0);
    CHECK_EQ(boot_file_seal(fd, true), 0);
    CHECK_EQ(pwrite(fd, &h, sizeof h, 0), (ssize_t)sizeof h);
    snprintf(text, sizeof text, "fd=%d,local=0", fd);
    setenv("GODWIT_BOOT", text, 1);
    boot_init();
    boot_map_segment(8 << 20, 0);
    return 0;
}

/* ---- our mpiexec: what launch/ does, in small ---- */
enum { RANKS = 3 };
static int segment_fd;

static void segment_make(uint32_t version)
{
    struct boot_head h = {.magic = BOOT_MAGIC, .version = version, .nlocal = RANKS, .size = RANKS, .cores = 4};
    h.ranks_offset = BOOT_RANKS_OFFSET;
    h.shm_offset = h.bytes = boot_shm_offset(RANKS);
    strcpy(h.jobid, "job-7");
    segment_fd = memfd_create("test", MFD_ALLOW_SEALING);
    CHECK_EQ(ftruncate(segment_fd, (off_t)h.bytes), 0);
    CHECK_EQ(boot_file_seal(segment_fd, true), 0);
    CHECK_EQ(pwrite(segment_fd, &h, sizeof h, 0), (ssize_t)sizeof h);
}

static void godwit_env(int local)
{
    char text[64];
    snprintf(text, sizeof text, "fd=%d,local=%d,app=2,universe=9", segment_fd, local);
    setenv("GODWIT_BOOT", text, 1);
}

static void godwit_rank(int local)
{
    godwit_env(local);
    CHECK_EQ(boot_init(), GW_OK);
    CHECK(gw_boot.how == BOOT_GODWIT && gw_boot.rank == local && gw_boot.size == RANKS && gw_boot.nlocal == RANKS);
    CHECK(gw_boot.appnum == 2 && gw_boot.universe_size == 9);
    CHECK_STR(gw_boot.jobid, "job-7");
    struct boot_head *h = boot_map_segment(4096, 0);
    CHECK(fcntl(segment_fd, F_GETFD) < 0); /* nothing stays open */
    _Atomic int *word = (_Atomic int *)((char *)h + h->shm_offset);
    atomic_fetch_add(word, 1);
    while (atomic_load(word) < RANKS) usleep(100);
    if (local == 1) boot_abort(5, "the end of rank 1");
    boot_finalize();
    _exit(unit_failures != 0);
}

static int second_time(void)
{
    godwit_env(0);
    boot_init();
    boot_map_segment(4096, 0);
    return 0;
}

static int stale_descriptor(void)
{
    close(segment_fd);
    godwit_env(0);
    boot_init();
    return 0;
}

static void test_godwit(void)
{
    segment_make(GODWIT_SHM_VERSION);
    pid_t pids[RANKS];
    for (int i = 0; i < RANKS; i++) {
        pids[i] = fork();
        if (pids[i] == 0) godwit_rank(i);
    }
    for (int i = 0; i < RANKS; i++) {
        int status = -1;
        waitpid(pids[i], &status, 0);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == (i == 1 ? 5 : 0));
    }
    struct boot_rank slots[RANKS];
    CHECK_EQ(pread(segment_fd, slots, sizeof slots, BOOT_RANKS_OFFSET), (ssize_t)sizeof slots);
    CHECK(slots[0].pid == pids[0] && slots[0].phase == BOOT_FINALIZED);
    CHECK(slots[1].pid == pids[1] && slots[1].phase == BOOT_ABORTED && slots[1].abort_code == 5);
    CHECK_STR(slots[1].what, "the end of rank 1");
    EXPECT_CHILD(second_time, 1, "can run one MPI program, once");
    EXPECT_CHILD(stale_descriptor, 1, "is not what mpiexec handed down");
    close(segment_fd);
    segment_make(GODWIT_SHM_VERSION + 1);
    EXPECT_CHILD(second_time, 1, "different versions");
    close(segment_fd);
}

/* ---- faked nodes ---- */
static const int vnode_of[5] = {0, 0, 1, 2, 2};

static void vnode_rank(int rank, int fd)
{
    char text[64], value[64];
    snprintf(text, sizeof text, "fd=%d,local=%d", fd, rank);
    setenv("GODWIT_BOOT", text, 1);
    CHECK_EQ(boot_init(), GW_OK);
    CHECK(gw_boot.rank == rank && gw_boot.size == 5 && gw_boot.nlocal == (rank == 2 ? 1 : 2) && gw_boot.nnodes == 0);
    CHECK(boot_is_direct());
    snprintf(value, sizeof value, "I am %d", rank);
    CHECK_EQ(boot_put("who", value), GW_OK);
    struct boot_head *h = boot_map_segment(1000, 0); /* commits */
    CHECK(gw_boot.nnodes == 3 && gw_boot.node == vnode_of[rank] && h->nlocal == gw_boot.nlocal && h->uid == 77);
    CHECK_EQ(h->cores, rank == 2 ? 1 : 2); /* of 5 */
    for (int r = 0; r < 5; r++) {
        CHECK_EQ(boot_node_of(r), vnode_of[r]);
        CHECK_EQ(boot_local_rank(r) >= 0, vnode_of[r] == vnode_of[rank]);
    }
    _Atomic int *word = (_Atomic int *)((char *)h + h->shm_offset);
    atomic_fetch_add(word, 1);
    while (atomic_load(word) < gw_boot.nlocal) usleep(100);
    if (rank == 0) usleep(20000);
    boot_put("late", value);
    boot_commit();
    for (int r = 0; r < 5; r++) { /* blocks until it is there */
        char expected[64];
        snprintf(expected, sizeof expected, "I am %d", r);
        CHECK_EQ(boot_get(r, "late", value, sizeof value), GW_OK);
        CHECK_STR(value, expected);
        CHECK_EQ(boot_get(r, "who", value, sizeof value), GW_OK);
        CHECK_STR(value, expected);
        CHECK(boot_get(r, "who", value, 4) < 0);
    }
    CHECK_EQ(atomic_load(word), gw_boot.nlocal); /* nobody of another node was here */
    boot_put("last", rank == 3 ? "three" : "");
    for (int turn = 0; turn < 50; turn++) CHECK_EQ(boot_fence(), GW_OK);
    CHECK_EQ(boot_get(3, "last", value, sizeof value), GW_OK);
    CHECK_STR(value, "three");
    if (rank == 4) boot_abort(6, "the end of rank 4");
    if (rank == 0) {
        CHECK(boot_get(4, "never", value, sizeof value) < 0);
        CHECK(strstr(gw_fail_text(), "rank 4 ended before it had told its \"never\""));
    }
    boot_finalize();
    _exit(unit_failures != 0);
}

static int vnode_segment(const char *vnodes)
{
    struct boot_head h = {.magic = BOOT_MAGIC, .version = GODWIT_SHM_VERSION, .nlocal = 5, .size = 5, .cores = 5, .uid = 77};
    h.ranks_offset = BOOT_RANKS_OFFSET;
    h.map_offset = boot_shm_offset(5);
    h.shm_offset = h.bytes = h.map_offset + 4096;
    strcpy(h.vnodes, vnodes);
    int fd = memfd_create("test", MFD_ALLOW_SEALING);
    CHECK_EQ(ftruncate(fd, (off_t)h.bytes), 0);
    CHECK_EQ(boot_file_seal(fd, true), 0);
    int32_t node[5] = {0};
    CHECK_EQ(boot_map_nodes(vnodes, node, 5), 3);
    CHECK_EQ(pwrite(fd, node, sizeof node, (off_t)h.map_offset), (ssize_t)sizeof node);
    CHECK_EQ(pwrite(fd, &h, sizeof h, 0), (ssize_t)sizeof h);
    return fd;
}

static int vnode_fd;
static int vnodes_unlike(void)
{
    char text[64];
    snprintf(text, sizeof text, "fd=%d,local=0", vnode_fd);
    setenv("GODWIT_BOOT", text, 1);
    setenv("GODWIT_VNODES", "2", 1);
    return boot_init();
}

static int vnodes_nonsense(void)
{
    setenv("GODWIT_VNODES", "2,", 1);
    return boot_init();
}

static void test_vnode_ranks(void)
{
    pid_t pids[5];
    vnode_fd = vnode_segment("2,1");
    for (int i = 0; i < 5; i++) {
        pids[i] = fork();
        if (pids[i] == 0) vnode_rank(i, vnode_fd);
    }
    int status, codes[5] = {-1, -1, -1, -1, -1};
    pid_t pid;
    while ((pid = wait(&status)) > 0) /* in the order in which they end: rank 0 waits until rank 4 is gone */
        for (int i = 0; i < 5; i++)
            if (pids[i] == pid) codes[i] = WIFEXITED(status) ? WEXITSTATUS(status) : -2;
    for (int i = 0; i < 5; i++) CHECK_EQ(codes[i], i == 4 ? 6 : 0);
    struct boot_rank slots[5];
    CHECK_EQ(pread(vnode_fd, slots, sizeof slots, BOOT_RANKS_OFFSET), (ssize_t)sizeof slots); /* the launcher's */
    for (int i = 0; i < 5; i++) CHECK(slots[i].pid == pids[i] && slots[i].phase == (i == 4 ? BOOT_ABORTED : BOOT_FINALIZED));
    CHECK_STR(slots[4].what, "the end of rank 4");
    EXPECT_CHILD(vnodes_unlike, 1, "mpiexec --vnodes");
    EXPECT_CHILD(vnodes_nonsense, 1, "'2,' is neither");
    close(vnode_fd);
}

static void expect_block(const char *vnodes, int n, int k, int block, int first, int count)
{
    int first_is = -1, count_is = -1;
    CHECK_EQ(boot_vnodes_block(vnodes, n, k, &first_is, &count_is), block);
    CHECK(first_is == first && count_is == count);
}

static void expect_nodes(const char *vnodes, int size, const int32_t *host, const char *expected)
{
    int32_t node[32];
    char text[256] = "";
    memcpy(node, host, (size_t)size * sizeof *node);
    int n = boot_map_nodes(vnodes, node, size), most = -1;
    for (int i = 0; i < size; i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d", i ? " " : "", node[i]);
        if (node[i] > most) most = node[i];
    }
    CHECK_STR(text, expected);
    CHECK_EQ(n, most + 1);
}

static void test_vnodes(void)
{
    static const char *const bad[] = {"0", "-1", "x", "2x", "2,", ",", "2,,3", "2,0", "99999999999", " "};
    for (size_t i = 0; i < GW_ARRAY_LEN(bad); i++) CHECK_EQ(boot_vnodes_check(bad[i]), GW_EARG);
    CHECK(boot_vnodes_check("") == GW_OK && boot_vnodes_check("7") == GW_OK && boot_vnodes_check("3,1,2") == GW_OK);
    expect_block("", 5, 3, 0, 0, 5);
    expect_block("2", 5, 2, 0, 0, 3);
    expect_block("2", 5, 3, 1, 3, 2);
    expect_block("8", 5, 4, 4, 4, 1);
    expect_block("3,1,2", 6, 3, 1, 3, 1);
    expect_block("3,1,2", 9, 8, 3, 6, 3); /* from the start again */
    expect_block("3,1,2", 5, 4, 2, 4, 1); /* ends with the ranks */
    expect_block("4,1", 3, 2, 0, 0, 3);
    struct boot_names names = boot_names_begin(4);
    static const char *const hosts[] = {"n1", "n2", "n1", "", "n10", "n2"};
    static const int numbers[] = {0, 1, 0, 2, 3, 1};
    for (size_t i = 0; i < GW_ARRAY_LEN(hosts); i++) CHECK_EQ(boot_names_number(&names, hosts[i]), numbers[i]);
    free(names.table);
    expect_nodes("", 6, (int32_t[]){7, 7, -2, 7, 1000000, -2}, "0 0 1 0 2 1");
    expect_nodes("2", 6, (int32_t[]){0, 1, 0, 1, 0, 1}, "0 1 0 1 2 3");
    expect_nodes("2", 5, (int32_t[]){9, 9, 9, 9, 3}, "0 0 1 1 2");
    expect_nodes("1,2", 8, (int32_t[]){0, 1, 1, 1, 1, 0, 0, 0}, "0 1 2 2 3 4 4 5");
}

/* ---- PMI-1: a server for two ranks that knows what hydra knows ---- */
static int pmi_fd[2], pmi_rank;
static bool pmi_tells_mapping;

static int pmi_client(void)
{
    char text[16], value[1100], long_text[900];
    snprintf(text, sizeof text, "%d", pmi_fd[pmi_rank]);
    setenv("PMI_FD", text, 1);
    snprintf(text, sizeof text, "%d", pmi_rank);
    setenv("PMI_RANK", text, 1);
    setenv("PMI_SIZE", "2", 1);
    CHECK_EQ(boot_init(), GW_OK);
    CHECK(gw_boot.how == BOOT_PMI1 && gw_boot.rank == pmi_rank && gw_boot.size == 2);
    CHECK(gw_boot.nlocal == 2 && gw_boot.local_rank == pmi_rank && gw_boot.appnum == 3 && gw_boot.universe_size == 0);
    CHECK_STR(gw_boot.jobid, "kvs_1");
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = 0;
    CHECK_EQ(boot_put("odd", pmi_rank ? "a b=c%\n\xff" : ""), GW_OK);
    CHECK_EQ(boot_put("long", long_text), GW_OK);
    CHECK_EQ(boot_fence(), GW_OK);
    CHECK_EQ(boot_get(1, "odd", value, sizeof value), GW_OK);
    CHECK_STR(value, "a b=c%\n\xff");
    CHECK_EQ(boot_get(0, "odd", value, sizeof value), GW_OK);
    CHECK_STR(value, "");
    CHECK_EQ(boot_get(1 - pmi_rank, "long", value, sizeof value), GW_OK);
    CHECK_STR(value, long_text);
    CHECK(boot_get(0, "absent", value, sizeof value) < 0);
    CHECK(boot_get(0, "long", value, 10) < 0);
    struct boot_head *h = boot_map_segment(1 << 20, 0);
    CHECK_EQ(h->attached, 2);
    CHECK(h->nlocal == 2 && h->bytes == h->shm_offset + (1 << 20));
    _Atomic int *word = (_Atomic int *)((char *)h + h->shm_offset);
    atomic_fetch_add(word, 1);
    while (atomic_load(word) < 2) usleep(100);
    boot_finalize();
    return 0;
}

static void reply(int fd, const char *text) { CHECK_EQ(write(fd, text, strlen(text)), (ssize_t)strlen(text)); }

static char stored[16][2][1200]; /* key, value */
static int stored_count;

/* In another pid namespace the process that holds the segment has another number, and hands it out at a port.  Those who stand there
 * and show no secret, or a wrong one, hold nobody up. */
enum { SILENT = 40, NO_PID = 1 << 22 };
static bool pmi_hides_pid;
static int silent[SILENT];

static void segment_hide(char *where)
{
    char *rest = strchr(where, ':'), *port = rest ? strchr(rest + 1, ':') : NULL, text[1200];
    port = port ? strchr(port + 1, ':') : NULL;
    CHECK(port);
    if (!port) return;
    snprintf(text, sizeof text, "godwit-%.16s", port + 1);
    for (int i = 0; i < SILENT; i++) {
        silent[i] = boot_named_connect(text);
        CHECK(silent[i] >= 0);
        if (i % 2) CHECK_EQ(write(silent[i], port, 16), 16);
    }
    snprintf(text, sizeof text, "%d%s", NO_PID, rest);
    strcpy(where, text);
}

/* One request line; true after finalize. */
static bool serve_line(int fd, char *line, int *waiting)
{
    char cmd[64] = "", key[128] = "", answer[1400];
    sscanf(line, "cmd=%63s", cmd);
    char *k = strstr(line, " key="), *v = strstr(line, " value=");
    if (k) sscanf(k, " key=%127s", key);
    if (strcmp(cmd, "init") == 0) reply(fd, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
    if (strcmp(cmd, "get_maxes") == 0) reply(fd, "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n");
    if (strcmp(cmd, "get_appnum") == 0) reply(fd, "cmd=appnum appnum=3\n");
    if (strcmp(cmd, "get_universe_size") == 0) reply(fd, "cmd=universe_size size=-1\n");
    if (strcmp(cmd, "get_my_kvsname") == 0) reply(fd, "cmd=my_kvsname kvsname=kvs_1\n");
    if (strcmp(cmd, "barrier_in") == 0 && ++*waiting == 2) {
        reply(pmi_fd[0], "cmd=barrier_out\n");
        reply(pmi_fd[1], "cmd=barrier_out\n");
        *waiting = 0;
    }
    if (strcmp(cmd, "put") == 0) {
        snprintf(stored[stored_count][0], sizeof stored[0][0], "%s", key);
        snprintf(stored[stored_count][1], sizeof stored[0][0], "%s", v + 7);
        if (pmi_hides_pid && strcmp(key, "gw.segment") == 0) segment_hide(stored[stored_count][1]);
        stored_count++;
        reply(fd, "cmd=put_result rc=0 msg=success\n");
    }
    if (strcmp(cmd, "get") == 0) {
        snprintf(answer, sizeof answer, "cmd=get_result rc=-1 msg=key_%.100s_not_found value=unknown\n", key);
        if (pmi_tells_mapping && strcmp(key, "PMI_process_mapping") == 0)
            strcpy(answer, "cmd=get_result rc=0 msg=success value=(vector,(0,1,2))\n");
        for (int i = 0; i < stored_count; i++)
            if (strcmp(stored[i][0], key) == 0)
                snprintf(answer, sizeof answer, "cmd=get_result rc=0 msg=success value=%s\n", stored[i][1]);
        reply(fd, answer);
    }
    if (strcmp(cmd, "finalize") == 0) reply(fd, "cmd=finalize_ack\n");
    return strcmp(cmd, "finalize") == 0;
}

static void test_pmi1(bool tells_mapping)
{
    int pairs[2][2];
    pid_t pids[2];
    pmi_tells_mapping = tells_mapping;
    stored_count = 0;
    for (int r = 0; r < 2; r++) CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[r]), 0);
    for (int r = 0; r < 2; r++) {
        pids[r] = fork();
        if (pids[r] > 0) continue;
        pmi_fd[r] = pairs[r][1];
        pmi_rank = r;
        _exit(pmi_client() || unit_failures);
    }
    FILE *in[2];
    bool done[2] = {false, false};
    int waiting = 0;
    for (int r = 0; r < 2; r++) {
        close(pairs[r][1]);
        pmi_fd[r] = pairs[r][0];
        fcntl(pmi_fd[r], F_SETFL, O_NONBLOCK);
        in[r] = fdopen(dup(pmi_fd[r]), "r");
    }
    char line[2][2048] = {"", ""};
    for (int turns = 0; !(done[0] && done[1]) && turns < 100000; turns++) {
        int r = turns % 2;
        size_t have = strlen(line[r]);
        if (!fgets(line[r] + have, (int)(sizeof line[r] - have), in[r])) {
            clearerr(in[r]);
            usleep(100);
        } else if (strchr(line[r], '\n')) {
            line[r][strcspn(line[r], "\n")] = 0;
            done[r] = serve_line(pmi_fd[r], line[r], &waiting);
            line[r][0] = 0;
        }
    }
    for (int r = 0; r < 2; r++) {
        int status = -1;
        CHECK(done[r]);
        if (!done[r]) kill(pids[r], SIGKILL);
        waitpid(pids[r], &status, 0);
        CHECK_EQ(status, 0);
        fclose(in[r]);
        close(pmi_fd[r]);
    }
}

/* Server and client in one: all answers are there before the first question. */
static int pmi_join(const char *answers)
{
    int fds[2];
    char text[16];
    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    reply(fds[1], "cmd=response_to_init rc=0\ncmd=maxes vallen_max=256\ncmd=appnum\ncmd=universe_size\n");
    reply(fds[1], "cmd=my_kvsname kvsname=k\n");
    reply(fds[1], answers);
    shutdown(fds[1], SHUT_WR);
    snprintf(text, sizeof text, "%d", fds[0]);
    setenv("PMI_FD", text, 1);
    setenv("PMI_RANK", "1", 1);
    setenv("PMI_SIZE", "2", 1);
    return boot_backend_pmi1.join();
}

static int pmi_odd_values(void)
{
    char value[10];
    CHECK_EQ(pmi_join("cmd=get_result value=(vector,(0,1,2))\ncmd=get_result value=50%\ncmd=get_result value=a%4\n"
                      "cmd=get_result value=%41%zz% 5\ncmd=get_result value=123456789\ncmd=get_result value=1234567890\n"),
             GW_OK);
    static const char *const values[] = {"50%", "a%4", "A%zz% 5", "123456789"}; /* what is no code stays */
    for (size_t i = 0; i < GW_ARRAY_LEN(values); i++) {
        memset(value, 'x', sizeof value);
        CHECK_EQ(boot_backend_pmi1.get(0, "k", value, sizeof value), GW_OK);
        CHECK_STR(value, values[i]);
    }
    CHECK(boot_backend_pmi1.get(0, "k", value, sizeof value) < 0);
    return 0;
}

/* A server that forgets what we said, and one that says what nobody said: an error, and the next attempt starts anew. */
static int pmi_bad_servers(void)
{
    CHECK_EQ(pmi_join("cmd=get_result rc=-1\ncmd=put_result\ncmd=barrier_out\ncmd=get_result value=a\ncmd=get_result value=b\n"
                      "more"),
             GW_EUNSUPPORTED);
    CHECK(strstr(gw_fail_text(), "its host"));
    CHECK_EQ(pmi_join("cmd=get_result value=(vector,(0,2147483647,0))\nnonsense\n"), GW_EUNSUPPORTED);
    CHECK(strstr(gw_fail_text(), "nonsense"));
    CHECK_EQ(pmi_join("cmd=get_result value=(vector,(0,1,2))\n"), GW_OK);
    CHECK(gw_boot.nlocal == 2 && gw_boot.local_rank == 1);
    return 0;
}

/* ---- PMI-2: all answers are there before the first question; what was asked is looked at afterwards ---- */
static int framing = 6; /* Hydra's; Slurm fills up on the right */

static void frame(char *to, const char *message) { snprintf(to + strlen(to), 512, "%*zu%s", framing, strlen(message), message); }

static int pmi2_server; /* the other end */

static int pmi2_join(const char *first_line, const char *const *messages, int n)
{
    int fds[2];
    char text[8192] = "";
    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    strcpy(text, first_line);
    framing = -6;
    for (int i = 0; i < n; i++) frame(text, messages[i]);
    framing = 6;
    reply(fds[1], text);
    shutdown(fds[1], SHUT_WR);
    pmi2_server = fds[1];
    snprintf(text, sizeof text, "%d", fds[0]);
    setenv("PMI_FD", text, 1);
    setenv("PMI_RANK", "1", 1);
    setenv("PMI_SIZE", "3", 1);
    setenv("PMI_JOBID", "5.0", 1);
    gw_set.pmi = GW_SET_PMI_AUTO;
    CHECK(boot_backend_pmi2.offered());
    return boot_backend_pmi2.join();
}

static const char pmi2_yes[] = "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0\n";
#define PMI2_START                                                                                                                 \
    "cmd=fullinit-response;rc=0;pmi-version=2;pmi-subversion=0;rank=1;size=3;appnum=-1;debugged=FALSE;",                           \
        "cmd=job-getid-response;rc=0;jobid=5.0;", "cmd=info-getjobattr-response;found=FALSE;rc=0;"

static int pmi2_good(void)
{
    static const char *const messages[] = {
        PMI2_START,
        "cmd=info-getjobattr-response;found=TRUE;value=(vector,(0,1,2),(1,1,1));rc=0;",
        "cmd=kvs-put-response;rc=0;",
        "cmd=kvs-fence-response;rc=0;",
        "cmd=kvs-get-response;found=TRUE;value=a%20b%3bc;rc=0;",
        "cmd=kvs-get-response;found=TRUE;value=;;x;;;rc=0;",
        "cmd=kvs-get-response;found=FALSE;rc=0;",
        "cmd=kvs-get-response;found=TRUE;value=123456789;rc=0;",
        "cmd=kvs-put-response;rc=14;errmsg=full;",
        "cmd=info-getjobattr-response;found=TRUE;value=(vector,(0,1,2),(1,1,1));rc=0;",
        "cmd=finalize-response;rc=0;",
    };
    char value[9], asked[8192] = "", expected[8192] = "cmd=init pmi_version=2 pmi_subversion=0\n", longer[2000];
    int32_t host[3];
    CHECK_EQ(pmi2_join(pmi2_yes, messages, GW_ARRAY_LEN(messages)), GW_OK);
    CHECK(gw_boot.rank == 1 && gw_boot.size == 3 && gw_boot.nlocal == 2 && gw_boot.local_rank == 1 && gw_boot.appnum == 0);
    CHECK_STR(gw_boot.jobid, "5.0");
    CHECK_EQ(boot_backend_pmi2.put("k", "a b;c"), GW_OK);
    CHECK_EQ(boot_backend_pmi2.fence(), GW_OK);
    CHECK_EQ(boot_backend_pmi2.get(2, "k", value, sizeof value), GW_OK);
    CHECK_STR(value, "a b;c");
    CHECK_EQ(boot_backend_pmi2.get(0, "k", value, sizeof value), GW_OK);
    CHECK_STR(value, ";x;");
    CHECK(boot_backend_pmi2.get(0, "none", value, sizeof value) < 0);
    CHECK(boot_backend_pmi2.get(0, "long", value, sizeof value) < 0);
    CHECK(boot_backend_pmi2.put("k", "v") < 0);
    CHECK(strstr(gw_fail_text(), "full"));
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    CHECK_EQ(boot_backend_pmi2.put("k", longer), GW_EARG);
    CHECK_EQ(boot_backend_pmi2.hosts(host), GW_OK);
    CHECK(host[0] == host[1] && host[1] != host[2]);
    boot_backend_pmi2.leave();
    static const char *const questions[] = {
        "cmd=fullinit;pmijobid=5.0;pmirank=1;threaded=FALSE;",
        "cmd=job-getid;",
        "cmd=info-getjobattr;key=universeSize;",
        "cmd=info-getjobattr;key=PMI_process_mapping;",
        "cmd=kvs-put;key=1.k;value=a%20b%3bc;",
        "cmd=kvs-fence;",
        "cmd=kvs-get;jobid=5.0;srcid=2;key=2.k;",
        "cmd=kvs-get;jobid=5.0;srcid=0;key=0.k;",
        "cmd=kvs-get;jobid=5.0;srcid=0;key=0.none;",
        "cmd=kvs-get;jobid=5.0;srcid=0;key=0.long;",
        "cmd=kvs-put;key=1.k;value=v;",
        "cmd=info-getjobattr;key=PMI_process_mapping;",
        "cmd=finalize;",
    };
    for (size_t i = 0; i < GW_ARRAY_LEN(questions); i++) frame(expected, questions[i]);
    CHECK(read(pmi2_server, asked, sizeof asked - 1) > 0);
    CHECK_STR(asked, expected);
    return 0;
}

static int pmi2_bad(void)
{
    static const char *const starts[] = {"cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=-1\n", "", "x\n"};
    for (size_t i = 0; i < GW_ARRAY_LEN(starts); i++) CHECK_EQ(pmi2_join(starts[i], NULL, 0), GW_EUNSUPPORTED);
    static const char *const odd[][3] = {
        {"cmd=fullinit-response;rc=0;rank=3;size=3;"},
        {"cmd=fullinit-response;rc=1;rank=1;size=3;"},
        {"cmd=other-response;rc=0;"},
        {"cmd=fullinit-response;rc=0;rank=1;size=3;", "cmd=job-getid-response;rc=0;"},
    };
    for (size_t i = 0; i < GW_ARRAY_LEN(odd); i++) CHECK_EQ(pmi2_join(pmi2_yes, odd[i], odd[i][1] ? 2 : 1), GW_EUNSUPPORTED);
    char text[128];
    static const char *const lengths[] = {"     0", "     x", "-00001", "999999", "  "};
    for (size_t i = 0; i < GW_ARRAY_LEN(lengths); i++) {
        snprintf(text, sizeof text, "%s%scmd=", pmi2_yes, lengths[i]);
        CHECK_EQ(pmi2_join(text, NULL, 0), GW_EUNSUPPORTED);
    }
    return 0;
}

/* ---- who shares a node ---- */
static void expect_locals(const char *mapping, int size, int rank, const char *expected)
{
    char text[256] = "";
    int n = 0, *ranks = boot_mapping_locals(mapping, size, rank, &n);
    for (int i = 0; ranks && i < n; i++) snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d", i ? " " : "", ranks[i]);
    CHECK_STR(ranks ? text : "none", expected);
    free(ranks);
}

static void test_mapping(void)
{
    expect_locals("(vector,(0,1,4))", 4, 2, "0 1 2 3");
    expect_locals("(vector,(0,2,2))", 4, 2, "2 3");
    expect_locals("(vector,(0,2,1))", 6, 3, "1 3 5"); /* the list starts again */
    expect_locals("(vector,(0,1,2),(1,1,1),(0,1,1))", 4, 3, "0 1 3");
    expect_locals("(vector, (0,1,2), (1,1,2))", 4, 1, "0 1");
    expect_locals("(vector)", 4, 0, "none");
    expect_locals("", 4, 0, "none");
    expect_locals("(vector,(0,0,0))", 4, 0, "none");
    expect_locals("(vector,(0,1,x))", 4, 0, "none");
    expect_locals("(vector,(0,2147483647,0))", 4, 0, "none"); /* at once */
    expect_locals("(vector,(2147483647,2,1))", 4, 0, "none");
    expect_locals("(vector,(-4,4,1))", 4, 0, "none");
    expect_locals("(vector,(0,-1,1),(0,1,4))", 4, 0, "none");
    expect_locals("(vector,(2147483000,647,1))", 4, 3, "3");
}

int main(void)
{
    static const char *const ours[] = {"GODWIT_BOOT",    "GODWIT_VNODES",   "GODWIT_SINGLETON",    "PMI_FD", "PMI_RANK", "PMI_SIZE",
                                       "PMIX_NAMESPACE", "MPI_LOCALNRANKS", "OMPI_COMM_WORLD_SIZE"};
    for (size_t i = 0; i < GW_ARRAY_LEN(ours); i++) unsetenv(ours[i]);
    test_mapping();
    test_alone();
    EXPECT_CHILD(far_too_much, 1, "leaves");
    EXPECT_CHILD(far_too_much_seldom, 1, "leaves");
    EXPECT_CHILD(far_too_much_pooled, 1, "it was mapped. ");
    EXPECT_CHILD(far_too_much_pooled, 1, "leaves");
    EXPECT_CHILD(file_limit, 1, "ulimit -f");
    test_godwit();
    test_vnodes();
    test_vnode_ranks();
    test_pmi1(true);
    test_pmi1(false);
    pmi_hides_pid = true;
    test_pmi1(true);
    for (int i = 0; i < SILENT; i++) close(silent[i]);
    EXPECT_CHILD(pmi_odd_values, 0, "");
    EXPECT_CHILD(pmi_bad_servers, 0, "");
    EXPECT_CHILD(pmi2_good, 0, "");
    EXPECT_CHILD(pmi2_bad, 0, "");
    return unit_end();
}
