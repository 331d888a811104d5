/* hints.c -- the info keys of windows (MPI 4.1 section 12.2.1).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "rma/rma_private.h"

#include <stdio.h>

enum { BOOLEAN, WORDS };
static const struct {
    const char *key, *value;
    int kind;
} hints[RMA_HINTS] = {
    {"no_locks", "false", BOOLEAN},
    {"accumulate_ordering", "rar,raw,war,waw", WORDS}, /* always kept: requests reach a target in order */
    {"accumulate_ops", "same_op_no_op", WORDS},
    {"mpi_accumulate_granularity", "0", WORDS},
    {"same_size", "false", BOOLEAN},
    {"same_disp_unit", "false", BOOLEAN},
    {"alloc_shared_noncontig", "false", BOOLEAN},
};

void rma_hints_default(struct rma_win *w)
{
    for (int i = 0; i < RMA_HINTS; i++) snprintf(w->hints[i], RMA_HINT_MAX, "%s", hints[i].value);
}

bool rma_hint_is_true(struct rma_win *w, const char *key)
{
    for (int i = 0; i < RMA_HINTS; i++)
        if (strcmp(key, hints[i].key) == 0) return strcmp(w->hints[i], "true") == 0;
    return false;
}

bool rma_no_locks(struct rma_win *w) { return rma_hint_is_true(w, "no_locks"); }

int rma_win_set_info(struct rma_win *w, struct gw_info *info)
{
    for (int i = 0; i < RMA_HINTS; i++) {
        char text[GW_INFO_WORD];
        const char *value = gw_info_find_word(info, hints[i].key, text);
        if (!value || strlen(value) >= RMA_HINT_MAX) continue;
        if (hints[i].kind == BOOLEAN && strcmp(value, "true") != 0 && strcmp(value, "false") != 0) continue;
        strcpy(w->hints[i], value);
    }
    rma_service_look(w); /* that somebody may lock it is news */
    return GW_OK;
}

int rma_win_get_info(struct rma_win *w, struct gw_info **info_out)
{
    struct gw_info *info;
    int rc = gw_info_create(&info);
    if (rc != GW_OK) return rc;
    for (int i = 0; i < RMA_HINTS && rc == GW_OK; i++) rc = gw_info_set(info, hints[i].key, w->hints[i]);
    if (rc == GW_OK) rc = gw_info_set(info, "mpi_memory_alloc_kinds", GW_MEMORY_KINDS);
    if (rc == GW_OK)
        *info_out = info;
    else
        gw_info_free(&info);
    return rc;
}
