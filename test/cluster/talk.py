"""Talks to another host over UDP: talk.py serve PORT | talk.py ask HOST PORT COUNT PAUSE_MS: how many answers came, and the
milliseconds of the fastest; a message every PAUSE_MS, after which an answer is too late."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import socket
import sys
import time


def serve(port):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("", port))
    while True:
        data, whence = s.recvfrom(100)
        s.sendto(data, whence)


def ask(host, port, count, pause):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    answers, best = 0, 1e9
    for i in range(count):
        t0 = time.monotonic()
        try:
            s.sendto(b"%d" % i, (host, port))
        except OSError: # the cable is out
            pass
        while True:
            left = t0 + pause / 1000 - time.monotonic()
            if left <= 0:
                break
            s.settimeout(left)
            try:
                data = s.recv(100)
            except OSError:
                break
            if data == b"%d" % i:
                answers, best = answers + 1, min(best, time.monotonic() - t0)
                break
        time.sleep(max(0, t0 + pause / 1000 - time.monotonic()))
    print(answers, "%.3f" % (best * 1000))


if sys.argv[1] == "serve":
    serve(int(sys.argv[2]))
else:
    ask(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]))
