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
#include "base/processor.h"
#include "base/settings.h"

void gw_tuned_take(void)
{
    char *path = secure_getenv("GODWIT_TUNE") ? NULL : gw_file_tuned();
    if (path && access(path, R_OK) == 0) setenv("GODWIT_TUNE", path, 1); /* what options set comes before it */
    free(path);
}

/* "# Measured by godwit-tune, 2026-11-27, on HOST (MODEL, PROCESSOR).  Columns: .." */
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

struct counts {
    int rows, thresholds, others; /* others: both kinds for another processor than this one */
    char other[GW_PROCESSOR_TEXT];
};
static struct counts count_lines(char *text)
{
    struct gw_lines lines = {text, 0};
    struct gw_processor named, here;
    struct counts n = {0, 0, 0, ""};
    gw_processor_of(secure_getenv("GODWIT_PROCESSOR"), &here);
    for (char *line; (line = gw_line_next(&lines));) {
        enum gw_processor_column column = gw_processor_column(&line, &named);
        if (column == GW_PROCESSOR_COLUMN && !gw_processor_fits(&named, &here)) {
            if (n.others++ == 0) gw_processor_text(&named, true, n.other, sizeof n.other);
            continue;
        }
        n.rows += strchr(line, '|') != NULL;
        n.thresholds += !strchr(line, '|') && strchr(line, '=');
    }
    return n;
}

bool gw_tuned_text(char *text_out, size_t cap)
{
    enum { MOST = 1 << 20 };
    const char *path = secure_getenv("GODWIT_TUNE");
    char *text = NULL, about[512], date[32] = "";
    struct stat st;
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
    struct counts n = count_lines(text);
    int at = snprintf(text_out, cap, "%s, %s: %d row%s for collectives, %d threshold%s of messages", path, about, n.rows,
                      n.rows == 1 ? "" : "s", n.thresholds, n.thresholds == 1 ? "" : "s");
    if (n.others && at < (int)cap)
        snprintf(text_out + at, cap - (size_t)at, "; %d for another processor (%s), which do%s not count here", n.others, n.other,
                 n.others == 1 ? "es" : "");
    free(text);
    return true;
}
