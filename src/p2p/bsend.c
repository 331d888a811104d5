/* bsend.c -- buffered mode (MPI 4.1 section 3.6): buffers of the process, of sessions and of communicators, given or automatic.
 *
 * A message is packed into a piece of the buffer and sent from there as bytes.  The list of pieces lives outside the user's
 * memory, so a message needs no more of it than its own bytes (less than MPI_BSEND_OVERHEAD allows for).
 * Lock order: lane, then buffer (pieces are given back from inside a lane's progress).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p/p2p_private.h"

#include <stdlib.h>

static struct bsend_buffer process_buffer;

static inline void bsend_assert_state(const struct bsend_buffer *b)
{
    if (GW_ASSERT_STATES) gw_assert_state(p2p_bsend_broken(b));
}

static void buffer_reset(struct bsend_buffer *b)
{
    memset(b, 0, sizeof *b);
    gw_list_init(&b->pieces);
    gw_list_init(&b->flushes);
}

static bool is_flushed(struct bsend_buffer *b, uint64_t number)
{
    for (struct gw_list *l = b->pieces.next; l != &b->pieces; l = l->next)
        if (container_of(l, struct bsend_piece, link)->number <= number) return false;
    return true;
}

/* A send has completed: frees its piece, and completes flushes.  Called from progress, with the send's lane locked. */
static void piece_done(struct gw_done *d, int err)
{
    (void)err; /* MPI_Bsend has returned: the error cannot be reported */
    struct bsend_piece *p = container_of(d, struct bsend_piece, done);
    struct bsend_buffer *b = p->buffer;
    gw_lock(&b->lock);
    assert(!gw_list_empty(&b->pieces) && p->number <= b->last_number);
    gw_list_del(&p->link);
    if (b->automatic) free(p->start);
    free(p);
    for (struct gw_list *l = b->flushes.next, *next; l != &b->flushes; l = next) {
        struct bsend_flush *f = container_of(l, struct bsend_flush, link);
        next = l->next;
        assert(f->number <= b->last_number && !req_is_done(&f->req));
        if (!is_flushed(b, f->number)) continue;
        gw_list_del(&f->link);
        req_complete(&f->req);
    }
    bsend_assert_state(b);
    gw_unlock(&b->lock);
}

/* The first gap of at least `bytes` in a buffer of the user, and the piece behind it; NULL: none.  The buffer is locked. */
static char *gap_find(struct bsend_buffer *b, int64_t bytes, struct gw_list **before_out)
{
    char *at = b->base;
    for (struct gw_list *l = b->pieces.next;; l = l->next) {
        char *end = l == &b->pieces ? b->base + b->size : container_of(l, struct bsend_piece, link)->start;
        if (end - at >= bytes) {
            *before_out = l;
            return at;
        }
        if (l == &b->pieces) return NULL;
        at = container_of(l, struct bsend_piece, link)->start + container_of(l, struct bsend_piece, link)->bytes;
    }
}

static int piece_take(struct bsend_buffer *b, int64_t bytes, struct bsend_piece **piece_out)
{
    struct bsend_piece *p = malloc(sizeof *p);
    if (!p) return gw_fail(GW_ENOMEM, "no memory for a buffered send");
    gw_lock(&b->lock);
    struct gw_list *before = &b->pieces;
    int64_t want = bytes > 0 ? bytes : 1; /* so that addresses stay distinct and ordered */
    p->start = b->automatic ? malloc((size_t)want) : gap_find(b, bytes, &before);
    if (!p->start) {
        int64_t used = 0;
        for (struct gw_list *l = b->pieces.next; l != &b->pieces; l = l->next)
            used += container_of(l, struct bsend_piece, link)->bytes;
        gw_unlock(&b->lock);
        free(p);
        if (b->automatic) return gw_fail(GW_ENOMEM, "no memory to buffer a message of %lld bytes", (long long)bytes);
        return gw_fail(GW_EBUFFER,
                       "the attached buffer of %lld bytes has no room for a message of %lld bytes (%lld bytes are still on their "
                       "way); attach a larger one, or MPI_BUFFER_AUTOMATIC",
                       (long long)b->size, (long long)bytes, (long long)used);
    }
    assert(b->attached && (b->automatic || (p->start >= b->base && p->start + bytes <= b->base + b->size)));
    p->buffer = b;
    p->bytes = bytes;
    p->done.fn = piece_done;
    p->number = ++b->last_number;
    gw_list_push(before, &p->link); /* at the tail of the list that begins at `before`: just in front of it */
    bsend_assert_state(b);
    gw_unlock(&b->lock);
    *piece_out = p;
    return GW_OK;
}

