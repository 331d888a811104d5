/* boot_gate.c -- access control: secrets, and listeners that accept only connections that show one.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot/boot_private.h"
#include "base/lock.h"
#include "base/time.h"
#include "boot/port.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum {
    BACKLOG = 4096,     /* the most that the kernel allows, so that strangers cannot fill it faster than the owner empties it */
    AT_ONCE = 256,      /* connections that one call looks at */
    PATIENCE_S = 3,     /* until the secret must have come */
    REST_NS = 50000000, /* between two tries to accept */
};

/* ---- secrets ---------------------------------------------------------------------------------------------------------- */
int boot_secret_make(struct boot_secret *out)
{
    struct boot_secret s;
    size_t done = 0;
    while (done < sizeof s) {
        ssize_t n = getrandom((char *)&s + done, sizeof s - done, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0)
            return gw_fail(GW_EOTHER, "the kernel gives no random numbers (getrandom: %s), and nothing else keeps strangers out",
                           strerror(errno));
        done += (size_t)n;
    }
    *out = s;
    return GW_OK;
}

bool boot_secret_equal(const struct boot_secret *a, const struct boot_secret *b)
{
    uint64_t differ = (a->word[0] ^ b->word[0]) | (a->word[1] ^ b->word[1]);
    return differ == 0;
}

int boot_port_make(struct boot_port *out)
{
    struct boot_port p = {.name = boot_random()};
    int rc = boot_secret_make(&p.secret);
    if (rc == GW_OK) *out = p;
    return rc;
}

void boot_port_text(const struct boot_port *p, char out[BOOT_PORT_TEXT])
{
    snprintf(out, BOOT_PORT_TEXT, "%016" PRIx64 ":%016" PRIx64 "%016" PRIx64, p->name, p->secret.word[0], p->secret.word[1]);
}

