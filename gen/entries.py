"""Writes facade/entry_*.c: the entry points of the standard ABI.

Each is: note the call, turn handles into objects, quick tests, one call of the target, turn results into handles; and a cold function
that asks the slow tests what is wrong.  The templates are the C; what stands in their places comes from gen/arguments.py."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import re

import arguments
import model as api

INCLUDES = ['#include "facade/fn_gen.h"', '#include "facade/std.h"', '#include "facade/std_check.h"', '#include "facade/std_tool.h"', ""]

# In templates, @name@ is a text; alone on a line it may be a list, whose lines stand there, indented as it is, or nothing.
# The name for programs, and the one for the doors of other ABIs, whose own entry points have the names of these.
NAMES = """
extern __typeof__(P@name@) godwit_@name@ __attribute__((alias("P@name@"), visibility("default")));
extern __typeof__(P@name@) @name@ __attribute__((weak, alias("P@name@"), visibility("default")));
"""

VALUE = """
@export@ @prototype@
{
    return @cast@@target@(@args@);
}
"""

WHY = """
static GW_COLD int why_@short@(@params@)
{
    @objects@
    @unused@
    int rc = @state@;
    @tests@
    return rc;
}
"""

ENTRY = """
@head@
{
    mpi_enter(@fn@);
    @checked@
    @before@
    int rc;
    @tests@
    @together@
    @call@
    if (likely(rc >= 0)) {
        @success@
        return MPI_SUCCESS;
    }
@failed@
    return std_raise(@fn@, @owner@, rc, "@letters@"@values@);
}
"""

CHECKED = "if (unlikely(gw_checking)) check_enter(@fn@, __builtin_return_address(0));"

TESTS = """
if (likely(mpi_hot.check) &&
    unlikely(@quick@) &&
    (rc = why_@short@(@args@)) != GW_OK)
    goto failed;
