#!/usr/bin/env python3
"""A file of godwit-tune: what is done with its lines, by times that a mpiexec of ours makes up; rows carry their spread; who is asked what acts
says it: godwit-info, doctor, mpiexec -v, godwit-choices; godwit-tune says how far it is."""
# run.py: timeout=120
# users.md row 11
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import pty
import re
import shutil
import socket
import subprocess
import sys
import tempfile

BUILD = os.path.abspath(sys.argv[1])
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(("GODWIT_", "MPICH_"))}


def said_of(*words, **env):
    p = subprocess.run([BUILD + "/" + words[0], *words[1:]], env=dict(CLEAN, **env), capture_output=True, text=True, timeout=60, check=False)
    return p.stdout + p.stderr


HERE = re.search(r"^processor (\S+) \((.*)\)$", said_of("godwit-info"), re.M)
MINE = HERE.group(1).split("+")[0] + " | " if HERE else ""  # what rows that are measured here begin with


def rows_of(text):
    """Without the head, and the sums around."""
    lines = text.splitlines()
    assert lines[0].startswith("# Sum ") and lines[1].startswith("# Measured by godwit-tune, ") and lines[-1].startswith("# Sums of the lines above:"), text
    return lines[2:-1]


FAKE = r"""#!/bin/sh
sleep $NAP; echo "shape 4 1 1"; echo "known allreduce leaf"
slow=100; [ -s "$GODWIT_TUNE" ] && grep -q "allreduce | 4..4 | - | leaf" "$GODWIT_TUNE" && slow=2
case $GODWIT_COLL in
*allreduce=leaf*) set -- $LEAF; n=$(cat "$0.turn" 2>/dev/null); shift $((${n:-0} % $#)); echo $((${n:-0} + 1)) > "$0.turn"; echo "time allreduce 8 leaf $1" ;;
"") echo "time allreduce 8 ring $slow"; echo "time reduce 8 tree 1"; echo "time bcast 8 tree 1" ;;
esac
"""


def check_lines(folder):
    """What is done with a file's lines, by times that a mpiexec of ours makes up."""
    os.mkdir(folder + "/bin")
    shutil.copy(BUILD + "/godwit-tune", folder + "/bin")
    with open(folder + "/bin/mpiexec", "w", encoding="utf-8") as f:
        f.write(FAKE)
    os.chmod(folder + "/bin/mpiexec", 0o755)
    path = folder + "/lines.tune"

    def check(text, leaf, status, *words):
        if text is not None:
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
        p = subprocess.run([folder + "/bin/godwit-tune", "--quick", "-o", path, "-n", "4", *words], capture_output=True, text=True, timeout=60,
                           env=dict(CLEAN, LEAF=str(leaf), NAP="0", LD_LIBRARY_PATH=BUILD), check=False)
        assert p.returncode == status, (p.returncode, p.stdout, p.stderr)
        if not os.path.exists(path):
            return p.stdout, None
        with open(path, encoding="utf-8") as f:
            return p.stdout, f.read()

    # Nothing is quicker: the file stays as it is, and none is made.
    said, text = check(None, 200, 3, "--check")
    assert "1 guideline does not hold for 4 ranks" in said and "nothing is changed" in said and text is None, (said, text)
    own = "# mine\nallreduce | 4..4 | - | ring | -\n"
    said, text = check(own, 200, 3, "--check")
    assert "nothing is changed" in said and text == own, (said, text)
    # Rows are found however jobs may read them.
    other = "  MPI_Allreduce | 4..4|-|ring | 1M # for 4 ranks | of mine\nAllreduce | 2.. | - | ring | -\nscan | 4..4 | - | leaf | -\n"
    said, text = check(other, 2, 0, "--check")
    assert re.search(r"^With it, 0 guidelines do not hold$", said, re.M), said
    assert rows_of(text) == [MINE + "allreduce | 4..4 | - | leaf | -  # 98 % quicker, spread 0 %"] + other.splitlines()[1:], text
    said, text = check("Iallreduce | 2..8 | - | ring | -\n  GODWIT_EAGER_MAX=5K # mine\n", 99, 0)
    assert rows_of(text) == [MINE + "allreduce | 4..4 | - | ring | -  # as built in, spread 0 %", "Iallreduce | 2..8 | - | ring | -"], text
    # Those of other processors stay as they are; of this one what was measured before goes.
    theirs = ["unheard/1/2 | allreduce | 4..4 | - | ring | -", "unheard/1/2 | GODWIT_EAGER_MAX=5K"]
    said, text = check("\n".join(theirs + [MINE + "allreduce | 4..4 | - | ring | -", MINE + "GODWIT_EAGER_MAX=6K", "GODWIT_CMA_MIN=14K"]), 2, 0)
    assert rows_of(text) == [MINE + "allreduce | 4..4 | - | leaf | -  # 98 % quicker, spread 0 %"] + theirs, text
    # Of a collective's rows jobs take 16.
    many = ["allreduce | %d..%d | - | ring | -" % (n, n) for n in range(5, 25)]
    said, text = check("\n".join(many), 2, 0, "--check")
    assert rows_of(text) == [MINE + "allreduce | 4..4 | - | leaf | -  # 98 % quicker, spread 0 %"] + many[:15], text
    assert all(said.count("left out: %s\n" % row) == (i >= 15) for i, row in enumerate(many)), said
    assert [name for name in os.listdir(folder) if name.startswith(("lines.tune", ".godwit"))] == ["lines.tune"], os.listdir(folder)
    p = subprocess.run([BUILD + "/godwit-tune", "--quick"], env={k: v for k, v in CLEAN.items() if k not in ("HOME", "XDG_CONFIG_HOME")},
                       capture_output=True, text=True, timeout=60, check=False)
    assert p.returncode == 2 and "-o" in p.stderr, p.stderr


