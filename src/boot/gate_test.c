/* gate_test.c -- who shows the secret is let in; who does not keeps nobody waiting.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot/boot_private.h"
#include "base/time.h"
#include "boot/name.h"
#include "boot/port.h"
#include "boot/world.h"
#include "obj/consts_gen.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../test/unit.h"
#include "../../test/unit_mapped.h"

static void test_secrets(void)
{
    struct boot_secret a, b;
    CHECK_EQ(boot_secret_make(&a), GW_OK);
    CHECK_EQ(boot_secret_make(&b), GW_OK);
    CHECK(!boot_secret_equal(&a, &b));
    CHECK(a.word[0] && a.word[1] && a.word[0] != a.word[1]);
    b = a;
    CHECK(boot_secret_equal(&a, &b));
    for (int bit = 0; bit < 128; bit++) {
        b = a;
        b.word[bit / 64] ^= UINT64_C(1) << bit % 64;
        CHECK(!boot_secret_equal(&a, &b));
    }
}

static void test_text(void)
{
    struct boot_port p = {0x0123456789abcdef, {{0xfedcba9876543210, 7}}}, q = {0};
    char text[BOOT_PORT_TEXT];
    boot_port_text(&p, text);
    CHECK_STR(text, "0123456789abcdef:fedcba98765432100000000000000007");
    CHECK(boot_port_parse(text, &q));
    CHECK(q.name == p.name && boot_secret_equal(&q.secret, &p.secret));
    static const char *const wrong[] = {"",
                                        "0",
                                        "0123456789abcdef",
                                        "0123456789abcdef:",
                                        "0123456789abcdef:fedcba9876543210",
                                        "0123456789abcdef:fedcba987654321000000000000000070",
                                        "0123456789abcdef fedcba98765432100000000000000007",
                                        "0123456789abcdef:fedcba9876543210000000000000000",
                                        "0123456789ABCDEF:fedcba98765432100000000000000007",
                                        "-123456789abcdef:fedcba98765432100000000000000007",
                                        "0123456789abcdef:fedcba9876543210 000000000000007"};
    for (size_t i = 0; i < GW_ARRAY_LEN(wrong); i++) {
        q = (struct boot_port){0};
        CHECK(!boot_port_parse(wrong[i], &q));
        CHECK(!q.name && !q.secret.word[0] && !q.secret.word[1]);
    }
}

/* The next that is let in, within 20 s. */
static int let_in(struct boot_gate *g)
{
    for (int i = 0; i < 200; i++) {
        int s = boot_gate_accept(g);
        if (s >= 0) return s;
        CHECK_EQ(errno, EAGAIN);
        poll(&(struct pollfd){g->fd, POLLIN, 0}, 1, 100);
    }
    return -1;
}

/* A connection that says something else than the secret: `bytes` of it. */
static int half(const struct boot_port *p, const void *says, size_t bytes)
{
    char name[32];
    snprintf(name, sizeof name, "godwit-%016llx", (unsigned long long)p->name);
    int s = boot_named_connect(name);
    CHECK(s >= 0);
    CHECK_EQ(send(s, says, bytes, MSG_NOSIGNAL), (ssize_t)bytes);
    return s;
}

static bool is_closed(int s)
{
    char byte;
    return recv(s, &byte, 1, MSG_DONTWAIT) == 0 || (errno != EAGAIN && errno != EINTR);
}

static void passes(struct boot_gate *g, const struct boot_port *p)
{
    char word[6] = "";
    int out = boot_port_connect(p, 0), in = let_in(g);
    CHECK(out >= 0 && in >= 0);
    CHECK_EQ(boot_port_write(out, "hello", 6), 6);
    CHECK_EQ(boot_port_read(in, word, 6), 6); /* nothing of the secret is left, and nothing behind it is lost */
    CHECK_STR(word, "hello");
    close(out);
    close(in);
}

