#!/usr/bin/env python3
"""Connections between hosts by MUNGE credentials (GODWIT_NET_AUTH=munge), of daemons of this test's own: programs do what they do without, also
with TLS; another cluster's key, no daemon, one that hangs, no library, ranks that differ and unknown words are refused with a sentence."""
# run.py: timeout=240
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from far_job import BUILD, CLEAN, job  # noqa: E402


def munged(folder, name, key=None):
    """A daemon with a key of its own, or one of `key`; its process and socket."""
    at = os.path.join(folder, name)
    with open(at + ".key", "wb") as f:
        os.fchmod(f.fileno(), 0o600)
        f.write(key or os.urandom(1024))
    p = subprocess.Popen(["munged", "--foreground", "--force", "--key-file", at + ".key", "--socket", at + ".socket", "--pid-file", at + ".pid",
                          "--log-file", at + ".log", "--seed-file", at + ".seed"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not os.path.exists(at + ".socket"):
        assert p.poll() is None, "munged ends"
        time.sleep(0.01)
    return p, at + ".socket"


def works(env):
    for words, ranks in ((["mpi_hello"], 2), (["mpi_net_facts"], 4), (["mpi_p2p_modes"], 3), (["mpi_coll_nodes"], 8), (["mpi_rma_compute", "thread"], 2)):
        for tls in "0", "1":
            rc, said = job(words, "-n", str(ranks), GODWIT_NET_TLS=tls, **env)
            assert rc == 0, (words, tls, said)
    rc, said = job(["mpi_hello"], "-n", "2", GODWIT_EXPLAIN="wire", **env)
    assert rc == 0 and "ranks show MUNGE credentials" in said, said


def refused(env, other, folder):
    two = ["-n", "1", "-env", "GODWIT_NET_MUNGE_SOCKET", other, BUILD + "/mpi_net_facts", ":", "-n", "1"]
    for tls in "0", "1":
        rc, said = job(["mpi_net_facts"], *two, GODWIT_NET_TLS=tls, **env) # the daemon of another cluster
        assert rc != 0 and re.search(r"rank \d refuses the MUNGE credential of this one \(rank \d, host .*\): MUNGE there says: Invalid credential; "
                                     "give the munged of all hosts the same", said), said
    rc, said = job(["mpi_net_facts"], "-n", "1", "-env", "GODWIT_NET_AUTH", "key", BUILD + "/mpi_net_facts", ":", "-n", "1", **env)
    assert rc != 0 and re.search(r"rank \d has.* GODWIT_NET_AUTH=munge, and this one \(rank \d\) has.*: set it alike for all", said), said
    rc, said = job(["mpi_hello"], "-n", "2", GODWIT_NET_AUTH="munge", GODWIT_NET_MUNGE_SOCKET=folder + "/nobody")
    assert rc != 0 and "GODWIT_NET_AUTH=munge: MUNGE here says: Socket communication error; start munged on that host" in said, said
    rc, said = job(["mpi_hello"], "-n", "2", GODWIT_WIRES="shm,ofi", **env)
    assert rc != 0 and "GODWIT_NET_AUTH=munge protects connections of Godwit's own TCP sockets, and this job goes by libfabric" in said, said
    for value in "kerberos", "":
        rc, said = job(["mpi_hello"], "-n", "2", **dict(env, GODWIT_NET_AUTH=value))
        assert rc != 0 and "GODWIT_NET_AUTH=%s is not" % value in said and "nothing starts" in said, said
    with open(folder + "/libmunge.so.2", "w", encoding="ascii"):
        pass
    rc, said = job(["mpi_hello"], "-n", "2", LD_LIBRARY_PATH=folder, **env)
    assert rc != 0 and "GODWIT_NET_AUTH=munge needs libmunge.so.2, which cannot be opened" in said, said


def appears(path, p):
    while not os.path.exists(path):
        assert p.poll() is None, (path, p.stdout.read())
        time.sleep(0.01)


def stopped(env, folder):
    """The daemon that rank 0 asks about rank 2 hangs: rank 0 talks to rank 1 all the same; then the daemon goes on, or the job ends and says so."""
    with open(folder + "/ours.key", "rb") as f:
        second, at = munged(folder, "second", f.read())
    ours = env["GODWIT_NET_MUNGE_SOCKET"]
    try:
        for goes_on in True, False:
            mark = os.path.join(folder, "asked-%d" % goes_on)
            p = subprocess.Popen([BUILD + "/mpiexec", "--vnodes", "3", "-n", "2", "-env", "GODWIT_NET_MUNGE_SOCKET", at, BUILD + "/mpi_net_asked", mark, ":",
                                  "-n", "1", "-env", "GODWIT_NET_MUNGE_SOCKET", ours, BUILD + "/mpi_net_asked", mark], env=dict(CLEAN, **env),
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            appears(mark, p)
            second.send_signal(signal.SIGSTOP)
            with open(mark + ".go", "w", encoding="ascii"):
                pass
            appears(mark + ".talked", p)
            if goes_on:
                second.send_signal(signal.SIGCONT)
            said = p.communicate(timeout=100)[0]
            second.send_signal(signal.SIGCONT)
            if goes_on:
                assert p.returncode == 0, said
            else:
                assert p.returncode != 0 and "rank 0 refuses the MUNGE credential of this one (rank 2, " in said, said
                assert "MUNGE there says: nothing, for 10 s; it takes connections but is stopped, or hangs: start it again" in said, said
    finally:
        second.send_signal(signal.SIGCONT)
        second.terminate()
        second.wait()


def main():
    if not shutil.which("munged"):
        print("munge: skipped: no munged here (Debian: munge)")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        ours, at = munged(folder, "ours")
        foreign, other = munged(folder, "foreign")
        try:
            env = {"GODWIT_NET_AUTH": "munge", "GODWIT_NET_MUNGE_SOCKET": at}
            works(env)
            refused(env, other, folder)
            stopped(env, folder)
        finally:
            for p in ours, foreign:
                p.terminate()
                p.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
