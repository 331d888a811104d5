/* check_judge.c -- do the members of a communicator call the same?  Pure.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check/check_call.h"

#include <stdio.h>

bool check_call_is_right(const struct check_call *k, int64_t bytes, int member, int sigs_max)
{
    const char *field = NULL;
    if (bytes < (int64_t)sizeof *k)
        field = "bytes";
    else if (k->n_s < 0 || k->n_s > sigs_max || k->n_r < 0 || k->n_r > sigs_max || bytes != (int64_t)call_bytes(k))
        field = "bytes";
    else if (k->member != member)
        field = "member";
    else if (memchr(k->module, 0, sizeof k->module) == NULL)
        field = "module";
    if (field) gw_refused("the record of a collective call", field, strcmp(field, "bytes") == 0 ? bytes : member);
    return !field;
}

int check_verdict_of(int32_t verdict, int64_t bytes)
{
    static const int verdicts[] = {GW_OK, GW_ECOUNT, GW_EOTHER, GW_EROOT, GW_EOP, GW_ETOPOLOGY};
    for (size_t i = 0; bytes == sizeof verdict && i < GW_ARRAY_LEN(verdicts); i++)
        if (verdicts[i] == verdict) return verdict;
    bool is_whole = bytes == sizeof verdict;
    gw_refused("the verdict on a collective call", is_whole ? "error" : "bytes", is_whole ? verdict : bytes);
    return GW_EOTHER;
}

/* ---- data ------------------------------------------------------------------------------------------------------------------ */
static int sig_differ(const struct check_sig *a, const struct check_sig *b)
{
    if (a->bytes < 0 || b->bytes < 0) return JUDGE_FINE;
    if (a->bytes != b->bytes) return JUDGE_WRONG;
    return a->is_any || b->is_any || (a->hash == b->hash && a->n == b->n) ? JUDGE_FINE : JUDGE_TYPES;
}

static const struct check_sig *s_for(const struct check_call *k, int peer)
{
    int i = k->n_s == 1 ? 0 : peer;
    return i < k->n_s ? &call_s(k)[i] : NULL;
}
static const struct check_sig *r_for(const struct check_call *k, int peer)
{
    int i = k->n_r == 1 ? 0 : peer;
    return i < k->n_r ? &call_r(k)[i] : NULL;
}

/* The members of a group, or all. */
struct side {
    const struct check_call *const *v;
    int n;
};
static struct side first_side(struct judge_calls c) { return (struct side){c.v, c.n_first}; }
static struct side second_side(struct judge_calls c) { return (struct side){c.v + c.n_first, c.n - c.n_first}; }

static const struct check_call *anyone(struct side s)
{
    for (int i = 0; i < s.n; i++)
        if (s.v[i]) return s.v[i];
    return NULL;
}

/* What rank `from` sends to rank `to`; is_told: with the bytes, as their calls do not say how much. */
static void compare(struct judgement *j, const struct check_sig *sent, const struct check_sig *received, int from, int to,
                    bool is_told)
{
    int d = sent && received ? sig_differ(sent, received) : JUDGE_FINE;
    if (d <= j->severity) return;
    j->severity = d;
    j->from = is_told && d == JUDGE_WRONG ? from : -1;
    j->to = to;
    j->sent = sent->bytes;
    j->received = received->bytes;
}

static bool is_single(const struct check_call *k) { return k->n_s <= 1 && k->n_r <= 1; }

static bool all_single(struct side s)
{
    for (int i = 0; i < s.n; i++)
        if (s.v[i] && !is_single(s.v[i])) return false;
    return true;
}

/* ---- the shapes ---- */
static const struct check_call *first_that_counts(struct side s)
{
    for (int i = 0; i < s.n; i++)
        if (s.v[i] && s.v[i]->n_s > 0 && call_s(s.v[i])->bytes >= 0) return s.v[i];
    return NULL;
}

static void judge_same(struct judgement *j, struct side s)
{
    const struct check_call *one = first_that_counts(s);
    for (int i = 0; i < s.n && one; i++) {
        const struct check_call *k = s.v[i];
        if (!k) continue;
        if (k->n_s != one->n_s) j->severity = JUDGE_WRONG;
        for (int e = 0; e < k->n_s && e < one->n_s; e++) compare(j, &call_s(k)[e], &call_s(one)[e], 0, 0, false);
    }
}