/* A second secret lets in, too, and its owner sees which it was; where none is said, zeros are none. */
static void test_lesser(void)
{
    struct boot_port p;
    struct boot_gate g;
    CHECK_EQ(boot_port_make(&p), GW_OK);
    CHECK_EQ(boot_gate_open(&g, &p), 0);
    struct boot_port less = {.name = p.name};
    int zeros = boot_port_connect(&less, 0), in = -1;
    passes(&g, &p);
    CHECK(is_closed(zeros) && !g.was_lesser);
    close(zeros);
    CHECK_EQ(boot_secret_make(&less.secret), GW_OK);
    g.lesser = less.secret;
    g.has_lesser = true;
    int out = boot_port_connect(&less, 0), carried[2];
    CHECK((in = let_in(&g)) >= 0 && g.was_lesser);
    CHECK_EQ(pipe(carried), 0);
    CHECK_EQ(boot_fd_send(in, carried[1]), 0);
    close(in);
    close(out);
    passes(&g, &p);
    CHECK(!g.was_lesser);
    boot_gate_close(&g);
    close(carried[0]);
    close(carried[1]);
}

/* No descriptor is free: the gate says so, does not stay readable, and lets in who waits as soon as there is one. */
static void test_full(void)
{
    struct boot_port p;
    struct boot_gate g;
    struct rlimit limit = {0}, full;
    CHECK_EQ(boot_port_make(&p), GW_OK);
    CHECK_EQ(boot_gate_open(&g, &p), 0);
    int out = boot_port_connect(&p, 0), next = dup(0);
    CHECK(out >= 0 && next >= 0 && getrlimit(RLIMIT_NOFILE, &limit) == 0);
    close(next);
    full = limit;
    full.rlim_cur = (rlim_t)next;
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &full), 0);
    CHECK_EQ(boot_gate_accept(&g), -1);
    CHECK_EQ(errno, EMFILE);
    CHECK(!g.is_stuck);
    CHECK_EQ(boot_gate_accept(&g), -1);
    CHECK_EQ(errno, EAGAIN); /* it rests */
    CHECK_EQ(poll(&(struct pollfd){g.fd, POLLIN, 0}, 1, 0), 0);
    CHECK_EQ(poll(&(struct pollfd){g.fd, POLLIN, 0}, 1, 10000), 1); /* the timer */
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    int in = let_in(&g);
    CHECK(in >= 0);
    close(in);
    close(out);
    passes(&g, &p);
    CHECK_EQ(boot_gate_accept(&g), -1);
    CHECK(errno == EAGAIN && !g.again_ns);
    boot_gate_close(&g);
}

/* As if the gate had failed to accept for long, and now were to try again. */
static int accept_after_long(struct boot_gate *g)
{
    uint64_t now = gw_now_ns(), long_ago = now - UINT64_C(20000000000);
    g->retry = (struct gw_retry){long_ago, now};
    g->again_ns = g->again_ns ? 1 : 0;
    return boot_gate_accept(g);
}

