"""Writes facade/entry_*.c: the entry points of the standard ABI.

Each is: note the call, turn handles into objects, quick checks, one call of the target, turn results into handles; and a
cold twin that asks the slow checks what is wrong.  What depends on the kind of a parameter stands in Marshal."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import re

import model as api

# kind -> (word of the codec, struct of the core, letter for std_raise, handle type)
HANDLES = {"COMMUNICATOR": ("comm", "struct gw_comm", "C"), "DATATYPE": ("type", "struct gw_type", "D"),
           "OPERATION": ("op", "struct gw_op", "O"), "GROUP": ("group", "struct gw_group", "G"),
           "REQUEST": ("request", "struct gw_req", "R"), "MESSAGE": ("message", "struct gw_msg", "M"),
           "ERRHANDLER": ("errhandler", "struct gw_errhandler", "E"), "INFO": ("info", "struct gw_info", "I"),
           "FILE": ("file", "struct gw_file", "F"), "WINDOW": ("win", "struct rma_win", "W"),
           "SESSION": ("session", "struct mpi_session", "N")}
# What they make has no error handler yet: the one given counts.
MAKERS = {"MPI_Session_init", "MPI_Comm_create_from_group", "MPI_Intercomm_create_from_groups"}
MAY_BE_NULL = re.compile(r"MPI_(Wait|Test|Request_get_status|Parrived)")  # requests may be MPI_REQUEST_NULL
# Datatypes that need not be committed: those of inquiries.
UNCOMMITTED = {"MPI_Get_count", "MPI_Type_get_value_index", "MPI_File_get_type_extent"}
PACKERS = {"MPI_Pack", "MPI_Unpack", "MPI_Pack_external", "MPI_Unpack_external"}
# Where MPI_IN_PLACE may stand: on every rank, or at the root alone.  By the name of the blocking call.
IN_PLACE = {"MPI_Gather": ("sendbuf", True), "MPI_Gatherv": ("sendbuf", True), "MPI_Scatter": ("recvbuf", True),
            "MPI_Scatterv": ("recvbuf", True), "MPI_Reduce": ("sendbuf", True), "MPI_Allgather": ("sendbuf", False),
            "MPI_Allgatherv": ("sendbuf", False), "MPI_Alltoall": ("sendbuf", False), "MPI_Alltoallv": ("sendbuf", False),
            "MPI_Alltoallw": ("sendbuf", False), "MPI_Allreduce": ("sendbuf", False), "MPI_Reduce_scatter": ("sendbuf", False),
            "MPI_Reduce_scatter_block": ("sendbuf", False), "MPI_Scan": ("sendbuf", False), "MPI_Exscan": ("sendbuf", False)}
# Counts that are those of one block of several.  By the name of the blocking call; a number of blocks as C says it.
BLOCKS = {("MPI_Gather", "recvcount"): "comm_o->targets", ("MPI_Scatter", "sendcount"): "comm_o->targets",
          ("MPI_Allgather", "recvcount"): "comm_o->targets", ("MPI_Alltoall", "sendcount"): "comm_o->targets",
          ("MPI_Alltoall", "recvcount"): "comm_o->targets", ("MPI_Reduce_scatter_block", "recvcount"): "comm_o->size",
          ("MPI_Neighbor_allgather", "recvcount"): "std_indegree(comm_o)", ("MPI_Neighbor_alltoall", "recvcount"): "std_indegree(comm_o)",
          ("MPI_Neighbor_alltoall", "sendcount"): "std_outdegree(comm_o)",
          ("MPI_Psend_init", "count"): "partitions", ("MPI_Precv_init", "count"): "partitions"}
REDUCTIONS = {"MPI_Reduce", "MPI_Allreduce", "MPI_Reduce_scatter", "MPI_Reduce_scatter_block", "MPI_Scan", "MPI_Exscan"}
# Where one address for what is read and what is written is always wrong; the forms with displacements may keep the two apart.
ROOTED_ALIAS = {"MPI_Gather", "MPI_Scatter", "MPI_Reduce"}
ALIAS = REDUCTIONS | ROOTED_ALIAS | {"MPI_Allgather", "MPI_Alltoall", "MPI_Reduce_local"}
INCLUDES = ['#include "facade/fn_gen.h"', '#include "facade/std.h"', '#include "facade/std_check.h"', '#include "facade/std_tool.h"', ""]


def is_count(p):
    """A scalar that says how many items or bytes a buffer has."""
    return p.dir == "in" and not p.is_array and p.c in ("int", "MPI_Count", "MPI_Aint") and (
        p.kind.startswith("POLYXFER_NUM_ELEM") or p.kind == "XFER_NUM_ELEM_NNI" or p.kind.startswith("POLYDTYPE_NUM_ELEM_NNI") or
        p.name in ("incount", "outcount", "outsize", "insize"))


def is_bytes(p):
    return p.name in ("outsize", "insize", "size") or p.kind in ("ALLOC_MEM_NUM_BYTES", "POLYNUM_PARAM_VALUES")


class Code:
    """What one entry point needs: statements before and after the call, checks, argument expressions."""

    def __init__(self, e):
        self.e, self.f = e, e.function
        self.before, self.always, self.success, self.last = [], [], [], []
        self.quick, self.slow = [], []  # C expressions; (condition or None, call)
        self.quick_of = []              # whose the first are
        self.found = {}                 # which statements before the call look up objects, and what these are called
        self.args, self.letters = {}, []
        self.made = []                  # GODWIT_CHECK: handles that came, after success
        self.watched = []               # GODWIT_CHECK: arrays that must not change while a request needs them, before the call
        self.has_handle = False         # a handle must be valid, so a call outside init and finalize is noticed by it
        self.comm = next((p for p in e.params if p.kind == "COMMUNICATOR" and p.dir == "in"), None)
        self.any = "any" in self.f.flags
        # A target in this room takes the C arguments as they are and stores its results itself.
        self.raw = self.f.target.startswith("std_") and "(" not in self.f.target
        for p in sorted(e.params, key=lambda p: p is not self.comm):
            self.lookup(p)
        for p in sorted(e.params, key=lambda p: p is not self.comm):
            self.marshal(p)
        self.aliases()
        self.letters = ["%s:%s" % (p.name, self.letter(p)) for p in e.params if p.c != "..."]

    # ---- helpers ----
    def check(self, quick, slow, when=None):
        late = self.late()
        if late and quick:
            quick = "(%s) && %s" % (quick, late)
        if quick:
            self.quick_of.append(self.p)
            self.quick.append("(%s && (%s))" % (when, quick) if when else "(%s)" % quick if "||" in quick or "&&" in quick else quick)
        self.slow.append((" && ".join(filter(None, (when, late))) or None, slow))

    def aliases(self):
        """Looked at after all else: whether two buffers at one address overlap follows from counts and datatypes."""
        name = self.f.blocking or self.f.name
        if name not in ALIAS:
            return
        one, two = [p for p in self.e.params if p.kind == "BUFFER"]
        alone = "datatype" if self.e.param("datatype") else None
        types = [alone or "sendtype", alone or "recvtype"]
        counts = ["count", "count"] if self.e.param("count") else ["recvcount", "recvcount"] if alone else ["sendcount", "recvcount"]
        if name == "MPI_Reduce_scatter":
            p = self.e.param("recvcounts")
            counts = ["std_total(%s, %s)" % (self.counts(p), self.length_of(p))] * 2
        self.p = two
        same = "%s == %s" % (one.name, two.name)
        self.check("true", 'std_why_alias("%s", "%s", %s, %s, %s_o, %s, %s_o)' % (
            one.name, two.name, one.name, counts[0], types[0], counts[1], types[1]),
            same + (" && std_is_root(root, comm_o) && !comm_o->remote" if name in ROOTED_ALIAS else ""))

    def late(self):
        """On intercommunicators parameters of a rooted collective count on one side only; looked at last, it is seldom so."""
        p = self.p
        if self.f.chapter != 6 or not self.e.param("root") or p.root_only or p.name in ("root", "comm", "info", "request"):
            return None
        return "std_%s(root, comm_o)" % ("other_side" if p.name.startswith(("send", "recv")) else "takes_part")

    def length_of(self, p):
        """The C expression for how many elements the array p has, or None."""
        n = p.len[0] if isinstance(p.len, list) else p.len
        if n == "*" and self.f.is_neighbor:
            return "std_%sdegree(comm_o)" % ("out" if p.name[0] == "s" else "in")
        if n == "*" and self.f.chapter == 8:
            return None  # the topology says how many there are: the target looks
        if n == "*":
            first = self.e.params[0]
            if first.kind.startswith("ARRAY_LENGTH") and first.dir == "in":
                return first.name
            # Of an intercommunicator there are as many as remote ranks, but a reduce_scatter's parts are the local group's.
            return ("comm_o->size" if self.f.blocking == "MPI_Reduce_scatter" else "comm_o->targets") if self.comm else None
        return n if n and self.e.param(n) else None

    def when(self, p):
        """The condition under which a parameter of a collective counts, or None for always."""
        conditions = []
        if p.root_only:
            conditions.append("std_is_root(root, comm_o)")
        if self.f.chapter == 12 and p.name.startswith("origin_") and self.e.param("result_addr") and self.e.param("op"):
            conditions.append("op != MPI_NO_OP")
        if p.name == "peer_comm":
            conditions.append("local_comm_o->rank == local_leader")
        if p.name == "remote_group":
            conditions.append("local_group_o->rank == local_leader")
        at = IN_PLACE.get(self.f.blocking)
        if at and self.f.blocking not in REDUCTIONS and (p.name.startswith(at[0][:4]) or p.name == at[0][0] + "displs"):
            conditions.append("%s != MPI_IN_PLACE" % at[0])
        return " && ".join(conditions) or None

    def room(self, p):
        """The condition under which a string is written to at all, where a length of 0 asks for the length alone."""
        length = {"MPI_Session_get_nth_pset": "pset_len", "MPI_Info_get_string": "buflen"}.get(self.f.name)
        return "%s && *%s > 0" % (length, length) if length and p.dir == "out" else None

    def committed(self):
        return (self.f.moves_data or self.f.name in PACKERS) and self.f.name not in UNCOMMITTED

    def may_be_null_file(self, p):
        """MPI_FILE_NULL has an error handler: that of calls without a file."""
        return p.kind == "FILE" and self.e.name.endswith("_errhandler")

    def null_has_name(self, p):
        """MPI_COMM_NULL, MPI_DATATYPE_NULL and MPI_WIN_NULL can be asked for their names."""
        return p.kind in ("COMMUNICATOR", "DATATYPE", "WINDOW") and self.e.name.endswith("_get_name")

    def lookup(self, p):
        if p.kind in HANDLES and not p.is_array and p.dir == "in" and "*" not in p.c:
            word, struct, _ = HANDLES[p.kind]
            word += "_or_null" if self.may_be_null_file(p) else ""
            find = "std_%s(%s)" % (word, p.name)
            if self.f.chapter == 12 and p.name == "target_datatype":  # most often the same one
                find = "target_datatype == origin_datatype ? origin_datatype_o : " + find
            self.before.append("%s *%s_o = %s;" % (struct, p.name, find))
            self.found[len(self.before) - 1] = p.name + "_o"

    def letter(self, p):
        if p.kind in HANDLES and p.dir == "inout" and not p.is_array and p.kind not in ("REQUEST", "MESSAGE"):
            return "*" + HANDLES[p.kind][2]  # what it points to is of interest: the call did not change it
        if p.c.endswith("]") or (p.kind in HANDLES and "*" in p.c):
            return "p"
        if p.kind in HANDLES:
            return HANDLES[p.kind][2]
        if p.kind == "STATUS":
            return "p" if p.dir != "out" else "A" if p.is_array else "S"
        if p.kind == "BUFFER":
            return "b"
        if p.c == "const char *":
            return "s"
        if p.kind in ("RANK", "RANK_NNI") and p.c == "int":
            return "r"
        if p.kind == "TAG" and p.c == "int":
            return "t"
        if p.c in ("MPI_Count", "MPI_Aint"):
            return "l"
        return "i" if p.c in ("int", "const int", "MPI_Fint") else "p"

    # ---- by kind ----
    def marshal(self, p):
        self.p = p
        if p.c == "...":
            return
        if p.kind in HANDLES:
            self.handle(p)
        elif p.kind == "STATUS":
            self.status(p)
        elif p.kind == "BUFFER":
            self.buffer(p)
        elif p.kind in ("FUNCTION", "POLYFUNCTION"):
            self.args[p.name] = "(void (*)(void))%s" % p.name
        elif p.kind in ("C_BUFFER", "C_BUFFER2", "ATTRIBUTE_VAL", "ATTRIBUTE_VAL_10") and p.dir == "out":
            self.pointer(p)
            self.args[p.name] = "(void **)%s" % p.name
        elif p.kind == "STRING":
            self.args[p.name] = p.name
            when = self.room(p) or self.when(p)
            self.check("!%s" % p.name, 'std_why_%s("%s", %s)' % ("string" if p.dir == "in" else "pointer", p.name, p.name), when)
        elif p.is_array:
            self.array(p)
        elif p.dir == "in" and "*" not in p.c:
            self.scalar(p)
        elif p.dir != "in":
            self.output(p)
        else:
            self.args[p.name] = p.name
            if p.kind in ("F08_STATUS", "F90_STATUS"):
                self.pointer(p)

    def pointer(self, p):
        self.check("!%s" % p.name, 'std_why_pointer("%s", %s)' % (p.name, p.name))

    def handle(self, p):
        word, struct, _ = HANDLES[p.kind]
        o, name = p.name + "_o", p.name
        if p.is_array:
            self.handle_array(p, word, struct)
        elif p.dir == "in" and "*" not in p.c:
            self.args[name] = o
            self.check_handle(p, name, o)
        elif p.dir == "out":
            self.pointer(p)
            if self.raw:
                return
            self.before.append("%s *%s = NULL;" % (struct, o))
            self.args[name] = "&" + o
            flag = self.e.param("flag")
            set_it = "*%s = std_%s_handle(%s);" % (name, word, o)
            if p.kind == "DATATYPE" and self.e.large:
                self.success.append("type_mark_large(%s);" % o)
            when = "*flag" if flag and p.kind == "MESSAGE" else None
            if "null_failed" in self.f.flags and p.kind in ("COMMUNICATOR", "DATATYPE"):
                self.always.append("if (!%s) *%s = MPI_%s_NULL;" % (o, name, "COMM" if p.kind == "COMMUNICATOR" else p.kind))
            self.success.append("if (%s) %s" % (when, set_it) if when else set_it)
            if self.f.name == "MPI_Comm_get_parent":
                return  # it is the library's, the same at every call
            self.made.append("if (unlikely(gw_checking)%s) %s" % (" && " + when if when else "",
                                                                 self.tell_made("(uint32_t)(uintptr_t)*" + name)))
        else:
            self.pointer(p)
            self.before.append("%s *%s = %s ? std_%s(*%s) : NULL;" % (struct, o, name, word, name))
            self.args[name] = "&" + o
            self.check_handle(p, "*" + name, o)
            # The call may null the handle, also when it fails; it never makes another object of it.
            null = {"REQUEST": "MPI_REQUEST_NULL", "MESSAGE": "MPI_MESSAGE_NULL"}.get(p.kind)
            if p.kind == "MESSAGE":  # gone where the receive fails, and then the communicator is still asked for
                self.before.append("uint64_t %s_comm = %s && %s->comm ? %s->comm->obj.id : 0;" % (name, o, o, o))
                self.always.append("if (unlikely(gw_checking) && !%s) check_gone((uint32_t)(uintptr_t)*%s);" % (o, name))
            if null:
                self.always.append("if (!%s) *%s = %s;" % (o, name, null))
            else:
                self.success.append("if (unlikely(gw_checking) && !%s) check_gone((uint32_t)(uintptr_t)*%s);" % (o, name))
                self.success.append("*%s = std_%s_handle(%s);" % (name, word, o))

    def tell_made(self, number):
        return "check_made(%s, __builtin_return_address(0), %s);" % (self.e.fn_id, number)

    def check_handle(self, p, value, o):
        name, text = p.name, '"%s"' % p.name
        when = self.when(p)
        if self.null_has_name(p):
            null = "MPI_%s_NULL" % {"COMMUNICATOR": "COMM", "WINDOW": "WIN"}.get(p.kind, p.kind)
            more = ", false" if p.kind == "DATATYPE" else ""
            self.check("!%s && %s != %s" % (o, value, null), "std_why_%s(%s, %s%s)" % (HANDLES[p.kind][0], text, value, more),
                       "%s != %s" % (value, null))
        elif p.kind == "DATATYPE" and self.committed():
            self.check("std_bad_type(%s)" % o, "std_why_type(%s, %s, true)" % (text, value), when)
            self.bytes(p, o, when)
            self.has_handle |= not when
        elif p.kind == "DATATYPE":
            self.check("!" + o, "std_why_type(%s, %s, false)" % (text, value), when)
            self.has_handle = True
        elif p.kind == "INFO":
            may = "null_ok" in self.f.flags
            quick = "!%s && %s != MPI_INFO_NULL" % (o, value) if may else "!" + o
            self.check(quick, "std_why_info(%s, %s, %s)" % (text, value, "true" if may else "false"), when)
        elif p.kind == "REQUEST":
            may = bool(MAY_BE_NULL.match(self.f.name))
            quick = "!%s && %s != MPI_REQUEST_NULL" % (o, value) if may else "!" + o
            self.check(quick, "std_why_request(%s, %s, %s)" % (text, value, "true" if may else "false"))
            self.has_handle |= not may
        elif self.may_be_null_file(p):
            self.check("!" + o, "std_why_file_or_null(%s, %s)" % (text, value))
        else:
            self.check("!" + o, "std_why_%s(%s, %s)" % (HANDLES[p.kind][0], text, value), when)
            self.has_handle |= not when

    def bytes(self, p, o, when):
        """The count, or counts, before a datatype: all the bytes; the quick tests of both notice what may be too much."""
        params = self.e.params
        j = params.index(p)
        count, displs = params[j - 1], None
        if count.is_array and j > 1 and params[j - 2].is_array:
            count, displs = params[j - 2], count
        if count.is_array:
            call = 'std_why_blocks("%s", %s, %s, %s, %s)' % (count.name, self.counts(count),
                self.counts(displs) if displs else "(struct gw_counts){NULL, false}", self.length_of(count), o)
        elif is_count(count) and not is_bytes(count):
            call = 'std_why_bytes("%s", %s, %s, %s)' % (count.name, count.name, o, BLOCKS.get((self.f.blocking or self.f.name, count.name), "1"))
        else:
            return
        self.check(None, call, when)

    def handle_array(self, p, word, struct):
        name, n = p.name, self.length_of(p)
        o = name + "_o"
        if p.dir == "out" or p.kind == "INFO":  # Type_get_contents, Comm_spawn_multiple: their targets convert
            self.args[name] = name
            if p.dir == "out":
                self.check("!%s && %s > 0" % (name, n), 'std_why_array("%s", %s, %s)' % (name, name, n))
            return
        self.args[name] = o
        stack = name + "_s"
        self.last.append("std_array_free(%s, %s);" % (o, stack))
        when = self.when(p)
        init = "%s *%s[STD_ARRAY_STACK], **%s = std_array(%s, %s, sizeof *%s);" % (struct, stack, o, stack, n, o)
        fill = "std_%ss_in(%s, %s, %s);" % (word, name, n, o)
        self.arrays = getattr(self, "arrays", []) + [init, "if (%s) %s" % (when, fill) if when else fill]
        self.watch(p, n, when)
        if p.kind == "REQUEST":
            may = bool(MAY_BE_NULL.match(self.f.name))
            quick = "std_bad_requests(%s, %s)" % (name, n) if may else None
            self.check(quick or "true", 'std_why_requests("%s", %s, %s, %s)' % (name, name, n, "true" if may else "false"))
            if p.dir == "inout":
                self.always.append("std_requests_out(%s, %s, %s);" % (o, n, name))
        elif self.f.blocking in ("MPI_Alltoallw", "MPI_Neighbor_alltoallw"):
            # A datatype that goes with a count of 0 is not looked at.
            counts = "sendcounts" if name == "sendtypes" else "recvcounts"
            self.check("std_bad_types(%s, %s)" % (name, n),
                       'std_why_types_used("%s", %s, %s, %s)' % (name, name, self.counts(self.e.param(counts)), n), when)
        else:
            self.check("true", 'std_why_types("%s", %s, %s, %s)' % (name, name, n, "true" if self.committed() else "false"), when)

    def status(self, p):
        if p.dir == "out" and p.name != "c_status":  # may be MPI_STATUS_IGNORE
            self.args[p.name] = "std_status(%s)" % p.name
        else:
            self.pointer(p)
            self.args[p.name] = "std_status(%s)" % p.name

    def buffer(self, p):
        self.args[p.name] = p.name
        params = self.e.params
        i = params.index(p)
        count = next((q for q in params[i + 1:] if is_count(q)), None)
        at, root = IN_PLACE.get(self.f.blocking, (None, False))
        text, when = '"%s"' % p.name, None
        if p.root_only:
            when = "std_is_root(root, comm_o)"
        if self.f.chapter == 12:
            when = self.when(p)
        if self.f.name.endswith("attach_buffer") or self.f.name == "MPI_Buffer_attach":
            self.check("std_bad_buffer(%s, size)" % p.name, "std_why_attach(%s, %s, size)" % (text, p.name))
            return
        if not self.f.moves_data and self.f.name not in PACKERS:
            return  # an address, not a message
        if at == p.name:
            allowed = "%s != MPI_IN_PLACE" % p.name
            if root:
                allowed = "(%s || !std_is_root(root, comm_o))" % allowed
            when = " && ".join(filter(None, [when, allowed]))
        if count is None or self.f.blocking == "MPI_Reduce_scatter":
            self.check("%s == MPI_IN_PLACE" % p.name, "std_why_buffer(%s, %s, 0, NULL)" % (text, p.name), when)
            return
        j = params.index(count)
        type_ = params[j + 1].name + "_o" if j + 1 < len(params) and params[j + 1].kind == "DATATYPE" else "NULL"
        if self.f.is_neighbor:  # who has no neighbours there has nothing to send or to receive
            when = "std_%sdegree(comm_o) > 0" % ("out" if p.name[0] == "s" else "in")
        self.check("std_bad_buffer(%s, %s)" % (p.name, count.name),
                   "std_why_buffer(%s, %s, %s, %s)" % (text, p.name, count.name, type_), when)

    def watch(self, p, n, when):
        """An array that a collective behind a request was given."""
        if "struct coll_as" in self.f.target:
            self.watched.append('if (unlikely(gw_checking)%s) check_array("%s", %s, %s, sizeof *%s);' % (
                " && " + when if when else "", p.name, p.name, n, p.name))

    def counts(self, p):
        return "(struct gw_counts){%s, %s}" % (p.name, "false" if p.c == "const int[]" else "true")

    def array(self, p):
        n = self.length_of(p)
        name = p.name
        poly = p.kind.startswith("POLY") or (p.kind == "DISPLACEMENT" and p.dir == "in")
        self.args[name] = self.counts(p) if poly else name
        when = self.when(p)
        self.watch(p, n, when)
        if poly and (self.f.chapter == 6 or self.f.is_neighbor) and p.kind == "POLYXFER_NUM_ELEM_NNI":
            self.check("std_bad_%s(%s, %s)" % ("parts" if self.f.blocking == "MPI_Reduce_scatter" else "counts", self.args[name], n),
                       'std_why_counts("%s", %s, %s)' % (name, self.args[name], n), when)
        elif poly and self.e.large and (self.f.chapter == 6 or self.f.is_neighbor) and "types" not in " ".join(q.name for q in self.e.params):
            self.check("std_bad_displs(%s, %s)" % (self.args[name], n), 'std_why_array("%s", %s, %s)' % (name, name, n), when)
        elif poly and p.kind == "POLYDTYPE_NUM_ELEM_NNI" and n and name == "array_of_blocklengths":
            self.check("std_bad_counts(%s, %s)" % (self.args[name], n),
                       'std_why_counts("%s", %s, %s)' % (name, self.args[name], n))
        elif n and p.kind not in ("ARGUMENT_LIST", "STRING_2DARRAY"):  # the latter may be MPI_ARGVS_NULL
            self.check("!%s && %s > 0" % (name, n), 'std_why_array("%s", %s, %s)' % (name, name, n), when)

    def scalar(self, p):
        name, text = p.name, '"%s"' % p.name
        self.args[name] = name
        when = self.when(p)
        has_source = self.e.param("source") is not None
        if is_count(p) and not is_bytes(p):
            many = "std_many_blocks(%s)" if (self.f.blocking or self.f.name, name) in BLOCKS else "std_many(%s)" if self.e.large else "%s < 0"
            self.check(many % name, "std_why_count(%s, %s)" % (text, name), when)
        elif is_count(p) or (is_bytes(p) and "NNI" in p.kind) or p.kind in ("ALLOC_MEM_NUM_BYTES", "POLYNUM_PARAM_VALUES"):
            self.check("%s < 0" % name, "std_why_length(%s, %s, 0)" % (text, name))
        elif p.kind == "POLYDTYPE_NUM_ELEM_NNI":
            self.check("%s < 0" % name, "std_why_count(%s, %s)" % (text, name))
        elif p.kind in ("ARRAY_LENGTH", "ARRAY_LENGTH_NNI"):
            self.check("%s < 0" % name, "std_why_length(%s, %s, 0)" % (text, name))
        elif p.kind in ("ARRAY_LENGTH_PI", "COMM_SIZE_PI"):
            self.check("%s < 1" % name, "std_why_length(%s, %s, 1)" % (text, name), when)
        elif name == "partitions":
            self.check("std_many_blocks(%s)" % name, "std_why_length(%s, %s, 0)" % (text, name))
        elif p.kind == "RANK" and name == "source" and self.f.chapter == 4:
            self.check("std_bad_dest(source, comm_o)", "std_why_dest(%s, source, comm_o)" % text)
        elif p.kind == "RANK" and name in ("dest", "source", "root") and self.comm:
            self.check("std_bad_%s(%s, comm_o)" % (name, name), "std_why_%s(%s, %s, comm_o)" % (name, text, name))
        elif p.kind == "TAG" and (self.f.chapter in (3, 4) or
                                  self.f.name in ("MPI_Comm_create_group", "MPI_Intercomm_create")):
            receive = name == "recvtag" or (has_source and name == "tag" and self.f.chapter == 3)
            if self.f.name.startswith("MPI_Status"):
                return
            self.check("std_bad_recv_tag(%s, comm_o)" % name if receive else "%s < 0" % name,
                       "std_why_recv_tag(%s, %s, comm_o)" % (text, name) if receive else "std_why_tag(%s, %s)" % (text, name))

    def output(self, p):
        name = p.name
        if p.c.endswith("**") or p.kind in ("ARGUMENT_COUNT", "ARGUMENT_LIST"):
            self.args[name] = name
            return
        self.pointer(p)
        if p.c == "int *" and p.kind.startswith("POLY") and not self.raw:
            v = name + "_v"
            self.before.append("int64_t %s = %s;" % (v, "%s ? *%s : 0" % (name, name) if p.dir == "inout" else "0"))
            self.args[name] = "&" + v
            self.success.append("*%s = std_narrow(%s);" % (name, v))
        elif p.kind == "KEYVAL":
            self.args[name] = name
            if p.dir == "out":
                self.made.append("if (unlikely(gw_checking)) " + self.tell_made("(uint32_t)*" + name))
            else:
                self.before.append("uint32_t %s_was = %s ? (uint32_t)*%s : 0;" % (name, name, name))
                self.success.append("if (unlikely(gw_checking)) check_gone(%s_was);" % name)
        elif p.c in ("MPI_Count *", "MPI_Aint *"):
            self.args[name] = "(int64_t *)%s" % name
        else:
            self.args[name] = name


def call_text(code):
    """The target and its arguments; words that are parameters become what was made of them."""
    e, target = code.e, code.f.target
    if code.raw:
        raw = [p.name for p in e.params if p.c != "..."]
        return "%s(%s)" % (target + ("_c" if e.large else ""), ", ".join(raw))
    if "(" not in target:
        return "%s(%s)" % (target, ", ".join(code.args[p.name] for p in e.params))
    name, rest = target.split("(", 1)
    rest = rest.replace("...", ", ".join(p.name for p in e.params if p.kind not in ("INFO", "REQUEST")))

    def word(m):
        w = m.group(0)
        return code.args.get(w, {"wide": "true" if e.large else "false"}.get(w, w))
    return name + "(" + re.sub(r"(?<![\w>.])[A-Za-z_]\w*", word, rest)


def value_entry(e, lines):
    """Functions whose answer is not an error code: no checks, no errors."""
    args = ", ".join(p.name for p in e.params)
    cast = "(%s)" % e.return_c if e.return_c != "double" else ""
    lines += ["%s %s" % (export(e), e.prototype("P")), "{", "    return %s%s(%s);" % (cast, e.function.target, args), "}"]


def cold_twin(code, lines):
    e = code.e
    need = [p for p in e.params if p.c != "..."]
    text = " ".join(c for _, c in code.slow) + " ".join(w or "" for w, _ in code.slow)
    lines += ["static GW_COLD int why_%s(%s)" % (e.name[4:], ", ".join(p.decl() for p in need) or "void"), "{"]
    for p in need:
        o = p.name + "_o"
        if re.search(r"\b%s\b" % o, text):
            lines.append("    %s *%s = std_%s(%s);" % (HANDLES[p.kind][1], o, HANDLES[p.kind][0], p.name))
    lines += ["    (void)%s;" % p.name for p in need if not re.search(r"\b%s\b" % p.name, text)]
    lines.append("    int rc = %s;" % ("GW_OK" if code.any else "std_why_state()"))
    for when, call in code.slow:
        lines.append("    if (rc == GW_OK%s) rc = %s;" % (" && " + when if when else "", call))
    lines += ["    return rc;", "}"]


# What programs call most: these lie together.
COMMON = set("""Init Init_thread Finalize Comm_rank Comm_size Comm_split Comm_dup Comm_free Send Recv Isend Irecv Sendrecv Wait Waitall
    Waitany Test Testall Probe Iprobe Get_count Send_init Recv_init Start Startall Request_free Barrier Bcast Reduce Allreduce Allgather
    Allgatherv Gather Gatherv Scatter Scatterv Alltoall Alltoallv Reduce_scatter Scan Iallreduce Ibcast Ibarrier Wtime Put Get Accumulate
    Fetch_and_op Win_fence Win_lock Win_unlock Win_flush""".split())


def export(e):
    return "GW_EXPORT GW_HOT" if e.name[4:] in COMMON else "GW_EXPORT"


def inline_entry(code, lines):
    """An entry point whose target has an inlined twin, TARGET_inline: true if all is done.  Otherwise rest_NAME does the call from
    its begin; nothing lives across a call, so little is saved on the stack.  The twin says no to any datatype, rank, tag and int
    count that is not right; here it is seen to that there is something behind the handles and the addresses."""
    e = code.e
    tests = [(p, q) for q, p in zip(code.quick, code.quick_of) if p.kind == "BUFFER" or p.dir == "out" or (e.large and is_count(p))]
    tests.sort(key=lambda t: t[0].kind == "BUFFER")
    args = ", ".join(p.name for p in e.params)
    done = "%s_inline(%s)" % (code.f.target, ", ".join(code.args[p.name] for p in e.params))
    lines += ["%s %s" % (export(e), e.prototype("P")), "{", "    mpi_enter(%s);" % e.fn_id]
    if e.param("target_datatype"):  # most often the same one
        lines.append("    if (unlikely(target_datatype != origin_datatype)) goto rest;")
    for i, s in enumerate(code.before):
        lines.append("    " + (s if code.found.get(i) != "target_datatype_o" else "struct gw_type *target_datatype_o = origin_datatype_o;"))
        if i in code.found:
            lines.append("    if (unlikely(!%s)) goto rest;" % code.found[i])
    lines += ["    if (unlikely(%s)) goto rest;" % q for _, q in tests]
    lines.append("    if (unlikely(!%s)) goto rest;" % done)
    lines += ["    " + s for s in code.success] + ["    return MPI_SUCCESS;"]
    lines += ["rest:", "    return rest_%s(%s);" % (e.name[4:], args), "}"]


TOOL_HANDLES = {"MPI_T_enum": "tool_enum", "MPI_T_cvar_handle": "tool_cvar_handle", "MPI_T_pvar_handle": "tool_pvar_handle",
                "MPI_T_pvar_session": "tool_pvar_session", "MPI_T_event_registration": "tool_registration",
                "MPI_T_event_instance": "tool_instance"}


def tool_entry(e):
    """The tool information interface: no checks, no error handlers, and the number of the last call stays the program's own."""
    args = []
    for p in e.params:
        base = p.c.replace("*", "").strip()
        cast = "(struct %s *%s)" % (TOOL_HANDLES[base], "*" * p.c.count("*")) if base in TOOL_HANDLES else ""
        args.append((cast if e.function.target.startswith("tool_") else "") + p.name)
    return ["GW_EXPORT %s" % e.prototype("P"), "{", "    return %s(%s);" % (e.function.target, ", ".join(args)), "}"]


