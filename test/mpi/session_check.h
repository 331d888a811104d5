/* session_check.h -- what the tests of sessions share.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TEST_SESSION_CHECK_H
#define GW_TEST_SESSION_CHECK_H

#include "p2p_check.h"

static inline MPI_Session session_open(const char *level)
{
    MPI_Session s = MPI_SESSION_NULL;
    MPI_Info info = MPI_INFO_NULL;
    if (level) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "thread_level", level);
    }
    CHECK_EQ(MPI_Session_init(info, MPI_ERRORS_RETURN, &s), MPI_SUCCESS);
    CHECK(s != MPI_SESSION_NULL);
    if (level) MPI_Info_free(&info);
    return s;
}
static inline MPI_Comm session_comm(MPI_Session s, const char *pset, const char *tag)
{
    MPI_Group g = MPI_GROUP_NULL;
    MPI_Comm c = MPI_COMM_NULL;
    CHECK_EQ(MPI_Group_from_session_pset(s, pset, &g), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_create_from_group(g, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &c), MPI_SUCCESS);
    CHECK_EQ(MPI_Group_free(&g), MPI_SUCCESS);
    return c;
}
static inline void session_close(MPI_Session *s)
{
    CHECK_EQ(MPI_Session_finalize(s), MPI_SUCCESS);
    CHECK(*s == MPI_SESSION_NULL);
}
/* Messages around the ring and a sum, both asserted. */
static inline void comm_works(MPI_Comm c, int seed)
{
    int me, n, sum = -1, got = -1;
    MPI_Comm_rank(c, &me);
    MPI_Comm_size(c, &n);
    int mine = seed + me;
    CHECK_EQ(MPI_Sendrecv(&mine, 1, MPI_INT, (me + 1) % n, seed, &got, 1, MPI_INT, (me + n - 1) % n, seed, c, MPI_STATUS_IGNORE),
             MPI_SUCCESS);
    CHECK_EQ(got, seed + (me + n - 1) % n);
    CHECK_EQ(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, c), MPI_SUCCESS);
    CHECK_EQ(sum, n * seed + n * (n - 1) / 2);
}
/* Who may not use MPI_COMM_WORLD: as in test_end, on a session of its own. */
static inline int session_test_end(void)
{
    int all = 0;
    MPI_Session s = session_open(NULL);
    MPI_Comm c = session_comm(s, "mpi://WORLD", "the end");
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, c);
    MPI_Comm_free(&c);
    session_close(&s);
    return all != 0 || failures != 0;
}

#endif
