#!/usr/bin/env python3
"""GODWIT_NET_TLS between hosts: jobs that Hydra, Open MPI's mpirun and mpiexec start on several work, and who reads the network of one finds nothing.
A stranger on a third host gets in neither with nothing, nor with another key, nor with the bearer key that he has read from the network and
another key of TLS; the job goes on, with its data right.  Children on the same host are met, what would go over hosts is refused with a sentence."""
# run.py: timeout=300 tags=cluster
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
STRANGER = os.path.join(os.path.dirname(HERE), "system", "tcp_strangers.py")
BEARER = 16 # bytes before the greeting of TLS
ENV = dict({k: v for k, v in os.environ.items() if k == "GODWIT_LAUNCH_AGENT" or not k.startswith(("GODWIT_", "MPICH_", "FI_"))}, GODWIT_NET_TLS="1")


def run(*words, **env):
    p = subprocess.run(words, env=dict(ENV, **env), capture_output=True, text=True, timeout=100, stdin=subprocess.DEVNULL, check=False)
    return p.returncode, p.stdout + p.stderr


def tap(stop):
    """On a host: the payloads of TCP that it sees on eth0 until the file is there, as PORT HEX lines."""
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    s.bind(("eth0", 0))
    s.settimeout(0.1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
    print("taps", flush=True)
    while not os.path.exists(stop):
        try:
            frame = s.recv(1 << 17)
        except socket.timeout:
            continue
        if frame[12:14] != b"\x08\x00" or frame[23] != 6:
            continue
        ip = 14 + (frame[14] & 15) * 4
        end = 14 + struct.unpack(">H", frame[16:18])[0]
        data = frame[ip + (frame[ip + 12] >> 4) * 4:end]
        if data:
            print(struct.unpack(">H", frame[ip + 2:ip + 4])[0], data.hex(), flush=True)


class Tap:
    def __init__(self, folder):
        self.stop = tempfile.mktemp(dir=folder)
        self.p = subprocess.Popen(["on", "n2", sys.executable, os.path.abspath(__file__), "tap", self.stop], stdout=subprocess.PIPE, text=True)
        assert self.p.stdout.readline() == "taps\n"

    def seen(self):
        with open(self.stop, "w", encoding="ascii"):
            pass
        lines = [line.split() for line in self.p.communicate()[0].splitlines()]
        return [(int(port), bytes.fromhex(data)) for port, data in lines]


def engines(build):
    yield ["mpiexec.hydra", "-hosts", "n1:2,n2:2", "-n", "4"]
    yield ["mpirun.openmpi", "--host", "n1:2,n2:2", "-x", "GODWIT_NET_TLS", "-n", "4"]
    yield [build + "/mpiexec", "-host", "n1:2,n2:2", "-n", "4"]


def works(build, folder):
    for engine in engines(build):
        for program in ("mpi_net_facts", "mpi_coll_nodes", "mpi_rma_fence"):
            rc, said = run(*engine, build + "/" + program)
            assert rc == 0, (engine, program, said)
        rc, said = run(*engine, build + "/mpi_hello", GODWIT_EXPLAIN="wire")
        assert rc == 0 and (engine[0] == "mpirun.openmpi" or "all of it by TLS" in said), (engine, said)
    word = b"a text that nobody else may read"
    for tls in ("0", "1"):
        at = Tap(folder)
        rc, said = run("mpiexec.hydra", "-hosts", "n1:1,n2:1", "-n", "2", build + "/mpi_tls_text", GODWIT_NET_TLS=tls)
        seen = b"".join(data for _, data in at.seen())
        assert rc == 0, said
        assert (word in seen) == (tls == "0"), (tls, len(seen)) # without TLS the test can see it
    print("tls: jobs work, and nobody else reads them")


def bearer_of(seen, port):
    """What a rank said first to the one that listens there."""
    first = [data for to, data in seen if to == port]
    return first[0][:BEARER] if first else None


def greeting(build, host, port, bearer):
    """What openssl makes of TLS at that port, with a key of its own; it speaks through this script, which says the bearer key first."""
    words = ["openssl", "s_client", "-connect", "%s:%d" % (host, port), "-tls1_3", "-psk_identity", "godwit", "-psk", "5a" * 32, "-ciphersuites",
             "TLS_AES_128_GCM_SHA256"]
    if not bearer:
        return run("on", "n3", "timeout", "20", *words)[1]
    return run("on", "n3", sys.executable, os.path.abspath(__file__), "through", host, str(port), bearer.hex(), *words[4:])[1]


def through(host, port, bearer, words):
    """On a host: s_client by a socket of this process, which passes all on behind those bytes; prints how many came back."""
    here = socket.create_server(("127.0.0.1", 0))
    p = subprocess.Popen(["timeout", "20", "openssl", "s_client", "-connect", "127.0.0.1:%d" % here.getsockname()[1], *words], stdin=subprocess.DEVNULL)
    near = here.accept()[0]
    far = socket.create_connection((host, port))
    far.sendall(bytes.fromhex(bearer))
    came = [0]

    def pump(a, b, count):
        try:
            while data := a.recv(1 << 16):
                if count:
                    came[0] += len(data)
                b.sendall(data)
        except OSError:
            pass
        for s in (a, b):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
    threads = [threading.Thread(target=pump, args=way) for way in ((near, far, False), (far, near, True))]
    for t in threads:
        t.start()
    p.wait()
    for t in threads:
        t.join()
    print("came back: %d bytes" % came[0])


def listeners(out, job):
    """(host, port) of each rank, once all have said which process they are."""
    for _ in range(900):
        with open(out, encoding="utf-8") as f:
            pids = re.findall(r"^process (\d+)$", f.read(), re.M)
        if len(pids) == 3 or job.poll() is not None:
            break
        time.sleep(0.1)
    assert len(pids) == 3, open(out, encoding="utf-8").read()
    found = set()
    for pid in set(pids):
        for n, host in enumerate(("n1", "n2"), 1):
            p = subprocess.run(["on", host, sys.executable, STRANGER, "where", pid], capture_output=True, text=True, check=False)
            if p.returncode == 0:
                found.add(("10.78.0.%d" % n, int(p.stdout.split()[1])))
    assert len(found) == 3, found
    return found


def strangers(build, folder):
    stop, out = folder + "/stop", folder + "/out"
    at = Tap(folder)
    with open(out, "w", encoding="utf-8") as f:
        job = subprocess.Popen(["mpiexec.hydra", "-hosts", "n1:2,n2:1", "-n", "3", build + "/mpi_net_dropped", stop], env=ENV, stdout=f, stderr=f,
                               stdin=subprocess.DEVNULL)
    ports = listeners(out, job)
    seen = at.seen()
    read = [(host, port, bearer_of(seen, port)) for host, port in ports]
    assert any(bearer for _, _, bearer in read), "no bearer key was on the network: the test sees nothing"
    for host, port, bearer in read:
        for way in ("garbage", "key", "half"):
            rc, said = run("on", "n3", sys.executable, STRANGER, way, host, str(port), "0.3")
            assert rc == 0 and int(said) > 0, (way, said)
        said = greeting(build, host, port, None) # no key at all
        assert "Cipher is (NONE)" in said and "read 0 bytes" in said, said
        if bearer: # it opens the gate to the greeting, and that ends: the key of TLS was on no network
            said = greeting(build, host, port, bearer)
            came = re.search(r"came back: (\d+) bytes", said)
            assert "Cipher is (NONE)" in said and came and int(came.group(1)) > 0, said
    assert job.poll() is None, "the job has ended: " + open(out, encoding="utf-8").read()
    with open(stop, "w", encoding="utf-8"):
        pass
    rc = job.wait(timeout=60)
    said = open(out, encoding="utf-8").read()
    assert rc == 0 and re.search(r"^dropped \d+$", said, re.M), said # data are checked until the end
    print("tls: no stranger gets in")


def spawned(build, folder):
    meet = build + "/cluster_meet"
    rc, said = run("on", "n1", build + "/mpiexec", "-n", "2", meet, "place", "2", "-", "-")
    assert rc == 0 and said.split() == ["n1", "n1"], said
    for hosts in ("n1", "n2"):
        rc, said = run("mpiexec.hydra", "-hosts", "n1:1,n2:1", "-n", "2", meet, "place", "1", "host", hosts)
        assert rc != 0 and "jobs on several hosts do not connect with GODWIT_NET_TLS: what they first tell each other is not protected by it" in said, said
    rc, said = run("mpiexec.hydra", "-hosts", "n1:1,n2:1", "-n", "1", "-env", "GODWIT_NET_TLS", "1", build + "/mpi_hello", ":", "-n", "1", "-env", "GODWIT_NET_TLS",
                   "0", build + "/mpi_hello")
    assert rc != 0 and re.search(r"has.* GODWIT_NET_TLS, and this one \(rank \d\) has.*: set it alike for all", said), said
    # a port says it at once, before anybody waits there; on one host jobs connect as ever
    rc, said = run("mpiexec.hydra", "-hosts", "n1:1,n2:1", "-n", "2", meet, "serve", folder + "/port", "1")
    assert rc != 0 and "MPI_Open_port" in said and "jobs on several hosts do not connect with GODWIT_NET_TLS" in said, said
    for reach, is_open in ("hosts", False), ("auto", True):
        server = subprocess.Popen(["on", "n1", "mpiexec.hydra", "-n", "1", meet, "serve", folder + "/port." + reach, "1"],
                                  env=dict(ENV, GODWIT_PORT_REACH=reach), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if is_open:
            rc, said = run("on", "n1", "mpiexec.hydra", "-n", "1", meet, "use", folder + "/port." + reach)
            assert rc == 0, said
        said = server.communicate(timeout=100)[0]
        assert (server.returncode == 0) == is_open and ("jobs on several hosts do not connect" in said) != is_open, said
    print("tls: children on the same host, and a sentence where they would be elsewhere")


def main():
    if sys.argv[1] == "tap":
        return tap(sys.argv[2])
    if sys.argv[1] == "through":
        return through(sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5:])
    build = os.path.abspath(sys.argv[1])
    for tool in ("mpiexec.hydra", "mpirun.openmpi", "openssl"):
        if not shutil.which(tool):
            print("tls: skipped: no %s here" % tool)
            return 77
    if "CLUSTER" not in os.environ:
        os.execv(HERE + "/cluster", [HERE + "/cluster", "--hosts", "3", os.path.abspath(__file__), build])
    with tempfile.TemporaryDirectory(dir=build) as folder: # all hosts see it
        works(build, folder)
        strangers(build, folder)
        spawned(build, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
