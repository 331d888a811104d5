/* alive_test.c -- a host that answers, by a refusal or by taking the connection, is heard; one that never did is never called silent;
 * time in which nobody asked is no silence; a socket whose other end is closed is seen, also by a rank that waits for others to map its segment.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot/boot_private.h"
#include "base/time.h"
#include "boot/alive.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../test/fake_pmi.h"
#include "../../test/unit.h"

static struct boot_ask asking(const char *address)
{
    struct boot_ask a;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(1)};
    CHECK_EQ(inet_pton(AF_INET, address, &at.sin_addr), 1);
    boot_ask_begin(&a, (struct sockaddr *)&at, sizeof at);
    CHECK_EQ(ntohs(((struct sockaddr_in *)a.at)->sin_port), 9);
    return a;
}

/* A port of this host where probes get no answer: the listener's queue is full. */
struct deaf {
    int door, full[2];
    in_port_t port;
};
static struct deaf deaf_begin(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    struct deaf d = {.door = socket(AF_INET, SOCK_STREAM, 0)};
    CHECK(bind(d.door, (struct sockaddr *)&at, len) == 0 && listen(d.door, 0) == 0 &&
          getsockname(d.door, (struct sockaddr *)&at, &len) == 0);
    for (int i = 0; i < 2; i++) {
        d.full[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        connect(d.full[i], (struct sockaddr *)&at, len);
    }
    d.port = at.sin_port;
    return d;
}
static void deaf_end(struct deaf *d)
{
    for (int i = 0; i < 2; i++) close(d->full[i]);
    close(d->door);
}

static void until_heard(struct boot_ask *a)
{
    boot_ask_step(a, 0);
    for (int i = 0; i < 1000 && a->fd >= 0; i++) {
        boot_ask_step(a, 1000);
        usleep(1000);
    }
    CHECK(a->ever && !a->unheard_ns);
}

/* Silence lasts from the first to the last probe in a row without an answer: neither the time since the last answer counts, in which nobody
 * asked, nor a probe that is under way, nor time in which nobody looked. */
static void heard(void)
{
    struct boot_ask a = asking("127.0.0.1");
    struct deaf d = deaf_begin();
    until_heard(&a);
    usleep(20000);
    CHECK(boot_ask_step(&a, 1000) == 0);
    in_port_t closed = ((struct sockaddr_in *)a.at)->sin_port;
    ((struct sockaddr_in *)a.at)->sin_port = d.port;
    CHECK(boot_ask_step(&a, 0) == 0 && a.fd >= 0);
    a.asked_ns -= UINT64_C(60000000000);
    a.unheard_ns -= UINT64_C(60000000000);
    CHECK(boot_ask_step(&a, 1000) == 0 && a.failed_ns && a.fd >= 0); /* the second follows */
    a.asked_ns -= UINT64_C(5000000000);
    double silent = boot_ask_step(&a, 1000);
    CHECK(silent > 50 && silent < 60);
    a.stepped_ns -= UINT64_C(60000000000); /* as if we had been stopped for a minute */
    CHECK(boot_ask_step(&a, 1000) < 30);
    boot_ask_end(&a);
    ((struct sockaddr_in *)a.at)->sin_port = closed;
    until_heard(&a);
    CHECK(boot_ask_step(&a, 1000) == 0);
    boot_ask_end(&a);
    CHECK_EQ(a.fd, -1);
    deaf_end(&d);
}

/* No way there: never silent where nobody said that this counts, and from the first such answer on where somebody did. */
static void no_way(void)
{
    struct boot_ask a = asking("127.0.0.1"), plain = a;
    a.from_start = true;
    a.no_way_ns = gw_now_ns() - 2000000000;
    plain.no_way_ns = a.no_way_ns;
    a.asked_ns = plain.asked_ns = gw_now_ns();
    CHECK(boot_ask_step(&a, 1000) >= 2 && boot_ask_step(&plain, 1000) == 0);
    for (int i = 0; i < 1000 && !a.ever; i++) {
        boot_ask_step(&a, 0);
        usleep(1000);
    }
    CHECK(a.ever && boot_ask_step(&a, 1000) < 2); /* it answers: heard, not unreachable */
    boot_ask_end(&a);
    boot_ask_end(&plain);
}

/* A probe that nobody answers ends what an earlier one heard of no way. */
static void way_again(void)
{
    struct boot_ask a = asking("127.0.0.1");
    struct deaf d = deaf_begin();
    ((struct sockaddr_in *)a.at)->sin_port = d.port;
    a.from_start = true;
    a.no_way_ns = gw_now_ns() - 60000000000;
    CHECK(boot_ask_step(&a, 0) >= 59 && a.fd >= 0);
    CHECK(boot_ask_step(&a, 1000) >= 59 && a.fd >= 0);
    a.asked_ns -= 5000000000;
    CHECK(boot_ask_step(&a, 1000) == 0 && a.fd < 0 && !a.ever);
    boot_ask_end(&a);
    deaf_end(&d);
}

static void never_heard(void)
{
    struct boot_ask a;
    struct sockaddr_in6 at = {.sin6_family = AF_INET6};
    CHECK_EQ(inet_pton(AF_INET6, "100::1", &at.sin6_addr), 1); /* of the block that leads nowhere */
    boot_ask_begin(&a, (struct sockaddr *)&at, sizeof at);
    for (int i = 0; i < 5; i++) {
        CHECK(boot_ask_step(&a, 0) == 0);
        usleep(1000);
    }
    CHECK(!a.ever);
    boot_ask_end(&a);
}

static void sockets(void)
{
    int s[2];
    char c = 'x';
    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, s), 0);
    CHECK(!boot_socket_is_lost(s[0]));
    CHECK_EQ(write(s[1], &c, 1), 1);
    CHECK(!boot_socket_is_lost(s[0]));
    CHECK_EQ(read(s[0], &c, 1), 1); /* it had only been looked at */
    close(s[1]);
    CHECK(boot_socket_is_lost(s[0]));
    close(s[0]);
    CHECK(!boot_socket_is_lost(-1));
}

/* ---- the PMI server ends while rank 0 of 2 waits for rank 1, which never comes ---- */
static void rank_begin(int fd)
{
    fake_pmi_rank(fd);
    if (boot_init() != GW_OK) _exit(90);
    boot_map_segment(1 << 20, 0);
    _exit(91); /* rank 1 is not there */
}

/* Answers one line; true: that was the barrier after which rank 0 waits. */
static bool serve(FILE *to, const char *line)
{
    bool is_barrier = strncmp(line, "cmd=barrier_in", 14) == 0;
    if (is_barrier) fprintf(to, "cmd=barrier_out\n");
    fake_pmi_answer(to, line, "(vector,(0,1,2))");
    return is_barrier;
}

static void server_gone(void)
{
    int s[2], said[2], status = 0;
    char line[2048], text[1024] = "";
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
    while (fgets(line, sizeof line, in) && !serve(out, line)) {}
    usleep(50000);
    fclose(in);
    fclose(out);
    for (int i = 0; i < 3000 && waitpid(pid, &status, WNOHANG) == 0; i++) {
        if (i == 2999) kill(pid, SIGKILL);
        usleep(10000);
    }
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    CHECK(read(said[0], text, sizeof text - 1) > 0 && strstr(text, "the connection to the launcher is gone"));
    close(said[0]);
}

int main(void)
{
    server_gone();
    heard();
    never_heard();
    no_way();
    way_again();
    sockets();
    return unit_end();
}
