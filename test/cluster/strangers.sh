#!/bin/sh
# A process on a host that has nothing to do with a job on two others reaches nothing behind the job's network ports: no connection
# comes about, so 100 of them raise no descriptors, and the frame that crashes libfabric 1.17 does not arrive (doc/adr/0020).  With
# providers net and tcp;ofi_rxm, opened late and early; without the filter he gets through, so that the test is one.  Over sockets of
# our own connections are told from each other by keys, not by hosts.  Who belongs to the job gets in: over IPv6, and from another
# network than the one that he asks over.
# run.py: timeout=300 tags=cluster
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
if [ ! "${CLUSTER-}" ]; then
    command -v mpiexec.hydra >/dev/null || { echo "skipped: no mpiexec.hydra here"; exit 77; }
    exec "$here/cluster" "$here/strangers.sh" "$build"
fi
dir=$(mktemp -d "$build/strangers.XXXXXX") # all hosts see it
trap 'rm -rf "$dir"' EXIT
fail() {
    cut -c1-300 "$dir/out" | head -n 8
    echo "strangers: $*"
    exit 1
}
cc -O1 -Wall -o "$dir/stranger" "$here/../system/net_strangers.c" -lfabric 2>"$dir/out" || { echo "skipped: no libfabric to compile with"; exit 77; }
on n1 "$build/godwit-info" --network >"$dir/network" 2>/dev/null || :

begin() { # NAME=VALUE...: three ranks; where they listen goes to $dir/at: HOST PID ADDRESS
    rm -f "$dir/stop"
    : >"$dir/out" # of the job before; what follows may begin later than the loop
    env "$@" timeout 600 mpiexec.hydra -hosts n1:2,n2:1 -n 3 "$build/mpi_net_dropped" "$dir/stop" >"$dir/out" 2>&1 </dev/null &
    job=$!
    for _ in $(seq 900); do
        [ "$(grep -c '^process' "$dir/out")" = 3 ] && break
        kill -0 $job 2>/dev/null || fail "$*: the job does not start"
        sleep 0.1
    done
    : >"$dir/at"
    for pid in $(sed -n 's/^process //p' "$dir/out" | sort -u); do
        for host in n1 n2; do
            at=$(on $host "$dir/stranger" where "$pid" 2>/dev/null) || continue
            grep -q " $at\$" "$dir/at" || echo "$host $pid $at" >>"$dir/at" # the number may be that of a thread of another rank
        done
    done
    [ "$(wc -l <"$dir/at")" = 3 ] || fail "$*: not three ranks that listen: $(cat "$dir/at")"
}
sockets() { while read -r host pid _; do on "$host" "$dir/stranger" count "$pid" </dev/null; done <"$dir/at"; }
rises() { # COMPARED NUMBER: of each rank; the job may lose or make a connection of its own meanwhile
    [ "$(wc -l <"$dir/before")" = 3 ] && paste "$dir/before" "$dir/during" |
        awk "!(\$2 - \$1 $1 $2) {bad = 1} END {exit bad}"
}
end() {
    touch "$dir/stop"
    wait $job || fail "$*: the job failed"
    grep -qx 'dropped 0' "$dir/out" || fail "$*: something came in"
}

# silent [LEAST]: at all ranks at once; how many of 100 connections each came about.  Sockets are counted at once, and the connections
# stay for four seconds; with LEAST, both until each rank has so many more: it accepts when it looks, and under load that is much later.
silent() {
    pids=
    rm -f "$dir/enough"
    way=hold seconds=4
    [ ! "${1-}" ] || { way=hold=$dir/enough; seconds=400; }
    while read -r _ _ at; do
        on n3 timeout 500 "$dir/stranger" - "$at" $seconds "$way" >"$dir/held.$at" </dev/null 2>&1 & pids="$pids $!"
    done <"$dir/at"
    for _ in $(seq 500); do [ "$(cat "$dir"/held.* | grep -c held)" = 3 ] && break; sleep 0.1; done
    sockets >"$dir/during"
    for _ in $(seq 300); do { [ ! "${1-}" ] || rises ">=" "$1"; } && break; sleep 0.2; sockets >"$dir/during"; done
    : >"$dir/enough"
    for p in $pids; do wait "$p" || fail "the stranger fails: $(cat "$dir"/held.*)"; done
    grep -h went "$dir"/held.*
    rm -f "$dir"/held.*
}
# A second network between n1 and n2.
ip link add v1 netns "$(cat /mnt/n1.pid)" type veth peer name v2 netns "$(cat /mnt/n2.pid)"
for i in 1 2; do on n$i ip addr add fd79::$i/64 dev v$i nodad && on n$i ip link set v$i up; done
belongs() { # WORDS COMMAND...
    said=$1
    shift
    timeout 150 "$@" >"$dir/out" 2>&1 </dev/null || fail "$said: status $?"
    [ ! -s "$dir/out" ] || fail "$said: something is said"
}