static void judge_root(struct judgement *j, struct side leaves, const struct check_call *root, bool to_root)
{
    for (int i = 0; i < leaves.n && root; i++) {
        const struct check_call *k = leaves.v[i];
        if (k && to_root) compare(j, s_for(k, 0), r_for(root, i), 0, 0, false);
        if (k && !to_root) compare(j, s_for(root, i), r_for(k, 0), 0, 0, false);
    }
}

/* What each of `a` sends to each of `b`. */
static void judge_pairs(struct judgement *j, struct side a, struct side b)
{
    bool single = all_single(a) && all_single(b); /* one number for all peers: one of them is enough */
    const struct check_call *one_a = anyone(a), *one_b = anyone(b);
    if (!one_a || !one_b) return;
    for (int i = 0; i < a.n; i++)
        for (int p = 0; a.v[i] && p < (single ? 1 : b.n); p++) {
            const struct check_call *other = single ? one_b : b.v[p];
            if (other) compare(j, s_for(a.v[i], p), r_for(other, i), i, p, a.v[i]->s_count < 0);
        }
    for (int p = 0; single && p < b.n; p++)
        if (b.v[p]) compare(j, s_for(one_a, p), r_for(b.v[p], 0), 0, 0, false);
}

/* The nth with that peer, or NULL. */
static const struct check_sig *edge(const struct check_sig *v, int n, int peer, int nth)
{
    for (int i = 0; i < n; i++)
        if (v[i].peer == peer && nth-- == 0) return &v[i];
    return NULL;
}
static int edges(const struct check_sig *v, int n, int peer)
{
    int k = 0;
    for (int i = 0; i < n; i++) k += v[i].peer == peer;
    return k;
}

static void judge_neighbors(struct judgement *j, struct side s)
{
    for (int i = 0; i < s.n; i++) {
        const struct check_call *k = s.v[i];
        for (int e = 0; k && e < k->n_s; e++) {
            const struct check_sig *sent = &call_s(k)[e];
            const struct check_call *other = sent->peer >= 0 && sent->peer < s.n ? s.v[sent->peer] : NULL;
            if (!other || other->shape != SHAPE_NEIGHBORS) continue;
            int nth = edges(call_s(k), e, sent->peer);
            compare(j, sent, edge(call_r(other), other->n_r, i, nth), i, sent->peer, true);
        }
    }
}

/* Each says of the other that it is a neighbour, as often. */
static bool neighbors_agree(struct side s)
{
    for (int i = 0; i < s.n; i++)
        for (int p = 0; p < s.n; p++) {
            const struct check_call *a = s.v[i], *b = s.v[p];
            if (!a || !b || a->shape != SHAPE_NEIGHBORS || b->shape != SHAPE_NEIGHBORS) continue;
            if (edges(call_s(a), a->n_s, p) != edges(call_r(b), b->n_r, i)) return false;
        }
    return true;
}

/* ---- roots ----------------------------------------------------------------------------------------------------------------- */
static bool looks_on(const struct check_call *k) { return k->root == GW_ROOT || k->root == GW_PROC_NULL; }

/* Of a group of an intercommunicator: one says MPI_ROOT and the others MPI_PROC_NULL, or all the same rank. */
static bool roots_agree(struct side s)
{
    const struct check_call *one = anyone(s);
    int roots = 0, nulls = 0, others = 0, present = 0;
    for (int i = 0; i < s.n; i++) {
        if (!s.v[i]) continue;
        present++;
        roots += s.v[i]->root == GW_ROOT;
        nulls += s.v[i]->root == GW_PROC_NULL;
        others += s.v[i]->root == one->root;
    }
    return others == present || (roots <= 1 && roots + nulls == present);
}

/* The root is in one of the groups, and it is the one that the other says. */
static bool sides_agree(struct side a, struct side b)
{
    const struct check_call *x = anyone(a), *y = anyone(b);
    if (!x || !y || x->root == GW_UNDEFINED) return true;
    if (looks_on(x) == looks_on(y)) return false;
    struct side s = looks_on(x) ? a : b;
    int root = looks_on(x) ? y->root : x->root;
    return root >= 0 && (root >= s.n || !s.v[root] || s.v[root]->root == GW_ROOT);
}

