/* next_shmem.c -- see next_shmem.h.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "next_shmem.h"
#include "next.h"

#include <pshmem.h>
#include <shmem.h>
#include <stdlib.h>

static int begun; /* shmem_init without shmem_finalize */

bool tools_in_shmem(void) { return begun > 0; }

/* Of this library alone: what a tool calls meanwhile is not taken for the program's last call. */
extern void godwit_sym_within(const char *call) __attribute__((weak));
static void within(const char *call)
{
    if (godwit_sym_within) godwit_sym_within(call);
}

static void begins(int provided)
{
    if (begun++ > 0) return;
    within("shmem_init");
    tools_shmem_begins(provided == SHMEM_THREAD_MULTIPLE);
    within(NULL);
}

static void ends(void)
{
    if (begun > 0) begun--;
    if (begun > 0) return;
    within("shmem_finalize");
    tools_shmem_ends();
    within(NULL);
}

void shmem_init(void)
{
    NEXT_SHMEM(shmem_init)();
    begins(SHMEM_THREAD_SINGLE);
}

int shmem_init_thread(int requested, int *provided)
{
    int rc = NEXT_SHMEM(shmem_init_thread)(requested, provided);
    if (rc == 0) begins(*provided);
    return rc;
}

void shmem_finalize(void)
{
    ends();
    NEXT_SHMEM(shmem_finalize)();
}

/* After start_pes the library ends when the process does; this runs before. */
static void at_exit(void)
{
    if (begun > 0) ends();
}

void start_pes(int npes)
{
    NEXT_SHMEM(start_pes)(npes);
    if (begun > 0) return;
    begins(SHMEM_THREAD_SINGLE);
    atexit(at_exit);
}
