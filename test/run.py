#!/usr/bin/env python3
"""Runs the tests of a build folder.

    run.py [--name N] [--quick] [--long] [--sanitizer asan|tsan] [--prefix DIR] [--again] [--results FILE] [--only WORD] BUILD
    run.py --sum FILE [--earlier FILE]

Kinds: unit_* programs (one process each); test/mpi/testlist and test/shmem/testlist (ranks, through the built mpiexec); test/*/*.sh and *.py scripts
(launcher, wrappers, other launchers), each called with BUILD, PREFIX and the words of its line `# run.py:` (timeout=SECONDS tags=a,b
args=a,b alone=yes).  A test passes when it exits 0 within its time limit, is skipped when it exits 77 (it says why).  Two run at a time;
one that measures, or that looks at what else is on the machine, says alone=yes and runs after them, by itself.

    run.py --sanitizer tsan --targets BUILD      what has to be built for that run

--again: what failed runs again, alone and at the end (again.py).  --sum prints what failed or was unsteady and the closing line for all
runs of a check; --earlier keeps what was unsteady for the next check of the same tree."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import argparse
import concurrent.futures
import glob
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

import again
import chosen
from progress import Progress

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SANITIZER_ENV = {
    "asan": {"ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0:exitcode=99:allocator_may_return_null=1", "UBSAN_OPTIONS": "print_stacktrace=1",
             "LSAN_OPTIONS": "suppressions=%s:print_suppressions=0" % os.path.join(ROOT, "test", "lsan.supp")},
    "tsan": {"TSAN_OPTIONS": "exitcode=99:halt_on_error=1"},
}
SLOWER = {None: 3, "asan": 8, "tsan": 12} # a limit ends what hangs; it does not judge a busy machine


class Case:
    def __init__(self, name, command, env=None, timeout=60, tags=(), alone=False):
        self.name, self.command, self.env, self.timeout, self.tags = name, command, env or {}, timeout, set(tags)
        self.alone = alone or "long" in self.tags # measures, or looks at the machine's other processes, or needs all of it


def unit_cases(build):
    folders = glob.glob(os.path.join(ROOT, "src", "*", "*_test.c")) + glob.glob(os.path.join(ROOT, "sim", "*_test.c")) + \
        glob.glob(os.path.join(ROOT, "tools", "*", "*_test.c"))
    for path in sorted(folders):
        room = os.path.basename(os.path.dirname(path)).replace("sim", "scale") if path.startswith(os.path.join(ROOT, "sim")) else \
            os.path.basename(os.path.dirname(path))
        name = "unit_%s_%s" % (room, os.path.basename(path)[:-len("_test.c")])
        tags = {"quick"} | ({"tsan"} if room.split("_")[0] in ("base", "obj", "node", "wire", "req", "match", "proto") else set())
        yield Case(name, [os.path.join(build, name)], timeout=120, tags=tags)


def thinned(counts):
    """The counts of ranks of a line that run under a sanitizer, too: the smallest, the largest odd one between, the largest.

    A sanitizer finds wrong use of memory, of integers, of locks: those three take the ways of the code that there are (alone, not
    a power of two, many); that results are right at each count is for the run without."""
    between = [n for n in counts[1:-1] if int(n) % 2] or counts[1:-1]
    return counts if len(counts) <= 3 else [counts[0], between[-1], counts[-1]]


def mpi_cases(build, kind="mpi"):
    """Those of test/mpi/testlist or test/shmem/testlist: programs mpi_NAME or shmem_NAME."""
    mpiexec = os.path.join(build, "mpiexec")
    with open(os.path.join(ROOT, "test", kind, "testlist"), encoding="utf-8") as f:
        for line in f:
            words = line.split("#")[0].split()
            if not words:
                continue
            env, args, tags, timeout = {}, [], set(), 60
            for w in words[2:]:
                key, value = w.split("=", 1)
                if key == "env":
                    k, v = value.split("=", 1)
                    env[k] = v
                elif key == "arg":
                    args.append(value)
                elif key == "tags":
                    tags |= set(value.split(","))
                elif key == "timeout":
                    timeout = int(value)
                else:
                    sys.exit("testlist: unknown word %s" % w)
            counts = words[1].split(",")
            for n in counts:
                label = " ".join([words[0] if kind == "mpi" else kind + "/" + words[0], "n=" + n] + ["%s=%s" % kv for kv in env.items()] + args)
                yield Case(label, [mpiexec, "-n", n, os.path.join(build, kind + "_" + words[0])] + args, env, timeout,
                           tags if n in thinned(counts) else tags | {"thinned"})


def script_cases(build, prefix):
    for path in sorted(glob.glob(os.path.join(ROOT, "test", "*", "*.sh")) + glob.glob(os.path.join(ROOT, "test", "*", "*.py"))):
        with open(path, encoding="utf-8") as f:
            head = f.read(2000)
        for m in re.finditer(r"^# run\.py: (.*)$", head, re.M): # a script may have several
            words = dict(w.split("=", 1) for w in m.group(1).split())
            args = words["args"].split(",") if "args" in words else []
            yield Case(" ".join([os.path.relpath(path, ROOT)] + args), [path, build, prefix or ""] + args,
                       timeout=int(words.get("timeout", 120)), tags=set(words.get("tags", "").split(",")), alone=words.get("alone") == "yes")


def run_case(case, factor, extra_env):
    """(status, seconds, output); status: ok, FAIL or skip."""
    env = dict(os.environ, **extra_env, **case.env)
    t0 = time.time()
    try:
        p = subprocess.Popen(case.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env,
                             start_new_session=True, cwd=ROOT)
    except OSError as e:
        return "FAIL", 0, str(e)
    try:
        out, _ = p.communicate(timeout=case.timeout * factor)
        status = {0: "ok", 77: "skip"}.get(p.returncode, "FAIL")
        text = out.decode(errors="replace")
        if status == "FAIL":
            text += "\n(exit status %d)" % p.returncode
    except subprocess.TimeoutExpired:
        tree = subprocess.run(["ps", "-o", "pid,ppid,etimes,stat,wchan:20,args", "--forest", "-s", str(p.pid)], capture_output=True,
                              text=True, check=False).stdout
        os.killpg(p.pid, signal.SIGTERM)
        try:
            out, _ = p.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, signal.SIGKILL)
            out, _ = p.communicate()
        status, text = "FAIL", out.decode(errors="replace") + "\n%s\n(ran past its limit of %d s)" % (tree[-4000:], case.timeout * factor)
    return status, time.time() - t0, text


now = [] # the cases that run


def run_noted(case, factor, extra_env):
    now.append(case)
    try:
        return run_case(case, factor, extra_env)
    finally:
        now.remove(case)


def run_all(cases, factor, extra_env):
    """Runs two cases at a time, as they leave cores idle, the longest first; then those that must be alone.  Yields each with its result."""
    together = sorted((c for c in cases if not c.alone), key=lambda c: -c.timeout)
    with concurrent.futures.ThreadPoolExecutor(min(2, len(os.sched_getaffinity(0)))) as pool:
        running = {pool.submit(run_noted, c, factor, extra_env): c for c in together}
        try:
            for f in concurrent.futures.as_completed(running):
                yield running[f], f.result()
        finally:
            pool.shutdown(cancel_futures=True) # interrupted: nothing more is begun
    for case in cases:
        if case.alone:
            yield case, run_noted(case, factor, extra_env)


def closing_line(passed, failed, skipped):
    return "%d passed, %d failed%s" % (passed, failed, ", %d skipped" % skipped if skipped else "")


def sum_up(path, earlier):
    """The closing line of a check, of the lines that its runs wrote; the status to end with."""
    with open(path, encoding="utf-8") as f:
        runs = [json.loads(line) for line in f]
    unsteady = [name for r in runs for name, _ in r["unsteady"]]
    tree = again.tree_of(ROOT) if earlier else ""
    had = again.before(earlier, tree) if earlier else []
    bad = again.bad_among(unsteady, had)
    for r in runs:
        for name, why in r["unsteady"]:
            print("unsteady%s: %s: %s: it failed once and then passed: %s" % (" and so failed" if name in bad else "", r["name"], name, why))
        for name in r["failed"]:
            print("failed: %s: %s" % (r["name"], name))
    if earlier and tree:
        again.keep(earlier, tree, set(had) | set(unsteady))
    passed, failed = sum(r["passed"] for r in runs) - len(bad), sum(len(r["failed"]) for r in runs) + len(bad)
    print(closing_line(passed, failed, sum(r["skipped"] for r in runs)))
    return 1 if failed or not passed else 0


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--name", default="")
    p.add_argument("-q", "--quiet", action="store_true", help="do not say how far it is")
    p.add_argument("--quick", action="store_true")
    p.add_argument("--long", action="store_true", help="also the tests tagged extra")
    p.add_argument("--sanitizer", choices=["asan", "tsan"])
    p.add_argument("--prefix")
    p.add_argument("--again", action="store_true", help="run what failed again, up to twice")
    p.add_argument("--results")
    p.add_argument("--only", default="")
    p.add_argument("--times", help="write the seconds of each case here, the slowest first")
    p.add_argument("--targets", action="store_true", help="print what has to be built, and run nothing")
    p.add_argument("--sum")
    p.add_argument("--earlier")
    p.add_argument("build", nargs="?")
    return p.parse_args()


def is_wanted(case, a):
    """Whether the options ask for this case."""
    left_out = set()
    if not a.long:
        left_out |= {"extra"} | ({"thinned"} if a.sanitizer else set())
    if a.sanitizer:
        left_out |= {"long", "extra"}
    if case.tags & left_out:
        return False
    return (not a.quick or "quick" in case.tags) and (a.sanitizer != "tsan" or "tsan" in case.tags)


def main():
    a = parse()
    if a.sum:
        return sum_up(a.sum, a.earlier)
    build = os.path.abspath(a.build)
    prefix = os.path.abspath(a.prefix) if a.prefix else None
    ranks = list(mpi_cases(build)) + list(mpi_cases(build, "shmem"))
    choice = chosen.choice(ROOT) if a.sanitizer == "asan" and not a.long else None
    if choice:
        ranks = [c for c in ranks if choice.takes(c.name, c.name.split()[0])]
    cases = list(unit_cases(build)) + ranks
    if not a.sanitizer:
        cases += list(script_cases(build, prefix))
    cases = [c for c in cases if a.only in c.name and is_wanted(c, a)]
    if a.targets:
        print("\n".join(sorted({os.path.relpath(w, build) for c in cases for w in c.command if w.startswith(build + os.sep)})))
        return 0
    place = tempfile.TemporaryDirectory(prefix="godwit-test.") # for XDG_CONFIG_HOME: the user's own file of godwit-tune is none of the tests'
    extra = dict(SANITIZER_ENV.get(a.sanitizer, {}), XDG_CONFIG_HOME=place.name, **({"TEST_QUICK": "1"} if a.quick else {}))
    count, times, failed, unsteady = {"ok": 0, "FAIL": 0, "skip": 0}, [], [], []

    def where():
        return "%s%d of %d tests%s: %s" % (a.name + ": " if a.name else "", sum(count.values()), len(cases),
                                           ", %d failed" % count["FAIL"] if count["FAIL"] else "", ", ".join(c.name for c in list(now)))

    with Progress(where, a.quiet) as progress:
        for case, (status, seconds, text) in run_all(cases, SLOWER[a.sanitizer], extra):
            count[status] += 1
            times.append((seconds, case.name))
            if status == "FAIL":
                failed.append((case, text))
            said = "%-4s %s (%.1f s)" % (status, case.name, seconds) if status != "ok" or seconds > 10 else ""
            if status != "ok":
                said += "\n    " + "\n    ".join(text.strip().splitlines()[-30:])
            if said:
                progress.quietly(lambda said=said: print(said, flush=True))
        if a.again:
            unsteady = list(again.run_again(failed, lambda case: run_noted(case, SLOWER[a.sanitizer], extra)))
    failed = [case.name for case, _ in failed if case not in [c for c, _ in unsteady]]
    passed = len(cases) - len(failed) - count["skip"]
    if a.results:
        with open(a.results, "a", encoding="utf-8") as f:
            print(json.dumps({"name": a.name or "run", "passed": passed, "failed": failed, "skipped": count["skip"],
                              "unsteady": [[case.name, again.reason(text)] for case, text in unsteady]}), file=f)
    if a.times:
        with open(a.times, "w", encoding="utf-8") as f:
            f.writelines("%8.2f %s\n" % t for t in sorted(times, reverse=True))
    print(("%s: " % a.name if a.name else "") + closing_line(passed, len(failed), count["skip"]) +
          ("".join("; unsteady: " + case.name for case, _ in unsteady)), flush=True)
    return 0 if a.results else (1 if failed or not passed else 0)


if __name__ == "__main__":
    sys.exit(main())
