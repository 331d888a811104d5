#!/usr/bin/env python3
"""rankplan: the documents' figures of AWP-ODC and of the bisection, each metric, weights, rings, files, wrong command lines."""
# run.py: timeout=60 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import collections
import itertools
import os
import re
import subprocess
import sys
import tempfile

BUILD = os.path.abspath(sys.argv[1])
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def run(words, status=0):
    p = subprocess.run([BUILD + "/rankplan"] + words.split(), capture_output=True, text=True, timeout=30, check=False)
    assert p.returncode == status, "rankplan %s: status %d: %s" % (words, p.returncode, p.stderr)
    return p


def plans(words):
    """{order: (value, links on nodes, links, percent, share of the bytes)}, best first."""
    out = {}
    for line in run(words).stdout.splitlines():
        m = re.match(r" *(\S+)  +(\d+) of +(\d+) +([\d.]+)%  +(\S+) +(\S+) +([\d.]+)%  (.+)$", line)
        if m:
            out[m.group(8)] = (float(m.group(1)), int(m.group(2)), int(m.group(3)), float(m.group(4)), float(m.group(7)))
    values = [v[0] for v in out.values()]
    assert out and values == sorted(values), words
    return out


def counted(dims, cell):
    """Of nodes that have a cell each: links to others of the one with most, links on nodes, and all."""
    far, near, links = collections.Counter(), 0, 0
    for at in itertools.product(*map(range, dims)):
        for d in range(len(dims)):
            if at[d] + 1 < dims[d]:
                two = [tuple(x // c for x, c in zip(to, cell)) for to in (at, at[:d] + (at[d] + 1,) + at[d + 1:])]
                links += 1
                near += two[0] == two[1]
                far.update(two if two[0] != two[1] else ())
    return max(far.values()), near, links


def awp():
    """256 ranks as 16 x 2 x 8 on nodes of 32 cores."""
    p = plans("-g 16,2,8 -N 32 -a")
    for cell, far, near, percent in (("16x2x1", 64, 368, 62.2), ("2x2x8", 32, 480, 81.1), ("4x2x4", 24, 512, 86.5)):
        assert p[cell][:4] == (far, near, 592, percent), "%s: %s" % (cell, p[cell])
    assert next(iter(p)) == "4x2x4", list(p)
    assert set(plans("-g 16,2,8 -N 32 -c 16,2,1 -c 2,2,8")) == {"16x2x1", "2x2x8", "SMP (1)", "Fold (2)", "RoundRobin (0)"}
    # Numbered as in Fortran, the default order is the cell 16x2x1; as in C, 2x2x8.
    assert plans("-C -g 16,2,8 -N 32 -a")["SMP (1)"] == p["16x2x1"] and p["SMP (1)"] == p["2x2x8"]
    for dims in ((16, 4, 8), (16, 4, 16)):
        q = plans("-g %d,%d,%d -N 32 -a" % dims)
        cells = [k for k in q if "x" in k]
        assert len(cells) > 10 and all(q[k][:3] == counted(dims, [int(c) for c in k.split("x")]) for k in cells), q


def metrics():
    """Another metric has another winner: one node with many small links against many bytes in one dimension."""
    grid = "-g 8,8 -N 8 -w 1,100 -a "
    links, heavy = plans(grid + "-m links"), plans(grid + "-m bytes")
    assert next(k for k in links if "x" in k) in ("2x4", "4x2"), links
    assert next(k for k in heavy if "x" in k) == "1x8", heavy
    # 1x8: a node sends to the row above and to that below: 8 * 2 links, 2 bytes each (there and back).
    assert heavy["1x8"][0] == 32 and plans(grid + "-m all-bytes")["1x8"][0] == 2 * 7 * 8, heavy["1x8"]
    assert plans(grid + "-m all-links")["1x8"][0] == 7 * 8
    # A weight is that of its dimension whichever way ranks are numbered: cells cost the same, the order without cells does not.
    fortran = plans(grid + "-m bytes -C")
    assert all(fortran[k] == heavy[k] for k in heavy if "x" in k), fortran
    assert fortran["SMP (1)"] == heavy["8x1"] != heavy["SMP (1)"] == heavy["1x8"], fortran
    # A ring of 4 x 1 on nodes of 2: two links leave a node in place of one.
    assert plans("-g 4 -N 2 -a")["2"][0] == 1 and plans("-g 4 -N 2 -p 1 -a")["2"][0] == 2
    assert plans("-g 2,2 -N 2 -p 1,2")["1x2"] == plans("-g 2,2 -N 2")["1x2"], "in a ring of two both neighbours are the same"


def bisection():
    """32 ranks on nodes of up to 16: nothing of the traffic i <-> i + 16 stays on nodes, with pairs in cells all of it."""
    for per_node in (2, 4, 8, 16):
        p = plans("-b 32 -N %d" % per_node)
        assert p["SMP (1)"][3:] == (0, 0) and p["2x1"][3:] == (100, 100) and p["2x1"][0] == 0, p
        assert next(iter(p.values()))[0] == 0


def page():
    """What the page of figures says of both."""
    p, b = plans("-g 16,2,8 -N 32 -a"), plans("-b 32 -N 16")
    best, other, default = p["4x2x4"], p["2x2x8"], p["16x2x1"]
    with open(os.path.join(ROOT, "doc", "figures.md"), encoding="utf-8") as f:
        rows = dict(line.split(" | ", 1) for line in f if line.startswith("| "))
    words = "%d and %d neighbours on other nodes for %d; %d and %d of %d links on nodes for %d" % (
        best[0], other[0], default[0], best[1], other[1], best[2], default[1])
    assert words in rows["| 7"], rows["| 7"]
    words = "%d %% of the bisection on nodes in the default order, %d %% with cells of pairs" % (b["SMP (1)"][3], b["2x1"][3])
    assert words in rows["| 8"], rows["| 8"]


def files():
    with tempfile.TemporaryDirectory() as tmp:
        traffic, order = tmp + "/traffic", tmp + "/order"
        with open(traffic, "w", encoding="utf-8") as f:
            f.write("# a profile\n4\n0 3 1000\n3 0 500\n1 2 7\n2 2 99\n")
        with open(order, "w", encoding="utf-8") as f:
            f.write("0,3\n1,2\n")
        p = plans("-t %s -N 2 -m all-bytes -f %s" % (traffic, order))
        assert p[order][:2] == (0, 2) and p["SMP (1)"][0] == 1507 and p["Fold (2)"][0] == 0 and p["RoundRobin (0)"][0] == 1507, p
        for text, words in (("", "nothing in it"), ("x\n", "number of ranks"), ("2\n0 2 1\n", "traffic:2: two ranks of 2"), ("2\n0 1\n0 1 2 3\n", ":3:")):
            with open(traffic, "w", encoding="utf-8") as f:
                f.write(text)
            assert words in run("-t %s -N 2" % traffic, status=2).stderr, text
        assert "No such file" in run("-t %s/none -N 2" % tmp, status=2).stderr
        with open(order, "w", encoding="utf-8") as f:
            f.write("0,1\n")
        assert "rank 2 is missing" in run("-g 3 -N 2 -f " + order, status=2).stderr


def wrong():
    for words, said in (("-g 2,2", "-N must say"), ("-N 2", "one of -g, -b and -t"), ("-g 2 -b 2 -N 1", "one of -g, -b and -t"), ("-g 2,y -N 2", "'y' is no number"),
                        ("-g 2.5 -N 2", "whole numbers"), ("-g 4 -N 2 -c 5", "within the grid"), ("-g 4,4 -N 2 -c 2", "2 numbers"),
                        ("-g 4,4 -N 2 -w 1", "-w has 1 numbers, -g has 2"), ("-b 3 -N 1", "even number"), ("-g 4 -N 2 -m speed", "no metric: links"),
                        ("-g 4 -N 2 what", "what: what is it"), ("-g 4 -N 2 -Q", "-Q is no option"), ("--blurb", "--blurb is no option"), ("-g 4 -N 2 -p 9", "numbered from 1")):
        p = run(words, status=2)
        assert said in p.stderr and not p.stdout, "rankplan %s: %s" % (words, p.stderr)
    assert "usage: rankplan" in run("", status=2).stderr and run("-h").stdout == run("--help").stdout


if __name__ == "__main__":
    awp()
    metrics()
    bisection()
    page()
    files()
    wrong()
