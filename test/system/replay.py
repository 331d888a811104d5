#!/usr/bin/env python3
"""mpiexec --record and --replay: sums in the order in which messages come have the same bits again; departures, hangs, errors,
cancels, damaged records, other ABIs, cost."""
# run.py: timeout=240
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import re
import shutil
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
        if (strcmp(what, "step") == 0) MPI_Barrier(comm); /* nor does one of the next */
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


# One thing each.  With the second argument "other" messages come in another order than with "one".
CASES = r"""
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static int rank, n, is_other;
static MPI_Status s;
static MPI_Request q[8];
static int in[8][4];
static void barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }
static void later(int us) { if (us) usleep((useconds_t)us); }
static void send(int to, int count, int tag) { int out[4] = {rank, tag, rank, tag}; MPI_Send(out, count, MPI_INT, to, tag, MPI_COMM_WORLD); }
/* Ranks 1 and 2 send to rank 0, one after the other. */
static void turns(int count) { barrier(); if (rank == 1 || rank == 2) later((rank == 2) != is_other ? 60000 : 0), send(0, count, 1); }
static void any(int i, int count) { MPI_Irecv(in[i], count, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &q[i]); }
static void truncate_some(void)
{
    int rc, k, flag, done, which[4];
    MPI_Status all[4];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int way = 0; way < 7; way++) {
        if (rank == 0) any(0, way % 2 ? 1 : 2), any(1, 1);
        turns(2);
        for (int i = 0; rank == 0 && i < 2; i++) {
            s.MPI_SOURCE = -7, flag = 0, k = i, rc = MPI_SUCCESS;
            if (way == 0) rc = MPI_Wait(&q[i], &s);
            if (way == 1) do rc = MPI_Test(&q[i], &flag, &s); while (rc == MPI_SUCCESS && !flag);
            if (way == 2) rc = MPI_Waitany(2, q, &k, &s);
            if (way == 3) do rc = MPI_Testany(2, q, &k, &flag, &s); while (rc == MPI_SUCCESS && !flag);
            if (way == 4) rc = MPI_Waitsome(2, q, &done, which, all);
            if (way == 5) do rc = MPI_Testsome(2, q, &done, which, all); while (rc == MPI_SUCCESS && !done);
            if (way == 6) rc = MPI_Waitall(2, q, all);
            if (way > 3 && way < 6 && done == 2) i = 1;
            if (way > 3) for (k = 0; k < (way == 6 ? 2 : done > 0 ? done : 0); k++) printf("0 %d: %d %d\n", way, all[k].MPI_SOURCE, way == 6 || rc ? all[k].MPI_ERROR : 0);
            else printf("0 %d: %d of %d is %d\n", way, rc, s.MPI_SOURCE, k);
            if (way == 6) i = 1;
        }
        for (int i = 0; rank == 0 && i < 2; i++) if (q[i] != MPI_REQUEST_NULL) printf("0 %d: a dead handle\n", way), exit(1);
    }
}
static void cancel(void)
{
    int flag;
    for (int i = 0; i < 60; i++) {
        barrier();
        if (rank == 1) later(1000), send(0, 1, i), send(0, 1, 1000 + i);
        if (rank != 0) continue;
        int source = i % 2 ? 1 : MPI_ANY_SOURCE;
        if (i % 3 == 0) { MPI_Recv_init(in[0], 1, MPI_INT, source, i, MPI_COMM_WORLD, q), MPI_Start(q); } else MPI_Irecv(in[0], 1, MPI_INT, source, i, MPI_COMM_WORLD, q);
        int is_late = i / 2 % 2 != is_other; /* it has taken the message, which the second one follows */
        if (is_late) MPI_Recv(in[1], 1, MPI_INT, 1, 1000 + i, MPI_COMM_WORLD, &s);
        MPI_Cancel(q);
        if (!is_late) MPI_Recv(in[1], 1, MPI_INT, 1, 1000 + i, MPI_COMM_WORLD, &s);
        MPI_Wait(q, &s), MPI_Test_cancelled(&s, &flag);
        if (i % 3 == 0) MPI_Request_free(q);
        if (flag) MPI_Recv(in[0], 1, MPI_INT, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &s);
        printf("0 %d %d %d\n", i, flag, in[0][0]);
    }
}
static void prepared(void)
{
    MPI_Datatype pair;
    MPI_Comm comm;
    int k, flag, done, which[2], left;
    MPI_Status all[2];
    MPI_Type_vector(2, 1, 2, MPI_INT, &pair), MPI_Type_commit(&pair), MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < 2; i++) MPI_Recv_init(in[i], 1, pair, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &q[i]);
    for (int round = 0; round < 9; round++) {
        barrier();
        if (rank == 1 || rank == 2) { int out[2] = {rank, round}; later((rank == 2) != (is_other ^ round % 2) ? 20000 : 0), MPI_Send(out, 2, MPI_INT, 0, round, comm); }
        if (round == 0) MPI_Type_free(&pair);
        if (rank != 0) continue;
        MPI_Startall(2, q);
        for (left = 2; left; left--) {
            if (round % 3 == 0) { do MPI_Request_get_status_any(2, q, &k, &flag, &s); while (!flag); }
            if (round % 3 == 1) { do MPI_Request_get_status_some(2, q, &done, which, all); while (!done); k = which[0], s = all[0]; }
            if (round % 3 == 2) MPI_Waitany(2, q, &k, &s); else MPI_Wait(&q[k], &s);
            printf("0 %d: %d %d %d %d\n", round, k, s.MPI_SOURCE, in[k][0], in[k][2]);
        }
    }
    if (rank == 0) { /* the last messages are received where the communicator has no name any more */
        MPI_Comm gone = comm;
        MPI_Comm_free(&gone);
        MPI_Startall(2, q);
    } else {
        later((rank == 2) != is_other ? 20000 : 0);
        int out[2] = {rank, 99};
        if (rank < 3) MPI_Send(out, 2, MPI_INT, 0, 99, comm);
        MPI_Comm_free(&comm);
    }
    for (int i = 0; rank == 0 && i < 2; i++) MPI_Wait(&q[i], &s), printf("0 last %d\n", s.MPI_SOURCE), MPI_Request_free(&q[i]);
}
int main(int argc, char **argv)
{
    const char *what = argv[1];
    struct timespec t;
    MPI_Session session;
    if (strcmp(what, "session") == 0) {
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session), MPI_Session_finalize(&session);
        return 0;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &n);
    is_other = strcmp(argv[2], "other") == 0;
    clock_gettime(CLOCK_REALTIME, &t), srandom((unsigned)(t.tv_nsec ^ getpid() << 16));
    if (strcmp(what, "truncate") == 0) truncate_some();
    if (strcmp(what, "cancel") == 0) cancel();
    if (strcmp(what, "prepared") == 0) prepared();
    if (strcmp(what, "kill") == 0) { /* the first receive takes a message that the program never sees */
        if (rank == 0) any(0, 1), any(1, 1);
        turns(1);
        if (rank == 0) MPI_Wait(&q[1], &s), printf("0 %d\n", s.MPI_SOURCE), fflush(stdout), later(100000), raise(SIGKILL);
        later(2000000);
    }
    if (strcmp(what, "both") == 0 || strcmp(what, "replace") == 0) { /* so does that of a call that sends, too */
        int out[4] = {rank, 7, rank, 7}, *data = *what == 'b' ? out : memcpy(in[0], out, sizeof out);
        if (rank == 0) {
            if (*what == 'b') MPI_Isendrecv(out, 2, MPI_INT, 1, 5, in[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &q[0]);
            else MPI_Isendrecv_replace(data, 2, MPI_INT, 1, 5, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &q[0]);
            any(1, 1);
        }
        if (rank == 1) MPI_Recv(in[1], 4, MPI_INT, 0, 5, MPI_COMM_WORLD, &s), MPI_Get_count(&s, MPI_INT, &n), printf("1 %d: %d %d\n", n, in[1][0], in[1][1]), fflush(stdout);
        turns(1);
        if (rank == 0) MPI_Wait(&q[1], &s), printf("0 %d\n", s.MPI_SOURCE), fflush(stdout), later(100000), raise(SIGKILL);
        later(2000000);
    }
    if (strcmp(what, "free") == 0) {
        if (rank == 0) any(0, 1), MPI_Request_free(&q[0]);
        turns(1);
        if (rank == 0) MPI_Recv(in[1], 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &s);
        if (rank == 1) send(0, 1, 2); /* behind what the freed one takes */
        if (rank == 0) MPI_Recv(in[3], 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &s);
        if (rank == 0) any(2, 1), MPI_Cancel(&q[2]), MPI_Wait(&q[2], &s), printf("0 %d %d\n", in[0][0], in[1][0]);
    }
    if (strcmp(what, "repeat") == 0)
        for (int i = 0, flag; i < 20000; i++) {
            if (rank == 1) send(0, 1, 3); else if (rank == 0) MPI_Recv(in[0], 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &s);
            if (rank == 0 && i > 19900) MPI_Iprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &flag, &s); /* no */
        }
    if (strcmp(what, "steps") == 0) /* every second one is of any source, of a high tag, behind a probe now and then */
        for (int i = 0; i < 3000; i++)
            if (rank == 1) send(0, 1, 100);
            else if (rank == 0) { if (i % 1000 == 999) MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s); MPI_Recv(in[0], 1, MPI_INT, i % 2 ? MPI_ANY_SOURCE : 1, 100, MPI_COMM_WORLD, &s); }
    if (strcmp(what, "cut") == 0) { /* somebody shortens the record, after which so many receives come, each of another tag */
        char path[4096];
        snprintf(path, sizeof path, "%s/rank.0", getenv("GODWIT_RECORD"));
        for (int i = 0, more = atoi(argv[2]); i < 100 + more; i++) {
            if (rank == 0 && i == 99 && (argc < 4 || argv[3][0] != 'x' ? truncate(path, argc > 3 ? atoi(argv[3]) : 0) : unlink(path)) != 0) MPI_Abort(MPI_COMM_WORLD, 3);
            if (rank == 1) send(0, 1, 100 + i % 7); else if (rank == 0) MPI_Recv(in[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
        }
        if (rank == 0) printf("0 %d\n", s.MPI_TAG);
    }
    if (strcmp(what, "some") == 0) { /* calls for a record that lies */
        if (rank == 0) any(0, 1), any(1, 1);
        turns(1);
        for (int left = 2, done, which[2]; rank == 0 && left; left -= done) MPI_Waitsome(2, q, &done, which, MPI_STATUSES_IGNORE);
        if (rank == 0) printf("0 %d\n", in[0][0] + in[1][0]);
    }
    MPI_Finalize();
    return 0;
}
"""


