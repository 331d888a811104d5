/* plain.h -- what others have written (names of files, programs, communicators, hosts; words of a command; values of variables) as it may be
 * shown on a terminal: control characters, what turns the direction of writing, and bytes that are no UTF-8 become \xNN.
 *
 * Messages need no care of their callers: gw_fail(), gw_warn(), gw_note(), gw_die(), gw_explain(), say_line() and gw_print() make their arguments
 * plain, each on its line.  So a text of several lines is printed line by line, never as an argument.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BASE_PLAIN_H
#define GW_BASE_PLAIN_H

#include <stdio.h>

#include "base/base.h"

enum { GW_PLAIN_WORD = 1 }; /* a backslash and all that is not ASCII become \xNN, too: nothing reads as something else */
char *gw_plain(char *out, size_t cap, const char *text, unsigned how); /* answers out; what has no room is left out */
char *gw_plain_copy(const char *text, unsigned how);                   /* the caller frees it */

/* As vsnprintf(), of arguments made plain: ends of lines and tabs are those of the format.  They answer the length of what stands in out. */
size_t gw_plain_vformat(char *out, size_t cap, const char *fmt, va_list args) GW_PRINTF(3, 0);
size_t gw_plain_format(char *out, size_t cap, const char *fmt, ...) GW_PRINTF(3, 4);
/* The same in place of fprintf(); negative: it could not be written. */
int gw_vprint(FILE *to, const char *fmt, va_list args) GW_PRINTF(2, 0);
int gw_print(FILE *to, const char *fmt, ...) GW_PRINTF(2, 3);

bool gw_is_shell_word(const char *text); /* it can stand in a command as it is: letters, digits and /._-+:,@%=, and no option */
char *gw_shell_quoted(const char *text); /* as a shell reads it, whatever it is, and plain; the caller frees it */

#endif
