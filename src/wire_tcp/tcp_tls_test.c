/* tcp_tls_test.c -- TLS under a connection, with a relay between the ends that sees, and may damage, what goes over the network.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_tcp/tcp_tls.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../test/unit.h"

enum { BYTES = 2 << 20, SEEN_MOST = 4 << 20 };
static const char marker[] = "what nobody else may read";

/* The network: what one end sends is read at `from`, noted, and sent on. */
static struct relay {
    pthread_t thread;
    int from[2];    /* of the client's side, of the server's */
    long damage_at; /* the byte of the client's that is changed; -1: none */
    char *seen;
    _Atomic size_t n_seen; /* bytes of `seen` that are written */
    atomic_bool is_over;
} relay;

static void pass_on(int way)
{
    static char some[8192];
    ssize_t n = recv(relay.from[way], some, sizeof some, MSG_DONTWAIT);
    if (n == 0) shutdown(relay.from[!way], SHUT_WR);
    if (n <= 0) return;
    if (way == 0) {
        size_t before = atomic_load(&relay.n_seen);
        long at = relay.damage_at - (long)before;
        if (relay.damage_at >= 0 && at >= 0 && at < n) some[at] ^= 1;
        memcpy(relay.seen + before, some, (size_t)n);
        atomic_store(&relay.n_seen, before + (size_t)n);
    }
    for (ssize_t at = 0, k; at < n; at += k)
        if ((k = send(relay.from[!way], some + at, (size_t)(n - at), MSG_NOSIGNAL)) <= 0) return;
}
static void *relay_run(void *unused)
{
    while (!atomic_load(&relay.is_over)) {
        struct pollfd p[2] = {{.fd = relay.from[0], .events = POLLIN}, {.fd = relay.from[1], .events = POLLIN}};
        poll(p, 2, 5);
        for (int i = 0; i < 2; i++)
            if (p[i].revents) pass_on(i);
    }
    return unused;
}

/* Ends of the wires: [0] of who has connected, [1] of who has accepted. */
static void begin(int app[2], const struct tcp_tls_key keys[2], long damage_at)
{
    relay.damage_at = damage_at;
    atomic_store(&relay.n_seen, 0);
    relay.seen = malloc(SEEN_MOST);
    atomic_store(&relay.is_over, false);
    CHECK_EQ(tcp_tls_open(), GW_OK);
    for (int i = 0; i < 2; i++) {
        int pair[2];
        CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
        fcntl(pair[0], F_SETFL, O_NONBLOCK);
        relay.from[i] = pair[1];
        app[i] = tcp_tls_wrap(pair[0], i == 1, &keys[i]);
        CHECK(app[i] >= 0);
    }
    pthread_create(&relay.thread, NULL, relay_run, NULL);
}
static void end(void)
{
    tcp_tls_close();
    atomic_store(&relay.is_over, true);
    pthread_join(relay.thread, NULL);
    close(relay.from[0]);
    close(relay.from[1]);
    free(relay.seen);
}

static char byte_at(size_t i) { return i >= 100 && i < 100 + sizeof marker ? marker[i - 100] : (char)(i * 7 + (i >> 12)); }
static size_t write_more(int fd, size_t at, size_t most)
{
    char some[5000];
    size_t n = most - at < sizeof some ? most - at : sizeof some;
    for (size_t i = 0; i < n; i++) some[i] = byte_at(at + i);
    ssize_t k = send(fd, some, n, MSG_NOSIGNAL | MSG_DONTWAIT);
    return k > 0 ? at + (size_t)k : at;
}
/* Reads; *is_over_out: the end has come. */
static size_t read_more(int fd, size_t at, bool *is_over_out)
{
    char some[5000];
    ssize_t n = recv(fd, some, sizeof some, MSG_DONTWAIT);
    *is_over_out = n == 0 || (n < 0 && errno != EAGAIN);
    for (ssize_t i = 0; i < n; i++) CHECK_EQ(some[i], byte_at(at + (size_t)i));
    if (n < 0) poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 5);
    return n > 0 ? at + (size_t)n : at;
}

static const struct tcp_tls_key right[2] = {{{1, 2, 3, 4}}, {{1, 2, 3, 4}}}, wrong[2] = {{{1, 2, 3, 4}}, {{1, 2, 3, 5}}};

/* All arrives as it was, and the network sees none of it. */
static void carries(void)
{
    int app[2];
    size_t out = 0, in = 0;
    bool is_over = false;
    char answer = 0;
    begin(app, right, -1);
    while (in < BYTES && !is_over) {
        if (out < BYTES) out = write_more(app[0], out, BYTES);
        in = read_more(app[1], in, &is_over);
    }
    CHECK_EQ(in, BYTES);
    CHECK_EQ(send(app[1], "y", 1, 0), 1);
    while (recv(app[0], &answer, 1, 0) < 0 && errno == EAGAIN) usleep(1000);
    CHECK_EQ(answer, 'y');
    size_t n_seen = atomic_load(&relay.n_seen);
    CHECK(n_seen > BYTES && !memmem(relay.seen, n_seen, marker, sizeof marker - 1));
    close(app[0]); /* what one end closes ends at the other */
    while (!is_over) in = read_more(app[1], in, &is_over);
    close(app[1]);
    end();
}

/* Who has another key gets nothing, and both ends see a connection that has ended. */
static void refuses(void)
{
    int app[2];
    bool is_over[2] = {false, false};
    begin(app, wrong, -1);
    write_more(app[0], 0, BYTES);
    while (!is_over[0] || !is_over[1])
        for (int i = 0; i < 2; i++)
            if (!is_over[i]) CHECK_EQ(read_more(app[i], 0, &is_over[i]), 0);
    close(app[0]);
    close(app[1]);
    end();
}

/* A byte that is changed on the way ends the connection: what came before it is right, and nothing comes after it. */
static void notices_damage(void)
{
    int app[2];
    size_t out = 0, in = 0;
    bool is_over = false;
    begin(app, right, 500000);
    while (!is_over) {
        if (out < BYTES) out = write_more(app[0], out, BYTES);
        in = read_more(app[1], in, &is_over);
    }
    CHECK(in < 500000);
    close(app[0]);
    close(app[1]);
    end();
}

/* Who does not speak TLS at all. */
static void strangers(void)
{
    int app[2];
    bool is_over = false;
    begin(app, right, 0);
    while (!is_over) CHECK_EQ(read_more(app[1], 0, &is_over), 0);
    close(app[0]);
    close(app[1]);
    end();
}

/* The process ends right after it has written: all of it is on its way. */
static void last_words(void)
{
    enum { WORDS = 100000 };
    int app[2];
    size_t out = 0, in = 0;
    bool is_over = false;
    begin(app, right, -1);
    while (out < 1) out = write_more(app[0], out, 1);
    while (in < 1) in = read_more(app[1], in, &is_over);
    while (out < WORDS) out = write_more(app[0], out, WORDS);
    close(app[0]);
    while (in < WORDS && !is_over) in = read_more(app[1], in, &is_over);
    CHECK_EQ(in, WORDS);
    close(app[1]);
    end();
}

int main(void)
{
    alarm(60);
    carries();
    refuses();
    notices_damage();
    strangers();
    last_words();
    return unit_end();
}
