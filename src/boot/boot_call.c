/* boot_call.c -- names of calls of OpenSHMEM by number.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot/call.h"

#include "base/base.h"

const char *boot_call_of_shmem(uint32_t call)
{
#define X(name) #name,
    static const char *const names[] = {BOOT_SHMEM_CALLS(X)};
#undef X
    return call > BOOT_CALL_SHMEM && call - BOOT_CALL_SHMEM <= GW_ARRAY_LEN(names) ? names[call - BOOT_CALL_SHMEM - 1] : NULL;
}
