#!/usr/bin/env python3
"""Draws the tables of doc/performance.md: doc/performance/NAME.svg, time by size beside both peers.

    plots.py            writes the pictures
    plots.py --check    1 if one is not as the tables say (test/system/plots.sh)

A row that is not drawn is an error, but for those of a call that has fewer than three sizes: nothing can be read
from them but the number.  Colours are those of Okabe and Ito, which the colour-blind can tell; the lines differ by dashes, too."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import math
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TABLE = "## Two cores of an Intel Xeon, pinned (us)"
LIBRARIES = [("Godwit", "#000000", "", 2.2), ("MPICH", "#d55e00", "6 3", 1.4), ("Open MPI", "#0072b2", "2 2", 1.4)]
PICTURES = {
    "messages": ("Messages between two cores of one node", ["latency", "window"]),
    "collectives": ("Collectives of two ranks on two cores of one node",
                    ["bcast", "allreduce", "alltoall", "allgather", "reduce_scatter_block", "gatherv"]),
    "windows": ("One-sided accesses between two cores of one node",
                ["put", "get", "accumulate", "put_create", "get_create", "accumulate_create"]),
    "short": ("Time beside MPICH 4.0 and Open MPI 4.1, two cores of one node", ["latency", "allreduce", "put"]),
}
TITLES = {
    "latency": "latency, one way", "window": "of many messages, each", "put": "MPI_Put and flush", "get": "MPI_Get and flush",
    "accumulate": "MPI_Accumulate and flush", "put_create": "MPI_Put, MPI_Win_create", "get_create": "MPI_Get, MPI_Win_create",
    "accumulate_create": "MPI_Accumulate, MPI_Win_create",
}
PANEL_W, PANEL_H, LEFT, TOP, BELOW, GAP = 300, 190, 54, 58, 34, 22


def rows():
    """call -> [(bytes, microseconds of the three libraries, or None)], of the table."""
    with open(os.path.join(ROOT, "doc", "performance.md"), encoding="utf-8") as f:
        text = f.read()
    part = text.split(TABLE, 1)[1].split("\n## ", 1)[0]
    calls = {}
    for line in re.findall(r"^\| (\w+) (\d+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|", part, re.M):
        times = [None if t.strip() == "-" else float(t.split()[0]) for t in line[2:]]
        calls.setdefault(line[0], []).append((int(line[1]), times))
    return calls


def size_name(n):
    for unit, shift in (("MiB", 20), ("KiB", 10)):
        if n >= 1 << shift:
            return "%d %s" % (n >> shift, unit)
    return "%d B" % n


def number(x):
    return ("%.1f" % x).rstrip("0").rstrip(".")


class Panel:
    """Time over size, both by logarithm, of one call."""

    def __init__(self, x, y, call, points):
        self.x, self.y, self.call, self.points = x, y, call, sorted(points)
        sizes = [n for n, _ in self.points]
        times = [t for _, ts in self.points for t in ts if t is not None]
        self.from_size, self.to_size = sizes[0], sizes[-1]
        self.low, self.high = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))

    def at(self, size, time):
        across = math.log(size / self.from_size) / math.log(self.to_size / self.from_size)
        up = (math.log10(time) - self.low) / (self.high - self.low)
        return self.x + across * (PANEL_W - LEFT), self.y + (1 - up) * (PANEL_H - BELOW)

    def draw(self):
        right, bottom = self.x + PANEL_W - LEFT, self.y + PANEL_H - BELOW
        title = TITLES.get(self.call, "MPI_" + self.call.capitalize())
        out = ['<text x="%d" y="%d" font-weight="bold">%s</text>' % (self.x, self.y - 8, title)]
        for power in range(self.low, self.high + 1):
            y = number(self.at(self.from_size, 10.0 ** power)[1])
            label = "%g" % 10.0 ** power
            out.append('<path d="M%d %s H%d" stroke="#ddd"/><text x="%d" y="%s" dy="4" text-anchor="end">%s</text>' %
                       (self.x, y, right, self.x - 5, y, label + (" us" if power == self.high else "")))
        exponents = range(math.ceil(math.log2(self.from_size)), int(math.log2(self.to_size)) + 1)
        for power in [p for p in exponents if p == exponents[0] or (p % 5 == 0 and p > exponents[0] + 3)]:
            x = number(self.at(2.0 ** power, 10.0 ** self.low)[0])
            out.append('<path d="M%s %d v4" stroke="#000"/><text x="%s" y="%d" text-anchor="middle">%s</text>' %
                       (x, bottom, x, bottom + 17, size_name(1 << power)))
        out.append('<path d="M%d %d V%d H%d" fill="none" stroke="#000"/>' % (self.x, self.y, bottom, right))
        for k in reversed(range(len(LIBRARIES))): # Godwit's on top
            name, color, dash, width = LIBRARIES[k]
            places = [self.at(n, ts[k]) for n, ts in self.points if ts[k] is not None]
            if places:
                line = " ".join("%s,%s" % (number(x), number(y)) for x, y in places)
                out.append('<polyline points="%s" fill="none" stroke="%s" stroke-width="%s"%s><title>%s</title></polyline>' %
                           (line, color, width, ' stroke-dasharray="%s"' % dash if dash else "", name))
                out += ['<circle cx="%s" cy="%s" r="2" fill="%s"/>' % (number(x), number(y), color) for x, y in places]
        return out


def picture(title, calls, table):
    """The whole text of one picture."""
    across = min(3, len(calls))
    down = (len(calls) + across - 1) // across
    width, height = across * (PANEL_W + GAP) + 10, TOP + down * (PANEL_H + GAP + 8)
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">' % (width, height),
           "<!-- made by gen/plots.py of doc/performance.md -->", "<title>%s</title>" % title,
           '<rect width="%d" height="%d" fill="#fff"/>' % (width, height)]
    for k, (name, color, dash, line) in enumerate(LIBRARIES):
        x = LEFT + k * 110
        out.append('<path d="M%d 18 h28" stroke="%s" stroke-width="%s"%s/><text x="%d" y="22">%s</text>' %
                   (x, color, line, ' stroke-dasharray="%s"' % dash if dash else "", x + 34, name))
    for k, call in enumerate(calls):
        out += Panel(LEFT + k % across * (PANEL_W + GAP), TOP + k // across * (PANEL_H + GAP + 8), call, table[call]).draw()
    return "\n".join(out + ["</svg>", ""])


def main():
    table = rows()
    drawn = {call for _, calls in PICTURES.values() for call in calls}
    left = sorted(call for call, points in table.items() if len(points) >= 3 and call not in drawn)
    if left or not table:
        sys.exit("plots.py: no picture shows %s" % (", ".join(left) or "anything: the table is not there"))
    status = 0
    for name, (title, calls) in PICTURES.items():
        path = os.path.join(ROOT, "doc", "performance", name + ".svg")
        text = picture(title, calls, table)
        if "--check" in sys.argv[1:]:
            with open(path, encoding="utf-8") as f:
                if f.read() != text:
                    print("%s is not what doc/performance.md says: gen/plots.py writes it" % os.path.relpath(path, ROOT))
                    status = 1
            continue
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
    return status


if __name__ == "__main__":
    sys.exit(main())
