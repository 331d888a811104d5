#!/bin/sh
# Test programs that libraries of Debian come with, compiled by mpicc.openmpi, mpicc.mpich and mpifort.openmpi against those libraries as
# Debian built them with that MPI: run through the door and on their own library, they say the same (both.sh).
# PETSc (C and Fortran), hypre, HDF5 and its tools, parallel NetCDF; and MrBayes and RAxML, of which Debian has no program with MPI.
# run.py: timeout=3600 tags=extra
#
# built.sh BUILD PREFIX [CASE,CASE...|all [RANKS...]]    programs are kept in BUILD/binaries/built
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
cases="
petsc         -     libpetsc-real3.18-dev libpetsc3.18-dev-examples
hypre         -     libhypre-dev src:hypre
hdf5          -     libhdf5-openmpi-dev hdf5-tools src:hdf5
hdf5_mpich    1,2,4 libhdf5-mpich-dev hdf5-tools src:hdf5
netcdf        -     libnetcdf-mpi-dev netcdf-bin src:netcdf
mrbayes       -     src:mrbayes
mrbayes_mpich 1,2,4    src:mrbayes
raxml         2,4,7 src:raxml/trixie
raxml_mpich   2,4,7 src:raxml/trixie
"
. "$(dirname "$0")/both.sh"
need mpicc.openmpi libopenmpi-dev
case ,$wanted, in ,all, | *,petsc,* | *,hypre,*) need mpifort.openmpi libopenmpi-dev ;; esac
case $wanted in all | *_mpich*) need mpicc.mpich libmpich-dev ;; esac
sources=$keep/sources built=$keep/built
mkdir -p "$built"

# make_once NAME COMMAND...: the command, which ends with -o and a file name, makes built/NAME
make_once() {
    program=$built/$1
    [ ! -x "$program" ] || return 0
    shift
    "$@" -o "$program.new" >make.log 2>&1 || fail "$program cannot be built: $(grep -E 'rror|undefined' make.log | head -n 5)"
    mv "$program.new" "$program"
}
# against LIBRARY...: what links those of Debian, and finds what they need
against() {
    printf '%s ' -L"$libs" -Wl,-rpath-link,"$libs" "$@"
}

petsc() { # each with the words of petsc.lst
    examples=$root/usr/share/petsc/3.18/share/petsc/examples/src petscdir=$root/usr/lib/petscdir/petsc3.18/x86_64-linux-gnu-real
    grep -v '^#' "$here/petsc.lst" >list
    while read -r can source words; do
        case ,$can, in *,$1,* | ,-,) ;; *) continue ;; esac
        case $source in *.F90) compiler="mpifort.openmpi -ffree-line-length-none -fallow-argument-mismatch" ;; *) compiler=mpicc.openmpi ;; esac
        make_once "$(echo "$source" | tr / -)" $compiler -O1 -w -I"$petscdir/include" -I"$root/usr/share/petsc/3.18/include" \
            -I"$root/usr/lib/petscdir/petsc3.18/include" -I"$root/usr/include/hdf5/openmpi" "$examples/$source" $(against -l:libpetsc_real.so.3.18 -lm)
        mpi "$1" "$program" $words
        # Some have lines of all ranks; of the last digits of norms, sums of another order have others.
        echo "== $source" && sort log | sed 's/\(Function norm [0-9]*\.[0-9]\{4\}\)[0-9]*/\1/'
    done <list
}

residuals() { # of the last digits, sums of another order have others
    lines 'Iterations =|Residual Norm|lambda|^ +Cycle|^ +[0-9]+ +[0-9.]+e' | sed 's/\(\.[0-9]\{4\}\)[0-9]*/\1/g'
}
hypre() {
    tests=$sources/hypre/src/test examples=$sources/hypre/src/examples
    for t in ij struct sstruct; do
        make_once hypre-$t mpicc.openmpi -O1 -w -DHAVE_CONFIG_H -I"$root/usr/include/hypre" -I"$tests" "$tests/$t.c" $(against -lHYPRE -lm)
    done
    for words in "-solver 0" "-solver 1 -rhsrand" "-solver 3 -9pt" "-solver 8 -27pt" "-solver 51" "-solver 61 -difconv"; do
        mpi "$1" "$built/hypre-ij" -n 20 20 20 -P "$1" 1 1 $words && echo "ij $words" && residuals
    done
    for solver in 0 1 10 11 17 30; do
        mpi "$1" "$built/hypre-struct" -n 10 10 10 -P "$1" 1 1 -solver $solver && echo "struct $solver" && residuals
    done
    for solver in 11 20 28 39; do
        mpi "$1" "$built/hypre-sstruct" -in "$tests/TEST_sstruct/sstruct.in.default" -P "$1" 1 1 -solver $solver
        echo "sstruct $solver" && residuals
    done
    for t in ex5 ex11 ex12 ex15; do
        make_once hypre-$t mpicc.openmpi -O1 -w -I"$root/usr/include/hypre" -I"$examples" "$examples/$t.c" $(against -lHYPRE -lm)
    done
    make_once hypre-ex5f mpifort.openmpi -O1 -w -fallow-argument-mismatch -I"$root/usr/include/hypre" -I"$examples" "$examples/ex5f.f" \
        $(against -lHYPRE -lm)
    for t in ex5 ex5f ex11; do
        mpi "$1" "$built/hypre-$t" && echo $t && residuals
    done
    case $1 in 1) t=ex15 ;; 2) t=ex12 ;; *) return 0 ;; esac # on that many only
    mpi "$1" "$built/hypre-$t" && echo $t && residuals
}

