#!/usr/bin/env python3
"""A long --replay says where it is, a line every ten seconds, and nothing with -q."""
# run.py: timeout=150 tags=extra
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import re
import subprocess
import sys
import tempfile

# Rank 0 takes what others send, one each 0.02 s where "slow" is said, else at once.
PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
enum { EACH = 600 };
int main(int argc, char **argv)
{
    int rank, n, v = 0;
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    for (int i = 0; rank && i < EACH; i++) MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    for (int i = 0; !rank && i < EACH * (n - 1); i++) {
        MPI_Recv(&v, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum = sum * 1.0000001 + v;
        if (argc > 1) usleep(20000);
    }
    if (!rank) printf("%a\n", sum);
    MPI_Finalize();
    return 0;
}
"""


def main(prefix):
    with tempfile.TemporaryDirectory() as tmp:
        source, exe, record = (os.path.join(tmp, name) for name in ("far.c", "far", "record"))
        with open(source, "w", encoding="utf-8") as f:
            f.write(PROGRAM)
        subprocess.run([prefix + "/bin/mpicc", "-O1", source, "-o", exe], check=True)

        def run(*words):
            command = [prefix + "/bin/mpiexec", "--oversubscribe", "-n", "3", *words]
            return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)

        was = run("--record=" + record, exe).stdout
        p = run("--replay=" + record, exe, "slow")
        assert p.stdout == was, (was, p.stdout)
        far = [int(n) for n in re.findall(r"^godwit replay: rank 0 is at receive (\d+) of 1200$", p.stderr, re.MULTILINE)]
        assert far and far == sorted(set(far)) and far[-1] < 1200, p.stderr
        p = run("-q", "--replay=" + record, exe, "slow")
        assert p.stdout == was and "is at receive" not in p.stderr, p.stderr


if __name__ == "__main__":
    main(sys.argv[2])
