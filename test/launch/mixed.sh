#!/bin/sh
# Ranks of one job on different libraries (Debian's MPICH and Open MPI, each its own, and Godwit), below wrappers, which hide that from
# mpiexec at the start: before, all waited for ever.  The job ends with who came by what.  Scripts that run one after the other do not.
# users.md row 2
# run.py: timeout=280 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$(cd "$1" && pwd) here=$(cd "$(dirname "$0")" && pwd)
fail() { echo "mixed: $*"; exit 1; }
for peer in mpich openmpi; do
    command -v mpicc.$peer >/dev/null || { echo "skipped: needs mpicc.$peer (Debian's mpich, libopenmpi-dev)"; exit 77; }
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
for peer in mpich openmpi; do mpicc.$peer "$here/sum.c" -o $peer; done
export GODWIT_DOORS=off
run() { timeout 60 "$build/mpiexec" "$@" </dev/null; }
# lib PROGRAM: the file of its MPI library
lib() { readlink -f "$(ldd "$1" | awk '$1 ~ /^libmpi(ch)?\.so/ {print $3; exit}')"; }
# short FILE: its name without the last numbers of its version
short() { basename "$1" | sed 's/\(\.so\.[0-9]*\.[0-9]*\).*/\1/'; }
mpich="by a library that uses PMI ($(short "$(lib mpich)"))" openmpi="by a library that uses PMIx ($(short "$(lib openmpi)"))" ours="by Godwit"
differ() { # SENTENCE ARGUMENTS...: the job ends with who came by what, once, and prints nothing else
    want=$1 rc=0
    shift
    run "$@" >out 2>err || rc=$?
    [ $rc = 126 ] || fail "$*: status $rc: $(cat out err)"
    grep -qF "mpiexec: the ranks came by different libraries, which cannot meet: $want; the job ends now." err || fail "$*: $(cat err)"
    [ "$(grep -c '^mpiexec: ' err)" = 1 ] || fail "$*: it says more: $(cat err)"
}
child='import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:], close_fds=False))'
closing='import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))'
differ "rank 1 $mpich, rank 0 $openmpi" -n 1 sh -c ./openmpi : -n 1 sh -c ./mpich
grep -q "Compile all its programs with mpicc of Godwit, or leave out GODWIT_DOORS=off" err || fail "what to do: $(cat err)"
differ "rank 0 $mpich, rank 1 $openmpi" -n 1 sh -c ./mpich : -n 1 python3 -c "$closing" ./openmpi
differ "ranks 0-1, 5 $mpich, ranks 2-4 $openmpi" -n 2 env ./mpich : -n 3 nice ./openmpi : -n 1 python3 -c "$child" ./mpich
differ "rank 2 $mpich, rank 0 $openmpi" -n 1 sh -c "sleep 2; ./openmpi" : -n 1 sleep 50 : -n 1 sh -c ./mpich # one is late, one runs no MPI
differ "ranks 0-1 $ours, rank 2 $openmpi" -n 2 sh -c "$build/mpi_world_size" : -n 1 sh -c ./openmpi
# Ours without what mpiexec tells it comes by PMI, as MPICH does, and waits with it for a third rank.
differ "rank 0 $mpich, rank 1 by a library that uses PMI (libmpi_abi.so)" -n 1 sh -c ./mpich : -n 1 env -u GODWIT_BOOT sh -c "$build/mpi_world_size" : -n 1 sleep 50
differ "rank 1 $ours, rank 0 $mpich" -n 1 sh -c ./mpich : -n 1 sh -c "$build/mpi_world_size"

# Of two versions of one library, which come in the same way: they wait for a third rank.
for peer in mpich openmpi; do
    file=$(lib $peer) soname=$(basename "$(ldd $peer | awk '$1 ~ /^libmpi(ch)?\.so/ {print $1; exit}')")
    mkdir other_$peer
    cp "$file" "other_$peer/$soname.99.1"
    ln -s "$soname.99.1" "other_$peer/$soname"
    eval "by=\$$peer"
    differ "rank 0 $by, rank 1 ${by%(*}($soname.99)" -n 1 sh -c ./$peer : -n 1 env LD_LIBRARY_PATH="$dir/other_$peer" ./$peer : -n 1 sleep 50
    run -n 1 sh -c ./$peer : -n 1 nice ./$peer : -n 1 sh -c "sleep 3; ./$peer" >out 2>err && [ "$(grep -c "sum 3$" out)" = 3 ] || fail "one library: $(cat out err)"
done

# One after the other, and one rank is ahead of the other: the programs of same number are of one library.
# MPICH shuts down what it has inherited from mpiexec when a program ends, which its own mpiexec lets the next one die of.
for line in './openmpi && ./mpich && ./openmpi' './mpich && ./openmpi' './mpich && ./mpich && ./mpich'; do
    run -n 2 sh -c "$line" >out 2>err || fail "$line: $(cat out err)"
    [ "$(grep -c "/2 app 0 sum 1$" out)" = $(($(echo "$line" | grep -o '\./' | wc -l) * 2)) ] && ! grep mpiexec: err || fail "$line: $(cat out err)"
done
exit 0
