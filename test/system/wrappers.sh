#!/bin/sh
# The compiler wrappers, the pkg-config files, CMake's find_package(MPI) and a moved installation: a user's program builds and runs.
# run.py: timeout=180 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
prefix=${2:+$(readlink -f "$2")}
[ -n "$prefix" ] && [ -x "$prefix/bin/mpicc" ] || { echo "nothing is installed"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
wrong() { echo "$*"; exit 1; }
has() { case $1 in *"$2"*) ;; *) wrong "\"$1\" lacks \"$2\"" ;; esac; }
lacks() { case $1 in *"$2"*) wrong "\"$1\" has \"$2\"" ;; esac; }
# runs BINDIR PROGRAM: two ranks that know each other
runs() { [ "$(timeout 100 "$1/mpiexec" -n 2 "$2" | sort | tr '\n' ' ')" = "0 of 2 1 of 2 " ] || wrong "$2 does not run"; }

cat > "$tmp/a.c" <<'EOT'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("%d of %d\n", rank, size);
    return MPI_Finalize();
}
EOT
cp "$tmp/a.c" "$tmp/a.cc"
strict="-Wall -Wextra -Wpedantic -Werror"
bin=$prefix/bin

# C and C++, at once and in two steps, several standards and compilers.
"$bin/mpicc" $strict -std=c99 "$tmp/a.c" -o "$tmp/c99" && runs "$bin" "$tmp/c99"
"$bin/mpicc" $strict -std=c90 "$tmp/a.c" -o "$tmp/c90" # old programs, and the removed functions that they call
"$bin/mpicc" -c "$tmp/a.c" -o "$tmp/a.o" && "$bin/mpicc" "$tmp/a.o" -o "$tmp/two" && runs "$bin" "$tmp/two"
"$bin/mpicxx" $strict -std=c++11 "$tmp/a.cc" -o "$tmp/cxx" && runs "$bin" "$tmp/cxx"
# Every constant of the header in C++, where casts have names.
{
    printf '#include <mpi.h>\nint main(int n, char **)\n{\n'
    sed -n 's/^#define \(MPI_[A-Z0-9_a-z]*\) MPI_ABI_.*/    { auto v = \1; n += v == \1; }/p' "$prefix/include/mpi.h"
    printf '    return n == 1;\n}\n'
} >"$tmp/casts.cc"
[ "$(grep -c auto "$tmp/casts.cc")" -gt 130 ] || wrong "mpi.h has $(grep -c auto "$tmp/casts.cc") constants with a type"
for cxx in g++ clang++; do
    command -v $cxx >/dev/null || continue
    GODWIT_CXX=$cxx "$bin/mpicxx" $strict -Wold-style-cast -std=c++11 -c "$tmp/casts.cc" -o "$tmp/casts.o"
    printf 'MPI_Aint f() { return MPI_Aint_add(1, 1); }\n' | cat "$tmp/a.cc" - >"$tmp/old.cc"
    GODWIT_CXX=$cxx "$bin/mpicxx" $strict -Wold-style-cast -std=c++98 -c "$tmp/old.cc" -o "$tmp/casts.o"
