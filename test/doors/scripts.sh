#!/bin/sh
# Programs of other ABIs below a script that puts other folders in front of LD_LIBRARY_PATH, or sets it anew, find the door all the same: their
# own libraries, those that an interpreter opens, in C and Fortran.  What does not want it is left alone: GODWIT_DOORS=off, valgrind, programs
# with the address sanitizer, container launchers.
# doc/doors.md
# run.py: timeout=120 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
prefix=$(cd "$2" && pwd) here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
fail() { echo "scripts: $*"; [ ! -e err ] || head -n 5 err; exit 1; }
run() { timeout 60 "$prefix/bin/mpiexec" "$@" </dev/null 2>err; }
case $(uname -m) in x86_64 | aarch64) ;; *) echo "skipped: no finder for this processor"; exit 77 ;; esac
libc=$(getconf GNU_LIBC_VERSION) # glibc 2.36
[ "$(printf '%s\n' "glibc 2.35" "$libc" | sort -V | head -n 1)" = "glibc 2.35" ] || { echo "skipped: $libc traces each call for a finder"; exit 77; }
system=$(dirname "$(ldconfig -p | sed -n 's/.*libc.so.6 .*x86-64.* => //p; s/.*libc.so.6 .*AArch64.* => //p' | head -n 1)")
printf '#!/bin/sh\nexport LD_LIBRARY_PATH=%s:$LD_LIBRARY_PATH\nexec "$@"\n' "$system" >front
printf '#!/bin/sh\nexport LD_LIBRARY_PATH=%s\n"$@"\n' "$system" >anew
chmod +x front anew
cat >version.c <<'END'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int n, size;
    MPI_Init(&argc, &argv);
    MPI_Get_library_version(text, &n);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("%.6s %d\n", text, size);
    MPI_Finalize();
}
END
cat >opens.py <<'END'
import ctypes, sys
lib = ctypes.CDLL(sys.argv[1])
text, n = ctypes.create_string_buffer(9000), ctypes.c_int()
lib.MPI_Init(None, None)
lib.MPI_Get_library_version(text, ctypes.byref(n))
print(text.value.decode()[:6], flush=True)
lib.MPI_Finalize()
END
printf 'program p\n include "mpif.h"\n integer e, n\n call MPI_Init(e)\n call MPI_Comm_size(MPI_COMM_WORLD, n, e)\n print "(A,I0)", "fortran ", n\n call MPI_Finalize(e)\nend program\n' >f.f90
python=/usr/bin/python3 tried=
for peer in mpich openmpi; do
    command -v mpicc.$peer >/dev/null || continue
    tried="$tried $peer"
    mpicc.$peer version.c -o $peer
    for script in ./front ./anew "sh ./front" "./front ./anew"; do
        out=$(run -n 2 $script ./$peer | tr '\n' ,) || fail "$script ./$peer: status $?"
        [ "$out" = "Godwit 2,Godwit 2," ] || fail "$script ./$peer: $out"
    done
    out=$(run -n 1 ./front env GODWIT_DOORS=off ./$peer) || fail "$peer on its own library"
    case $out in *Godwit*) fail "$peer: GODWIT_DOORS=off below a script: $out" ;; esac
    out=$(run -n 1 ./front "$prefix/bin/mpiexec" -n 2 ./$peer | tr '\n' ,)
    [ "$out" = "Godwit 2,Godwit 2," ] || fail "mpiexec below a script: $out"
    out=$(run -n 1 ./front "$prefix/bin/mpiexec" -genv GODWIT_DOORS off -n 1 ./$peer)
    case $out in *Godwit*) fail "$peer: mpiexec without doors below a script: $out" ;; esac
    soname=$(ldd ./$peer | sed -n 's/^\t\(libmpi[^ ]*\) .*/\1/p' | head -n 1)
    [ ! -x $python ] || [ "$(run -n 2 ./front $python opens.py $soname | tr '\n' ,)" = "Godwit,Godwit," ] || fail "$soname opened by python3"
    if command -v mpifort.$peer >/dev/null && mpifort.$peer f.f90 -o f_$peer 2>/dev/null; then
        out=$(run -n 2 ./anew ./f_$peer | tr '\n' ,)
        [ "$out" = "fortran 2,fortran 2," ] || fail "Fortran, $peer: $out"
    fi
done
[ "$tried" ] || { echo "skipped: needs mpicc.mpich or mpicc.openmpi"; exit 77; }

# ---- left alone
echo 'int main(void) { return 0; }' >plain.c
if gcc -fsanitize=address plain.c -o plain 2>/dev/null; then
    run -n 1 sh -c 'exec ./plain' || fail "a program with the address sanitizer"
    [ ! -s err ] || fail "a program with the address sanitizer says:"
fi
has() { run -n 1 "$@" | grep -c '^LD_AUDIT=' || :; } # whether the finder is there
[ "$(has ./front env)" = 1 ] || fail "no finder below a script"
[ "$(run -n 1 ./front "$prefix/bin/mpiexec" -n 1 ./front env | grep '^LD_AUDIT=' | grep -o libgodwit_doors.so | wc -l)" = 1 ] || fail "the finder twice in nested jobs"
printf '#!/bin/sh\nif [ "$1" = podman ]; then exec podman run image; fi\nexec "$@"\n' >container
chmod +x container
[ "$(has ./container env)" = 0 ] || fail "the finder goes into containers"
[ "$(has sh -c 'env; : valgrind')" = 0 ] || fail "the finder goes below valgrind"
for p in env "sh -c env"; do [ "$(GODWIT_DOORS=off has $p)" = 0 ] || fail "the finder without doors"; done
if command -v valgrind >/dev/null; then
    run -n 1 valgrind -q --error-exitcode=9 /bin/true || fail "valgrind finds errors"
fi
