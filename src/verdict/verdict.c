/* verdict.c -- finds the reason why ranks do not make progress.
 *
 * The causes are tried in a fixed order.  The first kind that is found is the verdict, because the later kinds follow from it.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "verdict/verdict_view.h"
#include "obj/consts_gen.h"

#include <stdio.h>
#include <stdlib.h>

enum { SAY = 3 }; /* findings of one kind that are printed */

/* ---- messages that do not match --------------------------------------------------------------------------------------------------- */
/* The one property in which an unexpected message differs from the awaited one.  The last two are certain mistakes if nothing else can
 * come; other messages may be received later. */
enum likeness { NOTHING, OTHER_SOURCE, OTHER_COMM, OTHER_TAG };

static enum likeness likeness_of(const struct boot_pending *want, const struct boot_pending *got)
{
    bool ctx = want->ctx == got->ctx, tag = verdict_tags_match(want->tag, got->tag);
    bool source = want->world == GW_ANY_SOURCE || want->world == got->world;
    if (ctx && source && !tag) return OTHER_TAG;
    if (!ctx && source && tag) return OTHER_COMM;
    return ctx && tag && !source ? OTHER_SOURCE : NOTHING;
}

static const struct boot_pending *nearest(const struct verdict_rank *r, const struct boot_pending *want, enum likeness *how_out)
{
    const struct boot_pending *best = NULL;
    *how_out = NOTHING;
    for (int k = 0; k < BOOT_PENDING && k < r->where.n_unexpected; k++) {
        enum likeness how = likeness_of(want, &r->where.unexpected[k]);
        if (how <= *how_out) continue;
        *how_out = how;
        best = &r->where.unexpected[k];
    }
    return best;
}

/* Another rank at which the message lies unexpected that rank i waits for; -1: none. */
static int holder(const struct verdict_job *j, int i, const struct boot_pending *want)
{
    for (int h = 0; h < j->n && want->world >= 0; h++) {
        const struct verdict_rank *r = &j->ranks[h];
        for (int k = 0; h != i && rank_waits(r) && k < BOOT_PENDING && k < r->where.n_unexpected; k++) {
            const struct boot_pending *u = &r->where.unexpected[k];
            if (u->world == want->world && u->ctx == want->ctx && verdict_tags_match(u->tag, want->tag)) return h;
        }
    }
    return -1;
}

static bool is_awaited_message(const struct boot_pending *p)
{
    return (p->about == BOOT_RECV || p->about == BOOT_PROBE) && !p->is_moving;
}

static void text_want(struct text *t, const struct verdict_job *j, int i, const struct boot_pending *p)
{
    verdict_text_rank(t, j, i);
    verdict_text_add(t,
                     p->about == BOOT_SEND        ? " sends "
                         : p->about == BOOT_PROBE ? " probes for a message "
                                                  : " waits for a message ");
    verdict_text_pending(t, j, p);
    verdict_text_add(t, p->about == BOOT_SEND ? ", which is not received" : ", and none came");
}

/* "; nearest: tag 6 (unexpected at rank 1)" */
static void text_nearest(struct text *t, const struct verdict_job *j, int i, const struct boot_pending *want)
{
    enum likeness how;
    const struct boot_pending *u = nearest(&j->ranks[i], want, &how);
    int at = u && how > OTHER_SOURCE ? -1 : holder(j, i, want);
    if (!u && at < 0) return;
    verdict_text_add(t, "; nearest: ");
    if (at >= 0)
        verdict_text_add(t, "one sent to another rank");
    else if (how == OTHER_TAG)
        verdict_text_add(t, "tag %d", u->tag);
    else if (how == OTHER_SOURCE)
        verdict_text_add(t, "from %d", u->peer);
    else
        verdict_text_add(t, "on "), verdict_text_comm(t, j, u->ctx);
    verdict_text_add(t, " (unexpected at ");
    verdict_text_rank(t, j, at >= 0 ? at : i);
    verdict_text_add(t, ")");
}

static void text_more(struct text *t, int n)
{
    assert(n >= 0);
    if (n > SAY) verdict_text_add(t, "  and %d more like this\n", n - SAY);
}