/* 16 digits, lower case. */
static bool word_parse(const char *text, uint64_t *out)
{
    uint64_t v = 0;
    for (int i = 0; i < 16; i++) {
        char c = text[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return false; /* at the end, too */
        v = v << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    *out = v;
    return true;
}

bool boot_port_parse(const char *text, struct boot_port *out)
{
    struct boot_port p;
    if (!word_parse(text, &p.name) || text[16] != ':' || !word_parse(text + 17, &p.secret.word[0]) ||
        !word_parse(text + 33, &p.secret.word[1]) || text[49])
        return false;
    *out = p;
    return true;
}

/* ---- gates ------------------------------------------------------------------------------------------------------------ */
static int watch_add(struct boot_gate *g, int fd)
{
    struct epoll_event e = {.events = EPOLLIN};
    return epoll_ctl(g->fd, EPOLL_CTL_ADD, fd, &e);
}

/* True: there is a descriptor in reserve.  Without any (a sandbox) the gate has less of a look at who waits. */
static bool reserve_open(struct boot_gate *g)
{
    if (g->reserve < 0) g->reserve = eventfd(0, EFD_CLOEXEC);
    return g->reserve >= 0;
}

/* At once: when it is needed, there may be no descriptor left.  Without one (a sandbox) there is less comfort. */
static void timer_open(struct boot_gate *g)
{
    if (g->fd < 0) return;
    g->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (g->timer >= 0 && watch_add(g, g->timer) == 0) return;
    if (g->timer >= 0) close(g->timer);
    g->timer = -1;
}

/* Rings while something has to be looked at that no descriptor tells of. */
static void timer_set(const struct boot_gate *g)
{
    time_t seconds = g->again_ns || !g->n ? 0 : PATIENCE_S;
    long ns = g->again_ns ? REST_NS : 0;
    struct itimerspec each = {{seconds, ns}, {seconds, ns}};
    if (g->timer >= 0) timerfd_settime(g->timer, 0, &each, NULL);
}

int boot_gate_open(struct boot_gate *g, const struct boot_port *port)
{
    assert(port->name);
    *g = (struct boot_gate){
        .fd = epoll_create1(EPOLL_CLOEXEC), .listener = -1, .timer = -1, .far = -1, .reserve = -1, .secret = port->secret};
    timer_open(g);
    reserve_open(g);
    if (g->fd >= 0) g->listener = boot_port_listen(port->name, BACKLOG);
    if (g->listener >= 0 && watch_add(g, g->listener) == 0) return 0;
    int why = errno;
    boot_gate_close(g);
    errno = why;
    return -1;
}

int boot_gate_open_far(struct boot_gate *g, struct sockaddr_storage *at)
{
    g->far = boot_far_listen(at, BACKLOG);
    if (g->far >= 0 && watch_add(g, g->far) == 0) return 0;
    int why = errno;
    if (g->far >= 0) close(g->far);
    g->far = -1;
    errno = why;
    return -1;
}

int boot_gate_open_far_only(struct boot_gate *g, const struct boot_secret *secret, struct sockaddr_storage *at)
{
    *g = (struct boot_gate){
        .fd = epoll_create1(EPOLL_CLOEXEC), .listener = -1, .timer = -1, .far = -1, .reserve = -1, .secret = *secret};
    timer_open(g);
    reserve_open(g);
    if (g->fd >= 0 && boot_gate_open_far(g, at) == 0) return 0;
    int why = errno;
    boot_gate_close(g);
    errno = why;
    return -1;
}

/* Removes entry i and returns its descriptor.  Closing that would not remove it from epoll, because a child process may hold it, too. */
static int half_take(struct boot_gate *g, int i)
{
    assert(i >= 0 && i < g->n);
    int fd = g->half[i].fd;
    epoll_ctl(g->fd, EPOLL_CTL_DEL, fd, NULL);
    g->n--;
    memmove(&g->half[i], &g->half[i + 1], sizeof g->half[0] * (size_t)(g->n - i)); /* the oldest first */
    return fd;
}

static void half_refuse(struct boot_gate *g, int i)
{
    bool has_reserve = g->half[i].has_reserve;
    close(half_take(g, i));
    if (has_reserve) reserve_open(g);
    g->n_refused++;
}

static void half_add(struct boot_gate *g, int fd, bool has_reserve)
{
    if (g->n == BOOT_GATE_HALF) half_refuse(g, 0);
    assert(g->n < BOOT_GATE_HALF);
    if (watch_add(g, fd) != 0) {
        close(fd);
        if (has_reserve) reserve_open(g);
        return;
    }
    g->half[g->n++] =
        (struct boot_gate_half){.fd = fd, .has_reserve = has_reserve, .until_ns = gw_now_ns() + (uint64_t)PATIENCE_S * 1000000000};
    if (g->n == 1) timer_set(g);
}

/* Reads what has come of the secret.  True: it is complete and right.  A connection that showed something else, or is gone, is dropped. */
static bool half_step(struct boot_gate *g, int i, bool *dropped_out)
{
    assert(i >= 0 && i < g->n);
    struct boot_gate_half *h = &g->half[i];
    bool is_wrong = false;
    *dropped_out = false;
    if (h->got < sizeof h->said) {
        int64_t n = boot_port_read(h->fd, (char *)&h->said + h->got, sizeof h->said - h->got);
        is_wrong = n < 0;
        if (n > 0) h->got += (uint32_t)n;
    }
    if (!is_wrong && h->got < sizeof h->said) return false;
    h->is_lesser = g->has_lesser && boot_secret_equal(&h->said, &g->lesser);
    if (!is_wrong && (h->is_lesser || boot_secret_equal(&h->said, &g->secret))) return true;
    half_refuse(g, i);
    *dropped_out = true;
    return false;
}

/* Drops connections that have not shown the secret in time.  One that has stays until the owner accepts it. */
static void half_drop_late(struct boot_gate *g)
{
    uint64_t rings, now = g->n ? gw_now_ns() : 0;
    bool dropped;
    for (int i = 0; i < g->n && g->half[i].until_ns <= now;) {
        if (half_step(g, i, &dropped))
            i++;
        else if (!dropped)
            half_refuse(g, i);
    }
    if (g->timer < 0 || read(g->timer, &rings, sizeof rings) < 0 || g->n) return;
    timer_set(g);
}

/* A connection that has shown the secret; -1: there is none, or only one (is_held_out) that has the reserve, and waits for another to take its
 * place. */
static int half_passed(struct boot_gate *g, bool *is_held_out)
{
    bool dropped;
    for (int i = 0; i < g->n; i += !dropped) {
        if (!half_step(g, i, &dropped)) continue;
        if (g->half[i].has_reserve && !reserve_open(g)) {
            epoll_ctl(g->fd, EPOLL_CTL_DEL, g->half[i].fd,
                      NULL); /* what follows the secret would make the gate readable all the time */
            *is_held_out = true;
            continue;
        }
        g->was_lesser = g->half[i].is_lesser;
        return half_take(g, i);
    }
    return -1;
}

/* Is somebody looked at by the reserve who has not shown a secret yet? */
static bool half_is_asked(const struct boot_gate *g)
{
    for (int i = 0; i < g->n; i++)
        if (g->half[i].has_reserve) return true;
    return false;
}

static bool is_waited_at(int listener) { return listener >= 0 && poll(&(struct pollfd){listener, POLLIN, 0}, 1, 0) != 0; }

/* While the kernel gives no descriptor, those that wait there would make the gate readable all the time. */
static void listeners_watch(struct boot_gate *g, bool is_on)
{
    const int of[] = {g->listener, g->far};
    for (size_t i = 0; i < GW_ARRAY_LEN(of); i++) {
        if (of[i] < 0) continue;
        if (is_on)
            watch_add(g, of[i]);
        else
            epoll_ctl(g->fd, EPOLL_CTL_DEL, of[i], NULL);
    }
}

/* The errno of accepting that the caller gets, and what follows of it. */
static int accept_judge(struct boot_gate *g, int why, bool is_held)
{
    bool is_resting = g->again_ns, must_rest;
    /* No descriptor is an error also where nobody waits. */
    if (why != EAGAIN && gw_error_may_pass(why) && !is_held && !is_waited_at(g->listener) && !is_waited_at(g->far)) why = EAGAIN;
    must_rest = why != EAGAIN;
    if (!must_rest || (!is_held && half_is_asked(g)))
        g->retry = (struct gw_retry){0};
    else if (!gw_retry_may(&g->retry, why))
        g->is_stuck = true;
    g->again_ns = must_rest ? gw_now_ns() + REST_NS : 0;
    if (must_rest && g->timer < 0) usleep(1000);
    if (g->timer < 0 || must_rest == is_resting) return why;
    listeners_watch(g, !must_rest);
    timer_set(g);
    return why;
}

/* Of a connection, not of this host: the next one may be well. */
static bool is_of_one(int err)
{
    return err == EINTR || err == ECONNABORTED || err == EPROTO || err == ENETDOWN || err == ENOPROTOOPT || err == EHOSTDOWN ||
        err == ENONET || err == EHOSTUNREACH || err == EOPNOTSUPP || err == ENETUNREACH;
}

/* Where there is no other descriptor, in place of the reserve. */
static int accept_one(struct boot_gate *g, int listener, bool *by_reserve_out)
{
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    *by_reserve_out = fd < 0 && (errno == EMFILE || errno == ENFILE) && g->reserve >= 0;
    if (!*by_reserve_out) return fd;
    close(g->reserve);
    g->reserve = -1;
    fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    int why = errno;
    if (fd < 0) reserve_open(g);
    errno = why;
    return fd;
}

/* Accepts the connections that wait at one of the listeners.  Returns one that has shown the secret, or -1 with errno. */
static int listener_accept(struct boot_gate *g, int listener, bool is_far, bool *is_held_out)
{
    int passed = -1, why = EAGAIN;
    bool by_reserve;
    for (int i = 0; i < AT_ONCE && passed < 0; i++) {
        int fd = accept_one(g, listener, &by_reserve);
        if (fd < 0 && is_of_one(errno)) continue;
        if (fd < 0) {
            why = errno;
            break;
        }
        if (!is_far && !boot_peer_is_ours(fd)) {
            close(fd);
            if (by_reserve) reserve_open(g);
            continue;
        }
        half_add(g, fd, by_reserve);
        passed = half_passed(g, is_held_out);
    }
    errno = why;
    return passed;
}

int boot_gate_accept(struct boot_gate *g)
{
    int why = EAGAIN;
    bool is_held = false;
    gw_lock(&g->lock);
    half_drop_late(g);
    if (!half_is_asked(g)) reserve_open(g); /* another thread may have taken its place */
    int passed = half_passed(g, &is_held);
    bool is_resting = passed < 0 && g->again_ns && gw_now_ns() < g->again_ns;
    if (passed < 0 && !is_resting && g->listener >= 0) {
        passed = listener_accept(g, g->listener, false, &is_held);
        why = errno;
    }
    if (passed < 0 && !is_resting && g->far >= 0) {
        passed = listener_accept(g, g->far, true, &is_held);
        if (why == EAGAIN) why = errno;
    }
    if (passed < 0 && !is_resting && is_held) why = EMFILE;
    if (passed < 0 && !is_resting) why = accept_judge(g, why, is_held);
    gw_unlock(&g->lock);
    if (passed < 0) errno = why;
    return passed;
}

void boot_gate_close(struct boot_gate *g)
{
    while (g->n) close(half_take(g, g->n - 1));
    if (g->reserve >= 0) close(g->reserve);
    if (g->timer >= 0) close(g->timer);
    if (g->listener >= 0) close(g->listener);
    if (g->far >= 0) close(g->far);
    if (g->fd >= 0) close(g->fd);
    g->fd = g->listener = g->timer = g->far = g->reserve = -1;
}
