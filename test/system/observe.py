#!/usr/bin/env python3
"""mpiexec --profile: observations and suggestions.  The grid is found whichever way ranks communicate, other patterns are not called
grids; the table of orders; files of ranks where they win, and only there; mpiexec --reorder uses them; advice names settings that exist."""
# run.py: timeout=180
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import random
import re
import subprocess
import sys
import tempfile

BUILD = os.path.abspath(sys.argv[1])
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ORDERS = ("Grid", "Graph", "USER_Time", "USER_Time_hybrid")


def job(folder, options, words, ranks=16, nodes="4", status=0, env=None):
    command = [BUILD + "/mpiexec"] + options.split() + ["-n", str(ranks), "--vnodes", nodes, BUILD + "/mpi_traffic"] + words.split()
    p = subprocess.run(command, cwd=folder, env=dict(os.environ, **(env or {})), capture_output=True, text=True, timeout=60, check=False)
    assert p.returncode == status, "%s: %d\n%s" % (words, p.returncode, p.stderr)
    return p.stderr


def plain(text):
    return " ".join(text.split())


def table(text):
    """Rows of the table of orders: [(order, bytes, percent, method)], as printed."""
    return re.findall(r"^ +(Custom|SMP|Fold|RoundRobin|Current) +(\d\.\d{3}e\+\d\d) +(\d+\.\d\d)%  ([0-3-])$", text, re.M)


def ranks_of(path):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return text, [[int(r) for r in line.split(",")] for line in lines]


def there(folder):
    return {k for k in ORDERS if os.path.exists("%s/MPICH_RANK_ORDER.%s" % (folder, k))}


def grid(folder):
    """4 x 4 on 4 nodes: rows of 4 keep half of it, squares of 2 x 2 two thirds."""
    text = job(folder, "--profile=p.html", "4x4 isend")
    assert "point-to-point communication in a 4 X 4 grid pattern: 100.0 % of the bytes" in plain(text), text
    assert re.search(r"MPI takes \d+% of the time\. An order of ranks that keeps more", plain(text)), text
    # 24 pairs, 2 directions, 10 times 1000 bytes: 480000 bytes, 30000 a rank
    assert sorted(table(text)) == [("Custom", "2.000e+04", "66.67", "3"), ("Fold", "0.000e+00", "0.00", "2"), ("RoundRobin", "1.500e+04", "50.00", "0"),
                                   ("SMP", "1.500e+04", "50.00", "1")], table(text)
    assert [row[2] for row in table(text)] == ["66.67", "50.00", "50.00", "0.00"], table(text)
    assert "The file MPICH_RANK_ORDER.Grid has the custom order" in plain(text), text
    said, nodes = ranks_of(folder + "/MPICH_RANK_ORDER.Grid")
    assert nodes == [[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15]], nodes
    for field in ("# Metric:       Sent Msg Total Bytes\n", "# Number PEs:   16\n", "# Max PEs/Node: 4\n", "/mpi_traffic\n", "# Profile:      p.html\n",
                  "MPICH_RANK_REORDER_METHOD=3", "# Custom         2.000e+04        66.67%  3\n", "# SMP            1.500e+04        50.00%  1\n",
                  "MPICH_RANK_REORDER_FILE=MPICH_RANK_ORDER.Grid.", "# grid_order -R -Z -c 2,2 -g 4,4\n"):
        assert field in said, "%s is missing:\n%s" % (field, said)
    assert table(re.sub("^#", " ", said, flags=re.M)) == table(text) and len(table(text)) == 4, said
    assert there(folder) == {"Grid"}, "an order by load, of steps that are too few to tell: %s" % there(folder)
    with open(folder + "/p.html", encoding="utf-8") as f:
        page = f.read()
    assert '<pre id="observations">' in page and "Custom         2.000e+04        66.67%  3" in page and "4 X 4" in page