static bool find_message(struct text *t, const struct view *v)
{
    int n = 0;
    for (int i = 0; i < v->j->n; i++) {
        const struct verdict_rank *r = &v->j->ranks[i];
        for (int k = 0; v->stuck[i] && k < listed(r); k++) {
            const struct boot_pending *p = &r->where.pending[k];
            enum likeness how = NOTHING;
            if (is_awaited_message(p)) nearest(r, p, &how);
            if (how <= OTHER_SOURCE || n++ >= SAY) continue;
            verdict_text_add(t, "verdict: wrong %s: ", how == OTHER_TAG ? "tag" : "communicator");
            text_want(t, v->j, i, p);
            text_nearest(t, v->j, i, p);
            verdict_text_add(t, "\n");
        }
    }
    text_more(t, n);
    return n > 0;
}

/* ---- ranks that left ------------------------------------------------------------------------------------------------------------------ */
static bool is_leaving(const struct verdict_job *j, int i)
{
    const struct verdict_rank *r = &j->ranks[i];
    enum verdict_rank_is is = verdict_rank_is(r);
    return is == RANK_GONE || is == RANK_LEFT || (is == RANK_BLOCKED && verdict_is_finalize(j, r->where.call));
}

/* The pending operation of rank i that waits for rank `other`, or NULL. */
static const struct boot_pending *wait_for_rank(const struct verdict_job *j, int i, int other)
{
    const struct verdict_rank *r = &j->ranks[i];
    for (int k = 0; rank_waits(r) && k < listed(r); k++)
        if (r->where.pending[k].world == j->ranks[other].world) return &r->where.pending[k];
    return NULL;
}

/* Prints one line for all ranks that wait for the leaver in a collective, and one for each message.  At most `room` of the latter; returns
 * the number of findings. */
static int say_left(struct text *t, const struct view *v, int leaver, int room)
{
    assert(leaver >= 0 && leaver < v->j->n);
    const struct verdict_job *j = v->j;
    int *index = gw_xmalloc((size_t)j->n * sizeof *index), members = 0, n = 0;
    for (int i = 0; i < j->n; i++) {
        const struct boot_pending *p = v->stuck[i] && !is_leaving(j, i) ? wait_for_rank(j, i, leaver) : NULL;
        if (!p) continue;
        if (p->about == BOOT_MEMBER) {
            index[members++] = i;
            if (members > 1) continue;
        }
        n++;
        if (p->about == BOOT_MEMBER || n > room) continue;
        verdict_text_add(t, "verdict: a rank has left MPI: ");
        text_want(t, j, i, p);
        verdict_text_add(t, "; ");
        verdict_text_rank_is(t, j, leaver);
        verdict_text_add(t, "\n");
    }
    if (members) {
        verdict_text_add(t, "verdict: a rank has left MPI: ");
        verdict_text_ranks(t, j, index, members);
        verdict_text_add(t, members > 1 ? " are " : " is ");
        verdict_text_place(t, j, index[0]);
        verdict_text_add(t, ", and ");
        verdict_text_rank_is(t, j, leaver);
        verdict_text_add(t, "\n");
    }
    free(index);
    return n;
}

static bool find_left(struct text *t, const struct view *v)
{
    enum { LOOK_AT = 100 }; /* ranks that have left; each costs a look at all ranks */
    int n = 0, looked = 0;
    for (int i = 0; i < v->j->n && looked < LOOK_AT; i++)
        if (is_leaving(v->j, i)) looked++, n += say_left(t, v, i, SAY - n);
    text_more(t, n);
    return n > 0;
}

/* ---- no room for small messages ----------------------------------------------------------------------------------------------------- */
static const char *bytes_text(int64_t bytes, char out[32])
{
    int i = 0;
    double n = (double)bytes;
    while (n >= 1024 && i < 4) n /= 1024, i++;
    snprintf(out, 32, i ? "%.1f %s" : "%.0f %s", n, ((const char *const[]){"bytes", "KiB", "MiB", "GiB", "TiB"})[i]);
    return out;
}

static int no_room_at(const struct view *v, int i)
{
    const struct verdict_rank *r = &v->j->ranks[i];
    for (int k = 0; v->stuck[i] && k < listed(r); k++) {
        int other = r->where.pending[k].no_room ? verdict_waits_for(v->j, i, &r->where.pending[k]) : -1;
        if (other >= 0) return other;
    }
    return -1;
}

