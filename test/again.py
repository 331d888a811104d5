"""What failed runs again: a test that a busy machine disturbed once is told from one that is broken.

Each runs alone, after all others, up to twice more.  One that fails each time has failed.  One that then passes is *unsteady*: it is
listed with what it said.  More than MOST of them in a check, or one that was unsteady before on the same tree (in another of the check's
runs, or in an earlier check), is a failure: a test or the product has a fault that only shows sometimes."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import subprocess
import tempfile
import time

MOST = 3
TOO_MANY = 10      # as many failures are no accident: none runs again
SECONDS = 20 * 60  # no more time is spent so in one run


def reason(text):
    return " | ".join(text.strip().splitlines()[-3:])[:400]


def run_again(failed, run):
    """`failed`: [(case, text)]; run(case) gives (status, seconds, text).  Yields (case, text of the first failure) for each that passes now."""
    if len(failed) > TOO_MANY:
        return
    begin = time.monotonic()
    for case, text in failed:
        for _ in range(2):
            if time.monotonic() - begin > SECONDS:
                return
            if run(case)[0] == "ok":
                yield case, text
                break


def tree_of(root):
    """What the tree in `root` holds, as a word; '' where git does not tell."""
    with tempfile.TemporaryDirectory() as d:
        env = dict(os.environ, GIT_INDEX_FILE=os.path.join(d, "index"))
        for command in (["read-tree", "HEAD"], ["add", "-A"]):
            if subprocess.run(["git", "-C", root] + command, env=env, capture_output=True, check=False).returncode:
                return ""
        return subprocess.run(["git", "-C", root, "write-tree"], env=env, capture_output=True, text=True, check=False).stdout.strip()


def before(path, tree):
    """The tests that earlier checks of this tree found unsteady."""
    try:
        with open(path, encoding="utf-8") as f:
            kept = json.load(f)
    except (OSError, ValueError):
        return []
    return kept["names"] if tree and kept.get("tree") == tree else []


def keep(path, tree, names):
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"tree": tree, "names": sorted(names)}, f)


def bad_among(unsteady, earlier):
    """Of the names of all unsteady tests of a check (twice where two runs had it), and of those that earlier checks had: which count as
    failures."""
    twice = {n for n in unsteady if unsteady.count(n) > 1 or n in earlier}
    return list(unsteady) if len(unsteady) > MOST else [n for n in unsteady if n in twice]
