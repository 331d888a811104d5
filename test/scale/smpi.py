#!/usr/bin/env python3
"""The scale simulator beside SimGrid's SMPI: five algorithms, written once more as a program over point-to-point, on the same machine
(overhead, latency, bandwidth), at 64 to 512 ranks.  Each pair of times must agree within AGREE."""
# run.py: timeout=200
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import re
import shutil
import subprocess
import sys
import tempfile

AGREE = 1.05
HERE = os.path.dirname(os.path.abspath(__file__))
SIM = os.path.join(os.path.abspath(sys.argv[1]), "sim", "sim")
# Overhead 0.5 us at each end, 2 us on the way (1 us of each host's cable), 1 ns a byte.
MACHINE = "machine smpi\nlevel network o=0.5 L=2 G=1\n"
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<cluster id="c" prefix="n" suffix="" radical="0-511" speed="1Gf" bw="1GBps" lat="1us" sharing_policy="SPLITDUPLEX"/>
</platform>
"""
# The plain model: no factors fitted to a real network, no costs that are not in MACHINE.  Up to 64 KiB a sender does not wait; flows
# that leave a host together share its cable there, while they take turns in ours, so larger ones are compared where they wait.
SETTINGS = ["network/model:CM02", "network/bandwidth-factor:1", "network/latency-factor:1", "network/weight-S:0", "network/TCP-gamma:0",
            "network/crosstraffic:no", "smpi/simulate-computation:no", "smpi/os:0:5e-7:0", "smpi/ois:0:5e-7:0", "smpi/or:0:5e-7:0",
            "smpi/send-is-detached-thresh:65536", "smpi/async-small-thresh:0", "smpi/wtime:0", "smpi/host-speed:1Gf"]
CASES = [("bcast", "binomial", 8), ("bcast", "binomial", 100000), ("barrier", "dissemination", 0), ("allgather", "ring", 4096),
         ("allgather", "bruck", 8), ("allgather", "bruck", 512), ("gather", "flat", 8), ("gather", "flat", 20000)]
AT_MOST = CASES[1:2] + CASES[5:7] # at 512


def ours(folder, coll, alg, ranks, size):
    out = subprocess.run([SIM, "--machine", os.path.join(folder, "machine"), "--coll", coll, "--alg", alg, "--ranks", str(ranks),
                          "--bytes", str(size)], check=True, capture_output=True, text=True).stdout
    return float(out.split()[-1])


def theirs(folder, coll, alg, ranks, size):
    out = subprocess.run(["smpirun", "-np", str(ranks), "-platform", os.path.join(folder, "platform.xml"), "-hostfile",
                          os.path.join(folder, "hosts")] + ["--cfg=" + s for s in SETTINGS] +
                         [os.path.join(folder, "rounds"), "%s_%s" % (coll, alg), str(size)], capture_output=True, text=True, check=False)
    found = re.search(r"^([0-9.]+)$", out.stdout, re.M)
    if out.returncode or not found:
        sys.exit("smpirun: %s" % (out.stdout + out.stderr)[-2000:])
    return float(found.group(1))


def main():
    if not shutil.which("smpicc") or not shutil.which("smpirun"):
        print("SimGrid's smpicc and smpirun are not here (Debian: libsimgrid-dev)")
        return 77
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("machine", MACHINE), ("platform.xml", PLATFORM), ("hosts", "".join("n%d\n" % i for i in range(512)))):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write(text)
        subprocess.run(["smpicc", "-O1", "-o", os.path.join(folder, "rounds"), os.path.join(HERE, "smpi_rounds.c")], check=True)
        print("%-10s %-14s %6s %6s %12s %12s" % ("", "", "ranks", "bytes", "simulator us", "SMPI us"))
        for ranks, cases in ((64, CASES), (512, AT_MOST)):
            for coll, alg, size in cases:
                a, b = ours(folder, coll, alg, ranks, size), theirs(folder, coll, alg, ranks, size)
                agree = max(a, b) <= AGREE * min(a, b)
                bad += not agree
                print("%-10s %-14s %6d %6d %12.2f %12.2f%s" % (coll, alg, ranks, size, a, b, "" if agree else "  <- not alike"), flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
