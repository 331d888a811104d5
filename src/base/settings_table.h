/* settings_table.h -- private to base: the shape of one generated settings row.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BASE_SETTINGS_TABLE_H
#define GW_BASE_SETTINGS_TABLE_H

#include <stddef.h>

#include "base/settings_gen.h"

enum setting_kind { SETTING_BOOL, SETTING_INT, SETTING_SIZE, SETTING_STRING, SETTING_LIST, SETTING_ENUM };
struct setting_row {
    const char *name, *room, *env;
    enum setting_kind kind;
    size_t offset;            /* in struct gw_settings */
    const char *default_text; /* "auto" = -1 */
    const char *range;        /* "lo..hi" for int and size (K/M/G allowed), allowed words for lists; may be empty */
    const char *choices;      /* comma-separated, for enums: the value is the index */
    const char *aliases;      /* space-separated environment variables of other MPIs */
    const char *help;
};
extern const struct setting_row gw_setting_rows[];
extern const int gw_setting_row_count;

#endif
