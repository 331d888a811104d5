#!/usr/bin/env python3
"""mpiexec --record: receives that are started are repeated by whichever call completes them, however many are under way; those that name
their source are kept in mind only where something may cancel them."""
# run.py: timeout=200
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from replay import Job  # noqa: E402

# Nothing here calls MPI_Cancel.  Ranks 1 and 2 send `of[phase]` messages each with the phase as tag, with pauses that no two runs share.
PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
enum { PHASES = 8, MOST = 6000 };
static const int of[PHASES] = {20, 150, 200, 60, MOST / 2, 2, 30, 25};
static int rank, at[MOST];
static long sum;
static int in[MOST][2], own[2];
static MPI_Request q[MOST], prepared;
static MPI_Status st[MOST];
static void fold(long v) { sum = (sum * 31 + v) % 1000000007; }
static void post(int i, int source, int phase) { MPI_Irecv(in[i], 1, MPI_INT, source, phase, MPI_COMM_WORLD, &q[i]); }
static void shuffle(int n) /* the same in each run */
{
    unsigned x = 12345;
    for (int i = 0; i < n; i++) at[i] = i;
    for (int i = n - 1; i > 0; i--) { x = x * 1103515245u + 12345u; int k = (int)(x >> 8) % (i + 1), t = at[i]; at[i] = at[k], at[k] = t; }
}
static void receive(int phase)
{
    static MPI_Request turned[MOST];
    int n = 2 * of[phase], flag = 0, rc;
    for (int i = 0; i < n; i++) { /* phase 2: the first name their source, and have their messages whatever comes first */
        int source = phase == 2 && i < of[2] / 2 ? 1 : phase == 7 ? 1 + i % 2 : MPI_ANY_SOURCE;
        post(i, source, phase);
    }
    switch (phase) {
    case 0: /* after a call that fails all are under way */
        q[n] = (MPI_Request)0;
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN), MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        rc = MPI_Waitall(n + 1, q, MPI_STATUSES_IGNORE);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL), MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        if (rc == MPI_SUCCESS || q[0] == MPI_REQUEST_NULL) printf("no error, or a dead handle\n");
        MPI_Waitall(n, q, MPI_STATUSES_IGNORE);
        break;
    case 1: case 2:
        shuffle(n);
        for (int i = 0; i < n; i++) turned[i] = q[at[i]];
        MPI_Waitall(n, turned, st);
        for (int i = 0; i < n; i++) { fold(st[i].MPI_SOURCE); if (turned[i] != MPI_REQUEST_NULL || st[i].MPI_SOURCE != in[at[i]][0]) printf("a wrong status\n"); }
        break;
    case 3: while (n--) { MPI_Wait(&q[n], n % 2 ? MPI_STATUS_IGNORE : st); fold(n % 2 ? 7 : st->MPI_SOURCE); if (q[n] != MPI_REQUEST_NULL) printf("a dead handle\n"); } break;
    case 4: /* more than have a place of their own */
        for (int i = 0; i < n; i += 2) MPI_Wait(&q[i], MPI_STATUS_IGNORE);
        MPI_Waitall(n, q, MPI_STATUSES_IGNORE);
        break;
    case 5: /* one message is too long for its receive, the others fit */
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        rc = MPI_Waitall(n, q, st);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        MPI_Error_class(rc, &flag);
        if (flag != MPI_ERR_IN_STATUS) printf("no error: %d\n", flag);
        for (int i = 0; i < n; i++) { MPI_Error_class(st[i].MPI_ERROR, &flag); if (flag != MPI_SUCCESS && flag != MPI_ERR_TRUNCATE) printf("error %d\n", flag); fold(st[i].MPI_SOURCE + (flag ? 100 : 0)); if (q[i] != MPI_REQUEST_NULL) printf("a dead handle\n"); }
        break;
    case 6: /* one was tested, one is prepared: neither is light */
        MPI_Wait(&q[0], st), fold(st->MPI_SOURCE), q[0] = prepared;
        MPI_Test(&q[1], &flag, st), fold(flag ? st->MPI_SOURCE : 9);
        MPI_Waitall(n, q, st);
        for (int i = 0; i < n; i++) fold(i == 1 && flag ? 0 : st[i].MPI_SOURCE);
        break;
    case 7: MPI_Waitall(n, q, MPI_STATUSES_IGNORE); break;
    }
    for (int i = 0; i < 2 * of[phase]; i++) fold(in[i][0] * 3 + in[i][1]);
}
int main(int argc, char **argv)
{
    struct timespec t;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    clock_gettime(CLOCK_REALTIME, &t), srandom((unsigned)(t.tv_nsec ^ getpid() << 16));
    if (rank == 0) MPI_Recv_init(own, 1, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &prepared), MPI_Start(&prepared);
    for (int phase = 0; phase < PHASES; phase++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) receive(phase);
        for (int i = 0; rank > 0 && i < of[phase]; i++) {
            int out[2] = {rank, i};
            if (random() % 8 == 0) usleep(random() % 60);
            MPI_Send(out, phase == 5 && rank == 1 && i == 1 ? 2 : 1, MPI_INT, 0, phase, MPI_COMM_WORLD);
            if (phase == 6 && i == 3 && rank == 2) MPI_Send(out, 1, MPI_INT, 0, 99, MPI_COMM_WORLD);
        }
        if (rank == 0) printf("0 %d %ld\n", phase, sum);
    }
    if (rank == 0) MPI_Request_free(&prepared);
    MPI_Finalize();
    return 0;
}
"""
ANY = 2 * (20 + 150 + 200 + 60 + 3000 + 2 + 30) - 100 + 1  # in phase 2 a hundred name their source; one is prepared

# A library that cancels; the program is linked with it, or opens it when it has started its receives.
LIBRARY = "#include <mpi.h>\nint cancel_it(MPI_Request *q);\nint cancel_it(MPI_Request *q) { return MPI_Cancel(q); }\n"
CANCELS = r"""
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#ifdef LINKED
int cancel_it(MPI_Request *q);
#endif
int main(int argc, char **argv)
{
    int rank, flag, in = 0, other;
    MPI_Request q;
    MPI_Status s;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = argc > 2 && strcmp(argv[2], "other") == 0;
    for (int i = 0; i < 20; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1) MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_WORLD), MPI_Send(&i, 1, MPI_INT, 0, 1000, MPI_COMM_WORLD);
        if (rank != 0) continue;
        MPI_Irecv(&in, 1, MPI_INT, 1, i, MPI_COMM_WORLD, &q);
        int is_late = i % 2 != other; /* it has taken the message, which the second one follows */
        if (is_late) MPI_Recv(&flag, 1, MPI_INT, 1, 1000, MPI_COMM_WORLD, &s);
        else if (i % 4 < 2) usleep(1000);
