"""Writes man/man3/shmem_*.3: a manual page for each pattern of names of OpenSHMEM; the names with types and sizes lead to it."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import re

# What a function does, by its verb.
TEXT = {
    "init": "Begins OpenSHMEM in this process: the symmetric heap, the teams, the default context. Collective. It may be called again: each call needs an end of its own.",
    "init_thread": "As shmem_init, for a program with threads.", "query_thread": "Tells the thread level that there is.",
    "my_pe": "Tells the number of this PE, its rank in MPI_COMM_WORLD.", "n_pes": "Tells how many PEs there are.",
    "_my_pe": "Tells the number of this PE.", "_num_pes": "Tells how many PEs there are.",
    "finalize": "Ends what one shmem_init began; the last one, which is collective, completes all communication and frees the symmetric heap. One that is not the last is a barrier of all PEs.",
    "query_initialized": "Tells whether OpenSHMEM has begun and not ended. It may be called at any time.",
    "global_exit": "Ends all PEs, whatever they do, with that exit status. It does not return.",
    "pe_accessible": "Tells whether there is such a PE that can be reached.", "addr_accessible": "Tells whether the address is symmetric, so that the PE can be accessed there.",
    "ptr": "Tells where the PE's copy of the object lies in this process, for loads and stores.", "team_ptr": "Tells where the copy of a PE of the team lies in this process, for loads and stores.",
    "info_get_version": "Tells the version of the specification.", "info_get_name": "Tells name and version of this library: at most SHMEM_MAX_NAME_LEN bytes.",
    "start_pes": "Begins OpenSHMEM; the end comes when the process exits. The argument is not looked at.",
    "malloc": "Allocates memory in the symmetric heap. Collective, with the same size on all PEs; a barrier at the end.", "shmalloc": "As shmem_malloc.",
    "free": "Frees memory of the symmetric heap. Collective; a barrier at the begin.", "shfree": "As shmem_free.",
    "realloc": "Changes the size of a block of the symmetric heap, which may move. Collective. If there is no room, the block stays as it is.", "shrealloc": "As shmem_realloc.",
    "align": "As shmem_malloc, at a multiple of the alignment, which is a power of two.", "shmemalign": "As shmem_align.",
    "malloc_with_hints": "As shmem_malloc; the hints say what the memory is for.", "calloc": "As shmem_malloc, filled with zeros.",
    "team_my_pe": "Tells the number of this PE in the team.", "team_n_pes": "Tells how many PEs the team has.", "team_get_config": "Tells the configuration of the team, those members that the mask names.",
    "team_translate_pe": "Tells what number a PE of one team has in another.",
    "team_split_strided": "Makes a team of the PEs start, start + stride, ... of the parent. Collective over the parent; PEs that are not in it get SHMEM_TEAM_INVALID.",
    "team_split_2d": "Makes two teams for each PE: its row and its column of a grid whose rows have xrange PEs. Collective over the parent.",
    "team_destroy": "Ends a team, and the contexts that were made from it. Collective over the team.",
    "ctx_create": "Makes a context: operations of one are ordered and completed apart from those of others. Not collective.", "team_create_ctx": "Makes a context in which PEs are those of the team. Not collective.",
    "ctx_destroy": "Completes what was begun on the context, and ends it.", "ctx_get_team": "Tells the team of a context.",
    "ctx_session_start": "Says that a phase of many operations on the context begins, which may be combined. It changes no rule of order or completion.", "ctx_session_stop": "Says that such a phase ends. It completes nothing.",
    "put": "Copies elements from local memory to the PE.", "p": "Stores one value in the memory of the PE.", "get": "Copies elements from the PE to local memory.", "g": "Loads one value from the memory of the PE.",
    "iput": "Copies elements sst apart from local memory to places dst apart of the PE.", "iget": "Copies elements sst apart of the PE to places dst apart of local memory.",
    "ibput": "Copies blocks of bsize elements, whose begins are sst apart, from local memory to places dst apart of the PE.", "ibget": "Copies blocks of bsize elements, whose begins are sst apart, of the PE to places dst apart of local memory.",
    "put_nbi": "Begins to copy elements from local memory to the PE.", "get_nbi": "Begins to copy elements from the PE to local memory.",
    "put_signal": "Copies elements from local memory to the PE, and then sets its signal, or adds to it.", "put_signal_nbi": "Begins to copy elements from local memory to the PE, whose signal is set, or added to, once they are there.",
    "signal_add": "Adds to a signal of the PE, atomically.", "signal_set": "Sets a signal of the PE, atomically.", "signal_fetch": "Reads a signal of this PE, atomically.",
    "signal_wait_until": "Waits until a signal of this PE is what is asked for, and tells the value that was.",
    "barrier_all": "Waits for all PEs; all that was issued on the default context, and stores, are complete and visible.", "barrier": "Waits for the PEs of the active set; what they issued on the default context is complete.",
    "sync_all": "Waits for all PEs; stores are visible. Other operations are not completed.", "team_sync": "Waits for the PEs of the team; stores are visible. Other operations are not completed.", "sync": "Waits for the PEs of the active set; stores are visible. Other operations are not completed.",
    "alltoall": "Gives each PE of the set a block of the source, and gets one from each, in the order of their numbers.", "alltoalls": "As alltoall, of elements sst apart in the source and dst apart in dest.",
    "broadcast": "Gives all PEs of the set what the source of the root holds.", "collect": "Joins the sources of all PEs of the set in the order of their numbers; they may have different lengths.",
    "fcollect": "Joins the sources of all PEs of the set in the order of their numbers; all have the same length.",
    "sum_inscan": "Sums the sources of this PE and of those with lower numbers, element by element.", "sum_exscan": "Sums the sources of the PEs with lower numbers, element by element; zeros on the first.",
    "wait_until": "Waits until a variable of this PE is what is asked for.", "wait": "Waits until a variable of this PE is no longer that value.", "test": "Tells whether a variable of this PE is what is asked for.",
    "fence": "Orders what this context has issued to each PE: earlier puts, atomics, signals and stores arrive before later ones. It completes nothing.",
    "quiet": "Completes all that this context has issued, and stores: it is visible to all PEs then.", "pe_quiet": "Completes what this context has issued to these PEs.",
    "clear_lock": "Gives a lock back, once what was issued on the default context is complete.", "set_lock": "Takes a lock; PEs get it in the order in which they asked.", "test_lock": "Takes a lock if it is free; does not wait.",
    "pcontrol": "Tells a profiling library its level; without one nothing happens.",
}
for word in ("clear_cache_inv", "set_cache_inv", "clear_cache_line_inv", "set_cache_line_inv", "udcflush", "udcflush_line"):
    TEXT[word] = "Does nothing: caches are coherent."
OPS = {"and": "the bitwise and", "or": "the bitwise or", "xor": "the bitwise exclusive or", "max": "the greatest", "min": "the least", "sum": "the sum", "prod": "the product"}
ATOMICS = {"fetch": "Reads", "set": "Sets", "swap": "Sets", "compare_swap": "Sets, if it equals cond,", "cswap": "Sets, if it equals cond,", "inc": "Adds one to", "finc": "Adds one to",
           "add": "Adds to", "fadd": "Adds to", "and": "Clears by a bitwise and bits of", "or": "Sets by a bitwise or bits of", "xor": "Flips by a bitwise exclusive or bits of"}
PARAMS = {
    "dest": "where the data go", "source": "where the data come from", "value": "the operand", "cond": "what the variable is compared with", "fetch": "where the old value goes; it is there after a quiet",
    "pe": "number of the PE, in the team of the context", "nelems": "number of elements; bytes in functions of mem", "nreduce": "number of elements", "dst": "distance of elements in dest: 1 or more", "sst": "distance of elements in source: 1 or more",
    "bsize": "elements of a block", "nblocks": "number of blocks", "sig_addr": "the signal, a uint64_t", "signal": "the operand of the signal", "sig_op": "SHMEM_SIGNAL_SET or SHMEM_SIGNAL_ADD", "ctx": "the context; without one the default context",
    "team": "the team; SHMEM_TEAM_INVALID: nothing happens, and the answer says so", "PE_root": "number of the root, in the team; of an active set its place in the set", "PE_start": "first PE of the active set",
    "logPE_stride": "log2 of the distance of its PEs", "PE_size": "how many they are", "pSync": "array that only its address and its values SHMEM_SYNC_VALUE matter of: it is not touched here", "pWrk": "work array; it is not touched here",
    "ivar": "the variable, which other PEs change by atomics or signals", "ivars": "the variables, which other PEs change by atomics or signals", "cmp": "SHMEM_CMP_EQ, _NE, _GT, _GE, _LT or _LE", "cmp_value": "what they are compared with",
    "cmp_values": "what each is compared with", "status": "elements that are not 0 leave their variables out; may be NULL", "indices": "where the numbers of those go that hold", "lock": "the lock: a symmetric long, 0 at first",
    "target_pes": "the PEs; not looked at if npes is 0", "npes": "how many they are", "size": "bytes", "count": "number of elements", "ptr": "a block of the symmetric heap, or NULL", "hints": "SHMEM_MALLOC_ATOMICS_REMOTE, SHMEM_MALLOC_SIGNAL_REMOTE, or 0",
    "alignment": "a power of two", "options": "SHMEM_CTX_SERIALIZED, SHMEM_CTX_PRIVATE, SHMEM_CTX_NOSTORE, or 0", "addr": "an address of this PE", "requested": "the level that the program needs", "provided": "the level that there is",
}
# Of one function, where a name means something else there.
PARAMS_OF = {
    "ctx_session_start": {
        "ctx": "the context", "options": "SHMEM_CTX_SESSION_BATCH: short changes at PEs of other nodes may wait for those that follow, until the session stops, a fence, or a quiet; or 0",
        "config": "of its total_ops, the number of operations that are expected, nothing is made; may be NULL if config_mask is 0", "config_mask": "SHMEM_CTX_SESSION_TOTAL_OPS if config has that number; or 0"},
    "ctx_session_stop": {"ctx": "the context"},
}
COMPLETION = {
    "put": "It returns when the source may be used again. The data are there after a quiet; a fence orders them before later ones to the same PE.",
    "nbi": "It returns at once. The source stays in use, and nothing is there, until a quiet.",
    "get": "It returns when the data are there.", "atomic": "It may return before it has happened; a quiet completes it, a fence orders it.",
    "fetch": "It returns when the old value is there.",
    "collective": "It returns when dest of this PE is there and its source may be used again; others may still be inside. No barrier is implied.",
    "wait": "Memory that was written in order before what is waited for is visible when it returns.",
}


def kind(f):
    """The verb without what only says of what: shmem_put<SIZE>, shmem_putmem and shmem_<TYPENAME>_put are put."""
    verb = f.verb
    if f.group in ("rma", "signal", "collective"):
        verb = re.sub("(mem|32|64)(?=$|_nbi|_signal)", "", verb)
    return verb


def text(f):
    verb = kind(f)
    m = re.fullmatch("(and|or|xor|max|min|sum|prod)_(reduce|to_all)", verb)
    if m:
        return "Gives all PEs of the set %s of their sources, element by element. Source and dest may be the same array." % OPS[m.group(1)]
    if f.group == "amo":
        word = re.sub("^atomic_|_nbi$", "", verb)
        fetching = f.ret != "void" or "fetch" in [p["name"] for p in f.params]
        plain = re.sub("^fetch_", "", word)
        return "%s a variable of the PE atomically%s." % (ATOMICS[plain], ", and gets the value that it had" if fetching and word != "fetch" else "")
    m = re.fullmatch("(wait_until|test)_(all|any|some)(_vector)?", verb)
    if m:
        what = {"all": "all of some variables of this PE are", "any": "one of some variables of this PE is", "some": "at least one of some variables of this PE is"}[m.group(2)]
        how = "what is asked for" + (", each with a value of its own" if m.group(3) else "")
        tells = {"all": "", "any": ", and tells its number; SIZE_MAX: none is asked for" + (", or none is" if m.group(1) == "test" else ""), "some": ", and tells how many and which"}[m.group(2)]
        return ("Waits until %s %s%s." if m.group(1) == "wait_until" else "Looks, without waiting, whether %s %s%s.") % (what, how, tells)
    return TEXT[verb]


def completion(f):
    verb = kind(f)
    if "_nbi" in verb:
        return COMPLETION["nbi"]
    if f.group in ("rma", "signal") and (verb.endswith(("put", "put_signal")) or verb == "p"):
        return COMPLETION["put"]
    if f.group == "rma":
        return COMPLETION["get"]
    if f.group == "amo":
        return COMPLETION["atomic" if f.ret == "void" else "fetch"]
    if f.group == "collective" and "dest" in [p["name"] for p in f.params]:
        return COMPLETION["collective"]
    return COMPLETION["wait"] if f.group == "p2p" or verb == "signal_wait_until" else ""


def page_name(f):
    """shmem_TYPENAME_put is on the page shmem_put, as is shmem_put<SIZE> and shmem_putmem."""
    return f.name if "<" not in f.name and f.verb == kind(f) else "shmem_" + kind(f)


def roff(words):
    return words.replace("\\", "\\e").replace("-", "\\-").replace("_<", "_<")


def synopsis(functions, model):
    for f in functions:
        if f.over:
            types = ["%s" % t.name for t in f.types]
            yield ".PP\n\\fI%s\\fR: %s" % ("SIZE" if f.over == "size" else "TYPENAME", roff(", ".join(types)))
        for has_ctx in ([False, True] if f.ctx_name else [False]):
            params = (["shmem_ctx_t ctx"] if has_ctx else []) + [p["type"] + ("" if p["type"].endswith("*") or p["type"] == "..." else " ") + (p["name"] if p["type"] != "..." else "") for p in f.params]
            yield ".PP\n.B %s%s%s(%s);" % (f.ret, "" if f.ret.endswith("*") else " ", roff(f.ctx_name if has_ctx else f.name), roff(", ".join(params) or "void"))
    for g in model.generics:
        if any(f.c11 == g["name"] for f in functions):
            yield ".PP\nC11, C++:"
            for form in g["forms"]:
                yield ".PP\n.B %s;" % roff(form["prototype"])


def page(name, functions, model):
    f = functions[0]
    lines = ['.\\" Generated by gen/shmem_man.py from api/shmem/.', ".TH %s 3 \"\" \"Godwit\" \"OpenSHMEM\"" % name, ".SH NAME"]
    what = text(f)
    lines.append("%s \\- %s" % (name, roff(what[0].lower() + what[1:].split(". ")[0].rstrip("."))))
    lines += [".SH SYNOPSIS", ".B #include <shmem.h>"] + list(synopsis(functions, model))
    lines += [".SH DESCRIPTION", roff(what)]
    if completion(f):
        lines += [".PP", roff(completion(f))]
    old = [g for g in functions if g.deprecated]
    if old:
        instead = sorted({g.replaced_by for g in old if g.replaced_by})
        lines += [".PP", roff("%s deprecated since OpenSHMEM %s%s." % (", ".join(sorted({g.name for g in old})) + (" is" if len({g.name for g in old}) == 1 else " are"), old[0].deprecated,
                                                                      "; use " + ", ".join(instead) if instead else ""))]
    seen = {}
    for g in functions:
        for p in g.params:
            seen.setdefault(p["name"], p)
    own = PARAMS_OF.get(f.verb, {})
    rows = [(n, p) for n, p in seen.items() if n in PARAMS or n in own]
    if rows:
        lines.append(".SH PARAMETERS")
        if any(g.ctx_name for g in functions):
            lines += [".TP", "\\fIctx\\fR", PARAMS["ctx"]]
        for n, p in rows:
            where = {"symmetric": "; symmetric", "local": "; any memory of this PE"}.get(p.get("addr", ""), "")
            what = "the variable" if f.group == "amo" and n in ("dest", "source") else own.get(n) or PARAMS[n]
            lines += [".TP", "\\fI%s\\fR" % n, roff(what + where)]
    lines += [".SH RETURN VALUE"]
    if f.ret == "void":
        lines.append("None. What a program does wrong ends the job with a message that says what.")
    elif f.group in ("collective", "team", "context", "thread") and f.ret == "int" and not f.verb.endswith(("_pe", "_pes")):
        lines.append("0, or another value if it could not be done.")
    elif f.verb == "test_lock":
        lines.append("0 if the lock is this PE's now, 1 if it is another's.")
    elif f.ret == "void *":
        lines.append("The address, or NULL if there is none.")
    else:
        lines.append("The answer itself.")
    lines += [".SH NOTES", "OpenSHMEM 1.6, section %s; since %s." % (f.section, f.since) if f.section else "Since %s; not in OpenSHMEM 1.6." % f.since]
    lines.append("Each function has a twin whose name begins with p (\\fBp%s\\fR), for tools." % roff(name if not name.startswith("shmem_") or "<" not in f.name else f.name))
    return "\n".join(lines) + "\n"


WRAPPER = """\
.TH OSHCC 1 "" "Godwit" "OpenSHMEM"
.SH NAME
oshcc, oshc++, oshcxx, oshCC \\- compile programs with OpenSHMEM
.SH SYNOPSIS
.B oshcc
[\\fIoptions of the compiler\\fR] \\fIfiles\\fR
.SH DESCRIPTION
Calls the compiler \\fBcc\\fR, or \\fBc++\\fR, with what programs with OpenSHMEM need. They may call MPI, too.
.TP
\\fB\\-show\\fR, \\fB\\-\\-showme\\fR
prints the command instead of running it
.TP
\\fB\\-\\-showme:\\fIWHAT\\fR
prints one part: compile, link, command, incdirs, libdirs, libs, version
.TP
\\fB\\-compile\\-info\\fR, \\fB\\-link\\-info\\fR
print the command for compiling, for linking
.TP
\\fB\\-cc=\\fICOMPILER\\fR (oshc++: \\fB\\-cxx=\\fR)
another compiler
.SH BUILD SYSTEMS
pkg-config knows \\fBgodwit\\-shmem\\fR (and \\fBoshmem\\fR); in CMake it is \\fBfind_package(godwit\\-shmem)\\fR and the target
\\fBGodwit::shmem\\fR.
.SH ENVIRONMENT
.TP
\\fBGODWIT_CC\\fR, \\fBGODWIT_CXX\\fR, and as with \\fBmpicc\\fR(1) those of other libraries
the compiler
.SH SEE ALSO
.BR oshrun (1),
.BR shmem_init (3)
"""


def emit(model):
    pages = {}
    for f in model.functions:
        pages.setdefault(page_name(f), []).append(f)
    out = [("man/man3/%s.3" % name, page(name, functions, model)) for name, functions in pages.items()]
    for name, functions in pages.items():
        names = {e.name for f in functions for e in f.entries} - set(pages)
        out += [("man/man3/%s.3" % n, ".so man3/%s.3\n" % name) for n in sorted(names)]
    out.append(("man/man1/oshcc.1", WRAPPER))
    out += [("man/man1/%s.1" % n, ".so man1/oshcc.1\n") for n in ("oshc++", "oshcxx", "oshCC")]
    out.append(("man/man1/oshrun.1", ".so man1/mpiexec.1\n"))
    return out
