#!/bin/sh
# The report of the network cards' counters at MPI_Finalize: timeouts that happen while a job runs, on cards that are files.
# run.py: timeout=120 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$(cd "$1" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
out=$dir/out
nic=$("$build/godwit-info" --network 2>/dev/null | sed -n 's/.*index=0, domain_name=\([^,]*\),.*/\1/p') || true
[ -n "$nic" ] || { echo "skipped: no network to use here"; exit 77; }
export GODWIT_NET_IFACE="$nic" # else ranks of one host take the loopback
fail() { echo "nic_counters: $*"; cat "$out"; exit 1; }
spt=$dir/run/cxi/$nic/spt_timeouts paused=$dir/sys/class/cxi/$nic/device/telemetry/hni_rx_paused_0
mkdir -p "${spt%/*}" "${paused%/*}"
line="MPICH Slingshot Network Summary: 3 network timeouts"
# run LEVEL TIMEOUTS [ARGUMENT of mpiexec...]: from 5 timeouts to 5 + TIMEOUTS, from 100 pauses to 160
run() {
    level=$1 to=$((5 + $2))
    shift 2
    echo 5 >"$spt"
    echo 100@1700000000.1 >"$paused"
    GODWIT_WIRES=${wires:-ofi} MPICH_OFI_CXI_COUNTER_REPORT=$level GODWIT_NIC_COUNTER_ROOT=$dir timeout 60 "$build/mpiexec" "$@" \
        "$build/mpi_nic_counters" "$spt" $to "$paused" 160@1700000009.1 >"$out" 2>&1 || fail "level $level: the job failed"
}
run 1 0 -n 3
[ ! -s "$out" ] || fail "level 1 without timeouts printed"
run 1 3 -n 3
[ "$(cat "$out")" = "$line" ] || fail "level 1 with 3 timeouts printed"
run 0 3 -n 2
[ ! -s "$out" ] || fail "level 0 printed"
wires=shm,ofi
run 1 3 -n 5 --vnodes 2 # both nodes read the same card
[ "$(cat "$out")" = "MPICH Slingshot Network Summary: 6 network timeouts" ] || fail "two nodes with 3 timeouts each printed"
run 1 3 -n 2 # no other node: no card is used
if grep -v "^godwit.*: warning: GODWIT_NET_IFACE=$nic is of no effect: all ranks are on one node" "$out"; then fail "a job that uses no card printed"; fi
wires=ofi
run 2 3 -n 2
grep -qx "$line" "$out" && grep -q "^MPICH Slingshot CXI Counter Summary:" "$out" || fail "level 2 printed"
grep -qE "^hni_rx_paused_0 +1 +60 " "$out" || fail "level 2 without the pauses"
! grep -q "^$(hostname) " "$out" || fail "level 2 with cards"
run 3 0 -n 2
! grep -q "^$(hostname) " "$out" || fail "level 3 shows cards without timeouts"
grep -qE "^hni_rx_paused_0 " "$out" || fail "level 3 without its table"
run 3 1 -n 2
grep -qE "^$(hostname) $nic   rh:spt_timeouts +1 " "$out" || fail "level 3 without the card that had timeouts"
run 4 0 -n 2
! grep -q "^$(hostname) " "$out" || fail "level 4 shows cards though none had timeouts"
run 4 1 -n 2
grep -qE "^$(hostname) $nic   rh:spt_timeouts +1 " "$out" || fail "level 4 without the card that had timeouts"
run 5 0 -n 2
grep -qE "^$(hostname) $nic   hni_rx_paused_0 +60 " "$out" || fail "level 5 without cards"
printf '# mine\nhni_rx_paused_0\n' >"$dir/names"
export MPICH_OFI_CXI_COUNTER_FILE="$dir/names" MPICH_OFI_CXI_COUNTER_REPORT_FILE="$dir/cards"
run 5 3 -n 2
! grep -q "^$(hostname) " "$out" || fail "cards are printed though a file is wanted"
grep -qE "^$(hostname) $nic   hni_rx_paused_0 +60 " "$dir/cards.$(hostname)" || fail "no card in the file"
# Those that are named are told, and of the usual ones none that are not: only those of timeouts and ratios are added.
rm "$dir/cards.$(hostname)"
echo tx_carrier_changes >"$dir/names"
run 5 3 -n 2
! grep -q hni_rx_paused_0 "$out" "$dir/cards.$(hostname)" || fail "a counter that is not among those of the user's file"
grep -q "spt_timeouts" "$out" || fail "no timeouts where the user names counters"
printf 'rh:made_up\n' >"$dir/names"
echo 7 >"${spt%/*}/made_up"
run 5 0 -n 2
! grep -q made_up "$out" || fail "a counter that has not moved is told"
export MPICH_OFI_CXI_COUNTER_FILE="$dir/none"
run 1 0 -n 1
grep -q "MPICH_OFI_CXI_COUNTER_FILE=$dir/none cannot be read" "$out" || fail "no word of a file that is not there"