/* No descriptor is free, and strangers wait: they are seen to be strangers, one by one, and end nothing; one of ours does. */
static void test_full_of_strangers(void)
{
    struct boot_port p;
    struct boot_gate g;
    struct rlimit limit = {0}, full;
    int before = unit_descriptors();
    CHECK_EQ(boot_port_make(&p), GW_OK);
    CHECK_EQ(boot_gate_open(&g, &p), 0);
    struct boot_secret wrong = p.secret;
    wrong.word[0] ^= 1;
    int bad[2] = {half(&p, &wrong, sizeof wrong), half(&p, &wrong, sizeof wrong)}, silent[2] = {half(&p, "", 0), half(&p, "", 0)};
    int ours = boot_port_connect(&p, 0), next = dup(0);
    CHECK(ours >= 0 && next >= 0 && getrlimit(RLIMIT_NOFILE, &limit) == 0);
    close(next);
    full = limit;
    full.rlim_cur = (rlim_t)next;
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &full), 0);
    CHECK_EQ(accept_after_long(&g), -1);
    CHECK(errno == EMFILE && !g.is_stuck && g.n == 1 &&
          g.n_refused == 2); /* both that lie are gone, one that says nothing is waited for */
    CHECK(is_closed(bad[0]) && is_closed(bad[1]) && !is_closed(silent[0]));
    CHECK_EQ(accept_after_long(&g), -1);
    CHECK(errno == EMFILE && !g.is_stuck);
    shutdown(silent[0], SHUT_RDWR);
    CHECK_EQ(accept_after_long(&g), -1);
    CHECK(errno == EMFILE && !g.is_stuck && g.n_refused == 3 && !is_closed(silent[1]));
    shutdown(silent[1], SHUT_RDWR);
    g.again_ns = 1;
    CHECK_EQ(boot_gate_accept(&g), -1); /* ours is seen, and there is no descriptor for the next after it */
    CHECK(errno == EMFILE && !g.is_stuck && g.n == 1 && !is_closed(ours));
    CHECK_EQ(accept_after_long(&g), -1);
    CHECK(errno == EMFILE && g.is_stuck);
    g.is_stuck = false;
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    int in = let_in(&g);
    CHECK(in >= 0 && !is_closed(ours));
    close(in);
    close(ours);
    for (int i = 0; i < 2; i++) close(bad[i]), close(silent[i]);
    passes(&g, &p);
    boot_gate_close(&g);
    CHECK_EQ(unit_descriptors(), before);
}

static void test_gate(void)
{
    enum { MANY = 60 };
    struct boot_port p;
    struct boot_gate g;
    int silent[MANY], before = unit_descriptors();
    CHECK_EQ(boot_port_make(&p), GW_OK);
    CHECK_EQ(boot_gate_open(&g, &p), 0);
    CHECK(boot_gate_accept(&g) == -1 && errno == EAGAIN);
    passes(&g, &p);
    /* A wrong secret, of any length, and a right one that comes in two pieces with another between them. */
    struct boot_secret wrong = p.secret;
    wrong.word[1] ^= 1;
    int bad = half(&p, &wrong, sizeof wrong), slow = half(&p, &p.secret, 5);
    passes(&g, &p);
    CHECK(is_closed(bad) && !is_closed(slow));
    CHECK_EQ(send(slow, (char *)&p.secret + 5, sizeof p.secret - 5, MSG_NOSIGNAL), (ssize_t)(sizeof p.secret - 5));
    int in = let_in(&g);
    CHECK(in >= 0 && !is_closed(slow));
    close(in);
    close(slow);
    close(bad);
    /* Those who say nothing, or too little: their number here is bounded, they hold nobody up, and they go. */
    for (int i = 0; i < MANY; i++) silent[i] = half(&p, &p.secret, (size_t)i % sizeof p.secret);
    passes(&g, &p);
    CHECK(unit_descriptors() <= before + MANY + BOOT_GATE_HALF + 3);
    passes(&g, &p);
    int open = MANY;
    for (int tries = 0; open && tries < 200; tries++) {
        poll(&(struct pollfd){g.fd, POLLIN, 0}, 1, 100);
        CHECK(boot_gate_accept(&g) == -1 && errno == EAGAIN);
        open = 0;
        for (int i = 0; i < MANY; i++) open += !is_closed(silent[i]);
    }
    CHECK_EQ(open, 0);
    passes(&g, &p);
    /* Who had shown only a part when its owner last looked, and the rest in time, is not late. */
    slow = half(&p, &p.secret, 5);
    CHECK(boot_gate_accept(&g) == -1 && errno == EAGAIN);
    CHECK_EQ(send(slow, (char *)&p.secret + 5, sizeof p.secret - 5, MSG_NOSIGNAL), (ssize_t)(sizeof p.secret - 5));
    usleep(3200000);
    in = boot_gate_accept(&g);
    CHECK(in >= 0 && !is_closed(slow));
    close(in);
    close(slow);
    for (int i = 0; i < MANY; i++) close(silent[i]);
    boot_gate_close(&g);
    CHECK_EQ(unit_descriptors(), before);
    CHECK(boot_port_connect(&p, 0) == -1 && errno == ECONNREFUSED);
}

