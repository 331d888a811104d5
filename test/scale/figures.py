#!/usr/bin/env python3
"""What the source documents report of collectives at scale, priced by the simulator: direction and order must come out.

    figures.py BUILD [PREFIX] [--svg FOLDER] [--data]

Prints the table of doc/simulator.md, of which each row must stand there; with --svg the curves too.  What doc/figures.tsv says that the
simulator says must be so, to the digits that stand there; --data writes it there instead."""
# run.py: timeout=300
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import tempfile

BUILD = os.path.abspath(sys.argv[1])
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SVG = sys.argv[sys.argv.index("--svg") + 1] if "--svg" in sys.argv else None
with open(os.path.join(ROOT, "doc", "simulator.md"), encoding="utf-8") as page:
    ROWS = set(page.read().splitlines())
BAD = []
NAMED = {} # ratios that doc/figures.tsv has, by name


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


def figure(what, documents, was, becomes, low, high, note="", name=None):
    ratio = was / becomes
    if name:
        NAMED[name] = ratio
    good = low <= ratio <= high
    row = "| %s | %s | %.0f us | %.0f us | %s | %s |" % (what, documents, was, becomes, ("%.0f" if ratio >= 20 else "%.2g") % ratio, note)
    print(row)
    if row not in ROWS:
        BAD.append("doc/simulator.md has not the row: " + row)
    if not good:
        BAD.append("%s: %.4g is not between %g and %g" % (what, ratio, low, high))


def with_entry(folder, machine, entry):
    """The machine with another price of an entry of a queue, which is assumed."""
    with open(os.path.join(ROOT, "sim", "machines", machine + ".machine"), encoding="utf-8") as f:
        text = f.read()
    assert text.count("entry=0.005") == 1
    path = os.path.join(folder, "%s-%g.machine" % (machine, entry))
    with open(path, "w", encoding="utf-8") as f:
        f.write(text.replace("entry=0.005", "entry=%g" % entry))
    return path


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
    figure("gatherv, 12,000 ranks, 8 B: flat, by rule (a tree)", "500", flat, tree, 500, 10000, "5 ns an entry of a queue", "gatherv")
    for name, entry, least in (("gatherv_half", .0025, 500), ("gatherv_twice", .01, 2000)):
        s = price(with_entry(folder, "xe6", entry), "gatherv", ["flat", "ruled"], 12000, 8)
        figure("the same, %g ns an entry" % (1e3 * entry), "500", s[12000, 8, "flat"], s[12000, 8, "ruled"], least, 10000, "", name)
    t = price(hashed(folder), "gatherv", ["flat", "ruled"], 12000, 8)
    figure("the same, queues hashed", "500", t[12000, 8, "flat"], t[12000, 8, "ruled"], 40, 500, "o and g alone", "gatherv_hashed")
    t = price("xe6", "scatterv", ["linear", "ruled"], ranks, 8, "scatterv.svg")
    figure("scatterv, 12,000 ranks, 8 B: one after the other, by rule (a tree)", "> 15 in some cases", t[12000, 8, "linear"], t[12000, 8, "ruled"], 15, 1000, name="scatterv")
    for coll, was, said, low, high in (("gatherv", "linear:once", "500", 200, 320), ("scatterv", "linear", "> 15 in some cases", 5, 9)):
        s = price("xe6", coll, [was + ":apart", "ruled:apart"], 12000, 8)
        figure("%s, 12,000 ranks, 8 B, blocks not one behind the other: the same" % coll, said, s[12000, 8, was + ":apart"], s[12000, 8, "ruled:apart"], low, high,
               "less than the documents", coll + "_apart")
    t = price("xe6", "gather", ["flat", "tree", "levels"], ranks, 8, "gather.svg")
    figure("gather, 12,000 ranks, 8 B: flat, by levels", "", t[12000, 8, "flat"], t[12000, 8, "levels"], 50, 5000, "")
    t = price("slingshot", "igatherv", ["flat", "permitted:100"], "1024..65536", 8, "igatherv.svg")
    figure("igatherv, 65,536 ranks of 512 nodes, 8 B: free for all, with leave to send", "130", t[65536, 8, "flat"],
           t[65536, 8, "permitted:100"], 30, 500, "5 ns an entry", "igatherv")
    for name, entry in (("igatherv_half", .0025), ("igatherv_twice", .01)):
        s = price(with_entry(folder, "slingshot", entry), "igatherv", ["flat", "permitted:100"], 65536, 8)
        figure("the same, %g ns an entry" % (1e3 * entry), "130", s[65536, 8, "flat"], s[65536, 8, "permitted:100"], 20, 500, "", name)


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
    figure("allgather, 12,000 ranks, at best (%d B): MPICH2's choice, the better one" % where, "up to 10", was, was / most, 3, 30, name="allgather_8")
    last = max(better)
    was = t[ranks, last, mpich2_allgather(ranks, last)]
    figure("allgather, 12,000 ranks, the largest block that gains 15 %% (%d B)" % last, "1.15 and more", was, was / dict((s, r) for r, s in ratios)[last],
           1.15, 10)
    price("xe6", "allgather", ["ring", "bruck", "direct"], "96..6144*2,12000", 8, "allgather-ranks.svg")


