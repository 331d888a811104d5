/* check.h -- what the tests of OpenSHMEM share.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TEST_SHMEM_CHECK_H
#define GW_TEST_SHMEM_CHECK_H

#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

static int me, pes;
#define CHECK(what)                                                                                                                \
    do {                                                                                                                           \
        if (!(what)) {                                                                                                             \
            fprintf(stderr, "%s:%d: PE %d: it does not hold that %s\n", __FILE__, __LINE__, me, #what);                            \
            shmem_global_exit(2);                                                                                                  \
        }                                                                                                                          \
    } while (0)

static inline void begin(void)
{
    shmem_init();
    me = shmem_my_pe();
    pes = shmem_n_pes();
}

#endif
