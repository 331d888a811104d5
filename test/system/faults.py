#!/usr/bin/env python3
"""mpiexec, its keeper and the library survive system calls that fail: whichever use of whichever call fails, a job ends by itself,
with its result, or with a sentence and a status that is not 0; nothing of it is left.

    faults.py BUILD PREFIX              the calls by which mpiexec hears of ranks, and those that sandboxes refuse
    faults.py BUILD PREFIX all          each call, at its first to third use and at all uses, by each error, in jobs of all ways (WAYS)
    faults.py BUILD PREFIX all WORD...  the same of these calls and ways only
"""
# run.py: timeout=240 tags=quick
# run.py: timeout=3600 args=all tags=extra alone=yes
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import concurrent.futures
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ALWAYS = (1, 10**9)
PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void work(MPI_Comm c)
{
    enum { MANY = 1 << 19 };
    int rank, size, sum;
    long *w, v;
    MPI_Win win;
    MPI_Comm_rank(c, &rank), MPI_Comm_size(c, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, c);
    MPI_Win_allocate(1 << 20, 8, MPI_INFO_NULL, c, &w, &win);
    w[0] = -1, v = rank;
    MPI_Win_fence(0, win);
    MPI_Put(&v, 1, MPI_LONG, (rank + 1) % size, 0, 1, MPI_LONG, win);
    MPI_Win_fence(0, win);
    if (w[0] != (rank + size - 1) % size || sum != size * (size - 1) / 2) MPI_Abort(c, 9);
    MPI_Win_free(&win);
    char *big = malloc(2 * MANY);
    memset(big, rank + 1, MANY);
    MPI_Sendrecv(big, MANY, MPI_BYTE, (rank + 1) % size, 0, big + MANY, MANY, MPI_BYTE, (rank + size - 1) % size, 0, c, MPI_STATUS_IGNORE);
    if (big[MANY] != (rank + size - 1) % size + 1 || big[2 * MANY - 1] != big[MANY]) MPI_Abort(c, 9);
    free(big);
    if (rank == 0) printf("good\n"), fflush(stdout);
}
int main(int n, char **a)
{
    MPI_Comm parent, all;
    if (n > 1 && strcmp(a[1], "none") == 0) return 0;
    MPI_Init(&n, &a);
    MPI_Comm_get_parent(&parent);
    if (n > 1 && strcmp(a[1], "spawn") != 0) { /* an end that a rank asks for, while the other waits for it, or mpiexec at the limit of time */
        int rank;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        if (strcmp(a[1], "called") == 0) { /* rank 0 is called by rank 1, before it calls itself */
            if (rank == 0) MPI_Recv(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (rank == 1) MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
            work(MPI_COMM_WORLD);
            return MPI_Finalize();
        }
        if (rank == 1 && strcmp(a[1], "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 7);
        MPI_Recv(NULL, 0, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (n > 1 && parent == MPI_COMM_NULL) MPI_Comm_spawn(a[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &parent, MPI_ERRCODES_IGNORE);
    if (parent == MPI_COMM_NULL) {
        work(MPI_COMM_WORLD);
    } else {
        MPI_Intercomm_merge(parent, 0, &all);
        if (n > 2) { /* they have met; now waits for one that will end */
            fclose(fopen(a[2], "w"));
            MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, 0, all, MPI_STATUS_IGNORE);
        }
        work(all);
    }
    return MPI_Finalize();
}
"""
with open(os.path.join(HERE, "faults.c"), encoding="utf-8") as source:
    CALLS = re.findall(r"^    C\((\w+)\),$", source.read(), re.M)
OPENING = set("""epoll_create1 signalfd4 timerfd_create pipe2 socketpair socket accept4 memfd_create fcntl openat recvmsg eventfd2
    pidfd_open""".split())
VITAL = {"write", "close", "munmap", "mmap", "execve"}  # without which nothing can be said, or run
# In ranks: it is the program's own output that fails, and the program does not look; or the memory of the dynamic linker, which crashes then.
THEIRS = {"write", "lseek", "fstat", "mmap"}
# Ways of a job, of the words that Jobs.job() knows.  Uses count in all its processes; with "ranks" and "net" in ranks alone.
WAYS = {"alone": (), "ranks": ("ranks",), "net": ("net",), "tls": ("net", "tls"), "spawn": ("spawn",), "netspawn": ("net", "spawn"), "abort": ("abort",),
        "late": ("late",), "shmem": ("shmem",), "netshmem": ("net", "shmem"), "pmix": ("pmix",)}


class Jobs:
    def __init__(self, build, prefix, folder):
        self.bin, self.folder, self.made = os.path.join(prefix, "bin"), folder, 0
        self.mpiexec = os.path.join(self.bin, "mpiexec")
        self.faults, self.program, self.ring = folder + "/faults", folder + "/program", folder + "/ring"
        self.lock = threading.Lock()
        subprocess.run(["cc", "-O1", "-Wall", "-o", self.faults, HERE + "/faults.c"], check=True)
        with open(self.program + ".c", "w", encoding="utf-8") as f:
            f.write(PROGRAM)
        subprocess.run([os.path.join(self.bin, "mpicc"), "-O1", "-o", self.program, self.program + ".c"], check=True)
        shutil.copy(self.program, self.program + "-0")
        subprocess.run([os.path.join(self.bin, "oshcc"), "-O1", "-o", self.ring, HERE + "/../../examples/ring_shmem.c"], check=True)

    def count(self, call, job, who=()):
        counts = self.folder + "/counts"
        subprocess.run([self.faults, "-o", counts, *who, call, "EPERM", str(10**9), str(10**9), *job], check=False, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(counts, encoding="utf-8") as f:
            return int(f.read().split()[0])

    def before(self, call, what):
        """Uses by the dynamic linker and the like, before mpiexec, or a rank, does anything: those fail in code that is not ours."""
        if "ranks" in what or "net" in what:
            return 2 * self.count(call, [self.program, "none"])
        return self.count(call, [self.mpiexec, "--version"])

    @staticmethod
    def left(mark):
        """Processes of a run that are still there."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/environ" % pid, "rb") as f:
                    if b"GW_MARK=" + mark.encode() + b"\0" in f.read():
                        found.append(int(pid))
            except OSError:
                pass
        return found

    @staticmethod
    def end(pids):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def job(self, what, met):
        """The command, and whose uses count, of a way (see WAYS)."""
        if "engine" in what:  # that starts nothing, for want of another host
            return [self.mpiexec, "--engine", "hydra", "-host", "127.0.0.2", "-n", "1", "hostname"], ["-w", "mpiexec"]
        if "met" in what:
            return [self.mpiexec, "-n", "2", self.program, "spawn", met], ["-w", "mpiexec", "-u", met]
        if "called" in what: # uses of rank 0
            return [self.mpiexec, "--vnodes", "2", "-n", "1", self.program + "-0", "called", ":", "-n", "1", self.program, "called"], ["-w", "program-0"]
        program = self.ring if "shmem" in what else self.program
        job = [os.path.join(self.bin, "oshrun" if "shmem" in what else "mpiexec"), "-n", "2"]
        job += ["--vnodes", "2"] * ("net" in what) + ["-env", "GODWIT_NET_TLS", "1"] * ("tls" in what) + ["--pmix", "on"] * ("pmix" in what) + ["--timeout", "0.5"] * ("late" in what)
        who = ["-w", os.path.basename(program)] * ("net" in what or "ranks" in what)
        return job + [program] + [w for w in what if w in ("spawn", "abort", "late")], who

    def run(self, call, error, first, last, what=(), most=10**9, limit=60):
        """What is wrong with this run; None: nothing.  "unused": the call had no such use.  most: more uses are a busy loop."""
        with self.lock:
            self.made += 1
            mark = "faults-%d-%d" % (os.getpid(), self.made)
        counts, met = self.folder + "/counts-" + mark, self.folder + "/met-" + mark
        env = dict(os.environ, GW_MARK=mark, **({"HYDRA_LAUNCHER_EXEC": "/bin/true"} if "engine" in what else {}))
        job, who = self.job(what, met)
        p = subprocess.Popen([self.faults, "-o", counts, *who, call, error, str(first), str(last), *job], stdin=subprocess.DEVNULL, env=env,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
        try:
            said = p.communicate(timeout=limit)[0]
        except subprocess.TimeoutExpired:
            self.end(self.left(mark))
            return "it does not end; so far:\n" + p.communicate()[0]
        assert p.returncode != 77 or "faults:" not in said, said
        until = time.time() + 20
        while self.left(mark) and time.time() < until:
            time.sleep(0.02)
        left = self.left(mark)
        self.end(left)
        with open(counts, encoding="utf-8") as f:
            used, failed = map(int, f.read().split())
        for file in (counts, met):
            if os.path.exists(file):
                os.unlink(file)
        if left:
            return "%d processes are left; it said\n%s" % (len(left), said)
        if failed == 0:
            return "unused"
        if used > most:
            return "%d uses, a busy loop" % used
        if "Segmentation fault" in said or "Assertion" in said or "signal 11" in said:
            return "a crash:\n" + said
        if p.returncode == 0:
            good = ", right" if "shmem" in what else "good"
            return None if good in said and not {"abort", "late", "engine"} & set(what) else "status 0 without a result:\n" + said
        words = [l for l in said.splitlines() if l.strip() and l != "good"]
        return None if words else "status %d without a sentence" % p.returncode


def tell(call, error, first, last, what, wrong):
    print("%s, use %s, %s%s: %s" % (call, first if first == last else "%d to %d" % (first, last), error, "".join(" and " + w for w in what), wrong), flush=True)


def tried(jobs, case, may_be_unused):
    """True: it went wrong, and that is printed.  case: what Jobs.run() takes."""
    wrong = jobs.run(*case)
    if not wrong or (wrong == "unused" and may_be_unused):
        return False
    tell(*case[:5], wrong)
    return True


def thin(jobs):
    """What was once waited for in vain, what sandboxes refuse."""
    cases = [(c, "ENOSYS", *ALWAYS, ()) for c in ("epoll_create1", "epoll_ctl", "epoll_wait", "signalfd4", "waitid", "sched_getaffinity")]
    cases += [(c, "EPERM", *ALWAYS, ()) for c in ("sched_getaffinity", "fallocate", "memfd_create", "process_vm_readv")]
    cases += [("waitid", "ENOMEM", 1, 2, ()), ("waitid", "EINTR", 1, 1, ()), ("epoll_wait", "EINTR", 1, 3, ()), ("epoll_create1", "EMFILE", 2, 2, ()),
              ("pipe2", "EMFILE", 2, 2, ()), ("clone", "ENOMEM", 2, 2, ()), ("socket", "EMFILE", 1, 1, ("spawn",)), ("clone", "EAGAIN", 4, 4, ("spawn",)), ("accept4", "ENOSYS", *ALWAYS, ("spawn",)), ("sendto", "EINTR", 3, 3, ("spawn",)), ("sendto", "EMFILE", 3, 3, ("spawn",)),
              ("epoll_create1", "EPERM", 4, 4, ("spawn", "met"))]
    # Before, the first of each was a hang: called again, where the peer had the connection already; or an end that nobody was told of.
    cases += [("sendmsg", e, 1, 1, ("net",)) for e in ("ENOMEM", "EPERM", "EIO")] + [("readv", "ENOMEM", 1, 1, ("net",)), ("recvfrom", "ENOMEM", 4, 9, ("net",)),
              ("recvfrom", "EPERM", 4, 9, ("net",))]
    # Before: a hang.  What is refused once is asked for again; what is for ever ends the job, and nothing spins meanwhile.
    cases += [("connect", "ECONNREFUSED", 1, n, ("net",)) for n in (1, 2)] + [("socket", "EPERM", 5, 10**9, ("net",)), ("sendto", "EINTR", 3, 3, ("net",)),
              ("accept4", "EMFILE", *ALWAYS, ("net",), 2000), ("accept4", "EMFILE", *ALWAYS, ("spawn",), 2000), ("epoll_wait", "EPERM", *ALWAYS, ("net",)),
              ("sendmsg", "ENOMEM", *ALWAYS, ("net",)), ("getsockopt", "EPERM", *ALWAYS, ("net",)), ("poll", "ENOMEM", *ALWAYS, ("spawn",)),
              ("waitid", "ECHILD", *ALWAYS, ()), ("waitid", "ECHILD", 2, 2, ("abort",)), ("kill", "EPERM", *ALWAYS, ("abort",)),
              ("poll", "EINTR", 1, 1, ("shmem",))]
    # Before, libpmix's server in mpiexec looked for cores for ever, deaf to signals, or ended it without a word.
    # Before, who was not answered called again, and was taken for a second one.
    cases += [("sendto", e, 1, 1, ("called",)) for e in ("EAGAIN", "ECONNREFUSED")]
    cases += [("sched_getaffinity", "EPERM", *ALWAYS, ("pmix",)), ("socket", "EACCES", 3, 10**9, ("pmix",))]
    cases += [("waitid", "ECHILD", *ALWAYS, ("engine",))] * (shutil.which("mpiexec.hydra") is not None)
    return cases


def every(jobs, only, deep=3):
    """Each call that a way of WAYS makes: at its first uses by each error that it may have, from the first and the third on by those that
    last."""
    calls, words = [w for w in only if w in CALLS], [w for w in only if w in WAYS]
    for word in words or WAYS:
        what = WAYS[word]
        for call in calls or CALLS:
            before, uses = jobs.before(call, what), jobs.count(call, *jobs.job(what, jobs.folder + "/none"))
            if call in THEIRS and ("ranks" in what or "net" in what):
                continue
            more = ["EMFILE"] * (call in OPENING) + ["ECHILD"] * (call == "waitid")
            for error in ["EPERM", "ENOMEM", "EINTR", *more] + ["ECONNREFUSED"] * (call == "connect"):
                for use in range(before + 1, min(before + deep, uses) + 1):
                    yield call, error, use, use, what
            if uses <= before or call in VITAL:
                continue
            for error in ["ENOSYS", "EPERM", "ENOMEM", *more]:
                yield call, error, before + 1, 10**9, what
                if uses > before + 2 and error != "ENOSYS":
                    yield call, error, before + 3, 10**9, what


def main(build, prefix, how, *only):
    if not prefix or not os.path.exists(prefix + "/bin/mpicc"):
        print("needs an installation")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        jobs = Jobs(build, prefix, folder)
        probe = subprocess.run([jobs.faults, "uname", "EPERM", "99", "99", "true"], capture_output=True, text=True, check=False)
        if probe.returncode:
            print("the kernel does not tell of system calls: " + probe.stderr)
            return 77
        cases = every(jobs, only) if how == "all" else thin(jobs)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            bad = sum(pool.map(lambda case: tried(jobs, case, how == "all"), cases))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(*(sys.argv[1:] + ["", ""])[:max(3, len(sys.argv) - 1)]))
