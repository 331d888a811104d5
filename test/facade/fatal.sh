#!/bin/sh
# A mistake ends the job: one block that names rank, pid, host, the call with its arguments, what is wrong and what to do; no
# other block; the exit status is the error's; the ranks that wait end too.
# users.md row 18
# run.py: timeout=120 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
here=$(dirname "$0")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cc -Wall -Werror -I"$build/include" "$here/fatal.c" -o "$tmp/fatal" -L"$build" -lmpi_abi -Wl,-rpath,"$build"
wrong() { echo "$*"; cat "$tmp/err"; exit 1; }

# mistake NAME STATUS TEXT...: every text stands in what is printed
mistake() {
    name=$1 want=$2
    shift 2
    status=0
    timeout 100 "$build/mpiexec" -n 3 "$tmp/fatal" "$name" > "$tmp/out" 2> "$tmp/err" || status=$?
    [ "$status" = "$want" ] || wrong "$name: exit status $status, not $want"
    [ ! -s "$tmp/out" ] || wrong "$name: the job went on"
    for text in "$@"; do
        grep -qF -e "$text" "$tmp/err" || wrong "$name: nothing says: $text"
    done
}
# block NAME STATUS CALL CLASS TEXT...: the same, and the one block has its form
block() {
    name=$1 status=$2 call=$3 class=$4
    shift 4
    mistake "$name" "$status" "godwit: rank 1 (pid " " on $(hostname)): $call(" " failed" "  $class: " "this rank and the job end now" "$@"
    [ "$(grep -c '^godwit: ' "$tmp/err")" = 1 ] || wrong "$name: not one block"
    grep -q "^mpiexec: rank 1 .*$call: $class" "$tmp/err" || wrong "$name: mpiexec does not say why"
}

[ "$("$build/mpiexec" -n 3 "$tmp/fatal" none)" = finished ] || { echo "without a mistake it fails"; exit 1; }
block count 2 MPI_Send MPI_ERR_COUNT "count=-1, datatype=MPI_INT, dest=0, tag=5, comm=MPI_COMM_WORLD" "count is -1; it must not be negative" \
    "MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN)"
block rank 6 MPI_Send MPI_ERR_RANK "dest is 17; MPI_COMM_WORLD has ranks 0 to 2"
block null 1 MPI_Recv MPI_ERR_BUFFER "buf is NULL; it must hold 100 items of MPI_DOUBLE (800 bytes)"
block op 10 MPI_Reduce_local MPI_ERR_OP "MPI_BXOR is not defined on MPI_DOUBLE"
block truncate 15 MPI_Recv MPI_ERR_TRUNCATE "16 bytes from rank 1, tag 5" "8 bytes (2 x MPI_INT)"
block waitall 19 MPI_Waitall MPI_ERR_IN_STATUS "MPI_STATUSES_IGNORE" "8 bytes (2 x MPI_INT)"
block type 3 MPI_Send MPI_ERR_TYPE "call MPI_Type_commit"
block freed 5 MPI_Barrier MPI_ERR_COMM "was freed"
block predefined 3 MPI_Type_free MPI_ERR_TYPE "datatype=&MPI_INT" "MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)"
block zero 30 MPI_File_seek MPI_ERR_FILE "(fh=MPI_FILE_NULL, offset=0, whence=" # no pointer
block key 32 MPI_Info_delete MPI_ERR_INFO_NOKEY 'no key "nokey"'
block errors_abort 3 MPI_Type_size MPI_ERR_TYPE "datatype is MPI_DATATYPE_NULL" "MPI_ERRORS_ABORT is set"
mistake abort 7 "MPI_Abort(MPI_COMM_WORLD, 7)"
mistake before 16 "MPI_Barrier(comm=MPI_COMM_WORLD) failed" "it was called before MPI_Init"
status=0
timeout 100 "$build/mpiexec" -n 3 "$tmp/fatal" after > "$tmp/out" 2> "$tmp/err" || status=$?
[ "$status" = 16 ] && grep -q "after MPI_Finalize" "$tmp/err" || wrong "after: exit status $status"

# Checks off by the setting: the same program, right, still runs.
[ "$(GODWIT_CHECK_ARGS=off "$build/mpiexec" -n 3 "$tmp/fatal" none)" = finished ] || { echo "without checks it fails"; exit 1; }
