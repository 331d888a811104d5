#!/bin/sh
# run.py: tags=quick
# Jobs started apart meet at a published port; where one fails while they are connected the other ends too, and says why.
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
program=$build/mpi_spawn_apart
[ -x "$program" ] || { echo "no spawn_apart in $build"; exit 77; }
fail() { echo "apart: $*"; cat "$tmp"/*; exit 1; }

# HOW, the two exit statuses wanted
both() {
    s=0 c=0
    timeout 60 "$build/mpiexec" -n 2 "$program" serve "apart $$ $1" "$1" > "$tmp/server" 2>&1 &
    server=$!
    timeout 60 "$build/mpiexec" -n 3 "$program" use "apart $$ $1" "$1" > "$tmp/client" 2>&1 || c=$?
    wait $server || s=$?
    [ $s = "$2" ] && [ $c = "$3" ] || fail "$1: server $s instead of $2, client $c instead of $3"
}
both well 0 0
both failing 7 7
grep -q "a job that this one is connected with failed" "$tmp/server" || fail "the server's mpiexec does not say why it ended"
both parted 0 7
