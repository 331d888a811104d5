/* foreign.c -- variables of other MPI libraries that no setting reads: reports why they have no effect, or which name was meant.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/foreign.h"
#include "base/base_private.h"
#include "base/settings.h"
#include "base/settings_table.h"

#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

/* Names that begin so are looked at, and one that is spelled nearly like another of its family is asked about.  `edits`: letters that may
 * differ; of libraries below us not all names are known. */
static const struct family {
    const char *begin;
    int edits;
} families[] = {
    {"MPICH_", 4},     {"MPI_GNI_", 4},   {"OMPI_MCA_", 4}, {"mtl_ofi_", 4}, {"mpi_add_", 4},
    {"pmix_base_", 4}, {"async_mpi_", 3}, {"SHMEM_", 4},    {"CXI_", 2},     {"FI_", 2},
};

int gw_foreign_count(void) { return gw_foreign_row_count; }

struct gw_foreign gw_foreign_at(int i)
{
    assert(i >= 0 && i < gw_foreign_row_count);
    const struct foreign_row *r = &gw_foreign_rows[i];
    return (struct gw_foreign){setting_text(r->name), (enum gw_foreign_kind)r->kind, setting_text(r->usual), setting_text(r->why)};
}

bool gw_foreign_find(const char *name, struct gw_foreign *out)
{
    int at = gw_setting_name_find(name, strlen(name));
    if (at < 0 || gw_setting_names[at].foreign < 0) return false;
    *out = gw_foreign_at(gw_setting_names[at].foreign);
    return true;
}

const char *gw_foreign_why(const char *name)
{
    struct gw_foreign f;
    return gw_foreign_find(name, &f) && f.kind == GW_FOREIGN_NOTHING ? f.why : NULL;
}

/* The name of the same family that is spelled most like it; the program that finds the compilers and the like have MPICH_ names, too,
 * which are near none. */
static void say_near(const char *name, const struct family *of, void (*complain)(const char *fmt, ...))
{
    enum { WORDS = 512 };
    const char *words[WORDS];
    int n = 0;
    for (int i = 0; i < gw_setting_name_count && n < WORDS; i++)
        if (strncmp(setting_text(gw_setting_names[i].name), of->begin, strlen(of->begin)) == 0)
            words[n++] = setting_text(gw_setting_names[i].name);
    const char *near = gw_nearest(name, words, n);
    if (near && gw_edits(name, near) <= of->edits) complain("%s is not a variable that is read; did you mean %s?", name, near);
}

static void say_foreign(const struct gw_foreign *f, const char *value, void (*complain)(const char *fmt, ...))
{
    if (f->kind == GW_FOREIGN_NOTED && *value)
        complain("%s=%s %s", f->name, value, f->why);
    else if (f->kind == GW_FOREIGN_NOTHING && *value && gw_word_index(f->usual, value, strlen(value)) < 0)
        complain("%s=%s is of no effect: %s", f->name, value, f->why);
}

static void look_for_near(const char *name, void (*complain)(const char *fmt, ...))
{
    for (size_t i = 0; i < GW_ARRAY_LEN(families); i++)
        if (strncmp(name, families[i].begin, strlen(families[i].begin)) == 0) {
            say_near(name, &families[i], complain);
            return;
        }
}

/* Of two that the documents want together, one: told, as this library does what is asked for all the same. */
static void say_alone(void (*complain)(const char *fmt, ...))
{
    const char *thread = getenv("MPICH_NEMESIS_ASYNC_PROGRESS"), *level = getenv("MPICH_MAX_THREAD_SAFETY");
    if (!thread || strcmp(thread, "1") != 0 || (level && strcasecmp(level, "multiple") == 0)) return;
    complain("MPICH_NEMESIS_ASYNC_PROGRESS=1 without MPICH_MAX_THREAD_SAFETY=multiple: other libraries want both; "
             "here the progress thread works at any thread level");
}

void gw_foreign_check(void (*complain)(const char *fmt, ...))
{
    say_alone(complain);
    for (char **e = environ; e && *e; e++) {
        size_t len = strcspn(*e, "=");
        int at = gw_setting_name_find(*e, len);
        if (at >= 0 && gw_setting_names[at].foreign >= 0) {
            struct gw_foreign f = gw_foreign_at(gw_setting_names[at].foreign);
            say_foreign(&f, *e + len + ((*e)[len] == '='), complain);
        } else if (at < 0) {
            char name[128];
            if (len >= sizeof name) continue;
            *(char *)mempcpy(name, *e, len) = 0;
            look_for_near(name, complain);
        }
    }
}
