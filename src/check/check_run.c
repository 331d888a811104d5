/* check_run.c -- one call that is looked at: before its target, and after it.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "check/check_private.h"

_Static_assert(offsetof(struct check_run, a) == 0, "entry points fill it");

/* One that is not in use: as a rule one call follows another. */
static _Atomic(struct check_run *) spare;

struct check_args *check_args_new(const struct check_kind *kind, enum check_form form)
{
    struct check_run *r = atomic_exchange_explicit(&spare, NULL, memory_order_acquire); /* pairs with [R1] */
    if (!r) r = gw_xmalloc(sizeof *r);
    if (!kind->fills_all) memset(r, 0, offsetof(struct check_run, small));
    r->n_spans = 0;
    r->stage = NULL;
    r->kind = kind;
    r->me = &check_me;
    r->form = form;
    r->a.count = r->a.sendcount = r->a.recvcount = r->a.origin_count = r->a.target_count = r->a.result_count = -1;
    return &r->a;
}

void check_run_drop(struct check_run *r)
{
    for (int k = 0; k < r->n_spans; k++) check_span_drop(&r->spans[k]);
    r->n_spans = 0;
}

static int end(struct check_run *r, int rc)
{
    struct check_me *me = r->me;
    assert(me == &check_me); /* a call ends in the thread that it began in */
    struct check_run *other = atomic_exchange_explicit(&spare, r, memory_order_acq_rel); /* [R1] */
    if (unlikely(other)) free(other);
    if (gw_checking) check_left(me);
    return rc;
}

void check_runs_free(void) { free(atomic_exchange_explicit(&spare, NULL, memory_order_acquire)); }

int check_before(struct check_args *k)
{
    struct check_run *r = (struct check_run *)k;
    assert(gw_args_wanted && r->n_spans == 0);
    if (gw_checking) check_inside(r->me);
    if (r->kind->uses) r->kind->uses(r);
    int rc = mem_has_drivers ? check_stage_before(r) : GW_OK;
    if (rc == GW_OK && gw_checking && r->kind->before) rc = r->kind->before(r);
    if (rc == GW_OK) return rc;
    check_run_drop(r);
    return end(r, mem_has_drivers ? check_stage_after(r, rc) : rc);
}

int check_after(struct check_args *k, int rc)
{
    struct check_run *r = (struct check_run *)k;
    assert(r->n_spans <= CHECK_SPANS);
    if (gw_checking && r->kind->after)
        rc = r->kind->after(r, rc);
    else
        check_run_drop(r);
    return end(r, mem_has_drivers ? check_stage_after(r, rc) : rc);
}
