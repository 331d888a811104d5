#!/usr/bin/env python3
"""Connections between hosts by MUNGE credentials (GODWIT_NET_AUTH=munge), of daemons of this test's own: programs do what they do without, also
with TLS; another cluster's key, no daemon, no library, ranks that differ and unknown words are refused with a sentence."""
# run.py: timeout=240
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from far_job import BUILD, job  # noqa: E402


def munged(folder, name):
    """A daemon with a key of its own; its process and socket."""
    at = os.path.join(folder, name)
    with open(at + ".key", "wb") as f:
        os.fchmod(f.fileno(), 0o600)
        f.write(os.urandom(1024))
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
        finally:
            for p in ours, foreign:
                p.terminate()
                p.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