/* Prints all stuck senders to one receiver in one line. */
static void say_no_room(struct text *t, const struct view *v, int receiver, const int *senders, int n)
{
    assert(n > 0);
    const struct verdict_job *j = v->j;
    const struct boot_where *at = &j->ranks[receiver].where, *from = &j->ranks[senders[0]].where;
    char held[32], kept[32], room[32];
    verdict_text_add(t, "verdict: no room for messages: ");
    verdict_text_ranks(t, j, senders, n);
    verdict_text_add(t, n > 1 ? " send to rank %d, which does not receive: " : " sends to rank %d, which does not receive: ",
                     j->ranks[receiver].world);
    if (at->room_bytes) verdict_text_add(t, "it holds %s that came and were not received, and ", bytes_text(at->held_bytes, held));
    verdict_text_rank(t, j, senders[0]);
    verdict_text_add(
        t,
        " keeps copies of %s more, each at most %s (GODWIT_UNEXPECTED_MAX; a larger value lets more be sent before it is received); ",
        bytes_text(from->kept_bytes, kept), bytes_text(from->room_bytes, room));
    verdict_text_rank_is(t, j, receiver);
    if (wait_for_rank(j, receiver, senders[0])) verdict_text_add(t, ", which waits for rank %d", j->ranks[senders[0]].world);
    verdict_text_add(t, "\n");
}

static bool find_no_room(struct text *t, const struct view *v)
{
    const struct verdict_job *j = v->j;
    int *at = gw_xmalloc((size_t)j->n * sizeof *at), *senders = gw_xmalloc((size_t)j->n * sizeof *senders), n = 0;
    for (int i = 0; i < j->n; i++) at[i] = no_room_at(v, i);
    for (int i = 0; i < j->n; i++) {
        int receiver = at[i], m = 0;
        for (int k = i; receiver >= 0 && k < j->n; k++)
            if (at[k] == receiver) senders[m++] = k, at[k] = -1;
        if (m && n++ < SAY) say_no_room(t, v, receiver, senders, m);
    }
    text_more(t, n);
    free(at);
    free(senders);
    return n > 0;
}

/* ---- cycles ------------------------------------------------------------------------------------------------------------------------------ */
/* The stuck rank that stuck rank i waits for, or -1.  messages_only: waits in collectives do not count. */
static int follow(const struct view *v, int i, bool messages_only)
{
    assert(i >= 0 && i < v->j->n);
    const struct verdict_rank *r = &v->j->ranks[i];
    for (int k = 0; k < listed(r); k++) {
        const struct boot_pending *p = &r->where.pending[k];
        if (messages_only && p->about == BOOT_MEMBER) continue;
        int other = verdict_waits_for(v->j, i, p);
        if (other >= 0 && v->stuck[other]) return other;
    }
    return -1;
}

/* A rank on a cycle of waits, or -1.  seen[i]: number of the walk that came to rank i. */
static int cycle_entry(const struct view *v, bool messages_only)
{
    int *seen = gw_xcalloc((size_t)v->j->n, sizeof *seen), found = -1;
    for (int i = 0; i < v->j->n && found < 0; i++) {
        int at = v->stuck[i] ? i : -1;
        while (at >= 0 && !seen[at]) {
            seen[at] = i + 1;
            at = follow(v, at, messages_only);
        }
        if (at >= 0 && seen[at] == i + 1) found = at;
    }
    free(seen);
    return found;
}

/* Prints "rank 0 -> 3 -> 0"; returns the number of ranks on the cycle. */
static int text_links(struct text *t, const struct view *v, int entry, bool messages_only)
{
    assert(entry >= 0 && entry < v->j->n);
    enum { LINKS = 8 };
    int length = 0, at = entry;
    do {
        at = follow(v, at, messages_only);
        length++;
    } while (at != entry);
    verdict_text_add(t, "rank %d", v->j->ranks[entry].world);
    for (int k = 0; k < length; k++) {
        at = follow(v, at, messages_only);
        if (k < LINKS - 1 || k == length - 1)
            verdict_text_add(t, " -> %d", v->j->ranks[at].world);
        else if (k == LINKS - 1)
            verdict_text_add(t, " -> ...");
    }
    if (length > LINKS) verdict_text_add(t, " (%d ranks)", length);
    return length;
}

static void text_cycle(struct text *t, const struct view *v, int entry)
{
    assert(entry >= 0 && entry < v->j->n);
    int at = entry, sends = 0;
    verdict_text_add(t, "each waits for the next: ");
    int length = text_links(t, v, entry, true);
    for (int k = 0; k < length; k++, at = follow(v, at, true)) sends += v->j->ranks[at].where.pending[0].about == BOOT_SEND;
    if (sends == length)
        verdict_text_add(t,
                         "; all send first, and messages of this size wait for their receive (MPI_Sendrecv or MPI_Irecv "
                         "would help)");
    else if (sends == 0)
        verdict_text_add(t, "; all receive first");
    verdict_text_add(t, "\n");
}

