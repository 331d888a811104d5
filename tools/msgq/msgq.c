/* msgq.c -- the message queues of a stopped rank, for the debugger that loads this library (mqs.h).
 *
 * It reads the program's memory through the debugger, struct by struct, and knows the structs since it is compiled with them; the
 * symbol godwit_debugger says where they are and of which version.  Nothing runs in the program.  Memory comes from the debugger.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mqs.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/list.h"
#include "match/match_fast.h"
#include "proto/proto_private.h"
#include "tool/tool.h"

#define EXPORT __attribute__((visibility("default")))
enum { ERR_MEMORY = mqs_first_user_code, ERR_READ, ERR_SYMBOL, ERR_VERSION, ERR_DAMAGED, ERR_END };
enum { MOST = 1 << 20 }; /* entries of a list: more are a sign of damage */

static const mqs_basic_callbacks *basic;

struct mqs_image_info_ {
    const mqs_image_callbacks *call;
};

struct known { /* a communicator */
    mqs_communicator c;
    uint32_t ctx;
    mqs_taddr_t lane;
    int *own, *others; /* world ranks of its group and of those that messages go to, which may be the same */
    int n_others;
};

struct mqs_process_info_ {
    const mqs_process_callbacks *call;
    struct tool_debugger where;
    struct known *comms;
    int n_comms, at_comm;
    mqs_pending_operation *ops;
    uint64_t *order; /* of ops */
    int n_ops, cap_ops, at_op;
};

/* ---- memory ---------------------------------------------------------------------------------------------------------- */
static void *take(size_t bytes)
{
    void *p = basic->mqs_malloc_fp(bytes ? bytes : 1);
    if (p) memset(p, 0, bytes);
    return p;
}

static void give(void *p)
{
    if (p) basic->mqs_free_fp(p);
}

static int fetch(mqs_process *p, mqs_process_info *i, const void *address, void *out, size_t bytes)
{
    if (!address) return ERR_DAMAGED;
    return i->call->mqs_fetch_data_fp(p, (mqs_taddr_t)(uintptr_t)address, (int)bytes, out) == mqs_ok ? mqs_ok : ERR_READ;
}

static mqs_process_info *info_of(mqs_process *p) { return basic->mqs_get_process_info_fp(p); }

/* ---- this library ------------------------------------------------------------------------------------------------------ */
EXPORT void mqs_setup_basic_callbacks(const mqs_basic_callbacks *callbacks) { basic = callbacks; }

EXPORT char *mqs_version_string(void) { return "Godwit " GODWIT_VERSION " message queues"; }

EXPORT int mqs_version_compatibility(void) { return MQS_INTERFACE_COMPATIBILITY; }

EXPORT int mqs_dll_taddr_width(void) { return (int)sizeof(mqs_taddr_t); }

EXPORT char *mqs_dll_error_string(int code)
{
    static char *const texts[] = {
        "no memory", "the program's memory cannot be read", "the program does not use Godwit's MPI library",
        "the program uses another version of Godwit than this debugger library", "the queues are damaged"};
    if (code == mqs_ok) return "no error";
    return code >= ERR_MEMORY && code < ERR_END ? texts[code - ERR_MEMORY] : "unknown error";
}

EXPORT int mqs_setup_image(mqs_image *image, const mqs_image_callbacks *callbacks)
{
    mqs_image_info *i = take(sizeof *i);
    if (!i) return ERR_MEMORY;
    i->call = callbacks;
    basic->mqs_put_image_info_fp(image, i);
    return mqs_ok;
}

static int find(mqs_image *image, mqs_taddr_t *at_out)
{
    const mqs_image_info *i = basic->mqs_get_image_info_fp(image);
    return i && i->call->mqs_find_symbol_fp(image, "godwit_debugger", at_out) == mqs_ok ? mqs_ok : ERR_SYMBOL;
}

EXPORT int mqs_image_has_queues(mqs_image *image, char **message_out)
{
    mqs_taddr_t at;
    int rc = find(image, &at);
    *message_out = rc == mqs_ok ? NULL : mqs_dll_error_string(rc);
    return rc;
}

EXPORT void mqs_destroy_image_info(mqs_image_info *i) { give(i); }