def entry(e):
    lines = []
    if e.function.name.startswith("MPI_T_"):
        return tool_entry(e) + alias(e)
    if e.return_c != "int" or e.function.target in ("std_toint", "std_fromint"):
        value_entry(e, lines)
        return lines + alias(e)
    code = Code(e)
    quick = list(code.quick)
    if not code.any and not code.has_handle:
        quick.insert(0, "!mpi_hot.running")
    if quick:
        cold_twin(code, lines)
    args = [p.name for p in e.params if p.c != "..."]
    inline = "inline" in e.function.flags
    head = "%s %s" % (export(e), e.prototype("P"))
    if inline:
        head = "static GW_NOINLINE %s" % e.prototype("rest_").replace("rest_MPI_", "rest_")
    lines += [head, "{", "    mpi_enter(%s);" % e.fn_id]
    if e.function.is_checked or e.function.together is not None:
        lines.append("    if (unlikely(gw_checking)) check_enter(%s, __builtin_return_address(0));" % e.fn_id)
    lines += ["    " + s for s in code.before]
    lines.append("    int rc;")
    arrays = getattr(code, "arrays", [])
    if quick:
        lines.append("    if (likely(mpi_hot.check) &&\n        unlikely(%s) &&" % " ||\n                 ".join(quick))
        lines.append("        (rc = why_%s(%s)) != GW_OK)" % (e.name[4:], ", ".join(args)))
        lines.append("        goto failed;")
    if e.function.together is not None:
        lines.append("    if (unlikely(gw_checking) && (rc = check_together(%s_o, %s)) != GW_OK) goto failed;" %
                     (code.comm.name if code.comm else "comm", "true" if e.function.together else "false"))
    call = call_text(code)
    if e.function.is_checked:
        call = "unlikely(gw_checking) ? (check_inside(), check_left(check_%s)) : %s" % (call, call)
    if arrays:  # jumping over their declarations is right as they end with the block
        lines.append("    {")
        lines += ["        " + s for s in arrays + code.watched]
        lines.append("        rc = %s;" % call)
        lines += ["        " + s for s in code.always + code.last]
        lines.append("    }")
    else:
        lines += ["    " + s for s in code.watched]
        lines.append("    rc = %s;" % call)
        lines += ["    " + s for s in code.always]
    lines.append("    if (likely(rc >= 0)) {")
    lines += ["        " + s for s in code.success + code.made]
    lines += ["        return MPI_SUCCESS;", "    }"]
    if quick:
        lines.append("failed:")
    lines.append('    return std_raise(%s, %s, rc, "%s"%s);' % (e.fn_id, error_owner(code), ",".join(code.letters),
                                                                "".join(", " + a for a in args)))
    lines.append("}")
    if inline:
        inline_entry(code, lines)
    return lines + alias(e)


