"""Writes a door's sources: client.h (types, constants and functions that turn the constants of one ABI into the other's),
entry_*.c (entry points), and hot.c (those that programs call most, which lie within the library: gen/hot.py).  One emitter for every ABI:
what is special to one stands in api/*_abi.tsv and src/facade/doors_ABI.h.

An entry point turns the program's arguments into those of the standard ABI, calls the library's own entry point, and turns results
back.  What depends on the kind of a parameter stands in Marshal."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import re

import hot
import model as api

ABIS = {"mpich": "mpich_abi.tsv", "ompi": "ompi_abi.tsv"}
HANDLES = {"COMMUNICATOR": "Comm", "DATATYPE": "Datatype", "OPERATION": "Op", "GROUP": "Group", "REQUEST": "Request", "MESSAGE": "Message",
           "ERRHANDLER": "Errhandler", "INFO": "Info", "FILE": "File", "WINDOW": "Win", "SESSION": "Session"}
OWN_TYPES = re.compile(r"\bMPI_(%s|Status|F08_[Ss]tatus)\b" % "|".join(HANDLES.values()))
OWN_FUNCTIONS = re.compile(r"\bMPI_(\w+_function(?:_c)?)\b")
# Sets of constants that a parameter may have: name of the set -> regular expression of the names.
SETS = {"rank": r"ANY_SOURCE|PROC_NULL|ROOT|UNDEFINED", "tag": r"ANY_TAG", "thread": r"THREAD_\w+", "order": r"ORDER_\w+",
        "distribution": r"DISTRIBUTE_(NONE|BLOCK|CYCLIC)", "darg": r"DISTRIBUTE_DFLT_DARG", "combiner": r"COMBINER_\w+",
        "typeclass": r"TYPECLASS_\w+", "comparison": r"IDENT|CONGRUENT|SIMILAR|UNEQUAL", "topology": r"CART|GRAPH|DIST_GRAPH|UNDEFINED",
        "split": r"COMM_TYPE_\w+|UNDEFINED", "lock": r"LOCK_(SHARED|EXCLUSIVE)", "whence": r"SEEK_\w+",
        "keyval": r"KEYVAL_INVALID|TAG_UB|IO|HOST|WTIME_IS_GLOBAL|APPNUM|LASTUSEDCODE|UNIVERSE_SIZE|WIN_(BASE|DISP_UNIT|SIZE|CREATE_FLAVOR|MODEL)",
        "flavor": r"WIN_FLAVOR_\w+", "winmodel": r"WIN_(UNIFIED|SEPARATE)", "code": r"SUCCESS|(T_)?ERR_(?!LASTCODE)\w+",
        "verbosity": r"T_VERBOSITY_\w+", "bind": r"T_BIND_\w+", "scope": r"T_SCOPE_\w+", "pvar": r"T_PVAR_CLASS_\w+",
        "ordering": r"T_SOURCE_\w+", "safety": r"T_CB_REQUIRE_\w+"}
BITS = {"amode": r"MODE_(APPEND|CREATE|DELETE_ON_CLOSE|EXCL|RDONLY|RDWR|SEQUENTIAL|UNIQUE_OPEN|WRONLY)",
        "assert": r"MODE_(NOCHECK|NOPRECEDE|NOPUT|NOSTORE|NOSUCCEED)"}
# What a value that is in no set becomes: itself, or one that no call takes (both ways).
OPEN_SETS = {"rank", "tag", "keyval", "code", "darg"}
WRAPPED = {"rank", "tag", "code"} # door_SET_in() and door_SET_out() tell the usual values, or those that users added, before they ask the set
# kind -> set, of scalars and of what `int *` points to.
KINDS = {"RANK": "rank", "RANK_NNI": "rank", "TAG": "tag", "THREAD_LEVEL": "thread", "ORDER": "order", "COMBINER": "combiner",
         "TYPECLASS": "typeclass", "COMM_COMPARISON": "comparison", "GROUP_COMPARISON": "comparison", "TOPOLOGY_TYPE": "topology",
         "SPLIT_TYPE": "split", "LOCK_TYPE": "lock", "UPDATE_MODE": "whence", "KEYVAL": "keyval", "ERROR_CLASS": "code",
         "ERROR_CODE": "code", "ACCESS_MODE": "amode", "ASSERT": "assert", "TOOL_VAR_VERBOSITY": "verbosity", "BIND_TYPE": "bind",
         "VARIABLE_SCOPE": "scope", "PVAR_CLASS": "pvar", "CALLBACK_SAFETY": "safety", "SOURCE_ORDERING": "ordering"}
ARRAYS = {"DISTRIB_ENUM": "distribution", "DTYPE_DISTRIBUTION": "darg"}
RAW_CODES = {"MPI_Abort", "MPI_Status_get_error", "MPI_Status_set_error"} # an exit status; the field of a status, kept as it is
# Strings whose room in the program is that of its own header.
STRINGS = {("MPI_Get_processor_name", "name"): "PROCESSOR_NAME", ("MPI_Open_port", "port_name"): "PORT_NAME",
           ("MPI_Lookup_name", "port_name"): "PORT_NAME", ("MPI_Comm_get_name", "comm_name"): "OBJECT_NAME",
           ("MPI_Type_get_name", "type_name"): "OBJECT_NAME", ("MPI_Win_get_name", "win_name"): "OBJECT_NAME", ("MPI_Error_string", "string"): "ERROR_STRING",
           ("MPI_Get_library_version", "version"): "LIBRARY_VERSION_STRING"}
# Texts that the library keeps, and that come back where the program has no more room than its header says.
KEPT = {("MPI_Info_set", "key"): "INFO_KEY", ("MPI_Info_set", "value"): "INFO_VAL"}
# Functions of the user are kept by what a call makes: result -> how the library is told whose they are.
TAGS = {"MPI_Op_create": "door_op(op_h, CLIENT_ABI)", "MPI_Grequest_start": "door_request(request_h, CLIENT_ABI)",
        "MPI_Register_datarep": "door_datarep(datarep, CLIENT_ABI)"}
# Handles that only libraries for C++ have: the number of the library's own, and its name (obj/obj.h), by which predefined.c asserts it.
LIBRARY_HANDLES = {"MPI::ERRORS_THROW_EXCEPTIONS": (327, "GW_H_ERRORS_THROW")}
# The answer of these says nothing of whether the error handler that they call throws.
CALL_HANDLER = re.compile(r"MPI_(Comm|Win|File)_call_errhandler$")
BY_HAND = re.compile(r"MPI_(\w+_(toint|fromint|c2f|f2c|c2f08|f082c|f2f08|f082f)|Abi_get_version|Info_get_(nkeys|nthkey|valuelen)|T_event_(register_callback|set_dropped_handler|handle_free))$")


def client(text):
    """The names of the standard's header as the door's own: client_Comm."""
    return OWN_FUNCTIONS.sub(r"client_\1", OWN_TYPES.sub(r"client_\1", text))


class Abi:
    def __init__(self, name):
        self.name, self.values, self.types = name, {}, {}
        self.fortran = {} # predefined handle -> its number in Fortran, where this is not the C handle
        with open(os.path.join(api.API, ABIS[name]), encoding="utf-8") as f:
            head = f.readline().rstrip("\n").split("\t")
            self.rows = [dict(zip(head, line.rstrip("\n").split("\t"))) for line in f]
        for r in self.rows:
            if r["section"] in ("constant", "handle"):
                self.values[r["name"]], self.types[r["name"]] = r["value"], r["c_type"]
            if r["section"] == "handle" and r.get("fortran"):
                self.fortran[r["name"]] = int(r["fortran"])
        self.pointers = {r["name"] for r in self.rows if r["section"] == "type" and r["c_type"] == "pointer"}
        self.data = [r for r in self.rows if r["section"] == "data"]


def pairs(model, abi, pattern):
    """(standard's value, door's value) of the constants whose name matches."""
    out = []
    for r in model.abi:
        name = r["name"]
        own = abi.values.get(name, "")
        if r["section"] == "constant" and re.fullmatch("MPI_(?:%s)" % pattern, name) and re.fullmatch(r"-?\d+", own):
            out.append((name, r["value"], own))
    return out


def set_functions(model, abi):
    for word, pattern in SETS.items():
        rows = pairs(model, abi, pattern)
        for way, a, b in (("in", 2, 1), ("out", 1, 2)):
            other = "v" if word in OPEN_SETS else "door_no_value(v)"
            yield "static inline int door_%s_%s%s(int v)" % (word, way, "_any" if word in WRAPPED else "")
            yield "{"
            yield "    switch (v) {"
            seen = set()
            for row in rows:
                if row[a] not in seen:
                    yield "    case %s: return %s; /* %s */" % (row[a], row[b], row[0])
                seen.add(row[a])
            # A value of the other ABI that means something there must not come through as it is.
            left = sorted({int(r[b]) for r in rows} - {int(x) for x in seen}) if word in OPEN_SETS - {"code"} else []
            for v in left:
                yield "    case %d: return %s;" % (v, "-1" if word == "darg" else "door_no_value(v)")
            yield "    default: return %s;" % other
            yield "    }"
            yield "}"
    for word, pattern in BITS.items():
        rows = pairs(model, abi, pattern)
        for way, a, b in (("in", 2, 1), ("out", 1, 2)):
            known = 0
            yield "static inline int door_%s_%s(int v)" % (word, way)
            yield "{"
            yield "    int to = 0;"
            for row in rows:
                known |= int(row[a])
                yield "    if (v & %s) to |= %s; /* %s */" % (row[a], row[b], row[0])
            yield "    return v & ~%d ? to | 1 << 30 : to;" % known
            yield "}"


def abi_types(abi, prefix, of_fields):
    """Handles and statuses; `of_fields`: what MPI_ at the begin of a field's name becomes."""
    for r in abi.rows:
        name = prefix + r["name"][4:]
        if r["section"] == "type" and r["name"][4:] in HANDLES.values():
            yield "typedef int %s;" % name if r["c_type"] == "integer" else "typedef struct %s_ *%s;" % (name, name)
    # Fortran's statuses are INTEGERs, and lie where INTEGERs may.
    yield "typedef struct %sStatus {" % prefix
    for r in abi.rows:
        if r["section"] == "struct_field" and r["name"].startswith("MPI_Status."):
            yield "    %s %s;" % (r["c_type"], r["name"].split(".")[1].replace("MPI_", of_fields))
    yield "} __attribute__((packed, aligned(4))) %sStatus;" % prefix
    yield "typedef %sStatus %sF08_status, %sF08_Status;" % (prefix, prefix, prefix)


