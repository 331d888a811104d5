#!/usr/bin/env python3
"""Variables that users know from other MPI libraries: each is known, in the environment and as mpiexec --mca; each alias sets its setting;
the settings of collectives and files that no other test sets by their document's name have an effect that is seen."""
# run.py: timeout=180
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import re
import subprocess
import sys

BUILD = os.path.abspath(sys.argv[1])
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(("GODWIT_", "MPICH_", "OMPI_MCA_"))}


def info(*words, **env):
    p = subprocess.run([BUILD + "/godwit-info"] + list(words), env=dict(CLEAN, **env), capture_output=True, text=True, timeout=60, check=False)
    return p.returncode, p.stdout + p.stderr


def job(ranks, words, options="", **env):
    command = [BUILD + "/mpiexec", "-n", str(ranks)] + options.split() + [BUILD + "/" + words.split()[0]] + words.split()[1:]
    p = subprocess.run(command, env=dict(CLEAN, **env), capture_output=True, text=True, timeout=60, check=False)
    assert p.returncode == 0, "%s %s: %s" % (words, env, p.stderr)
    return p.stdout + p.stderr


def names():
    """All are known: a setting, or a reason why not.  --settings has them all."""
    with open(ROOT + "/test/data/words.txt", encoding="utf-8") as f:
        words = [w for w in f.read().split("\n") if w and not w.startswith("#")]
    assert len(words) >= 200, len(words)
    text = info("--settings")[1]
    listed = set(re.findall(r"^(\w+): (?:of no effect|.* reads? it|read, and)", text, re.M)) | set(" ".join(re.findall(r"also read from (.*)", text)).split())
    for word in words:
        assert word in listed, "godwit-info --settings does not know %s" % word
    for word in words[::20]:
        rc, said = info(word)
        assert rc == 0 and "there is no setting" not in said, said


def rows():
    """(setting, type, default, range, aliases) of all rooms."""
    for room in sorted(os.listdir(ROOT + "/src")):
        path = "%s/src/%s/cvars.def" % (ROOT, room)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                for line in f:
                    if "|" in line and not line.startswith("#"):
                        yield [c.strip() for c in line.split("|")][:5]


def number(text):
    return int(re.sub(r"[KMGT]", "", text)) << {"K": 10, "M": 20, "G": 30, "T": 40}.get(text[-1], 0)


def other_value(kind, default, limits):
    """One that is not the default, and how godwit-info prints it."""
    if kind == "bool":
        return "0" if default == "true" else "1"
    if kind.startswith("enum("):
        return next(w for w in kind[5:-1].split(",") if w.strip() != default).strip()
    if kind in ("string", "list"):
        return "some,words"
    low, high = [number(t) if t else None for t in re.match(r"(-?\w*)\.\.(\w*)", limits).groups()]
    for value in (5, 2, 1, 8192, 70000, 1 << 20):
        if (low is None or value >= low) and (high is None or value <= high) and str(value) != default:
            return str(value)
    raise AssertionError(limits)


def aliases():
    """Each, alone in the environment, is where the value comes from."""
    all_rows, n = [r for r in rows() if r[4]], 0
    for turn in range(max(len(r[4].split()) for r in all_rows)):
        env, want = {}, {}
        for name, kind, default, limits, others in all_rows:
            word = others.split()[turn:turn + 1]
            if word and word[0] not in want.values():
                env[word[0]] = other_value(kind, default, limits)
                want[name] = word[0]
        text = info("--settings", **env)[1]
        for name, word in want.items():
            m = re.search(r"^GODWIT_%s = (.*?)(?: +from (\w+))?$" % name.upper(), text, re.M)
            assert m and m.group(2) == word, "%s=%s: %s" % (word, env[word], m and m.group(0))
            n += 1
    assert n > 90, n


