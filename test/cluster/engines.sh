#!/bin/sh
# The same program under the engines that clusters have, over three hosts: Slurm by PMIx and by PMI-2, Hydra, Open MPI's mpirun, and
# our mpiexec that hands over to each of them.  First what a rank knows at the start, then messages.
# users.md row 2
# run.py: timeout=120 tags=cluster
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
if [ ! "${CLUSTER-}" ]; then
    for tool in mpiexec.hydra mpirun.openmpi; do command -v $tool >/dev/null || { echo "engines: skipped: no $tool here"; exit 77; }; done
    exec "$here/cluster" --slurm "$here/engines.sh" "$build"
fi
fail() { echo "engines: $*"; exit 1; }
out=$(mktemp)
trap 'rm -f "$out"' EXIT
# under NAME COUNTS COMMAND...: COMMAND starts ranks on n1, n2, n3 in blocks of such COUNTS
under() {
    name=$1 counts=$2
    shift 2
    # What the ranks of such a job say of themselves.
    wanted=$(echo "$counts" | tr , '\n' | awk '{ n[NR] = $1; s += $1 } END { r = 0
        for (i = 1; i <= NR; i++) for (k = 0; k < n[i]; k++)
            printf "rank %d of %d, node %d of %d, local %d of %d on n%d\n", r++, s, i - 1, NR, k, n[i], i }')
    for how in "" barrier; do
        timeout 100 "$@" "$build/cluster_facts" $how >"$out" 2>&1 </dev/null || fail "$name: $* facts $how: status $?: $(head -c 1000 "$out")"
        [ "$(grep '^rank' "$out" | sed 's/ by .*//' | sort)" = "$wanted" ] || fail "$name: other facts: $(cat "$out")"
    done
    timeout 100 "$@" "$build/cluster_ring" 5 >"$out" 2>&1 </dev/null || fail "$name: the ring: status $?: $(head -c 1000 "$out")"
    [ "$(grep -c '^turning' "$out")" = 1 ] || fail "$name: the ring did not turn once: $(cat "$out")"
    echo "$name: $(echo "$wanted" | wc -l) ranks"
}
hosts=n1:2,n2:2,n3:2
under "Slurm, PMIx" 2,2,2 srun --mpi=pmix -N 3 -n 6 --ntasks-per-node=2
under "Slurm, PMI-2" 2,2,2 srun --mpi=pmi2 -N 3 -n 6 --ntasks-per-node=2
under "Hydra" 2,2,2 mpiexec.hydra -hosts $hosts -n 6
under "Open MPI's mpirun" 2,2,2 mpirun.openmpi --host $hosts
# Where a step lacks the allocation's first node, Slurm's PMIx server answers for wrong nodes, and its second fence may have no end.
for i in 1 2 3; do
    timeout 60 salloc -Q -N 3 --ntasks-per-node=2 srun -Q --mpi=pmix -N 2 -n 4 -w n2,n3 "$build/cluster_ring" 5 >"$out" 2>&1 </dev/null ||
        fail "a step on some nodes: status $?: $(head -c 1000 "$out")"
    [ "$(grep -c '^turning' "$out")" = 1 ] || fail "a step on some nodes: the ring did not turn once: $(cat "$out")"
done
echo "Slurm, PMIx, some nodes of the allocation: 4 ranks"
# In that time hosts begin to be watched, for which the launcher is asked where they are, and the others wait for it in MPI_Finalize.
late() {
    timeout 100 "$@" "$build/cluster_ring" 1 0 5 >"$out" 2>&1 </dev/null || fail "a rank that ends later: $*: status $?: $(head -c 1000 "$out")"
}
late srun --mpi=pmi2 -N 3 -n 3
late srun --mpi=pmix -N 3 -n 3
late mpiexec.hydra -hosts n1,n2,n3 -n 3
echo "a rank that ends later"
under "mpiexec in an allocation of Slurm" 3,1,1 salloc -Q -N 3 "$build/mpiexec" -host n1:3,n2:1,n3:1 -n 5
under "mpiexec by Hydra" 2,1,1 "$build/mpiexec" --engine hydra -host n1,n2,n3 -n 4
under "mpiexec by mpirun" 1,1 "$build/mpiexec" --engine mpirun -host n1,n2
under "mpiexec by mpirun, bound, more ranks than cores" 5,4 "$build/mpiexec" --engine mpirun -bind-to core -host n1:5,n2:4
if command -v prterun >/dev/null; then # prrte.sh
    under "PRRTE" 2,2,2 prterun --host $hosts -n 6
    under "mpiexec by prterun" 3,1,1 "$build/mpiexec" --engine prterun -host n1:3,n2:1,n3:1 -n 5
    under "mpiexec by prterun, bound, more ranks than cores" 5,4 "$build/mpiexec" --engine prterun -bind-to core -host n1:5,n2:4
    under "mpiexec by prterun, spread" 5,4 "$build/mpiexec" --engine prterun -map-by numa -host n1:5,n2:4
    late prterun --host n1,n2,n3 -n 3
fi
