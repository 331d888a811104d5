#!/bin/sh
# Binaries of Debian that were built with Open MPI or MPICH, unmodified, on Godwit through the door and on their own library: they say the
# same.  Neither is told which programs: mpiexec finds out (below sh, python3, by libraries alone, in C++).
# run.py: args=few timeout=600
# run.py: args=all timeout=3600 tags=extra
#
# binaries.sh BUILD PREFIX [CASE,CASE...|few|all [RANKS...]]    packages are unpacked into BUILD/binaries, none is installed
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
cases="
hpcc          1,2,4,7 hpcc
lammps        -     lammps
mpi4py        -     python3-mpi4py
mpi4py_tutorial - python3-mpi4py python3-numpy python-mpi4py-doc
mpi4py_modules - python3-mpi4py
h5py          -     python3-h5py-mpi
petsc4py      -     python3-petsc4py-real3.18
rmpi          -     r-cran-rmpi r-base-core
slepc4py      -     python3-slepc4py-real3.18
mpi4py_fft    -     python3-mpi4py-fft
phyml         2,4,7 phyml
iqtree        -     iqtree
examl         -     examl
form          2,4,7 form
mplrs         4,7   mplrs
ptscotch      -     ptscotch
mumps         -     mumps-test
pnetcdf       -     pnetcdf-bin
molds         1,2,4 molds
mpqc          1,2,4 mpqc
freefem       1,2,4 freefem++
gerris        1,2   gerris
abyss         2,4   abyss
gromacs       -     gromacs
cp2k          -     cp2k
openfoam      2,4,7 openfoam
scalapack     -     scalapack-mpi-test
blacs         4     scalapack-mpi-test
espresso      -     quantum-espresso quantum-espresso-data
nwchem        -     nwchem-openmpi nwchem-data
netpipe       2     netpipe-openmpi
netpipe_mpich 2     netpipe-mpich2
"
few=form,mplrs,pnetcdf,phyml
. "$(dirname "$0")/both.sh"
export SCLIBDIR="$root/usr/share/mpqc"

python() { mpi "$1" /usr/bin/python3 "$here/some_python.py" "$2" && cat log; }

hpcc() { # which tests pass, and residuals of those that do not depend on time
    printf '%s\n' "" "" "HPL.out" "8" "1" "120" "1" "24" "0" "1" "1" "$1" "16.0" "1" "2" "1" "4" "1" "2" "1" "1" "1" "0" "1" "0" "2" "64" "0" "0" "1" "8" >hpccinf.txt
    mpi "$1" hpcc
    grep -E 'tests completed and|^Success|Failure|_errCount|WR1' hpccoutf.txt | grep -v Time | sed 's/  *[0-9.]*  *[0-9.e+-]*$//' || :
}
lammps() { mpi "$1" lmp -in "$here/lennard_jones.in" -log none && lines '^ +[0-9]+ +[0-9.]+ '; }
mpi4py() {
    mpi "$1" /usr/bin/python3 "$here/some_mpi4py.py" || return
    case $library in godwit) sed -n 's/^True //p' log ;; own) sed -n 's/^False //p' log ;; esac # whether it says that it is Godwit
    mpi "$1" /usr/bin/python3 -c 'import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))' /usr/bin/python3 -m mpi4py.bench helloworld
    lines '^Hello' | sort
}
mpi4py_tutorial() {
    mpi "$1" /usr/bin/python3 "$here/some_tutorial.py" "$root/usr/share/doc/python-mpi4py-doc/html/tutorial.html"
    lines '^[0-9]+ |^datafile'
}
mpi4py_modules() { # its demonstrations, and a pool of workers
    mpi "$1" /usr/bin/python3 -m mpi4py.bench helloworld && lines '^Hello' | sort
    mpi "$1" /usr/bin/python3 -m mpi4py.bench ringtest -l 5 -s 1 -n 4096 && lines '^time for' | sed 's/ = .* seconds//'
    printf '%s\n' "from mpi4py.futures import MPIPoolExecutor as Pool" "def f(x): return x**3 % 101" "if __name__ == '__main__':" \
        "    with Pool() as pool: print('sum', sum(pool.map(f, range(500), chunksize=7)), pool.submit(pow, 7, 30).result())" >pool.py
    [ "$1" = 1 ] || { mpi "$1" /usr/bin/python3 -m mpi4py.futures pool.py && lines '^sum'; } # with one rank it would spawn its workers
}
h5py() { python "$1" h5py; }
petsc4py() { python "$1" petsc4py; }
slepc4py() { python "$1" slepc4py; }
mpi4py_fft() { python "$1" mpi4py_fft; }