def mca():
    """Open MPI's parameters, with one dash and two, and bare in the environment."""
    for option in ("--mca", "-mca"):
        said = job(2, "mpi_hello", option + " mtl_ofi_thread_grouping 0 " + option + " mtl_ofi_av table " + option + " mtl_ofi_progress_event_cnt 7")
        assert "OMPI_MCA_mtl_ofi_thread_grouping=0 is of no effect: communicators are spread" in said and "mtl_ofi_av" not in said, said
        assert "OMPI_MCA_mtl_ofi_progress_event_cnt=7 is of no effect: all ranks are on one node" in said, said
    said = job(2, "mpi_hello", "--mca mtl_ofi_tagmode auto --mca btl self")
    assert "did you mean OMPI_MCA_mtl_ofi_tag_mode?" in said and "of no effect here: mtl_ofi_tagmode (parameters" in said, said
    assert "OMPI_MCA_btl=self is of no effect: which ways there are is found out; GODWIT_WIRES says" in said, said
    said = job(2, "mpi_hello", mtl_ofi_thread_grouping="1", mtl_ofi_enable_sep="1", OMPI_MCA_mtl_ofi_num_ctxts="2") # as it is
    assert "mtl_ofi" not in said, said
    said = job(2, "mpi_hello", mtl_ofi_enable_sep="0", mpi_add_procs_cutoff="3")
    assert "mtl_ofi_enable_sep=0 is of no effect: each lane has an endpoint of its own" in said, said
    assert "mpi_add_procs_cutoff=3 is of no effect: all ranks are on one node" in said, said
    for word, name in (("mtl_ofi_progress_event_cnt", "progress_event_cnt"), ("mpi_add_procs_cutoff", "add_procs_cutoff"), ("mtl_ofi_num_ctxts", "lanes")):
        for spelling in (word, "OMPI_MCA_" + word):
            assert "= 3   from " + spelling in info(name, **{spelling: "3"})[1], spelling
    for word, name in (("pmix_base_async_modex", "async_modex"), ("async_mpi_init", "async_init"), ("async_mpi_finalize", "async_finalize")):
        assert re.search(r"= (0|false|off) +from " + word, info(name, **{word: "0"})[1]), info(name, **{word: "0"})[1]


def verbose():
    """Which network was taken is told for the asking."""
    said = job(2, "mpi_hello", "--vnodes 2", MPICH_OFI_VERBOSE="1")
    assert re.search(r"^godwit\[0\] wire: between nodes: \w+ of ", said, re.M) and "lane 0: network" in said, said
    assert "wire:" not in job(2, "mpi_hello", "--vnodes 2", MPICH_OFI_VERBOSE="0")


def progress():
    """The progress thread by its document's name: told where the thread level is not set with it, and on all the same."""
    said = job(2, "mpi_thread_level multiple", MPICH_NEMESIS_ASYNC_PROGRESS="1")
    assert said.count("without MPICH_MAX_THREAD_SAFETY=multiple: other libraries want both") == 1, said
    for env in ({"MPICH_NEMESIS_ASYNC_PROGRESS": "1", "MPICH_MAX_THREAD_SAFETY": "multiple"}, {"MPICH_NEMESIS_ASYNC_PROGRESS": "0"},
                {"MPICH_ASYNC_PROGRESS": "1"}):
        assert "MAX_THREAD_SAFETY" not in job(2, "mpi_hello", **env), env


def xpmem():
    """A user who asks for XPMEM is told once what there is instead; one who asks for CMA gets it."""
    said = job(3, "mpi_hello", MPICH_SMP_SINGLE_COPY_MODE="XPMEM")
    why = "/dev/xpmem is there, but this library does not use it" if os.path.exists("/dev/xpmem") else "this machine has no /dev/xpmem"
    assert said.count("MPICH_SMP_SINGLE_COPY_MODE=XPMEM: " + why) == 1, said
    assert "/dev/xpmem" not in job(3, "mpi_hello", MPICH_SMP_SINGLE_COPY_MODE="CMA")


def buffers():
    """Fewer buffers for messages on their way out: senders wait, and nothing is lost (the program looks)."""
    def waited(number):
        said = job(2, "mpi_p2p_burst", GODWIT_WIRES="ofi", MPICH_STATS_DISPLAY="1", MPICH_GNI_NUM_BUFS=number)
        found = re.search(r"net_buffers_waited +sum (\d+)", said)
        return int(found.group(1)) if found else 0
    few = waited("2")
    assert few > 0 and waited("4096") < few, few


def pending():
    """Fewer one-sided accesses under way to other nodes: the next ones wait, and all arrive (the program looks)."""
    def waited(number):
        said = job(2, "mpi_rma_late", "--vnodes 2", MPICH_STATS_DISPLAY="1", MPICH_RMA_MAX_PENDING=number)
        found = re.search(r"rma_waited +sum (\d+)", said)
        return int(found.group(1)) if found else 0
    assert waited("1") > 0 and waited("1000000") == 0


