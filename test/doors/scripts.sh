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
cat >tools <<END
#!/bin/bash
# a site's launcher: knows valgrind and apptainer
export LD_LIBRARY_PATH=$system
[ -z "\$IN_CHROOT" ] || chroot /mnt "\$@"
if [ -n "\$USE_VALGRIND" ]; then
    valgrind "\$@"
fi
case \$1 in debug) shift; exec valgrind --quiet "\$@";; esac
[ -n "\$IMAGE" ] && exec apptainer exec "\$IMAGE" "\$@"
echo "it would be: apptainer exec img; valgrind" >/dev/null
exec "\$@"
END
printf '#!/bin/sh\nvalgrind() { shift; "$@"; }\nexport LD_LIBRARY_PATH=%s\nLC_ALL=C valgrind -q "$@"\n' "$system" >inside
printf '#!/bin/sh\nexport LD_AUDIT= LD_LIBRARY_PATH=%s\n"$@"\n' "$system" >noaudit
chmod +x front anew tools inside noaudit
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
    # A word that is only an argument, or a command that need not run, is no container and no valgrind.
    for script in "./anew ./$peer chroot" "./anew ./$peer --check=valgrind" "sh ./anew ./$peer valgrind" "./tools ./$peer" "./anew ./tools ./$peer x"; do
        out=$(run -n 2 $script | tr '\n' ,) || fail "$script: status $?"
        [ "$out" = "Godwit 2,Godwit 2," ] || fail "$script: $out"
        [ ! -s err ] || fail "$script says:"
    done
    # Past the door, it is said, once, and why.
    for script in "./inside" "./noaudit"; do
        out=$(run -n 2 $script ./$peer) || fail "$script ./$peer: status $?"
        case $out in *Godwit*) fail "$script ./$peer: $out" ;; esac
        [ "$(grep -c 'runs on a library that uses PMI.*, not on Godwit: ' err)" = 1 ] || fail "$script ./$peer: past the door, and it says:"
    done
    out=$(run -n 2 ./inside ./$peer) && grep -q "below valgrind (in ./inside)" err || fail "which command leaves the finder out:"
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
printf '#!/bin/sh\n"$@"; exit\nexec podman run image "$@"\n' >container
chmod +x container
[ "$(has ./container env)" = 0 ] || fail "the finder goes into containers"
[ "$(has sh -c 'env; exit; valgrind ./a')" = 0 ] || fail "the finder goes below valgrind"
[ "$(has sh -c 'env; : valgrind')" = 1 ] || fail "no finder for an argument"
printf '#!/bin/sh\nenv\n' >valgrind && chmod +x valgrind
for line in ./valgrind "nice -n 5 ./valgrind" "timeout 60 ./valgrind" "./front ./valgrind" "env A=b ./valgrind" "sh ./front ./valgrind"; do
    [ "$(has $line)" = 0 ] || fail "the finder goes below $line"
done
for p in env "sh -c env"; do [ "$(GODWIT_DOORS=off has $p)" = 0 ] || fail "the finder without doors"; done
if command -v valgrind >/dev/null; then
    run -n 1 valgrind -q --error-exitcode=9 /bin/true || fail "valgrind finds errors"
fi
