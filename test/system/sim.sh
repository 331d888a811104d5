#!/bin/sh
# N ranks in one process on a wire that a seed rules: the same seed is the same run, bugs in the wire are found, and 4000 runs are right
# (300 in ./check --quick).  A failing run prints the command that repeats it; see test/sim/README.md.
# More: SIM_SEEDS=1000000 [SIM_FROM=first] ./check, or BUILD/test/sim/sim --list test/sim/list --seeds 1000000 --jobs 4
# run.py: timeout=600 tags=quick
# run.py: timeout=900 tags=extra args=10000
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
cd "$(dirname "$0")/../.."
sim=$1/test/sim/sim jobs=$(nproc) seeds=${3:-4000}
[ -z "${TEST_QUICK:-}" ] || seeds=300
out=$(mktemp)
trap 'rm -f "$out"' EXIT

for seed in 3 14 15; do
    for program in "p2p_stress 1 SEED" "coll_random 20 SEED" "rma_random 8 SEED"; do
        "$sim" -v -n 4 --seed $seed $program > "$out" 2>&1
        "$sim" -v -n 4 --seed $seed $program > "$out.2" 2>&1
        cmp "$out" "$out.2" || { echo "$program: two runs of seed $seed differ"; cat "$out" "$out.2"; exit 1; }
        rm "$out.2"
        grep -q '^trace [0-9a-f]\{16\}, .* messages' "$out"
    done
done

# What is wrong on purpose must be seen, by messages and by collectives, and be seen again with the command that is printed.
for program in "p2p_stress 1 SEED" "coll_random 20 SEED"; do
    for bug in order lose twice again byte; do
        "$sim" -n 3 --seeds 30 --jobs "$jobs" --bug $bug --expect-failures $program > "$out" || { echo "bug $bug: $program does not find it"; exit 1; }
        again=$(sed -n 's/.*to run it again: sim //p' "$out" | head -n 1)
        ! "$sim" $again > "$out" 2>&1 || { echo "bug $bug: sim $again runs well the second time"; exit 1; }
    done
done
for program in "400 coll_random 20 SEED" "80 coll_vector" "80 rma_random 40 SEED"; do
    "$sim" -n 2,3,4,5 --jobs "$jobs" --bug wake --expect-failures --seeds $program > "$out" || { echo "bug wake: $program does not find it"; exit 1; }
    grep -q 'nobody had rung its doorbell' "$out" || { cat "$out"; exit 1; }
    found=$(sed -n 's/^sim: [0-9]* runs, \([0-9]*\) failed$/\1/p' "$out")
    [ "$found" -ge 4 ] || { echo "bug wake: $found of $program found it"; exit 1; }
done
# One that only some seeds find may be missed by the next change of the plan: so several must.
for bug in busy lock mail; do
    "$sim" -n 2,3,4,5 --seeds 80 --jobs "$jobs" --bug $bug --expect-failures rma_random 40 SEED > "$out" || { echo "bug $bug: not found"; exit 1; }
    grep -q 'no order explains slot' "$out" || { cat "$out"; exit 1; }
    found=$(sed -n 's/^sim: 80 runs, \([0-9]*\) failed$/\1/p' "$out")
    [ "$found" -ge 6 ] || { echo "bug $bug: $found of 80 runs found it"; exit 1; }
done
# A rank that stops for ever: the others wait for it or end, and nothing else happens.
"$sim" -n 4 --seeds 200 --jobs "$jobs" --death p2p_stress 1 SEED

exec "$sim" --list test/sim/list --seeds "${SIM_SEEDS:-$seeds}" --from "${SIM_FROM:-1}" --jobs "$jobs"
