/* partitioned.c -- partitioned communication (MPI 4.1 chapter 4).
 *
 * A partitioned send and the receive that it matches are the two ends of a channel.  Both inits are local.  MPI_Psend_init sends an
 * introduction with the user's tag, which has the number and size of the channel's messages and their tags; MPI_Precv_init posts a
 * receive for it.  So ends match in the order of their inits, by the rules of other messages, on a stream of their own.
 *
 * Message i of a channel has the tag `first_tag + i`, which is negative, so that it matches neither an introduction nor another
 * channel of the same sender.  It is sent when all its partitions are ready, in any order, straight to its place in the receiver's
 * buffer.  The messages of two rounds are not mixed up, as messages with equal tags do not overtake each other.
 *
 *   INACTIVE --start--> ACTIVE --all messages over--> DONE --wait/test--> INACTIVE
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p/p2p_private.h"

#include <stdlib.h>

struct intro {
    int64_t message_bytes, total_bytes; /* message_bytes: of each message but the last, which may be shorter */
    int32_t first_tag, messages;
    struct p2p_parts parts; /* sent only with GODWIT_CHECK */
};
enum { NOT_SAID = -1 }; /* parts.may_be_any of a receive to which no signature has come */

struct message {
    struct gw_done done;
    struct part *part;
    struct gw_req *inner; /* the send or receive under way; NULL when none */
    char *bounce;         /* receives that do not begin and end at items of a datatype with gaps: owned buffer; else NULL */
    int64_t bounce_bytes;
    int32_t not_ready; /* sends: partitions that are still to be marked */
};

/* One end of a channel.  Freed when the user has freed its request and its introduction is complete.  LOCK:
 * the lane's, except for `missing`. */
struct part {
    struct gw_list link;    /* in `ends` */
    struct gw_req *req;     /* NULL: the user freed it */
    bool is_send, is_known; /* is_known: receives: the introduction has arrived */
    bool is_waiting;        /* receives: started, but the introduction has not arrived yet */
    struct gw_data data;    /* of all partitions; their type and comm are held while `req` is not NULL */
    int64_t count;          /* items per partition */
    struct gw_comm *comm;
    struct gw_lane *lane; /* comm's lane; comm may be freed before the introduction is complete */
    int32_t rank, tag, partitions;
    int32_t group; /* sends: partitions per message */
    struct intro intro;
    struct gw_done intro_done;
    struct gw_req *intro_req; /* the introduction's send or receive; NULL: complete */
    int32_t intro_err;        /* receives: < 0: the introduction failed, and so does each round */
    struct gw_status intro_status;
    int64_t pending;          /* messages of this round that are not complete */
    struct message *messages; /* [intro.messages] */
    bool *is_ready;           /* sends [partitions] */
    /* Receives [partitions]: messages that each still waits for [release in received, acquire in p2p_parrived]. */
    _Atomic int32_t *missing;
    struct p2p_error error;
};

struct part_req {
    struct gw_req req;
    struct part *part;
};
_Static_assert(sizeof(struct part_req) <= GW_REQ_BYTES, "fits a pooled request");

static struct part *part_of(const struct gw_req *r) { return container_of(r, struct part_req, req)->part; }

/* ---- the ends of this process, and their tags ------------------------------------------------------------------------ */
static struct {
    struct gw_lock lock;
    struct gw_list ends;
    int64_t next_tag;
    bool is_up, has_wrapped;
} all;
enum { FIRST_TAG = INT32_MIN, END_TAG = -65536 }; /* the special tags, MPI_ANY_TAG for one, lie above */

/* The end whose tags overlap [tag, tag + n), or NULL. */
static struct part *tags_in_use(int64_t tag, int64_t n)
{
    for (struct gw_list *l = all.ends.next; l != &all.ends; l = l->next) {
        struct part *p = container_of(l, struct part, link);
        if (p->is_send && tag < (int64_t)p->intro.first_tag + p->intro.messages && p->intro.first_tag < tag + n) return p;
    }
    return NULL;
}

