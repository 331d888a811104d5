/* boot_test.c -- the ways in but PMI (pmi_test.c) and PMIx (test/mpi has that): each case in processes of its own, since boot happens once.
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

#include "../../test/unit_child.h"

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

/* Another launcher's variable makes it another launcher's process; one that a wrapper has taken away does not. */
static void test_mark(void)
{
    char mark[BOOT_ENV_MARK], none[BOOT_ENV_MARK];
    char *ours[] = {"A=1", "PMIX_NAMESPACE=godwit-7", "SLURM_STEP_ID=0", NULL},
         *nested[] = {"PMIX_NAMESPACE=prterun-9", "A=1", NULL}, *less[] = {"SLURM_STEP_ID=0", "A=2", NULL},
         *port[] = {"PMIX_NAMESPACE=godwit-7", "PMI_PORT=h:1", NULL}, *empty[] = {NULL};
    boot_env_mark(ours, mark);
    boot_env_mark(empty, none);
    CHECK_EQ(strlen(mark), BOOT_ENV_MARK - 1);
    CHECK(!boot_env_other(ours, mark) && !boot_env_other(less, mark) && !boot_env_other(empty, mark) &&
          !boot_env_other(empty, none));
    CHECK(boot_env_other(nested, mark) && boot_env_other(port, mark) && boot_env_other(ours, none) && boot_env_other(nested, none));
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

int main(void)
{
    unit_launchers_forget();
    test_alone();
    EXPECT_CHILD(far_too_much, 1, "leaves");
    EXPECT_CHILD(far_too_much_seldom, 1, "leaves");
    EXPECT_CHILD(far_too_much_pooled, 1, "it was mapped. ");
    EXPECT_CHILD(far_too_much_pooled, 1, "leaves");
    EXPECT_CHILD(file_limit, 1, "ulimit -f");
    test_godwit();
    test_mark();
    test_vnodes();
    test_vnode_ranks();
    return unit_end();
}
