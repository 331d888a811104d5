/* say.c -- see say.h.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "job/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static char said_of[96], kept[1024];
static bool keeping;
void say_as(const char *job) { snprintf(said_of, sizeof said_of, "spawned job %.64s: ", job); }
void say_keep(bool on) { keeping = on; }
const char *say_kept(void) { return kept; }

void say_line(const char *fmt, ...)
{
    char line[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    if (!keeping)
        fprintf(stderr, "mpiexec: %s%s\n", said_of, line);
    else if (!kept[0])
        memcpy(kept, line, sizeof line);
}
