/* session_errors.c -- error handlers of sessions, and whose handler an error of what is being made goes to.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "session_check.h"

static int calls, last_code;
static MPI_Session last_session;
static MPI_Comm last_comm;

static void on_session(MPI_Session *s, int *code, ...)
{
    calls++;
    last_session = *s;
    last_code = *code;
}
static void on_comm(MPI_Comm *c, int *code, ...)
{
    calls++;
    last_comm = *c;
    last_code = *code;
}
#define CALLED(expr, code)                                                                                                         \
    do {                                                                                                                           \
        calls = 0;                                                                                                                 \
        CHECK_EQ(expr, code);                                                                                                      \
        CHECK_EQ(calls, 1);                                                                                                        \
        CHECK_EQ(last_code, code);                                                                                                 \
    } while (0)
#define QUIET(expr, code)                                                                                                          \
    do {                                                                                                                           \
        calls = 0;                                                                                                                 \
        CHECK_EQ(expr, code);                                                                                                      \
        CHECK_EQ(calls, 0);                                                                                                        \
    } while (0)

static void handlers(void)
{
    MPI_Errhandler mine, other, of_comms;
    MPI_Session s;
    MPI_Group g;
    CHECK_EQ(MPI_Session_create_errhandler(on_session, &mine), MPI_SUCCESS); /* before any session */
    CHECK_EQ(MPI_Comm_create_errhandler(on_comm, &of_comms), MPI_SUCCESS);
    CHECK_EQ(MPI_Session_init(MPI_INFO_NULL, mine, &s), MPI_SUCCESS);
    last_session = MPI_SESSION_NULL;
    CALLED(MPI_Group_from_session_pset(s, "nonsense", &g), MPI_ERR_ARG);
    CHECK(last_session == s);
    calls = 0;
    CHECK_EQ(MPI_Session_call_errhandler(s, MPI_ERR_TAG), MPI_SUCCESS);
    CHECK(calls == 1 && last_code == MPI_ERR_TAG && last_session == s);
    CHECK_EQ(MPI_Session_get_errhandler(s, &other), MPI_SUCCESS);
    CHECK(other == mine);
    MPI_Errhandler_free(&other);
    CHECK_EQ(MPI_Session_set_errhandler(s, MPI_ERRORS_RETURN), MPI_SUCCESS);
    QUIET(MPI_Group_from_session_pset(s, "nonsense", &g), MPI_ERR_ARG);
    QUIET(MPI_Session_set_errhandler(s, of_comms), MPI_ERR_ERRHANDLER);
    CHECK_EQ(MPI_Session_set_errhandler(s, mine), MPI_SUCCESS);
    CHECK_EQ(MPI_Errhandler_free(&mine), MPI_SUCCESS);
    CALLED(MPI_Group_from_session_pset(s, "nonsense", &g), MPI_ERR_ARG); /* the session holds it */
    CHECK_EQ(MPI_Session_finalize(&s), MPI_SUCCESS);
    CHECK_EQ(MPI_Errhandler_free(&of_comms), MPI_SUCCESS);
}

