#!/bin/sh
# A host that goes, by all its processes or by its cable, ends a job within seconds, and is named: by mpiexec where that had started the
# job, else by the ranks.  A cable that flaps ends nothing.  Ranks whose launcher's daemon is killed end as well.
# users.md row 5
# run.py: timeout=600 tags=cluster,extra
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
if [ ! "${CLUSTER-}" ]; then
    for tool in mpiexec.hydra mpirun.openmpi; do command -v $tool >/dev/null || { echo "lost: skipped: no $tool here"; exit 77; }; done
    exec "$here/cluster" --slurm "$here/lost.sh" "$build"
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "lost: $engine: $*: $(head -c 1500 "$dir/err")"; exit 1; }
export GODWIT_HOST_TIMEOUT=3
begin() {
    rm -f "$dir/out"
    timeout 100 $m -n 6 "$build/cluster_ring" 0 20 >"$dir/out" 2>"$dir/err" </dev/null &
    job=$!
    for _ in $(seq 300); do grep -qs turning "$dir/out" && break; sleep 0.1; done
    grep -q turning "$dir/out" || fail "it does not start: $(cat "$dir/out")"
}
gone() { # HOST: its ranks are, within 20 s
    for _ in $(seq 200); do on $1 pgrep -x cluster_ring >/dev/null || return 0; sleep 0.1; done
    on $1 pkill -KILL -x cluster_ring
    fail "$2: ranks live on at $1"
}
back() { # puts the cable of n2 in; until then the others know that there is no way to it.  Slurm takes the node back when its daemon has reported
    cable n2 plug
    sleep 2
    for id in $(squeue -h -o %i); do scancel -s KILL $id || :; done
    for _ in $(seq 450); do [ "$(sinfo -h -N -o %T | grep -cx idle)" = 3 ] && return 0; sleep 0.2; done
    fail "Slurm does not take its nodes back: $(sinfo -h -N -o '%N %T')"
}
for engine in srun hydra mpirun; do
    m="$build/mpiexec --engine $engine -host n1,n2,n3"
    [ $engine != srun ] || m="salloc -Q -N 3 $build/mpiexec -ppn 2"
    begin
    on n2 pkill -KILL -x cluster_ring
    rc=0
    wait $job || rc=$?
    [ $rc != 0 ] && [ $rc != 124 ] || fail "all ranks of n2 were killed, and the status is $rc"
    begin
    sleep 2.5 # mpiexec has heard of n2
    cable n2 pull
    sleep 1
    cable n2 plug
    sleep 1
    kill -0 $job 2>/dev/null || fail "a cable that was out for a second ended the job"
    sleep 1
    cable n2 pull
    rc=0
    wait $job || rc=$?
    [ $rc = 125 ] || fail "status $rc"
    grep -q '^mpiexec: host n2 has not answered for 3 s (GODWIT_HOST_TIMEOUT); the job ends now$' "$dir/err" || fail "the host is not named"
    for h in n1 n3; do gone $h "a cable was pulled"; done
    on n2 pkill -KILL -x cluster_ring || : # behind the cut nobody could tell them
    back
    echo "$engine: the job ended, and its host was named"
done

# ---- started by the engines themselves ----
for engine in "srun --mpi=pmix" "srun --mpi=pmi2" hydra mpirun; do
    case $engine in
    srun*) m="$engine -N 3 --ntasks-per-node=2" daemon=slurmstepd ;;
    hydra) m="mpiexec.hydra -hosts n1:2,n2:2,n3:2" daemon=hydra_pmi_proxy ;;
    mpirun) m="mpirun.openmpi -x GODWIT_HOST_TIMEOUT --host n1:2,n2:2,n3:2" daemon=orted ;;
    esac
    begin
    on n2 pkill -KILL $daemon || fail "no $daemon at n2"
    gone n2 "its daemon was killed"
    for h in n1 n3; do on $h pkill -KILL -x cluster_ring || :; done
    kill -KILL $job 2>/dev/null || :
    wait $job 2>/dev/null || :
    begin
    sleep 5 # the ranks have heard of each other's hosts
    cable n2 pull
    for h in n1 n2 n3; do gone $h "a cable was pulled"; done
    grep -q 'host n2 has not answered for [0-9]* s (GODWIT_HOST_TIMEOUT=3); the job ends now$' "$dir/err" || fail "the host is not named"
    kill $job 2>/dev/null || :
    wait $job || :
    back
    echo "$engine alone: the ranks ended, and named the host"
done

# ---- hosts to which there is no way from here: a router says so, or prohibits the probes, which tells nothing; engines that only wait
mkdir "$dir/bin"
for name in mpiexec.hydra srun; do
    printf '#!/bin/sh\n[ "$1" != --version ] || { echo "HYDRA Version: 4.0.2"; exit; }\nsleep 10\n' >"$dir/bin/$name"
    chmod +x "$dir/bin/$name"
done
sed -i 's/HYDRA Version: 4.0.2/slurm-wlm 22.05.8/' "$dir/bin/srun"
on n1 sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward; ip route add unreachable 10.99.1.0/24; ip route add prohibit 10.99.2.0/24'
ip route add 10.99.0.0/16 via 10.78.0.1
far() { # STATUS ENGINE HOST
    engine=$2
    rc=0
    GODWIT_HOST_TIMEOUT=2 PATH=$dir/bin:$PATH "$build/mpiexec" --engine $2 -host $3 -n 1 true >"$dir/out" 2>"$dir/err" </dev/null || rc=$?
    [ $rc = $1 ] || fail "$3 cannot be reached from here: status $rc"
}
far 125 hydra 10.99.1.1
grep -q '^mpiexec: host 10.99.1.1 was never reachable from here: .*GODWIT_HOST_TIMEOUT=0$' "$dir/err" || fail "no way: it is not said"
far 0 srun 10.99.1.1
grep -q '^mpiexec: warning: this host has no way to host 10.99.1.1' "$dir/err" || fail "no way, but Slurm may have one: no warning"
far 0 hydra 10.99.2.1

# ---- a cable that is out from the start: Hydra alone would wait for ever.  Last, as Slurm takes n2 for down now
for engine in hydra mpirun; do
    cable n2 pull
    rc=0
    timeout 100 "$build/mpiexec" --engine $engine -host n1,n2,n3 -n 6 "$build/cluster_ring" 0 1 >"$dir/out" 2>"$dir/err" </dev/null || rc=$?
    [ $rc != 0 ] && [ $rc != 124 ] || fail "a host without its cable from the start: status $rc"
    [ $engine = mpirun ] || grep -q '^mpiexec: host n2 was never reachable from here: for 3 s there has been no way to it (GODWIT_HOST_TIMEOUT); the job ends now\. .*GODWIT_HOST_TIMEOUT=0$' "$dir/err" ||
        fail "the host is not named"
    for h in n1 n2 n3; do on $h pkill -KILL -x cluster_ring || :; on $h pkill -KILL -x hydra_pmi_proxy || :; done
    cable n2 plug
    sleep 2 # until then the others know that there is no way to it
    echo "$engine: a job that cannot reach a host ends"
done
