#!/bin/sh
# The ranks' numbers under the names of other launchers, and that these mislead no other library: programs of MPICH and Open MPI, their
# launchers below ours and ours below theirs, start as they would without.
# run.py: timeout=120 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "names: $*"; exit 1; }
run() { timeout 60 "$build/mpiexec" "$@" </dev/null; }
# same WANT OPTIONS...: the sorted output in one line
same() {
    want=$1
    shift
    out=$(run "$@" 2>&1 | sort | tr '\n' ' ')
    [ "$out" = "$want " ] || fail "$* printed '$out', not '$want'"
}

world='echo "$OMPI_COMM_WORLD_RANK/$OMPI_COMM_WORLD_SIZE $PMI_RANK/$PMI_SIZE $PMIX_RANK"'
same "0/3 0/3 0 1/3 1/3 1 2/3 2/3 2" -n 1 sh -c "$world" : -n 2 sh -c "$world"
local='echo "$GODWIT_RANK $OMPI_COMM_WORLD_LOCAL_RANK/$OMPI_COMM_WORLD_LOCAL_SIZE $OMPI_COMM_WORLD_NODE_RANK $MPI_LOCALRANKID/$MPI_LOCALNRANKS $PMI_LOCAL_RANK/$PMI_LOCAL_SIZE"'
same "0 0/2 0 0/2 0/2 1 1/2 1 1/2 1/2" -n 2 sh -c "$local"
same "0 0/2 0 0/2 0/2 1 1/2 1 1/2 1/2 2 0/1 0 0/1 0/1" -n 3 --vnodes 2,1 sh -c "$local"
same "0 0/1 0 0/1 0/1" -n 1 sh -c "$local"
same "0/2 0/2 0 1/2 1/2 1" -genvnone -n 2 /bin/sh -c "$world"
# nothing that leads to a server of another launcher, also where one is around us
[ -z "$(PMI_FD=99 PMI_PORT=x:1 PMI_ID=3 run -n 2 env | grep -E '^(PMI_FD=99|(PMI_PORT|PMI_ID|SLURM_PROCID|OMPI_UNIVERSE_SIZE)=)')" ] || fail "it leads astray"
# our own programs: as a job, also where the environment was cleared (users.md row 2: never as jobs of one rank each), and alone on purpose
same "2 2" -n 2 "$build/mpi_world_size"
same "1 1" -n 2 env GODWIT_SINGLETON=1 "$build/mpi_world_size"
same "2 2" -n 2 env -u GODWIT_BOOT "$build/mpi_world_size" # by PMI-1
same "2 2" -n 2 env -i "$build/mpi_world_size"
same "1 1" -n 2 env -i GODWIT_SINGLETON=1 "$build/mpi_world_size"
same "3 3 3 3 3 3" -n 2 "$build/mpiexec" -n 3 "$build/mpi_world_size"
# and not where another launcher's number alone is there: that is a job whose start went wrong
rc=0
OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 timeout 60 "$build/mpi_world_size" >"$dir/out" 2>&1 || rc=$?
[ $rc = 1 ] && grep -q "seems to be one of several (OMPI_COMM_WORLD_SIZE=2)" "$dir/out" || fail "a start that went wrong: $rc $(cat "$dir/out")"

cat >"$dir/hello.c" <<'END'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank, size, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("%d/%d:%d\n", rank, size, sum);
    return MPI_Finalize();
}
END
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
if command -v mpicc.mpich >/dev/null && command -v mpiexec.hydra >/dev/null; then
    mpicc.mpich "$dir/hello.c" -o "$dir/mpich"
    same "0/1:0" -n 1 "$dir/mpich"
    same "0/2:1 1/2:1" -n 1 mpiexec.hydra -n 2 "$dir/mpich"
    same "0/3:3 0/3:3 1/3:3 1/3:3 2/3:3 2/3:3" -n 2 mpiexec.hydra -n 3 "$dir/mpich"
    [ "$(timeout 60 mpiexec.hydra -n 1 "$build/mpiexec" -n 2 "$build/mpi_world_size" </dev/null | tr '\n' ' ')" = "2 2 " ] || fail "ours below Hydra"
fi
if command -v mpicc.openmpi >/dev/null && command -v mpirun.openmpi >/dev/null; then
    mpicc.openmpi "$dir/hello.c" -o "$dir/ompi"
    same "0/2:1 1/2:1" -n 2 "$dir/ompi"
    same "0/1:0" -n 1 "$dir/ompi"
    same "0/1:0" --pmix off -n 1 "$dir/ompi"
    same "0/2:1 1/2:1" -n 1 mpirun.openmpi --oversubscribe -n 2 "$dir/ompi"
    same "0/2:1 0/2:1 1/2:1 1/2:1" -n 2 mpirun.openmpi --oversubscribe -n 2 "$dir/ompi"
    [ "$(timeout 60 mpirun.openmpi -n 1 "$build/mpiexec" -n 2 "$build/mpi_world_size" </dev/null | tr '\n' ' ')" = "2 2 " ] || fail "ours below mpirun"
fi
exit 0
