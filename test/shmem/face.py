#!/usr/bin/env python3
"""libgodwit_shmem.so has the names of OpenSHMEM 1.6 and no others, p and g are short, and its headers are what C99, C11 and C++ programs need.

    face.py BUILD [PREFIX]"""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
# run.py: timeout=180 tags=quick
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "gen"))
import shmem_model  # noqa: E402

MOST = 12 # instructions of p and g up to the return, where the PE is near
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
failures = []


def fail(text):
    failures.append(text)
    print(text)


def check_exports(library, include):
    """Each of the 1788 C symbols is there, weak, and strong under its profiling name; what else there is has a header that declares it."""
    want = {row["symbol"]: row["prototype"] for row in shmem_model.table("symbols.tsv")}
    if len(want) != 1788:
        fail("symbols.tsv has %d symbols, not 1788" % len(want))
    out = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    have = {line.split()[2]: line.split()[1] for line in out.splitlines()}
    for name in sorted(want):
        if have.get(name) != "W" or have.get("p" + name) != "T":
            fail("%s is of kind %s, p%s of kind %s, not W and T" % (name, have.get(name), name, have.get("p" + name)))
    declared = ""
    for header in ("shmem.h", "shmemx.h"):
        with open(os.path.join(include, header), encoding="utf-8") as f:
            declared += f.read()
    declared = set(re.findall(r"\b\w+(?=\()", declared))
    for name in sorted(set(have) - set(want) - {"p" + n for n in want}):
        if name not in declared and name[1:] not in declared:
            fail("%s is in the library, and no header declares it" % name)
    used = subprocess.run(["nm", "-D", "--undefined-only", library], check=True, capture_output=True, text=True).stdout
    for name in re.findall(r" U p?(shmem\w*)", used):
        fail("the library calls %s, which a tool may have replaced" % name)


def check_short(library):
    if subprocess.run(["uname", "-m"], capture_output=True, text=True, check=True).stdout.strip() != "x86_64":
        return
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", library], capture_output=True, text=True, check=True).stdout
    found = 0
    for name, body in re.findall(r"<(pshmem_(?!ctx_)\w+_[pg])>:\n(.*?)\n\n", text, re.S):
        found += 1
        n = next((i for i, line in enumerate(body.split("\n")) if re.search(r"\tret", line)), 999)
        if n > MOST and name != "pshmem_longdouble_p": # whose value comes on the stack
            fail("%s takes %d instructions, %d are enough" % (name, n, MOST))
    if found != 48:
        fail("%d functions p and g, not 48" % found)


def generic_calls(model):
    """A call of each generic name with each type, with and without a context, of const data and of arrays."""
    for g in model.generics:
        functions = [f for f in model.functions if f.c11 == g["name"] and f.over]
        for f in functions:
            for e in f.entries:
                if e.is_complex:
                    continue
                args = []
                for i, (c, n) in enumerate(e.params):
                    word = c.replace("const ", "").replace(" *", "")
                    if c == "shmem_ctx_t":
                        args.append("SHMEM_CTX_DEFAULT")
                    elif c == "shmem_team_t":
                        args.append("SHMEM_TEAM_WORLD")
                    elif c.endswith("*") and word == e.type.c:
                        args.append(("c_" if c.startswith("const") else "a_") + e.type.name)
                    elif c.endswith("*"):
                        args.append({"uint64_t": "a_uint64", "int": "a_int", "size_t": "a_size"}[word])
                    else:
                        args.append("a_%s[1]" % e.type.name if c == e.type.c and n in ("value", "cond", "cmp_value") else "1")
                yield e, "%s(%s)" % (g["name"], ", ".join(args))


