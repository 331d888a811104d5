#!/usr/bin/env python3
"""mpiexec, its keeper and the library survive system calls that fail: whichever use of whichever call fails, a job ends by itself,
with its result, or with a sentence and a status that is not 0; nothing of it is left.

    faults.py BUILD PREFIX              the calls by which mpiexec hears of ranks, and those that sandboxes refuse
    faults.py BUILD PREFIX all          each call, at its first to fifth use and at all uses, by each error
    faults.py BUILD PREFIX all WORD...  the same of these calls only; "spawn": with spawning only, "alone": without only
"""
# run.py: timeout=180 tags=quick
# run.py: timeout=3600 args=all tags=extra alone=yes
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import signal
import subprocess
import sys
import tempfile
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
    MPI_Init(&n, &a);
    MPI_Comm_get_parent(&parent);
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
CALLS = """epoll_create1 epoll_ctl epoll_wait signalfd4 waitid wait4 timerfd_create pipe2 socketpair socket bind listen accept4 connect
    clone clone3 execve memfd_create ftruncate fallocate mmap munmap fcntl dup2 setpgid prctl kill rt_sigprocmask rt_sigaction
    sched_getaffinity sched_setaffinity getrandom openat read write pread64 poll prlimit64 getsockopt setsockopt sendmsg recvmsg sendto
    recvfrom newfstatat readlink getdents64 futex eventfd2 pidfd_open pidfd_send_signal process_vm_readv process_vm_writev madvise mremap
    close_range clock_nanosleep mprotect close access""".split()
ONE = {"ENOSYS", "EPERM"}  # what is not there, or refused, is so at each use


class Jobs:
    def __init__(self, build, prefix, folder):
        self.mpiexec, self.folder = os.path.join(prefix, "bin", "mpiexec"), folder
        self.faults, self.program = folder + "/faults", folder + "/program"
        self.mark = "faults-%d" % os.getpid()
        subprocess.run(["cc", "-O1", "-Wall", "-o", self.faults, HERE + "/faults.c"], check=True)
        with open(self.program + ".c", "w", encoding="utf-8") as f:
            f.write(PROGRAM)
        subprocess.run([os.path.join(prefix, "bin", "mpicc"), "-O1", "-o", self.program, self.program + ".c"], check=True)

    def before(self, call):
        """Uses by the dynamic linker and the like, before mpiexec does anything: those fail in code that is not ours."""
        counts = self.folder + "/counts"
        subprocess.run([self.faults, "-o", counts, call, "EPERM", str(10**9), str(10**9), self.mpiexec, "--version"], check=True, stdout=subprocess.DEVNULL)
        with open(counts, encoding="utf-8") as f:
            return int(f.read().split()[0])

    def left(self):
        """Processes of this test that are still there."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/environ" % pid, "rb") as f:
                    if b"GW_MARK=" + self.mark.encode() + b"\0" in f.read():
                        found.append(int(pid))
            except OSError:
                pass
        return found

    def run(self, call, error, first, last, what=(), limit=60):
        """What is wrong with this run; None: nothing.  "unused": the call had no such use.  what ("spawn", "met"): uses are those of mpiexec
        and of that of the spawned job, and fail when the jobs have met; ("net",): those of ranks that talk by TCP."""
        counts = self.folder + "/counts"
        env = dict(os.environ, GW_MARK=self.mark)
        met = self.folder + "/met"
        how = ["-w", "mpiexec", "-u", met] if "met" in what else ["-w", "program"] if "net" in what else []
        job = [self.mpiexec, "-n", "2", *(["--vnodes", "2"] if "net" in what else []), self.program,
               *[met if w == "met" else w for w in what if w != "net"]]
        if os.path.exists(met):
            os.unlink(met)
        p = subprocess.Popen([self.faults, "-o", counts, *how, call, error, str(first), str(last), *job], stdin=subprocess.DEVNULL, env=env,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
        try:
            said = p.communicate(timeout=limit)[0]
        except subprocess.TimeoutExpired:
            for pid in self.left():
                os.kill(pid, signal.SIGKILL)
            return "it does not end; so far:\n" + p.communicate()[0]
        assert p.returncode != 77 or "faults:" not in said, said
        until = time.time() + 20
        while self.left() and time.time() < until:
            time.sleep(0.02)
        left = self.left()
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        with open(counts, encoding="utf-8") as f:
            failed = int(f.read().split()[1])
        if left:
            return "%d processes are left; it said\n%s" % (len(left), said)
        if failed == 0:
            return "unused"
        if p.returncode == 0:
            return None if "good" in said else "status 0 without a result:\n" + said
        words = [l for l in said.splitlines() if l.strip() and l != "good"]
        return None if words else "status %d without a sentence" % p.returncode


def tell(call, error, first, last, what, wrong):
    print("%s, use %s, %s%s: %s" % (call, first if first == last else "%d to %d" % (first, last), error, "".join(" and " + w for w in what), wrong), flush=True)


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
    return cases


def every(jobs, only):
    ways = {(): "alone", ("spawn",): "spawn"}
    calls = [w for w in only if w not in ways.values()]
    for what in [w for w, word in ways.items() if word in only or not set(only) & set(ways.values())]:
        for call in calls or CALLS:
            before = jobs.before(call)
            for error in ("ENOSYS", "EPERM", "EMFILE", "ENOMEM", "EINTR"):
                if error in ONE and call not in ("write", "close", "munmap", "mmap", "execve"): # without which nothing can be said, or run
                    yield call, error, before + 1, 10**9, what
                for use in range(before + 1, before + 6):
                    yield call, error, use, use, what


def main(build, prefix, how, *only):
    if not prefix or not os.path.exists(prefix + "/bin/mpicc"):
        print("needs an installation")
        return 77
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        jobs = Jobs(build, prefix, folder)
        probe = subprocess.run([jobs.faults, "uname", "EPERM", "99", "99", "true"], capture_output=True, text=True, check=False)
        if probe.returncode:
            print("the kernel does not tell of system calls: " + probe.stderr)
            return 77
        for call, error, first, last, what in every(jobs, only) if how == "all" else thin(jobs):
            wrong = jobs.run(call, error, first, last, what)
            if wrong and (wrong != "unused" or how != "all"):
                tell(call, error, first, last, what, wrong)
                bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(*(sys.argv[1:] + ["", ""])[:max(3, len(sys.argv) - 1)]))
