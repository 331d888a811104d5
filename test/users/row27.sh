#!/bin/sh
# users.md row 27: sums of doubles repeat bit by bit: from run to run, however ranks are bound, however many share a core and by
# whatever way messages travel; with GODWIT_REPRODUCIBLE=placement, or a communicator's info key, also without the leaves, which
# is how they would be added up between nodes; with GODWIT_REPRODUCIBLE=any for any number of ranks.
# run.py: timeout=400 tags=long
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
one_core=$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')

# same BASE WHAT COMMAND...: the command prints what is in BASE
same() {
    base=$1 what=$2
    shift 2
    timeout 60 "$@" >"$dir/now" || { echo "$n ranks, $what: it failed"; exit 1; }
    sort -o "$dir/now" "$dir/now" # not all lines come from one rank
    cmp -s "$dir/$base" "$dir/now" || { echo "$n ranks, $what: other bits"; diff "$dir/$base" "$dir/now" | head -6; exit 1; }
}
# first BASE COMMAND...: what others are compared with
first() {
    to=$dir/$1
    shift
    timeout 60 "$@" >"$to" || { echo "$n ranks: it failed"; exit 1; }
    sort -o "$to" "$to"
}
for n in 2 3 5 8; do
    run="$build/mpiexec -n $n"
    program=$build/mpi_reproducible
    first plain $run "$program"
    [ "$(wc -l <"$dir/plain")" = 90 ] || { echo "not all was printed"; exit 1; }
    same plain "again" $run "$program"
    same plain "not bound" $run --bind-to none "$program"
    same plain "on one core" taskset -c "$one_core" $run "$program"
    for v in GODWIT_CMA=off GODWIT_PROTO=r0 GODWIT_PROTO=r1 GODWIT_WAIT=sleep GODWIT_COLL_CHUNK=1000; do
        same plain $v env $v $run "$program"
    done
    export GODWIT_REPRODUCIBLE=placement
    first fixed $run "$program" setting
    same fixed "placement, again" $run "$program" setting
    same fixed "placement, on one core" taskset -c "$one_core" $run "$program" setting
    for v in GODWIT_COLL_LEAF=off GODWIT_CMA=off GODWIT_PROTO=r1 GODWIT_EAGER_MAX=1K; do
        same fixed "placement, $v" env $v $run "$program" setting
    done
    unset GODWIT_REPRODUCIBLE
    same fixed "info key" $run "$program" key
    same fixed "info key, messages" env GODWIT_COLL_LEAF=off $run "$program" key
done

n=3
export GODWIT_REPRODUCIBLE=any
first any "$build/mpiexec" -n 3 "$build/mpi_reproducible" any
[ "$(grep -c '^any' "$dir/any")" = 74 ] || { echo "not all was printed"; exit 1; }
for n in 4 5 8; do
    run="$build/mpiexec -n $n"
    same any "any" $run "$build/mpi_reproducible" any
    same any "any, nodes" env GODWIT_VNODES=2 $run "$build/mpi_reproducible" any
    same any "any, messages" env GODWIT_COLL_LEAF=off GODWIT_CMA=off $run "$build/mpi_reproducible" any
done
