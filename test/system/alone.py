#!/usr/bin/env python3
"""Each documented variable of networks, matching and providers by its own name alone, with nothing else set, on two faked nodes: the job does
its work (the program looks at its data) as the variable says, or says in a sentence that names it why not."""
# run.py: args=few timeout=120
# run.py: args=all timeout=240 tags=extra
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import re
import subprocess
import sys

BUILD = os.path.abspath(sys.argv[1])
IS_WHOLE = sys.argv[2:] == ["all"]
FAMILIES = ("GODWIT_", "MPICH_", "MPIR_", "OMPI_", "FI_", "mtl_", "MPI_GNI_")
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(FAMILIES)}
OTHERS = {"net_matched": 0, "sent_messages_r0": 0, "rma_network_atomics": 0}


def run(env, ranks=2):
    """(status, facts, what was said) of a job; a crash or a wait without end is none that any value may have."""
    p = subprocess.run([BUILD + "/mpiexec", "--vnodes", "2", "-n", str(ranks), BUILD + "/mpi_net_facts"], env=dict(CLEAN, **env), capture_output=True,
                       text=True, timeout=60, check=False)
    said = p.stdout + p.stderr
    assert "signal" not in said and "crashes" not in said and "no rank of this job sent" not in said, (env, said)
    m = re.search(r"^facts: (.*)$", p.stdout, re.M)
    facts = dict(zip(m.group(1).split()[::2], map(int, m.group(1).split()[1::2]))) if m else {}
    assert (p.returncode == 0) == bool(facts), (env, said)
    return p.returncode, facts, re.sub(r"^facts: .*\n", "", said, flags=re.M)


def works(name, value, libfabric, told="", **facts):
    """The job runs, over libfabric or not, and says what is told, or nothing."""
    rc, got, said = run({name: value})
    assert rc == 0, (name, value, said)
    assert libfabric is None or got["libfabric"] == libfabric, (name, value, got, said)
    for fact, want in facts.items():
        assert (got[fact] > 0) == bool(want), (name, value, fact, got, said)
    if not told:
        assert said == "", (name, value, said)
    assert re.search(told, said), (name, value, said)


def ends(name, value, told):
    """The job ends with a sentence."""
    rc, _, said = run({name: value})
    assert rc != 0 and re.search(told, said), (name, value, rc, said)


def match_modes():
    passed = "provider net is passed over, which stops a connection at a message that nobody waits for: not for %s=%s; tcp;ofi_rxm is taken"
    for name in ("FI_CXI_RX_MATCH_MODE", "GODWIT_MATCH_MODE")[:2 if IS_WHOLE else 1]:
        for value in ("hardware", "hybrid"):
            works(name, value, 1, passed % (name, value), net_matched=1)
        works(name, "software", 0, net_matched=0)


def few():
    """One of each kind, for every change."""
    for value in ("udp;ofi_rxd", "sockets"):
        works("FI_PROVIDER", value, 1, **OTHERS)
    ends("FI_PROVIDER", "shm", "shm: reaches only this node")
    works("mtl_ofi_provider_exclude", "net", 1)
    works("mtl_ofi_tag_mode", "ofi_tag_1", 0, "mtl_ofi_tag_mode=ofi_tag_1 is of no effect: Godwit matches messages itself", **OTHERS)
    works("MPICH_GNI_NUM_BUFS", "4", 0, "MPICH_GNI_NUM_BUFS=4 is of no effect: between nodes messages go by TCP sockets", **OTHERS)
    works("MPICH_GNI_NDREG_MAXSIZE", "64K", 0, "MPICH_GNI_NDREG_MAXSIZE=64K is of no effect: no card reads memory here", **OTHERS)
    works("MPICH_RMA_USE_NETWORK_AMO", "1", 1, "provider net is passed over, which offers atomic operations", rma_network_atomics=1)


