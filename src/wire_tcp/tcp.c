/* tcp.c -- a lane: open, where the others are, progress, sleeping, close.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/os.h"
#include "base/settings.h"
#include "base/time.h"
#include "boot/alive.h"
#include "boot/kvs.h"
#include "boot/port.h"
#include "boot/world.h"
#include "node/node.h"
#include "wire_tcp/tcp_private.h"

/* What all lanes share. */
static struct tcp_state {
    struct gw_lock opening; /* for the door and the members up to has_other_jobs */
    int n_open;             /* lanes that are open */
    bool is_published;      /* this process's address is in boot's key-value space */
    bool has_other_jobs;    /* peers on other hosts may come by spawn or connect */
} tcp_state;
static const char key[] = "gw.net.0"; /* as wire_ofi's, so that ranks with different wires see that */

/* Faked nodes of one host are reached by the loopback. */
static bool is_far(void) { return tcp_state.has_other_jobs || (gw_boot.nnodes > 1 && !boot_is_on_one_host()); }

/* ---- open --------------------------------------------------------------------------------------------------------------------------- */
int tcp_watch(struct wire *w, int fd, uint32_t events, void *what)
{
    struct epoll_event e = {.events = events, .data.ptr = what};
    if (epoll_ctl(w->fd, EPOLL_CTL_ADD, fd, &e) == 0) return GW_OK;
    return gw_fail(GW_EOTHER, "a connection of the network cannot be waited for (epoll_ctl: %s)%s", strerror(errno),
                   gw_error_advice(errno));
}

void tcp_tune(int fd)
{
    enum { RTO_MAX_MS = 44, AGAIN_MS = 2000 }; /* TCP_RTO_MAX_MS, of Linux 6.15 */
    int yes = 1;
    unsigned ms = (unsigned)gw_set.net_timeout * 1000;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
    if (!ms) return;
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof ms); /* bytes that nobody acknowledges for so long */
    /* After an interruption they are sent again soon, and not only once it has lasted twice as long.  Older kernels do not know this. */
    setsockopt(fd, IPPROTO_TCP, RTO_MAX_MS, &(int){AGAIN_MS}, sizeof(int));
}

void tcp_fault(const void *at, size_t bytes, bool is_write)
{
    char *bad = (char *)(uintptr_t)gw_memory_fault(at, (int64_t)bytes, is_write);
    if (bad && is_write) *(volatile char *)bad = 0; /* the message is to lie there */
    if (bad && !is_write) (void)*(volatile char *)bad;
}

/* An interface may be away just now: a link that flaps. */
static int door_open(void)
{
    static const uint64_t patience_ns = 3000000000;
    uint64_t since = gw_now_ns();
    int rc;
    while ((rc = tcp_door_open(is_far())) == GW_EUNSUPPORTED && is_far() && gw_now_ns() - since < patience_ns) usleep(50000);
    return rc;
}

/* Once, with the first lane. */
static int publish(void)
{
    if (gw_boot.size == 1 || tcp_state.is_published || tcp_state.has_other_jobs) return GW_OK;
    int rc = network_card_put(key, tcp_door_text());
    return rc == GW_OK ? network_alive_publish((const struct sockaddr *)&tcp_door_place()->at) : rc;
}

static int tcp_opened(void)
{
    if (gw_boot.size == 1 || tcp_state.is_published || tcp_state.has_other_jobs) return GW_OK;
    tcp_state.is_published = true;
    return boot_share();
}

static void wire_free(struct wire *w);

