/* category.c -- categories: a top category contains the others, which contain the variables and events.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tool/tool_private.h"

static const struct {
    const char *name, *text;
} categories[CATEGORIES] = {
    [CAT_ALL] = {"godwit", "Everything, by category"},
    [CAT_GENERAL] = {"general", "What concerns all of the library"},
    [CAT_MESSAGES] = {"messages", "Messages between ranks: by path and peer, and those that came early"},
    [CAT_WAITING] = {"waiting", "How ranks wait"},
    [CAT_COPIES] = {"copies", "Copies between the memories of processes"},
    [CAT_COLLECTIVES] = {"collectives", "Collectives and their algorithms"},
    [CAT_ONE_SIDED] = {"one_sided", "One-sided communication"},
    [CAT_FILES] = {"files", "Access to files"},
};

/* The members of one kind; the first `len` into indices_out, which may be NULL.  Returns how many there are. */
static int members(int category, int n, int (*category_of)(int), int len, int *indices_out)
{
    int found = 0;
    for (int i = 0; i < n; i++) {
        if (category_of(i) != category) continue;
        if (found < len && indices_out) indices_out[found] = i;
        found++;
    }
    return found;
}

static int cvars(int c, int len, int *out)
{
    int n = 0;
    tool_cvar_get_num(&n);
    return members(c, n, tool_cvar_category, len, out);
}
static int pvars(int c, int len, int *out)
{
    int n = 0;
    tool_pvar_get_num(&n);
    return members(c, n, tool_pvar_category, len, out);
}
static int events(int c, int len, int *out)
{
    int n = 0;
    tool_event_get_num(&n);
    return members(c, n, tool_event_category, len, out);
}
static int parts(int c, int len, int *out)
{
    for (int i = 1; c == CAT_ALL && i < CATEGORIES; i++)
        if (i - 1 < len && out) out[i - 1] = i;
    return c == CAT_ALL ? CATEGORIES - 1 : 0;
}

static int check(int i, int len)
{
    TOOL_READY();
    return i < 0 || i >= CATEGORIES ? GW_T_ERR_INVALID_INDEX : len < 0 ? GW_T_ERR_INVALID : 0;
}

int tool_category_get_num(int *n_out)
{
    TOOL_READY();
    if (!n_out) return GW_T_ERR_INVALID;
    *n_out = CATEGORIES;
    return 0;
}

int tool_category_get_index(const char *name, int *i_out)
{
    TOOL_READY();
    if (!name || !i_out) return GW_T_ERR_INVALID;
    for (int i = 0; i < CATEGORIES; i++) {
        if (strcmp(categories[i].name, name) != 0) continue;
        *i_out = i;
        return 0;
    }
    return GW_T_ERR_INVALID_NAME;
}

int tool_category_get_info(int i, char *name, int *name_len, char *desc, int *desc_len, int *n_cvars_out, int *n_pvars_out,
                           int *n_categories_out)
{
    int rc = check(i, 0);
    if (rc != 0) return rc;
    assert(categories[i].name && categories[i].text);
    tool_text(categories[i].name, name, name_len);
    tool_text(categories[i].text, desc, desc_len);
    tool_set(n_cvars_out, cvars(i, 0, NULL));
    tool_set(n_pvars_out, pvars(i, 0, NULL));
    tool_set(n_categories_out, parts(i, 0, NULL));
    return 0;
}

int tool_category_get_num_events(int i, int *n_out)
{
    int rc = check(i, 0);
    if (rc == 0) tool_set(n_out, events(i, 0, NULL));
    return rc;
}

int tool_category_get_cvars(int i, int len, int *indices_out)
{
    int rc = check(i, len);
    if (rc == 0) cvars(i, len, indices_out);
    return rc;
}

int tool_category_get_pvars(int i, int len, int *indices_out)
{
    int rc = check(i, len);
    if (rc == 0) pvars(i, len, indices_out);
    return rc;
}

int tool_category_get_events(int i, int len, int *indices_out)
{
    int rc = check(i, len);
    if (rc == 0) events(i, len, indices_out);
    return rc;
}

int tool_category_get_categories(int i, int len, int *indices_out)
{
    int rc = check(i, len);
    if (rc == 0) parts(i, len, indices_out);
    return rc;
}

/* The categories never change. */
int tool_category_changed(int *number_out)
{
    TOOL_READY();
    tool_set(number_out, 1);
    return 0;
}
