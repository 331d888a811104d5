/* words.c -- see words.h.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "job/words.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"

void words_add(struct words *w, const char *text)
{
    assert(text && w->n >= 0);
    w->at = realloc(w->at, sizeof *w->at * (size_t)(w->n + 2));
    char *copy = strdup(text);
    if (!w->at || !copy) gw_die("mpiexec: no memory");
    w->at[w->n++] = copy;
    w->at[w->n] = NULL;
}

const char *words_value(const struct words *w, const char *name, const char *otherwise)
{
    size_t n = strlen(name);
    for (int i = w ? w->n : 0; i-- > 0;)
        if (strncmp(w->at[i], name, n) == 0 && w->at[i][n] == '=') return w->at[i] + n + 1;
    return otherwise;
}

void words_free(struct words *w)
{
    for (int i = 0; i < w->n; i++) free(w->at[i]);
    free(w->at);
    *w = (struct words){0};
}