rmpi() { # R's script puts the system's folder in front of the library path (etc/R/ldpaths); only where it lies is changed
    sed -e "s,=/usr/lib/R\$,=$root/usr/lib/R," -e "s,=/usr/share/R,=$root/usr/share/R," "$root/usr/bin/R" >R && chmod +x R
    ln -sfn Renviron.ucf "$root/usr/lib/R/etc/Renviron"
    for f in ldpaths Renviron.site Rprofile.site repositories Makeconf; do ln -sfn "$root/etc/R/$f" "$root/usr/lib/R/etc/$f"; done
    cat >a.R <<'EOT'
invisible(library(Rmpi))
n <- mpi.comm.size(0); me <- mpi.comm.rank(0)
sum <- mpi.allreduce(as.double(me + 1)^2, type = 2, op = "sum", comm = 0)
all <- mpi.allgather(as.integer(10 * me), 1, integer(n), comm = 0)
got <- if (me == 0) "first" else mpi.recv(character(1), 3, me - 1, 7, comm = 0)
if (me < n - 1) mpi.send(paste("of", me), 3, me + 1, 7, comm = 0)
cat("rmpi", me, n, sum, all, got, "\n")
invisible(mpi.barrier(0))
mpi.quit(save = "no")
EOT
    mpi "$1" env R_LIBS="$root/usr/lib/R/site-library" R_DEFAULT_PACKAGES=methods ./R --vanilla --slave -f a.R && lines '^rmpi' | sort
}

