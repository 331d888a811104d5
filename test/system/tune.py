#!/usr/bin/env python3
"""godwit-tune: a file that jobs obey, wrong lines of one, a table that is bad on purpose is found and put right."""
# run.py: timeout=200 alone=yes tags=extra
# users.md row 11
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import re
import socket
import subprocess
import sys
import tempfile

BUILD = os.path.abspath(sys.argv[1])
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(("GODWIT_", "MPICH_"))}


def tune(*words, status=(0,), **env):
    p = subprocess.run([BUILD + "/godwit-tune", *words], env=dict(CLEAN, **env), capture_output=True, text=True, timeout=150, check=False)
    assert p.returncode in status, "%s: %d\n%s%s" % (words, p.returncode, p.stdout, p.stderr)
    return p.stdout


def job(*options, **env):
    """What a job of 4 ranks says about its choices: {(collective, bytes): (algorithm, why)} of all ranks together, and its warnings."""
    command = [BUILD + "/mpiexec", "--oversubscribe", "-n", "4", *options, BUILD + "/mpi_coll_basic"]
    p = subprocess.run(command, env=dict(CLEAN, GODWIT_EXPLAIN="coll", **env), capture_output=True, text=True, timeout=60, check=False)
    assert p.returncode == 0, p.stderr
    found = {}
    for kind, size, alg, why in re.findall(r"coll: (\w+) of (\d+) bytes on 4 ranks of .*: (\w+) \((.*)\)$", p.stderr, re.M):
        found.setdefault((kind, int(size)), set()).add((alg, why))
    return found, [line for line in p.stderr.splitlines() if "warning" in line]


def check_obeyed(home):
    """What is measured is written for that shape, and every choice is that of the first row which fits; mpiexec finds the file by itself."""
    tune("--quick", "-n", "4", XDG_CONFIG_HOME=home)
    path = os.path.join(home, "godwit", socket.gethostname() + ".tune")
    with open(path, encoding="utf-8") as f:
        text = f.read()
    lines = text.splitlines()
    assert lines[0].startswith("# Sum ") and re.match(r"# Measured by godwit-tune, \d{4}-", lines[1]) and lines[-1].startswith("# Sums of the lines above:"), text
    for line in lines[2:-1]:
        assert re.fullmatch(r"([a-z_]+ \| 4\.\.4 \| (\d+K?|-) \| [a-z_]+ \| -|GODWIT_(EAGER|CMA)_M(AX|IN)=\d+K)  # (\d+ % quicker|as built in), spread \d+ %", line), line
    # However the machine's times fall out, a row is obeyed: one is put on top.
    with open(path, "w", encoding="utf-8") as f:
        f.write("bcast | 4..4 | 1K | binomial | -\nbcast | 4..4 | - | chain | -\n" + text)
    found, warnings = job(XDG_CONFIG_HOME=home)
    assert not warnings, warnings
    sizes = {size: said for (kind, size), said in found.items() if kind == "bcast"}
    assert sizes and all(said == {("binomial" if size <= 1024 else "chain", "GODWIT_TUNE")} for size, said in sizes.items()), sizes
    found, _ = job(XDG_CONFIG_HOME=home, GODWIT_TUNE="")
    assert all(why != "GODWIT_TUNE" for said in found.values() for _, why in said), found
    found, _ = job("--vnodes", "2", XDG_CONFIG_HOME=home)
    assert ("levels", "tune/nodes.tbl") in found["bcast", min(size for kind, size in found if kind == "bcast")], found


def check_wrong(folder):
    path = os.path.join(folder, "wrong.tune")
    with open(path, "w", encoding="utf-8") as f:
        f.write("# all wrong but the last\nbcast | 4..4 | - | nonsense | -\nbcast 4\nGODWIT_WAIT=block\nGODWIT_EAGER_MAX=9G\nbcast | 4..4 | - | binomial | -\n")
    found, warnings = job(GODWIT_TUNE=path)
    for number in (2, 3, 4):
        assert sum("line %d" % number in w for w in warnings) == 1, warnings
    assert sum("GODWIT_EAGER_MAX=9G" in w for w in warnings) == 1 and len(warnings) == 4, warnings
    assert all(said == {("binomial", "GODWIT_TUNE")} for (kind, _), said in found.items() if kind == "bcast"), found
    _, warnings = job(GODWIT_TUNE=folder + "/none")
    assert len(warnings) == 1 and "cannot be read" in warnings[0], warnings


