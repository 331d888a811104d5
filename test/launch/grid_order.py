#!/usr/bin/env python3
"""grid_order: its output byte by byte, all options, wrong command lines; its file places the ranks of a job."""
# run.py: timeout=60 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import itertools
import os
import re
import subprocess
import sys
import tempfile

BUILD = os.path.abspath(sys.argv[1])
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def run(text, status=0):
    p = subprocess.run([BUILD + "/grid_order"] + text.split(), capture_output=True, text=True, timeout=30, check=False)
    assert p.returncode == status, "grid_order %s: status %d: %s" % (text, p.returncode, p.stderr)
    return p


def expect(text, out):
    got = run(text).stdout
    assert got == out, "grid_order %s:\n%snot\n%s" % (text, got, out)


def order_of(text):
    """The ranks, without comments."""
    return [int(r) for line in run(text).stdout.splitlines() if not line.startswith("#") for r in line.split(",")]


def refused(text, *words):
    p = run(text, status=2)
    assert not p.stdout and all(w in p.stderr for w in words), "grid_order %s: %s%s" % (text, p.stdout, p.stderr)


def golden():
    evens, odds = (",".join(str(r) for r in range(k, 32, 2)) for k in (0, 1))
    rows = [",".join(str(r) for r in range(k, k + 16)) for k in (0, 16)]
    expect("-R -g 2,16", "# grid_order -R -Z -g 2,16\n# Region 0: 0,0 (0..31)\n%s\n%s\n" % tuple(rows))
    expect("-C -g 2,16", "# grid_order -C -Z -g 2,16\n# Region 0: 0,0 (0..31)\n%s\n%s\n" % (evens, odds))
    expect("-c 2,1 -g 2,16 -R -q", "".join("%d,%d\n" % (k, k + 16) for k in range(16)))
    # The example of two sites' manuals, and the same for a larger node.
    for cell, (x, y, z) in ((32, (4, 4, 4)), (128, (8, 8, 4))):
        ranks = [str(i * y * z + j * z + k) for j in range(y) for i in range(x) for k in range(z)]
        lines = [",".join(ranks[i:i + cell]) for i in range(0, len(ranks), cell)]
        expect("-R -c %d -g %d,%d,%d" % (cell, x, y, z), "# grid_order -R -Z -c %d -g %d,%d,%d\n# Region 3: 0,0,1 (0..%d)\n%s\n" % (
            cell, x, y, z, x * y * z - 1, "\n".join(lines)))
    assert run("-R -c 32 -g 4,4,4 -q").stdout.startswith("0,1,2,3,16,17,18,19,32,33,34,35,48,49,50,51,4,5,6,7,20,21,22,23,36,37,38,39,52,53,54,55\n8,9,")
    # 256 ranks, 32 a node: each line is a node, the first is the documents'.
    got = run("-C -c 2,2,8 -g 16,2,8").stdout.splitlines()
    assert got[:2] == ["# grid_order -C -Z -c 2,2,8 -g 16,2,8", "# Region 0: 0,0,0 (0..255)"] and len(got) == 10, got
    assert got[2] == "0,32,64,96,128,160,192,224,16,48,80,112,144,176,208,240,1,33,65,97,129,161,193,225,17,49,81,113,145,177,209,241", got[2]
    assert all(len(line.split(",")) == 32 for line in got[2:]), got
    with open(os.path.join(ROOT, "test", "data", "grid_order.txt"), encoding="utf-8") as f:
        for case in f.read().split("$ grid_order ")[1:]:
            expect(*case.split("\n", 1))


def rank_of(at, dims, major):
    rank = 0
    for d in range(len(dims)) if major == "-R" else reversed(range(len(dims))):
        rank = rank * dims[d] + at[d]
    return rank


