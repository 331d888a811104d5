/* counters_check.h -- performance variables that a test reads to see which way the library went.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TEST_COUNTERS_CHECK_H
#define GW_TEST_COUNTERS_CHECK_H

#include "p2p_check.h"

static MPI_T_pvar_session counters_session;

static inline void counters_begin(void)
{
    int provided;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    CHECK_EQ(MPI_T_pvar_session_create(&counters_session), MPI_SUCCESS);
}
static inline void counters_end(void)
{
    CHECK_EQ(MPI_T_pvar_session_free(&counters_session), MPI_SUCCESS);
    MPI_T_finalize();
}
/* MPI_T_PVAR_CLASS_COUNTER or _AGGREGATE; it counts from now on. */
static inline MPI_T_pvar_handle counter(const char *name, int var_class)
{
    MPI_T_pvar_handle h = MPI_T_PVAR_HANDLE_NULL;
    int index = -1, n;
    CHECK_EQ(MPI_T_pvar_get_index(name, var_class, &index), MPI_SUCCESS);
    CHECK_EQ(MPI_T_pvar_handle_alloc(counters_session, index, NULL, &h, &n), MPI_SUCCESS);
    CHECK_EQ(MPI_T_pvar_start(counters_session, h), MPI_SUCCESS);
    return h;
}
static inline unsigned long long counted(MPI_T_pvar_handle h)
{
    unsigned long long count = 0;
    CHECK_EQ(MPI_T_pvar_read(counters_session, h, &count), MPI_SUCCESS);
    return count;
}

#endif
