/* say.c -- see say.h.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "job/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/plain.h"

static struct {
    char of[96];     /* what lines begin with: the spawned job */
    bool is_keeping; /* lines are not printed; the first one is kept */
    char kept[1024];
    void (*take)(const char *line); /* NULL: they are printed */
} said;

void say_as(const char *job) { gw_plain_format(said.of, sizeof said.of, "spawned job %.64s: ", job); }
void say_keep(bool on) { said.is_keeping = on; }
const char *say_kept(void) { return said.kept; }
void say_to(void (*take)(const char *line)) { said.take = take; }

void say_line(const char *fmt, ...)
{
    char line[sizeof said.kept];
    va_list ap;
    va_start(ap, fmt);
    gw_plain_vformat(line, sizeof line, fmt, ap);
    va_end(ap);
    if (said.take)
        said.take(line);
    else if (!said.is_keeping)
        fprintf(stderr, "mpiexec: %s%s\n", said.of, line);
    else if (!said.kept[0])
        memcpy(said.kept, line, sizeof line);
}