def error_owner(code):
    """Whose error handler runs."""
    if code.f.name in MAKERS:
        return "errhandler_o"
    for p in code.e.params:
        if p.kind == "SESSION" and p.dir != "out":
            return p.name + "_o"
        if p.kind == "WINDOW" and p.dir != "out":
            return p.name + "_o"
        if p.kind == "FILE" and p.dir != "out":
            return "std_file_owner(%s_o)" % p.name
    if code.f.chapter == 14:
        return "&io_no_file"
    if code.comm:
        return code.comm.name + "_o"
    for p in code.e.params:
        if p.kind == "COMMUNICATOR" and p.dir == "inout":
            return p.name + "_o"
        if p.kind == "REQUEST" and p.dir in ("in", "inout"):
            return "std_request_comm(%s, rc)" % ("NULL" if p.is_array else p.name + "_o")
        if p.kind == "MESSAGE" and p.dir == "inout":
            return "(struct gw_comm *)gw_obj_lookup(%s_comm, GW_KIND_COMM)" % p.name
    return "NULL"


def alias(e):
    """The name for programs, and the one for the doors of other ABIs, whose own entry points have the names of these."""
    return ['extern __typeof__(P%s) godwit_%s __attribute__((alias("P%s"), visibility("default")));' % (e.name, e.name, e.name),
            'extern __typeof__(P%s) %s __attribute__((weak, alias("P%s"), visibility("default")));' % (e.name, e.name, e.name), ""]


def emit(model):
    out = []
    for name in api.FILE_NAMES:
        lines = ["/* entry_%s.c -- generated by gen/entries.py: entry points of the standard ABI. */" % name] + INCLUDES
        for e in model.entries(implemented=True):
            if e.function.file == name:
                lines += entry(e)
        out.append(("facade/entry_%s.c" % name, "\n".join(lines)))
    return out
