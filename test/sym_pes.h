/* sym_pes.h -- what the unit tests of symmetric memory share: the address that an entry point finds, and jobs of mpiexec.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TEST_SYM_PES_H
#define GW_TEST_SYM_PES_H

#include <stdlib.h>

#include "boot/boot.h"
#include "sym/sym_private.h"

/* Where entry points find `bytes` bytes of a PE; NULL: they ask sym/. */
static inline char *sym_near_span(const void *addr, uint64_t bytes, int pe)
{
    struct sym_spot s = {.addr = addr, .pe = pe};
    return sym_near_find(&s) && bytes <= s.left ? s.at : NULL;
}
static inline char *sym_near_place(const void *addr, int pe) { return sym_near_span(addr, 1, pe); }

static inline int sym_open(struct gw_comm *world, uint64_t bytes) { return sym_memory_meet(sym_memory_open(world, bytes)); }

/* As a rank of mpiexec, such a test is one PE: runs it.  False: it is none. */
static inline bool sym_is_pe(void (*pe)(int rank))
{
    if (!getenv("GODWIT_BOOT")) return false;
    if (boot_init() != GW_OK) abort();
    pe(0);
    boot_finalize();
    return true;
}

#endif
