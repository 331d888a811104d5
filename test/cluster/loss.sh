#!/bin/sh
# A network that loses packets: between two hosts, of which each drops 3 % of what comes in, every byte of every message arrives; what was lost
# is sent again, and is counted, by TCP as it is by cards (system/nic_counters.sh: their counters' report), of which the library's report tells.
# run.py: timeout=120 tags=cluster
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
if [ "${2-}" != inside ]; then
    here=$(cd "$(dirname "$0")" && pwd)
    "$here/cluster" --hosts 2 sh "$here/loss.sh" "${1:-$here/../../build}" inside 0
    exec "$here/cluster" --hosts 2 --loss 3 sh "$here/loss.sh" "${1:-$here/../../build}" inside 1
fi
build=$1 loses=$3
command -v mpiexec.hydra >/dev/null || { echo "skipped: no mpiexec.hydra here"; exit 77; }
script=$(mktemp -p /tmp) # which all hosts see
trap 'rm -f "$script"' EXIT
cat > "$script" <<'END'
again() { awk '$1 == "Tcp:" && n++ { print $13 }' /proc/net/snmp; }
before=$(again)
"$@" || exit 1
echo "again $(($(again) - before))"
END
for wire in tcp ofi; do
    said=$(MPICH_OFI_CXI_COUNTER_REPORT=5 GODWIT_WIRES=shm,$wire timeout 60 mpiexec.hydra -hosts n1,n2 -n 2 sh "$script" "$build/mpi_p2p_modes" 2>&1) ||
        { echo "loss: $wire: $said"; exit 1; }
    sum=$(echo "$said" | awk '$1 == "again" { n += $2 } END { print n + 0 }')
    # Between MPI_Init and MPI_Finalize, by libfabric, whose cards' counters are reported.
    told=$(echo "$said" | awk '$2 == "eth0" && $3 == "tcp:RetransSegs" { n += $4 } END { print n + 0 }')
    if [ "$loses" = 1 ]; then
        [ $wire = tcp ] || { [ "$told" -gt 500 ] && [ "$told" -le "$sum" ]; } ||
            { echo "loss: $wire: the library tells of $told segments sent again, the kernel of $sum: $said"; exit 1; }
        [ "$sum" -gt 500 ] || { echo "loss: $wire: $sum segments were sent again: $said"; exit 1; }
    else
        [ "$sum" -lt 500 ] || { echo "loss: $wire: $sum segments were sent again where nothing is lost"; exit 1; }
    fi
done
