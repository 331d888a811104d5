/* shared.c -- the shared file pointer: a counter of etypes that rank 0 keeps.
 *
 * It lies in the shared memory of rank 0's node, whose ranks update it.  Ranks of other nodes send requests to rank 0, which answers
 * them in any MPI call that makes progress.  Nothing beside the file is needed for it in the file system, and no locks.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "boot/boot.h"
#include "coll/coll.h"
#include "io/io_private.h"
#include "node/node.h"
#include "p2p/p2p.h"

enum { TAG_QUESTION = 1, TAG_ANSWER, NUMBERS = 1 << 17 }; /* answers: TAG_ANSWER + number, below 2^19 (ofi_tag_2) */

struct question {
    int32_t origin, number;
    int64_t etypes;
};
struct io_keeper { /* At rank 0, if there are ranks of other nodes: serves their requests. */
    struct p2p_listener listener;
    struct gw_done heard;
    struct gw_file *f;
    struct question q;
};
struct answer {
    struct gw_done sent;
    int64_t at;
};

static bool is_on_node(const struct gw_file *f, int rank)
{
    int number = group_world(f->comm->group, rank);
    return number < gw_boot.size && boot_local_rank(number) >= 0;
}

static _Atomic int64_t *pointer(const struct gw_file *f) { return node_ptr(f->shared); }

/* ---- rank 0 ---- */
static void answer_sent(struct gw_done *done, int err)
{
    (void)err; /* the receive fails as well */
    free(container_of(done, struct answer, sent));
}

static bool question_is_right(const struct io_keeper *k)
{
    const char *what = "a question for a shared file pointer", *field = NULL;
    int64_t value = k->q.number;
    if (k->listener.bytes != sizeof k->q) {
        gw_refused(what, "length", k->listener.bytes);
        return false;
    }
    if (k->q.origin != k->listener.source) field = "origin";
    if (k->q.number < 0 || k->q.number >= NUMBERS) field = "number";
    if (k->q.etypes < 0) field = "etypes", value = k->q.etypes; /* the pointer only moves forward */
    if (field) gw_refused(what, field, value);
    return !field;
}

static void question_heard(struct gw_done *done, int err)
{
    struct io_keeper *k = container_of(done, struct io_keeper, heard);
    struct gw_comm *c = k->f->comm;
    struct gw_req *r = NULL;
    (void)err;
    if (!question_is_right(k)) return;
    struct answer *a = gw_xmalloc(sizeof *a);
    a->sent.fn = answer_sent;
    a->at = atomic_fetch_add(pointer(k->f), k->q.etypes);
    int rc = p2p_stream_isend(GW_STREAM_P2P, &a->at, sizeof a->at, gw_type_byte, k->q.origin, TAG_ANSWER + k->q.number, c, &r);
    p2p_stream_then(c, rc, r, &a->sent);
}

static void keeper_open(struct gw_file *f)
{
    assert(f->comm->rank == 0 && f->shared && !f->keeper);
    struct io_keeper *k = gw_xcalloc(1, sizeof *k);
    k->f = f;
    k->heard.fn = question_heard;
    k->listener =
        (struct p2p_listener){.comm = f->comm, .tag = TAG_QUESTION, .buf = &k->q, .room = sizeof k->q, .heard = &k->heard};
    f->keeper = k;
    p2p_listen(&k->listener);
}

/* Called when no rank sends requests any more. */
static void keeper_close(struct gw_file *f)
{
    if (p2p_listen_end(&f->keeper->listener) == GW_OK) free(f->keeper);
    f->keeper = NULL;
}

/* ---- the others ---- */
static int ask(struct gw_file *f, int64_t etypes, int64_t *at_out)
{
    struct gw_comm *c = f->comm;
    assert(!f->shared); /* ranks of rank 0's node have the pointer */
    uint32_t n = atomic_fetch_add_explicit(&f->questions, 1, memory_order_relaxed) %
        NUMBERS; /* several threads may have requests under way */
    struct question q = {.origin = c->rank, .number = (int32_t)n, .etypes = etypes};
    struct gw_req *s = NULL, *r = NULL;
    int rc = p2p_stream_irecv(GW_STREAM_P2P, at_out, sizeof *at_out, gw_type_byte, 0, TAG_ANSWER + q.number, c, &r);
    if (rc < 0) return rc;
    rc = p2p_stream_isend(GW_STREAM_P2P, &q, sizeof q, gw_type_byte, 0, TAG_QUESTION, c, &s);
    int64_t bytes = 0;
    if (rc == GW_POSTED) rc = p2p_stream_wait(s);
    if (rc >= 0) rc = p2p_stream_wait_bytes(r, &bytes);
    if (rc < 0 || (bytes == sizeof *at_out && *at_out >= 0)) return rc;
    bool is_whole = bytes == sizeof *at_out;
    gw_refused("the answer of a shared file pointer", is_whole ? "place" : "length", is_whole ? *at_out : bytes);
    return gw_fail(GW_EOTHER, "the rank that keeps the shared file pointer of %s answered %lld %s", f->name,
                   (long long)(is_whole ? *at_out : bytes), is_whole ? "as its place" : "bytes, which is no place");
}

