#!/usr/bin/env python3
"""mpiexec --record and --replay: sums in the order in which messages come have the same bits again; departures, hangs, threads, cost."""
# run.py: timeout=240
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

# In each round every rank sends a number to every other, after a time that no two runs share, and folds what it gets into a sum that
# depends on the order.  How it receives changes from round to round.
PROGRAM = r"""
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
enum { WAYS = 16, MOST = 16 };
static int rank, n, polls;
static double sum;
static void fold(double v) { sum = sum * 1.0000000001 + v; }
static double in[MOST];
static MPI_Request q[MOST];
static MPI_Status st[MOST];
static MPI_Comm comm;
static void post(int source_any) { for (int i = 0, k = 0; k < n - 1; i++) if (i != rank) MPI_Irecv(&in[k], 1, MPI_DOUBLE, source_any ? MPI_ANY_SOURCE : i, MPI_ANY_TAG, comm, &q[k]), k++; }
static void get(const MPI_Status *s) { MPI_Recv(in, 1, MPI_DOUBLE, s->MPI_SOURCE, s->MPI_TAG, comm, MPI_STATUS_IGNORE); fold(in[0]); }
static void take(int way, MPI_Request *prepared)
{
    int left = n - 1, k, flag, done, which[MOST];
    MPI_Message m;
    MPI_Status s;
    switch (way) {
    case 0: while (left--) MPI_Recv(in, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE), fold(in[0]); break;
    case 1: for (post(1); left--;) MPI_Waitany(n - 1, q, &k, &s), fold(in[k] + s.MPI_SOURCE); break;
    case 2: for (post(1); left; ) { MPI_Testany(n - 1, q, &k, &flag, MPI_STATUS_IGNORE); if (flag) fold(in[k]), left--; else polls++; } break;
    case 3: for (post(1); left; left -= done) { MPI_Waitsome(n - 1, q, &done, which, MPI_STATUSES_IGNORE); fold(done); for (k = 0; k < done; k++) fold(in[which[k]]); } break;
    case 4: for (post(1); left; left -= done) { MPI_Testsome(n - 1, q, &done, which, st); if (!done) polls++; for (k = 0; k < done; k++) fold(in[which[k]] + st[k].MPI_SOURCE); } break;
    case 5: while (left--) MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &s), get(&s); break;
    case 6: while (left) { MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &s); if (flag) get(&s), left--; else polls++; } break;
    case 7: while (left--) MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &m, &s), MPI_Mrecv(in, 1, MPI_DOUBLE, &m, &s), fold(in[0]); break;
    case 8: while (left) { MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &m, &s); if (flag) MPI_Mrecv(in, 1, MPI_DOUBLE, &m, &s), fold(in[0]), left--; else polls++; } break;
    case 9: while (left--) MPI_Start(prepared), MPI_Wait(prepared, &s), fold(in[MOST - 1] + s.MPI_SOURCE); break;
    case 10: while (left--) { MPI_Irecv(in, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, q); do { MPI_Test(q, &flag, &s); polls += !flag; } while (!flag); fold(in[0]); } break;
    case 11: post(1); MPI_Waitall(n - 1, q, MPI_STATUSES_IGNORE); for (k = 0; k < n - 1; k++) fold(in[k]); break;
    case 12: for (post(0); left--;) MPI_Waitany(n - 1, q, &k, MPI_STATUS_IGNORE), fold(in[k]); break;
    case 13: /* one that nobody sends to is cancelled */
        MPI_Irecv(&in[n], 1, MPI_DOUBLE, MPI_ANY_SOURCE, 99, comm, &q[n]), MPI_Cancel(&q[n]), MPI_Wait(&q[n], &s);
        MPI_Test_cancelled(&s, &flag), fold(flag);
        post(1);
        do { MPI_Testall(n - 1, q, &flag, st); polls += !flag; } while (!flag);
        for (k = 0; k < n - 1; k++) fold(in[k] + st[k].MPI_SOURCE);
        break;
    case 14: while (left--) { MPI_Irecv_c(in, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, q); do { MPI_Request_get_status(*q, &flag, &s); polls += !flag; } while (!flag); MPI_Wait(q, MPI_STATUS_IGNORE); fold(in[0] + s.MPI_SOURCE); } break;
    case 15: /* two prepared at once */
        for (; left >= 2; left -= 2) { MPI_Startall(2, prepared); for (int i = 0; i < 2; i++) MPI_Waitany(2, prepared, &k, &s), fold(in[MOST - 1 - k] + k); }
        if (left) MPI_Recv_c(in, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE), fold(in[0]);
        break;
    }
}
int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 32;
    const char *what = argc > 2 ? argv[2] : "";
    struct timespec t;
    MPI_Request prepared[2], *sends;
    double *out;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n);
    clock_gettime(CLOCK_REALTIME, &t);
    srandom((unsigned)(t.tv_nsec ^ getpid() << 16));
    sends = malloc(sizeof *sends * (size_t)(rounds * n + 1)), out = malloc(sizeof *out * (size_t)(rounds + 1));
    for (int i = 0; i < 2; i++) MPI_Recv_init(&in[MOST - 1 - i], 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &prepared[i]);
    int ns = 0;
    for (int r = 0; r < rounds; r++) {
        out[r] = 1.0 / (3 + rank + 7 * r);
        for (int i = 1; i < n; i++) {
            if (random() % 3 == 0) usleep(random() % 300);
            MPI_Isend(&out[r], 1, MPI_DOUBLE, (rank + i) % n, r % 3, comm, &sends[ns++]);
        }
        if (strcmp(what, "step") == 0) MPI_Barrier(comm); /* no message overtakes a round */
        if (strcmp(what, "other") == 0 && rank == 1 && r == 16) { /* the third receive of the round is another */
            double x;
            for (int i = 0; i < n - 1; i++) MPI_Recv(&x, 1, MPI_DOUBLE, i < 2 ? MPI_ANY_SOURCE : 1, i < 2 ? MPI_ANY_TAG : 77, comm, MPI_STATUS_IGNORE);
        } else if (strcmp(what, "kind") == 0 && rank == 0 && r == 1) {
            take(3, prepared);
        } else {
            take(r % WAYS, prepared);
        }
        if (strcmp(what, "hang") == 0 && r == rounds - 2) {
            printf("%d %a %d\n", rank, sum, polls), fflush(stdout);
            if (rank == 0) MPI_Recv(in, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 55, comm, MPI_STATUS_IGNORE);
        }
        if (strcmp(what, "kill") == 0 && r == rounds - 2) {
            printf("%d %a %d\n", rank, sum, polls), fflush(stdout);
            MPI_Barrier(comm);
            if (rank == 0) usleep(100000), raise(SIGKILL);
        }
    }
    MPI_Waitall(ns, sends, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2; i++) MPI_Request_free(&prepared[i]);
    if (strcmp(what, "more") == 0 && rank == 0) MPI_Iprobe(MPI_ANY_SOURCE, 5, comm, &ns, MPI_STATUS_IGNORE);
    printf("%d %a %d\n", rank, sum, polls);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
"""


