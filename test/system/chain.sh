#!/bin/sh
# mpiexec --record, --replay and --profile beside tools of the user's by LD_PRELOAD: both see the program's calls, whichever way the variable is
# said and in C and Fortran; tools that hand on by RTLD_NEXT chain further; what cannot chain, or was pushed out, is named.
# run.py: timeout=120 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
prefix=$(cd "$2" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cat >tool.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
static int sends, receives, rank;
#ifdef CHAINS
#define ON(X) ((__typeof__(&PMPI_##X))dlsym(RTLD_NEXT, "MPI_" #X))
#else
#define ON(X) PMPI_##X
#endif
int MPI_Send(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c) { return sends++, ON(Send)(b, n, t, to, tag, c); }
int MPI_Recv(void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status *s) { return receives++, ON(Recv)(b, n, t, from, tag, c, s); }
int MPI_Finalize(void)
{
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "%s %d: %d sent, %d received\n", NAME, rank, sends, receives);
    return ON(Finalize)();
}
END
cat >fortran_tool.c <<'END'
void pmpi_send_(void *, int *, int *, int *, int *, int *, int *);
void mpi_send_(void *b, int *n, int *t, int *to, int *tag, int *c, int *e) { pmpi_send_(b, n, t, to, tag, c, e); }
END
cat >prog.c <<'END'
#include <mpi.h>
int main(int argc, char **argv)
{
    int rank, n, x = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    for (int k = 0; k < 3 * (rank ? 1 : n - 1); k++)
        if (rank)
            MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
}
END
cat >prog.f90 <<'END'
program p
    implicit none
    include 'mpif.h'
    integer :: rank, n, k, x = 0, e
    call MPI_Init(e)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, e)
    call MPI_Comm_size(MPI_COMM_WORLD, n, e)
    do k = 1, 3 * merge(1, n - 1, rank > 0)
        if (rank > 0) then
            call MPI_Send(x, 1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, e)
        else
            call MPI_Recv(x, 1, MPI_INTEGER, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, e)
        end if
    end do
    call MPI_Finalize(e)
end program
END
fail() { echo "chain: $*"; cat out; exit 1; }
for t in one two; do
    "$prefix/bin/mpicc" -shared -fPIC -DNAME="\"$t\"" tool.c -o $t.so
    "$prefix/bin/mpicc" -shared -fPIC -DCHAINS -DNAME="\"chains_$t\"" tool.c -o chains_$t.so
done
"$prefix/bin/mpicc" prog.c -o prog
programs=./prog
if command -v gfortran >/dev/null && "$prefix/bin/mpifort" prog.f90 -o prog_f 2>/dev/null; then
    gcc -shared -fPIC fortran_tool.c -o fortran_tool.so
    programs="./prog ./prog_f"
fi
run() { timeout 60 "$prefix/bin/mpiexec" "$@" </dev/null >out 2>&1 || fail "mpiexec $*: status $?"; }
says() { grep -q "$1" out || fail "does not say \"$1\""; }
silent() { ! grep "godwit.*\(wraps\|stands\|not loaded\)" out || fail "names something"; }
ours() { # --record or --profile has all of the program
    case $option in
    --record*) says '^godwit record: 6 receives of any message' ;;
    --replay*) says '^godwit replay: 6 receives of any message.*were repeated' ;;
    *) says '^ .* 6 | || MPI_Recv$' && says '^ .* 6 | || MPI_Send$' ;;
    esac
}
tool() { for t in "$@"; do says "^$t 0: 0 sent, 6 received" && says "^$t 1: 3 sent, 0 received" && says "^$t 2: 3 sent"; done; }

for option in --record=rec --replay=rec --profile=p.html; do
    for program in $programs; do
        run $option -n 3 -x LD_PRELOAD="$dir/one.so" $program
        ours && tool one && silent
    done
    run $option -n 3 -env LD_PRELOAD "$dir/one.so" ./prog
    ours && tool one && silent
    LD_PRELOAD=$dir/one.so run $option -n 3 ./prog
    ours && tool one && silent
    run $option -n 3 sh -c "LD_PRELOAD=\$LD_PRELOAD:$dir/one.so exec ./prog" # the user's behind ours
    ours && tool one && silent
    run $option -n 3 -x LD_PRELOAD="$dir/chains_one.so:$dir/chains_two.so:$dir/two.so" ./prog # several, of which each but the last chains
    ours && tool chains_one chains_two two
    run $option -n 3 -x LD_PRELOAD="$dir/one.so:$dir/two.so" ./prog # the first one goes to the library
    ours && tool one && says "two.so wraps calls of MPI, too: it sees what one.so, which stands before it, hands on"
    # before ours, by a script: a tool that chains does; one that goes past is named
    run $option -n 3 sh -c "LD_PRELOAD=$dir/chains_one.so:\$LD_PRELOAD exec ./prog"
    ours && tool chains_one
    run $option -n 3 sh -c "LD_PRELOAD=$dir/one.so:\$LD_PRELOAD exec ./prog"
    tool one && says "one.so stands before it and wraps MPI_"
    # ours pushed out
    run $option -n 3 sh -c "LD_PRELOAD=$dir/one.so exec ./prog"
    tool one && says "^godwit: .*/libgodwit_.*.so, which mpiexec puts before the program, is not loaded: LD_PRELOAD is $dir/one.so"
    if [ "$programs" != ./prog ]; then
        run $option -n 3 -x LD_PRELOAD="$dir/fortran_tool.so" ./prog_f
        says "fortran_tool.so wraps Fortran's mpi_send_; what it hands on"
    fi
done
