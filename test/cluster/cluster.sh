#!/bin/sh
# The cluster itself: hosts have names, networks, shared memory and processes of their own; delay, loss, a flapping and a pulled
# cable do what they say; exit statuses come through; nothing stays when it is killed; a user whose machine refuses is told why.
# run.py: timeout=120 tags=cluster
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cluster=$here/cluster
fail() { echo "cluster: $*"; exit 1; }
status() { rc=0; "$@" >/dev/null 2>&1 || rc=$?; echo $rc; }
out=$("$cluster" --each hostname) || { rc=$?; echo "$out"; exit $rc; }
[ "$(echo "$out" | sort | tr '\n' ' ')" = "n1 n2 n3 " ] || fail "three hosts said: $out"
[ "$("$cluster" --hosts 4 sh -c 'hostname; echo $CLUSTER_HOSTS')" = "front
n1 n2 n3 n4" ] || fail "the front end"

# Own memory, processes, abstract sockets and loopback; files are shared; signals and exit statuses pass.
"$cluster" --hosts 2 sh -c '
    set -e
    on n1 touch /dev/shm/mine
    [ ! "$(on n2 ls /dev/shm)" ] || { echo "n2 sees the shared memory of n1"; exit 1; }
    [ "$(on n1 ls /dev/shm)" = mine ] || { echo "n1 lost its shared memory"; exit 1; }
    on n1 sleep 1000 & sleep 0.1
    on n2 ps ax | grep -q "[s]leep 1000" && { echo "n2 sees a process of n1"; exit 1; }
    kill -TERM $!
    rc=0; wait $! || rc=$?
    [ $rc = 143 ] || { echo "SIGTERM became $rc"; exit 1; }
    on n1 ps ax | grep -q "[s]leep 1000" && { echo "the signal was not passed on"; exit 1; }
    [ "$(cd /usr && on n1 pwd)" = /usr ] || { echo "another folder"; exit 1; }
    [ "$(SECRET=1 rsh -x n2 "echo \${SECRET-none} \$(hostname)")" = "none n2" ] || { echo "rsh is no remote shell"; exit 1; }
    rc=0; rsh n1 exit 9 || rc=$?
    [ $rc = 9 ] || { echo "rsh: $rc"; exit 1; }
    rc=0; said=$(echo word | on n1 rsh n2 "cat; hostname >&2; exit 9" 2>&1) || rc=$?
    [ "$rc $(echo $said)" = "9 word n2" ] || { echo "rsh from host to host: $rc $said"; exit 1; }' || fail "separation"
[ "$(status "$cluster" --hosts 2 --on n2 sh -c 'exit 7')" = 7 ] || fail "exit status"
[ "$(status "$cluster" --hosts 2 --on n2 sh -c 'kill -9 $$')" = 137 ] || fail "status of a killed command"

listens=$(mktemp)
trap 'rm -f "$listens"' EXIT
# talk OPTIONS... -- COUNT PAUSE [BEFORE]: answers and best milliseconds over 2 hosts
talk() {
    options=
    while [ "$1" != -- ]; do options="$options $1"; shift; done
    rm -f "$listens"
    "$cluster" --hosts 2 $options sh -c "on n2 python3 $here/talk.py serve 7000 $listens & until [ -e $listens ]; do sleep 0.1; done; ${4-}
        on n1 python3 $here/talk.py ask n2 7000 $2 $3"
}
set -- $(talk -- 20 50)
[ "$1" = 20 ] || fail "$1 of 20 messages came through a clean network"
set -- $(talk --delay 8 -- 10 100)
[ "$1" = 10 ] && [ "${2%.*}" -ge 16 ] || fail "8 ms each way: $1 of 10, $2 ms"
set -- $(talk --loss 50 -- 100 20)
[ "$1" -ge 5 ] && [ "$1" -le 60 ] || fail "half lost each way, and $1 of 100 answers came"
set -- $(talk -- 5 20 "cable n2 pull;")
[ "$1" = 0 ] || fail "$1 answers through a pulled cable"
set -- $(talk -- 20 50 "cable n2 pull; cable n2 plug;")
[ "$1" -ge 15 ] || fail "$1 of 20 answers after the cable was put back"
set -- $(talk --flap n2:150:150 -- 200 20) # some wait in the kernel until the cable is in again
[ "$1" -ge 17 ] && [ "$1" -le 183 ] || fail "a flapping cable, and $1 of 200 answers came"

# Killed, and nothing of it lives on.
mark=cluster-test-$$
for s in KILL TERM; do
    "$cluster" --hosts 2 --each python3 -c 'import time; time.sleep(1000)' $mark &
    for _ in $(seq 100); do [ "$(pgrep -fc "time.sleep.*$mark")" -ge 3 ] && break; sleep 0.1; done
    kill -$s $!
    wait $! || :
    for _ in $(seq 100); do pgrep -f "$mark" >/dev/null || break; sleep 0.1; done
    ! pgrep -f "$mark" || fail "these live on after SIG$s"
done
[ ! -e /run/netns ] || [ ! "$(ls /run/netns | grep '^n[1-4]$')" ] || fail "named namespaces are left"

# Refused: one line, and 77.
if [ "$(id -u)" = 0 ]; then
    [ "$(status setpriv --bounding-set -all --inh-caps -all "$cluster" true)" = 77 ] || fail "no capabilities, and no 77"
    [ "$(setpriv --bounding-set -all --inh-caps -all "$cluster" true 2>&1 | grep -c 'skipped: this machine does not let us')" = 1 ] || fail "the reason"
fi
echo "cluster: all as it says"