static int tcp_open(int lane, wire_recv_fn recv, void *ctx, struct wire **wire_out)
{
    /* What is sent last may still lie in our own queues.  Where only some ranks meet other jobs, disconnecting sees to that. */
    if (!tcp_state.has_other_jobs) boot_needs(BOOT_AFTER_LAST);
    struct wire *w = gw_xcalloc(1, sizeof *w);
    w->lane = lane;
    w->recv = recv;
    w->ctx = ctx;
    w->door_is = TCP_IS_DOOR;
    w->bell_is = TCP_IS_BELL;
    gw_list_init(&w->due);
    gw_list_init(&w->given);
    w->fd = epoll_create1(EPOLL_CLOEXEC);
    w->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    w->eps = gw_xcalloc((size_t)node_numbers_max(), sizeof(struct tcp_ep *)); /* what is not used costs no memory */
    w->nonces = gw_xcalloc((size_t)node_numbers_max(), sizeof *w->nonces);
    w->buffer = aligned_alloc(GW_CACHELINE, gw_align_up(TCP_ALIGN + TCP_BUFFER, GW_CACHELINE));
    if (!w->buffer) gw_die("no memory for a buffer of the network");
    gw_lock(&tcp_state.opening);
    tcp_state.n_open++;
    int rc = w->fd >= 0 && w->bell >= 0 ? GW_OK : gw_fail(GW_EOTHER, "no descriptor for the network: %s", strerror(errno));
    if (rc == GW_OK && gw_set.net_tls) rc = tcp_tls_open();
    if (rc == GW_OK && gw_set.net_auth == GW_SET_NET_AUTH_MUNGE) rc = tcp_munge_open();
    if (rc == GW_OK && gw_set.net_auth == GW_SET_NET_AUTH_MUNGE) rc = tcp_ask_open();
    if (rc == GW_OK) rc = door_open();
    if (rc == GW_OK) rc = tcp_watch(w, w->bell, EPOLLIN, &w->bell_is);
    if (rc == GW_OK && gw_set.net_auth == GW_SET_NET_AUTH_MUNGE) tcp_ask_bell(lane, w->bell);
    if (rc == GW_OK) rc = tcp_door_watch(w, true);
    if (rc == GW_OK && tcp_state.n_open == 1) rc = publish();
    gw_unlock(&tcp_state.opening);
    if (rc != GW_OK) {
        wire_free(w);
        return rc;
    }
    if (lane == 0) w->alive = network_alive_begin();
    if (unlikely(gw_log_mask & GW_LOG_WIRE)) {
        char at[BOOT_ADDRESS_TEXT];
        boot_address_text(&tcp_door_place()->at, at);
        GW_EXPLAIN(GW_LOG_WIRE,
                   "lane %d: network by TCP of our own, address %s; messages to %d bytes at once, then from memory to memory%s%s",
                   lane, at, TCP_PACK_MAX, gw_set.net_tls ? "; all of it by TLS" : "",
                   gw_set.net_auth == GW_SET_NET_AUTH_MUNGE ? "; ranks show MUNGE credentials" : "");
    }
    *wire_out = w;
    return GW_OK;
}

/* A job on one host opens its door here; one on several hosts has it already. */
static int tcp_invite(char *at_out, size_t cap)
{
    int rc = GW_OK;
    gw_lock(&tcp_state.opening);
    if (tcp_door_is_open() && !tcp_door_is_far())
        rc = gw_fail(GW_EUNSUPPORTED,
                     "the ranks of this job use the network of this host alone (faked nodes, or GODWIT_WIRES without shm), "
                     "and cannot reach other hosts");
    if (rc == GW_OK && !tcp_door_is_open()) {
        tcp_state.has_other_jobs = true;
        rc = tcp_door_open(true);
    }
    if (rc == GW_OK && strlen(tcp_door_text()) >= cap) rc = gw_fail(GW_EINTERN, "no room for an address");
    if (rc == GW_OK) snprintf(at_out, cap, "%s", tcp_door_text());
    gw_unlock(&tcp_state.opening);
    return rc;
}

static int tcp_address(struct sockaddr_storage *out)
{
    if (network_address(true, out)) return GW_OK;
    return gw_fail(GW_EUNSUPPORTED, "no network interface of %s is fit for other hosts (godwit-info --network)", gw_boot.host);
}

