#!/bin/sh
# PMI-2 of mpiexec, by a client of Slurm's libpmi2 alone: who is who, keys, attributes, fences; several programs, one that
# ends the job; spawning is refused.  Under Hydra the same client says the same.
# run.py: timeout=120 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$(cd "$1" && pwd) here=$(cd "$(dirname "$0")" && pwd)
[ -e /usr/include/slurm/pmi2.h ] || { echo "skipped: needs Slurm's PMI-2 (Debian: libpmi2-0-dev)"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
fail() { echo "pmi2: $*"; exit 1; }
run() { rc=0; timeout 60 "$@" </dev/null >out 2>err || rc=$?; }
gcc -Wall "$here/pmi2.c" -o pmi2 -lpmi2
lines() { sort -n out | tr '\n' '|'; } # ... of all ranks
for n in 2 3 16; do
    run "$build/mpiexec" -n $n ./pmi2
    want=$(for r in $(seq 0 $((n - 1))); do printf '%s|' "$r/$n app 0 (vector,(0,1,$n))"; done)
    [ "$rc $(lines)" = "0 $want" ] && [ ! -s err ] || fail "$n ranks: status $rc: $(cat out err)"
done
run "$build/mpiexec" -usize 9 -n 2 ./pmi2 universe
[ "$rc $(grep -cx 'universe 9' out)" = "0 2" ] || fail "universe: status $rc: $(cat out err)"
# hwloc's description of the machine, which goes with mpiexec; where there is no libhwloc, it is not found.
topology=read
ldconfig -p | grep -q 'libhwloc\.so\.15 ' || topology=none
run "$build/mpiexec" -n 3 ./pmi2 topology
[ "$rc $(grep -cx "topology $topology" out)" = "0 3" ] || fail "topology: status $rc, not $topology: $(cat out err)"
mkdir empty && : >empty/libhwloc.so.15
run env LD_LIBRARY_PATH="$PWD/empty" "$build/mpiexec" -n 2 ./pmi2 topology
[ "$rc $(grep -cx 'topology none' out)" = "0 2" ] || fail "topology without hwloc: status $rc: $(cat out err)"
run "$build/mpiexec" -n 2 ./pmi2 : -n 1 ./pmi2
[ "$rc $(lines)" = "0 0/3 app 0 (vector,(0,1,3))|1/3 app 0 (vector,(0,1,3))|2/3 app 1 (vector,(0,1,3))|" ] || fail "two programs: status $rc: $(cat out err)"
run "$build/mpiexec" -n 3 ./pmi2 abort
[ $rc != 0 ] && [ $rc != 124 ] && grep -q 'no way on' err || fail "abort: status $rc: $(cat out err)"
run "$build/mpiexec" -n 2 ./pmi2 spawn
[ $rc = 0 ] && grep -qx 'spawn fails' out && grep -q 'mpiexec starts them for programs of Godwit only' err || fail "spawn: status $rc: $(cat out err)"
if command -v mpiexec.hydra >/dev/null; then
    run mpiexec.hydra -n 3 ./pmi2
    theirs="$rc $(lines | sed 's/(vector,[^|]*//g')"
    run "$build/mpiexec" -n 3 ./pmi2
    [ "$rc $(lines | sed 's/(vector,[^|]*//g')" = "$theirs" ] || fail "Hydra says: $theirs"
fi
