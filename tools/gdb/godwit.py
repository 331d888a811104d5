"""Message queues of a stopped rank, for gdb:

    gdb -p PID -ex 'source tools/gdb/godwit.py' -ex mpi-queues       (installed: PREFIX/share/godwit/gdb/godwit.py)

mpi-queues lists, of every lane in use: receives that wait for a message, messages that no receive has asked for yet, and sends that
wait for their receiver or for room.  Ranks are those of the communicator; a context id is equal on all its members, its last bits say
what it is for (0: the program's messages).  It needs the library's debug information, which a normal build has."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import gdb

STREAM_BITS = 3  # GW_STREAM_BITS of src/comm/comm.h
MATCH_UNIT = 16  # of src/match/match.h
EAGER_SYNC, RTS, SYNC_PREFIX = 2, 3, 8  # src/proto/proto_wire.h


def structure(name):
    return gdb.lookup_type("struct " + name)


def owner(pointer, name, *members):
    """The struct that holds what `pointer` points to as a member (of a member)."""
    offset, kind = 0, structure(name)
    for member in members:
        field = next(f for f in kind.fields() if f.name == member)
        offset += field.bitpos // 8
        kind = field.type
    return (pointer.cast(gdb.lookup_type("char").pointer()) - offset).cast(structure(name).pointer())


def entries(head, name, *members):
    """Of a list (struct gw_list)."""
    at = head["next"]
    while at != head.address:
        yield owner(at, name, *members)
        at = at["next"]


def posted(queue):
    table = queue["posted"]
    found = []
    for i in range(table.type.range()[1] + 1):
        first = table[i]
        at = first
        while int(at):
            found.append(owner(at, "proto_recv", "m"))
            at = at["next"]
            if at == first:
                break
    return sorted(found, key=lambda r: int(r["m"]["seq"]))


def messages(queue):
    """Unexpected ones, in arrival order: their links are numbers of units behind queue.base."""
    at = int(queue["oldest"])
    while at:
        msg = (queue["base"] + at * MATCH_UNIT).cast(structure("proto_msg").pointer())
        yield msg
        at = int(msg["m"]["later"])


def length(msg):
    if int(msg["kind"]) == RTS:
        return int(msg["data"].address.cast(structure("proto_rts").pointer())["len"])
    return int(msg["bytes"]) - (SYNC_PREFIX if int(msg["kind"]) == EAGER_SYNC else 0)


def number(value, what):
    return "%s %d" % (what, int(value)) if int(value) >= 0 else "any " + what


def context(ctx):
    return "context %d.%d" % (int(ctx) >> STREAM_BITS, int(ctx) & ((1 << STREAM_BITS) - 1))


def show(lane):
    proto = lane["proto"].cast(structure("proto_lane").pointer())
    queue = proto["fast"]["q"].dereference()
    print("lane %d: %d receives posted, %d messages unexpected" % (int(lane["index"]), int(queue["n_posted"]), int(queue["n_msgs"])))
    for r in posted(queue):
        print("  receive  %s %s %s, up to %d bytes at %s" % (number(r["m"]["src"], "source"), number(r["m"]["tag"], "tag"), context(r["m"]["ctx"]),
                                                            int(r["data"]["bytes"]), hex(int(r["data"]["buf"]))))
    for msg in messages(queue):
        m = msg["m"]
        print("  message  source %d tag %d %s, %d bytes, from rank %d of the job" % (int(m["src"]), int(m["tag"]), context(m["ctx"]), length(msg),
                                                                                   int(msg["world"])))
    for op in entries(proto["asked"], "proto_op", "link"):
        if int(op["req"]):
            print("  send     tag %d %s, %d bytes: waits for its receiver" % (int(op["hdr"]["tag"]), context(op["hdr"]["ctx"]), int(op["data"]["bytes"])))
    for out in entries(proto["outs"], "proto_out", "link"):
        for op in entries(out["ops"], "proto_op", "link"):
            if int(op["data"]["type"]):
                print("  send     tag %d %s, %d bytes: waits for room" % (int(op["hdr"]["tag"]), context(op["hdr"]["ctx"]), int(op["data"]["bytes"])))


class Queues(gdb.Command):
    """mpi-queues: posted receives, unexpected messages and pending sends of this rank."""

    def __init__(self):
        super().__init__("mpi-queues", gdb.COMMAND_DATA)

    def invoke(self, _argument, _from_tty):
        lanes = gdb.parse_and_eval("gw_lanes")
        for i in range(max(1, int(gdb.parse_and_eval("gw_nlanes_used")))):
            if int(lanes[i]["proto"]):
                show(lanes[i])
            else:
                print("MPI is not initialized here")


Queues()