static const struct check_call *root_of(struct judge_calls c)
{
    const struct check_call *one = anyone(first_side(c));
    if (c.n_first == c.n && one && one->root >= 0) return one->root < c.n ? c.v[one->root] : NULL;
    for (int i = 0; i < c.n && c.n_first < c.n; i++)
        if (c.v[i] && c.v[i]->root == GW_ROOT) return c.v[i];
    return NULL;
}

/* Who only looks on, in the root's group of an intercommunicator, need not say one. */
static bool ops_agree(struct side s)
{
    const struct check_call *one = NULL;
    for (int i = 0; i < s.n; i++) {
        if (!s.v[i] || s.v[i]->root == GW_PROC_NULL) continue;
        if (one && one->op != s.v[i]->op) return false;
        one = s.v[i];
    }
    return true;
}

/* ---- all of it ------------------------------------------------------------------------------------------------------------- */
static void judge_data(struct judgement *j, struct judge_calls c, int shape)
{
    struct side a = first_side(c), b = second_side(c);
    bool two = c.n_first < c.n;
    const struct check_call *root = root_of(c), *x, *y;
    switch (shape) {
    case SHAPE_SAME:
        judge_same(j, a);
        judge_same(j, b);
        x = first_that_counts(a), y = first_that_counts(b);
        if (x && y) compare(j, call_s(x), call_s(y), 0, 0, false);
        break;
    case SHAPE_TO_ROOT:
    case SHAPE_FROM_ROOT: judge_root(j, two && root && root->member < c.n_first ? b : a, root, shape == SHAPE_TO_ROOT); break;
    case SHAPE_TO_ALL:
    case SHAPE_PAIRS:
        judge_pairs(j, a, two ? b : a);
        if (two) judge_pairs(j, b, a);
        break;
    case SHAPE_NEIGHBORS: judge_neighbors(j, a); break;
    default: break;
    }
}

static struct judgement wrong(int error, const char *what) { return (struct judgement){JUDGE_WRONG, error, what, -1, -1, 0, 0}; }

struct judgement check_judge(struct judge_calls c)
{
    struct judgement j = {JUDGE_FINE, GW_ECOUNT, "", -1, -1, 0, 0};
    struct side a = first_side(c), b = second_side(c);
    const struct check_call *one = anyone((struct side){c.v, c.n});
    assert(c.n_first > 0 && c.n_first <= c.n);
    if (!one) return j;
    for (int i = 0; i < c.n; i++)
        if (c.v[i] && c.v[i]->fn != one->fn)
            return wrong(GW_EOTHER, "they must call the same collective operations in the same order");
    if (!roots_agree(a) || !roots_agree(b)) return wrong(GW_EROOT, "they must say the same root");
    if (!sides_agree(a, b))
        return wrong(GW_EROOT, "the root must say MPI_ROOT, the others of its group MPI_PROC_NULL, and the other group its rank");
    if (!ops_agree(a) || !ops_agree(b)) return wrong(GW_EOP, "they must say the same operation");
    if (one->shape == SHAPE_NEIGHBORS && !neighbors_agree(a))
        return wrong(GW_ETOPOLOGY, "each must be a source of those whose destination it is, and a destination of its sources");
    judge_data(&j, c, one->shape);
    j.what = j.severity == JUDGE_WRONG ? "as much data must be received as is sent"
                                       : "the data must have the same sequence of basic types on both sides";
    return j;
}

/* ---- words ------------------------------------------------------------------------------------------------------------------ */
static void add(char **at, char *end, const char *fmt, ...) GW_PRINTF(3, 4);
static void add(char **at, char *end, const char *fmt, ...)
{
    va_list args;
    assert(*at < end); /* there is always room for the 0 */
    va_start(args, fmt);
    int n = vsnprintf(*at, (size_t)(end - *at), fmt, args);
    va_end(args);
    *at += n < end - *at ? n : end - *at - 1;
}

