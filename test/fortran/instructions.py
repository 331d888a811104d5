#!/usr/bin/env python3
"""A Fortran send takes at most 30 instructions more than MPI_Send in C (callgrind counts) by the module mpi, also on a communicator of the
program's own, and by mpi_f08.  Counted is what the binding does; what a compiler does around a call, such as filling in a descriptor, is shown."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
# run.py: timeout=120
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CALLS = 1000
MOST = 30
FORMS = ["timed_mpi_", "timed_made_", "timed_f08_", "timed_array_"]


def main():
    prefix = sys.argv[2] and os.path.abspath(sys.argv[2])
    for tool in ("valgrind", "callgrind_annotate", "gfortran"):
        if not shutil.which(tool):
            print("there is no " + tool)
            return 77
    if os.uname().machine != "x86_64" or not prefix:
        print("counted are the instructions of an installed build for x86-64")
        return 77
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        exe = os.path.join(folder, "cost")
        subprocess.run([os.path.join(prefix, "bin/mpifort"), "-O2", "-g", "-fno-inline", os.path.join(HERE, "cost.f90"), "-o", exe], check=True, cwd=folder)
        for form in FORMS:
            out = os.path.join(folder, "cg.%s.%%p" % form)
            subprocess.run([os.path.join(prefix, "bin/mpiexec"), "-n", "2", "--bind-to", "none", "valgrind", "-q", "--tool=callgrind",
                            "--callgrind-out-file=" + out, "--collect-atstart=no", "--toggle-collect=" + form, exe], check=True, timeout=100)
            counts = [read(os.path.join(folder, n)) for n in os.listdir(folder) if n.startswith("cg." + form)]
            whole, binding, c = max(counts)
            more = (binding - c) / CALLS
            print("%-13s %5.1f instructions more than in C (MPI_Send: %.1f; around the call %.1f)" % (
                form, more, c / CALLS, (whole - binding) / CALLS))
            failed |= not 10 < more <= MOST or not c
    return 1 if failed else 0


def read(path):
    """Instructions in all; in the binding and what it calls; in MPI_Send and what it calls."""
    text = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", path], capture_output=True, text=True, check=True).stdout
    total = re.search(r"([\d,]+) .*PROGRAM TOTALS", text)
    found = [total.group(1)] if total else ["0"]
    for name in (r"mpi_send\w*", "P?MPI_Send"):
        found.append(max(re.findall(r"^\s*([\d,]+) [^\n]*?:%s\b" % name, text, re.M), key=lambda n: int(n.replace(",", "")), default="0"))
    return tuple(int(n.replace(",", "")) for n in found)


if __name__ == "__main__":
    sys.exit(main())