done
"$bin/mpic++" $strict -std=c++20 "$tmp/a.cc" -o "$tmp/cxx20"
if command -v clang >/dev/null; then GODWIT_CC=clang "$bin/mpicc" $strict "$tmp/a.c" -o "$tmp/clang" && runs "$bin" "$tmp/clang"; fi
has "$(GODWIT_CC='gcc -O3' "$bin/mpicc" -show a.c)" "gcc -O3"
has "$("$bin/mpifort" -show a.f90)" gfortran
# The variables of other libraries' wrappers, and Godwit's before them.
for name in MPICH OMPI I_MPI; do
    for w in mpicc:CC mpicxx:CXX oshcc:CC oshc++:CXX mpifort:FC mpif77:F77; do
        has "$(env "${name}_${w#*:}=gcc -O3" "$bin/${w%:*}" -show a.c)" "gcc -O3 "
    done
done
has "$(env GODWIT_CC='gcc -O1' MPICH_CC='gcc -O2' "$bin/mpicc" -show a.c)" "gcc -O1 "
has "$(env MPICH_CC='gcc -O2' OMPI_CC='gcc -O3' "$bin/mpicc" --showme:command)" "gcc -O2"

# What the wrappers say.
has "$("$bin/mpicc" -show a.c)" "-lmpi_abi"
lacks "$("$bin/mpicc" -show -c a.c)" "-lmpi_abi"
lacks "$("$bin/mpicc" -compile-info)" "-lmpi_abi"
has "$("$bin/mpicc" -link-info)" "-lmpi_abi"
has "$("$bin/mpicc" --showme:compile)" "-I"
has "$("$bin/mpicc" --showme:link)" "-lmpi_abi"
has "$("$bin/mpicc" --showme:version)" Godwit
standard=$(sed -n 's/^#define MPI_VERSION *//p' "$prefix/include/mpi.h").$(sed -n 's/^#define MPI_SUBVERSION *//p' "$prefix/include/mpi.h")
for w in mpicc mpicxx mpifort; do has "$("$bin/$w" --showme:version)" " $standard.0 "; done
[ -f "$("$bin/mpicc" --showme:incdirs)/mpi.h" ] || wrong "--showme:incdirs"
# A compiler that is not there: which, and who named it.
misses() { # WHAT WORDS... of a command that fails so
    what=$1
    shift
    if env "$@" >"$tmp/why" 2>&1; then wrong "$*: a compiler that is not there"; fi
    has "$(cat "$tmp/why")" "$what"
    [ "$(wc -l <"$tmp/why")" = 1 ] || wrong "$*: $(cat "$tmp/why")"
}
misses "mpicc: there is no compiler nosuch here (-cc=nosuch); install it, or name another by GODWIT_CC=..." "$bin/mpicc" -cc=nosuch "$tmp/a.c"
misses "mpicc: there is no compiler nosuch here (GODWIT_CC=nosuch -O2)" GODWIT_CC='nosuch -O2' "$bin/mpicc" -c "$tmp/a.c"
misses "mpicc: there is no compiler $tmp/a.c here" "$bin/mpicc" "-cc=$tmp/a.c" "$tmp/a.c"
misses "mpicc: there is no compiler $tmp here" "$bin/mpicc" "-cc=$tmp" "$tmp/a.c"
misses "mpicc: there is no compiler nosuch here (OMPI_CC=nosuch)" OMPI_CC=nosuch "$bin/mpicc" "$tmp/a.c"
misses "mpicc: -cc= names no compiler" "$bin/mpicc" -cc= "$tmp/a.c"
misses "mpicxx: there is no compiler nosuch here (-cxx=nosuch)" "$bin/mpicxx" -cxx=nosuch "$tmp/a.cc"
misses "mpifort: there is no compiler nosuch here (-fc=nosuch); install one (Debian: apt-get install gfortran), or name" \
    "$bin/mpifort" -fc=nosuch "$tmp/a.f90"
misses "mpifort: there is no compiler nosuch here (GODWIT_FC=nosuch)" GODWIT_FC=nosuch "$bin/mpifort" "$tmp/a.f90"
misses "mpifort: -fc= names no compiler" "$bin/mpifort" -fc= "$tmp/a.f90"
# Debian's packages have flang under the name of its version; who asks for another one is told which there are.
mkdir "$tmp/path"
printf '#!/bin/sh\necho "flang-new version 97.0.1"\n' >"$tmp/path/flang-new-97"
chmod +x "$tmp/path/flang-new-97"
misses "; here there is: flang-new-97" PATH="$tmp/path:/usr/bin:/bin" "$bin/mpifort" -fc=flang-old "$tmp/a.f90"
# One that is too old for the modules says so, before it tries.
printf '#!/bin/sh\necho "Debian flang-new version 16.0.6 (15~deb12u1)"\n[ "$1" = --version ] || { echo crashed; exit 1; }\n' >"$tmp/path/flang-new-16"
chmod +x "$tmp/path/flang-new-16"
misses "flang-new-16 is flang 16, which does not compile the modules mpi and mpi_f08 (mpif.h needs none); flang 19 does" \
    PATH="$tmp/path:/usr/bin:/bin" "$bin/mpifort" -fc=flang-new-16 -build-modules
if "$bin/mpicc" --showme:nonsense 2>/dev/null; then wrong "--showme:nonsense is accepted"; fi

# What is linked by the wrapper of another language: which would do, said once, and only where the linker has missed something.
unlinked() { # WHAT-IS-SAID WORDS...
    what=$1
    shift
    if "$@" -o "$tmp/none" 2>"$tmp/said"; then wrong "$*: links"; fi
    if [ -n "$what" ]; then has "$(cat "$tmp/said")" "$what"; fi
    count=$(grep -c 'instead of' "$tmp/said") || true
    [ "$count$what" = 0 ] || [ "$count" = "${what:+1}" ] || wrong "$*: $(cat "$tmp/said")"
}
printf '      include "mpif.h"\n      integer e\n      call MPI_INIT(e)\n      call MPI_FINALIZE(e)\n      end\n' >"$tmp/f.f"
printf '#include <mpi.h>\n#include <iostream>\nint main() { std::cout << MPI_Wtime(); }\n' >"$tmp/s.cc"
printf 'int gone(void);\nint main(void) { return gone(); }\n' >"$tmp/gone.cc"
unlinked "mpicxx instead of mpicc" "$bin/mpicc" "$tmp/s.cc"
unlinked "" "$bin/mpicc" "$tmp/gone.cc"
if [ -f "$("$bin/mpifort" --showme:incdirs | cut -d' ' -f1)/mpif.h" ] && command -v gfortran >/dev/null; then
    "$bin/mpifort" -c "$tmp/f.f" -o "$tmp/f.o"
    for w in mpicc mpicxx; do unlinked "mpifort instead of $w" "$bin/$w" "$tmp/f.f" && unlinked "mpifort instead of $w" "$bin/$w" "$tmp/f.o"; done
fi

# pkg-config.
pc=$(dirname "$(find "$prefix" -name godwit.pc)")
for name in godwit mpi mpi-c mpi-cxx mpich ompi-c ompi-cxx; do
    cc "$tmp/a.c" -o "$tmp/pc" $(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs $name)
    runs "$bin" "$tmp/pc"
done
# Under the names that other MPI libraries have, too, the version is the standard's: it is what programs ask for (">= 3.0").
for name in mpi mpi-c mpi-cxx mpi-fort mpich ompi ompi-c ompi-cxx ompi-fort; do
    has "$(PKG_CONFIG_PATH=$pc pkg-config --modversion $name)" "$standard."
    PKG_CONFIG_PATH=$pc pkg-config --atleast-version=3.0 $name || wrong "$name is older than MPI 3.0"
done
has "$(PKG_CONFIG_PATH=$pc pkg-config --modversion godwit)" "$("$bin/mpiexec" --version | grep -o '[0-9]*\.[0-9]*\.[0-9]*' | head -n 1)"

# Meson finds it by pkg-config, before any other MPI of the machine, and, where there is none, by the wrappers.
if command -v meson >/dev/null; then
    cat > "$tmp/meson.build" <<'EOT'
project('a', 'c', 'cpp')
executable('by_c', 'a.c', dependencies: dependency('mpi', language: 'c', version: '>=3.0'))
executable('by_cxx', 'a.cc', dependencies: dependency('mpi', language: 'cpp', version: ['>=4.1', '<6']))
EOT
    meson_finds() { # FOLDER [VARIABLE=VALUE ...]
        folder=$1
        shift
        env "$@" meson setup "$tmp/$folder" "$tmp" > "$tmp/log" 2>&1 && ninja -C "$tmp/$folder" > "$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
        has "$(ldd "$tmp/$folder/by_c")" "$(readlink -f "$prefix")/"
        runs "$bin" "$tmp/$folder/by_c"
        runs "$bin" "$tmp/$folder/by_cxx"
    }
    # As the README has it, whatever MPI the system has.
    (
        root=$(cd "$(dirname "$0")/../.." && pwd)
        sed -n 's/^    \(export .*\)/\1/p' "$root/README.md" | sed "s,\$PWD/install/lib,$(dirname "$pc"),; s,\$PWD/install,$prefix,g" >"$tmp/exports"
        grep -q "$bin" "$tmp/exports" || wrong "the README has no export"
        set +u # as in a shell that somebody types in
        . "$tmp/exports"
        meson_finds m1
        [ "$(command -v mpiexec)" = "$bin/mpiexec" ] || wrong "the README's PATH"
    )
    meson_finds m2 PKG_CONFIG_LIBDIR="$tmp/none" PATH="$bin:$PATH"
fi

# The whole installation in another place.
cp -a "$prefix" "$tmp/moved"
"$tmp/moved/bin/mpicc" "$tmp/a.c" -o "$tmp/m"
has "$(ldd "$tmp/m")" "$tmp/moved/"
runs "$tmp/moved/bin" "$tmp/m"

# A path with a blank.
mv "$tmp/moved" "$tmp/with blank"
blank="$tmp/with blank/bin"
"$blank/mpicc" "$tmp/a.c" -o "$tmp/m" && runs "$blank" "$tmp/m"
eval "cc '$tmp/a.c' -o '$tmp/m' $("$blank/mpicc" --showme:compile) $("$blank/mpicc" --showme:link)" && runs "$blank" "$tmp/m"
eval "cc '$tmp/a.c' -o '$tmp/m' $(PKG_CONFIG_PATH="$(dirname "$(find "$tmp/with blank" -name mpi.pc)")" pkg-config --cflags --libs mpi)"
has "$(ldd "$tmp/m")" "/with blank/"

# CMake finds it by the wrappers.
command -v cmake >/dev/null || { echo "no cmake"; exit 77; }
cat > "$tmp/CMakeLists.txt" <<'EOT'
cmake_minimum_required(VERSION 3.10)
project(a C CXX)
find_package(MPI REQUIRED)
foreach(l C CXX)
  if(NOT MPI_${l}_VERSION VERSION_GREATER_EQUAL 4)
    message(FATAL_ERROR "MPI_${l}_VERSION is ${MPI_${l}_VERSION}")
  endif()
endforeach()
add_executable(c a.c)
target_link_libraries(c MPI::MPI_C)
add_executable(cc a.cc)
target_link_libraries(cc MPI::MPI_CXX)
file(WRITE ${CMAKE_BINARY_DIR}/mpiexec ${MPIEXEC_EXECUTABLE})
EOT
for place in "$bin" "$blank"; do
    rm -rf "$tmp/b"
    PATH=$place:$PATH cmake -S "$tmp" -B "$tmp/b" > "$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
    cmake --build "$tmp/b" > "$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
    runs "$place" "$tmp/b/c"
    runs "$place" "$tmp/b/cc"
    [ "$(readlink -f "$(cat "$tmp/b/mpiexec")")" = "$(readlink -f "$place/mpiexec")" ] || wrong "CMake chose $(cat "$tmp/b/mpiexec")"
done

# The other way: the wrapper named as the compiler's.
cmake -S "$tmp" -B "$tmp/b2" -DMPI_C_COMPILER="$bin/mpicc" -DMPI_CXX_COMPILER="$bin/mpicxx" > "$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
