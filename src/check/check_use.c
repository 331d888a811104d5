/* check_use.c -- buffers that pending operations use: they must not overlap, and what is sent must stay as it is.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check/check_private.h"

#include <stdio.h>
#include <stdlib.h>

/* Spans in use, by address.  Apart, as those that are only read may lie over each other, hundreds of thousands of them. */
static struct check_tree in_use[2]; /* read, written */
/* So many items without a handle are kept; the buffers of further ones are compared with theirs, and forgotten. */
enum { LOOSE_MAX = 1 << 18 };
static struct {
    int n;
    bool has_said_full;
    struct check_item *last; /* of a window or file, the last one that was begun: most loops go on where it ends */
} loose;

static void used_add(struct check_item *item)
{
    assert(!item->is_active);
    for (int k = 0; k < item->n_spans; k++) {
        const struct check_span *s = &item->spans[k];
        if (s->lo == s->hi) continue;
        item->used[k] = (struct check_used){.node = {.lo = s->lo, .hi = s->hi}, .item = item};
        check_tree_add(&in_use[s->is_written], &item->used[k].node);
    }
    check_owed_add(item);
    item->is_active = true;
}

static void used_remove(struct check_item *item)
{
    for (int k = 0; k < item->n_spans; k++) {
        if (!item->used[k].item) continue;
        assert(item->is_active && item->used[k].item == item);
        check_tree_remove(&in_use[item->spans[k].is_written], &item->used[k].node);
        item->used[k].item = NULL;
    }
    check_owed_remove(item);
    item->is_active = false;
}

static const struct check_span *span_of(const struct check_used *u) { return &u->item->spans[u - u->item->used]; }

/* ---- words ---- */
static const char *buffer_word(const struct check_span *s) { return s->is_written ? "receive buffer" : "send buffer"; }

static enum gw_kind owner_kind(const struct check_item *i) { return (enum gw_kind)gw_id_kind(i->owner); }

/* " at rank 3 on the window NAME" */
static void owner_text(const struct check_item *i, char *out)
{
    const struct gw_obj *o = gw_obj_lookup(i->owner, owner_kind(i));
    if (owner_kind(i) == GW_KIND_WIN) {
        char name[CHECK_WIN_TEXT];
        snprintf(out, CHECK_ABOUT_TEXT, " at rank %d on %s", i->rank, check_win_name((const struct rma_win *)o, name));
    } else if (owner_kind(i) == GW_KIND_FILE) {
        snprintf(out, CHECK_ABOUT_TEXT, " on the file %.200s", o ? ((const struct gw_file *)o)->name : "that was closed");
    } else {
        char about[CHECK_ABOUT_TEXT] = "";
        const struct check_item *whole = check_item_find(i->owner);
        if (whole) check_about_text(whole, about);
        snprintf(out, CHECK_ABOUT_TEXT, " for partition %d%.*s", i->rank, CHECK_ABOUT_TEXT - 32, about);
    }
}

/* " to rank 3 with tag 5 on MPI_COMM_WORLD" */
const char *check_about_text(const struct check_item *i, char *out)
{
    char comm[CHECK_COMM_TEXT], rank[32], tag[32];
    bool is_send = i->n_spans == 1 && !i->spans[0].is_written;
    out[0] = 0;
    if (i->owner) {
        owner_text(i, out);
        return out;
    }
    if (i->rank == GW_UNDEFINED || i->rank == GW_PROC_NULL) return out;
    snprintf(rank, sizeof rank, i->rank == GW_ANY_SOURCE ? "any rank" : "rank %d", i->rank);
    snprintf(tag, sizeof tag, i->tag == GW_ANY_TAG ? "any tag" : "tag %d", i->tag);
    snprintf(out, CHECK_ABOUT_TEXT, " %s %s with %s on %s", is_send ? "to" : "from", rank, tag, check_comm_name(i->ctx, comm));
    return out;
}

/* ---- one call of several that are one item ---- */
/* The span of the one in which byte `at` of the packed data lies; *before_out: how much lies before it. */
static struct check_span one_call(const struct check_span *s, int64_t at, int64_t *before_out)
{
    struct check_span one = *s;
    int64_t bytes = s->each * s->type->size, k = s->each ? at / bytes : 0;
    *before_out = k * bytes;
    if (!s->each) return one;
    assert(s->count % s->each == 0 && k < s->count / s->each);
    one.count = s->each;
    one.buf = (const char *)s->buf + k * s->each * s->type->extent;
    return one;
}

