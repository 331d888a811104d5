/* shape.c -- the options of mpiexec that godwit-tune is given: looked at before a job is started.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tune.h"
#include "base/base.h"
#include "base/plain.h"
#include "job/job.h"
#include "launch/options_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_RANKS = 2 }; /* one has nothing to choose */

static bool is_count(const char *text)
{
    char *end;
    errno = 0;
    long n = strtol(text, &end, 10);
    return end != text && !*end && !errno && n >= LEAST_RANKS && n <= MAX_RANKS;
}

static bool say_unknown(const char *word)
{
    char near[64];
    if (word[0] != '-')
        gw_print(stderr, "godwit-tune: '%s' is no option: those of mpiexec (-n 4, --vnodes 2) are taken, but no program\n", word);
    else if (launch_option_nearest(word, near, sizeof near))
        gw_print(stderr, "godwit-tune: there is no option %s; did you mean %s?\n", word, near);
    else
        gw_print(stderr, "godwit-tune: there is no option %s, here or in mpiexec (`mpiexec --help` lists those)\n", word);
    return false;
}

bool tune_shape_is_good(char *const *words, int n)
{
    for (int i = 0; i < n; i++) {
        char *value;
        const struct option_row *row = words[i][0] == '-' ? launch_option_row_of(words[i], &value) : NULL;
        if (!row) return say_unknown(words[i]);
        int behind = value || launch_option_words(row) == OPTIONAL ? 0 : launch_option_words(row);
        int len = (int)(value ? strcspn(words[i], "=0123456789") : strlen(words[i]));
        if (row->is == O_N && (value || i + 1 < n) && !is_count(value ? value : words[i + 1])) {
            gw_print(stderr, "godwit-tune: %.*s wants a number of ranks from %d to %d, not '%s'\n", len, words[i], LEAST_RANKS,
                     MAX_RANKS, value ? value : words[i + 1]);
            return false;
        }
        if (i + behind >= n) {
            gw_print(stderr, "godwit-tune: %s wants %s behind it\n", words[i],
                     row->is == O_N ? "a number of ranks" : row->argument);
            return false;
        }
        i += behind;
    }
    return true;
}