def generic_program(model):
    """Each call stands in sizeof or as a statement that is not reached; of a value, its type is the function's."""
    lines = ["#include <shmem.h>", "#include <pshmem.h>", "#include <shmemx.h>", "#include <mpp/shmem.h>", "#include <mpp/shmemx.h>",
             "static shmem_team_t team = SHMEM_TEAM_INVALID, world = SHMEM_TEAM_WORLD, shared = SHMEM_TEAM_SHARED;",
             "static shmem_ctx_t none = SHMEM_CTX_INVALID, all = SHMEM_CTX_DEFAULT;",
             "static long pSync[SHMEM_SYNC_SIZE] = {SHMEM_SYNC_VALUE}, pWrk[SHMEM_REDUCE_MIN_WRKDATA_SIZE];",
             "static int by_constant(int op) { switch (op) { case SHMEM_SIGNAL_SET: return 1; case SHMEM_SIGNAL_ADD: return 2; default: return 0; } }"]
    types = {t.name: t for over in ("rma", "amo_std") for t in model.types[over]}
    lines += ["static %s a_%s[4];\nstatic const %s c_%s[4] = {0};" % (t.c, t.name, t.c, t.name) for t in types.values()]
    calls = list(generic_calls(model))
    for i in range(0, len(calls), 100):
        lines.append("void calls_%d(void);\nvoid calls_%d(void)\n{" % (i, i))
        lines += ["    (void)%s;" % c if e.ret != "void" else "    %s;" % c for e, c in calls[i:i + 100]]
        lines.append("}")
    lines += ["int main(void)", "{", "    (void)none, (void)all, (void)shared, (void)world, (void)pWrk;",
              "    shmem_sync(team);", "    shmem_sync(0, 0, 1, pSync);", "    shmem_signal_add(a_uint64, 1, 0), shmem_signal_add(all, a_uint64, 1, 0);",
              "    shmem_signal_set(a_uint64, 1, 0), shmem_signal_set(all, a_uint64, 1, 0);", "    shmem_wait_until(a_long, SHMEM_CMP_EQ, 0L);",
              "    return by_constant(1);", "}"]
    return "\n".join(lines) + "\n", len(calls)


def type_program(model):
    """In C11 the value of a generic is that of the type's own function, and its address the same call."""
    lines = ["#include <shmem.h>"]
    for g in model.generics:
        for f in (f for f in model.functions if f.c11 == g["name"] and f.ret == "TYPE" and "cond" not in [p["name"] for p in f.params]):
            for t in f.types:
                args = ", ".join("1" if p["name"] == "pe" else "(%s)1" % t.c if p["type"] == "TYPE" else "(%s *)0" % t.c for p in f.params)
                lines.append('_Static_assert(_Generic(%s(%s), %s: 1, default: 0), "%s of %s");' % (g["name"], args, t.c, g["name"], t.c))
    lines.append("_Static_assert(SHMEM_THREAD_SINGLE < SHMEM_THREAD_FUNNELED && SHMEM_THREAD_FUNNELED < SHMEM_THREAD_SERIALIZED && "
                 'SHMEM_THREAD_SERIALIZED < SHMEM_THREAD_MULTIPLE, "levels");')
    lines.append('_Static_assert(sizeof SHMEM_VENDOR_STRING <= SHMEM_MAX_NAME_LEN, "name");')
    lines.append("#if SHMEM_MAJOR_VERSION != 1 || SHMEM_MINOR_VERSION != 6 || _SHMEM_MINOR_VERSION != 6\n#error version\n#endif")
    return "\n".join(lines) + "\n"


REFUSED = """#include <shmem.h>
struct other { int x; };
int main(void) { static struct other o; shmem_put(&o, &o, 1, 0); return 0; }
"""
PLAIN = """#include <shmem.h>
#include <pshmem.h>
static shmem_team_t team = SHMEM_TEAM_INVALID;
static long pSync[SHMEM_BCAST_SYNC_SIZE];
static int x;
static int I = 3; /* <complex.h> would define it */
int main(void) { shmem_int_put(&x, &I, 1, 0); shmem_sync(0, 0, 1, pSync); return team != SHMEM_TEAM_INVALID || pshmem_my_pe() < 0; }
"""


def compile_all(model, include):
    text, n = generic_program(model)
    if n < 1500:
        fail("%d calls of generic names are too few" % n)
    with tempfile.TemporaryDirectory() as tmp:
        def compiles(words, text, suffix, good=True):
            path = os.path.join(tmp, "a" + suffix)
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            if not shutil.which(words[0]):
                return
            p = subprocess.run(words + ["-fsyntax-only", "-I" + include, "-I" + os.path.join(ROOT, "include"), path], capture_output=True, text=True)
            if (p.returncode == 0) != good:
                fail("%s: %s\n%s" % (" ".join(words), "does not compile" if good else "compiles, and should not", p.stderr[:2000]))
        for cc, cxx in (("gcc", "g++"), ("clang", "clang++")):
            for std in ("c11", "gnu17"):
                compiles([cc, "-std=" + std] + STRICT, text, ".c")
            compiles([cc, "-std=c11", "-w"], type_program(model), ".c")
            compiles([cc, "-std=c11"], REFUSED, ".c", good=False)
            compiles([cc, "-std=c99"] + STRICT, PLAIN, ".c")
            for std in ("c++11", "c++17"):
                compiles([cxx, "-std=" + std, "-Wold-style-cast"] + STRICT, text, ".cc")
            compiles([cxx, "-std=c++17"], REFUSED, ".cc", good=False)


def main(build):
    model = shmem_model.Model()
    library, include = os.path.join(build, "src", "shmem", "libgodwit_shmem.so.1"), os.path.join(build, "include")
    check_exports(library, include)
    check_short(library)
    compile_all(model, include)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
