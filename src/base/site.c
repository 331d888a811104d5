/* site.c -- the defaults of a site, for every setting and variable: lines of a file become environment variables.
 *
 *     # for all jobs of this machine
 *     GODWIT_NET_IFACE=hsn0
 *     MPICH_OFI_NIC_POLICY:force=NUMA
 *
 * A line sets what is not in the environment yet; with `:force` it sets it in any case.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/base_private.h"
#include "base/file.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* False: it is none.  Blanks around it are no part of it. */
static bool site_line(char *line)
{
    static const char force[] = ":force";
    line = gw_trimmed(line);
    if (!*line || *line == '#') return true;
    char *equals = strchr(line, '=');
    if (!equals) return false;
    *equals = 0;
    size_t name = strlen(line), tail = sizeof force - 1;
    bool is_forced = name > tail && strcmp(line + name - tail, force) == 0;
    if (is_forced) line[name -= tail] = 0;
    if (name == 0 || strcspn(line, " \t:") != name) return false;
    return setenv(line, equals + 1, is_forced) == 0;
}

void gw_site_read(const char *path, bool is_named, void (*complain)(const char *fmt, ...))
{
    enum { MOST = 1 << 20 };
    char *text = NULL;
    if (!is_named && access(path, F_OK) != 0 && errno == ENOENT) return;
    const char *why = gw_file_read(path, MOST, false, &text);
    if (why) {
        complain("%s cannot be read (%s): the defaults of this site are not set", path, why);
        return;
    }
    int number = 1;
    for (char *line = text, *next; line; line = next, number++) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        if (!site_line(line)) complain("%s, line %d is neither NAME=VALUE nor NAME:force=VALUE; it is left out", path, number);
    }
    free(text);
}
