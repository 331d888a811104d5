#!/usr/bin/env python3
"""What the tools answer to programs: documents that fit their schemas (tools/schema), whatever names, values and bytes the users' world has, and
that say what the tools say to people.  Who has no python3-jsonschema is told, and nothing is checked."""
# run.py: timeout=240 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

BUILD = os.path.abspath(sys.argv[1])
SCHEMAS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "schema")
CLEAN = {k: v for k, v in os.environb.items() if not k.startswith((b"GODWIT_", b"MPICH_", b"MPIR_"))}
RANKS = (1, 2, 4)
# A quote, a backslash, what ends lines, what acts on terminals, bytes that are no UTF-8 (alone, cut, a half of a pair), a character beyond 16 bits.
EVIL = b"a\"b\\c\n\x1b[2J\x01\x7f\xff\xc3(\xed\xa0\x80\xe2\x82 \xf0\x9f\x98\x80'"


def pairs(items):
    """No name may stand twice."""
    assert len({k for k, _ in items}) == len(items), items
    return dict(items)


def refuse(word):
    raise AssertionError(word + " is no number of JSON")


def parsed(raw):
    """Strictly: ASCII, as all of our documents are, and nothing but JSON."""
    return json.loads(raw.decode("ascii"), object_pairs_hook=pairs, parse_constant=refuse)


VALIDATORS = {}


def validators():
    """By name of the schema; and each schema is one."""
    try:
        import jsonschema
    except ImportError:
        if sys.executable != "/usr/bin/python3" and os.path.exists("/usr/bin/python3"):
            os.execv("/usr/bin/python3", ["/usr/bin/python3"] + sys.argv)  # that which Debian's packages are for
        print("there is no python3-jsonschema")
        sys.exit(77)
    for name in os.listdir(SCHEMAS):
        with open(os.path.join(SCHEMAS, name), "rb") as f:
            schema = json.load(f, object_pairs_hook=pairs)
        jsonschema.Draft202012Validator.check_schema(schema)
        VALIDATORS[schema["$id"]] = jsonschema.Draft202012Validator(schema)


def valid(raw, name):
    """The document, which fits the schema of that name; a validator that knows no wrong one is none."""
    document = parsed(raw)
    assert document.get("schema", document.get("otherData", {}).get("schema")) == name, raw[:300]
    some = document
    if len(document.get("traceEvents", [])) > 2000:  # of many calls the first and the last: looking at each takes minutes
        some = dict(document, traceEvents=document["traceEvents"][:200] + document["traceEvents"][-200:])
    for e in VALIDATORS[name].iter_errors(some):
        raise AssertionError("%s: %s: %s" % (name, "/".join(str(p) for p in e.absolute_path), e.message))
    assert not VALIDATORS[name].is_valid(dict(some, more=1)), "the schema %s lets anything pass" % name
    return document


def run(*words, status=0, env=None):
    p = subprocess.run([w if isinstance(w, bytes) else w.encode() for w in words], env={**CLEAN, **(env or {})}, capture_output=True,
                       timeout=120, check=False)
    assert p.returncode in (status if isinstance(status, tuple) else (status,)), (words, p.returncode, p.stdout[-2000:], p.stderr[-2000:])
    return p.stdout


def tool(name, *words, **more):
    return run(BUILD + "/" + name, *words, **more)


def shown(raw):
    """As the writer turns bytes into characters: those that are no UTF-8 are U+FFFD each."""
    return raw.decode("utf-8", "backslashreplace").replace("\\xff", "\ufffd").replace("\\xc3", "\ufffd").replace(
        "\\xed\\xa0\\x80", "\ufffd\ufffd\ufffd").replace("\\xe2\\x82", "\ufffd\ufffd")


