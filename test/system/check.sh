#!/bin/sh
# GODWIT_CHECK: each misuse is found and told once, in the right words; what is right is not complained about.
# run.py: timeout=240 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
out=$(mktemp)
trap 'rm -f "$out"' EXIT
fail() {
    head -n 12 "$out" | cut -c1-400
    echo "$1"
    exit 1
}
program=$build/mpi_check_misuse
# run RANKS CASE [NAME=VALUE...]: its exit status
run() {
    n=$1 case=$2
    shift 2
    env GODWIT_CHECK=1 "$@" timeout 60 "$build/mpiexec" -n "$n" "$program" "$case" > "$out" 2>&1
}
# finds RANKS CASE FINDINGS [NAME=VALUE...]: so many in all, and nothing else is said
finds() {
    n=$1 case=$2 want=$3
    shift 3
    run "$n" "$case" "$@" || fail "$case $*: exit status $?"
    got=$(grep -c '^godwit\[[0-9]*\] check: ' "$out" || true)
    [ "$got" = "$want" ] || fail "$case $*: $got findings, not $want"
    [ "$(wc -l < "$out")" = "$want" ] || fail "$case $*: it says something else"
}
# says COUNT PATTERN: of the last run
says() {
    got=$(grep -c -E "$2" "$out" || true)
    [ "$got" = "$1" ] || fail "$case: $got lines say '$2', not $1"
}

# ---- datatypes, by every protocol
for proto in auto e0 e1 r0 r1; do
    finds 2 types 4 GODWIT_PROTO=$proto
    for tag in 10 11 12 13; do
        says 1 "^godwit\[1\] check: datatypes differ: MPI_I?(R|r)ecv at pass\+0x.* receives (3|50000) MPI_FLOAT, .* from rank 0 with tag $tag on MPI_COMM_WORLD was sent as (3|50000) MPI_INT\."
    done
    finds 2 types_calls 7 GODWIT_PROTO=$proto
    finds 2 types_ok 0 GODWIT_PROTO=$proto
    finds 2 types_cancel_ok 0 GODWIT_PROTO=$proto
done
finds 2 types_calls 7
for call in Mrecv Imrecv Start Sendrecv Isendrecv Sendrecv_replace; do says 1 "^godwit\[1\] check: datatypes differ: MPI_$call at types_calls\+"; done
says 1 '^godwit\[0\] check: datatypes differ: MPI_Sendrecv_replace .*receives 5 MPI_INT.* from rank 1 with tag 6 .* sent as 5 MPI_FLOAT\.'

# ---- the switch
for word in 0 off; do
    finds 2 types 0 GODWIT_CHECK=$word
done
for word in 2 abort; do
    if run 2 types GODWIT_CHECK=$word; then fail "GODWIT_CHECK=$word did not end the program"; fi
    says 1 '^godwit\[1\] check: '
done
timeout 60 "$build/mpiexec" -n 2 sh -c 'case $GODWIT_BOOT in *local=1*) export GODWIT_CHECK=1 ;; esac; exec "$0" types' "$program" > "$out" 2>&1 &&
    fail "ranks that are not alike were let go on"
grep -q 'MPI_Init: GODWIT_CHECK is on for this rank and off for rank 0; set it alike for all ranks' "$out" || fail "no word about ranks that are not alike"
