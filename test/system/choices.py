#!/usr/bin/env python3
"""godwit-choices: what it says of a job is what the job then does and tells; jobs of any size, settings, sizes at which something else begins."""
# run.py: args=few timeout=120
# run.py: args=all timeout=240 tags=extra
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import re
import subprocess
import sys

BUILD = os.path.abspath(sys.argv[1])
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(("GODWIT_", "MPICH_"))}
READS = {"pull", "direct"}  # algorithms that read other processes' memory, which not each machine allows


def ask(words, status=0, **env):
    p = subprocess.run([BUILD + "/godwit-choices"] + words.split(), env=dict(CLEAN, **env), capture_output=True, text=True, timeout=60, check=False)
    assert p.returncode == status, "%s: %s" % (words, p.stderr)
    return p.stdout if status == 0 else p.stderr


def said_of(line, size):
    """(algorithm, why) that a line of godwit-choices gives for this many bytes."""
    ruled = re.match(r"(tree) up to (\w+) a rank on average .*, above (permission|one after the other),", line)
    if ruled:
        most = int(ruled.group(2).rstrip("KMG")) << 10 * " KMG".find((" " + ruled.group(2))[-1] if ruled.group(2)[-1] in "KMG" else " ")
        return ruled.group(1 if size <= most else 3), None
    pieces = re.findall(r"(?:^|; from (\d+)([KMG]?) )(\w+) \(([^)]*)\)", line)
    return [(alg, why) for low, unit, alg, why in pieces if size >= int(low or 0) << 10 * " KMG".index(unit or " ")][-1]


def as_it_runs(ranks, nodes, **env):
    """What each collective that blocks takes by size, and the bytes that a job tells of it."""
    command = [BUILD + "/mpiexec", "-n", str(ranks), "--vnodes", str(nodes), BUILD + "/mpi_coll_choices"]
    p = subprocess.run(command, env=dict(CLEAN, GODWIT_EXPLAIN="coll", **env), capture_output=True, text=True, timeout=60, check=False)
    assert p.returncode == 0, p.stderr
    said = dict(re.findall(r"^(\w+) {2,}(.*)$", ask("-n %d --vnodes %d" % (ranks, nodes), **env), re.M))
    now, told, found = {}, {}, set()
    for line in p.stderr.splitlines():
        m = re.match(r"godwit\[0\] coll: (\w+) of (\d+) bytes (a rank on average )?on \d+ ranks.*: ([\w ]+) \(([^)]*)\)", line)
        if m:
            now[m.group(1)] = m.group(4), None if m.group(3) else m.group(5)
            told[m.group(1)] = int(m.group(2))
        m = re.match(r"did (\w+) (\d+) (\d+)", line)
        if m:
            kind, size = m.group(1), int(m.group(2))
            want = said_of(said[kind], size)
            # An average is told by the root alone, once for each choice.
            assert now[kind] == want or want[0] in READS, "%s of %d bytes on %d ranks, %d nodes %s: the job takes %s, not %s" % (kind, size, ranks, nodes, env, now[kind], want)
            average = now[kind][1] is None
            assert told.pop(kind, None) in (None, size if average else int(m.group(3))), (line, p.stderr)
            found.add(kind)
    assert len(found) == 14, found


def sweep(counts):
    """Shapes of jobs: nodes of one rank, of several, of the same size or not."""
    for ranks in counts:
        for nodes in sorted({n for n in (1, 2, 3, 4, ranks) if n <= ranks}):
            as_it_runs(ranks, nodes)
        if ranks % 4 == 0:
            ruled = {"MPICH_GATHERV_MIN_COMM_SIZE": "2", "MPICH_SCATTERV_MIN_COMM_SIZE": "2"}
            as_it_runs(ranks, 2, **ruled)
            as_it_runs(ranks, 4, MPICH_GATHERV_SHORT_MSG="100", MPICH_SCATTERV_SHORT_MSG="1K", **ruled)


def vectors():
    """gatherv and scatterv: a tree or permission, from how many bytes on, in the documents' words; and what a job says of them."""
    said = ask("-n 512 -N 32 gatherv scatterv")
    assert "gatherv         tree up to 16K a rank on average (MPICH_GATHERV_SHORT_MSG), above permission, 16 at a time (MPICH_GATHERV_SYNC_FREQ)\n" in said, said
    assert "scatterv        tree up to 2K a rank on average (MPICH_SCATTERV_SHORT_MSG), above one after the other, " in said, said
    assert "tree up to 8K" in ask("-n 1024 -N 32 scatterv") and "tree up to 100 a" in ask("-n 512 -N 32 gatherv", MPICH_GATHERV_SHORT_MSG="100")
    for size, word in ((8, "tree"), (16384, "tree"), (16385, "permission")):
        assert ask("-n 512 -N 32 -b %d gatherv" % size).split() == ["gatherv", str(size), word]
    for limit, word, how in (("1M", "tree", "up to 1048576"), ("0", "permission", "above 0")):
        command = [BUILD + "/mpiexec", "-n", "5", "--vnodes", "2", BUILD + "/mpi_coll_vector"]
        p = subprocess.run(command, env=dict(CLEAN, GODWIT_EXPLAIN="coll", MPICH_GATHERV_MIN_COMM_SIZE="2", MPICH_GATHERV_SHORT_MSG=limit), capture_output=True,
                           text=True, timeout=60, check=False)
        text = p.stderr + p.stdout
        assert p.returncode == 0 and re.search(r"coll: gatherv of [1-9]\d* bytes a rank on average on 5 ranks: %s \(%s, MPICH_GATHERV_SHORT_MSG\)" % (word, how), text), text[-3000:]


