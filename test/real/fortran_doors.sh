#!/bin/sh
# Binaries of Debian that were built with Open MPI, in Fortran and C, run unmodified through its door: ScaLAPACK's tests and those of the
# BLACS, NWChem, Quantum ESPRESSO.  Each runs on 1, 2 and 4 ranks by our mpiexec and on its own library by mpiexec.openmpi, and both say
# the same.  (xdsep is not among them: on its own library, too, one of its tests fails now and then.)
# run.py: timeout=1800 tags=extra
#
# fortran_doors.sh BUILD PREFIX     packages are kept in BUILD/real/debian
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$(cd "$1" && pwd)
command -v mpiexec.openmpi >/dev/null || { echo "skipped: needs mpiexec.openmpi (Debian's openmpi-bin)"; exit 77; }
ldconfig -p | grep -q libblas.so.3 || { echo "skipped: needs libblas3 and liblapack3"; exit 77; }
mkdir -p "$build/real/debian"
cd "$build/real/debian"
export OMP_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
own=$PWD/root/usr/lib/x86_64-linux-gnu

packages="scalapack-mpi-test scalapack-test-common libscalapack-openmpi2.2 quantum-espresso quantum-espresso-data nwchem-openmpi nwchem-data libfftw3-double3"
for p in $packages; do
    ls "$p"_*.deb >/dev/null 2>&1 || apt-get download "$p" >apt.log 2>&1 || { tail -n 3 apt.log; echo "skipped: Debian's archive has no $p for us"; exit 77; }
done
[ -f root/complete ] || { for f in *.deb; do dpkg -x "$f" root; done; touch root/complete; }
bad=0 ran=0 ends=0

# both NAME RANKS FOLDER WHAT COMMAND...: the lines that match WHAT are the same, and there are some.
both() {
    name="$1 on $2 ranks" ranks=$2 folder=$3 what=$4
    shift 4
    ran=$((ran + 1))
    (cd "$folder" && LD_LIBRARY_PATH=$own timeout 300 "$build/mpiexec" -n "$ranks" "$@") >ours.out 2>&1 </dev/null && rc=0 || rc=$?
    [ $rc = $ends ] || { tail -n 5 ours.out; echo "$name ended with $rc"; bad=1; }
    (cd "$folder" && LD_LIBRARY_PATH=$own timeout 600 mpiexec.openmpi --oversubscribe -n "$ranks" "$@") >theirs.out 2>&1 </dev/null && rc=0 || rc=$?
    [ $rc = $ends ] || { echo "$name ended with $rc on its own library"; bad=1; }
    grep -E "$what" ours.out >ours.lines || { echo "$name says nothing of '$what'"; bad=1; }
    grep -E "$what" theirs.out >theirs.lines || :
    cmp -s ours.lines theirs.lines || { diff ours.lines theirs.lines | head -n 10; echo "$name differs"; bad=1; }
}

# What a program of Fortran that names Open MPI's libraries gets from mpiexec alone.
out=$(LD_LIBRARY_PATH=$own LD_DEBUG=libs "$build/mpiexec" -n 1 root/usr/bin/pw.x -h 2>&1 </dev/null | grep 'calling init:.*libmpi_mpifh') || :
case $out in *"$build"/fortran/*) ;; *) echo "mpiexec gave pw.x no door: $out"; bad=1 ;; esac

mkdir -p run && cd run
tests=$own/scalapack/openmpi-tests
for n in 1 2 4; do
    for t in xdlu xclu xdllt xdqr xdhrd xdnep xdls xdtrd; do
        both $t $n "$tests" 'tests (completed|skipped)' ./$t
    done
done
ends=255 # the last of them is whether blacs_abort ends all; whether sums are found to be repeatable is a matter of chance
for t in xCbtest xFbtest; do
    both $t 4 "$tests/BLACS" '^ *(PASSED|SKIPPED|FAILED) +[^R]' ./$t
done
ends=0

zcat ../root/usr/share/doc/quantum-espresso/examples/atomic/pseudo-LDA-0.5/Si.pz-vbc.UPF.gz >Si.UPF
cat >si.in <<EOT
&control
 calculation='scf', prefix='si', pseudo_dir='.', outdir='si', tprnfor=.true., tstress=.true.
/
&system
 ibrav=2, celldm(1)=10.2, nat=2, ntyp=1, ecutwfc=16
/
&electrons
 conv_thr=1e-9
/
ATOMIC_SPECIES
 Si 28.086 Si.UPF
ATOMIC_POSITIONS alat
 Si 0 0 0
 Si 0.26 0.25 0.25
K_POINTS automatic
 3 3 3 1 1 1
EOT
cat >h2o.nw <<EOT
title "water"
start h2o
memory 400 mb
geometry units angstroms
 O 0 0 0.1173
 H 0 0.7572 -0.4692
 H 0 -0.7572 -0.4692
end
basis
 * library 6-31g*
end
task scf gradient
EOT
export NWCHEM_BASIS_LIBRARY=$PWD/../root/usr/share/nwchem/libraries/ NWCHEM_NWPW_LIBRARY=$PWD/../root/usr/share/nwchem/libraryps/
for n in 1 2 4; do
    both "Quantum ESPRESSO" $n . '^!|Total force|total *stress|JOB DONE' ../root/usr/bin/pw.x -in si.in
    both NWChem $n . 'Total SCF energy|^ +[0-9]+ [OH] ' ../root/usr/bin/nwchem.openmpi h2o.nw
done
echo "$ran runs, each on both libraries"
exit $bad
