/* compare.c -- finds which collective calls of a communicator's members differ, and writes the error text.
 *
 * The steps of a collective compare hashes only (plan.h).  When they differ, this file looks up the calls themselves, which each
 * rank of the node notes in its slot.  No error is reported if the noted calls are equal after all, or if a call is no longer
 * noted.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <strings.h>

#include "base/lock.h"
#include "boot/boot.h"
#include "boot/call.h"
#include "boot/segment.h"
#include "plan/plan_private.h"

const char *const *plan_call_names;

/* A copy of a noted call.  call: GW_FN_*; 0: unknown. */
struct noted {
    uint64_t says;
    int64_t bytes;
    uint32_t call;
};
static inline int root_of(const struct noted *n) { return (int)(uint32_t)n->says; }
static inline unsigned op_of(const struct noted *n) { return n->says >> BOOT_SAYS_OP & 0xffff; }
static inline unsigned kind_of(const struct noted *n) { return n->says >> BOOT_SAYS_KIND & 0xff; }
static inline unsigned flags_of(const struct noted *n) { return (unsigned)(n->says >> BOOT_SAYS_FLAGS); }

static bool entry_is(const uint64_t word[3], const struct gw_comm *c, uint64_t number)
{
    return word[0] >> 12 == boot_coll_pack(c->ctx >> GW_STREAM_BITS, number, 0) >> 12 && boot_coll_mark(word) == c->mark &&
        (word[1] >> BOOT_SAYS_KIND & 0xff) != PLAN_ANY_CALL;
}

/* Finds collective `number` among the last calls that a rank of this node has noted.  NULL: the rank has not called it yet, or has
 * noted many since. */
static struct boot_coll *find(struct boot_rank *of, const struct gw_comm *c, uint64_t number, struct noted *out)
{
    uint64_t word[3];
    for (int i = 0; i < BOOT_COLLS; i++) {
        if (!boot_coll_read(&of->colls[i], word) || !entry_is(word, c, number)) continue;
        *out = (struct noted){word[1], boot_coll_bytes(word), (uint32_t)word[0] & 0xfff};
        return &of->colls[i];
    }
    return NULL;
}

/* ---- comparing two calls ------------------------------------------------------------------------------------------------ */
static int difference(const struct noted *a, const struct noted *b)
{
    static const int errors[] = {[BOOT_SAME] = GW_OK,
                                 [BOOT_OTHER_CALL] = GW_EOTHER,
                                 [BOOT_OTHER_ROOT] = GW_EROOT,
                                 [BOOT_OTHER_BYTES] = GW_ETRUNCATE,
                                 [BOOT_OTHER_OP] = GW_EOP};
    _Static_assert(GW_ARRAY_LEN(errors) == BOOT_OTHER_OP + 1, "one of each difference");
    return errors[boot_coll_differ(a->says, a->bytes, b->says, b->bytes)];
}

static bool is_team(const struct gw_comm *c) { return c->team_calls > 0; }
static const char *member_of(const struct gw_comm *c) { return is_team(c) ? "PE" : "rank"; }

static const char *rule(const struct gw_comm *c, int difference)
{
    bool team = is_team(c);
    switch (difference) {
    case GW_EROOT:
        return team ? "all PEs of a team must give the same root" : "all ranks of a communicator must give the same root";
    case GW_EOP:
        return team ? "all PEs of a team must give the same operation" : "all ranks of a communicator must give the same operation";
    case GW_ETRUNCATE:
        return team ? "their types and numbers of elements must come to the same number of bytes"
                    : "their counts and datatypes must come to the same number of bytes";
    default:
        return team ? "all PEs of a team must call the same collective operations in the same order"
                    : "all ranks of a communicator must call the same collective operations in the same order";
    }
}

static const char *name_of_op(unsigned op)
{
    enum { OP_USER = 0xfffe };
    struct gw_op *known = op < OP_USER ? (struct gw_op *)gw_obj_lookup(op, GW_KIND_OP) : NULL;
    if (known) return op_name(known);
    return op == OP_USER ? "an operation of its own that does not commute" : "an operation of its own";
}

static bool is_rooted(const char *what)
{
    static const char *const rooted[] = {"Bcast", "Gather", "Scatter", "Gatherv", "Scatterv", "Reduce"};
    for (size_t i = 0; i < GW_ARRAY_LEN(rooted); i++)
        if (strcmp(what, rooted[i]) == 0) return true;
    return false;
}

