/* tcp_recv.c -- accepted connections: messages, and zero-copy messages into the program's memory.
 *
 * Data is read into one buffer of the lane, from which complete messages are passed to the receive handler.  The rest of an incomplete
 * message is read behind its first bytes in a buffer of the connection, and the bytes of a zero-copy part into the program's memory, by the
 * same system call (readv) as what follows them.  Messages begin at multiples of TCP_ALIGN, since their lengths on the wire are multiples.
 *
 * A sender has shown the secret, so it is a process of the job.  A message that is invalid all the same is counted and closes its connection,
 * and has no other effect.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/uio.h>
#include <unistd.h>

#include "wire_tcp/tcp_private.h"
#include "base/copy.h"
#include "boot/port.h"

/* ---- zero-copy messages --------------------------------------------------------------------------------------------------------- */
/* A ticket: the index in w->takes + 1 in the low 32 bits, the generation of that entry in the high ones, so that a late or invalid ticket
 * finds nothing.  Returns the index + 1, or 0. */
static int take_named(const struct wire *w, uint64_t ticket)
{
    uint32_t place = (uint32_t)ticket;
    if (place == 0 || place > (uint32_t)w->n_takes) return 0;
    const struct tcp_take *t = &w->takes[place - 1];
    return t->done && t->generation == (uint32_t)(ticket >> 32) ? (int)place : 0;
}

static void takes_grow(struct wire *w)
{
    int n = w->n_takes ? 2 * w->n_takes : 16;
    w->takes = gw_xrealloc(w->takes, (size_t)n * sizeof *w->takes);
    memset(w->takes + w->n_takes, 0, (size_t)(n - w->n_takes) * sizeof *w->takes);
    for (int i = w->n_takes; i < n; i++) w->takes[i].next_free = i + 1 < n ? i + 2 : 0;
    w->free_take = w->n_takes + 1;
    w->n_takes = n;
}

int tcp_recv_into(struct wire *w, void *to, size_t bytes, uint64_t *ticket_out, struct gw_done *done)
{
    if (!w->free_take) takes_grow(w);
    int place = w->free_take;
    assert(place > 0 && place <= w->n_takes && done);
    struct tcp_take *t = &w->takes[place - 1];
    w->free_take = t->next_free;
    *t = (struct tcp_take){.done = done, .at = to, .left = bytes, .generation = t->generation};
    *ticket_out = (uint64_t)t->generation << 32 | (uint32_t)place;
    return GW_POSTED;
}

static void take_over(struct wire *w, int place, int err)
{
    struct tcp_take *t = &w->takes[place - 1];
    struct gw_done *done = t->done;
    assert(done); /* an entry completes once */
    *t = (struct tcp_take){.generation = t->generation + 1, .next_free = w->free_take};
    w->free_take = place;
    done->fn(done, err);
}

/* n bytes of the part under way have been stored.  The last ones of a message complete it. */
static void take_more(struct tcp_in *in, size_t n)
{
    struct wire *w = in->w;
    int place = in->take;
    struct tcp_take *t = &w->takes[place - 1];
    assert(n <= in->take_left && n <= t->left && t->in == in);
    t->at += n;
    t->left -= n;
    in->take_left -= n;
    if (in->take_left) return;
    in->take = 0;
    if (t->left == 0) take_over(w, place, GW_OK);
}

/* The head of a part has arrived.  False: there is no receive for it, or it is invalid. */
static bool part_begin(struct tcp_in *in, const struct tcp_head *h)
{
    struct wire *w = in->w;
    uint64_t named[2];
    memcpy(named, h->hdr, sizeof named);
    int place = take_named(w, named[0]);
    struct tcp_take *t = place ? &w->takes[place - 1] : NULL;
    if (!t || named[1] || h->len == 0 || h->len > t->left || (t->in && t->in != in)) return false;
    t->in = in;
    in->take = place;
    in->take_left = h->len;
    in->skip = gw_align_up((size_t)h->len, TCP_ALIGN) - h->len;
    return true;
}