def reordered(folder):
    """The file of the profile is found, used, and gains what it says."""
    text = job(folder, "--reorder=auto --profile=p.html", "4x4 isend")
    assert "--reorder=auto: MPICH_RANK_ORDER.Grid: 66.67 % of the bytes stay on nodes, 50.00 % when the profile was made" in text, text
    assert ("Current", "2.000e+04", "66.67", "-") in table(text) and not any(row[0] == "Custom" for row in table(text)), text
    assert "is for 16 ranks of mpi_traffic: ranks keep their order" in job(folder, "--reorder", "2x4 isend", ranks=8)
    assert job(folder, "--reorder -q", "2x4 isend", ranks=8) == ""
    text = job(folder, "--reorder=fold --profile=p.html", "4x4 isend")
    assert ("Current", "0.000e+00", "0.00", "-") in table(text), text
    text = job(folder, "--reorder=MPICH_RANK_ORDER.Grid --profile=p.html", "4x4 isend")
    assert ("Current", "2.000e+04", "66.67", "-") in table(text), text
    assert "there is no file 'none'" in job(folder, "--reorder=none", "4x4 isend", status=2)
    with open(folder + "/MPICH_RANK_ORDER.Grid", encoding="utf-8") as f:
        lines = f.readlines()
    assert lines[0].startswith("# Sum ") and "Remove this line after a change by hand" in lines[0], lines[0]
    with open(folder + "/MPICH_RANK_ORDER.Grid", "w", encoding="utf-8") as f:
        f.writelines(lines[:-2] + [lines[-2].replace("1", "2", 1)] + lines[-1:])
    assert "MPICH_RANK_ORDER.Grid cannot be read: it is damaged: line %d is not what was written" % (len(lines) - 1) in job(
        folder, "--reorder", "4x4 isend")
    assert "it is damaged: line %d" % (len(lines) - 1) in job(folder, "--reorder=MPICH_RANK_ORDER.Grid", "4x4 isend", status=2)
    with open(folder + "/MPICH_RANK_ORDER.Grid", "w", encoding="utf-8") as f:
        f.writelines(lines[1:] + ["3\n"])
    for other in there(folder) - {"Grid"}: # where ranks are kept from their cores there are some
        os.unlink("%s/MPICH_RANK_ORDER.%s" % (folder, other))
    text = job(folder, "--reorder", "4x4 isend")
    assert "rank 3 is here again" in text and "ranks keep their order" in text, text


def ways(folder):
    for way in ("start", "send", "sendrecv", "parts", "neighbor", "graph", "put", "get", "rput", "accumulate"):
        text = job(folder, "--profile=p.html", "4x4 " + way)
        assert "in a 4 X 4 grid pattern: 100.0 %" in plain(text) and table(text)[0][:3] == ("Custom", "2.000e+04", "66.67"), way + text


def others(folder):
    text = job(folder, "--profile=p.html", "random isend")
    assert "the pattern of no grid" in plain(text) and "Grid" not in there(folder), text
    assert "Graph" in there(folder) and table(text)[0][0] == "Custom", text
    order = ranks_of(folder + "/MPICH_RANK_ORDER.Graph")[1]
    assert sorted(r for line in order for r in line) == list(range(16)), order
    said = job(folder, "--reorder=auto", "random isend")
    assert re.search(r"--reorder=auto: MPICH_RANK_ORDER\.Graph: [\d.]+ % of the bytes stay on nodes, [\d.]+ % when", said), said
    os.unlink(folder + "/MPICH_RANK_ORDER.Graph")
    text = job(folder, "--profile=p.html", "dense isend")
    assert "the pattern of no grid" in plain(text) and "No other order of ranks keeps notably more" in plain(text), text
    assert not {"Grid", "Graph"} & there(folder), there(folder)
    text = job(folder, "--profile=p.html", "4x4 isend", nodes="1")
    assert "4 X 4 grid pattern" in plain(text) and "All ranks are on one node" in plain(text) and not table(text), text


def loads(text):
    """Rows of the last table of orders by load, {order: [imbalance %, reduction %, most, mean, % of the bytes on nodes]}, that fit each other."""
    found = re.findall(r"^ +(Current|Custom) +(\d+\.\d\d)% +(?:([\d.-]+)%)? +(\d\S+) +(\d\S+)(?: +([\d.]+)%)?$", text, re.M)
    rows = {m[0]: [float(v or 0) for v in m[1:]] for m in found[-2:]}
    for imbalance, _, most, mean, _ in rows.values():
        assert abs(imbalance - 100 * (1 - mean / most)) < .3, text
    assert abs(rows["Custom"][1] - 100 * (1 - rows["Custom"][2] / rows["Current"][2])) < .3, text
    return rows


