"""Compares the door libmpi_cxx.so.40 with Debian's: the tables of virtual functions, slot by slot, and the names that programs may ask for.
Not in the door: what lies between Open MPI's own two libraries, and what is inline in its header, so that programs have it themselves."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import re
import subprocess
import sys

OWN = "/usr/lib/x86_64-linux-gnu/libmpi_cxx.so.40"
WITHIN = re.compile(r"ompi_cxx_\w+|ompi_mpi_cxx_\w+_(attr_intercept|errhandler_invoke|throw_excptn_fctn)|ompi_mpi_cxx_throw_exception")
ONLY_PROGRAMS_MAKE = {"_ZTVN3MPI8GrequestE"}


def read(path):
    """(names that are no inline functions: name -> size; tables: name -> names of the functions)"""
    def lines(*args):
        return subprocess.run(["readelf", "-W", *args, path], capture_output=True, text=True, check=True).stdout.splitlines()
    symbols, at, relocations = {}, {}, {}
    for words in map(str.split, lines("--dyn-syms")):
        if len(words) == 8 and words[6] not in ("UND", "Ndx"):
            at[words[7]] = (int(words[1], 16), int(words[2], 0))
            if words[4] == "GLOBAL":
                symbols[words[7]] = words[2] if words[3] == "OBJECT" else ""
    for line in lines("-r"):
        found = re.match(r"([0-9a-f]{16}) .* R_X86_64_64 +\S+ (\S+)", line)
        if found:
            relocations[int(found[1], 16)] = found[2].split("@")[0]
    tables = {n: [relocations.get(a + 8 * i, "") for i in range(size // 8)] for n, (a, size) in at.items() if n.startswith("_ZTVN3MPI")}
    return symbols, tables


def main():
    if not os.path.exists(OWN):
        print("skipped: the tables are compared with those of %s (Debian's libopenmpi3, x86-64), which is not here" % OWN)
        return
    (want, want_tables), (have, tables) = read(OWN), read(sys.argv[1])
    lacking = sorted(n for n, size in want.items() if not WITHIN.fullmatch(n) and (n not in have or have[n] != size))
    differ = sorted(n for n, slots in want_tables.items() if n not in ONLY_PROGRAMS_MAKE and tables.get(n) != slots)
    if lacking or differ or len(want) < 100 or len(want_tables) != 17:
        sys.exit("cxx_tables: %d names, %d tables; not in the door, or of another size: %s; tables that differ: %s" % (
            len(want), len(want_tables), lacking, differ))


main()
