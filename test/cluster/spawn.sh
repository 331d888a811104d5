#!/bin/sh
# MPI_Comm_spawn starts children on other hosts: where the info keys say, and in free slots where nothing is said; under Slurm, Hydra,
# Open MPI's mpirun and mpiexec.  Where no launcher can start them there, the error says why.  They and their parents fail together.
# run.py: timeout=300 tags=cluster
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
if [ ! "${CLUSTER-}" ]; then
    for tool in mpiexec.hydra mpirun.openmpi; do command -v $tool >/dev/null || { echo "spawn: skipped: no $tool here"; exit 77; }; done
    exec "$here/cluster" --slurm "$here/spawn.sh" "$build"
fi
dir=$(mktemp -d "$build/spawn.XXXXXX") # all hosts see it
doing= # what is tried, told whatever ends this script
trap 'rc=$?; [ $rc = 0 ] || echo "spawn: status $rc, at: $doing: $(head -c 1500 "$dir/out" "$dir/err" 2>/dev/null)"; rm -rf "$dir"' EXIT
trap 'exit 143' TERM
meet=$build/cluster_meet
fail() { echo "spawn: $*"; exit 1; }
# where WANTED COMMAND...: it prints that, and nothing else; nobody is left
where() {
    wanted=$1
    shift
    doing=$*
    rc=0
    timeout -k 10 60 "$@" >"$dir/out" 2>"$dir/err" </dev/null || rc=$?
    [ $rc = 0 ] && [ "$(cat "$dir/out")" = "$wanted" ] || fail "$*: status $rc, '$(cat "$dir/out")' and not '$wanted': $(head -c 1500 "$dir/err")"
    # Open MPI's mpirun warns where its child was faster than it itself.
    grep -v -e '^mpiexec: .* starts [0-9]* ranks\?$' -e 'plm:[a-z]*sh: Warning: setpgid' "$dir/err" && fail "$* says this"
    for h in $CLUSTER_HOSTS; do # children that another launcher started may end a little later than those started here
        for _ in $(seq 50); do on $h pgrep -x cluster_meet >/dev/null || break; sleep 0.1; done
        on $h pgrep -x cluster_meet && fail "$*: a process is left on $h"
    done
    echo "$wanted: $*" | sed "s#$build/##g; s#$dir/##g"
}
# refused WORDS COMMAND...
refused() {
    words=$1
    shift
    doing=$*
    timeout -k 10 60 "$@" >"$dir/out" 2>&1 </dev/null || fail "$*: status $?: $(head -c 1500 "$dir/out")"
    grep -q "$words" "$dir/out" || fail "$*: not '$words': $(head -c 1500 "$dir/out")"
    echo "refused: $words"
}
printf 'n2 slots=2\nn3 slots=2\n' >"$dir/hosts"

# ---- where the keys say ----
srun="srun -Q --mpi=pmix --overlap"
step="salloc -Q -N 2 -w n1,n2 --ntasks-per-node=2 $srun -N 2 -n 2 --ntasks-per-node=1"
for i in 1 2 3; do # a step on some nodes of the allocation (boot_fences_once())
    where "n2 n3 n3" $srun -N 3 -n 6 --ntasks-per-node=2 "$meet" place 3 host n2,n3:2
done
where "n1 n3 n3" $srun -N 3 -n 3 "$meet" place 1 host n1 2 host n3
where "n3 n3" srun -Q --mpi=pmi2 --overlap -N 3 -n 3 "$meet" place 2 hosts n3
where "n2 n2 n3" mpiexec.hydra -hosts n1:1,n2:1 -n 2 "$meet" place 3 add-hostfile "$dir/hosts"
where "n3 n3 n1" mpiexec.hydra -hosts n1:1,n2:1 -n 2 "$meet" place 2 host n3 1 - -
where "n2 n2 n3" mpirun.openmpi --host n1:1,n2:1 "$meet" place 3 hostfile "$dir/hosts"
where "n3 n1" mpirun.openmpi --host n1:1,n2:1 "$meet" place 2 add-host n3,n1
for engine in mpirun hydra; do # the first that is in PATH: mpiexec on one host has none
    [ $engine = mpirun ] || { mkdir "$dir/bin" && ln -s "$(command -v mpiexec.hydra)" "$(command -v hydra_pmi_proxy)" "$dir/bin"; }
    path=$PATH
    [ $engine = mpirun ] || path=$dir/bin:$CLUSTER/bin
    where "n2 n2 n3" on n1 env PATH="$path" "$build/mpiexec" -n 2 "$meet" place 3 host n2:2,n3
done
where "n1 n1" on n1 "$build/mpiexec" -n 2 "$meet" place 2 host localhost
where "n2" on n1 env GODWIT_SINGLETON=1 "$meet" place 1 host n2