/* The handler that was given to what could not be made. */
static void of_the_unmade(void)
{
    MPI_Errhandler mine, of_sessions;
    MPI_Session s = session_open(NULL), t = MPI_SESSION_NULL;
    MPI_Group all, others, mine_alone;
    MPI_Comm c = MPI_COMM_NULL;
    char too_long[MPI_MAX_STRINGTAG_LEN + 2];
    memset(too_long, 'x', sizeof too_long - 1);
    too_long[sizeof too_long - 1] = 0;
    MPI_Comm_create_errhandler(on_comm, &mine);
    MPI_Session_create_errhandler(on_session, &of_sessions);
    MPI_Group_from_session_pset(s, "mpi://WORLD", &all);
    last_comm = MPI_COMM_WORLD;
    CALLED(MPI_Comm_create_from_group(all, too_long, MPI_INFO_NULL, mine, &c), MPI_ERR_ARG);
    CHECK(last_comm == MPI_COMM_NULL);
    CALLED(MPI_Comm_create_from_group(MPI_GROUP_NULL, "tag", MPI_INFO_NULL, mine, &c), MPI_ERR_GROUP);
    CALLED(MPI_Comm_create_from_group(all, NULL, MPI_INFO_NULL, mine, &c), MPI_ERR_ARG);
    QUIET(MPI_Comm_create_from_group(all, "tag", (MPI_Info)MPI_COMM_WORLD, MPI_ERRORS_RETURN, &c), MPI_ERR_INFO);
    QUIET(MPI_Comm_create_from_group(all, "tag", MPI_INFO_NULL, MPI_ERRORS_RETURN, NULL), MPI_ERR_ARG);
    QUIET(MPI_Comm_create_from_group(all, "tag", MPI_INFO_NULL, MPI_ERRHANDLER_NULL, &c), MPI_ERR_ERRHANDLER);
    MPI_Group_excl(all, 1, &rank, &others);
    if (size > 1) CALLED(MPI_Comm_create_from_group(others, "tag", MPI_INFO_NULL, mine, &c), MPI_ERR_GROUP);
    CALLED(MPI_Intercomm_create_from_groups(all, size, all, 0, "tag", MPI_INFO_NULL, mine, &c), MPI_ERR_RANK);
    if (rank == 0)
        CALLED(MPI_Intercomm_create_from_groups(all, 0, MPI_GROUP_NULL, 0, "tag", MPI_INFO_NULL, mine, &c), MPI_ERR_GROUP);
    if (rank == 0) CALLED(MPI_Intercomm_create_from_groups(all, 0, all, size, "tag", MPI_INFO_NULL, mine, &c), MPI_ERR_RANK);
    CHECK(c == MPI_COMM_NULL);
    last_session = s;
    CALLED(MPI_Session_init((MPI_Info)MPI_COMM_WORLD, of_sessions, &t), MPI_ERR_INFO);
    CHECK(last_session == MPI_SESSION_NULL && t == MPI_SESSION_NULL);
    QUIET(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, NULL), MPI_ERR_ARG);
    /* The new communicator has the handler that was given. */
    MPI_Group_incl(all, 1, &rank, &mine_alone);
    CHECK_EQ(MPI_Comm_create_from_group(mine_alone, "self", MPI_INFO_NULL, mine, &c), MPI_SUCCESS);
    CALLED(MPI_Send(NULL, 0, MPI_INT, 1, 0, c), MPI_ERR_RANK);
    CHECK(last_comm == c);
    MPI_Comm_free(&c);
    MPI_Group_free(&mine_alone);
    if (others != MPI_GROUP_EMPTY) MPI_Group_free(&others);
    MPI_Group_free(&all);
    MPI_Errhandler_free(&mine);
    MPI_Errhandler_free(&of_sessions);
    session_close(&s);
}

/* Without a session and the World Model, errors go to the initial handler: the test's environment says that they return. */
static void handles(void)
{
    MPI_Session s = session_open(NULL), gone = s;
    int n;
    MPI_Info info;
    MPI_Group g;
    CHECK_EQ(MPI_Session_get_num_psets(MPI_SESSION_NULL, MPI_INFO_NULL, &n), MPI_ERR_SESSION);
    CHECK_EQ(MPI_Session_get_num_psets((MPI_Session)MPI_COMM_SELF, MPI_INFO_NULL, &n), MPI_ERR_SESSION);
    CHECK_EQ(MPI_Session_get_num_psets(s, MPI_INFO_NULL, NULL), MPI_ERR_ARG);
    CHECK_EQ(MPI_Session_get_info(s, NULL), MPI_ERR_ARG);
    CHECK_EQ(MPI_Group_from_session_pset(s, NULL, &g), MPI_ERR_ARG);
    CHECK_EQ(MPI_Barrier(MPI_COMM_WORLD), MPI_ERR_COMM); /* there is no World Model */
    CHECK_EQ(MPI_Barrier(MPI_COMM_SELF), MPI_ERR_COMM);
    CHECK_EQ(MPI_Finalize(), MPI_ERR_OTHER);
    session_close(&s);
    MPI_Session again = session_open(NULL);
    CHECK_EQ(MPI_Session_get_info(gone, &info), MPI_ERR_SESSION);
    CHECK_EQ(MPI_Session_finalize(&gone), MPI_ERR_SESSION);
    CHECK_EQ(MPI_Session_finalize(NULL), MPI_ERR_ARG);
    int as_int = MPI_Session_toint(again);
    CHECK(MPI_Session_fromint(as_int) == again && MPI_Session_f2c(MPI_Session_c2f(again)) == again);
    CHECK(MPI_Session_fromint(MPI_Session_toint(MPI_SESSION_NULL)) == MPI_SESSION_NULL);
    session_close(&again);
}

int main(void)
{
    MPI_Session s = session_open(NULL);
    MPI_Comm c = session_comm(s, "mpi://WORLD", "all");
    MPI_Comm_rank(c, &rank);
    MPI_Comm_size(c, &size);
    MPI_Comm_free(&c);
    session_close(&s);
    handlers();
    of_the_unmade();
    handles();
    return session_test_end();
}
