/* thread_level.c -- which level MPI_Init_thread provides under a ceiling (GODWIT_THREAD_MAX), with a progress thread or without.
 *
 *     thread_level CEILING       single, funneled, serialized or multiple: what the environment says
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

static const char *const names[] = {"single", "funneled", "serialized", "multiple"};
static const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};

int main(int argc, char **argv)
{
    int provided, ceiling = 0, required = 3, n_session;
    char level[64];
    MPI_Session session;
    MPI_Info info;
    while (ceiling < 3 && argc > 1 && strcmp(argv[1], names[ceiling]) != 0) ceiling++;
    MPI_Init_thread(&argc, &argv, levels[required], &provided);
    CHECK_EQ(provided, levels[ceiling]);
    MPI_Query_thread(&provided);
    CHECK_EQ(provided, levels[ceiling]);
    /* A session's level has the same ceiling. */
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    CHECK_EQ(MPI_Session_init(info, MPI_ERRORS_RETURN, &session), MPI_SUCCESS);
    MPI_Info_free(&info);
    MPI_Session_get_info(session, &info);
    n_session = sizeof level;
    int flag;
    MPI_Info_get_string(info, "thread_level", &n_session, level, &flag);
    CHECK(flag && strncmp(level, "MPI_THREAD_", 11) == 0 && strcasecmp(level + 11, names[ceiling]) == 0);
    MPI_Info_free(&info);
    MPI_Session_finalize(&session);
    /* Messages and a collective work whatever the level. */
    int sum;
    test_begin();
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(sum, size * (size - 1) / 2);
    return test_end();
}
