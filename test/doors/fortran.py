#!/usr/bin/env python3
"""Fortran programs, compiled by another MPI library's mpifort against its mpif.h and modules, run on Godwit through its door:
fortran.py BUILD PREFIX mpich | ompi short | whole | symbols.

The programs are those of test/fortran and the points at which ABIs differ (fortran.f90); short: three of them on three ranks.  symbols: the door
has each name that Debian's binaries ask for, and each that the library itself has for programs; godwit-info says so."""
# run.py: args=mpich,short timeout=120 tags=quick
# run.py: args=mpich,symbols timeout=60 tags=quick
# run.py: args=mpich,whole timeout=300 tags=extra
# run.py: args=ompi,short timeout=120 tags=quick
# run.py: args=ompi,symbols timeout=60 tags=quick
# run.py: args=ompi,whole timeout=300 tags=extra
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
FORTRAN = os.path.join(HERE, "..", "fortran")
# name, sources, what it says, ranks
PROGRAMS = [("points", ["fortran.f90", "fortran_names.c"], "all points", (1, 2, 3, 4)),
            ("points_at_fixed_place", ["fortran.f90", "fortran_names.c"], "all points", (1, 3)),
            ("fixed", ["fixed.f"], "fixed: all right", (1, 2, 3, 4)), ("module", ["module.f90"], "module: all right", (1, 2, 3, 4)),
            ("callbacks", ["callbacks.f90"], "callbacks: all right", (1, 2, 3, 4)), ("sections", ["sections.f90"], "sections: all right", (1, 2, 3, 4)),
            ("c_main", ["mixed.c", "mixed.f90"], "mixed: all right", (1, 3)), ("f_main", ["mixed.c", "mixed.f90"], "mixed: all right", (1, 3)),
            ("spawn", ["spawn.f90"], "spawn: all right", (1, 2)), ("async", ["async.f90"], "async: all right", (1,))]
PROGRAMS += [("kernels_" + form, ["kernels.f90"], "kernels_%s: all right" % form, (1, 2, 3, 4, 8)) for form in ("h", "mpi", "f08")]
SHORT = ["points", "points_at_fixed_place", "callbacks", "sections"]
# What the modules of Debian 12's libraries do not have (MPI 4.0 and later, and what was left out).
MPICH = {"fort": "mpifort.mpich", "cc": "mpicc.mpich", "built_with": "MPICH, in Fortran", "doors": ["libmpichfort.so.12"],
         "lacks": ["WITHOUT_SESSIONS", "WITHOUT_OP_CREATE_C", "WITHOUT_STATUS_F2F08", "WITHOUT_TOINT", "WITHOUT_STATUS_OF_SEVERAL"], "folders": ["fortran", "src/door"],
         # Its inner names, its own calls (MPIX_), and PMPI_ names of functions that are only passed.
         "inner": r"p?mpir_|MPIR_|__mpi_c_interface|__mpi_constants_MOD|P?MPIX_|p?mpixr?_|P?MPI_Status_|MPI_F_|mpirinit|p?mpi_delete_error_|.*_f08_assign_c$|"
                  r".*_c_assign_f08$|(PMPI|pmpi)_\w*_(FN|fn)(_NULL|_null)?_*$"}
# No choice buffer of its modules is a section (sections), and MPI_ASYNC_PROTECTS_NONBLOCKING is false (async).
OMPI = {"fort": "mpifort.openmpi", "cc": "mpicc.openmpi", "built_with": "Open MPI, in Fortran", "without": ["sections", "async"],
        "doors": ["libmpi_mpifh.so.40", "libmpi_usempif08.so.40", "libmpi_usempi_ignore_tkr.so.40"], "folders": ["fortran", "src/door"],
        "other_half": "libmpi.so.40", # it has the common blocks
        "lacks": ["WITHOUT_SESSIONS", "WITHOUT_OP_CREATE_C", "WITHOUT_LARGE", "WITHOUT_INFO_GET_STRING", "WITHOUT_STATUS_F2F08", "WITHOUT_TOINT", "WITHOUT_F08_IGNORE"],
        # What its libraries call of each other, and its own calls (MPIX_).
        "inner": r"p?ompix?_\w*_f$|p?ompi_buffer_detach_f08$|ompi_intercept_|P?MPIX?_[A-Z][a-z0-9_]*_f(08)?$|P?MPIX_|p?mpix_|mpiext_"}