/* Over TCP, as from other hosts. */
static void test_far(bool is_only)
{
    static const char *const wrong[] = {"",
                                        "127.0.0.1",
                                        "127.0.0.1:",
                                        "127.0.0.1:0",
                                        "127.0.0.1:65536",
                                        "127.0.0.1:80 ",
                                        "127.0.0.1:080",
                                        "[::1:80",
                                        "1:80",
                                        "::1:80",
                                        "192.0.2:7",
                                        "[::::]:7",
                                        "192.0.2.1:-7",
                                        "192.0.2.1: 7",
                                        "192.0.2.1:+7",
                                        "[0::1]:7",
                                        "[127.0.0.1]:7",
                                        "192.0.2.01:7",
                                        " 192.0.2.1:7",
                                        "[2001:DB8::2]:7",
                                        "[fe80::1%lo]:7",
                                        "192.0.2.1:7\n",
                                        "[1111:2222:3333:4444:5555:6666:7777:8888:9999]:7"};
    struct sockaddr_storage at, again;
    struct boot_port p;
    struct boot_gate g;
    char text[BOOT_ADDRESS_TEXT], word[6] = "";
    int before = unit_descriptors();
    for (size_t i = 0; i < GW_ARRAY_LEN(wrong); i++) CHECK(!boot_address_parse(wrong[i], &at));
    CHECK(boot_address_parse("[2001:db8::2]:4000", &at));
    boot_address_text(&at, text);
    CHECK_STR(text, "[2001:db8::2]:4000");
    CHECK(boot_address_parse("127.0.0.1:9", &at));
    ((struct sockaddr_in *)&at)->sin_port = 0;
    CHECK_EQ(boot_port_make(&p), GW_OK);
    if (is_only) {
        CHECK_EQ(boot_gate_open_far_only(&g, &p.secret, &at), 0);
        CHECK_EQ(g.listener, -1);
    } else {
        CHECK_EQ(boot_gate_open(&g, &p), 0);
        CHECK_EQ(boot_gate_open_far(&g, &at), 0);
    }
    boot_address_text(&at, text);
    CHECK(boot_address_parse(text, &again) && memcmp(&at, &again, sizeof(struct sockaddr_in)) == 0);
    struct boot_secret bad = p.secret;
    bad.word[0] ^= 1;
    int stranger = boot_far_connect(&at), friend = boot_far_connect(&at);
    CHECK(stranger >= 0 && friend >= 0);
    CHECK_EQ(poll(&(struct pollfd){stranger, POLLOUT, 0}, 1, 20000), 1);
    CHECK_EQ(poll(&(struct pollfd){friend, POLLOUT, 0}, 1, 20000), 1);
    CHECK_EQ(boot_port_write(stranger, &bad, sizeof bad), (int64_t)sizeof bad);
    CHECK_EQ(boot_port_write(friend, &p.secret, sizeof p.secret), (int64_t)sizeof p.secret);
    CHECK_EQ(boot_port_write(friend, "hello", 6), 6);
    int in = let_in(&g);
    CHECK(in >= 0);
    CHECK_EQ(poll(&(struct pollfd){in, POLLIN, 0}, 1, 20000), 1);
    CHECK_EQ(boot_port_read(in, word, 6), 6);
    CHECK_STR(word, "hello");
    for (int i = 0; i < 200 && !is_closed(stranger); i++) {
        CHECK(boot_gate_accept(&g) == -1 && errno == EAGAIN);
        poll(&(struct pollfd){g.fd, POLLIN, 0}, 1, 100);
    }
    CHECK(is_closed(stranger) && !is_closed(friend));
    CHECK_EQ(g.n_refused, 1);
    if (!is_only) passes(&g, &p); /* from this host as ever */
    close(in);
    close(friend);
    close(stranger);
    boot_gate_close(&g);
    CHECK_EQ(unit_descriptors(), before);
    CHECK(boot_host_id() == boot_host_id() && boot_host_id() != 0);
}

