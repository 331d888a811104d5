/* meant.c -- what a first word was meant for that is no program: options without their dash, with the dash of a text, without the blank or with
 * one too many; values of options; names of files.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doctor/doctor.h"
#include "job/program.h"
#include "launch/options_private.h"

/* Dashes as word processors and web pages have them in place of "-": U+2010 to U+2015, and the sign of subtraction. */
static bool is_text_dash(const char *word)
{
    const unsigned char *b = (const unsigned char *)word;
    return b[0] == 0xe2 && ((b[1] == 0x80 && b[2] >= 0x90 && b[2] <= 0x95) || (b[1] == 0x88 && b[2] == 0x92));
}

/* "n", "np=2": an option of mpiexec without its dash. */
static const char *option_of(const char *word)
{
    static char text[64];
    size_t n = strcspn(word, "=");
    if (!isalpha((unsigned char)word[0]) || n > 32 || !launch_option_find(word, n)) return NULL;
    snprintf(text, sizeof text, " (was the option %s%.*s meant?)", n > 2 ? "--" : "-", (int)n, word);
    return text;
}

static bool is_assignment(const char *word)
{
    size_t n = 0;
    while (isalnum((unsigned char)word[n]) || word[n] == '_') n++;
    return n > 0 && word[n] == '=' && !isdigit((unsigned char)word[0]);
}

/* "./a.out 100": is what stands before the blank a program? */
static bool is_command(const char *word, const char *wdir)
{
    size_t n = strcspn(word, " ");
    char *name = word[n] && n > 0 ? gw_xasprintf("%.*s", (int)n, word) : NULL, *path = name ? program_find(name, wdir) : NULL;
    bool is = path && access(path, X_OK) == 0;
    free(name);
    free(path);
    return is;
}

/* "4", "4x", "4.0", "+4", "n4", "np4" before a program: a number of ranks without its option, or with a typo. */
static const char *number_of(const struct launch_app *a)
{
    static char text[64];
    const char *word = a->argv[0], *next = a->argv[1];
    size_t before = strcspn(word, "0123456789"), digits = strspn(word + before, "0123456789"),
           after = strlen(word) - before - digits;
    bool is_option = (word[0] == 'n' || word[0] == 'N') && launch_option_find(word, before),
         is_sign = before == 1 && strchr("+=:,#x", word[0]);
    if (!next || !digits || (before && !is_option && !is_sign)) return NULL;
    if (!before && !after) return " (was -n meant, before the number?)";
    char *path = next[0] == '-' ? NULL : program_find(next, a->wdir);
    bool is_before = next[0] == '-' || (path && program_may_run(path));
    free(path);
    if (!is_before) return NULL;
    if (after || digits > 9) return " (was -n meant, and a number?)";
    const char *dashes = before > 2 ? "--" : "-", *option = is_option ? word : "n";
    snprintf(text, sizeof text, " (was %s%.*s %.*s meant?)", dashes, is_option ? (int)before : 1, option, (int)digits,
             word + before);
    return text;
}

/* Of a word that no file has as its name. */
static const char *missing(const struct launch_app *a)
{
    const char *word = a->argv[0], *option;
    if (!word[0]) return " (an empty word, as of a variable that is not set)";
    if (strcmp(word, "-") == 0) return " (between a dash and its option is no blank)";
    if (is_text_dash(word)) return " (the dash is that of a text; options have a -, as the keyboard has it)";
    if (doctor_meant(word)) return " (did you mean the command `mpiexec doctor`?)";
    if ((option = option_of(word))) return option;
    if (is_assignment(word)) return " (was a variable meant? -x NAME=VALUE, for each of them)";
    if (is_command(word, a->wdir)) return " (are program and arguments in one word? leave out the quotes around them)";
    return "";
}

const char *launch_meant(const struct job *j, const struct launch_app *a, int why)
{
    struct stat st;
    const char *word = a->argv[0];
    size_t len = strlen(word);
    bool is_missing = why == ENOENT, is_there = !a->wdir && stat(word, &st) == 0, is_folder = is_there && S_ISDIR(st.st_mode);
    bool is_recorded = j->o.wrapper && strcmp(j->o.wrapper->option, "--profile") != 0;
    const char *number = is_missing ? number_of(a) : NULL;
    if (number) return number;
    if (is_missing && a->argv[1] && len > 5 && strcmp(word + len - 5, ".html") == 0)
        return " (was --profile=FILE meant, in one word?)";
    if ((is_missing || is_folder) && a->argv[1] && is_recorded)
        return strcmp(j->o.wrapper->option, "--record") == 0 ? " (was --record=FOLDER meant, in one word?)"
                                                             : " (was --replay=FOLDER meant, in one word?)";
    if (is_folder) return ": it is a folder";
    if (is_missing && is_there && S_ISREG(st.st_mode) && !strchr(word, '/')) /* mpiexec has left it out (options.c) */
        return access(word, X_OK) == 0 ? " (one lies in this folder, which another user may have put there: say ./ before its name)"
                                       : " (one lies in this folder, but is not executable: chmod +x)";
    if (is_missing) return missing(a);
    return why == EACCES ? " (is it executable? chmod +x)"
        : why == ENOEXEC ? " (not a program of this machine, or a script without #!)"
                         : "";
}
