"""The OpenSHMEM API as data: api/shmem/functions.json (what the specification says), types.tsv, constants.tsv (values of ours), extra.json
(types and functions beyond 1.6: signed bitwise reductions, and calls on caches that 1.6 has dropped).

A Function is a pattern of names; an Entry is one C function: the pattern with a type, or a size, with or without a context."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
API = os.path.join(ROOT, "api", "shmem")
# The exact-width types are these where int has 32 bits and long 64 (elsewhere the header says #error).
SAME = {"int8_t": "signed char", "int16_t": "short", "int32_t": "int", "int64_t": "long", "uint8_t": "unsigned char", "uint16_t": "unsigned short",
        "uint32_t": "unsigned int", "uint64_t": "unsigned long", "size_t": "unsigned long", "ptrdiff_t": "long"}


class Type:
    """A type of a set; `kind`: signed, unsigned, real, complex, char, bits (a size) or bytes."""

    def __init__(self, c, name, size, kind):
        self.c, self.name, self.bytes, self.kind = c, name, size, kind
        self.basic = SAME.get(c, c)
        self.unsigned = "uint%d_t" % (8 * size) if size <= 8 else ""


class Entry:
    def __init__(self, function, type_, has_ctx):
        self.function, self.type, self.has_ctx = function, type_, has_ctx
        word = type_.name if type_ else ""
        self.name = re.sub("<TYPENAME>|<SIZE>", word, function.ctx_name if has_ctx else function.name)
        c = type_.c if type_ and type_.kind != "bits" else "void"
        self.ret = function.ret.replace("TYPE", c)
        self.params = [(p["type"].replace("TYPE", c), p["name"]) for p in function.params]
        if has_ctx:
            self.params.insert(0, ("shmem_ctx_t", "ctx"))
        self.is_complex = bool(type_) and type_.kind == "complex"

    @property
    def profiling(self):
        """shmem_x: pshmem_x, start_pes: pstart_pes, _my_pe: p_my_pe."""
        return "p" + self.name

    def prototype(self, prefix=""):
        words = [t if t == "..." else t + ("" if t.endswith("*") else " ") + n for t, n in self.params]
        return "%s%s%s%s(%s)" % (self.ret, "" if self.ret.endswith("*") else " ", prefix, self.name, ", ".join(words) or "void")


class Function:
    def __init__(self, row, types):
        self.group, self.name, self.ret, self.params = row["group"], row["name"], row["ret"], row["params"]
        self.ctx_name, self.c11, self.c11_ctx = row.get("ctx_name", ""), row.get("c11", ""), row.get("c11_ctx", False)
        self.since, self.deprecated, self.replaced_by = row["since"], row.get("deprecated", ""), row.get("replaced_by", "")
        self.section, self.over, self.noreturn = row.get("section", ""), row.get("over", ""), row.get("noreturn", False)
        # the verb: shmem_<TYPENAME>_put_nbi, shmem_put<SIZE>_nbi and shmem_putmem_nbi are all put_nbi
        self.verb = re.sub("^shmem_", "", self.name.replace("_<TYPENAME>", "").replace("<SIZE>", ""))
        self.types = types[self.over] if self.over else [None]
        self.entries = [Entry(self, t, ctx) for t in self.types for ctx in ([False, True] if self.ctx_name else [False])]


class Model:
    def __init__(self):
        with open(os.path.join(API, "functions.json"), encoding="utf-8") as f:
            rows = json.load(f)
        with open(os.path.join(API, "extra.json"), encoding="utf-8") as f:
            extra = json.load(f)
        self.types = {}
        for words in table("types.tsv"):
            self.types.setdefault(words["set"], []).append(Type(words["TYPE"], words["TYPENAME"], int(words["bytes"]), words["kind"]))
        by_name = {t.name: t for t in self.types["rma"]}
        self.specified = {t.name for t in self.types["rma"]}
        for over, name in extra["types"]:
            self.types[over].append(by_name[name])
        self.functions = [Function(r, self.types) for r in rows["functions"] + extra["functions"]]
        self.generics = rows["generics"]
        self.constants = list(table("constants.tsv"))

    def entries(self):
        return [e for f in self.functions for e in f.entries]


def table(name):
    with open(os.path.join(API, name), encoding="utf-8") as f:
        head = f.readline().rstrip("\n").split("\t")
        for line in f:
            if line.strip():
                yield dict(zip(head, line.rstrip("\n").split("\t")))
