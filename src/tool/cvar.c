/* cvar.c -- the settings as control variables.
 *
 * Before MPI starts every setting may be written, with the same effect as in the environment.  Afterwards only settings may be written that
 * are read at each use.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tool/tool_private.h"
#include "base/base.h"
#include "base/event.h"
#include "base/settings.h"
#include "life/life.h"

#include <stdio.h>
#include <stdlib.h>

enum { TEXT_ROOM = 512, SETTINGS_ROOM = 512 };

struct tool_cvar_handle {
    struct tool_live live;
    int row;
};
/* Under tool_lock. */
static struct {
    struct tool_live *handles;
    struct tool_enum enums[SETTINGS_ROOM]; /* by row, of settings that have words */
} state;

/* Settings that differ from `plain`: that is, the same on all ranks, writable before MPI starts, for tuning.  A name that ends with _ is the
 * beginning of several names. */
static const struct facts {
    const char *name;
    int scope, verbosity;
    bool any_time;
} special[] = {
    {"explain", GW_T_SCOPE_LOCAL, GW_T_VERBOSITY_USER_BASIC, true},
    {"check_args", GW_T_SCOPE_LOCAL, GW_T_VERBOSITY_USER_BASIC, true},
    {"initial_errhandler", GW_T_SCOPE_LOCAL, GW_T_VERBOSITY_USER_BASIC, false},
    {"check", GW_T_SCOPE_ALL_EQ, GW_T_VERBOSITY_USER_BASIC, false},
    {"reproducible", GW_T_SCOPE_ALL_EQ, GW_T_VERBOSITY_USER_DETAIL, true},
    {"wait", GW_T_SCOPE_LOCAL, GW_T_VERBOSITY_USER_DETAIL, false},
    {"wait_spin", GW_T_SCOPE_LOCAL, GW_T_VERBOSITY_TUNER_DETAIL, false},
    {"wait_yield", GW_T_SCOPE_LOCAL, GW_T_VERBOSITY_TUNER_DETAIL, false},
    {"progress_thread", GW_T_SCOPE_LOCAL, GW_T_VERBOSITY_USER_DETAIL, false},
    {"help_min", GW_T_SCOPE_LOCAL, GW_T_VERBOSITY_TUNER_DETAIL, true},
    {"get_piece", GW_T_SCOPE_LOCAL, GW_T_VERBOSITY_TUNER_DETAIL, true},
    {"iov_block_min", GW_T_SCOPE_LOCAL, GW_T_VERBOSITY_TUNER_DETAIL, true},
    {"cma_sure", GW_T_SCOPE_LOCAL, GW_T_VERBOSITY_TUNER_DETAIL, true},
    {"wire_piece", GW_T_SCOPE_LOCAL, GW_T_VERBOSITY_TUNER_DETAIL, true},
    {"rma_ask", GW_T_SCOPE_LOCAL, GW_T_VERBOSITY_TUNER_DETAIL, true},
    /* Rank 0's values are used when a file is opened; the others are read when it is closed. */
    {"mpiio_", GW_T_SCOPE_ALL_EQ, GW_T_VERBOSITY_USER_DETAIL, true},
    {"cb_shared", GW_T_SCOPE_ALL_EQ, GW_T_VERBOSITY_TUNER_DETAIL, true},
    /* Settings of mpiexec and of the profile: a rank can only read them. */
    {"tune", GW_T_SCOPE_CONSTANT, GW_T_VERBOSITY_TUNER_BASIC, false}, /* its file is read with the environment */
    {"hang_warn", GW_T_SCOPE_CONSTANT, GW_T_VERBOSITY_USER_DETAIL, false},
    {"profile_sync", GW_T_SCOPE_CONSTANT, GW_T_VERBOSITY_USER_DETAIL, false},
    {"coll_chunk", GW_T_SCOPE_ALL_EQ, GW_T_VERBOSITY_TUNER_BASIC, true},
    {"coll", GW_T_SCOPE_ALL_EQ, GW_T_VERBOSITY_TUNER_BASIC, false},
    {"eager_max", GW_T_SCOPE_ALL_EQ, GW_T_VERBOSITY_TUNER_BASIC, false},
};
static const struct facts plain = {"", GW_T_SCOPE_ALL_EQ, GW_T_VERBOSITY_TUNER_DETAIL, false};

