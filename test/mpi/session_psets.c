/* session_psets.c -- process sets: their names, sizes and members; what a session says of itself.  With the number of applications as
 * argument, each of which has one set more.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "session_check.h"

#include <ctype.h>

/* want NULL: there is no info object, so the session has what the process has (MPI 4.1, section 11.3, leaves the default open). */
static void level_is(const char *want, const char *got)
{
    MPI_Session s = session_open(want);
    MPI_Info info;
    char value[64] = "";
    int flag = 0, len = sizeof value;
    CHECK_EQ(MPI_Session_get_info(s, &info), MPI_SUCCESS);
    MPI_Info_get_string(info, "thread_level", &len, value, &flag);
    CHECK(flag && strcmp(value, got) == 0);
    len = sizeof value;
    MPI_Info_get_string(info, "mpi_memory_alloc_kinds", &len, value, &flag);
    CHECK(flag && strstr(value, "system"));
    MPI_Info_free(&info);
    session_close(&s);
}

/* By the highest of the instances that there are; alone it is the lowest. */
static void level_of_process(void)
{
    MPI_Session serial, many;
    level_is(NULL, "MPI_THREAD_SINGLE");
    serial = session_open("MPI_THREAD_SERIALIZED");
    level_is(NULL, "MPI_THREAD_SERIALIZED");
    many = session_open("MPI_THREAD_MULTIPLE");
    level_is(NULL, "MPI_THREAD_MULTIPLE");
    level_is("MPI_THREAD_FUNNELED", "MPI_THREAD_FUNNELED"); /* a session gets the level that it asks for */
    session_close(&many);
    session_close(&serial);
    level_is(NULL, "MPI_THREAD_SINGLE");
}

static int set_size(MPI_Session s, const char *name)
{
    MPI_Info info;
    char value[32] = "";
    int flag = 0, len = sizeof value, n = -1, me = -1, in_info;
    MPI_Group g;
    CHECK_EQ(MPI_Session_get_pset_info(s, name, &info), MPI_SUCCESS);
    MPI_Info_get_string(info, "mpi_size", &len, value, &flag);
    CHECK_EQ(flag, 1);
    in_info = atoi(value);
    MPI_Info_free(&info);
    CHECK_EQ(MPI_Group_from_session_pset(s, name, &g), MPI_SUCCESS);
    MPI_Group_size(g, &n);
    CHECK_EQ(n, in_info);
    MPI_Group_rank(g, &me);
    CHECK(me == MPI_UNDEFINED || (me >= 0 && me < n));
    MPI_Group_free(&g);
    return n;
}

static void names(MPI_Session s, int apps)
{
    int n = -1, sum = 0;
    CHECK_EQ(MPI_Session_get_num_psets(s, MPI_INFO_NULL, &n), MPI_SUCCESS);
    CHECK(n >= 2);
    if (apps) CHECK_EQ(n, 2 + apps);
    for (int i = 0; i < n; i++) {
        char name[MPI_MAX_PSET_NAME_LEN], cut[6] = "#####";
        int len = 0, full;
        CHECK_EQ(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, i, &len, NULL), MPI_SUCCESS);
        full = len;
        CHECK(full > 1 && full <= MPI_MAX_PSET_NAME_LEN);
        len = sizeof name;
        CHECK_EQ(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, i, &len, name), MPI_SUCCESS);
        CHECK_EQ(len, full);
        CHECK_EQ((int)strlen(name) + 1, full);
        len = 5;
        CHECK_EQ(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, i, &len, cut), MPI_SUCCESS);
        CHECK_EQ(len, full);
        CHECK(memcmp(cut, name, 4) == 0 && cut[4] == 0);
        int members = set_size(s, name);
        char lower[MPI_MAX_PSET_NAME_LEN], upper[MPI_MAX_PSET_NAME_LEN]; /* case does not count */
        for (int k = 0; k <= (int)strlen(name); k++)
            lower[k] = (char)tolower((unsigned char)name[k]), upper[k] = (char)toupper((unsigned char)name[k]);
        CHECK_EQ(set_size(s, lower), members);
        CHECK_EQ(set_size(s, upper), members);
        if (strcmp(name, "mpi://WORLD") == 0) CHECK_EQ(members, size);
        if (strcmp(name, "mpi://SELF") == 0) CHECK_EQ(members, 1);
        if (strncmp(name, "mpiexec://app/", 14) == 0) sum += members;
    }
    if (apps) CHECK_EQ(sum, size);
}

static void wrong_ones(MPI_Session s)
{
    int n, len = 10;
    char name[10];
    MPI_Group g = MPI_GROUP_EMPTY;
    MPI_Info info;
    MPI_Session_get_num_psets(s, MPI_INFO_NULL, &n);
    CHECK_EQ(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, n, &len, name), MPI_ERR_ARG);
    CHECK_EQ(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, -1, &len, name), MPI_ERR_ARG);
    CHECK_EQ(MPI_Group_from_session_pset(s, "mpi://NOBODY", &g), MPI_ERR_ARG);
    CHECK(g == MPI_GROUP_EMPTY);
    CHECK_EQ(MPI_Session_get_pset_info(s, "mpiexec://app/4711", &info), MPI_ERR_ARG);
}

/* Each application's ranks among themselves. */
static void apps_talk(MPI_Session s, int apps)
{
    char name[32];
    for (int a = 0; a < apps; a++) {
        MPI_Group g;
        int me;
        snprintf(name, sizeof name, "mpiexec://app/%d", a);
        MPI_Group_from_session_pset(s, name, &g);
        MPI_Group_rank(g, &me);
        MPI_Group_free(&g);
        if (me == MPI_UNDEFINED) continue;
        MPI_Comm c = session_comm(s, name, "one application");
        comm_works(c, 100 * a);
        MPI_Comm_free(&c);
    }
}

int main(int argc, char **argv)
{
    int apps = argc > 1 ? atoi(argv[1]) : 0;
    level_is("MPI_THREAD_SERIALIZED", "MPI_THREAD_SERIALIZED");
    level_is("MPI_THREAD_MULTIPLE", "MPI_THREAD_MULTIPLE");
    level_of_process();
    MPI_Session s = session_open(NULL);
    MPI_Comm c = session_comm(s, "mpi://WORLD", "all");
    MPI_Comm_rank(c, &rank);
    MPI_Comm_size(c, &size);
    MPI_Comm_free(&c);
    names(s, apps);
    wrong_ones(s);
    apps_talk(s, apps);
    session_close(&s);
    return session_test_end();
}