EXPORT int mqs_setup_process(mqs_process *p, const mqs_process_callbacks *callbacks)
{
    mqs_process_info *i = take(sizeof *i);
    if (!i) return ERR_MEMORY;
    i->call = callbacks;
    i->at_comm = -1;
    basic->mqs_put_process_info_fp(p, i);
    return mqs_ok;
}

EXPORT int mqs_process_has_queues(mqs_process *p, char **message_out)
{
    mqs_process_info *i = info_of(p);
    mqs_taddr_t at = 0;
    int rc = find(i->call->mqs_get_image_fp(p), &at);
    if (rc == mqs_ok) rc = fetch(p, i, (void *)(uintptr_t)at, &i->where, sizeof i->where);
    if (rc == mqs_ok && (strncmp(i->where.version, GODWIT_VERSION, sizeof i->where.version) != 0 || i->where.layout != TOOL_LAYOUT))
        rc = ERR_VERSION;
    *message_out = rc == mqs_ok ? NULL : mqs_dll_error_string(rc);
    return rc;
}

static void comms_drop(mqs_process_info *i)
{
    for (int k = 0; k < i->n_comms; k++) {
        give(i->comms[k].own);
        give(i->comms[k].others);
    }
    give(i->comms);
    i->comms = NULL;
    i->n_comms = 0;
    i->at_comm = -1;
}

EXPORT void mqs_destroy_process_info(mqs_process_info *i)
{
    comms_drop(i);
    give(i->ops);
    give(i->order);
    give(i);
}

/* ---- communicators ----------------------------------------------------------------------------------------------------- */
/* The members as ranks in the job; those of other jobs are -1. */
static int members(mqs_process *p, mqs_process_info *i, const struct gw_group *at, int job_size, int **ranks_out, int *n_out)
{
    struct gw_group g;
    int rc = fetch(p, i, at, &g, sizeof g);
    if (rc == mqs_ok && (g.size < 0 || g.size > MOST)) rc = ERR_DAMAGED;
    if (rc != mqs_ok) return rc;
    int *r = take(sizeof *r * (size_t)g.size);
    if (!r) return ERR_MEMORY;
    if (g.map) rc = fetch(p, i, g.map, r, sizeof *r * (size_t)g.size);
    for (int k = 0; k < g.size && rc == mqs_ok; k++) {
        if (!g.map) r[k] = g.first + k * g.step;
        if (r[k] >= job_size) r[k] = MQS_INVALID_PROCESS;
    }
    *ranks_out = r;
    *n_out = g.size;
    return rc;
}

static int comm_add(mqs_process *p, mqs_process_info *i, const struct gw_comm *at, int job_size)
{
    struct gw_comm c;
    int n = 0, rc = fetch(p, i, at, &c, sizeof c);
    if (rc != mqs_ok) return rc;
    if (!c.lane || !c.group || c.obj.kind != GW_KIND_COMM) return mqs_ok; /* not there (yet, or any more) */
    struct known *more = take(sizeof *more * (size_t)(i->n_comms + 1));
    if (!more) return ERR_MEMORY;
    if (i->n_comms) memcpy(more, i->comms, sizeof *more * (size_t)i->n_comms);
    give(i->comms);
    i->comms = more;
    struct known *k = &more[i->n_comms++];
    *k =
        (struct known){.c = {(mqs_taddr_t)(uintptr_t)at, c.rank, c.size, ""}, .ctx = c.ctx, .lane = (mqs_taddr_t)(uintptr_t)c.lane};
    if (c.name[0])
        snprintf(k->c.name, sizeof k->c.name, "%.*s", (int)sizeof k->c.name - 1, c.name);
    else
        snprintf(k->c.name, sizeof k->c.name, "%s %u", c.remote ? "intercommunicator" : "communicator", c.ctx >> GW_STREAM_BITS);
    rc = members(p, i, c.group, job_size, &k->own, &n);
    if (rc == mqs_ok) rc = members(p, i, c.remote ? c.remote : c.group, job_size, &k->others, &k->n_others);
    return rc == mqs_ok && n != c.size ? ERR_DAMAGED : rc;
}

