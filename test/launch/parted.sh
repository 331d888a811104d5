#!/bin/sh
# run.py: tags=quick
# Jobs that are connected fail together; those that have disconnected go on, and mpiexec's exit status tells of the failure.
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
program=$build/mpi_spawn_parted
[ -x "$program" ] || { echo "no spawn_parted in $build"; exit 77; }

# HOW WHO, the lines of those who go on, sorted, with commas
check() {
    rm -f "$tmp/sign"
    status=0
    timeout 60 "$build/mpiexec" -n 2 "$program" "$1" "$2" "$tmp/sign" > "$tmp/out" 2> "$tmp/err" || status=$?
    got=$(grep 'goes on$' "$tmp/out" | sort | tr '\n' ',')
    [ $status = 143 ] && [ "$got" = "$3" ] && return
    echo "$1 $2: status $status instead of 143, \"$got\" instead of \"$3\":"
    cat "$tmp/out" "$tmp/err"
    exit 1
}
check parted child "parent goes on,"
check parted parent "child goes on,"
check parted grandchild "child goes on,parent goes on,"
check parted sibling "parent goes on,"
check tied child ""
check tied parent ""
check tied grandchild ""
grep -q "a job that this one is connected with failed" "$tmp/err"

# The parent is a process without mpiexec: HOW WHO STATUS
alone() {
    rm -f "$tmp/sign"
    status=0
    timeout 60 "$program" "$1" "$2" "$tmp/sign" > "$tmp/out" 2> "$tmp/err" || status=$?
    [ $status = "$3" ] || { echo "alone, $1 $2: status $status instead of $3:"; cat "$tmp/out" "$tmp/err"; exit 1; }
}
alone parted child 0
grep -q "parent goes on" "$tmp/out"
alone tied child 143
alone parted parent 143
i=0
until grep -q "child goes on" "$tmp/out"; do
    i=$((i + 1))
    [ $i -lt 600 ] || { echo "alone, parted parent: the child does not go on"; cat "$tmp/err"; exit 1; }
    sleep 0.1
done