/* ---- peers ---------------------------------------------------------------------------------------------------------------------------- */
static int place_get(int rank, struct tcp_place *out)
{
    char value[1024];
    const char *at = rank < gw_boot.size ? NULL : node_far_at(rank);
    if (rank >= gw_boot.size && !at) return gw_fail(GW_EINTERN, "peer %d has no address", rank);
    if (at) {
        snprintf(value, sizeof value, "%s", at);
    } else {
        int rc = network_card_get(rank, key, value, sizeof value);
        if (rc != GW_OK) return rc;
    }
    if (tcp_place_read(value, out)) {
        if (out->has_tls != (gw_set.net_tls != 0))
            gw_die("rank %d has%s GODWIT_NET_TLS, and this one (rank %d) %s: set it alike for all", rank,
                   out->has_tls ? "" : " not", gw_boot.rank, gw_set.net_tls ? "has" : "has not");
        bool has_munge = gw_set.net_auth == GW_SET_NET_AUTH_MUNGE;
        if (out->has_munge != has_munge)
            gw_die("rank %d has%s GODWIT_NET_AUTH=munge, and this one (rank %d) %s: set it alike for all", rank,
                   out->has_munge ? "" : " not", gw_boot.rank, has_munge ? "has" : "has not");
        return GW_OK;
    }
    if (!at) network_differs(rank, "tcp");
    return gw_fail(GW_EOTHER, "the other job does not use the network by tcp, as this one: set GODWIT_WIRES alike for both");
}

static int tcp_connect(struct wire *w, int rank, struct wire_ep **ep_out)
{
    assert(rank >= 0 && rank < node_numbers_max());
    if (!w->eps[rank]) {
        struct tcp_place there = *tcp_door_place();
        int rc = rank == gw_boot.rank ? GW_OK : place_get(rank, &there);
        if (rc != GW_OK) return rc;
        struct tcp_ep *ep = gw_xcalloc(1, sizeof *ep);
        *ep = (struct tcp_ep){.what = TCP_IS_OUT, .state = TCP_BROKEN, .w = w, .fd = -1, .rank = rank, .there = there};
        while (!ep->nonce) ep->nonce = (uint32_t)boot_random();
        ep->is_foreign = rank >= gw_boot.size;
        gw_list_init(&ep->gives);
        int32_t as = rank < gw_boot.size ? gw_boot.rank : node_far_as(rank);
        wire_ep_init(&ep->base, &tcp_ops, w, as, gw_node.nlocal + rank);
        ep->next = w->all;
        w->all = ep;
        w->eps[rank] = ep;
        if (rank >= w->n_eps) w->n_eps = rank + 1;
        tcp_call(ep);
    }
    *ep_out = &w->eps[rank]->base;
    return GW_OK;
}

/* The number may be given to another peer.  Output that is under way is still sent; then forgotten_close() frees the endpoint. */
static void tcp_forget(struct wire *w, int number)
{
    if (!w->eps[number]) return;
    w->eps[number]->is_forgotten = true;
    w->n_forgotten++;
    w->eps[number] = NULL;
}

static void forgotten_close(struct wire *w)
{
    for (struct tcp_ep *ep = w->all, *next; ep; ep = next) {
        next = ep->next;
        if (!ep->is_forgotten || ep->is_waiting) continue;
        tcp_ep_close(ep);
        w->n_forgotten--;
        assert(w->n_forgotten >= 0);
    }
}

static void tcp_caps(struct wire *w, struct wire_caps *caps_out)
{
    (void)w;
    *caps_out = (struct wire_caps){.short_max = TCP_PACK_MAX, .pack_max = TCP_PACK_MAX, .soft = true, .direct = true};
}

/* ---- progress ------------------------------------------------------------------------------------------------------------------------- */
static int events_look(struct wire *w)
{
    enum { EVENTS = 32 };
    struct epoll_event events[EVENTS];
    uint64_t rung;
    int n = 0, got = epoll_wait(w->fd, events, EVENTS, 0);
    if (unlikely(got < 0) && errno != EINTR)
        gw_die("what comes over the network cannot be heard of (epoll_wait: %s)%s", strerror(errno), gw_error_advice(errno));
    for (int i = 0; i < got; i++) {
        enum tcp_what *what = events[i].data.ptr;
        if (*what == TCP_IS_IN) {
            struct tcp_in *in = container_of(what, struct tcp_in, what);
            int here = in->is_gone ? 0 : tcp_in_read(in);
            if (here && !in->is_gone) w->hot = in;
            n += here;
        } else if (*what == TCP_IS_OUT) {
            n += tcp_out_event(container_of(what, struct tcp_ep, what), events[i].events);
        } else {
            if (*what == TCP_IS_BELL) (void)!read(w->bell, &rung, sizeof rung);
            n += tcp_door_look(w);
            if (unlikely(tcp_door_place()->has_munge)) tcp_asks_look(w);
        }
    }
    return n;
}

