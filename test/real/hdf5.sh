#!/bin/sh
# Parallel HDF5 with all of its testpar checks on 2, 4 and 6 ranks, but for the longest also on two hosts of test/cluster, and
# parallel NetCDF-4 on top of it and of PnetCDF with its parallel tests: all unmodified, from Debian's source archive, built with
# the installed mpicc.  About an hour on four cores, hours where they have other work.  Most of it is t_cache_image, and there
# HDF5 itself: 60 % of its processor time it clears a conversion buffer of 1 MiB for each of its 10x10 blocks, 400 thousand a
# pass; 3 % is spent in MPI.  Cut to 8 of its 256 datasets it took 17.0, 17.7 and 22.1 s on 2, 4 and 6 ranks of four idle cores,
# with Debian's MPICH 17.1, 17.6 and more than 40.  Its last part calls MPI_Allreduce 38 thousand times for 4 datasets (32 in
# full): with other work on the cores each may wait for a time slice. It also starts itself by fork() and takes a child that is
# stopped for one that failed: do not stop this script (^Z) and go on.
# run.py: timeout=10800 tags=extra
#
# hdf5.sh BUILD PREFIX [ranks...]     sources and builds are kept in BUILD/real
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
[ -n "${2:-}" ] || { echo "needs an installed Godwit"; exit 77; }
build=$1
prefix=$(cd "$2" && pwd)
shift 2
[ $# -gt 0 ] || set -- 2 4 6
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$build/real"
cd "$build/real"
here=$PWD
PATH=$prefix/bin:$PATH
# HDF5 ends a test that takes 20 minutes, which a busy machine may need.
HDF5_ALARM_SECONDS=7000
export PATH HDF5_ALARM_SECONDS
. "$root/test/real/debian.sh"
[ -f /usr/include/zlib.h ] || { echo "hdf5: needs the package zlib1g-dev"; exit 77; }

# must LOG COMMAND...: all that it says goes to the log, the end of which is shown when it fails.
must() {
    log=$1
    shift
    "$@" > "$log" 2>&1 || { tail -n 30 "$log"; echo "failed: $*; the whole log is $here/$log"; exit 1; }
}

hdf5_build() {
    unpack hdf5 hdf5
    (cd hdf5 && CC=mpicc ./configure --prefix="$here/hdf5.installed" --enable-parallel --enable-build-mode=production \
        --disable-shared CFLAGS="-O1 -w" && make -j"$jobs" -C src && make -j"$jobs" -C test libh5test.la &&
        make -j"$jobs" -C hl/src && make -C src install && make -C hl/src install && cd testpar &&
        make -j"$jobs" $(sed -n 's/^TEST_PROG_PARA = //p' Makefile) t_pflush1 t_pflush2)
}

pnetcdf_build() {
    unpack pnetcdf pnetcdf
    (cd pnetcdf && autoreconf -i && MPICC=mpicc ./configure --prefix="$here/pnetcdf.installed" --disable-fortran --disable-cxx \
        --disable-shared CFLAGS="-O1 -w" && make -j"$jobs" && make install)
}

netcdf_build() {
    unpack netcdf netcdf
    (cd netcdf && CC=mpicc ./configure --prefix="$here/netcdf.installed" --enable-parallel-tests --enable-pnetcdf --disable-dap \
        --disable-byterange --disable-libxml2 --disable-shared --disable-plugins --with-mpiexec="$prefix/bin/mpiexec" \
        CFLAGS="-O1 -w" CPPFLAGS="-I$here/hdf5.installed/include -I$here/pnetcdf.installed/include" \
        LDFLAGS="-L$here/hdf5.installed/lib -L$here/pnetcdf.installed/lib" LIBS="-lz -ldl -lm" && make -j"$jobs")
}

# netcdf_test SCRIPT RUNS: one of its scripts of parallel programs, which says RUNS times or more that a program passed.  Not all
# of these scripts end with the status of the programs that they run.
netcdf_test() {
    folder=${1%/*}
    began=$(date +%s)
    must "netcdf.$(echo "$folder" | tr / .)" make -C "netcdf/$folder" check TESTS="${1##*/}"
    log=$(ls "netcdf/$1.log" "netcdf/${1%.sh}.log" 2>/dev/null || true)
    # nc_test asks for parallel access to a netCDF-4 file that it has made without, notes what it is told, and goes on.
    if grep -v 'file opened for non-parallel access' "$log" | grep -E '^mpiexec:|FAIL|Sorry|MPI_ERR'; then
        echo "netcdf: $1 failed; see $here/$log"
        exit 1
    fi
    passed=$(grep -c -i 'Tests successful\|SUCCESS' "$log" || true)
    [ "$passed" -ge "$2" ] || { echo "netcdf: only $passed programs of $1 passed; see $here/$log"; exit 1; }
    echo "netcdf: $passed runs of $1 passed in $(($(date +%s) - began)) s"
}

for package in hdf5 pnetcdf netcdf; do fetch "$package"; done
[ -x hdf5/testpar/t_filters_parallel ] || must hdf5.log hdf5_build
[ -f pnetcdf.installed/lib/libpnetcdf.a ] || must pnetcdf.log pnetcdf_build
[ -f netcdf/liblib/libnetcdf.la ] || must netcdf.log netcdf_build

netcdf_test h5_test/run_par_tests.sh 8
netcdf_test nc_test4/run_par_test.sh 14
netcdf_test nc_test/run_pnetcdf_tests.sh 6
netcdf_test examples/C/run_par_test.sh 1

programs=$(sed -n 's/^TEST_PROG_PARA = //p' hdf5/testpar/Makefile)
for n in "$@"; do
    run=$programs
    # Below 3 ranks t_cache says so, frees a datatype that it has not made, and is ended for it (by every MPI).
    [ "$n" -ge 3 ] || run=$(echo "$programs" | sed 's/ t_cache / /')
    rm -f hdf5/testpar/*.chkexe* hdf5/testpar/*.chklog hdf5/testpar/*.h5
    began=$(date +%s)
    NPROCS=$n must "hdf5.$n" make -C hdf5/testpar check TEST_PROG_PARA="$run"
    echo "hdf5: $(grep -c '^Finished testing' "hdf5.$n") programs of testpar passed on $n ranks in $(($(date +%s) - began)) s"
done

# On two hosts, which share the folder.  Without t_cache_image: it waits some 40 thousand times for an answer of all.
command -v mpiexec.hydra > /dev/null || { echo "hdf5 on two hosts: skipped: no mpiexec.hydra here"; exit 0; }
run=$(echo " $programs " | sed 's/ t_cache_image / /')
rm -f hdf5/testpar/*.h5
began=$(date +%s) rc=0
(cd hdf5/testpar && "$root/test/cluster/cluster" --hosts 2 sh -c 'for t; do
    timeout 1200 mpiexec --engine hydra -host n1,n2 -n 4 "./$t" && echo "passed: $t" || exit 1; done' hosts $run) > hdf5.hosts 2>&1 || rc=$?
case $rc in
0) echo "hdf5: $(grep -c '^passed: ' hdf5.hosts) programs of testpar passed on 4 ranks of two hosts in $(($(date +%s) - began)) s" ;;
77) tail -n 1 hdf5.hosts ;;
*) tail -n 30 hdf5.hosts; echo "failed on two hosts; the whole log is $here/hdf5.hosts"; exit 1 ;;
esac