def spawning():
    """The servers and pools of others for MPI_Comm_spawn: told that mpiexec needs none, unless the value asks for nothing."""
    for name in ("MPICH_DPM_DIR", "MPICH_LOCAL_SPAWN_SERVER", "MPICH_SPAWN_USE_RANKPOOL", "PMI_SPAWN_SRUN_ARGS"):
        assert name + "=1 is of no effect: mpiexec starts the processes of MPI_Comm_spawn itself" in job(1, "mpi_hello", **{name: "1"}), name
    assert "RANKPOOL" not in job(1, "mpi_hello", MPICH_SPAWN_USE_RANKPOOL="0")


def chunk():
    """The documents' two names of 512 K: where R0 ends, and the chunk; the latter is told."""
    rc, said = info("net_chunk", MPI_GNI_MAX_NDREG_SIZE="256K")
    assert "GODWIT_NET_CHUNK = 256K" in said and "is taken as the chunk of R1" in said, said
    assert "GODWIT_NET_GET_MAX = 4M\n" in info("net_get_max", MPI_GNI_MAX_NDREG_SIZE="256K")[1]
    assert "GODWIT_NET_GET_MAX = 256K" in info("net_get_max", MPICH_GNI_NDREG_MAXSIZE="256K")[1]


def sent(**env):
    """How many messages of rank 0 went which way, and what is said of the limits; two ranks on two nodes."""
    said = job(2, "mpi_p2p_modes", "--vnodes 2", GODWIT_EXPLAIN="proto", **env)
    counts = re.search(r"^godwit\[0\] proto: lane 0 sent (\d+) e0, (\d+) e1, (\d+) r0, (\d+) r1", said, re.M)
    return [int(n) for n in counts.groups()], re.search(r"to other nodes (.*)", said).group(1), said


def proto():
    """The documents' names of the limits move messages from one way to another."""
    small, limits, _ = sent(MPICH_GNI_MAX_VSHORT_MSG_SIZE="20")
    assert limits.startswith("inline to 20 bytes"), limits
    large, limits, _ = sent(MPICH_GNI_MAX_VSHORT_MSG_SIZE="90")
    assert limits.startswith("inline to 90 bytes") and large[0] > small[0] and sum(large) == sum(small), (small, large)
    # The header's 40 bytes count; beyond the range it is refused, with a word.
    base = {"MPICH_GNI_LMT_PATH": "enabled"}
    short, limits, _ = sent(MPICH_GNI_MAX_EAGER_MSG_SIZE="4096", **base)
    assert "eager to 4056, then read by the receiver" in limits, limits
    long, limits, _ = sent(MPICH_GNI_MAX_EAGER_MSG_SIZE="128K", **base)
    assert "eager to 131032," in limits and long[1] > short[1] and long[2] < short[2], (short, long)
    assert "MPICH_GNI_MAX_EAGER_MSG_SIZE=200000 is not a size" in sent(MPICH_GNI_MAX_EAGER_MSG_SIZE="200000")[2]
    # On a node: from which size on the receiver copies, where the kernel lets it; always, not where it was found quicker.
    def near(size):
        said = job(2, "mpi_p2p_modes", GODWIT_EXPLAIN="proto", MPICH_SMP_SINGLE_COPY_SIZE=size, GODWIT_CMA_SURE=size)
        return [int(n) for n in re.search(r"^godwit\[0\] proto: lane 0 sent \d+ e0, \d+ e1, (\d+) r0, (\d+) r1", said, re.M).groups()], said
    (read, pieces), said = near("16K")
    if "from 16384 bytes copied by the receiver" in said:
        (less_read, more_pieces), said = near("1G")
        assert less_read < read and more_pieces > pieces and read + pieces == less_read + more_pieces, (read, pieces, said)
        assert near("4K")[0][0] > read, said
    else:
        print("note: the kernel lets no rank read another's memory")
    # Without the path of long messages all are copied.
    none, limits, _ = sent(MPICH_GNI_LMT_PATH="disabled", MPICH_GNI_MAX_EAGER_MSG_SIZE="4096")
    assert "eager to 4056, then in pieces" in limits and short[2] > 0 and none[2] == 0 and sum(none) == sum(short), (none, short)