def every_rank():
    """All is listed once, whatever divides what; each whole cell is in one piece."""
    for dims in ((7,), (5, 5), (3, 4, 5), (1, 6, 1), (2, 3, 2, 3)):
        for cell in itertools.product(*[{1, 2, d} for d in dims]):
            cell = [min(c, d) for c, d in zip(cell, dims)]
            for major, walk in itertools.product(("-R", "-C"), ("-Z", "-P", "-H")):
                text = "%s %s -g %s -c %s -q" % (major, walk, ",".join(map(str, dims)), ",".join(map(str, cell)))
                order = order_of(text)
                size = len(order)
                assert sorted(order) == list(range(size)), text
                place = {r: i for i, r in enumerate(order)}
                for first in itertools.product(*[range(0, d - d % c, c) for d, c in zip(dims, cell)]):
                    places = [place[rank_of([f + i for f, i in zip(first, at)], dims, major)] for at in itertools.product(*map(range, cell))]
                    assert max(places) - min(places) == len(places) - 1, "%s: the cell at %s is torn" % (text, first)
    # Whole cells come before what is left over.
    assert order_of("-R -c 2,2 -g 5,5 -q")[16:] == [20, 21, 22, 23, 4, 9, 14, 19, 24]


def neighbours_follow():
    """-P everywhere, and -H in cubes of a power of two, go from a cell to one that touches it."""
    for dims, walks in (((8, 8), "-P -H"), ((4, 4, 4), "-P -H"), ((2, 2, 2, 2), "-P -H"), ((5, 3), "-P"), ((3, 1, 4), "-P"), ((16,), "-P -H")):
        for walk in walks.split():
            text = "-R %s -g %s -c %s -q" % (walk, ",".join(map(str, dims)), ",".join("1" for _ in dims))
            at = list(itertools.product(*map(range, dims)))
            order = order_of(text)
            assert sorted(order) == list(range(len(at))), text
            for a, b in zip(order, order[1:]):
                assert sum(abs(x - y) for x, y in zip(at[a], at[b])) == 1, "%s: %s is followed by %s" % (text, at[a], at[b])
    # Any 16 ranks that follow each other on the curve from a multiple of 16 on are a square of 4 x 4.
    order = order_of("-R -H -g 16,16 -q")
    for i in range(0, 256, 16):
        rows, columns = [r // 16 for r in order[i:i + 16]], [r % 16 for r in order[i:i + 16]]
        assert max(rows) - min(rows) == 3 and max(columns) - min(columns) == 3, i


def options():
    expect("-R -g 2,3 -o 2,1 -c 1,1 -n 6", "# grid_order -R -Z -c 1,1 -g 2,3 -o 2,1 -n 6\n# Region 0: 0,0 (0..5)\n0,3,1,4,2,5\n")
    expect("-R -g 3,3 -m 7 -n 4", "# grid_order -R -Z -g 3,3 -m 7 -n 4\n# Region 0: 0,0 (0..8)\n0,1,2,3\n4,5,6,7\n")
    expect("-R -g 4,4 -c 2,2 -N 8 -q", "0,1,4,5,2,3,6,7\n8,9,12,13,10,11,14,15\n")
    assert "# Ranks a node: 4.  Neighbours on the same node: 16 of 24 (66.7 %)\n" in run("-R -g 4,4 -c 2,2 -N 4").stdout
    assert "# Ranks a node: 32.  Neighbours on the same node: 368 of 592 (62.2 %)\n" in run("-C -g 16,2,8 -c 16,2,1 -N 32").stdout
    p = run("-R -g 2,2 -s 4")
    assert p.stdout == "# grid_order -R -Z -g 2,2 -s 4\n# Region 0: 0,0 (4..7)\n4,5\n6,7\n" and "ranks 0 to 3 are not in this list" in p.stderr
    assert run("-R -g 2,2 -s 4 -q").stderr == ""
    expect("-R -g 2,2 -s 4 -m 6 -q", "4,5\n6\n")
    expect("-R -g 2,2 -s 4 -m 6 -T -q", "4  0,0  0\n5  0,1  1\n6  1,0  2\n7  1,1  -\n")
    expect("-C -g 2,2 -T -N 2", "# rank  coordinates  place  node\n0  0,0  0  0\n1  1,0  2  1\n2  0,1  1  0\n3  1,1  3  1\n")
    expect("-C -g 16,2,8 -c 2,2,8 -N 32 -q 2,0,0 1,1,7", "2  2,0,0  32  1\n241  1,1,7  31  0\n")
    expect("-R -g 2,2 -m 2 -T -q", "0  0,0  0\n1  0,1  1\n2  1,0  2\n3  1,1  -\n")
    expect("-R -g 4,4 -c 9,2 -q", "0,1,4,5,8,9,12,13\n2,3,6,7,10,11,14,15\n")
    expect("-R -c 2 -g 2,3 -q", "0,3\n1,4\n2,5\n")
    assert "usage: grid_order" in run("", status=2).stderr and run("--help").stdout.startswith("usage: grid_order")
    assert run("-h").stdout == run("--help").stdout


def wrong():
    refused("-g 2,2", "-C and -R")
    refused("-R -C -g 2,2", "-C and -R")
    refused("-R", "-g must give the grid")
    refused("-R -g 2,x", "-g 2,x", "'x' is no number from 1")
    refused("-R -g 2,,2", "no number")
    refused("-R -g 2;2", "';' where a comma")
    refused("-R -g 0,2", "no number from 1")
    refused("-R -g 2,-2", "no number")
    refused("-R -g 1,1,1,1,1,1,1,1,1", "more than 8 dimensions")
    refused("-R -g 2,2 -c 1,1,1", "-c has 3 dimensions, -g has 2")
    refused("-R -g 2,2 -o 1,1", "each dimension from 1 to 2 once")
    refused("-R -g 2,2 -o 1,2,3", "-o has 3 dimensions")
    refused("-R -g 2,2 -m 1,2", "one number")
    refused("-R -g 99999,99999", "ranks: at most")
    refused("-R -g 2,2 -X", "-X is no option")
    refused("-R -g 2,2 --blurb", "--blurb is no option")
    refused("-R -g", "-g is no option, or lacks")
    refused("-R -g 2,2 2,0", "dimension 1 has 0 to 1")
    refused("-R -g 2,2 1", "the grid has 2 dimensions")
    refused("-R -H -g 2,2,2,2,2,2,2,100000 -c 1,1,1,1,1,1,1,1", "too long and narrow")
    with open("/dev/full", "w", encoding="utf-8") as full:
        p = subprocess.run([BUILD + "/grid_order", "-R", "-g", "2,2"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=30, check=False)
    assert p.returncode == 1 and "No space left" in p.stderr, p.stderr


def honoured():
    """A job of 16 ranks on 4 nodes: with the file, blocks of 2 x 2; a file for another number of ranks is refused."""
    with tempfile.TemporaryDirectory() as tmp:
        with open(tmp + "/MPICH_RANK_ORDER", "w", encoding="utf-8") as f:
            f.write(run("-R -c 2,2 -g 4,4").stdout)
        command = [BUILD + "/mpiexec", "-n", "16", "--vnodes", "4", BUILD + "/mpi_hello"]
        env = dict(os.environ, MPICH_RANK_REORDER_METHOD="3", MPICH_RANK_REORDER_DISPLAY="1")
        p = subprocess.run(command, cwd=tmp, env=dict(env, MPICH_RANK_REORDER_METHOD="1"), capture_output=True, text=True, timeout=50, check=False)
        assert p.returncode == 0 and re.search(r"0-3$", p.stdout + p.stderr, re.M), p.stderr
        p = subprocess.run(command, cwd=tmp, env=env, capture_output=True, text=True, timeout=50, check=False)
        assert p.returncode == 0, p.stderr
        shown = p.stdout + p.stderr
        for node, ranks in enumerate(("0-1,4-5", "2-3,6-7", "8-9,12-13", "10-11,14-15")):
            assert any(line.rstrip().endswith(ranks) for line in shown.splitlines()), "node %d has not %s:\n%s" % (node, ranks, shown)
        command[2] = "8"
        p = subprocess.run(command, cwd=tmp, env=env, capture_output=True, text=True, timeout=50, check=False)
        assert p.returncode != 0 and "there is no rank 8 in a job of 8 ranks" in p.stderr, p.stderr


def recipe():
    """The manual page's: make the file, name the method, remove the file before another number of ranks."""
    with open(os.path.join(ROOT, "doc", "grid_order.1"), encoding="utf-8") as f:
        text = f.read().replace("\\-", "-")
    found = re.search(r"^ *grid_order (.*) >MPICH_RANK_ORDER\n *MPICH_RANK_REORDER_METHOD=3 mpiexec -n (\d+) \./program\n(?:.*\n)*"
                      r"Remove the file before the number of ranks changes: ", text[text.index(".SH EXAMPLES"):], re.M)
    assert found and sorted(order_of(found.group(1))) == list(range(int(found.group(2)))), "grid_order(1) has another recipe"


if __name__ == "__main__":
    golden()
    every_rank()
    neighbours_follow()
    options()
    wrong()
    honoured()
    recipe()
