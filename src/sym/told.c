/* told.c -- what OpenSHMEM prints at its start if the user asks for it (SHMEM_VERSION, _INFO, _DEBUG).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "sym/sym_private.h"

#include <stdio.h>
#include <string.h>

#include "base/plain.h"
#include "base/settings.h"

static bool is_set(const char *text) { return text && *text; }

void sym_explain(void)
{
    gw_settings_load();
    if (is_set(gw_set.shmem_debug))
        gw_log_mask |= GW_LOG_WIRE | GW_LOG_PROTO | GW_LOG_COLL | GW_LOG_BOOT | GW_LOG_TOPO | GW_LOG_WAIT;
}

/* All settings of this room are OpenSHMEM's; the first of the other names is the specification's, where there is one. */
static void print_variables(void)
{
    printf("Variables of OpenSHMEM, also with SMA_ in place of SHMEM_; the first that is set counts:\n");
    for (int i = 0; i < gw_settings_count(); i++) {
        struct gw_setting_info info;
        char value[256];
        const char *origin = NULL;
        gw_settings_get(i, &info, value, sizeof value, &origin);
        if (strcmp(info.room, "sym") != 0) continue;
        const char *name = *info.aliases ? info.aliases : info.env;
        gw_print(stdout, "  %.*s=%s", (int)strcspn(name, " "), name, value);
        if (*value && origin && strcmp(origin, "default") != 0) printf(" (from %s)", origin);
        printf("\n      %s\n", info.help);
    }
    printf("All others: godwit-info --settings, man 7 godwit-environment.\n");
}

void sym_tell(void)
{
    static bool is_told;
    if (is_told || gw_boot.rank != 0) return;
    is_told = true;
    if (is_set(gw_set.shmem_version)) printf("OpenSHMEM %d.%d (Godwit %s)\n", SYM_MAJOR, SYM_MINOR, GODWIT_VERSION);
    if (is_set(gw_set.shmem_info)) print_variables();
    fflush(stdout);
}
