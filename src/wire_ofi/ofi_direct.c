/* ofi_direct.c -- long messages straight between the user's buffers, without a copy by this library at either end.
 *
 * The receiver posts its buffer as a tagged receive under a tag of its choice, the ticket, and sends the ticket to the sender.  So
 * the data arrive in place, and a provider over TCP reads them from its socket into the buffer.  Tickets are counted from a random
 * number on, so that nobody else can guess one.  The bytes that arrive are counted: either all of the message arrives, or the
 * operation fails.  One-sided reads and writes would do the same, but with a provider without a card each costs another turn of
 * both processes.
 *
 * A provider that moves the data by itself reports nothing until all have arrived, and a process without events goes to sleep.  So
 * a transfer under way counts as progress, for as long as it may reasonably take.
 *
 * Reading a TCP socket every few KiB is slow: the reader and the arriving packets contend for the socket's lock, and each poll
 * costs two system calls.  So while a long message is arriving, a poll that found nothing complete is followed by a pause.
 * Two hosts on veth, receiver and sender on cores of their own: 16 messages of 1 MiB under way took 665 to 777 us each without a
 * pause, 275 to 460 with 10 us, 430 to 596 with 50; 16 MiB took 8.6 ms and 4.4.  Transfers of less than 512 KiB in all arrive
 * before a pause could help: one of 300 KB took 87 us with it and 78 without (Skylake-X, November 2026).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_ofi/ofi_private.h"
#include "base/time.h"

#include <sched.h>
#include <stdlib.h>

enum {
    CHUNK = 512 << 10, /* 8 MiB between two hosts took 3.3 to 4.4 ms so, 4 to 8 in chunks of 128 KiB, 5 to 7 as a whole */
    STREAM_LEAST = 512 << 10,
    CHUNKS_WANTED = 64, /* for more, chunks get longer instead, up to the provider's largest message */
};
static const uint64_t slowest = 100; /* bytes per microsecond; a transfer counts as progress for as long as it takes at this rate */
static const uint64_t start_ns = 1000000;
static const uint64_t rest_ns = 10000;

struct transfer {
    struct ofi_op op;    /* shared by all chunks */
    struct gw_list link; /* in wire.direct_waiting while not all of it is posted */
    struct gw_done *done;
    struct ofi_ep *ep; /* a send to this peer; NULL: a receive */
    char *at;          /* where the part begins that is not posted yet */
    size_t left, chunk, missing;
    size_t owed;     /* receives: bytes that have not arrived yet */
    uint64_t ticket; /* the tag of the next chunk */
    int err;
    size_t stream_bytes; /* what this transfer has added to the wire's count */
};

void ofi_chunk_done(struct wire *w, struct ofi_op *op, const struct fi_cq_tagged_entry *e, int err)
{
    struct transfer *t = container_of(op, struct transfer, op);
    if (t->ep)
        w->under_way--;
    else if (likely(!err))
        t->owed -= e->len; /* a longer one fails with truncation */
    if (unlikely(err))
        t->err = gw_fail(GW_EOTHER, "a long message over the network failed (provider %s): %s", ofi_provider_name(w),
                         fabric_lib.strerror(err));
    if (--t->missing > 0) return;
    if (unlikely(t->owed) && !t->err)
        t->err = gw_fail(
            GW_EOTHER, "a long message over the network came %zu bytes short (provider %s): sender and receiver cut it differently",
            t->owed, ofi_provider_name(w));
    struct gw_done *done = unlikely(err) && w->is_closing ? NULL : t->done; /* nothing waits for it any more */
    int result = t->err;
    w->n_direct--;
    w->stream_bytes -= t->stream_bytes;
    gw_list_del(&t->link);
    free(t);
    if (done) done->fn(done, result);
}