/* Takes n tags in a row.  A range is used again only after all others: by then no message with its tags is under way. */
static int32_t tags_take(int32_t n)
{
    for (;;) {
        if (all.next_tag + n > END_TAG) {
            all.next_tag = FIRST_TAG;
            all.has_wrapped = true;
        }
        struct part *other = all.has_wrapped ? tags_in_use(all.next_tag, n) : NULL;
        if (!other) break;
        all.next_tag = (int64_t)other->intro.first_tag + other->intro.messages;
    }
    assert(all.next_tag >= FIRST_TAG && all.next_tag + n <= END_TAG);
    int32_t tag = (int32_t)all.next_tag;
    all.next_tag += n;
    return tag;
}

static void end_add(struct part *p)
{
    gw_lock(&all.lock);
    if (!all.is_up) {
        gw_list_init(&all.ends);
        all.next_tag = FIRST_TAG;
        all.is_up = true;
    }
    if (p->is_send) p->intro.first_tag = tags_take(p->intro.messages);
    gw_list_push(&all.ends, &p->link);
    gw_unlock(&all.lock);
}

static void end_destroy(struct part *p)
{
    gw_lock(&all.lock);
    gw_list_del(&p->link);
    gw_unlock(&all.lock);
    free(p->messages);
    free(p->is_ready);
    free((void *)p->missing);
    free(p);
}

void p2p_part_finalize(void)
{
    while (all.is_up && !gw_list_empty(&all.ends)) {
        struct part *p = container_of(all.ends.next, struct part, link);
        struct gw_lane *lane = p->lane;
        gw_lock(&lane->lock);
        if (p->intro_req) {
            p->intro_req->notify = NULL;
            if (!p->is_send) proto_cancel(p->intro_req);
        }
        if (p->req) {
            type_release(p->data.type);
            comm_release(p->comm);
        }
        end_destroy(p);
        gw_unlock(&lane->lock);
    }
    all.is_up = all.has_wrapped = false;
}

/* ---- a round --------------------------------------------------------------------------------------------------------- */
static void round_begin(struct part *p, int64_t pending)
{
    struct gw_req *r = p->req;
    assert(r->flags & REQ_PERSISTENT && p->pending == 0 && pending >= 0);
    atomic_store_explicit(&r->done, 0, memory_order_relaxed);
    r->err = GW_OK;
    r->flags |= REQ_ACTIVE;
    p->pending = pending;
}

/* One of the operations of the round has completed; the last one completes the round. */
static void round_step(struct part *p)
{
    assert(p->pending > 0);
    if (--p->pending > 0) return;
    struct gw_status *s = &p->req->status;
    if (p->is_send)
        gw_status_empty(s);
    else if (p->rank == GW_PROC_NULL)
        gw_status_fill(s, GW_PROC_NULL, GW_ANY_TAG, 0, false);
    else
        gw_status_fill(s, p->rank, p->tag, gw_min64(p->intro.total_bytes, p->data.bytes), false);
    req_complete(p->req);
}

static void round_error(struct part *p, int err)
{
    if (p->req->err == GW_OK) p2p_error_keep(p->req, &p->error, err);
}

static int64_t message_start(const struct part *p, int i) { return i * p->intro.message_bytes; }
static int64_t message_bytes(const struct part *p, int i)
{
    return gw_min64(p->intro.message_bytes, p->intro.total_bytes - message_start(p, i));
}

/* Called after proto_send() or proto_recv() of a message, with its return code. */
static void message_posted(struct message *m, int rc, struct gw_req *inner, struct gw_status *status)
{
    if (rc < 0) {
        m->inner = NULL;
        m->done.fn(&m->done, rc);
        return;
    }
    m->inner = req_is_done(inner) ? NULL : inner;
    p2p_chain(inner, &m->done, status);
}

