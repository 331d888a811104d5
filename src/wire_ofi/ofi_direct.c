/* ofi_direct.c -- long messages from memory to memory, without a copy of ours at either end.
 *
 * The receiver posts its memory under a tag of its own choice, the ticket, and tells the sender; so what arrives finds its place at
 * once.  Tickets are counted from a random number on: nobody else guesses one.  What arrives is counted, and is the message or an error.  And a provider over a stream reads the data there from its socket.  Reads and writes of memory would do the same, but a
 * provider without a card takes another turn of both processes for each.
 *
 * A provider that moves the data by itself says nothing until all of it is there, and a process that hears nothing goes to sleep: so a
 * transfer under way counts as something that happens, for as long as it may reasonably take.
 *
 * A stream of the kernel's is slow to one who takes every few KiB of it: his looks and the arriving packets want the same lock, and each
 * look costs two system calls.  So while something long is on its way to here, a look that found nothing complete is followed by a rest.
 * Two hosts on veth, receiver and sender on cores of their own: 16 messages of 1 MiB under way took 665 to 777 us each without, 275 to
 * 460 with 10 us, 430 to 596 with 50; 16 MiB 8.6 ms and 4.4.  What is shorter than 512 KiB in all is there before a rest could help: one
 * of 300 KB took 87 us with it and 78 without (Skylake-X, November 2026).
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
    CHUNKS_WANTED = 64, /* longer ones instead of more, as far as the provider takes them */
};
static const uint64_t slowest = 100; /* bytes a microsecond */
static const uint64_t start_ns = 1000000;
static const uint64_t rest_ns = 10000;

struct transfer {
    struct ofi_op op;    /* of every chunk */
    struct gw_list link; /* in wire.direct_waiting while not all of it is posted */
    struct gw_done *done;
    struct ofi_ep *ep; /* to there; NULL: to here */
    char *at;          /* what is not posted yet */
    size_t left, chunk, missing;
    size_t owed;     /* bytes to here that no chunk has brought yet */
    uint64_t ticket; /* of the next chunk */
    int err;
    size_t stream_bytes; /* counted in the wire's */
};

void ofi_chunk_done(struct wire *w, struct ofi_op *op, const struct fi_cq_tagged_entry *e, int err)
{
    struct transfer *t = container_of(op, struct transfer, op);
    if (t->ep)
        w->under_way--;
    else if (likely(!err))
        t->owed -= e->len; /* each fits its chunk, or the provider says so */
    if (unlikely(err))
        t->err = gw_fail(GW_EOTHER, "a long message over the network failed (provider %s): %s", ofi_provider_name(w),
                         fabric_lib.strerror(err));
    if (--t->missing > 0) return;
    if (unlikely(t->owed) && !t->err)
        t->err = gw_fail(
            GW_EOTHER, "a long message over the network came %zu bytes short (provider %s): sender and receiver cut it differently",
            t->owed, ofi_provider_name(w));
    struct gw_done *done = unlikely(err) && w->is_closing ? NULL : t->done; /* nobody waits for it any more */
    int result = t->err;
    w->n_direct--;
    w->stream_bytes -= t->stream_bytes;
    gw_list_del(&t->link);
    free(t);
    if (done) done->fn(done, result);
}

/* As far as the provider takes it; what it does not take now waits in the list, for the other side counts on it. */
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

/* The same at both ends. */
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
    w->tickets += bytes / chunk_of(w, bytes) + 1; /* one a chunk */
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
