/* json.h -- writes JSON (RFC 8259): what the tools answer to programs.  One document to one stream, value by value, in the order
 * of the calls.
 *
 * The output is ASCII, whatever the texts hold: what is not stands as \u and four digits, and each byte that is no UTF-8 as U+FFFD.  Numbers
 * do not go by the locale; one that is not finite is null.  Every value in an object has a name, none in an array has one (NULL).
 * Nothing of libc's streams but `to` is used: the library of --profile has it, too, in programs that have set a locale.
 *
 *     gw_json_begin(&j, stdout);                    {
 *     gw_json_text(&j, "host", name);                 "host": "n1",
 *     gw_json_array(&j, "rows");                      "rows": [
 *     gw_json_row(&j, NULL);                            {"low": 1, "high": 2}
 *     gw_json_int(&j, "low", 1), ..; gw_json_close(&j);
 *     gw_json_close(&j);                              ]
 *     ok = gw_json_end(&j);                         }
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BASE_JSON_H
#define GW_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { GW_JSON_DEPTH = 16 };
struct gw_json { /* private */
    FILE *to;
    int depth;                 /* objects and arrays that are open */
    int row;                   /* from that depth on all stands on one line; 0: nothing does */
    bool has[GW_JSON_DEPTH];   /* a value, by depth */
    bool array[GW_JSON_DEPTH]; /* an array, else an object, by depth */
};

void gw_json_begin(struct gw_json *j, FILE *to); /* opens the document, an object */
bool gw_json_end(struct gw_json *j);             /* closes it, and ends its line; false: it could not be written */
void gw_json_object(struct gw_json *j, const char *name);
void gw_json_array(struct gw_json *j, const char *name);
void gw_json_row(struct gw_json *j, const char *name); /* an object on one line, with all that is in it */
void gw_json_close(struct gw_json *j);                 /* what was opened last */

void gw_json_text(struct gw_json *j, const char *name, const char *text); /* NULL: null */
void gw_json_text_n(struct gw_json *j, const char *name, const char *text, size_t bytes);
void gw_json_int(struct gw_json *j, const char *name, int64_t n);
void gw_json_thousandths(struct gw_json *j, const char *name, uint64_t n); /* n / 1000, exactly */
void gw_json_real(struct gw_json *j, const char *name, double x);          /* by the fewest digits that say the same */
void gw_json_bool(struct gw_json *j, const char *name, bool is);

#endif