/* Called when a message's operation has completed; keeps the text of an error. */
static void message_over(struct message *m, int err)
{
    if (err < 0 && m->inner) proto_error(m->inner);
    m->inner = NULL;
    if (err < 0) round_error(m->part, err);
}

/* ---- sending --------------------------------------------------------------------------------------------------------- */
static int message_partitions(const struct part *p, int i)
{
    int left = p->partitions - i * p->group;
    return left < p->group ? left : p->group;
}

static void sent(struct gw_done *d, int err)
{
    struct message *m = container_of(d, struct message, done);
    message_over(m, err);
    round_step(m->part);
}

/* n items of the buffer. */
static struct gw_data items_of(const struct part *p, int64_t first, int64_t n)
{
    return gw_data_host((char *)p->data.buf + first * p->data.type->extent, n, p->data.type);
}

static void message_send(struct part *p, int i)
{
    struct message *m = &p->messages[i];
    assert(p->is_send && m->not_ready == 0 && !m->inner);
    if (p->rank == GW_PROC_NULL) {
        round_step(p);
        return;
    }
    struct proto_addr a = p2p_addr(p->comm, p->rank, p->intro.first_tag + i, GW_STREAM_PART);
    struct gw_req *inner = NULL;
    struct gw_status unused;
    struct gw_data d = items_of(p, (int64_t)i * p->group * p->count, message_partitions(p, i) * p->count);
    int rc = proto_send(&a, &d, PROTO_STANDARD, &inner);
    message_posted(m, rc, inner, &unused);
}

static void send_start(struct part *p)
{
    round_begin(p, p->intro.messages);
    memset(p->is_ready, 0, (size_t)p->partitions);
    for (int i = 0; i < p->intro.messages; i++) p->messages[i].not_ready = message_partitions(p, i);
    if (p->intro.messages > 0) return;
    p->pending = 1;
    round_step(p);
}

static int check_partition(const struct part *p, int i)
{
    if (i >= 0 && i < p->partitions) return GW_OK;
    if (p->partitions == 0) return gw_fail(GW_EARG, "partition %d: the operation has no partitions", i);
    return gw_fail(GW_EARG, "partition %d: the operation has partitions 0 to %d", i, p->partitions - 1);
}

/* Marks partitions list[0..n) ready, or first, first + 1, ... if list is NULL: all of them or, on an error, none. */
static int mark(struct part *p, int n, const int *list, int first)
{
    int done = 0, rc = GW_OK;
    for (; done < n && rc == GW_OK; done++) {
        int i = list ? list[done] : first + done;
        rc = check_partition(p, i);
        if (rc == GW_OK && p->is_ready[i])
            rc = gw_fail(GW_EARG, "partition %d was marked ready before: once for each start, until the operation is complete", i);
        if (rc != GW_OK) break;
        p->is_ready[i] = true;
    }
    while (rc != GW_OK && --done >= 0) p->is_ready[list ? list[done] : first + done] = false;
    return rc;
}

/* The sending end of an active request; NULL: it has none, or is not active (GW_EREQUEST, text set). */
static struct part *sender_of(struct gw_req *r)
{
    if (r->kind == REQ_PSEND && r->flags & REQ_ACTIVE) return part_of(r);
    if (r->kind != REQ_PSEND)
        gw_fail(GW_EREQUEST, "the request is not that of a partitioned send (MPI_Psend_init)");
    else
        gw_fail(GW_EREQUEST, "the partitioned send is not active: start it (MPI_Start) before marking partitions ready");
    return NULL;
}

static int ready(struct part *p, int n, const int *list, int first)
{
    gw_lock(&p->lane->lock);
    int rc = mark(p, n, list, first);
    for (int k = 0; rc == GW_OK && k < n; k++) {
        int m = (list ? list[k] : first + k) / p->group;
        assert(m < p->intro.messages && p->messages[m].not_ready > 0);
        if (--p->messages[m].not_ready == 0) message_send(p, m);
    }
    gw_unlock(&p->lane->lock);
    return rc;
}

