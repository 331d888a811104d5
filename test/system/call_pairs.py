#!/usr/bin/env python3
"""Two calls that do not fit: all ranks but one make the first, that one the other, of the same object or of two (test/mpi/call_pairs.c).  Each job
ends by itself, or is said to hang; both calls are named."""
# run.py: timeout=300 tags=quick
# users.md row 1
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import concurrent.futures
import os
import subprocess
import sys
import tempfile
import threading

BUILD = os.path.abspath(sys.argv[1])
WHAT = sys.argv[2:]
AT_ONCE = 8  # a job that hangs sleeps
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(("GODWIT_", "MPICH_"))}
LATE = 90

CALLS = [tuple(line.split()) for line in subprocess.run([BUILD + "/mpi_call_pairs"], capture_output=True, text=True, check=True).stdout.splitlines()]
KIND = {name: kind for name, kind, _ in CALLS}
NAME = {name: call for name, _, call in CALLS}


def said_by(ranks, first, second, env):
    """What a job says until it ends, or is said to hang; then it is ended."""
    said, hangs = [], False
    with tempfile.TemporaryDirectory() as folder:
        p = subprocess.Popen([BUILD + "/mpiexec", "--oversubscribe", "-n", str(ranks), BUILD + "/mpi_call_pairs", first, second], env=dict(
            CLEAN, GODWIT_HANG_WARN="1", TMPDIR=folder, **env), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        late = threading.Timer(LATE, p.kill)
        late.start()
        for line in p.stdout:
            said.append(line)
            if "verdict: " in line and "; the job ends now" not in line:
                hangs = True
                p.terminate()
        rc = p.wait()
        late.cancel()
    return rc, hangs, "".join(said)


def pair_check(job):
    ranks, first, second, env = job
    rc, hangs, said = said_by(ranks, first, second, env)
    wrong = []
    if rc == 0:
        wrong.append("it ended as if nothing were wrong")
    if rc == -9:
        wrong.append("it hung and nothing was said")
    same = first[-2:] == second[-2:] and KIND[first[:-2]] == KIND[second[:-2]] and KIND[first[:-2]] in ("comm", "file")
    if hangs and same:
        wrong.append("it hangs, though all called something of the same object")
    wrong += [f"{NAME[call[:-2]]} is not named" for call in (first, second) if NAME[call[:-2]] not in said]
    if "without a name" in said:
        wrong.append("an object has no name")
    return "; ".join(wrong), said


def main():
    jobs = [(2, *WHAT, {})] if len(WHAT) == 2 else []
    if not jobs:
        names = [n for n, _, _ in CALLS]
        for i, a in enumerate(names):
            for b in names[i:]:
                if KIND[a] == "message" == KIND[b] or KIND[a] == KIND[b] == "end":
                    continue
                if a != b:
                    jobs.append((2, a + ":0", b + ":0", {}))
                if KIND[a] == KIND[b] and KIND[a] != "end":
                    jobs.append((2, a + ":0", b + ":1", {}))
    n_wrong = 0
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for job, (wrong, said) in zip(jobs, pool.map(pair_check, jobs)):
            if wrong or len(WHAT) == 2:
                n_wrong += bool(wrong)
                print(f"{job[0]} ranks, {job[1]} {job[2]}: {wrong}\n{said}", flush=True)
    print(f"{n_wrong} wrong of {len(jobs)}")
    return n_wrong != 0


if __name__ == "__main__":
    sys.exit(main())
