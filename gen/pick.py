#!/usr/bin/env python3
"""Runs a generator into a scratch folder and puts some of its files where the build wants them.

Usage: pick.py GENERATOR.py "ARGS" FILE=OUTPUT ...   (ARGS: further words for the generator, may be empty).
A file that did not change keeps its time stamp, so that nothing is rebuilt for it."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import subprocess
import sys
import tempfile


def main(generator, args, *pairs):
    with tempfile.TemporaryDirectory() as tmp:
        here = os.path.dirname(os.path.abspath(__file__))
        subprocess.run([sys.executable, os.path.join(here, generator), tmp] + args.split(), check=True)
        for pair in pairs:
            name, out = pair.split("=", 1)
            with open(os.path.join(tmp, name), "rb") as f:
                new = f.read()
            old = None
            if os.path.exists(out):
                with open(out, "rb") as f:
                    old = f.read()
            if new != old:
                os.makedirs(os.path.dirname(os.path.abspath(out)), exist_ok=True)
                with open(out, "wb") as f:
                    f.write(new)


if __name__ == "__main__":
    main(*sys.argv[1:])
