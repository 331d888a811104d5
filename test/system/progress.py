#!/usr/bin/env python3
"""Long work says where it is: builds, test/run.py and the simulator: one line that renews itself on a terminal, whole lines elsewhere,
nothing with -q.  (What is due when: src/base/progress_test.c.)"""
# run.py: timeout=120
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

BUILD = os.path.abspath(sys.argv[1])
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FAR = 60


def on_terminal(command, until=None):
    """What the command says on a terminal, to its end, or till it has said something, which must happen."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execvp(command[0], command)
    said, end = b"", time.monotonic() + FAR
    while not (until and re.search(until, said)) and time.monotonic() < end:
        if not select.select([fd], [], [], 1)[0]:
            continue
        try:
            more = os.read(fd, 4096)
        except OSError:
            break
        if not more:
            break
        said += more
    else:
        os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(fd)
    assert not until or re.search(until, said), "%s: no %s in %s" % (command, until, said)
    return said


def builds(folder):
    script = folder + "/build.sh"
    with open(script, "w", encoding="utf-8") as f:
        f.write(". %s/test/setup.sh\nmake_all() { echo '[1/3] a'; sleep 2.5; echo '[3/3] b'; return 3; }\n"
                "with_progress \"$1\" %s/log make_all || echo status $?\n" % (ROOT, folder))
    said = on_terminal(["sh", "-e", script, ""])
    assert re.search(rb"\r1 of 3 steps, \d+ s\x1b\[K", said) and said.endswith(b"\r\x1b[Kstatus 3\r\n"), said
    assert on_terminal(["sh", "-e", script, "-q"]) == b"status 3\r\n"
    p = subprocess.run(["sh", "-e", script, ""], capture_output=True, timeout=FAR, check=True)
    assert p.stdout == b"status 3\n" and re.fullmatch(rb"([13] of 3 steps, \d+0 s\n)*", p.stderr), p # none, if the machine is quick
    with open(folder + "/log", encoding="utf-8") as f:
        assert f.read() == "[1/3] a\n[3/3] b\n"
    for command in "check", "quickstart":
        p = subprocess.run([ROOT + "/" + command, "-x"], capture_output=True, text=True, timeout=FAR, check=False)
        assert p.returncode == 1 and "[-q]" in p.stderr, p


def tests():
    command = [sys.executable, ROOT + "/test/run.py", "--only", "launch/stdin.sh", BUILD] # it sleeps for longer than a line takes to come
    said = on_terminal(command)
    assert re.search(rb"\r0 of 1 tests: \S*launch/stdin\.sh\x1b\[K", said) and \
        re.search(rb"\r\x1b\[K(ok [^\r\n]*\r\n)?1 passed, 0 failed", said), said # what takes long is named
    said = on_terminal(command + ["-q"])
    assert re.fullmatch(rb"(ok [^\r\n]*\r\n)?1 passed, 0 failed\r\n", said), said


def simulator():
    command = [BUILD + "/sim/sim", "--machine", "slingshot", "--coll", "allreduce", "--alg", "doubling", "--bytes", "8", "--ranks"]
    on_terminal(command + ["1048576"], rb"\rsim: doubling on 1048576 ranks: \d+ messages, \d+ ranks are through\x1b\[K")
    said = on_terminal(command + ["64"]) # at once
    assert b"\x1b" not in said and re.search(rb"64 +8 +\d+\.\d\d\r\n$", said), said
    assert on_terminal(command + ["64", "-q"]) == said
    on_terminal([BUILD + "/sim/sim", "--machine", "frontier", "--congestion"],
                rb"\rsim: congestion on frontier, 2 of 15, best_effort beside aggressors: \d+ %\x1b\[K")


with tempfile.TemporaryDirectory() as own:
    builds(own)
tests()
simulator()
