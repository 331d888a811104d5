"""Writes profile/wrap_gen.c and wrap_shmem.c: the functions of the profiling library (tools/profile), each around the next in line
(tools/next/next.h); those of OpenSHMEM are counted by families (gen/shmem_profile.py).

What a wrapper notes follows from the parameters: bytes and destination of sends, bytes of collectives, of one-sided and of file
calls; before a blocking collective of all members of a communicator it waits for them, so that waiting is told from transferring."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import shmem_model
import shmem_profile

# Written by hand in tools/profile/profile.c.
BY_HAND = {"MPI_Init", "MPI_Init_thread", "MPI_Finalize", "MPI_Pcontrol"}
# Asked so often, or so cheap, that a wrapper would cost more than they do; or no communication at all.
LEFT = {"MPI_Wtime", "MPI_Wtick", "MPI_Initialized", "MPI_Finalized", "MPI_Get_version", "MPI_Aint_add", "MPI_Aint_diff", "MPI_Abort"}
NEIGHBOR = ("MPI_Neighbor_", "MPI_Ineighbor_")
PERSISTENT = {"MPI_Send_init", "MPI_Bsend_init", "MPI_Ssend_init", "MPI_Rsend_init"}


def group(f):
    if f.chapter == 14 and f.name.startswith("MPI_File_") and ("read" in f.name or "write" in f.name):
        return "PROF_IO"
    if f.chapter == 12:
        return "PROF_RMA"
    if f.chapter == 6:
        return "PROF_COLL"
    if f.name.startswith(NEIGHBOR):
        return "PROF_COLL"
    return "PROF_P2P" if f.chapter in (3, 4) else "PROF_OTHER"


def wanted(f):
    return (f.implemented and f.name not in BY_HAND | LEFT and not f.name.startswith("MPI_T_") and
            not any(f.name.endswith(s) for s in ("_c2f", "_f2c", "_toint", "_fromint", "_f2f08", "_f082f")))


def waits_first(f, e):
    """A blocking collective of the whole communicator."""
    return (f.chapter == 6 and e.param("comm") and not e.param("request") and not f.name.startswith("MPI_I") and
            not f.name.endswith("_init") and f.name not in ("MPI_Barrier",) and "local" not in f.name.lower())


def note_neighbors(f, e):
    """Of neighbourhood collectives: counts and types are one for all neighbours, or arrays."""
    arrays = {p.name for p in e.params if p.is_array}
    parts = [".counts = sendcounts, .wide = sizeof *sendcounts == sizeof(MPI_Count)" if "sendcounts" in arrays else ".count = sendcount"]
    parts.append(".types = sendtypes" if "sendtypes" in arrays else ".type = sendtype")
    return "prof_spread(&c, rc, &(struct prof_parts){%s}, comm, %s);" % (", ".join(parts), "request" if f.name.endswith("_init") else "NULL")


def note_rma(f, e):
    """Of one-sided calls that name their target."""
    names = {p.name for p in e.params}
    if not {"target_rank", "win"} <= names:
        return None
    fetched = "_get" in f.name.lower() and "accumulate" not in f.name
    count, datatype = ("origin_count", "origin_datatype") if "origin_count" in names else ("1", "datatype")
    if datatype not in names:
        return None
    return "prof_reached(&c, %s, %s, target_rank, win, %d);" % (count, datatype, fetched)


def note(f, e):
    """The statement that notes bytes, or None."""
    if f.name.startswith(NEIGHBOR):
        return note_neighbors(f, e)
    if f.chapter == 12 and note_rma(f, e):
        return note_rma(f, e)
    if f.name == "MPI_Psend_init":
        return "prof_prepared(&c, rc, request, partitions * (MPI_Count)count, datatype, dest, comm);"
    names = {p.name for p in e.params if not p.is_array}
    for count, datatype in (("sendcount", "sendtype"), ("count", "datatype"), ("origin_count", "origin_datatype")):
        if {count, datatype} <= names and e.param(datatype).dir == "in":
            break
    else:
        return None
    if f.name in PERSISTENT:
        return "prof_prepared(&c, rc, request, %s, %s, dest, comm);" % (count, datatype)
    if f.name.endswith("_init"):
        return None
    if f.chapter in (3, 4):
        return "prof_sent(&c, %s, %s, dest, comm);" % (count, datatype) if {"dest", "comm"} <= names else None
    if f.chapter in (6, 12) or group(f) == "PROF_IO":
        return "prof_moved(&c, %s, %s);" % (count, datatype)
    return None


def wrapper(f, e):
    args = ", ".join(p.name for p in e.params)
    out = ["%s;" % e.prototype(), "%s" % e.prototype(), "{", "    struct prof_call c;"]
    if waits_first(f, e):
        out.append("    prof_meet(PROF_FN_%s, comm, __builtin_return_address(0));" % e.name[4:])
    if f.name == "MPI_Request_free":
        out.append("    prof_forget(*request);")
    if f.name in ("MPI_Start", "MPI_Startall"):
        out.append("    prof_started(%s);" % ("1, request" if f.name == "MPI_Start" else "count, array_of_requests"))
    out.append("    prof_enter(&c, PROF_FN_%s, __builtin_return_address(0));" % e.name[4:])
    out.append("    %s rc = NEXT(%s)(%s);" % (e.return_c, e.name[4:], args))
    text = note(f, e)
    if text:
        out.append("    " + text)
    out += ["    prof_%s;" % ("met(&c, comm)" if f.name == "MPI_Barrier" else "leave(&c)"), "    return rc;", "}"]
    return "\n".join(out)


def emit(model):
    entries = [(f, e) for f in model.functions if wanted(f) for e in f.entries if all(p.c != "..." for p in e.params)]
    shmem = shmem_model.Model()
    families = shmem_profile.families(shmem)
    text = ["/* Generated by gen/profile.py. */", '#include "../next/next.h"', '#include "profile.h"', "",
            "enum {\n%s\n    PROF_FNS = %d\n};" % ("\n".join("    PROF_FN_%s," % e.name[4:] for _, e in entries), len(entries) + len(families)),
            "const int prof_fns = PROF_FNS;",
            "const char *const prof_names[] = {\n%s\n};" % "\n".join('    "%s",' % name for name in [e.name for _, e in entries] + families),
            "const unsigned char prof_groups[] = {\n%s\n};" % "\n".join("    %s," % g for g in [group(f) for f, _ in entries] +
                                                                       ["PROF_SHMEM"] * len(families)),
            "struct prof_sum prof_sums[PROF_FNS];", ""]
    return [("profile/wrap_gen.c", "\n".join(text) + "\n" + "\n\n".join(wrapper(f, e) for f, e in entries) + "\n")] + \
        shmem_profile.emit(shmem, len(entries))