static void row_info(int i, struct gw_setting_info *info, char text[TEXT_ROOM])
{
    const char *origin;
    assert(i >= 0 && i < gw_settings_count());
    gw_settings_get(i, info, text, TEXT_ROOM, &origin);
}

static const struct facts *facts_of(const char *name)
{
    for (size_t i = 0; i < GW_ARRAY_LEN(special); i++) {
        size_t n = strlen(special[i].name);
        if (strncmp(special[i].name, name, n + (special[i].name[n - 1] != '_')) == 0) return &special[i];
    }
    return &plain;
}

static enum tool_type type_of(const char *type)
{
    return strcmp(type, "bool") == 0 || strcmp(type, "enum") == 0 ? TOOL_INT
        : strcmp(type, "int") == 0 || strcmp(type, "size") == 0   ? TOOL_COUNT
                                                                  : TOOL_CHAR;
}

int tool_cvar_category(int i)
{
    static const struct {
        const char *begin;
        int category;
    } names[] = {{"coll", CAT_COLLECTIVES}, {"tune", CAT_COLLECTIVES}, {"reproducible", CAT_COLLECTIVES},
                 {"wait", CAT_WAITING},     {"progress", CAT_WAITING}, {"eager", CAT_MESSAGES},
                 {"proto", CAT_MESSAGES},   {"wire", CAT_MESSAGES},    {"unexpected", CAT_MESSAGES},
                 {"lanes", CAT_MESSAGES},   {"cma", CAT_COPIES},       {"help", CAT_COPIES},
                 {"get", CAT_COPIES},       {"iov", CAT_COPIES},       {"rma", CAT_ONE_SIDED},
                 {"mpiio", CAT_FILES},      {"cb_", CAT_FILES}};
    struct gw_setting_info info;
    char text[TEXT_ROOM];
    row_info(i, &info, text);
    for (size_t k = 0; k < GW_ARRAY_LEN(names); k++)
        if (strncmp(info.name, names[k].begin, strlen(names[k].begin)) == 0) return names[k].category;
    return CAT_GENERAL;
}

int tool_cvar_get_num(int *n_out)
{
    TOOL_READY();
    if (!n_out) return GW_T_ERR_INVALID;
    *n_out = gw_settings_count();
    return 0;
}

int tool_cvar_get_index(const char *name, int *i_out)
{
    struct gw_setting_info info;
    char text[TEXT_ROOM];
    TOOL_READY();
    if (!name || !i_out) return GW_T_ERR_INVALID;
    for (int i = 0; i < gw_settings_count(); i++) {
        row_info(i, &info, text);
        if (strcmp(info.name, name) != 0) continue;
        *i_out = i;
        return 0;
    }
    return GW_T_ERR_INVALID_NAME;
}

int tool_cvar_get_info(int i, char *name, int *name_len, int *verbosity_out, enum tool_type *type_out, struct tool_enum **enum_out,
                       char *desc, int *desc_len, int *bind_out, int *scope_out)
{
    struct gw_setting_info info;
    char text[TEXT_ROOM];
    TOOL_READY();
    if (i < 0 || i >= gw_settings_count()) return GW_T_ERR_INVALID_INDEX;
    row_info(i, &info, text);
    const struct facts *f = facts_of(info.name);
    bool has_words = strcmp(info.type, "enum") == 0;
    if (has_words) {
        pthread_mutex_lock(&tool_lock);
        state.enums[i] = (struct tool_enum){info.name, info.range};
        pthread_mutex_unlock(&tool_lock);
    }
    tool_text(info.name, name, name_len);
    tool_text(info.help, desc, desc_len);
    tool_set(verbosity_out, f->verbosity);
    tool_set(bind_out, GW_T_BIND_NO_OBJECT);
    tool_set(scope_out, f->scope);
    if (type_out) *type_out = type_of(info.type);
    if (enum_out) *enum_out = has_words ? &state.enums[i] : NULL;
    return 0;
}

int tool_cvar_handle_alloc(int i, struct tool_cvar_handle **handle_out, int *count_out)
{
    struct gw_setting_info info;
    char text[TEXT_ROOM];
    TOOL_READY();
    if (i < 0 || i >= gw_settings_count()) return GW_T_ERR_INVALID_INDEX;
    if (!handle_out || !count_out) return GW_T_ERR_INVALID;
    struct tool_cvar_handle *h = malloc(sizeof *h);
    if (!h) return GW_T_ERR_OUT_OF_HANDLES;
    h->row = i;
    row_info(i, &info, text);
    *count_out = type_of(info.type) == TOOL_CHAR ? TEXT_ROOM : 1;
    pthread_mutex_lock(&tool_lock);
    tool_live_add(&state.handles, &h->live);
    pthread_mutex_unlock(&tool_lock);
    *handle_out = h;
    return 0;
}

