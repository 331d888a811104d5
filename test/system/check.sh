#!/bin/sh
# GODWIT_CHECK: each misuse is found and reported once, in the right words; what is right is not complained about.
# users.md row 21: what a program leaves behind.
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
    env GODWIT_CHECK=1 "$@" timeout 60 "$build/mpiexec" ${limit:-} -n "$n" "$program" "$case" > "$out" 2>&1
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

leaky=ASAN_OPTIONS=detect_leaks=0:exitcode=99 # of cases that leave operations or handles behind

# ---- datatypes, by every protocol
for proto in auto e0 e1 r0 r1; do
    finds 2 types 8 GODWIT_PROTO=$proto
    for tag in 10 11 12 13; do
        says 1 "^godwit\[1\] check: datatypes differ: MPI_I?(R|r)ecv at pass\+0x.* receives (3|50000) x MPI_FLOAT, .* from rank 0 with tag $tag on MPI_COMM_WORLD was sent as (3|50000) x MPI_INT\."
    done
    says 4 "^godwit\[1\] check: datatypes differ: .* receives (2|25000) x MPI_DOUBLE, .* with tag 14 on MPI_COMM_WORLD was sent as (4|50000) x MPI_INT\."
    finds 2 types_calls 7 GODWIT_PROTO=$proto
    finds 2 types_ok 0 GODWIT_PROTO=$proto
    finds 2 types_cancel_ok 0 GODWIT_PROTO=$proto
done
finds 2 types_calls 7
for call in Mrecv Imrecv Start Sendrecv Isendrecv Sendrecv_replace; do says 1 "^godwit\[1\] check: datatypes differ: MPI_$call at types_calls\+"; done
says 1 '^godwit\[0\] check: datatypes differ: MPI_Sendrecv_replace .*receives 5 x MPI_INT.* from rank 1 with tag 6 .* sent as 5 x MPI_FLOAT\.'

# ---- buffers
finds 2 changed 10
for call in Isend Issend Start Isendrecv Irsend; do
    says 1 "^godwit\[0\] check: buffer changed too early: bytes 8 to 15 of what MPI_$call at .* sends \(10 x MPI_INT at "
    says 1 "^godwit\[0\] check: buffer changed too early: bytes 196875 to 199999 of what MPI_$call at .* sends \(50000 x MPI_INT at "
done
finds 2 changed_ok 0
# AddressSanitizer would speak first.
if [ -z "${ASAN_OPTIONS:-}" ]; then
    finds 2 given_back 1
    says 1 '^godwit\[0\] check: buffer given back too early: the send buffer of MPI_Isend at given_back\+0x.* to rank 1 with tag 0 '
fi
finds 2 overlap 9
says 9 '^godwit\[1\] check: buffers overlap: '
says 3 'receive buffer of MPI_Irecv at overlap.* and the receive buffer of MPI_Irecv at overlap'
says 1 'send buffer of MPI_Isend at overlap.* and the receive buffer of MPI_Irecv at overlap'
says 1 'receive buffer of MPI_Irecv at overlap.* and the send buffer of MPI_Isend at overlap'
says 1 'receive buffer of MPI_Startall at overlap.* and the receive buffer of MPI_Startall at overlap'
says 1 'receive buffer of MPI_Recv at overlap.* and the receive buffer of MPI_Irecv at overlap'
says 1 'send buffer of MPI_Send at overlap.* and the receive buffer of MPI_Irecv at overlap'
says 1 'the send buffer and the receive buffer of MPI_Sendrecv at overlap'
finds 2 overlap_ok 0
for n in 2 3 5; do
    finds $n changed_coll 2
    says 1 '^godwit\[0\] check: buffer changed too early: bytes 152 to 159 of what MPI_Ibcast at changed_coll.* sends \(40 x MPI_INT at '
    says 1 '^godwit\[0\] check: buffer changed too early: bytes 0 to 7 of what MPI_Iallreduce at changed_coll.* sends \(20 x MPI_INT at '
    finds $n overlap_coll $((6 * n))
    says $((n - 1)) 'buffers overlap: the receive buffer of MPI_Irecv at overlap_coll.* and the receive buffer of MPI_Ibcast at overlap_coll'
    says 1 '^godwit\[0\] check: buffers overlap: the receive buffer of MPI_Irecv at overlap_coll.* and the send buffer of MPI_Ibcast at overlap_coll'
    says $n 'buffers overlap: the send buffer and the receive buffer of MPI_Allreduce at overlap_coll.* in common$'
    for call in Allgatherv Alltoallv Alltoallw Gatherv; do
        says $n "buffers overlap: the blocks 0 and 1 of what MPI_$call at overlap_coll.* receives have the bytes from 0x[0-9a-f]* on in common: "
    done
    finds $n overlap_coll_ok 0
