"""Slurm on the hosts of a cluster: one munged, a slurmctld on the front end, a slurmd on each host; all of it ours, nothing of
the system's Slurm is touched.  `cluster --slurm` calls start()."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import shutil
import subprocess
import sys
import time

CONF = """ClusterName=godwit
SlurmctldHost=front(10.78.0.100)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={dir}/munge.socket
StateSaveLocation={dir}/state
SlurmctldPidFile={dir}/slurmctld.pid
SlurmctldLogFile={dir}/slurmctld.log
SlurmdPidFile=/run/slurmd.pid
SlurmdSpoolDir=/run/slurmd
SlurmdLogFile=/run/slurmd.log
TmpFS=/run/tmp
SlurmctldTimeout=10
SlurmdTimeout=10
KillWait=1
MessageTimeout=10
SchedulerParameters=batch_sched_delay=0,sched_interval=1
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=pmix
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
SlurmdParameters=config_overrides
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES:64
"""


def make(state, names):
    where = state + "/slurm"
    os.mkdir(where, 0o755)
    os.mkdir(where + "/state", 0o755)
    nodes = "\n".join("NodeName=%s NodeAddr=10.78.0.%s CPUs=16 State=UNKNOWN" % (n, n[1:]) for n in names)
    with open(where + "/slurm.conf", "w", encoding="ascii") as f:
        f.write(CONF.format(dir=where, nodes=nodes))
    with open(where + "/munge.key", "wb") as f:
        os.fchmod(f.fileno(), 0o600)
        f.write(os.urandom(128))
    return where


def daemon(words, log):
    """In the foreground, as a child of ours: it ends with us."""
    with open(log, "ab") as f:
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=f, stderr=f)


def wait_until(what, log, ready, seconds=120):
    end = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > end:
            with open(log, encoding="utf-8", errors="replace") as f:
                sys.stderr.write("cluster: %s does not come up; its last words:\n%s" % (what, "".join(f.readlines()[-12:])))
            raise RuntimeError(what + " did not come up")
        time.sleep(0.05)


def idle(n):
    p = subprocess.run(["sinfo", "-h", "-N", "-o", "%T"], capture_output=True, text=True, check=False)
    return p.returncode == 0 and p.stdout.split().count("idle") >= n


def start(names, state):
    missing = [t for t in ("munged", "slurmctld", "slurmd", "srun") if not shutil.which(t)]
    if missing or not os.path.exists("/sys/fs/cgroup"):
        print("cluster: skipped: no %s here (Debian: slurm-wlm munge)" % ", ".join(missing))
        sys.stdout.flush()
        os._exit(77)
    where = make(state, names)
    os.environ["SLURM_CONF"] = where + "/slurm.conf"
    log = where + "/log"
    daemon(["munged", "--foreground", "--force", "--key-file", where + "/munge.key", "--socket", where + "/munge.socket", "--pid-file",
            where + "/munged.pid", "--log-file", where + "/munged.log", "--seed-file", where + "/munged.seed"], log)
    wait_until("munged", log, lambda: os.path.exists(where + "/munge.socket"))
    daemon(["slurmctld", "-D", "-i"], log)
    for n in names:
        daemon(["on", n, "slurmd", "-D", "-N", n], log)
    wait_until("Slurm", log, lambda: idle(len(names)))
