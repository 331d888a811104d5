#!/usr/bin/env python3
"""A terminal: what is typed belongs to the ranks only while one of them waits for it, in whatever way; the rest is there for who comes next.
users.md row 13"""
# run.py: timeout=90 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import pty
import select
import signal
import sys
import time

build = sys.argv[1]
MPIEXEC = os.path.join(build, "mpiexec")
FAR = 60  # seconds until a condition that never comes counts as a failure


def fail(text):
    sys.exit(f"terminal: {text}")


class Shell:
    """A shell's script on a terminal of its own."""

    def __init__(self, script):
        self.script = script
        self.said = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ["M"] = MPIEXEC
            os.execvp("bash", ["bash", "-c", script])

    def until(self, text):
        end = time.monotonic() + FAR
        while text.encode() not in self.said:
            if time.monotonic() > end or not self.more(0.5) and os.waitpid(self.pid, os.WNOHANG)[0]:
                self.close()
                fail(f"{self.script}\nno '{text}' in\n{self.said.decode(errors='replace')}")

    def more(self, seconds):
        if not select.select([self.fd], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        self.said += data
        return bool(data)

    def type(self, text):
        os.write(self.fd, text.encode())

    def close(self):
        try:
            os.kill(self.pid, signal.SIGKILL)
        except OSError:
            pass
        os.close(self.fd)

    def end(self):
        while self.more(FAR):
            pass
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def told(script, *steps):
    """Steps: a text to wait for, or, with a >, one to type."""
    s = Shell(script)
    for step in steps:
        if step.startswith(">"):
            s.type(step[1:])
        else:
            s.until(step)
    s.end()
    return s.said.decode(errors="replace").replace("\r", "")


# Nobody reads: what is typed meanwhile is the shell's.
for options in "-n 1", "-n 2", "-stdin all -n 2", "-stdin 1 -n 2":
    told(f"$M {options} sh -c 'echo here; sleep 0.7'; read x; echo got:$x.", "here", ">ahead\n", "got:ahead.")

# A rank reads one line, and gets that one; the next is the shell's.
told("$M -n 2 sh -c 'if [ $GODWIT_RANK = 0 ]; then echo here; read a; echo rank:$a.; sleep 0.5; fi'; read b; echo shell:$b.",
     "here", ">one\ntwo\n", "rank:one.", "shell:two.")
# It begins to read long after the line was typed; a process that it has started reads.
told("$M -n 1 sh -c 'echo here; sleep 0.6; (sh -c \"read a; echo rank:\\$a.\"); true'", "here", ">late\n", "rank:late.")
# All ranks get what one of them waits for; the end of input is an end.
told("$M -stdin all -n 2 sh -c 'echo here$GODWIT_RANK; cat | sed -u s/^/r$GODWIT_RANK:/'", "here0", "here1", ">x\n", "r0:x", "r1:x", ">\x04")

WAYS = {
    "read": "os.read(0, 9)",
    "poll": "p = select.poll(); p.register(0, select.POLLIN); p.poll(); os.read(0, 9)",
    "select": "select.select([0], [], []); os.read(0, 9)",
    "epoll": "e = select.epoll(); e.register(0, select.EPOLLIN); e.poll(); os.read(0, 9)",
    "a thread": "t = threading.Thread(target=os.read, args=(0, 9)); t.start(); t.join()",
    "another descriptor": "d = os.dup(0); os.close(0); os.read(d, 9)",
    "no blocking": "os.set_blocking(0, False)\nwhile True:\n  try:\n    os.read(0, 9); break\n  except BlockingIOError: time.sleep(0.001)",
}
for way, code in WAYS.items():
    path = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"godwit_terminal_{os.getpid()}.py")
    with open(path, "w", encoding="ascii") as f:
        f.write(f"import os, select, threading, time\nprint('here', flush=True)\n{code}\nprint('has it')\n")
    try:
        told(f"$M -n 2 sh -c '[ $GODWIT_RANK = 1 ] || exec python3 {path}'", "here", ">x\n", "has it")
    finally:
        os.unlink(path)

# Ctrl-C, and Ctrl-Z and back; in the background nothing is read, nor is anybody stopped for it.
told("trap : INT; $M -n 2 sh -c 'echo here$GODWIT_RANK; exec sleep 47'; echo status:$?.", "here0", "here1", ">\x03", "status:130.")
told("set -m; $M -n 2 sh -c 'echo here; read a; echo rank:$a.' & read x; echo shell:$x.; fg; wait", "here", ">mine\n", "shell:mine.",
     ">yours\n", "rank:yours.")
told("set -m; $M -n 1 sh -c 'echo here; read a; echo rank:$a.'; echo status:$?.; fg", "here", ">\x1a", "status:14", ">back\n",
     "rank:back.")
