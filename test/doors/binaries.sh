#!/bin/sh
# Binaries of Debian that were built with Open MPI, as Debian made them, through the door: they compute what they compute with their own
# library.  HPC Challenge, LAMMPS, mpi4py.  BUILD PREFIX [RANKS...]; packages are unpacked into a folder, none is installed.
# run.py: timeout=900 tags=extra
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$(cd "$1" && pwd) here=$(cd "$(dirname "$0")" && pwd)
fail() { echo "binaries: $*" >&2; exit 1; } # what runs in $( ) prints its results
command -v mpirun.openmpi >/dev/null || { echo "skipped: needs Debian's Open MPI (openmpi-bin)"; exit 77; }
keep=$build/binaries
mkdir -p "$keep" && cd "$keep"
packages="hpcc libblas3 lammps liblammps0 libfftw3-double3 libvoro++1 libkim-api2 python3-mpi4py"
for p in $packages; do
    ls "$p"_*.deb >/dev/null 2>&1 || apt-get -qq download "$p" >apt.log 2>&1 || { tail -n 3 apt.log; echo "skipped: Debian's archive cannot be reached"; exit 77; }
    dpkg-deb -x "$p"_*.deb root
done
libs=$keep/root/usr/lib/x86_64-linux-gnu
export LD_LIBRARY_PATH="$libs:$libs/blas" OMP_NUM_THREADS=1 PYTHONPATH="$keep/root/usr/lib/python3/dist-packages"
for p in hpcc lmp; do ldd root/usr/bin/$p | grep "not found" && { echo "skipped: $p misses libraries"; exit 77; }; done
run() { timeout 200 "$build/mpiexec" "$@" </dev/null; }

# hpcc RANKS: how many of its tests passed and failed, and residuals of those that do not depend on time
hpcc() {
    rm -rf work && mkdir work && cd work
    printf '%s\n' "" "" "HPL.out" "8" "1" "120" "1" "24" "0" "1" "1" "$1" "16.0" "1" "2" "1" "4" "1" "2" "1" "1" "1" "0" "1" "0" "2" "64" "0" "0" "1" "8" >hpccinf.txt
    run -n "$1" ../root/usr/bin/hpcc >out 2>&1 || { cat out >&2; fail "hpcc on $1 ranks"; }
    grep -E 'tests completed and|^Success|Failure|_errCount|WR1' hpccoutf.txt | grep -v Time | sed 's/  *[0-9.]*  *[0-9.e+-]*$//' || true
    cd ..
}
lammps() { run -n "$1" root/usr/bin/lmp -in "$here/lennard_jones.in" -log none 2>&1 | grep -E '^ +[0-9]+ +[0-9.]+ ' || fail "lmp on $1 ranks"; }
mpi4py() { # python3 is no MPI program to mpiexec: the doors are put in front here
    LD_LIBRARY_PATH=$doors$LD_LIBRARY_PATH run -n "$1" python3 "$here/some_mpi4py.py"
}
shift 2
for n in ${@:-1 2 4 7}; do
    for what in hpcc lammps mpi4py; do
        doors=$build/src/door: ; mine=$($what "$n")
        doors= ; its=$(export GODWIT_DOORS=off; $what "$n")
        [ $what != mpi4py ] || mine=$(echo "$mine" | sed 's/^True/False/') # whether it says Godwit
        [ "$mine" ] && [ "$mine" = "$its" ] || fail "$what, $n ranks: through the door
$mine
with its own library
$its"
    done
done
