#!/usr/bin/env python3
"""Each documented variable of networks, matching and providers by its own name alone, with nothing else set, on two faked nodes, and on one:
the job does its work (the program looks at its data) as the variable says, or says once, in a sentence that names it, why not."""
# run.py: args=few timeout=120
# run.py: args=all timeout=240 tags=extra
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import glob
import os
import re
import subprocess
import sys

BUILD = os.path.abspath(sys.argv[1])
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
IS_WHOLE = sys.argv[2:] == ["all"]
FAMILIES = ("GODWIT_", "MPICH_", "MPIR_", "OMPI_", "FI_", "mtl_", "MPI_GNI_", "CXI_", "SHMEM_", "SMA_", "XT_")
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(FAMILIES)}
OTHERS = {"net_matched": 0, "sent_messages_r0": 0, "rma_network_atomics": 0}


def run(env, ranks=2, nodes=2):
    """(status, facts, what was said) of a job; a crash or a wait without end is none that any value may have."""
    p = subprocess.run([BUILD + "/mpiexec", "--vnodes", str(nodes), "-n", str(ranks), BUILD + "/mpi_net_facts"], env=dict(CLEAN, **env), capture_output=True,
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
                        ("MPICH_OFI_NIC_POLICY", "block"), ("MPICH_OFI_STARTUP_CONNECT", "1"),
                        ("mtl_ofi_num_ctxts", "2"), ("mtl_ofi_thread_grouping", "1"), ("mtl_ofi_enable_sep", "1"), ("mtl_ofi_av", "table"),
                        ("MPICH_GNI_LMT_PATH", "disabled"), ("MPICH_GNI_MAX_EAGER_MSG_SIZE", "4096")):
        works(name, value, 0, **OTHERS)
    works("MPICH_GNI_LMT_PATH", "enabled", 1, sent_messages_r0=1, rma_wired=1)
    works("MPICH_RMA_USE_NETWORK_AMO", "1", 1, "provider net is passed over, which offers atomic operations .* tcp;ofi_rxm is taken", rma_network_atomics=1)
    works("MPICH_OFI_DEFAULT_TCLASS", "TC_BEST_EFFORT", 1)
    works("MPICH_OFI_DEFAULT_TCLASS", "TC_LOW_LATENCY", 1, "TC_LOW_LATENCY")
    works("MPICH_OFI_DEFAULT_TCLASS", "fast", 1, "fast is no traffic class; there are TC_BEST_EFFORT")
    works("MPICH_OFI_NUM_NICS", "1", 1)
    works("MPICH_OFI_NIC_VERBOSE", "1", 1, "NIC 1 of 1")
    works("MPICH_OFI_VERBOSE", "1", 0, "wire: between nodes: tcp")
    works("FI_MR_CACHE_MONITOR", "disabled", 0, no % ("FI_MR_CACHE_MONITOR", "disabled"))
    for level, told in ((0, ""), (1, ""), (5, ".")):
        works("MPICH_OFI_CXI_COUNTER_REPORT", str(level), min(level, 1), told)


# ---- every name of the tables ----
FAMILY = re.compile("FI_|CXI_|MPICH_OFI_|MPICH_GNI_|MPI_GNI_|mtl_ofi_|SHMEM_|SMA_|XT_SYMMETRIC_")


def table():
    """name -> a value that asks for something: of each variable of the tables whose name begins as the documents' do"""
    found = {}
    for path in sorted(glob.glob(ROOT + "/src/*/cvars.def")):
        with open(path, encoding="utf-8") as f:
            for row in (re.split(r" *\| *", line) for line in f if "|" in line and not line.startswith("#")):
                kind, default = row[1], row[2]
                value = "0" if default == "true" else "1" if kind == "bool" else "64K" if kind == "size" else "7"
                if kind.startswith("enum"):
                    value = [w for w in kind[5:-1].split(",") if w != default][0]
                found.update({name: value for name in row[4].split()})
    with open(ROOT + "/src/base/foreign.def", encoding="utf-8") as f:
        for name in re.findall(r"^(?:X|MCA|OTHERS|NOTED)\((\w+)", f.read(), re.M):
            found.setdefault(name, "7")
    return {name: value for name, value in found.items() if FAMILY.match(name)}


def has(**facts):
    return lambda got, said: all((got[fact] > 0) == bool(want) for fact, want in facts.items())


def says(text):
    return lambda got, said: re.search(text, said)