n=0
for provider in net "tcp;ofi_rxm"; do
    grep -qF "$provider on" "$dir/network" || continue
    n=$((n + 1))
    begin GODWIT_OFI_PROVIDER="$provider"
    sockets >"$dir/before"
    [ "$(silent | sort -u)" = "0 went" ] || fail "$provider: silent connections come about"
    rises "<" 10 || fail "$provider: sockets rose from $(echo $(cat "$dir/before")) to $(echo $(cat "$dir/during"))"
    while read -r _ _ at; do
        went=$(on n3 timeout 150 "$dir/stranger" "$provider" "$at" 1 ack </dev/null 2>&1) || fail "the stranger fails: $went"
        [ "$went" = "0 went" ] || fail "$provider: frames arrive: $went"
    done <"$dir/at"
    end "$provider"
    # A rank accepts when it looks; what a loaded machine keeps it from in one job, the next one shows.
    for _ in 1 2 3; do
        begin GODWIT_OFI_PROVIDER="$provider" GODWIT_NET_FILTER=off
        sockets >"$dir/before"
        [ "$(silent 90 | sort -u)" = "100 went" ] || fail "$provider: without the filter not all connections come about"
        end "$provider without the filter"
        if rises ">=" 90; then break; fi
    done
    rises ">=" 90 || fail "$provider: without the filter they cost nothing: from $(echo $(cat "$dir/before")) to $(echo $(cat "$dir/during"))"
    belongs "$provider, IPv6" env GODWIT_OFI_PROVIDER="$provider" GODWIT_NET_IFACE=v1,v2 mpiexec.hydra -hosts n1:2,n2:1 -n 3 "$build/mpi_net_dropped"
done
[ $n -gt 0 ] || { echo "skipped: neither provider net nor tcp;ofi_rxm here"; exit 77; }
for i in 1 2; do on n$i ip addr add 10.79.0.$i/24 dev v$i; done
for provider in net "tcp;ofi_rxm"; do
    grep -qF "$provider on" "$dir/network" || continue
    belongs "$provider, two networks" mpiexec.hydra -hosts n1,n2 -n 1 -env GODWIT_OFI_PROVIDER "$provider" -env GODWIT_NET_IFACE v1 "$build/mpi_net_dropped" : \
        -n 1 -env GODWIT_OFI_PROVIDER "$provider" -env GODWIT_NET_IFACE eth0 "$build/mpi_net_dropped"
done
begin GODWIT_WIRES=shm,ofi GODWIT_NET_OPEN=late
[ "$(silent | sort -u)" = "0 went" ] || fail "late: silent connections come about"
end late
begin GODWIT_WIRES=shm,ofi GODWIT_NET_OPEN=early # whose addresses are in the launcher's store: nobody asks
[ "$(silent | sort -u)" = "100 went" ] || fail "early: not all connections come about"
end early
begin GODWIT_WIRES=shm,ofi GODWIT_NET_OPEN=early GODWIT_NET_FILTER=on
[ "$(silent | sort -u)" = "0 went" ] || fail "early, with the filter: silent connections come about"
end "early, with the filter"

# Over TCP sockets of our own (system/tcp_strangers.sh has what comes in there): few silent connections stay.
belongs "own TCP, IPv6" env GODWIT_WIRES=shm,tcp GODWIT_NET_IFACE=v1,v2 mpiexec.hydra -hosts n1:2,n2:1 -n 3 "$build/mpi_net_dropped"
belongs "own TCP, two networks" mpiexec.hydra -hosts n1,n2 -n 1 -env GODWIT_WIRES shm,tcp -env GODWIT_NET_IFACE v1 "$build/mpi_net_dropped" : \
    -n 1 -env GODWIT_WIRES shm,tcp -env GODWIT_NET_IFACE eth0 "$build/mpi_net_dropped"
begin GODWIT_WIRES=shm,tcp
sockets >"$dir/before"
silent >"$dir/went"
rises "<" 20 || fail "own TCP: sockets rose from $(echo $(cat "$dir/before")) to $(echo $(cat "$dir/during"))"
touch "$dir/stop"
wait $job || fail "own TCP: the job failed"
echo "strangers: $n providers"
