"""Writes facade/ABI/hot.c: the entry points that programs call most, once more for each door, within the library: with the door's codec of
handles in place of the standard's, so that nothing is turned over twice.  The door's own entry point is a jump there.

With right arguments all is done here: where the target's inlined form says no (a long message, MPI_THREAD_MULTIPLE, a request that failed),
by a function rest_NAME that calls the target.  For anything else (wrong arguments, GODWIT_CHECK) the door's slow entry point does the call from
its begin.  Beside these stand those of the standard ABI (gen/entries.py), from which the statements come."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import re

import arguments
import entries

INCLUDES = ['#include "facade/%s/client.h"', '#include "facade/hot_%s.h"', '#include "facade/hot.h"', '#include "facade/fn_gen.h"', ""]
# Handles, ranks, tags and buffers are the program's; what was made of them has a name of its own.
WORDS = {"RANK": "rank", "RANK_NNI": "rank", "TAG": "tag"}

INLINE = """
if (unlikely(!@target@_inline(@objects@))) goto rest;
@success@
return MPI_SUCCESS;
"""

ATTEMPT = """
if (unlikely(!@attempt@)) goto rest;
@always@
return MPI_SUCCESS;
"""

CALL = """
int rc = @call@;
@always@
if (likely(rc >= 0)) {
    @success@
    @last@
    return MPI_SUCCESS;
}
rc = std_raise(@fn@, @owner@, rc, "@letters@"@values@);
@failed@
@last@
return likely(rc != MPI_SUCCESS) ? hot_answer(rc) : rc;
"""

ENTRY = """
@head@ int @name@(@params@)
{
    mpi_enter(@fn@);
    @plain@
    @before@
    @tests@
    @body@
rest:
    return @rest@(@args@);
}
"""


def is_hot(e):
    return not e.large and ("inline" in e.function.flags or "doors" in e.function.flags)


def attempt(e):
    """The function of facade/hot.h that may do all of it."""
    return next(iter(e.function.flags.get("attempt", [])), None)


def name(e, abi):
    return "godwit_door_%s_%s" % (abi, e.name[4:])


def parameters(e, client):
    return ", ".join(client(p.decl()) for p in e.params)


class Hot:
    """Statements of one entry point, with the door's codec."""

    def __init__(self, e, is_inline=False, is_plain=False, attempt=None):
        self.e, self.a = e, arguments.Arguments(e)
        self.attempt = attempt     # with it, rest_NAME does the rest, too
        self.is_inline = is_inline # it tries the inlined form, and rest_NAME does the rest
        self.is_plain = is_plain   # no rank and no tag is below 0
        self.before, self.begin, self.always, self.failed, self.last, self.tests, self.values = [], [], [], [], [], [], []
        self.own = {} # parameter -> what is passed on in its place
        for p in e.params:
            self.one(p)
        if not is_inline:
            pairs = zip(self.a.quick, self.a.quick_of)
            self.tests += [q for q, p in pairs if not (p.kind == "REQUEST" and p.is_array)] + ["gw_args_wanted"]
            if not self.a.has_handle:
                self.tests.append("!mpi_hot.running")

    def one(self, p):
        n = p.name
        if p.kind in WORDS and p.dir == "in" and not self.is_plain:
            self.before.append("int %s_h = hot_%s(%s);" % (n, WORDS[p.kind], n))
            self.own[n] = n + "_h"
            if not self.is_inline and all(q is not p for q in self.a.quick_of):
                self.tests.append("%s_h == INT_MIN" % n) # no other test looks at it, and the program's number is to be told
        elif p.kind == "BUFFER" and self.e.function.chapter == 6:
            self.before.append("void *%s_h = door_buffer_in(%s);" % (n, n))
            self.own[n] = n + "_h"
        elif p.kind == "REQUEST" and p.is_array:
            if self.attempt:
                self.before.append("struct gw_req *%s_o[STD_ARRAY_STACK];" % n)
                self.tests += ["count > STD_ARRAY_STACK", "!hot_requests_find(%s, count, %s_o)" % (n, n)]
            else:
                self.before.append("struct gw_req *%s_s[STD_ARRAY_STACK], **%s_o;" % (n, n))
                self.tests.append("!hot_requests_in(%s, count, %s_s, &%s_o)" % (n, n, n))
                self.last.append("std_array_free(%s_o, %s_s);" % (n, n))
            self.always.append("hot_requests_out(%s_o, count, %s);" % (n, n))
        elif p.kind == "STATUS" and self.attempt:
            pass
        elif p.kind == "STATUS" and p.is_array:
            self.before.append("MPI_Status %s_s[STD_ARRAY_STACK], *%s_p = NULL;" % (n, n))
            self.begin.append("if (door_are_statuses(%s)) %s_p = std_array(%s_s, count, sizeof *%s_p);" % (n, n, n, n))
            self.begin.append("door_statuses_load(%s, count, %s_p);" % (n, n))
            self.last.append("if (%s_p) std_array_free(%s_p, %s_s);" % (n, n, n))
            self.always.append("door_statuses_store(%s_p, count, %s);" % (n, n))
            self.failed.append("if (rc == MPI_ERR_IN_STATUS) door_statuses_failed(%s_p, count, %s, hot_code);" % (n, n))
            self.own[n] = n + "_p"
        elif p.kind == "STATUS":
            self.before.append("MPI_Status %s_s, *%s_p = door_status_begin(%s, &%s_s);" % (n, n, n, n))
            self.always.append("door_status_end(&%s_s, %s);" % (n, n))
            self.own[n] = n + "_p"
        self.values.append(self.own.get(n, n) if p.kind not in arguments.HANDLES or p.dir != "in" else
                           "std_%s_handle(%s_o)" % (arguments.HANDLES[p.kind][0], n))

    def turn(self, text):
        """A statement of the standard's entry point as one of the door's."""
        text = re.sub(r"\bstd_(comm|type|op|win|request|request_handle)\(", r"hot_\1(", text)
        text = re.sub(r"\bop != MPI_(\w+)", r"op_o->obj.id != GW_H_\1", text).replace("MPI_REQUEST_NULL", "HOT_REQUEST_NULL")
        return re.sub(r"\b(%s)\b" % "|".join(self.own), lambda m: self.own[m.group(1)], text) if self.own else text

    def entry(self, head, name, client):
        e, a = self.e, self.a
        always = [self.turn(s) for s in a.always if not s.startswith("std_requests_out")]
        first, found, tests = entries.inlined(a) if self.is_inline else ([], a.before, self.tests)
        before = self.before + [self.turn(s) for s in found]
        tests = first + [self.turn(q) for q in tests]
        # First whether there are objects, which other tests look into; a handle that means nothing is no reason to ask whether it is another one's.
        objects = ["!" + o for o in a.found.values()]
        tests = objects + [t for t in tests if t not in objects]
        tests.sort(key=lambda t: t.startswith("!hot_requests_")) # last, as it may get memory
        places = dict(fn=e.fn_id, success=[self.turn(s) for s in a.success])
        if self.is_inline:
            body = entries.fill(INLINE, target=a.f.target, objects=self.turn(", ".join(a.args[p.name] for p in e.params)), **places)
        elif self.attempt:
            args = ", ".join(p.name + ("_o" if p.kind == "REQUEST" else "") for p in e.params)
            body = entries.fill(ATTEMPT, attempt="hot_%s(%s)" % (self.attempt, args), always=self.always)
        else:
            call = self.turn(entries.call_text(a))
            body = entries.fill(CALL, call=call, always=always + self.always, owner=self.turn(entries.error_owner(a)),
                                letters=",".join(a.letters), values="".join(", " + v for v in self.values), failed=self.failed, last=self.last, **places)
            body = self.begin + body
        # What has wildcards is posted by a function of its own, so that this one has to look once.
        plain = ["if (unlikely(source < 0) || unlikely(tag < 0)) return wild_%s(%s);" % (e.name[4:], entries.names(e))]
        return entries.fill(ENTRY, head=head, name=name, params=parameters(e, client), plain=plain if self.is_plain and e.param("source") else [],
                            before=before, tests=["if (unlikely(%s)) goto rest;" % t for t in tests], body=body, args=entries.names(e),
                            rest=("rest_%s" if self.is_inline or self.attempt else "hot_slow()->%s") % e.name[4:], **places) + [""]


def emit(model, abi, tables, client):
    """tables: lines that define what the codec declares; client(): names of the standard's header as the door's own."""
    lines = ["/* hot.c -- generated by gen/hot.py: what programs of this ABI call most. */"] + [s.replace("%s", abi) for s in INCLUDES] + tables
    for e in model.entries(implemented=True):
        if is_hot(e):
            is_inline = "inline" in e.function.flags
            if is_inline or attempt(e):
                lines += Hot(e).entry("static GW_NOINLINE", "rest_" + e.name[4:], client)
            if is_inline and e.param("source"):
                lines += Hot(e, is_inline=True).entry("static GW_NOINLINE", "wild_" + e.name[4:], client)
            lines += Hot(e, is_inline=is_inline, is_plain=is_inline, attempt=attempt(e)).entry("GW_EXPORT GW_HOT", name(e, abi), client)
    return ("facade/%s/hot.c" % abi, "\n".join(lines))