# What acts on one node, or on two: a value, and what shows that.  OpenSHMEM's are of its programs (SYMMETRIC).  All others are to be told.
BY_LIBFABRIC = has(libfabric=1)
ONE = {
    "MPICH_OFI_EAGER_MAX": ("7", has(sent_messages_e1=0)),
    "MPICH_OFI_VERBOSE": ("1", says("wire: lane 0: shared memory")),
}
TWO = {
    "FI_CXI_RX_MATCH_MODE": ("hardware", has(net_matched=1)),
    "FI_PROVIDER": ("tcp;ofi_rxm", BY_LIBFABRIC),
    "MPICH_OFI_USE_PROVIDER": ("tcp;ofi_rxm", BY_LIBFABRIC),
    "mtl_ofi_provider_include": ("tcp;ofi_rxm", BY_LIBFABRIC),
    "mtl_ofi_provider_exclude": ("net", BY_LIBFABRIC),
    "MPICH_OFI_NUM_NICS": ("1", BY_LIBFABRIC),
    "MPICH_OFI_DEFAULT_TCLASS": ("TC_LOW_LATENCY", says("does not offer the traffic class TC_LOW_LATENCY")),
    "MPICH_OFI_CXI_COUNTER_REPORT": ("5", BY_LIBFABRIC),
    "MPICH_OFI_NIC_VERBOSE": ("1", says("NIC 1 of 1")),
    "MPICH_OFI_VERBOSE": ("1", says("wire: between nodes: tcp")),
    "MPICH_GNI_DYNAMIC_CONN": ("disabled", has(connections=0)),
    "MPICH_OFI_STARTUP_CONNECT": ("1", has(connections=0)),
    "MPICH_OFI_RMA_STARTUP_CONNECT": ("1", has(connections=0)),
    "MPICH_GNI_LMT_PATH": ("disabled", has(sent_messages_r1=0)),
    "MPICH_GNI_MAX_EAGER_MSG_SIZE": ("8K", has(sent_messages_e1=0)),
    "MPICH_GNI_MAX_VSHORT_MSG_SIZE": ("7", lambda got, said: got["sent_messages_e1"] > got["sent_messages_e0"]),
}
SYMMETRIC = {"DEBUG": r"godwit\[0\] wire: ", "INFO": "^Variables of OpenSHMEM", "VERSION": "^OpenSHMEM 1", "SYMMETRIC_SIZE": r"^  SHMEM_SYMMETRIC_SIZE=8M \(from %s\)",
             "SYMMETRIC_HEAP_SIZE": r"^  SHMEM_SYMMETRIC_SIZE=8M \(from %s\)"}


def symmetric(name, value, nodes):
    """One of OpenSHMEM, in its program."""
    what = re.sub("^(SHMEM|SMA|XT)_", "", name)
    sees = {"SHMEM_INFO": "1"} if "SIZE" in SYMMETRIC.get(what, "") else {}
    p = subprocess.run([BUILD + "/mpiexec", "--vnodes", str(nodes), "-n", "2", BUILD + "/shmem_setup"], env=dict(CLEAN, **{name: "8M" if sees else value}, **sees),
                       capture_output=True, text=True, timeout=60, check=False)
    said = p.stdout + p.stderr
    assert p.returncode == 0, (name, said)
    told = [line for line in said.split("\n") if line.find(name + "=") >= 0 and "of no effect: " in line]
    acts = what in SYMMETRIC and re.search(SYMMETRIC[what].replace("%s", name), said, re.M)
    assert bool(acts) != (len(told) == 1), (name, value, nodes, said)


def each(name, value):
    """On one node, and on two: it acts, or one line says that it does not."""
    given = (ONE.get(name) or TWO.get(name) or [value])[0]
    for nodes, acts in ((1, ONE), (2, TWO)):
        if re.match("SHMEM_|SMA_|XT_", name):
            symmetric(name, value, nodes)
            continue
        shows = acts.get(name, (given, None))[1]
        _, got, said = run({name: given}, nodes=nodes)
        told = [line for line in said.split("\n") if re.search(r"\b%s=(%s|true) is of no effect: \w" % (name, re.escape(given)), line)]
        assert shows(got, said) and not told if shows else len(told) == 1, (name, given, nodes, got, said)