/* ---- connections ---------------------------------------------------------------------------------------------------------------- */
void tcp_in_begin(struct wire *w, struct tcp_in *in)
{
    struct tcp_welcome hello = {.reply = tcp_door_place()->reply, .magic = TCP_MAGIC};
    in->w = w;
    in->prev = NULL;
    in->next = w->ins;
    if (in->next) in->next->prev = in;
    w->ins = in;
    if (w->nonces[in->as] == in->nonce) { /* its messages may have come already */
        tcp_in_end(in, "a second connection of an endpoint");
        return;
    }
    w->nonces[in->as] = in->nonce;
    network_alive_met(w->alive, in->as);
    struct {
        struct tcp_welcome hello;
        char proof[TCP_MUNGE_TEXT];
    } all = {.hello = hello};
    size_t bytes = in->answer ? sizeof all : sizeof hello;
    if (in->answer) memcpy(all.proof, in->answer, sizeof all.proof);
    free(in->answer);
    in->answer = NULL;
    /* The buffer of a new connection has room for it. */
    int64_t n = boot_port_write(in->fd, &all, bytes);
    if (n < 0 && !tcp_is_of_link(errno))
        gw_die("rank %d, which has connected over the network, cannot be answered (sendto: %s)%s", (int)in->as, strerror(errno),
               gw_error_advice(errno));
    if (n == (int64_t)bytes && tcp_watch(w, in->fd, EPOLLIN, in) != GW_OK) gw_die("%s", gw_fail_text());
    if (n == (int64_t)bytes) return;
    w->nonces[in->as] = 0; /* nothing of it was read: the endpoint calls again, with all that it has */
    tcp_in_end(in, NULL);
}

void tcp_in_end(struct tcp_in *in, const char *why)
{
    struct wire *w = in->w;
    if (in->is_gone) return;
    in->is_gone = true;
    if (why) tcp_drop(1, why);
    epoll_ctl(w->fd, EPOLL_CTL_DEL, in->fd, NULL); /* a child of the program's may hold it, too */
    close(in->fd);
    if (in->next) in->next->prev = in->prev;
    *(in->prev ? &in->prev->next : &w->ins) = in->next;
    in->next = w->gone;
    w->gone = in;
    if (w->hot == in) w->hot = NULL;
    for (int i = 0; i < w->n_takes; i++) {
        if (w->takes[i].in != in) continue;
        w->takes[i].in = NULL;
        if (w->is_closing) continue; /* nobody waits for it any more */
        take_over(w, i + 1, gw_fail(GW_EOTHER, "the connection that a long message came by over the network (tcp) has ended"));
    }
}

void tcp_ins_free(struct wire *w)
{
    for (struct tcp_in *in = w->gone, *next; in; in = next) {
        next = in->next;
        free(in->answer);
        free(in->message);
        free(in);
    }
    w->gone = NULL;
}

static inline bool is_sound(const struct tcp_head *h) { return h->len <= TCP_PACK_MAX && h->kind < WIRE_CAUGHT; }

static const char odd[] = "a message whose kind or length is none of ours";

static inline void hand_up(struct wire *w, const char *at)
{
    const struct tcp_head *h = (const void *)at;
    w->recv(w->ctx, w->lane, h->kind, h->hdr, h + 1, h->len);
}

static void message_begin(struct tcp_in *in, const char *at, size_t bytes, size_t need)
{
    if (!in->message && !(in->message = aligned_alloc(GW_CACHELINE, gw_align_up(tcp_total(TCP_PACK_MAX), GW_CACHELINE))))
        gw_die("no memory for a message");
    memcpy(in->message, at, bytes);
    in->have = bytes;
    in->need = need;
}

/* Stores the bytes of a part, and skips its padding, that lie in the buffer; returns how many. */
static size_t part_take(struct tcp_in *in, const char *at, size_t bytes)
{
    size_t n = in->take_left < bytes ? in->take_left : bytes;
    if (n) gw_copy(in->w->takes[in->take - 1].at, at, n);
    if (n) take_more(in, n);
    if (in->take) return n;
    size_t skip = in->skip < bytes - n ? in->skip : bytes - n;
    in->skip -= skip;
    return n + skip;
}

