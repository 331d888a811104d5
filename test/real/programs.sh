#!/bin/sh
# Real MPI programs, unmodified, from Debian's source archive, built with the installed mpicc and run by the installed mpiexec:
# HPC Challenge (4 and 9 ranks, all its checks), FFTW's MPI transforms (verified against its own reference), MrBayes.
# Some of the runs are made with GODWIT_CHECK=1, which must find nothing: the programs are right.
# run.py: timeout=1500 tags=long,install
#
# programs.sh BUILD PREFIX [program...]     sources and builds are kept in BUILD/real
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
[ -n "${2:-}" ] || { echo "needs an installed Godwit"; exit 77; }
build=$1 prefix=$2
shift 2
[ $# -gt 0 ] || set -- hpcc mrbayes fftw
mkdir -p "$build/real/apt/lists/partial" "$build/real/apt/cache/archives/partial"
cd "$build/real"
PATH=$prefix/bin:$PATH
export PATH

# fetch PACKAGE: its upstream tarball, through a private apt configuration (nothing of the system's is changed).
fetch() {
    ls "$1"_*.orig.tar.* >/dev/null 2>&1 && return 0
    echo "deb-src http://deb.debian.org/debian bookworm main" > sources.list
    cat > apt.conf <<EOT
Dir::Etc::SourceList "$PWD/sources.list";
Dir::Etc::SourceParts "-";
Dir::State::Lists "$PWD/apt/lists";
Dir::Cache "$PWD/apt/cache";
EOT
    { APT_CONFIG=$PWD/apt.conf apt-get update && APT_CONFIG=$PWD/apt.conf apt-get source --download-only --tar-only "$1"; } \
        > "$1.apt.log" 2>&1 || { tail -n 5 "$1.apt.log"; echo "$1: Debian's source archive cannot be reached"; exit 77; }
}

# unpack PACKAGE FOLDER
unpack() {
    rm -rf "$2" && mkdir "$2" && tar xf "$1"_*.orig.tar.* --strip-components=1 -C "$2"
}

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
CCFLAGS=$(HPL_DEFS) -O2 -w
LINKER=mpicc
LINKFLAGS=$(CCFLAGS)
ARCHIVER=ar
ARFLAGS=r
RANLIB=echo
EOT
}

hpcc() {
    fetch hpcc
    if [ ! -x hpcc/hpcc ]; then
        unpack hpcc hpcc
        hpcc_makefile > hpcc/hpl/Make.godwit
        make -C hpcc arch=godwit > hpcc.log 2>&1 || { tail -n 20 hpcc.log; exit 1; }
    fi
    for grid in 2 3; do
        sed "s/^2 *Ps/$grid Ps/; s/^2 *Qs/$grid Qs/" hpcc/_hpccinf.txt > hpcc/hpccinf.txt
        rm -f hpcc/hpccoutf.txt
        with=
        [ $grid = 3 ] || with=checked
        (cd hpcc && OPENBLAS_NUM_THREADS=1 && export OPENBLAS_NUM_THREADS && $with timeout 300 mpiexec -n $((grid * grid)) ./hpcc)
        grep -q '^Success=1' hpcc/hpccoutf.txt || { echo "hpcc on $((grid * grid)) ranks: no success line"; exit 1; }
        if grep -E 'FAILED|errors in .*failed' hpcc/hpccoutf.txt; then exit 1; fi
        [ "$(grep -c PASSED hpcc/hpccoutf.txt)" -ge 11 ] || { echo "hpcc: fewer checks than expected"; exit 1; }
        echo "hpcc on $((grid * grid)) ranks: $(grep -c PASSED hpcc/hpccoutf.txt) checks passed, Success=1"
    done
}

mrbayes() {
    fetch mrbayes
    if [ ! -x mrbayes/src/mb ]; then
        unpack mrbayes mrbayes
        (cd mrbayes && MPICC=mpicc CC=mpicc ./configure --with-mpi --without-beagle --without-readline && make) > mrbayes.log 2>&1 ||
            { tail -n 20 mrbayes.log; exit 1; }
    fi
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
        (cd mrbayes && $with timeout 200 mpiexec -n $n src/mb job.nex) > mrbayes.$n.log 2>&1 || { tail -n 20 mrbayes.$n.log; exit 1; }
        cp mrbayes/out.run1.p mrbayes.$n.p
    done
    # However the chains are spread over ranks, the same number of samples must come out.
    for n in 2 4; do
        cut -f1,2 mrbayes.1.p | tail -n +2 > a && cut -f1,2 mrbayes.$n.p | tail -n +2 > b
        [ -s a ] && [ "$(wc -l < a)" = "$(wc -l < b)" ] || { echo "mrbayes on $n ranks: other samples"; exit 1; }
    done
    echo "mrbayes: ran on 1, 2 and 4 ranks"
}

fftw() {
    fetch fftw3
    if [ ! -x fftw3/mpi/mpi-bench ]; then
        unpack fftw3 fftw3
        (cd fftw3 && MPICC=mpicc ./configure --enable-mpi --disable-fortran --disable-doc --disable-shared &&
            make && make -C mpi mpi-bench) > fftw3.log 2>&1 || { tail -n 20 fftw3.log; exit 1; }
    fi
    for n in 1 3 4 5; do
        with=
        [ $n != 3 ] || with=checked
        for problem in ic64x32 ofr36x24x10 obc1024 okd30e10x12o00 ik13x17; do
            $with timeout 100 mpiexec -n $n fftw3/mpi/mpi-bench --verbose=1 --verify-rounds=2 --verify "$problem" > fftw.out 2>&1 ||
                { tail -n 5 fftw.out; echo "fftw: $problem on $n ranks failed"; exit 1; }
        done
    done
    echo "fftw: transforms verified on 1, 3, 4 and 5 ranks"
}

for program in "$@"; do "$program"; done
