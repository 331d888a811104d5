"""What the arguments of an entry point need before, around and after the call of its target: objects behind handles, quick tests (is
something wrong?), slow tests (what is it?), results.  Rules go by the kind of a parameter; what is special to one function is a flag
in api/*.tbl."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause

# kind -> (word of the codec, struct of the core, letter for std_raise)
HANDLES = {"COMMUNICATOR": ("comm", "struct gw_comm", "C"), "DATATYPE": ("type", "struct gw_type", "D"),
           "OPERATION": ("op", "struct gw_op", "O"), "GROUP": ("group", "struct gw_group", "G"),
           "REQUEST": ("request", "struct gw_req", "R"), "MESSAGE": ("message", "struct gw_msg", "M"),
           "ERRHANDLER": ("errhandler", "struct gw_errhandler", "E"), "INFO": ("info", "struct gw_info", "I"),
           "FILE": ("file", "struct gw_file", "F"), "WINDOW": ("win", "struct rma_win", "W"),
           "SESSION": ("session", "struct mpi_session", "N")}
NULLS = {"COMMUNICATOR": "MPI_COMM_NULL", "WINDOW": "MPI_WIN_NULL"}
# How many blocks there are, as the flag blocks= says it and as C does.
NUMBERS = {"targets": "comm_o->targets", "size": "comm_o->size", "indegree": "std_indegree(comm_o)", "outdegree": "std_outdegree(comm_o)"}


def null_of(kind):
    return NULLS.get(kind, "MPI_%s_NULL" % kind)


def is_count(p):
    """A scalar that says how many items or bytes a buffer has."""
    return p.dir == "in" and not p.is_array and p.c in ("int", "MPI_Count", "MPI_Aint") and (
        p.kind.startswith("POLYXFER_NUM_ELEM") or p.kind == "XFER_NUM_ELEM_NNI" or p.kind.startswith("POLYDTYPE_NUM_ELEM_NNI") or
        p.name in ("incount", "outcount", "outsize", "insize"))


def is_bytes(p):
    return p.name in ("outsize", "insize", "size") or p.kind in ("ALLOC_MEM_NUM_BYTES", "POLYNUM_PARAM_VALUES")


class Arguments:
    """Of one entry point: statements before and after the call, tests, expressions for the target's arguments."""

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
        self.arrays = []                # declarations of arrays of objects, which take a block of their own
        self.any = "any" in self.f.flags
        self.in_place = next(iter(self.f.flags.get("in_place", [])), None)
        self.blocks = dict(b.split("*") for b in self.f.flags.get("blocks", [])) # count -> how many of them
        self.is_rooted = e.param("root") is not None
        self.reduces = e.param("op") is not None
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
        if "alias" not in self.f.flags:
            return
        one, two = [p for p in self.e.params if p.kind == "BUFFER"]
        alone = "datatype" if self.e.param("datatype") else None
        types = [alone or "sendtype", alone or "recvtype"]
        counts = ["count", "count"] if self.e.param("count") else ["recvcount", "recvcount"] if alone else ["sendcount", "recvcount"]
        if "parts" in self.f.flags:
            p = self.e.param("recvcounts")
            counts = ["std_total(%s, %s)" % (self.counts(p), self.length_of(p))] * 2
        self.p = two
        same = "%s == %s" % (one.name, two.name)
        self.check("true", 'std_why_alias("%s", "%s", %s, %s, %s_o, %s, %s_o)' % (
            one.name, two.name, one.name, counts[0], types[0], counts[1], types[1]),
            same + (" && std_is_root(root, comm_o) && !comm_o->remote" if self.is_rooted else ""))

    def late(self):
        """On intercommunicators parameters of a rooted collective count on one side only; looked at last, it is seldom so."""
        p = self.p
        if self.f.chapter != 6 or not self.is_rooted or p.root_only or p.name in ("root", "comm", "info", "request"):
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
            return ("comm_o->size" if "parts" in self.f.flags else "comm_o->targets") if self.comm else None
        return n if n and self.e.param(n) else None

    def when(self, p):
        """The condition under which a parameter of a collective counts, or None for always."""
        conditions = []
        if p.root_only:
            conditions.append("std_is_root(root, comm_o)")
        if self.f.chapter == 12 and p.name.startswith("origin_") and self.e.param("result_addr") and self.e.param("op"):
            conditions.append("op != MPI_NO_OP")
        if p.name in self.f.flags.get("leader", []):
            conditions.append("%s_o->rank == local_leader" % self.e.params[0].name)
        at = self.in_place
        if at and not self.reduces and (p.name.startswith(at[:4]) or p.name == at[0] + "displs"):
            conditions.append("%s != MPI_IN_PLACE" % at)
        return " && ".join(conditions) or None

    def room(self, p):
        """The condition under which a string is written to at all, where a length of 0 asks for the length alone."""
        length = next(iter(self.f.flags.get("room", [])), None)
        return "%s && *%s > 0" % (length, length) if length and p.dir == "out" else None

    def committed(self):
        return (self.f.moves_data or "data" in self.f.flags) and "uncommitted" not in self.f.flags

    def may_be_null(self, p):
        return self.f.allows_null(p.kind)

    def lookup(self, p):
        if p.kind in HANDLES and not p.is_array and p.dir == "in" and "*" not in p.c:
            word, struct, _ = HANDLES[p.kind]
            word += "_or_null" if p.kind == "FILE" and self.may_be_null(p) else ""
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
        if p.c in ("MPI_Count", "MPI_Aint", "MPI_Offset"):
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
                self.always.append("if (!%s) *%s = %s;" % (o, name, null_of(p.kind)))
            self.success.append("if (%s) %s" % (when, set_it) if when else set_it)
            if "lent" in self.f.flags:
                return
            self.made.append("if (unlikely(gw_checking)%s) %s" % (" && " + when if when else "",
                                                                 self.tell_made("(uint32_t)(uintptr_t)*" + name)))
        else:
            self.pointer(p)
            self.before.append("%s *%s = %s ? std_%s(*%s) : NULL;" % (struct, o, name, word, name))
            self.args[name] = "&" + o
            self.check_handle(p, "*" + name, o)
            # The call may null the handle, also when it fails; it never makes another object of it.
            if p.kind == "MESSAGE":  # gone where the receive fails, and then the communicator is still asked for
                self.before.append("uint64_t %s_comm = %s && %s->comm ? %s->comm->obj.id : 0;" % (name, o, o, o))
                self.always.append("if (unlikely(gw_checking) && !%s) check_gone((uint32_t)(uintptr_t)*%s);" % (o, name))
            if p.kind in ("REQUEST", "MESSAGE"):
                self.always.append("if (!%s) *%s = %s;" % (o, name, null_of(p.kind)))
            else:
                self.success.append("if (unlikely(gw_checking) && !%s) check_gone((uint32_t)(uintptr_t)*%s);" % (o, name))
                self.success.append("*%s = std_%s_handle(%s);" % (name, word, o))

    def tell_made(self, number):
        return "check_made(%s, __builtin_return_address(0), %s);" % (self.e.fn_id, number)

    def check_handle(self, p, value, o):
        name, text, null = p.name, '"%s"' % p.name, null_of(p.kind)
        when, may_be_null = self.when(p), self.may_be_null(p)
        if may_be_null and p.kind in ("COMMUNICATOR", "DATATYPE", "WINDOW"):
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
        elif p.kind in ("INFO", "REQUEST"):
            quick = "!%s && %s != %s" % (o, value, null) if may_be_null else "!" + o
            self.check(quick, "std_why_%s(%s, %s, %s)" % (HANDLES[p.kind][0], text, value, "true" if may_be_null else "false"), when)
            self.has_handle |= p.kind == "REQUEST" and not may_be_null
        elif may_be_null:
            self.check("!" + o, "std_why_%s_or_null(%s, %s)" % (HANDLES[p.kind][0], text, value))
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
            call = 'std_why_bytes("%s", %s, %s, %s)' % (count.name, count.name, o, self.number_of(count))
        else:
            return
        self.check(None, call, when)

    def number_of(self, count):
        """How many blocks of so many items there are, as C says it."""
        number = self.blocks.get(count.name, "1")
        return NUMBERS.get(number, number)

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
        self.arrays += [init, "if (%s) %s" % (when, fill) if when else fill]
        self.watch(p, n, when)
        if p.kind == "REQUEST":
            may_be_null = self.may_be_null(p)
            quick = "std_bad_requests(%s, %s)" % (name, n) if may_be_null else "true"
            self.check(quick, 'std_why_requests("%s", %s, %s, %s)' % (name, name, n, "true" if may_be_null else "false"))
            if p.dir == "inout":
                self.always.append("std_requests_out(%s, %s, %s);" % (o, n, name))
        elif self.e.param(name.replace("types", "counts")):  # a datatype that goes with a count of 0 is not looked at
            counts = self.counts(self.e.param(name.replace("types", "counts")))
            self.check("std_bad_types(%s, %s)" % (name, n), 'std_why_types_used("%s", %s, %s, %s)' % (name, name, counts, n), when)
        else:
            self.check("true", 'std_why_types("%s", %s, %s, %s)' % (name, name, n, "true" if self.committed() else "false"), when)

    def status(self, p):
        if p.dir != "out" or self.raw:  # else it may be MPI_STATUS_IGNORE
            self.pointer(p)
        self.args[p.name] = "std_status(%s)" % p.name

    def buffer(self, p):
        self.args[p.name] = p.name
        params = self.e.params
        i = params.index(p)
        count = next((q for q in params[i + 1:] if is_count(q)), None)
        text, when = '"%s"' % p.name, None
        if p.root_only:
            when = "std_is_root(root, comm_o)"
        if self.f.chapter == 12:
            when = self.when(p)
        if [(q.name, q.kind) for q in params[i + 1:i + 2]] == [("size", "POLYNUM_BYTES_NNI")]:  # to be attached
            self.check("std_bad_buffer(%s, size)" % p.name, "std_why_attach(%s, %s, size)" % (text, p.name))
            return
        if not self.f.moves_data and "data" not in self.f.flags:
            return  # an address, not a message
        if self.in_place == p.name:
            allowed = "%s != MPI_IN_PLACE" % p.name
            if self.is_rooted:
                allowed = "(%s || !std_is_root(root, comm_o))" % allowed
            when = " && ".join(filter(None, [when, allowed]))
        if count is None:
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
            self.check("std_bad_%s(%s, %s)" % ("parts" if "parts" in self.f.flags else "counts", self.args[name], n),
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
            many = "std_many_blocks(%s)" if name in self.blocks else "std_many(%s)" if self.e.large else "%s < 0"
            self.check(many % name, "std_why_count(%s, %s)" % (text, name), when)
        elif is_count(p) or (is_bytes(p) and "NNI" in p.kind) or p.kind in ("ALLOC_MEM_NUM_BYTES", "POLYNUM_PARAM_VALUES"):
            self.check("%s < 0" % name, "std_why_length(%s, %s, 0)" % (text, name))
        elif p.kind == "POLYDTYPE_NUM_ELEM_NNI" or p.kind == "ARRAY_LENGTH_NNI" and name == "count":
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
        elif p.kind == "TAG" and self.comm:
            receive = name == "recvtag" or (has_source and name == "tag" and self.f.chapter == 3)
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
