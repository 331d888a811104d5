#!/bin/sh
# users.md row 2: never N jobs of one rank where one job of N was meant: our programs under MPICH's and Open MPI's launchers are
# ranks of one job; under launchers that offer no way to the others they refuse in one sentence, and a variable lets them run
# alone; programs of MPICH are ranks of one job under our mpiexec (launch/foreign.sh has more).
# run.py: timeout=60 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "row 2: $*"; exit 1; }
program=$build/mpi_world_size

if command -v mpiexec.hydra >/dev/null; then
    [ "$(timeout 100 mpiexec.hydra -n 3 "$program" | sort | uniq -c | tr -s ' ')" = " 3 3" ] || fail "not 3 ranks of 3 under Hydra"
fi
if command -v mpirun.openmpi >/dev/null; then
    sizes=$(timeout 100 mpirun.openmpi --allow-run-as-root --oversubscribe -n 3 "$program" | sort | uniq -c | tr -s ' ')
    [ "$sizes" = " 3 3" ] || fail "not 3 ranks of 3 under Open MPI's mpirun"
fi
for several in SLURM_STEP_NUM_TASKS=4 PMI_SIZE=4 OMPI_COMM_WORLD_SIZE=4 MPI_LOCALNRANKS=4 PALS_SIZE=4 FLUX_JOB_SIZE=4; do
    if env $several timeout 100 "$program" >"$dir/out" 2>"$dir/err"; then fail "$several: it ran alone"; fi
    [ ! -s "$dir/out" ] || fail "$several: it printed $(cat "$dir/out")"
    [ "$(wc -l <"$dir/err")" = 1 ] || fail "$several: not one line: $(cat "$dir/err")"
    grep -q "$several.*GODWIT_SINGLETON=1" "$dir/err" || fail "$several: $(cat "$dir/err")"
    [ "$(env $several GODWIT_SINGLETON=1 timeout 100 "$program")" = 1 ] || fail "$several: not alone though it may"
done
# A batch script is one process, whatever the size of its allocation; so is a single rank.
for one in SLURM_NTASKS=4 PMI_SIZE=1; do
    [ "$(env $one timeout 100 "$program")" = 1 ] || fail "$one: it does not run alone"
done
if command -v mpicc.mpich >/dev/null; then
    printf '#include <mpi.h>\n#include <stdio.h>\nint main(int c, char **v) { int n; MPI_Init(&c, &v); MPI_Comm_size(MPI_COMM_WORLD, &n); printf("%%d\\n", n); MPI_Finalize(); return 0; }\n' >"$dir/p.c"
    mpicc.mpich "$dir/p.c" -o "$dir/p"
    [ "$(timeout 100 "$build/mpiexec" -n 2 "$dir/p" | sort | uniq -c | tr -s ' ')" = " 2 2" ] || fail "MPICH's program: $(timeout 100 "$build/mpiexec" -n 2 "$dir/p" 2>&1)"
fi
