#!/usr/bin/env python3
"""Programs of test/mpi, compiled by Debian's mpicc.mpich against MPICH's header and library, run on Godwit through its door with the
same results: mpich.py BUILD PREFIX short | whole | symbols.

whole: every line of test/mpi/testlist whose program MPICH's header knows; left_out says which it does not, and every other program
must compile.  symbols: the door has each name that Debian's binaries ask of MPICH, and godwit-info says so."""
# run.py: args=short timeout=240 tags=quick
# run.py: args=symbols timeout=60 tags=quick
# run.py: args=whole timeout=3000 tags=extra
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import concurrent.futures
import glob
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
import run  # noqa: E402

MPICC = "mpicc.mpich"
# One of each kind: point to point, collectives, datatypes, attributes, error handlers, one-sided, files, topologies, spawn.
SHORT = ["hello", "p2p_modes", "p2p_waits", "coll_basic", "coll_user", "type_messages", "bottom", "rma_passive", "io_views", "neighbor",
         "spawn_errors", "comm_make", "p2p_persistent", "pmpi"]


def left_out():
    with open(os.path.join(HERE, "mpich.left_out"), encoding="utf-8") as f:
        return {line.split()[0] for line in f if line.strip() and not line.startswith("#")}


def compile_all(names, build, folder):
    """Programs that do not compile, with what the compiler says."""
    def one(name):
        command = [MPICC, "-w", "-O1", "-D_GNU_SOURCE", "-I" + build, os.path.join(HERE, "..", "mpi", name + ".c"), "-o",
                   os.path.join(folder, "mpi_" + name), "-lm", "-lpthread", "-ldl"]
        p = subprocess.run(command, capture_output=True, text=True, check=False)
        return (name, p.stderr[:400]) if p.returncode else None
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return [r for r in pool.map(one, names) if r]


def run_programs(build, folder, short):
    names = {os.path.basename(p)[:-2] for p in glob.glob(os.path.join(HERE, "..", "mpi", "*.c"))}
    wanted = sorted(n for n in names - left_out() if not short or n in SHORT)
    failed = compile_all(wanted, build, folder)
    for name, text in failed:
        print("%s does not compile with %s:\n%s" % (name, MPICC, text))
    os.symlink(os.path.join(build, "mpiexec"), os.path.join(folder, "mpiexec")) # finds the door by where it lies itself
    cases = [c for c in run.mpi_cases(folder) if os.path.basename(c.command[3])[4:] in wanted]
    if short: # the first line of each program
        first = {}
        for c in cases:
            first.setdefault(c.command[3], c)
        cases = list(first.values())
    bad = len(failed)
    for case, (status, _, out) in run.run_all(cases, 3, {}):
        if status == "FAIL":
            bad += 1
            print("%s\n%s" % (case.name, out[-1500:]))
    print("%d runs of %d programs, %d bad" % (len(cases), len(wanted), bad))
    return 1 if bad or not cases else 0


def check_symbols(build, folder):
    door = os.path.join(build, "src", "door", "mpich", "libmpich.so.12")
    text = subprocess.run(["nm", "-D", "--defined-only", door], capture_output=True, text=True, check=True).stdout
    have = {line.split()[-1].split("@")[0] for line in text.splitlines()}
    with open(os.path.join(HERE, "debian_mpich_c.lst"), encoding="utf-8") as f:
        wanted = [line.strip() for line in f if line.strip() and not line.startswith("#")]
    missing = sorted(set(wanted) - have)
    strange = sorted(n for n in have if not n.startswith(("MPI_", "PMPI_", "MPIX_", "PMPIX_", "MPIR_")))
    one_sided = sorted(n for n in have if n.startswith("PMPI_") and n[1:] not in have)
    for what, names in (("the door lacks", missing), ("the door shows", strange), ("no MPI_ name for", one_sided)):
        if names:
            print(what, " ".join(names))
    program = os.path.join(folder, "mpi_hello")
    failed = compile_all(["hello"], build, folder)
    out = subprocess.run([os.path.join(build, "godwit-info"), program], capture_output=True, text=True, check=False).stdout
    says = "was built with MPICH" in out and "MPI names that it asks for are there" in out
    if not says:
        print("godwit-info says: " + out)
    return 1 if missing or strange or one_sided or failed or not says or len(wanted) < 100 else 0


def main(build, _prefix, mode):
    if not shutil.which(MPICC):
        print("skipped: needs %s (Debian's libmpich-dev)" % MPICC)
        return 77
    with tempfile.TemporaryDirectory() as folder:
        build = os.path.abspath(build)
        return check_symbols(build, folder) if mode == "symbols" else run_programs(build, folder, mode == "short")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
