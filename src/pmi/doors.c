/* doors.c -- programs of other ABIs for which there is a door: the folder of the doors is put in front of what the ranks load from.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/base.h"
#include "base/os.h"
#include "job/words.h"
#include "pmi/foreign.h"

static const char VARIABLE[] = "LD_LIBRARY_PATH=";

/* The folder where we were installed, or those beside us in a build folder; malloc'ed, NULL: there are none. */
static char *folder_find(void)
{
    static const char *const built[] = {"src/door", "fortran"};
    char *here = gw_own_folder(), *all = gw_xasprintf("%s/../" GODWIT_LIBDIR "/godwit/doors", here);
    if (access(all, R_OK) == 0) {
        free(here);
        return all;
    }
    free(all);
    all = NULL;
    for (size_t i = 0; i < GW_ARRAY_LEN(built); i++) {
        char *longer = gw_xasprintf("%s%s%s/%s", all ? all : "", all ? ":" : "", here, built[i]);
        bool is_there = access(longer + (all ? strlen(all) + 1 : 0), R_OK) == 0;
        free(is_there ? all : longer);
        all = is_there ? longer : all;
    }
    free(here);
    return all;
}

/* The folder in front of what these words say the variable is; false: they do not say. */
static bool put_in_front(struct words *w, const char *folder)
{
    bool found = false;
    for (int i = 0; i < w->n; i++) {
        if (strncmp(w->at[i], VARIABLE, sizeof VARIABLE - 1) != 0) continue;
        char *pair = gw_xasprintf("%s%s:%s", VARIABLE, folder, w->at[i] + sizeof VARIABLE - 1);
        free(w->at[i]);
        w->at[i] = pair;
        found = true;
    }
    return found;
}

/* The setting, before settings are read: that comes when the ranks run. */
static bool are_off(const struct job *j)
{
    static const char name[] = "GODWIT_DOORS=";
    const char *value = getenv("GODWIT_DOORS");
    for (int i = 0; i < j->o.env.n; i++) /* -genv is for the ranks, and for us */
        if (strncmp(j->o.env.at[i], name, sizeof name - 1) == 0) value = j->o.env.at[i] + sizeof name - 1;
    return value && strcasecmp(value, "off") == 0;
}

bool pmi_doors_open(struct job *j)
{
    char *folder = are_off(j) ? NULL : folder_find();
    if (!folder) return false;
    for (int i = 0; i < j->o.n_apps; i++) put_in_front(&j->o.apps[i].env, folder);
    if (!put_in_front(&j->o.env, folder)) {
        const char *now = getenv("LD_LIBRARY_PATH");
        char *pair = gw_xasprintf("%s%s%s%s", VARIABLE, folder, now && *now ? ":" : "", now ? now : "");
        words_add(&j->o.env, pair);
        free(pair);
    }
    free(folder);
    return true;
}
