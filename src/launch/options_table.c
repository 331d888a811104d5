/* options_table.c -- the table of options (options.def): finds names, prints --help.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "launch/options_private.h"

const struct option_row launch_option_rows[] = {
#define X(id, names, argument, section, where, help) {O_##id, names, argument, SECTION_##section, where, help},
#define TAKEN(names, argument, why)                  {O_TAKEN, names, argument, SECTION_TAKEN, ANYWHERE, why},
#define NOTED(names, argument, why)                  {O_NOTED, names, argument, SECTION_TAKEN, ANYWHERE, why},
#define REFUSED(names, argument, why)                {O_REFUSED, names, argument, SECTION_REFUSED, ANYWHERE, why},
#include "launch/options.def"
};
const int launch_option_row_count = GW_ARRAY_LEN(launch_option_rows);

static const struct option_alias {
    const char *names, *like; /* of not_aprun: what to use in its place */
} of_aprun[] = {
#define APRUN(names, like) {names, like},
#include "launch/options.def"
    {NULL, NULL},
};
static const struct option_alias not_aprun[] = {
#define NOT_APRUN(names, instead) {names, instead},
#include "launch/options.def"
    {NULL, NULL},
};

int launch_option_words(const struct option_row *row)
{
    const char *p = row->argument;
    if (*p == '[') return OPTIONAL;
    int n = *p != 0;
    for (; *p; p++) n += *p == ' ';
    return n;
}

static bool is_number(const struct option_row *row) { return strcmp(row->argument, "N") == 0; }

static size_t dashes(const char *name) { return name[0] != '-' ? 0 : name[1] == '-' ? 2 : 1; }

/* Does the list contain the name?  The number of dashes does not count. */
static bool has_name(const char *names, const char *name, size_t n)
{
    for (const char *p = names; *p; p += strspn(p, " ")) {
        size_t len = strcspn(p, " "), skip = dashes(p);
        if (len - skip == n && strncmp(p + skip, name, n) == 0) return true;
        p += len;
    }
    return false;
}

static const char *like_of(const struct option_alias *table, const char *name, size_t n)
{
    size_t skip = dashes(name);
    for (const struct option_alias *a = table; a->names && n > skip; a++)
        if (has_name(a->names, name + skip, n - skip)) return a->like;
    return NULL;
}

bool launch_is_aprun(void) { return strcmp(program_invocation_short_name, "aprun") == 0; }

const char *launch_option_of_aprun(const char *name, size_t n) { return like_of(of_aprun, name, n); }

const char *launch_option_not_aprun(const char *name) { return launch_is_aprun() ? like_of(not_aprun, name, strlen(name)) : NULL; }

const struct option_row *launch_option_find(const char *name, size_t n)
{
    const char *like = launch_is_aprun() ? launch_option_of_aprun(name, n) : NULL;
    if (like) {
        name = like;
        n = strlen(like);
    }
    size_t skip = dashes(name);
    if (n <= skip) return NULL;
    for (int i = 0; i < launch_option_row_count; i++)
        if (has_name(launch_option_rows[i].names, name + skip, n - skip)) return &launch_option_rows[i];
    return NULL;
}

const struct option_row *launch_option_row_of(char *word, char **value_out)
{
    size_t n = strcspn(word, "="), head = n;
    *value_out = word[n] ? word + n + 1 : NULL;
    const struct option_row *row = launch_option_find(word, n);
    if (row) return row;
    while (head > 1 && word[head - 1] >= '0' && word[head - 1] <= '9') head--;
    row = word[n] || head == n ? NULL : launch_option_find(word, head);
    *value_out = word + head;
    return row && is_number(row) ? row : NULL;
}

/* The first name that goes on where the word ends; NULL: none does. */
static const char *longer_name(const char *word, char *out, size_t cap)
{
    enum { SHORTEST = 4 };
    size_t n = strlen(word);
    for (int i = 0; i < launch_option_row_count && n >= SHORTEST; i++)
        for (const char *p = launch_option_rows[i].names; *p; p += strspn(p, " ")) {
            size_t len = strcspn(p, " "), skip = dashes(p);
            if (len > skip + n && strncmp(p + skip, word, n) == 0) {
                snprintf(out, cap, "%.*s", (int)len, p);
                return out;
            }
            p += len;
        }
    return NULL;
}

/* Names of few letters are similar to many others, so none is suggested for them, nor are they suggested. */
const char *launch_option_nearest(const char *name, char *out, size_t cap)
{
    enum { SHORTEST = 3 };
    const char *near = NULL;
    char word[64], known[64];
    snprintf(word, sizeof word, "%.*s", (int)strcspn(name + dashes(name), "="), name + dashes(name));
    int best = (int)strlen(word) / 3;
    if (best > 3) best = 3;
    for (int i = 0; i < launch_option_row_count && strlen(word) >= SHORTEST; i++)
        for (const char *p = launch_option_rows[i].names; *p; p += strspn(p, " ")) {
            size_t len = strcspn(p, " "), skip = dashes(p);
            snprintf(known, sizeof known, "%.*s", (int)(len - skip), p + skip);
            int d = len - skip < SHORTEST ? best + 1 : gw_edits(word, known);
            if (d < best || (d == best && !near)) {
                best = d;
                near = p;
                snprintf(out, cap, "%.*s", (int)len, p);
            }
            p += len;
        }
    return near ? out : longer_name(word, out, cap);
}