done

# ---- windows: what ends an operation, in turn, and each operation; nothing is found where they end before the buffer changes
for path in auto far; do
    far=GODWIT_CMA=auto
    [ $path = far ] && far=GODWIT_CMA=off
    finds 2 windows 15 $far
    early='^godwit\[0\] check: buffer changed too early: bytes [0-9]+ to [0-9]+ of what'
    until='were changed before the operation was completed by MPI_Win_flush, MPI_Win_unlock, MPI_Win_fence or the like$'
    says 8 "$early MPI_Put at window_buffers.* at rank 1 on the window halo sends \(10 x MPI_INT at .*\) $until"
    says 1 "changed too early: bytes 0 to 3 of what MPI_Put at window_buffers.* sends \(1 x MPI_INT at .*$until" # a loop of them
    says 1 "$early MPI_Rput at .* at rank 1 on the window halo sends .* by a wait or test$"
    says 1 "$early MPI_Get at .* at rank 1 on the window halo receives .*$until"
    for call in Accumulate Get_accumulate Fetch_and_op Compare_and_swap; do says 1 "$early MPI_$call at .* sends .*$until"; done
    finds 2 windows_overlap 8 $far
    finds 2 windows_loops 10 $far
    says 4 "changed too early: bytes 0 to 3 of what MPI_Put at windows_loops.* at rank [01] on the window halo sends \(1 x MPI_INT at .*$until"
    says 2 'the receive buffer of MPI_Get at windows_loops.* \(1 x MPI_INT .* and the receive buffer of MPI_Get at windows_loops'
    says 2 'the receive buffer of MPI_Irecv at windows_loops.* and the send buffer of MPI_Put at windows_loops.* \(1 x MPI_INT '
    says 2 'the receive buffer of MPI_Get at windows_loops.* \(3 x MPI_INT .* and the send buffer of MPI_Put at windows_loops.* \(3 x MPI_INT '
    for n in 1 3; do finds $n windows_ok 0 $far; done
done
finds 2 windows_overlap 8
says 2 'receive buffer of MPI_Get at windows_overlap.* and the receive buffer of MPI_Get at windows_overlap.* at rank [01] on the window halo '
says 2 'send buffer of MPI_Put at windows_overlap.* and the receive buffer of MPI_Get at windows_overlap'
says 2 'send buffer of MPI_Put at windows_overlap.* and the receive buffer of MPI_Irecv at windows_overlap'
says 2 'the send buffer and the receive buffer of MPI_Get_accumulate at windows_overlap'

for n in 1 3; do
    finds $n windows_promises $((4 * n))
    says $n '^godwit\[[0-2]\] check: lock of a window without locks: MPI_Win_lock_all at windows_promises.*, but the hint no_locks of the window halo is true\.'
    says $n 'check: lock of a window without locks: MPI_Win_lock at windows_promises'
    says $n 'check: operation and datatype do not go together: MPI_Accumulate at .* on the window halo: MPI_BAND is not defined on MPI_DOUBLE; it is for .*\. The count is 0'
    says $n 'check: operation and datatype do not go together: MPI_Get_accumulate at .* on the window halo: MPI_MINLOC is not defined on MPI_DOUBLE'
    finds $n windows_promises_ok 0
done
for path in auto off; do
    for n in 1 3; do
        finds $n windows_types $((7 * n)) GODWIT_CMA=$path
        finds $n windows_types_ok 0 GODWIT_CMA=$path
    done
