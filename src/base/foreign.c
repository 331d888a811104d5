/* foreign.c -- variables of HPE's and Cray's MPI in the environment that no setting reads: said, and why, or which name was meant.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/base_private.h"
#include "base/settings_table.h"

#include <stdio.h>
#include <unistd.h>

static const struct foreign {
    const char *name;
    const char *usual; /* with commas: values that ask for nothing else than what is so */
    const char *why;
} foreign[] = {
#define X(name, usual, why) {#name, usual, why},
#include "base/foreign.def"
#undef X
};

static const struct foreign *foreign_find(const char *name)
{
    for (size_t i = 0; i < GW_ARRAY_LEN(foreign); i++)
        if (strcmp(foreign[i].name, name) == 0) return &foreign[i];
    return NULL;
}

const char *gw_foreign_why(const char *name)
{
    const struct foreign *f = foreign_find(name);
    return f ? f->why : NULL;
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

/* The name that is spelled most like it; the program that finds the compilers and the like have MPICH_ names, too, which are near none. */
static void say_near(const char *name, void (*complain)(const char *fmt, ...))
{
    enum { WORDS = 512 };
    static char text[16 << 10];
    const char *words[WORDS];
    int n = 0;
    size_t used = 0;
    for (size_t i = 0; i < GW_ARRAY_LEN(foreign); i++) words[n++] = foreign[i].name;
    for (int i = 0; i < gw_setting_row_count; i++)
        for (const char *p = gw_setting_rows[i].aliases; *p; p += strspn(p, " ")) {
            size_t len = strcspn(p, " ");
            if (n < WORDS && used + len + 1 <= sizeof text) {
                words[n++] = memcpy(text + used, p, len);
                text[used + len] = 0;
                used += len + 1;
            }
            p += len;
        }
    const char *near = gw_nearest(name, words, n);
    if (near) complain("%s is not a variable that is read; did you mean %s?", name, near);
}

void gw_foreign_check(void (*complain)(const char *fmt, ...))
{
    for (char **e = environ; e && *e; e++) {
        if (strncmp(*e, "MPICH_", 6) != 0) continue;
        char name[128];
        size_t len = strcspn(*e, "=");
        const char *value = *e + len + ((*e)[len] == '=');
        snprintf(name, sizeof name, "%.*s", (int)len, *e);
        if (is_read(name)) continue;
        const struct foreign *f = foreign_find(name);
        if (!f)
            say_near(name, complain);
        else if (*value && gw_word_index(f->usual, value, strlen(value)) < 0)
            complain("%s=%s is of no effect: %s", name, value, f->why);
    }
}
