#!/usr/bin/env python3
"""Prints the C sources of a folder, one a line: `sources.py SOURCES DIR [--tests | --without-main]`.

SOURCES lists them: lines `folder: file file ...`, those that begin with a blank go on.  A file that is in the folder and not in the list,
or the other way round, is an error.  Without an option the unit tests (*_test.c) are left out, with --tests only they are printed, with
--without-main a file main.c is left out too."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import glob
import os
import sys


def read(path):
    """folder -> its files"""
    found, folder = {}, None
    for line in open(path, encoding="utf-8"):
        if line.startswith("#") or not line.strip():
            continue
        if not line.startswith(" "):
            folder, line = line.split(":", 1)
            found[folder] = []
        found[folder] += line.split()
    return found


def main(sources, folder, which=""):
    top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    listed = read(sources).get(folder, [])
    there = {os.path.basename(path) for path in glob.glob(os.path.join(top, folder, "*.c"))}
    for name in sorted(there ^ set(listed)):
        print("%s/%s is %s" % (folder, name, "not listed in src/SOURCES: add it there" if name in there else
                               "in src/SOURCES, but not there"), file=sys.stderr)
    if there ^ set(listed):
        sys.exit(1)
    for name in listed:
        if which == "--without-main" and name == "main.c":
            continue
        if name.endswith("_test.c") == (which == "--tests"):
            print(folder + "/" + name)


if __name__ == "__main__":
    main(*sys.argv[1:])