static struct bsend_buffer *buffer_for(struct gw_comm *c)
{
    struct bsend_buffer *own = c->bsend, *shared = c->family ? c->family->bsend : NULL;
    return own && own->attached ? own : shared && shared->attached ? shared : &process_buffer;
}

int p2p_buffered_send(const struct gw_data *d, int dst, int tag, struct gw_comm *c)
{
    struct bsend_buffer *b = buffer_for(c);
    struct bsend_piece *p;
    if (!b->attached)
        return gw_fail(GW_EBUFFER, "no buffer is attached: call MPI_Buffer_attach (or attach MPI_BUFFER_AUTOMATIC) first");
    if (b->automatic || d->bytes <= b->size) { /* a send that completes at once needs no buffer */
        struct proto_addr a = p2p_addr(c, dst, tag, GW_STREAM_P2P);
        gw_lock(&c->lane->lock);
        int sent = proto_send_try(&a, d);
        gw_unlock(&c->lane->lock);
        if (sent != GW_AGAIN) return sent;
    }
    int rc = piece_take(b, d->bytes, &p);
    if (rc == GW_EBUFFER) { /* progress may complete sends, which frees pieces */
        req_progress();
        rc = piece_take(b, d->bytes, &p);
    }
    if (rc != GW_OK) return rc;
    type_pack(d->buf, d->count, d->type, p->start);
    struct proto_addr a = p2p_addr(c, dst, tag, GW_STREAM_P2P);
    struct gw_req *r;
    if (unlikely(gw_checking)) proto_note_as(d->count, d->type);
    gw_lock(&c->lane->lock);
    struct gw_data packed = gw_data_plain(p->start, d->bytes, gw_type_byte);
    rc = proto_send(&a, &packed, PROTO_STANDARD, &r);
    if (rc >= 0)
        p2p_chain(r, &p->done, &p->unused);
    else
        piece_done(&p->done, rc);
    gw_unlock(&c->lane->lock);
    if (unlikely(gw_checking)) proto_note_as(0, NULL);
    return rc < 0 ? rc : GW_OK;
}

/* ---- attach, detach, flush ---------------------------------------------------------------------------------------- */
static void comm_buffer_free(struct gw_comm *c)
{
    p2p_buffer_flush(c);
    free(c->bsend);
    c->bsend = NULL;
}

int p2p_bsend_init_room(void)
{
    buffer_reset(&process_buffer);
    comm_upcalls.free_bsend = comm_buffer_free;
    gw_obj_predefine(&gw_msg_no_proc.obj, GW_KIND_MSG, GW_H_MESSAGE_NO_PROC);
    return GW_OK;
}

void p2p_bsend_finalize_room(void)
{
    p2p_buffer_flush(NULL);
    buffer_reset(&process_buffer);
}

static int buffer_attach(struct bsend_buffer *b, void *buf, int64_t size)
{
    if (size < 0) return gw_fail(GW_EARG, "the size of the buffer is %lld; it must not be negative", (long long)size);
    if (b->attached) return gw_fail(GW_EBUFFER, "a buffer is attached already; detach it first");
    b->attached = true;
    b->automatic = buf == GW_BUFFER_AUTOMATIC;
    b->base = b->automatic ? NULL : buf;
    b->size = b->automatic ? 0 : size;
    return GW_OK;
}

