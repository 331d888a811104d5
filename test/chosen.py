"""Which tests of ranks a run under a sanitizer takes in continuous integration.

Every unit test runs.  Of the programs of test/mpi those run that are changed, or whose rooms are, since the commit at which ./check last
ran whole: $CHECK_SINCE, or the one that test/checked names; and of the others a third, by turns: the next commit has the next third.
Without such a commit (a clone without history) all run.  Outside continuous integration (no CI=true) all run, too."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import re
import subprocess
import zlib

# The first word of a program's name, and the rooms that it is there to try; what is not here is tried by any program of any room.
ROOMS = {
    "p2p": "p2p proto match req", "partitioned": "p2p proto", "large": "p2p proto coll plan rma", "match": "match proto", "lanes": "net p2p",
    "coll": "coll plan op", "reproducible": "coll op", "overlap": "coll plan", "neighbor": "coll plan topo", "inter": "coll world comm",
    "rma": "rma", "huge": "rma node base", "io": "io", "topo": "topo", "comm": "comm world", "idup": "comm world coll", "split": "comm world",
    "spawn": "spawned boot world", "connections": "boot world", "published": "boot", "session": "mpi world", "net": "net wire_ofi wire_tcp",
    "nodes": "boot node peer", "listens": "wire_tcp net boot", "descriptors": "boot wire_tcp", "undumpable": "boot node wire_shm rma",
    "thread": "req proto", "threads": "req proto rma", "type": "type", "counts": "type", "tool": "tool", "error": "mpi obj", "errors": "mpi obj",
    "shmem": "sym shmem rma life",
}
# Who changes these may change any program.  Not of what is generated: OpenSHMEM's face, which its programs alone use; documents; libraries of
# tools that no program of these is linked with; looks at the sources.
SHARED = re.compile(r"gen/(?!shmem_|(rooms|profile|man|\w+_docs)\.py$)|(src/)?meson\.build$|test/(ranks\.h|lsan\.supp|run\.py)$")
FACE = re.compile(r"gen/shmem_|api/shmem/")


def git(root, *args):
    p = subprocess.run(["git", "-C", root] + list(args), capture_output=True, text=True, check=False)
    return p.stdout if p.returncode == 0 else None


def since(root):
    """The commit at which everything last ran; None: not known here."""
    given = os.environ.get("CHECK_SINCE")
    if not given:
        with open(os.path.join(root, "test", "checked"), encoding="utf-8") as f:
            given = f.read().split()[0]
    return given if git(root, "cat-file", "-e", given + "^{commit}") is not None else None


class Choice:
    """takes(name, program): whether this case runs.  Made of the paths that are changed (None: all) and of the number of this turn."""

    def __init__(self, paths, turn):
        self.turn = turn % 3
        self.all = paths is None or any(SHARED.match(p) for p in paths)
        self.rooms = {"shmem" if FACE.match(p) else p.split("/")[1] for p in paths or () if p.startswith("src/") or FACE.match(p)}
        self.programs = {m.group(1) for m in (re.fullmatch(r"test/(?:mpi/)?((?:shmem/)?\w+)\.c", p) for p in paths or ()) if m}

    def takes(self, name, program):
        rooms = set(ROOMS.get(re.split("[_/]", program)[0], "").split())
        return self.all or program in self.programs or bool(rooms & self.rooms) or zlib.crc32(name.encode()) % 3 == self.turn


def choice(root):
    """What continuous integration runs of the tree in `root`; None: all."""
    if os.environ.get("CI") != "true":
        return None
    commit = since(root)
    changed = git(root, "diff", "--name-only", commit) if commit else None
    count = git(root, "rev-list", "--count", "HEAD")
    return Choice(changed.split("\n")[:-1] if changed is not None else None, int(count or 0))