/* The next call of a loop that goes along the buffers: all are dense, of one type, and sums of whole pieces stand behind each other. */
static bool can_follow(const struct check_item *i, const struct check_span *spans, int n, const struct check_about *about)
{
    if (!i || i->n_spans != n || i->started.from != check_me.now.from || i->started.fn != check_me.now.fn ||
        i->owner != about->owner || i->rank != about->rank)
        return false;
    for (int k = 0; k < n; k++) {
        const struct check_span *last = &i->spans[k], *s = &spans[k];
        bool is_alike = last->type == s->type && s->type->is_dense && last->is_written == s->is_written && !last->is_told &&
            !s->is_told && !last->owns_type && !s->owns_type && (last->each ? last->each : last->count) == s->count;
        bool have_sums = last->sums && s->sums && last->piece == s->piece && s->piece * s->n_sums == s->count * s->type->size;
        if (!is_alike || last->hi != s->lo || (!have_sums && (last->sums || s->sums))) return false;
    }
    return true;
}

static void follow(struct check_item *i, const struct check_span *spans, int n)
{
    for (int k = 0; k < n; k++) {
        struct check_span *last = &i->spans[k];
        const struct check_span *s = &spans[k];
        check_span_append_sums(last, s);
        last->each = s->count;
        last->count += s->count;
        last->hi = s->hi;
        check_tree_extend(&in_use[s->is_written], &i->used[k].node, s->hi);
        free(s->sums);
    }
    check_owed_more(i);
}

/* ---- overlap ---- */
static void say_overlap(const struct check_span *s, const struct check_item *other, const struct check_span *theirs, uintptr_t at)
{
    char here[CHECK_SITE_TEXT], there[CHECK_SITE_TEXT], about[CHECK_ABOUT_TEXT];
    int64_t before;
    struct check_span one = one_call(theirs, (int64_t)(at - theirs->lo), &before);
    theirs = &one;
    check_say("buffers overlap: the %s of %s (%lld x %s at %p) and the %s of %s%s (%lld x %s at %p), which is not completed yet, "
              "have the bytes from %p on in common%s",
              buffer_word(s), check_site_text(check_me.now, here), (long long)s->count, type_name(s->type), s->buf,
              buffer_word(theirs), check_site_text(other->started, there), check_about_text(other, about), (long long)theirs->count,
              type_name(theirs->type), theirs->buf, (void *)at,
              s->is_written && theirs->is_written ? ": what they will hold depends on the order of the messages"
                  : s->is_written                 ? ": what is sent may be what was received meanwhile"
                                                  : ": it may be sent before or after it is received into");
}

/* What a receive buffer will hold is not known then. */
static void overlaps(struct check_span *s)
{
    s->is_told = true;
    if (s->is_written) check_span_forget(s);
}

static bool look_at(struct check_node *n, void *arg)
{
    uintptr_t at;
    struct check_span *s = arg;
    struct check_used *u = container_of(n, struct check_used, node);
    if (!check_span_overlap(s, span_of(u), &at)) return false;
    say_overlap(s, u->item, span_of(u), at);
    overlaps(s);
    if (u->item->is_receive) overlaps(&u->item->spans[0]);
    return true; /* one is enough of a call */
}

static void look_one(struct check_span *s)
{
    if (check_late_may_meet(s->lo, s->hi)) check_late_now();
    if (check_tree_each(&in_use[true], s->lo, s->hi, look_at, s) || !s->is_written) return;
    check_tree_each(&in_use[false], s->lo, s->hi, look_at, s);
}

void check_use_look(struct check_span *spans, int n)
{
    uintptr_t at;
    char here[CHECK_SITE_TEXT];
    gw_lock(&check_lock);
    for (int k = 0; k < n; k++)
        if (spans[k].lo != spans[k].hi) look_one(&spans[k]), check_race_touch(&spans[k]);
    gw_unlock(&check_lock);
    for (int k = 1; k < n; k++)
        for (int i = 0; i < k; i++)
            if ((spans[i].is_written || spans[k].is_written) && check_span_overlap(&spans[i], &spans[k], &at)) {
                check_say("buffers overlap: the %s and the %s of %s have the bytes from %p on in common", buffer_word(&spans[i]),
                          buffer_word(&spans[k]), check_site_text(check_me.now, here), (void *)at);
                return;
            }
}

