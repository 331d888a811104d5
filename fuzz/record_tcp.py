#!/usr/bin/env python3
"""Real traffic for fuzz_tcp: runs programs of test/mpi on faked nodes, records what comes to their ranks over TCP (record_tcp.c), and
writes it as inputs of fuzz_tcp.  After a change of what is on the wire:

    fuzz/record_tcp.py BUILD /tmp/traffic               BUILD: of the library and its tests
    mkdir /tmp/least && BUILD/fuzz-build/fuzz/fuzz_tcp -merge=1 /tmp/least /tmp/traffic
    cp /tmp/least/* fuzz/corpus/tcp/

An input is the byte 3 and then items: a byte, a number of two bytes, and for the first sort as many bytes.  0: they come to the connection;
2: memory for a long message of that many bytes + 1 waits from now on.  What came is cut after a whole message; the tickets of long
messages are those that fuzz_tcp's wire gives, as that one has no other messages.

SPDX-FileCopyrightText: 2026 The Godwit authors
SPDX-License-Identifier: BSD-3-Clause
"""
import os
import struct
import subprocess
import sys
import tempfile

TRAFFIC, HELLO, HEAD, PART, PIECE_MOST = 3, 32, 24, 255, 60000
LEAST, MOST = 1, 3000  # bytes of an input

SMALL = {'GODWIT_NET_EAGER_MAX': '200'}  # long messages begin there
RUNS = [  # program, ranks, arguments, environment
    ('p2p_sendrecv', 4, [], {}), ('p2p_types', 4, [], SMALL), ('p2p_modes', 4, [], {}), ('p2p_modes', 4, [], SMALL),
    ('p2p_probe', 4, [], {}), ('p2p_threads', 2, [], SMALL), ('p2p_burst', 4, [], {}), ('p2p_cancel', 4, [], SMALL),
    ('p2p_unexpected', 4, ['1000', '1500', 'in', 'barrier'], {'GODWIT_UNEXPECTED_MAX': '2M', 'EXPECT': 'kept'}),
    ('coll_basic', 4, [], {}), ('coll_basic', 4, [], SMALL), ('coll_arrays', 5, [], {}), ('coll_small', 5, [], {}),
    ('rma_deferred', 3, [], {}), ('rma_passive', 5, [], {}), ('rma_random', 4, ['20', '13'], SMALL), ('rma_fence', 3, [], SMALL),
    ('io_shared', 5, [], {}), ('partitioned', 4, [], {}), ('comm_make', 5, [], {}), ('hello', 5, [], {'GODWIT_CHECK': '1'}),
    ('coll_basic', 4, [], {'GODWIT_CHECK': '1'})]


def pieces_of(path):
    """The pieces of a recorded connection, without the hello."""
    with open(path, 'rb') as f:
        data = f.read()
    pieces, at, skip = [], 0, HELLO
    while at + 4 <= len(data):
        n = struct.unpack_from('<I', data, at)[0]
        piece = data[at + 4:at + 4 + n]
        at += 4 + n
        drop = min(skip, len(piece))
        skip -= drop
        if piece[drop:]:
            pieces.append(piece[drop:])
    return pieces


def units_of(stream):
    """Messages and parts: (begin, end, ticket or None, bytes of the part)."""
    at = 0
    while at + HEAD <= len(stream):
        n, kind = struct.unpack_from('<IB', stream, at)
        end = at + HEAD + (n + 7) // 8 * 8
        if end > len(stream):
            return
        yield at, end, struct.unpack_from('<Q', stream, at + 8)[0] if kind == PART else None, n
        at = end


class Takes:
    """As tcp_recv_into() gives tickets: the place that was free last, and how often it was used."""
    def __init__(self):
        self.free, self.used = list(range(16, 0, -1)), {}

    def post(self):
        place = self.free.pop()
        return self.used.get(place, 0) << 32 | place

    def over(self, ticket):
        place = ticket & 0xffffffff
        self.used[place] = (ticket >> 32) + 1
        self.free.append(place)


def item(what, n, data=b''):
    return struct.pack('<BH', what, n) + data


def input_of(pieces, first, most):
    """An input of at most so many bytes from the unit `first` on, or b'', and the unit behind it."""
    stream = bytearray(b''.join(pieces))
    units = list(units_of(stream))
    last = first
    while last < len(units) and units[last][1] - units[first][0] <= most:
        last += 1
    if last == first:
        return b'', first + 1
    kept = units[first:last]
    sizes = {}
    for _, _, ticket, n in kept:
        if ticket is not None:
            sizes[ticket] = sizes.get(ticket, 0) + n
    posts, named, left, takes = {}, {}, dict(sizes), Takes()
    for at, _, ticket, n in kept:
        if ticket is None:
            continue
        if sizes[ticket] > 65536:
            return b'', last
        if ticket not in named:
            named[ticket] = takes.post()
            posts[at] = sizes[ticket]
        struct.pack_into('<Q', stream, at + 8, named[ticket])
        left[ticket] -= n
        if left[ticket] == 0:
            takes.over(named[ticket])
    ends, at = [], 0
    for piece in pieces:
        at += len(piece)
        ends.append(at)
    out, at, end = bytes([TRAFFIC]), kept[0][0], kept[-1][1]
    # Memory waits before the piece comes that begins its message; so a piece is cut there where it ends another one, too.
    cuts = sorted({e for e in ends + list(posts) if at < e < end} | {end})
    for cut in cuts:
        if at in posts:
            out += item(2, posts[at] - 1)
        while at < cut:
            n = min(cut - at, PIECE_MOST)
            out += item(0, n, bytes(stream[at:at + n]))
            at += n
    return out, last


def record(build, folder, program, ranks, args, env):
    path = os.path.join(build, 'mpi_' + program)
    if not os.path.exists(path):
        return f'{program}: there is none'
    run = subprocess.run([os.path.join(build, 'mpiexec'), '-n', str(ranks), '--vnodes', '2', path] + args,
                         env={**os.environ, **env, 'RECORD_TCP': folder, 'LD_PRELOAD': os.path.join(folder, 'record.so')},
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    return None if run.returncode == 0 else f'{program}: {run.stdout[-300:]!r}'


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    build, out = sys.argv[1:]
    here = os.path.dirname(os.path.abspath(__file__))
    os.makedirs(out, exist_ok=True)
    written = 0
    for number, run in enumerate(RUNS):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.check_call(['cc', '-O1', '-shared', '-fPIC', '-o', os.path.join(folder, 'record.so'),
                                   os.path.join(here, 'record_tcp.c'), '-ldl'])
            failed = record(os.path.abspath(build), folder, *run)
            if failed:
                print(failed)
            for name in sorted(os.listdir(folder)):
                pieces, first, n = [], 0, 0
                if name.startswith('mpi_'):
                    pieces = pieces_of(os.path.join(folder, name))
                for n in range(4):  # a connection's first messages, and some of later ones
                    data, first = input_of(pieces, first, MOST)
                    if LEAST < len(data):
                        with open(os.path.join(out, f'{run[0]}-{number}-{written}'), 'wb') as f:
                            f.write(data)
                        written += 1
    print(f'{written} inputs')


if __name__ == '__main__':
    main()
