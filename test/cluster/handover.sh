#!/bin/sh
# mpiexec on several hosts behaves as on one: it says which launcher starts the job, and exit statuses, signals, standard input, time limits,
# environments and folders are as ever; nothing lives on, whatever ended it.
# users.md rows 2, 5
# run.py: timeout=120 tags=cluster,extra
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
if [ ! "${CLUSTER-}" ]; then
    for tool in mpiexec.hydra mpirun.openmpi; do command -v $tool >/dev/null || { echo "handover: skipped: no $tool here"; exit 77; }; done
    exec "$here/cluster" --slurm "$here/handover.sh" "$build"
fi
fail() { echo "handover: $engine: $*: $(head -c 800 "$dir/err")"; exit 1; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
run() { timeout 60 $m "$@" 2>"$dir/err"; }
# ends STATUS OPTIONS...
ends() {
    want=$1 rc=0
    shift
    run "$@" >"$dir/out" </dev/null || rc=$?
    [ $rc = "$want" ] || fail "$* ended with status $rc, not $want"
}
same() {
    want=$1
    shift
    got=$(run "$@" | sort | tr '\n' ' ')
    [ "$got" = "$want " ] || fail "$* printed '$got', not '$want'"
}
sleepers() { ps ax | grep -c '[0-9] sleep 77[7]'; }
# told SIGNAL STATUS: sent to mpiexec alone while ranks sleep on all hosts
told() {
    rc=0
    $m -n 3 sleep 777 >/dev/null 2>"$dir/err" </dev/null &
    for _ in $(seq 300); do [ "$(sleepers)" -ge 3 ] && break; sleep 0.1; done
    [ "$(sleepers)" -ge 3 ] || fail "no ranks to signal"
    pid=$(pgrep -f "^$build/mpiexec" | head -1) # its agents are younger
    kill -$1 $pid
    wait $! || rc=$?
    [ "$1" = KILL ] || [ $rc = "$2" ] || fail "after SIG$1 status $rc, not $2"
    for _ in $(seq 100); do [ "$(sleepers)" = 0 ] && return; sleep 0.1; done
    fail "ranks live on after SIG$1"
}

prterun=$(command -v prterun >/dev/null && echo prterun || :) # prrte.sh
for engine in own hydra mpirun srun $prterun; do
    m="$build/mpiexec --engine $engine -host n1,n2,n3"
    killed=137 # Hydra's own status for a rank that a signal killed is another
    case $engine in
    srun) m="salloc -Q -N 3 $build/mpiexec" says="this is an allocation of Slurm: srun (Slurm " ;;
    hydra) says="n1 is another machine: mpiexec.hydra (Hydra " killed=255 ;;
    mpirun) says="n1 is another machine: mpirun.openmpi (Open MPI " ;;
    prterun) says="n1 is another machine: prterun (PRRTE " ;;
    esac
    ends 0 -n 3 true
    if [ $engine = own ]; then [ ! -s "$dir/err" ] || fail "says too much"; else
    grep -q "^mpiexec: $says[0-9.]*) starts 3 ranks\$" "$dir/err" || fail "who starts it"
    [ "$(grep -c '^mpiexec:' "$dir/err")" = 1 ] || fail "says too much"
    fi
    others="exec sleep 777"
    [ $engine != own ] || others="exit 0" # as on one host: they do not depend on it
    [ $engine != hydra ] || others="exit 0" # there only a signal, or the end of a rank that was in MPI, ends the others
    ends 7 -n 3 sh -c "[ \$(hostname) = n2 ] && exit 7; $others"
    ends $killed -n 3 sh -c '[ $(hostname) = n2 ] && kill -9 $$; exec sleep 777'
    ends 124 -n 3 --timeout 1 sleep 777
    grep -q '^mpiexec: the job \(has run for\|ran longer than --timeout\) 1 s' "$dir/err" || fail "the time limit"
    same "n1:1:/usr n2:1:/usr n3:1:/usr" -n 3 -x A=1 -wdir /usr sh -c 'echo $(hostname):$A:$(pwd)'
    same "a b:it's/n1 a b:it's/n2 two:/n3" -n 2 -env A "a b" -genv B "it's" sh -c 'echo "$A:$B/$(hostname)"' : -n 1 -x B= sh -c 'echo "two:$A$B/$(hostname)"'
    printf 'a\nb\n' >"$dir/in"
    same "n1 a n1 b" -n 3 sh -c '[ $(hostname) = n1 ] || exit 0; sed "s/^/n1 /"' <"$dir/in"
    if [ $engine = hydra ]; then
        ends 2 -n 3 -stdin all true
    else
        same "n2 a n2 b" -n 3 -stdin 1 sh -c 'sed "s/^/$(hostname) /"' <"$dir/in"
        same "n1 a n1 b n2 a n2 b n3 a n3 b" -n 3 -stdin all sh -c 'sed "s/^/$(hostname) /"' <"$dir/in"
    fi
    for s in "TERM 143" "INT 130" "KILL 137"; do told $s; done
    echo "$engine: as on one machine"
done
engine=none m="$build/mpiexec"
ends 2 -gdb -host n1 true
m="env PATH=/nowhere $build/mpiexec"
ends 127 --engine prterun -host n1 true
grep -q 'or on all hosts PRRTE' "$dir/err" || fail "no word on what to install"
m="$build/mpiexec"
same "front front" --engine none -host n1 -n 2 hostname