def load(folder, times):
    """A node full of ranks that compute long; a collective that takes the rest of the time."""
    text = job(folder, "--profile=p.html", "none", env={"GODWIT_PROFILE_TRAFFIC": "traffic", "TRAFFIC_TIMES": times})
    assert "USER_Time" in there(folder) and not {"Grid", "Graph"} & there(folder), text
    rows = loads(text)
    assert rows["Custom"][2] < .7 * rows["Current"][2] and abs(rows["Custom"][3] - rows["Current"][3]) < 1e-3, rows
    said, nodes = ranks_of(folder + "/MPICH_RANK_ORDER.USER_Time")
    assert "# Metric:       USER Time\n" in said and all(sum(r < 4 for r in node) <= 2 for node in nodes), said # other programs disturb the times
    # The first four ranks wait for nobody: the others do, before the collective.
    assert re.search(r"Load imbalance: before MPI_Alltoall ranks wait for each other for [\d.]+ % of the time; rank [0-3] computes longest", plain(text)), text
    assert "try a custom rank order" in plain(text), text
    # The call that takes most of the time, the settings that concern it, and the call that does not block.
    assert re.search(r"Most of it goes into MPI_Alltoall: [\d.]+ % of the time in 160 calls\. Blocks of up to MPICH_ALLTOALL_SHORT_MSG bytes .*"
                     r"MPICH_ALLTOALL_SYNC_FREQ .*; MPI_Ialltoall lets the program compute meanwhile\.", plain(text)), text
    with open(folder + "/traffic", encoding="utf-8") as f:
        assert [line for line in f.read().splitlines() if not line.startswith("#")] == ["16"]
    # Its time is what MPI takes with the waiting.
    takes = float(re.search(r"MPI utilization: MPI takes (\d+)% of the time", plain(text)).group(1))
    of = {m[1]: float(m[0]) for m in re.findall(r"^\s*([\d.]+)% \|.*\| [| ]*(MPI|MPI_SYNC)$", text, re.M)}
    assert of["MPI_SYNC"] > 3 and abs(of["MPI"] + of["MPI_SYNC"] - takes) < 1, text
    assert "--reorder=auto: MPICH_RANK_ORDER.USER_Time: the node that computes longest" in job(folder, "--reorder=auto", "none")


def unsteady(folder, times):
    """Two steps do not tell whether ranks will compute as long again."""
    text = job(folder, "--profile=p.html", "none twice", env={"TRAFFIC_TIMES": times})
    assert "fewer than 4 steps to tell: an order for that might be one for noise, and none is written" in plain(text) and not there(folder), text


def both(folder, times):
    """A grid whose first row computes longest: three files, the hybrid's has the heavy ranks apart and says how much stays on nodes."""
    text = job(folder, "--profile=p.html", "4x4 isend heavy", env={"TRAFFIC_TIMES": times})
    assert {"Grid", "USER_Time", "USER_Time_hybrid"} <= there(folder), text
    rows = loads(text[text.index("MPI Hybrid Rank Order:"):])
    said, nodes = ranks_of(folder + "/MPICH_RANK_ORDER.USER_Time_hybrid")
    assert "# Metric:       USER Time hybrid\n" in said and sorted(r for node in nodes for r in node) == list(range(16)), said
    assert all(sum(r < 4 for r in node) <= 3 for node in nodes), said
    node_of = {r: k for k, node in enumerate(nodes) for r in node}
    pairs = [(r, o) for r in range(16) for o in ([r + 1] if r % 4 < 3 else []) + ([r + 4] if r < 12 else [])]
    kept = 100 * sum(node_of[a] == node_of[b] for a, b in pairs) / len(pairs)
    assert rows["Current"][4] == 50 and abs(rows["Custom"][4] - kept) < .01, text
    os.unlink(folder + "/MPICH_RANK_ORDER.Grid")
    said = job(folder, "--reorder=auto", "4x4 isend") # of two orders by load the one that looks at bytes as well
    assert "--reorder=auto: MPICH_RANK_ORDER.USER_Time_hybrid: the node that computes longest" in said, said