def hot_declarations(model, abi):
    """Entry points within the library, and the door's, to which these leave what is not usual."""
    yield "struct door_slow {"
    for e in filter(hot.is_hot, model.entries(implemented=True)):
        yield "    int (*%s)(%s);" % (e.name[4:], hot.parameters(e, client))
    yield "};"
    yield "extern const struct door_slow door_slow;"
    for e in filter(hot.is_hot, model.entries(implemented=True)):
        yield "int door_slow_%s(%s);" % (e.name[4:], hot.parameters(e, client))
        yield "int %s(%s);" % (hot.name(e, abi.name), hot.parameters(e, client))


def client_h(model, abi):
    out = ["/* client.h -- generated by gen/doors.py: types and constants of the programs for which this door is. */",
           "#ifndef GW_DOOR_CLIENT_H", "#define GW_DOOR_CLIENT_H", "", '#include <stddef.h>', "", '#include "base/base.h"', '#include "facade/doors.h"', "",
           "#define CLIENT_ABI DOOR_%s" % abi.name.upper(), ""]
    out += list(abi_types(abi, "client_", "")) + [""]
    out += [client(text) for name, text in model.typedefs() if "MPI_T_" not in name] + [""]
    for name, v in abi.values.items():
        if re.fullmatch(r"-?\d+", v) and name.startswith("MPI_"):
            c = client(abi.types[name])
            out.append("#define CLIENT_%s (%s(%s))" % (name[4:], "(%s)" % c if "*" in c or abi.types[name] in abi.pointers else "", v))
        if name in abi.fortran: # programs may have the object: its address comes from the dynamic linker
            out.append("extern char %s[] __attribute__((visibility(\"default\")));" % v[1:])
            out.append("#define CLIENT_%s ((%s)%s)" % (name[4:], client(abi.types[name]), v[1:]))
    out += ["", "/* No set of constants has this value, in no ABI. */", "static inline int door_no_value(int v) { return v ^ 0x40abcd00; }", ""]
    out += list(set_functions(model, abi))
    for word in ("rank", "tag"):
        for way in ("in", "out"):
            out.append("static inline int door_%s_%s(int v) { return likely(v >= 0) ? v : door_%s_%s_any(v); }" % (word, way, word, way))
    out += ["", '#include "facade/doors_%s.h"' % abi.name, '#include "facade/doors_codec.h"', ""]
    out += list(hot_declarations(model, abi)) + ["", "#endif", ""]
    return "\n".join(out)


