/* hints.c -- the hints of a communicator (MPI 4.1 section 7.4.4).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "comm/comm_private.h"
#include "base/settings.h"

static const struct {
    const char *key;
    uint8_t bit;
    const char *yes, *no;
} hints[] = {
    {"mpi_assert_no_any_tag", COMM_NO_ANY_TAG, "true", "false"},
    {"mpi_assert_no_any_source", COMM_NO_ANY_SOURCE, "true", "false"},
    {"mpi_assert_exact_length", COMM_EXACT_LENGTH, "true", "false"},
    {"mpi_assert_allow_overtaking", COMM_ALLOW_OVERTAKING, "true", "false"},
    {"mpi_assert_strict_persistent_collective_ordering", COMM_STRICT_PERSISTENT_ORDER, "true", "false"},
    {"mpi_assert_strict_start_ordering", COMM_STRICT_START_ORDER, "true", "false"},
};

/* Values of the key, by the setting; each includes those before it. */
static const struct {
    const char *word;
    uint8_t bits;
} reproducible[] = {
    [GW_SET_REPRODUCIBLE_OFF] = {"off", 0},
    [GW_SET_REPRODUCIBLE_PLACEMENT] = {"placement", COMM_REPRODUCIBLE},
    [GW_SET_REPRODUCIBLE_ANY] = {"any", COMM_REPRODUCIBLE | COMM_REPRODUCIBLE_ANY},
};

static void reproducible_set(struct gw_comm *c, const char *value)
{
    for (size_t i = 0; value && i < GW_ARRAY_LEN(reproducible); i++)
        if (strcmp(value, reproducible[i].word) == 0)
            c->hints = (uint8_t)((c->hints & ~(COMM_REPRODUCIBLE | COMM_REPRODUCIBLE_ANY)) | reproducible[i].bits);
}
static const char *reproducible_word(const struct gw_comm *c)
{
    size_t i = GW_ARRAY_LEN(reproducible) - 1;
    uint8_t bits = c->hints | reproducible[gw_set.reproducible].bits;
    while (reproducible[i].bits & ~bits) i--;
    return reproducible[i].word;
}

int comm_set_info(struct gw_comm *c, struct gw_info *info)
{
    char text[GW_INFO_WORD];
    for (size_t i = 0; i < GW_ARRAY_LEN(hints); i++) {
        const char *value = gw_info_find_word(info, hints[i].key, text);
        if (!value) continue;
        if (strcmp(value, hints[i].yes) == 0) c->hints |= hints[i].bit;
        if (strcmp(value, hints[i].no) == 0) c->hints &= (uint8_t)~hints[i].bit;
    }
    reproducible_set(c, gw_info_find_word(info, "reproducible", text));
    return GW_OK;
}

int comm_get_info(struct gw_comm *c, struct gw_info **info_out)
{
    struct gw_info *info;
    int rc = gw_info_create(&info);
    if (rc != GW_OK) return rc;
    for (size_t i = 0; i < GW_ARRAY_LEN(hints) && rc == GW_OK; i++)
        rc = gw_info_set(info, hints[i].key, c->hints & hints[i].bit ? hints[i].yes : hints[i].no);
    if (rc == GW_OK) rc = gw_info_set(info, "reproducible", reproducible_word(c));
    if (rc == GW_OK) rc = gw_info_set(info, "mpi_memory_alloc_kinds", GW_MEMORY_KINDS);
    if (rc == GW_OK)
        *info_out = info;
    else
        gw_info_free(&info);
    return rc;
}
