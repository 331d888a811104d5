#!/bin/sh
# Collectives that do not match end the program within seconds, and what is said names the ranks and their calls: of one node always both
# calls with their arguments; between nodes the message that came, or mpiexec's verdict.
# users.md row 1
# run.py: timeout=400 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
out=$dir/out
fail() { echo "coll_mismatch: $*"; head -8 "$out"; : > "$dir/failed"; exit 1; }

# run RANKS KIND [FACTOR [dup]]
run() {
    ranks=$1
    shift
    rc=0
    timeout 90 "$build/mpiexec" -n "$ranks" "$build/mpi_coll_mismatch" "$@" >"$out" 2>&1 </dev/null || rc=$?
    [ $rc != 0 ] && [ $rc != 124 ] || fail "$ranks ranks, $*: status $rc"
    what="$ranks ranks, $*"
}
# told TEXT...: in the block of an error, or in the verdict
told() {
    for text in "$@"; do grep -qF -- "$text" "$out" || fail "$what: it does not say '$text'"; done
}

# Both calls, by name and with what differs.
for dup in "" dup; do
    run 2 bcast_shorter 1 $dup
    told "MPI_ERR_TRUNCATE" "rank 1 called MPI_Bcast (20 bytes, root 0)" "rank 0 called MPI_Bcast (40 bytes, root 0)"
    run 3 allreduce_count 1 $dup
    told "MPI_ERR_TRUNCATE" "rank 2 called MPI_Allreduce (12 bytes, MPI_SUM)" "called MPI_Allreduce (20 bytes, MPI_SUM)"
    run 4 allreduce_barrier 1 $dup
    told "MPI_ERR_OTHER" "rank 3 called MPI_Barrier" "called MPI_Allreduce (20 bytes, MPI_SUM)"
    run 2 bcast_two_roots 1 $dup
    told "MPI_ERR_ROOT" "rank 0 called MPI_Bcast (40 bytes, root 0)" "rank 1 called MPI_Bcast (40 bytes, root 1)"
    run 3 iallreduce_op 1 $dup
    told "MPI_ERR_OP" "called MPI_Iallreduce (20 bytes, MPI_SUM)" "rank 2 called MPI_Iallreduce (20 bytes, MPI_MAX)"
done
run 3 bcast_left_out
told "called MPI_Bcast (40 bytes, root 0)" "rank 0 called MPI_Finalize"
run 3 gatherv_less
told "MPI_ERR_TRUNCATE" "rank 0 called MPI_Gatherv" "takes 20 bytes from rank 2, which sent 12"
run 4 alltoallv_more
told "MPI_ERR_TRUNCATE" "rank 3 called MPI_Alltoallv" "takes 28 bytes from rank" "which sent 20"
run 2 later
told "the calls differ in collective #4 on MPI_COMM_WORLD"

# Every kind: short, in slots, long (by messages or from memory to memory).
sizes="1:2 2000:5 20000:3"
[ -n "${TEST_QUICK:-}" ] || sizes="1:2 1:4 1:8 1:16 2000:2 2000:5 20000:3 20000:4"
kinds=$(sed -n '/kinds\[\] = {/,/};/s/KIND(\([a-z_]*\)),/\1 /gp' "$(dirname "$0")/../mpi/coll_mismatch.c")
[ "$(echo $kinds | wc -w)" -gt 40 ] || fail "where are the kinds?"
# Each is a job of its own, which ends badly and mostly waits for that: several at a time.
each() {
    at_once=0
    for size in $sizes; do
        for kind in $kinds; do
            (
                out=$dir/out.$size.$kind
                run ${size#*:} $kind ${size%:*}
                "$1"
                rm -f "$out"
            ) &
            at_once=$((at_once + 1))
            [ $((at_once % 6)) != 0 ] || wait
            [ ! -e "$dir/failed" ] || exit 1
        done
    done
    wait
    [ ! -e "$dir/failed" ] || exit 1
}
here() { told "the calls differ in collective #" " called MPI_"; }
each here

# Of files, errors return: none waits for ever for those who gave up.
rc=0 what="of a file"
timeout 90 "$build/mpiexec" -n 3 "$build/mpi_coll_mismatch" file >"$out" 2>&1 </dev/null || rc=$?
[ $rc = 0 ] || fail "$what: status $rc"

# Between nodes.
export GODWIT_VNODES=2
run 2 bcast_two_roots
told "the calls differ in collective #1 on MPI_COMM_WORLD: rank" " called MPI_Bcast and sent 40 bytes in it to rank"
run 2 later
told "collective #4 on MPI_COMM_WORLD"
run 3 attribute
told "the calls differ in collective #1 on MPI_COMM_WORLD: rank"
sizes="1:2 1:5 2000:4 20000:3"
if [ -n "${TEST_QUICK:-}" ]; then # a start on faked nodes takes long: ./check has all of them
    sizes="1:2 20000:3"
    kinds="bcast_mixed allreduce_mixed bcast_shorter bcast_two_roots allreduce_count allreduce_op allreduce_barrier reduce_count gatherv_less scatterv_more alltoall_count"
fi
far() {
    told " called MPI_"
    grep -qE "the calls differ|the collectives do not match|was called by" "$out" || fail "$what: not told"
}
each far
# Errors returned; a wait that no message can end is for mpiexec to end, by name.
rc=0
timeout 90 "$build/mpiexec" -n 5 "$build/mpi_coll_mismatch" mixed >"$out" 2>&1 </dev/null || rc=$?
what="5 ranks on 2 nodes, mixed"
if [ $rc != 0 ]; then told "the collectives do not match: collective #" ": rank 0 called MPI_" ", rank 4 called MPI_"; fi
