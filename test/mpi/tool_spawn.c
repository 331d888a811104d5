/* tool_spawn.c -- messages to spawned processes are counted at their places of the intercommunicator, and in the sums.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

typedef unsigned long long u64;
enum { CHILDREN = 2, LEN = 1000 };
static MPI_T_pvar_session session;

static MPI_T_pvar_handle handle_of(const char *name, void *object, int want_count)
{
    int i = -1, count = -1;
    MPI_T_pvar_handle h = MPI_T_PVAR_HANDLE_NULL;
    CHECK_EQ(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &i), MPI_SUCCESS);
    CHECK_EQ(MPI_T_pvar_handle_alloc(session, i, object, &h, &count), MPI_SUCCESS);
    CHECK_EQ(count, want_count);
    MPI_T_pvar_start(session, h);
    return h;
}

static int child(MPI_Comm parent)
{
    char in[LEN];
    int me;
    MPI_Comm_rank(parent, &me);
    MPI_Recv(in, LEN, MPI_CHAR, 0, me, parent, MPI_STATUS_IGNORE);
    MPI_Barrier(parent);
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return 0;
}

int main(int argc, char **argv)
{
    MPI_Comm parent, children;
    int provided;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) return child(parent);
    test_begin();
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_session_create(&session);
    CHECK_EQ(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE),
             MPI_SUCCESS);
    MPI_T_pvar_handle peers = handle_of("peer_messages_e1", &children, CHILDREN), all = handle_of("sent_messages_e1", NULL, 1);
    u64 v[CHILDREN] = {77, 77}, sum = 77;
    char out[LEN] = "";
    for (int i = 0; i < CHILDREN && rank == 0; i++) MPI_Send(out, LEN, MPI_CHAR, i, i, children);
    CHECK_EQ(MPI_T_pvar_read(session, peers, v), MPI_SUCCESS);
    CHECK_EQ(MPI_T_pvar_read(session, all, &sum), MPI_SUCCESS);
    for (int i = 0; i < CHILDREN; i++) CHECK_EQ(v[i], rank == 0);
    CHECK_EQ(sum, rank == 0 ? CHILDREN : 0);
    MPI_Barrier(children);
    MPI_Comm_disconnect(&children);
    CHECK_EQ(MPI_T_pvar_read(session, peers, v), MPI_T_ERR_INVALID_HANDLE);
    u64 later = 0;
    CHECK_EQ(MPI_T_pvar_read(session, all, &later), MPI_SUCCESS);
    CHECK(later >= sum && later < 1000000); /* what went to those that are gone still counts */
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return test_end();
}