def coll():
    """Thresholds and switches of collectives, on two nodes of two."""
    def chosen(ranks=4, **env):
        said = job(ranks, "mpi_coll_nodes", "--vnodes 2", GODWIT_EXPLAIN="coll", **env)
        return set(re.findall(r"^godwit\[0\] coll: (\w+) of \d+ bytes on \d+ ranks of MPI_COMM_WORLD: (\w+)", said, re.M))
    usual = chosen()
    assert {("alltoall", "columns"), ("allgather", "levels"), ("allreduce", "levels"), ("reduce", "levels")} <= usual, usual
    for name, value, of, gone in (("MPICH_ALLTOALL_SHORT_MSG", "0", "alltoall", {"levels"}), ("MPICH_ALLGATHER_VSHORT_MSG", "0", "allgather", {"levels"}),
                                  ("MPICH_ALLGATHERV_VSHORT_MSG", "0", "allgather", {"levels"}), ("MPICH_REDUCE_NO_SMP", "1", "reduce", {"levels"}),
                                  ("MPICH_ALLREDUCE_NO_SMP", "1", "allreduce", {"levels", "levels_parts"})):
        left = {a for c, a in chosen(**{name: value}) if c == of}
        assert left and not left & gone, "%s=%s: %s" % (name, value, left)
    # Up to 8 bytes by nodes, 400 not.
    assert {("allreduce", "levels"), ("allreduce", "doubling")} <= chosen(MPICH_ALLREDUCE_MAX_SMP_SIZE="8")
    assert ("allreduce", "doubling") not in usual, usual


def timers():
    """The unit of the timers, and whether they tell what ranks wait for each other."""
    def told(**env):
        text = job(2, "mpi_io_report /tmp/godwit-words-%d" % os.getpid(), MPICH_MPIIO_TIMERS="1", **env)
        return re.search(r"time scale: 1 = (2\*\*\d+)", text).group(1), int(re.search(r"total +=\s+(\d+)\n", text).group(1)), \
            [int(n) for n in re.search(r"wait for coll +=\s+(\d+)\s+(\d+)", text).groups()]
    try:
        unit, total, waits = told(MPICH_MPIIO_TIMERS_SCALE="10")
        assert unit == "2**10" and total < 10**7, (unit, total)
        waits = told(MPICH_MPIIO_TIMERS_SCALE="1")
        assert waits[0] == "2**1" and waits[2][1] > 0, waits
        assert told(MPICH_MPIIO_TIMERS_SCALE="1", MPICH_MPIIO_TIME_WAITS="0")[2] == [0, 0]
    finally:
        for f in ("/tmp/godwit-words-%d" % os.getpid(),):
            if os.path.exists(f):
                os.unlink(f)


def threads():
    """A program whose threads find locks held is told what to do; one with a communicator for each thread is not."""
    word = "give each thread a communicator of its own (MPI_Comm_dup), and the job a lane for each (GODWIT_LANES, here 4)"
    assert word in job(2, "mpi_comm_per_thread shared 4", "--vnodes 2", MPICH_STATS_DISPLAY="1", mtl_ofi_num_ctxts="4")
    assert word not in job(2, "mpi_hello", "--vnodes 2", MPICH_STATS_DISPLAY="1", mtl_ofi_num_ctxts="4")


def misspelt():
    """A name that is nearly one of its family gets the right one, once; what is nothing like one gets nothing."""
    right = ["MPICH_RANK_REORDER_METHOD", "MPICH_GPU_ALLREDUCE_USE_KERNEL", "MPI_GNI_MAX_NDREG_SIZE", "OMPI_MCA_mtl_ofi_tag_mode", "mtl_ofi_progress_event_cnt",
             "mpi_add_procs_cutoff", "pmix_base_async_modex", "async_mpi_finalize", "SHMEM_SYMMETRIC_SIZE", "SMA_SYMMETRIC_SIZE", "XT_SYMMETRIC_HEAP_SIZE", "CXI_FORK_SAFE", "FI_CXI_RX_MATCH_MODE"]
    said = job(1, "mpi_hello", **{name[:-2] + name[-1]: "1" for name in right})
    for name in right:
        assert said.count("%s is not a variable that is read; did you mean %s?" % (name[:-2] + name[-1], name)) == 1, (name, said)
    assert "did you mean" not in job(1, "mpi_hello", FI_HOOK="1", CXI_WHATEVER_ELSE="1", OMPI_COMM_WORLD_NAME="x", mpi_something="1", async_io="1")