LIMITS = ("3", "10", "40")  # seconds for a job that hangs: on a busy machine its ranks come to that later


class Job:
    """One program and a folder for its record."""

    def __init__(self, prefix, exe, record):
        self.prefix, self.exe, self.record = prefix, exe, record

    def run(self, n, *args, options=(), timeout=60, fails=False):
        command = [self.prefix + "/bin/mpiexec", "--oversubscribe", "-n", str(n), *options, self.exe, *args]
        p = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
        assert fails is None or (p.returncode != 0) == fails, "%s: %d\n%s%s" % (command, p.returncode, p.stdout, p.stderr)
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
    asks = r"rank 1: receive number \d+ took rank [023] \(tag [012]\) in the recorded run; it asks for rank 1 \(tag 77\) now\."
    for seconds in LIMITS:
        _, said = job.replayed(4, "32", "other", options=("--timeout", seconds), fails=True, timeout=100)
        if re.search(asks, said):
            break
    assert re.search(asks, said), said
    _, said = job.replayed(4, "32", "kind")
    assert re.search(r"rank 0: call number 1 of those that depend on the order of messages was MPI_Waitany in the recorded run; it is MPI_Waitsome now", said), said
    _, said = job.replayed(4, "32", "more")
    assert re.search(r"rank 0: MPI_Iprobe or MPI_Improbe is called; the recorded run had no such call", said), said
    _, said = job.replayed(3, "32", fails=True)
    assert "of 4, not of rank" in said and ": start as many ranks as were recorded" in said, said
    shutil.rmtree(job.record)
    _, said = job.replayed(4, "32", fails=True)
    assert re.search(r"there is no folder .*\(No such file", said), said
    os.mkdir(job.record, 0o700)
    _, said = job.replayed(4, "32", fails=True)
    assert re.search(r"cannot use .*rank\.\d: No such file", said), said