def objects(abi):
    """Variables whose addresses are handles, and those that hold such an address.  Nobody reads the former."""
    out = ["#define SHOWN __attribute__((visibility(\"default\")))"]
    for r in abi.data:
        if r["c_type"]:
            out.append("SHOWN void *const %s = %s;" % (r["name"], r["c_type"][1:]))
        else:
            out.append("extern char %s[] SHOWN;" % r["name"])
            out.append("__attribute__((section(\".bss.%s\"), aligned(16))) char %s[%s];" % (r["name"], r["name"], r["value"]))
    return out + [""]


def fortran_numbers(model, abi, rows):
    """Both ways: by the standard's value, and by kind of object and number."""
    kind = {"Datatype": "TYPE", "Request": "REQ", "Message": "MSG"}
    rows = [row for row in rows if row[0] in abi.fortran]
    numbers = {value: abi.fortran[name] for name, value, _ in reversed(rows)}
    out = ["const int16_t door_fortran_of[DOOR_PREDEFINED] = { /* 1 more */"]
    out += ["    [%d] = %d," % (value, n + 1) for value, n in sorted(numbers.items())] + ["};"]
    out.append("const uint16_t door_of_fortran[GW_KIND_COUNT][DOOR_FORTRAN] = {")
    for word, n, value in sorted({(abi.types[name][4:], abi.fortran[name], value) for name, value, _ in rows}):
        out.append("    [GW_KIND_%s][%d] = %d," % (kind.get(word, word.upper()), n, value))
    return out + ["};", ""]


