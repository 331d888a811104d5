/* wait_test.c -- waits for a launcher that has an end: hosts that it has named or is connected to are known, and where there are none, time
 * ends MPI_Init.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot/boot_private.h"
#include "boot/alive.h"
#include "boot/kvs.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../test/fake_pmi.h"
#include "../../test/unit.h"

/* ---- lists of hosts ---- */
static char names[256];
static int names_most;

static bool note(void *to, const char *name, size_t n)
{
    int *count = to;
    size_t at = strlen(names);
    snprintf(names + at, sizeof names - at, "%.*s ", (int)n, name);
    return ++*count < names_most;
}

static const char *expanded(const char *list, int most)
{
    int count = 0;
    names[0] = 0;
    names_most = most;
    boot_hosts_expand(list, note, &count);
    return names;
}

static void lists(void)
{
    CHECK_STR(expanded("n1,n2.a.example", 99), "n1 n2.a.example ");
    CHECK_STR(expanded("n[1-3,07,10],m4,a-b[098-101]", 99), "n1 n2 n3 n07 n10 m4 a-b098 a-b099 a-b100 a-b101 ");
    CHECK_STR(expanded("n[1-1000000000]", 3), "n1 n2 n3 ");
    CHECK_STR(expanded("n[1-2],m1", 2), "n1 n2 ");
    CHECK_STR(expanded("n[x],[,n[3", 99), "");
    CHECK_STR(expanded("n[3,5", 99), "n3 n5 ");
    CHECK_STR(expanded("", 99), "");
}

/* ---- connections of the processes above ---- */
static bool own_address(struct sockaddr_in *out)
{
    struct ifaddrs *list = NULL;
    bool is_found = false;
    if (getifaddrs(&list) != 0) return false;
    for (struct ifaddrs *i = list; i && !is_found; i = i->ifa_next) {
        is_found = i->ifa_addr && i->ifa_addr->sa_family == AF_INET && (i->ifa_flags & IFF_UP) && !(i->ifa_flags & IFF_LOOPBACK);
        if (is_found) memcpy(out, i->ifa_addr, sizeof *out);
    }
    freeifaddrs(list);
    return is_found;
}

/* How many peers a child finds of a parent that is called so, and of that one's own name. */
static int found_below(const char *name, const struct sockaddr_in *at)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_NAME, name);
        pid_t below = fork();
        if (below == 0) {
            struct sockaddr_storage peers[8];
            int n = boot_launcher_peers(peers, 8), mine = 0;
            for (int i = 0; i < n; i++) mine += ((struct sockaddr_in *)&peers[i])->sin_addr.s_addr == at->sin_addr.s_addr;
            _exit(mine);
        }
        waitpid(below, &status, 0);
        _exit(WEXITSTATUS(status));
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void connections(void)
{
    struct sockaddr_in at;
    socklen_t len = sizeof at;
    if (!own_address(&at)) return; /* nothing but loopback here */
    at.sin_port = 0;
    int door = socket(AF_INET, SOCK_STREAM, 0), out = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(bind(door, (struct sockaddr *)&at, len) == 0 && listen(door, 1) == 0 &&
          getsockname(door, (struct sockaddr *)&at, &len) == 0);
    CHECK(connect(out, (struct sockaddr *)&at, len) == 0);
    CHECK(found_below("orted", &at) > 0);
    CHECK(found_below("hydra_pmi_proxy", &at) > 0);
    CHECK(found_below("mpirun.openmpi", &at) > 0);
    CHECK_EQ(found_below("mpirunner", &at), 0);
    CHECK_EQ(found_below("editor", &at), 0); /* whose connections are its own affair */
    close(out);
    close(door);
}

/* ---- a server of Hydra's kind, whose barrier has no end, because rank 1 on another host never comes ---- */
static void rank_begin(int fd)
{
    fake_pmi_rank(fd);
    setenv("GODWIT_INIT_TIMEOUT", "1", 1);
    unsetenv("SLURM_STEP_NODELIST");
    if (boot_init() != GW_OK) _exit(90);
    boot_fence();
    _exit(91);
}

static void nobody_comes(void)
{
    int s[2], said[2], status = 0;
    char line[2048], text[1024] = "", aborts = 0;
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s) == 0 && pipe(said) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(said[1], 2);
        close(s[1]);
        rank_begin(s[0]);
    }
    close(s[0]);
    close(said[1]);
    FILE *in = fdopen(s[1], "r"), *out = fdopen(dup(s[1]), "w");
    while (fgets(line, sizeof line, in)) {
        fake_pmi_answer(out, line, "(vector,(0,2,1))");
        aborts += strcmp(line, "cmd=abort exitcode=125\n") == 0;
    }
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 125);
    CHECK_EQ(aborts, 1);
    CHECK(read(said[0], text, sizeof text - 1) > 0 &&
          strstr(text, "MPI_Init has waited for ranks on other hosts for 1 s (GODWIT_INIT_TIMEOUT)"));
    close(said[0]);
    fclose(in);
    fclose(out);
}

int main(void)
{
    lists();
    connections();
    nobody_comes();
    return unit_end();
}