done
finds 2 windows_types 14
for words in 'Put .* puts 4 x MPI_INT as 2 x MPI_DOUBLE' 'Put .* puts 4 x MPI_INT as 16 x MPI_BYTE' 'Rput .* puts 4 x MPI_INT as 4 x MPI_UNSIGNED' \
    'Get .* gets 4 x MPI_INT as 2 x MPI_DOUBLE' 'Rget .* gets 4 x MPI_INT as 4 x MPI_FLOAT' \
    'Get_accumulate .* fetches 4 x MPI_INT as 4 x MPI_FLOAT' 'Rget_accumulate .* fetches 2 x MPI_INT as 2 x MPI_FLOAT'; do
    says 1 "^godwit\[0\] check: datatypes differ: MPI_$words at rank 1 on the window halo\. The sequence of basic types must be the same at the origin"
done

# ---- partitions
finds 2 partitions 4
part='on MPI_COMM_WORLD'
says 1 "^godwit\[0\] check: buffer changed too early: bytes 32 to 39 of what MPI_Pready at .* for partition 2 to rank 1 with tag 7 $part sends \(10 x MPI_INT at .* by a wait or test$"
says 1 "^godwit\[0\] check: buffer changed too early: bytes 0 to 7 of what MPI_Pready_list at .* for partition 3 to rank 1 with tag 7 $part sends "
says 1 "^godwit\[1\] check: buffers overlap: the receive buffer of MPI_Irecv at .* and the receive buffer of MPI_Start at .* for partition 3 from rank 0 with tag 7 $part "
says 1 "^godwit\[1\] check: buffers overlap: the send buffer of MPI_Send at .* and the receive buffer of MPI_Start at .* for partition 1 from rank 0 with tag 7 $part "
for n in 2 3; do finds $n partitions_ok 0; done
for proto in auto e0 r0; do
    finds 2 partitions_types 6 GODWIT_PROTO=$proto
    finds 3 partitions_types_ok 0 GODWIT_PROTO=$proto
done
finds 2 partitions_types 6
differ='^godwit\[1\] check: datatypes differ: MPI_Precv_init at parts_pass\+0x.* receives'
sends="but the partitioned send of rank 0 with tag 6[012] $part has"
says 2 "$differ 4 partitions of 10 x MPI_FLOAT, $sends 4 partitions of 10 x MPI_INT\. The sequence of basic types of all partitions together must be that which is sent$"
says 2 "$differ 2 partitions of 10 x MPI_DOUBLE, $sends 4 partitions of 10 x MPI_INT\."
says 2 "$differ 160 partitions of 1 x MPI_BYTE, $sends 1 partitions of 40 x MPI_INT\."

# ---- files
finds 2 files 8
says 2 'changed too early: bytes 392 to 399 of what MPI_File_iwrite_at at .* on the file [^ ]*/check_misuse.* sends .* by a wait or test$'
says 2 'changed too early: bytes 0 to 7 of what MPI_File_iread_at at .* on the file [^ ]*/check_misuse.* receives .* by a wait or test$'
says 2 'changed too early: bytes 392 to 399 of what MPI_File_write_at_all_begin at .* sends .* by the call that ends it$'
says 2 'overlap: the receive buffer of MPI_File_read_at at .* and the receive buffer of MPI_File_read_at_all_begin at .*, which is not completed yet'
for n in 1 3; do finds $n files_ok 0; done