/* ---- help ----------------------------------------------------------------------------------------------------------------------- */
enum { COLUMN = 26, WIDTH = 118 };

static const char usage[] =
    "usage: mpiexec [options] PROGRAM [arguments] [: [options] PROGRAM [arguments]]...\n"
    "       mpiexec doctor [PROGRAM]      looks at what on this machine helps or hinders MPI jobs\n"
    "       mpiexec --stack [-v] [JOB]    prints where the ranks of a running job are: their merged stacks, by gdb or eu-stack\n"
    "\n"
    "Starts PROGRAM as the ranks of one MPI job.  Options may have one dash or two; a value follows as a word, or behind =.\n"
    "`man mpiexec` says more of each.\n";
static const char last[] = "\n"
                           "The exit status is that of the first rank that failed, 128 + the signal where one killed it.\n"
                           "SIGQUIT (Ctrl-\\) makes mpiexec say where the ranks are and why they do not go on; the job continues.\n"
                           "It says so by itself, once, when the job seems to hang for GODWIT_HANG_WARN seconds (60; 0: never).\n"
                           "More ranks than cores, root and containers need no permission.\n";

/* Prints words from `column` on, broken at WIDTH, further lines at `indent`. */
static void print_wrapped(FILE *to, const char *text, size_t n, int column, int indent)
{
    for (size_t at = 0, first = 1; at < n; first = 0) {
        size_t len = strcspn(text + at, " ");
        if (len > n - at) len = n - at;
        if (!first && column + 1 + (int)len > WIDTH) {
            fprintf(to, "\n%*s", indent, "");
            column = indent;
        } else if (!first) {
            fputc(' ', to);
            column++;
        }
        fwrite(text + at, 1, len, to);
        column += (int)len;
        at += len + (at + len < n);
    }
    fputc('\n', to);
}

static void print_row(FILE *to, const struct option_row *row)
{
    const char *end = strstr(row->help, ". ");
    char left[256];
    int n = 0;
    for (const char *p = row->names; *p; p += strspn(p, " ")) {
        int len = (int)strcspn(p, " ");
        n += snprintf(left + n, sizeof left - (size_t)n, "%s%.*s", n ? ", " : "", len, p);
        p += len;
    }
    n = fprintf(to, "  %s%s%s", left, *row->argument && *row->argument != '[' ? " " : "", row->argument);
    if (n + 2 > COLUMN) {
        fputc('\n', to);
        n = 0;
    }
    fprintf(to, "%*s", COLUMN - n, "");
    print_wrapped(to, row->help, end ? (size_t)(end - row->help) + 1 : strlen(row->help), COLUMN, COLUMN);
}

static void print_names(FILE *to, enum option_section section)
{
    char text[4096] = "";
    for (int i = 0; i < launch_option_row_count; i++)
        if (launch_option_rows[i].section == section)
            gw_text_add(text, sizeof text, "%s%s", text[0] ? " " : "", launch_option_rows[i].names);
    fputs("  ", to);
    print_wrapped(to, text, strlen(text), 2, 2);
}

void launch_option_help(FILE *to)
{
    static const char *const titles[] = {
        [SECTION_PROGRAM] = "Of each program:",
        [SECTION_JOB] = "Of the job:",
        [SECTION_HOSTS] = "Hosts:",
        [SECTION_PLACE] = "Where ranks run:",
        [SECTION_OUTPUT] = "Output:",
        [SECTION_TAKEN] = "Taken, and of no effect (the manual page says why):",
        [SECTION_REFUSED] = "Refused, with the reason:",
    };
    fputs(usage, to);
    for (int s = SECTION_PROGRAM; s <= SECTION_REFUSED; s++) {
        fprintf(to, "\n%s\n", titles[s]);
        if (s >= SECTION_TAKEN) print_names(to, (enum option_section)s);
        for (int i = 0; s < SECTION_TAKEN && i < launch_option_row_count; i++)
            if (launch_option_rows[i].section == (enum option_section)s) print_row(to, &launch_option_rows[i]);
    }
    fputs("\nCalled as aprun, a link to mpiexec:\n", to);
    for (const struct option_alias *a = of_aprun; a->names; a++) fprintf(to, "  %-24s is %s\n", a->names, a->like);
    fputs("  Of Slurm alone, and refused with what to use:\n", to);
    for (const struct option_alias *a = not_aprun; a->names; a++) fprintf(to, "  %s\n", a->names);
    fputs(last, to);
}