/* All that users hold. */
static int comms_of_slots(mqs_process *p, mqs_process_info *i, int job_size)
{
    enum { IN_CHUNK = 1 << GW_OBJ_CHUNK_BITS };
    static struct gw_slot_table table;
    static struct gw_obj *chunk[IN_CHUNK];
    int rc = fetch(p, i, i->where.slots, &table, sizeof table);
    for (size_t k = 0; k < GW_ARRAY_LEN(table.chunk) && rc == mqs_ok; k++) {
        struct gw_obj **at = atomic_load_explicit(&table.chunk[k], memory_order_relaxed);
        if (!at) continue;
        rc = fetch(p, i, at, chunk, sizeof chunk);
        for (int s = 0; s < IN_CHUNK && rc == mqs_ok; s++)
            if (chunk[s]) rc = comm_add(p, i, (const struct gw_comm *)chunk[s], job_size);
    }
    return rc;
}

EXPORT int mqs_update_communicator_list(mqs_process *p)
{
    mqs_process_info *i = info_of(p);
    struct gw_comm world;
    comms_drop(i);
    int rc = fetch(p, i, i->where.world, &world, sizeof world); /* its size is that of the job */
    if (rc == mqs_ok) rc = comm_add(p, i, i->where.world, world.size);
    if (rc == mqs_ok) rc = comm_add(p, i, i->where.self, world.size);
    return rc == mqs_ok ? comms_of_slots(p, i, world.size) : rc;
}

EXPORT int mqs_setup_communicator_iterator(mqs_process *p)
{
    mqs_process_info *i = info_of(p);
    i->at_comm = 0;
    return i->n_comms ? mqs_ok : mqs_end_of_list;
}

static const struct known *current(const mqs_process_info *i)
{
    return i->at_comm >= 0 && i->at_comm < i->n_comms ? &i->comms[i->at_comm] : NULL;
}

EXPORT int mqs_get_communicator(mqs_process *p, mqs_communicator *out)
{
    const struct known *k = current(info_of(p));
    if (!k) return mqs_no_information;
    *out = k->c;
    return mqs_ok;
}

EXPORT int mqs_get_comm_group(mqs_process *p, int *ranks_out)
{
    const struct known *k = current(info_of(p));
    if (!k) return mqs_no_information;
    memcpy(ranks_out, k->own, sizeof *ranks_out * (size_t)k->c.size);
    return mqs_ok;
}

EXPORT int mqs_next_communicator(mqs_process *p)
{
    mqs_process_info *i = info_of(p);
    i->at_comm++;
    return current(i) ? mqs_ok : mqs_end_of_list;
}

/* ---- operations -------------------------------------------------------------------------------------------------------- */
static mqs_pending_operation *op_add(mqs_process_info *i, uint64_t order)
{
    if (i->n_ops == i->cap_ops) {
        int cap = i->cap_ops ? 2 * i->cap_ops : 16;
        mqs_pending_operation *ops = take(sizeof *ops * (size_t)cap);
        uint64_t *orders = take(sizeof *orders * (size_t)cap);
        if (!ops || !orders) {
            give(ops);
            give(orders);
            return NULL;
        }
        if (i->n_ops) memcpy(ops, i->ops, sizeof *ops * (size_t)i->n_ops);
        if (i->n_ops) memcpy(orders, i->order, sizeof *orders * (size_t)i->n_ops);
        give(i->ops);
        give(i->order);
        i->ops = ops;
        i->order = orders;
        i->cap_ops = cap;
    }
    int at = i->n_ops++;
    for (; at > 0 && i->order[at - 1] > order; at--) { /* nearly sorted as they come */
        i->ops[at] = i->ops[at - 1];
        i->order[at] = i->order[at - 1];
    }
    i->order[at] = order;
    memset(&i->ops[at], 0, sizeof i->ops[at]);
    return &i->ops[at];
}

static mqs_tword_t rank_in_job(const struct known *k, int rank)
{
    return rank >= 0 && rank < k->n_others ? k->others[rank] : MQS_INVALID_PROCESS;
}

static mqs_tword_t rank_here(const struct known *k, int in_job)
{
    for (int r = 0; r < k->n_others; r++)
        if (k->others[r] == in_job) return r;
    return MQS_INVALID_PROCESS;
}

