#!/usr/bin/env python3
"""Choices between nodes by the scale simulator: how far the tables are from the best, and which rows would do better.

    between.py BUILD [--machine NAME] [--most RANKS] [--at-most FACTOR] [--rows] [COLLECTIVE...]

For each collective, number of ranks and size all algorithms of the library are priced.  Prints where the tables' choice costs most compared with the
best; with --at-most fails where that is more than FACTOR; with --rows prints rows for tune/nodes.tbl, keeping an algorithm as long as it is within a
tenth of the best."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import argparse
import concurrent.futures
import os
import subprocess
import sys

SIZES = [8, 64, 512, 4096, 32768, 262144, 2097152]
MOST_WORK = 3e7 # messages or so: what costs more to price is not the best
WITHIN = 1.1
REDUCTIONS = ("reduce", "allreduce", "reduce_scatter", "scan", "exscan")


class Pricer:
    def __init__(self, build, machine):
        self.sim, self.machine = os.path.join(os.path.abspath(build), "sim", "sim"), machine
        self.algs = {}
        for line in subprocess.run([self.sim, "--list"], check=True, capture_output=True, text=True).stdout.splitlines():
            if ":" in line:
                coll, names = line.split(":")
                self.algs[coll] = [n for n in names.split() if not n.endswith("*")]
        # What pads blocks of unequal lengths is listed with the form that has equal ones.
        whole = [n for n in self.algs["alltoall"] if n.startswith("padded_") or n == "ruled"]
        self.algs["alltoallv"] = whole + ["pairwise"]
        self.algs["alltoall"] = [n for n in self.algs["alltoall"] if n not in whole]

    def price(self, coll, alg, ranks, size):
        """(microseconds, algorithm); None where it cannot do this, or nobody would."""
        p = subprocess.run([self.sim, "--machine", self.machine, "--coll", coll, "--alg", alg, "--ranks", str(ranks), "--bytes", str(size)],
                           capture_output=True, text=True, check=False)
        if p.returncode:
            if "more messages than" in p.stderr:
                return None
            sys.exit(p.stderr)
        words = p.stdout.splitlines()[2].split()
        if words[2] == "-":
            return None
        return float(words[2]), words[3].strip("()") if alg == "table" else alg


def sensible(coll, alg, ranks, size):
    """Rings of tiny messages and direct exchanges on thousands of ranks take long to price, and to run."""
    rounds = {"ring": 2 * ranks, "direct": ranks, "ordered": ranks, "in_place": ranks, "pairwise": ranks, "chain": ranks + size / 65536}
    if coll in ("alltoall", "reduce_scatter", "allgather") and ranks * size > 1 << 32:
        return False
    return rounds.get(alg, 1) * ranks <= MOST_WORK or alg in ("pairwise",)


def sweep(pricer, pool, coll, counts):
    """{(ranks, size): ([(us, algorithm), best first], (us, the tables' choice))}"""
    jobs = {}
    for ranks in counts:
        for size in [0] if coll == "barrier" else SIZES:
            algs = [a for a in pricer.algs[coll] if a != "in_place" and sensible(coll, a, ranks, size)]
            jobs[ranks, size] = [pool.submit(pricer.price, coll, a, ranks, size) for a in algs + ["table"]]
    found = {}
    for key, futures in jobs.items():
        times = [f.result() for f in futures]
        if times[-1] and any(times[:-1]):
            found[key] = (sorted(t for t in times[:-1] if t), times[-1])
    return found


def rows(coll, found):
    """Of each number of ranks, algorithms by size; neighbours that agree share their rows."""
    plans = []
    for ranks in sorted({k[0] for k in found}):
        plan = []
        for size in sorted(k[1] for k in found if k[0] == ranks):
            times = {alg: us for us, alg in found[ranks, size][0]}
            best, keep = min(times.values()), plan[-1][1] if plan else None
            alg = keep if keep in times and times[keep] <= WITHIN * best else found[ranks, size][0][0][1]
            if plan and plan[-1][1] == alg:
                plan[-1] = (size, alg)
            else:
                plan.append((size, alg))
        if plans and plans[-1][1] == plan:
            plans[-1] = (ranks, plan)
        else:
            plans.append((ranks, plan))
    low = 3
    for i, (ranks, plan) in enumerate(plans):
        span = "%d..%s" % (low, "" if i == len(plans) - 1 else ranks)
        for k, (size, alg) in enumerate(plan):
            unit = "%dM" % (size >> 20) if size >= 1 << 20 else "%dK" % (size >> 10) if size >= 1 << 10 else "%d" % size
            print("%-9s | %-9s | 2.. | %-4s | %-12s | -" % (coll, span, "-" if k == len(plan) - 1 else unit, alg))
        low = ranks + 1


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build")
    p.add_argument("collectives", nargs="*")
    p.add_argument("--machine", default="cluster")
    p.add_argument("--most", type=int, default=8192)
    p.add_argument("--at-most", type=float)
    p.add_argument("--rows", action="store_true")
    a = p.parse_intermixed_args()
    pricer, bad = Pricer(a.build, a.machine), 0
    counts = [n for n in (128, 512, 2048, 8192) if n <= a.most]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for coll in a.collectives or pricer.algs:
            found = sweep(pricer, pool, coll, counts)
            worst = max(found, key=lambda k: found[k][1][0] / found[k][0][0][0])
            (us, alg), (best, name) = found[worst][1], found[worst][0][0]
            bad += bool(a.at_most and us > a.at_most * best)
            print("%-14s at worst %6.2f times the best: %d ranks, %d bytes: %s %.1f us, %s %.1f us" %
                  (coll, us / best, worst[0], worst[1], alg, us, name, best), flush=True)
            if a.rows:
                rows(coll, found)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