int p2p_pready(int partition, struct gw_req *r)
{
    struct part *p = sender_of(r);
    return p ? ready(p, 1, NULL, partition) : GW_EREQUEST;
}

int p2p_pready_range(int low, int high, struct gw_req *r)
{
    struct part *p = sender_of(r);
    if (!p) return GW_EREQUEST;
    int rc = check_partition(p, low);
    if (rc == GW_OK) rc = check_partition(p, high);
    if (rc == GW_OK && high < low) rc = gw_fail(GW_EARG, "partition_high is %d, which is less than partition_low, %d", high, low);
    return rc == GW_OK ? ready(p, high - low + 1, NULL, low) : rc;
}

int p2p_pready_list(int n, const int *partitions, struct gw_req *r)
{
    struct part *p = sender_of(r);
    return p ? ready(p, n, partitions, 0) : GW_EREQUEST;
}

/* ---- receiving ------------------------------------------------------------------------------------------------------- */

/* The receiver's partitions that message i overlaps: [*from_out, *to_out).  Without data, messages and partitions are compared as
 * if both had the same total size, so that MPI_Parrived still follows the sender's MPI_Pready. */
static void touched(const struct part *p, int i, int64_t *from_out, int64_t *to_out)
{
    int64_t of_partition = p->count * p->data.type->size, start = message_start(p, i), end = start + message_bytes(p, i);
    if (p->intro.total_bytes == 0 || of_partition == 0) {
        of_partition = p->intro.messages;
        start = (int64_t)i * p->partitions;
        end = start + p->partitions;
    }
    *from_out = gw_min64(start / (of_partition ? of_partition : 1), p->partitions);
    *to_out = of_partition ? gw_min64((end + of_partition - 1) / of_partition, p->partitions) : 0;
}

static void received(struct gw_done *d, int err)
{
    struct message *m = container_of(d, struct message, done);
    struct part *p = m->part;
    message_over(m, err);
    if (m->bounce) {
        struct type_cursor c;
        type_cursor_init(&c, p->data);
        type_cursor_seek(&c, message_start(p, (int)(m - p->messages)));
        type_cursor_unpack(&c, m->bounce, m->bounce_bytes);
        free(m->bounce);
        m->bounce = NULL;
    }
    int64_t j, to;
    /* [A1] pairs with the acquire in p2p_parrived(): the data are there before the count is 0. */
    for (touched(p, (int)(m - p->messages), &j, &to); j < to; j++)
        atomic_fetch_sub_explicit(&p->missing[j], 1, memory_order_release);
    round_step(p);
}

static void message_receive(struct part *p, int i)
{
    struct message *m = &p->messages[i];
    int64_t start = message_start(p, i), bytes = message_bytes(p, i), size = p->data.type->size;
    int64_t fits = start >= p->data.bytes ? 0 : gw_min64(bytes, p->data.bytes - start);
    struct proto_addr a = p2p_addr(p->comm, p->rank, p->intro.first_tag + i, GW_STREAM_PART);
    struct gw_req *inner = NULL;
    struct gw_status unused;
    struct gw_data d;
    bool is_placed = true;
    if (gw_data_is_run(&p->data) || fits == 0) {
        d = gw_data_plain(fits ? p->data.run + start : NULL, fits, gw_type_byte);
    } else if (fits == bytes && start % size == 0 && bytes % size == 0) {
        d = items_of(p, start / size, bytes / size);
    } else {
        m->bounce = calloc(1, (size_t)fits); /* cleared, as less may arrive */
        m->bounce_bytes = fits;
        is_placed = m->bounce != NULL;
        d = gw_data_plain(m->bounce, fits, gw_type_byte);
    }
    int rc = is_placed ? proto_recv(&a, &d, &inner) : gw_fail(GW_ENOMEM, "no memory for a part of %lld bytes", (long long)fits);
    message_posted(m, rc, inner, &unused);
}