/* What a team's program calls that, of which only MPI's word is known. */
static const char *team_word(const char *what)
{
    static const char *const words[][2] = {
        {"Barrier", "a barrier or sync"}, {"Bcast", "a broadcast"},    {"Allgather", "fcollect"},
        {"Allgatherv", "collect"},        {"Alltoall", "an alltoall"}, {"Alltoallv", "an alltoallv"},
        {"Allreduce", "a reduction"},     {"Scan", "a scan"},          {"Exscan", "a scan"}};
    for (size_t i = 0; i < GW_ARRAY_LEN(words); i++)
        if (strcmp(what, words[i][0]) == 0) return words[i][1];
    return "another collective";
}

/* Is the collective this very call, and not a part of another one, whose numbers say nothing to who reads them? */
static bool is_itself(const char *call, const char *what)
{
    if (strncmp(call, "MPI_", 4) != 0) return true; /* of a team */
    size_t len = strlen(what);
    call += 4;
    if (call[0] == 'I' && strncasecmp(call + 1, what, len) == 0) call++;
    return strncasecmp(call, what, len) == 0 &&
        (!call[len] || strcmp(call + len, "_c") == 0 || strncmp(call + len, "_init", 5) == 0);
}

/* "MPI_Bcast (40 bytes, root 0)" */
static void text_of(const struct gw_comm *c, const struct noted *n, char *out, size_t cap)
{
    unsigned kind = kind_of(n);
    const char *what = kind >= PLAN_CALLS && plan_call_names ? plan_call_names[kind - PLAN_CALLS] : "", *sep = " (";
    const char *call = boot_call_name(n->call);
    size_t at;
    if (call)
        at = (size_t)snprintf(out, cap, "%s", call);
    else if (kind == PLAN_MAKING)
        at = (size_t)snprintf(out, cap, is_team(c) ? "a split of a team" : "a function that makes a communicator");
    else if (is_team(c))
        at = (size_t)snprintf(out, cap, "%s", team_word(what));
    else
        at = (size_t)snprintf(out, cap, "MPI_%s%s", flags_of(n) & BOOT_SAYS_REQUEST ? "I" : "",
                              kind == PLAN_FINALIZE ? "Finalize" : what);
    if (kind < PLAN_CALLS || (call && !is_itself(call, what))) return;
    if (n->bytes > 0 && at < cap) at += (size_t)snprintf(out + at, cap - at, "%s%lld bytes", sep, (long long)n->bytes), sep = ", ";
    if (n->bytes == 0 && strcmp(what, "Barrier") != 0 && !(flags_of(n) & BOOT_SAYS_OWN) && at < cap)
        at += (size_t)snprintf(out + at, cap - at, "%s0 bytes", sep), sep = ", ";
    if (op_of(n) && !is_team(c) && at < cap)
        at += (size_t)snprintf(out + at, cap - at, "%s%s", sep, name_of_op(op_of(n))), sep = ", ";
    if (root_of(n) >= 0 && is_rooted(what) && at < cap)
        at += (size_t)snprintf(out + at, cap - at, is_team(c) ? "%sPE_root %d" : "%sroot %d", sep, root_of(n)), sep = ", ";
    if (*sep == ',' && at + 1 < cap) strcpy(out + at, ")");
}

static const char *name_of(const struct gw_comm *c) { return c->name[0] ? c->name : "a communicator without a name"; }

enum { PLACE_TEXT = GW_MAX_OBJECT_NAME + 48 };
/* "collective #2 on MPI_COMM_WORLD" */
static const char *place_of(const struct gw_comm *c, uint64_t number, char out[PLACE_TEXT])
{
    unsigned long long shown = comm_coll_shown(c, number);
    if (shown || !c->is_inner)
        snprintf(out, PLACE_TEXT, "collective #%llu on %s", shown, name_of(c));
    else
        snprintf(out, PLACE_TEXT, "a collective on %s", name_of(c));
    return out;
}

struct pair {
    struct gw_comm *comm;
    uint64_t number;
    int other; /* the other member: its rank in the communicator */
    struct noted mine, theirs;
};

static int tell(const struct pair *p)
{
    char mine[160], theirs[160], place[PLACE_TEXT];
    int how = difference(&p->mine, &p->theirs);
    if (how == GW_OK) return GW_OK;
    text_of(p->comm, &p->mine, mine, sizeof mine);
    text_of(p->comm, &p->theirs, theirs, sizeof theirs);
    bool by_form = (flags_of(&p->mine) ^ flags_of(&p->theirs)) & (BOOT_SAYS_REQUEST | BOOT_SAYS_PREPARED);
    return gw_fail(how, "the calls differ in %s: %s %d called %s, %s %d called %s; %s%s", place_of(p->comm, p->number, place),
                   member_of(p->comm), p->comm->rank, mine, member_of(p->comm), p->other, theirs, rule(p->comm, how),
                   by_form ? " (mpiexec --coll-order apart counts those with requests by themselves)" : "");
}

