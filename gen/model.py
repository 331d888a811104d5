"""The MPI API as data: api/functions.json (what the standard says), api/standard_abi.tsv (values), api/*.tbl (what is implemented).

An Entry is one C entry point: a function in its plain or its large-count (`_c`) form."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import glob
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
API = os.path.join(ROOT, "api")
# Flags of api/*.tbl, which api/p2p.tbl explains; those with a value name a parameter, but for the first three.
FLAGS = {"any", "value", "inline", "hot", "doors", "null_failed", "lent", "data", "uncommitted", "parts", "alias"}
VALUED = {"null", "check", "together", "raises", "leader", "room", "everywhere", "in_place", "blocks", "attempt"}
OF_COLLECTIVES = {"check", "in_place", "blocks", "parts", "alias"}
NULLS = {"comm": "COMMUNICATOR", "file": "FILE", "info": "INFO", "request": "REQUEST", "type": "DATATYPE", "win": "WINDOW"}

# Chapters of MPI 4.1/5.0 -> the generated file that holds their entry points.
FILES = {3: "p2p", 4: "p2p", 5: "type", 6: "coll", 7: "comm", 8: "comm", 9: "env", 10: "env", 11: "env", 12: "rma", 13: "env", 14: "io", 15: "env",
         16: "env", 19: "type", 20: "env"}
FILE_NAMES = ["p2p", "coll", "type", "comm", "env", "io", "rma"]


class Param:
    def __init__(self, row, large):
        self.name, self.kind, self.dir = row["name"], row["kind"], row["dir"]
        self.c = row.get("c_large") if large and row.get("c_large") else row.get("c")
        self.len = row.get("len")
        self.const = bool(row.get("const"))
        self.root_only = bool(row.get("root_only"))
        self.func_type = row.get("func_type")
        self.is_array = self.c.endswith("]") or (self.len is not None and self.kind in ("STATUS", "REQUEST"))

    def decl(self, name=None):
        """`const int ranks[]`, `int ranges[][3]`, `MPI_Comm comm`, `...`."""
        if self.c == "...":
            return self.c
        name = self.name if name is None else name
        m = re.match(r"^(.*?)((?:\[\d*\])+)$", self.c)
        base, tail = m.groups() if m else (self.c, "")
        if self.kind == "WEIGHT" and tail:
            # GCC warns where MPI_UNWEIGHTED, the address 10, is given for what is declared as an array.
            base, tail = base + " *", ""
        return base + ("" if base.endswith("*") else " ") + name + tail


class Entry:
    def __init__(self, function, large):
        self.function, self.large = function, large
        row = function.row
        self.name = row["c_large_name"] if large else row["name"]
        self.return_c = row["return_c"]
        self.params = [Param(p, large) for p in row["params"]
                       if "c_parameter" not in p.get("suppress", []) and (large or not p.get("large_only"))]

    def parameters(self):
        return ", ".join(p.decl() for p in self.params) or "void"

    def prototype(self, prefix=""):
        return "%s %s%s(%s)" % (self.return_c, prefix, self.name, self.parameters())

    @property
    def fn_id(self):
        return "GW_FN_" + self.name[4:]

    def param(self, name):
        return next((p for p in self.params if p.name == name), None)


class Function:
    def __init__(self, row):
        self.row = row
        self.name, self.chapter, self.title = row["name"], row["chapter"], row["chapter_title"]
        self.since = row.get("since")
        self.deprecated = row.get("deprecated")
        self.has_large = bool(row.get("has_c"))
        self.in_header = "c" in row["langs"]
        self.target = self.text = None              # from api/*.tbl, of the functions that the library has
        self.flags = {}                             # flag -> its values, [] of those that have none
        self.entries = [Entry(self, False)] + ([Entry(self, True)] if self.has_large else []) if self.in_header else []

    @property
    def implemented(self):
        return self.target is not None

    def allows_null(self, kind):
        """The null handle of this kind may be given."""
        return kind in [NULLS[v] for v in self.flags.get("null", [])]

    @property
    def form(self):
        """What becomes of its operation: CHECK_BLOCKS (no request is made), CHECK_STARTS or CHECK_PREPARES one."""
        makes = any(p["kind"] == "REQUEST" and p["dir"] == "out" for p in self.row["params"])
        return "CHECK_BLOCKS" if not makes else "CHECK_PREPARES" if self.name.endswith("_init") else "CHECK_STARTS"

    @property
    def file(self):
        return FILES.get(self.chapter)

    @property
    def is_neighbor(self):
        """A neighbourhood collective: of the calls of chapter 8 those with buffers."""
        return self.chapter == 8 and any(p["kind"] == "BUFFER" for p in self.row["params"])

    @property
    def moves_data(self):
        """Its buffers are messages, its datatypes must be committed."""
        return self.chapter in (3, 4, 6, 12, 14) or self.is_neighbor

    @property
    def blocking(self):
        """The name of the blocking call of a collective, also for its non-blocking and its persistent form."""
        if self.chapter != 6 and not self.is_neighbor:
            return self.name
        name = re.sub(r"_init$", "", self.name)
        return re.sub(r"^MPI_I(\w)", lambda m: "MPI_" + m.group(1).upper(), name)


class Model:
    def __init__(self):
        with open(os.path.join(API, "functions.json"), encoding="utf-8") as f:
            data = json.load(f)
        self.functions = sorted((Function(r) for r in data["functions"]), key=lambda f: (f.chapter, f.name))
        self.callbacks = data["callbacks"]
        self.predefined_callbacks = data["predefined_callback_functions"]
        self.kinds = data["kinds"]
        self.by_name = {f.name: f for f in self.functions}
        self.abi = load_abi()
        for path in sorted(glob.glob(os.path.join(API, "*.tbl"))):
            self.load_overlay(path)
        self.share_flags()

    def load_overlay(self, path):
        """Rows `name | target | flags | text`; the target is a C function, or a call with its arguments spelt out."""
        with open(path, encoding="utf-8") as f:
            for n, line in enumerate(f, 1):
                line = line.rstrip("\n")
                if not line.strip() or line.lstrip().startswith("#"):
                    continue
                where = "%s:%d" % (os.path.basename(path), n)
                cols = [c.strip() for c in line.split("|")]
                if len(cols) != 4:
                    sys.exit("%s: want 4 columns, got %d" % (where, len(cols)))
                name, target, flags, text = cols
                function = self.by_name.get(name)
                if not function or not function.in_header:
                    sys.exit("%s: %s is no C function of the standard" % (where, name))
                if function.implemented:
                    sys.exit("%s: %s stands here twice" % (where, name))
                function.target, function.flags, function.text = target, read_flags(flags, function, where), text

    def share_flags(self):
        """The other forms of a collective have flags of the blocking one."""
        for f in self.functions:
            plain = self.by_name.get(f.blocking)
            if plain and plain is not f:
                f.flags.update((k, v) for k, v in plain.flags.items() if k in OF_COLLECTIVES)
            for p in [p for e in f.entries for p in e.params if p.name in f.flags.get("everywhere", [])]:
                p.root_only = False

    def typedefs(self):
        """(name, C text) of the types of users' functions."""
        for cb in self.callbacks:
            for t in filter(None, (cb.get("c_typedef"), cb.get("c_typedef_large"))):
                args = ", ".join(p["c"] if p["c"] == "..." else p["c"] + ("" if p["c"].endswith("*") else " ") + p["name"] for p in t["params"])
                yield t["name"], "typedef %s %s(%s);" % (t["return_c"].strip(), t["name"], args)

    def entries(self, implemented=None):
        for f in self.functions:
            if implemented is None or f.implemented == implemented:
                yield from f.entries

    def numbered(self):
        """Every entry point in the order of its GW_FN_ number, which starts at 1."""
        return sorted(self.entries(), key=lambda e: e.name)


def read_flags(text, function, where):
    """The third column: flag -> its values."""
    flags = {}
    names = {p.name for e in function.entries for p in e.params}
    for word in text.split():
        flag, equals, value = word.partition("=")
        if flag not in (VALUED if equals else FLAGS):
            sys.exit("%s: unknown flag %s" % (where, word))
        known = {"null": NULLS, "together": ("waits", "goes_on"), "check": [value], "attempt": [value]}.get(flag, names)  # of these two the compiler knows
        if equals and value.split("*")[0] not in known:
            sys.exit("%s: %s does not go with %s" % (where, word, function.name))
        flags.setdefault(flag, []).extend([value] if equals else [])
    return flags


def load_abi():
    with open(os.path.join(API, "standard_abi.tsv"), encoding="utf-8") as f:
        head = f.readline().rstrip("\n").split("\t")
        return [dict(zip(head, line.rstrip("\n").split("\t"))) for line in f]
