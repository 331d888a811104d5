#!/bin/sh
# What doc/book names is there: functions (in the file that stands with them), files, settings.
# run.py: timeout=20 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
exec python3 - "$(dirname "$0")/../.." "$1" <<'EOT'
import glob, os, re, sys

root, build = sys.argv[1:]

def text(path):
    with open(path, encoding="utf-8") as f:
        return f.read()

# A definition or declaration begins in the first column: `int name(...`; comments, macros' lines and calls do not.
DECLARED = re.compile(r"^[A-Za-z_][\w \t*]*?[ *](\w+)\(", re.M)
ATTRIBUTE = re.compile(r"__attribute__\(\(.*?\)\) ?|GW_ALIGNED\(\w+\) ?")
functions = {}                      # file -> names
for top in (root, build):
    for path in glob.glob(os.path.join(top, "src", "*", "*.[ch]")):
        functions[os.path.relpath(path, top)] = set(DECLARED.findall(ATTRIBUTE.sub("", text(path))))
known = set().union(*functions.values())
mpi = set(re.findall(r"\b(P?MPI_\w+)\(", text(os.path.join(build, "include", "mpi.h"))))
settings = {"GODWIT_" + line.split("|")[0].strip().upper() for path in glob.glob(os.path.join(root, "src", "*", "cvars.def"))
            for line in text(path).splitlines() if "|" in line and not line.startswith("#")}

wrong, count = [], 0
chapters = sorted(glob.glob(os.path.join(root, "doc", "book", "*.md")))
for chapter in chapters:
    name, words = os.path.basename(chapter), " ".join(text(chapter).split())
    for f in sorted(set(re.findall(r"\b(\w+)\(\)", words))):
        count += 1
        if f not in (mpi if re.match(r"P?MPI_", f) else known):
            wrong.append("%s: there is no function %s()" % (name, f))
    for f, path in sorted(set(re.findall(r"`(\w+)\(\)` (?:in |\()`(src/[^`]+)`", words))):
        if f not in functions.get(path, ()) and f in known:
            wrong.append("%s: %s() is not in %s" % (name, f, path))
    for path in sorted(set(re.findall(r"`((?:src|doc|test|tune|gen|api|lib)/[^`\s*]*)`", words))):
        count += 1
        if not any(os.path.exists(os.path.join(top, path)) for top in (root, build)):
            wrong.append("%s: there is no %s" % (name, path))
    for s in sorted(set(re.findall(r"\bGODWIT_[A-Z0-9_]+", words)) - settings):
        wrong.append("%s: there is no setting %s" % (name, s))
if not chapters or count < 50:
    wrong.append("doc/book names only %d things: is it there?" % count)
print("\n".join(wrong) if wrong else "%d names in %d files are all there" % (count, len(chapters)))
sys.exit(bool(wrong))
EOT
