/* tuned.c -- which file of godwit-tune acts, and what its head says of itself: for mpiexec, doctor, godwit-info and godwit-choices.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/settings_table.h"
#include "base/base_private.h"

#include <ctype.h>
#include <stdio.h>
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

int gw_tuned_setting(char *line, const struct gw_processor *here, char **value_out, char *why_out, size_t cap)
{
    static const char *const tuned[] = {"GODWIT_EAGER_MAX", "GODWIT_CMA_MIN",       "GODWIT_CMA_SURE",
                                        "GODWIT_HELP_MIN",  "GODWIT_NET_EAGER_MAX", "GODWIT_NET_GET_MAX"};
    struct gw_processor named;
    char *from = line;
    enum gw_processor_column column = gw_processor_column(&line, &named);
    char *value = strchr(line, '=');
    bool is_known = false;
    if (column == GW_PROCESSOR_COLUMN && !gw_processor_fits(&named, here)) return GW_TUNED_OTHER;
    if (!value || strchr(line, '|')) return GW_TUNED_NOTHING; /* the rows of tables are coll/'s */
    if (column == GW_PROCESSOR_BAD_COLUMN) return snprintf(why_out, cap, "its first column is no processor"), GW_TUNED_WRONG;
    *value++ = 0;
    for (size_t i = 0; i < GW_ARRAY_LEN(tuned); i++) is_known |= strcmp(line, tuned[i]) == 0;
    int at = is_known ? gw_setting_name_find(line, strlen(line)) : -1;
    if (at < 0) return snprintf(why_out, cap, "'%.40s' is nothing that such a file sets", line), GW_TUNED_WRONG;
    if (!gw_setting_fits(gw_setting_names[at].row, line, value, why_out, cap)) return GW_TUNED_WRONG;
    memmove(from, line, strlen(line) + 1);
    *value_out = value;
    return at;
}

struct counts {
    int rows, thresholds, others; /* others: both kinds for another processor than this one */
    int wrong, first_wrong;       /* lines that are left out, and the number of the first */
    char other[GW_PROCESSOR_TEXT];
};

/* A variable sets what this name of a setting does. */
static bool is_in_environment(int row)
{
    for (int i = 0; i < gw_setting_name_count; i++)
        if (gw_setting_names[i].row == row && secure_getenv(setting_text(gw_setting_names[i].name))) return true;
    return false;
}

static void note_other(char *line, struct counts *n)
{
    struct gw_processor named;
    if (n->others++ == 0 && gw_processor_column(&line, &named) == GW_PROCESSOR_COLUMN)
        gw_processor_text(&named, true, n->other, sizeof n->other);
}

static bool is_size(const char *text)
{
    int64_t v;
    return strcmp(text, "-") == 0 || (isdigit((unsigned char)*text) && gw_number_read(text, true, &v));
}

/* A row for a collective, as far as its columns tell: coll/tuned_line.c knows the names, and says more of what is wrong. */
static bool is_row(char *line)
{
    enum { MOST = 6 };
    struct gw_processor named;
    char *cell[MOST + 1];
    int n = 0, low, high;
    if (gw_processor_column(&line, &named) == GW_PROCESSOR_BAD_COLUMN) return false;
    for (char *at = line; at && n <= MOST; n++) {
        cell[n] = at;
        at = strchr(at, '|');
        if (at) *at++ = 0;
        cell[n] = gw_trimmed(cell[n]);
    }
    return (n == 5 || n == 6) && gw_span_read(cell[1], &low, &high) && (n == 5 || gw_span_read(cell[2], &low, &high)) &&
        is_size(cell[n - 3]) && is_size(cell[n - 1]);
}

static struct counts count_lines(char *text)
{
    enum { MOST = 64 }; /* settings that such a file can set are fewer */
    struct gw_lines lines = {text, 0};
    struct gw_processor here;
    struct counts n = {.other = ""};
    int taken[MOST], n_taken = 0;
    if (!gw_processor_of(secure_getenv("GODWIT_PROCESSOR"), &here)) gw_processor_here(&here);
    for (char *line; (line = gw_line_next(&lines));) {
        char *value, why[512];
        bool is_again = false;
        int at = gw_tuned_setting(line, &here, &value, why, sizeof why);
        for (int i = 0; at >= 0 && i < n_taken; i++) is_again |= taken[i] == at;
        if (at == GW_TUNED_OTHER) note_other(line, &n);
        bool is_table = at == GW_TUNED_NOTHING && is_row(line);
        n.rows += is_table;
        if ((at == GW_TUNED_WRONG || is_again || (at == GW_TUNED_NOTHING && !is_table)) && n.wrong++ == 0)
            n.first_wrong = lines.number;
        if (at < 0 || is_again || n_taken == MOST) continue;
        taken[n_taken++] = at;
        n.thresholds += !is_in_environment(gw_setting_names[at].row);
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
    if (text && !*text) why = "it is empty";
    if (why) {
        snprintf(text_out, cap, "%s cannot be read (%s): what is built in decides", path, why);
        free(text);
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
    at = (int)strlen(text_out);
    if (n.wrong && at < (int)cap)
        snprintf(text_out + at, cap - (size_t)at, "; %d line%s that %s wrong (%sline %d) %s left out", n.wrong,
                 n.wrong == 1 ? "" : "s", n.wrong == 1 ? "is" : "are", n.wrong == 1 ? "" : "the first: ", n.first_wrong,
                 n.wrong == 1 ? "is" : "are");
    free(text);
    return true;
}