#ifdef LINKED
        cancel_it(&q);
#else
        int (*cancel)(MPI_Request *) = (int (*)(MPI_Request *))dlsym(dlopen(argv[1], RTLD_NOW), "cancel_it");
        if (!cancel) return 1;
        cancel(&q);
#endif
        if (!is_late) MPI_Recv(&flag, 1, MPI_INT, 1, 1000, MPI_COMM_WORLD, &s);
        MPI_Wait(&q, &s), MPI_Test_cancelled(&s, &flag);
        if (flag) MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &s);
        printf("0 %d %d %d\n", i, flag, in);
    }
    MPI_Finalize();
    return 0;
}
"""


def compiled(prefix, tmp, name, text, *options):
    path = os.path.join(tmp, name)
    with open(path + ".c", "w", encoding="utf-8") as f:
        f.write(text)
    subprocess.run([prefix + "/bin/mpicc", "-O1", path + ".c", "-o", path, *options], check=True)
    return path


def check_completed(job):
    for options in ((), ("--vnodes", "3")):
        was, said = job.recorded(3, options=options)
        assert len(was.splitlines()) == 8, was
        events = re.search(r"godwit record: (%d receives of any message, [01] tests, probes and waits)" % ANY, said)
        assert events, said
        for _ in range(6):
            now, said = job.replayed(3, options=options)
            assert now == was, "%s\nwas\n%s\n%s" % (now, was, said)
            assert events[1] + " were repeated" in said, said
    assert any(job.run(3)[0] != was for _ in range(5)), "the program does not depend on the order of messages: this tests nothing"


def check_cancels(prefix, tmp, record):
    library = compiled(prefix, tmp, "libcancel.so", LIBRARY, "-shared", "-fPIC")
    direct = ("-Dcancel_it=MPI_Cancel",)
    for how in ((library, "-Wl,-rpath," + tmp), direct, (*direct, "-fno-pie", "-no-pie"), (*direct, "-fno-plt"), (*direct, "-Wl,--hash-style=sysv")):
        job = Job(prefix, compiled(prefix, tmp, "linked", CANCELS, "-DLINKED", *how), record)
        was, _ = job.recorded(2, library, "one")
        assert len({line.split()[2] for line in was.splitlines()}) == 2, "all were cancelled, or none: " + was
        for order in ("one", "other", "other"):
            now, said = job.replayed(2, library, order)
            assert now == was, "%s %s:\n%s\nwas\n%s\n%s" % (how, order, now, was, said)
    job = Job(prefix, compiled(prefix, tmp, "opens", CANCELS, "-ldl"), record)
    _, said = job.recorded(2, library, "one")
    assert said.count("MPI_Cancel is called by what was loaded after MPI_Init") == 1, said


def main(prefix):
    with tempfile.TemporaryDirectory() as tmp:
        record = os.path.join(tmp, "record")
        check_completed(Job(prefix, compiled(prefix, tmp, "requests", PROGRAM), record))
        check_cancels(prefix, tmp, record)


if __name__ == "__main__":
    main(sys.argv[2])