int tool_cvar_handle_free(struct tool_cvar_handle **h)
{
    TOOL_READY();
    if (!h) return GW_T_ERR_INVALID;
    pthread_mutex_lock(&tool_lock);
    bool is_live = tool_is_live(state.handles, *h);
    if (is_live) tool_live_del(&state.handles, &(*h)->live);
    pthread_mutex_unlock(&tool_lock);
    if (!is_live) return GW_T_ERR_INVALID_HANDLE;
    free(*h);
    *h = NULL;
    return 0;
}

static int handle_row(struct tool_cvar_handle *h, int *row_out)
{
    pthread_mutex_lock(&tool_lock);
    bool is_live = tool_is_live(state.handles, h);
    if (is_live) *row_out = h->row;
    pthread_mutex_unlock(&tool_lock);
    return is_live ? 0 : GW_T_ERR_INVALID_HANDLE;
}

/* The common beginning of read and write: checks the handle; the variable and its value as text. */
static int access_begin(struct tool_cvar_handle *h, const void *buf, int *row_out, struct gw_setting_info *info,
                        char text[TEXT_ROOM])
{
    int rc = handle_row(h, row_out);
    if (rc != 0) return rc;
    if (!buf) return GW_T_ERR_INVALID;
    row_info(*row_out, info, text);
    return 0;
}

int tool_cvar_read(struct tool_cvar_handle *h, void *buf)
{
    struct gw_setting_info info;
    char text[TEXT_ROOM];
    int row, rc;
    TOOL_READY();
    if ((rc = access_begin(h, buf, &row, &info, text)) != 0) return rc;
    const void *field = gw_settings_field(row);
    if (strcmp(info.type, "bool") == 0)
        *(int *)buf = *(const bool *)field;
    else if (type_of(info.type) == TOOL_INT)
        *(int *)buf = *(const int *)field;
    else if (type_of(info.type) == TOOL_COUNT)
        *(int64_t *)buf = *(const int64_t *)field;
    else
        memcpy(buf, text, strlen(text) + 1);
    return 0;
}

/* The value as it would be in the environment; false: it is no number of a word of the enumeration. */
static bool value_text(const struct gw_setting_info *info, const void *buf, char text[TEXT_ROOM])
{
    int64_t v;
    switch (type_of(info->type)) {
    case TOOL_COUNT:
        memcpy(&v, buf, sizeof v);
        snprintf(text, TEXT_ROOM, "%lld", (long long)v);
        if (v == -1 && strcmp(info->default_text, "auto") == 0) strcpy(text, "auto");
        return true;
    case TOOL_CHAR: snprintf(text, TEXT_ROOM, "%s", (const char *)buf); return true;
    default: break;
    }
    int n = *(const int *)buf;
    if (strcmp(info->type, "bool") == 0) {
        snprintf(text, TEXT_ROOM, "%d", n != 0);
        return true;
    }
    const char *p = info->range;
    if (n < 0) return false;
    for (; n > 0; n--) {
        p += strcspn(p, ",");
        if (!*p++) return false;
    }
    snprintf(text, TEXT_ROOM, "%.*s", (int)strcspn(p, ","), p);
    return true;
}

int tool_cvar_write(struct tool_cvar_handle *h, const void *buf)
{
    struct gw_setting_info info;
    char text[TEXT_ROOM];
    int row, rc;
    TOOL_READY();
    if ((rc = access_begin(h, buf, &row, &info, text)) != 0) return rc;
    const struct facts *f = facts_of(info.name);
    if (f->scope == GW_T_SCOPE_CONSTANT) return GW_T_ERR_CVAR_SET_NEVER;
    /* Another thread may use the old text; those of the library do not use what can be set at any time. */
    bool is_text = strcmp(info.type, "string") == 0;
    if (life_has_begun() && (!f->any_time || (is_text && gw_program_threads))) return GW_T_ERR_CVAR_SET_NOT_NOW;
    if (!value_text(&info, buf, text) || !gw_settings_set(row, text)) return GW_T_ERR_INVALID;
    if (mpi_hot.running) mpi_hot.check = gw_set.check_args;
    return 0;
}