def predefined_c(model, abi):
    """The handles that both sides know: a table by the standard's value, which is below 768."""
    out = ["/* predefined.c -- generated by gen/doors.py: the predefined handles of the two ABIs. */", '#include "door/door.h"', ""]
    rows = known_handles(model, abi)
    out += ['_Static_assert(%d == %s, "gen/doors.py knows the number");' % known for known in LIBRARY_HANDLES.values()]
    out += ["extern char %s[] __attribute__((visibility(\"default\")));" % own[1:] for name, _, own in rows if name in LIBRARY_HANDLES and own[0] == "&"]
    out.append("const struct door_predefined door_predefined[DOOR_PREDEFINED] = {")
    seen = set()
    for name, value, own in rows:
        if value not in seen:
            out.append("    [%d] = {(uintptr_t)%s, \"%s\"}," % (value, own, name))
        seen.add(value)
    out += ["};", ""]
    if abi.data:
        out += objects(abi) + fortran_numbers(model, abi, rows)
    out += index_tables(model, abi, "const uint16_t door")
    out.append("const struct door_slow door_slow = {")
    out += ["    .%s = door_slow_%s," % (e.name[4:], e.name[4:]) for e in model.entries(implemented=True) if hot.is_hot(e)] + ["};", ""]
    return "\n".join(out)


def known_handles(model, abi):
    """(name, standard's value, door's value)"""
    return [(name, value, abi.values[name]) for name, (value, _) in LIBRARY_HANDLES.items()] + [(r["name"], int(r["value"]), abi.values[r["name"]]) for r in model.abi if r["section"] == "handle" and abi.values.get(r["name"])]


def index_tables(model, abi, begin):
    """The last byte of a handle of MPICH numbers the predefined objects of a kind."""
    out = []
    for word, first, end in (("Datatype", 512, 768), ("Op", 32, 64)) if abi.name == "mpich" else ():
        by_index = {int(own) & 255: value for _, value, own in reversed(known_handles(model, abi)) if first <= value < end and int(own) >> 30 == 1}
        out.append("%s_%s_index[256] = {" % (begin, word))
        out += ["    [%d] = %d," % row for row in sorted(by_index.items())] + ["};", ""]
    return out


