"""What the standard has and another library's header lacks, as a second header for the same ABI: a program of a later release of that
library would be compiled with it, so that test/mpi can use it through a door, too."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "gen"))
import doors  # noqa: E402
import model as api  # noqa: E402


def preprocessed(mpicc):
    """The header's declarations and macros."""
    return subprocess.run([mpicc, "-E", "-dD", "-include", "mpi.h", "-xc", "/dev/null"], capture_output=True, text=True, check=True).stdout


def types(abi, known):
    for r in abi.rows:
        name = r["name"]
        if r["section"] == "type" and name not in known:
            if r["c_type"] == "struct":
                yield "typedef MPI_Status %s;" % name
            elif r["c_type"] == "pointer":
                yield "typedef struct newer_%s *%s;" % (name, name)
            else:
                yield "typedef int %s;" % name
    if "MPI_F08_Status" not in known: # the spelling of MPI 5.0
        yield "typedef MPI_F08_status MPI_F08_Status;"


def versions(model):
    """Of the standard; the ABI is not the standard's, so it has none."""
    for r in model.abi:
        if r["name"] in ("MPI_VERSION", "MPI_SUBVERSION"):
            yield "#undef %s\n#define %s %s" % (r["name"], r["name"], r["value"])
    yield "#define MPI_ABI_VERSION (-1)\n#define MPI_ABI_SUBVERSION (-1)"


def constants(abi, known):
    for name, value in abi.values.items():
        if name in known or not name.startswith("MPI_"):
            continue
        if value.startswith("&"):
            if value[1:] not in known:
                yield "extern char %s[];" % value[1:]
            yield "#define %s ((%s)%s)" % (name, abi.types[name], value)
        elif re.fullmatch(r"-?\d+", value):
            yield "#define %s ((%s)(%s))" % (name, abi.types[name], value) if abi.types[name] != "int" else "#define %s (%s)" % (name, value)


def header(name, mpicc):
    """The second header's text."""
    model, abi = api.Model(), doors.Abi(name)
    known = set(re.findall(r"\w+", preprocessed(mpicc)))
    out = ["#include <stdint.h>", "#include <mpi.h>"] + list(versions(model)) + list(types(abi, known))
    out += [text for name, text in model.typedefs() if name not in known] + list(constants(abi, known))
    return "\n".join(out + [e.prototype() + ";" for e in model.entries() if e.name not in known]) + "\n"
