/* words.h -- growing lists of strings: command lines, environments.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_JOB_WORDS_H
#define GW_JOB_WORDS_H

/* NULL-terminated, as execve() takes it. */
struct words {
    char **at;
    int n;
};
void words_add(struct words *w, const char *text);
void words_free(struct words *w);
/* Of an environment: what its last NAME=VALUE says; `otherwise` where it has none, or w is NULL. */
const char *words_value(const struct words *w, const char *name, const char *otherwise);

#endif