/* Posts the receives of a round: it is started and the introduction has come. */
static void receive_all(struct part *p)
{
    p->is_waiting = false;
    if (p->intro_err < 0)
        round_error(p,
                    gw_fail(p->intro_err,
                            p->intro_err == GW_ENOMEM ? "no memory to receive the partitions"
                                                      : "what the sender says of its partitions cannot be"));
    for (int i = 0; i < p->intro.messages; i++) {
        int64_t j, to;
        for (touched(p, i, &j, &to); j < to; j++) atomic_fetch_add_explicit(&p->missing[j], 1, memory_order_relaxed);
    }
    /* The count that receive_start() has added is removed only now: a thread that calls MPI_Parrived meanwhile must not read 0. */
    for (int j = 0; j < p->partitions; j++) atomic_fetch_sub_explicit(&p->missing[j], 1, memory_order_relaxed);
    p->pending += p->intro.messages;
    for (int i = 0; i < p->intro.messages; i++) message_receive(p, i);
    round_step(p); /* for the posting itself: the round must not complete before all are posted */
}

static void receive_start(struct part *p)
{
    round_begin(p, 1);
    for (int j = 0; j < p->partitions && p->rank != GW_PROC_NULL; j++)
        atomic_store_explicit(&p->missing[j], 1, memory_order_relaxed);
    if (p->rank == GW_PROC_NULL)
        round_step(p);
    else if (p->is_known)
        receive_all(p);
    else
        p->is_waiting = true;
}

int p2p_parrived(struct gw_req *r, int partition, int *flag_out)
{
    if (r && r->kind != REQ_PRECV) return gw_fail(GW_EREQUEST, "the request is not that of a partitioned receive (MPI_Precv_init)");
    struct part *p = r ? part_of(r) : NULL;
    int rc = p ? check_partition(p, partition) : GW_OK;
    if (rc != GW_OK) return rc;
    *flag_out = 1;
    if (!p || !(r->flags & REQ_ACTIVE)) return GW_OK;
    if (atomic_load_explicit(&p->missing[partition], memory_order_acquire) == 0) return GW_OK;
    req_look();
    *flag_out = atomic_load_explicit(&p->missing[partition], memory_order_acquire) == 0;
    return GW_OK;
}

/* ---- life ------------------------------------------------------------------------------------------------------------ */
static bool messages_new(struct part *p)
{
    p->messages = calloc((size_t)p->intro.messages + 1, sizeof *p->messages);
    for (int i = 0; p->messages && i < p->intro.messages; i++) {
        p->messages[i].done.fn = p->is_send ? sent : received;
        p->messages[i].part = p;
    }
    return p->messages != NULL;
}

static void tell_met(struct part *p)
{
    if (p->intro.parts.may_be_any == NOT_SAID) return; /* the sender is of another job, without GODWIT_CHECK */
    struct p2p_parts_met m = {p->req, p->comm, p->rank, p->tag, p->partitions, p->count, p->data.type, &p->intro.parts};
    if (p2p_upcalls.parts_met) p2p_upcalls.parts_met(&m);
}

#define PART_BYTES_MAX (INT64_MAX / 2) /* the sum with the size of a buffer does not overflow */

