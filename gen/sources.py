#!/usr/bin/env python3
"""Prints the C sources of a folder, one a line: `sources.py DIR [--tests | --without-main]`.

Without an option the unit tests (*_test.c) are left out, with --tests only they are printed,
with --without-main a file main.c is left out too."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import glob
import os
import sys


def main(folder, which=""):
    for path in sorted(glob.glob(os.path.join(folder, "*.c"))):
        is_test = path.endswith("_test.c")
        if which == "--without-main" and path.endswith("/main.c"):
            continue
        if is_test == (which == "--tests"):
            print(os.path.relpath(path, os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


if __name__ == "__main__":
    main(*sys.argv[1:])
