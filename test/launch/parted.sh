#!/bin/sh
# run.py: tags=quick
# Jobs that are connected fail together; those that have disconnected go on, and mpiexec's exit status says that one failed.
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
program=$build/mpi_spawn_parted
[ -x "$program" ] || { echo "no spawn_parted in $build"; exit 77; }

# The program's status, in `status`; the sign for which the jobs that go on wait comes when a process has been killed, and a while later: an end that
# ought not to come would have come.
ended() {
    rm -f "$tmp/sign"
    status=0
    : > "$tmp/err"
    timeout 60 "$@" "$tmp/sign" > "$tmp/out" 2> "$tmp/err" &
    while kill -0 $! 2> "$tmp/gone" && ! grep -q 'was killed by signal 15' "$tmp/err"; do sleep 0.05; done
    sleep 0.3
    : > "$tmp/sign"
    wait $! || status=$?
}

# HOW WHO, the lines of the ranks that go on, sorted, with commas
check() {
    ended "$build/mpiexec" -n 2 "$program" "$1" "$2"
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
    ended "$program" "$1" "$2"
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