/* Validates an introduction, of which `bytes` bytes have arrived. */
static bool intro_is_right(struct intro *in, int64_t bytes)
{
    const char *what = "the introduction of a partitioned send";
    int64_t all_but_last = 0, all = 0;
    if (bytes != sizeof *in && bytes != offsetof(struct intro, parts)) {
        gw_refused(what, "length", bytes);
        return false;
    }
    bool is_right = in->messages >= 0 && in->messages <= PART_MESSAGES_MAX && in->message_bytes >= 0 && in->total_bytes >= 0 &&
        in->first_tag <= END_TAG - in->messages && !__builtin_mul_overflow(in->message_bytes, in->messages - 1, &all_but_last) &&
        !__builtin_mul_overflow(in->message_bytes, in->messages, &all) && all_but_last <= in->total_bytes &&
        in->total_bytes <= all && in->total_bytes <= PART_BYTES_MAX;
    if (!is_right) gw_refused(what, "messages", in->messages);
    in->parts.type[sizeof in->parts.type - 1] = 0;
    return is_right;
}

static void introduced(struct gw_done *d, int err)
{
    struct part *p = container_of(d, struct part, intro_done);
    if (p->req && !p->is_send && err == GW_OK) {
        if (p->intro_req) p->intro_status = p->intro_req->status;
        if (!intro_is_right(&p->intro, gw_status_bytes(&p->intro_status))) err = GW_EOTHER;
    }
    p->intro_req = NULL;
    if (!p->req) {
        end_destroy(p);
        return;
    }
    if (p->is_send) return; /* every message reports the error again */
    if (unlikely(gw_checking) && err == GW_OK) tell_met(p);
    if (err == GW_OK && !messages_new(p)) err = GW_ENOMEM;
    if (err < 0) p->intro.messages = 0;
    p->intro_err = err;
    p->is_known = true;
    if (p->is_waiting) receive_all(p);
}

/* With the lane's lock held.  Sends or receives the introduction. */
static int introduce(struct part *p)
{
    struct proto_addr a = p2p_addr(p->comm, p->rank, p->tag, GW_STREAM_PART);
    struct gw_req *inner;
    size_t said = gw_checking ? sizeof p->intro : offsetof(struct intro, parts);
    struct gw_data d = gw_data_plain(&p->intro, p->is_send ? (int64_t)said : (int64_t)sizeof p->intro, gw_type_byte);
    int rc = p->is_send ? proto_send(&a, &d, PROTO_STANDARD, &inner) : proto_recv(&a, &d, &inner);
    if (rc < 0) return rc;
    p->intro_done.fn = introduced;
    p->intro_req = req_is_done(inner) ? NULL : inner;
    p2p_chain(inner, &p->intro_done, &p->intro_status);
    return GW_OK;
}

static struct p2p_parts parts_said(const struct part *p)
{
    struct p2p_parts s = {type_signature(p->data.type, p->partitions * p->count, INT64_MAX),
                          p->data.bytes,
                          p->count,
                          p->partitions,
                          type_has_packed(p->data.type),
                          ""};
    strncpy(s.type, type_name(p->data.type), sizeof s.type - 1);
    return s;
}

static struct part *part_new(struct part args)
{
    struct part *p = malloc(sizeof *p);
    if (!p) return NULL;
    *p = args;
    p->lane = p->comm->lane;
    bool is_ok;
    if (p->is_send) {
        p->group = (int)(((int64_t)p->partitions + PART_MESSAGES_MAX - 1) / PART_MESSAGES_MAX);
        if (p->group < 1) p->group = 1;
        p->intro.messages = (int)(((int64_t)p->partitions + p->group - 1) / p->group);
        p->intro.message_bytes = p->group * p->count * p->data.type->size;
        p->intro.total_bytes = p->data.bytes;
        if (unlikely(gw_checking)) p->intro.parts = parts_said(p);
        p->is_ready = calloc((size_t)p->partitions + 1, sizeof *p->is_ready);
        is_ok = messages_new(p) && p->is_ready;
    } else {
        p->intro.parts.may_be_any = NOT_SAID;
        p->missing = calloc((size_t)p->partitions + 1, sizeof *p->missing);
        is_ok = p->missing;
    }
    end_add(p);
    if (is_ok) return p;
    end_destroy(p);
    return NULL;
}