def calls(folder, times):
    """Advice for the call in which all wait for one rank: settings and calls that concern it."""
    for call, words in (("Recv", "The rank waits for the sender: MPI_Irecv"), ("Waitall", "Receives that are posted before"), ("Bcast", "MPICH_BCAST_INTERNODE_RADIX and"),
                        ("Allgather", "MPICH_ALLGATHER_VSHORT_MSG is"), ("Gatherv", "Blocks of up to MPICH_GATHERV_SHORT_MSG"), ("Win_fence", "Fences are for all")):
        text = job(folder, "--profile=p.html", "late " + call, ranks=4, nodes="2", env={"GODWIT_PROFILE_SYNC": "0", "TRAFFIC_TIMES": times})
        assert re.search(r"Most of it goes into MPI_%s: [\d.]+ %% of the time in \d+ calls\. %s" % (call, words), plain(text)), text
    # On one node nothing is said of what acts between nodes.
    for call, words in (("Waitall", r"Receives that are posted before their messages come save a copy; messages of up to GODWIT_EAGER_MAX bytes do"),
                        ("Bcast", "MPI_Ibcast lets"), ("Allgather", "MPI_Iallgather lets"), ("Recv", r"The rank waits for the sender: MPI_Irecv long before\. ")):
        text = plain(job(folder, "--profile=p.html", "late " + call, ranks=4, nodes="1", env={"GODWIT_PROFILE_SYNC": "0", "TRAFFIC_TIMES": times}))
        assert re.search(r"Most of it goes into MPI_%s: [\d.]+ %% of the time in \d+ calls\. %s" % (call, words), text), text
        assert not re.search("GNI|INTERNODE|VSHORT|NET_EAGER|another node", text[text.index("Most of it goes into"):]), text


def short(folder):
    """A run of a few calls and less than a millisecond tells nothing: that is said, and no setting is advised."""
    for _ in range(9): # the machine may stand still meanwhile, and then there is time in MPI
        text = plain(job(folder, "--profile=p.html", "2x2 sendrecv", ranks=4, nodes="1"))
        end = text[text.index("MPI utilization:"):]
        m = re.search(r"That is ([\d.]+) s and ([\d.]+) calls a rank, too little to tell what would help: no advice on calls below 0\.05 s and 1000 calls\.", end)
        if m:
            break
    assert m and float(m[1]) < .05 and 0 < float(m[2]) < 1000 and not re.search("Most of it goes into|Load imbalance|MPICH_|GODWIT_[A-Z]", end), text


def undisturbed(test):
    """What ranks seem to compute is also what other programs take from them: where that is too much, all computes longer, and that counts less."""
    for times in (1, 4, 16, 64):
        with tempfile.TemporaryDirectory() as own:
            try:
                return test(own, str(times))
            except AssertionError:
                if times == 64:
                    raise


def advice():
    """Each variable that advice names is one that is read."""
    with open(ROOT + "/tools/profile/observe.c", encoding="utf-8") as f:
        names = set(re.findall(r"(?:MPICH|GODWIT)_[A-Z_0-9]+[A-Z0-9]", f.read())) - {"MPICH_RANK_ORDER", "GODWIT_VERSION", "GODWIT_PROFILE_TRAFFIC"}
    assert len(names) > 12, names
    for name in names:
        p = subprocess.run([BUILD + "/godwit-info", name], capture_output=True, text=True, timeout=30, check=False)
        assert p.returncode == 0 and "no effect" not in p.stdout, name


