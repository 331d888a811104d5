#!/usr/bin/env python3
"""test/shmem/rules.tsv names a test for each rule of OpenSHMEM that is easy to get wrong: the tests are there and are run, no rule is missing,
and each program of test/shmem/testlist shows one."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
# run.py: timeout=20 tags=quick
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# Section: how many points it has.
POINTS = {1: 8, 2: 1, 3: 8, 4: 7, 5: 5, 6: 7, 7: 7, 8: 9, 9: 11, 10: 5, 11: 6, 12: 1, 13: 1, 14: 1, 15: 3, 16: 2, 17: 5}
COMPLETION = ["3." + letter for letter in "abcdefgh"]
failures = []


def fail(text):
    failures.append(text)
    print(text)


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def runs():
    """The programs that run.py starts."""
    lines = [line.split("#")[0].split() for line in read(os.path.join(HERE, "testlist")).splitlines()]
    return {words[0] for words in lines if words}


def check_test(rule, test, programs):
    """A program and one of its functions, a script and one of its words, or a program that is generated."""
    name, _, word = test.partition(":")
    if name.startswith("data_"):
        if name not in programs or word:
            fail("%s: %s is no program of the testlist" % (rule, test))
        return
    if name.endswith("_test.c"): # a unit test of the room
        if not os.path.exists(os.path.join(HERE, "..", "..", "src", "sym", name)):
            fail("%s: there is no src/sym/%s" % (rule, name))
        return
    path = os.path.join(HERE, name)
    if not os.path.exists(path):
        fail("%s: there is no test/shmem/%s" % (rule, name))
        return
    text, is_program = read(path), name.endswith(".c")
    if is_program and name[:-2] not in programs or not is_program and not re.search(r"^# run\.py:", text, re.M):
        fail("%s: %s is not run" % (rule, name))
    # A function has to be called, or to be main.
    found = len(re.findall(r"\b%s\b *\(" % re.escape(word), text)) if is_program else text.count(word)
    found += len(re.findall(r", %s, " % re.escape(word), text)) if is_program else 0 # of pthread_create
    if not word or found < (2 if is_program and word != "main" else 1):
        fail("%s: %s has no %s, or nothing calls it" % (rule, name, word))


def main():
    programs, seen, named = runs(), [], set()
    for line in read(os.path.join(HERE, "rules.tsv")).splitlines():
        if line.startswith("#") or line.startswith("rule\t"):
            continue
        columns = line.split("\t")
        if len(columns) != 3 or not all(columns):
            fail("not three columns: %s" % line)
            continue
        rule, _, tests = columns
        seen.append(rule)
        for test in tests.split():
            check_test(rule, test, programs)
            named.add(re.sub(r"\.c$", "", test.split(":")[0]))
    want = ["%d.%d" % (s, i) for s, n in POINTS.items() for i in range(1, n + 1)] + COMPLETION
    for rule in sorted(set(want) ^ set(seen)):
        fail("%s is %s" % (rule, "missing" if rule in want else "no rule"))
    for rule in sorted({r for r in seen if seen.count(r) > 1}):
        fail("%s stands there twice" % rule)
    for program in sorted(programs - named):
        fail("%s shows no rule" % program)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
