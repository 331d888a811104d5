#!/usr/bin/env python3
"""mpiexec --profile: the table's columns and sums, which ranks wait and which compute, bytes between ranks, the page (also in Chromium)."""
# run.py: timeout=120 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import html.parser
import os
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM = r"""
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
/* FILE TIMES: the file that all write, how many times as long all pauses are */
int main(int argc, char **argv)
{
    int rank, ranks;
    double x = 1, y, times = atof(argv[2]);
    char text[1000] = {0};
    MPI_Request q;
    MPI_Comm twisted;
    MPI_File f;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    usleep((useconds_t)(60000 * times));
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &twisted); /* rank r is ranks - 1 - r there */
    for (int i = 0; i < 10; i++) {
        if (rank == 1) for (double t = MPI_Wtime(); MPI_Wtime() - t < .04 * times;) continue; /* the others wait for it */
        MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rank == 0)
        for (int i = 0; i < 7; i++) MPI_Send(text, 1000, MPI_CHAR, 1, 5, MPI_COMM_WORLD);
    if (rank == 1)
        for (int i = 0; i < 7; i++) MPI_Recv(text, 1000, MPI_CHAR, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == ranks - 1) { /* to world rank 1, prepared once and sent three times */
        MPI_Send_init(text, 100, MPI_CHAR, ranks - 2, 6, twisted, &q);
        for (int i = 0; i < 3; i++) MPI_Start(&q), MPI_Wait(&q, MPI_STATUS_IGNORE);
        MPI_Request_free(&q);
    }
    if (rank == 1)
        for (int i = 0; i < 3; i++) MPI_Recv(text, 1000, MPI_CHAR, 0, 6, twisted, MPI_STATUS_IGNORE);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
    MPI_File_write_at(f, rank * 1000, text, 1000, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_close(&f);
    MPI_Comm_free(&twisted);
    MPI_Pcontrol(0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
"""
RANKS = 3
# On a machine that others use a rank stands still now and then, which looks like computing: then all pauses get longer, and that counts less.
TIMES = (1, 4, 16)
# Steps: an argument is a pause in seconds, one step before it and two behind it; without it four threads meet 50,000 times each.
STEPS = r"""
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
static void *meets(void *comm)
{
    for (int i = 0; i < 50000; i++) MPI_Barrier(*(MPI_Comm *)comm);
    return comm;
}
int main(int argc, char **argv)
{
    int provided;
    pthread_t t[4];
    MPI_Comm comm[4];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (argc > 1) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Pcontrol(0);
        for (double until = MPI_Wtime() + atof(argv[1]); MPI_Wtime() < until;) continue;
        MPI_Pcontrol(1);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        return MPI_Finalize();
    }
    MPI_Pcontrol(0);
    for (int i = 0; i < 4; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
    MPI_Pcontrol(1);
    for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, meets, &comm[i]);
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    return MPI_Finalize();
}
"""


class Page(html.parser.HTMLParser):
    """Tags that are open, titles of the matrix's cells, rows of the table."""

    def __init__(self, text):
        super().__init__()
        self.open, self.titles, self.cells, self.ids, self.text = [], [], [], set(), ""
        self.feed(text)
        self.close()
        assert not self.open, "not closed: %s" % self.open

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "br"):
            self.open.append(tag)
        self.ids |= {v for k, v in attrs if k == "id"}
        for _, v in attrs:
            assert "http" not in (v or ""), "the page needs the network: %s" % v

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, "%s closed where another is open" % tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "title":
            self.titles.append(data)
        if self.open and self.open[-1] == "td":
            self.cells.append(data)


def rows_of(text):
    rows = {}
    for line in text.splitlines():
        m = re.match(r"\s*([\d.]+)% \|\s*([\d.]+) \|\s*([\d.-]+) \|\s*([\d.-]+)% \|\s*(\d+) \| ([| ]*)(\S+)$", line)
        if m:
            rows[m.group(7)] = {"percent": float(m.group(1)), "time": float(m.group(2)), "imbalance": float(m.group(3)),
                                "imbalance%": float(m.group(4)), "calls": int(m.group(5)), "depth": m.group(6).count("|")}
    return rows


