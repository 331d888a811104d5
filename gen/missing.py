"""Writes doc/missing.md: what of MPI 4.1 and 5.0 the library does not have yet, by chapter."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import itertools


def emit(model):
    functions = [f for f in model.functions if f.in_header]
    have = sum(len(f.entries) for f in functions if f.implemented)
    total = sum(len(f.entries) for f in functions)
    lines = ["# What is not there yet", "",
             "The library has %d of the %d C entry points of MPI 5.0 (each large-count `_c` form counts as one)." % (have, total),
             "Those below are declared in `mpi.h` but absent from `libmpi_abi.so`: a program that calls one does not link.",
             "This page is generated from `api/`.", ""]
    for chapter, group in itertools.groupby(functions, key=lambda f: (f.chapter, f.title)):
        group = list(group)
        absent = [f for f in group if not f.implemented]
        if not absent:
            continue
        lines += ["## %d. %s (%d of %d)" % (chapter + (len(absent), len(group))), ""]
        lines += ["- `%s`%s" % (f.name, ", `%s_c`" % f.name if f.has_large else "") for f in absent]
        lines.append("")
    return [("doc/missing.md", "\n".join(lines))]
