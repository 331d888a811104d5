#!/usr/bin/env python3
"""The modulefile that is installed: what `module load` would make of it, and that the programs, pages and libraries are found by that alone."""
# run.py: timeout=60 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import glob
import os
import re
import subprocess
import sys

PREFIX = os.path.realpath(sys.argv[2])
FILES = glob.glob(PREFIX + "/share/modulefiles/godwit/*")


def path_of(text, path):
    """The one expression that such a file may have: so many folders above itself."""
    inner = text.replace("[file dirname ", "").rstrip("]")
    ups = text.count("[file dirname ")
    assert inner == "$ModulesCurrentModulefile" and text.count("]") == ups, text
    for _ in range(ups):
        path = os.path.dirname(path)
    return path


def load(path):
    """(environment, names that it is in conflict with); a line that is no command of modulefiles fails."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    assert text.startswith("#%Module"), text[:40]
    text = re.sub(r"(?ms)^proc ModulesHelp \{ \} \{\n.*?^\}\n", "", text)
    variables, env, conflicts, told = {}, {}, [], 0
    for line in text.split("\n"):
        if not line or line.startswith("#"):
            continue
        command, rest = line.split(" ", 1)
        value = rest.split(" ", 1)[-1]
        value = re.sub(r"^\$(\w+)", lambda m: variables.get(m.group(1), m.group(0)), value)
        if command == "set":
            variables[rest.split()[0]] = path_of(value, path)
        elif command in ("setenv", "prepend-path"):
            env[rest.split()[0]] = value
        elif command == "conflict":
            conflicts.append(rest)
        else:
            assert command == "module-whatis" and "Godwit" in rest, line
            told += 1
    assert told == 1
    return env, conflicts


def main():
    assert len(FILES) == 1, FILES
    env, conflicts = load(FILES[0])
    assert env["GODWIT_ROOT"] == PREFIX and conflicts == ["godwit", "mpi"], (env, conflicts)
    used = {k: v for k, v in os.environ.items() if not k.startswith("GODWIT_")}
    for name, value in env.items():
        used[name] = value + ":" + used[name] if name in ("PATH",) else value
        assert os.path.isdir(value), "%s=%s is no folder" % (name, value)
    def said(*words):
        return subprocess.run(words, env=used, check=True, capture_output=True, text=True).stdout
    version = said("godwit-info", "--version").split()[1]
    assert os.path.basename(FILES[0]) == version, (FILES, version)
    assert said("sh", "-c", "command -v mpicc").strip() == PREFIX + "/bin/mpicc"
    assert os.path.exists(env["LD_LIBRARY_PATH"] + "/libmpi_abi.so.1")
    assert os.path.exists(env["PKG_CONFIG_PATH"] + "/godwit.pc")
    assert glob.glob(env["MANPATH"] + "/man7/godwit-environment.7*")


main()
