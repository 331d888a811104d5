#!/usr/bin/env python3
"""mpiexec --profile of OpenSHMEM: calls and bytes by families of functions, waiting apart, who accessed whom, beside MPI's messages in one
program, whichever of the two begins and ends first; the grid of the traffic and its order; the page; C++; teams' contexts; what goes past."""
# run.py: timeout=150 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import re
import subprocess
import sys
import tempfile

# ORDER PAUSE: who begins and ends first, M (MPI) or S, four letters; alone: no MPI.  PE 1 stores the word that the others wait for after
# PAUSE seconds.
PROGRAM = r"""
#include <mpi.h>
#include <shmem.h>
#include <stdlib.h>
#include <unistd.h>
static long word, sum, from = 3, lock;
static int numbers[1000];
static uint64_t flag;
static void begin(char c) { if (c == 'M') MPI_Init(NULL, NULL); else shmem_init(); }
static void end(char c) { if (c == 'M') MPI_Finalize(); else shmem_finalize(); }
int main(int argc, char **argv)
{
    int own[1000] = {0}, alone = argv[1][0] == 'a';
    const char *order = alone ? "S S " : argv[1];
    begin(order[0]);
    if (!alone) begin(order[1]);
    int me = shmem_my_pe(), pes = shmem_n_pes(), right = (me + 1) % pes;
    int *heap = shmem_malloc(4000);
    shmem_team_t twisted;
    shmem_ctx_t ctx;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 1, pes - 1, NULL, 0, &twisted); /* PE p is p - 1 there */
    if (me == 0) {
        shmem_int_put(numbers, own, 100, 1);            /* 400 */
        shmem_put64(heap, own, 20, 1);                  /* 160 */
        shmem_putmem(heap, own, 40, 2);                 /* 40 */
        for (int i = 0; i < 5; i++) shmem_long_p(&word, 0, 1);         /* 40 */
        shmem_int_iput(numbers, own, 2, 1, 10, 2);      /* 40 */
        shmem_int_put_nbi(numbers, own, 250, 2);        /* 1000 */
        shmem_int_get(own, numbers, 50, 2);             /* 200 from 2 */
        shmem_quiet();
    }
    if (me == 1) {
        shmem_team_create_ctx(twisted, 0, &ctx);
        shmem_ctx_putmem(ctx, heap, own, 300, 1);       /* to PE 2 of the world */
        shmem_ctx_long_atomic_add(ctx, &sum, 1, 1);     /* 8 */
        shmem_ctx_quiet(ctx);
        shmem_ctx_destroy(ctx);
        shmem_long_fadd(&sum, 2, 0);                    /* 8 */
        shmem_putmem_signal(heap, own, 24, &flag, 1, SHMEM_SIGNAL_SET, 2); /* 32 */
    }
    if (me == 2) shmem_signal_wait_until(&flag, SHMEM_CMP_EQ, 1);
    if (twisted != SHMEM_TEAM_INVALID) shmem_team_destroy(twisted);
    for (int i = 0; i < 4; i++) shmem_barrier_all();
    if (me == 1) {
        usleep((useconds_t)(1e6 * atof(argv[2])));
        for (int p = 0; p < pes; p++) shmem_long_atomic_set(&word, 7, p); /* 8 to each */
    }
    shmem_long_wait_until(&word, SHMEM_CMP_EQ, 7);
    shmem_set_lock(&lock);
    shmem_clear_lock(&lock);
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sum, &from, 1);
    shmem_sync_all();
    if (!alone && me == 0) MPI_Send(own, 1000, MPI_CHAR, 1, 5, MPI_COMM_WORLD);
    if (!alone && me == 1) MPI_Recv(own, 1000, MPI_CHAR, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    shmem_pcontrol(0);
    shmem_int_put(numbers, own, 1000, right);
    shmem_pcontrol(1);
    shmem_free(heap);
    if (!alone) end(order[2]);
    end(alone ? 'S' : order[3]);
    return 0;
}
"""
# What each family was called, and moved, in all; none: nothing that has bytes.
WANT = {"shmem_put": (4, 900), "shmem_p": (5, 40), "shmem_iput": (1, 40), "shmem_put_nbi": (1, 1000), "shmem_get": (1, 200),
        "shmem_atomic_add": (1, 8), "shmem_atomic_fetch_add": (1, 8), "shmem_put_signal": (1, 32), "shmem_atomic_set": (3, 24),
        "shmem_sum_reduce": (3, 24), "shmem_quiet": (2, 0), "shmem_malloc": (3, 0), "shmem_free": (3, 0), "shmem_clear_lock": (3, 0),
        "shmem_barrier_all(sync)": (12, 0), "shmem_sync_all(sync)": (3, 0), "shmem_sum_reduce(sync)": (3, 0), "shmem_set_lock(sync)": (3, 0),
        "shmem_wait_until(sync)": (3, 0), "shmem_signal_wait_until(sync)": (1, 0)}
