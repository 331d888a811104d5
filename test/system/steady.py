#!/usr/bin/env python3
"""A check that runs again what failed lets nothing through that fails each time; and continuous integration leaves out no test of a room
that is changed."""
# run.py: timeout=60 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test"))
import again   # noqa: E402
import chosen  # noqa: E402


def check(what, got, wanted):
    if got != wanted:
        sys.exit("steady.py: %s: %r, not %r" % (what, got, wanted))


def runs(outcomes):
    """run_again over cases that end as `outcomes` say, one letter a run: (what passes, how often each ran)."""
    ran = {name: 0 for name in outcomes}

    def run(name):
        ran[name] += 1
        return {"o": "ok", "f": "FAIL", "s": "skip"}[outcomes[name][ran[name] - 1]], 0, ""
    return [case for case, _ in again.run_again([(name, "said") for name in outcomes], run)], ran


check("what passes in the second or third run is unsteady, no other", runs({"a": "o", "b": "fo", "c": "ff", "d": "ss"}),
      (["a", "b"], {"a": 1, "b": 2, "c": 2, "d": 2}))
many = {"t%d" % i: "o" for i in range(again.TOO_MANY + 1)}
check("many failures are no accident", runs(many), ([], dict.fromkeys(many, 0)))
check("three may be unsteady", again.bad_among(["a", "b", "c"], []), [])
check("four may not", again.bad_among(["a", "b", "c", "d"], []), ["a", "b", "c", "d"])
check("twice in one check", again.bad_among(["a", "b", "a"], []), ["a", "a"])
check("in two checks of a tree", again.bad_among(["a", "b"], ["b"]), ["b"])

# A commit that is not there has all programs run, each time, and nobody hears of it.
if chosen.git(ROOT, "rev-parse", "--is-shallow-repository") == "false\n":
    check("the commit of test/checked is one of this history", chosen.since(ROOT) is not None, True)

with tempfile.TemporaryDirectory() as d:
    results, earlier = os.path.join(d, "results"), os.path.join(d, "earlier")

    def summed(*lines):
        with open(results, "w", encoding="utf-8") as f:
            for passed, failed, unsteady in lines:
                print(json.dumps({"name": "gcc", "passed": passed, "failed": failed, "skipped": 1,
                                  "unsteady": [[n, "why"] for n in unsteady]}), file=f)
        p = subprocess.run([sys.executable, os.path.join(ROOT, "test", "run.py"), "--sum", results, "--earlier", earlier], capture_output=True,
                           text=True, check=False)
        return p.returncode, p.stdout.splitlines()

    check("all passed", summed((5, [], [])), (0, ["5 passed, 0 failed, 1 skipped"]))
    check("one failed", summed((5, ["x"], []), (7, [], [])), (1, ["failed: gcc: x", "12 passed, 1 failed, 2 skipped"]))
    check("one unsteady", summed((5, [], ["y"])), (0, ["unsteady: gcc: y: it failed once and then passed: why", "5 passed, 0 failed, 1 skipped"]))
    if again.tree_of(ROOT): # a folder without git does not know that it is the same tree
        check("and once more in this tree", summed((5, [], ["y"])),
              (1, ["unsteady and so failed: gcc: y: it failed once and then passed: why", "4 passed, 1 failed, 1 skipped"]))
        with open(earlier, "w", encoding="utf-8") as f:
            json.dump({"tree": "another", "names": ["y"]}, f)
        check("in another tree", summed((5, [], ["y"]))[0], 0)

# ---- which programs a sanitizer runs ----
programs = []
for kind, before in (("mpi", ""), ("shmem", "shmem/")):
    with open(os.path.join(ROOT, "test", kind, "testlist"), encoding="utf-8") as f:
        programs += sorted({before + line.split()[0] for line in f if line.split("#")[0].split()})
names = [(p, "%s n=%d" % (p, n)) for p in programs for n in (1, 2, 4)]


def taken(paths, turn=0):
    choice = chosen.Choice(paths, turn)
    return {name for program, name in names if choice.takes(name, program)}


everything = {name for _, name in names}
thirds = [taken(["doc/design.md"], turn) for turn in range(3)]
check("three turns have all", set.union(*thirds), everything)
check("each turn has its own", sum(map(len, thirds)), len(everything))
check("nothing is known of the change", taken(None), everything)
check("the generators are changed", taken(["gen/model.py"]), everything)
check("OpenSHMEM's face is generated anew", {n for p, n in names if p.startswith("shmem/")} - taken(["gen/shmem_entries.py"]), set())
check("and no other by that", len(taken(["gen/shmem_entries.py"])) < len(everything) / 2, True)
check("documents are generated anew", taken(["gen/man.py"]), taken(["doc/design.md"]))
check("the room rma is changed", {n for p, n in names if p.startswith("rma")} - taken(["src/rma/access.c"]), set())
check("and one of OpenSHMEM's", {n for p, n in names if p == "shmem/rest"} - taken(["test/shmem/rest.c"]), set())
check("a program is changed", {n for p, n in names if p == "soak"} - taken(["test/mpi/soak.c"]), set())
check("and no other by that", len(taken(["test/mpi/soak.c"])) < len(everything) / 2, True)
rooms = {r for words in chosen.ROOMS.values() for r in words.split()}
with open(os.path.join(ROOT, "src", "ROOMS"), encoding="utf-8") as f:
    check("rooms that there are not", rooms - {line.split(":")[0].split()[0] for line in f if ":" in line and not line.startswith("#")}, set())
words = {re.split("[_/]", p)[0] for p in programs}
check("words of no program", set(chosen.ROOMS) - words, set())
print("steady.py: %d of %d runs by turns" % (len(thirds[0]), len(everything)))
