#!/usr/bin/env python3
"""Ranks under Flux, as far as that can be had: Debian has no flux-core, so a script stands for its command `flux run`, with the options that
mpiexec gives it, the environment of its tasks, and its socket of PMI-1 (PMI_FD).  mpiexec inside an instance (FLUX_URI) calls flux,
tasks are ranks of one job, their messages arrive; two programs in one job go by FLUX_TASK_RANK; a rank under a launcher that offers
no way to the others (PALS) is refused."""
# run.py: timeout=60 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import subprocess
import sys
import tempfile

FLUX = r'''#!/usr/bin/env python3
import os, re, socket, subprocess, sys, threading
if sys.argv[1:] == ["version"]:
    sys.exit(print("commands:    \t\t0.55.0\nlibflux-core:\t\t0.55.0"))
assert sys.argv[1] == "run", sys.argv
words, ntasks = sys.argv[2:], 1
while words and words[0].startswith("-"):
    word = words.pop(0)
    if word == "-o":
        words.pop(0)
    elif word.startswith("--ntasks="):
        ntasks = int(word.split("=")[1])
    elif not word.startswith(("--input=", "--env=", "--cwd=", "--nodes=", "--label-io")):
        sys.exit("flux: unrecognized option %s" % word)
with open(os.environ["FLUX_LOG"], "a") as f:
    print(ntasks, " ".join(words), file=f)
keys, lock, barrier = {}, threading.Lock(), threading.Barrier(ntasks)

def serve(rank, sock):
    lines = sock.makefile("rw")
    for line in lines:
        m = dict(re.findall(r"(\w+)=(\S*)", line))
        cmd, reply = m["cmd"], None
        if cmd == "init":
            reply = "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0"
        elif cmd == "get_maxes":
            reply = "cmd=maxes rc=0 kvsname_max=64 keylen_max=64 vallen_max=1024"
        elif cmd == "get_appnum":
            reply = "cmd=appnum rc=0 appnum=0"
        elif cmd == "get_universe_size":
            reply = "cmd=universe_size rc=0 size=%d" % ntasks
        elif cmd == "get_my_kvsname":
            reply = "cmd=my_kvsname rc=0 kvsname=f1"
        elif cmd == "put":
            with lock:
                keys[m["key"]] = line.split("value=", 1)[1].rstrip("\n")
            reply = "cmd=put_result rc=0"
        elif cmd == "get":
            value = keys.get(m["key"])
            reply = "cmd=get_result rc=0 value=%s" % value if value is not None else "cmd=get_result rc=-1"
        elif cmd == "barrier_in":
            barrier.wait()
            reply = "cmd=barrier_out rc=0"
        elif cmd == "finalize":
            reply = "cmd=finalize_ack rc=0"
        lines.write(reply + "\n")
        lines.flush()

keys["PMI_process_mapping"] = "(vector,(0,1,%d))" % ntasks
tasks = []
for rank in range(ntasks):
    ours, theirs = socket.socketpair()
    env = dict(os.environ, PMI_FD=str(theirs.fileno()), PMI_RANK=str(rank), PMI_SIZE=str(ntasks), FLUX_TASK_RANK=str(rank), FLUX_TASK_LOCAL_ID=str(rank),
               FLUX_JOB_SIZE=str(ntasks), FLUX_JOB_ID="f1", FLUX_JOB_NNODES="1", FLUX_KVS_NAMESPACE="job-1")
    tasks.append(subprocess.Popen(words, env=env, pass_fds=[theirs.fileno()]))
    theirs.close()
    threading.Thread(target=serve, args=(rank, ours), daemon=True).start()
sys.exit(max(t.wait() for t in tasks))
'''

BUILD = os.path.abspath(sys.argv[1])
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(("GODWIT_", "MPICH_", "OMPI_", "PMI", "SLURM", "FLUX"))}


def main():
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/flux", "w", encoding="utf-8") as f:
            f.write(FLUX)
        os.chmod(folder + "/flux", 0o755)
        log = folder + "/log"
        env = dict(CLEAN, PATH=folder + ":" + CLEAN["PATH"], FLUX_URI="local:///tmp/flux-x/local", FLUX_LOG=log)

        def run(*words):
            p = subprocess.run([BUILD + "/mpiexec"] + list(words), env=env, capture_output=True, text=True, timeout=50, check=False)
            return p.returncode, p.stdout, p.stderr

        for n in (1, 2, 5):
            rc, out, err = run("-n", str(n), BUILD + "/mpi_world_size")
            assert rc == 0 and out.split() == [str(n)] * n, (n, rc, out, err)
        rc, out, err = run("-n", "4", "--vnodes", "2", BUILD + "/mpi_p2p_modes")
        assert rc == 0, (rc, out, err)
        rc, out, err = run("-n", "1", BUILD + "/mpi_world_size", ":", "-n", "2", "env", BUILD + "/mpi_world_size")
        assert rc == 0 and out.split() == ["3"] * 3, (rc, out, err)
        with open(log, encoding="utf-8") as f:
            handed = f.read().splitlines()
        assert [line.split()[0] for line in handed] == ["1", "2", "5", "4", "3"] and "FLUX_TASK_RANK" in handed[-1], handed
        # Without the command it says what is missing.
        os.unlink(folder + "/flux")
        rc, out, err = run("-n", "2", BUILD + "/mpi_world_size")
        assert rc != 0 and "this is an instance of Flux, but `flux` is not in PATH here; install flux-core" in err, (rc, err)

    # A launcher that offers neither PMIx nor PMI, as PALS may: a rank is not taken for a job of its own.
    for name in ("PALS_SIZE", "PALS_LOCAL_SIZE", "FLUX_JOB_SIZE", "SLURM_STEP_NUM_TASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS", "PALS_RANKID"):
        p = subprocess.run([BUILD + "/mpi_hello"], env=dict(CLEAN, **{name: "4"}), capture_output=True, text=True, timeout=50, check=False)
        assert p.returncode == 1 and "one of several (%s=4), but there is no way to the others" % name in p.stderr, (name, p)


main()