def lanes():
    """Each lane of a job is told to who asks for it."""
    for nodes in ("1", "2"):
        p = subprocess.run([BUILD + "/mpiexec", "--vnodes", nodes, "-n", "2", BUILD + "/mpi_net_facts"], env=dict(CLEAN, mtl_ofi_num_ctxts="7", GODWIT_EXPLAIN="wire"),
                           capture_output=True, text=True, timeout=60, check=False)
        assert len(set(re.findall(r"^godwit\[0\] wire: lane (\d+): shared memory", p.stderr, re.M))) == 7, p.stderr


def several():
    """What has one reason is one line; that of a provider comes when it is taken."""
    said = run({"FI_CXI_ATS": "1", "FI_LOG_LEVEL": "warn", "MPICH_OFI_NIC_POLICY": "numa", "FI_HOOK": "x", "CXI_FORK_SAFE": "1", "FI_UDP_IFACE": "lo"}, nodes=1)[2]
    assert re.fullmatch(r"godwit\[0\]: warning: \w+=\w+(, \w+=\w+){3} and 2 more are of no effect: all ranks are on one node, .*\n", said), said
    # The longest names; a value is cut.
    said = run({name: 300 * "v" for name in ("FI_CXI_HYBRID_RECV_PREEMPTIVE", "FI_MR_CUDA_CACHE_MONITOR_ENABLED", "FI_CXI_DISABLE_NON_INJECT_MSG_IDC", "FI_CXI_ENABLE_UNRESTRICTED_END_RO", "FI_CXI_HYBRID_POSTED_RECV_PREEMPTIVE", "FI_CXI_HYBRID_UNEXPECTED_MSG_PREEMPTIVE")}, nodes=1)[2]
    assert re.fullmatch(r"godwit\[0\]: warning: \w+=v{100}(, \w+=v{100}){3} and 2 more are of no effect: all ranks are on one node, .*\n", said), said
    said = run({"FI_PROVIDER": "tcp;ofi_rxm", "FI_CXI_ATS": "1", "FI_OFI_RXM_USE_SRX": "1", "FI_TCP_NODELAY": "1", "FI_CXI_ODP": "1"})[2]
    assert re.fullmatch(r"godwit\[0\]: warning: FI_CXI_\w+=1, FI_CXI_\w+=1 are of no effect: libfabric's provider cxi reads .*, and messages go by tcp;ofi_rxm\n", said), said
    # Those that stand in no table: of any provider, and one that is asked about is not told of twice.
    said = run({"FI_SOCKETS_DEF_CQ_SZ": "1", "FI_OFI_RXD_SPIN_COUNT": "1", "FI_SHM_TX_SIZE": "1", "FI_OPX_HFI_SELECT": "0"})[2]
    assert re.fullmatch(r"godwit\[0\]: warning: FI_\w+=\d(, FI_\w+=\d){3} are of no effect: between nodes messages go by TCP sockets .*\n", said), said
    said = run({"FI_PROVIDER": "tcp;ofi_rxm", "FI_OFI_RXD_SPIN_COUNT": "1", "FI_OFI_RXM_TX_SIZE": "1024"})[2]
    assert re.fullmatch(r"godwit\[0\]: warning: FI_OFI_RXD_SPIN_COUNT=1 is of no effect: libfabric's provider ofi_rxd reads it, .*\n", said), said
    said = run({"FI_CXI_RX_MATCHMODE": "hardware"})[2]
    assert re.fullmatch(r"godwit\[0\]: warning: FI_CXI_RX_MATCHMODE is not .* mean FI_CXI_RX_MATCH_MODE\?\n", said), said
    p = subprocess.run([BUILD + "/mpi_net_facts"], env=dict(CLEAN, FI_PROVIDER="tcp"), capture_output=True, text=True, timeout=60, check=False)
    assert p.returncode == 0 and not p.stderr, p.stderr # a program alone sends nothing


if __name__ == "__main__":
    match_modes()
    several()
    lanes()
    names = table()
    assert not set(ONE) - set(names) and not set(TWO) - set(names) and len(names) > 150, sorted(names)
    names.pop("mtl_ofi_num_ctxts") # lanes()
    names["FI_TCP_IFACE"] = "nonesuch" # system/interfaces.sh names some that are there
    if IS_WHOLE:
        providers()
        networks()
        for name in sorted(names):
            each(name, names[name])
    else:
        few()
        for name in ("MPICH_OFI_NIC_MAPPING", "FI_MR_CACHE_MONITOR", "FI_CXI_RX_MATCH_MODE", "MPICH_GNI_DYNAMIC_CONN", "MPICH_OFI_EAGER_MAX", "SHMEM_SYMMETRIC_SIZE"):
            each(name, names[name])
