#!/usr/bin/env python3
"""What the source documents report of collectives at scale, priced by the simulator: direction and order must come out.

    figures.py BUILD [PREFIX] [--svg FOLDER]

Prints the table of doc/simulator.md; with --svg the curves too."""
# run.py: timeout=120
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import subprocess
import sys
import tempfile

BUILD = os.path.abspath(sys.argv[1])
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SVG = sys.argv[sys.argv.index("--svg") + 1] if "--svg" in sys.argv else None
BAD = []


def price(machine, coll, algs, ranks, sizes, svg=None):
    """{(ranks, bytes, alg): microseconds}"""
    command = [os.path.join(BUILD, "sim", "sim"), "--machine", machine, "--coll", coll, "--alg", ",".join(algs), "--ranks", str(ranks),
               "--bytes", str(sizes)]
    if svg and SVG:
        command += ["--svg", os.path.join(SVG, svg)]
    p = subprocess.run(command, capture_output=True, text=True, check=False)
    if p.returncode:
        sys.exit("%s: %s" % (" ".join(command), p.stderr))
    times = {}
    for line in p.stdout.splitlines()[2:]:
        words = line.split()
        for alg, us in zip(algs, words[2:]):
            if us != "-":
                times[int(words[0]), int(words[1]), alg] = float(us)
    return times


def figure(what, documents, was, becomes, low, high, note=""):
    ratio = was / becomes
    good = low <= ratio <= high
    print("| %s | %s | %.0f us | %.0f us | %s | %s |" % (what, documents, was, becomes, ("%.0f" if ratio >= 20 else "%.2g") % ratio, note))
    if not good:
        BAD.append("%s: %.4g is not between %g and %g" % (what, ratio, low, high))


def hashed(folder):
    """xe6 with queues that are looked up, not walked."""
    with open(os.path.join(ROOT, "sim", "machines", "xe6.machine"), encoding="utf-8") as f:
        lines = [("match search=0.05" if line.startswith("match") else line.rstrip()) for line in f]
    path = os.path.join(folder, "xe6-hashed.machine")
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")
    return path


def gathers(folder):
    ranks = "96..1536*2,3072,6144,12000"
    t = price("xe6", "gatherv", ["flat", "ruled"], ranks, 8, "gatherv.svg")
    flat, tree = t[12000, 8, "flat"], t[12000, 8, "ruled"]
    figure("gatherv, 12,000 ranks, 8 B: flat, by rule (a tree)", "500", flat, tree, 500, 10000, "5 ns an entry of a queue")
    t = price(hashed(folder), "gatherv", ["flat", "ruled"], 12000, 8)
    figure("the same, queues hashed", "500", t[12000, 8, "flat"], t[12000, 8, "ruled"], 40, 500, "o and g alone")
    t = price("xe6", "scatterv", ["linear", "ruled"], ranks, 8, "scatterv.svg")
    figure("scatterv, 12,000 ranks, 8 B: one after the other, by rule (a tree)", "> 15 in some cases", t[12000, 8, "linear"], t[12000, 8, "ruled"], 15, 1000)
    t = price("xe6", "gather", ["flat", "tree", "levels"], ranks, 8, "gather.svg")
    figure("gather, 12,000 ranks, 8 B: flat, by levels", "", t[12000, 8, "flat"], t[12000, 8, "levels"], 50, 5000, "")
    t = price("slingshot", "igatherv", ["flat", "permitted:100"], "1024..65536", 8, "igatherv.svg")
    figure("igatherv, 65,536 ranks of 512 nodes, 8 B: free for all, with leave to send", "130", t[65536, 8, "flat"],
           t[65536, 8, "permitted:100"], 30, 500, "5 ns an entry")


def mpich2_allgather(ranks, size):
    """MPICH2's choice for a number of ranks that is no power of two."""
    return "bruck" if ranks * size < 81920 else "ring"


def allgathers():
    ranks, ratios = 12000, []
    t = price("xe6", "allgather", ["ring", "bruck"], ranks, "8..1048576*2", "allgather.svg")
    sizes = sorted({k[1] for k in t})
    for size in sizes:
        best = min(t[ranks, size, alg] for alg in ("ring", "bruck"))
        ratios.append((t[ranks, size, mpich2_allgather(ranks, size)] / best, size))
    most, where = max(ratios)
    better = [size for ratio, size in ratios if ratio >= 1.15]
    was = t[ranks, where, mpich2_allgather(ranks, where)]
    figure("allgather, 12,000 ranks, at best (%d B): MPICH2's choice, the better one" % where, "up to 10", was, was / most, 3, 30)
    last = max(better)
    was = t[ranks, last, mpich2_allgather(ranks, last)]
    figure("allgather, 12,000 ranks, the largest block that gains 15 %% (%d B)" % last, "1.15 and more", was, was / dict((s, r) for r, s in ratios)[last],
           1.15, 10)
    price("xe6", "allgather", ["ring", "bruck", "direct"], "96..6144*2,12000", 8, "allgather-ranks.svg")


def alltoalls():
    algs = ["pairwise:once", "pairwise", "bruck"]
    t = price("xe6", "alltoall", algs, 10008, "8..8192*4", "alltoall.svg")
    figure("alltoall, 10,008 ranks, 8 B: everything at once, store and forward", "(a graph)", t[10008, 8, algs[0]], t[10008, 8, "bruck"], 5, 1000)
    figure("alltoall, 10,008 ranks, 512 B: everything at once, four at a time", "(a graph)", t[10008, 512, algs[0]], t[10008, 512, "pairwise"], 1.5, 100)
    figure("alltoall, 10,008 ranks, 8 KiB: the same", "(a graph)", t[10008, 8192, algs[0]], t[10008, 8192, "pairwise"], 0.8, 1.5, "bandwidth decides")


def main():
    print("| what, before and after | documents: times faster | before | after | simulator | |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        gathers(folder)
    allgathers()
    alltoalls()
    for text in BAD:
        print(text)
    return 1 if BAD else 0


if __name__ == "__main__":
    sys.exit(main())
