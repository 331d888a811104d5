/* tuned.c -- which file of godwit-tune acts, and what its head says of itself: for mpiexec, doctor, godwit-info and godwit-choices.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/settings.h"

void gw_tuned_take(void)
{
    char *path = secure_getenv("GODWIT_TUNE") ? NULL : gw_file_tuned();
    if (path && access(path, R_OK) == 0) setenv("GODWIT_TUNE", path, 1); /* what options set comes before it */
    free(path);
}

/* "# Measured by godwit-tune, 2026-11-27, on HOST (PROCESSOR).  Columns: .." */
static bool head_of(const char *text, char *to, size_t cap)
{
    static const char head[] = "# Measured by godwit-tune, ";
    const char *at = strstr(text, head), *end;
    if (!at || (at != text && at[-1] != '\n')) return false;
    at += strlen(head);
    end = strstr(at, ".  Columns");
    size_t line = strcspn(at, "\n");
    snprintf(to, cap, "measured %.*s", (int)(end && (size_t)(end - at) < line ? (size_t)(end - at) : line), at);
    return true;
}

static void count_lines(char *text, int *rows_out, int *thresholds_out)
{
    struct gw_lines lines = {text, 0};
    *rows_out = *thresholds_out = 0;
    for (char *line; (line = gw_line_next(&lines));) {
        *rows_out += strchr(line, '|') != NULL;
        *thresholds_out += !strchr(line, '|') && strchr(line, '=');
    }
}

bool gw_tuned_text(char *text_out, size_t cap)
{
    enum { MOST = 1 << 20 };
    const char *path = secure_getenv("GODWIT_TUNE");
    char *text = NULL, about[256], date[32] = "";
    struct stat st;
    int rows, thresholds;
    if (!path || !*path) return false;
    const char *why = gw_file_read(path, MOST, false, &text);
    if (why) {
        snprintf(text_out, cap, "%s cannot be read (%s): what is built in decides", path, why);
        return true;
    }
    if (!head_of(text, about, sizeof about)) {
        if (stat(path, &st) == 0) strftime(date, sizeof date, ", of %Y-%m-%d", localtime(&st.st_mtime));
        snprintf(about, sizeof about, "not by godwit-tune%s", date);
    }
    count_lines(text, &rows, &thresholds);
    snprintf(text_out, cap, "%s, %s: %d row%s for collectives, %d threshold%s of messages", path, about, rows, rows == 1 ? "" : "s",
             thresholds, thresholds == 1 ? "" : "s");
    free(text);
    return true;
}
