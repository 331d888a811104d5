#!/usr/bin/env python3
"""Where a default is another one than that of HPE's library, as the documents have it, what the setting's text says names theirs."""
# run.py: timeout=60 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import re
import subprocess
import sys

BUILD = os.path.abspath(sys.argv[1])
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(("GODWIT_", "MPICH_", "MPI_GNI_", "FI_", "OMPI_MCA_"))}
# Their defaults: lists of values that documents name, one of which must stand in our text where ours is none of them.
THEIRS = """
MPICH_GNI_MAX_VSHORT_MSG_SIZE 8152
MPICH_GNI_MAX_EAGER_MSG_SIZE 8192
MPICH_GNI_NUM_BUFS 64
MPICH_GNI_NDREG_MAXSIZE 4M 512K
MPI_GNI_MAX_NDREG_SIZE 512K
MPICH_GNI_NDREG_LAZYMEM enabled
MPICH_GNI_LMT_PATH enabled
MPICH_GNI_DYNAMIC_CONN enabled
MPICH_ASYNC_PROGRESS 0
MPICH_ENV_DISPLAY 0
MPICH_VERSION_DISPLAY 0
MPICH_CPUMASK_DISPLAY 0
MPICH_STATS_DISPLAY 0
MPICH_MEMORY_REPORT 0
MPICH_ABORT_ON_ERROR 0
MPICH_NO_BUFFER_ALIAS_CHECK 0
MPICH_ALLOC_MEM_PG_SZ 4096
MPICH_ALLOC_MEM_POLICY preferred
MPICH_ALLOC_MEM_HUGE_PAGES 0
MPICH_RANK_REORDER_METHOD 1
MPICH_RANK_REORDER_DISPLAY 0
MPICH_RMA_MAX_PENDING 64 128
MPICH_SMP_SINGLE_COPY_MODE xpmem
MPICH_SMP_SINGLE_COPY_SIZE 8192
MPICH_SHARED_MEM_COLL_OPT on
MPICH_OFI_NIC_POLICY block
MPICH_OFI_NIC_VERBOSE 0
MPICH_OFI_SKIP_NIC_SYMMETRY_TEST 0
MPICH_OFI_VERBOSE 0
MPICH_OFI_DEFAULT_TCLASS TC_BEST_EFFORT
MPICH_OFI_TCLASS_ERRORS warn
MPICH_OFI_CXI_COUNTER_REPORT 1
MPICH_OFI_STARTUP_CONNECT 0
FI_CXI_RX_MATCH_MODE hardware
FI_MR_CACHE_MAX_COUNT 4096 524288
FI_MR_CACHE_MAX_SIZE -1
MPICH_ALLGATHER_VSHORT_MSG 1024 4096
MPICH_ALLREDUCE_BLK_SIZE 716800
MPICH_ALLREDUCE_MAX_SMP_SIZE 262144
MPICH_ALLREDUCE_NO_SMP 0
MPICH_REDUCE_NO_SMP 0
MPICH_ALLTOALL_SHORT_MSG 64-512
MPICH_ALLTOALL_SYNC_FREQ 1 24
MPICH_ALLTOALLV_THROTTLE 8
MPICH_BCAST_INTERNODE_RADIX 4
MPICH_BCAST_INTRANODE_RADIX 4
MPICH_BCAST_ONLY_TREE 1 on
MPICH_GATHERV_SHORT_MSG 131072
MPICH_GATHERV_MIN_COMM_SIZE 64
MPICH_GATHERV_MAX_TMP_SIZE 512M
MPICH_GATHERV_SYNC_FREQ 16
MPICH_IGATHERV_MIN_COMM_SIZE 1000
MPICH_IGATHERV_SYNC_FREQ 100
MPICH_IALLGATHERV_THROTTLE 6
MPICH_REDUCE_SCATTER_COMMUTATIVE_LONG_MSG_SIZE 524288
MPICH_REDUCE_SCATTER_MAX_COMMSIZE 1000
MPICH_SCATTERV_SHORT_MSG 2048-8192
MPICH_SCATTERV_MIN_COMM_SIZE 64
MPICH_SCATTERV_MAX_TMP_SIZE 512M
MPICH_SCATTERV_SYNC_FREQ 16
MPICH_MPIIO_STATS 0
MPICH_MPIIO_STATS_FILE cray_mpiio_stats
MPICH_MPIIO_STATS_INTERVAL_MSEC 250
MPICH_MPIIO_TIMERS 0
MPICH_MPIIO_TIMERS_SCALE 0
MPICH_MPIIO_TIME_WAITS 1
MPICH_MPIIO_HINTS_DISPLAY 0
MPICH_MPIIO_AGGREGATOR_PLACEMENT_DISPLAY 0
MPICH_MPIIO_AGGREGATOR_PLACEMENT_STRIDE -1
"""


def plain(value):
    """A number, or a word in small letters."""
    m = re.fullmatch(r"(-?\d+)([KMG]?)", value)
    if m:
        return str(int(m.group(1)) << {"": 0, "K": 10, "M": 20, "G": 30}[m.group(2)])
    return {"true": "1", "false": "0"}.get(value.lower(), value.lower())


def text_of(name):
    p = subprocess.run([BUILD + "/godwit-info", name], env=CLEAN, capture_output=True, text=True, timeout=30, check=True)
    return p.stdout


def main():
    p = subprocess.run([BUILD + "/mpiexec", "-n", "1", BUILD + "/mpi_hello"], env=dict(CLEAN, MPICH_ENV_DISPLAY="1"), capture_output=True,
                       text=True, timeout=30, check=True)
    shown = dict(re.findall(r"^PE 0:   (\w+) *= (.*?) *\[", p.stderr, re.M))
    shown["MPICH_ENV_DISPLAY"] = "0"  # this test has set it
    faults = []
    rows = [line.split() for line in THEIRS.strip().split("\n")]
    for name, *theirs in rows:
        if name not in shown:
            text = text_of(name)  # another name of the row stands first
            value = None
        else:
            text, value = text_of(name), shown[name]
        if value is not None and plain(value) in [plain(t) for t in theirs]:
            continue
        said = [plain(w) for w in re.findall(r"[-\w]+", text)]
        if not re.search(r"HPE|the documents", text) or not any(plain(t) in said for t in theirs):
            faults.append("%s is %s, HPE's library has %s, and its text does not say so" % (name, value, " or ".join(theirs)))
    for f in faults:
        print(f)
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
