#!/bin/sh
# Which interface and which network card a job takes, in a network namespace that has a bridge, a tunnel, one that is down, and two that
# are fit: godwit-info --network, GODWIT_EXPLAIN=wire, policies and verbose lines, lists, and sentences when none is left.
# run.py: timeout=120 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$(cd "$1" && pwd)
if [ "${2:-}" != inside ]; then
    [ -e /usr/lib/x86_64-linux-gnu/libfabric.so.1 ] || ldconfig -p | grep -q libfabric.so.1 || { echo "skipped: no libfabric here"; exit 77; }
    unshare -rn ip link add probe type veth peer name probe2 2>/dev/null || { echo "skipped: may not make network namespaces"; exit 77; }
    exec unshare -rn sh "$0" "$build" inside
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
out=$dir/out
fail() { echo "interfaces: $*"; cat "$out"; exit 1; }
says() { grep -qF -- "$1" "$out" || fail "no '$1' in"; }
count() { [ "$(grep -cF -- "$2" "$out")" = "$1" ] || fail "not $1 times '$2' in"; }
add() { ip link add "$1" type veth peer name "$1p"; ip addr add "$2" dev "$1"; ip link set "$1" up; ip link set "$1p" up; }
network() { "$build/godwit-info" --network >"$out" 2>&1 || fail "godwit-info --network failed"; }
run() { # ranks [VARIABLE=VALUE...]
    n=$1
    shift
    env GODWIT_WIRES=ofi "$@" timeout 60 "$build/mpiexec" -n "$n" "$build/mpi_hello" >"$out" 2>&1
}

ip link set lo up
add eth1 10.81.0.1/24
add eth2 10.82.0.1/24
add eth3 10.83.0.1/24
ip link set eth3 down
ip link add docker0 type bridge 2>/dev/null && ip addr add 172.17.0.1/16 dev docker0 && ip link set docker0 up
ip tuntap add tun0 mode tun 2>/dev/null && ip addr add 10.84.0.1/24 dev tun0 && ip link set tun0 up

network
says "eth1 10.81.0.1"
says "refused: lo reaches only this machine"
says "refused: eth3 is down"
! ip link show docker0 >/dev/null 2>&1 || grep -qE "refused: docker0 (is a bridge|has no carrier)" "$out" || fail "no word of the bridge"
! ip link show tun0 >/dev/null 2>&1 || grep -qE "refused: tun0 (is a tunnel|has no carrier)" "$out" || fail "no word of the tunnel"
grep -qE "chosen .* on eth1, 10.81.0.1" "$out" || fail "eth1 was not chosen"
says "ofi_tag"
GODWIT_NET_IFACE=10.82.0.0/16 network
grep -qE "chosen .* on eth2, 10.82.0.1" "$out" || fail "the network that was named was not taken"
says "refused: eth1 is not in GODWIT_NET_IFACE"
! GODWIT_NET_IFACE=eth3 "$build/godwit-info" --network >"$out" 2>&1 || fail "an interface that is down was taken"
says "eth1 is not in GODWIT_NET_IFACE=eth3"
says ". Bring another interface up, or name one in GODWIT_NET_IFACE"
! OMPI_MCA_mtl_ofi_provider_include=psm9 "$build/godwit-info" --network >"$out" 2>&1 || fail "a provider that is not there was taken"
says "not in OMPI_MCA_mtl_ofi_provider_include=psm9"
GODWIT_OFI_PROVIDER=net,tcp network # that libfabric is asked at all
best=$(sed -n 's/^ *chosen \([^ ]*\) on eth1.*/\1/p' "$out")
[ -n "$best" ] || fail "nothing was chosen"
OMPI_MCA_mtl_ofi_provider_exclude=$best network
! grep -qF "chosen $best on" "$out" || fail "a provider that is excluded was taken"
says "excluded by OMPI_MCA_mtl_ofi_provider_exclude=$best"

# Ranks of one host need none of them, and nobody on them shall reach the ranks.
run 3 GODWIT_EXPLAIN=wire || fail "no job on the loopback"
says "wire: NIC 0 (lo): 3 ranks"
for provider in net tcp sockets; do
    for mode in "--vnodes 2" "--vnodes 8"; do
        GODWIT_OFI_PROVIDER=$provider timeout 60 "$build/mpiexec" $mode -n 4 "$build/mpi_listens" some >"$out" 2>&1 || fail "$mode by $provider:"
    done
done
# TCP of our own takes the loopback as well, unless an interface is chosen.
for words in 127.0.0.1 "10.82.0.1 -iface eth2" "10.82.0.1 -iface 10.82.0.0/16" "127.0.0.1 -iface ^eth2,^eth1"; do
    GODWIT_WIRES=tcp GODWIT_EXPLAIN=wire timeout 60 "$build/mpiexec" $(echo "$words" | cut -s -d' ' -f2-) --vnodes 2 -n 2 "$build/mpi_hello" >"$out" 2>&1 || fail "TCP: $words"
    count 2 "network by TCP of our own, address ${words%% *}:"