def check_info(folder):
    d = valid(tool("godwit-info", "--json"), "godwit-info-1")
    plain = tool("godwit-info", "--list").decode()
    assert [s["variable"] for s in d["settings"]] == [line.split()[0] for line in plain.splitlines()], plain
    assert "Godwit %s, MPI %s, " % (d["versions"]["godwit"], d["versions"]["mpi"]) in tool("godwit-info").decode()
    assert all(s["set_by"]["kind"] == "default" and s["meaning"] for s in d["settings"]), d["settings"]
    # Who set it: the environment, by whichever name, a site's file, the tuning file.
    site, tune = folder.encode() + b"/site " + EVIL, folder.encode() + b"/tune " + EVIL
    with open(site, "wb") as f:
        f.write(b"# of the site\nMPICH_GNI_LMT_PATH=disabled\n")
    with open(tune, "wb") as f:
        f.write(b"bcast | 4..4 | 16K | binomial | -\nbcast | 2.. | - | no_such | -\nallreduce | 8..8 | 2..2 | - | levels | -\n\nGODWIT_EAGER_MAX=7K\nx\n")
    env = {b"GODWIT_SITE": site, b"GODWIT_TUNE": tune, b"MPICH_ALLTOALLV_THROTTLE": b"4", b"GODWIT_NET_IFACE": EVIL, b"GODWIT_WAIT": EVIL}
    d = valid(tool("godwit-info", "--json", env=env), "godwit-info-1")
    by = {s["variable"]: s for s in d["settings"]}
    assert by["GODWIT_ALLTOALLV_THROTTLE"]["set_by"] == {"kind": "environment", "variable": "MPICH_ALLTOALLV_THROTTLE", "where": None}, by
    assert by["GODWIT_ALLTOALLV_THROTTLE"]["value"] == "4" and by["GODWIT_ALLTOALLV_THROTTLE"]["default"] == "8"
    assert "MPICH_ALLTOALLV_THROTTLE" in by["GODWIT_ALLTOALLV_THROTTLE"]["aliases"]
    assert by["GODWIT_NET_IFACE"]["value"] == shown(EVIL), (by["GODWIT_NET_IFACE"], shown(EVIL))
    said = by["GODWIT_NET_RENDEZVOUS"]
    assert said["value"] == "disabled" and said["set_by"]["kind"] == "file" and said["set_by"]["where"].endswith(", line 2"), said
    said = by["GODWIT_EAGER_MAX"]["set_by"]
    assert said["kind"] == "file" and said["variable"] == "GODWIT_TUNE" and said["where"] == shown(tune) + ", line 5", said
    assert d["tuning"]["file"] == shown(tune), d["tuning"]
    assert [(r["line"], r["collective"], r["max_bytes"], r["algorithm"], r["max_nodes"]) for r in d["tuning"]["rows"]] == [
        (1, "bcast", 16 << 10, "binomial", 1), (3, "allreduce", None, "levels", 2)], d["tuning"]
    assert [w["line"] for w in d["tuning"]["wrong"]] == [2, 6], d["tuning"]
    assert any(w.startswith("GODWIT_WAIT=") for w in d["warnings"]), d["warnings"]
    # Some of the settings; what is none is said, and no document comes.
    d = valid(tool("godwit-info", "--json", "eager_max", "MPICH_ALLTOALLV_THROTTLE"), "godwit-info-1")
    assert sorted(s["name"] for s in d["settings"]) == ["alltoallv_throttle", "eager_max"], d["settings"]
    assert tool("godwit-info", "--json", "eager_mx", status=1) == b"" and tool("godwit-info", "--json", "--list", status=2) == b""


def check_info_in_jobs(folder):
    for ranks in RANKS:
        here = "%s/info.%d" % (folder, ranks)
        os.mkdir(here)
        tool("mpiexec", "-n", str(ranks), "sh", "-c", 'exec "$0" --json > "$(mktemp -p "$1")"', BUILD + "/godwit-info", here)
        names = os.listdir(here)
        assert len(names) == ranks, names
        for name in names:
            with open(os.path.join(here, name), "rb") as f:
                valid(f.read(), "godwit-info-1")


