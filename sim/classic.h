/* classic.h -- well-known algorithms in the step language that are not in src/coll, for comparison: priced, never run.
 *
 * An algorithm of src/coll with the same name is used instead.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_SIM_CLASSIC_H
#define GW_SIM_CLASSIC_H

#include "plan/plan.h"

/* X(algorithm): its name begins with that of the collective. */
#define CLASSICS(X) X(alltoall_bruck)
#define X(name)     extern const struct plan_algorithm classic_##name;
CLASSICS(X)
#undef X

#endif
