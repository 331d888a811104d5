/* progress.h -- says on standard error how far long work is: one line that renews itself on a terminal, a line every ten seconds elsewhere.
 *
 *     struct gw_progress p;
 *     gw_progress_begin(&p, o.quiet);
 *     for (..) gw_progress_at(&p, "godwit-tune: %d of %d: %s", i, n, name);
 *     gw_progress_end(&p);
 *
 * What is done within the first second, or ten, says nothing.  One thread.  Signals and others' output are not looked at: before the caller
 * prints something else it calls gw_progress_clear().
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BASE_PROGRESS_H
#define GW_BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

struct gw_progress {
    int fd; /* -1: nothing is said */
    bool is_terminal, is_shown;
    uint64_t due_ns; /* when the next line is due; a test sets it to 0 */
};

void gw_progress_begin(struct gw_progress *p, bool is_quiet);
/* Costs a look at the clock while no line is due.  The text has no end of line. */
void gw_progress_at(struct gw_progress *p, const char *fmt, ...) GW_PRINTF(2, 3);
void gw_progress_clear(struct gw_progress *p); /* removes the line of a terminal; the next call shows one again */
void gw_progress_end(struct gw_progress *p);

#endif