def check_hangs(job):
    def until_all_hang(run, what):
        for seconds in LIMITS:
            printed, said = run(4, "32", what, options=("--timeout", seconds), fails=True, timeout=100)
            if len(printed.splitlines()) == 4:
                break
        return printed, said

    for what in ("hang", "kill"):
        was, _ = until_all_hang(job.recorded, what)
        assert len(was.splitlines()) == 4, was
        for _ in range(3):
            now, said = until_all_hang(job.replayed, what)
            assert now == was, "up to the %s:\n%s\nwas\n%s\n%s" % (what, now, was, said)


def check_cases(job):
    for what, n, fails in (("truncate", 3, False), ("cancel", 2, False), ("prepared", 3, False), ("free", 3, False), ("kill", 3, True), ("both", 3, True), ("replace", 3, True)):
        was, _ = job.recorded(n, what, "one", fails=fails)
        assert was, what
        for order in ("one", "other", "other"):
            now, said = job.replayed(n, what, order, fails=fails, options=("--timeout", "30"))
            assert now == was, "%s %s:\n%s\nwas\n%s\n%s" % (what, order, now, was, said)
            assert fails or "were repeated" in said, said
    _, said = job.recorded(2, "repeat", "one")
    assert re.search(r" 20000 receives .* (\d+) bytes", said) and os.path.getsize(job.record + "/rank.0") < 32 + 32, said
    _, said = job.replayed(2, "repeat", "one")
    assert " 20000 receives of any message, 0 tests, probes and waits were repeated" in said, said
    _, said = job.recorded(2, "steps", "one")
    assert " 1500 receives of any message, 3 tests" in said and os.path.getsize(job.record + "/rank.0") < 32 + 3 * 20, said
    _, said = job.replayed(2, "steps", "one")
    assert " 1500 receives of any message, 3 tests, probes and waits were repeated" in said, said
    _, said = job.recorded(3, "session", "one")
    assert said.count("the program has begun with a session: nothing is recorded unless it calls MPI_Init") == 1, said