# From whom to whom bytes went; who accessed whom how often.
MOVED = {(0, 1): 600 + 40 - 40, (0, 2): 40 + 40 + 1000, (2, 0): 200, (1, 2): 300 + 8 + 32 + 8, (1, 0): 8 + 8, (1, 1): 8}
ACCESSES = {(0, 1): 7, (0, 2): 4, (1, 2): 4, (1, 0): 2, (1, 1): 1}
# A grid of 4 x 4 in which 1000 bytes go to each neighbour, by a way of its own in each direction.
GRID = r"""
#include <shmem.h>
static char to[1000], from[1000];
static uint64_t flag;
int main()
{
    shmem_init();
    int me = shmem_my_pe(), x = me % 4, y = me / 4;
    for (int i = 0; i < 10; i++) {
        if (x > 0) shmem_put(to, from, 1000, me - 1);
        if (x > 0) shmem_getmem_nbi(from, to, 1000, me - 1);
        if (y > 0) shmem_putmem_signal(to, from, 992, &flag, 1, SHMEM_SIGNAL_ADD, me - 4);
        for (int k = 0; k < 125 && y < 3; k++) shmem_atomic_add(&flag, uint64_t(1), me + 4);
        shmem_barrier_all();
    }
    shmem_finalize();
}
"""
# start_pes: the library ends with the process.
OLD = r"""
#include <shmem.h>
static int word;
int main(void)
{
    start_pes(0);
    shmem_int_p(&word, 1, (_my_pe() + 1) % _num_pes());
    shmem_barrier_all();
    return 0;
}
"""


# What a module has that an interpreter loads: the library is seen by that module alone.
MODULE = {"shmem": """
#include <shmem.h>
int go(void) { shmem_init(); shmem_long_p(shmem_malloc(8), 1, shmem_my_pe()); shmem_barrier_all(); shmem_finalize(); return 0; }
""", "mpi": """
#include <mpi.h>
int go(void) { MPI_Init(0, 0); MPI_Barrier(MPI_COMM_WORLD); return MPI_Finalize(); }
"""}


def rows_of(text):
    rows = {}
    for line in text.splitlines():
        m = re.match(r"\s*[\d.-]+% \|\s*([\d.-]+) \|\s*[\d.-]+ \|\s*[\d.-]+% \|\s*(\d+) \| ([| ]*)(\S+)$", line)
        if m:
            rows[m.group(4)] = (float(m.group(1)), int(m.group(2)), m.group(3).count("|"))
    return rows


class Job:
    def __init__(self, prefix, folder):
        self.prefix, self.folder = prefix, folder

    def compile(self, text, name):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as f:
            f.write(text)
        compiler = "oshc++" if name.endswith(".cc") else "oshcc"
        exe = name.split(".")[0]
        subprocess.run([self.prefix + "/bin/" + compiler, "-O1", name, "-o", exe], check=True, cwd=self.folder)
        return "./" + exe

    def run(self, options, words, launcher="oshrun", env=None):
        command = [self.prefix + "/bin/" + launcher] + options.split() + words
        p = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False, cwd=self.folder, env=dict(os.environ, **(env or {})))
        assert p.returncode == 0, "%s: %d\n%s" % (command, p.returncode, p.stderr)
        return p.stderr

    def page(self):
        with open(os.path.join(self.folder, "p.html"), encoding="utf-8") as f:
            return f.read()


def matrix(page, name):
    """{(row, column): number} of a map's cells that are not 0."""
    m = re.search(r'<svg id="%s".*?</svg>' % name, page, re.S)
    assert m, "the page has no map '%s'" % name
    return {(int(i), int(k)): int(n) for i, k, n in re.findall(r"<title>(\d+) to (\d+): (\d+) ", m.group(0)) if n != "0"}


def check(text, page, has_mpi):
    rows = rows_of(text)
    groups = [name for name, r in rows.items() if r[2] == 1]
    assert groups == ["USER"] + (["MPI", "MPI_SYNC"] if has_mpi else []) + ["SHMEM", "SHMEM_SYNC", "SYSCALL"], groups
    assert abs(sum(rows[g][0] for g in groups) - rows["Total"][0]) < 1e-5, "groups and total differ:\n" + text
    for group, is_sync in (("SHMEM", False), ("SHMEM_SYNC", True)):
        inside = [r for name, r in rows.items() if name.startswith("shmem_") and name.endswith("(sync)") == is_sync]
        assert abs(sum(r[0] for r in inside) - rows[group][0]) < 1e-4 and sum(r[1] for r in inside) == rows[group][1], text
    bytes_of = {name: (int(calls), int(n)) for n, calls, name in re.findall(r"^ +(\d+) bytes by (\d+) calls of (\S+)$", text, re.M)}
    for name, (calls, n) in WANT.items():
        assert rows[name][1] == calls, "%s: %d calls, not %d\n%s" % (name, rows[name][1], calls, text)
        assert bytes_of.get(name, (calls, 0)) == (calls, n), "%s: %s, not %d bytes\n%s" % (name, bytes_of.get(name), n, text)
    assert set(bytes_of) == {name for name, (_, n) in WANT.items() if n}, bytes_of
    assert "\nPuts, gets, atomics and signals: %d, %d bytes; most between two ranks: 1080 bytes from rank 0 to rank 2\n" % (
        sum(ACCESSES.values()), sum(MOVED.values())) in text, text
    assert matrix(page, "moved") == MOVED, matrix(page, "moved")
    assert matrix(page, "accesses") == ACCESSES, matrix(page, "accesses")
    assert ("Messages: 1, 1000 bytes" in text and matrix(page, "matrix") == {(0, 1): 1000}) if has_mpi else '"matrix"' not in page, text
    assert re.search(r"^Steps: \d+, to the next collective of all ranks;", text, re.M), text
    assert "%s is called" % ("MPI and OpenSHMEM" if has_mpi else "OpenSHMEM") in page + text or "Where" not in text, text


