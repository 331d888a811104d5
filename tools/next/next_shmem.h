/* next_shmem.h -- for libraries that stand between a program and OpenSHMEM: where it begins and ends, whichever calls the program makes for that.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TOOLS_NEXT_SHMEM_H
#define TOOLS_NEXT_SHMEM_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)
bool tools_in_shmem(void); /* between the first shmem_init and the last shmem_finalize */
/* The tool's own, collective: the first shmem_init or start_pes has returned; the last shmem_finalize, or the end after start_pes, comes next. */
void tools_shmem_begins(bool has_threads);
void tools_shmem_ends(void);
#pragma GCC visibility pop

#endif