# ---- collectives
differ='^godwit\[0\] check: collectives differ on'
at='at [a-z_]*\+0x[0-9a-f]* \(check_misuse.c:[0-9]*\)'
addr2line --version > /dev/null 2>&1 || at='at [a-z_]*\+0x[0-9a-f]*'
for n in 2 3 5; do
    case $n in 2) others="rank 0" ;; 3) others="ranks 0, 2" ;; 5) others="ranks 0, 2-4" ;; esac
    finds $n colls 8
    says 1 "$differ MPI_COMM_WORLD: $others called MPI_Bcast $at, 3 x MPI_INT, root 0; rank 1 called MPI_Barrier $at; they must call the same collective operations in the same order$"
    says 1 "$differ MPI_COMM_WORLD: $others called MPI_Bcast $at, 3 x MPI_INT, root 0; rank 1 called MPI_Bcast $at, 3 x MPI_INT, root 1; they must say the same root$"
    says 1 "$differ MPI_COMM_WORLD: $others called MPI_Allreduce $at, 3 x MPI_INT, MPI_SUM; rank 1 called MPI_Allreduce $at, 3 x MPI_INT, MPI_MAX; they must say the same operation$"
    says 1 "$differ MPI_COMM_WORLD: $others called MPI_Reduce $at, 3 x MPI_INT, MPI_SUM, root 0; rank 1 called MPI_Reduce $at, 4 x MPI_INT, MPI_SUM, root 0; as much data must be received as is sent$"
    says 1 "$differ MPI_COMM_WORLD: rank 0 called MPI_Gather $at, sends 3 x MPI_INT, receives 3 x MPI_INT, root 0; rank 1 called MPI_Gather $at, sends 4 x MPI_INT, root 0;.* as much data must be received as is sent$"
    says 1 "$differ MPI_COMM_WORLD: rank 0 called MPI_Scatter $at, sends 3 x MPI_INT, receives 3 x MPI_INT, root 0; rank 1 called MPI_Scatter $at, receives 4 x MPI_INT, root 0;.* as much data must be received as is sent$"
    says 1 "$differ MPI_COMM_WORLD: $others called MPI_Alltoallv $at, sends blocks of different sizes, receives blocks of different sizes; rank 1 called MPI_Alltoallv .*; as much data must be received as is sent \(rank 0 sends 12 bytes to rank 1, which receives 20\)$"
    says 1 "$differ MPI_COMM_WORLD: $others called MPI_Comm_split $at; rank 1 called MPI_Comm_dup $at; they must call the same collective operations in the same order$"
    finds $n colls_types 5
    types="the data must have the same sequence of basic types on both sides"
    says 1 "$differ the name: $others called MPI_Bcast $at, 8 x MPI_INT, root 0; rank 1 called MPI_Bcast $at, 8 x MPI_FLOAT, root 0; $types$"
    says 1 "$differ the name: $others called MPI_Allgather $at, sends 2 x MPI_INT, receives 2 x MPI_INT; rank 1 called MPI_Allgather $at, sends 2 x MPI_FLOAT, receives 2 x MPI_FLOAT; $types$"
    for call in MPI_Ibcast MPI_Bcast_init; do
        says 1 "$differ the name: $others called $call $at, 4 x MPI_INT, root 0; rank 1 called $call $at, 4 x MPI_FLOAT, root 0; $types$"
    done
    says 1 "$differ the name: rank 0 called MPI_Igather $at, sends 2 x MPI_INT, receives 2 x MPI_INT, root 0; rank 1 called MPI_Igather $at, sends 2 x MPI_FLOAT, root 0;.* $types$"
