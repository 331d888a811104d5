#!/usr/bin/env python3
"""With a progress thread a long message leaves the processor to the thread that computes: all of its bytes arrive without a call, within a node
and between two faked nodes, of 64 KiB and of 1 MiB, and its three calls together take some thousand instructions, of 1 MiB no more than of
64 KiB; without one, nothing of 1 MiB arrives before MPI_Waitall.  (callgrind counts, so that the load of the machine does not matter; what
that is of the time stands in doc/figures.md.)
users.md row 15"""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
# run.py: timeout=300
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import instructions as native  # noqa: E402

ROUNDS, SIZES, MOST, MORE = 20, (1 << 16, 1 << 20), 6000, 1500


def arrived(build, exe, nodes, thread, size):
    """The share of the bytes that were there before MPI_Waitall, of the rank that had fewest."""
    env = dict(os.environ, GODWIT_VNODES=nodes, GODWIT_PROGRESS_THREAD=thread, LD_LIBRARY_PATH=build)
    out = subprocess.run([os.path.join(build, "mpiexec"), "-n", "2", exe, str(size)], env=env, check=True, timeout=100, capture_output=True, text=True).stdout
    there = re.findall(r"there (\d+) of (\d+)", out)
    assert len(there) == 2, out
    return min(int(n) / int(of) for n, of in there)


def calls(build, exe, folder, nodes, size):
    # callgrind counts each byte of a string instruction, by which some of the first copies are tried
    os.environ.update(GODWIT_VNODES=nodes, GODWIT_PROGRESS_THREAD="1", GODWIT_COPY="plain")
    counts = native.count(build, [exe, str(size)], folder, ROUNDS, build, max)
    return {"all": counts["start"] + counts["end"]}


def are_right(counts):
    return all(c["all"] <= MOST for c in counts.values()) and \
        all(counts[nodes, SIZES[1]]["all"] <= counts[nodes, SIZES[0]]["all"] + MORE for nodes in "12")


def main():
    build, prefix = os.path.abspath(sys.argv[1]), sys.argv[2]
    if not prefix:
        native.skip("needs an installation")
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        exe = os.path.join(folder, "available")
        subprocess.run([os.path.join(prefix, "bin", "mpicc"), "-O2", "-g", "-w", os.path.join(HERE, "available.c"), "-o", exe], check=True)
        for nodes in "12":
            shares = {(thread, size): arrived(build, exe, nodes, thread, size) for thread in "10" for size in SIZES}
            print("%s node(s): %s" % (nodes, ", ".join("%d B %s thread %.2f there" % (size, "with" if thread == "1" else "without", share)
                                                       for (thread, size), share in shares.items())))
            failed += ["of %d bytes a share of %.2f arrives while the program computes, of %s node(s)" % (size, shares["1", size], nodes)
                       for size in SIZES if shares["1", size] < 1]
            if shares["0", SIZES[1]] > 0.1:
                failed.append("messages arrive without the thread, too: %s" % shares)
        if all(shutil.which(tool) for tool in ("valgrind", "callgrind_annotate")) and native.is_optimised(build) and os.uname().machine == "x86_64":
            runs = {(nodes, size): (lambda at, nodes=nodes, size=size: calls(build, exe, at, nodes, size)) for nodes in "12" for size in SIZES}
            counts = native.least(runs, are_right)
            for (nodes, size), c in counts.items():
                print("%s node(s), %7d B: MPI_Irecv, MPI_Isend and MPI_Waitall take %.0f instructions" % (nodes, size, c["all"]))
            if not are_right(counts):
                failed.append("at most %d are right, and of 1 MiB at most %d more than of 64 KiB" % (MOST, MORE))
    print("\n".join(failed))
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
