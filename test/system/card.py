#!/usr/bin/env python3
"""Where a card can, the receiver reads long messages (R0), and the documents' variables move the limits: with a libfabric whose provider says it
is a card (card.c), and no variable but the documents' own."""
# run.py: timeout=120
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import re
import subprocess
import sys
import tempfile

BUILD = os.path.abspath(sys.argv[1])
HERE = os.path.dirname(os.path.abspath(__file__))
FAMILIES = ("GODWIT_", "MPICH_", "MPIR_", "OMPI_", "FI_", "mtl_", "MPI_GNI_")
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(FAMILIES)}


def real():
    said = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=False, env=dict(CLEAN, PATH="/sbin:/usr/sbin:" + CLEAN["PATH"])).stdout
    m = re.search(r"libfabric\.so\.1 .*=> (\S+)", said)
    if not m:
        print("skipped: no libfabric here")
        sys.exit(77)
    return m.group(1)


def facts(folder, **env):
    """How rank 0's messages went, on two nodes; the documents' variable that names a provider is what makes a job here look for cards."""
    env = dict(CLEAN, LD_LIBRARY_PATH=folder, MPICH_OFI_USE_PROVIDER="tcp", **env)
    p = subprocess.run([BUILD + "/mpiexec", "--vnodes", "2", "-n", "2", BUILD + "/mpi_net_facts"], env=env, capture_output=True, text=True, timeout=60,
                       check=False)
    m = re.search(r"^facts: (.*)$", p.stdout, re.M)
    assert p.returncode == 0 and m, p.stdout + p.stderr
    words = m.group(1).split()
    return dict(zip(words[::2], map(int, words[1::2]))), p.stderr


def main():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["cc", "-shared", "-fPIC", "-o", folder + "/libfabric.so.1", "-DREAL=\"%s\"" % real(), HERE + "/card.c", "-ldl"], check=True)
        card, said = facts(folder)
        assert card["sent_messages_r0"] > 0 and card["sent_messages_r1"] == 0 and said == "", (card, said)
        assert card["rma_wired"] > 0, card
        # Beyond the limit R1, with nothing told: here it means something.
        low, said = facts(folder, MPICH_GNI_NDREG_MAXSIZE="8K")
        assert low["sent_messages_r0"] == 0 and low["sent_messages_r1"] == card["sent_messages_r0"] and said == "", (low, said)
        high, said = facts(folder, MPICH_GNI_NDREG_MAXSIZE="1M")
        assert high["sent_messages_r0"] == card["sent_messages_r0"] and said == "", (high, said)
        # What the network's buffers and queue have: nothing is told, and nothing lost.
        for name, value in (("MPICH_GNI_NUM_BUFS", "2"), ("mtl_ofi_progress_event_cnt", "1")):
            few, said = facts(folder, **{name: value})
            assert few == card and said == "", (name, few, card, said)
        # Where the network matches, the layout of tags means something, and long messages are read all the same.
        tags, said = facts(folder, FI_CXI_RX_MATCH_MODE="hardware", mtl_ofi_tag_mode="ofi_tag_1")
        assert tags["net_matched"] > 0 and tags["sent_messages_r0"] > 0 and said == "", (tags, said)
        off, _ = facts(folder, MPICH_GNI_LMT_PATH="disabled")
        assert off["sent_messages_r0"] == 0, off


if __name__ == "__main__":
    main()