class Job:
    """One program and a folder for its record."""

    def __init__(self, prefix, exe, record):
        self.prefix, self.exe, self.record = prefix, exe, record

    def run(self, n, *args, options=(), timeout=60, fails=False):
        command = [self.prefix + "/bin/mpiexec", "--oversubscribe", "-n", str(n), *options, self.exe, *args]
        p = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
        assert (p.returncode != 0) == fails, "%s: %d\n%s%s" % (command, p.returncode, p.stdout, p.stderr)
        return "\n".join(sorted(p.stdout.splitlines())), p.stderr

    def recorded(self, n, *args, options=(), **more):
        shutil.rmtree(self.record, ignore_errors=True)
        return self.run(n, *args, options=("--record=" + self.record, *options), **more)

    def replayed(self, n, *args, options=(), **more):
        return self.run(n, *args, options=("--replay=" + self.record, *options), **more)


def check_same(job, n, options, times):
    was, said = job.recorded(n, "32", options=options)
    m = re.search(r"godwit record: (\d+) receives of any message, (\d+) tests, probes and waits: (\d+) bytes in " + job.record, said)
    assert m, said
    takes, calls, size = (int(g) for g in m.groups())
    assert takes >= 24 * n * (n - 1) and calls >= 10 * n * (n - 1) / 2, said
    assert size == sum(os.path.getsize(os.path.join(job.record, f)) for f in os.listdir(job.record))
    assert size - 32 * n < 5 * (takes + calls), "more than 5 bytes an event: " + said
    for i in range(times):
        now, said = job.replayed(n, "32", options=options)
        assert now == was, "replay %d of %d ranks %s differs:\n%s\nwas\n%s\n%s" % (i, n, options, now, was, said)
        assert "%d receives of any message, %d tests, probes and waits were repeated" % (takes, calls) in said, said
    return was