/* Posts as many chunks as the provider accepts.  The rest stays in direct_waiting and is posted later, as the peer waits for it. */
static void transfer_post(struct wire *w, struct transfer *t)
{
    ssize_t rc = 0;
    while (t->left > 0 && rc == 0) {
        size_t n = t->left < t->chunk ? t->left : t->chunk;
        rc = t->ep ? fi_tsend(w->ep, t->at, n, NULL, t->ep->addr, t->ticket, &t->op.context)
                   : fi_trecv(w->ep, t->at, n, NULL, FI_ADDR_UNSPEC, t->ticket, 0, &t->op.context);
        if (rc != 0) break;
        if (t->ep) w->under_way++;
        t->at += n;
        t->left -= n;
        t->ticket++;
    }
    if (rc != 0 && rc != -FI_EAGAIN)
        gw_die("a long message over the network is refused (provider %s): %s", ofi_provider_name(w), fabric_lib.strerror((int)-rc));
}

/* The size of chunks of a message; sender and receiver compute the same. */
static size_t chunk_of(const struct wire *w, size_t bytes)
{
    size_t chunk = gw_align_up(bytes / CHUNKS_WANTED + 1, CHUNK), most = w->info->ep_attr->max_msg_size;
    return chunk < most ? chunk : most;
}

static int transfer_start(struct wire *w, struct ofi_ep *ep, void *at, size_t bytes, uint64_t ticket, struct gw_done *done)
{
    struct transfer *t = gw_xmalloc(sizeof *t);
    size_t chunk = chunk_of(w, bytes);
    *t = (struct transfer){
        .op.fn = ofi_chunk_done, .done = done, .ep = ep, .at = at, .left = bytes, .chunk = chunk, .ticket = ticket};
    t->missing = (bytes + chunk - 1) / chunk;
    t->owed = ep ? 0 : bytes;
    gw_list_init(&t->link);
    transfer_post(w, t);
    if (t->left > 0) gw_list_push(&w->direct_waiting, &t->link);
    uint64_t until = gw_now_ns() + start_ns + bytes * 1000 / slowest;
    t->stream_bytes = !ep && ofi_is_by_tcp(w) ? bytes : 0;
    w->n_direct++;
    w->stream_bytes += t->stream_bytes;
    if (until > w->direct_until) w->direct_until = until;
    return GW_POSTED;
}

int ofi_recv_into(struct wire *w, void *to, size_t bytes, uint64_t *ticket_out, struct gw_done *done)
{
    uint64_t apart = w->is_tagged ? ofi_tag_apart(&w->layout) : 0;
    *ticket_out = apart | (w->tickets + 1);
    w->tickets += bytes / chunk_of(w, bytes) + 1; /* one per chunk */
    return transfer_start(w, NULL, to, bytes, *ticket_out, done);
}

int ofi_send_from(struct wire_ep *base, const void *from, size_t bytes, uint64_t ticket, struct gw_done *done)
{
    struct ofi_ep *ep = (struct ofi_ep *)base;
    return transfer_start(ep->w, ep, (void *)(uintptr_t)from, bytes, ticket, done);
}

int ofi_direct_progress(struct wire *w, bool is_quiet)
{
    int n = 0;
    for (struct gw_list *l = w->direct_waiting.next, *next; l != &w->direct_waiting; l = next) {
        struct transfer *t = container_of(l, struct transfer, link);
        size_t left = t->left;
        next = l->next;
        transfer_post(w, t);
        n += left != t->left;
        if (t->left > 0) continue;
        gw_list_del(&t->link);
        gw_list_init(&t->link);
    }
    uint64_t now = n == 0 && is_quiet ? gw_now_ns() : UINT64_MAX;
    if (now > w->direct_until) return n;
    if (w->stream_bytes >= STREAM_LEAST) w->rest_until = now + rest_ns;
    if (gw_node.oversubscribed) sched_yield();
    return 1;
}

bool ofi_direct_rests(const struct wire *w)
{
    if (w->stream_bytes < STREAM_LEAST || gw_now_ns() >= w->rest_until) return false;
    if (gw_node.oversubscribed) sched_yield();
    return true;
}
