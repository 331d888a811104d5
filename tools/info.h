/* info.h -- the parts of godwit-info.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TOOLS_INFO_H
#define TOOLS_INFO_H

#include <stdbool.h>

#include "base/json.h"
#include "base/settings.h"

struct info_row { /* of a setting, with what is in force */
    struct gw_setting_info info;
    char value[512];
    const char *origin;
};
struct info_row info_row_get(int i);

/* `--tuning`: the rows of GODWIT_TUNE's file that are in force on this machine, and the lines that are left out, with the reason.
 * 0, or 1 where some are wrong. */
int info_tuning_print(void);
void info_tuning_json(struct gw_json *j, const char *name);

/* `--json`: all that godwit-info knows but of networks and files.  wanted: by row, whether that setting is; NULL: all are.
 * warnings: a line each, of what is wrong with the environment.  False: it could not be written. */
bool info_json(const bool *wanted, const char *warnings);

#endif
