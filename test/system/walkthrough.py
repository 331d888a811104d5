#!/usr/bin/env python3
"""doc/walkthrough.md: its commands run, print what the page says they print, and the page of the profile has what it says."""
# run.py: timeout=240 alone=yes tags=extra
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import re
import subprocess
import sys
import tempfile

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))


def commands():
    """(command, [lines that it prints])."""
    found = []
    with open(SOURCE + "/doc/walkthrough.md", encoding="utf-8") as f:
        for line in f:
            if line.startswith("    $ "):
                found.append((line[6:].strip(), []))
            elif line.startswith("    ") and found:
                found[-1][1].append(line)
    return found


def plain(line):
    """Without blanks that only make columns, and without the numbers that are times."""
    return re.sub(r"\b\d[\d.,]* us\b", "N us", " ".join(line.split()))


def run(command, prefix, folder):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("GODWIT_", "MPICH_"))}
    env.update(PATH=prefix + "/bin:" + env["PATH"], GODWIT=SOURCE)
    p = subprocess.run(["sh", "-c", command], env=env, cwd=folder, capture_output=True, text=True, timeout=100, check=False)
    assert p.returncode == 0, "%s: %d\n%s%s" % (command, p.returncode, p.stdout, p.stderr)
    return p.stdout + p.stderr


def check_page(path):
    with open(path, encoding="utf-8") as f:
        page = f.read()
    for what in ("matrix", "orders", "steps", "observations"):
        assert 'id="%s"' % what in page, what
    assert "Ranks communicate in a grid of 8 &times; 96." in page
    orders = re.findall(r"<figcaption><b>(\w+)</b>: ([\d.]+) % of the bytes stay on nodes", page)
    assert orders[:2] == [("Custom", "80.45"), ("SMP", "50.28")], orders
    assert [float(p) for _, p in orders] == sorted((float(p) for _, p in orders), reverse=True), orders
    # In the order that was current ranks 0 to 15 share a node; in the custom one rank 0 shares its node with the rank below it.
    maps = [dict(re.findall(r"<title>rank (\d+): node (\d+)</title>", m)) for m in page[page.index('id="orders"'):].split("</svg>")]
    assert all(len(m) == 768 for m in maps[:len(orders)]), [len(m) for m in maps]
    assert len({maps[1][str(r)] for r in range(16)}) == 1 and maps[1]["0"] != maps[1]["96"]
    assert len({maps[0][str(96 * row + column)] for row in range(4) for column in range(4)}) == 1
    steps = page[page.index('id="steps"'):]
    assert len(re.findall(r"<b>Step \d+</b>: [\d.]+ s, [\d.]+ times the mean", steps)) == 3
    assert re.search(r"<title>rank 767: waiting [\d.]+ s</title>", steps)


def main(prefix):
    done, changes = 0, set()
    with tempfile.TemporaryDirectory() as folder:
        for command, wanted in commands():
            printed = run(command, os.path.abspath(prefix), folder)
            lines = {plain(line) for line in printed.splitlines()}
            for line in wanted:
                assert plain(line) in lines, "%s\ndoes not print\n%s\nbut\n%s" % (command, line, printed)
            changes |= set(re.findall(r"us a step, change (\S+)", printed))
            done += 1
        check_page(folder + "/stencil.html")
    assert done >= 6 and len(changes) == 1, (done, changes)


if __name__ == "__main__":
    main(sys.argv[2])
