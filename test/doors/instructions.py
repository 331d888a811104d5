#!/usr/bin/env python3
"""A call through a door takes few instructions more than natively (callgrind counts, so that the load of the machine does not matter): at
most 15 for MPI_Comm_rank, 40 for MPI_Isend, MPI_Irecv and their part of MPI_Waitall together.  Prints all that cost.c counts."""
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
sys.path.insert(0, os.path.join(HERE, "..", "system"))
import instructions as native  # noqa: E402

CALLS = 20 * 20 # rounds x window of cost.c
DOORS = {"mpich": "mpicc.mpich", "ompi": "mpicc.openmpi"}
# What is compared -> parts of it, and how many instructions more are right.
SUMS = {"Comm_rank": (["Comm_rank"], 15), "Comm_size": (["Comm_size"], 15), "Comm_rank_made": (["Comm_rank_made"], 15),
        "Isend + Irecv + Waitall": (["Isend", "Irecv", "Waitall"], 40),
        "the same, communicator made, Waitall of 2": (["Isend_made", "Irecv_made", "Waitall_2"], 40)}


def count(build, exe, folder):
    """timed_X -> instructions a call below it; the least of both ranks."""
    os.mkdir(folder)
    env = dict(os.environ, LD_LIBRARY_PATH=os.path.join(build, "src", "door") + ":" + build) # the program is started by valgrind
    subprocess.run([os.path.join(build, "mpiexec"), "-n", "2", "--bind-to", "none", "valgrind", "-q", "--tool=callgrind",
                    "--callgrind-out-file=" + os.path.join(folder, "cg.%p"), "--collect-atstart=no",
                    "--toggle-collect=timed_*", exe],
                   env=env, check=True, timeout=100)
    least = {}
    for name in os.listdir(folder):
        counts = {}
        for inclusive in ("yes", "no"): # without what the loop around the calls takes
            text = subprocess.run(["callgrind_annotate", "--inclusive=" + inclusive, "--threshold=100", os.path.join(folder, name)],
                                  capture_output=True, text=True, check=True).stdout
            for m in re.finditer(r"^\s*([\d,]+) .*?:timed_(\w+)", text, re.M):
                n = int(m.group(1).replace(",", ""))
                counts[m.group(2)] = n if inclusive == "yes" else counts.get(m.group(2), 0) - n
        for call, n in counts.items():
            least[call] = min(least.get(call, n / CALLS), n / CALLS)
    return least


def sums_of(counts):
    """what -> name -> instructions"""
    return {what: {name: sum(counts[name][part] for part in parts) for name in counts} for what, (parts, _) in SUMS.items()}


def too_many(counts):
    """(what, name, more than natively, most)"""
    for what, sums in sums_of(counts).items():
        for name, n in sums.items():
            most = SUMS[what][1]
            if not 20 < n <= sums["native"] + most:
                yield what, name, n - sums["native"], most


def least(build, programs, folder):
    """Of up to three runs, in turns: a call that finds no free line, or looks at the network, takes longer."""
    counts = {name: {} for name in programs}
    for turn in range(3):
        for name, exe in programs.items():
            for call, n in count(build, exe, os.path.join(folder, "%s.%d" % (name, turn))).items():
                counts[name][call] = min(counts[name].get(call, n), n)
        if not list(too_many(counts)):
            break
    return counts


def compile_one(build, command, folder, name):
    exe = os.path.join(folder, name)
    subprocess.run(command + ["-O2", "-g", "-w", os.path.join(HERE, "cost.c"), "-o", exe] +
                   ([os.path.join(build, "libmpi_abi.so.1")] if name == "native" else []), check=True)
    return exe


def main():
    build = os.path.abspath(sys.argv[1])
    if any(not shutil.which(tool) for tool in ("valgrind", "callgrind_annotate")) or os.uname().machine != "x86_64" or \
            not native.is_optimised(build):
        native.skip("counted are the instructions of an optimised build for x86-64, with valgrind")
    doors = {abi: cc for abi, cc in DOORS.items() if shutil.which(cc)}
    if not doors:
        native.skip("needs mpicc.mpich or mpicc.openmpi (Debian's libmpich-dev, libopenmpi-dev)")
    with tempfile.TemporaryDirectory() as folder:
        commands = dict({"native": ["gcc", "-I" + os.path.join(build, "include")]}, **{abi: [cc] for abi, cc in doors.items()})
        counts = least(build, {name: compile_one(build, command, folder, name) for name, command in commands.items()}, folder)
    print("%-48s" % "" + "".join("%10s" % name for name in counts))
    for call in sorted(counts["native"]):
        print("%-48s" % call + "".join("%10.1f" % counts[name].get(call, -1) for name in counts))
    for what, sums in sums_of(counts).items():
        print("%-48s" % what + "".join("%10.1f" % sums[name] for name in counts))
    failed = list(too_many(counts))
    for what, name, more, most in failed:
        print("%s, %s: %.1f instructions more than natively, at most %d are right" % (what, name, more, most))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
