"""The C half of the Fortran binding: bodies of mpi_x_, mpi_x_f08ts_, mpi_x_c_f08_ and so on (fortran/entry.c), for each ABI.  gen/fortran.py
and gen/fortran_door.py call it.

Each turns INTEGERs into handles, Fortran's strings into C's, sentinels into C's values, and back."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import re

import model as api

# Written by hand: fortran/hand.c.
HAND = {"MPI_Init", "MPI_Init_thread", "MPI_Pcontrol", "MPI_Wtime", "MPI_Wtick", "MPI_Aint_add", "MPI_Aint_diff", "MPI_Sizeof", "MPI_F_sync_reg",
        "MPI_Status_f2f08", "MPI_Status_f082f", "MPI_Info_get", "MPI_Info_get_string", "MPI_Session_get_nth_pset", "MPI_Op_create",
        "MPI_Comm_create_errhandler", "MPI_Win_create_errhandler", "MPI_File_create_errhandler", "MPI_Session_create_errhandler",
        "MPI_Comm_create_keyval", "MPI_Type_create_keyval", "MPI_Win_create_keyval", "MPI_Comm_set_attr", "MPI_Type_set_attr", "MPI_Win_set_attr",
        "MPI_Comm_get_attr", "MPI_Type_get_attr", "MPI_Win_get_attr", "MPI_Keyval_create", "MPI_Keyval_free", "MPI_Attr_put", "MPI_Attr_get",
        "MPI_Attr_delete", "MPI_Grequest_start", "MPI_Register_datarep", "MPI_Comm_spawn", "MPI_Comm_spawn_multiple"}
CPTR = {"MPI_Alloc_mem", "MPI_Win_allocate", "MPI_Win_allocate_shared", "MPI_Win_shared_query"}
HANDLES = {"COMMUNICATOR": ("comm", "Comm"), "DATATYPE": ("type", "Datatype"), "OPERATION": ("op", "Op"), "GROUP": ("group", "Group"),
           "REQUEST": ("request", "Request"), "MESSAGE": ("message", "Message"), "ERRHANDLER": ("errhandler", "Errhandler"),
           "INFO": ("info", "Info"), "FILE": ("file", "File"), "WINDOW": ("win", "Win"), "SESSION": ("session", "Session")}
REDUCTIONS = {"MPI_Reduce", "MPI_Allreduce", "MPI_Reduce_scatter", "MPI_Reduce_scatter_block", "MPI_Scan", "MPI_Exscan", "MPI_Reduce_local"}
# Buffers that hold a block for each of several processes.
BLOCKS = re.compile(r"^MPI_(Gatherv? recvbuf|Scatterv? sendbuf|(Neighbor_a|A)llgatherv? recvbuf|(Neighbor_a|A)lltoall[vw]? \w+)$")
TRIPLES = {"buf": ("count", "datatype"), "buffer": ("count", "datatype"), "sendbuf": ("sendcount", "sendtype"), "recvbuf": ("recvcount", "recvtype"),
           "origin_addr": ("origin_count", "origin_datatype"), "result_addr": ("result_count", "result_datatype"), "inbuf": ("incount", "datatype"),
           "outbuf": ("outcount", "datatype")}
TEXT_MAX = {("MPI_File_get_view", "datarep"): "MPI_MAX_DATAREP_STRING", ("MPI_Info_get_nthkey", "key"): "MPI_MAX_INFO_KEY"}
# What is complete after MPI_Request_get_status*, which leaves the requests as they are: the user may look at the buffers.
SEEN = {"": "if (*flag) fort_request_complete(*request, FORT_STILL);",
        "_any": "if (*flag && index_c != MPI_UNDEFINED) fort_request_complete(array_of_requests[index_c], FORT_STILL);",
        "_all": "for (int i = 0; *flag && i < *count; i++) fort_request_complete(array_of_requests[i], FORT_STILL);",
        "_some": "for (int i = 0; *outcount != MPI_UNDEFINED && i < *outcount; i++)\n"
                 "                fort_request_complete(array_of_requests[array_of_indices[i]], FORT_STILL);"}
ONE_BASED = re.compile(r"^MPI_(Wait|Test|Request_get_status_)(any|some)$")


class Style:
    """What the modules of an ABI call.  is_bind_c: routines with choice buffers are BIND(C), so that their texts are descriptors, too; large: how
    names of large forms end beside _c_f08_; addresses: older modules mpi_f08 hand over addresses, to x_f08_."""

    def __init__(self, is_bind_c=True, large=None, addresses=False):
        self.is_bind_c, self.large, self.addresses = is_bind_c, large, addresses


STANDARD = Style()


def has_choice(f):
    return any(p["kind"] == "BUFFER" for p in f.row["params"])


def blocking(f):
    name = re.sub(r"_init$", "", f.name)
    return re.sub(r"^MPI_I(?=(neighbor|all|red|gath|scat|scan|exscan|bcast|barr))(\w)", lambda m: "MPI_" + m.group(2).upper(), name)


def role(f, p, entry):
    """What becomes of a section that is not contiguous: base (its address is all that counts), typed, copied, kept (until the request is
    complete), lasting (as long as the request, and copied anew at each start) or refused: partitions are filled in after the start."""
    name = blocking(f)
    is_packed = f.name in ("MPI_Pack", "MPI_Pack_external") and p.name == "outbuf" or f.name in ("MPI_Unpack", "MPI_Unpack_external") and p.name == "inbuf"
    if name in REDUCTIONS or BLOCKS.match("%s %s" % (name, p.name)) or is_packed or f.name in ("MPI_Psend_init", "MPI_Precv_init"):
        if f.name.endswith("_init"):
            return "refused" if f.name in ("MPI_Psend_init", "MPI_Precv_init") else "lasting"
        return "kept" if f.name != name else "copied"
    count, datatype = TRIPLES.get(p.name, (None, None))
    return "typed" if count and entry.param(count) and entry.param(datatype) else "base"


class Body:
    def __init__(self, f, large, is_f08, style):
        self.f, self.e, self.is_f08, self.style = f, api.Entry(f, large), is_f08, style
        self.descriptors = is_f08 and has_choice(f)
        self.declared, self.before, self.always, self.success, self.decls, self.lengths, self.args = [], [], [], [], [], [], []
        self.late = [] # right before the call
        self.can_fail = False
        if f.name == "MPI_Session_init":
            self.success.append("fort_started();")
        if f.name in ("MPI_Start", "MPI_Startall"):
            which = "request, 1" if f.name == "MPI_Start" else "array_of_requests, *count"
            self.late.append("if (fort_has_records()) fort_start_begin(%s);" % which)
            self.always.append("if (fort_has_records()) fort_start_end(%s, rc);" % which)
        if f.name.startswith("MPI_Request_get_status"):
            self.success.append("if (fort_has_records()) {\n            %s\n        }" % SEEN[f.name[len("MPI_Request_get_status"):]])
        if f.name == "MPI_Request_free":
            self.before.append("if (fort_has_records()) fort_request_free(*request);")
        for p in self.e.params:
            self.args.append(self.marshal(p))
        for p in self.e.params:
            if p.kind == "BUFFER" and self.descriptors:
                self.section(p)
        self.before += self.late

    def fail(self, condition, rc):
        self.can_fail = True
        self.before.append("if (%s) {\n        rc = %s;\n        goto done;\n    }" % (condition, rc))

    # Each of these answers the argument of the C call.
    def marshal(self, p):
        n = p.name
        if p.kind in ("ARGUMENT_COUNT", "ARGUMENT_LIST"):
            return "0" if p.kind == "ARGUMENT_COUNT" else "NULL"
        if p.kind == "BUFFER":
            if not self.descriptors:
                self.decls.append("void *" + n)
                return "fort_buf(%s)" % n
            self.decls.append("const struct fort_desc *" + n)
            self.declared.append("void *%s_c = fort_buf(%s->base);" % (n, n))
            return n + "_c"
        if p.kind in HANDLES:
            self.decls.append("%sint *%s" % ("const " if p.dir == "in" else "", n))
            return self.handle_array(p) if p.is_array else self.handle(p)
        if p.kind == "STATUS":
            self.decls.append("%sMPI_Status *%s" % ("const " if p.const else "", n))
            return n if p.dir == "in" or p.const else "fort_status(%s)" % n
        if p.kind == "STRING":
            return self.text(p)
        if p.kind == "WEIGHT":
            self.decls.append("int *" + n)
            return "fort_weights(%s)" % n
        if p.kind in ("C_BUFFER", "LOGICAL_VOID"):
            self.decls.append("void *" + n)
            return n
        if p.kind == "C_BUFFER2":
            self.decls.append("void *" + n)
            self.declared.append("void *%s_c = NULL;" % n)
            if self.is_f08:
                self.success.append("*(void **)%s = %s_c;" % (n, n))
            else:
                self.before.append("(void)%s; /* there is no way to hand an address over here */" % n)
            return "&%s_c" % n
        return self.number(p)

    def number(self, p):
        n = p.name
        base = re.sub(r"\bconst\b|\*|\[\d*\]", "", p.c).strip()
        assert base in ("int", "MPI_Aint", "MPI_Count", "MPI_Offset", "double"), (self.f.name, n, p.kind, p.c)
        if ONE_BASED.match(self.f.name) and p.kind == "INDEX":
            return self.index(p)
        if p.is_array:
            self.decls.append("%s%s %s" % ("const " if p.const else "", base, n + "[][3]" if "[3]" in p.c else "*" + n))
            return n
        local = n in {c for c, _ in TRIPLES.values()} and self.descriptors and any(
            role(self.f, b, self.e) == "typed" and TRIPLES[b.name][0] == n for b in self.e.params if b.kind == "BUFFER")
        if p.dir == "in" and not p.c.endswith("*"):
            self.decls.append("const %s *%s" % (base, n))
            if local:
                self.declared.append("%s %s_c = *%s;" % (base, n, n))
                return n + "_c"
            return "*" + n
        self.decls.append("%s *%s" % (base, n))
        if ONE_BASED.match(self.f.name) and n == "outcount":
            self.before.append("*outcount = 0;")
        return n

    def index(self, p):
        self.decls.append("int *" + p.name)
        if p.is_array:
            self.always.append("for (int i = 0; *outcount != MPI_UNDEFINED && i < *outcount; i++) %s[i]++;" % p.name)
            return p.name
        self.declared.append("int %s_c = MPI_UNDEFINED;" % p.name)
        self.always.append("*%s = %s_c == MPI_UNDEFINED ? MPI_UNDEFINED : %s_c + 1;" % (p.name, p.name, p.name))
        return "&%s_c" % p.name

    def handle(self, p):
        word, kind = HANDLES[p.kind]
        n = p.name
        if p.dir == "in" and p.c.endswith("*"):
            self.declared.append("MPI_%s %s_c = fort_%s(*%s);" % (kind, n, word, n))
            return "&%s_c" % n
        if p.dir == "in":
            typed = self.descriptors and p.kind == "DATATYPE" and any(
                role(self.f, b, self.e) == "typed" and TRIPLES[b.name][1] == n for b in self.e.params if b.kind == "BUFFER")
            if typed or p.kind == "COMMUNICATOR" and any(q.kind == "DATATYPE" and q.is_array for q in self.e.params):
                self.declared.append("MPI_%s %s_c = fort_%s(*%s);" % (kind, n, word, n))
                return n + "_c"
            return "fort_%s(*%s)" % (word, n)
        null = "MPI_%s_NULL" % kind.upper()
        if self.f.name == "MPI_Start":
            self.declared.append("MPI_Request %s_c = fort_request(*%s);" % (n, n))
            return "&%s_c" % n
        if self.f.name == "MPI_Request_free":
            self.declared.append("MPI_Request %s_c = fort_request(*%s);" % (n, n))
            self.success.append("*%s = fort_request_int(MPI_REQUEST_NULL);" % n)
            return "&%s_c" % n
        if p.dir == "out":
            self.declared.append("MPI_%s %s_c = %s;" % (kind, n, null))
            self.success.append("*%s = fort_%s_int(%s_c);" % (n, word, n))
        else:
            self.declared.append("MPI_%s %s_c = fort_%s(*%s);" % (kind, n, word, n))
            if word == "request":
                self.declared.append("uint64_t began = fort_begin();")
            self.always.append("fort_request_back(%s, %s_c, began);" % (n, n) if word == "request" else "*%s = fort_%s_int(%s_c);" % (n, word, n))
        return "&%s_c" % n

    def handle_array(self, p):
        word, kind = HANDLES[p.kind]
        n = p.name
        if p.kind == "DATATYPE" and p.dir == "in" and p.len == "*":
            return self.types_of_peers(p)
        count = "*" + p.len
        self.declared.append("MPI_%s %s_few[FORT_FEW], *%s_c = NULL;" % (kind, n, n))
        if p.dir == "out":
            self.before.append("%s_c = fort_types_out(%s_few, %s);" % (n, n, count))
        else:
            self.before.append("%s_c = fort_%ss(%s_few, %s, %s);" % (n, word, n, n, count))
        self.fail("!%s_c" % n, "fort_no_memory(MPI_COMM_SELF)")
        if p.dir == "out":
            self.always.append("fort_types_back(%s_c, %s_few, %s, %s);" % (n, n, n, count))
        elif p.dir == "inout" and self.f.name != "MPI_Startall": # which leaves them as they are
            self.declared.append("uint64_t began = fort_begin();")
            self.always.append("fort_requests_back(%s_c, %s_few, %s, %s, began);" % (n, n, n, count))
        else:
            self.always.append("fort_array_free(%s_c, %s_few);" % (n, n))
        return n + "_c"

    def types_of_peers(self, p):
        """The library may read the datatypes of an alltoallw until it is complete."""
        n, is_send = p.name, p.name == "sendtypes"
        direction = "FORT_ALL" if "eighbor" not in self.f.name else "FORT_TO" if is_send else "FORT_FROM"
        buf = "sendbuf_c" if self.descriptors else "fort_buf(sendbuf)"
        self.declared.append("MPI_Datatype *%s_c = NULL;" % n)
        self.before.append("rc = fort_types_of_peers(%s_c, %s, %s, %s, &%s_c);" % (self.comm(), direction, "%s == MPI_IN_PLACE" % buf if is_send else "false", n, n))
        self.can_fail = True
        self.before.append("if (rc != MPI_SUCCESS) goto done;")
        if self.e.param("request"):
            self.success.append("fort_%s_memory(request_c, rc, %s_c);" % ("last" if self.is_persistent() else "keep", n))
            self.success.append("%s_c = NULL;" % n)
        self.always.append("free(%s_c);" % n)
        return n + "_c"

    def comm(self):
        return next(p.name for p in self.e.params if p.kind == "COMMUNICATOR" and p.dir == "in")

    def text(self, p):
        n = p.name
        if p.dir == "in":
            where = "%s, %s_len" % (n, n)
            if self.descriptors and self.style.is_bind_c:
                self.decls.append("const struct fort_desc *" + n)
                where = "%s->base, %s->elem_len" % (n, n)
            else:
                self.decls.append("const char *" + n)
                self.lengths.append("size_t %s_len" % n)
            self.declared.append("struct fort_text %s_t = {.text = NULL};" % n)
            # Leading blanks: part of a name of an object (MPI says so) or of a file; of keys and values they are none.
            stripped = "_stripped" if self.f.name.startswith("MPI_Info_") else ""
            self.fail("!fort_text_in%s(&%s_t, %s)" % (stripped, n, where), "fort_no_memory(MPI_COMM_SELF)")
            self.always.append("fort_text_free(&%s_t);" % n)
            return "%s_t.text" % n
        most = TEXT_MAX.get((self.f.name, n)) or p.len
        self.decls.append("char *" + n)
        self.lengths.append("size_t %s_len" % n)
        self.declared.append("char %s_c[%s + 1];" % (n, most))
        self.before.append("%s_c[0] = 0;" % n)
        self.success.append("fort_text_out(%s, %s_len, %s_c);" % (n, n, n))
        return n + "_c"

    def is_persistent(self):
        return self.f.name.endswith("_init")

    def copy_words(self, has_request):
        """How a copy ends and begins."""
        if has_request and self.is_persistent():
            return "fort_copy_last(&%s_copy, %s, request_c, rc);", "fort_copy_lasting"
        return "fort_copy_keep(&%s_copy, %s, request_c, rc);" if has_request else "fort_copy_free(&%s_copy, %s);", "fort_copy_in"

    def section(self, p):
        n, what = p.name, role(self.f, p, self.e)
        is_whole = "unlikely(!fort_desc_is_whole(%s))" % n
        if what == "typed":
            count, datatype = TRIPLES[n]
            back = "true" if p.dir != "in" else "false"
            request = next((q for q in self.e.params if q.kind == "REQUEST" and q.dir == "out"), None)
            copies = not (self.f.name.endswith("_begin") or self.f.chapter == 12)
            end, begin = self.copy_words(request)
            self.declared.append("MPI_Datatype %s_made = MPI_DATATYPE_NULL;" % n)
            self.before.append("if (%s) {\n        rc = fort_section_type(%s, %s_c, %s_c, &%s_made);" % (is_whole, n, count, datatype, n))
            if copies:
                self.declared.append("struct fort_copy %s_copy = {NULL, NULL};" % n)
                self.before.append("    if (rc == FORT_NEEDS_COPY)\n            rc = %s(&%s_copy, %s), %s_c = %s_copy.memory;\n"
                                   "        else\n            %s_c = 1, %s_c = %s_made;" % (begin, n, n, n, n, count, datatype, n))
                self.always.append(end % (n, back))
            else:
                self.before.append("    if (rc == FORT_NEEDS_COPY) rc = fort_refuse_type();\n        %s_c = 1;\n        %s_c = %s_made;" % (count, datatype, n))
            self.before.append("    if (rc != MPI_SUCCESS) goto done;\n    }")
            if self.is_persistent() and self.f.chapter in (6, 8): # not point-to-point: all libraries hold those, and records cost lookups
                self.always.append("fort_last_type(request_c, rc, %s_made);" % n)
            else:
                self.always.append("if (unlikely(%s_made != MPI_DATATYPE_NULL)) PMPI_Type_free(&%s_made);" % (n, n))
            self.can_fail = True
        elif what == "refused":
            self.fail(is_whole, "fort_refuse_section(fort_comm(*%s))" % self.comm())
        elif what != "base":
            back = "true" if p.dir != "in" else "false"
            end, begin = self.copy_words(what != "copied")
            self.declared.append("struct fort_copy %s_copy = {NULL, NULL};" % n)
            self.before.append("if (%s) {\n        rc = %s(&%s_copy, %s);\n        if (rc != MPI_SUCCESS) goto done;\n"
                               "        %s_c = %s_copy.memory;\n    }" % (is_whole, begin, n, n, n, n))
            self.always.append(end % (n, back))
            self.can_fail = True

    def quick(self):
        """(conditions, arguments) of the usual case, where handles are plain, buffers whole and no sentinels; None: there is none."""
        conditions, args, handles = [], [], []
        for p in self.e.params:
            n = p.name
            if p.kind == "BUFFER":
                conditions.append("fort_desc_is_simple(%s)" % n if self.descriptors else "!fort_is_sentinel(%s)" % n)
                args.append(n + "->base" if self.descriptors else n)
            elif p.kind in HANDLES and p.dir == "in" and not p.is_array:
                handles.append("*" + n)
                args.append("fort_%s_quick(*%s)" % (HANDLES[p.kind][0], n))
            elif p.kind == "REQUEST" and p.dir == "out" and not p.is_array:
                args.append("&%s_c" % n)
            elif p.kind == "STATUS" and not p.is_array:
                args.append("fort_status(%s)" % n)
            elif p.dir == "in" and p.c in ("int", "MPI_Count", "MPI_Aint"):
                args.append("*" + n)
            else:
                return None
        if not handles:
            return None
        conditions.insert(0, "fort_are_plain(%s)" % " | ".join(handles))
        return conditions, args

    def quick_lines(self, symbol):
        """The usual case by itself, as what the rest needs would cost it registers."""
        found = self.quick() if self.f.chapter in (3, 12) and has_choice(self.f) else None
        if not found:
            return self.lines(symbol)
        conditions, args = found
        head = ", ".join(self.decls + ["int *ierror"])
        out = ["static FORT_COLD " + line if i == 0 else line for i, line in enumerate(self.lines(symbol, "slow_"))]
        out += ["void F(%s)(%s)" % (symbol, head), "{"]
        usual = "    if (likely(%s))" % " && ".join(conditions)
        slow = "slow_%s(%s);" % (symbol, ", ".join([p.name for p in self.e.params] + ["ierror"]))
        call = "C(%s)(%s)" % (self.e.name[4:], ", ".join(args))
        request = next((p.name for p in self.e.params if p.kind == "REQUEST"), None)
        if not request:
            return out + [usual, "        fort_return(ierror, %s);" % call, "    else", "        " + slow, "}"]
        return out + [usual + " {", "        MPI_Request %s_c;" % request, "        int rc = %s;" % call,
                      "        if (likely(rc == MPI_SUCCESS)) *%s = fort_request_int(%s_c);" % (request, request), "        fort_return(ierror, rc);",
                      "    } else", "        " + slow, "}"]

    def lines(self, symbol, prefix=None):
        call = "C(%s)(%s)" % (self.e.name[4:], ", ".join(self.args))
        out = ["void %s(%s)" % (prefix + symbol if prefix else "F(%s)" % symbol, ", ".join(self.decls + ["int *ierror"] + self.lengths)), "{"]
        out += ["    " + s for s in self.declared]
        if self.can_fail:
            out += ["    int rc;"] + ["    " + s for s in self.before] + ["    rc = %s;" % call]
        else:
            out += ["    " + s for s in self.before] + ["    int rc = %s;" % call]
        if len(self.success) == 1 and "\n" not in self.success[0]:
            out.append("    if (rc == MPI_SUCCESS) " + self.success[0])
        elif self.success:
            out += ["    if (rc == MPI_SUCCESS) {"] + ["        " + s for s in self.success] + ["    }"]
        if self.can_fail:
            out.append("done:")
        out += ["    " + s for s in self.always]
        return out + ["    fort_return(ierror, rc);", "}"]


def rows(words):
    """As many of them in a line as fit."""
    lines = []
    for word in words:
        if lines and len(lines[-1]) + 1 + len(word) <= 132:
            lines[-1] += " " + word
        else:
            lines.append(word)
    return lines


def function(f, style=STANDARD):
    """All bodies and names of one routine."""
    low, out, others = f.name.lower()[4:], [], []
    apart = has_choice(f) or any(p["kind"] == "C_BUFFER2" for p in f.row["params"])
    ts = "ts" if has_choice(f) else ""
    out += Body(f, False, False, style).quick_lines(low + "_")
    if apart:
        out += Body(f, False, True, style).quick_lines("%s_f08%s_" % (low, ts))
    else:
        others.append("FORT_ALIAS(%s_f08_, %s_);" % (low, low))
    if style.addresses and has_choice(f):
        others.append("FORT_ALIAS(%s_f08_, %s_);" % (low, low))
    modern = ["%s_f08%s_" % (low, ts)]
    if f.name in CPTR:
        others.append("FORT_ALIAS(%s_cptr_, %s_);" % (low, low))
        others.append("FORT_FORMS(%s_cptr, %s_CPTR)" % (low, low.upper()))
    if f.has_large:
        out += Body(f, True, True, style).quick_lines("%s_c_f08%s_" % (low, ts))
        modern.append("%s_c_f08%s_" % (low, ts))
        if style.large:
            modern.append("%s_f08%s_%s_" % (low, ts, style.large))
            others.append("FORT_ALIAS(%s, %s);" % (modern[2], modern[1]))
    return out + rows(others + ["FORT_MODERN(%s)" % name for name in modern] + ["FORT_FORMS(%s, %s)" % (low, low.upper())]) + [""]


def emit(functions, style=STANDARD):
    out = ["/* entry.c -- generated by gen/fortran_c.py: the Fortran entry points, as mpi_ and, with FORT_PMPI, as pmpi_. */", '#include "fort.h"', ""]
    for f in functions:
        if f.name not in HAND:
            out += function(f, style)
    return "\n".join(out)


def emit_forms(functions):
    """The other names of what is written by hand; included there, as an alias stands beside what it names."""
    lines = ["/* hand_forms.h -- generated by gen/fortran_c.py. */"]
    for f in functions:
        low = f.name[4:].lower()
        if f.name in HAND and f.name != "MPI_Sizeof":
            lines.append("FORT_FORMS(%s, %s)" % (low, low.upper()))
        if f.name in HAND and "f08" in f.row["langs"]:
            lines.append("FORT_MODERN(%s_f08%s_)" % (low, "ts" if has_choice(f) else ""))
    return "\n".join(lines) + "\n"