/* ---- for files ---- */
int io_shared_make(struct gw_file *f, int64_t at)
{
    uint64_t off = 0;
    struct gw_comm *c = f->comm;
    if (c->rank == 0) {
        off = node_heap_alloc(sizeof(int64_t));
        if (off) atomic_store((_Atomic int64_t *)node_ptr(off), at);
    }
    int rc = c->size > 1 ? coll_bcast(&off, 1, gw_type_int64, 0, c, NULL) : GW_OK;
    if (rc != GW_OK) return rc;
    if (!off) return gw_fail(GW_ENOMEM, "the shared heap of the node is full (GODWIT_HEAP): no room for a shared file pointer");
    if (is_on_node(f, 0)) {
        f->shared = off;
        node_heap_join();
    }
    if (c->rank == 0 && !c->one_node) keeper_open(f);
    return GW_OK;
}

void io_shared_free(struct gw_file *f)
{
    int n = 0;
    if (f->keeper) keeper_close(f);
    for (int i = 0; f->shared && i < f->comm->size; i++) n += is_on_node(f, i);
    if (f->shared) node_heap_leave(f->shared, n);
    f->shared = 0;
}

int io_shared_take(struct gw_file *f, int64_t etypes, int64_t *at_out)
{
    assert(etypes >= 0);
    if (unlikely(!f->shared)) return ask(f, etypes, at_out);
    *at_out = atomic_fetch_add(pointer(f), etypes);
    return GW_OK;
}

int io_shared_get(struct gw_file *f, int64_t *at_out) { return io_shared_take(f, 0, at_out); }

void io_shared_set(struct gw_file *f, int64_t at)
{
    assert(f->shared && at >= 0);
    atomic_store(pointer(f), at);
}

int io_shared_order(struct gw_file *f, int64_t etypes, int64_t *at_out)
{
    assert(etypes >= 0);
    int64_t end = etypes, told[2] = {0, GW_OK};
    struct gw_comm *c = f->comm;
    int rc = c->size > 1 ? coll_scan(&etypes, &end, 1, gw_type_int64, gw_op_sum, c, NULL) : GW_OK;
    if (rc == GW_OK && c->rank == c->size - 1) told[1] = io_shared_take(f, end, &told[0]);
    if (rc == GW_OK && c->size > 1) rc = coll_bcast(told, 2, gw_type_int64, c->size - 1, c, NULL);
    *at_out = told[0] + end - etypes;
    return rc == GW_OK && told[1] != GW_OK ? gw_fail((int)told[1], "the shared file pointer of %s cannot be reached", f->name) : rc;
}

int io_seek_shared(struct gw_file *f, int64_t offset, int whence)
{
    int64_t to = 0, now = 0;
    int rc = io_not_sequential(f); /* of all ranks alike: amode is the same everywhere */
    if (rc == GW_OK) rc = io_enter_same(f, IO_SEEK_SHARED, GW_OK, offset, "offset");
    if (rc == GW_OK) rc = io_enter_same(f, IO_SEEK_SHARED, GW_OK, whence, "whence");
    if (rc != GW_OK) return rc;
    if (f->comm->rank == 0) { /* all ranks are in this call: none moves the pointer */
        rc = io_shared_get(f, &now);
        if (rc == GW_OK) rc = io_seek_place(f, offset, whence, now, &to);
        if (rc == GW_OK) io_shared_set(f, to);
    }
    return io_agree(f, rc); /* no rank returns before it is set */
}

int io_get_position_shared(struct gw_file *f, int64_t *offset_out)
{
    int rc = io_not_sequential(f);
    return rc == GW_OK ? io_shared_get(f, offset_out) : rc;
}