static int recv_add(mqs_process_info *i, const struct known *k, const struct proto_recv *r, bool has_met)
{
    if (r->m.ctx != k->ctx) return mqs_ok; /* another communicator's, or a collective's */
    mqs_pending_operation *o = op_add(i, r->m.seq);
    if (!o) return ERR_MEMORY;
    o->status = has_met ? mqs_st_matched : mqs_st_pending;
    o->desired_local_rank = r->m.src == GW_ANY_SOURCE ? MQS_INVALID_PROCESS : r->m.src;
    o->desired_global_rank = rank_in_job(k, r->m.src);
    o->tag_wild = r->m.tag == GW_ANY_TAG;
    o->desired_tag = r->m.tag;
    o->desired_length = r->data.bytes;
    o->buffer = (mqs_taddr_t)(uintptr_t)r->data.buf;
    if (has_met) {
        o->actual_global_rank = r->world;
        o->actual_local_rank = rank_here(k, r->world);
        o->actual_tag = r->m.tag;
        o->actual_length = r->len;
    }
    snprintf(o->extra_text[0], sizeof o->extra_text[0], has_met ? "receive: %lld of %lld bytes have come" : "receive",
             (long long)r->got, (long long)r->want);
    return mqs_ok;
}

/* Those that wait for a message. */
static int posted(mqs_process *p, mqs_process_info *i, const struct known *k, const struct match_queue *q)
{
    static struct match_recv *bucket[MATCH_BUCKETS];
    struct proto_recv r;
    int rc = fetch(p, i, q->posted, bucket, sizeof bucket), n = 0;
    for (size_t b = 0; b < MATCH_BUCKETS && rc == mqs_ok; b++) {
        for (struct match_recv *at = bucket[b]; at && rc == mqs_ok;) {
            rc = fetch(p, i, (char *)at - offsetof(struct proto_recv, m), &r, sizeof r);
            if (rc == mqs_ok) rc = ++n > MOST ? ERR_DAMAGED : recv_add(i, k, &r, false);
            at = r.m.next == bucket[b] ? NULL : r.m.next;
        }
    }
    return rc;
}

/* A list of the program: its members in turn are copied to `item`, with their addresses there in `at`. */
struct walk {
    const struct gw_list *head, *next;
    const void *at;
    int n, rc;
};

static struct walk walk_begin(mqs_process *p, mqs_process_info *i, const struct gw_list *head)
{
    struct gw_list l = {0};
    int rc = fetch(p, i, head, &l, sizeof l);
    return (struct walk){head, l.next, NULL, 0, rc};
}

/* Members of `bytes` with the link at `link` in them.  False: the end, or `rc` says what went wrong, here or in the caller. */
static bool walk_on(mqs_process *p, mqs_process_info *i, struct walk *w, void *item, size_t bytes, size_t link)
{
    struct gw_list l;
    if (w->rc != mqs_ok || !w->next || w->next == w->head || w->n > MOST) return false;
    w->at = (const char *)w->next - link;
    w->rc = fetch(p, i, w->at, item, bytes);
    if (w->rc != mqs_ok) return false;
    memcpy(&l, (const char *)item + link, sizeof l);
    w->next = l.next;
    w->n++;
    return true;
}
#define WALK_ON(w, item, link) walk_on(p, i, w, item, sizeof *(item), offsetof(__typeof__(*(item)), link))

/* Those whose data are under way. */
static int coming(mqs_process *p, mqs_process_info *i, const struct known *k, const struct gw_list *list)
{
    struct walk w = walk_begin(p, i, list);
    struct proto_recv r;
    while (WALK_ON(&w, &r, work)) w.rc = recv_add(i, k, &r, true);
    return w.rc;
}

static int unexpected(mqs_process *p, mqs_process_info *i, const struct known *k, const struct match_queue *q)
{
    struct proto_msg m;
    struct proto_rts rts;
    uint64_t seen = 0;
    uint32_t number = 0;
    const char *base = NULL;
    int rc = fetch(p, i, &q->oldest, &number, sizeof number);
    if (rc == mqs_ok) rc = fetch(p, i, &q->base, &base, sizeof base);
    for (; rc == mqs_ok && number && seen++ <= MOST; number = m.m.later) {
        const char *at = base + (size_t)number * MATCH_UNIT;
        rc = fetch(p, i, at, &m, sizeof m);
        if (rc != mqs_ok) return rc;
        if (m.m.ctx != k->ctx) continue;
        mqs_pending_operation *o = op_add(i, seen);
        if (!o) return ERR_MEMORY;
        bool is_here = m.kind != PROTO_RTS;
        size_t prefix = m.kind == PROTO_EAGER_SYNC ? PROTO_SYNC_PREFIX : 0;
        if (!is_here && (rc = fetch(p, i, at + offsetof(struct proto_msg, data), &rts, sizeof rts)) != mqs_ok) return rc;
        o->status = mqs_st_pending;
        o->desired_local_rank = o->actual_local_rank = m.m.src;
        o->desired_global_rank = o->actual_global_rank = rank_in_job(k, m.m.src);
        o->desired_tag = o->actual_tag = m.m.tag;
        o->desired_length = o->actual_length = is_here ? m.bytes - prefix : (size_t)rts.len;
        o->system_buffer = is_here;
        o->buffer = is_here ? (mqs_taddr_t)(uintptr_t)at + offsetof(struct proto_msg, data) + prefix : 0;
        snprintf(o->extra_text[0], sizeof o->extra_text[0], "%s",
                 is_here ? "message, held here" : "message, its data are at the sender");
    }
    return rc;
}

