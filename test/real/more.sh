#!/bin/sh
# The real programs that take too long for every check: MrBayes, all of hypre's tests, LAMMPS, PETSc.
# run.py: timeout=5400 tags=extra
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
exec "$(dirname "$0")/programs.sh" --all "$1" "$2" mrbayes hypre lammps petsc
