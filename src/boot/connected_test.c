/* connected_test.c -- connections with jobs on other hosts: who lets go says so, and ends nobody; who ends without a word ends this process, which
 * names it; parents are met at an address.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot/boot_private.h"
#include "base/settings.h"
#include "boot/alive.h"
#include "boot/port.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../test/unit.h"

static void look(void)
{
    usleep(250000); /* it looks five times a second */
    boot_connected_step();
}

static int tie(uint64_t uid, const char *name)
{
    int ends[2];
    char text[BOOT_TIED_NAME] = "";
    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    snprintf(text, sizeof text, "%s", name);
    boot_connected_add(ends[0], uid, text);
    return ends[1];
}

static void let_go(void)
{
    uint64_t uid = 0;
    char word[4];
    int one = tie(7, "one"), two = tie(8, "two"), also = tie(7, "one again");
    CHECK_EQ(boot_connected_n, 3);
    CHECK(boot_connected_at(1, &uid) && uid == 8 && !boot_connected_at(3, &uid));
    CHECK_EQ(send(two, "xx", 2, 0), 2); /* nothing that we know */
    look();
    look();
    look();
    CHECK_EQ(boot_connected_n, 3);
    boot_connected_part(7);
    CHECK_EQ(boot_connected_n, 1);
    CHECK(recv(one, word, sizeof word, 0) == 1 && recv(one, word, sizeof word, 0) == 0);
    CHECK(recv(also, word, sizeof word, 0) == 1 && recv(also, word, sizeof word, 0) == 0);
    CHECK_EQ(send(two, word, 1, 0), 1); /* what we say ourselves, and the end behind it */
    close(two);
    look();
    CHECK_EQ(boot_connected_n, 0);
    look();
    tie(9, "nine");
    boot_connected_part(0);
    CHECK_EQ(boot_connected_n, 0);
    close(one);
    close(also);
}

/* In a child: what it says, and its status. */
static int status_of(void (*fn)(void), char *said_out, size_t cap)
{
    int p[2], status;
    size_t n = 0;
    ssize_t got;
    CHECK_EQ(pipe(p), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(p[1], STDERR_FILENO);
        fn();
        _exit(0);
    }
    close(p[1]);
    while (n + 1 < cap && (got = read(p[0], said_out + n, cap - 1 - n)) > 0) n += (size_t)got;
    said_out[n] = 0;
    close(p[0]);
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void is_tied(void)
{
    int other = tie(7, "bad\x1b[2Jjob");
    look();
    close(other);
    look();
}

static void ends(void)
{
    char said[1024];
    CHECK_EQ(status_of(is_tied, said, sizeof said), 1);
    CHECK(strstr(said, "the job bad?[2Jjob, with which this one is connected, has failed; this job ends now") != NULL);
}

static void names_this_job(void)
{
    char name[BOOT_TIED_NAME], want[64];
    memset(name, 'x', sizeof name);
    gw_boot.size = 3;
    gw_boot.rank = 1;
    snprintf(gw_boot.host, sizeof gw_boot.host, "n1");
    boot_connected_name(name);
    snprintf(want, sizeof want, " (3 ranks; rank 1 is process %d on n1)", (int)getpid());
    CHECK(strstr(name, want) != NULL && name[BOOT_TIED_NAME - 1] == 0);
}

/* As a child on another host does: nobody of this one listens under the port's name. */
static void parent_by_network(void)
{
    struct sockaddr_storage at;
    struct boot_port p, other;
    struct boot_gate g;
    char text[BOOT_PORT_TEXT + 1 + BOOT_ADDRESS_TEXT];
    CHECK(boot_address_parse("127.0.0.1:9", &at));
    ((struct sockaddr_in *)&at)->sin_port = 0;
    CHECK_EQ(boot_port_make(&p), GW_OK);
    CHECK_EQ(boot_port_make(&other), GW_OK);
    CHECK_EQ(boot_gate_open(&g, &p), 0);
    CHECK_EQ(boot_gate_open_far(&g, &at), 0);
    other.secret = p.secret;
    boot_port_text(&other, text);
    CHECK(boot_place_parse(text, &gw_boot.parent, &at) && at.ss_family == 0);
    setenv(BOOT_PARENT, text, 1);
    gw_boot.parent_is_far = true;
    CHECK(boot_parent_connect(100) == -1 && errno == ECONNREFUSED);
    socklen_t bytes = sizeof at;
    CHECK_EQ(getsockname(g.far, (struct sockaddr *)&at, &bytes), 0);
    strcat(text, "@");
    boot_address_text(&at, text + strlen(text));
    CHECK(boot_place_parse(text, &gw_boot.parent, NULL));
    setenv(BOOT_PARENT, text, 1);
    int fd = boot_parent_connect(5000), in = -1;
    CHECK(fd >= 0);
    for (int i = 0; i < 200 && in < 0; i++) {
        in = boot_gate_accept(&g);
        if (in < 0) poll(&(struct pollfd){g.fd, POLLIN, 0}, 1, 100);
    }
    CHECK(in >= 0);
    strcat(text, "0");
    text[BOOT_PORT_TEXT - 1] = '#';
    CHECK(!boot_place_parse(text, &p, NULL));
    unsetenv(BOOT_PARENT);
    close(fd);
    close(in);
    boot_gate_close(&g);
}

int main(void)
{
    gw_settings_load();
    names_this_job();
    let_go();
    ends();
    parent_by_network();
    return unit_end();
}