def check_cut(job):
    """Somebody shortens a record that is written: the rank says so once and goes on, and what is there is none."""
    for more, left in (("0", "0"), ("50000", "0"), ("400000", "0"), ("50000", "8000"), ("0", "1000000")):
        printed, said = job.recorded(2, "cut", more, left)
        assert printed == "0 %d" % (100 + (99 + int(more)) % 7), printed
        assert said.count("rank 0: somebody has shortened the file of the record") == 1, said
        assert os.path.getsize(job.record + "/rank.0") == int(left), said
    _, said = job.replayed(2, "cut", "0", fails=True)
    assert "rank.0: " in said and "cannot use" in said, said
    for more in ("0", "50000"): # and when it was removed, nobody is told of bytes in it
        printed, said = job.recorded(2, "cut", more, "x")
        assert printed == "0 %d" % (100 + (99 + int(more)) % 7), printed
        assert said.count("rank 0: somebody has removed the file of the record; there will be none") == 1, said
        assert not os.path.exists(job.record + "/rank.0"), said


def put(v):
    b = b""
    while v > 127:
        b, v = b + bytes([v & 127 | 128]), v >> 7
    return b + bytes([v])


def sum_of(b):
    s = len(b)
    for i in range(0, len(b), 8):
        s = (s ^ int.from_bytes(b[i:i + 8], "little")) * 0x9E3779B97F4A7C15 % 2**64
        s ^= s >> 32
    return bytes([1 << 2 | REPEAT]) + (s >> 32).to_bytes(4, "little")


