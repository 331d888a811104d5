#!/bin/sh
# Another user of the machine gets nothing: no program started by a root mpiexec.
# users.md: nothing there; doc/adr/0019
# run.py: timeout=200 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
[ "$(id -u)" = 0 ] || { echo "only root can act as two users"; exit 77; }
dir=$(mktemp -d)
pids=
end() {
    for p in $pids; do kill "$p" 2> /dev/null || true; done
    rm -rf "$dir"
}
trap end EXIT
fail() {
    for f in "$dir"/out*; do [ ! -f "$f" ] || head -n 12 "$f" | cut -c1-400; done
    echo "$1"
    exit 1
}
chmod 711 "$dir"
mkdir -m 777 "$dir/open"
cc -O1 -Wall -o "$dir/strangers" "$(dirname "$0")/strangers.c"
other() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
other true || { echo "no other user can be taken here"; exit 77; }
# Another user, who is root in a user namespace of his own.
root_there() { other unshare -U -r "$@"; }
# wait_for COMMAND...: until it succeeds, 20 s at most
wait_for() {
    for _ in $(seq 200); do
        if "$@" > /dev/null 2>&1; then return 0; fi
        sleep 0.1
    done
    return 1
}

# ---- the control port of mpiexec
timeout 60 "$build/mpiexec" -n 1 sleep 50 > "$dir/out.job" 2>&1 &
pids="$pids $!"
job=$!
launcher() { pgrep -P "$job" -x mpiexec > "$dir/launcher"; }
wait_for launcher || fail "mpiexec did not start"
control() { "$dir/strangers" sockets "$(cat "$dir/launcher")" > "$dir/control" && grep -q '^godwit-' "$dir/control"; }
wait_for control || fail "mpiexec has no control port"
port=$(grep -m 1 '^godwit-' "$dir/control")
other grep -q "@$port" /proc/net/unix || fail "another user does not see the port: what is tried here would prove nothing"
i=0
for who in other root_there; do
    i=$((i + 1))
    $who true 2> /dev/null || continue
    if $who timeout 20 "$dir/strangers" ask "$port" "$dir/open/$i" 2> "$dir/out"; then fail "mpiexec answered a stranger ($who)"; fi
    sleep 0.3
    [ ! -e "$dir/open/$i" ] || fail "a stranger ($who) had a program started as user $(cat "$dir/open/$i")"
done
kill -0 "$job" 2> /dev/null || fail "the job is gone"
