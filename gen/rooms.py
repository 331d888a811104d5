#!/usr/bin/env python3
"""Checks that the house's stairs only go down, by the table src/ROOMS.

    rooms.py [--stamp FILE] SRC [libgw_ROOM.a | OBJECT.o ...]

Fails on: an include of a room that the table does not allow, an include of another room's private header, a table that
is not ordered top to bottom, a folder that is no room, and, from the archives of the rooms and the objects of mpiexec
(read with nm): a symbol that a room uses but that only a room which it may not call defines; an external symbol that no
other file uses, whether of the library or of what is built beside it (tests, tools, fuzz targets: read as text); and an
external symbol that does not begin with the name of its room, of one of the room's public headers, or gw_; and a function
of the sources here, tests apart, with more than eight parameters that is neither an MPI call nor the target of one (api/*.tbl)."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import collections
import glob
import os
import re
import subprocess
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
# Symbols that only programs from elsewhere look up: entry points, what doors of other ABIs and libgodwit_shmem call, and what debuggers read (MPIR, the
# message queues).
FOR_OTHERS = re.compile(r"P?MPI_\w+|MPIR_\w+|godwit_(?:debugger|MPI_\w+|door_\w+|sym_\w+)|main|__\w+")
PARAMETERS = 8
# Parameters are others' words: of a callback of PMIx, of functions of Cray's library.
CALLED_BACK = {"cut", "shmemx_alltoallv", "shmemx_alltoallv_packed"}
FUNCTION = re.compile(r"^[a-zA-Z][\w\s*()]*?\b(\w+)\(((?:[^()]|\([^()]*\))*)\)\s*\{", re.M)
SHORT = {"facade": "std_"} # the standard ABI's, beside which stand those of other doors
BESIDE = ("test", "tools", "fuzz", "sim", "bench") # folders with sources that are linked with rooms


class House:
    """Rooms in order, their public headers and what each may include."""

    def __init__(self, table):
        self.allowed = collections.OrderedDict()
        self.public = {}
        self.errors = []
        with open(table, encoding="utf-8") as f:
            for line in f:
                line = line.split("#")[0].strip()
                if not line:
                    continue
                head, below = line.split(":")
                words = head.split()
                self.allowed[words[0]] = below.split()
                self.public[words[0]] = words[1:] or [words[0] + ".h"]
        order = list(self.allowed)
        for i, room in enumerate(order):
            for low in self.allowed[room]:
                if low not in self.allowed:
                    self.errors.append("ROOMS: %s names %s, which is no room" % (room, low))
                elif order.index(low) <= i:
                    self.errors.append("ROOMS: %s may not stand on %s, which lies above it" % (room, low))

    def check_includes(self, src):
        for folder in sorted(os.listdir(src)):
            path = os.path.join(src, folder)
            if not os.path.isdir(path):
                continue
            if folder not in self.allowed:
                self.errors.append("src/%s is not in ROOMS" % folder)
                continue
            for name in sorted(glob.glob(os.path.join(path, "*.[ch]")) + glob.glob(os.path.join(path, "*.def"))):
                self.check_file(folder, name)

    def check_file(self, room, path):
        is_test = path.endswith("_test.c")
        with open(path, encoding="utf-8") as f:
            for n, line in enumerate(f, 1):
                m = INCLUDE.match(line)
                if not m or "/" not in m.group(1):
                    continue
                target, header = m.group(1).split("/", 1)
                if target == room or target not in self.allowed:
                    continue
                where = "%s/%s:%d" % (room, os.path.basename(path), n)
                if target not in self.allowed[room] and not is_test:
                    self.errors.append("%s: %s may not include %s" % (where, room, target))
                generated = header.endswith("_gen.h")
                if header not in self.public[target] and not generated:
                    self.errors.append("%s: %s/%s is private to %s" % (where, target, header, target))

    def check_calls(self, objects):
        defined, used = {}, collections.defaultdict(set)
        for o in objects:
            used[o.room] |= o.used
            for name in o.defined:
                defined.setdefault(name, set()).add(o.room)
        for room, names in used.items():
            for name in sorted(names):
                homes = defined.get(name, set())
                if homes and room not in homes and not homes & set(self.allowed[room]):
                    self.errors.append("%s uses %s, which only %s defines" % (room, name, ", ".join(sorted(homes))))

    def check_external(self, objects, src):
        used = set().union(*(o.used for o in objects))
        left = [(o, name) for o in objects for name in sorted(o.defined - used) if not FOR_OTHERS.fullmatch(name)]
        words = words_beside(src) if left else set()
        for o, name in left:
            if name not in words:
                self.errors.append("%s of %s is used in its file only: make it static" % (name, o.where))

    def check_names(self, objects):
        for o in objects:
            begins = tuple(re.sub(r"\.h$", "", w) + "_" for w in [o.room] + self.public.get(o.room, [])) + ("gw_",) + tuple(SHORT.get(o.room, "").split())
            for name in sorted(o.defined):
                if not name.startswith(begins) and not FOR_OTHERS.fullmatch(name):
                    self.errors.append("%s of %s begins with none of %s" % (name, o.where, " ".join(begins)))


def long_lists(top):
    """Functions with too many parameters."""
    targets = set(CALLED_BACK)
    for table in glob.glob(os.path.join(top, "api", "*.tbl")):
        with open(table, encoding="utf-8") as f:
            targets.update(re.sub("^std_", "", m.group(1)) for m in re.finditer(r"^\w+ *\| *(\w+)", f.read(), re.M))
    for path in sorted(p for deep in ("src/*", "sim", "tools", "tools/*") for p in glob.glob(os.path.join(top, deep, "*.[ch]"))):
        if path.endswith("_test.c"):
            continue
        with open(path, encoding="utf-8") as f:
            for m in FUNCTION.finditer(f.read()):
                n = re.sub(r"\([^()]*\)", "", m.group(2)).count(",") + 1
                call = re.sub("^std_|_c$", "", m.group(1)) # what a target of the facade passes on to its room has the call's list, too
                if n > PARAMETERS and not call.startswith("MPI_") and not {call, re.sub("^tool_", "t_", call)} & targets:
                    yield "%s: %s has %d parameters, %d are enough: use a struct" % (os.path.relpath(path, top), m.group(1), n, PARAMETERS)


class Object:
    """An object file: its room, and the symbols that it defines and uses."""

    def __init__(self, room, where):
        self.room, self.where = room, where
        self.defined, self.used = set(), set()


def read_objects(paths):
    """The objects of the rooms' archives, and those of launch, which is a program."""
    objects = []
    archives = [p for p in paths if p.endswith(".a")]
    alone = [p for p in paths if not p.endswith(".a")]
    for path in archives + alone:
        room = os.path.basename(path)[len("libgw_"):-len(".a")] if path.endswith(".a") else "launch"
        if path in alone:
            objects.append(Object(room, os.path.basename(path)))
        for line in subprocess.run(["nm", "-P", path], capture_output=True, text=True, check=True).stdout.splitlines():
            words = line.split()
            if line.endswith("]:"): # ARCHIVE[MEMBER]:
                objects.append(Object(room, line[:-1]))
            elif len(words) >= 2 and words[1] == "U":
                objects[-1].used.add(words[0])
            elif len(words) >= 2 and words[1] in "TDBRVWCGS":
                objects[-1].defined.add(words[0])
    return objects