done
run 3 GODWIT_NET_IFACE=eth1 GODWIT_EXPLAIN=wire || fail "no job on eth1"
count 1 "wire: chosen"
says "wire: NIC 0 (eth1): 3 ranks"
count 0 selected
run 4 MPICH_OFI_NUM_NICS=2 MPICH_OFI_NIC_POLICY=ROUND-ROBIN MPICH_OFI_NIC_VERBOSE=2 || fail "no job on two NICs"
host=$(hostname)
says "PE 0: Host $host NIC 1 of 2: index=0, domain_name=eth1, numa_node=-1, address=[10.81.0.1]"
says "PE 0: Host $host NIC 2 of 2: index=1, domain_name=eth2, numa_node=-1, address=[10.82.0.1]"
for pe in 0 2; do says "PE $pe: Host $host selected NIC index=0, domain_name=eth1, numa_node=-1, address=[10.81.0.1]"; done
for pe in 1 3; do says "PE $pe: Host $host selected NIC index=1, domain_name=eth2, numa_node=-1, address=[10.82.0.1]"; done
count 4 selected
# Cards whose place is not known are equally far from all: by distance is by turns, by blocks is not.
for policy in NUMA BLOCK; do
    run 4 MPICH_OFI_NUM_NICS=2 MPICH_OFI_NIC_POLICY=$policy MPICH_OFI_NIC_VERBOSE=2 || fail "no job on two NICs by $policy"
    [ $policy = NUMA ] && second=2 || second=1
    for pe in 0 $second; do says "PE $pe: Host $host selected NIC index=0"; done
    for pe in $((3 - second)) 3; do says "PE $pe: Host $host selected NIC index=1"; done
done
asymmetric() { # [VARIABLE=VALUE...]
    env GODWIT_WIRES=ofi "$@" timeout 60 "$build/mpiexec" -n 1 env GODWIT_NIC_COUNT=1 "$build/mpi_p2p_modes" : \
        -n 3 env GODWIT_NIC_COUNT=2 "$build/mpi_p2p_modes" >"$out" 2>&1
}
asymmetric || fail "no job with different numbers of NICs"
grep -qE "$host has 1 NIC and the host of rank [1-3] has 2: set GODWIT_NIC_COUNT=1 " "$out" || fail "no word of different numbers of NICs"
count 1 "and the host of rank" # though it meets three of them
asymmetric MPICH_OFI_SKIP_NIC_SYMMETRY_TEST=1 || fail "no job with different numbers of NICs"
count 0 "the host of rank"
run 4 GODWIT_NIC_COUNT=2:1,0 GODWIT_NIC_POLICY=user "GODWIT_NIC_MAPPING=1:0-2;0:3" GODWIT_NIC_VERBOSE=1 GODWIT_EXPLAIN=wire || fail "no job by a map"
count 2 " of 2: index="
count 0 selected
says "NIC 0 (eth2): 1 rank, NIC 1 (eth1): 3 ranks"
grep -Eqx 'PE 0: Host [^ ]*: NIC 0 \(eth2\) serves ranks 3; NIC 1 \(eth1\) serves ranks 0-2' "$out" || fail "cards and their ranks at level 1"
for of in 0:81 1:81 2:81 3:82; do # and that card is the one through which it is reached
    grep -qE "^godwit\[${of%:*}\] wire: lane 0: network .* address [a-z_0-9]*://10\.${of#*:}\.0\.1:" "$out" || fail "rank ${of%:*} has another card"
done
# Counters of two cards, of which one has timeouts: the report has that one at level 3, both at level 4.
spt=$dir/run/cxi/eth1/spt_timeouts paused=$dir/sys/class/cxi/eth2/device/telemetry/hni_rx_paused_0
mkdir -p "${spt%/*}" "${paused%/*}"
for level in 3 4; do
    echo 5 >"$spt"
    echo 100 >"$paused"
    env GODWIT_WIRES=ofi GODWIT_NIC_COUNT=2 MPICH_OFI_CXI_COUNTER_REPORT=$level GODWIT_NIC_COUNTER_ROOT="$dir" timeout 60 "$build/mpiexec" -n 2 \
        "$build/mpi_nic_counters" "$spt" 6 "$paused" 160 >"$out" 2>&1 || fail "no job with counters at level $level"
    grep -qE "^$host eth1   rh:spt_timeouts +1 " "$out" || fail "level $level without the card that had timeouts"
    [ "$(grep -cE "^$host eth2   hni_rx_paused_0 +60 " "$out")" = $((level - 3)) ] || fail "level $level: the card without timeouts"
done
! run 2 GODWIT_NIC_COUNT=7 || fail "more NICs than there are"
says "this node has 2 NICs that can be used"
! run 2 GODWIT_NIC_COUNT=2 GODWIT_NIC_POLICY=user GODWIT_NIC_MAPPING=0:0 || fail "a rank without NIC"
says "gives rank 1 of the node no NIC"
run 2 MPICH_OFI_NIC_POLICY=FASTEST || fail "an unknown policy ends a job"
says "is not a word of block,round-robin,numa,gpu,user"
run 2 MPICH_OFI_DEFAULT_TCLASS=TC_BULK_DATA || fail "a class that is not there ends a job"
count 1 "does not offer the traffic class TC_BULK_DATA"
! run 2 MPICH_OFI_DEFAULT_TCLASS=TC_BULK_DATA MPICH_OFI_TCLASS_ERRORS=ERROR || fail "a class that is not there was no error"
run 2 MPICH_OFI_DEFAULT_TCLASS=TC_BULK MPICH_OFI_TCLASS_ERRORS=SILENT || fail "a wrong class ends a job"
count 0 "traffic class"

# Nothing but the loopback: a job of one machine runs all the same.
ip link del eth1
ip link del eth2
ip link del eth3
run 2 || fail "the loopback alone was not enough for one machine"
