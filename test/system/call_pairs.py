#!/usr/bin/env python3
"""Two calls that do not fit: all ranks but one make the first, that one the other, of the same object or of two (test/mpi/call_pairs.c).  Where it is
one communicator or file the job ends by itself; else it is said to hang.  Both calls are named, and the objects.  Where one rank only comes late to
the same call, nothing is said.

    call_pairs.py BUILD "" few | all | RANKS A:i B:j   few: each call with some others; all: each with each"""
# run.py: args=few timeout=300 tags=quick
# run.py: args=all timeout=1800 tags=extra
# users.md row 1
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import concurrent.futures
import itertools
import os
import subprocess
import sys
import tempfile
import threading

BUILD = os.path.abspath(sys.argv[1])
WHAT = sys.argv[3:]
AT_ONCE = 8  # a job that hangs sleeps
LATE_S = 90
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(("GODWIT_", "MPICH_"))}

CALLS = [line.split() for line in subprocess.run([BUILD + "/mpi_call_pairs"], capture_output=True, text=True, check=True).stdout.splitlines()]
KIND = {name: kind for name, kind, _ in CALLS}
NAME = {name: call for name, _, call in CALLS}
OBJECTS = {"comm": ("MPI_COMM_WORLD", "other"), "file": ("/first.dat", "/second.dat"), "message": ("MPI_COMM_WORLD", "other")}
assert len(CALLS) > 40, CALLS


def of(call):
    name, at = call.split(":")
    return KIND[name], int(at)


def must_end(first, second):
    """Both are collectives of one object, and each rank can see that the other's is another one."""
    return of(first) == of(second) and of(first)[0] in ("comm", "file")


def said_by(ranks, first, second, warn, *more):
    """What a job says until it ends, or is said to hang; then it is ended."""
    said = []
    with tempfile.TemporaryDirectory() as folder:
        with subprocess.Popen([BUILD + "/mpiexec", "--oversubscribe", "-n", str(ranks), BUILD + "/mpi_call_pairs", first, second, *more],
                              env=dict(CLEAN, GODWIT_HANG_WARN=warn, TMPDIR=folder), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True) as p:
            late = threading.Timer(LATE_S, p.kill)
            late.start()
            for line in p.stdout:
                said.append(line)
                if "verdict: " in line and "; the job ends now" not in line:
                    p.terminate()
            rc = p.wait()
            late.cancel()
    return rc, "".join(said)


def is_named(call, said):
    """A message tells only that it is of a collective or of its non-blocking form."""
    return call in said or (call.startswith("MPI_I") and f"MPI_{call[5:].capitalize()} or its non-blocking form" in said)


def wrong_with(job):
    ranks, first, second = job
    if first == second:  # a right program, which takes longer than a hang to be told
        rc, said = said_by(ranks, first, second, "1", "3")
        return ("" if (rc, said) == (0, "it came to its end\n") else f"status {rc}, and it should say nothing"), said
    rc, said = said_by(ranks, first, second, "0" if must_end(first, second) else "1")
    wrong = []
    if rc == 0:
        wrong.append("it ended as if nothing were wrong")
    if rc == -9:
        wrong.append("it hung, and nothing was said")
    wrong += [f"{NAME[call.split(':')[0]]} is not named" for call in (first, second) if not is_named(NAME[call.split(":")[0]], said)]
    if "seems to hang" in said:
        wrong += [f"{call}: its object is not named" for call in (first, second)
                  if of(call)[0] in OBJECTS and OBJECTS[of(call)[0]][of(call)[1]] not in said]
    return "; ".join(wrong), said


def pairs():
    """Each call with each, of one object and of two."""
    for a, b in itertools.combinations_with_replacement([n for n, _, _ in CALLS], 2):
        if KIND[a] == KIND[b] and KIND[a] in ("message", "end"):
            continue
        one = int("disconnect" in (a, b))  # MPI_COMM_WORLD cannot be disconnected
        if a != b:
            yield f"{a}:{one}", f"{b}:{one if KIND[a] == KIND[b] == 'comm' or b == 'disconnect' else 0}"
        if KIND[a] == KIND[b] != "end" and "disconnect" not in (a, b):
            yield f"{a}:0", f"{b}:1"


def is_endless(first, second):
    """What waits for a client of another job may do so for ever."""
    return "accept" in (first.split(":")[0], second.split(":")[0]) and not must_end(first, second)


def late():
    """Those that all ranks may make."""
    return [f"{n}:{int(n == 'disconnect')}" for n, kind, _ in CALLS if kind != "message" and n not in ("spawn", "accept", "post_wait", "start_complete")]


def main():
    if len(WHAT) == 3:
        jobs = [(int(WHAT[0]), WHAT[1], WHAT[2])]
    else:
        every, slow = [p for p in pairs() if not is_endless(*p)], late()
        jobs = [(2, *p) for p in every] + [(3 + i % 2, *p) for i, p in enumerate(every) if i % 5 == 0]
        if WHAT != ["all"]:
            jobs, slow = jobs[::23], slow[::4]  # a prime distance, so that all calls are there
        jobs += [(2 + i % 3, call, call) for i, call in enumerate(slow)]
    n_wrong = 0
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for job, (wrong, said) in zip(jobs, pool.map(wrong_with, jobs)):
            n_wrong += bool(wrong)
            if wrong or len(jobs) == 1:
                print(f"{job[0]} ranks, {job[1]} {job[2]}: {wrong}\n{said}", flush=True)
    print(f"{n_wrong} of {len(jobs)} pairs are wrong")
    return n_wrong != 0


if __name__ == "__main__":
    sys.exit(main())
