/* mpi_oom_test.c -- sessions and no memory: one that cannot be made is no instance of MPI, and the library stays as it is.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/mpi_private.h"

#include <stdlib.h>

#include "../../test/oom.h"

static struct mpi_session *outer, *s;
static struct gw_group *group;
static struct gw_info *info;

static bool is_running(void) { return mpi_hot.running && life_highest() == GW_THREAD_SINGLE; }

static int init(void) { return mpi_session_init(NULL, &gw_errors_return, &s); }
static void init_end(void) { CHECK_EQ(mpi_session_finalize(&s), GW_OK); }
static int group_of(void) { return mpi_session_group(outer, "mpi://WORLD", &group); }
static void group_end(void)
{
    CHECK(group->size == 1 && group->rank == 0);
    group_release(group);
}
static int info_of(void) { return mpi_session_get_info(outer, &info); }
static int pset_info(void) { return mpi_session_get_pset_info(outer, "mpi://WORLD", &info); }
static void info_end(void)
{
    CHECK(gw_info_find(info, "thread_level") || gw_info_find(info, "mpi_size"));
    gw_info_free(&info);
}

static const struct oom_call calls[] = {
    {"session_init", init, init_end, 2, 0},
    {"session_group", group_of, group_end, 1, 0},
    {"session_get_info", info_of, info_end, 1, 0},
    {"session_get_pset_info", pset_info, info_end, 2, 0},
};

int main(void)
{
    setenv("GODWIT_SINGLETON", "1", 1);
    setenv("GODWIT_LANES", "1", 1);
    CHECK_EQ(mpi_session_init(NULL, &gw_errors_return, &outer), GW_OK);
    for (size_t i = 0; i < GW_ARRAY_LEN(calls); i++) oom_try(&calls[i], is_running);
    CHECK_EQ(mpi_session_finalize(&outer), GW_OK);
    CHECK(!mpi_hot.running);
    return unit_end();
}