def providers():
    for name in ("FI_PROVIDER", "MPICH_OFI_USE_PROVIDER", "mtl_ofi_provider_include"):
        for value in ("tcp", "tcp;ofi_rxm", "net"):
            works(name, value, 1, **OTHERS)
        for value in ("shm", "nonesuch"):
            ends(name, value, "provider.*(" + name + "|reaches only this node)")
    for value in ("udp", "udp;ofi_rxd", "sockets", "net;ofi_rxm"):
        works("FI_PROVIDER", value, 1, **OTHERS)
    ends("FI_PROVIDER", "sm2", "FI_PROVIDER") # libfabric 1.17 has none
    ends("GODWIT_OFI_PROVIDER", "shm", "shm: reaches only this node")
    for name in ("MPIR_CVAR_OFI_USE_PROVIDER", "OMPI_MCA_mtl_ofi_provider_include"):
        works(name, "tcp", 1)
    for name in ("mtl_ofi_provider_exclude", "OMPI_MCA_mtl_ofi_provider_exclude"):
        works(name, "net", 1)
        works(name, "net,shm,usnic", 1)


def networks():
    """What asks for a network that does more gets one that does, and what only libfabric obeys and TCP's own sockets do not is told."""
    no = "%s=%s is of no effect: between nodes messages go by TCP sockets of Godwit's own; "
    for name, value in (("MPICH_GNI_NUM_BUFS", "4"), ("mtl_ofi_progress_event_cnt", "7"), ("MPICH_OFI_NIC_POLICY", "numa"), ("FI_MR_CACHE_MAX_COUNT", "7"),
                        ("FI_MR_CACHE_MAX_SIZE", "7M"), ("MPICH_GNI_NDREG_LAZYMEM", "enabled")):
        works(name, value, 0, no % (name, value), **OTHERS)
    works("mtl_ofi_tag_mode", "ofi_tag_1", 0, "mtl_ofi_tag_mode=ofi_tag_1 is of no effect: Godwit matches messages itself", **OTHERS)
    for name in ("MPICH_GNI_NDREG_MAXSIZE", "MPI_GNI_MAX_NDREG_SIZE"):
        works(name, "64K", 0, name + "=64K is of no effect: no card reads memory here", **OTHERS)
    for name, value in (("MPICH_GNI_NUM_BUFS", "64"), ("mtl_ofi_progress_event_cnt", "100"), ("mtl_ofi_tag_mode", "auto"), ("MPICH_GNI_NDREG_MAXSIZE", "4M"),
                        ("MPICH_OFI_NIC_POLICY", "block"), ("MPICH_OFI_SKIP_NIC_SYMMETRY_TEST", "1"), ("MPICH_OFI_STARTUP_CONNECT", "1"),
                        ("mtl_ofi_num_ctxts", "2"), ("mtl_ofi_thread_grouping", "1"), ("mtl_ofi_enable_sep", "1"), ("mtl_ofi_av", "table"),
                        ("MPICH_OFI_TCLASS_ERRORS", "error"), ("MPICH_GNI_LMT_PATH", "disabled"), ("MPICH_GNI_MAX_EAGER_MSG_SIZE", "4096")):
        works(name, value, 0, **OTHERS)
    works("MPICH_GNI_LMT_PATH", "enabled", 1, sent_messages_r0=1, rma_wired=1)
    works("MPICH_RMA_USE_NETWORK_AMO", "1", 1, "provider net is passed over, which offers atomic operations .* tcp;ofi_rxm is taken", rma_network_atomics=1)
    works("MPICH_OFI_DEFAULT_TCLASS", "TC_BEST_EFFORT", 1)
    works("MPICH_OFI_DEFAULT_TCLASS", "TC_LOW_LATENCY", 1, "TC_LOW_LATENCY")
    works("MPICH_OFI_DEFAULT_TCLASS", "fast", 1, "fast is no traffic class; there are TC_BEST_EFFORT")
    works("MPICH_OFI_NUM_NICS", "1", 1)
    works("MPICH_OFI_NIC_VERBOSE", "1", 1, "NIC 1 of 1")
    works("MPICH_OFI_VERBOSE", "1", 0, "wire: between nodes: tcp")
    works("FI_MR_CACHE_MONITOR", "disabled", 1)
    for level, told in ((0, ""), (1, ""), (5, ".")):
        works("MPICH_OFI_CXI_COUNTER_REPORT", str(level), min(level, 1), told)


if __name__ == "__main__":
    match_modes()
    if IS_WHOLE:
        providers()
        networks()
    else:
        few()