done
for n in 2 3 5; do
    case $n in 2) second="rank 0" ;; 3) second="ranks 0, 1" ;; 5) second="ranks 0-3" ;; esac
    finds $n inter 8
    between="$differ between \(between two groups, of which the first is that of rank 0 in MPI_COMM_WORLD\): rank 0 of the first group called"
    more="as much data must be received as is sent"
    says 1 "$between MPI_Bcast $at, 3 x MPI_INT, root MPI_ROOT; $second of the second group called MPI_Bcast $at, 4 x MPI_INT, root 0; $more$"
    says 1 "$between MPI_Bcast $at, 3 x MPI_INT, root 0; $second of the second group called MPI_Bcast $at, 3 x MPI_INT, root 0; the root must say MPI_ROOT, "
    says 1 "$between MPI_Allreduce $at, 3 x MPI_INT, MPI_SUM; $second of the second group called MPI_Allreduce $at, 4 x MPI_INT, MPI_SUM; $more$"
    says 1 "$between MPI_Gather $at, receives 3 x MPI_INT, root MPI_ROOT; $second of the second group called MPI_Gather $at, sends 4 x MPI_INT, root 0; $more$"
    says 1 "$between MPI_Allgather $at, .*; $second of the second group called MPI_Barrier $at; they must call the same"
    says 1 "$between MPI_Alltoallv $at.*; $second of the second group called MPI_Alltoallv .*; $more \(rank 0 sends 12 bytes to rank 0, which receives 16\)$"
    says 1 "$between MPI_Scatterv $at.*; $second of the second group called MPI_Scatterv $at, receives 4 x MPI_INT, root 0; $more$"
    says 1 "$between MPI_Ibcast $at, 3 x MPI_INT, root MPI_ROOT; $second of the second group called MPI_Ibcast $at, 3 x MPI_FLOAT, root 0; the data must"
    finds $n neighbors 6
    says 1 "$differ ring: .*rank 1 called MPI_Neighbor_alltoall $at, sends 4 x MPI_INT, receives 3 x MPI_INT; $more \(rank 1 sends 16 bytes to rank 0, which receives 12\)$"
    says 1 "$differ ring: .*rank 1 called MPI_Neighbor_allgather $at, sends 4 x MPI_INT, .*; $more \(rank 1 sends 16 bytes to rank 0, which receives 12\)$"
    says 1 "$differ ring: .*MPI_Neighbor_alltoallv $at, .*; $more \(rank 0 sends 12 bytes to rank 1, which receives 8\)$"
    says 1 "$differ ring: .*MPI_Neighbor_alltoallw $at, .*; $more \(rank 1 sends 8 bytes to rank [02], which receives 12\)$"
    says 1 "$differ ring: .*rank 1 called MPI_Ineighbor_allgather $at, sends 3 x MPI_FLOAT, receives 3 x MPI_INT; the data must have"
    says 1 "$differ a communicator without a name: .*MPI_Neighbor_alltoall $at, .*; each must be a source of those whose destination it is, and a destination of its sources$"
    finds $n blocks 6
    for call in Iscatterv Ialltoallv Ialltoallw Ineighbor_alltoallv; do
        says 1 "^godwit\[0\] check: buffer changed too early: bytes 8 to 15 of what MPI_$call at .* sends \(1 x blocks.* at "
    done
    says 1 "changed too early: bytes 8 to 15 of what MPI_Start at .* sends \(1 x blocks of MPI_INT at "
    says 1 "changed too early: bytes 152 to 159 of what MPI_Start at .* sends \(40 x MPI_INT at "
    finds $n arrays 6
    early='^godwit\[0\] check: array changed too early: bytes' until='were changed, or given back, before the operation was completed by a wait or test; this'
    says 1 "$early 0 to 7 of recvcounts of MPI_Igatherv at arrays_changed\+0x.*\($((4 * n)) bytes at .*\) $until"
    says 1 "$early $((8 * n - 8)) to $((8 * n - 1)) of sdispls of MPI_Ialltoallv_c at arrays_changed.*\($((8 * n)) bytes at .*\) $until"
    says 1 "$early 0 to 7 of sendtypes of MPI_Ialltoallw at arrays_changed.* $until"
    says 1 "$early 0 to 7 of sdispls of MPI_Ineighbor_alltoallv at arrays_changed.* $until"
    says 2 "$early 0 to 7 of recvcounts of MPI_Reduce_scatter_init at arrays_changed.* $until"
    finds $n blocks_overlap $((3 * n))
    says $n 'the receive buffer of MPI_Irecv at .* and the receive buffer of MPI_Iallgatherv at .* \(1 x blocks of MPI_INT at'
    says $n 'the send buffer and the receive buffer of MPI_Alltoallv at '
    says $n 'the receive buffer of MPI_Irecv at .* and the (send|receive) buffer of MPI_Start at '
done
for proto in auto e0 r0 r1; do
    for case in inter_ok neighbors_ok blocks_ok arrays_ok; do finds 3 $case 0 GODWIT_PROTO=$proto; done
done
for n in 1 2 4 5; do
    for case in inter_ok neighbors_ok blocks_ok arrays_ok; do finds $n $case 0; done
