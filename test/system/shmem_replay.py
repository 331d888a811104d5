#!/usr/bin/env python3
"""mpiexec --record and --replay of OpenSHMEM: tests say no as often and yes for the same words, waits for one or some of several end as in the
recorded run, whoever stores first now; beside MPI; a rank that departs says so."""
# run.py: timeout=120 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import re
import subprocess
import sys
import tempfile

# WAY KINDS: PEs store to PE 0 one after the other, up or down, for each of the first so many kinds of calls; PE 0 prints what it was told.
PROGRAM = r"""
#include <shmem.h>
#ifdef MPI
#include <mpi.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
enum { KINDS = 8, MOST = 8 };
static long words[KINDS][MOST], lock;
static int me, pes, way;
static unsigned slow;
static size_t some[MOST];
static void ask(int kind)
{
    int left[MOST] = {1}, n = pes - 1; /* word 0 is nobody's */
    long noes = 0, ones[MOST] = {1, 1, 1, 1, 1, 1, 1, 1}, *at = words[kind];
    while (n > 0) {
        size_t is = 0, k = SIZE_MAX;
        if (kind == 0) k = shmem_long_test_any(at, (size_t)pes, left, SHMEM_CMP_EQ, 1);
        if (kind == 1) k = shmem_long_wait_until_any(at, (size_t)pes, left, SHMEM_CMP_EQ, 1);
        if (kind == 2) k = shmem_long_test_any_vector(at, (size_t)pes, left, SHMEM_CMP_EQ, ones);
        if (kind == 3) is = shmem_long_wait_until_some(at, (size_t)pes, some, left, SHMEM_CMP_EQ, 1);
        if (kind == 4) is = shmem_long_test_some_vector(at, (size_t)pes, some, left, SHMEM_CMP_EQ, ones);
        if (kind == 5 && shmem_long_test(&at[1], SHMEM_CMP_NE, 0)) n = 0;
        if (kind == 6 && shmem_long_test_all(at, (size_t)pes, left, SHMEM_CMP_EQ, 1)) n = 0;
        if (kind == 7 && !shmem_test_lock(&lock)) n = 0, shmem_clear_lock(&lock);
        if (k != SIZE_MAX) some[0] = k, is = 1;
        if (is == 0 && n) noes++;
        for (size_t i = 0; i < is; i++) left[some[i]] = 1, n--, printf(" %zu", some[i]);
        if (is > 1) printf("(%zu)", is);
        if (kind == 1 || kind == 3) usleep(30000 * slow); /* the others come meanwhile */
    }
    printf(" noes %ld\n", noes);
}
int main(int argc, char **argv)
{
    int kinds = argc > 2 ? atoi(argv[2]) : KINDS;
    shmem_init();
#ifdef MPI
    MPI_Init(NULL, NULL);
#endif
    slow = (unsigned)atoi(getenv("SLOW"));
    me = shmem_my_pe(), pes = shmem_n_pes(), way = argv[1][0] == 'u';
    for (int kind = 0; kind < kinds; kind++) {
        if (kind == 7 && me == 1) shmem_set_lock(&lock);
        shmem_barrier_all();
        if (me == 0) {
            printf("%d:", kind);
            ask(kind);
        } else {
            usleep(20000 * slow * (unsigned)(way ? me : pes - me));
            shmem_long_p(&words[kind][me], 1, 0);
            if (kind == 7 && me == 1) shmem_clear_lock(&lock);
        }
        shmem_barrier_all();
    }
#ifdef MPI
    if (me == 0) {
        for (int i = 1, from; i < pes; i++) {
            MPI_Recv(&from, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            printf(" from %d", from);
        }
    } else {
        usleep(20000 * slow * (unsigned)(way ? me : pes - me));
        MPI_Send(&me, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
#endif
    shmem_finalize();
    return 0;
}
"""
PES = 4
TIMES = (1, 4, 16) # how much slower PEs are, where a machine that others use disturbs their order


class Job:
    def __init__(self, prefix, folder):
        self.prefix, self.folder = prefix, folder

    def build(self, name, *flags):
        with open(self.folder + "/p.c", "w", encoding="utf-8") as f:
            f.write(PROGRAM)
        subprocess.run([self.prefix + "/bin/oshcc", "-O1", *flags, "p.c", "-o", name], check=True, cwd=self.folder)
        return "./" + name

    def run(self, words, *options):
        command = [self.prefix + "/bin/oshrun", "--oversubscribe", *options, "-n", str(PES)] + words
        p = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd=self.folder)
        assert p.returncode == 0, "%s: %d\n%s" % (command, p.returncode, p.stderr)
        return p.stdout, p.stderr


def order(text):
    """What was told, without how often the answer was no."""
    return re.sub(r" noes \d+|\(\d+\)", "", text)


def main(prefix):
    with tempfile.TemporaryDirectory() as folder:
        job = Job(prefix, folder)
        for exe in (job.build("alone"), job.build("both", "-DMPI")):
            for slow in TIMES:
                os.environ["SLOW"] = str(slow)
                first, said = job.run([exe, "up"], "--record")
                other, _ = job.run([exe, "down"])
                if order(other) != order(first):
                    break
            assert order(other) != order(first), "the other way is no other way: %s" % other
            assert re.search(r"^0: .* noes [1-9]", first, re.M) and re.search(r"^5: noes [1-9]", first, re.M), first
            assert "not seen" not in said, said
            m = re.search(r"godwit record: (\d) receives of any message, (\d+) tests, probes and waits: \d+ bytes in ", said)
            assert m and int(m.group(1)) == (3 if exe == "./both" else 0) and int(m.group(2)) >= 12, said
            for _ in range(2):
                again, said = job.run([exe, "down"], "--replay")
                assert again == first, "recorded:\n%s\nrepeated:\n%s\n%s" % (first, again, said)
                assert "godwit replay: %s receives of any message, %s tests, probes and waits were repeated from " % m.groups() in said, said
        # A program that does less than the recorded run.
        _, said = job.run(["./alone", "up", "2"], "--replay")
        assert re.search(r"godwit replay: rank 0: the recorded run .* The rank goes on without the record\.", said), said
        # No record: the job ends.
        p = subprocess.run([prefix + "/bin/oshrun", "--replay=" + folder, "-n", "2", "./alone", "up"], capture_output=True, text=True, timeout=60,
                           check=False, cwd=folder)
        assert p.returncode != 0 and "godwit replay: rank" in p.stderr and "cannot use" in p.stderr, p.stderr


if __name__ == "__main__":
    if not sys.argv[2] or not os.path.exists(sys.argv[2] + "/bin/oshcc"):
        print("skipped: needs an installation")
        sys.exit(77)
    main(os.path.abspath(sys.argv[2]))
