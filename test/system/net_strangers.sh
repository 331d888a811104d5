#!/bin/sh
# Strangers who reach the ports of a job on several nodes: what they send is dropped and counted, the data of the job are right, and it
# ends well (doc/adr/0020).
# run.py: timeout=900
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
dir=$(mktemp -d)
job=
end() {
    [ -z "$job" ] || kill "$job" 2> /dev/null || true
    rm -rf "$dir"
}
trap end EXIT
fail() {
    grep -v '^process' "$dir/out" | head -n 12 | cut -c1-400
    echo "net_strangers: $*"
    exit 1
}
cc -O1 -Wall -o "$dir/net_strangers" "$(dirname "$0")/net_strangers.c" -lfabric 2> "$dir/out" || { echo "skipped: no libfabric to compile with"; exit 77; }
"$build/godwit-info" --network > "$dir/network" 2> /dev/null || :

begin() { # LIMIT: of open files; three ranks on two nodes
    rm -f "$dir/stop"
    : > "$dir/out" # of the job before; what follows may begin later than the loop
    (
        ulimit -n "$1"
        GODWIT_OFI_PROVIDER=$provider exec timeout 600 "$build/mpiexec" -n 3 --vnodes 2 "$build/mpi_net_dropped" "$dir/stop"
    ) > "$dir/out" 2>&1 &
    job=$!
    for _ in $(seq 600); do
        if [ "$(grep -c '^process' "$dir/out")" = 3 ]; then break; fi
        kill -0 "$job" 2> /dev/null || fail "$provider: the job ended by itself"
        sleep 0.1
    done
    pids=$(sed -n 's/^process //p' "$dir/out")
    [ "$(echo "$pids" | wc -l)" = 3 ] || fail "$provider: the job does not start"
}
stranger() { # WAY SECONDS: to each of the ranks
    others=
    for pid in $pids; do
        timeout 100 "$dir/net_strangers" "$provider" "$pid" "$2" "$1" > "$dir/went.$1.$pid" 2>&1 &
        others="$others $!"
    done
    for p in $others; do wait "$p" || fail "$provider, $1: the stranger failed: $(cat "$dir/went.$1".*)"; done
}
went() { cat "$dir/went.$1".* | awk '{n += $1} END {print n}'; }
finish() { # WORDS: the job ends well; the number dropped is in $dropped
    kill -0 "$job" 2> /dev/null || fail "$provider, $1: the job is gone"
    touch "$dir/stop"
    wait "$job" || fail "$provider, $1: the job failed"
    job=
    dropped=$(sed -n 's/^dropped //p' "$dir/out")
    [ -n "$dropped" ] || fail "$provider, $1: no number of what was dropped"
    said=$(grep -c 'that no rank of this job sent' "$dir/out" || true)
    if [ "$dropped" -gt 0 ]; then
        if [ "$said" -lt 1 ] || [ "$said" -gt 3 ]; then fail "$provider, $1: $dropped dropped, said $said times"; fi
    elif [ "$said" != 0 ]; then
        fail "$provider, $1: something was said of nothing"
    fi
    rm -f "$dir"/went.*
}

n=0
for provider in net "tcp;ofi_rxm"; do
    grep -qF "$provider on" "$dir/network" || continue
    n=$((n + 1))
    begin 4096
    stranger packets 2
    sent=$(went packets)
    finish packets
    [ "$sent" -gt 0 ] || fail "$provider: no packet went"
    [ "$dropped" -ge "$sent" ] || fail "$provider: $sent packets of strangers went, $dropped were dropped"
    begin 4096
    stranger large 2
    stranger vanish 2
    finish "large, vanish"
    [ "$dropped" -gt 0 ] || fail "$provider: packets that are too long were not counted"
    begin 4096
    for way in tagged memory garbage; do stranger $way 2; done
    finish "tagged, memory, garbage"
    begin 64 # more connections than a rank has descriptors for
    stranger stall 3
    stranger hold 1
    finish "stall, hold"
done
[ $n -gt 0 ] || { echo "skipped: neither provider net nor tcp;ofi_rxm here"; exit 77; }
echo "providers: $n"