class Marshal:
    """One entry point: statements before and after the call, and the argument of each parameter."""

    def __init__(self, e, abi, model):
        self.e, self.f, self.abi = e, e.function, abi
        self.std = {r["name"]: r["value"] for r in model.abi if r["section"] == "constant"}
        self.before, self.after, self.ok, self.args = [], [], [], []
        self.is_tool = self.f.name.startswith("MPI_T_")
        for p in e.params:
            if p.c != "...":
                self.args.append(self.one(p))
        if self.f.name == "MPI_Type_get_contents":
            self.ok.append("door_contents_out(door_Datatype_in(datatype), max_integers, array_of_integers);")
        self.tag()

    def tag(self):
        name = self.f.name
        call = TAGS.get(name)
        for p in self.e.params:
            if p.kind == "KEYVAL" and p.dir == "out":
                self.ok.insert(0, "godwit_door_keyval(*%s, CLIENT_ABI);" % p.name)
            if p.kind == "ERRHANDLER" and p.dir == "out" and "_create_" in name:
                call = "door_errhandler(%s_h, CLIENT_ABI)" % p.name
        if call:
            self.ok.append("godwit_%s;" % call)

    def length_of(self, p):
        n = p.len[0] if isinstance(p.len, list) else p.len
        if n == "*" and self.f.is_neighbor:
            return "godwit_door_members(door_Comm_in(comm), DOOR_%s)" % ("DESTINATIONS" if p.name[0] == "s" else "SOURCES")
        if n == "*" and self.f.blocking == "MPI_Alltoallw":
            return ("sendbuf == CLIENT_IN_PLACE ? 0 : " if p.name == "sendtypes" else "") + "godwit_door_members(door_Comm_in(comm), DOOR_PEERS)"
        if self.f.name == "MPI_Comm_spawn_multiple":
            return "door_is_root(comm, root) ? count : 0"
        if n == "*" or not n or not self.e.param(n):
            first = self.e.params[0]
            return first.name if first.kind.startswith("ARRAY_LENGTH") else self.e.params[1].name
        q = self.e.param(n)
        return ("(%s ? *%s : 0)" % (n, n)) if "*" in q.c else n

    def one(self, p):
        if p.kind in HANDLES:
            return self.handle_array(p) if p.is_array else self.handle(p)
        if p.kind in ("STATUS", "F08_STATUS", "F90_STATUS"):
            return self.status(p)
        if p.kind == "BUFFER" and (self.f.chapter == 6 or self.f.is_neighbor):
            return "door_buffer_in(%s)" % p.name
        if p.kind == "BUFFER" and re.search("Buffer_attach|attach_buffer", self.f.name):
            return "door_attached_in(%s)" % p.name
        if p.kind in ("BUFFER", "C_BUFFER", "C_BUFFER2") and re.search("Buffer_detach|detach_buffer", self.f.name):
            self.ok.append("door_buffer_out(%s);" % p.name)
            return p.name
        if p.kind in ("FUNCTION", "POLYFUNCTION"):
            return self.function(p)
        if p.kind in ("ATTRIBUTE_VAL", "ATTRIBUTE_VAL_10") and p.dir == "out":
            keyval = next(q.name for q in self.e.params if q.kind == "KEYVAL")
            self.ok.append("if (*flag) door_attribute_out(%s, %s);" % (keyval, p.name))
            return p.name
        if p.kind == "WEIGHT":
            return "door_weights_in(%s)" % p.name
        if p.kind == "PVAR" and p.c == "MPI_T_pvar_handle":
            return "door_pvar_handle_in(%s)" % p.name
        if p.kind == "TOOL_MPI_OBJ":
            self.before.append("uintptr_t %s_h;" % p.name)
            return "door_object_in(%s, &%s_h)" % (p.name, p.name)
        if p.kind == "OFFSET" and self.f.name == "MPI_File_set_view" and p.name == "disp":
            return "disp == CLIENT_DISPLACEMENT_CURRENT ? MPI_DISPLACEMENT_CURRENT : disp"
        if p.kind == "STRING" and p.dir == "out":
            return self.string(p)
        if (self.f.name, p.name) in KEPT:
            return self.kept(p, KEPT[self.f.name, p.name])
        if p.kind in ARRAYS:
            return self.int_array(p, ARRAYS[p.kind], "in")
        if p.kind in KINDS and self.f.name not in RAW_CODES and not (self.f.name == "MPI_Comm_rank" and p.dir == "out"):
            return self.constant(p, KINDS[p.kind])
        return p.name

    def constant(self, p, word):
        if p.is_array:
            if p.kind == "ERROR_CODE":  # of spawn
                self.after.append("if (%s) door_codes_out(%s, godwit_door_spawn_codes());" % (p.name, p.name))
            elif self.f.name == "MPI_Group_translate_ranks":
                if p.dir == "in":
                    return self.int_array(p, word, "in")
                self.ok.append("for (int i = 0; i < n; i++) %s[i] = door_rank_out(%s[i]);" % (p.name, p.name))
            return p.name
        if p.dir == "in":
            cast = "(%s)" % p.c if p.c.startswith("MPI_") else ""
            text = "door_%s_in(%s%s)" % (word, "(int)" if cast else "", p.name)
            return cast + text
        guard = "if (%s) " % p.name if self.is_tool else ""
        cast = "(%s)" % p.c.replace("*", "").strip() if p.c.startswith("MPI_") else ""
        self.ok.append("%s*%s = %sdoor_%s_out(%s*%s);" % (guard, p.name, cast, word, "(int)" if cast else "", p.name))
        if p.dir == "inout":
            self.before.append("int %s_v = %s ? door_%s_in(*%s) : 0;" % (p.name, p.name, word, p.name))
            self.ok[-1] = "*%s = door_%s_out(%s_v);" % (p.name, word, p.name)
            return "%s ? &%s_v : NULL" % (p.name, p.name)
        return p.name

    def int_array(self, p, word, way):
        self.before.append("int %s_s[DOOR_STACK], *%s_a = door_ints_in(%s, %s, %s_s, door_%s_%s%s);" % (
            p.name, p.name, p.name, self.length_of(p), p.name, word, way, "_any" if word in WRAPPED else ""))
        self.after.append("door_array_free(%s_a, %s_s);" % (p.name, p.name))
        return p.name + "_a"

    def handle(self, p):
        word, n = HANDLES[p.kind], p.name
        if "*" not in p.c:
            return "door_%s_in(%s)" % (word, n)
        if p.dir == "out":
            self.before.append("MPI_%s %s_h = 0;" % (word, n))
            if self.is_tool:
                self.after.append("if (%s_h) *%s = door_%s_out(%s_h);" % (n, n, word, n))
            else:
                self.after.append("if (likely(%s_h)) *%s = door_%s_out(%s_h);" % (n, n, word, n))
            return "%s ? &%s_h : NULL" % (n, n)
        self.before.append("MPI_%s %s_h = %s ? door_%s_in(*%s) : 0, %s_was = %s_h;" % (word, n, n, word, n, n, n))
        if p.dir == "inout":
            self.after.append("if (%s_h != %s_was) *%s = door_%s_out(%s_h);" % (n, n, n, word, n))
        else:
            self.before[-1] = "MPI_%s %s_h = %s ? door_%s_in(*%s) : 0;" % (word, n, n, word, n)
        return "%s ? &%s_h : NULL" % (n, n)

    def handle_array(self, p):
        word, n = HANDLES[p.kind], p.name
        if p.dir == "out":
            self.before.append("MPI_%s %s_s[DOOR_STACK], *%s_a = door_%ss_new(%s, %s, %s_s);" % (word, n, n, word, n, self.length_of(p), n))
            self.after.append("door_%ss_out(%s_a, %s, %s);" % (word, n, self.length_of(p), n))
        else:
            self.before.append("MPI_%s %s_s[DOOR_STACK], *%s_a = door_%ss_in(%s, %s, %s_s);" % (word, n, n, word, n, self.length_of(p), n))
            if p.dir == "inout":
                self.after.append("door_%ss_changed(%s_a, %s, %s);" % (word, n, self.length_of(p), n))
        self.after.append("door_array_free(%s_a, %s_s);" % (n, n))
        return n + "_a"

    def status(self, p):
        n = p.name
        if p.is_array:
            length = self.length_of(p)
            self.before.append("MPI_Status %s_s[DOOR_STACK], *%s_a = door_statuses_begin(%s, %s, %s_s);" % (n, n, n, length, n))
            self.after.append("door_statuses_end(%s_a, %s, %s, rc);" % (n, length, n))
            self.after.append("door_array_free(%s_a, %s_s);" % (n, n))
            return n + "_a"
        if p.dir == "in":
            self.before.append("MPI_Status %s_s;" % n)
            return "door_status_in(%s, &%s_s)" % (n, n)
        if p.dir == "inout":
            self.before.append("MPI_Status %s_s, *%s_p = door_status_in(%s, &%s_s);" % (n, n, n, n))
            self.ok.append("door_status_store(&%s_s, %s);" % (n, n))
            return n + "_p"
        self.before.append("MPI_Status %s_s;" % n)
        self.after.append("door_status_end(&%s_s, %s);" % (n, n))
        return "door_status_begin(%s, &%s_s)" % (n, n)

    def function(self, p):
        base = p.c.replace("*", "").strip()
        if "copy" in base.lower() and "attr" in base.lower() or base == "MPI_Copy_function":
            return "(%s *)door_copy_in((door_function *)%s)" % (base, p.name)
        if "delete" in base.lower():
            return "(%s *)door_delete_in((door_function *)%s)" % (base, p.name)
        return "(%s *)(door_function *)%s" % (base, p.name) if client(base) != base else p.name

    def kept(self, p, most):
        """The program's limit holds where it is the smaller one; MPICH takes keys of one character more."""
        own, std = int(self.abi.values["MPI_MAX_" + most]), int(self.std["MPI_MAX_" + most])
        return "door_string_in(%s, CLIENT_MAX_%s)" % (p.name, most) if own + 1 < std else p.name

    def string(self, p):
        most = STRINGS.get((self.f.name, p.name))
        if not most or int(self.abi.values["MPI_MAX_" + most]) >= int(self.std["MPI_MAX_" + most]):
            return p.name
        n = p.name
        length = next((q.name for q in self.e.params if q.kind == "STRING_LENGTH"), "NULL")
        self.before.append("char %s_s[MPI_MAX_%s];" % (n, most))
        self.ok.append("door_string_out(%s_s, %s, CLIENT_MAX_%s, %s);" % (n, n, most, length))
        return "%s ? %s_s : NULL" % (n, n)


