/* verdict_view.c -- finds the ranks that can never make progress.
 *
 *   live: ranks that run, or whose waits can end.  Found from those that run, backwards along "waits for".
 *   stuck: those that wait and are not live.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "verdict/verdict_view.h"
#include "obj/consts_gen.h"

#include <stdlib.h>

int verdict_index_of(const struct verdict_job *j, int world)
{
    int low = 0, high = j->n - 1;
    while (low <= high) {
        int mid = (low + high) / 2;
        if (j->ranks[mid].world == world) return mid;
        if (j->ranks[mid].world < world)
            low = mid + 1;
        else
            high = mid - 1;
    }
    return -1;
}

bool verdict_tags_match(int a, int b) { return a == b || a == GW_ANY_TAG || b == GW_ANY_TAG; }

/* Do a send of rank `from` and a receive of rank `to` match?  Then the program is not the reason that they have not completed. */
static bool they_meet(const struct verdict_job *j, int from, const struct boot_pending *send, int to,
                      const struct boot_pending *recv)
{
    if (recv->about == BOOT_SEND || recv->about > BOOT_PROBE || send->about != BOOT_SEND) return false;
    return send->ctx == recv->ctx && send->stream == recv->stream && verdict_tags_match(send->tag, recv->tag) &&
        send->world == j->ranks[to].world && (recv->world == j->ranks[from].world || recv->world == GW_ANY_SOURCE);
}

static bool has_counterpart(const struct verdict_job *j, int i, const struct boot_pending *p, int other)
{
    assert(i >= 0 && i < j->n && other >= 0 && other < j->n);
    const struct verdict_rank *r = &j->ranks[other];
    if (!rank_waits(r)) return false;
    for (int k = 0; k < listed(r); k++) {
        const struct boot_pending *q = &r->where.pending[k];
        if (p->about == BOOT_SEND ? they_meet(j, i, p, other, q) : they_meet(j, other, q, i, p)) return true;
    }
    return false;
}

/* ---- who can go on ------------------------------------------------------------------------------------------------------------ */
static void set_live(struct view *v, int i)
{
    assert(i >= 0 && i < v->j->n);
    if (v->live[i]) return;
    v->live[i] = true;
    v->queue[v->n_queue++] = i;
}

/* One of the operations that rank i waits for can complete. */
static void wait_can_end(struct view *v, int i)
{
    if (v->j->ranks[i].where.is_any || --v->needs[i] <= 0) set_live(v, i);
}

int verdict_waits_for(const struct verdict_job *j, int i, const struct boot_pending *p)
{
    if (p->about == BOOT_PREADY) return i; /* for itself */
    int other = p->about == BOOT_OUTSIDE || p->is_moving || p->world < 0 ? -1 : verdict_index_of(j, p->world);
    return other >= 0 && has_counterpart(j, i, p, other) ? -1 : other;
}

bool verdict_waits_for_any(const struct boot_pending *p)
{
    return p->world == GW_ANY_SOURCE && (p->about == BOOT_RECV || p->about == BOOT_PROBE) && !p->is_moving;
}

/* May the rank make progress?  Of a rank with several threads only one is described; CPU time shows whether others work. */
static bool may_run(const struct verdict_rank *r, uint64_t now, uint64_t quiet_ns, bool with_polls)
{
    if (verdict_rank_is(r) == RANK_POLLING && with_polls) return false;
    if (verdict_rank_is(r) != RANK_BLOCKED) return verdict_rank_is(r) != RANK_LEFT && verdict_rank_is(r) != RANK_GONE;
    return (r->is_threaded && r->uses_cpu) || now - r->where.told_ns < quiet_ns;
}

static void edges_add(struct view *v, int i)
{
    const struct verdict_rank *r = &v->j->ranks[i];
    int n = listed(r);
    v->needs[i] = n > 0 && !r->is_threaded ? n : 1;
    /* Operations that did not fit the list may complete.  A wait without a list, or of other threads, is for something unknown. */
    if (r->where.n_pending > n && r->where.is_any) wait_can_end(v, i);
    if (n == 0 && v->j->size == v->j->n) return; /* not known: for any rank */
    if (n == 0) wait_can_end(v, i);
    for (int k = 0; k < n && !r->is_threaded; k++) {
        int other = verdict_waits_for(v->j, i, &r->where.pending[k]), e = i * BOOT_PENDING + k;
        if (other >= 0) {
            v->next[e] = v->first[other];
            v->first[other] = e;
        } else if (!verdict_waits_for_any(&r->where.pending[k]) || v->j->size > v->j->n) {
            wait_can_end(v, i);
        }
    }
}

static bool waits_for_all(const struct verdict_rank *r) { return listed(r) == 0 || r->is_threaded; }

/* Some rank is live, so ranks that wait for any rank can go on. */
static void anyone_can_come(struct view *v)
{
    for (int i = 0; i < v->j->n; i++) {
        const struct verdict_rank *r = &v->j->ranks[i];
        if (v->live[i] || !rank_waits(r)) continue;
        if (waits_for_all(r))
            wait_can_end(v, i);
        else
            for (int k = 0; k < listed(r); k++)
                if (verdict_waits_for_any(&r->where.pending[k])) wait_can_end(v, i);
    }
}

void verdict_view_make(struct view *v, const struct verdict_job *j, uint64_t quiet_ns, bool with_polls)
{
    assert(j->n >= 0);
    size_t n = (size_t)j->n;
    *v = (struct view){.j = j,
                       .with_polls = with_polls,
                       .live = gw_xcalloc(n, 1),
                       .stuck = gw_xcalloc(n, 1),
                       .first = gw_xmalloc(n * sizeof *v->first),
                       .next = gw_xmalloc(n * BOOT_PENDING * sizeof *v->next),
                       .needs = gw_xcalloc(n, sizeof *v->needs),
                       .queue = gw_xmalloc(n * sizeof *v->queue)};
    for (int i = 0; i < j->n; i++) v->first[i] = -1;
    for (int i = 0; i < j->n; i++)
        if (may_run(&j->ranks[i], j->now_ns, quiet_ns, with_polls)) set_live(v, i);
    for (int i = 0; i < j->n; i++)
        if (!v->live[i] && rank_waits(&j->ranks[i])) edges_add(v, i);
    if (v->n_queue > 0) anyone_can_come(v);
    while (v->n_queue > 0) {
        int t = v->queue[--v->n_queue];
        for (int e = v->first[t]; e >= 0; e = v->next[e])
            if (!v->live[e / BOOT_PENDING]) wait_can_end(v, e / BOOT_PENDING);
    }
    for (int i = 0; i < j->n; i++) {
        v->stuck[i] = !v->live[i] && rank_waits(&j->ranks[i]);
        v->n_stuck += v->stuck[i];
    }
}

void verdict_view_free(struct view *v)
{
    free(v->live);
    free(v->stuck);
    free(v->first);
    free(v->next);
    free(v->needs);
    free(v->queue);
}

bool verdict_is_hang(const struct verdict_job *j, uint64_t quiet_ns)
{
    struct view v;
    verdict_view_make(&v, j, quiet_ns, false);
    bool hangs = v.n_stuck > 0;
    verdict_view_free(&v);
    return hangs;
}
