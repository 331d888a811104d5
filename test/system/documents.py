#!/usr/bin/env python3
"""What the tools answer to programs: documents that fit their schemas (tools/schema), whatever names, values and bytes the users' world has, and
that say what the tools say to people.  Who has no python3-jsonschema is told, and nothing is checked."""
# run.py: timeout=240 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import re
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
    for e in VALIDATORS[name].iter_errors(document):
        raise AssertionError("%s: %s: %s" % (name, "/".join(str(p) for p in e.absolute_path), e.message))
    assert not VALIDATORS[name].is_valid(dict(document, more=1)), "the schema %s lets anything pass" % name
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
        tool("mpiexec", "-n", str(ranks), "sh", "-c", 'exec "$0" --json > "$(mktemp "$1/XXXXXX")"', BUILD + "/godwit-info", here)
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


def main():
    validators()
    with tempfile.TemporaryDirectory() as folder:
        check_info(folder)
        check_info_in_jobs(folder)
        check_doctor(folder)
        check_choices()


main()
