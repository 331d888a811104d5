#!/usr/bin/env python3
"""Checks that the house's stairs only go down, by the table src/ROOMS.

    rooms.py [--stamp FILE] SRC [libgw_ROOM.a ...]

Fails on: an include of a room that the table does not allow, an include of another room's private header, a table that
is not ordered top to bottom, a folder that is no room, and, where room archives are given, a symbol that a room uses but
that only a room which it may not call defines (read with nm)."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import collections
import glob
import os
import re
import subprocess
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


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

    def check_calls(self, archives):
        defined, used = {}, collections.defaultdict(set)
        for archive in archives:
            room = os.path.basename(archive)[len("libgw_"):-len(".a")]
            out = subprocess.run(["nm", "-P", archive], capture_output=True, text=True, check=True).stdout
            for line in out.splitlines():
                words = line.split()
                if len(words) < 2 or words[0].endswith(":"):
                    continue
                if words[1] == "U":
                    used[room].add(words[0])
                elif words[1] in "TDBRVWCGS":
                    defined.setdefault(words[0], set()).add(room)
        for room, names in used.items():
            for name in sorted(names):
                homes = defined.get(name, set())
                if homes and room not in homes and not homes & set(self.allowed[room]):
                    self.errors.append("%s uses %s, which only %s defines" % (room, name, ", ".join(sorted(homes))))


def main(argv):
    stamp = None
    if argv and argv[0] == "--stamp":
        stamp, argv = argv[1], argv[2:]
    house = House(os.path.join(argv[0], "ROOMS"))
    house.check_includes(argv[0])
    house.check_calls(argv[1:])
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
