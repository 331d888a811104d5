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
#include <stdio.h>
#ifdef BOTH
#include "tool.c"
#undef NAME
#define NAME "both's_fortran"
#endif
static int f_sends, f_receives;
#define WRAP(END) \
    void pmpi_send##END(void *, int *, int *, int *, int *, int *, int *); \
    void pmpi_recv##END(void *, int *, int *, int *, int *, int *, void *, int *); \
    void mpi_send##END(void *b, int *n, int *t, int *to, int *tag, int *c, int *e) { f_sends++, pmpi_send##END(b, n, t, to, tag, c, e); } \
    void mpi_recv##END(void *b, int *n, int *t, int *from, int *tag, int *c, void *s, int *e) { f_receives++, pmpi_recv##END(b, n, t, from, tag, c, s, e); }
WRAP(_)
WRAP(_f08ts_)
void pmpi_comm_rank_(int *, int *, int *), pmpi_finalize_(int *);
void mpi_finalize_(int *e)
{
    int rank, world = 257; /* MPI_COMM_WORLD of the standard ABI */
    pmpi_comm_rank_(&world, &rank, e);
    fprintf(stderr, "%s %d: %d sent, %d received\n", NAME, rank, f_sends, f_receives);
    pmpi_finalize_(e);
}
void mpi_finalize_f08_(int *e) { mpi_finalize_(e); }
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
cat >inside.c <<'END'
#include <mpi.h>
int MPI_Recv(void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status *s) { return PMPI_Recv(b, n, t, from, tag, c, s); }
END
"$prefix/bin/mpicc" -no-pie -fno-pie prog.c inside.c -o inside # wrappers in the program itself, as static libraries of tools bring them
"$prefix/bin/mpicc" -DNAME='"in"' prog.c tool.c -o all_inside
"$prefix/bin/mpicc" -DCHAINS -DNAME='"in"' prog.c tool.c -o chains_inside
"$prefix/bin/mpicc" -DNAME='"in"' prog.c -L. -l:one.so -Wl,-rpath,"$dir" -o linked
sed 's/int argc, char/int argc, char **unused, char/; s/int rank, n,/int (*volatile f)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *) = MPI_Recv; int rank = f == 0, n,/; s/&argv/\&unused/' prog.c >address.c
"$prefix/bin/mpicc" -no-pie -fno-pie address.c -o address # its own name for MPI_Recv, which it does not have
cat >opens.c <<'END'
#include <dlfcn.h>
int main(void)
{
    void *mpi = dlopen(LIBRARY, RTLD_NOW | RTLD_GLOBAL);
    int (*begin)(int *, char ***) = (int (*)(int *, char ***))dlsym(mpi, "MPI_Init"), (*end)(void) = (int (*)(void))dlsym(mpi, "MPI_Finalize");
    begin(0, 0);
    return end();
}
END
gcc -DLIBRARY="\"$prefix/lib/libmpi_abi.so.1\"" opens.c -o opens
programs=./prog
if command -v gfortran >/dev/null && "$prefix/bin/mpifort" prog.f90 -o prog_f 2>/dev/null; then
    for t in f_one f_two; do gcc -O2 -shared -fPIC -DNAME="\"$t\"" fortran_tool.c -o $t.so; done
    cat >past.c <<'END'