static void add_data(char **at, char *end, const char *word, int64_t count, const char *type, int n)
{
    if (count >= 0)
        add(at, end, ", %s%lld x %.*s", word, (long long)count, (int)sizeof((struct check_call *)0)->s_type, type);
    else if (n > 1)
        add(at, end, ", %sblocks of different sizes", word);
}

/* "MPI_Bcast at main+0x33, 4 x MPI_INT, root 0" */
static void call_text(const struct check_call *k, char *out, size_t cap)
{
    char *at = out, *end = out + cap, site[CHECK_SITE_TEXT];
    bool same = k->shape == SHAPE_SAME;
    add(&at, end, "%s", check_site_text(check_site_unpack(k->fn, k->place, k->module), site));
    add_data(&at, end, same ? "" : "sends ", k->s_count, k->s_type, k->n_s);
    add_data(&at, end, same ? "" : "receives ", k->r_count, k->r_type, k->n_r);
    if (k->op >= CHECK_OP_USER)
        add(&at, end, ", an operation of its own that does%s commute", k->op == CHECK_OP_USER ? " not" : "");
    if (k->op > 0 && k->op < CHECK_OP_USER) {
        struct gw_op *op = (struct gw_op *)gw_obj_lookup((uint64_t)k->op, GW_KIND_OP);
        add(&at, end, ", %s", op ? op_name(op) : "an operation");
    }
    if (k->root == GW_ROOT)
        add(&at, end, ", root MPI_ROOT");
    else if (k->root == GW_PROC_NULL)
        add(&at, end, ", root MPI_PROC_NULL");
    else if (k->root != GW_UNDEFINED)
        add(&at, end, ", root %d", k->root);
}

/* As the text would be: the place counts, the rank does not. */
static bool alike(const struct check_call *a, const struct check_call *b)
{
    if (!a || !b) return a == b;
    return a->fn == b->fn && a->root == b->root && a->op == b->op && a->s_count == b->s_count && a->r_count == b->r_count &&
        a->place == b->place && (a->n_s > 1) == (b->n_s > 1) && (a->n_r > 1) == (b->n_r > 1) &&
        strncmp(a->s_type, b->s_type, sizeof a->s_type) == 0 && strncmp(a->r_type, b->r_type, sizeof a->r_type) == 0;
}

/* "ranks 0, 3-5" of those that are like the first one. */
static void stack_ranks_text(struct side s, int first, char **at, char *end)
{
    bool several = false;
    for (int i = first + 1; i < s.n; i++) several = several || alike(s.v[i], s.v[first]);
    add(at, end, several ? "ranks " : "rank ");
    for (int i = first, shown = 0; i < s.n; i++) {
        if (!alike(s.v[i], s.v[first])) continue;
        int last = i;
        while (last + 1 < s.n && alike(s.v[last + 1], s.v[first])) last++;
        if (shown == 16) {
            add(at, end, " and more");
            return;
        }
        add(at, end, last == i ? "%s%d" : last == i + 1 ? "%s%d, %d" : "%s%d-%d", shown++ ? ", " : "", i, last);
        i = last;
    }
}

/* False: there would be too many. */
static bool side_text(struct side s, const char *word, int *groups, char **at, char *end)
{
    enum { GROUPS = 8 };
    char text[CHECK_SITE_TEXT + 256];
    for (int i = 0; i < s.n; i++) {
        bool is_new = true;
        for (int k = 0; k < i && is_new; k++) is_new = !alike(s.v[i], s.v[k]);
        if (!is_new) continue;
        if (*groups == GROUPS) {
            add(at, end, "; and others");
            return false;
        }
        if ((*groups)++) add(at, end, "; ");
        stack_ranks_text(s, i, at, end);
        add(at, end, "%s", word);
        if (s.v[i])
            call_text(s.v[i], text, sizeof text), add(at, end, " called %s", text);
        else
            add(at, end, " called nothing yet");
    }
    return true;
}

void check_judge_text(struct judge_calls c, char *out, size_t cap)
{
    char *at = out, *end = out + cap;
    int groups = 0;
    bool two = c.n_first < c.n;
    *at = 0;
    if (side_text(first_side(c), two ? " of the first group" : "", &groups, &at, end) && two)
        side_text(second_side(c), " of the second group", &groups, &at, end);
}