/* ---- comparing with other members ---------------------------------------------------------------------------------------- */
/* The slot of a member that runs on this node, else NULL. */
static struct boot_rank *slot_of(const struct gw_comm *c, int member)
{
    int world = group_world(c->group, member), local = world < gw_boot.size && gw_boot.local_to_world ? boot_local_rank(world) : -1;
    return local < 0 || !gw_node.base ? NULL : boot_slot_of(local);
}

/* Notes that the difference was reported, so that no rank reports it again when later calls are compared. */
static void mark_told(const struct gw_comm *c, uint64_t number)
{
    if (number & PLAN_APART) return;
    struct noted n;
    struct boot_coll *mine = find(boot_slot, c, number, &n);
    if (mine) atomic_store_explicit(&mine->word[1], n.says | (uint64_t)BOOT_SAYS_TOLD << BOOT_SAYS_FLAGS, memory_order_relaxed);
}

/* For a collective inside another call: what the caller passed. */
static struct noted noted_of(const struct plan_said *s)
{
    struct noted n;
    bool is_within = plan_is_within(s->comm) && s->number == s->comm->colls - 1;
    if (find(boot_slot, s->comm, s->number, &n)) return is_within ? n : (struct noted){s->says, s->bytes, n.call};
    return is_within ? (struct noted){.says = (uint32_t)GW_ANY_SOURCE} : (struct noted){s->says, s->bytes, 0};
}

/* The collective cannot end, or has no right data: a member that made the same call as this rank has given it up. */
static int tell_given_up(const struct plan_said *s, int member, int err)
{
    char mine[160], place[PLACE_TEXT];
    struct noted n = noted_of(s);
    text_of(s->comm, &n, mine, sizeof mine);
    mark_told(s->comm, s->number);
    return gw_fail(err,
                   "the calls differ in %s: %s %d called %s, %s %d gave it up as others called something "
                   "else; %s",
                   place_of(s->comm, s->number, place), member_of(s->comm), s->comm->rank, mine, member_of(s->comm), member,
                   rule(s->comm, err));
}

/* Did member i give up this call, or one so much later that this is not known any more?  Its error, else GW_OK. */
static int given_up_by(const struct comm_coll *k, int i, uint64_t number)
{
    uint64_t up = atomic_load_explicit(&k->exposed[i].gave_up[number % LEAF_GAVE_UPS], memory_order_acquire);
    return up >> 8 > number ? leaf_error_of(up & 0xff) : GW_OK;
}
static int look_for_given_up(const struct plan_said *s)
{
    const struct comm_coll *k = s->comm->coll;
    for (int i = 0; k && k->ready && i < k->size; i++) {
        int err = i == k->me ? GW_OK : given_up_by(k, i, s->number);
        if (err != GW_OK) return tell_given_up(s, k->nodes ? plan_member(k->nodes, k->nodes->me, i) : i, err);
    }
    return GW_OK;
}

struct far_search {
    struct p2p_left left;
    uint64_t number;
    int member, err;
};
static void look_at_far(struct gw_done *done, int err)
{
    (void)err;
    struct far_search *f = container_of(done, struct far_search, left.done);
    int differs = f->left.message.tag ^ leaf_gave_up_tag(f->number, 0);
    if (differs <= 0 || differs > 0xff) return;
    f->member = f->left.message.src, f->err = leaf_error_of(differs);
}
static int look_for_given_up_far(const struct plan_said *s)
{
    struct far_search f = {.left.done.fn = look_at_far, .number = s->number};
    if (!s->comm->one_node) p2p_stream_each_left(s->comm, GW_STREAM_LEAF, &f.left);
    return f.err ? tell_given_up(s, f.member, f.err) : GW_OK;
}

static GW_COLD int compare(const struct plan_said *s)
{
    struct gw_comm *c = s->comm;
    struct pair p = {.comm = c, .number = s->number, .mine = noted_of(s)};
    if (s->number & PLAN_APART) return GW_OK;
    for (p.other = 0; p.other < c->size; p.other++) {
        struct boot_rank *slot = p.other == c->rank ? NULL : slot_of(c, p.other);
        if (!slot || !find(slot, c, s->number, &p.theirs)) continue;
        int rc = tell(&p);
        if (rc == GW_OK) continue;
        mark_told(c, s->number);
        return rc;
    }
    return GW_OK;
}

