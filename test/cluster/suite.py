#!/usr/bin/env python3
"""The programs of test/mpi and test/shmem on hosts of a cluster, where ranks of one host share memory and the others are reached over
the network; some of them over a slow network and over one that flaps; by libfabric; and, with `all`, on one host by the network alone.

    suite.py BUILD PREFIX thin | all | PROGRAM...    PROGRAM...: these, on 2 and on 4 hosts (shmem/NAME: of test/shmem)

A program runs as its first line of testlist says, but for settings of wires and nodes, on as many ranks of that line as fit."""
# run.py: timeout=120 tags=cluster args=thin
# run.py: timeout=1800 tags=cluster,extra args=all
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LEFT_OUT = { # on several hosts
    "bad_buffers": "looks at copies that the kernel makes; for the network the processor reads the buffer, which ends in SIGSEGV",
    "citizen": "counts descriptors, and libfabric's sockets are some",
    "nodes": "its arguments say where its ranks are, of faked nodes",
    "spawn_universe": "Hydra says how many slots there are: as many as ranks",
    "threads_every": "has windows of shared memory of all ranks (and runs on one host by the network alone)",
    "tool_queues": "one rank reads another's memory, as a debugger does",
    "topo_reorder": "describes the machine that it is on",
}
LEFT_OUT_ALONE = {"citizen": LEFT_OUT["citizen"], "nodes": LEFT_OUT["nodes"], "topo_reorder": LEFT_OUT["topo_reorder"]}
ARGS = {"soak": ["200"]} # a divisor of the work
THIN = ("hello p2p_modes p2p_probe p2p_threads coll_small coll_nodes coll_persistent comm_make idup io_basic io_shared rma_errors "
        "rma_random session_life spawn_basic spawn_errors spawn_orders spawn_ports shmem/data_amo shmem/data_wait shmem/teams").split()
SLOW = ("hello p2p_modes p2p_probe p2p_stress comm_make coll_nodes io_basic io_shared rma_errors rma_fence session_life shmem/data_rma "
        "shmem/locks shmem/order").split()
THIN_SLOW = "p2p_modes comm_make rma_errors".split()
# By `all` only: hundreds of round trips, and each message that is lost waits for timeouts of TCP that double: 74 s, more under load.
APART = {"a flapping link": ["rma_errors"]}
SLOW_NET = {"a delay of 2 ms": ["--delay", "2"], "a flapping link": ["--flap", "n2:400:100"]}


def rows():
    """name: (numbers of ranks, arguments, environment)"""
    found = {}
    for folder, prefix in ("mpi", ""), ("shmem", "shmem/"):
        with open(os.path.join(HERE, "..", folder, "testlist"), encoding="utf-8") as f:
            lines = f.readlines()
        for line in lines:
            words = line.split("#")[0].split()
            more = [w.split("=", 1) for w in words[2:]]
            env = [v for k, v in more if k == "env"]
            if not words or prefix + words[0] in found or any(e.startswith(("GODWIT_VNODES=", "GODWIT_WIRES=")) for e in env):
                continue
            args = ARGS.get(words[0], [v for k, v in more if k == "arg"])
            found[prefix + words[0]] = ([int(n) for n in words[1].split(",")], args, env)
    missing = set(list(LEFT_OUT) + THIN + SLOW + THIN_SLOW) - set(found) - {"nodes"}
    if missing:
        sys.exit("suite: not in testlist: " + " ".join(sorted(missing)))
    return found


def command(build, name, row, hosts, most):
    """Ranks in blocks, as even as can be."""
    fit = [n for n in row[0] if 2 <= n <= most]
    if not fit:
        return None
    n, program = max(fit), [os.path.join(build, name.replace("/", "_") if "/" in name else "mpi_" + name)] + row[1]
    if not hosts:
        return ["env"] + row[2] + [os.path.join(build, "mpiexec"), "-n", str(n)] + program
    where = ["n%d:%d" % (i + 1, n // hosts + (i < n % hosts)) for i in range(min(hosts, n))]
    pairs = row[2] + ["TMPDIR=" + os.environ["SUITE_TMP"], "GODWIT_NAMES_DIR=" + os.environ["SUITE_TMP"], "GWTEST_HOSTS=1"]
    env = [w for pair in pairs for w in ["-genv"] + pair.split("=", 1)]
    return ["mpiexec.hydra", "-hosts", ",".join(where), "-n", str(n)] + env + program


def run(words):
    """What went wrong; None: nothing."""
    try:
        p = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=150,
                           check=False)
    except subprocess.TimeoutExpired as e:
        return "no end after 150 s\n" + (e.stdout or b"").decode(errors="replace")
    return None if p.returncode in (0, 77) else "status %d\n%s" % (p.returncode, p.stdout.decode(errors="replace"))


def run_programs(build, title, hosts, most, names):
    listed, failed, done, start = rows(), 0, 0, time.monotonic()
    for name in names or listed:
        words = None if name in (LEFT_OUT if hosts else LEFT_OUT_ALONE) else command(build, name, listed[name], hosts, most)
        if not words:
            continue
        why = run(words)
        done += 1
        if why:
            failed += 1
            print("suite: %s: `%s`: %s" % (title, " ".join(words), "\n    ".join(why.strip().splitlines()[:25])), flush=True)
    print("suite: %s: %d programs, %d failed, %.0f s" % (title, done, failed, time.monotonic() - start), flush=True)
    return failed == 0 and done > 0


def part(build, title, hosts, most, names, options=()):
    return subprocess.run([os.path.join(HERE, "cluster"), "--hosts", str(hosts)] + list(options) +
                          [sys.argv[0], "inside", build, title, str(hosts), str(most)] + list(names), check=False).returncode


def main():
    if sys.argv[1] == "inside":
        return 0 if run_programs(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]), sys.argv[6:]) else 1
    build, what = os.path.abspath(sys.argv[1]), sys.argv[3:]
    if not shutil.which("mpiexec.hydra"):
        print("suite: skipped: no mpiexec.hydra here")
        return 77
    thin, whole = what == ["thin"], what == ["all"]
    with tempfile.TemporaryDirectory(prefix="godwit-suite-") as folder:
        os.environ["SUITE_TMP"] = folder # files are shared by all hosts
        codes = [] if thin else [part(build, "2 hosts", 2, 4, [] if whole else what)]
        codes.append(part(build, "4 hosts", 4, 8, THIN if thin else [] if whole else what))
        for title, options in SLOW_NET.items() if thin or whole else ():
            codes.append(part(build, title, 2, 4, [p for p in THIN_SLOW if p not in APART.get(title, [])] if thin else SLOW, options))
        if thin or whole:
            os.environ["GODWIT_WIRES"] = "shm,ofi"
            codes.append(part(build, "4 hosts, by libfabric", 4, 8, THIN_SLOW if thin else THIN + SLOW))
    if whole:
        for wire in "tcp", "ofi":
            os.environ["GODWIT_WIRES"] = wire
            codes.append(0 if run_programs(build, "one host, by %s alone" % wire, 0, 4, []) else 1)
    return 1 if set(codes) - {0, 77} else max(codes)


if __name__ == "__main__":
    sys.exit(main())