def long_allgathers():
    """From 4 KiB a rank on MPICH2 takes a ring; by levels the ranks of a node share what comes to it."""
    t = price("xe6", "allgather", ["ring", "levels"], 1536, "4000,16000,64000,250000,500000")
    for size, low, high in ((4000, 1.5, 10), (16000, 1.15, 10), (64000, 1, 10), (250000, 1, 10), (500000, 1, 10)):
        best = min(t[1536, size, alg] for alg in ("ring", "levels"))
        figure("allgather, 1,536 ranks, %d KB: a ring, the better one" % (size // 1000), "1.15 to 10, 4 to 500 KB", t[1536, size, "ring"], best, low, high,
               "" if low > 1 else "bandwidth decides", "allgather_%dk" % (size // 1000))


def curve(coll, times_longer):
    """Of 8 bytes over 96 to 6,144 ranks: it rises with each doubling, and in all by this factor."""
    ranks = [96, 192, 384, 768, 1536, 3072, 6144]
    t = price("xe6", coll, ["levels"], ",".join(map(str, ranks)), 8)
    times = [t[n, 8, "levels"] for n in ranks]
    for n, a, b in zip(ranks[1:], times, times[1:]):
        if not 1.3 <= b / a <= 2.5:
            BAD.append("%s of 8 bytes, %d ranks: %.4g us after %.4g for half as many" % (coll, n, b, a))
    if round(times[-1] / times[0]) != times_longer:
        BAD.append("%s of 8 bytes: %d ranks take %.4g us, %d %.4g" % (coll, ranks[0], times[0], ranks[-1], times[-1]))


def barriers():
    t = price("xe6", "barrier", ["levels", "levels:network"], "96..12288", 0, "barrier.svg")
    for ranks in (1536, 12288):
        figure("barrier, %s ranks of 24 a node: by hosts, by cards" % format(ranks, ","), "about 2", t[ranks, 0, "levels"],
               t[ranks, 0, "levels:network"], 1.5, 4, "a tree of radix 8 is assumed", "barrier" if ranks == 1536 else "barrier_large")
    t = price("slingshot_atomics", "barrier", ["levels", "atomics", "table"], "2048,65536", 0)
    for ranks in (2048, 65536):
        figure("barrier, %s ranks of 128 a node: by messages between nodes, by the cards' atomics" % format(ranks, ","), "a means to it",
               t[ranks, 0, "levels"], t[ranks, 0, "atomics"], 1.02, 2, "0.10 and 0.25 us of a card are assumed")
        if t[ranks, 0, "table"] != t[ranks, 0, "atomics"]:
            BAD.append("barrier, %d ranks: the table does not take the cards' atomics" % ranks)
    for coll, size in (("barrier", 0), ("bcast", 8), ("allreduce", 8)):
        t = price("slingshot", coll, ["levels", "levels:network"], 65536, size)
        figure("%s, 65,536 ranks, %d B: by hosts, by switches" % (coll, size), "(no number)", t[65536, size, "levels"],
               t[65536, size, "levels:network"], 1.5, 10)


def engines():
    """Which engine sends, on the documents' machines: from a byte on the card reads what the command held before, or a channel of the node
    does what the core did; of an XE6's what fits a mailbox, which goes by the ranks, is the core's in any case."""
    for machine, ranks, first, names, channels in (("slingshot", 256, 192, ("idc", "dma"), 0), ("xe6", 1536, 1024, ("fma", "bte"), 4), ("xe6", 1032, 1024, ("fma", "bte"), 4),
                                                   ("xe6", 1008, 2009, ("fma", "bte"), 4), ("xe6", 480, 8153, ("fma", "bte"), 4), ("xe6", 48, 8153, ("fma", "bte"), 4)):
        for size in (first - 1, first):
            command = [os.path.join(BUILD, "sim", "sim"), "--machine", machine, "--coll", "alltoall", "--alg", "pairwise", "--ranks", str(ranks), "--bytes", str(size),
                       "--detail"]
            out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            used = {w[1]: (int(w[2]), int(w[6])) for w in (line.split() for line in out.splitlines()) if len(w) > 6 and w[1] in names}
            on, off = names[size == first], names[size < first]
            if not used[on][0] > 0 == used[off][0] or (size == first and used[on][1] != channels):
                BAD.append("%s, %d ranks, %d bytes: %s" % (machine, ranks, size, used))


def variables():
    """The documents' variables on the machine that has what they set: where the engine changes; barriers by cards, software by default; the low-memory
    mode, slower, and with little more than a rank a node would take; GPUs of a node."""
    def sim(*words, **env):
        return subprocess.run([os.path.join(BUILD, "sim", "sim"), "--machine", *words], check=True, capture_output=True, text=True, env=dict(os.environ, **env)).stdout

    def engine(size, ranks, **env):
        out = sim("xe6", "--coll", "alltoall", "--alg", "pairwise", "--ranks", str(ranks), "--bytes", str(size), "--detail", **env)
        return next(w[1] for w in (line.split() for line in out.splitlines()) if w[1:2] in (["fma"], ["bte"]) and int(w[2]) > 0)

    def us(coll, alg, ranks, size, **env):
        out = sim("xe6", "--coll", coll, "--alg", alg, "--ranks", str(ranks), "--bytes", str(size), **env)
        return float(out.splitlines()[2].split()[2])

    for value, ranks, first in ((None, 1536, 1024), ("1000", 1536, 1024), ("4000", 1536, 4096), ("1000", 480, 8153), ("4000", 480, 8153)):
        env = {"MPICH_GNI_RDMA_THRESHOLD": value} if value else {}
        if (engine(first - 1, ranks, **env), engine(first, ranks, **env)) != ("fma", "bte"):
            BAD.append("MPICH_GNI_RDMA_THRESHOLD=%s, %d ranks: stores do not end before %d" % (value, ranks, first))
    # Below it a message waits for no engine: the higher, the less latency, and the more of it costs the core.  Of up to 512 ranks it fits a mailbox.
    for ranks, least, most in ((48, 1, 1), (1536, 1.05, 3)):
        low, high = [us("bcast", "binomial", ranks, 2048, MPICH_GNI_RDMA_THRESHOLD=value) for value in ("1024", "4096")]
        figure("bcast, %s ranks, 2,048 B: threshold 1,024, 4,096" % format(ranks, ","), "nothing: it fits a mailbox" if most == 1 else "a threshold of latency", low, high, least, most)
    for coll, size in (("barrier", 0), ("allreduce", 8)):
        plain, cards = us(coll, "table", 1536, size), us(coll, "table", 1536, size, MPICH_USE_DMAPP_COLL="1")
        if plain != us(coll, "levels", 1536, size) or cards != us(coll, "levels:network", 1536, size):
            BAD.append("MPICH_USE_DMAPP_COLL: %s takes %.4g, %.4g with it" % (coll, plain, cards))
        figure("%s, 1,536 ranks: MPICH_USE_DMAPP_COLL=0, 1" % coll, "about 2" if coll == "barrier" else "(no number)", plain, cards, 1.5, 4)
    mbox, msgq = [us("alltoall", "pairwise:8", 1536, 8, MPICH_GNI_VC_MSG_PROTOCOL=word) for word in ("MBOX", "MSGQ")]
    figure("alltoall, 1,536 ranks, 8 B: low memory, mailboxes", "may be much slower", msgq, mbox, 1.3, 10, "0.5 us a message of a node's queue is assumed")
    row = dict(zip(("ranks", "each", "block", "blocks", "all", "ring", "low"), map(int, sim("xe6", "--ranks", "12288", "--mailboxes").splitlines()[2].split())))
    wide = subprocess.run([os.path.join(BUILD, "sim", "sim"), "--machine", "xe6", "--ranks", "8", "--mailboxes"], check=True, capture_output=True, text=True,
                          env=dict(os.environ, MPICH_GNI_MAX_VSHORT_MSG_SIZE="99999"))
    if "MPICH_GNI_MAX_VSHORT_MSG_SIZE" not in wide.stderr or wide.stdout.splitlines()[2].split()[1] != "8192":
        BAD.append("MPICH_GNI_MAX_VSHORT_MSG_SIZE=99999: %s%s" % (wide.stdout, wide.stderr))
    if sim("xe6", "--ranks", "8", "--mailboxes", MPICH_GNI_MAX_VSHORT_MSG_SIZE="100").splitlines()[2].split()[1] != "140":
        BAD.append("MPICH_GNI_MAX_VSHORT_MSG_SIZE=100 does not shrink mailboxes")
    nodes = 12288 // 24
    if not 1 <= row["low"] / (row["each"] * (nodes - 1)) < 1.1 or row["all"] != 24 * 12287 * row["each"] or row["ring"] != 48 * row["each"]:
        BAD.append("mailboxes: %s" % row)
    print("| mailboxes of a node, 12,288 ranks: all to all, low memory | little more than a rank a node | %.0f MB | %.2f MB | | |" % (row["all"] / 1e6, row["low"] / 1e6))
    said = [int(line.split()[-1]) for line in sim("frontier", "--gpus").splitlines()[1:]]
    NAMED.update(zip(("gpu_same", "gpu_pair", "gpu_other"), map(float, said)))
    if said != [800, 80, 50, 36, 25]:
        BAD.append("frontier --gpus: %s" % said)


CLASSES = {"best_effort", "low_latency", "dedicated", "bulk", "scavenger"}


def congestion():
    """Victims' latency of 8 bytes beside aggressors, times that alone, by class and management."""
    with open(os.path.join(ROOT, "sim", "machines", "slingshot.machine"), encoding="utf-8") as f:
        if {line.split()[1] for line in f if line.startswith("class ")} != CLASSES:
            BAD.append("slingshot.machine has not the documents' classes: %s" % ", ".join(sorted(CLASSES)))
    command = [os.path.join(BUILD, "sim", "sim"), "--machine", "dragonfly", "--congestion"]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = {tuple(w[:3]): [float(x) for x in w[3:]] for w in (line.split() for line in out.splitlines()[2:])}
    ways = {("no", "yes"), ("yes", "no"), ("yes", "yes")} # aggressors, managed
    if set(rows) != {(c,) + way for c in CLASSES for way in ways}:
        BAD.append("--congestion has not the five classes in three ways: %s" % sorted(rows))
    # Classes with a share or a priority of their own, or managed, see little of the others; none but the unreliable one loses anything.
    for (victims, aggressors, managed), (_mean, _most, times, _taken, lost) in rows.items():
        if (victims, managed) != ("best_effort", "no") and not 1 <= times < 1.13 or (victims != "scavenger" or aggressors == "no") and lost:
            BAD.append("--congestion: %s, aggressors %s, managed %s: %.4g times, %.4g lost" % (victims, aggressors, managed, times, lost))
    for victims, managed, low, high in (("best_effort", "no", 6.2, 6.7), ("best_effort", "yes", 1, 1.04), ("low_latency", "no", 1.06, 1.12)):
        mean, most, times, taken, lost = rows[victims, "yes", managed]
        print("| latency of 8 B beside incasts of 15, victims in %s%s | | %.2f us | %.2f us, at most %.0f | %.2f | targets take %.0f %% |" %
              (victims, ", managed" if managed == "yes" else "", rows["best_effort", "no", "yes"][0], mean, most, times, 100 * taken))
        NAMED["congest_class" if victims == "low_latency" else "congest_managed" if managed == "yes" else "congest"] = times
        if not low <= times <= high or taken < 0.6 or lost:
            BAD.append("%s, managed %s: %.4g is not between %g and %g, or %.2f too little" % (victims, managed, times, low, high, taken))
    # The unreliable class loses what others leave no room for, and nothing alone.
    alone, beside = rows["scavenger", "no", "yes"][4], rows["scavenger", "yes", "no"][4]
    print("| packets of 8 B lost in class scavenger, alone and beside incasts of 15 | | %.0f %% | %.0f %% | | |" % (100 * alone, 100 * beside))
    if alone or not .01 <= beside < 1:
        BAD.append("scavenger loses %.4g alone, %.4g beside incasts" % (alone, beside))


def million():
    """64 times the ranks take six rounds more of seven over the nodes: the rest of a million is in million.py."""
    for coll, size in (("barrier", 0), ("allreduce", 8)):
        t = price("slingshot", coll, ["levels"], "16384,1048576", size)
        ratio = t[1048576, size, "levels"] / t[16384, size, "levels"]
        if not 1.3 <= ratio <= 2:
            BAD.append("%s of a million ranks: %.4g times as long as of 16,384" % (coll, ratio))


def described(name):
    """{(word, name): {key: number}} of a machine; what only one line can say has no name."""
    rows = {}
    with open(os.path.join(ROOT, "sim", "machines", name + ".machine"), encoding="utf-8") as f:
        for words in (line.split("#")[0].split() for line in f):
            if words[:1] == ["like"]:
                rows = described(words[1])
            elif words and words[0] != "machine":
                named = words[1] if len(words) > 1 and "=" not in words[1] else ""
                rows.setdefault((words[0], named), {}).update((k, float(v)) for k, v in (w.split("=") for w in words[1:] if "=" in w))
    return rows


# Ranks a node, cards a node, nodes (groups, switches, nodes at each; none: no groups are described).
MACHINES = {"alps": (4, 4, (21, 32, 4)), "archer": (24, 1, (13, 96, 4)), "aurora": (12, 8, (166, 32, 2)), "cluster": (64, 1, ()),
            "crossroads": (112, 1, (12, 32, 16)), "crusher": (8, 4, (2, 24, 4)), "dragonfly": (1, 1, (9, 4, 4)), "elcapitan": (4, 4, (87, 32, 4)),
            "ethernet": (16, 1, ()), "frontier": (8, 4, (74, 32, 4)), "lumi": (8, 4, (24, 32, 4)), "perlmutter": (4, 4, (14, 32, 4)),
            "setonix": (128, 1, (13, 8, 16)), "slingshot": (128, 1, ()), "slingshot_atomics": (128, 1, ()), "slingshot10": (128, 1, ()), "xe6": (24, 1, ())}
# What the documents say of cards, engines, links and switches; ns a byte.  50 GB/s of a link between Frontier's modules: 0.02.
SAID = {("xe6", "engine", "fma"): {"upto": 1023, "mailbox": 1}, ("archer", "engine", "fma"): {"upto": 1023, "mailbox": 1}, ("xe6", "engine", "bte"): {"n": 4}, ("xe6", "offload", ""): {"radix": 8},
        ("slingshot", "engine", "idc"): {"upto": 191}, ("slingshot", "offload", ""): {"radix": 64}, ("slingshot", "nic", ""): {"G": .043},
        ("slingshot10", "nic", ""): {"G": .085}, ("frontier", "nic", ""): {"n": 4, "link": .02, "L": .01, "G": .043},
        ("frontier", "gpu", ""): {"ranks": 2, "links": 4, "link": .02, "host": .0278, "pcie": .04}, ("frontier", "node", ""): {"ranks": 8}, ("lumi", "nic", ""): {"link": .02}, ("slingshot", "fabric", ""): {"G": .04}}


def machines():
    """Each machine that is described, as it was: a barrier over 32 of its nodes takes longer than within one, and less than a millisecond."""
    there = {f[:-len(".machine")] for f in os.listdir(os.path.join(ROOT, "sim", "machines"))}
    if there != set(MACHINES):
        BAD.append("other machines: %s" % ", ".join(sorted(there ^ set(MACHINES))))
    for name in sorted(there):
        rows = described(name)
        per_node, fabric = int(rows["node", ""]["ranks"]), rows.get(("fabric", ""), {})
        has = (per_node, int(rows["nic", ""]["n"]), tuple(int(fabric[k]) for k in ("groups", "switches", "nodes") if k in fabric))
        if has != MACHINES.get(name):
            BAD.append("%s.machine: %s ranks and cards a node, nodes" % (name, has))
        t = price(os.path.join(ROOT, "sim", "machines", name + ".machine"), "barrier", ["dissemination"], "%d,%d" % (per_node, 32 * per_node), 0)
        one, many = t[per_node, 0, "dissemination"], t[32 * per_node, 0, "dissemination"]
        if not one < many < 1000:
            BAD.append("%s: a barrier on a node takes %.4g us, on 32 %.4g" % (name, one, many))
    for (name, word, of), values in SAID.items():
        rows = described(name).get((word, of), {})
        if any(rows.get(k) != v for k, v in values.items()):
            BAD.append("%s.machine, %s %s: %s, the documents have %s" % (name, word, of, rows, values))


def alltoalls():
    algs = ["pairwise:once", "pairwise", "bruck"]
    t = price("xe6", "alltoall", algs, 10008, "8..8192*4", "alltoall.svg")
    figure("alltoall, 10,008 ranks, 8 B: everything at once, store and forward", "(a graph)", t[10008, 8, algs[0]], t[10008, 8, "bruck"], 5, 1000)
    figure("alltoall, 10,008 ranks, 512 B: everything at once, four at a time", "(a graph)", t[10008, 512, algs[0]], t[10008, 512, "pairwise"], 1.5, 100)
    figure("alltoall, 10,008 ranks, 8 KiB: the same", "(a graph)", t[10008, 8192, algs[0]], t[10008, 8192, "pairwise"], 0.8, 1.5, "bandwidth decides")


def vectors():
    """MPI_Alltoallv: a few at a time, and by what the ranks agree on; what agreeing costs where it changes nothing.  Alltoall with a rank a node."""
    t = price("slingshot", "alltoallv", ["pairwise:8", "ruled"], 2048, "8,256,65536")
    for size, low, high, note in ((8, 5, 50, "by nodes"), (256, 1.2, 5, "by nodes"), (65536, .95, 1.05, "pairwise, agreed on")):
        figure("alltoallv, 2,048 ranks of 128 a node, %s B: eight at a time, by rule" % format(size, ","), "(no number)", t[2048, size, "pairwise:8"],
               t[2048, size, "ruled"], low, high, note)
    t = price("dragonfly", "alltoallv", ["pairwise:8", "ruled"], 144, 8)
    figure("alltoallv, 144 ranks of 144 nodes, 8 B: the same", "(no number)", t[144, 8, "pairwise:8"], t[144, 8, "ruled"], 1.4, 5, "by doubling")
    t = price("dragonfly", "alltoall", ["pairwise:8", "bruck"], 144, "8,256")
    for size, low in ((8, 2), (256, 1.2)):
        figure("alltoall, 144 ranks of 144 nodes, %d B: eight at a time, by doubling" % size, "(no number)", t[144, size, "pairwise:8"], t[144, size, "bruck"],
               low, 10)


def on_node(folder):
    """Two ranks of a node, by shared memory, and of two nodes: the same message takes longer by the network, until bandwidth decides."""
    apart = os.path.join(folder, "apart.machine")
    with open(os.path.join(ROOT, "sim", "machines", "xe6.machine"), encoding="utf-8") as f, open(apart, "w", encoding="utf-8") as g:
        g.write("".join("node ranks=1\n" if line.startswith("node ") else line.replace("level node ranks=24", "level node ranks=1") for line in f))
    sizes = [8, 4096, 65536]
    near, far = [price(m, "bcast", ["binomial"], 2, ",".join(map(str, sizes))) for m in ("xe6", apart)]
    for size in sizes:
        figure("a message of %s B on a node, to another" % format(size, ","), "faster on a node", far[2, size, "binomial"], near[2, size, "binomial"], 1.1, 20)


def other_card(folder):
    """A message of two nodes like Frontier's by the card of the next module: what a link costs at each end, which is assumed."""
    for name in ("slingshot", "frontier"):
        with open(os.path.join(ROOT, "sim", "machines", name + ".machine"), encoding="utf-8") as f, open(os.path.join(folder, name + ".machine"), "w", encoding="utf-8") as g:
            g.write("".join(line for line in f if not line.startswith("gpu ")))
    times = {}
    for other in (0, 1):
        path = os.path.join(folder, "card-%d.machine" % other)
        with open(path, "w", encoding="utf-8") as f:
            f.write("like frontier\nnode ranks=1\nlevel node ranks=1\nnic other=%d\n" % other)
        t = price(path, "bcast", ["binomial"], 2, "8,1048576")
        times[other] = [t[2, size, "binomial"] for size in (8, 1048576)]
    latency, bandwidth = [100 * (b / a - 1) for a, b in zip(times[0], times[1])]
    NAMED["other_card"] = latency
    print("| a message of 8 B, of 1 MiB, by another card | below 2 %%, 0 %% | %.2f us | %.2f us | %.1f %%, %.1f %% | 10 ns a link are assumed |" %
          (times[0][0], times[1][0], latency, bandwidth))
    if not 0 < latency < 2 or bandwidth > .2:
        BAD.append("another card: %.3g %% latency, %.3g %% bandwidth" % (latency, bandwidth))


def data(writes):
    """doc/figures.tsv, which bench/figures reads and writes."""
    how, where = "test/scale/figures.py --data", "the simulator: the same everywhere"
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("figures", os.path.join(ROOT, "bench", "figures"))
    bench = importlib.util.module_from_spec(importlib.util.spec_from_loader("figures", loader))
    loader.exec_module(bench)
    if writes:
        bench.write(NAMED, how, where)
        return
    rows = bench.read()
    new = {name: bench.entry(ratio, how, where) for name, ratio in NAMED.items()}
    BAD.extend("doc/figures.tsv: %s is %s now" % (name, new[name][0]) for name in sorted(new) if rows.get(name) != new[name])


def main():
    print("| what, before and after | documents: times faster | before | after | simulator | |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        gathers(folder)
        on_node(folder)
        other_card(folder)
    allgathers()
    long_allgathers()
    curve("allgather", 12)  # doubling over the nodes: for 64 times the ranks
    curve("allgatherv", 72) # a ring over the nodes
    barriers()
    engines()
    variables()
    alltoalls()
    vectors()
    congestion()
    million()
    machines()
    data("--data" in sys.argv)
    for text in BAD:
        print(text)
    return 1 if BAD else 0


if __name__ == "__main__":
    sys.exit(main())
