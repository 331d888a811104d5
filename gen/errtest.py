"""Writes mpi_errors.c: every call with one bad argument after another, all others good, and the error class that must come back.

What a bad argument is follows from the kind of the parameter alone, not from the code that checks it; test/mpi/errors.h holds
the good and the bad objects and what is asserted."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import re

# kind of handle: (C type, word in errors.h, null handle, class, a handle of another kind)
HANDLES = {"COMMUNICATOR": ("MPI_Comm", "comm", "MPI_COMM_NULL", "COMM", "MPI_INT"),
           "DATATYPE": ("MPI_Datatype", "type", "MPI_DATATYPE_NULL", "TYPE", "MPI_COMM_WORLD"),
           "OPERATION": ("MPI_Op", "op", "MPI_OP_NULL", "OP", "MPI_INT"),
           "GROUP": ("MPI_Group", "group", "MPI_GROUP_NULL", "GROUP", "MPI_COMM_SELF"),
           "REQUEST": ("MPI_Request", "request", "MPI_REQUEST_NULL", "REQUEST", "MPI_COMM_WORLD"),
           "MESSAGE": ("MPI_Message", "message", "MPI_MESSAGE_NULL", "REQUEST", "MPI_COMM_WORLD"),
           "ERRHANDLER": ("MPI_Errhandler", "errhandler", "MPI_ERRHANDLER_NULL", "ERRHANDLER", "MPI_COMM_WORLD"),
           "INFO": ("MPI_Info", "info", "MPI_INFO_NULL", "INFO", "MPI_COMM_WORLD"),
           "FILE": ("MPI_File", "file", "MPI_FILE_NULL", "FILE", "MPI_COMM_WORLD")}
NULL_FILE_OK = re.compile(r"MPI_File_\w+_errhandler$")
NULL_NAME_OK = re.compile(r"MPI_\w+_get_name$")
# Calls that cannot fail in the ways below, or that end or start MPI.
SKIP = {"MPI_Init", "MPI_Init_thread", "MPI_Finalize", "MPI_Abort", "MPI_Pcontrol", "MPI_Free_mem", "MPI_Info_create_env"}
NULL_REQUEST_OK = re.compile(r"MPI_(Wait|Test|Request_get_status|Parrived)")
NULL_INFO_OK = re.compile(r"MPI_(Comm_i?dup_with_info|Comm_split_type|Comm_set_info|Alloc_mem|File_\w+|Dist_graph_create|Dist_graph_create_adjacent|Comm_spawn|Comm_accept|Comm_connect|Open_port|(Publish|Unpublish|Lookup)_name|\w+_init)$")
# Calls that need a communicator with a topology.
TOPOLOGIES = [(re.compile(r"MPI_Cart(_get|_sub|_rank|_coords|_shift|dim_get)$"), "cart"),
              (re.compile(r"MPI_Graph(_get|_neighbors|_neighbors_count|dims_get)$"), "graph"),
              (re.compile(r"MPI_Dist_graph_neighbors|MPI_I?[nN]eighbor_"), "dist")]
PACKERS = {"MPI_Pack", "MPI_Unpack", "MPI_Pack_external", "MPI_Unpack_external"}
# Good values of scalars and arrays by kind or name; others are 1.
GOOD = {"KEYVAL": "comm_keyval", "KEY_INDEX": "0", "TAG": "5", "RANK": "me", "RANK_NNI": "0", "SPLIT_TYPE": "MPI_COMM_TYPE_SHARED",
        "ORDER": "MPI_ORDER_C", "TYPECLASS": "MPI_TYPECLASS_INTEGER", "TYPECLASS_SIZE": "4", "ERROR_CODE": "MPI_ERR_ARG",
        "ERROR_CLASS": "MPI_ERR_ARG", "MATH": "6", "INFO_VALUE_LENGTH": "8", "ALLOC_MEM_NUM_BYTES": "64",
        "POLYDTYPE_PACK_SIZE": "1024", "POLYNUM_BYTES_NNI": "1024", "POLYNUM_BYTES": "1024", "EXTRA_STATE": "NULL",
        "EXTRA_STATE2": "NULL", "COLOR": "0", "KEY": "0"}
GOOD_ARRAYS = {"array_of_starts": "zeros", "array_of_distribs": "distribs", "array_of_dargs": "dargs", "ranks": "zeros",
               "ranks1": "zeros", "displs": "zeros", "sdispls": "zeros", "rdispls": "zeros", "edges": "zeros", "sources": "zeros",
               "destinations": "zeros", "coords": "zeros"}
GARBAGE = [("0", "0"), ("0xffe", "a small number that is no handle"), ("0x5555deadbeef0", "a stray pointer")]


class Cases:
    def __init__(self, e):
        self.e, self.f, self.base = e, e.function, e.function.name
        self.comm = e.param("comm") or e.param("comm1")
        self.rows = []  # (parameter name, C expression, description, error class)
        for p in e.params:
            self.bad(p)

    def add(self, p, value, what, error):
        self.rows.append((p.name, value, "%s: %s" % (p.name, what), "MPI_ERR_" + error))

    # ---- good arguments ----
    def good(self, p):
        if p.kind in HANDLES:
            word = HANDLES[p.kind][1]
            if p.is_array and p.kind == "INFO":
                return "&good_info"
            if p.is_array:
                return word + "s_good" if p.dir != "out" else "types_out"
            if p.dir == "out" and p.name == "filetype": # the second of its kind in the call
                return "types_out"
            value = "MPI_SUM" if p.kind == "OPERATION" and p.dir == "in" else "good_" + word
            if p.kind == "COMMUNICATOR" and p.dir == "in":
                value = next(("good_" + kind for names, kind in TOPOLOGIES if names.match(self.base)), value)
            return "(%s_v = %s, &%s_v)" % (word, value, word) if "*" in p.c else value
        if p.kind == "STATUS":
            return "statuses"
        if p.kind == "BUFFER":
            return "space + 4096" if p.dir == "out" else "space"
        if p.kind in ("FUNCTION", "POLYFUNCTION"):
            return {"user_fn": "user_op_c" if self.e.large else "user_op", "comm_errhandler_fn": "user_errhandler"}.get(p.name, "0")
        if p.kind == "STRING" and p.dir == "in":
            return {"datarep": '"external32"'}.get(p.name, '"word"')
        if p.is_array and p.kind == "RANK" and "[3]" in p.c:
            return "ranges"
        if p.kind in ("STRING_ARRAY", "STRING_2DARRAY"):
            return "(%s)space" % p.c.replace("[]", "*")
        if p.is_array or "*" in p.c:
            if p.kind == "LOGICAL_VOID":
                return "space"
            if p.dir != "in" and not p.is_array:
                return "(%s)out" % (p.c if "**" not in p.c else "void *")
            word = GOOD_ARRAYS.get(p.name, "ones")
            return "(%s *)%s" % (p.c.split("[")[0].rstrip(" *"), word + ("64" if "int" not in p.c else "")) if p.dir == "in" else "out"
        if p.kind == "KEYVAL" and p.name == "type_keyval":
            return "type_keyval"
        return GOOD.get(p.kind, "1")

    def call(self, name, value):
        """The call with the argument `name` replaced."""
        args = [value if p.name == name else self.good(p) for p in self.e.params if p.c != "..."]
        return "%s(%s)" % (self.e.name, ", ".join(args))

    # ---- bad arguments ----
    def bad(self, p):
        if p.kind in HANDLES:
            self.handle(p)
        elif p.kind == "STATUS":
            if p.dir != "out" or p.name == "c_status":
                self.add(p, "NULL", "NULL", "ARG")
        elif p.kind == "BUFFER":
            self.buffer(p)
        elif p.kind == "STRING":
            error = {"key": "INFO_KEY", "value": "INFO_VALUE"}.get(p.name if p.dir == "in" else "", "ARG")
            if self.base != "MPI_Info_get_string" or p.dir == "in":  # with a length of 0, as here, there need not be a string
                self.add(p, "NULL", "NULL", error)
            if p.name == "key" and p.dir == "in":
                self.add(p, '""', "an empty string", "INFO_KEY")
                self.add(p, "long_key", "too long", "INFO_KEY")
        elif p.is_array:
            self.array(p)
        elif "*" in p.c:
            if p.dir != "in" and "**" not in p.c and not p.kind.startswith("ARGUMENT"):
                self.add(p, "NULL", "NULL", "ARG")
            elif p.dir == "in" and p.kind in ("F08_STATUS", "F90_STATUS"):
                self.add(p, "NULL", "NULL", "ARG")
        elif p.dir == "in":
            self.scalar(p)

    def handle(self, p):
        if p.is_array and p.kind == "INFO":
            return  # one of several, at the root
        ctype, word, null, error, other = HANDLES[p.kind]
        if p.dir == "out":
            if not p.is_array:
                self.add(p, "NULL", "NULL", "ARG")
            return
        null_ok = bool(p.kind == "REQUEST" and NULL_REQUEST_OK.match(self.base) or p.kind == "INFO" and NULL_INFO_OK.match(self.base) or
                       p.kind == "FILE" and NULL_FILE_OK.match(self.base) or NULL_NAME_OK.match(self.base))
        values = [] if null_ok else [(null, "the null handle")]
        values += [("(%s)(uintptr_t)%s" % (ctype, v), text) for v, text in GARBAGE]
        values += [("(%s)%s" % (ctype, other), "the handle of something else"), ("freed_" + word, "a freed one")]
        if p.kind == "DATATYPE" and (self.f.moves_data or self.base in PACKERS) and self.base not in (
                "MPI_Get_count", "MPI_Type_get_value_index", "MPI_File_get_type_extent"):
            values.append(("uncommitted", "not committed"))
        for value, text in values:
            if p.is_array:
                self.add(p, "(%ss_v[0] = %s, %ss_v)" % (word, value, word), "[0] is " + text, error)
            elif "*" in p.c:
                self.add(p, "(%s_v = %s, &%s_v)" % (word, value, word), text, error)
            else:
                self.add(p, value, text, error)
        if p.is_array:
            self.add(p, "NULL", "NULL", "ARG")
        elif "*" in p.c:
            self.add(p, "NULL", "NULL", "ARG")

    def buffer(self, p):
        if not self.f.moves_data and self.base not in PACKERS:
            return
        if self.base.endswith("ttach") or self.base.endswith("attach_buffer"):
            self.add(p, "NULL", "NULL", "BUFFER")
            return
        counts = {"MPI_Alltoallw", "MPI_Alltoallv", "MPI_Allgatherv", "MPI_Gatherv", "MPI_Scatterv", "MPI_Reduce_scatter",
                  "MPI_Neighbor_allgatherv", "MPI_Neighbor_alltoallv", "MPI_Neighbor_alltoallw"}
        base = self.f.blocking
        if base not in counts and not base.endswith("_end"):
            self.add(p, "NULL", "NULL", "BUFFER")
        if self.f.chapter in (3, 4, 14) or p.name in ("recvbuf", "buffer", "inbuf", "inoutbuf") and base not in (
                "MPI_Scatter", "MPI_Scatterv"):
            self.add(p, "MPI_IN_PLACE", "MPI_IN_PLACE", "BUFFER")
        elif p.name == "sendbuf" and base in ("MPI_Scatter", "MPI_Scatterv"):
            self.add(p, "MPI_IN_PLACE", "MPI_IN_PLACE", "BUFFER")

    def array(self, p):
        if p.dir == "in" and p.kind in ("POLYXFER_NUM_ELEM_NNI", "POLYDTYPE_NUM_ELEM_NNI") and p.name != "array_of_starts":
            self.add(p, "(void *)%s" % ("negative64" if self.e.large else "negative"), "[0] is -1", "COUNT")
            if self.e.large and self.f.moves_data:
                self.add(p, "(void *)vast64", "[0] is 2^62", "COUNT")
        if p.kind in ("RANK", "RANK_NNI") and p.dir == "in" and "[3]" not in p.c:
            self.add(p, "wild", "[0] is -5", "RANK")
        if p.name in ("array_of_sizes", "array_of_subsizes", "array_of_gsizes", "array_of_psizes", "array_of_starts"):
            self.add(p, "(void *)%s" % ("negative64" if "int" not in p.c else "negative"), "[0] is -1", "ARG")
        if p.kind not in ("ARGUMENT_LIST", "ERROR_CODE", "STRING_2DARRAY") and p.name != "argv":
            self.add(p, "NULL", "NULL", "ARG")

    def scalar(self, p):
        name = p.name
        if "PACK_SIZE" in p.kind or name in ("insize", "outsize") or p.kind in ("ALLOC_MEM_NUM_BYTES", "POLYNUM_BYTES_NNI"):
            self.add(p, "-1", "-1", "ARG")
        elif "NUM_ELEM" in p.kind and name != "stride" and p.kind != "XFER_NUM_ELEM" or name in ("incount", "outcount") or (
                p.kind == "ARRAY_LENGTH_NNI" and name == "count"):
            self.add(p, "-1", "-1", "COUNT")
            if self.e.large and p.c == "MPI_Count" and (self.f.moves_data or self.base in PACKERS):
                self.add(p, "(MPI_Count)1 << 62", "2^62", "COUNT")
        elif p.kind.startswith("ARRAY_LENGTH"):
            self.add(p, "-1", "-1", "ARG")
        elif name == "partitions":
            self.add(p, "-1", "-1", "ARG")
        elif p.kind == "RANK" and self.comm:
            error = "ROOT" if name == "root" else "RANK"
            self.add(p, "-5", "-5", error)
            self.add(p, "nranks", "the size", error)
            if name != "source" or self.f.chapter == 4:
                self.add(p, "MPI_ANY_SOURCE", "MPI_ANY_SOURCE", error) if name in ("dest", "source") else self.add(p, "MPI_PROC_NULL", "MPI_PROC_NULL", error)
        elif p.kind == "TAG" and self.base not in ("MPI_Status_set_tag",):
            self.add(p, "-5", "-5", "TAG")
            if self.f.chapter == 4 or not (name == "recvtag" or self.e.param("source") and name == "tag"):
                self.add(p, "MPI_ANY_TAG", "MPI_ANY_TAG", "TAG")
        elif p.kind == "KEYVAL":
            for value, text in [("MPI_KEYVAL_INVALID", "MPI_KEYVAL_INVALID"), ("12345", "12345"), ("freed_keyval", "a freed one"),
                                ("comm_keyval" if name == "type_keyval" else "type_keyval", "of something else")]:
                self.add(p, value, text, "KEYVAL")
        elif p.kind in ("COLOR", "ORDER", "TYPECLASS", "SPLIT_TYPE"):
            self.add(p, "-7", "-7", "ARG")


def emit(model):
    lines = ["/* mpi_errors.c -- generated by gen/errtest.py: every call with one bad argument after another. */",
             "#define MPI_NO_INLINED_CONVERSIONS /* the library's are called */", '#include "test/mpi/errors.h"', ""]
    names = []
    for e in model.entries(implemented=True):
        if e.return_c != "int" or e.function.target in ("std_toint", "std_fromint") or e.function.name in SKIP:
            continue
        if e.function.chapter == 12 or any(p.kind == "WINDOW" for p in e.params):
            continue  # test/mpi/rma_errors.c
        if e.function.name.startswith("MPI_T_"):
            continue  # they raise nothing: test/mpi/tool_*.c
        if any(p.kind == "SESSION" for p in e.params) or e.function.name.endswith(("_from_group", "_from_groups")):
            continue  # test/mpi/session_errors.c
        cases = Cases(e)
        if not cases.rows:
            continue
        names.append(e.name)
        lines += ["static void try_%s(void)" % e.name[4:], "{"]
        lines += ['    TRY("%s", "%s", %s, %s);' % (e.name, what, error, cases.call(name, value))
                  for name, value, what, error in cases.rows]
        lines += ["    still_works();", "}"]
    lines += ["", "int main(int argc, char **argv)", "{", "    begin(argc, argv);"]
    lines += ["    try_%s();" % n[4:] for n in names]
    lines += ["    others();", "    ignored();", "    return end();", "}", ""]
    return [("test/mpi_errors.c", "\n".join(lines))]