phyml() {
    phylip >a.phy
    mpi "$1" "$root/usr/lib/phyml/bin/phyml-mpi" -i a.phy -b 14 --r_seed 3 -m HKY85 -o lr
    cat a.phy_phyml_tree.txt; sort a.phy_phyml_boot_trees.txt
}
iqtree() {
    phylip >a.phy && echo "(((t1,t2),(t3,t4)),((t5,t6),(t7,t8)),(t9,t10));" >a.tree
    mpi "$1" iqtree2-mpi -s a.phy -m JC -te a.tree -seed 1 -nt 1 -redo -pre a
    lines 'BEST SCORE|Optimal log|Total tree length'
}
examl() {
    phylip >a.phy && echo "(((t1,t2),(t3,t4)),((t5,t6),(t7,t8)),(t9,t10));" >a.tree
    GODWIT_DOORS=off parse-examl -s a.phy -m DNA -n a >log 2>&1 || fail "parse-examl"
    mpi "$1" "$root/usr/lib/examl/bin/examl-sse3" -s a.binary -t a.tree -m GAMMA -n x
    lines 'Likelihood'
}
form() {
    printf '#-\nSymbols x,y,z,n;\nOff Statistics;\nLocal F = (x+y+z)^12*(x-y)^7;\n.sort\nid x = y + 1;\n.sort\nid z^n? = y^n*n;\nPrint;\n.end\n' >q.frm
    mpi "$1" parform q.frm && lines 'y|F ='
}
mplrs() {
    cat >cross.ext <<EOT
cross
V-representation
begin
 12 5 rational
 1 1 0 0 0
 1 -1 0 0 0
 1 0 1 0 0
 1 0 -1 0 0
 1 0 0 1 0
 1 0 0 -1 0
 1 0 0 0 1
 1 0 0 0 -1
 1 1/2 1/2 1/2 1/2
 1 2/3 1/3 -1/3 1/3
 1 -3/4 1/4 1/4 1/2
 1 1/5 -1 2/5 1/3
end
EOT
    mpi "$1" mplrs cross.ext && lines '^ ' | sort
}
ptscotch() { # orderings and mappings are not the same twice, what is counted is
    awk 'BEGIN { n = 20; print 0; print n * n, 4 * n * (n - 1); print "0 000"
        for (i = 0; i < n; i++) for (j = 0; j < n; j++) {
            l = (i > 0) + (i < n - 1) + (j > 0) + (j < n - 1)
            if (i > 0) l = l " " (i - 1) * n + j; if (i < n - 1) l = l " " (i + 1) * n + j
            if (j > 0) l = l " " i * n + j - 1; if (j < n - 1) l = l " " i * n + j + 1
            print l } }' >grid.grf
    mpi "$1" dgtst grid.grf && lines '^S'
    mpi "$1" dgord grid.grf order && sums order >sum && awk 'NR > 1 { print $1 + 0 < 400 }' order | sort | uniq -c
    mpi "$1" dgpart 4 grid.grf parts && sums parts >sum && awk 'NR > 1 { print $2 }' parts | sort -u
}
mumps() {
    for t in d z; do
        input=$root/usr/lib/mumps/input_simpletest_real
        [ $t = d ] || input=$root/usr/lib/mumps/input_simpletest_cmplx
        mpi "$1" sh -c "$root/usr/lib/mumps/${t}simpletest <$input" && lines 'Solution is'
    done
}
pnetcdf() {
    cat >t.cdl <<EOT
netcdf t {
dimensions: x = 4 ; y = 3 ; time = UNLIMITED ;
variables: double a(time, x, y) ; a:units = "m" ; int b(x) ; float c(y) ;
data: a = 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24 ; b = 4,3,2,1 ; c = 1.5, 2.5, 3.5 ;
}
EOT
    mpi "$1" ncmpigen -o t.nc t.cdl && sums t.nc
    mpi "$1" ncmpidump t.nc && sort log
    cp t.nc u.nc
    mpi "$1" ncmpidiff t.nc u.nc && lines 'same'
}
molds() {
    zcat -f "$root/usr/share/doc/molds/examples/ch4_am1.in" >ch4.in
    mpi "$1" sh -c 'molds <ch4.in' && lines 'nergy.*SCF|[Dd]ipole'
}
mpqc() {
    cat >water.in <<EOT
molecule<Molecule>: (
 symmetry = C2V
 unit = angstrom
 { atoms geometry } = { O [ 0.0 0.0 0.369 ] H [ 0.78 0.0 -0.18 ] H [ -0.78 0.0 -0.18 ] }
)
basis<GaussianBasisSet>: ( name = "6-31G*" molecule = \$:molecule )
mpqc: ( checkpoint = no savestate = no mole<CLHF>: ( molecule = \$:molecule basis = \$:basis ) )
EOT
    mpi "$1" mpqc water.in && lines 'iter +[0-9]+ energy|total scf energy'
}
freefem() {
    cat >poisson.edp <<EOT
mesh Th = square(12, 12);
fespace Vh(Th, P1);
Vh u, v;
int[int] part(mpisize);
varf a(u, v) = int2d(Th)(dx(u)*dx(v) + dy(u)*dy(v)) + on(1, 2, 3, 4, u = 0);
varf l(u, v) = int2d(Th)(v*(1 + x)) + on(1, 2, 3, 4, u = 0);
matrix A = a(Vh, Vh);
real[int] b = l(0, Vh);
set(A, solver = CG, eps = 1e-12);
u[] = A^-1*b;
real mine = int2d(Th)(u)*(mpirank + 1), all;
mpiAllReduce(mine, all, mpiCommWorld, mpiSUM);
real[int] w(3), sum(3);
w = mpirank + 0.5;
mpiReduce(w, sum, processor(0), mpiSUM);
if (mpirank == 0) cout << "result " << all << " " << sum[0] << " " << mpisize << endl;
EOT
    mpi "$1" FreeFem++-mpi -nw -v 0 poisson.edp && lines '^result'
}
gerris() {
    cat >box.gfs <<EOT
2 1 GfsSimulation GfsBox GfsGEdge {} {
  Time { end = 0.2 dtmax = 0.02 }
  Refine 4
  Init {} { U = 1 V = 0.5 }
  OutputTime { step = 0.05 } stdout
  OutputScalarNorm { step = 0.05 } stdout { v = Velocity }
}
GfsBox { pid = 0 left = Boundary top = Boundary }
GfsBox { pid = $(($1 - 1)) right = Boundary }
1 2 right
EOT
    mpi "$1" gerris2D box.gfs && lines 'first:|^step' | sed 's/cpu.*//'
}
abyss() {
    sequences | awk '{ for (i = 1; i <= 260; i += 3) { n++; printf ">r%d\n%s\n", n, substr($2, i, 50) } }' >reads.fa
    mpi "$1" "$root/usr/lib/abyss/ABYSS-P" -k 21 -e 1 -E 0 -c 1 -t 0 -o contigs.fa reads.fa && sums contigs.fa >sum
    awk '/^[ACGT]/ { print length($0) }' contigs.fa | sort -n | uniq -c
}

