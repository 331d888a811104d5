/* classic.c -- algorithms that src/coll does not have, in its step language, for comparison in figures.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "classic.h"

#include "base/base.h"
#include "coll/coll_private.h"

static int64_t block_bytes(const struct plan_args *a) { return a->rcount * a->rt->size; }

/* ---- alltoall, store and forward: in round k a block that has to go v members further goes 2^k of them, if v has that bit ------------ */
static int64_t twice(const struct plan_args *a) { return 2 * a->size * block_bytes(a); }
static int alltoall_bruck(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    int p = a->size, levels = log2_up(p), k = (round - 1) / 2;
    struct plan_ref all = ref_raw(PLAN_TMP, 0, p * block_bytes(a));
    if (round > 2 * levels + 1) return 0;
    if (round == 0 || round == 2 * levels + 1) { /* rotation before the first and after the last exchange */
        step_copy(&s, ref_raw(PLAN_IN, 0, all.len), all);
        return s.n;
    }
    int64_t bit = (int64_t)1 << k, moved = p / (2 * bit) * bit + gw_max64(p % (2 * bit) - bit, 0);
    struct plan_ref out = ref_raw(PLAN_TMP, all.len, moved * block_bytes(a)), in = ref_raw(PLAN_TMP, 0, out.len);
    if (round % 2) {
        step_copy(&s, in, out); /* packed */
        step_recv(&s, (int)((a->rank - bit + p) % p), in);
        step_send(&s, (int)((a->rank + bit) % p), out);
    } else {
        step_copy(&s, in, all); /* and unpacked */
    }
    return s.n;
}
static bool equal_blocks(const struct plan_args *a) { return !a->rcounts.v; }
const struct plan_algorithm classic_alltoall_bruck = {
    .name = "bruck", .emit = alltoall_bruck, .tmp_bytes = twice, .kind = PLAN_P2P, .fits = equal_blocks};
