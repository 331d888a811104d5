/* call.h -- the names of the MPI calls by number, for error messages and for mpiexec, which reads the number of a rank's last call in the
 * segment.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BOOT_CALL_H
#define GW_BOOT_CALL_H

#include <stddef.h>
#include <stdint.h>

/* Generated (gen/names.py): the names of calls 1, 2, ... with their ends, and where each begins.  One text and places in it, because
 * pointers would have to be relocated in every process that starts. */
extern const char boot_call_texts[];
extern const uint16_t boot_call_places[];
extern const uint32_t boot_call_count;

/* The name of the call with this number (GW_FN_* of facade/fn_gen.h), such as "MPI_Send"; NULL for 0 and other numbers that no call has.
 * The text is constant.  `call` may come from another process. */
static inline const char *boot_call_name(uint32_t call)
{
    return call > 0 && call <= boot_call_count ? boot_call_texts + boot_call_places[call - 1] : NULL;
}

#endif
