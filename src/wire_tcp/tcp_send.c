/* tcp_send.c -- outgoing connections: making them, their queues, and sending without a copy.
 *
 * A message that fits the socket buffer is written at once from the caller's memory.  What does not fit, and what is sent before the
 * connection is made, is copied to the endpoint's queue, whose size is bounded.  A zero-copy message is sent in parts, so that other messages
 * to the same rank wait for at most one part.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/copy.h"
#include "base/settings.h"
#include "base/time.h"
#include "boot/port.h"
#include "node/node.h"
#include "wire_tcp/tcp_private.h"

/* ---- the state of an endpoint --------------------------------------------------------------------------------------------------- */
static inline bool has_output(const struct tcp_ep *ep)
{
    assert(ep->at + ep->kept <= ep->end && ep->end <= ep->cap);        /* [E3] */
    if (ep->state == TCP_GREETING) return ep->at + ep->kept < ep->end; /* parts wait for the answer */
    return ep->at < ep->end || ep->part.head || ep->part.data || ep->part.pad || !gw_list_empty(&ep->gives);
}

/* Restores E2 after a change of the output or the state. */
static inline void count(struct tcp_ep *ep)
{
    bool is_waiting = ep->state == TCP_OPEN ? has_output(ep) : ep->state != TCP_BROKEN;
    ep->w->n_waiting += is_waiting - ep->is_waiting;
    assert(ep->w->n_waiting >= 0);
    ep->is_waiting = is_waiting;
}

/* Puts the endpoint into w->due, or takes it out. */
static void due(struct tcp_ep *ep, bool is_due)
{
    if (ep->is_due == is_due) return;
    ep->is_due = is_due;
    if (is_due)
        gw_list_push(&ep->w->due, &ep->due);
    else
        gw_list_del(&ep->due);
}

static void become(struct tcp_ep *ep, enum tcp_out_state state)
{
    struct wire *w = ep->w;
    w->n_calling += (state == TCP_CALLING || state == TCP_RESTING) - (ep->state == TCP_CALLING || ep->state == TCP_RESTING);
    assert(w->n_calling >= 0 && (state == TCP_BROKEN || state == TCP_RESTING || ep->fd >= 0));
    ep->state = state;
    due(ep, state == TCP_RESTING || ((state == TCP_OPEN || state == TCP_GREETING) && has_output(ep)));
    count(ep);
}

static void hang_up(struct tcp_ep *ep)
{
    if (ep->called) tcp_ask_drop(&ep->called->ask);
    if (ep->fd < 0) return;
    epoll_ctl(ep->w->fd, EPOLL_CTL_DEL, ep->fd, NULL);
    close(ep->fd);
    ep->fd = -1;
}

/* A rank of another job from which this process has disconnected. */
static bool is_parted(const struct tcp_ep *ep) { return ep->is_foreign && (ep->is_forgotten || !node_far_is_held(ep->rank)); }
/* Late messages to ranks that have ended already are of no use to them. */
static bool may_be_lost(const struct tcp_ep *ep) { return ep->w->is_leaving || ep->w->is_closing || is_parted(ep); }

static GW_COLD int ep_fail(const struct tcp_ep *ep, int err)
{
    char at[BOOT_ADDRESS_TEXT];
    boot_address_text(&ep->there.at, at);
    if (ep->is_foreign)
        return gw_fail(
            GW_EOTHER,
            "a message over the network to another job, with which this one is connected, failed (%s, tcp): %s; has that "
            "job ended?",
            at, strerror(err));
    return gw_fail(GW_EOTHER, "a message over the network to rank %d (%s, tcp, on %s of %s) failed: %s", ep->rank, at,
                   network_iface(), gw_boot.host, strerror(err));
}

static void give_over(struct tcp_ep *ep, struct tcp_give *g, int err)
{
    gw_list_del(&g->link);
    g->err = err;
    gw_list_push(&ep->w->given, &g->link);
}

