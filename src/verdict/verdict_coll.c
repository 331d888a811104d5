/* verdict_coll.c -- collectives in which ranks do not agree on the call, the root or the bytes.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "verdict/verdict_view.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- collectives that do not agree ---------------------------------------------------------------------------------------------- */
/* A collective that one rank has entered; root -1: not known.  Communicators without a common member may have the same context id, but
 * have different marks. */
struct entered {
    uint32_t ctx, number;
    uint64_t mark;
    int rank;
    uint32_t call;
    int root;
};

static int entered_order(const void *a, const void *b)
{
    const struct entered *x = a, *y = b;
    if (x->ctx != y->ctx) return x->ctx < y->ctx ? -1 : 1;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    if (x->mark != y->mark) return x->mark < y->mark ? -1 : 1;
    return x->rank - y->rank;
}

static bool is_same(const struct entered *a, const struct entered *b)
{
    return a->ctx == b->ctx && a->number == b->number && a->mark == b->mark;
}

static bool agree(const struct verdict_job *j, const struct entered *a, const struct entered *b)
{
    if (!a->call || !b->call) return true; /* the call of a rank with several threads is not known */
    char name[64];
    snprintf(name, sizeof name, "%s", verdict_call_name(j, a->call));
    if (strcmp(name, verdict_call_name(j, b->call)) != 0) return false;
    return !verdict_call_is_rooted(name) || a->root < 0 || b->root < 0 || a->root == b->root;
}

/* A rank may have noted a collective twice: GODWIT_CHECK does, as the call and as the collective.  Two that do not agree are of two
 * communicators that had the same number one after the other, and say nothing. */
static int entered_once(const struct verdict_job *j, struct entered *e, int n)
{
    assert(n >= 0);
    int kept = 0;
    for (int i = 0, next; i < n; i = next) {
        bool is_one = true;
        for (next = i + 1; next < n && is_same(&e[next], &e[i]) && e[next].rank == e[i].rank; next++)
            is_one = is_one && agree(j, &e[i], &e[next]);
        if (is_one) e[kept++] = e[i];
    }
    return kept;
}

static int entered_all(const struct verdict_job *j, struct entered *e)
{
    int n = 0;
    for (int i = 0; i < j->n; i++)
        for (int k = 0; k < j->ranks[i].n_colls; k++) {
            const uint64_t *w = j->ranks[i].colls[k];
            e[n++] = (struct entered){coll_ctx(w), coll_number(w), boot_coll_mark(w), i, coll_call(w), coll_root(w)};
        }
    qsort(e, (size_t)n, sizeof *e, entered_order);
    return entered_once(j, e, n);
}

bool verdict_is_finalize(const struct verdict_job *j, uint32_t call)
{
    return strcmp(verdict_call_name(j, call), "MPI_Finalize") == 0;
}

/* "ranks 0-1 called MPI_Barrier", or with a different root only "gave root 0". */
static void text_side(struct text *t, const struct verdict_job *j, const struct entered *e, const int *index, int n, bool by_root)
{
    verdict_text_ranks(t, j, index, n);
    if (by_root)
        verdict_text_add(t, " gave root %d", e->root);
    else
        verdict_text_add(t, " called %s", verdict_call_name(j, e->call));
    if (!by_root && verdict_call_is_rooted(verdict_call_name(j, e->call))) verdict_text_add(t, " (root %d)", e->root);
}

/* Prints the ranks of one collective, e[n], grouped by what they called. */
static void text_sides(struct text *t, const struct verdict_job *j, const struct entered *e, int n, bool by_root)
{
    assert(n > 0);
    enum { SIDES = 4 };
    int *index = gw_xmalloc((size_t)n * sizeof *index), sides = 0;
    bool *done = gw_xcalloc((size_t)n, 1);
    for (int a = 0; a < n && sides < SIDES; a++) {
        int m = 0;
        if (done[a] || !e[a].call) continue;
        for (int b = a; b < n; b++)
            if (!done[b] && e[b].call && agree(j, &e[a], &e[b])) {
                done[b] = true;
                index[m++] = e[b].rank;
            }
        verdict_text_add(t, sides++ ? ", " : " ");
        text_side(t, j, &e[a], index, m, by_root);
    }
    free(done);
    free(index);
}

/* How much of the numbers of collectives on this communicator is not the program's, as one who waits there says. */
static uint32_t hidden_of(const struct verdict_job *j, uint32_t ctx)
{
    for (int i = 0; i < j->n; i++)
        if (j->ranks[i].where.has_coll && j->ranks[i].where.coll.ctx == ctx) return (uint32_t)j->ranks[i].where.coll_hidden;
    return 0;
}

/* The collectives of windows and files have no numbers that the program knows. */
static void text_number(struct text *t, uint32_t number, uint32_t hidden)
{
    if (number != hidden) verdict_text_add(t, " #%u", number - hidden);
    verdict_text_add(t, " on ");
}

