#!/usr/bin/env python3
"""Programs of test/mpi, compiled by another library's mpicc against its header and library, run on Godwit through its door with the same
results: suite.py BUILD PREFIX mpich|ompi short|whole|symbols.

whole: every line of test/mpi/testlist, but for the programs of ABI.left_out.  What the header does not have (it is older than the
standard) comes from a second one (newer.py), and the program is linked with the door.
symbols: the door has each name that Debian's binaries ask of that library, its variables are as large as that library's own, and
godwit-info says so; what is generated for it, and for its Fortran half, stays readable: below 12,000 lines each."""
# run.py: args=mpich,short timeout=240 tags=quick
# run.py: args=mpich,symbols timeout=60 tags=quick
# run.py: args=mpich,whole timeout=3000 tags=extra
# run.py: args=ompi,short timeout=240 tags=quick
# run.py: args=ompi,symbols timeout=60 tags=quick
# run.py: args=ompi,whole timeout=3000 tags=extra
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
import newer  # noqa: E402
import run  # noqa: E402

# One of each kind: point to point, collectives, datatypes, attributes, error handlers, one-sided, files, topologies, spawn.
SHORT = ["hello", "p2p_modes", "p2p_waits", "coll_basic", "coll_user", "type_messages", "bottom", "rma_passive", "io_views", "neighbor",
         "spawn_errors", "comm_make", "p2p_persistent", "pmpi", "attributes"]


class Library:
    """Another library: its compiler and its file, and how its names begin."""

    def __init__(self, abi, mpicc, file, package, said, names):
        self.abi, self.mpicc, self.file, self.package, self.said, self.names = abi, mpicc, file, package, said, names

    def read(self, kind):
        """Lines of the list ABI.KIND."""
        with open(os.path.join(HERE, "%s.%s" % (self.abi, kind)), encoding="utf-8") as f:
            return [line.split()[0] for line in f if line.strip() and not line.startswith("#")]


LIBRARIES = {"mpich": Library("mpich", "mpicc.mpich", "libmpich.so.12", "libmpich-dev", "MPICH", "P?MPI_|P?MPIX_|MPIR_|MPII_(Op_set_cxx|Errhandler_set_cxx|Keyval_set_proxy)$"),
             "ompi": Library("ompi", "mpicc.openmpi", "libmpi.so.40", "libopenmpi-dev", "Open MPI",
                             "P?MPI_|MPIX_|OMPI_C_|ompi_(mpi|request|message)_|mpi_fortran_|ompi_op_set_cxx_callback$|godwit_ompi_cxx")}


class Folder:
    """Where programs are compiled; `build` is ours."""

    def __init__(self, lib, build, path):
        self.lib, self.path = lib, path
        self.door = os.path.join(build, "src", "door", lib.file)
        self.own = [lib.mpicc, "-DOMPI_OMIT_MPI1_COMPAT_DECLS=0", "-DOMPI_REMOVED_USE_STATIC_ASSERT=0", "-w", "-Werror=implicit-function-declaration", "-O1", "-D_GNU_SOURCE", "-I" + build]
        self.second = os.path.join(path, "newer.h")
        with open(self.second, "w", encoding="utf-8") as f:
            f.write(newer.header(lib.abi, lib.mpicc))

    def compile_one(self, name, with_second):
        tail = ["-o", os.path.join(self.path, "mpi_" + name), "-lm", "-lpthread", "-ldl"]
        more = [self.door, "-Wl,--allow-shlib-undefined"] if with_second else []
        before = ["-include", self.second] if with_second else []
        p = subprocess.run(self.own + before + [os.path.join(HERE, "..", "mpi", name + ".c")] + more + tail, capture_output=True, text=True,
                           check=False)
        return p.stderr[:400] if p.returncode else None

    def compile_all(self, names):
        """Programs that do not compile, with what the compiler says."""
        def one(name):
            return (name, self.compile_one(name, False) and self.compile_one(name, True))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            return [r for r in pool.map(one, names) if r[1]]


def run_programs(lib, build, path, short):
    names = {os.path.basename(p)[:-2] for p in glob.glob(os.path.join(HERE, "..", "mpi", "*.c"))}
    wanted = SHORT if short else sorted(names - set(lib.read("left_out")))
    failed = Folder(lib, build, path).compile_all(wanted)
    for name, text in failed:
        print("%s does not compile with %s:\n%s" % (name, lib.mpicc, text))
    os.symlink(os.path.join(build, "mpiexec"), os.path.join(path, "mpiexec")) # finds the door by where it lies itself
    cases = [c for c in run.mpi_cases(path) if os.path.basename(c.command[3])[4:] in wanted]
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
    return 1 if bad or len(cases) < len(SHORT) else 0


def symbols_of(path):
    """name -> size of what a library shows; 0 for functions."""
    text = subprocess.run(["nm", "-D", "-S", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in text.splitlines()]
    return {r[-1].split("@")[0]: 0 if r[-2] in "TtWw" else int(r[1], 16) for r in rows if len(r) == 4}


def own_library(program, file):
    """Where the linker finds the other library."""
    out = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return re.search(r"%s => (\S+)" % re.escape(file), out).group(1)


def generated(lib, build):
    """What is generated for a half of the door -> its lines of C, without the header it is compiled against."""
    lines = {}
    for half in (os.path.join("src", "door", lib.abi), os.path.join("fortran", lib.abi)):
        lines[half] = 0
        for name in glob.glob(os.path.join(build, half, "*.c")):
            with open(name, encoding="utf-8") as f:
                lines[half] += sum(1 for _ in f)
    return lines


def check_symbols(lib, build, path):
    folder = Folder(lib, build, path)
    failed = folder.compile_one("hello", False)
    if failed:
        print(failed)
        return 1
    program = os.path.join(path, "mpi_hello")
    have, wanted = symbols_of(folder.door), lib.read("debian")
    theirs = symbols_of(own_library(program, lib.file))
    faults = {"it lacks": sorted(set(wanted) - set(have)), "it shows": sorted(n for n in have if not re.match(lib.names, n)),
              "no MPI_ name for": sorted(n for n in have if n.startswith("PMPI_") and n[1:] not in have),
              "of another size are": sorted(n for n in have if n in theirs and have[n] != theirs[n])}
    for half, lines in generated(lib, build).items():
        if not 1000 < lines < 12000:
            print("%s has %d generated lines, not between 1,000 and 12,000" % (half, lines))
            return 1
    for what, names in faults.items():
        if names:
            print("the door: " + what, " ".join(names))
    out = subprocess.run([os.path.join(build, "godwit-info"), program], capture_output=True, text=True, check=False).stdout
    says = "was built with %s:" % lib.said in out and re.search(r"all \d+ MPI names that it asks for are there", out)
    if not says:
        print("godwit-info says: " + out)
    return 1 if any(faults.values()) or not says or len(wanted) < 100 else 0


def main(build, _prefix, abi, mode):
    lib = LIBRARIES[abi]
    if not shutil.which(lib.mpicc):
        print("skipped: needs %s (Debian's %s)" % (lib.mpicc, lib.package))
        return 77
    with tempfile.TemporaryDirectory() as path:
        build = os.path.abspath(build)
        return check_symbols(lib, build, path) if mode == "symbols" else run_programs(lib, build, path, mode == "short")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
