#!/usr/bin/env python3
"""Short calls stay short: how many instructions MPI_Send, MPI_Isend, MPI_Irecv, and MPI_Put with its flush take on a node (callgrind
counts, so that the load of the machine does not matter), and what their bodies call: nothing that is not off the fast path."""
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
CALLS = 22 * 50  # rounds x window of bench/instructions.c
MOST = {"MPI_Send": 85, "MPI_Isend": 95, "MPI_Irecv": 100, "MPI_Put_flush": 80}
# Where the bodies go when the fast path is not for them, or the receiver sleeps.
OFF = r"rest_\w+|node_ring_look|node_ring_slow|__memmove\w*|memmove"


def skip(why):
    print(why)
    sys.exit(77)


def is_optimised(build):
    options = subprocess.run(["meson", "introspect", "--buildoptions", build], capture_output=True, text=True, check=True).stdout
    sanitizers = re.search(r'"name": "b_sanitize", "value": "(\w+)', options)
    return not (sanitizers and sanitizers.group(1) != "none") and not re.search(r'"name": "optimization", "value": "[0g]"', options)


def targets(lib, function):
    """What the body of a function calls, or jumps to outside of it."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "--disassemble=P" + function, lib], capture_output=True, text=True,
                          check=True).stdout
    found = re.findall(r"\b(?:call|jmp|j[a-z]+)\s+(?:\*0x[0-9a-f]+\(%rip\)\s+# )?[0-9a-f]+ <([^>+@]+)[^>]*>", text)
    if "<P%s>:" % function not in text:
        sys.exit("%s has no P%s" % (lib, function))
    return {t for t in found if t != "P" + function}


def count(build, command, folder, calls, libraries, of_ranks):
    """timed_X -> instructions a call below it, of one run on two ranks; of_ranks: min or max."""
    env = dict(os.environ, LD_LIBRARY_PATH=libraries) # the program is started by valgrind
    subprocess.run([os.path.join(build, "mpiexec"), "-n", "2", "--bind-to", "none", "valgrind", "-q", "--tool=callgrind",
                    "--callgrind-out-file=" + os.path.join(folder, "cg.%p"), "--collect-atstart=no",
                    "--toggle-collect=timed_*"] + command, env=env, check=True, timeout=150)
    ranks = {}
    for name in os.listdir(folder):
        counts = {}
        for inclusive in ("yes", "no"): # without what the loop around the calls takes
            text = subprocess.run(["callgrind_annotate", "--inclusive=" + inclusive, "--threshold=100", os.path.join(folder, name)],
                                  capture_output=True, text=True, check=True).stdout
            for m in re.finditer(r"^\s*([\d,]+) .*?:timed_(\w+)", text, re.M):
                n = int(m.group(1).replace(",", ""))
                counts[m.group(2)] = n if inclusive == "yes" else counts.get(m.group(2), 0) - n
        for call, n in counts.items():
            ranks[call] = of_ranks(ranks.get(call, n / calls), n / calls)
    return ranks


def least(runs, are_right):
    """Of up to three runs of each (name -> function that counts in a folder), in turns: a call that finds no free line, or looks at the
    network, takes longer, and how often that is depends on the load."""
    counts = {name: {} for name in runs}
    for _ in range(3):
        for name, run in runs.items():
            with tempfile.TemporaryDirectory() as folder:
                for call, n in run(folder).items():
                    counts[name][call] = min(counts[name].get(call, n), n)
        if are_right(counts):
            break
    return counts


def main():
    build, prefix = os.path.abspath(sys.argv[1]), sys.argv[2]
    for tool in ("valgrind", "objdump", "callgrind_annotate"):
        if not shutil.which(tool):
            skip("there is no " + tool)
    if os.uname().machine != "x86_64" or not prefix or not is_optimised(build):
        skip("counted are the instructions of an optimised build for x86-64")
    failed = []
    lib = os.path.join(build, "libmpi_abi.so.1.0.0")
    for function in ("MPI_Send", "MPI_Isend", "MPI_Irecv", "MPI_Put"):
        more = sorted(t for t in targets(lib, function) if not re.fullmatch(OFF, t.split(".")[0]))
        if more:
            failed.append("%s calls %s on its fast path" % (function, ", ".join(more)))
    with tempfile.TemporaryDirectory() as folder:
        exe = os.path.join(folder, "instructions")
        source = os.path.join(HERE, "..", "..", "bench", "instructions.c")
        subprocess.run([os.path.join(prefix, "bin", "mpicc"), "-O2", "-g", "-w", source, "-o", exe], check=True)
        counts = least({"": lambda at: count(build, [exe], at, CALLS, build, max)},
                       lambda c: all(c[""].get(call, most + 1) <= most for call, most in MOST.items()))[""]
    for call, most in MOST.items():
        print("%-14s %6.1f instructions" % (call, counts.get(call, -1)))
        if not 20 < counts.get(call, -1) <= most:
            failed.append("%s takes %.1f instructions, at most %d are right" % (call, counts.get(call, -1), most))
    for line in failed:
        print(line)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