def check_text(text):
    assert re.search(r"Time% \|\s+Time \|\s+Imb\. Time \|\s+Imb\. Time% \|\s+Calls \| Group", text), text
    rows = rows_of(text)
    groups = [r for r in rows.values() if r["depth"] == 1]
    assert len(groups) == 4, text
    assert abs(sum(g["time"] for g in groups) - rows["Total"]["time"]) < 1e-5, "groups and total differ:\n" + text
    assert abs(sum(g["percent"] for g in groups) - 100) < 0.2, text
    for group, inside in (("MPI", False), ("MPI_SYNC", True)):
        parts = [r["time"] for name, r in rows.items() if r["depth"] == 2 and name.startswith("MPI_") and name.endswith("(sync)") == inside]
        assert abs(sum(parts) - rows[group]["time"]) < 1e-4, "%s is not the sum of its functions:\n%s" % (group, text)
    for above, below in zip(rows.values(), list(rows.values())[1:]): # in a group the slowest comes first
        assert below["depth"] != 2 or above["depth"] != 2 or above["time"] >= below["time"], text
    for name, calls in (("MPI_Allreduce", 10 * RANKS), ("MPI_Allreduce(sync)", 10 * RANKS), ("MPI_Send", 7), ("MPI_Recv", 10),
                        ("MPI_Start", 3), ("MPI_File_write_at", RANKS), ("MPI_Comm_split", RANKS)):
        assert rows[name]["calls"] == calls, "%s: %d calls, not %d" % (name, rows[name]["calls"], calls)
    # What the slowest rank does beyond the mean, and of its time what were saved if all did as much: of n ranks that all but one wait, all.
    for name, row in rows.items():
        most = row["time"] + row["imbalance"]
        want = 100 * row["imbalance"] / most * RANKS / (RANKS - 1) if most > 1e-3 else row["imbalance%"]
        assert row["imbalance"] >= -1e-6 and abs(row["imbalance%"] - want) < .2, "%s: not %.1f%%:\n%s" % (name, want, text)
    assert abs(rows["MPI_File_write_at"]["percent"] - 100 * rows["MPI_File_write_at"]["time"] / rows["Total"]["time"]) < .1, text
    assert "MPI_Barrier(sync)" not in rows, "MPI_Pcontrol(0) does not stop the counting"
    assert rows["SYSCALL"]["time"] >= rows.get("clock_nanosleep", rows["SYSCALL"])["time"] - 1e-5, text
    parts = [r["time"] for name, r in rows.items() if r["depth"] == 2 and not name.startswith("MPI_")]
    assert abs(sum(parts) - rows["SYSCALL"]["time"]) < 1e-4, text
    assert "goes into clock_nanosleep" not in text, "a system call of the program is no time of MPI:\n" + text
    assert re.search(r"^Steps: \d+, to the next collective of all ranks; .* The slowest is number \d+: rank \d computes ", text, re.M), text
    assert "Messages: 10, 7300 bytes; most between two ranks: 7000 bytes from rank 0 to rank 1" in text, text
    assert re.search(r"\n +7 of 512 to 1023 bytes\n", text) and re.search(r"\n +3 of 64 to 127 bytes\n", text), text
    assert "%d bytes written by %d calls" % (1000 * RANKS, RANKS) in text, text
    assert re.search(r"Cost of the profile: \d+ ns a call", text), text


def check_times(text, page, times):
    rows = rows_of(text)
    # All ranks sleep .06 s, which is neither computing nor MPI.
    assert "clock_nanosleep" in rows and rows["clock_nanosleep"]["time"] > .03 * times, text
    # Rank 1 computes .4 s (of which looks may take some for calls) while two others wait: they do it in the meeting, not in the reduction.
    assert rows["MPI_Allreduce(sync)"]["time"] > .15 * times, text
    assert rows["MPI_Allreduce"]["time"] < rows["MPI_Allreduce(sync)"]["time"] / 2, text
    assert rows["USER"]["imbalance"] > .15 * times, text
    longest = re.search(r"rank 1 computes longest, ([\d.]+) s", text)
    slowest = re.search(r" The slowest is number \d+: rank 1 computes ([\d.]+) s", text)
    assert longest and .3 * times <= float(longest.group(1)) < times and slowest and .03 * times <= float(slowest.group(1)) < times, text
    # Each of the ten steps is as long as rank 1 computes; the others wait.
    of = [re.match(r"rank (\d): (computing|waiting) ([\d.]+)", t) for t in page.titles]
    computing = [m for m in of if m and m.group(1, 2) == ("1", "computing") and .03 * times <= float(m.group(3)) < times]
    waiting = [m for m in of if m and m.group(1) != "1" and m.group(2) == "waiting" and .01 * times <= float(m.group(3)) < times]
    assert len(computing) >= 4 and len(waiting) >= 5, page.titles