def check_doctor(folder):
    for ranks in RANKS:
        d = valid(tool("mpiexec", "doctor", "--json", "-n", str(ranks), status=(0, 1)), "godwit-doctor-1")
        assert d["ranks"] == ranks and d["program"] is None, d
        count = {v: sum(f["verdict"] == v for f in d["findings"]) for v in ("ok", "warn", "fail")}
        assert count == d["counts"] and all(bool(f["todo"]) == (f["verdict"] != "ok") for f in d["findings"]), d
        plain = tool("mpiexec", "doctor", "-n", str(ranks), status=(0, 1)).decode()
        titles = re.findall(r"^(?:ok|note|problem) +([^:]+): ", plain, re.M)
        assert titles == [f["title"] for f in d["findings"]], (titles, d)
    program = folder.encode() + b"/" + EVIL.replace(b"/", b"")
    with open(program, "wb") as f:
        f.write(b"\x00\x01")
    os.chmod(program, 0o755)
    d = valid(tool("mpiexec", "doctor", "--json", program, status=1, env={b"GODWIT_NET_IFACE": EVIL}), "godwit-doctor-1")
    assert d["program"] == shown(program), (d["program"], shown(program))
    assert [f["verdict"] for f in d["findings"] if f["id"] == "program"] == ["fail"], d
    # Lines of the tuning file that are left out: file and lines, and what to do.
    tune = folder + "/doctor.tune"
    with open(tune, "w", encoding="utf-8") as f:
        f.write("bcast | 4..4 | - | binomial | -\nbcast | 4..4 | - | no_such | -\n\nnone | 4..4 | - | ring | -\n")
    d = valid(tool("mpiexec", "doctor", "--json", status=(0, 1), env={b"GODWIT_TUNE": tune.encode()}), "godwit-doctor-1")
    found = [f for f in d["findings"] if f["id"] == "tuning"]
    assert found and found[0]["verdict"] == "warn" and found[0]["text"].startswith(tune + ", line 2 is left out: "), d
    assert "; line 4 is left out: " in found[0]["text"] and "godwit-tune" in found[0]["todo"], found


def check_choices():
    for words in [["-n", str(n)] for n in RANKS] + [["-n", "12", "--vnodes", "3,4,5"], ["-n", "300000", "-N", "100"]]:
        d = valid(tool("godwit-choices", *words, "--json"), "godwit-choices-1")
        assert d["ranks"] == int(words[1]) and (d["messages"]["other_nodes"] is None) == (d["nodes"] == 1), d
        for c in d["collectives"]:
            sizes = [x["from_bytes"] for x in c["choices"]]
            assert sizes == sorted(set(sizes)) and sizes[0] == 0, c
            for x in c["choices"]:  # the same as is said of that size alone
                one = tool("godwit-choices", *words, "-b", str(max(x["from_bytes"], 1)), c["collective"]).decode().rstrip("\n")
                assert one.split(" ", 2)[2] == x["algorithm"], (one, x)
                one = valid(tool("godwit-choices", *words, "-b", str(max(x["from_bytes"], 1)), "--json", c["collective"]), "godwit-choices-1")
                assert one["collectives"][0]["choices"][0]["algorithm"] == x["algorithm"], (one, x)
    d = valid(tool("godwit-choices", "-n", "4", "--json", "bcast", env={b"GODWIT_TUNE": EVIL}), "godwit-choices-1")
    assert [c["collective"] for c in d["collectives"]] == ["bcast"] and "cannot be read" in d["tuning"], d


def profile(folder, name, *words, ranks=1, program=None):
    """Documents of a run: JSON and trace, and what was said."""
    here = os.path.join(folder.encode(), name)
    os.mkdir(here)
    files = {"profile": here + b"/a\"\xff.json", "trace": here + b"/t.trace.json"}
    p = subprocess.run([BUILD.encode() + b"/mpiexec", b"-n", b"%d" % ranks, b"--profile=json," + files["profile"],
                        b"--profile=trace," + files["trace"], program, *words], capture_output=True, cwd=here, timeout=120, check=False,
                       env={**CLEAN, b"LD_LIBRARY_PATH": BUILD.encode()})
    assert p.returncode == 0, (p.returncode, p.stdout, p.stderr)
    assert sorted(os.listdir(here)) == sorted(os.path.basename(f) for f in files.values()), os.listdir(here)  # no page
    out = []
    for kind, file in files.items():
        with open(file, "rb") as f:
            out.append(valid(f.read(), "godwit-%s-1" % kind))
    return out + [p.stderr.decode("utf-8", "replace")]


