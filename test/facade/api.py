#!/usr/bin/env python3
# run.py: timeout=120 tags=quick
"""What the tables of api/ promise is what the library, mpi.h and the manual pages hold.

    api.py BUILD [PREFIX]      checks
    api.py --bless             writes gen/golden anew, after a change of the emitters that was meant"""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GOLDEN = os.path.join(ROOT, "gen", "golden")
sys.path.insert(0, os.path.join(ROOT, "gen"))
import doors  # noqa: E402
import emit  # noqa: E402
import entries  # noqa: E402
import fortran  # noqa: E402
import fortran_c  # noqa: E402
import hot  # noqa: E402
import man  # noqa: E402
import missing  # noqa: E402
import model as api  # noqa: E402
import shmem_entries  # noqa: E402
import shmem_man  # noqa: E402
import shmem_model  # noqa: E402

# One of each kind of entry point: roots and vectors, one request, an array of requests, an array of datatypes with large
# counts, strings, a call without checks.
FORTRAN_SAMPLE = ["MPI_Recv", "MPI_Iallgather", "MPI_Waitany", "MPI_Info_set", "MPI_Type_vector"]
SAMPLE = ["MPI_Gatherv", "MPI_Wait", "MPI_Waitsome", "MPI_Type_create_struct_c", "MPI_Info_get", "MPI_Comm_toint"]
SHMEM_SAMPLE = ["shmem_int_p", "shmem_ctx_double_g", "shmem_put32_nbi", "shmem_long_atomic_fetch_add", "shmem_float_put_signal",
                "shmem_broadcast64", "shmem_longlong_and_to_all", "shmem_int_wait_until_any_vector", "shmem_team_split_strided"]
failures = []


def fail(text):
    failures.append(text)
    print(text)


def samples(model):
    """[(file name, text)] that gen/golden holds."""
    by_name = {e.name: e for e in model.entries(implemented=True)}
    head = ["/* Golden sample of gen/entries.py: entry points of several kinds.  Never compiled. */"]
    code = "\n".join(head + [line for name in SAMPLE for line in entries.entry(by_name[name])])
    some = [model.by_name[n] for n in FORTRAN_SAMPLE]
    head = ["/* Golden sample of gen/fortran_c.py: a choice buffer, one that is copied, indices, texts, counts.  Never compiled. */"]
    c = "\n".join(head + [line for f in some for line in fortran_c.function(f)]) + "\n"
    head = ["! Golden sample of gen/fortran.py: interfaces of mpi, then of mpi_f08.  Never compiled."]
    f90 = "\n".join(head + [line for f in some for line in fortran.f90_body(f, model, f.name)] +
                    [line for f in some for line in fortran.f08_interface(f, model, "")]) + "\n"
    by_name = {e.name: e for e in shmem_model.Model().entries()}
    head = ["/* Golden sample of gen/shmem_entries.py: entry points of several kinds.  Never compiled. */"]
    shmem = "\n".join(head + [shmem_entries.function(by_name[name]) for name in SHMEM_SAMPLE])
    return [("entries.c", code + "\n"), ("shmem.c", shmem), ("fortran.c", c), ("fortran.f90", f90), ("MPI_Gatherv.3", man.page(model.by_name["MPI_Gatherv"], model))]


def check_golden(model):
    for name, text in samples(model):
        with open(os.path.join(GOLDEN, name), encoding="utf-8") as f:
            if f.read() != text:
                fail("gen/golden/%s differs from what is generated now; if that is meant: test/facade/api.py --bless" % name)


def check_twice(model):
    again = api.Model()
    for name in ["mpi_h", "entries", "names", "missing", "man", "errtest", "fortran", "doors", "fortran_door"]:
        if emit.outputs(name, model) != emit.outputs(name, again):
            fail("gen/%s.py: two runs differ" % name)
    for name in ["shmem_h", "shmem_entries", "shmem_test", "shmem_man"]:
        if emit.outputs(name, shmem_model.Model()) != emit.outputs(name, shmem_model.Model()):
            fail("gen/%s.py: two runs differ" % name)


def check_exports(model, library):
    want = dict.fromkeys(["MPIR_dll_name", "godwit_debugger"], "D") # for debuggers: src/tool/tool.h
    for e in model.entries(implemented=True):
        want[e.name], want["P" + e.name], want["godwit_%s@@" % e.name] = "W", "T", "T"
        if hot.is_hot(e):
            want.update({hot.name(e, abi) + "@@": "T" for abi in doors.ABIS})
    with open(os.path.join(ROOT, "src", "facade", "doors.h"), encoding="utf-8") as f:
        want.update(dict.fromkeys([n + "@@" for n in re.findall(r"godwit_door_\w+(?=\()", f.read())], "T"))
    for header in ("sym.h", "sym_near.h"): # what libgodwit_shmem.so calls
        with open(os.path.join(ROOT, "src", "sym", header), encoding="utf-8") as f:
            text = f.read()
        want.update(dict.fromkeys([n + "@@" for n in re.findall(r"^GW_EXPORT [\w *]*?(godwit_sym_\w+)\(", text, re.M)], "T"))
        want.update(dict.fromkeys([n + "@@" for n in re.findall(r"^extern GW_EXPORT struct \w+ (godwit_sym_\w+);", text, re.M)], "B"))
    out = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    # Names for doors, and they alone, have a version: that of the release.
    have = {re.sub("@@GODWIT_[0-9.]+$", "@@", line.split()[2]): line.split()[1] for line in out.splitlines()
            if not line.split()[2].startswith("GODWIT_")}
    for name in sorted(set(want) - set(have)):
        fail("%s is in the tables, not in the library" % name)
    for name in sorted(set(have) - set(want)):
        fail("%s is in the library, not in the tables" % name)
    for name in sorted(set(have) & set(want)):
        if have[name] != want[name]:
            fail("%s is of kind %s, not %s (MPI_ names are weak, PMPI_ names strong)" % (name, have[name], want[name]))
    soname = subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True).stdout
    if "[libmpi_abi.so.1]" not in soname:
        fail("the library's name is not libmpi_abi.so.1")