/* Attaches a buffer to a communicator or a session. */
static int buffer_attach_at(void **at, void *buf, int64_t size)
{
    if (!*at) {
        struct bsend_buffer *b = malloc(sizeof *b);
        if (!b) return gw_fail(GW_ENOMEM, "no memory to attach a buffer");
        buffer_reset(b);
        *at = b;
    }
    return buffer_attach(*at, buf, size);
}

static bool buffer_is_empty(void *arg)
{
    struct bsend_buffer *b = arg;
    gw_lock(&b->lock);
    bool empty = gw_list_empty(&b->pieces);
    gw_unlock(&b->lock);
    return empty;
}

/* Here and below, b is NULL if no buffer was ever attached. */
static int buffer_flush(struct bsend_buffer *b, struct gw_lane *lane)
{
    if (b && !buffer_is_empty(b)) req_block_until(lane, buffer_is_empty, b);
    return GW_OK;
}

static int buffer_detach(struct bsend_buffer *b, struct gw_lane *lane, void **buf_out, int64_t *size_out)
{
    if (!b || !b->attached) return gw_fail(GW_EBUFFER, "no buffer is attached: there is nothing to detach");
    buffer_flush(b, lane);
    assert(gw_list_empty(&b->pieces) && gw_list_empty(&b->flushes));
    *buf_out = b->automatic ? GW_BUFFER_AUTOMATIC : (void *)b->base;
    *size_out = b->size;
    b->attached = b->automatic = false;
    return GW_OK;
}

static int buffer_iflush(struct bsend_buffer *b, struct gw_lane *lane, struct gw_req **req_out)
{
    gw_lock(&lane->lock);
    struct bsend_flush *f = (struct bsend_flush *)req_new(lane, REQ_GENERAL);
    if (f) {
        f->req.err = GW_OK;
        gw_status_empty(&f->req.status);
        if (b) gw_lock(&b->lock);
        f->number = b ? b->last_number : 0;
        if (!b || is_flushed(b, f->number))
            req_complete(&f->req);
        else
            gw_list_push(&b->flushes, &f->link);
        if (b) gw_unlock(&b->lock);
    }
    gw_unlock(&lane->lock);
    if (!f) return GW_ENOMEM;
    *req_out = &f->req;
    return GW_OK;
}

static struct bsend_buffer *buffer_of(struct gw_comm *c) { return c ? c->bsend : &process_buffer; }
static struct gw_lane *lane_of_buffer(struct gw_comm *c) { return c ? c->lane : &gw_lanes[0]; }

int p2p_buffer_attach(struct gw_comm *c, void *buf, int64_t size)
{
    return c ? buffer_attach_at(&c->bsend, buf, size) : buffer_attach(&process_buffer, buf, size);
}

int p2p_buffer_flush(struct gw_comm *c) { return buffer_flush(buffer_of(c), lane_of_buffer(c)); }

int p2p_buffer_detach(struct gw_comm *c, void **buf_out, int64_t *size_out)
{
    return buffer_detach(buffer_of(c), lane_of_buffer(c), buf_out, size_out);
}

int p2p_buffer_iflush(struct gw_comm *c, struct gw_req **req_out)
{
    return buffer_iflush(buffer_of(c), lane_of_buffer(c), req_out);
}

int p2p_family_buffer_attach(struct comm_family *f, void *buf, int64_t size) { return buffer_attach_at(&f->bsend, buf, size); }

int p2p_family_buffer_flush(struct comm_family *f) { return buffer_flush(f->bsend, &gw_lanes[0]); }

int p2p_family_buffer_detach(struct comm_family *f, void **buf_out, int64_t *size_out)
{
    return buffer_detach(f->bsend, &gw_lanes[0], buf_out, size_out);
}

int p2p_family_buffer_iflush(struct comm_family *f, struct gw_req **req_out)
{
    return buffer_iflush(f->bsend, &gw_lanes[0], req_out);
}

void p2p_family_buffer_end(struct comm_family *f)
{
    buffer_flush(f->bsend, &gw_lanes[0]);
    free(f->bsend);
    f->bsend = NULL;
}