def check_spans(trace, ranks):
    """Calls of a thread lie within each other or apart, and in the time of the run."""
    calls = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    assert {e["pid"] for e in calls} == set(range(ranks)) and len(calls) == trace["otherData"]["calls"], trace["otherData"]
    assert sorted(e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "process_name") == sorted("rank %d" % r for r in range(ranks))
    lines = collections.defaultdict(list)
    for e in calls:
        lines[e["pid"], e["tid"]].append(e)
    for line, own in lines.items():
        open_until = []
        for e in sorted(own, key=lambda e: (e["ts"], -e["dur"])):
            begin, end = round(e["ts"] * 1000), round((e["ts"] + e["dur"]) * 1000)
            while open_until and open_until[-1] <= begin:
                open_until.pop()
            assert not open_until or end <= open_until[-1], (line, e, open_until)
            open_until.append(end)
    return calls


PROGRAM = r"""
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv) /* TIMES: calls of MPI_Comm_rank */
{
    int rank, ranks, x = 1, y;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < atoi(argv[1]); i++) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 20; i++) {
        MPI_Sendrecv(&x, 1, MPI_INT, (rank + 1) % ranks, i, &y, 1, MPI_INT, (rank + ranks - 1) % ranks, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    return MPI_Finalize();
}
"""


def check_profiles(folder, prefix):
    evil = folder.encode() + b"/" + EVIL.replace(b"/", b"") + b".x"
    with open(folder + "/a.c", "w", encoding="utf-8") as f:
        f.write(PROGRAM)
    run(prefix + "/bin/mpicc", folder + "/a.c", "-o", folder + "/a.out")
    shutil.copy(folder + "/a.out", evil)
    for ranks in RANKS:
        report, trace, said = profile(folder, b"p%d" % ranks, b"50", ranks=ranks, program=evil)
        assert report["program"] == trace["otherData"]["program"] == shown(os.path.basename(evil)), report["program"]
        assert report["ranks"] == ranks and len(report["ranks_seconds"]) == ranks and len(report["node_of_rank"]) == ranks
        calls = check_spans(trace, ranks)
        assert trace["otherData"]["left_out"] == 0
        rows = {r["name"]: r for r in report["rows"] if r["kind"] == "function" and r["calls"]}
        count = collections.Counter(e["name"] for e in calls)
        assert count == {name: r["calls"] for name, r in rows.items()}, (count, rows)
        for e in calls:
            assert e["cat"] == ("MPI_SYNC" if e["name"].endswith("(sync)") else "MPI"), e
        moved = collections.Counter()
        for e in calls:
            moved[e["name"]] += e.get("args", {}).get("bytes", 0)
        assert all(moved[name] == r["bytes"] for name, r in rows.items()) and moved["MPI_Sendrecv"] == 80 * ranks, (moved, rows)
        assert {(e["pid"], e["args"]["to"]) for e in calls if e["name"] == "MPI_Sendrecv"} == {(i, (i + 1) % ranks) for i in range(ranks)}
        for name, r in rows.items():  # the same clock
            seconds = sum(e["dur"] for e in calls if e["name"] == name) / 1e6 / ranks
            assert abs(seconds - r["seconds"]) < 1e-6 + 2e-9 * r["calls"] + r["seconds"] / 1000, (name, seconds, r)
        table = re.findall(r"^ +[\d.]+% \| +[\d.]+ \| +[\d.]+ \| +[\d.]+% \| +(\d+) \| [| ]*(\S+)$", said, re.M)
        assert table == [("%d" % r["calls"], r["name"]) for r in report["rows"]], (table, report["rows"])
        assert report["shmem"] is None and (sum(s["count"] for s in report["messages"]["sizes"]) == 20 * ranks), report["messages"]
    report, trace, said = profile(folder, b"shmem", ranks=2, program=BUILD.encode() + b"/shmem_old")
    calls = check_spans(trace, 2)
    assert {e["cat"] for e in calls} == {"SHMEM", "SHMEM_SYNC"} and all(e["name"].startswith("shmem_") for e in calls), calls
    assert sum(p["bytes"] for p in report["shmem"]["pairs"]) > 0 and report["messages"]["pairs"] == [], report["shmem"]
    # Sampling has no calls one by one, which is said; its report is one.
    here = folder + "/sampled.json"
    p = subprocess.run([BUILD + "/mpiexec", "-n", "2", "--profile=sample,json," + here, folder + "/a.out", "9"], env=CLEAN, capture_output=True,
                       timeout=120, check=False)
    assert p.returncode == 0, p.stderr
    with open(here, "rb") as f:
        assert valid(f.read(), "godwit-profile-1")["how"] == "sample"
    for words in ("sample,trace,x", "json," + folder + "/none/x", "trace," + folder, "json,/dev/full"):  # said before the program runs
        assert run(BUILD + "/mpiexec", "-n", "1", "--profile=" + words, folder + "/a.out", "9", status=2) == b"", words
    check_installed(folder, prefix)


