#!/usr/bin/env python3
"""Every place in src/ that copies, packs, compares or sums user data by hand stands here with its reason (src/mem/mem.h says why): a second
way to copy must find them all.  What is new goes by mem_copy() or stands in this list.
"""
# run.py: timeout=60 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test"))
import c_text  # noqa: E402
ROOMS = "type op node wire wire_shm wire_ofi wire_tcp peer req match proto p2p plan coll io rma check sym".split()
# Files, how many such calls, and of what.
USER = { # data of the program: what another kind of memory must not meet, or must have its own way for
    "src/type/cursor.c": (12, "the cursor"),
    "src/type/kernels.c": (37, "the cursor's loops"),
    "src/type/records.c": (10, "the cursor's loops"),
    "src/type/external.c": (10, "external32, MPI_Pack and MPI_Unpack"),
    "src/type/stage.c": (1, "host memory in place of another kind"),
    "src/op/op.c": (13, "reductions"),
    "src/op/exact.c": (8, "exact sums"),
    "src/wire/wire_ring.h": (12, "short messages"),
    "src/wire_shm/shm_cma.c": (4, "copies by the kernel between two processes"),
    "src/wire_shm/shm_send.c": (3, "messages by the ring"),
    "src/wire_ofi/ofi_atomic.c": (3, "operands and results of the network's atomics"),
    "src/wire_ofi/ofi_recv.c": (1, "a message that arrives"),
    "src/wire_ofi/ofi_send.c": (6, "messages into the network's buffers"),
    "src/wire_tcp/tcp.c": (1, "memory that the system refused"),
    "src/wire_tcp/tcp_recv.c": (6, "from the socket"),
    "src/wire_tcp/tcp_ask.c": (1, "credentials"),
    "src/wire_tcp/tcp_munge.c": (1, "credentials"),
    "src/wire_tcp/tcp_send.c": (9, "to the socket"),
    "src/wire_tcp/tcp_tls.c": (3, "from the socket"),
    "src/peer/peer_fast.h": (2, "short messages"),
    "src/proto/proto_ahead.c": (1, "pieces that came early"),
    "src/proto/proto_eager.c": (8, "eager messages"),
    "src/proto/proto_fast.h": (1, "short sends, inlined"),
    "src/proto/proto_fault.c": (1, "memory that the system refused"),
    "src/proto/proto_get.c": (2, "rendezvous, read from the sender"),
    "src/proto/proto_help.c": (2, "copies shared between the two"),
    "src/proto/proto_keep.c": (1, "a send that is kept"),
    "src/proto/proto_op.c": (1, "pages that others will read"),
    "src/proto/proto_out.c": (1, "short payloads"),
    "src/proto/proto_pieces.c": (4, "rendezvous in pieces"),
    "src/proto/proto_recv.c": (2, "short receives, inlined"),
    "src/p2p/bsend.c": (1, "MPI_Bsend's buffer"),
    "src/p2p/p2p.c": (1, "MPI_Sendrecv_replace"),
    "src/p2p/partitioned.c": (1, "partitions that lie across messages"),
    "src/plan/exec.c": (10, "steps: copy, reduce, leaves"),
    "src/plan/memory.c": (7, "steps: copy between two layouts, exact sums"),
    "src/plan/once.c": (12, "small collectives at once"),
    "src/coll/coll.c": (1, "the library's own agreement"),
    "src/coll/meet.c": (2, "what the library tells all ranks of a node at a start"),
    "src/io/access.c": (1, "bytes of the file pointer's own buffer"),
    "src/io/move.c": (9, "files, directly and by a buffer"),
    "src/io/rep.c": (3, "other representations"),
    "src/io/two_phase.c": (5, "collective files"),
    "src/io/view.c": (1, "runs of a file view"),
    "src/io/window.c": (2, "collective files by shared windows"),
    "src/rma/access.c": (22, "put, get, accumulate"),
    "src/rma/ask.c": (4, "messages of put, get, accumulate"),
    "src/rma/atomic.c": (2, "the network's atomics"),
    "src/rma/deferred.c": (1, "accesses that wait for their epoch"),
    "src/rma/mail.c": (12, "changes that an owner makes for others"),
    "src/rma/reach.c": (1, "put and get by the network"),
    "src/rma/rma_fast.h": (8, "put and get, inlined"),
    "src/rma/serve.c": (5, "changes by messages"),
    "src/rma/started.c": (1, "answers that arrive"),
    "src/rma/stream.c": (2, "long copies"),
    "src/check/check_race.c": (2, "GODWIT_CHECK: copies of windows"),
    "src/check/check_recv.c": (2, "GODWIT_CHECK: what a receive wrote"),
    "src/check/check_span.c": (4, "GODWIT_CHECK: sums of buffers"),
    "src/check/check_array.c": (1, "GODWIT_CHECK: sums of arrays"),
    "src/check/check_coll.c": (1, "GODWIT_CHECK: sums of buffers"),
    "src/check/check_file.c": (3, "GODWIT_CHECK: sums of buffers"),
    "src/check/check_p2p.c": (1, "GODWIT_CHECK: sums of buffers"),
    "src/check/check_use.c": (2, "GODWIT_CHECK: sums of buffers"),
    "src/check/check_win.c": (1, "GODWIT_CHECK: sums of buffers"),
    "src/sym/atomic.c": (2, "put with signal"),
    "src/sym/bring.c": (2, "memory that the system refused"),
    "src/sym/coll.c": (1, "the root's own part"),
    "src/sym/handle.c": (1, "memory that the system refused"),
    "src/sym/heap.c": (1, "shmem_realloc"),
    "src/sym/move.c": (7, "put and get on the node"),
}
OWN = { # only the library's own: names, addresses, tables, bells
    "src/type/make.c": (1, "arrays of constructors"),
    "src/type/type.c": (1, "names"),
    "src/node/bell.c": (1, "bells"),
    "src/wire_ofi/ofi_admit.c": (7, "addresses"),
    "src/wire_ofi/ofi_ondemand.c": (6, "addresses, requests to connect"),
    "src/wire_ofi/ofi_watch.c": (1, "/proc/self/maps"),
    "src/plan/stages.c": (1, "the steps' scratch, which grows"),
    "src/plan/start.c": (1, "arrays of counts"),
    "src/io/hints.c": (4, "words of hints"),
    "src/io/place.c": (3, "names of hosts"),
    "src/rma/win.c": (1, "tables of a window"),
    "src/check/check_court.c": (2, "calls told to others"),
    "src/check/check_place.c": (1, "symbols of the program"),
    "src/check/check_race_log.c": (2, "logs of accesses"),
    "src/sym/data.c": (1, "/proc/self/pagemap"),
}
MAY = {**USER, **OWN}
BY_HAND = ("memcpy memmove memcmp gw_copy gw_copy_out gw_copy_as gw_copy_by wire_ring_copy rma_copy_few op_reduce op_reduce3 op_reduce_local "
           "op_exact_step op_exact_sum gw_cma_read gw_cma_write cma_move gw_memory_fault node_read_by_others "
           "type_pack type_unpack type_copy type_cursor_pack type_cursor_unpack type_cursor_iov "
           "pread preadv pwrite pwritev recv recvmsg readv writev sendmsg check_span_sum check_span_sum_now").split()