def shapes():
    """The documents' limits of MPI_Alltoall by number of ranks, where nodes are not alike; inline messages by size of the job."""
    for ranks, per_node, most in ((1000, 128, 512), (1023, 2, 512), (1025, 128, 256), (65535, 2, 256), (65537, 2, 128), (131071, 2, 128), (131073, 2, 64)):
        line = ask("-n %d -N %d alltoall" % (ranks, per_node)).splitlines()[-1]
        levels = r"; from 65 levels \(tune/nodes\.tbl\)" if most > 64 else ""
        assert re.search(r"^alltoall +bruck \(tune/nodes\.tbl\)%s; from %d pairwise" % (levels, most + 1), line), "%d ranks: %s" % (ranks, line)
    for ranks, most in ((512, "8152"), (513, "2008"), (1025, "472"), (16385, "216"), (262145, "100")):
        assert "inline (E0) up to %s," % most in ask("-n %d -N 1" % ranks), ranks
    assert "messages to other nodes" not in ask("-n 64")
    assert ask("-n 7 --vnodes 3,1") == ask("-n 7", GODWIT_VNODES="3,1") and ask("-n 8 --vnodes 2") == ask("-n 8 -N 4")
    assert ask("-n 7 --vnodes 3,1").startswith("7 ranks, up to 3 a node, 3 nodes\n") and ask("-n 7 -N 3", GODWIT_VNODES="2") == ask("-n 7 -N 3")
    assert ask("-n 64 -N 8").startswith("64 ranks, 8 a node, 8 nodes\n") and ask("-n 8").startswith("8 ranks, 8 a node, 1 node\n")


def settings():
    assert re.search(r"^allreduce +levels", ask("-n 64 -N 8"), re.M)
    assert not re.search(r"^allreduce .*levels", ask("-n 64 -N 8", MPICH_ALLREDUCE_NO_SMP="1"), re.M)
    assert re.search(r"^bcast +binomial \(GODWIT_COLL\)$", ask("-n 64 -N 8 bcast", GODWIT_COLL="bcast=binomial"), re.M)
    assert not re.search(r"leaf|pull", ask("-n 8", GODWIT_COLL_LEAF="off"))
    assert "longer ones in pieces" in ask("-n 64 -N 8", MPICH_GNI_LMT_PATH="disabled")
    assert "by a card, 4056 by TCP" in ask("-n 64 -N 8", MPICH_GNI_MAX_EAGER_MSG_SIZE="4096")
    # What the ranks of an MPI_Alltoallv would agree on, blocks of that length from all to all.
    for words, said in (("-n 64 -N 8", r"padded_columns \(agreed\); from 257 pairwise \(agreed\)"), ("-n 100 -N 1", r"padded_bruck \(agreed\); from 257 pairwise \(agreed\)"),
                        ("-n 32 -N 8", r"pairwise \(tune/coll\.tbl\)"), ("-n 64", "leaf .*")):
        assert re.search(r"^alltoallv +%s$" % said, ask(words + " alltoallv"), re.M), ask(words + " alltoallv")
    assert re.search(r"^alltoallv +pairwise \(tune/coll\.tbl\)$", ask("-n 64 -N 8 alltoallv", MPICH_COLL_OPT_OFF="MPI_Alltoallv"), re.M)
    # Where something else begins is found to the byte.
    line = ask("-n 8 alltoall").splitlines()[-1]
    at = int(re.search(r"from (\d+) ", line).group(1))
    before, after = (ask("-n 8 -b %d alltoall" % b).split()[2] for b in (at - 1, at))
    assert before != after and before == line.split()[1], line


