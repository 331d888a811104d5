#!/usr/bin/env python3
"""Connections between hosts by TLS (GODWIT_NET_TLS): programs do what they do without, who reads the network finds no message and no key of it,
and what cannot have it is refused with a sentence."""
# run.py: timeout=240
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import re
import socket
import sys
import tempfile
import threading

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from far_job import BUILD, job  # noqa: E402


def works():
    for words, ranks in ((["mpi_net_facts"], 4), (["mpi_p2p_modes"], 3), (["mpi_coll_nodes"], 4), (["mpi_rma_compute", "thread"], 2), (["mpi_p2p_burst"], 2)):
        rc, said = job(words, "-n", str(ranks), GODWIT_NET_TLS="1")
        assert rc == 0, (words, said)
    rc, said = job(["mpi_hello"], "-n", "2", GODWIT_NET_TLS="1", GODWIT_EXPLAIN="wire")
    assert rc == 0 and "all of it by TLS" in said, said


def seen(**env):
    """The bytes that went over the loopback during a job in which one rank sends a text to another, or None where nobody may look."""
    try:
        tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        tap.bind(("lo", 0))
    except (PermissionError, AttributeError, OSError):
        return None
    tap.settimeout(0.2)
    tap.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
    got, over = [], threading.Event()

    def listen():
        while True:
            try:
                got.append(tap.recv(1 << 17))
            except socket.timeout:
                if over.is_set():
                    return
    t = threading.Thread(target=listen)
    t.start()
    rc, said = job(["mpi_tls_text"], "-n", "2", **env)
    over.set()
    t.join()
    tap.close()
    assert rc == 0, said
    return b"".join(got)


def unreadable():
    word = b"a text that nobody else may read"
    plain = seen()
    if plain is None:
        print("note: nobody may look at the network here")
        return
    assert word in plain, "the test sees nothing" # without TLS it is there for everybody
    hidden = seen(GODWIT_NET_TLS="1")
    assert word not in hidden and b"\x16\x03\x01" in hidden and b"godwit" in hidden, len(hidden) # a TLS greeting, and no text


def refused():
    rc, said = job(["mpi_hello"], "-n", "2", GODWIT_NET_TLS="1", GODWIT_WIRES="shm,ofi")
    assert rc != 0 and "GODWIT_NET_TLS protects connections of Godwit's own TCP sockets, and this job goes by libfabric" in said, said
    rc, said = job(["mpi_hello"], "-n", "2", GODWIT_NET_TLS="1", FI_PROVIDER="tcp")
    assert rc != 0 and "this job goes by libfabric (FI_PROVIDER)" in said, said
    rc, said = job(["mpi_net_facts"], "-n", "1", "-env", "GODWIT_NET_TLS", "1", BUILD + "/mpi_net_facts", ":", "-n", "1", GODWIT_NET_TLS="0")
    assert rc != 0 and re.search(r"rank \d has.* GODWIT_NET_TLS, and this one \(rank \d\) has.*: set it alike for all", said), said
    for words in ([], ["--vnodes", "1"]): # no word but those of a switch: it never means in the clear
        for value in "munge", "":
            rc, said = job(["mpi_hello"], *words, "-n", "2", GODWIT_NET_TLS=value)
            assert rc != 0 and "GODWIT_NET_TLS=%s is not a switch (1 or 0); nothing starts, since it would without that protection" % value in said, said
    with tempfile.TemporaryDirectory() as folder:
        open(folder + "/libssl.so.3", "w", encoding="utf-8").close()
        rc, said = job(["mpi_hello"], "-n", "2", GODWIT_NET_TLS="1", LD_LIBRARY_PATH=folder)
        assert rc != 0 and "GODWIT_NET_TLS needs libssl.so.3, which cannot be opened" in said, said


if __name__ == "__main__":
    works()
    unreadable()
    refused()