def check_departs(job):
    job.recorded(4, "32")
    _, said = job.replayed(4, "33")
    assert re.search(r"godwit replay: rank \d: .* the recorded run made \d+ receives", said) or "the recorded run had no such call" in said, said
    job.recorded(4, "32", "step")
    _, said = job.replayed(4, "31", "step")
    assert re.search(r"rank \d: the recorded run made \d+ receives, this one \d+\.", said), said
    job.recorded(4, "32")
    _, said = job.replayed(4, "32", "other", options=("--timeout", "3"), fails=True)
    assert re.search(r"rank 1: receive number \d+ took rank [023] \(tag [012]\) in the recorded run; it asks for rank 1 \(tag 77\) now\.", said), said
    _, said = job.replayed(4, "32", "kind")
    assert re.search(r"rank 0: call number 1 of those that depend on the order of messages was MPI_Waitany in the recorded run; it is MPI_Waitsome now", said), said
    _, said = job.replayed(4, "32", "more")
    assert re.search(r"rank 0: MPI_Iprobe or MPI_Improbe is called; the recorded run had no such call", said), said
    _, said = job.replayed(3, "32", fails=True)
    assert "of 4, not of rank" in said, said
    shutil.rmtree(job.record)
    _, said = job.replayed(4, "32", fails=True)
    assert re.search(r"cannot use .*rank\.\d: No such file", said), said


def check_hangs(job):
    for what, options in (("hang", ("--timeout", "2")), ("kill", ())):
        was, _ = job.recorded(4, "32", what, options=options, fails=True)
        assert len(was.splitlines()) == 4, was
        for _ in range(3):
            now, said = job.replayed(4, "32", what, options=options, fails=True)
            assert now == was, "up to the %s:\n%s\nwas\n%s\n%s" % (what, now, was, said)


def check_cost(job):
    """Sends do not go through the library; a receive that names its source costs a jump more."""
    lib = os.path.join(job.prefix, "lib", "libgodwit_replay.so")
    names = set(re.findall(r" T (MPI_\w+)", subprocess.run(["nm", "-D", lib], capture_output=True, text=True, check=True).stdout))
    assert "MPI_Recv" in names and not names & {"MPI_Send", "MPI_Isend", "MPI_Put", "MPI_Allreduce", "MPI_Mrecv"}, names


def main(prefix):
    with tempfile.TemporaryDirectory() as tmp:
        source, exe = os.path.join(tmp, "order.c"), os.path.join(tmp, "order")
        with open(source, "w", encoding="utf-8") as f:
            f.write(PROGRAM)
        subprocess.run([prefix + "/bin/mpicc", "-O1", source, "-o", exe], check=True)
        job = Job(prefix, exe, os.path.join(tmp, "record"))
        for n, options, times in ((2, (), 10), (3, (), 10), (5, (), 10), (8, (), 10), (3, ("--vnodes", "2"), 5), (5, ("--vnodes", "2"), 5)):
            was = check_same(job, n, options, times)
        assert any(job.run(5, "32")[0] != was for _ in range(5)), "the program does not depend on the order of messages: this tests nothing"
        check_departs(job)
        check_hangs(job)
        check_cost(job)


if __name__ == "__main__":
    signal.alarm(230)
    main(sys.argv[2])
