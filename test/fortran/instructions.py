#!/usr/bin/env python3
"""A Fortran send takes at most 30 instructions more than MPI_Send in C (callgrind counts): by the module mpi, by mpi_f08 with a variable and with
an array, and on a communicator of the program's own.  Counted is all between the loop and MPI_Send, the loop and a C call's own arguments included."""
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
CALLS, MOST, A_CALL = 1000, 30, 8 # A_CALL: what a C program needs to put six arguments in place, call, and count
FORMS = ["timed_mpi_", "timed_f08_", "timed_array_", "timed_made_"]


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
            whole, c = max((x for x in counts), key=lambda x: x[0])
            more = (whole - c) / CALLS - A_CALL
            print("%-13s %5.1f instructions more than in C (MPI_Send: %.1f)" % (form, more, c / CALLS))
            if not -A_CALL < more <= MOST or not c:
                failed = True
    return 1 if failed else 0


def read(path):
    """(instructions in all, those in MPI_Send and what it calls)"""
    text = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", path], capture_output=True, text=True, check=True).stdout
    total = re.search(r"([\d,]+) .*PROGRAM TOTALS", text)
    send = [int(m.group(1).replace(",", "")) for m in re.finditer(r"^\s*([\d,]+) [^\n]*?:P?MPI_Send\b", text, re.M)]
    return int(total.group(1).replace(",", "")) if total else 0, max(send, default=0)


if __name__ == "__main__":
    sys.exit(main())