def ended(events, receives):
    """As a record that was closed ends."""
    whole = events + put(receives << 2 | END) + put(0)
    return whole + sum_of(whole)


TAKE, CALL, REPEAT, END, WAITSOME, WAITANY = 0, 1, 2, 3, 4, 2


def take(step, source, tag):
    return put(2 * step << 2 | TAKE) + put(2 * source) + put(2 * tag)


def some(kind, *indices):
    return put(kind << 2 | CALL) + put(2 * len(indices)) + b"".join(put(i) for i in indices)


def check_damage(job):
    """What no recording writes is refused, or departed from, at once."""
    job.recorded(3, "some", "one")
    path = job.record + "/rank.0"
    with open(path, "rb") as f:
        head = f.read(24)
        head = head[:12] + bytes(4) + head[16:]

    def replayed(events, fails, used=None):
        with open(path, "wb") as f:
            f.write(head + (len(events) if used is None else used).to_bytes(8, "little") + events)
        now, said = job.replayed(3, "some", "one", fails=fails, timeout=30)
        assert fails or now == "0 3", now
        return said

    good = take(1, 1, 1) + take(1, 2, 1)
    assert "were repeated" in replayed(ended(good + some(WAITSOME, 0) + some(WAITSOME, 1), 2), False)
    for bad in (good + bytes([REPEAT]) + put(1 << 62), good + bytes([REPEAT, 0x81]), bytes([REPEAT, 1]) + good, bytes(9), good + some(WAITANY, 0, 1),
                good + put(7 << 2 | CALL), good + some(WAITSOME), good + put(WAITSOME << 2 | CALL) + put(2 << 31) + b"x", put(3 << 2 | TAKE) + b"\0\0"):
        said = replayed(bad, True)
        assert "damaged: there is no event at byte" in said, (bad, said)
    assert "shorter than its head says" in replayed(good, True, 1 << 40)
    said = replayed(ended(good + some(WAITSOME, 0), 2)[:-5] + sum_of(good), True)
    assert "damaged: the bytes from 32 on are not those that were written" in said, said
    check_unsummed(job, path, head, good + some(WAITSOME, 0) + some(WAITSOME, 1))
    check_bytes(job)
    for bad in (some(WAITSOME, 0, 0), some(WAITSOME, 0, 1, 0), some(WAITSOME, 2), some(WAITSOME, 0, 1, 2, 3)):
        said = replayed(good + bad, False)
        assert "the list has no such request now" in said, said
    said = replayed(good + some(WAITSOME, 0) + some(WAITSOME, 1) + bytes([REPEAT]) + put(1 << 55), False)
    assert "had more tests" in said, said
    said = replayed(take(1, 1, 1) + take(9, 1, 1) + bytes([REPEAT]) + put(1 << 50) + some(WAITSOME, 0), False)
    assert "rank 0" in said, said


def check_bytes(job):
    """Of a record each byte is what was written: one that is another is found before anything is repeated, and the place is named."""
    job.recorded(3, "some", "one")
    path = job.record + "/rank.0"
    with open(path, "rb") as f:
        whole = f.read()
    for at in list(range(0, 32, 3)) + list(range(32, len(whole))):
        for bit in (1, 128) if at >= 32 else (1,):
            with open(path, "wb") as f:
                f.write(whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1:])
            _, said = job.replayed(3, "some", "one", fails=True, timeout=30)
            assert "it is no record" in said or re.search(r"damaged: .*(byte \d|bytes from \d|first 32 bytes|shorter)", said), (at, said)
    with open(path, "wb") as f:
        f.write(whole[:-3])
    said = job.replayed(3, "some", "one", fails=True, timeout=30)[1]
    assert "shorter than its head says: it ends at byte %d, not %d" % (len(whole) - 3, len(whole)) in said, said
    check_more(job, path, whole)


