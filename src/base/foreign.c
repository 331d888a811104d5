/* foreign.c -- variables of other MPI libraries in the environment that no setting reads: said, and why, or which name was meant.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/foreign.h"
#include "base/base_private.h"
#include "base/settings.h"
#include "base/settings_table.h"

#include <stdio.h>
#include <unistd.h>

static const struct gw_foreign foreign[] = {
#define X(name, usual, why)   {#name, GW_FOREIGN_NOTHING, usual, why},
#define MCA(name, usual, why) X(name, usual, why) X(OMPI_MCA_##name, usual, why)
#define OTHERS(name, why)     {#name, GW_FOREIGN_OTHERS, "", why},
#define NOTED(name, why)      {#name, GW_FOREIGN_NOTED, "", why},
#include "base/foreign.def"
#undef X
#undef MCA
#undef OTHERS
#undef NOTED
};

/* Names that begin so are looked at, and one that is spelled nearly like another of its family is asked about.  `edits`: letters that may
 * differ; of libraries below us not all names are known. */
static const struct family {
    const char *begin;
    int edits;
} families[] = {
    {"MPICH_", 4}, {"MPI_GNI_", 4}, {"OMPI_MCA_", 4}, {"mtl_ofi_", 4}, {"SHMEM_", 4}, {"CXI_", 2}, {"FI_", 2},
};

int gw_foreign_count(void) { return (int)GW_ARRAY_LEN(foreign); }
const struct gw_foreign *gw_foreign_at(int i) { return &foreign[i]; }

const struct gw_foreign *gw_foreign_find(const char *name)
{
    for (size_t i = 0; i < GW_ARRAY_LEN(foreign); i++)
        if (foreign[i].name[0] == name[0] && strcmp(foreign[i].name, name) == 0) return &foreign[i];
    return NULL;
}

const char *gw_foreign_why(const char *name)
{
    const struct gw_foreign *f = gw_foreign_find(name);
    return f && f->kind == GW_FOREIGN_NOTHING ? f->why : NULL;
}

static bool is_read(const char *name)
{
    size_t len = strlen(name);
    for (int i = 0; i < gw_setting_row_count; i++)
        for (const char *p = gw_setting_rows[i].aliases; *p; p += strspn(p, " ")) {
            size_t n = strcspn(p, " ");
            if (n == len && strncmp(p, name, n) == 0) return true;
            p += n;
        }
    return false;
}

/* The name of the same family that is spelled most like it; the program that finds the compilers and the like have MPICH_ names, too,
 * which are near none. */
static void say_near(const char *name, const struct family *of, void (*complain)(const char *fmt, ...))
{
    enum { WORDS = 512 };
    static char text[16 << 10];
    const char *words[WORDS];
    size_t used = 0, begin = strlen(of->begin);
    int n = 0;
    for (size_t i = 0; i < GW_ARRAY_LEN(foreign) && n < WORDS; i++)
        if (strncmp(foreign[i].name, of->begin, begin) == 0) words[n++] = foreign[i].name;
    for (int i = 0; i < gw_setting_row_count; i++)
        for (const char *p = gw_setting_rows[i].aliases; *p; p += strspn(p, " ")) {
            size_t len = strcspn(p, " ");
            if (n < WORDS && used + len + 1 <= sizeof text && strncmp(p, of->begin, begin) == 0) {
                words[n++] = memcpy(text + used, p, len);
                text[used + len] = 0;
                used += len + 1;
            }
            p += len;
        }
    const char *near = gw_nearest(name, words, n);
    if (near && gw_edits(name, near) <= of->edits) complain("%s is not a variable that is read; did you mean %s?", name, near);
}

/* Letters that names begin with: a bit each, capital or small. */
static uint32_t letter(const char *name) { return 1u << (*name & 31); }
static uint32_t first_letters(void)
{
    uint32_t all = 0;
    for (size_t i = 0; i < GW_ARRAY_LEN(foreign); i++) all |= letter(foreign[i].name);
    for (size_t i = 0; i < GW_ARRAY_LEN(families); i++) all |= letter(families[i].begin);
    return all;
}

void gw_foreign_check(void (*complain)(const char *fmt, ...))
{
    const uint32_t firsts = first_letters();
    for (char **e = environ; e && *e; e++) {
        if (!(firsts & letter(*e))) continue; /* each rank looks at all of them as it starts */
        char name[128];
        size_t len = strcspn(*e, "=");
        const char *value = *e + len + ((*e)[len] == '=');
        if (len >= sizeof name) continue;
        snprintf(name, sizeof name, "%.*s", (int)len, *e);
        const struct gw_foreign *f = gw_foreign_find(name);
        if (f && f->kind == GW_FOREIGN_NOTED && *value)
            complain("%s=%s %s", name, value, f->why);
        else if (f && f->kind == GW_FOREIGN_NOTHING && *value && gw_word_index(f->usual, value, strlen(value)) < 0)
            complain("%s=%s is of no effect: %s", name, value, f->why);
        for (size_t i = 0; !f && i < GW_ARRAY_LEN(families); i++)
            if (strncmp(name, families[i].begin, strlen(families[i].begin)) == 0 && !is_read(name)) {
                say_near(name, &families[i], complain);
                break;
            }
    }
}
