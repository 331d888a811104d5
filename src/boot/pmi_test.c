/* pmi_test.c -- the ways in by PMI-1 and PMI-2, with servers that know what those of launchers know, forget it, or talk nonsense; and which
 * ranks share a node by the mapping that they give.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot/boot_private.h"
#include "base/lock.h"
#include "base/settings.h"
#include "boot/kvs.h"
#include "boot/world.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../test/unit_child.h"

/* ---- PMI-1: a server for two ranks that knows what hydra knows ---- */
static int pmi_fd[2], pmi_rank;
static bool pmi_tells_mapping;

/* Threads on different lanes look up peers at once. */
static void *asks_often(void *arg)
{
    const char *of_one = arg;
    char value[1100];
    for (int i = 0; i < 100; i++) {
        CHECK_EQ(boot_get(of_one ? 1 : 0, of_one ? "long" : "odd", value, sizeof value), GW_OK);
        CHECK_STR(value, of_one ? of_one : "");
    }
    return NULL;
}

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
    gw_threads = true;
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, asks_often, long_text), 0);
    asks_often(NULL);
    pthread_join(thread, NULL);
    gw_threads = false;
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
    unit_launchers_forget();
    test_mapping();
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