# ---- patterns of sizes that no job of a test has: rankplan looks at them as a profile does ----
def links_of(dims, ring=False, weights=None, diagonals=0):
    size, links, strides = 1, {}, []
    for d in reversed(dims):
        strides.insert(0, size)
        size *= d
    at = lambda r: [r // s % d for s, d in zip(strides, dims)]
    for r in range(size):
        for k, (s, d) in enumerate(zip(strides, dims)):
            here = at(r)[k]
            if here + 1 < d or (ring and d > 2):
                o = r + s if here + 1 < d else r - here * s
                links[r, o] = links[o, r] = (weights or [1000] * len(dims))[k]
        if diagonals and len(dims) == 2 and at(r)[0] + 1 < dims[0] and at(r)[1] + 1 < dims[1]:
            links[r, r + strides[0] + 1] = links[r + strides[0] + 1, r] = diagonals
    return size, links


def pattern(folder, size, links, per_node=16):
    with open(folder + "/t", "w", encoding="utf-8") as f:
        f.write("%d\n" % size + "".join("%d %d %d\n" % (a, b, w) for (a, b), w in links.items()))
    p = subprocess.run([BUILD + "/rankplan", "-t", folder + "/t", "-N", str(per_node), "-m", "all-bytes"], capture_output=True, text=True, timeout=60, check=False)
    assert p.returncode == 0, p.stderr
    m = re.match(r"The traffic has a (.*) grid pattern", p.stdout)
    return (m.group(1) if m else None), p.stdout


def patterns(folder):
    rng = random.Random(1)
    for dims in ((96, 8), (192, 2, 2), (16, 2, 8), (6, 5, 4, 3), (64,), (7, 11), (2, 2)):
        name = " X ".join(map(str, dims))
        assert pattern(folder, *links_of(dims))[0] == name, name
        size, links = links_of(dims)
        for _ in range(size // 4): # noise: 250 bytes here and there
            links.setdefault((rng.randrange(size), rng.randrange(size)), 250)
        for r in range(1, size): # results for rank 0
            links.setdefault((r, 0), 20)
        assert size < 8 or pattern(folder, size, links)[0] == name, "with noise: " + name
    assert pattern(folder, *links_of((8, 6), ring=True))[0] == "8 (ring) X 6 (ring)"
    assert pattern(folder, *links_of((16, 16), diagonals=60))[0] == "16 X 16"
    assert pattern(folder, *links_of((16, 16), weights=[1, 60]))[0] == "16 X 16"
    n = 64
    shapes = {"dense": {(a, b): 10 for a in range(n) for b in range(n) if a != b}, "star": {(a, 0): 10 for a in range(1, n)},
              "butterfly": {(a, a ^ 1 << k): 10 for a in range(n) for k in range(6)}, "bisection": {(a, (a + n // 2) % n): 10 for a in range(n)},
              "random": {(rng.randrange(n), rng.randrange(n)): rng.randrange(1, 100) for _ in range(300)},
              "tree": {(a, (a - 1) // 2): 10 for a in range(1, n)}, "pairs": {(a, a ^ 1): 10 for a in range(n)}}
    for name, links in shapes.items():
        assert pattern(folder, n, links)[0] is None, name
    # Cells of the best shape: squares where both dimensions have as much, rows where one has all.
    assert re.search(r"1152 of +1432 +80\.4%.* grid_order -R -Z -c 4,4 -g 96,8\n", pattern(folder, *links_of((96, 8)))[1])
    with open(ROOT + "/doc/figures.md", encoding="utf-8") as f: # which the page of figures has
        assert re.search(r"^\| 9 \| .* \| 80\.4 % of a uniform grid's messages with squares of 4 X 4 \| ", f.read(), re.M)
    assert "grid_order -R -Z -c 2,8 -g 96,8" in pattern(folder, *links_of((96, 8), weights=[10, 1000]))[1]
    # Irregular traffic: groups of 16 whose members are far apart in the order of ranks are put together again.
    rng.shuffle(mixed := list(range(64)))
    groups = {(mixed[a], mixed[b]): 10 for a in range(64) for b in range(64) if a != b and a // 16 == b // 16 and rng.random() < .4}
    out = pattern(folder, 64, groups)[1]
    assert re.search(r"^ +0 .*100\.0%  by the traffic$", out, re.M), out


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as tmp:
        patterns(tmp)
        advice()
        for part in ((grid, reordered), (ways,), (others,), (short,)):
            with tempfile.TemporaryDirectory() as own:
                for test in part:
                    test(own)
        for test in (calls, load, unsteady, both):
            undisturbed(test)
