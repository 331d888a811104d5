#!/bin/sh
# Strangers at the ports of a job on several nodes that goes by TCP sockets of its own (GODWIT_WIRES=shm,tcp): processes of the same user
# without the key and, where this is root, of another user.  What they say is dropped and counted, silent ones hold no more than sixteen
# descriptors for three seconds, the data of the job are right, and it ends well (doc/adr/0022).
# run.py: timeout=300
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
job=
end() {
    [ -z "$job" ] || kill "$job" 2> /dev/null || true
    rm -rf "$dir"
}
trap end EXIT
fail() {
    grep -v '^process' "$dir/out" | head -n 12 | cut -c1-400
    echo "tcp_strangers: $*"
    exit 1
}
cp "$here/tcp_strangers.py" "$dir/stranger.py" # where other users may read it
chmod 755 "$dir"
chmod 644 "$dir/stranger.py"

begin() { # LIMIT: of open files; three ranks on two nodes
    rm -f "$dir/stop"
    : > "$dir/out" # of the job before; what follows may begin later than the loop
    (
        ulimit -n "$1"
        GODWIT_WIRES=shm,tcp exec timeout 600 "$build/mpiexec" -n 3 --vnodes 2 "$build/mpi_net_dropped" "$dir/stop"
    ) > "$dir/out" 2>&1 &
    job=$!
    for _ in $(seq 600); do
        if [ "$(grep -c '^process' "$dir/out")" = 3 ]; then break; fi
        kill -0 "$job" 2> /dev/null || fail "the job ended by itself"
        sleep 0.1
    done
    pids=$(sed -n 's/^process //p' "$dir/out")
    [ "$(echo "$pids" | wc -l)" = 3 ] || fail "the job does not start"
}
sockets() { for pid in $pids; do python3 "$dir/stranger.py" sockets "$pid"; done; }
stranger() { # WAY SECONDS: to each of the ranks
    others=
    for pid in $pids; do
        at=$(python3 "$dir/stranger.py" where "$pid") || fail "$1: no port of process $pid"
        case $at in 127.0.0.1*) ;; *) fail "faked nodes listen at $at" ;; esac
        # shellcheck disable=SC2086
        timeout 100 $as $python "$dir/stranger.py" "$1" $at "$2" > "$dir/went.$1.$pid" 2>&1 &
        others="$others $!"
    done
}
gone() { for p in $others; do wait "$p" || fail "$1: the stranger failed: $(cat "$dir/went.$1".*)"; done; }
went() { cat "$dir"/went.* | awk '{n += $1} END {print n}'; }
finish() { # WORDS: the job ends well; the number dropped is in $dropped
    kill -0 "$job" 2> /dev/null || fail "$1: the job is gone"
    touch "$dir/stop"
    wait "$job" || fail "$1: the job failed"
    job=
    dropped=$(sed -n 's/^dropped //p' "$dir/out")
    said=$(grep -c 'that no rank of this job sent' "$dir/out" || true)
    sent=$(went)
    rm -f "$dir"/went.*
    [ "$sent" -gt 0 ] || fail "$1: nothing went"
    [ "$dropped" = "$sent" ] || fail "$1: $sent connections of strangers, $dropped were dropped"
    if [ "$said" -lt 1 ] || [ "$said" -gt 3 ]; then fail "$1: $dropped dropped, said $said times"; fi
}

users=me
nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
if [ "$(id -u)" = 0 ] && $nobody /usr/bin/python3 -c 'import random; random.randbytes(1)' 2> /dev/null; then users="me another"; fi
for user in $users; do
    as=
    python=python3
    if [ $user = another ]; then as=$nobody python=/usr/bin/python3; fi
    begin 4096
    for way in garbage key half flood; do
        stranger $way 1
        gone $way
    done
    finish "$user: garbage, key, half, flood"
    begin 64 # fewer than the silent ones would take
    sockets > "$dir/before"
    stranger hold 2
    sleep 1.5
    sockets > "$dir/during"
    gone hold
    paste "$dir/before" "$dir/during" | awk '$2 > $1 + 16 {bad = 1} END {exit bad}' ||
        fail "$user: sockets rose by more than sixteen: $(paste "$dir/before" "$dir/during" | tr '\n\t' ';>')"
    finish "$user: hold"
done
echo "strangers: $users"