def check_more(job, path, whole):
    """Nor is there anything before a record or behind it: one that is closed, or of a process that was killed."""
    end, unclosed = len(whole), whole[:12] + bytes(4) + whole[16:]
    killed = unclosed + b"\1\2\0\3" + bytes((1 << 20) - end - 4)
    behind = "the bytes from %d on are none of those that were written"
    for name, is_now, place in (("a byte", whole + b"x", behind % end), ("zeros", whole + bytes(9), behind % end), ("twice", 2 * whole, behind % end),
                                ("before", b"x" + whole, "begins at byte 1, behind something else"),
                                ("killed and one more", killed + whole, behind % (1 << 20)), ("two killed", 2 * killed, behind % (1 << 20)),
                                ("killed, and written to", killed[:-1] + b"x", behind % ((1 << 20) - 1))):
        with open(path, "wb") as f:
            f.write(is_now)
        said = job.replayed(3, "some", "one", fails=True, timeout=30)[1]
        assert "it is damaged" in said and place in said, (name, said)
    for is_now in (killed, unclosed, killed + bytes(5)):
        with open(path, "wb") as f:
            f.write(is_now)
        assert "damaged" not in job.replayed(3, "some", "one", timeout=30)[1]


def check_unsummed(job, path, head, events):
    """Of a process that was killed the end has no sum, and other events may stand there than were written: it is said what is done with which bytes."""
    words = ("godwit replay: %s was not closed, as its process was killed: its bytes from 32 to %d have no checksum; they are repeated as they stand\n" %
             (path, 32 + len(events)))
    for at in range(-1, len(events)):
        now = bytes(b ^ (2 if i == at else 0) for i, b in enumerate(events))
        with open(path, "wb") as f:
            f.write(head + len(now).to_bytes(8, "little") + now + bytes(4096))
        said = job.replayed(3, "some", "one", options=("--timeout", "3") if at >= 0 else (), fails=None if at >= 0 else False)[1]
        assert said.count(words) == 1 or (at >= 0 and "it is damaged" in said), (at, said)
    job.recorded(3, "some", "one")
    assert "checksum" not in job.replayed(3, "some", "one")[1]


def check_links(job):
    """A link that somebody else may have put there is not followed."""
    job.recorded(3, "some", "one")
    path, kept = job.record + "/rank.1", job.record + "/kept"
    with open(kept, "w", encoding="utf-8") as f:
        f.write("kept")
    os.unlink(path)
    os.symlink(kept, path)
    _, said = job.run(3, "some", "one", options=("--record=" + job.record,))
    assert re.search(r"rank 1: cannot write \S+/rank\.1: .*; nothing is recorded", said), said
    with open(kept, encoding="utf-8") as f:
        assert f.read() == "kept"


def check_others(job):
    """A program that was built with another library's header is not run with these wrappers."""
    for cc, name in (("mpicc.mpich", "MPICH"), ("mpicc.openmpi", "Open MPI")):
        if not shutil.which(cc):
            continue
        exe = job.exe + "." + cc
        subprocess.run([cc, "-x", "c", "-", "-o", exe], input="#include <mpi.h>\nint main(void) { MPI_Init(0, 0); return MPI_Finalize(); }\n", text=True, check=True)
        _, said = Job(job.prefix, exe, job.record).recorded(2, fails=True)
        assert "--record knows calls of the standard ABI, and %s was built with %s" % (exe, name) in said, said
        by_script = [job.prefix + "/bin/mpiexec", "-n", "1", "--record=" + job.record, "sh", "-c", "LD_LIBRARY_PATH=%s/lib/godwit/doors %s; exit $?" % (job.prefix, exe)]
        p = subprocess.run(by_script, capture_output=True, text=True, timeout=60, check=False)
        assert p.returncode and "it is for programs of the standard ABI, and this one runs on libmpi" in p.stderr, p


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
        cases = Job(prefix, os.path.join(tmp, "cases"), job.record)
        with open(cases.exe + ".c", "w", encoding="utf-8") as f:
            f.write(CASES)
        subprocess.run([prefix + "/bin/mpicc", "-O1", cases.exe + ".c", "-o", cases.exe], check=True)
        check_cases(cases)
        check_cut(cases)
        check_damage(cases)
        check_links(cases)
        check_others(cases)
        check_cost(job)


if __name__ == "__main__":
    main(sys.argv[2])