/* ---- blocks of one call ---- */
struct block {
    struct check_span span;
    int number;
    uintptr_t reach; /* the end of this and of those before */
};

static int by_address(const void *a, const void *b)
{
    const struct block *x = a, *y = b;
    return x->span.lo != y->span.lo ? (x->span.lo < y->span.lo ? -1 : 1) : x->number - y->number;
}

/* Blocks of derived types may lie in each other's gaps: then all that come near are compared, up to a limit. */
static bool blocks_overlap(const struct block *v, int n, int *i_out, int *k_out, uintptr_t *at_out)
{
    enum { COMPARISONS_MAX = 10000 };
    int compared = 0;
    for (int i = 1; i < n; i++)
        for (int k = i - 1; k >= 0 && v[k].reach > v[i].span.lo && compared < COMPARISONS_MAX; k--, compared++)
            if (check_span_overlap(&v[i].span, &v[k].span, at_out)) {
                bool in_order = v[i].number < v[k].number;
                *i_out = in_order ? v[i].number : v[k].number;
                *k_out = in_order ? v[k].number : v[i].number;
                return true;
            }
    return false;
}

void check_use_blocks(const void *buf, int n, struct gw_counts counts, struct gw_counts displs, const struct gw_type *t,
                      struct gw_type **types)
{
    struct block *v = gw_xmalloc((size_t)(n > 0 ? n : 1) * sizeof *v);
    char site[CHECK_SITE_TEXT];
    uintptr_t at, reach = 0;
    int m = 0, i, k;
    for (int b = 0; b < n; b++) {
        int64_t displ = gw_counts_at(displs, b) * (types ? 1 : t->extent);
        const void *block = (const void *)((uintptr_t)buf + (uintptr_t)displ); /* buf may be NULL */
        struct check_span s = check_span(block, gw_counts_at(counts, b), types ? types[b] : (struct gw_type *)(uintptr_t)t, true);
        if (s.lo != s.hi) v[m++] = (struct block){s, b, 0};
    }
    qsort(v, (size_t)m, sizeof *v, by_address);
    for (int b = 0; b < m; b++) v[b].reach = reach = v[b].span.hi > reach ? v[b].span.hi : reach;
    if (blocks_overlap(v, m, &i, &k, &at))
        check_say(
            "buffers overlap: the blocks %d and %d of what %s receives have the bytes from %p on in common: what they will hold "
            "depends on the order of the messages",
            i, k, check_site_text(check_me.now, site), (void *)at);
    free(v);
}

/* ---- operations begin and end ---- */
/* A request of its own for a send that is complete: the shared one could not be told from others when it is waited for. */
static void make_own(struct gw_req **r, const struct check_about *about)
{
    if (*r != &gw_req_sent) return;
    struct gw_lane *lane = about->comm->lane;
    gw_lock(&lane->lock);
    struct gw_req *q = req_new(lane, REQ_SEND);
    if (q) {
        q->err = GW_OK;
        q->errctx = (const void *)(uintptr_t)about->comm->obj.id;
        gw_status_empty(&q->status);
        req_complete(q);
        *r = q;
    }
    gw_unlock(&lane->lock);
}

static void fill(struct check_item *i, const struct check_span *spans, int n, struct check_about about)
{
    i->ctx = about.owner ? UINT32_MAX : about.comm->ctx; /* no message has that one */
    i->rank = about.rank;
    i->tag = about.tag;
    i->owner = about.owner;
    i->n_calls = 1;
    assert(i->n_spans == n && (about.owner || about.comm));
    for (int k = 0; k < n; k++) {
        i->spans[k] = spans[k];
        if (!spans[k].owns_type) type_hold(spans[k].type);
    }
}