CALL = re.compile(r"(?<![\w.>])(%s)\(" % "|".join(BY_HAND))
DECLARED = re.compile(r"\b(void|int|int64_t|bool|ssize_t)\s+\**$")
OWN_RECORD = re.compile(r"(^|.*[^\w])sizeof\b[^,]*$", re.S)  # memcpy(to, from, sizeof x): a record of the library


def places(text):
    for line, call, inside in c_text.calls(text, CALL, DECLARED):
        if not (call.startswith("mem") and OWN_RECORD.match(inside.rsplit(",", 1)[-1])):
            yield line, call, " ".join(inside.split())


def sources():
    for room in ROOMS:
        for path in sorted((ROOT / "src" / room).glob("*.[ch]")):
            if not path.name.endswith("_test.c") and path.name != "check_sim.h":
                yield path


def self_test():
    text = ("void type_pack(int x);\nvoid f(void) { memcpy(a, b, n);\n memcpy(&x, p, sizeof x); gw_copy(a, (g(b)),\n n); /* memcmp(a, b, 1) */ "
            "x->recv(a); memcpy(v, u, n * sizeof *v); type_pack(a, 1, t, b); memmove(a, b, len); mem_copy(a, b, n); }")
    found = [(line, call) for line, call, _ in places(text)]
    assert found == [(2, "memcpy"), (3, "gw_copy"), (4, "type_pack"), (4, "memmove")], found


def main():
    self_test()
    bad, n_files = [], 0
    for path in sources():
        name, found = str(path.relative_to(ROOT)), list(places(path.read_text()))
        n_files += 1
        known, why = MAY.get(name, (0, "none"))
        if len(found) != known:
            bad += [f"{name}:{line}: {call}({inside})" for line, call, inside in found]
            bad.append(f"{name}: {len(found)} places copy, pack, compare or sum by hand (above); {known} are known: {why}.  User data go by "
                       "mem_copy() of src/mem/mem.h; else correct the list in test/system/copies.py")
    assert n_files > 200, n_files
    gone = [name for name in MAY if not (ROOT / name).exists()]
    for text in bad + [f"{name} is in the list, but not there" for name in gone]:
        print(text)
    return 1 if bad or gone else 0


if __name__ == "__main__":
    sys.exit(main())
