#!/bin/sh
# A session that another thread begins beside MPI_Init_thread: locks are there from the start at MPI_THREAD_FUNNELED, however the program was linked,
# in C and Fortran, and where a library of its own begins the session; what was opened later, or broke MPI_THREAD_SINGLE, is warned.
# run.py: timeout=60 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
prefix=$(cd "$2" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cat > session.c << 'END'
#include <mpi.h>
void *session(void *unused);
void *session(void *unused)
{
    MPI_Session s;
    if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s) == MPI_SUCCESS) MPI_Session_finalize(&s);
    return unused;
}
END
cat > main.c << 'END'
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <string.h>
void *session(void *unused);
int main(int argc, char **argv)
{
    int level = strcmp(argv[1], "single") == 0 ? MPI_THREAD_SINGLE : MPI_THREAD_FUNNELED;
    pthread_t t;
    MPI_Init_thread(&argc, &argv, level, &level);
#ifdef LATER
    void *(*begin)(void *) = (void *(*)(void *))dlsym(dlopen("./libsession.so", RTLD_NOW), "session");
    pthread_create(&t, NULL, begin, NULL);
#else
    pthread_create(&t, NULL, session, NULL);
#endif
    pthread_join(t, NULL);
    return MPI_Finalize();
}
END
cat > main.f90 << 'END'
subroutine session(unused) bind(c)
  use mpi_f08
  use iso_c_binding
  type(c_ptr), value :: unused
  type(MPI_Session) :: s
  call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, s)
  call MPI_Session_finalize(s)
end subroutine
END
fail() { cat err; echo "sessions: $*"; exit 1; }
run() { timeout 30 "$prefix/bin/mpiexec" -n 1 "$@" 2> err || fail "failed: $*"; }
quiet() { run "$@" && [ ! -s err ] || fail "$*: something was said"; }
warned() { want=$1; shift; run "$@" && grep -q "another thread than that of MPI_Init, .*let MPI_Init_thread ask for MPI_THREAD_$want" err || fail "$*: not warned"; }

n=0
for how in "" "-Wl,--hash-style=sysv" "-Wl,-z,now" "-fno-plt" "-no-pie -fno-pie" "-rdynamic"; do
    n=$((n + 1))
    "$prefix/bin/mpicc" $how main.c session.c -o main$n
    quiet ./main$n funneled
done
warned "FUNNELED or more" ./main1 single
"$prefix/bin/mpicc" -shared -fPIC session.c -o libsession.so
"$prefix/bin/mpicc" main.c -L. -lsession -Wl,-rpath,"$dir" -o apart
quiet ./apart funneled
"$prefix/bin/mpicc" -DLATER main.c -o later
warned MULTIPLE ./later funneled
if command -v gfortran > /dev/null && [ -x "$prefix/bin/mpifort" ]; then
    "$prefix/bin/mpifort" -c main.f90 -o f.o
    "$prefix/bin/mpicc" -c main.c -o c.o
    "$prefix/bin/mpifort" c.o f.o -o fortran
    quiet ./fortran funneled
fi