def headers_of_tests(src, tests):
    """Headers of rooms that only tests include: machines and fakes for them."""
    included = set()
    for path in glob.glob(os.path.join(src, "*", "*.[ch]")):
        if path not in tests:
            with open(path, encoding="utf-8") as f:
                included.update(m.group(1) for m in map(INCLUDE.match, f) if m)
    return [h for h in glob.glob(os.path.join(src, "*", "*.h")) if os.path.relpath(h, src) not in included]


def words_beside(src):
    """Every word of the sources that are linked with rooms but are no part of them."""
    words = set()
    tops = [os.path.join(os.path.dirname(os.path.abspath(src)), folder) for folder in BESIDE]
    tests = glob.glob(os.path.join(src, "*", "*_test.c"))
    paths = tests + headers_of_tests(src, tests)
    paths += [os.path.join(folder, f) for top in tops for folder, _, names in os.walk(top) for f in names if f.endswith((".c", ".h"))]
    for path in paths:
        with open(path, encoding="utf-8") as f:
            words.update(re.findall(r"\w+", f.read()))
    return words


def main(argv):
    stamp = None
    if argv and argv[0] == "--stamp":
        stamp, argv = argv[1], argv[2:]
    house = House(os.path.join(argv[0], "ROOMS"))
    house.check_includes(argv[0])
    house.errors += long_lists(os.path.dirname(os.path.abspath(argv[0])))
    objects = read_objects(argv[1:])
    house.check_calls(objects)
    if objects:
        house.check_external(objects, argv[0])
        house.check_names(objects)
    for e in house.errors:
        print("rooms: " + e, file=sys.stderr)
    if house.errors:
        return 1
    if stamp:
        with open(stamp, "w", encoding="utf-8") as f:
            f.write("ok\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