"""

TOGETHER = "if (unlikely(gw_checking) && (rc = check_together(@comm@, @waits@)) != GW_OK) goto failed;"

CALL = """
@watched@
@run@
@always@
"""

# Jumping over the declarations is right as these end with the block.
CALL_WITH_ARRAYS = """
{
    @arrays@
    @watched@
    @run@
    @always@
    @last@
}
"""

RUN = """
rc = @call@;
"""

RUN_CHECKED = """
if (unlikely(gw_args_wanted)) {
    struct check_args *k = check_args_new(&check_of_@kind@, @form@);
    @given@
    rc = check_before(k);
    if (rc == GW_OK) rc = check_after(k, @shown@);
} else {
    rc = @call@;
}
"""

# An entry point whose target has an inlined form, TARGET_inline: true if all is done.  Otherwise rest_NAME does the call from its begin;
# nothing lives across a call, nor do handles live on once their objects are found, which know them: so little is saved on the stack.  The
# inlined form says no to any datatype, rank, tag and int count that is not right; here it is seen to that there is something behind the
# handles and the addresses.
INLINE = """
@export@ @prototype@
{
    mpi_enter(@fn@);
    @same_type@
    @before@
    @tests@
    if (unlikely(!@target@_inline(@objects@))) goto known;
    @success@
    return MPI_SUCCESS;
known:
    return rest_@short@(@known@);
rest:
    return rest_@short@(@args@);
}
"""


def fill(template, **places):
    """The lines of a template."""
    out = []
    for line in template.strip("\n").split("\n"):
        alone = re.fullmatch(r"( *)@(\w+)@", line)
        value = places[alone.group(2)] if alone else None
        if isinstance(value, list):
            out += [alone.group(1) + s if s else s for s in value]
        else:
            out.append(re.sub(r"@(\w+)@", lambda m: str(places[m.group(1)]), line))
    return out


def names(e):
    return ", ".join(p.name for p in e.params if p.c != "...")


def export(e):
    return "GW_EXPORT GW_HOT" if "hot" in e.function.flags and not e.large else "GW_EXPORT"


def call_text(a, shown=""):
    """The target and its arguments; words that are parameters become what was made of them, buffers what the check put in their place."""
    e, target = a.e, a.f.target
    made = {**a.args, **{p.name: shown + p.name for p in e.params if shown and p.kind == "BUFFER"}}
    if a.raw:
        return "%s(%s)" % (target + ("_c" if e.large else ""), names(e))
    if "(" not in target:
        return "%s(%s)" % (target, ", ".join(made[p.name] for p in e.params))
    name, rest = target.split("(", 1)
    rest = rest.replace("...", ", ".join(p.name for p in e.params if p.kind not in ("INFO", "REQUEST")))

    def word(m):
        w = m.group(0)
        return made.get(w, {"wide": "true" if e.large else "false"}.get(w, w))
    return name + "(" + re.sub(r"(?<![\w>.])[A-Za-z_]\w*", word, rest)


def value_entry(e):
    cast = "(%s)" % e.return_c if e.return_c != "double" else ""
    return fill(VALUE, export=export(e), prototype=e.prototype("P"), cast=cast, target=e.function.target, args=names(e))


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
    return fill(VALUE, export="GW_EXPORT", prototype=e.prototype("P"), cast="", target=e.function.target, args=", ".join(args))


def why(a):
    """The cold function: the slow tests in the order of the parameters."""
    need = [p for p in a.e.params if p.c != "..."]
    text = " ".join("%s %s" % (call, when or "") for when, call in a.slow)

    def used(word):
        return re.search(r"\b%s\b" % word, text)
    tests = ["if (rc == GW_OK%s) rc = %s;" % (" && " + when if when else "", call) for when, call in a.slow]
    return fill(WHY, short=a.e.name[4:], params=", ".join(p.decl() for p in need) or "void",
                objects=["%s *%s_o = std_%s(%s);" % (arguments.HANDLES[p.kind][1], p.name, arguments.HANDLES[p.kind][0], p.name)
                         for p in need if used(p.name + "_o")],
                unused=["(void)%s;" % p.name for p in need if not used(p.name)],
                state="GW_OK" if a.any else "std_why_state()", tests=tests)


def given(a):
    """What a check may look at, by the names of the parameters: src/check/check.h has them."""
    for p in a.e.params:
        name = p.name
        if p.kind in ("STATUS", "INFO", "OFFSET"):
            continue
        if p.kind in arguments.HANDLES and not p.is_array:
            name = ("&" if p.kind in ("REQUEST", "MESSAGE") else "") + name + "_o"
        elif p.dir == "in":
            name = a.args[name]
        elif p.is_array and p.kind in arguments.HANDLES:
            name += "_o"
        yield "k->%s = %s%s;" % (p.name, "(void *)(uintptr_t)" if p.kind == "BUFFER" and p.c.startswith("const") else "", name)


def call(a):
    """The call of the target, with what its arrays of objects and its results need."""
    kind = a.f.flags.get("check")
    run = fill(RUN_CHECKED, kind=kind[0], form=a.f.form, given=list(given(a)), call=call_text(a), shown=call_text(a, "k->")) if kind else \
        fill(RUN, call=call_text(a))
    return fill(CALL_WITH_ARRAYS if a.arrays else CALL, run=run, arrays=a.arrays, watched=a.watched, always=a.always, last=a.last)


def full_entry(a, quick, head):
    e, f = a.e, a.f
    owner = a.comm.name + "_o" if a.comm else "comm_o"
    together = f.flags.get("together")
    return fill(ENTRY, head=head, fn=e.fn_id, before=a.before, call=call(a), success=a.success + a.made,
                checked=fill(CHECKED, fn=e.fn_id) if "check" in f.flags or together else [],
                tests=fill(TESTS, quick=" ||\n                 ".join(quick), short=e.name[4:], args=names(e)) if quick else [],
                together=fill(TOGETHER, comm=owner, waits="true" if together == ["waits"] else "false") if together else [],
                failed=["failed:"] if quick else [], owner=error_owner(a), letters=",".join(a.letters),
                values="".join(", " + p.name for p in e.params if p.c != "..."))


def inlined(a):
    """What an entry point whose target has an inlined form, which looks at the rest itself, does before: tests of the arguments as they come,
    statements that find the objects, tests."""
    first = ["target_datatype != origin_datatype"] if a.e.param("target_datatype") else [] # most often it is the same
    before = ["struct gw_type *target_datatype_o = origin_datatype_o;" if a.found.get(i) == "target_datatype_o" else s
              for i, s in enumerate(a.before)]
    tests = [(p.kind == "BUFFER", q) for q, p in zip(a.quick, a.quick_of)
             if p.kind == "BUFFER" or p.dir == "out" or (a.e.large and arguments.is_count(p))]
    return first, before, [q for _, q in sorted(tests, key=lambda t: t[0])]


def inline_entry(a):
    """Its window is most often the one that was used last; what that gives for MPI_WIN_NULL is for inlined forms only."""
    e = a.e
    first, statements, tests = inlined(a)
    before = []
    for i, s in enumerate(statements):
        before += [s.replace("std_win(", "std_win_last(")] + (["if (unlikely(!%s)) goto rest;" % a.found[i]] if i in a.found else [])
    leave = "if (unlikely(%s)) goto rest;"
    word = {p.name: arguments.HANDLES[p.kind][0] for p in e.params if p.name + "_o" in a.found.values()}
    known = ", ".join("std_%s_handle(%s_o)" % (word[p.name], p.name) if p.name in word else p.name for p in e.params)
    return fill(INLINE, known=known, export=export(e), prototype=e.prototype("P"), fn=e.fn_id, same_type=[leave % q for q in first],
                before=before, tests=[leave.replace("rest", "known") % q for q in tests], target=a.f.target,
                objects=", ".join(a.args[p.name] for p in e.params), success=a.success, short=e.name[4:], args=names(e))


def entry(e):
    if e.function.name.startswith("MPI_T_"):
        lines = tool_entry(e)
    elif "value" in e.function.flags:
        lines = value_entry(e)
    else:
        a = arguments.Arguments(e)
        quick = ([] if a.any or a.has_handle else ["!mpi_hot.running"]) + a.quick
        is_inline = "inline" in a.f.flags
        head = "static GW_NOINLINE int rest_%s(%s)" % (e.name[4:], e.parameters()) if is_inline else \
            "%s %s" % (export(e), e.prototype("P"))
        lines = (why(a) if quick else []) + full_entry(a, quick, head) + (inline_entry(a) if is_inline else [])
    return lines + fill(NAMES, name=e.name) + [""]


def error_owner(a):
    """Whose error handler runs."""
    own = a.f.flags.get("raises")
    if own:
        return own[0] + "_o"
    for p in a.e.params:
        if p.kind in ("SESSION", "WINDOW") and p.dir != "out":
            return p.name + "_o"
        if p.kind == "FILE" and p.dir != "out":
            return "std_file_owner(%s_o)" % p.name
    if a.f.chapter == 14:
        return "&io_no_file"
    if a.comm:
        return a.comm.name + "_o"
    for p in a.e.params:
        if p.kind == "COMMUNICATOR" and p.dir == "inout":
            return p.name + "_o"
        if p.kind == "REQUEST" and p.dir in ("in", "inout"):
            return "std_request_comm(%s, rc)" % ("NULL" if p.is_array else p.name + "_o")
        if p.kind == "MESSAGE" and p.dir == "inout":
            return "(struct gw_comm *)gw_obj_lookup(%s_comm, GW_KIND_COMM)" % p.name
    return "NULL"


def emit(model):
    out = []
    for name in api.FILE_NAMES:
        lines = ["/* entry_%s.c -- generated by gen/entries.py: entry points of the standard ABI. */" % name] + INCLUDES
        for e in model.entries(implemented=True):
            if e.function.file == name:
                lines += entry(e)
        out.append(("facade/entry_%s.c" % name, "\n".join(lines)))
    return out