int plan_compare_newest(struct gw_comm *c)
{
    struct noted n;
    if (!find(boot_slot, c, c->colls - 1, &n)) return GW_OK;
    return compare(&(struct plan_said){c, c->colls - 1, n.says, n.bytes});
}

static const char *kind_in_tag(int tag)
{
    unsigned kind = (unsigned)tag >> 4 & 15;
    if (kind < PLAN_CALLS) kind += 16;
    return plan_call_names[kind - PLAN_CALLS];
}

static int tell_rival(const struct plan_said *s, const struct p2p_rival *r)
{
    char mine[160], theirs[48], place[PLACE_TEXT];
    struct noted n = noted_of(s);
    bool same = ((unsigned)(r->tag ^ r->want) >> 4 & 15) == 0;
    text_of(s->comm, &n, mine, sizeof mine);
    const char *kind = kind_in_tag(r->tag);
    snprintf(theirs, sizeof theirs, "%s%s", is_team(s->comm) ? "" : "MPI_", is_team(s->comm) ? team_word(kind) : kind);
    mark_told(s->comm, s->number);
    return gw_fail(same ? op_of(&n) ? GW_EOP : GW_EROOT : GW_EOTHER,
                   "the calls differ in %s: %s %d called %s, %s %d called %s%s; %s", place_of(s->comm, s->number, place),
                   member_of(s->comm), s->comm->rank, mine, member_of(s->comm), r->src, theirs,
                   is_team(s->comm) ? same ? " with another root or operation" : ""
                       : same       ? " with another root or operation, or in another form (blocking, non-blocking, persistent)"
                                    : " or its non-blocking form",
                   rule(s->comm, same ? GW_EROOT : GW_EOTHER));
}

int plan_compare_parts(const struct plan_said *s, struct gw_req **parts, int n)
{
    struct p2p_rival rival;
    if (s->number & PLAN_APART) return GW_OK;
    int rc = compare(s);
    for (int i = 0; i < n && rc == GW_OK; i++)
        if (p2p_stream_rival(parts[i], PLAN_TAG_SAYS, &rival)) rc = tell_rival(s, &rival);
    if (rc == GW_OK) rc = look_for_given_up(s);
    return rc == GW_OK ? look_for_given_up_far(s) : rc;
}

int plan_length_differs(const struct plan_said *s, int from, int64_t want, int64_t came)
{
    char mine[160], sent[32], place[PLACE_TEXT];
    int rc = compare(s);
    if (rc != GW_OK) return rc;
    struct noted n = noted_of(s);
    text_of(s->comm, &n, mine, sizeof mine);
    mark_told(s->comm, s->number);
    if (came >= 0 && came < INT64_MAX)
        snprintf(sent, sizeof sent, "%lld", (long long)came);
    else
        snprintf(sent, sizeof sent, "%s", came < 0 ? "another number" : "more");
    return gw_fail(GW_ETRUNCATE, "the calls differ in %s: %s %d called %s and takes %lld bytes from %s %d, which sent %s; %s",
                   place_of(s->comm, s->number, place), member_of(s->comm), s->comm->rank, mine, (long long)want,
                   member_of(s->comm), from, sent, rule(s->comm, GW_ETRUNCATE));
}

/* Has a member on this node reported the difference?  Then this rank notes that as well, as the other's
 * note may be overwritten earlier. */
static bool is_told(const struct gw_comm *c, uint64_t number)
{
    struct noted n;
    for (int i = 0; i < c->size; i++) {
        struct boot_rank *slot = slot_of(c, i);
        if (!slot || !find(slot, c, number, &n) || !(flags_of(&n) & BOOT_SAYS_TOLD)) continue;
        mark_told(c, number);
        return true;
    }
    return false;
}

/* Compares this rank's noted collectives number `first` to `end` - 1 with those of one member, or of all (-1). */
static int compare_former(struct gw_comm *c, uint64_t first, uint64_t end, int member)
{
    struct pair p = {.comm = c};
    for (p.number = first; p.number < end; p.number++) {
        if (!find(boot_slot, c, p.number, &p.mine) || is_told(c, p.number)) continue;
        for (p.other = 0; p.other < c->size; p.other++) {
            struct boot_rank *slot = member >= 0 && member != p.other ? NULL : slot_of(c, p.other);
            if (!slot || slot == boot_slot || !find(slot, c, p.number, &p.theirs)) continue;
            int rc = tell(&p);
            if (rc == GW_OK) continue;
            mark_told(c, p.number);
            return rc;
        }
    }
    return GW_OK;
}
static uint64_t noted_from(uint64_t end) { return end > BOOT_COLLS ? end - BOOT_COLLS : 0; }