def check_spread(folder):
    """A row that wins by less than its times lie apart is not written; of two that do not repeat there are more turns, but not for ever."""
    run, path, turns = folder + "/bin/godwit-tune", folder + "/spread.tune", folder + "/bin/mpiexec.turn"
    for leaf, row, most in (("80", "allreduce | 4..4 | - | leaf | -  # 20 % quicker, spread 0 %", 3), ("80 84 84", "allreduce | 4..4 | - | leaf | -  # 20 % quicker, spread 5 %", 3),
                            ("80 130", None, 6), ("95", None, 2)):
        if os.path.exists(turns):
            os.remove(turns)
        p = subprocess.run([run, "--quick", "-o", path, "-n", "4"], capture_output=True, text=True, timeout=60, check=False,
                           env=dict(CLEAN, LEAF=leaf, NAP="0", LD_LIBRARY_PATH=BUILD))
        assert p.returncode == 0 and not p.stderr, (p.stdout, p.stderr)
        with open(path, encoding="utf-8") as f:
            lines = [line for line in f.read().splitlines() if not line.startswith("#")]
        assert lines == ([MINE + row] if row else []), (leaf, lines)
        assert p.stdout.endswith("4 ranks on 1 node: %s%s\n" % (path, "" if row else ", which changes nothing: what is built in is best here, or times lie too far apart")), p.stdout
        with open(turns, encoding="utf-8") as f:
            assert 2 <= int(f.read()) <= most, leaf
    with open(path, encoding="utf-8") as f:
        about = re.match(r"# Measured by godwit-tune, \d{4}-\d\d-\d\d, on %s( \(.*\))?\.  Columns: " % re.escape(socket.gethostname()), f.readlines()[1])
    assert about and (not HERE or HERE.group(1) in about.group(1) and HERE.group(2) in about.group(1)), about.group(1)