def processors():
    """A row of the table by processor, and which one was taken: this machine's, another, none."""
    said = ask("-n 2 allgather allreduce reduce_scatter", GODWIT_PROCESSOR="intel/6/207")
    assert "processor: intel/6/207" in said and re.search(r": \d+ rows of tune/processors\.tbl for it come before the general ones\n", said), said
    assert "leaf (tune/processors.tbl, intel/6/207); from 8193 pull (tune/processors.tbl, intel/6/207)\n" in said, said
    assert re.search(r"^allreduce .*; from 131073 direct \(tune/processors\.tbl, intel/6/207\); from 524289 leaf_wide \(tune/coll\.tbl\)$", said, re.M), said
    for processor in ("intel/6/143", "amd/26/2", "none"):
        other = ask("-n 2 allgather", GODWIT_PROCESSOR=processor)
        assert "processors.tbl, " not in other and re.search(r"^allgather +leaf \(tune/coll\.tbl\); from 32769 pull", other, re.M), other
        assert ("processor: none (GODWIT_PROCESSOR): the general rows count" if processor == "none" else "no row of tune/processors.tbl names it") in other, other
    # Members on several nodes may have several processors: such rows are for those on one.
    said = ask("-n 4 -N 2", GODWIT_PROCESSOR="intel/6/207")
    assert "general ones, in communicators on one node" in said and "processors.tbl, " not in said, said
    here = re.search(r"^processor (\S+) \(", subprocess.run([BUILD + "/godwit-info"], env=CLEAN, capture_output=True, text=True, check=True).stdout, re.M)
    assert not here or "processor: %s (" % here.group(1) in ask("-n 4"), here.group(1)
    # A job takes them, too.
    as_it_runs(2, 1, GODWIT_PROCESSOR="intel/6/207")
    command = [BUILD + "/mpiexec", "-n", "2", BUILD + "/mpi_coll_reduce"]
    p = subprocess.run(command, env=dict(CLEAN, GODWIT_EXPLAIN="coll", GODWIT_PROCESSOR="intel/6/207"), capture_output=True, text=True, timeout=60, check=False)
    assert p.returncode == 0 and re.search(r"coll: allreduce of \d+ bytes on 2 ranks .* \(tune/processors\.tbl, intel/6/207\)", p.stderr + p.stdout), p.stderr[-3000:]


def atomics():
    """A barrier by the network's atomic operations: where a card has them, and where it is asked for."""
    said = ask("-n 64 -N 8 barrier")
    assert re.search(r"^barrier +levels \(tune/nodes\.tbl\); atomics \(tune/nodes\.tbl\) where a card raises counters in other nodes' memory$", said, re.M), said
    assert re.search(r"^barrier +dissemination \(tune/coll\.tbl\); atomics \(tune/nodes\.tbl\) where a card ", ask("-n 8 -N 1 barrier"), re.M)
    assert re.search(r"^barrier +atomics \(GODWIT_COLL\)$", ask("-n 64 -N 8 barrier", GODWIT_COLL="barrier=atomics"), re.M)
    for env in ({"GODWIT_COLL": "barrier=levels"}, {"MPICH_COLL_OPT_OFF": "MPI_Barrier"}):
        assert "atomics" not in ask("-n 64 -N 8 barrier", **env), env
    assert "atomics" not in ask("-n 8 barrier") and "atomics" not in ask("-n 8 barrier", GODWIT_COLL="barrier=atomics")


def wrong():
    assert "usage: godwit-choices" in ask("", status=2)
    assert ask("--help") == ask("-h") == ask("", status=2) and "-N" in ask("--help")
    assert "-n N is not there: say how many ranks" in ask("-N 4", status=2)
    assert "x: is no number" in ask("-n x", status=2)
    assert "--vnodes: '2,,1' is neither a number of faked nodes" in ask("-n 4 --vnodes 2,,1", status=2)
    assert "-N and --vnodes both say" in ask("-n 4 --vnodes 2 -N 2", status=2)
    assert "-q: is no option" in ask("-n 4 -q", status=2)
    assert "godwit-choices: --blurb: is no option" in ask("-n 4 --blurb", status=2) and "godwit-choices: -b: is no option" in ask("-n 4 -b", status=2)
    assert re.match(r"godwit-choices \(Godwit\) [0-9.]+\n$", ask("--version"))
    assert "sorting: is no collective" in ask("-n 4 sorting", status=2)
    assert "did you mean bcast?" in ask("-n 4 bcst", status=2)
    for command in ("-n 4 sorting", ""):
        assert re.search(r"Collectives: barrier, bcast, .*, exscan$", ask(command, status=2), re.M), command
    assert ask("-np 4 MPI_Allreduce") == ask("-n 4 allreduce")
    p = subprocess.run([BUILD + "/godwit-choices", "-n", "4"], env=dict(CLEAN, GODWIT_PROCESSOR="Xeon"), capture_output=True, text=True, timeout=60, check=False)
    assert p.returncode == 0 and "GODWIT_PROCESSOR=Xeon is not VENDOR/FAMILY/MODEL, such as intel/6/207, auto or none; using the default, auto" in p.stderr, p.stderr
    assert "/0/0" not in ask("-n 4 bcast", GODWIT_PROCESSOR="none")
    assert "has no algorithm 'fast'" in ask("-n 4", status=2, GODWIT_COLL="bcast=fast")


if __name__ == "__main__":
    if sys.argv[2:] == ["all"]:
        sweep(range(1, 17))
        sys.exit()
    as_it_runs(1, 1)
    as_it_runs(3, 1)
    as_it_runs(5, 2)
    as_it_runs(5, 1, GODWIT_COLL_LEAF="off")
    as_it_runs(8, 2, MPICH_ALLREDUCE_NO_SMP="1")
    sweep([4])
    vectors()
    shapes()
    settings()
    processors()
    atomics()
    wrong()
