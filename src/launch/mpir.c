/* mpir.c -- the process table that parallel debuggers look for in a launcher (the MPIR process acquisition interface).
 *
 * A debugger that starts mpiexec sets MPIR_being_debugged and has a breakpoint at MPIR_Breakpoint, which is called when the table is
 * filled in; one that attaches later reads the table.  Ranks do not wait for the debugger (MPIR_partial_attach_ok).
 * The names and types are the interface's.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "launch/launch.h"
#include "base/base.h"

#define FOR_DEBUGGERS __attribute__((visibility("default"), used))

typedef struct {
    char *host_name, *executable_name;
    int pid;
} MPIR_PROCDESC;
enum { MPIR_DEBUG_SPAWNED = 1 };

FOR_DEBUGGERS MPIR_PROCDESC *MPIR_proctable;
FOR_DEBUGGERS int MPIR_proctable_size;
FOR_DEBUGGERS volatile int MPIR_debug_state, MPIR_being_debugged;
FOR_DEBUGGERS int MPIR_partial_attach_ok = 1;

FOR_DEBUGGERS GW_NOINLINE void MPIR_Breakpoint(void);
void MPIR_Breakpoint(void) { __asm__ volatile("" ::: "memory"); }

void launch_mpir_fill(const struct job *j)
{
    assert(!MPIR_proctable && j->alive > 0);
    MPIR_proctable = calloc((size_t)j->n, sizeof *MPIR_proctable);
    if (!MPIR_proctable) return; /* the job runs without the table; only debuggers need it */
    for (int i = 0; i < j->n; i++)
        MPIR_proctable[i] = (MPIR_PROCDESC){j->head->host, j->o.apps[j->ranks[i].app].argv[0], j->ranks[i].pid};
    MPIR_proctable_size = j->n;
    MPIR_debug_state = MPIR_DEBUG_SPAWNED;
    if (MPIR_being_debugged) MPIR_Breakpoint();
}

void launch_mpir_free(void)
{
    free(MPIR_proctable);
    MPIR_proctable = NULL;
    MPIR_proctable_size = 0;
}
