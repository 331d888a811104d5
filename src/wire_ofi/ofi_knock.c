/* ofi_knock.c -- see ofi_knock.h.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_ofi/ofi_knock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "wire_ofi/network_private.h"

enum { UNASKED_MS = 500, EVERY_MS = 50 };

struct ask { /* host order: all ranks of a job are alike */
    char magic[8];
    uint64_t job;
    int32_t lane, rc; /* of answers: GW_OK, or what went wrong */
    char text[KNOCK_VALUE]; /* of answers: the value, or the error in words */
};
static const char magic[8] = "gwknock";
enum { ASK_BYTES = sizeof(struct ask) - KNOCK_VALUE };

static struct {
    int s, stop; /* the socket; an eventfd */
    pthread_t thread;
    bool is_on;
    uint64_t job;
    knock_open_fn open;
    char iface[IFACE_NAME]; /* that others come by */
    _Atomic bool is_resting;
} door = {.s = -1, .stop = -1};

/* ---- addresses ---------------------------------------------------------------------------------------------------------------- */
static socklen_t bytes_of(const struct sockaddr_storage *a)
{
    return a->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

/* The best interface's, as for providers over TCP; false: none is fit. */
static bool address_find(bool is_far, struct sockaddr_storage *out)
{
    struct sockaddr_in *four = (void *)out;
    struct sockaddr_in6 *six = (void *)out;
    struct ofi_ifaces f;
    *out = (struct sockaddr_storage){.ss_family = AF_INET};
    four->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    snprintf(door.iface, sizeof door.iface, "lo");
    if (!is_far) return true;
    ofi_ifaces_read(&f);
    const struct iface_address *a = f.n_usable > 0 ? iface_best_address(&f.all[f.verdicts[0].iface]) : NULL;
    bool is_fit = a && !iface_is_link_local(a);
    if (is_fit && a->family == AF_INET6) {
        out->ss_family = AF_INET6;
        memcpy(&six->sin6_addr, a->bytes, sizeof six->sin6_addr);
    } else if (is_fit) {
        memcpy(&four->sin_addr, a->bytes, sizeof four->sin_addr);
    }
    if (is_fit) snprintf(door.iface, sizeof door.iface, "%s", f.all[f.verdicts[0].iface].name);
    ofi_ifaces_free(&f);
    return is_fit;
}

/* "192.0.2.2:40000", "[2001:db8::2]:40000" */
static void address_text(const struct sockaddr_storage *a, char to[KNOCK_AT - 1])
{
    const struct sockaddr_in *four = (const void *)a;
    const struct sockaddr_in6 *six = (const void *)a;
    bool is_six = a->ss_family == AF_INET6;
    char text[INET6_ADDRSTRLEN] = "";
    inet_ntop(a->ss_family, is_six ? (const void *)&six->sin6_addr : &four->sin_addr, text, sizeof text);
    snprintf(to, KNOCK_AT - 1, is_six ? "[%s]:%d" : "%s:%d", text, ntohs(is_six ? six->sin6_port : four->sin_port));
}

bool knock_is_name(const char *at) { return at[0] == '@'; }

static bool name_get(const char *at, struct sockaddr_storage *out)
{
    struct sockaddr_in *four = (void *)out;
    struct sockaddr_in6 *six = (void *)out;
    char text[INET6_ADDRSTRLEN];
    unsigned port;
    *out = (struct sockaddr_storage){0};
    bool is_read = sscanf(at, "@[%45[0-9a-f:.]]:%u", text, &port) == 2 || sscanf(at, "@%45[0-9.]:%u", text, &port) == 2;
    if (!is_read || port > UINT16_MAX) return false;
    if (inet_pton(AF_INET, text, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons((uint16_t)port);
        return true;
    }
    six->sin6_family = AF_INET6;
    six->sin6_port = htons((uint16_t)port);
    return inet_pton(AF_INET6, text, &six->sin6_addr) == 1;
}

/* ---- who is asked ------------------------------------------------------------------------------------------------------------- */
static void answer(void)
{
    struct ask a;
    struct sockaddr_storage from;
    socklen_t bytes = sizeof from;
    ssize_t n = recvfrom(door.s, &a, sizeof a, MSG_DONTWAIT, (struct sockaddr *)&from, &bytes);
    if (n != ASK_BYTES || memcmp(a.magic, magic, sizeof magic) != 0 || a.job != door.job || a.lane < 0) return; /* somebody else's */
    gw_fail_clear();
    memset(a.text, 0, sizeof a.text);
    a.rc = door.open(a.lane, a.text);
    if (a.rc != GW_OK) snprintf(a.text, sizeof a.text, "%s", gw_fail_text());
    (void)!sendto(door.s, &a, ASK_BYTES + strlen(a.text) + 1, 0, (struct sockaddr *)&from, bytes); /* it will ask again */
}

static void *listen_on(void *unused)
{
    (void)unused;
    char value[KNOCK_VALUE];
    bool may_open = true; /* unasked */
    struct pollfd of[] = {{.fd = door.s, .events = POLLIN}, {.fd = door.stop, .events = POLLIN}};
    for (;;) {
        int n = poll(of, GW_ARRAY_LEN(of), may_open ? UNASKED_MS : -1);
        if (of[1].revents) return NULL;
        if (n > 0 && of[0].revents) answer();
        if (n == 0 && !atomic_load_explicit(&door.is_resting, memory_order_relaxed)) door.open(0, value);
        if (n == 0) may_open = false;
    }
}

bool knock_begin(bool is_far, uint64_t job, knock_open_fn open, char at_out[KNOCK_AT], struct sockaddr_storage *address_out)
{
    struct sockaddr *at = (struct sockaddr *)address_out;
    if (!address_find(is_far, address_out)) return false;
    socklen_t bytes = bytes_of(address_out);
    door.s = socket(at->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    door.stop = eventfd(0, EFD_CLOEXEC);
    door.job = job;
    door.open = open;
    door.is_on = door.s >= 0 && door.stop >= 0 && bind(door.s, at, bytes) == 0 && getsockname(door.s, at, &bytes) == 0 &&
                 gw_thread_start(&door.thread, listen_on, NULL) == GW_OK;
    at_out[0] = '@';
    address_text(address_out, at_out + 1);
    if (door.is_on) return true;
    if (door.s >= 0) close(door.s);
    if (door.stop >= 0) close(door.stop);
    door.s = door.stop = -1;
    return false;
}

bool knock_is_on(void) { return door.is_on; }

void knock_rest(bool is_resting) { atomic_store_explicit(&door.is_resting, is_resting, memory_order_relaxed); }

void knock_end(void)
{
    if (!door.is_on) return;
    door.is_on = false;
    (void)!write(door.stop, &(uint64_t){1}, sizeof(uint64_t));
    pthread_join(door.thread, NULL);
    close(door.s);
    close(door.stop);
    door.s = door.stop = -1;
}

/* ---- who asks ----------------------------------------------------------------------------------------------------------------- */
static void ask(struct knock_call *c)
{
    struct ask a = {.job = door.job, .lane = c->lane};
    memcpy(a.magic, magic, sizeof magic);
    c->asked_ns = gw_now_ns();
    (void)!send(c->s, &a, ASK_BYTES, MSG_DONTWAIT);
}

/* 0 or errno. */
static int way_open(struct knock_call *c)
{
    c->s = socket(c->to.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int err = c->s >= 0 && connect(c->s, (struct sockaddr *)&c->to, bytes_of(&c->to)) == 0 ? 0 : errno;
    if (err) knock_hang_up(c);
    return err;
}

int knock_call(struct knock_call *c, int rank, const char *at, int lane)
{
    static const uint64_t patience_ns = 2000000000;
    *c = (struct knock_call){.s = -1, .rank = rank, .lane = lane, .begun_ns = gw_now_ns()};
    if (!name_get(at, &c->to)) return gw_fail(GW_EOTHER, "rank %d does not say where it can be asked for its address: \"%.60s\"", rank, at);
    address_text(&c->to, c->at);
    int err;
    while ((err = way_open(c)) != 0 && gw_now_ns() - c->begun_ns < patience_ns) usleep(EVERY_MS * 1000); /* a link that flaps just now */
    if (err)
        return gw_fail(GW_EOTHER, "asking for the address of rank %d (%s, on %s of %s) failed: %s", rank, c->at, door.iface, gw_boot.host,
                       strerror(err));
    ask(c);
    return GW_OK;
}

int knock_answer(struct knock_call *c, char value_out[KNOCK_VALUE])
{
    struct ask a;
    struct pollfd of = {.fd = c->s, .events = POLLIN};
    poll(&of, 1, EVERY_MS);
    ssize_t n = recv(c->s, &a, sizeof a - 1, MSG_DONTWAIT);
    bool is_mine = n > ASK_BYTES && memcmp(a.magic, magic, sizeof magic) == 0 && a.job == door.job && a.lane == c->lane;
    if (is_mine) {
        ((char *)&a)[n] = 0;
        snprintf(value_out, KNOCK_VALUE, "%s", a.text);
        return a.rc == GW_OK ? GW_OK : gw_fail(a.rc, "rank %d: %.900s", c->rank, a.text);
    }
    if (gw_now_ns() - c->asked_ns >= (uint64_t)EVERY_MS * 1000000) ask(c);
    return GW_AGAIN;
}

void knock_hang_up(struct knock_call *c)
{
    if (c->s >= 0) close(c->s);
    c->s = -1;
}
