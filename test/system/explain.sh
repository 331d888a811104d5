#!/bin/sh
# What the library says: nothing unasked, a line for each category of GODWIT_EXPLAIN, one line about a name or value that is wrong.
# run.py: timeout=120 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
out=$(mktemp)
trap 'rm -f "$out"' EXIT
fail() {
    head -n 8 "$out" | cut -c1-300
    echo "$1"
    exit 1
}
# run NAME=VALUE...: 4 ranks under these variables; their exit status
program=$build/mpi_oversub
run() { env "$@" timeout 100 "$build/mpiexec" -n 4 "$program" > "$out" 2>&1; }
lines() { wc -l < "$out"; }

run GODWIT_EXPLAIN= || fail "it failed"
[ ! -s "$out" ] || fail "it printed something unasked"

run GODWIT_EXPLAIN=wire,proto,coll || fail "it failed"
for category in wire proto coll; do
    for rank in 0 1 2 3; do
        grep -q "^godwit\[$rank\] $category: ." "$out" || fail "rank $rank says nothing about $category"
    done
done
if grep -vE '^godwit\[[0-3]\] (wire|proto|coll): .' "$out" > "$out.other"; then
    mv "$out.other" "$out"
    fail "lines of no category"
fi
rm -f "$out.other"
for category in wire proto coll; do
    run GODWIT_EXPLAIN=$category || fail "it failed"
    [ -s "$out" ] || fail "$category alone says nothing"
    if grep -q -v "^godwit\[[0-3]\] $category: " "$out"; then fail "more than $category was asked for"; fi
done
# Programs that compute on all cores are neighbours of each rank: once they have run in two of its yields it says so.
if [ "$(nproc)" -gt 1 ]; then
    busy=
    trap 'rm -f "$out"; kill $busy 2>/dev/null || :' EXIT
    for _ in $(seq $((2 * $(nproc)))); do (while :; do :; done) & busy="$busy $!"; done
    for _ in $(seq 60); do
        timeout 100 env GODWIT_EXPLAIN=wait "$build/mpiexec" -n 2 "$program" > "$out" 2>&1 || fail "it failed"
        ! grep -q '' "$out" || break
    done
    grep -q "^godwit\[[01]\] wait: another program runs on this rank's core: the rank looks 3 times and yields" "$out" || fail "no neighbour is seen"
    if grep -q -v "^godwit\[[01]\] wait: " "$out"; then fail "more than wait was asked for"; fi
    kill $busy
    wait $busy 2>/dev/null || :
fi
program=$build/mpi_coll_basic
run GODWIT_EXPLAIN=coll GODWIT_COLL=bcast=binomial || fail "it failed"
grep -q 'coll: bcast of .*: binomial (GODWIT_COLL)' "$out" || fail "the forced algorithm is not told"

program=$build/mpi_hello # what is said at the start
# complains VARIABLE=VALUE PATTERN: it runs, and one rank says one line
complains() {
    run "$1" || fail "$1 ended the program"
    [ "$(lines)" = 1 ] || fail "$1: $(lines) lines, not 1"
    grep -q "$2" "$out" || fail "$1: does not say '$2'"
}
complains GODWIT_EXPLAI=coll 'GODWIT_EXPLAI is not a setting; did you mean GODWIT_EXPLAIN, GODWIT_EXPLAIN_WIRE?'
complains GODWIT_EAGERMAX=1K 'GODWIT_EAGERMAX is not a setting; did you mean GODWIT_EAGER_MAX?'
complains GODWIT_ZZZZZZZZZZZZ=1 'GODWIT_ZZZZZZZZZZZZ is not a setting; .godwit-info --settings. lists them'
complains GODWIT_WAIT=spim 'GODWIT_WAIT=spim is not a word of auto,spin,yield,sleep; using the default, auto'
complains GODWIT_LANES=99 'GODWIT_LANES=99 is not a number in 1..64; using the default, auto'
complains GODWIT_EAGER_MAX=much 'GODWIT_EAGER_MAX=much is not a size'
complains GODWIT_EXPLAIN=wires 'GODWIT_EXPLAIN=wires is not a list of wire,proto,coll'

# refuses VALUE PATTERN: with this GODWIT_COLL nothing runs
refuses() {
    if run "GODWIT_COLL=$1"; then fail "GODWIT_COLL=$1 was taken"; fi
    grep -q "$2" "$out" || fail "GODWIT_COLL=$1: does not say '$2'"
}
refuses bcast=nonsense "bcast has no algorithm 'nonsense'; there are:.* leaf.* binomial"
refuses bcast=binomial,allreduce=rin "allreduce has no algorithm 'rin'; there are:.* ring"
refuses bcst=binomial "'bcst=binomial' is not COLLECTIVE=ALGORITHM (did you mean bcast="
refuses bcast "'bcast' is not COLLECTIVE=ALGORITHM"