static bool find_cycle(struct text *t, const struct view *v, const char *title)
{
    int entry = cycle_entry(v, true);
    if (entry < 0) return false;
    verdict_text_add(t, "%s", title);
    text_cycle(t, v, entry);
    return true;
}

/* ---- messages without a partner, collectives in different orders ------------------------------------------------------------------------ */
static void say_missing(struct text *t, const struct verdict_job *j, int i, const struct boot_pending *p)
{
    int other = p->world >= 0 ? verdict_index_of(j, p->world) : -1;
    verdict_text_add(t, "verdict: %s: ", p->about == BOOT_SEND ? "no receiver" : "no sender");
    text_want(t, j, i, p);
    if (other >= 0) {
        verdict_text_add(t, "; ");
        verdict_text_rank_is(t, j, other);
        if (wait_for_rank(j, other, i)) verdict_text_add(t, ", which waits for rank %d", j->ranks[i].world);
    } else {
        verdict_text_add(t, "; all other ranks wait too, or have left");
    }
    if (is_awaited_message(p)) text_nearest(t, j, i, p);
    verdict_text_add(t, "\n");
}

static bool find_missing(struct text *t, const struct view *v)
{
    int n = 0;
    for (int i = 0; i < v->j->n; i++) {
        const struct verdict_rank *r = &v->j->ranks[i];
        for (int k = 0; v->stuck[i] && k < listed(r); k++)
            if (r->where.pending[k].about < BOOT_MEMBER && n++ < SAY) say_missing(t, v->j, i, &r->where.pending[k]);
    }
    text_more(t, n);
    return n > 0;
}

static bool find_order(struct text *t, const struct view *v)
{
    int entry = cycle_entry(v, false), at = entry;
    if (entry < 0) return false;
    verdict_text_add(t, "verdict: collectives in different orders: ");
    for (int k = 0; k < 2; k++) {
        int next = follow(v, at, false);
        if (k) verdict_text_add(t, "; ");
        verdict_text_rank_is(t, v->j, at);
        verdict_text_add(t, ", which waits for rank %d", v->j->ranks[next].world);
        at = next;
    }
    if (at != entry) verdict_text_add(t, "; in all "), text_links(t, v, entry, false);
    verdict_text_add(t, "\n");
    return true;
}

/* For an unknown cause: prints what the first stuck rank waits for. */
static void say_unknown(struct text *t, const struct view *v)
{
    int i = 0;
    while (!v->stuck[i]) i++;
    verdict_text_add(t, "verdict: %d rank%s, and nobody is left who could end that; ", v->n_stuck,
                     v->n_stuck > 1 ? "s wait" : " waits");
    verdict_text_rank_is(t, v->j, i);
    verdict_text_add(t, "\n");
}

/* ---- nobody is stuck -------------------------------------------------------------------------------------------------------------------- */
static void mark_awaited(const struct verdict_job *j, bool *awaited, bool *anyone)
{
    for (int i = 0; i < j->n; i++) {
        const struct verdict_rank *r = &j->ranks[i];
        if (verdict_rank_is(r) != RANK_BLOCKED) continue;
        *anyone = *anyone || listed(r) == 0;
        for (int k = 0; k < listed(r); k++) {
            int other = verdict_waits_for(j, i, &r->where.pending[k]);
            *anyone = *anyone || verdict_waits_for_any(&r->where.pending[k]);
            if (other >= 0) awaited[other] = true;
        }
    }
}

/* A rank that waits for what is not of this job, in words; -1: none. */
static int waits_outside(const struct verdict_job *j)
{
    for (int i = 0; i < j->n; i++) {
        const struct boot_where *w = &j->ranks[i].where;
        if (verdict_rank_is(&j->ranks[i]) == RANK_BLOCKED && w->n_pending == 1 && w->pending[0].about == BOOT_OUTSIDE && w->note[0])
            return i;
    }
    return -1;
}