static GW_COLD void idle_look(struct wire *w)
{
    enum { LOOKS_ALIVE = 256 };
    static const uint32_t calls = 64;
    boot_connected_step(); /* in a program that polls, too */
    if (w->n_calling && w->idle % calls == 0) tcp_calls_look(w);
    if (unlikely(w->alive != NULL) && w->idle % LOOKS_ALIVE == 0) network_alive_look(w->alive);
    if (unlikely(w->n_forgotten)) forgotten_close(w);
}

static int tcp_progress(struct wire *w)
{
    enum { HITS = 16, MISSES = 2, IDLE_LOOKS = 16 };
    int n = w->hot ? tcp_in_read(w->hot) : 0;
    /* Where messages come from one rank after another from that rank alone, its socket is looked at more often than for events. */
    bool is_enough = n ? ++w->hits % HITS != 0 : w->hot && ++w->misses % MISSES != 0;
    if (!is_enough) n += events_look(w);
    if (unlikely(!gw_list_empty(&w->due) || !gw_list_empty(&w->given))) n += tcp_due_look(w);
    if (unlikely(w->gone != NULL)) tcp_ins_free(w);
    if (n == 0 && ++w->idle % IDLE_LOOKS == 0) idle_look(w);
    return n;
}

static int tcp_wait_fd(struct wire *w) { return w->fd; }

/* The descriptor of tcp_wait_fd() does not tell of endpoints in `due` and of messages in `given`. */
static int tcp_arm(struct wire *w)
{
    network_alive_look(w->alive);
    if (w->n_calling) tcp_calls_look(w);
    return gw_list_empty(&w->due) && gw_list_empty(&w->given) ? GW_OK : GW_AGAIN;
}

static bool tcp_drained(struct wire *w) { return !w->n_waiting; }
static void tcp_leave(struct wire *w, bool is_leaving) { w->is_leaving = is_leaving; }

/* ---- the end -------------------------------------------------------------------------------------------------------------------------- */
static void wire_free(struct wire *w)
{
    w->is_closing = true;
    gw_lock(&tcp_state.opening);
    tcp_door_watch(w, false);
    tcp_ask_bell(w->lane, -1);
    while (w->all) tcp_ep_close(w->all);
    while (w->ins) tcp_in_end(w->ins, NULL);
    tcp_ins_free(w);
    tcp_due_look(w); /* frees what is over */
    network_alive_end(w->alive);
    if (w->fd >= 0) close(w->fd);
    if (w->bell >= 0) close(w->bell);
    free(w->takes);
    free(w->eps);
    free(w->nonces);
    free(w->buffer);
    free(w);
    assert(tcp_state.n_open > 0);
    if (--tcp_state.n_open == 0) {
        tcp_door_close();
        tcp_tls_close();
        tcp_state.is_published = tcp_state.has_other_jobs = false;
    }
    gw_unlock(&tcp_state.opening);
}

/* Waits until the output is sent, with a limit: a peer that has ended needs nothing more. */
static void tcp_close(struct wire *w)
{
    static const uint64_t patience_ns = 2000000000;
    w->is_leaving = true;
    for (uint64_t since = gw_now_ns(); w->n_waiting && gw_now_ns() - since < patience_ns;)
        if (tcp_progress(w)) since = gw_now_ns();
    wire_free(w);
}

const struct wire_ops tcp_ops = {
    .size = sizeof(struct wire_ops),
    .name = "tcp",
    .open = tcp_open,
    .connect = tcp_connect,
    .send_short = tcp_send_short,
    .send_pack = tcp_send_pack,
    .send_many = tcp_send_many,
    .progress = tcp_progress,
    .caps = tcp_caps,
    .close = tcp_close,
    .copy = {.recv_into = tcp_recv_into, .send_from = tcp_send_from},
    .sleep = {.wait_fd = tcp_wait_fd, .arm = tcp_arm},
    .world = {.opened = tcp_opened,
              .invite = tcp_invite,
              .address = tcp_address,
              .forget = tcp_forget,
              .drained = tcp_drained,
              .leave = tcp_leave},
};
