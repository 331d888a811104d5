#!/bin/sh
# Code of another MPI library and of ours in one program: what is wrong is said, and what to do.  Objects that were compiled with MPICH's or
# Open MPI's header or modules and linked with ours; a library built with Open MPI in our program; modules of another compiler; a program
# with MPICH linked into it, which runs on that.
# run.py: timeout=100
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
prefix=${2:+$(readlink -f "$2")}
[ -n "$prefix" ] && [ -x "$prefix/bin/mpifort" ] || { echo "nothing is installed"; exit 77; }
bin=$prefix/bin
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
ran=0
wrong() { echo "doors/mixtures: $*"; exit 1; }
says() { # WORDS PROGRAM: it fails with them
    if timeout 30 "$bin/mpiexec" -n 2 "$2" > out 2>&1 < /dev/null; then wrong "$2 runs: $(cat out)"; fi
    grep -q "$1" out || wrong "$2 says: $(cat out)"
    ran=$((ran + 1))
}
cat > a.c <<'EOT'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("rank %d\n", rank);
    MPI_Finalize();
    return 0;
}
EOT
printf '#include <mpi.h>\nint members(void) { int n; MPI_Comm_size(MPI_COMM_WORLD, &n); return n; }\n' > lib.c
sed 's/rank %d\\n", rank/%d of %d\\n", rank, members()/; s/^int main/int members(void);\n&/' a.c > b.c
cat > a.f90 <<'EOT'
program a
  use mpi
  integer :: rank, ierror
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Finalize(ierror)
end program
EOT

# Each compiler that is there has to compile its part.
skip() { echo "skipped: $1"; skipped=$((skipped + 1)); }
skipped=0
if command -v mpicc.mpich > /dev/null; then
    mpicc.mpich -c a.c -o mpich.o
    "$bin/mpicc" mpich.o -o mpich_c
    says "(0x44000000) is no handle; .*compile that with godwit's mpicc" ./mpich_c
    static=$(dirname "$(mpicc.mpich -print-file-name=libmpich.a)")/libmpich.a
    if ! [ -f "$static" ]; then
        skip "MPICH linked into a program: there is no libmpich.a"
    elif ! gcc mpich.o -o static -Wl,--unresolved-symbols=ignore-all "$static" -lucp -luct -lucs -lfabric -lhwloc -lpmix -lm -lpthread 2> log; then
        skip "MPICH linked into a program: $(tail -n 1 log)"
    else
        [ "$(timeout 60 "$bin/mpiexec" -n 2 ./static | sort | tr '\n' ' ')" = "rank 0 rank 1 " ] || wrong "MPICH linked into a program"
        ran=$((ran + 1))
    fi
else
    for part in objects library; do skip "$part of MPICH: there is no mpicc.mpich"; done
fi
if command -v mpicc.openmpi > /dev/null; then
    mpicc.openmpi -shared -fPIC lib.c -o libmembers.so
    "$bin/mpicc" b.c ./libmembers.so -o two
    says "is no handle; .*compile that with godwit's mpicc" ./two
else
    skip "a library of Open MPI: there is no mpicc.openmpi"
fi
if command -v gfortran > /dev/null; then
    for other in mpich openmpi; do
        command -v mpifort.$other > /dev/null || { skip "objects in Fortran: there is no mpifort.$other"; continue; }
        mpifort.$other -c a.f90 -o $other.o
        "$bin/mpifort" $other.o -o ${other}_f
        says "is .*no handle.*compile.* with godwit's" ./${other}_f
    done
    # Modules of another compiler: mpifort looks for those of its own, and says how they are made.
    printf '#!/bin/sh\n[ "$1" = --version ] && echo "flang-new version 99.0" && exit\nexit 1\n' > flang-99
    chmod +x flang-99
    if "$bin/mpifort" -fc="$tmp/flang-99" a.f90 > out 2>&1; then wrong "a compiler without modules"; fi
    grep -q "not compiled for flang-99 yet.*mpifort -fc=.*-build-modules" out || wrong "mpifort says: $(cat out)"
    ran=$((ran + 1))
else
    for part in objects objects modules; do skip "$part in Fortran: there is no gfortran"; done
fi
[ $((ran + skipped)) -eq 6 ] || wrong "$ran ran and $skipped were skipped of 6"
echo "$ran mixtures"
[ "$ran" -gt 0 ] || exit 77
