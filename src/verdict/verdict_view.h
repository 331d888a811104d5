/* verdict_view.h -- shared by verdict.c, verdict_view.c (ranks that can never make progress) and verdict_coll.c (collectives that differ).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_VERDICT_VERDICT_VIEW_H
#define GW_VERDICT_VERDICT_VIEW_H

#include "verdict/verdict.h"
#include "boot/where.h"

struct view {
    const struct verdict_job *j;
    bool *live; /* [n] */
    bool *stuck;
    int n_stuck;
    bool with_polls; /* ranks that poll do nothing else */
    /* Who waits for rank t: edges from first[t] on along next[]; edge e is the pending number e % BOOT_PENDING of rank
     * e / BOOT_PENDING.  needs[i]: of rank i, the pending ones that must still be shown to be able to end. */
    int *first, *next, *needs;
    int *queue, n_queue; /* live ranks whose waiters have not been looked at */
};
/* Ranks in whose wait something has happened less than quiet_ns ago count as running. */
void verdict_view_make(struct view *v, const struct verdict_job *j, uint64_t quiet_ns, bool with_polls);
void verdict_view_free(struct view *v);
int verdict_index_of(const struct verdict_job *j, int world); /* into j->ranks; -1: it is not known */
bool verdict_tags_match(int a, int b);
/* The index of the rank that the operation waits for; -1: of none that is known. */
int verdict_waits_for(const struct verdict_job *j, int i, const struct boot_pending *p);
bool verdict_waits_for_any(const struct boot_pending *p);

/* verdict_coll.c.  True: a disagreement was found and printed. */
bool verdict_find_mismatch(struct text *t, const struct view *v); /* the first collective in which its members do not agree */
/* the one in which a stuck rank waits for a rank that has called something else */
bool verdict_find_differing(struct text *t, const struct view *v);
bool verdict_is_finalize(const struct verdict_job *j, uint32_t call);

#endif