def twins():
    """MPICH's other names are known to godwit-info; where both are set to different values the job says once which counts."""
    for name in ("MPIR_CVAR_ASYNC_PROGRESS", "mpir_cvar_async_progress", "MPIR_CVAR_RANK_REORDER_METHOD"):
        rc, said = info(name)
        assert rc == 0 and said.startswith("%s is MPICH's other name of %s, which counts before it" % (name.upper(), name.upper().replace("MPIR_CVAR_", "MPICH_"))), said
        assert re.search(r"^GODWIT_\w+ = ", said, re.M), said
    for name in ("MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM", "mpir_cvar_bcast_intra_algorithm"):
        rc, said = info(name)
        assert rc == 0 and said.startswith(name.upper() + " is of no effect: GODWIT_COLL chooses algorithms"), said
    rc, said = info("MPIR_CVAR_NOBODY_HAS_THIS")
    assert rc == 1 and "MPIR_CVAR_NOBODY_HAS_THIS of MPICH is of no effect here" in said, said
    rc, said = info("MPIR_CVAR_ASYNC_PROGRES")
    assert rc == 1 and "there is no setting MPIR_CVAR_ASYNC_PROGRES; did you mean MPIR_CVAR_ASYNC_PROGRESS?" in said, said
    rc, said = info("MPIR_CVAR_ASYCN_PROGRESS")
    assert rc == 1 and "did you mean MPIR_CVAR_ASYNC_PROGRESS?" in said, said
    said = job(2, "mpi_hello", MPIR_CVAR_ASYNC_PROGRESS="0", MPICH_ASYNC_PROGRESS="1")
    assert said.count("MPIR_CVAR_ASYNC_PROGRESS=0 does not count for GODWIT_PROGRESS_THREAD: MPICH_ASYNC_PROGRESS=1 does") == 1, said


def as_typed():
    """A complaint names the variable that the user has set."""
    for names, value, why in ((("MPICH_COLL_OPT_OFF", "MPIR_CVAR_COLL_OPT_OFF", "GODWIT_COLL_OPT_OFF"), "MPI_Foo", ": 'MPI_Foo' is no collective"),
                              (("MPICH_COLL_SYNC", "GODWIT_COLL_SYNC"), "MPI_Foo", ": 'MPI_Foo' is no collective"),
                              (("MPICH_SHARED_MEM_COLL_OPT", "GODWIT_COLL_LEAF"), "MPI_Foo", ": 'MPI_Foo' is no collective"),
                              (("MPICH_SMP_SINGLE_COPY_MODE", "GODWIT_CMA"), "XPMEM", "=XPMEM: ")):
        for name in names:
            said = job(2, "mpi_hello", **{name: value})
            assert said.count("warning: " + name + why) == 1 and said.count(why) == 1, (name, said)
    for name in ("MPICH_MEMORY_REPORT_FILE", "GODWIT_MEMORY_REPORT_FILE"):
        said = job(1, "mpi_hello", MPICH_MEMORY_REPORT="3", **{name: "/nobody-has-this/x"})
        assert "warning: %s: /nobody-has-this/x0 cannot be written" % name in said, said


def version():
    """The version is printed where that is asked for.  CRAY_MPICH_VERSION is not in mpi.h: programs that find it there work around faults of HPE's."""
    said = job(2, "mpi_hello", MPICH_VERSION_DISPLAY="1")
    assert len(re.findall(r"^PE 0: .*Godwit.* [0-9]+\.[0-9]+\.[0-9]+", said, re.M)) == 1, said
    assert re.search(r"^PE 0: MPI VERSION .*compiled with \S*(gcc|[Cc]lang)", said, re.M), said
    assert "PE 0" not in job(2, "mpi_hello", MPICH_VERSION_DISPLAY="0", CRAY_MPICH_VERSION="8.1.26")
    with open(BUILD + "/include/mpi.h", encoding="utf-8") as f:
        header = f.read()
    assert "MPI_Get_library_version" in header and "CRAY_" not in header


