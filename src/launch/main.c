/* main.c -- mpiexec.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <unistd.h>

#include "launch/launch.h"

int main(int argc, char **argv)
{
    struct job j = {.memfd = -1};
    int rc = options_parse(argc, argv, &j.o);
    if (rc >= 0) {
        options_free(&j.o);
        return rc;
    }
    j.n = j.o.n_ranks;
    if (gethostname(j.host, sizeof j.host - 1) < 0) j.host[0] = 0;
    bind_make(&j.o, &j.bind);
    if (j.o.verbose) bind_print(&j.bind, j.n);
    rc = spawn_all(&j);
    if (rc == 0) rc = watch(&j);
    keeper_stop(&j);
    spawn_free(&j);
    bind_free(&j.bind, j.n);
    options_free(&j.o);
    return rc;
}