# Water, 1728 molecules, 20 steps of molecular dynamics.
gromacs() {
    export GMXDATA="$root/usr/share/gromacs" GMXLIB="$root/usr/share/gromacs/top"
    printf '#include "oplsaa.ff/%s.itp"\n' forcefield spc >water.top
    printf '[ system ]\nwater\n[ molecules ]\nSOL 1728\n' >>water.top
    printf '%s\n' "integrator = md" "nsteps = 20" "dt = 0.001" "nstlog = 5" "nstenergy = 5" "nstcalcenergy = 5" "coulombtype = PME" \
        "rcoulomb = 0.85" "rvdw = 0.85" "rlist = 0.85" "tcoupl = no" "gen_vel = no" >water.mdp
    { gmx genconf -f "$GMXLIB/spc216.gro" -nbox 2 2 2 -o water.gro && gmx grompp -f water.mdp -p water.top -c water.gro -o water.tpr; } >log 2>&1 ||
        fail "gmx: $(tail -n 5 log)"
    mpi "$1" gmx_mpi mdrun -s water.tpr -reprod -ntomp 1 -pin off -notunepme -dlb no -g a.log
    grep -A 6 'Energies' a.log || fail "gromacs ($library) computed no energies"
}
# A molecule of water by density functional theory.
cp2k() {
    export CP2K_DATA_DIR="$root/usr/share/cp2k"
    cat >water.inp <<EOT
&GLOBAL
  PROJECT water
&END
&FORCE_EVAL
  &DFT
    BASIS_SET_FILE_NAME BASIS_SET
    POTENTIAL_FILE_NAME GTH_POTENTIALS
    &MGRID
      CUTOFF 120
    &END
    &QS
      EPS_DEFAULT 1.0E-8
    &END
    &SCF
      MAX_SCF 15
      SCF_GUESS ATOMIC
      EPS_SCF 1.0E-6
    &END
    &XC
      &XC_FUNCTIONAL PADE
      &END
    &END
  &END
  &SUBSYS
    &CELL
      ABC 5.0 5.0 5.0
    &END
    &COORD
      O 0.0 0.0 0.0
      H 0.757 0.586 0.0
      H -0.757 0.586 0.0
    &END
    &KIND H
      BASIS_SET DZV-GTH-PADE
      POTENTIAL GTH-PADE-q1
    &END
    &KIND O
      BASIS_SET DZVP-GTH-PADE
      POTENTIAL GTH-PADE-q6
    &END
  &END
&END
EOT
    mpi "$1" cp2k -i water.inp # of the last digits, sums of another order have others
    lines 'SCF run converged|Total FORCE_EVAL' | sed 's/\(\.[0-9]\{10\}\)[0-9]*$/\1/'
}
# A lid-driven cavity, a strip of it a rank.
openfoam() {
    export LD_LIBRARY_PATH="$root/usr/lib/openmpi-system:$LD_LIBRARY_PATH" WM_PROJECT_DIR="$root/usr/share/openfoam"
    dict() { # FILE CLASS: what follows the head
        { echo "FoamFile { version 2.0; format ascii; class $2; object ${1#*/}; }" && cat; } >"$1"
    }
    mkdir 0 constant system
    dict system/controlDict dictionary <<EOT
startFrom startTime; startTime 0; stopAt endTime; endTime 0.05; deltaT 0.005; writeControl timeStep; writeInterval 100;
EOT
    dict system/blockMeshDict dictionary <<EOT
scale 0.1;
vertices ((0 0 0) (1 0 0) (1 1 0) (0 1 0) (0 0 0.1) (1 0 0.1) (1 1 0.1) (0 1 0.1));
blocks (hex (0 1 2 3 4 5 6 7) (21 20 1) simpleGrading (1 1 1));
boundary (
    lid { type wall; faces ((3 7 6 2)); }
    walls { type wall; faces ((0 4 7 3) (2 6 5 1) (1 5 4 0)); }
    sides { type empty; faces ((0 3 2 1) (4 5 6 7)); }
);
EOT
    dict system/fvSchemes dictionary <<EOT
ddtSchemes { default Euler; }
gradSchemes { default Gauss linear; }
divSchemes { default none; div(phi,U) Gauss linear; }
laplacianSchemes { default Gauss linear orthogonal; }
interpolationSchemes { default linear; }
snGradSchemes { default orthogonal; }
EOT
    dict system/fvSolution dictionary <<EOT
solvers {
    p { solver PCG; preconditioner DIC; tolerance 1e-6; relTol 0.05; }
    pFinal { \$p; relTol 0; }
    U { solver smoothSolver; smoother symGaussSeidel; tolerance 1e-5; relTol 0; }
}
PISO { nCorrectors 2; nNonOrthogonalCorrectors 0; pRefCell 0; pRefValue 0; }
EOT
    dict system/decomposeParDict dictionary <<EOT
numberOfSubdomains $1; method simple; simpleCoeffs { n ($1 1 1); delta 0.001; }
EOT
    echo "nu 0.01;" | dict constant/transportProperties dictionary
    dict 0/p volScalarField <<EOT
dimensions [0 2 -2 0 0 0 0]; internalField uniform 0;
boundaryField { lid { type zeroGradient; } walls { type zeroGradient; } sides { type empty; } }
EOT
    dict 0/U volVectorField <<EOT
dimensions [0 1 -1 0 0 0 0]; internalField uniform (0 0 0);
boundaryField { lid { type fixedValue; value uniform (1 0 0); } walls { type noSlip; } sides { type empty; } }
EOT
    { GODWIT_DOORS=off blockMesh && GODWIT_DOORS=off decomposePar; } >log 2>&1 || fail "openfoam: $(tail -n 5 log)"
    mpi "$1" icoFoam -parallel && lines 'Solving for|Courant'
}