static int sends(mqs_process *p, mqs_process_info *i, const struct known *k, const struct gw_list *list,
                 const struct gw_peer *peers, const char *why)
{
    struct walk w = walk_begin(p, i, list);
    struct proto_op s;
    while (WALK_ON(&w, &s, link)) {
        if (!s.req || !s.data.type || s.hdr.ctx != k->ctx) continue; /* not a send of the program's here */
        mqs_pending_operation *o = op_add(i, (uint64_t)i->n_ops);
        if (!o) return ERR_MEMORY;
        int world = (int)(s.peer - peers);
        o->status = s.state > OP_ASKED ? mqs_st_matched : mqs_st_pending;
        o->desired_local_rank = rank_here(k, world);
        o->desired_global_rank = o->desired_local_rank < 0 ? MQS_INVALID_PROCESS : world;
        o->desired_tag = s.hdr.tag;
        o->desired_length = s.data.bytes;
        o->buffer = (mqs_taddr_t)(uintptr_t)s.data.buf;
        o->actual_local_rank = o->desired_local_rank;
        o->actual_global_rank = o->desired_global_rank;
        o->actual_tag = o->desired_tag;
        o->actual_length = s.data.bytes;
        snprintf(o->extra_text[0], sizeof o->extra_text[0], "send: %s", s.state > OP_ASKED ? "data are under way" : why);
    }
    return w.rc;
}

static int all_sends(mqs_process *p, mqs_process_info *i, const struct known *k, const struct proto_lane *at,
                     const struct gw_peer *peers)
{
    struct walk w = walk_begin(p, i, &at->outs);
    struct proto_out out;
    int rc = sends(p, i, k, &at->asked, peers, "waits for its receiver");
    if (rc == mqs_ok) rc = sends(p, i, k, &at->op_work, peers, "waits for its turn");
    if (rc != mqs_ok) return rc;
    while (WALK_ON(&w, &out, link)) {
        const struct proto_out *o = w.at;
        w.rc = sends(p, i, k, &o->ops, peers, "waits for room");
    }
    return w.rc;
}

EXPORT int mqs_setup_operation_iterator(mqs_process *p, int op_class)
{
    mqs_process_info *i = info_of(p);
    const struct known *k = current(i);
    struct gw_lane lane;
    struct proto_fast fast;
    i->n_ops = i->at_op = 0;
    if (!k) return mqs_no_information;
    int rc = fetch(p, i, (void *)(uintptr_t)k->lane, &lane, sizeof lane);
    if (rc == mqs_ok) rc = fetch(p, i, lane.proto, &fast, sizeof fast); /* it begins with them */
    if (rc != mqs_ok) return rc;
    const struct proto_lane *at = lane.proto; /* the program's */
    switch (op_class) {
    case mqs_pending_sends: return all_sends(p, i, k, at, lane.peers);
    case mqs_pending_receives:
        rc = posted(p, i, k, fast.q);
        if (rc == mqs_ok) rc = coming(p, i, k, &at->getting);
        return rc == mqs_ok ? coming(p, i, k, &at->sharing) : rc;
    case mqs_unexpected_messages: return unexpected(p, i, k, fast.q);
    default: return mqs_no_information;
    }
}

EXPORT int mqs_next_operation(mqs_process *p, mqs_pending_operation *out)
{
    mqs_process_info *i = info_of(p);
    if (i->at_op >= i->n_ops) return mqs_end_of_list;
    *out = i->ops[i->at_op++];
    return mqs_ok;
}
