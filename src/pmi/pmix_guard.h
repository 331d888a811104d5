/* pmix_guard.h -- mpiexec stays one that is heard while libpmix works in it: where libpmix does not come back, or crashes, mpiexec ends with a
 * sentence, and signals end it as they do elsewhere.
 *
 * libpmix (4 to 6) and hwloc, which it loads, call again for ever what a sandbox refuses them, or abort.  Ranks are ended by the keeper then.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_PMI_PMIX_GUARD_H
#define GW_PMI_PMIX_GUARD_H

#include "base/base.h"

/* Why libpmix would not come back from its start here; NULL: nothing is known. */
const char *pmix_guard_cannot(void) GW_COLD;
/* From one to the other: all signals but those of crashes are blocked in this thread, and in those that libpmix starts.  Where one ends the
 * process, or PATIENCE_S are over, "`what` ..." is said to the descriptor err.  Not nested. */
void pmix_guard_begin(const char *what, int err);
void pmix_guard_end(void);

#endif