static void output_clear(struct tcp_ep *ep, int err)
{
    while (!gw_list_empty(&ep->gives)) give_over(ep, container_of(ep->gives.next, struct tcp_give, link), err);
    ep->part = (struct tcp_part){0};
    free(ep->queue);
    ep->queue = NULL;
    ep->at = ep->end = ep->cap = ep->before = ep->kept = 0;
}

/* The peer has ended; err is the errno.  Fatal if there was output for it. */
static GW_COLD void lost(struct tcp_ep *ep, int err)
{
    bool is_error = (ep->at < ep->end || !gw_list_empty(&ep->gives)) && !may_be_lost(ep);
    hang_up(ep);
    int rc = ep_fail(ep, err);
    if (is_error) gw_die("%s", gw_fail_text());
    output_clear(ep, rc);
    become(ep, TCP_BROKEN);
}

/* ---- writing -------------------------------------------------------------------------------------------------------------------- */
static void part_begin(struct tcp_ep *ep)
{
    static const struct tcp_part none;
    assert(ep->state == TCP_OPEN && !gw_list_empty(&ep->gives) && !ep->part.head && !ep->part.data && !ep->part.pad);
    struct tcp_give *g = container_of(ep->gives.next, struct tcp_give, link);
    size_t n = g->left < TCP_PART_MOST ? g->left : TCP_PART_MOST;
    uint64_t named[2] = {g->ticket, 0};
    ep->part = none;
    ep->part.bytes = (struct tcp_head){.len = (uint32_t)n, .kind = TCP_PART};
    memcpy(ep->part.bytes.hdr, named, sizeof named);
    ep->part.head = sizeof ep->part.bytes;
    ep->part.data = n;
    ep->part.pad = gw_align_up(n, TCP_ALIGN) - n;
    ep->before = ep->end - ep->at;
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Removes n bytes, which have been written, from the output. */
static void consume(struct tcp_ep *ep, size_t n)
{
    struct tcp_part *p = &ep->part;
    bool has_part = p->head || p->data || p->pad;
    if (ep->state == TCP_GREETING) {
        assert(ep->at + ep->kept + n <= ep->end);
        ep->kept += n; /* [E1] */
        return;
    }
    size_t queue = least(n, has_part ? ep->before : ep->end - ep->at);
    ep->at += queue;
    n -= queue;
    if (has_part) {
        struct tcp_give *g = container_of(ep->gives.next, struct tcp_give, link);
        ep->before -= queue;
        size_t head = least(n, p->head);
        p->head -= head;
        n -= head;
        size_t data = least(n, p->data);
        p->data -= data;
        g->from += data;
        g->left -= data;
        n -= data;
        size_t pad = least(n, p->pad);
        p->pad -= pad;
        n -= pad;
        if (!p->head && !p->data && !p->pad && g->left == 0) give_over(ep, g, GW_OK);
        ep->at += n;
    }
    assert(ep->at <= ep->end);
    if (ep->at < ep->end) return;
    enum { KEPT = 16 << 10 };
    ep->at = ep->end = 0;
    if (ep->cap <= KEPT) return;
    free(ep->queue);
    ep->queue = NULL;
    ep->cap = 0;
}

/* The output as at most five pieces of memory, in order; returns how many. */
static int pieces(const struct tcp_ep *ep, struct iovec iov[5])
{
    static const char zeros[TCP_ALIGN];
    const struct tcp_part *p = &ep->part;
    bool has_part = p->head || p->data || p->pad;
    if (ep->state == TCP_GREETING) {
        iov[0] = (struct iovec){ep->queue + ep->at + ep->kept, ep->end - ep->at - ep->kept};
        return 1;
    }
    size_t before = has_part ? ep->before : ep->end - ep->at, behind = ep->end - ep->at - before;
    assert(before <= ep->end - ep->at);
    int k = 0;
    if (before) iov[k++] = (struct iovec){ep->queue + ep->at, before};
    if (p->head) iov[k++] = (struct iovec){(char *)(uintptr_t)(&p->bytes + 1) - p->head, p->head};
    if (p->data) {
        const struct tcp_give *g = container_of(ep->gives.next, struct tcp_give, link);
        iov[k++] = (struct iovec){(char *)(uintptr_t)g->from, p->data};
    }
    if (p->pad) iov[k++] = (struct iovec){(char *)(uintptr_t)zeros, p->pad};
    if (behind) iov[k++] = (struct iovec){ep->queue + ep->at + before, behind};
    return k;
}

/* The kernel has no room now: EAGAIN says when it has again, the others do not. */
static bool is_no_room(int err) { return err == EAGAIN || err == ENOBUFS || err == ENOMEM; }

static GW_COLD void no_room(struct tcp_ep *ep, int err)
{
    ep->is_full = err == EAGAIN;
    if (err == EAGAIN)
        ep->retry = (struct gw_retry){0};
    else if (!gw_retry_may(&ep->retry, err))
        gw_die("%s (sendmsg)%s", (ep_fail(ep, err), gw_fail_text()), gw_error_advice(err));
    errno = err;
}

static ssize_t write_some(struct tcp_ep *ep, struct iovec *iov, int k)
{
    struct msghdr m = {.msg_iov = iov, .msg_iovlen = (size_t)k};
    ssize_t n;
    do n = sendmsg(ep->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    if (unlikely(n < 0) && is_no_room(errno)) no_room(ep, errno);
    if (unlikely(n < 0 && errno == EFAULT)) {
        for (int i = 0; i < k; i++) tcp_fault(iov[i].iov_base, iov[i].iov_len, false);
        errno = ENOBUFS; /* it was mapped meanwhile: again */
    }
    return n;
}

static void call_failed(struct tcp_ep *ep, int err, const char *call);

/* Another call helps where the link has failed.  Else it is this end that cannot write, and the peer has the connection still: it would refuse
 * a second one. */
static GW_COLD void failed(struct tcp_ep *ep, int err)
{
    if (ep->state == TCP_GREETING && tcp_is_of_link(err))
        call_failed(ep, err, "sendmsg, recv");
    else
        lost(ep, err);
}

/* Writes as much as the socket takes.  True: something was written, or the connection failed. */
static bool flush(struct tcp_ep *ep)
{
    size_t sum = 0;
    while (sum < TCP_ROUND_MOST && !ep->is_full && has_output(ep)) {
        struct iovec iov[5];
        const struct tcp_part *p = &ep->part;
        bool may_begin = ep->state == TCP_OPEN && !gw_list_empty(&ep->gives);
        if (may_begin && !p->head && !p->data && !p->pad) part_begin(ep);
        ssize_t n = write_some(ep, iov, pieces(ep, iov));
        if (n < 0 && !is_no_room(errno)) {
            failed(ep, errno);
            return true;
        }
        if (n < 0) break;
        ep->retry = (struct gw_retry){0};
        consume(ep, (size_t)n);
        sum += (size_t)n;
    }
    due(ep, has_output(ep) && !ep->is_full);
    count(ep);
    return sum > 0;
}

/* Space for so many bytes at the end of the queue; NULL: the queue is full. */
static char *queue_room(struct tcp_ep *ep, size_t bytes)
{
    size_t have = ep->end - ep->at;
    if (have && have + bytes > TCP_QUEUE_MOST) return NULL;
    if (ep->at && ep->end + bytes > ep->cap) { /* to the front; heads stay aligned where a message has gone in part */
        size_t front = ep->at % TCP_ALIGN;
        memmove(ep->queue + front, ep->queue + ep->at, have);
        ep->at = front;
        ep->end = front + have;
    }
    if (ep->end + bytes > ep->cap) {
        size_t cap = ep->cap ? ep->cap : 4096;
        while (cap < ep->end + bytes) cap *= 2;
        ep->queue = gw_xrealloc(ep->queue, cap);
        ep->cap = cap;
    }
    assert(ep->end % TCP_ALIGN == 0);
    return ep->queue + ep->end;
}

static inline void head_fill(struct tcp_head *h, uint8_t kind, const void *hdr, size_t len)
{
    memset(h, 0, offsetof(struct tcp_head, hdr));
    h->len = (uint32_t)len;
    h->kind = kind;
    memcpy(h->hdr, hdr, WIRE_HDR_BYTES);
}

/* Clears the padding behind the payload. */
static void pad_clear(char *behind, size_t len) { memset(behind, 0, tcp_total(len) - sizeof(struct tcp_head) - len); }

/* So many bytes have been written to the space of queue_room(): the caller sends. */
static int queued(struct tcp_ep *ep, size_t bytes)
{
    ep->end += bytes;
    count(ep);
    if ((ep->state == TCP_OPEN || ep->state == TCP_GREETING) && !ep->is_full) flush(ep);
    return GW_OK;
}

/* The peer has ended. */
static GW_COLD int refused(const struct tcp_ep *ep) { return may_be_lost(ep) ? GW_OK : ep_fail(ep, EPIPE); }

/* The queue is empty: writes from the caller's memory, and queues what the socket does not take. */
static int send_straight(struct tcp_ep *ep, uint8_t kind, const void *hdr, const void *payload, size_t len)
{
    enum { SMALL = 512 };
    struct {
        struct tcp_head head;
        char payload[SMALL + TCP_ALIGN];
    } m;
    size_t total = tcp_total(len);
    static const char zeros[TCP_ALIGN];
    struct iovec iov[] = {{&m.head, sizeof m.head}, {(void *)(uintptr_t)payload, len}, {(void *)(uintptr_t)zeros, 0}};
    ssize_t n;
    head_fill(&m.head, kind, hdr, len);
    if (likely(len <= SMALL)) {
        if (len) {
            memset((char *)&m + total - TCP_ALIGN, 0, TCP_ALIGN);
            memcpy(m.payload, payload, len);
        }
        do n = send(ep->fd, &m, total, MSG_NOSIGNAL | MSG_DONTWAIT);
        while (unlikely(n < 0) && errno == EINTR);
        if (unlikely(n < 0) && is_no_room(errno)) no_room(ep, errno);
    } else {
        iov[2].iov_len = total - sizeof m.head - len;
        n = write_some(ep, iov, 3);
    }
    if (likely(n == (ssize_t)total)) return GW_OK;
    if (n < 0 && !is_no_room(errno)) {
        int err = errno;
        lost(ep, err);
        return may_be_lost(ep) ? GW_OK : ep_fail(ep, err);
    }
    char *whole = queue_room(ep, total);
    assert(whole); /* an empty queue has room for any message */
    memcpy(whole, &m.head, sizeof m.head);
    if (len) gw_copy(whole + sizeof m.head, payload, len);
    pad_clear(whole + sizeof m.head + len, len);
    ep->at += n > 0 ? (size_t)n : 0;
    ep->end += total;
    due(ep, !ep->is_full);
    count(ep);
    return GW_OK;
}

int tcp_send_short(struct wire_ep *base, uint8_t kind, const void *hdr, const void *payload, size_t len)
{
    struct tcp_ep *ep = (struct tcp_ep *)base;
    assert(len <= TCP_PACK_MAX);
    if (likely(ep->state == TCP_OPEN) && likely(!ep->is_waiting)) return send_straight(ep, kind, hdr, payload, len);
    if (unlikely(ep->state == TCP_BROKEN)) return refused(ep);
    char *at = queue_room(ep, tcp_total(len));
    if (!at) return GW_AGAIN;
    head_fill((struct tcp_head *)(void *)at, kind, hdr, len);
    at += sizeof(struct tcp_head);
    if (len) gw_copy(at, payload, len);
    pad_clear(at + len, len);
    return queued(ep, tcp_total(len));
}

int tcp_send_pack(struct wire_ep *base, uint8_t kind, const void *hdr, struct type_cursor *c, size_t len)
{
    struct tcp_ep *ep = (struct tcp_ep *)base;
    assert(len <= TCP_PACK_MAX);
    if (unlikely(ep->state == TCP_BROKEN)) return refused(ep);
    char *at = queue_room(ep, tcp_total(len));
    if (!at) return GW_AGAIN;
    head_fill((struct tcp_head *)(void *)at, kind, hdr, len);
    at += sizeof(struct tcp_head);
    int64_t packed = type_cursor_pack(c, at, (int64_t)len);
    assert(packed == (int64_t)len);
    (void)packed;
    pad_clear(at + len, len);
    return queued(ep, tcp_total(len));
}

int tcp_send_many(struct wire_ep *base, uint8_t kind, const struct wire_part *parts, int n)
{
    struct tcp_ep *ep = (struct tcp_ep *)base;
    size_t total = 0;
    if (unlikely(ep->state == TCP_BROKEN)) return refused(ep);
    for (int i = 0; i < n; i++) total += tcp_total(parts[i].len);
    char *at = queue_room(ep, total);
    if (!at) return GW_AGAIN;
    for (int i = 0; i < n; i++) {
        size_t len = parts[i].len;
        head_fill((struct tcp_head *)(void *)at, kind, parts[i].hdr, len);
        at += sizeof(struct tcp_head);
        if (len) gw_copy(at, parts[i].payload, len);
        pad_clear(at + len, len);
        at += tcp_total(len) - sizeof(struct tcp_head);
    }
    return queued(ep, total);
}

int tcp_send_from(struct wire_ep *base, const void *from, size_t bytes, uint64_t ticket, struct gw_done *done)
{
    struct tcp_ep *ep = (struct tcp_ep *)base;
    struct tcp_give *g = gw_xmalloc(sizeof *g);
    assert(done);
    *g = (struct tcp_give){.done = done, .from = from, .left = bytes, .ticket = ticket};
    gw_list_push(&ep->gives, &g->link);
    if (unlikely(ep->state == TCP_BROKEN || bytes == 0)) {
        give_over(ep, g, bytes && ep->state == TCP_BROKEN ? ep_fail(ep, EPIPE) : GW_OK);
        return GW_POSTED;
    }
    count(ep);
    if (ep->state == TCP_OPEN && !ep->is_full) flush(ep);
    return GW_POSTED;
}

/* ---- calling -------------------------------------------------------------------------------------------------------------------- */
/* Does an errno say that the link or the other end has failed, or that a stranger answers there? */
static inline bool is_of_peer(int err) { return tcp_is_of_link(err) || err == EPROTO; }

static GW_COLD void call_failed(struct tcp_ep *ep, int err, const char *call)
{
    enum { DOUBLED = 6, FIRST_NS = 1000000 };
    static const uint64_t patience_ns = 2000000000; /* a link that flaps just now */
    static const uint64_t refused_ns = 300000000;   /* a firewall that is being loaded, a router with no room just now */
    uint64_t now = gw_now_ns(), since = now - ep->begun_ns;
    bool is_cut = err == ENETUNREACH && since > patience_ns, is_refused = err == ECONNREFUSED, is_here = !is_of_peer(err);
    hang_up(ep);
    ep->kept = 0;
    /* This end cannot call at all: to whom, or whether it matters, is of no account, except at the end. */
    if (is_here && !ep->w->is_closing && !is_parted(ep) && !gw_retry_may(&ep->retry, err))
        gw_die("%s (%s)%s", (ep_fail(ep, err), gw_fail_text()), call, gw_error_advice(err));
    /* A process that has published its address listens until it ends, so a connection that is refused for some time means that it has ended.
     * After a timeout in GREETING the peer may have received the messages already: they must not be sent again. */
    if (is_refused ? since > refused_ns || ep->w->is_closing || is_parted(ep)
                   : is_cut || (err == ETIMEDOUT && ep->state == TCP_GREETING) || (may_be_lost(ep) && !is_here)) {
        lost(ep, err);
        return;
    }
    ep->again_ns = now + ((uint64_t)FIRST_NS << (ep->tries < DOUBLED ? ep->tries : DOUBLED));
    ep->tries++;
    become(ep, TCP_RESTING);
}

static void called(struct tcp_ep *ep);

/* The first message should be in the kernel's hands when its send returns, since the program may compute for a long time afterwards; the
 * peer's kernel accepts the connection without the peer's process.  So the first call waits a little for the connection. */
void tcp_call(struct tcp_ep *ep)
{
    enum { PATIENCE_MS = 1000 };
    const struct sockaddr_storage *at = &ep->there.at;
    assert(ep->fd < 0 && (ep->state == TCP_RESTING || ep->state == TCP_BROKEN) && ep->kept == 0);
    if (!ep->begun_ns) ep->begun_ns = gw_now_ns();
    ep->welcome_got = 0;
    ep->is_full = false;
    ep->fd = boot_far_connect(at);
    if (ep->fd < 0) {
        call_failed(ep, errno, "socket, connect");
        return;
    }
    tcp_tune(ep->fd);
    become(ep, TCP_CALLING);
    if (tcp_watch(ep->w, ep->fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, &ep->what) != GW_OK) gw_die("%s", gw_fail_text());
    if (ep->tries == 0 && poll(&(struct pollfd){.fd = ep->fd, .events = POLLOUT}, 1, PATIENCE_MS) == 1) called(ep);
}

/* A new connection has room for it.  0, or an errno. */
static GW_COLD int written(const struct tcp_ep *ep, const void *data, size_t bytes)
{
    int64_t n = boot_port_write(ep->fd, data, bytes);
    return n == (int64_t)bytes ? 0 : n < 0 ? errno : ECONNRESET;
}

/* The secret opens the gate; all else goes by TLS.  0, or an errno; then the endpoint has no descriptor, or one that is to be closed. */
static GW_COLD int called_by_tls(struct tcp_ep *ep, const struct tcp_hello *h)
{
    int err = written(ep, &h->secret, sizeof h->secret);
    if (err) return err;
    epoll_ctl(ep->w->fd, EPOLL_CTL_DEL, ep->fd, NULL);
    ep->fd = tcp_tls_wrap(ep->fd, false, &ep->there.tls);
    if (ep->fd < 0) return errno;
    if (tcp_watch(ep->w, ep->fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, &ep->what) != GW_OK) gw_die("%s", gw_fail_text());
    return written(ep, &h->rest, sizeof h->rest);
}

/* A credential for this connection alone.  False: munged has not made it yet. */
static GW_COLD bool proof_make(struct tcp_ep *ep, const struct tcp_hello *h, char out[TCP_MUNGE_TEXT])
{
    enum { PATIENCE_MS = 1000 }; /* as tcp_call() has for the connection, and for the same reason */
    if (ep->called && ep->called->ask) {
        if (!tcp_ask_is_done(ep->called->ask)) return false;
        int reason = tcp_ask_take(&ep->called->ask, out);
        if (reason) gw_die("rank %d cannot be connected to: %s", ep->rank, tcp_munge_why(reason, "here"));
        return true;
    }
    if (!ep->called) ep->called = gw_xcalloc(1, sizeof *ep->called);
    struct tcp_proof *p = &ep->called->proof;
    *p = (struct tcp_proof){.way = TCP_PROOF_CALLS, .secret = h->secret, .rest = h->rest};
    if (boot_secret_make(&p->fresh) != GW_OK) gw_die("%s", gw_fail_text());
    ep->called->ask = tcp_ask_make(p, sizeof *p);
    return tcp_ask_wait(ep->called->ask, PATIENCE_MS) && proof_make(ep, h, out);
}

/* A connect has completed, with or without an error; once more when munged has answered. */
static void called(struct tcp_ep *ep)
{
    int err = 0;
    socklen_t bytes = sizeof err;
    struct tcp_hello h = {
        .secret = ep->there.secret,
        .rest = {.magic = TCP_MAGIC, .lane = ep->w->lane, .as = ep->base.as, .nonce = ep->nonce},
    };
    if (getsockopt(ep->fd, SOL_SOCKET, SO_ERROR, &err, &bytes) != 0) err = errno;
    char proof[TCP_MUNGE_TEXT];
    if (!err && ep->there.has_munge && !proof_make(ep, &h, proof)) return;
    if (!err && ep->there.has_tls) err = called_by_tls(ep, &h);
    if (!err && !ep->there.has_tls) err = written(ep, &h, sizeof h);
    if (!err && ep->there.has_munge) err = written(ep, proof, sizeof proof);
    if (err)
        call_failed(ep, err, "connect, getsockopt, sendto");
    else
        become(ep, TCP_GREETING);
}

/* The answer's credential.  Behind the right reply it is a rank's, or somebody's who reads the network: no message may go there.  False: munged
 * has not read it yet. */
static GW_COLD bool proof_check(struct tcp_ep *ep)
{
    struct tcp_proof p;
    if (!ep->called->ask) ep->called->ask = tcp_ask_check(ep->called->answer, sizeof p);
    if (!tcp_ask_is_done(ep->called->ask)) return false;
    int reason = tcp_ask_take(&ep->called->ask, &p);
    ep->called->proof.way = TCP_PROOF_ANSWERS;
    if (reason == 0 && memcmp(&p, &ep->called->proof, sizeof p) != 0) reason = TCP_MUNGE_OTHER;
    if (reason) gw_die("the MUNGE credential of rank %d is refused: %s", ep->rank, tcp_munge_why(reason, "here"));
    return true;
}

/* The welcome, and behind it the credential. */
static int64_t answer_read(struct tcp_ep *ep)
{
    if (ep->welcome_got < sizeof ep->welcome)
        return boot_port_read(ep->fd, (char *)&ep->welcome + ep->welcome_got, sizeof ep->welcome - ep->welcome_got);
    size_t got = ep->welcome_got - sizeof ep->welcome;
    return boot_port_read(ep->fd, ep->called->answer + got, TCP_MUNGE_TEXT - got);
}

static void opened(struct tcp_ep *ep)
{
    size_t kept = ep->kept;
    ep->kept = 0;
    ep->retry = (struct gw_retry){0};
    become(ep, TCP_OPEN);
    network_alive_met(ep->w->alive, ep->rank);
    consume(ep, kept);
    count(ep);
}

static void welcomed(struct tcp_ep *ep)
{
    size_t all = sizeof ep->welcome + (ep->there.has_munge ? TCP_MUNGE_TEXT : 0);
    int64_t n = ep->welcome_got < all ? answer_read(ep) : 0;
    if (n < 0) {
        failed(ep, errno);
        return;
    }
    ep->welcome_got += (size_t)n;
    assert(ep->welcome_got <= all);
    if (ep->welcome_got < sizeof ep->welcome) return;
    if ((ep->welcome.reply ^ ep->there.reply) != 0 || ep->welcome.magic != TCP_MAGIC) {
        tcp_drop(1, "an answer at the address of a rank that is not from that rank");
        call_failed(ep, EPROTO, "recv");
        return;
    }
    if (ep->welcome.refused && ep->there.has_munge)
        gw_die("rank %d refuses the MUNGE credential of this one (rank %d, host %s): %s", ep->rank, gw_boot.rank, gw_boot.host,
               tcp_munge_why((int)ep->welcome.refused, "there"));
    if (ep->welcome_got < all) {
        if (n > 0) welcomed(ep); /* the connection tells of what comes once */
        return;
    }
    if (!ep->there.has_munge || proof_check(ep)) opened(ep);
}

int tcp_out_event(struct tcp_ep *ep, uint32_t events)
{
    char more;
    if (ep->state == TCP_CALLING && events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) called(ep);
    if (ep->state == TCP_GREETING && events & (EPOLLIN | EPOLLRDHUP | EPOLLERR | EPOLLHUP)) welcomed(ep);
    if (events & EPOLLOUT) ep->is_full = false;
    if (ep->state != TCP_OPEN) return 1 + (ep->state == TCP_GREETING && has_output(ep) && flush(ep));
    if (events & (EPOLLIN | EPOLLRDHUP | EPOLLERR | EPOLLHUP)) { /* nothing comes there after the answer, but the end */
        ssize_t n = recv(ep->fd, &more, 1, MSG_DONTWAIT);
        if (n > 0) tcp_drop(1, "an answer that nobody asked for");
        if (n >= 0 || (errno != EAGAIN && errno != EINTR)) {
            lost(ep, n >= 0 ? ECONNRESET : errno);
            return 1;
        }
    }
    return has_output(ep) && !ep->is_full ? flush(ep) : 0;
}

int tcp_due_look(struct wire *w)
{
    int n = 0;
    for (struct gw_list *l = w->due.next, *next; l != &w->due; l = next) {
        struct tcp_ep *ep = container_of(l, struct tcp_ep, due);
        next = l->next;
        if (ep->state == TCP_OPEN || ep->state == TCP_GREETING)
            n += flush(ep);
        else if (ep->state == TCP_RESTING && gw_now_ns() >= ep->again_ns)
            tcp_call(ep);
    }
    while (!gw_list_empty(&w->given)) {
        struct tcp_give *g = container_of(w->given.next, struct tcp_give, link);
        struct gw_done *done = g->done;
        int err = g->err;
        gw_list_del(&g->link);
        free(g);
        if (w->is_closing) continue; /* nobody waits for it any more */
        done->fn(done, err);
        n++;
    }
    return n;
}

void tcp_asks_look(struct wire *w)
{
    for (struct tcp_ep *ep = w->all; ep; ep = ep->next) {
        if (!ep->called || !ep->called->ask || !tcp_ask_is_done(ep->called->ask)) continue;
        if (ep->state == TCP_CALLING)
            called(ep);
        else if (ep->state == TCP_GREETING)
            tcp_out_event(ep, EPOLLIN); /* what came meanwhile, such as the end, is told of no more */
    }
}

void tcp_calls_look(struct wire *w)
{
    enum { WARN_S = 5 };
    uint64_t now = gw_now_ns();
    if (now < w->look_ns) return;
    w->look_ns = now + 1000000000;
    for (struct tcp_ep *ep = w->all; ep; ep = ep->next) {
        uint64_t seconds = ep->state == TCP_CALLING || ep->state == TCP_RESTING ? (now - ep->begun_ns) / 1000000000 : 0;
        bool is_last = gw_set.net_timeout > 0 && seconds >= (uint64_t)gw_set.net_timeout;
        if (ep->called && ep->called->ask) continue; /* it is munged that is waited for */
        if (seconds < WARN_S || (ep->is_warned && !is_last)) continue;
        ep->is_warned = true;
        network_complain(ep->rank, (const struct sockaddr *)&ep->there.at, seconds);
    }
}

void tcp_ep_close(struct tcp_ep *ep)
{
    struct wire *w = ep->w;
    hang_up(ep);
    output_clear(ep, GW_EOTHER);
    become(ep, TCP_BROKEN);
    for (struct tcp_ep **at = &w->all; *at; at = &(*at)->next)
        if (*at == ep) {
            *at = ep->next;
            break;
        }
    free(ep->called);
    free(ep);
}
