/* check.h -- finds misuse of MPI at run time (GODWIT_CHECK): what a user reads about it stands in doc/checking.md.
 *
 * A decorator: while gw_checking is on, the entry points call check_TARGET instead of TARGET (api/check.lst lists them), and tell of
 * every handle that comes or goes; the functions here look at the arguments, call the target, and look again.  The rooms below know
 * nothing of it, but for proto/, which lets the type signature of a message travel before it.
 * Nothing here runs, and nothing is allocated, while checking is off.
 *
 * Findings are one paragraph each on stderr, at most CHECK_FINDINGS of a rank.
 * Locks: the room's own one is taken last, under a lane's or without; nothing is called with it held but plain look-ups.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_CHECK_CHECK_H
#define GW_CHECK_CHECK_H

#include "coll/coll.h"

enum { CHECK_FINDINGS = 20 };

/* ---- for mpi/ ---- */
bool check_is_asked(void); /* by the settings */
void check_begin(void);    /* MPI_Init, after the first barrier: ends the job unless all ranks check */

/* ---- for the entry points, while gw_checking ----
 * The call number `fn` (GW_FN_*) begins in this thread; `from`: where it returns to. */
void check_enter(int fn, const void *from);

#endif
