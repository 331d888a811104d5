/* pmix.h -- the PMIx server of mpiexec.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_PMI_PMIX_H
#define GW_PMI_PMIX_H

#include "job/job.h"
#include "job/words.h"

int pmix_start(struct job *j,
               bool is_wanted); /* 0, or an exit status after an explanation; not wanted: without one, nothing is left */
void pmix_env(const struct job *j, int rank, struct words *own); /* adds the variables by which the rank finds the server */
const char *pmix_name(void);                                     /* of the namespace of our ranks, "": no server was started */
void pmix_stop(void);

#endif