/* Prints the disagreement of one collective, e[n]; false: its ranks agree. */
static bool find_disagreement(struct text *t, const struct verdict_job *j, const struct entered *e, int n)
{
    const struct entered *odd = NULL;
    bool by_root = true, left = false;
    for (int k = 1; k < n; k++) {
        if (agree(j, &e[0], &e[k])) continue;
        if (!odd) odd = &e[k];
        by_root = by_root && e[k].call == e[0].call;
    }
    if (!odd) return false;
    for (int k = 0; k < n; k++) left = left || verdict_is_finalize(j, e[k].call);
    if (by_root)
        verdict_text_add(t, "verdict: wrong root: %s", verdict_call_name(j, e->call));
    else
        verdict_text_add(t, "verdict: %s: collective", left ? "a rank has left MPI" : "the collectives do not match");
    text_number(t, e->number, hidden_of(j, e->ctx));
    verdict_text_comm(t, j, e->ctx);
    verdict_text_add(t, ":");
    text_sides(t, j, e, n, by_root);
    verdict_text_add(t, "\n");
    return true;
}

/* Finds the first collective on which its members do not agree; communicators of stuck ranks come first. */
bool verdict_find_mismatch(struct text *t, const struct view *v)
{
    const struct verdict_job *j = v->j;
    struct entered *e = gw_xmalloc(((size_t)j->n * BOOT_COLLS + 1) * sizeof *e);
    int n = entered_all(j, e);
    bool found = false;
    for (int from = 0, to; from < n && !found; from = to) {
        for (to = from + 1; to < n && is_same(&e[to], &e[from]);) to++;
        found = find_disagreement(t, j, e + from, to - from);
    }
    free(e);
    return found;
}

/* The record that a rank has of one collective, on the communicator of `like` if that is not NULL; NULL: none, or it was overwritten. */
static const uint64_t *noted(const struct verdict_rank *r, uint32_t ctx, uint64_t number, const uint64_t *like)
{
    for (int k = 0; k < r->n_colls; k++) {
        const uint64_t *word = r->colls[k];
        if (coll_ctx(word) != ctx || coll_number(word) != (number & 0x3fffff)) continue;
        if (!like || boot_coll_mark(word) == boot_coll_mark(like)) return word;
    }
    return NULL;
}

static void text_call(struct text *t, const struct verdict_job *j, int i, const uint64_t word[3], enum boot_difference how)
{
    assert(i >= 0 && i < j->n);
    const char *name = verdict_call_name(j, coll_call(word)), *sep = " (";
    verdict_text_rank(t, j, i);
    verdict_text_add(t, " called %s", name[0] ? name : "a collective");
    if (verdict_call_is_rooted(name)) verdict_text_add(t, "%sroot %d", sep, coll_root(word)), sep = ", ";
    if (how == BOOT_OTHER_BYTES) verdict_text_add(t, "%s%lld bytes", sep, (long long)boot_coll_bytes(word)), sep = ", ";
    if (how == BOOT_OTHER_OP) verdict_text_add(t, "%sanother operation", sep), sep = ", ";
    if (*sep == ',') verdict_text_add(t, ")");
}

/* A stuck rank waits in a collective for a member that has called something else there.  That both are members of one communicator is
 * certain, because one waits for the other. */
bool verdict_find_differing(struct text *t, const struct view *v)
{
    const struct verdict_job *j = v->j;
    for (int i = 0; i < j->n; i++) {
        const struct boot_where *w = &j->ranks[i].where;
        const uint64_t *mine = v->stuck[i] && w->has_coll ? noted(&j->ranks[i], w->coll.ctx, w->coll_number, NULL) : NULL;
        for (int k = 0; mine && k < listed(&j->ranks[i]); k++) {
            int other = w->pending[k].world >= 0 ? verdict_index_of(j, w->pending[k].world) : -1;
            const uint64_t *theirs = other >= 0 ? noted(&j->ranks[other], w->coll.ctx, w->coll_number, mine) : NULL;
            enum boot_difference how =
                theirs ? boot_coll_differ(mine[1], boot_coll_bytes(mine), theirs[1], boot_coll_bytes(theirs)) : BOOT_SAME;
            if (how == BOOT_SAME) continue;
            verdict_text_add(t, "verdict: the collectives do not match: collective");
            text_number(t, coll_number(mine), (uint32_t)w->coll_hidden);
            verdict_text_comm(t, j, w->coll.ctx);
            verdict_text_add(t, ": ");
            text_call(t, j, i, mine, how);
            verdict_text_add(t, ", ");
            text_call(t, j, other, theirs, how);
            verdict_text_add(t, "\n");
            return true;
        }
    }
    return false;
}

char *verdict_mismatch(const struct verdict_job *j, uint64_t quiet_ns)
{
    struct text t = {0};
    struct view v;
    verdict_view_make(&v, j, quiet_ns, false);
    if (v.n_stuck > 0) verdict_find_differing(&t, &v);
    verdict_view_free(&v);
    return t.at;
}