def check_functions(model, build):
    """Each C function of MPI 5.0 is in the library, and a program of the tests names it; of MPI 3.1 there are 411 that are not removed."""
    old = [f.name for f in model.functions if f.since <= "3.1" and "c" in f.row["langs"]]
    if len(old) != 411:
        fail("%d functions of MPI 3.1, not 411" % len(old))
    all_of_them = [f.name for f in model.functions if f.in_header]
    if set(old) - set(all_of_them) or len(all_of_them) < 500:
        fail("%d functions, and not %s" % (len(all_of_them), set(old) - set(all_of_them)))
    out = subprocess.run(["nm", "-D", "--defined-only", os.path.join(build, "libmpi_abi.so.1")], check=True, capture_output=True, text=True).stdout
    have = {line.split()[2] for line in out.splitlines()}
    for name in sorted(set(all_of_them) - have):
        fail("%s is not in the library" % name)
    called = set()
    for folder in ("mpi", "fortran", "system"):
        folder = os.path.join(ROOT, "test", folder)
        for name in sorted(os.listdir(folder)):
            if name.endswith((".c", ".h", ".f90")):
                with open(os.path.join(folder, name), encoding="utf-8") as f:
                    called.update(re.findall(r"\bP?(MPI_\w+)", f.read()))
    for name in sorted(set(all_of_them) - called):
        fail("%s is called by no test" % name)


def check_header(model, include):
    """Every function and constant of the standard ABI is there, with its value, for C and C++."""
    lines = ["#include <mpi.h>", "static inline void take(void *f) { (void)f; }", "void all_of_them(void);", "void all_of_them(void)", "{"]
    for e in model.entries():
        lines += ["    take((void *)&%s%s);" % (p, e.name) for p in ("", "P")]
    lines.append("}")
    values = ["#include <mpi.h>", "int main(void)", "{", "    int wrong = 0;"]
    for row in model.abi:
        name, kind, value = row["name"], row["c_type"], row["value"]
        if row["section"] == "constant" and kind == "int" and re.match(r"^MPI_[A-Z0-9_]+$", name) and "Fortran only" not in row["extra"]:
            lines.append("typedef char is_%s[%s == (%s) ? 1 : -1];" % (name, name, value))
        elif row["section"] == "handle" and name.startswith("MPI_"):
            lines.append("extern %s handle_%s;" % (kind, name))
            lines.append("%s handle_%s = %s;" % (kind, name, name))
            values.append("    if ((intptr_t)%s != %s) wrong++;" % (name, value))
    values += ["    return wrong != 0;", "}"]
    with tempfile.TemporaryDirectory() as tmp:
        for compiler, suffix in [("cc", ".c"), ("c++", ".cc")]:
            if not shutil.which(compiler):
                continue
            path = os.path.join(tmp, "all" + suffix)
            with open(path, "w", encoding="utf-8") as f:
                f.write("\n".join(lines) + "\n")
            p = subprocess.run([compiler, "-fsyntax-only", "-w", "-I" + include, path], capture_output=True, text=True)
            if p.returncode:
                fail("%s: mpi.h lacks or misstates:\n%s" % (compiler, "\n".join(x for x in p.stderr.splitlines() if "error" in x)[:3000]))
        path = os.path.join(tmp, "values")
        with open(path + ".c", "w", encoding="utf-8") as f:
            f.write("\n".join(values) + "\n")
        subprocess.run(["cc", "-w", "-I" + include, path + ".c", "-o", path], check=True)
        if subprocess.run([path]).returncode:
            fail("mpi.h: a predefined handle has another value than the standard ABI's")


def check_missing(model):
    text = missing.emit(model)[0][1]
    for f in model.functions:
        if f.in_header and f.implemented == ("- `%s`" % f.name in text):
            fail("doc/missing.md is wrong about %s" % f.name)


def check_pages(model):
    pages = [(p, t) for p, t in man.emit(model) + shmem_man.emit(shmem_model.Model()) if not t.startswith(".so ") and "/man3/" in p]
    for path, text in pages:
        for heading in (".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION", ".SH RETURN VALUE"):
            if heading not in text:
                fail("%s lacks %s" % (path, heading))
    groff = shutil.which("groff")
    if groff:
        p = subprocess.run([groff, "-man", "-Tutf8", "-ww", "-z"], input="\n".join(t for _, t in pages), capture_output=True, text=True)
        if p.stderr or p.returncode:
            fail("groff on the manual pages: " + p.stderr[:1000])


def main(build):
    model = api.Model()
    if build == "--bless":
        os.makedirs(GOLDEN, exist_ok=True)
        for name, text in samples(model):
            with open(os.path.join(GOLDEN, name), "w", encoding="utf-8") as f:
                f.write(text)
        return 0
    check_golden(model)
    check_twice(model)
    check_exports(model, os.path.join(build, "libmpi_abi.so.1"))
    check_functions(model, build)
    check_header(model, os.path.join(build, "include"))
    check_missing(model)
    check_pages(model)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