void check_use_track_receive(struct gw_req **r, struct check_span *span, struct check_about about)
{
    struct gw_req *q = *r;
    struct gw_lane *lane = about.comm->lane;
    check_use_track(r, span, 1, about);
    if (q->flags & REQ_STATIC) return;
    /* Nothing meets it meanwhile. */
    gw_lock(&lane->lock);
    gw_lock(&check_lock);
    struct check_item *i = check_item_find(q->obj.id);
    if (i && q->flags & REQ_ACTIVE)
        check_recv_posted(i, q);
    else if (i)
        i->is_receive = true;
    gw_unlock(&check_lock);
    gw_unlock(&lane->lock);
}

void check_use_track(struct gw_req **r, struct check_span *spans, int n, struct check_about about)
{
    make_own(r, &about);
    struct gw_req *q = *r;
    if (q->flags & REQ_STATIC) {
        for (int k = 0; k < n; k++) check_span_drop(&spans[k]);
        return;
    }
    gw_lock(&check_lock);
    struct check_item *i = check_item_add(q->obj.id, check_me.now, n);
    fill(i, spans, n, about);
    check_arrays_take(i);
    if (q->flags & REQ_ACTIVE) used_add(i);
    gw_unlock(&check_lock);
}

static void pend(const struct check_span *spans, int n, struct check_about about)
{
    struct check_span v[CHECK_SPANS];
    int m = 0;
    assert(!loose.last || (loose.last->is_loose && loose.last->is_active));
    assert(loose.n >= 0 && loose.n <= LOOSE_MAX);
    if (can_follow(loose.last, spans, n, &about)) {
        follow(loose.last, spans, n);
        return;
    }
    for (int k = 0; k < n; k++)
        if (spans[k].lo != spans[k].hi) v[m++] = spans[k];
    if (m > 0 && loose.n == LOOSE_MAX && !loose.has_said_full) {
        loose.has_said_full = true;
        check_remark(
            "of operations on windows, files and partitions that are under way, %d of this rank are kept (those of a loop along its buffers "
            "count as one); further ones are compared with these only, and whether their buffers change is not seen",
            LOOSE_MAX);
    }
    if (m == 0 || loose.n == LOOSE_MAX) {
        for (int k = 0; k < m; k++) check_span_drop(&v[k]);
        return;
    }
    struct check_item *i = check_item_new(m);
    i->made = i->started = check_me.now;
    i->is_loose = true;
    fill(i, v, m, about);
    used_add(i);
    loose.n++;
    loose.last = owner_kind(i) != GW_KIND_REQ ? i : NULL; /* partitions are told apart */
}

static bool is_there(struct check_node *n, void *arg)
{
    (void)n, (void)arg;
    return true;
}

bool check_use_is_none(void) { return !in_use[true].n && !in_use[false].n; }

bool check_use_is_apart(const struct check_span *s)
{
    if (in_use[true].n && check_tree_each(&in_use[true], s->lo, s->hi, is_there, NULL)) return false;
    return !(s->is_written && in_use[false].n && check_tree_each(&in_use[false], s->lo, s->hi, is_there, NULL));
}

void check_use_again(struct check_span *s, const uint64_t *sums, struct check_site site, struct check_about about)
{
    struct check_site now = check_me.now;
    check_me.now = site;
    look_one(s);
    if (sums) {
        s->n_sums = check_span_pieces((int64_t)(s->hi - s->lo), &s->piece);
        s->sums = gw_xmalloc((size_t)s->n_sums * sizeof *sums);
        memcpy(s->sums, sums, (size_t)s->n_sums * sizeof *sums);
    }
    pend(s, 1, about);
    check_me.now = now;
}

void check_use_pend(const struct check_span *spans, int n, struct check_about about)
{
    gw_lock(&check_lock);
    pend(spans, n, about);
    gw_unlock(&check_lock);
}

/* ---- partitions ---- */
void check_use_divide(uint32_t id, int partitions)
{
    gw_lock(&check_lock);
    struct check_item *i = check_item_find(id);
    if (i) i->partitions = partitions;
    gw_unlock(&check_lock);
}

static void partition_begin(const struct check_item *i, int number)
{
    assert(number >= 0 && number < i->partitions && i->n_spans == 1);
    const struct check_span *first = &i->spans[0];
    if (first->lo == first->hi) return; /* MPI_PROC_NULL too */
    struct check_span s = check_span((const char *)first->buf + number * first->count * first->type->extent, first->count,
                                     first->type, first->is_written);
    look_one(&s);
    check_span_sum(&s);
    pend(&s, 1, (struct check_about){NULL, number, GW_UNDEFINED, i->id});
}