scalapack() { # without xdsep and xdllt, which fail and hang now and then on their own library, too, where processors are busy
    cp "$libs"/scalapack/openmpi-tests/*.dat .
    for t in xdlu xclu xdqr xdhrd xdnep xdls xdtrd; do
        mpi "$1" "$libs/scalapack/openmpi-tests/$t" && lines 'tests (completed|skipped)'
    done
}
blacs() {
    ends=255 # the last of them is whether blacs_abort ends all; whether sums are found to be repeatable is a matter of chance
    cp "$libs"/scalapack/openmpi-tests/BLACS/*.dat .
    for t in xCbtest xFbtest; do
        mpi "$1" "$libs/scalapack/openmpi-tests/BLACS/$t" && lines '^ *(PASSED|SKIPPED|FAILED) ' | grep -v REPEATABLE
    done
}
espresso() { # silicon by density functional theory
    zcat "$root/usr/share/doc/quantum-espresso/examples/atomic/pseudo-LDA-0.5/Si.pz-vbc.UPF.gz" >Si.UPF
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
    case $library in godwit)
        LD_DEBUG=libs "$build/mpiexec" -n 1 pw.x -h 2>&1 </dev/null | grep -q "calling init: $build/fortran/.*libmpi_mpifh" ||
            fail "pw.x has another library for Fortran than the door's"
        ;;
    esac
    mpi "$1" pw.x -in si.in && lines '^!|Total force|total *stress|JOB DONE'
}
nwchem() { # a molecule of water by Hartree and Fock's method
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
    export NWCHEM_BASIS_LIBRARY="$root/usr/share/nwchem/libraries/" NWCHEM_NWPW_LIBRARY="$root/usr/share/nwchem/libraryps/"
    mpi "$1" nwchem.openmpi h2o.nw && lines 'Total SCF energy|^ +[0-9]+ [OH] '
}

netpipe() { mpi "$1" "${2:-NPopenmpi}" -i -u 5000 -n 3 -o np && lines 'Integrity check' | sort -n; }
netpipe_mpich() { own=$by_mpich; netpipe "$1" NPmpich2; }

compare "$@"
