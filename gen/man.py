"""Writes man/man3/*.3: a manual page for each function that the library has; _c forms are on the page of the plain form."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import re

# What a parameter is, by kind; {n} is its name.  A kind that does not stand here is described by its direction alone.
KINDS = {
    "COMMUNICATOR": "communicator", "GROUP": "group", "OPERATION": "reduction operation", "DATATYPE": "datatype",
    "REQUEST": "request", "MESSAGE": "message from a matching probe", "ERRHANDLER": "error handler", "INFO": "info object",
    "WINDOW": "window", "FILE": "file", "SESSION": "session", "STATUS": "status",
    "RANK": "rank of a process", "RANK_NNI": "rank of a process", "TAG": "tag of the message: 0 or more", "KEYVAL": "attribute key",
    "POLYXFER_NUM_ELEM_NNI": "number of items: 0 or more", "XFER_NUM_ELEM": "number of items",
    "POLYDTYPE_NUM_ELEM_NNI": "number of items: 0 or more", "POLYDTYPE_NUM_ELEM": "number of items",
    "POLYDTYPE_NUM_ELEM_PI": "number of items: 1 or more", "ARRAY_LENGTH": "length of the arrays", "ARRAY_LENGTH_NNI":
    "length of the arrays", "ARRAY_LENGTH_PI": "length of the arrays: 1 or more", "LOGICAL": "0 (false) or another value (true)",
    "POLYDTYPE_STRIDE_BYTES": "distance in bytes", "POLYDISPLACEMENT_AINT_COUNT": "displacement in bytes",
    "POLYDISPLACEMENT_COUNT": "displacement in items", "POLYDISPLACEMENT": "displacement in items", "DISPLACEMENT": "address",
    "INDEX": "index, or MPI_UNDEFINED", "ERROR_CODE": "error code", "ERROR_CLASS": "error class", "STRING": "text",
    "STRING_LENGTH": "length of the text", "FUNCTION": "the user's function", "POLYFUNCTION": "the user's function",
    "EXTRA_STATE": "pointer that the functions of the key get", "EXTRA_STATE2": "pointer that the functions of the key get",
    "ATTRIBUTE_VAL": "value of the attribute", "ATTRIBUTE_VAL_10": "value of the attribute", "COLOR":
    "processes with equal colors share a communicator; MPI_UNDEFINED: none", "KEY": "order of the ranks",
    "SPLIT_TYPE": "MPI_COMM_TYPE_SHARED or MPI_UNDEFINED", "ORDER": "MPI_ORDER_C or MPI_ORDER_FORTRAN",
    "COMM_COMPARISON": "MPI_IDENT, MPI_CONGRUENT, MPI_SIMILAR or MPI_UNEQUAL",
    "GROUP_COMPARISON": "MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL", "COMM_SIZE": "number of processes",
    "COMM_SIZE_PI": "number of processes", "THREAD_LEVEL": "MPI_THREAD_SINGLE, _FUNNELED, _SERIALIZED or _MULTIPLE",
    "ALLOC_MEM_NUM_BYTES": "size in bytes", "COMBINER": "how the datatype was made: MPI_COMBINER_...",
    "TYPECLASS": "MPI_TYPECLASS_INTEGER, _REAL or _COMPLEX", "VERSION": "number of the version",
}
# Error classes by kind of input.
ERRORS = {
    "COMMUNICATOR": ("MPI_ERR_COMM", "no communicator, or a freed one"), "GROUP": ("MPI_ERR_GROUP", "no group, or a freed one"),
    "DATATYPE": ("MPI_ERR_TYPE", "no datatype, a freed one, or not committed where data moves"),
    "OPERATION": ("MPI_ERR_OP", "no operation, or one that the datatype does not have"),
    "REQUEST": ("MPI_ERR_REQUEST", "no request, or one that was freed or completed"),
    "MESSAGE": ("MPI_ERR_REQUEST", "no message, or one that was received"), "INFO": ("MPI_ERR_INFO", "no info object"),
    "ERRHANDLER": ("MPI_ERR_ERRHANDLER", "no error handler"), "TAG": ("MPI_ERR_TAG", "a tag below 0"),
    "RANK": ("MPI_ERR_RANK", "a rank that the communicator or group does not have"), "KEYVAL": ("MPI_ERR_KEYVAL", "no attribute key of this kind"),
    "POLYXFER_NUM_ELEM_NNI": ("MPI_ERR_COUNT", "a count below 0"), "POLYDTYPE_NUM_ELEM_NNI": ("MPI_ERR_COUNT", "a count below 0"),
}


def roff(text):
    return text.replace("\\", "\\e").replace("-", "\\-")


def synopsis(e):
    """The prototype, broken so that no line passes 80 columns; names in bold."""
    args = [p.decl() for p in e.params] or ["void"]
    head = "%s %s(" % (e.return_c, e.name)
    lines, line = [], head
    for i, a in enumerate(args):
        piece = a + (", " if i + 1 < len(args) else ");")
        if len(line) + len(piece.rstrip()) > 78 and line.strip() != head.strip():
            lines.append(line.rstrip())
            line = " " * min(len(head), 24)
        line += piece
    return lines + [line.rstrip()]


def described(p):
    what = KINDS.get(p.kind)
    if p.kind == "BUFFER":
        what = {"in": "address of the data", "out": "address of the room for the data", "inout": "address of the data"}[p.dir]
    if what and p.is_array:
        what = "array: " + what
    if what and p.root_only:
        what += " (looked at by the root alone)"
    return "%s%s" % ({"in": "in", "out": "out", "inout": "in and out"}[p.dir], ": " + what if what else "")


def see_also(f, model):
    """Up to eight functions of the same chapter whose names share most words."""
    words = set(f.name.lower().split("_")[1:])

    def score(g):
        return len(words & set(g.name.lower().split("_")[1:])) * 10 + (g.name[:6].lower() == f.name[:6].lower())
    near = [g for g in model.functions if g.implemented and g is not f and g.chapter == f.chapter and score(g) > 0]
    return sorted(g.name for g in sorted(near, key=lambda g: (-score(g), g.name))[:8])


def errors(f):
    rows = {}
    for p in f.entries[0].params:
        kind = "ROOT" if p.name == "root" else p.kind
        row = ("MPI_ERR_ROOT", "a rank that the communicator does not have") if kind == "ROOT" else ERRORS.get(kind)
        if row and p.dir != "out":
            rows.setdefault(*row)
        if p.kind == "BUFFER" and (f.chapter in (3, 6) or f.is_neighbor):
            rows.setdefault("MPI_ERR_BUFFER", "a null address, or MPI_IN_PLACE where it must not stand")
        if p.dir != "in" or p.is_array:
            rows.setdefault("MPI_ERR_ARG", "a null pointer, or another argument that is out of range")
    return rows


def page(f, model):
    lines = ['.\\" Generated by gen/man.py from api/.', ".TH %s 3 \"\" \"Godwit\" \"MPI\"" % f.name, ".SH NAME"]
    lines.append("%s \\- %s" % (", ".join(e.name for e in f.entries), roff(f.text[0].lower() + f.text[1:].rstrip("."))))
    lines += [".SH SYNOPSIS", ".nf", ".B #include <mpi.h>", ".PP"]
    for e in f.entries:
        lines += ["\\fB%s\\fR" % roff(x) for x in synopsis(e)] + [".PP"]
    lines[-1] = ".fi"
    lines += [".SH DESCRIPTION", roff(f.text)]
    if f.deprecated:
        instead = f.row.get("replacement")
        lines += [".PP", "This function is deprecated%s." % ("; use \\fB%s\\fR(3)" % instead if instead and instead.startswith("MPI_") else "")]
    if len(f.entries) > 1:
        lines += [".PP", "\\fB%s\\fR is the same with counts of 64 bits." % f.entries[1].name]
    large = {p.name: p for p in f.entries[-1].params}
    params = [p for p in f.entries[0].params if p.c != "..."]
    if params:
        lines.append(".SH PARAMETERS")
        for p in params + [q for n, q in large.items() if not f.entries[0].param(n) and q.c != "..."]:
            lines += [".TP", "\\fI%s\\fR" % p.name, roff(described(p))]
    lines.append(".SH RETURN VALUE")
    if f.entries[0].return_c == "int" and f.target not in ("std_toint", "std_fromint"):
        lines.append("MPI_SUCCESS, or an error code, if the error handler lets the call return (by default errors end the job).")
        rows = errors(f)
        if rows:
            lines.append(".SH ERRORS")
            for name in sorted(rows):
                lines += [".TP", name, roff(rows[name])]
    else:
        lines.append("The answer itself; the call cannot fail.")
    near = see_also(f, model)
    if near:
        lines += [".SH SEE ALSO"] + [".BR %s (3)%s" % (n, "" if n == near[-1] else ",") for n in near]
    if "any" in f.flags:
        lines += [".SH NOTES", "It may be called before MPI_Init and after MPI_Finalize."]
    return "\n".join(lines) + "\n"


def emit(model):
    out = []
    for f in model.functions:
        if not f.implemented:
            continue
        out.append(("man/man3/%s.3" % f.name, page(f, model)))
        out += [("man/man3/%s.3" % e.name, ".so man3/%s.3\n" % f.name) for e in f.entries[1:]]
    return out
