"""Talks to another host over UDP: talk.py serve PORT FILE, which is there when it listens | talk.py ask HOST PORT COUNT PAUSE_MS: how many
answers came until a second after the last message, and the milliseconds of the fastest; a message every PAUSE_MS."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import socket
import sys
import time


def serve(port, path):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("", port))
    with open(path, "w", encoding="ascii"):
        pass
    while True:
        data, whence = s.recvfrom(100)
        s.sendto(data, whence)


def ask(host, port, count, pause):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sent, answers, best = [], set(), 1e9
    for i in range(count):
        sent.append(time.monotonic())
        try:
            s.sendto(b"%d" % i, (host, port))
        except OSError: # the cable is out
            pass
        until = sent[i] + (pause / 1000 if i + 1 < count else 1)
        while len(answers) < count and time.monotonic() < until:
            s.settimeout(max(1e-6, until - time.monotonic()))
            try:
                answer = int(s.recv(100))
            except OSError:
                continue
            answers.add(answer)
            best = min(best, time.monotonic() - sent[answer])
    print(len(answers), "%.3f" % (best * 1000))


if sys.argv[1] == "serve":
    serve(int(sys.argv[2]), sys.argv[3])
else:
    ask(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]))
