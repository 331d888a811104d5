#!/bin/sh
# Settings by which ranks choose what they do together and that differ between ranks end the job in MPI_Init, with a sentence that names the
# setting, both ranks and both values; those that differ in words alone, or concern one rank, do not.
# run.py: timeout=120 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
folder=$(mktemp -d)
out=$folder/out
trap 'rm -rf "$folder"' EXIT
fail() {
    head -n 12 "$out" | cut -c1-400
    echo "$1"
    exit 1
}
program=$build/mpi_coll_basic
# run ARGS...: mpiexec's exit status
run() { timeout 60 "$build/mpiexec" "$@" > "$out" 2>&1; }
# ends SENTENCE ARGS...: once, and the job does not run
ends() {
    sentence=$1
    shift
    run "$@" && fail "$*: the job ran"
    [ $? -ne 124 ] || fail "$*: it hangs"
    [ "$(grep -cF "MPI_Init: $sentence; set it alike for all ranks of the job" "$out")" = 1 ] || fail "$*: it does not say '$sentence'"
    [ "$(grep -c 'MPI_Init:' "$out")" = 1 ] || fail "$*: it says it more than once"
}
runs() { run "$@" || fail "$*: exit status $?"; }

ring=allreduce=ring,bcast=binomial
ends "GODWIT_COLL is $ring on rank 0 and its default on rank 1" -n 1 -env GODWIT_COLL $ring "$program" : -n 1 "$program"
ends "GODWIT_COLL is $ring on rank 3 and its default on rank 0" -n 3 "$program" : -n 1 -env GODWIT_COLL $ring "$program"
ends "GODWIT_COLL is bcast=chain on rank 0 and $ring on rank 2" \
    -n 2 -env GODWIT_COLL bcast=chain "$program" : -n 2 -env GODWIT_COLL $ring "$program"
ends "GODWIT_COLL_CHUNK is 2K on rank 0 and 1000 on rank 1" \
    -n 1 -env GODWIT_COLL_CHUNK 2048 "$program" : -n 1 -env GODWIT_COLL_CHUNK 1000 "$program"
ends "GODWIT_REPRODUCIBLE is any on rank 1 and its default on rank 0" \
    -n 1 "$program" : -n 1 -env GODWIT_REPRODUCIBLE any "$program"
# by a variable that each rank has of its own; -x is for all
ends "GODWIT_COLL_LEAF is off on rank 1 and its default on rank 0" \
    -n 2 -x GODWIT_COLL_CHUNK=4K sh -c '[ "$GODWIT_RANK" = 0 ] || export GODWIT_COLL_LEAF=off; exec "$0"' "$program"

# a file on one rank alone; different names of one file
echo '# nothing' > "$folder/a.tune"
cp "$folder/a.tune" "$folder/b.tune"
ends "GODWIT_TUNE is $folder/a.tune on rank 1 and its default on rank 0" \
    -n 1 "$program" : -n 1 -env GODWIT_TUNE "$folder/a.tune" "$program"
runs -n 1 -env GODWIT_TUNE "$folder/a.tune" "$program" : -n 1 -env GODWIT_TUNE "$folder/b.tune" "$program"

# longer than the text that ranks show each other: it still differs
long=$(printf 'bcast=binomial,%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20)
ends "the settings of collectives on rank 0 are not those on rank 1" \
    -n 1 -env GODWIT_COLL "${long}reduce=binomial" "$program" : -n 1 -env GODWIT_COLL "${long}allreduce=ring" "$program"

# Ranks of different nodes: whoever first asks where one of the other node is reached says it.
differ() {
    sentence=$1
    shift
    run "$@" && fail "$*: the job ran"
    [ $? -ne 124 ] || fail "$*: it hangs"
    grep -qE "the settings of collectives on rank $sentence; set them alike for all ranks of the job" "$out" ||
        fail "$*: it does not say '$sentence'"
}
for wires in shm,tcp,ofi shm,ofi; do
    export GODWIT_WIRES=$wires
    differ '(0, on another node, are not those on rank 1, host [^ ]* \(the defaults\)|1, .* rank 0, .*\(GODWIT_COLL=allreduce=ring\))' \
        --vnodes 2 -n 1 -env GODWIT_COLL allreduce=ring "$program" : -n 1 "$program"
    differ '([01], .* rank [23], .*\(GODWIT_COLL=bcast=chain and others\)|[23], .* rank [01], .*\(GODWIT_COLL=bcast=chain\))' \
        --vnodes 2 -n 2 -env GODWIT_COLL bcast=chain "$program" : \
        -n 2 -env GODWIT_COLL bcast=chain -env GODWIT_COLL_CHUNK 1000 "$program"
    differ '(0, .* rank 1, .*\(too many to list\)|1, .* rank 0, .*\(the defaults\))' \
        --vnodes 2 -n 1 "$program" : -n 1 -env GODWIT_COLL "${long}reduce=binomial" "$program"
    runs --vnodes 2 -n 4 -env GODWIT_COLL bcast=chain "$program"
    runs --vnodes 2 -n 1 -env GODWIT_COLL_CHUNK 1K "$program" : -n 1 -env GODWIT_COLL_CHUNK 1024 "$program"
done
unset GODWIT_WIRES

runs -n 1 -env GODWIT_COLL_CHUNK 1K "$program" : -n 1 -env GODWIT_COLL_CHUNK 1024 "$program"
runs -n 1 -env GODWIT_COLL_CHUNK 0 -env GODWIT_REPRODUCIBLE off "$program" : -n 1 "$program"
runs -n 1 -env GODWIT_COLL_LEAF 1 -env GODWIT_COLL_OPT_OFF 0 "$program" : -n 1 "$program"
runs -n 1 -env GODWIT_COLL_SYNC bcast,barrier "$program" : -n 1 -env GODWIT_COLL_SYNC bcast "$program" # none before a barrier
runs -n 1 -env GODWIT_COLL_SYNC bcast,reduce "$program" : -n 1 -env GODWIT_COLL_SYNC MPI_Reduce,bcast "$program"
ends "GODWIT_COLL_SYNC is bcast,reduce on rank 0 and bcast on rank 1" \
    -n 1 -env GODWIT_COLL_SYNC reduce,bcast "$program" : -n 1 -env GODWIT_COLL_SYNC bcast "$program"
runs -n 1 -env GODWIT_GATHERV_SHORT_MSG 1000 -env GODWIT_SCATTERV_MAX_TMP_SIZE 2000 "$program" : -n 1 "$program"
runs -n 1 -env GODWIT_ALLTOALL_SYNC_FREQ 4 -env GODWIT_WAIT yield "$program" : -n 1 "$program"
runs -n 2 -x GODWIT_COLL=$ring "$program"