done
finds 3 colls_missing 5 $leaky
says 1 "$differ a communicator without a name: rank 0 called MPI_Ibarrier $at; ranks 1, 2 called nothing yet; at MPI_Finalize not all have made the call$"
says 1 "^godwit\[0\] check: operations not completed: no wait or test ended 1 operation of MPI_Ibarrier $at"
if run 3 colls_left; then fail "colls_left: MPI_Finalize took place with MPI_Allreduce"; fi
says 1 "$differ MPI_COMM_WORLD: ranks 0, 2 called MPI_Allreduce $at, 3 x MPI_INT, MPI_SUM; rank 1 called MPI_Finalize.*; they must call the same"
stuck="$differ MPI_COMM_WORLD: rank 0 called MPI_Bcast $at, 1 x MPI_INT, root 0; rank 1 called MPI_Bcast $at, 1 x MPI_INT, root 1; rank 2 called nothing yet; they must say the same root$"
for time in 4 10 40; do # on a busy machine the ranks come to their places later
    limit="--timeout $time"
    if run 3 colls_stuck; then fail "colls_stuck ended"; fi
    if grep -q -E "$stuck" "$out"; then break; fi
done
says 1 "$stuck"
limit=
for n in 1 2 3 5; do finds $n colls_ok 0; done
for proto in e0 r0 r1; do
    finds 3 colls 8 GODWIT_PROTO=$proto
    finds 3 colls_ok 0 GODWIT_PROTO=$proto
done
finds 4 colls_ok 0 GODWIT_LANES=4

# ---- what is left
finds 1 leaks 10 $leaky
says 1 'handles not freed: 3 communicators from MPI_Comm_dup at leaks\+0x.*; MPI_Comm_free frees them$'
says 1 'handles not freed: 1 datatype from MPI_Type_contiguous at '
says 1 'handles not freed: 1 operation from MPI_Op_create at '
says 1 'handles not freed: 1 group from MPI_Comm_group at '
says 1 'handles not freed: 1 info object from MPI_Info_create at '
says 1 'handles not freed: 1 error handler from MPI_Comm_create_errhandler at '
says 1 'handles not freed: 1 attribute key from MPI_Comm_create_keyval at '
says 1 'handles not freed: 1 persistent request of MPI_Send_init at .* to rank 0 with tag 5 on MPI_COMM_WORLD; MPI_Request_free frees them'
says 2 'operations not completed: no wait or test ended 1 operation of MPI_I(send|recv) at .* rank 0 with tag 6 .*, which is complete by itself'
finds 2 leaks_more 14 $leaky
for what in 'window from MPI_Win_allocate at .*; MPI_Win_free' 'file from MPI_File_open at .*; MPI_File_close' \
    'matched message from MPI_Mprobe at' 'attribute key from MPI_Win_create_keyval at' 'info object from MPI_Info_dup at' \
    'group from MPI_Group_incl at' 'datatype from MPI_Type_dup at'; do
    says 2 "handles not freed: 1 $what"
done
finds 3 leaks_ok 0
finds 2 unreceived 5 $leaky
says 1 '^godwit\[1\] check: messages not received: 4 messages of 48 bytes in all from rank 0 with tag 5 on MPI_COMM_WORLD came, and no receive took them'
says 1 '^godwit\[1\] check: messages not received: 1 message of 20 bytes from rank 0 with tag 6 '
says 1 '^godwit\[1\] check: messages not received: 1 message of 200000 bytes from rank 0 with tag 7 '
says 1 '^godwit\[0\] check: operations not completed: no wait or test ended 1 operation of MPI_Isend at .* to rank 1 with tag 7 .*, which is still pending'
says 1 '^godwit\[0\] check: operations not completed: no wait or test ended 1 operation of MPI_Irecv at .* from any rank with tag 8 .*, which is still pending'
finds 2 session_leaks 8 $leaky
says 2 'messages not received: 1 message of 8 bytes from rank [01] with tag 9 on a communicator without a name came'
says 2 'operations not completed: no wait or test ended 1 operation of MPI_Isend at [a-z_]*'
says 2 'handles not freed: 1 communicator from MPI_Comm_create_from_group at [a-z_]*'
says 2 'handles not freed: 1 group from MPI_Group_from_session_pset at [a-z_]*'
if run 1 session_open $leaky; then fail "session_open: a rank that leaves a session open is in order"; fi
says 1 'handles not freed: 1 session from MPI_Session_init at session_open.*; MPI_Session_finalize frees them$'

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
