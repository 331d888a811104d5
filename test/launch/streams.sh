#!/bin/sh
# Programs whose standard streams are closed (>&-, as cron and daemons have it): what they print goes nowhere, what they read is an error, and
# none of it meets a descriptor of the library's; also where they put other files there after MPI_Init.
# run.py: timeout=120 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
prefix=${2:+$(readlink -f "$2")}
[ -n "$prefix" ] && [ -x "$prefix/bin/mpicc" ] || { echo "nothing is installed"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cat >p.c <<'END'
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int rank, size, sum, was[3];
    char *way = argc > 1 ? argv[1] : "", byte, where[64], name[32];
    for (int fd = 0; fd < 3; fd++) was[fd] = fcntl(fd, F_GETFD) >= 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    snprintf(name, sizeof name, "said.%d", rank);
    int told = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    for (int fd = 0; fd < 3; fd++) { /* none of the library's is there */
        char link[32];
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(link, where, sizeof where - 1);
        where[n < 0 ? 0 : n] = 0;
        if (!was[fd] && *where && strcmp(where, "/dev/null") != 0) dprintf(told, "%d is %s\n", fd, where);
    }
    if (!was[0] && (read(0, &byte, 1) != -1 || errno != EBADF)) dprintf(told, "a closed stream can be read\n");
    if (!was[1] && (write(1, "x", 1) != -1 || errno != EBADF)) dprintf(told, "a closed stream can be written\n");
    if (strcmp(way, "files") == 0) /* as daemons do */
        for (int fd = 0; fd < 3; fd++) dup2(told, fd);
    for (int i = 0; i < 1000 && strcmp(way, "files") != 0; i++) printf("line %d of the output of a program\n", i);
    fflush(stdout);
    for (int i = 0; i < 50; i++) {
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (sum != size * (size - 1) / 2) dprintf(told, "the sum is %d\n", sum);
    }
    MPI_Finalize();
    dprintf(told, "ends\n");
    return 0;
}
END
"$prefix/bin/mpicc" -O1 p.c -o p
# right N WHAT...: N ranks that found nothing wrong, and status 0
right() {
    n=$1
    shift
    rm -f said.*
    timeout 60 "$@" </dev/null >out 2>err || { echo "$*: status $?"; head -n 9 err said.*; exit 1; }
    for i in $(seq 0 $((n - 1))); do
        [ "$(cat said.$i)" = ends ] || { echo "$*: rank $i: $(cat said.$i)"; exit 1; }
    done
}
for closed in '>&-' '<&-' '2>&-' '<&- >&- 2>&-'; do
    right 1 sh -c "./p $closed"
    right 1 sh -c "./p files $closed"
    for more in "" "--vnodes 2"; do
        right 2 "$prefix/bin/mpiexec" -n 2 $more sh -c "./p $closed"
        right 2 "$prefix/bin/mpiexec" -n 2 $more sh -c "./p files $closed"
    done
done
