#!/usr/bin/env python3
"""What ranks publish at the start, as the launcher counts it: where it says who shares a node, at least 90 % less than where each rank has to say so,
on one node; of nodes with a rank each, which publish their addresses as well, what saying so takes and no more.
A launcher of ours speaks PMI-1, with PMI_process_mapping and without; 24 ranks."""
# run.py: timeout=60
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import re
import socket
import subprocess
import sys
import threading

BUILD = os.path.abspath(sys.argv[1])
RANKS = 24
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(("GODWIT_", "MPICH_", "OMPI_", "PMI", "SLURM", "FLUX"))}
FIXED = {"init": "response_to_init pmi_version=1 pmi_subversion=1 rc=0", "get_maxes": "maxes rc=0 kvsname_max=64 keylen_max=64 vallen_max=1024",
         "get_appnum": "appnum rc=0 appnum=0", "get_universe_size": "universe_size rc=0 size=%d" % RANKS, "get_my_kvsname": "my_kvsname rc=0 kvsname=k",
         "finalize": "finalize_ack rc=0"}


class Job:
    def __init__(self, keys):
        self.keys, self.published = keys, [0] * RANKS
        self.lock, self.barrier = threading.Lock(), threading.Barrier(RANKS)

    def serve(self, rank, sock):
        lines = sock.makefile("rw")
        for line in lines:
            m = dict(re.findall(r"(\w+)=(\S*)", line))
            reply = FIXED.get(m["cmd"])
            if m["cmd"] == "put":
                value = line.split("value=", 1)[1].rstrip("\n")
                with self.lock:
                    self.keys[m["key"]] = value
                self.published[rank] += len(value)
                reply = "put_result rc=0"
            elif m["cmd"] == "get":
                value = self.keys.get(m["key"])
                reply = "get_result rc=0 value=%s" % value if value is not None else "get_result rc=-1"
            elif m["cmd"] == "barrier_in":
                self.barrier.wait()
                reply = "barrier_out rc=0"
            assert reply, line
            lines.write("cmd=%s\n" % reply)
            lines.flush()

    def run(self, nodes):
        """Bytes published by each rank."""
        tasks = []
        for rank in range(RANKS):
            ours, theirs = socket.socketpair()
            env = dict(CLEAN, PMI_FD=str(theirs.fileno()), PMI_RANK=str(rank), PMI_SIZE=str(RANKS), GODWIT_EXPLAIN="boot", GODWIT_VNODES=str(nodes))
            tasks.append(subprocess.Popen([BUILD + "/mpi_hello"], env=env, pass_fds=[theirs.fileno()], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
            theirs.close()
            threading.Thread(target=self.serve, args=(rank, ours), daemon=True).start()
        for rank, task in enumerate(tasks):
            said = task.communicate(timeout=50)[0]
            assert task.returncode == 0, said
            # The library's own counters say the same.
            told = re.search(r"told the launcher (\d+) values of (\d+) bytes", said)
            assert (int(told.group(2)) if told else 0) == self.published[rank], (rank, self.published[rank], said)
        return self.published


def both(nodes):
    """What each rank publishes where the launcher says who shares a node, and where not; by how many percent the one is less."""
    unsaid = Job({})
    with_map, without = Job({"PMI_process_mapping": "(vector,(0,1,%d))" % RANKS}).run(nodes), unsaid.run(nodes)
    mean_with, mean_without = sum(with_map) / RANKS, sum(without) / RANKS
    less = 100 * (1 - mean_with / mean_without)
    print("%d ranks, %s: published %.1f bytes a rank where the launcher says who shares one, %.1f where not: %.1f %% less" %
          (RANKS, "a node" if nodes == 1 else "%d nodes" % nodes, mean_with, mean_without, less))
    # What is saved is what names the node; ports and processes have more or fewer digits.
    host = len(unsaid.keys["0.gw.host"])
    assert abs(mean_without - mean_with - host) < 3, (mean_without, mean_with, host)
    return with_map, without, less


def main():
    with_map, without, less = both(1)
    # One of them says where the shared memory is, whatever the launcher knows.
    assert sum(n > 0 for n in with_map) == 1 and all(n > 0 for n in without), (with_map, without)
    assert less >= 90, less
    with_map, without, less = both(RANKS) # each has an address to say
    assert min(with_map) > 40 and 0 < less < 60, (with_map, without, less)


if __name__ == "__main__":
    main()
