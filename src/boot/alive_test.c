/* alive_test.c -- a host that answers, by a refusal or by taking the connection, is heard; one that never did is never called silent;
 * time in which nobody asked is no silence; a socket whose other end is closed is seen.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot/boot_private.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

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

static void heard(void)
{
    struct boot_ask a = asking("127.0.0.1");
    CHECK(boot_ask_step(&a, 0) == 0 || a.ever);
    for (int i = 0; i < 1000 && !a.ever; i++) {
        usleep(1000);
        boot_ask_step(&a, 0);
    }
    CHECK(a.ever);
    CHECK(boot_ask_step(&a, 1000) < 5);
    /* It says nothing more: silence grows, but not by the time in which nobody looked. */
    uint64_t then = a.heard_ns;
    usleep(20000);
    double silent = boot_ask_step(&a, 1000);
    CHECK(silent >= 0.02 && a.heard_ns == then);
    a.stepped_ns -= UINT64_C(60000000000); /* as if we had been stopped for a minute, */
    a.heard_ns -= UINT64_C(60000000000);   /* since it was heard last */
    CHECK(boot_ask_step(&a, 1000) < 30);
    boot_ask_end(&a);
    CHECK_EQ(a.fd, -1);
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

int main(void)
{
    heard();
    never_heard();
    sockets();
    return unit_end();
}
