#!/usr/bin/env python3
"""A call through a door takes few instructions more than natively (callgrind counts, so that the load of the machine does not matter): at
most 15 for MPI_Comm_rank, 40 for MPI_Isend, MPI_Irecv and their part of MPI_Waitall together, with statuses or without, 40 for MPI_Isend of a long message and, with
MPI_THREAD_MULTIPLE, for MPI_Isend and MPI_Irecv each.  Prints all that cost.c counts."""
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
        "the same, communicator made, Waitall of 2": (["Isend_made", "Irecv_made", "Waitall_2"], 40),
        "Isend + Irecv + Waitall of 2 with statuses": (["Isend", "Irecv", "Waitall_2_statuses"], 40),
        "the same, communicator made": (["Isend_made", "Irecv_made", "Waitall_2_statuses"], 40),
        "Isend, long": (["Isend_long"], 40)}
SUMS_THREADS = {"with threads, Isend": (["Isend"], 40), "with threads, Irecv": (["Irecv"], 40)}


def sums_of(counts, sums):
    """what -> name -> instructions"""
    return {what: {name: sum(counts[name][part] for part in parts) for name in counts} for what, (parts, _) in sums.items()}


def too_many(counts, sums):
    """(what, name, more than natively, most)"""
    for what, of_names in sums_of(counts, sums).items():
        for name, n in of_names.items():
            most = sums[what][1]
            if not 20 < n <= of_names["native"] + most:
                yield what, name, n - of_names["native"], most


def report(counts, sums):
    print("%-48s" % "" + "".join("%10s" % name for name in counts))
    for call in sorted(counts["native"]):
        print("%-48s" % call + "".join("%10.1f" % counts[name].get(call, -1) for name in counts))
    for what, of_names in sums_of(counts, sums).items():
        print("%-48s" % what + "".join("%10.1f" % of_names[name] for name in counts))
    failed = list(too_many(counts, sums))
    for what, name, more, most in failed:
        print("%s, %s: %.1f instructions more than natively, at most %d are right" % (what, name, more, most))
    return bool(failed)


def least(build, programs, words, are_right):
    """name -> timed_X -> instructions a call"""
    libraries = os.path.join(build, "src", "door") + ":" + build

    def run(exe):
        return lambda folder: native.count(build, [exe] + words, folder, CALLS, libraries, min)
    return native.least({name: run(exe) for name, exe in programs.items()}, are_right)


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
        programs = {name: compile_one(build, command, folder, name) for name, command in commands.items()}
        failed = False
        for words, sums in (([], SUMS), (["threads"], SUMS_THREADS)):
            failed |= report(least(build, programs, words, lambda counts, sums=sums: not list(too_many(counts, sums))), sums)
    return failed


if __name__ == "__main__":
    sys.exit(main())
