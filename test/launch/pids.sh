#!/bin/sh
# Only pids that are still ours are signalled: mpiexec signals no process that it has reaped, and its keeper none that got a rank's pid afterwards.
# run.py: timeout=120 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$(cd "$1" && pwd)
fail() { echo "pids: $*"; exit 1; }

# In a pid namespace of our own, where numbers can be given out: a rank's goes to somebody else while the keeper sleeps.
if [ "${2:-}" = inside ]; then
    "$build/mpiexec" -n 1 sleep 7332 &
    for _ in $(seq 200); do rank=$(pgrep -x sleep) && keeper=$(pgrep -f mpiexec-keeper || pgrep -x mpiexec-keeper) && break; sleep 0.05; done
    [ "${keeper:-}" ] || fail "no rank or no keeper: $(ps ax)"
    sleep 0.05 # a process is told from another of its number by when it began, in hundredths of a second
    kill -STOP "$keeper"
    kill -KILL $!
    wait $! || :
    for _ in $(seq 200); do [ -e /proc/"$rank" ] || break; sleep 0.05; done
    [ ! -e /proc/"$rank" ] || fail "the rank outlives mpiexec"
    echo $((rank - 1)) >/proc/sys/kernel/ns_last_pid
    setsid sleep 7333 &
    stranger=$!
    [ "$stranger" = "$rank" ] || { echo "skipped: the number was not given out again"; exit 77; }
    for _ in $(seq 200); do [ "$(ps -o pgid= -p "$stranger" | tr -d ' ')" = "$stranger" ] && break; sleep 0.05; done
    kill -CONT "$keeper"
    for _ in $(seq 200); do [ -e /proc/"$keeper" ] && ! grep -q '^State:.Z' /proc/"$keeper"/status || break; sleep 0.05; done
    sleep 0.2
    kill -0 "$stranger" 2>/dev/null && ! grep -q '^State:.Z' /proc/"$stranger"/status || fail "the keeper has killed a stranger with the number of a rank"
    kill "$stranger"
    exit 0
fi

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# Each pid that mpiexec reaped, and each that it signalled, in order.
command -v strace >/dev/null || { echo "skipped: no strace here"; exit 77; }
traced() { # STATUS ARGUMENTS of mpiexec...
    want=$1 rc=0
    shift
    timeout 60 strace -qq -o "$dir/log" -e trace=wait4,waitid,kill -e signal=none "$build/mpiexec" "$@" >"$dir/out" 2>&1 || rc=$?
    [ $rc = "$want" ] || fail "$*: status $rc: $(cat "$dir/out")"
    sed -n -e 's/^wait4(.*) *= \([0-9][0-9]*\)$/reaped \1/p' -e '/WNOWAIT/!s/^waitid(P_PID, \([0-9][0-9]*\),.*) *= 0$/reaped \1/p' \
        -e 's/^kill(-*\([0-9][0-9]*\),.*/killed \1/p' "$dir/log" >"$dir/order"
    grep -q reaped "$dir/order" || fail "$*: nobody was reaped: $(cat "$dir/log")"
    awk '$1 == "reaped" { gone[$2] = 1 } $1 == "killed" && gone[$2] { print $2; exit 1 }' "$dir/order" >"$dir/late" ||
        fail "$*: signalled $(cat "$dir/late") after it was reaped: $(cat "$dir/log")"
}
traced 3 -n 3 sh -c 'exit 3'
traced 137 -n 3 sh -c 'sleep 7334 & [ "$GODWIT_RANK" != 1 ] || { sleep 0.2; kill -9 $$; }; wait'
grep -q killed "$dir/order" || fail "nobody was killed"
traced 124 --timeout 0.3 -n 2 sleep 7335
grep -q killed "$dir/order" || fail "nobody was killed"

# Whoever starts mpiexec may ignore SIGCHLD.
timeout 60 env --ignore-signal=CHLD "$build/mpiexec" -n 2 true || fail "where SIGCHLD is ignored: status $?"

unshare -rpf --mount-proc sh -c 'echo 300 >/proc/sys/kernel/ns_last_pid' 2>/dev/null || { echo "skipped: may not give out numbers of processes here"; exit 77; }
timeout 100 unshare -rpf --mount-proc sh "$0" "$build" inside