#include <mpi.h>
void mpi_send_(void *b, int *n, int *t, int *to, int *tag, int *c, int *e) { *e = PMPI_Send(b, *n, MPI_Type_fromint(*t), *to, *tag, MPI_Comm_fromint(*c)); }
END
    "$prefix/bin/mpicc" -shared -fPIC past.c -o past.so
    "$prefix/bin/mpicc" -O2 -shared -fPIC -DBOTH -DNAME='"both"' fortran_tool.c -o both.so
    programs="./prog ./prog_f"
    sed "s/include 'mpif.h'//; s/program p/program p; use mpi_f08/" prog.f90 >prog08.f90
    "$prefix/bin/mpifort" prog08.f90 -o prog_08 2>/dev/null && fortran_programs="./prog_f ./prog_08" || fortran_programs=./prog_f
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
    # in the program, or beside it
    run $option -n 3 ./inside
    says "inside itself wraps MPI_Recv and hands on to the library directly (PMPI_Recv), which is not seen here; "
    run $option -n 3 ./all_inside
    says "all_inside itself wraps MPI_Finalize .* is not seen here: with MPI_Finalize among them there is no result"
    run $option -n 3 ./chains_inside
    ours && tool in && silent
    run $option -n 3 ./linked
    ours && tool one && silent
    run $option -n 3 ./address
    ours && silent
    # before ours, by a script
    run $option -n 3 sh -c "LD_PRELOAD=$dir/chains_one.so:\$LD_PRELOAD exec ./prog"
    ours && tool chains_one && silent
    run $option -n 3 sh -c "LD_PRELOAD=$dir/one.so:\$LD_PRELOAD exec ./prog"
    ours && tool one && silent
    run $option -n 3 sh -c "LD_PRELOAD='$dir/chains_one.so $dir/two.so':\$LD_PRELOAD:$dir/chains_two.so; export LD_PRELOAD; ./prog"
    ours && tool chains_one two
    # by a script that does not look at what was there
    run $option -n 3 sh -c "LD_PRELOAD=$dir/one.so exec ./prog"
    ours && tool one && silent
    run $option -n 3 sh -c "unset LD_PRELOAD; exec ./prog"
    ours && silent
    run $option -n 3 sh -c "unset LD_PRELOAD; exec ./opens" # MPI comes too late
    says "^godwit: .*/libgodwit_.*.so, which mpiexec puts before the program, is not loaded: LD_PRELOAD is not set"
    [ "$programs" != ./prog ] || continue
    for program in $fortran_programs; do # tools that wrap Fortran's routines
        for set in f_one:one one:f_one chains_one:f_one; do
            run $option -n 3 -x LD_PRELOAD="$dir/$(echo $set | sed "s|:|.so:$dir/|g").so" $program
            ours && tool $(echo $set | tr : ' ') && silent
        done
        run $option -n 3 sh -c "LD_PRELOAD=$dir/f_one.so:$dir/one.so:\$LD_PRELOAD exec $program"
        ours && tool f_one one && silent
        run $option -n 3 sh -c "LD_PRELOAD=$dir/f_one.so:\$LD_PRELOAD:$dir/one.so exec $program"
        ours && tool f_one one && silent
        run $option -n 3 -x LD_PRELOAD="$dir/f_one.so:$dir/f_two.so" $program
        ours && tool f_one && says "f_two.so wraps Fortran's routines, too: it sees what f_one.so, which stands before it, hands on"
        # one that wraps both sees each call once, by either way
        run $option -n 3 -x LD_PRELOAD="$dir/both.so" $program
        ours && tool "both's_fortran" && silent && ! grep -q '^both [0-9].*[1-9] ' out || fail "both.so sees a call twice"
    done
    run $option -n 3 -x LD_PRELOAD="$dir/past.so" ./prog_f
    says "past.so wraps Fortran's mpi_send_ and hands on to C's PMPI function: that is not seen here"
    run $option -n 3 -x LD_PRELOAD="$dir/both.so" ./prog
    ours && tool both && silent
done

# In some ranks only its collectives would wait for ever: the start is refused.
for option in --record=rec --profile=p.html; do
    rc=0
    timeout 60 "$prefix/bin/mpiexec" $option -n 1 ./prog : -n 1 env -i ./prog > out 2>&1 < /dev/null || rc=$?
    [ $rc != 0 ] && [ $rc != 124 ] || fail "$option with a rank below env -i: status $rc"
    says "the library of mpiexec's option (--profile, --record) is libgodwit_[a-z]*.so on rank 0 and not loaded on rank 1"
done
