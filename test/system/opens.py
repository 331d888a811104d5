#!/usr/bin/env python3
"""Every place in src/, tools/ and lib/ that opens, makes or renames a file to write to it stands here with its reason; all others go by
base/file.h, which looks at who may have laid what is there (doc/security.md).  So it is with shell scripts that are installed: what they write
goes through tools/write_file.c.
"""
# run.py: timeout=60 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test"))
import c_text  # noqa: E402
# Files that may, which of these calls, how often, and why.
MAY = {
    "src/base/file.c": ("openat renameat unlinkat", 4, "the checked way itself"),
    "src/base/file_open.c": ("openat mkdirat unlinkat", 6, "the checked way itself"),
    "src/base/os.c": ("open", 1, "/dev/null"),
    "src/boot/boot_file.c": ("open mkostemp unlink", 4, "memory where there is no memfd: a new file without a name, or of a name nobody knew"),
    "src/io/fs.c": ("open", 1, "files of MPI-IO are the program's"),
    "src/io/file.c": ("unlink", 2, "MPI_File_delete, MPI_MODE_DELETE_ON_CLOSE"),
    "src/launch/agent.c": ("open", 1, "/dev/null"),
    "src/launch/gdb.c": ("open", 1, "a terminal that a program of ours has made"),
    "src/launch/main.c": ("open", 1, "/dev/null"),
    "src/verdict/stack.c": ("open", 1, "/dev/null"),
    "src/pmi/pmix_server.c": ("open mkdir", 2, "/dev/null; a new folder of a name nobody knew, of mode 0700"),
    "src/world/name_file.c": ("open link unlink", 5, "a new file of mode 0600 of a name nobody knew; its user and mode are looked at"),
    "lib/peers.sh": ("> ln mkdir", 4, "at installation: links in the installation's own folder of programs; a list in the folder of the build"),
    "lib/modules.sh": (">", 2, "at installation: a list in the folder of the build"),
    "tools/uninstall.sh": ("> mktemp rm rmdir", 6, "a new file of a name nobody knew; what an installation has put there"),
    "lib/mpifort.in": ("mkdir rm", 3, "the Fortran modules, in the installation's own folder"),
}
CALL = re.compile(r"(?<![\w.>])(open|open64|openat|openat2|creat|fopen|fopen64|freopen|mkstemp|mkostemp|mkstemps|tmpfile|tmpnam|tempnam|shm_open|"
                  r"mkfifo|mkfifoat|mknod|mkdir|mkdirat|mkdtemp|rename|renameat|renameat2|link|linkat|symlink|symlinkat|unlink|unlinkat|"
                  r"truncate|rmdir|remove)\(")
ALWAYS = ("creat mkstemp mkostemp mkstemps tmpfile tmpnam tempnam shm_open mkfifo mkfifoat mknod mkdir mkdirat mkdtemp rename renameat "
          "renameat2 link linkat symlink symlinkat unlink unlinkat truncate rmdir remove").split()
WRITES = re.compile(r"\b(O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND|O_TMPFILE)\b|\bflags\b")


DECLARED = re.compile(r"\b(int|ssize_t|FILE \*|bool|void)\s*$")
# In shell scripts: where output goes (not within a quoted text, /dev/null or a descriptor), and commands that make or take away files.
QUOTED = re.compile(r"""(?ms)^\s*#[^\n]*|(?<!\\)"(?:[^"\\]|\\.)*"|'[^']*'|\\.""")
REDIRECTED = re.compile(r"(?<![=<])>[>|]?\s*(?!&|/dev/null\b)(\S+)")
COMMAND = re.compile(r"(?m)(?:^|[;&|({!]|\b(?:then|do|else|exec))\s*(tee|cp|mv|ln|mkdir|mkfifo|touch|install|mktemp|rm|rmdir|dd|chmod|sed\s+-i)(?=\s)")


def writing_calls(text):
    for line, call, inside in c_text.calls(text, CALL, DECLARED):
        if call in ("fopen", "fopen64", "freopen"):
            mode = re.search(r',\s*"([^"]*)"', inside)
            if mode and not re.search(r"[wa+]", mode[1]):
                continue
        elif call not in ALWAYS and not WRITES.search(inside):
            continue
        yield line, call, " ".join(inside.split())


def writing_commands(text):
    """The same of a shell script; of a quoted text the quotes stay, so that `>"$file"` is seen."""
    text = QUOTED.sub(lambda m: re.sub(r"[^\n\"]", "_", m[0]) if not m[0].lstrip().startswith("#") else "", text)
    for m in REDIRECTED.finditer(text):
        yield text.count("\n", 0, m.start()) + 1, ">", m[1]
    for m in COMMAND.finditer(text):
        yield text.count("\n", 0, m.start(1)) + 1, m[1].split()[0], text[m.start():].split("\n")[0].strip()


def sources():
    """(path, which of the two): C, and shell scripts."""
    for folder in ("src", "tools", "lib", "fortran"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".c", ".h"):
                if not path.name.endswith("_test.c"):
                    yield path, writing_calls
            elif path.is_file() and re.match(rb"#!\s*/\S*(env )?\S*sh\b", path.read_bytes()[:64]):
                yield path, writing_commands


def self_test():
    script = ('#!/bin/sh\n# a > b\nx=$(f 2>&1 >/dev/null); echo "a > b" >&2\n[ a ] || exec >"$out"\ncat >> $f <<E\nE\n'
              'if a; then rm -f "$x"; fi\nfail "rm it; cp"\nmkdir -p a && cp a b\n')
    found = [(line, c) for line, c, _ in writing_commands(script)]
    assert found == [(4, ">"), (5, ">"), (7, "rm"), (9, "mkdir"), (9, "cp")], found
    text = 'int f(void) { open(p, O_RDONLY); open(p,\n O_WRONLY); fopen(p, "re"); fopen(p, "we"); /* rename(a, b) */ x->open(a, O_RDWR); mkdir(p, 1); }'
    found = [c for _, c, _ in writing_calls(text)]
    assert found == ["open", "fopen", "mkdir"], found


def main():
    self_test()
    bad, seen, n_files, n_scripts = [], {}, 0, 0
    for path, calls in sources():
        name = str(path.relative_to(ROOT))
        n_files += 1
        n_scripts += calls is writing_commands
        for line, call, inside in calls(path.read_text()):
            seen[name] = seen.get(name, 0) + 1
            if name not in MAY or call not in MAY[name][0].split():
                way = "write_file" if calls is writing_commands else "gw_file_create() or gw_file_open() of base/file.h"
                bad.append(f"{name}:{line}: {call}({inside}): use {way}, or say here why not")
    for name, (_, known, why) in MAY.items():
        if seen.get(name, 0) != known:
            bad.append(f"{name}: {seen.get(name, 0)} such calls; {known} are known: {why}")
    assert n_files > 400 and n_scripts >= 5, (n_files, n_scripts)
    for text in bad:
        print(text)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
