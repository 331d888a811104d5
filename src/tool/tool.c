/* tool.c -- initialisation, strings, lists of handles, enumerations.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tool/tool_private.h"
#include "base/settings.h"

#include <stdio.h>

pthread_mutex_t tool_lock = PTHREAD_MUTEX_INITIALIZER;
struct tool_enum tool_algorithms = {"collective_algorithm", NULL};
static _Atomic int users;

int tool_init_thread(int required, int *provided_out)
{
    gw_settings_load();
    atomic_fetch_add(&users, 1);
    /* The mutex is always real. */
    tool_set(provided_out,
             required >= GW_THREAD_MULTIPLE         ? GW_THREAD_MULTIPLE
                 : required >= GW_THREAD_SERIALIZED ? GW_THREAD_SERIALIZED
                 : required >= GW_THREAD_FUNNELED   ? GW_THREAD_FUNNELED
                                                    : GW_THREAD_SINGLE);
    return 0;
}

int tool_finalize(void)
{
    TOOL_READY();
    int was = atomic_fetch_sub(&users, 1);
    assert(was > 0);
    (void)was;
    return 0;
}

int tool_ready(void) { return atomic_load(&users) > 0 ? 0 : GW_T_ERR_NOT_INITIALIZED; }

void tool_text(const char *text, char *out, int *len)
{
    if (!len) return;
    if (out && *len > 0) snprintf(out, (size_t)*len, "%s", text);
    *len = (int)strlen(text) + 1;
}

bool tool_is_live(const struct tool_live *list, const void *handle)
{
    while (list && list != handle) list = list->next;
    return list != NULL;
}

void tool_live_add(struct tool_live **list, struct tool_live *l)
{
    assert(!tool_is_live(*list, l));
    l->next = *list;
    *list = l;
}

void tool_live_del(struct tool_live **list, struct tool_live *l)
{
    assert(tool_is_live(*list, l));
    while (*list != l) list = &(*list)->next;
    *list = l->next;
}

/* ---- enumerations ---- */
static int enum_count(const struct tool_enum *e)
{
    int n = 1;
    if (!e->words) return coll_algorithms() + 1;
    for (const char *p = e->words; *p; p++) n += *p == ',';
    return n;
}

int tool_enum_get_info(struct tool_enum *e, int *n_out, char *name, int *name_len)
{
    TOOL_READY();
    if (!e) return GW_T_ERR_INVALID_HANDLE;
    tool_set(n_out, enum_count(e));
    tool_text(e->name, name, name_len);
    return 0;
}

int tool_enum_get_item(struct tool_enum *e, int i, int *value_out, char *name, int *name_len)
{
    char word[64] = "none";
    TOOL_READY();
    if (!e) return GW_T_ERR_INVALID_HANDLE;
    if (i < 0 || i >= enum_count(e)) return GW_T_ERR_INVALID_INDEX;
    if (e->words) {
        const char *p = e->words;
        for (int k = 0; k < i; k++) p += strcspn(p, ",") + 1;
        snprintf(word, sizeof word, "%.*s", (int)strcspn(p, ","), p);
    } else if (i > 0) {
        coll_algorithm_name(i - 1, word, sizeof word);
    }
    tool_set(value_out, i);
    tool_text(word, name, name_len);
    return 0;
}
