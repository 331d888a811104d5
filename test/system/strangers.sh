#!/bin/sh
# Another user of the machine, and a process of ours that does not know the secret, get nothing: no program started by a root mpiexec,
# no port's secret, no name of a service taken or hidden, no connection kept waiting.
# doc/adr/0019
# run.py: timeout=200 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
[ "$(id -u)" = 0 ] || { echo "only root can act as two users"; exit 77; }
dir=$(mktemp -d)
pids=
end() {
    for p in $pids; do
        pkill -P "$p" 2> /dev/null || true
        kill "$p" 2> /dev/null || true
    done
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
# wait_for COMMAND...: until it succeeds, a minute at most
wait_for() {
    for _ in $(seq 600); do
        if "$@" > /dev/null 2>&1; then return 0; fi
        sleep 0.1
    done
    return 1
}

# ---- the control port of mpiexec
timeout 300 "$build/mpiexec" -n 1 sleep 250 > "$dir/out.job" 2>&1 &
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
if "$dir/strangers" ask "$port" "$dir/open/0" 2> "$dir/out" || [ -e "$dir/open/0" ]; then fail "mpiexec answered without the secret"; fi
# The queue is kept full by somebody else: ranks spawn nevertheless.
kill -0 "$job" 2> /dev/null || fail "the job is gone"
GODWIT_TEST_DIR=$dir timeout 200 "$build/mpiexec" -n 2 sh -c 'until [ -e "$GODWIT_TEST_DIR/go" ]; do sleep 0.1; done; exec "$@"' - \
    "$build/mpi_spawn_basic" > "$dir/out.spawn" 2>&1 &
spawner=$!
pids="$pids $spawner"
job=$spawner
rm "$dir/control"
wait_for launcher || fail "mpiexec did not start"
wait_for control || fail "mpiexec has no control port"
other "$dir/strangers" fill "$(grep -m 1 '^godwit-' "$dir/control")" > "$dir/full" 2>&1 &
filler=$!
pids="$pids $filler"
wait_for grep -q full "$dir/full" || fail "the control port cannot be filled"
touch "$dir/go"
wait "$spawner" || fail "spawning fails while a stranger fills the queue"
kill "$filler"

# ---- names and ports
ports="$build/mpi_stranger_ports"
one() { timeout 60 "$build/mpiexec" -n 1 "$ports" "$@"; }
service="strangers $$"
# publish FILE: in the background; its names in names.FILE
publish() {
    one name "$service" "$dir/$1" > "$dir/out.$1" 2>&1 &
    pids="$pids $!"
    publisher=$!
    wait_for test -s "$dir/$1" || fail "$1: the name cannot be published"
    for p in $(pgrep -x mpi_stranger_po); do "$dir/strangers" sockets "$p"; done | sort -u > "$dir/names.$1"
}
publish first
first=$(cat "$dir/first")
secret=${first##*:}
for word in "$secret" "$service" "$first"; do
    ! other grep -q -F "$word" /proc/net/unix || fail "everybody can read \"$word\" in /proc/net/unix"
done
grep '^godwit-name' "$dir/names.first" > "$dir/publication" || fail "no socket says where the publication is"
[ "$(one lookup "$service")" = "$first" ] || fail "the name is not found"
rm "$dir/first"
wait "$publisher" || fail "the publisher failed"
[ "$(one lookup "$service")" = none ] || fail "the name is still found"
# Another user takes all its names, and others that look like it.
other "$dir/strangers" listen $(cat "$dir/names.first") > "$dir/heard" 2> "$dir/out" &
pids="$pids $!"
wait_for grep -q listens "$dir/heard" || fail "no names taken"
! grep -q 'listens at 0' "$dir/heard" || fail "a stranger could take no name: what is tried here would prove nothing"
for who in other root_there; do
    $who true 2> /dev/null || continue
    $who "$dir/strangers" forge "$(head -n 1 "$dir/publication")" "$service" > "$dir/forged" 2>> "$dir/out" &
    forger=$!
    pids="$pids $forger"
    wait_for grep -q forged "$dir/forged" || fail "nothing forged ($who)"
    [ "$(one lookup "$service")" = none ] || fail "a stranger's publication is believed ($who)"
    publish second
    [ "$(one lookup "$service")" = "$(cat "$dir/second")" ] || fail "a stranger ($who) hides the name"
    rm "$dir/second"
    wait "$publisher" || fail "the publisher failed"
    kill "$forger"
done

# A port whose queue strangers fill is reached by ours all the same; one without the secret is not let in.
one serve "$service" "$dir/served" > "$dir/out.serve" 2>&1 &
server=$!
pids="$pids $server"
wait_for test -s "$dir/served" || fail "no port"
port=$(cat "$dir/served")
socket=$(echo "$port" | sed 's/^godwit:/godwit-/; s/:.*//')
other grep -q "@$socket" /proc/net/unix || fail "another user does not see the port"
for who in other root_there; do
    $who true 2> /dev/null || continue
    $who "$dir/strangers" fill "$socket" > "$dir/full" 2>&1 &
    filler=$!
    pids="$pids $filler"
    wait_for grep -q full "$dir/full" || fail "the queue cannot be filled"
done
"$dir/strangers" ask "$socket" "$dir/open/0" 2> "$dir/out" && fail "a port speaks with who does not know the secret"
one use "$port" > "$dir/out" 2>&1 || fail "no connection to a port whose queue strangers fill"
wait "$server" || fail "the server failed"

# A stranger takes the place of a port that is closed: he gets no secret, and connecting says so.
one late "$dir/closed" "$dir/go.late" > "$dir/out.late" 2>&1 &
late=$!
pids="$pids $late"
wait_for test -s "$dir/closed" || fail "no port"
other "$dir/strangers" listen "$(sed 's/^godwit:/godwit-/; s/:.*//' "$dir/closed")" > "$dir/heard" 2> "$dir/out" &
pids="$pids $!"
wait_for grep -q 'listens at 1' "$dir/heard" || fail "the name of a closed port cannot be taken"
touch "$dir/go.late"
wait "$late" || fail "a stranger under a port's name is not found out"
sleep 0.3
! grep -q 'said [1-9]' "$dir/heard" || fail "a stranger got the secret"
