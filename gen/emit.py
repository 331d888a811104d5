#!/usr/bin/env python3
"""Runs the emitters: emit.py OUTDIR [mpi_h | entries | names | missing | man | errtest | calltest | doors | fortran | fortran_door |
shmem_h | shmem_entries | shmem_test | shmem_man]...
(default: mpi_h to man).

Writes include/mpi.h, facade/entry_*.c, facade/fn_gen.h, boot/call_names_gen.c, doc/missing.md, man/man3/*.3,
test/mpi_errors.c, test/calls.h, door/ABI/*, facade/ABI/*, fortran/*, shmem/*, include/shmem.h under OUTDIR."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import importlib
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import model as api  # noqa: E402
import shmem_model  # noqa: E402


def outputs(name, model):
    """[(path under OUTDIR, text)] of one emitter."""
    module = importlib.import_module(name)
    if name == "mpi_h":
        return [("include/mpi.h", module.emit(model))]
    return module.emit(model)


def main(out, names):
    model = api.Model() if not all(n.startswith("shmem_") for n in names or ["mpi_h"]) else None
    shmem = shmem_model.Model() if any(n.startswith("shmem_") for n in names) else None
    for name in names or ["mpi_h", "entries", "names", "missing", "man"]:
        for path, text in outputs(name, shmem if name.startswith("shmem_") else model):
            path = os.path.join(out, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