/* Prints the running ranks that others wait for. */
static void say_running(struct text *t, const struct view *v, int n_blocked)
{
    const struct verdict_job *j = v->j;
    bool *awaited = gw_xcalloc((size_t)j->n, 1), anyone = false;
    int *index = gw_xmalloc((size_t)j->n * sizeof *index), n = 0;
    mark_awaited(j, awaited, &anyone);
    for (int i = 0; i < j->n; i++)
        if ((awaited[i] || anyone) && verdict_rank_is(&j->ranks[i]) != RANK_BLOCKED) index[n++] = i;
    if (n > 0) {
        verdict_text_add(t, "verdict: no deadlock: the ranks that wait do so for ");
        verdict_text_ranks(t, j, index, n);
        verdict_text_add(t, "; ");
        verdict_text_rank_is(t, j, index[0]);
        verdict_text_add(t, "\n");
    } else if (waits_outside(j) >= 0) {
        verdict_text_add(t, "verdict: no deadlock as long as something may come from outside of this job: ");
        verdict_text_rank_is(t, j, waits_outside(j));
        verdict_text_add(t, "\n");
    } else {
        verdict_text_add(t, "verdict: no deadlock: %s\n",
                         n_blocked ? "the messages that are waited for are on their way, or the program itself must end the wait"
                                   : "no rank waits");
    }
    free(index);
    free(awaited);
}

/* Ranks whose partitioned sends they would have to go on with themselves. */
static bool find_not_ready(struct text *t, const struct view *v)
{
    int n = 0;
    for (int i = 0; i < v->j->n; i++) {
        const struct verdict_rank *r = &v->j->ranks[i];
        for (int k = 0; v->stuck[i] && k < listed(r); k++) {
            if (r->where.pending[k].about != BOOT_PREADY || n++ >= SAY) continue;
            verdict_text_add(t, "verdict: partitions that are not ready: ");
            verdict_text_rank(t, v->j, i);
            verdict_text_add(t, " waits for ");
            verdict_text_pending(t, v->j, &r->where.pending[k]);
            verdict_text_add(t, ": it was not called for each partition\n");
        }
    }
    text_more(t, n);
    return n > 0;
}

static void find_cause(struct text *t, const struct view *v)
{
    if (find_not_ready(t, v)) return;
    if (verdict_find_mismatch(t, v) || verdict_find_differing(t, v) || find_no_room(t, v)) return;
    if (find_message(t, v))
        find_cycle(t, v, "  and a cycle of messages: "); /* printed as well: it may be the reason */
    else if (!find_left(t, v) && !find_cycle(t, v, "verdict: a cycle of messages: ") && !find_missing(t, v) && !find_order(t, v))
        say_unknown(t, v);
}

/* Polling ranks do not count as stuck.  Prints what would be the case if they do nothing else. */
static bool suspect(struct text *t, const struct verdict_job *j)
{
    struct view v;
    int *index = gw_xmalloc((size_t)j->n * sizeof *index), n = 0;
    verdict_view_make(&v, j, 0, true);
    for (int i = 0; i < j->n; i++)
        if (v.stuck[i] && verdict_rank_is(&j->ranks[i]) == RANK_POLLING) index[n++] = i;
    if (n > 0) {
        verdict_text_add(t, "verdict: a hang if ");
        verdict_text_ranks(t, j, index, n);
        verdict_text_add(t, n > 1 ? " do nothing but poll; then:\n" : " does nothing but poll; then:\n");
        find_cause(t, &v);
    }
    verdict_view_free(&v);
    free(index);
    return n > 0;
}

static int count_of(const struct verdict_job *j, enum verdict_rank_is is)
{
    int n = 0;
    for (int i = 0; i < j->n; i++) n += verdict_rank_is(&j->ranks[i]) == is;
    return n;
}

char *verdict_text(const struct verdict_job *j)
{
    assert(j->n >= 0 && j->call_name);
    struct text t = {0};
    struct view v;
    verdict_text_places(&t, j);
    if (j->size > j->n) verdict_text_add(&t, "  (only the %d ranks of this node are known here, of %d)\n", j->n, j->size);
    verdict_view_make(&v, j, 0, false);
    if (count_of(j, RANK_NEW) == j->n)
        verdict_text_add(&t, "verdict: no rank has called MPI_Init of this library\n");
    else if (v.n_stuck > 0)
        find_cause(&t, &v);
    else if (!suspect(&t, j))
        say_running(&t, &v, count_of(j, RANK_BLOCKED));
    verdict_view_free(&v);
    return t.at;
}