void check_use_partition(uint32_t id, int number)
{
    gw_lock(&check_lock);
    const struct check_item *i = check_item_find(id);
    if (i && i->is_active && number >= 0 && number < i->partitions && !i->spans[0].is_written && !check_owed_first(id, number))
        partition_begin(i, number);
    gw_unlock(&check_lock);
}

/* Before the start: the parts of a receive are in use from now on, those of a send when they are ready. */
static void prepare_partitions(const struct check_item *i)
{
    for (int k = 0; k < i->partitions && i->spans[0].is_written; k++) partition_begin(i, k);
}

void check_use_prepare(uint32_t id)
{
    gw_lock(&check_lock);
    struct check_item *i = check_item_find(id);
    if (i) check_arrays_look(i);
    if (i && i->partitions) {
        prepare_partitions(i);
    } else {
        for (int k = 0; i && k < i->n_spans; k++) check_span_sum(&i->spans[k]);
        for (int k = 0; i && k < i->n_spans; k++)
            if (i->spans[k].lo != i->spans[k].hi) look_one(&i->spans[k]), check_race_touch(&i->spans[k]);
        if (i && i->is_receive && !i->spans[0].is_told) check_recv_sum(&i->spans[0]);
        for (int k = 0; i && k < i->n_spans; k++) i->spans[k].is_told = false;
    }
    gw_unlock(&check_lock);
}

void check_use_start(struct gw_req *r, struct check_site site)
{
    struct gw_lane *lane = &gw_lanes[r->lane];
    gw_lock(&lane->lock);
    gw_lock(&check_lock);
    struct check_item *i = check_item_find(r->obj.id);
    if (i && !i->is_active) {
        i->started = site;
        i->is_cancelled = false;
        if (i->partitions)
            i->is_active = true;
        else
            used_add(i);
        assert(!i->is_receive || !i->partitions);
        if (i->is_receive) check_recv_posted(i, r);
    }
    gw_unlock(&check_lock);
    gw_unlock(&lane->lock);
}

void check_use_cancelled(uint32_t id)
{
    gw_lock(&check_lock);
    struct check_item *i = check_item_find(id);
    if (i) i->is_cancelled = true;
    gw_unlock(&check_lock);
}

void check_use_mark_ready(uint32_t id)
{
    gw_lock(&check_lock);
    struct check_item *i = check_item_find(id);
    if (i) i->is_ready = true;
    gw_unlock(&check_lock);
}

bool check_use_is_ready(uint32_t id)
{
    gw_lock(&check_lock);
    const struct check_item *i = check_item_find(id);
    bool is_ready = i && i->is_ready;
    gw_unlock(&check_lock);
    return is_ready;
}

bool check_use_receives(uint32_t id, struct check_site *started_out)
{
    gw_lock(&check_lock);
    const struct check_item *i = check_item_find(id);
    bool receives = i && i->is_active && i->is_receive && !i->is_cancelled && i->spans[0].lo != i->spans[0].hi;
    if (receives) *started_out = i->started;
    gw_unlock(&check_lock);
    return receives;
}

/* What lets the program use the buffer again. */
static const char *end_word(const struct check_item *i)
{
    if (!i->is_loose || owner_kind(i) == GW_KIND_REQ) return "a wait or test";
    return owner_kind(i) == GW_KIND_WIN ? "MPI_Win_flush, MPI_Win_unlock, MPI_Win_fence or the like" : "the call that ends it";
}

static void look_at_contents(const struct check_item *i, const struct check_span *s)
{
    int64_t from, to;
    bool gone;
    char site[CHECK_SITE_TEXT], about[CHECK_ABOUT_TEXT];
    if (!check_span_changed(s, &from, &to, &gone)) return;
    int64_t before;
    struct check_span one = one_call(s, gone ? 0 : from, &before);
    if (s->each && !gone) {
        from -= before;
        to = gw_min64(to - before, one.count * one.type->size);
        s = &one;
    }
    check_site_text(i->started, site);
    check_about_text(i, about);
    if (gone)
        check_say(
            "buffer given back too early: the %s of %s%s (%lld x %s at %p) was not in the program's memory any more, or protected, when "
            "the operation was completed; it must stay until %s says so",
            buffer_word(s), site, about, (long long)s->count, type_name(s->type), s->buf, end_word(i));
    else
        check_say("buffer changed too early: bytes %lld to %lld of what %s%s %s (%lld x %s at %p) were changed before "
                  "the operation was completed by %s",
                  (long long)from, (long long)to - 1, site, about, s->is_written ? "receives" : "sends", (long long)s->count,
                  type_name(s->type), s->buf, end_word(i));
}