static void test_names(void)
{
    char service[64], port[GW_MAX_PORT_NAME] = "", line[512], key[64];
    int a[2], b[2], before = unit_descriptors();
    snprintf(service, sizeof service, "gate_test %d", (int)getpid());
    CHECK(!boot_name_lookup(service, port, sizeof port));
    CHECK_EQ(boot_name_publish(service, "the-port-of-it", a), 0);
    CHECK(boot_name_lookup(service, port, sizeof port));
    CHECK_STR(port, "the-port-of-it");
    CHECK(boot_name_publish(service, "another", b) == -1 && errno == EADDRINUSE);
    strcat(service, "b");
    CHECK(!boot_name_lookup(service, port, sizeof port));
    CHECK_EQ(boot_name_publish(service, "b", b), 0);
    CHECK(boot_name_lookup(service, port, sizeof port));
    CHECK_STR(port, "b");
    /* What everybody sees. */
    FILE *f = fopen("/proc/net/unix", "re");
    int seen = 0;
    snprintf(key, sizeof key, "-%d-%d-", (int)getpid(), a[1]);
    while (f && fgets(line, sizeof line, f)) {
        seen += strstr(line, key) != NULL;
        CHECK(!strstr(line, "gate_test") && !strstr(line, "the-port-of-it"));
    }
    if (f) fclose(f);
    CHECK_EQ(seen, 1);
    for (int i = 0; i < 2; i++) {
        close(a[i]);
        close(b[i]);
    }
    CHECK(!boot_name_lookup(service, port, sizeof port));
    CHECK_EQ(unit_descriptors(), before);
    CHECK(boot_name_fits("godwit:1") && !boot_name_fits("") && !boot_name_fits("a b") && !boot_name_fits("a\n"));
}

/* A process of `user` in a user namespace that knows nobody, where all users have number 65534, connects to one of `listener`: 0, or why not;
 * -1: there are no such namespaces here. */
static int connect_as(uid_t user, uid_t listener)
{
    enum { NONE_HERE = 255 };
    struct boot_port port;
    struct boot_gate gate;
    int ready[2], status = -1;
    char byte;
    CHECK_EQ(boot_port_make(&port), GW_OK);
    CHECK_EQ(pipe(ready), 0);
    pid_t listens = fork();
    if (listens == 0) {
        if (setresuid(listener, listener, listener) || boot_gate_open(&gate, &port) || write(ready[1], "r", 1) < 0) _exit(1);
        for (;;) pause();
    }
    CHECK_EQ(read(ready[0], &byte, 1), 1);
    pid_t connects = fork();
    if (connects == 0) {
        if (setresuid(user, user, user) || unshare(CLONE_NEWUSER)) _exit(NONE_HERE);
        _exit(boot_port_connect(&port, 0) >= 0 ? 0 : errno);
    }
    CHECK_EQ(waitpid(connects, &status, 0), connects);
    kill(listens, SIGKILL);
    CHECK_EQ(waitpid(listens, NULL, 0), listens);
    close(ready[0]);
    close(ready[1]);
    CHECK(WIFEXITED(status));
    return WEXITSTATUS(status) == NONE_HERE ? -1 : WEXITSTATUS(status);
}

/* The secret goes to a process of this user, of which the kernel shows no number of its own, and to nobody else's. */
static void test_users(void)
{
    int own;
    if (geteuid() != 0 || (own = connect_as(1000, 1000)) < 0) return;
    CHECK_EQ(own, 0);
    CHECK_EQ(connect_as(1000, 1001), EKEYREJECTED);
    CHECK_EQ(connect_as(1000, 0), EKEYREJECTED);
    CHECK_EQ(connect_as(65534, 65534), 0);
    CHECK_EQ(connect_as(65534, 65533), EKEYREJECTED);
    CHECK(strstr(boot_port_why(EKEYREJECTED), "65534") && strstr(boot_port_why(EACCES), "another user"));
}

int main(void)
{
    test_secrets();
    test_text();
    test_gate();
    test_lesser();
    test_full();
    test_full_of_strangers();
    test_far(false);
    test_far(true);
    test_names();
    test_users();
    return unit_end();
}