def check_not_alike(folder):
    """Ranks with different rows would choose different algorithms for one call."""
    for name, alg in (("one", "binomial"), ("other", "chain")):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write("bcast | 4..4 | - | %s | -\nbcast | 4..4 | 2..2 | - | %s | -\n" % (alg, alg))
    low, high = folder + "/one", folder + "/other"
    cases = [(BUILD + p, o) for p in ("/mpi_coll_basic", "/shmem_data_coll") for o in ([], ["--vnodes", "2"])]
    for program, options in cases:
        for low_path, high_path, is_alike in ((low, high, False), (low, folder + "/none", False), (low, low, True)):
            command = [BUILD + "/mpiexec", "--oversubscribe", *options, "-n", "2", "-env", "GODWIT_TUNE", low_path, program,
                       ":", "-n", "2", "-env", "GODWIT_TUNE", high_path, program]
            p = subprocess.run(command, env=dict(CLEAN, GODWIT_EXPLAIN="coll"), capture_output=True, text=True, timeout=60, check=False)
            assert p.returncode == 0, p.stderr
            assert ("(GODWIT_TUNE)" in p.stderr) == is_alike, (program, options, low_path, high_path)
            assert ("does not say the same to all ranks" in p.stderr) == (not is_alike), (program, options, low_path, high_path)


def check_kept(folder):
    """Rows for other shapes too, and thresholds of jobs of several nodes, stay behind what is measured; the last line may have no end."""
    path = os.path.join(folder, "kept.tune")
    kept = ["bcast | 2.. | - | chain | -", "bcast | 2..8 | 2..2 | - | binomial | -", "GODWIT_NET_EAGER_MAX=64K", "gather | 5..5 | - | linear | -"]
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(["bcast | 4..4 | - | scatter | -", "GODWIT_EAGER_MAX=5K"] + kept))
    tune("--quick", "-o", path, "-n", "4")
    with open(path, encoding="utf-8") as f:
        lines = f.read().splitlines()
    assert [line for line in lines if line in kept] == kept and "GODWIT_EAGER_MAX=5K" not in lines, lines
    first = next(n for n, line in enumerate(lines) if re.search(r"(^|\| )bcast \| ", line)) # measured: behind the name of the processor
    assert "bcast | 4..4 |" in lines[first] and first < lines.index(kept[0]), lines


def check_put_right(folder):
    """A ring for small allreduces of ranks that share memory is several times slower than reduce and bcast."""
    path = os.path.join(folder, "bad.tune")
    with open(path, "w", encoding="utf-8") as f:
        f.write("allreduce | 4..4 | - | ring | -\nscan | 4..4 | 8 | leaf | -\nallreduce | 5..5 | - | ring | -\nGODWIT_EAGER_MAX=16K\n")
    said = tune("--check", "--quick", "-o", path, "-n", "4", status=(0, 3))
    assert re.search(r"allreduce of 8 bytes \(ring\) takes [\d.]+ us, reduce and bcast [\d.]+ us", said), said
    assert re.search(r"allreduce of 8 bytes: \w+, [\d.]+ us, in place of ring", said) and "Put right" in said, said
    with open(path, encoding="utf-8") as f:
        text = f.read()
    assert re.search(r"^allreduce \| 4\.\.4 \| \S+ \| (?!ring)\w+ \| -  # \d+ % quicker, spread \d+ %$", text, re.M), text
    for kept in ("allreduce | 5..5 | - | ring | -\n", "GODWIT_EAGER_MAX=16K\n"):
        assert kept in text, text
    found, warnings = job(GODWIT_TUNE=path)
    assert not warnings, warnings
    said = next(said for (kind, size), said in sorted(found.items()) if kind == "allreduce")
    assert all(alg != "ring" for alg, _ in said), found


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_wrong(folder)
        check_not_alike(folder)
        check_kept(folder)
        check_put_right(folder)
        check_obeyed(folder)
    p = subprocess.run([BUILD + "/godwit-tune", "--quick", "-o", "/nonexistent/x", "-n", "2"], capture_output=True, text=True, timeout=60, check=False)
    assert p.returncode == 1 and "cannot write" in p.stderr, p.stderr


if __name__ == "__main__":
    main()
