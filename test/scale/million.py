#!/usr/bin/env python3
"""A million ranks in the simulator: every rank of trees and doublings, the ranks of one node where they stand for all."""
# run.py: timeout=1200 tags=extra
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import subprocess
import sys

SIM = os.path.join(os.path.abspath(sys.argv[1]), "sim", "sim")
SMALL, LARGE = 1 << 14, 1 << 20
# collective, algorithm, bytes, and how much longer the larger may take: six levels more of 14, or 64 times the ranks
CASES = [("barrier", "dissemination", 0, 1, 2), ("barrier", "levels", 0, 1, 2), ("bcast", "binomial", 8, 1, 2), ("allreduce", "doubling", 8, 1, 2),
         ("allreduce", "levels", 8, 1, 2), ("gather", "tree", 8, 2, 80), ("allgather", "ring", 8, 30, 80), ("allgather", "bruck", 8, 30, 80)]


def microseconds(coll, alg, ranks, size):
    out = subprocess.run([SIM, "--machine", "slingshot", "--coll", coll, "--alg", alg, "--ranks", str(ranks), "--bytes", str(size)],
                         check=True, capture_output=True, text=True).stdout
    return float(out.split()[-1])


def main():
    bad = 0
    for coll, alg, size, low, high in CASES:
        a, b = microseconds(coll, alg, SMALL, size), microseconds(coll, alg, LARGE, size)
        good = low * a <= b <= high * a
        bad += not good
        print("%-10s %-14s %8d ranks %12.2f us %8d ranks %12.2f us%s" % (coll, alg, SMALL, a, LARGE, b, "" if good else "  <- not between %g and %g times" % (low, high)),
              flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