# What the documents say of defaults (the manual of 2023, and where it differs the listing of 8.1.17).  Ours is the same, or its help says what HPE's is.
HPE = {
    "MPICH_ABORT_ON_ERROR": "0", "MPICH_ASYNC_PROGRESS": "0", "MPICH_COLL_SYNC": "", "MPICH_ENV_DISPLAY": "0", "MPICH_VERSION_DISPLAY": "0",
    "MPICH_CPUMASK_DISPLAY": "0", "MPICH_STATS_DISPLAY": "0", "MPICH_MEMORY_REPORT": "0", "MPICH_NO_BUFFER_ALIAS_CHECK": "0",
    "MPICH_RANK_REORDER_METHOD": "1", "MPICH_RANK_REORDER_DISPLAY": "0", "MPICH_RANK_REORDER_FILE": "MPICH_RANK_ORDER", "MPICH_RMA_MAX_PENDING": "64",
    "MPICH_SMP_SINGLE_COPY_SIZE": "8K", "MPICH_OFI_NIC_POLICY": "BLOCK", "MPICH_OFI_NIC_VERBOSE": "0", "MPICH_OFI_SKIP_NIC_SYMMETRY_TEST": "0",
    "MPICH_OFI_VERBOSE": "0", "MPICH_OFI_TCLASS_ERRORS": "warn", "MPICH_OFI_DEFAULT_TCLASS": "TC_BEST_EFFORT", "MPICH_OFI_CXI_COUNTER_REPORT": "1",
    "MPICH_OFI_STARTUP_CONNECT": "0", "FI_CXI_RX_MATCH_MODE": "hardware", "MPICH_ALLREDUCE_BLK_SIZE": "716800", "MPICH_ALLREDUCE_MAX_SMP_SIZE": "256K",
    "MPICH_ALLREDUCE_NO_SMP": "0", "MPICH_REDUCE_NO_SMP": "0", "MPICH_ALLTOALL_SYNC_FREQ": "1-24", "MPICH_ALLTOALLV_THROTTLE": "8",
    "MPICH_ALLTOALL_SHORT_MSG": "512", "MPICH_ALLGATHER_VSHORT_MSG": "1024",
    "MPICH_BCAST_INTERNODE_RADIX": "4", "MPICH_BCAST_INTRANODE_RADIX": "4", "MPICH_BCAST_ONLY_TREE": "1", "MPICH_GATHERV_SHORT_MSG": "128K",
    "MPICH_GATHERV_MIN_COMM_SIZE": "64", "MPICH_GATHERV_MAX_TMP_SIZE": "512M", "MPICH_GATHERV_SYNC_FREQ": "16", "MPICH_IGATHERV_MIN_COMM_SIZE": "1000",
    "MPICH_IGATHERV_SYNC_FREQ": "100", "MPICH_IALLGATHERV_THROTTLE": "6", "MPICH_REDUCE_SCATTER_COMMUTATIVE_LONG_MSG_SIZE": "512K",
    "MPICH_REDUCE_SCATTER_MAX_COMMSIZE": "1000", "MPICH_SCATTERV_SHORT_MSG": "2048", "MPICH_SCATTERV_MIN_COMM_SIZE": "64",
    "MPICH_SCATTERV_MAX_TMP_SIZE": "512M", "MPICH_SCATTERV_SYNC_FREQ": "16", "MPICH_SCATTERV_SYNCHRONOUS": "0", "MPICH_MPIIO_STATS": "0",
    "MPICH_MPIIO_TIMERS": "0", "MPICH_MPIIO_TIMERS_SCALE": "0", "MPICH_MPIIO_TIME_WAITS": "1", "MPICH_MPIIO_STATS_FILE": "cray_mpiio_stats",
    "MPICH_MPIIO_STATS_INTERVAL_MSEC": "250", "MPICH_MPIIO_HINTS": "", "MPICH_MPIIO_HINTS_DISPLAY": "0",
    "MPICH_MPIIO_AGGREGATOR_PLACEMENT_DISPLAY": "0", "MPICH_MPIIO_AGGREGATOR_PLACEMENT_STRIDE": "-1", "MPICH_SMP_SINGLE_COPY_MODE": "XPMEM",
    "MPICH_SHARED_MEM_COLL_OPT": "1", "MPICH_ALLGATHERV_VSHORT_MSG": "1024", "MPICH_OFI_RMA_STARTUP_CONNECT": "0", "MPICH_OFI_NUM_NICS": "",
    "MPICH_MEMORY_REPORT_FILE": "",
}


def defaults():
    """Where a default is not that of the documents, the setting says so."""
    same = {"0": ("0", "false", "off"), "1": ("1", "true", "on"), "": ("(empty)",)}
    for word, theirs in HPE.items():
        rc, said = info(word)
        ours = re.search(r"^GODWIT_\w+ = (.*)$", said, re.M)
        assert rc == 0 and ours, (word, said)
        value = ours.group(1).strip()
        if value.upper() != theirs.upper() and value not in same.get(theirs, ()):
            assert "HPE" in said, "%s: %s, the documents have %s:\n%s" % (word, value, theirs, said)


if __name__ == "__main__":
    names()
    aliases()
    misspelt()
    twins()
    as_typed()
    version()
    defaults()
    threads()
    verbose()
    progress()
    xpmem()
    buffers()
    pending()
    spawning()
    chunk()
    mca()
    proto()
    coll()
    timers()
