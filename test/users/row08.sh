#!/bin/sh
# users.md row 8: mpiexec takes any -n, as root too, without an option; on a terminal one note says that ranks share cores, unless
# the user says that he knows; cores are those of the cpuset.
# run.py: timeout=60 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
fail() { echo "row 8: $*"; exit 1; }
one_core=$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')
many=$(($(nproc) + 3))
# on_terminal COMMAND: what it prints where standard error is a terminal
on_terminal() { timeout 100 script -qec "$1" /dev/null </dev/null | tr -d '\r'; }
notes() { on_terminal "$1" | grep -c 'mpiexec: .* ranks share .* cores' || :; }

out=$(timeout 100 "$build/mpiexec" -n $many "$build/mpi_world_size" 2>&1 | sort | uniq -c | tr -s ' ')
[ "$out" = " $many $many" ] || fail "not a terminal: $out"
[ "$(notes "$build/mpiexec -n $many $build/mpi_world_size")" = 1 ] || fail "not one note on a terminal"
[ "$(notes "$build/mpiexec --oversubscribe -n $many $build/mpi_world_size")" = 0 ] || fail "a note in spite of --oversubscribe"
[ "$(notes "$build/mpiexec -n 1 $build/mpi_world_size")" = 0 ] || fail "a note about one rank"
on_terminal "taskset -c $one_core $build/mpiexec -n 2 $build/mpi_world_size" | grep -q '2 ranks share 1 cores' || fail "the cpuset is not counted"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then # we are root above; here not, and in a folder that everybody may read
    dir=$(mktemp -d)
    trap 'rm -rf "$dir"' EXIT
    cp "$build/mpiexec" "$build/mpi_world_size" "$build/libmpi_abi.so.1" "$dir" && chmod 755 "$dir"
    [ "$(timeout 100 setpriv --reuid 65534 --regid 65534 --clear-groups "$dir/mpiexec" -n $many "$dir/mpi_world_size" | sort -u)" = $many ] ||
        fail "as nobody"
fi
