#!/usr/bin/env python3
"""Connects to the listening TCP port of a process of a job, and has not its key (test/system/tcp_strangers.sh).

    tcp_strangers.py where PID                   its address and port
    tcp_strangers.py sockets PID                 how many sockets it has
    tcp_strangers.py WAY ADDRESS PORT SECONDS    the number of connections that were made

hold: 200 connections that say nothing; garbage: random bytes of random lengths; key: what a rank says, with another key, behind it a message
without end; half: a part of a key, and gone; flood: connections that end at once."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import random
import socket
import struct
import sys
import time

MAGIC = 0x31707774


def sockets(pid):
    found = set()
    for fd in os.listdir("/proc/%s/fd" % pid):
        try:
            link = os.readlink("/proc/%s/fd/%s" % (pid, fd))
        except OSError:
            continue
        if link.startswith("socket:["):
            found.add(link[len("socket:["):-1])
    return found


def where(pid):
    own = sockets(pid)
    with open("/proc/%s/net/tcp" % pid, encoding="ascii") as f:
        for line in f.readlines()[1:]:
            w = line.split()
            if w[3] == "0A" and w[9] in own:
                host, port = w[1].split(":")
                return socket.inet_ntoa(struct.pack("=I", int(host, 16))) + " %d" % int(port, 16)
    sys.exit("tcp_strangers: process %s does not listen" % pid)


def say(way):
    if way == "garbage":
        return random.randbytes(random.choice((1, 15, 16, 17, 32, 100, 5000, 300000)))
    if way == "key":
        head = struct.pack("=IB3x16s", 0xffffffff, 255, random.randbytes(16))
        return random.randbytes(16) + struct.pack("=IiiI", MAGIC, 0, 0, 1) + head + random.randbytes(4096)
    return random.randbytes(random.randrange(1, 16)) if way == "half" else b""


def main():
    if sys.argv[1] == "where":
        print(where(sys.argv[2]))
        return
    if sys.argv[1] == "sockets":
        print(len(sockets(sys.argv[2])))
        return
    way, at, until, n, held = sys.argv[1], (sys.argv[2], int(sys.argv[3])), time.monotonic() + float(sys.argv[4]), 0, []
    while time.monotonic() < until:
        if way == "hold" and n == 200:
            time.sleep(0.05)
            continue
        try:
            s = socket.create_connection(at, timeout=5)
        except OSError:
            continue
        n += 1
        try:
            s.sendall(say(way))
        except OSError:
            pass # it was closed meanwhile, as it should be
        if way == "hold":
            held.append(s)
        else:
            s.close()
            time.sleep(0.002)
    print(n)


main()
