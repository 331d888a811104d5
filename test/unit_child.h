/* unit_child.h -- for unit tests: a function in a process of its own, for what may be done once in a process, or ends it.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TEST_UNIT_CHILD_H
#define GW_TEST_UNIT_CHILD_H

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

static char said[4096];
/* Runs fn in a child; its exit status (99: a check of its own failed), and what it said on stderr in `said`. */
static inline int in_child(int (*fn)(void))
{
    int fds[2], status = -1;
    CHECK_EQ(pipe(fds), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(fds[1], 2);
        close(fds[0]);
        close(fds[1]);
        int failures = unit_failures;
        int rc = fn();
        _exit(unit_failures > failures ? 99 : rc);
    }
    close(fds[1]);
    size_t n = 0;
    ssize_t r;
    while ((r = read(fds[0], said + n, sizeof said - 1 - n)) > 0) n += (size_t)r;
    said[n] = 0;
    close(fds[0]);
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define EXPECT_CHILD(fn, status, words)                                                                                            \
    do {                                                                                                                           \
        CHECK_EQ(in_child(fn), status);                                                                                            \
        if (!strstr(said, words)) {                                                                                                \
            unit_failures++;                                                                                                       \
            fprintf(stderr, "%s:%d: %s said \"%s\", without \"%s\"\n", __FILE__, __LINE__, #fn, said, words);                      \
        } else if (!(words)[0] && said[0]) {                                                                                       \
            unit_failures++;                                                                                                       \
            fprintf(stderr, "%s:%d: %s said \"%s\"\n", __FILE__, __LINE__, #fn, said);                                             \
        }                                                                                                                          \
    } while (0)

/* Whoever started the test, it begins without a launcher. */
static inline void unit_launchers_forget(void)
{
    static const char *const theirs[] = {"GODWIT_BOOT",    "GODWIT_VNODES",   "GODWIT_SINGLETON",
                                         "PMI_FD",         "PMI_RANK",        "PMI_SIZE",
                                         "PMIX_NAMESPACE", "MPI_LOCALNRANKS", "OMPI_COMM_WORLD_SIZE"};
    for (size_t i = 0; i < GW_ARRAY_LEN(theirs); i++) unsetenv(theirs[i]);
}

#endif