bool p2p_partitioned_pending(const struct gw_req *r, struct boot_pending *p_out)
{
    if (r->kind != REQ_PSEND && r->kind != REQ_PRECV) return false;
    const struct part *p = part_of(r);
    bool is_ready = true; /* else the program has to call MPI_Pready */
    for (int i = 0; p->is_send && i < p->partitions && is_ready; i++) is_ready = p->is_ready[i];
    *p_out = (struct boot_pending){.bytes = p->intro.total_bytes,
                                   .world = BOOT_WORLD_UNKNOWN,
                                   .peer = p->rank,
                                   .tag = p->tag,
                                   .ctx = p->comm->ctx,
                                   .about = is_ready            ? p->is_send ? BOOT_SEND : BOOT_RECV
                                       : boot_slot->is_threaded ? BOOT_OUTSIDE
                                                                : BOOT_PREADY,
                                   .stream = GW_STREAM_PART};
    return true;
}

static int init(struct part args, struct gw_req **req_out)
{
    struct gw_comm *c = args.comm;
    struct part *p = part_new(args);
    if (!p) return gw_fail(GW_ENOMEM, "no memory for %d partitions", args.partitions);
    gw_lock(&c->lane->lock);
    struct gw_req *r = req_new(c->lane, p->is_send ? REQ_PSEND : REQ_PRECV);
    p->req = r;
    int rc = !r ? GW_ENOMEM : p->rank == GW_PROC_NULL ? GW_OK : introduce(p);
    if (rc == GW_OK) {
        container_of(r, struct part_req, req)->part = p;
        r->flags = (uint16_t)((r->flags & ~REQ_ACTIVE) | REQ_PERSISTENT);
        r->errctx = p2p_errctx(c);
        type_hold(p->data.type);
        comm_hold(c);
        *req_out = r;
    } else {
        if (r) req_recycle(r);
        end_destroy(p);
    }
    gw_unlock(&c->lane->lock);
    return rc;
}

int p2p_psend_init(const void *buf, int partitions, int64_t count, struct gw_type *t, int dst, int tag, struct gw_comm *c,
                   struct gw_info *info, struct gw_req **req_out)
{
    (void)info;
    return init((struct part){.is_send = true,
                              .data = gw_data_of(buf, partitions * count, t),
                              .partitions = partitions,
                              .count = count,
                              .rank = dst,
                              .tag = tag,
                              .comm = c},
                req_out);
}

int p2p_precv_init(void *buf, int partitions, int64_t count, struct gw_type *t, int src, int tag, struct gw_comm *c,
                   struct gw_info *info, struct gw_req **req_out)
{
    (void)info;
    return init((struct part){.data = gw_data_of(buf, partitions * count, t),
                              .partitions = partitions,
                              .count = count,
                              .rank = src,
                              .tag = tag,
                              .comm = c},
                req_out);
}

int p2p_part_start(struct gw_req *r)
{
    struct part *p = part_of(r);
    gw_lock(&p->lane->lock);
    if (p->is_send)
        send_start(p);
    else
        receive_start(p);
    gw_unlock(&p->lane->lock);
    return GW_OK;
}

int p2p_part_free(struct gw_req **slot)
{
    struct gw_req *r = *slot;
    struct part *p = part_of(r);
    struct gw_lane *lane = p->lane;
    if ((r->flags & REQ_ACTIVE) && !req_is_done(r))
        return gw_fail(GW_EREQUEST, "the partitioned operation is under way: complete it (MPI_Wait, MPI_Test) before freeing it");
    gw_lock(&lane->lock);
    if (r->flags & REQ_FINALIZE) r->final->fn(r->final, r->err);
    type_release(p->data.type);
    comm_release(p->comm);
    p->req = NULL;
    req_recycle(r);
    if (!p->intro_req) end_destroy(p);
    gw_unlock(&lane->lock);
    *slot = NULL;
    return GW_OK;
}
