#!/bin/sh
# What doc/book, CONTRIBUTING.md, the conventions and the glossary name is there: functions (in the file that stands with them), files, settings.
# Decision records are numbered without gaps, and links to them lead to one.
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
papers = [os.path.join(root, *p.split("/")) for p in ("CONTRIBUTING.md", "doc/conventions.md", "doc/glossary.md")]
for chapter in chapters + papers:
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
records = sorted(os.path.basename(p) for p in glob.glob(os.path.join(root, "doc", "adr", "*.md")))
for i, record in enumerate(records):
    if not record.startswith("%04d-" % i):
        wrong.append("doc/adr/%s: number %d is missing or doubled" % (record, i))
    if i and not text(os.path.join(root, "doc", "adr", record)).startswith("# %d. " % i):
        wrong.append("doc/adr/%s: its title has another number" % record)
for path in glob.glob(os.path.join(root, "*.md")) + [p for top in ("doc", "src", "test", "sim") for p in glob.glob(os.path.join(root, top, "**", "*.*"), recursive=True)]:
    if not path.endswith((".md", ".c", ".h", ".sh")):
        continue
    for link in re.findall(r"(?i)\badr[/ ](\d+[\w-]*(?:\.md)?)", text(path)):
        known = [r for r in records if r == link or (link.isdigit() and int(r[:4]) == int(link))]
        if not known:
            wrong.append("%s: there is no record %s" % (os.path.relpath(path, root), link))
if not chapters or count < 50:
    wrong.append("doc/book names only %d things: is it there?" % count)
print("\n".join(wrong) if wrong else "%d names in %d files, %d records: all there" % (count, len(chapters + papers), len(records)))
sys.exit(bool(wrong))
EOT