def families(job):
    exe = job.compile(PROGRAM, "families.c")
    text = job.run("--profile=p.html -n 3", [exe, "alone", ".3"])
    check(text, job.page(), False)
    assert "not seen" not in text, text
    # Two PEs wait 0.3 s for the word of the third.
    assert rows_of(text)["shmem_wait_until(sync)"][0] > .1, text
    assert re.search(r"PEs wait in shmem_wait_until for [\d.]+ % of the time\.", " ".join(text.split())), text
    for order in ("MSSM", "MSMS", "SMSM", "SMMS"):
        text = job.run("--profile=p.html -n 3", [exe, order, "0"], launcher="mpiexec")
        check(text, job.page(), True)
    text = job.run("--profile=sample,p.html -n 3", [exe, "alone", ".3"])
    rows = rows_of(text)
    assert rows["shmem_put"][1] == 4 and rows["shmem_wait_until"][0] > .1 and rows["SHMEM_SYNC"][0] == 0, text
    assert matrix(job.page(), "moved") == MOVED, "few enough that all are looked at"


def grids(job):
    """Rows of 4 keep half of it on 4 nodes, squares of 2 x 2 two thirds."""
    exe = job.compile(GRID, "grid.cc")
    text = job.run("--oversubscribe --profile=p.html --vnodes 4 -n 16", [exe])
    assert "OpenSHMEM Grid Detection: There is point-to-point communication in a 4 X 4 grid pattern: 100.0 % of the bytes" in " ".join(text.split()), text
    assert re.search(r"^ +Custom +2\.000e\+04 +66\.67%  3$", text, re.M) and re.search(r"^ +SMP +1\.500e\+04 +50\.00%  1$", text, re.M), text
    text = job.run("--oversubscribe --reorder=auto --profile=p.html --vnodes 4 -n 16", [exe])
    assert "--reorder=auto: MPICH_RANK_ORDER.Grid: 66.67 % of the bytes stay on nodes, 50.00 % when the profile was made" in text, text
    assert re.search(r"^ +Current +2\.000e\+04 +66\.67%  -$", text, re.M), text


def others(job):
    exe = job.compile(OLD, "old.c")
    text = job.run("--profile=p.html -n 2", [exe])
    assert rows_of(text)["shmem_p"][1] == 2 and matrix(job.page(), "moved") == {(0, 1): 4, (1, 0): 4}, text
    python = "import ctypes; assert ctypes.CDLL('./module.so').go() == 0"
    for name, row, want in (("shmem", "shmem_p", 2), ("mpi", "MPI_Barrier(sync)", 2)):
        with open(os.path.join(job.folder, "module.c"), "w", encoding="utf-8") as f:
            f.write(MODULE[name])
        subprocess.run([job.prefix + "/bin/oshcc", "-shared", "-fPIC", "module.c", "-o", "module.so"], check=True, cwd=job.folder)
        text = job.run("--profile=p.html -n 2", [sys.executable, "-c", python])
        assert rows_of(text)[row][1] == want, text
    # What is looked up in the library itself goes past, and that is said; once.
    python = "import ctypes; s = ctypes.CDLL('libgodwit_shmem.so.1'); s.shmem_init(); s.shmem_finalize()"
    text = job.run("--profile=p.html -n 2", [sys.executable, "-c", python], env={"LD_LIBRARY_PATH": self_lib(job)})
    assert text.count("godwit profile: libgodwit_shmem.so.1 is here, and its shmem_init was not called by its name") == 1, text


def self_lib(job):
    return job.prefix + "/lib" + (":" + os.environ["LD_LIBRARY_PATH"] if os.environ.get("LD_LIBRARY_PATH") else "")


def main(prefix):
    with tempfile.TemporaryDirectory() as folder:
        job = Job(prefix, folder)
        families(job)
        grids(job)
        others(job)


if __name__ == "__main__":
    if not sys.argv[2] or not os.path.exists(sys.argv[2] + "/bin/oshcc"):
        print("skipped: needs an installation")
        sys.exit(77)
    main(os.path.abspath(sys.argv[2]))