def check_installed(folder, prefix):
    """More calls than there is room for; what pat_build and pat_report make of it; the schemas that are installed."""
    for name in os.listdir(SCHEMAS):
        with open(os.path.join(SCHEMAS, name), "rb") as f, open(os.path.join(prefix, "share/godwit/schema", name), "rb") as g:
            assert f.read() == g.read(), name
    here = folder + "/pat"
    os.mkdir(here)
    env = {b"PATH": prefix.encode() + b"/bin:" + CLEAN[b"PATH"]}

    def sh(text, status=0, **more):
        p = subprocess.run(["sh", "-c", text], cwd=here, env={**CLEAN, **env, **{k.encode(): v for k, v in more.items()}}, capture_output=True,
                           timeout=120, check=False)
        assert p.returncode == status, (text, p.returncode, p.stdout[-500:], p.stderr[-500:])
        return p.stdout
    sh("cp ../a.out . && pat_build a.out")
    sh("mpiexec -n 2 ./a.out+pat 70 && mv a.out+pat+*.ap2 one.ap2 && mv a.out+pat+*.ap2.json one.ap2.json")
    report = valid(sh("pat_report --json one.ap2"), "godwit-profile-1")
    assert [r["calls"] for r in report["rows"] if r["name"] == "MPI_Comm_rank"] == [140], report["rows"]
    assert sh("pat_report one.ap2").startswith(b"\nProfile of a.out, 2 ranks")
    sh("pat_report --trace one.ap2", status=2)
    sh("pat_report --json one.ap2 one.ap2", status=2)
    sh("mpiexec -n 1 ./a.out+pat 66000 && for f in a.out+pat+*.ap2*; do mv $f two.ap2${f##*.ap2}; done", PAT_RT_SUMMARY=b"0")
    trace = valid(sh("pat_report --trace -o t two.ap2 && cat t"), "godwit-trace-1")
    check_spans(trace, 1)
    assert trace["otherData"]["calls"] == 65536 and trace["otherData"]["left_out"] == 66000 + 61 - 65536, trace["otherData"]


def main():
    validators()
    prefix = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 and sys.argv[2] else None
    with tempfile.TemporaryDirectory() as folder:
        check_info(folder)
        check_info_in_jobs(folder)
        check_doctor(folder)
        check_choices()
        if prefix and os.access(prefix + "/bin/mpicc", os.X_OK):
            check_profiles(folder, prefix)


main()
