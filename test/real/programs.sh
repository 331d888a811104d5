#!/bin/sh
# Real MPI programs, unmodified, from Debian's source archive, built with the installed mpicc and run by the installed mpiexec:
# HPC Challenge (4 and 9 ranks, and 2 and 4 over two hosts of test/cluster, all its checks), FFTW's MPI transforms (verified against its own reference), MrBayes, the tests of
# hypre (persistent requests, derived types) and p4est (attributes, node communicators, groups).  With --all, or by name, also
# LAMMPS (Cartesian topology, reverse communication) and PETSc, in C and Fortran (neighbourhood and non-blocking collectives, attributes, graphs):
# five to ten minutes of a core each to build.
# Some of the runs are made with GODWIT_CHECK=1, which must find nothing: the programs are right.
# run.py: timeout=2400 tags=install args=hpcc,fftw,p4est
#
# programs.sh [--all] BUILD PREFIX [program...]     those of Debian that are named (none: the five first); sources and builds are kept in BUILD/real
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
all=
if [ "${1:-}" = --all ]; then all=yes && shift; fi
[ -n "${2:-}" ] || { echo "needs an installed Godwit"; exit 77; }
build=$1
prefix=$(cd "$2" && pwd)
shift 2
if [ $# -eq 0 ]; then set -- hpcc mrbayes fftw hypre p4est ${all:+lammps petsc}; fi
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$build/real"
cd "$build/real"
here=$PWD
PATH=$prefix/bin:$PATH
export PATH

. "$root/test/real/debian.sh"

# checked COMMAND...: with GODWIT_CHECK=1, which may cost time and finds nothing.
checked() {
    GODWIT_CHECK=1 "$@" 2> check.err || { tail -n 20 check.err; return 1; }
    cat check.err >&2
    if grep '^godwit\[[0-9]*\] check: ' check.err; then
        echo "GODWIT_CHECK says this about $*"
        return 1
    fi
}

hpcc_makefile() {
    cat <<'EOT'
SHELL=/bin/sh
CD=cd
CP=cp
LN_S=ln -s
MKDIR=mkdir
RM=/bin/rm -f
TOUCH=touch
ARCH=godwit
TOPdir=../../..
INCdir=$(TOPdir)/include
BINdir=$(TOPdir)/bin/$(ARCH)
LIBdir=$(TOPdir)/lib/$(ARCH)
HPLlib=$(LIBdir)/libhpl.a
LAlib=-lblas
F2CDEFS=-DAdd_ -DF77_INTEGER=int -DStringSunStyle
HPL_INCLUDES=-I$(INCdir) -I$(INCdir)/$(ARCH)
HPL_LIBS=$(HPLlib) $(LAlib) -lm
HPL_DEFS=$(F2CDEFS) $(HPL_INCLUDES)
CC=mpicc
CCNOOPT=$(HPL_DEFS)
CCFLAGS=$(HPL_DEFS) -O1 -w
LINKER=mpicc
LINKFLAGS=$(CCFLAGS)
ARCHIVER=ar
ARFLAGS=r
RANLIB=echo
EOT
}

hpcc_build() {
    [ ! -x hpcc/hpcc ] || return 0
    unpack hpcc hpcc
    hpcc_makefile > hpcc/hpl/Make.godwit
    make -C hpcc arch=godwit > hpcc.log 2>&1 || { tail -n 20 hpcc.log; exit 1; }
}

# hpcc_run P Q WHERE COMMAND...: its matrices on P x Q ranks, started by the command; all that it checks itself must have passed.
# (A row of processor time is there only if it is not 0.)
hpcc_run() {
    sed "s/^2 *Ps/$1 Ps/; s/^2 *Qs/$2 Qs/" hpcc/_hpccinf.txt > hpcc/hpccinf.txt
    rm -f hpcc/hpccoutf.txt
    what="$(($1 * $2)) ranks$3"
    shift 3
    (cd hpcc && OPENBLAS_NUM_THREADS=1 && export OPENBLAS_NUM_THREADS && "$@") || return
    grep -q '^Success=1' hpcc/hpccoutf.txt || { echo "hpcc on $what: no success line"; exit 1; }
    if grep -E 'FAILED|errors in .*failed' hpcc/hpccoutf.txt; then exit 1; fi
    [ "$(grep -c '^WALL.*PASSED' hpcc/hpccoutf.txt)" = 5 ] && [ "$(grep -c '^||Ax-b.*PASSED' hpcc/hpccoutf.txt)" = 1 ] ||
        { echo "hpcc on $what: fewer checks than expected"; exit 1; }
    echo "hpcc on $what: all checks passed, Success=1"
}

hpcc() {
    hpcc_run 2 2 "" checked timeout 900 mpiexec -n 4 ./hpcc || exit 1
    hpcc_run 3 3 "" timeout 900 mpiexec -n 9 ./hpcc || exit 1
    command -v mpiexec.hydra > /dev/null || { echo "hpcc on two hosts: skipped: no mpiexec.hydra here"; return 0; }
    for q in 1 2; do
        rc=0
        hpcc_run 2 $q " of two hosts" "$root/test/cluster/cluster" --hosts 2 timeout 300 mpiexec --engine hydra -host n1,n2 -n $((2 * q)) \
            ./hpcc 2> hpcc.hosts || rc=$?
        [ $rc != 77 ] || return 0 # cluster has said why
        [ $rc = 0 ] || { cat hpcc.hosts; exit 1; }
    done
}

mrbayes_build() {
    [ ! -x mrbayes/src/mb ] || return 0
    unpack mrbayes mrbayes
    (cd mrbayes && MPICC=mpicc CC=mpicc ./configure --with-mpi --without-beagle --without-readline CFLAGS="-O1 -w" &&
        make -j"$jobs") > mrbayes.log 2>&1 || { tail -n 20 mrbayes.log; exit 1; }
}

mrbayes() {
    cat > mrbayes/job.nex <<'EOT'
begin mrbayes;
 set autoclose=yes nowarn=yes seed=7 swapseed=7;
 execute examples/primates.nex;
 lset nst=6 rates=invgamma;
 mcmc ngen=2000 samplefreq=100 printfreq=1000 nruns=2 nchains=2 filename=out;
end;
EOT
    for n in 1 2 4; do
        with=
        [ $n != 4 ] || with=checked
        (cd mrbayes && $with timeout 600 mpiexec -n $n src/mb job.nex) > mrbayes.$n.log 2>&1 ||
            { tail -n 20 mrbayes.$n.log; exit 1; }
        cp mrbayes/out.run1.p mrbayes.$n.p
    done
    # However the chains are spread over ranks, the same number of samples must come out.
    for n in 2 4; do
        cut -f1,2 mrbayes.1.p | tail -n +2 > a && cut -f1,2 mrbayes.$n.p | tail -n +2 > b
        [ -s a ] && [ "$(wc -l < a)" = "$(wc -l < b)" ] || { echo "mrbayes on $n ranks: other samples"; exit 1; }
    done
    echo "mrbayes: ran on 1, 2 and 4 ranks"
}

fftw_build() {
    [ ! -x fftw3/mpi/mpi-bench ] || return 0
    unpack fftw3 fftw3
    (cd fftw3 && MPICC=mpicc ./configure --enable-mpi --disable-fortran --disable-doc --disable-shared CFLAGS="-O0 -w" &&
        make -j"$jobs" && make -C mpi mpi-bench) > fftw3.log 2>&1 || { tail -n 20 fftw3.log; exit 1; }
}

fftw() {
    for n in 1 3 4 5; do
        with=
        [ $n != 3 ] || with=checked
        for problem in ic64x32 ofr36x24x10 obc1024 okd30e10x12o00 ik13x17; do
            $with timeout 400 mpiexec -n $n fftw3/mpi/mpi-bench --verbose=1 --verify-rounds=2 --verify "$problem" > fftw.out 2>&1 ||
                { tail -n 5 fftw.out; echo "fftw: $problem on $n ranks failed"; exit 1; }
        done
    done
    echo "fftw: transforms verified on 1, 3, 4 and 5 ranks"
}

# Their *.sh compare runs on 1 to 8 ranks with each other and with saved results; whatever differs is written to NAME.err.
hypre_tests() {
    for t in "$@"; do
        rm -f "${t%.sh}.err"
        (cd hypre/src/test && PATH=$here/hypre.bin:$PATH timeout 1500 bash ./runtest.sh -mpi "mpiexec -n" -rtol 1e-6 -atol 1e-8 \
            -t "${t#hypre/src/test/}") > hypre.out 2>&1 || { tail -n 20 hypre.out; echo "hypre: $t could not be run"; exit 1; }
        [ -f "${t%.sh}.err" ] || { tail -n 20 hypre.out; echo "hypre: $t left no verdict"; exit 1; }
        [ ! -s "${t%.sh}.err" ] || { tail -n 20 "${t%.sh}.err"; echo "hypre: $t: other results"; exit 1; }
    done
}

hypre_build() {
    [ ! -x hypre/src/test/struct_migrate ] || return 0
    unpack hypre hypre
    (cd hypre/src && ./configure --disable-fortran CC=mpicc CXX=mpicxx CFLAGS="-O0 -w" CXXFLAGS="-O0 -w" && make -j"$jobs" &&
        make -C test -j"$jobs" ij struct sstruct ${all:+maxwell_unscaled} && make -C test struct_migrate) > hypre.log 2>&1 ||
        { tail -n 20 hypre.log; exit 1; }
}

hypre() {
    # runtest.sh starts by the host's name what it takes for a machine of its own laboratory.
    mkdir -p hypre.bin && printf '#!/bin/sh\necho here\n' > hypre.bin/hostname && chmod +x hypre.bin/hostname
    t=hypre/src/test
    set -- $t/TEST_struct/*.sh $t/TEST_ij/default.sh $t/TEST_ij/matrix.sh $t/TEST_ij/vector.sh $t/TEST_sstruct/default3d.sh
    [ -z "$all" ] || set -- $t/TEST_struct/*.sh $t/TEST_ij/*.sh $t/TEST_sstruct/*.sh
    hypre_tests "$@"
    echo "hypre: $# groups of tests passed on up to 8 ranks"
}

# Its libraries and tests without its example programs.
p4est_check() {
    make -C p4est -j"$jobs" check bin_PROGRAMS= noinst_PROGRAMS= "$@"
}

p4est_build() {
    [ ! -x p4est/test/p8est_test_lnodes ] || return 0
    unpack p4est p4est
    { (cd p4est && ./bootstrap && ./configure --enable-mpi --disable-mpiio --disable-mpishared --without-blas --disable-shared \
        CC=mpicc CXX=mpicxx F77=gfortran CFLAGS="-O1 -w") && p4est_check TESTS=; } > p4est.log 2>&1 ||
        { tail -n 20 p4est.log; exit 1; }
}

p4est() {
    p4est_check AM_LOG_FLAGS="-n 3" > p4est.check 2>&1 ||
        { grep -E '^FAIL|^ERROR' p4est.check; echo "p4est: failed on 3 ranks"; exit 1; }
    passed=$(grep -c '^PASS' p4est.check)
    [ "$passed" -ge 72 ] || { echo "p4est: only $passed tests ran"; exit 1; }
    for n in 5 16; do
        for t in sc/test/sc_test_node_comm sc/test/sc_test_notify test/p4est_test_subcomm test/p4est_test_ghost \
            test/p8est_test_lnodes; do
            timeout 400 mpiexec -n $n p4est/$t > p4est.out 2>&1 ||
                { tail -n 5 p4est.out; echo "p4est: $t on $n ranks failed"; exit 1; }
        done
    done
    echo "p4est: $passed tests passed on 3 ranks, some on 5 and 16"
}

# thermo LOG: step, temperature, energy and one more column of the first table (the columns after them may tell of balancing)
thermo() {
    awk '/^Step/ { on = 1; next } /^Loop/ { on = 0 } on { print $1, $2, $3, $4 }' "$1"
}

# lammps_same A B: the same table, within what another order of summing leaves in its digits
lammps_same() {
    thermo "$1" > a && thermo "$2" > b
    [ "$(wc -l < a)" -ge 6 ] && [ "$(wc -l < a)" = "$(wc -l < b)" ] && paste -d' ' a b | awk '
        function size(x) { return x < 0 ? -x : x }
        { for (i = 1; i <= 4; i++) if (size($i - $(i + 4)) > 1e-5 * (size($i) + 1e-3)) bad = 1 }
        END { exit bad }'
}

lammps_build() {
    [ ! -x lammps/src/lmp_mpi ] || return 0
    unpack lammps lammps
    make -C lammps/src -j"$jobs" mpi CC=mpicxx LINK=mpicxx CCFLAGS="-O1 -std=c++11" MPI_INC= MPI_LIB= FFT_INC= JPG_INC= \
        JPG_LIB= LMP_INC=-DLAMMPS_SMALLBIG > lammps.log 2>&1 || { tail -n 20 lammps.log; exit 1; }
}

lammps() {
    sed 's/^run.*/run 500/' lammps/examples/balance/in.balance > in.balance
    cp lammps/examples/melt/in.melt .
    for input in in.melt in.balance; do
        for n in 1 3 4 5 16; do
            timeout 600 mpiexec -n $n lammps/src/lmp_mpi -in $input -log lammps.$n > lammps.out 2>&1 ||
                { tail -n 20 lammps.out; echo "lammps: $input on $n ranks failed"; exit 1; }
            lammps_same lammps.1 lammps.$n || { diff a b; echo "lammps: $input: other results on $n ranks than on 1"; exit 1; }
        done
    done
    echo "lammps: melt and dynamic balancing give the same results on 1, 3, 4, 5 and 16 ranks"
}

petsc_build() {
    [ ! -x petsc/ex2 ] || return 0
    ls /usr/lib/*/liblapack.so >/dev/null 2>&1 || { echo "petsc: needs the package liblapack-dev"; exit 77; }
    unpack petsc petsc
    (cd petsc && ./configure PETSC_ARCH=godwit --with-cc=mpicc --with-fc=mpifort --with-cxx=0 --with-debugging=0 --with-x=0 --with-ssl=0 \
        --with-cudac=0 --with-hipc=0 --with-hwloc=0 --with-mpiexec="$prefix/bin/mpiexec" --with-make-np="$jobs" COPTFLAGS=-O1 FOPTFLAGS=-O1 &&
        make -f gmakefile -j"$jobs" PETSC_DIR="$PWD" PETSC_ARCH=godwit libs) > petsc.log 2>&1 ||
        { tail -n 20 petsc.log; exit 1; }
    mpicc -O1 -w -Ipetsc/include -Ipetsc/godwit/include petsc/src/ksp/ksp/tutorials/ex2.c -o petsc/ex2 -Lpetsc/godwit/lib \
        -Wl,-rpath,"$PWD/petsc/godwit/lib" -lpetsc -lm
}

# petsc_solve RANKS OPTION...: iterations and the error's norm, to two digits, of a solve of the 5-point Laplacian
petsc_solve() {
    n=$1
    shift
    timeout 400 mpiexec -n "$n" petsc/ex2 -m 40 -n 40 -pc_type jacobi -ksp_rtol 1e-8 "$@" > petsc.out 2>&1 ||
        { tail -n 5 petsc.out; return 1; }
    awk '/^Norm of error/ { printf "%d iterations, error %.1e\n", $6, $4 }' petsc.out
}

# petsc_tests LEAST PATTERN: those of PETSc's tests with such a name pass, LEAST of them or more, but two that draw and want X windows
petsc_tests() {
    rm -rf petsc/godwit/tests/counts
    make -C petsc -f gmakefile.test test PETSC_DIR="$PWD/petsc" PETSC_ARCH=godwit search="$2" -j2 TIMEOUT=300 \
        > petsc.test 2>&1 || true
    if grep '^ *not ok' petsc.test | grep -v ' diff-ksp_ksp_tutorials-ex5f_5 \| diff-vec_vec_tutorials-ex3f_1 '; then echo "petsc: the whole log is $here/petsc.test"; exit 1; fi
    passed=$(grep -c '^ *ok diff-' petsc.test || true)
    [ "$passed" -ge "$1" ] || { tail -n 20 petsc.test; echo "petsc: only $passed tests $2 ran"; exit 1; }
    echo "petsc: $passed tests $2 passed"
}

petsc() {
    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
    export OMP_NUM_THREADS OPENBLAS_NUM_THREADS
    for solver in gmres cg pipecg groppcg pgmres pipebcgs; do
        one=$(petsc_solve 1 -ksp_type $solver)
        [ -n "$one" ] || { echo "petsc: $solver on 1 rank: no result"; exit 1; }
        for n in 3 4 5 16; do
            for way in basic neighbor; do
                other=$(petsc_solve $n -ksp_type $solver -sf_type $way)
                [ "$one" = "$other" ] || { echo "petsc: $solver -sf_type $way: $other on $n ranks, $one on 1"; exit 1; }
            done
        done
    done
    # Its own tests, each compared with the output that PETSc expects: star forests (also over windows of every kind) and solvers.
    petsc_tests 100 'vec_is_sf*'
    petsc_tests 30 'ksp_ksp_tutorials-ex2_*'
    petsc_tests 180 '*-ex*f_*,*-ex*f90_*' # those in Fortran, and a few others of such names
}

for program in "$@"; do
    case $program in fftw) fetch fftw3 ;; *) fetch "$program" ;; esac
done
# All are built at once: while one is configured, which is the work of one core, another is compiled.
builds=
for program in "$@"; do
    "${program}_build" &
    builds="$builds $!"
done
for one in $builds; do
    wait "$one" || failed=${failed:-$?}
done
[ -z "${failed:-}" ] || exit "$failed"
for program in "$@"; do "$program"; done
