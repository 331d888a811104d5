/* tool_oom_test.c -- MPI_T and no memory: a handle, session or registration that cannot be made is none, and takes none away.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tool/tool_private.h"
#include "base/base.h"

#include "../../test/oom.h"

static struct tool_pvar_session *session, *other;
static struct tool_pvar_handle *pvar;
static struct tool_cvar_handle *cvar;
static struct tool_registration *event;
static int index_of_mark = -1;

static bool is_clean(void)
{
    bool is_left = other || pvar || cvar || event;
    other = NULL, pvar = NULL, cvar = NULL, event = NULL;
    return !is_left;
}
static int sessions(void) { return tool_pvar_session_create(&other); }
static void sessions_end(void) { CHECK_EQ(tool_pvar_session_free(&other), 0); }
static int cvars(void)
{
    int count = -1, rc = tool_cvar_handle_alloc(0, &cvar, &count);
    CHECK_EQ(count != -1, rc == 0);
    return rc;
}
static void cvars_end(void) { CHECK_EQ(tool_cvar_handle_free(&cvar), 0); }
static int pvar_of(int i)
{
    int count = -1, rc = tool_pvar_handle_alloc(session, i, 0, &pvar, &count);
    CHECK_EQ(count != -1, rc == 0);
    return rc;
}
static int pvars(void) { return pvar_of(0); }
static int marks(void) { return pvar_of(index_of_mark); }
static void pvars_end(void) { CHECK_EQ(tool_pvar_handle_free(session, &pvar), 0); }

static const struct oom_call calls[] = {
    {"a session", sessions, sessions_end, 1, GW_T_ERR_OUT_OF_SESSIONS},
    {"a handle of a control variable", cvars, cvars_end, 1, GW_T_ERR_OUT_OF_HANDLES},
    {"a handle of a performance variable", pvars, pvars_end, 2, GW_T_ERR_OUT_OF_HANDLES},
    {"a handle of a high-water mark", marks, pvars_end, 2, GW_T_ERR_OUT_OF_HANDLES},
};

/* A variable of class high-water mark that is bound to nothing. */
static int mark_find(void)
{
    int n = 0, found = -1;
    CHECK_EQ(tool_pvar_get_num(&n), 0);
    for (int i = 0; i < n && found < 0; i++) {
        int var_class = -1, bind = -1;
        CHECK_EQ(tool_pvar_get_info(i, NULL, NULL, NULL, &var_class, NULL, NULL, NULL, NULL, &bind, NULL, NULL, NULL), 0);
        if (var_class == GW_T_PVAR_CLASS_HIGHWATERMARK && bind == GW_T_BIND_NO_OBJECT) found = i;
    }
    return found;
}

int main(void)
{
    int provided;
    CHECK_EQ(tool_init_thread(GW_THREAD_SINGLE, &provided), 0);
    CHECK_EQ(tool_pvar_session_create(&session), 0);
    index_of_mark = mark_find();
    CHECK(index_of_mark >= 0);
    for (size_t i = 0; i < GW_ARRAY_LEN(calls); i++) oom_try(&calls[i], is_clean);
    for (int i = 0; i < 100; i++) { /* each that failed has given back its mark: there are few */
        CHECK_EQ(marks(), 0);
        pvars_end();
    }
    CHECK_EQ(tool_pvar_session_free(&session), 0);
    CHECK_EQ(tool_finalize(), 0);
    return unit_end();
}