def on_terminal(command, **env):
    """What it says on a terminal."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execve(command[0], command, dict(CLEAN, **env))
    said = b""
    while True:
        try:
            more = os.read(fd, 4096)
        except OSError:
            more = b""
        if not more:
            break
        said += more
    assert os.waitpid(pid, 0)[1] == 0, said
    return said.decode()


def check_program(folder):
    path = folder + "/program.tune"
    p = subprocess.run([BUILD + "/godwit-tune", "--quick", "-q", "-o", path, "-n", "2", BUILD + "/mpi_hello"], capture_output=True, text=True,
                       env=CLEAN, timeout=60, check=False)
    assert p.returncode == 2 and "but no program" in p.stderr and not os.path.exists(path), p


def check_progress(folder):
    command = [folder + "/bin/godwit-tune", "--quick", "-o", folder + "/progress.tune", "-n", "4"]
    env = {"LEAF": "200", "NAP": "0.1", "LD_LIBRARY_PATH": BUILD}
    said = on_terminal(command, **env)
    assert re.search(r"\rgodwit-tune: turn \d+, (messages with GODWIT_\w+=|what is built in: |algorithm \d of \d: )", said), said
    assert "godwit-tune: turn" not in on_terminal(command + ["-q"], **env)


def check_told(folder):
    """All four name the file that acts, its date and its machine, by the default place and by GODWIT_TUNE, and none where none acts."""
    home = folder + "/home"
    os.makedirs(home + "/godwit")
    path = home + "/godwit/" + socket.gethostname() + ".tune"
    with open(path, "w", encoding="utf-8") as f:
        f.write("# Measured by godwit-tune, 2026-11-26, on otherhost (Some CPU 1.5 GHz).  Columns: collective\n"
                "bcast | 4..4 | - | binomial | -  # 20 % quicker, spread 5 %\nGODWIT_EAGER_MAX=8K  # 12 % quicker, spread 1 %\n")
    about = path + ", measured 2026-11-26, on otherhost (Some CPU 1.5 GHz): 1 row for collectives, 1 threshold of messages"

    def said(*words, **env):
        p = subprocess.run([BUILD + "/" + words[0], *words[1:]], env=dict(CLEAN, **env), capture_output=True, text=True, timeout=60, check=False)
        return p.stdout + p.stderr

    asks = (("godwit-info",), ("mpiexec", "doctor"), ("mpiexec", "-v", "-n", "1", "true"), ("godwit-choices", "-n", "4"))
    for words in asks:
        for env in ({"XDG_CONFIG_HOME": home}, {"GODWIT_TUNE": path}):
            text = said(*words, **env)
            assert about in text, (words, text)
            assert "all at their defaults" not in text and "none, all are" not in text, (words, text)
        for env in ({"XDG_CONFIG_HOME": home, "GODWIT_TUNE": ""}, {"XDG_CONFIG_HOME": folder}):
            assert "otherhost" not in said(*words, **env), words
        assert "/nonexistent cannot be read" in said(*words, GODWIT_TUNE="/nonexistent"), words
    assert "GODWIT_EAGER_MAX=8K (from GODWIT_TUNE in %s, line 3)" % path in said("godwit-info", XDG_CONFIG_HOME=home)
    assert re.search(r"^bcast +binomial \(GODWIT_TUNE\)$", said("godwit-choices", "-n", "4", XDG_CONFIG_HOME=home), re.M)
    assert "at once up to 8K" in said("godwit-choices", "-n", "4", XDG_CONFIG_HOME=home)
    # A damaged one decides nothing, and all say so.
    damaged = folder + "/damaged.tune"
    with open(folder + "/spread.tune", encoding="utf-8") as f, open(damaged, "w", encoding="utf-8") as g:
        g.write(f.read().replace("# Measured", "# measured", 1))
    for words in asks:
        assert damaged + " cannot be read (it is damaged: line 2" in said(*words, GODWIT_TUNE=damaged), words
    with open(folder + "/spread.tune", encoding="utf-8") as f:
        whole = f.read()
    lines = whole.count("\n")
    for text, why in ((whole + "x", "it is damaged: line %d " % (lines + 1)), (2 * whole, "it is damaged: line %d " % (lines + 1)),
                      ("\n" + whole, "it is damaged: what was written begins in line 2"), ("", "it is empty")):
        with open(damaged, "w", encoding="utf-8") as g:
            g.write(text)
        for words in asks:
            assert "%s cannot be read (%s" % (damaged, why) in said(*words, GODWIT_TUNE=damaged), (words, why)
    # A job of several hosts does not take it by itself.
    text = said("godwit-choices", "-n", "8", "-N", "4", XDG_CONFIG_HOME=home)
    assert "GODWIT_TUNE=%s shows" % path in text and "otherhost" not in text, text
    with open(path, "w", encoding="utf-8") as f:
        f.write("bcast | 4..4 | - | binomial | -\n")
    assert re.search(r"not by godwit-tune, of \d{4}-\d\d-\d\d: 1 row for", said("godwit-info", XDG_CONFIG_HOME=home))


def check_words(folder):
    """What godwit-tune is given is looked at before anything is measured: the word, its value and what is allowed are told."""
    count = "%s wants a number of ranks from 2 to 65536, not '%s'"
    for words, why in ((("-n", "x"), count % ("-n", "x")), (("-n", "0"), count % ("-n", "0")), (("-n", "1"), count % ("-n", "1")), (("-n", "-3"), count % ("-n", "-3")),
                       (("-n", "100000000"), count % ("-n", "100000000")), (("-n2x",), "there is no option -n2x"), (("-np", "2x"), count % ("-np", "2x")),
                       (("--ntasks=1e3",), count % ("--ntasks", "1e3")), (("-n1",), count % ("-n", "1")), (("-n",), "-n wants a number of ranks behind it"),
                       (("-n", "2", "--vnodes"), "--vnodes wants "), (("-n", "2", "-o"), "-o wants a file behind it"),
                       (("-n", "2", "--vnode", "2"), "there is no option --vnode; did you mean --vnodes?"), (("--zzzzzzzz",), "there is no option --zzzzzzzz, here or in mpiexec"),
                       (("-n", "2", "./sum"), "'./sum' is no option"), (("--measure",), "there is no option --measure"), (("4",), "'4' is no option")):
        p = subprocess.run([BUILD + "/godwit-tune", *words], env=dict(CLEAN, XDG_CONFIG_HOME=folder), capture_output=True, text=True, timeout=60, check=False)
        assert p.returncode == 2 and not p.stdout and p.stderr.startswith("godwit-tune: " + why) and p.stderr.count("\n") == 2, (words, p)
    p = subprocess.run([BUILD + "/godwit-tune", "-n", "2", "--help"], env=CLEAN, capture_output=True, text=True, timeout=60, check=False)
    assert p.returncode == 0 and p.stdout.startswith("usage: godwit-tune"), p


def check_processor(folder):
    """Rows for a processor: a job takes those of its own, all who are asked tell of the others; ranks of several kinds take none."""
    path, program = folder + "/processor.tune", BUILD + "/mpi_coll_basic"
    with open(path, "w", encoding="utf-8") as f:
        f.write("unheard/1/2 | bcast | 2.. | - | chain | -\nunheard/1/2 | bcast | 2.. | 2.. | - | chain | -\nunheard/1/2 | GODWIT_EAGER_MAX=5K\n"
                "other/3 | bcast | 2.. | - | chain | -\ngather | 2.. | - | linear | -\n")
    unheard, stranger = {"GODWIT_PROCESSOR": "unheard/1/2", "GODWIT_TUNE": path}, {"GODWIT_PROCESSOR": "unheard/9/9", "GODWIT_TUNE": path}
    for words in (("godwit-info",), ("mpiexec", "doctor"), ("mpiexec", "-v", "-n", "1", "true"), ("godwit-choices", "-n", "4")):
        text = said_of(*words, **unheard)
        assert ": 3 rows for collectives, 1 threshold of messages; 1 for another processor (other/3), which does not count here" in text, (words, text)
        text = said_of(*words, **stranger)
        assert ": 1 row for collectives, 0 thresholds of messages; 4 for another processor (unheard/1/2), which do not count here" in text, (words, text)
    text = said_of("godwit-choices", "-n", "4", **unheard)
    assert re.search(r"^bcast +chain \(GODWIT_TUNE\)$", text, re.M) and re.search(r"^gather +linear \(GODWIT_TUNE\)$", text, re.M), text
    assert "at once up to 5K" in text and "processor: unheard/1/2 (GODWIT_PROCESSOR): no row of tune/processors.tbl names it" in text, text
    text = said_of("godwit-choices", "-n", "4", **stranger)
    assert re.search(r"^bcast +leaf", text, re.M) and re.search(r"^gather +linear \(GODWIT_TUNE\)$", text, re.M) and "at once up to 5K" not in text, text
    # In a job of two nodes, each rank with a processor of its own, of the same kind, or of another.
    job = ("mpiexec", "--oversubscribe", "--vnodes", "2", "-n", "1", "-env", "GODWIT_PROCESSOR", "unheard/1/2", program, ":", "-n", "1", "-env", "GODWIT_PROCESSOR")
    for kind, is_same in (("unheard/1/2", True), ("unheard/1/3", False)):
        text = said_of(*job, kind, program, GODWIT_TUNE=path, GODWIT_EXPLAIN="coll")
        assert ("as the ranks have several kinds of them" in text) == (not is_same), text
        assert re.search(r"coll: bcast of \d+ bytes on 2 ranks .*: chain \(GODWIT_TUNE\)", text) if is_same else ": chain (GODWIT_TUNE)" not in text, text
        assert re.search(r"coll: gather of \d+ bytes on 2 ranks .*: linear \(GODWIT_TUNE\)", text), text
    # On one node each would choose for itself.
    text = said_of(*[w for w in job if w not in ("--vnodes", "2")], "other/3", program)
    assert "MPI_Init: GODWIT_PROCESSOR is unheard/1/2 on rank 0 and other/3 on rank 1, on one node; set it alike" in text, text
    assert "GODWIT_PROCESSOR=Xeon is not VENDOR/FAMILY/MODEL" in said_of("mpiexec", "-n", "1", program, GODWIT_PROCESSOR="Xeon")
    text = said_of("mpiexec", "-n", "1", "-env", "GODWIT_PROCESSOR", "none", program, ":", "-n", "1", "-env", "GODWIT_PROCESSOR", "unheard/1/2", program)
    assert "GODWIT_PROCESSOR is none on rank 0 and unheard/1/2 on rank 1" in text, text


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_lines(folder)
        check_spread(folder)
        check_program(folder)
        check_progress(folder)
        check_told(folder)
        check_words(folder)
        check_processor(folder)


if __name__ == "__main__":
    main()