def check_page(path, text, page):
    assert {"calls", "ranks", "sizes", "matrix", "files", "steps"} <= page.ids, page.ids
    assert "orders" not in page.ids, "ranks of one node have no order that would matter"
    assert "0 to 1: 7000 bytes" in page.titles and "2 to 1: 300 bytes" in page.titles and "1 to 0: 0 bytes" in page.titles
    assert "MPI_Allreduce(sync)" in page.cells and "MPI_SYNC" in page.cells
    chromium = shutil.which("chromium") or shutil.which("chromium-headless-shell")
    if not chromium:
        print("chromium is not here: the page was only parsed")
        return
    with tempfile.TemporaryDirectory() as home:
        out = subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=" + home, "--dump-dom", "file://" + path],
                             capture_output=True, text=True, timeout=90, check=False)
    assert out.returncode == 0, out.stderr[-500:]
    assert out.stdout.count("<rect") == text.count("<rect") and "MPI_Allreduce(sync)" in out.stdout, "Chromium reads another page"


def steps(tmp, prefix, words, n, ends):
    """How long a step takes on average, and the slowest computes."""
    command = [prefix + "/bin/mpiexec", "--profile", "-n", "1", tmp + "/s", *words]
    p = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False, cwd=tmp)
    m = re.search(r"^Steps: (\d+), (.*); a step takes ([\d.]+) s on average\..* computes ([\d.]+) s and communicates [\d.]+ s$", p.stderr, re.M)
    assert p.returncode == 0 and m and int(m.group(1)) == n and m.group(2) == ends, p.stderr
    return float(m.group(3)), float(m.group(4))


def check_steps(tmp, prefix):
    with open(tmp + "/s.c", "w", encoding="utf-8") as f:
        f.write(STEPS)
    subprocess.run([prefix + "/bin/mpicc", "-O1", tmp + "/s.c", "-o", tmp + "/s", "-pthread"], check=True)
    for times in TIMES:
        pause = .5 * times
        average, slowest = steps(tmp, prefix, [str(pause)], 3, "to the next collective of all ranks")
        if average < pause / 5 and slowest < pause * .8:
            break
        assert times < TIMES[-1], "a pause of %.1f s: a step takes %.3f s on average, the slowest computes %.3f s" % (pause, average, slowest)
    average, slowest = steps(tmp, prefix, [], 3125, "of 64 collectives of all ranks each")
    assert average < 1 and slowest < 60, "threads that meet: a step takes %.3f s on average, the slowest computes %.3f s" % (average, slowest)


def main(build, prefix):
    with tempfile.TemporaryDirectory() as tmp:
        source, exe, page = (os.path.join(tmp, n) for n in ("p.c", "p", "page.html"))
        with open(source, "w", encoding="utf-8") as f:
            f.write(PROGRAM)
        subprocess.run([prefix + "/bin/mpicc", "-O1", source, "-o", exe], check=True)
        for times in TIMES:
            command = [prefix + "/bin/mpiexec", "--profile=" + page, "-n", str(RANKS), exe, os.path.join(tmp, "file"), str(times)]
            p = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
            assert p.returncode == 0, p.stderr
            assert "not a setting" not in p.stderr, p.stderr
            with open(page, encoding="utf-8") as f:
                html_text = f.read()
            parsed = Page(html_text)
            check_text(p.stderr)
            check_page(page, html_text, parsed)
            try:
                check_times(p.stderr, parsed, times)
                break
            except AssertionError:
                if times == TIMES[-1]:
                    raise
        check_steps(tmp, prefix)
        # A page that cannot be written in the end (a folder has got its name) is said, and costs the program nothing; from a build folder it works as well.
        command[:4] = [build + "/mpiexec", "--profile=" + tmp + "/none.html", "-n", str(RANKS), "sh", "-c", 'mkdir -p "$0" && exec "$@"', tmp + "/none.html"]
        p = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
        assert p.returncode == 0 and "cannot write %s/none.html" % tmp in p.stderr, p.stderr
        os.rmdir(tmp + "/none.html")
        # Without the meetings there is no MPI_SYNC time of reductions.
        command[-1] = str(TIMES[1])
        p = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False, env=dict(os.environ, GODWIT_PROFILE_SYNC="0"))
        assert "MPI_Allreduce(sync)" not in rows_of(p.stderr) and rows_of(p.stderr)["MPI_Allreduce"]["time"] > .15, p.stderr


if __name__ == "__main__":
    if not sys.argv[2]:
        print("skipped: needs an installation")
        sys.exit(77)
    main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
