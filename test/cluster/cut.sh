#!/bin/sh
# A link that is cut for good while a job starts: the launcher's processes run on all hosts, some ranks wait in MPI_Init, those of one
# host have not called it, or all have just left it.  Whoever has started the job, its ranks end and say why, and so does mpiexec where that has started it.
# `few`: one engine, called by the user and by mpiexec.  `prterun`: that alone, which must be in PATH (prrte.sh).
# users.md row 5
# run.py: args=few timeout=120 tags=cluster
# run.py: args=all timeout=1200 tags=cluster,extra
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
amount=all
for word in "$@"; do case $word in few|prterun) amount=$word ;; esac; done
if [ ! "${CLUSTER-}" ]; then
    for tool in mpiexec.hydra mpirun.openmpi; do command -v $tool >/dev/null || { echo "cut: skipped: no $tool here"; exit 77; }; done
    slurm=
    [ $amount != all ] || slurm=--slurm
    exec "$here/cluster" $slurm "$here/cut.sh" "$build" $amount
fi
dir=$(mktemp -d "$build/cut.XXXXXX") # all hosts see it
trap 'rm -rf "$dir"' EXIT
fail() { echo "cut: $engine, late are ranks of $late: $*: $(cat "$dir/out" "$dir/err" | head -c 1500)"; exit 1; }
export GODWIT_HOST_TIMEOUT=3
cat >"$dir/late" <<END
#!/bin/sh
if [ "\$(hostname)" = "\$1" ]; then
    echo here >>$dir/waiting
    until [ -e $dir/go ]; do sleep 0.1; done
fi
exec $build/cluster_ring 0 20
END
chmod +x "$dir/late"
count() { { on $1 pgrep -x cluster_ring || :; on $1 pgrep -x late || :; } | wc -l; }
# start COMMAND...: until two ranks of host $late wait outside of MPI_Init, and the four others in it have begun to watch; or MPI runs
start() {
    rm -f "$dir/waiting" "$dir/go" "$dir/out"
    timeout 200 "$@" "$dir/late" $late >"$dir/out" 2>"$dir/err" </dev/null &
    job=$!
    if [ $late = nobody ]; then
        for _ in $(seq 600); do grep -qs turning "$dir/out" && return 0; sleep 0.1; done
        fail "it does not start"
    fi
    for _ in $(seq 300); do [ "$(cat "$dir/waiting" 2>/dev/null | wc -l)" = 2 ] && break; sleep 0.1; done
    for h in n1 n2 n3; do
        for _ in $(seq 300); do [ $h = $late ] && break; [ "$(on $h pgrep -x cluster_ring | wc -l)" = 2 ] && break; sleep 0.1; done
    done
    sleep 2
}
# gone HOST: all processes of the job are, well within half a minute.  Who has never heard of a host gives it twice as long, from when the
# kernel, which has, finds that there is no way to it.
gone() {
    tries=200
    [ $late != nobody ] || tries=1000
    for _ in $(seq $tries); do [ "$(count $1)" = 0 ] && return 0; sleep 0.1; done
    fail "the link was cut, and processes live on at $1"
}
end() { # whatever is left: what launchers wait for, and what stands behind the cut before MPI_Init
    for h in n1 n2 n3; do for name in cluster_ring late hydra_pmi_proxy; do on $h pkill -KILL -x $name || :; done; done
    kill -KILL $job 2>/dev/null || :
    wait $job 2>/dev/null || :
    cable n2 plug
    sleep 2 # until then the others know that there is no way to it.  Slurm takes the node back when its daemon has reported
    [ $amount != all ] || for id in $(squeue -h -o %i); do scancel -s KILL $id || :; done
    for _ in $(seq 450); do [ $amount != all ] || [ "$(sinfo -h -N -o %T | grep -cx idle)" = 3 ] && break; sleep 0.2; done
    echo "$engine, late are ranks of $late: all have ended"
}
said() { grep -q "$1" "$dir/err" || fail "not said: $1"; }
lost="GODWIT_HOST_TIMEOUT=3); the job ends now\$"

# ---- engines that the user calls.  Slurm and PMIx say which hosts there are; Hydra does not, so time tells, or, where it runs on a host of
# the job, its connections.  Its ranks behind the cut lose the host where it was called.
case $amount in
few) alone=hydra:n1 ours=hydra ;;
prterun) alone=prterun ours=prterun ;;
*) alone="hydra hydra:n1 mpirun srun:pmix srun:pmi2" ours="hydra mpirun srun" ;;
esac
for engine in $alone; do
    for late in n2 n3 nobody; do
        [ $late != nobody ] || [ $amount != few ] || continue
        words="host n2 has not answered for [0-9]* s ($lost"
        unset GODWIT_INIT_TIMEOUT
        case $engine in
        srun:*) set -- srun --mpi=${engine#srun:} -N 3 --ntasks-per-node=2
            [ $late != nobody ] || words="$words\|^srun: error: Node failure on n2$" ;; # whoever is first
        hydra) export GODWIT_INIT_TIMEOUT=8
            set -- mpiexec.hydra -hosts n1:2,n2:2,n3:2 -n 6
            [ $late = nobody ] || words='MPI_Init has waited for ranks on other hosts for [0-9]* s (GODWIT_INIT_TIMEOUT): they have not called it, or their host is gone; the job ends now$' ;;
        hydra:n1) set -- on n1 mpiexec.hydra -hosts n1:2,n2:2,n3:2 -n 6
            [ $late = nobody ] || words="rank 0 (n1): host 10.78.0.2 has not answered for [0-9]* s ($lost" ;;
        mpirun) set -- mpirun.openmpi -x GODWIT_HOST_TIMEOUT --host n1:2,n2:2,n3:2 -n 6 ;;
        prterun) set -- prterun -x GODWIT_HOST_TIMEOUT --host n1:2,n2:2,n3:2 -n 6 ;;
        esac
        start "$@"
        cable n2 pull
        for h in n1 n3; do gone $h; done
        [ $late = n2 ] || gone n2
        said "$words"
        [ $late = nobody ] || ! grep -q '^rank [0-9]* of' "$dir/out" || fail "it has run"
        end
    done
done

# ---- by mpiexec
unset GODWIT_INIT_TIMEOUT
for kind in $ours; do
    engine="mpiexec: $kind"
    for late in n2 n3; do
        [ $amount != few ] || [ $late = n3 ] || continue
        case $kind in
        srun) set -- salloc -Q -N 3 "$build/mpiexec" -ppn 2 -n 6 ;;
        *) set -- "$build/mpiexec" --engine $kind -host n1:2,n2:2,n3:2 -n 6 ;;
        esac
        start "$@"
        cable n2 pull
        rc=0
        wait $job || rc=$?
        [ $rc = 125 ] || fail "status $rc"
        said '^mpiexec: host n2 has not answered for 3 s (GODWIT_HOST_TIMEOUT); the job ends now$'
        for h in n1 n3; do gone $h; done
        end
    done
done