ABIS = {"mpich": MPICH, "ompi": OMPI}


def source(name):
    path = os.path.join(HERE, name)
    return path if os.path.exists(path) else os.path.join(FORTRAN, name)


def compile_one(abi, name, sources, folder):
    """What the compilers say where they fail, or None."""
    objects = []
    fixed = ["-fno-pie", "-no-pie"] if "fixed_place" in name else []
    for s in sources:
        out = os.path.join(folder, "%s.%s.o" % (name, s))
        defines = ["-D" + d for d in abi["lacks"] + [name.upper()]]
        if s.endswith(".c"):
            command = [abi["cc"], "-O1", "-w"]
        else:
            command = [abi["fort"], "-O2", "-w", "-cpp", "-fallow-argument-mismatch", "-J" + folder]
        p = subprocess.run(command + fixed + defines + ["-c", source(s), "-o", out], capture_output=True, text=True, check=False)
        if p.returncode:
            return p.stderr[-800:]
        objects.append(out)
    p = subprocess.run([abi["fort"]] + fixed + objects + ["-o", os.path.join(folder, name)], capture_output=True, text=True, check=False)
    return p.stderr[-800:] if p.returncode else None


def run_programs(abi, build, folder, short):
    bad = runs = 0
    env = dict(os.environ, FORT_TEST_FOLDER=folder, GFORTRAN_UNBUFFERED_ALL="y")
    for name, sources, says, ranks in PROGRAMS:
        if short and name not in SHORT or name in abi.get("without", []):
            continue
        wrong = compile_one(abi, name, sources, folder)
        if wrong:
            print("%s does not compile with %s:\n%s" % (name, abi["fort"], wrong))
            bad += 1
            continue
        for n in [3] if short else ranks:
            p = subprocess.run([os.path.join(build, "mpiexec"), "-n", str(n), os.path.join(folder, name)], capture_output=True, text=True,
                               check=False, timeout=100, env=env, stdin=subprocess.DEVNULL)
            runs += 1
            if p.returncode or p.stdout.strip() != says:
                bad += 1
                print("%s on %d ranks: %d\n%s%s" % (name, n, p.returncode, p.stdout[-800:], p.stderr[-800:]))
    print("%d runs, %d bad" % (runs, bad))
    return 1 if bad or runs < (2 if short else 20) else 0


def names(path):
    text = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].split("@")[0] for line in text.splitlines()}


def library_of(fort, soname):
    return subprocess.run([fort, "-print-file-name=" + soname], capture_output=True, text=True, check=True).stdout.strip()


def check_symbols(abi, build, folder):
    wrong = compile_one(abi, "module", ["module.f90"], folder)
    if wrong:
        print(wrong)
        return 1
    program = os.path.join(folder, "module")
    have, wanted = set(), set()
    for soname in abi["doors"]:
        door = next(p for p in (os.path.join(build, f, soname) for f in abi["folders"]) if os.path.exists(p))
        have |= names(door)
        wanted |= {n for n in names(library_of(abi["fort"], soname)) if not re.match(abi["inner"], n)}
    if "other_half" in abi:
        have |= names(os.path.join(build, "src", "door", abi["other_half"]))
    with open(os.path.join(HERE, "debian_fortran.lst"), encoding="utf-8") as f:
        demanded = {line.strip() for line in f if line.strip() and not line.startswith("#")}
    missing = sorted((wanted | demanded) - have)
    if missing:
        print("the door lacks %d names: %s" % (len(missing), " ".join(missing)))
    out = subprocess.run([os.path.join(build, "godwit-info"), program], capture_output=True, text=True, check=False).stdout
    says = "was built with " + abi["built_with"] in out and "MPI names that it asks for are there" in out
    if not says:
        print("godwit-info says: " + out)
    print("%d names of Debian's binaries, %d of the library" % (len(demanded), len(wanted)))
    return 1 if missing or not says or len(demanded) < 100 or len(wanted) < 1000 else 0


def main(build, _prefix, which, mode):
    abi = ABIS[which]
    if not shutil.which(abi["fort"]) or not shutil.which("gfortran"):
        print("skipped: needs gfortran and %s" % abi["fort"])
        return 77
    with tempfile.TemporaryDirectory() as folder:
        build = os.path.abspath(build)
        return check_symbols(abi, build, folder) if mode == "symbols" else run_programs(abi, build, folder, mode == "short")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
