/* settings_table.h -- private to base: the generated tables of settings and of all variables whose names are known.
 *
 * A word of a table is a place in gw_setting_texts: pointers would have to be relocated in every process that starts.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BASE_SETTINGS_TABLE_H
#define GW_BASE_SETTINGS_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/settings_gen.h"

enum setting_kind { SETTING_BOOL, SETTING_INT, SETTING_SIZE, SETTING_STRING, SETTING_LIST, SETTING_ENUM };
struct setting_row {
    enum setting_kind kind;
    uint16_t offset; /* in struct gw_settings */
    uint16_t name, room, env;
    uint16_t default_text; /* "auto" = -1 */
    uint16_t range;        /* "lo..hi" for int and size (K/M/G allowed), allowed words for lists; may be empty */
    uint16_t choices;      /* comma-separated, for enums: the value is the index */
    uint16_t aliases;      /* space-separated environment variables of other MPIs */
    uint16_t help;
};
struct foreign_row { /* struct gw_foreign */
    int kind;
    uint16_t name, usual, why;
};
struct setting_name {
    uint16_t name;
    int16_t row;     /* of the setting that reads it; -1: none */
    uint16_t order;  /* 0: the setting's own name; an alias counts where the names before it are not set */
    int16_t foreign; /* its row; -1: none */
};
extern const char gw_setting_texts[];
extern const struct setting_row gw_setting_rows[];
extern const struct foreign_row gw_foreign_rows[];
extern const struct setting_name gw_setting_names[]; /* by name, in the order of strcmp() */
extern const uint64_t gw_setting_letters;            /* a bit, 1 << (letter & 63), for each letter that a name begins with */
extern const int gw_setting_row_count, gw_foreign_row_count, gw_setting_name_count;

static inline const char *setting_text(uint16_t place) { return gw_setting_texts + place; }

/* Of a name, `len` characters long: the first of its rows in gw_setting_names (a name may be an alias of two settings), -1: it is in none. */
int gw_setting_name_find(const char *name, size_t len);

#endif