/* Handles messages in the buffer, which begins with a head, and keeps an incomplete one.  Returns the number of messages. */
static int heads_take(struct tcp_in *in, const char *at, size_t bytes)
{
    int n = 0;
    for (; bytes >= sizeof(struct tcp_head) && !in->is_gone; n++) {
        const struct tcp_head *h = (const void *)at;
        size_t used = tcp_total(h->len);
        if (unlikely(h->kind == TCP_PART)) {
            if (!part_begin(in, h)) break;
            used = sizeof *h + part_take(in, at + sizeof *h, bytes - sizeof *h);
            at += used;
            bytes -= used;
            continue;
        }
        if (unlikely(!is_sound(h))) break;
        if (used > bytes) {
            message_begin(in, at, bytes, used);
            return n;
        }
        hand_up(in->w, at);
        at += used;
        bytes -= used;
    }
    if (unlikely(bytes >= sizeof(struct tcp_head))) {
        tcp_in_end(in, odd);
        return n;
    }
    memcpy(in->head, at, bytes);
    in->have = bytes;
    return n;
}

/* n more bytes of the incomplete message have been read. */
static int message_more(struct tcp_in *in, size_t n)
{
    in->have += n;
    assert(in->have <= in->need);
    if (in->have < in->need) return 0;
    in->have = in->need = 0;
    hand_up(in->w, in->message);
    return 1;
}

/* Handles new bytes in the buffer, from `at` on; before them lie `have` bytes of a head. */
static int buffer_take(struct tcp_in *in, char *at, size_t bytes)
{
    size_t skip = in->skip < bytes ? in->skip : bytes, have = in->have;
    in->skip -= skip;
    if (skip == bytes) return 0;
    in->have = 0;
    return heads_take(in, at + skip - have, bytes - skip + have);
}

/* A read returned 0 or an error: the connection has ended, unless there is just no data. */
static GW_COLD void cut(struct tcp_in *in, ssize_t got)
{
    bool is_half = in->take || in->need || in->have || in->skip;
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        in->retry.since_ns = 0;
        return;
    }
    bool has_no_memory = got < 0 && (errno == ENOMEM || errno == ENOBUFS);
    int err = errno;
    if (has_no_memory && gw_retry_may(&in->retry, err)) return; /* EPOLLIN comes again */
    if (got < 0 && !tcp_is_of_link(err))
        gw_die("messages of rank %d that have come over the network cannot be read (recv, readv: %s)%s", (int)in->as, strerror(err),
               gw_error_advice(err));
    errno = err;
    GW_EXPLAIN(GW_LOG_WIRE, "lane %d: a connection of rank %d has ended%s%s%s", in->w->lane, (int)in->as,
               is_half ? " in the middle of a message" : "", got < 0 ? ": " : "", got < 0 ? strerror(errno) : "");
    tcp_in_end(in, NULL);
}

int tcp_in_read(struct tcp_in *in)
{
    struct wire *w = in->w;
    int n = 0;
    for (size_t sum = 0; sum < TCP_ROUND_MOST && !in->is_gone;) {
        struct iovec iov[2];
        int k = 0;
        if (in->take)
            iov[k++] = (struct iovec){w->takes[in->take - 1].at, in->take_left};
        else if (in->need)
            iov[k++] = (struct iovec){in->message + in->have, in->need - in->have};
        else if (in->have)
            memcpy(w->buffer + TCP_ALIGN, in->head, in->have);
        size_t direct = k ? iov[0].iov_len : 0, before = in->need ? 0 : in->have;
        char *at = w->buffer + TCP_ALIGN + before - in->skip;
        size_t room = TCP_BUFFER - TCP_ALIGN - before;
        iov[k++] = (struct iovec){at, room};
        ssize_t got = k == 1 ? recv(in->fd, at, room, MSG_DONTWAIT) : readv(in->fd, iov, k);
        if (unlikely(got <= 0)) {
            if (got < 0 && errno == EFAULT) {
                tcp_fault(iov[0].iov_base, iov[0].iov_len, true);
                errno = EAGAIN; /* it was mapped meanwhile: again */
            }
            cut(in, got);
            return n + (got == 0);
        }
        size_t here = (size_t)got < direct ? (size_t)got : direct, rest = (size_t)got - here;
        if (here && in->take) {
            take_more(in, here);
            n++;
        } else if (here) {
            n += message_more(in, here);
        }
        if (rest) n += buffer_take(in, at, rest);
        sum += (size_t)got;
        if ((size_t)got < direct + room) break; /* there is nothing more */
    }
    return n;
}
