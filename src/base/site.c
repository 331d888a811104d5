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

/* Names that the files of a program with raised rights have set, each with a '=' behind it. */
static char *set_names;

bool gw_site_sets(const char *name, size_t len)
{
    for (const char *at = set_names; at && *at; at += strcspn(at, "=") + 1)
        if (strcspn(at, "=") == len && strncmp(at, name, len) == 0) return true;
    return false;
}

/* What the lines of the files have set, the last first. */
static struct source {
    struct source *next;
    char *where; /* "FILE, line N" */
    enum gw_site_word word;
    char name[];
} * sources;

const char *gw_site_source(const char *name)
{
    for (const struct source *s = sources; s; s = s->next)
        if (strcmp(s->name, name) == 0) return s->where;
    return NULL;
}

enum gw_site_word gw_site_word(const char *name)
{
    for (const struct source *s = sources; s; s = s->next)
        if (strcmp(s->name, name) == 0) return s->word;
    return GW_SITE_NOTHING;
}

static void source_keep(const char *name, const char *path, int line, bool is_forced)
{
    size_t n = strlen(name) + 1;
    struct source *s = gw_xmalloc(sizeof *s + n);
    memcpy(s->name, name, n);
    s->where = gw_xasprintf("%s, line %d", path, line);
    s->word = is_forced ? GW_SITE_FORCED : GW_SITE_DEFAULT;
    s->next = sources;
    sources = s;
}

void gw_site_free(void)
{
    free(set_names);
    set_names = NULL;
    for (struct source *s = sources, *next; s; s = next) {
        next = s->next;
        free(s->where);
        free(s);
    }
    sources = NULL;
}

static bool name_keep(const char *name)
{
    char *more = gw_xasprintf("%s%s=", set_names ? set_names : "", name);
    free(set_names);
    set_names = more;
    return true;
}

/* Does the line set it, or has it in the mpiexec that started this process?  Asked before it does. */
static bool is_its(const char *name, const char *value, bool is_forced)
{
    const char *now = getenv(name);
    return is_forced || !now || (getenv("GODWIT_BOOT") && strcmp(now, value) == 0);
}

/* Ranks and tools read the files when they begin, which is no matter for their own variables and those of libraries that MPI opens. */
static const char *too_late(const char *name)
{
    if (gw_setting_is_reserved(name)) return "is no setting: who starts a job reads it, before a site's file is";
    if (strncmp(name, "GODWIT_", 7) == 0 || gw_foreign_is_mpis(name)) return NULL; /* or asked about, as anybody's */
    return "is no variable of an MPI library or its network: a rank that begins MPI sets it if nobody has, which is too late for programs that "
           "start, and libraries that are loaded, before";
}

/* False: it is none.  Blanks around it are no part of it.  *late_out: the name of a variable that has not the effect which it has elsewhere. */
static bool site_line(char *line, const char *path, int number, bool is_raised, const char **late_out)
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
    is_forced |= is_raised && !gw_site_sets(line, strlen(line));
    if (too_late(line)) *late_out = line;
    if (is_its(line, equals + 1, is_forced)) source_keep(line, path, number, is_forced);
    return setenv(line, equals + 1, is_forced) == 0 && (!is_raised || name_keep(line));
}

void gw_site_read(const char *path, bool is_named, bool is_raised, void (*complain)(const char *fmt, ...))
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
        const char *late = NULL;
        if (!site_line(line, path, number, is_raised, &late))
            complain("%s, line %d is neither NAME=VALUE nor NAME:force=VALUE; it is left out", path, number);
        else if (late)
            complain("%s, line %d: %s %s", path, number, late, too_late(late));
    }
    free(text);
}