static void over(struct check_item *i)
{
    for (int k = 0; k < i->n_spans; k++) look_at_contents(i, &i->spans[k]);
    check_arrays_look(i);
    used_remove(i);
    if (!i->is_loose) return;
    if (i == loose.last) loose.last = NULL;
    assert(loose.n > 0);
    loose.n--;
    check_item_free(i);
}

static void settle(uint32_t owner, int rank)
{
    int which = rank == CHECK_EVERYONE;
    check_late_settle(owner, rank);
    struct check_item *i = check_owed_first(owner, rank), *next;
    if (!i) return;
    check_pages_hold(true);
    for (; i; i = next) {
        next = i->links[which].next;
        over(i);
    }
    check_pages_let_go();
}

void check_use_settle(uint32_t owner, int rank)
{
    gw_lock(&check_lock);
    settle(owner, rank);
    gw_unlock(&check_lock);
}

bool check_use_is_short(uint32_t owner, int rank, int most)
{
    gw_lock(&check_lock);
    bool is_short = check_late_count(owner, rank) + check_owed_calls(owner, rank) < most;
    gw_unlock(&check_lock);
    return is_short;
}

void check_use_over(uint32_t id, bool is_gone)
{
    gw_lock(&check_lock);
    struct check_item *i = check_item_find(id);
    if (i && i->is_active) {
        if (i->partitions) settle(id, CHECK_EVERYONE);
        over(i);
    }
    if (i && is_gone) check_item_drop(i);
    gw_unlock(&check_lock);
}

void check_use_forget(uint32_t id)
{
    gw_lock(&check_lock);
    struct check_item *i = check_item_find(id);
    if (i) {
        used_remove(i);
        check_item_drop(i);
    }
    gw_unlock(&check_lock);
}

struct receiver {
    uint32_t ctx;
    const void *buf;
    const struct check_item *item;
};
static bool is_receiver(struct check_node *n, void *arg)
{
    struct receiver *r = arg;
    const struct check_used *u = container_of(n, struct check_used, node);
    if (span_of(u)->buf != r->buf || u->item->ctx != r->ctx) return false;
    r->item = u->item;
    return true;
}

struct check_site check_use_receiver(uint32_t ctx, const void *buf)
{
    struct receiver r = {ctx, buf, NULL};
    gw_lock(&check_lock);
    check_tree_each(&in_use[true], 0, UINTPTR_MAX, is_receiver, &r); /* a buffer may begin anywhere below its bytes */
    struct check_site s = r.item ? r.item->started : check_me.now;
    gw_unlock(&check_lock);
    return s;
}

struct running {
    uint32_t id;
    struct check_item *item;
};
static bool is_running(struct check_node *n, void *arg)
{
    struct running *r = arg;
    struct check_used *u = container_of(n, struct check_used, node);
    if (u->item->running != r->id) return false;
    r->item = u->item;
    return true;
}

struct check_item *check_use_running(uint32_t id, const struct check_span *s)
{
    struct running r = {id, NULL};
    check_tree_each(&in_use[true], s->lo, s->lo + 1, is_running, &r);
    return r.item;
}

struct check_site check_use_maker(uint32_t id)
{
    gw_lock(&check_lock);
    const struct check_item *i = check_item_find(id);
    struct check_site s = i ? i->made : check_me.now;
    gw_unlock(&check_lock);
    return s;
}

void check_use_end(void)
{
    for (struct check_item *i; (i = check_owed_any());) {
        used_remove(i);
        if (i->is_loose) check_item_free(i);
    }
    memset(&loose, 0, sizeof loose);
    check_late_end();
    check_recv_end();
    check_items_free();
    check_runs_free();
    check_tree_drop(&in_use[0]);
    check_tree_drop(&in_use[1]);
}