if command -v prterun >/dev/null; then # prrte.sh
    prterun="prterun -x PRTE_MCA_plm_ssh_agent" agent="env PRTE_MCA_plm_ssh_agent=$PRTE_MCA_plm_ssh_agent" # it keeps its variables from its ranks
    where "n2 n2 n3" $prterun --host n1:1,n2:1 -n 2 "$meet" place 3 hostfile "$dir/hosts"
    where "n1 n3" $prterun --host n1:1,n2:1 -n 2 "$meet" place 2 add-host n1,n3
    where "n2 n2" "$build/mpiexec" --engine prterun -host n1:2,n2:3 -n 3 $agent "$meet" place 2 - -
    where "n1 n1 n2 n2" "$build/mpiexec" --engine prterun -host n1:2,n2:3 -n 3 $agent "$meet" place 4 - -
fi

# ---- where nothing is said: this host's free slots, then those of the other hosts; a process for which there is none starts here ----
where "n1" $step "$meet" place 1 - -
where "n1 n2" $step "$meet" place 2 - -
where "n1 n1 n2" $step "$meet" place 3 - -
for engine in hydra mpirun; do
    where "n2 n2" "$build/mpiexec" --engine $engine -host n1:2,n2:3 -n 3 "$meet" place 2 - -
    where "n1 n1 n2 n2" "$build/mpiexec" --engine $engine -host n1:2,n2:3 -n 3 "$meet" place 4 - -
    where "n1" "$build/mpiexec" --engine $engine -host n1:2,n2:1 -n 3 "$meet" place 1 - -
done

# ---- why not ----
refused "host n9 is not in this allocation of Slurm (n\[1-2\]), where srun starts processes" $srun -N 2 -n 2 "$meet" noplace host n9 spawn
refused "no engine is here that starts ranks there" on n1 env PATH=/nowhere "$build/mpiexec" -n 1 "$meet" noplace host n2 spawn
refused "the info key hostfile is /nosuch, which cannot be read" on n1 "$build/mpiexec" -n 1 "$meet" noplace hostfile /nosuch value
refused "the info key host: \"-x\" is no name of a host" on n1 "$build/mpiexec" -n 1 "$meet" noplace host n2,-x spawn
refused "by which it would reach those who spawn it could not be opened" on n1 env GODWIT_WIRES=shm "$build/mpiexec" -n 1 "$meet" noplace host n2 spawn
refused "host n9 is not known on host n1" on n1 "$build/mpiexec" -n 1 "$meet" noplace host n9 spawn
refused "ended with status [0-9]* before MPI_Init of the new processes was over" on n1 "$build/mpiexec" -n 1 "$meet" noplace host 10.78.0.77 spawn

# ---- they fail together ----
# together NAME WHO COMMAND...: of the parents on n1 and the children on n2 one on host WHO is killed
together() {
    name=$1 who=$2
    shift 2
    doing=$*
    rm -f "$dir/out" # what the one before has said; the next line opens it when it gets to it
    timeout -k 10 60 "$@" "$meet" stay host n2 >"$dir/out" 2>&1 </dev/null & pid=$!
    for _ in $(seq 300); do grep -qsx met "$dir/out" && break; sleep 0.1; done
    grep -qx met "$dir/out" || fail "$name: they do not meet: $(head -c 1500 "$dir/out")"
    on $who pkill -KILL -n -x cluster_meet || fail "$name: nothing to be killed on $who: $(head -c 1500 "$dir/out")"
    for _ in $(seq 100); do on n1 pgrep -x cluster_meet >"$dir/left" || on n2 pgrep -x cluster_meet >"$dir/left" || break; sleep 0.1; done
    for h in n1 n2; do on $h pgrep -x cluster_meet && fail "$name: after 10 s a process is left on $h: $(head -c 1500 "$dir/out")"; done
    rc=0
    wait $pid || rc=$?
    [ $rc != 0 ] || fail "$name: it ends well"
    grep -q "the job cluster_meet ([0-9]* ranks\?; rank 0 is process [0-9]* on $who), with which this one is connected, has failed" "$dir/out" ||
        fail "$name: the other job is not named: $(head -c 1500 "$dir/out")"
    echo "$name: both end"
}
together "mpiexec: a parent" n1 on n1 "$build/mpiexec" -n 2
together "mpiexec: a child" n2 on n1 "$build/mpiexec" -n 2
together "srun: a parent" n1 $srun --kill-on-bad-exit=1 -N 2 -n 2 -w n1,n2
together "Hydra: a child" n2 mpiexec.hydra -hosts n1:2 -n 2
if command -v prterun >/dev/null; then
    together "PRRTE: a child" n2 $prterun --host n1:2 -n 2
fi
echo "spawn: children where they belong"