int plan_compare_before(struct gw_comm *c, uint64_t number)
{
    return number & PLAN_APART ? GW_OK : compare_former(c, noted_from(number), number, -1);
}

static int rank_of(const struct plan_exec *x, int member)
{
    return x->walk ? plan_team_rank(&x->walk->stage.team, member) : member;
}

void plan_size_differs(struct plan_exec *x, int member, int64_t want, int64_t came)
{
    struct plan_said said = plan_said_by(x);
    x->differs = true;
    if (x->err == GW_OK) x->err = plan_length_differs(&said, rank_of(x, member), want, came);
}

/* Has the member begun a later collective, though so few that it would have left its sig of this one?  Behind one inside another call the next
 * call's may take that very sig: numbers go on by less than a stride there. */
static bool has_gone_on(const struct plan_exec *x, int member)
{
    uint64_t n = atomic_load_explicit(&x->leaf->flags[member].value, memory_order_acquire) >> 20;
    return n > x->args->n && n < x->args->n + PLAN_SIGS * (x->walk || plan_is_within(x->comm) ? 1 : PLAN_STRIDE);
}

bool plan_sig_differs(struct plan_exec *x, int member)
{
    struct gw_comm *c = x->comm;
    const struct plan_args *a = x->args;
    struct pair p = {.comm = c, .number = a->number, .other = rank_of(x, member)};
    struct boot_rank *slot = slot_of(c, p.other);
    if (x->err != GW_OK) return true;
    if (!slot || !find(boot_slot, c, p.number, &p.mine)) return false;
    bool is_there = find(slot, c, p.number, &p.theirs);
    int rc = is_there ? tell(&p) : GW_OK, given_up;
    int64_t due = a->is_vector && a->rcounts.v && !plan_is_within(c) ? gw_counts_at(a->rcounts, member) * a->rt->size : -1;
    struct plan_said said = plan_said_by(x);
    if (rc != GW_OK)
        mark_told(c, p.number);
    else if (is_there && due >= 0 && p.theirs.bytes != due)
        rc = plan_length_differs(&said, p.other, due, p.theirs.bytes);
    else if ((given_up = given_up_by(x->leaf, member, p.number)) != GW_OK)
        rc = tell_given_up(&said, p.other, given_up);
    else if (!is_there && has_gone_on(x, member))
        rc = tell_given_up(&said, p.other, GW_EOTHER);
    else
        rc = compare_former(c, noted_from(p.number), p.number, p.other);
    x->err = rc;
    x->differs = rc != GW_OK;
    return x->differs;
}

/* For the search of the earliest collective message that was not received. */
struct left_search {
    struct p2p_left left;
    uint64_t next, number; /* the number of this rank's next collective; that of the earliest message found, or `next` if none */
    bool goes_on;
    struct p2p_rival found;
};
static void look_at_left(struct gw_done *done, int err)
{
    (void)err;
    struct left_search *s = container_of(done, struct left_search, left.done);
    const struct p2p_rival *l = &s->left.message;
    uint64_t number = s->goes_on && l->tag & PLAN_TAG_PERSISTENT ? s->next : plan_tag_former(l->tag, s->next);
    if (number >= s->number) return;
    s->number = number;
    s->found = *l;
}

int plan_compare_last(struct gw_comm *c, bool goes_on)
{
    struct left_search s = {.left.done.fn = look_at_left, .next = c->colls, .number = c->colls, .goes_on = goes_on};
    char place[PLACE_TEXT];
    uint64_t first = noted_from(c->colls);
    int rc = compare_former(c, first, c->colls, -1);
    gw_lock(&c->lane->lock);
    if (rc == GW_OK) p2p_stream_each_left(c, GW_STREAM_COLL, &s.left);
    gw_unlock(&c->lane->lock);
    if (rc != GW_OK || s.number == s.next) return rc;
    for (uint64_t number = first; number < c->colls; number++)
        if (is_told(c, number)) return GW_OK; /* the message may be left over from that */
    return gw_fail(GW_EOTHER,
                   "the calls differ in %s: %s %d called %s%s and sent %lld bytes in it to %s %d, which did not "
                   "call it like that; %s",
                   place_of(c, s.number, place), member_of(c), s.found.src, is_team(c) ? "" : "MPI_",
                   is_team(c) ? team_word(kind_in_tag(s.found.tag)) : kind_in_tag(s.found.tag), (long long)s.found.bytes,
                   member_of(c), c->rank, rule(c, GW_EOTHER));
}