def entry(e, abi, model):
    lines = plain_entry(e, abi, model)
    if not hot.is_hot(e):
        return lines
    short, params = e.name[4:], hot.parameters(e, client)
    lines[0] = "DOOR_CORE(%s);\nGW_COLD int door_slow_%s(%s)" % (short, short, params)
    call = "%s(%s)" % (hot.name(e, abi.name), ", ".join(p.name for p in e.params))
    return lines + ["DOOR(int, %s, (%s))" % (short, params), "{", "    return %s;" % call, "}", ""]


def plain_entry(e, abi, model):
    short = e.name[4:]
    params = ", ".join(p.decl() if p.c == "..." else client_decl(p) for p in e.params) or "void"
    m = Marshal(e, abi, model)
    call = "core_%s(%s)" % (short, ", ".join(m.args))
    lines = ["DOOR(%s, %s, (%s))" % (client(e.return_c), short, params), "{"]
    if e.return_c != "int":
        return lines + ["    return %s;" % call, "}", ""]
    if CALL_HANDLER.match(e.name):
        return lines + ["    return door_handled(%s, errorcode);" % call, "}", ""]
    if not (m.after or m.ok):
        lines += ["    " + s for s in m.before]
        return lines + ["    return door_code(%s);" % call, "}", ""]
    lines += ["    " + s for s in m.before] + ["    int rc = %s;" % call] + ["    " + s for s in m.after]
    if m.ok:
        lines += ["    if (unlikely(rc != MPI_SUCCESS)) return door_code(rc);"] + ["    " + s for s in m.ok] + ["    return MPI_SUCCESS;"]
    else:
        lines.append("    return door_code(rc);")
    return lines + ["}", ""]


def client_decl(p):
    return client(p.decl())


def emit(model):
    out = []
    for name in ABIS:
        if not os.path.exists(os.path.join(api.API, ABIS[name])):
            continue
        abi = Abi(name)
        out += [("facade/%s/client.h" % name, client_h(model, abi)), ("door/%s/predefined.c" % name, predefined_c(model, abi)),
                hot.emit(model, name, index_tables(model, abi, "static const uint16_t hot"), client)]
        for part in api.FILE_NAMES:
            lines = ["/* entry_%s.c -- generated by gen/doors.py: entry points of a door. */" % part, '#include "door/door.h"', ""]
            for e in model.entries(implemented=True):
                if e.function.file == part and not BY_HAND.match(e.name):
                    lines += entry(e, abi, model)
            out.append(("door/%s/entry_%s.c" % (name, part), "\n".join(lines)))
    return out