# h5perf writes, reads back and compares by POSIX, MPI-IO and HDF5; its files, its lines but for throughputs.  ph5diff compares in parallel
# a file and one with three other bytes.  testphdf5: HDF5's own test of its parallel part, on two ranks (a minute).
hdf5() {
    flavour=${2:-openmpi} from=$sources/hdf5
    h5="mpicc.$flavour -O1 -w -I$keep/built/hdf5 -I$root/usr/include/hdf5/$flavour -I$root/usr/include -I$from/src"
    h5libs="-L$libs/hdf5/$flavour $(against -lhdf5 -lm)"
    mkdir -p "$built/hdf5" && echo '#define config_srcdir "."' >"$built/hdf5/H5srcdir_str.h"
    tools=$(ls "$from"/tools/lib/*.c)
    make_once h5perf.$flavour $h5 -I"$from/tools/lib" "$from"/tools/src/h5perf/pio_*.c $tools $h5libs
    make_once ph5diff.$flavour $h5 -I"$from/tools/lib" "$from/tools/src/h5diff/ph5diff_main.c" "$from/tools/src/h5diff/h5diff_common.c" $tools $h5libs
    parts=$(for t in testphdf5 t_dset t_file t_file_image t_mdset t_ph5basic t_coll_chunk t_span_tree t_chunk_alloc t_filter_read t_prop \
        t_coll_md_read; do echo "$from/testpar/$t.c"; done)
    make_once testphdf5.$flavour $h5 -I"$from/test" -I"$from/testpar" $parts "$from"/test/h5test.c "$from"/test/testframe.c \
        "$from"/test/cache_common.c $h5libs
    export HDF5_NOCLEANUP=1 HDF5_PARAPREFIX=.
    for way in "-c" "-C" "-c -C -I" "-g -C -I -B 128 -e 1K -x 256 -X 512"; do
        size="-B 1K -e 32K -x 2K -X 8K"
        case $way in *-e*) size= ;; esac
        mpi "$1" "$built/h5perf.$flavour" -D v -A phdf5,mpiio,posix -d 2 -p "$1" -P "$1" $size $way
        h5dump '#pio_tmp_1.h5' >dump || fail "h5dump ($library)"
        echo "h5perf $way" && sed 's/:  *[0-9.]* MB.s$//' log && sums '#pio_tmp_1.mpio' '#pio_tmp_1.posix' dump
    done
    cp '#pio_tmp_1.h5' b.h5 && printf 'abc' | dd of=b.h5 bs=1 conv=notrunc seek=$(($(wc -c <b.h5) - 100)) 2>dd.log || fail "$(cat dd.log)"
    mpi "$1" "$built/ph5diff.$flavour" -v '#pio_tmp_1.h5' '#pio_tmp_1.h5' && lines 'dataset|differences' | sort
    mpi "$1" "$built/ph5diff.$flavour" -v '#pio_tmp_1.h5' b.h5 && lines '^dataset|^\[|differences' | sort
    [ "$1" != 2 ] || { mpi "$1" "$built/testphdf5.$flavour" -x bigdset && lines '^Testing|PHDF5|success' | sort | uniq -c; }
}
hdf5_mpich() { own=$by_mpich; hdf5 "$1" mpich; }

# Programs of its test of NetCDF-4 on parallel HDF5, each on the ranks that it allows; the files that they leave.
netcdf() {
    from=$sources/netcdf include=$libs/netcdf/mpi/include
    mkdir -p "$built/netcdf"
    printf '#include <stdint.h>\n#define %s\n' 'USE_NETCDF4 1' >"$built/netcdf/config.h" # what configure would write there
    printf '#define %s\n' 'USE_PARALLEL 1' 'USE_PARALLEL4 1' 'HAVE_UNISTD_H 1' 'TEMP_LARGE "."' 'CHUNK_CACHE_SIZE 16777216' \
        'CHUNK_CACHE_NELEMS 4133' 'CHUNK_CACHE_PREEMPTION 0.75' >>"$built/netcdf/config.h"
    for t in tst_mpi_parallel tst_parallel:2,4,7 tst_parallel3:1,2,4 tst_parallel5:4 tst_parallel6 tst_simplerw_coll_r:1,2,4 tst_quantize_par:4; do
        case $t in *:*) can=${t#*:} ;; *) can=$1 ;; esac
        case ,$can, in *,$1,*) ;; *) continue ;; esac
        t=${t%:*}
        make_once netcdf-$t mpicc.openmpi -O1 -w -I"$built/netcdf" -I"$from/include" -I"$from/nc_test" -I"$include" \
            -I"$root/usr/include/hdf5/openmpi" "$from/nc_test4/$t.c" -L"$libs/netcdf/mpi" -L"$libs/hdf5/openmpi" $(against -lnetcdf -lhdf5 -lm)
        rm -f ./*.nc ./*.bin
        mpi "$1" "$built/netcdf-$t" && echo "== $t" && lines 'Tests successful'
        for f in *.bin; do [ ! -e "$f" ] || cksum "$f"; done
        for f in *.nc; do
            case $f in *_fv_2.nc | \*.nc) continue ;; esac # what nobody wrote has no value there
            ncdump "$f" >dump || fail "$f of $t is no NetCDF"
            sums dump
        done
    done
}

mrbayes() {
    flavour=${2:-openmpi} steps=${3:-1000}
    if [ ! -x "$built/mrbayes.$flavour" ]; then
        cp -r "$sources/mrbayes" tree && (cd tree && MPICC=mpicc.$flavour CC=mpicc.$flavour ./configure --with-mpi --without-beagle \
            --without-readline CFLAGS="-O1 -w" && make -j"$jobs") >make.log 2>&1 || fail "mrbayes: $(tail -n 5 make.log)"
        mv tree/src/mb "$built/mrbayes.$flavour"
    fi
    { printf '#NEXUS\nbegin data;\ndimensions ntax=10 nchar=300;\nformat datatype=dna;\nmatrix\n' && sequences && printf ';\nend;\n'; } >a.nex
    [ "$1" = 7 ] && chains=7 || chains=4 # a rank has one or more, and each as many
    printf '%s\n' "begin mrbayes;" "set autoclose=yes nowarn=yes seed=7 swapseed=7;" "execute a.nex;" "lset nst=6 rates=gamma;" \
        "mcmc ngen=$steps samplefreq=20 printfreq=100 nruns=2 nchains=$chains filename=out;" "sump;" "end;" >job.nex
    mpi "$1" "$built/mrbayes.$flavour" job.nex
    for f in out.run?.[pt]; do grep -v ID: "$f" >without_id || fail "mrbayes ($library) has not written $f"; sums without_id; done
    lines '^ *(100|1000|TL|alpha|pi\(|r\()' | sed 's/ -- [0-9]*:[0-9]*:[0-9]*$//'
}
mrbayes_mpich() { own=$by_mpich; mrbayes "$1" mpich 100; } # MPICH is slow where ranks share processors

raxml() { # each rank has starting trees and replicates of its own: as many as another, since RAxML writes behind its tables otherwise
    flavour=${2:-openmpi} trees=$(($1 * 2))
    if [ ! -x "$built/raxml.$flavour" ]; then
        cp -r "$sources/raxml" tree && make -C tree -j"$jobs" -f Makefile.MPI.gcc CC=mpicc.$flavour >make.log 2>&1 || fail "raxml: $(tail -n 5 make.log)"
        mv tree/raxmlHPC-MPI "$built/raxml.$flavour"
    fi
    phylip >a.phy
    mpi "$1" "$built/raxml.$flavour" -s a.phy -m GTRGAMMA -p 12345 -N $trees -n trees
    [ -s RAxML_bestTree.trees ] && sed 's/[0-9.]* sec.*//' RAxML_bestTree.trees || fail "raxml ($library): no best tree"
    for i in $(seq 0 $((trees - 1))); do cat RAxML_result.trees.RUN."$i" || fail "raxml: no tree $i"; done
    mpi "$1" "$built/raxml.$flavour" -s a.phy -m GTRGAMMA -p 12345 -b 54321 -N $trees -n boot
    cat RAxML_bootstrap.boot* >boots && [ -s boots ] || fail "raxml ($library): no trees of the bootstrap"
    sort boots
}
raxml_mpich() { own=$by_mpich; raxml "$1" mpich; }

compare "$@"
